# What a recipe gets is passed on word by word, as "$@": pasted into its text, words would lose their quotes.
set positional-arguments

# `just` alone lists what there is.
[private]
default:
    @just --list --unsorted

# The gate of crates/core: what a change there must pass
core:
    bash .ci/run core

# The gate of crates/matrix
matrix:
    bash .ci/run matrix

# The gate of crates/lab
lab:
    bash .ci/run lab

# The three gates: everything that CI does
ci:
    bash .ci/run

# Install the tools that most other recipes need
setup:
    ci/setup.sh

# Format everything
fmt:
    ci/lint.sh format

# What a commit must pass: formatting, clippy, and the documents against the tree
pre-commit:
    ci/lint.sh fmt clippy generated commits
    cargo test -p pollmatrix --test documents

# Generate the files that follow from matrix.yml and the types of published files, and the table of docs/peers.md
generate:
    cargo run --release -- generate
    POLLMATRIX_BLESS=1 cargo test -p pollmatrix-metadata -p pollmatrix-explore -p pollmatrix-raw -p pollmatrix-adapters --lib committed_schema

# The models within small bounds (loom), random mixes (shuttle); without FILTER, also each rule broken once
model *FILTER:
    ci/models.sh "$@"

# The models with greater bounds or none, and more random schedules
model-full *FILTER:
    ci/models.sh --full "$@"

# The kill matrix: which scenario catches which fault (arguments go to `pollmatrix faults`; --quick verifies the record)
faults *ARGS:
    cargo run --release -- faults "$@"

# The matrix on every target that this machine can run, in one report (arguments go to `pollmatrix run`)
test-all *ARGS:
    ci/runners.sh all "$@"

# Run cells by a runner that is not native: prefix, container, ssh, uml or vm
runner RUNNER *ARGS:
    ci/runners.sh "$@"

# The first run on a system that nothing was measured on, such as macos: prints what to send back
first-run SYSTEM:
    @[ "$(uname -s | sed s/Darwin/macos/ | tr A-Z a-z)" = "$1" ] || { printf 'error: this is no %s\nhelp: run it on one\n' "$1" >&2; exit 2; }
    cargo run --release -- run --report-dir first-run || [ $? -eq 1 ]
    cargo run --release -- expectations judge first-run || [ $? -eq 1 ]
    gzip -c first-run/results.json >"first-run-$1.json.gz"
    @echo "Send back first-run-$1.json.gz, in a new issue of this project. The answers above are new, or contradict a hypothesis."

# Build the site in the folder site: a page for each behaviour, system and poller, with this machine's report
site:
    cargo run --release -- run || [ $? -eq 1 ]
    ci/report.sh site
    ci/report.sh sizes

# fd-core's event loop beside the bare calls, mio, polling, and libevent and libuv where they are installed (docs/performance.md)
bench *ARGS:
    ci/proofs.sh bench "$@"

# The operations of the protocol, beside a mutex and beside the bare atomics
bench-protocol *ARGS:
    ci/proofs.sh bench-protocol "$@"

# What CI does once a week: tsan, miri, fuzz, or mutants (hours)
nightly WORD *ARGS:
    ci/nightly.sh "$@"
