//! Disk images: downloaded once into the cache, or files of this machine. Each use checks them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cache::{self, FULL, MAKE_ROOM};
use super::description::{Disk, Machine, failed};
use crate::error::Error;
use crate::{command, diagnostics, pipes};

/// Returns what this machine lacks to get the image, if it lacks something.
pub fn missing(disk: &Disk) -> Option<String> {
    let image = &disk.image;
    if let Some(file) = &image.file {
        return (!file.is_file()).then(|| format!("there is no file {}", file.display()));
    }
    let address = image.address.as_deref().unwrap_or_default();
    if image.sha256.is_none() {
        return Some(format!("its description has no sha256 of {address}"));
    }
    let path = std::env::var_os("PATH");
    let have = |program: &&str| command::on_path(program.as_ref(), path.as_deref()).is_some();
    let programs = [Some("curl"), decompressor(Path::new(address))];
    let lacks = programs.into_iter().flatten().find(|program| !have(program));
    lacks.map(|program| format!("there is no {program} to get {address} with"))
}

/// Returns the program that decompresses the file, if it is compressed.
fn decompressor(file: &Path) -> Option<&'static str> {
    match file.extension()?.to_str()? {
        "xz" => Some("xz"),
        "zst" => Some("zstd"),
        "gz" => Some("gzip"),
        "bz2" => Some("bzip2"),
        _ => None,
    }
}

/// Returns the image, checked and decompressed.
pub fn get(machine: &Machine, disk: &Disk) -> Result<PathBuf, Error> {
    let image = &disk.image;
    let damaged = |file: &Path, hash: &str, expected: &str| {
        let why = format!("{} is damaged: its SHA-256 is {hash}, not {expected}", file.display());
        failed(&machine.name, why, "get it again, or correct the sha256 in the description")
    };
    let wrong = |why: String| failed(&machine.name, why, "get the image by hand, and name it with 'file'");
    let broken = |error: std::io::Error| wrong(error.to_string());
    let unless_full = |folder: &Path, why: String| match cache::too_full(folder, FULL) {
        Some(full) => failed(&machine.name, format!("{why}: {full}"), MAKE_ROOM),
        None => wrong(why),
    };
    if let Some(file) = &image.file {
        if let Some(expected) = &image.sha256 {
            let hash = cache::sha256(file).map_err(|error| wrong(format!("{}: {error}", file.display())))?;
            if hash != *expected {
                return Err(damaged(file, &hash, expected));
            }
        }
        return Ok(file.clone());
    }
    let address = image.address.as_deref().unwrap_or_default();
    let expected = image.sha256.as_deref().ok_or_else(|| {
        let why = format!("its description has no sha256 of {address}");
        failed(&machine.name, why, "write the published SHA-256 of the image into the description")
    })?;
    let cache = cache::folder().map_err(broken)?;
    let _lock = cache::lock(&cache, &machine.name).map_err(broken)?;
    let folder = cache.join("images");
    fs::create_dir_all(&folder).map_err(broken)?;
    let name = address.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("image");
    let file = folder.join(format!("{}-{name}", &expected[..expected.len().min(12)]));
    if file.is_file() && cache::sha256(&file).map_err(broken)? != expected {
        diagnostics::warning(&format!("{} is damaged; fetching it again", file.display()));
        fs::remove_file(&file).map_err(broken)?;
    }
    if !file.is_file() {
        diagnostics::note(&format!("fetching {address}"));
        let part = file.with_extension("part");
        run(Command::new("curl").args(["-fsSL", "--retry", "3", "-o"]).arg(&part).arg(address))
            .map_err(|why| unless_full(&folder, why))?;
        let hash = cache::sha256(&part).map_err(broken)?;
        if hash != expected {
            return Err(damaged(&part, &hash, expected));
        }
        fs::rename(&part, &file).map_err(broken)?;
    }
    let Some(program) = decompressor(&file) else { return Ok(file) };
    // The compressed file is the one that was checked, so a decompressed one is not reused. A machine that is
    // up keeps the one it has open.
    let to = file.with_extension("");
    let part = file.with_extension("decompressed");
    let out = fs::File::create(&part).map_err(broken)?;
    run(Command::new(program).arg("-dc").arg(&file).stdout(out)).map_err(|why| unless_full(&folder, why))?;
    fs::rename(&part, &to).map_err(broken)?;
    Ok(to)
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match pipes::output_of(command.stdin(Stdio::null()).stderr(Stdio::piped()), None) {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{name} failed ({}): {}", output.status, output.stderr.trim())),
        Err(error) => Err(format!("{name}: {error}")),
    }
}
