#!/usr/bin/env bash
# ci/just.sh: checks that every recipe of the justfile that takes arguments passes them on unchanged. Uses the installed `just`, or
# one from PyPI.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

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
cat >"$tree/bin/cargo" <<'END'
#!/bin/sh
for word; do printf '<%s>' "$word"; done
END
chmod +x "$tree/bin/cargo"
for script in ci/*.sh; do cp "$tree/bin/cargo" "$tree/$script"; done

# takes RECIPE: whether it has parameters.
takes() { just --justfile justfile --show "$1" | grep -E "^$1 " | grep -qF '*'; }
# shellcheck disable=SC2016  # the words must not expand
words=(--subject './a b' "it's" '"' '$HOME' '*' 'a;b' '' 'last')
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
[ "$count" -gt 8 ] || { echo "error: only $count recipes take arguments: this check looks for the wrong thing" >&2; exit 1; }
echo "$count recipes pass their arguments on as they are"
