//! The site: pages about each behaviour, system and poller, from the catalogue and the results of runs.
//!
//! Every page is complete in itself: style and scripts are in it, and it makes no request. Searching and
//! comparing need JavaScript; everything else is HTML.
//!
//! # Addresses
//! They stay the same from one version of the site to the next:
//!
//! | path | page |
//! |---|---|
//! | `index.html` | what the site is, the matrix at a glance, the newest findings, every behaviour |
//! | `behaviours/V26.html` | a behaviour of the catalogue |
//! | `scenarios/migration/idle-takeover.html` | a contract scenario |
//! | `systems/linux.html` | an operating system |
//! | `pollers/mio.html` | a poller |
//! | `assumptions.html` | what holds on epoll and not on kqueue |
//! | `compare.html#linux..freebsd` | any two systems or pollers |
//! | `search.html#text=…` | the search |
//! | `costs.html` | what operations cost, with curves |
//! | `findings.html#…` | the findings |
//! | `peers.html#ltp` | what the test suites of other projects ask |
//! | `report.html` | the report of the runs |
//! | `badges/mio.svg`, `badges/mio.json` | a badge: a picture, and an endpoint of shields.io |

mod assumptions;
mod badge;
mod behaviours;
pub mod check;
mod compare;
mod findings;
pub mod links;
mod peers;
mod plain;
mod pollers;
mod scenarios;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use metadata::peers::Peers;
use metadata::{CellResult, Results, Status, visible};
use serde::Serialize;

use super::catalogue::{Behaviour, Catalogue, Divergence};
use super::shell::{Shell, short_title};
use super::{Costs, Table, costs};
use crate::conformance::{Conformance, Verdict};
use crate::grid::Absent;
use crate::text::{counted, escaped};

use findings::Findings;
pub use pollers::{Beside, Comparison, Poller, PollerAnswer, PollerOnSystem, Wrong};
pub use scenarios::{Contract, Killed};

const PARTIALS: &[(&str, &str)] = &[
    ("site.html", include_str!("site.html")),
    ("answer.html", include_str!("answer.html")),
    ("timeline.html", include_str!("timeline.html")),
    ("overview.html", include_str!("../overview.html")),
    ("cost-figures.html", include_str!("../cost-figures.html")),
    ("data.html", include_str!("../data.html")),
];

/// Returns the kind of a page with this template and these scripts.
const fn shell(template: &'static str, scripts: &'static [&'static str]) -> Shell<'static> {
    Shell { template, partials: PARTIALS, style: include_str!("site.css"), scripts }
}

const THEME_ONLY: &[&str] = &[include_str!("../dom.js"), include_str!("../theme-button.js")];
const INDEX: Shell<'_> = shell(include_str!("index.html"), THEME_ONLY);
const BEHAVIOUR: Shell<'_> = shell(include_str!("behaviour.html"), THEME_ONLY);
const SCENARIO: Shell<'_> = shell(include_str!("scenario.html"), THEME_ONLY);
const SYSTEM: Shell<'_> = shell(include_str!("system.html"), THEME_ONLY);
const POLLER: Shell<'_> = shell(include_str!("poller.html"), THEME_ONLY);
const FINDINGS: Shell<'_> = shell(include_str!("findings.html"), THEME_ONLY);
const ASSUMPTIONS: Shell<'_> = shell(include_str!("assumptions.html"), THEME_ONLY);
const PEERS: Shell<'_> = shell(include_str!("peers.html"), THEME_ONLY);
const COSTS: Shell<'_> = shell(include_str!("costs.html"), THEME_ONLY);
const COMPARE: Shell<'_> = shell(
    include_str!("compare.html"),
    &[include_str!("../dom.js"), include_str!("compare.js"), include_str!("../theme-button.js")],
);
const SEARCH: Shell<'_> = shell(
    include_str!("search.html"),
    &[include_str!("../dom.js"), include_str!("search.js"), include_str!("../theme-button.js")],
);

/// The content of the site.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The address of the folder, without a slash at the end. Without it the site has no sitemap, and its
    /// pages do not name their addresses.
    pub url: Option<&'a str>,
    /// The behaviours with the answers of the systems.
    pub catalogue: &'a Catalogue,
    /// The contract scenarios of the catalogue.
    pub contract: &'a [Contract],
    /// The results of the runs. May be empty.
    pub results: &'a Results,
    /// The recorded answers of other people's pollers, sorted by name.
    pub pollers: &'a [Poller],
    /// A text in Markdown with a heading of the second level for each finding. The paragraph below it can be
    /// the day on which it was first described: `2026-11-21`.
    pub findings: Option<&'a str>,
    /// The test suites of other projects.
    pub peers: Option<&'a Peers>,
}

/// A poller with the name that its addresses have.
#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    path: String,
}

impl<'a> Named<'a> {
    fn of(poller: &'a Poller) -> Self {
        Self { name: &poller.name, path: slug(&poller.name) }
    }
}

/// A file of the site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// `behaviours/V26.html`.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// The site, built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Built {
    /// Every file, sorted by its path. Equal content gives equal files.
    pub files: Vec<Page>,
    /// The links that lead to no file or no place in it.
    pub broken: Vec<links::Broken>,
}

/// What every page has.
#[derive(Serialize)]
struct Frame<'a, T> {
    /// The way to the folder of the site: empty, or `../` for each folder.
    root: String,
    /// The address of this page.
    url: Option<String>,
    /// The entry of the navigation that is this page or leads to it.
    place: &'static str,
    /// The title, also for Open Graph.
    title: String,
    /// The title in the tabs of browsers.
    short_title: String,
    /// One sentence, for search engines and Open Graph.
    description: String,
    has_findings: bool,
    has_peers: bool,
    has_contract: bool,
    has_report: bool,
    has_costs: bool,
    #[serde(flatten)]
    content: &'a T,
}

/// A system in the catalogue.
#[derive(Clone, Serialize)]
struct System<'a> {
    slug: &'a str,
    /// Its proper name, and the kernels with answers of their own.
    name: &'a str,
    kernels: Vec<&'a str>,
    unmeasured: bool,
    answered: usize,
    differing: usize,
}

/// Builds the site.
pub fn build(site: &Site<'_>) -> Built {
    let mut files = vec![Page { path: ".nojekyll".into(), text: String::new() }];
    if site.has_report() {
        files.push(Page { path: "report.html".into(), text: super::page(site.results, Vec::new()) });
    }
    let findings = site.findings.map(Findings::of);
    let systems = site.systems();
    let pollers = site.poller_pages();
    let contract = scenarios::all(site);
    let assumptions = assumptions::page(site);
    files.push(site.index(&systems, &pollers, &contract, (findings.as_ref(), assumptions.is_some())));
    files.extend(assumptions);
    let with_pages = pollers.iter().map(|poller| poller.name).collect();
    files.extend(scenarios::pages(site, &contract, &with_pages));
    files.extend(behaviours::pages(site));
    files.extend(systems.iter().map(|system| site.system(system)));
    for poller in &pollers {
        files.push(site.poller(poller));
        files.extend(badge::files(poller.name, &poller.summary, poller.colour));
    }
    files.extend(findings.as_ref().map(|findings| site.findings(findings)));
    files.extend(site.peers.map(|peers| peers::page(site, peers, &contract)));
    files.extend(site.costs());
    files.push(site.compare(&systems));
    files.push(site.search(&systems, &pollers, &contract, findings.as_ref()));
    files.extend(site.sitemap(&files));
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let broken = links::broken(&files);
    Built { files, broken }
}

impl<'a> Site<'a> {
    fn has_report(&self) -> bool {
        !self.results.cells.is_empty()
    }

    fn behaviours(&self) -> impl Iterator<Item = &'a Behaviour> {
        self.catalogue.families.iter().flat_map(|family| &family.behaviours)
    }

    /// The title of each behaviour.
    fn titles(&self) -> BTreeMap<&'a str, &'a str> {
        self.behaviours().map(|behaviour| (behaviour.id.as_str(), behaviour.title.as_str())).collect()
    }

    fn page(
        &self,
        shell: &Shell<'_>,
        path: String,
        (place, title, description): (&'static str, String, String),
        content: &impl Serialize,
    ) -> Page {
        let frame = Frame {
            root: "../".repeat(path.matches('/').count()),
            url: self.url.map(|url| format!("{url}/{path}")),
            place,
            short_title: escaped(&short_title(&title, if place == "start" { "" } else { " · pollmatrix" })),
            title,
            description,
            has_findings: self.findings.is_some(),
            has_peers: self.peers.is_some(),
            has_contract: !self.contract.is_empty() || self.results.contract().next().is_some(),
            has_report: self.has_report(),
            has_costs: !self.results.costs.is_empty(),
            content,
        };
        Page { text: shell.page(frame), path }
    }

    /// The systems that have answers, in the order of the catalogue's columns.
    fn systems(&self) -> Vec<System<'a>> {
        let mut systems: Vec<System<'a>> = Vec::new();
        for column in self.behaviours().flat_map(|behaviour| &behaviour.columns) {
            let slug = column.system.as_str();
            let index = systems.iter().position(|system| system.slug == slug).unwrap_or_else(|| {
                let (kernels, unmeasured) = (Vec::new(), column.unmeasured);
                let name = &column.name;
                systems.push(System { slug, name, kernels, unmeasured, answered: 0, differing: 0 });
                systems.len() - 1
            });
            let system = &mut systems[index];
            // The name without a version is the shortest.
            if column.name.len() < system.name.len() {
                system.name = &column.name;
            }
            // A kernel of the results has a column of its own.
            system.unmeasured &= column.unmeasured || column.past;
            if !system.kernels.contains(&column.name.as_str()) {
                system.kernels.push(&column.name);
            }
        }
        for system in &mut systems {
            let name = system.name;
            system.kernels.retain(|kernel| *kernel != name);
            system.kernels.sort_unstable();
            for behaviour in self.behaviours() {
                let (answered, differing) = counts(behaviour, system.slug);
                system.answered += answered;
                system.differing += differing;
            }
        }
        systems.retain(|system| system.answered > 0);
        systems
    }

    fn index(
        &self,
        systems: &[System<'a>],
        pollers: &[PollerPage<'a>],
        contract: &[Contract],
        (findings, assumptions): (Option<&Findings>, bool),
    ) -> Page {
        #[derive(Serialize)]
        struct Index<'a> {
            behaviours: usize,
            questions: usize,
            differing: usize,
            catalogue: &'a Catalogue,
            systems: &'a [System<'a>],
            pollers: &'a [PollerPage<'a>],
            overview: Option<Table>,
            totals: String,
            newest: Vec<&'a findings::Heading>,
            scenarios: BTreeMap<&'a str, Vec<scenarios::Entry<'a>>>,
            heat: Vec<verdicts::Heat<'a>>,
            titles: BTreeMap<&'a str, &'a str>,
            assumptions: bool,
        }
        let questions =
            || self.behaviours().flat_map(|behaviour| &behaviour.states).flat_map(|state| &state.rows);
        let absent = Absent::of(&self.results.cells);
        let index = Index {
            behaviours: self.behaviours().count(),
            questions: questions().count(),
            differing: questions().filter(|question| question.differs).count(),
            catalogue: self.catalogue,
            systems,
            pollers,
            overview: self.has_report().then(|| Table::of(self.results, &absent)),
            totals: self.results.totals_lines().join(" · "),
            scenarios: scenarios::families(contract),
            heat: verdicts::heat(self.pollers, &self.catalogue.topics),
            titles: self.titles(),
            assumptions,
            newest: findings
                .map(|findings| findings.newest().into_iter().take(5).collect())
                .unwrap_or_default(),
        };
        let title = "pollmatrix: what epoll, kqueue, poll and select really do".to_owned();
        let description = format!(
            "{} questions about {} behaviours, answered by {} systems and {} pollers",
            index.questions,
            index.behaviours,
            systems.len(),
            pollers.len(),
        );
        self.page(&INDEX, "index.html".into(), ("start", title, description), &index)
    }

    fn system(&self, system: &System<'a>) -> Page {
        #[derive(Serialize)]
        struct Content<'a> {
            system: &'a System<'a>,
            behaviours: Vec<(&'a Behaviour, usize, usize)>,
            divergences: Vec<&'a Divergence>,
            pollers: Vec<Named<'a>>,
            scenarios: Vec<scenarios::OnSystem<'a>>,
        }
        let behaviours = self.behaviours().filter_map(|behaviour| {
            let (answered, differing) = counts(behaviour, system.slug);
            (answered > 0).then_some((behaviour, answered, differing))
        });
        let of_this = |divergence: &&Divergence| {
            divergence
                .system
                .strip_prefix(system.name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let answers_here = |on: &PollerOnSystem| on.system == system.slug && !on.answers.is_empty();
        let has_it = |poller: &&Poller| poller.systems.iter().any(answers_here);
        let content = Content {
            system,
            behaviours: behaviours.collect(),
            divergences: self.catalogue.divergences.iter().filter(of_this).collect(),
            pollers: self.pollers.iter().filter(has_it).map(Named::of).collect(),
            scenarios: scenarios::on_system(self, system.slug),
        };
        let title = format!("{}: the answers of its pollers", system.name);
        let description = format!(
            "{} answers of {}; in {} another system differs",
            system.answered, system.name, system.differing
        );
        self.page(&SYSTEM, system_path(system.slug), ("systems", title, description), &content)
    }

    /// The pollers of the results, which the contract is about, and those with recorded answers.
    fn poller_pages(&self) -> Vec<PollerPage<'a>> {
        let conformance = Conformance::of(self.results);
        let names: BTreeSet<&str> = conformance
            .keys()
            .copied()
            .chain(self.pollers.iter().map(|poller| poller.name.as_str()))
            .collect();
        let page = |name| {
            let poller = self.pollers.iter().find(|poller| poller.name == name);
            let supported = |cell: &&CellResult| {
                cell.is_contract() && cell.backend == name && cell.status != Status::Unsupported
            };
            let targets: BTreeSet<_> =
                self.results.cells.iter().filter(supported).map(|cell| &cell.target).collect();
            PollerPage::of(name, conformance.get(name).map(|of| (of.verdict(), targets.len())), poller)
        };
        names.into_iter().filter_map(page).collect()
    }

    fn poller(&self, poller: &PollerPage<'a>) -> Page {
        #[derive(Serialize)]
        struct Content<'a> {
            poller: &'a PollerPage<'a>,
            titles: BTreeMap<&'a str, &'a str>,
            /// For each system.
            systems: Vec<OnSystem<'a>>,
            badge: Option<String>,
            badge_image: String,
        }
        #[derive(Serialize)]
        struct OnSystem<'a> {
            on: &'a PollerOnSystem,
            sentence: String,
            topics: Vec<verdicts::Section<'a>>,
        }
        let picture = badge::files(poller.name, &poller.summary, poller.colour)[1].clone();
        let content = Content {
            poller,
            titles: self.titles(),
            systems: poller
                .systems
                .iter()
                .map(|on| OnSystem {
                    on,
                    sentence: verdicts::sentence(on),
                    topics: verdicts::sections(on, &self.catalogue.topics),
                })
                .collect(),
            badge: self.url.map(|url| {
                let (name, path) = (poller.name, &poller.path);
                format!("[![pollmatrix: {name}]({url}/badges/{path}.svg)]({url}/pollers/{path}.html)")
            }),
            badge_image: format!("data:image/svg+xml;base64,{}", BASE64_STANDARD.encode(picture.text)),
        };
        let title = format!("{}: what it shows of the system", poller.name);
        let description = format!("{}: {}", poller.name, poller.summary);
        self.page(&POLLER, poller_path(poller.name), ("pollers", title, description), &content)
    }

    fn findings(&self, findings: &Findings) -> Page {
        let description = format!("{} findings about pollers and their kernels", findings.newest().len());
        let title = "What the matrix has found".to_owned();
        self.page(&FINDINGS, "findings.html".into(), ("findings", title, description), findings)
    }

    fn costs(&self) -> Option<Page> {
        #[derive(Serialize)]
        struct Content {
            costs: Vec<Costs>,
        }
        let content = Content { costs: costs(self.results) };
        let description = "What the operations of pollers cost, over the number of descriptors".to_owned();
        let title = "What pollers cost".to_owned();
        let page = || self.page(&COSTS, "costs.html".into(), ("costs", title, description), &content);
        (!content.costs.is_empty()).then(page)
    }

    fn compare(&self, systems: &[System<'a>]) -> Page {
        let content = compare::Content::of(self, systems);
        let title = "Compare any two systems or pollers".to_owned();
        let description = "Where the answers of any two systems or pollers differ".to_owned();
        self.page(&COMPARE, "compare.html".into(), ("compare", title, description), &content)
    }

    fn search(
        &self,
        systems: &[System<'a>],
        pollers: &[PollerPage<'a>],
        contract: &[Contract],
        findings: Option<&Findings>,
    ) -> Page {
        #[derive(Serialize)]
        struct Entry {
            kind: &'static str,
            path: String,
            title: String,
            /// More text that is searched.
            text: String,
        }
        #[derive(Serialize)]
        struct Content {
            data: String,
        }
        let row = |behaviour: &Behaviour| {
            let scenarios = behaviour.scenarios.iter().flat_map(|of| [&of.id, &of.question, &of.command]);
            let rows = || behaviour.states.iter().flat_map(|state| &state.rows);
            let answers = rows().flat_map(|row| row.answers.iter().flatten()).flat_map(|of| &of.allowed);
            let asked: BTreeSet<_> = rows().map(|row| &row.asked).chain(answers).collect();
            let states = behaviour.states.iter().map(|state| &state.name);
            let systems = behaviour.columns.iter().map(|column| &column.name);
            let topics = self.catalogue.topic_of(behaviour).into_iter();
            let topics = topics.flat_map(|topic| [&topic.title, &topic.words]);
            let words: Vec<_> = scenarios
                .chain(states)
                .chain(systems)
                .chain(asked)
                .chain(topics)
                .map(String::as_str)
                .collect();
            Entry {
                kind: "behaviour",
                path: behaviour_path(&behaviour.id),
                title: format!("{}: {}", behaviour.id, behaviour.title),
                text: words.join(" "),
            }
        };
        let entry =
            |kind, path, title: &str, text: String| Entry { kind, path, title: title.to_owned(), text };
        let systems =
            systems.iter().map(|of| entry("system", system_path(of.slug), of.name, of.kernels.join(" ")));
        let pollers =
            pollers.iter().map(|of| entry("poller", poller_path(of.name), of.name, of.summary.clone()));
        let contract = contract.iter().map(|of| {
            let faults = of.kills.iter().map(|kill| kill.fault.as_str());
            let words: Vec<_> = of.clauses.iter().map(String::as_str).chain(faults).collect();
            let title = format!("{}: {}", of.id, of.title);
            entry("scenario", scenarios::path(&of.id), &title, words.join(" "))
        });
        let findings = findings.iter().flat_map(|findings| &findings.headings);
        let findings =
            findings.map(|of| entry("finding", format!("findings.html#{}", of.id), &of.text, String::new()));
        let suites = self.peers.iter().flat_map(|peers| &peers.suites).map(|suite| {
            let cases: Vec<_> = suite.cases.iter().map(|case| case.name).collect();
            entry("test suite", peers::path(suite), suite.name, cases.join(" "))
        });
        let mut entries: Vec<_> = self
            .behaviours()
            .map(row)
            .chain(contract)
            .chain(systems)
            .chain(pollers)
            .chain(findings)
            .chain(suites)
            .collect();
        for text in entries.iter_mut().flat_map(|entry| [&mut entry.title, &mut entry.text]) {
            *text = visible(text).into_owned();
        }
        let content = Content { data: super::data::packed(&entries) };
        let title = "Search".to_owned();
        let description =
            "Search for behaviours, scenarios, systems, pollers, findings and test suites".to_owned();
        self.page(&SEARCH, "search.html".into(), ("search", title, description), &content)
    }

    /// The addresses of all pages, for search engines. It needs the address of the site.
    fn sitemap(&self, files: &[Page]) -> Option<Page> {
        let url = self.url?;
        let mut text = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
        );
        let mut paths: Vec<_> =
            files.iter().map(|page| page.path.as_str()).filter(|path| path.ends_with(".html")).collect();
        paths.sort_unstable();
        for path in paths {
            // The address was checked, and the paths have no character that XML needs to escape.
            text.push_str(&format!("<url><loc>{url}/{path}</loc></url>\n"));
        }
        text.push_str("</urlset>\n");
        Some(Page { path: "sitemap.xml".into(), text })
    }
}

/// A page about a poller.
#[derive(Serialize)]
struct PollerPage<'a> {
    name: &'a str,
    /// Its name in addresses.
    path: String,
    /// What the badge says.
    summary: String,
    #[serde(skip)]
    colour: badge::Colour,
    /// Whether its answers to the contract are in the results.
    contract: Option<String>,
    #[serde(skip)]
    systems: &'a [PollerOnSystem],
}

impl<'a> PollerPage<'a> {
    /// Returns `None` if nothing is known of it.
    fn of(name: &'a str, verdict: Option<(Verdict, usize)>, poller: Option<&'a Poller>) -> Option<Self> {
        let systems = poller.map(|poller| poller.systems.as_slice()).unwrap_or_default();
        let answers = systems.iter().map(|on| on.answers.len()).sum();
        let contract = match verdict {
            Some((Verdict::NoAnswer, _)) | None => None,
            Some((Verdict::Holds { cells, .. }, targets)) => {
                Some((format!("{cells} cells hold on {}", counted(targets, "target")), badge::Colour::Good))
            }
            Some((Verdict::Incomplete { missing, of }, _)) => {
                Some((format!("{missing} of {of} cells have no answer"), badge::Colour::Unknown))
            }
            Some((Verdict::Fails { cells, of }, _)) => {
                Some((format!("{cells} of {of} cells fail"), badge::Colour::Bad))
            }
        };
        let recorded = (answers > 0)
            .then(|| format!("{} on {}", counted(answers, "answer"), counted(systems.len(), "system")));
        let (summary, colour) = match (&contract, recorded) {
            (Some((contract, colour)), _) => (contract.clone(), *colour),
            (None, Some(recorded)) => (recorded, badge::Colour::Neutral),
            (None, None) => return None,
        };
        let contract = contract.map(|(contract, _)| contract);
        Some(Self { name, path: slug(name), summary, colour, contract, systems })
    }
}

/// Returns the number of questions about a behaviour that a system answers, and in how many of them systems
/// differ.
fn counts(behaviour: &Behaviour, system: &str) -> (usize, usize) {
    let of_system: Vec<_> =
        behaviour.columns.iter().map(|column| column.system == system && !column.past).collect();
    let rows = behaviour.states.iter().flat_map(|state| &state.rows);
    let answered = rows.filter(|row| {
        row.answers.iter().zip(&of_system).any(|(answers, of_system)| *of_system && !answers.is_empty())
    });
    answered.fold((0, 0), |(all, differing), row| (all + 1, differing + usize::from(row.differs)))
}

fn behaviour_path(id: &str) -> String {
    format!("behaviours/{id}.html")
}

fn system_path(slug: &str) -> String {
    format!("systems/{slug}.html")
}

fn poller_path(name: &str) -> String {
    format!("pollers/{}.html", slug(name))
}

/// Returns a name as a file name and as a part of an address: every character but letters, digits, `.`, `-`
/// and `_` is left out. The names of pollers have no others.
fn slug(name: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || ['.', '-', '_'].contains(c);
    name.trim_start_matches('.').chars().filter(is_plain).collect()
}

#[cfg(test)]
mod tests;
