//! Syntax: why a text is no YAML, in words for people who do not know the grammar of YAML. In comes what the parser
//! says and the line it stopped at; out goes a cause and a remedy. Called by `file` only.

use serde_saphyr::granit_parser::ErrorKind;

use crate::yaml::fault::{Reason, quoted};
use crate::yaml::masked::masked;

/// Explains a parser's error on `line` at `column` (characters from 0).
pub(crate) fn explain(kind: &ErrorKind, message: &str, line: &str, column: usize) -> Reason {
    let at = line.chars().nth(column);
    let before: String = line.chars().take(column).collect();
    match kind {
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator => match at {
            Some('{') => braces(&before, line),
            Some(':') if before.ends_with(']') => Reason::new(
                "an IPv6 address in brackets is read as a list",
                "put the address into quotes, like `\"[::1]:8080\"`",
            ),
            _ => Reason::new(
                "two entries inside `{ }` or `[ ]` are not separated, or one is not closed",
                "write a comma between entries, and quotes around values with `: `, braces or brackets",
            ),
        },
        ErrorKind::ExpectedBlockMappingKey if before.ends_with(']') && at == Some(':') => Reason::new(
            "an IPv6 address in brackets is read as a list",
            "put the address into quotes, like `\"[::1]:8080\"`",
        ),
        ErrorKind::UnclosedFlowCollection { open } => Reason::new(
            format!("`{open}` is not closed"),
            format!("write `{}` where it ends", if *open == '{' { '}' } else { ']' }),
        ),
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            Reason::new("the file ends inside `{ }`", "close the braces")
        }
        ErrorKind::UnexpectedEofFlowSequence => {
            Reason::new("the file ends inside `[ ]`", "close the brackets")
        }
        ErrorKind::MisplacedFlowCollectionEnd | ErrorKind::MismatchedFlowCollectionEnd { .. } => Reason::new(
            "a bracket closes what was not opened",
            "take it out, or write the kind that was opened",
        ),
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::DocumentIndicatorInQuotedScalar => {
            Reason::new("a quote is not closed", "write the closing quote on the line where the text begins")
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            Reason::new("text follows a closing quote", "put all of the value between the quotes")
        }
        ErrorKind::UnknownQuotedScalarEscape => Reason::new(
            "an unknown escape stands between double quotes",
            "write `\\\\` for a backslash, or use single quotes",
        ),
        ErrorKind::SimpleKeyExpected => Reason::new(
            "the line is neither `key: value` nor `- item`",
            "write a colon and a space behind the key, or a dash and a space before the item",
        ),
        ErrorKind::MappingValueNotAllowed if before.trim_start().split(' ').count() == 1 => Reason::new(
            "the line stands deeper than the one above allows",
            "give keys of one mapping the same indentation, and a key with keys under it no value",
        ),
        ErrorKind::MappingValueNotAllowed => {
            Reason::new("a value contains `: `", "put the value into quotes, or take the space out")
        }
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => {
            Reason::new("a tab stands where YAML wants spaces", "write spaces instead")
        }
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => Reason::new(
            format!("the control character {} is not allowed", character.escape_unicode()),
            "take it out",
        ),
        ErrorKind::UnexpectedCharacter { character } => {
            Reason::new(format!("a value cannot begin with `{character}`"), "put the value into quotes")
        }
        ErrorKind::RecursionLimitExceeded => {
            Reason::new("the file is nested too deeply", "no section is deeper than six levels")
        }
        ErrorKind::InvalidIndentation
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry => Reason::new(
            "the indentation fits to no line above",
            "give keys of one mapping, and items of one list, the same indentation",
        ),
        ErrorKind::BlockEntryInFlowCollection
        | ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::InvalidBlockEntryWhitespace => Reason::new(
            "a `- item` stands where no list can begin",
            "begin the list on the line below its key, or write `[a, b]`",
        ),
        ErrorKind::CommentNotSeparated | ErrorKind::CommentInterceptedScalar => Reason::new(
            "a comment stands in the way",
            "put a space before `#`, and no comment inside a value",
        ),
        _ => Reason::new(
            format!("this is not YAML: {message}"),
            "check the colons, quotes and indentation of this line and the one above",
        ),
    }
}

/// A `{name}` in an unquoted value inside `{ }`: the brace would open a mapping.
fn braces(before: &str, line: &str) -> Reason {
    let start = before.rfind([',', '{', '[']).map_or(0, |index| index + 1);
    let start = before[start..].find(": ").map_or(start, |colon| start + colon + 2);
    let rest = &line[start..];
    // Up to the end of the entry: a comma, or a closing brace that does not belong to a `{name}`.
    let mut depth = 0;
    let end = rest.find(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth < 0 || (depth == 0 && c == ',')
    });
    let value = rest[..end.unwrap_or(rest.len())].trim();
    let is_secret = masked(line).concat() != line;
    let remedy = match quoted(&format!("\"{value}\"")) {
        _ if is_secret => "write quotes around it".to_owned(),
        value => format!("write {value}"),
    };
    Reason::new("a value with braces stands inside `{ }` without quotes", remedy)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn braces_are_shown_in_quotes() {
        let line = "  - { match: GET /users/{id}/orders, proxy: api }";
        let column = line.find("{id}").unwrap();
        let reason = explain(&ErrorKind::ExpectedFlowMappingSeparator, "", line, column);
        assert_eq!(reason.remedy, "write `\"GET /users/{id}/orders\"`");
    }

    proptest! {
        #[test]
        fn never_panics(line in "[{}\\[\\]:, aé$]{0,30}", column in 0_usize..40) {
            for kind in [ErrorKind::ExpectedFlowMappingSeparator, ErrorKind::MappingValueNotAllowed] {
                let _ = explain(&kind, "", &line, column);
            }
        }
    }
}
