#!/usr/bin/env bash
# ci/msrv.sh [dependencies] [toolchain]: checks the oldest supported compiler (rust-version in Cargo.toml).
#   dependencies  no locked dependency requires a newer compiler
#   toolchain     that compiler checks the workspace, if it is installed; this downloads nothing
# clippy's incompatible_msrv finds calls to a newer standard library (ci/lint.sh clippy).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

dependencies() {
  have python3 || not_run "python3 is not installed"
  cargo metadata --format-version 1 --locked | python3 -c '
import json, sys

def version(text):
    return tuple(int(part) for part in (text + ".0.0").split("-")[0].split(".")[:3])

metadata = json.load(sys.stdin)
members = set(metadata["workspace_members"])
ours = min(p["rust_version"] for p in metadata["packages"] if p["id"] in members)
others = [p for p in metadata["packages"] if p["id"] not in members]
newer = [p for p in others if version(p["rust_version"] or "0") > version(ours)]
for p in newer:
    print("error: {name} {version} needs Rust {rust_version}".format(**p) + f", this workspace promises {ours}")
unsaid = sum(p["rust_version"] is None for p in others)
print(f"{len(others)} dependencies: {len(newer)} newer than Rust {ours}, {unsaid} declare none")
sys.exit(bool(newer))
'
}

toolchain() {
  local oldest
  oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  have rustup || not_run "no rustup, so no toolchain $oldest"
  # rustup fetches a missing toolchain when it is named.
  local name
  name=$(rustup toolchain list | sed -n "s/^\(${oldest}[.0-9]*-[^ ]*\).*/\1/p" | head -n 1)
  [ -n "$name" ] || not_run "toolchain $oldest is not installed"
  cargo "+$name" check --workspace --all-targets --locked
}

[ $# -gt 0 ] || set -- dependencies toolchain
for part in "$@"; do
  case $part in
    dependencies | toolchain) "$part" ;;
    *)
      echo "ci/msrv.sh: unknown part '$part'" >&2
      exit 2
      ;;
  esac
done
