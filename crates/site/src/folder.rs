//! Writes a site into a folder, and reads it back.
//!
//! A folder with a site has the file [`MARKER`], which lists the site's files. Nothing else in it is changed
//! or removed, and a folder without this file is not written to unless it is empty.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::pages::File;

/// The file that marks a folder as a site.
pub const MARKER: &str = ".pollmatrix-site.json";

/// The version of this file.
const VERSION: u32 = 1;

/// The content of the marker.
#[derive(Serialize, Deserialize)]
struct Marker {
    version: u32,
    url: String,
    files: BTreeSet<String>,
}

/// A folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It has files, and none of them is the marker.
    #[error("{} has files, and is no site of pollmatrix", .0.display())]
    Foreign(PathBuf),
    /// There is no site to check.
    #[error("{} is no site of pollmatrix", .0.display())]
    NoSite(PathBuf),
    /// It is a file.
    #[error("{} is no folder", .0.display())]
    NoFolder(PathBuf),
    /// The marker is malformed, or of another version.
    #[error("{}: {message}", path.display())]
    Marker {
        /// Its path.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A path leaves the folder, through `..` or a symbolic link.
    #[error("{} leaves the folder of the site", .0.display())]
    Outside(PathBuf),
    /// A call of the system failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// A verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl FolderError {
    /// Returns the remedy.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Foreign(_) => {
                "choose another folder with --out DIR, or empty this one: nothing in it was changed"
            }
            Self::NoSite(_) => "build one first: `pollmatrix site RESULTS --out DIR`",
            Self::NoFolder(_) => "choose another folder with --out DIR",
            Self::Marker { .. } => "remove this folder, or choose another one with --out DIR",
            Self::Outside(_) => "remove the symbolic link, or choose another folder with --out DIR",
            Self::Io { .. } => "make it writable, free disk space, or choose another folder with --out DIR",
        }
    }
}

/// The changes of a folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// The number of files with another content than before.
    pub changed: usize,
    /// The number of files that the site does not have any more.
    pub removed: usize,
}

/// Checks whether a site can be written into a folder, without any change.
///
/// # Errors
/// It is a file, or has files and no marker, or its marker cannot be read.
pub fn accepts(folder: &Path) -> Result<(), FolderError> {
    before(folder).map(drop)
}

/// Writes the files with `write`, removes those of the previous site that are not among them, and returns the
/// changes. Equal files are not written again.
///
/// # Errors
/// As [`accepts`]; or a file cannot be written or removed: the first one. The folder can then be written to
/// again.
pub fn write<E: From<FolderError>>(
    folder: &Path,
    url: &str,
    files: &[File],
    mut write: impl FnMut(&Path, &str) -> Result<(), E>,
) -> Result<Written, E> {
    let before = before(folder)?;
    let now: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
    for path in before.union(&now) {
        inside(folder, path)?;
    }
    create(folder)?;
    // If this is interrupted, the next run knows the files of both sites.
    let marker =
        |files: BTreeSet<String>| metadata::json(&Marker { version: VERSION, url: url.to_owned(), files });
    write(&folder.join(MARKER), &marker(before.union(&now).cloned().collect()))?;
    let mut written = Written::default();
    for file in files {
        let path = folder.join(&file.path);
        if std::fs::read(&path).is_ok_and(|present| present == file.text.as_bytes()) {
            continue;
        }
        create(path.parent().unwrap_or(folder))?;
        write(&path, &file.text)?;
        written.changed += 1;
    }
    for path in before.difference(&now) {
        remove(folder, path)?;
        written.removed += 1;
    }
    write(&folder.join(MARKER), &marker(now))?;
    Ok(written)
}

/// Reads the files of a site and its address.
///
/// # Errors
/// The folder has no marker, or one of its files cannot be read. A file that is missing is left out.
pub fn read(folder: &Path) -> Result<(BTreeMap<String, String>, String), FolderError> {
    let marker = marker(folder)?.ok_or_else(|| FolderError::NoSite(folder.to_path_buf()))?;
    let mut files = BTreeMap::new();
    for path in marker.files {
        inside(folder, &path)?;
        let file = folder.join(&path);
        match std::fs::read(&file) {
            Ok(bytes) => {
                files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(FolderError::Io { action: "read", path: file, source }),
        }
    }
    Ok((files, marker.url))
}

/// Returns the files of the site in a folder; none if the folder is empty or does not exist.
fn before(folder: &Path) -> Result<BTreeSet<String>, FolderError> {
    let failed = |source| FolderError::Io { action: "read", path: folder.to_path_buf(), source };
    let mut entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(FolderError::NoFolder(folder.to_path_buf()));
        }
        Err(error) => return Err(failed(error)),
    };
    match marker(folder)? {
        Some(marker) => Ok(marker.files),
        None if entries.next().is_none() => Ok(BTreeSet::new()),
        None => Err(FolderError::Foreign(folder.to_path_buf())),
    }
}

fn marker(folder: &Path) -> Result<Option<Marker>, FolderError> {
    let path = folder.join(MARKER);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(source) => return Err(FolderError::Io { action: "read", path, source }),
    };
    match serde_json::from_str::<Marker>(&text) {
        Ok(marker) if marker.version == VERSION => Ok(Some(marker)),
        Ok(marker) => {
            let message = format!("version {} of a site, and this program knows {VERSION}", marker.version);
            Err(FolderError::Marker { path, message })
        }
        Err(error) => Err(FolderError::Marker { path, message: error.to_string() }),
    }
}

/// Returns an error if a path of a site leaves the folder.
fn inside(folder: &Path, path: &str) -> Result<(), FolderError> {
    let outside = || FolderError::Outside(folder.join(path));
    let mut place = folder.to_path_buf();
    for part in Path::new(path).components() {
        let Component::Normal(name) = part else { return Err(outside()) };
        place.push(name);
        if std::fs::symlink_metadata(&place).is_ok_and(|about| about.is_symlink()) {
            return Err(outside());
        }
    }
    if place == folder { Err(outside()) } else { Ok(()) }
}

fn create(folder: &Path) -> Result<(), FolderError> {
    let failed = |source| FolderError::Io { action: "create", path: folder.to_path_buf(), source };
    std::fs::create_dir_all(folder).map_err(failed)
}

/// Removes a file, and the folders that are empty without it.
fn remove(folder: &Path, path: &str) -> Result<(), FolderError> {
    let file = folder.join(path);
    match std::fs::remove_file(&file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(FolderError::Io { action: "remove", path: file, source: error });
        }
        _ => {}
    }
    for parent in Path::new(path).ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
        // A folder that is not empty stays.
        if std::fs::remove_dir(folder.join(parent)).is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> Vec<File> {
        paths.iter().map(|path| File { path: (*path).to_owned(), text: format!("text of {path}") }).collect()
    }

    fn put(path: &Path, text: &str) -> Result<(), FolderError> {
        let failed = |source| FolderError::Io { action: "write", path: path.to_path_buf(), source };
        std::fs::write(path, text).map_err(failed)
    }

    fn write_to(folder: &Path, paths: &[&str]) -> Result<Written, FolderError> {
        write(folder, "https://example.org/", &files(paths), put)
    }

    #[test]
    fn a_second_site_replaces_the_first_and_leaves_other_files() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("new/site");
        assert_eq!(write_to(&folder, &["index.html", "rows/a.html", "old/b.html"]).unwrap().changed, 3);
        std::fs::write(folder.join("CNAME"), "example.org").unwrap();
        let again = write_to(&folder, &["index.html", "rows/c.html"]).unwrap();
        assert_eq!(again, Written { changed: 1, removed: 2 });
        assert!(folder.join("CNAME").exists() && folder.join("rows/c.html").exists());
        assert!(!folder.join("rows/a.html").exists() && !folder.join("old").exists());
        assert_eq!(write_to(&folder, &["index.html", "rows/c.html"]).unwrap(), Written::default());
        let (read, url) = read(&folder).unwrap();
        assert_eq!(read.into_keys().collect::<Vec<_>>(), ["index.html", "rows/c.html"]);
        assert_eq!(url, "https://example.org/");
    }

    #[test]
    fn a_folder_with_other_files_is_refused_and_stays_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("index.html"), "mine").unwrap();
        let error = write_to(place.path(), &["index.html"]).unwrap_err();
        assert!(matches!(error, FolderError::Foreign(_)), "{error}");
        assert_eq!(std::fs::read_to_string(place.path().join("index.html")).unwrap(), "mine");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
        let file = place.path().join("index.html");
        assert!(matches!(write_to(&file, &["a"]).unwrap_err(), FolderError::NoFolder(_)));
        assert!(matches!(read(place.path()).unwrap_err(), FolderError::NoSite(_)));
    }

    #[test]
    fn a_marker_cannot_make_it_remove_files_elsewhere() {
        let place = tempfile::tempdir().unwrap();
        let (folder, other) = (place.path().join("site"), place.path().join("other"));
        for folder in [&folder, &other] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::write(other.join("precious"), "text").unwrap();
        std::os::unix::fs::symlink(&other, folder.join("link")).unwrap();
        let absolute = other.join("precious").display().to_string();
        for path in ["../other/precious", "link/precious", "", ".", absolute.as_str()] {
            let marker = Marker { version: VERSION, url: String::new(), files: [path.to_owned()].into() };
            std::fs::write(folder.join(MARKER), metadata::json(&marker)).unwrap();
            let error = write_to(&folder, &["index.html"]).unwrap_err();
            assert!(matches!(error, FolderError::Outside(_)), "{path}: {error}");
            assert!(!folder.join("index.html").exists() && other.join("precious").exists());
        }
    }

    #[test]
    fn an_interrupted_write_can_be_repeated() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("site");
        write_to(&folder, &["a.html", "b.html"]).unwrap();
        let mut left = 2;
        let interrupted = write(&folder, "", &files(&["c.html", "d.html"]), |path, text| {
            left -= 1;
            if left < 0 { Err(FolderError::NoFolder(path.to_path_buf())) } else { put(path, text) }
        });
        assert!(interrupted.is_err());
        assert_eq!(write_to(&folder, &["d.html"]).unwrap(), Written { changed: 1, removed: 3 });
        let names: BTreeSet<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [MARKER.into(), "d.html".into()].into());
    }
}
