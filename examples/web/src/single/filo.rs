//! The storage of a Filo vector.

use pilaster::filo::Vector;

use crate::json::Json;
use crate::session::Source;

pub fn info(vector: &Vector<'_>, source: &Source, json: &mut Json) {
    if let Some(element) = source.element {
        json.name("element", element.name());
    }
    json.name("header", vector.header().name());
    if let Some(packing) = vector.encoding().packing() {
        json.count("bits", packing.bits().into());
    }
}
