//! What the description of a DataSeries type says beyond its layout: the firmware that wrote the file, the units and comments of fields. Readers
//! ignore such attributes.

use pilaster::dataseries::ExtentType;
use pilaster::unstable::meta::xml::{Event, Tag, Text, Xml};

/// Names and texts, in the order of the description.
type Texts = Vec<(String, String)>;

/// The attributes of a type and of its fields, without those that say how rows are stored.
pub struct About {
    pub ty: Texts,
    pub fields: Vec<Texts>,
}

/// What the format itself uses, besides names that begin with `pack_` or `opt_`.
const OWN: [&str; 5] = ["name", "namespace", "version", "type", "size"];

impl About {
    /// Reads the description of a type.
    pub fn of(ty: &ExtentType<'_>) -> pilaster::Result<Self> {
        let mut about = About { ty: Texts::new(), fields: Vec::new() };
        let mut xml = Xml::new(ty.xml());
        while let Some(event) = xml.next()? {
            match (event, xml.depth()) {
                (Event::Open(tag), 1) => about.ty = texts(&tag),
                (Event::Open(tag), 2) => about.fields.push(texts(&tag)),
                _ => {}
            }
        }
        Ok(about)
    }
}

fn texts(tag: &Tag<'_>) -> Texts {
    let text = |text: &Text<'_>| text.chars().collect::<String>();
    let all = tag.attributes().map(|attribute| (text(&attribute.name), text(&attribute.value)));
    let is_own = |name: &str| OWN.contains(&name) || ["pack_", "opt_"].iter().any(|start| name.starts_with(start));
    all.filter(|(name, _)| !is_own(name)).collect()
}
