#!/usr/bin/env bash
# ci/report.sh WORD [ARGUMENT...]: reports of several runs, and the site.
#   base FOLDER [COMMIT]  fetches the report of the last successful run on main into FOLDER, with GitHub's gh; of one on COMMIT, if given.
#                Without such a report, there is no FOLDER afterwards
#   merge RESULTS MERGED [BASE]  joins every results.json below the folder RESULTS into one report in the folder MERGED, and judges it.
#                Exit code 1: a cell failed; or one that passed in the report in the folder BASE, if there is such a folder, does not
#                pass any more or is gone. If the kernel of a target is another one than in BASE, kernels.md lists its other answers
#   site [REPORT [SITE]]  builds the published pages in the folder SITE (default: site), from the report in the folder REPORT (default:
#                pollmatrix-report, from a run) and the recorded answers. If the report is of this kernel, runs a cell of each contract
#                scenario again, whose timeline its page then has. SITE_URL is the web address that the folder will have
#   sizes [SITE]  fails if a page of the folder SITE (default: site) has more than 300 kB, and names it
#   browser [SCREENSHOTS]  tests report.html in headless Chromium (filters, cells, keys, comparing, a phone's screen, hostile results,
#                20,000 cells) and the pages of the site (keys, a phone's screen, searching, comparing), with a checker of accessibility
#                rules, and all of them with html-validate. Screenshots of both themes go to the folder SCREENSHOTS
#   picture      runs the matrix, measures a cost, and writes the pictures of README.md and docs
# POLLMATRIX names the executable of base, merge and site, for machines that build none.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

base() {
  local folder=${1:?usage: ci/report.sh base FOLDER [COMMIT]} run
  have gh || not_run "gh is not installed"
  run=$(gh run list --workflow conformance.yml --branch main ${2:+--commit "$2"} --status success --limit 1 --json databaseId --jq '.[].databaseId')
  if [ -z "$run" ]; then
    echo "there is no successful run on main yet${2:+ of $2}"
  elif gh run download "$run" --name conformance-report --dir "$folder"; then
    echo "the report of run $run is in $folder"
  else
    echo "run $run has no report any more"
    rm -rf "$folder"
  fi
}

merge() {
  results=${1:?usage: ci/report.sh merge RESULTS MERGED [BASE]}
  merged=${2:?usage: ci/report.sh merge RESULTS MERGED [BASE]}
  base=${3:-}
  pollmatrix=${POLLMATRIX:-executables/pollmatrix-x86_64-linux-gnu}
  chmod +x "$pollmatrix"
  files=()
  while IFS= read -r file; do files+=("$file"); done < <(find "$results" -name results.json | sort)
  [ ${#files[@]} -gt 0 ] || {
    echo "ci/report.sh merge: there is no results.json below $results" >&2
    exit 2
  }

  # Several machines may have run the same cell: another release, a container. The worst answer is the target's.
  code=0
  "$pollmatrix" merge --prefer worst "${files[@]}" --report-dir "$merged" || code=$?
  # 1: cells failed.
  [ "$code" -le 1 ] || exit "$code"
  if [ -e "$base/results.json" ]; then
    compared=0
    "$pollmatrix" diff "$base/results.json" "$merged/results.json" --fail-on regression --format markdown >"$merged/diff.md" ||
      compared=$?
    [ "$compared" -le "$code" ] || code=$compared
    # What a new kernel answers, if a machine has one: the statuses are judged above.
    compared=0
    "$pollmatrix" diff --by-kernel "$base/results.json" "$merged/results.json" --format markdown >"$merged/kernels.md" || compared=$?
    # 2: several machines of one target have different kernels.
    [ "$compared" -ne 2 ] || rm -f "$merged/kernels.md"
  fi
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    for part in "$merged/kernels.md" "$merged/diff.md" "$merged/report.md"; do
      if [ -e "$part" ]; then cat "$part" >>"$GITHUB_STEP_SUMMARY"; fi
    done
  fi
  exit "$code"
}

site() {
  local report=${1:-pollmatrix-report} site=${2:-site} pollmatrix
  [ -f "$report/results.json" ] || not_run "$report has no results: run \`cargo run\` first"
  if [ -n "${POLLMATRIX:-}" ]; then
    chmod +x "$POLLMATRIX"
    pollmatrix=("$POLLMATRIX")
  else
    pollmatrix=(cargo run --)
  fi
  # One cell of each: with the timelines of all cells, results.json would be twice as large.
  reports=("$report")
  if grep -qF "\"kernel\": \"$(uname -r)\"" "$report/results.json"; then
    cells=()
    while IFS= read -r cell; do cells+=("$cell"); done < <("${pollmatrix[@]}" list --layer contract |
      awk -F/ '!/unsupported/ && !known[$1 "/" $2]++')
    "${pollmatrix[@]}" run --timeline --report-dir "$report/timelines" "${cells[@]}" >/dev/null || [ $? -eq 1 ]
    reports+=("$report/timelines")
  fi
  # It fails if a link of the site leads nowhere.
  "${pollmatrix[@]}" site "${reports[@]}" --out "$site" --findings docs/findings ${SITE_URL:+--url "$SITE_URL"}
}

sizes() {
  local site=${1:-site} large
  [ -f "$site/index.html" ] || not_run "$site has no site: run \`just site\` first"
  large=$(find "$site" -name '*.html' -size +300000c -exec ls -l {} +)
  [ -z "$large" ] || {
    printf 'ci/report.sh sizes: a page may have 300 kB:\n%s\n' "$large" >&2
    exit 1
  }
}

# need_browser: installs Chromium and the packages of tests/browser, and sets `chromium`, `built`, and a `folder` that goes at the end.
need_browser() {
  need_packages chromium chromium
  need_packages npm nodejs npm
  chromium=$(command -v chromium)
  node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' ||
    not_run "node $(node --version) is older than 20"
  npm ci --prefix tests/browser --ignore-scripts --no-audit --no-fund --loglevel=error ||
    not_run "npm cannot install what tests/browser/package-lock.json names"
  cargo build --bin pollmatrix
  built=${CARGO_TARGET_DIR:-target}/debug/pollmatrix
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
}

browser() {
  local screenshots=${1:-}
  [ -z "$screenshots" ] || { mkdir -p "$screenshots" && screenshots=$(realpath "$screenshots"); }
  need_browser
  node tests/browser/samples.mjs "$built" "$folder"
  # A figure is needed, and no exact one. Exit code 1: on a busy machine, one of its points is noise.
  "$built" cost wait-one --descriptors 10,100,1000 --threads 1 --pairs 15 --noise 1000 --report-dir "$folder/costs" >/dev/null ||
    [ $? -eq 1 ]
  "$built" site "$folder/costs" "$folder/mixed" --out "$folder/site" --url https://example.org/pollmatrix --findings docs/findings
  sizes "$folder/site"
  # Every page of the site, and every sample of report.html.
  tests/browser/node_modules/.bin/html-validate --config tests/browser/htmlvalidate.config.cjs "$folder/**/*.html"
  # HOME: the browser starts without a user's settings, and leaves no files behind.
  HOME=$folder CHROMIUM=$chromium REPORTS=$folder SITE=$folder/site SCREENSHOTS=$screenshots \
    node --test --test-reporter=spec --test-concurrency=1 tests/browser/*.test.mjs
}

picture() {
  need_browser
  "$built" run --report-dir "$folder"
  mkdir -p docs/pictures
  CHROMIUM=$chromium node tests/browser/picture.mjs "$folder/report.html" docs/pictures/report.png
  "$built" site --out "$folder/site"
  CHROMIUM=$chromium node tests/browser/picture.mjs "$folder/site/index.html" docs/pictures/pollers.png .heat-map
  cargo run --release -- cost wait-one --threads 1 --report-dir "$folder/costs"
  CHROMIUM=$chromium node tests/browser/picture.mjs "$folder/costs/report.html" docs/pictures/cost.png '#costs figure:last-of-type'
}

word=${1:-}
case $word in
  base | merge | site | sizes | browser | picture)
    shift
    "$word" "$@"
    ;;
  *)
    echo "ci/report.sh: unknown word '$word'; there are base, merge, site, sizes, browser and picture" >&2
    exit 2
    ;;
esac
