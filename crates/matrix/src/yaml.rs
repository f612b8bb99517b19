//! Reads YAML files. Error messages use the terms of the files' documentation, never those of the YAML
//! library.

use metadata::did_you_mean;
use serde::de::DeserializeOwned;
use serde_saphyr::granit_parser::ErrorKind;
use serde_saphyr::{Error, ExternalMessageSource, Location};

/// The last line of every file, YAML's end of a document. A truncated file does not have it.
pub const END: &str = "...";
/// The longest quote of a file in a message, in characters.
const LONGEST: usize = 60;

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

/// Reads a text whose last line is `...`. `keys` names the place that explains the keys: it is the help of
/// errors without a more specific one.
///
/// # Errors
/// The first problem of the text.
pub fn read_yaml<T: DeserializeOwned>(text: &str, keys: &str) -> Result<T, YamlError> {
    check_end(text)?;
    serde_saphyr::from_str(text).map_err(|error| {
        let at = error.location().unwrap_or(Location::UNKNOWN);
        let (line, column) = (at.line().max(1), at.column().max(1));
        let place = Place::find(text, line, column);
        let (message, help) = explain(error.without_snippet(), &place);
        YamlError { line, column, message, help: help.unwrap_or_else(|| keys.to_owned()) }
    })
}

/// Checks that the text ends with [`END`]. A truncated copy is often well-formed YAML with a shorter list.
fn check_end(text: &str) -> Result<(), YamlError> {
    let has_content =
        |(_, line): &(usize, &str)| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let mut lines = (1..).zip(text.lines()).filter(has_content);
    if lines.any(|(_, line)| line.trim_end() == END) {
        let Some((line, _)) = lines.next() else { return Ok(()) };
        let (message, help) = two_parts();
        return Err(YamlError { line: line as u64, column: 1, message, help: help.unwrap_or_default() });
    }
    let line = text.lines().count().max(1) as u64;
    let column = text.lines().last().unwrap_or_default().chars().count() as u64 + 1;
    let message = match text.trim().is_empty() {
        true => "the file is empty".to_owned(),
        false => format!("the file ends here, without the line `{END}`: a part of it may be missing"),
    };
    let help = format!("get the whole file again; if nothing is missing, write `{END}` as its last line");
    Err(YamlError { line, column, message, help })
}

fn two_parts() -> Explanation {
    explained(
        format!("something follows the line `{END}`, or a line `---` begins a second part"),
        "remove the other part",
    )
}

/// The text at the place of an error.
struct Place {
    /// The key of the value, if that is clear.
    key: Option<String>,
    /// The value: a word in quotes, or the kind of value.
    found: String,
    /// The value, if it is a word.
    word: Option<String>,
    /// The rest of the line.
    rest: String,
}

impl Place {
    fn find(text: &str, line: u64, column: u64) -> Self {
        let index = |counted: u64| usize::try_from(counted - 1).unwrap_or(usize::MAX);
        let text = text.lines().nth(index(line)).unwrap_or_default();
        let split = text.char_indices().nth(index(column)).map_or(text.len(), |(at, _)| at);
        // The place of an empty value is its colon.
        let is_empty = text[split..].starts_with(':');
        let (before, after) = text.split_at(split + usize::from(is_empty));
        let after = after.trim_start();
        let word = word(after);
        let found = match after.chars().next() {
            _ if is_empty => "nothing".to_owned(),
            None | Some('#' | ',' | ']' | '}') => "nothing".to_owned(),
            Some('[') => "a list".to_owned(),
            Some('-') if after.starts_with("- ") => "a list".to_owned(),
            Some(_) => word.as_ref().map_or("keys with values".to_owned(), |word| format!("'{word}'")),
        };
        let rest = after.split(" #").next().unwrap_or_default().trim_end().chars().take(LONGEST).collect();
        Self { key: key_before(before).or_else(|| key_of(after)), found, word, rest }
    }

    /// Returns a message such as `timeout: 'soon' is not a whole number`.
    fn is_not(&self, found: &str, expected: &str) -> String {
        let key = self.key.as_deref().map(|key| format!("{key}: ")).unwrap_or_default();
        match found {
            "nothing" => format!("{key}the value is missing: {expected} belongs here"),
            "keys with values" => format!("{key}keys with values are not {expected}"),
            _ => format!("{key}{found} is not {expected}"),
        }
    }

    /// Like [`is_not`](Self::is_not), with the value at the place.
    fn itself_is_not(&self, expected: &str) -> String {
        self.is_not(&self.found, expected)
    }
}

/// Returns the plain or quoted text that `text` begins with. `None` if it is a key.
fn word(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"'));
    let (word, rest) = match quote {
        Some(quote) => text[1..].split_once(quote).unwrap_or((&text[1..], "")),
        None => {
            let end = text.find([',', ']', '}', '#', ':']).unwrap_or(text.len());
            text.split_at(end)
        }
    };
    let is_key = rest == ":" || rest.starts_with(": ");
    let word: String = word.trim_end().chars().take(LONGEST).collect();
    (!is_key && !word.is_empty()).then_some(word)
}

/// Returns the key that `text` begins with. Some errors have the place of the key.
fn key_of(text: &str) -> Option<String> {
    let (key, _) = text.split_once(':')?;
    key_before(&format!("{key}:")).filter(|found| found == key)
}

/// Returns the key that `before` ends with, without brackets.
fn key_before(before: &str) -> Option<String> {
    let before = before.trim_end_matches([' ', '[', '\'', '"']).strip_suffix(':')?;
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let start = before.trim_end_matches(is_key).len();
    (start < before.len()).then(|| before[start..].to_owned())
}

/// A message, and a help if there is a specific one.
type Explanation = (String, Option<String>);

fn explained(message: impl Into<String>, help: impl Into<String>) -> Explanation {
    (message.into(), Some(help.into()))
}

fn explain(error: &Error, place: &Place) -> Explanation {
    const TAGS: &str = "write the value without `!…`";
    match error {
        // A message of this project's own deserializers.
        Error::Message { msg, .. } => (msg.clone(), None),
        Error::SerdeUnknownField { field, expected, .. } => {
            explained(format!("unknown key '{field}'"), did_you_mean(field, expected.iter().copied()))
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            explained(format!("unknown value '{variant}'"), did_you_mean(variant, expected.iter().copied()))
        }
        Error::SerdeMissingField { field, .. } => (format!("the key '{field}' is missing"), None),
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_ref().map_or("a key".to_owned(), |key| format!("the key '{key}'"));
            explained(format!("{key} appears twice"), "remove one of them")
        }
        Error::InvalidScalar { ty, .. } => (number(ty, place), None),
        Error::Unexpected { expected, .. } => (place.itself_is_not(ours(expected)), None),
        Error::SerdeInvalidType { unexpected, expected, .. }
        | Error::SerdeInvalidValue { unexpected, expected, .. } => {
            (place.is_not(&found(unexpected), ours(expected)), None)
        }
        Error::SerdeInvalidLength { len: 0, expected, .. } => (place.is_not("nothing", ours(expected)), None),
        Error::SerdeInvalidLength { expected, .. } => {
            (format!("the number of entries does not fit {}", ours(expected)), None)
        }
        Error::NullIntoString { .. } => (place.itself_is_not("text"), None),
        Error::InvalidBooleanStrict { .. } => (place.itself_is_not("true or false"), None),
        Error::NonFiniteFloat { .. } => (place.itself_is_not("a number"), None),
        Error::MultipleDocuments { .. } => two_parts(),
        Error::UnknownAnchor { .. } => {
            explained("`*` refers to a name that no `&` defines", "put a text that begins with `*` in quotes")
        }
        Error::MergeValueNotMapOrSeqOfMaps { .. } | Error::MergeKeyNotAllowed { .. } => {
            explained("`<<` has no keys to add", "write the keys themselves")
        }
        Error::InvalidBinaryBase64 { .. }
        | Error::BinaryNotUtf8 { .. }
        | Error::TaggedScalarCannotDeserializeIntoString { .. }
        | Error::TaggedEnumMismatch { .. }
        | Error::UnsupportedTag { .. } => explained("a value with `!` is not allowed here", TAGS),
        Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::RecursiveReferencesRequireWeakTypes { .. }
        | Error::Budget { .. } => too_large(),
        Error::InvalidUtf8Input => not_utf8(),
        Error::AliasError { error, .. } | Error::WithSnippet { error, .. } => explain(error, place),
        Error::ExternalMessage { source, .. } => match source.as_ref() {
            ExternalMessageSource::Parser(error) => grammar(error.kind()),
            _ => not_yaml(),
        },
        _ => not_yaml(),
    }
}

/// Returns the message for a wrong number. `ty` is the library's name of the expected type.
fn number(ty: &str, place: &Place) -> String {
    let bits = ty.trim_start_matches(['u', 'i']);
    let bits = if bits == "size" { Some(usize::BITS) } else { bits.parse().ok() };
    let Some(bits) = bits else { return place.itself_is_not(ours(ty)) };
    let most = u128::MAX >> (128 - bits);
    let word = place.word.as_deref().unwrap_or_default();
    let digits = word.strip_prefix('-').unwrap_or(word);
    match word.parse::<u128>() {
        // More text follows the number: outside of brackets, `]` and `,` do not end a value.
        Ok(number) if number <= most => place.is_not(&format!("'{}'", place.rest), "a whole number"),
        _ if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            place.itself_is_not(&format!("a whole number from 0 to {most}"))
        }
        _ => place.itself_is_not("a whole number"),
    }
}

/// Translates what the library found: `string "al"`, ``integer `5` ``, `map`.
fn found(unexpected: &str) -> String {
    let inner = |quote| Some(unexpected.split_once(quote)?.1.rsplit_once(quote)?.0);
    match (inner('`').or_else(|| inner('"')), unexpected) {
        (Some(value), _) => format!("'{}'", value.chars().take(LONGEST).collect::<String>()),
        (None, "map") => "keys with values".to_owned(),
        (None, "sequence") => "a list".to_owned(),
        (None, "unit value" | "null" | "Option value") => "nothing".to_owned(),
        (None, _) => "this".to_owned(),
    }
}

/// Translates what the library expected into the terms of the documentation. This project's own deserializers
/// use those terms already.
fn ours(expected: &str) -> &str {
    let is_number = |name: &str| {
        let bits = name.strip_prefix(['u', 'i']).unwrap_or_default();
        bits == "size" || bits.parse::<u32>().is_ok()
    };
    match expected {
        "string scalar" | "scalar" => "a single value",
        "a string" | "string" | "a character" | "a borrowed string" => "text",
        "sequence start" | "a sequence" | "seq" => "a list",
        "mapping start" | "a map" | "map" => "a set of keys with values",
        "floating point" | "f32" | "f64" => "a number",
        "boolean" | "a boolean" | "bool" => "true or false",
        "an integer" => "a whole number",
        "null" | "unit" => "nothing",
        name if is_number(name) => "a whole number",
        _ if expected.starts_with("struct ") || expected.starts_with("mapping") => {
            "a set of keys with values"
        }
        _ if is_foreign(expected) => "a value of the right kind",
        own => own,
    }
}

/// Returns whether `text` contains a term of the library, of Rust, or of YAML's specification.
fn is_foreign(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "scalar", "sequence", "mapping", "struct", "enum", "tuple", "variant", "node", "event", "binary",
        "Option", "newtype", "unit", "bytes",
    ];
    WORDS.iter().any(|word| text.contains(word))
}

fn too_large() -> Explanation {
    explained("the file is nested too deeply, or `*` repeats too much", "write it without `&` and `*`")
}

fn not_utf8() -> Explanation {
    explained("the file is not UTF-8 text", "save it as UTF-8")
}

fn not_yaml() -> Explanation {
    explained(
        "this is not YAML",
        "check the quotes, the brackets and the indentation here and in the line before",
    )
}

/// Explains a violation of YAML's grammar.
fn grammar(kind: &ErrorKind) -> Explanation {
    use ErrorKind as E;
    match kind {
        E::TabNotAllowed
        | E::TabInBlockIndentation
        | E::TabInIndentation
        | E::TabInPlainScalar
        | E::TabAtBlockScalarStart => explained("there is a tab", "use spaces"),
        E::InvalidIndentation
        | E::ExpectedBlockMappingKey
        | E::ExpectedBlockSequenceEntry
        | E::InvalidFlowScalarIndent
        | E::InvalidBlockScalarIndent
        | E::BlockSequenceEntryNotAllowed => explained(
            "the indentation does not fit the lines before",
            "keys of one level, and entries of one list, begin in the same column",
        ),
        E::UnexpectedEofFlowSequence
        | E::UnexpectedEofFlowMapping
        | E::UnexpectedEofImplicitFlowMapping
        | E::ExpectedFlowMappingSeparator
        | E::ExpectedFlowSequenceSeparator
        | E::UnclosedFlowCollection { .. }
        | E::BlockEntryInFlowCollection => explained(
            "a list or a set of keys in brackets is not closed",
            "close it with `]` or `}`, and separate its entries with `,`",
        ),
        E::MisplacedFlowCollectionEnd | E::MismatchedFlowCollectionEnd { .. } => {
            explained("a closing bracket has no opening one", "remove it, or put the text in quotes")
        }
        E::UnclosedQuotedScalar | E::InvalidQuotedScalarIndent | E::DocumentIndicatorInQuotedScalar => {
            explained("a quote is not closed", "close it in the same line")
        }
        E::InvalidTrailingSingleQuotedScalar | E::InvalidTrailingDoubleQuotedScalar => {
            explained("text follows a closing quote", "double a quote that is inside single quotes")
        }
        E::UnknownQuotedScalarEscape
        | E::InvalidQuotedScalarHexEscape
        | E::InvalidLowSurrogateHexEscape
        | E::InvalidLowSurrogate
        | E::MissingLowSurrogate
        | E::UnpairedLowSurrogate
        | E::InvalidUnicodeEscape => explained(
            "`\\` before this character has no meaning",
            "use single quotes: `\\` is an ordinary character there",
        ),
        E::SimpleKeyExpected | E::InvalidSimpleKey => explained("a key has no `:`", "write KEY: VALUE"),
        E::MappingKeyNotAllowed
        | E::MappingValueNotAllowed
        | E::InvalidMappingValueWhitespace
        | E::FlowMappingValueAdjacentCollection
        | E::InvalidColonPlacement => explained(
            "a key is not allowed here, so `:` has no meaning",
            "put text that contains `: ` in quotes, or check the indentation and the brackets before",
        ),
        E::UnexpectedCharacter { character } => explained(
            format!("text cannot begin with '{}'", character.escape_default()),
            "put it in quotes, or remove the character",
        ),
        E::RecursionLimitExceeded | E::AnchorCountOverflow => too_large(),
        E::UnknownAnchor | E::MissingAnchorOrAliasName => {
            explained("`*` or `&` has no name", "put a text that begins with one of them in quotes")
        }
        E::InvalidDocumentEnd | E::MultipleDocumentsUnsupported => two_parts(),
        E::InputDecoding { .. } => not_utf8(),
        _ => not_yaml(),
    }
}
