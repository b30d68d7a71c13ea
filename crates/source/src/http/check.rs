//! Check: asks each target every now and then whether it works. In: what the plan says about health. Out: each target's
//! `Health`. Runs on one core, for all.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Version};
use message::{Client, Request, RequestParts};
use plan::Health;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::origin::Origin;
use super::outgoing::Outgoing;
use super::shared_origin::SharedOrigin;

/// Checks all targets for ever, as the plan says; returns at once when it asks for no checks.
///
/// Dropping the future ends the checks; the targets keep what was found last.
pub async fn check_health(shared: Arc<SharedOrigin>) {
    let Some(health) = shared.plan.health.clone().map(Arc::new) else { return };
    let mut checks = JoinSet::new();
    for index in 0..shared.targets.len() {
        checks.spawn_local(check_target(Arc::clone(&shared), Arc::clone(&health), index));
    }
    while checks.join_next().await.is_some() {}
}

async fn check_target(shared: Arc<SharedOrigin>, health: Arc<Health>, index: usize) {
    let target = &shared.targets[index];
    let mut ticks = tokio::time::interval(health.interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut streak = Streak::default();
    loop {
        ticks.tick().await;
        let found = check(&shared, &health, index).await;
        let Some(is_up) = streak.add(found.is_ok(), &health) else { continue };
        if target.health.found(is_up) {
            match found {
                Ok(()) => tracing::info!(source = shared.plan.name, target = &*target.name, "healthy again"),
                Err(why) => {
                    tracing::warn!(source = shared.plan.name, target = &*target.name, why, "unhealthy");
                }
            }
        }
    }
}

/// Checks with the same outcome in a row.
#[derive(Default)]
struct Streak {
    passed: bool,
    length: u32,
}

impl Streak {
    /// Whether the target is up, as soon as there were enough of a kind.
    fn add(&mut self, passed: bool, health: &Health) -> Option<bool> {
        if passed != self.passed {
            *self = Streak { passed, length: 0 };
        }
        self.length = self.length.saturating_add(1);
        let enough = if passed { health.healthy_after } else { health.unhealthy_after };
        (self.length >= enough).then_some(passed)
    }
}

/// One check, on a connection of its own: that one can be made is half of what is asked. Passed by any status below
/// 400, as load balancers have it.
async fn check(shared: &Arc<SharedOrigin>, health: &Health, index: usize) -> Result<(), String> {
    let origin = Origin::new(shared, index);
    let mut outgoing =
        Outgoing::new(request(health, &shared.targets[index].authority)).map_err(|e| e.to_string())?;
    match tokio::time::timeout(health.timeout, origin.send(&mut outgoing)).await {
        Err(_) => Err(format!("no answer within {:?}", health.timeout)),
        Ok(Err(error)) => Err(error.to_string()),
        Ok(Ok(response)) if response.status.as_u16() < 400 => Ok(()),
        Ok(Ok(response)) => Err(format!("answered {}", response.status)),
    }
}

fn request(health: &Health, authority: &str) -> Request {
    let mut fields = HeaderMap::new();
    fields.insert(http::header::USER_AGENT, HeaderValue::from_static("fleetfoot-health-check"));
    Request::new(RequestParts {
        method: health.method.clone(),
        scheme: message::Scheme::Http,
        authority: authority.into(),
        target: health.target.as_str().into(),
        version: Version::HTTP_11,
        fields,
        client: Client::NOBODY,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::Method;

    use super::*;

    #[test]
    fn only_enough_of_a_kind_in_a_row_count() {
        let health = Health {
            method: Method::GET,
            target: "/".to_owned(),
            interval: Duration::from_secs(5),
            timeout: Duration::from_secs(1),
            unhealthy_after: 3,
            healthy_after: 2,
        };
        let mut streak = Streak::default();
        let found: Vec<_> = "--+---+-++"
            .chars()
            .map(|outcome| match streak.add(outcome == '+', &health) {
                None => '.',
                Some(true) => 'u',
                Some(false) => 'd',
            })
            .collect();
        assert_eq!(found.iter().collect::<String>(), ".....d...u");
    }
}
