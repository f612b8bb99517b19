//! Names of one error. Answers are compared by the error's number, which may have several names: the C
//! library has all of them, and a program prints one.

use metadata::Os;

/// Replaces each name of an error by the name that the files use for its number on this system.
pub(crate) fn with_usual_names(os: Os, answer: &str) -> String {
    // 95 on Linux, 45 on FreeBSD and DragonFly. macOS, NetBSD and OpenBSD have two numbers.
    if !matches!(os, Os::Linux | Os::FreeBsd | Os::DragonFly) || !answer.contains("ENOTSUP") {
        return answer.to_owned();
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut written = String::with_capacity(answer.len() + 3);
    let mut rest = answer;
    while let Some(at) = rest.find("ENOTSUP") {
        let (before, found) = rest.split_at(at);
        let after = &found["ENOTSUP".len()..];
        let is_whole = !before.ends_with(is_name) && !after.starts_with(is_name);
        written += before;
        written += if is_whole { "EOPNOTSUPP" } else { "ENOTSUP" };
        rest = after;
    }
    written + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_of_one_number_are_one_error() {
        for (os, answer, usual) in [
            (Os::FreeBsd, "ENOTSUP", "EOPNOTSUPP"),
            (Os::Linux, "R:ENOTSUP W:0", "R:EOPNOTSUPP W:0"),
            (Os::FreeBsd, "EOPNOTSUPP", "EOPNOTSUPP"),
            (Os::FreeBsd, "ENOTSUP then ENOTSUP", "EOPNOTSUPP then EOPNOTSUPP"),
            (Os::MacOs, "ENOTSUP", "ENOTSUP"),
            (Os::FreeBsd, "EPROTONOSUPPORT, ENOTSUPX", "EPROTONOSUPPORT, ENOTSUPX"),
            (Os::FreeBsd, "R(data=3)+EOF", "R(data=3)+EOF"),
        ] {
            assert_eq!(with_usual_names(os, answer), usual, "{os} {answer}");
        }
    }
}
