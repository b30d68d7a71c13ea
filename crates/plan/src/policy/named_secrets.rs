//! Named secrets: a mapping of names to secrets → both. In comes a node and how one secret is read; called for `signed.keys` and
//! `auth.keys.of`. No message shows what may be a secret.

use crate::schema;
use crate::yaml::fault::{Report, quoted};
use crate::yaml::section::{NAMES, is_name};
use crate::yaml::tree::{Node, Shape};

/// Reads them all, at most so many; each is there once. `section` is where they stand, for an example.
pub(super) fn named_secrets<T: PartialEq>(
    node: Node<'_>,
    most: usize,
    section: &schema::Section,
    report: &mut Report,
    mut read: impl FnMut(Node<'_>, &mut Report) -> Option<T>,
) -> Option<Vec<(String, T)>> {
    let example = || format!("write it like `{}`", section.example);
    let Shape::Map(entries) = node.shape() else {
        // What stands here instead may be a secret.
        report.secret(node.place());
        report.at_key(
            node,
            format!("{} must be a mapping of names to secrets", quoted(node.key())),
            example(),
        );
        return None;
    };
    if entries.is_empty() {
        let cause = format!("{} names no key: nobody could be let in", quoted(node.key()));
        report.at(node, cause, example());
        return None;
    }
    if entries.len() > most {
        report.at(node, format!("{} keys are too many", entries.len()), format!("write at most {most}"));
    }
    let mut secrets: Vec<(String, T)> = Vec::new();
    for entry in entries.into_iter().take(most) {
        let (cause, remedy) = match entry.shape() {
            Shape::Nothing => ("this key has no secret", example()),
            _ if !is_name(entry.key()) => ("this is not the name of a key", NAMES.to_owned()),
            _ => ("", String::new()),
        };
        if !cause.is_empty() {
            // No path and no quote: where a name or a space is missing, what stands here is the secret.
            report.secret(entry.key_place());
            report.fault(entry.key_place(), node.path(), cause, remedy);
            continue;
        }
        let Some(secret) = read(entry, report) else { continue };
        if let Some((other, _)) = secrets.iter().find(|(_, other)| *other == secret) {
            let cause = format!("{} and {} are the same secret", quoted(entry.key()), quoted(other));
            report.at_key(entry, cause, "take one out, or make a new one");
            continue;
        }
        secrets.push((entry.key().to_owned(), secret));
    }
    Some(secrets)
}
