//! Send: a request → one of the source's targets → an answer. The way in for everybody outside; one `HttpSource` per
//! core.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use http::header::MAX_FORWARDS;
use http::{HeaderValue, Method, StatusCode};
use message::{Call, Clock, Error, Kind, Request, Response, Result, Targets, Trip};

use super::choose::Chooser;
use super::origin::Origin;
use super::outgoing::Outgoing;
use super::shared_origin::SharedOrigin;

/// This core's way to one source: its connections, and the way to what all cores share. Cheap to clone.
#[derive(Clone)]
pub struct HttpSource(Rc<Core>);

struct Core {
    shared: Arc<SharedOrigin>,
    origins: Vec<Origin>,
    chooser: Chooser,
}

impl HttpSource {
    /// A source without connections yet; they open as requests come.
    pub fn new(shared: Arc<SharedOrigin>) -> Self {
        let origins = (0..shared.targets.len()).map(|index| Origin::new(&shared, index)).collect();
        let chooser = Chooser::new(shared.plan.balance);
        HttpSource(Rc::new(Core { shared, origins, chooser }))
    }

    /// What it shares with those of other cores.
    pub fn shared(&self) -> &Arc<SharedOrigin> {
        &self.0.shared
    }

    /// Sends the request and gives the final answer, its body still arriving. Informational answers go to
    /// `request.interim` meanwhile. Dropping the future, or the body later, ends the exchange.
    ///
    /// Pieces of the body share the buffer they were read into, of 8 KiB and more: whoever keeps them long should copy.
    ///
    /// A target to which no connection can be made is passed over for the next one. A request that has been sent is
    /// sent again only once, and only when an idle connection turned out to be closed and the request does no harm
    /// twice; see [`message::Retry`] for what the error says about further attempts.
    pub async fn send(&self, request: Request) -> Result<Response> {
        self.call(request, &mut Trip::default()).await
    }

    #[expect(clippy::manual_async_fn, reason = "the future of an async fn holds what it is given twice")]
    fn send_timed<'a>(
        &'a self,
        mut request: Request,
        trip: &'a mut Trip,
    ) -> impl Future<Output = Result<Response>> + 'a {
        async move {
            if let Some(answer) = count_forwards(&mut request) {
                return answer;
            }
            let asked = Instant::now();
            let mut outgoing = Outgoing::new(request)?;
            let mut failed = Vec::new();
            let mut failure = None;
            while let Some(index) = self.choose(&failed, &trip.targets) {
                trip.targets.asked = u8::try_from(index).ok();
                match self.0.origins[index].send(&mut outgoing).await {
                    Err(error)
                        if matches!(error.kind(), Kind::Resolve | Kind::Connect | Kind::ConnectTimeout) =>
                    {
                        failed.push(index);
                        failure = Some(error);
                    }
                    outcome => {
                        trip.source_time = Some(asked.elapsed());
                        return outcome;
                    }
                }
            }
            trip.source_time = Some(asked.elapsed());
            Err(failure.unwrap_or_else(|| {
                let name = &self.0.shared.plan.name;
                Error::new(
                    Kind::NoHealthyTarget,
                    format!("the health checks found every target of {name} down"),
                )
            }))
        }
    }

    /// Connections waiting for a request on this core; HTTP/2 connections without a stream count.
    pub fn idle_connections(&self) -> usize {
        self.0.origins.iter().map(Origin::idle).sum()
    }

    /// Healthy ones first, then those that merely rest; see `health`. None that may not be asked, or could not be reached for
    /// this request already; one that failed it in another way only where there is no other.
    fn choose(&self, unreached: &[usize], targets: &Targets) -> Option<usize> {
        let Core { shared, origins, chooser } = &*self.0;
        let load = |index: usize| origins[index].load();
        let health = |index: usize| &shared.targets[index].health;
        let is_open =
            |index: usize| !unreached.contains(&index) && targets.may_ask(index) && health(index).is_up();
        let is_fit = |index: usize| is_open(index) && !health(index).is_resting(Clock::now);
        let is_new = |index: usize| is_fit(index) && !targets.has_failed(index);
        let choose = |is_usable: &dyn Fn(usize) -> bool| chooser.choose(origins.len(), is_usable, load);
        let anew = if targets.failed == 0 { None } else { choose(&is_new) };
        anew.or_else(|| choose(&is_fit)).or_else(|| choose(&is_open))
    }
}

impl Call for HttpSource {
    /// Not `async` itself: each future that only wraps another would hold the request once more.
    fn call<'a>(&'a self, request: Request, trip: &'a mut Trip) -> impl Future<Output = Result<Response>> {
        self.send_timed(request, trip)
    }
}

/// `Max-Forwards` limits how many hops `OPTIONS` and `TRACE` go (RFC 9110 §7.6.2). At zero we are the last one.
fn count_forwards(request: &mut Request) -> Option<Result<Response>> {
    if !matches!(request.method, Method::OPTIONS | Method::TRACE) {
        return None;
    }
    let left = request.fields.get(MAX_FORWARDS)?.to_str().ok()?.parse::<u64>().ok()?;
    match left.checked_sub(1) {
        Some(left) => {
            request.parts_mut().fields.insert(MAX_FORWARDS, HeaderValue::from(left));
            None
        }
        None if request.method == Method::OPTIONS => Some(Ok(Response::new(StatusCode::NO_CONTENT))),
        // Sending the request back would show its credentials to whoever made the client send it.
        None => Some(Err(Error::new(Kind::MethodNotAllowed, "TRACE is not supported"))),
    }
}
