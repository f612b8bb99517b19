#!/usr/bin/env bash
# ci/zero-cost.sh: nothing of the checkpoints and faults is left in fd-core without their features: the code that comes out is that of the same source without them.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A copy, so that its place is the same for both: where a crate lies is in the names of its symbols.
mkdir "$work/tree"
cp -r Cargo.toml Cargo.lock crates "$work/tree"
core=$work/tree/crates/fd-core
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/zero-cost CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_INCREMENTAL=0

# code FEATURES: the assembly of the crate.
code() {
  rm -f "$CARGO_TARGET_DIR"/release/deps/fd_core-*.s
  (cd "$work/tree" && cargo rustc --quiet --release -p fd-core --lib --features "$1" -- --emit asm -C codegen-units=1 --cap-lints allow)
  # The names that the compiler makes up have hashes of the source text in them, and numbers.
  sed -E 's/17h[0-9a-f]{16}E(\.[0-9]+)?/17hE/g; s/\.Lanon\.[0-9a-f]+/.Lanon/g' "$CARGO_TARGET_DIR"/release/deps/fd_core-*.s
}

code "" >"$work/off"
code checkpoints,faults >"$work/on"
# The same lines, so that panics name the same places: only the calls go.
find "$core/src" -name '*.rs' ! -name checkpoint.rs -exec sed -i -E 's/^( *)hit\(Point::[A-Za-z]+, .*\);$/\1();/; s/\|\| hit\(Point::[A-Za-z]+, [a-z]+\)/|| ()/' {} +
code "" >"$work/without"

calls() { grep -cE 'call.*checkpoint.*hit|fault.*switch|checkpoint.*HOOK' "$1" || true; }
if [ "$(calls "$work/on")" -eq 0 ]; then
  echo "error: with the features on there is no trace of them either: this check looks for the wrong thing" >&2
  exit 1
fi
if grep -rq 'hit(Point::' "$core/src"; then
  echo "error: not every checkpoint could be taken out of the copy: each is one line, hit(Point::NAME, FD);" >&2
  exit 1
fi
if ! cmp -s "$work/off" "$work/without"; then
  diff "$work/off" "$work/without" | head -40 >&2
  echo "error: without their features the checkpoints leave something behind" >&2
  exit 1
fi
echo "the same code without the checkpoints: $(wc -l <"$work/off") lines; with the features on: $(wc -l <"$work/on")"
