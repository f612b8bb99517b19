//! The kill matrix: which scenario kills which fault, and the verdict.

use fd_core::hooks::fault::Fault;
use matrix::plan::Planned;
use metadata::{PlannedCell, Run, Seed, Status};
use serde::Serialize;

use super::record::{Record, RecordedKill};
use super::{cells, list};

/// The least number of scenarios from which to judge what most scenarios kill.
const ENOUGH: usize = 10;

/// The scenario that only starts and ends the harness. If it fails with a fault, failures of other scenarios
/// with the fault prove nothing.
pub const CONTROL: &str = "harness/control";

/// A cell that passes without a fault and does not pass with it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Kill {
    /// The cell.
    pub cell: String,
    /// Its status with the fault: fail, crash or timeout.
    pub how: Status,
    /// The reason of the status.
    pub reason: Option<String>,
    /// The duration in milliseconds.
    pub ms: u64,
    /// The seed of the first kill.
    pub seed: Seed,
    /// Whether a lack of time can be the only reason.
    pub out_of_time: bool,
    /// How certain the kill is.
    pub proof: Proof,
}

/// How certain a kill is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// One attempt killed the fault, and the same attempt without the fault passed.
    Once,
    /// Every attempt with several seeds killed the fault, one of them with the full time if that matters.
    Always,
    /// Some attempts did not kill the fault.
    Sometimes,
    /// Not a kill of this scenario: the control fails with the same fault, backend, threads and groups.
    Harness,
}

impl Kill {
    /// Returns whether the scenario itself kills the fault.
    pub fn counts(&self) -> bool {
        self.proof != Proof::Harness
    }

    /// Returns F, C or T, in lower case if the kill is not proven: it ran out of a shortened time, or some
    /// attempts did not kill. Returns h if the harness catches the fault.
    pub fn letter(&self) -> char {
        let letter = if self.out_of_time { 'T' } else { self.how.letter() };
        match self.proof {
            Proof::Harness => 'h',
            Proof::Always => letter,
            Proof::Once if !self.out_of_time => letter,
            Proof::Once | Proof::Sometimes => letter.to_ascii_lowercase(),
        }
    }
}

/// The attempts at a pair of fault and scenario.
#[derive(Clone, Debug, Default)]
pub struct Pair {
    /// The number of cells that were tried.
    pub tried: usize,
    /// The number of cells that killed the fault.
    pub killed: usize,
    /// The number of cells in which the harness caught the fault.
    pub harness: usize,
    /// The best kill.
    pub kill: Option<Kill>,
    /// Whether the record has this pair, or will have it.
    pub wanted: bool,
}

impl Pair {
    /// Adds a tried cell, with its kill if it killed.
    pub fn add(&mut self, kill: Option<Kill>) {
        self.tried += 1;
        let Some(kill) = kill else { return };
        match kill.counts() {
            true => self.killed += 1,
            false => self.harness += 1,
        }
        let rank = |kill: &Kill| (!kill.counts(), kill.proof != Proof::Always, kill.out_of_time);
        if self.kill.as_ref().is_none_or(|known| rank(&kill) < rank(known)) {
            self.kill = Some(kill);
        }
    }

    /// Returns the kill, if the scenario itself made it.
    pub fn own_kill(&self) -> Option<&Kill> {
        self.kill.as_ref().filter(|kill| kill.counts())
    }
}

/// A fault: a row of the matrix.
pub struct Row {
    pub fault: Fault,
    /// Why no selected cell can have this fault.
    pub not_run: Option<String>,
    /// The recorded kill on another system: the system, the cell, and the number of seeds.
    pub elsewhere: Option<String>,
    /// Whether a scenario must kill it.
    pub judged: bool,
    /// The number of lines of the record with this fault that this run does not change.
    pub kept: usize,
}

/// A scenario: a column of the matrix.
#[derive(Serialize)]
pub struct Column {
    pub scenario: String,
    /// Whether it is a characterisation, which does not need to kill a fault.
    pub characterisation: bool,
    /// Why this machine could run none of its cells, although it has the poller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
    /// The record's reason why it kills no fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excused: Option<String>,
    /// Whether it must kill a fault, unless it is excused.
    #[serde(skip)]
    pub judged: bool,
}

impl Column {
    /// Returns whether this is the control of the other scenarios.
    pub fn is_control(&self) -> bool {
        self.scenario == CONTROL
    }
}

/// Which sides of the matrix to judge: an incomplete selection of scenarios cannot judge faults, and vice
/// versa.
#[derive(Clone, Copy)]
pub struct Judged {
    pub faults: bool,
    pub scenarios: bool,
}

/// The kill matrix.
pub struct Kills {
    pub rows: Vec<Row>,
    pub columns: Vec<Column>,
    pairs: Vec<Pair>,
    planned: Vec<Planned>,
    /// All cells of the control, even if they are not selected.
    controls: Vec<Planned>,
    /// The cells of each pair, in the order in which they are tried.
    cells: Vec<Vec<usize>>,
    pub seed: Seed,
    /// The machine that makes the attempts, if one does.
    pub machine: Option<Run>,
    /// Cells that do not pass without a fault, with the reason. They prove nothing.
    pub unfit: Vec<(String, String)>,
    pub finished: String,
}

/// The verdict on a kill matrix.
#[derive(Default, Serialize)]
pub struct Verdict {
    pub killed: usize,
    pub survivors: Vec<&'static str>,
    /// Faults that no scenario kills, but that the harness catches in every scenario.
    pub harness: Vec<&'static str>,
    pub idle: Vec<String>,
    /// Scenarios that kill no fault, with the record's reason.
    pub excused: Vec<(String, String)>,
    /// Scenarios that only kill faults that most scenarios kill. They prove less than their titles say.
    pub weak: Vec<String>,
    /// Faults that this system cannot have, with their recorded kill on another system.
    pub recorded: Vec<(&'static str, String)>,
    /// Faults that this system cannot have, and that no other system's record kills.
    pub not_run: Vec<(&'static str, String)>,
}

impl Verdict {
    /// Returns whether no fault survives and no scenario lacks a kill.
    pub fn holds(&self) -> bool {
        self.survivors.is_empty() && self.idle.is_empty()
    }
}

impl Kills {
    /// Creates a matrix without attempts.
    pub fn new(faults: &[Fault], planned: Vec<Planned>, controls: Vec<Planned>, judged: Judged) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        let mut of_scenario: Vec<Vec<usize>> = Vec::new();
        for (at, cell) in planned.iter().enumerate() {
            let scenario = &cell.spec.scenario;
            match columns.iter().position(|column| column.scenario == *scenario) {
                Some(index) => of_scenario[index].push(at),
                None => {
                    let characterisation = cell.spec.layer == metadata::Layer::Characterisation;
                    columns.push(Column {
                        scenario: scenario.clone(),
                        characterisation,
                        not_run: None,
                        excused: None,
                        judged: judged.scenarios && !characterisation && scenario != CONTROL,
                    });
                    of_scenario.push(vec![at]);
                }
            }
        }
        let mut rows = Vec::new();
        let mut cells = Vec::new();
        for fault in faults {
            let orders: Vec<_> =
                of_scenario.iter().map(|cells| cells::order(&planned, cells, *fault)).collect();
            let not_run = orders.iter().all(Vec::is_empty).then(|| reason(*fault, &planned));
            rows.push(Row { fault: *fault, not_run, elsewhere: None, judged: judged.faults, kept: 0 });
            cells.extend(orders);
        }
        let pairs = vec![Pair::default(); cells.len()];
        Self {
            rows,
            columns,
            pairs,
            planned,
            controls,
            cells,
            seed: Seed(0),
            machine: None,
            unfit: Vec::new(),
            finished: String::new(),
        }
    }

    /// Takes the kills that other systems than `os` recorded of faults that no selected cell can have.
    pub fn killed_elsewhere(&mut self, record: &Record, os: &str) {
        for row in self.rows.iter_mut().filter(|row| row.not_run.is_some()) {
            let kill = record.kills.iter().find(|kill| kill.fault == row.fault && kill.os != os);
            row.elsewhere = kill.map(RecordedKill::describe);
        }
    }

    /// Takes the record's reasons for scenarios that have killed no fault.
    pub fn excuse(&mut self, record: &Record) {
        for column in 0..self.columns.len() {
            if self.proofs_of_column(column).next().is_none() {
                let why = record.excuse(&self.columns[column].scenario);
                self.columns[column].excused = why.map(str::to_owned);
            }
        }
    }

    /// Prepares an update of a record. The recorded kills of selected faults and cells are tried first, and
    /// must be replaced if they no longer hold. The other recorded kills stay, and are enough for their
    /// faults and scenarios.
    pub fn follow(&mut self, record: &Record) {
        let mut inside = Vec::new();
        let mut outside = Vec::new();
        for recorded in &record.kills {
            let row = self.rows.iter().position(|row| row.fault == recorded.fault);
            let column = self.columns.iter().position(|column| column.scenario == recorded.scenario());
            let at = self.planned.iter().position(|cell| cell.spec.id == recorded.cell);
            match (row, column, at) {
                (Some(row), Some(column), Some(at)) => inside.push((row, column, at)),
                _ => outside.push((row, column)),
            }
        }
        for (row, entry) in self.rows.iter_mut().enumerate() {
            entry.kept = outside.iter().filter(|(of, _)| *of == Some(row)).count();
            entry.judged = entry.kept == 0 && (entry.judged || inside.iter().any(|(of, ..)| *of == row));
        }
        for (column, entry) in self.columns.iter_mut().enumerate().filter(|(_, entry)| !entry.is_control()) {
            let kept = outside.iter().any(|(_, of)| *of == Some(column));
            entry.judged = !kept && (entry.judged || inside.iter().any(|(_, of, _)| *of == column));
        }
        for (row, column, at) in inside {
            self.pair_mut(row, column).wanted = true;
            let index = self.index(row, column);
            let cells = &mut self.cells[index];
            if let Some(place) = cells.iter().position(|cell| *cell == at) {
                cells[..=place].rotate_right(1);
            }
        }
    }

    /// Puts every pair that kills into the record, because the user selected it.
    pub fn want_all(&mut self) {
        self.pairs.iter_mut().for_each(|pair| pair.wanted = true);
    }

    fn index(&self, row: usize, column: usize) -> usize {
        row * self.columns.len() + column
    }

    /// Returns the number of cells of a pair.
    pub fn width(&self, row: usize, column: usize) -> usize {
        self.cells[self.index(row, column)].len()
    }

    /// Returns the cell of a pair at this place in the order in which they are tried.
    pub fn cell(&self, row: usize, column: usize, place: usize) -> Option<&Planned> {
        self.cells[self.index(row, column)].get(place).map(|at| &self.planned[*at])
    }

    /// Returns the cell of this id.
    pub fn planned(&self, id: &str) -> Option<&Planned> {
        self.planned.iter().find(|cell| cell.spec.id == id)
    }

    /// Returns the control of a cell: the one with the same backend, threads and groups. The harness uses no
    /// other parameters before a scenario begins.
    pub fn control(&self, cell: &Planned) -> Option<&Planned> {
        let of = |cell: &Planned| {
            let PlannedCell { backend, params, .. } = &cell.spec;
            (backend.clone(), params.threads, params.groups)
        };
        self.controls.iter().find(|control| of(control) == of(cell))
    }

    /// Returns a cell without a control, if there is one. It could prove nothing.
    pub fn uncontrolled(&self) -> Option<&str> {
        let mut cells = self.planned.iter();
        cells.find(|cell| self.control(cell).is_none()).map(|cell| cell.spec.id.as_str())
    }

    /// Returns whether the fault is tried in the cell.
    pub fn has(&self, fault: Fault, cell: &str) -> bool {
        self.planned(cell).is_some() && self.rows.iter().any(|row| row.fault == fault)
    }

    /// Returns whether a kill of the scenario is proven.
    pub fn has_proof(&self, scenario: &str) -> bool {
        let column = self.columns.iter().position(|column| column.scenario == scenario);
        column.is_some_and(|column| self.proofs_of_column(column).next().is_some())
    }

    /// Returns whether all faults and all cells are selected.
    pub fn is_everything(&self, known: &[Planned]) -> bool {
        self.rows.len() == Fault::SCENARIOS.len() && self.planned.len() == known.len()
    }

    /// Returns every kill with its fault, fault by fault.
    pub fn kills(&self) -> impl Iterator<Item = (Fault, &Kill)> {
        let pairs = self.pairs.iter().enumerate();
        pairs.filter_map(|(index, pair)| {
            Some((self.rows[index / self.columns.len()].fault, pair.kill.as_ref()?))
        })
    }

    /// Returns the columns of all scenarios except the control.
    pub fn scenarios(&self) -> impl Iterator<Item = usize> + Clone {
        (0..self.columns.len()).filter(|column| !self.columns[*column].is_control())
    }

    /// Returns the number of scenarios that kill a fault.
    pub fn killers(&self, row: usize) -> usize {
        self.scenarios().filter(|column| self.pair(row, *column).own_kill().is_some()).count()
    }

    /// Returns a pair.
    pub fn pair(&self, row: usize, column: usize) -> &Pair {
        &self.pairs[self.index(row, column)]
    }

    /// Returns a pair for changes.
    pub fn pair_mut(&mut self, row: usize, column: usize) -> &mut Pair {
        let index = self.index(row, column);
        &mut self.pairs[index]
    }

    /// Marks a cell as unsupported, after this machine failed to run it.
    pub fn cannot_be_run(&mut self, id: &str, why: &str) {
        let Some(at) = self.planned.iter().position(|cell| cell.spec.id == id) else { return };
        self.planned[at].unsupported = Some(why.to_owned());
        let why = format!("{id}: {why}");
        for row in 0..self.rows.len() {
            if !(0..self.columns.len()).any(|column| self.can_be_run(row, column)) {
                self.rows[row].not_run.get_or_insert_with(|| why.clone());
            }
        }
        for column in 0..self.columns.len() {
            if !(0..self.rows.len()).any(|row| self.can_be_run(row, column)) {
                self.columns[column].not_run.get_or_insert_with(|| why.clone());
            }
        }
    }

    /// Returns whether this machine can run a cell of a pair, as far as is known.
    fn can_be_run(&self, row: usize, column: usize) -> bool {
        let mut cells = self.cells[self.index(row, column)].iter();
        cells.any(|at| self.planned[*at].unsupported.is_none())
    }

    /// Returns the row and column of every pair, scenario by scenario, so that the attempts at a fault that
    /// makes all scenarios hang are spread out.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        (0..columns).flat_map(move |column| (0..rows).map(move |row| (row, column)))
    }

    /// Returns the proven kills of a fault.
    pub fn proofs_of_row(&self, row: usize) -> impl Iterator<Item = &Kill> {
        self.scenarios().filter_map(move |column| proven(self.pair(row, column)))
    }

    /// Returns the proven kills of a scenario.
    pub fn proofs_of_column(&self, column: usize) -> impl Iterator<Item = &Kill> {
        (0..self.rows.len()).filter_map(move |row| proven(self.pair(row, column)))
    }

    /// Returns whether a scenario kills the fault, other than by a lack of time.
    fn is_killed(&self, row: usize) -> bool {
        let of_row = self.scenarios().filter_map(|column| self.pair(row, column).own_kill());
        of_row.into_iter().any(|kill| kill.letter().is_ascii_uppercase())
    }

    /// Returns whether the harness catches the fault, and no scenario kills it.
    fn is_caught(&self, row: usize) -> bool {
        let by = |column: usize| {
            let pair = self.pair(row, column);
            let control = self.columns[column].is_control();
            if control { proven(pair).is_some() } else { pair.harness > 0 }
        };
        !self.is_killed(row) && (0..self.columns.len()).any(by)
    }

    /// Returns whether the scenario only kills faults that more than half of the scenarios kill. `false` if
    /// there are fewer than [`ENOUGH`] scenarios.
    fn is_weak(&self, column: usize) -> bool {
        let killed = (0..self.rows.len()).filter(|row| self.pair(*row, column).own_kill().is_some());
        let mut killed = killed.peekable();
        self.columns[column].judged
            && self.columns.len() >= ENOUGH
            && killed.peek().is_some()
            && killed.all(|row| self.killers(row) * 2 > self.columns.len())
    }

    /// Returns whether a kill of the fault must be proven, and is not yet.
    pub fn row_unproven(&self, row: usize) -> bool {
        let Row { judged, not_run, .. } = &self.rows[row];
        *judged && not_run.is_none() && self.proofs_of_row(row).next().is_none()
    }

    /// Returns whether the fault must be killed, and neither a scenario nor the harness kills it.
    pub fn row_lacks(&self, row: usize) -> bool {
        self.row_unproven(row) && !self.is_caught(row)
    }

    /// Returns whether the column is the control's, and the fault has no other proven kill to record.
    pub fn control_lacks(&self, row: usize, column: usize) -> bool {
        self.columns[column].is_control() && self.row_unproven(row)
    }

    /// Returns faults that the harness catches, but that have neither a proven kill by the control nor a line
    /// in the record.
    pub fn unrecorded(&self) -> impl Iterator<Item = &'static str> {
        let control = self.columns.iter().position(Column::is_control);
        let proven = move |row: usize| control.is_some_and(|column| proven(self.pair(row, column)).is_some());
        let rows = (0..self.rows.len()).filter(|row| self.row_unproven(*row) && self.is_caught(*row));
        rows.filter(move |row| !proven(*row)).map(|row| self.rows[row].fault.name())
    }

    /// Returns whether the scenario must kill a fault and does not. A scenario that this machine cannot run,
    /// or that the record excuses, does not need to.
    pub fn column_lacks(&self, column: usize) -> bool {
        let Column { judged, not_run, excused, .. } = &self.columns[column];
        *judged
            && not_run.is_none()
            && excused.is_none()
            && self.proofs_of_column(column).next().is_none()
            && (0..self.rows.len()).any(|row| self.width(row, column) > 0)
    }

    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        let rows = 0..self.rows.len();
        let name = |row: &usize| self.rows[*row].fault.name();
        let recorded = |row: &Row| row.not_run.as_ref().and(Some((row.fault.name(), row.elsewhere.clone()?)));
        let why = |row: &Row| match &row.elsewhere {
            None => Some((row.fault.name(), row.not_run.clone()?)),
            Some(_) => None,
        };
        let idle = (0..self.columns.len()).filter(|column| self.column_lacks(*column));
        let weak = (0..self.columns.len()).filter(|column| self.is_weak(*column));
        let excused = |column: &Column| Some((column.scenario.clone(), column.excused.clone()?));
        Verdict {
            killed: rows.clone().filter(|row| self.is_killed(*row)).count(),
            survivors: rows.clone().filter(|row| self.row_lacks(*row)).map(|row| name(&row)).collect(),
            harness: rows.filter(|row| self.is_caught(*row)).map(|row| name(&row)).collect(),
            excused: self.columns.iter().filter_map(excused).collect(),
            idle: idle.map(|column| self.columns[column].scenario.clone()).collect(),
            weak: weak.map(|column| self.columns[column].scenario.clone()).collect(),
            recorded: self.rows.iter().filter_map(recorded).collect(),
            not_run: self.rows.iter().filter_map(why).collect(),
        }
    }
}

fn proven(pair: &Pair) -> Option<&Kill> {
    pair.kill.as_ref().filter(|kill| kill.proof == Proof::Always)
}

/// Returns why none of the cells can have the fault.
fn reason(fault: Fault, planned: &[Planned]) -> String {
    let of_its = |cell: &&Planned| fault.concerns(&cell.spec.backend);
    match planned.iter().find(of_its).and_then(|cell| cell.unsupported.clone()) {
        Some(why) => why,
        None => {
            let backends = list::backends(fault);
            format!(
                "no cell of {} was selected",
                if backends.is_empty() { "it".into() } else { backends.join(", ") }
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lab;
    use matrix::plan::Source;

    use super::*;

    const ALL: Judged = Judged { faults: true, scenarios: true };

    fn cells(prefixes: &[&str]) -> Vec<Planned> {
        let environment = lab::environment();
        let source = Source::load(None, &environment).unwrap();
        let prefixes = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
        let selection = matrix::Selection { prefixes, ..Default::default() };
        source.plan(source.target().unwrap(), &selection).unwrap()
    }

    fn kills(faults: &[Fault], prefixes: &[&str], judged: Judged) -> Kills {
        Kills::new(faults, cells(prefixes), cells(&[CONTROL]), judged)
    }

    fn kill(proof: Proof) -> Kill {
        let (cell, how, reason, ms, seed) = (String::new(), Status::Fail, None, 1, Seed(0));
        Kill { cell, how, reason, ms, seed, out_of_time: false, proof }
    }

    fn record(lines: &[(Fault, &str)]) -> Record {
        let kill = |(fault, cell): &(Fault, &str)| super::super::record::RecordedKill {
            os: matrix::system::name().to_owned(),
            fault: *fault,
            cell: (*cell).to_owned(),
            hangs: false,
            proof: None,
        };
        Record { kills: lines.iter().map(kill).collect(), excuses: Vec::new() }
    }

    #[test]
    fn every_contract_cell_has_a_control_with_its_backend_threads_and_groups() {
        let kills = kills(&[], &["migration", "deletion", "regression", "polling", "shared-listener"], ALL);
        assert_eq!(kills.uncontrolled(), None);
        let cell = kills.planned("migration/idle-takeover/tcp-edge-4t2g@epoll").unwrap();
        assert_eq!(kills.control(cell).unwrap().spec.id, "harness/control/pipe-level-4t2g@epoll");
    }

    #[test]
    fn a_fault_that_the_harness_catches_is_neither_killed_by_a_scenario_nor_a_survivor() {
        let mut kills = kills(&[Fault::LeakOnClose], &[CONTROL, "deletion/disown"], ALL);
        assert_eq!(kills.columns.iter().position(Column::is_control), Some(0));
        kills.pair_mut(0, 1).add(Some(kill(Proof::Harness)));
        let verdict = kills.verdict();
        assert_eq!((verdict.killed, verdict.harness, verdict.survivors), (0, vec!["leak-on-close"], vec![]));
        assert_eq!(verdict.idle, ["deletion/disown"]);
        // One of its cells kills the fault although the control passes.
        kills.pair_mut(0, 1).add(Some(kill(Proof::Always)));
        let verdict = kills.verdict();
        assert_eq!((verdict.killed, verdict.harness.len(), verdict.idle.len()), (1, 0, 0));
        assert_eq!((kills.pair(0, 1).killed, kills.pair(0, 1).harness), (1, 1));
    }

    #[test]
    fn a_kill_by_the_control_belongs_to_the_harness_and_the_control_needs_no_kill() {
        let mut kills = kills(&[Fault::LeakOnClose, Fault::DoubleClose], &[CONTROL], ALL);
        kills.pair_mut(0, 0).add(Some(kill(Proof::Always)));
        let verdict = kills.verdict();
        assert_eq!(
            (verdict.killed, verdict.harness, verdict.survivors),
            (0, vec!["leak-on-close"], vec!["double-close"])
        );
        assert!(verdict.idle.is_empty());
    }

    #[test]
    fn a_partial_record_must_replace_only_the_kills_that_it_loses() {
        let scenarios = Judged { faults: false, scenarios: true };
        let faults = [Fault::DisownCloses, Fault::DoubleClose, Fault::DeleteTwice];
        let mut kills = kills(&faults, &["deletion/disown/pipe-level-1t1g@poll"], scenarios);
        kills.follow(&record(&[
            // The only line of its fault.
            (Fault::DisownCloses, "deletion/disown/pipe-level-1t1g@poll"),
            // Another line of this one stays.
            (Fault::DoubleClose, "deletion/disown/pipe-level-1t1g@poll"),
            (Fault::DoubleClose, "deletion/own-handler/pipe-level-1t1g@poll"),
        ]));
        let judged: Vec<_> = kills.rows.iter().map(|row| row.judged).collect();
        assert_eq!(judged, [true, false, false]);
        assert!(kills.columns[0].judged);
        // Another cell of the scenario has a line that stays.
        kills.follow(&record(&[(Fault::DisownCloses, "deletion/disown/pipe-level-2t1g@poll")]));
        assert!(!kills.columns[0].judged);
    }

    #[test]
    fn the_recorded_cell_is_tried_first() {
        let mut kills = kills(&[Fault::DisownCloses], &["deletion/disown"], ALL);
        let last = kills.width(0, 0) - 1;
        let cell = kills.cell(0, 0, last).unwrap().spec.id.clone();
        let first = kills.cell(0, 0, 0).unwrap().spec.id.clone();
        kills.follow(&record(&[(Fault::DisownCloses, &cell)]));
        assert_eq!(kills.cell(0, 0, 0).unwrap().spec.id, cell);
        assert_eq!(kills.cell(0, 0, 1).unwrap().spec.id, first);
    }
}
