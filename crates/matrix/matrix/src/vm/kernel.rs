//! Kernels from the packages of Debian and its descendants, kept in the cache.

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

use super::cache::{self, FULL, MAKE_ROOM};
use super::description::{Emulator, Kernel, Machine, Package, failed};
use crate::error::Error;
use crate::provenance::hash_of;
use crate::{command, diagnostics, pipes};

/// The file of a cached kernel that says what it is.
const RECORD: &str = "kernel.json";
/// The sources of a release, in the folder of its lists.
const SOURCES: &str = "sources.list";
/// The keys of Debian's releases, from its package debian-archive-keyring.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// The room that the lists of apt, a package and its files take together.
const ROOM: u64 = 256 << 20;
const UPDATE: &str = "check the sources of apt, or name a kernel with --kernel FILE";

/// A kernel in the cache.
#[derive(Serialize, Deserialize)]
struct Record {
    package: String,
    version: String,
    /// The SHA-256 of the package.
    sha256: String,
    /// The modules of the description, with those that are built into the kernel.
    #[serde(default)]
    modules: Vec<String>,
    /// The files, relative to the folder: the kernel, then its modules in the order to load them.
    files: Vec<RecordedFile>,
}

#[derive(Serialize, Deserialize)]
struct RecordedFile {
    name: String,
    sha256: String,
}

/// The files of a kernel.
pub struct KernelFiles {
    /// The kernel.
    pub kernel: PathBuf,
    /// Its modules, in the order to load them.
    pub modules: Vec<PathBuf>,
}

/// Returns what this machine lacks to get the kernel, if it lacks something.
pub fn missing(machine: &Machine, package: &Package) -> Option<String> {
    let folder = match cache::folder() {
        Ok(folder) => folder.join(&machine.name),
        Err(error) => return Some(error.to_string()),
    };
    if folder.join(RECORD).is_file() {
        return None;
    }
    let path = std::env::var_os("PATH");
    let lacks = |name: &&str| command::on_path((*name).as_ref(), path.as_deref()).is_none();
    let lacking = ["apt-get", "apt-cache", "dpkg-deb"].into_iter().find(|name| lacks(name))?;
    Some(format!("there is no {lacking} to get {} with (--kernel FILE names a kernel)", package.name))
}

/// Returns the kernel in the cache. Fetches it if it is not there, or not as it was.
pub fn get(machine: &Machine, package: &Package) -> Result<KernelFiles, Error> {
    let wrong = |why: String| failed(&machine.name, why, UPDATE);
    let broken = |error: io::Error| wrong(error.to_string());
    let cache = cache::folder().map_err(broken)?;
    let _lock = cache::lock(&cache, &machine.name).map_err(broken)?;
    let folder = cache.join(&machine.name);
    match cached(&folder, &machine.kernel) {
        Ok(Some(files)) => return Ok(files),
        Ok(None) => {}
        Err(why) => diagnostics::warning(&format!("{}: {why}; fetching it again", machine.name)),
    }
    if let Some(why) = cache::too_full(&cache, ROOM) {
        return Err(failed(&machine.name, why, MAKE_ROOM));
    }
    fetch_into(&cache, &folder, machine, package).map_err(|why| {
        let help = if cache::too_full(&cache, FULL).is_some() { MAKE_ROOM } else { UPDATE };
        failed(&machine.name, why, help)
    })?;
    match cached(&folder, &machine.kernel) {
        Ok(Some(files)) => Ok(files),
        Ok(None) => Err(wrong("the package was fetched, but is not in the cache".to_owned())),
        Err(why) => Err(wrong(why)),
    }
}

/// Removes the kernel from the cache, so that the next use gets the newest one.
pub fn forget(machine: &Machine) -> io::Result<()> {
    let cache = cache::folder()?;
    let _lock = cache::lock(&cache, &machine.name)?;
    match fs::remove_dir_all(cache.join(&machine.name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the package and version in the cache.
pub fn version(machine: &Machine) -> Option<String> {
    let text = fs::read(cache::folder().ok()?.join(&machine.name).join(RECORD)).ok()?;
    let record: Record = serde_json::from_slice(&text).ok()?;
    Some(format!("{} {}", record.package, record.version))
}

/// Returns the files in the cache, if they are what was fetched.
fn cached(folder: &Path, kernel: &Kernel) -> Result<Option<KernelFiles>, String> {
    let Ok(text) = fs::read(folder.join(RECORD)) else { return Ok(None) };
    let record: Record = serde_json::from_slice(&text)
        .map_err(|error| format!("its record in the cache is damaged ({error})"))?;
    for file in &record.files {
        let path = folder.join(&file.name);
        match hash_of(&path) {
            Ok(hash) if hash == file.sha256 => {}
            Ok(hash) => {
                let path = path.display();
                return Err(format!("{path} is damaged: its SHA-256 is {hash}, not {}", file.sha256));
            }
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    let Some((first, modules)) = record.files.split_first() else {
        return Err("its record in the cache is empty".to_owned());
    };
    // The description can have changed since.
    if record.modules != kernel.modules {
        return Ok(None);
    }
    let modules = modules.iter().map(|file| folder.join(&file.name)).collect();
    Ok(Some(KernelFiles { kernel: folder.join(&first.name), modules }))
}

/// Returns the name of the module in a file.
fn module_name(file: &str) -> String {
    let base = file.rsplit('/').next().unwrap_or_default();
    base.split(".ko").next().unwrap_or_default().replace('-', "_")
}

/// Fetches the newest package that matches, and puts its kernel and modules into `folder`.
fn fetch_into(cache: &Path, folder: &Path, machine: &Machine, package: &Package) -> Result<(), String> {
    let message = |error: io::Error| error.to_string();
    let kernel = &machine.kernel;
    diagnostics::note(&format!("fetching {} for {} with apt", package.name, package.architecture));
    let apt = Apt::new(cache, package)?;
    let found = apt.newest(package)?;
    let work = tempfile::tempdir_in(cache).map_err(message)?;
    let root = work.path().join("root");
    let unpack = |package: &Found| {
        let archive = apt.download(package, work.path())?;
        run(Command::new("dpkg-deb").arg("-x").arg(&archive).arg(&root))?;
        fs::remove_file(archive).map_err(message)
    };
    unpack(&found)?;
    for name in &found.parts {
        unpack(&apt.shown(name).ok_or_else(|| format!("apt knows no package {name}"))?)?;
    }
    let mut unpacked = Vec::new();
    list_files(&root, &mut unpacked).map_err(message)?;
    let member = |is_it: &dyn Fn(&str) -> bool| {
        let name = |path: &&PathBuf| path.strip_prefix(&root).ok().and_then(Path::to_str).is_some_and(is_it);
        unpacked.iter().find(name).cloned()
    };
    let path = match machine.emulator {
        Emulator::Qemu => "/vmlinu",
        Emulator::Uml => "/bin/linux.uml",
    };
    let mut wanted = vec![
        member(&|name| name.contains(path))
            .ok_or_else(|| format!("{} has no {path}: it is no package of a kernel", found.package))?,
    ];
    let built_in = match member(&|name| name.ends_with("/modules.builtin")) {
        Some(list) => fs::read_to_string(list).map_err(message)?,
        None => String::new(),
    };
    for module in &kernel.modules {
        if built_in.lines().any(|line| module_name(line) == *module) {
            continue;
        }
        let is_it =
            |name: &str| name.contains("/modules/") && name.contains(".ko") && module_name(name) == *module;
        wanted.push(member(&is_it).ok_or_else(|| format!("{} has no module {module}", found.package))?);
    }

    let new = work.path().join("new");
    fs::create_dir(&new).map_err(message)?;
    let mut files = Vec::new();
    for (index, file) in wanted.iter().enumerate() {
        let from = decompressed(file)?;
        // Modules are loaded in the order of their names.
        let base = from.file_name().unwrap_or_default().to_string_lossy();
        let name = if index == 0 { "kernel".to_owned() } else { format!("{index:02}-{base}") };
        let to = new.join(&name);
        fs::copy(&from, &to).map_err(message)?;
        files.push(RecordedFile { name, sha256: hash_of(&to).map_err(message)? });
    }
    let record = Record {
        package: found.package,
        version: found.version,
        sha256: found.sha256,
        modules: kernel.modules.clone(),
        files,
    };
    fs::write(new.join(RECORD), metadata::json(&record)).map_err(message)?;
    let _ = fs::remove_dir_all(folder);
    fs::rename(&new, folder).map_err(message)
}

/// Lists the files below a folder.
fn list_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => list_files(&entry.path(), files)?,
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

/// Decompresses a module, because not every kernel can do that, and returns its new path.
fn decompressed(file: &Path) -> Result<PathBuf, String> {
    let program = match file.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        Some("gz") => "gzip",
        _ => return Ok(file.to_path_buf()),
    };
    let to = file.with_extension("");
    let out = File::create(&to).map_err(|error| error.to_string())?;
    run(Command::new(program).arg("-dc").arg(file).stdout(out))?;
    Ok(to)
}

/// A package that can be downloaded.
struct Found {
    package: String,
    version: String,
    sha256: String,
    /// The packages of exactly the same version that it needs: since Linux 7, Debian divides a kernel.
    parts: Vec<String>,
}

/// Returns the address of Debian's archive, from the sources of this machine: every mirror's path ends alike.
fn debian() -> Result<String, String> {
    let asked = ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"];
    let addresses = run(Command::new("apt-get").args(asked).stdout(Stdio::piped()))?;
    let found = addresses.lines().find(|address| address.ends_with("/debian/"));
    found.map(str::to_owned).ok_or_else(|| "no source of apt is Debian's".to_owned())
}

/// apt with lists of its own, in the cache. It needs no rights, changes nothing of this system, and knows
/// the packages for other processors.
struct Apt<'a> {
    folder: PathBuf,
    architecture: String,
    release: Option<&'a str>,
}

impl<'a> Apt<'a> {
    fn new(cache: &Path, package: &'a Package) -> Result<Self, String> {
        let message = |error: io::Error| error.to_string();
        let release = package.release.as_deref();
        let name = ["apt", &package.architecture].into_iter().chain(release).collect::<Vec<_>>().join("-");
        let apt = Self { folder: cache.join(name), architecture: package.architecture.clone(), release };
        fs::create_dir_all(apt.folder.join("state/lists/partial")).map_err(message)?;
        fs::create_dir_all(apt.folder.join("cache/archives/partial")).map_err(message)?;
        if let Some(release) = release {
            let source = format!("deb [signed-by={KEYS}] {} {release} main\n", debian()?);
            fs::write(apt.folder.join(SOURCES), source).map_err(message)?;
        }
        Ok(apt)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let folder = self.folder.display();
        for option in [
            format!("APT::Architecture={}", self.architecture),
            format!("APT::Architectures::={}", self.architecture),
            format!("Dir::State={folder}/state"),
            "Dir::State::status=/dev/null".to_owned(),
            format!("Dir::Cache={folder}/cache"),
            // A container's user can be unable to become apt's own.
            "APT::Sandbox::User=".to_owned(),
        ] {
            command.arg("-o").arg(option);
        }
        if self.release.is_some() {
            command.args(["-o", &format!("Dir::Etc::SourceList={folder}/{SOURCES}")]);
            command.args(["-o", "Dir::Etc::SourceParts=/dev/null"]);
        }
        command.stdout(Stdio::piped()).env("LC_ALL", "C");
        command
    }

    /// Returns the newest package that matches.
    fn newest(&self, wanted: &Package) -> Result<Found, String> {
        run(self.command("apt-get").args(["-qq", "update"]))?;
        let fixed = wanted.name.split(['*', '?']).next().unwrap_or_default();
        let names = run(self.command("apt-cache").arg("pkgnames").arg(fixed))?;
        let pattern = WildMatch::new(&wanted.name);
        let mut names: Vec<_> = names.lines().filter(|name| pattern.matches(name)).collect();
        names.sort_by(|one, other| by_numbers(other, one));
        let version = WildMatch::new(&wanted.version);
        for name in names {
            if let Some(found) = self.shown(name)
                && version.matches(&found.version)
            {
                return Ok(found);
            }
        }
        let of = self.release.map(|release| format!(" of {release}")).unwrap_or_default();
        Err(format!("apt knows no package {} {}{of} for {}", wanted.name, wanted.version, self.architecture))
    }

    /// Returns the newest version of a package. A name without one is that of a package which others only
    /// refer to.
    fn shown(&self, name: &str) -> Option<Found> {
        let shown = run(self.command("apt-cache").args(["show", "--no-all-versions", name])).ok()?;
        let field = |key: &str| shown.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        let version = field("Version")?.trim().to_owned();
        let exactly = format!(" (= {version})");
        let needed = field("Depends").unwrap_or_default().split(", ");
        let parts = needed.filter_map(|needed| needed.strip_suffix(&exactly)).map(str::to_owned).collect();
        Some(Found { package: name.to_owned(), version, sha256: field("SHA256")?.trim().to_owned(), parts })
    }

    /// Downloads a package into `folder`, checks it, and returns its file.
    fn download(&self, found: &Found, folder: &Path) -> Result<PathBuf, String> {
        let package = format!("{}={}", found.package, found.version);
        run(self.command("apt-get").args(["-qq", "download", &package]).current_dir(folder))?;
        let files = fs::read_dir(folder).map_err(|error| error.to_string())?;
        let mut paths = files.flatten().map(|file| file.path());
        let is_package = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "deb");
        let file = paths.find(is_package).ok_or_else(|| format!("apt-get did not download {package}"))?;
        let hash = hash_of(&file).map_err(|error| error.to_string())?;
        if hash != found.sha256 {
            return Err(format!("{package} was damaged: its SHA-256 is {hash}, not {}", found.sha256));
        }
        Ok(file)
    }
}

/// Compares texts with the numbers in them: `6.1.0-9` is less than `6.1.0-10`.
fn by_numbers(one: &str, other: &str) -> Ordering {
    let parts = |text: &str| {
        let mut parts: Vec<(String, u64)> = vec![(String::new(), 0)];
        let mut in_number = false;
        for c in text.chars() {
            match c.to_digit(10) {
                Some(digit) => {
                    let last = parts.last_mut().expect("there is always one part");
                    last.1 = last.1.saturating_mul(10).saturating_add(digit.into());
                    in_number = true;
                }
                None => {
                    if std::mem::take(&mut in_number) {
                        parts.push((String::new(), 0));
                    }
                    parts.last_mut().expect("there is always one part").0.push(c);
                }
            }
        }
        parts
    };
    parts(one).cmp(&parts(other))
}

/// Runs a command, and returns its standard output, if that is a pipe. The error is its standard error, or
/// that the cache is full.
fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let is_full = || cache::folder().ok().and_then(|folder| cache::too_full(&folder, FULL));
    let ended = pipes::output_unless(command.stdin(Stdio::null()).stderr(Stdio::piped()), None, is_full);
    match ended {
        Ok(output) if output.status.success() => Ok(output.stdout),
        Ok(output) => {
            let why = output.stderr.lines().last().unwrap_or_default().to_owned();
            Err(format!("{name} failed ({}): {why}", output.status))
        }
        Err(error) => Err(format!("{name}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_name_has_the_greatest_numbers() {
        let mut names = ["linux-6.1.0-9-x", "linux-6.1.0-10-x", "linux-6.1.0-9-w", "linux-6.12.0-1-x"];
        names.sort_by(|one, other| by_numbers(one, other));
        assert_eq!(names, ["linux-6.1.0-9-w", "linux-6.1.0-9-x", "linux-6.1.0-10-x", "linux-6.12.0-1-x"]);
    }

    fn record(folder: &Path, sha256: &str) {
        fs::write(folder.join("kernel"), "abc").unwrap();
        let files = vec![RecordedFile { name: "kernel".into(), sha256: sha256.into() }];
        let (package, version) = ("p".into(), "1".into());
        let record = Record { package, version, sha256: String::new(), modules: Vec::new(), files };
        fs::write(folder.join(RECORD), metadata::json(&record)).unwrap();
    }

    #[test]
    fn a_damaged_file_in_the_cache_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let modules = |names: &[&str]| Kernel {
            package: None,
            modules: names.iter().map(|name| (*name).to_owned()).collect(),
            console: "ttyS0".into(),
            port: super::super::description::Port::Virtio,
            libraries: Vec::new(),
        };
        assert!(matches!(cached(folder.path(), &modules(&[])), Ok(None)));
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        record(folder.path(), abc);
        let files = cached(folder.path(), &modules(&[])).unwrap().unwrap();
        assert_eq!(files.kernel, folder.path().join("kernel"));
        assert!(matches!(cached(folder.path(), &modules(&["virtio"])), Ok(None)));
        fs::write(folder.path().join("kernel"), "abd").unwrap();
        let Err(why) = cached(folder.path(), &modules(&[])) else { panic!("it is damaged") };
        assert!(why.contains("kernel is damaged: its SHA-256 is a52d159f") && why.contains(abc), "{why}");
        assert_eq!(module_name("lib/modules/6.1/virtio-ring.ko.xz"), "virtio_ring");
        fs::remove_file(folder.path().join("kernel")).unwrap();
        assert!(cached(folder.path(), &modules(&[])).is_err());
    }
}
