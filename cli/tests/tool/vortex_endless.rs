//! `recover` of Vortex files without their end that are no logs: files of the original, and of pilaster.

use std::ops::Range;

use pilaster::vortex::Encoding;

use super::*;

fn written(name: &str, bytes: &[u8]) -> String {
    let path = target(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn golden(name: &str) -> String {
    format!("{}/../tests/golden/vortex/{name}.vortex", env!("CARGO_MANIFEST_DIR"))
}

/// Returns the bytes of a file up to the end of its segments, and its type.
fn endless(path: &str) -> (Vec<u8>, String) {
    let facts = dump(&[path])["facts"].clone();
    let segments = facts["segments_offset_length_alignexp"].as_array().unwrap();
    let end = segments.iter().map(|segment| segment[0].as_u64().unwrap() + segment[1].as_u64().unwrap()).max().unwrap();
    let mut bytes = fs::read(path).unwrap();
    bytes.truncate(end as usize);
    (bytes, facts["dtype"].as_str().unwrap().to_owned())
}

#[test]
fn arrays_are_listed_without_a_type() {
    let (bytes, _) = endless(&golden("def_root_i64_a"));
    let said = bad(1, &["recover", &written("listed.vortex", &bytes), &target("listed.jay")]);
    assert!(said.contains("2 arrays are found: 8+372 primitive(bool), 384+300 struct("), "{said}");
    assert!(said.contains("--dtype gives the types") && !said.contains("DataSeries"), "{said}");
}

/// Files of the original without their end: the rows of the columns that are matched are equal.
#[test]
fn columns_are_matched_with_a_type() {
    let to = target("matched_saved.vortex");
    let mut matched = 0;
    for name in
        ["def_root_i64_a", "def_prims_nonnull_a", "def_prims_nullable_a", "enc_alp_a", "enc_fsst_a", "def_one_row_a"]
    {
        let (bytes, dtype) = endless(&golden(name));
        let path = written("matched.vortex", &bytes);
        let output = run(&["recover", "--force", "--dtype", &dtype, &path, &to]);
        let said = [out(&output), str::from_utf8(&output.stderr).unwrap()].concat();
        assert!(!said.contains("DataSeries"), "{said}");
        assert_eq!(output.status.code(), Some(0), "{name}: {said}");
        // Some of the files have no tables of zones, and structs that may be missing have none.
        let lines =
            ["\nnot verified: that the writer stores columns as ", "\ncompared: all columns that are saved agree "];
        assert!(lines.iter().any(|line| said.contains(line)), "{name}: {said}");
        matched += is_prefix(&golden(name), &to);
    }
    assert_eq!(matched, 37);
}

/// Checks that the columns of a file have the values of another one, up to its last row. Returns their number.
fn is_prefix(whole: &str, part: &str) -> usize {
    let rows = |path: &str| -> Vec<Value> {
        good(&["cat", "--json-lines", path]).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (whole, part) = (rows(whole), rows(part));
    assert!(part.len() <= whole.len());
    for (row, (part, whole)) in part.iter().zip(&whole).enumerate() {
        for (name, value) in part.as_object().unwrap() {
            // The only column of a file may have no name; then it is called v.
            let whole = if whole.get(name).is_none() { &whole[""] } else { &whole[name] };
            assert!(value == whole || value.is_null(), "row {row}, {name}: {value} {whole}");
        }
    }
    part.first().map_or(0, |row| row.as_object().unwrap().len())
}

/// A file of the original, cut at every 16th byte and damaged at every 16th: never a panic, never another value.
#[test]
fn cut_and_damaged_files_of_the_original() {
    let source = golden("def_one_row_a");
    let (whole, dtype) = (fs::read(&source).unwrap(), endless(&source).1);
    let to = target("original_saved.vortex");
    for at in (0..whole.len()).step_by(16) {
        let mut damaged = whole[..whole.len() - 100].to_vec();
        if let Some(byte) = damaged.get_mut(at) {
            *byte ^= 0x55;
        }
        for (bytes, is_cut) in [(&whole[..at], true), (&damaged[..], false)] {
            let path = written("original.vortex", bytes);
            let call = ["recover", "--force", "--format", "vortex", "--dtype", &dtype, &path, &to];
            if succeeds_in_process(&call) && is_cut {
                is_prefix(&source, &to);
            }
        }
    }
}

/// Cuts a file at all ends of its segments and at other offsets, and checks what is saved. Returns the number of files from
/// which something is saved, and of columns of the last one.
fn cut_everywhere(source: &str, others: impl IntoIterator<Item = usize>, options: &[&str]) -> (usize, usize) {
    let (whole, facts) = (fs::read(source).unwrap(), dump(&[source])["facts"].clone());
    let segments = facts["segments_offset_length_alignexp"].as_array().unwrap();
    let end = |segment: &Value| (segment[0].as_u64().unwrap() + segment[1].as_u64().unwrap()) as usize;
    let (to, mut saved, mut columns) = (target("cut_saved.vortex"), 0, 0);
    let mut ends: Vec<usize> = segments.iter().map(end).chain(others).collect();
    ends.sort_unstable();
    for len in ends {
        let path = written("cut.vortex", &whole[..len]);
        let dtype = ["--dtype", facts["dtype"].as_str().unwrap()];
        let output = run(&[&["recover", "--force", "--format", "vortex", &path, &to], &dtype[..], options].concat());
        assert!(matches!(output.status.code(), Some(0 | 1)), "{len}: {output:?}");
        if output.status.success() {
            saved += 1;
            columns = is_prefix(source, &to);
        }
    }
    (saved, columns)
}

/// Columns of neighbouring widths, and codes of a dictionary whose values are lost, which have the width of half floats.
#[test]
fn cuts_cost_columns_and_change_no_value() {
    let codes = (20_656..21_136).step_by(48);
    assert_eq!(cut_everywhere(&golden("def_prims_nonnull_a"), codes, &[]), (34, 11));
    let (saved, columns) = cut_everywhere(&golden("def_multichunk_a"), (5000..45_000).step_by(4000), &[]);
    assert!(saved > 10 && columns == 3, "{saved} {columns}");
}

/// Files of pilaster list encodings in the order of their use, which is found by trying.
#[test]
fn files_of_pilaster_are_recovered() {
    let to = target("own.vortex");
    for name in ["def_prims_nullable_a", "enc_fsst_a"] {
        good(&["convert", "--force", &golden(name), &to]);
        let (saved, columns) = cut_everywhere(&to, [], &[]);
        let all = dump(&[&golden(name)])["columns"].as_array().unwrap().len();
        assert!(saved > all && columns == all, "{name}: {saved} {columns}");
    }
}

/// Two columns of one type with three chunks each, the last of which is short, in an order of chunks of `[column, chunk]`, and
/// the tables of their zones. Returns the file and the ends of its arrays.
fn chunks(order: &[[usize; 2]]) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = b"VTXF\0\0\0\0".to_vec();
    let mut ends = Vec::new();
    let values = |column: usize, chunk: usize| {
        let (first, rows) = ((8192 * chunk) as i64, if chunk == 2 { 100 } else { 8192 });
        (first..first + rows).map(move |row| 2 * row + column as i64)
    };
    let mut put = |blob: Vec<u8>| {
        bytes.extend(blob);
        ends.push(bytes.len());
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    };
    for [column, chunk] in order {
        put(build::blob(build::plain(0), &[&build::le(&values(*column, *chunk).collect::<Vec<_>>())]));
    }
    for column in 0..2 {
        let zones = (0..3).map(|chunk| values(column, chunk));
        let (max, min): (Vec<i64>, Vec<i64>) =
            zones.map(|zone| (zone.clone().max().unwrap(), zone.min().unwrap())).unzip();
        let root = build::node(Encoding::Struct, &[], &[], (0..3).map(build::plain).collect());
        put(build::blob(root, &[&build::le(&max), &build::le(&min), &build::le(&[0i64; 3])]));
    }
    (bytes, ends)
}

/// Arrays that may be another column's are not saved, whether columns follow each other or take turns.
#[test]
fn columns_that_may_take_turns_are_refused() {
    let ids = Encoding::ALL.iter().map(|encoding| encoding.id()).collect::<Vec<_>>().join(",");
    let to = target("turns_saved.vortex");
    let save = |bytes: &[u8]| {
        let path = written("turns.vortex", bytes);
        let output = run(&["recover", "--force", "--dtype", "{a=i64, b=i64}", "--array-ids", &ids, &path, &to]);
        output.status.success().then(|| good(&["cat", &to])).ok_or(String::from_utf8(output.stderr).unwrap())
    };
    let rows = |range: Range<i64>| range.map(|row| format!("{},{}\n", 2 * row, 2 * row + 1)).collect::<String>();
    let all = format!("a,b\n{}", rows(0..2 * 8192 + 100));
    let after = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]];
    let turns = [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2], [1, 2]];
    let others = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 2], [1, 2]];
    let mut saved = 0;
    for order in [after, turns, others] {
        let (bytes, ends) = chunks(&order);
        for (count, end) in ends.into_iter().enumerate() {
            match save(&bytes[..end]) {
                Ok(text) if count == 0 => assert!(text.starts_with("a\n0\n2\n4\n"), "the first column only"),
                Ok(text) => {
                    assert!(text == all && order == after, "{order:?} {count}");
                    saved += 1;
                }
                Err(said) => {
                    assert!(order != after || count < 6, "{said}");
                    assert!(
                        said.contains("columns a, b is not certain") || said.contains("the arrays fit the columns in "),
                        "{said}"
                    );
                }
            }
        }
    }
    assert_eq!(saved, 2, "with a table of zones or two");
}

/// A damaged byte of the type: `--dtype` replaces it, whether it can be parsed or not.
#[test]
fn a_damaged_type_is_replaced() {
    let source = golden("def_one_row_a");
    let (whole, dtype) = (fs::read(&source).unwrap(), endless(&source).1);
    let names = whole.windows(5).rposition(|five| five == b"\x01\0\0\0q").unwrap() + 4;
    let to = target("type_saved.vortex");
    for (at, byte) in [(names, b'z'), (names - 3, 0xff)] {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        let path = written("type.vortex", &bytes);
        let said = good(&["recover", "--force", "--dtype", &dtype, &path, &to]);
        assert!(said.starts_with("damaged: the type") && said.ends_with("; nothing is lost\n"), "{said}");
        assert_eq!(good(&["cat", "--json-lines", &to]), good(&["cat", "--json-lines", &source]));
    }
    let said = bad(2, &["recover", "--dtype", "{i=i32?}", &source, &target("type_refused.vortex")]);
    assert!(said.contains("--dtype is for files that store no type"), "{said}");
}

/// Errors about a torn file name what helps, and no other format.
#[test]
fn a_torn_file_is_not_told_about_other_formats() {
    let bytes = fs::read(golden("enc_fsst_a")).unwrap();
    for len in [4, 12, 3000] {
        for name in ["told.vortex", "told.ds", "told.bin"] {
            let path = written(name, &bytes[..len]);
            for verb in ["info", "cat", "verify", "head", "dump"] {
                let said = bad(1, &[verb, &path]);
                assert!(said.contains("vortex end marker") && said.contains("recover saves"), "{verb}: {said}");
                assert!(!said.contains("DataSeries") && !said.contains("Filo"), "{verb}: {said}");
            }
            let said = bad(1, &["recover", &path, &target("told_saved.jay")]);
            assert!(
                !said.contains("DataSeries") && said.contains("arrays are found") || said.contains("no array"),
                "{said}"
            );
        }
    }
    // Without a magic number, the name tells.
    let path = written("told.vortex", &[0; 100]);
    assert!(bad(1, &["cat", &path]).contains("recover --format vortex"));
    assert!(bad(1, &["recover", &path, &target("told_saved.jay")]).contains("--format vortex searches"));
    assert!(bad(1, &["recover", "--format", "vortex", &path, &target("told_saved.jay")]).contains("no array is found"));
}
