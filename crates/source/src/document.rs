//! Document: something small that we ask an origin for of our own accord, and read whole: a token, a set of keys. In: what is asked.
//! Out: status, fields and content, within a bound of size and of time. Redirects are not followed.

use std::time::Duration;

use bytes::Bytes;
use http::header::USER_AGENT;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use message::{Body, Client, Error, Kind, Request, RequestParts, Result, Retry};

use crate::http::HttpSource;

/// See the module.
#[derive(Debug)]
pub struct Document {
    /// Whatever the origin said.
    pub status: StatusCode,
    /// The fields of its answer.
    pub fields: HeaderMap,
    /// All of its content.
    pub content: Bytes,
}

/// What is asked for.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub target: &'a str,
    /// Fields beside `Host` and `User-Agent`.
    pub fields: HeaderMap,
    /// Content.
    pub body: Bytes,
    /// Bytes of its content at most.
    pub most: u64,
    /// How long all of it may take.
    pub within: Duration,
}

impl Document {
    /// Asks for it.
    ///
    /// # Errors
    /// There is no answer, it takes too long, or it is too large.
    pub async fn fetch(origin: &HttpSource, wanted: Wanted<'_>) -> Result<Document> {
        let (most, within) = (wanted.most, wanted.within);
        let fetch = async {
            let response = origin.send(request(origin, wanted)).await?;
            let content = response.body.within(most).await?.map_err(|_| {
                Error::new(Kind::UnusableReply, format!("the answer is longer than {most} bytes"))
            })?;
            Ok(Document { status: response.status, fields: response.fields, content })
        };
        tokio::time::timeout(within, fetch).await.unwrap_or_else(|_| {
            let late = Error::new(Kind::SourceTimeout, format!("no answer within {within:?}"));
            Err(late.retry(Retry::IfIdempotent))
        })
    }
}

fn request(origin: &HttpSource, wanted: Wanted<'_>) -> Request {
    let first = &origin.shared().plan().targets[0];
    let mut fields = wanted.fields;
    fields.insert(USER_AGENT, HeaderValue::from_static("fleetfoot"));
    let mut request = Request::new(RequestParts {
        method: wanted.method,
        scheme: first.scheme,
        authority: first.authority().into(),
        target: wanted.target.into(),
        version: Version::HTTP_11,
        fields,
        client: Client::NOBODY,
    });
    request.body = Body::from(wanted.body);
    request
}
