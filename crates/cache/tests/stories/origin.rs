//! An origin that answers from a script and remembers what it was asked.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use cache::{Answer, Caching, Forgetting, Look, Purge, Scope, Store};
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Method, StatusCode, Version};
use http_body_util::BodyExt;
use message::{
    Body, Call, Client, Clock, Error, Kind, Request, RequestParts, RequestView, Response, Result, Scheme,
    Trip,
};
use plan::CachePolicy;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::{mpsc, oneshot};

/// Runs a story on a core of its own, with time standing still unless everybody waits.
pub(crate) fn story<F: Future<Output = ()>>(tell: impl FnOnce() -> F) {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build_local(LocalOptions::default())
        .unwrap();
    runtime
        .block_on(async { tokio::time::timeout(std::time::Duration::from_mins(1), tell()).await.unwrap() });
}

/// One step of the script: waits for its gate, if any, then answers.
pub(crate) struct Reply {
    gate: Option<oneshot::Receiver<()>>,
    outcome: Result<Response>,
}

impl Reply {
    pub(crate) fn new(status: u16, fields: &[(&str, &str)], body: &'static str) -> Self {
        let mut response = Response::new(StatusCode::from_u16(status).unwrap());
        response.fields = map(fields);
        response.body = Bytes::from_static(body.as_bytes()).into();
        Reply { gate: None, outcome: Ok(response) }
    }

    pub(crate) fn failing(kind: Kind) -> Self {
        Reply { gate: None, outcome: Err(Error::new(kind, "the story wants it so")) }
    }

    /// Content sent by the story, piece by piece; dropping the sender after an error or nothing ends it.
    pub(crate) fn streaming(fields: &[(&str, &str)]) -> (Self, mpsc::UnboundedSender<Result<Bytes>>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut response = Response::new(StatusCode::OK);
        response.fields = map(fields);
        response.body = Body::stream(Pieces(receiver));
        (Reply { gate: None, outcome: Ok(response) }, sender)
    }

    /// The answer waits until the story sends.
    pub(crate) fn held(mut self) -> (Self, oneshot::Sender<()>) {
        let (sender, receiver) = oneshot::channel();
        self.gate = Some(receiver);
        (self, sender)
    }
}

struct Pieces(mpsc::UnboundedReceiver<Result<Bytes>>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| piece.map(http_body::Frame::data)))
    }
}

/// The origin and the cache in front of it.
#[derive(Clone)]
pub(crate) struct Origin {
    script: Rc<RefCell<VecDeque<Reply>>>,
    /// Heads of all requests that came.
    pub(crate) asked: Rc<RefCell<Vec<Request>>>,
    /// Contents of those that had some.
    pub(crate) contents: Rc<RefCell<Vec<String>>>,
    pub(crate) store: Arc<Store>,
    pub(crate) policy: Arc<CachePolicy>,
}

impl Origin {
    pub(crate) fn new(policy: CachePolicy) -> Self {
        Origin {
            script: Rc::default(),
            asked: Rc::default(),
            contents: Rc::default(),
            store: Store::new(16 * 1024 * 1024),
            policy: Arc::new(policy),
        }
    }

    pub(crate) fn will(&self, reply: Reply) -> &Self {
        self.script.borrow_mut().push_back(reply);
        self
    }

    pub(crate) fn times_asked(&self) -> usize {
        self.asked.borrow().len()
    }

    /// Whether a whole answer is stored.
    pub(crate) fn has_stored(&self, target: &str) -> bool {
        let scope = Scope::Target { authority: AUTHORITY.into(), target: target.into() };
        self.store.count(&scope).answers > 0
    }

    pub(crate) fn purge(&self, scope: Scope, soft: bool) {
        self.store.purge(&Purge { scope, soft }, Clock::now());
    }

    /// What the origin got of a field in its latest request.
    pub(crate) fn was_asked_with(&self, name: &str) -> Option<String> {
        let asked = self.asked.borrow();
        Some(asked.last()?.fields.get(name)?.to_str().unwrap().to_owned())
    }

    pub(crate) async fn answer(&self, request: Request) -> Answer {
        let forgetting = Forgetting::of(&request, Some(&self.policy));
        let caching = Caching {
            store: &self.store,
            policy: &self.policy,
            names: &[],
            source: "api",
            link: None,
            call: self,
        };
        let answer = caching.answer(request).await;
        if let (Some(forgetting), Ok(response)) = (forgetting, &answer.outcome)
            && forgetting.is_due(response, Some(&answer.status))
        {
            let look = |view: &RequestView<'_>| {
                self.store.keyed_target(&Look {
                    request: view,
                    policy: &self.policy,
                    names: &[],
                    source: "api",
                })
            };
            forgetting.after(response, &self.store, Clock::now(), |view| Some(look(view)));
        }
        answer
    }

    /// Asks in the background, as another client would.
    pub(crate) fn spawn(&self, request: Request) -> tokio::task::JoinHandle<Told> {
        let origin = self.clone();
        tokio::task::spawn_local(async move { told(origin.answer(request).await).await })
    }

    pub(crate) async fn ask(&self, request: Request) -> Told {
        told(self.answer(request).await).await
    }

    /// The same where the content is not text: only its length is told.
    pub(crate) async fn get_bytes(&self, target: &str, fields: &[(&str, &str)]) -> ToldBytes {
        let answer = self.answer(request(Method::GET, target, fields)).await;
        let mut cache = Vec::new();
        answer.status.write(&mut cache);
        let Response { fields, body, .. } = answer.outcome.unwrap();
        let length = body.collect().await.unwrap().to_bytes().len();
        ToldBytes { fields, length, cache: String::from_utf8(cache).unwrap() }
    }

    pub(crate) async fn get(&self, target: &str, fields: &[(&str, &str)]) -> Told {
        told(self.answer(request(Method::GET, target, fields)).await).await
    }
}

impl Call for Origin {
    async fn call<'a>(&'a self, request: Request, _: &'a mut Trip) -> Result<Response> {
        self.asked.borrow_mut().push(request.head_only());
        if !request.body.is_empty() {
            let content = request.body.collect().await?.to_bytes();
            self.contents.borrow_mut().push(String::from_utf8(content.to_vec()).unwrap());
        }
        let reply = self
            .script
            .borrow_mut()
            .pop_front()
            .expect("the origin was asked more often than the story says");
        if let Some(gate) = reply.gate {
            gate.await.ok();
        }
        reply.outcome
    }
}

/// An answer whose content is not text.
#[derive(Debug)]
pub(crate) struct ToldBytes {
    pub(crate) fields: HeaderMap,
    pub(crate) length: usize,
    pub(crate) cache: String,
}

/// An answer read to its end.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) fields: HeaderMap,
    pub(crate) body: std::result::Result<String, Kind>,
    /// As `Cache-Status` would say it.
    pub(crate) cache: String,
}

impl Told {
    pub(crate) fn text(&self) -> &str {
        self.body.as_deref().expect("the content is complete")
    }
}

async fn told(answer: Answer) -> Told {
    let mut cache = Vec::new();
    answer.status.write(&mut cache);
    let cache = String::from_utf8(cache).unwrap();
    match answer.outcome {
        Ok(Response { status, fields, body }) => {
            let body = body.collect().await;
            let body = body.map(|b| String::from_utf8(b.to_bytes().to_vec()).unwrap()).map_err(|e| e.kind());
            Told { status: status.as_u16(), fields, body, cache }
        }
        Err(error) => Told { status: 0, fields: HeaderMap::new(), body: Err(error.kind()), cache },
    }
}

pub(crate) const AUTHORITY: &str = "api.example";

pub(crate) fn request(method: Method, target: &str, fields: &[(&str, &str)]) -> Request {
    let address = "127.0.0.1:1".parse().unwrap();
    Request::new(RequestParts {
        method,
        scheme: Scheme::Http,
        authority: AUTHORITY.into(),
        target: target.into(),
        version: Version::HTTP_11,
        fields: map(fields),
        client: Client { address, local: address, trusted: false },
    })
}

pub(crate) fn map(fields: &[(&str, &str)]) -> HeaderMap {
    fields
        .iter()
        .map(|(name, value)| (HeaderName::try_from(*name).unwrap(), HeaderValue::try_from(*value).unwrap()))
        .collect()
}

/// Lets every other task run as far as it can.
pub(crate) async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}
