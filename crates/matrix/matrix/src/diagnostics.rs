//! Notes, warnings and errors on standard error, in colour on a terminal.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::output;

/// Prints a note.
pub fn note(text: &str) {
    labelled("note", AnsiColor::Cyan, text);
}

/// Prints a warning: a problem that does not stop the command.
pub fn warning(text: &str) {
    labelled("warning", AnsiColor::Yellow, text);
}

/// Prints an error that stopped a command, and its remedy.
pub fn error(text: &str, help: &str) {
    labelled("error", AnsiColor::Red, text);
    labelled("help", AnsiColor::Cyan, help);
}

/// Forwards a line of another program.
pub fn message(line: &str) {
    // A failure to write to standard error cannot be reported.
    let _ = writeln!(io::stderr(), "{}", metadata::visible(line));
}

fn labelled(label: &str, colour: AnsiColor, text: &str) {
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let text = metadata::visible(text);
    output::print_error_line(&format!("{style}{label}{style:#}: {text}"));
}
