//! Reads the results of other runs.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use metadata::{Os, Results, Run};
use raw::expectations::Version;

use crate::error::Error;

/// The file name of the results in a report directory.
pub const NAME: &str = "results.json";

/// The greatest length of results.
pub const BYTES: u64 = 1 << 30;

/// Returns the file of the results. A report directory stands for the results in it.
pub fn file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(NAME) } else { path.to_path_buf() }
}

/// Reads results, which must exist.
pub fn read(path: &Path) -> Result<Results, Error> {
    let path = file(path);
    let help = "give a results.json, or a report directory that has one: `pollmatrix run` and `pollmatrix merge` write it";
    let bytes = File::open(&path).and_then(|file| metadata::read_at_most(file, BYTES));
    parse(&path, &bytes.map_err(matrix::Error::io("read", &path, help))?)
}

/// Reads results, which must exist, and which no fault or injected error may have disturbed.
pub fn read_undisturbed(path: &Path) -> Result<Results, Error> {
    let results = read(path)?;
    match results.disturbance() {
        Some(disturbance) => {
            let why = format!("it was run with {disturbance}");
            Err(Error::Unfit { path: path.to_path_buf(), why, help: "run it again without" })
        }
        None => Ok(results),
    }
}

/// Whether the answers of a run may be those of an emulator or another command, and not those of a kernel.
pub fn is_emulated(run: &Run) -> bool {
    run.emulator.is_some() && run.runner == "prefix"
}

/// Reads undisturbed results; unless `emulated`, all of them must come from a kernel.
pub fn read_of_kernels(path: &Path, emulated: bool) -> Result<Results, Error> {
    let results = read_undisturbed(path)?;
    match results.runs.iter().find(|run| !emulated && is_emulated(run)) {
        Some(run) => Err(Error::Unfit {
            path: path.to_path_buf(),
            why: format!("{} was run {}", run.target, run.runner_in_full()),
            help: "if the answers are the kernel's and not the command's, give --emulated",
        }),
        None => Ok(results),
    }
}

/// Returns the system of a run, and the version of its kernel.
pub fn system(path: &Path, run: &Run) -> Result<(Os, Version), Error> {
    let os = run.system();
    let found = os.and_then(|os| Some((os, Version::of_release(os, &run.kernel)?)));
    found.ok_or_else(|| Error::Unfit {
        path: path.to_path_buf(),
        why: format!("nothing is kept about {} {}", os.map_or(run.os.as_str(), |os| os.name()), run.kernel),
        help: "the system must be one of matrix.yml's, and its kernel must say its version",
    })
}

/// Returns the error for results without answers of raw pollers.
pub fn without_answers(path: &Path) -> Error {
    let why = "it has no answers of raw pollers".into();
    let help = "run them first: `pollmatrix run --layer characterisation`";
    Error::Unfit { path: path.to_path_buf(), why, help }
}

/// Reads the results in a report directory, if it has any.
pub fn find(dir: &Path) -> Result<Option<Results>, Error> {
    let path = dir.join(NAME);
    match File::open(&path).and_then(|file| metadata::read_at_most(file, BYTES)) {
        Ok(text) => parse(&path, &text).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(matrix::Error::io("read", path, matrix::REPORT_FILE_HELP)(error).into()),
    }
}

fn parse(path: &Path, text: &[u8]) -> Result<Results, Error> {
    Results::read(text).map_err(|error| Error::NotResults { path: path.to_path_buf(), error })
}
