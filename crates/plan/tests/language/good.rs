//! Good files: what they mean.

use std::time::Duration;

use http::Method;
use message::Scheme;
use plan::{
    AccessLog, Balance, HostField, HttpSource, Plan, Protocol, RouteEnd, Segment, SourceId, compile, load,
    schema,
};

fn good(text: &str) -> Plan {
    compile(text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{faults}"))
}

/// The origin of this number among those of a plan.
fn origin(plan: &Plan, number: usize) -> &HttpSource {
    plan.http_sources().nth(number).unwrap()
}

/// A file around some lines, with one source and one route.
fn around(lines: &str) -> Plan {
    good(&format!(
        "sources: {{ api: http://127.0.0.1:3000 }}\nroutes: [{{ match: /**, proxy: api }}]\n{lines}\n"
    ))
}

#[test]
fn the_least_file_has_every_default() {
    let plan = around("");
    assert_eq!(plan.listen.http, ["127.0.0.1:8080".parse().unwrap()]);
    assert_eq!(plan.listen.admin, None);
    assert_eq!(plan.limits, plan::Limits::default());
    assert_eq!(plan.memory, 256 << 20);
    assert_eq!(plan.drain, Duration::from_secs(30));
    assert_eq!(plan.access_log, AccessLog::Off);
    assert!(plan.cores >= 1);
    let source = origin(&plan, 0);
    assert_eq!(source.name, "api");
    assert_eq!(source.targets[0].authority(), "127.0.0.1:3000");
    assert_eq!(source.protocol, Protocol::Auto);
    assert_eq!(source.host, HostField::Auto);
    assert_eq!(source.balance, Balance::RoundRobin);
    assert_eq!(source.health, None);
    assert!(source.verify);
    assert_eq!((source.connections, source.idle_connections), (0, 64));
    assert_eq!(plan.routes[0].pattern.path, [Segment::Rest]);
    assert_eq!(plan.routes[0].cache(), None);
}

#[test]
fn every_key_reaches_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["chain.pem", "key.pem", "ca.pem"] {
        std::fs::write(folder.path().join(name), "-").unwrap();
    }
    let path = folder.path().join("fleetfoot.yaml");
    let text = r#"
listen:
  http: [127.0.0.1:1, "[::1]:2", :3]
  https: 4
  tls: { certificate: chain.pem, key: key.pem }
  admin: localhost:0
  proxy_protocol: true
  trust: [10.0.0.0/8, ::1]
limits:
  head_size: 16KiB
  header_count: 50
  body_size: 1MiB
  connections: 10
  header_timeout: 1s
  idle_timeout: 2s
  body_timeout: 3s
memory: 1GiB
cores: 2
drain: 0s
access_log: json
sources:
  api:
    http: [https://a.example.com, "http://[::1]:81"]
    protocol: http2
    host: www.example.com
    balance: least_requests
    health: { check: HEAD /up?x=1, interval: 1s, timeout: 500ms, unhealthy_after: 1, healthy_after: 9 }
    tls: { verify: true, authorities: ca.pem }
    timeout: { connect: 1s, head: 2s, body: 3s }
    connections: 7
    idle_connections: 0
  short: { http: http://b, health: GET /healthz, timeout: 9s, host: client }
policies:
  live:
    cache:
      ttl: 5s
      heuristic: 10%
      stale: 30s
      if_error: 1h
      client_directives: ignore
      store_set_cookie: true
      max_body: 1MiB
      variants: 3
      coalesce: false
      targeted: [Fleetfoot-Cache-Control, CDN-Cache-Control]
  plain: { cache: true }
  bare: { cache: {} }
routes:
  - { match: "POST example.com/users/{id}/**", proxy: short, use: live }
  - { match: /a/*, proxy: api, use: [plain] }
  - { match: /b, proxy: api, use: bare }
"#;
    std::fs::write(&path, text).unwrap();
    let plan = load(&path).unwrap_or_else(|faults| panic!("{faults}"));
    let addresses = ["127.0.0.1:1", "[::1]:2", "0.0.0.0:3"].map(|text| text.parse().unwrap());
    assert_eq!(plan.listen.http, addresses);
    assert_eq!(plan.listen.https, ["0.0.0.0:4".parse().unwrap()]);
    assert_eq!(plan.listen.tls.as_ref().unwrap().key, folder.path().join("key.pem"));
    assert_eq!(plan.listen.admin, Some("127.0.0.1:0".parse().unwrap()));
    assert!(plan.listen.proxy_protocol);
    assert_eq!(plan.listen.trust.len(), 2);
    assert_eq!((plan.limits.head_size, plan.limits.header_count, plan.limits.connections), (16_384, 50, 10));
    assert_eq!(plan.limits.body_timeout, Duration::from_secs(3));
    assert_eq!((plan.memory, plan.cores, plan.drain), (1 << 30, 2, Duration::ZERO));
    assert_eq!(plan.access_log, AccessLog::Json);

    let api = origin(&plan, 0);
    assert_eq!(api.targets[0].scheme, Scheme::Https);
    assert_eq!((api.targets[1].host.as_str(), api.targets[1].port), ("::1", 81));
    assert_eq!(api.host, HostField::Fixed("www.example.com".into()));
    let health = api.health.as_ref().unwrap();
    assert_eq!((&health.method, health.target.as_str()), (&Method::HEAD, "/up?x=1"));
    assert_eq!((health.unhealthy_after, health.healthy_after), (1, 9));
    assert_eq!(api.authorities.as_deref(), Some(folder.path().join("ca.pem").as_path()));
    assert_eq!(api.timeouts.body, Duration::from_secs(3));
    assert_eq!((api.connections, api.idle_connections), (7, 0));
    let short = origin(&plan, 1);
    assert_eq!(short.timeouts.head, Duration::from_secs(9));
    assert_eq!(short.health.as_ref().unwrap().interval, Duration::from_secs(5));

    let live = plan.routes[0].cache().unwrap();
    assert_eq!(live.name, "live");
    assert_eq!(live.rules.default_ttl, Some(Duration::from_secs(5)));
    assert_eq!(live.rules.heuristic, Some(0.1));
    assert_eq!(live.rules.stale_if_error, Some(Duration::from_hours(1)));
    assert!(!live.rules.client_directives && live.rules.store_set_cookie && !live.coalesce);
    assert_eq!((live.max_body, live.max_variants), (1 << 20, 3));
    assert_eq!(live.rules.targeted.len(), 2);
    assert_eq!(plan.routes[0].pattern.method, Some(Method::POST));
    assert_eq!(plan.routes[0].end, RouteEnd::Proxy(SourceId::at(1)));
    for (route, name) in [(1, "plain"), (2, "bare")] {
        let default = plan::CachePolicy { name: name.to_owned(), ..plan::CachePolicy::default() };
        assert_eq!(plan.routes[route].cache().map(|cache| &**cache), Some(&default));
    }
}

#[test]
fn https_alone_listens_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.pem");
    std::fs::write(&file, "-").unwrap();
    let plan =
        around(&format!("listen: {{ https: 8443, tls: {{ certificate: {0}, key: {0} }} }}", file.display()));
    assert!(plan.listen.http.is_empty());
}

#[test]
fn every_way_to_write_it() {
    for lines in [
        "access_log: off",
        "access_log: 'off'",
        "# only a comment",
        "listen: { http: [127.0.0.1:0, 127.0.0.1:0], admin: 127.0.0.1:0 }",
        "policies: { unused: { cache: true } }",
        "policies: { live: { cache: { ttl: 0s, targeted: [] } } }",
        "memory:\n  \"1MiB\"",
    ] {
        around(lines);
    }
    good("sources: {api: 'http://a'}\r\nroutes:\r\n- match: \"/{x}\"\r\n  proxy: api\r\n");
    good("\u{feff}sources: { api: http://a }\nroutes: [{ match: /, proxy: api }]\n");
    good("%YAML 1.2\n---\nsources: { api: http://a }\nroutes: [ { match: GET /, proxy: api } ]\n...\n");
}

#[test]
fn the_defaults_of_the_reference_are_the_real_ones() {
    let implicit = around("policies: { p: { cache: true } }");
    let written = |path: &str| {
        let section = schema().iter().find(|section| section.path == path).unwrap();
        let defaults =
            section.words.iter().filter_map(|word| Some(format!("{}: {}", word.name, word.default?)));
        defaults.collect::<Vec<_>>()
    };
    let flow = |path: &str| format!("{{ {} }}", written(path).join(", "));
    let text = format!(
        "{}\nlisten: {}\nlimits: {}\nsources: {{ api: {{ http: http://127.0.0.1:3000, timeout: {}, {} }}, \
         tls: {{ http: https://a, tls: {}, health: {{ check: GET /, {} }} }}, short: {{ http: https://a, health: GET / }} }}\n\
         policies: {{ p: {{ cache: {{ {}, key: {}, body_keys: {} }} }}, z: {{ cache: {{ compress: {} }} }}, y: {{ cache: {{ compress: true }} }} }}\nroutes: [{{ match: /**, proxy: api }}, {{ match: /p, proxy: api, use: p }}, \
         {{ match: /z, proxy: api, use: z }}, {{ match: /y, proxy: api, use: y }}]\n",
        written("").join("\n"),
        flow("listen"),
        flow("limits"),
        flow("sources.<name>.timeout"),
        written("sources.<name>").join(", "),
        flow("sources.<name>.tls"),
        written("sources.<name>.health").join(", "),
        written("policies.<name>.cache").join(", "),
        flow("policies.<name>.cache.key"),
        flow("policies.<name>.cache.body_keys"),
        flow("policies.<name>.cache.compress"),
    );
    let explicit = good(&text);
    assert_eq!(explicit.listen, implicit.listen);
    assert_eq!(explicit.limits, implicit.limits);
    assert_eq!(explicit.sources[0], implicit.sources[0]);
    assert_eq!(origin(&explicit, 1).verify, origin(&implicit, 0).verify);
    assert_eq!(origin(&explicit, 1).health, origin(&explicit, 2).health);
    assert_eq!((explicit.memory, explicit.drain), (implicit.memory, implicit.drain));
    assert_eq!(explicit.access_log, implicit.access_log);
    let default = plan::CachePolicy { name: "p".to_owned(), ..plan::CachePolicy::default() };
    assert_eq!(explicit.routes[1].cache().map(|cache| &**cache), Some(&default));
    let compress = |route: usize| explicit.routes[route].cache().unwrap().compress.clone().unwrap();
    assert_eq!(compress(2), compress(3));
    assert_eq!(explicit.location, implicit.location);
}
