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

/// A step of a side of a pair, with its word and value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Writes the value.
    Write(&'static str, u8),
    /// The fence.
    Fence,
    /// Reads the word. The value is part of the forbidden outcome.
    Read(&'static str, u8),
}

/// A pair of sides (or three sides), with its forbidden outcome.
pub struct Pair {
    /// Its name.
    pub name: &'static str,
    /// Each side's name and accesses.
    pub sides: Vec<(&'static str, Vec<Access>)>,
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

/// Reads `pairs.tsv`.
pub fn pairs() -> Vec<Pair> {
    let access = |text: &'static str| {
        let part = |text: &'static str| {
            let (word, value) = text.split_once('=')?;
            Some((word, value.parse().ok()?))
        };
        let known = match text.split_at_checked(2) {
            Some(("W:", rest)) => part(rest).map(|(word, value)| Access::Write(word, value)),
            Some(("R:", rest)) => part(rest).map(|(word, value)| Access::Read(word, value)),
            _ => (text == "F").then_some(Access::Fence),
        };
        known.unwrap_or_else(|| malformed("pairs.tsv", &[text]))
    };
    let mut pairs: Vec<Pair> = vec![];
    for row in rows(include_str!("../pairs.tsv")) {
        let [name, side, accesses] = row[..] else { malformed("pairs.tsv", &row) };
        let side = (side, accesses.split(' ').map(access).collect());
        match pairs.iter_mut().find(|pair| pair.name == name) {
            Some(pair) => pair.sides.push(side),
            None => pairs.push(Pair { name, sides: vec![side] }),
        }
    }
    pairs
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
    fn every_target_has_patterns_and_every_side_of_a_pair_is_compiled() {
        let (patterns, sides) = (patterns(), sides());
        for target in targets() {
            for kind in [Kind::Fence, Kind::Read, Kind::Store, Kind::Unknown] {
                let known = patterns
                    .iter()
                    .any(|pattern| pattern.processor == target.processor && pattern.kind == kind);
                assert!(known, "{}: {kind:?}", target.processor);
            }
        }
        for pair in pairs() {
            assert!(pair.sides.len() >= 2, "{}", pair.name);
            for (name, accesses) in pair.sides {
                let side = sides.iter().find(|side| side.name == name).expect(name);
                let mut steps = side.steps.iter();
                for access in accesses {
                    let step = match access {
                        Access::Write(..) => Step::Write,
                        Access::Fence => Step::Fence,
                        Access::Read(..) => Step::Read,
                    };
                    assert!(steps.any(|compiled| *compiled == step), "{} {name}: {access:?}", pair.name);
                }
            }
        }
    }

    /// In the forbidden outcome each side misses the other: it reads the value from before the other's write.
    /// If a third side writes, one of them has seen that write.
    #[test]
    fn every_read_of_a_pair_is_of_a_word_that_another_side_writes() {
        for pair in pairs() {
            for (index, (name, accesses)) in pair.sides.iter().enumerate() {
                for access in accesses {
                    let Access::Read(word, _) = access else { continue };
                    let others = pair.sides.iter().enumerate().filter(|(other, _)| *other != index);
                    let writes =
                        |access: &Access| matches!(access, Access::Write(written, _) if written == word);
                    let written = others.flat_map(|(_, (_, accesses))| accesses).any(writes);
                    assert!(written, "{} {name}: no other side writes {word}", pair.name);
                }
            }
        }
    }
}
