#!/usr/bin/env bash
# Builds pilaster.wasm: with rustup's target where it is installed, else with Debian's compiler.
set -euo pipefail
cd "$(dirname "$0")"
target=wasm32-unknown-unknown
out="${CARGO_TARGET_DIR:-$PWD/target}"
if [ -d "$(rustc --print target-libdir --target $target 2>/dev/null)" ]; then
  cargo build --locked --release --target $target "$@"
elif [ -d /usr/lib/rustlib/src/rust/library ]; then
  out="$out/debian"
  RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc CARGO_TARGET_DIR="$out" CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-22 \
    /usr/bin/cargo build --locked --release --target $target -Zbuild-std=core,alloc "$@"
else
  echo "needs the target: rustup target add $target" >&2
  exit 1
fi
cp "$out/$target/release/pilaster_web.wasm" pilaster.wasm
