//! Sixteen calls: one response made of four look-ups in a database, four in a cache, and of an API four calculations of
//! 50 ms and four calls of 200 ms: one after the other, in a pool, and all at once. In: where fleetfoot is. Out: how
//! long each took, once their bytes are known to be the same. Called by `demo`.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::HOST;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde_json::json;
use tokio::net::TcpStream;

use crate::waterfall;

/// One after the other first: all others are compared with it.
pub(super) const ROUTES: [Route; 3] = [
    Route { path: "/v1/page", run: "serial", title: "one after the other" },
    Route { path: "/v2/page", run: "pool(10, 20)", title: "in a pool of ten" },
    Route { path: "/v3/page", run: "parallel", title: "all at once" },
];
const QUERY: &str = "test1Id=1&test1Id=2&test1Id=3&test2Id=1&test2Id=2&test2Id=3\
                     &test3Id=1&test3Id=2&test3Id=3&test4Id=1&test4Id=2&test4Id=3";
/// Of each the fastest is told: whatever else the machine does only makes them slower.
const TIMES: usize = 3;
const PATIENCE: Duration = Duration::from_secs(30);

/// A way to the same response.
pub(super) struct Route {
    path: &'static str,
    run: &'static str,
    title: &'static str,
}

/// What came of it, the ways in the order of [`ROUTES`].
#[derive(Serialize)]
pub(super) struct SixteenCalls {
    ways: Vec<Way>,
    bytes: usize,
    /// Of the last way, as `Server-Timing` tells them: name and milliseconds.
    steps: Vec<(String, f64)>,
}

#[derive(Serialize)]
struct Way {
    title: &'static str,
    run: &'static str,
    took_ms: f64,
}

/// One answer.
struct Answered {
    took_ms: f64,
    steps: Vec<(String, f64)>,
    content: Bytes,
}

impl Route {
    /// As the configuration has it. Equal calls are made all the same: sixteen is what is to be shown.
    pub(super) fn text(&self) -> String {
        let Route { path, run, .. } = self;
        format!("- match: GET {path}\n  run: {run}\n") + STEPS
    }
}

const STEPS: &str = r#"  save: { dedupe: false, coalesce: false }
  compose:
    tests: { each: [1, 2, 3, 4], db: "SELECT * FROM test_{each} WHERE id IN (?)", args: ["${query.all('test{each}Id')}"] }
    cached: { each: [1, 2, 3, 4], values: "GET test{each}:key:${query.all('test{each}Id')}" }
    result: { each: [1, 2, 3, 4], api: "GET /simulate-cpu?t=50ms" }
    trends: { each: [1, 2, 3, 4], api: "GET /trends/api/realtimetrends?hl=ko&t=200ms" }
"#;

/// Asks each way in turn.
pub(super) fn ask(fleetfoot: SocketAddr) -> Result<SixteenCalls, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    runtime.block_on(async {
        let asking = tokio::time::timeout(PATIENCE, ask_all(fleetfoot));
        asking.await.map_err(|_| format!("sixteen calls took longer than {} s", PATIENCE.as_secs()))?
    })
}

async fn ask_all(fleetfoot: SocketAddr) -> Result<SixteenCalls, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("sixteen calls: {error}");
    let stream = TcpStream::connect(fleetfoot).await.map_err(|error| wrong(&error))?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| wrong(&error))?;
    tokio::spawn(connection);
    let mut fastest: [Option<Answered>; ROUTES.len()] = [const { None }; ROUTES.len()];
    let mut content: Option<Bytes> = None;
    for _ in 0..TIMES {
        for (route, fastest) in ROUTES.iter().zip(&mut fastest) {
            let answered = ask_once(&mut sender, fleetfoot, route).await?;
            if *content.get_or_insert_with(|| answered.content.clone()) != answered.content {
                return Err(wrong(&format_args!("{} gives other bytes", route.title)));
            }
            if fastest.as_ref().is_none_or(|fastest| answered.took_ms < fastest.took_ms) {
                *fastest = Some(answered);
            }
        }
    }
    let took = fastest.iter().flatten().zip(ROUTES);
    let ways = took.map(|(fastest, Route { title, run, .. })| Way { title, run, took_ms: fastest.took_ms });
    let ways = ways.collect();
    let steps = fastest.into_iter().flatten().next_back().map(|last| last.steps).unwrap_or_default();
    Ok(SixteenCalls { ways, bytes: content.map_or(0, |content| content.len()), steps })
}

async fn ask_once(
    sender: &mut SendRequest<Empty<Bytes>>,
    fleetfoot: SocketAddr,
    route: &Route,
) -> Result<Answered, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", route.path);
    let request = Request::get(format!("{}?{QUERY}", route.path)).header(HOST, fleetfoot.to_string());
    let request = request.body(Empty::new()).map_err(|error| wrong(&error))?;
    let start = Instant::now();
    sender.ready().await.map_err(|error| wrong(&error))?;
    let response = sender.send_request(request).await.map_err(|error| wrong(&error))?;
    let status = response.status();
    let timing = response.headers().get("server-timing").and_then(|timing| timing.to_str().ok());
    let steps = steps(timing.unwrap_or_default());
    let content = response.into_body().collect().await.map_err(|error| wrong(&error))?.to_bytes();
    if status != StatusCode::OK {
        return Err(wrong(&format_args!("{status}: {}", String::from_utf8_lossy(&content))));
    }
    Ok(Answered { took_ms: start.elapsed().as_secs_f64() * 1e3, steps, content })
}

/// `user;dur=1.2, tests.0;dur=3.4`, by name.
fn steps(timing: &str) -> Vec<(String, f64)> {
    let step = |step: &str| {
        let (name, took) = step.trim().split_once(";dur=")?;
        Some((name.to_owned(), took.parse().ok()?))
    };
    let mut steps: Vec<_> = timing.split(',').filter_map(step).collect();
    steps.sort_by(|one, other| one.0.cmp(&other.0));
    steps
}

impl SixteenCalls {
    /// For people.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            "One response of sixteen calls: four look-ups in a database, four in a cache, four calculations of 50 ms and \
             four calls of 200 ms."
                .to_owned(),
        ];
        let Some(first) = self.ways.first() else { return lines };
        for Way { title, took_ms, .. } in &self.ways {
            lines.push(format!("{title:>21} {took_ms:>6.0} ms {:>6.1} ×", first.took_ms / took_ms));
        }
        lines.push(format!("The same {} bytes each time. All at once, step by step:", self.bytes));
        // They start together: none needs another.
        let bar = |(name, took): &(String, f64)| json!({"name": name, "start": 0.0, "took": took, "outcome": "given"});
        let bars: Vec<_> = self.steps.iter().map(bar).collect();
        let took = self.ways.last().map(|last| last.took_ms);
        lines.extend(waterfall::lines(&json!({"took": took, "waterfall": bars})));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_has_the_gain_and_a_bar_for_each_step() {
        let way = |title, took_ms| Way { title, run: "", took_ms };
        let ways = vec![way("one after the other", 1000.0), way("all at once", 250.0)];
        let told = SixteenCalls { ways, bytes: 7, steps: steps("tests.1;dur=2.00, tests.0;dur=200.00") };
        let lines = told.lines();
        assert!(lines[1].ends_with("one after the other   1000 ms    1.0 ×"), "{}", lines[1]);
        assert!(lines[2].ends_with("all at once    250 ms    4.0 ×"), "{}", lines[2]);
        assert!(lines[3].contains("same 7 bytes"), "{}", lines[3]);
        assert!(lines[4].starts_with("tests.0  ████") && lines[5].starts_with("tests.1  █ "));
        assert!(lines[6].starts_with("all ") && lines.len() == 7);
    }
}
