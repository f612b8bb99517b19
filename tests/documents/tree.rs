//! The files of the source tree.

use std::fs;
use std::path::{Path, PathBuf};

pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

/// Folders with files that are no part of the project.
const FOREIGN: [&str; 4] = ["target", "node_modules", "pollmatrix-report", ".git"];

/// A file of the tree. The path is relative to the root.
pub struct File {
    pub path: String,
    pub text: String,
}

/// The files that people write in words: code, pages, settings and scripts, sorted by path.
pub struct Tree {
    pub files: Vec<File>,
}

impl Tree {
    pub fn read() -> Self {
        let root = Path::new(ROOT);
        let mut paths = Vec::new();
        collect(root, &mut paths);
        paths.sort();
        let read = |path: PathBuf| {
            let path = path.strip_prefix(root).expect("the file is in the tree").display().to_string();
            File { text: read(&path), path }
        };
        Self { files: paths.into_iter().map(read).collect() }
    }

    /// Returns the files with this extension.
    pub fn of(&self, extension: &str) -> impl Iterator<Item = &File> {
        self.files
            .iter()
            .filter(move |file| file.path.rsplit_once('.').is_some_and(|(_, own)| own == extension))
    }

    /// Returns the text of the file at this path.
    pub fn text(&self, path: &str) -> &str {
        let file = self.files.iter().find(|file| file.path == path);
        file.map(|file| file.text.as_str()).unwrap_or_else(|| panic!("there is no file {path}"))
    }
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the tree can be read") {
        let path = entry.expect("an entry of the tree can be read").path();
        if path.is_dir() {
            if !FOREIGN.iter().any(|name| path.ends_with(name)) {
                collect(&path, paths);
            }
        } else if path
            .extension()
            .is_some_and(|own| ["rs", "md", "yml", "sh"].iter().any(|known| own == *known))
        {
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
