//! Names formats that the tool does not read, so that an error says what a file is.

/// A magic number: its offset, its bytes, and the format.
type Magic = (usize, &'static [u8], &'static str);

const CSV: &str =
    if cfg!(feature = "arrow") { "text, such as CSV (--format csv reads it)" } else { "text, such as CSV" };
const JSON: &str =
    if cfg!(feature = "arrow") { "JSON text (--format jsonl reads one object per line)" } else { "JSON text" };
const GZIP: &str = if cfg!(feature = "arrow") {
    "gzip data, which must be decompressed first (a name that ends with .csv.gz or .jsonl.gz is read as it is)"
} else {
    "gzip data, which must be decompressed first"
};

const MAGIC: [Magic; 37] = [
    (0, b"PAR1", "a Parquet file"),
    (0, b"PARE", "an encrypted Parquet file"),
    (0, b"ARROW1", "an Arrow IPC file (Feather version 2)"),
    (0, b"FEA1", "a Feather file of version 1"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (0, b"\x0e\x03\x13\x01", "an HDF4 file"),
    (0, b"CDF\x01", "a netCDF file"),
    (0, b"CDF\x02", "a netCDF file"),
    (0, b"CDF\x05", "a netCDF file"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (8, b"DUCK", "a DuckDB database"),
    (0, b"PK\x03\x04", "a zip archive (such as .npz and .xlsx)"),
    (0, b"PK\x05\x06", "an empty zip archive"),
    (0, b"\x1f\x8b", GZIP),
    (0, b"BZh", "bzip2 data, which must be decompressed first"),
    (0, b"\xfd7zXZ\0", "xz data, which must be decompressed first"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard data, which must be decompressed first"),
    (0, b"\x04\x22\x4d\x18", "an LZ4 frame, which must be decompressed first"),
    (0, b"\xff\x06\0\0sNaPpY", "framed Snappy data, which must be decompressed first"),
    (0, b"\x1f\x9d", "compress data, which must be decompressed first"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x93NUMPY", "a NumPy array (.npy)"),
    (0, b"Obj\x01", "an Avro file"),
    (0, b"ORC", "an ORC file"),
    (0, b"MATLAB 5.0 MAT-file", "a MATLAB file"),
    (0, b"RDX2\n", "R data"),
    (0, b"RDX3\n", "R data"),
    (0, b"\x9e\xa8b2frame\0", "a Blosc 2 frame"),
    (0, b"\x80\x02", "a Python pickle"),
    (0, b"\x80\x03", "a Python pickle"),
    (0, b"\x80\x04", "a Python pickle"),
    (0, b"\x80\x05", "a Python pickle"),
    (0, b"<?xml", "an XML document"),
    (0, b"%PDF-", "a PDF document"),
    (0, b"\xef\xbb\xbf", "text"),
    (0, b"\x7fELF", "an ELF program"),
];

/// What the feature `arrow` adds, by words of names and extensions.
const OF_ARROW: [&str; 13] =
    ["parquet", "pq", "arrow", "arrows", "feather", "ipc", "csv", "tsv", "json", "jsonl", "ndjson", "gz", "gzip"];

/// Returns what helps with a format that this build lacks, and another one has; nothing for other formats. `what` is a name or an
/// extension.
pub fn remedy(what: &str) -> &'static str {
    let what = what.to_ascii_lowercase();
    match !cfg!(feature = "arrow")
        && what.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| OF_ARROW.contains(&word))
    {
        true => {
            "; this build of the tool lacks Parquet, Arrow and compression, and reads neither CSV nor JSON lines: \
             `cargo install pilaster-cli` installs one that does"
        }
        false => "",
    }
}

/// Magic numbers at the end of a file.
const TAIL: [(&[u8], &str); 3] =
    [(b"PAR1", "a damaged Parquet file"), (b"ARROW1", "a damaged Arrow IPC file"), (b"LANC", "a Lance file")];

/// Number of bytes that are inspected for text.
const TEXT: usize = 4096;

/// Returns what `bytes`, which are of no known format, look like; `None` if of no other format either.
pub fn name(bytes: &[u8]) -> Option<&'static str> {
    let at = |(offset, magic, _): &&Magic| bytes.get(*offset..).is_some_and(|rest| rest.starts_with(magic));
    if let Some((.., name)) = MAGIC.iter().find(at) {
        return Some(name);
    }
    if let Some((_, name)) = TAIL.iter().find(|(magic, _)| bytes.ends_with(magic)) {
        return Some(name);
    }
    if bytes.is_empty() {
        return Some("empty");
    }
    if is_arrow_stream(bytes) {
        return Some("an Arrow IPC stream");
    }
    text(bytes)
}

/// Returns whether a message of an Arrow stream begins here: a marker, and the size of the metadata, a multiple of 8.
fn is_arrow_stream(bytes: &[u8]) -> bool {
    let Some([0xff, 0xff, 0xff, 0xff, a, b, c, d]) = bytes.first_chunk() else { return false };
    let len = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
    len > 0 && len.is_multiple_of(8) && len < bytes.len()
}

fn text(bytes: &[u8]) -> Option<&'static str> {
    let head = bytes.get(..TEXT).unwrap_or(bytes);
    let text = match str::from_utf8(head) {
        Ok(text) => text,
        // A character may be cut at the end.
        Err(e) if e.error_len().is_none() => str::from_utf8(head.get(..e.valid_up_to())?).ok()?,
        Err(_) => return None,
    };
    if text.is_empty() || text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return None;
    }
    let line = text.lines().next().unwrap_or_default();
    Some(match line.trim_start().chars().next() {
        Some('{' | '[') => JSON,
        _ if line.contains([',', ';', '\t']) => CSV,
        _ => "text",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_streams_and_texts() {
        for (bytes, found) in [
            (&b"\xff\xff\xff\xff\x08\0\0\0\x01\x02\x03\x04\x05\x06\x07\x08\x09"[..], Some("an Arrow IPC stream")),
            (b"\xff\xff\xff\xff\x07\0\0\0\x01\x02\x03\x04\x05\x06\x07\x08\x09", None),
            (b"\0\0\0\0 rest PAR1", Some("a damaged Parquet file")),
            (b"time,price\n1,2\n", Some(CSV)),
            (b" {\"a\": 1}\n", Some(JSON)),
            (b"Hello", Some("text")),
            (b"", Some("empty")),
            (b"\x06\x06\0\0\x03\0\0\0\x07\0\0\0", None),
            (b"caf\xe9 au lait", None),
        ] {
            assert_eq!(name(bytes), found, "{bytes:?}");
        }
        let cut = [b"a,".repeat(TEXT / 2 - 1), "aé,".as_bytes().to_vec()].concat();
        assert_eq!(name(&cut), Some(CSV));
    }

    #[test]
    fn what_the_build_lacks_has_a_remedy() {
        for what in ["a Parquet file", "an Arrow IPC stream", "feather", "JSONL", CSV] {
            assert_eq!(remedy(what).contains("cargo install pilaster-cli"), !cfg!(feature = "arrow"), "{what}");
        }
        assert_eq!((remedy("an HDF5 file"), remedy("xlsx")), ("", ""));
    }

    #[test]
    fn every_magic_number_is_found() {
        for (offset, magic, expected) in MAGIC {
            let bytes = [vec![0; offset], magic.to_vec(), vec![0; 8]].concat();
            assert_eq!(name(&bytes), Some(expected));
        }
    }
}
