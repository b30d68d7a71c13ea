//! AsyncClient: asks within a tokio runtime, for tests whose server runs there too, also in paused time. Reads answers as
//! RawClient does.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::answer::method_of;
use super::arrived::Arrived;
use crate::Answer;

/// One connection in cleartext.
///
/// It waits as long as it takes, unless it is given a deadline: paused time runs to the next one as soon as everybody
/// waits, though the answer may be on its way.
pub struct AsyncClient {
    stream: TcpStream,
    arrived: Arrived,
    deadline: Option<Duration>,
}

impl AsyncClient {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await;
        let stream = stream.unwrap_or_else(|error| panic!("cannot connect to {address}: {error}"));
        stream.set_nodelay(true).expect("a fresh socket takes options");
        AsyncClient { stream, arrived: Arrived::default(), deadline: None }
    }

    /// Gives up waiting after this time of tokio's clock.
    #[must_use]
    pub fn deadline(self, time: Duration) -> Self {
        AsyncClient { deadline: Some(time), ..self }
    }

    /// Sends these bytes. That the server has closed already is no error: tests look at what it answered.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _closed_already = self.stream.write_all(bytes.as_ref()).await;
    }

    /// Sends a request and reads its answer; panics where that breaks off.
    pub async fn ask(&mut self, request: impl AsRef<[u8]>) -> Answer {
        let request = request.as_ref();
        self.send(request).await;
        loop {
            match self.arrived.answer(&method_of(request)) {
                Ok(Some(answer)) => return answer.unwrap_or_else(|broken| panic!("{broken}")),
                Ok(None) => self.fill().await,
                Err(malformed) => panic!("{malformed}"),
            }
        }
    }

    /// Everything until the server closes or resets.
    pub async fn read_to_end(&mut self) -> Vec<u8> {
        self.take(Arrived::all).await.unwrap_or_default()
    }

    /// Whether the server ends the connection now, with nothing more to say. Waits for it.
    pub async fn is_closed(&mut self) -> bool {
        self.take(Arrived::something).await.is_none()
    }

    async fn take<T>(&mut self, take: impl Fn(&mut Arrived) -> Option<T>) -> Option<T> {
        loop {
            let taken = take(&mut self.arrived);
            if taken.is_some() || self.arrived.has_ended() {
                return taken;
            }
            self.fill().await;
        }
    }

    async fn fill(&mut self) {
        let read = match self.deadline {
            None => self.arrived.read_from_async(&mut self.stream).await,
            Some(time) => match timeout(time, self.arrived.read_from_async(&mut self.stream)).await {
                Ok(read) => read,
                Err(_) => Err(self.arrived.failed(&io::ErrorKind::TimedOut.into())),
            },
        };
        read.unwrap_or_else(|error| panic!("{error}"));
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::{DEADLINE, Origin, ok, status};

    const REQUEST: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    #[tokio::test]
    async fn reads_answers_one_after_the_other_and_then_the_end() {
        let origin = Origin::start();
        origin.on("*").replies([ok("", "hello"), status("204 No Content", "", "").close()]);
        let mut client = AsyncClient::connect(origin.address()).await.deadline(DEADLINE);
        assert_eq!(client.ask(REQUEST).await.text(), "hello");
        assert_eq!(client.ask(REQUEST).await.status, 204);
        assert!(client.is_closed().await);
        assert_eq!(client.read_to_end().await, b"");
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "timed out while waiting, after \"HTTP/1.1 200 OK")]
    async fn gives_up_at_its_deadline_and_shows_what_came() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = AsyncClient::connect(address).await.deadline(Duration::from_hours(1));
        let (mut server, _) = listener.accept().await.unwrap();
        server.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").await.unwrap();
        client.ask(REQUEST).await;
    }
}
