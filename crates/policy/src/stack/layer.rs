//! Layer: one thing around a call, as it runs at one place of one core. In which order layers stand is told by
//! [`plan::Layer`]; what each does stands in a file of its own.

use message::{Ask, Request, Result, Trip};

use crate::remedies::accounts::AccountsLayer;
use crate::remedies::breaker::BreakerLayer;
use crate::remedies::cache::CacheLayer;
use crate::remedies::concurrency::ConcurrencyLayer;
use crate::remedies::cors::CorsLayer;
use crate::remedies::credentials::CredentialsLayer;
use crate::remedies::faults::FaultsLayer;
use crate::remedies::headers::HeadersLayer;
use crate::remedies::hedge::HedgeLayer;
use crate::remedies::learn::LearnLayer;
use crate::remedies::limit::LimitLayer;
use crate::remedies::respond::RespondLayer;
use crate::remedies::retry::RetryLayer;
use crate::remedies::rewrite::RewriteLayer;
use crate::remedies::timeout::TimeoutLayer;
use crate::remedies::wasm::WasmLayer;
use crate::stack::around::{Arrival, Moment};

/// See the module.
pub enum Layer {
    /// Answers again what may be answered again.
    Cache(Box<CacheLayer>),
    /// Makes a call that takes long a second time.
    Hedge(Box<HedgeLayer>),
    /// Makes the call again where it failed.
    Retry(RetryLayer),
    /// Makes no call to what keeps failing.
    Breaker(BreakerLayer),
    /// Refuses what comes too often.
    Limit(Box<LimitLayer>),
    /// Keeps to what the source says of its limits.
    Learn(Box<LearnLayer>),
    /// Has so many calls under way at once.
    Concurrency(Box<ConcurrencyLayer>),
    /// Has the call carry what the source wants to see.
    Credentials(CredentialsLayer),
    /// The same with several accounts by turns.
    Accounts(AccountsLayer),
    /// Changes header fields.
    Headers(HeadersLayer),
    /// Asks the source for another path.
    Rewrite(RewriteLayer),
    /// Has functions of a module change or answer calls.
    Wasm(Box<WasmLayer>),
    /// Lets pages of other origins read responses.
    Cors(CorsLayer),
    /// Gives a response instead of asking.
    Respond(RespondLayer),
    /// Lets calls go wrong on purpose.
    Faults(FaultsLayer),
    /// Gives up what takes too long.
    Timeout(TimeoutLayer),
}

/// What a layer has to do with a response that is at hand.
pub(crate) enum AtHandPart<'a> {
    /// It may have one.
    Holds,
    /// It counts those that are given.
    Counts(&'a LimitLayer),
    /// It changes those that are given.
    Edits(&'a HeadersLayer),
    /// It says in them who may read.
    Shares(&'a CorsLayer),
    /// It answers some requests itself.
    Answers(&'a RespondLayer),
    /// It changes what is asked, has to ask others, or changes what comes back in a way that takes time, so that nothing behind it is
    /// at hand for the request as it came.
    Bars,
    /// Nothing: what is at hand has not failed and takes no time.
    None,
}

impl Layer {
    /// See [`AtHandPart`].
    pub(crate) fn at_hand(&self) -> AtHandPart<'_> {
        match self {
            Layer::Cache(_) => AtHandPart::Holds,
            Layer::Limit(limit) if limit.is_at_hand() => AtHandPart::Counts(limit),
            Layer::Hedge(_)
            | Layer::Retry(_)
            | Layer::Breaker(_)
            | Layer::Learn(_)
            | Layer::Concurrency(_)
            | Layer::Credentials(_)
            | Layer::Accounts(_)
            | Layer::Faults(_)
            | Layer::Timeout(_) => AtHandPart::None,
            Layer::Headers(headers) if headers.changes_requests() => AtHandPart::Bars,
            Layer::Headers(headers) => AtHandPart::Edits(headers),
            Layer::Rewrite(_) | Layer::Limit(_) | Layer::Wasm(_) => AtHandPart::Bars,
            Layer::Cors(cors) => AtHandPart::Shares(cors),
            Layer::Respond(respond) => AtHandPart::Answers(respond),
        }
    }

    /// Whether content of its own may stand in for the source's: nobody has looked yet whether that is what was asked for.
    pub(crate) fn makes_content(&self) -> bool {
        match self {
            Layer::Respond(_) | Layer::Faults(_) => true,
            Layer::Breaker(breaker) => breaker.stands_in(),
            Layer::Wasm(wasm) => wasm.makes_content(),
            Layer::Cache(_)
            | Layer::Hedge(_)
            | Layer::Retry(_)
            | Layer::Limit(_)
            | Layer::Learn(_)
            | Layer::Concurrency(_)
            | Layer::Credentials(_)
            | Layer::Accounts(_)
            | Layer::Headers(_)
            | Layer::Rewrite(_)
            | Layer::Cors(_)
            | Layer::Timeout(_) => false,
        }
    }

    /// Changes a request as it does on its way down: for whoever asks the end without its layers. No function is called.
    ///
    /// # Errors
    /// It would go no further, or what it is to carry cannot be had now.
    pub async fn change(&self, request: &mut Request) -> Result<()> {
        match self {
            Layer::Credentials(layer) => layer.credentials.put(request).await,
            Layer::Accounts(layer) => layer.accounts.put(request).await,
            Layer::Headers(layer) => {
                layer.arrive(request);
                Ok(())
            }
            Layer::Rewrite(layer) => match layer.arrive(request) {
                Arrival::End(Err(error)) => Err(error),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// The target with which a request for this one goes on, as far as the config says: what functions make of it nobody knows
    /// beforehand. `None`: it goes no further.
    pub fn onward(&self, sent: &str) -> Option<Box<str>> {
        match self {
            Layer::Rewrite(rewrite) => Some(rewrite.target(sent).ok()?.map_or(sent.into(), Box::from)),
            _ => Some(sent.into()),
        }
    }

    /// A call comes to it, on its way down.
    pub(crate) fn arrive<Q: Ask>(&self, ask: &mut Q, trip: &mut Trip, moment: &Moment) -> Arrival<Q::Answer> {
        match self {
            Layer::Cache(_) | Layer::Retry(_) => Arrival::Wait,
            Layer::Hedge(_) => HedgeLayer::arrive(ask),
            Layer::Breaker(breaker) => breaker.arrive(ask, trip, moment),
            Layer::Limit(limit) => limit.arrive(ask, trip, moment),
            Layer::Learn(learn) => learn.arrive(ask, moment),
            Layer::Concurrency(concurrency) => concurrency.arrive(moment),
            Layer::Credentials(credentials) => credentials.arrive(ask),
            Layer::Accounts(accounts) => accounts.arrive(ask, trip),
            Layer::Headers(headers) => headers.arrive(ask),
            Layer::Rewrite(rewrite) => rewrite.arrive(ask),
            Layer::Wasm(_) => WasmLayer::arrive(ask),
            Layer::Cors(cors) => cors.arrive(ask),
            Layer::Respond(respond) => respond.arrive(ask, trip),
            Layer::Faults(faults) => faults.arrive(ask),
            Layer::Timeout(timeout) => timeout.arrive(ask, moment),
        }
    }
}
