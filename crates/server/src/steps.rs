//! Steps: who carries out the calls of a compose, on one core: origins, Redis and stores, databases, modules; behind a
//! cache where a step says so. Called by `compose`.

use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use cache::{Caching, Store};
use compose::{Answered, Calls, Flight, Prepared, SingleFlight, read_body};
use expression::{Arguments, Json};
use http::header::VIA;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use message::{Body, Call, Client, Error, Interim, Kind, Request, Response, Result, Scheme};
use plan::{CachePolicy, HttpForm, Read, ReadForm, ReadFrom, Step};
use redis_link::Link;
use source::{HttpSource, ReadAsked, ReadLine, Reading};

use crate::pipeline::Pipelines;

/// This core's ways to everything that steps may ask.
pub(crate) struct Lines {
    /// In the order of [`plan::Plan::sources`].
    pub(crate) http: Vec<(HttpSource, Arc<source::Shared>)>,
    /// In the order of [`plan::Plan::redis`].
    pub(crate) redis: Vec<ReadLine>,
    /// In the order of [`plan::Plan::stores`].
    pub(crate) stores: Vec<ReadLine>,
    /// In the order of [`plan::Plan::databases`].
    pub(crate) databases: Vec<sql::Line>,
    /// In the order of [`plan::Plan::modules`].
    pub(crate) modules: Vec<Arc<wasm::Module>>,
    /// Reads of steps, by the addresses of their plans, which are kept as long.
    pub(crate) readings: Arc<HashMap<usize, Arc<Reading>>>,
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
    asked: Prepared,
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
    fn call(&self, step: &Step, prepared: Prepared) -> Flight {
        let work = Work {
            lines: Rc::clone(&self.lines),
            via: Rc::clone(&self.via),
            pipelines: self.pipelines.clone(),
            asked: prepared,
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
        let lines = &self.lines;
        match &self.asked {
            Prepared::Http { source, form, .. } => {
                let response = lines.http[*source].0.send(self.request()).await?;
                Ok(Answered { json: content(response, *form).await?, is_stale: false })
            }
            Prepared::Read { read, arguments } => self.read(read, arguments).await,
            Prepared::Sql { source, statement, parameters } => {
                let rows = lines.databases[*source].query(statement, parameters).await?;
                Ok(Answered { json: checked(rows)?, is_stale: false })
            }
            Prepared::Wasm { source, function, input } => {
                let output = lines.modules[*source].call(function, input.clone()).await?;
                Ok(Answered { json: checked(output)?, is_stale: false })
            }
        }
    }

    async fn read(&self, read: &Arc<Read>, arguments: &Arguments) -> Result<Answered> {
        let lines = &self.lines;
        let reading = Arc::clone(
            lines
                .readings
                .get(&Arc::as_ptr(read).addr())
                .ok_or_else(|| Error::new(Kind::Internal, "a read of a step is not known"))?,
        );
        let asked = ReadAsked { reading, arguments: arguments.clone() };
        let value = match (read.from, &self.pipelines) {
            (ReadFrom::Redis(index), Some(pipelines)) => {
                pipelines.ask(index, &lines.redis[index], asked).await?
            }
            (ReadFrom::Redis(index), None) => lines.redis[index].value(asked).await?,
            (ReadFrom::Store(index), _) => lines.stores[index].value(asked).await?,
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
        let name = self.source_name();
        let form = match &self.asked {
            Prepared::Http { form, .. } => *form,
            _ => HttpForm::Json,
        };
        let request = self.request();
        let link = lines.tier.as_ref();
        let caching =
            Caching { store: &lines.store, policy: &policy, names: &[], source: &name, link, call: &self };
        let answer = caching.answer(request).await;
        let is_stale = answer.status.stands_in();
        Ok(Answered { json: content(answer.outcome?, form).await?, is_stale })
    }

    fn source_name(&self) -> String {
        let lines = &self.lines;
        match &self.asked {
            Prepared::Http { source, .. } => lines.http[*source].1.plan().name.clone(),
            Prepared::Read { read, .. } => match read.from {
                ReadFrom::Redis(index) => lines.redis[index].name().to_owned(),
                ReadFrom::Store(index) => lines.stores[index].name().to_owned(),
            },
            Prepared::Sql { source, .. } => lines.databases[*source].shared().plan().name.clone(),
            Prepared::Wasm { source, .. } => lines.modules[*source].plan().name.clone(),
        }
    }

    /// As a request: to an origin, or one that only says to the cache which call it is.
    fn request(&self) -> Request {
        let (method, scheme, authority, target, fields, body) = match &self.asked {
            Prepared::Http { source, method, target, fields, body, .. } => {
                // There is no client whose host it could ask for.
                let first = &self.lines.http[*source].1.plan().targets[0];
                let mut fields = fields.clone();
                if body.is_some() {
                    fields.entry(http::header::CONTENT_TYPE).or_insert(JSON);
                }
                for passed in &*self.via {
                    fields.append(VIA, passed.clone());
                }
                let body = body.clone().map_or(Body::Empty, Body::from);
                (method.clone(), first.scheme, first.authority(), target.clone(), fields, body)
            }
            other => {
                let target = identity(other).into_boxed_str();
                (Method::GET, Scheme::Http, self.source_name(), target, HeaderMap::new(), Body::Empty)
            }
        };
        Request {
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
        }
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A call that is no request, as a path: what it is and each argument, every part encoded.
fn identity(asked: &Prepared) -> String {
    let mut out = String::new();
    let mut part = |part: &[u8]| write_encoded(part, &mut out);
    match asked {
        Prepared::Http { target, .. } => part(target.as_bytes()),
        Prepared::Read { read, arguments } => {
            part(format!("{}-{:?}", read.command.word(), read.form).as_bytes());
            arguments.iter().for_each(&mut part);
        }
        Prepared::Sql { statement, parameters, .. } => {
            // Where one ends counts: a question mark may be a placeholder or be written.
            statement.pieces.iter().for_each(|piece| part(piece.as_bytes()));
            part(format!("{:?}", statement.rows).as_bytes());
            // Texts and numbers are told apart by how they are shown.
            for parameter in parameters {
                part(format!("{parameter:?}").as_bytes());
            }
        }
        Prepared::Wasm { function, input, .. } => {
            part(function.as_bytes());
            part(input);
        }
    }
    out
}

/// Appends a part behind a slash, which it cannot hold itself.
fn write_encoded(part: &[u8], out: &mut String) {
    out.push('/');
    for byte in part {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') {
            out.push(char::from(*byte));
        } else {
            let _infallible = write!(out, "%{byte:02X}");
        }
    }
}

/// What the cache asks where it has nothing.
impl Call for Work {
    async fn call(&self, request: Request) -> Result<Response> {
        if let Prepared::Http { source, form, .. } = &self.asked {
            let mut response = self.lines.http[*source].0.send(request).await?;
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
                "what is read cannot be asked, and stands in already",
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
    use plan::{RouteEnd, Rows, Statement, StepCall, Task};

    use super::*;
    use crate::identity::Identity;
    use crate::running::{Local, Running};

    fn sql(pieces: [&str; 2]) -> Prepared {
        let pieces = pieces.map(str::to_owned).to_vec();
        let statement = Statement { pieces, reads: true, rows: Rows::All, batch: None };
        Prepared::Sql { source: 0, statement: Arc::new(statement), parameters: Vec::new() }
    }

    #[test]
    fn a_written_question_mark_is_no_placeholder() {
        assert_ne!(identity(&sql(["a ? b = ", ""])), identity(&sql(["a ", " b = ?"])));
    }

    /// What the cache takes the first step of the first route for.
    fn stored_under(sources: &str) -> (Box<str>, Box<str>) {
        let text = format!(
            "sources: {{ {sources} }}\nroutes:\n  - match: GET /x\n    compose: {{ one: {{ a: GET k }} }}\n"
        );
        let plan = plan::compile(&text, "test.yaml").unwrap_or_else(|faults| panic!("{faults}"));
        let RouteEnd::Compose(compose) = plan.routes[0].end.clone() else { panic!("no compose") };
        let Task::Call(StepCall::Read(read)) = &compose.graph.steps[0].task else { panic!("no read") };
        let store = Store::new(plan.memory);
        let running = Running::new(plan, None).map_err(|_| "not ready").unwrap();
        let local = Local::new(running, None, &Identity::new(), &store, None);
        let work = Work {
            lines: Rc::clone(&local.lines),
            via: Rc::default(),
            pipelines: None,
            stands_in: false,
            asked: Prepared::Read { read: Arc::clone(read), arguments: Arguments::default() },
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
