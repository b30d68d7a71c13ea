//! Clients that ask for much and read nothing: what they hold is bounded, and nobody waits for them.

use testkit::{Fleetfoot, Footprint, Gate, Origin, RawClient, Script, ok};

use crate::setup::{cached_with, each, until_taken_up};

/// Above most of what sockets buffer, and below `max_body`.
const SIZE: usize = 7 * 1024 * 1024;
const MEMORY: usize = 64 * 1024 * 1024;
/// What a connection may cost besides.
const CONNECTION: usize = 32 * 1024;

fn ask(target: &str, fields: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: example.test\r\n{fields}\r\n")
}

/// Answers all with as much, which may be kept; `/small` with little.
fn generous(framing: &'static str) -> Origin {
    let gate = Gate::new();
    gate.open();
    generous_behind(gate, framing)
}

fn generous_behind(gate: Gate, framing: &'static str) -> Origin {
    let origin = Origin::start();
    let content = vec![b'x'; SIZE];
    origin.on("*").talk(move |connection| {
        gate.wait();
        connection.send(format!(
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nETag: \"1\"\r\n{framing}\r\n\r\n"
        ));
        let is_chunked = framing.starts_with("Transfer");
        for piece in content.chunks(64 * 1024) {
            if is_chunked {
                connection.send(format!("{:x}\r\n", piece.len()));
            }
            connection.send(piece);
            if is_chunked {
                connection.send("\r\n");
            }
        }
        if is_chunked {
            connection.send("0\r\n\r\n");
        }
    });
    origin.on("/small").reply(ok("Cache-Control: max-age=600", "small"));
    origin
}

const LENGTH: &str = "Content-Length: 7340032";
const CHUNKED: &str = "Transfer-Encoding: chunked";

/// A client that asks and reads nothing.
fn silent(fleetfoot: &Fleetfoot, target: &str, fields: &str) -> RawClient {
    let mut client = RawClient::connect_narrow(fleetfoot.address());
    client.send(ask(target, fields));
    client
}

/// How much more is resident at most than before, with so many connections.
fn bound(connections: usize) -> usize {
    MEMORY + MEMORY / 4 + connections * CONNECTION
}

fn grown(fleetfoot: &Fleetfoot, before: Footprint) -> usize {
    Footprint::of(fleetfoot.pid()).peak.saturating_sub(before.resident)
}

/// What it holds once it has stored little and passed on much.
fn warm(fleetfoot: &Fleetfoot) -> Footprint {
    fleetfoot.get("/small");
    fleetfoot.get_with("/warm", "Cache-Control: no-store");
    Footprint::of(fleetfoot.pid())
}

/// So many ask for one answer each, and read nothing.
fn each_of_its_own(count: usize, framing: &'static str) -> usize {
    let origin = generous(framing);
    let fleetfoot = cached_with(&origin, "ttl: origin");
    let before = warm(&fleetfoot);
    let clients: Vec<_> = (0..count).map(|number| silent(&fleetfoot, &format!("/{number}"), "")).collect();
    for number in 0..count {
        origin.wait_for(1, &format!("GET /{number}"));
    }
    // Others have their answers as ever.
    assert_eq!(fleetfoot.get("/small").text(), "small");
    assert_eq!(fleetfoot.get("/another").body.len(), SIZE);
    drop(clients);
    grown(&fleetfoot, before)
}

#[test]
fn what_silent_readers_hold_is_bounded_by_memory() {
    each([("of a length", LENGTH), ("chunked", CHUNKED)], |_, framing| {
        let grown = each_of_its_own(300, framing);
        assert!(grown <= bound(300), "{} KiB more", grown / 1024);
    });
}

/// The figures for many: `cargo test -p tests --test flow thousands_of_silent -- --ignored --nocapture`.
#[test]
#[ignore = "takes long: run by hand"]
fn thousands_of_silent_readers_cost_no_more_than_memory_and_a_little_each() {
    for count in [300, 1_000, 3_000] {
        for framing in [LENGTH, CHUNKED] {
            let grown = each_of_its_own(count, framing);
            #[allow(clippy::print_stderr, reason = "the figure is what it is run for")]
            {
                eprintln!(
                    "{count} silent readers, {framing}: {} MiB, at most {}",
                    grown >> 20,
                    bound(count) >> 20
                );
            }
            assert!(grown <= bound(count), "{count}: {} KiB more", grown / 1024);
        }
    }
}

/// Pushed out, purged or replaced, it is held by who still reads it.
#[test]
fn what_is_stored_no_more_counts_while_it_is_read() {
    let rows: [(&str, &str, &str); 3] = [
        ("pushed out", "/", ""),
        ("in ranges", "/", "Range: bytes=0-3000000,3500000-7000000\r\n"),
        ("replaced", "", ""),
    ];
    each(rows.map(|row| (row.0, row)), |_, (_, path, fields)| {
        const COUNT: usize = 40;
        let origin = generous(LENGTH);
        let fleetfoot = cached_with(&origin, "ttl: origin");
        let before = warm(&fleetfoot);
        let mut clients = Vec::new();
        for number in 0..COUNT {
            let target = if path.is_empty() { "/replaced".to_owned() } else { format!("{path}{number}") };
            assert_eq!(fleetfoot.get_with(&target, "Cache-Control: no-cache").body.len(), SIZE);
            clients.push(silent(&fleetfoot, &target, fields));
        }
        let grown = grown(&fleetfoot, before);
        assert!(grown <= bound(COUNT), "{} KiB more", grown / 1024);
    });
}

/// What is pushed out leaves no holes that the next content does not fit into.
#[test]
fn contents_of_all_lengths_take_no_more_than_memory_and_a_quarter() {
    const COUNT: usize = 200;
    const LONGEST: usize = 2_000_000;
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let number: usize = request.target.trim_start_matches('/').parse().unwrap_or_default();
        // Spread evenly, and never the same twice.
        ok("Cache-Control: max-age=600", "x".repeat(number * 618_034 % LONGEST))
    });
    let fleetfoot = cached_with(&origin, "ttl: origin");
    let before = warm(&fleetfoot);
    let mut clients = Vec::new();
    for number in 1..=COUNT {
        let target = format!("/{number}");
        fleetfoot.get(&target);
        if number % 10 == 0 {
            clients.push(silent(&fleetfoot, &target, ""));
        }
    }
    let grown = grown(&fleetfoot, before);
    assert!(grown <= bound(clients.len()), "{} KiB more", grown / 1024);
}

/// As long as there is no need, they may take their time (`body_timeout`).
#[test]
fn readers_that_do_not_move_are_cut_loose_when_memory_is_short() {
    let origin = generous(LENGTH);
    let mut fleetfoot = cached_with(&origin, "ttl: origin");
    let mut clients = Vec::new();
    for number in 0..14 {
        let target = format!("/{number}");
        fleetfoot.get(&target);
        clients.push(silent(&fleetfoot, &target, ""));
        until_taken_up(&fleetfoot);
    }
    // What they read has been pushed out, and there is no room for what is asked for next.
    fleetfoot.get("/next");
    assert!(!fleetfoot.get("/next").is_hit());
    fleetfoot.wait_until("stored", |fleetfoot| fleetfoot.get("/next").is_hit());
    let whole = clients.iter_mut().filter_map(|client| client.try_exactly(SIZE)).count();
    assert!(whole < clients.len(), "some were cut loose");
}

/// Chunked and above `max_body`, so that it streams past the cache to all who asked at once.
#[test]
fn a_reader_that_does_not_read_slows_nobody_and_gets_the_rest_alone() {
    let gate = Gate::new();
    let origin = generous_behind(gate.clone(), CHUNKED);
    let fleetfoot = cached_with(&origin, "ttl: origin, max_body: 64KiB");
    let mut lazy = silent(&fleetfoot, "/", "");
    origin.wait_for(1, "GET /");
    let mut others: Vec<_> = (0..3).map(|_| fleetfoot.connect()).collect();
    for client in &mut others {
        client.send(ask("/", ""));
    }
    until_taken_up(&fleetfoot);
    gate.open();
    let answers = std::thread::scope(|scope| {
        let reading: Vec<_> = others.iter_mut().map(|client| scope.spawn(|| client.read_answer())).collect();
        reading.into_iter().map(|one| one.join().expect("an answer")).collect::<Vec<_>>()
    });
    assert!(answers.iter().all(|answer| answer.body.len() == SIZE));
    let answer = lazy.read_answer();
    assert!(answer.body.len() == SIZE && answer.body.iter().all(|byte| *byte == b'x'));
    // One for all, and one for the one left behind; on a busy machine another may fall behind for a moment.
    assert!((2..=4).contains(&origin.count("GET /")), "{}", origin.count("GET /"));
}

#[test]
fn who_goes_on_alone_never_gets_two_answers_in_one() {
    let origin = Origin::start();
    let number = std::sync::atomic::AtomicU8::new(b'a');
    origin.on("GET /").answer(move |_| {
        let letter = number.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let chunk = [format!("{SIZE:x}\r\n").into_bytes(), vec![letter; SIZE], b"\r\n0\r\n\r\n".to_vec()];
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nTransfer-Encoding: chunked\r\n\r\n";
        Script::from(head).send(chunk.concat())
    });
    let fleetfoot = cached_with(&origin, "ttl: origin, max_body: 64KiB");
    let mut lazy = silent(&fleetfoot, "/", "");
    let mut other = fleetfoot.connect();
    assert_eq!(other.ask(ask("/", "")).body.len(), SIZE);
    let got = match lazy.try_answer_to("GET") {
        Ok(answer) => answer.body,
        Err(broken) => broken.text().into_bytes(),
    };
    let has_run = |letter| got.chunks(1000).any(|run| run.iter().all(|byte| *byte == letter));
    assert!(!(has_run(b'a') && has_run(b'b')), "{} bytes of both", got.len());
}
