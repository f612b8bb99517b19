//! Cell ids: `group/name/variant@backend`.

use std::fmt;
use std::str::FromStr;

/// A cell's id, split into its parts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CellId {
    /// `group/name`.
    pub scenario: String,
    /// `tcp-level-2t1g`. A string, so that an id from another version of the matrix can still be shown.
    pub variant: String,
    /// `epoll`.
    pub backend: String,
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}@{}", self.scenario, self.variant, self.backend)
    }
}

/// The error for a text that is not a cell id.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{0}' is not a cell id: expected FAMILY/NAME/VARIANT@BACKEND")]
pub struct ParseCellIdError(String);

impl FromStr for CellId {
    type Err = ParseCellIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (path, backend) = text.split_once('@')?;
            let (scenario, variant) = path.rsplit_once('/')?;
            let (group, name) = scenario.split_once('/')?;
            let complete = [group, name, variant, backend].iter().all(|part| !part.is_empty());
            (complete && !name.contains('/')).then(|| Self {
                scenario: scenario.into(),
                variant: variant.into(),
                backend: backend.into(),
            })
        };
        parse().ok_or_else(|| ParseCellIdError(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_parses_to_its_parts_and_prints_unchanged() {
        let text = "migration/idle-takeover/tcp-level-2t1g@epoll";
        let id: CellId = text.parse().unwrap();
        assert_eq!((id.scenario.as_str(), id.backend.as_str()), ("migration/idle-takeover", "epoll"));
        assert_eq!(id.to_string(), text);
    }

    #[test]
    fn incomplete_ids_are_refused() {
        for text in ["", "a/b@c", "a/b/c", "a/b/c@", "/b/c@d", "a/b/c/d@e"] {
            assert!(text.parse::<CellId>().is_err(), "{text}");
        }
    }
}
