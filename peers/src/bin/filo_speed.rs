//! filo_speed WORKLOAD COUNT: times pilaster for `filo/speed.py`. Answers each line of standard input with nanoseconds: d
//! decodes, s also sums, g reads row by row, v by the view of the type, m copies the plain values, e encodes as the original does, a by `encode_auto`.

use std::hint::black_box;
use std::io::{BufRead as _, Write as _};

use cpu_time::ThreadTime;
use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column as _, Values, fit};
use pilaster::filo::write::{Rows, encode_auto, scratch_len};
use pilaster::filo::{Access, Column, Element, Vector, Visitor};
use pilaster::unstable::filo::original::{BuilderFamily, Hint, Original, encode_like_original};
use pilaster_peers::filo::{ELEMENTS, Vals};
use pilaster_peers::random::Random;

type Failure = Box<dyn std::error::Error>;

/// Returns nanoseconds per call of `f`, which is repeated for `ms` milliseconds.
fn time(ms: u128, mut f: impl FnMut() -> pilaster::Result<()>) -> pilaster::Result<f64> {
    f()?;
    let (start, mut count) = (ThreadTime::now(), 0u64);
    loop {
        f()?;
        count += 1;
        let elapsed = start.elapsed();
        if elapsed.as_millis() >= ms {
            return Ok(elapsed.as_nanos() as f64 / count as f64);
        }
    }
}

/// Makes the values of a workload, and which rows have one.
fn workload(k: usize, n: usize) -> (Vals, Vec<bool>) {
    let mut r = Random(7);
    let gauss = |r: &mut Random| {
        let (a, b) = (r.next() as f64 / u64::MAX as f64, r.next() as f64 / u64::MAX as f64);
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    };
    let word = |r: &mut Random| -> Vec<u8> {
        (0..5 + r.below(10)).map(|_| r.pick(b"0123456789abcdefghijklmnopqrstuvwxyz")).collect()
    };
    let values = match k {
        0 | 2 => Vals::Int((0..n).map(|_| r.next() as i32).collect()),
        1 => Vals::Int((0..n).map(|_| r.below(16) as i32).collect()),
        3 => {
            let noise = |r: &mut Random, i| if i == 0 || i + 1 == n { 0 } else { r.range(-100, 99) };
            Vals::Long((0..n).map(|i| 1_480_000_000_000 + 1000 * i as i64 + noise(&mut r, i)).collect())
        }
        4 => Vals::Double((0..n).map(|_| gauss(&mut r)).collect()),
        5 => Vals::Double((0..n).map(|_| r.below(1000) as f64).collect()),
        6 => Vals::Utf8(
            (0..n).map(|_| format!("{:08x}{}", r.next() as u32, "x".repeat(r.below(12))).into_bytes()).collect(),
        ),
        _ => {
            let pool: Vec<_> = (0..500).map(|_| word(&mut r)).collect();
            Vals::Str((0..n).map(|_| pool[r.below(500)].clone()).collect())
        }
    };
    (values, (0..n).map(|_| k != 2 || r.below(10) > 0).collect())
}

fn sum(b: &Batch<'_, Column<'_>>) -> i64 {
    let has = |i: usize| b.validity.get(i);
    match b.values {
        Values::I32(v) => v.iter().enumerate().filter(|(i, _)| has(*i)).map(|(_, x)| i64::from(*x)).sum(),
        Values::I64(v) => v.iter().fold(0, |s, x| s.wrapping_add(*x)),
        Values::F64(v) => v.iter().sum::<f64>() as i64,
        Values::Utf8(v) => (0..b.len).map(|i| v.get(i).map_or(0, |x| x.len() as i64)).sum(),
        _ => 0,
    }
}

/// Decodes all batches; sums them if `sums`.
fn decode(chunk: &[u8], element: Element, sums: bool, memory: &mut [u8]) -> pilaster::Result<()> {
    let c = Vector::open(black_box(chunk), element)?.column(0)?;
    let (mut row, mut total) = (0, 0i64);
    while row < c.rows() {
        let mut s = Scratch::new(memory);
        let rows = fit(&c, row..c.rows(), s.room())?;
        let batch = black_box(c.read(rows, &mut s)?);
        row += batch.len as u64;
        if sums {
            total = total.wrapping_add(sum(&batch));
        }
    }
    black_box(total);
    Ok(())
}

/// Adds rows to a number.
struct Total<S, F>(S, F);

impl<T, S, F: Fn(S, Option<T>) -> S> Visitor<T> for Total<S, F> {
    type Output = pilaster::Result<S>;

    fn visit<A: Access<T>>(self, rows: A) -> pilaster::Result<S> {
        (0..rows.rows()).try_fold(self.0, |sum, row| Ok(self.1(sum, rows.get(row)?)))
    }
}

/// Adds the values, or the lengths of texts, row by row through a view of the type.
fn by_view(chunk: &[u8], element: Element) -> pilaster::Result<()> {
    let text = |sum: i64, v: Option<&[u8]>| sum + v.map_or(0, |v| v.len() as i64);
    let vector = black_box(Vector::open(black_box(chunk), element)?);
    black_box(match element {
        Element::Int => vector.view()?.visit(Total(0, |sum, v: Option<i32>| sum + i64::from(v.unwrap_or(0))))?,
        Element::Long => vector.view()?.visit(Total(0, |sum: i64, v: Option<i64>| sum.wrapping_add(v.unwrap_or(0))))?,
        Element::Double => vector.view()?.visit(Total(0.0, |sum: f64, v: Option<f64>| sum + v.unwrap_or(0.0)))? as i64,
        _ => vector.view()?.visit(Total(0, text))?,
    });
    Ok(())
}

/// Answers the commands.
fn serve(rows: &Rows<'_>, like: Original, element: Element, plain: usize, n: usize) -> Result<(), Failure> {
    let (mut dst, mut memory) = (vec![0u8; plain + 24 * n + 1000], vec![0u8; scratch_len(n)]);
    let len = encode_like_original(rows, like, &mut dst, &mut Scratch::new(&mut memory))?;
    let chunk = dst[..len].to_vec();
    let (source, mut copy, mut small) = (vec![1u8; plain], vec![0u8; plain], vec![0u8; 32 << 10]);
    let mut out = std::io::stdout();
    writeln!(out, "ready {len} {:x}", u16::from_le_bytes([chunk[0], chunk[1]]))?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        let nanoseconds = match &*line? {
            "d" => time(120, || decode(&chunk, element, false, &mut small)),
            "s" => time(120, || decode(&chunk, element, true, &mut small)),
            "g" => time(120, || {
                let v = Vector::open(black_box(&chunk), element)?;
                (0..v.rows()).try_for_each(|i| black_box(v.get(i)).map(|_| ()))
            }),
            "v" => time(120, || by_view(&chunk, element)),
            "e" => time(150, || {
                encode_like_original(black_box(rows), like, &mut dst, &mut Scratch::new(&mut memory)).map(|_| ())
            }),
            "a" => time(150, || encode_auto(black_box(rows), &mut dst, &mut Scratch::new(&mut memory)).map(|_| ())),
            _ => time(60, || {
                copy.copy_from_slice(black_box(&source));
                black_box(&copy);
                Ok(())
            }),
        }?;
        writeln!(out, "{nanoseconds}")?;
        out.flush()?;
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments = std::env::args().skip(1).map(|x| x.parse()).collect::<Result<Vec<usize>, _>>()?;
    let [k, n] = *arguments else { return Err("filo_speed WORKLOAD COUNT".into()) };
    let (values, valid) = workload(k, n);
    let like = match k {
        6 => Original { builder: BuilderFamily::New, hint: Hint::Simple },
        7 => Original { builder: BuilderFamily::Old, hint: Hint::Dictionary },
        _ => Original { builder: BuilderFamily::New, hint: Hint::Auto },
    };
    let plain = match k {
        0..=2 => 4 * n,
        3..=5 => 8 * n,
        _ => values.text_len(),
    };
    let element = ELEMENTS[usize::from(values.code())];
    values.with_rows(&valid, |rows| serve(rows, like, element, plain, n))
}
