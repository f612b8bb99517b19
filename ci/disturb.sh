#!/usr/bin/env bash
# ci/disturb.sh inject|late [SEED...]: runs contract cells under a disturbance, once per seed; the seeds are printed.
#   inject  scenarios with errors injected below the core's pollers. Without seeds: seed 1 and two random ones
#   late    a third of the cells with data that arrive late; the seed chooses the third, too. Without seeds: a random one
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

random() { od -An -N4 -tu4 /dev/urandom | tr -d ' '; }

disturbance=${1:?usage: ci/disturb.sh inject|late [SEED...]}
shift
case $disturbance in
  inject) [ $# -gt 0 ] || set -- 1 "$(random)" "$(random)" ;;
  late) [ $# -gt 0 ] || set -- "$(random)" ;;
  *)
    echo "ci/disturb.sh: unknown disturbance '$disturbance'; there are inject and late" >&2
    exit 2
    ;;
esac
code=0
for seed in "$@"; do
  case $disturbance in
    # They cover each kind of system call, and each way in which a descriptor can end or move. `pollmatrix run --layer contract
    # --inject-errors` runs everything.
    inject)
      arguments=(
        migration/idle-takeover migration/takeover-unread-data migration/group-round-trip migration/registration-left-behind
        deletion/disown deletion/cloned-dup deletion/undeclared-copy deletion/other-thread-in-handler deletion/slow-close
        shared-listener/accept-once shared-listener/stop-start-converge
        polling regression/changes-lost regression/child-closes regression/poller-leaked regression/send-bit
        --inject-errors=10
      )
      ;;
    late) arguments=(--late-data --shard "$((seed % 3 + 1))/3") ;;
  esac
  echo "seed $seed: pollmatrix run ${arguments[*]} --layer contract --seed $seed"
  cargo run --quiet -- run "${arguments[@]}" --layer contract --seed "$seed" \
    --report-dir "${CARGO_TARGET_DIR:-target}/disturbed-$disturbance" || code=$?
done
exit "$code"
