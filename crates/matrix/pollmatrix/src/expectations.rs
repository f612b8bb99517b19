//! `pollmatrix expectations`: the expected answers of each system: shown side by side, checked, and extended.

pub mod judge;
pub mod oracle;
pub mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::ErrorKind;
use std::num::NonZeroU32;
use std::path::Path;
use std::process::ExitCode;

use matrix::output;
use matrix::plan::Source;
use metadata::{Os, did_you_mean, nearest};
use raw::expectations::{
    Compared, Divergences, Expectation, Expectations, History, Range, is_overlay, macos_of_darwin,
};
use serde_json::{Value, json};

use crate::args::Format;
use crate::error::Error;
use crate::{Common, exit};
use judge::JudgeArgs;
use oracle::OracleArgs;
use record::RecordArgs;

#[derive(clap::Subcommand)]
pub enum ExpectationsCommand {
    /// Show the expected answers of each system's pollers, side by side
    Show(ShowArgs),
    /// Check the files; exit with 2 if one of them is malformed
    Check,
    /// Write new answers into the expectations, for review
    ///
    /// Reads results of characterisation cells, and adds the missing answers to answers/OS.yml, with the
    /// kernel that gave them as the source. Existing answers stay, except hypotheses that a result
    /// contradicts. An answer that contradicts a measurement is printed, but not written.
    #[command(after_help = exit::RECORD_HELP)]
    Record(RecordArgs),
    /// Judge results again, by today's expectations
    ///
    /// Compares the answers of characterisation cells with the expectations for the system and the version
    /// that gave them, which may be others than this machine's. Runs nothing. Contract cells keep their
    /// verdicts.
    #[command(after_help = exit::JUDGE_HELP)]
    Judge(JudgeArgs),
    /// Print the measured answers of one kernel as JSON, for `pollmatrix diff --against` and other programs
    ///
    /// docs/oracle.schema.json describes the form. Without KERNEL and --out, lists the kernels.
    Oracle(OracleArgs),
}

#[derive(clap::Args)]
pub struct ShowArgs {
    /// Only behaviours, or states of one, that begin with PREFIX: V, V26, V26/pipe:read-end
    #[arg(value_name = "PREFIX")]
    pub prefixes: Vec<String>,
    /// Only the answers of this system; repeatable
    #[arg(long = "os", value_name = "OS")]
    pub systems: Vec<Os>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Carries out the command.
pub fn run(common: &Common, command: &ExpectationsCommand) -> Result<ExitCode, Error> {
    let dir = common.expectations.as_deref();
    let text = match command {
        ExpectationsCommand::Show(args) => read(dir, |answers| show(answers, args))?,
        ExpectationsCommand::Oracle(args) => read(dir, |answers| oracle::run(answers, args))?,
        ExpectationsCommand::Check => {
            let environment = common.environment(false, NonZeroU32::MIN)?;
            let source = Source::load(common.matrix.as_deref(), &environment)?;
            read(dir, |answers| check(answers, dir, &source))?
        }
        ExpectationsCommand::Record(args) => return record::run(dir, args),
        ExpectationsCommand::Judge(args) => return judge::run(dir, args),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Calls `then` with the expectations of the folder, or with the built-in ones.
fn read<T>(dir: Option<&Path>, then: impl FnOnce(&Expectations) -> Result<T, Error>) -> Result<T, Error> {
    match dir {
        Some(dir) => then(&Expectations::load(dir)?),
        None => then(Expectations::built_in()?),
    }
}

/// Formats the expected answers.
fn show(answers: &Expectations, args: &ShowArgs) -> Result<String, Error> {
    let questions = asked(answers, args)?;
    Ok(match args.format {
        Format::Text => side_by_side(&questions),
        Format::Json => metadata::json(&Value::from_iter(questions.iter().map(Question::describe))),
    })
}

/// Checks the names of cells against the matrix, that every bound of versions is measured on both sides, and
/// that a scenario asks about every hypothesis. Reading the files has checked everything else.
fn check(answers: &Expectations, dir: Option<&Path>, source: &Source<'_>) -> Result<String, Error> {
    let loaded;
    let divergences = match dir {
        Some(dir) => {
            loaded = Divergences::load(dir)?;
            &loaded
        }
        None => Divergences::built_in()?,
    };
    divergences.check_cells(&source.matrix)?;
    if let Some(dir) = dir {
        for adapter in folders(&dir.join("adapters"))? {
            Os::ALL.iter().try_for_each(|os| Expectations::of_folder(dir, *os, &[&adapter]).map(drop))?;
        }
    }
    let problems = answers.unmeasured_bounds();
    if !problems.is_empty() {
        return Err(Error::Bounds(problems));
    }
    let orphans = answers.orphans();
    if !orphans.is_empty() {
        return Err(Error::Orphans(orphans));
    }
    let mut text = String::new();
    for (os, answers) in answers.systems() {
        let hypotheses = answers.iter().filter(|answer| answer.source.evidence.is_hypothesis()).count();
        let _ = writeln!(text, "{os}: {} measured, {hypotheses} hypotheses", answers.len() - hypotheses);
    }
    let _ = writeln!(text, "divergences: {}", divergences.iter().count());
    let past = match dir {
        Some(dir) => History::load(dir)?.answers().len(),
        None => History::built_in()?.answers().len(),
    };
    let _ = writeln!(text, "questions to past systems: {past}");
    Ok(text)
}

/// Returns the names of the adapters with recorded answers.
pub fn adapters(dir: Option<&Path>) -> Result<BTreeSet<String>, Error> {
    let mut names = dir.map(|dir| folders(&dir.join("adapters"))).transpose()?.unwrap_or_default();
    if dir.map(is_overlay).transpose()?.unwrap_or(true) {
        names.extend(raw::expectations::adapters().map(str::to_owned));
    }
    Ok(names)
}

/// Returns the names of the folders in a folder. None if there is no such folder.
fn folders(dir: &Path) -> Result<BTreeSet<String>, Error> {
    let help = "name a folder that you may read with --expectations DIR";
    let failed = |source| Error::from(matrix::Error::io("read", dir, help)(source));
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(failed(error)),
    };
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        Some(entry.map(|entry| entry.file_name().into_string().ok()).transpose()?.map_err(&failed))
    };
    entries.filter_map(name).collect()
}

/// One question, and the answers of the systems to it.
pub struct Question<'a> {
    pub behaviour: &'a str,
    pub variant: &'a str,
    /// The API and the trigger, with `queue` for epoll and kqueue.
    pub asked: String,
    pub answers: BTreeMap<Os, Vec<&'a Expectation>>,
}

/// Returns the selected questions, in the order of the catalogue.
fn asked<'a>(answers: &'a Expectations, args: &ShowArgs) -> Result<Vec<Question<'a>>, Error> {
    let key = |answer: &Expectation| format!("{}/{}", answer.behaviour, answer.variant);
    for prefix in &args.prefixes {
        let mut all = answers.systems().flat_map(|(_, answers)| answers);
        if !all.any(|answer| key(answer).starts_with(prefix.as_str())) {
            return Err(Error::UnknownRow { prefix: prefix.clone(), help: suggest(prefix, answers) });
        }
    }
    let wanted = |answer: &Expectation| {
        args.prefixes.is_empty()
            || args.prefixes.iter().any(|prefix| key(answer).starts_with(prefix.as_str()))
    };
    let of_wanted_system = |os| args.systems.is_empty() || args.systems.contains(&os);
    let questions = questions(answers, |os, answer| of_wanted_system(os) && wanted(answer));
    if questions.is_empty() {
        let names: Vec<_> = args.systems.iter().map(|os| os.name()).collect();
        return Err(Error::NoAnswers(names.join(" and ")));
    }
    Ok(questions)
}

/// Returns the questions of the wanted answers, in the order of the catalogue.
pub fn questions(answers: &Expectations, wanted: impl Fn(Os, &Expectation) -> bool) -> Vec<Question<'_>> {
    let mut questions: BTreeMap<(&str, &str, String), BTreeMap<Os, Vec<&Expectation>>> = BTreeMap::new();
    for (os, answers) in answers.systems() {
        for answer in answers.iter().filter(|answer| wanted(os, answer)) {
            let same = questions.entry((&answer.behaviour, &answer.variant, question(answer))).or_default();
            same.entry(os).or_default().push(answer);
        }
    }
    let question = |((behaviour, variant, asked), answers)| Question { behaviour, variant, asked, answers };
    questions.into_iter().map(question).collect()
}

/// Returns the help for a prefix without expectations.
fn suggest(prefix: &str, answers: &Expectations) -> String {
    let behaviours = || raw::expectations::BEHAVIOURS.iter().map(|(id, _)| *id);
    // The id is correct, but there is no answer yet.
    if let Some(title) = raw::expectations::title(prefix) {
        return format!("the catalogue has it ({title}), but no answer is recorded");
    }
    if !prefix.contains('/') {
        return match nearest(prefix, behaviours()) {
            Some(_) => did_you_mean(prefix, behaviours()),
            None => "ids are 2.7, or a letter with two digits: V26; `pollmatrix expectations show` shows all"
                .into(),
        };
    }
    let all = answers.systems().flat_map(|(_, answers)| answers);
    let mut keys: Vec<_> = all.map(|answer| format!("{}/{}", answer.behaviour, answer.variant)).collect();
    keys.dedup();
    match nearest(prefix, keys.iter().map(String::as_str)) {
        Some(near) => format!("did you mean '{near}'?"),
        None => "`pollmatrix expectations show ID` shows the states of a behaviour".into(),
    }
}

fn question(answer: &Expectation) -> String {
    shared_name(&answer.question())
}

/// Returns an API and a trigger under a name that systems share: `queue@level` for `epoll@level`.
pub fn shared_name(asked: &str) -> String {
    for queue in ["epoll", "kqueue"] {
        match asked.strip_prefix(queue) {
            Some(rest) if !rest.starts_with('_') => return format!("queue{rest}"),
            _ => {}
        }
    }
    asked.to_owned()
}

impl Question<'_> {
    /// Returns whether two systems answer differently. Unstable answers and answers in different notations
    /// are not compared.
    pub fn differs(&self) -> bool {
        let answers: Vec<_> = self
            .answers
            .iter()
            .flat_map(|(os, answers)| answers.iter().map(move |answer| (os, answer)))
            .collect();
        let pairs = answers
            .iter()
            .enumerate()
            .flat_map(|(index, one)| answers[index + 1..].iter().map(move |two| (one, two)));
        pairs.into_iter().any(|((one_os, one), (two_os, two))| one_os != two_os && differ(one, two))
    }

    fn describe(&self) -> Value {
        let answers: BTreeMap<_, Vec<_>> = self
            .answers
            .iter()
            .map(|(os, answers)| (os.name(), answers.iter().map(|answer| describe(answer)).collect()))
            .collect();
        json!({
            "behaviour": self.behaviour,
            "title": raw::expectations::title(self.behaviour),
            "variant": self.variant,
            "asked": self.asked,
            "differs": self.differs(),
            "answers": answers,
        })
    }
}

fn differ(one: &Expectation, two: &Expectation) -> bool {
    let agree = |one: &Expectation, two: &Expectation| {
        two.allowed.iter().any(|allowed| one.compare(allowed) != Compared::Different)
    };
    // epoll's bits and kqueue's filters are different notations. Silence and errors have the same notation in
    // both.
    let plain = |answer: &Expectation| {
        let words =
            |text: &String| text.starts_with("silent") || text.starts_with('E') && !text.contains(' ');
        answer.allowed.iter().all(words)
    };
    let comparable = one.api == two.api || plain(one) || plain(two);
    comparable && !agree(one, two) && !agree(two, one)
}

fn describe(answer: &Expectation) -> Value {
    json!({
        "api": answer.api,
        "trigger": answer.trigger,
        "answers": answer.allowed,
        "seen": answer.seen,
        "unstable": answer.unstable.map(|why| why.name()),
        "evidence": answer.source.evidence.letter(),
        "hypothesis": answer.source.evidence.is_hypothesis(),
        "source": answer.source.text,
        "measured_on": answer.source.version.as_ref().map(ToString::to_string),
        "confirmed_on": answer.confirmed_versions().map(ToString::to_string).collect::<Vec<_>>(),
        "url": answer.source.url,
        "since": answer.range.since.as_ref().map(ToString::to_string),
        "until": answer.range.until.as_ref().map(ToString::to_string),
        "note": answer.note,
    })
}

/// Formats one table per state: questions as rows, systems as columns.
fn side_by_side(questions: &[Question<'_>]) -> String {
    let mut out = String::new();
    let mut behaviour = "";
    for state in questions.chunk_by(|one, two| (one.behaviour, one.variant) == (two.behaviour, two.variant)) {
        let first = &state[0];
        if first.behaviour != behaviour {
            let _ = writeln!(
                out,
                "{}: {}\n",
                first.behaviour,
                raw::expectations::title(first.behaviour).unwrap_or_default()
            );
            behaviour = first.behaviour;
        }
        table(&mut out, state);
    }
    let differing = questions.iter().filter(|question| question.differs()).count();
    let _ = writeln!(out, "{} questions, {differing} with different answers", questions.len());
    out.push_str(
        "M measured  K kernel source  T another test suite  I issue or commit  D manual page  ? unknown\n",
    );
    out
}

fn table(out: &mut String, state: &[Question<'_>]) {
    let mut systems: Vec<Os> = state.iter().flat_map(|question| question.answers.keys().copied()).collect();
    systems.sort_unstable();
    systems.dedup();
    let mut lines = vec![vec![state[0].variant.to_owned()]];
    lines[0].extend(systems.iter().map(|os| os.name().to_owned()));
    for question in state {
        let mut line = vec![format!("  {}", question.asked)];
        line.extend(
            systems
                .iter()
                .map(|os| question.answers.get(os).map_or(String::new(), |answers| cell(*os, answers))),
        );
        if question.differs() {
            line.push("differs".into());
        }
        lines.push(line);
    }
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|text| text.chars().count()).max()
    };
    let widths: Vec<_> = (0..=systems.len()).map(|column| width(column).unwrap_or(0)).collect();
    for line in &lines {
        let text = line.iter().enumerate().fold(String::new(), |mut text, (column, cell)| {
            let _ = write!(text, "{cell:width$}  ", width = widths.get(column).copied().unwrap_or(0));
            text
        });
        let _ = writeln!(out, "{}", text.trim_end());
    }
    for question in state {
        for (os, answers) in &question.answers {
            for remark in answers.iter().filter_map(|answer| remark(answer)) {
                let _ = writeln!(out, "  {os}, {}: {remark}", question.asked);
            }
        }
    }
    out.push('\n');
}

/// Returns notes about an answer; for one that was not measured, with its source.
fn remark(answer: &Expectation) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(answer.note.clone());
    parts.extend(answer.seen.as_ref().map(|seen| format!("seen: {seen}")));
    if answer.source.evidence.is_hypothesis() {
        parts.push(answer.source.text.clone());
        parts.extend(answer.source.url.clone());
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Formats answers such as `IN|HUP (M)`, with their restrictions.
fn cell(os: Os, answers: &[&Expectation]) -> String {
    let texts: Vec<_> = answers
        .iter()
        .map(|answer| {
            let mut about = vec![answer.source.evidence.letter().to_owned()];
            about.extend(answer.unstable.map(|why| format!("varies: {}", why.name())));
            about.extend((answer.range != Range::default()).then(|| range(os, &answer.range)));
            format!("{} ({})", answer.allowed.join(" or "), about.join(", "))
        })
        .collect();
    texts.join("; ")
}

/// Formats a range of versions; for macOS, also with the marketing version.
pub fn range(os: Os, range: &Range) -> String {
    let since = range.since.as_ref().filter(|_| os == Os::MacOs).and_then(macos_of_darwin);
    match since {
        Some(macos) => format!("{range}, {macos}"),
        None => range.to_string(),
    }
}
