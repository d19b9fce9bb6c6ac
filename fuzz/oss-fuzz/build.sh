#!/usr/bin/env bash
# Builds every target for a service: programs, seeds and dictionaries go to $OUT. `cargo fuzz` reads the sanitizer and the
# flags of the service from the environment. Names as arguments choose targets.
set -euo pipefail
cd "${SRC:?}/pilaster"
# The image names its nightly toolchain; else the pinned stable one would be used.
export RUSTUP_TOOLCHAIN="${RUSTUP_TOOLCHAIN:-nightly}"
: "${OUT:?}"
for name in "${@:-}"; do
  cargo fuzz build -O --debug-assertions ${SANITIZER:+--sanitizer "$SANITIZER"} ${name:+"$name"}
done
programs="fuzz/target/$(rustc -vV | sed -n 's/^host: //p')/release"
for target in fuzz/fuzz_targets/*.rs; do
  name=$(basename -s .rs "$target")
  [ -x "$programs/$name" ] || continue
  cp "$programs/$name" "$OUT/"
  [ ! -d "fuzz/corpus-seed/$name" ] || (cd "fuzz/corpus-seed/$name" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
  [ ! -f "fuzz/dictionaries/${name%%_*}.dict" ] || cp "fuzz/dictionaries/${name%%_*}.dict" "$OUT/$name.dict"
  printf '[libfuzzer]\nmax_len = 4096\nrss_limit_mb = 1024\ntimeout = 10\n' >"$OUT/$name.options"
done
