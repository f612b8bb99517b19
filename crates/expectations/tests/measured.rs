//! The answers of a real FreeBSD kernel, judged by today's expectations: none contradicts them without a
//! reason. `pollmatrix judge` does the same for any file of results.

use std::collections::BTreeMap;

use expectations::{Compared, Expectations, Version, Versions};
use metadata::{Asked, Os};

const ANSWERS: &str = include_str!("freebsd-12.3.5.tsv");

struct Answer<'a> {
    asked: Asked,
    observed: &'a str,
    /// Why it is not the kernel's.
    explained: Option<&'a str>,
}

fn answers() -> Vec<Answer<'static>> {
    let lines = ANSWERS.lines().filter(|line| !line.starts_with('#'));
    let answer = |line: &'static str| {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_else(|| panic!("a field is missing: {line}"));
        let (row, variant, interface, observed) = (next().to_owned(), next().to_owned(), next(), next());
        let (api, trigger) = match interface.rsplit_once('@') {
            Some((api, trigger)) => (api.to_owned(), Some(trigger.to_owned())),
            None => (interface.to_owned(), None),
        };
        Answer { asked: Asked { row, variant, api, trigger }, observed, explained: fields.next() }
    };
    lines.map(answer).collect()
}

#[test]
fn every_measured_answer_of_freebsd_is_expected_or_explained() {
    let expectations = Expectations::built_in_of(Os::FreeBsd, &[]).unwrap();
    let version = Version::of_release(Os::FreeBsd, "12.3-RELEASE-p5").unwrap();
    let mut explained = BTreeMap::<_, usize>::new();
    let mut wrong = Vec::new();
    let all = answers();
    for Answer { asked, observed, explained: why } in &all {
        let judged = expectations.observed(
            Os::FreeBsd,
            Versions::of_kernel(Some(&version)),
            &|_, _| None,
            [(asked.clone(), (*observed).into())],
        );
        let differs = judged.checks.iter().any(|check| !check.holds);
        match (differs, why) {
            (false, None) => {}
            (true, Some(why)) => *explained.entry(*why).or_default() += 1,
            (true, None) => wrong.push(format!("{}/{asked}: {observed}", asked.row)),
            (false, Some(why)) => {
                wrong.push(format!("{}/{asked}: {observed} is expected, but '{why}'", asked.row))
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all.len() > 3000, "{} answers", all.len());
    assert_eq!(explained.values().sum::<usize>(), 12, "{explained:?}");
}

/// The expectations of the system are these answers: all but some that vary are measured on this version.
#[test]
fn every_measured_answer_has_an_expectation_of_its_version() {
    let expectations = Expectations::built_in_of(Os::FreeBsd, &[]).unwrap();
    let version = Version::of_release(Os::FreeBsd, "12.3-RELEASE-p5").unwrap();
    for Answer { asked, observed, explained } in answers() {
        let expected = expectations.expected(Os::FreeBsd, Some(&version), &asked);
        let expected = expected.unwrap_or_else(|| panic!("{}/{asked} has no expectation", asked.row));
        assert!(expected.is_measured_on(Versions::of_kernel(Some(&version))), "{}/{asked}", asked.row);
        let compared = expected.compare(observed);
        assert!(
            explained.is_some() || compared != Compared::Different || observed.contains("ENOTSUP"),
            "{}/{asked}: {observed}",
            asked.row
        );
    }
}
