//! Signed: the section `signed` of a policy → [`Signed`].

use std::path::Path;

use super::field;
use crate::meant::{Signed, SigningKey};
use crate::yaml::fault::{Report, quoted};
use crate::yaml::section::{NAMES, Section, is_name};
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{default, schema, secret};

/// Keys of one policy; each costs an HMAC where a request names none of them.
const MOST_KEYS: usize = 100;

/// Reads how requests must be signed. `name` is the policy's.
pub(super) fn signed(name: &str, node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Signed> {
    let section = Section::open(node, &schema::SIGNED, report)?;
    let keys = section.need("keys", report).and_then(|node| keys(node, folder, report));
    let mut cookie = Some(default::SIGNED_COOKIE.to_owned());
    section.set("cookie", &mut cookie, report, |node, report| {
        value::parsed(node, report, |text| match text {
            "none" => Ok(None),
            name => field::cookie(name).map(Some),
        })
    });
    Some(Signed { name: name.to_owned(), keys: keys?, cookie })
}

fn keys(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Vec<SigningKey>> {
    let Shape::Map(entries) = node.shape() else {
        // What stands here instead may be a secret.
        report.secret(node.place());
        report.at_key(node, "`keys` must be a mapping of names to secrets", example());
        return None;
    };
    if entries.is_empty() {
        report.at(node, "`keys` names no key: nobody could sign", example());
        return None;
    }
    if entries.len() > MOST_KEYS {
        report.at(node, format!("{} keys are too many", entries.len()), format!("write at most {MOST_KEYS}"));
    }
    let mut keys: Vec<SigningKey> = Vec::new();
    for entry in entries.into_iter().take(MOST_KEYS) {
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
        let Some(secret) = secret::key(entry, folder, report) else { continue };
        if let Some(other) = keys.iter().find(|key| key.secret == secret) {
            let cause = format!("{} and {} are the same secret", quoted(entry.key()), quoted(&other.name));
            report.at_key(entry, cause, "take one out, or make a new one");
            continue;
        }
        keys.push(SigningKey { name: entry.key().to_owned(), secret });
    }
    Some(keys)
}

fn example() -> String {
    format!("write it like `{}`", schema::SIGNED.example)
}
