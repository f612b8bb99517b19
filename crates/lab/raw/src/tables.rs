//! The tables of questions: `behaviours.tsv` and `omissions.tsv`, a line for each entry.

use std::fmt::Display;
use std::slice;
use std::str::FromStr;
use std::sync::LazyLock;

use metadata::Scripted;

const BEHAVIOURS: &str = include_str!("../behaviours.tsv");

/// A behaviour, or a published answer to one, that no script asks for.
#[derive(Clone, Copy, Debug)]
pub struct Omission {
    /// The behaviour (`F08`), or answers to it: `V30 * kqueue@level`. `*` stands for anything.
    pub pattern: &'static str,
    /// The reason.
    pub reason: &'static str,
    /// The contract scenarios that test it instead, if it is a property of a core above the poller.
    pub contract: &'static [&'static str],
}

/// Returns all scenarios of the characterisation layer, family by family, in the order of the catalogue.
///
/// # Panics
/// If the built-in file has a line that is no scenario; a test reads all of them.
pub fn scenarios() -> slice::Iter<'static, Scripted> {
    static SCENARIOS: LazyLock<Vec<Scripted>> =
        LazyLock::new(|| entries("behaviours.tsv", BEHAVIOURS, scenario));
    SCENARIOS.iter()
}

/// Returns the scenario with this id.
pub fn find(id: &str) -> Option<&'static Scripted> {
    scenarios().find(|scenario| scenario.id == id)
}

/// Returns the behaviours and published answers that no script asks for, with the reasons.
///
/// # Panics
/// If the built-in file has a malformed line; a test reads all of them.
pub fn omissions() -> &'static [Omission] {
    static OMISSIONS: LazyLock<Vec<Omission>> = LazyLock::new(|| {
        entries("omissions.tsv", include_str!("../omissions.tsv"), |line| {
            let [pattern, reason, contract] = fields(line)?;
            Ok(Omission { pattern, reason, contract: words(contract)? })
        })
    });
    &OMISSIONS
}

/// Returns the entries of a built-in table. Lines that begin with `#` explain it.
pub(crate) fn entries<T>(
    name: &str,
    file: &'static str,
    parse: impl Fn(&'static str) -> Result<T, String>,
) -> Vec<T> {
    let lines = (1..).zip(file.lines()).filter(|(_, line)| !line.starts_with('#'));
    let entry =
        |(number, line)| parse(line).unwrap_or_else(|why| panic!("crates/lab/raw/{name}:{number}: {why}"));
    lines.map(entry).collect()
}

/// Splits a line at its tabs.
pub(crate) fn fields<const N: usize>(line: &str) -> Result<[&str; N], String> {
    let fields: Vec<_> = line.split('\t').collect();
    let count = fields.len();
    fields.try_into().map_err(|_| format!("{count} fields are separated by tabs, not {N}"))
}

fn scenario(line: &'static str) -> Result<Scripted, String> {
    let [behaviour, id, transports, modes, question, script, bugs] = fields(line)?;
    let (transports, modes, bugs) = (parsed(transports)?, parsed(modes)?, words(bugs)?);
    Ok(Scripted { behaviour, id, question, script, transports, modes, bugs })
}

/// Reads words that blanks separate. A dash stands for none.
pub(crate) fn words(field: &'static str) -> Result<&'static [&'static str], String> {
    let words: Vec<_> = field.split(' ').filter(|word| *word != "-").collect();
    if words.contains(&"") { Err("an empty word".into()) } else { Ok(words.leak()) }
}

/// Reads words that blanks separate, and parses each.
fn parsed<T: FromStr<Err: Display>>(field: &'static str) -> Result<&'static [T], String> {
    let words: Result<Vec<T>, _> = field.split(' ').map(str::parse).collect();
    words.map(|words| &*words.leak()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_line_is_refused_with_its_problem() {
        let line = BEHAVIOURS.lines().find(|line| !line.starts_with('#')).unwrap();
        for (text, problem) in [
            (line.replace('\t', " "), "1 fields are separated by tabs, not 7"),
            (line.replace("\ttcp", "\ttpc"), "unknown transport 'tpc'"),
            (line.replace("\tlevel", "\tlevle"), "unknown trigger 'levle'"),
            (line.to_owned() + " ", "an empty word"),
        ] {
            let found = scenario(text.leak()).unwrap_err();
            assert!(found.contains(problem), "{found}");
        }
    }
}
