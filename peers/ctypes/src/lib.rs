//! What blosc/bench.py and jay/bench.py call through ctypes: chunks of Blosc 1, and a Jay column summed and saved.
use pilaster::bcolz::chunk::{Chunk, Params, encode, encode_scratch_len};
use pilaster::bcolz::{Compressor, Shuffle};
use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Prim, Spans, Type, Validity, Values, VarBytes};
use pilaster::jay::write::{WriteOptions, Writer};
use pilaster::jay::{File, ReadOptions};
use std::slice::{from_raw_parts as r, from_raw_parts_mut as w};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_enc(
    src: *const u8,
    n: usize,
    comp: i32,
    level: i32,
    sh: i32,
    ts: i32,
    bs: usize,
    dst: *mut u8,
    cap: usize,
    scr: *mut u8,
    scap: usize,
) -> i64 {
    let p = Params {
        compressor: Compressor::ALL[comp as usize],
        level: level as u8,
        shuffle: [Shuffle::None, Shuffle::Byte, Shuffle::Bit][sh as usize],
        typesize: ts as u8,
        blocksize: if bs == 0 { None } else { Some(bs as u32) },
    };
    if encode_scratch_len(&p, n) > scap {
        return -2;
    }
    unsafe {
        match encode(r(src, n), &p, w(dst, cap), &mut Scratch::new(w(scr, scap))) {
            Ok(l) => l as i64,
            Err(e) => {
                eprintln!("{e:?}");
                -1
            }
        }
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_dec(src: *const u8, n: usize, dst: *mut u8, cap: usize, scr: *mut u8, scap: usize) -> i64 {
    unsafe {
        let c = match Chunk::open(r(src, n)) {
            Ok(c) => c,
            Err(_) => return -1,
        };
        if c.scratch_len() > scap {
            return -2;
        }
        match c.decode(w(dst, cap), &mut Scratch::new(w(scr, scap))) {
            Ok(l) => l as i64,
            Err(_) => -3,
        }
    }
}
#[unsafe(no_mangle)]
pub extern "C" fn pl_name(i: i32) -> *const u8 {
    let n = Compressor::ALL[i as usize].name();
    let s = std::ffi::CString::new(n).unwrap();
    s.into_raw() as *const u8
}

/// The bytes are the caller's, mapped or read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_jay_sum(p: *const u8, n: usize, check: i32, isum: *mut i64, fsum: *mut f64) -> i32 {
    let bytes = unsafe { r(p, n) };
    let o =
        if check != 0 { ReadOptions { check_null_counts: true, ..ReadOptions::DEFAULT } } else { ReadOptions::DEFAULT };
    let file = match File::open(bytes, &o, &mut Scratch::new(&mut [])) {
        Ok(f) => f,
        Err(e) => {
            eprintln!("{e:?}");
            return -1;
        }
    };
    let column = file.column(0).unwrap();
    let (mut row, mut ints, mut floats) = (0, 0i64, 0.0f64);
    let mut memory = vec![0u8; 1 << 16];
    while row < column.rows() {
        let end = (row + 8192).min(column.rows());
        let mut s = Scratch::new(&mut memory);
        let b = column.read(row..end, &mut s).unwrap();
        // user code: missing values are skipped
        match b.values {
            Values::I64(v) => {
                if matches!(b.validity, Validity::All) {
                    ints = v.iter().fold(ints, |s, v| s.wrapping_add(*v))
                } else {
                    for (i, v) in v.iter().enumerate() {
                        if b.validity.get(i) {
                            ints = ints.wrapping_add(*v)
                        }
                    }
                }
            }
            Values::I32(v) => {
                if matches!(b.validity, Validity::All) {
                    ints = v.iter().fold(ints, |s, v| s.wrapping_add(i64::from(*v)))
                } else {
                    for (i, v) in v.iter().enumerate() {
                        if b.validity.get(i) {
                            ints = ints.wrapping_add(i64::from(*v))
                        }
                    }
                }
            }
            Values::F64(v) => {
                if matches!(b.validity, Validity::All) {
                    let mut sums = [0.0; 8];
                    for e in v.chunks(8) {
                        sums.iter_mut().zip(e).for_each(|(s, v)| *s += v);
                    }
                    floats += sums.iter().sum::<f64>();
                } else {
                    for (i, v) in v.iter().enumerate() {
                        if b.validity.get(i) {
                            floats += *v
                        }
                    }
                }
            }
            Values::Utf8(v) => ints += v.iter().map(|v| v.map_or(0, |v: &[u8]| v.len()) as i64).sum::<i64>(),
            _ => return -2,
        }
        row += b.len as u64;
    }
    unsafe {
        *isum = ints;
        *fsum = floats;
    }
    0
}
#[derive(Clone, Copy, Debug)]
struct Plain<'a>(Values<'a>, Type, usize);
impl Column for Plain<'_> {
    fn ty(&self) -> Type {
        self.1
    }
    fn nullable(&self) -> bool {
        false
    }
    fn rows(&self) -> u64 {
        self.2 as u64
    }
    fn need(&self, _: core::ops::Range<u64>) -> pilaster::Result<u64> {
        Ok(0)
    }
    fn read<'s>(&self, _: core::ops::Range<u64>, _: &mut Scratch<'s>) -> pilaster::Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        Ok(Batch { first: 0, len: self.2, values: self.0, validity: Validity::All, of: *self })
    }
}
/// kind 0 i64, 1 f64, 2 i32, 3 str32 ; writes to path, with or without stats
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_jay_save(
    kind: i32,
    data: *const u8,
    n: usize,
    off: *const u32,
    dlen: usize,
    path: *const std::ffi::c_char,
) -> i32 {
    let c = unsafe {
        match kind {
            0 => Plain(Values::I64(r(data as *const i64, n)), Type::Prim(Prim::I64), n),
            1 => Plain(Values::F64(r(data as *const f64, n)), Type::Prim(Prim::F64), n),
            2 => Plain(Values::I32(r(data as *const i32, n)), Type::Prim(Prim::I32), n),
            _ => {
                Plain(Values::Utf8(VarBytes { data: r(data, dlen), spans: Spans::Off32(r(off, n + 1)) }), Type::Utf8, n)
            }
        }
    };
    let path = unsafe { std::ffi::CStr::from_ptr(path) }.to_str().unwrap();
    let f = std::fs::File::create(path).unwrap();
    let mut wr =
        Writer::new(pilaster::bytes::IoSink(std::io::BufWriter::with_capacity(1 << 18, f)), &WriteOptions::DEFAULT)
            .unwrap();
    wr.begin(0, "a", &c).unwrap();
    for _ in 0..wr.passes(&c) {
        let b = c.read(0..c.rows(), &mut Scratch::new(&mut [])).unwrap();
        wr.put(&c, &b).unwrap();
        wr.end().unwrap();
    }
    let s = wr.finish().unwrap();
    let _ = s;
    0
}
