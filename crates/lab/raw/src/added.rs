//! Reads a file of behaviours, `--behaviours FILE`.

use matrix::{Error, YamlError};
use metadata::{Mode, Scripted, Transport};
use selector::{Interest, Registered, View};
use serde::Deserialize;
use serde_saphyr::{Location, Spanned};

use crate::keys;
use crate::verbs::{ParseError, Script};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    behaviours: Spanned<Vec<BehaviourText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BehaviourText {
    id: Spanned<String>,
    /// A behaviour of the catalogue, whose recorded answers are then the expected ones.
    behaviour: Option<Spanned<String>>,
    question: Spanned<String>,
    script: Spanned<String>,
    transports: Option<Spanned<Vec<Transport>>>,
    modes: Option<Spanned<Vec<Mode>>>,
    #[serde(default)]
    bugs: Vec<Spanned<String>>,
}

/// A view of a poller. poll and select answer fewer questions than epoll.
const ANY: View = View { api: "epoll", interest: Interest::ALL, registered: Registered::After };

/// A place, a problem and its remedy.
type Problem = ((u64, u64), String, String);

/// Parses and checks a file of behaviours. `file` is the name for errors; `is_taken` says whether another
/// scenario has an id.
///
/// # Errors
/// The first problem, with line, column and remedy.
pub fn parse(
    text: &str,
    file: &str,
    is_taken: &dyn Fn(&str) -> bool,
) -> Result<Vec<&'static Scripted>, Error> {
    let malformed = |((line, column), message, help): Problem| Error::Behaviours {
        file: file.to_owned(),
        line,
        column,
        message,
        help,
    };
    let FileText { behaviours } = matrix::read_yaml(text, "docs/verbs.md explains every key of a behaviour")
        .map_err(|YamlError { line, column, message, help }| malformed(((line, column), message, help)))?;
    if behaviours.value.is_empty() {
        let help = "write a list of behaviours: docs/verbs.md has an example".to_owned();
        return Err(malformed((place(behaviours.referenced), "the file has no behaviours".into(), help)));
    }
    let mut scenarios: Vec<&'static Scripted> = Vec::new();
    for behaviour in behaviours.value {
        let scenario = behaviour.check(text, &scenarios, is_taken).map_err(malformed)?;
        // A program reads one file of behaviours, and needs it until it ends.
        scenarios.push(Box::leak(Box::new(scenario)));
    }
    Ok(scenarios)
}

impl BehaviourText {
    fn check(
        self,
        text: &str,
        earlier: &[&'static Scripted],
        is_taken: &dyn Fn(&str) -> bool,
    ) -> Result<Scripted, Problem> {
        let Self { id, behaviour, question, script, transports, modes, bugs } = self;
        check_id(&id.value, earlier, is_taken)
            .map_err(|(message, help)| (place(id.referenced), message, help))?;
        if let Some(Spanned { value, referenced, .. }) = &behaviour
            && crate::expectations::title(value).is_none()
        {
            let message = format!("there is no behaviour '{value}'");
            let help =
                format!("{}; omit it for a behaviour of its own", crate::expectations::suggestion(value));
            return Err((place(*referenced), message, help));
        }
        if !question.value.trim_end().ends_with('?') {
            let help = "write a sentence that ends with a question mark".to_owned();
            return Err((place(question.referenced), format!("{} asks no question", id.value), help));
        }
        let parsed: Script = script.value.parse().map_err(|error: ParseError| {
            let at = place_in(text, script.referenced, &script.value, error.column);
            (at, error.message, error.help.unwrap_or_else(|| "docs/verbs.md lists the verbs".into()))
        })?;
        let transports = list("transports", transports, &[Transport::Tcp])?;
        // Some pollers have no level-triggered mode, others no edge-triggered one.
        let modes = list("modes", modes, &[Mode::Level, Mode::Edge])?;
        let asked = keys(&parsed, transports[0], modes[0], ANY.api, &[ANY]);
        if !asked.iter().any(|key| key.api.starts_with(ANY.api)) {
            let message = format!("the script of {} asks a poller nothing", id.value);
            let help = "end it with a query, such as `look at own` or `wait`".to_owned();
            return Err((place(script.referenced), message, help));
        }
        if let Some(bug) = bugs.iter().find(|bug| !bug.value.starts_with("https://")) {
            let message = format!("'{}' is not the address of a bug", bug.value);
            return Err((place(bug.referenced), message, "begin it with https://".into()));
        }
        let id: &'static str = id.value.leak();
        let bugs: Vec<&'static str> = bugs.into_iter().map(|bug| &*bug.value.leak()).collect();
        Ok(Scripted {
            behaviour: behaviour.map_or(id, |behaviour| behaviour.value.leak()),
            id,
            question: question.value.leak(),
            script: script.value.leak(),
            transports: transports.leak(),
            modes: modes.leak(),
            bugs: bugs.leak(),
        })
    }
}

/// Checks that an id has the form of a scenario's, and that it is not taken.
fn check_id(
    id: &str,
    earlier: &[&'static Scripted],
    is_taken: &dyn Fn(&str) -> bool,
) -> Result<(), (String, String)> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name =
        |name: &str| name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(allowed);
    if !id.split_once('/').is_some_and(|(family, name)| is_name(family) && is_name(name)) {
        let help = "write FAMILY/NAME with lower-case letters, digits and '-': mine/half-close";
        return Err((format!("'{id}' is not the id of a behaviour"), help.into()));
    }
    if earlier.iter().any(|other| other.id == id) {
        return Err((
            format!("the behaviour {id} appears twice"),
            "give each behaviour an id of its own".into(),
        ));
    }
    if crate::find(id).is_some() || is_taken(id) {
        let name = id.split_once('/').map_or(id, |(_, name)| name);
        let help = format!("results are compared by ids: use another family, such as mine/{name}");
        return Err((format!("pollmatrix has a scenario {id}"), help));
    }
    Ok(())
}

/// Returns the values of a list without duplicates, or the default.
fn list<T: Copy + Eq + std::fmt::Display>(
    key: &str,
    given: Option<Spanned<Vec<T>>>,
    default: &[T],
) -> Result<Vec<T>, Problem> {
    let Some(Spanned { value: values, referenced, .. }) = given else { return Ok(default.to_vec()) };
    if values.is_empty() {
        let default: Vec<_> = default.iter().map(ToString::to_string).collect();
        let help = format!("omit it for the default, {}", default.join(", "));
        return Err((place(referenced), format!("the list of {key} is empty"), help));
    }
    let twice = values.iter().enumerate().find(|(index, value)| values[..*index].contains(value));
    match twice {
        Some((_, value)) => {
            Err((place(referenced), format!("{value} appears twice in {key}"), "remove one of them".into()))
        }
        None => Ok(values),
    }
}

fn place(at: Location) -> (u64, u64) {
    (at.line().max(1), at.column().max(1))
}

/// Returns the line and the column in the file of a column of a script, which can be in quotes or folded over
/// several lines. Only white space differs between the two.
fn place_in(text: &str, at: Location, script: &str, column: usize) -> (u64, u64) {
    let before = script.chars().take(column - 1).filter(|c| !c.is_whitespace()).count();
    let (mut line, mut place_in_line) = place(at);
    let index = |counted: u64| usize::try_from(counted - 1).unwrap_or(usize::MAX);
    let lines: Vec<_> = text.lines().collect();
    // The header of a folded text, `>-`, and its quote do not belong to the script.
    let first: String =
        lines.get(index(line)).copied().unwrap_or_default().chars().skip(index(place_in_line)).collect();
    if first.starts_with(['>', '|']) {
        (line, place_in_line) = (line + 1, 1);
    } else if first.starts_with(['\'', '"']) {
        place_in_line += 1;
    }
    let is_end = script.chars().skip(column - 1).all(char::is_whitespace);
    let mut left = before;
    let mut last = (line, place_in_line);
    for (number, content) in (line..).zip(lines.get(index(line)..).unwrap_or_default()) {
        let skipped = if number == line { index(place_in_line) } else { 0 };
        for (offset, _) in content.chars().enumerate().skip(skipped).filter(|(_, c)| !c.is_whitespace()) {
            let here = (number, offset as u64 + 1);
            if left == 0 {
                // The end of the script is behind its last character, whatever follows in the file.
                return if is_end { (last.0, last.1 + 1) } else { here };
            }
            left -= 1;
            last = here;
        }
    }
    (last.0, last.1 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEHAVIOUR: &str = "behaviours:
  - id: mine/half-close
    question: Does a half-close show?
    script: own and peer are connected, peer shuts write, look at own as shut
";

    fn is_taken(id: &str) -> bool {
        id == "migration/idle-takeover"
    }

    fn error(text: &str) -> (String, String) {
        match parse(text, "r.yml", &is_taken) {
            Err(error) => (error.to_string(), error.help()),
            Ok(_) => panic!("it is accepted: {text}"),
        }
    }

    #[test]
    fn a_behaviour_has_defaults_and_can_name_one_of_the_catalogue() {
        let behaviours = parse(BEHAVIOUR, "r.yml", &is_taken).unwrap();
        assert_eq!((behaviours[0].behaviour, behaviours[0].id), ("mine/half-close", "mine/half-close"));
        assert_eq!(
            (behaviours[0].transports, behaviours[0].modes),
            (&[Transport::Tcp][..], &[Mode::Level, Mode::Edge][..])
        );
        let more = "    behaviour: V06\n    transports: [unix, pipe]\n    modes: [edge]\n    bugs: ['https://example.org/1']\n";
        let behaviours = parse(&format!("{BEHAVIOUR}{more}"), "r.yml", &is_taken).unwrap();
        assert_eq!(behaviours[0].behaviour, "V06");
        let variants: Vec<_> =
            behaviours[0].description().axes.variants().map(|variant| variant.to_string()).collect();
        assert_eq!(variants, ["unix-edge-1t1g", "pipe-edge-1t1g"]);
        assert_eq!(behaviours[0].bugs, ["https://example.org/1"]);
    }

    #[test]
    fn each_error_has_its_place_and_a_suggestion() {
        let with = |from: &str, to: &str| {
            assert!(BEHAVIOUR.contains(from), "{from}");
            BEHAVIOUR.replace(from, to)
        };
        for (text, message, help) in [
            (with("question:", "qestion:"), "r.yml:3:5: unknown field `qestion`", "'question'"),
            (
                with("mine/half-close", "half-close"),
                "r.yml:2:9: 'half-close' is not the id",
                "mine/half-close",
            ),
            (
                with("mine/half-close", "readiness/pipe-idle"),
                "r.yml:2:9: pollmatrix has a scenario readiness/pipe-idle",
                "such as mine/pipe-idle",
            ),
            (
                with("mine/half-close", "migration/idle-takeover"),
                "r.yml:2:9: pollmatrix has a scenario",
                "another family",
            ),
            (with("show?", "show."), "r.yml:3:15: mine/half-close asks no question", "question mark"),
            (with("look at own", "look at onw"), "r.yml:4:67: expected a descriptor", "did you mean 'own'?"),
            (
                with(", look at own as shut", ""),
                "r.yml:4:13: the script of mine/half-close asks",
                "look at own",
            ),
            (
                format!("{BEHAVIOUR}    behaviour: nothing\n"),
                "r.yml:5:16: there is no behaviour 'nothing'",
                "omit it",
            ),
            (format!("{BEHAVIOUR}    transports: [tpc]\n"), "r.yml:5:18: unknown transport 'tpc'", ""),
            (format!("{BEHAVIOUR}    transports: []\n"), "the list of transports is empty", "default, tcp"),
            (format!("{BEHAVIOUR}    modes: [level, level]\n"), "level appears twice in modes", "remove"),
            (
                format!("{BEHAVIOUR}    bugs: [http://example.org]\n"),
                "is not the address of a bug",
                "https://",
            ),
            (
                format!("{BEHAVIOUR}{}", &BEHAVIOUR["behaviours:\n".len()..]),
                "r.yml:5:9: the behaviour mine/half-close appears twice",
                "own",
            ),
            ("behaviours: []\n".into(), "the file has no behaviours", "example"),
        ] {
            let (said, remedy) = error(&text);
            assert!(said.contains(message), "{text}\n{said}");
            assert!(remedy.contains(help), "{text}\n{remedy}");
        }
    }

    #[test]
    fn the_place_of_an_error_in_a_script_is_exact_in_every_notation_of_yaml() {
        let script = "own and peer are connected, look at onw";
        for (written, line, column) in [
            (format!("script: {script}"), 4, 49),
            (format!("script: '{script}'"), 4, 50),
            (format!("script: \"{script}\""), 4, 50),
            ("script: own and peer are connected,\n      look at onw".to_owned(), 5, 15),
            ("script: >-\n      own and peer are\n      connected, look at onw".to_owned(), 6, 26),
            ("script: '\n      own and peer are connected, look\n      at onw'".to_owned(), 6, 10),
        ] {
            let (said, _) = error(&BEHAVIOUR.replace(
                "script: own and peer are connected, peer shuts write, look at own as shut",
                &written,
            ));
            assert!(said.starts_with(&format!("r.yml:{line}:{column}: expected")), "{written}\n{said}");
        }
        let (said, _) = error(&BEHAVIOUR.replace(" own as shut", "\n    # A comment.\n"));
        assert!(said.starts_with("r.yml:4:66: "), "{said}");
    }
}
