//! `POST /cache/purge`: forgetting, in force for all cores before its answer is sent.

use std::num::NonZeroU32;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue};
use axum::response::Response;
use cache::{Counted, Listed, Noted, Purge, Scope};
use message::Clock;
use serde::{Deserialize, Serialize};

use crate::backstage::{Errand, Purpose};
use crate::control::{Control, answer, content};
use crate::keyed_url::KeyedUrl;
use crate::refusal::AdminRefusal;
use crate::rounds::{MOST, MOST_RATE, RATE};
use crate::scope::{Understood, Words, kind_of, understood};

/// The call.
#[allow(clippy::struct_excessive_bools)] // each is a word of its own in the JSON
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Call {
    url: Option<String>,
    exact: bool,
    prefix: Option<String>,
    host: Option<String>,
    tag: Option<String>,
    tags: Option<Vec<String>>,
    everything: bool,
    soft: bool,
    dry_run: bool,
    refresh: usize,
    rate: Option<u32>,
}

#[derive(Serialize)]
struct Done {
    purged: Understood,
    soft: bool,
    in_force: bool,
    /// Whether the other instances, where there may be some, have been told, or why not yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_instances: Option<String>,
    /// What a restart does to it, where there is a disk tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    after_restart: Option<&'static str>,
    refreshing: usize,
}

#[derive(Serialize)]
struct WouldPurge {
    would_purge: Counted,
}

pub(crate) async fn purge(
    State(control): State<Control>,
    fields: HeaderMap,
    body: Body,
) -> Result<Response, AdminRefusal> {
    let call: Call = content(&fields, body).await?;
    let rate = rate_of(call.rate)?;
    if call.refresh > MOST {
        return Err(AdminRefusal::request(format!("`refresh` is {MOST} at most")));
    }
    let (soft, dry_run, refresh) = (call.soft, call.dry_run, call.refresh);
    let scopes = words_of(call)?.scopes(&*control.0.backstage)?;
    if dry_run {
        return Ok(answer(WouldPurge { would_purge: count(&control, scopes).await? }));
    }
    // A place first, so that a purge that cannot refresh has not half happened.
    let round = if refresh > 0 { Some(control.0.rounds.begin(refresh, rate)?) } else { None };
    let errands =
        if round.is_some() { hottest(&control, scopes.clone(), refresh).await? } else { Vec::new() };
    let purged = understood(&scopes);
    let latest = forget(&control, scopes, soft);
    let refreshing = errands.len();
    if let Some(round) = round {
        let backstage = Arc::clone(&control.0.backstage);
        tokio::spawn(async move {
            let fetched = round.run(backstage, errands).await;
            let failed = fetched.iter().filter(|fetched| fetched.error.is_some()).count();
            tracing::info!(fetched = fetched.len(), failed, "fetched again after a purge");
        });
    }
    let after_restart = after_restart(&control);
    let other_instances = others(&control, latest).await;
    Ok(answer(Done { purged, soft, in_force: true, other_instances, after_restart, refreshing }))
}

fn after_restart(control: &Control) -> Option<&'static str> {
    Some(match control.0.store.after_restart()? {
        Noted::Kept => "in force",
        Noted::EmptiesAll => "in force: the disk tier begins empty",
        Noted::Lost => "not in force: the disk tier cannot be written",
    })
}

/// Told is what Redis has taken. What it does not take now is told as soon as it does.
async fn others(control: &Control, latest: u64) -> Option<String> {
    Some(match control.0.store.others_told(latest).await? {
        Ok(()) => "told".to_owned(),
        Err(why) => format!("not told yet: {why}"),
    })
}

fn words_of(call: Call) -> Result<Words, AdminRefusal> {
    let tags = match (call.tag, call.tags) {
        (Some(_), Some(_)) => return Err(AdminRefusal::request("say either `tag` or `tags`")),
        (Some(tag), None) => Some(vec![tag]),
        (None, tags) => tags,
    };
    let Call { url, exact, prefix, host, everything, .. } = call;
    Ok(Words { url, exact, prefix, host, tags, everything })
}

pub(crate) fn rate_of(rate: Option<u32>) -> Result<NonZeroU32, AdminRefusal> {
    let Some(rate) = rate else { return Ok(RATE) };
    NonZeroU32::new(rate)
        .filter(|rate| rate.get() <= MOST_RATE)
        .ok_or_else(|| AdminRefusal::request(format!("`rate` is fetches a second, from 1 to {MOST_RATE}")))
}

/// What has several of the tags counts for each.
async fn count(control: &Control, scopes: Vec<Scope>) -> Result<Counted, AdminRefusal> {
    let store = Arc::clone(&control.0.store);
    let sum = move || {
        scopes.iter().map(|scope| store.count(scope)).fold(Counted::default(), |sum, more| Counted {
            answers: sum.answers + more.answers,
            bytes: sum.bytes + more.bytes,
        })
    };
    control.0.walks.run(sum).await
}

/// Gives back the number of the latest.
fn forget(control: &Control, scopes: Vec<Scope>, soft: bool) -> u64 {
    let now = Clock::now();
    let each = scopes.into_iter().map(|scope| {
        control.0.metrics.purged(kind_of(&scope), soft);
        control.0.store.purge(&Purge { scope, soft }, now)
    });
    each.max().unwrap_or(0)
}

/// The most used answers that can be asked for again.
async fn hottest(control: &Control, scopes: Vec<Scope>, most: usize) -> Result<Vec<Errand>, AdminRefusal> {
    let store = Arc::clone(&control.0.store);
    let listed = move || {
        let now = Clock::now();
        let mut listed: Vec<Listed> = scopes.iter().flat_map(|scope| store.list(scope, most, now)).collect();
        if scopes.len() > 1 {
            listed.sort_by_key(|entry| std::cmp::Reverse(entry.hits));
        }
        listed
    };
    let listed = control.0.walks.run(listed).await?;
    let mut errands: Vec<Errand> = Vec::with_capacity(listed.len());
    for errand in listed.iter().filter_map(errand_of) {
        let is_double = |other: &Errand| other.place == errand.place && other.fields == errand.fields;
        // Only with several tags can an answer be listed twice.
        if errands.len() < most && !(errands.len() < DOUBLES && errands.iter().any(is_double)) {
            errands.push(errand);
        }
    }
    Ok(errands)
}

/// Doubles are looked for among so many; further down they cost a lookup that ends in a hit.
const DOUBLES: usize = 256;

/// What brings this answer again; `None`: its key holds more than the URL, or somebody's credentials chose it.
fn errand_of(listed: &Listed) -> Option<Errand> {
    if !listed.also.is_empty() {
        return None;
    }
    let fields = listed.vary.iter().map(|(name, value)| {
        let name =
            HeaderName::try_from(name).ok().filter(|name| *name != AUTHORIZATION && *name != COOKIE)?;
        Some((name, HeaderValue::try_from(value).ok()?))
    });
    let fields: Option<Vec<_>> = fields.collect();
    // How a field is listed that was not there.
    let fields = fields?.into_iter().filter(|(_, value)| value != "-").collect();
    Some(Errand { place: KeyedUrl::of(&listed.url).ok()?, fields, purpose: Purpose::Refresh })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(also: &[&str], vary: &[(&str, &str)]) -> Listed {
        Listed {
            url: "http://a.test/x?y".to_owned(),
            also: also.iter().map(|also| (*also).to_owned()).collect(),
            vary: vary.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            status: 200,
            length: 1,
            age: 0,
            fresh_for: 1,
            hits: 1,
            tags: Vec::new(),
            fields: Vec::new(),
        }
    }

    #[test]
    fn only_what_can_be_asked_for_again_is_refreshed() {
        let plain = errand_of(&listed(&[], &[])).unwrap();
        assert_eq!((&*plain.place.authority, &*plain.place.target), ("a.test", "/x?y"));
        let negotiated =
            errand_of(&listed(&[], &[("accept-language", "de"), ("accept-encoding", "-")])).unwrap();
        assert_eq!(negotiated.fields.len(), 1);
        assert!(errand_of(&listed(&["user: 7"], &[])).is_none());
        assert!(errand_of(&listed(&[], &[("cookie", "a=b")])).is_none());
        assert!(errand_of(&listed(&[], &[("x-a", "\n")])).is_none());
    }
}
