//! Every model can fail: each rule that is broken, and each fault, is caught by the model that `weakened.tsv` names, with a
//! message that names the invariant. One process each, because a checker that has failed cannot go on.

use std::process::Command;

use super::{FULL, TABLE, WEAKEN, note};
use crate::hooks::mutant::Mutant;

/// Rule or fault, the model that catches it, and what its message begins with.
struct Weakening<'a> {
    rule: &'a str,
    model: &'a str,
    says: &'a str,
}

fn weakenings() -> impl Iterator<Item = Weakening<'static>> {
    include_str!("weakened.tsv").lines().map(|line| {
        let mut columns = line.split('\t');
        let mut next = || columns.next().unwrap_or_else(|| panic!("weakened.tsv: three columns: {line}"));
        Weakening { rule: next(), model: next(), says: next() }
    })
}

/// What a model says when this is broken, or that it holds all the same.
fn caught(weakening: &Weakening<'_>) -> Result<String, String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([&format!("models::{}", weakening.model), "--exact", "--nocapture", "--test-threads=1"])
        .env(WEAKEN, weakening.rule)
        .env("RUST_BACKTRACE", "0")
        .env_remove(TABLE)
        // What a quick model does not see, nobody would see every day.
        .env_remove(FULL)
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        let ran = text.contains("1 passed");
        return Err(if ran { "holds all the same".into() } else { "there is no such model".into() });
    }
    // The message is behind the place of the panic; assert_eq! has its own words before.
    let mut lines = text.lines().skip_while(|line| !line.contains("panicked at")).skip(1);
    let said = lines.next().unwrap_or("(no message)");
    let said = said.strip_prefix("assertion `left == right` failed: ").unwrap_or(said);
    if said.starts_with(weakening.says) { Ok(said.into()) } else { Err(format!("says: {said}")) }
}

#[test]
fn every_weakening_is_caught() {
    if std::env::var_os(WEAKEN).is_some() {
        return;
    }
    let mut survivors = vec![];
    for weakening in weakenings() {
        let result = caught(&weakening);
        let text = match &result {
            Ok(said) => said.clone(),
            Err(why) => format!("SURVIVES: {why}"),
        };
        eprintln!("{:28} {:42} {text}", weakening.rule, weakening.model);
        note(&["weakened", weakening.rule, weakening.model, &text]);
        if result.is_err() {
            survivors.push(format!("{} in {}: {text}", weakening.rule, weakening.model));
        }
    }
    assert!(survivors.is_empty(), "not caught:\n{}", survivors.join("\n"));
}

#[test]
fn every_rule_and_every_model_has_a_weakening() {
    for mutant in Mutant::ALL {
        assert!(
            weakenings().any(|weakening| weakening.rule == mutant.name()),
            "no model is named for {}",
            mutant.name()
        );
    }
    let sources = [
        ("groups", include_str!("groups.rs")),
        ("interest", include_str!("interest.rs")),
        ("registration", include_str!("registration.rs")),
        ("list", include_str!("list.rs")),
        ("sleep", include_str!("sleep.rs")),
        ("updates", include_str!("updates.rs")),
    ];
    for (file, source) in sources {
        for test in source.split("#[test]\nfn ").skip(1) {
            let model = format!("{file}::{}", test.split('(').next().unwrap());
            assert!(weakenings().any(|weakening| weakening.model == model), "{model} was never seen to fail");
        }
    }
}
