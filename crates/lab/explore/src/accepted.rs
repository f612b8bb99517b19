//! Disagreements that were accepted before: a file with one per line.

use std::fmt;
use std::str::FromStr;

use crate::cluster::Cause;
use crate::compare::Difference;
use crate::corpus::{CorpusError, numbered};
use crate::line::Line;

/// Stands between a line and its difference.
const SHOWS: &str = " => ";

/// A disagreement that was accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    /// The line that shows it.
    pub line: Line,
    /// The part of the answers that differs, as [`Contrast`](crate::compare::Contrast) prints it.
    pub what: String,
    /// The number of its line in the file.
    pub number: usize,
}

impl Accepted {
    /// Returns whether a difference that its line shows is the accepted one.
    pub fn is_shown_by(&self, difference: &Difference) -> bool {
        self.what == difference.what.to_string()
    }

    /// Returns whether a difference that a shrunk line shows is the accepted one: the same cause over the
    /// same transport in the same mode. A simpler line is another disagreement: it shows more than was
    /// accepted.
    pub fn covers(&self, line: &Line, difference: &Difference) -> bool {
        let is_same_setting = (self.line.transport, self.line.mode) == (line.transport, line.mode);
        is_same_setting && Cause::shown_by(&self.line, self.what.clone()) == Cause::of(line, difference)
    }
}

/// `pipe level: own is fresh, add own?, wait => only left: HUP`
impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{SHOWS}{}", self.line, self.what)
    }
}

/// Parses one entry. Its number is 0.
impl FromStr for Accepted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((line, what)) = text.rsplit_once(SHOWS) else {
            return Err(format!(
                "there is no '{}': write a line, '{}', and what differs, as --propose=FILE.txt does",
                SHOWS.trim(),
                SHOWS.trim()
            ));
        };
        let what = what.trim();
        let is_contrast = match what.strip_prefix("left: ") {
            Some(both) => both.contains("; right: "),
            None => what.starts_with("only left: ") || what.starts_with("only right: "),
        };
        if !is_contrast {
            return Err(format!(
                "'{what}' is no difference: write 'only left: WORDS', 'only right: WORDS' or 'left: WORDS; right: WORDS'"
            ));
        }
        let line = line.trim().parse::<Line>()?;
        Ok(Self { line, what: what.to_owned(), number: 0 })
    }
}

/// Parses a file of accepted disagreements. Empty lines, and those that begin with `#`, say nothing.
///
/// # Errors
/// The first line that is malformed, or that is there twice.
pub fn parse_accepted(file: &str, text: &str) -> Result<Vec<Accepted>, CorpusError> {
    let mut all: Vec<Accepted> = Vec::new();
    for (number, entry) in numbered(text) {
        let wrong = |message| CorpusError { file: file.to_owned(), line: number, message };
        let accepted = Accepted { number, ..entry.parse().map_err(wrong)? };
        let is_same = |other: &&Accepted| other.line == accepted.line && other.what == accepted.what;
        if let Some(first) = all.iter().find(is_same) {
            return Err(wrong(format!(
                "line {} has the same disagreement: remove one of them",
                first.number
            )));
        }
        all.push(accepted);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Contrast;

    const ENTRY: &str = "pipe level: own and peer are connected, remove own? => left: ENOENT; right: done";

    #[test]
    fn a_file_is_read_as_it_is_written() {
        let text = format!(
            "# Why it is accepted.\n\n{ENTRY}\n  unix edge: own is fresh, wait => only left: OUT HUP\n"
        );
        let all = parse_accepted("known.txt", &text).unwrap();
        let entries: Vec<_> = all.iter().map(|one| (one.number, one.to_string())).collect();
        let other = "unix edge: own is fresh, wait => only left: OUT HUP".to_owned();
        assert_eq!(entries, [(3, ENTRY.to_owned()), (4, other)]);
    }

    #[test]
    fn a_line_accepts_its_own_cause_in_its_own_transport_and_mode() {
        let accepted: Accepted =
            "pipe level: own and peer are connected, add own?, peer closes, modify own?, wait => only left: HUP"
                .parse()
                .unwrap();
        let covers = |line: &str, what: &str| {
            let what = Contrast { left: [what.to_owned()].into(), ..Contrast::default() };
            let (left, right) = (String::new(), String::new());
            accepted
                .covers(&line.parse().unwrap(), &Difference { clause: 4, left, right, what, is_end: false })
        };
        let script = "own and peer are connected, add own?, peer closes, modify own?, wait";
        assert!(covers(&format!("pipe level: {script}"), "HUP"));
        assert!(covers(
            &format!("pipe level: {}", script.replace("add own?", "add own for reading?")),
            "HUP"
        ));
        for (line, what) in [
            (format!("tcp edge: {script}"), "HUP"),
            (format!("tcp level: {script}"), "HUP"),
            (format!("pipe edge: {script}"), "HUP"),
            (format!("pipe level: {script}"), "IN"),
            (format!("pipe level: {}", script.replace(", modify own?", "")), "HUP"),
            (
                format!(
                    "pipe level: {}",
                    script.replace("peer closes, modify own?", "modify own?, peer closes")
                ),
                "HUP",
            ),
        ] {
            assert!(!covers(&line, what), "{line} {what}");
        }
    }

    #[test]
    fn a_malformed_line_has_its_place_and_the_remedy() {
        for (entry, expected) in [
            ("pipe level: own is fresh, wait", "known.txt:2: there is no '=>'"),
            ("pipe level: own is fersh => only left: HUP", "known.txt:2: column 8: "),
            ("own is fresh => only left: HUP", "a line begins with a transport"),
            ("pipe level: own is fresh => HUP", "'HUP' is no difference: write 'only left: WORDS'"),
            ("pipe level: own is fresh => left: HUP", "'left: HUP' is no difference"),
            (ENTRY, "known.txt:2: line 1 has the same disagreement: remove one of them"),
        ] {
            let error = parse_accepted("known.txt", &format!("{ENTRY}\n{entry}\n")).unwrap_err().to_string();
            assert!(error.contains(expected), "{entry}: {error}");
        }
    }
}
