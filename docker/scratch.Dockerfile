# The pollmatrix executable alone, linked statically against musl. The build context is a folder that holds it and nothing else:
#   ci/executable.sh x86_64-linux-musl target/static-image/pollmatrix
#   docker build -f docker/scratch.Dockerfile -t pollmatrix-static target/static-image
#   docker run --rm --tmpfs /tmp pollmatrix-static list
# Anything else with a BASE of one's own: --build-arg BASE=busybox has a shell in it.
ARG BASE=scratch
FROM ${BASE}
COPY pollmatrix /pollmatrix
# A number: there is no passwd file. Nothing is writable unless mounted, hence --tmpfs. There is no /tmp here: an engine gives what it mounts
# the mode of the folder in the image, which would be root's alone.
USER 65532
ENTRYPOINT ["/pollmatrix"]
