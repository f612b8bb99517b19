//! The lines that an executor writes: its results on their way from where cells run to where the report is.
//!
//! A line may travel over a serial console, where other programs and the kernel write, too. So each begins on a line of
//! its own, and a reader looks for its first characters and takes whatever is before them for somebody else's.

use std::num::NonZeroU32;

use metadata::{CellResult, Run};
use serde::{Deserialize, Serialize};

/// The version of the format. It goes up when a reader of the last one would misread this one.
pub const FORMAT: u32 = 1;

/// What every line begins with.
const MARK: &str = "{\"line\":";

/// One line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The first line: where the cells run.
    Begin {
        /// The version of this format.
        format: u32,
        /// The machine, the program, and what is common to all cells. `finished` is when it began.
        run: Box<Run>,
        /// How many times slower than an ordinary machine it takes itself for.
        slow: NonZeroU32,
        /// How many results are to come.
        cells: usize,
    },
    /// A result.
    Cell(Box<CellResult>),
    /// The last line: nothing is missing.
    End {
        /// How many results there were.
        cells: usize,
    },
}

impl Line {
    /// The line with its end.
    pub fn to_text(&self) -> String {
        metadata::json_line(self)
    }

    /// Whether `text` is a line that lost a part of itself.
    pub fn is_cut(text: &str) -> bool {
        text.contains(MARK) && Self::find(text).0.is_none()
    }

    /// The line in `text`, and what somebody else has written before it. `None` if there is no whole one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_behind_what_a_console_says() {
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
    fn what_is_cut_or_foreign_is_no_line() {
        for text in ["", "login:", "{\"line\":\"end\",\"cel", "{\"line\":\"other\"}", "{\"lines\":1}"] {
            assert_eq!(Line::find(text), (None, text));
        }
    }
}
