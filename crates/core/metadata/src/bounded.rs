//! Reads files that a person names, which may be endless: a device, or a pipe.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The longest text that a person writes, such as a matrix file or behaviours: 64 MiB.
const TEXT: u64 = 64 << 20;

/// Reads at most `limit` bytes, a whole number of MiB.
///
/// # Errors
/// The errors of read(2); [`ErrorKind::FileTooLarge`] if there are more.
pub fn read_at_most(from: impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(Error::new(ErrorKind::FileTooLarge, format!("it is longer than {} MiB", limit >> 20))),
        false => Ok(bytes),
    }
}

/// Reads a text file of a person.
///
/// # Errors
/// The errors of open(2) and read(2); the file is not UTF-8, or is longer than any such file.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = read_at_most(File::open(path)?, TEXT)?;
    String::from_utf8(bytes)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_file_is_refused_and_one_of_the_greatest_length_is_read() {
        let error = read_at_most(std::io::repeat(b'x'), 1 << 20).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (ErrorKind::FileTooLarge, "it is longer than 1 MiB".into())
        );
        assert_eq!(read_at_most(std::io::repeat(b'x').take(1 << 20), 1 << 20).unwrap().len(), 1 << 20);
        let error = read_text(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.to_string(), "it is longer than 64 MiB");
    }
}
