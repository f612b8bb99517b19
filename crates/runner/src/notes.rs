//! What is said on standard error beside the results: notes and warnings, in colour on a terminal.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::output;

/// Prints something that is worth knowing and no error.
pub fn note(text: &str) {
    labelled("note", AnsiColor::Cyan, text);
}

/// Prints something that should not be so, and does not stop anything.
pub fn warning(text: &str) {
    labelled("warning", AnsiColor::Yellow, text);
}

/// Prints why a command could not do its work, and what to do about it.
pub fn error(text: &str, help: &str) {
    labelled("error", AnsiColor::Red, text);
    labelled("help", AnsiColor::Cyan, help);
}

/// Passes a line of another program on.
pub fn message(line: &str) {
    // If it cannot be written, neither can it be said.
    let _ = writeln!(io::stderr(), "{}", metadata::visible(line));
}

fn labelled(label: &str, colour: AnsiColor, text: &str) {
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let text = metadata::visible(text);
    output::say(&format!("{style}{label}{style:#}: {text}"));
}
