//! `pollmatrix.toml`: what `pollmatrix ci` checks.

use std::ops::Range;
use std::path::{Path, PathBuf};

use metadata::did_you_mean;
use toml_span::de_helpers::TableHelper;
use toml_span::value::ValueInner;
use toml_span::{DeserError, Deserialize, Error as TomlError, ErrorKind, Span, Value};

use crate::args::duration;
use crate::error::Error;

/// The name of the file.
pub const NAME: &str = "pollmatrix.toml";
/// The default folder of expectations.
pub const FOLDER: &str = "pollmatrix-expectations";

/// The contents of the file.
#[derive(Debug)]
pub struct Config {
    /// The commands of the adapters, or the names of built-in libraries.
    pub adapters: Vec<String>,
    /// The folder of expectations, which are read over the built-in ones.
    pub expectations: PathBuf,
    /// How long to explore each adapter beside the interface below it, as it is written: `30s`.
    pub explore: Option<String>,
    /// The file of disagreements that an exploration accepts.
    pub known: Option<PathBuf>,
    /// The accepted differences.
    pub accepted: Vec<Accepted>,
}

/// A difference that is accepted.
#[derive(Debug)]
pub struct Accepted {
    /// The sentence that `pollmatrix ci` prints. A `*` matches any text.
    pub difference: String,
    /// Why it is accepted.
    pub reason: String,
    /// The last day on which it is accepted: `2027-01-31`.
    pub expires: Option<String>,
}

/// Returns the folder of expectations that [`NAME`] in the current folder names, if there is one.
pub fn expectations() -> Result<Option<PathBuf>, Error> {
    let file = Path::new(NAME);
    file.exists().then(|| Config::load(file).map(|config| config.expectations)).transpose()
}

impl Config {
    /// Returns the folder of expectations. None before the first answers are recorded.
    pub fn overlay(&self) -> Option<&Path> {
        Some(self.expectations.as_path()).filter(|folder| folder.is_dir())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or has an error: the first one, with its line.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let help = "`pollmatrix ci --init COMMAND` writes one; --config FILE names another";
        let text = metadata::read_text(path).map_err(matrix::Error::io("read", path, help))?;
        Self::parse(&text).map_err(|error| Problem::of(error).at(&text, path))
    }

    fn parse(text: &str) -> Result<Self, DeserError> {
        Self::deserialize(&mut toml_span::parse(text)?)
    }
}

/// Returns an error of a value.
fn wrong(why: impl Into<String>, span: Span) -> DeserError {
    TomlError::from((ErrorKind::Custom(why.into().into()), span)).into()
}

/// Takes a text that is not empty.
fn text(value: &mut Value<'_>) -> Result<String, DeserError> {
    let span = value.span;
    match value.take_string(None)? {
        text if text.trim().is_empty() => Err(wrong("an empty text", span)),
        text => Ok(text.into_owned()),
    }
}

/// Takes the value of a key, if the table has it.
fn take<T>(
    table: &mut TableHelper<'_>,
    key: &'static str,
    read: impl FnOnce(&mut Value<'_>) -> Result<T, DeserError>,
) -> Result<Option<T>, DeserError> {
    table.take(key).map(|(_, mut value)| read(&mut value)).transpose()
}

/// Takes one text, or a list of texts.
fn texts(value: &mut Value<'_>) -> Result<Vec<String>, DeserError> {
    let span = value.span;
    match value.take() {
        ValueInner::Array(mut all) if !all.is_empty() => all.iter_mut().map(text).collect(),
        ValueInner::Array(_) => Err(wrong("an empty list", span)),
        one => Ok(vec![text(&mut Value::with_span(one, span))?]),
    }
}

/// Takes a duration. Its text becomes an argument.
fn time(value: &mut Value<'_>) -> Result<String, DeserError> {
    let span = value.span;
    let time = text(value)?;
    duration(&time).map_err(|why| wrong(format!("no duration, such as 30s: {why}"), span))?;
    Ok(time)
}

/// Takes a day.
fn day(value: &mut Value<'_>) -> Result<String, DeserError> {
    let span = value.span;
    let day = text(value)?;
    match humantime::parse_rfc3339_weak(&format!("{day} 00:00:00")) {
        Ok(_) => Ok(day),
        Err(_) => Err(wrong(format!("'{day}' is no day, such as 2027-01-31"), span)),
    }
}

fn differences(value: &mut Value<'_>) -> Result<Vec<Accepted>, DeserError> {
    Deserialize::deserialize(value)
}

fn missing(key: &'static str, span: Span) -> DeserError {
    TomlError::from((ErrorKind::MissingField(key), span)).into()
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize(value: &mut Value<'de>) -> Result<Self, DeserError> {
        let span = value.span;
        let mut table = TableHelper::new(value)?;
        let adapters = take(&mut table, "adapter", texts)?;
        let expectations = take(&mut table, "expectations", text)?;
        let explore = take(&mut table, "explore", time)?;
        let known = take(&mut table, "known", text)?.map(PathBuf::from);
        let accepted = take(&mut table, "accepted", differences)?;
        table.finalize(None)?;
        Ok(Self {
            adapters: adapters.ok_or_else(|| missing("adapter", span))?,
            expectations: expectations.unwrap_or_else(|| FOLDER.to_owned()).into(),
            explore,
            known,
            accepted: accepted.unwrap_or_default(),
        })
    }
}

impl<'de> Deserialize<'de> for Accepted {
    fn deserialize(value: &mut Value<'de>) -> Result<Self, DeserError> {
        let span = value.span;
        let mut table = TableHelper::new(value)?;
        let difference = take(&mut table, "difference", text)?;
        let reason = take(&mut table, "reason", text)?;
        let expires = take(&mut table, "expires", day)?;
        table.finalize(None)?;
        Ok(Self {
            difference: difference.ok_or_else(|| missing("difference", span))?,
            reason: reason.ok_or_else(|| missing("reason", span))?,
            expires,
        })
    }
}

/// The first error of a file.
struct Problem {
    span: Span,
    message: String,
    help: String,
}

impl Problem {
    fn of(error: DeserError) -> Self {
        let help = "docs/your-ci.md explains every key".to_owned();
        let Some(error) = error.errors.into_iter().next() else {
            return Self { span: Span::default(), message: "no TOML".into(), help };
        };
        let span = error.span;
        match error.kind {
            ErrorKind::UnexpectedKeys { keys, expected } => {
                let (key, span) = keys.into_iter().next().unwrap_or_default();
                let help = did_you_mean(&key, expected.iter().map(String::as_str));
                Self { span, message: format!("there is no key '{key}'"), help }
            }
            ErrorKind::MissingField(key) => {
                Self { span, message: format!("the key '{key}' is missing"), help }
            }
            ErrorKind::Custom(why) => Self { span, message: why.into_owned(), help },
            ErrorKind::Wanted { expected, found } => {
                Self { span, message: format!("expected {expected}, found {found}"), help }
            }
            kind => Self { span, message: format!("no TOML: {kind}"), help },
        }
    }

    fn at(self, text: &str, path: &Path) -> Error {
        let before: Range<usize> = 0..self.span.start.min(text.len());
        let line = text.as_bytes()[before].iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::Record { path: path.to_path_buf(), line, message: self.message, help: self.help }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line, the message and the help of the error in a text.
    fn refused(text: &str) -> String {
        let error = Problem::of(Config::parse(text).expect_err(text)).at(text, Path::new("p"));
        let Error::Record { help, .. } = &error else { panic!("{error}") };
        format!("{error}; {help}")
    }

    #[test]
    fn one_adapter_is_enough_and_several_are_a_list() {
        let config = Config::parse("adapter = './mine epoll'").unwrap();
        assert_eq!((config.adapters, config.expectations), (vec!["./mine epoll".to_owned()], FOLDER.into()));
        let text = "adapter = ['a', 'b']\nexpectations = 'e'\nexplore = '30s'\nknown = 'k.txt'\n\
                    [[accepted]]\ndifference = 'x: *'\nreason = 'r'\nexpires = '2027-01-31'\n";
        let config = Config::parse(text).unwrap();
        assert_eq!(config.adapters, ["a", "b"]);
        assert_eq!((config.explore.as_deref(), config.known), (Some("30s"), Some("k.txt".into())));
        assert_eq!(config.accepted[0].expires.as_deref(), Some("2027-01-31"));
    }

    #[test]
    fn a_mistake_is_refused_with_its_line() {
        let explained = "docs/your-ci.md explains every key";
        for (text, expected) in [
            ("adapter = 'a'\nadaptor = 'b'", "p:2: there is no key 'adaptor'; did you mean 'adapter'?"),
            ("explore = '3s'", &format!("p:1: the key 'adapter' is missing; {explained}")),
            ("adapter = ''", &format!("p:1: an empty text; {explained}")),
            ("adapter = []", &format!("p:1: an empty list; {explained}")),
            ("\nadapter = 3", &format!("p:2: expected a string, found integer; {explained}")),
        ] {
            assert_eq!(refused(text), expected);
        }
        let accepted = |rest: &str| refused(&format!("adapter = 'a'\n[[accepted]]\n{rest}"));
        assert!(accepted("difference = 'x'").contains("the key 'reason' is missing"));
        assert!(accepted("reason = 'x'").contains("the key 'difference' is missing"));
        let until = accepted("difference = 'x'\nreason = 'y'\nexpires = '2027-02-31'");
        assert!(until.starts_with("p:5: '2027-02-31' is no day, such as 2027-01-31"), "{until}");
        let key = accepted("difference = 'x'\nreason = 'y'\nexpire = '2027-02-01'");
        assert!(key.starts_with("p:5: there is no key 'expire'; did you mean 'expires'?"), "{key}");
        assert!(refused("adapter = 'a'\nexplore = 'soon'").starts_with("p:2: no duration, such as 30s"));
        assert!(refused("adapter = 'a'\n=").starts_with("p:2: expected a table key, found "));
        assert!(refused("adapter = 'a").starts_with("p:1: no TOML: "));
    }
}
