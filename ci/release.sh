#!/usr/bin/env bash
# ci/release.sh WORD [ARGUMENT...]: what a release must hold.
#   msrv-dependencies  no locked dependency requires a newer compiler than rust-version in Cargo.toml
#   msrv-toolchain     that compiler checks the workspace, if it is installed; this downloads nothing.
#                      clippy's incompatible_msrv finds calls to a newer standard library (ci/lint.sh clippy)
#   deny [CHECK...]    cargo-deny's checks of licences, banned crates and sources (deny.toml). Advisories only on request
#                      (`deny advisories`): they need a database from the network, and change without a change here
#   artefacts DIR [TARGET...]  makes in DIR what the release holds, the same bytes each time: an archive for each target (default: all),
#                      its bill of materials, the recorded answers of each kernel, the site, SHA256SUMS. What cannot be built here is
#                      not run, with the reason
#   artefacts          a dry run of it, twice, for one target: unpacks, runs and checks what it made. With the profile dev, whose
#                      executable ci/runners.sh container builds anyway
#   targets            lists the targets of a release
#   sums DIR           SHA256SUMS of what lies in DIR
#   image TARGET FOLDER [NAME]  makes the container image NAME:VERSION-ARCHITECTURE (default: pollmatrix) of the unpacked archive in FOLDER,
#                      or of an executable alone; runs it, if this machine can, and prints its name
#   notes TAG          prints the text of the release: the section of CHANGELOG.md. Refuses a tag that is not the version
#   publish [--execute]  packages every crate that is published, in the order of their dependencies, and builds each from its package
#                      alone. With --execute, uploads them, too
#   semver [COMMIT]    cargo-semver-checks for the libraries that other programs use: does the version in Cargo.toml allow the changes
#                      since COMMIT (default: origin/main)?
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
# The targets of a release. zig links all of them, on one machine.
targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl riscv64gc-unknown-linux-musl s390x-unknown-linux-musl
  x86_64-unknown-freebsd x86_64-apple-darwin aarch64-apple-darwin)

wrong() {
  printf 'error: %s\nhelp: %s\n' "$1" "$2" >&2
  exit 2
}

# need_sbom: installs what ci/sbom.py imports.
need_sbom() {
  have python3 || not_run "python3 is not installed"
  if "$tools/venv/bin/python" -c 'import cyclonedx.validation.json, jsonschema' 2>/dev/null; then return; fi
  if ! python3 -m venv "$tools/venv" || ! "$tools/venv/bin/pip" -q install 'cyclonedx-python-lib[json-validation]==11.12.0'; then
    not_run "pip cannot install cyclonedx-python-lib"
  fi
}

# executable TARGET: prints where ci/targets.sh zig leaves it.
executable() {
  local profile=${POLLMATRIX_PROFILE:-release}
  echo "${CARGO_TARGET_DIR:-target}/cross/$1/${profile/#dev/debug}/pollmatrix"
}

# pack FOLDER ARCHIVE: equal files give equal bytes, whoever packs them, and whenever.
pack() {
  chmod -R u=rwX,go=rX "$1"
  tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=gnu -C "$(dirname "$1")" -cf - "$(basename "$1")" |
    gzip -n >"$2"
}

# sums FOLDER: each file by name, so that equal files give equal sums.
sums() (
  cd "$1"
  rm -f SHA256SUMS
  LC_ALL=C
  sha256sum -- * >SHA256SUMS
)

artefacts() (
  folder=$1 missing=()
  shift
  for target; do
    [[ " ${targets[*]} " == *" $target "* ]] || wrong "a release has no target '$target'" "it has ${targets[*]}"
  done
  [ $# -gt 0 ] || set -- "${targets[@]}"
  [ -z "$(ls -A "$folder" 2>/dev/null)" ] || wrong "$folder is not empty" "name a new folder: what lies there would get into the release"
  tar --version 2>/dev/null | grep -q GNU || not_run "tar is not GNU tar"
  have readelf || not_run "readelf is not installed (binutils)"
  need_sbom
  epoch=$(git log -1 --format=%ct) || not_run "the time of the commit is unknown"
  mkdir -p "$folder"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # The machine's own executable writes what is the same for all targets.
  cargo build --bin pollmatrix
  own=${CARGO_TARGET_DIR:-target}/debug/pollmatrix
  "$own" worker documents "$work/documents"
  for target; do
    code=0
    CI_REASON_FILE=$work/reason ci/targets.sh zig "$target" </dev/null || code=$?
    case $code in
      0) ;;
      77)
        missing+=("$target: $(cat "$work/reason")")
        continue
        ;;
      *) exit "$code" ;;
    esac
    executable=$(executable "$target")
    if [[ $target == *-musl ]] && readelf --program-headers --dynamic --wide "$executable" | grep -E 'INTERP|NEEDED'; then
      echo "error: the executable of $target is not static" >&2
      exit 1
    fi
    name=pollmatrix-$version-$target
    mkdir "$work/$name"
    cp "$executable" LICENSE-APACHE LICENSE-MIT README.md CHANGELOG.md "$work/$name"
    cp -R "$work/documents/." "$work/$name"
    "$tools/venv/bin/python" ci/sbom.py write "$target" "$executable" "$epoch" "$folder/$name.cdx.json" "$work/$name/THIRD-PARTY.txt"
    pack "$work/$name" "$folder/$name.tar.gz"
    rm -r "${work:?}/$name"
  done
  # What belongs to no target: the recorded answers of each kernel, and the site.
  name=pollmatrix-$version-oracles
  "$own" expectations oracle --out "$work/$name"
  pack "$work/$name" "$folder/$name.tar.gz"
  name=pollmatrix-$version-site
  "$own" site --out "$work/$name" --findings docs/findings
  pack "$work/$name" "$folder/$name.tar.gz"
  sums "$folder"
  cat "$folder/SHA256SUMS"
  [ ${#missing[@]} -eq 0 ] || not_run "not built: $(printf '%s; ' "${missing[@]}" | sed 's/; $//')"
)

# as_nobody COMMAND...: as a user without privileges, if this one is root.
as_nobody() {
  if [ "$(id -u)" != 0 ]; then
    "$@"
  else
    setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs env HOME=/ "$@"
  fi
}

dry_run() (
  target=x86_64-unknown-linux-musl name=pollmatrix-$version-x86_64-unknown-linux-musl
  [ "$(uname -sm)" = 'Linux x86_64' ] || not_run "the executable of $target runs on Linux on x86_64"
  export POLLMATRIX_PROFILE=${POLLMATRIX_PROFILE:-dev}
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  chmod 755 "$work"
  artefacts "$work/release" "$target"
  artefacts "$work/again" "$target" >/dev/null
  diff -r "$work/release" "$work/again" || { echo "error: two runs made different files" >&2; exit 1; }
  (cd "$work/release" && sha256sum --check --quiet SHA256SUMS)

  mkdir "$work/home" "$work/unpacked"
  [ "$(id -u)" != 0 ] || chown 65534:65534 "$work/home"
  tar -xzf "$work/release/$name.tar.gz" -C "$work/unpacked"
  unpacked=$work/unpacked/$name
  cd "$work/home"
  [ "$(as_nobody "$unpacked/pollmatrix" --version)" = "pollmatrix $version" ]
  as_nobody "$unpacked/pollmatrix" run deletion --backend poll | tail -n 3
  [ -s pollmatrix-report/report.html ]
  cd - >/dev/null

  # Another executable of this machine has written what is in the archive.
  "$unpacked/pollmatrix" worker documents "$work/documents"
  diff -r "$work/documents/completions" "$unpacked/completions"
  diff -r "$work/documents/man" "$unpacked/man"
  bash -c "set -e; . '$unpacked/completions/pollmatrix.bash'; complete -p pollmatrix" >/dev/null
  if have zsh; then zsh -n "$unpacked/completions/_pollmatrix"; else echo "the completions of zsh are not checked: it is not installed"; fi
  if have fish; then fish --no-execute "$unpacked/completions/pollmatrix.fish"; else echo "those of fish are not checked: it is not installed"; fi
  for page in "$unpacked"/man/man1/*.1; do
    if have mandoc; then
      mandoc -T lint -W error "$page"
    elif have man; then
      warnings=$(LC_ALL=C.UTF-8 man --warnings -l "$page" 2>&1 >"$work/page")
      grep -q '^SYNOPSIS' "$work/page" || warnings+="it has no synopsis"
      [ -z "$warnings" ] || { printf 'error: %s: %s\n' "$page" "$warnings" >&2; exit 1; }
    else
      echo "the manual pages are not checked: neither mandoc nor man is installed"
      break
    fi
  done
  cmp "$unpacked/pollmatrix" "$(executable "$target")"
  "$tools/venv/bin/python" ci/sbom.py check "$target" "$(executable "$target")" "$work/release/$name.cdx.json"
)

image() {
  local target=$1 folder=$2 name=${3:-pollmatrix} engine=${CONTAINER:-docker} architecture image
  case $target in
    x86_64-*-linux-musl) architecture=amd64 ;;
    aarch64-*-linux-musl) architecture=arm64 ;;
    riscv64gc-*-linux-musl) architecture=riscv64 ;;
    s390x-*-linux-musl) architecture=s390x ;;
    *) wrong "an image of $target would not start" "name a target of static executables: *-linux-musl" ;;
  esac
  image=$name:$version-$architecture
  have "$engine" || not_run "$engine is not installed"
  "$engine" info >/dev/null 2>&1 || not_run "no container engine answers ($engine info)"
  # Docker's old builder gives what begins FROM scratch this machine's architecture.
  [ "$(uname -m)" = "${target%%-*}" ] || [ "$engine" != docker ] || docker buildx version >/dev/null 2>&1 ||
    not_run "another architecture needs docker buildx"
  # One manifest for each architecture, so that several make one image.
  BUILDX_NO_DEFAULT_ATTESTATIONS=1 "$engine" build --quiet --platform "linux/$architecture" --file docker/scratch.Dockerfile \
    --build-arg "VERSION=$version" --build-arg "REVISION=$(git rev-parse HEAD)" --tag "$image" "$folder" >/dev/null
  [[ $("$engine" image inspect --format '{{.Config.User}} {{json .Config.Labels}}' "$image") == [1-9]*"image.version\":\"$version\""* ]] ||
    { echo "error: $image runs as root, or has no version" >&2; exit 1; }
  # As its user, with nothing mounted.
  [ "$(uname -m)" != "${target%%-*}" ] || "$engine" run --rm "$image" run deletion --backend poll | tail -n 3 >&2
  echo "$image"
}

notes() {
  local tag=$1 text
  [ "$tag" = "v$version" ] || wrong "the tag is '$tag', and the version in Cargo.toml is $version" "tag that commit v$version, or change the version first"
  text=$(awk -v head="## [$version]" 'index($0, head) == 1 { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md)
  [ -n "${text//[[:space:]]/}" ] || wrong "CHANGELOG.md has no section '## [$version]'" "turn Unreleased into the version and its date"
  printf '%s\n' "$text" | sed '/./,$!d'
}

word=${1:?usage: ci/release.sh msrv-dependencies|msrv-toolchain|deny|artefacts|targets|sums|image|notes|publish|semver [ARGUMENT...]}
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
  artefacts) if [ $# -gt 0 ]; then artefacts "$@"; else dry_run; fi ;;
  targets) printf '%s\n' "${targets[@]}" ;;
  sums) sums "${1:?usage: ci/release.sh sums DIR}" ;;
  image) image "${1:?usage: ci/release.sh image TARGET FOLDER [NAME]}" "${2:?usage: ci/release.sh image TARGET FOLDER [NAME]}" "${@:3}" ;;
  notes) notes "${1:?usage: ci/release.sh notes TAG}" ;;
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
