# shellcheck shell=bash
# Shared by the scripts of this folder, which source it. Changes the working directory to the top of the tree.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# The only folder into which ci/setup.sh installs programs.
tools=${CARGO_TARGET_DIR:-$PWD/target}/ci-tools
PATH=$tools/bin:$tools/venv/bin:$PATH
export PATH

have() { command -v "$1" >/dev/null 2>&1; }

# need_packages PROGRAM PACKAGE...: installs Debian packages unless PROGRAM exists.
need_packages() {
  local program=$1 root=()
  shift
  if [ -n "$program" ] && have "$program"; then return; fi
  have apt-get || not_run "please install: $*"
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || not_run "please install: $*"
    root=(sudo)
  fi
  local apt=("${root[@]+"${root[@]}"}" env DEBIAN_FRONTEND=noninteractive apt-get -qq)
  # An installation that was interrupted, such as by a full disk, makes every later one fail.
  "${apt[@]}" check >/dev/null 2>&1 || "${apt[@]}" install -y --fix-broken --no-install-recommends || true
  if ! "${apt[@]}" update || ! "${apt[@]}" install -y --no-install-recommends "$@"; then
    not_run "apt-get cannot install: $*"
  fi
}

# select_matrix_target ID: sets triple, build and linker to the values of a target in matrix.yml.
select_matrix_target() {
  local id
  # shellcheck disable=SC2034  # the caller uses them
  while IFS=$'\t' read -r id triple build linker; do
    if [ "$id" = "$1" ]; then return; fi
  done <ci/targets.tsv
  echo "matrix.yml has no target '$1'; it has: $(cut -f1 ci/targets.tsv | tr '\n' ' ')" >&2
  exit 2
}

# A file to source for an environment that builds a target's standard library from source; empty if there is none.
cross_env=${POLLMATRIX_CROSS_ENV:-../shared/tools/cross-env.sh}
if [ -f "$cross_env" ]; then cross_env=$(realpath "$cross_env"); else cross_env=; fi

# installed TRIPLE: succeeds if the toolchain has the target's standard library.
installed() { [ -n "$(ls "$(rustc --print target-libdir --target "$1")" 2>/dev/null)" ]; }

# need_standard_library TRIPLE: ends the script if the library is missing, before anything is installed in vain.
need_standard_library() {
  if installed "$1" || [ -n "$cross_env" ]; then return; fi
  [ -e "$(rustc --print sysroot)/lib/rustlib/src/rust/library/std/Cargo.toml" ] ||
    not_run "no standard library for $1 (rustup target add $1, or rustup component add rust-src)"
}

# select_target TARGET CRATES [always]: sets `for_target`, cargo's arguments that select it. Its standard library is, in this order:
# the installed one (`rustup target add TARGET`), unless it must be built always; CRATES of it (core; all if empty), built from
# source in the environment that the file named by POLLMATRIX_CROSS_ENV sets up (default: ../shared/tools/cross-env.sh, if
# there); the same, built from the rust-src component, if installed. It never makes rustup download anything.
# Call it in a subshell: its exports for one target must not reach the next.
select_target() {
  for_target=(--target "$1")
  need_standard_library "$1"
  if [ "${3:-}" != always ] && installed "$1"; then return; fi
  for_target+=("-Zbuild-std${2:+=$2}")
  if [ -n "$cross_env" ]; then enter_cross_env; else export RUSTC_BOOTSTRAP=1; fi
}

# A function, because the sourced file must not see the script's arguments.
enter_cross_env() {
  # shellcheck source=/dev/null
  . "$cross_env"
}

# debian_architecture LINKER: prints Debian's name of the processor that a cross gcc links for.
debian_architecture() {
  case $1 in
    aarch64-*) echo arm64 ;;
    arm-*hf-gcc) echo armhf ;;
    i686-*) echo i386 ;;
    *) echo "${1%%-*}" ;;
  esac
}

# not_run REASON: ends the script with the exit code for "not run", 77 (as automake's tests do).
not_run() {
  echo "not run: $*"
  if [ -n "${CI_REASON_FILE:-}" ]; then echo "$*" >"$CI_REASON_FILE"; fi
  exit 77
}
