#!/usr/bin/env bash
# ci/inject.sh [SEED...]: runs scenarios with errors injected below the core's pollers, once per seed. Without seeds: seed 1 and two
# random ones.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

random() { od -An -N4 -tu4 /dev/urandom | tr -d ' '; }

seeds=("$@")
[ ${#seeds[@]} -gt 0 ] || seeds=(1 "$(random)" "$(random)")

# They cover each kind of system call, and each way in which a descriptor can end or move. `just run --layer contract --inject-errors` runs everything.
selection=(
  migration/idle-takeover migration/takeover-unread-data migration/group-round-trip migration/registration-left-behind
  deletion/disown deletion/cloned-dup deletion/undeclared-copy deletion/other-thread-in-handler deletion/slow-close
  shared-listener/accept-once shared-listener/stop-start-converge
  polling regression/changes-lost regression/child-closes regression/poller-leaked regression/send-bit
)
code=0
for seed in "${seeds[@]}"; do
  echo "seed $seed: pollmatrix run ${selection[*]} --layer contract --inject-errors=10 --seed $seed"
  cargo run --quiet -- run "${selection[@]}" --layer contract --inject-errors=10 --seed "$seed" \
    --report-dir "${CARGO_TARGET_DIR:-target}/injected-errors" || code=$?
done
exit "$code"
