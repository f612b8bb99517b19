//! The initramfs: the executable, its shared libraries, and the kernel's modules.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use cpio::newc::{self, ModeFileType};
use goblin::elf::Elf;

/// The path of the executable in the guest. It is also the first process.
pub const EXECUTABLE: &str = "/pollmatrix";
/// The folder of the kernel's modules in the guest, which are loaded in the order of their names.
pub const MODULES: &str = "/modules";
/// The folder of shared libraries in the guest, which every dynamic linker searches.
const LIBRARIES: &str = "lib";

/// The files of an initramfs, by their paths without the leading `/`.
#[derive(Default)]
pub struct Initramfs {
    files: BTreeMap<String, (PathBuf, u32)>,
}

impl Initramfs {
    /// Adds a file of this machine.
    pub fn add(&mut self, name: &str, file: &Path, mode: u32) {
        self.files.insert(name.trim_start_matches('/').to_owned(), (file.to_path_buf(), mode));
    }

    /// Adds every file below a folder of this machine.
    pub fn add_folder(&mut self, name: &str, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let inside = format!("{name}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                self.add_folder(&inside, &entry.path())?;
            } else {
                self.add(&inside, &entry.path(), 0o644);
            }
        }
        Ok(())
    }

    /// Adds an executable, and the shared libraries that it needs, from `folders` or this system's folders.
    pub fn add_executable(&mut self, name: &str, file: &Path, folders: &[PathBuf]) -> io::Result<()> {
        self.add(name, file, 0o755);
        let bytes = fs::read(file)?;
        let elf = parse(file, &bytes)?;
        let Some(interpreter) = elf.interpreter else { return Ok(()) };
        let found = find(interpreter, folders).ok_or_else(|| no_library(interpreter, file))?;
        self.add(interpreter, &found, 0o755);
        let mut left: Vec<_> = elf.libraries.iter().map(|name| (*name).to_owned()).collect();
        while let Some(library) = left.pop() {
            let inside = format!("{LIBRARIES}/{library}");
            if self.files.contains_key(&inside) {
                continue;
            }
            let found = find(&library, folders).ok_or_else(|| no_library(&library, file))?;
            let bytes = fs::read(&found)?;
            left.extend(parse(&found, &bytes)?.libraries.iter().map(|name| (*name).to_owned()));
            self.add(&inside, &found, 0o644);
        }
        Ok(())
    }

    /// Writes the archive.
    pub fn write(&self, to: &Path) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(to)?);
        let mut number = 0;
        for folder in self.folders() {
            number += 1;
            let header = newc::Builder::new(&folder).ino(number).mode(0o755);
            let header = header.nlink(2).set_mode_file_type(ModeFileType::Directory);
            out = header.write(out, 0).finish()?;
        }
        for (name, (file, mode)) in &self.files {
            number += 1;
            let mut file = File::open(file)?;
            let size = u32::try_from(file.metadata()?.len()).map_err(|_| {
                io::Error::new(io::ErrorKind::FileTooLarge, format!("{name} has 4 GiB or more"))
            })?;
            let header = newc::Builder::new(name).ino(number).mode(*mode).nlink(1);
            let mut writer = header.set_mode_file_type(ModeFileType::Regular).write(out, size);
            io::copy(&mut file, &mut writer)?;
            out = writer.finish()?;
        }
        out = newc::trailer(out)?;
        out.flush()
    }

    /// Returns the folders of all files, each after the one that contains it, and those to mount on.
    fn folders(&self) -> Vec<String> {
        let mut folders: Vec<String> =
            ["dev", "proc", "sys", "tmp", "run"].into_iter().map(str::to_owned).collect();
        for name in self.files.keys() {
            folders.extend(name.match_indices('/').map(|(at, _)| name[..at].to_owned()));
        }
        folders.sort();
        folders.dedup();
        folders
    }
}

/// Returns the file of a library, or of a dynamic linker with its path.
fn find(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let base = Path::new(name).file_name()?;
    let own = folders.iter().map(|folder| folder.join(base));
    // Debian's folders for several processors, and everybody's.
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    let usual = ["/lib", "/usr/lib", "/lib64", "/usr/lib64"];
    let usual = [format!("/lib/{triplet}"), format!("/usr/lib/{triplet}")]
        .into_iter()
        .chain(usual.into_iter().map(str::to_owned))
        .map(|folder| Path::new(&folder).join(base));
    let itself = name.starts_with('/').then(|| PathBuf::from(name)).filter(|_| folders.is_empty());
    own.chain(itself).chain(usual).find(|file| file.is_file())
}

fn parse<'a>(file: &Path, bytes: &'a [u8]) -> io::Result<Elf<'a>> {
    let wrong = |error| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", file.display()));
    Elf::parse(bytes).map_err(wrong)
}

fn no_library(name: &str, file: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{} needs {name}, which is not here", file.display()))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_archive_holds_the_executable_and_its_libraries() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::env::current_exe().unwrap();
        let mut initramfs = Initramfs::default();
        initramfs.add_executable(EXECUTABLE, &own, &[]).unwrap();
        let archive = folder.path().join("archive");
        initramfs.write(&archive).unwrap();

        let mut input = File::open(&archive).unwrap();
        let mut names = Vec::new();
        loop {
            let mut entry = newc::Reader::new(input).unwrap();
            if entry.entry().is_trailer() {
                break;
            }
            let name = entry.entry().name().to_owned();
            let mut contents = Vec::new();
            entry.read_to_end(&mut contents).unwrap();
            if name == "pollmatrix" {
                assert!(contents == fs::read(&own).unwrap(), "the executable is unchanged");
                assert_eq!(entry.entry().mode() & 0o777, 0o755);
            }
            names.push(name);
            input = entry.finish().unwrap();
        }
        for name in ["dev", "lib", "lib/libc.so.6", "pollmatrix", "proc", "tmp"] {
            assert!(names.iter().any(|known| known == name), "{name} is missing: {names:?}");
        }
        let at = |name: &str| names.iter().position(|known| known == name);
        assert!(at("lib") < at("lib/libc.so.6"), "{names:?}");
    }

    #[test]
    fn a_file_that_is_no_executable_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "#!/bin/sh").unwrap();
        let error = Initramfs::default().add_executable(EXECUTABLE, file.path(), &[]).unwrap_err();
        assert!(error.to_string().contains(&file.path().display().to_string()), "{error}");
    }
}
