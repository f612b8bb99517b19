//! The costs that are measured so far: one JSON line each, appended when it is measured, so that an
//! interrupted run can be resumed.

use std::path::{Path, PathBuf};

use matrix::diagnostics;
use matrix::json_lines::{self, Appender};
use metadata::{Cost, CostOutcome, PathNameError, PathNames, check_path_name};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The file name of the journal in the report directory.
const NAME: &str = "costs.jsonl";

/// Identifies a run. Only a run with the same identity can resume it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// The machine, its kernel and its processors.
    pub machine: String,
    /// The target.
    pub target: String,
    /// SHA-256 of the executable.
    pub executable: String,
    /// The commit that it was built from.
    pub commit: Option<String>,
    /// The options that choose what is measured, and how.
    pub options: String,
}

impl Identity {
    /// Returns the first difference of another run to this one, which is in the directory, and its remedy.
    fn difference(&self, other: &Self) -> Option<(String, String)> {
        let anew = "omit --resume to start a new run; the old journal is moved aside";
        if (&self.machine, &self.target) != (&other.machine, &other.target) {
            let was = format!("it was measured on another machine ({}, {})", self.machine, self.target);
            return Some((was, anew.to_owned()));
        }
        if self.executable != other.executable {
            let of = self.commit.as_ref().map(|commit| format!(", of commit {commit}")).unwrap_or_default();
            return Some((format!("it was written by another build of pollmatrix{of}"), anew.to_owned()));
        }
        (self.options != other.options).then(|| {
            let help = format!("resume it with the same options, or {anew}");
            (format!("it was started as `pollmatrix {}`", self.options), help)
        })
    }
}

/// One line of the journal.
#[derive(Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
enum Line {
    /// The first line.
    Begin { started: String, identity: Identity },
    /// A cost.
    Cost(Box<Cost>),
    /// The run was interrupted, and continues after this line.
    Resumed,
    /// The last line: the run is complete.
    Complete,
}

impl PathNames for Line {
    fn check_path_names(&self) -> Result<(), PathNameError> {
        match self {
            Self::Begin { identity, .. } => check_path_name("identity.target", &identity.target),
            Self::Cost(cost) => cost.check_path_names(),
            Self::Resumed | Self::Complete => Ok(()),
        }
    }
}

/// A journal that is open for writing.
pub struct Journal {
    file: Appender,
    /// The costs that are known. Noise is none of them: it is measured again.
    pub known: Vec<Cost>,
    /// When the run started.
    pub started: String,
    /// How often it was resumed.
    pub resumed: u32,
}

impl Journal {
    /// Begins a journal, or resumes the one in the directory.
    pub fn open(dir: &Path, identity: &Identity, now: &str, resume: bool) -> Result<Self, Error> {
        let path = dir.join(NAME);
        if resume {
            if let Some(contents) = read(&path)? {
                return Self::resume(dir, path, contents, identity);
            }
            diagnostics::note(&format!("{} has no run to resume: starting a new one", dir.display()));
        }
        if let Some(aside) = move_aside(&path)? {
            diagnostics::note(&format!(
                "the interrupted run in this directory is kept as {}: to continue it, rename it to {NAME} and use --resume",
                aside.display(),
            ));
        }
        let mut file = Appender::open(path, Some(0))?;
        file.write(&Line::Begin { started: now.to_owned(), identity: identity.clone() })?;
        Ok(Self { file, known: Vec::new(), started: now.to_owned(), resumed: 0 })
    }

    fn resume(dir: &Path, path: PathBuf, contents: Contents, identity: &Identity) -> Result<Self, Error> {
        if let Some((difference, help)) = contents.identity.difference(identity) {
            return Err(matrix::Error::ForeignJournal { path: dir.to_path_buf(), difference, help }.into());
        }
        if let Some(loss) = &contents.loss {
            diagnostics::warning(&format!("{loss}, and the others are measured again"));
        }
        let mut file = Appender::open(path, contents.torn_at)?;
        file.write(&Line::Resumed)?;
        let Contents { known, started, resumed, .. } = contents;
        Ok(Self { file, known, started, resumed: resumed + 1 })
    }

    /// Appends a cost.
    pub fn append(&mut self, cost: &Cost) -> Result<(), Error> {
        Ok(self.file.write(&Line::Cost(Box::new(cost.clone())))?)
    }

    /// Marks the run as complete.
    pub fn complete(&mut self) -> Result<(), Error> {
        Ok(self.file.write(&Line::Complete)?)
    }
}

/// The contents of a journal.
struct Contents {
    started: String,
    identity: Identity,
    known: Vec<Cost>,
    resumed: u32,
    complete: bool,
    /// A warning, if a part of the journal cannot be read.
    loss: Option<String>,
    /// The length of the whole lines, if a truncated line follows them.
    torn_at: Option<u64>,
}

/// Reads a journal. `None` if there is none.
fn read(path: &Path) -> Result<Option<Contents>, Error> {
    let lines = json_lines::read_file::<Line>(path)?.filter(|lines| !lines.is_empty());
    let Some(lines) = lines else { return Ok(None) };
    let loss = lines.loss(path);
    let torn_at = lines.torn.map(|(_, offset)| offset);
    let mut all = lines.whole.into_iter();
    let wrong = |why: &str| matrix::Error::NotAJournal { path: path.to_path_buf(), reason: why.to_owned() };
    let Some((1, Line::Begin { started, identity })) = all.next() else {
        return Err(wrong("line 1 does not identify the run").into());
    };
    let mut contents =
        Contents { started, identity, known: Vec::new(), resumed: 0, complete: false, loss, torn_at };
    for (_, line) in all {
        match line {
            Line::Cost(cost) => {
                contents.known.retain(|known| known.key() != cost.key());
                contents.known.push(*cost);
            }
            Line::Resumed => {
                contents.resumed += 1;
                contents.complete = false;
            }
            Line::Complete => contents.complete = true,
            Line::Begin { .. } => return Err(wrong("a second run begins").into()),
        }
    }
    contents.known.retain(|cost| !matches!(cost.outcome, CostOutcome::Noise { .. }));
    Ok(Some(contents))
}

/// Makes room for a new journal. Renames that of an incomplete run, and returns its new name.
fn move_aside(path: &Path) -> Result<Option<PathBuf>, Error> {
    if !path.exists() || matches!(read(path), Ok(Some(contents)) if contents.complete) {
        return Ok(None);
    }
    Ok(json_lines::set_aside(path).map(Some)?)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::*;

    fn identity() -> Identity {
        Identity {
            machine: "Linux 6.1, 2 processors".into(),
            target: "here".into(),
            executable: "hash".into(),
            commit: Some("abc".into()),
            options: "cost --pairs 21".into(),
        }
    }

    fn cost(descriptors: u64, outcome: CostOutcome) -> Cost {
        metadata::samples::cost("poll", descriptors, outcome)
    }

    fn open(dir: &Path, identity: &Identity, resume: bool) -> Result<Journal, Error> {
        Journal::open(dir, identity, if resume { "later" } else { "now" }, resume)
    }

    #[test]
    fn figures_survive_a_kill_and_noise_is_measured_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = open(dir.path(), &identity(), true).unwrap();
        assert_eq!((journal.started.as_str(), journal.resumed), ("later", 0), "there was none to resume");
        let reason = cost(10, CostOutcome::NotMeasured { reason: "no room".into() });
        journal.append(&reason).unwrap();
        journal.append(&cost(20, CostOutcome::Noise { low: 1.0, high: 2.0, pairs: 3 })).unwrap();
        drop(journal);
        // It was killed while it wrote a line.
        let path = dir.path().join(NAME);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"line\":\"co").unwrap();
        for times in 1..3 {
            let journal = open(dir.path(), &identity(), true).unwrap();
            assert_eq!((journal.started.as_str(), journal.resumed), ("later", times));
            assert_eq!(journal.known, std::slice::from_ref(&reason));
        }
        let mut anew = open(dir.path(), &identity(), false).unwrap();
        assert!(anew.known.is_empty() && dir.path().join("costs-1.jsonl").exists(), "the old one is kept");
        anew.complete().unwrap();
        open(dir.path(), &identity(), false).unwrap();
        assert!(!dir.path().join("costs-2.jsonl").exists(), "that of a complete run is not");
    }

    #[test]
    fn the_newest_cost_replaces_older_ones() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = open(dir.path(), &identity(), false).unwrap();
        let of = |reason: &str| cost(10, CostOutcome::NotMeasured { reason: reason.into() });
        journal.append(&of("old")).unwrap();
        journal.append(&of("new")).unwrap();
        assert_eq!(open(dir.path(), &identity(), true).unwrap().known, [of("new")]);
    }

    #[test]
    fn a_run_that_was_resumed_after_its_end_is_not_complete() {
        let dir = tempfile::tempdir().unwrap();
        open(dir.path(), &identity(), false).unwrap().complete().unwrap();
        let mut resumed = open(dir.path(), &identity(), true).unwrap();
        resumed.append(&cost(10, CostOutcome::NotMeasured { reason: "no room".into() })).unwrap();
        open(dir.path(), &identity(), false).unwrap();
        assert!(dir.path().join("costs-1.jsonl").exists(), "it has a cost that no report has");
    }

    #[test]
    fn a_run_of_another_machine_build_or_other_options_is_not_resumed() {
        let dir = tempfile::tempdir().unwrap();
        open(dir.path(), &identity(), false).unwrap();
        let other = || "other".to_owned();
        for (run, expected) in [
            (Identity { machine: other(), ..identity() }, "another machine (Linux 6.1, 2 processors, here)"),
            (Identity { target: other(), ..identity() }, "another machine"),
            (Identity { executable: other(), ..identity() }, "another build of pollmatrix, of commit abc"),
            (Identity { options: other(), ..identity() }, "it was started as `pollmatrix cost --pairs 21`"),
        ] {
            let error = open(dir.path(), &run, true).err().expect("it is refused").to_string();
            assert!(error.contains(expected), "{error}");
        }
        std::fs::write(dir.path().join(NAME), "{}\n").unwrap();
        let error = open(dir.path(), &identity(), true).err().expect("it is refused").to_string();
        assert!(error.contains("line 1 does not identify the run"), "{error}");
    }
}
