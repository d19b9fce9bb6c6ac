//! What the file of a table says about it, as metadata of the Arrow schema.

use std::collections::HashMap;

use pilaster::any::File;
use pilaster::error::What;

use crate::columns::Columns;
use crate::digits;
use crate::failure::Failure;
use crate::feed::Windows;
use crate::special::special;

/// Returns the facts, each under a key that begins with `pilaster.`.
pub fn metadata(windows: &Windows<'_>, columns: &Columns) -> Result<HashMap<String, String>, Failure> {
    let mut facts = HashMap::new();
    let mut put = |key: &str, value: String| drop(facts.insert(format!("pilaster.{key}"), value));
    put("format", windows.input.format.to_string());
    let keys = special(windows.file).keys();
    // The leading columns are the key, if all of them are chosen.
    if keys > 0 && columns.numbers.get(..keys).is_some_and(|first| first.iter().copied().eq(0..keys)) {
        put("keys", keys.to_string());
    }
    match windows.file {
        File::DataSeries(file) => {
            let types = file.types();
            let named = windows.table.and_then(|name| types.find(name.as_bytes()));
            if let Some(ty) = named.or_else(|| types.get(0)) {
                let (major, minor) = ty.version();
                put("dataseries.type", ty.name().to_owned());
                put("dataseries.namespace", ty.namespace().to_owned());
                put("dataseries.version", format!("{major}.{minor}"));
                // With the attributes of its fields.
                put("dataseries.xml", String::from_utf8_lossy(ty.xml()).into_owned());
            }
        }
        File::Dataset(dataset) if !dataset.attrs().trim_ascii().is_empty() => {
            put("bcolz.attrs", String::from_utf8_lossy(dataset.attrs()).trim().to_owned());
        }
        File::Vortex(file) => {
            for i in 0..file.metadata_len() {
                let (key, span) = file.metadata(i)?;
                let bytes = file.input().get(span, What::VORTEX_POSTSCRIPT)?;
                let text = str::from_utf8(bytes).map(str::to_owned);
                put(&format!("vortex.metadata.{key}"), text.unwrap_or_else(|_| format!("hex:{}", digits::hex(bytes))));
            }
        }
        _ => {}
    }
    Ok(facts)
}
