#!/usr/bin/env bash
# ci/browser.sh [SCREENSHOTS]: tests report.html in headless Chromium (filters, cells, keys, comparing, a phone's screen, hostile
# results, 20,000 cells), catalogue.html (searching, entries, a phone's screen), and the site (accessibility, keys, a phone's screen).
# Screenshots of both themes go to the folder SCREENSHOTS.
# ci/browser.sh --picture: runs the matrix and writes the picture of its report that README.md shows.
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
else
  node tests/browser/samples.mjs "$pollmatrix" "$folder"
  "$pollmatrix" publish --to "$folder"
  for site in mixed undisturbed large; do "$pollmatrix" site "$folder/$site" --out "$folder/site-$site"; done
  # HOME: the browser starts without a user's settings, and leaves no files behind.
  HOME=$folder CHROMIUM=$chromium REPORTS=$folder CATALOGUE=$folder/catalogue.html SCREENSHOTS=$screenshots \
    SITE=$folder/site-mixed SITE_LARGE=$folder/site-large SITE_HOSTILE=$folder/site-undisturbed \
    node --test --test-reporter=spec --test-concurrency=1 tests/browser/*.test.mjs
fi
