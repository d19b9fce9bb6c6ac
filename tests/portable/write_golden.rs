//! What we write is, byte for byte, what the original wrote, wherever the format fixes the bytes.

use pilaster::filo::write::{Strings, dict_string};
use pilaster::filo::{Encoding, Vector};

use crate::common;
use crate::support::{Owned, Values, has_old_header};

/// Chunks that the original lays out in another way, with the reason, beside those with old header words. All of them
/// are read back.
const DIFFERENT: &[(Reason, &[&str])] = &[
    (
        Reason::PaddingInFront,
        &[
            "simple_long_s8_na",
            "simple_long_u8_na",
            "simple_long_s16_na",
            "simple_long_u16_na",
            "simple_long_na_edges",
            "simple_string_auto",
            "simple_string_long",
        ],
    ),
    (
        Reason::PaddingInTable,
        &["diff_long_16", "diff_long_32", "diff_long_32_neg", "diff_timestamp", "diff_timestamp_const"],
    ),
    (Reason::FieldLeftOut, &["diff_long_base0", "datetime_const", "datetime_same_tz"]),
    (
        Reason::SpareRoom,
        &[
            "simple_long_mask_extra_words",
            "bin_int_unfrozen",
            "bin_int_masked_u4_unfrozen",
            "bin_long_unfrozen",
            "utf8_unfrozen",
        ],
    ),
    (Reason::LongWords, &["utf8_largeform_short"]),
];

/// Why the bytes of a golden differ from ours.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reason {
    /// The original's builder works back to front, so that the padding before the table depends on the bytes
    /// after it.
    PaddingInFront,
    /// For the same reason there is padding inside the table, after the 8-byte base.
    PaddingInTable,
    /// Base 0, or the two fields of a zone vector that is not there, take no place in the table.
    FieldLeftOut,
    /// Mask words or gaps of a vector that was written without compaction.
    SpareRoom,
    /// Words that say less than they could, left by the original's compaction.
    LongWords,
    /// Header words of releases before 0.3.3; all bytes after them are the same.
    OldHeader,
}

/// The entries of a DictString chunk after the first, in their order.
fn dictionary(chunk: &[u8]) -> Vec<&[u8]> {
    let f = &chunk[4..];
    let u32_at = |at: usize| u32::from_le_bytes(f[at..at + 4].try_into().unwrap()) as usize;
    let u16_at = |at: usize| usize::from(u16::from_le_bytes(f[at..at + 2].try_into().unwrap()));
    let table = u32_at(0);
    let vtable = table - u32_at(table);
    let field = table + u16_at(vtable + 4 + 2);
    let list = field + u32_at(field);
    let string = |i: usize| {
        let slot = list + 4 + 4 * i;
        let at = slot + u32_at(slot);
        &f[at + 4..at + 4 + u32_at(at)]
    };
    (1..u32_at(list)).map(string).collect()
}

fn write_with_dictionary(chunk: &[u8], encoding: Encoding, rows: &Owned) -> Vec<u8> {
    let (entries, Values::String(strings)) = (dictionary(chunk), &rows.values) else { panic!("no strings") };
    let code = |(text, valid): (&Vec<u8>, &bool)| match valid {
        true => entries.iter().position(|entry| entry == text).unwrap() as u32 + 1,
        false => 0,
    };
    let codes: Vec<u32> = strings.iter().zip(&rows.valid).map(code).collect();
    let mut written = vec![0xa5; chunk.len() + 100];
    let packing = encoding.packing().unwrap();
    let len = dict_string(Strings::Slices(&entries), &codes, packing, &mut written).unwrap();
    written.truncate(len);
    written
}

#[test]
fn every_golden_written_anew() {
    let mut wrong = Vec::new();
    for golden in common::of("filo") {
        let (name, chunk) = (&golden.name["filo/".len()..], golden.bytes());
        let rows = Owned::of_golden(&golden.expected, &chunk);
        let encoding = Vector::open(&chunk, rows.element()).unwrap().encoding();
        let written = match encoding {
            Encoding::DictString(_) => write_with_dictionary(&chunk, encoding, &rows),
            _ => rows.write(encoding, 0xa5).unwrap(),
        };
        rows.assert_read(&written, &name);
        let listed = DIFFERENT.iter().find(|(_, names)| names.contains(&name)).map(|(reason, _)| *reason);
        let reason = if has_old_header(name) { Some(Reason::OldHeader) } else { listed };
        let as_expected = match reason {
            None => written == chunk,
            // The list must not outlive its reasons.
            Some(Reason::OldHeader) => written != chunk && written[4..] == chunk[4..],
            Some(_) => written != chunk,
        };
        if !as_expected {
            wrong.push(format!("{name} ({encoding}), {reason:?}: {} bytes, golden {}", written.len(), chunk.len()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_list_of_differences_names_goldens() {
    let goldens = common::of("filo");
    for name in DIFFERENT.iter().flat_map(|(_, names)| names.iter()) {
        assert!(goldens.iter().any(|golden| golden.name["filo/".len()..] == **name), "{name}");
    }
}
