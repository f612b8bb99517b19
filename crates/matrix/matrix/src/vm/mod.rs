//! Virtual machines: descriptions, kernels, and the process that runs one.
//!
//! A machine runs as long as its guard does, and the guard as long as its standard input is open. The
//! emulator is in the guard's process group, so killing the group ends both. If the guard itself is killed,
//! the agent in the guest notices that the other end of its port is gone, and ends the machine.

mod cache;
pub mod console;
pub mod description;
pub mod emulator;
pub mod guard;
pub mod initramfs;
mod kernel;
mod kvm;
mod uml;
pub mod wire;

use std::fs;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::cache::{RunFolder, running};
use self::description::{Emulator, Machine, Port, failed};
use self::emulator::{Boot, Purpose, Start};
pub use self::initramfs::EXECUTABLE;
use self::initramfs::{Initramfs, MODULES};
pub use self::kernel::version;
use crate::command;
use crate::error::Error;

/// The file with the specification, in the folder of the running machine.
const SPEC: &str = "machine.json";
/// The matrix file in the guest.
const MATRIX: &str = "/matrix.yml";
/// The folder with expectations in the guest.
const EXPECTATIONS: &str = "/expectations";

/// How to run a machine: the input of its guard.
#[derive(Debug, Serialize, Deserialize)]
pub struct Spec {
    /// The name of the machine.
    pub machine: String,
    /// The ways to start it, the preferred one first.
    pub starts: Vec<Start>,
    /// The folder of the running machine.
    pub run: PathBuf,
    /// How long a boot can be silent, in seconds. `None`: as long as is usual.
    pub silence: Option<u64>,
    /// How many times slower it is under software emulation.
    pub slow: Option<NonZeroU32>,
    /// Whether to leave it up after the run.
    pub keep: bool,
}

/// What runs in a machine.
pub struct Contents<'a> {
    /// The executable.
    pub executable: &'a Path,
    /// The matrix file, if it is not the built-in one.
    pub matrix: Option<&'a Path>,
    /// The folder with expectations, if they are not the built-in ones.
    pub expectations: Option<&'a Path>,
    /// The kernel to boot instead of the described one.
    pub kernel: Option<&'a Path>,
    /// Whether to leave the machine up after the run.
    pub keep: bool,
}

/// A machine that is ready to start.
pub struct Prepared {
    /// The folder of the running machine.
    pub folder: RunFolder,
    /// The specification, and its file.
    pub spec: Spec,
    /// The file of the specification.
    pub spec_file: PathBuf,
    /// The matrix file in the guest.
    pub matrix: Option<String>,
    /// The folder with expectations in the guest.
    pub expectations: Option<String>,
}

/// Returns what this machine lacks to run the virtual machine, if it lacks something.
pub fn missing(name: &str, own_kernel: Option<&Path>) -> Option<String> {
    let machine = match Machine::load(name) {
        Ok(machine) => machine,
        Err(error) => return Some(format!("{error}; {}", error.help())),
    };
    // A package of user-mode Linux has the program.
    if machine.emulator == Emulator::Qemu || machine.kernel.package.is_none() {
        let program = machine.program();
        let path = std::env::var_os("PATH");
        if !command::on_path(program.as_os_str(), path.as_deref()).is_some_and(|file| file.is_file()) {
            return Some(format!("there is no program {}", program.display()));
        }
        if machine.emulator == Emulator::Uml
            && let Some(why) = uml::missing(&program)
        {
            return Some(why);
        }
    }
    match (&machine.kernel.package, own_kernel) {
        (_, Some(file)) if machine.emulator == Emulator::Qemu => {
            (!file.is_file()).then(|| format!("{} is not a file", file.display()))
        }
        (_, Some(_)) => Some(format!("{name} boots no kernel of a file")),
        (Some(package), None) => kernel::missing(&machine, package),
        (None, None) => None,
    }
}

/// Fetches what the machine needs, and writes the folder of a running machine.
///
/// # Errors
/// Something cannot be fetched, is damaged, or cannot be written.
pub fn prepare(name: &str, contents: &Contents<'_>, purpose: Purpose) -> Result<Prepared, Error> {
    let machine = Machine::load(name)?;
    let wrong = |error: io::Error| {
        failed(&machine.name, error, "free disk space, or set XDG_CACHE_HOME to a folder that is writable")
    };
    let folder = RunFolder::create(&machine.name).map_err(wrong)?;
    let run = folder.path().to_path_buf();
    let starts = with_kernel(&machine, contents, &run, purpose)?;
    let spec = Spec {
        machine: machine.name.clone(),
        starts,
        run: run.clone(),
        silence: machine.silence,
        slow: machine.slow,
        keep: contents.keep,
    };
    let spec_file = run.join(SPEC);
    fs::write(&spec_file, metadata::json(&spec)).map_err(wrong)?;
    Ok(Prepared {
        folder,
        spec,
        spec_file,
        matrix: contents.matrix.map(|_| MATRIX.to_owned()),
        expectations: contents.expectations.map(|_| EXPECTATIONS.to_owned()),
    })
}

fn with_kernel(
    machine: &Machine,
    contents: &Contents<'_>,
    run: &Path,
    purpose: Purpose,
) -> Result<Vec<Start>, Error> {
    let kernel = &machine.kernel;
    let (file, modules, port) = match (contents.kernel, &kernel.package) {
        // Its modules are not known, and every usual kernel has a driver for serial ports.
        (Some(file), _) => (Some(file.to_path_buf()), Vec::new(), Port::Serial("ttyS1".to_owned())),
        (None, Some(package)) => {
            let files = kernel::get(machine, package)?;
            (Some(files.kernel), files.modules, kernel.port.clone())
        }
        (None, None) => (None, Vec::new(), kernel.port.clone()),
    };
    let initramfs = run.join("initramfs");
    let pack = || -> io::Result<()> {
        let mut files = Initramfs::default();
        files.add_executable(EXECUTABLE, contents.executable, &kernel.libraries)?;
        for module in &modules {
            let name = module.file_name().unwrap_or_default().to_string_lossy();
            files.add(&format!("{MODULES}/{name}"), module, 0o644);
        }
        if let Some(matrix) = contents.matrix {
            files.add(MATRIX, matrix, 0o644);
        }
        if let Some(folder) = contents.expectations {
            files.add_folder(EXPECTATIONS, folder)?;
        }
        // A statically linked one, for shells.
        let busybox = Path::new("/bin/busybox");
        let needs_shell = contents.keep || purpose == Purpose::Shell;
        if machine.arch == std::env::consts::ARCH && needs_shell && busybox.is_file() {
            files.add_executable("bin/busybox", busybox, &[])?;
        }
        files.write(&initramfs)
    };
    pack().map_err(|error| {
        failed(
            &machine.name,
            format!("cannot write its initramfs: {error}"),
            "give the executable of this target",
        )
    })?;
    let boot = Boot { kernel: file.as_deref(), initramfs: &initramfs, port: &port, console: &kernel.console };
    Ok(emulator::starts(machine, &boot, run, purpose))
}

/// Removes the machine's kernel from the cache and fetches the newest one. Returns its name and version.
///
/// # Errors
/// It cannot be fetched.
pub fn fetch(name: &str) -> Result<String, Error> {
    let machine = Machine::load(name)?;
    let Some(package) = &machine.kernel.package else { return Ok(machine.program().display().to_string()) };
    kernel::forget(&machine).map_err(|error| failed(name, error, "make the cache writable"))?;
    kernel::get(&machine, package)?;
    Ok(kernel::version(&machine).unwrap_or_default())
}
