//! The lines that an executor writes to send its results to the machine that writes the report.
//!
//! A line can pass through a serial console, to which other programs and the kernel write, too. A reader
//! therefore searches each line for the first characters of an executor's line, and treats the text before
//! them as foreign.

use std::num::NonZeroU32;

use metadata::{CellResult, PathNameError, PathNames, Run};
use serde::{Deserialize, Serialize};

/// The version of the format. It increases when a reader of the previous version would misread the new one.
pub const FORMAT: u32 = 1;

/// The first characters of every line.
const MARK: &str = "{\"line\":";

/// One line of an executor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The first line: the provenance of the results.
    Begin {
        /// The version of this format.
        format: u32,
        /// The machine, the program, and the options of the run. `finished` is the time of the start.
        run: Box<Run>,
        /// How many times slower than an ordinary machine the executor's machine is.
        slow: NonZeroU32,
        /// The number of results that follow.
        cells: usize,
    },
    /// A result.
    Cell(Box<CellResult>),
    /// The last line: the results are complete.
    End {
        /// The number of results.
        cells: usize,
    },
}

impl Line {
    /// Returns the line with its newline.
    pub fn to_text(&self) -> String {
        metadata::json_line(self)
    }

    /// Returns whether `text` contains a truncated or damaged line.
    pub fn is_cut(text: &str) -> bool {
        text.contains(MARK) && Self::find(text).0.is_none()
    }

    /// Returns the line in `text`, and the foreign text before it. Without a whole line, all of the text is
    /// foreign.
    pub fn find(text: &str) -> (Option<Self>, &str) {
        let text = text.trim_end_matches(['\r', '\n']);
        match text.find(MARK) {
            Some(at) => match serde_json::from_str(&text[at..]) {
                Ok(line) => (Some(line), &text[..at]),
                Err(_) => (None, text),
            },
            None => (None, text),
        }
    }
}

impl PathNames for Line {
    fn check_path_names(&self) -> Result<(), PathNameError> {
        match self {
            Self::Begin { run, .. } => run.check_path_names(),
            Self::Cell(result) => result.check_path_names(),
            Self::End { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_after_the_text_of_a_console() {
        let line = Line::End { cells: 3 };
        let text = line.to_text();
        assert_eq!(text, "{\"line\":\"end\",\"cells\":3}\n");
        assert_eq!(Line::find(&text), (Some(line.clone()), ""));
        assert_eq!(
            Line::find(&format!("[    1.5] random: ready {text}")),
            (Some(line.clone()), "[    1.5] random: ready ")
        );
        assert_eq!(Line::find(&text.replace('\n', "\r\n")), (Some(line), ""));
    }

    #[test]
    fn truncated_and_foreign_text_is_not_a_line() {
        for text in ["", "login:", "{\"line\":\"end\",\"cel", "{\"line\":\"other\"}", "{\"lines\":1}"] {
            assert_eq!(Line::find(text), (None, text));
        }
    }
}
