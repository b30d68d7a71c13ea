//! Keys: which API keys let in → [`ApiKeys`].

use std::path::Path;

use crate::meant::{ApiKey, ApiKeys};
use crate::policy::field;
use crate::policy::named_secrets::named_secrets;
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::Node;
use crate::yaml::value;
use crate::{default, schema, secret};

/// Keys of one policy.
const MOST_KEYS: usize = 1000;

pub(super) fn keys(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<ApiKeys> {
    let section = Section::open(node, &schema::AUTH_KEYS, report)?;
    let mut field = default::API_KEY_FIELD;
    section.set("field", &mut field, report, |node, report| value::parsed(node, report, field::for_api_key));
    let of = section.need("of", report)?;
    let keys = named_secrets(of, MOST_KEYS, &schema::AUTH_KEYS, report, |node, report| {
        secret::api_key(node, folder, report)
    })?;
    let keys = keys.into_iter().map(|(name, secret)| ApiKey { name, secret }).collect();
    Some(ApiKeys { field, keys })
}
