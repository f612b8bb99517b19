//! Files of JSON lines that grow during a run. A damaged line does not affect the others.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use metadata::{PathNames, read_at_most};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, REPORT_DIR_HELP, REPORT_FILE_HELP};

/// The greatest length of a file, that of results.
const BYTES: u64 = 1 << 30;

/// The greatest number of line numbers in a warning.
const NAMED: usize = 10;

/// The lines of a file.
pub struct Lines<T> {
    /// The readable lines, with their numbers, counted from 1.
    pub whole: Vec<(usize, T)>,
    /// The numbers of the unreadable lines.
    pub damaged: Vec<usize>,
    /// The number and the byte offset of a truncated line at the end, left by a writer that was killed.
    pub torn: Option<(usize, u64)>,
}

/// Returns the content of a file; `None` if there is no file.
fn content(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match File::open(path).and_then(|file| read_at_most(file, BYTES)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Reads the lines of `bytes`, the content of the file at `path`, each with `parse`.
///
/// # Errors
/// A line has a name that could lead a path elsewhere. A file that a person changed is read no further.
pub fn read<T: PathNames>(
    path: &Path,
    bytes: &[u8],
    parse: impl Fn(&[u8]) -> Option<T>,
) -> Result<Lines<T>, Error> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = Lines { whole: Vec::new(), damaged: Vec::new(), torn: None };
    let mut count = 0;
    for line in bytes[..end].split_inclusive(|byte| *byte == b'\n') {
        count += 1;
        match parse(line) {
            Some(parsed) => {
                let refused = |error| Error::PathName { path: path.to_path_buf(), line: count, error };
                parsed.check_path_names().map_err(refused)?;
                lines.whole.push((count, parsed));
            }
            None => lines.damaged.push(count),
        }
    }
    lines.torn = (end < bytes.len()).then_some((count + 1, end as u64));
    Ok(lines)
}

/// Reads the lines of the file at `path`, as [`read`] does; `None` if there is no file.
///
/// # Errors
/// The file cannot be read, or a line has a name that could lead a path elsewhere.
pub fn read_file<T: PathNames + DeserializeOwned>(path: &Path) -> Result<Option<Lines<T>>, Error> {
    let bytes = content(path).map_err(Error::io("read", path, REPORT_FILE_HELP))?;
    bytes.map(|bytes| read(path, &bytes, |line| serde_json::from_slice(line).ok())).transpose()
}

/// A file of a report directory, open to append lines. Each line is written with one call.
pub struct Appender {
    file: File,
    path: PathBuf,
}

impl Appender {
    /// Opens the file, or creates it. With `keep`, only its first bytes stay: a truncated line is removed, so
    /// that the next line does not continue it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn open(path: PathBuf, keep: Option<u64>) -> Result<Self, Error> {
        let open = || {
            let file = OpenOptions::new().create(true).append(true).open(&path)?;
            keep.map(|length| file.set_len(length)).transpose()?;
            Ok(file)
        };
        let file = open().map_err(Error::io("write", &path, REPORT_DIR_HELP))?;
        Ok(Self { file, path })
    }

    /// Appends a line.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, line: &impl Serialize) -> Result<(), Error> {
        let text = metadata::json_line(line);
        self.file.write_all(text.as_bytes()).map_err(Error::io("write", &self.path, REPORT_DIR_HELP))
    }
}

/// Renames `NAME.jsonl` to the first free one of `NAME-1.jsonl`, `NAME-2.jsonl`, …, and returns the new path.
///
/// # Errors
/// The file cannot be renamed.
pub fn set_aside(path: &Path) -> Result<PathBuf, Error> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let aside = (1..)
        .map(|number| path.with_file_name(format!("{stem}-{number}.jsonl")))
        .find(|name| !name.exists())
        .unwrap_or_else(|| unreachable!("there are more numbers than files"));
    std::fs::rename(path, &aside).map_err(Error::io("move aside", path, REPORT_DIR_HELP))?;
    Ok(aside)
}

impl<T> Lines<T> {
    /// Returns whether there is no whole line, readable or not.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.damaged.is_empty()
    }

    /// Returns a warning if lines of the file at `path` are lost.
    pub fn loss(&self, path: &Path) -> Option<String> {
        let mut parts = Vec::new();
        if !self.damaged.is_empty() {
            parts.push(format!("{} cannot be read", listed(&self.damaged)));
        }
        parts.extend(self.torn.map(|(number, _)| format!("the last line ({number}) is truncated")));
        (!parts.is_empty())
            .then(|| format!("{}: {}; the other results are used", path.display(), parts.join(", ")))
    }
}

/// Lists line numbers: `line 3`, `2 lines (3, 7)`, `11 lines (1, 2, …)`.
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
    use metadata::PathNameError;

    use super::*;

    /// A line with a number, which is refused if it has three digits.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
    struct Number(u32);

    impl PathNames for Number {
        fn check_path_names(&self) -> Result<(), PathNameError> {
            if self.0 < 100 {
                Ok(())
            } else {
                Err(PathNameError { field: "n".into(), value: self.0.to_string() })
            }
        }
    }

    fn read_numbers(bytes: &[u8]) -> Result<Lines<Number>, Error> {
        read(Path::new("file"), bytes, |line| serde_json::from_slice(line).ok())
    }

    fn numbers(bytes: &[u8]) -> Lines<Number> {
        read_numbers(bytes).expect("no number is refused")
    }

    fn loss(bytes: &[u8]) -> Option<String> {
        numbers(bytes).loss(Path::new("file"))
    }

    #[test]
    fn a_damaged_line_does_not_affect_the_others() {
        let lines = numbers(b"1\n\xff\n3\n\n5\n6");
        assert_eq!(lines.whole, [(1, Number(1)), (3, Number(3)), (5, Number(5))]);
        assert_eq!((lines.damaged, lines.torn), (vec![2, 4], Some((6, 9))));
        assert_eq!((numbers(b"").torn, numbers(b"12").torn), (None, Some((1, 0))));
        assert!(numbers(b"12").is_empty() && !numbers(b"x\n").is_empty());
    }

    #[test]
    fn a_line_with_a_refused_name_refuses_the_file() {
        let error = read_numbers(b"1\nx\n300\n4\n").err().expect("it is refused");
        assert_eq!(error.to_string(), "file:3: the field `n` is '300', which cannot be a part of a path");
    }

    #[test]
    fn lost_lines_are_counted_and_listed() {
        assert_eq!(loss(b"1\n2\n"), None);
        assert_eq!(loss(b"1\nx\n").unwrap(), "file: line 2 cannot be read; the other results are used");
        assert_eq!(
            loss(b"x\n2\nx\n4").unwrap(),
            "file: 2 lines (1, 3) cannot be read, the last line (4) is truncated; the other results are used"
        );
        let many = loss(&b"x\n".repeat(11)).unwrap();
        assert!(many.contains("11 lines (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …) cannot be read;"), "{many}");
    }
}
