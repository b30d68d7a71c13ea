//! Content: that of a request, as a value for steps.

use bytes::Bytes;
use expression::{Given, Json};
use message::{Error, Kind, Result};

/// The content of a request as a value.
///
/// # Errors
/// [`Kind::MalformedRequest`] where it is no JSON.
pub(crate) fn given(content: Bytes) -> Result<Given> {
    if content.is_empty() {
        return Ok(Given::Nothing);
    }
    Json::check(content)
        .map(Given::Sent)
        .ok_or_else(|| Error::new(Kind::MalformedRequest, "the request's content is not valid JSON"))
}
