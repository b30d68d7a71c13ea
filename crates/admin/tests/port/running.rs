//! A running admin port with an empty cache, and somebody backstage who writes down what is asked of him.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use admin::{Access, Admin, Backstage, Control, Doing, Errand, Fetched, Inquiry, KeyedUrl, Readiness, serve};
use cache::{Content, Draft, Entry, KeyView, Store, Tags};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use message::{Clock, Fields, Scheme};
use plan::Token;
use rules::{Exchange, Terms};
use serde_json::{Value, json};
use telemetry::Metrics;
use testkit::{Answer, AsyncClient};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Longer than anything here takes, shorter than anybody waits.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) readiness: Arc<Readiness>,
    pub(crate) access: Arc<Access>,
    pub(crate) store: Arc<Store>,
    pub(crate) asked: Arc<Asked>,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) server: JoinHandle<()>,
}

/// What was asked of the cores.
#[derive(Default)]
pub(crate) struct Asked {
    pub(crate) fetched: Mutex<Vec<String>>,
}

impl Backstage for Asked {
    fn keyed_target(&self, place: &KeyedUrl) -> Box<str> {
        place.target.replace("utm_source=x", "").trim_end_matches('?').into()
    }

    fn fetch(&self, errand: Errand) -> Doing<Fetched> {
        let url = errand.place.url();
        self.fetched.lock().unwrap().push(url.clone());
        Box::pin(async {
            Fetched { url, status: Some(200), cache: "miss", stored: true, bytes: 3, error: None }
        })
    }

    fn explain(&self, inquiry: Inquiry) -> Doing<Result<Value, String>> {
        let fields: Vec<_> = inquiry.fields.keys().map(ToString::to_string).collect();
        let told = json!({
            "request": format!("{} {}", inquiry.method, inquiry.place.url()), "fields": fields, "ask": inquiry.ask,
        });
        Box::pin(async { Ok(told) })
    }

    fn recall(&self, id: &str) -> Option<Value> {
        (id == "known").then(|| json!({"id": id}))
    }

    fn remembers(&self) -> String {
        "the last few".to_owned()
    }
}

/// On a loopback address, without a token.
pub(crate) async fn start() -> Running {
    start_with(None, "127.0.0.1:9090").await
}

/// As if the port were bound to `bound`.
pub(crate) async fn start_with(token: Option<&str>, bound: &str) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let readiness = Readiness::new();
    let metrics = Metrics::new(1);
    let store = Store::new(1 << 20);
    let asked = Arc::new(Asked::default());
    let access = Arc::new(Access::new(bound.parse().unwrap(), token.map(|word| Token::new(word.to_owned()))));
    let backstage: Arc<dyn Backstage> = Arc::clone(&asked) as Arc<dyn Backstage>;
    let control = Control::new(Arc::clone(&access), Arc::clone(&store), Arc::clone(&metrics), backstage);
    let state = Admin { metrics, readiness: Arc::clone(&readiness), control };
    let (stop, stopped) = oneshot::channel::<()>();
    let server = tokio::spawn(serve(listener, state, async move {
        let _ = stopped.await;
    }));
    Running { address, readiness, access, store, asked, stop, server }
}

/// What most answers of the port are.
pub(crate) trait InJson {
    fn json(&self) -> Value;

    /// What a refusal says.
    fn detail(&self) -> String;
}

impl InJson for Answer {
    fn json(&self) -> Value {
        assert_eq!(self.field("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).unwrap()
    }

    fn detail(&self) -> String {
        self.json()["detail"].as_str().unwrap().to_owned()
    }
}

impl Running {
    pub(crate) async fn connect(&self) -> AsyncClient {
        AsyncClient::connect(self.address).await.deadline(PATIENCE)
    }

    /// Everything that comes until the connection is closed.
    pub(crate) async fn send(&self, bytes: &[u8]) -> String {
        let mut client = self.connect().await;
        client.send(bytes).await;
        String::from_utf8(client.read_to_end().await).unwrap()
    }

    pub(crate) async fn ask(&self, method: &str, target: &str) -> Answer {
        self.ask_with(method, target, "Host: 127.0.0.1:9090", "").await
    }

    /// With these fields, each line without its end.
    pub(crate) async fn ask_with(&self, method: &str, target: &str, fields: &str, content: &str) -> Answer {
        let fields = fields.replace('\n', "\r\n");
        let length =
            if content.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", content.len()) };
        let text = format!("{method} {target} HTTP/1.1\r\n{fields}\r\n{length}\r\n{content}");
        let mut client = self.connect().await;
        let answer = client.ask(text).await;
        assert!(client.is_closed().await);
        answer
    }

    pub(crate) async fn post(&self, target: &str, content: &Value) -> Answer {
        let fields = "Host: localhost\nContent-Type: application/json";
        self.ask_with("POST", target, fields, &content.to_string()).await
    }

    /// Stores an answer, as a fetch would.
    pub(crate) fn put(&self, target: &str, also: &str, tag: &str) {
        let no_fields = HeaderMap::new();
        let lifetime = HeaderValue::from_static("max-age=600");
        let fields = HeaderMap::from_iter([(http::header::CACHE_CONTROL, lifetime)]);
        let exchange = Exchange {
            method: &Method::GET,
            request: Fields::Map(&no_fields),
            status: StatusCode::OK,
            response: &fields,
            personal: false,
            requested_at: Clock::now(),
            received_at: Clock::now(),
            skew: Clock::skew(),
        };
        let terms = Terms::of(&exchange, &rules::Policy::default()).unwrap();
        let draft = Draft {
            status: StatusCode::OK,
            fields,
            terms,
            variant: None,
            tags: Tags::new(tag.into()),
            client_lifetime: None,
            encodable: false,
            since: 0,
        };
        let key = KeyView { scheme: Scheme::Http, authority: "a.test", target, also };
        self.store.memory.put(&key, Arc::new(Entry::new(draft, Content::from_static(b"abc"))), 4);
    }
}
