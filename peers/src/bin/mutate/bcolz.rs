//! Blosc chunks, metadata of bcolz and whole datasets.

use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use pilaster::bcolz::chunk::Chunk;
use pilaster::bcolz::meta::{Sizes, Storage};
use pilaster::bcolz::{Dataset, Dtype, Items, open_file};
use pilaster::bytes::Scratch;
use pilaster::error::{Kind, What};
use pilaster_peers::random::Random;

use crate::differs;
use crate::findings::OPENED;
use crate::walk::{affordable, both, is_limit, table, verdict};

/// Decodes a chunk twice, in ranges, and as items of several types.
pub fn chunk(d: &[u8], hint: usize) {
    let c = if d.starts_with(b"blpk") { open_file(d) } else { Chunk::open(d) };
    let Ok(c) = c else { return };
    OPENED.fetch_add(1, Relaxed);
    if affordable((c.nbytes() + c.range_scratch_len()) as u64).is_none() {
        return;
    }
    let (mut out, mut again) = (vec![0x11u8; c.nbytes()], vec![0x22u8; c.nbytes()]);
    let mut memory = vec![0u8; c.scratch_len()];
    let first = c.decode(&mut out, &mut Scratch::new(&mut memory));
    if let Err(e) = &first
        && e.kind() == Kind::NoRoom
    {
        differs!("NEED blosc {e:?}");
    }
    let second = c.decode(&mut again, &mut Scratch::new(&mut memory));
    assert!(first.is_ok() == second.is_ok(), "DIFF blosc decoded twice");
    assert!(first.is_err() || out == again, "DIFF blosc decode depends on the old contents of dst");
    ranges(&c, first.is_ok().then_some(&*out), hint);
    for dtype in ["<i4", ">f8", "|S5", "<U2", "datetime64[ns]", "bool"] {
        let Ok(mut items) = Items::new(c, Dtype::parse(dtype).expect("dtype")) else { continue };
        let need = items.need() as usize;
        let read = table(&mut items, need, 1 << 16);
        if let Err(e) = &read
            && e.kind() == Kind::NoRoom
        {
            differs!("NEED items {e:?}");
        }
        if read.is_ok() != first.is_ok() {
            differs!("DIFF items {:?} decode {first:?}", read.err());
        }
    }
}

/// Compares four random ranges with `all`, the decoded chunk.
fn ranges(c: &Chunk<'_>, all: Option<&[u8]>, hint: usize) {
    let n = c.nbytes();
    let mut memory = vec![0u8; c.range_scratch_len()];
    let mut r = Random(hint as u64);
    for _ in 0..if n > 0 { 4 } else { 0 } {
        let a = r.below(n);
        let b = a + r.below((n - a).min(5000));
        let mut out = vec![0x33u8; b - a];
        match (c.decode_range(a..b, &mut out, &mut Scratch::new(&mut memory)), all) {
            (Ok(_), Some(all)) => assert!(out == all[a..b], "DIFF blosc range {a}..{b}"),
            (Err(e), _) if e.kind() == Kind::NoRoom => differs!("NEED blosc range {e:?}"),
            (Err(e), Some(_)) => differs!("DIFF blosc range {a}..{b} {e:?}, the whole chunk is ok"),
            _ => {}
        }
    }
}

/// Parses a metadata file as each kind that there is.
pub fn metadata(d: &[u8]) {
    let sizes = Sizes::parse(d).map(|s| (s.shape.items(), s.shape.inner().len())).is_ok();
    let storage = Storage::parse(d, &mut Scratch::new(&mut vec![0u8; d.len() + 64])).is_ok();
    let dtype = std::str::from_utf8(d).ok().and_then(|s| Dtype::parse(s).ok());
    let _ = dtype.as_ref().map(|t| (t.size(), t.typesize(), t.ty()));
    OPENED.fetch_add(u64::from(sizes || storage || dtype.is_some()), Relaxed);
}

/// Reads the dataset in the folder, strictly and tolerantly.
pub fn dataset(folder: &Path) {
    for tolerant in [false, true] {
        let opened = if tolerant { Dataset::open_tolerant(folder, |_| {}) } else { Dataset::open(folder) };
        let Ok(ds) = opened else { continue };
        OPENED.fetch_add(1, Relaxed);
        let verified = ds.verify().is_ok();
        for a in ds.arrays() {
            let _ = (a.chunks(), a.dtype().ty(), a.surplus(), ds.attrs().len(), ds.is_table());
        }
        let need = match ds.need() {
            Ok(need) => need,
            Err(e) => {
                if verified && !tolerant {
                    differs!("VERIFYOK bcolz verify ok, need {e}");
                }
                continue;
            }
        };
        let Some(bytes) = affordable(need) else { continue };
        let columns = both(&mut ds.table(), bytes, 11, true, "bcolz");
        if let Err(e) = &columns {
            if e.kind() == Kind::NoRoom && e.what() == What::SCRATCH {
                differs!("NEED bcolz {e:?} of {bytes}");
            } else if tolerant && !is_limit(e) {
                differs!("TOLERANT bcolz fails: {e:?}");
            }
        }
        if !tolerant {
            verdict(verified, &columns, "bcolz");
        }
    }
}
