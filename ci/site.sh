#!/usr/bin/env bash
# ci/site.sh [REPORT [SITE]]: builds the published pages in the folder SITE (default: site) with the results in the folder REPORT
# (default: pollmatrix-report, from a run), and checks every link in them. Exit code 1: a link is broken. In a workflow, the address of
# the site is that of the repository's pages.
set -euo pipefail
report=${1:-pollmatrix-report}
site=${2:-site}
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -f "$report/results.json" ] || not_run "$report has no results: run \`cargo run\` first"
options=(--out "$site")
if [ -n "${GITHUB_REPOSITORY:-}" ]; then
  options+=(--url "https://${GITHUB_REPOSITORY%%/*}.github.io/${GITHUB_REPOSITORY#*/}/")
fi
if [ -n "${POLLMATRIX:-}" ]; then
  chmod +x "$POLLMATRIX"
  "$POLLMATRIX" site "$report" "${options[@]}"
else
  cargo run -- site "$report" "${options[@]}"
fi
for page in index.html matrix.html report.html catalogue.html sitemap.xml; do [ -s "$site/$page" ]; done
[ -n "$(find "$site/results" -name '*.md')" ]
