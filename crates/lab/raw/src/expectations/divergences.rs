//! Contract checks that are known not to hold somewhere: `expectations/divergences.yml`.

use std::path::Path;

use matrix::Matrix;
use metadata::{Evidence, Os, did_you_mean};
use serde::Deserialize;
use serde_saphyr::{Location, Spanned};

use crate::expectations::answers::is_overlay;
use crate::expectations::error::ExpectationsError;
use crate::expectations::file::matches_pattern;
use crate::expectations::version::{Range, Version};

/// A check of some cells that does not hold on some versions of an operating system, with the documentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The cells: an id in which each `*` matches any text.
    pub cells: String,
    /// The system.
    pub os: Os,
    /// The versions of the system's kernel.
    pub range: Range,
    /// The subject of the check, in which each `*` matches any text.
    pub check: String,
    /// The accepted observations; each `*` matches any text.
    pub observed: Vec<String>,
    /// The kind of divergence.
    pub kind: Kind,
    /// How often it occurs.
    pub expect: Frequency,
    /// A description of the source.
    pub source: String,
    /// The kind of evidence.
    pub evidence: Evidence,
    /// A page with details. A bug always has one.
    pub url: Option<String>,
    /// The file, line and column of the entry.
    position: Position,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Position {
    file: String,
    at: Location,
}

/// The kinds of divergences.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A permitted difference of the system.
    Permitted,
    /// A reported bug: the failure is expected.
    KnownFail,
}

/// How often a divergence occurs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frequency {
    /// In every run: a pass is unexpected and means that the entry is out of date.
    Always,
    /// In some runs: it depends on a race or on another condition that the scenario does not force.
    Sometimes,
}

impl Divergence {
    /// Returns whether it applies to this cell on this version of this system.
    pub(crate) fn applies_to(&self, cell: &str, os: Os, version: Option<&Version>) -> bool {
        self.os == os && self.range.contains(version) && matches_pattern(&self.cells, cell)
    }

    /// Returns the file and line of the entry.
    pub fn location(&self) -> String {
        format!("{}:{}", self.position.file, self.position.at.line())
    }

    /// Returns location, evidence, source and URL for the reason of a result.
    pub(crate) fn documented(&self) -> String {
        let url = self.url.as_deref().map(|url| format!(", {url}")).unwrap_or_default();
        format!("{} ({}: {}{url})", self.location(), self.evidence.meaning(), self.source)
    }
}

/// All divergences, in the order of the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Divergences(Vec<Divergence>);

impl Divergences {
    /// Reads `divergences.yml` in `dir`, or the built-in one if it is an [overlay](is_overlay).
    ///
    /// # Errors
    /// The file cannot be read, or has an error: see [`Divergences::parse`].
    pub fn load(dir: &Path) -> Result<Self, ExpectationsError> {
        if is_overlay(dir)? {
            return Self::parse_built_in();
        }
        let path = dir.join("divergences.yml");
        let text = metadata::read_text(&path)
            .map_err(|source| ExpectationsError::Read { path: path.clone(), source })?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Parses and checks divergences. `file` is the name for errors and reasons.
    ///
    /// # Errors
    /// The first error, with line, column and help.
    pub fn parse(text: &str, file: &str) -> Result<Self, ExpectationsError> {
        let parsed: DivergencesText = ExpectationsError::read_yaml(text, file)?;
        let mut divergences: Vec<Divergence> = Vec::new();
        for Spanned { value, referenced: at, .. } in parsed.divergences {
            let divergence = value.check(file, at)?;
            let same = |other: &&Divergence| {
                (&other.cells, other.os, &other.check)
                    == (&divergence.cells, divergence.os, &divergence.check)
                    && other.range.overlaps(&divergence.range)
            };
            if let Some(other) = divergences.iter().find(same) {
                let message = format!("the same cells and check as in line {}", other.position.at.line());
                let help = "merge them, or give them `since` and `until` that do not overlap";
                return Err(ExpectationsError::at(file, at, message, help));
            }
            divergences.push(divergence);
        }
        Ok(Self(divergences))
    }

    /// Returns the divergences.
    pub fn iter(&self) -> std::slice::Iter<'_, Divergence> {
        self.0.iter()
    }

    /// Checks that each divergence applies to existing contract cells that can run on its system.
    ///
    /// # Errors
    /// The first divergence that does not.
    pub fn check_cells(&self, matrix: &Matrix) -> Result<(), ExpectationsError> {
        let cells = matrix.cells();
        for divergence in &self.0 {
            let wrong = |message: String, help: String| {
                Err(ExpectationsError::at(&divergence.position.file, divergence.position.at, message, help))
            };
            let matching: Vec<_> = cells
                .iter()
                .filter(|cell| matches_pattern(&divergence.cells, &cell.id.to_string()))
                .collect();
            if matching.is_empty() {
                let ids: Vec<_> = cells.iter().map(|cell| cell.id.to_string()).collect();
                let help = match metadata::nearest(&divergence.cells, ids.iter().map(String::as_str)) {
                    Some(near) => did_you_mean(near, [near]),
                    None => "`pollmatrix list` shows every id; `*` matches any text".to_owned(),
                };
                return wrong(format!("no cell matches '{}'", divergence.cells), help);
            }
            if let Some(cell) = matching.iter().find(|cell| cell.layer != metadata::Layer::Contract) {
                let message = format!("{} is a {} cell", cell.id, cell.layer);
                return wrong(
                    message,
                    "such cells record answers and cannot diverge: name contract cells only".into(),
                );
            }
            let exists = |backend: &str| {
                matrix.backend(backend).is_some_and(|backend| backend.exists_on(divergence.os.name()))
            };
            if let Some(cell) = matching.iter().find(|cell| !exists(&cell.id.backend)) {
                let message = format!("{} cannot be run on {}", cell.id, divergence.os);
                return wrong(message, format!("name a backend of {}: '…@BACKEND'", divergence.os));
            }
        }
        Ok(())
    }
}

/// The text form of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DivergencesText {
    divergences: Vec<Spanned<DivergenceText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DivergenceText {
    cells: Spanned<String>,
    os: Os,
    since: Option<Version>,
    until: Option<Spanned<Version>>,
    check: Spanned<String>,
    observed: Vec<Spanned<String>>,
    kind: Kind,
    expect: Frequency,
    source: Spanned<String>,
    evidence: Evidence,
    url: Option<String>,
}

impl DivergenceText {
    fn check(self, file: &str, at: Location) -> Result<Divergence, ExpectationsError> {
        let wrong =
            |at: Location, message: String, help: &str| Err(ExpectationsError::at(file, at, message, help));
        if !self.cells.value.contains('@') || self.cells.value.starts_with('*') {
            let message = format!("'{}' does not name cells", self.cells.value);
            return wrong(
                self.cells.referenced,
                message,
                "write FAMILY/NAME/VARIANT@BACKEND; `*` matches any text",
            );
        }
        let is_unspecific = |text: &str| text.chars().all(|c| c == '*' || c.is_whitespace());
        if is_unspecific(&self.check.value) {
            let help = "name the check as `pollmatrix show CELL` does; `*` matches any text";
            return wrong(self.check.referenced, "the check has no name".into(), help);
        }
        let help = "give the observations; `*` matches the parts that can differ";
        match self.observed.iter().find(|observed| is_unspecific(&observed.value)) {
            Some(observed) => {
                return wrong(observed.referenced, "the entry permits every observation".into(), help);
            }
            None if self.observed.is_empty() => {
                return wrong(at, "the entry permits no observation".into(), help);
            }
            None => {}
        }
        if self.source.value.trim().is_empty() {
            let help = "name the documentation: a manual page, a commit, a measurement";
            return wrong(self.source.referenced, "a divergence without a source".into(), help);
        }
        if self.kind == Kind::KnownFail && self.url.is_none() {
            return wrong(at, "a known bug without a URL".into(), "give the `url` where it is reported");
        }
        let until_at = self.until.as_ref().map(|until| until.referenced);
        let range = Range { since: self.since, until: self.until.map(|until| until.value) };
        if range.is_empty() {
            let message = format!("no version is in {range}");
            return wrong(
                until_at.unwrap_or(at),
                message,
                "`since` is the first version and `until` the last one",
            );
        }
        Ok(Divergence {
            cells: self.cells.value,
            os: self.os,
            range,
            check: self.check.value,
            observed: self.observed.into_iter().map(|observed| observed.value).collect(),
            kind: self.kind,
            expect: self.expect,
            source: self.source.value,
            evidence: self.evidence,
            url: self.url,
            position: Position { file: file.to_owned(), at },
        })
    }
}

#[cfg(test)]
mod tests {
    use metadata::{Axes, Description, Layer};

    use super::*;

    const MATRIX: &str = "version: 2
defaults: { timeout: 9 }
backends:
  - { id: epoll, os: [linux], triggers: [level] }
  - { id: poll, os: all, triggers: [level] }
targets:
  - { id: here, triple: here, os: linux, arch: x86_64, runners: [native] }
scenarios:
  - id: group/*
";

    /// The scenarios that the matrix names.
    const CATALOGUE: [Description; 2] = [
        Description { id: "group/one", title: "One", layer: Layer::Contract, axes: Axes::PLAIN },
        Description { id: "group/two", title: "Two", layer: Layer::Characterisation, axes: Axes::PLAIN },
    ];

    /// One entry, with `changes` made to its lines: `KEY: VALUE` replaces or adds, `-KEY` removes.
    fn entry(changes: &[&str]) -> String {
        let mut lines = vec![
            "cells: group/one/*@poll",
            "os: freebsd",
            "check: the answer",
            "observed: ['41']",
            "kind: permitted",
            "expect: sometimes",
            "source: poll(2)",
            "evidence: D",
        ];
        for change in changes {
            let key = change.trim_start_matches('-').split(':').next().unwrap();
            lines.retain(|line| line.split(':').next() != Some(key));
            if !change.starts_with('-') {
                lines.push(change);
            }
        }
        format!("  - {}\n", lines.join("\n    "))
    }

    fn parse(entries: &[String]) -> Result<Divergences, ExpectationsError> {
        Divergences::parse(&format!("divergences:\n{}", entries.concat()), "d.yml")
    }

    #[track_caller]
    fn refused(result: Result<impl Sized, ExpectationsError>, texts: &[&str]) {
        let Err(error) = result else { panic!("the entry is accepted") };
        let message = format!("{error}\n{}", error.help());
        for text in texts {
            assert!(message.contains(text), "expected {text:?} in {message}");
        }
    }

    #[test]
    fn an_entry_is_parsed() {
        let read = parse(&[entry(&["since: '14'", "until: 14.1"])]).unwrap();
        let only = read.iter().next().unwrap();
        assert_eq!((only.os, only.kind, only.expect), (Os::FreeBsd, Kind::Permitted, Frequency::Sometimes));
        assert_eq!((only.range.to_string(), only.location()), ("14 to 14.1".into(), "d.yml:2".into()));
        assert!(parse(&["  []\n".into()]).unwrap().iter().next().is_none());
    }

    #[test]
    fn a_misspelt_word_gets_a_position_and_a_suggestion() {
        refused(
            parse(&[entry(&["sinse: '14'"])]),
            &["d.yml:10:5: unknown field `sinse`", "did you mean 'since'?"],
        );
        refused(
            parse(&[entry(&["os: frebsd"])]),
            &["d.yml:9:9:", "unknown operating system 'frebsd'", "'freebsd'?"],
        );
        refused(
            parse(&[entry(&["kind: knwon-fail"])]),
            &["unknown variant `knwon-fail`", "did you mean 'known-fail'?"],
        );
        refused(parse(&[entry(&["expect: alway"])]), &["did you mean 'always'?"]);
        refused(parse(&[entry(&["evidence: X"])]), &["unknown evidence 'X'", "M (measured)"]);
        refused(parse(&[entry(&["since: soon"])]), &["'soon' is not a version"]);
    }

    #[test]
    fn an_entry_without_content_is_refused() {
        refused(parse(&[entry(&["cells: '*@poll'"])]), &["d.yml:9:12: '*@poll' does not name cells"]);
        refused(parse(&[entry(&["cells: group/one"])]), &["FAMILY/NAME/VARIANT@BACKEND"]);
        refused(parse(&[entry(&["check: '*'"])]), &["the check has no name"]);
        refused(parse(&[entry(&["observed: ['41', '*']"])]), &["permits every observation"]);
        refused(parse(&[entry(&["observed: []"])]), &["permits no observation"]);
        refused(parse(&[entry(&["source: ' '"])]), &["without a source"]);
        refused(
            parse(&[entry(&["os: [freebsd]"])]),
            &["d.yml:9:9: expected string scalar", "docs/expectations.md"],
        );
        refused(parse(&[entry(&["-source"])]), &["missing field `source`"]);
        refused(parse(&[entry(&["kind: known-fail"])]), &["a known bug without a URL"]);
    }

    #[test]
    fn ranges_must_have_versions_and_not_overlap() {
        refused(
            parse(&[entry(&["since: '14.1'", "until: '14.0'"])]),
            &["d.yml:11:12: no version is in 14.1 to 14.0"],
        );
        refused(parse(&[entry(&["until: '14'"]), entry(&["since: '14.1'"])]), &["as in line 2", "d.yml:11:"]);
        assert_eq!(parse(&[entry(&["until: '14'"]), entry(&["since: '15'"])]).unwrap().iter().count(), 2);
        assert_eq!(parse(&[entry(&[]), entry(&["os: macos"])]).unwrap().iter().count(), 2);
    }

    #[test]
    fn cells_must_exist_be_contract_cells_and_run_on_the_system() {
        let matrix = Matrix::parse(MATRIX, "m.yml", &CATALOGUE).unwrap();
        let check = |changes: &[&str]| parse(&[entry(changes)]).unwrap().check_cells(&matrix);
        check(&[]).unwrap();
        refused(check(&["cells: group/oen/*@poll"]), &["d.yml:2:", "no cell matches", "'group/one/"]);
        refused(check(&["cells: group/*@poll"]), &["is a characterisation cell"]);
        refused(check(&["cells: group/one/*@*"]), &["@epoll cannot be run on freebsd"]);
        check(&["cells: group/one/*@*", "os: linux"]).unwrap();
    }
}
