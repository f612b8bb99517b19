//! `pollmatrix probe`: runs a script of verbs on every backend, side by side.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use matrix::executable::{self, Executable};
use matrix::pipes::End;
use matrix::signals::{self, Stop};
use matrix::supervise::{self, Ended};
use matrix::{Environment, lifeline, output};
use metadata::{Defect, Mode, Scripted, Seed, Transport, did_you_mean};
use raw::verbs::Script;
use raw::{Observation, Promises, Setting, Stopped, Transcript, scenarios};
use report::table::Table;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::{ChanceArgs, Format, SlowArg};
use crate::error::Error;
use crate::exit;

#[derive(clap::Args)]
pub struct ProbeArgs {
    /// A script of verbs, or the id of a behaviour, of a scenario
    /// [default with --behaviours: every behaviour]
    #[arg(value_name = "SCRIPT", required_unless_present = "behaviours")]
    pub script: Option<String>,
    /// Test this backend only; repeatable [default: every backend of this machine]
    #[arg(long = "backend", value_name = "NAME")]
    pub backends: Vec<String>,
    /// The transport of the descriptors: tcp, unix, unix-dgram, seqpacket, udp, pipe, fifo, pty, none
    /// [default: the first one of the scenario, or tcp]
    #[arg(long, value_name = "TRANSPORT")]
    pub transport: Option<Transport>,
    /// The mode of registrations without one in the script: level, edge, oneshot, dispatch, exclusive,
    /// exclusive-edge, edge-oneshot
    /// [default: the first one of the scenario, or level]
    #[arg(long, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// Show the actions and answers of each clause
    #[arg(long)]
    pub trace: bool,
    #[command(flatten)]
    pub chance: ChanceArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(clap::Args)]
pub struct ScriptArgs {
    /// The script
    #[arg(value_name = "SCRIPT")]
    pub script: String,
    /// The poller: a backend, or the name of the `--adapter`
    #[arg(value_name = "POLLER")]
    pub poller: String,
    /// The transport
    #[arg(value_name = "TRANSPORT")]
    pub transport: Transport,
    /// The mode
    #[arg(value_name = "MODE")]
    pub mode: Mode,
    /// The seed of all random choices
    #[arg(value_name = "SEED")]
    pub seed: Seed,
    #[command(flatten)]
    pub slow: SlowArg,
}

/// The time limit of a script. Every wait in a script is shorter.
const LIMIT: Duration = Duration::from_secs(60);

/// A script to run.
struct Question {
    /// The scenario that the script belongs to, if the user named one.
    scenario: Option<&'static Scripted>,
    script: String,
    transport: Transport,
    mode: Mode,
}

/// The answers of one backend.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct BackendAnswers {
    backend: String,
    #[serde(flatten)]
    ending: Ending,
    /// The answers, in order.
    answers: Vec<Answer>,
    trace: Vec<String>,
}

/// One query and its answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Answer {
    variant: String,
    api: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trigger: Option<String>,
    answer: String,
    /// What is wrong with it in every reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    defect: Option<Defect>,
}

/// How the run of a script ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "status", content = "reason", rename_all = "kebab-case")]
enum Ending {
    Performed,
    Unsupported(String),
    Broken(String),
    Timeout(String),
    Crash(String),
}

/// Runs the scripts, and prints the answers.
pub fn run(environment: &Environment, args: &ProbeArgs) -> Result<ExitCode, Error> {
    let questions = questions(environment, args)?;
    let backends: Vec<_> = match args.backends.as_slice() {
        [] => environment.pollers().collect(),
        names => names.iter().map(|name| environment.poller(name)).collect::<Result<_, _>>()?,
    };
    let seed = args.chance.seed();
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let executable = Executable::watch(&executable::own()?);
    let mut answered = Vec::new();
    for question in questions {
        let answers = backends.iter().map(|backend| {
            run_in_process(&question, backend.name, executable.path(), seed, args, environment, &stop)
        });
        let answers: Vec<_> = answers.collect::<Result<_, _>>()?;
        executable.check()?;
        if let Some(signal) = stop.signal() {
            return Ok(ExitCode::from(signal));
        }
        answered.push((question, answers));
    }
    output::print(&match args.format {
        Format::Json => metadata::json(&json!(answered.iter().map(describe).collect::<Vec<_>>())),
        Format::Text => {
            let texts: Vec<_> =
                answered.iter().map(|(question, answers)| text(question, answers, args.trace)).collect();
            texts.join("\n")
        }
    })?;
    Ok(exit_code(answered.iter().flat_map(|(_, answers)| answers)))
}

fn exit_code<'a>(mut all: impl Iterator<Item = &'a BackendAnswers> + Clone) -> ExitCode {
    let failed = |one: &BackendAnswers| {
        matches!(one.ending, Ending::Broken(_) | Ending::Timeout(_) | Ending::Crash(_))
            || one.answers.iter().any(|answer| answer.defect.is_some())
    };
    if all.clone().any(failed) {
        ExitCode::from(exit::FAILED)
    } else if all.all(|one| matches!(one.ending, Ending::Unsupported(_))) {
        ExitCode::from(exit::CELL_UNSUPPORTED)
    } else {
        ExitCode::SUCCESS
    }
}

/// Returns the scripts that the argument stands for.
fn questions(environment: &Environment, args: &ProbeArgs) -> Result<Vec<Question>, Error> {
    let behaviours = environment.behaviours().map(|behaviours| behaviours.scenarios()).unwrap_or_default();
    let question = |scenario: &'static Scripted| Question {
        scenario: Some(scenario),
        script: scenario.script.to_owned(),
        transport: args.transport.unwrap_or(scenario.transports[0]),
        mode: args.mode.unwrap_or(scenario.modes[0]),
    };
    let Some(typed) = args.script.as_deref().map(str::trim) else {
        return Ok(behaviours.iter().copied().map(question).collect());
    };
    let scenarios = || scenarios().chain(behaviours.iter().copied());
    // An id is one word; a script has several.
    if !typed.contains(char::is_whitespace) {
        let named: Vec<_> =
            scenarios().filter(|known| known.behaviour == typed || known.id == typed).collect();
        if named.is_empty() {
            let mut names: Vec<_> = scenarios().map(|known| known.behaviour).collect();
            names.dedup();
            names.extend(scenarios().map(|known| known.id));
            let help = match metadata::nearest(typed, names.iter().copied()) {
                Some(_) => did_you_mean(typed, names),
                None => "`pollmatrix list --layer characterisation` shows every scenario; docs/verbs.md explains scripts".into(),
            };
            return Err(Error::UnknownScenario { name: typed.to_owned(), help });
        }
        return Ok(named.into_iter().map(question).collect());
    }
    typed.parse::<Script>().map_err(|error| {
        let (excerpt, caret) = excerpt(typed, error.column);
        let help = error.help.unwrap_or_else(|| "docs/verbs.md lists the verbs".into());
        Error::Verbs { excerpt, caret, column: error.column, message: error.message, help }
    })?;
    Ok(vec![Question {
        scenario: None,
        script: typed.to_owned(),
        transport: args.transport.unwrap_or(Transport::Tcp),
        mode: args.mode.unwrap_or(Mode::Level),
    }])
}

/// Returns the part of a long script that is around a column, and the column in that part.
fn excerpt(script: &str, column: usize) -> (String, usize) {
    const AROUND: usize = 80;
    let (first, last) = (column.saturating_sub(AROUND), column + AROUND);
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let part: String = script.chars().skip(first).take(last - first).collect();
    let before = cut(first > 0);
    let excerpt = format!("{before}{part}{}", cut(script.chars().nth(last).is_some()));
    (excerpt, column - first + before.chars().count())
}

/// `pollmatrix worker script`: runs the script in this process, and exits.
pub fn perform(environment: &Environment, args: &ScriptArgs) -> Result<ExitCode, Error> {
    let poller = environment.poller(&args.poller)?;
    lifeline::watch();
    let setting = Setting {
        transport: args.transport,
        mode: args.mode,
        make: poller.make,
        queue: matrix::backends::queue(),
        seed: args.seed.0,
        patience: raw::PATIENCE.saturating_mul(args.slow.factor().get()),
    };
    let (transcript, ended) = match raw::cell::unreachable(args.transport) {
        Some(why) => (Transcript::default(), Err(Stopped::Unsupported(why.into()))),
        None => raw::run(&args.script, setting),
    };
    let script = args.script.parse::<Script>().ok();
    let column = environment.column(poller.name);
    let promises = script.map(|script| Promises::of(&script, args.transport, args.mode, poller.name, column));
    let promises = promises.unwrap_or_default();
    let answer = |Observation { variant, api, trigger, answer }| {
        let answer = answer.to_string();
        let defect = promises.defect((&variant, &api, trigger.as_deref()), &answer);
        Answer { variant, api, trigger, answer, defect }
    };
    let answers = BackendAnswers {
        backend: poller.name.to_owned(),
        ending: match ended {
            // The answers have the end of the poller's program.
            Ok(()) | Err(Stopped::Ended(_)) => Ending::Performed,
            Err(Stopped::Unsupported(why)) => Ending::Unsupported(why),
            Err(Stopped::Broken(why) | Stopped::Script(why)) => Ending::Broken(matrix::cell::with_cause(why)),
        },
        answers: transcript.observations.into_iter().map(answer).collect(),
        trace: transcript.trace,
    };
    let line = serde_json::to_string(&answers).expect("the type has string keys and no fallible parts");
    let code = match output::print_line(&line) {
        Ok(()) => 0,
        Err(lost) => {
            Error::from(lost).print();
            exit::ERROR
        }
    };
    // Exits instead of returning, because threads can still be waiting that never end.
    std::process::exit(code.into())
}

/// Runs the script in another process.
fn run_in_process(
    question: &Question,
    backend: &str,
    executable: &Path,
    seed: Seed,
    args: &ProbeArgs,
    environment: &Environment,
    stop: &Stop,
) -> Result<BackendAnswers, Error> {
    let mut command = Command::new(executable);
    command.args(["worker", "script", &question.script, backend]);
    command.args([question.transport.name(), question.mode.name(), &seed.to_string()]);
    if let Some(typed) = environment.adapter_argument(backend) {
        command.args(["--adapter", typed]);
    }
    let slow = args.chance.slow.factor();
    command.args(["--slow", &slow.to_string()]);
    let limit = LIMIT.saturating_mul(slow.get());
    let failed = matrix::Error::io("start", executable, "start pollmatrix again");
    let Ended { end, stdout, stderr, left, .. } =
        supervise::run(command, limit, || stop.requested()).map_err(&failed)?;
    left.iter().for_each(|process| matrix::diagnostics::warning(&format!("{backend}: {process}")));
    let ending = match end.map_err(&failed)? {
        End::TimedOut => Ending::Timeout(format!("no answer within {} s", limit.as_secs())),
        End::TooMuchOutput(too_much) => Ending::Broken(too_much.to_string()),
        End::Stopped => Ending::Timeout("it was stopped".into()),
        End::Exited(status) => match (supervise::killed(status, &stderr), serde_json::from_str(&stdout)) {
            (None, Ok(answers)) => return Ok(answers),
            (Some(why), _) => Ending::Crash(why),
            (None, Err(_)) => Ending::Crash(format!("no answer ({status}): {}", stderr.trim())),
        },
    };
    Ok(BackendAnswers { backend: backend.to_owned(), ending, answers: Vec::new(), trace: Vec::new() })
}

fn describe((question, answers): &(Question, Vec<BackendAnswers>)) -> serde_json::Value {
    json!({
        "scenario": question.scenario.map(|scenario| scenario.id),
        "line": question.script,
        "transport": question.transport.name(),
        "mode": question.mode.name(),
        "backends": answers,
    })
}

fn text(question: &Question, all: &[BackendAnswers], trace: bool) -> String {
    let mut out = String::new();
    if let Some(scenario) = question.scenario {
        // A behaviour of a file can be one of the catalogue.
        if scenario.behaviour != scenario.id {
            let _ = write!(out, "{} ", scenario.behaviour);
        }
        let _ = writeln!(out, "{}: {}", scenario.id, scenario.question);
    }
    let _ = writeln!(out, "{}\n{}, {}\n", question.script, question.transport, question.mode);
    out.push_str(&table(all));
    for BackendAnswers { backend, ending, answers, trace: clauses } in all {
        for Answer { variant, answer, defect, .. } in answers {
            if let Some(defect) = defect {
                let _ = writeln!(
                    out,
                    "\n{backend}: {variant}: {answer}: {}, which is wrong in every reading",
                    defect.meaning()
                );
            }
        }
        let why = match ending {
            Ending::Performed => None,
            Ending::Unsupported(why) => Some(("unsupported", why)),
            Ending::Broken(why) => Some(("broken", why)),
            Ending::Timeout(why) => Some(("timeout", why)),
            Ending::Crash(why) => Some(("crash", why)),
        };
        if let Some((name, why)) = why {
            let _ = writeln!(out, "\n{backend}: {name}: {why}");
        }
        let ended = matches!(ending, Ending::Performed | Ending::Unsupported(_));
        if (trace || !ended) && !clauses.is_empty() {
            let _ = writeln!(out, "\n{backend}");
            clauses.iter().for_each(|clause| out += &format!("  {clause}\n"));
        }
    }
    out
}

/// Formats queries as rows, backends as columns.
fn table(all: &[BackendAnswers]) -> String {
    let mut order: Vec<(String, String, usize)> = Vec::new();
    let mut answers: Vec<BTreeMap<(String, String, usize), &str>> = Vec::new();
    for one in all {
        let mut of_this = BTreeMap::new();
        let mut place = 0;
        for Answer { variant, api, answer, .. } in &one.answers {
            let label = label(api, &one.backend);
            let nth = (0..).find(|nth| !of_this.contains_key(&(variant.clone(), label.clone(), *nth)));
            let key = (variant.clone(), label, nth.unwrap_or(0));
            // A new row follows this backend's previous one, so that rows stay in the order of the script.
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
    let mut table = Table::default();
    table.add(std::iter::once("").chain(all.iter().map(|one| one.backend.as_str())));
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
        table.add(std::iter::once(name).chain(cells));
    }
    table.text(false)
}

/// Returns the label of a query that backends share. The first query of a state has an empty label.
fn label(api: &str, backend: &str) -> String {
    match api.strip_prefix(backend) {
        Some("" | "-add-before") => String::new(),
        Some("-add-after") => "registered late".into(),
        Some("-events0") => "events=0".into(),
        Some(rest) => rest.trim_start_matches('-').to_owned(),
        None => api.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers_of(backend: &str, answers: &[(&str, &str, &str)]) -> BackendAnswers {
        let answer = |(variant, api, answer): &(&str, &str, &str)| {
            let (variant, api, answer) = ((*variant).to_owned(), (*api).to_owned(), (*answer).to_owned());
            Answer { variant, api, trigger: None, answer, defect: None }
        };
        let answers = answers.iter().map(answer).collect();
        BackendAnswers { backend: backend.into(), ending: Ending::Performed, answers, trace: Vec::new() }
    }

    #[test]
    fn the_same_query_is_one_row_for_all_backends() {
        let text = table(&[
            answers_of(
                "poll",
                &[("tcp", "poll", "IN"), ("tcp", "poll-events0", "-"), ("tcp:end", "read", "0")],
            ),
            answers_of(
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
            "  registered late        OUT",
            "  events=0         -",
            "tcp:end  read      0     0",
            "  again                  HUP",
            "  again                  silent",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
