//! Options: what the plan says of a PostgreSQL, in the words of the library. Made once for each database.

use message::Result;
use plan::{DatabaseAddress, DatabaseServer, SqlSource};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::tls::Tls;

/// See the module.
pub(crate) struct Options {
    pub(super) config: Config,
    pub(super) tls: Tls,
}

impl Options {
    /// Reads the certificate authorities, where they are needed: `Kind::Internal` says which file is at fault.
    pub(crate) fn new(plan: &SqlSource, server: &DatabaseServer) -> Result<Self> {
        let mut config = Config::new();
        config.user(&server.user).dbname(&server.database).application_name("fleetfoot");
        if let Some(password) = &server.password {
            config.password(password.secret());
        }
        let mut uses_tls = false;
        match &server.address {
            DatabaseAddress::Tcp { host, port, tls } => {
                config.host(host).port(*port);
                uses_tls = *tls;
            }
            // Of a socket, its port is a part of the name of the file.
            DatabaseAddress::Unix(folder) => {
                config.host_path(folder);
            }
        }
        config.ssl_mode(if uses_tls { SslMode::Require } else { SslMode::Disable });
        Ok(Options { config, tls: if uses_tls { Tls::new(plan)? } else { Tls::none() } })
    }
}
