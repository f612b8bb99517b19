//! The global options of a run: the adapters to test, the behaviours that a file adds, and the expectations
//! to judge by.

mod added;
mod lab;

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use metadata::{Attempt, Column, Description, Layer, Mode, Os, Scripted, did_you_mean};
use selector::{MakeSelector, Selector};

use self::added::Added;
pub use self::lab::Lab;
use crate::backends::{self, Poller};
use crate::command::{self, quoted};
use crate::error::Error;
use crate::matrix_yml::{Backend, Exclude, Matrix, Runner};
use crate::{selftest, system};

/// The laboratory, and the values of `--adapter`, `--behaviours` and `--expectations`.
pub struct Environment {
    lab: Box<dyn Lab>,
    adapters: Vec<Adapter>,
    behaviours: Option<Added>,
    expectations: Option<PathBuf>,
}

/// A third-party poller: a column beside the backends, for behaviours only.
struct Adapter {
    /// The value of `--adapter`: the name of a built-in library, or a command line.
    typed: String,
    poller: Poller,
    /// The version of the library or of the program, if known.
    version: Option<String>,
    column: Column,
    modes: Vec<Mode>,
}

impl Environment {
    /// Tests only this system's own pollers, and judges by the built-in expectations.
    pub fn new(lab: Box<dyn Lab>) -> Self {
        Self { lab, adapters: Vec::new(), behaviours: None, expectations: None }
    }

    /// Starts each adapter once, to learn its name and modes, and reads the expectations, before any cell
    /// runs.
    ///
    /// `keep` the started adapters for their first use, if this process is going to test them. `slow`
    /// multiplies the time that an adapter has to answer.
    ///
    /// # Errors
    /// An adapter cannot be started, or the expectations are malformed.
    pub fn load(
        mut lab: Box<dyn Lab>,
        expectations: Option<&Path>,
        typed: &[String],
        keep: bool,
        slow: NonZeroU32,
    ) -> Result<Self, Error> {
        let mut adapters: Vec<Adapter> = Vec::new();
        for typed in typed {
            let adapter = Adapter::make(&*lab, typed, keep, slow)?;
            let name = adapter.poller.name;
            if backends::is_own(name) || adapters.iter().any(|other| other.poller.name == name) {
                return Err(Error::AdapterName { typed: typed.clone(), name });
            }
            adapters.push(adapter);
        }
        let mut names: Vec<_> = adapters.iter().map(|adapter| adapter.poller.name).collect();
        names.extend(backends::KQUEUE_LIBRARY);
        lab.expect(expectations, &names)?;
        let absolute = |dir: &Path| std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
        Ok(Self { lab, adapters, behaviours: None, expectations: expectations.map(absolute) })
    }

    /// Adds the behaviours of a file.
    ///
    /// # Errors
    /// The file cannot be read, or is malformed.
    pub fn with_behaviours(self, file: Option<&Path>) -> Result<Self, Error> {
        let behaviours = file.map(|path| Added::load(path, &*self.lab)).transpose()?;
        Ok(Self { behaviours, ..self })
    }

    /// Returns the behaviours that a file adds, if there is one.
    pub fn behaviours(&self) -> Option<&Added> {
        self.behaviours.as_ref()
    }

    /// Returns the characterisation scenario of this id: one of the catalogue, or a behaviour.
    pub fn scripted(&self, id: &str) -> Option<&'static Scripted> {
        let known = self.lab.scripted().find(|scripted| scripted.id == id);
        known.or_else(|| self.behaviours()?.find(id))
    }

    /// Returns the option that makes another command know a behaviour: ` --behaviours 'FILE'`, or nothing for
    /// any other scenario.
    pub fn behaviours_option(&self, scenario: &str) -> String {
        let behaviours = self.behaviours().filter(|behaviours| behaviours.find(scenario).is_some());
        behaviours
            .map(|behaviours| {
                format!(" --behaviours {}", command::word(&behaviours.path.display().to_string()))
            })
            .unwrap_or_default()
    }

    /// Checks that the runner can give the behaviours to its cells.
    ///
    /// # Errors
    /// There are behaviours, and the runner copies no file of behaviours to the other side.
    pub fn refuse_behaviours_elsewhere(&self, runner: &Runner) -> Result<(), Error> {
        match (self.behaviours(), runner) {
            (None, _) | (Some(_), Runner::Native | Runner::Prefix(_) | Runner::Import) => Ok(()),
            (Some(behaviours), _) => Err(Error::BehavioursElsewhere {
                path: behaviours.path.clone(),
                runner: runner.name().to_owned(),
            }),
        }
    }

    /// Returns every scenario that a matrix file can name: contract, characterisation, and self-tests.
    pub fn descriptions(&self) -> Vec<Description> {
        let scripted = self.lab.scripted().map(Scripted::description);
        let contract = scenarios::catalogue().map(scenarios::Scenario::description);
        contract.chain(selftest::descriptions()).chain(scripted).collect()
    }

    /// Returns the laboratory.
    pub fn lab(&self) -> &dyn Lab {
        &*self.lab
    }

    /// Returns every poller that can be tested: those of this OS's backends, and the adapters.
    pub fn pollers(&self) -> impl Iterator<Item = Poller> + '_ {
        let of_backends =
            backends::here().map(|backend| Poller { name: backend.name, make: backend.selector });
        of_backends.chain(self.adapters.iter().map(|adapter| adapter.poller))
    }

    /// Returns the poller of this name.
    ///
    /// # Errors
    /// There is no poller of this name.
    pub fn poller(&self, name: &str) -> Result<Poller, Error> {
        self.pollers().find(|poller| poller.name == name).ok_or_else(|| {
            let names: Vec<_> = self.pollers().map(|poller| poller.name).collect();
            Error::UnknownBackend { name: name.to_owned(), help: did_you_mean(name, names) }
        })
    }

    /// Returns the names of the adapters.
    pub fn adapters(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.adapters.iter().map(|adapter| adapter.poller.name)
    }

    /// Returns the known versions of the adapters, by name.
    pub fn versions(&self) -> BTreeMap<String, String> {
        let known = |adapter: &Adapter| Some((adapter.poller.name.to_owned(), adapter.version.clone()?));
        self.adapters.iter().filter_map(known).collect()
    }

    /// Returns the words of the adapters, by name.
    pub fn columns(&self) -> BTreeMap<String, Column> {
        self.adapters.iter().map(|adapter| (adapter.poller.name.to_owned(), adapter.column.clone())).collect()
    }

    /// Returns the words of the poller of this name.
    pub fn column(&self, name: &str) -> Column {
        let adapter = self.adapters.iter().find(|adapter| adapter.poller.name == name);
        let of_interface = || name.parse().map(Column::of).unwrap_or_default();
        adapter.map_or_else(of_interface, |adapter| adapter.column.clone())
    }

    /// Returns the version of the adapter of this name, or of the library that provides kqueue(2), if it is
    /// known. The library may start threads then.
    pub fn version_of(&self, name: &str) -> Option<String> {
        if name == "kqueue" {
            return backends::kqueue_library()?.split_once(' ').map(|(_, version)| version.to_owned());
        }
        self.adapters.iter().find(|adapter| adapter.poller.name == name)?.version.clone()
    }

    /// Returns the value of `--adapter` for the adapter of this name, to pass to another pollmatrix process.
    pub fn adapter_argument(&self, name: &str) -> Option<&str> {
        let adapter = self.adapters.iter().find(|adapter| adapter.poller.name == name)?;
        Some(&adapter.typed)
    }

    /// Returns the option that passes the adapter of this name to another command:
    /// ` --adapter './my-adapter epoll'`, or nothing.
    pub fn adapter_option(&self, name: &str) -> String {
        let typed = self.adapter_argument(name);
        typed.map(|typed| format!(" --adapter {}", quoted(&[typed.to_owned()]))).unwrap_or_default()
    }

    /// Checks that adapters are only used in a native run, because this program starts them.
    ///
    /// # Errors
    /// There is an adapter, and the run is not native.
    pub fn refuse_adapters_elsewhere(&self, is_native: bool) -> Result<(), Error> {
        match self.adapters.first() {
            Some(adapter) if !is_native => Err(Error::AdapterElsewhere(adapter.typed.clone())),
            _ => Ok(()),
        }
    }

    /// Adds a column per adapter to the matrix. The column has no contract cells, because the FD core cannot
    /// use an adapter.
    pub fn add_columns(&self, matrix: &mut Matrix) {
        for Adapter { poller, modes, .. } in &self.adapters {
            let id = poller.name.to_owned();
            let contract = matrix.scenarios.iter_mut().filter(|scenario| scenario.layer == Layer::Contract);
            contract.for_each(|scenario| {
                scenario.exclude.push(Exclude { backend: Some(id.clone()), ..Exclude::default() });
            });
            let os = std::env::consts::OS.parse().into_iter().collect();
            matrix.backends.push(Backend { id, os, triggers: modes.clone() });
        }
    }

    /// Returns the folder that `--expectations` names, if the option was given.
    pub fn expectations(&self) -> Option<&Path> {
        self.expectations.as_deref()
    }

    /// Returns the option that makes another command judge by the same expectations: ` --expectations 'DIR'`,
    /// or nothing.
    pub fn expectations_option(&self) -> String {
        self.expectations().map(|dir| format!(" --expectations '{}'", dir.display())).unwrap_or_default()
    }

    /// Returns the attempt as the report shows it: see [`Lab::judge`].
    pub fn judge(&self, attempt: Attempt) -> Attempt {
        self.lab.judge(attempt)
    }
}

impl Adapter {
    fn make(lab: &dyn Lab, typed: &str, keep: bool, slow: NonZeroU32) -> Result<Self, Error> {
        let known = library(lab, typed);
        let make = match known {
            Some(adapter) => adapter.make,
            None => lab.program(words(typed)?, slow),
        };
        let made = make().map_err(|source| failed(lab, typed, &source))?;
        let name = match known {
            Some(adapter) => adapter.name,
            None => made.name().to_owned().leak(),
        };
        let (modes, version, column) = (made.capabilities().modes, made.version(), made.column());
        let make = if keep { kept(made, make) } else { make };
        Ok(Self { typed: typed.to_owned(), poller: Poller { name, make }, version, column, modes })
    }
}

/// Returns the built-in library of this name.
fn library(lab: &dyn Lab, name: &str) -> Option<Poller> {
    lab.libraries().into_iter().find(|library| library.name == name)
}

/// Returns the poller of a backend of this system, of a built-in library, or of an adapter. An adapter is
/// started once, to learn its name; with `keep`, for its first use.
///
/// # Errors
/// There is no such poller here.
pub fn poller_of(lab: &dyn Lab, typed: &str, keep: bool, slow: NonZeroU32) -> Result<Poller, Error> {
    if let Some(backend) = backends::find(typed) {
        return Ok(Poller { name: backend.name, make: backend.selector });
    }
    if let Some((name, None)) = backends::BACKENDS.iter().find(|(name, _)| *name == typed) {
        let here = backends::here().map(|backend| backend.name).collect::<Vec<_>>().join(", ");
        let help = format!("this system has {here}");
        return Err(Error::UnknownBackend { name: (*name).to_owned(), help });
    }
    // One word without a slash is a name rather than a program, unless there is such a program.
    let is_name = library(lab, typed).is_none() && !typed.contains(['/', ' ']);
    if is_name && command::on_path(typed.as_ref(), std::env::var_os("PATH").as_deref()).is_none() {
        let libraries = lab.libraries().into_iter().map(|library| library.name);
        let names: Vec<_> = backends::here().map(|backend| backend.name).chain(libraries).collect();
        return Err(Error::UnknownBackend { name: typed.to_owned(), help: did_you_mean(typed, names) });
    }
    Adapter::make(lab, typed, keep, slow).map(|adapter| adapter.poller)
}

/// Returns this system, if the expectations cover it.
pub fn os() -> Option<Os> {
    system::name().parse().ok()
}

/// Splits the command line of an adapter.
///
/// # Errors
/// A quote is not closed, or there is no word.
pub fn words(typed: &str) -> Result<Vec<String>, Error> {
    shlex::split(typed).filter(|words| !words.is_empty()).ok_or_else(|| Error::Adapter {
        typed: typed.to_owned(),
        why: "a quote is not closed, or the command is empty".into(),
        help: "quote it for a shell: --adapter './my-adapter epoll'".into(),
    })
}

fn failed(lab: &dyn Lab, typed: &str, source: &io::Error) -> Error {
    let help = if library(lab, typed).is_none() && source.kind() != io::ErrorKind::Unsupported {
        let names = lab.libraries().into_iter().map(|library| library.name);
        format!(
            "{}; for a command line, `pollmatrix adapter check {typed}` shows details",
            did_you_mean(typed, names)
        )
    } else {
        "omit it: this system cannot run it".into()
    };
    Error::Adapter { typed: typed.to_owned(), why: source.to_string(), help }
}

fn kept(made: Box<dyn Selector>, make: MakeSelector) -> MakeSelector {
    let made = Mutex::new(Some(made));
    Box::leak(Box::new(move || match made.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(made) => Ok(made),
        None => make(),
    }))
}
