//! The types of planus.

use planus_types::intermediate::Declarations;

use crate::Result;

/// The derives of serde that planus adds. The library does not depend on serde.
const SERDE: &str = "::serde::Serialize, ::serde::Deserialize";

/// Returns the Rust code that planus generates, without serde.
pub fn make(declarations: &Declarations) -> Result<String> {
    let code = planus_codegen::generate_rust(declarations, true).map_err(|e| e.to_string())?;
    let code = code.replace(&format!(", {SERDE}"), "").replace(SERDE, "");
    if code.contains("serde") {
        return Err("planus uses serde in a way that codegen does not know".into());
    }
    Ok(code)
}

/// Returns `code`, formatted, without the items that only read.
///
/// Works on lines, because a parser would drop the comments: the items are indented by four spaces, and the last
/// line of each ends in a brace or a semicolon.
pub fn without_readers(code: &str) -> String {
    let (mut kept, mut item) = (String::new(), String::new());
    for line in code.split_inclusive('\n') {
        item += line;
        let outer = line.strip_prefix("    ").unwrap_or(line);
        if outer.trim().is_empty() || outer.starts_with([' ', '#', '/']) || !outer.trim_end().ends_with(['}', ';']) {
            continue;
        }
        if !reads(&item) {
            kept += &item;
        }
        item.clear();
    }
    kept + &item
}

/// Returns whether the head of an item, before its body, names a type or trait with which planus reads.
fn reads(item: &str) -> bool {
    let code = item.lines().filter(|line| !line.trim_start().starts_with("///"));
    let head = code.take_while(|line| !line.starts_with("     ")).collect::<String>();
    ["Ref<", "TableRead", "VectorRead", "ReadAsRoot"].iter().any(|name| head.contains(name))
}
