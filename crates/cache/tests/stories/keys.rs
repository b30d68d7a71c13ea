//! What an answer is found by, and what the origin gets to see of the rest.

use bytes::Bytes;
use expression::Template;
use http::{HeaderName, HeaderValue, Method};
use http_body_util::{BodyExt, Full};
use message::{Body, Request};
use plan::{BodyKeys, CachePolicy, KeyPolicy};
use rules::{NamePattern, QueryKey, QueryNames};

use crate::origin::{Origin, Reply, request, story};

const FRESH: &[(&str, &str)] = &[("cache-control", "max-age=60")];

fn keyed(key: KeyPolicy) -> Origin {
    Origin::new(CachePolicy { key, ..CachePolicy::default() })
}

#[test]
fn ignored_parameters_neither_count_nor_reach_the_origin() {
    story(|| async {
        let names = QueryNames::Except(vec![NamePattern::new("utm_*")]);
        let origin = keyed(KeyPolicy { query: QueryKey { names, sort: true }, ..KeyPolicy::default() });
        origin.will(Reply::new(200, FRESH, "x"));
        origin.get("/?b=2&utm_source=evil&a=1", &[]).await;
        assert_eq!(&*origin.asked.borrow()[0].target, "/?a=1&b=2");
        for same in ["/?a=1&b=2", "/?b=2&a=1&utm_medium=x", "/?utm_=&a=1&b=2"] {
            assert!(origin.get(same, &[]).await.cache.contains("hit"), "{same}");
        }
        origin.will(Reply::new(200, FRESH, "y"));
        assert_eq!(origin.get("/?a=1&b=3", &[]).await.text(), "y");
    });
}

#[test]
fn chosen_fields_count_and_need_no_vary() {
    story(|| async {
        let headers = vec![HeaderName::from_static("x-tenant")];
        let origin = keyed(KeyPolicy { headers, ..KeyPolicy::default() });
        let varying = &[("cache-control", "max-age=60"), ("vary", "x-tenant")];
        for tenant in ["a", "b"] {
            origin.will(Reply::new(200, varying, tenant));
            assert_eq!(origin.get("/", &[("x-tenant", tenant)]).await.text(), tenant);
        }
        for tenant in ["a", "b"] {
            assert_eq!(origin.get("/", &[("x-tenant", tenant)]).await.text(), tenant);
        }
        origin.will(Reply::new(200, varying, "none"));
        assert_eq!(origin.get("/", &[]).await.text(), "none");
        assert_eq!(origin.times_asked(), 3);
    });
}

#[test]
fn of_cookies_only_those_that_count_go_on() {
    story(|| async {
        let cookies = Some(vec!["currency".to_owned()]);
        let mut policy =
            CachePolicy { key: KeyPolicy { cookies, ..KeyPolicy::default() }, ..CachePolicy::default() };
        policy.rules.cookies_keyed = true;
        let origin = Origin::new(policy);
        origin.will(Reply::new(200, FRESH, "euro"));
        assert_eq!(origin.get("/", &[("cookie", "id=me; currency=eur")]).await.text(), "euro");
        assert_eq!(origin.was_asked_with("cookie").as_deref(), Some("currency=eur"));
        assert!(origin.get("/", &[("cookie", "currency=eur; id=you")]).await.cache.contains("hit"));
        origin.will(Reply::new(200, FRESH, "none"));
        assert_eq!(origin.get("/", &[("cookie", "id=me")]).await.text(), "none");
        assert_eq!(origin.was_asked_with("cookie"), None);
    });
}

#[test]
fn preferences_are_folded_into_few_classes() {
    story(|| async {
        let languages = ["en", "fr"].map(HeaderValue::from_static).to_vec();
        let key = KeyPolicy { fold_encodings: true, fold_languages: Some(languages), ..KeyPolicy::default() };
        let origin = keyed(key);
        let varying = &[("cache-control", "max-age=60"), ("vary", "accept-encoding, accept-language")];
        origin.will(Reply::new(200, varying, "fr"));
        let french = [("accept-encoding", "br;q=0.5, gzip, x-junk"), ("accept-language", "fr-CH, en;q=0.1")];
        origin.get("/", &french).await;
        assert_eq!(origin.was_asked_with("accept-encoding").as_deref(), Some("br, gzip"));
        assert_eq!(origin.was_asked_with("accept-language").as_deref(), Some("fr"));
        let same = [("accept-encoding", "gzip, br"), ("accept-language", "fr")];
        assert!(origin.get("/", &same).await.cache.contains("hit"));
    });
}

fn query(method: &'static str, content_type: &'static str, content: &'static str) -> Request {
    let mut request = request(Method::from_bytes(method.as_bytes()).unwrap(), "/q", &[]);
    request.parts_mut().fields.insert("content-type", HeaderValue::from_static(content_type));
    let whole = Full::new(Bytes::from_static(content.as_bytes()));
    request.body = Body::stream(whole.map_err(|never| match never {}));
    request
}

#[test]
fn a_query_is_found_by_all_of_its_content() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        for (content_type, content, answer) in
            [("text/sql", "a", "1"), ("text/sql", "b", "2"), ("text/xml", "a", "3"), ("text/sql", "", "4")]
        {
            origin.will(Reply::new(200, FRESH, answer));
            assert_eq!(origin.ask(query("QUERY", content_type, content)).await.text(), answer);
        }
        assert_eq!(origin.ask(query("QUERY", "text/sql", "b")).await.text(), "2");
        assert_eq!(origin.times_asked(), 4);
        origin.will(Reply::new(200, FRESH, "get"));
        assert_eq!(origin.get("/q", &[("content-type", "text/sql")]).await.text(), "get", "another method");
    });
}

#[test]
fn what_is_too_long_to_be_a_key_goes_through_whole() {
    story(|| async {
        let body_keys = BodyKeys { max: 3, ..BodyKeys::default() };
        let origin = Origin::new(CachePolicy { body_keys, ..CachePolicy::default() });
        for _ in 0..2 {
            origin.will(Reply::new(200, FRESH, "x"));
            let told = origin.ask(query("QUERY", "text/sql", "long")).await;
            assert!(told.cache.contains("detail=content-too-long"), "{}", told.cache);
        }
        assert_eq!(*origin.contents.borrow(), ["long", "long"]);
    });
}

#[test]
fn post_is_a_read_only_where_the_policy_says_so() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        for answer in ["1", "2"] {
            origin.will(Reply::new(200, FRESH, answer));
            assert_eq!(origin.ask(query("POST", "application/json", "{}")).await.text(), answer);
        }
        let body_keys = BodyKeys { post: true, ..BodyKeys::default() };
        let origin = Origin::new(CachePolicy { body_keys, ..CachePolicy::default() });
        origin.will(Reply::new(200, FRESH, "get"));
        origin.get("/q", &[]).await;
        origin.will(Reply::new(200, FRESH, "1"));
        for _ in 0..2 {
            assert_eq!(origin.ask(query("POST", "application/json", "{}")).await.text(), "1");
        }
        assert!(origin.get("/q", &[]).await.cache.contains("hit"), "such a POST writes nothing");
    });
}

#[test]
fn an_answer_may_say_which_parameters_do_not_matter() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let says = &[("cache-control", "max-age=60"), ("no-vary-search", "params=(\"session\")")];
        origin.will(Reply::new(200, says, "x"));
        origin.get("/search?q=1&session=a", &[]).await;
        assert_eq!(&*origin.asked.borrow()[0].target, "/search?q=1&session=a", "what was asked is asked");
        assert!(origin.get("/search?q=1&session=b", &[]).await.cache.contains("hit"));
        origin.will(Reply::new(200, says, "y"));
        assert_eq!(origin.get("/search?q=2&session=a", &[]).await.text(), "y");
        origin.will(Reply::new(200, FRESH, "other path"));
        assert_eq!(origin.get("/other?q=1&session=b", &[]).await.text(), "other path");
    });
}

#[test]
fn all_lines_of_a_content_type_count() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let ask = |more: Option<&'static str>| {
            let mut request = query("QUERY", "a/b", "content");
            let fields = &mut request.parts_mut().fields;
            fields.extend(more.map(|line| (http::header::CONTENT_ENCODING, HeaderValue::from_static(line))));
            fields.append("content-type", HeaderValue::from_static("x/y"));
            request
        };
        origin.will(Reply::new(200, FRESH, "two types")).will(Reply::new(200, FRESH, "one"));
        origin.ask(ask(None)).await;
        assert_eq!(origin.ask(query("QUERY", "a/b", "content")).await.text(), "one");
        origin.will(Reply::new(200, FRESH, "encoded"));
        assert_eq!(origin.ask(ask(Some("x"))).await.text(), "encoded");
    });
}

#[test]
fn what_a_credential_only_claims_opens_nobody_elses_answer() {
    story(|| async {
        let by = Some(Template::parse("${claim('role')}", None).unwrap());
        let origin = keyed(KeyPolicy { by, ..KeyPolicy::default() });
        // {"role":"admin"}, signed and not.
        let signed = "Bearer e30.eyJyb2xlIjoiYWRtaW4ifQ.c2lnbmVk";
        let forged = "Bearer e30.eyJyb2xlIjoiYWRtaW4ifQ.AAAA";
        origin.will(Reply::new(200, &[("cache-control", "public, max-age=60")], "for admins"));
        origin.get("/", &[("authorization", signed)]).await;
        origin.will(Reply::new(403, &[], "no"));
        assert_eq!(origin.get("/", &[("authorization", forged)]).await.text(), "no");
    });
}
