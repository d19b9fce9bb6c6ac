//! `recover` of Vortex files: what is saved, and what is said about the rest.

use super::*;

fn golden(name: &str) -> String {
    format!("{}/../tests/golden/vortex/{name}.vortex", env!("CARGO_MANIFEST_DIR"))
}

/// Recovers a file. Returns the lines; the last one begins with the target's name, which is left out.
fn recovered(path: &str, to: &str) -> Vec<String> {
    let said = good(&["recover", "--force", path, to]);
    said.lines().map(|line| line.strip_prefix(&format!("{to}: ")).unwrap_or(line).to_owned()).collect()
}

/// Writes a changed golden.
fn changed(name: &str, to: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = fs::read(golden(name)).unwrap();
    change(&mut bytes);
    let path = target(to);
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn damage_costs_the_rows_that_it_hits() {
    const OUTCOMES: [(usize, &str); 22] = [
        (8, "lost: 18 row ranges"),
        (355, "lost: 17 row ranges"),
        (702, "lost: 1 column"),
        (1049, "lost: 1 row range"),
        (1396, "lost: 1 row range"),
        (1743, "lost: 1 row range"),
        (2090, "lost: 1 row range"),
        (2437, "lost: 1 row range"),
        (2784, "lost: 1 row range"),
        (3131, "nothing is lost"),
        (3478, "nothing is lost"),
        (3825, "lost: 1 column"),
        (4172, "lost: 25 row ranges"),
        (4519, "lost: 15 row ranges"),
        (4866, "lost: 2 row ranges"),
        (5213, "lost: 1 row range"),
        (5560, "lost: 2 row ranges"),
        // One of the lost rows was missing. The counts in the statistics are of all rows, and are not compared.
        (5892, "lost: 1 row range"),
        (5907, "lost: 1 row range"),
        (6254, "lost: 1 row range"),
        (6601, "nothing is lost"),
        (6948, "nothing is lost"),
    ];
    let to = target("damage.ds");
    for (at, outcome) in OUTCOMES {
        let path = changed("enc_fsst_a", "damage.vortex", |bytes| bytes[at..at + 8].fill(0xff));
        let lines = recovered(&path, &to);
        let columns = if outcome == "lost: 1 column" { 2 } else { 3 };
        let last = lines.last().unwrap();
        assert!(last.starts_with(&format!("184 rows in {columns} columns, ")), "{at}: {last}");
        assert!(last.ends_with(&format!("bytes of dataseries; {outcome}")), "{at}: {last}");
        // A line for each range or column.
        let count = outcome.split(' ').nth(1).and_then(|count| count.parse().ok()).unwrap_or(0);
        assert_eq!(lines.len(), 1 + count, "{at}: {lines:?}");
        assert!(lines[..count].iter().all(|line| line.starts_with("lost: ")), "{at}: {lines:?}");
        assert!(good(&["verify", &to]).contains("184 rows"), "{at}");
    }
}

#[test]
fn a_value_that_the_target_cannot_store_costs_its_column() {
    let source = golden("def_prims_nonnull_a");
    let (jay, ds) = (target("values.jay"), target("values.ds"));
    let why = "the value of row";
    assert_eq!(
        recovered(&source, &jay)[..2],
        [
            format!(
                "left out: column u64 (uint64), value 18446744073709551615: jay column type: {why} 1 cannot be stored"
            ),
            format!(
                "left out: column i64 (int64), value -9223372036854775808: jay column, in which the minimum of the type means missing: {why} 0 \
                 cannot be stored"
            ),
        ]
    );
    assert_eq!(
        recovered(&source, &ds)[..2],
        [
            format!("left out: column u64 (uint64), value 18446744073709551615: column: {why} 1 cannot be stored"),
            "left out: column f16: dataseries cannot store float16".to_owned(),
        ]
    );
    for to in [&jay, &ds] {
        assert!(recovered(&source, to)[2].ends_with("; left out: 2 columns"), "{to}");
        let names = good(&["cat", to, "-n", "0"]);
        let all = good(&["cat", &source, "-n", "0"]);
        let out = if to.ends_with(".ds") { ["u64", "f16"] } else { ["u64", "i64"] };
        let left: Vec<&str> = all.trim().split(',').filter(|name| !out.contains(name)).collect();
        assert_eq!((names.trim(), left.len()), (left.join(",").as_str(), 9));
    }
    // The minimum of int8 is stored in a wider type.
    assert!(good(&["info", &jay, "--json"]).contains(r#"{"name":"i8","nullable":false,"type":"int16"}"#));
    let columns = ["--columns", "i8"];
    assert_eq!(good(&[&["cat", &jay], &columns[..]].concat()), good(&[&["cat", &source], &columns[..]].concat()));
}

#[test]
fn types_of_elements_and_time_zones_are_named() {
    let to = target("elements.jay");
    assert_eq!(
        recovered(&golden("def_nested_a"), &to)[..2],
        ["left out: column st: jay cannot store struct(3)", "left out: column lst: jay cannot store struct(3)"]
    );
    let lines = recovered(&golden("def_temporal_a"), &to);
    assert!(lines.contains(&"left out: the time zone Europe/Paris of ntz_s: jay cannot store it".to_owned()));
    assert!(lines.last().unwrap().ends_with("; left out: 4 columns, left out: 4 time zones"), "{lines:?}");
    let lines = recovered(&golden("lay_user_metadata_a"), &to);
    assert!(lines[0].ends_with("; left out: 2 entries of user data"), "{lines:?}");
    assert!(recovered(&golden("enc_list_b"), &to)[0].ends_with("; nothing is lost"));
    // Nothing that could be written.
    let output = run(&["recover", &golden("enc_decimal_a"), &target("none.jay")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).starts_with("left out: column "), "{output:?}");
    assert!(str::from_utf8(&output.stderr).unwrap().ends_with(": no column can be saved\n"));
}

/// A text in a list is damaged: the list is missing, in a column that had no missing rows before.
#[test]
fn damage_in_elements_costs_their_list() {
    let path = changed("enc_list_b", "lists.vortex", |bytes| {
        assert_eq!(&bytes[672..685], b"thirteen byte");
        bytes[672] = 0xff;
    });
    let to = target("lists.jay");
    assert_eq!(
        recovered(&path, &to),
        [
            "lost: rows 0..1 of listutf8n: text at offset 0: not UTF-8".to_owned(),
            format!("44 rows in 7 columns, {} bytes of jay; lost: 1 row range", fs::metadata(&to).unwrap().len())
        ]
    );
    let rows = |path: &str| good(&["cat", "--json-lines", "--columns", "listutf8n", path]);
    let (before, after) = (rows(&golden("enc_list_b")), rows(&to));
    assert_eq!(before.split_once('\n').unwrap().0, r#"{"listutf8n":["thirteen byte"]}"#);
    assert_eq!(after, before.replacen(r#"["thirteen byte"]"#, "null", 1));
}

#[test]
fn limits_are_kept_or_refused() {
    let (to, source) = (target("limits.ds"), golden("enc_fsst_a"));
    let run = |options: &[&str], path: &str| bad(1, &[&["recover", path, &to], options].concat());
    assert!(run(&["--max-rows", "183"], &source).ends_with("limit of 183 reached (--max-rows raises it)"));
    good(&["recover", "--force", "--max-rows", "184", &source, &to]);
    fs::remove_file(&to).unwrap();
    assert!(run(&["--max-decoded", "1000"], &source).ends_with("limit of 1000 reached (--max-decoded raises it)"));
    let damaged = changed("enc_fsst_a", "limits.vortex", |bytes| bytes[4866..4874].fill(0xff));
    assert!(run(&["--max-problems", "1"], &damaged).ends_with("limit of 1 reached (--max-problems raises it)"));
    good(&["recover", "--max-problems", "2", &damaged, &to]);
    // 6 KB that claim 4 * 10^9 rows.
    let claims = format!("{}/../tests/regressions/rows_claimed.vortex", env!("CARGO_MANIFEST_DIR"));
    let said = bad(1, &["recover", &claims, &target("claims.jay")]);
    assert!(said.ends_with("(--max-decoded raises it)"), "{said}");
    // Formats that are limited by their size.
    let jay = format!("{}/../tests/golden/jay/keyed_1.jay", env!("CARGO_MANIFEST_DIR"));
    for option in ["--max-rows", "--max-decoded", "--max-problems"] {
        let said = bad(2, &["recover", option, "1", &jay, &target("limits.jay")]);
        assert!(said.contains("and recover from Jay files; ") && said.ends_with(" is jay"), "{said}");
    }
}

/// Without the magic number at either end, only the option says what the file is, and the error says so.
#[test]
fn a_file_without_magic_numbers_needs_its_format() {
    let path = changed("enc_fsst_a", "no_magic", |bytes| {
        let len = bytes.len();
        bytes[..4].fill(0);
        bytes[len - 8..].fill(0);
    });
    let to = target("no_magic.ds");
    assert!(bad(1, &["recover", &path, &to]).contains("--format vortex"));
    good(&["recover", &golden("enc_fsst_a"), &to]);
    let whole = fs::read(&to).unwrap();
    let lines = good(&["recover", "--force", "--format", "vortex", &path, &to]);
    assert!(
        lines.starts_with("damaged: the end marker, no rows: ") && lines.ends_with("; nothing is lost\n"),
        "{lines}"
    );
    assert_eq!(fs::read(&to).unwrap(), whole);
}

/// Values that can be read are saved although the statistics contradict them: nothing tells which of the two is damaged.
#[test]
fn statistics_that_contradict_the_values_are_named() {
    const OR: &str = ", or its values, which are saved: ";
    let to = target("claims.jay");
    for (name, at, column, why) in [
        ("enc_alp_a", 2180, "f64", format!("{OR}1 of rows 271..272 are below the minimum or above the maximum")),
        (
            "def_prims_nullable_a",
            33940,
            "f32",
            format!("{OR}115 of rows 7..600 are below the minimum or above the maximum"),
        ),
        ("def_prims_nullable_a", 610, "u8", format!("{OR}128 missing rows are stated, 132 are found")),
        ("def_one_row_a", 4063, "b", ": flatbuffer field at offset 4062: invalid value 23052 (0x5a0c)".to_owned()),
    ] {
        let damaged = changed(name, "claims.vortex", |bytes| bytes[at] ^= 0x5a);
        let refused = bad(1, &["verify", &damaged]);
        let whole = recovered(&golden(name), &to);
        assert!(refused.contains(if why.starts_with(OR) { "vortex statistics" } else { &why }), "{name}: {refused}");
        let mut lines = recovered(&damaged, &to);
        let line = format!("damaged: the statistics of {column}{why}");
        lines.remove(lines.iter().position(|said| *said == line).unwrap_or_else(|| panic!("{lines:?}")));
        // The other lines do not differ from the report on the intact file, apart from the length of the target.
        assert_eq!(lines[..lines.len() - 1], whole[..whole.len() - 1], "{name}");
        let (last, before) = (lines.last().unwrap(), whole.last().unwrap());
        let left_out = before.split("; ").nth(1).filter(|left| *left != "nothing is lost");
        let counts = ["damaged: 1 column or its statistics"].into_iter().chain(left_out);
        assert_eq!(last.split("; ").nth(1), Some(&*counts.collect::<Vec<_>>().join(", ")));
        let columns = ["--columns", column];
        let rows = |path: &str| good(&[&["cat", path], &columns[..]].concat());
        // In Jay, NaN is a missing value.
        assert_eq!(rows(&to), rows(&damaged).replace("NaN\n", "\n"), "{name}");
    }
}

/// Every format that `convert` writes rows to is a target, Vortex itself too: the rows that are left are equal.
#[test]
fn every_format_is_a_target() {
    // Rows of columns of text and bytes are damaged.
    let damaged = changed("enc_fsst_a", "targets.vortex", |bytes| bytes[4866..4874].fill(0xff));
    let jay = target("targets.jay");
    recovered(&damaged, &jay);
    let (lost, rows) = ("lost: rows ", |path: &str| good(&["cat", "--json-lines", path]));
    for (extension, format) in [("vortex", "vortex"), ("ds", "dataseries"), ("jay", "jay")] {
        let to = target(&format!("to_targets.{extension}"));
        let lines = recovered(&damaged, &to);
        assert_eq!(lines.iter().filter(|line| line.starts_with(lost)).count(), 2, "{lines:?}");
        let last = lines.last().unwrap();
        assert!(last.contains(&format!("bytes of {format}; lost: 2 row ranges")), "{lines:?}");
        good(&["verify", &to]);
        let columns = ["--columns", "s,sn"];
        assert_eq!(
            good(&[&["cat", "--json-lines", &to], &columns[..]].concat()),
            good(&[&["cat", "--json-lines", &jay], &columns[..]].concat()),
            "{extension}"
        );
    }
    // bcolz has no missing values.
    let to = target("to_targets.bcolz");
    let lines = good(&["recover", &damaged, &to]);
    assert!(lines.contains("filled: missing values of sn are NaN, 0, false or an empty text\n"), "{lines}");
    assert!(good(&["verify", &to]).contains("184 rows"));
    // A Filo vector is one column.
    let one = target("one.jay");
    good(&["convert", "--columns", "i64", &golden("enc_sequence_a"), &one]);
    let (vortex, filo) = (target("one.vortex"), target("one.filo"));
    good(&["convert", &one, &vortex]);
    good(&["recover", &vortex, &filo]);
    assert_eq!(rows(&vortex).lines().count(), good(&["cat", "--type", "LONG", &filo]).lines().count() - 1);
    assert!(bad(2, &["recover", &damaged, &target("x.csv")]).contains("recover does not write text"));
}

/// Structs and their fields, time zones, and lists of structs remain what they are in a Vortex file.
#[test]
fn a_sound_file_is_equal_after_recovery_to_vortex() {
    let to = target("sound.vortex");
    for name in ["def_nested_a", "def_temporal_a", "def_prims_nullable_a", "enc_decimal_a", "enc_list_b"] {
        let lines = recovered(&golden(name), &to);
        assert!(lines.len() == 1 && lines[0].ends_with("; nothing is lost"), "{name}: {lines:?}");
        assert_eq!(good(&["cat", "--json-lines", &to]), good(&["cat", "--json-lines", &golden(name)]), "{name}");
        assert!(good(&["verify", &to]).contains(" ok, "));
    }
}

/// A damaged field of a struct costs the rows that it hits, not the whole column.
#[test]
fn damage_in_a_struct_costs_its_rows() {
    let to = target("structs.vortex");
    let mut hit = 0;
    for at in (8..12_000).step_by(500) {
        let path = changed("def_nested_a", "structs_damaged.vortex", |bytes| bytes[at..at + 8].fill(0xff));
        let lines = recovered(&path, &to);
        hit += usize::from(lines.iter().any(|line| line.starts_with("lost: rows ")));
        assert!(lines.last().unwrap().starts_with("260 rows in "), "{at}: {lines:?}");
        assert!(good(&["verify", &to]).contains("260 rows"), "{at}");
    }
    assert!(hit > 3, "{hit}");
}
