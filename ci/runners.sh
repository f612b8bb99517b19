#!/usr/bin/env bash
# ci/runners.sh all|prefix|container|ssh|uml|vm [OPTION...]: runs cells by a runner that is not native, with the means of this machine:
#   all        the whole matrix on every target that this machine can run, in one report (pollmatrix-report): builds the executable of
#              every target that can be built here, and installs emulators and libraries for them. `--resume` continues an interrupted
#              run, `--filter '*-2t1g@*'` runs a part. A target that cannot be built or run is in the report with the reason
#   prefix     big-endian s390x under qemu-user
#   container  statically linked in a container FROM scratch
#   ssh        on this machine, through an sshd that is started for it
#   uml        in user-mode Linux, and a test that boots it
#   vm         in qemu on Debian's Linux 6.1: a smaller part, about two minutes under software emulation
# Options go to `pollmatrix run`; without options, all but the first run a part of the matrix. Executables for other targets assert
# invariants, unless POLLMATRIX_PROFILE=release; those of `all` do not.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

runner=${1:?usage: ci/runners.sh all|prefix|container|ssh|uml|vm [OPTION...]}
shift

# try COMMAND...: runs a command that may fail. Sets `why` to the reason, or to nothing.
try() {
  local code=0
  why=
  : >"$reason"
  CI_REASON_FILE=$reason "$@" || code=$?
  case $code in
    0) ;;
    77) why=$(cat "$reason") ;;
    *)
      why="failed ($code): $*"
      echo "ci/runners.sh all: $why; continuing without it" >&2
      ;;
  esac
}

all() {
  reason=$(mktemp)
  trap 'rm -f "$reason"' EXIT
  # Options that name the targets without an executable, for the report.
  not_run=()
  cargo build --release --bin pollmatrix
  while IFS=$'\t' read -r id _ build linker; do
    case $build in
      host | check) continue ;;
    esac
    echo "== $id"
    try ci/executable.sh "$id" </dev/null
    if [ -n "$why" ]; then
      not_run+=(--not-run "$id=not built ($why)")
      continue
    fi
    if [ "$linker" != - ]; then try ci/setup.sh emulator "$id" </dev/null; fi
  done <ci/targets.tsv
  for description in vm/*.yml; do
    machine=${description#vm/}
    try ci/setup.sh machine "${machine%.yml}" </dev/null
    [ -z "$why" ] || echo "== vm:${machine%.yml}: $why"
  done
  engine=${CONTAINER:-docker}
  if have "$engine" && "$engine" info >/dev/null 2>&1 && [ -z "${POLLMATRIX_BASE:-}" ]; then
    # For machines without a registry. An image that exists is used.
    "$engine" image inspect pollmatrix-base >/dev/null 2>&1 || try ci/setup.sh image
  fi
  rm -f "$reason"
  exec "${CARGO_TARGET_DIR:-target}/release/pollmatrix" run --target all ${not_run[@]+"${not_run[@]}"} "$@"
}

if [ "$runner" = all ]; then all "$@"; fi

export POLLMATRIX_PROFILE=${POLLMATRIX_PROFILE:-dev}
if [ $# -eq 0 ]; then
  shard=1/8
  case $runner in uml | vm) shard=1/32 ;; esac
  set -- --filter '*-2t?g@*' --shard "$shard"
fi
folder=${CARGO_TARGET_DIR:-target}

# prepare SCRIPT ARGUMENT...: ends this script with the reason if the other one cannot run here.
prepare() {
  local code=0
  "$@" || code=$?
  if [ "$code" = 77 ]; then not_run "$(cat "${CI_REASON_FILE:-/dev/null}")"; fi
  [ "$code" = 0 ] || exit "$code"
}

# in_vm MACHINE TARGET OPTION...: runs cells in a virtual machine, if it can run here.
in_vm() {
  local machine=$1 target=$2 missing
  shift 2
  prepare ci/setup.sh machine "$machine"
  missing=$("$folder/debug/pollmatrix" list --targets | sed -n "s/^.*vm:$machine  *missing: //p")
  [ -z "$missing" ] || not_run "$missing"
  missing=$("$folder/debug/pollmatrix" run --runner "vm:$machine" --vm fetch 2>&1) ||
    not_run "no kernel for $machine: $(tail -n 2 <<<"$missing" | head -n 1)"
  run --target "$target" --runner vm "$@"
}

run() { "$folder/debug/pollmatrix" run --report-dir "$folder/runners/$runner" "$@"; }

cargo build --bin pollmatrix
case $runner in
  prefix)
    prepare ci/executable.sh s390x-linux-gnu
    prepare ci/setup.sh emulator s390x-linux-gnu
    run --target s390x-linux-gnu --runner prefix "$@"
    ;;
  container)
    engine=${CONTAINER:-docker}
    # On a machine that exists for CI only, start an engine for the time of this script. Others are left alone.
    if ! "$engine" info >/dev/null 2>&1 && [ "$engine${CI:+ for CI}" = 'docker for CI' ] && [ "$(id -u)" = 0 ]; then
      need_packages dockerd docker.io
      dockerd >"$folder/dockerd.log" 2>&1 &
      dockerd=$!
      trap 'kill "$dockerd" 2>/dev/null && wait "$dockerd" || true' EXIT
      for _ in {1..50}; do
        if docker info >/dev/null 2>&1 || ! kill -0 "$dockerd" 2>/dev/null; then break; fi
        sleep 0.2
      done
    fi
    have "$engine" || not_run "$engine is not installed"
    "$engine" info >/dev/null 2>&1 || not_run "no container engine answers ($engine info)"
    prepare ci/executable.sh x86_64-linux-musl
    run --target x86_64-linux-musl --runner container "$@"
    # The image of a release.
    context=$(mktemp -d)
    cp "$folder/cross/x86_64-unknown-linux-musl/${POLLMATRIX_PROFILE/#dev/debug}/pollmatrix" "$context"
    ci/release.sh image x86_64-unknown-linux-musl "$context"
    rm -r "$context"
    # The pods of docker/job.yml, as unprivileged containers.
    CONTAINER=$engine cargo test -p pollmatrix --test end_to_end -- --ignored in_a_container
    ;;
  ssh)
    need_packages sshd openssh-server
    need_packages ssh openssh-client
    have python3 || not_run "python3 is not installed"
    home=$(mktemp -d)
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    ssh-keygen -q -t ed25519 -N '' -f "$home/host"
    ssh-keygen -q -t ed25519 -N '' -f "$home/user"
    cp "$home/user.pub" "$home/authorized"
    printf '%s\n' "Port $port" 'ListenAddress 127.0.0.1' "HostKey $home/host" "AuthorizedKeysFile $home/authorized" \
      'StrictModes no' 'UsePAM no' "PidFile $home/pid" >"$home/config"
    # Debian's sshd requires this folder.
    if [ "$(id -u)" = 0 ]; then mkdir -p /run/sshd; fi
    "$(command -v sshd || echo /usr/sbin/sshd)" -D -f "$home/config" &
    sshd=$!
    trap 'kill "$sshd" 2>/dev/null || true; rm -rf "$home"' EXIT
    ssh="ssh -i $home/user -p $port -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=$home/known -o LogLevel=ERROR"
    let_in=
    for _ in {1..50}; do
      if $ssh 127.0.0.1 true 2>"$home/said"; then
        let_in=yes
        break
      fi
      sleep 0.2
    done
    [ "$let_in" ] || not_run "cannot log in to this machine by ssh: $(tail -n 1 "$home/said")"
    run --runner ssh --host 127.0.0.1 --ssh "$ssh" "$@"
    ;;
  uml)
    in_vm uml x86_64-linux-gnu-uml "$@"
    cargo test -p pollmatrix --test end_to_end -- --ignored a_real_kernel_boots
    ;;
  vm) in_vm debian-6-1 x86_64-linux-gnu-6-1 "$@" ;;
  *)
    echo "ci/runners.sh: unknown runner '$runner'; there are all, prefix, container, ssh, uml and vm" >&2
    exit 2
    ;;
esac
