# `just` alone lists what there is.
[private]
default:
    @just --list --unsorted

# Run the matrix on this machine (arguments go to `pollmatrix run`)
run *ARGS:
    cargo run --release -- run {{ ARGS }}

# The tests
test *ARGS:
    cargo test --workspace {{ ARGS }}

# The models of the protocol, quickly: exhaustive within small bounds (loom), random mixes (shuttle)
model *FILTER:
    ci/models.sh {{ FILTER }}

# The models with greater bounds or none, more random schedules, and every rule seen to be needed
model-full *FILTER:
    ci/models.sh --full {{ FILTER }}

# What the compiler makes of the protocol's fences, for eleven builds on six processors (--record; litmus: under herd7)
orderings *ARGS:
    ci/orderings.sh {{ ARGS }}

# The kill matrix: which scenario catches which fault (arguments go to `pollmatrix faults`; --quick verifies the record)
faults *ARGS:
    cargo run --release -- faults {{ ARGS }}

# Everything at random, on every thread, with all invariants on (arguments go to `pollmatrix soak`)
soak *ARGS:
    cargo run --release -- soak {{ ARGS }}

# The core's tests, and cells of the matrix, under ThreadSanitizer (arguments go to `pollmatrix run`)
tsan *ARGS:
    ci/tsan.sh {{ ARGS }}

# Feed everything to what reads matrix.yml and results.json, a minute each or SECONDS
fuzz *ARGS:
    ci/fuzz.sh {{ ARGS }}

# The matrix on every target that this machine can run, in one report (arguments go to `pollmatrix run`)
test-all *ARGS:
    ci/test-all.sh {{ ARGS }}

# What this machine can run, and what is missing for the rest
targets:
    cargo run --release -- targets

# Cells in a way that is not native: prefix, container or ssh
way WAY *ARGS:
    ci/ways.sh {{ WAY }} {{ ARGS }}

# Formatting, clippy, docs, shell scripts, workflows; warnings are errors
lint:
    ci/lint.sh

# Format everything
fmt:
    cargo fmt --all

# report.html and the catalogue in a real browser; screenshots go to FOLDER
browser *FOLDER:
    ci/browser.sh {{ FOLDER }}

# The API documentation
doc *ARGS:
    cargo doc --no-deps --workspace {{ ARGS }}

# The benchmarks
bench *ARGS:
    cargo bench --workspace {{ ARGS }}

# A line of verbs, or a row such as V26, on every backend that is here
probe LINE *ARGS:
    cargo run --release -- probe {{ quote(LINE) }} {{ ARGS }}

# Write again what is published of this machine's pollers
publish:
    cargo run --release -- run --layer characterisation
    cargo run --release -- publish pollmatrix-report

# Write again what is generated from matrix.yml
generate:
    cargo run --release -- generate

# Lint, link and check the targets that this machine cannot run
check-targets:
    bash .ci/run setup target

# The release executable for a target of matrix.yml, and a copy of it in FILE
executable TARGET *FILE:
    ci/executable.sh {{ TARGET }} {{ FILE }}

# Licences, bans and sources of the dependencies
deny:
    ci/deny.sh

# The oldest supported compiler
msrv:
    ci/msrv.sh

# A container base image, made here from Debian packages
base-image *ARGS:
    ci/base-image.sh {{ ARGS }}

# Install the tools that the recipes need
setup:
    ci/setup.sh

# Everything that CI does
ci:
    bash .ci/run
