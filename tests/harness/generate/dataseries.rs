//! DataSeries files: the library writes extents that are not compressed; then the header, the records and the pool of
//! each are bent, and the file is put together again with compression, hashes, sums, index and trailer.

use arbitrary::{Arbitrary, Result, Unstructured};
use pilaster::any::{File, FileError, Format, Hints};
use pilaster::bytes::{BigEndian, Endian, LittleEndian, Scratch};
use pilaster::column::{Column as _, Once, Prim, Type, convert};
use pilaster::dataseries::write::{Builder, Description, Descriptions, ExtentBuffer, IndexSlot, Writer};
use pilaster::dataseries::{ExtentType, Field, FieldType, Mode, Options, Ordering, Pad, Relative};
use pilaster::error::Kind;
use pilaster::unstable::dataseries::xml::{Attributes, TypeXml};

use super::bend::{Bend, bend};
use super::extents::{Pieces, entries, mend, mend_pool, places};
use super::rows::{Rows, Wanted};
use super::{Reach, bends, mend_zlib, same};
use crate::harness::{any_file, dataseries_file, dataseries_recover};

const WANTED: Wanted = Wanted {
    types: &[
        Type::Bool,
        Type::Prim(Prim::U8),
        Type::Prim(Prim::I32),
        Type::Prim(Prim::I64),
        Type::Prim(Prim::F64),
        Type::Bytes,
    ],
    nulls: true,
    sentinels: false,
};

/// A file to be.
#[derive(Clone, Debug)]
pub struct Made {
    pub rows: Rows,
    pub big: bool,
    options: Options,
    /// Whether a column is stored as differences, or shares equal strings, by its bit.
    packed: u8,
    /// The most rows of an extent.
    extent: u8,
    /// How the parts of extents are compressed, in turn.
    modes: [Mode; 2],
    /// Changes of an extent before it is compressed: which extent, and which part of it.
    early: Vec<(u8, Piece, Vec<Bend>)>,
    /// Changes of the file, after which sums are mended.
    late: Vec<Bend>,
    /// Whether lengths are mended after early changes, and sums after late ones.
    mended: bool,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Piece {
    Header,
    Records,
    Pool,
}

impl<'a> Arbitrary<'a> for Made {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let early = (0..u.int_in_range(0..=2)?).map(|_| Ok((u8::arbitrary(u)?, Piece::arbitrary(u)?, bends(u)?)));
        Ok(Made {
            early: early.collect::<Result<_>>()?,
            late: bends(u)?,
            mended: u.ratio(7, 8)?,
            big: bool::arbitrary(u)?,
            options: Options {
                ordering: *u.choose(&[Ordering::SmallToBig, Ordering::BigToSmall])?,
                pad: *u.choose(&[Pad::Original, Pad::MaxColumnSize])?,
                compact: u.ratio(1, 8)?,
            },
            packed: u8::arbitrary(u)?,
            extent: u8::arbitrary(u)?.max(1),
            modes: [*u.choose(&Mode::ALL)?, *u.choose(&Mode::ALL)?],
            rows: Rows::arbitrary(u, &WANTED)?,
        })
    }
}

impl Made {
    /// The file as the library writes it, without compression and bends.
    pub fn plain(&self) -> Vec<u8> {
        if self.big { self.written::<BigEndian>() } else { self.written::<LittleEndian>() }
    }

    /// The file, bent.
    pub fn file(&self) -> Vec<u8> {
        let mut pieces = Pieces::of(&self.plain(), self.big);
        for (extent, piece, bends) in &self.early {
            let count = pieces.extents.len();
            let extent = &mut pieces.extents[usize::from(*extent) % count];
            match piece {
                Piece::Header => {
                    let mut head = extent.head.to_vec();
                    bend(&mut head, bends, &[0, 8, 24]);
                    head.resize(extent.head.len(), 0);
                    extent.head.copy_from_slice(&head);
                }
                // The records of a type that leaves out null cells are hashed with them.
                Piece::Records if self.options.compact => {}
                Piece::Records => {
                    let marks: Vec<usize> = (0..8).map(|k| k * extent.row).collect();
                    bend(&mut extent.records, bends, &marks);
                    if self.mended && extent.row > 0 {
                        extent.records.truncate(extent.records.len() / extent.row * extent.row);
                    }
                }
                Piece::Pool => {
                    let marks = entries(&extent.pool, self.big);
                    bend(&mut extent.pool, bends, &marks);
                    if self.mended {
                        mend_pool(&mut extent.pool, self.big);
                    }
                }
            }
        }
        let mut file = pieces.assembled(self.modes, self.options.compact);
        if !self.late.is_empty() {
            let marks = places(&file, self.big);
            bend(&mut file, &self.late, &marks);
            if self.mended {
                mend_zlib(&mut file);
                mend(&mut file, self.big, !self.options.compact);
            }
        }
        file
    }

    fn written<E: Endian>(&self) -> Vec<u8> {
        // Null compaction is not for every type.
        let texts = [self.options, Options { compact: false, ..self.options }].map(|options| self.xml(options));
        let mut memory = [0; 8192];
        let mut scratch = Scratch::new(&mut memory);
        let mut extents = texts.iter().filter_map(|xml| {
            let ty = ExtentType::parse(xml, &Default::default(), &mut scratch).ok()?;
            Some((ty, ExtentBuffer::<E, _>::growing(ty).ok()?))
        });
        let (ty, extent) = extents.next().expect("a type without compaction");
        let (types, mut slots) = ([Description::from(&ty)], [IndexSlot::EMPTY; 256]);
        let types = Descriptions::new(&types).expect("one type");
        let writer = Writer::<E, _>::new(Vec::new(), types, &mut slots);
        let mut builder = Builder::new(writer, extent, self.extent.into());
        convert(&mut Once::new(&self.rows), &mut builder, &mut Scratch::new(&mut [])).expect("rows of the type");
        builder.finish().expect("a vector takes all")
    }

    /// The description of the type.
    fn xml(&self, options: Options) -> Vec<u8> {
        let mut xml = TypeXml::begin(Vec::new(), "made", "", (1, 0), options).expect("a vector takes all");
        for (k, cells) in self.rows.columns.iter().enumerate() {
            let ty = FieldType::of_column(cells.ty).expect("a type of this format");
            let mut field = Field { nullable: cells.nullable(), ..Field::new(&cells.name, ty) };
            if self.packed >> k & 1 == 1 {
                match ty {
                    FieldType::Variable32 => field.unique = true,
                    FieldType::Int32 | FieldType::Int64 => field.relative = Relative::Own,
                    _ => {}
                }
            }
            xml.field(&field, &Attributes { base: "", more: &[] }).expect("a vector takes all");
        }
        xml.end().expect("a vector takes all")
    }
}

/// Reads a file in all ways. One that is not bent has the rows that were written.
pub fn check(made: &Made) -> Reach {
    let (file, unbent) = (made.file(), Made { early: Vec::new(), late: Vec::new(), ..made.clone() }.file());
    dataseries_file::read(&file);
    dataseries_recover::run(&file);
    let (mut kept, mut memory) = (vec![0xa5; 64 << 10], vec![0x5a; any_file::PART]);
    let mut rows = 0;
    for sequential in [false, true] {
        let hints = Hints { sequential, ..Hints::default() };
        let opened = File::open(&file, Format::DataSeries, &hints, &mut Scratch::new(&mut kept));
        if file == unbent {
            same(&made.rows, opened.as_ref().expect("what was written"), |made, read| made == read);
        }
        if let Ok(file) = &opened {
            rows += any_file::look(file, &mut memory);
        }
        // Sums and hashes are computed after the early bends, so they cannot find them.
        let verified = opened.map_err(FileError::from).and_then(|file| file.verify(&mut Scratch::new(&mut memory)));
        let by_sum = matches!(verified, Err(FileError::Format(e)) if e.kind() == Kind::Checksum);
        assert!(!by_sum || !made.late.is_empty() || made.options.compact, "{verified:?}");
    }
    Reach { bent: file != unbent, deep: rows > 0 }
}
