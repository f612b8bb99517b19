//! The commands in README.md and the guides exist, and the README stays short.

use std::process::Command;

use crate::tree::{blocks, read};

/// The pages whose shell blocks are checked.
const PAGES: [&str; 11] = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/tutorial.md",
    "docs/your-ci.md",
    "docs/reports.md",
    "docs/adapters.md",
    "docs/expectations.md",
    "docs/behaviours.md",
    "docs/elsewhere.md",
    "docs/explore.md",
    "docs/vm.md",
];

/// Returns the commands of the shell blocks, without comments and redirections.
fn commands(page: &str) -> Vec<Vec<String>> {
    let lines = blocks(page, "sh").into_iter().flat_map(str::lines);
    let split = |line: &str| {
        let words = shlex::split(line)?;
        let end = words.iter().position(|word| ["#", "|", ">", "||", "&&", "<<END"].contains(&word.as_str()));
        Some(words[..end.unwrap_or(words.len())].to_vec())
    };
    lines.filter_map(split).filter(|words| !words.is_empty()).collect()
}

/// Parses the command line, with `--help` appended so that it is not run. Returns the error message if it is
/// invalid.
fn parse(arguments: &[String]) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pollmatrix"));
    // The other arguments of adapter check belong to the adapter's command.
    let own = if arguments[0] == "adapter" { &arguments[..2] } else { arguments };
    let output = command.args(own).arg("--help").output().expect("the executable starts");
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn the_commands_of_the_pages_exist() {
    let recipes = read("justfile");
    let mut checked = 0;
    for page in PAGES {
        for words in commands(&read(page)) {
            let (program, arguments) = words.split_first().expect("empty commands are left out");
            match program.as_str() {
                "pollmatrix" => {
                    parse(arguments).unwrap_or_else(|error| panic!("{page}: {}:\n{error}", words.join(" ")))
                }
                "just" => {
                    // `just` without arguments lists the recipes.
                    let Some(recipe) = arguments.first() else { continue };
                    let is_head = |line: &str| line.split([' ', ':']).next() == Some(recipe);
                    assert!(recipes.lines().any(is_head), "{page}: the justfile has no recipe {recipe}");
                }
                _ => continue,
            }
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
}

#[test]
fn the_readme_names_the_test_command_of_ci() {
    let commands: Vec<_> = commands(&read("README.md")).into_iter().map(|words| words.join(" ")).collect();
    let ci = read(".ci/run");
    let step = ci.lines().find_map(|line| line.split_once("| test ")?.1.split_once("| "));
    let step = step.expect("CI has the step test").1;
    assert!(commands.iter().any(|command| command == step), "README.md does not contain {step:?}");
    assert!(
        commands.iter().any(|command| command == "cargo run --release"),
        "README.md does not run the matrix"
    );
}

/// The lines without their indentation.
fn dedented(text: &str) -> String {
    text.lines().map(|line| line.trim_start().to_owned() + "\n").collect()
}

#[test]
fn the_code_of_the_readme_is_in_the_example() {
    let example = dedented(&read("crates/core/fd-core/examples/echo_server.rs"));
    let readme = read("README.md");
    let shown = blocks(&readme, "rust");
    assert_eq!(shown.len(), 2, "the handlers, and their registration");
    for block in shown {
        assert!(example.contains(&dedented(block)), "README.md shows other code:\n{block}");
    }
}

#[test]
fn the_readme_has_at_most_a_thousand_words() {
    let words = read("README.md").split_whitespace().count();
    assert!(words <= 1000, "{words}");
}
