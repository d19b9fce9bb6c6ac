//! Every entry as an export of a static library, whose panic handler calls an undefined function. If any of them can
//! panic, linking fails (`.ci/no-panic`).

#![no_std]

use core::slice;

use entries::Call;

macro_rules! exports {
    ($($name:ident = $entry:path;)*) => {$(
        /// # Safety
        /// `bytes` and `memory` must be valid for `len` and `memory_len` bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(bytes: *const u8, len: usize, memory: *mut u8, memory_len: usize, kind: u32, row: u32) -> u32 {
            // SAFETY: as the caller guarantees.
            let (bytes, memory) = unsafe { (slice::from_raw_parts(bytes, len), slice::from_raw_parts_mut(memory, memory_len)) };
            $entry(Call { bytes, memory, kind, row }).unwrap_or_else(entries::failed)
        }
    )*};
}

exports! {
    entry_bcolz_chunk = entries::bcolz::chunk;
    entry_bcolz_items = entries::bcolz::items;
    entry_bcolz_write = entries::bcolz::write;
    entry_bytes_reader = entries::bytes::reader;
    entry_bytes_scratch = entries::bytes::scratch;
    entry_codec_lz4_decode = entries::codec::lz4_decode;
    entry_codec_lzf_decode = entries::codec::lzf_decode;
    entry_codec_snappy_decode = entries::codec::snappy_decode;
    entry_codec_lzo_decode = entries::codec::lzo_decode;
    entry_codec_zlib_decode = entries::codec::zlib_decode;
    entry_codec_bzip2_decode = entries::codec::bzip2_decode;
    entry_codec_zstd_decode = entries::codec::zstd_decode;
    entry_codec_blosclz_decode = entries::codec::blosclz_decode;
    entry_codec_blosclz_encode = entries::codec::blosclz_encode;
    entry_codec_shuffles = entries::codec::shuffles;
    entry_codec_decode = entries::codec::decode;
    entry_codec_lz4_encode = entries::codec::lz4_encode;
    entry_codec_lzf_encode = entries::codec::lzf_encode;
    entry_codec_snappy_encode = entries::codec::snappy_encode;
    entry_dataseries_read = entries::dataseries_read::read;
    entry_dataseries_open = entries::dataseries_read::open;
    entry_dataseries_open_big = entries::dataseries_read::open_big;
    entry_dataseries_any = entries::dataseries_read::any;
    entry_dataseries_write = entries::dataseries_write::stored;
    entry_dataseries_write_lz4 = entries::dataseries_write::lz4;
    entry_dataseries_write_lzf = entries::dataseries_write::lzf;
    entry_dataseries_resume = entries::dataseries_write::resume;
    entry_filo_get = entries::filo::get;
    entry_filo_get_int = entries::filo::get_int;
    entry_filo_batches = entries::filo::batches;
    entry_filo_dictionary = entries::filo::dictionary;
    entry_filo_verify = entries::filo::verify;
    entry_filo_write_ints = entries::filo_write::ints;
    entry_filo_write_lines = entries::filo_write::lines;
    entry_filo_write_rows = entries::filo_write::rows;
    entry_filo_write_any = entries::filo_write::any;
    entry_filo_write_auto = entries::filo_write::auto;
    entry_filo_write_like = entries::filo_write::like_original;
    entry_jay_open = entries::jay::open;
    entry_jay_read = entries::jay::read;
    entry_jay_get = entries::jay::get;
    entry_jay_verify = entries::jay::verify;
    entry_vortex_log = entries::vortex_log::write;
    entry_vortex_log_resume = entries::vortex_log::resume;
    entry_vortex_read = entries::vortex::read;
    entry_vortex_verify = entries::vortex::verify;
}

#[cfg(feature = "control")]
mod control {
    fn index(call: entries::Call<'_>) -> pilaster::Result<u32> {
        Ok(call.bytes[call.row as usize].into())
    }
    use super::*;
    exports! { entry_control = index; }
}

unsafe extern "C" {
    fn a_panic_survived() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: never linked.
    unsafe { a_panic_survived() }
}
