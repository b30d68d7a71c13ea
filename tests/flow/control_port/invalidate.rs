//! What a route's `invalidate` rules and the origin's `Cache-Group-Invalidation` make the cache forget after a write, and
//! that it happens before the writer hears of its success.

use testkit::{Answer, Fleetfoot, Gate, Origin, Script, ok, status};

use crate::setup::each;

fn config(origin: &Origin) -> String {
    format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\ncores: 2\nsources: {{ api: {{ http: \"{}\" }} }}\n\
         policies: {{ public: {{ cache: {{ ttl: origin, stale: 1h, tags: [Cache-Tag], key: {{ sort: true }} }} }} }}\n\
         routes:\n\
         - {{ match: GET /**, proxy: api, use: public }}\n\
         - match: \"POST /users/{{id}}\"\n  proxy: api\n  invalidate:\n\
         \x20   - url: \"/users/${{path.id}}/orders\"\n\
         \x20   - url: \"/lists?of=${{path.id}}&by=date\"\n\
         \x20   - prefix: /feeds/\n\
         \x20   - tag: \"user-${{path.id}}\"\n\
         \x20   - {{ tag: \"soft-${{path.id}}\", soft: true }}\n\
         \x20   - url: \"${{header('X-Also')}}\"\n\
         - {{ match: /**, proxy: api }}\n",
        origin.url()
    )
}

const STORED: [&str; 9] = [
    "/users/7",
    "/users/7/orders",
    "/users/7/orders?page=2",
    "/users/8/orders",
    "/lists?by=date&of=7",
    "/lists?by=name&of=7",
    "/feeds/all",
    "/tagged",
    "/other",
];

fn shop() -> Origin {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
    origin.on("GET /tagged").reply(ok("Cache-Control: max-age=600\nCache-Tag: user-7", "x"));
    origin
}

fn write(fleetfoot: &Fleetfoot, target: &str, fields: &str) -> Answer {
    fleetfoot.send("POST", target, &format!("Content-Length: 0\n{fields}"))
}

/// Those that are gone after a write with this answer.
fn gone(target: &str, answer: &str, fields: &str) -> Vec<&'static str> {
    let origin = shop();
    origin.on(&format!("POST {target}")).reply(status(answer, "", ""));
    let fleetfoot = Fleetfoot::start(&config(&origin));
    for stored in STORED {
        fleetfoot.get(stored);
    }
    write(&fleetfoot, target, fields);
    STORED.into_iter().filter(|stored| !fleetfoot.get(stored).is_hit()).collect()
}

#[test]
fn a_write_forgets_what_its_route_names() {
    let all = [
        "/users/7",
        "/users/7/orders",
        "/users/7/orders?page=2",
        "/lists?by=date&of=7",
        "/feeds/all",
        "/tagged",
    ];
    for answer in ["200 OK", "201 Created", "204 No Content", "303 See Other"] {
        assert_eq!(gone("/users/7", answer, ""), all, "{answer}");
    }
    assert_eq!(gone("/users/8", "200 OK", ""), ["/users/8/orders", "/feeds/all"]);
    assert_eq!(gone("/users/9", "200 OK", "X-Also: /other"), ["/feeds/all", "/other"]);
}

#[test]
fn a_failed_write_forgets_nothing() {
    for answer in
        ["400 Bad Request", "401 Unauthorized", "404 Not Found", "409 Conflict", "500 Internal Server Error"]
    {
        assert_eq!(gone("/users/7", answer, ""), [""; 0], "{answer}");
    }
}

#[test]
fn a_soft_rule_makes_stale() {
    let origin = shop();
    let fields = "Cache-Control: max-age=600\nCache-Tag: soft-7";
    origin.on("GET /soft").replies([ok(fields, "old"), ok(fields, "new")]);
    let mut fleetfoot = Fleetfoot::start(&config(&origin));
    fleetfoot.get("/soft");
    write(&fleetfoot, "/users/7", "");
    assert_eq!(fleetfoot.get("/soft").text(), "old");
    fleetfoot.wait_until("fetched anew", |fleetfoot| fleetfoot.get("/soft").text() == "new");
}

#[test]
fn segments_are_values_and_never_more() {
    // What a client writes into the path stays one path below one host, or one tag.
    let rows =
        ["/users/**", "/users/%2e%2e%2f", "/users/7%3Fx", "/users/7%2Forders", "/users/%0a", "/users/,"];
    each(rows.map(|target| (target, target)), |_, target| {
        assert!(!gone(target, "200 OK", "").contains(&"/other"));
    });
}

#[test]
fn who_wrote_reads_what_was_written() {
    let origin = Origin::start();
    let (gate, version) = (Gate::new(), std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0)));
    let (read, written) = (std::sync::Arc::clone(&version), std::sync::Arc::clone(&version));
    let held = gate.clone();
    origin.on("GET /users/7/orders").answer(move |request| {
        // Read before the write, told after it.
        let seen = read.load(std::sync::atomic::Ordering::SeqCst);
        let answer = ok("Cache-Control: max-age=600", seen.to_string());
        if request.field("X-Slow").is_some() { Script::new().wait(&held).then(answer) } else { answer }
    });
    origin.on("POST /users/7").answer(move |_| {
        written.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        ok("", "")
    });
    let fleetfoot = Fleetfoot::start(&config(&origin));
    for round in 1..=20 {
        fleetfoot.get("/users/7/orders");
        write(&fleetfoot, "/users/7", "");
        assert_eq!(fleetfoot.get("/users/7/orders").text(), round.to_string());
    }
    // Also where a fetch is on its way that began before.
    write(&fleetfoot, "/users/7", "");
    let mut slow = fleetfoot.connect();
    slow.send("GET /users/7/orders HTTP/1.1\r\nHost: example.test\r\nX-Slow: 1\r\n\r\n");
    origin.wait_for(22, "GET /users/7/orders");
    write(&fleetfoot, "/users/7", "");
    let mut after = fleetfoot.connect();
    after.send("GET /users/7/orders HTTP/1.1\r\nHost: example.test\r\n\r\n");
    gate.open();
    slow.read_answer();
    assert_eq!(after.read_answer().text(), "22");
    assert_eq!(fleetfoot.get("/users/7/orders").text(), "22");
}

#[test]
fn groups_that_an_answer_names_are_forgotten_on_that_host_only() {
    let rows = [
        ("200 OK", "Cache-Group-Invalidation: \"scores\"", "example.test", false),
        ("200 OK", "Cache-Group-Invalidation: \"other\", \"scores\"", "example.test", false),
        ("200 OK", "Cache-Group-Invalidation: \"other\"", "example.test", true),
        ("200 OK", "Cache-Group-Invalidation: scores", "example.test", true),
        ("500 Internal Server Error", "Cache-Group-Invalidation: \"scores\"", "example.test", true),
        ("200 OK", "Cache-Group-Invalidation: \"scores\"", "other.test", true),
    ];
    let rows = rows.map(|(answer, fields, host, kept)| {
        (format!("{answer} {fields} {host}"), (answer, fields, host, kept))
    });
    each(rows, |_, (answer, fields, host, kept)| {
        let origin = shop();
        origin.on("GET /game").reply(ok("Cache-Control: max-age=600\nCache-Groups: \"scores\"", "x"));
        origin.on("POST /goal").reply(status(answer, fields, ""));
        origin.on("GET /goal").reply(ok(&format!("Cache-Control: no-store\n{fields}"), ""));
        let fleetfoot = Fleetfoot::start(&config(&origin));
        fleetfoot.get("/game");
        fleetfoot.get("/goal");
        assert!(fleetfoot.get("/game").is_hit(), "a GET makes nothing invalid");
        fleetfoot.connect().ask(format!("POST /goal HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n"));
        assert_eq!(fleetfoot.get("/game").is_hit(), kept);
    });
}

/// More than can be looked at one by one, in less time than a sweep takes to come round.
#[test]
fn thousands_of_writes_forget_what_they_name_and_nothing_else() {
    const WRITES: usize = 6_000;
    const CLIENTS: usize = 8;
    let origin = shop();
    let text = config(&origin).replace("prefix: /feeds/", "prefix: \"/users/${path.id}/\"");
    let fleetfoot = Fleetfoot::start(&text);
    fleetfoot.get("/other");
    fleetfoot.get("/users/5999/orders");
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let mut line = fleetfoot.connect();
            scope.spawn(move || {
                for id in (client..WRITES).step_by(CLIENTS) {
                    let head = format!(
                        "POST /users/{id} HTTP/1.1\r\nHost: example.test\r\nContent-Length: 0\r\n\r\n"
                    );
                    assert_eq!(line.ask(head).status, 200);
                }
            });
        }
    });
    assert!(fleetfoot.get("/other").is_hit());
    assert!(!fleetfoot.get("/users/5999/orders").is_hit());
    assert_eq!(fleetfoot.metrics().count("fleetfoot_cache_folded_purges_total"), 0);
}
