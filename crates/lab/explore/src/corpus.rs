//! The corpus: a folder of lines, in one file for each transport and mode.
//!
//! A file has one script per line, the shortest first. Files can be merged line by line: a line that shows
//! nothing new is left out the next time that the corpus is minimised.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::coverage::Triple;
use crate::line::Line;

/// The first line of each file.
const HEAD: &str = "# Lines for `pollmatrix explore` (docs/explore.md), the shortest first.";

/// A line of the corpus.
#[derive(Clone, Debug)]
struct Entry {
    line: Line,
    /// What it shows. Empty before it is performed.
    triples: Vec<Triple>,
    /// Its answers do not depend on the scheduler, so that lines can be drawn from it.
    is_steady: bool,
    /// It is kept whatever it shows.
    is_pinned: bool,
}

/// Lines that show something new, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    entries: Vec<Entry>,
    known: HashSet<Line>,
    /// The lines of the folder that these sides cannot perform.
    others: Vec<Line>,
}

/// A line of a file that is no line of the language.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct CorpusError {
    /// The file.
    pub file: String,
    /// The number of the line.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl Corpus {
    /// Returns the lines to draw from.
    pub fn steady(&self) -> Vec<Line> {
        self.entries.iter().filter(|entry| entry.is_steady).map(|entry| entry.line.clone()).collect()
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns every line, in the order in which they were added.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.entries.iter().map(|entry| &entry.line)
    }

    /// Adds a line that shows `triples`.
    pub fn add(&mut self, line: Line, triples: Vec<Triple>, is_steady: bool) {
        if self.known.insert(line.clone()) {
            self.entries.push(Entry { line, triples, is_steady, is_pinned: false });
        }
    }

    /// Adds a line that is kept whatever it shows.
    pub fn pin(&mut self, line: &Line) {
        match self.entries.iter_mut().find(|entry| entry.line == *line) {
            Some(entry) => entry.is_pinned = true,
            None => {
                self.known.insert(line.clone());
                let line = line.clone();
                self.entries.push(Entry { line, triples: Vec::new(), is_steady: true, is_pinned: true });
            }
        }
    }

    /// Keeps a line of the folder that these sides cannot perform.
    pub fn keep(&mut self, line: Line) {
        self.others.push(line);
    }

    /// Leaves out each line whose triples are shown by simpler lines.
    pub fn minimise(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_by_cached_key(|entry| (!entry.is_pinned, entry.line.rank()));
        let mut covered: HashSet<Triple> = HashSet::new();
        entries.retain(|entry| {
            let shows_more = entry.triples.iter().filter(|triple| covered.insert(**triple)).count() > 0;
            shows_more || entry.is_pinned
        });
        self.entries = entries;
        self.known = self.entries.iter().map(|entry| entry.line.clone()).collect();
    }

    /// Returns the files of the corpus: names and texts.
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut files: BTreeMap<String, BTreeSet<(usize, usize, String)>> = BTreeMap::new();
        for line in self.lines().chain(&self.others) {
            let name = format!("{}-{}.txt", line.transport.name(), line.mode.name());
            let script = line.script.to_string();
            files.entry(name).or_default().insert((line.clauses().len(), script.len(), script));
        }
        let text = |scripts: BTreeSet<(usize, usize, String)>| {
            scripts.into_iter().fold(format!("{HEAD}\n"), |text, (_, _, script)| text + &script + "\n")
        };
        files.into_iter().map(|(name, scripts)| (name, text(scripts))).collect()
    }
}

/// Parses a file of a corpus. `name` is the name of the file without its folder.
///
/// # Errors
/// The first line that is malformed.
pub fn parse(name: &str, text: &str) -> Result<Vec<Line>, CorpusError> {
    let wrong = |line: usize, message: String| CorpusError { file: name.to_owned(), line, message };
    let stem = name.strip_suffix(".txt").unwrap_or(name);
    // Names of transports and modes can have a hyphen themselves.
    let heads = stem.match_indices('-').map(|(at, _)| (&stem[..at], &stem[at + 1..]));
    let head =
        heads.filter_map(|(transport, mode)| Some((transport.parse().ok()?, mode.parse().ok()?))).next();
    let Some((transport, mode)) = head else {
        return Err(wrong(1, "the file's name is no transport and mode: name it 'unix-level.txt'".into()));
    };
    let parsed = numbered(text).map(|(number, script)| match script.parse() {
        Ok(script) => Ok(Line { transport, mode, script }),
        Err(error) => Err(wrong(number, error.to_string())),
    });
    parsed.collect()
}

/// Returns the lines of a file with their numbers, without the empty ones and those that begin with `#`.
pub(crate) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        text.parse().unwrap()
    }

    const SHORT: &str = "unix level: own and peer are connected, wait";
    const LONG: &str = "unix level: own and peer are connected, add own?, peer sends 1?, wait";
    const OTHER: &str = "unix-dgram exclusive-edge: own and peer are connected, add own?";

    #[test]
    fn a_line_whose_triples_simpler_lines_show_is_left_out() {
        let mut corpus = Corpus::default();
        corpus.add(line(LONG), vec![1, 2], true);
        corpus.add(line(SHORT), vec![1, 2], true);
        corpus.add(line(OTHER), vec![3], false);
        corpus.add(line(OTHER), vec![4], false);
        assert_eq!((corpus.len(), corpus.steady().len()), (3, 2));
        corpus.minimise();
        assert_eq!(corpus.lines().map(ToString::to_string).collect::<Vec<_>>(), [SHORT, OTHER]);
    }

    #[test]
    fn a_pinned_line_stays() {
        let mut corpus = Corpus::default();
        corpus.add(line(SHORT), vec![1], true);
        corpus.add(line(LONG), vec![1], true);
        corpus.pin(&line(LONG));
        corpus.pin(&line(OTHER));
        corpus.minimise();
        assert_eq!(corpus.len(), 2, "the short line shows nothing beside the pinned ones");
    }

    #[test]
    fn the_files_are_read_as_they_are_written() {
        let mut corpus = Corpus::default();
        [LONG, SHORT, OTHER].iter().for_each(|text| corpus.add(line(text), vec![1], true));
        corpus.keep(line("pipe level: own and peer are connected, a child is forked"));
        let files = corpus.files();
        let names: Vec<_> = files.keys().map(String::as_str).collect();
        assert_eq!(names, ["pipe-level.txt", "unix-dgram-exclusive-edge.txt", "unix-level.txt"]);
        let read: Vec<_> = files.iter().flat_map(|(name, text)| parse(name, text).unwrap()).collect();
        assert_eq!(read.len(), 4);
        assert_eq!(read[2].to_string(), SHORT, "the shortest first");
    }

    #[test]
    fn a_malformed_line_has_its_place() {
        let error = parse("unix-level.txt", "# head\n\nown is fersh\n").unwrap_err();
        assert_eq!((error.line, error.file.as_str()), (3, "unix-level.txt"));
        assert!(error.message.contains("fresh") || error.message.contains("column"), "{error}");
        assert!(parse("notes.txt", "").unwrap_err().message.contains("unix-level.txt"));
    }
}
