#!/usr/bin/env bash
# ci/zero-cost.sh: checks that fd-core and the backends, built without the features of the hooks, have the same machine code as their
# source with the hooks removed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A copy, so that both builds have the same path: symbol names depend on it.
mkdir "$work/tree"
cp -r Cargo.toml Cargo.lock crates "$work/tree"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/zero-cost CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_INCREMENTAL=0
# Removing the hooks leaves unused imports and functions.
export RUSTFLAGS="${RUSTFLAGS:-} --cap-lints=allow"

# code CRATE FEATURES: prints the assembly of the crate.
code() {
  rm -f "$CARGO_TARGET_DIR/release/deps/${1//-/_}"-*.s
  (cd "$work/tree" && cargo rustc --quiet --release -p "pollmatrix-$1" --lib --features "$2" -- --emit asm -C codegen-units=1)
  # Generated names contain hashes of the source text, and numbers. Number the labels in the order of their appearance.
  sed -E 's/17h[0-9a-f]{16}E(\.[0-9]+)?/17hE/g; s/\.Lanon\.[0-9a-f]+\.?/.Lanon/g' "$CARGO_TARGET_DIR/release/deps/${1//-/_}"-*.s |
    awk '{
      rest = $0
      line = ""
      while (match(rest, /\.L(BB|anon|tmp|func_(begin|end)|ttbase|cst_begin|cst_end|ttbaseref|JTI|CPI|exception)[0-9_]+/)) {
        label = substr(rest, RSTART, RLENGTH)
        if (!(label in names)) names[label] = ".Llabel" ++count
        line = line substr(rest, 1, RSTART - 1) names[label]
        rest = substr(rest, RSTART + RLENGTH)
      }
      print line rest
    }'
}

# same CRATE: fails if the code without the features is not the code without the hooks.
same() {
  if ! cmp -s "$work/$1.off" "$work/$1.without"; then
    diff "$work/$1.off" "$work/$1.without" >"$work/$1.diff" || true
    head -40 "$work/$1.diff" >&2
    echo "error: without their features the hooks leave code behind in $1" >&2
    exit 1
  fi
  echo "$1: the same code without its hooks: $(wc -l <"$work/$1.off") lines; with the features on: $(wc -l <"$work/$1.on")"
}

# traced CRATE PATTERN...: fails if the code with the features on does not match a pattern.
traced() {
  local crate=$1 pattern
  shift
  for pattern in "$@"; do
    if ! grep -qE "$pattern" "$work/$crate.on"; then
      echo "error: with the features on, $crate has no trace of $pattern: this check looks for the wrong thing" >&2
      exit 1
    fi
  done
}

# poller-epoll has code on Linux only; poller-kqueue has none on the systems that run this.
backends="poller-epoll poller-poll poller-select"
for crate in fd-core $backends; do code "$crate" "" >"$work/$crate.off"; done
code fd-core checkpoints,faults >"$work/fd-core.on"
for crate in $backends; do code "$crate" fd-core/faults >"$work/$crate.on"; done

# Removes the hooks from the copy and keeps the lines, so that panics name the same places. The correct side of a hook stays: the
# step that `unless!` omits, the ordering that `ordering!` relaxes.
hooks='s/^( *)(checkpoint|fault)!\(.*\);$/\1/
s/^( *)unless!\([A-Za-z, ]+ => (.*)\);$/\1\2;/
s/ordering!\([A-Za-z]+, ([A-Za-z]+)\)/core::sync::atomic::Ordering::\1/g
s/^( *)inject::(before|after)\([A-Za-z0-9:]+\)\?;$/\1();/
s/inject::before\([A-Za-z0-9:]+\)\.is_ok\(\)/true/'
hook='\b(checkpoint|fault|unless|ordering)!\(|\binject::(before|after)\('
for crate in fd-core $backends; do
  source=$work/tree/crates/$crate/src
  find "$source" -name '*.rs' ! -path '*/hooks/*' -exec sed -i -E "$hooks" {} +
  if grep -rnE "$hook" "$source" --include='*.rs' --exclude-dir=hooks; then
    echo "error: these hooks could not be taken out of the copy: each is one line, in a form of crates/fd-core/src/hooks/mod.rs" >&2
    exit 1
  fi
done
for crate in fd-core $backends; do code "$crate" "" >"$work/$crate.without"; done

traced fd-core 'checkpoint.*(hit|HOOK)' 'fault.*switch' mistakes
same fd-core
for crate in $backends; do
  traced "$crate" 'inject.*switch' 'fault.*switch'
  same "$crate"
done
