#!/usr/bin/env bash
# ci/site.sh [REPORT [SITE]]: builds the published pages in the folder SITE (default: site), from the report in the folder REPORT
# (default: pollmatrix-report, from a run) and the recorded answers. Beside the pages are the answers of each poller in that report, in
# Markdown. SITE_URL is the web address that the folder will have.
set -euo pipefail
report=${1:-pollmatrix-report}
site=${2:-site}
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -f "$report/results.json" ] || not_run "$report has no results: run \`cargo run\` first"
if [ -n "${POLLMATRIX:-}" ]; then
  chmod +x "$POLLMATRIX"
  pollmatrix=("$POLLMATRIX")
else
  pollmatrix=(cargo run --)
fi
# It fails if a link of the site leads nowhere.
"${pollmatrix[@]}" site "$report" --out "$site" --findings docs/findings ${SITE_URL:+--url "$SITE_URL"}
"${pollmatrix[@]}" publish "$report" --to "$site"
[ -n "$(find "$site/results" -name '*.md')" ]
# As the folder is now, with what was added to it.
"${pollmatrix[@]}" site --check "$site"
