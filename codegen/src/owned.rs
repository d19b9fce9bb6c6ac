//! planus's own types.

use planus_types::intermediate::Declarations;

use crate::Result;

/// What planus adds to its derives. The library has no serde.
const SERDE: &str = "::serde::Serialize, ::serde::Deserialize";

/// The Rust code that planus makes, without serde.
pub fn make(declarations: &Declarations) -> Result<String> {
    let code = planus_codegen::generate_rust(declarations, true).map_err(|e| e.to_string())?;
    let code = code.replace(&format!(", {SERDE}"), "").replace(SERDE, "");
    if code.contains("serde") {
        return Err("planus uses serde in a way that codegen does not know".into());
    }
    Ok(code)
}
