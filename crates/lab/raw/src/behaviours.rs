//! The scenarios of the characterisation layer: `behaviours.tsv`, a line for each.

use std::fmt::Display;
use std::slice;
use std::str::FromStr;
use std::sync::OnceLock;

use metadata::Scripted;

const FILE: &str = include_str!("../behaviours.tsv");

/// Returns all scenarios, family by family, in the order of the catalogue.
///
/// # Panics
/// If the built-in file has a line that is no scenario; a test reads all of them.
pub fn scenarios() -> slice::Iter<'static, Scripted> {
    static SCENARIOS: OnceLock<Vec<Scripted>> = OnceLock::new();
    let lines = (1..).zip(FILE.lines()).filter(|(_, line)| !line.starts_with('#'));
    let scenario = |(number, line)| {
        parse(line).unwrap_or_else(|why| panic!("crates/lab/raw/behaviours.tsv:{number}: {why}"))
    };
    SCENARIOS.get_or_init(|| lines.map(scenario).collect()).iter()
}

/// Returns the scenario with this id.
pub fn find(id: &str) -> Option<&'static Scripted> {
    scenarios().find(|scenario| scenario.id == id)
}

fn parse(line: &'static str) -> Result<Scripted, String> {
    let fields: Vec<_> = line.split('\t').collect();
    let [behaviour, id, transports, modes, question, script, bugs] = fields[..] else {
        return Err(format!("{} fields are separated by tabs, not 7", fields.len()));
    };
    let bugs: Vec<_> = if bugs == "-" { Vec::new() } else { bugs.split(' ').collect() };
    let (transports, modes) = (words(transports)?, words(modes)?);
    Ok(Scripted { behaviour, id, question, script, transports, modes, bugs: bugs.leak() })
}

/// Reads words that blanks separate.
fn words<T: FromStr<Err: Display>>(field: &str) -> Result<&'static [T], String> {
    let words: Result<Vec<T>, _> = field.split(' ').map(str::parse).collect();
    words.map(|words| &*words.leak()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_file_is_a_scenario_of_its_own() {
        let ids: std::collections::BTreeSet<_> = scenarios().map(|scenario| scenario.id).collect();
        assert_eq!(ids.len(), FILE.lines().filter(|line| !line.starts_with('#')).count());
        assert!(ids.len() > 200, "{}", ids.len());
    }

    #[test]
    fn a_malformed_line_is_refused_with_its_problem() {
        let line = FILE.lines().find(|line| !line.starts_with('#')).unwrap();
        for (text, problem) in [
            (line.replace('\t', " "), "1 fields are separated by tabs, not 7"),
            (line.replace("\ttcp", "\ttpc"), "unknown transport 'tpc'"),
            (line.replace("\tlevel", "\tlevle"), "unknown trigger 'levle'"),
        ] {
            let found = parse(text.leak()).unwrap_err();
            assert!(found.contains(problem), "{found}");
        }
    }
}
