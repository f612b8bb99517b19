#!/usr/bin/env bash
# ci/orderings.sh [--record]: checks the instructions that the compiler generates for fd-core's Dekker pairs, per processor.
#   (nothing)  compiles crates/ordering-probes for every target of crates/orderings/targets.tsv and checks the instructions
#              between each write and its read; then removes the fences from one copy of the source, uses plain stores in another,
#              and requires that the check finds both
#   --record   rewrites crates/orderings/compiled.tsv
# Exit codes: 0 everything holds, 1 a check failed, 77 a part could not run here.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tree_root=$PWD
orderings=(cargo run --quiet --package orderings --)

case ${1:-} in
  '' | --record) ;;
  *)
    echo "usage: ci/orderings.sh [--record]" >&2
    exit 2
    ;;
esac

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$tree_root/target}/orderings CARGO_INCREMENTAL=0
# A folder apart from the other builds for these targets: here, `core` is compiled without optimisation, because the check ignores
# its code.
profile=(--release --config 'profile.release.package."*".opt-level=0' --config 'profile.release.debug=0')

# assembly TREE FOLDER LINTS: writes FOLDER/NAME.s for every target whose library is available.
assembly() {
  local name triple features result
  mkdir -p "$2"
  while IFS=$'\t' read -r name triple features; do
    if [[ $missing == *" $triple "* ]]; then continue; fi
    result=0
    (
      select_target "$triple" core
      [ "$features" = - ] && features=''
      cd "$1"
      cargo rustc --quiet --package ordering-probes --lib "${profile[@]}" "${for_target[@]}" -- \
        --emit "asm=$2/$name.s" -C codegen-units=1 -C "target-feature=$features" --cap-lints "$3"
    ) || result=$?
    case $result in
      0) ;;
      77) missing+="$triple " ;;
      *) exit "$result" ;;
    esac
  done <<<"$targets"
}

targets=$(CARGO_TARGET_DIR=$tree_root/target "${orderings[@]}" targets)
missing=' '
# Inside the build folder: cargo does not write the output of a fresh build again.
work=$CARGO_TARGET_DIR/asm
assembly "$tree_root" "$work/real" warn
echo "---- as it is"
"${orderings[@]}" compiled "$work/real" ${1:+"$1"}
if [ -n "${1:-}" ]; then exit; fi

# broken NAME SED-EXPRESSION...: changes a copy of the probes' source by each expression; the check must fail for it.
broken() {
  local name=$1 tree=$work/$1-tree expression before
  shift
  rm -rf "$tree"
  mkdir -p "$tree/crates"
  cp Cargo.lock "$tree"
  # Only the members that the probes need.
  sed 's|^members = .*|members = ["crates/ordering-probes"]|; /^default-members/d; /^exclude/d' Cargo.toml >"$tree/Cargo.toml"
  cp -r crates/ordering-probes "$tree/crates"
  mkdir -p "$tree/crates/fd-core"
  cp -r crates/fd-core/src "$tree/crates/fd-core"
  for expression in "$@"; do
    before=$(cat "$tree"/crates/fd-core/src/words/{pairs,sync}.rs | cksum)
    sed -i.orig -E "$expression" "$tree"/crates/fd-core/src/words/{pairs,sync}.rs
    if [ "$before" = "$(cat "$tree"/crates/fd-core/src/words/{pairs,sync}.rs | cksum)" ]; then
      echo "error: the source has nothing for $expression to change" >&2
      echo "help: ci/orderings.sh breaks pairs.rs and sync.rs by these expressions; adapt them to the source" >&2
      exit 1
    fi
  done
  assembly "$tree" "$work/$name" allow
  echo "---- broken: $name"
  "${orderings[@]}" compiled "$work/$name" --broken "$name"
}

broken fences 's/^( *)fence\(Ordering::SeqCst\);/\1();/' 's/\bfence\(Ordering::SeqCst\)\);/());/' 's/^( *)core::sync::atomic::compiler_fence\(Ordering::SeqCst\);/\1();/'
broken writes \
  's/\b(running|updates|state)\.fetch_(or|and)\((!?me|bits|active), .*\);/{ \1.store(\3, Ordering::Release); 0 };/' \
  's/\bmask\.swap\(0, Ordering::AcqRel\)/mask.store(0, Ordering::Release)/' \
  's/\bmask\.compare_exchange\(old, new, .*\)\.is_ok\(\)/{ mask.store(new ^ old, Ordering::Release); true }/' \
  's/\bclosed\.swap\(true, Ordering::AcqRel\)/closed.store(true, Ordering::Release)/' \
  's/\blink\.swap\(unlinked, .*\);/link.store(unlinked, Ordering::Release);/' \
  's/\brunning\.compare_exchange\(0, me, .*\)\.is_ok\(\)/{ running.store(me, Ordering::Release); true }/' \
  's/\b(slot|word)\.compare_exchange\(free, .*\)\.is_ok\(\)/{ \1.store(locked ^ free, Ordering::Release); true }/'

if [ "$missing" != ' ' ]; then
  not_run "no standard library for:$missing(rustup target add TARGET, or rustup component add rust-src); the others hold"
fi
