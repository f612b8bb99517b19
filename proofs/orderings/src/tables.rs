//! Reads the committed tables.

/// One build of the library.
#[derive(Clone, Copy)]
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
    pub pattern: &'static str,
}

impl Pattern {
    /// Returns whether the pattern matches the instruction.
    pub fn matches(&self, instruction: &str) -> bool {
        matches(self.pattern.as_bytes(), instruction.as_bytes())
    }
}

/// Matches `*` with any text, `?` with any byte, and every other byte with itself.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', rest @ ..] => (0..=text.len()).any(|from| matches(rest, &text[from..])),
        [first, rest @ ..] => text
            .split_first()
            .is_some_and(|(byte, after)| (*first == b'?' || first == byte) && matches(rest, after)),
    }
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
            Pattern { processor, kind, pattern }
        }
        _ => malformed("instructions.tsv", &row),
    };
    rows(include_str!("../instructions.tsv")).map(pattern).collect()
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
