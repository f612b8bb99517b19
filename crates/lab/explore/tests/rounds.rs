//! An exploration depends on its seed, and not on the number of jobs or on time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use metadata::Transport;
use pollmatrix_explore::compare::Comparison;
use pollmatrix_explore::{
    Accepted, Corpus, End, Line, Local, MakeSide, Outcome, Performed, Recorded, Recording, Runs, Settings,
    explore, parse_accepted, with_shorter_lines,
};
use selector::MakeSelector;

const PATIENCE: Duration = Duration::from_secs(5);

fn side(make: MakeSelector) -> Local {
    Local::new(make, None, "here", PATIENCE).expect("the poller is here")
}

/// Pipes only: their answers do not depend on the kernel's other work.
fn settings() -> Settings {
    let transports = vec![Transport::Pipe];
    Settings {
        seed: 7,
        lines: Some(192),
        round: 64,
        confirm: 1,
        confirmed: 1,
        transports,
        ..Settings::default()
    }
}

/// Explores poll beside select.
fn explored(settings: &Settings, corpus: &mut Corpus, stop: &(dyn Fn() -> bool + Sync)) -> Outcome {
    let (left, right) = (side(&poller_poll::selector), side(&poller_select::selector));
    let comparison = Comparison::of(left.about(), right.about());
    explore((&left, Some(&right)), &comparison, corpus, None, settings, stop, &mut |_, _| {})
}

/// Returns the lines of a corpus that do not depend on the scheduler.
fn steady(corpus: &Corpus) -> Vec<String> {
    corpus.steady().iter().map(Line::to_string).collect()
}

#[test]
fn the_same_seed_explores_the_same_lines_on_any_number_of_jobs() {
    let run = |jobs: usize, seed: u64| {
        let mut corpus = Corpus::default();
        let outcome = explored(&Settings { jobs, seed, ..settings() }, &mut corpus, &|| false);
        let found: Vec<_> = outcome.clusters.iter().map(|cluster| cluster.line.to_string()).collect();
        (steady(&corpus), found, outcome.progress.lines)
    };
    let one = run(1, 7);
    assert!(one.0.len() > 50 && one.2 == 192, "{one:?}");
    assert_eq!(run(3, 7), one);
    assert_ne!(run(1, 8).0, one.0);
}

#[test]
fn a_stop_ends_the_round_and_keeps_the_earlier_ones() {
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) > 120;
    let mut corpus = Corpus::default();
    let outcome = explored(&settings(), &mut corpus, &stop);
    assert!(outcome.is_stopped && outcome.progress.lines < 192);
    assert!(!corpus.is_empty());
}

/// The first round begins with the questions of the catalogue. The rest of its steps shrink and confirm.
#[test]
fn a_stop_keeps_what_was_confirmed_in_the_unfinished_round() {
    let explored = |asks: usize| {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= asks;
        explored(&settings(), &mut Corpus::default(), &stop)
    };
    let stopped = (40..400).step_by(10).map(explored).find(|stopped| !stopped.clusters.is_empty()).unwrap();
    assert_eq!((stopped.is_stopped, stopped.progress.lines, stopped.is_verdict()), (true, 0, false));
    assert!(stopped.clusters.iter().all(|cluster| cluster.confirmed.shown == 1), "{:#?}", stopped.clusters);
    let complete = explored(usize::MAX);
    assert!(complete.is_verdict() && stopped.clusters.len() < complete.clusters.len());
}

#[test]
fn an_accepted_disagreement_is_explained_and_one_that_does_not_show_is_named() {
    let explored = |accepted: &str| {
        let accepted = parse_accepted("known.txt", accepted).unwrap();
        let settings = Settings { lines: Some(0), catalogue: false, accepted, ..settings() };
        explored(&settings, &mut Corpus::default(), &|| false)
    };
    let closed = "own and peer are connected, add own?, own closes, wait";
    let shown = explored(&format!(
        "pipe level: {closed} => left: events; right: EBADF\n\
         pipe level: own and peer are connected, add own?, wait => only left: HUP\n\
         unix level: {closed} => left: events; right: EBADF\n"
    ));
    let [cluster] = &shown.clusters[..] else { panic!("{:#?}", shown.clusters) };
    assert_eq!(cluster.line.script.to_string(), closed);
    assert_eq!((&cluster.accepted, shown.progress.unexplained), (&[0].into(), 0));
    assert_eq!((shown.not_seen, shown.not_performed), ([1].into(), [2].into()), "unix was not asked for");
    // The same line with another difference was not accepted.
    let other = explored(&format!("pipe level: {closed} => only left: HUP\n"));
    assert_eq!((other.progress.unexplained, other.not_seen.len()), (1, 1));
    // A line that is longer than necessary accepts less than the sides differ in.
    let sends = closed.replace("add own?", "peer sends 1?, add own?");
    let longer = explored(&format!("pipe level: {sends} => left: events; right: EBADF\n"));
    let [cluster] = &longer.clusters[..] else { panic!("{:#?}", longer.clusters) };
    assert_eq!((cluster.line.script.to_string(), longer.progress.unexplained), (closed.into(), 1));
    assert_eq!((&cluster.accepted, &cluster.undercut), (&[].into(), &[0].into()));
}

/// Accepts everything that an exploration without a catalogue finds.
fn proposed(outcome: &Outcome) -> Vec<Accepted> {
    let shown = outcome.clusters.iter().flat_map(|cluster| cluster.settings.values());
    let entries = shown.map(|(line, difference)| format!("{line} => {}\n", difference.what));
    parse_accepted("known.txt", &entries.collect::<String>()).unwrap()
}

#[test]
fn an_exploration_with_everything_that_it_found_accepted_finds_the_same_and_nothing_new() {
    for seed in 1..=4 {
        let settings = Settings { seed, catalogue: false, replay: false, ..settings() };
        let mut corpus = Corpus::default();
        let first = explored(&settings, &mut corpus, &|| false);
        assert!(first.progress.unexplained > 0, "{seed}");
        let accepted = Settings { accepted: proposed(&first), ..settings };
        // Neither an empty corpus nor that of the first exploration changes it.
        for mut corpus in [Corpus::default(), corpus] {
            let before = steady(&corpus);
            let again = explored(&accepted, &mut corpus, &|| false);
            assert_eq!(again.progress.unexplained, 0, "{seed}: {:#?}", again.clusters);
            let lines = |outcome: &Outcome| -> Vec<_> {
                outcome.clusters.iter().map(|cluster| cluster.line.to_string()).collect()
            };
            assert_eq!((lines(&again), again.not_seen.len()), (lines(&first), 0), "{seed}");
            assert_eq!(again.progress.triples, first.progress.triples, "{seed}: it performs the same lines");
            let files = corpus.files();
            let is_kept = |line: &String| {
                let script = line.split_once(": ").map_or("", |(_, script)| script);
                files.values().any(|text| text.lines().any(|kept| kept == script))
            };
            assert!(before.iter().all(is_kept), "{seed}: no line of the corpus is lost");
        }
    }
}

/// It shows, although it is not confirmed: it must not be removed from the file.
#[test]
fn a_stop_before_the_confirmation_does_not_call_an_accepted_disagreement_gone() {
    let accepted =
        "pipe level: own and peer are connected, add own?, own closes, wait => left: events; right: EBADF";
    let accepted = parse_accepted("known.txt", accepted).unwrap();
    let settings = Settings { lines: Some(0), catalogue: false, accepted, ..settings() };
    let stopped_after = |asks: usize| {
        let asked = AtomicUsize::new(0);
        explored(&settings, &mut Corpus::default(), &|| asked.fetch_add(1, Ordering::Relaxed) >= asks)
    };
    for (asks, not_performed, clusters) in [(0, 1, 0), (3, 0, 0), (usize::MAX, 0, 1)] {
        let outcome = stopped_after(asks);
        assert_eq!(
            (outcome.not_performed.len(), outcome.clusters.len()),
            (not_performed, clusters),
            "{asks}"
        );
        assert!(outcome.not_seen.is_empty(), "{asks}");
    }
}

#[test]
fn a_missing_answer_of_a_recording_is_no_agreement() {
    let poll = side(&poller_poll::selector);
    let line: Line = "pipe level: own and peer are connected, add own?, wait".parse().unwrap();
    let all = ["ok", "0", "-"].map(str::to_owned).to_vec();
    let performed = |answers: &[String]| Performed { answers: answers.to_vec(), end: End::Performed };
    for (runs, missing, compared) in [
        (Runs::from([performed(&all)]), 0, 1),
        (Runs::from([performed(&all[..2])]), 1, 0),
        (Runs::from([performed(&[])]), 1, 0),
        (Runs::new(), 1, 0),
    ] {
        let recorded = Recorded::of(&Recording::of("0", poll.about(), [(&line, &runs)])).unwrap();
        let comparison = Comparison::of(poll.about(), recorded.about());
        let sides: (&dyn MakeSide, _) = (&poll, Some(&recorded as &dyn MakeSide));
        let (given, none) = (Some(vec![line.clone()]), &|| false);
        let mut corpus = Corpus::default();
        let outcome = explore(sides, &comparison, &mut corpus, given, &settings(), none, &mut |_, _| {});
        let progress = outcome.progress;
        assert_eq!(
            (progress.missing, progress.compared, outcome.is_verdict()),
            (missing, compared, compared > 0)
        );
    }
}

#[test]
fn the_corpus_is_performed_first_and_minimised() {
    let mut corpus = Corpus::default();
    explored(&settings(), &mut corpus, &|| false);
    corpus.minimise();
    let before = corpus.len();
    let again = Settings { lines: Some(0), catalogue: false, ..settings() };
    let outcome = explored(&again, &mut corpus, &|| false);
    assert_eq!(outcome.progress.replayed as usize, before);
    corpus.minimise();
    assert!(corpus.len() <= before && corpus.len() * 10 > before * 9, "{} of {before}", corpus.len());
}

/// The recording stands for the poller that made it: it agrees with that poller, and differs from another one
/// in the same lines as the poller itself.
#[test]
fn a_recorded_side_is_compared_as_a_live_one() {
    let (poll, select) = (side(&poller_poll::selector), side(&poller_select::selector));
    let alone = Comparison::of(poll.about(), poll.about());
    let mut corpus = Corpus::default();
    let none = &|| false;
    explore((&poll, None), &alone, &mut corpus, None, &settings(), none, &mut |_, _| {});
    let lines: Vec<_> = corpus.lines().cloned().collect();
    let lines = with_shorter_lines(&lines, alone.features(), lines.len() * 8);
    let given = Settings { catalogue: false, ..settings() };
    let outcome = explore(
        (&poll, None),
        &alone,
        &mut Corpus::default(),
        Some(lines.clone()),
        &given,
        none,
        &mut |_, _| {},
    );
    let answers = outcome.recorded.values().map(|(line, runs)| (line, runs));
    let text = serde_json::to_string(&Recording::of("0", poll.about(), answers)).unwrap();
    let recorded = Recorded::of(&Recording::read(&text).unwrap()).unwrap();

    let compare = |live: &Local| {
        let comparison = Comparison::of(live.about(), recorded.about());
        let mut corpus = Corpus::default();
        let given = Some(lines.clone());
        let settings = Settings { catalogue: false, ..settings() };
        let sides: (&dyn MakeSide, _) = (live, Some(&recorded as &dyn MakeSide));
        explore(sides, &comparison, &mut corpus, given, &settings, none, &mut |_, _| {}).clusters
    };
    assert_eq!(compare(&poll), []);
    let found: Vec<_> = compare(&select).iter().map(|cluster| cluster.line.to_string()).collect();
    // Which interest the line has depends on the recorded ones: shrinking has no others.
    let is_closed = |line: &String| line.contains(", add own") && line.ends_with("?, own closes, wait");
    assert!(found.iter().any(is_closed), "{found:#?}");
}
