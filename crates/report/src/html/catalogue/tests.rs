use super::*;

/// What ends a tag or an attribute, runs, and reorders text.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{202e}\"'&<!--{{ 7 * 7 }}";

fn sample(more: &str) -> Catalogue {
    let text = |text: &str| format!("{text}{more}");
    let answer = Answer {
        allowed: vec![text("IN|HUP"), text("HUP")],
        source: text("M1"),
        remarks: vec![text("until 3")],
    };
    let lines = vec![
        Line { asked: text("poll@level"), differs: true, places: vec![vec![answer.clone()], vec![]] },
        Line { asked: text("read"), differs: false, places: vec![vec![], vec![answer]] },
    ];
    let row = Row {
        id: "V26".into(),
        title: text("a row"),
        scenarios: vec![Asking {
            id: text("readiness/some"),
            question: text("What?"),
            command: text("pollmatrix probe 'own is fresh'"),
            settings: text("tcp; level"),
            bugs: vec![Link { text: text("mio#1"), url: "https://example.org/1".into() }],
        }],
        excused: vec![Excused {
            what: text("* read"),
            why: text("no room"),
            contract: vec![text("deletion/life"), text("migration/other")],
        }],
        columns: vec![
            Column { name: text("Linux"), past: false },
            Column { name: text("FreeBSD 4"), past: true },
        ],
        states: vec![State { name: text("pipe:drained"), lines }],
        sources: vec![Source {
            label: text("M1"),
            evidence: Evidence::Measured,
            text: text("on a machine"),
            url: Some("https://example.org/2".into()),
        }],
    };
    let whole = Row {
        id: "V27".into(),
        title: text("another"),
        excused: vec![Excused { what: String::new(), why: text("no device"), contract: Vec::new() }],
        ..Row::default()
    };
    let divergence = Divergence {
        cells: text("group/name/*@poll"),
        system: text("macos until 3"),
        check: text("a check"),
        observed: vec![text("41")],
        documented: text("permitted: a manual"),
    };
    let families = vec![Family { prefix: "V".into(), title: text("readiness"), rows: vec![row, whole] }];
    Catalogue { families, divergences: vec![divergence] }
}

#[test]
fn the_page_says_what_the_catalogue_has() {
    let page = page(&sample(""));
    for part in [
        "<!DOCTYPE html>\n<!-- pollmatrix catalogue -->",
        "2 rows, 1 scenarios, 2 questions; systems differ in\n      1</p>",
        "<details class=\"row\" id=\"V26\">",
        "<pre>pollmatrix probe &#x27;own is fresh&#x27;</pre>",
        "<a href=\"https:&#x2f;&#x2f;example.org&#x2f;1\" rel=\"noopener noreferrer\">mio#1</a>",
        "<th scope=\"col\" class=\"past\">FreeBSD 4</th>",
        "<code>IN|HUP</code> or <code>HUP</code> <sup>M1</sup> <span class=\"source\">until 3</span>",
        "poll@level <span class=\"tally documented\">differs</span></th><td>",
        "<td></td></tr>",
        "<p>No line asks for it: no device.\n</p>",
        "<p class=\"excused\"><code>* read</code>: no room.\nContract scenarios: <code>deletion&#x2f;life</code>, ",
        "group&#x2f;name&#x2f;*@poll</code> on macos until 3",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(!page.contains("None, on any system."));
    assert_eq!(page, super::page(&sample("")));
}

#[test]
fn no_text_gets_out_of_its_place() {
    let (harmless, hostile) = (page(&sample("")), page(&sample(HOSTILE)));
    for tag in ["<script", "</script", "<style", "<img", "<!--", "<a ", "<td", "<code"] {
        assert_eq!(hostile.matches(tag).count(), harmless.matches(tag).count(), "{tag}");
    }
    assert!(!hostile.contains('\u{202e}') && !hostile.contains("49"), "written out, and not evaluated");
    // Every text of the sample but the ids and the addresses has it.
    assert_eq!(hostile.matches("onerror=alert(1)").count(), sample_texts());
}

/// How many texts of the sample are poisoned and shown: an answer is there twice.
fn sample_texts() -> usize {
    let text = format!("{:?}", sample("POISON"));
    text.matches("POISON").count()
}

#[test]
fn the_style_and_the_scripts_are_the_page_s_own() {
    let page = page(&sample(""));
    assert!(page.contains("default-src 'none'; style-src 'sha256-"), "the policy is there");
    assert!(!SHELL.style.contains("url(") && !SHELL.style.contains("@import"));
    assert!(SHELL.scripts.iter().all(|script| !script.contains("innerHTML") && !script.contains("</")));
}
