//! Killed under load, fifty times: what comes out of the folder after each start is whole and right, or is fetched anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};

use serde_json::json;
use testkit::{DEADLINE, Fleetfoot, Origin, RawClient, ok};

use super::folder::config;
use crate::control_port::port::purge;

const KILLS: u64 = 50;

/// Requests of a round before the kill.
const ASKED: usize = 60;

/// Its own name and version, filling that depends on both, and a checksum of all of it.
fn content(target: &str, version: u64) -> Vec<u8> {
    let length = if target.contains("large") { 1_300_000 } else { 300 };
    let mut body = format!("{target} {version}\n").into_bytes();
    let mut word = checksum(&body);
    while body.len() < length {
        word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        body.extend(word.to_le_bytes());
    }
    let sum = checksum(&body);
    body.extend(sum.to_le_bytes());
    body
}

/// FNV-1a, 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The version of this content, which must be that of this target and whole.
fn version(target: &str, body: &[u8]) -> u64 {
    let (rest, sum) = body.split_last_chunk().expect("there is a checksum");
    assert_eq!(checksum(rest).to_le_bytes(), *sum, "{target}: a wrong or torn body of {} bytes", body.len());
    let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = std::str::from_utf8(line).expect("the first line is text");
    let (name, version) = line.split_once(' ').expect("it is two words");
    assert_eq!(name, target, "somebody else's body");
    version.parse().expect("the second one is a number")
}

/// What a round is, for its clients.
#[derive(Clone)]
struct Round {
    number: u64,
    address: std::net::SocketAddr,
    /// Versions before this one were purged.
    least: Arc<AtomicU64>,
    killed: Arc<AtomicBool>,
}

impl Round {
    /// Asks for old and new targets until the connection ends, which is when the program is killed.
    fn ask(self, seed: u64, answered: Sender<()>) -> u64 {
        let (mut client, mut hits, mut word) = (RawClient::connect(self.address), 0, seed);
        loop {
            word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let kind = if (word >> 40) % 5 == 0 { "large" } else { "small" };
            // Mostly of this round and the one before.
            let target =
                format!("/{kind}/{}/{}", self.number.saturating_sub((word >> 33) % 3), (word >> 50) % 12);
            let least = self.least.load(Ordering::SeqCst);
            client.send(format!("GET {target} HTTP/1.1\r\nHost: example.test\r\n\r\n"));
            let Ok(answer) = client.try_answer_to("GET") else {
                assert!(self.killed.load(Ordering::SeqCst), "{target} broke off while the program ran");
                return hits;
            };
            if answer.status == 200 {
                let got = version(&target, &answer.body);
                assert!(got >= least, "{target}: version {got} was purged, {least} is the least");
                hits += u64::from(answer.is_hit());
            }
            let _enough_already = answered.send(());
        }
    }
}

#[test]
fn killed_fifty_times_under_load_it_never_serves_a_wrong_or_torn_body() {
    let (origin, folder) = (Origin::start(), tempfile::tempdir().unwrap());
    let current = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&current);
    origin.on("*").answer(move |request| {
        ok("Cache-Control: max-age=600", content(&request.target, told.load(Ordering::SeqCst)))
    });
    // Little memory: most answers come from the disk.
    let text = config(&origin, folder.path(), "2MiB", "ttl: origin").replace("cores: 1", "cores: 2");
    let least = Arc::new(AtomicU64::new(0));
    let (mut hits, mut recalled) = (0, 0.0);
    for number in 1..=KILLS {
        current.store(number, Ordering::SeqCst);
        let fleetfoot = Fleetfoot::start(&text);
        recalled += fleetfoot.metrics().sum("fleetfoot_disk_records", &[]);
        if number % 7 == 0 {
            purge(&fleetfoot, &json!({"everything": true}));
            least.store(number, Ordering::SeqCst);
        }
        let killed = Arc::new(AtomicBool::new(false));
        let round = Round {
            number,
            address: fleetfoot.address(),
            least: Arc::clone(&least),
            killed: Arc::clone(&killed),
        };
        let (answered, answers) = mpsc::channel();
        let clients: Vec<_> = (0..3)
            .map(|client| {
                let (round, answered) = (round.clone(), answered.clone());
                std::thread::spawn(move || round.ask(number * 31 + client, answered))
            })
            .collect();
        drop(answered);
        for _ in 0..ASKED {
            // A client that failed is told of below.
            if answers.recv_timeout(DEADLINE).is_err() {
                break;
            }
        }
        killed.store(true, Ordering::SeqCst);
        drop(fleetfoot); // kill -9
        hits += clients.into_iter().map(|client| client.join().expect("every body was right")).sum::<u64>();
    }
    assert!(recalled > 100.0, "only {recalled} answers were found at starts: nothing was tested");
    assert!(hits > KILLS, "{hits} hits");
}
