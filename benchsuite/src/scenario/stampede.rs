//! A stampede: 1,000 clients at once on a key that nobody has asked for, whose origin takes a second.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::failure::Result;
use crate::http_client::HttpClient;
use crate::process::pause;
use crate::scenario::outcome::Outcome;
use crate::server::{Kind, Setup};

const CLIENTS: usize = 1_000;

pub(crate) fn stampede() -> Result<Vec<Outcome>> {
    let requests = Arc::new(AtomicU64::new(0));
    let origin = slow_origin(Arc::clone(&requests))?;
    let server = Setup { target: "/quick", ..Setup::of(Kind::Fleetfoot, origin) }.start()?;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(HttpClient::connect(server.address)?);
    }
    let start = Instant::now();
    for client in &mut clients {
        client.send(&["/slow"])?;
    }
    for client in &mut clients {
        client.receive()?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let fetches = requests.load(Ordering::SeqCst);
    Ok(vec![
        Outcome::told("the last of 1,000 clients is answered after", seconds, "s")
            .promised("within 1.2 s", seconds <= 1.2),
        Outcome::told("requests that reached the origin", fetches as f64, "").promised("one", fetches == 1),
    ])
}

/// Takes a second for `/slow`, and counts those.
fn slow_origin(requests: Arc<AtomicU64>) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let requests = Arc::clone(&requests);
            std::thread::spawn(move || answer(stream, &requests));
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream, requests: &AtomicU64) -> std::io::Result<()> {
    let mut bytes = [0; 4096];
    loop {
        let count = stream.read(&mut bytes)?;
        if count == 0 {
            return Ok(());
        }
        if bytes[..count].starts_with(b"GET /slow") {
            requests.fetch_add(1, Ordering::SeqCst);
            pause(Duration::from_secs(1));
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok")?;
    }
}
