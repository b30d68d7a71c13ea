//! TLS towards PostgreSQL. In: what the plan says about verifying. Out: what the library calls to make a connection
//! safe; made once for each database, so that sessions are resumed. Channel binding is not offered: passwords are
//! proved by SCRAM without it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use authorities::Unverified;
use message::{Error, Kind, Result};
use plan::SqlSource;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// See the module. Without a connector: none is spoken.
#[derive(Clone)]
pub(crate) struct Tls(Option<TlsConnector>);

impl Tls {
    /// For plain TCP and sockets.
    pub(super) fn none() -> Self {
        Tls(None)
    }

    /// Loads the authorities that the plan names, or else the system's.
    pub(super) fn new(plan: &SqlSource) -> Result<Self> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::new(Kind::Internal, "TLS cannot be set up").caused_by(error))?;
        let config = if plan.verify {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(authorities::load(plan.authorities.as_deref(), &plan.name)?);
            builder.with_root_certificates(roots).with_no_client_auth()
        } else {
            let verifier = Arc::new(Unverified::new(algorithms));
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        };
        Ok(Tls(Some(Arc::new(config).into())))
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        Ok(Handshake { connector: self.0.clone(), host: host.to_owned() })
    }
}

/// One handshake to come.
pub(crate) struct Handshake {
    connector: Option<TlsConnector>,
    host: String,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let connector = self.connector.ok_or_else(|| io::Error::other("no TLS is meant here"))?;
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            Ok(Stream(Box::new(connector.connect(name, socket).await?)))
        })
    }
}

/// A safe connection.
pub(crate) struct Stream(Box<tokio_rustls::client::TlsStream<Socket>>);

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
