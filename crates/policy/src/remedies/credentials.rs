//! Credentials: the layer that has a call carry what the source wants to see, in place of whatever the client sent there.
//!
//! - `carried`: one credential, and how it is put into a request.
//! - `tokens`: a token that is asked for, as all cores share it, and who keeps it fresh.
//! - `grant`: one request for a token.

mod carried;
mod grant;
mod tokens;

use std::sync::Arc;

use message::{Ask, Call, Request, Result, Trip};

use crate::remedies::kept::Remedy;
use crate::remedies::outcomes::{Outcome, Outcomes};
use crate::stack::around::{Arrival, Held};

pub(crate) use carried::Carried;
pub use tokens::{Tokens, renew};

/// What all cores share of one policy's credentials.
#[derive(Debug)]
pub struct SharedCredentials {
    rule: plan::Credentials,
    carried: Carried,
}

/// See the module. One for each place and core.
#[derive(Clone, Debug)]
pub struct CredentialsLayer {
    /// What is carried.
    pub credentials: Arc<SharedCredentials>,
    /// What became of calls here.
    pub outcomes: Arc<Outcomes>,
}

impl Remedy for SharedCredentials {
    type Rule = plan::Credentials;

    fn new(rule: plan::Credentials) -> Self {
        SharedCredentials { carried: Carried::new(&rule.name, &rule.credential), rule }
    }

    fn rule(&self) -> &plan::Credentials {
        &self.rule
    }

    fn name(rule: &plan::Credentials) -> &str {
        &rule.name
    }
}

impl SharedCredentials {
    /// The token that is asked for, where it is one.
    pub fn tokens(&self) -> Option<&Arc<Tokens>> {
        self.carried.tokens()
    }

    /// Puts it into a request.
    pub(crate) async fn put(&self, request: &mut Request) -> Result<()> {
        self.carried.put(request).await
    }

    /// The call has ended: its client is not told what it carried.
    pub(crate) fn end<Q: Ask>(&self, outcome: &mut Result<Q::Answer>) {
        if let Some(response) = outcome.as_mut().ok().and_then(Q::response_mut) {
            self.carried.take_back(response);
        }
    }

    /// What it does, for people.
    pub(crate) fn explain(&self) -> String {
        self.carried.explain()
    }
}

impl CredentialsLayer {
    /// Those that may happen.
    pub const OUTCOMES: &[Outcome] = &[Outcome::Again];

    /// Puts it into the request, where nobody has to be waited for.
    pub(crate) fn arrive<Q: Ask>(&self, ask: &mut Q) -> Arrival<Q::Answer> {
        let Some(request) = ask.request_mut() else { return Arrival::Pass };
        let carried = &self.credentials.carried;
        match carried.write(request) {
            false => Arrival::Wait,
            true if carried.may_come_back() => {
                Arrival::Hold(Held::Credentials(Arc::clone(&self.credentials)))
            }
            true => Arrival::Pass,
        }
    }

    pub(crate) async fn call<Q: Ask>(
        &self,
        ask: Q,
        below: impl Call<Q>,
        trip: &mut Trip,
    ) -> Result<Q::Answer> {
        self.credentials.carried.call(ask, &below, trip, &self.outcomes).await
    }
}
