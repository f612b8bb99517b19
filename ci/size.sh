#!/usr/bin/env bash
# ci/size.sh: prints what the tree weighs: a row for each figure. It reads the files that git tracks. Steps and flags are counted as they
# are written: in the table of .ci/run, in the golden help texts of the command.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

row() { printf '%-46s %8s  %s\n' "$@"; }
# lines PATTERN...: counts the lines of the tracked files; links and binary files have none.
lines() { git grep -Ihc '' -- "$@" | awk '{ sum += $1 } END { print sum + 0 }'; }

# Of each Rust file, a trailing `#[cfg(test)] mod tests {` is a test; so are folders tests and files tests.rs.
split=$(git ls-files '*.rs' | xargs awk '
  FNR == 1 { test = FILENAME ~ /(^|\/)(tests|benches|fuzz_targets|models)\// || FILENAME ~ /(^|\/)tests?\.rs$/; marked = 0 }
  marked && /^(pub )?mod [a-z_]+ \{/ { test = 1 }
  { marked = /^#\[cfg\((all\()?test/; all++ }
  !/^ *(\/\/|$)/ { test ? tests++ : product++ }
  END { print all, product, tests }')
read -r all product tests <<<"$split"
row 'Rust lines' "$all"
row '  code of the product' "$product" 'without blank lines and comments; proofs too'
row '  code of the tests' "$tests" 'models, benches and fuzz targets too'
row 'tracked lines' "$(lines .)" "$(lines expectations) of them in expectations"
row 'crates' "$(git ls-files 'crates/*/Cargo.toml' | wc -l)" "published: $(git ls-files 'crates/*/Cargo.toml' | xargs grep -L '^publish = false' | wc -l)"

# helps COMMAND...: prints the command, and the help of it and of its subcommands.
helps() {
  local text name
  text=$(COLUMNS=200 "$pollmatrix" "$@" --help)
  printf '= %s\n%s\n' "$*" "$text"
  while read -r name; do helps "$@" "$name"; done < <(sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$text" | grep -v '^help$')
}
pollmatrix=$(find "${CARGO_TARGET_DIR:-target}"/{debug,release}/pollmatrix -print -quit 2>/dev/null || true)
if [ -n "$pollmatrix" ]; then
  help=$(helps)
  row 'visible subcommands' "$(grep -c '^= [a-z-]\+$' <<<"$help")" "$(grep -c '^= [a-z-]\+ ' <<<"$help") below them"
  row 'flags' "$(grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' <<<"$help" | grep -oE -- '--[a-z-]+' | sort -u | grep -cvE -- '--(help|version)')" \
    'of different names'
else
  row 'visible subcommands, flags' - 'no executable is built: cargo build'
fi
row 'steps of .ci/run' "$(sed -n '/<<STEPS/,/^STEPS/p' .ci/run | grep -c '|')" 'of one list for all'
row 'shell scripts' "$(git ls-files '*.sh' .ci/run | wc -l)" "$(lines '*.sh' .ci/run) lines"
row 'words in *.md' "$(git ls-files '*.md' | tr '\n' '\0' | xargs -0 cat | tr -s '[:space:]' '\n' | grep -c '[[:alnum:]]')" 'the bars of tables are none'
# shellcheck disable=SC2016  # awk's
row 'functions longer than 50 lines' "$(git ls-files '*.rs' | xargs awk '
  FNR == 1 { start = 0 }
  !start && /^ *(pub(\([a-z]+\))? )?((const|async|unsafe|extern "C") )*fn / { start = FNR; match($0, /^ */); indent = RLENGTH }
  start && /^ *\}$/ { match($0, /^ */); if (RLENGTH == indent) { all++; if (FNR - start >= 50) long++; start = 0 } }
  start && /;$|\}$/ && FNR == start { all++; start = 0 }
  END { printf "%d of %d", long, all }')"
row 'commit subjects over 72 characters' "$(git log --no-merges -300 --format=%s | awk 'length > 72' | wc -l)" 'of the last 300'
