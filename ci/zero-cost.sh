#!/usr/bin/env bash
# ci/zero-cost.sh: nothing of the checkpoints, faults and injected errors is left in fd-core and the backends without their features: the code that comes out is that of the same source without them.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A copy, so that its place is the same for both: where a crate lies is in the names of its symbols.
mkdir "$work/tree"
cp -r Cargo.toml Cargo.lock crates "$work/tree"
core=$work/tree/crates/fd-core
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/zero-cost CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_INCREMENTAL=0
# Without the calls, their imports are unused.
export RUSTFLAGS="${RUSTFLAGS:-} --cap-lints=allow"

# code CRATE FEATURES: the assembly of the crate.
code() {
  rm -f "$CARGO_TARGET_DIR/release/deps/${1//-/_}"-*.s
  (cd "$work/tree" && cargo rustc --quiet --release -p "$1" --lib --features "$2" -- --emit asm -C codegen-units=1)
  # The names that the compiler makes up have hashes of the source text in them, and numbers.
  sed -E 's/17h[0-9a-f]{16}E(\.[0-9]+)?/17hE/g; s/\.Lanon\.[0-9a-f]+/.Lanon/g' "$CARGO_TARGET_DIR/release/deps/${1//-/_}"-*.s
}

# same CRATE: fails if the code without the features is not the code without the calls.
same() {
  if ! cmp -s "$work/$1.off" "$work/$1.without"; then
    diff "$work/$1.off" "$work/$1.without" | head -40 >&2
    echo "error: without their features the $2 leave something behind in $1" >&2
    exit 1
  fi
  echo "$1: the same code without the $2: $(wc -l <"$work/$1.off") lines; with the features on: $(wc -l <"$work/$1.on")"
}

# traced CRATE PATTERN: fails if the code with the features on has no trace of them either.
traced() {
  if ! grep -qE "$2" "$work/$1.on"; then
    echo "error: with the features on there is no trace of them in $1 either: this check looks for the wrong thing" >&2
    exit 1
  fi
}

# Epoll's is there on Linux only; kqueue's nowhere that this runs.
backends="poller-epoll poller-poll poller-select"
for crate in fd-core $backends; do code "$crate" "" >"$work/$crate.off"; done
code fd-core checkpoints,faults >"$work/fd-core.on"
for crate in $backends; do code "$crate" fd-core/faults >"$work/$crate.on"; done

# The same lines, so that panics name the same places: only the calls go.
find "$core/src" -name '*.rs' ! -name checkpoint.rs -exec sed -i -E 's/^( *)hit\(Point::[A-Za-z]+, .*\);$/\1();/; s/\|\| hit\(Point::[A-Za-z]+, [a-z]+\)/|| ()/' {} +
if grep -rq 'hit(Point::' "$core/src"; then
  echo "error: not every checkpoint could be taken out of the copy: each is one line, hit(Point::NAME, FD);" >&2
  exit 1
fi
for crate in $backends; do
  find "$work/tree/crates/$crate/src" -name '*.rs' -exec sed -i -E 's/^( *)inject::(before|after)\([A-Za-z0-9:]+\)\?;$/\1();/; s/inject::before\([A-Za-z0-9:]+\)\.is_ok\(\)/true/' {} +
  if grep -rqE 'inject::(before|after)' "$work/tree/crates/$crate/src"; then
    echo "error: not every injected error could be taken out of the copy of $crate: each is one line, inject::before(Call::NAME)?;" >&2
    exit 1
  fi
done
for crate in fd-core $backends; do code "$crate" "" >"$work/$crate.without"; done

traced fd-core 'call.*checkpoint.*hit|fault.*switch|checkpoint.*HOOK'
same fd-core checkpoints
for crate in $backends; do
  traced "$crate" 'inject.*switch'
  same "$crate" "injected errors"
done
