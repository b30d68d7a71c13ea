//! Nearest: the known word that was probably meant. In come a misspelt word and the words that exist; called for every
//! unknown root and function here, and by `plan` for every unknown key, source, policy and keyword.

/// So many words are compared: a file of ten thousand sources must not take seconds to refuse.
const COMPARED: usize = 1000;

/// The nearest of `known`, when it is near enough to be meant: one slip in three letters, at least one.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word: Vec<char> = word.chars().take(65).map(|c| c.to_ascii_lowercase()).collect();
    if word.len() > 64 {
        return None;
    }
    let allowed = (word.len() / 3).max(1);
    known
        .into_iter()
        .take(COMPARED)
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= allowed * 4)
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Slips between two words: a letter too many, missing, wrong, or two swapped (optimal string alignment).
fn distance(word: &[char], candidate: &str) -> usize {
    let candidate: Vec<char> = candidate.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=candidate.len()).collect();
    for (row, &letter) in word.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &other) in candidate.iter().enumerate() {
            let changed = above[column] + usize::from(letter != other);
            let mut least = changed.min(above[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && letter == candidate[column - 1] && word[row - 1] == other {
                least = least.min(before[column - 1] + 1);
            }
            current.push(least);
        }
        before = std::mem::replace(&mut above, current);
    }
    above[candidate.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 6] = ["ttl", "stale", "if_error", "variants", "header_timeout", "idle_timeout"];

    #[test]
    fn finds_what_was_meant() {
        for (written, meant) in [
            ("tll", "ttl"),
            ("tt", "ttl"),
            ("TTL", "ttl"),
            ("stael", "stale"),
            ("iferror", "if_error"),
            ("if-error", "if_error"),
            ("varients", "variants"),
            ("header_timout", "header_timeout"),
            ("headerTimeout", "header_timeout"),
        ] {
            assert_eq!(nearest(written, WORDS), Some(meant), "{written}");
        }
    }

    #[test]
    fn does_not_guess_wildly() {
        for written in ["", "x", "zebra", "authorization", &"t".repeat(5000)] {
            assert_eq!(nearest(written, WORDS), None, "{written}");
        }
    }
}
