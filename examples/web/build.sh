#!/usr/bin/env bash
# Builds pilaster.wasm, which reads, and pilaster-write.wasm, which writes: with rustup's target where it is installed,
# else with Debian's compiler. Where wasm-opt (binaryen) is installed, it takes another tenth off.
# `build.sh NAME FEATURES` builds NAME.wasm with these features alone.
set -euo pipefail
cd "$(dirname "$0")"
target=wasm32-unknown-unknown
out="${CARGO_TARGET_DIR:-$PWD/target}"

build() { # name, features
  if [ -d "$(rustc --print target-libdir --target $target 2>/dev/null)" ]; then
    cargo build --locked --release --target $target --no-default-features --features "$2"
    cp "$out/$target/release/pilaster_web.wasm" "$1.wasm"
  elif [ -d /usr/lib/rustlib/src/rust/library ]; then
    RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc CARGO_TARGET_DIR="$out/debian" \
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-22 \
      /usr/bin/cargo build --locked --release --target $target -Zbuild-std=core,alloc --no-default-features --features "$2"
    cp "$out/debian/$target/release/pilaster_web.wasm" "$1.wasm"
  else
    echo "needs the target: rustup target add $target" >&2
    exit 1
  fi
  if command -v wasm-opt >/dev/null; then
    # What Rust's target has anyway, which an old binaryen does not take for granted.
    wasm-opt -Oz --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int --enable-mutable-globals \
      --enable-reference-types --enable-multivalue "$1.wasm" -o "$1.wasm"
  fi
}

if [ $# -eq 2 ]; then
  build "$1" "$2"
else
  build pilaster default
  build pilaster-write write,codecs
fi
