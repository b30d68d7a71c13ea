//! Caching: the whole language of caching, and what it means.

use std::fs;
use std::time::Duration;

use expression::{Expression, Template};
use http::StatusCode;
use plan::{
    BodyKeys, CachePolicy, Condition, Invalidate, InvalidateTarget, KeyPolicy, Plan, StatusForm, compile,
    load,
};
use rules::{Encoding, Mode, NamePattern, QueryKey, QueryNames};

/// What a policy with these keys of `cache` means.
fn cache(keys: &str) -> CachePolicy {
    let text = format!(
        "sources: {{ api: http://a }}\npolicies:\n  p:\n    cache: {{ {keys} }}\nroutes: [{{ match: /**, proxy: api, use: p }}]\n"
    );
    let plan = compile(&text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{faults}"));
    CachePolicy::clone(plan.routes[0].cache().unwrap())
}

fn template(text: &str) -> Template {
    Template::parse(text, None).unwrap()
}

const WHOLE: &str = r#"
listen:
  admin: 127.0.0.1:9090
  admin_token: "${env.CARGO_MANIFEST_DIR}"
location: KUL
sources: { api: http://127.0.0.1:3000 }
policies:
  public:
    cache:
      mode: origin
      ttl: 2m
      max_ttl: 1h
      client_ttl: 1m
      negative: { 404: 10s, 410: 1m, 301: 1h }
      jitter: 10%
      early: 20%
      stale: 30s
      if_error: 1h
      bypass: [Bypass-Cache, { cookie: preview }, "${query.nocache == '1'}"]
      skip_for: [{ cookie: idToken }, { header: Authorization }]
      per: "${header('X-User')}"
      key:
        scheme: false
        host: false
        query: { except: [utm_*, fbclid] }
        sort: true
        headers: [X-Tenant]
        cookies: [currency]
        by: "${header('X-Plan')}"
        encodings: fold
        languages: [en, fr, pt-BR]
        no_vary_search: ignore
      body_keys: { methods: [QUERY, POST], max: 64KiB }
      tags: [Cache-Tag, Surrogate-Key]
      compress: true
      cache_status: word
  members:
    signed:
      keys: { main: { file: ./main.key }, old: MDEyMzQ1Njc4OTAxMjM0NQ }
      cookie: Signature
routes:
  - { match: GET /games/**, proxy: api, use: public }
  - { match: GET /members/**, proxy: api, use: [members, public] }
  - match: POST /users/{id}
    proxy: api
    invalidate: [{ url: "/users/${path.id}" }, { prefix: /feeds/ }, { tag: "user-${path.id}", soft: true }]
"#;

fn whole() -> Plan {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("main.key"), "nZtRohdNF9m3cKM24IcK4w==\n").unwrap();
    let path = folder.path().join("fleetfoot.yaml");
    fs::write(&path, WHOLE).unwrap();
    load(&path).unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn the_whole_language() {
    let plan = whole();
    assert_eq!(plan.location, "KUL");
    let policy = plan.routes[0].cache().map(|cache| &**cache).unwrap();
    let rules = &policy.rules;
    assert_eq!(rules.mode, Mode::Origin);
    assert_eq!(rules.default_ttl, Some(Duration::from_mins(2)));
    assert_eq!(rules.max_ttl, Some(Duration::from_hours(1)));
    assert_eq!(rules.client_ttl, Some(Duration::from_mins(1)));
    let by_status = [(301, 3600), (404, 10), (410, 60)];
    let by_status = by_status.map(|(code, s)| (StatusCode::from_u16(code).unwrap(), Duration::from_secs(s)));
    assert_eq!(rules.by_status, by_status);
    assert!(rules.cookies_keyed);
    assert_eq!((policy.jitter, policy.early), (Some(0.1), Some(0.2)));
    assert_eq!(
        policy.bypass.all(),
        [
            Condition::Header("bypass-cache".parse().unwrap()),
            Condition::Cookie("preview".into()),
            Condition::Holds(Expression::parse("query.nocache == '1'", None).unwrap()),
        ]
    );
    assert_eq!(
        policy.skip_for.all(),
        [Condition::Cookie("idToken".into()), Condition::Header(http::header::AUTHORIZATION)]
    );
    assert_eq!(policy.per, Some(template("${header('X-User')}")));
    let except = ["utm_*", "fbclid"].map(NamePattern::new).to_vec();
    assert_eq!(
        policy.key,
        KeyPolicy {
            scheme: false,
            host: false,
            query: QueryKey { names: QueryNames::Except(except), sort: true },
            no_vary_search: false,
            reflected: true,
            headers: vec!["x-tenant".parse().unwrap()],
            cookies: Some(vec!["currency".into()]),
            by: Some(template("${header('X-Plan')}")),
            fold_encodings: true,
            fold_languages: Some(["en", "fr", "pt-br"].map(|tag| tag.parse().unwrap()).to_vec()),
            is_step: false,
            is_of_source: false,
        }
    );
    assert_eq!(policy.body_keys, BodyKeys { query: true, post: true, graphql: false, max: 64 * 1024 });
    assert_eq!(policy.tags, CachePolicy::default().tags);
    let compress = policy.compress.as_ref().unwrap();
    assert_eq!(compress.encodings, [Encoding::Zstd, Encoding::Brotli, Encoding::Gzip]);
    assert!(compress.types.iter().any(|kind| kind == "application/json"));
    assert_eq!(policy.status_form, StatusForm::Word);
}

#[test]
fn routes_use_both_kinds_of_policy() {
    let plan = whole();
    assert!(plan.routes[0].signed.is_none());
    let members = &plan.routes[1];
    let open = plan.routes[0].cache().map(|cache| &**cache).unwrap();
    assert!(!open.is_gated);
    assert_eq!(members.cache().map(|cache| &**cache), Some(&CachePolicy { is_gated: true, ..open.clone() }));
    let signed = members.signed.as_ref().unwrap();
    assert_eq!((signed.name.as_str(), signed.cookie.as_deref()), ("members", Some("Signature")));
    assert_eq!(signed.keys.iter().map(|key| key.secret.len()).collect::<Vec<_>>(), [16, 16]);
    let names = ["id"];
    let text = |text| Template::parse(text, Some(&names)).unwrap();
    let rule = |target, soft| Invalidate { target, soft };
    assert_eq!(
        plan.routes[2].invalidate,
        [
            rule(InvalidateTarget::Url(text("/users/${path.id}")), false),
            rule(InvalidateTarget::Prefix(text("/feeds/")), false),
            rule(InvalidateTarget::Tag(text("user-${path.id}")), true),
        ]
    );
    assert_eq!(plan, whole_again(&plan));
}

/// The same file, read anew into another folder.
fn whole_again(first: &Plan) -> Plan {
    let second = whole();
    assert!(first.listen == second.listen && first.routes == second.routes);
    second
}

#[test]
fn every_other_way_to_write_it() {
    assert_eq!(cache("mode: static, ttl: 1m").rules.mode, Mode::Static);
    assert_eq!(cache("mode: force, negative: true").rules.mode, Mode::Force);
    let usual = cache("negative: true").rules.by_status;
    let codes: Vec<u16> = usual.iter().map(|(status, _)| status.as_u16()).collect();
    // With 200, 203, 204 and 206, which have `ttl`, and 302 and 307, which must say so, the fifteen of seed 000.
    assert_eq!(codes, [300, 301, 308, 404, 405, 410, 421, 451, 501]);
    assert_eq!(cache("negative: true, max_ttl: 1m").rules.by_status, usual);
    assert!(cache("negative: false").rules.by_status.is_empty());
    let own = cache("negative: { 503: 1m, 200: 5s, 599: 0s }").rules.by_status;
    assert_eq!(own.iter().map(|(status, _)| status.as_u16()).collect::<Vec<_>>(), [200, 503, 599]);
    let off =
        cache("max_ttl: off, client_ttl: off, jitter: off, early: off, compress: false, cache_status: off");
    assert_eq!((off.rules.max_ttl, off.rules.client_ttl, off.jitter, off.early), (None, None, None, None));
    assert_eq!((off.compress, off.status_form), (None, StatusForm::Off));
    assert_eq!(cache("client_ttl: 0s").rules.client_ttl, Some(Duration::ZERO));
    assert_eq!(cache("jitter: 1%, early: 90%").jitter, Some(0.01));
    assert_eq!(cache("bypass: Bypass-Cache").bypass.all().len(), 1);
    assert_eq!(cache("skip_for: { cookie: a }").skip_for.all(), [Condition::Cookie("a".into())]);
    assert_eq!(cache("skip_for: Cookie").skip_for.all().len(), 1);
    assert_eq!(cache("key: { query: false }").key.query.names, QueryNames::None);
    assert_eq!(cache("key: { query: true }").key.query.names, QueryNames::All);
    let only = QueryNames::Only(vec![NamePattern::new("page")]);
    assert_eq!(cache("key: { query: { only: page } }").key.query.names, only);
    let none = cache("key: { cookies: [] }");
    assert_eq!((none.key.cookies, none.rules.cookies_keyed), (Some(Vec::new()), true));
    assert!(!cache("").rules.cookies_keyed);
    let sent = cache("key: { encodings: as_sent, languages: as_sent, no_vary_search: honour }");
    assert_eq!(sent.key, KeyPolicy::default());
    assert_eq!(
        cache("body_keys: { methods: [] }").body_keys,
        BodyKeys { query: false, post: false, graphql: false, max: 16384 }
    );
    assert!(cache("body_keys: { methods: POST }").body_keys.post);
    assert!(cache("tags: []").tags.is_empty());
    let compress = cache("compress: { encodings: gzip, types: [TEXT/*], least: 4KiB }").compress.unwrap();
    assert_eq!((compress.encodings, compress.least), (vec![Encoding::Gzip], 4096));
    assert_eq!(compress.types, ["text/*"]);
}

#[test]
fn the_disk() {
    let text = "sources: { api: http://a }\nroutes: [{ match: /**, proxy: api }]\ndisk: { folder: ./cache, size: 10GiB }\n";
    let plan = compile(text, "/etc/fleetfoot/fleetfoot.yaml").unwrap_or_else(|faults| panic!("{faults}"));
    let disk = plan.disk.unwrap();
    assert_eq!((disk.folder.to_str(), disk.bytes), (Some("/etc/fleetfoot/./cache"), 10 << 30));
}

/// What `check` says of a policy with these keys of `cache`, besides that it is good.
fn hints(keys: &str) -> String {
    let text = format!(
        "sources: {{ api: http://a }}\npolicies:\n  p:\n    cache: {{ {keys} }}\nroutes: [{{ match: /**, proxy: api, use: p }}]\n"
    );
    compile(&text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{faults}")).hints.to_string()
}

#[test]
fn any_post_from_the_cache_where_graphql_is_served_is_hinted_at() {
    let hints = |path: &str, keys: &str| {
        let text = format!(
            "sources: {{ api: http://a }}\npolicies:\n  p: {{ cache: {{ ttl: 5s, body_keys: {{ {keys} }} }} }}\nroutes:\n  - {{ match: {path}, proxy: api, use: p }}\n"
        );
        compile(&text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{faults}")).hints.to_string()
    };
    for path in ["POST /graphql", "/api/GraphQL/**", "example.com/graphql"] {
        let hint = hints(path, "methods: [POST]");
        assert!(hint.contains("looks like GraphQL") && hint.contains("--> fleetfoot.yaml:5:"), "{hint}");
        assert_eq!(hints(path, "graphql: true"), "");
        assert_eq!(hints(path, "methods: [QUERY]"), "");
    }
    for path in ["POST /search", "/graphqlish", "/graphql/schema"] {
        assert_eq!(hints(path, "methods: [POST]"), "", "{path}");
    }
}

#[test]
fn cookies_that_are_skipped_for_while_others_keep_everything_unshared_are_hinted_at() {
    let hint = hints("ttl: 2m, skip_for: [{ cookie: idToken }, { header: Authorization }]");
    assert!(hint.starts_with("hint: `skip_for` names cookies"), "{hint}");
    assert!(
        hint.contains("--> fleetfoot.yaml:4:23\n") && hint.contains("write `key: { cookies: [] }`"),
        "{hint}"
    );
    for said in [
        "ttl: 2m, skip_for: [{ cookie: idToken }], key: { cookies: [] }",
        "ttl: 2m, skip_for: [{ cookie: idToken }], key: { cookies: [currency] }",
        "ttl: 2m, skip_for: [{ header: Authorization }]",
        "ttl: 2m, mode: force, skip_for: [{ cookie: idToken }]",
        "ttl: 2m, per: \"${cookie('sid')}\", skip_for: [{ cookie: idToken }]",
        "ttl: 2m",
    ] {
        assert_eq!(hints(said), "", "{said}");
    }
}
