# The pollmatrix executable, built outside, on glibc. The build context is a folder that holds it and nothing else:
#   ci/executable.sh x86_64-linux-gnu target/image/pollmatrix
#   docker build -f docker/debian.Dockerfile -t pollmatrix target/image
# BASE needs a glibc at least as new as that of the machine that built it. ci/setup.sh image makes one without a registry.
ARG BASE=debian:trixie-slim
FROM ${BASE}
RUN useradd --system --create-home pollmatrix
COPY pollmatrix /usr/local/bin/pollmatrix
USER pollmatrix
WORKDIR /home/pollmatrix
ENTRYPOINT ["pollmatrix"]
