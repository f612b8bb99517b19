# What a recipe gets is passed on word by word, as "$@": pasted into its text, words would lose their quotes.
set positional-arguments

# `just` alone lists what there is.
[private]
default:
    @just --list --unsorted

# Run the matrix on this machine (arguments go to `pollmatrix run`)
run *ARGS:
    cargo run --release -- run "$@"

# The tests
test *ARGS:
    cargo test --workspace "$@"

# The models within small bounds (loom), random mixes (shuttle); without FILTER, also each rule broken once
model *FILTER:
    ci/models.sh "$@"

# The models with greater bounds or none, and more random schedules
model-full *FILTER:
    ci/models.sh --full "$@"

# Mutants of the core against its tests and models (--unit: without the models): hours
mutants *ARGS:
    ci/nightly.sh mutants "$@"

# The core's unit tests under Miri, where a nightly toolchain has it
miri *FILTER:
    ci/nightly.sh miri "$@"

# The proofs on compiled code: hooks without cost, instruction counts, the order of the fences (names of ci/proofs.sh)
proofs *PROOFS:
    ci/proofs.sh "$@"

# Check the compiled code of the protocol's fences, for eleven builds on six processors (record: write the table)
orderings *ARGS:
    ci/proofs.sh orderings "$@"

# The kill matrix: which scenario catches which fault (arguments go to `pollmatrix faults`; --quick verifies the record)
faults *ARGS:
    cargo run --release -- faults "$@"

# Scenarios with errors injected below the core's pollers; the seeds are printed
inject *SEEDS:
    ci/disturb.sh inject "$@"

# A third of the contract cells with data that arrive late; the seeds are printed
late *SEEDS:
    ci/disturb.sh late "$@"

# Random operations on every thread, with all invariants asserted (arguments go to `pollmatrix soak`)
soak *ARGS:
    cargo run --release -- soak "$@"

# The core's tests, and cells of the matrix, under ThreadSanitizer (arguments go to `pollmatrix run`)
tsan *ARGS:
    ci/nightly.sh tsan "$@"

# Fuzz the readers of matrix.yml and results.json, for a minute each or SECONDS
fuzz *ARGS:
    ci/nightly.sh fuzz "$@"

# The matrix on every target that this machine can run, in one report (arguments go to `pollmatrix run`)
test-all *ARGS:
    ci/ways.sh all "$@"

# List the targets that this machine can run, and what the others lack
targets:
    cargo run --release -- targets

# Run cells by a runner that is not native: prefix, container, ssh or vm
way WAY *ARGS:
    ci/ways.sh "$@"

# Formatting, clippy, docs, shell scripts, workflows; warnings are errors
lint:
    ci/lint.sh

# Format everything
fmt:
    ci/fmt.sh

# What a commit must pass: formatting, clippy, and the documents against the tree
pre-commit:
    ci/lint.sh fmt clippy
    cargo run -- generate --check
    cargo test -p pollmatrix --test documents

# report.html and the site in a real browser; screenshots go to FOLDER
browser *FOLDER:
    ci/browser.sh "$@"

# The API documentation
doc *ARGS:
    cargo doc --no-deps --workspace "$@"

# fd-core's event loop beside the bare calls, mio, polling, and libevent and libuv where they are installed (docs/performance.md)
bench *ARGS:
    ci/proofs.sh bench "$@"

# The operations of the protocol, beside a mutex and beside the bare atomics
bench-protocol *ARGS:
    ci/proofs.sh bench-protocol "$@"

# Run a script, one line of verbs, or a behaviour such as V26, on every backend of this machine
probe LINE *ARGS:
    cargo run --release -- probe "$@"

# Find the shortest script to which two pollers answer differently (arguments go to `pollmatrix explore`)
explore *ARGS:
    cargo run --release -- explore "$@"

# Measure what the operations of every poller cost, over the number of descriptors (arguments go to `pollmatrix cost`)
cost *ARGS:
    cargo run --release -- cost "$@"

# Build the adapters, and compare their answers with the recorded ones (arguments go to `pollmatrix run`)
adapters *ARGS:
    ci/adapters.sh "$@"

# Build the site in the folder site: a page for each behaviour, system and poller, with this machine's report
site:
    cargo run --release -- run || [ $? -eq 1 ]
    ci/report.sh site

# Package every crate and build each from its package alone (--execute: upload them)
publish *ARGS:
    ci/release.sh publish "$@"

# Whether the version allows the changes of the public API since COMMIT (default: origin/main)
semver *COMMIT:
    ci/release.sh semver "$@"

# Generate the files that follow from the targets in matrix.yml and from the types of published files
generate:
    cargo run --release -- generate
    POLLMATRIX_BLESS=1 cargo test -p pollmatrix-metadata -p pollmatrix-explore -p pollmatrix-adapters --lib committed_schema

# Lint, link and check the targets that this machine cannot run
check-targets:
    bash .ci/run setup target

# The release executable for a target of matrix.yml, and a copy of it in FILE
executable TARGET *FILE:
    ci/executable.sh "$@"

# Licences, bans and sources of the dependencies
deny:
    ci/release.sh deny

# The oldest supported compiler
msrv:
    ci/release.sh msrv-dependencies
    ci/release.sh msrv-toolchain

# Make a container base image from Debian packages
base-image *ARGS:
    ci/setup.sh image "$@"

# Install the tools that most recipes need (the other recipes name what they lack)
setup:
    ci/setup.sh

# Everything that CI does
ci:
    bash .ci/run
