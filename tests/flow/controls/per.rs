//! `per`: each user has answers of their own, nobody gets another's, and all of one user's can be forgotten at once.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use testkit::{Answer, Fleetfoot, Gate, Origin, RawClient, ok};

use super::ways::{Asked, Way, each_way};
use crate::setup::cached_with;

/// An origin that answers everybody with who they are, privately.
fn reflecting(fields: &'static str) -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(move |request| {
        let who = ["X-User", "Authorization", "Cookie"].map(|name| request.field(name).unwrap_or("-"));
        ok(fields, who.join(" "))
    });
    origin
}

const PRIVATE: &str = "Cache-Control: private, max-age=600";
const BY_FIELD: &str = "ttl: origin, per: \"${header('X-User')}\"";
const BY_CLAIM: &str = "ttl: origin, per: \"${claim('sub')}\"";

/// A token of this user, signed by whoever.
fn token(user: &str, signature: &str) -> String {
    let part = |text: &str| BASE64_URL_SAFE_NO_PAD.encode(text);
    let claims = format!("{{\"sub\":\"{user}\"}}");
    format!("Authorization: Bearer {}.{}.{}", part("{\"alg\":\"HS256\"}"), part(&claims), part(signature))
}

fn purge(fleetfoot: &Fleetfoot, what: &str) -> Answer {
    let request = format!(
        "POST /cache/purge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{what}",
        what.len()
    );
    let answer = RawClient::connect(fleetfoot.admin()).ask(request);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer
}

#[test]
fn each_user_has_answers_of_their_own() {
    each_way(|way| {
        let origin = reflecting(PRIVATE);
        let fleetfoot = cached_with(&origin, BY_FIELD);
        for user in ["anna", "bert", "anna, bert"] {
            let fields = format!("X-User: {user}");
            let first = way.get(&fleetfoot, "/", &fields);
            assert!(!first.is_hit(), "{user}: {first:?}");
            let again = way.get(&fleetfoot, "/", &fields);
            assert!(again.is_hit(), "{user}: {again:?}");
            assert_eq!(again.text(), format!("{user} - -"));
        }
        assert_eq!(origin.requests().len(), 3);
    });
}

#[test]
fn answers_to_credentials_and_cookies_are_kept_for_their_user() {
    each_way(|way| {
        for said in [PRIVATE, "Cache-Control: max-age=600"] {
            let origin = reflecting(said);
            let fleetfoot = cached_with(&origin, BY_FIELD);
            let fields = "X-User: anna\nAuthorization: Bearer a\nCookie: c=d";
            way.get(&fleetfoot, "/", fields);
            let again = way.get(&fleetfoot, "/", fields);
            assert!(again.is_hit(), "{said}: {again:?}");
            assert_eq!(again.text(), "anna Bearer a c=d");
        }
    });
}

#[test]
fn a_claim_tells_users_apart() {
    each_way(|way| {
        let origin = reflecting(PRIVATE);
        let fleetfoot = cached_with(&origin, BY_CLAIM);
        for user in ["anna", "bert"] {
            let fields = token(user, "signed");
            let first = way.get(&fleetfoot, "/", &fields);
            let again = way.get(&fleetfoot, "/", &fields);
            assert!(!first.is_hit() && again.is_hit(), "{user}: {first:?} {again:?}");
            assert_eq!(first.text(), again.text());
        }
    });
}

#[test]
fn whoever_only_writes_anothers_name_gets_nothing_of_theirs() {
    each_way(|way| {
        let origin = reflecting(PRIVATE);
        let fleetfoot = cached_with(&origin, BY_CLAIM);
        let own = token("anna", "signed");
        way.get(&fleetfoot, "/", &own);
        assert!(way.get(&fleetfoot, "/", &own).is_hit());
        for forged in [
            token("anna", "forged"),
            token("anna", ""),
            own.replace("Bearer", "bearer"),
            format!("{own} "),
            format!("{own}\nX-User: anna"),
        ] {
            let same = forged.trim_end() == own || forged.starts_with(&format!("{own}\n"));
            let answer = way.get(&fleetfoot, "/", &forged);
            assert_eq!(answer.is_hit(), same, "{forged}: {answer:?}");
        }
        // And what the forger brings home is not what the user gets.
        assert!(way.get(&fleetfoot, "/", &own).text().contains(own.trim_start_matches("Authorization: ")));

        let origin = reflecting(PRIVATE);
        let fleetfoot = cached_with(&origin, BY_FIELD);
        way.get(&fleetfoot, "/", "X-User: anna\nAuthorization: Bearer a");
        for fields in ["X-User: anna", "X-User: anna\nAuthorization: Bearer b"] {
            assert!(!way.get(&fleetfoot, "/", fields).is_hit(), "{fields}");
        }
    });
}

#[test]
fn who_has_no_name_is_anonymous() {
    each_way(|way| {
        let origin = reflecting(PRIVATE);
        let fleetfoot = cached_with(&origin, BY_FIELD);
        way.get(&fleetfoot, "/", "X-User: anna");
        for fields in ["", "X-User: ", "Cookie: a=b", "Authorization: Bearer a"] {
            for _ in 0..2 {
                let answer = way.get(&fleetfoot, "/", fields);
                assert!(!answer.is_hit(), "{fields:?}: {answer:?}");
                assert!(!answer.text().contains("anna"));
            }
        }
        // What all may have, all anonymous ones share; those with a name do not.
        let origin = reflecting("Cache-Control: max-age=600");
        let fleetfoot = cached_with(&origin, BY_FIELD);
        way.get(&fleetfoot, "/", "");
        assert!(way.get(&fleetfoot, "/", "").is_hit());
        assert!(!way.get(&fleetfoot, "/", "X-User: anna").is_hit());
        // Credentials without a name are stored for nobody, unless the answer says so.
        way.get(&fleetfoot, "/own", "Authorization: Bearer a");
        assert!(!way.get(&fleetfoot, "/own", "Authorization: Bearer a").is_hit());
        assert_eq!(way.get(&fleetfoot, "/own", "").text(), "- - -");
    });
}

#[test]
fn no_store_and_set_cookie_hold_for_users_too() {
    each_way(|way| {
        for said in ["Cache-Control: no-store", "Cache-Control: private, max-age=600\nSet-Cookie: a=b"] {
            let origin = reflecting(said);
            let fleetfoot = cached_with(&origin, BY_FIELD);
            for _ in 0..2 {
                assert!(!way.get(&fleetfoot, "/", "X-User: anna").is_hit(), "{said}");
            }
        }
    });
}

#[test]
fn a_user_is_forgotten_by_their_tag_alone() {
    each_way(|way| {
        let origin = reflecting(PRIVATE);
        for (cache, anna, bert) in [
            (BY_FIELD, "X-User: anna".to_owned(), "X-User: bert".to_owned()),
            (BY_CLAIM, token("anna", "signed"), token("bert", "signed")),
        ] {
            let fleetfoot = cached_with(&origin, cache);
            for target in ["/1", "/2"] {
                way.get(&fleetfoot, target, &anna);
                way.get(&fleetfoot, target, &bert);
            }
            assert!(way.get(&fleetfoot, "/1", &anna).is_hit());
            purge(&fleetfoot, "{\"tag\":\"user:anna\"}");
            for target in ["/1", "/2"] {
                assert!(!way.get(&fleetfoot, target, &anna).is_hit(), "{target} of {anna}");
                assert!(way.get(&fleetfoot, target, &bert).is_hit(), "{target} of {bert}");
            }
        }
    });
}

#[test]
fn a_part_and_a_head_of_a_users_answer_are_that_users() {
    each_way(|way: Way| {
        let origin = reflecting(PRIVATE);
        let fleetfoot = cached_with(&origin, BY_FIELD);
        way.get(&fleetfoot, "/", "X-User: anna");
        let part = way.get(&fleetfoot, "/", "X-User: anna\nRange: bytes=0-3");
        assert_eq!((part.status, part.text().as_str(), part.is_hit()), (206, "anna", true));
        let head = way.ask(&fleetfoot, &Asked { method: "HEAD", ..Asked::get("/", "X-User: bert") });
        assert!(!head.is_hit(), "{head:?}");
    });
}

#[test]
fn one_users_simultaneous_requests_share_a_fetch_and_two_users_do_not() {
    each_way(|way| {
        let origin = Origin::start();
        let gate = Gate::new();
        let held = gate.clone();
        origin.on("*").answer(move |request| {
            held.wait();
            ok(PRIVATE, request.field("X-User").unwrap_or("-"))
        });
        let fleetfoot = cached_with(&origin, BY_FIELD);
        std::thread::scope(|scope| {
            let ask = |user: &'static str| {
                let fleetfoot = &fleetfoot;
                (user, scope.spawn(move || way.get(fleetfoot, "/", &format!("X-User: {user}")).text()))
            };
            let asking: Vec<_> = ["anna", "bert", "anna", "bert", "anna"].map(ask).into();
            origin.wait_for(2, "GET /");
            gate.open();
            for (user, answer) in asking {
                assert_eq!(answer.join().expect("an answer"), user);
            }
        });
        assert_eq!(origin.count("GET /"), 2);
    });
}
