#!/usr/bin/env bash
# ci/base-report.sh FOLDER: fetches the report of the last successful run on main into FOLDER, with GitHub's gh. Without such a
# report, there is no FOLDER afterwards.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

folder=${1:?usage: ci/base-report.sh FOLDER}
have gh || not_run "gh is not installed"
run=$(gh run list --workflow conformance.yml --branch main --status success --limit 1 --json databaseId --jq '.[].databaseId')
if [ -z "$run" ]; then
  echo "there is no successful run on main yet"
elif gh run download "$run" --name conformance-report --dir "$folder"; then
  echo "the report of run $run is in $folder"
else
  echo "run $run has no report any more"
  rm -rf "$folder"
fi
