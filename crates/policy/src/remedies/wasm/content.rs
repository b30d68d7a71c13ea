//! Content: that of a response as a function may be given it. In: the response, and how much is given. Out: all of its content, which
//! stays with the response, or why there is none to give.

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_ENCODING, CONTENT_RANGE};
use message::{Body, Deadline, Response, Result};

use super::Unfit;
use crate::stack::under_way::Timers;

/// All of it. Where it cannot be given, the response is as it was.
///
/// # Errors
/// The source breaks it off, or is too slow with it.
pub(super) async fn given(
    response: &mut Response,
    most: u64,
    deadline: Option<Deadline>,
    timers: &Timers,
) -> Result<std::result::Result<Bytes, Unfit>> {
    let coded = response.fields.get(CONTENT_ENCODING);
    if coded.is_some_and(|coded| !coded.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Ok(Err("takes content that is not coded, and the source has coded it all the same".into()));
    }
    if response.status == StatusCode::PARTIAL_CONTENT || response.fields.contains_key(CONTENT_RANGE) {
        return Ok(Err("takes content that is whole, and this is a part".into()));
    }
    let read = std::mem::take(&mut response.body).within(most);
    let read = match deadline {
        None => read.await,
        Some(deadline) => {
            tokio::time::timeout_at(deadline.at, read).await.unwrap_or_else(|_| Err(timers.late(deadline)))
        }
    };
    Ok(match read? {
        Ok(content) => {
            response.body = Body::from(content.clone());
            Ok(content)
        }
        Err(body) => {
            response.body = body;
            Err(format!("takes content of {most} bytes at most, and this is longer").into())
        }
    })
}
