#!/usr/bin/env bash
# ci/mutants.sh [--unit] [FILE...]: mutates the core (or FILE...) with cargo-mutants. The unit tests run against each mutant; against what
# survives them, the models. Fails if a mutant survives both that crates/fd-core/mutants.tsv does not list, or if one is listed that
# does not survive. --unit: without the models. Hours; for a weekly job.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

have cargo-mutants || not_run "cargo-mutants is not installed: cargo install cargo-mutants"
core=crates/fd-core/src
models=1
if [ "${1:-}" = --unit ]; then
  models=''
  shift
fi
files=("$@")
if [ ${#files[@]} -eq 0 ]; then
  files=("$core"/{shared/{context,task_queue},words/{group_word,state,update_list},worker/{apply,mod,refused,stale}}.rs)
  files+=("$core"/table/{fork,mod,moving,pin,registration,update}.rs)
fi
only=()
for file in "${files[@]}"; do only+=(--file "$file"); done
work=${CARGO_TARGET_DIR:-target}/mutants

# mutate FOLDER ARGUMENT...: survivors, one a line without their columns, go to FOLDER/survivors.
mutate() {
  local folder=$work/$1 code=0
  shift
  rm -rf "$folder"
  cargo mutants --package fd-core --output "$folder" --no-shuffle "$@" || code=$?
  # 2: some survive, 3: some tests hang. Both are results.
  case $code in 0 | 2 | 3) ;; *) exit "$code" ;; esac
  by_text <"$folder/mutants.out/missed.txt" | sort -u >"$folder/survivors"
}

# by_text: for each FILE:LINE:COLUMN: MUTANT, FILE: MUTANT and the text of the line, which moves less than its number. The hooks are macro
# calls, which cargo-mutants leaves alone: none of these is in a mistake.
by_text() {
  local file line _ mutant text
  while IFS=: read -r file line _ mutant; do
    text=$(sed -n "${line}p" "$file")
    printf '%s\t%s\n' "${file##*/src/}:$mutant" "${text#"${text%%[![:space:]]*}"}"
  done
}

mutate unit "${only[@]}" --timeout 60 -- --lib --test runtime
survivors=$work/unit/survivors
if [ -n "$models" ] && [ -s "$survivors" ]; then
  again=()
  while IFS=$'\t' read -r mutant _; do
    again+=(--re "$(printf '%s' "${mutant#*: }" | sed 's/[][\.*^$+?(){}|]/\\&/g')")
  done <"$survivors"
  # --lib for the build, too: the other tests are no models, and do not build with them.
  RUSTFLAGS='--cfg loom' mutate models "${only[@]}" "${again[@]}" --timeout 600 --features faults,invariants --cargo-arg=--release \
    --cargo-arg=--lib -- models::
  comm -12 "$survivors" "$work/models/survivors" >"$work/survivors"
else
  cp "$survivors" "$work/survivors"
fi
listed=$work/listed
tail -n +2 crates/fd-core/mutants.tsv | cut -f1,2 | sort -u >"$listed"
echo "survivors: $(wc -l <"$work/survivors"), listed as equivalent: $(wc -l <"$listed")"
status=0
comm -23 "$work/survivors" "$listed" | sed 's/^/SURVIVES: /' | tee "$work/new"
if [ -s "$work/new" ]; then status=1; fi
# A part of the files, or the unit tests alone, says nothing of the rest of the list.
if [ $# -eq 0 ] && [ -n "$models" ]; then
  comm -13 "$work/survivors" "$listed" | sed 's/^/LISTED, BUT KILLED OR GONE: /' | tee "$work/old"
  if [ -s "$work/old" ]; then status=1; fi
fi
exit "$status"
