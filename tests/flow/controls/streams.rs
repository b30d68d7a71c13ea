//! Streams of events have no end: whatever the policy gives, each reader has one of their own, from its first byte on.

use testkit::{Gate, Origin, Script};

use crate::setup::{cached_with, each};

#[test]
fn nobody_reads_along_with_another_ones_stream() {
    let rows =
        [("ttl: 1m", ""), ("mode: force, ttl: 1m", ""), ("ttl: 1m", "Cache-Control: public, max-age=60\r\n")];
    each(rows.map(|row| (row.0, row)), |_, (cache, said)| {
        let origin = Origin::start();
        let gate = Gate::new();
        let head = format!("HTTP/1.1 200 OK\r\n{said}Content-Type: text/event-stream\r\n\r\ndata: first\n\n");
        origin.on("/events").reply(Script::from(head.as_str()).wait(&gate).close());
        let fleetfoot = cached_with(&origin, cache);
        std::thread::scope(|scope| {
            let one = scope.spawn(|| fleetfoot.get("/events"));
            origin.wait_for(1, "GET /events");
            // The first is still being read: who comes now does not read along.
            let other = scope.spawn(|| fleetfoot.get("/events"));
            origin.wait_for(2, "GET /events");
            gate.open();
            for answer in [one.join().expect("an answer"), other.join().expect("an answer")] {
                assert_eq!(answer.text(), "data: first\n\n");
                assert!(answer.cache_status().contains("detail=endless"), "{answer:?}");
            }
        });
        fleetfoot.get("/events");
        assert_eq!(origin.count("GET /events"), 3, "nothing was stored");
    });
}
