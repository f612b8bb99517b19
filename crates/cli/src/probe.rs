//! `pollmatrix probe`: a line of verbs on every backend, side by side.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use characterisation::verbs::Script;
use characterisation::{Behaviour, Observation, Performance, Setting, Stopped, perform, rows};
use comfy_table::{ContentArrangement, Table, presets};
use metadata::{Mode, Seed, Transport, did_you_mean};
use runner::backends::Poller;
use runner::executable::{self, Executable};
use runner::signals::{self, Stop};
use runner::supervise::{self, End, Ended};
use runner::{Environment, lifeline, output};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::{Format, ProbeArgs};
use crate::error::Error;
use crate::exit;

/// A line waits for less than this, whatever it waits for.
const LIMIT: Duration = Duration::from_secs(60);

/// What is asked.
struct Question {
    /// The scenario, if it is one's line.
    row: Option<&'static Behaviour>,
    line: String,
    transport: Transport,
    mode: Mode,
}

/// What one backend came to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Said {
    backend: String,
    #[serde(flatten)]
    how: How,
    /// In order.
    answers: Vec<Answer>,
    trace: Vec<String>,
}

/// What was asked and answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Answer {
    variant: String,
    api: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trigger: Option<String>,
    answer: String,
}

/// How a performance ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "status", content = "reason", rename_all = "kebab-case")]
enum How {
    Performed,
    Unsupported(String),
    Broken(String),
    Timeout(String),
    Crash(String),
}

/// Asks, and shows the answers.
pub fn run(environment: &Environment, args: &ProbeArgs) -> Result<ExitCode, Error> {
    let questions = questions(args)?;
    let backends: Vec<_> = match args.backends.as_slice() {
        [] => environment.pollers().collect(),
        names => names.iter().map(|name| environment.poller(name)).collect::<Result<_, _>>()?,
    };
    let seed = args.chance.seed();
    if let ([question], [backend], true) = (questions.as_slice(), backends.as_slice(), args.here) {
        return Ok(here(question, *backend, seed, args.chance.slow.factor()));
    }
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let executable = Executable::watch(&executable::own()?);
    let mut asked = Vec::new();
    for question in questions {
        let said = backends.iter().map(|backend| {
            elsewhere(&question, backend.name, executable.path(), seed, args, environment, &stop)
        });
        let said: Vec<_> = said.collect::<Result<_, _>>()?;
        executable.check()?;
        if let Some(signal) = stop.signal() {
            return Ok(ExitCode::from(signal));
        }
        asked.push((question, said));
    }
    output::print(&match args.format {
        Format::Json => metadata::json(&json!(asked.iter().map(describe).collect::<Vec<_>>())),
        Format::Text => {
            let texts: Vec<_> =
                asked.iter().map(|(question, said)| text(question, said, args.trace)).collect();
            texts.join("\n")
        }
    })?;
    let all = || asked.iter().flat_map(|(_, said)| said);
    Ok(match () {
        () if all().any(|said| matches!(said.how, How::Broken(_) | How::Timeout(_) | How::Crash(_))) => {
            ExitCode::from(exit::FAILED)
        }
        () if all().all(|said| matches!(said.how, How::Unsupported(_))) => {
            ExitCode::from(exit::CELL_UNSUPPORTED)
        }
        () => ExitCode::SUCCESS,
    })
}

/// The lines that are meant.
fn questions(args: &ProbeArgs) -> Result<Vec<Question>, Error> {
    let typed = args.line.trim();
    // A name is one word; a line has several.
    if !typed.contains(char::is_whitespace) {
        let meant: Vec<_> = rows().filter(|row| row.row == typed || row.id == typed).collect();
        if meant.is_empty() {
            let mut names: Vec<_> = rows().map(|row| row.row).collect();
            names.dedup();
            names.extend(rows().map(|row| row.id));
            let help = match metadata::nearest(typed, names.iter().copied()) {
                Some(_) => did_you_mean(typed, names),
                None => "`pollmatrix list --layer characterisation` shows them; docs/verbs.md, how to write a line".into(),
            };
            return Err(Error::UnknownScenario { name: typed.to_owned(), help });
        }
        let question = |row: &'static Behaviour| Question {
            row: Some(row),
            line: row.verbs.to_owned(),
            transport: args.transport.unwrap_or(row.transports[0]),
            mode: args.mode.unwrap_or(row.modes[0]),
        };
        return Ok(meant.into_iter().map(question).collect());
    }
    typed.parse::<Script>().map_err(|error| Error::Verbs {
        line: typed.to_owned(),
        column: error.column,
        message: error.message,
        help: error.help.unwrap_or_else(|| "docs/verbs.md lists the verbs".into()),
    })?;
    Ok(vec![Question {
        row: None,
        line: typed.to_owned(),
        transport: args.transport.unwrap_or(Transport::Tcp),
        mode: args.mode.unwrap_or(Mode::Level),
    }])
}

/// Asks in this process.
fn here(question: &Question, poller: Poller, seed: Seed, slow: NonZeroU32) -> ExitCode {
    lifeline::watch();
    let setting = Setting {
        transport: question.transport,
        mode: question.mode,
        make: poller.make,
        queue: runner::backends::queue(),
        seed: seed.0,
        patience: characterisation::PATIENCE.saturating_mul(slow.get()),
    };
    let (performance, ended) = match runner::rows::unreachable(question.transport) {
        Some(why) => (Performance::default(), Err(Stopped::Unsupported(why.into()))),
        None => perform(&question.line, setting),
    };
    let answer = |Observation { variant, api, trigger, answer }| Answer { variant, api, trigger, answer };
    let said = Said {
        backend: poller.name.to_owned(),
        how: match ended {
            Ok(()) => How::Performed,
            Err(Stopped::Unsupported(why)) => How::Unsupported(why),
            Err(Stopped::Broken(why) | Stopped::Script(why)) => How::Broken(why),
        },
        answers: performance.observations.into_iter().map(answer).collect(),
        trace: performance.trace,
    };
    let line = serde_json::to_string(&said).expect("the type has string keys and no fallible parts");
    let code = match output::print_line(&line) {
        Ok(()) => 0,
        Err(lost) => {
            Error::from(lost).print();
            exit::ERROR
        }
    };
    // Not a return: threads that nothing will ever end may be waiting.
    std::process::exit(code.into())
}

/// Asks in a process of its own.
fn elsewhere(
    question: &Question,
    backend: &str,
    executable: &Path,
    seed: Seed,
    args: &ProbeArgs,
    environment: &Environment,
    stop: &Stop,
) -> Result<Said, Error> {
    let mut command = Command::new(executable);
    command.args(["probe", &question.line, "--here", "--backend", backend, "--seed", &seed.to_string()]);
    command.args(["--transport", question.transport.name(), "--mode", question.mode.name()]);
    if let Some(typed) = environment.typed(backend) {
        command.args(["--subject", typed]);
    }
    let slow = args.chance.slow.factor();
    command.args(["--slow", &slow.to_string()]);
    let limit = LIMIT.saturating_mul(slow.get());
    let failed = |source| runner::Error::Io {
        action: "start",
        path: executable.to_path_buf(),
        source,
        help: "start pollmatrix again",
    };
    let Ended { end, stdout, stderr, .. } =
        supervise::run(command, limit, || stop.asked()).map_err(failed)?;
    let how = match end.map_err(failed)? {
        End::TimedOut => How::Timeout(format!("no answer within {} s", limit.as_secs())),
        End::TooMuch(too_much) => How::Broken(too_much.to_string()),
        End::Stopped => How::Timeout("it was stopped".into()),
        End::Exited(status) => match (supervise::killed(status, &stderr), serde_json::from_str(&stdout)) {
            (None, Ok(said)) => return Ok(said),
            (Some(why), _) => How::Crash(why),
            (None, Err(_)) => How::Crash(format!("no answer ({status}): {}", stderr.trim())),
        },
    };
    Ok(Said { backend: backend.to_owned(), how, answers: Vec::new(), trace: Vec::new() })
}

fn describe((question, said): &(Question, Vec<Said>)) -> serde_json::Value {
    json!({
        "scenario": question.row.map(|row| row.id),
        "line": question.line,
        "transport": question.transport.name(),
        "mode": question.mode.name(),
        "backends": said,
    })
}

fn text(question: &Question, said: &[Said], trace: bool) -> String {
    let mut out = String::new();
    if let Some(row) = question.row {
        let _ = writeln!(out, "{} {}: {}", row.row, row.id, row.question);
    }
    let _ = writeln!(out, "{}\n{}, {}\n", question.line, question.transport, question.mode);
    out.push_str(&table(said));
    for said in said {
        let why = match &said.how {
            How::Performed => None,
            How::Unsupported(why) => Some(("unsupported", why)),
            How::Broken(why) => Some(("broken", why)),
            How::Timeout(why) => Some(("timeout", why)),
            How::Crash(why) => Some(("crash", why)),
        };
        if let Some((name, why)) = why {
            let _ = writeln!(out, "\n{}: {name}: {why}", said.backend);
        }
        let ended = matches!(said.how, How::Performed | How::Unsupported(_));
        if (trace || !ended) && !said.trace.is_empty() {
            let _ = writeln!(out, "\n{}", said.backend);
            said.trace.iter().for_each(|line| out += &format!("  {line}\n"));
        }
    }
    out
}

/// Questions as rows, backends as columns.
fn table(said: &[Said]) -> String {
    let mut order: Vec<(String, String, usize)> = Vec::new();
    let mut answers: Vec<BTreeMap<(String, String, usize), &str>> = Vec::new();
    for said in said {
        let mut of_this = BTreeMap::new();
        let mut place = 0;
        for Answer { variant, api, answer, .. } in &said.answers {
            let label = question_of(api, &said.backend);
            let nth = (0..).find(|nth| !of_this.contains_key(&(variant.clone(), label.clone(), *nth)));
            let key = (variant.clone(), label, nth.unwrap_or(0));
            // After what this backend was asked before: lines stay in their order.
            match order.iter().position(|known| *known == key) {
                Some(known) => place = known + 1,
                None => {
                    order.insert(place, key.clone());
                    place += 1;
                }
            }
            of_this.insert(key, answer.as_str());
        }
        answers.push(of_this);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    table.set_header(std::iter::once("").chain(said.iter().map(|said| said.backend.as_str())));
    let mut state = "";
    for key @ (variant, label, _) in &order {
        let name = match (variant == state, label.as_str()) {
            (false, "") => variant.clone(),
            (false, label) => format!("{variant}  {label}"),
            (true, "") => "  again".to_owned(),
            (true, label) => format!("  {label}"),
        };
        state = variant;
        let cells = answers.iter().map(|of_this| of_this.get(key).copied().unwrap_or_default().to_owned());
        table.add_row(std::iter::once(name).chain(cells));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().fold(String::new(), |out, line| out + line.trim_end() + "\n")
}

/// What is asked, under a name that backends share: nothing for what each is asked first of a state.
fn question_of(api: &str, backend: &str) -> String {
    match api.strip_prefix(backend) {
        Some("" | "-add-before") => String::new(),
        Some("-add-after") => "registered then".into(),
        Some("-events0") => "events=0".into(),
        Some(rest) => rest.trim_start_matches('-').to_owned(),
        None => api.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(backend: &str, answers: &[(&str, &str, &str)]) -> Said {
        let answer = |(variant, api, answer): &(&str, &str, &str)| {
            let (variant, api, answer) = ((*variant).to_owned(), (*api).to_owned(), (*answer).to_owned());
            Answer { variant, api, trigger: None, answer }
        };
        let answers = answers.iter().map(answer).collect();
        Said { backend: backend.into(), how: How::Performed, answers, trace: Vec::new() }
    }

    #[test]
    fn the_same_question_is_one_line_whoever_is_asked() {
        let text = table(&[
            said("poll", &[("tcp", "poll", "IN"), ("tcp", "poll-events0", "-"), ("tcp:end", "read", "0")]),
            said(
                "epoll",
                &[
                    ("tcp", "epoll-add-before", "IN"),
                    ("tcp", "epoll-add-after", "OUT"),
                    ("tcp:end", "read", "0"),
                    ("tcp:end", "epoll", "HUP"),
                    ("tcp:end", "epoll", "silent"),
                ],
            ),
        ]);
        let expected = [
            "                   poll  epoll",
            "tcp                IN    IN",
            "  registered then        OUT",
            "  events=0         -",
            "tcp:end  read      0     0",
            "  again                  HUP",
            "  again                  silent",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
