//! The files of the site.

mod badge;
mod data;
mod front;
mod matrix;
mod poller;
mod row;
mod scenario;
mod system;

use std::collections::BTreeMap;

use metadata::Results;
use report::Tally;
use report::html::shell::{DOM, Shell, THEME_BUTTON, environment};
use report::html::style_of;
use serde::Serialize;

use crate::findings::{self, Findings};
use crate::model::{Input, Model};
use crate::paths;

/// A file of the site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// The path in the site's folder: `rows/V26.html`.
    pub path: String,
    /// The content.
    pub text: String,
}

/// A contract scenario, which has a page even without results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contract<'a> {
    /// `deletion/cloned-dup`.
    pub id: &'a str,
    /// The property.
    pub title: &'a str,
    /// What it checks.
    pub clauses: &'a [&'a str],
}

/// The curves of what operations cost. Without a curve there is no page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Costs {
    /// The charts.
    pub curves: Vec<Curve>,
    /// The style of their classes.
    pub style: &'static str,
}

/// A chart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Curve {
    /// A heading.
    pub title: String,
    /// An `svg` element, whose texts are escaped.
    pub svg: String,
}

/// Returns all files of the site, except those of other reports, sorted by path.
pub fn build(input: &Input<'_>, contract: &[Contract<'_>], costs: &Costs) -> Vec<File> {
    let builder = Builder {
        input,
        model: &Model::new(input),
        findings: &findings::render(findings::FINDINGS),
        contract: contracts(input.results, contract),
        has_costs: !costs.curves.is_empty(),
    };
    let mut files = vec![front::page(&builder), matrix::page(&builder)];
    files.push(findings_page(&builder));
    files.extend(data::pages(&builder));
    files.extend(builder.model.rows.iter().map(|row| row::page(&builder, row)));
    files.extend(system::pages(&builder));
    files.extend(poller::pages(&builder));
    files.extend(scenario::pages(&builder));
    if builder.has_costs {
        files.push(costs_page(&builder, costs));
    }
    files.push(sitemap(&builder, &files));
    files.sort_by(|one, two| one.path.cmp(&two.path));
    files
}

/// What the pages are built from.
struct Builder<'a> {
    input: &'a Input<'a>,
    model: &'a Model<'a>,
    findings: &'a Findings,
    /// By id: title, clauses.
    contract: BTreeMap<&'a str, (&'a str, Vec<&'a str>)>,
    has_costs: bool,
}

/// Returns the known scenarios, and those of the results.
fn contracts<'a>(
    results: &'a Results,
    known: &'a [Contract<'a>],
) -> BTreeMap<&'a str, (&'a str, Vec<&'a str>)> {
    let mut all: BTreeMap<&str, (&str, Vec<&str>)> = BTreeMap::new();
    for cell in results.contract() {
        let about = results
            .scenarios
            .get(&cell.scenario)
            .map(|about| (about.title.as_str(), about.clauses.iter().map(String::as_str).collect()));
        all.entry(&cell.scenario).or_insert_with(|| about.unwrap_or_default());
    }
    for scenario in known {
        all.insert(scenario.id, (scenario.title, scenario.clauses.to_vec()));
    }
    all
}

/// An entry of the navigation.
#[derive(Serialize)]
struct Entry {
    path: &'static str,
    name: &'static str,
}

/// A link, or a text without a page.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Link {
    path: Option<String>,
    name: String,
}

/// One status of a tally.
#[derive(Serialize)]
struct Part {
    letter: char,
    label: &'static str,
    class: &'static str,
    count: usize,
}

fn parts(tally: &Tally) -> Vec<Part> {
    let part = |(status, count): (metadata::Status, usize)| Part {
        letter: status.letter(),
        label: status.label(),
        class: style_of(status),
        count,
    };
    tally.counts().map(part).collect()
}

/// The values of the layout, around those of a page.
#[derive(Serialize)]
struct Frame<'a, T> {
    #[serde(flatten)]
    content: T,
    path: &'a str,
    root: String,
    url: String,
    title: &'a str,
    description: &'a str,
    nav: Vec<Entry>,
    repository: &'static str,
    version: &'a str,
}

/// A kind of page: its template and its script.
struct Kind<'a> {
    template: &'static str,
    scripts: &'a [&'static str],
    style: &'static str,
}

impl Kind<'_> {
    const fn plain(template: &'static str) -> Self {
        Self { template, scripts: &[], style: "" }
    }
}

impl Builder<'_> {
    /// Renders a page.
    fn page(
        &self,
        kind: &Kind<'_>,
        path: String,
        title: &str,
        description: &str,
        content: impl Serialize,
    ) -> File {
        let style = [include_str!("../templates/site.css"), kind.style].concat();
        let mut scripts = vec![DOM];
        scripts.extend(kind.scripts);
        scripts.push(THEME_BUTTON);
        let shell = Shell {
            template: kind.template,
            layouts: &[
                ("layout.html", include_str!("../templates/layout.html")),
                ("macros.html", include_str!("../templates/macros.html")),
            ],
            style: &style,
            scripts: &scripts,
        };
        let text = shell.page(Frame {
            content,
            root: paths::root(&path),
            url: self.url_of(&path),
            path: &path,
            title,
            description,
            nav: self.nav(),
            repository: env!("CARGO_PKG_REPOSITORY"),
            version: self.input.pollmatrix,
        });
        File { path, text }
    }

    fn nav(&self) -> Vec<Entry> {
        let mut nav = vec![
            Entry { path: "index.html", name: "pollmatrix" },
            Entry { path: "matrix.html", name: "Matrix" },
            Entry { path: "findings.html", name: "Findings" },
            Entry { path: "compare.html", name: "Compare" },
            Entry { path: "search.html", name: "Search" },
            Entry { path: "catalogue.html", name: "Catalogue" },
            Entry { path: "report.html", name: "Report" },
        ];
        if self.has_costs {
            nav.insert(4, Entry { path: "cost.html", name: "Cost" });
        }
        nav
    }

    /// Returns the published address of a page.
    fn url_of(&self, path: &str) -> String {
        let path = if path == "index.html" { "" } else { path };
        format!("{}{path}", self.input.url)
    }

    /// Returns the page of a scenario if it is one of the contract.
    fn scenario_path(&self, id: &str) -> Option<String> {
        self.contract.contains_key(id).then(|| paths::scenario(id))
    }
}

/// Returns the fragment of a name: it needs no escape in an address.
fn anchor(prefix: &str, name: &str) -> String {
    format!("{prefix}-{}", paths::part(name))
}

/// Returns the fragment of a family of behaviours.
fn family_id(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

fn findings_page(builder: &Builder<'_>) -> File {
    #[derive(Serialize)]
    struct Content<'a> {
        html: &'a str,
    }
    let description =
        "Behaviours of kernels and libraries that no manual page mentions, each with its evidence.";
    builder.page(
        &Kind::plain(include_str!("../templates/findings.html")),
        "findings.html".into(),
        "Findings",
        description,
        Content { html: &builder.findings.html },
    )
}

fn costs_page(builder: &Builder<'_>, costs: &Costs) -> File {
    #[derive(Serialize)]
    struct Chart<'a> {
        anchor: String,
        title: &'a str,
        svg: &'a str,
    }
    #[derive(Serialize)]
    struct Content<'a> {
        charts: Vec<Chart<'a>>,
    }
    let curves = costs.curves.iter().enumerate();
    let charts = curves.map(|(place, curve)| Chart {
        // A number keeps the fragments of two charts of one title apart.
        anchor: format!("chart-{}-{}", family_id(&curve.title), place + 1),
        title: &curve.title,
        svg: &curve.svg,
    });
    let kind = Kind { template: include_str!("../templates/cost.html"), scripts: &[], style: costs.style };
    let content = Content { charts: charts.collect() };
    let description = "What operations of pollers cost, by the number of descriptors.";
    builder.page(&kind, "cost.html".into(), "Cost", description, content)
}

/// Returns the sitemap with every page, those of the other reports among them.
fn sitemap(builder: &Builder<'_>, files: &[File]) -> File {
    #[derive(Serialize)]
    struct Content {
        urls: Vec<String>,
    }
    let pages = files.iter().map(|file| file.path.as_str()).filter(|path| path.ends_with(".html"));
    let mut paths: Vec<_> = pages.chain(["catalogue.html", "report.html"]).collect();
    paths.sort_unstable();
    let content = Content { urls: paths.into_iter().map(|path| builder.url_of(path)).collect() };
    let text = render(include_str!("../templates/sitemap.xml"), content);
    File { path: "sitemap.xml".into(), text }
}

/// Renders a template that has no frame.
fn render(template: &str, content: impl Serialize) -> String {
    let mut environment = environment();
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::Html);
    environment
        .render_str(template, minijinja::value::Serde(content))
        .expect("the template is fixed, and tests render it")
}

/// Returns the text with the first character in upper case and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
