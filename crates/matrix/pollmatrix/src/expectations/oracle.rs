//! `pollmatrix expectations oracle`: the measured answers of one kernel as a file.

use std::fs::File;
use std::path::{Path, PathBuf};

use matrix::{output, provenance};
use metadata::{nearest, read_at_most};
use raw::expectations::{Expectations, Kernel, Oracle, kernels};

use crate::error::Error;
use crate::input;

#[derive(clap::Args)]
pub struct OracleArgs {
    /// The kernel: linux-6.18. Without it, lists the kernels, or with --out writes the file of each
    #[arg(value_name = "KERNEL")]
    pub kernel: Option<String>,
    /// Write KERNEL.json into this folder instead of printing it
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// The recorded answers of one kernel.
pub struct Known {
    pub kernel: Kernel,
    pub answers: Expectations,
}

/// Prints or writes the files.
pub fn run(answers: &Expectations, args: &OracleArgs) -> Result<String, Error> {
    let of = |kernel: &Kernel| Oracle::of(answers, kernel, provenance::VERSION);
    let wanted = match &args.kernel {
        Some(name) => vec![find(answers, name)?],
        None => kernels(answers),
    };
    let Some(folder) = &args.out else {
        return Ok(match args.kernel {
            Some(_) => wanted.iter().map(|kernel| metadata::json(&of(kernel))).collect(),
            None => wanted.iter().map(|kernel| format!("{kernel}\n")).collect(),
        });
    };
    let mut text = String::new();
    for kernel in &wanted {
        let (oracle, path) = (of(kernel), folder.join(format!("{kernel}.json")));
        output::create_folder_of(&path, "name another folder with --out DIR")?;
        output::write_file(&path, &metadata::json(&oracle))?;
        text += &format!("{}: {} answers\n", path.display(), oracle.answers.len());
    }
    Ok(text)
}

fn find(answers: &Expectations, name: &str) -> Result<Kernel, Error> {
    let mut all = kernels(answers);
    if let Some(index) = all.iter().position(|kernel| kernel.to_string() == name) {
        return Ok(all.swap_remove(index));
    }
    let names: Vec<_> = all.iter().map(ToString::to_string).collect();
    let near = nearest(name, names.iter().map(String::as_str));
    let near = near.map(|near| format!("did you mean '{near}'? ")).unwrap_or_default();
    Err(Error::NoSuch {
        what: "kernel with measured answers",
        name: name.to_owned(),
        help: format!(
            "{near}there are {}; or give a file of `pollmatrix expectations oracle`",
            names.join(", ")
        ),
    })
}

/// Returns the recorded answers of a kernel, by its name, or of a file.
pub fn known(folder: Option<&Path>, name: &str) -> Result<Known, Error> {
    if name.contains('/') || name.ends_with(".json") || Path::new(name).is_file() {
        return read(Path::new(name));
    }
    super::read(folder, |answers| {
        let kernel = find(answers, name)?;
        let oracle = Oracle::of(answers, &kernel, provenance::VERSION);
        // The same way as for a file: hypotheses are left out.
        let answers = oracle.expectations().map_err(|error| unfit(Path::new(name), error.to_string()))?;
        Ok(Known { kernel, answers })
    })
}

fn read(path: &Path) -> Result<Known, Error> {
    let help = "give a file that `pollmatrix expectations oracle KERNEL` printed, or the name of a kernel";
    let bytes = File::open(path).and_then(|file| read_at_most(file, input::BYTES));
    let bytes = bytes.map_err(matrix::Error::io("read", path, help))?;
    let oracle: Oracle = serde_json::from_slice(&bytes).map_err(|error| unfit(path, error.to_string()))?;
    let read = oracle.expectations().and_then(|answers| Ok(Known { kernel: oracle.kernel()?, answers }));
    read.map_err(|error| unfit(path, error.to_string()))
}

fn unfit(path: &Path, why: String) -> Error {
    let help = "`pollmatrix expectations oracle KERNEL` prints the file of a kernel";
    Error::Unfit { path: path.to_path_buf(), why, help }
}
