//! `pollmatrix exec --orders`: makes single attempts as another machine orders them, for `pollmatrix faults`.

use std::io::{self, BufRead, Read};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use runner::executable::Executable;
use runner::plan::Source;
use runner::schedule::Settings;
use runner::signals::Stop;
use runner::stream::{self, AttemptOrder, Line, ORDERS};
use runner::supervise::{self, Order};
use runner::{descriptor_limits, lifeline, remote_attempts};

use super::{Output, about, own, settings, start_failed};
use crate::args::ExecArgs;
use crate::error::Error;

/// The greatest size of an order, in bytes.
const ORDER_BYTES: u64 = 64 << 10;
/// The interval between two checks whether a stop is requested.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Makes the attempts that `orders` lists, or standard input if it is `-`, and writes a line for each.
pub fn run(source: &Source<'_>, args: &ExecArgs, orders: &str) -> Result<ExitCode, Error> {
    let list = match orders {
        "-" => {
            // Read before anything is written: an executor that gets no standard input has not begun.
            greeting(&mut io::stdin().lock())?;
            None
        }
        list => Some(serde_json::from_str::<Vec<AttemptOrder>>(list).map_err(malformed)?),
    };
    let own = own(args)?;
    let executable = Executable::watch(&own.executable);
    let settings = settings(source, args, &own, &executable, remote_attempts::PER_CPU);
    let mut output = Output::open(&args.output)?;
    output.write(&Line::Begin {
        format: stream::FORMAT,
        run: Box::new(about(source, args, &settings)?),
        slow: settings.slow,
        cells: 0,
        faults: cfg!(feature = "faults"),
    })?;
    let stop = Stop::install().map_err(|source| start_failed(&own.executable, source))?;
    let (sender, receiver) = channel();
    let reader = match list {
        Some(list) => {
            // The receiver is alive.
            list.into_iter().for_each(|order| _ = sender.send(order));
            drop(sender);
            None
        }
        // Not a scoped thread, because it can be in the middle of a read when this program ends.
        None => Some(thread::Builder::new().spawn(move || forward(&mut io::stdin().lock(), &sender))),
    };
    let reader = reader.transpose().map_err(|source| start_failed(&own.executable, source))?;
    let made = make_all(receiver, output, &settings, &stop)?;
    if let Some(reader) = reader.filter(|_| !stop.requested()) {
        reader.join().unwrap_or(Ok(()))?;
    }
    executable.check()?;
    if let Some(code) = stop.signal() {
        return Ok(ExitCode::from(code));
    }
    let (mut output, count) = made;
    output.write(&Line::End { cells: count })?;
    Ok(ExitCode::SUCCESS)
}

/// Makes attempts in parallel until no further order can come. Returns the output and the number of attempts.
fn make_all(
    orders: Receiver<AttemptOrder>,
    output: Output,
    settings: &Settings<'_>,
    stop: &Stop,
) -> Result<(Output, usize), Error> {
    let orders = Mutex::new(orders);
    let written = Mutex::new((output, 0, None));
    let work = || {
        while let Some(order) = next(&orders, stop) {
            let Some(line) = make(&order, settings, stop) else { return };
            let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
            let (output, count, problem) = &mut *written;
            *count += 1;
            if let Err(error) = output.write(&line) {
                problem.get_or_insert(error);
                stop.halt();
                return;
            }
        }
    };
    thread::scope(|scope| {
        // The first worker is this thread, so that attempts are made even if no other thread starts.
        for _ in 1..settings.jobs.min(descriptor_limits::cells()) {
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    match written.into_inner().unwrap_or_else(PoisonError::into_inner) {
        (_, _, Some(error)) => Err(error),
        (output, count, None) => Ok((output, count)),
    }
}

/// Waits for the next order. Returns `None` if no further order can come, or a stop is requested.
fn next(orders: &Mutex<Receiver<AttemptOrder>>, stop: &Stop) -> Option<AttemptOrder> {
    // While one worker waits, the others wait for the lock.
    let orders = orders.lock().unwrap_or_else(PoisonError::into_inner);
    while !stop.requested() {
        match orders.recv_timeout(CHECK_INTERVAL) {
            Ok(order) => return Some(order),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    None
}

/// Makes one attempt. Returns `None` if a stop was requested meanwhile, or the executable was replaced.
fn make(order: &AttemptOrder, settings: &Settings<'_>, stop: &Stop) -> Option<Line> {
    let one = Order {
        environment: settings.environment,
        prefix: settings.prefix,
        executable: settings.executable,
        matrix: settings.matrix,
        cell: &order.cell,
        seed: order.seed,
        fault: order.fault.as_deref(),
        inject_errors: settings.inject_errors,
        late_data: settings.late_data,
        limit: Duration::from_millis(order.limit_ms),
        slow: settings.slow,
        patience: order.patience_ms.map(Duration::from_millis),
    };
    let attempt = settings.environment.judge(supervise::attempt(&one, || stop.requested())?);
    Some(Line::Attempt { order: order.order, attempt: Box::new(attempt) })
}

fn malformed(error: serde_json::Error) -> Error {
    Error::NotOrders(error.to_string())
}

/// Reads the line that precedes the orders.
fn greeting(input: &mut impl BufRead) -> Result<(), Error> {
    match line(input)? {
        None => Err(Error::CutCells),
        Some(line) if line.trim() == ORDERS => Ok(()),
        Some(line) => Err(Error::NotOrders(format!("the first line is {:?}", line.trim()))),
    }
}

/// Passes on the orders of standard input up to the empty line. Kills this program and its cells if the input
/// ends before: then the other machine is gone.
fn forward(input: &mut impl BufRead, orders: &Sender<AttemptOrder>) -> Result<(), Error> {
    loop {
        let Some(line) = line(input)? else { lifeline::end() };
        match line.trim() {
            "" => return Ok(()),
            order => {
                let order = serde_json::from_str(order).map_err(malformed)?;
                if orders.send(order).is_err() {
                    return Ok(());
                }
            }
        }
    }
}

/// Reads a line. Returns `None` at the end.
fn line(input: &mut impl BufRead) -> Result<Option<String>, Error> {
    let mut text = String::new();
    match input.take(ORDER_BYTES).read_line(&mut text) {
        Ok(0) => Ok(None),
        Ok(_) if text.ends_with('\n') => Ok(Some(text)),
        Ok(_) => Err(Error::NotOrders("a line is truncated, or too long".into())),
        Err(error) => Err(Error::NotOrders(error.to_string())),
    }
}
