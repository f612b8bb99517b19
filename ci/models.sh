#!/usr/bin/env bash
# ci/models.sh [--full] [--mixes] [FILTER]: runs the models of the protocol: the real code under every interleaving within a bound
# (loom), and larger mixes in random orders (shuttle). Then switches on every fault of a model, and requires that the model fails. Prints tables.
#   --full   greater bounds, more random schedules
#   --mixes  the mixes only
# FD_CORE_WEAKEN=FAULT switches one fault on; FD_CORE_MODEL_SCHEDULE=… repeats one schedule of a mix.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

full='' exhaustive=1 filter=''
for argument in "$@"; do
  case $argument in
    --full) full=1 ;;
    --mixes) exhaustive='' ;;
    *) filter=$argument ;;
  esac
done

target=${CARGO_TARGET_DIR:-target}
FD_CORE_MODEL_TABLE=$(mktemp)
export FD_CORE_MODEL_TABLE
trap 'rm -f "$FD_CORE_MODEL_TABLE"' EXIT

# run CFG ARGUMENT...: runs the models of one checker, with the core's invariants asserted. A target folder of its own, because the
# flag would rebuild the native builds.
run() {
  local cfg=$1
  shift
  CARGO_TARGET_DIR=$target/$cfg RUSTFLAGS="--cfg $cfg -Dwarnings" cargo test --release -p pollmatrix-fd-core --lib --features faults,invariants \
    --config 'profile.release.package.pollmatrix-fd-core.debug-assertions=true' -- "${filter:-models::}" "$@"
}

status=0
if [ -n "$full" ]; then
  export FD_CORE_MODELS_FULL=1 FD_CORE_MODEL_ITERATIONS=${FD_CORE_MODEL_ITERATIONS:-20000}
fi
if [ -n "$exhaustive" ]; then run loom || status=$?; fi
run shuttle || status=$?

printf '\n%-36s %7s  %-15s %10s  %s\n' model threads bound iterations result
grep -v '^weakened' "$FD_CORE_MODEL_TABLE" | sort | while IFS=$'\t' read -r model threads bound iterations result; do
  printf '%-36s %7s  %-15s %10s  %s\n' "$model" "$threads" "$bound" "$iterations" "$result"
done
if grep -q '^weakened' "$FD_CORE_MODEL_TABLE"; then
  printf '\n%-30s %-44s %s\n' broken model 'what it says'
  grep '^weakened' "$FD_CORE_MODEL_TABLE" | while IFS=$'\t' read -r _ rule model said; do
    printf '%-30s %-44s %s\n' "$rule" "$model" "$said"
  done
fi
exit "$status"
