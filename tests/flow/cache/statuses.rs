//! Every final status, treated as the RFC says: kept with a lifetime, known or not, and never by accident.

use testkit::{Origin, http_date, ok, status};

use crate::setup::{cached, cached_with};

#[test]
fn any_status_with_a_lifetime_is_kept() {
    let origin = Origin::start();
    let fleetfoot = cached(&origin);
    for code in [
        200, 201, 202, 203, 299, 300, 301, 302, 303, 307, 308, 399, 400, 401, 403, 404, 405, 410, 414, 418,
        421, 451, 499, 500, 501, 502, 503, 504, 599,
    ] {
        let target = format!("/{code}");
        origin.on(&target).reply(status(&format!("{code} Status"), "Cache-Control: max-age=600", "x"));
        assert_eq!(fleetfoot.get(&target).status, code);
        let second = fleetfoot.get(&target);
        assert_eq!((second.status, second.is_hit(), second.text().as_str()), (code, true, "x"));
    }
}

#[test]
fn a_204_has_no_content_and_is_kept() {
    let origin = Origin::start();
    origin.on("*").reply("HTTP/1.1 204 No Content\r\nCache-Control: max-age=600\r\n\r\n");
    let fleetfoot = cached(&origin);
    for _ in 0..2 {
        let answer = fleetfoot.get("/");
        assert_eq!((answer.status, answer.body.len(), answer.has("Content-Length")), (204, 0, false));
    }
    assert!(fleetfoot.get("/").is_hit());
}

#[test]
fn heuristics_are_for_statuses_that_allow_them() {
    let origin = Origin::start();
    let fleetfoot = cached_with(&origin, "ttl: origin, heuristic: 10%");
    let old = format!("Last-Modified: {}", http_date(-1_000_000));
    for (code, kept) in [
        (200, true),
        (203, true),
        (204, true),
        (300, true),
        (301, true),
        (308, true),
        (404, true),
        (410, true),
        (201, false),
        (302, false),
        (303, false),
        (307, false),
        (403, false),
        (500, false),
        (503, false),
        (299, false),
    ] {
        let target = format!("/{code}");
        let content = if code == 204 { "" } else { "x" };
        let script = match code {
            204 => testkit::Script::from(format!("HTTP/1.1 204 No Content\r\n{old}\r\n\r\n")),
            _ => status(&format!("{code} Status"), &old, content),
        };
        origin.on(&target).reply(script);
        fleetfoot.get(&target);
        assert_eq!(fleetfoot.get(&target).is_hit(), kept, "{code}");
    }
    // `public` allows them for any status (RFC 9111 §4.2.2).
    origin.on("/public").reply(status("302 Found", &format!("{old}\nCache-Control: public"), ""));
    fleetfoot.get("/public");
    assert!(fleetfoot.get("/public").is_hit());
}

#[test]
fn an_answer_to_another_method_is_not_kept() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot = cached(&origin);
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get"] {
        fleetfoot.send(method, "/", "");
        assert!(!fleetfoot.send(method, "/", "").is_hit(), "{method}");
        assert_eq!(origin.count(&format!("{method} /")), 2, "{method}");
    }
}
