//! The report for people: a summary table, then whatever did not pass.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::cell::CellResult;
use crate::grid::Grid;
use crate::results::Results;
use crate::status::Status;

/// A CI job summary may have 1 MiB; this leaves room for what else a job says.
pub const MAX_BYTES: usize = 900 * 1024;
/// The end of standard error that is shown per cell.
const STDERR_BYTES: usize = 4 * 1024;

/// The text of report.md: at most [`MAX_BYTES`].
pub fn report(results: &Results) -> String {
    let mut out = summary(results);
    unsupported(&mut out, &results.cells);
    let shown = |cell: &&CellResult| !matches!(cell.status, Status::Pass | Status::Unsupported);
    let cells: Vec<_> = results.cells.iter().filter(shown).collect();
    if !cells.is_empty() {
        out.push_str("\n## What did not pass\n");
    }
    for (index, cell) in cells.iter().enumerate() {
        let text = detail(cell);
        // 200: the sentence below.
        if out.len() + text.len() + 200 > MAX_BYTES {
            let left = cells.len() - index;
            let _ =
                write!(out, "\n{left} more cells did not pass and have no room here: see `results.json`.\n");
            break;
        }
        out.push_str(&text);
    }
    out
}

fn summary(results: &Results) -> String {
    let run = &results.run;
    let mut out = String::from("# pollmatrix\n\n");
    if let Some(fault) = &run.fault {
        let _ = writeln!(out, "**The fault `{fault}` was switched on: cells are meant to fail.**\n");
    }
    if run.interrupted {
        out.push_str("**The run was interrupted: it is not complete.**\n\n");
    }
    let _ = writeln!(out, "{}\n", results.totals_line());
    let libc = run.libc.as_deref().map(|libc| format!(", {libc}")).unwrap_or_default();
    let commit = run.commit.as_deref().map(|commit| format!(" ({commit})")).unwrap_or_default();
    let _ = writeln!(
        out,
        "{} · {} {} on {}{libc}, {} CPUs · seed `{}` · pollmatrix {}{commit} · {}\n",
        run.target, run.os, run.kernel, run.machine, run.cpus, run.seed, run.pollmatrix, run.started
    );
    let grid = Grid::new(&results.cells, CellResult::group);
    let _ = writeln!(out, "| | {} |", grid.backends.join(" | "));
    let _ = writeln!(out, "|---|{}", "---|".repeat(grid.backends.len()));
    for (group, tallies) in &grid.rows {
        let tallies: Vec<_> = tallies.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "| {group} | {} |", tallies.join(" | "));
    }
    let _ = writeln!(out, "\n{}", grid.legend());
    out
}

/// One line per reason: the cells differ in nothing else.
fn unsupported(out: &mut String, cells: &[CellResult]) {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.status == Status::Unsupported) {
        *reasons.entry(cell.reason.as_deref().unwrap_or("no reason given")).or_default() += 1;
    }
    if !reasons.is_empty() {
        out.push_str("\n## Unsupported here\n\n");
    }
    for (reason, count) in reasons {
        let _ = writeln!(out, "- {count} cells: {reason}");
    }
}

fn detail(cell: &CellResult) -> String {
    let mut out = format!("\n### {} `{}`\n\n", cell.status, cell.id);
    if let Some(reason) = &cell.reason {
        let _ = writeln!(out, "{}\n", code_block(reason));
    }
    for check in cell.checks.iter().filter(|check| !check.holds) {
        let text = format!(
            "{}\n  expected: {}\n  observed: {}\n  source:   {}",
            check.what,
            check.expected.join(" | "),
            check.observed,
            check.source
        );
        let _ = writeln!(out, "{}\n", code_block(&text));
    }
    if !cell.stderr.is_empty() {
        let _ = writeln!(
            out,
            "The end of its standard error:\n\n{}\n",
            code_block(tail(&cell.stderr, STDERR_BYTES))
        );
    }
    let _ = writeln!(out, "`{}`", cell.reproducer);
    out
}

/// A fence longer than any in the text, so that no text can end it.
fn code_block(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

/// At most the last `bytes` bytes, from the beginning of a character.
fn tail(text: &str, bytes: usize) -> &str {
    let start = (text.len().saturating_sub(bytes)..text.len()).find(|start| text.is_char_boundary(*start));
    &text[start.unwrap_or(text.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert!(code_block("a ```` b").starts_with("`````text\n"));
        assert!(code_block("plain").starts_with("```text\n"));
    }

    #[test]
    fn a_tail_begins_at_a_character() {
        assert_eq!(tail("aéb", 2), "b");
        assert_eq!(tail("abc", 9), "abc");
        assert_eq!(tail("", 9), "");
    }
}
