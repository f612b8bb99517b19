#!/usr/bin/env bash
# ci/release.sh WORD [ARGUMENT...]: what a release must hold.
#   msrv-dependencies  no locked dependency requires a newer compiler than rust-version in Cargo.toml
#   msrv-toolchain     that compiler checks the workspace, if it is installed; this downloads nothing.
#                      clippy's incompatible_msrv finds calls to a newer standard library (ci/lint.sh clippy)
#   deny [CHECK...]    cargo-deny's checks of licences, banned crates and sources (deny.toml). Advisories only on request
#                      (`deny advisories`): they need a database from the network, and change without a change here
#   publish [--execute]  packages every crate that is published, in the order of their dependencies, and builds each from its package
#                      alone. With --execute, uploads them, too
#   semver [COMMIT]    cargo-semver-checks for the libraries that other programs use: does the version in Cargo.toml allow the changes
#                      since COMMIT (default: origin/main)?
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

word=${1:?usage: ci/release.sh msrv-dependencies|msrv-toolchain|deny|publish|semver [ARGUMENT...]}
shift
case $word in
  msrv-dependencies)
    have python3 || not_run "python3 is not installed"
    for manifest in Cargo.toml proofs/Cargo.toml; do
      cargo metadata --format-version 1 --locked --manifest-path "$manifest" | python3 -c '
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
    done
    ;;
  msrv-toolchain)
    oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    have rustup || not_run "no rustup, so no toolchain $oldest"
    # rustup fetches a missing toolchain when it is named.
    name=$(rustup toolchain list | sed -n "s/^\(${oldest}[.0-9]*-[^ ]*\).*/\1/p" | head -n 1)
    [ -n "$name" ] || not_run "toolchain $oldest is not installed"
    cargo "+$name" check --workspace --all-targets --locked
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/proofs \
      cargo "+$name" check --workspace --all-targets --locked --manifest-path proofs/Cargo.toml
    ;;
  deny)
    have cargo-deny || not_run "cargo-deny is not installed (ci/setup.sh installs it)"
    [ $# -gt 0 ] || set -- licenses bans sources
    for manifest in Cargo.toml proofs/Cargo.toml; do
      cargo deny --locked --workspace --manifest-path "$manifest" --config deny.toml check "$@"
    done
    ;;
  publish)
    dry_run=(--dry-run)
    case ${1:-} in
      '') ;;
      --execute) dry_run=() ;;
      *)
        echo "ci/release.sh publish: unknown option '$1'; there is --execute" >&2
        exit 2
        ;;
    esac
    # A check may run beside uncommitted changes; an upload may not.
    [ ${#dry_run[@]} -eq 0 ] || dry_run+=(--allow-dirty)
    # cargo tells packages of one version apart neither in its home, where it unpacks them, nor in a target folder: without this, a
    # crate is built with what the others were when this ran last.
    target=${CARGO_TARGET_DIR:-target}/publish
    rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/pollmatrix-* "$target"/debug/.fingerprint/pollmatrix-*
    # Nothing runs what is built here.
    export CARGO_PROFILE_DEV_DEBUG=0
    cargo publish --workspace --locked --target-dir "$target" ${dry_run[@]+"${dry_run[@]}"}
    ;;
  semver)
    have cargo-semver-checks || not_run "cargo-semver-checks is not installed (cargo install --locked cargo-semver-checks)"
    base=${1:-origin/main}
    git rev-parse --quiet --verify "$base^{commit}" >/dev/null || not_run "there is no commit $base to compare with"
    libraries=()
    for crate in fd-core poller-epoll poller-poll poller-select; do libraries+=(--package "pollmatrix-$crate"); done
    cargo semver-checks --baseline-rev "$base" "${libraries[@]}"
    ;;
  *)
    echo "ci/release.sh: unknown word '$word'" >&2
    exit 2
    ;;
esac
