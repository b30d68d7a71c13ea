//! Cell: one value of a row of PostgreSQL, from its binary form to JSON.

use std::error::Error;
use std::net::{Ipv4Addr, Ipv6Addr};

use tokio_postgres::types::{FromSql, Kind, Type};

use super::numeric;
use crate::json;

/// The bytes of a value, as they came.
pub(super) struct Raw<'a>(pub(super) &'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Raw(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Days from 1970-01-01 to 2000-01-01, from where the server counts.
const EPOCH: i64 = 10_957;

const MICROSECONDS_OF_A_DAY: i64 = 86_400_000_000;

/// Writes it as its type says. `None` if the type has no form here, or these bytes are none of it.
pub(super) fn write(ty: &Type, raw: &[u8], out: &mut Vec<u8>) -> Option<()> {
    match *ty {
        Type::BOOL => json::truth(*raw.first()? != 0, out),
        Type::INT2 => json::integer(i16::from_be_bytes(raw.try_into().ok()?), out),
        Type::INT4 => json::integer(i32::from_be_bytes(raw.try_into().ok()?), out),
        Type::INT8 => json::integer(i64::from_be_bytes(raw.try_into().ok()?), out),
        Type::OID => json::integer(u32::from_be_bytes(raw.try_into().ok()?), out),
        Type::FLOAT4 => json::single(f32::from_be_bytes(raw.try_into().ok()?), out),
        Type::FLOAT8 => json::double(f64::from_be_bytes(raw.try_into().ok()?), out),
        Type::NUMERIC => numeric::write(raw, out)?,
        Type::JSON => out.extend_from_slice(raw),
        Type::JSONB => out.extend_from_slice(raw.strip_prefix(&[1])?),
        Type::UUID => uuid(raw.try_into().ok()?, out),
        Type::DATE => {
            let days = i32::from_be_bytes(raw.try_into().ok()?);
            out.push(b'"');
            date(days.into(), i32::MAX.into(), out);
            out.push(b'"');
        }
        Type::TIME => quoted(out, |out| time(i64::from_be_bytes(raw.try_into().ok()?), out))?,
        Type::TIMESTAMP => quoted(out, |out| timestamp(i64::from_be_bytes(raw.try_into().ok()?), "", out))?,
        Type::TIMESTAMPTZ => {
            quoted(out, |out| timestamp(i64::from_be_bytes(raw.try_into().ok()?), "Z", out))?;
        }
        Type::INET | Type::CIDR => quoted(out, |out| network(raw, *ty == Type::CIDR, out))?,
        Type::TEXT
        | Type::VARCHAR
        | Type::BPCHAR
        | Type::NAME
        | Type::CHAR
        | Type::UNKNOWN
        | Type::XML
        | Type::BYTEA => {
            json::bytes(raw, out);
        }
        _ => match ty.kind() {
            Kind::Domain(inner) => write(inner, raw, out)?,
            Kind::Enum(_) => json::bytes(raw, out),
            Kind::Array(inner) => array(inner, raw, out)?,
            _ if matches!(ty.name(), "citext" | "ltree") => json::bytes(raw, out),
            _ => return None,
        },
    }
    Some(())
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Option<()>) -> Option<()> {
    out.push(b'"');
    write(out)?;
    out.push(b'"');
    Some(())
}

fn uuid(bytes: [u8; 16], out: &mut Vec<u8>) {
    out.push(b'"');
    for (index, byte) in bytes.into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        for digit in [byte >> 4, byte & 15] {
            out.push(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
        }
    }
    out.push(b'"');
}

/// Days since 2000-01-01; the largest and smallest number stand for infinity.
fn date(days: i64, infinity: i64, out: &mut Vec<u8>) {
    if days == infinity || days == -infinity - 1 {
        out.extend_from_slice(if days > 0 { b"infinity" } else { b"-infinity" });
        return;
    }
    let (year, month, day) = civil(days + EPOCH);
    json::date(year, month, day, out);
}

fn time(microseconds: i64, out: &mut Vec<u8>) -> Option<()> {
    let microseconds = u64::try_from(microseconds).ok()?;
    let seconds = microseconds / 1_000_000;
    let (minutes, fraction) = (seconds / 60, (microseconds % 1_000_000) as u32);
    json::time(minutes / 60, (minutes % 60) as u32, (seconds % 60) as u32, fraction, out);
    Some(())
}

/// Microseconds since 2000-01-01.
fn timestamp(microseconds: i64, zone: &str, out: &mut Vec<u8>) -> Option<()> {
    if microseconds == i64::MAX || microseconds == i64::MIN {
        date(microseconds, i64::MAX, out);
        return Some(());
    }
    date(microseconds.div_euclid(MICROSECONDS_OF_A_DAY), i64::MAX, out);
    out.push(b'T');
    time(microseconds.rem_euclid(MICROSECONDS_OF_A_DAY), out)?;
    out.extend_from_slice(zone.as_bytes());
    Some(())
}

/// Year, month and day of the Gregorian calendar, from days since 1970-01-01 (Howard Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms", `civil_from_days`).
fn civil(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as u32, day as u32)
}

/// Family, length of the prefix, whether it is a network, length of the address, address.
fn network(raw: &[u8], is_network: bool, out: &mut Vec<u8>) -> Option<()> {
    let (&[_, prefix, _, _], address) = raw.split_first_chunk::<4>()?;
    let (shown, whole) = match address.len() {
        4 => (Ipv4Addr::from(<[u8; 4]>::try_from(address).ok()?).to_string(), 32),
        _ => (Ipv6Addr::from(<[u8; 16]>::try_from(address).ok()?).to_string(), 128),
    };
    out.extend_from_slice(shown.as_bytes());
    if is_network || prefix != whole {
        out.push(b'/');
        json::integer(prefix, out);
    }
    Some(())
}

/// Lists within lists, one for each dimension.
fn array(inner: &Type, raw: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut rest = raw;
    let dimensions = usize::try_from(word(&mut rest)?).ok()?;
    let (_has_nulls, _element) = (word(&mut rest)?, word(&mut rest)?);
    // The server has six at most.
    if dimensions > 6 {
        return None;
    }
    let mut lengths = Vec::with_capacity(dimensions);
    for _ in 0..dimensions {
        lengths.push(usize::try_from(word(&mut rest)?).ok()?);
        let _lowest_index = word(&mut rest)?;
    }
    if lengths.is_empty() {
        out.extend_from_slice(b"[]");
        return Some(());
    }
    elements(inner, &lengths, &mut rest, out)
}

fn elements(inner: &Type, lengths: &[usize], rest: &mut &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (&length, deeper) = lengths.split_first()?;
    out.push(b'[');
    for index in 0..length {
        if index > 0 {
            out.push(b',');
        }
        if !deeper.is_empty() {
            elements(inner, deeper, rest, out)?;
            continue;
        }
        match word(rest)? {
            -1 => json::null(out),
            length => {
                let (value, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                *rest = behind;
                write(inner, value, out)?;
            }
        }
    }
    out.push(b']');
    Some(())
}

fn word(rest: &mut &[u8]) -> Option<i32> {
    let (word, behind) = rest.split_first_chunk::<4>()?;
    *rest = behind;
    Some(i32::from_be_bytes(*word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(ty: &Type, raw: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        write(ty, raw, &mut out)?;
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn times_are_written_as_iso_8601_says() {
        for (days, shown) in
            [(0, "2000-01-01"), (-1, "1999-12-31"), (8_796, "2024-01-31"), (59, "2000-02-29")]
        {
            assert_eq!(written(&Type::DATE, &i32::to_be_bytes(days)), Some(format!("\"{shown}\"")));
        }
        let noon = 8_796 * MICROSECONDS_OF_A_DAY + 45_296_500_000;
        let shown = "2024-01-31T12:34:56.5";
        assert_eq!(written(&Type::TIMESTAMP, &noon.to_be_bytes()), Some(format!("\"{shown}\"")));
        assert_eq!(written(&Type::TIMESTAMPTZ, &noon.to_be_bytes()), Some(format!("\"{shown}Z\"")));
        assert_eq!(written(&Type::TIMESTAMPTZ, &i64::MAX.to_be_bytes()).as_deref(), Some("\"infinity\""));
        assert_eq!(written(&Type::DATE, &i32::MIN.to_be_bytes()).as_deref(), Some("\"-infinity\""));
    }

    proptest! {
        #[test]
        fn no_bytes_of_the_network_panic(raw in proptest::collection::vec(any::<u8>(), 0..64)) {
            for ty in [
                Type::BOOL, Type::INT2, Type::INT8, Type::FLOAT4, Type::NUMERIC, Type::JSONB, Type::UUID, Type::DATE,
                Type::TIME, Type::TIMESTAMP, Type::INET, Type::INT4_ARRAY, Type::TEXT_ARRAY, Type::NUMERIC_ARRAY,
            ] {
                let mut out = Vec::new();
                let _may_be_none = write(&ty, &raw, &mut out);
            }
        }
    }
}
