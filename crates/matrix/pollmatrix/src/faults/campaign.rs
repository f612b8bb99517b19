//! Runs cells with faults, and decides which of them are kills.
//!
//! Most pairs of fault and scenario do not kill, and many kills are hangs. Cells therefore get a little more
//! time than they took without a fault. A cell that runs out of this shortened time is tried again with its
//! full time before it counts. A kill counts only if the same attempt passes without the fault, and the
//! control passes with the fault. It is proven only if other seeds kill, too.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use fd_core::hooks::fault::Fault;
use matrix::executable::Executable;
use matrix::plan::{Planned, Source};
use matrix::progress::Progress;
use matrix::signals::Stop;
use matrix::supervise::{self, Order};
use matrix::{provenance, schedule};
use metadata::{RunSpec, Seed, Status};
use report::first_line;

use super::attempts::{AttemptKey, AttemptLog, Ended};
use super::kills::{CONTROL, Kill, Kills, Proof};
use super::record::RecordedKill;
use crate::args::FaultsArgs;
use crate::error::Error;

/// The shortest time that a cell waits for an expected event.
const LEAST_PATIENCE: Duration = Duration::from_secs(2);
/// The multiple of the cell's duration without a fault that is added to the shortest time.
const PATIENCE_TIMES: u32 = 4;
/// The time that the control waits. Without a fault it takes a hundredth of this, so a control that runs out
/// of it has failed.
const CONTROL_PATIENCE: Duration = Duration::from_secs(5);
/// The multiple of its patience after which a cell is killed. A cell that waits in vain once fails by itself.
const LIMIT_TIMES: u32 = 2;
/// The number of seeds that prove a kill. A fault that is killed by chance two times of three does not pass
/// all of them.
pub const PROOFS: u64 = 8;
/// The number of seeds to try for a recorded kill.
const SEEDS: u64 = 3;
/// The number of attempts to make in parallel, per processor: cells that hang need no processor.
const PER_CPU: usize = 3;
/// The run of a kill matrix: tries pairs of faults and cells.
pub struct Campaign<'a> {
    source: &'a Source<'a>,
    log: &'a AttemptLog,
    stop: &'a Stop,
    executable: &'a Executable,
    slow: NonZeroU32,
    jobs: usize,
    /// The number of seeds with which the control must pass.
    control_seeds: u64,
    controls: Mutex<HashMap<(String, &'static str), Control>>,
}

/// Whether a cell of the control passes with a fault. `None` if the run was stopped meanwhile.
type Control = Arc<OnceLock<Option<bool>>>;

/// How many cells of each pair to try at least.
#[derive(Clone, Copy)]
pub enum Breadth {
    /// This number, or fewer if one kills.
    Until(usize),
    /// All cells, even after a kill.
    All,
}

/// A pair of fault and scenario, and the position of the cell to try.
struct Task {
    row: usize,
    column: usize,
    place: usize,
}

/// The outcome of a task.
enum Tried {
    /// The cell does not pass without the fault, so it proves nothing.
    Unfit(String),
    /// This machine cannot run the cell.
    Unsupported(String),
    Survived,
    Killed(Kill),
}

impl<'a> Campaign<'a> {
    /// Creates a campaign with the options of the arguments.
    pub fn new(
        source: &'a Source<'a>,
        executable: &'a Executable,
        log: &'a AttemptLog,
        stop: &'a Stop,
        args: &FaultsArgs,
    ) -> Self {
        let slow = args.chance.slow.factor();
        let jobs = args.jobs.map_or_else(|| PER_CPU * provenance::cpus(), usize::from);
        let control_seeds = if args.quick { SEEDS } else { PROOFS };
        let controls = Mutex::default();
        Self { source, log, stop, executable, slow, jobs, control_seeds, controls }
    }

    /// Tries `breadth` cells of every pair, then more cells of the pairs that the record needs, and of the
    /// faults and scenarios without a proven kill.
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
                        || kills.pair(row, column).wanted
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
            // The proofs decide which pairs still need a kill.
            if place + 1 >= broad {
                self.prove(kills)?;
            }
            if self.stop.requested() {
                break;
            }
        }
        Ok(())
    }

    fn round(&self, kills: &mut Kills, tasks: &[Task]) -> Result<(), Error> {
        let mut fresh: Vec<&Planned> =
            tasks.iter().filter_map(|task| kills.cell(task.row, task.column, task.place)).collect();
        fresh.sort_by(|a, b| a.spec.id.cmp(&b.spec.id));
        fresh.dedup_by(|a, b| a.spec.id == b.spec.id);
        // Measure the durations without much parallelism, because they shorten the following attempts.
        schedule::pool(&fresh, provenance::cpus(), |cell| self.baseline(cell), |_| ());

        let mut progress = Progress::new(tasks.len(), 0);
        let mut results = Vec::new();
        let mut named = HashSet::new();
        let each = |(at, tried): (usize, Tried)| {
            let task: &Task = &tasks[at];
            let fault = kills.rows[task.row].fault.name();
            progress.step(match &tried {
                // Only the first of several cells of a pair.
                Tried::Killed(kill) if named.insert((task.row, task.column)) => Some(kill_line(fault, kill)),
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
            let id = kills.cell(task.row, task.column, task.place).map(|cell| cell.spec.id.clone());
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

    /// Tries the cell with the fault. If it does not pass, tries it without the fault, and then the control
    /// with it.
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
            cell: cell.spec.id.clone(),
            how: ended.status,
            reason: ended.reason,
            ms: ended.ms,
            seed: self.seed(number),
            out_of_time: ended.out_of_time,
            proof,
        }))
    }

    /// Returns whether the control of a cell passes with the fault, with every seed. The control's own cells
    /// have no control.
    fn control_passes(&self, cell: &Planned, control: Option<&Planned>, fault: Fault) -> Option<bool> {
        let Some(control) = control.filter(|_| cell.spec.scenario != CONTROL) else { return Some(true) };
        let known = {
            let mut controls = self.controls.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (control.spec.id.clone(), fault.name());
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

    /// Proves the kills that the record has or will have, and a kill for every fault and every scenario
    /// without a proven one.
    fn prove(&self, kills: &mut Kills) -> Result<(), Error> {
        loop {
            let (rows, columns) = (0..kills.rows.len(), 0..kills.columns.len());
            let wanted = |pair: &(usize, usize)| {
                kills.pair(pair.0, pair.1).wanted && cost(kills, pair.0, pair.1).is_some()
            };
            let mut chosen: Vec<_> = kills.places().filter(wanted).collect();
            if chosen.is_empty() {
                for row in rows.clone().filter(|row| kills.row_unproven(*row)) {
                    // The control last: that the harness catches a fault is the weakest proof.
                    let cost = |column: usize| {
                        let cost = cost(kills, row, column)?;
                        Some(((kills.columns[column].is_control(), cost), (row, column)))
                    };
                    chosen.extend(columns.clone().filter_map(cost).min().map(|(_, pair)| pair));
                }
                for column in columns.clone().filter(|column| kills.column_lacks(*column)) {
                    // Prefer the fault that the fewest scenarios kill: a fault that all of them kill proves
                    // little.
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
            if chosen.is_empty() || self.stop.requested() {
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

    /// Returns whether other seeds kill the fault, too, and the first of them with the full time if that
    /// matters.
    fn proof(&self, cell: &Planned, fault: Fault, kill: &Kill) -> Option<Proof> {
        let baseline = self.baseline(cell)?;
        for number in 1..PROOFS {
            // An attempt with the full time takes that long, so only one is made.
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

    /// Tries the recorded kills. Returns a message for each fault and scenario that the record lacks.
    pub fn quick(&self, recorded: &[RecordedKill], kills: &mut Kills) -> Result<Vec<String>, Error> {
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
        let work = |&(row, column, recorded): &(usize, usize, &RecordedKill)| {
            let cell = kills.planned(&recorded.cell)?;
            let mut tried = Tried::Survived;
            for number in 0..SEEDS {
                match self.attempt_pair(cell, kills.control(cell), recorded.fault, number)? {
                    // With another seed, the control can pass.
                    Tried::Killed(kill) if !kill.counts() => tried = Tried::Killed(kill),
                    Tried::Killed(kill) => {
                        // A recorded hang may run out of the shortened time, because it ran out of the full
                        // time when it was recorded. A recorded failure that runs out of time needs an
                        // attempt with the full time: the machine can be busy, or the cell can hang on this
                        // system.
                        let confirmed = kill.out_of_time <= recorded.hangs
                            || killed(&self.attempt(cell, Some(recorded.fault), number, None)?);
                        let proof = if confirmed { Proof::Always } else { Proof::Once };
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
                Tried::Unfit(_) | Tried::Survived => Some(format!("{fault} is no longer killed by {cell}")),
            });
            proven.push((row, column, tried, cell));
        };
        schedule::pool(&tasks, self.jobs, work, each);
        progress.end();
        for (row, column, tried, cell) in proven {
            match tried {
                Tried::Unsupported(why) => {
                    kills.cannot_be_run(&cell, &why);
                    // Only recorded cells are tried, so without another one the fault or scenario is not run.
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
        if self.stop.requested() {
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

    /// Checks that the attempts could be written, and that the executable was not replaced.
    fn check(&self) -> Result<(), Error> {
        self.log.check()?;
        Ok(self.executable.check()?)
    }

    fn seed(&self, number: u64) -> Seed {
        Seed(self.log.seed().0.wrapping_add(number))
    }

    /// Tries the cell without a fault, with its full time.
    fn baseline(&self, cell: &Planned) -> Option<Ended> {
        self.attempt(cell, None, 0, None)
    }

    /// Makes one attempt, unless its end is known. Returns `None` if the run was stopped meanwhile.
    fn attempt(
        &self,
        cell: &Planned,
        fault: Option<Fault>,
        number: u64,
        patience: Option<Duration>,
    ) -> Option<Ended> {
        let seed = self.seed(number);
        let id = &cell.spec.id;
        let fault = fault.map(|fault| fault.name().to_owned());
        let key = AttemptKey { cell: id.clone(), fault, seed, full: patience.is_none() };
        if let Some(ended) = self.log.known(&key) {
            return Some(ended);
        }
        if self.stop.requested() {
            return None;
        }
        let limit =
            patience.map_or(cell.timeout, |patience| patience.saturating_mul(LIMIT_TIMES).min(cell.timeout));
        let spec = RunSpec { fault: key.fault.clone(), slow: Some(self.slow), ..RunSpec::new(seed) };
        let order = Order {
            environment: self.source.environment,
            prefix: &[],
            executable: self.executable,
            matrix: self.source.path.as_deref().map(Path::new),
            cell: id,
            spec: &spec,
            limit,
            patience,
        };
        let attempt = self.source.environment.judge(supervise::attempt(&order, || self.stop.requested())?);
        let waited = patience.unwrap_or(scenarios::PATIENCE).saturating_mul(self.slow.get());
        let ended = Ended::new(attempt, milliseconds(waited));
        self.log.add(key, ended.clone());
        Some(ended)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns every cell of every pair: the first cell of each pair, then the second ones, and so on.
fn all_tasks(kills: &Kills) -> Vec<Task> {
    let widest = kills.places().map(|(row, column)| kills.width(row, column)).max().unwrap_or(0);
    let of_place = |place| {
        let pairs = kills.places().filter(move |(row, column)| kills.width(*row, *column) > place);
        pairs.map(move |(row, column)| Task { row, column, place })
    };
    (0..widest).flat_map(of_place).collect()
}

/// Returns the progress line of a kill.
fn kill_line(fault: &str, kill: &Kill) -> String {
    let why = kill.reason.as_deref().map(|why| format!(": {}", first_line(why))).unwrap_or_default();
    format!("{} {fault} {}{why}", kill.letter(), kill.cell)
}

/// Returns how long a cell waits for an expected event, from its duration without a fault.
fn patience(cell: &Planned, baseline: &Ended) -> Duration {
    match cell.spec.scenario == CONTROL {
        true => CONTROL_PATIENCE,
        false => {
            LEAST_PATIENCE.saturating_add(Duration::from_millis(baseline.ms).saturating_mul(PATIENCE_TIMES))
        }
    }
}

/// Returns whether an attempt kills the fault. A broken attempt does not.
fn killed(ended: &Ended) -> bool {
    matches!(ended.status, Status::Fail | Status::Timeout | Status::Crash)
}

/// Returns the cost of proving the kill of this pair, to compare pairs. `None` if there is no kill, or its
/// proof was tried.
fn cost(kills: &Kills, row: usize, column: usize) -> Option<(bool, u64)> {
    let kill = kills.pair(row, column).kill.as_ref().filter(|kill| kill.proof == Proof::Once)?;
    Some((kill.out_of_time, kill.ms))
}
