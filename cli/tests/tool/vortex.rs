//! The command line on Vortex files: `dump` against every golden expectation, `info`, `verify`, `cat`.

use serde_json::Value;

use crate::common;
use crate::{bad, dump, good, target};

/// Files that cannot be read: one without a type.
const NOT_READ: &[(&str, &str)] = &[("lay_no_dtype_a", "vortex dtype")];

#[test]
fn dump_and_verify_agree_with_every_golden() {
    let (mut seen, mut trees) = (0, 0);
    for golden in common::of("vortex") {
        let path = golden.path.to_str().unwrap();
        let name = golden.name.strip_prefix("vortex/").unwrap();
        if golden.path.extension().is_none_or(|extension| extension != "vortex") {
            continue;
        }
        seen += 1;
        if let Some((_, why)) = NOT_READ.iter().find(|(not_read, _)| *not_read == name) {
            assert!(bad(1, &["dump", "--json", path]).contains(why), "{name}");
            assert!(bad(1, &["verify", path]).contains(why), "{name}");
            continue;
        }
        assert!(good(&["verify", path]).contains(": ok, "), "{name}");
        let dump = dump(&["--json", path]);
        for key in ["file", "format", "nrows"] {
            assert_eq!(dump[key], golden.expected[key], "{name}");
        }
        if !golden.expected["facts"]["file_bytes"].is_null() {
            assert_eq!(dump["facts"]["file_bytes"], golden.expected["facts"]["file_bytes"], "{name}");
        }
        for key in ["rows", "dtype", "segments_offset_length_alignexp"] {
            assert_eq!(dump["facts"][key], golden.expected["facts"][key], "{name}: {key}");
        }
        // The expectation has the user data in another order than the file.
        let [ours, theirs] = [&dump, &golden.expected].map(|all| {
            let mut pieces = all["facts"]["metadata"].as_array().cloned().unwrap_or_default();
            pieces.sort_by_key(|piece| piece["key"].to_string());
            pieces
        });
        assert_eq!(ours, theirs, "{name}: metadata");
        if let Some(tree) = golden.expected["facts"].get("layout_tree") {
            same_tree(&dump["facts"]["layout_tree"], tree, false, name);
            trees += 1;
        }
        let columns = golden.expected["columns"].as_array().unwrap();
        assert_eq!(dump["columns"].as_array().unwrap().len(), columns.len(), "{name}");
        for (column, expected) in dump["columns"].as_array().unwrap().iter().zip(columns) {
            for key in ["name", "type", "nullable", "values", "sha256"] {
                // A column may be complete in the dump and cut in the expectation, or the reverse.
                if !expected[key].is_null() && !column[key].is_null() {
                    assert_eq!(column[key], expected[key], "{name}, column {}", expected["name"]);
                }
            }
            assert!(column["values"].is_array() || column["sha256"].is_string());
        }
    }
    assert!(seen >= 96 && trees >= 90, "{seen} files, {trees} trees");
}

/// Compares a tree of layouts with the tree of an expectation.
fn same_tree(ours: &Value, theirs: &Value, in_zones: bool, name: &str) {
    let in_zones = in_zones || theirs["role"] == "zones";
    for key in ["layout", "role", "rows", "segments", "dtype"] {
        // The original derives a type for the table of zones, which the file does not contain.
        if !(in_zones && key == "dtype") {
            assert_eq!(ours[key], theirs[key], "{name}: {key} of {theirs}");
        }
    }
    // The expectation has the metadata that a current version would write. It has more fields for dictionaries.
    if !(theirs["layout"] == "vortex.dict" && name.starts_with("legacy")) {
        assert_eq!(ours["metadata_hex"], theirs["metadata_hex"], "{name}: {theirs}");
    }
    match &theirs["array"] {
        // A large expectation has the short form.
        Value::String(text) => assert_eq!(short(&ours["array"]), *text, "{name}"),
        array => same_array(&ours["array"], array, name),
    }
    let [ours, theirs] = [ours, theirs].map(|tree| tree["children"].as_array().map_or(&[][..], Vec::as_slice));
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (ours, theirs) in ours.iter().zip(theirs) {
        same_tree(ours, theirs, in_zones, name);
    }
}

fn same_array(ours: &Value, theirs: &Value, name: &str) {
    for key in ["encoding", "metadata_hex", "buffer_lengths"] {
        assert_eq!(ours[key], theirs[key], "{name}: {key} of {theirs}");
    }
    let [ours, theirs] = [ours, theirs].map(|array| array["children"].as_array().map_or(&[][..], Vec::as_slice));
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (ours, theirs) in ours.iter().zip(theirs) {
        same_array(ours, theirs, name);
    }
}

/// Returns the short form `id(child,…)`.
fn short(array: &Value) -> String {
    let id = array["encoding"].as_str().unwrap();
    match array["children"].as_array() {
        Some(children) => format!("{id}({})", children.iter().map(short).collect::<Vec<_>>().join(",")),
        None => id.to_owned(),
    }
}

const UNTYPED: &str = "../tests/golden/vortex/lay_no_dtype_a.vortex";

#[test]
fn a_type_is_given_to_a_file_without_one() {
    let dtype = ["--dtype", "{a=i64, b=f64?, s=utf8?}"];
    let with = |verb: &str, more: &[&str]| good(&[&[verb, UNTYPED], &dtype[..], more].concat());
    assert!(with("info", &[]).contains("a  "));
    assert!(with("verify", &[]).contains(": ok, "));
    let typed = good(&["cat", "../tests/golden/vortex/lay_no_file_stats_a.vortex"]);
    assert_eq!(with("cat", &[]), typed);
    assert_eq!(with("head", &["-n", "2"]).lines().count(), 3);
    let jay = target("typed.jay");
    good(&["convert", UNTYPED, &jay, dtype[0], dtype[1]]);
    assert_eq!(good(&["cat", &jay]), typed);

    let e = bad(1, &["cat", UNTYPED]);
    assert!(e.contains("--dtype gives it, as '{a=i64, b=utf8?}'"), "{e}");
    let e = bad(2, &["cat", UNTYPED, "--dtype", "{a=i64, b=f65?}"]);
    assert!(e.contains("name of a vortex type expected at character 11, not 'f'"), "{e}");
    let e = bad(2, &["cat", UNTYPED, "--dtype", "list(vortex.time[µs](i64)"]);
    assert!(e.contains(") in a vortex type expected at the end"), "{e}");
    // The columns are others, and a file that stores its type needs none.
    let e = bad(1, &["verify", UNTYPED, "--dtype", "{a=i64, b=f64?}"]);
    assert!(e.contains("vortex"), "{e}");
    let stored = "../tests/golden/vortex/lay_no_file_stats_a.vortex";
    let e = bad(2, &["cat", stored, "--dtype", "{a=i64}"]);
    assert!(e.contains("--dtype is for files that store no type") && e.contains("{a=i64, b=f64?, s=utf8?}"), "{e}");
    assert_eq!(good(&["cat", stored, dtype[0], dtype[1]]), typed);
}

#[test]
fn single_arrays_are_read() {
    let mut count = 0;
    for golden in common::of("vortex") {
        let path = golden.path.to_str().unwrap();
        if !golden.is("varr") {
            continue;
        }
        let facts = &golden.expected["facts"];
        let rows = golden.expected["nrows"].to_string();
        let ids: Vec<&str> = facts["encoding_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        let ids = ids.join(",");
        let hints = ["--dtype", golden.fact("dtype"), "--array-rows", &rows, "--array-ids", &ids];
        let call = |verb: &str, more: &[&str]| good(&[&[verb, path], &hints[..], more].concat());
        assert!(call("verify", &[]).contains(": ok, "));
        assert!(call("info", &[]).contains(&rows));
        let dump: Value = serde_json::from_str(&call("dump", &["--json"])).unwrap();
        let [ours, theirs] = [&dump, &golden.expected].map(|all| &all["columns"][0]);
        for key in ["type", "nullable", "values", "sha256"] {
            if !ours[key].is_null() && !theirs[key].is_null() {
                assert_eq!(ours[key], theirs[key], "{path}: {key}");
            }
        }
        count += 1;
    }
    assert!(count > 15, "{count}");

    let path = "../tests/golden/vortex/blob_enc_bool_b_sliced.varr";
    let hints = ["--dtype", "bool", "--array-rows", "260"];
    let rows = good(&[&["cat", path], &hints[..]].concat());
    assert_eq!(rows.lines().count(), 261);
    assert_eq!(good(&[&["head", path, "-n", "1"], &hints[..]].concat()).lines().count(), 2);
    let jay = target("single_array.jay");
    good(&[&["convert", path, &jay], &hints[..]].concat());
    assert_eq!(good(&["cat", &jay]).lines().skip(1).collect::<Vec<_>>(), rows.lines().skip(1).collect::<Vec<_>>());

    // Options that lack another, or are for other files.
    assert!(bad(2, &["cat", path, "--array-rows", "260"]).contains("--dtype"));
    assert!(bad(1, &["cat", path, "--dtype", "bool", "--array-ids", "a"]).contains("--array-rows"));
    let e =
        bad(2, &["cat", "../tests/golden/jay/keyed_1.jay", "--format", "jay", "--dtype", "bool", "--array-rows", "1"]);
    assert!(e.contains("--dtype is for Blosc chunks and Vortex files"), "{e}");
    // Its bytes do not tell what it is, but how it could be read.
    let e = bad(1, &["cat", path]);
    assert!(e.contains("--dtype TYPE --array-rows N"), "{e}");
    let e = bad(1, &["verify", path, "--dtype", "bool", "--array-rows", "261000"]);
    assert!(e.contains("vortex buffer"), "{e}");
}

#[test]
fn info_draws_the_layout_and_lists_encodings() {
    let info = good(&["info", "-v", "../tests/golden/vortex/lay_chunked_zones_a.vortex"]);
    for expected in [
        "format    vortex",
        "rows      250",
        "  vortex.struct, 250 rows",
        "a: vortex.zoned, 250 rows",
        "data: vortex.chunked, 250 rows",
        "[2] vortex.flat, 58 rows, ",
        "zones: vortex.flat, 3 rows, ",
        "  a: vortex.primitive, 3 arrays, ",
    ] {
        assert!(info.contains(expected), "{expected:?} is not in\n{info}");
    }
    // `info` shows the tree of a file with an unknown encoding.
    let mut bytes = std::fs::read("../tests/golden/vortex/enc_pco_b.vortex").unwrap();
    let id = bytes.windows(10).position(|id| id == b"vortex.pco").unwrap();
    bytes[id..id + 10].copy_from_slice(b"vortex.new");
    let path = target("encoding_that_is_new.vortex");
    std::fs::write(&path, bytes).unwrap();
    let info = good(&["info", "-v", &path]);
    assert!(info.contains("vortex.new, 1 arrays") && info.contains("not all columns can be read"), "{info}");
}

#[test]
fn rows_are_printed() {
    let path = "../tests/golden/vortex/enc_list_b.vortex";
    let lines = good(&["head", "--json-lines", "--rows", "2", path]);
    assert!(lines.starts_with("{\"list\":[-15106],\"listutf8n\":[\"thirteen byte\"],"), "{lines}");
    let csv = good(&["cat", "../tests/golden/vortex/def_root_i64_a.vortex"]);
    assert_eq!(csv.lines().collect::<Vec<_>>()[1..], ["3", "", "-3", "4611686018427387904"]);
}

/// Only the length of the postscript is lost with the end marker.
#[test]
fn recover_finds_the_end() {
    let golden = |name: &str| format!("{}/../tests/golden/vortex/{name}.vortex", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(golden("enc_fsst_a")).unwrap();
    let (whole, cut) = (target("whole.ds"), target("cut.vortex"));
    let said = good(&["recover", &golden("enc_fsst_a"), &whole]);
    assert!(said.contains("nothing is lost"), "{said}");

    // Without the end marker.
    std::fs::write(&cut, &bytes[..bytes.len() - 5]).unwrap();
    let from_cut = target("cut.ds");
    let said = good(&["recover", &cut, &from_cut]);
    assert!(said.contains("damaged: the end marker, no rows"), "{said}");
    assert_eq!(std::fs::read(&from_cut).unwrap(), std::fs::read(&whole).unwrap());

    // Without the postscript, and into text, which is not written.
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    assert!(bad(1, &["recover", &cut, &target("none.ds")]).contains("is lost"));
    assert!(bad(2, &["recover", &golden("enc_fsst_a"), &target("none.csv")]).contains("does not write text"));
}

/// 6 KB that claim 4 * 10^9 rows: the missing ones are counted by arithmetic.
#[test]
fn info_does_not_walk_claimed_rows() {
    let path = format!("{}/../tests/regressions/rows_claimed.vortex", env!("CARGO_MANIFEST_DIR"));
    // A walk over the rows would take more than a minute for each.
    for verb in ["info", "verify"] {
        assert!(good(&[verb, &path]).contains("4"), "{verb}");
    }
    assert!(good(&["info", "-v", &path]).contains("missing"));
}

/// Returns a Vortex file whose columns have a type of 2^24 nodes, in a few thousand bytes: all 256 fields of a struct are the
/// same struct, three levels deep.
fn shared_types() -> Vec<u8> {
    use pilaster::unstable::meta::flat::write::{Field, Writer};
    use pilaster::unstable::meta::flat::{Flat, Table};

    let golden = std::fs::read("../tests/golden/vortex/def_one_row_a.vortex").unwrap();
    let columns = good(&["head", "../tests/golden/vortex/def_one_row_a.vortex"]);
    let columns = columns.lines().next().unwrap().split(',').count();
    let mut types = Writer::default();
    let number = types.table(&[(0, Field::U8(6))]);
    let mut ty = types.table(&[(0, Field::U8(3)), (1, Field::Place(number))]);
    let mut structure = |fields: usize, ty| {
        let name = types.text("f");
        let names = types.places(&vec![name; fields]);
        let fields = types.places(&vec![ty; fields]);
        let fields = types.table(&[(0, Field::Place(names)), (1, Field::Place(fields))]);
        types.table(&[(0, Field::U8(7)), (1, Field::Place(fields))])
    };
    for _ in 0..3 {
        ty = structure(256, ty);
    }
    let root = structure(columns, ty);
    let types = types.finish(root);

    let end = golden.len() - 8;
    let len = usize::from(u16::from_le_bytes([golden[end + 2], golden[end + 3]]));
    let before: Table<'_> = Flat::new(&golden[end - len..end]).root().unwrap();
    let mut file = golden[..end - len].to_vec();
    file.resize(file.len().next_multiple_of(8), 0);
    let mut postscript = Writer::default();
    let mut segment =
        |offset: u64, len: u32| postscript.table(&[(0, Field::U64(offset)), (1, Field::U32(len)), (2, Field::U8(3))]);
    let mut fields = vec![(0, Field::Place(segment(file.len() as u64, types.len() as u32)))];
    for field in [1, 2, 3] {
        if let Some(kept) = before.table::<Table<'_>>(field).unwrap() {
            let (offset, len) = (kept.scalar(0, 0).unwrap(), kept.scalar(1, 0).unwrap());
            fields.push((field, Field::Place(segment(offset, len))));
        }
    }
    let root = postscript.table(&fields);
    let postscript = postscript.finish(root);
    file.extend_from_slice(&types);
    file.extend_from_slice(&postscript);
    file.extend_from_slice(&golden[end..end + 2]);
    file.extend_from_slice(&(postscript.len() as u16).to_le_bytes());
    file.extend_from_slice(b"VTXF");
    file
}

/// A type is looked at as far as `max_nodes` allows, whatever is asked of the file.
#[test]
fn a_small_file_with_a_huge_type_is_refused() {
    let path = target("shared_types.vortex");
    let file = shared_types();
    assert!(file.len() < 16_000, "{}", file.len());
    std::fs::write(&path, file).unwrap();
    let limit = "max_nodes at offset 0: limit of 131072 reached";
    assert!(good(&["info", &path]).contains(&format!("cannot be read: {limit}")));
    let bcolz = target("shared_types.bcolz");
    for command in [&["head", &path][..], &["convert", "--records", &path, &bcolz]] {
        let line = bad(1, command);
        assert!(line.trim_end().ends_with(limit), "{command:?}: {line}");
    }
    bad(1, &["verify", &path]);
}

/// A file that the original refuses: its column `d` has a scale above its number of digits.
#[test]
fn a_decimal_type_that_does_not_exist_is_named() {
    use pilaster::column::{Borrowed, Type, Values};
    use pilaster::vortex::{File, write::WriteOptions, write::Writer};

    let part = [("d", Borrowed::new(Type::Decimal { precision: 18, scale: 17 }, Values::I64(&[5])))];
    let mut writer = Writer::new(Vec::new(), &part[..], &WriteOptions::DEFAULT).unwrap();
    writer.push(&part[..]).unwrap();
    let bytes = writer.finish().unwrap();
    let changed = (0..bytes.len()).filter(|at| bytes[*at] == 17).find_map(|at| {
        let mut changed = bytes.clone();
        changed[at] = 20;
        let dtype = File::open(&changed).ok()?.dtype().to_string();
        (dtype == "{d=decimal(18,20)}").then_some(changed)
    });
    let (path, to) = (target("scale.vortex"), target("scale_again.vortex"));
    std::fs::write(&path, changed.unwrap()).unwrap();
    good(&["cat", &path]);
    let e = bad(1, &["verify", &path]);
    assert!(e.contains("vortex dtype") && e.contains("invalid value 20"), "{e}");
    let e = bad(1, &["convert", &path, &to]);
    assert!(e.contains("column d: vortex cannot store decimal(18,20)"), "{e}");
}

#[test]
fn verify_refuses_a_type_that_hides_missing_rows() {
    good(&["verify", UNTYPED, "--dtype", "{a=i64, b=f64?, s=utf8?}"]);
    let e = bad(1, &["verify", UNTYPED, "--dtype", "{a=i64, b=f64, s=utf8?}"]);
    assert!(e.contains("vortex"), "{e}");
}
