//! The files that were there when this program was built.

use std::sync::OnceLock;

use crate::answers::Answers;
use crate::divergences::Divergences;
use crate::error::ExpectationsError;

const ANSWERS: [(&str, &str); 6] = [
    ("expectations/answers/dragonfly.yml", include_str!("../../../expectations/answers/dragonfly.yml")),
    ("expectations/answers/freebsd.yml", include_str!("../../../expectations/answers/freebsd.yml")),
    ("expectations/answers/linux.yml", include_str!("../../../expectations/answers/linux.yml")),
    ("expectations/answers/macos.yml", include_str!("../../../expectations/answers/macos.yml")),
    ("expectations/answers/netbsd.yml", include_str!("../../../expectations/answers/netbsd.yml")),
    ("expectations/answers/openbsd.yml", include_str!("../../../expectations/answers/openbsd.yml")),
];

const DIVERGENCES: &str = include_str!("../../../expectations/divergences.yml");

impl Answers {
    /// The answers that are built in.
    ///
    /// # Errors
    /// Only in a program that was built from files that its tests refuse.
    pub fn built_in() -> Result<&'static Self, &'static ExpectationsError> {
        static READ: OnceLock<Result<Answers, ExpectationsError>> = OnceLock::new();
        READ.get_or_init(|| {
            let mut answers = Answers::default();
            for (file, text) in ANSWERS {
                answers.read(text, file)?;
            }
            Ok(answers)
        })
        .as_ref()
    }
}

impl Divergences {
    /// The divergences that are built in.
    ///
    /// # Errors
    /// Only in a program that was built from a file that its tests refuse.
    pub fn built_in() -> Result<&'static Self, &'static ExpectationsError> {
        static READ: OnceLock<Result<Divergences, ExpectationsError>> = OnceLock::new();
        READ.get_or_init(|| Divergences::parse(DIVERGENCES, "expectations/divergences.yml")).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_is_built_in_is_what_is_in_the_folder() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../expectations");
        assert_eq!(Answers::built_in().unwrap(), &Answers::load(&dir).unwrap());
        let (built_in, loaded) = (Divergences::built_in().unwrap(), Divergences::load(&dir).unwrap());
        assert_eq!(built_in.iter().count(), loaded.iter().count());
    }
}
