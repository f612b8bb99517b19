//! The descriptions of virtual machines: the files `vm/NAME.yml`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use crate::matrix_yml::{YamlError, read_yaml};
use metadata::{Os, did_you_mean};
use serde::Deserialize;

use crate::error::Error;

/// The descriptions that are built in, by the names that matrix.yml uses.
const BUILT_IN: [(&str, &str); 7] = [
    ("debian-5-10", include_str!("../../vm/debian-5-10.yml")),
    ("debian-6-1", include_str!("../../vm/debian-6-1.yml")),
    ("debian-6-12", include_str!("../../vm/debian-6-12.yml")),
    ("debian-6-12-arm64", include_str!("../../vm/debian-6-12-arm64.yml")),
    ("debian-sid", include_str!("../../vm/debian-sid.yml")),
    ("uml", include_str!("../../vm/uml.yml")),
    ("uml-5-10", include_str!("../../vm/uml-5-10.yml")),
];
/// The end of the name of a description's file, which distinguishes it from a built-in name.
const SUFFIX: &str = ".yml";

/// A virtual machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The name: that of the file, without `.yml`.
    #[serde(skip)]
    pub name: String,
    /// One line for `pollmatrix list --targets`.
    pub about: String,
    /// The operating system.
    pub os: Os,
    /// The processor, as in `std::env::consts::ARCH`.
    pub arch: String,
    /// The program that runs the machine.
    pub emulator: Emulator,
    /// The name or path of that program, if it is not the usual one.
    pub program: Option<PathBuf>,
    /// Further arguments of that program.
    #[serde(default)]
    pub options: Vec<String>,
    /// In MiB.
    pub memory: NonZeroU32,
    /// The number of processors.
    pub processors: NonZeroU32,
    /// How many times slower than an ordinary machine it is under software emulation. `None`: the executor
    /// measures it.
    pub slow: Option<NonZeroU32>,
    /// How long a boot can be silent, in seconds, before it has failed. `None`: as long as is usual.
    pub silence: Option<u64>,
    /// The kernel to boot.
    pub kernel: Kernel,
}

/// A program that runs virtual machines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Emulator {
    /// `qemu-system-ARCH`.
    Qemu,
    /// `linux.uml`: a Linux kernel that is an ordinary program.
    Uml,
}

/// A kernel, which boots with an initramfs that holds the executable.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// The package that contains it. `None`: the emulator's program is the kernel, as it is installed.
    pub package: Option<Package>,
    /// The modules to load before the executor starts, in this order.
    #[serde(default)]
    pub modules: Vec<String>,
    /// The terminal for the kernel's messages, such as `ttyS0`.
    pub console: String,
    /// The device for commands and results.
    pub port: Port,
    /// Folders of this machine with the executable's shared libraries, searched before the usual ones.
    #[serde(default)]
    pub libraries: Vec<PathBuf>,
}

/// A package of Debian or a descendant. `*` and `?` are wildcards; the newest package that matches is used.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// The name of the package.
    pub name: String,
    /// Debian's name of the processor, such as `amd64`.
    pub architecture: String,
    /// The version of the package.
    #[serde(default = "any")]
    pub version: String,
    /// The release of Debian that has the package, such as `bullseye`. `None`: those that this machine uses.
    pub release: Option<String>,
}

fn any() -> String {
    "*".to_owned()
}

/// The device for commands and results.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Port {
    /// A port of virtio-serial. The guest notices when the other end is gone.
    Virtio,
    /// A serial port, such as `ttyS1`.
    Serial(String),
}

impl Machine {
    /// Returns the names of the built-in descriptions.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// Reads the built-in description of this name, or the file if `name` ends with `.yml`.
    ///
    /// # Errors
    /// There is no such description, or it is malformed.
    pub fn load(name: &str) -> Result<Self, Error> {
        if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Self::parse(name, &format!("vm/{name}{SUFFIX}"), text);
        }
        let Some(stem) = Path::new(name).file_name().and_then(|file| file.to_str()?.strip_suffix(SUFFIX))
        else {
            let near = did_you_mean(name, Self::names());
            let help = format!("{near}; a name that ends with {SUFFIX} is a file");
            return Err(failed(name, "there is no virtual machine of this name", help));
        };
        let text = metadata::read_text(name.as_ref())
            .map_err(|error| failed(name, error, "give the file with the description of the machine"))?;
        Self::parse(stem, name, &text)
    }

    fn parse(name: &str, file: &str, text: &str) -> Result<Self, Error> {
        let keys = "docs/vm.md says what each key means";
        let malformed = |YamlError { line, column, message, help }| {
            failed(name, format!("{file}:{line}:{column}: {message}"), help)
        };
        let mut machine: Self = read_yaml(text, keys).map_err(malformed)?;
        machine.name = name.to_owned();
        machine.check().map_err(|(why, help)| failed(name, format!("{file}: {why}"), help))?;
        Ok(machine)
    }

    /// Checks the rules that the types do not express.
    fn check(&self) -> Result<(), (String, String)> {
        let problem = |why: &str, help: &str| Err((why.to_owned(), help.to_owned()));
        match (&self.kernel, self.emulator) {
            (Kernel { package: None, .. }, Emulator::Qemu) => {
                problem("its kernel has no source", "write 'package' below 'kernel'")
            }
            (Kernel { port: Port::Virtio, .. }, Emulator::Uml) => {
                problem("user-mode Linux has no virtio port", "write port: { serial: ttyS0 }")
            }
            (Kernel { package: Some(Package { release: Some(release), .. }), .. }, _)
                if !release.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') =>
            {
                problem("its package's release is no name", "write the name of a release, such as bullseye")
            }
            _ => Ok(()),
        }
    }

    /// Returns the program that runs the machine.
    pub fn program(&self) -> PathBuf {
        match (&self.program, self.emulator) {
            (Some(program), _) => program.clone(),
            (None, Emulator::Qemu) => format!("qemu-system-{}", self.arch).into(),
            (None, Emulator::Uml) => super::uml::PROGRAM.into(),
        }
    }
}

/// Returns the error of a machine.
pub fn failed(machine: &str, why: impl ToString, help: impl ToString) -> Error {
    Error::Machine { machine: machine.to_owned(), why: why.to_string(), help: help.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        match Machine::parse("m", "m.yml", text) {
            Err(Error::Machine { why, help, .. }) => format!("{why} / {help}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_built_in_descriptions_are_well_formed() {
        let mut names: Vec<_> = Machine::names().collect();
        for name in &names {
            assert_eq!(Machine::load(name).map(|machine| machine.name).unwrap(), *name);
        }
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/vm")).unwrap();
        let files =
            files.map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned());
        let mut files: Vec<_> = files.collect();
        files.sort();
        names.sort_unstable();
        assert_eq!(files, names, "each file of vm/ is in BUILT_IN");
    }

    #[test]
    fn a_wrong_description_is_refused_with_its_place() {
        const HEAD: &str = "about: a\nos: linux\narch: x86_64\nemulator: qemu\nmemory: 64\nprocessors: 1\n";
        assert!(error(HEAD).starts_with("m.yml:6:1: missing field `kernel`"));
        let kernel = "kernel: { console: ttyS0, port: virtio }\n";
        assert_eq!(
            error(&format!("{HEAD}{kernel}")),
            "m.yml: its kernel has no source / write 'package' below 'kernel'"
        );
        let release = "kernel: { console: ttyS0, port: virtio, package: { name: a, architecture: amd64, release: a b } }";
        assert!(error(&format!("{HEAD}{release}")).starts_with("m.yml: its package's release is no name / "));
        assert!(error(&format!("{HEAD}colour: red\n")).starts_with("m.yml:7:1: unknown field `colour`"));
        assert!(
            error(&format!("{HEAD}{}", kernel.replace("virtio", "usb"))).contains("unknown variant `usb`")
        );
        assert!(matches!(Machine::load("debian-6-2"), Err(Error::Machine { help, .. })
            if help.starts_with("did you mean 'debian-6-12'") || help.starts_with("did you mean 'debian-6-1'")));
    }
}
