//! Up: the plan of `fleetfoot up URL`: one origin, everything through the cache, no file needed.

use std::sync::Arc;

use crate::default;
use crate::meant::{
    AccessLog, Balance, HostField, HttpSource, Layer, Layers, Limits, Listen, Pattern, Plan, Protocol, Route,
    RouteEnd, Segment, Source, SourceId, Target, Timeouts,
};
use crate::source::url;
use crate::yaml::fault::{Faults, Hints, Place, Report};

/// The plan that puts fleetfoot in front of the origin at `url`: listening on 127.0.0.1:8080, admin on 127.0.0.1:9090,
/// every request to the one source `origin`, through a cache with its defaults.
pub fn up(url: &str) -> Result<Plan, Faults> {
    match url::target(url) {
        Ok(target) => Ok(plan(target)),
        Err(reason) => {
            let mut report = Report::default();
            let place = Place { line: 1, column: 1, length: url.chars().count() };
            report.fault(place, String::new(), reason.cause, reason.remedy);
            Err(report.into_faults("URL", url))
        }
    }
}

fn plan(target: Target) -> Plan {
    Plan {
        listen: Listen { admin: Some(default::ADMIN), ..default::listen() },
        limits: Limits::default(),
        memory: default::MEMORY,
        sources: vec![Source::Http(Arc::new(source("origin", vec![target])))],
        tier: None,
        routes: vec![Route {
            pattern: Pattern { method: None, host: None, path: vec![Segment::Rest], text: "/**".to_owned() },
            end: RouteEnd::Proxy(SourceId::at(0)),
            layers: cached(),
            signed: None,
            auth: Vec::new(),
            invalidate: Vec::new(),
        }],
        wrappings: Vec::new(),
        access_log: AccessLog::default(),
        cores: default::cores(),
        drain: default::DRAIN,
        drain_delay: default::DRAIN_DELAY,
        location: default::LOCATION.to_owned(),
        disk: None,
        hints: Hints::default(),
    }
}

/// A cache with every default.
fn cached() -> Layers {
    let mut layers = Layers::default();
    layers.push(Layer::Cache(Arc::default()));
    layers
}

/// A source with every default.
pub(crate) fn source(name: &str, targets: Vec<Target>) -> HttpSource {
    HttpSource {
        name: name.to_owned(),
        targets,
        protocol: Protocol::default(),
        host: HostField::default(),
        balance: Balance::default(),
        health: None,
        verify: true,
        authorities: None,
        timeouts: Timeouts::default(),
        idle_connections: default::IDLE_CONNECTIONS,
        connection_age: default::CONNECTION_AGE,
        connections: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meant::CachePolicy;

    #[test]
    fn a_url_is_enough() {
        let plan = up("http://localhost:3000").unwrap();
        assert_eq!(plan.listen.http, ["127.0.0.1:8080".parse().unwrap()]);
        assert_eq!(plan.listen.admin, Some("127.0.0.1:9090".parse().unwrap()));
        let origin = plan.sources[0].http().unwrap();
        assert_eq!(origin.name, "origin");
        assert_eq!(origin.targets[0].authority(), "localhost:3000");
        assert_eq!(plan.routes[0].pattern, "/**".parse().unwrap());
        assert_eq!(plan.routes[0].cache().map(|cache| &**cache), Some(&CachePolicy::default()));
    }

    #[test]
    fn a_wrong_url_is_explained() {
        let shown = up("localhost:3000").unwrap_err().to_string();
        assert_eq!(
            shown,
            "error: `localhost:3000` has no scheme\n --> URL:1:1\n  |\n1 | localhost:3000\n  | ^^^^^^^^^^^^^^\n  \
             = fix: write `http://localhost:3000`, or the same with `https`\n\nURL: 1 fault"
        );
    }

    #[test]
    fn a_password_is_not_shown() {
        let shown = up("http://me:secret@x").unwrap_err().to_string();
        assert!(!shown.contains("secret"), "{shown}");
    }
}
