//! The runner `container`: in a container on this machine, with docker or podman.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{Route, output, program};
use crate::diagnostics;
use crate::error::Error;

/// The images that can be built, by their names in matrix.yml.
const IMAGES: [(&str, &str); 2] = [
    ("debian", include_str!("../../docker/debian.Dockerfile")),
    ("scratch", include_str!("../../docker/scratch.Dockerfile")),
];
/// The environment variable with the base image, where no registry can be reached: see ci/setup.sh image.
const BASE_VARIABLE: &str = "POLLMATRIX_BASE";
/// The default name of the image that ci/setup.sh image builds.
const LOCAL_BASE: &str = "pollmatrix-base";
/// The path of the matrix file in the container.
const MATRIX: &str = "/pollmatrix-matrix.yml";

/// A container engine and its options.
struct Engine(Vec<&'static str>);

impl Engine {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.0[0]);
        command.args(arguments).stdin(Stdio::null());
        command
    }

    /// Returns the first engine that works.
    fn find() -> Result<Self, String> {
        let mut why = Vec::new();
        for name in ["docker", "podman"] {
            if program(name).is_none() {
                why.push(format!("{name} is not installed"));
                continue;
            }
            let engine = Self(vec![name]);
            match output(&mut engine.command(&["info"])) {
                Ok(_) => return Ok(engine),
                Err(error) => why.push(format!("{name}: {}", error.lines().last().unwrap_or_default())),
            }
        }
        Err(why.join("; "))
    }
}

/// Returns what this machine lacks to run the image, if it lacks something.
pub fn missing(image: &str) -> Option<String> {
    if !IMAGES.iter().any(|(name, _)| *name == image) {
        return Some(format!("this pollmatrix was built without docker/{image}.Dockerfile"));
    }
    Engine::find().err()
}

/// Builds the image if it does not exist, and returns the command that starts a container of it.
pub fn route(image: &str, executable: &Path, hash: &str, matrix: Option<&Path>) -> Result<Route, Error> {
    let failed = |why: String| Error::Container { image: image.to_owned(), why };
    let engine = Engine::find().map_err(failed)?;
    // Each executable has its own image.
    let tag = format!("pollmatrix-{image}:{}", &hash[..12]);
    if output(&mut engine.command(&["image", "inspect", &tag])).is_err() {
        build(&engine, image, &tag, executable).map_err(failed)?;
    }
    let name = format!("pollmatrix-{}-{}", &hash[..12], std::process::id());
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut run = words(&[engine.0[0], "run", "--rm", "--interactive", "--tmpfs", "/tmp", "--name", &name]);
    if let Some(matrix) = matrix {
        run.extend(["--volume".into(), format!("{}:{MATRIX}:ro", matrix.display())]);
    }
    run.push(tag);
    Ok(Route {
        words: run,
        matrix: matrix.map(|_| MATRIX.to_owned()),
        clean_up: words(&[engine.0[0], "rm", "--force", &name]),
        ..Route::default()
    })
}

fn build(engine: &Engine, image: &str, tag: &str, executable: &Path) -> Result<(), String> {
    let (_, recipe) = IMAGES.iter().find(|(name, _)| *name == image).ok_or("there is no such image")?;
    diagnostics::note(&format!("building the container image {tag}"));
    let context = tempfile::tempdir().map_err(|error| error.to_string())?;
    let message = |error: std::io::Error| error.to_string();
    std::fs::write(context.path().join("Dockerfile"), recipe).map_err(message)?;
    std::fs::copy(executable, context.path().join("pollmatrix")).map_err(message)?;
    let mut command = engine.command(&["build", "--quiet", "--tag", tag]);
    if recipe.contains("ARG BASE") {
        let base = std::env::var(BASE_VARIABLE).ok();
        let local = || output(&mut engine.command(&["image", "inspect", LOCAL_BASE])).is_ok();
        if let Some(base) = base.or_else(|| local().then(|| LOCAL_BASE.to_owned())) {
            command.arg("--build-arg").arg(format!("BASE={base}"));
        }
    }
    output(command.arg(context.path())).map(|_| ())
}
