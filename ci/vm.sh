#!/usr/bin/env bash
# ci/vm.sh vm:MACHINE: installs what the machine of vm/MACHINE.yml needs: the emulator, and the programs that get its kernel or its
# disk image. On a machine that exists for CI only, makes KVM available to every user.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

machine=${1:?usage: ci/vm.sh vm:MACHINE}
description=vm/${machine#vm:}.yml
[ -f "$description" ] || {
  echo "ci/vm.sh: there is no $description" >&2
  exit 2
}
value() { sed -n "s/^$1: //p" "$description"; }
case $(value emulator) in
  uml) need_packages linux.uml user-mode-linux ;;
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
    case $(value '    address') in
      '') need_packages xz xz-utils ;;
      *.xz) need_packages curl curl; need_packages xz xz-utils ;;
      *.gz) need_packages curl curl; need_packages gzip gzip ;;
      *.bz2) need_packages curl curl; need_packages bzip2 bzip2 ;;
      *.zst) need_packages curl curl; need_packages zstd zstd ;;
      *) need_packages curl curl ;;
    esac
    ;;
esac
if grep -q '/usr/aarch64-linux-gnu/lib' "$description" && [ ! -e /usr/aarch64-linux-gnu/lib/libc.so.6 ]; then
  need_packages '' libc6-arm64-cross libgcc-s1-arm64-cross
fi
if [ -n "${CI:-}" ] && [ -e /dev/kvm ] && [ ! -w /dev/kvm ] && sudo -n true 2>/dev/null; then sudo chmod 666 /dev/kvm; fi
# A machine of CI with another system than Debian takes Debian's archives from Debian's image; the keys are a package. Last: what is
# installed above is the system's own.
if [ -n "${CI:-}" ] && grep -q '^kernel:' "$description" && [ "$(value emulator)" = qemu ] && [ "$(sed -n 's/^ID=//p' /etc/os-release)" != debian ]; then
  need_packages '' debian-archive-keyring
  docker run --rm debian:bookworm-slim cat /etc/apt/sources.list.d/debian.sources |
    sudo tee /etc/apt/sources.list.d/debian.sources >/dev/null
fi
