#!/usr/bin/env bash
# ci/nightly.sh WORD [ARGUMENT...]: checks that need another compiler, or hours.
#   tsan [OPTION...]  the core's tests and cells of the matrix under ThreadSanitizer. A data race fails a test, or breaks a cell.
#                     Options go to `pollmatrix run`; without options, it runs the cells with two threads
#   miri [FILTER]     the unit tests of the table and its parts under Miri, which checks unsafe code against the rules of the language
#   mutants [--unit] [FILE...]  mutates the core (or FILE...) with cargo-mutants. Runs the unit tests against each mutant, and the models
#                     against the survivors (--unit: without the models). Fails if a mutant survives both and crates/core/fd-core/mutants.tsv
#                     does not list it, or if a listed mutant does not survive. Takes hours; meant for a weekly job
#   fuzz [TARGET...] [SECONDS]  fuzzes the readers of files (fuzz/): each named target, or all, for SECONDS (default: 60). tests/fuzzed.rs
#                     runs the same entry points without a fuzzer, on every system
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

word=${1:?usage: ci/nightly.sh tsan|miri|mutants|fuzz [ARGUMENT...]}
shift

tsan() {
  [ $# -gt 0 ] || set -- --filter '*-2t?g@*'
  triple=$(rustc -vV | sed -n 's/^host: //p')
  # Scenarios fork while threads exist; their children only make system calls.
  export TSAN_OPTIONS="halt_on_error=1 exitcode=66 die_after_fork=0 ${TSAN_OPTIONS:-}"
  # Under the sanitizer, looking up the function names of a panic in debug information takes minutes.
  export RUST_BACKTRACE=0
  ci/targets.sh tsan "$triple"
  folder=${CARGO_TARGET_DIR:-target}/cross/tsan
  "$folder/$triple/debug/pollmatrix" run --slow 10 --report-dir "$folder/report" "$@"
}

miri() {
  cargo miri --version >/dev/null 2>&1 || not_run "Miri is not installed: rustup +nightly component add miri rust-src, then cargo +nightly miri"
  filters=("$@")
  [ $# -gt 0 ] || filters=(table:: group_word:: update_list:: task_queue:: context:: core::)
  # The tests open files and need real descriptor numbers.
  export MIRIFLAGS="-Zmiri-disable-isolation ${MIRIFLAGS:-}"
  cargo miri test -p pollmatrix-fd-core --lib -- "${filters[@]}"
}

# mutate FOLDER ARGUMENT...: writes the survivors to FOLDER/survivors, one a line, without their columns.
mutate() {
  local folder=$work/$1 code=0
  shift
  rm -rf "$folder"
  mkdir -p "$work"
  cargo mutants --package pollmatrix-fd-core --output "$folder" --no-shuffle "$@" || code=$?
  # 2: some survive, 3: some tests hang. Both are results.
  case $code in 0 | 2 | 3) ;; *) exit "$code" ;; esac
  by_text <"$folder/mutants.out/missed.txt" | sort -u >"$folder/survivors"
}

# by_text: turns each FILE:LINE:COLUMN: MUTANT into FILE: MUTANT and the text of the line, which is more stable than its number.
# cargo-mutants does not mutate macro calls, so no mutant is inside a hook.
by_text() {
  local file line _ mutant text
  while IFS=: read -r file line _ mutant; do
    text=$(sed -n "${line}p" "$file")
    printf '%s\t%s\n' "${file##*/src/}:$mutant" "${text#"${text%%[![:space:]]*}"}"
  done
}

mutants() {
  have cargo-mutants || not_run "cargo-mutants is not installed: cargo install cargo-mutants"
  core=crates/core/fd-core/src
  models=1
  if [ "${1:-}" = --unit ]; then
    models=''
    shift
  fi
  files=("$@")
  if [ ${#files[@]} -eq 0 ]; then
    files=("$core"/{shared/{context,task_queue},words/{group_word,state,state_word,update_list},worker/{apply,mod,refused,stale}}.rs)
    files+=("$core"/table/{fork,mod,moving,pin,registration,transition,update}.rs)
  fi
  only=()
  for file in "${files[@]}"; do only+=(--file "$file"); done
  work=${CARGO_TARGET_DIR:-target}/mutants
  mutate unit "${only[@]}" --timeout 60 -- --lib --test runtime
  survivors=$work/unit/survivors
  if [ -n "$models" ] && [ -s "$survivors" ]; then
    again=()
    while IFS=$'\t' read -r mutant _; do
      again+=(--re "$(printf '%s' "${mutant#*: }" | sed 's/[][\.*^$+?(){}|]/\\&/g')")
    done <"$survivors"
    # --lib for the build, too: the other tests do not build under loom.
    RUSTFLAGS='--cfg loom' mutate models "${only[@]}" "${again[@]}" --timeout 600 --features faults,invariants --cargo-arg=--release \
      --cargo-arg=--lib -- models::
    comm -12 "$survivors" "$work/models/survivors" >"$work/survivors"
  else
    cp "$survivors" "$work/survivors"
  fi
  listed=$work/listed
  tail -n +2 crates/core/fd-core/mutants.tsv | cut -f1,2 | sort -u >"$listed"
  echo "survivors: $(wc -l <"$work/survivors"), listed as equivalent: $(wc -l <"$listed")"
  status=0
  comm -23 "$work/survivors" "$listed" | sed 's/^/SURVIVES: /' | tee "$work/new"
  if [ -s "$work/new" ]; then status=1; fi
  # The rest of the list applies only to a run over all files with the models.
  if [ $# -eq 0 ] && [ -n "$models" ]; then
    comm -13 "$work/survivors" "$listed" | sed 's/^/LISTED, BUT KILLED OR GONE: /' | tee "$work/old"
    if [ -s "$work/old" ]; then status=1; fi
  fi
  exit "$status"
}

fuzz() {
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
}

case $word in
  tsan | miri | mutants | fuzz) "$word" "$@" ;;
  *)
    echo "ci/nightly.sh: unknown word '$word'; there are tsan, miri, mutants and fuzz" >&2
    exit 2
    ;;
esac
