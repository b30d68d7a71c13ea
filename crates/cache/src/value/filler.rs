//! ValueFiller: makes a call, shares what it gave with all who wait, and stores it.
//!
//! In: the call. Out: the [`Fill`](crate::fill::Fill) settled, the memory tier updated, and what came of it for whoever
//! runs it. Run by `fetch`.

use std::sync::Arc;

use expression::Json;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use message::{Clock, Error, Timestamp};
use plan::CachePolicy;
use rules::{Exchange, NotStored, RequestDirectives, Reuse};

use super::NO_FIELDS;
use crate::entry::draft::terms;
use crate::entry::tags::Tags;
use crate::entry::{Draft, Entry};
use crate::fill::Settled;
use crate::fill::keeper::Keeper;
use crate::fill::unshared::{Asker, Unshared};

/// See the module.
pub(crate) struct ValueFiller(pub(crate) Keeper);

/// What came of a call.
pub(crate) enum Came {
    /// A value; that it is stored, or why it is not.
    Value {
        json: Json,
        stored: Result<(), &'static str>,
    },
    /// Another instance has made it.
    Shared {
        entry: Arc<Entry>,
        json: Json,
    },
    Nothing(Error),
}

/// When a call was made, and when its value was here.
#[derive(Clone, Copy)]
pub(crate) struct Made {
    pub(crate) requested_at: Timestamp,
    pub(crate) received_at: Timestamp,
}

type Result<T, E = Error> = std::result::Result<T, E>;

impl ValueFiller {
    /// Makes the call, unless another instance has made it.
    pub(crate) async fn run(self, ask: impl AsyncFnOnce() -> Result<Json>) -> Came {
        let keeper = &self.0;
        let _duty = keeper.begin();
        let will_do = |entry: &Entry| {
            let reuse = entry.terms().reuse(&RequestDirectives::default(), false, Clock::now());
            reuse == Reuse::Fresh && entry.value().is_some()
        };
        if let Some(entry) = keeper.take_turn(NO_FIELDS, false, will_do).await
            && let Some(json) = entry.value()
        {
            keeper.found(Arc::clone(&entry));
            return Came::Shared { entry, json };
        }
        let requested_at = Clock::now();
        match ask().await {
            Ok(json) => {
                let stored = self.keep(&json, Made { requested_at, received_at: Clock::now() });
                keeper.settle(Settled::Value(json.clone()));
                Came::Value { json, stored }
            }
            Err(error) => {
                keeper.failed(Some(error.clone()));
                Came::Nothing(error)
            }
        }
    }

    /// Stores a value; else why not, in a word.
    fn keep(&self, json: &Json, made: Made) -> Result<(), &'static str> {
        let keeper = &self.0;
        let length = json.bytes().len() as u64;
        let draft = match draft(&keeper.policy, made, keeper.fill.since()) {
            Ok(draft) if length <= keeper.policy.max_body => draft,
            refused => {
                let reason = refused.map_or_else(Unshared::Rule, |_| Unshared::TooLarge);
                let took = made.received_at.since(made.requested_at);
                keeper.learn(reason.lesson(StatusCode::OK, took, Asker::NOBODY));
                keeper.give_turn_back();
                return Err(reason.word());
            }
        };
        let hold = keeper.store.memory.held().room(length).ok_or("no-room")?;
        let entry = Arc::new(Entry::of_value(draft, hold.copied(json.bytes())));
        if keeper.keep(&keeper.key, &entry, None) { Ok(()) } else { Err("purged") }
    }
}

/// What is stored of a value: an answer that says nothing, so that all is as the policy has it. `since`: the epoch of
/// purges when the source was asked.
pub(crate) fn draft(policy: &CachePolicy, made: Made, since: u64) -> Result<Draft, NotStored> {
    let fields = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let exchange = Exchange {
        method: &Method::GET,
        request: NO_FIELDS,
        status: StatusCode::OK,
        response: &fields,
        personal: false,
        requested_at: made.requested_at,
        received_at: made.received_at,
        skew: Clock::skew(),
    };
    let terms = terms(policy, &exchange)?;
    Ok(Draft {
        status: StatusCode::OK,
        fields,
        terms,
        variant: None,
        tags: Tags::default(),
        client_lifetime: None,
        encodable: false,
        since,
    })
}
