//! Each hook of the protocol is one line in a known form, and each name has a hook.

use std::collections::BTreeSet;

use pollmatrix_fd_core::hooks::checkpoint::Point;
use pollmatrix_fd_core::hooks::fault::Fault;

mod source;

/// The width of a line, as in rustfmt.toml. rustfmt does not wrap the lines of these macros.
const WIDTH: usize = 110;

/// The files of this crate and of the backends, each with its text, without the hooks themselves.
fn sources() -> Vec<(String, String)> {
    let crates = ["fd-core", "poller-epoll", "poller-kqueue", "poller-poll", "poller-select"];
    let files =
        |of| source::files(of).into_iter().map(move |(file, text)| (format!("{of}/src/{file}"), text));
    let all = crates.into_iter().flat_map(files);
    all.filter(|(file, _)| !file.starts_with("fd-core/src/hooks/")).collect()
}

/// Every line with a hook: its number, and the line without its indentation.
fn hooks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_hook = |line: &str| {
        let hooks = ["checkpoint!(", "fault!(", "unless!(", "ordering!("];
        !line.trim_start().starts_with("//") && hooks.iter().any(|hook| line.contains(hook))
    };
    text.lines().enumerate().filter(move |(_, line)| is_hook(line)).map(|(at, line)| (at + 1, line))
}

/// The names of a hook, if it is in a known form.
fn names(line: &str) -> Option<Vec<&str>> {
    let line = line.trim_start();
    let is_name = |name: &&str| name.chars().all(char::is_alphanumeric) && !name.is_empty();
    let all = |names: &[&'_ str]| names.iter().all(is_name);
    if let Some((_, rest)) = line.split_once("ordering!(") {
        let (name, strong) = rest.split_once(')')?.0.split_once(", ")?;
        return ["AcqRel", "Acquire", "Release"].contains(&strong).then(|| vec![name]);
    }
    let (form, rest) = line.strip_suffix(");")?.split_once("!(")?;
    let names: Vec<_> = match form {
        "checkpoint" => vec![rest.split(", ").next()?],
        "fault" | "unless" => {
            let (names, _) = rest.split_once(" => ")?;
            let is_variable = |value: &str| value.chars().all(|c| c.is_alphanumeric() || c == '_');
            let names = match names.split_once(": ") {
                Some((names, value)) if form == "fault" && is_variable(value) => names,
                Some(_) => return None,
                None => names,
            };
            names.split(", ").collect()
        }
        _ => return None,
    };
    all(&names).then_some(names)
}

#[test]
fn every_hook_is_one_line_in_a_known_form() {
    let mut wrong = vec![];
    for (file, text) in sources() {
        for (at, line) in hooks(&text) {
            if names(line).is_none() || line.chars().count() > WIDTH {
                wrong.push(format!("{file}:{at}: {}", line.trim()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "error: these hooks are not one line of at most {WIDTH} characters, in a form of src/hooks/mod.rs:\n{}\n\
         help: put what does not fit into a function of a `mistakes` module",
        wrong.join("\n")
    );
}

#[test]
fn every_name_has_a_hook() {
    let sources = sources();
    let hooked: BTreeSet<_> = sources
        .iter()
        .flat_map(|(_, text)| hooks(text))
        .filter_map(|(_, line)| names(line))
        .flatten()
        .collect();
    let faults = Fault::SCENARIOS.iter().chain(Fault::MODELS).map(|fault| format!("{fault:?}"));
    let points = Point::ALL.iter().map(|point| point.name().to_owned());
    let names: Vec<String> = faults.chain(points).collect();
    assert!(names.len() > 150, "this test finds too few names: {names:?}");
    for name in &names {
        assert!(
            hooked.contains(name.as_str()),
            "{name} can be switched on or waited for, and no line has it"
        );
    }
    for name in hooked {
        assert!(names.iter().any(|known| known == name), "{name} is neither a fault nor a checkpoint");
    }
}

#[test]
fn every_form_of_a_hook_is_distinguished() {
    for (line, expected) in [
        ("    checkpoint!(Closed, number);", Some(vec!["Closed"])),
        ("checkpoint!(WorkDone);", Some(vec!["WorkDone"])),
        ("fault!(NoToken: state => 1);", Some(vec!["NoToken"])),
        ("fault!(A, B => if x { return y });", Some(vec!["A", "B"])),
        ("unless!(A, B => step());", Some(vec!["A", "B"])),
        ("word.load(ordering!(PinRelaxed, Acquire))", Some(vec!["PinRelaxed"])),
        ("word.load(ordering!(PinRelaxed, Relaxed))", None),
        ("fault!(A => {", None),
        ("unless!(A: value => 1);", None),
        ("let x = fault!(A => 1);", None),
        ("if y { fault!(A => 1); }", None),
        ("fault!(a.b: x => 1);", None),
    ] {
        assert_eq!(names(line), expected, "{line}");
    }
}
