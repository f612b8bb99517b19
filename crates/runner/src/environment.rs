//! What every part of a run has to know of how it was started: which pollers are asked, and what is expected of them.

use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use expectations::{Answers, Divergences, Version};
use matrix::{Backend, Exclude, Matrix};
use metadata::{Attempt, Mode, Os, did_you_mean};
use selector::{MakeSelector, Selector};

use crate::backends::{self, Poller};
use crate::command::quoted;
use crate::error::Error;
use crate::provenance;

/// What `--subject` and `--expectations` say. One that is made with [`Environment::default`] asks this system's own pollers
/// alone and judges by what is built in.
#[derive(Default)]
pub struct Environment {
    subjects: Vec<Subject>,
    expectations: Option<Expectations>,
    built_in: OnceLock<Answers>,
}

/// Somebody else's poller: a column beside the backends, for the rows of the characterisation only.
struct Subject {
    /// What follows `--subject`: a library's name, or a command line.
    typed: String,
    poller: Poller,
    modes: Vec<Mode>,
}

/// What is in the folder that `--expectations` names.
struct Expectations {
    dir: PathBuf,
    divergences: Divergences,
    answers: Answers,
}

impl Environment {
    /// Makes each subject once, to know its name and its modes, and reads the expectations: before anything is run.
    ///
    /// `keep` what was made for the first who wants one, if this process is going to ask it. On a machine that is so many times
    /// `slow`er, programs are given so much more time to answer.
    ///
    /// # Errors
    /// A subject cannot be made, or the expectations are wrong.
    pub fn load(
        expectations: Option<&Path>,
        typed: &[String],
        keep: bool,
        slow: NonZeroU32,
    ) -> Result<Self, Error> {
        let mut subjects: Vec<Subject> = Vec::new();
        for typed in typed {
            let subject = Subject::make(typed, keep, slow)?;
            let name = subject.poller.name;
            let is_known = backends::BACKENDS.iter().any(|(other, _)| *other == name);
            if is_known || subjects.iter().any(|other| other.poller.name == name) {
                return Err(Error::SubjectName { typed: typed.clone(), name });
            }
            subjects.push(subject);
        }
        let names: Vec<_> = subjects.iter().map(|subject| subject.poller.name).collect();
        let expectations = expectations.map(|dir| Expectations::load(dir, &names)).transpose()?;
        if expectations.is_none() {
            // Now, for `judge` cannot complain.
            Divergences::built_in()?;
        }
        Ok(Self { subjects, expectations, built_in: OnceLock::new() })
    }

    /// Every poller that can be asked: of the backends that this OS has, and the subjects.
    pub fn pollers(&self) -> impl Iterator<Item = Poller> + '_ {
        let of_backends =
            backends::here().map(|backend| Poller { name: backend.name, make: backend.selector });
        of_backends.chain(self.subjects.iter().map(|subject| subject.poller))
    }

    /// The poller of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn poller(&self, name: &str) -> Result<Poller, Error> {
        self.pollers().find(|poller| poller.name == name).ok_or_else(|| {
            let names: Vec<_> = self.pollers().map(|poller| poller.name).collect();
            Error::UnknownBackend { name: name.to_owned(), help: did_you_mean(name, names) }
        })
    }

    /// The names of the subjects.
    pub fn subjects(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.subjects.iter().map(|subject| subject.poller.name)
    }

    /// What was typed for the subject of this name, for another pollmatrix that is to ask it.
    pub fn typed(&self, name: &str) -> Option<&str> {
        let subject = self.subjects.iter().find(|subject| subject.poller.name == name)?;
        Some(&subject.typed)
    }

    /// The option that makes another command know the subject of this name: ` --subject './my-adapter epoll'`, or nothing.
    pub fn subject_option(&self, name: &str) -> String {
        let typed = self.typed(name);
        typed.map(|typed| format!(" --subject {}", quoted(&[typed.to_owned()]))).unwrap_or_default()
    }

    /// Subjects are asked by this very program.
    ///
    /// # Errors
    /// There is one, and the run is not native.
    pub fn expect_no_subject_elsewhere(&self, is_native: bool) -> Result<(), Error> {
        match self.subjects.first() {
            Some(subject) if !is_native => Err(Error::SubjectElsewhere(subject.typed.clone())),
            _ => Ok(()),
        }
    }

    /// Gives the matrix a column per subject, which has cells of rows only: it is not under the FD core.
    pub fn add_columns(&self, matrix: &mut Matrix) {
        for Subject { poller, modes, .. } in &self.subjects {
            let id = poller.name.to_owned();
            let of_the_core =
                matrix.scenarios.iter_mut().filter(|scenario| characterisation::find(&scenario.id).is_none());
            of_the_core.for_each(|scenario| {
                scenario.exclude.push(Exclude { backend: Some(id.clone()), ..Exclude::default() });
            });
            matrix.backends.push(Backend { id, os: os().into_iter().collect(), triggers: modes.clone() });
        }
    }

    /// What `--expectations` names, if it was given.
    pub fn expectations(&self) -> Option<&Path> {
        self.expectations.as_ref().map(|given| given.dir.as_path())
    }

    /// The option that makes another command judge alike: ` --expectations 'DIR'`, or nothing.
    pub fn expectations_option(&self) -> String {
        self.expectations().map(|dir| format!(" --expectations '{}'", dir.display())).unwrap_or_default()
    }

    /// What this system's raw pollers are expected to answer, and those subjects that are asked.
    ///
    /// # Errors
    /// What is built in is wrong.
    pub fn answers(&self) -> Result<&Answers, Error> {
        if let Some(given) = &self.expectations {
            return Ok(&given.answers);
        }
        // Not before they are asked for: to read them takes a cell of the core longer than to run.
        if self.built_in.get().is_none() {
            let subjects: Vec<_> = self.subjects().collect();
            let answers = os().map_or(Ok(Answers::default()), |os| Answers::built_in_of(os, &subjects))?;
            let _ = self.built_in.set(answers);
        }
        Ok(self.built_in.get().unwrap_or_else(|| unreachable!("it was just set")))
    }

    /// The attempt as it is to be reported: a failure that is documented for this system is none.
    ///
    /// It is judged where it was made: only there is it known on which kernel.
    pub fn judge(&self, attempt: Attempt) -> Attempt {
        let given = self.expectations.as_ref().map(|given| &given.divergences);
        let divergences = given.or_else(|| Divergences::built_in().ok());
        let (Some(divergences), Some(os)) = (divergences, os()) else { return attempt };
        divergences.judge(os, version().as_ref(), attempt)
    }
}

impl Subject {
    fn make(typed: &str, keep: bool, slow: NonZeroU32) -> Result<Self, Error> {
        let known = subjects::find(typed);
        let make = match known {
            Some(subject) => subject.make,
            None => subjects::process(words(typed)?, subjects::PATIENCE.saturating_mul(slow.get())),
        };
        let made = make().map_err(|source| failed(typed, &source))?;
        let name = match known {
            Some(subject) => subject.name,
            None => made.name().to_owned().leak(),
        };
        let modes = made.capabilities().modes;
        let make = if keep { kept(made, make) } else { make };
        Ok(Self { typed: typed.to_owned(), poller: Poller { name, make }, modes })
    }
}

impl Expectations {
    fn load(dir: &Path, subjects: &[&'static str]) -> Result<Self, Error> {
        let divergences = Divergences::load(dir)?;
        let answers = os().map_or(Ok(Answers::default()), |os| Answers::load_of(dir, os, subjects))?;
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
        Ok(Self { dir, divergences, answers })
    }
}

/// This system, if expectations know it.
pub fn os() -> Option<Os> {
    provenance::OS.parse().ok()
}

/// The version of this system's kernel, if it has numbers.
pub fn version() -> Option<Version> {
    Version::of_release(os()?, &provenance::kernel().0)
}

fn words(typed: &str) -> Result<Vec<String>, Error> {
    shlex::split(typed).filter(|words| !words.is_empty()).ok_or_else(|| Error::Subject {
        typed: typed.to_owned(),
        why: "a quote is not closed, or nothing is in it".into(),
        help: "quote it as a shell wants it: --subject './my-adapter epoll'".into(),
    })
}

fn failed(typed: &str, source: &io::Error) -> Error {
    let help = if subjects::find(typed).is_none() && source.kind() != io::ErrorKind::Unsupported {
        let names = subjects::SUBJECTS.iter().map(|subject| subject.name);
        format!(
            "{}; or a command line: `pollmatrix subject-check {typed}` says more",
            did_you_mean(typed, names)
        )
    } else {
        "leave it out: there is nothing to ask on this system".into()
    };
    Error::Subject { typed: typed.to_owned(), why: source.to_string(), help }
}

fn kept(made: Box<dyn Selector>, make: MakeSelector) -> MakeSelector {
    let made = Mutex::new(Some(made));
    Box::leak(Box::new(move || match made.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(made) => Ok(made),
        None => make(),
    }))
}
