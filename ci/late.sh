#!/usr/bin/env bash
# ci/late.sh [SEED...]: runs a third of the contract cells with data that arrive late, once per seed. The seed chooses the third, too.
# Without seeds: a random one.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

seeds=("$@")
[ ${#seeds[@]} -gt 0 ] || seeds=("$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')")

code=0
for seed in "${seeds[@]}"; do
  third=$((seed % 3 + 1))/3
  echo "seed $seed: pollmatrix run --layer contract --late-data --shard $third --seed $seed"
  cargo run --quiet -- run --layer contract --late-data --shard "$third" --seed "$seed" \
    --report-dir "${CARGO_TARGET_DIR:-target}/late-data" || code=$?
done
exit "$code"
