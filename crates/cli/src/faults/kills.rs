//! The kill matrix: which scenario catches which fault, and what follows from it.

use fd_core::fault::Fault;
use report::{Seed, Status};
use serde::Serialize;

use super::cells;
use crate::plan::Planned;

/// So many scenarios say what most of them kill.
const ENOUGH: usize = 10;

/// A cell that does not pass with a fault, and does without it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Kill {
    /// The cell.
    pub cell: String,
    /// How it ended: fail, crash or timeout.
    pub how: Status,
    /// What it said.
    pub reason: Option<String>,
    /// How long it took.
    pub ms: u64,
    /// The seed with which it was killed first.
    pub seed: Seed,
    /// Whether it may only have lacked time.
    pub out_of_time: bool,
    /// How sure that is.
    pub proof: Proof,
}

/// How sure a kill is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// Once, and the same attempt without the fault passes.
    Once,
    /// With several seeds, each time, and with all its time if that matters.
    Always,
    /// Not each time.
    Sometimes,
}

impl Kill {
    /// F, C or T; small if it is no proof: out of a shortened time, or not each time.
    pub fn letter(&self) -> char {
        let letter = if self.out_of_time { 'T' } else { self.how.letter() };
        match self.proof {
            Proof::Always => letter,
            Proof::Once if !self.out_of_time => letter,
            Proof::Once | Proof::Sometimes => letter.to_ascii_lowercase(),
        }
    }
}

/// A fault and a scenario.
#[derive(Clone, Debug, Default)]
pub struct Pair {
    /// How many cells were tried.
    pub tried: usize,
    /// The cell that killed it.
    pub kill: Option<Kill>,
}

/// A fault.
pub struct Row {
    pub fault: Fault,
    /// Why none of the selected cells can make it.
    pub not_run: Option<String>,
}

/// A scenario.
#[derive(Serialize)]
pub struct Column {
    pub scenario: String,
    /// Whether it only records, and need not kill anything.
    pub characterisation: bool,
    /// Why this machine could run none of its cells, although it has the poller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
}

/// What is said about whom: a part of one side says nothing about the other.
#[derive(Clone, Copy)]
pub struct Judged {
    pub faults: bool,
    pub scenarios: bool,
}

/// See the module.
pub struct Kills {
    pub rows: Vec<Row>,
    pub columns: Vec<Column>,
    pairs: Vec<Pair>,
    planned: Vec<Planned>,
    /// Of each pair, the cells in the order in which they are tried.
    cells: Vec<Vec<usize>>,
    pub judged: Judged,
    pub seed: Seed,
    /// Cells that do not pass without a fault, and why: they prove nothing.
    pub unfit: Vec<(String, String)>,
    pub finished: String,
}

/// What follows from a kill matrix.
#[derive(Default, Serialize)]
pub struct Verdict {
    pub killed: usize,
    pub survivors: Vec<&'static str>,
    pub idle: Vec<String>,
    /// Scenarios that kill only what most of them kill: they prove less than their title says.
    pub weak: Vec<String>,
    pub not_run: Vec<(&'static str, String)>,
}

impl Verdict {
    /// Whether there is nothing to complain about.
    pub fn holds(&self) -> bool {
        self.survivors.is_empty() && self.idle.is_empty()
    }
}

impl Kills {
    /// Nothing tried yet.
    pub fn new(faults: &[Fault], planned: Vec<Planned>, judged: Judged, seed: Seed) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        let mut of_scenario: Vec<Vec<usize>> = Vec::new();
        for (at, cell) in planned.iter().enumerate() {
            let scenario = &cell.subject.scenario;
            match columns.iter().position(|column| column.scenario == *scenario) {
                Some(index) => of_scenario[index].push(at),
                None => {
                    columns.push(Column {
                        scenario: scenario.clone(),
                        characterisation: cell.subject.layer == matrix::Layer::Characterisation.name(),
                        not_run: None,
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
            rows.push(Row { fault: *fault, not_run });
            cells.extend(orders);
        }
        let pairs = vec![Pair::default(); cells.len()];
        let (unfit, finished) = (Vec::new(), String::new());
        Self { rows, columns, pairs, planned, cells, judged, seed, unfit, finished }
    }

    fn index(&self, row: usize, column: usize) -> usize {
        row * self.columns.len() + column
    }

    /// How many cells a pair has.
    pub fn width(&self, row: usize, column: usize) -> usize {
        self.cells[self.index(row, column)].len()
    }

    /// A pair's cell at this place in the order in which they are tried.
    pub fn cell(&self, row: usize, column: usize, place: usize) -> Option<&Planned> {
        self.cells[self.index(row, column)].get(place).map(|at| &self.planned[*at])
    }

    /// The cell of this id.
    pub fn planned(&self, id: &str) -> Option<&Planned> {
        self.planned.iter().find(|cell| cell.subject.id == id)
    }

    /// Every selected cell's id.
    pub fn ids(&self) -> impl Iterator<Item = &str> + Clone {
        self.planned.iter().map(|cell| cell.subject.id.as_str())
    }

    /// Every kill with its fault, fault by fault.
    pub fn kills(&self) -> impl Iterator<Item = (Fault, &Kill)> {
        let pairs = self.pairs.iter().enumerate();
        pairs.filter_map(|(index, pair)| {
            Some((self.rows[index / self.columns.len()].fault, pair.kill.as_ref()?))
        })
    }

    /// By how many scenarios a fault is killed.
    pub fn killers(&self, row: usize) -> usize {
        (0..self.columns.len()).filter(|column| self.pair(row, *column).kill.is_some()).count()
    }

    /// A pair.
    pub fn pair(&self, row: usize, column: usize) -> &Pair {
        &self.pairs[self.index(row, column)]
    }

    /// A pair, to be changed.
    pub fn pair_mut(&mut self, row: usize, column: usize) -> &mut Pair {
        let index = self.index(row, column);
        &mut self.pairs[index]
    }

    /// Takes a cell out: this machine turned out to be unable to run it.
    pub fn cannot_be_run(&mut self, id: &str, why: &str) {
        let Some(at) = self.planned.iter().position(|cell| cell.subject.id == id) else { return };
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

    /// Whether this machine can run any of a pair's cells, as far as is known.
    fn can_be_run(&self, row: usize, column: usize) -> bool {
        let mut cells = self.cells[self.index(row, column)].iter();
        cells.any(|at| self.planned[*at].unsupported.is_none())
    }

    /// Every pair's place, scenario by scenario: a fault that makes everything hang is then spread out.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        (0..columns).flat_map(move |column| (0..rows).map(move |row| (row, column)))
    }

    /// The proven kills of a fault.
    pub fn proofs_of_row(&self, row: usize) -> impl Iterator<Item = &Kill> {
        (0..self.columns.len()).filter_map(move |column| proven(self.pair(row, column)))
    }

    /// The proven kills of a scenario.
    pub fn proofs_of_column(&self, column: usize) -> impl Iterator<Item = &Kill> {
        (0..self.rows.len()).filter_map(move |row| proven(self.pair(row, column)))
    }

    /// Whether some cell kills the fault, and not only for want of time.
    fn is_killed(&self, row: usize) -> bool {
        let of_row = (0..self.columns.len()).filter_map(|column| self.pair(row, column).kill.as_ref());
        of_row.into_iter().any(|kill| kill.letter().is_ascii_uppercase())
    }

    /// Whether the scenario kills only what more than half of the scenarios kill. Of a few scenarios nothing is said.
    fn is_weak(&self, column: usize) -> bool {
        let killed = (0..self.rows.len()).filter(|row| self.pair(*row, column).kill.is_some());
        let mut killed = killed.peekable();
        self.judged.scenarios
            && self.columns.len() >= ENOUGH
            && !self.columns[column].characterisation
            && killed.peek().is_some()
            && killed.all(|row| self.killers(row) * 2 > self.columns.len())
    }

    /// Whether the fault must be killed and is not.
    pub fn row_lacks(&self, row: usize) -> bool {
        self.judged.faults && self.rows[row].not_run.is_none() && self.proofs_of_row(row).next().is_none()
    }

    /// Whether the scenario must kill something and does not. One that no cell of can be run here must not.
    pub fn column_lacks(&self, column: usize) -> bool {
        self.judged.scenarios
            && !self.columns[column].characterisation
            && self.columns[column].not_run.is_none()
            && self.proofs_of_column(column).next().is_none()
            && (0..self.rows.len()).any(|row| self.width(row, column) > 0)
    }

    /// What follows.
    pub fn verdict(&self) -> Verdict {
        let rows = 0..self.rows.len();
        let name = |row: &usize| self.rows[*row].fault.name();
        let why = |row: &Row| Some((row.fault.name(), row.not_run.clone()?));
        let idle = (0..self.columns.len()).filter(|column| self.column_lacks(*column));
        let weak = (0..self.columns.len()).filter(|column| self.is_weak(*column));
        Verdict {
            killed: rows.clone().filter(|row| self.is_killed(*row)).count(),
            survivors: rows.filter(|row| self.row_lacks(*row)).map(|row| name(&row)).collect(),
            idle: idle.map(|column| self.columns[column].scenario.clone()).collect(),
            weak: weak.map(|column| self.columns[column].scenario.clone()).collect(),
            not_run: self.rows.iter().filter_map(why).collect(),
        }
    }
}

fn proven(pair: &Pair) -> Option<&Kill> {
    pair.kill.as_ref().filter(|kill| kill.proof == Proof::Always)
}

/// Why none of the cells can make the mistake.
fn reason(fault: Fault, planned: &[Planned]) -> String {
    let of_its = |cell: &&Planned| fault.backends().any(|backend| backend == cell.subject.backend);
    match planned.iter().find(of_its).and_then(|cell| cell.unsupported.clone()) {
        Some(why) => why,
        None => {
            let backends: Vec<_> = fault.backends().collect();
            format!(
                "no cell of {} was selected",
                if backends.is_empty() { "it".into() } else { backends.join(", ") }
            )
        }
    }
}
