//! Options: what the plan says of a MySQL, in the words of the library. Made once for each database.

use std::path::Path;

use message::Result;
use mysql_async::{Opts, OptsBuilder, SslOpts};
use plan::{DatabaseAddress, DatabaseServer, SqlSource};
use rustls::crypto::{CryptoProvider, aws_lc_rs};

/// Statements that each connection keeps prepared.
const PREPARED: usize = 256;

/// Packets may be this large; a larger one is an error. No row fits into an answer that does not fit into this.
const PACKET: usize = 2 * crate::sheet::LARGEST;

/// Reads the certificate authorities, where they are needed: `Kind::Internal` says which file is at fault.
pub(crate) fn options(plan: &SqlSource, server: &DatabaseServer) -> Result<Opts> {
    let mut options = OptsBuilder::default()
        .user(Some(server.user.clone()))
        .pass(server.password.as_ref().map(|password| password.secret().to_owned()))
        .db_name(Some(server.database.clone()))
        .prefer_socket(false)
        .stmt_cache_size(PREPARED)
        // Said, so that the library does not ask for it on each new connection.
        .max_allowed_packet(Some(PACKET))
        .wait_timeout(Some(28_800));
    match &server.address {
        DatabaseAddress::Tcp { host, port, tls } => {
            options = options.ip_or_hostname(host.clone()).tcp_port(*port);
            if *tls {
                options = options.ssl_opts(tls_options(plan)?);
            }
        }
        DatabaseAddress::Unix(path) => options = options.socket(Some(shown(path))),
    }
    Ok(options.into())
}

fn tls_options(plan: &SqlSource) -> Result<SslOpts> {
    // The library takes the process's provider. An error says that there is one already.
    drop(CryptoProvider::install_default(aws_lc_rs::default_provider()));
    if !plan.verify {
        // Its built-in authorities stay, as it wants some even where it asks none.
        return Ok(SslOpts::default()
            .with_danger_accept_invalid_certs(true)
            .with_danger_skip_domain_validation(true));
    }
    let authorities = authorities::load(plan.authorities.as_deref(), &plan.name)?;
    let authorities = authorities.into_iter().map(|authority| authority.to_vec().into()).collect();
    Ok(SslOpts::default().with_disable_built_in_roots(true).with_root_certs(authorities))
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
