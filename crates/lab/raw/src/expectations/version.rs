//! Versions of kernels, as in `uname -r` and in the files.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use metadata::Os;
use serde::{Deserialize, Deserializer, de};

/// A kernel's version as numbers: 6.18.44.
///
/// The numbers are the system's own release numbers. For FreeBSD, the patch level is the third number:
/// 14.1-RELEASE-p3 is 14.1.3. For macOS, they are those of the Darwin kernel, which programs can query: see
/// [`macos_of_darwin`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Version(Vec<u32>);

/// gVisor was published in May 2018. Its releases are dates; 4.4.0 is that of the Linux that it imitates.
const FIRST_OF_GVISOR: u32 = 20_180_501;

impl Version {
    /// Parses the version in a release of `uname -r` on `os`, if it has one. In the release of a
    /// distribution's kernel, `6.1.0-56-amd64 (Debian 6.1.192-2)`, it is the one in brackets.
    pub fn of_release(os: Os, release: &str) -> Option<Self> {
        let inside = release.split_once(" (").and_then(|(_, inside)| inside.split_once(' '));
        if let (Os::Linux, Some((_, version))) = (os, inside) {
            return Self::of_release(os, version.trim_end_matches(')'));
        }
        let end = release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
        let (numbers, rest) = release.split_at(end);
        let mut version: Self = numbers.trim_end_matches('.').parse().ok()?;
        if os == Os::Gvisor && version.0[0] < FIRST_OF_GVISOR {
            return None;
        }
        let patch = rest.rsplit_once("-p").and_then(|(_, level)| level.parse().ok());
        if let (Os::FreeBsd, Some(patch)) = (os, patch) {
            version.0.push(patch);
        }
        Some(version)
    }

    /// Returns its numbers, the most important one first.
    pub fn numbers(&self) -> &[u32] {
        &self.0
    }

    /// Compares the first `parts` numbers. Missing numbers count as 0.
    fn compare(&self, other: &Self, parts: usize) -> Ordering {
        let number = |version: &Self, part| version.0.get(part).copied().unwrap_or(0);
        (0..parts)
            .map(|part| number(self, part).cmp(&number(other, part)))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// Returns whether it is `first` or later. 14.0 counts as 14.
    pub(crate) fn is_since(&self, first: &Self) -> bool {
        self.compare(first, self.0.len().max(first.0.len())).is_ge()
    }

    /// Returns whether it is `last` or earlier. Only the numbers of `last` count: 14.2 is until 14.
    pub(crate) fn is_until(&self, last: &Self) -> bool {
        self.compare(last, last.0.len()).is_le()
    }

    /// Returns whether both are the same release apart from patch levels: equal in their first two numbers.
    /// 6.18.43 and 6.18.44 are, 14.1 and 14.2 are not.
    pub fn is_same_release(&self, other: &Self) -> bool {
        self.compare(other, 2.min(self.0.len()).min(other.0.len())).is_eq()
    }

    /// Returns whether it begins with the numbers of `other`.
    pub fn is_a(&self, other: &Self) -> bool {
        self.compare(other, other.0.len()).is_eq()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.iter().map(u32::to_string).collect::<Vec<_>>().join("."))
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers: Result<Vec<_>, _> = text.split('.').map(str::parse).collect();
        numbers
            .map(Self)
            .map_err(|_| format!("'{text}' is not a version: write numbers with dots, such as 14.1"))
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// What gave answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Versions<'a> {
    /// The version of the kernel.
    pub kernel: Option<&'a Version>,
    /// The version of the poller as it names itself, if it is not one of the system's own: `2.1.12-stable`.
    pub poller: Option<&'a str>,
}

impl<'a> Versions<'a> {
    /// The system's own pollers.
    pub fn of_kernel(kernel: Option<&'a Version>) -> Self {
        Self { kernel, poller: None }
    }
}

/// Returns whether two versions of a library, as it names them, are the same release apart from patch levels.
/// Versions without two numbers, such as that of a commit, are the same if their texts are.
pub(crate) fn is_same_release_of_library(one: &str, other: &str) -> bool {
    let numbers = |text: &str| -> Option<Version> {
        let text = text.trim_start_matches('v');
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        text[..end].trim_end_matches('.').parse().ok().filter(|version: &Version| version.0.len() > 1)
    };
    match (numbers(one), numbers(other)) {
        (Some(one), Some(other)) => one.is_same_release(&other),
        _ => one == other,
    }
}

/// A range of versions. Without ends, it has all versions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Range {
    /// The first version.
    pub since: Option<Version>,
    /// The last version with all its patch levels: 14 includes 14.2.
    pub until: Option<Version>,
}

impl Range {
    /// Returns whether `version` is in the range. An unknown version is only in a range without ends.
    pub fn contains(&self, version: Option<&Version>) -> bool {
        let Some(version) = version else { return *self == Self::default() };
        self.since.as_ref().is_none_or(|since| version.is_since(since))
            && self.until.as_ref().is_none_or(|until| version.is_until(until))
    }

    /// Returns whether no version can be in the range.
    pub(crate) fn is_empty(&self) -> bool {
        matches!((&self.since, &self.until), (Some(since), Some(until)) if !since.is_until(until))
    }

    /// Returns whether a version can be in both ranges.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let before = |one: &Self, two: &Self| matches!((&one.until, &two.since), (Some(until), Some(since)) if !since.is_until(until));
        !before(self, other) && !before(other, self)
    }
}

/// `since 6.10`, `6.1 to 6.9`, `until 14`, or nothing.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.since, &self.until) {
            (None, None) => Ok(()),
            (Some(since), None) => write!(f, "since {since}"),
            (None, Some(until)) => write!(f, "until {until}"),
            (Some(since), Some(until)) => write!(f, "{since} to {until}"),
        }
    }
}

/// Returns the version of macOS for a version of Darwin: 24.1 is macOS 15.1. `None` before Darwin 20, macOS
/// 11.
pub fn macos_of_darwin(darwin: &Version) -> Option<String> {
    let major = *darwin.0.first()?;
    let macos = match major {
        20..=24 => major - 9,
        // Since Darwin 25, macOS is named after the following year.
        25.. => major + 1,
        _ => return None,
    };
    // The first releases of macOS 11, 12 and 13 had a Darwin minor version of 1.
    let ahead = u32::from(major < 23);
    Some(match darwin.0.get(1).and_then(|minor| minor.checked_sub(ahead)) {
        Some(minor) => format!("macOS {macos}.{minor}"),
        None => format!("macOS {macos}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    fn range(since: &str, until: &str) -> Range {
        let end = |text: &str| (!text.is_empty()).then(|| version(text));
        Range { since: end(since), until: end(until) }
    }

    #[test]
    fn releases_of_real_systems_are_parsed() {
        for (os, release, expected) in [
            (Os::FreeBsd, "14.1-RELEASE-p3", "14.1.3"),
            (Os::FreeBsd, "14.1-RELEASE", "14.1"),
            (Os::FreeBsd, "12.3-RELEASE-p5", "12.3.5"),
            (Os::FreeBsd, "15.0-CURRENT", "15.0"),
            (Os::FreeBsd, "13.2-STABLE", "13.2"),
            (Os::Linux, "6.18.44", "6.18.44"),
            (Os::Linux, "5.15.0-91-generic", "5.15.0"),
            (Os::Linux, "6.1.0-18-amd64", "6.1.0"),
            (Os::Linux, "6.1.0-56-cloud-amd64 (Debian 6.1.192-2)", "6.1.192"),
            (Os::Linux, "6.12.117+deb12-cloud-amd64 (Debian 6.12.117-1~deb12u1)", "6.12.117"),
            (Os::Linux, "6.8.0-31-generic (Ubuntu 6.8.1)", "6.8.1"),
            (Os::Linux, "6.6.87.2-microsoft-standard-WSL2", "6.6.87.2"),
            (Os::Linux, "4.18.0-553.el8_10.x86_64", "4.18.0"),
            (Os::Linux, "6.18.0-rc7+", "6.18.0"),
            // Only FreeBSD has patch levels: here, the suffix is the name of a build.
            (Os::Linux, "6.1.55-p3", "6.1.55"),
            (Os::MacOs, "24.1.0", "24.1.0"),
            (Os::NetBsd, "10.0_STABLE", "10.0"),
            (Os::NetBsd, "9.99.97", "9.99.97"),
            (Os::OpenBsd, "7.5", "7.5"),
            (Os::DragonFly, "6.4-RELEASE", "6.4"),
            (Os::Illumos, "5.11", "5.11"),
            (Os::Gvisor, "20221219.0", "20221219.0"),
        ] {
            let read = Version::of_release(os, release).map(|version| version.to_string());
            assert_eq!(read.as_deref(), Some(expected), "{release}");
        }
        for release in ["unknown", "", "-RELEASE", "99999999999.1"] {
            assert_eq!(Version::of_release(Os::Linux, release), None, "{release}");
        }
        let imitated = Version::of_release(Os::Gvisor, "4.4.0");
        assert_eq!(imitated, None, "the release of the Linux that it imitates");
    }

    #[test]
    fn a_patch_level_is_no_other_release() {
        for (one, other) in
            [("6.18.43", "6.18.44"), ("6.18", "6.18.44"), ("12.3.5", "12.3.6"), ("14", "14.2")]
        {
            assert!(version(one).is_same_release(&version(other)), "{one} {other}");
            assert!(version(other).is_same_release(&version(one)), "{other} {one}");
        }
        for (one, other) in [("6.18.44", "6.1.44"), ("6.18.44", "7.18.44"), ("14", "15.0"), ("14.1", "14.2")]
        {
            assert!(!version(one).is_same_release(&version(other)), "{one} {other}");
        }
        for (one, other) in
            [("1.44.2", "1.44.3"), ("2.1.12-stable", "2.1.13"), ("v20.1.0", "20.1.1"), ("x", "x")]
        {
            assert!(is_same_release_of_library(one, other), "{one} {other}");
        }
        for (one, other) in
            [("1.44.2", "1.45.0"), ("4a5b6c", "4a5b6d"), ("4", "5"), ("17.0.15+6", "18.0.15+6")]
        {
            assert!(!is_same_release_of_library(one, other), "{one} {other}");
        }
    }

    #[test]
    fn versions_are_numbers_and_not_text_or_fractions() {
        assert!(range("6.10", "").contains(Some(&version("6.18.44"))));
        assert!(!range("6.10", "").contains(Some(&version("6.9.12"))));
        assert!(!range("6.10", "").contains(Some(&version("6.2"))));
    }

    #[test]
    fn an_end_includes_its_patch_levels() {
        assert!(range("", "14").contains(Some(&version("14.2.1"))));
        assert!(!range("", "14").contains(Some(&version("15.0"))));
        assert!(range("", "14.1").contains(Some(&version("14.1.3"))));
        assert!(!range("", "14.1").contains(Some(&version("14.2"))));
        assert!(range("14", "").contains(Some(&version("14.0"))));
        assert!(range("14.0", "").contains(Some(&version("14"))));
    }

    #[test]
    fn an_unknown_version_is_in_no_bounded_range() {
        assert!(range("", "").contains(None));
        assert!(!range("1", "").contains(None) && !range("", "99").contains(None));
    }

    #[test]
    fn empty_and_overlapping_ranges_are_detected() {
        assert!(range("14", "13.2").is_empty() && range("14.1", "14.0").is_empty());
        assert!(!range("14.1", "14").is_empty() && !range("14.1", "14.1").is_empty());
        assert!(!range("", "13").overlaps(&range("14", "")));
        assert!(range("", "13").overlaps(&range("13.1", "")));
        assert!(range("12", "").overlaps(&range("13", "14")));
        assert!(range("", "").overlaps(&range("13", "14")));
        assert!(
            !range("10", "11").overlaps(&range("12", "12"))
                && !range("12", "12").overlaps(&range("10", "11"))
        );
    }

    #[test]
    fn darwin_versions_map_to_macos_versions() {
        for (darwin, macos) in [
            ("20.6.0", Some("macOS 11.5")),
            ("22.1.0", Some("macOS 13.0")),
            ("23.6.0", Some("macOS 14.6")),
            ("24.1.0", Some("macOS 15.1")),
            ("24.4", Some("macOS 15.4")),
            ("24", Some("macOS 15")),
            ("25.0.0", Some("macOS 26.0")),
            ("19.6.0", None),
        ] {
            assert_eq!(macos_of_darwin(&version(darwin)).as_deref(), macos, "{darwin}");
        }
    }

    #[test]
    fn invalid_versions_are_refused() {
        for text in ["", "14.", "14.x", "v14", "14.1-RELEASE", "-1"] {
            assert!(text.parse::<Version>().unwrap_err().contains("such as 14.1"), "{text}");
        }
    }
}
