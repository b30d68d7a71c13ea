//! Backstage: what the admin port has others do: `server` implements it with its cores.

use std::future::Future;
use std::pin::Pin;

use http::{HeaderMap, Method};
use serde::Serialize;
use serde_json::Value;

use crate::KeyedUrl;

/// Something that is done elsewhere.
pub type Doing<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What the admin port needs of those who serve requests.
pub trait Backstage: Send + Sync + 'static {
    /// Path and query as the route of a GET of this URL keys them: without the parameters it ignores, sorted where it
    /// sorts.
    fn keyed_target(&self, place: &KeyedUrl) -> Box<str>;

    /// Fetches as a client would, to the end of the content. Ends within a bounded time, whatever the origin does.
    fn fetch(&self, errand: Errand) -> Doing<Fetched>;

    /// What would happen to a request, and why.
    fn explain(&self, inquiry: Inquiry) -> Doing<Result<Value, String>>;

    /// What happened to the last request of this id that is remembered.
    fn recall(&self, id: &str) -> Option<Value>;

    /// How many requests are remembered, for whoever asks for one that is not.
    fn remembers(&self) -> String;
}

/// Why something is fetched without a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// `POST /cache/warm`.
    Warm,
    /// After a purge, what was used most.
    Refresh,
}

/// A GET of our own.
#[derive(Clone, Debug)]
pub struct Errand {
    /// What to ask for.
    pub place: KeyedUrl,
    /// Which variant.
    pub fields: HeaderMap,
    /// Why.
    pub purpose: Purpose,
}

/// What came of an errand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fetched {
    /// The URL.
    pub url: String,
    /// The status; `None`: no answer.
    pub status: Option<u16>,
    /// `hit`, `miss`, `stale`, `revalidated`, `pass`, or `none` where the route has no cache.
    pub cache: &'static str,
    /// Whether the answer was stored now.
    pub stored: bool,
    /// Bytes of content.
    pub bytes: u64,
    /// Why there is no answer, or why it is incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A request to be explained.
#[derive(Clone, Debug)]
pub struct Inquiry {
    /// The method.
    pub method: Method,
    /// The URL.
    pub place: KeyedUrl,
    /// Its fields.
    pub fields: HeaderMap,
    /// Whether the origin may be asked.
    pub ask: bool,
    /// Whether the steps of a compose are to be run once.
    pub live: bool,
}
