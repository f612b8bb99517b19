//! `pollmatrix publish`: the pages of a site. They are built from expectations and results and never
//! committed.

use std::path::Path;
use std::process::ExitCode;

use metadata::Results;
use report::{Page, pages};
use runner::{diagnostics, output};

use crate::args::PublishArgs;
use crate::error::Error;
use crate::{catalogue_page, input};

/// Writes the catalogue and, for given results, one page per target and poller. Prints the path of each page
/// that changed.
pub fn run(expectations: Option<&Path>, args: &PublishArgs) -> Result<ExitCode, Error> {
    let results = args.results.as_deref().map(|path| of_kernels(path, args.emulated)).transpose()?;
    let text = catalogue_page::read(expectations, results.as_ref())?;
    let mut all = vec![Page { path: "catalogue.html".into(), text }];
    if let (Some(path), Some(results)) = (&args.results, &results) {
        all.extend(answers(path, results)?);
    }
    for page in &all {
        let path = args.to.join(&page.path);
        if std::fs::read_to_string(&path).is_ok_and(|present| present == page.text) {
            continue;
        }
        create_folder(&path, "choose another folder with --to DIR")?;
        output::write_file(&path, &page.text)?;
        output::print(&format!("wrote: {}\n", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the results of the runs on a kernel of their own, or of all runs with `emulated`.
pub fn of_kernels(path: &Path, emulated: bool) -> Result<Results, Error> {
    let mut results = input::read_undisturbed(path)?;
    let left_out = results.runs.extract_if(.., |run| !emulated && input::is_emulated(run));
    for run in left_out {
        let why = format!("{} was run {}", run.target, run.runner());
        diagnostics::note(&format!("{why}, so its answers are left out; --emulated includes them"));
    }
    Ok(results)
}

/// The pages `results/TARGET/POLLER.md`.
fn answers(path: &Path, results: &Results) -> Result<Vec<Page>, Error> {
    let mut pages = pages(results);
    if pages.is_empty() {
        return Err(input::without_answers(path));
    }
    pages.iter_mut().for_each(|page| page.path.insert_str(0, "results/"));
    Ok(pages)
}

pub fn create_folder(path: &Path, help: &'static str) -> Result<(), runner::Error> {
    let Some(folder) = path.parent() else { return Ok(()) };
    let failed = |source| runner::Error::Io { action: "create", path: folder.to_path_buf(), source, help };
    std::fs::create_dir_all(folder).map_err(failed)
}
