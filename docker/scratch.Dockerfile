# The pollmatrix executable alone, linked statically against musl. The build context is a folder that holds it and nothing else:
#   ci/targets.sh static x86_64-unknown-linux-musl
#   install -D target/cross/x86_64-unknown-linux-musl/release/pollmatrix target/static-image/pollmatrix
#   docker build -f docker/scratch.Dockerfile -t pollmatrix-static target/static-image
#   docker run --rm --tmpfs /tmp pollmatrix-static list
FROM scratch
COPY pollmatrix /pollmatrix
# A number: there is no passwd file. Nothing is writable unless mounted, hence --tmpfs.
USER 65532
WORKDIR /tmp
ENTRYPOINT ["/pollmatrix"]
