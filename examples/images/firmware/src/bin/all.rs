//! Every entry in one image, without an allocator. Runs each entry on all goldens and prints its maximum stack in
//! bytes.

#![no_std]
#![no_main]

use core::hint::black_box;
use core::ptr;

use entries::{Call, Entry};
use pilaster::bytes::Scratch;
use pilaster::filo::{Element, Vector};
use pilaster::jay::{File, ReadOptions};
use semihosting::{println, process};

/// Name, element type and chunk of every golden.
static GOLDENS: &[(&str, &str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/goldens.rs"));

/// Name and bytes of every small Jay golden.
static JAYS: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/jays.rs"));

/// Readers of Jay files. Each runs on every golden, column by column, and on a truncated copy.
const JAY_READERS: &[(&str, Entry)] = &[
    ("jay_open", entries::jay::open),
    ("jay_read", entries::jay::read),
    ("jay_get", entries::jay::get),
    ("jay_verify", entries::jay::verify),
];

/// Readers that run on every Filo golden, also as another type, and truncated.
const READERS: &[(&str, Entry)] = &[
    ("bytes_reader", entries::bytes::reader),
    ("bytes_scratch", entries::bytes::scratch),
    ("codec_lz4_decode", entries::codec::lz4_decode),
    ("codec_lzf_decode", entries::codec::lzf_decode),
    ("codec_snappy_decode", entries::codec::snappy_decode),
    ("codec_lzo_decode", entries::codec::lzo_decode),
    ("codec_zlib_decode", entries::codec::zlib_decode),
    ("codec_bzip2_decode", entries::codec::bzip2_decode),
    ("codec_blosclz_decode", entries::codec::blosclz_decode),
    ("codec_blosclz_encode", entries::codec::blosclz_encode),
    ("codec_shuffles", entries::codec::shuffles),
    ("codec_decode", entries::codec::decode),
    ("codec_lz4_encode", entries::codec::lz4_encode),
    ("codec_lzf_encode", entries::codec::lzf_encode),
    ("codec_snappy_encode", entries::codec::snappy_encode),
    ("dataseries_write", entries::dataseries_write::stored),
    ("dataseries_write_lz4", entries::dataseries_write::lz4),
    ("dataseries_write_lzf", entries::dataseries_write::lzf),
    ("dataseries_resume", entries::dataseries_write::resume),
    ("vortex_log", entries::vortex_log::write),
    ("vortex_log_resume", entries::vortex_log::resume),
    ("filo_get", entries::filo::get),
    ("filo_get_int", entries::filo::get_int),
    ("filo_batches", entries::filo::batches),
    ("filo_dictionary", entries::filo::dictionary),
    ("filo_verify", entries::filo::verify),
    ("filo_read_all", entries::filo::read_all),
];

/// Blosc chunks for readers: blosclz and LZ4, either shuffle, split blocks, several blocks.
const CHUNKS: &[&[u8]] = &[
    include_bytes!("../../../../../tests/golden/bcolz/chunks/ts3_n633_sh1.blosc"),
    include_bytes!("../../../../../tests/golden/bcolz/chunks/ts5_n1055_sh2.blosc"),
    include_bytes!("../../../../../tests/golden/bcolz/chunks/size_1024_ts4.blosc"),
    include_bytes!("../../../../../tests/golden/bcolz/chunks/size_255_ts4.blosc"),
];

/// Readers of chunks. The last entry writes a chunk of these bytes as items.
const OF_CHUNKS: &[(&str, Entry)] = &[
    ("bcolz_chunk", entries::bcolz::chunk),
    ("bcolz_items", entries::bcolz::items),
    ("bcolz_write", entries::bcolz::write),
];

/// DataSeries files for readers: files of the original program in either byte order, and a log.
const FILES: &[&[u8]] = &[
    include_bytes!("../../../../../tests/golden/dataseries/tiny.ds"),
    include_bytes!("../../../../../tests/golden/dataseries/tiny_be.ds"),
    include_bytes!("../../../../../tests/golden/dataseries/tiny_compact.ds"),
    include_bytes!("../../../../../tests/golden/dataseries/doublebase.ds"),
    include_bytes!("../../../../../tests/golden/dataseries/all_types_none_be.ds"),
    include_bytes!("../../../../../tests/golden/dataseries/all_types_lzf.ds"),
    include_bytes!("../../../../../tests/golden/dataseries/all_types_lz4.ds"),
    include_bytes!("../../../../../tests/golden/dataseries/all_types_snappy.ds"),
];
const FILE_READERS: &[(&str, Entry)] = &[
    ("dataseries_read", entries::dataseries_read::read),
    ("dataseries_open", entries::dataseries_read::open),
    ("dataseries_open_big", entries::dataseries_read::open_big),
    ("dataseries_any", entries::dataseries_read::any),
];

/// Writers, which run on every element type in every encoding.
const WRITERS: &[(&str, Entry)] = &[
    ("filo_write_ints", entries::filo_write::ints),
    ("filo_write_lines", entries::filo_write::lines),
    ("filo_write_rows", entries::filo_write::rows),
    ("filo_write_any", entries::filo_write::any),
    ("filo_write_auto", entries::filo_write::auto),
    ("filo_write_like", entries::filo_write::like_original),
];

#[cortex_m_rt::entry]
fn main() -> ! {
    for (name, element, chunk) in GOLDENS {
        let sound = element.parse::<Element>().and_then(|element| Vector::open(chunk, element)?.verify());
        if let Err(e) = sound {
            println!("{name}: {e}");
            process::exit(1);
        }
    }
    for (name, entry) in READERS {
        let inputs = GOLDENS.iter().flat_map(|(_, element, chunk)| {
            let kind = Element::ALL.iter().position(|known| known.name().eq_ignore_ascii_case(element));
            [(kind.unwrap_or(0) as u32, *chunk), (0, *chunk), (1, &chunk[..chunk.len() / 2])]
        });
        report(name, inputs.map(|(kind, chunk)| stack_of(*entry, chunk, kind, 0)));
    }
    for (name, entry) in OF_CHUNKS {
        let inputs = CHUNKS.iter().flat_map(|chunk| [*chunk, &chunk[..chunk.len() / 2]]);
        report(name, inputs.flat_map(|chunk| (0..2).map(move |row| stack_of(*entry, chunk, row, row))));
    }
    let mut log = [0; 2048];
    let len = entries::dataseries_read::sample(&mut log).unwrap_or_default();
    let log = &log[..len];
    for (name, entry) in FILE_READERS {
        let inputs =
            FILES.iter().copied().chain([log]).flat_map(|file| [(0, file), (3, file), (0, &file[..file.len() - 9])]);
        report(name, inputs.map(|(kind, file)| stack_of(*entry, file, kind, 0)));
    }
    let sample = include_bytes!("../../../../../tests/golden/filo/simple_double_rand.filo");
    for (name, entry) in WRITERS {
        let inputs = (0..Element::ALL.len() as u32).flat_map(|kind| (0..128).map(move |row| (kind, row)));
        report(name, inputs.map(|(kind, row)| stack_of(*entry, &sample[60..][..200], kind, row)));
    }
    for (name, entry) in JAY_READERS {
        let inputs = JAYS.iter().flat_map(|(_, file)| {
            [(0, *file), (1, *file), (2, *file), (7, *file), (0, &file[..file.len() / 2]), (0, &file[8..])]
        });
        report(name, inputs.map(|(kind, file)| stack_of(*entry, file, kind, 1)));
    }
    for (name, file) in JAYS {
        let (mut opening, mut memory) = ([0; 512], [0; 4096]);
        let (opening, scratch) = (&mut Scratch::new(&mut opening), &mut Scratch::new(&mut memory));
        let sound = File::open(file, &ReadOptions::DEFAULT, opening).and_then(|file| file.verify(scratch));
        if let Err(e) = sound {
            println!("{name}: {e}");
            process::exit(1);
        }
    }
    println!("goldens {} and {}", GOLDENS.len(), JAYS.len());
    process::exit(0)
}

/// Prints the maximum stack in bytes, and the number of successful calls.
fn report(name: &str, calls: impl Iterator<Item = (usize, bool)>) {
    let (deepest, good) = calls.fold((0, 0), |(deepest, good), (stack, ok)| (stack.max(deepest), good + u32::from(ok)));
    println!("stack {name} {deepest} good {good}");
}

/// Number of bytes below the stack pointer that are painted, more than any entry takes.
const DEPTH: usize = 8 << 10;
const PAINT: u32 = 0x5ca1_ab1e;

/// Measures the stack of `entry`: paints below the stack pointer, calls it, and finds the first changed word. Returns
/// the stack in bytes, and whether the call succeeded.
#[inline(never)]
fn stack_of(entry: Entry, chunk: &[u8], kind: u32, row: u32) -> (usize, bool) {
    static MEMORY: Lent = Lent(core::cell::UnsafeCell::new([0; ROOM]));
    // SAFETY: one thread, and the slice is gone when this function returns.
    let memory = unsafe { &mut *MEMORY.0.get() };
    let top = cortex_m::register::msp::read() as usize & !3;
    let words = || (top - DEPTH..top - 32).step_by(4).map(|at| at as *mut u32);
    // SAFETY: the stack grows down from the end of RAM, and nothing is stored below its pointer. The words next to the
    // pointer are not painted, because the calls here use them.
    words().for_each(|word| unsafe { ptr::write_volatile(word, PAINT) });
    let good = black_box(entry(Call { bytes: black_box(chunk), memory, kind, row })).is_ok();
    // SAFETY: as above.
    let touched = words().find(|word| unsafe { ptr::read_volatile(*word) } != PAINT);
    (touched.map_or(0, |word| top - word as usize), good)
}

/// Size in bytes of the memory of the entries, enough for the extents of all inputs.
const ROOM: usize = 128 << 10;

struct Lent(core::cell::UnsafeCell<[u8; ROOM]>);
// SAFETY: one thread.
unsafe impl Sync for Lent {}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    println!("{info}");
    process::exit(101)
}
