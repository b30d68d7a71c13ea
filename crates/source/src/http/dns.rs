//! DNS: one lookup with the system's configuration. In: a host name. Out: addresses and their TTL. Called by `name`,
//! which remembers the answer.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use hickory_resolver::config::{LookupIpStrategy, ResolveHosts, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{Resolver, ResolverBuilder};
use message::{Error, Kind, Result, Retry};

use super::name::Resolved;

/// Asks `/etc/hosts` first and then the servers of `/etc/resolv.conf`.
///
/// The resolver is made anew each time, although that reads two files: lookups are rare (one per name and TTL), an
/// edited file takes effect at once, and no socket of the resolver outlives the core that opened it.
pub(super) async fn look_up(host: &str) -> Result<Resolved> {
    // Without a readable resolv.conf there is nobody to ask, but `/etc/hosts` still counts.
    let system = Resolver::builder_tokio().unwrap_or_else(|error| {
        tracing::warn!(%error, "no usable resolv.conf: only names of the hosts file resolve");
        Resolver::builder_with_config(
            ResolverConfig::from_name_servers(Vec::new()),
            TokioRuntimeProvider::default(),
        )
    });
    look_up_with(system, host).await
}

async fn look_up_with(mut builder: ResolverBuilder<TokioRuntimeProvider>, host: &str) -> Result<Resolved> {
    let fault = |error: NetError| {
        let detail = format!("the name {host} could not be resolved");
        Error::new(Kind::Resolve, detail).retry(Retry::Always).caused_by(error)
    };
    let options = builder.options_mut();
    options.use_hosts_file = ResolveHosts::Always;
    options.ip_strategy = LookupIpStrategy::Ipv6AndIpv4;
    options.cache_size = 0; // `name` is the cache
    options.timeout = options.timeout.min(Duration::from_secs(2)); // so that a second server gets its turn
    let answer = builder.build().map_err(fault)?.lookup_ip(host).await.map_err(fault)?;
    let ttl = answer.valid_until().saturating_duration_since(Instant::now());
    Ok(Resolved { addresses: alternate(answer.iter()), ttl })
}

/// IPv6 and IPv4 in turn (RFC 8305 §4), each in the order of the answer: servers turn it to share the load.
fn alternate(addresses: impl Iterator<Item = IpAddr>) -> Vec<IpAddr> {
    let (six, four): (Vec<_>, Vec<_>) = addresses.partition(IpAddr::is_ipv6);
    let (mut six, mut four) = (six.into_iter(), four.into_iter());
    let mut all = Vec::with_capacity(six.len() + four.len());
    while six.len() + four.len() > 0 {
        all.extend(six.next());
        all.extend(four.next());
    }
    all
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use hickory_resolver::config::{ConnectionConfig, NameServerConfig};
    use tokio::net::UdpSocket;

    use super::*;

    #[test]
    fn families_alternate() {
        let addresses =
            ["10.0.0.1", "10.0.0.2", "10.0.0.3", "fd00::1"].map(|text| text.parse::<IpAddr>().unwrap());
        let [one, two, three, six] = addresses;
        assert_eq!(alternate(addresses.into_iter()), [six, one, two, three]);
        assert_eq!(alternate(std::iter::empty()), Vec::<IpAddr>::new());
    }

    #[tokio::test]
    async fn the_hosts_file_counts() {
        // Every machine has this line, and no server is asked for it.
        let found = look_up("localhost").await.unwrap();
        assert!(found.addresses.iter().all(IpAddr::is_loopback), "{found:?}");
        assert!(found.ttl > Duration::ZERO);
    }

    /// A resolver that asks a server on the loopback, which knows two addresses of `api.example`, TTL 77, and nothing
    /// else.
    async fn resolver() -> ResolverBuilder<TokioRuntimeProvider> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let mut connection = ConnectionConfig::udp();
        connection.port = socket.local_addr().unwrap().port();
        tokio::spawn(async move {
            let mut packet = [0; 1500];
            while let Ok((length, asker)) = socket.recv_from(&mut packet).await {
                socket.send_to(&reply(&packet[..length]), asker).await.unwrap();
            }
        });
        let server = NameServerConfig::new(Ipv4Addr::LOCALHOST.into(), true, vec![connection]);
        let config = ResolverConfig::from_name_servers(vec![server]);
        Resolver::builder_with_config(config, TokioRuntimeProvider::default())
    }

    fn reply(query: &[u8]) -> Vec<u8> {
        let end = 12 + query[12..].iter().position(|&byte| byte == 0).unwrap() + 5;
        let question = &query[12..end];
        let is_known = question.to_ascii_lowercase().starts_with(b"\x03api\x07example\0");
        let is_ipv4 = question[question.len() - 4..] == [0, 1, 0, 1];
        let answers: &[[u8; 4]] = if is_known && is_ipv4 { &[[10, 0, 0, 1], [10, 0, 0, 2]] } else { &[] };
        let code = if is_known { 0 } else { 3 };
        let mut reply =
            [&query[..2], &[0x81, 0x80 | code, 0, 1, 0, answers.len() as u8, 0, 0, 0, 0], question].concat();
        for address in answers {
            reply.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 77, 0, 4]);
            reply.extend_from_slice(address);
        }
        reply
    }

    #[tokio::test(flavor = "local")]
    async fn a_server_is_asked_and_its_ttl_told() {
        let found = look_up_with(resolver().await, "api.example.").await.unwrap();
        assert_eq!(found.addresses, [IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2])]);
        assert!((75..=77).contains(&found.ttl.as_secs()), "{found:?}");
        let error = look_up_with(resolver().await, "other.example.").await.unwrap_err();
        assert_eq!((error.kind(), error.may_retry()), (Kind::Resolve, Retry::Always));
        assert_eq!(error.detail(), "the name other.example. could not be resolved");
    }
}
