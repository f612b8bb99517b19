//! `pollmatrix generate`: writes the files that follow from matrix.yml, and the table of docs/peers.md.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::Matrix;
use matrix::{output, plan};
use metadata::peers::Totals;

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
    for (name, text) in files(&matrix).into_iter().chain([(PEERS, peers_page(&root)?)]) {
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

/// The page about the test suites of other projects. Only the table between the two comments is generated.
const PEERS: &str = "docs/peers.md";
const TABLE_BEGINS: &str = "<!-- totals: `pollmatrix generate` writes them -->\n";
const TABLE_ENDS: &str = "<!-- end of totals -->";

/// Returns the page in the tree with the table that follows from the built-in file `peers.tsv`.
fn peers_page(root: &Path) -> Result<String, Error> {
    let path = root.join(PEERS);
    let page = metadata::read_text(&path).map_err(matrix::Error::io("read", &path, HELP))?;
    let split = page.split_once(TABLE_BEGINS).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(TABLE_ENDS)?;
        Some((before, after))
    });
    let Some((before, after)) = split else {
        let why = format!("it lacks the comments {} and {TABLE_ENDS}", TABLE_BEGINS.trim_end());
        return Err(Error::Unfit { path, why, help: "restore the comments around its table" });
    };
    Ok(format!("{before}{TABLE_BEGINS}{}{TABLE_ENDS}{after}", peers_table()))
}

/// Returns the numbers of cases of each suite and of all, as a table.
fn peers_table() -> String {
    let mut table = String::from(
        "\n| suite | cases | covered | partly | missing | out | covered of those that ask |\n|---|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut row = |name: &str, totals: Totals| {
        let ([covered, partly, missing, out], cases) = (totals.of, totals.cases());
        let percent = totals.percent();
        let _ =
            writeln!(table, "| {name} | {cases} | {covered} | {partly} | {missing} | {out} | {percent} % |");
    };
    raw::peers().suites.iter().for_each(|suite| row(suite.name, suite.totals()));
    row("**all**", raw::peers().totals());
    table.push('\n');
    table
}

/// Returns the nearest parent folder that is the root of the source tree.
pub fn find_root() -> Result<PathBuf, Error> {
    let here = std::env::current_dir().map_err(matrix::Error::io("find", ".", HELP))?;
    let is_root =
        |folder: &&Path| folder.join("matrix.yml").is_file() && folder.join("crates/matrix/report").is_dir();
    here.ancestors().find(is_root).map(Path::to_path_buf).ok_or_else(|| Error::NoSourceTree(here.clone()))
}
