//! Network: `10.0.0.0/8` → [`Network`]. Called for each of `listen.trust`.

use std::net::IpAddr;
use std::str::FromStr;

use crate::meant::Network;
use crate::yaml::fault::{Reason, quoted};

impl FromStr for Network {
    type Err = Reason;

    fn from_str(text: &str) -> Result<Self, Reason> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let Ok(address) = address.parse::<IpAddr>() else {
            return Err(Reason::new(
                format!("{} is not an address range", quoted(text)),
                "write an address, or an address and how many bits count, like `10.0.0.0/8` or `fd00::/8`",
            ));
        };
        if let IpAddr::V6(mapped) = address
            && let Some(address) = mapped.to_ipv4_mapped()
        {
            return Err(Reason::new(
                format!("{} is an IPv4 address written as IPv6", quoted(text)),
                format!("write it as IPv4, like `{address}`"),
            ));
        }
        let width: u8 = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => width,
            Some(digits) => {
                match crate::yaml::unit::number(digits).and_then(|prefix| u8::try_from(prefix).ok()) {
                    Some(prefix) if prefix <= width && !digits.is_empty() => prefix,
                    _ => {
                        return Err(Reason::new(
                            format!("{} has a wrong prefix length", quoted(text)),
                            format!("write a number from 0 to {width} after the slash"),
                        ));
                    }
                }
            }
        };
        let first = first(address, prefix);
        if first != address {
            return Err(Reason::new(
                format!("{} has bits set behind its prefix", quoted(text)),
                format!("write `{first}/{prefix}` for the whole range, or `{address}` for the one address"),
            ));
        }
        Ok(Network { address, prefix })
    }
}

/// The first address of the range that `address` lies in.
fn first(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_ranges_and_single_addresses() {
        for (text, address, prefix) in [
            ("10.0.0.0/8", "10.0.0.0", 8),
            ("127.0.0.1", "127.0.0.1", 32),
            ("0.0.0.0/0", "0.0.0.0", 0),
            ("::/0", "::", 0),
            ("fd00::/8", "fd00::", 8),
            ("::1", "::1", 128),
        ] {
            assert_eq!(text.parse(), Ok(Network { address: address.parse().unwrap(), prefix }), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_none() {
        for text in [
            "",
            "10.0.0.0/33",
            "10.0.0.0/",
            "10.0.0.0/-1",
            "10.0.0.0/+8",
            "::/129",
            "10.0.0",
            "example.com",
            "10.0.0.1/8",
            "10.0.0.0/8/8",
            "fe80::1%eth0",
            "::ffff:10.0.0.0/104",
        ] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
        assert_eq!(
            "10.0.0.1/8".parse::<Network>().unwrap_err().remedy,
            "write `10.0.0.0/8` for the whole range, or `10.0.0.1` for the one address"
        );
    }
}
