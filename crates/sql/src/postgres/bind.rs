//! Bind: a value for a placeholder, as PostgreSQL takes it. Usual types are sent in their binary form, and what does not
//! fit is found before anything is sent; all others are sent as text, which the server reads as it reads literals.

use std::error::Error;
use std::fmt;

use bytes::{BufMut, BytesMut};
use expression::Scalar;
use tokio_postgres::types::{Format, IsNull, Kind, ToSql, Type, to_sql_checked};

use crate::decimal;
use crate::text::Bound;

/// Why a value does not fit; `takes` is what would.
#[derive(Debug)]
pub(super) struct Unfit {
    pub(super) placeholder: usize,
    pub(super) takes: String,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "placeholder {} takes {}", self.placeholder + 1, self.takes)
    }
}

impl Error for Unfit {}

impl ToSql for Bound<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        if *self.value == Scalar::Null {
            return Ok(IsNull::Yes);
        }
        match write(self.value, base(ty), out) {
            Some(()) => Ok(IsNull::No),
            None => Err(Box::new(Unfit { placeholder: self.placeholder, takes: wanted(base(ty)) })),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, ty: &Type) -> Format {
        if is_binary(base(ty)) { Format::Binary } else { Format::Text }
    }

    to_sql_checked!();
}

/// What a domain is made of.
fn base(ty: &Type) -> &Type {
    let mut ty = ty;
    while let Kind::Domain(inner) = ty.kind() {
        ty = inner;
    }
    ty
}

fn is_binary(ty: &Type) -> bool {
    matches!(
        *ty,
        Type::BOOL
            | Type::INT2
            | Type::INT4
            | Type::INT8
            | Type::FLOAT4
            | Type::FLOAT8
            | Type::UUID
            | Type::BYTEA
    )
}

fn wanted(ty: &Type) -> String {
    match *ty {
        Type::BOOL => "true or false".to_owned(),
        Type::INT2 => "a whole number of 16 bits".to_owned(),
        Type::INT4 => "a whole number of 32 bits".to_owned(),
        Type::INT8 => "a whole number of 64 bits".to_owned(),
        Type::FLOAT4 | Type::FLOAT8 => "a number".to_owned(),
        Type::UUID => "a UUID".to_owned(),
        _ => format!("a value of type {}, and no zero byte", ty.name()),
    }
}

/// `None` if it does not fit.
fn write(value: &Scalar, ty: &Type, out: &mut BytesMut) -> Option<()> {
    match *ty {
        Type::BOOL => out.put_u8(truth(value)?.into()),
        Type::INT2 => out.put_i16(integer(value)?.try_into().ok()?),
        Type::INT4 => out.put_i32(integer(value)?.try_into().ok()?),
        Type::INT8 => out.put_i64(integer(value)?.try_into().ok()?),
        Type::FLOAT4 => out.put_f32(double(value)? as f32),
        Type::FLOAT8 => out.put_f64(double(value)?),
        Type::UUID => out.put_slice(&uuid(value)?),
        Type::BYTEA => match value {
            Scalar::Bytes(bytes) => out.put_slice(bytes),
            value => text(value, out)?,
        },
        _ => {
            let start = out.len();
            text(value, out)?;
            // It ends a text in the server, which therefore refuses it.
            if out[start..].contains(&0) {
                return None;
            }
        }
    }
    Some(())
}

fn truth(value: &Scalar) -> Option<bool> {
    match value {
        Scalar::Truth(truth) => Some(*truth),
        Scalar::Int(0) | Scalar::Uint(0) => Some(false),
        Scalar::Int(1) | Scalar::Uint(1) => Some(true),
        Scalar::Text(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "on" | "1" => Some(true),
            "false" | "f" | "no" | "n" | "off" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn integer(value: &Scalar) -> Option<i128> {
    match value {
        Scalar::Int(int) => Some((*int).into()),
        Scalar::Uint(uint) => Some((*uint).into()),
        Scalar::Double(double) if double.fract() == 0.0 && double.abs() < 1e18 => Some(*double as i128),
        Scalar::Text(text) => text.trim().parse().ok(),
        Scalar::Decimal(digits) => decimal::whole(digits),
        _ => None,
    }
}

fn double(value: &Scalar) -> Option<f64> {
    match value {
        Scalar::Int(int) => Some(*int as f64),
        Scalar::Uint(uint) => Some(*uint as f64),
        Scalar::Double(double) => Some(*double),
        Scalar::Text(text) | Scalar::Decimal(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// With or without hyphens, and braces around them.
fn uuid(value: &Scalar) -> Option<[u8; 16]> {
    let Scalar::Text(text) = value else { return None };
    let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let digits: String = text.chars().filter(|character| *character != '-').collect();
    let plain = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    plain.then(|| u128::from_str_radix(&digits, 16).ok().map(u128::to_be_bytes))?
}

/// As a literal between quotes would be written.
fn text(value: &Scalar, out: &mut BytesMut) -> Option<()> {
    match value {
        Scalar::Null => return None,
        Scalar::Truth(truth) => out.put_slice(if *truth { b"true" } else { b"false" }),
        Scalar::Int(int) => out.put_slice(int.to_string().as_bytes()),
        Scalar::Uint(uint) => out.put_slice(uint.to_string().as_bytes()),
        Scalar::Double(double) => out.put_slice(double.to_string().as_bytes()),
        Scalar::Text(text) | Scalar::Decimal(text) => out.put_slice(text.as_bytes()),
        Scalar::Bytes(bytes) => out.put_slice(bytes),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(value: Scalar, ty: &Type) -> Option<Vec<u8>> {
        let mut out = BytesMut::new();
        write(&value, ty, &mut out).map(|()| out.to_vec())
    }

    fn from_url(text: &str, ty: &Type) -> Option<Vec<u8>> {
        bound(Scalar::Text(text.to_owned()), ty)
    }

    #[test]
    fn texts_that_are_whole_numbers_fit_integers_and_others_do_not() {
        assert_eq!(from_url("7", &Type::INT8), Some(7_i64.to_be_bytes().to_vec()));
        assert_eq!(from_url("-7", &Type::INT4), Some((-7_i32).to_be_bytes().to_vec()));
        for text in ["abc", "", "1 OR 1=1", "1.5", "0x10", "99999999999999999999", "1\0"] {
            assert_eq!(from_url(text, &Type::INT8), None, "{text}");
        }
        assert_eq!(from_url("40000", &Type::INT2), None);
        assert_eq!(bound(Scalar::Uint(u64::MAX), &Type::INT8), None);
        assert_eq!(bound(Scalar::Double(1.5), &Type::INT8), None);
        let decimal = |digits: &str, ty| bound(Scalar::Decimal(digits.to_owned()), ty);
        assert_eq!(decimal("7.50", &Type::INT8), None);
        assert_eq!(decimal("7.0", &Type::INT8), bound(Scalar::Int(7), &Type::INT8));
        assert_eq!(decimal("12345678901234567.890", &Type::NUMERIC), Some(b"12345678901234567.890".to_vec()));
        assert_eq!(decimal("1.5e1", &Type::FLOAT8), Some(15_f64.to_be_bytes().to_vec()));
    }

    #[test]
    fn other_types_are_sent_as_text_without_zero_bytes() {
        assert_eq!(from_url("2024-01-31", &Type::DATE), Some(b"2024-01-31".to_vec()));
        assert_eq!(bound(Scalar::Int(7), &Type::TEXT), Some(b"7".to_vec()));
        assert_eq!(from_url("a\0b", &Type::TEXT), None);
        assert_eq!(from_url("a\0b", &Type::BYTEA), Some(b"a\0b".to_vec()));
    }

    #[test]
    fn uuids_and_truths_are_read_as_the_server_reads_them() {
        let number = u128::from_str_radix("a0eebc999c0b4ef8bb6d6bb9bd380a11", 16).unwrap();
        for text in ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}"] {
            assert_eq!(from_url(text, &Type::UUID), Some(number.to_be_bytes().to_vec()));
        }
        assert_eq!(from_url("a0eebc99", &Type::UUID), None);
        assert_eq!(from_url("ON", &Type::BOOL), Some(vec![1]));
        assert_eq!(from_url("2", &Type::BOOL), None);
    }
}
