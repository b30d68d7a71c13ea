//! Respond: what `respond` and `redirect` of a policy mean: a response that no source is asked for.

use bytes::Bytes;
use expression::{Expression, Template};
use http::StatusCode;

use super::Field;

/// A response that is given instead of asking.
#[derive(Clone, Debug, PartialEq)]
pub struct Respond {
    /// The policy's name in the file.
    pub name: String,
    /// Which requests get it; `None`: all.
    pub when: Option<Expression>,
    /// Its status.
    pub status: StatusCode,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Where clients are sent.
    pub to: Option<RedirectTo>,
    /// Its content.
    pub body: Bytes,
}

/// Where clients are sent.
#[derive(Clone, Debug, PartialEq)]
pub struct RedirectTo {
    /// The URL, or a path of the same host.
    pub url: Template,
    /// Scheme and host, as they are written out; empty: a path of the same host. No request can change them.
    pub site: String,
}
