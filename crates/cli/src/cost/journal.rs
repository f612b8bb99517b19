//! The costs that are measured so far: a JSON line each, appended when it is measured, so that an interrupted
//! run can be continued.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use metadata::Cost;
use runner::{REPORT_DIR_HELP, diagnostics, json_lines};
use serde::{Deserialize, Serialize};

use crate::error::Error;

const NAME: &str = "costs.jsonl";

/// What must be equal to continue a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// SHA-256 of the executable.
    pub executable: String,
    /// The target.
    pub target: String,
    /// The number of pairs.
    pub pairs: u32,
    /// The accepted noise.
    pub noise: String,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
enum Line {
    Begin { started: String, identity: Identity },
    Cost(Box<Cost>),
    Resumed,
    Complete,
}

/// The journal of a run.
pub struct Journal {
    file: File,
    path: PathBuf,
    known: Vec<Cost>,
    /// When the run started.
    pub started: String,
    /// How often it was resumed.
    pub resumed: u32,
}

impl Journal {
    /// Begins a journal, or continues the one in the directory.
    pub fn open(dir: &Path, identity: &Identity, now: &str, is_resumed: bool) -> Result<Self, Error> {
        let path = dir.join(NAME);
        let before = if is_resumed { read(&path)? } else { None };
        if is_resumed && before.is_none() {
            diagnostics::note(&format!("{} has no costs to resume: starting a new run", dir.display()));
        }
        let Some((started, theirs, known, resumed, length)) = before else {
            let file = File::create(&path).map_err(|source| failed("write", &path, source))?;
            let started = now.to_owned();
            let mut journal = Self { file, path, known: Vec::new(), started: started.clone(), resumed: 0 };
            journal.write(&Line::Begin { started, identity: identity.clone() })?;
            return Ok(journal);
        };
        if theirs != *identity {
            let why = "its costs were measured with another pollmatrix, --pairs or --noise".into();
            return Err(Error::Unfit {
                path,
                why,
                help: "use the same ones, or omit --resume to begin again",
            });
        }
        let open = || {
            let file = OpenOptions::new().append(true).open(&path)?;
            // Without a line that was cut off.
            file.set_len(length)?;
            Ok(file)
        };
        let file = open().map_err(|source| failed("write", &path, source))?;
        let mut journal = Self { file, path, known, started, resumed: resumed + 1 };
        journal.write(&Line::Resumed)?;
        Ok(journal)
    }

    /// Returns the cost with this id, if it is known.
    pub fn take(&mut self, id: &str) -> Option<Cost> {
        let at = self.known.iter().position(|cost| cost.id == id)?;
        Some(self.known.swap_remove(at))
    }

    /// Appends a cost.
    pub fn append(&mut self, cost: &Cost) -> Result<(), Error> {
        self.write(&Line::Cost(Box::new(cost.clone())))
    }

    /// Marks the run as complete.
    pub fn complete(&mut self) -> Result<(), Error> {
        self.write(&Line::Complete)
    }

    fn write(&mut self, line: &Line) -> Result<(), Error> {
        let text = metadata::json_line(line);
        self.file.write_all(text.as_bytes()).map_err(|source| failed("write", &self.path, source))
    }
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> Error {
    runner::Error::Io { action, path: path.to_path_buf(), source, help: REPORT_DIR_HELP }.into()
}

type Contents = (String, Identity, Vec<Cost>, u32, u64);

/// Reads a journal. A cost without a figure because of noise is measured again.
fn read(path: &Path) -> Result<Option<Contents>, Error> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed("read", path, source)),
    };
    let lines = json_lines::read(&text, |line| serde_json::from_slice::<Line>(line).ok());
    let length = lines.torn.map_or(text.len() as u64, |(_, offset)| offset);
    let mut all = lines.whole.into_iter().map(|(_, line)| line);
    let Some(Line::Begin { started, identity }) = all.next() else { return Ok(None) };
    let (mut known, mut resumed): (Vec<Cost>, u32) = (Vec::new(), 0);
    for line in all {
        match line {
            Line::Cost(cost) => {
                known.retain(|other| other.id != cost.id);
                known.push(*cost);
            }
            Line::Resumed => resumed += 1,
            Line::Begin { .. } | Line::Complete => {}
        }
    }
    known.retain(|cost| matches!(cost.outcome.status(), "measured" | "unsupported"));
    Ok(Some((started, identity, known, resumed, length)))
}

#[cfg(test)]
mod tests {
    use metadata::CostOutcome;
    use metadata::samples::{cost, measured};

    use super::*;

    fn identity() -> Identity {
        let executable = "hash".into();
        Identity { executable, target: "here".into(), pairs: 7, noise: "10".into() }
    }

    #[test]
    fn figures_survive_an_interruption_and_noise_is_measured_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path(), &identity(), "now", false).unwrap();
        let noise = CostOutcome::Noise { spread_percent: 30.0, limit_percent: 10.0 };
        let figure = cost("epoll", 10, measured(2.0));
        journal.append(&figure).unwrap();
        journal.append(&cost("epoll", 20, noise)).unwrap();
        drop(journal);
        // The process was killed while it wrote a line.
        let path = dir.path().join(NAME);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"line\":\"cost\",\"id\":\"wai").unwrap();
        for times in 1..3 {
            let mut journal = Journal::open(dir.path(), &identity(), "later", true).unwrap();
            assert_eq!((journal.started.as_str(), journal.resumed), ("now", times));
            assert_eq!(journal.take(&figure.id), Some(figure.clone()));
            assert_eq!(journal.take("wait-one/level-20d-1t@epoll"), None);
        }
        let mut anew = Journal::open(dir.path(), &identity(), "later", false).unwrap();
        assert_eq!((anew.take(&figure.id), anew.resumed), (None, 0));
    }

    #[test]
    fn costs_of_another_run_are_not_continued() {
        let dir = tempfile::tempdir().unwrap();
        drop(Journal::open(dir.path(), &identity(), "now", false).unwrap());
        let other = Identity { pairs: 31, ..identity() };
        let refused = Journal::open(dir.path(), &other, "now", true).err().expect("it is refused");
        assert!(refused.to_string().contains("another pollmatrix, --pairs or --noise"), "{refused}");
        assert!(Journal::open(dir.path(), &other, "now", false).is_ok(), "a new run may begin");
    }
}
