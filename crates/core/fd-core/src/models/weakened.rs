//! Every model can fail. Each fault makes the models that the registry names fail, with a message that names
//! the invariant. Each runs in a process of its own, because a checker that has failed cannot continue.

use std::process::Command;

use super::{FULL, TABLE, WEAKEN, record};
use crate::hooks::fault::Fault;

/// A fault, a model that detects it, and the beginning of the model's message.
struct Weakening {
    fault: &'static str,
    model: &'static str,
    message: &'static str,
}

fn weakenings() -> impl Iterator<Item = Weakening> {
    let of = |fault: &Fault| {
        let fault = *fault;
        let models = fault.models().iter();
        models.map(move |(model, message)| Weakening { fault: fault.name(), model, message })
    };
    Fault::ALL.iter().flat_map(of)
}

/// Runs the model with the weakening. Returns its message, or the reason why the weakening is not detected.
fn detect(weakening: &Weakening) -> Result<String, String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([&format!("models::{}", weakening.model), "--exact", "--nocapture", "--test-threads=1"])
        .env(WEAKEN, weakening.fault)
        .env("RUST_BACKTRACE", "0")
        .env_remove(TABLE)
        // The quick bounds must detect it, because those run every day.
        .env_remove(FULL)
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        let ran = text.contains("1 passed");
        return Err(if ran { "the model passes".into() } else { "there is no such model".into() });
    }
    // The message follows the line with the place of the panic. assert_eq! adds a prefix.
    let mut lines = text.lines().skip_while(|line| !line.contains("panicked at")).skip(1);
    let message = lines.next().unwrap_or("(no message)");
    let message = message.strip_prefix("assertion `left == right` failed: ").unwrap_or(message);
    if message.starts_with(weakening.message) {
        Ok(message.into())
    } else {
        Err(format!("other message: {message}"))
    }
}

#[test]
fn every_weakening_is_detected() {
    if std::env::var_os(WEAKEN).is_some() {
        return;
    }
    let mut survivors = vec![];
    for weakening in weakenings() {
        let result = detect(&weakening);
        let text = match &result {
            Ok(message) => message.clone(),
            Err(reason) => format!("SURVIVES: {reason}"),
        };
        eprintln!("{:28} {:42} {text}", weakening.fault, weakening.model);
        record(&["weakened", weakening.fault, weakening.model, &text]);
        if result.is_err() {
            survivors.push(format!("{} in {}: {text}", weakening.fault, weakening.model));
        }
    }
    assert!(survivors.is_empty(), "not detected:\n{}", survivors.join("\n"));
}

#[test]
fn every_model_has_a_weakening() {
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
            assert!(weakenings().any(|weakening| weakening.model == model), "{model} has no weakening");
        }
    }
}
