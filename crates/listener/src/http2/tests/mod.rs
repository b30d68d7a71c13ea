//! HTTP/2 over real sockets: against the h2 client where it can say what is to be said, against raw frames elsewhere.

mod content;
mod floods;
mod lifetime;
mod malformed;
mod raw;
mod responses;

use std::net::SocketAddr;

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request, Response};
use tokio::net::TcpStream;

/// An h2 client's end of a new connection.
async fn connect(address: SocketAddr) -> SendRequest<Bytes> {
    connect_with(&h2::client::Builder::new(), address).await
}

async fn connect_with(builder: &h2::client::Builder, address: SocketAddr) -> SendRequest<Bytes> {
    let io = TcpStream::connect(address).await.unwrap();
    let (client, connection) = builder.handshake(io).await.unwrap();
    tokio::task::spawn_local(connection);
    client.ready().await.unwrap()
}

fn get(target: &str) -> Request<()> {
    Request::get(format!("http://a.example{target}")).body(()).unwrap()
}

fn post(target: &str) -> Request<()> {
    Request::post(format!("http://a.example{target}")).body(()).unwrap()
}

/// Sends a request without content and waits for the answer's head.
async fn ask(
    client: &mut SendRequest<Bytes>,
    request: Request<()>,
) -> Result<Response<RecvStream>, h2::Error> {
    client.send_request(request, true)?.0.await
}

/// All content of an answer, and its trailers.
async fn read_all(mut content: RecvStream) -> Result<(Vec<u8>, Option<HeaderMap>), h2::Error> {
    let mut whole = Vec::new();
    while let Some(bytes) = content.data().await {
        let bytes = bytes?;
        content.flow_control().release_capacity(bytes.len())?;
        whole.extend_from_slice(&bytes);
    }
    Ok((whole, content.trailers().await?))
}

async fn text(response: Response<RecvStream>) -> String {
    String::from_utf8(read_all(response.into_body()).await.unwrap().0).unwrap()
}

/// Sends content as the server takes it.
async fn send_all(stream: &mut SendStream<Bytes>, mut content: Bytes, end: bool) -> Result<(), h2::Error> {
    while !content.is_empty() {
        stream.reserve_capacity(content.len());
        let capacity = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await.transpose()?.unwrap_or(0);
        if capacity == 0 {
            return Ok(());
        }
        let piece = content.split_to(capacity.min(content.len()));
        stream.send_data(piece, end && content.is_empty())?;
    }
    Ok(())
}
