//! What the recorded answers mean: each is parsed by the words of its column, is written back as it was, and
//! means what meanings.tsv says. `POLLMATRIX_BLESS=1` writes that file again; review its diff.
//!
//! The file was compared with the answers of the earlier comparison, which knew pollers by their names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use metadata::{Meaning, Os, Outcome, Said, is_api_of};
use pollmatrix_raw::expectations::{Expectation, Expectations};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/meanings.tsv");

fn every_answer(check: &mut dyn FnMut(&Expectation)) {
    let names: Vec<_> = pollmatrix_raw::expectations::adapters().collect();
    for os in Os::ALL {
        let answers = Expectations::built_in_of(*os, &names).unwrap();
        answers.systems().flat_map(|(_, all)| all).for_each(&mut *check);
    }
}

#[test]
fn every_recorded_answer_is_parsed_and_written_back_as_it_was() {
    let (mut read, mut of_pollers, mut unknown) = (0, 0, BTreeSet::new());
    every_answer(&mut |answer| {
        for (text, parsed) in answer.allowed.iter().zip(answer.answers()) {
            assert_eq!(parsed.to_string(), *text);
            read += 1;
            if answer.trigger.is_none() {
                continue;
            }
            of_pollers += 1;
            for outcome in parsed.rounds().flatten() {
                // Sentences, counts and patterns have no meaning that could be compared.
                let is_sentence = |text: &str| text.contains([' ', '=', '*', '@']);
                if let Outcome::Other(text) = outcome
                    && !is_sentence(text)
                {
                    unknown.insert(format!("{}: {text}", answer.api));
                }
            }
        }
    });
    assert!(read > 19_000 && of_pollers > 15_000, "{read} answers, {of_pollers} of pollers");
    // Two remarks of older measurements.
    assert_eq!(Vec::from_iter(unknown), ["epoll: silent(300ms)", "kqueue: silent(300ms)"]);
}

#[test]
fn every_recorded_event_means_what_the_table_says() {
    let mut found: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    every_answer(&mut |answer| {
        if answer.trigger.is_none() {
            return;
        }
        for (text, parsed) in answer.allowed.iter().zip(answer.answers()) {
            let Some(report) = parsed.single().and_then(|outcome| outcome.report(&answer.column)) else {
                continue;
            };
            let letter = |said| match said {
                Said::Yes => '+',
                Said::No => '-',
                Said::Nothing => '.',
            };
            let letters = report.into_iter().map(letter).collect();
            found.entry((text.clone(), letters)).or_default().insert(column(&answer.api));
        }
    });
    let names: Vec<_> = Meaning::ALL.iter().map(|meaning| meaning.name()).collect();
    let mut table = format!("# event, {} (+ says it, - denies it, . neither), columns\n", names.join(", "));
    for ((text, letters), columns) in found {
        let _ = writeln!(table, "{text}\t{letters}\t{}", Vec::from_iter(columns).join(" "));
    }
    if std::env::var_os("POLLMATRIX_BLESS").is_some() {
        std::fs::write(FILE, &table).unwrap();
    }
    let committed = std::fs::read_to_string(FILE).unwrap();
    let differing: Vec<_> =
        table.lines().filter(|line| !committed.lines().any(|other| other == *line)).collect();
    assert!(table == committed, "these lines differ from {FILE}: {differing:#?}");
}

/// Returns the column of `libev-poll-R`, `epoll-add-before`.
fn column(api: &str) -> String {
    let names = pollmatrix_raw::expectations::adapters().chain(["epoll", "kqueue", "poll", "select"]);
    names.into_iter().find(|name| is_api_of(api, name)).unwrap_or(api).to_owned()
}
