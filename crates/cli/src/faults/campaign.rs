//! Runs cells with faults, and decides what counts as a kill.
//!
//! Most pairs do not kill, and of those that do many hang. So cells are given a little more time than they took without
//! a fault; what ends for want of time is tried again with all of it before it counts. A kill counts only if the same
//! attempt without the fault passes and the control passes with it, and proves something only if other seeds kill, too.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use fd_core::hooks::fault::Fault;
use metadata::{Seed, Status};
use report::first_line;
use runner::executable::Executable;
use runner::plan::{Planned, Source};
use runner::progress::Progress;
use runner::signals::Stop;
use runner::supervise::{self, Order};
use runner::{provenance, schedule};

use super::kills::{CONTROL, Kill, Kills, Proof};
use super::record::Row;
use super::tries::{Ended, Tries, Try};
use crate::args::FaultsArgs;
use crate::error::Error;

/// A cell waits at least so long for what must happen.
pub const LEAST_PATIENCE: Duration = Duration::from_secs(2);
/// And so many times as long as it took without a fault.
const PATIENCE_TIMES: u32 = 4;
/// The control takes a hundredth of it without a fault: one that runs out of it has failed.
const CONTROL_PATIENCE: Duration = Duration::from_secs(5);
/// A cell that waited in vain says so by itself. One that is killed may have waited this many times.
const LIMIT_TIMES: u32 = 2;
/// A kill is proven by so many seeds: one that two of three times comes about by chance is not taken for one.
const PROOFS: u64 = 8;
/// What is recorded is tried with so many seeds until it is killed.
const SEEDS: u64 = 3;
/// Cells at the same time, per processor: those that hang need none.
const JOBS_PER_CPU: usize = 3;

/// See the module.
pub struct Campaign<'a> {
    source: &'a Source<'a>,
    tries: &'a Tries,
    stop: &'a Stop,
    executable: &'a Executable,
    slow: NonZeroU32,
    jobs: usize,
    /// With how many seeds the control must pass.
    control_seeds: u64,
    controls: Mutex<HashMap<(String, &'static str), Control>>,
}

/// Whether a cell of the control passes with a fault. `None` if the run was stopped meanwhile.
type Control = Arc<OnceLock<Option<bool>>>;

/// How many cells of each pair are tried in any case.
#[derive(Clone, Copy)]
pub enum Breadth {
    /// So many, or fewer if one kills.
    Until(usize),
    /// All of them, whether they kill or not.
    All,
}

/// A pair, and the place of the cell to try.
struct Task {
    row: usize,
    column: usize,
    place: usize,
}

/// What became of a task.
enum Tried {
    /// The cell proves nothing: it does not pass without the fault.
    Unfit(String),
    /// The cell cannot be run on this machine.
    Unsupported(String),
    Survived,
    Killed(Kill),
}

impl<'a> Campaign<'a> {
    /// With what the arguments say.
    pub fn new(
        source: &'a Source<'a>,
        executable: &'a Executable,
        tries: &'a Tries,
        stop: &'a Stop,
        args: &FaultsArgs,
    ) -> Self {
        let jobs = args.jobs.map_or_else(|| JOBS_PER_CPU * provenance::cpus(), usize::from);
        let slow = args.chance.slow.factor();
        let control_seeds = if args.quick { SEEDS } else { PROOFS };
        let controls = Mutex::default();
        Self { source, tries, stop, executable, slow, jobs, control_seeds, controls }
    }

    /// Tries `breadth` cells of every pair, then the others of those faults and scenarios for which nothing is proven
    /// yet.
    pub fn run(&self, kills: &mut Kills, breadth: Breadth) -> Result<(), Error> {
        let broad = match breadth {
            Breadth::Until(broad) => broad,
            Breadth::All => {
                self.round(kills, &all_tasks(kills))?;
                return self.prove(kills);
            }
        };
        let places: Vec<_> = kills.places().collect();
        for place in 0.. {
            let wanted = |&(row, column): &(usize, usize)| {
                kills.width(row, column) > place
                    && kills.pair(row, column).own_kill().is_none()
                    && (place < broad
                        || kills.row_lacks(row)
                        || kills.column_lacks(column)
                        || kills.control_lacks(row, column))
            };
            let tasks: Vec<_> = places
                .iter()
                .copied()
                .filter(wanted)
                .map(|(row, column)| Task { row, column, place })
                .collect();
            if tasks.is_empty() && place >= broad {
                break;
            }
            self.round(kills, &tasks)?;
            // Proofs decide which pairs are still of interest.
            if place + 1 >= broad {
                self.prove(kills)?;
            }
            if self.stop.asked() {
                break;
            }
        }
        Ok(())
    }

    fn round(&self, kills: &mut Kills, tasks: &[Task]) -> Result<(), Error> {
        let mut fresh: Vec<&Planned> =
            tasks.iter().filter_map(|task| kills.cell(task.row, task.column, task.place)).collect();
        fresh.sort_by(|a, b| a.subject.id.cmp(&b.subject.id));
        fresh.dedup_by(|a, b| a.subject.id == b.subject.id);
        // How long they take, one after the other or nearly so: what is measured here shortens what follows.
        schedule::pool(&fresh, provenance::cpus(), |cell| self.baseline(cell), |_| ());

        let mut progress = Progress::new(tasks.len(), 0);
        let mut results = Vec::new();
        let mut named = HashSet::new();
        let each = |(at, tried): (usize, Tried)| {
            let task: &Task = &tasks[at];
            let fault = kills.rows[task.row].fault.name();
            progress.step(match &tried {
                // The first of several cells of a pair.
                Tried::Killed(kill) if named.insert((task.row, task.column)) => Some(said(fault, kill)),
                _ => None,
            });
            results.push((at, tried));
        };
        let indices: Vec<_> = (0..tasks.len()).collect();
        let (rows, cell) = (&kills.rows, |task: &Task| kills.cell(task.row, task.column, task.place));
        let work = |at: &usize| {
            let task = &tasks[*at];
            let cell = cell(task)?;
            let tried = self.attempt_pair(cell, kills.control(cell), rows[task.row].fault, 0)?;
            Some((*at, tried))
        };
        schedule::pool(&indices, self.jobs, work, each);
        progress.end();
        for (at, tried) in results {
            let task = &tasks[at];
            let id = kills.cell(task.row, task.column, task.place).map(|cell| cell.subject.id.clone());
            match (tried, id) {
                (Tried::Unfit(why), Some(id)) if !kills.unfit.iter().any(|(known, _)| *known == id) => {
                    kills.unfit.push((id, why));
                }
                (Tried::Unsupported(why), Some(id)) => kills.cannot_be_run(&id, &why),
                (Tried::Unfit(_) | Tried::Unsupported(_), _) => {}
                (Tried::Survived, _) => kills.pair_mut(task.row, task.column).add(None),
                (Tried::Killed(kill), _) => kills.pair_mut(task.row, task.column).add(Some(kill)),
            }
        }
        self.check()
    }

    /// The cell with the fault, and if it does not pass, without; then the control with the fault.
    fn attempt_pair(
        &self,
        cell: &Planned,
        control: Option<&Planned>,
        fault: Fault,
        number: u64,
    ) -> Option<Tried> {
        let baseline = self.baseline(cell)?;
        if !baseline.status.is_pass() {
            let why = baseline.reason.unwrap_or_default();
            if baseline.status == Status::Unsupported {
                return Some(Tried::Unsupported(why));
            }
            return Some(Tried::Unfit(format!("{}: {why}", baseline.status)));
        }
        let patience = Some(patience(cell, &baseline));
        let ended = self.attempt(cell, Some(fault), number, patience)?;
        if !killed(&ended) {
            return Some(Tried::Survived);
        }
        let without = self.attempt(cell, None, number, patience)?;
        if !without.status.is_pass() {
            return Some(Tried::Unfit(format!("flaky: {}", without.reason.unwrap_or_default())));
        }
        let proof = match self.control_passes(cell, control, fault)? {
            true => Proof::Once,
            false => Proof::Harness,
        };
        Some(Tried::Killed(Kill {
            cell: cell.subject.id.clone(),
            how: ended.status,
            reason: ended.reason,
            ms: ended.ms,
            seed: self.seed(number),
            out_of_time: ended.out_of_time,
            proof,
        }))
    }

    /// Whether the control of a cell passes with the fault, each time. The control's own cells need none.
    fn control_passes(&self, cell: &Planned, control: Option<&Planned>, fault: Fault) -> Option<bool> {
        let Some(control) = control.filter(|_| cell.subject.scenario != CONTROL) else { return Some(true) };
        let known = {
            let mut controls = self.controls.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (control.subject.id.clone(), fault.name());
            Arc::clone(controls.entry(key).or_default())
        };
        *known.get_or_init(|| {
            let patience = Some(CONTROL_PATIENCE);
            for number in 0..self.control_seeds {
                if !self.attempt(control, Some(fault), number, patience)?.status.is_pass() {
                    return Some(false);
                }
            }
            Some(true)
        })
    }

    /// Proves what the record names or is to name, and a kill for every fault and every scenario that has none yet, as far as there are
    /// kills to be proven.
    fn prove(&self, kills: &mut Kills) -> Result<(), Error> {
        loop {
            let (rows, columns) = (0..kills.rows.len(), 0..kills.columns.len());
            let wanted = |pair: &(usize, usize)| {
                kills.pair(pair.0, pair.1).wanted && cost(kills, pair.0, pair.1).is_some()
            };
            let mut chosen: Vec<_> = kills.places().filter(wanted).collect();
            if chosen.is_empty() {
                for row in rows.clone().filter(|row| kills.row_unproven(*row)) {
                    // The control last: that the harness catches it is the least that can be said.
                    let cost = |column: usize| {
                        let cost = cost(kills, row, column)?;
                        Some(((kills.columns[column].is_control(), cost), (row, column)))
                    };
                    chosen.extend(columns.clone().filter_map(cost).min().map(|(_, pair)| pair));
                }
                for column in columns.clone().filter(|column| kills.column_lacks(*column)) {
                    // By the fault that the fewest scenarios kill: one that all of them do says little about this one.
                    let cost = |row| {
                        let (hangs, ms) = cost(kills, row, column)?;
                        Some(((hangs, kills.killers(row) + kills.rows[row].kept, ms), (row, column)))
                    };
                    let best = rows.clone().filter_map(cost);
                    chosen.extend(best.min().map(|(_, pair)| pair));
                }
            }
            chosen.sort_unstable();
            chosen.dedup();
            if chosen.is_empty() || self.stop.asked() {
                return Ok(());
            }
            let mut progress = Progress::new(chosen.len(), 0);
            let mut proofs = Vec::new();
            let work = |&(row, column): &(usize, usize)| {
                let kill = kills.pair(row, column).kill.as_ref()?;
                let cell = kills.planned(&kill.cell)?;
                Some((row, column, self.proof(cell, kills.rows[row].fault, kill)?))
            };
            let each = |proof| {
                progress.step(None);
                proofs.push(proof);
            };
            schedule::pool(&chosen, self.jobs, work, each);
            progress.end();
            for (row, column, proof) in proofs {
                if let Some(kill) = &mut kills.pair_mut(row, column).kill {
                    kill.proof = proof;
                }
            }
            self.check()?;
        }
    }

    /// Whether the cell is killed with other seeds too, and with all its time.
    fn proof(&self, cell: &Planned, fault: Fault, kill: &Kill) -> Option<Proof> {
        let baseline = self.baseline(cell)?;
        for number in 1..PROOFS {
            // Given all its time it takes as long as that: once is enough.
            let patience = match (kill.out_of_time, number) {
                (true, 1) => None,
                _ => Some(patience(cell, &baseline)),
            };
            if !killed(&self.attempt(cell, Some(fault), number, patience)?) {
                return Some(Proof::Sometimes);
            }
            if !self.attempt(cell, None, number, Some(self::patience(cell, &baseline)))?.status.is_pass() {
                return Some(Proof::Sometimes);
            }
        }
        Some(Proof::Always)
    }

    /// Tries what was recorded. Returns what is not in the record and should be.
    pub fn quick(&self, recorded: &[Row], kills: &mut Kills) -> Result<Vec<String>, Error> {
        let mut tasks = Vec::new();
        for row in recorded {
            let at = kills.rows.iter().position(|known| known.fault == row.fault);
            let scenario = |column: &super::kills::Column| row.scenario() == column.scenario;
            if let (Some(fault), Some(column)) = (at, kills.columns.iter().position(scenario))
                && kills.planned(&row.cell).is_some_and(|cell| cell.unsupported.is_none())
            {
                tasks.push((fault, column, row));
            }
        }
        let mut progress = Progress::new(tasks.len(), 0);
        let mut proven = Vec::new();
        let work = |&(row, column, recorded): &(usize, usize, &Row)| {
            let cell = kills.planned(&recorded.cell)?;
            let mut tried = Tried::Survived;
            for number in 0..SEEDS {
                match self.attempt_pair(cell, kills.control(cell), recorded.fault, number)? {
                    // Another time the scenario may be the only one that sees it.
                    Tried::Killed(kill) if !kill.counts() => tried = Tried::Killed(kill),
                    Tried::Killed(kill) => {
                        // Out of a shortened time again, as it was out of all of it when it was recorded.
                        // Out of it although it failed then: a busy machine, or one that hangs here. All its time tells.
                        let again = kill.out_of_time <= recorded.hangs
                            || killed(&self.attempt(cell, Some(recorded.fault), number, None)?);
                        let proof = if again { Proof::Always } else { Proof::Once };
                        tried = Tried::Killed(Kill { proof, ..kill });
                        break;
                    }
                    Tried::Unsupported(why) => {
                        tried = Tried::Unsupported(why);
                        break;
                    }
                    Tried::Unfit(_) | Tried::Survived => {}
                }
            }
            Some((row, column, tried, recorded.cell.clone()))
        };
        let each = |(row, column, tried, cell): (usize, usize, Tried, String)| {
            let fault = kills.rows[row].fault.name();
            progress.step(match &tried {
                Tried::Killed(kill) if !kill.counts() => {
                    Some(format!("{fault} is caught by the harness, not by {cell}"))
                }
                Tried::Killed(_) => None,
                Tried::Unsupported(why) => Some(format!("{cell} cannot be run here: {why}")),
                Tried::Unfit(_) | Tried::Survived => {
                    Some(format!("{fault} is not killed by {cell} any more"))
                }
            });
            proven.push((row, column, tried, cell));
        };
        schedule::pool(&tasks, self.jobs, work, each);
        progress.end();
        for (row, column, tried, cell) in proven {
            match tried {
                Tried::Unsupported(why) => {
                    kills.cannot_be_run(&cell, &why);
                    // What is recorded is all that is tried.
                    let why = format!("{cell}: {why}");
                    let others = || tasks.iter().filter(|(.., recorded)| recorded.cell != cell);
                    if !others().any(|(of, ..)| *of == row) {
                        kills.rows[row].not_run = Some(why.clone());
                    }
                    if !others().any(|(_, of, _)| *of == column) {
                        kills.columns[column].not_run = Some(why);
                    }
                }
                Tried::Killed(kill) => kills.pair_mut(row, column).add(Some(kill)),
                Tried::Unfit(_) | Tried::Survived => kills.pair_mut(row, column).add(None),
            }
        }
        self.check()?;
        if self.stop.asked() {
            return Ok(Vec::new());
        }
        let mut missing = Vec::new();
        for row in 0..kills.rows.len() {
            if kills.row_lacks(row) && !tasks.iter().any(|(known, ..)| *known == row) {
                missing.push(format!("the fault {} is not recorded", kills.rows[row].fault.name()));
            }
        }
        for column in 0..kills.columns.len() {
            if kills.column_lacks(column) && !tasks.iter().any(|(_, known, _)| *known == column) {
                missing.push(format!("the scenario {} is not recorded", kills.columns[column].scenario));
            }
        }
        Ok(missing)
    }

    /// Whether what was tried could be written, and was run by one program.
    fn check(&self) -> Result<(), Error> {
        self.tries.check()?;
        Ok(self.executable.check()?)
    }

    fn seed(&self, number: u64) -> Seed {
        Seed(self.tries.seed().0.wrapping_add(number))
    }

    /// The cell without a fault, with all its time.
    fn baseline(&self, cell: &Planned) -> Option<Ended> {
        self.attempt(cell, None, 0, None)
    }

    /// One attempt, if it is not known already how it ends. `None` if the run was stopped meanwhile.
    fn attempt(
        &self,
        cell: &Planned,
        fault: Option<Fault>,
        number: u64,
        patience: Option<Duration>,
    ) -> Option<Ended> {
        let fault = fault.map(Fault::name);
        let seed = self.seed(number);
        let id = &cell.subject.id;
        let tried = Try { cell: id.clone(), fault: fault.map(str::to_owned), seed, full: patience.is_none() };
        if let Some(ended) = self.tries.known(&tried) {
            return Some(ended);
        }
        if self.stop.asked() {
            return None;
        }
        let order = Order {
            environment: self.source.environment,
            prefix: &[],
            executable: self.executable,
            matrix: self.source.path.as_deref().map(Path::new),
            cell: id,
            seed,
            fault,
            inject_errors: None,
            limit: patience
                .map_or(cell.timeout, |patience| patience.saturating_mul(LIMIT_TIMES).min(cell.timeout)),
            slow: self.slow,
            patience,
        };
        let attempt = self.source.environment.judge(supervise::attempt(&order, || self.stop.asked())?);
        let waited = patience.unwrap_or(scenarios::PATIENCE).saturating_mul(self.slow.get());
        let ended = Ended::new(attempt, u64::try_from(waited.as_millis()).unwrap_or(u64::MAX));
        self.tries.add(tried, ended.clone());
        Some(ended)
    }
}

/// Every cell of every pair, one of each pair after the other.
fn all_tasks(kills: &Kills) -> Vec<Task> {
    let widest = kills.places().map(|(row, column)| kills.width(row, column)).max().unwrap_or(0);
    let of_place = |place| {
        let pairs = kills.places().filter(move |(row, column)| kills.width(*row, *column) > place);
        pairs.map(move |(row, column)| Task { row, column, place })
    };
    (0..widest).flat_map(of_place).collect()
}

/// What is said of a kill while the run goes on.
fn said(fault: &str, kill: &Kill) -> String {
    let why = kill.reason.as_deref().map(|why| format!(": {}", first_line(why))).unwrap_or_default();
    format!("{} {fault} {}{why}", kill.letter(), kill.cell)
}

/// How long a cell waits for what must happen, if it takes so long without a fault.
fn patience(cell: &Planned, baseline: &Ended) -> Duration {
    match cell.subject.scenario == CONTROL {
        true => CONTROL_PATIENCE,
        false => {
            LEAST_PATIENCE.saturating_add(Duration::from_millis(baseline.ms).saturating_mul(PATIENCE_TIMES))
        }
    }
}

/// Whether a cell that ended so was killed. A set-up that failed says nothing.
fn killed(ended: &Ended) -> bool {
    matches!(ended.status, Status::Fail | Status::Timeout | Status::Crash)
}

/// How much there is to be said against proving something by this pair. `None`: it is no kill, or was tried.
fn cost(kills: &Kills, row: usize, column: usize) -> Option<(bool, u64)> {
    let kill = kills.pair(row, column).kill.as_ref().filter(|kill| kill.proof == Proof::Once)?;
    Some((kill.out_of_time, kill.ms))
}
