//! `pollmatrix generate`: writes the files that follow from matrix.yml.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::Matrix;
use matrix::{output, plan};

use crate::error::Error;
use crate::{exit, lab};

#[derive(clap::Args)]
pub struct GenerateArgs {
    /// Write nothing; if files are out of date, list them and exit with 1
    #[arg(long)]
    pub check: bool,
    /// The root of the source tree [default: the nearest parent folder with matrix.yml and crates]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

const HELP: &str = "run it inside the source tree, or give --root DIR";

/// Writes the files, or checks that they are up to date.
pub fn run(args: &GenerateArgs) -> Result<ExitCode, Error> {
    let root = match &args.root {
        Some(root) => root.clone(),
        None => find_root()?,
    };
    // Reads the files in the tree instead of the built-in ones, because they can have changed since the
    // build.
    let (matrix, _) = plan::read(&root.join("matrix.yml"), &lab::environment())?;
    let mut stale = Vec::new();
    for (name, text) in files(&matrix) {
        let path = root.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|present| present == text) {
            continue;
        }
        stale.push(name);
        if !args.check {
            output::create_folder_of(&path, HELP)?;
            output::write_file(&path, &text)?;
        }
    }
    let verb = if args.check { "stale" } else { "wrote" };
    let lines: String = stale.iter().map(|name| format!("{verb}: {name}\n")).collect();
    output::print(&lines)?;
    if args.check && !stale.is_empty() {
        matrix::diagnostics::note(
            "`pollmatrix generate` writes them again (in the source tree: `cargo run -- generate`)",
        );
        return Ok(ExitCode::from(exit::FAILED));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the path of every generated file, relative to the root of the tree, and its text.
fn files(matrix: &Matrix) -> [(&'static str, String); 4] {
    [
        (".github/workflows/conformance.yml", matrix::workflow_file(matrix)),
        (".github/actionlint.yaml", matrix::linter_file(matrix)),
        ("Cross.toml", matrix::cross_file(matrix)),
        ("ci/targets.tsv", matrix::targets_file(matrix)),
    ]
}

/// Returns the nearest parent folder that is the root of the source tree.
pub fn find_root() -> Result<PathBuf, Error> {
    let here = std::env::current_dir().map_err(matrix::Error::io("find", ".", HELP))?;
    let is_root =
        |folder: &&Path| folder.join("matrix.yml").is_file() && folder.join("crates/matrix/report").is_dir();
    here.ancestors().find(is_root).map(Path::to_path_buf).ok_or_else(|| Error::NoSourceTree(here.clone()))
}
