//! Network: `10.0.0.0/8` → [`Network`]. Called for `listen.trust`; `contains` is asked once per connection.

use std::net::IpAddr;
use std::str::FromStr;

use crate::fault::{Reason, quoted};
use crate::meant::Network;

impl Network {
    /// Whether the address belongs to it. An IPv4 address that arrives as `::ffff:a.b.c.d` counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let (bits, width) = number(address.to_canonical());
        let (own, own_width) = number(self.address);
        let shift = own_width - u32::from(self.prefix);
        // A shift by all bits of the type is an overflow; a prefix of 0 takes everything.
        width == own_width && (bits ^ own).checked_shr(shift).unwrap_or(0) == 0
    }
}

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
        let width = number(address).1 as u8;
        let prefix = match prefix {
            None => width,
            Some(digits) => match crate::unit::number(digits).and_then(|prefix| u8::try_from(prefix).ok()) {
                Some(prefix) if prefix <= width && !digits.is_empty() => prefix,
                _ => {
                    return Err(Reason::new(
                        format!("{} has a wrong prefix length", quoted(text)),
                        format!("write a number from 0 to {width} after the slash"),
                    ));
                }
            },
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

/// An address as a number, and how many bits it has.
fn number(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
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
    fn contains_what_it_says() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"),
            ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
            ("0.0.0.0/0", "255.1.2.3", "::1"),
            ("::/0", "fe80::1", "1.2.3.4"),
            ("fd00::/8", "fdff::1", "fe00::1"),
            ("::1", "::1", "::2"),
            ("10.0.0.0/8", "::ffff:10.1.2.3", "::10.1.2.3"),
        ] {
            let network: Network = network.parse().unwrap();
            assert!(network.contains(inside.parse().unwrap()), "{network:?} {inside}");
            assert!(!network.contains(outside.parse().unwrap()), "{network:?} {outside}");
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
        ] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
        assert_eq!(
            "10.0.0.1/8".parse::<Network>().unwrap_err().remedy,
            "write `10.0.0.0/8` for the whole range, or `10.0.0.1` for the one address"
        );
    }
}
