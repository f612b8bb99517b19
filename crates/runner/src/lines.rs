//! Files of JSON lines that grow while cells run. One line that a disk or a crash has spoiled does not cost the others.

use std::path::Path;

/// How many line numbers a warning names.
const NAMED: usize = 10;

/// What such a file holds.
pub struct Lines<T> {
    /// The lines that can be read, with their numbers, which count from 1.
    pub whole: Vec<(usize, T)>,
    /// The numbers of the others.
    pub damaged: Vec<usize>,
    /// The number and the place of a part of a line at the end: its writer was killed.
    pub torn: Option<(usize, u64)>,
}

/// Reads the lines of `bytes`, each with `parse`.
pub fn read<T>(bytes: &[u8], parse: impl Fn(&[u8]) -> Option<T>) -> Lines<T> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = Lines { whole: Vec::new(), damaged: Vec::new(), torn: None };
    let mut count = 0;
    for line in bytes[..end].split_inclusive(|byte| *byte == b'\n') {
        count += 1;
        match parse(line) {
            Some(parsed) => lines.whole.push((count, parsed)),
            None => lines.damaged.push(count),
        }
    }
    lines.torn = (end < bytes.len()).then_some((count + 1, end as u64));
    lines
}

impl<T> Lines<T> {
    /// Whether there is no whole line, readable or not.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.damaged.is_empty()
    }

    /// What to warn about, if something is lost of the file at `path`.
    pub fn loss(&self, path: &Path) -> Option<String> {
        let mut parts = Vec::new();
        if !self.damaged.is_empty() {
            parts.push(format!("{} cannot be read", listed(&self.damaged)));
        }
        parts.extend(self.torn.map(|(number, _)| format!("the last line is not whole ({number})")));
        (!parts.is_empty())
            .then(|| format!("{}: {}; the other results are used", path.display(), parts.join(", ")))
    }
}

/// `line 3`, `2 lines (3, 7)`, `11 lines (1, 2, …)`.
pub fn listed(numbers: &[usize]) -> String {
    if let [only] = numbers {
        return format!("line {only}");
    }
    let named: Vec<_> = numbers.iter().take(NAMED).map(usize::to_string).collect();
    let more = if numbers.len() > NAMED { ", …" } else { "" };
    format!("{} lines ({}{more})", numbers.len(), named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(bytes: &[u8]) -> Lines<u32> {
        read(bytes, |line| serde_json::from_slice(line).ok())
    }

    fn loss(bytes: &[u8]) -> Option<String> {
        numbers(bytes).loss(Path::new("file"))
    }

    #[test]
    fn a_damaged_line_costs_no_other() {
        let lines = numbers(b"1\n\xff\n3\n\n5\n6");
        assert_eq!(lines.whole, [(1, 1), (3, 3), (5, 5)]);
        assert_eq!((lines.damaged, lines.torn), (vec![2, 4], Some((6, 9))));
        assert_eq!((numbers(b"").torn, numbers(b"12").torn), (None, Some((1, 0))));
        assert!(numbers(b"12").is_empty() && !numbers(b"x\n").is_empty());
    }

    #[test]
    fn what_is_lost_is_counted_and_named() {
        assert_eq!(loss(b"1\n2\n"), None);
        assert_eq!(loss(b"1\nx\n").unwrap(), "file: line 2 cannot be read; the other results are used");
        assert_eq!(
            loss(b"x\n2\nx\n4").unwrap(),
            "file: 2 lines (1, 3) cannot be read, the last line is not whole (4); the other results are used"
        );
        let many = loss(&b"x\n".repeat(11)).unwrap();
        assert!(many.contains("11 lines (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …) cannot be read;"), "{many}");
    }
}
