//! `pollmatrix site --check`: checks a site in its folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::output;
use metadata::one_line;
use report::html::site::Page;
use report::html::site::check::{Problem, problems};

use crate::error::Error;
use crate::exit;

/// The greatest number of problems that are printed.
const PRINTED: usize = 50;

/// Checks the folder, whose site has the files `listed`. Prints each problem with the file and the line.
pub fn run(folder: &Path, listed: BTreeSet<String>) -> Result<ExitCode, Error> {
    if listed.is_empty() {
        let help = "build one first: `pollmatrix site --out DIR`";
        return Err(Error::Unfit { path: folder.to_path_buf(), why: "it has no site".into(), help });
    }
    let mut files = Vec::new();
    let mut found = read(folder, "", &mut files)?;
    found.extend(problems(&files, &listed));
    found.sort();
    for problem in found.iter().take(PRINTED) {
        output::print(&format!("{}\n", one_line(&folder.join(problem.to_string()).display().to_string())))?;
    }
    if found.len() > PRINTED {
        output::print(&format!("and {} more\n", found.len() - PRINTED))?;
    }
    let pages = files.iter().filter(|file| file.path.ends_with(".html")).count();
    output::print(&format!("{}: {pages} pages, {} problems\n", folder.display(), found.len()))?;
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// Reads the files below a folder, whose path in the site is `under`. Returns the files that are no text.
fn read(folder: &Path, under: &str, files: &mut Vec<Page>) -> Result<Vec<Problem>, Error> {
    let failed = |path: PathBuf| matrix::Error::io("read", path, "make the folder readable");
    let mut unreadable = Vec::new();
    let entries = std::fs::read_dir(folder).map_err(failed(folder.to_path_buf()))?;
    for entry in entries {
        let entry = entry.map_err(failed(folder.to_path_buf()))?;
        let path = format!("{under}{}", entry.file_name().to_string_lossy());
        // A link to a folder could lead to a folder above it.
        let kind = entry.file_type().map_err(failed(entry.path()))?;
        if kind.is_dir() {
            unreadable.extend(read(&entry.path(), &format!("{path}/"), files)?);
            continue;
        }
        let bytes = std::fs::read(entry.path()).map_err(failed(entry.path()))?;
        let is_page = path.ends_with(".html");
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            if is_page {
                let what = "the page is not UTF-8".to_owned();
                unreadable.push(Problem { path: path.clone(), line: None, what });
            }
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        files.push(Page { path, text });
    }
    Ok(unreadable)
}
