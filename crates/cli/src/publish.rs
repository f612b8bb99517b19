//! `pollmatrix publish`: what each backend answered, as pages for a repository.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::{PROVENANCE, Page, pages};
use runner::backends::BACKENDS;
use runner::output;
use similar::TextDiff;

use crate::args::PublishArgs;
use crate::error::Error;
use crate::{exit, generate, input};

/// Writes the pages, or compares them with those that there are.
pub fn run(args: &PublishArgs) -> Result<ExitCode, Error> {
    let pages = pages(&input::read_of_kernels(&args.input, args.emulated)?)?;
    if pages.is_empty() {
        return Err(input::without_answers(&args.input));
    }
    let folder = match &args.to {
        Some(folder) => folder.clone(),
        None => generate::find_root()?.join("docs/results"),
    };
    let mut differs = false;
    for page in &pages {
        let path = folder.join(&page.path);
        let present = present(&path)?;
        if args.check {
            let text = with_provenance_of(page, present.as_deref().unwrap_or_default());
            let present = present.unwrap_or_default();
            if text != present {
                differs = true;
                let path = path.display().to_string();
                let diff = TextDiff::from_lines(&present, &text);
                output::print(&diff.unified_diff().header(&path, &path).to_string())?;
            }
        } else if present.as_ref() != Some(&page.text) {
            create_folder(&path)?;
            output::write_file(&path, &page.text)?;
            output::print(&format!("wrote: {}\n", path.display()))?;
        }
    }
    for path in left_over(&folder, &pages)? {
        differs = true;
        if args.check {
            output::print(&format!("no results: {}\n", path.display()))?;
        } else {
            std::fs::remove_file(&path).map_err(failed("remove", &path))?;
            output::print(&format!("removed: {}\n", path.display()))?;
        }
    }
    if args.check && differs {
        runner::notes::note("`pollmatrix publish RESULTS` writes them again");
        return Ok(ExitCode::from(exit::FAILED));
    }
    Ok(ExitCode::SUCCESS)
}

/// The text of a page that is there.
fn present(path: &Path) -> Result<Option<String>, Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path)(error).into()),
    }
}

/// The page as if it were from the kernel and the version that the present one is from.
fn with_provenance_of(page: &Page, present: &str) -> String {
    let provenance = |text: &str| text.lines().find(|line| line.starts_with(PROVENANCE)).map(str::to_owned);
    match (provenance(&page.text), provenance(present)) {
        (Some(own), Some(other)) => page.text.replacen(&own, &other, 1),
        _ => page.text.clone(),
    }
}

/// Pages of the same systems that are of no poller that is known. The others stay: a run says nothing of whom it did not ask.
fn left_over(folder: &Path, pages: &[Page]) -> Result<Vec<PathBuf>, Error> {
    let written: BTreeSet<_> = pages.iter().map(|page| folder.join(&page.path)).collect();
    let systems: BTreeSet<_> = written.iter().filter_map(|path| path.parent()).collect();
    let mut left = Vec::new();
    for system in systems {
        let entries = match std::fs::read_dir(system) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(failed("read", system)(error).into()),
        };
        for entry in entries {
            let path = entry.map_err(failed("read", system))?.path();
            let is_page = path.extension().is_some_and(|extension| extension == "md");
            let mut known = BACKENDS.into_iter().map(|(name, _)| name).chain(expectations::subjects());
            let is_known = known.any(|name| path.file_stem() == Some(name.as_ref()));
            if is_page && !is_known && !written.contains(&path) {
                left.push(path);
            }
        }
    }
    left.sort();
    Ok(left)
}

fn create_folder(path: &Path) -> Result<(), runner::Error> {
    let Some(folder) = path.parent() else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(failed("create", folder))
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> runner::Error {
    let path = path.to_path_buf();
    move |source| runner::Error::Io { action, path, source, help: "choose another place with --to DIR" }
}
