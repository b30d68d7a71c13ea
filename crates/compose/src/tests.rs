//! Simulation: routes that a seed makes up, run on a clock that stands still until everybody waits. Calls take as long
//! and fail as the seed says; what must hold of every run is checked against the graph.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use expression::Json;
use guard::Places;
use http::{HeaderMap, Method};
use message::{Body, Error, Fields, Kind, RequestView, Response, Result, Scheme};
use plan::{Compose, Plan, RouteEnd, Step};
use source::{BoundCall, Question, Value};
use tokio::time::Instant;

use crate::SingleFlight;
use crate::run::{Account, Calls, Run};
use crate::single_flight::Flight;

mod stories;

/// Numbers from a seed, the same each time (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }
}

/// What a call does, by its target.
#[derive(Clone, Copy)]
struct Part {
    takes: Duration,
    fails: bool,
}

/// One call as it was carried out.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    step: String,
    began: Duration,
    /// `None`: it was given up.
    ended: Option<Duration>,
}

/// Carries calls out as it was told to, and notes them.
#[derive(Clone)]
struct Script {
    start: Instant,
    parts: Rc<HashMap<String, Part>>,
    seen: Rc<RefCell<Vec<Seen>>>,
    alive: Rc<Cell<usize>>,
}

struct Alive(Rc<Cell<usize>>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Script {
    fn new(parts: impl IntoIterator<Item = (String, Part)>) -> Self {
        Script {
            start: Instant::now(),
            parts: Rc::new(parts.into_iter().collect()),
            seen: Rc::default(),
            alive: Rc::default(),
        }
    }

    fn seen(&self, step: &str) -> Option<Seen> {
        self.seen.borrow().iter().find(|seen| seen.step == step).cloned()
    }
}

impl Calls for Script {
    fn call(&self, step: &Step, call: BoundCall) -> Flight {
        let Question::Http { target, .. } = call.question else {
            panic!("the simulation knows origins only")
        };
        let path = target.split('?').next().unwrap_or_default().to_owned();
        let part = self.parts.get(&path).copied().unwrap_or(Part { takes: Duration::ZERO, fails: false });
        let at = self.seen.borrow().len();
        let began = self.start.elapsed();
        self.seen.borrow_mut().push(Seen { step: step.name.to_string(), began, ended: None });
        self.alive.set(self.alive.get() + 1);
        let (alive, script) = (Alive(Rc::clone(&self.alive)), self.clone());
        Box::pin(async move {
            let _alive = alive;
            tokio::time::sleep(part.takes).await;
            script.seen.borrow_mut()[at].ended = Some(script.start.elapsed());
            if part.fails {
                return Err(Error::new(Kind::Connect, "told to fail"));
            }
            Ok(Value { json: Json::written(format!("{{\"at\":\"{target}\",\"v\":1.50}}")), is_stale: false })
        })
    }
}

/// Has every answer at hand.
struct AtOnce;

impl Calls for AtOnce {
    fn call(&self, _: &Step, _: BoundCall) -> Flight {
        Box::pin(std::future::ready(Ok(Value { json: Json::null(), is_stale: false })))
    }
}

/// The compose of a file with one source and one route.
fn compiled(route: &str) -> Arc<Compose> {
    let text = format!("sources: {{ api: http://127.0.0.1:1 }}\nroutes:\n  - match: GET /r/{{id}}\n{route}");
    let plan: Plan = plan::compile(&text, "test.yaml").unwrap_or_else(|faults| panic!("{text}\n{faults}"));
    match &plan.routes[0].end {
        RouteEnd::Compose(compose) => Arc::clone(compose),
        other => panic!("no compose: {other:?}"),
    }
}

/// One request through it: the response, and what its steps did.
async fn serve(
    compose: &Compose,
    calls: &impl Calls,
    flights: &SingleFlight,
    places: Option<&Places>,
    target: &str,
) -> (Result<Response>, Account) {
    let fields = HeaderMap::new();
    let request = RequestView {
        method: &Method::GET,
        scheme: Scheme::Http,
        authority: "a.example",
        target,
        fields: Fields::Map(&fields),
        client: None,
    };
    let names = [None, Some("id".into())];
    let began = Instant::now();
    let run = Run { compose, request: &request, names: &names, calls, flights, places, began };
    let (served, account) = run.serve(Bytes::new()).await;
    (served.and_then(|served| served.response(compose, &request, &names, &account.took)), account)
}

fn content(response: &Response) -> String {
    match &response.body {
        Body::Whole(content) => String::from_utf8_lossy(content).into_owned(),
        other => panic!("{other:?}"),
    }
}

/// A graph without cycles, its steps in any order of the file: for each the steps that it names.
fn made_up(dice: &mut Dice) -> Vec<Vec<usize>> {
    let count = 1 + dice.roll(12) as usize;
    let mut order: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        order.swap(at, dice.roll(at as u64 + 1) as usize);
    }
    let mut needs = vec![Vec::new(); count];
    for (at, step) in order.iter().enumerate() {
        needs[*step] = order[..at].iter().copied().filter(|_| dice.roll(4) == 0).collect();
    }
    needs
}

fn route(needs: &[Vec<usize>], words: &str, optional: impl Fn(usize) -> bool) -> String {
    let mut text = format!("    {words}\n    compose:\n");
    for (step, needs) in needs.iter().enumerate() {
        let read: Vec<String> = needs.iter().map(|need| format!("n{need}=${{s{need}.v}}")).collect();
        let on_error = if optional(step) { ", on_error: null" } else { "" };
        let fields = format!("headers: {{ X-Reads: \"{}\" }}", read.join("&"));
        writeln!(text, "      s{step}: {{ api: \"GET /s{step}\", {fields}{on_error} }}").unwrap();
    }
    text
}

/// When each step ends if it begins as soon as what it needs has ended.
fn ends(needs: &[Vec<usize>], takes: &[Duration]) -> Vec<Duration> {
    fn end(step: usize, needs: &[Vec<usize>], takes: &[Duration]) -> Duration {
        needs[step].iter().map(|need| end(*need, needs, takes)).max().unwrap_or_default() + takes[step]
    }
    (0..needs.len()).map(|step| end(step, needs, takes)).collect()
}

const SEEDS: u64 = 200;

#[tokio::test(start_paused = true)]
async fn steps_begin_when_what_they_need_has_ended_and_no_later() {
    for seed in 0..SEEDS {
        let mut dice = Dice(seed);
        let needs = made_up(&mut dice);
        let takes: Vec<_> = needs.iter().map(|_| Duration::from_millis(dice.roll(50))).collect();
        let parts = takes
            .iter()
            .enumerate()
            .map(|(step, takes)| (format!("/s{step}"), Part { takes: *takes, fails: false }));
        let script = Script::new(parts.collect::<Vec<_>>());
        let compose = compiled(&route(&needs, "run: parallel", |_| false));
        let (served, account) = serve(&compose, &script, &SingleFlight::default(), None, "/r/1").await;
        served.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let ends = ends(&needs, &takes);
        for (step, end) in ends.iter().enumerate() {
            let seen = script.seen(&format!("s{step}")).unwrap();
            assert_eq!(seen.began + takes[step], *end, "seed {seed}, step {step} of {needs:?}");
        }
        // The clock ticks in milliseconds, and so does everything here.
        assert_eq!(script.start.elapsed(), ends.into_iter().max().unwrap(), "seed {seed}");
        assert_eq!(account.took.len(), needs.len(), "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn in_turn_there_is_one_at_a_time_and_each_after_what_it_needs() {
    for seed in 0..SEEDS {
        let mut dice = Dice(seed);
        let needs = made_up(&mut dice);
        let takes: Vec<_> = needs.iter().map(|_| Duration::from_millis(1 + dice.roll(50))).collect();
        let parts = takes
            .iter()
            .enumerate()
            .map(|(step, takes)| (format!("/s{step}"), Part { takes: *takes, fails: false }));
        let script = Script::new(parts.collect::<Vec<_>>());
        let compose = compiled(&route(&needs, "run: serial", |_| false));
        serve(&compose, &script, &SingleFlight::default(), None, "/r/1").await.0.unwrap();
        assert_eq!(script.start.elapsed(), takes.iter().sum::<Duration>(), "seed {seed}");
        let seen = script.seen.borrow();
        assert!(seen.windows(2).all(|pair| pair[0].ended.unwrap() <= pair[1].began), "seed {seed}: {seen:?}");
        for (at, one) in seen.iter().enumerate() {
            let step: usize = one.step[1..].parse().unwrap();
            let done: Vec<usize> = seen[..at].iter().map(|seen| seen.step[1..].parse().unwrap()).collect();
            assert!(needs[step].iter().all(|need| done.contains(need)), "seed {seed}");
            // Of those that could have begun, the first in the file.
            let could =
                |other: usize| !done.contains(&other) && needs[other].iter().all(|need| done.contains(need));
            assert_eq!((0..needs.len()).find(|other| could(*other)), Some(step), "seed {seed}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_fails_ends_everything_or_something_stands_in() {
    for seed in 0..SEEDS {
        let mut dice = Dice(seed);
        let needs = made_up(&mut dice);
        let parts: Vec<Part> = needs
            .iter()
            .map(|_| Part { takes: Duration::from_millis(dice.roll(50)), fails: dice.roll(4) == 0 })
            .collect();
        let optional: Vec<bool> = needs.iter().map(|_| dice.roll(2) == 0).collect();
        let named = parts.iter().enumerate().map(|(step, part)| (format!("/s{step}"), *part));
        let script = Script::new(named.collect::<Vec<_>>());
        let compose = compiled(&route(&needs, "run: parallel", |step| optional[step]));
        let (served, account) = serve(&compose, &script, &SingleFlight::default(), None, "/r/1").await;
        assert_eq!(script.alive.get(), 0, "seed {seed}: calls outlive their request");
        let failed = |step: &usize| parts[*step].fails;
        match served {
            Ok(response) => {
                let complete = response.fields["x-fleetfoot-completed"] == "true";
                let some_failed = account.took.iter().any(|took| took.failure().is_some());
                assert_eq!(complete, !some_failed, "seed {seed}");
                let all_optional = (0..needs.len()).filter(failed).all(|step| optional[step]);
                assert!(all_optional, "seed {seed}: a required step failed and nobody knew");
                assert!(json::is_valid(content(&response).as_bytes()), "seed {seed}");
            }
            Err(error) => {
                // Either it was told to fail, or what it needed was not there.
                let name =
                    error.detail().strip_prefix("step s").and_then(|rest| rest.split(':').next()).unwrap();
                let step: usize = name.parse().unwrap();
                assert!(!optional[step], "seed {seed}: {error}");
                let lacks = |step: usize| needs[step].iter().any(|need| optional[*need]);
                assert!(parts[step].fails || lacks(step), "seed {seed}: {error}");
                // Nothing was begun after it.
                let end = script.start.elapsed();
                assert!(script.seen.borrow().iter().all(|seen| seen.began <= end), "seed {seed}");
            }
        }
    }
}
