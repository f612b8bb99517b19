#!/usr/bin/env bash
# ci/fuzz.sh [TARGET...] [SECONDS]: fuzzes the readers of files (fuzz/): each named target, or all, for SECONDS (default: 60).
# tests/fuzzed.rs runs the same entry points without a fuzzer, on every system.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

have c++ || not_run "there is no C++ compiler, which libFuzzer is built with"
seconds=60 targets=()
for argument in "$@"; do
  case $argument in
    *[!0-9]*) targets+=("$argument") ;;
    *) seconds=$argument ;;
  esac
done
[ ${#targets[@]} -gt 0 ] || targets=(matrix_yml results_json path_names recorded_answers_json corpus)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
# cargo-fuzz's arguments to rustc, as far as a stable compiler takes them: coverage, no sanitizer. The code is safe Rust.
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions"
triple=$(rustc -vV | sed -n 's/^host: //p')
# With --target, the flags do not apply to build scripts and macros.
cargo build --release --manifest-path fuzz/Cargo.toml --target "$triple"
for target in "${targets[@]}"; do
  if [ ! -e "fuzz/fuzz_targets/$target.rs" ]; then
    echo "there is no fuzz target $target: fuzz/fuzz_targets has them" >&2
    exit 2
  fi
  corpus=$CARGO_TARGET_DIR/corpus/$target
  mkdir -p "$corpus" "$CARGO_TARGET_DIR/artifacts"
  case $target in
    matrix_yml) cp matrix.yml "$corpus/good" ;;
    results_json) if [ -f pollmatrix-report/results.json ]; then cp pollmatrix-report/results.json "$corpus/good"; fi ;;
  esac
  "$CARGO_TARGET_DIR/$triple/release/$target" "$corpus" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$CARGO_TARGET_DIR/artifacts/$target-" -print_final_stats=1
done
