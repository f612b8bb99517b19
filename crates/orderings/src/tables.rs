//! Reads the committed tables.

use wildmatch::WildMatch;

/// One build of the probes.
pub struct Target {
    /// The name of its assembly file, without `.s`.
    pub name: &'static str,
    /// The name of the target in rustc.
    pub triple: &'static str,
    /// The argument of `-C target-feature`; `-` for none.
    pub features: &'static str,
    /// Its processor in `instructions.tsv`.
    pub processor: &'static str,
}

/// The effect of an instruction on memory. `instructions.tsv` explains each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An atomic read-modify-write.
    Write,
    /// The load of a read-modify-write in two instructions.
    Linked,
    /// The store of a read-modify-write in two instructions.
    Conditional,
    /// A full fence.
    Fence,
    /// A fence for the compiler alone.
    Compiler,
    /// A weaker fence.
    Light,
    /// A load.
    Read,
    /// A plain store.
    Store,
    /// An access to the function's own frame.
    Stack,
    /// No access, although it looks like one.
    None,
    /// Any other instruction that may access memory.
    Unknown,
}

/// A row of `instructions.tsv`.
pub struct Pattern {
    /// The processor.
    pub processor: &'static str,
    /// The effect of the instruction.
    pub kind: Kind,
    /// The instruction in lower case, with its parts separated by single spaces.
    pub pattern: WildMatch,
}

/// A step of a side, in the order of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The write of the side's own word.
    Write,
    /// The fence.
    Fence,
    /// A read of the other side's word, or of both.
    Read,
}

/// One function of the probes.
pub struct Side {
    /// Its name, without `probe_`.
    pub name: &'static str,
    /// Its accesses.
    pub steps: Vec<Step>,
}

/// Returns the rows of a table, without its comments.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let rows = table.lines().filter(|line| !line.starts_with("# "));
    rows.map(|line| line.split('\t').collect())
}

fn malformed(table: &str, row: &[&str]) -> ! {
    panic!("error: {table}: malformed row: {row:?}\nhelp: the comment above the table describes its columns")
}

/// Reads `targets.tsv`.
pub fn targets() -> Vec<Target> {
    let target = |row: Vec<&'static str>| match row[..] {
        [name, triple, features, processor] => Target { name, triple, features, processor },
        _ => malformed("targets.tsv", &row),
    };
    rows(include_str!("../targets.tsv")).map(target).collect()
}

/// Reads `instructions.tsv`.
pub fn patterns() -> Vec<Pattern> {
    let kind = |name: &str| {
        Some(match name {
            "write" => Kind::Write,
            "linked" => Kind::Linked,
            "conditional" => Kind::Conditional,
            "fence" => Kind::Fence,
            "compiler" => Kind::Compiler,
            "light" => Kind::Light,
            "read" => Kind::Read,
            "store" => Kind::Store,
            "stack" => Kind::Stack,
            "none" => Kind::None,
            "unknown" => Kind::Unknown,
            _ => return None,
        })
    };
    let pattern = |row: Vec<&'static str>| match row[..] {
        [processor, name, pattern] => {
            let kind = kind(name).unwrap_or_else(|| malformed("instructions.tsv", &row));
            Pattern { processor, kind, pattern: WildMatch::new(pattern) }
        }
        _ => malformed("instructions.tsv", &row),
    };
    rows(include_str!("../instructions.tsv")).map(pattern).collect()
}

/// Reads `sides.tsv`.
pub fn sides() -> Vec<Side> {
    let step = |name: &str| match name {
        "write" => Step::Write,
        "fence" => Step::Fence,
        "read" => Step::Read,
        _ => malformed("sides.tsv", &[name]),
    };
    let side = |row: Vec<&'static str>| match row[..] {
        [name, steps] => Side { name, steps: steps.split(' ').map(step).collect() },
        _ => malformed("sides.tsv", &row),
    };
    rows(include_str!("../sides.tsv")).map(side).collect()
}

/// Reads `compiled.tsv`: target, side, instructions.
pub fn compiled() -> Vec<(&'static str, &'static str, &'static str)> {
    let row = |row: Vec<&'static str>| match row[..] {
        [target, side, instructions] => (target, side, instructions),
        _ => malformed("compiled.tsv", &row),
    };
    rows(include_str!("../compiled.tsv")).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_side_has_a_probe() {
        let probes = include_str!("../../ordering-probes/src/lib.rs");
        for Side { name, .. } in sides() {
            assert!(probes.contains(&format!("pub fn probe_{name}(")), "{name}");
        }
    }

    #[test]
    fn every_target_has_patterns() {
        let patterns = patterns();
        for target in targets() {
            for kind in [Kind::Fence, Kind::Read, Kind::Store, Kind::Unknown] {
                let known = patterns
                    .iter()
                    .any(|pattern| pattern.processor == target.processor && pattern.kind == kind);
                assert!(known, "{}: {kind:?}", target.processor);
            }
        }
    }
}
