//! What the pages show: systems, pollers, behaviours with their questions and answers.

use std::collections::{BTreeMap, BTreeSet};

use expectations::{Divergences, Expectation, Expectations, History, Range, Version, matches_pattern};
use metadata::{Asked, Evidence, Os, Results, Run, api_and_trigger};
use report::html::catalogue::{Behaviour, Catalogue};

use crate::facts;
use crate::paths;

/// The interfaces of kernels. Every other poller stands above one of them.
pub const INTERFACES: [&str; 4] = ["epoll", "kqueue", "poll", "select"];

/// Everything that a site is built from.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The recorded answers of each system's kernel, and of the adapters on it.
    pub answers: &'a [(Os, Expectations)],
    /// The recorded answers of past systems.
    pub history: &'a History,
    /// The contract checks that are known not to hold on some system.
    pub divergences: &'a Divergences,
    /// The behaviours with their scenarios.
    pub catalogue: &'a Catalogue,
    /// The merged results.
    pub results: &'a Results,
    /// The same, without runs whose answers may be those of an emulator and not the kernel's.
    pub of_kernels: &'a Results,
    /// The answers in the results, by the system that gave them.
    pub measured: &'a [Measured],
    /// The address at which the site is published. It ends with `/`.
    pub url: &'a str,
    /// The version of this program.
    pub pollmatrix: &'a str,
}

/// The answers that one poller gave in one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measured {
    /// The system.
    pub os: Os,
    /// Its version.
    pub version: Version,
    /// The adapter or library. `None` for the kernel's own pollers.
    pub poller: Option<String>,
    /// A description of the run.
    pub source: String,
    /// The observed answers, by question.
    pub answers: BTreeMap<Asked, BTreeSet<String>>,
}

/// A version of a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct System<'a> {
    /// The system.
    pub os: Os,
    /// Its version.
    pub version: Version,
    /// `Linux 6.18.44`.
    pub name: String,
    /// The path of its page.
    pub path: String,
    /// The runs on it.
    pub runs: Vec<&'a Run>,
}

/// The system that an answer is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// The index of a known version.
    System(usize),
    /// A system without a known version in the range, and the range.
    Unmeasured(Os, String),
}

/// An answer with its evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The system.
    pub place: Place,
    /// The interface or the adapter. `None` for another system call.
    pub poller: Option<String>,
    /// The interface in the form of the question: `kqueue-add-before`.
    pub api: String,
    /// `level`, `edge`; `None` for other system calls.
    pub trigger: Option<String>,
    /// The allowed or observed answers.
    pub allowed: Vec<String>,
    /// Whether another run may give another answer.
    pub varies: bool,
    /// How well it is known.
    pub evidence: Evidence,
    /// The source.
    pub source: String,
    /// A page with details.
    pub url: Option<String>,
    /// Versions, reasons for variation, notes.
    pub remarks: Vec<String>,
    /// Whether it was measured on this version.
    pub measured: bool,
}

/// A question about a state, with the answers of all systems.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// `pipe:read-end-drained`.
    pub state: String,
    /// The interface and the mode, with `queue` for epoll and kqueue: `queue-add-before@level`.
    pub asked: String,
    /// Whether an adapter answers, and not a kernel.
    pub of_adapter: bool,
    /// The answers, by place.
    pub answers: Vec<Answer>,
}

/// A behaviour with all that is known of it.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The scenarios, and the title.
    pub about: &'a Behaviour,
    /// The title of its family.
    pub family: &'a str,
    /// The questions, by state.
    pub questions: Vec<Question>,
}

/// What a poller shows of a behaviour.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shown {
    /// The number of states in which its answer can be compared with the kernel's.
    pub compared: usize,
    /// The facts that it hides, each with the states.
    pub hidden: BTreeMap<&'static str, BTreeSet<String>>,
}

/// The content of all pages.
#[derive(Clone, Debug)]
pub struct Model<'a> {
    /// The systems, by name and version.
    pub systems: Vec<System<'a>>,
    /// The pollers that have answers or results, by name: interfaces of kernels first.
    pub pollers: Vec<String>,
    /// The behaviours, in the order of the catalogue.
    pub rows: Vec<Row<'a>>,
}

/// Returns the common name of a system.
pub const fn proper_name(os: Os) -> &'static str {
    match os {
        Os::DragonFly => "DragonFly BSD",
        Os::FreeBsd => "FreeBSD",
        Os::Linux => "Linux",
        Os::MacOs => "macOS",
        Os::NetBsd => "NetBSD",
        Os::OpenBsd => "OpenBSD",
        _ => os.name(),
    }
}

type Questions = BTreeMap<String, BTreeMap<(String, String), Vec<Answer>>>;

impl<'a> Model<'a> {
    /// Joins the recorded and the measured answers.
    pub fn new(input: &Input<'a>) -> Self {
        let systems = systems(input);
        let adapters = adapters(input);
        let mut questions = Questions::new();
        for (os, answers) in input.answers {
            for answer in answers.systems().filter(|(of, _)| of == os).flat_map(|(_, answers)| answers) {
                recorded(*os, answer, &systems, &adapters, &mut questions);
            }
        }
        for measured in input.measured {
            add_measured(measured, &systems, &adapters, &mut questions);
        }
        let rows = input.catalogue.families.iter().flat_map(|family| {
            let row = |about: &'a Behaviour| (about, family.title.as_str());
            family.behaviours.iter().map(row)
        });
        let row = |(about, family): (&'a Behaviour, &'a str)| Row {
            about,
            family,
            questions: questions.remove(&about.id).map(of_row).unwrap_or_default(),
        };
        let rows: Vec<_> = rows.map(row).collect();
        let answering = rows.iter().flat_map(|row| &row.questions).flat_map(|question| &question.answers);
        let mut named: BTreeSet<_> = answering.filter_map(|answer| answer.poller.clone()).collect();
        named.extend(input.results.cells.iter().map(|cell| cell.backend.clone()));
        let of_kernels = INTERFACES.iter().filter(|interface| named.contains(**interface));
        let mut pollers: Vec<_> = of_kernels.map(|interface| (*interface).to_owned()).collect();
        pollers.extend(named.into_iter().filter(|name| !INTERFACES.contains(&name.as_str())));
        Self { systems, pollers, rows }
    }

    /// Returns the name of a place.
    pub fn name_of(&self, place: &Place) -> String {
        match place {
            Place::System(index) => self.systems[*index].name.clone(),
            Place::Unmeasured(os, range) => format!("{} {range}", proper_name(*os)).trim_end().to_owned(),
        }
    }

    /// Returns the page of a place: of its version, or of all versions of the system.
    pub fn path_of(&self, place: &Place) -> String {
        match place {
            Place::System(index) => self.systems[*index].path.clone(),
            Place::Unmeasured(os, _) => paths::all_versions(*os),
        }
    }
}

impl Row<'_> {
    /// Returns the questions to kernels.
    pub fn of_kernels(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|question| !question.of_adapter)
    }

    /// Returns the questions to adapters and libraries.
    pub fn of_adapters(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|question| question.of_adapter)
    }

    /// Returns whether the answers of two systems differ.
    pub fn differs(&self) -> bool {
        self.of_kernels().any(Question::differs)
    }

    /// Returns the places that have answers of a kernel.
    pub fn places(&self) -> BTreeSet<&Place> {
        self.of_kernels().flat_map(|question| &question.answers).map(|answer| &answer.place).collect()
    }

    /// Returns what an adapter shows on the systems on which it was measured. `None` if it has no answer.
    pub fn shown_by(&self, poller: &str) -> Option<Shown> {
        let mut shown = Shown::default();
        let mut has_answer = false;
        for question in self.of_adapters() {
            let own = question.answers.iter().filter(|answer| answer.poller.as_deref() == Some(poller));
            for answer in own {
                has_answer = true;
                let Some(kernel) = self.kernel_beside(&question.state, answer) else { continue };
                let ([below], [above], false) = (&kernel.allowed[..], &answer.allowed[..], answer.varies)
                else {
                    continue;
                };
                let interface = kernel.poller.as_deref().unwrap_or_default();
                let Some(facts) = facts::compare(interface, below, poller, above) else { continue };
                shown.compared += 1;
                for word in facts.hidden {
                    shown.hidden.entry(word.name()).or_default().insert(question.state.clone());
                }
            }
        }
        has_answer.then_some(shown)
    }

    /// Returns the kernel's answer in the same state and mode on the same system: of the interface that the
    /// adapter is named after, or of the system's queue; registered in the same way, or before the state.
    fn kernel_beside(&self, state: &str, answer: &Answer) -> Option<&Answer> {
        let poller = answer.poller.as_deref()?;
        let interface = facts::interface_of(poller);
        let suffix = answer.api.strip_prefix(poller).unwrap_or_default();
        let beside = self.of_kernels().filter(|question| question.state == state);
        let answers = beside.flat_map(|question| &question.answers).filter(|kernel| {
            let of = kernel.poller.as_deref();
            let fits = match interface {
                Some(interface) => of == Some(interface),
                None => matches!(of, Some("epoll" | "kqueue")),
            };
            fits && kernel.place == answer.place && kernel.trigger == answer.trigger && !kernel.varies
        });
        let preference = |kernel: &&Answer| {
            let own = kernel.poller.as_deref().and_then(|of| kernel.api.strip_prefix(of)).unwrap_or_default();
            match own {
                own if own == suffix => 0,
                "-add-before" => 1,
                "" => 2,
                _ => 3,
            }
        };
        answers.min_by_key(preference).filter(|kernel| preference(kernel) < 3)
    }
}

impl Question {
    /// Returns whether two systems answer differently. Answers that vary and answers in different notations
    /// are not compared.
    pub fn differs(&self) -> bool {
        self.answers.iter().enumerate().any(|(index, one)| {
            self.answers[index + 1..].iter().any(|two| one.place != two.place && one.contradicts(two))
        })
    }

    /// Returns whether the answer of one place differs from another's.
    pub fn differs_at(&self, place: &Place) -> bool {
        let (here, there): (Vec<_>, Vec<_>) = self.answers.iter().partition(|answer| answer.place == *place);
        here.iter().any(|one| there.iter().any(|two| one.contradicts(two)))
    }
}

impl Answer {
    fn contradicts(&self, other: &Self) -> bool {
        // epoll's bits and kqueue's filters are different notations. Silence and errors have the same
        // notation in both.
        let plain = |answer: &Self| {
            let is_plain =
                |text: &String| text.starts_with("silent") || text.starts_with('E') && !text.contains(' ');
            answer.allowed.iter().all(is_plain)
        };
        let comparable = self.api == other.api || plain(self) || plain(other);
        let agree = |one: &Self, two: &Self| {
            one.allowed.iter().any(|pattern| two.allowed.iter().any(|text| matches_pattern(pattern, text)))
        };
        comparable && !self.varies && !other.varies && !agree(self, other) && !agree(other, self)
    }
}

/// Returns the known versions of all systems: of the runs, and of the sources of recorded answers.
fn systems<'a>(input: &Input<'a>) -> Vec<System<'a>> {
    let mut versions: BTreeSet<(Os, Vec<u32>)> = BTreeSet::new();
    let mut known: BTreeMap<(Os, Vec<u32>), Version> = BTreeMap::new();
    let mut add = |os: Os, version: &Version| {
        versions.insert((os, version.numbers().to_vec()));
        known.insert((os, version.numbers().to_vec()), version.clone());
    };
    for (os, answers) in input.answers {
        let measured = answers.systems().filter(|(of, _)| of == os).flat_map(|(_, answers)| answers);
        for answer in measured.filter(|answer| !answer.source.evidence.is_hypothesis()) {
            answer.measured_versions().for_each(|version| add(*os, version));
        }
    }
    for measured in input.measured {
        add(measured.os, &measured.version);
    }
    let mut runs: BTreeMap<(Os, Vec<u32>), Vec<&Run>> = BTreeMap::new();
    for run in &input.results.runs {
        let Ok(os) = run.os.parse::<Os>() else { continue };
        let Some(version) = Version::of_release(os, &run.kernel) else { continue };
        add(os, &version);
        runs.entry((os, version.numbers().to_vec())).or_default().push(run);
    }
    // 12.3.5 is the 12.3 of a source that does not know its patch level.
    let is_vague = |key: &(Os, Vec<u32>)| {
        let more_precise = |other: &&(Os, Vec<u32>)| {
            other.0 == key.0 && other.1.len() > key.1.len() && other.1.starts_with(&key.1)
        };
        versions.iter().any(|other| more_precise(&other))
    };
    let system = |(key, version): (&(Os, Vec<u32>), &Version)| System {
        os: key.0,
        name: format!("{} {version}", proper_name(key.0)),
        path: paths::system(key.0, version),
        version: version.clone(),
        runs: runs.get(key).cloned().unwrap_or_default(),
    };
    known.iter().filter(|(key, _)| !is_vague(key)).map(system).collect()
}

/// Returns the names of adapters and libraries.
fn adapters(input: &Input<'_>) -> BTreeSet<String> {
    let mut names: BTreeSet<_> = expectations::subjects().map(str::to_owned).collect();
    names.extend(input.measured.iter().filter_map(|measured| measured.poller.clone()));
    let cells = input.results.cells.iter().map(|cell| cell.backend.clone());
    names.extend(cells.filter(|backend| !INTERFACES.contains(&backend.as_str())));
    names
}

/// Returns the poller that an interface belongs to. `None` for other system calls.
fn poller_of(os: Os, api: &str, adapters: &BTreeSet<String>) -> Option<String> {
    let is_it =
        |name: &str| api.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let adapter =
        adapters.iter().map(String::as_str).filter(|name| is_it(name)).max_by_key(|name| name.len());
    let interface = || INTERFACES.into_iter().find(|name| is_it(name));
    match adapter.or_else(interface)? {
        // Linux has no kqueue: a library answers.
        "kqueue" if os == Os::Linux => Some("libkqueue".to_owned()),
        name => Some(name.to_owned()),
    }
}

/// Returns an API and a mode under a name that systems share: `queue@level` for `epoll@level`.
fn shared_name(asked: &str) -> String {
    for queue in ["epoll", "kqueue"] {
        match asked.strip_prefix(queue) {
            Some(rest) if !rest.starts_with('_') => return format!("queue{rest}"),
            _ => {}
        }
    }
    asked.to_owned()
}

fn is_interface(poller: Option<&str>) -> bool {
    poller.is_none_or(|name| INTERFACES.contains(&name))
}

/// Returns the key of a question. A library's kqueue is not the kernels' `queue`.
fn key(state: &str, api: &str, trigger: Option<&str>, poller: Option<&str>) -> (String, String) {
    let asked = api_and_trigger(api, trigger);
    (state.to_owned(), if is_interface(poller) { shared_name(&asked) } else { asked })
}

/// Adds a recorded answer to each version for which it holds.
fn recorded(
    os: Os,
    answer: &Expectation,
    systems: &[System<'_>],
    adapters: &BTreeSet<String>,
    questions: &mut Questions,
) {
    let poller = poller_of(os, &answer.api, adapters);
    let of_kernel = is_interface(poller.as_deref());
    let is_hypothesis = answer.source.evidence.is_hypothesis();
    // An adapter's answers are known of the versions on which it was measured only.
    let holds = |system: &System<'_>| {
        system.os == os
            && answer.range.contains(Some(&system.version))
            && (of_kernel || answer.is_measured_on(&system.version))
    };
    let mut places: Vec<_> =
        (0..systems.len()).filter(|index| holds(&systems[*index])).map(Place::System).collect();
    if places.is_empty() {
        places.push(Place::Unmeasured(os, answer.range.to_string()));
    }
    let mut remarks = Vec::new();
    remarks.extend((answer.range != Range::default()).then(|| answer.range.to_string()));
    remarks.extend(answer.unstable.map(|why| format!("varies: {}", why.name())));
    remarks.extend(answer.seen.as_ref().map(|seen| format!("seen: {seen}")));
    remarks.extend(answer.note.clone());
    let question = key(&answer.variant, &answer.api, answer.trigger.as_deref(), poller.as_deref());
    let all = questions.entry(answer.behaviour.clone()).or_default().entry(question).or_default();
    for place in places {
        let measured = match &place {
            Place::System(index) => !is_hypothesis && answer.is_measured_on(&systems[*index].version),
            Place::Unmeasured(..) => false,
        };
        all.push(Answer {
            place,
            poller: poller.clone(),
            api: answer.api.clone(),
            trigger: answer.trigger.clone(),
            allowed: answer.allowed.clone(),
            varies: answer.unstable.is_some_and(|why| why != expectations::Unstable::Race),
            evidence: answer.source.evidence,
            source: answer.source.text.clone(),
            url: answer.source.url.clone(),
            remarks: remarks.clone(),
            measured,
        });
    }
}

/// Adds the answers of a run. If they are as recorded, the recorded answer counts as measured.
fn add_measured(
    measured: &Measured,
    systems: &[System<'_>],
    adapters: &BTreeSet<String>,
    questions: &mut Questions,
) {
    let is_it = |system: &System<'_>| system.os == measured.os && system.version == measured.version;
    let Some(place) = systems.iter().position(is_it).map(Place::System) else { return };
    for (asked, observed) in &measured.answers {
        let poller = measured.poller.clone().or_else(|| poller_of(measured.os, &asked.api, adapters));
        let question = key(&asked.variant, &asked.api, asked.trigger.as_deref(), poller.as_deref());
        let all = questions.entry(asked.row.clone()).or_default().entry(question).or_default();
        let is_expected = |answer: &Answer| {
            let is_allowed =
                |text: &String| answer.allowed.iter().any(|pattern| matches_pattern(pattern, text));
            answer.varies || observed.iter().all(is_allowed)
        };
        let known = all.iter_mut().find(|answer| {
            answer.place == place && answer.poller == poller && answer.api == asked.api && is_expected(answer)
        });
        match known {
            Some(known) if known.measured => {}
            Some(known) => {
                known.measured = true;
                known.evidence = Evidence::Measured;
                known.source.clone_from(&measured.source);
            }
            None => all.push(Answer {
                place: place.clone(),
                poller,
                api: asked.api.clone(),
                trigger: asked.trigger.clone(),
                allowed: observed.iter().cloned().collect(),
                varies: false,
                evidence: Evidence::Measured,
                source: measured.source.clone(),
                url: None,
                remarks: vec!["not in the expectations".to_owned()],
                measured: true,
            }),
        }
    }
}

fn of_row(questions: BTreeMap<(String, String), Vec<Answer>>) -> Vec<Question> {
    let question = |((state, asked), mut answers): ((String, String), Vec<Answer>)| {
        // A stable sort: recorded answers stay before those of this run.
        answers.sort_by(|one, two| one.place.cmp(&two.place));
        let of_adapter = answers.iter().all(|answer| !is_interface(answer.poller.as_deref()));
        Question { state, asked, of_adapter, answers }
    };
    questions.into_iter().map(question).collect()
}
