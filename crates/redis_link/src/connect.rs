//! Connect: one connection to one server, greeted and logged in. In: what the plan says and, for listeners, who takes
//! the pushes. Called by nodes, sentinels and dedicated connections; never waits longer than it is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use message::Result;
use plan::RedisServer;
use redis::aio::{MultiplexedConnection, SendError};
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _, ProtocolVersion,
    PushInfo, PushKind, RedisConnectionInfo, RedisResult,
};

use crate::failure;
use crate::shared_link::SharedLink;

/// What we call ourselves in `CLIENT LIST`.
const NAME: &str = "fleetfoot";

/// Who takes the pushes of a connection.
pub(crate) type OnPush = Arc<dyn Fn(PushInfo) + Send + Sync>;

/// A connection that knows when it has ended.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) connection: MultiplexedConnection,
    closed: Arc<AtomicBool>,
}

impl Opened {
    /// The other side is gone: what is sent now gets no reply.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

/// As whom to connect.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum As {
    /// The user of the plan, to its database.
    User,
    /// The user of the plan, where there are no databases.
    UserOfSentinel,
    /// Nobody.
    Nobody,
}

/// Connects within this time. Pushes, of which the end of the connection is one, are handed over by the task that reads
/// the connection, in the order of the wire and before any later reply.
pub(crate) async fn open(
    shared: &SharedLink,
    server: &RedisServer,
    user: As,
    most: Duration,
    on_push: Option<OnPush>,
) -> Result<Opened> {
    let closed = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&closed);
    // The library only asks whether the push was taken, and does nothing about it.
    let sender = move |push: PushInfo| -> std::result::Result<(), SendError> {
        if push.kind == PushKind::Disconnection {
            told.store(true, Ordering::Relaxed);
        }
        if let Some(on_push) = &on_push {
            on_push(push);
        }
        Ok(())
    };
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(most))
        .set_response_timeout(None)
        .set_push_sender(sender);
    let connected = async {
        let client = client(shared, server, user)?;
        client.get_multiplexed_async_connection_with_config(&config).await
    };
    let mut connection = connected
        .await
        .map_err(|error| failure::unconnected(&shared.plan().name, &server.address(), error))?;
    shared.counters().connected();
    // Nobody waits for the reply: a user who may not do this still may do everything else.
    let mut name = redis::cmd("CLIENT");
    name.arg("SETNAME").arg(NAME).set_no_response(true);
    drop(connection.send_packed_command(&name).await);
    Ok(Opened { connection, closed })
}

fn client(shared: &SharedLink, server: &RedisServer, user: As) -> RedisResult<Client> {
    let plan = shared.plan();
    let address = match server {
        RedisServer::Tcp { host, port, tls: false } => ConnectionAddr::Tcp(host.clone(), *port),
        RedisServer::Tcp { host, port, tls: true } => ConnectionAddr::TcpTls {
            host: host.clone(),
            port: *port,
            insecure: !plan.verify,
            tls_params: None,
        },
        RedisServer::Unix(path) => ConnectionAddr::Unix(path.clone()),
    };
    let mut login = RedisConnectionInfo::default()
        .set_protocol(ProtocolVersion::RESP3)
        .set_lib_name(NAME, env!("CARGO_PKG_VERSION"));
    if user != As::Nobody {
        if let Some(user) = &plan.login.user {
            login = login.set_username(user);
        }
        if let Some(password) = &plan.login.password {
            login = login.set_password(password.secret());
        }
    }
    if user == As::User {
        login = login.set_db(i64::from(plan.database));
    }
    let info: ConnectionInfo = address
        .into_connection_info()?
        .set_redis_settings(login)
        .set_tcp_settings(TcpSettings::default().set_nodelay(true));
    match (server, shared.certificates()) {
        (RedisServer::Tcp { tls: true, .. }, Some(certificates)) => {
            Client::build_with_tls(info, certificates.clone())
        }
        _ => Client::open(info),
    }
}
