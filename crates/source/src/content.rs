//! Content: what a source gave, as a value that steps can use, within a bound; and an origin that is asked for such content.

use bytes::Bytes;
use expression::Json;
use http::StatusCode;
use message::{Body, Call, Error, Kind, Request, Response, Result, Trip};
use plan::HttpForm;

use crate::http::HttpSource;

/// Bytes of what one call may give.
pub const LARGEST: usize = 8 * 1024 * 1024;

/// An origin as steps ask it: its content is here whole before its response counts, so that whoever retries or limits the
/// time of a call does so for all of it. Clones share pools.
#[derive(Clone)]
pub struct ContentSource {
    /// Whom it asks.
    pub origin: HttpSource,
    /// How its content is read.
    pub form: HttpForm,
}

impl Call for ContentSource {
    async fn call<'a>(&'a self, request: Request, trip: &'a mut Trip) -> Result<Response> {
        let mut response = self.origin.call(request, trip).await?;
        if response.status.is_success() {
            let content = whole(std::mem::take(&mut response.body)).await?;
            // What no step can use is neither kept nor given.
            let json = value(content.clone(), self.form)?;
            // A text is made a value again by whoever takes it.
            response.body =
                Body::Whole(if self.form == HttpForm::Text { content } else { json.bytes().clone() });
        }
        Ok(response)
    }
}

/// The content of an origin's response as a value. `is_checked`: it comes from a [`ContentSource`] as it is, from no cache and
/// from nobody who makes content of their own.
///
/// # Errors
/// [`Kind::UnusableReply`] where its status says that it failed, or its content is too long or not of this form.
pub async fn content(response: Response, form: HttpForm, is_checked: bool) -> Result<Json> {
    if !response.status.is_success() {
        return Err(refused(response.status));
    }
    let content = whole(response.body).await?;
    if is_checked && form == HttpForm::Json && !content.is_empty() {
        return Ok(Json::kept(content));
    }
    value(content, form)
}

/// What a step makes of a status that says that its call failed.
pub fn refused(status: StatusCode) -> Error {
    unusable(format!("the source answered {}", status.as_u16()))
}

async fn whole(body: Body) -> Result<Bytes> {
    body.within(LARGEST as u64)
        .await?
        .map_err(|_| unusable(format!("the answer is longer than {} MiB", LARGEST / 1024 / 1024)))
}

fn value(content: Bytes, form: HttpForm) -> Result<Json> {
    match form {
        _ if content.is_empty() => Ok(Json::null()),
        HttpForm::Json => checked(content),
        HttpForm::Text => string(&content),
    }
}

pub(crate) fn checked(content: Bytes) -> Result<Json> {
    Json::check(content)
        .ok_or_else(|| unusable("the answer is no JSON; write `as: text` for text".to_owned()))
}

pub(crate) fn string(content: &[u8]) -> Result<Json> {
    let text = std::str::from_utf8(content).map_err(|_| unusable("the answer is no text".to_owned()))?;
    Ok(Json::string(text))
}

fn unusable(detail: String) -> Error {
    Error::new(Kind::UnusableReply, detail)
}
