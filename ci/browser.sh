#!/usr/bin/env bash
# ci/browser.sh [SCREENSHOTS]: tests report.html in headless Chromium (filters, cells, keys, comparing, a phone's screen, hostile
# results, 20,000 cells) and the pages of `pollmatrix site` (keys, a phone's screen, searching, comparing), each with a checker of accessibility rules, and all of them with html-validate, a checker of HTML.
# Screenshots of both themes go to the folder SCREENSHOTS.
# ci/browser.sh --picture: runs the matrix, measures a cost, and writes the pictures that README.md and docs/cost.md show.
set -euo pipefail
screenshots=
case ${1:-} in
  '' | --picture) ;;
  -*)
    echo "ci/browser.sh: unknown option '$1': it takes a folder for screenshots, or --picture" >&2
    exit 2
    ;;
  # lib.sh changes the working directory.
  *) mkdir -p "$1" && screenshots=$(cd "$1" && pwd) ;;
esac
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_packages chromium chromium
need_packages npm nodejs npm
chromium=$(command -v chromium)
node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' ||
  not_run "node $(node --version) is older than 20"
npm ci --prefix tests/browser --ignore-scripts --no-audit --no-fund --loglevel=error ||
  not_run "npm cannot install what tests/browser/package-lock.json names"
cargo build --bin pollmatrix
pollmatrix=${CARGO_TARGET_DIR:-target}/debug/pollmatrix

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if [ "${1:-}" = --picture ]; then
  "$pollmatrix" run --report-dir "$folder"
  mkdir -p docs/pictures
  CHROMIUM=$chromium node tests/browser/picture.mjs "$folder/report.html" docs/pictures/report.png
  cargo run --release -- cost wait-one --threads 1 --report-dir "$folder/costs"
  CHROMIUM=$chromium node tests/browser/picture.mjs "$folder/costs/report.html" docs/pictures/cost.png '#costs figure:last-of-type'
else
  node tests/browser/samples.mjs "$pollmatrix" "$folder"
  # A figure is needed, and no exact one. Exit code 1: on a busy machine, one of its points is noise.
  "$pollmatrix" cost wait-one --descriptors 10,100,1000 --threads 1 --pairs 15 --noise 1000 --report-dir "$folder/costs" >/dev/null ||
    [ $? -eq 1 ]
  "$pollmatrix" site "$folder/costs" "$folder/mixed" --out "$folder/site" --url https://example.org/pollmatrix --findings docs/findings
  # Every page of the site, and every sample of report.html.
  tests/browser/node_modules/.bin/html-validate --config tests/browser/htmlvalidate.config.cjs "$folder/**/*.html"
  # HOME: the browser starts without a user's settings, and leaves no files behind.
  HOME=$folder CHROMIUM=$chromium REPORTS=$folder SITE=$folder/site SCREENSHOTS=$screenshots \
    node --test --test-reporter=spec --test-concurrency=1 tests/browser/*.test.mjs
fi
