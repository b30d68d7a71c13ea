//! Runs against servers that are right, slow, hung up or wrong: each is counted as what it is, and each run ends.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use demo_api::{Counts, Endpoint};
use http::Method;
use load::{Error, Errors, Phase, Report, Scenario, Think};

/// The demo API on a thread of its own until the test is over.
struct Demo {
    address: SocketAddr,
    counts: Counts,
    _stop: tokio::sync::oneshot::Sender<()>,
}

impl Demo {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, counts) = (listener.local_addr().unwrap(), Counts::new());
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let serving = demo_api::serve(listener, counts.clone(), async {
            let _ = stopped.await;
        });
        thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(serving)
        });
        Demo { address, counts, _stop: stop }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// A server that hands each connection to `serve` on a thread of its own; the URL to ask it.
fn server(serve: impl Fn(Requests) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(Requests(BufReader::new(connection))));
        }
    });
    url
}

/// One connection, as its server sees it.
struct Requests(BufReader<TcpStream>);

impl Requests {
    /// The next request's first line; `None` when the client left.
    fn next(&mut self) -> Option<String> {
        let mut first = String::new();
        self.0.read_line(&mut first).ok().filter(|length| *length > 0)?;
        let mut line = String::new();
        while self.0.read_line(&mut line).ok().filter(|length| *length > 0)? > 2 {
            line.clear();
        }
        Some(first)
    }

    fn answer(&mut self, bytes: &str) {
        let _ = self.0.get_mut().write_all(bytes.as_bytes());
    }

    /// Gives every request the same answer.
    fn answer_all(mut self, bytes: &str) {
        while self.next().is_some() {
            self.answer(bytes);
        }
    }
}

/// So many requests over a few connections, ten seconds at most.
fn scenario(url: impl Into<String>, requests: u64) -> Scenario {
    Scenario { connections: 4, requests: Some(requests), ..Scenario::new("story", url) }
}

fn run(scenario: &Scenario) -> Report {
    load::run(scenario).unwrap()
}

#[test]
fn every_request_that_is_counted_reached_the_origin() {
    let demo = Demo::start();
    let report = run(&Scenario { threads: 2, connections: 10, ..scenario(demo.url("/healthz"), 1003) });
    assert_eq!(report.requests, 1003);
    assert_eq!(demo.counts.of(Endpoint::Health), 1003);
    assert_eq!((report.errors, report.unfinished, report.reconnects), (Errors::default(), 0, 0));
    assert_eq!(report.by_status, [(200, 1003)].into());
    assert!(report.bytes > 1003 * 100 && report.rps > 0.0);
}

#[test]
fn users_walk_through_the_list_and_pause_behind_it() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&asked);
    let url = server(move |mut requests| {
        let mut mine = Vec::new();
        while let Some(first) = requests.next() {
            mine.push((first, Instant::now()));
            requests.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
        told.lock().unwrap().push(mine);
    });
    let pause = Duration::from_millis(100);
    let scenario = Scenario {
        urls: ["a", "b", "c"].map(|path| format!("{url}{path}")).to_vec(),
        duration: Duration::from_secs(1),
        requests: None,
        think: Some(Think::between(pause, 2 * pause)),
        ..scenario("", 1)
    };
    let report = run(&scenario);
    // From 4 to 9 walks of each of the 4 users, fewer where this machine is busy.
    assert!(report.requests >= 4 * 3 && report.requests <= 4 * 3 * 11, "{report:?}");
    assert_eq!((report.failed(), report.unfinished, report.reconnects), (0, 0, 0));
    let deadline = Instant::now() + Duration::from_secs(5);
    // One more than users: whether anything is there is looked up first.
    while asked.lock().unwrap().len() < 5 && Instant::now() < deadline {
        thread::yield_now();
    }
    for user in asked.lock().unwrap().iter() {
        for (place, (first, at)) in user.iter().enumerate() {
            assert!(first.starts_with(["GET /a ", "GET /b ", "GET /c "][place % 3]), "{place}: {first}");
            let since = place.checked_sub(1).map(|last| at.duration_since(user[last].1));
            assert!(place % 3 > 0 || since.is_none_or(|since| since >= pause / 2), "{place}: {since:?}");
        }
    }
}

#[test]
fn a_bad_second_is_told_apart() {
    let start = Instant::now();
    let bad = start + Duration::from_secs(1)..start + Duration::from_secs(2);
    let url = server(move |mut requests| {
        while requests.next().is_some() {
            let status = if bad.contains(&Instant::now()) { "503 Service Unavailable" } else { "200 OK" };
            requests.answer(&format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok"));
        }
    });
    let think = Some(Think::between(Duration::from_millis(10), Duration::from_millis(30)));
    let report =
        run(&Scenario { duration: Duration::from_secs(3), requests: None, think, ..scenario(url, 1) });
    assert_eq!(report.timeline.iter().map(|second| second.at).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(report.timeline.iter().map(|second| second.requests).sum::<u64>(), report.requests);
    assert_eq!(report.timeline.iter().map(|second| second.failed).sum::<u64>(), report.failed());
    assert!(report.timeline[1].failed > report.timeline[1].requests / 2, "{:?}", report.timeline);
    assert!(report.timeline[2].failed < report.timeline[2].requests / 2, "{:?}", report.timeline);
    assert!(report.timeline.iter().all(|second| second.p95 <= second.max), "{:?}", report.timeline);
}

#[test]
fn latencies_are_those_of_the_slow_api() {
    let demo = Demo::start();
    let report = run(&Scenario { connections: 50, ..scenario(demo.url("/cache"), 100) });
    assert_eq!(report.requests, 100);
    let latency = report.latency;
    assert!(latency.p50 >= Duration::from_millis(199) && latency.p50 < Duration::from_secs(2), "{latency:?}");
    assert!(latency.p50 <= latency.p90 && latency.p90 <= latency.p99 && latency.p99 <= latency.max);
    assert!(report.duration >= Duration::from_millis(399), "two rounds: {:?}", report.duration);
    assert!((report.rps * report.duration.as_secs_f64() - 100.0).abs() < 0.01);
}

#[test]
fn statuses_are_counted_apart() {
    let demo = Demo::start();
    let urls = ["/healthz", "/error/404", "/error/503", "/error/204"].map(|path| demo.url(path)).to_vec();
    let report = run(&Scenario { urls, connections: 1, ..scenario("", 40) });
    assert_eq!(report.by_status, [(200, 10), (204, 10), (404, 10), (503, 10)].into());
    assert_eq!(report.not_successful(), 20);
    assert_eq!(report.errors.total(), 0);
}

#[test]
fn every_key_is_asked_and_fields_are_sent() {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let seen_by_server = Arc::clone(&seen);
    let url = server(move |mut requests| {
        while let Some(line) = requests.next() {
            seen_by_server.lock().unwrap().insert(line);
            requests.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let keys = Scenario::distinct_keys("keys", &format!("{url}item?id={{key}}"), 100);
    let report = run(&Scenario { connections: 4, requests: Some(400), ..keys });
    assert_eq!(report.requests, 400);
    let expected: BTreeSet<_> = (0..100).map(|key| format!("GET /item?id={key} HTTP/1.1\r\n")).collect();
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn the_warm_up_is_asked_but_not_counted() {
    let demo = Demo::start();
    let warm_up = Duration::from_millis(300);
    let report = run(&Scenario { warm_up, ..scenario(demo.url("/healthz"), 50) });
    assert_eq!(report.requests, 50);
    assert!(demo.counts.of(Endpoint::Health) > 50);
}

#[test]
fn time_ends_a_run_and_what_is_under_way_is_neither_answer_nor_error() {
    let demo = Demo::start();
    let begin = Instant::now();
    let duration = Duration::from_millis(300);
    let report = run(&Scenario { duration, requests: None, ..scenario(demo.url("/timeout?t=30s"), 1) });
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert_eq!((report.requests, report.errors.total(), report.unfinished), (0, 0, 4));
    assert_eq!(report.duration, duration);
    assert_eq!((report.rps, report.latency.max), (0.0, Duration::ZERO));
}

#[test]
fn a_server_that_does_not_answer_in_time_is_counted() {
    let url = server(|mut requests| {
        while requests.next().is_some() {
            requests.answer("HTTP/1.1 200 OK\r\nContent-Le");
        }
    });
    let report = run(&Scenario { timeout: Duration::from_millis(100), ..scenario(url, 8) });
    assert_eq!((report.requests, report.errors), (0, Errors { timeout: 8, ..Errors::default() }));
    assert_eq!(report.reconnects, 4);
}

#[test]
fn more_content_than_announced_is_malformed() {
    let url = server(|requests| requests.answer_all("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhello"));
    let report = run(&scenario(url, 8));
    assert_eq!((report.requests, report.errors), (0, Errors { malformed: 8, ..Errors::default() }));
}

#[test]
fn less_content_than_announced_is_a_break() {
    let url = server(|mut requests| {
        requests.next();
        requests.answer("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello");
    });
    let report = run(&scenario(url, 8));
    assert_eq!((report.requests, report.errors), (0, Errors { broke_off: 8, ..Errors::default() }));
    assert!(report.bytes > 8 * 40);
}

#[test]
fn what_is_not_http_is_malformed() {
    let url = server(|requests| requests.answer_all("220 mail.example.com ESMTP\r\n"));
    let report = run(&scenario(url, 8));
    assert_eq!(report.errors, Errors { malformed: 8, ..Errors::default() });
}

#[test]
fn a_server_that_closes_after_each_answer_costs_a_connection_but_no_request() {
    for (fields, body) in [("Connection: close\r\nContent-Length: 2\r\n", "ok"), ("", "until the end")] {
        let url = server(move |mut requests| {
            requests.next();
            requests.answer(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n{body}"));
        });
        let report = run(&scenario(url, 40));
        assert_eq!((report.requests, report.errors.total()), (40, 0), "{fields}");
        assert_eq!(report.reconnects, 36, "{fields}");
    }
}

#[test]
fn a_connection_that_was_closed_unannounced_is_made_again() {
    let url = server(|mut requests| {
        requests.next();
        requests.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    let report = run(&scenario(url, 40));
    assert_eq!((report.requests, report.errors.total(), report.reconnects), (40, 0, 36));
}

#[test]
fn chunks_and_heads_and_hints_are_understood() {
    let chunked = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
                   HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n";
    let url = server(move |requests| requests.answer_all(chunked));
    let report = run(&scenario(url, 20));
    assert_eq!((report.requests, report.errors.total(), report.reconnects), (20, 0, 0));
    assert_eq!(report.bytes, 20 * chunked.len() as u64);

    let url = server(|requests| requests.answer_all("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"));
    let report = run(&Scenario { method: Method::HEAD, ..scenario(url, 20) });
    assert_eq!((report.requests, report.errors.total()), (20, 0));
}

#[test]
fn content_far_larger_than_the_buffer_is_read_to_its_end() {
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n{}", "x".repeat(3_000_000));
    let length = answer.len() as u64;
    let url = server(move |requests| requests.answer_all(&answer));
    let report = run(&scenario(url, 8));
    assert_eq!((report.requests, report.errors.total(), report.bytes), (8, 0, 8 * length));
}

#[test]
fn a_server_that_goes_away_is_not_hammered() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    // Takes the connection that looks whether anything is there, then leaves.
    let leaving = thread::spawn(move || listener.accept().map(drop));
    let duration = Duration::from_secs(1);
    let report = run(&Scenario { duration, requests: None, ..scenario(url, 1) });
    leaving.join().unwrap().unwrap();
    assert_eq!(report.requests, 0);
    let errors = report.errors.total();
    assert!(errors > 4 && errors < 200, "{errors}");
}

#[test]
fn nothing_there_is_said_before_the_run() {
    let refused = load::run(&scenario("http://127.0.0.1:1/", 1)).unwrap_err(); // port 1: nobody uses it
    assert!(matches!(refused, Error::Unreachable { .. }), "{refused}");
    assert!(refused.to_string().starts_with("cannot connect to 127.0.0.1:1: "), "{refused}");
}

#[test]
fn progress_goes_forward_to_its_end() {
    let demo = Demo::start();
    let warm_up = Duration::from_millis(250);
    let slow = Scenario { warm_up, duration: Duration::from_millis(500), ..scenario(demo.url("/"), 1000) };
    let (tell, told) = mpsc::channel();
    load::run_with_progress(&slow, |progress| tell.send(*progress).unwrap()).unwrap();
    drop(tell);
    let told: Vec<_> = told.into_iter().collect();
    assert!(told.len() >= 3, "{told:?}");
    assert_eq!(told[0].phase, Phase::WarmUp);
    assert!(told.is_sorted_by(|one, two| one.share <= two.share && one.elapsed < two.elapsed), "{told:?}");
    assert!(told.iter().all(|progress| (0.0..=1.0).contains(&progress.share)));
}

#[test]
fn a_report_is_plain_json() {
    let demo = Demo::start();
    let report = run(&scenario(demo.url("/healthz"), 10));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["requests"], 10);
    assert_eq!(json["by_status"]["200"], 10);
    assert_eq!(json["errors"]["timeout"], 0);
    assert!(json["latency"]["p99_ms"].as_f64().unwrap() > 0.0);
    assert!(json["duration_s"].as_f64().unwrap() > 0.0);
}
