//! The ids of encodings of a Vortex file whose end is lost, to which its arrays refer by number.

use pilaster::vortex::Array;

use crate::vortex_blobs::Blob;
use crate::vortex_counts::has_shape;

/// The ids of which releases 0.70 to 0.80 list fewer than release 0.90: those that are not in all of them.
const LATER: [&str; 3] = ["vortex.map", "vortex.onpair", "vortex.parquet.variant"];

/// The lists that the default writer of the original puts into every file, with the releases that do.
fn known() -> [(&'static str, Vec<&'static str>); 3] {
    let newest = Array::IDS.to_vec();
    let mut middle: Vec<&str> = newest.iter().copied().filter(|id| !LATER.contains(id)).collect();
    middle.push("fastlanes.delta");
    middle.sort_unstable();
    let oldest = middle.iter().copied().filter(|id| *id != "vortex.variant").collect();
    [("0.90 to 0.93", newest), ("0.80", middle), ("0.70", oldest)]
}

/// Returns the list that fits all `blobs`, and the releases that write it. The error tells why there is none.
pub fn fitting(blobs: &[Blob]) -> Result<(&'static str, Vec<&'static str>), String> {
    let fits = |ids: &[&str]| {
        blobs.iter().all(|blob| {
            let mut fits = true;
            blob.tree.walk(&mut |node| {
                fits &= ids.get(usize::from(node.encoding)).is_some_and(|id| has_shape(node, id));
            });
            fits
        })
    };
    let mut fitting: Vec<_> = known().into_iter().filter(|(_, ids)| fits(ids)).collect();
    if fitting.is_empty() {
        return Err(
            "the numbers of encodings are of no list that releases 0.70 to 0.93 of the original write".to_owned()
        );
    }
    let (releases, ids) = fitting.swap_remove(0);
    let differs = |other: &[&str]| {
        blobs.iter().any(|blob| {
            let mut differs = false;
            blob.tree.walk(&mut |node| {
                let place = usize::from(node.encoding);
                differs |= ids.get(place) != other.get(place);
            });
            differs
        })
    };
    match fitting.iter().find(|(_, other)| differs(other)) {
        Some((other, _)) => {
            Err(format!("the numbers of encodings fit releases {releases} and {other} of the original"))
        }
        None => Ok((releases, ids)),
    }
}
