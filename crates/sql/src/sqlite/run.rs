//! Run: carries out one statement on the connection of a thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use expression::Scalar;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, ErrorCode, Row, ToSql};

use super::board::Job;
use super::busy;
use super::cell::{self, Texts};
use crate::decimal;
use crate::sheet::Sheet;
use crate::text::Bound;
use crate::trouble::{self, Trouble};

/// After so many steps of its virtual machine it looks whether it is still wanted. That is how sqlite3_interrupt works
/// too, but this cannot come too early, when nothing runs yet.
const STEPS: i32 = 1_000;

/// Writes the rows of a statement on the job's sheet.
pub(super) fn run(source: &str, connection: &mut Connection, job: &mut Job) -> Result<(), Trouble> {
    let stop = Arc::clone(&job.stop);
    busy::given_up_by(&stop);
    let values: Vec<_> =
        job.values.iter().map(|(value, placeholder)| Bound { value, placeholder: *placeholder }).collect();
    let told = |error| told(source, error, &values);
    connection.progress_handler(STEPS, Some(move || is_set(&stop))).map_err(told)?;
    let mut statement = connection.prepare_cached(&job.sql).map_err(told)?;
    if job.reads && !statement.readonly() {
        let what = "the statement writes, and the configuration says that it reads";
        return Err(Trouble::Refused(trouble::unusable(source, what)));
    }
    if statement.parameter_count() != values.len() {
        let what = "the statement has other placeholders than those that were meant";
        return Err(Trouble::Refused(trouble::unusable(source, what)));
    }
    for (index, bound) in values.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, Value(bound.value)).map_err(told)?;
    }
    let mut rows = statement.raw_query();
    let mut texts = Vec::new();
    while let Some(row) = rows.next().map_err(told)? {
        if texts.is_empty() {
            texts = columns(row, &mut job.sheet);
        }
        job.sheet.row(source, |index, out| {
            let value = row.get_ref(index).map_err(told)?;
            cell::write(texts[index], value, out);
            Ok(())
        })?;
        if job.sheet.is_complete() {
            break;
        }
    }
    Ok(())
}

/// They are known for sure once there is a row: a statement that is outdated is prepared again just before.
fn columns(row: &Row<'_>, sheet: &mut Sheet) -> Vec<Texts> {
    let columns: Vec<_> = row.as_ref().columns().collect();
    sheet.columns(columns.iter().map(rusqlite::Column::name));
    columns.iter().map(|column| Texts::declared(column.decl_type())).collect()
}

fn is_set(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

struct Value<'a>(&'a Scalar);

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Scalar::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Scalar::Truth(truth) => i64::from(*truth).into(),
            Scalar::Int(int) => (*int).into(),
            // It has no such integers; as text it is compared as the number that it is.
            Scalar::Uint(uint) => uint.to_string().into(),
            Scalar::Double(double) => (*double).into(),
            Scalar::Decimal(digits) => match decimal::same(digits) {
                Some(double) => double.into(),
                None => ToSqlOutput::Borrowed(ValueRef::Text(digits.as_bytes())),
            },
            Scalar::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Scalar::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

/// A column of a strict table, or of row identifiers, takes no such value.
fn is_of_another_type(error: &Error) -> bool {
    const OTHER_TYPES: [i32; 2] = [rusqlite::ffi::SQLITE_CONSTRAINT_DATATYPE, rusqlite::ffi::SQLITE_MISMATCH];
    error.sqlite_error().is_some_and(|error| OTHER_TYPES.contains(&error.extended_code))
}

fn told(source: &str, error: Error, values: &[Bound<'_>]) -> Trouble {
    match error.sqlite_error_code() {
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::NotADatabase
            | ErrorCode::DatabaseCorrupt
            | ErrorCode::SystemIoFailure,
        ) => trouble::broken(source, true, &error),
        Some(_) if is_of_another_type(&error) => {
            trouble::unfit_data(source, "SQLITE_CONSTRAINT_DATATYPE", &error.to_string(), values)
        }
        Some(code) => trouble::refused(source, &format!("{code:?}"), &error.to_string(), values),
        None => trouble::refused(source, "SQLite", &error.to_string(), values),
    }
}
