//! A side of an exploration in processes of its own.

use std::num::NonZeroU32;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use explore::{About, End, Line, Local, MakeSide, Performed, Side};
use matrix::executable::Executable;
use matrix::worker::{Lost, Worker};
use matrix::{backends, environment, lifeline, output, provenance, system};
use raw::cell;
use serde::{Deserialize, Serialize};

use crate::args::SlowArg;
use crate::error::Error;
use crate::exit;
use crate::explore::explained::Cells;
use crate::explore::limits::Limits;
use crate::lab;

#[derive(clap::Args)]
pub struct LinesArgs {
    /// The poller
    #[arg(value_name = "POLLER")]
    pub poller: String,
    #[command(flatten)]
    pub slow: SlowArg,
}

/// How long a line waits for an event that must come. The whole patience is spent only before a disagreement
/// is reported.
const SHORT: Duration = Duration::from_secs(1);
/// The time limit of a line in a process that performs many. Every wait in a line is shorter.
const LIMIT: Duration = Duration::from_secs(20);
/// The time limit of a line in a process of its own.
const LONG_LIMIT: Duration = Duration::from_secs(60);
/// How many descriptors a process may lose before another one replaces it.
const LEAK: i32 = 64;

/// A line to perform.
#[derive(Serialize, Deserialize)]
struct Order {
    line: String,
    /// Wait for an event that must come as long as `probe` does.
    patient: bool,
}

/// The answer to an order.
#[derive(Serialize, Deserialize)]
struct Done {
    #[serde(flatten)]
    performed: Performed,
    /// The lowest free descriptor number.
    lowest_free: i32,
}

/// Returns the system of this machine: `linux 6.18.44, x86_64`.
fn system() -> String {
    let (kernel, machine) = provenance::kernel();
    format!("{} {kernel}, {machine}", system::name())
}

/// Makes the side of this poller in this process.
fn local(typed: &str, keep: bool, slow: NonZeroU32) -> Result<Local, Error> {
    let poller = environment::poller_of(&*lab::boxed(), typed, keep, slow)?;
    let patience = SHORT.saturating_mul(slow.get());
    let failed = matrix::Error::io("make", typed, "`pollmatrix list` shows the backends of this machine");
    Ok(Local::new(poller.make, backends::queue(), &system(), patience).map_err(failed)?)
}

/// A side whose lines processes of this program perform.
pub struct Processes<'a> {
    typed: String,
    about: About,
    slow: NonZeroU32,
    executable: &'a Executable,
    limits: &'a Limits<'a>,
}

impl<'a> Processes<'a> {
    /// Learns the features of this poller.
    pub fn of(
        typed: &str,
        slow: NonZeroU32,
        executable: &'a Executable,
        limits: &'a Limits<'a>,
    ) -> Result<Self, Error> {
        let about = local(typed, true, slow)?.about().clone();
        Ok(Self { typed: typed.to_owned(), about, slow, executable, limits })
    }

    /// Returns the option that makes another command use this poller: ` --backend poll`.
    pub fn option(&self) -> String {
        match backends::find(&self.typed) {
            Some(_) => format!(" --backend {}", self.about.name),
            None => {
                let typed = matrix::command::quoted(std::slice::from_ref(&self.typed));
                format!(" --adapter {typed} --backend {}", self.about.name)
            }
        }
    }

    /// Returns the cells of this poller, judged by the expectations of this folder, too.
    pub fn cells(&self, expectations: Option<&Path>) -> Result<Cells<'a>, Error> {
        Cells::of(&self.typed, &self.about.name, expectations, self.executable, self.slow)
    }

    fn start(&self) -> Result<Worker, String> {
        let mut command = Command::new(self.executable.path());
        command.args(["worker", "lines", &self.typed, "--slow", &self.slow.to_string()]);
        Worker::start(command, Some(String::new()))
            .map_err(|error| format!("cannot start a process: {error}"))
    }

    fn limit(&self, limit: Duration) -> Duration {
        limit.saturating_mul(self.slow.get())
    }
}

impl MakeSide for Processes<'_> {
    fn about(&self) -> &About {
        &self.about
    }

    fn make(&self) -> Box<dyn Side + Send + '_> {
        Box::new(Job { of: self, worker: None, first_free: None })
    }
}

/// A side of one job.
struct Job<'a> {
    of: &'a Processes<'a>,
    /// Performs one line after the other. `None` before the first line, and after a loss.
    worker: Option<Worker>,
    /// The lowest free number after the worker's first line.
    first_free: Option<i32>,
}

impl Job<'_> {
    fn ask(&self, worker: &mut Worker, line: &Line, patient: bool) -> Result<Done, End> {
        let order = Order { line: line.to_string(), patient };
        let order = serde_json::to_string(&order).expect("the type has no fallible parts");
        let limit = self.of.limit(if patient { LONG_LIMIT } else { LIMIT });
        match worker.ask(&order, limit, || self.of.limits.are_over()) {
            Ok(answer) => serde_json::from_str(&answer)
                .map_err(|error| End::Crash(format!("it printed no answer ({error}): {}", answer.trim()))),
            Err(Lost::TimedOut(limit)) => Err(End::Hang(Lost::TimedOut(limit).to_string())),
            // Nobody compares the answers after a stop.
            Err(Lost::Stopped) => Err(End::Unsupported(Lost::Stopped.to_string())),
            Err(lost) => Err(End::Crash(lost.to_string())),
        }
    }
}

impl Side for Job<'_> {
    fn perform(&mut self, line: &Line) -> Performed {
        let mut worker = match self.worker.take().map_or_else(|| self.of.start(), Ok) {
            Ok(worker) => worker,
            Err(why) => return Performed::ended(End::Unsupported(why)),
        };
        match self.ask(&mut worker, line, false) {
            Ok(Done { performed, lowest_free }) => {
                let first = *self.first_free.get_or_insert(lowest_free);
                let is_broken = matches!(performed.end, End::Broken(_));
                if lowest_free < first + LEAK && !is_broken {
                    self.worker = Some(worker);
                } else {
                    self.first_free = None;
                }
                performed
            }
            Err(end) => {
                self.first_free = None;
                Performed::ended(end)
            }
        }
    }

    fn perform_afresh(&mut self, line: &Line) -> Performed {
        match self.of.start() {
            Ok(mut worker) => match self.ask(&mut worker, line, true) {
                Ok(done) => done.performed,
                Err(end) => Performed::ended(end),
            },
            Err(why) => Performed::ended(End::Unsupported(why)),
        }
    }
}

/// `pollmatrix worker lines`: performs the lines on standard input, and prints the answers.
pub fn perform(args: &LinesArgs) -> Result<ExitCode, Error> {
    let slow = args.slow.factor();
    let side = local(&args.poller, false, slow)?;
    let orders = lifeline::lines().map_err(matrix::signals::cannot_start)?;
    for order in orders {
        let done = match serde_json::from_str(&order).map_err(|error| error.to_string()) {
            Ok(order) => answer(&side, &order, slow),
            Err(why) => Done { performed: Performed::ended(End::Broken(why)), lowest_free: 0 },
        };
        let done = serde_json::to_string(&done).expect("the type has no fallible parts");
        if let Err(lost) = output::print_line(&done) {
            Error::from(lost).print();
            std::process::exit(exit::ERROR.into());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(side: &Local, order: &Order, slow: NonZeroU32) -> Done {
    let performed = match order.line.parse::<Line>() {
        Err(error) => Performed::ended(End::Broken(error.to_string())),
        Ok(line) => match cell::unreachable(line.transport) {
            Some(why) => Performed::ended(End::Unsupported(why.into())),
            None if order.patient => side.perform_with(&line, raw::PATIENCE.saturating_mul(slow.get())),
            None => side.perform(&line),
        },
    };
    Done { performed, lowest_free: lowest_free() }
}

/// Returns the lowest free descriptor number; 0 if there is none.
fn lowest_free() -> i32 {
    use std::os::fd::AsRawFd;
    std::fs::File::open("/dev/null").map_or(0, |file| file.as_raw_fd())
}
