# shellcheck shell=bash
# What the scripts in this folder share. Sourced: it moves to the top of the tree.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# Programs that ci/setup.sh builds or unpacks go here and nowhere else.
tools=${CARGO_TARGET_DIR:-$PWD/target}/ci-tools
PATH=$tools/bin:$tools/venv/bin:$PATH
export PATH

have() { command -v "$1" >/dev/null 2>&1; }

# need_packages PROGRAM PACKAGE...: Debian packages, unless PROGRAM is there.
need_packages() {
  local program=$1 root=()
  shift
  if [ -n "$program" ] && have "$program"; then return; fi
  have apt-get || not_run "please install: $*"
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || not_run "please install: $*"
    root=(sudo)
  fi
  if ! "${root[@]+"${root[@]}"}" apt-get -qq update ||
    ! "${root[@]+"${root[@]}"}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"; then
    not_run "apt-get cannot install: $*"
  fi
}

# select_matrix_target ID: sets triple, build and linker to what matrix.yml says of a target.
select_matrix_target() {
  local id
  # shellcheck disable=SC2034  # they are for the caller
  while IFS=$'\t' read -r id triple build linker; do
    if [ "$id" = "$1" ]; then return; fi
  done <ci/targets.tsv
  echo "matrix.yml has no target '$1'; it has: $(cut -f1 ci/targets.tsv | tr '\n' ' ')" >&2
  exit 2
}

# A file that sets up an environment in which a target's standard library is built from source; empty without one.
cross_env=${POLLMATRIX_CROSS_ENV:-../shared/tools/cross-env.sh}
if [ -f "$cross_env" ]; then cross_env=$(realpath "$cross_env"); else cross_env=; fi

# installed TRIPLE: whether the toolchain has the target's standard library.
installed() { [ -n "$(ls "$(rustc --print target-libdir --target "$1")" 2>/dev/null)" ]; }

# need_standard_library TRIPLE: looked for before anything is installed for its sake.
need_standard_library() {
  if installed "$1" || [ -n "$cross_env" ]; then return; fi
  [ -e "$(rustc --print sysroot)/lib/rustlib/src/rust/library/std/Cargo.toml" ] ||
    not_run "no standard library for $1 (rustup target add $1, or rustup component add rust-src)"
}

# select_target TARGET CRATES [always]: sets `for_target`, cargo's arguments that select it. Its standard library is, in this order:
# the installed one (`rustup target add TARGET`), unless it must be built always; CRATES of it (core; all if empty), built from
# source in the environment that the file named by POLLMATRIX_CROSS_ENV sets up (default: ../shared/tools/cross-env.sh, if
# there); the same, built from the rust-src component, if installed. It never makes rustup download anything.
# To be called in a subshell: what it exports for one target must not reach the next.
select_target() {
  for_target=(--target "$1")
  need_standard_library "$1"
  if [ "${3:-}" != always ] && installed "$1"; then return; fi
  for_target+=("-Zbuild-std${2:+=$2}")
  if [ -n "$cross_env" ]; then enter_cross_env; else export RUSTC_BOOTSTRAP=1; fi
}

# No arguments: the sourced file would see ours.
enter_cross_env() {
  # shellcheck source=/dev/null
  . "$cross_env"
}

# debian_architecture LINKER: what Debian calls the processor that a cross gcc links for.
debian_architecture() {
  case $1 in
    aarch64-*) echo arm64 ;;
    arm-*hf-gcc) echo armhf ;;
    i686-*) echo i386 ;;
    *) echo "${1%%-*}" ;;
  esac
}

# not_run REASON: leave, saying that nothing was proven. 77 is the exit code for it (as in automake).
not_run() {
  echo "not run: $*"
  if [ -n "${CI_REASON_FILE:-}" ]; then echo "$*" >"$CI_REASON_FILE"; fi
  exit 77
}
