//! THREATS C: whatever changes an answer is in its key, or does not reach the origin.

use testkit::{Fleetfoot, Origin, RawClient, Script, ok, status};

use crate::setup::{cached, cached_with, config_with, each};

/// Answers with everything it was told, and calls that public.
fn reflecting() -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let seen =
            format!("{}\n{}", String::from_utf8_lossy(&request.raw), String::from_utf8_lossy(&request.body));
        ok("Cache-Control: public, max-age=600", seen)
    });
    origin
}

#[test]
fn forwarding_fields_of_strangers_are_overwritten() {
    let origin = reflecting();
    let fleetfoot = cached(&origin);
    let fields = [
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "X-Forwarded-Scheme",
        "X-Forwarded-Port",
        "X-Forwarded-Server",
        "X-Forwarded-Prefix",
        "X-Real-IP",
        "True-Client-IP",
        "X-Host",
        "X-Original-URL",
        "X-Rewrite-URL",
        "X-HTTP-Method-Override",
        "X-HTTP-Method",
        "X-Method-Override",
    ];
    each(fields.map(|field| (field, field)), |_, field| {
        let target = format!("/{field}");
        fleetfoot.get_with(&target, &format!("{field}: evil.test"));
        let second = fleetfoot.get(&target);
        assert!(!second.text().contains("evil.test"), "{}", second.text());
    });
    fleetfoot.get_with("/forwarded", "Forwarded: for=evil.test;host=evil.test;proto=evil");
    assert!(!fleetfoot.get("/forwarded").text().contains("evil.test"));
}

#[test]
fn the_key_is_what_the_origin_sees() {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok("Cache-Control: max-age=600", &request.target));
    let fleetfoot = cached(&origin);
    let targets = [
        "/",
        "//",
        "/a",
        "/a/",
        "/A",
        "/b",
        "/a//b",
        "/a/b",
        "/a%2Fb",
        "/a%5Cb",
        "/a;x",
        "/a;",
        "/a.",
        "/a%20",
        "/a+",
        "/%C0%AF",
        "/a?",
        "/a?b",
        "/a?b=",
        "/a?b=1",
        "/a?b=1&b=2",
        "/a?b=2&b=1",
        "/a?b=1;b=2",
        "/a?B=1",
        "/a?b=%31",
        "/a?=1",
        "/a?b=%26c=1",
        "/a?b=&c=1",
        "/a?b=+",
        "/a?b=%20",
        "/a?b=%00",
        "/a?b=1&",
        "/a??b=1",
        "/a?utm_source=x",
    ];
    for round in 0..2 {
        each(targets.map(|target| (target, target)), |_, target| {
            let answer = fleetfoot.get(target);
            assert_eq!((answer.text().as_str(), answer.is_hit()), (target, round == 1));
        });
    }
    // Spellings that every reader takes for the same are one for the origin too.
    for (spelling, target) in
        [("/%61", "/a"), ("/a%2fb", "/a%2Fb"), ("/a%5cb", "/a%5Cb"), ("/%41", "/A"), ("/a%2E", "/a.")]
    {
        let answer = fleetfoot.get(spelling);
        assert!(answer.is_hit() && answer.text() == target, "{spelling}: {answer:?}");
    }
}

#[test]
fn a_host_has_one_form_in_the_key() {
    let origin = Origin::start();
    origin
        .on("*")
        .answer(|request| ok("Cache-Control: max-age=600", request.field("Host").unwrap_or_default()));
    let fleetfoot = cached(&origin);
    let ask = |host: &str| fleetfoot.connect().ask(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    let first = ask("one.test").text();
    for same in ["ONE.test", "one.test:80", "one.test.", "One.Test.:80"] {
        let answer = ask(same);
        assert!(answer.is_hit(), "{same}");
        assert_eq!(answer.text(), first);
    }
    for other in ["two.test", "one.test:81", "xone.test", "one.tes"] {
        assert!(!ask(other).is_hit(), "{other}");
    }
    let absolute = fleetfoot.connect().ask("GET http://one.test/ HTTP/1.1\r\nHost: one.test\r\n\r\n");
    assert!(absolute.is_hit(), "{absolute:?}");
}

#[test]
fn an_absolute_target_reaches_no_other_server() {
    let (origin, other) = (Origin::start(), Origin::start());
    origin.on("*").reply(ok("", "mine"));
    let fleetfoot = cached(&origin);
    let host = other.address();
    let answer = fleetfoot.connect().ask(format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert_eq!(answer.text(), "mine");
    assert_eq!(other.connections(), 0);
}

#[test]
fn a_head_never_fills_a_get_and_other_methods_have_keys_of_their_own() {
    let origin = Origin::start();
    origin.on("HEAD /").reply("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 4\r\n\r\n");
    origin.on("GET /").reply(ok("Cache-Control: max-age=600", "full"));
    origin.on("POST /").reply(ok("Cache-Control: max-age=600", "made"));
    let fleetfoot = cached(&origin);
    assert_eq!(fleetfoot.send("HEAD", "/", "").status, 200);
    assert_eq!(fleetfoot.send("POST", "/", "").text(), "made");
    assert_eq!(fleetfoot.get("/").text(), "full");
    assert_eq!(fleetfoot.send("POST", "/", "").text(), "made");
    assert_eq!(origin.count("POST /"), 2);
}

#[test]
fn content_of_a_get_changes_nobody_elses_answer() {
    let origin = reflecting();
    let fleetfoot = cached(&origin);
    fleetfoot.connect().ask("GET / HTTP/1.1\r\nHost: example.test\r\nContent-Length: 9\r\n\r\nevil body");
    assert!(!fleetfoot.get("/").text().contains("evil body"));
}

#[test]
fn values_in_the_key_do_not_run_together() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let seen = format!("{:?} {:?}", request.field("X-A"), request.field("X-B"));
        ok("Cache-Control: max-age=600\nVary: X-A, X-B", seen)
    });
    let fleetfoot = cached(&origin);
    let requests =
        ["X-A: a\nX-B: b", "X-A: ab\nX-B:", "X-A:\nX-B: ab", "X-A: ab", "X-B: ab", "X-A: a, X-B: b", ""];
    let answers = requests.map(|fields| fleetfoot.get_with("/", fields).text());
    for (fields, answer) in requests.iter().zip(&answers) {
        assert_eq!(&fleetfoot.get_with("/", fields).text(), answer, "{fields:?}");
    }
}

#[test]
fn a_flood_of_variants_is_capped() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        ok("Cache-Control: max-age=600\nVary: X-A", request.field("X-A").unwrap_or_default())
    });
    let fleetfoot = cached_with(&origin, "ttl: origin, variants: 4");
    for n in 0..50 {
        assert_eq!(fleetfoot.get_with("/", &format!("X-A: {n}")).text(), n.to_string());
    }
    assert!(fleetfoot.get_with("/", "X-A: 49").is_hit());
    assert!(!fleetfoot.get_with("/", "X-A: 0").is_hit());
    let kept = (0..50).filter(|n| {
        fleetfoot.get_with("/", &format!("X-A: {n}\nCache-Control: only-if-cached")).status == 200
    });
    assert!(kept.count() <= 4);
}

#[test]
fn a_part_is_never_taken_for_the_whole() {
    let origin = Origin::start();
    origin.on("*").answer(|request| match request.field("Range") {
        Some(_) => Script::from(
            "HTTP/1.1 206 Partial Content\r\nCache-Control: max-age=600\r\nContent-Range: bytes 0-1/6\r\n\
             Content-Length: 2\r\n\r\nab",
        ),
        None => ok("Cache-Control: max-age=600", "abcdef"),
    });
    let fleetfoot = cached(&origin);
    fleetfoot.get_with("/", "Range: bytes=0-1");
    assert_eq!(fleetfoot.get("/").text(), "abcdef");
    fleetfoot.get_with("/other", "Range: bytes=0-1\nIf-Range: \"x\"");
    assert_eq!(fleetfoot.get("/other").text(), "abcdef");
}

#[test]
fn a_304_or_412_for_one_client_is_not_stored_for_all() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        if request.field("If-None-Match").is_some() {
            return Script::from(
                "HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=600\r\nETag: \"a\"\r\n\r\n",
            );
        }
        if request.field("If-Match").is_some() {
            return status("412 Precondition Failed", "Cache-Control: max-age=600", "no");
        }
        ok("Cache-Control: max-age=600\nETag: \"a\"", "full")
    });
    let fleetfoot = cached(&origin);
    for fields in ["If-None-Match: \"a\"", "If-Match: \"b\""] {
        let _either_way = fleetfoot.get_with("/", fields);
        let answer = fleetfoot.get("/");
        assert_eq!((answer.status, answer.text().as_str()), (200, "full"), "after {fields}");
    }
}

/// Each origin repeats a piece of one client's request in a way of its own, and calls that public.
#[test]
fn what_an_answer_repeats_of_one_request_reaches_no_other() {
    let origin = Origin::start();
    let fleetfoot = cached_with(&origin, "ttl: 10m");
    let rows = [
        ("other letters", "X-Any: Evil-Value-1", "EVIL-VALUE-1"),
        ("a cookie", "Cookie: a=1; b=evil-value-1", "evil-value-1"),
        ("a member", "X-Any: first, evil-value-1", "evil-value-1"),
        ("a parameter", "X-Any: x; y=\"evil-value-1\"", "evil-value-1"),
        ("slashes of JSON", "X-Any: //evil.test/x", "{\"next\":\"\\/\\/evil.test\\/x\"}"),
        ("decimal", "X-Any: <b>'x'", "&#60;b&#62;&#39;x&#39;"),
        ("hexadecimal", "X-Any: <b>'x'", "&#x3C;b&#x3e;&#x27;x&#x27;"),
        ("JavaScript", "X-Any: <b>'x'", "\\u003cb\\u003E\\u0027x\\x27"),
        ("a form", "X-Any: evil value", "q=evil+value"),
        ("small percent", "X-Any: <b>'x'", "%3cb%3e%27x%27"),
        ("a host without its port", "X-Any: evil.test:8443", "https://evil.test/"),
        ("a short host", "X-Any: x.io", "//x.io/"),
        ("a short path", "X-Any: /x", "href=/x/login"),
        ("a short end", "X-Any: \"><", "value=\"\"><\""),
    ];
    each(rows.iter().enumerate().map(|row| (row.1.0, row)), |_, (number, (_, fields, repeated))| {
        let target = format!("/repeated/{number}");
        let fresh = "Cache-Control: public, max-age=600";
        origin.on(&target).replies([ok(fresh, repeated), ok(fresh, "clean")]);
        assert_eq!(fleetfoot.get_with(&target, fields).text(), *repeated);
        assert_eq!(fleetfoot.get(&target).text(), "clean");
        assert!(fleetfoot.get(&target).is_hit());
        assert!(fleetfoot.get_with(&target, fields).is_hit(), "who asked so has it");
    });
}

/// No field of the request holds it: the origin has it from us.
#[test]
fn an_answer_that_repeats_the_clients_address_is_not_stored() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let told = request.field("X-Forwarded-For").unwrap_or("nobody").to_owned();
        match request.target.as_str() {
            "/content" => ok("Cache-Control: public, max-age=600", format!("{{\"you\":\"{told}\"}}")),
            "/field" => ok(&format!("Cache-Control: public, max-age=600\nX-You: {told}"), "x"),
            "/confirmed" if request.field("If-None-Match").is_some() => {
                status("304 Not Modified", &format!("Cache-Control: public, max-age=600\nX-You: {told}"), "")
            }
            "/confirmed" => ok("Cache-Control: public, max-age=600\nETag: \"1\"", "for all"),
            "/part" => {
                let part = format!("you come from {told:<15}");
                let fields = format!(
                    "Cache-Control: max-age=600\nETag: \"1\"\nContent-Range: bytes 0-{}/99",
                    part.len() - 1
                );
                status("206 Partial Content", &fields, part)
            }
            _ => ok("Cache-Control: public, max-age=600", "for all"),
        }
    });
    let listen = "listen: { http: 127.0.0.1:0, admin: 127.0.0.1:0, proxy_protocol: true }";
    let fleetfoot = Fleetfoot::start(&config_with(origin.address(), "ttl: origin", listen));
    let ask = |target: &str, address: &str, fields: &str| {
        let mut client = RawClient::connect(fleetfoot.address());
        client.send(format!("PROXY TCP4 {address} 192.0.2.1 1234 80\r\n"));
        client.ask(format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n"))
    };
    for address in ["198.51.100.7", "198.51.100.8", "198.51.100.7"] {
        assert_eq!(ask("/content", address, "").text(), format!("{{\"you\":\"{address}\"}}"));
        let answer = ask("/field", address, "");
        assert_eq!(answer.field("X-You"), Some(address), "{answer:?}");
        assert!(!answer.is_hit());
    }
    ask("/other", "198.51.100.7", "");
    assert!(ask("/other", "198.51.100.8", "").is_hit(), "addresses alone keep nobody apart");
    // What only confirms a stored answer, and what is a part of one.
    ask("/confirmed", "198.51.100.7", "");
    let confirmed = ask("/confirmed", "198.51.100.7", "Cache-Control: no-cache\r\n");
    assert_eq!(confirmed.field("X-You"), Some("198.51.100.7"), "{confirmed:?}");
    let other = ask("/confirmed", "198.51.100.8", "");
    assert!(other.is_hit() && !other.has("X-You"), "{other:?}");
    for address in ["198.51.100.7", "198.51.100.8"] {
        let part = ask("/part", address, "Range: bytes=0-28\r\n");
        assert!(part.status == 206 && part.text().contains(address), "{part:?}");
    }
}

/// More than anybody sends is not looked for: the answer is the asker's own.
#[test]
fn what_is_too_much_to_look_for_is_its_askers_own() {
    let origin = Origin::start();
    let fleetfoot = cached_with(&origin, "ttl: 10m");
    origin.on("/").replies([ok("", "x"), ok("", "clean")]);
    let long = (0..1000).map(|number| format!("evil-{number:04}-value")).collect::<Vec<_>>().join(",");
    fleetfoot.get_with("/", &format!("X-Any: {long}"));
    assert_eq!(fleetfoot.get("/").text(), "clean");
}
