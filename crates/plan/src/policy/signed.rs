//! Signed: the section `signed` of a policy → [`Signed`].

use std::path::Path;

use super::field;
use super::named_secrets::named_secrets;
use crate::meant::{Signed, SigningKey};
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::Node;
use crate::yaml::value;
use crate::{default, schema, secret};

/// Keys of one policy; each costs an HMAC where a request names none of them.
const MOST_KEYS: usize = 100;

/// Reads how requests must be signed. `name` is the policy's.
pub(super) fn signed(name: &str, node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Signed> {
    let section = Section::open(node, &schema::SIGNED, report)?;
    let keys = section.need("keys", report).and_then(|node| {
        named_secrets(node, MOST_KEYS, &schema::SIGNED, report, |node, report| {
            secret::key(node, folder, report)
        })
    });
    let mut cookie = Some(default::SIGNED_COOKIE.to_owned());
    section.set("cookie", &mut cookie, report, |node, report| {
        value::parsed(node, report, |text| match text {
            "none" => Ok(None),
            name => field::cookie(name).map(Some),
        })
    });
    let keys = keys?.into_iter().map(|(name, secret)| SigningKey { name, secret }).collect();
    Some(Signed { name: name.to_owned(), keys, cookie })
}
