//! Answers that travel: lines with the answers of one side, to compare with a side elsewhere.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use metadata::{PATH_NAME_HELP, is_path_name, one_line};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::line::Line;
use crate::model::Model;
use crate::pair::has_threads;
use crate::side::{About, End, Features, MakeSide, Performed, Runs, Side};

/// The version of the format. A program reads this version and older ones.
pub const RECORDING_VERSION: u32 = 1;

/// The maximum length of a line in an error.
const LONGEST: usize = 100;

/// The answers of one side: the file of `--record`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[cfg_attr(test, schemars(title = "pollmatrix recorded answers"))]
pub struct Recording {
    /// The version of this format: 1.
    pub schema_version: u32,
    /// The version of pollmatrix that made the recording.
    pub pollmatrix: String,
    /// The side that answered.
    pub side: About,
    /// The lines, sorted by their text, each once.
    pub lines: Vec<RecordedLine>,
}

/// A line and its answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct RecordedLine {
    /// The line, with its transport and its mode: `unix level: own and peer are connected, …`.
    pub line: String,
    /// The different performances of the line: one, unless the answers vary.
    pub runs: Vec<Performed>,
}

/// Why a text is no recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The text is not JSON, or has other fields.
    #[error("{0}")]
    Malformed(#[from] serde_json::Error),
    /// The format is newer.
    #[error("it has version {0} of the format, and this program reads versions up to {RECORDING_VERSION}")]
    Newer(u32),
    /// The name of the side, of which keys of answers are made, has other characters than names of pollers.
    #[error("the field `side.name` is '{}', which is no name of a poller: {PATH_NAME_HELP}", one_line(.0))]
    Side(String),
    /// A line is no line of the language.
    #[error("'{line}': {message}")]
    Line {
        /// The line.
        line: String,
        /// What is wrong.
        message: String,
    },
}

impl Recording {
    /// Returns the recording of these answers.
    pub fn of<'a>(
        pollmatrix: &str,
        side: &About,
        answers: impl IntoIterator<Item = (&'a Line, &'a Runs)>,
    ) -> Self {
        let sorted: BTreeMap<String, Vec<Performed>> = answers
            .into_iter()
            .map(|(line, runs)| (line.to_string(), runs.iter().cloned().collect()))
            .collect();
        let lines = sorted.into_iter().map(|(line, runs)| RecordedLine { line, runs }).collect();
        let pollmatrix = pollmatrix.to_owned();
        Self { schema_version: RECORDING_VERSION, pollmatrix, side: side.clone(), lines }
    }

    /// Reads a recording.
    ///
    /// # Errors
    /// The text is no recording, or one of a newer format.
    pub fn read(text: &str) -> Result<Self, RecordingError> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: u32,
        }
        let Version { schema_version } = serde_json::from_str(text)?;
        if schema_version > RECORDING_VERSION {
            return Err(RecordingError::Newer(schema_version));
        }
        let recording: Self = serde_json::from_str(text)?;
        if !is_path_name(&recording.side.name) {
            return Err(RecordingError::Side(recording.side.name));
        }
        recording.parsed()?;
        Ok(recording)
    }

    /// Returns the lines.
    ///
    /// # Errors
    /// A line is no line of the language.
    pub fn parsed(&self) -> Result<Vec<Line>, RecordingError> {
        let parse = |recorded: &RecordedLine| {
            let line = || recorded.line.chars().take(LONGEST).collect();
            recorded.line.parse().map_err(|message| RecordingError::Line { line: line(), message })
        };
        self.lines.iter().map(parse).collect()
    }
}

/// A side whose answers are recorded.
pub struct Recorded {
    about: About,
    /// The answers to each line, and to each beginning of a line.
    answers: HashMap<String, Vec<Performed>>,
}

impl Recorded {
    /// Returns the side that answers from the recording.
    ///
    /// # Errors
    /// A line is no line of the language.
    pub fn of(recording: &Recording) -> Result<Self, RecordingError> {
        let mut answers: HashMap<String, Vec<Performed>> = HashMap::new();
        for (line, recorded) in recording.parsed()?.iter().zip(&recording.lines) {
            // The answers to a beginning are the first answers to the line.
            for length in 1..line.clauses().len() {
                let beginning = line.with(line.clauses()[..length].to_vec());
                let has_all = recorded.runs.iter().all(|run| run.answers.len() >= length);
                if has_all && !has_threads(&beginning) {
                    let shorten = |run: &Performed| Performed {
                        answers: run.answers[..length].to_vec(),
                        end: End::Performed,
                    };
                    let runs: BTreeSet<_> = recorded.runs.iter().map(shorten).collect();
                    answers.entry(beginning.to_string()).or_insert_with(|| runs.into_iter().collect());
                }
            }
        }
        for (line, recorded) in recording.parsed()?.iter().zip(&recording.lines) {
            answers.insert(line.to_string(), recorded.runs.clone());
        }
        Ok(Self { about: recording.side.clone(), answers })
    }
}

impl MakeSide for Recorded {
    fn about(&self) -> &About {
        &self.about
    }

    fn make(&self) -> Box<dyn Side + Send + '_> {
        Box::new(Reader { recorded: self, next: 0 })
    }
}

struct Reader<'a> {
    recorded: &'a Recorded,
    next: usize,
}

impl Side for Reader<'_> {
    fn perform(&mut self, line: &Line) -> Performed {
        match self.recorded.answers.get(&line.to_string()) {
            Some(runs) if !runs.is_empty() => {
                // Answers that vary come in turn.
                self.next += 1;
                runs[self.next % runs.len()].clone()
            }
            _ => Performed::ended(End::NotRecorded),
        }
    }

    fn perform_afresh(&mut self, line: &Line) -> Performed {
        self.perform(line)
    }
}

/// Returns these lines and those that are left when clauses are removed from them, at most `most`: to shrink
/// a line, the other side needs the answers to shorter ones. The shortest lines come first.
pub fn with_shorter_lines(lines: &[Line], features: &Features, most: usize) -> Vec<Line> {
    let mut all: BTreeMap<(usize, usize, String), Line> = BTreeMap::new();
    let mut queue: Vec<Line> = lines.to_vec();
    queue.sort_by_cached_key(Line::rank);
    // The last one is taken first.
    queue.reverse();
    while let Some(line) = queue.pop() {
        if all.len() >= most || all.contains_key(&line.rank()) {
            continue;
        }
        for index in 0..line.clauses().len() {
            let mut clauses = line.clauses().to_vec();
            clauses.remove(index);
            let shorter = line.with(clauses);
            if !shorter.clauses().is_empty()
                && Model::allows(&shorter, features)
                && !all.contains_key(&shorter.rank())
            {
                queue.push(shorter);
            }
        }
        all.insert(line.rank(), line);
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use metadata::Mode;

    use super::*;
    use crate::compare::single;

    fn every_feature() -> Features {
        Features::every(Mode::ALL)
    }

    const LINE: &str = "unix level: own and peer are connected, add own?, wait, peer closes, wait";

    fn recording() -> Recording {
        let answers = ["ok", "0", "OUT", "0", "IN|OUT|HUP|RDHUP"].map(str::to_owned).to_vec();
        let runs = single(Performed { answers, end: End::Performed });
        let (column, features) = (metadata::Column::of(metadata::Interface::Epoll), every_feature());
        let side = About { name: "epoll".into(), system: "linux".into(), column, features };
        Recording::of("0.1.0", &side, [(&LINE.parse().unwrap(), &runs)])
    }

    #[test]
    fn a_recording_is_read_as_it_is_written() {
        let text = serde_json::to_string(&recording()).unwrap();
        assert_eq!(Recording::read(&text).unwrap(), recording());
    }

    #[test]
    fn the_committed_schema_is_the_generated_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/recorded-answers.schema.json");
        metadata::schema::assert_current::<Recording>(path);
    }

    #[test]
    fn a_newer_format_and_a_malformed_line_are_refused() {
        let newer = Recording { schema_version: 2, ..recording() };
        let error = Recording::read(&serde_json::to_string(&newer).unwrap()).unwrap_err();
        assert!(error.to_string().contains("version 2"), "{error}");
        let mut wrong = recording();
        wrong.lines[0].line = "unix level: own is fersh".into();
        let error = Recording::read(&serde_json::to_string(&wrong).unwrap()).unwrap_err();
        assert!(error.to_string().contains("own is fersh"), "{error}");
        assert!(Recording::read("{}").is_err());
    }

    #[test]
    fn a_side_without_the_name_of_a_poller_is_refused() {
        for name in ["", "../..", "a\nkey: value", "README"] {
            let side = About { name: name.into(), ..recording().side };
            let text = serde_json::to_string(&Recording { side, ..recording() }).unwrap();
            let error = Recording::read(&text).unwrap_err().to_string();
            assert!(error.starts_with("the field `side.name` is '"), "{error}");
        }
    }

    #[test]
    fn the_beginning_of_a_recorded_line_has_its_answers() {
        let recorded = Recorded::of(&recording()).unwrap();
        let mut side = recorded.make();
        let mut ask = |line: &str| side.perform(&line.parse().unwrap());
        let beginning = ask("unix level: own and peer are connected, add own?, wait");
        assert_eq!((beginning.answers.len(), beginning.end), (3, End::Performed));
        assert_eq!(ask(LINE).answers.len(), 5);
        assert_eq!(ask("unix level: own and peer are connected, wait").end, End::NotRecorded);
    }

    #[test]
    fn shorter_lines_are_valid_and_bounded() {
        let line: Line = LINE.parse().unwrap();
        let all = with_shorter_lines(std::slice::from_ref(&line), &every_feature(), 100);
        assert!(all.contains(&line) && all.len() > 8, "{}", all.len());
        assert!(all.iter().all(|line| Model::allows(line, &every_feature())));
        assert_eq!(with_shorter_lines(&[line], &every_feature(), 5).len(), 5);
    }
}
