#!/usr/bin/env bash
# ci/base-image.sh [IMAGE]: makes a Debian 12 base image from packages, for machines without access to an image registry:
#   ci/base-image.sh pollmatrix-base
#   docker build --build-arg BASE=pollmatrix-base -f docker/debian.Dockerfile FOLDER-WITH-THE-BINARY
# CONTAINER=podman uses podman instead of docker.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

image=${1:-pollmatrix-base}
engine=${CONTAINER:-docker}
"$engine" info >/dev/null 2>&1 || not_run "no container engine answers ($engine info)"
if ! have mmdebstrap; then
  { have apt-get && [ "$(id -u)" = 0 ]; } || not_run "mmdebstrap is not installed"
  apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends mmdebstrap
fi
tar=$(mktemp --suffix=.tar)
trap 'rm -f "$tar"' EXIT
mmdebstrap --quiet --variant=minbase bookworm "$tar"
"$engine" import "$tar" "$image"
