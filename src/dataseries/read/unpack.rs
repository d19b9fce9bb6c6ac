//! Unpacking of records and pool: decompression, expansion, checks, conversion to native values (section 8).

use super::cells::{self, Number, Rounded};
use super::extent::Stored;
use super::pool::Pool;
use super::{Extent, Header, Part, ReadOptions, expand};
use crate::bytes::{Endian, Scratch, saturated};
use crate::dataseries::layout::FieldType;
use crate::dataseries::raw::{EXTENT_HEADER_LEN, INDEX_TYPE, MAX_PART, Mode, POOL_START, XML_TYPE};
use crate::dataseries::types::{ExtentType, FieldRecord, Relative};
use crate::dataseries::write::{Of, Record, Schema};
use crate::error::{Error, Kind, Result, What};
use crate::limits::Spent;

/// Records: in the file, or in scratch memory, where they can be changed.
enum Records<'s> {
    Stored(&'s [u8]),
    Lent(&'s mut [u8]),
}

/// The two parts of an extent, decompressed and expanded, before the cells are converted.
struct Loaded<'s> {
    records: Records<'s>,
    pool: Pool<'s>,
}

impl Records<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Records::Stored(bytes) => bytes,
            Records::Lent(bytes) => bytes,
        }
    }
}

impl<'a, E: Endian> Extent<'a, E> {
    /// Unpacks the extent, which must be of type `ty`. Records and pool go into `scratch`, or stay in the file if there
    /// is nothing to undo.
    ///
    /// # Errors
    /// Errors of an invalid extent; [`Kind::NoRoom`] if `scratch` is smaller than [`need`](Self::need);
    /// [`Kind::Misuse`] if the extent is of another type.
    pub fn unpack<'s>(&self, ty: &ExtentType<'s>, options: &ReadOptions, scratch: &mut Scratch<'s>) -> Result<Part<'s>>
    where
        'a: 's,
    {
        self.stored.unpack::<ExtentType<'_>>(ty, E::IS_NATIVE, options, scratch)
    }

    /// Unpacks the extent as type `R`, which is known at compile time. The code for steps of packing that `R` does not
    /// use is not linked.
    ///
    /// # Errors
    /// Errors of [`unpack`](Self::unpack).
    pub fn unpack_as<'s, R: Record>(&self, options: &ReadOptions, scratch: &mut Scratch<'s>) -> Result<Part<'s>>
    where
        'a: 's,
    {
        self.stored.unpack::<Of<R>>(&const { ExtentType::of::<R>() }, E::IS_NATIVE, options, scratch)
    }

    /// Unpacks two extents. If the checks dominate, this takes about as long as one extent, because the two hash
    /// computations are interleaved. Each result equals the result of [`unpack`](Self::unpack); the second extent uses
    /// the scratch that the first one leaves.
    ///
    /// ```
    /// use pilaster::bytes::{LittleEndian, Scratch};
    /// use pilaster::column::Part as _;
    /// use pilaster::dataseries::{Extent, File, ReadOptions};
    ///
    /// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds"));
    /// let (mut kept, mut memory) = ([0; 4096], [0; 4096]);
    /// let file = File::<LittleEndian>::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut kept))?;
    /// let extents: Vec<_> = file.extents().collect::<Result<_, _>>()?;
    /// let [one, two] = [&extents[1], &extents[2]];
    /// let types = [&file.type_of(one)?, &file.type_of(two)?];
    /// let mut scratch = Scratch::new(&mut memory);
    /// let parts = Extent::unpack_pair([one, two], types, &ReadOptions::DEFAULT, &mut scratch);
    /// for (part, extent) in parts.into_iter().zip([one, two]) {
    ///     assert_eq!(part?.rows(), u64::from(extent.header().rows));
    /// }
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    pub fn unpack_pair<'s>(
        [a, b]: [&Self; 2],
        [ty_a, ty_b]: [&ExtentType<'s>; 2],
        options: &ReadOptions,
        scratch: &mut Scratch<'s>,
    ) -> [Result<Part<'s>>; 2]
    where
        'a: 's,
    {
        let (a, b, native) = (a.stored, b.stored, E::IS_NATIVE);
        let one = a.load::<ExtentType<'_>>(ty_a, native, options, scratch);
        let two = b.load::<ExtentType<'_>>(ty_b, native, options, scratch);
        let hashes: [Option<Result<u32>>; 2] = match (&one, &two) {
            (Ok(one), Ok(two)) if options.verify => {
                Pool::hashes([(&one.pool, one.records.bytes()), (&two.pool, two.records.bytes())]).map(Some)
            }
            _ => [None; 2],
        };
        let [hash_a, hash_b] = hashes;
        [
            one.and_then(|one| a.settle::<ExtentType<'_>>(ty_a, native, options, one, hash_a)),
            two.and_then(|two| b.settle::<ExtentType<'_>>(ty_b, native, options, two, hash_b)),
        ]
    }

    /// Returns the records and the pool of an extent in native byte order, without null compaction, checked as by
    /// [`unpack`](Self::unpack), but as they were before compression: differences are not undone.
    #[cfg(feature = "alloc")]
    pub(in crate::dataseries) fn packed<'s>(
        &self,
        ty: &ExtentType<'s>,
        options: &ReadOptions,
        scratch: &mut Scratch<'s>,
    ) -> Result<[&'s [u8]; 2]>
    where
        'a: 's,
    {
        let Loaded { records, pool } = self.stored.load::<ExtentType<'_>>(ty, E::IS_NATIVE, options, scratch)?;
        let records = match records {
            Records::Stored(bytes) => bytes,
            Records::Lent(bytes) => &*bytes,
        };
        self.stored.check_hash(pool.hash(records))?;
        check_cells(records, ty, &pool)?;
        Ok([records, pool.bytes()])
    }

    /// Returns an upper bound of the scratch size in bytes that [`unpack`](Self::unpack) takes.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if the stored bytes cannot unpack to the sizes in the header; [`Kind::Limit`] if these exceed
    /// `options.limits`.
    pub fn need(&self, ty: &ExtentType<'_>, options: &ReadOptions) -> Result<u64> {
        self.stored.need(ty, E::IS_NATIVE, options)
    }

    /// Adds what the extent, of type `ty`, unpacks to. The rows of types and index do not count. Adds nothing if the
    /// sizes in the header are invalid: unpacking fails before it takes time.
    pub(crate) fn spend(&self, ty: &ExtentType<'_>, options: &ReadOptions, spent: &mut Spent) -> Result<()> {
        let (stored, Header { at, rows, .. }) = (&self.stored, self.header());
        let (Ok(records), Ok(tail)) = (stored.records_len(ty, options), stored.tail_len(options)) else {
            return Ok(());
        };
        let rows = if [XML_TYPE, INDEX_TYPE].contains(&ty.name()) { 0 } else { u64::from(*rows) };
        spent.part(rows, (records as u64).saturating_add(tail as u64), *at, &options.limits)
    }
}

/// `native`: whether the extent is in native byte order.
impl<'a> Stored<'a> {
    pub fn unpack<'s, S: Schema>(
        &self,
        ty: &ExtentType<'s>,
        native: bool,
        options: &ReadOptions,
        scratch: &mut Scratch<'s>,
    ) -> Result<Part<'s>>
    where
        'a: 's,
    {
        let loaded = self.load::<S>(ty, native, options, scratch)?;
        self.settle::<S>(ty, native, options, loaded, None)
    }

    /// Checks the stored bytes; decompresses and expands the two parts.
    fn load<'s, S: Schema>(
        &self,
        ty: &ExtentType<'s>,
        native: bool,
        options: &ReadOptions,
        scratch: &mut Scratch<'s>,
    ) -> Result<Loaded<'s>>
    where
        'a: 's,
    {
        if self.type_name() != ty.name().as_bytes() {
            return Err(self.header.wrong(Kind::Misuse, What::DATASERIES_TYPE_NAME, EXTENT_HEADER_LEN, 0));
        }
        if options.verify {
            self.check()?;
        }
        // Both sizes are valid before memory is taken, so that an invalid extent is not an error of the memory.
        let lens = (self.records_len(ty, options)?, self.tail_len(options)?);
        let records = self.records::<S>(ty, native, lens.0, scratch)?;
        Ok(Loaded { records, pool: Pool::new(self.tail(lens.1, scratch)?, !native) })
    }

    /// Makes the remaining checks and converts the cells to values. `hash` is the hash, if already computed.
    fn settle<'s, S: Schema>(
        &self,
        ty: &ExtentType<'s>,
        native: bool,
        options: &ReadOptions,
        Loaded { mut records, pool }: Loaded<'s>,
        hash: Option<Result<u32>>,
    ) -> Result<Part<'s>> {
        let header = &self.header;
        if options.verify {
            self.check_hash(hash.unwrap_or_else(|| pool.hash(records.bytes())))?;
        } else {
            pool.walk()?;
        }
        if let Records::Lent(records) = &mut records
            && !native
        {
            swap(records, ty);
        }
        if options.verify && S::USES.strings {
            check_cells(records.bytes(), ty, &pool)?;
        }
        if let Records::Lent(records) = &mut records {
            undo::<S>(records, ty);
        }
        let records = match records {
            Records::Stored(bytes) => bytes,
            Records::Lent(bytes) => &*bytes,
        };
        Ok(Part::new(*ty, header.rows, records, pool))
    }

    fn check_hash(&self, hash: Result<u32>) -> Result<()> {
        let header = &self.header;
        if hash? != header.hash && !cfg!(fuzzing) {
            return Err(header.wrong(Kind::Checksum, What::DATASERIES_HASH, 20, header.hash));
        }
        Ok(())
    }

    fn need(&self, ty: &ExtentType<'_>, native: bool, options: &ReadOptions) -> Result<u64> {
        let header = &self.header;
        let (records, pool) = (self.records_len(ty, options)? as u64, self.tail_len(options)? as u64);
        let compact = ty.options().compact;
        let mut need = 0u64;
        if !self.stays(ty, native) && records > 0 {
            need = need.saturating_add(Scratch::cost::<u64>(records.div_ceil(8)));
            if compact {
                need = need.saturating_add(expand::need(ty));
            }
            if header.fixed_mode != Mode::None {
                need = need.saturating_add(workspace(header.fixed_mode, records));
                need = need.saturating_add(if compact { records } else { 0 });
            }
        }
        if header.variable_mode != Mode::None && pool > 0 {
            need = need.saturating_add(pool).saturating_add(workspace(header.variable_mode, pool));
        }
        Ok(need)
    }

    /// Returns whether the stored records are the values.
    fn stays(&self, ty: &ExtentType<'_>, native: bool) -> bool {
        let plain = |(k, field): (usize, &FieldRecord)| field.scale().is_none() && field.relative(k) == Relative::No;
        self.header.fixed_mode == Mode::None
            && native
            && !ty.options().compact
            && ty.records().iter().enumerate().all(plain)
    }

    /// Returns the size of all records in bytes. Fails if the stored bytes cannot unpack to this size.
    fn records_len(&self, ty: &ExtentType<'_>, options: &ReadOptions) -> Result<usize> {
        let header = &self.header;
        let len = u64::from(header.rows).saturating_mul(ty.record_len() as u64);
        let wrong = || Err(header.wrong(Kind::Invalid, What::DATASERIES_ROWS, 8, header.rows));
        if header.rows > 0 && len == 0 {
            // A type without fields cannot hold rows.
            return wrong();
        }
        // A compacted record has at least the bytes with the bools.
        let least = match ty.options().compact {
            true => u64::from(header.rows).saturating_mul(ty.layout().compact_prefix().into()),
            false => len,
        };
        if len > MAX_PART || least > most(header.fixed_mode, header.fixed) {
            return wrong();
        }
        within(len, options)
    }

    /// Returns the size in bytes of the pool without its first four bytes. Fails like
    /// [`records_len`](Self::records_len).
    fn tail_len(&self, options: &ReadOptions) -> Result<usize> {
        let header = &self.header;
        let len = u64::from(header.pool).saturating_sub(POOL_START as u64);
        if len > most(header.variable_mode, header.variable) {
            return Err(header.wrong(Kind::Invalid, What::DATASERIES_POOL, 12, header.pool));
        }
        within(len, options)
    }

    fn records<'s, S: Schema>(
        &self,
        ty: &ExtentType<'s>,
        native: bool,
        len: usize,
        scratch: &mut Scratch<'s>,
    ) -> Result<Records<'s>>
    where
        'a: 's,
    {
        let (stored, mode) = (self.fixed()?, self.header.fixed_mode);
        let at = self.header.fixed_span().at;
        if len == 0 {
            return nothing(stored, What::DATASERIES_FIXED, at).map(|()| Records::Stored(&[]));
        }
        if self.stays(ty, native) {
            return exactly(stored, len, What::DATASERIES_FIXED, at).map(Records::Stored);
        }
        let words = scratch.take::<u64>(len.div_ceil(8))?;
        let records = bytemuck::must_cast_slice_mut::<u64, u8>(words).get_mut(..len).unwrap_or_default();
        if !S::USES.compact || !ty.options().compact {
            restore(mode, stored, records, &mut scratch.scope(), What::DATASERIES_FIXED, at)?;
        } else if mode == Mode::None {
            expand::expand(stored, ty, records, &mut scratch.scope()).map_err(|e| e.moved(at))?;
        } else {
            let mut inner = scratch.scope();
            let room = inner.take::<u8>(len)?;
            let n = decode(mode, stored, room, &mut inner, What::DATASERIES_FIXED, at)?;
            let compacted = room.get(..n).unwrap_or_default();
            expand::expand(compacted, ty, records, &mut inner).map_err(|e| e.moved(at))?;
        }
        Ok(Records::Lent(records))
    }

    fn tail<'s>(&self, len: usize, scratch: &mut Scratch<'s>) -> Result<&'s [u8]>
    where
        'a: 's,
    {
        let (stored, mode) = (self.variable()?, self.header.variable_mode);
        let at = self.header.variable_span().at;
        if len == 0 {
            return nothing(stored, What::DATASERIES_VARIABLE, at).map(|()| &[][..]);
        }
        if mode == Mode::None {
            return exactly(stored, len, What::DATASERIES_VARIABLE, at);
        }
        let tail = scratch.take::<u8>(len)?;
        restore(mode, stored, tail, &mut scratch.scope(), What::DATASERIES_VARIABLE, at)?;
        Ok(tail)
    }
}

/// Converts the length `len`. Fails if it exceeds `limits.max_decoded`.
fn within(len: u64, options: &ReadOptions) -> Result<usize> {
    let max = options.limits.max_decoded;
    usize::try_from(len)
        .ok()
        .filter(|_| len <= max)
        .ok_or_else(|| Error::needing(Kind::Limit, What::MAX_DECODED, 0, max))
}

/// Checks that no bytes are stored for an empty part. Its mode has no meaning (section 4).
fn nothing(stored: &[u8], what: What, at: u64) -> Result<()> {
    exactly(stored, 0, what, at).map(|_| ())
}

fn exactly(stored: &[u8], len: usize, what: What, at: u64) -> Result<&[u8]> {
    if stored.len() < len {
        return Err(Error::needing(Kind::Truncated, what, at, len as u64));
    }
    match stored.len().saturating_sub(len) {
        0 => Ok(stored),
        more => Err(Error::needing(Kind::Trailing, what, at, more as u64)),
    }
}

/// Decompresses a part that must fill `to`.
fn restore(mode: Mode, stored: &[u8], to: &mut [u8], scratch: &mut Scratch<'_>, what: What, at: u64) -> Result<()> {
    if mode == Mode::None {
        to.copy_from_slice(exactly(stored, to.len(), what, at)?);
        return Ok(());
    }
    let n = decode(mode, stored, to, scratch, what, at)?;
    if n == to.len() { Ok(()) } else { Err(Error::needing(Kind::Truncated, what, at, to.len() as u64)) }
}

/// Decompresses a part. Returns its size in bytes, which is at most the length of `to`.
fn decode(mode: Mode, stored: &[u8], to: &mut [u8], scratch: &mut Scratch<'_>, what: What, at: u64) -> Result<usize> {
    let Some(codec) = mode.codec() else {
        return Err(Error::needing(Kind::Unsupported, What::DATASERIES_MODE, at, mode.id().into()));
    };
    codec.decode(stored, to, scratch).map_err(|e| match e.kind() {
        // `to` has the length stated in the header, so a stream that does not fit is an error of the file, not of the
        // buffer.
        Kind::NoRoom if e.what() != What::SCRATCH => e.turned(Kind::Trailing, what, at),
        Kind::NoRoom => e,
        _ => e.moved(at),
    })
}

/// Returns the scratch size in bytes that decompression takes in addition to its output.
fn workspace(mode: Mode, len: u64) -> u64 {
    let len = saturated(len);
    mode.codec().map_or(0, |codec| codec.workspace_len(len) as u64)
}

/// Returns an upper bound of the size that `stored` bytes can decompress to: the maximum output per byte of each codec.
/// An unknown mode fails elsewhere.
fn most(mode: Mode, stored: u32) -> u64 {
    let stored = u64::from(stored);
    match mode {
        Mode::None => stored,
        // A byte of 255 or 0 lengthens a match by 255. Shorter instructions produce less output per byte.
        Mode::Lzo | Mode::Lz4 | Mode::Lz4hc => stored.saturating_mul(255).saturating_add(64),
        // 258 bytes from two bits.
        Mode::Zlib => stored.saturating_mul(1032),
        // 264 bytes from three bytes.
        Mode::Lzf => stored.saturating_mul(88),
        // 64 bytes from three bytes.
        Mode::Snappy => stored.saturating_mul(22),
        // A block of 900,000 symbols takes 32 bytes. Every five symbols can represent 259 bytes.
        Mode::Bz2 => (stored >> 5).saturating_add(1).saturating_mul(46_620_000),
        Mode::Unknown(_) => u64::MAX,
    }
}

/// Converts cells of foreign byte order to native byte order (section 11).
fn swap(records: &mut [u8], ty: &ExtentType<'_>) {
    let size = ty.record_len();
    for field in ty.records() {
        let at = field.slot().at as usize;
        match field.ty() {
            FieldType::Int32 | FieldType::Variable32 => cells::swap(records, size, at, 4),
            FieldType::Int64 | FieldType::Double => cells::swap(records, size, at, 8),
            FieldType::Bool | FieldType::Byte | FieldType::FixedWidth(_) => {}
        }
    }
}

/// Checks every string cell (section 7.3), null cells included.
fn check_cells(records: &[u8], ty: &ExtentType<'_>, pool: &Pool<'_>) -> Result<()> {
    for field in ty.records().iter().filter(|field| field.ty() == FieldType::Variable32) {
        // Consecutive cells are often equal, for example in sorted rows.
        let mut last = 0;
        for cell in cells::cells::<4>(records, ty.record_len(), field.slot().at as usize) {
            let cell = u32::from_ne_bytes(*cell);
            if cell != last {
                pool.check(cell)?;
                last = cell;
            }
        }
    }
    Ok(())
}

/// Undoes scales and differences, field by field (sections 8.2 to 8.4).
fn undo<S: Schema>(records: &mut [u8], ty: &ExtentType<'_>) {
    let uses = S::USES;
    let size = ty.record_len();
    let compact = ty.options().compact;
    // Bases are declared before the fields that refer to them, so one pass in declaration order suffices.
    for (k, field) in ty.records().iter().enumerate() {
        let at = field.slot().at as usize;
        // Null cells are included, unless compaction has left them out.
        let skip = field.null().filter(|_| compact);
        let relative = field.relative(k);
        let number = match field.ty() {
            FieldType::Int32 if uses.relative32 => Some(Number::Int32),
            FieldType::Int64 if uses.relative64 => Some(Number::Int64),
            FieldType::Double if uses.relative_double => Some(Number::Double),
            _ => None,
        };
        let rounded = match field.scale() {
            Some(unit) if uses.relative_double && relative == Relative::Own => {
                Some(Rounded { unit, many: field.multiplier() })
            }
            Some(scale) if uses.scale => {
                cells::undo_scale(records, size, at, scale);
                None
            }
            _ => None,
        };
        let base = match relative {
            Relative::To(base) if uses.other => ty.records().get(base as usize).map(|base| base.slot().at as usize),
            Relative::Own => None,
            _ => continue,
        };
        if let Some(number) = number {
            cells::undo(records, size, at, base, skip, number, rounded);
        }
    }
}
