//! The files of the source tree.

use std::fs;
use std::path::{Path, PathBuf};

pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Folders with files that are no part of the project.
const FOREIGN: [&str; 4] = ["target", "node_modules", "pollmatrix-report", ".git"];

/// A file of the tree. The path is relative to the root.
pub struct File {
    pub path: String,
    pub text: String,
}

/// Returns all files with one of the extensions, sorted by path.
pub fn files(extensions: &[&str]) -> Vec<File> {
    let root = Path::new(ROOT);
    let mut paths = Vec::new();
    collect(root, extensions, &mut paths);
    paths.sort();
    let read = |path: PathBuf| File {
        text: fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        path: path.strip_prefix(root).expect("the file is in the tree").display().to_string(),
    };
    paths.into_iter().map(read).collect()
}

fn collect(folder: &Path, extensions: &[&str], paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the tree can be read") {
        let path = entry.expect("an entry of the tree can be read").path();
        if path.is_dir() {
            if !FOREIGN.iter().any(|name| path.ends_with(name)) {
                collect(&path, extensions, paths);
            }
        } else if path.extension().is_some_and(|own| extensions.iter().any(|extension| own == *extension)) {
            paths.push(path);
        }
    }
}

pub fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the blocks between ```` ```LANGUAGE ```` and ```` ``` ````.
pub fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    page.split(fence.as_str())
        .skip(1)
        .filter_map(|rest| rest.split_once("```").map(|(block, _)| block))
        .collect()
}
