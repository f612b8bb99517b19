#!/usr/bin/env bash
# ci/adapters.sh [OPTION...]: builds the adapters of the table below whose library is installed, checks that they speak the protocol, and
# asks each, and the built-in libraries, the characterisation's questions. Fails if an answer is not the recorded one: a recorded bug is an
# known failure, and an unexpected pass once it has gone. The options go to `pollmatrix run`. An adapter that cannot run here is named
# with the reason, which .ci/run counts; the others are checked.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# One adapter a row: its name; what it needs (a pkg-config module, a header, a program, or nothing), and Debian's package for it; the
# command that builds it; its command lines, separated by semicolons. The first row are the libraries that pollmatrix has built in.
table() {
  cat <<'ROWS'
built in | nothing -         | -            | true                      | mio; polling; tokio
libuv    | module libuv      | libuv1-dev   | make -C adapters/libuv    | adapters/libuv/adapter
libev    | header ev.h       | libev-dev    | make -C adapters/libev    | adapters/libev/adapter epoll; adapters/libev/adapter poll; adapters/libev/adapter select
io_uring | module liburing   | liburing-dev | make -C adapters/io_uring | adapters/io_uring/adapter
java     | program javac     | openjdk-17-jdk-headless | make -C adapters/java | java -cp adapters/java Nio
go       | program go        | golang-go    | make -C adapters/go       | adapters/go/adapter
node     | program node      | nodejs       | true                      | node adapters/node/adapter.js
python   | program python3   | python3      | true                      | adapters/python/adapter.py epoll; adapters/python/adapter.py poll; adapters/python/adapter.py select
ROWS
}

# has KIND NAME: succeeds if the module, header or program is there.
has() {
  case $1 in
    module) pkg-config --exists "$2" 2>/dev/null ;;
    header) echo "#include <$2>" | cc -E - >/dev/null 2>&1 ;;
    program) have "$2" ;;
    nothing) ;;
    *)
      echo "error: the table has an unknown kind of need: $1" >&2
      exit 2
      ;;
  esac
}

cargo build --bin pollmatrix
pollmatrix=${CARGO_TARGET_DIR:-target}/debug/pollmatrix
report=${CARGO_TARGET_DIR:-target}/adapters
mkdir -p "$report"

adapters=()
while IFS='|' read -r name needs package build lines; do
  read -r name <<<"$name"
  read -r kind needed <<<"$needs"
  read -r package <<<"$package"
  read -r -a build <<<"$build"
  if ! has "$kind" "$needed"; then
    echo "not run: test of the adapter $name: $kind $needed is not installed (Debian's $package)"
    continue
  fi
  echo "---- $name: ${build[*]}"
  "${build[@]}"
  IFS=';' read -r -a lines <<<"$lines"
  for line in "${lines[@]}"; do
    read -r -a command <<<"$line"
    echo "---- ${command[*]}"
    "$pollmatrix" adapter check "${command[@]}" | tee "$report/check"
    # The kernel, or a sandbox, may refuse what the library is for.
    reason=$(sed -n 's/^- *hello: unsupported: *//p' "$report/check")
    if [ -n "$reason" ]; then
      echo "not run: test of the adapter ${command[*]}: ${reason//: /, }"
    else
      adapters+=(--adapter "${command[*]}")
    fi
  done
done < <(table)
[ ${#adapters[@]} -gt 0 ] || not_run "no adapter can be built here"

# ask REPORT OPTION...: asks every question. The kernel and the scheduler decide some answers of programs, and a loaded machine can show one
# that nobody has recorded. So the cells that do not pass are asked once more, and fail if they do not pass then.
ask() {
  local report=$1 cells
  shift
  "$pollmatrix" run "$@" --report-dir "$report" && return
  cells=$(python3 -c '
import json, sys
done = ("pass", "permitted", "known-fail", "unsupported")
print("\n".join(sorted({cell["id"] for cell in json.load(open(sys.argv[1]))["cells"] if cell["status"] not in done})))
' "$report/results.json")
  [ -n "$cells" ] || return 1
  echo "---- asked again: ${cells//$'\n'/, }"
  local -a again
  mapfile -t again <<<"$cells"
  "$pollmatrix" run "${again[@]}" "$@" --report-dir "$report-again"
}

ask "$report" "${adapters[@]}" "$@"

# Adapters that act themselves. The answers of Python's are those of the adapter that takes descriptors, so they are asked in a run of
# their own.
acting=()
for poller in epoll poll select; do acting+=(--adapter "python3 adapters/python/acting.py $poller"); done
ask "$report-acting" "${acting[@]}" "$@"
