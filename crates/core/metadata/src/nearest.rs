//! Suggestions for mistyped names.

use strsim::damerau_levenshtein;

/// Returns the candidate that is most similar to `typed`, if any is similar enough to suggest.
///
/// `typed` may also be the beginning of a candidate: `migration/idel` suggests `migration/idle-takeover`.
/// Upper and lower case are the same: `v26` suggests `V26` and not `A26`.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let length = typed.chars().count();
    let tolerated = (length / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| {
            let small = candidate.to_lowercase();
            let whole = damerau_levenshtein(&typed, &small);
            let beginning: String = small.chars().take(length).collect();
            // A match of the whole name wins over an equally close match of its beginning.
            let partial = damerau_levenshtein(&typed, &beginning);
            let score = if whole <= partial { 2 * whole } else { 2 * partial + 1 };
            (score, candidate)
        })
        .filter(|(score, _)| *score <= 2 * tolerated + 1)
        .min_by_key(|(score, _)| *score)
        .map(|(_, candidate)| candidate)
}

/// Returns `did you mean 'edge'?`, or the list of candidates if none is close.
pub fn did_you_mean<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(typed, candidates.clone()) {
        Some(candidate) => format!("did you mean '{candidate}'?"),
        None => format!("use one of {}", candidates.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 3] = ["migration/idle-takeover", "migration/migrate-on", "deletion/own-handler"];

    #[test]
    fn a_typing_mistake_suggests_the_name() {
        assert_eq!(nearest("migration/idle-takover", IDS), Some("migration/idle-takeover"));
        assert_eq!(nearest("deletoin/own-handler", IDS), Some("deletion/own-handler"));
    }

    #[test]
    fn another_case_is_nearer_than_another_letter() {
        assert_eq!(nearest("v26", ["A26", "V25", "V26"]), Some("V26"));
    }

    #[test]
    fn a_mistyped_prefix_suggests_the_name() {
        assert_eq!(nearest("migration/idel", IDS), Some("migration/idle-takeover"));
    }

    #[test]
    fn a_distant_name_gets_the_list_instead_of_a_suggestion() {
        assert_eq!(nearest("benchmark", IDS), None);
        assert_eq!(did_you_mean("zzz", ["level", "edge"]), "use one of level, edge");
    }
}
