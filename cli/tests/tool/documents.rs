//! JSON documents of `info`, `verify`, `head` and `cat`, for programs.

use serde_json::{Value, json};

use super::*;

const GOLDEN: &str = "../tests/golden/";

/// Returns the documents on standard output, the lines on standard error, and the status.
fn documents(args: &[&str]) -> (Vec<Value>, Vec<String>, i32) {
    let output = run(args);
    let documents = out(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors = str::from_utf8(&output.stderr).unwrap().lines().map(str::to_owned).collect();
    (documents, errors, output.status.code().unwrap())
}

#[test]
fn verify_as_json() {
    let (whole, bad) =
        (format!("{GOLDEN}dataseries/doublebase.ds"), format!("{GOLDEN}dataseries/damaged/adler_flip.ds"));
    let said = good(&["verify", &whole]);
    let verified = said.trim_end().strip_prefix(&format!("{whole}: ok, ")).unwrap().to_owned();
    let wanted = json!({ "file": whole, "format": "dataseries", "ok": true, "verified": verified });
    assert_eq!(documents(&["verify", "--json", &whole]), (vec![wanted.clone()], vec![], 0));

    let line = super::bad(1, &["verify", &bad]);
    let error = line.strip_prefix(&format!("pilaster: {bad}: ")).unwrap();
    let failed = json!({ "file": bad, "ok": false, "error": error });
    assert_eq!(documents(&["verify", "--json", &bad]), (vec![failed.clone()], vec![line.clone()], 1));

    // The errors are on standard error as without the option, and the number of files, too.
    let numbers = "pilaster: 3 files: 2 ok, 1 bad".to_owned();
    let all = documents(&["verify", "--json", &whole, &bad, &whole]);
    assert_eq!(all, (vec![wanted.clone(), failed, wanted], vec![line, numbers], 1));
    // A dataset is a directory. The text about one of its files keeps the path of the file.
    let dataset = format!("{GOLDEN}bcolz/bound_1");
    let (found, ..) = documents(&["verify", "--json", &dataset]);
    assert_eq!((&found[0]["format"], &found[0]["ok"]), (&"bcolz".into(), &true.into()));
}

#[test]
fn info_as_json_has_a_document_for_each_error() {
    let dir = place("documents");
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    fs::copy(format!("{GOLDEN}dataseries/doublebase.ds"), path("a.ds")).unwrap();
    fs::copy(format!("{GOLDEN}filo/bin_int_readme.filo"), path("b.filo")).unwrap();
    fs::write(path("c.jay"), b"JAY1\0\0\0\0 is no file").unwrap();
    fs::create_dir(dir.join("empty")).unwrap();
    let top = dir.to_str().unwrap();
    for command in ["info", "verify"] {
        let (found, errors, status) = documents(&[command, "--json", top, &path("empty")]);
        assert_eq!((status, found.len(), errors.len()), (1, 4, 4), "{found:?} {errors:?}");
        assert_eq!((&found[0]["file"], &found[0]["format"]), (&path("a.ds").into(), &"dataseries".into()));
        for (k, name) in [(1, "b.filo"), (2, "c.jay"), (3, "empty")] {
            let members = found[k].as_object().unwrap();
            assert_eq!(members.len(), if command == "info" { 2 } else { 3 }, "{members:?}");
            assert_eq!(members["file"], path(name));
            let text = members["error"].as_str().unwrap();
            assert!(!text.contains(&path(name)), "{text}");
            assert!(errors.contains(&format!("pilaster: {}: {text}", path(name))), "{errors:?}");
        }
        assert_eq!(errors[3], "pilaster: 3 files: 1 ok, 1 bad, 1 need --type");
    }
    // The status of a vector without its type is 2, as without the option.
    let (found, errors, status) = documents(&["info", "--json", &path("b.filo")]);
    assert_eq!((found.len(), errors.len(), status), (1, 1, 2), "{errors:?}");
    let (found, _, status) = documents(&["info", "--json", &path("none")]);
    assert_eq!((found[0]["file"].as_str(), status), (Some(&*path("none")), 1));
    let (found, _, status) = documents(&["info", "--json", &path("empty")]);
    assert_eq!((found[0]["file"].as_str(), status), (Some(&*path("empty")), 1));
}

#[test]
fn json_is_short_for_json_lines() {
    let file = format!("{GOLDEN}dataseries/doublebase.ds");
    for command in ["head", "cat"] {
        let lines = good(&[command, "--json", &file]);
        assert_eq!(lines, good(&[command, "--json-lines", &file]));
        assert!(lines.starts_with('{'), "{lines}");
        assert!(good(&[command, "--help"]).contains("[alias: --json]"));
    }
}
