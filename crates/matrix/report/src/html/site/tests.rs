use std::collections::BTreeSet;
use std::path::Path;

use metadata::Results;
use metadata::peers::{Case, Open, Peers, Suite, Verdict};

use super::links::{Broken, broken};
use super::*;
use crate::html::catalogue::tests::{HOSTILE, sample};
use crate::html::catalogue::{Answer, AnswerRow, Column, State};
use crate::html::data;
use crate::samples;

const FINDINGS: &str = "# All\n\nSee [the core](protocol.md) and [a page](https://example.org/).\n\n## One `poll` <b>\n\n\
    Text.\n\n```c\n<script>\n```\n\n## Two\n\n## Two\n";

fn pollers(more: &str) -> Vec<Poller> {
    let text = |text: &str| format!("{text}{more}");
    let answer = PollerAnswer {
        behaviour: "V26".into(),
        state: text("pipe:drained"),
        asked: text("mio@edge"),
        allowed: vec![text("readable"), text("silent")],
        means: vec![text("can be read"), String::new()],
        remarks: vec![text("since 1")],
        beside: Some(Beside {
            asked: text("epoll@edge"),
            allowed: vec![text("HUP")],
            verdict: Comparison::Differs,
            hides: vec![text("hang-up")],
            adds: Vec::new(),
        }),
        wrong: None,
    };
    let on = |system: &str| PollerOnSystem {
        system: system.into(),
        name: text("Linux"),
        sources: vec![text("mio 1.2 on Linux")],
        below: (system == "linux").then(|| text("epoll")),
        is_over: true,
        answers: vec![answer.clone()],
    };
    vec![
        Poller { name: "mio".into(), systems: vec![on("linux"), on("freebsd")] },
        Poller { name: "polling".into(), systems: vec![PollerOnSystem { answers: vec![], ..on("linux") }] },
    ]
}

fn contract(more: &str) -> Vec<Contract> {
    let text = |text: &str| format!("{text}{more}");
    let killed =
        Killed { fault: text("double-close"), summary: text("closes twice"), recorded: vec![text("here")] };
    let plain = |id: &str| Contract { id: text(id), title: text("Nothing is lost"), ..Contract::default() };
    vec![
        Contract {
            clauses: vec![text("S3")],
            source: text("a.rs"),
            kills: vec![killed],
            ..plain("group/name")
        },
        Contract { excuse: Some(text("no fault breaks it")), ..plain("migration/idle") },
    ]
}

fn peers(more: &str) -> Peers {
    let text = |text: &str| -> &'static str { format!("{text}{more}").leak() };
    let case = |count, verdict, asked_by: Vec<&'static str>| {
        let (name, asked_by) = (text("epoll_wait06"), &*asked_by.leak());
        Case { count, name, verdict, asked_by, open: Vec::new(), reason: "" }
    };
    let covered = case(1, Verdict::Covered, vec!["V27", text("readiness/some"), text("group/name")]);
    let open = vec![text("other sources")];
    let partly = Case { open, ..case(5, Verdict::Partly, vec!["V26"]) };
    let out = Case { reason: text("Windows"), ..case(7, Verdict::Out, Vec::new()) };
    let open = |name| Open { name: text(name), question: text("What is reported?"), needs: text("a script") };
    let suite = Suite {
        id: "ltp",
        name: text("LTP"),
        source: text("ltp 1234"),
        read: text("every file"),
        stated: 13,
        cases: vec![covered, partly, out],
    };
    Peers { suites: vec![suite], open: vec![open("a timer"), open("other sources")] }
}

/// Returns a site with this content alone.
fn plain<'a>(catalogue: &'a Catalogue, results: &'a Results) -> Site<'a> {
    Site { url: None, catalogue, contract: &[], results, pollers: &[], findings: None, peers: None }
}

/// Builds a site whose texts end with `more`.
fn site(more: &str, results: &Results, url: Option<&str>) -> Built {
    let mut catalogue = sample(more);
    // The past system of the sample answers today.
    for behaviour in catalogue.families.iter_mut().flat_map(|family| &mut family.behaviours) {
        behaviour.columns.iter_mut().for_each(|column| column.past = false);
    }
    let (pollers, findings) = (pollers(more), format!("{FINDINGS}\n## {more}\n"));
    let contract = contract(more);
    let (findings, peers) = (Some(findings.as_str()), peers(more));
    let (contract, pollers, peers) = (&*contract, &*pollers, Some(&peers));
    build(&Site { url, contract, pollers, findings, peers, ..plain(&catalogue, results) })
}

fn text<'a>(built: &'a Built, path: &str) -> &'a str {
    let file = built.files.iter().find(|file| file.path == path);
    &file.unwrap_or_else(|| panic!("there is no {path}")).text
}

/// Others link to these addresses.
#[test]
fn the_addresses_of_the_pages_stay() {
    let built = site("", &samples::merged(), Some("https://example.org/site"));
    let paths: Vec<_> = built.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            ".nojekyll",
            "assumptions.html",
            "badges/epoll.json",
            "badges/epoll.svg",
            "badges/mio.json",
            "badges/mio.svg",
            "badges/poll.json",
            "badges/poll.svg",
            "behaviours/V26.html",
            "behaviours/V27.html",
            "compare.html",
            "findings.html",
            "index.html",
            "peers.html",
            "pollers/epoll.html",
            "pollers/mio.html",
            "pollers/poll.html",
            "report.html",
            "scenarios/group/name.html",
            "scenarios/migration/idle.html",
            "search.html",
            "sitemap.xml",
            "systems/freebsd.html",
            "systems/linux.html",
        ]
    );
    assert_eq!(built.broken, []);
    let sitemap = text(&built, "sitemap.xml");
    assert_eq!(sitemap.matches("<loc>https://example.org/site/").count(), 16, "{sitemap}");
    assert!(sitemap.contains("<loc>https://example.org/site/behaviours/V26.html</loc>"));
    let row = text(&built, "behaviours/V26.html");
    assert!(row.contains("<meta property=\"og:url\" content=\"https:&#x2f;&#x2f;example.org&#x2f;site&#x2f;behaviours&#x2f;V26.html\">"));
    assert_eq!(built, site("", &samples::merged(), Some("https://example.org/site")));
}

#[test]
fn a_site_without_results_and_without_an_address_has_neither_report_nor_sitemap() {
    let mut results = samples::merged();
    (results.cells, results.runs) = (Vec::new(), Vec::new());
    let built = site("", &results, None);
    let paths: BTreeSet<_> = built.files.iter().map(|file| file.path.as_str()).collect();
    assert!(!paths.contains("report.html") && !paths.contains("sitemap.xml"));
    assert_eq!(built.broken, []);
    assert!(!text(&built, "index.html").contains("og:url"));
    assert!(!text(&built, "pollers/mio.html").contains("[![pollmatrix"));
    assert!(text(&site("", &results, Some("https://e.org")), "pollers/mio.html").contains("[![pollmatrix"));
}

#[test]
fn costs_have_a_page_with_curves() {
    let without = site("", &samples::merged(), None);
    assert!(without.files.iter().all(|file| file.path != "costs.html"));
    let built = site("", &crate::costs::tests::with_costs(samples::merged()), None);
    assert_eq!(built.broken, []);
    assert!(text(&built, "costs.html").contains("<svg class=\"curve\""));
    assert!(text(&built, "behaviours/V26.html").contains("<a href=\"..&#x2f;costs.html\">Costs</a>"));
}

#[test]
fn a_behaviour_begins_with_its_verdict_and_names_what_each_poller_makes_of_it() {
    let built = site("", &samples::merged(), None);
    let (shown, hidden) = (text(&built, "behaviours/V26.html"), text(&built, "behaviours/V27.html"));
    for part in [
        // The verdict on pollers, and the answers that differ.
        "<div><dt>hides hang-up</dt><dd><a href=\"..&#x2f;pollers/mio.html\">mio</a></dd></div>",
        "<summary>mio on Linux: 1 of 1</summary>\n<p><a href=\"..&#x2f;pollers/mio.html#half-close-linux\">",
        "<code>pipe: drained</code> <span class=\"source\">mio@edge</span></th><td>\
         can be read <small><code>readable</code></small> or <code>silent</code> <span class=\"source\">since 1</span></td>",
        "<strong>hides hang-up</strong> <span class=\"source\">epoll@edge: <code>HUP</code></span>",
        // The content of the catalogue.
        "<pre>pollmatrix probe &#x27;own is fresh&#x27;</pre>",
        "<svg class=\"sequence\" role=\"img\"",
        "<a href=\"https:&#x2f;&#x2f;example.org&#x2f;1\" rel=\"noopener noreferrer\">mio#1</a>",
        "readable, hang-up <small><code>IN|HUP</code></small> or <code>HUP</code> <sup><a href=\"#source-M1\">M1</a></sup> \
         <span class=\"source\">until 3</span>",
        "poll, level <small><code>poll@level</code></small> <span class=\"tally documented\">differs</span></th><td>",
        "<tbody id=\"pipe-drained\"><tr class=\"state\"><th scope=\"rowgroup\" colspan=\"3\"><a href=\"#pipe-drained\">pipe, drained</a>",
        "<td></td></tr>",
        "<p class=\"excused\"><code>* read</code>: no room.\nContract scenarios: <code>deletion&#x2f;life</code>, ",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    assert!(!shown.contains("No answer is recorded"));
    assert!(hidden.contains("<p>No scenario observes it: no device.\n</p>"), "{hidden}");
    assert!(
        hidden.contains("No answer is recorded of <a href=\"..&#x2f;pollers/mio.html\">mio</a>:"),
        "{hidden}"
    );
    // A poller without answers has no page.
    assert!(!shown.contains("polling") && !hidden.contains("polling"));
    assert!(shown.contains("rel=\"next\"") && !shown.contains("rel=\"prev\""));
    assert!(!hidden.contains("rel=\"next\"") && hidden.contains("rel=\"prev\""));
}

/// Returns an answer of a poller over epoll, with its relation to epoll's.
fn beside(state: &str, verdict: Comparison, hides: &[&str], adds: &[&str]) -> PollerAnswer {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let (asked, allowed) = ("epoll@level".to_owned(), vec!["HUP".to_owned()]);
    PollerAnswer {
        behaviour: "V26".into(),
        state: state.into(),
        asked: "libx@level".into(),
        allowed: vec!["R".into()],
        means: vec!["readable".into()],
        beside: Some(Beside { asked, allowed, verdict, hides: names(hides), adds: names(adds) }),
        ..PollerAnswer::default()
    }
}

fn libx(answers: Vec<PollerAnswer>) -> Vec<Poller> {
    let (system, name) = ("linux".into(), "Linux".into());
    let on = PollerOnSystem {
        system,
        name,
        sources: Vec::new(),
        below: Some("epoll".into()),
        is_over: true,
        answers,
    };
    vec![Poller { name: "libx".into(), systems: vec![on] }]
}

#[test]
fn a_poller_has_one_sentence_that_counts_states_and_a_mark_for_each_topic() {
    use Comparison::{CannotCompare, Differs, Shows};
    let ends = PollerAnswer { wrong: Some(Wrong::Ends), ..beside("tcp:e", CannotCompare, &[], &[]) };
    let early = PollerAnswer { wrong: Some(Wrong::Early), ..beside("tcp:e", CannotCompare, &[], &[]) };
    let catalogue = sample("");
    let results = samples::merged();
    let index = |answers: Vec<PollerAnswer>| {
        let pollers = libx(answers);
        text(&build(&Site { pollers: &pollers, ..plain(&catalogue, &results) }), "index.html").to_owned()
    };
    let hides = || beside("tcp:a", Differs, &["hang-up"], &[]);
    let edge = PollerAnswer { asked: "libx@edge".into(), ..hides() };
    for (answers, sentence, mark) in [
        // Two modes of one state are one state.
        (vec![hides(), edge], "hides hang-up in 1 state; the same as epoll in 0 of 1.", "documented\">−1"),
        (
            vec![
                hides(),
                beside("tcp:b", Differs, &["error", "hang-up"], &["urgent"]),
                beside("tcp:c", Shows, &[], &[]),
            ],
            "hides hang-up in 2 states and error in 1; adds urgent in 1 state; the same as epoll in 1 of 3.",
            "documented\">±2",
        ),
        (
            vec![beside("tcp:a", Differs, &[], &["end"])],
            "adds end in 1 state; the same as epoll in 0 of 1.",
            "documented\">+1",
        ),
        (
            vec![beside("tcp:a", Differs, &[], &[])],
            "returns another result in 1 state; the same as epoll in 0 of 1.",
            "documented\">≠1",
        ),
        (
            vec![ends, beside("tcp:c", Shows, &[], &[])],
            "ends or hangs the program in 1 state; the same as epoll in 1 of 2.",
            "bad\">!1",
        ),
        (
            vec![early, beside("tcp:c", Shows, &[], &[])],
            "ends a wait before its timeout in 1 state; the same as epoll in 1 of 2.",
            "documented\">≠1",
        ),
        (
            vec![beside("tcp:a", Shows, &[], &[])],
            "says the same as epoll in all 1 state that can be compared.",
            "good\">=",
        ),
        (
            vec![beside("tcp:a", CannotCompare, &[], &[])],
            "says the same as epoll in all 0 states that can be compared.",
            "absent\">?",
        ),
    ] {
        let index = index(answers);
        assert!(index.contains(&format!("<dd>{sentence}</dd>")), "{sentence} is not in {index}");
        let (class, mark) = mark.split_once("\">").unwrap();
        assert!(index.contains(&format!("<a class=\"heat {class}\" tabindex")), "{class} is not in {index}");
        assert!(index.contains(&format!("\">{mark}<span class=\"unseen\">")), "{mark} is not in {index}");
    }
}

#[test]
fn a_poller_that_is_built_over_no_known_interface_is_said_to_be_beside_the_closest() {
    let (catalogue, results) = (sample(""), samples::merged());
    let mut pollers = libx(vec![beside("tcp:a", Comparison::Differs, &["hang-up"], &[])]);
    pollers[0].systems[0].is_over = false;
    let built = build(&Site { pollers: &pollers, ..plain(&catalogue, &results) });
    let sentence =
        "libx is not built over epoll; beside it, it hides hang-up in 1 state; the same as epoll in 0 of 1.";
    assert!(text(&built, "pollers/libx.html").contains(sentence));
}

#[test]
fn a_pollers_page_names_what_is_wrong_whatever_the_interface_answers() {
    let (catalogue, results) = (sample(""), samples::merged());
    for (wrong, named) in
        [(Wrong::Ends, "ends or hangs the program"), (Wrong::Early, "ends a wait before its timeout")]
    {
        let answer = beside("tcp:a", Comparison::CannotCompare, &[], &[]);
        let pollers = libx(vec![PollerAnswer { wrong: Some(wrong), ..answer }]);
        let built = build(&Site { pollers: &pollers, ..plain(&catalogue, &results) });
        let row = format!("<strong>{named}</strong>");
        assert!(text(&built, "pollers/libx.html").contains(&row), "{row}");
    }
}

#[test]
fn a_pollers_page_shows_differences_and_folds_what_is_the_same() {
    use Comparison::{Differs, Shows};
    let (catalogue, results) = (sample(""), samples::merged());
    let same = |state: &str| beside(state, Shows, &[], &[]);
    let on_edge = |state: &str| {
        let level = same(state);
        let beside = level.beside.map(|of| Beside { asked: "epoll@edge".into(), ..of });
        PollerAnswer { asked: "libx@edge".into(), beside, ..level }
    };
    let differs = beside("tcp:a", Differs, &["hang-up"], &[]);
    let other = [same("tcp:c"), on_edge("tcp:c"), same("tcp:d")];
    let answers = [same("tcp:b"), same("unix:b"), on_edge("tcp:b"), on_edge("unix:b"), differs];
    let pollers = libx(answers.into_iter().chain(other).collect());
    let built = build(&Site { pollers: &pollers, ..plain(&catalogue, &results) });
    let page = text(&built, "pollers/libx.html");
    let places = [
        "<p class=\"lead\">libx hides hang-up in 1 state; the same as epoll in 4 of 5.</p>",
        "<details open>\n<summary>1 answer differs</summary>",
        "<strong>hides hang-up</strong>",
        "<details>\n<summary>7 answers are the same</summary>",
        // Kinds of descriptors, modes, and states with one answer share a row.
        "<code>tcp, unix: b; tcp: c</code> <span class=\"source\">libx@level, edge</span>",
        "<code>tcp: d</code> <span class=\"source\">libx@level</span>",
    ]
    .map(|part| page.find(part).unwrap_or_else(|| panic!("{part} is not in {page}")));
    assert!(places.is_sorted(), "{places:?}");
}

fn column(system: &str, name: &str) -> Column {
    Column { system: system.into(), name: name.into(), ..Column::default() }
}

/// A question, and the answer of each column. An empty one is none.
fn row<const N: usize>(asked: &str, answers: [&str; N]) -> AnswerRow {
    let answer = |text: &str| Answer {
        allowed: vec![text.into()],
        means: vec![String::new()],
        source: "M1".into(),
        remarks: vec![],
    };
    let answers = answers.map(|text| if text.is_empty() { Vec::new() } else { vec![answer(text)] });
    AnswerRow { asked: asked.into(), differs: false, answers: answers.into() }
}

#[test]
fn kinds_of_descriptors_and_questions_with_the_same_answers_are_one() {
    let mut catalogue = sample("");
    let behaviour = &mut catalogue.families[0].behaviours[0];
    behaviour.columns = vec![column("linux", "Linux")];
    let state = |name: &str, edge: &str| State {
        name: name.into(),
        rows: vec![
            row("poll@level", ["HUP"]),
            row("queue-add-before@level", ["HUP"]),
            row("select@level", [edge]),
        ],
    };
    behaviour.states = vec![state("pipe:end", "r--"), state("fifo:end", "r--"), state("tcp:end", "rw-")];
    let results = samples::merged();
    let built = build(&plain(&catalogue, &results));
    let page = text(&built, "behaviours/V26.html");
    for part in [
        "<tbody id=\"pipe-end\"><tr class=\"state\"><th scope=\"rowgroup\" colspan=\"2\"><a href=\"#pipe-end\">pipe, fifo, end</a> \
         <small><code>pipe:end</code>, <code id=\"fifo-end\">fifo:end</code></small></th></tr>",
        "<tbody id=\"tcp-end\">",
        "poll, level; epoll or kqueue, level, registered before <small><code>poll@level</code>, \
         <code>queue-add-before@level</code></small>",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert_eq!(page.matches("<code>select@level</code>").count(), 2);
}

/// One system measured twice is one column, and so are two systems that answer everything alike.
#[test]
fn systems_that_answer_alike_share_a_column_and_the_verdict_counts_the_others() {
    let mut catalogue = sample("");
    let behaviour = &mut catalogue.families[0].behaviours[0];
    behaviour.columns = vec![
        column("linux", "Linux"),
        column("freebsd", "FreeBSD"),
        column("gvisor", "gVisor"),
        column("linux", "Linux 6.1, x86_64"),
    ];
    let rows = vec![row("poll@level", ["HUP", "IN", "HUP", "HUP"]), row("read", ["0", "0", "0", ""])];
    behaviour.states = vec![State { name: "pipe".into(), rows }];
    let results = samples::merged();
    let built = build(&plain(&catalogue, &results));
    let page = text(&built, "behaviours/V26.html");
    let heads = "<th scope=\"col\">Linux, gVisor, Linux 6.1, x86_64</th><th scope=\"col\">FreeBSD</th></tr>";
    assert!(page.contains(heads), "{page}");
    let verdict =
        "<p class=\"lead\">Otherwise than Linux answer: FreeBSD in 1 of 2. gVisor answers as Linux.</p>";
    assert!(page.contains(verdict), "{page}");
}

#[test]
fn the_links_to_correct_a_page_lead_to_files_of_the_tree() {
    let (catalogue, results) = (sample(""), samples::merged());
    let built = build(&plain(&catalogue, &results));
    let page = text(&built, "behaviours/V26.html").replace("&#x2f;", "/");
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for kind in ["edit", "tree"] {
        let (_, rest) = page.split_once(&format!("{}/{kind}/main/", env!("CARGO_PKG_REPOSITORY"))).unwrap();
        let path = rest.split_once('"').unwrap().0;
        assert!(top.join(path).exists(), "{path}");
    }
}

#[test]
fn an_assumption_stands_beside_the_answers_that_break_it() {
    let mut catalogue = sample("");
    catalogue.families[0].behaviours[0].columns[1].name = "FreeBSD".into();
    let results = samples::merged();
    let built = build(&plain(&catalogue, &results));
    let page = text(&built, "assumptions.html");
    assert!(page.contains("<h2>HUP is reported</h2>\n<p>test EOF</p>"), "{page}");
    assert!(
        page.contains(
            "<a href=\"behaviours&#x2f;V26.html#pipe-drained\">V26</a>: pipe, drained: poll, level"
        ),
        "{page}"
    );
    assert!(page.contains("<dt>Linux</dt><dd>readable, hang-up <code>IN|HUP</code>"), "{page}");
    // Other expectations need not have its answers.
    catalogue.assumptions[0].state = "pipe:unknown".into();
    let built = build(&plain(&catalogue, &results));
    assert!(built.files.iter().all(|file| file.path != "assumptions.html"));
    assert_eq!(built.broken, []);
}

#[test]
fn each_case_of_a_peer_leads_to_the_page_of_what_asks_it_or_to_its_open_question() {
    let built = site("", &samples::merged(), None);
    let page = text(&built, "peers.html");
    for part in [
        // A behaviour, a script of a behaviour, a contract scenario.
        "<a href=\"behaviours&#x2f;V27.html\">V27</a>, <a href=\"behaviours&#x2f;V26.html\">readiness&#x2f;some</a>, \
         <a href=\"scenarios&#x2f;group&#x2f;name.html\">group&#x2f;name</a></td>",
        "<td>partly</td><td><a href=\"behaviours&#x2f;V26.html\">V26</a></td><td><a href=\"#open-2\">other sources</a></td>",
        "<td class=\"number\">7</td><td>out</td><td></td><td>Windows</td>",
        "<div id=\"open-2\"><dt>other sources</dt>",
        "<a href=\"#ltp\">LTP</a></th><td class=\"number\">13</td><td class=\"number\">1</td>",
        "<td class=\"number\">16 %</td>",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(with_data(text(&built, "search.html")).contains("peers.html#ltp"));
    assert!(text(&built, "behaviours/V26.html").contains("<a href=\"..&#x2f;peers.html\">Peers</a>"));
    let (catalogue, results) = (sample(""), samples::merged());
    assert!(build(&plain(&catalogue, &results)).files.iter().all(|file| file.path != "peers.html"));
    // Nothing is written if an id has no page.
    let mut unknown = peers("");
    unknown.suites[0].cases[0].asked_by = &["edges/none"];
    let contract = contract("");
    let built = build(&Site { contract: &contract, peers: Some(&unknown), ..plain(&catalogue, &results) });
    let broken: Vec<_> = built.broken.iter().map(|broken| broken.link.as_str()).collect();
    assert_eq!(broken, ["edges/none"]);
}

#[test]
fn a_contract_scenario_has_a_page_with_its_cells_and_faults() {
    let built = site("", &samples::merged(), None);
    let page = text(&built, "scenarios/group/name.html");
    // Both targets, with the three pollers of each, and the result of each cell leads to the report.
    assert_eq!(page.matches("<th scope=\"colgroup\" colspan=\"3\">").count(), 2, "{page}");
    let link = "<a class=\"tally bad\" href=\"..&#x2f;..&#x2f;report.html#cell=group&#x2f;name&#x2f;a@poll&amp;on=one\">fail</a>";
    assert!(page.contains(link), "{page}");
    assert!(page.contains("pollers&#x2f;epoll.html\">epoll</a>"), "{page}");
    assert!(page.contains("It checks S3.") && page.contains("<code>pollmatrix run group&#x2f;name</code>"));
    assert!(page.contains("<code>double-close</code></th><td>closes twice</td><td>here</td>"), "{page}");
    assert!(page.contains("on one: fail: why fail"), "{page}");
    let other = text(&built, "scenarios/migration/idle.html");
    assert!(
        other.contains("No result of it is on this site.") && other.contains("None: no fault breaks it.")
    );
    let index = text(&built, "index.html");
    assert!(
        index.contains("<a href=\"scenarios&#x2f;migration&#x2f;idle.html\">Nothing is lost</a>"),
        "{index}"
    );
    assert!(with_data(text(&built, "search.html")).contains("scenarios/group/name.html"));
    let system = text(&built, "systems/linux.html");
    assert!(system.contains("<a href=\"..&#x2f;scenarios&#x2f;group&#x2f;name.html\">group"), "{system}");
    // A scenario that only the results have has a page, too.
    let results = samples::merged();
    let without = build(&plain(&sample(""), &results));
    assert!(text(&without, "scenarios/group/name.html").contains("None is recorded."));
}

/// Returns a page, and after it the data that its script unpacks.
fn with_data(page: &str) -> String {
    let Some((_, rest)) = page.split_once("id=\"data\">") else { return page.to_owned() };
    format!("{page}{}", data::unpacked(rest.split('<').next().unwrap()))
}

/// The answers of the past are searched, too.
#[test]
fn the_search_has_the_systems_and_the_answers_of_each_behaviour() {
    let built = site("", &samples::merged(), None);
    let search = with_data(text(&built, "search.html"));
    assert!(search.contains("Linux FreeBSD 4 HUP IN|HUP poll@level read half-close RDHUP"), "{search}");
}

#[test]
fn a_system_counts_its_answers_and_names_its_divergences() {
    let mut catalogue = sample("");
    catalogue.divergences[0].system = "Linux until 3".into();
    let results = samples::merged();
    let built = build(&plain(&catalogue, &results));
    let linux = text(&built, "systems/linux.html");
    // Of two questions, Linux answers the first one, in which another system differs.
    assert!(linux.contains("Linux answers 1 questions. Another system differs in 1 of them."), "{linux}");
    assert!(linux.contains("<code>group&#x2f;name&#x2f;*@poll</code> on Linux until 3"));
    // FreeBSD has answers of a past version only.
    assert!(built.files.iter().all(|file| file.path != "systems/freebsd.html"));
}

#[test]
fn no_text_becomes_markup_or_leaves_a_script() {
    let mut poisoned = serde_json::to_value(samples::merged()).unwrap();
    samples::poison(&mut poisoned, HOSTILE, &mut Vec::new());
    let hostile_results = serde_json::from_value::<Results>(poisoned).unwrap();
    let (harmless, hostile) = (site("", &samples::merged(), None), site(HOSTILE, &hostile_results, None));
    assert_eq!(hostile.broken, []);
    let scenario = scenarios::path(&format!("group/name{HOSTILE}"));
    for path in [
        "index.html",
        "behaviours/V26.html",
        "systems/linux.html",
        "pollers/mio.html",
        "compare.html",
        "search.html",
        "peers.html",
        "scenarios/group/name.html",
    ] {
        // The address of a scenario has its id.
        let there = if path.starts_with("scenarios") { &scenario } else { path };
        let (harmless, hostile) = (text(&harmless, path), with_data(text(&hostile, there)));
        let page = hostile.split("</html>").next().unwrap();
        for tag in ["<script", "</script", "<style", "<!--"] {
            assert_eq!(page.matches(tag).count(), harmless.matches(tag).count(), "{tag} in {path}");
        }
        assert!(!page.contains("<img src=x"), "{path}");
        assert!(!hostile.contains('\u{202e}'), "{path}: visible");
        // A title can be too long for all of it.
        let (_, rest) = hostile.split_once("</title>").unwrap();
        assert_eq!(rest.matches("{{ 7 * 7 }}").count(), rest.matches("alert(1)").count(), "{path}");
        assert!(hostile.contains("onerror=alert(1)"), "{path} shows the text");
    }
    let findings = text(&hostile, "findings.html");
    assert!(!findings.contains("<img") && !findings.contains("<script>alert"));
    for file in hostile.files.iter().filter(|file| file.path.ends_with(".svg")) {
        assert!(!file.text.contains("<img") && !file.text.contains('\u{202e}'), "{}", file.path);
    }
    // Names of files have plain characters only.
    let plain = |c: char| c.is_ascii_alphanumeric() || "./-_".contains(c);
    assert!(hostile.files.iter().all(|file| file.path.chars().all(plain) && !file.path.contains("..")));
}

#[test]
fn findings_are_listed_with_their_places_and_link_to_the_web_only() {
    let findings = Findings::of(FINDINGS);
    let headings: Vec<_> = findings.headings.iter().map(|of| (of.id.as_str(), of.text.as_str())).collect();
    assert_eq!(headings, [("one-poll-b", "One poll <b>"), ("two", "Two"), ("two-1", "Two")]);
    let built = site("", &samples::merged(), None);
    let page = text(&built, "findings.html");
    assert!(page.contains("<h2 id=\"one-poll-b\">One <code>poll</code> &lt;b&gt;</h2>"), "{page}");
    assert!(page.contains("See the core and <a href=\"https://example.org/\">a page</a>."));
    assert!(page.contains("<pre tabindex=\"0\"><code class=\"language-c\">&lt;script&gt;"));
    let index = text(&built, "index.html");
    assert!(index.contains("<a href=\"findings.html#two-1\">Two</a>"));
}

#[test]
fn the_newest_findings_are_first_and_have_a_date_for_programs() {
    let text = "## Old\n\n2026-11-20\n\nText.\n\n## New\n\n2026-11-23\n\n## Newer\n\n2026-11-24\n\nMore.\n\n\
        ## None\n\n2026-11\n";
    let findings = Findings::of(text);
    let newest: Vec<_> = findings.newest().iter().map(|of| (of.text.as_str(), of.date.as_deref())).collect();
    assert_eq!(
        newest,
        [
            ("Newer", Some("2026-11-24")),
            ("New", Some("2026-11-23")),
            ("Old", Some("2026-11-20")),
            ("None", None)
        ]
    );
    let (catalogue, results) = (sample(""), samples::merged());
    let built = build(&Site { findings: Some(text), ..plain(&catalogue, &results) });
    let index = self::text(&built, "index.html");
    let first =
        "<li><time datetime=\"2026-11-24\">2026-11-24</time> <a href=\"findings.html#newer\">Newer</a></li>";
    assert!(index.contains(first), "{index}");
    let page = self::text(&built, "findings.html");
    assert!(
        page.contains("<p>First described on <time datetime=\"2026-11-20\">2026-11-20</time>.</p>"),
        "{page}"
    );
    assert!(page.contains("<h2 id=\"new\">New</h2>") && page.contains("<p>2026-11</p>"));
    assert_eq!(built.broken, []);
}

#[test]
fn a_title_is_at_most_as_long_as_browsers_show() {
    let site = " · pollmatrix";
    for (text, expected) in [
        ("Search".to_owned(), "Search · pollmatrix".to_owned()),
        ("x".repeat(57), format!("{}{site}", "x".repeat(57))),
        ("x".repeat(58), "x".repeat(58)),
        ("y".repeat(71), format!("{}…", "y".repeat(69))),
        (format!("{}, two", "z".repeat(66)), format!("{}…", "z".repeat(66))),
    ] {
        let title = short_title(&text, site);
        assert!(title.chars().count() <= 70, "{title}");
        assert_eq!(title, expected);
    }
}

#[test]
fn badges_say_what_is_known() {
    let built = site("", &samples::merged(), None);
    assert_eq!(
        text(&built, "badges/mio.json"),
        "{\n  \"schemaVersion\": 1,\n  \"label\": \"pollmatrix: mio\",\n  \"message\": \"2 answers on 2 systems\",\n  \"color\": \"blue\"\n}\n"
    );
    let colours = |path| {
        let endpoint: serde_json::Value = serde_json::from_str(text(&built, path)).unwrap();
        (endpoint["color"].as_str().unwrap().to_owned(), endpoint["message"].as_str().unwrap().to_owned())
    };
    let (colour, message) = colours("badges/poll.json");
    assert_eq!(colour, "red", "{message}");
    assert!(message.ends_with(" cells fail"), "{message}");
    // 7 units for each letter, a margin of 8 on both sides, and `&lt;` is one letter.
    let picture = &badge::files("a<b", "yes", badge::Colour::Good)[1];
    assert_eq!(picture.path, "badges/ab.svg");
    assert!(picture.text.contains("textLength=\"105\">pollmatrix: a&lt;b</text>"), "{}", picture.text);
    assert!(picture.text.contains("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"158\""));
}

#[test]
fn only_questions_with_two_answers_are_compared() {
    let catalogue = sample("");
    let (results, pollers) = (samples::merged(), pollers(""));
    let site = Site { pollers: &pollers, ..plain(&catalogue, &results) };
    let systems = site.systems();
    let content = serde_json::to_value(compare::Content::of(&site, &systems)).unwrap();
    let ids = |kind: &str| {
        let sides = content[kind].as_array().unwrap().iter();
        sides.map(|side| side["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (ids("systems"), ids("pollers")),
        (
            vec!["linux".to_owned()],
            vec!["mio-linux".to_owned(), "mio-freebsd".to_owned(), "polling-linux".to_owned()]
        )
    );
    let data = data::unpacked(content["data"].as_str().unwrap());
    // The systems have no question in common. mio has one, on two systems.
    assert_eq!(data["systems"], 1);
    assert_eq!(data["names"], serde_json::json!(["pipe:drained", "poller@edge"]));
    let [readable, silent] = [["readable", "can be read"], ["silent", ""]].map(|text| {
        data["texts"].as_array().unwrap().iter().position(|of| *of == serde_json::json!(text)).unwrap()
    });
    let answers = format!("1:{readable},{silent} 2:{readable},{silent}");
    assert_eq!(data["asked"], serde_json::json!([[0, 0, 1, answers]]));
}

/// A library is compared with the queue of a system.
#[test]
fn a_question_to_a_library_has_the_answer_of_each_systems_own_queue() {
    let mut catalogue = sample("");
    catalogue.families[0].behaviours[0].states[0].rows[0].asked = "queue-add-before@edge".into();
    let (results, pollers) = (samples::merged(), pollers(""));
    let site = Site { pollers: &pollers, ..plain(&catalogue, &results) };
    let content = serde_json::to_value(compare::Content::of(&site, &site.systems())).unwrap();
    let data = data::unpacked(content["data"].as_str().unwrap());
    let asked = data["asked"].as_array().unwrap();
    let is_of_both = |asked: &serde_json::Value| {
        let answers = asked[3].as_str().unwrap();
        answers.starts_with("0:")
            && answers.contains(" 1:")
            && data["names"][asked[2].as_u64().unwrap() as usize] == "poller@edge"
    };
    assert!(asked.iter().any(is_of_both), "{data}");
}

fn page(path: &str, text: &str) -> Page {
    Page { path: path.into(), text: text.into() }
}

#[test]
fn a_link_to_no_file_or_to_no_place_is_broken() {
    let there = page("a/there.html", "<p id=\"place\">text");
    let leads = |link: &str| {
        let from = page("b/from.html", &format!("<p id=own><a href=\"{link}\">x</a>"));
        let found = broken(&[there.clone(), from, page("c.svg", "")]);
        let is_it =
            |one: &Broken| (one.page.as_str(), one.line, one.link.as_str()) == ("b/from.html", 1, link);
        assert!(found.is_empty() || found.len() == 1 && is_it(&found[0]), "{found:?}");
        found.is_empty()
    };
    for link in [
        "../a/there.html",
        "../a/there.html#place",
        "#own",
        "../c.svg",
        "../a/./there.html",
        "../a/there.html#text=x",
    ] {
        assert!(leads(link), "{link}");
    }
    for link in
        ["https://example.org/nothing", "http://x", "data:,x", "mailto:a@example.org", "//example.org/x"]
    {
        assert!(leads(link), "{link} is elsewhere");
    }
    for link in
        ["there.html", "../a/there.html#other", "#place", "../../a/there.html", "/a/there.html", "../a"]
    {
        assert!(!leads(link), "{link}");
    }
    let picture = broken(&[page("x.html", "<img src=\"none.png\">")]);
    assert_eq!(picture[0].to_string(), "x.html:1: none.png leads to no file");
    let place = broken(&[page("x.html", "<p>\n\n<a href=\"#none\">")]);
    assert_eq!(place[0].to_string(), "x.html:3: #none leads to no place of that page");
    // A text in a script is no link.
    assert_eq!(broken(&[page("x.html", "<script>'<a href=\"none.html\">'</script>")]), []);
    // Entities are what they stand for.
    assert_eq!(broken(&[page("x.html", "<a href=\"x&#46;html\">")]), []);
}

/// A change of the files and of the list of a site.
type Damage = fn(&mut Vec<Page>, &mut BTreeSet<String>);

fn change(files: &mut [Page], path: &str, from: &str, to: &str) {
    let file = files.iter_mut().find(|file| file.path == path).unwrap_or_else(|| panic!("no {path}"));
    assert!(file.text.contains(from), "{from} is not in {path}: {}", file.text);
    file.text = file.text.replacen(from, to, 1);
}

#[test]
fn each_damage_of_a_site_is_found_with_its_place() {
    let built = site("", &samples::merged(), Some("https://example.org/site"));
    let listed: BTreeSet<String> = built.files.iter().map(|file| file.path.clone()).collect();
    assert_eq!(check::problems(&built.files, &listed), []);
    let damages: [(Damage, &str); 15] = [
        (
            |files, _| files.retain(|file| file.path != "behaviours/V27.html"),
            "behaviours/V27.html: the file is missing",
        ),
        (|files, _| files.retain(|file| file.path != "behaviours/V27.html"), "index.html:"),
        (
            |files, _| change(files, "behaviours/V26.html", "V27.html\"", "none.html\""),
            ": none.html leads to no file",
        ),
        (|files, _| change(files, "index.html", "id=\"pollers\"", "id=\"poolers\""), "behaviours/V26.html:"),
        (
            |files, _| change(files, "search.html", "<title>Search · pollmatrix", "<title>"),
            "search.html: the page has no title",
        ),
        (
            |files, _| change(files, "report.html", "name=\"description\"", "name=\"subscription\""),
            "report.html: the page has no description",
        ),
        (|files, _| change(files, "index.html", " lang=\"en\"", ""), "index.html: the page has no language"),
        (
            |files, _| {
                files
                    .iter_mut()
                    .filter(|file| file.path == "compare.html")
                    .for_each(|file| file.text = " \n".into())
            },
            "compare.html: the file is empty",
        ),
        (
            |files, _| change(files, "badges/mio.json", "\"label\"", "\"lable\""),
            "badges/mio.json: the badge has no text label",
        ),
        (
            |files, _| change(files, "badges/mio.json", "\n}", "\n"),
            "badges/mio.json:7: the badge is not JSON",
        ),
        (
            |files, _| change(files, "badges/poll.svg", "</title>", "</titel>"),
            "badges/poll.svg:2: this is not XML",
        ),
        (|files, _| change(files, "badges/poll.svg", "</svg>", ""), "svg is not closed"),
        (
            |files, _| change(files, "sitemap.xml", "behaviours/V26.html", "behaviours/none.html"),
            "sitemap.xml:4: https://example.org/site/behaviours/none.html is no page of the site",
        ),
        (
            |files, _| change(files, "sitemap.xml", "behaviours/V26.html", "behaviours/V27.html"),
            "V27.html is listed twice",
        ),
        (|_, listed| _ = listed.insert("new.html".into()), "sitemap.xml: the page new.html is not listed"),
    ];
    for (damage, expected) in damages {
        let (mut files, mut listed) = (built.files.clone(), listed.clone());
        damage(&mut files, &mut listed);
        let found: Vec<_> = check::problems(&files, &listed).iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|problem| problem.contains(expected)), "{expected}: {found:#?}");
    }
}
