//! Answers for one user alone.

use cache::Scope;
use expression::Template;
use plan::CachePolicy;

use crate::origin::{Origin, Reply, story};

const PRIVATE: &[(&str, &str)] = &[("cache-control", "private, max-age=60")];

fn per(template: &str) -> Origin {
    let per = Some(Template::parse(template, None).unwrap());
    Origin::new(CachePolicy { per, ..CachePolicy::default() })
}

#[test]
fn each_user_has_answers_of_their_own() {
    story(|| async {
        let origin = per("${header('X-User')}");
        for user in ["ann", "bob"] {
            origin.will(Reply::new(200, PRIVATE, user));
            assert_eq!(origin.get("/", &[("x-user", user), ("cookie", "s=1")]).await.text(), user);
        }
        for user in ["ann", "bob"] {
            assert_eq!(origin.get("/", &[("x-user", user)]).await.text(), user);
        }
        assert_eq!(origin.times_asked(), 2);
    });
}

#[test]
fn whoever_is_nobody_is_treated_as_everybody() {
    story(|| async {
        let origin = per("${header('X-User')}");
        for answer in ["1", "2"] {
            origin.will(Reply::new(200, PRIVATE, answer));
            assert_eq!(origin.get("/", &[]).await.text(), answer, "private answers are not shared");
        }
    });
}

#[test]
fn a_claim_without_its_credential_opens_nothing() {
    story(|| async {
        // {"sub":"ann"} with two signatures.
        let (own, forged) = ("Bearer e30.eyJzdWIiOiJhbm4ifQ.good", "Bearer e30.eyJzdWIiOiJhbm4ifQ.forged");
        let origin = per("${claim('sub')}");
        origin.will(Reply::new(200, PRIVATE, "hers"));
        assert_eq!(origin.get("/", &[("authorization", own)]).await.text(), "hers");
        assert!(origin.get("/", &[("authorization", own)]).await.cache.contains("hit"));
        origin.will(Reply::new(401, &[], "no"));
        assert_eq!(origin.get("/", &[("authorization", forged)]).await.status, 401);
        origin.purge(Scope::Tag("user:ann".into()), false);
        origin.will(Reply::new(200, PRIVATE, "anew"));
        assert_eq!(origin.get("/", &[("authorization", own)]).await.text(), "anew");
    });
}

#[test]
fn cookies_are_not_handed_on_even_to_their_owner() {
    story(|| async {
        let origin = per("${header('X-User')}");
        let setting = &[("cache-control", "private, max-age=60"), ("set-cookie", "s=1")];
        for answer in ["1", "2"] {
            origin.will(Reply::new(200, setting, answer));
            assert_eq!(origin.get("/", &[("x-user", "ann")]).await.text(), answer);
        }
    });
}
