//! Other people's pollers that `--subject` names: columns beside the backends, for the rows of the characterisation only.

use std::io;
use std::num::NonZeroU32;
use std::sync::{Mutex, OnceLock, PoisonError};

use matrix::{Backend, Exclude, Matrix};
use metadata::{Mode, did_you_mean};
use selector::{MakeSelector, Selector};

use crate::backends::{self, Poller};
use crate::command::quoted;
use crate::error::Error;
use crate::{expected, rows};

struct Given {
    /// What follows `--subject`: a library's name, or a command line.
    typed: String,
    poller: Poller,
    triggers: Vec<Mode>,
}

static GIVEN: OnceLock<Vec<Given>> = OnceLock::new();

/// Makes each subject once, to know its name and its modes: before anything is run. `keep` it for the first who wants one, if this
/// process is going to ask it. On a machine that is so many times `slow`er, programs are given so much more time to answer.
pub fn load(typed: &[String], keep: bool, slow: NonZeroU32) -> Result<(), Error> {
    let mut given: Vec<Given> = Vec::new();
    for typed in typed {
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
        if backends::BACKENDS.iter().any(|(other, _)| *other == name)
            || given.iter().any(|other| other.poller.name == name)
        {
            return Err(Error::SubjectName { typed: typed.clone(), name });
        }
        let triggers = made.capabilities().modes;
        let make = if keep { kept(made, make) } else { make };
        given.push(Given { typed: typed.clone(), poller: Poller { name, make }, triggers });
    }
    GIVEN.get_or_init(|| given);
    Ok(())
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

fn given() -> &'static [Given] {
    GIVEN.get().map_or(&[], Vec::as_slice)
}

/// The subjects of this run.
pub fn pollers() -> impl Iterator<Item = Poller> {
    given().iter().map(|subject| subject.poller)
}

/// What was typed for the subject of this name, for another pollmatrix that is to ask it.
pub fn typed(name: &str) -> Option<&'static str> {
    given().iter().find(|subject| subject.poller.name == name).map(|subject| subject.typed.as_str())
}

/// The option that makes another command know the subject of this name: ` --subject './my-adapter epoll'`, or nothing.
pub fn option(name: &str) -> String {
    typed(name).map(|typed| format!(" --subject {}", quoted(&[typed.to_owned()]))).unwrap_or_default()
}

/// Subjects are asked by this very program.
pub fn expect_none_elsewhere(is_native: bool) -> Result<(), Error> {
    match given().first() {
        Some(subject) if !is_native => Err(Error::SubjectElsewhere(subject.typed.clone())),
        _ => Ok(()),
    }
}

/// Gives the matrix a column per subject, which has cells of rows only: it is not under the FD core.
pub fn add_columns(matrix: &mut Matrix) {
    for Given { poller, triggers, .. } in given() {
        let id = poller.name.to_owned();
        let of_the_core = matrix.scenarios.iter_mut().filter(|scenario| rows::find(&scenario.id).is_none());
        of_the_core.for_each(|scenario| {
            scenario.exclude.push(Exclude { backend: Some(id.clone()), ..Exclude::default() });
        });
        matrix.backends.push(Backend {
            id,
            os: expected::os().into_iter().collect(),
            triggers: triggers.clone(),
        });
    }
}
