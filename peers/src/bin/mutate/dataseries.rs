//! DataSeries files.

use std::sync::atomic::Ordering::Relaxed;

use pilaster::bytes::{BigEndian, Endian, Input, LittleEndian, Scratch};
use pilaster::column::{Column as _, Part as _, Table as _};
use pilaster::dataseries::write::{Cell, Repack, Smallest, rewrite};
use pilaster::dataseries::{AnyFile, File, Order, ReadOptions, recover::Salvage};
use pilaster::error::{Error, Kind};
use pilaster::unstable::hash;

use crate::differs;
use crate::findings::{OPENED, TOO_LARGE};
use crate::walk::{Columns, Hash, ROWS, affordable, both, by_rows, grow, verdict};

/// Reads `d` in the byte order of its header, or of `hint` if the header has none.
pub fn run(d: &[u8], hint: usize) {
    let (big, known) = match Order::of(d) {
        Ok(order) => (order == Order::Big, true),
        Err(_) => (hint % 2 == 1, false),
    };
    for verify in [true, false] {
        if verify || known {
            let options = ReadOptions { verify, ..ReadOptions::DEFAULT };
            for sequential in [false, true] {
                if big {
                    file::<BigEndian>(d, &options, sequential)
                } else {
                    file::<LittleEndian>(d, &options, sequential)
                }
            }
        }
    }
}

fn open<'a, E: Endian>(d: &'a [u8], o: &ReadOptions, sequential: bool, m: &'a mut [u8]) -> Result<File<'a, E>, Error> {
    let mut s = Scratch::new(m);
    if sequential { File::open_sequential(d, o, &mut s) } else { File::open(d, o, &mut s) }
}

fn file<E: Endian>(d: &[u8], options: &ReadOptions, sequential: bool) {
    let mut memory = vec![0u8; 1 << 16];
    if grow(&mut memory, |m| open::<E>(d, options, sequential, m).map(|_| ())).is_err() {
        return;
    }
    let f = open::<E>(d, options, sequential, &mut memory).expect("opened before");
    OPENED.fetch_add(1, Relaxed);
    let Some(need) = affordable(f.need().unwrap_or(1 << 20)) else { return };
    // With twice the memory, extents are unpacked in pairs.
    let mut room = vec![0u8; need * 2 + 64];
    let single = f.verify(&mut Scratch::new(&mut room[..need + 32])).map(|_| ()).map_err(|e| format!("{e:?}"));
    let pairs = f.verify(&mut Scratch::new(&mut room)).map(|_| ()).map_err(|e| format!("{e:?}"));
    if single != pairs {
        differs!("DIFF ds verify one by one {single:?} by pairs {pairs:?}");
    }
    for ty in f.types().iter().take(50) {
        let Ok(mut t) = f.table(ty.name()) else { panic!("DIFF no table of own type {}", ty.name()) };
        let columns = both(&mut t, need, 5, true, "ds");
        verdict(single.is_ok(), &columns, "ds");
        if let Ok(columns) = columns {
            let _ = t.restart();
            single_rows(&mut t, &columns, &mut room[..need + 64]);
        }
    }
    salvage(&f, d, options);
}

/// Compares `get` with the batches of up to 300 parts.
fn single_rows<E: Endian>(t: &mut pilaster::dataseries::Table<'_, E>, columns: &Columns, memory: &mut [u8]) {
    for p in 0..300 {
        let mut s = Scratch::new(memory);
        let Ok(Some(part)) = t.next_part(&mut s) else { break };
        for k in 0..part.width().min(200) {
            let (Ok(c), Some(outcome)) = (part.column(k), columns.get(&(p, k))) else { continue };
            if part.rows() <= ROWS {
                let mut h = Hash::default();
                let got = (0..c.rows()).try_for_each(|row| {
                    match c.get(row)? {
                        None => h.null(),
                        Some(Cell::Bool(x)) => h.bool(x),
                        Some(Cell::Byte(x)) => h.int(x),
                        Some(Cell::Int32(x)) => h.int(x),
                        Some(Cell::Int64(x)) => h.int(x),
                        Some(Cell::Double(x)) => h.double(x),
                        Some(Cell::Bytes(x)) => h.bytes(x),
                    }
                    Ok(())
                });
                by_rows(outcome, &got.map(|()| h.0), "ds");
            }
        }
    }
}

/// Recovers with the types of the file.
fn salvage<E: Endian>(f: &File<'_, E>, d: &[u8], options: &ReadOptions) {
    let types: Vec<_> = f.types().iter().collect();
    let mut salvage = Salvage::<E>::new(Input::whole(d), &types);
    let (mut memory, mut grown, mut found) = (vec![0u8; 1 << 16], 0, 0);
    loop {
        match salvage.next(options, &mut Scratch::new(&mut memory)) {
            None => break,
            Some(Ok(_)) => {
                found += 1;
                assert!(found <= d.len() + 10, "RECOVER endless");
            }
            Some(Err(e)) if e.kind() == Kind::NoRoom => {
                grown += 1;
                let want = memory.len() + (e.need() as usize) * 2 + 64;
                if want > (48 << 20) || grown > 40 {
                    TOO_LARGE.fetch_add(1, Relaxed);
                    break;
                }
                memory = vec![0; want];
            }
            Some(Err(e)) => panic!("RECOVER error {e:?}"),
        }
    }
}

/// Corrects the checksum of every extent and the hash of the trailer, so that mutations reach the reader.
pub fn correct_checksums(d: &mut [u8]) {
    let (n, big) = (d.len(), d.len() > 5 && d[4] == 0x12);
    let get = |b: &[u8], at: usize| {
        let word = b[at..at + 4].try_into().expect("four bytes");
        if big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
    };
    let stored = |v: u32| if big { v.to_be_bytes() } else { v.to_le_bytes() };
    let mut at = 40;
    while at + 28 <= n {
        let (fixed, pool, name) = (get(d, at) as usize, get(d, at + 4) as usize, usize::from(d[at + 26]));
        if fixed > n || pool > n {
            break;
        }
        let end = at + [28 + name, fixed, pool].iter().map(|x| x.next_multiple_of(4)).sum::<usize>();
        if end > n {
            break;
        }
        let mut adler = hash::Adler32::new();
        adler.update(&d[at..at + 16]);
        adler.update(&d[at + 20..end]);
        d[at + 16..at + 20].copy_from_slice(&stored(adler.value()));
        at = end;
    }
    if n >= 28 {
        let value = hash::lookup2(1776, &d[n - 28..n - 4]);
        d[n - 4..].copy_from_slice(&stored(value));
    }
}

/// Returns the file without compression, so that mutations reach the records.
pub fn stored(d: &[u8]) -> Option<Vec<u8>> {
    let mut memory = vec![0u8; 8 << 20];
    let f = AnyFile::open(d, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory)).ok()?;
    let mut out: Vec<u8> = Vec::new();
    rewrite(&f, f.order(), Repack::KEEP, &mut out, Smallest::of(&[], 9).ok()?, |_| {}).ok()?;
    Some(out)
}
