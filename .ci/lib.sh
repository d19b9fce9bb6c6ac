# What the checks share. Each check is a script that runs alone: `.ci/fmt`.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# rustup must not replace a toolchain that another build is using.
export RUSTUP_AUTO_INSTALL=0
export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-auto}"
# Nobody debugs what the checks build, and it takes gigabytes.
export CARGO_PROFILE_DEV_DEBUG="${CARGO_PROFILE_DEV_DEBUG:-0}"
# Nothing is edited between the checks.
export CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}"
# What firmware can have: every format and codec, neither heap nor operating system.
formats=filo,dataseries,jay,bcolz,vortex,lzo,deflate,bzip2,zstd,zstd-encode,pco,vortex-preview
target="${CARGO_TARGET_DIR:-$PWD/target}"

# skip REASON: the check cannot run here. Said loudly at home (status 77), a failure in CI.
skip() {
  echo "SKIPPED ${0##*/}: $1" >&2
  [ "${CI:-}" = true ] && exit 1
  exit 77
}

# tests_in_memory: the files of the tests are in memory where that is known to have room, as the tool waits for the disk twice for each
# of the thousands that it writes. A folder that the caller names stays. $made_tmp is the one that is made here.
made_tmp=
tests_in_memory() {
  local free
  [ -z "${PILASTER_TMP:-}" ] || return 0
  free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -1) || true
  [ "${free:-0}" -gt 2000000 ] || return 0
  made_tmp=$(mktemp -d -p /dev/shm)
  export PILASTER_TMP="$made_tmp"
  trap 'rm -rf "$made_tmp"' EXIT
}

# some_tests COMMAND...: runs `cargo test` with a filter; fails also if no test has such a name.
some_tests() { "$@" | awk '{ print } /^running [1-9]/ { some = 1 } END { exit !some }'; }

# need_command COMMAND PACKAGE: the command, else the Debian package that has it.
need_command() { command -v "$1" >/dev/null || need_apt "$2"; }

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
  {
    # Checks of other lanes wait.
    flock 8
    if [ -z "$(find /var/lib/apt/lists -name '*_Packages*' -mmin -1440 2>/dev/null | head -1)" ]; then
      "${apt[@]}" update
    fi
    DEBIAN_FRONTEND=noninteractive "${apt[@]}" install --no-install-recommends "${missing[@]}"
  } 8>/tmp/pilaster-apt.lock
}

# need_rust_for TARGET...: chooses the compiler for targets beside the host, and says which: the usual one if rustup has the
# library of each target (`rustup target add`), else Debian's, which builds the library from its source.
need_rust_for() {
  local name installed
  installed=$(rustup target list --installed 2>/dev/null) || true
  compiler=rustup cross="$target"
  for name; do
    if ! grep -qxF "$name" <<<"$installed"; then compiler=debian cross="$target/debian"; fi
  done
  if [ $compiler = rustup ]; then
    echo "RUN: $(rustc --version) for $*, with the libraries that rustup installed"
  else
    need_apt rustc-web cargo-web rust-web-src rust-web-llvm lld-22
    echo "RUN: Debian's $(/usr/bin/rustc --version) for $*, as rustup has not all of these targets"
  fi
}

# cross_cargo PARTS COMMAND ARGUMENT...: runs cargo with the compiler that need_rust_for chose; the output goes to $cross.
# Debian's also builds the PARTS of the standard library, in a directory of its own, as two compilers would rebuild each
# other's work; its linker is a package, while rustup's is part of the toolchain.
cross_cargo() {
  local parts="$1" command="$2"
  shift 2
  if [ $compiler = rustup ]; then
    CARGO_TARGET_DIR="$cross" cargo "$command" "$@"
    return
  fi
  RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc CARGO_TARGET_DIR="$cross" \
    CARGO_TARGET_THUMBV7EM_NONE_EABIHF_LINKER=/usr/bin/ld.lld-22 \
    CARGO_TARGET_THUMBV6M_NONE_EABI_LINKER=/usr/bin/ld.lld-22 \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=/usr/bin/wasm-ld-22 \
    /usr/bin/cargo "$command" -Zbuild-std="$parts" "$@"
}

# web_modules ARGUMENT...: builds the modules of the npm package in examples/web, which are the output of its build.sh.
web_modules() {
  command -v npm >/dev/null || skip "needs node and npm"
  # npm leaves this file when it has installed everything.
  local lock=examples/web/package-lock.json installed=examples/web/node_modules/.package-lock.json
  if ! [ "$installed" -nt "$lock" ]; then npm ci --prefix examples/web --no-audit --no-fund; fi
  CARGO_TARGET_DIR="$target" examples/web/build.sh "$@"
}

# Binary tools of LLVM, `llvm size FILE`: of rustup's component llvm-tools, else Debian's.
llvm_bin="$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin"
need_llvm() { [ -x "$llvm_bin/llvm-size" ] || need_apt llvm-22; }
llvm() {
  local tool="$llvm_bin/llvm-$1"
  [ -x "$tool" ] || tool="llvm-$1-22"
  "$tool" "${@:2}"
}

# on_host TARGET LINKER RUNNER...: the unit tests and `tests/portable` on another host; `tests/suite` runs on the build host
# only. A runner is an emulator, some ten times slower, so the tests take smaller samples, on each host the same. They run lightly
# optimised, overflow checks on; a backtrace would cost seconds per panic.
on_host() {
  local name="CARGO_TARGET_${1^^}"
  export "${name//-/_}_LINKER=$2"
  [ $# = 2 ] || export "${name//-/_}_RUNNER=${*:3}"
  export RUST_BACKTRACE=0 PILASTER_SAMPLE="${PILASTER_SAMPLE:-100}" PROPTEST_CASES="${PROPTEST_CASES:-16}"
  export CARGO_PROFILE_DEV_OPT_LEVEL=1
  # Beside the checks of another lane of `.ci/run`, which lock theirs.
  cross+=/hosts
  echo "PILASTER_SAMPLE=$PILASTER_SAMPLE PROPTEST_CASES=$PROPTEST_CASES; not on $1: tests/suite, tests/no_heap.rs"
  cross_cargo std,panic_unwind,test test --target "$1" --lib --test portable
}

# on_host_of_32_bits TARGET COMPILER RUNNER...: the tests of on_host, then the programs in C that call the library with all that is wrong,
# where lengths have 32 bits.
on_host_of_32_bits() {
  on_host "$@"
  local here=bridges/c out="$target/$1" test run
  mkdir -p "$out/files"
  cross_cargo core rustc --quiet --locked --release --manifest-path $here/Cargo.toml --lib --crate-type staticlib --target "$1"
  for test in check more ring hostile wild; do
    "$2" -static -std=c99 -O1 -Wall -Wextra -Werror -I $here/include $here/tests/$test.c \
      "$cross/$1/release/libpilaster_c.a" -Wl,--gc-sections -o "$out/$test"
  done
  for run in "check $out/files" "more $out/files $out/files/every_6.ds" ring hostile "wild 2000 $(ls fuzz/corpus-seed/c_wild/* | xargs)"; do
    # shellcheck disable=SC2086
    "${@:3}" "$out/"$run
  done
  echo "the library for C passes its tests on a 32-bit host"
}

# The flags of all images for thumb, as other flags would build `core` again: small rather than fast. Debian's compiler
# also keeps the sizes of frames, which costs the images nothing; a stable compiler of rustup's has no option for it.
thumb_flags() {
  if [ $compiler = rustup ]; then echo "--cfg pilaster_small"; else echo "--cfg pilaster_small -Zemit-stack-sizes"; fi
}

# firmware_images ARGUMENT...: builds binaries of examples/images/firmware into the directory $images.
firmware_images() {
  images="$cross/thumbv7em-none-eabihf/release"
  RUSTFLAGS="$(thumb_flags)" cross_cargo core build --release --manifest-path examples/images/Cargo.toml \
    --target thumbv7em-none-eabihf -p firmware "$@"
}

# run_firmware IMAGE: runs it in QEMU; its exit status and output are those of the image. QEMU makes
# its output non-blocking, which must not be ours: hence `cat`.
run_firmware() {
  timeout 120 qemu-system-arm -machine mps2-an386 -nographic -monitor none -serial none \
    -semihosting-config enable=on,target=native -kernel "$1" </dev/null | cat
}
