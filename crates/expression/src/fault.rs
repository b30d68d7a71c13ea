//! Fault: why a text is no expression. Made by every check of this crate; `plan` adds the line of the file.

use std::fmt;

/// Why a text is no expression, for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub cause: String,
    /// What to write instead.
    pub remedy: String,
}

impl Fault {
    pub(crate) fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Fault { cause: cause.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause, self.remedy)
    }
}

impl std::error::Error for Fault {}

/// What somebody wrote, in backticks, cut where it gets long.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown: String =
        text.chars().take(LONGEST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// The known word that was probably meant: one slip in three letters, at least one.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    const LONGEST: usize = 32;
    let word: Vec<char> = word.chars().take(LONGEST + 1).map(|c| c.to_ascii_lowercase()).collect();
    if word.len() > LONGEST {
        return None;
    }
    let allowed = (word.len() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Letters too many, missing, wrong, or two swapped (optimal string alignment).
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

    #[test]
    fn finds_what_was_meant() {
        let known = ["header", "cookie", "query", "startsWith"];
        assert_eq!(nearest("headr", known), Some("header"));
        assert_eq!(nearest("starts_with", known), Some("startsWith"));
        assert_eq!(nearest("zebra", known), None);
        assert_eq!(nearest(&"q".repeat(5000), known), None);
    }
}
