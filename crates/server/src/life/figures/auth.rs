//! Of whom policies let in, and of the keys that tokens are checked with. Counts are since the policy was made so.

use policy::{AuthFigures, RemoteFigures};
use telemetry::Family;

use super::of_each;
use crate::walk::running::Running;

pub(super) fn families(running: &Running) -> Vec<Family> {
    let all: Vec<(&str, AuthFigures)> =
        running.auths.iter().map(|(name, auth)| (name, auth.figures())).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let outcomes = all.iter().flat_map(|(name, of)| {
        of.outcomes.iter().map(move |(outcome, count)| ([*name, outcome.word()], *count))
    });
    let keys =
        all.iter().flat_map(|(name, of)| of.keys.iter().map(move |(key, count)| ([*name, key], *count)));
    let mut families = vec![
        Family::counter("auth", "Requests that a policy let in or refused")
            .by(["policy", "outcome"], outcomes),
        Family::counter("auth_keys", "Requests let in with an API key").by(["policy", "key"], keys),
    ];
    families.extend(of_each(
        "policy",
        &all,
        [(
            Family::counter("auth_signatures", "Signatures of tokens that were checked"),
            |of: &AuthFigures| of.checked,
        )],
    ));
    let remotes: Vec<(&str, RemoteFigures)> =
        running.auths.iter().filter_map(|(name, auth)| Some((name, auth.remote()?.figures()))).collect();
    let fetches =
        remotes.iter().flat_map(|(name, of)| [([*name, "ok"], of.fetched), ([*name, "failed"], of.failed)]);
    families.push(
        Family::counter("jwks_fetches", "Fetches of the keys of a policy").by(["policy", "outcome"], fetches),
    );
    let keys = remotes.iter().map(|(name, of)| ([*name], of.keys));
    families.push(
        Family::gauge("jwks_keys", "Keys of a policy in use, none while they are unavailable")
            .by(["policy"], keys),
    );
    families
}
