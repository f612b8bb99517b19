//! Reads YAML files. The messages are the parser's own.

use metadata::did_you_mean;
use serde::de::DeserializeOwned;
use serde_saphyr::{Error, Location, MessageFormatter, UserMessageFormatter};

/// An error in a YAML text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct YamlError {
    /// The line, counted from 1.
    pub line: u64,
    /// The column, counted from 1.
    pub column: u64,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: String,
}

/// Reads a text. `keys` names the place that explains the keys: it is the help of errors without a more
/// specific one.
///
/// # Errors
/// The first problem of the text.
pub fn read_yaml<T: DeserializeOwned>(text: &str, keys: &str) -> Result<T, YamlError> {
    serde_saphyr::from_str(text).map_err(|error| {
        let at = error.location().unwrap_or(Location::UNKNOWN);
        let error = error.without_snippet();
        let help = match error {
            Error::SerdeUnknownField { field, expected, .. } => did_you_mean(field, expected.iter().copied()),
            Error::SerdeUnknownVariant { variant, expected, .. } => {
                did_you_mean(variant, expected.iter().copied())
            }
            _ => keys.to_owned(),
        };
        let message = UserMessageFormatter.format_message(error).into_owned();
        YamlError { line: at.line().max(1), column: at.column().max(1), message, help }
    })
}
