# What the checks share. Each check is a script that runs alone: `.ci/fmt`.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# rustup must not replace a toolchain that another build is using.
export RUSTUP_AUTO_INSTALL=0
export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-auto}"
# Nobody debugs what the checks build, and it takes gigabytes.
export CARGO_PROFILE_DEV_DEBUG="${CARGO_PROFILE_DEV_DEBUG:-0}"
# What firmware can have: every format and codec, neither heap nor operating system.
formats=filo,dataseries,jay,bcolz,vortex,lzo,deflate,bzip2,zstd,pco
target="${CARGO_TARGET_DIR:-$PWD/target}"

# skip REASON: the check cannot run here. Said loudly at home (status 77), a failure in CI.
skip() {
  echo "SKIPPED ${0##*/}: $1" >&2
  [ "${CI:-}" = true ] && exit 1
  exit 77
}

# need_apt PACKAGE...: installs what is missing of these Debian packages.
need_apt() {
  local package missing=()
  for package; do
    dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
    skip "needs the Debian packages ${missing[*]}"
  fi
  local apt=(apt-get -q -y -o DPkg::Lock::Timeout=600)
  if [ -z "$(find /var/lib/apt/lists -name '*_Packages*' -mmin -1440 2>/dev/null | head -1)" ]; then
    "${apt[@]}" update
  fi
  DEBIAN_FRONTEND=noninteractive "${apt[@]}" install --no-install-recommends "${missing[@]}"
}

# The compiler for targets that rustup has no library of: Debian's, with the library's source.
need_debian_rust() { need_apt rustc-web cargo-web rust-web-src rust-web-llvm lld-22 "$@"; }

# debian_cargo PARTS ARGUMENT...: Debian's cargo, building the PARTS of the standard library too.
# Output goes to a directory of its own, as two compilers would rebuild each other's work.
debian_cargo() {
  local parts="$1" command="$2"
  shift 2
  RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc CARGO_TARGET_DIR="$target/debian" \
    CARGO_TARGET_THUMBV7EM_NONE_EABIHF_LINKER=/usr/bin/ld.lld-22 \
    CARGO_TARGET_THUMBV6M_NONE_EABI_LINKER=/usr/bin/ld.lld-22 \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=/usr/bin/wasm-ld-22 \
    /usr/bin/cargo "$command" -Zbuild-std="$parts" "$@"
}

# emulated TARGET LINKER RUNNER: the unit tests and `tests/portable` on another host; `tests/suite` runs on the build host
# only. Emulation is some ten times slower, so the tests take smaller samples and run lightly optimised, overflow checks
# on; a backtrace would cost seconds per panic.
emulated() {
  local name="CARGO_TARGET_${1^^}"
  export "${name//-/_}_LINKER=$2" "${name//-/_}_RUNNER=$3"
  export RUST_BACKTRACE=0 PILASTER_SAMPLE="${PILASTER_SAMPLE:-100}" PROPTEST_CASES="${PROPTEST_CASES:-16}"
  export CARGO_PROFILE_DEV_OPT_LEVEL=1
  echo "PILASTER_SAMPLE=$PILASTER_SAMPLE PROPTEST_CASES=$PROPTEST_CASES; not on $1: tests/suite, tests/no_heap.rs"
  debian_cargo std,panic_unwind,test test --target "$1" --lib --test portable
}

# firmware_images ARGUMENT...: builds binaries of examples/images/firmware, into $images, small rather than fast. Frame
# sizes are kept, which costs the images nothing.
images="$target/debian/thumbv7em-none-eabihf/release"
firmware_images() {
  RUSTFLAGS="--cfg pilaster_small -Zemit-stack-sizes" debian_cargo core build --release --manifest-path examples/images/Cargo.toml \
    --target thumbv7em-none-eabihf -p firmware "$@"
}

# run_firmware IMAGE: runs it in QEMU; its exit status and output are those of the image. QEMU makes
# its output non-blocking, which must not be ours: hence `cat`.
run_firmware() {
  timeout 120 qemu-system-arm -machine mps2-an386 -nographic -monitor none -serial none \
    -semihosting-config enable=on,target=native -kernel "$1" </dev/null | cat
}
