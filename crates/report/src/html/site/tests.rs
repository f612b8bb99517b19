use std::collections::BTreeSet;

use metadata::Results;

use super::links::{Broken, broken};
use super::*;
use crate::html::catalogue::tests::{HOSTILE, sample};
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
        remarks: vec![text("since 1")],
    };
    let on = |system: &str| PollerOnSystem {
        system: system.into(),
        name: text("Linux"),
        sources: vec![text("mio 1.2 on Linux")],
        answers: vec![answer.clone()],
    };
    vec![
        Poller { name: "mio".into(), systems: vec![on("linux"), on("freebsd")] },
        Poller { name: "polling".into(), systems: vec![PollerOnSystem { answers: vec![], ..on("linux") }] },
    ]
}

/// Builds a site whose texts end with `more`.
fn site(more: &str, results: &Results, url: Option<&str>) -> Built {
    let mut catalogue = sample(more);
    // The past system of the sample answers today.
    for behaviour in catalogue.families.iter_mut().flat_map(|family| &mut family.behaviours) {
        behaviour.columns.iter_mut().for_each(|column| column.past = false);
    }
    let (pollers, findings) = (pollers(more), format!("{FINDINGS}\n## {more}\n"));
    build(&Site { url, catalogue: &catalogue, results, pollers: &pollers, findings: Some(&findings) })
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
            "badges/epoll.json",
            "badges/epoll.svg",
            "badges/mio.json",
            "badges/mio.svg",
            "badges/poll.json",
            "badges/poll.svg",
            "catalogue.html",
            "compare.html",
            "findings.html",
            "index.html",
            "pollers/epoll.html",
            "pollers/mio.html",
            "pollers/poll.html",
            "report.html",
            "rows/V26.html",
            "rows/V27.html",
            "search.html",
            "sitemap.xml",
            "systems/freebsd.html",
            "systems/linux.html",
        ]
    );
    assert_eq!(built.broken, []);
    let sitemap = text(&built, "sitemap.xml");
    assert_eq!(sitemap.matches("<loc>https://example.org/site/").count(), 13, "{sitemap}");
    assert!(sitemap.contains("<loc>https://example.org/site/rows/V26.html</loc>"));
    let row = text(&built, "rows/V26.html");
    assert!(row.contains("<meta property=\"og:url\" content=\"https:&#x2f;&#x2f;example.org&#x2f;site&#x2f;rows&#x2f;V26.html\">"));
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
    assert!(text(&built, "rows/V26.html").contains("<a href=\"..&#x2f;costs.html\">Costs</a>"));
}

#[test]
fn a_behaviour_names_the_pollers_that_show_it_and_the_others() {
    let built = site("", &samples::merged(), None);
    let (shown, hidden) = (text(&built, "rows/V26.html"), text(&built, "rows/V27.html"));
    assert!(
        shown.contains("mio</a> on Linux</th>")
            && shown.contains("<code>readable</code> or <code>silent</code>")
    );
    assert!(shown.contains("<span class=\"source\">since 1</span>"));
    assert!(!shown.contains("No answer is recorded"));
    assert!(
        hidden.contains("No answer is recorded of <a href=\"..&#x2f;pollers/mio.html\">mio</a>:"),
        "{hidden}"
    );
    // A poller without answers has no page.
    assert!(!shown.contains("polling") && !hidden.contains("polling"));
    assert!(shown.contains("rel=\"next\"") && !shown.contains("rel=\"prev\""));
    assert!(!hidden.contains("rel=\"next\"") && hidden.contains("rel=\"prev\""));
}

#[test]
fn a_system_counts_its_answers_and_names_its_divergences() {
    let mut catalogue = sample("");
    catalogue.divergences[0].system = "Linux until 3".into();
    let results = samples::merged();
    let built =
        build(&Site { url: None, catalogue: &catalogue, results: &results, pollers: &[], findings: None });
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
    let hostile_results = Results::read(poisoned.to_string().as_bytes()).unwrap();
    let (harmless, hostile) = (site("", &samples::merged(), None), site(HOSTILE, &hostile_results, None));
    assert_eq!(hostile.broken, []);
    for path in [
        "index.html",
        "rows/V26.html",
        "systems/linux.html",
        "pollers/mio.html",
        "compare.html",
        "search.html",
    ] {
        let (harmless, hostile) = (text(&harmless, path), text(&hostile, path));
        for tag in ["<script", "</script", "<style", "<!--"] {
            assert_eq!(hostile.matches(tag).count(), harmless.matches(tag).count(), "{tag} in {path}");
        }
        assert!(!hostile.contains("<img src=x"), "{path}");
        assert!(!hostile.contains('\u{202e}'), "{path}: visible");
        assert_eq!(hostile.matches("{{ 7 * 7 }}").count(), hostile.matches("alert(1)").count(), "{path}");
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
    let site =
        Site { url: None, catalogue: &catalogue, results: &results, pollers: &pollers, findings: None };
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
    let data: serde_json::Value = serde_json::from_str(content["data"].as_str().unwrap()).unwrap();
    // The systems have no question in common. mio has one, on two systems.
    assert_eq!(
        data["asked"],
        serde_json::json!([{
            "row": 0,
            "state": "pipe:drained",
            "asked": "poller@edge",
            "answers": { "1": ["readable", "silent"], "2": ["readable", "silent"] },
        }])
    );
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
        assert!(found.is_empty() || found == [Broken { page: "b/from.html".into(), link: link.into() }]);
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
    assert_eq!(picture[0].to_string(), "x.html: none.png");
    // Entities are what they stand for.
    assert_eq!(broken(&[page("x.html", "<a href=\"x&#46;html\">")]), []);
}
