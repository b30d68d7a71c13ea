//! Cell: one value of a row of MySQL, as JSON.

use mysql_async::consts::ColumnType;
use mysql_async::{Column, Value};

use crate::json;

/// Writes it as its column says.
pub(crate) fn write(column: &Column, value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::NULL => json::null(out),
        Value::Int(int) => json::integer(*int, out),
        Value::UInt(uint) => json::integer(*uint, out),
        Value::Float(single) => json::single(*single, out),
        Value::Double(double) => json::double(*double, out),
        Value::Bytes(bytes) => match column.column_type() {
            ColumnType::MYSQL_TYPE_DECIMAL | ColumnType::MYSQL_TYPE_NEWDECIMAL => json::decimal(bytes, out),
            ColumnType::MYSQL_TYPE_JSON => json::spliced(bytes, out),
            ColumnType::MYSQL_TYPE_BIT if bytes.len() <= 8 => {
                json::integer(bytes.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte)), out);
            }
            _ => json::bytes(bytes, out),
        },
        Value::Date(year, month, day, hours, minutes, seconds, microseconds) => {
            out.push(b'"');
            json::date((*year).into(), (*month).into(), (*day).into(), out);
            if column.column_type() != ColumnType::MYSQL_TYPE_DATE {
                out.push(b'T');
                json::time((*hours).into(), (*minutes).into(), (*seconds).into(), *microseconds, out);
            }
            out.push(b'"');
        }
        Value::Time(negative, days, hours, minutes, seconds, microseconds) => {
            out.extend_from_slice(if *negative { b"\"-" } else { b"\"" });
            let hours = u64::from(*days) * 24 + u64::from(*hours);
            json::time(hours, (*minutes).into(), (*seconds).into(), *microseconds, out);
            out.push(b'"');
        }
    }
}
