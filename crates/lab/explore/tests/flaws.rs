//! A poller with each of these mistakes is told apart from the one without, by a short line.
//!
//! The flawed poller is this system's epoll or poll behind a wrapper with one mistake. The mistakes are those
//! of adapters, emulators and event loops: most have happened (docs/history.md).

#![cfg(target_os = "linux")]

mod flawed;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fd_core::hooks::fault::Fault;
use pollmatrix_explore::compare::Comparison;
use pollmatrix_explore::{Cluster, Corpus, Line, Local, MakeSide, Settings, explore};

/// The longest wait for an event that must come.
const PATIENCE: Duration = Duration::from_secs(2);

/// The number of lines that may follow the first disagreement. A flaw shows itself in several ways, and
/// shrinking keeps the one that was drawn: a later one can be shorter.
const MORE: u64 = 256;

/// What an exploration has found, and how long the first disagreement took.
struct Found {
    cluster: Cluster,
    lines: u64,
    performances: u64,
    took: Duration,
}

/// Explores a poller beside itself with a flaw, until a disagreement is confirmed. If its line is longer than
/// the registry of mistakes says, explores further.
fn find(flaw: Fault, seed: u64, most: u64) -> Option<Found> {
    let found = explore_until(Some(flaw), seed, most, 0)?;
    if found.cluster.line.clauses().len() <= flaw.clauses() {
        return Some(found);
    }
    explore_until(Some(flaw), seed, most, MORE)
}

/// Returns the poller without the flaw and the one with it.
fn sides(flaw: Option<Fault>) -> (Local, Local, Comparison) {
    let (make, flawed) = flawed::pair(flaw);
    let side =
        |make| Local::new(make, Some(&poller_epoll::selector), "here", PATIENCE).expect("the poller is here");
    let (left, right) = (side(make), side(flawed));
    let comparison = Comparison::of(left.about(), right.about());
    (left, right, comparison)
}

/// Explores until a disagreement is confirmed and `more` lines have followed. Returns the simplest line.
fn explore_until(flaw: Option<Fault>, seed: u64, most: u64, more: u64) -> Option<Found> {
    let (left, right, comparison) = sides(flaw);
    let mut corpus = Corpus::default();
    let settings =
        Settings { seed, lines: Some(most), round: 64, confirm: 3, confirmed: 3, ..Settings::default() };
    let is_enough = AtomicBool::new(false);
    let stop = || is_enough.load(Ordering::Relaxed);
    let begun = Instant::now();
    let mut first = None;
    let outcome = explore(
        (&left, Some(&right)),
        &comparison,
        &mut corpus,
        None,
        &settings,
        &stop,
        &mut |progress, _| {
            let lines = progress.lines + progress.replayed;
            if progress.clusters > 0 {
                let (before, _, _) = *first.get_or_insert((lines, progress.performances, begun.elapsed()));
                is_enough.store(lines >= before + more, Ordering::Relaxed);
            }
        },
    );
    let (lines, performances, took) = first?;
    let cluster = outcome.clusters.into_iter().min_by_key(|cluster| cluster.line.rank())?;
    Some(Found { cluster, lines, performances, took })
}

/// Finds the flaws, and prints a table. Returns those that are not found, and those whose line is longer than
/// the registry of mistakes says.
#[expect(clippy::print_stdout, reason = "the test harness captures this macro only")]
fn check(flaws: &[Fault], most: u64) -> Vec<String> {
    let mut wrong = Vec::new();
    for flaw in flaws.iter().copied() {
        let Some(found) = find(flaw, 1, most) else {
            wrong.push(format!("{}: not found", flaw.name()));
            continue;
        };
        let Found { cluster, lines, performances, took } = &found;
        let length = cluster.line.clauses().len();
        println!(
            "| `{}` | {lines} | {performances} | {:.2} s | {length} | `{}` |",
            flaw.name(),
            took.as_secs_f64(),
            cluster.line
        );
        if length > flaw.clauses() {
            wrong.push(format!(
                "{}: {} clauses, {} expected: {}",
                flaw.name(),
                length,
                flaw.clauses(),
                cluster.line
            ));
        }
    }
    wrong
}

#[test]
fn every_flaw_is_found_and_shrunk_to_a_short_line() {
    let wrong = check(Fault::EXPLORE, 4096);
    assert_eq!(wrong, [""; 0]);
    assert!(Fault::EXPLORE.len() >= 20);
}

/// Performs every line of at most `longest` clauses, over the transport and in the mode of `like`. Returns
/// the simplest one that shows the flaw.
fn shortest(flaw: Fault, longest: usize, like: &Line) -> Option<Line> {
    let (left, right, comparison) = sides(Some(flaw));
    let settings = Settings {
        every: Some(longest),
        catalogue: false,
        transports: vec![like.transport],
        modes: vec![like.mode],
        confirm: 3,
        confirmed: 3,
        ..Settings::default()
    };
    let sides: (&dyn MakeSide, _) = (&left, Some(&right as &dyn MakeSide));
    let mut corpus = Corpus::default();
    let outcome = explore(sides, &comparison, &mut corpus, None, &settings, &|| false, &mut |_, _| {});
    assert_eq!((outcome.is_stopped, outcome.progress.every), (false, longest), "{}", flaw.name());
    outcome.clusters.into_iter().map(|cluster| cluster.line).min_by_key(Line::rank)
}

/// Enumerates what shrinking only approaches: where the shrunk line has at most three clauses, no line has
/// fewer, and enumeration finds one of that length.
#[test]
fn the_shrunk_line_of_few_clauses_is_the_shortest() {
    let mut proved = 0;
    for flaw in Fault::EXPLORE.iter().copied().filter(|flaw| flaw.clauses() <= 3) {
        let line = find(flaw, 1, 4096).expect("another test finds it").cluster.line;
        let length = line.clauses().len();
        assert_eq!(shortest(flaw, length - 1, &line), None, "{}: '{line}' is not the shortest", flaw.name());
        let enumerated = shortest(flaw, length, &line).map(|line| line.clauses().len());
        assert_eq!(enumerated, Some(length), "{}: '{line}' is not among all lines", flaw.name());
        proved += 1;
    }
    assert!(proved >= 3, "{proved}");
}

#[test]
fn a_poller_without_a_flaw_agrees_with_itself() {
    assert!(explore_until(None, 1, 600, 0).is_none());
}
