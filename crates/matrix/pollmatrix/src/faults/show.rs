//! Formats a kill matrix as text, Markdown and JSON.

use std::fmt::Write;
use std::ops::Range;

use metadata::one_line;
use report::{first_line, markdown};
use serde_json::json;

use super::kills::{Kill, Kills, Pair, Proof};

/// The width of the matrix in columns, independent of the terminal.
const WIDTH: usize = 100;
/// The greatest number of unfit cells to list.
const NAMED: usize = 40;

const LEGEND: &str = "\
F fail, C crash, T timeout: the cell passes without the fault. t: it only ran out of a shortened time
f, c: not with every seed. h: harness/control fails with the fault, too, so the harness catches it: not a kill
-: no tried cell kills the fault; blank: no cell of this system concerns the fault
";

/// Formats the table and the conclusions; after `--quick`, only the conclusions.
pub fn text(kills: &Kills, quick: bool) -> String {
    let mut out = String::new();
    if !quick {
        table(&mut out, kills);
        out.push_str(LEGEND);
        out.push('\n');
        counts(&mut out, kills);
    }
    conclusions(&mut out, kills, quick);
    out
}

/// Formats faults as rows, numbered scenarios as columns.
fn table(out: &mut String, kills: &Kills) {
    let width = kills.rows.iter().map(|row| row.fault.name().len()).max().unwrap_or(0) + 2;
    let mut from = 0;
    while from < kills.columns.len() {
        let group = |column: usize| kills.columns[column].scenario.split('/').next().unwrap_or_default();
        let most = kills.columns.len().min(from + WIDTH.saturating_sub(width).max(10));
        let to = (from + 1..most).find(|column| group(*column) != group(from)).unwrap_or(most);
        block(out, kills, from..to, width);
        from = to;
    }
}

fn block(out: &mut String, kills: &Kills, columns: Range<usize>, width: usize) {
    for column in columns.clone() {
        let Some(first) = kills.columns.get(column) else { continue };
        let mark = if first.characterisation { " (characterisation)" } else { "" };
        let _ = writeln!(out, "{:width$}{:>3} {}{mark}", "", column + 1, first.scenario);
    }
    for digit in [100, 10, 1] {
        let shown = |column: usize| match (column + 1) / digit {
            0 => ' ',
            number => char::from_digit((number % 10) as u32, 10).unwrap_or(' '),
        };
        let line: String = columns.clone().map(shown).collect();
        if !line.trim().is_empty() {
            let _ = writeln!(out, "{:width$}{line}", "");
        }
    }
    for row in 0..kills.rows.len() {
        let line: String = columns.clone().map(|column| letter(kills, row, column)).collect();
        let _ = writeln!(out, "{}", format!("{:width$}{line}", kills.rows[row].fault.name()).trim_end());
    }
    out.push('\n');
}

fn letter(kills: &Kills, row: usize, column: usize) -> char {
    let pair = kills.pair(row, column);
    match &pair.kill {
        Some(kill) => kill.letter(),
        None if pair.tried > 0 => '-',
        None => ' ',
    }
}

/// Lists how many cells kill, for each pair with several cells.
fn counts(out: &mut String, kills: &Kills) {
    let several = |(row, column): &(usize, usize)| {
        let pair = kills.pair(*row, *column);
        pair.tried > 1 && pair.kill.is_some()
    };
    let before = out.len();
    for (row, column) in kills.places().filter(several) {
        let Pair { tried, killed, harness, .. } = *kills.pair(row, column);
        let (fault, scenario) = (kills.rows[row].fault.name(), &kills.columns[column].scenario);
        let caught = match harness {
            0 => String::new(),
            _ => format!("; in {harness} the harness catches it"),
        };
        let _ = writeln!(out, "{fault}: {killed} of {tried} cells of {scenario} kill it{caught}");
    }
    if out.len() > before {
        out.push('\n');
    }
}

fn conclusions(out: &mut String, kills: &Kills, quick: bool) {
    let verdict = kills.verdict();
    for (fault, kill) in &verdict.recorded {
        let _ = writeln!(out, "recorded   {fault}: {kill}");
    }
    for (fault, why) in &verdict.not_run {
        let _ = writeln!(out, "not run    {fault}: {why}");
    }
    for (cell, why) in kills.unfit.iter().take(NAMED) {
        let _ = writeln!(out, "unfit      {cell}: {}", one_line(&first_line(why)));
    }
    // Not after `--quick`: with only the recorded pairs, every scenario would look weak.
    for scenario in verdict.weak.iter().filter(|_| !quick) {
        let _ = writeln!(out, "weak       {scenario}: kills only what most scenarios kill");
    }
    for fault in &verdict.harness {
        let _ = writeln!(out, "harness    {fault}: the harness catches it in every scenario");
    }
    for (scenario, why) in &verdict.excused {
        let _ = writeln!(out, "no kill    {scenario}: {why}");
    }
    for fault in &verdict.survivors {
        let _ = writeln!(out, "SURVIVES   {fault}");
    }
    for scenario in &verdict.idle {
        let _ = writeln!(out, "KILLS NONE {scenario}");
    }
    let busy = kills.scenarios().filter(|column| kills.proofs_of_column(*column).next().is_some());
    let _ = writeln!(
        out,
        "{} faults: {} killed, {} caught by the harness, {} survive, {}{} not run here; {} scenarios: {} proven to kill one, \
         {} with a reason to kill none, {} must and do not (seed {})",
        kills.rows.len(),
        verdict.killed,
        verdict.harness.len(),
        verdict.survivors.len(),
        match verdict.recorded.len() {
            0 => String::new(),
            recorded => format!("{recorded} killed on another system (recorded), "),
        },
        verdict.not_run.len(),
        kills.scenarios().count(),
        busy.count(),
        verdict.excused.len(),
        verdict.idle.len(),
        kills.seed,
    );
    if let Some(fault) = verdict.survivors.first() {
        let _ = writeln!(out, "Rerun all its cells: pollmatrix faults --fault {fault}");
    }
    if let Some(scenario) = verdict.idle.first() {
        let _ = writeln!(out, "Rerun all its cells: pollmatrix faults '{scenario}/'");
    }
}

/// Returns the best kill of a fault, a proven one first.
fn best(kills: &Kills, row: usize) -> Option<&Kill> {
    let of_row = (0..kills.columns.len()).filter_map(|column| kills.pair(row, column).kill.as_ref());
    of_row.min_by_key(|kill| (!kill.counts(), kill.proof != Proof::Always, kill.out_of_time, kill.ms))
}

/// Formats each fault with its kill, then the table.
pub fn markdown(kills: &Kills) -> String {
    let machine = kills.machine.as_ref().map(|machine| {
        format!("{}, {} {} ({}). ", machine.target, machine.os, escaped(&machine.kernel), machine.arch)
    });
    let machine = machine.unwrap_or_default();
    let mut out = format!("# Kill matrix\n\n{machine}Seed {}, finished {}.\n\n", kills.seed, kills.finished);
    out.push_str("| fault | what it breaks | killed by | example | message |\n|---|---|---|---|---|\n");
    for (row, entry) in kills.rows.iter().enumerate() {
        let killing = kills.killers(row);
        let tried = kills.scenarios().filter(|column| kills.pair(row, *column).tried > 0).count();
        let not_run = entry.not_run.as_ref().map(|why| entry.elsewhere.as_ref().unwrap_or(why));
        let (by, cell, message) = match (not_run, best(kills, row)) {
            (Some(kill), _) if entry.elsewhere.is_some() => (escaped(kill), String::new(), String::new()),
            (Some(why), _) => (format!("not run: {}", escaped(why)), String::new(), String::new()),
            (None, None) => (format!("**0** of {tried}"), String::new(), String::new()),
            (None, Some(kill)) => {
                let message = kill.reason.as_deref().map(first_line).unwrap_or_default();
                let by = match killing {
                    0 => "the harness".to_owned(),
                    _ => format!("{killing} of {tried}"),
                };
                (by, format!("`{}`", kill.cell), escaped(&message))
            }
        };
        let (name, summary) = (entry.fault.name(), escaped(entry.fault.summary()));
        let _ = writeln!(out, "| `{name}` | {summary} | {by} | {cell} | {message} |");
    }
    out.push_str("\n```text\n");
    out.push_str(&metadata::visible(&text(kills, false)));
    out.push_str("```\n");
    out
}

fn escaped(text: &str) -> String {
    markdown::text(&text.chars().take(120).collect::<String>())
}

/// Formats the whole matrix as JSON.
pub fn json(kills: &Kills) -> String {
    let rows: Vec<_> = (0..kills.rows.len())
        .map(|row| {
            let entry = &kills.rows[row];
            let pairs: Vec<_> = (0..kills.columns.len())
                .filter(|column| kills.pair(row, *column).tried > 0)
                .map(|column| {
                    let pair = kills.pair(row, column);
                    json!({
                        "scenario": kills.columns[column].scenario,
                        "tried": pair.tried,
                        "killed": pair.killed,
                        "harness": pair.harness,
                        "kill": pair.kill,
                    })
                })
                .collect();
            json!({
                "fault": entry.fault.name(),
                "summary": entry.fault.summary(),
                "origin": entry.fault.origin(),
                "not_run": entry.not_run,
                "killed_elsewhere": entry.elsewhere,
                "pairs": pairs,
            })
        })
        .collect();
    let value = json!({
        "seed": kills.seed,
        "finished": kills.finished,
        "machine": kills.machine,
        "scenarios": kills.columns,
        "faults": rows,
        "unfit": kills.unfit,
        "verdict": kills.verdict(),
    });
    metadata::json(&value)
}
