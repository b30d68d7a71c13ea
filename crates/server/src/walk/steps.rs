//! Steps: who carries out the calls of a compose, on one core: origins, Redis and stores, databases, modules; behind a
//! cache where a step says so. Called by `compose`.

use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use cache::{Caching, Store};
use compose::{Answered, Calls, Flight, SingleFlight, read_body};
use expression::{Arguments, Json};
use http::header::VIA;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use message::{Body, Call, Client, Error, Interim, Kind, Request, Response, Result, Scheme, Trip};
use plan::{CachePolicy, HttpForm, Plan, Read, ReadForm, Step};
use redis_link::Link;
use source::{BoundCall, LocalSource, Question, ReadAsked, ReadLine};

use crate::walk::pipeline::Pipelines;

/// This core's ways to everything that steps may ask.
pub(crate) struct Lines {
    pub(crate) plan: Arc<Plan>,
    /// In the order of [`Plan::sources`].
    pub(crate) sources: Vec<LocalSource>,
    /// Equal calls of requests on this core.
    pub(crate) flights: SingleFlight,
    /// For steps behind a cache.
    pub(crate) store: Arc<Store>,
    /// This core's way to the tier that instances share.
    pub(crate) tier: Option<Link>,
}

/// For one request.
pub(crate) struct Steps {
    lines: Rc<Lines>,
    /// Who passed the request on before us, so that one that comes back to us by its own steps is found out.
    via: Rc<[HeaderValue]>,
    /// Reads that start together go together.
    pipelines: Option<Rc<Pipelines>>,
}

/// One call, ready to be carried out, perhaps more than once.
#[derive(Clone)]
struct Work {
    lines: Rc<Lines>,
    via: Rc<[HeaderValue]>,
    pipelines: Option<Rc<Pipelines>>,
    call: BoundCall,
    /// What it gave last is to stand in when it fails: nothing that fails may take its place.
    stands_in: bool,
}

impl Steps {
    pub(crate) fn new(lines: &Rc<Lines>, request: &Request, is_pipelined: bool) -> Self {
        let pipelines = is_pipelined.then(Rc::default);
        let via = request.fields.get_all(VIA).iter().cloned().collect();
        Steps { lines: Rc::clone(lines), via, pipelines }
    }
}

impl Calls for Steps {
    fn call(&self, step: &Step, call: BoundCall) -> Flight {
        let work = Work {
            lines: Rc::clone(&self.lines),
            via: Rc::clone(&self.via),
            pipelines: self.pipelines.clone(),
            call,
            stands_in: step.wrapping.as_ref().is_some_and(|wrapping| wrapping.stands_in),
        };
        match &step.wrapping {
            None => Box::pin(async move { work.answer().await }),
            Some(wrapping) => {
                let policy = Arc::clone(&wrapping.policy);
                Box::pin(async move { work.cached(policy).await })
            }
        }
    }
}

impl Work {
    /// Carries it out.
    async fn answer(&self) -> Result<Answered> {
        match (&self.call.question, self.source()) {
            (Question::Http { form, .. }, LocalSource::Http(origin)) => {
                let response = origin.send(self.request()).await?;
                Ok(Answered { json: content(response, *form).await?, is_stale: false })
            }
            (Question::Read { read, arguments }, LocalSource::Read(line)) => {
                self.read(line, read, arguments).await
            }
            (Question::Sql { statement, parameters }, LocalSource::Sql(line)) => {
                let rows = line.query(statement, parameters).await?;
                Ok(Answered { json: checked(rows)?, is_stale: false })
            }
            (Question::Wasm { function, input }, LocalSource::Wasm(module)) => {
                let output = module.call(function, input.clone()).await?;
                Ok(Answered { json: checked(output)?, is_stale: false })
            }
            _ => unreachable!("a step asks its source what that can answer"),
        }
    }

    fn source(&self) -> &LocalSource {
        &self.lines.sources[self.call.source.place()]
    }

    async fn read(&self, line: &ReadLine, read: &Arc<Read>, arguments: &Arguments) -> Result<Answered> {
        let asked = ReadAsked { read: Arc::clone(read), arguments: arguments.clone() };
        let value = match (&self.pipelines, line) {
            (Some(pipelines), ReadLine::Redis(_)) => pipelines.ask(self.call.source, line, asked).await?,
            _ => line.value(asked).await?,
        };
        let json = match value.content {
            None => Json::null(),
            Some(text) if read.form == ReadForm::Text => string(&text)?,
            Some(json) => checked(json)?,
        };
        Ok(Answered { json, is_stale: value.is_stale })
    }

    /// The same through the cache.
    async fn cached(self, policy: Arc<CachePolicy>) -> Result<Answered> {
        let lines = Rc::clone(&self.lines);
        let name = lines.plan.source(self.call.source).name();
        let form = match &self.call.question {
            Question::Http { form, .. } => *form,
            _ => HttpForm::Json,
        };
        let request = self.request();
        let link = lines.tier.as_ref();
        let caching =
            Caching { store: &lines.store, policy: &policy, names: &[], source: name, link, call: &self };
        let answer = caching.answer(request).await;
        let is_stale = answer.status.stands_in();
        Ok(Answered { json: content(answer.outcome?, form).await?, is_stale })
    }

    /// As a request: to an origin, or one that only says to the cache which call it is.
    fn request(&self) -> Request {
        let request = |method, scheme, authority: String, target, fields, body| Request {
            method,
            scheme,
            authority: authority.into(),
            target,
            version: Version::HTTP_11,
            fields,
            body,
            // Whoever asks is no part of the call: it may be made for several at once, and its answer kept.
            client: Client::NOBODY,
            interim: Interim::default(),
        };
        let (Question::Http { method, target, fields, body, .. }, LocalSource::Http(origin)) =
            (&self.call.question, self.source())
        else {
            let name = self.lines.plan.source(self.call.source).name().to_owned();
            let target = self.call.path().into_boxed_str();
            return request(Method::GET, Scheme::Http, name, target, HeaderMap::new(), Body::Empty);
        };
        // There is no client whose host it could ask for.
        let first = &origin.shared().plan().targets[0];
        let mut fields = fields.clone();
        if body.is_some() {
            fields.entry(http::header::CONTENT_TYPE).or_insert(JSON);
        }
        for passed in &*self.via {
            fields.append(VIA, passed.clone());
        }
        let body = body.clone().map_or(Body::Empty, Body::from);
        request(method.clone(), first.scheme, first.authority(), target.clone(), fields, body)
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What the cache asks where it has nothing.
impl Call for Work {
    async fn call<'a>(&'a self, request: Request, _: &'a mut Trip) -> Result<Response> {
        if let (Question::Http { form, .. }, LocalSource::Http(origin)) = (&self.call.question, self.source())
        {
            let mut response = origin.send(request).await?;
            let status = response.status;
            if self.stands_in && (status.is_client_error() || status.is_server_error()) {
                return Err(refused(status));
            }
            // What no step can use is not kept.
            if status.is_success() {
                let content = whole(response.body).await?;
                value(content.clone(), *form)?;
                response.body = Body::Whole(content);
            }
            return Ok(response);
        }
        let answered = self.answer().await?;
        if answered.is_stale {
            return Err(Error::new(
                Kind::ReadUnavailable,
                "the data store is unavailable, and an earlier value stands in already",
            ));
        }
        let mut response = Response::new(StatusCode::OK);
        response.fields.insert(http::header::CONTENT_TYPE, JSON);
        response.body = Body::Whole(answered.json.bytes().clone());
        Ok(response)
    }
}

/// The content of an origin's answer as a value.
async fn content(response: Response, form: HttpForm) -> Result<Json> {
    let status = response.status;
    if !status.is_success() {
        return Err(refused(status));
    }
    value(whole(response.body).await?, form)
}

async fn whole(body: Body) -> Result<Bytes> {
    let most = compose::LARGEST;
    let content = read_body(body, most).await?;
    content.ok_or_else(|| unusable(format!("the answer is longer than {} MiB", most / 1024 / 1024)))
}

fn refused(status: StatusCode) -> Error {
    unusable(format!("the source answered {}", status.as_u16()))
}

fn value(content: Bytes, form: HttpForm) -> Result<Json> {
    match form {
        _ if content.is_empty() => Ok(Json::null()),
        HttpForm::Json => checked(content),
        HttpForm::Text => string(&content),
    }
}

fn checked(content: Bytes) -> Result<Json> {
    Json::check(content)
        .ok_or_else(|| unusable("the answer is no JSON; write `as: text` for text".to_owned()))
}

fn string(content: &[u8]) -> Result<Json> {
    let text = std::str::from_utf8(content).map_err(|_| unusable("the answer is no text".to_owned()))?;
    Ok(Json::string(text))
}

fn unusable(detail: String) -> Error {
    Error::new(Kind::UnusableReply, detail)
}

#[cfg(test)]
mod tests {
    use plan::{RouteEnd, StepCall, Task};

    use super::*;
    use crate::walk::identity::Identity;
    use crate::walk::local::Local;
    use crate::walk::running::Running;

    /// What the cache takes the first step of the first route for.
    fn stored_under(sources: &str) -> (Box<str>, Box<str>) {
        let text = format!(
            "sources: {{ {sources} }}\nroutes:\n  - match: GET /x\n    compose: {{ one: {{ a: GET k }} }}\n"
        );
        let plan = plan::compile(&text, "test.yaml").unwrap_or_else(|faults| panic!("{faults}"));
        let RouteEnd::Compose(compose) = plan.routes[0].end.clone() else { panic!("no compose") };
        let Task::Call(StepCall::Read(read)) = &compose.graph.steps[0].task else { panic!("no read") };
        let question = Question::Read { read: Arc::clone(read), arguments: Arguments::default() };
        let store = Store::new(plan.memory);
        let running = Running::new(plan, None).map_err(|_| "not ready").unwrap();
        let local = Local::new(running, None, &Identity::new(), &store, None);
        let work = Work {
            lines: Rc::clone(&local.lines),
            via: Rc::default(),
            pipelines: None,
            stands_in: false,
            call: BoundCall { source: read.from, question },
        };
        let request = work.request();
        (request.authority, request.target)
    }

    #[tokio::test]
    async fn what_was_read_of_a_source_stays_its_own_when_their_order_changes() {
        let (a, b) = ("a: { redis: redis://127.0.0.1:1 }", "b: { redis: redis://127.0.0.1:2 }");
        assert_eq!(stored_under(&format!("{a}, {b}")), stored_under(&format!("{b}, {a}")));
    }
}
