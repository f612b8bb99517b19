# The pollmatrix executable alone, linked statically against musl. The build context is a folder that holds it, or an unpacked archive of a
# release (ci/release.sh image):
#   ci/executable.sh x86_64-linux-musl target/static-image/pollmatrix
#   docker build -f docker/scratch.Dockerfile -t pollmatrix-static target/static-image
#   docker run --rm --tmpfs /tmp pollmatrix-static run deletion --backend poll
#   docker run --rm --tmpfs /tmp --user "$(id -u)" --volume "$PWD:/here" --workdir /here pollmatrix-static run    # keeps the report
# Anything else with a BASE of one's own: --build-arg BASE=busybox has a shell in it.
ARG BASE=scratch
FROM ${BASE}
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title=pollmatrix \
      org.opencontainers.image.description="A compatibility test matrix for epoll, kqueue, poll and select" \
      org.opencontainers.image.source=https://github.com/pollmatrix/pollmatrix \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.version=${VERSION} \
      org.opencontainers.image.revision=${REVISION}
# The folder belongs to the user, for the report of a run. The user is a number: there is no passwd file. Nothing else is writable, hence
# --tmpfs. There is no /tmp here: an engine gives what it mounts the mode of the folder in the image, which would be root's alone.
# The patterns match nothing beside an executable alone.
COPY --chown=65532:65532 pollmatrix LICENSE-* THIRD-PARTY.tx[t] /home/pollmatrix/
USER 65532
WORKDIR /home/pollmatrix
ENTRYPOINT ["/home/pollmatrix/pollmatrix"]
