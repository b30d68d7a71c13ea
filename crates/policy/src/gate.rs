//! Gate: whom a route lets in: who has a signature (`signed`), who may ask (`auth`), and all of them where it wants several.
//! The outermost of its stack. Asked also on the way of a fresh hit, where nothing waits and nothing is allocated: whom it
//! does not know there takes the longer way.

pub(crate) mod auth;
pub(crate) mod sign;
pub(crate) mod signed;

use std::sync::Arc;

use message::{Clock, Request, RequestView, Result, Timestamp, Trip};
use plan::Signed;

use crate::gate::auth::{Auth, Now, Who};
use crate::gate::signed::gate::SignedGate;

/// Policies with `auth` on one route that the way of a fresh hit looks at. With more of them there is only the longer way.
const MOST_AT_ONCE: usize = 4;

/// See the module.
#[derive(Debug)]
pub struct Gate {
    signed: Option<SignedGate>,
    auth: Box<[Arc<Auth>]>,
}

/// Whom a gate has let in, to be counted once there is something to give.
pub(crate) struct LetIn<'g> {
    auth: &'g [Arc<Auth>],
    who: [Who; MOST_AT_ONCE],
}

impl Gate {
    /// `None`: everybody is let in.
    pub fn new(signed: Option<&Signed>, auth: Vec<Arc<Auth>>) -> Option<Arc<Self>> {
        (signed.is_some() || !auth.is_empty())
            .then(|| Arc::new(Gate { signed: signed.map(SignedGate::new), auth: auth.into() }))
    }

    /// Whose signatures are wanted.
    pub fn signed(&self) -> Option<&SignedGate> {
        self.signed.as_ref()
    }

    /// Who may ask; all of them have to agree.
    pub fn auth(&self) -> &[Arc<Auth>] {
        &self.auth
    }

    /// Lets a request in, and takes the signature off, which is nobody's business behind the gate.
    ///
    /// # Errors
    /// `Kind::Forbidden`, `Kind::Unauthorized`, `Kind::KeysUnavailable`.
    pub(crate) async fn let_in(&self, request: &mut Request, trip: &Trip) -> Result<()> {
        if let Some(signed) = &self.signed {
            let view = request.view();
            let sent = trip.sent.as_deref().unwrap_or(view.target);
            let target: Box<str> = signed.admit(&view, sent, Clock::date())?.into();
            request.parts_mut().target = target;
            signed.strip_cookie(&mut request.parts_mut().fields);
        }
        for auth in &self.auth {
            auth.admit(request).await?;
        }
        Ok(())
    }

    /// The target without its signature, where it is known at once that this request may come in.
    pub(crate) fn let_in_at_once<'r>(
        &self,
        request: &RequestView<'r>,
        sent: &'r str,
        now: std::time::Instant,
    ) -> Option<(&'r str, LetIn<'_>)> {
        let date = Clock::date();
        let target = match &self.signed {
            Some(signed) => signed.admit(request, sent, date).ok()?,
            None => request.target,
        };
        let who = self.known(request, now, date)?;
        Some((target, LetIn { auth: &self.auth, who }))
    }

    fn known(
        &self,
        request: &RequestView<'_>,
        now: std::time::Instant,
        date: Timestamp,
    ) -> Option<[Who; MOST_AT_ONCE]> {
        let mut who = [Who::Nobody; MOST_AT_ONCE];
        if self.auth.len() > MOST_AT_ONCE {
            return None;
        }
        for (auth, who) in self.auth.iter().zip(&mut who) {
            *who = auth.known(request, Now { moment: now, date })?;
        }
        Some(who)
    }
}

impl LetIn<'_> {
    /// Something was given to them.
    pub(crate) fn count(&self) {
        for (auth, who) in self.auth.iter().zip(self.who) {
            auth.count(&Ok(who));
        }
    }
}
