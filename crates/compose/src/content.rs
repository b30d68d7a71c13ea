//! Content: the whole of a body, within a bound: a request's that is read, and an origin's answer.

use bytes::{Bytes, BytesMut};
use expression::{Given, Json};
use http_body_util::BodyExt;
use message::{Body, Error, Kind, Result};

/// Bytes of what one call may give.
pub const LARGEST: usize = 8 * 1024 * 1024;

/// Reads a body to its end. `None`: it is longer than `most`.
///
/// # Errors
/// Whatever cut it off.
pub async fn read_body(mut body: Body, most: usize) -> Result<Option<Bytes>> {
    if let Body::Whole(whole) = body {
        return Ok((whole.len() <= most).then_some(whole));
    }
    let mut first = Bytes::new();
    let mut more = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if first.len() + more.len() + data.len() > most {
            return Ok(None);
        }
        // Most answers come in one piece, which need not be copied.
        if first.is_empty() && more.is_empty() {
            first = data;
        } else {
            if more.is_empty() {
                more.reserve(first.len() + data.len());
                more.extend_from_slice(&std::mem::take(&mut first));
            }
            more.extend_from_slice(&data);
        }
    }
    Ok(Some(if more.is_empty() { first } else { more.freeze() }))
}

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
        .ok_or_else(|| Error::new(Kind::MalformedRequest, "the content of the request is no JSON"))
}
