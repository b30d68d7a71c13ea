//! Trust: whether a client's address lies in one of the networks of `trust`.

use std::net::IpAddr;

use plan::Network;

/// Whether one of the networks holds the address. IPv4 addresses written as IPv6 (`::ffff:10.0.0.1`) count as IPv4.
pub(crate) fn is_trusted(networks: &[Network], address: IpAddr) -> bool {
    let address = address.to_canonical();
    networks.iter().any(|network| holds(*network, address))
}

fn holds(network: Network, address: IpAddr) -> bool {
    let prefix = u32::from(network.prefix);
    match (network.address, address) {
        (IpAddr::V4(first), IpAddr::V4(address)) => {
            let differing = u32::from(first) ^ u32::from(address);
            differing.leading_zeros() >= prefix
        }
        (IpAddr::V6(first), IpAddr::V6(address)) => {
            let differing = u128::from(first) ^ u128::from(address);
            differing.leading_zeros() >= prefix
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_by_prefix_and_family() {
        let networks = ["10.0.0.0/8", "192.168.1.7/32", "fd00::/8"].map(|text| {
            let (address, prefix) = text.split_once('/').unwrap();
            Network { address: address.parse().unwrap(), prefix: prefix.parse().unwrap() }
        });
        let trusted = |address: &str| is_trusted(&networks, address.parse().unwrap());
        for address in ["10.1.2.3", "192.168.1.7", "fdff::1", "::ffff:10.0.0.1"] {
            assert!(trusted(address), "{address}");
        }
        for address in ["11.0.0.1", "192.168.1.8", "fe80::1", "::1", "::ffff:11.0.0.1"] {
            assert!(!trusted(address), "{address}");
        }
        let everybody = Network { address: "0.0.0.0".parse().unwrap(), prefix: 0 };
        assert!(is_trusted(&[everybody], "8.8.8.8".parse().unwrap()));
        assert!(!is_trusted(&[], "10.1.2.3".parse().unwrap()));
    }
}
