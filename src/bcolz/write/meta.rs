//! Writes the metadata files (sections A.1 and A.5), byte for byte like the original.

use core::fmt;

use crate::bcolz::meta::{Sizes, Storage};
use crate::bcolz::{Dtype, Shuffle};
use crate::bytes::Sink;
use crate::column::Prim;
use crate::meta::json::quote;

/// Returns the number of rows of a chunk, for about `expected` rows of `row` bytes (section E.7).
///
/// A chunk has 16 KiB to 4 MiB, increasing with the expected size of the array.
#[must_use]
pub const fn chunklen(expected: u64, row: u64) -> u64 {
    /// The sizes, in 1/10,000 MiB, at which the decimal logarithm of the size in MiB, truncated to an integer, changes.
    const STEPS: [u128; 8] = [1, 10, 100, 1000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    let size = (expected as u128).saturating_mul(row as u128).saturating_mul(10_000) >> 20;
    let mut bytes = 16 << 10;
    let mut steps = STEPS.as_slice();
    while let [step, rest @ ..] = steps {
        if size >= *step {
            bytes <<= 1;
        }
        steps = rest;
    }
    match u64::checked_div(bytes, row) {
        Some(0) | None => 1,
        Some(rows) => rows,
    }
}

impl Sizes {
    /// Writes the file.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn write<S: Sink>(&self, sink: &mut S) -> Result<(), S::Error> {
        sink.put(b"{\"shape\": [")?;
        for (k, length) in self.shape.lengths().iter().enumerate() {
            put(sink, format_args!("{}{length}", if k > 0 { ", " } else { "" }))?;
        }
        put(sink, format_args!("], \"nbytes\": {}, \"cbytes\": {}}}\n", self.nbytes, self.cbytes))
    }
}

impl Storage<'_> {
    /// Writes the file. Uses `dtype_text` for the type and `dflt` unchanged; ignores `dtype`.
    ///
    /// ```
    /// use pilaster::bcolz::Dtype;
    /// use pilaster::bcolz::chunk::Params;
    /// use pilaster::bcolz::meta::Storage;
    /// use pilaster::bcolz::write::{chunklen, put_default};
    /// use pilaster::bytes::Scratch;
    ///
    /// let dtype_text = "[('id', '<i4'), ('price', '<f8')]";
    /// let dtype = Dtype::parse(dtype_text)?;
    /// let mut dflt = vec![];
    /// put_default(&dtype, &mut dflt).unwrap();
    /// assert_eq!(dflt, b"[0, 0.0]");
    ///
    /// let params = Params { typesize: dtype.typesize(), ..Params::DEFAULT };
    /// let (chunklen, expectedlen) = (chunklen(1000, dtype.size().into()), 1000);
    /// let storage = Storage { dtype_text, dtype, chunklen, expectedlen, params, quantize: 0, dflt: &dflt };
    /// let mut file = vec![];
    /// storage.write(&mut file).unwrap();
    /// assert!(file.ends_with(b", \"chunklen\": 10922, \"expectedlen\": 1000, \"dflt\": [0, 0.0]}\n"));
    /// assert_eq!(Storage::parse(&file, &mut Scratch::new(&mut []))?, storage);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn write<S: Sink>(&self, sink: &mut S) -> Result<(), S::Error> {
        let shuffle = match self.params.shuffle {
            Shuffle::None => 0,
            Shuffle::Byte => 1,
            Shuffle::Bit => 2,
        };
        sink.put(b"{\"dtype\": ")?;
        quote(self.dtype_text, sink)?;
        put(sink, format_args!(", \"cparams\": {{\"clevel\": {}, \"shuffle\": {shuffle}", self.params.level))?;
        let name = self.params.compressor.name();
        put(sink, format_args!(", \"cname\": \"{name}\", \"quantize\": {}}}", self.quantize))?;
        put(sink, format_args!(", \"chunklen\": {}, \"expectedlen\": {}", self.chunklen, self.expectedlen))?;
        sink.put(b", \"dflt\": ")?;
        sink.put(self.dflt)?;
        sink.put(b"}\n")
    }
}

/// Writes the usual default value of new rows in an array of `dtype`, as JSON for [`Storage::dflt`].
///
/// # Errors
/// Errors of the sink.
pub fn put_default<S: Sink>(dtype: &Dtype<'_>, sink: &mut S) -> Result<(), S::Error> {
    match dtype {
        Dtype::Bool => sink.put(b"false"),
        Dtype::Number { prim: Prim::F16 | Prim::F32 | Prim::F64, .. } => sink.put(b"0.0"),
        Dtype::Number { .. } | Dtype::Time { .. } | Dtype::Object => sink.put(b"0"),
        Dtype::Bytes(_) | Dtype::Text { .. } => sink.put(b"\"\""),
        Dtype::Void(size) => {
            sink.put(b"\"")?;
            for _ in 0..*size {
                sink.put(b"\\u0000")?;
            }
            sink.put(b"\"")
        }
        Dtype::Struct(fields) => {
            sink.put(b"[")?;
            for (k, field) in fields.iter().enumerate() {
                sink.put(if k > 0 { b", " } else { b"" })?;
                // The depth is bounded: parsing the text of the type checked it.
                put_default(&field.dtype, sink)?;
            }
            sink.put(b"]")
        }
    }
}

/// Writes `__rootdirs__`: the names of the columns, in their order.
///
/// ```
/// let mut file = vec![];
/// pilaster::bcolz::write::put_names(["id", "prix en \u{20ac}"], &mut file).unwrap();
/// assert_eq!(file, b"{\"names\": [\"id\", \"prix en \\u20ac\"]}\n");
/// ```
///
/// # Errors
/// Errors of the sink.
pub fn put_names<'n, S: Sink>(names: impl IntoIterator<Item = &'n str>, sink: &mut S) -> Result<(), S::Error> {
    sink.put(b"{\"names\": [")?;
    for (k, name) in names.into_iter().enumerate() {
        sink.put(if k > 0 { b", " } else { b"" })?;
        quote(name, sink)?;
    }
    sink.put(b"]}\n")
}

/// Writes formatted text to the sink without a buffer.
fn put<S: Sink>(sink: &mut S, text: fmt::Arguments<'_>) -> Result<(), S::Error> {
    struct Adapter<'s, S: Sink> {
        sink: &'s mut S,
        failed: Option<S::Error>,
    }
    impl<S: Sink> fmt::Write for Adapter<'_, S> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.sink.put(text.as_bytes()).map_err(|e| {
                self.failed = Some(e);
                fmt::Error
            })
        }
    }
    let mut adapter = Adapter { sink, failed: None };
    let _ = fmt::Write::write_fmt(&mut adapter, text);
    adapter.failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bcolz::meta::{Shape, names};
    use crate::bytes::{Scratch, SliceSink};
    use std::string::String;
    use std::vec::Vec;

    /// Chunk lengths in files of the original: expected rows, bytes of a row, rows of a chunk.
    #[test]
    fn chunklens_of_the_original() {
        for (expected, row, rows) in [
            (0, 8, 2048),
            (0, 12, 1365),
            (10, 8, 2048),
            (50, 8, 4096),
            (235, 8, 8192),
            (277, 300, 436),
            (20_000, 8, 32_768),
            (40_000, 4, 65_536),
            (50_000, 2, 65_536),
            (10_000_000, 4, 131_072),
            // A row larger than a chunk; a size that overflows.
            (1, 1 << 30, 1),
            (u64::MAX, u64::MAX, 1),
            (u64::MAX, 1, 4 << 20),
            (10, 0, 1),
        ] {
            assert_eq!(chunklen(expected, row), rows, "{expected} rows of {row} bytes");
        }
    }

    #[test]
    fn every_text_is_read_again() {
        let sizes = Sizes { shape: Shape::new(&[20, 6, 4]).unwrap(), nbytes: 3840, cbytes: 4450 };
        let mut text = Vec::new();
        sizes.write(&mut text).unwrap();
        assert_eq!(text, b"{\"shape\": [20, 6, 4], \"nbytes\": 3840, \"cbytes\": 4450}\n");
        assert_eq!(Sizes::parse(&text), Ok(sizes));

        let dtype = "[('\u{e9}', '<i4'), ('b', '|S2'), ('c', '<f8'), ('d', '|b1'), ('e', '|V1')]";
        let mut dflt = Vec::new();
        put_default(&Dtype::parse(dtype).unwrap(), &mut dflt).unwrap();
        assert_eq!(dflt, br#"[0, "", 0.0, false, "\u0000"]"#);
        let json = std::format!(
            "{{\"dtype\": \"{dtype}\", \"cparams\": {{\"cname\": \"zstd\", \"clevel\": 9, \"shuffle\": 2, \"quantize\": -3}}, \"chunklen\": 7, \"expectedlen\": 9, \"dflt\": {}}}",
            std::str::from_utf8(&dflt).unwrap()
        );
        let storage = Storage::parse(json.as_bytes(), &mut Scratch::new(&mut [])).unwrap();
        let mut text = Vec::new();
        storage.write(&mut text).unwrap();
        assert!(text.is_ascii());
        let mut memory = [0; 128];
        assert_eq!(Storage::parse(&text, &mut Scratch::new(&mut memory)), Ok(storage));

        let mut dflt = Vec::new();
        put_default(&Dtype::parse("[('a', [('b', '<i4'), ('c', [('d', '?')])]), ('e', 'S1')]").unwrap(), &mut dflt)
            .unwrap();
        assert_eq!(dflt, br#"[[0, [false]], ""]"#);
        // The original writes these words, which are not valid JSON.
        for bare in ["Infinity", "-Infinity", "NaN", "[0, [-Infinity, NaN]]"] {
            let storage = Storage { dflt: bare.as_bytes(), ..storage };
            let mut text = Vec::new();
            storage.write(&mut text).unwrap();
            assert!(text.ends_with(std::format!(", \"dflt\": {bare}}}\n").as_bytes()));
            assert_eq!(Storage::parse(&text, &mut Scratch::new(&mut memory)), Ok(storage));
        }
        for wrong in ["Inf", "-NaN", "+Infinity", "infinity", "nan", "--Infinity", "Infinity5", "- Infinity"] {
            let text = std::format!("{{\"dtype\": \"int8\", \"chunklen\": 1, \"dflt\": {wrong}}}");
            assert!(Storage::parse(text.as_bytes(), &mut Scratch::new(&mut [])).is_err(), "{wrong}");
        }

        let (mut text, mut read) = (Vec::new(), Vec::new());
        put_names(["id", "pr\u{e9}"], &mut text).unwrap();
        assert_eq!(text, b"{\"names\": [\"id\", \"pr\\u00e9\"]}\n");
        names(&text, &mut Scratch::new(&mut memory), |name| {
            read.push(String::from(name));
            Ok(())
        })
        .unwrap();
        assert_eq!(read, ["id", "pr\u{e9}"]);
        text.clear();
        put_names([], &mut text).unwrap();
        assert_eq!(text, b"{\"names\": []}\n");
    }

    #[test]
    fn a_full_sink_is_said() {
        let sizes = Sizes { shape: Shape::new(&[20]).unwrap(), nbytes: 1, cbytes: 1 };
        let mut text = Vec::new();
        sizes.write(&mut text).unwrap();
        for room in 0..=text.len() {
            let mut memory = std::vec![0; room];
            assert_eq!(sizes.write(&mut SliceSink::new(&mut memory)).is_ok(), room == text.len(), "{room}");
        }
    }
}
