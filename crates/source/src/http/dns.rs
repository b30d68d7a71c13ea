//! DNS: one lookup with the system's configuration. In: a host name. Out: addresses and their TTL. Called by `name`,
//! which remembers the answer.

use std::net::IpAddr;
use std::time::Duration;

use hickory_resolver::config::{LookupIpStrategy, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{Resolver, TokioResolver};
use message::{Error, Kind, Result, Retry};

use super::name::Found;

/// Asks `/etc/hosts` first and then the servers of `/etc/resolv.conf`.
///
/// The resolver is made anew each time, although that reads two files: lookups are rare (one per name and TTL), an
/// edited file takes effect at once, and no socket of the resolver outlives the core that opened it.
pub(super) async fn look_up(host: &str) -> Result<Found> {
    let fault =
        || Error::new(Kind::Resolve, format!("the name {host} could not be resolved")).retry(Retry::Always);
    let resolver = resolver().map_err(|error| fault().caused_by(error))?;
    let answer = resolver.lookup_ip(host).await.map_err(|error| fault().caused_by(error))?;
    let ttl = answer.valid_until().saturating_duration_since(std::time::Instant::now());
    Ok(Found { addresses: alternate(answer.iter()), ttl })
}

/// Without a readable `/etc/resolv.conf` there is nobody to ask, but `/etc/hosts` still counts.
fn resolver() -> std::result::Result<TokioResolver, hickory_resolver::net::NetError> {
    let mut builder = Resolver::builder_tokio().unwrap_or_else(|error| {
        tracing::warn!(%error, "no usable resolv.conf: only names of the hosts file resolve");
        Resolver::builder_with_config(
            ResolverConfig::from_name_servers(Vec::new()),
            TokioRuntimeProvider::default(),
        )
    });
    let options = builder.options_mut();
    options.use_hosts_file = ResolveHosts::Always;
    options.ip_strategy = LookupIpStrategy::Ipv6AndIpv4;
    options.cache_size = 0; // `name` is the cache
    options.timeout = options.timeout.min(Duration::from_secs(2)); // so that a second server gets its turn
    builder.build()
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
}
