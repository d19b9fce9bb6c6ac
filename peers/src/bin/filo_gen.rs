//! filo_gen FILE SEED [LONGEST]: writes vectors by every encoding and writer of pilaster, with their rows, for the original
//! (`Check`). LONGEST: the maximum number of rows, 10000 by default.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};

use pilaster::bytes::Scratch;
use pilaster::error::{Error, Kind};
use pilaster::filo::write::append::{
    Append, Booleans, DateTimes, Doubles, FixedMax, Floats, Ints, Lines, Longs, SimpleStrings, Timestamps, Utf8s,
};
use pilaster::filo::write::{Line, encode, encode_auto, holds, max_len, scratch_len};
use pilaster::filo::{Encoding, Packing};
use pilaster::unstable::filo::original::{BuilderFamily, Hint, Original, encode_like_original};
use pilaster_peers::filo::values::styles;
use pilaster_peers::filo::{Cell, ELEMENTS, Rows, Vals, put, read_all};
use pilaster_peers::random::Random;

const PACKINGS: [Packing; 9] = [
    Packing::U2,
    Packing::U4,
    Packing::I8,
    Packing::U8,
    Packing::I16,
    Packing::U16,
    Packing::I32,
    Packing::U32,
    Packing::W64,
];
const LENGTHS: [usize; 22] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 100, 127, 128, 129, 1000, 10000];
/// How rows are missing: none, a tenth, half, all, the first, the last.
const MISSING: usize = 6;

/// Returns every encoding with every packing.
fn encodings() -> Vec<Encoding> {
    let mut all = vec![
        Encoding::Empty,
        Encoding::SimpleString,
        Encoding::ConstString,
        Encoding::Repeated,
        Encoding::Utf8,
        Encoding::FixedMaxUtf8,
    ];
    for p in PACKINGS {
        all.extend([
            Encoding::Simple(p),
            Encoding::Const(p),
            Encoding::Diff(p),
            Encoding::Packed(p),
            Encoding::Masked(p),
            Encoding::DeltaDelta(p),
            Encoding::DictString(p),
            Encoding::DictUtf8(p),
            Encoding::DiffDateTime { millis: p, zones: None },
        ]);
        all.extend(PACKINGS.map(|q| Encoding::DiffDateTime { millis: p, zones: Some(q) }));
    }
    all
}

/// The file that is written, and what is counted.
struct Output {
    file: BufWriter<File>,
    kinds: BTreeMap<String, usize>,
    bad: usize,
}

/// One set of rows.
struct Case {
    name: String,
    values: Vals,
    valid: Vec<bool>,
    cells: Vec<Cell>,
}

impl Case {
    fn new(r: &mut Random, code: usize, style: usize, n: usize, missing: usize) -> Self {
        let values = Vals::random(r, code, style, n);
        let valid: Vec<bool> = (0..n)
            .map(|i| match missing {
                0 => true,
                1 => r.below(10) > 0,
                2 => r.below(2) > 0,
                3 => false,
                4 => i != 0,
                _ => i + 1 != n,
            })
            .collect();
        let cells = (0..n).map(|i| if valid[i] { values.cell(i) } else { Cell::Missing }).collect();
        Case { name: format!("style{style} n{n} missing{missing}"), values, valid, cells }
    }
    fn rows(&self) -> usize {
        self.cells.len()
    }
}

impl Output {
    /// Writes a vector if pilaster reads the rows that were written.
    fn emit(&mut self, case: &Case, writer: &str, chunk: &[u8]) {
        let element = ELEMENTS[usize::from(case.values.code())];
        let kind = writer.split('|').next().unwrap_or_default();
        *self.kinds.entry(format!("{element} {kind}")).or_default() += 1;
        let read = read_all(chunk, element, 4096 + 64 * case.rows());
        if read.as_ref() != Ok(&case.cells) {
            self.wrong(case, writer, &read.err().unwrap_or_else(|| "read otherwise than written".into()));
        }
        let mut record = Vec::new();
        put(&mut record, case.values.code(), &format!("{element} {writer} {}", case.name), chunk, &case.cells);
        self.file.write_all(&record).expect("the file can be written");
    }

    fn wrong(&mut self, case: &Case, writer: &str, what: &str) {
        self.bad += 1;
        eprintln!("BAD {} {writer}: {what}", case.name);
    }

    /// Emits what a writer returned; an error that is not `allowed` is counted.
    fn result(&mut self, case: &Case, writer: &str, result: Result<Vec<u8>, Error>, allowed: &[Kind]) {
        match result {
            Ok(chunk) => self.emit(case, writer, &chunk),
            Err(e) if allowed.contains(&e.kind()) => {}
            Err(e) => self.wrong(case, writer, &format!("{e:?}")),
        }
    }
}

/// An encoder of rows.
type Encoder<'a> = dyn FnMut(&Rows<'_>, &mut [u8], &mut Scratch<'_>) -> Result<usize, Error> + 'a;

/// Writes by all encoders of whole columns.
fn whole(out: &mut Output, case: &Case, all: &[Encoding], dst: &mut [u8]) {
    let n = case.rows();
    let element = ELEMENTS[usize::from(case.values.code())];
    let mut memory = vec![0xA5u8; scratch_len(n) + 64];
    let mut run = |f: &mut Encoder<'_>| {
        dst.fill(0xA5);
        let len = case.values.with_rows(&case.valid, |rows| f(rows, dst, &mut Scratch::new(&mut memory)))?;
        Ok(dst[..len].to_vec())
    };
    for e in all.iter().filter(|e| holds(**e, element)) {
        let result = run(&mut |rows, dst, s| encode(*e, rows, dst, s));
        let writer = format!("encode {}|{e}", e.header().name());
        if result.as_ref().is_ok_and(|c| c.len() > max_len(*e, n, case.values.text_len())) {
            out.wrong(case, &writer, "longer than max_len");
        }
        out.result(case, &writer, result, &[Kind::Lossy, Kind::Overflow]);
    }
    out.result(case, "auto", run(&mut |rows, dst, s| encode_auto(rows, dst, s)), &[]);
    for builder in [BuilderFamily::Default, BuilderFamily::Old, BuilderFamily::New] {
        for hint in [Hint::Auto, Hint::Simple, Hint::Dictionary, Hint::Diff] {
            let result = run(&mut |rows, dst, s| encode_like_original(rows, Original { builder, hint }, dst, s));
            out.result(case, &format!("like {builder:?} {hint:?}"), result, &[Kind::WrongType, Kind::Lossy]);
        }
    }
}

/// Writes row by row with a writer, if it can be made; `$push` appends a value.
macro_rules! append {
    ($out:ident, $case:ident, $dst:ident, $name:expr, $writer:expr, $values:expr, $push:expr) => {
        $dst.fill(0xA5);
        if let Ok(mut w) = $writer {
            let push = $push;
            let all =
                $values.iter().zip(&$case.valid).try_for_each(|(x, v)| if *v { push(&mut w, x) } else { w.push_na() });
            let result = all.and_then(|()| w.finish().map(|c| c.to_vec()));
            $out.result($case, &$name, result, &[Kind::Lossy]);
        }
    };
}

/// Writes numbers row by row, with one packing.
fn packed(out: &mut Output, case: &Case, p: Packing, dst: &mut [u8]) {
    let first = |x: &[i64]| x.iter().copied().min().unwrap_or(5);
    for masked in [false, true] {
        let name = |what: &str| format!("append {what} masked={masked}|{p:?}");
        match &case.values {
            Vals::Int(x) => {
                let dst = &mut dst[..Ints::max_len(p, masked, x.len())];
                append!(
                    out,
                    case,
                    dst,
                    name("Ints"),
                    if masked { Ints::masked(dst, p) } else { Ints::new(dst, p) },
                    x,
                    |w: &mut Ints, x: &i32| w.push(*x)
                );
            }
            Vals::Long(x) => {
                let dst = &mut dst[..Longs::max_len(p, masked, x.len())];
                append!(
                    out,
                    case,
                    dst,
                    name("Longs"),
                    if masked { Longs::masked(dst, p) } else { Longs::new(dst, p) },
                    x,
                    |w: &mut Longs, x: &i64| w.push(*x)
                );
            }
            Vals::Double(x) => {
                append!(
                    out,
                    case,
                    dst,
                    name("Doubles"),
                    if masked { Doubles::masked(dst, p) } else { Doubles::new(dst, p) },
                    x,
                    |w: &mut Doubles, x: &f64| w.push(*x)
                );
            }
            _ => {}
        }
    }
    match &case.values {
        Vals::Timestamp(x) => {
            append!(
                out,
                case,
                dst,
                format!("append Timestamps|{p:?}"),
                Timestamps::new(dst, first(x), p),
                x,
                |w: &mut Timestamps, x: &i64| w.push(*x)
            );
        }
        Vals::DateTime(x, zones) if zones.iter().all(|z| *z == zones[0]) => {
            let zone = zones.first().copied().unwrap_or(0);
            append!(
                out,
                case,
                dst,
                format!("append DateTimes|{p:?}"),
                DateTimes::new(dst, first(x), zone, p),
                x,
                |w: &mut DateTimes, x: &i64| w.push(*x)
            );
        }
        Vals::Long(x) if !x.is_empty() && case.valid.iter().all(|v| *v) => line(out, case, x, p, dst),
        _ => {}
    }
}

/// Writes longs as differences from a line, if they fit.
fn line(out: &mut Output, case: &Case, x: &[i64], p: Packing, dst: &mut [u8]) {
    let slope = if x.len() > 1 { x[x.len() - 1].wrapping_sub(x[0]) / (x.len() as i64 - 1) } else { 0 };
    let line = Line { base: x[0].saturating_sub(10), slope: i32::try_from(slope).unwrap_or(0) };
    dst.fill(0xA5);
    let Ok(mut w) = Lines::new(dst, line, p) else { return };
    if x.iter().all(|x| w.push(*x).is_ok()) {
        let result = w.finish().map(|c| c.to_vec());
        out.result(case, &format!("append Lines|{p:?}"), result, &[]);
    }
}

/// Writes the other element types row by row.
fn unpacked(out: &mut Output, case: &Case, more: usize, dst: &mut [u8]) {
    let capacity = case.rows() + more;
    match &case.values {
        Vals::Bool(x) => {
            let dst = &mut dst[..Booleans::max_len(x.len())];
            append!(out, case, dst, "append Booleans", Booleans::new(dst), x, |w: &mut Booleans, x: &bool| w.push(*x));
        }
        Vals::Float(x) => {
            let dst = &mut dst[..Floats::max_len(x.len())];
            append!(out, case, dst, "append Floats", Floats::new(dst), x, |w: &mut Floats, x: &f32| w.push(*x));
        }
        Vals::Str(x) => {
            append!(
                out,
                case,
                dst,
                "append SimpleStrings",
                SimpleStrings::new(dst, capacity),
                x,
                |w: &mut SimpleStrings, x: &Vec<u8>| w.push(std::str::from_utf8(x).expect("made as text"))
            );
        }
        Vals::Utf8(x) => {
            append!(out, case, dst, "append Utf8s", Utf8s::new(dst, capacity), x, |w: &mut Utf8s, x: &Vec<u8>| w
                .push(x));
            for long in [1u8, 8, 254] {
                if case.rows() < 1000 {
                    append!(
                        out,
                        case,
                        dst,
                        format!("append FixedMax|{long}"),
                        FixedMax::new(dst, long),
                        x,
                        |w: &mut FixedMax, x: &Vec<u8>| w.push(x)
                    );
                }
            }
        }
        _ => {}
    }
}

/// Returns whether a combination is skipped, to save time.
fn left_out(code: usize, style: usize, n: usize, missing: usize) -> bool {
    n == 0 && missing > 0
        || n == 10000
            && (missing > 1 || code >= 7 && style != 14 || (5..7).contains(&code) && ![3, 4, 5, 9, 10].contains(&style))
        || (10..128).contains(&n) && ![63, 64, 65].contains(&n) && (n + missing + style) % 2 == 1
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, seed, longest) = match &*arguments {
        [file, seed] => (file, seed, 10000),
        [file, seed, longest] => (file, seed, longest.parse()?),
        _ => return Err("filo_gen FILE SEED [LONGEST]".into()),
    };
    let mut r = Random(seed.parse()?);
    let mut out = Output { file: BufWriter::new(File::create(file)?), kinds: BTreeMap::new(), bad: 0 };
    let all = encodings();
    for (code, style) in (0..ELEMENTS.len()).flat_map(|c| (0..styles(c)).map(move |s| (c, s))) {
        for (n, missing) in LENGTHS.iter().filter(|n| **n <= longest).flat_map(|n| (0..MISSING).map(|m| (*n, m))) {
            if left_out(code, style, n, missing) {
                continue;
            }
            let case = Case::new(&mut r, code, style, n, missing);
            let mut dst = vec![0xA5u8; case.values.text_len() * 2 + n * 300 + 4096];
            whole(&mut out, &case, &all, &mut dst);
            PACKINGS.iter().for_each(|p| packed(&mut out, &case, *p, &mut dst));
            unpacked(&mut out, &case, r.pick(&[0, 13]), &mut dst);
        }
    }
    out.file.flush()?;
    out.kinds.iter().for_each(|(k, n)| println!("{n:7} {k}"));
    let (total, bad) = (out.kinds.values().sum::<usize>(), out.bad);
    println!(
        "filo_gen: {}: vectors {total}, pilaster reads otherwise than it wrote {bad}",
        if bad == 0 { "ok" } else { "FAIL" }
    );
    std::process::exit(i32::from(bad > 0))
}
