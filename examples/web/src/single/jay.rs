//! The storage of a Jay file.

use pilaster::Result;
use pilaster::jay::{File, Stats};

use crate::json::Json;

pub fn info(file: &File<'_>, json: &mut Json) -> Result<()> {
    let (tail, meta) = (file.tail(), file.meta());
    let data = tail.data();
    json.count("keys", meta.keys() as u64);
    json.key("metadata").open(b'{').count("offset", tail.meta.at).count("size", tail.meta.len).close(b'}');
    json.key("data").open(b'{').count("offset", data.at).count("size", data.len).close(b'}');
    json.key("columns").open(b'[');
    for k in 0..meta.width() {
        let field = meta.field(k)?;
        json.open(b'{').name("name", meta.name(k)?).count("nulls", field.null_count());
        json.key("buffers").open(b'[');
        for span in field.buffers() {
            json.open(b'{').count("offset", span.at).count("size", span.len).close(b'}');
        }
        json.close(b']');
        if let Some(Stats::Int { min, max }) = field.stats()? {
            json.key("min").signed(min).key("max").signed(max);
        }
        json.close(b'}');
    }
    json.close(b']');
    Ok(())
}
