#!/usr/bin/env bash
# ci/targets.sh check|lint|link|executable|zig|tsan TARGET...: builds for another system, or with another standard library.
#   check  type-checks the workspace
#   lint   clippy over everything, tests and benches too; warnings are errors
#   link   links the pollmatrix executable, and the tests of the crates that call the kernel, with zig as the linker
#   executable  links the executable with the linker that CARGO_TARGET_..._LINKER names (ci/executable.sh sets it)
#   zig    links the executable with zig as the linker; statically, if the target is a musl
#   tsan   runs the core's and the backends' tests under ThreadSanitizer, and builds an executable that runs cells under it;
#          for the machine's own target
# Executables are release builds, unless POLLMATRIX_PROFILE is dev: these build in half the time and assert invariants.
# select_target in ci/lib.sh explains the source of the target's standard library.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

action=${1:?usage: ci/targets.sh check|lint|link|executable|zig|tsan TARGET...}
shift
profile=${POLLMATRIX_PROFILE:-release}
built=${profile/#dev/debug}
# A folder apart from the native builds: the environments differ, and each would invalidate the other's builds.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/cross

need_zig() {
  if have cargo-zigbuild; then return; fi
  have python3 || not_run "cargo-zigbuild is not installed, nor is python3 to install it with"
  python3 -m venv "$tools/venv"
  "$tools/venv/bin/pip" -q install ziglang==0.17.0 cargo-zigbuild==0.24.0
}

linked() { echo "linked: $CARGO_TARGET_DIR/$1 ($(wc -c <"$CARGO_TARGET_DIR/$1") bytes)"; }

# needs_freebsd_12_only EXECUTABLE: fails if it needs symbols of later versions, which have FBSD_1.7 and above. The standard library's are
# weak. zig's startup code, which is that of 14, calls __libc_start1: another linker's does not.
needs_freebsd_12_only() {
  local later
  have readelf || not_run "readelf is not installed (binutils)"
  later=$(readelf --dyn-syms --wide "$1" |
    awk '$5 == "GLOBAL" && $7 == "UND" && $8 ~ /@FBSD_1\.([7-9]|[1-9][0-9])/ && $8 !~ /^__libc_start1@/ { print $8 }')
  if [ -n "$later" ]; then
    echo "error: FreeBSD 12 lacks: ${later//$'\n'/, }" >&2
    exit 1
  fi
}

for name in "$@"; do
  echo "== $action $name"
  # A subshell: exports for one target must not reach the next.
  (
    # A sanitizer needs an instrumented standard library.
    if [ "$action" = tsan ]; then select_target "$name" '' always; else select_target "$name" ''; fi
    case $action in
      check) cargo check --workspace "${for_target[@]}" ;;
      lint)
        cargo clippy --workspace --all-targets "${for_target[@]}" -- -D warnings
        cargo clippy --locked --manifest-path proofs/Cargo.toml --workspace --all-targets "${for_target[@]}" -- -D warnings
        ;;
      link)
        need_zig
        # Nothing runs it: no line numbers, and no crate optimised.
        export CARGO_PROFILE_DEV_DEBUG=0
        for crate in sha2 pollmatrix-raw granit-parser serde-saphyr; do
          for_target+=(--config "profile.dev.package.$crate.opt-level=0")
        done
        cargo-zigbuild build --bin pollmatrix "${for_target[@]}"
        cargo-zigbuild test --no-run --lib --tests -p pollmatrix-fd-core -p pollmatrix-poller-kqueue -p pollmatrix-poller-poll -p pollmatrix-poller-select -p pollmatrix-matrix \
          "${for_target[@]}"
        linked "$name/debug/pollmatrix"
        case $name in *-freebsd) needs_freebsd_12_only "$CARGO_TARGET_DIR/$name/debug/pollmatrix" ;; esac
        ;;
      executable)
        cargo build --profile "$profile" --bin pollmatrix "${for_target[@]}"
        linked "$name/$built/pollmatrix"
        ;;
      zig)
        need_zig
        # zig has its own C library; linking two fails.
        case $name in *-musl) export RUSTFLAGS="-C link-self-contained=no" ;; esac
        cargo-zigbuild build --profile "$profile" --bin pollmatrix "${for_target[@]}"
        linked "$name/$built/pollmatrix"
        ;;
      tsan)
        export RUSTFLAGS=-Zsanitizer=thread CARGO_TARGET_DIR=$CARGO_TARGET_DIR/tsan
        # rustdoc does not build doctests with the flags.
        cargo test --lib --tests -p pollmatrix-fd-core -p pollmatrix-poller-epoll -p pollmatrix-poller-poll -p pollmatrix-poller-select -p pollmatrix-scenarios "${for_target[@]}"
        cargo build --bin pollmatrix "${for_target[@]}"
        linked "$name/debug/pollmatrix"
        ;;
      *)
        echo "ci/targets.sh: unknown action '$action'" >&2
        exit 2
        ;;
    esac
  )
done
