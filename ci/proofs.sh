#!/usr/bin/env bash
# ci/proofs.sh PROOF: runs a proof on the compiled code (the workspace proofs/):
#   unit          the unit tests of that workspace
#   zero-cost     fd-core and the backends, built without the features of the hooks, have the same machine code as their source with the
#                 hooks removed
#   instructions  an event in fd-core's loop costs no more instructions and read-modify-writes than the limits, and no division; the counts
#                 do not depend on the machine's speed or load
#   orderings     on each processor of proofs/orderings/targets.tsv, the compiler keeps the order of fd-core's Dekker pairs; and the check
#                 finds the fences removed, and plain stores in place of the read-modify-writes
# Exit codes: 0 everything holds, 1 a check failed, 77 a part could not run here.
#
# ci/proofs.sh orderings record: rewrites proofs/orderings/compiled.tsv
# ci/proofs.sh bench [OPTION...] [WORK...]: compares fd-core's event loop with the bare system calls, mio and polling, and with libevent and
#   libuv if pkg-config finds them. `--help` lists the options, `--list` the works. Exit codes: 0 every ratio was measured, 1 a ratio was
#   noise, 2 an error.
# ci/proofs.sh bench-protocol [OPTION...]: compares the operations of the protocol with a mutex and with the bare atomics.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

target=${CARGO_TARGET_DIR:-$PWD/target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
export CARGO_TARGET_DIR=$target/proofs
manifest=proofs/Cargo.toml

zero_cost() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # A copy, so that both builds have the same path: symbol names depend on it.
  mkdir -p "$work/tree/tests"
  cp -r Cargo.toml Cargo.lock crates "$work/tree"
  cp -r tests/cells "$work/tree/tests"
  export CARGO_TARGET_DIR=$target/zero-cost CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_INCREMENTAL=0
  # Removing the hooks leaves unused imports and functions.
  export RUSTFLAGS="${RUSTFLAGS:-} --cap-lints=allow"
  # poller-epoll has code on Linux only; poller-kqueue has none on the systems that run this.
  local backends="poller-epoll poller-poll poller-select" crate
  for crate in fd-core $backends; do code "$crate" "" >"$work/$crate.off"; done
  code fd-core checkpoints,faults >"$work/fd-core.on"
  for crate in $backends; do code "$crate" fd-core/faults >"$work/$crate.on"; done

  # Removes the hooks from the copy and keeps the lines, so that panics name the same places. The correct side of a hook stays: the
  # step that `unless!` omits, the ordering that `ordering!` relaxes.
  local hooks='s/^( *)(checkpoint|fault)!\(.*\);$/\1/
s/^( *)unless!\([A-Za-z, ]+ => (.*)\);$/\1\2;/
s/ordering!\([A-Za-z]+, ([A-Za-z]+)\)/core::sync::atomic::Ordering::\1/g
s/^( *)inject::(before|after)\([A-Za-z0-9:]+\)\?;$/\1();/
s/inject::before\([A-Za-z0-9:]+\)\.is_ok\(\)/true/'
  local hook='\b(checkpoint|fault|unless|ordering)!\(|\binject::(before|after)\(' source
  for crate in fd-core $backends; do
    source=$work/tree/crates/core/$crate/src
    find "$source" -name '*.rs' ! -path '*/hooks/*' -exec sed -i -E "$hooks" {} +
    if grep -rnE "$hook" "$source" --include='*.rs' --exclude-dir=hooks; then
      echo "error: these hooks could not be taken out of the copy: each is one line, in a form of crates/core/fd-core/src/hooks/mod.rs" >&2
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
}

# code CRATE FEATURES: prints the assembly of the crate.
code() {
  rm -f "$CARGO_TARGET_DIR/release/deps/pollmatrix_${1//-/_}"-*.s
  (cd "$work/tree" && cargo rustc --quiet --release -p "pollmatrix-$1" --lib --features "$2" -- --emit asm -C codegen-units=1)
  # Generated names contain hashes of the source text, and numbers. Number the labels in the order of their appearance.
  sed -E 's/17h[0-9a-f]{16}E(\.[0-9]+)?/17hE/g; s/\.Lanon\.[0-9a-f]+\.?/.Lanon/g' "$CARGO_TARGET_DIR/release/deps/pollmatrix_${1//-/_}"-*.s |
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

instructions() {
  [ "$(uname -sm)" = 'Linux x86_64' ] || not_run "the limits are for Linux on x86_64"
  local tool
  for tool in valgrind objdump; do have "$tool" || not_run "$tool is not installed (ci/setup.sh installs it)"; done
  cargo run --quiet --locked --release --manifest-path $manifest -p benchmarks -- --instructions
}

# orderings [record]
orderings() {
  local check=(cargo run --quiet --locked --manifest-path "$manifest" -p orderings --) targets broken
  targets=$("${check[@]}" targets)
  missing=' '
  assembly ''
  echo "---- as it is"
  "${check[@]}" check "$target/orderings/asm/real" "$@"
  [ $# -eq 0 ] || return 0
  for broken in no-fences plain-stores; do
    assembly "$broken"
    echo "---- broken: $broken"
    "${check[@]}" check "$target/orderings/asm/$broken" "$broken"
  done
  if [ "$missing" != ' ' ]; then
    not_run "no standard library for:$missing(rustup target add TARGET, or rustup component add rust-src); the others hold"
  fi
}

# assembly FEATURE: writes orderings/asm/FEATURE/TARGET.s to the target folder (orderings/asm/real/TARGET.s without a feature) for every
# target whose library is available. Inside the build folder: cargo does not write the output of a fresh build again.
assembly() {
  local name triple features result folder=$target/orderings/asm/${1:-real}
  mkdir -p "$folder"
  while IFS=$'\t' read -r name triple features; do
    result=0
    [[ $missing != *" $triple "* ]] || { rm -f "$folder/$name.s"; continue; }
    # A folder apart from the other builds for these targets: here, `core` is compiled without optimisation, because the check ignores
    # its code.
    (
      set -e
      select_target "$triple" core
      [ "$features" = - ] && features=''
      CARGO_TARGET_DIR=$target/orderings CARGO_INCREMENTAL=0 cargo rustc --quiet --locked --manifest-path "$manifest" -p orderings --lib \
        --features "$1" --release --config 'profile.release.package."*".opt-level=0' --config 'profile.release.debug=0' "${for_target[@]}" \
        -- --emit "asm=$folder/$name.s" -C codegen-units=1 -C "target-feature=$features"
    ) || result=$?
    case $result in
      0) ;;
      77) missing+="$triple " && rm -f "$folder/$name.s" ;;
      *) exit "$result" ;;
    esac
  done <<<"$targets"
}

bench() {
  local features=() library
  for library in libevent:libevent_core libuv:libuv; do
    if pkg-config --exists "${library#*:}" 2>/dev/null; then
      features+=("${library%:*}")
    else
      echo "without ${library%:*}: pkg-config does not find ${library#*:}" >&2
    fi
  done
  # Every function begins at a cache line, in all loops: where the linker happens to place a function changes a ratio by up to 0.04. The
  # folder is apart from the other builds, because the flag would rebuild them.
  export CARGO_TARGET_DIR=$target/bench RUSTFLAGS="${RUSTFLAGS-} -C llvm-args=-align-all-functions=6"
  exec cargo run --quiet --locked --release --manifest-path "$manifest" -p benchmarks --features "$(IFS=,; echo "${features[*]-}")" -- "$@"
}

case "$*" in
  unit) cargo test --locked --manifest-path "$manifest" ;;
  zero-cost) zero_cost ;;
  instructions) instructions ;;
  orderings) orderings ;;
  'orderings record') orderings record ;;
  bench | 'bench '*) shift && bench "$@" ;;
  bench-protocol | 'bench-protocol '*) shift && cargo bench --locked --manifest-path "$manifest" --bench protocol -- "$@" ;;
  *)
    echo "error: ci/proofs.sh: there is no '$*'" >&2
    echo "help: there are unit, zero-cost, instructions, orderings [record], bench and bench-protocol; .ci/run proofs runs every proof" >&2
    exit 2
    ;;
esac
