//! The exploration: rounds of lines, performed on both sides, compared, shrunk and clustered.
//!
//! A round has a fixed number of lines, which depend on the seed, on the number of the round and on the
//! corpus at its beginning. Jobs perform them in any order; the results are merged in the order in which the
//! lines were drawn. So the same seed and the same corpus draw the same lines, on any number of jobs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use metadata::{Mode, Transport};

use crate::accepted::Accepted;
use crate::catalogue::{self, Known, Question};
use crate::cluster::{Cause, Cluster, Confirmed, setting};
use crate::compare::{Comparison, Difference};
use crate::corpus::Corpus;
use crate::coverage::{Triple, hash, triples};
use crate::draw::Source;
use crate::every::every;
use crate::line::Line;
use crate::model::Model;
use crate::pair::{Answered, Pair, has_threads};
use crate::shrink::{Shrunk, shrink};
use crate::side::{End, Features, MakeSide, Runs};

/// How many lines with the same difference in the same state are shrunk.
const SAME_STATE: u32 = 2;
/// How many lines with the same difference after the same verb are shrunk in one round.
const SAME_VERB: u32 = 4;

/// The settings of an exploration.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of the first round: not 0 if an exploration continues.
    pub first_round: u64,
    /// The number of lines of a round.
    pub round: usize,
    /// The number of lines to draw. `None`: until a stop is requested.
    pub lines: Option<u64>,
    /// The number of jobs in parallel.
    pub jobs: usize,
    /// How often a new disagreement is performed in fresh processes.
    pub confirm: u32,
    /// How often it must show there.
    pub confirmed: u32,
    /// Only these transports; empty for every one.
    pub transports: Vec<Transport>,
    /// Only these modes; empty for every one.
    pub modes: Vec<Mode>,
    /// Whether the questions of the catalogue come first.
    pub catalogue: bool,
    /// Perform every line of at most this many clauses, and draw none.
    pub every: Option<usize>,
    /// The disagreements that were accepted before. Their lines come first.
    pub accepted: Vec<Accepted>,
    /// Whether the lines of the corpus are performed, and lines drawn from them. Otherwise they are kept, and
    /// the exploration depends on the other settings alone.
    pub replay: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            first_round: 0,
            round: 256,
            lines: Some(10_000),
            jobs: 1,
            confirm: 5,
            confirmed: 4,
            transports: Vec::new(),
            modes: Vec::new(),
            catalogue: true,
            every: None,
            accepted: Vec::new(),
            replay: true,
        }
    }
}

impl Settings {
    /// Returns whether the transport of a line is a wanted one.
    fn wants(&self, line: &Line) -> bool {
        self.transports.is_empty() || self.transports.contains(&line.transport)
    }

    /// Returns whether a difference is the accepted one of the line that shows it.
    fn is_accepted(&self, origin: Origin, difference: &Difference) -> bool {
        let accepted = origin.accepted().map(|index| &self.accepted[index]);
        accepted.is_some_and(|accepted| accepted.is_shown_by(difference))
    }
}

/// How far an exploration is.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Progress {
    /// The number of rounds, with those before the first one of this run.
    pub rounds: u64,
    /// The number of lines that were drawn in this run.
    pub lines: u64,
    /// Every line of at most this many clauses was performed; 0 if lines are drawn.
    pub every: usize,
    /// The number of lines of the catalogue and the corpus that were performed first.
    pub replayed: u64,
    /// The number of performances, of both sides together, with those to shrink and to confirm.
    pub performances: u64,
    /// The number of distinct triples of state, verb and answer.
    pub triples: usize,
    /// The number of lines in the corpus.
    pub corpus: usize,
    /// The number of confirmed clusters.
    pub clusters: usize,
    /// The number of confirmed clusters without an explanation.
    pub unexplained: usize,
    /// The number of lines that showed a difference.
    pub differing: u64,
    /// The number of lines in finished rounds to which both sides gave every answer, or ended early.
    pub compared: u64,
    /// The number of lines to which the answers of a side are missing. Nothing is known of their rest.
    pub missing: u64,
    /// The number of lines of which a side could not be asked everything.
    pub unsupported: u64,
    /// The number of lines whose set-up failed on both sides.
    pub broken: u64,
    /// The time since the beginning.
    pub elapsed: Duration,
    /// The time in which drawn lines were performed for the first time, of all jobs together.
    pub drawing: Duration,
}

/// The result of an exploration.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The clusters that were confirmed, those without an explanation first, the simplest line first. Those
    /// of a round that was not finished are among them.
    pub clusters: Vec<Cluster>,
    /// The clusters that did not show often enough in fresh processes.
    pub unsteady: Vec<Cluster>,
    /// The accepted disagreements whose lines were performed, and did not show them, by their index.
    pub not_seen: BTreeSet<usize>,
    /// The accepted disagreements whose lines were not performed: the settings or the sides do not allow
    /// them, or there was no time.
    pub not_performed: BTreeSet<usize>,
    /// The counts.
    pub progress: Progress,
    /// A stop was requested before the last line.
    pub is_stopped: bool,
    /// Answers to the lines of the corpus, if one side was recorded.
    pub recorded: BTreeMap<String, (Line, Runs)>,
}

impl Outcome {
    /// Lets `explain` remove the questions that do not explain a cluster, and sorts and counts the clusters
    /// again.
    pub fn explain(&mut self, explain: impl FnOnce(&mut [Cluster])) {
        explain(&mut self.clusters);
        self.clusters.sort_by_cached_key(rank);
        self.progress.unexplained = self.clusters.iter().filter(|cluster| !cluster.is_explained()).count();
    }

    /// Returns whether something was compared: without that, no disagreement is no agreement.
    pub fn is_verdict(&self) -> bool {
        self.progress.compared > 0
    }
}

/// Returns the key of the order of clusters.
fn rank(cluster: &Cluster) -> (bool, (usize, usize, String)) {
    (cluster.is_explained(), cluster.line.rank())
}

/// A line and where it comes from.
#[derive(Clone, Debug)]
struct Task {
    line: Line,
    origin: Origin,
}

/// Where a line comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// It was drawn or given.
    Drawn,
    /// The corpus, in which it stays.
    Corpus,
    /// A question of the catalogue.
    Catalogue(Question),
    /// An accepted disagreement, by its index.
    Accepted(usize),
}

impl Origin {
    fn question(self) -> Option<Question> {
        if let Self::Catalogue(question) = self { Some(question) } else { None }
    }

    fn accepted(self) -> Option<usize> {
        if let Self::Accepted(index) = self { Some(index) } else { None }
    }
}

struct Found {
    line: Line,
    origin: Origin,
    /// The number of lines that were drawn up to this one; 0 for one that was not drawn.
    number: u64,
    difference: Difference,
}

struct Explorer<'a> {
    settings: &'a Settings,
    comparison: &'a Comparison,
    corpus: &'a mut Corpus,
    pairs: Vec<Pair<'a>>,
    stop: &'a (dyn Fn() -> bool + Sync),
    covered: HashSet<Triple>,
    /// By cause, and by whether it was accepted: a cause can be accepted over one transport alone.
    clusters: BTreeMap<(Cause, bool), Cluster>,
    /// How many lines were shrunk for each difference in each state.
    shrunk: HashMap<u64, u32>,
    /// The accepted disagreements whose lines were performed, and whether they show them.
    performed: BTreeMap<usize, bool>,
    progress: Progress,
    begun: Instant,
    is_recording: bool,
    recorded: BTreeMap<String, (Line, Runs)>,
}

/// Explores until the last line is drawn or a stop is requested. Calls `each` after each round.
///
/// Without a right side, the answers of the left side are recorded. With `given` lines, no others are drawn.
pub fn explore<'a>(
    (left, right): (&'a dyn MakeSide, Option<&'a dyn MakeSide>),
    comparison: &'a Comparison,
    corpus: &'a mut Corpus,
    given: Option<Vec<Line>>,
    settings: &'a Settings,
    stop: &'a (dyn Fn() -> bool + Sync),
    each: &mut dyn FnMut(&Progress, &mut Corpus),
) -> Outcome {
    let pairs = (0..settings.jobs.max(1)).map(|_| Pair::of(left, right, comparison)).collect();
    let mut explorer = Explorer {
        settings,
        comparison,
        corpus,
        pairs,
        stop,
        covered: HashSet::new(),
        clusters: BTreeMap::new(),
        shrunk: HashMap::new(),
        performed: BTreeMap::new(),
        progress: Progress { rounds: settings.first_round, ..Progress::default() },
        begun: Instant::now(),
        is_recording: right.is_none(),
        recorded: BTreeMap::new(),
    };
    let is_complete = explorer.run(given, each);
    explorer.finish(!is_complete)
}

impl Explorer<'_> {
    /// Returns whether everything was drawn.
    fn run(&mut self, given: Option<Vec<Line>>, each: &mut dyn FnMut(&Progress, &mut Corpus)) -> bool {
        // In rounds of their own: the lines after them are the same without a file of accepted ones.
        for tasks in [self.accepted_tasks(), self.first_tasks()] {
            for batch in tasks.chunks(self.settings.round) {
                if !self.batch(batch.to_vec()) {
                    return false;
                }
                self.report(each);
            }
        }
        if let Some(given) = given {
            for batch in given.chunks(self.settings.round) {
                let task = |line: &Line| Task { line: line.clone(), origin: Origin::Drawn };
                if !self.batch(batch.iter().map(task).collect()) {
                    return false;
                }
                self.progress.lines += batch.len() as u64;
                self.report(each);
            }
            return true;
        }
        if let Some(longest) = self.settings.every {
            return self.every_line(longest, each);
        }
        let features = self.features();
        let source = Source::new(&features, &self.settings.transports);
        if source.is_empty() {
            return true;
        }
        while self.settings.lines.is_none_or(|lines| self.progress.lines < lines) {
            let left = self.settings.lines.map_or(u64::MAX, |lines| lines - self.progress.lines);
            let count = self.settings.round.min(usize::try_from(left).unwrap_or(usize::MAX));
            let corpus = self.corpus.steady();
            let round = self.progress.rounds;
            let draw = |index: usize| {
                let text = format!("{} {round} {index}", self.settings.seed);
                let line = source.draw(&mut Rng::with_seed(hash(&text)), &corpus);
                Task { line, origin: Origin::Drawn }
            };
            let tasks: Vec<_> = (0..count).map(draw).collect();
            if !self.round(tasks) {
                return false;
            }
            self.report(each);
        }
        true
    }

    /// Performs the lines of a round. Returns whether no stop was requested.
    fn round(&mut self, tasks: Vec<Task>) -> bool {
        let (count, before) = (tasks.len() as u64, Instant::now());
        let is_finished = self.batch(tasks);
        if is_finished {
            self.progress.drawing += before.elapsed();
            self.progress.rounds += 1;
            self.progress.lines += count;
        }
        is_finished
    }

    /// Performs every line of at most `longest` clauses. Returns whether no stop was requested.
    fn every_line(&mut self, longest: usize, each: &mut dyn FnMut(&Progress, &mut Corpus)) -> bool {
        let features = self.features();
        let mut lines = every(&features, &self.settings.transports, longest).peekable();
        while lines.peek().is_some() {
            let task = |line| Task { line, origin: Origin::Drawn };
            let tasks: Vec<_> = lines.by_ref().take(self.settings.round).map(task).collect();
            if !self.round(tasks) {
                return false;
            }
            // The shortest come first.
            self.progress.every = lines.peek().map_or(longest, |next| next.clauses().len() - 1);
            self.report(each);
        }
        self.progress.every = longest;
        true
    }

    /// Returns whether these sides can perform a line, over one of the wanted transports.
    fn is_wanted(&self, line: &Line, features: &Features) -> bool {
        self.settings.wants(line) && Model::allows(line, features)
    }

    /// Returns the features of both sides in the wanted modes.
    fn features(&self) -> Features {
        let mut features = self.comparison.features().clone();
        let wanted = &self.settings.modes;
        features.modes.retain(|mode| wanted.is_empty() || wanted.contains(mode));
        features
    }

    /// Returns the lines of the accepted disagreements.
    fn accepted_tasks(&self) -> Vec<Task> {
        let features = &self.features();
        let all = self.settings.accepted.iter().enumerate();
        let wanted = all.filter(|(_, accepted)| self.is_wanted(&accepted.line, features));
        let task = |(index, accepted): (_, &Accepted)| Task {
            line: accepted.line.clone(),
            origin: Origin::Accepted(index),
        };
        wanted.map(task).collect()
    }

    /// Returns the lines of the catalogue and of the corpus.
    fn first_tasks(&mut self) -> Vec<Task> {
        let features = &self.features();
        let mut tasks = Vec::new();
        if self.settings.catalogue {
            let known =
                catalogue::lines(features).into_iter().filter(|known| self.settings.wants(&known.line));
            let task = |Known { line, question }| Task { line, origin: Origin::Catalogue(question) };
            tasks.extend(known.map(task));
        }
        let replayed = std::mem::take(self.corpus);
        for line in replayed.lines() {
            match self.settings.replay && self.is_wanted(line, features) {
                true => tasks.push(Task { line: line.clone(), origin: Origin::Corpus }),
                false => self.corpus.keep(line.clone()),
            }
        }
        tasks
    }

    fn report(&mut self, each: &mut dyn FnMut(&Progress, &mut Corpus)) {
        self.count();
        each(&self.progress, self.corpus);
    }

    fn count(&mut self) {
        let confirmed = self.clusters.values().filter(|cluster| self.is_confirmed(cluster));
        let (clusters, unexplained) = confirmed.fold((0, 0), |(all, unexplained), cluster| {
            (all + 1, unexplained + usize::from(!cluster.is_explained()))
        });
        (self.progress.clusters, self.progress.unexplained) = (clusters, unexplained);
        self.progress.performances = self.pairs.iter().map(|pair| pair.performed).sum();
        self.progress.triples = self.covered.len();
        self.progress.corpus = self.corpus.len();
        self.progress.elapsed = self.begun.elapsed();
    }

    fn is_confirmed(&self, cluster: &Cluster) -> bool {
        cluster.confirmed.shown >= self.settings.confirmed.min(self.settings.confirm)
    }

    /// Performs lines, and merges the results in their order. Returns whether no stop was requested.
    fn batch(&mut self, tasks: Vec<Task>) -> bool {
        let answers = in_parallel(&mut self.pairs, &tasks, self.stop, |pair, task| pair.perform(&task.line));
        let Some(answers) = answers else { return false };
        let mut to_shrink = Vec::new();
        let mut of_verb = HashMap::new();
        let mut compared = 0;
        for (index, (task, answered)) in tasks.into_iter().zip(answers).enumerate() {
            compared += u64::from(self.merge(task, index, answered, &mut of_verb, &mut to_shrink));
        }
        // A few at a time, so that a stop finds the first ones confirmed.
        let some = 2 * self.pairs.len();
        let is_finished = to_shrink.chunks(some).all(|found| self.shrink(found));
        self.progress.compared += if is_finished { compared } else { 0 };
        is_finished
    }

    /// Merges the answers to a line. Returns whether they could be compared.
    fn merge(
        &mut self,
        task: Task,
        index: usize,
        answered: Answered,
        of_verb: &mut HashMap<String, u32>,
        to_shrink: &mut Vec<Found>,
    ) -> bool {
        let Answered { left, right, differences } = answered;
        let is = |runs: &Runs, kind: fn(&End) -> bool| runs.iter().any(|run| kind(&run.end));
        let all_broken = [&left, &right].iter().all(|runs| is(runs, |end| matches!(end, End::Broken(_))));
        self.progress.broken += u64::from(all_broken);
        let unsupported = |end: &End| matches!(end, End::Unsupported(_));
        let any_unsupported = is(&left, unsupported) || is(&right, unsupported);
        self.progress.unsupported += u64::from(any_unsupported);
        let lacks = |runs: &Runs| runs.iter().any(|run| run.lacks_answers(&task.line));
        let is_missing = lacks(&left) || lacks(&right);
        // A recording has those that were given, and not necessarily the others.
        self.progress.missing += u64::from(is_missing && task.origin == Origin::Drawn);
        self.progress.replayed += u64::from(task.origin != Origin::Drawn);
        if let Some(index) = task.origin.accepted().filter(|_| !is_missing) {
            let is_it = |difference: &Difference| self.settings.is_accepted(task.origin, difference);
            let is_shown = differences.iter().any(is_it);
            self.performed.insert(index, is_shown);
        }
        self.progress.differing += u64::from(!differences.is_empty());
        if task.origin.accepted().is_some() {
            // It is no part of what is explored: an exploration draws and shrinks the same lines with a file
            // of accepted ones as without, and so ends as the one that proposed them. Another difference of
            // the line counts if the accepted one has gone.
            let is_shown = task.origin.accepted().and_then(|index| self.performed.get(&index)) == Some(&true);
            let counts =
                |difference: &Difference| !is_shown || self.settings.is_accepted(task.origin, difference);
            to_shrink.extend(differences.into_iter().filter(counts).map(|difference| Found {
                line: task.line.clone(),
                origin: task.origin,
                number: 0,
                difference,
            }));
            return !(all_broken || any_unsupported || is_missing);
        }
        let shown = triples(&task.line, self.comparison.features(), &left, &right);
        // The clauses after the last new triple show nothing new.
        let last_new = shown.iter().rposition(|triple| !self.covered.contains(triple));
        if let Some(last_new) = last_new {
            self.covered.extend(&shown);
            let clauses = task.line.clauses()[..=last_new].to_vec();
            self.corpus.add(task.line.with(clauses), shown[..=last_new].to_vec(), !has_threads(&task.line));
        }
        if self.is_recording {
            self.recorded.insert(task.line.to_string(), (task.line.clone(), left));
        }
        for difference in differences {
            let (state, verb) = self.place(&task.line, difference.clause);
            let in_state =
                self.shrunk.entry(hash(&format!("{state}|{verb}|{}", difference.what))).or_default();
            let after_verb = of_verb.entry(format!("{verb}|{}", difference.what)).or_default();
            let origin = task.origin;
            if origin.question().is_some() || (*in_state < SAME_STATE && *after_verb < SAME_VERB) {
                *in_state += 1;
                *after_verb += 1;
                let is_drawn = origin == Origin::Drawn;
                to_shrink.push(Found {
                    line: task.line.clone(),
                    origin,
                    number: if is_drawn { self.progress.lines + index as u64 + 1 } else { 0 },
                    difference,
                });
            }
        }
        !(all_broken || any_unsupported || is_missing)
    }

    /// Returns the state before a clause, and its verb.
    fn place(&self, line: &Line, clause: usize) -> (String, String) {
        let mut model = Model::new(line.transport, line.mode, self.comparison.features());
        let Some(at) = line.clauses().get(clause) else { return (String::new(), "the end".into()) };
        for clause in &line.clauses()[..clause] {
            let _ = model.advance(clause);
        }
        (model.describe(at), at.action.to_string())
    }

    /// Shrinks lines, clusters and confirms them. Returns whether no stop was requested.
    fn shrink(&mut self, found: &[Found]) -> bool {
        let features = &self.features();
        let settings = self.settings;
        let shrunk = in_parallel(&mut self.pairs, found, self.stop, |pair, found| {
            let mut differences = |line: &Line| match settings.wants(line) {
                true => pair.perform(line).differences,
                false => Vec::new(),
            };
            // A line that was accepted was shrunk before: to another one only if that shows the same words.
            let is_exact = settings.is_accepted(found.origin, &found.difference);
            shrink(&found.line, &found.difference, is_exact, features, &mut differences)
        });
        let Some(shrunk) = shrunk else { return false };
        let mut new = Vec::new();
        for (found, shrunk) in found.iter().zip(shrunk) {
            let Shrunk { line, difference, tried } = shrunk;
            let all = self.settings.accepted.iter().enumerate();
            let covering = all.filter(|(_, accepted)| accepted.covers(&line, &difference));
            let accepted: BTreeSet<_> = covering.map(|(index, _)| index).collect();
            let is_undercut =
                accepted.is_empty() && self.settings.is_accepted(found.origin, &found.difference);
            let undercut = found.origin.accepted().filter(|_| is_undercut);
            let key = (Cause::of(&line, &difference), !accepted.is_empty());
            if let Some(cluster) = self.clusters.get_mut(&key) {
                cluster.add(line, difference);
                cluster.known.extend(found.origin.question());
                cluster.accepted.extend(accepted);
                cluster.undercut.extend(undercut);
                continue;
            }
            let cluster = Cluster {
                cause: key.0.clone(),
                settings: [(setting(&line), (line.clone(), difference.clone()))].into(),
                line,
                difference,
                lines: 1,
                found_after: found.number,
                tried,
                confirmed: Confirmed::default(),
                known: found.origin.question().into_iter().collect(),
                accepted,
                undercut: undercut.into_iter().collect(),
                unasked: BTreeSet::new(),
            };
            new.push((key.clone(), cluster.line.clone(), cluster.difference.clone()));
            self.clusters.insert(key, cluster);
        }
        let times = self.settings.confirm;
        let confirmed = in_parallel(&mut self.pairs, &new, self.stop, |pair, (_, line, difference)| {
            pair.confirm(line, difference, times)
        });
        let Some(confirmed) = confirmed else {
            // What was not confirmed is found again.
            new.iter().for_each(|(key, ..)| drop(self.clusters.remove(key)));
            return false;
        };
        for ((key, ..), confirmed) in new.iter().zip(confirmed) {
            if let Some(cluster) = self.clusters.get_mut(key) {
                cluster.confirmed = confirmed;
            }
        }
        true
    }

    fn finish(mut self, is_stopped: bool) -> Outcome {
        let lines: Vec<_> = self.clusters.values().map(|cluster| cluster.line.clone()).collect();
        lines.iter().for_each(|line| self.corpus.pin(line));
        self.count();
        let all = 0..self.settings.accepted.len();
        let not_performed = all.filter(|index| !self.performed.contains_key(index)).collect();
        self.performed.retain(|_, is_shown| !*is_shown);
        let least = self.settings.confirmed.min(self.settings.confirm);
        let (mut clusters, unsteady): (Vec<_>, Vec<_>) =
            self.clusters.into_values().partition(|cluster| cluster.confirmed.shown >= least);
        clusters.sort_by_cached_key(rank);
        Outcome {
            clusters,
            unsteady,
            not_seen: self.performed.into_keys().collect(),
            not_performed,
            progress: self.progress,
            is_stopped,
            recorded: self.recorded,
        }
    }
}

/// Does `work` for each task, with a pair for each thread, and returns the results in the order of the tasks.
/// Returns `None` if a stop was requested before the last one.
fn in_parallel<T: Sync, R: Send>(
    pairs: &mut [Pair<'_>],
    tasks: &[T],
    stop: &(dyn Fn() -> bool + Sync),
    work: impl Fn(&mut Pair<'_>, &T) -> R + Sync,
) -> Option<Vec<R>> {
    let next = AtomicUsize::new(0);
    // Relaxed: the counter hands out indices and publishes nothing.
    let take = || {
        tasks.get(next.load(Ordering::Relaxed)).and_then(|_| {
            let index = next.fetch_add(1, Ordering::Relaxed);
            tasks.get(index).map(|task| (index, task))
        })
    };
    let run = |pair: &mut Pair<'_>, done: &mut dyn FnMut(usize, R)| {
        while !stop() {
            let Some((index, task)) = take() else { return };
            done(index, work(pair, task));
        }
    };
    let mut results: Vec<Option<R>> = tasks.iter().map(|_| None).collect();
    let (first, others) = pairs.split_first_mut()?;
    thread::scope(|scope| {
        let (sender, received) = channel();
        for pair in others {
            let (sender, run) = (sender.clone(), &run);
            let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                run(pair, &mut |index, result| drop(sender.send((index, result))));
            });
            // The system has no more threads: continue with those that started.
            if spawned.is_err() {
                break;
            }
        }
        drop(sender);
        run(first, &mut |index, result| results[index] = Some(result));
        received.into_iter().for_each(|(index, result)| results[index] = Some(result));
    });
    results.into_iter().collect()
}
