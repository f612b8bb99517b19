//! Applies the divergences to the attempts of contract cells.

use metadata::{Attempt, Check, Os, Status};

use crate::expectations::divergences::{Divergence, Divergences, Frequency, Kind};
use crate::expectations::file::matches_pattern;
use crate::expectations::version::Version;

impl Divergences {
    /// Judges an attempt by the divergences of this system. `version` is the kernel's.
    ///
    /// A failure becomes a permitted or an expected one only if a divergence covers every check that did not
    /// hold; otherwise it stays a failure. A pass is unexpected if a divergence always occurs. The
    /// observations do not change. The reason and each covered check get the documentation of the divergence.
    ///
    /// This judges attempts, not cells: the result shows one of several attempts, and another one may have
    /// failed for an undocumented reason.
    pub fn judge(&self, os: Os, version: Option<&Version>, mut attempt: Attempt) -> Attempt {
        let about: Vec<_> =
            self.iter().filter(|entry| entry.applies_to(&attempt.cell, os, version)).collect();
        match attempt.status {
            Status::Fail => {
                if let Some(covering) = covering(&about, &mut attempt.checks) {
                    let kind = covering.iter().map(|entry| entry.kind).max();
                    attempt.status =
                        if kind == Some(Kind::KnownFail) { Status::KnownFail } else { Status::Permitted };
                    let documented: Vec<_> = covering.iter().map(|entry| entry.documented()).collect();
                    let reason = attempt.reason.take().unwrap_or_default();
                    attempt.reason = Some(format!("{reason}; documented in {}", documented.join(", ")));
                }
            }
            Status::Pass => {
                if let Some(entry) = about.iter().find(|entry| entry.expect == Frequency::Always) {
                    attempt.status = Status::UnexpectedPass;
                    let documented = entry.documented();
                    attempt.reason =
                        Some(format!("'{}' held, but according to {documented} it never does", entry.check));
                }
            }
            _ => {}
        }
        attempt
    }
}

/// Returns the entries that cover the checks that did not hold, and adds their documentation to these checks.
/// Returns `None`, and changes nothing, if a check is not covered or if all checks hold.
fn covering<'a>(about: &[&'a Divergence], checks: &mut [Check]) -> Option<Vec<&'a Divergence>> {
    let entry_for = |check: &Check| {
        let covers = |entry: &&&Divergence| {
            matches_pattern(&entry.check, &check.what)
                && entry.observed.iter().any(|observed| matches_pattern(observed, &check.observed))
        };
        about.iter().find(covers).copied()
    };
    let wrong = checks.iter().filter(|check| !check.holds);
    let entries = wrong.map(entry_for).collect::<Option<Vec<_>>>()?;
    let mut found: Vec<&Divergence> = Vec::new();
    for (check, entry) in checks.iter_mut().filter(|check| !check.holds).zip(entries) {
        check.evidence = Some(entry.evidence);
        check.since = entry.range.since.as_ref().map(Version::to_string);
        check.until = entry.range.until.as_ref().map(Version::to_string);
        check.url = entry.url.clone();
        if !found.contains(&entry) {
            found.push(entry);
        }
    }
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use metadata::{Evidence, Seed};

    use super::*;

    const CELL: &str = "group/one/tcp-level-1t1g@poll";
    const FILE: &str = "divergences:
  - cells: group/one/tcp-*@poll
    os: freebsd
    since: '14.0'
    until: '14.1'
    check: the * answer
    observed: ['41', '4? bytes, *']
    kind: permitted
    expect: sometimes
    source: poll(2)
    evidence: D
  - cells: group/one/tcp-*@poll
    os: freebsd
    check: the end
    observed: ['late']
    kind: known-fail
    expect: sometimes
    source: a report
    evidence: I
    url: https://example.org/1
  - cells: group/two/*@poll
    os: freebsd
    check: the answer
    observed: ['41']
    kind: permitted
    expect: always
    source: poll(2)
    evidence: D
  - cells: group/three/*@poll
    os: freebsd
    check: the weather
    observed: ['rain']
    kind: permitted
    expect: sometimes
    source: poll(2)
    evidence: D
  - cells: group/three/*@poll
    os: freebsd
    until: '14.1'
    check: the end
    observed: ['late']
    kind: known-fail
    expect: always
    source: a report
    evidence: I
    url: https://example.org/1
";

    fn check(what: &str, observed: &str, holds: bool) -> Check {
        Check {
            what: what.into(),
            expected: vec!["42".into()],
            observed: observed.into(),
            source: "S".into(),
            holds,
            ..Check::default()
        }
    }

    fn attempt(status: Status, checks: &[Check]) -> Attempt {
        Attempt {
            cell: CELL.into(),
            status,
            reason: (status == Status::Fail).then(|| "the answer is wrong".into()),
            seed: Seed(1),
            fault: None,
            inject_errors: None,
            late_data: None,
            duration_ms: 2,
            checks: checks.to_vec(),
            counters: BTreeMap::new(),
            timeline: None,
            notes: Vec::new(),
            stderr: String::new(),
        }
    }

    fn judged_on(os: Os, release: &str, attempt: Attempt) -> Attempt {
        let divergences = Divergences::parse(FILE, "d.yml").unwrap();
        divergences.judge(os, Version::of_release(os, release).as_ref(), attempt)
    }

    fn judged(attempt: Attempt) -> Attempt {
        judged_on(Os::FreeBsd, "14.1-RELEASE-p3", attempt)
    }

    #[test]
    fn a_documented_failure_is_permitted_with_its_documentation() {
        let failed =
            attempt(Status::Fail, &[check("the first answer", "41", false), check("more", "1", true)]);
        let result = judged(failed.clone());
        assert_eq!(result.status, Status::Permitted);
        assert_eq!(
            result.reason.as_deref(),
            Some("the answer is wrong; documented in d.yml:2 (manual page or standard: poll(2))")
        );
        let documented = Check {
            evidence: Some(Evidence::Documented),
            since: Some("14.0".into()),
            until: Some("14.1".into()),
            ..failed.checks[0].clone()
        };
        assert_eq!(result.checks, [documented, failed.checks[1].clone()], "the observations do not change");
    }

    #[test]
    fn a_failure_with_an_undocumented_check_stays_a_failure() {
        let covered = check("the first answer", "41", false);
        for other in [check("the weather", "41", false), check("the first answer", "40", false)] {
            let failed = attempt(Status::Fail, &[covered.clone(), other]);
            assert_eq!(judged(failed.clone()), failed);
        }
    }

    #[test]
    fn a_failure_whose_checks_all_hold_stays_a_failure() {
        for checks in [&[][..], &[check("the first answer", "41", true)][..]] {
            let failed = attempt(Status::Fail, checks);
            assert_eq!(judged(failed.clone()), failed);
        }
    }

    #[test]
    fn a_divergence_applies_to_its_cells_system_and_versions_only() {
        let failed = attempt(Status::Fail, &[check("the first answer", "41", false)]);
        for (os, release) in [
            (Os::FreeBsd, "14.2-RELEASE"),
            (Os::FreeBsd, "13.2-RELEASE-p11"),
            (Os::FreeBsd, "unknown"),
            (Os::Linux, "14.1"),
        ] {
            assert_eq!(judged_on(os, release, failed.clone()), failed, "{os} {release}");
        }
        let elsewhere = Attempt { cell: "group/one/unix-level-1t1g@poll".into(), ..failed };
        assert_eq!(judged(elsewhere.clone()), elsewhere);
    }

    #[test]
    fn a_reported_bug_is_a_known_failure_even_beside_a_permitted_difference() {
        let failed = attempt(
            Status::Fail,
            &[check("the end", "late", false), check("the last answer", "4? bytes, or so", false)],
        );
        let result = judged(failed);
        assert_eq!(result.status, Status::KnownFail);
        assert_eq!(result.checks[0].url.as_deref(), Some("https://example.org/1"));
        let reason = result.reason.unwrap();
        assert!(
            reason.contains("d.yml:12 (issue or commit: a report, https://example.org/1), d.yml:2 ("),
            "{reason}"
        );
    }

    #[test]
    fn a_question_mark_is_an_ordinary_character() {
        let failed = attempt(Status::Fail, &[check("the last answer", "43 bytes, or so", false)]);
        assert_eq!(judged(failed.clone()), failed);
    }

    #[test]
    fn a_pass_is_unexpected_if_the_divergence_always_occurs() {
        let pass = attempt(Status::Pass, &[check("the answer", "42", true)]);
        assert_eq!(judged(pass.clone()), pass, "a divergence that occurs sometimes allows a pass");
        let result = judged(Attempt { cell: "group/two/tcp-level-1t1g@poll".into(), ..pass });
        assert_eq!(result.status, Status::UnexpectedPass);
        let reason = result.reason.unwrap();
        assert!(reason.contains("'the answer' held") && reason.contains("d.yml:21"), "{reason}");
    }

    /// An entry that occurs sometimes does not excuse the pass of one that always does.
    #[test]
    fn a_pass_where_a_bug_always_fails_is_unexpected() {
        let cell = "group/three/tcp-level-1t1g@poll";
        let pass =
            Attempt { cell: cell.into(), ..attempt(Status::Pass, &[check("the end", "in time", true)]) };
        let result = judged(pass.clone());
        assert_eq!(result.status, Status::UnexpectedPass);
        let reason = result.reason.unwrap();
        assert!(
            reason.contains("'the end' held") && reason.contains("d.yml:37 (issue or commit"),
            "{reason}"
        );
        assert_eq!(judged_on(Os::FreeBsd, "14.2-RELEASE", pass.clone()), pass, "the bug is mended there");
        let failed = Attempt { status: Status::Fail, checks: vec![check("the end", "late", false)], ..pass };
        assert_eq!(judged(failed).status, Status::KnownFail);
    }

    #[test]
    fn other_statuses_are_not_judged() {
        for status in [Status::Unsupported, Status::Broken, Status::Timeout, Status::Crash] {
            let ended = attempt(status, &[check("the first answer", "41", false)]);
            assert_eq!(judged(ended.clone()), ended);
        }
    }
}
