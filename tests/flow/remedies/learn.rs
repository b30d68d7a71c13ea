//! `learn`: what a source says of its limits holds for everybody who asks it, wherever the policy stands.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use testkit::{Fleetfoot, Origin, Script, ok, status, wait_until};

use super::support::{EVERYWHERE, everywhere, times, with_policy};
use crate::control_port::port::get;
use crate::setup::each;

#[test]
fn a_pause_that_the_source_asks_for_is_everybodys_wherever_the_policy_stands() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(status("429 Too Many Requests", "Retry-After: 3600", "slow down"));
    }
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let fleetfoot = everywhere(&origin, "learn: { longest: 30s }");
        let before = origin.count(target);
        assert!(fleetfoot.get(target).status >= 429);
        for _ in 0..5 {
            let refused = fleetfoot.get(target);
            assert_eq!((refused.status, refused.field("Fleetfoot-Error")), (429, Some("rate-limited")));
            let wait: u64 = refused.field("Retry-After").expect("it says when").parse().unwrap();
            assert!((1..=30).contains(&wait), "no longer than `longest`: {wait}");
        }
        assert_eq!(origin.count(target) - before, 1, "the source hears nothing of them");
        assert_eq!(times(&fleetfoot, "learn", "refused"), 5);
    });
}

#[test]
fn a_pause_is_waited_for_where_there_is_a_queue() {
    let origin = Origin::start();
    origin
        .on("GET /")
        .replies([status("503 Service Unavailable", "Retry-After: 1", "later"), ok("", "well")]);
    let fleetfoot = with_policy(
        "learn: { queue: { wait: 30s } }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    assert_eq!(fleetfoot.get("/").status, 503);
    let began = Instant::now();
    assert_eq!(fleetfoot.get("/").text(), "well");
    assert!(began.elapsed() >= Duration::from_millis(900), "{:?}", began.elapsed());
    assert_eq!(times(&fleetfoot, "learn", "queued"), 1);
}

#[test]
fn a_full_queue_says_when_the_source_is_back() {
    let origin = Origin::start();
    origin.on("GET /").replies([status("429 Too Many Requests", "Retry-After: 3", "later"), ok("", "well")]);
    let fleetfoot = on_a_route(&origin, "learn: { queue: { wait: 30s, size: 1 } }");
    assert_eq!(fleetfoot.get("/").status, 429);
    thread::scope(|scope| {
        let waits = scope.spawn(|| fleetfoot.get("/").status);
        wait_until("one waits", || fleetfoot.metrics().count("fleetfoot_limit_waiting") == 1);
        let refused = fleetfoot.get("/");
        assert_eq!((refused.status, refused.field("Fleetfoot-Error")), (429, Some("rate-limited")));
        let wait: u64 = refused.field("Retry-After").expect("it says when").parse().unwrap();
        assert!((1..=3).contains(&wait), "{wait}");
        assert_eq!(waits.join().unwrap(), 200);
    });
}

#[test]
fn one_answer_that_says_nothing_is_left_holds_everybody_until_the_reset() {
    let origin = Origin::start();
    let said = [
        ("/crowd", "X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 30", 30),
        ("/draft", "RateLimit-Policy: \"all\";q=100;w=60\nRateLimit: \"all\";r=0;t=20", 20),
        ("/short", "X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 2", 2),
    ];
    for (target, fields, _) in said {
        origin.on(target).reply(ok(fields, "the last"));
    }
    each(said.map(|(target, fields, reset)| (fields, (target, reset))), |_, (target, reset)| {
        let fleetfoot = on_a_route(&origin, "learn: true");
        assert_eq!(fleetfoot.get(target).text(), "the last");
        let refused = fleetfoot.get(target);
        assert_eq!((refused.status, refused.field("Fleetfoot-Error")), (429, Some("rate-limited")));
        let wait: u64 = refused.field("Retry-After").expect("it says when").parse().unwrap();
        assert!(wait <= reset + 1 && wait + 1 >= reset, "{wait}");
        assert_eq!(origin.count(target), 1);
    });
    let patient = on_a_route(&origin, "learn: { queue: { wait: 30s } }");
    patient.get("/short");
    let began = Instant::now();
    assert_eq!(patient.get("/short").status, 200);
    assert!(began.elapsed() >= Duration::from_millis(1900), "{:?}", began.elapsed());
}

#[test]
fn each_owner_has_a_quota_of_its_own() {
    let origin = Origin::start();
    origin.on("GET /").answer(|request| match request.field("X-Api-Key") {
        Some("throttled") => status("429 Too Many Requests", "Retry-After: 60", "slow down"),
        _ => ok("", "1"),
    });
    let fleetfoot = with_policy(
        "learn: { per: \"${header('X-Api-Key')}\" }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    let ask = |key: &str| fleetfoot.get_with("/", &format!("X-Api-Key: {key}\r\n"));
    assert_eq!(ask("throttled").status, 429);
    assert_eq!(ask("throttled").field("Fleetfoot-Error"), Some("rate-limited"));
    assert_eq!((ask("free").status, fleetfoot.get("/").status), (200, 200));
}

#[test]
fn explain_and_metrics_tell_what_is_known_now() {
    let origin = Origin::start();
    origin.on("GET /").answer(|request| match request.field("X-Api-Key") {
        Some("throttled") => status("429 Too Many Requests", "Retry-After: 50", "slow down"),
        Some("paced") => ok("X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 40\nX-RateLimit-Reset: 50", "1"),
        _ => ok("", "1"),
    });
    let fleetfoot = on_a_route(&origin, "learn: { per: \"${header('X-Api-Key')}\" }");
    let explained = |key: &str| {
        let question = format!("/explain?url=http://example.test/&header=X-Api-Key:{key}");
        let told = get(&fleetfoot, &question);
        let layer = told["stack"].as_array().unwrap().iter().find(|layer| layer["name"] == "learn");
        layer.unwrap()["effect"].as_str().unwrap().to_owned()
    };
    let gauge = |name: &str| fleetfoot.metrics().sum(name, &["policy=\"p\"", "source=\"api\""]);
    assert_eq!(explained("throttled"), "the source has said nothing of limits: lets it pass");
    assert!(!fleetfoot.metrics().has("fleetfoot_learn_pace"), "there is none");
    for key in ["throttled", "paced", "free"] {
        fleetfoot.get_with("/", &format!("X-Api-Key: {key}\r\n"));
    }
    let throttled = explained("throttled");
    assert!(throttled.starts_with("paused for another 4") || throttled.starts_with("paused for another 50"));
    assert!(throttled.contains("as the source has asked") && throttled.contains("refused with 429"));
    let paced = explained("paced");
    assert!(paced.starts_with("40 of 100 left, whole again in "), "{paced}");
    assert!(paced.contains("; at most 0.7") && paced.ends_with(": lets it pass"), "{paced}");
    assert_eq!(explained("free"), "the source has said nothing of limits: lets it pass");
    assert_eq!(origin.count("GET /"), 3, "nobody is asked");
    assert_eq!(gauge("fleetfoot_learn_paused") as u64, 1);
    let pace = gauge("fleetfoot_learn_pace");
    assert!(pace > 0.0 && pace < 0.8, "of the slowest: {pace}");
}

fn on_a_route(origin: &Origin, policy: &str) -> Fleetfoot {
    with_policy(policy, &[&format!("api: \"{}\"", origin.url())], &["match: /**, proxy: api, use: p"])
}

/// A provider that nobody has told the rule of.
struct Provider {
    began: Option<Instant>,
    taken: u64,
    given: u64,
    refused: u64,
}

const CALLS: u64 = 100;
/// A minute, ten times as fast.
const WINDOW: Duration = Duration::from_secs(6);
const AT_ONCE: usize = 10;

impl Provider {
    fn ask(&mut self, under_way: usize, now: Instant) -> Script {
        // Windows follow each other, whether anybody calls or not.
        let mut began = self.began.unwrap_or(now);
        while now - began >= WINDOW {
            (began, self.taken) = (began + WINDOW, 0);
        }
        self.began = Some(began);
        let reset = WINDOW.saturating_sub(now - began);
        if self.taken >= CALLS || under_way > AT_ONCE {
            self.refused += 1;
            return status("429 Too Many Requests", &format!("Retry-After: {}", tenths(reset)), "slow down");
        }
        (self.taken, self.given) = (self.taken + 1, self.given + 1);
        let left = CALLS - self.taken;
        let fields = format!(
            "X-RateLimit-Limit: {CALLS}\nX-RateLimit-Remaining: {left}\nX-RateLimit-Reset-After: {}",
            tenths(reset)
        );
        Script::new().pause(Duration::from_millis(20)).then(ok(&fields, "1"))
    }
}

/// In seconds, rounded up: as exactly as a minute is told in whole ones.
fn tenths(time: Duration) -> String {
    format!("{:.1}", (time.as_secs_f64() * 10.0).ceil() / 10.0)
}

/// Two instances, 16 clients that never tire, and a provider with a rule of its own: 100 a minute, 10 at once, by a clock that
/// runs ten times as fast.
#[test]
fn a_fleet_keeps_to_a_rule_that_it_was_not_told() {
    let origin = Origin::start();
    let provider = Arc::new(Mutex::new(Provider { began: None, taken: 0, given: 0, refused: 0 }));
    let (asked, under_way) = (Arc::clone(&provider), AtomicUsize::new(0));
    origin.on("GET /").talk(move |conversation| {
        let now_under_way = under_way.fetch_add(1, Relaxed) + 1;
        let script = asked.lock().unwrap().ask(now_under_way, Instant::now());
        conversation.play(script);
        under_way.fetch_sub(1, Relaxed);
    });
    let policy =
        "learn: { queue: { wait: 1m } }, concurrency: { adaptive: { first: 2 }, queue: { wait: 1m } }";
    let instances = [(); 2].map(|()| {
        with_policy(policy, &[&format!("api: \"{}\"", origin.url())], &["match: /**, proxy: api, use: p"])
    });
    let began = Instant::now();
    let drive = |until: Duration| {
        thread::scope(|scope| {
            for client in 0..16 {
                let fleetfoot = &instances[client % 2];
                scope.spawn(move || {
                    while began.elapsed() < until {
                        fleetfoot.get("/");
                    }
                });
            }
        });
    };
    drive(WINDOW);
    let before = {
        let at = provider.lock().unwrap();
        (at.given, at.refused, Instant::now())
    };
    drive(WINDOW * 6);
    let after = provider.lock().unwrap();
    let (given, refused) = (after.given - before.0, after.refused - before.1);
    let allowed = CALLS as f64 * before.2.elapsed().as_secs_f64() / WINDOW.as_secs_f64();
    let used = given as f64 / allowed;
    println!("used {used:.3}, refused {refused} of {}", given + refused);
    assert!(used >= 0.95, "{given} of {allowed:.0}");
    assert!(refused as f64 <= 0.01 * (given + refused) as f64, "{refused} of {}", given + refused);
}
