//! A purge of one tag on 100,000 of a million entries: how soon it is in force, whether it forgets what it should and
//! nothing else, what hits notice of it, and what tags cost in memory.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::http_client::HttpClient;
use crate::paced::{self, Latencies, Timed, latencies, paced};
use crate::process::{pause, wait_until};
use crate::row::HOT_EACH;
use crate::scenario::filling::fill;
use crate::scenario::outcome::{Outcome, metric};
use crate::scenario::probing::{Probe, probe};
use crate::server::{Kind, Origin, Server, Setup};

const ENTRIES: usize = 1_000_000;
const HOT: usize = ENTRIES / HOT_EACH;
/// Asked for at once after the purge, of those that are gone and of those that are not.
const SAMPLE: usize = 500;
/// Hot entries from this one on are for the sample, those before for the probes.
const FIRST_OF_SAMPLE: usize = HOT / 2;
/// Hits before anything happens, to compare with.
const QUIET: Duration = Duration::from_secs(2);
/// Probes that go on after the purge, so that one seen by no other core would be found.
const PROBED_ON: Duration = Duration::from_secs(1);
const LONGEST_SWEEP: Duration = Duration::from_mins(1);
/// In force within.
const IN_FORCE: Duration = Duration::from_millis(50);
/// The p99 of hits meanwhile.
const P99: Duration = Duration::from_millis(2);

const KEYS: &str = "fleetfoot_cache_keys";
const TAG_BYTES: &str = "fleetfoot_cache_tags_bytes";

/// When what happened.
struct Purged {
    began: Instant,
    sent: Instant,
    answered: Instant,
    probes: Vec<Probe>,
    hot: Vec<Probe>,
    others: Vec<Probe>,
    /// `None`: not within [`LONGEST_SWEEP`].
    swept: Option<Instant>,
    ended: Instant,
    fetches: u64,
}

/// A dry run that took from one moment to the other.
struct DryRun {
    sent: Instant,
    answered: Instant,
    answers: f64,
}

pub(crate) fn purge() -> Result<Vec<Outcome>> {
    let origin = Origin::start_tagging()?;
    let server = Setup { memory: "3GiB", ..Setup::of(Kind::Fleetfoot, origin.address) }.start()?;
    // First of nothing: where purges are not there, that is said before the million.
    dry_run(server.admin)?;
    let mut outcomes = fill_up(&server)?;
    let (dry, hits) = paced(server.address, cold, || {
        pause(QUIET);
        let dry = dry_run(server.admin)?;
        pause(QUIET);
        Ok(dry)
    })?;
    outcomes.extend(of_dry_run(&dry, &hits)?);
    let keys = metric(&server, KEYS)?.unwrap_or(0.0);
    let (purged, hits) = paced(server.address, cold, || forget(&server, &origin, keys))?;
    outcomes.extend(of_purge(&purged));
    outcomes.extend(of_hits(&purged, &hits)?);
    outcomes.extend(memory(&server, "after the sweep")?);
    Ok(outcomes)
}

/// The entry of this number among those that are tagged.
fn hot(number: usize) -> String {
    format!("/entry/{}", number % HOT * HOT_EACH)
}

/// One of those that are not, anywhere among them.
fn cold(number: usize) -> String {
    format!("/entry/{}", number * 7_919 % HOT * HOT_EACH + 1 + number % (HOT_EACH - 1))
}

fn fill_up(server: &Server) -> Result<Vec<Outcome>> {
    let before = server.process.resident();
    fill(server.address, ENTRIES, |number| format!("/entry/{number}"))?;
    server.settle()?;
    let entry = server.process.resident().saturating_sub(before) as f64 / ENTRIES as f64;
    let mut outcomes = memory(server, "with a million entries of three tags")?;
    outcomes.push(Outcome::told("an entry of 128 B with three tags", entry, "B"));
    Ok(outcomes)
}

fn memory(server: &Server, when: &str) -> Result<Vec<Outcome>> {
    let mib = |bytes: f64| bytes / (1024.0 * 1024.0);
    let resident = mib(server.process.resident() as f64);
    let tags = match metric(server, TAG_BYTES)? {
        Some(bytes) => Outcome::told(format!("tags {when}, as reported"), mib(bytes), "MiB"),
        None => Outcome::failed(format!("tags {when}: /metrics has no {TAG_BYTES}")),
    };
    Ok(vec![Outcome::told(format!("resident {when}"), resident, "MiB"), tags])
}

fn post(admin: SocketAddr, purge: &Value) -> Result<Value> {
    let answer = HttpClient::connect(admin)?.post("/cache/purge", purge);
    answer.map_err(|failure| Failure(format!("purging: {failure}")))
}

fn dry_run(admin: SocketAddr) -> Result<DryRun> {
    let sent = Instant::now();
    let said = post(admin, &json!({"tag": "hot", "dry_run": true}))?;
    let answered = Instant::now();
    let answers = said["would_purge"]["answers"].as_f64();
    let answers = answers.ok_or_else(|| Failure(format!("a dry run does not say how many: {said}")))?;
    Ok(DryRun { sent, answered, answers })
}

/// The purge, under the eyes of the probes, and the sweep behind it.
fn forget(server: &Server, origin: &Origin, keys: f64) -> Result<Purged> {
    let began = Instant::now();
    pause(QUIET);
    let over = AtomicBool::new(false);
    let fetched = origin.count()?;
    thread::scope(|scope| {
        let probing = scope.spawn(|| probe(server.address, (0..FIRST_OF_SAMPLE).map(hot), &over));
        let purged = under_probes(server);
        over.store(true, Ordering::Relaxed);
        let probes = probing.join().expect("probing does not panic")?;
        let (sent, answered, hot, others) = purged?;
        let fetches = origin.count()? - fetched;
        let swept = wait_for_sweep(server, keys - HOT as f64 + fetches as f64)?;
        let ended = Instant::now().max(sent + Duration::from_secs(1));
        pause(ended.saturating_duration_since(Instant::now()) + Duration::from_millis(100));
        Ok(Purged { began, sent, answered, probes, hot, others, swept, ended, fetches })
    })
}

type Sampled = (Instant, Instant, Vec<Probe>, Vec<Probe>);

fn under_probes(server: &Server) -> Result<Sampled> {
    let go_on = AtomicBool::new(false);
    pause(Duration::from_millis(200));
    let sent = Instant::now();
    post(server.admin, &json!({"tag": "hot"}))?;
    let answered = Instant::now();
    // Spread over what no probe comes to.
    let sample = |number| hot(FIRST_OF_SAMPLE + number * (HOT - FIRST_OF_SAMPLE) / SAMPLE);
    let hot = probe(server.address, (0..SAMPLE).map(sample), &go_on)?;
    let others = probe(server.address, (0..SAMPLE).map(|number| cold(number * 31)), &go_on)?;
    pause(PROBED_ON.saturating_sub(answered.elapsed()));
    Ok((sent, answered, hot, others))
}

/// When so many keys are left; what was fetched again is among them.
fn wait_for_sweep(server: &Server, left: f64) -> Result<Option<Instant>> {
    let swept = wait_until(LONGEST_SWEEP, || {
        pause(Duration::from_millis(20));
        metric(server, KEYS).is_ok_and(|keys| keys.is_some_and(|keys| keys <= left))
    });
    crate::interruption::check()?;
    Ok(swept.is_ok().then(Instant::now))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn of_dry_run(dry: &DryRun, hits: &[Timed]) -> Result<Vec<Outcome>> {
    let second = dry.answered.max(dry.sent + Duration::from_secs(1));
    let during = latencies(hits, dry.sent, second)?;
    let exact = (dry.answers - HOT as f64).abs() < 0.5;
    Ok(vec![
        Outcome::told("a dry run counts", dry.answers, "").promised("exactly 100,000", exact),
        Outcome::told("it is answered after", milliseconds(dry.answered - dry.sent), "ms"),
        Outcome::told("p99 of hits during its second", milliseconds(during.p99), "ms"),
    ])
}

fn of_purge(purged: &Purged) -> Vec<Outcome> {
    let Purged { sent, answered, probes, hot, others, swept, fetches, .. } = purged;
    let last_hit = probes.iter().filter(|probe| probe.hit).map(|probe| probe.answered).max();
    let last_hit = last_hit.map_or(Duration::ZERO, |last| last.saturating_duration_since(*sent));
    let gone = probes.iter().find(|probe| probe.sent >= *sent && !probe.hit);
    let gone = gone.map_or(f64::NAN, |gone| milliseconds(gone.answered - *sent));
    let after = probes.iter().chain(hot).filter(|probe| probe.sent >= *answered);
    let (after, late) = after.fold((0, 0), |(all, late), probe| (all + 1, late + usize::from(probe.hit)));
    let misses = probes.iter().chain(hot).filter(|probe| !probe.hit).count();
    let kept = others.iter().filter(|probe| probe.hit).count();
    let mut outcomes = vec![
        Outcome::told("the purge is answered after", milliseconds(*answered - *sent), "ms"),
        Outcome::told("the first of the tag that is no hit is answered after", gone, "ms"),
        Outcome::told("the last of the tag that is a hit is answered after", milliseconds(last_hit), "ms")
            .promised("below 50 ms", gone.is_finite() && last_hit < IN_FORCE),
        Outcome::told(format!("hits of the tag among {after} asked for after the answer"), late as f64, "")
            .promised("none", late == 0 && after >= SAMPLE),
        Outcome::told("fetches for those that were no hits", *fetches as f64 / misses.max(1) as f64, "each")
            .promised("one each", *fetches == misses as u64),
        Outcome::told(format!("others of {SAMPLE} that are still hits"), kept as f64, "")
            .promised("all", kept == SAMPLE),
    ];
    outcomes.push(match swept {
        Some(swept) => Outcome::told("the sweep is over after", (*swept - *sent).as_secs_f64(), "s"),
        None => Outcome::failed(format!("the sweep was not over within {LONGEST_SWEEP:?}")),
    });
    outcomes
}

fn of_hits(purged: &Purged, hits: &[Timed]) -> Result<Vec<Outcome>> {
    let second = purged.sent + Duration::from_secs(1);
    // The first tenth of a second has the connections' first requests.
    let quiet = latencies(hits, purged.began + Duration::from_millis(100), purged.sent)?;
    let during = latencies(hits, purged.sent, second)?;
    let whole = latencies(hits, purged.sent, purged.ended)?;
    let told = |when: &str, Latencies { p50, p99, most }: Latencies| {
        [
            Outcome::told(format!("p50 of hits {when}"), milliseconds(p50), "ms"),
            Outcome::told(format!("p99 of hits {when}"), milliseconds(p99), "ms"),
            Outcome::told(format!("slowest hit {when}"), milliseconds(most), "ms"),
        ]
    };
    let mut outcomes = vec![Outcome::told("hits for each second meanwhile", paced::rate(), "")];
    outcomes.extend(told("before the purge", quiet));
    for (when, times) in [("in the second of the purge", during), ("until the sweep is over", whole)] {
        let [p50, p99, most] = told(when, times);
        outcomes.extend([p50, p99.promised("below 2 ms", times.p99 < P99), most]);
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tags;

    #[test]
    fn one_in_ten_is_hot_and_the_load_asks_for_none_of_them() {
        let is_hot = |target: &str| tags(target).split(", ").any(|tag| tag == "hot");
        assert_eq!((0..ENTRIES).filter(|number| is_hot(&format!("/entry/{number}"))).count(), HOT);
        assert!((0..HOT).all(|number| is_hot(&hot(number))));
        assert!(!(0..ENTRIES).any(|number| is_hot(&cold(number))));
    }
}
