//! Compares the event loop of fd-core with the bare system calls and with other loops, by the processor time
//! per event, in one run.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod instructions;
mod loops;
mod ring;
mod samples;
#[cfg(target_os = "linux")]
mod servers;
#[cfg(target_os = "linux")]
#[expect(dead_code, reason = "it is a program, with a function main")]
#[path = "../../../crates/core/fd-core/examples/takeover_pool.rs"]
mod takeover_pool;
mod takeovers;
mod work;

// The names that the example has for them.
#[cfg(target_os = "linux")]
extern crate fd_core as pollmatrix_fd_core;
#[cfg(target_os = "linux")]
extern crate poller_epoll as pollmatrix_poller_epoll;

use std::io::{self, IsTerminal, Write};
#[cfg(target_os = "linux")]
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use cost::statistics::Compared;

use crate::loops::Loop;
use crate::ring::raise_limit;
use crate::samples::compare;
use crate::takeovers::Plan;
use crate::work::{WORKS, Work};

/// Compares fd-core's event loop with the bare system calls, mio, polling, libevent and libuv.
///
/// A ratio is the processor time per event of fd-core, divided by that of the other loop: below 1, fd-core is
/// faster. Every pair of loops runs alternately, A B A B. A ratio is the median of the pairs, with the 95 %
/// confidence interval of that median. A ratio whose interval is too wide is not printed.
#[derive(Parser)]
#[command(name = "bench", version)]
struct Arguments {
    /// Only the works whose names contain one of these
    #[arg(value_name = "WORK")]
    works: Vec<String>,
    /// Pairs of samples for each ratio
    #[arg(long, default_value_t = 31, value_parser = clap::value_parser!(u32).range(7..))]
    pairs: u32,
    /// Events of one sample
    #[arg(long, default_value_t = 40_000, value_parser = clap::value_parser!(u64).range(1_000..))]
    events: u64,
    /// The widest confidence interval, in percent of the ratio, that is still printed
    #[arg(long, default_value_t = 6.0)]
    noise: f64,
    /// Write the ratios as JSON to this file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// List the works and the loops, and measure nothing
    #[arg(long)]
    list: bool,
    /// Run one sample of one loop, such as bare-call, for a profiler, and print the nanoseconds per event
    #[arg(long, value_name = "LOOP", value_parser = loops::named, conflicts_with_all = ["pairs", "noise", "json", "list"])]
    sample: Option<Loop>,
    /// Measure a listener that belongs to one of four threads instead: a poller per thread beside one for all
    #[cfg(target_os = "linux")]
    #[arg(long, group = "mode", conflicts_with_all = ["works", "events", "json", "list"])]
    listener: bool,
    /// Measure a server of one thread under the load of 64 clients instead, beside others
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "PROTOCOL", group = "mode", conflicts_with_all = ["works", "events", "json", "list"])]
    server: Option<servers::Protocol>,
    /// Measure the example takeover_pool, a proxy of two threads, beside HAProxy and nginx instead
    #[cfg(target_os = "linux")]
    #[arg(long, group = "mode", conflicts_with_all = ["works", "events", "json", "list"])]
    proxy: bool,
    /// Be that proxy
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "SERVER", hide = true)]
    serve_proxy: Option<SocketAddr>,
    /// Count the instructions per event instead, with valgrind; the exit code is 1 if a limit does not hold
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[arg(long, group = "mode", conflicts_with_all = ["works", "pairs", "events", "json", "list", "noise"])]
    instructions: bool,
    /// Count takeovers per second instead, with 2 threads, 4, 8, up to the number of processors
    #[arg(long, group = "mode", conflicts_with_all = ["works", "events", "json", "list", "noise"])]
    takeovers: bool,
    /// With --takeovers: make so many in one run on two threads, while a part of the descriptors have traffic
    #[arg(long, value_name = "NUMBER", requires = "takeovers", conflicts_with = "pairs")]
    total: Option<u64>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            print_error_line(&format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Measures and prints. Returns whether every ratio was measured and could be told from noise.
fn run(arguments: &Arguments) -> Result<bool, Box<dyn std::error::Error>> {
    let is_chosen = |work: &&Work| {
        arguments.works.is_empty() || arguments.works.iter().any(|part| work.name.contains(part))
    };
    let works: Vec<&Work> = WORKS.iter().filter(is_chosen).collect();
    if works.is_empty() {
        let names: Vec<_> = WORKS.iter().map(|work| work.name).collect();
        return Err(format!("no work has such a name\nhelp: use one of: {}", names.join(", ")).into());
    }
    if arguments.list {
        for work in works {
            let others: Vec<_> =
                work.others().map(Loop::name).chain(work.with_few_idle().map(|_| "few idle")).collect();
            print_line(&format!("{}: {}", work.name, others.join(", ")))?;
        }
        return Ok(true);
    }
    if fd_core::hooks::COST_TIME {
        return Err("this build has hooks for tests, which would be measured, too\n\
                    help: use ci/proofs.sh bench"
            .into());
    }
    let limit = raise_limit()?;
    if let Some(which) = arguments.sample {
        return one_sample(which, &works, arguments.events);
    }
    #[cfg(target_os = "linux")]
    if arguments.listener {
        return Ok(told_from_noise(servers::print_listener(arguments.pairs, arguments.noise)?));
    }
    #[cfg(target_os = "linux")]
    if let Some(server) = arguments.serve_proxy {
        return takeover_pool::serve(server).map(|()| true);
    }
    #[cfg(target_os = "linux")]
    if arguments.proxy {
        return Ok(told_from_noise(servers::print_proxy(arguments.pairs, arguments.noise)?));
    }
    #[cfg(target_os = "linux")]
    if let Some(protocol) = arguments.server {
        return Ok(told_from_noise(servers::print_server(protocol, arguments.pairs, arguments.noise)?));
    }
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    if arguments.instructions {
        return instructions::print();
    }
    if let Some(total) = arguments.total {
        return long_run(total);
    }
    if arguments.takeovers {
        return all_takeovers(arguments.pairs);
    }
    // A row is printed as soon as it is measured: all of them take minutes.
    let header = ["work", "beside", "ns per event", "fd-core ÷ it", "95 % interval"];
    print_line(&line(&header.map(str::to_owned)))?;
    let (mut rows, mut are_sure, mut are_measured) = (Vec::new(), true, true);
    for work in works {
        if work.descriptors() > limit {
            let needed = work.descriptors();
            print_error_line(&format!(
                "not measured: {}: it needs {needed} descriptors, and the limit (ulimit -n) is {limit}",
                work.name
            ));
            are_measured = false;
            continue;
        }
        let few_idle = work.with_few_idle();
        let itself = few_idle.as_ref().map(|few| ("few idle", Loop::FdCore, (few, Loop::FdCore)));
        let others = work.others().map(|other| (other.name(), other.counterpart(), (work, other)));
        for (name, own, other) in others.chain(itself) {
            let compared = compare((work, own), other, arguments.pairs, arguments.events)?;
            let is_noise = compared.is_noise(arguments.noise);
            are_sure &= !is_noise;
            print_line(&line(&row(work, name, &compared, arguments.noise)))?;
            rows.push(serde_json::json!({
                "work": work.name,
                "beside": name,
                "nanoseconds": compared.medians,
                "ratio": compared.ratio,
                "interval": compared.interval,
                "is_noise": is_noise,
            }));
        }
    }
    if let Some(file) = &arguments.json {
        std::fs::write(file, serde_json::to_string_pretty(&rows)? + "\n")
            .map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(told_from_noise(are_sure) && are_measured)
}

fn one_sample(which: Loop, works: &[&Work], events: u64) -> Result<bool, Box<dyn std::error::Error>> {
    for work in works.iter().filter(|work| which.can(work)) {
        let time = which.run(ring::Ring::new(work, events)?, work.poller)?;
        print_line(&format!("{}: {:.0}", work.name, time.as_nanos() as f64 / events as f64))?;
    }
    Ok(true)
}

/// Says what to do about noise. Returns whether there was none.
fn told_from_noise(are_sure: bool) -> bool {
    if !are_sure {
        print_error_line("some ratios are noise: repeat on a quiet machine, or with more --pairs");
    }
    are_sure
}

/// The descriptors that threads take from each other.
const DESCRIPTORS: usize = 1024;

fn long_run(changes: u64) -> Result<bool, Box<dyn std::error::Error>> {
    let plan =
        Plan { threads: 2, descriptors: DESCRIPTORS, busy: DESCRIPTORS / 16, changes, time: Duration::MAX };
    let measured = takeovers::measure(&plan, |made| {
        if io::stderr().is_terminal() {
            let _ = write!(io::stderr(), "\r{} of {} million", made / 1_000_000, changes / 1_000_000);
        }
    })?;
    if io::stderr().is_terminal() {
        print_error_line("");
    }
    print_line(&format!(
        "{} takeovers between {} threads in {:.1} s: {:.2} million per second, each exclusive by its owner's \
         word. {} of {} descriptors had traffic: {} events, each on the owner's thread.",
        measured.changes,
        plan.threads,
        measured.elapsed.as_secs_f64(),
        measured.rate() / 1e6,
        plan.busy,
        plan.descriptors,
        measured.events
    ))?;
    Ok(true)
}

fn all_takeovers(samples: u32) -> Result<bool, Box<dyn std::error::Error>> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    if processors < 2 {
        return Err("one processor: no thread can take anything over from another meanwhile".into());
    }
    print_line("threads  millions of takeovers per second among 1024 descriptors  95 % interval")?;
    let doubled = |threads: &usize| threads.checked_mul(2);
    for threads in std::iter::successors(Some(2), doubled).take_while(|threads| *threads <= processors) {
        let time = Duration::from_millis(100);
        let plan = Plan { threads, descriptors: DESCRIPTORS, busy: 0, changes: u64::MAX, time };
        let rate = |_| takeovers::measure(&plan, |_| ()).map(|measured| measured.rate());
        let rates = (0..samples).map(rate).collect::<io::Result<Vec<_>>>()?;
        let [median, low, high] = cost::statistics::median_and_interval(rates).map(|rate| rate / 1e6);
        let interval = format!("{low:.2} to {high:.2}");
        print_line(&format!("{threads:>7}  {median:>55.2}  {interval:>13}"))?;
    }
    Ok(true)
}

/// Aligns the columns.
fn line([work, other, times, ratio, interval]: &[String; 5]) -> String {
    let width = WORKS.iter().map(|work| work.name.len()).max().unwrap_or_default();
    format!("{work:<width$}  {other:<9}  {times:>15}  {ratio:>12}  {interval:>13}")
}

fn row(work: &Work, other: &str, compared: &Compared, noise: f64) -> [String; 5] {
    let ([own, its], [ratio, interval]) = (compared.medians, compared.texts(noise));
    [work.name.into(), other.into(), format!("{own:.0} and {its:.0}"), ratio, interval]
}

/// Prints a line. A closed pipe is not an error.
fn print_line(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

fn print_error_line(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
