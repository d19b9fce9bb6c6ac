#![no_std]
#![no_main]

firmware::image!(nothing);

#[inline(never)]
fn nothing(call: entries::Call<'_>) -> pilaster::Result<u32> {
    Ok(call.kind)
}
