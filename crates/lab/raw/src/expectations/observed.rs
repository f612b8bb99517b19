//! Compares a poller's answers with the expectations.

use metadata::{Asked, Check, Defect, Evidence, Os, Status, is_api_of};

use crate::expectations::answers::{Compared, Expectation, Expectations};
use crate::expectations::error_numbers::with_usual_names;
use crate::expectations::version::{Version, Versions};

/// Stands for the expected answer of a question without an expectation.
pub const NOT_KNOWN: &str = "not known";

/// Stands for a missing answer.
pub const NO_ANSWER: &str = "no answer";

/// Returns what is wrong with an answer to a question in every reading, if something is.
pub type Defects<'a> = &'a dyn Fn(&Asked, &str) -> Option<Defect>;

/// The answers of one run of a script, compared with the expectations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Observed {
    /// One check for each answer, in order, and one for each missing answer.
    pub checks: Vec<Check>,
    /// The number of answers without an expectation.
    pub unknown: u64,
    /// Answers that contradict a measurement on this version or are wrong in every reading, and missing
    /// answers.
    wrong: Vec<String>,
    /// Answers that are wrong in every reading, and recorded as those of this poller.
    known_defects: Vec<String>,
    /// Answers that are right where others, wrong in every reading, are measured on this version.
    mended: Vec<String>,
    /// Answers that contradict a hypothesis.
    contradicted: Vec<String>,
}

impl Expectations {
    /// Compares the answers on a system with the expectations. An answer that contradicts a measurement of
    /// the same release is wrong ([`Expectation::is_measured_on`]); other expectations are hypotheses. An
    /// answer in which `defects` finds a defect is wrong whatever is expected, but a known failure if it
    /// is recorded of the same release.
    pub fn observed(
        &self,
        os: Os,
        versions: Versions<'_>,
        defects: Defects<'_>,
        answered: impl IntoIterator<Item = (Asked, String)>,
    ) -> Observed {
        let mut observed = Observed::default();
        for (asked, answer) in answered {
            let answer = with_usual_names(os, &answer);
            let expected = self.expected(os, versions.kernel, &asked);
            if expected.is_none() {
                observed.unknown += 1;
            }
            let check = match defects(&asked, &answer) {
                Some(defect) => observed.note_defect((asked, answer), defect, expected, versions, defects),
                None => match expected {
                    Some(expected) => observed.compare(asked, answer, expected, versions, defects),
                    None => unknown(asked, answer),
                },
            };
            observed.checks.push(check);
        }
        observed
    }

    /// Returns the question that an answer in a cell of an adapter belongs to: the system's, or the same
    /// question about a side effect of the adapter (`libuv-peer-write`).
    ///
    /// An adapter changes what system calls answer: it closes its copy of a descriptor later, or reads from
    /// it. An answer that differs from the system's is the adapter's, and so is each later one to that
    /// question. The cells of the system's own pollers judge the system.
    pub fn attributed(
        &self,
        os: Os,
        version: Option<&Version>,
        adapter: &str,
        asked: Asked,
        answer: &str,
    ) -> Asked {
        if is_api_of(&asked.api, adapter) {
            return asked;
        }
        let effect = side_effect(&asked, adapter);
        let answer = with_usual_names(os, answer);
        let differs = |expected: &Expectation| expected.compare(&answer) == Compared::Different;
        let is_effect = self.expected(os, version, &effect).is_some()
            || self.expected(os, version, &asked).is_some_and(differs);
        if is_effect { effect } else { asked }
    }

    /// Returns the expectation for a question, if there is one.
    pub fn expected(&self, os: Os, version: Option<&Version>, asked: &Asked) -> Option<&Expectation> {
        self.find(os, version, (&asked.behaviour, &asked.variant, &asked.api, asked.trigger.as_deref()))
    }
}

/// Returns the question about a side effect of the adapter on a system call.
fn side_effect(asked: &Asked, adapter: &str) -> Asked {
    Asked { api: format!("{adapter}-{}", asked.api), ..asked.clone() }
}

impl Observed {
    /// Records a missing answer as a failure.
    pub fn miss(&mut self, asked: Asked, expected: Option<&Expectation>) {
        self.wrong.push(format!("{asked}: asked, and not answered"));
        let missing = NO_ANSWER.to_owned();
        self.checks.push(match expected {
            Some(expected) => check(asked, missing, expected, false),
            None => Check { holds: false, ..unknown(asked, missing) },
        });
    }

    /// Returns whether the question has an answer.
    pub fn answers(&self, asked: &Asked) -> bool {
        self.checks.iter().any(|check| check.asked.as_ref() == Some(asked))
    }

    /// Returns whether the question has an answer in a cell of an adapter: the system's, or a side effect of
    /// the adapter.
    pub fn answers_in_cell_of(&self, adapter: &str, asked: &Asked) -> bool {
        self.answers(asked) || self.answers(&side_effect(asked, adapter))
    }

    /// Returns whether one of the answers is the poller's own, and not that of a system call.
    pub fn has_answer_of(&self, poller: &str) -> bool {
        self.checks.iter().filter_map(|check| check.asked.as_ref()).any(|asked| is_api_of(&asked.api, poller))
    }

    /// Returns the status of a run with these answers, and the reason if it is no pass.
    pub fn status(&self) -> (Status, Option<String>) {
        let worst_first = [
            (Status::Fail, &self.wrong),
            (Status::UnexpectedPass, &self.mended),
            (Status::KnownFail, &self.known_defects),
            (Status::Permitted, &self.contradicted),
        ];
        let found = worst_first.into_iter().find_map(|(status, why)| Some((status, joined(why)?)));
        found.map_or((Status::Pass, None), |(status, reason)| (status, Some(reason)))
    }

    /// Notes an answer that is wrong in every reading. It is known if an answer with that defect is recorded,
    /// of the same release: another release can have mended it before.
    fn note_defect(
        &mut self,
        (asked, answer): (Asked, String),
        defect: Defect,
        expected: Option<&Expectation>,
        versions: Versions<'_>,
        defects: Defects<'_>,
    ) -> Check {
        let is = format!("{asked}: {answer}: {}, which is wrong in every reading", defect.meaning());
        let is_recorded = |expected: &&Expectation| {
            let mut recorded = expected.allowed.iter().map(|allowed| defects(&asked, allowed));
            expected.compare(&answer) != Compared::Different && recorded.any(|other| other == Some(defect))
        };
        let of_any_release = expected.filter(is_recorded);
        let recorded = of_any_release.filter(|recorded| recorded.is_measured_on(versions));
        match (recorded, of_any_release.and_then(|recorded| hypothesis(recorded, versions))) {
            (Some(recorded), _) => {
                let source = &recorded.source;
                let url = source.url.as_ref().map(|url| format!(", {url}")).unwrap_or_default();
                self.known_defects.push(format!("{is}; recorded ({}{url})", source.text));
            }
            (None, Some(why)) => self.wrong.push(format!("{is}; {why}")),
            (None, None) => self.wrong.push(is),
        }
        let of_answer = match expected {
            Some(expected) => check(asked, answer, expected, recorded.is_some()),
            None => Check { holds: false, ..unknown(asked, answer) },
        };
        Check { defect: Some(defect), ..of_answer }
    }

    fn compare(
        &mut self,
        asked: Asked,
        answer: String,
        expected: &Expectation,
        versions: Versions<'_>,
        defects: Defects<'_>,
    ) -> Check {
        let compared = expected.compare(&answer);
        if compared == Compared::Different {
            let allowed = expected.allowed.join(" or ");
            let unnamed = if is_unnamed(expected, versions) { UNNAMED } else { "" };
            let differs = format!("{asked}: expected {allowed}, observed {answer}{unnamed}");
            let was_wrong = || expected.allowed.iter().all(|allowed| defects(&asked, allowed).is_some());
            match hypothesis(expected, versions) {
                Some(why) => self.contradicted.push(format!("{differs}; {why}")),
                None if was_wrong() => {
                    self.mended.push(format!("{differs}; the recorded answer is wrong in every reading"));
                }
                None => self.wrong.push(differs),
            }
        }
        check(asked, answer, expected, compared != Compared::Different)
    }
}

/// Joins the reasons: the first one, and the number of others.
fn joined(reasons: &[String]) -> Option<String> {
    let first = reasons.first()?;
    Some(match reasons.len() - 1 {
        0 => first.clone(),
        more => format!("{first}; and {more} more"),
    })
}

/// What is wrong with the source of an adapter's answers without the version of the adapter.
const UNNAMED: &str = "; the kernel's version decides, because the source has no `poller`: add its version";

/// Returns whether a poller has a version, and the source of its answers does not name the measured one.
fn is_unnamed(expected: &Expectation, versions: Versions<'_>) -> bool {
    versions.poller.is_some() && expected.source.poller.is_none()
}

/// Returns why the expectation is a hypothesis for these versions; `None` if it was measured on them.
fn hypothesis(expected: &Expectation, versions: Versions<'_>) -> Option<String> {
    if expected.is_measured_on(versions) {
        return None;
    }
    let source = &expected.source;
    Some(match (&source.poller, versions.poller, &source.version) {
        (Some(measured), Some(tested), _) => {
            format!(
                "the expectation was measured on version {measured} of the poller and is a hypothesis for {tested}"
            )
        }
        (_, _, Some(measured)) => {
            format!("the expectation was measured on {measured} and is a hypothesis here")
        }
        _ => format!("the expectation is a hypothesis with evidence {}", source.evidence),
    })
}

fn check(asked: Asked, observed: String, expected: &Expectation, holds: bool) -> Check {
    let source = &expected.source;
    Check {
        what: asked.to_string(),
        expected: expected.allowed.clone(),
        observed,
        source: source.text.clone(),
        holds,
        asked: Some(asked),
        varies: expected.unstable.map(|why| why.name().to_owned()),
        defect: None,
        evidence: Some(source.evidence),
        url: source.url.clone(),
        since: expected.range.since.as_ref().map(ToString::to_string),
        until: expected.range.until.as_ref().map(ToString::to_string),
    }
}

fn unknown(asked: Asked, observed: String) -> Check {
    Check {
        what: asked.to_string(),
        expected: vec![NOT_KNOWN.into()],
        observed,
        source: "no answer is recorded: `pollmatrix expectations record` records it".into(),
        holds: true,
        asked: Some(asked),
        evidence: Some(Evidence::Unknown),
        ..Check::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "os: linux
source: measured
sources:
  measured: { evidence: M, text: 'measured here', version: '6.18.44' }
  read: { evidence: K, text: 'tcp_poll', url: https://example.org/ }
behaviours:
  V06:
    'tcp':
      poll-IN@level: { answers: ['ERR', 'ERR|HUP'], seen: both, unstable: race }
      poll-OUT@level: { answers: ['e*'], seen: 'exits' }
      poll-events0@level: { answers: ['-', 'HUP'], source: read, since: '6.0' }
      poll@level: 'IN'
      select@level: { answers: ['r--'], unstable: timing }
";

    const OF_ADAPTER: &str = "os: linux
source: measured
sources:
  measured: { evidence: M, text: 'measured here', version: '6.18.44', poller: '1.44.2' }
behaviours:
  V06:
    'tcp':
      libuv@level: 'IN'
";

    fn asked(api: &str, trigger: Option<&str>) -> Asked {
        let (behaviour, variant, api) = ("V06".into(), "tcp".into(), api.into());
        Asked { behaviour, variant, api, trigger: trigger.map(str::to_owned) }
    }

    fn answers() -> Expectations {
        let mut answers = Expectations::default();
        answers.read(FILE, "linux.yml").unwrap();
        answers
    }

    fn observed(version: &str, api: &str, answer: &str) -> Observed {
        observed_by(&answers(), version, None, api, answer)
    }

    /// Only `early` is wrong in every reading.
    fn defects(_: &Asked, answer: &str) -> Option<Defect> {
        answer.starts_with("early").then_some(Defect::Early)
    }

    fn observed_by(
        answers: &Expectations,
        kernel: &str,
        poller: Option<&str>,
        api: &str,
        answer: &str,
    ) -> Observed {
        let kernel = kernel.parse().unwrap();
        let answered = [(asked(api, Some("level")), answer.to_owned())];
        answers.observed(Os::Linux, Versions { kernel: Some(&kernel), poller }, &defects, answered)
    }

    #[test]
    fn a_measurement_on_this_version_decides() {
        let right = observed("6.18.44", "poll", "IN");
        assert_eq!((right.status().0, right.unknown, right.checks[0].holds), (Status::Pass, 0, true));
        let wrong = observed("6.18.44", "poll", "HUP");
        assert_eq!(wrong.status(), (Status::Fail, Some("poll@level: expected IN, observed HUP".into())));
        assert_eq!((wrong.checks[0].holds, wrong.checks[0].evidence), (false, Some(Evidence::Measured)));
    }

    #[test]
    fn a_kernel_of_the_same_minor_version_is_the_same_kernel() {
        for version in ["6.18.43", "6.18.45", "6.18"] {
            assert_eq!(observed(version, "poll", "HUP").status().0, Status::Fail, "{version}");
        }
    }

    #[test]
    fn a_measured_range_separates_patch_levels() {
        let split = FILE.replace(
            "poll@level: 'IN'",
            "poll@level: [{ answers: ['HUP'], source: earlier, until: '6.18.43' }, { answers: ['IN'], since: '6.18.44' }]",
        );
        let sources = "sources:\n  earlier: { evidence: M, text: 'before', version: '6.18.43' }\n";
        let mut answers = Expectations::default();
        answers.read(&split.replace("sources:\n", sources), "linux.yml").unwrap();
        for (version, right, wrong) in
            [("6.18.40", "HUP", "IN"), ("6.18.44", "IN", "HUP"), ("6.18.50", "IN", "HUP")]
        {
            let status = |answer| observed_by(&answers, version, None, "poll", answer).status().0;
            assert_eq!((status(right), status(wrong)), (Status::Pass, Status::Fail), "{version}");
        }
    }

    #[test]
    fn the_version_of_an_adapter_decides_whatever_the_kernel_is() {
        let mut answers = Expectations::default();
        answers.read(OF_ADAPTER, "linux.yml").unwrap();
        let judged = |kernel, poller| {
            let (status, reason) = observed_by(&answers, kernel, poller, "libuv", "HUP").status();
            (status, reason.unwrap_or_default())
        };
        for kernel in ["6.18.44", "6.18.43", "6.1.10"] {
            assert_eq!(judged(kernel, Some("1.44.2")).0, Status::Fail, "{kernel}");
            assert_eq!(judged(kernel, Some("1.44.9")).0, Status::Fail, "{kernel}");
            let (status, reason) = judged(kernel, Some("1.45.0"));
            assert_eq!(status, Status::Permitted, "{kernel}");
            assert!(
                reason.ends_with("measured on version 1.44.2 of the poller and is a hypothesis for 1.45.0"),
                "{reason}"
            );
        }
        // Without a version of the poller, the kernel's decides.
        assert_eq!(judged("6.18.43", None).0, Status::Fail);
        assert_eq!(judged("6.1.10", None).0, Status::Permitted);
    }

    #[test]
    fn a_source_without_the_version_of_its_poller_is_named_as_such() {
        let mut answers = Expectations::default();
        answers.read(&OF_ADAPTER.replace(", poller: '1.44.2'", ""), "linux.yml").unwrap();
        for (kernel, expected) in [("6.18.44", Status::Fail), ("6.1.10", Status::Permitted)] {
            let reason = |poller| {
                let (status, reason) = observed_by(&answers, kernel, poller, "libuv", "HUP").status();
                assert_eq!(status, expected, "{kernel}");
                reason.unwrap_or_default()
            };
            assert!(
                reason(Some("1.44.2")).contains("the source has no `poller`: add its version"),
                "{kernel}"
            );
            assert!(!reason(None).contains("poller"), "{kernel}: the poller does not tell its version");
        }
    }

    #[test]
    fn an_answer_that_is_wrong_in_every_reading_fails_without_an_expectation() {
        let judged = observed("6.18.44", "their-own", "early");
        let reason =
            "their-own@level: early: a wait returned before its timeout, which is wrong in every reading";
        assert_eq!(judged.status(), (Status::Fail, Some(reason.into())));
        assert_eq!((judged.checks[0].holds, judged.checks[0].defect), (false, Some(Defect::Early)));
        // Neither a hypothesis nor numbers that vary nor a pattern excuse it.
        for api in ["poll-events0", "select", "poll-OUT"] {
            assert_eq!(observed("6.18.44", api, "early").status().0, Status::Fail, "{api}");
        }
    }

    fn recorded(answer: &str) -> Expectations {
        let mut recorded = Expectations::default();
        recorded.read(&OF_ADAPTER.replace("'IN'", answer), "linux.yml").unwrap();
        recorded
    }

    #[test]
    fn the_recorded_answer_that_is_wrong_in_every_reading_is_a_known_failure() {
        for (answer, again) in [
            ("'early'", "early"),
            ("{ answers: ['early x17, timed out x3'], unstable: timing }", "early x2, timed out x18"),
            ("{ answers: ['early', 'timed out'], seen: both, unstable: race }", "early"),
        ] {
            let known = recorded(answer);
            for (version, expected, why) in [
                ("1.44.2", Status::KnownFail, "recorded (measured here)"),
                // The fix in between can have been undone.
                ("1.45.0", Status::Fail, "of the poller and is a hypothesis for 1.45.0"),
            ] {
                let judged = observed_by(&known, "6.18.44", Some(version), "libuv", again);
                let (status, reason) = judged.status();
                assert_eq!(status, expected, "{answer}");
                let is_known = status == Status::KnownFail;
                assert_eq!(
                    (judged.checks[0].holds, judged.checks[0].defect),
                    (is_known, Some(Defect::Early))
                );
                let reason = reason.unwrap_or_default();
                assert!(reason.contains("is wrong in every reading; ") && reason.ends_with(why), "{reason}");
            }
        }
        // It is known of this poller only.
        assert_eq!(
            observed_by(&recorded("'early'"), "6.18.44", None, "other", "early").status().0,
            Status::Fail
        );
    }

    #[test]
    fn a_recorded_defect_that_has_gone_is_an_unexpected_pass_where_it_always_occurred() {
        let judged = |answer, version| {
            observed_by(&recorded(answer), "6.18.44", Some(version), "libuv", "timed out").status()
        };
        let reason =
            "libuv@level: expected early, observed timed out; the recorded answer is wrong in every reading";
        assert_eq!(judged("'early'", "1.44.2"), (Status::UnexpectedPass, Some(reason.into())));
        assert_eq!(judged("'early'", "1.45.0").0, Status::Permitted, "it was not measured on this version");
        for sometimes in [
            "{ answers: ['early', 'timed out'], seen: both, unstable: race }",
            "{ answers: ['early x2, timed out x18'], unstable: chance }",
        ] {
            assert_eq!(judged(sometimes, "1.44.2").0, Status::Pass, "{sometimes}");
        }
    }

    #[test]
    fn contradicting_a_hypothesis_is_permitted_with_the_reason() {
        for (version, api, why) in [
            ("6.19.44", "poll", "the expectation was measured on 6.18.44 and is a hypothesis here"),
            ("6.18.44", "poll-events0", "the expectation is a hypothesis with evidence K (kernel source)"),
        ] {
            let (status, reason) = observed(version, api, "OUT").status();
            assert_eq!(status, Status::Permitted, "{version} {api}");
            assert!(reason.as_deref().is_some_and(|reason| reason.ends_with(why)), "{reason:?}");
        }
        let check = &observed("6.18.44", "poll-events0", "OUT").checks[0];
        assert_eq!(
            (check.since.as_deref(), check.url.as_deref()),
            (Some("6.0"), Some("https://example.org/"))
        );
    }

    #[test]
    fn an_answer_that_varies_is_never_wrong() {
        let varies = observed("6.18.44", "select", "---");
        assert_eq!((varies.status().0, varies.checks[0].holds), (Status::Pass, true));
        assert_eq!(varies.checks[0].varies.as_deref(), Some("timing"));
    }

    #[test]
    fn a_race_allows_the_listed_answers_only() {
        let either = observed("6.18.44", "poll-IN", "ERR|HUP");
        assert_eq!((either.status().0, either.checks[0].varies.as_deref()), (Status::Pass, Some("race")));
        assert_eq!(observed("6.18.44", "poll-IN", "HUP").status().0, Status::Fail);
    }

    #[test]
    fn an_answer_without_an_expectation_is_counted_and_not_judged() {
        for (version, api) in [("6.18.44", "epoll-add-before"), ("5.19", "poll-events0")] {
            let unknown = observed(version, api, "IN");
            assert_eq!((unknown.status().0, unknown.unknown), (Status::Pass, 1), "{version} {api}");
            assert_eq!(unknown.checks[0].expected, [NOT_KNOWN]);
        }
    }

    /// An adapter that has closed its copy makes a write fail: this is not the system's answer.
    #[test]
    fn an_answer_that_differs_in_a_cell_of_an_adapter_is_its_side_effect() {
        let (mut answers, version) = (answers(), "6.18.44".parse().unwrap());
        let attributed = |answers: &Expectations, api: &str, trigger, answer| {
            let asked = asked(api, trigger);
            answers.attributed(Os::Linux, Some(&version), "libuv", asked, answer).api
        };
        assert_eq!(attributed(&answers, "poll", Some("level"), "IN"), "poll");
        assert_eq!(attributed(&answers, "poll", Some("level"), "HUP"), "libuv-poll");
        assert_eq!(
            attributed(&answers, "peer-write", None, "EPIPE"),
            "peer-write",
            "the system's is unknown"
        );
        assert_eq!(attributed(&answers, "libuv-add", None, "ok"), "libuv-add");
        let own = FILE.replace("      poll-IN@", "      libuv-poll@level: 'HUP'\n      poll-IN@");
        answers = Expectations::default();
        answers.read(&own, "linux.yml").unwrap();
        assert_eq!(attributed(&answers, "poll", Some("level"), "IN"), "libuv-poll", "it has changed");
        let effect = (asked("libuv-poll", Some("level")), "HUP".to_owned());
        let observed = answers.observed(Os::Linux, Versions::of_kernel(Some(&version)), &defects, [effect]);
        assert_eq!((observed.status().0, observed.unknown), (Status::Pass, 0));
        assert!(observed.answers_in_cell_of("libuv", &asked("poll", Some("level"))));
        assert!(observed.has_answer_of("libuv") && !observed.has_answer_of("poll"));
    }

    #[test]
    fn a_missing_answer_is_always_wrong() {
        let (answers, version) = (answers(), "6.18.45".parse().unwrap());
        let (poll, events0, other) =
            (asked("poll", Some("level")), asked("poll-events0", Some("level")), asked("read", None));
        let answered = [(poll.clone(), "IN".to_owned())];
        let mut observed =
            answers.observed(Os::Linux, Versions::of_kernel(Some(&version)), &defects, answered);
        assert!(observed.answers(&poll) && !observed.answers(&events0) && !observed.answers(&other));
        for missing in [events0, other] {
            let expected = answers.expected(Os::Linux, Some(&version), &missing);
            observed.miss(missing, expected);
        }
        let (status, reason) = observed.status();
        assert_eq!(status, Status::Fail);
        assert_eq!(reason.as_deref(), Some("poll-events0@level: asked, and not answered; and 1 more"));
        let shown: Vec<_> = observed.checks.iter().map(|check| (check.expected.len(), check.holds)).collect();
        assert_eq!(shown, [(1, true), (2, false), (1, false)]);
        assert_eq!(observed.unknown, 0);
    }

    #[test]
    fn the_first_of_several_reasons_is_shown_and_the_others_are_counted() {
        let version = "6.18.44".parse().unwrap();
        let answered = ["OUT", "ERR", "IN"].map(|answer| (asked("poll", Some("level")), answer.to_owned()));
        let versions = Versions::of_kernel(Some(&version));
        let reason = answers().observed(Os::Linux, versions, &defects, answered).status().1;
        assert_eq!(reason.as_deref(), Some("poll@level: expected IN, observed OUT; and 1 more"));
    }
}
