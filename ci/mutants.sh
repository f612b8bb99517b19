#!/usr/bin/env bash
# ci/mutants.sh [--unit] [FILE...]: mutates the core (or FILE...) with cargo-mutants. Runs the unit tests against each mutant, and the
# models against the survivors. Fails if a mutant survives both and crates/fd-core/mutants.tsv does not list it, or if a listed
# mutant does not survive. --unit: without the models. Takes hours; meant for a weekly job.
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
  files=("$core"/{shared/{context,task_queue},words/{group_word,state,state_word,update_list},worker/{apply,mod,refused,stale}}.rs)
  files+=("$core"/table/{fork,mod,moving,pin,registration,transition,update}.rs)
fi
only=()
for file in "${files[@]}"; do only+=(--file "$file"); done
work=${CARGO_TARGET_DIR:-target}/mutants

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
tail -n +2 crates/fd-core/mutants.tsv | cut -f1,2 | sort -u >"$listed"
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
