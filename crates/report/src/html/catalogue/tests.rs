use super::*;

/// Text that would end a tag or an attribute, run a script, or reorder other text.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{202e}\"'&<!--{{ 7 * 7 }}";

fn sample(more: &str) -> Catalogue {
    let text = |text: &str| format!("{text}{more}");
    let answer = Answer {
        allowed: vec![text("IN|HUP"), text("HUP")],
        source: text("M1"),
        remarks: vec![text("until 3")],
    };
    let rows = vec![
        AnswerRow { asked: text("poll@level"), differs: true, answers: vec![vec![answer.clone()], vec![]] },
        AnswerRow { asked: text("read"), differs: false, answers: vec![vec![], vec![answer]] },
    ];
    let observed = Behaviour {
        id: "V26".into(),
        title: text("a behaviour"),
        scenarios: vec![ScenarioEntry {
            id: text("readiness/some"),
            question: text("What?"),
            script: text("own is fresh"),
            command: text("pollmatrix probe 'own is fresh'"),
            settings: text("tcp; level"),
            bugs: vec![Link { text: text("mio#1"), url: "https://example.org/1".into() }],
        }],
        unasked: vec![Unasked {
            what: text("* read"),
            why: text("no room"),
            contract: vec![text("deletion/life"), text("migration/other")],
        }],
        columns: vec![
            Column { name: text("Linux"), past: false },
            Column { name: text("FreeBSD 4"), past: true },
        ],
        states: vec![State { name: text("pipe:drained"), rows }],
        sources: vec![Source {
            label: text("M1"),
            evidence: Evidence::Measured,
            text: text("on a machine"),
            url: Some("https://example.org/2".into()),
        }],
    };
    let not_observed = Behaviour {
        id: "V27".into(),
        title: text("another"),
        unasked: vec![Unasked { what: String::new(), why: text("no device"), contract: Vec::new() }],
        ..Behaviour::default()
    };
    let divergence = Divergence {
        cells: text("group/name/*@poll"),
        system: text("macos until 3"),
        check: text("a check"),
        observed: vec![text("41")],
        documented: text("permitted: a manual"),
    };
    let behaviours = vec![observed, not_observed];
    let families = vec![Family { prefix: "V".into(), title: text("readiness"), behaviours }];
    Catalogue { families, divergences: vec![divergence] }
}

#[test]
fn the_page_shows_every_part_of_the_catalogue() {
    let page = page(&sample(""));
    for part in [
        "<!DOCTYPE html>\n<!-- pollmatrix catalogue -->",
        "2 behaviours, 1 scenarios, 2 questions; systems differ in\n      1</p>",
        "<details class=\"row\" id=\"V26\">",
        "<pre>pollmatrix probe &#x27;own is fresh&#x27;</pre>",
        "<a href=\"https:&#x2f;&#x2f;example.org&#x2f;1\" rel=\"noopener noreferrer\">mio#1</a>",
        "<th scope=\"col\" class=\"past\">FreeBSD 4</th>",
        "<code>IN|HUP</code> or <code>HUP</code> <sup>M1</sup> <span class=\"source\">until 3</span>",
        "poll@level <span class=\"tally documented\">differs</span></th><td>",
        "<td></td></tr>",
        "<p>No scenario observes it: no device.\n</p>",
        "<p class=\"excused\"><code>* read</code>: no room.\nContract scenarios: <code>deletion&#x2f;life</code>, ",
        "group&#x2f;name&#x2f;*@poll</code> on macos until 3",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(!page.contains("None, on any system."));
    assert_eq!(page, super::page(&sample("")));
}

#[test]
fn no_text_of_the_catalogue_becomes_markup() {
    let (harmless, hostile) = (page(&sample("")), page(&sample(HOSTILE)));
    for tag in ["<script", "</script", "<style", "<img", "<!--", "<a ", "<td", "<code"] {
        assert_eq!(hostile.matches(tag).count(), harmless.matches(tag).count(), "{tag}");
    }
    assert!(!hostile.contains('\u{202e}') && !hostile.contains("49"), "escaped, and not evaluated");
    // Every text of the sample contains it, except the ids and the addresses.
    assert_eq!(hostile.matches("onerror=alert(1)").count(), sample_texts());
}

/// Returns the number of texts in the sample with hostile text. The answer occurs twice.
fn sample_texts() -> usize {
    let text = format!("{:?}", sample("POISON"));
    text.matches("POISON").count()
}

#[test]
fn the_page_contains_its_style_and_scripts() {
    let page = page(&sample(""));
    assert!(page.contains("default-src 'none'; style-src 'sha256-"), "the page has a policy");
    assert!(!SHELL.style.contains("url(") && !SHELL.style.contains("@import"));
    assert!(SHELL.scripts.iter().all(|script| !script.contains("innerHTML") && !script.contains("</")));
}
