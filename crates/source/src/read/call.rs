//! Call: a read route's source on one core: at hand ([`ReadSource::fresh`]), or by the whole way.

use std::sync::Arc;
use std::time::Instant;

use http::Method;
use http::header::{IF_NONE_MATCH, RANGE};
use message::{CacheStatus, Call, Clock, Request, RequestView, Response, Result, Timestamp, Trip};
use plan::{Read, RedisServer};
use response::Form;

use super::answered::{AnsweredRead, FreshRead, Shape};
use super::asked::{Scratch, arguments};
use super::line::ReadLine;
use super::nothing::Nothing;

/// See the module. Clones share everything.
#[derive(Clone)]
pub struct ReadSource {
    read: Arc<Read>,
    /// What the route calls the segments of its path.
    names: Arc<[Option<Box<str>>]>,
    /// What it answers where there is nothing.
    nothing: Arc<Nothing>,
    from: ReadLine,
}

/// How a read would be answered, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The command as it stands in the configuration.
    pub command: String,
    /// What this request makes of it, or what is wrong with the request.
    pub asked: std::result::Result<Vec<String>, String>,
    /// Whom it asks, and how.
    pub way: String,
    /// Whether the answer is held now.
    pub is_held: bool,
}

impl ReadSource {
    /// This read, from there, on a route that calls the segments of its path so.
    pub fn new(read: Arc<Read>, names: Arc<[Option<Box<str>>]>, from: ReadLine) -> Self {
        let nothing = Arc::new(Nothing::new(read.missing));
        ReadSource { read, names, nothing, from }
    }

    /// Whether it may have anything at hand.
    pub fn holds(&self) -> bool {
        self.from.holds()
    }

    /// The answer to this request right now, without asking anybody. Where it is held, nothing is allocated as long as
    /// `scratch` has room. Whatever is not as simple as most requests are is left to the longer way.
    pub fn fresh(
        &self,
        request: &RequestView<'_>,
        now: Timestamp,
        scratch: &mut Scratch,
    ) -> Option<FreshRead> {
        let condition = request.fields.first(&IF_NONE_MATCH);
        if request.fields.has(&RANGE) || !self.from.holds() {
            return None;
        }
        arguments(&self.read, &self.names, request, &mut scratch.arguments).ok()?;
        let AnsweredRead { rendered, until, cache, .. } = self.from.fresh(&self.read, now, scratch)?;
        let shape = match condition {
            Some(condition) if rendered.is_named_by(condition) => Shape::NotModified(rendered),
            Some(_) => return None,
            None if rendered.is_there() => Shape::Whole(rendered),
            None => Shape::Nothing(Arc::clone(&self.nothing), Form::of(request.fields)),
        };
        Some(FreshRead { shape, until, cache })
    }

    /// Answers; also says what had been held.
    async fn answer(&self, request: &Request) -> Result<(Response, Option<CacheStatus>)> {
        let view = request.view();
        let mut scratch = Scratch::default();
        arguments(&self.read, &self.names, &view, &mut scratch.arguments)?;
        let answered = self.from.answer(&self.read, &mut scratch).await?;
        Ok((answered.response(&view, &self.nothing, Clock::now()), answered.cache))
    }

    /// Where it reads from, for people: addresses, or a file.
    pub fn place(&self) -> String {
        match &self.from {
            ReadLine::Redis(line) => {
                let servers = line.shared().plan().topology.servers();
                servers.iter().map(RedisServer::address).collect::<Vec<_>>().join(", ")
            }
            ReadLine::Store(store) => store.plan().file.display().to_string(),
        }
    }

    /// Says what would be done; asks nobody.
    pub fn explain(&self, request: &RequestView<'_>) -> Explained {
        let mut scratch = Scratch::default();
        let request = &RequestView { method: &Method::GET, ..*request };
        let asked = match arguments(&self.read, &self.names, request, &mut scratch.arguments) {
            Ok(()) => Ok(scratch
                .arguments
                .iter()
                .map(|value| String::from_utf8_lossy(value).into_owned())
                .collect()),
            Err(error) => Err(error.detail().to_owned()),
        };
        let way = match &self.from {
            ReadLine::Redis(line) => line.shared().describe(),
            ReadLine::Store(store) => store.describe(),
        };
        let is_held = matches!(self.from, ReadLine::Store(_))
            || asked.is_ok() && self.from.fresh(&self.read, Clock::now(), &mut scratch).is_some();
        Explained { command: self.read.text(), asked, way, is_held }
    }
}

impl Call for ReadSource {
    async fn call<'a>(&'a self, request: Request, trip: &'a mut Trip) -> Result<Response> {
        let asked = Instant::now();
        let answered = self.answer(&request).await;
        trip.source_time = Some(asked.elapsed());
        let (response, status) = answered?;
        trip.cache = status;
        Ok(response)
    }
}
