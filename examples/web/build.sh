#!/usr/bin/env bash
# Builds the modules: one for each format, which reads, verifies and describes; pilaster-vortex-verify.wasm, which verifies
# Vortex; pilaster.wasm, which reads all five formats; and pilaster-write.wasm, which writes. Uses the target of rustup if it
# is installed, else the compiler of Debian. If wasm-opt (binaryen) is installed, by `npm ci` or in the path, the modules
# become smaller by a tenth.
# `build.sh NAME FEATURES` builds only NAME.wasm with these features.
set -euo pipefail
cd "$(dirname "$0")"
target=wasm32-unknown-unknown
out="${CARGO_TARGET_DIR:-$PWD/target}"

# The stack is one page smaller than 1 MiB, so that the addresses after it have three bytes, which saves 1 KB. Structs are
# copied by one instruction, not word by word, which saves 3 %. Compilers without these options are used without them.
stack='-Clink-arg=-zstack-size=983040'
copies='-Cllvm-args=-max-store-memcpy=1 -Cllvm-args=-max-store-memmove=1 -Cllvm-args=-max-store-memset=1'
flags() { # rustc
  # shellcheck disable=SC2086
  if "$1" $copies --print target-features >/dev/null 2>&1; then echo "$stack ${loops:-} $copies"; else echo "$stack ${loops:-}"; fi
}

build() { # name, features
  if [ -d "$(rustc --print target-libdir --target $target 2>/dev/null)" ]; then
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="$(flags rustc)" \
      cargo build --locked --release --target $target --no-default-features --features "$2"
    optimise "$out/$target/release/pilaster_web.wasm" "$1"
  elif [ -d /usr/lib/rustlib/src/rust/library ]; then
    RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc CARGO_TARGET_DIR="$out/debian" \
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-22 \
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="$(flags /usr/bin/rustc)" \
      /usr/bin/cargo build --locked --release --target $target -Zbuild-std=core,alloc --no-default-features --features "$2"
    optimise "$out/debian/$target/release/pilaster_web.wasm" "$1"
  else
    echo "needs the target: rustup target add $target" >&2
    exit 1
  fi
}

# optimise MODULE NAME: makes NAME.wasm of what the compiler wrote. wasm-opt runs beside the next build, and only if the
# module, its version or this script has changed.
optimise() {
  local optimiser key
  optimiser=$(PATH="$PWD/node_modules/.bin:$PATH" command -v wasm-opt) || { cp "$1" "$2.wasm"; return; }
  key=$({ cat "$1" build.sh; "$optimiser" --version; } | sha256sum)
  if [ -f "$2.wasm" ] && [ "$key" = "$(cat "$out/$2.key" 2>/dev/null)" ]; then return; fi
  cp "$1" "$out/$2.module"
  {
    # Features that the target of Rust always has, but an old binaryen does not enable.
    # Finally gives the most called functions the shortest numbers, which saves half a percent.
    "$optimiser" -Oz -Oz --reorder-functions --enable-bulk-memory --enable-sign-ext \
      --enable-nontrapping-float-to-int --enable-mutable-globals --enable-reference-types --enable-multivalue \
      --strip-producers --strip-target-features "$out/$2.module" -o "$2.wasm"
    echo "$key" >"$out/$2.key"
  } &
  optimisers+=($!)
}

optimisers=()

if [ $# -eq 2 ]; then
  build "$1" "$2"
else
  build pilaster-filo filo,info,verify
  build pilaster-dataseries dataseries,codecs,info,verify
  build pilaster-jay jay,info,verify
  build pilaster-bcolz bcolz,codecs,zstd,info,verify
  # Reading and verifying Vortex do not fit into one module of 80 KB compressed. The small loops save 11 and 8 KB here, and
  # 30 KB in the module for all five formats.
  loops="--cfg pilaster_small" build pilaster-vortex vortex,codecs,zstd,info
  loops="--cfg pilaster_small" build pilaster-vortex-verify verifier,codecs,zstd
  loops="--cfg pilaster_small" build pilaster default
  build pilaster-write write,codecs
fi
for optimiser in ${optimisers[@]+"${optimisers[@]}"}; do wait "$optimiser"; done
