//! Adds new answers to the file of a system. People write and review this file: the rest of its text does not
//! change.

use std::fmt::Write;
use std::sync::Arc;

use metadata::{Asked, Column, Evidence, Os, Word};

use crate::expectations::answers::{Compared, Expectation, Expectations};
use crate::expectations::error::ExpectationsError;
use crate::expectations::error_numbers::with_usual_names;
use crate::expectations::version::{Range, Version};

/// Measured answers of one system, with their source.
pub struct Recording {
    /// The system.
    pub os: Os,
    /// Its version.
    pub version: Version,
    /// The version of the poller, if it is not one of the system's own.
    pub poller: Option<String>,
    /// The words of the poller, if it is not one of the system's own, and what it is built over.
    pub column: Option<Column>,
    /// The key of the source in the file: `recorded-6.18.44-x86_64-0123456`.
    pub source: String,
    /// A description of the source.
    pub text: String,
    /// The questions, each with its answers and their counts.
    pub answers: Vec<(Asked, Vec<(String, usize)>)>,
    /// Replace a different answer of the same version, too: that of a poller that is being changed.
    pub replaces: bool,
}

/// The result of recording one answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Recorded {
    /// The question had no expectation: the answer was added.
    Added,
    /// The answer replaces a different hypothesis, or that of another version of the poller. That becomes a
    /// note.
    Replaced(String),
    /// Another version was measured with a different answer: both get a range of versions.
    Bounded(String),
    /// The answer is the expected one.
    Known,
    /// The answer contradicts a measurement on this version. It is not recorded: one of the two is wrong.
    Contradicts(String),
    /// The answer is not recorded: the entry is too complex for automatic editing.
    ByHand(String),
}

/// Returns the text of a file with the answers of a recording, and the result for each.
///
/// `file` is the file's name, for errors. An empty text becomes a new file.
///
/// # Errors
/// The file has an error, or another layout: it must have one line per key, and two more spaces per level.
pub fn record(
    text: &str,
    file: &str,
    recording: &Recording,
) -> Result<(String, Vec<Recorded>), ExpectationsError> {
    let text = if text.is_empty() { recording.empty_file() } else { text.to_owned() };
    let mut before = Expectations::default();
    before.read(&text, file)?;
    let recording = &recording.with_usual_names();
    let mut written = File::parse(&text, file)?;
    let usual = written.usual();
    let mut results = Vec::with_capacity(recording.answers.len());
    for (asked, counts) in &recording.answers {
        let result = recording.decide(&before, asked, counts);
        let key = Key { asked, written: written.find(asked), usual: &usual };
        match recording.line(&before, &key, counts, &result) {
            Some(line) => {
                written.put(asked, line);
                results.push(result);
            }
            None => results.push(match result {
                Recorded::Added | Recorded::Replaced(_) | Recorded::Bounded(_) => {
                    Recorded::ByHand("the entry has several answers, or a range of versions".into())
                }
                other => other,
            }),
        }
    }
    let changes =
        |result: &Recorded| matches!(result, Recorded::Added | Recorded::Replaced(_) | Recorded::Bounded(_));
    let (is_declared, has_changes) = (written.declare(recording), results.iter().any(changes));
    if !is_declared && !has_changes {
        return Ok((text, results));
    }
    if has_changes {
        written.add_source(recording);
    }
    let after_text = written.text();
    let mut after = Expectations::default();
    after.read(&after_text, file)?;
    recording.check(&before, &after, &results, file)?;
    Ok((after_text, results))
}

/// A question, and its line in the file.
struct Key<'a> {
    asked: &'a Asked,
    written: Option<String>,
    /// The file's source for answers that name none.
    usual: &'a str,
}

impl Recording {
    /// Names errors as the files do.
    fn with_usual_names(&self) -> Self {
        let usual = |(answer, count): &(String, usize)| (with_usual_names(self.os, answer), *count);
        let answers =
            self.answers.iter().map(|(asked, counts)| (asked.clone(), counts.iter().map(usual).collect()));
        let (version, poller, column) = (self.version.clone(), self.poller.clone(), self.column.clone());
        let (source, text) = (self.source.clone(), self.text.clone());
        let (os, replaces) = (self.os, self.replaces);
        Self { os, version, poller, column, source, text, answers: answers.collect(), replaces }
    }

    fn find<'a>(&self, answers: &'a Expectations, asked: &Asked) -> Option<&'a Expectation> {
        answers.expected(self.os, Some(&self.version), asked)
    }

    fn decide(&self, before: &Expectations, asked: &Asked, counts: &[(String, usize)]) -> Recorded {
        let Some(known) = self.find(before, asked) else { return Recorded::Added };
        if counts.iter().all(|(answer, _)| known.compare(answer) != Compared::Different) {
            return Recorded::Known;
        }
        let allowed = known.allowed.join(" or ");
        match (&known.source.poller, &known.source.version) {
            // Another version of the poller: its answers are no longer those of the old one.
            (Some(measured), _) if self.poller.as_ref().is_some_and(|poller| poller != measured) => {
                Recorded::Replaced(format!("{allowed} of version {measured}"))
            }
            _ if known.is_measured_on_patch_level(&self.version) && self.replaces => {
                Recorded::Replaced(allowed)
            }
            _ if known.is_measured_on_patch_level(&self.version) => Recorded::Contradicts(allowed),
            (_, Some(version)) => Recorded::Bounded(format!("{allowed} on {version}")),
            (_, None) => Recorded::Replaced(format!("{allowed} ({})", known.source.evidence.letter())),
        }
    }

    /// Returns the new line for a key. `None` if the line does not change, or is too complex to edit.
    fn line(
        &self,
        before: &Expectations,
        key: &Key<'_>,
        counts: &[(String, usize)],
        result: &Recorded,
    ) -> Option<String> {
        let mut answers: Vec<_> = counts.iter().map(|(answer, _)| quoted(answer)).collect();
        answers.sort();
        let mut value = format!("answers: [{}]", answers.join(", "));
        let plain = match answers.as_slice() {
            [answer] if self.source == key.usual => answer.clone(),
            _ => String::new(),
        };
        if counts.len() > 1 {
            let seen: Vec<_> = counts.iter().map(|(answer, count)| format!("{answer} x{count}")).collect();
            let _ = write!(value, ", seen: {}", quoted(&seen.join("; ")));
        }
        let _ = write!(value, ", source: {}", self.source);
        let old = || self.find(before, key.asked).filter(|old| old.range == Range::default());
        let value = match (result, &key.written) {
            (Recorded::Added, None) if !plain.is_empty() => plain,
            (Recorded::Added, None) => format!("{{ {value} }}"),
            (Recorded::Replaced(_), Some(_)) => {
                let old = old()?;
                let note = format!("expected before: {}; {}", old.allowed.join(" or "), old.source.text);
                format!("{{ {value}, note: {} }}", quoted(&note))
            }
            (Recorded::Bounded(_), Some(written)) => {
                let measured = old()?.source.version.clone()?;
                let (earlier, later) = match measured.is_since(&self.version) {
                    true => (&self.version, &measured),
                    false => (&measured, &self.version),
                };
                let bounded = |value: String, version: &Version| match version == earlier {
                    true => format!("{{ {value}, until: '{version}' }}"),
                    false => format!("{{ {value}, since: '{later}' }}"),
                };
                let mut both = [
                    (bounded(inner(written)?, &measured), &measured),
                    (bounded(value, &self.version), &self.version),
                ];
                both.sort_by_key(|(_, version)| *version != earlier);
                format!("[{}, {}]", both[0].0, both[1].0)
            }
            _ => return None,
        };
        Some(format!("      {}: {value}", key_text(&key.asked.api_and_trigger())))
    }

    /// Checks that the new text has the old expectations and the recorded answers, and nothing else.
    fn check(
        &self,
        before: &Expectations,
        after: &Expectations,
        results: &[Recorded],
        file: &str,
    ) -> Result<(), ExpectationsError> {
        let is_new = |answer: &Expectation| self.answers.iter().any(|(asked, _)| answer.is_to(asked));
        let old = |answers: &Expectations| -> Vec<Expectation> {
            let of_system = answers.systems().find(|(os, _)| *os == self.os).map_or(&[][..], |(_, all)| all);
            of_system.iter().filter(|answer| !is_new(answer)).map(Expectation::without_words).collect()
        };
        let written = self.answers.iter().zip(results).all(|((asked, counts), result)| {
            let found = self.find(after, asked);
            let then = self.find(before, asked);
            let is_written = found.is_some_and(|found| {
                found.is_measured_on_patch_level(&self.version)
                    && found.source.text == self.text
                    && counts.iter().all(|(answer, _)| found.compare(answer) == Compared::Same)
            });
            // On its own version, the old answer must still hold.
            let is_kept = then.is_some_and(|then| {
                let there = after.expected(self.os, then.source.version.as_ref(), asked);
                there.is_some_and(|there| there.allowed == then.allowed && there.source == then.source)
            });
            match result {
                Recorded::Added | Recorded::Replaced(_) => is_written,
                Recorded::Bounded(_) => is_written && is_kept,
                _ => found.map(Expectation::without_words) == then.map(Expectation::without_words),
            }
        });
        if old(before) == old(after) && written {
            return Ok(());
        }
        Err(unusual(file, 1, "the new text does not have the recorded answers"))
    }

    fn empty_file(&self) -> String {
        format!(
            "# The answers of the pollers of {os}. docs/expectations.md explains how to read this file and how to add to it.\n\
             os: {os}\n{column}source: {name}\nsources:\n{source}behaviours: {{}}\n",
            os = self.os,
            column = self.column_lines().map(|line| line + "\n").collect::<String>(),
            name = self.source,
            source = self.source_lines().join("\n") + "\n"
        )
    }

    /// Returns the lines of the head that declare the words of the poller.
    fn column_lines(&self) -> impl Iterator<Item = String> {
        let column = self.column.as_ref();
        let over = column.and_then(|column| column.over).map(|over| format!("over: {over}"));
        let word =
            |(word, means): (&String, &Word)| format!("{}: {}", quoted(word), quoted(&means.to_string()));
        let words = column.map(|column| column.words.iter().map(word).collect::<Vec<_>>().join(", "));
        over.into_iter().chain(words.map(|words| format!("words: {{ {words} }}")))
    }

    fn source_lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("  {}:", self.source),
            format!("    evidence: {}", Evidence::Measured.letter()),
            format!("    text: {}", quoted(&self.text)),
            format!("    version: '{}'", self.version),
        ];
        lines.extend(self.poller.as_ref().map(|version| format!("    poller: {}", quoted(version))));
        lines
    }
}

impl Expectation {
    /// Returns it without the words of its file, which a recording may change.
    fn without_words(&self) -> Self {
        Self { column: Arc::default(), ..self.clone() }
    }

    /// Returns whether it answers this question.
    fn is_to(&self, asked: &Asked) -> bool {
        (&self.behaviour, &self.variant, &self.api, &self.trigger)
            == (&asked.behaviour, &asked.variant, &asked.api, &asked.trigger)
    }
}

/// A key with its sub-entries.
struct Entry {
    key: String,
    /// Comments and empty lines before it, and its own line.
    lines: Vec<String>,
    below: Vec<Entry>,
}

/// A file as lines.
struct File {
    /// The lines before `behaviours:`.
    head: Vec<String>,
    behaviours: Vec<Entry>,
    /// Comments at the end.
    tail: Vec<String>,
    /// The keys of the sources.
    sources: Vec<String>,
}

impl File {
    fn parse(text: &str, file: &str) -> Result<Self, ExpectationsError> {
        let mut lines = text.lines().enumerate();
        let mut head = Vec::new();
        for (_, line) in lines.by_ref() {
            if line.starts_with("behaviours:") {
                break;
            }
            head.push(line.to_owned());
        }
        let sources = head.iter().filter(|line| indent(line) == 2).filter_map(|line| key_of(line)).collect();
        let mut parsed = Self { head, behaviours: Vec::new(), tail: Vec::new(), sources };
        for (index, line) in lines {
            parsed.tail.push(line.to_owned());
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let lines = std::mem::take(&mut parsed.tail);
            let entry = |key| Entry { key, lines, below: Vec::new() };
            let level = match indent(line) {
                2 => Some(&mut parsed.behaviours),
                4 => parsed.behaviours.last_mut().map(|behaviour| &mut behaviour.below),
                6 => parsed
                    .behaviours
                    .last_mut()
                    .and_then(|behaviour| behaviour.below.last_mut())
                    .map(|state| &mut state.below),
                _ => None,
            };
            let (Some(level), Some(key)) = (level, key_of(line)) else {
                return Err(unusual(file, index + 1, "this line has a layout that cannot be edited"));
            };
            level.push(entry(key));
        }
        Ok(parsed)
    }

    /// Returns the source of answers that name none.
    fn usual(&self) -> String {
        let named = self.head.iter().find_map(|line| line.strip_prefix("source: "));
        named.unwrap_or_default().trim().to_owned()
    }

    /// Returns the line of a key.
    fn find(&self, asked: &Asked) -> Option<String> {
        let in_level = |level: &'_ [Entry], key: &str| level.iter().position(|entry| entry.key == key);
        let behaviour = &self.behaviours[in_level(&self.behaviours, &asked.behaviour)?];
        let state = &behaviour.below[in_level(&behaviour.below, &asked.variant)?];
        let entry = &state.below[in_level(&state.below, &asked.api_and_trigger())?];
        entry.lines.last().cloned()
    }

    /// Inserts a line at the position of its key, or replaces the existing one.
    fn put(&mut self, asked: &Asked, line: String) {
        let behaviour = level(&mut self.behaviours, &asked.behaviour, || {
            format!("  {}:", behaviour_text(&asked.behaviour))
        });
        let state =
            level(&mut behaviour.below, &asked.variant, || format!("    {}:", quoted(&asked.variant)));
        let entry = level(&mut state.below, &asked.api_and_trigger(), || line.clone());
        if let Some(last) = entry.lines.last_mut() {
            *last = line;
        }
    }

    /// Puts the words of the poller into the head. Returns whether that changes it.
    fn declare(&mut self, recording: &Recording) -> bool {
        let lines: Vec<_> = recording.column_lines().collect();
        let (old, mut head): (Vec<_>, Vec<_>) =
            self.head.drain(..).partition(|line| line.starts_with("over: ") || line.starts_with("words: "));
        let is_new = !lines.is_empty() && lines != old;
        let at = head.iter().position(|line| line.starts_with("os: ")).map_or(head.len(), |os| os + 1);
        head.splice(at..at, if is_new { lines } else { old });
        self.head = head;
        is_new
    }

    fn add_source(&mut self, recording: &Recording) {
        if !self.sources.contains(&recording.source) {
            self.head.extend(recording.source_lines());
        }
    }

    fn text(&self) -> String {
        fn write(out: &mut String, entries: &[Entry]) {
            for entry in entries {
                entry.lines.iter().for_each(|line| *out += &format!("{line}\n"));
                write(out, &entry.below);
            }
        }
        let mut out = self.head.iter().fold(String::new(), |out, line| out + line + "\n");
        out.push_str("behaviours:\n");
        write(&mut out, &self.behaviours);
        self.tail.iter().for_each(|line| out += &format!("{line}\n"));
        out
    }
}

/// Returns the entry of a key. Inserts a missing one in byte order.
fn level<'a>(entries: &'a mut Vec<Entry>, key: &str, line: impl FnOnce() -> String) -> &'a mut Entry {
    let place = entries.partition_point(|entry| entry.key.as_str() < key);
    if entries.get(place).is_none_or(|entry| entry.key != key) {
        entries.insert(place, Entry { key: key.to_owned(), lines: vec![line()], below: Vec::new() });
    }
    &mut entries[place]
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the key at the beginning of a line.
fn key_of(line: &str) -> Option<String> {
    let text = line.trim_start();
    let Some(rest) = text.strip_prefix('\'') else {
        let end = text.find(": ").or_else(|| text.strip_suffix(':').map(str::len))?;
        return Some(text[..end].to_owned());
    };
    let mut key = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '\'' if characters.as_str().starts_with('\'') => {
                characters.next();
                key.push('\'');
            }
            '\'' => return characters.as_str().starts_with(':').then_some(key),
            character => key.push(character),
        }
    }
}

/// Returns the text between the braces of a line's value; for a plain value, the equivalent text. `None` for
/// a list.
fn inner(line: &str) -> Option<String> {
    let key = key_of(line)?;
    let text = line.trim_start();
    let after = if text.starts_with('\'') { quoted(&key).len() } else { key.len() };
    let value = text[after..].strip_prefix(':')?.trim();
    if let Some(inner) = value.strip_prefix('{').and_then(|value| value.strip_suffix('}')) {
        return Some(inner.trim().to_owned());
    }
    value.starts_with('\'').then(|| format!("answers: [{value}]"))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Quotes the id of a behaviour if YAML would read it as a number, such as 2.7.
fn behaviour_text(behaviour: &str) -> String {
    if behaviour.starts_with(|first: char| first.is_ascii_alphabetic()) {
        behaviour.to_owned()
    } else {
        quoted(behaviour)
    }
}

fn key_text(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@+-()=. /|".contains(c);
    let begins_well = key.starts_with(|first: char| first.is_ascii_alphabetic());
    if begins_well && key.chars().all(plain) && !key.ends_with(' ') { key.to_owned() } else { quoted(key) }
}

fn unusual(file: &str, line: usize, message: &str) -> ExpectationsError {
    ExpectationsError::Malformed {
        file: file.to_owned(),
        line: line as u64,
        column: 1,
        message: message.to_owned(),
        help: "add the answers by hand, or write one line per key, with two more spaces per level".into(),
    }
}

#[cfg(test)]
mod tests;
