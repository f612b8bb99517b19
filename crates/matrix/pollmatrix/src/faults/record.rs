//! The record of proven kills, one line per pair of fault and cell, for `pollmatrix faults --quick`.

use std::collections::BTreeSet;
use std::path::Path;

use fd_core::hooks::fault::Fault;
use matrix::faults::{by_name, did_you_mean_fault};
use matrix::output;
use matrix::plan::Planned;
use matrix::provenance::UNKNOWN;
use matrix::system;
use report::counted;

use super::campaign::PROOFS;
use super::kills::{Kills, Proof};
use crate::error::Error;

/// The path of the record in the source tree.
pub const FILE: &str = "crates/matrix/pollmatrix/kills.tsv";
/// The built-in record.
const BUILT_IN: &str = include_str!("../../kills.tsv");
/// The name of the fault in a line for a scenario without a kill.
const NONE: &str = "-";

const HEADER: &str = "\
# The cells that kill each fault, sorted. `pollmatrix faults --record [PREFIX]` writes the lines of the cells that it runs, and
# `pollmatrix faults --quick` verifies that every fault is killed, and that every contract scenario kills a fault.
# hangs: the cell runs out of time. harness/control is the harness alone: no scenario has to kill a fault that it kills.
# A scenario that kills no fault of its own has a line with the reason, written by hand: os, -, scenario, reason.
# kernel: the kernel on which the kill was recorded, and seeds: the number of seeds that proved it. Lines without them are older.
# os\tfault\tcell\thow\tkernel\tseeds
";

/// A record of kills.
#[derive(Default, Debug)]
pub struct Record {
    pub kills: Vec<RecordedKill>,
    pub(super) excuses: Vec<Excuse>,
}

/// A line of a kill.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedKill {
    pub os: String,
    pub fault: Fault,
    pub cell: String,
    /// Whether the cell runs out of time.
    pub hangs: bool,
    /// The kernel on which the kill was recorded, and the number of seeds that proved it. Older lines lack
    /// them.
    pub proof: Option<(String, u64)>,
}

/// A line of a scenario without a kill of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Excuse {
    os: String,
    scenario: String,
    why: String,
}

enum Line {
    Kill(RecordedKill),
    Excuse(Excuse),
}

impl RecordedKill {
    /// Returns the cell's scenario.
    pub fn scenario(&self) -> &str {
        scenario_of(&self.cell)
    }

    /// Describes the kill for a system that cannot make it: `killed on freebsd 14.3-RELEASE (recorded: …)`.
    pub fn describe(&self) -> String {
        let (os, cell) = (&self.os, &self.cell);
        match &self.proof {
            Some((kernel, seeds)) => format!("killed on {os} {kernel} (recorded: {cell}, {seeds} seeds)"),
            None => format!("killed on {os} (recorded: {cell})"),
        }
    }
}

impl Record {
    /// Returns why a scenario kills no fault, if the record has a reason.
    pub fn excuse(&self, scenario: &str) -> Option<&str> {
        self.excuses.iter().find(|excuse| excuse.scenario == scenario).map(|excuse| excuse.why.as_str())
    }

    /// Keeps the lines of one system.
    pub fn of(mut self, os: &str) -> Self {
        self.kills.retain(|kill| kill.os == os);
        self.excuses.retain(|excuse| excuse.os == os);
        self
    }

    fn add(&mut self, line: Line) {
        match line {
            Line::Kill(kill) => self.kills.push(kill),
            Line::Excuse(excuse) => self.excuses.push(excuse),
        }
    }
}

/// Returns the scenario of a cell's id.
fn scenario_of(cell: &str) -> &str {
    cell.rsplit_once('/').map_or(cell, |(scenario, _)| scenario)
}

/// Reads `file`, or the built-in record. Unknown names are errors, even in lines of other systems.
pub fn read(file: Option<&Path>, known: &[Planned]) -> Result<Record, Error> {
    match file {
        None => parse(Path::new(FILE), BUILT_IN, known),
        Some(path) => {
            let help = "give a record that `pollmatrix faults --record` wrote";
            let text = std::fs::read_to_string(path).map_err(matrix::Error::io("read", path, help))?;
            parse(path, &text, known)
        }
    }
}

/// Returns the built-in record, without lines that have names unknown to this matrix.
pub fn built_in(known: &[Planned]) -> Record {
    readable(BUILT_IN, known)
}

/// Returns the record that is about to be written, without lines that have unknown names. The file need not
/// exist yet.
pub fn to_write(file: &Path, known: &[Planned]) -> Record {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    readable(&text, known)
}

fn readable(text: &str, known: &[Planned]) -> Record {
    let mut record = Record::default();
    lines(text).filter_map(|(_, line)| parse_line(line, known).ok()).for_each(|line| record.add(line));
    record
}

/// Returns the lines other than comments and empty lines, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    lines.filter(|(_, line)| !line.starts_with('#') && !line.is_empty())
}

fn parse(path: &Path, text: &str, known: &[Planned]) -> Result<Record, Error> {
    let mut record = Record::default();
    let wrong = |line, (message, help)| Err(Error::Record { path: path.to_path_buf(), line, message, help });
    for (number, line) in lines(text) {
        match parse_line(line, known) {
            Ok(line) => record.add(line),
            Err(problem) => return wrong(number, problem),
        }
    }
    for (number, line) in lines(text) {
        // A scenario that kills none of the faults of one system may kill one of another system's.
        if let Ok(Line::Excuse(Excuse { os, scenario, .. })) = parse_line(line, known)
            && let Some(kill) = record.kills.iter().find(|kill| kill.os == os && kill.scenario() == scenario)
        {
            let message = format!("{scenario} has a kill, {}", kill.fault.name());
            return wrong(number, (message, "delete this line: the scenario needs no reason".into()));
        }
    }
    Ok(record)
}

fn parse_line(line: &str, known: &[Planned]) -> Result<Line, (String, String)> {
    let again = "`pollmatrix faults --record` writes the record again";
    let fields: Vec<_> = line.split('\t').collect();
    let (os, fault, cell, how, proof) = match *fields.as_slice() {
        [os, NONE, scenario, why] => return excuse(os, scenario, why, known).map(Line::Excuse),
        [os, fault, cell, how] => (os, fault, cell, how, None),
        [os, fault, cell, how, kernel, seeds] if fault != NONE => {
            (os, fault, cell, how, Some((kernel, seeds)))
        }
        _ => {
            let forms = "the line must have the six fields os, fault, cell, how, kernel and seeds, or the four fields os, -, scenario and reason";
            return Err((forms.into(), again.into()));
        }
    };
    let proof = match proof {
        None => None,
        Some((kernel, _)) if kernel.trim().is_empty() => {
            return Err(("the kernel is empty".into(), again.into()));
        }
        Some((kernel, seeds)) => match seeds.parse() {
            Ok(1..) => Some((kernel.to_owned(), seeds.parse().unwrap_or(1))),
            _ => return Err((format!("'{seeds}' is not a number of seeds"), again.into())),
        },
    };
    let hangs = match how {
        "hangs" => true,
        "fails" => false,
        _ => return Err((format!("'{how}' is neither 'fails' nor 'hangs'"), again.into())),
    };
    let found = by_name(fault);
    let fault = found.ok_or_else(|| {
        (format!("there is no fault '{fault}'"), format!("{} {again}", did_you_mean_fault(fault)))
    })?;
    let ids = known.iter().map(|planned| planned.spec.id.as_str());
    exists("cell", cell, ids, again)?;
    Ok(Line::Kill(RecordedKill { os: os.to_owned(), fault, cell: cell.to_owned(), hangs, proof }))
}

fn excuse(os: &str, scenario: &str, why: &str, known: &[Planned]) -> Result<Excuse, (String, String)> {
    let scenarios = known.iter().map(|planned| planned.spec.scenario.as_str());
    exists("scenario", scenario, scenarios, "rename it, or delete the line")?;
    if why.trim().is_empty() {
        let help = "give the reason why it kills no fault in the fourth field";
        return Err((format!("{scenario} has no reason"), help.into()));
    }
    Ok(Excuse { os: os.to_owned(), scenario: scenario.to_owned(), why: why.to_owned() })
}

fn exists<'a>(
    kind: &str,
    name: &str,
    mut known: impl Iterator<Item = &'a str> + Clone,
    otherwise: &str,
) -> Result<(), (String, String)> {
    let names = known.clone();
    if known.any(|known| known == name) {
        return Ok(());
    }
    let help = match metadata::nearest(name, names) {
        Some(near) => format!("did you mean '{near}'? {otherwise}"),
        None => otherwise.to_owned(),
    };
    Err((format!("there is no {kind} '{name}'"), help))
}

/// Replaces the lines of this system with the tried faults and cells by the proven kills, and keeps all other
/// lines. Returns a summary.
pub fn write(file: &Path, kills: &Kills, known: &[Planned]) -> Result<String, Error> {
    let old = std::fs::read_to_string(file).unwrap_or_default();
    let mut written: BTreeSet<String> = lines(&old)
        .map(|(_, line)| line)
        .filter(|line| stays(line, kills, known))
        .map(str::to_owned)
        .collect();
    let kept = written.len();
    // Without a machine there is no kill.
    let kernel = kills.machine.as_ref().map_or(UNKNOWN, |machine| machine.kernel.as_str());
    written.extend(kills.kills().filter(|(_, kill)| kill.proof == Proof::Always).map(|(fault, kill)| {
        let how = if kill.out_of_time { "hangs" } else { "fails" };
        format!("{}\t{}\t{}\t{how}\t{kernel}\t{PROOFS}", system::name(), fault.name(), kill.cell)
    }));
    let text = HEADER.lines().chain(written.iter().map(String::as_str));
    let text: String = text.flat_map(|line| [line, "\n"]).collect();
    output::write_file(file, &text)?;
    let kills = counted(written.len() - kept, "kill");
    Ok(format!(
        "wrote: {}, {kills}, {kept} other lines kept; it takes effect with the next build",
        file.display()
    ))
}

/// Returns whether a line of the old record stays in the new one.
fn stays(line: &str, kills: &Kills, known: &[Planned]) -> bool {
    match parse_line(line, known) {
        Ok(Line::Kill(kill)) => kill.os != system::name() || !kills.has(kill.fault, &kill.cell),
        Ok(Line::Excuse(excuse)) => excuse.os != system::name() || !kills.has_proof(&excuse.scenario),
        // The line has an unknown name. A reason is kept, because it was written by hand and must be
        // corrected by hand.
        Err(_) => !kills.is_everything(known) || line.split('\t').nth(1) == Some(NONE),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::lab;
    use matrix::Selection;
    use matrix::plan::Source;
    use matrix::provenance::run_here;
    use metadata::{Run, Seed, Status};

    use super::super::kills::{CONTROL, Judged, Kill};
    use super::*;

    fn known(prefixes: &[&str]) -> Vec<Planned> {
        let environment = lab::environment();
        let source = Source::load(None, &environment).unwrap();
        let prefixes = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
        let selection = Selection { prefixes, ..Default::default() };
        let mut known = source.plan(source.target().unwrap(), &selection).unwrap();
        known.retain(|cell| cell.spec.layer == metadata::Layer::Contract);
        known
    }

    fn kills(cells: Vec<Planned>) -> Kills {
        Kills::new(Fault::SCENARIOS, cells, Vec::new(), Judged { faults: true, scenarios: true })
    }

    #[test]
    fn the_committed_record_is_sorted_and_names_every_fault_and_scenario() {
        let known = known(&[]);
        let record = parse(Path::new(FILE), BUILT_IN, &known).unwrap();
        let lines: Vec<_> = lines(BUILT_IN).map(|(_, line)| line).collect();
        assert!(lines.is_sorted(), "`pollmatrix faults --record` sorts it");
        assert!(BUILT_IN.starts_with(HEADER), "`pollmatrix faults --record` writes the head");
        let of_linux = |kill: &&RecordedKill| kill.os == "linux";
        let kills: Vec<_> = record.kills.iter().filter(of_linux).collect();
        for fault in Fault::SCENARIOS {
            let here = ["epoll", "poll", "select"].iter().any(|backend| fault.concerns(backend));
            assert_eq!(kills.iter().any(|kill| kill.fault == *fault), here, "{}", fault.name());
        }
        for scenario in scenarios::catalogue() {
            let recorded = kills.iter().any(|kill| kill.scenario() == scenario.id);
            let excused = record.excuse(scenario.id).is_some();
            let exempt = scenario.layer == metadata::Layer::Characterisation || scenario.id == CONTROL;
            assert!(exempt || recorded != excused, "{}: needs a kill or a reason, and not both", scenario.id);
        }
    }

    #[test]
    fn a_complete_record_keeps_only_other_systems_and_reasons() {
        let known = known(&["deletion/disown", "deletion/own-handler"]);
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join(FILE);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let cell = "deletion/disown/pipe-level-1t1g@poll";
        let os = system::name();
        let stay = [
            "plan9\tdouble-close\tdeletion/disown/pipe-level-1t1g@poll\thangs".to_owned(),
            format!("{os}\t-\tdeletion/own-handler\ta reason"),
            format!("{os}\t-\tdeletion/no-such-scenario\ta reason"),
        ];
        let go = [
            format!("{os}\tdouble-close\t{cell}\tfails"),
            format!("{os}\tno-such-fault\t{cell}\tfails"),
            format!("{os}\t-\tdeletion/disown\ta reason"),
        ];
        let old = [&stay[..], &go[..]].concat().join("\n");
        fs::write(&file, &old).unwrap();
        let reader = root.path().join("another-name-of-the-old-file");
        fs::hard_link(&file, &reader).unwrap();
        let mut kills = kills(known.clone());
        let row = Fault::SCENARIOS.iter().position(|fault| *fault == Fault::DisownCloses).unwrap();
        let column = kills.columns.iter().position(|column| column.scenario == "deletion/disown").unwrap();
        kills.pair_mut(row, column).add(Some(Kill {
            cell: cell.to_owned(),
            how: Status::Timeout,
            reason: None,
            ms: 1,
            seed: Seed(0),
            out_of_time: true,
            proof: Proof::Always,
        }));
        kills.machine = Some(Run { kernel: "1.2.3".into(), ..run_here("here".into(), String::new()) });
        write(&file, &kills, &known).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let mut expected = stay.to_vec();
        expected.push(format!("{os}\tdisown-closes\t{cell}\thangs\t1.2.3\t8"));
        expected.sort();
        assert_eq!(lines(&text).map(|(_, line)| line).collect::<Vec<_>>(), expected);
        assert!(text.starts_with(HEADER));
        assert_eq!(fs::read_to_string(reader).unwrap(), old, "the file is replaced, not overwritten");
    }
}
