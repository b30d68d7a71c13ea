//! Connection: one to a MySQL. In: a text with its values. Out: rows on a sheet, or what went wrong and what that means
//! for the connection.

use std::sync::Arc;
use std::time::Duration;

use expression::Scalar;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, DriverError, Error, Opts, Params, ServerError, Value};
use tokio::time::timeout;

use super::cell;
use super::json_columns::JsonColumns;
use crate::decimal;
use crate::sheet::Sheet;
use crate::text::Text;
use crate::trouble::{self, Trouble};

/// How long another connection may take to end one. Less than cleaning may take as a whole.
const KILLING: Duration = Duration::from_millis(1_500);

/// See the module.
pub(crate) struct Connection {
    conn: Conn,
    json_columns: JsonColumns,
    source: Arc<str>,
}

impl Connection {
    /// Connected and logged in. Waits as long as it takes.
    pub(crate) async fn open(options: Opts, source: Arc<str>) -> Result<Self, Error> {
        Ok(Connection { conn: Conn::new(options).await?, json_columns: JsonColumns::default(), source })
    }

    /// Writes the rows of a statement on the sheet.
    pub(crate) async fn run(&mut self, text: &Text<'_>, sheet: &mut Sheet) -> Result<(), Trouble> {
        let statement = self.conn.prep(&*text.sql).await;
        let statement = statement.map_err(|error| told(&self.source, text, error, false))?;
        let values = text.values.iter().map(|bound| value(bound.value)).collect();
        let columns = statement.columns();
        let jsons = self.json_columns.among(&mut self.conn, &columns).await;
        let jsons = jsons.map_err(|error| told(&self.source, text, error, false))?;
        let result = self.conn.exec_iter(&statement, Params::Positional(values)).await;
        let mut rows = result.map_err(|error| told(&self.source, text, error, true))?;
        // Where the server sends them again, since a table has changed, these are the newer ones.
        let columns = rows.columns().unwrap_or(columns);
        let names: Vec<_> = columns.iter().map(|column| column.name_str()).collect();
        sheet.columns(names.iter().map(|name| &**name));
        while let Some(row) = rows.next().await.map_err(|error| told(&self.source, text, error, true))? {
            sheet.row(&self.source, |index, out| {
                match row.as_ref(index) {
                    Some(Value::Bytes(json)) if jsons.get(index) == Some(&true) => {
                        crate::json::spliced(json, out);
                    }
                    Some(value) => cell::write(&columns[index], value, out),
                    None => crate::json::null(out),
                }
                Ok(())
            })?;
        }
        // A procedure gives more than one set of rows; the first is the answer.
        rows.drop_result().await.map_err(|error| told(&self.source, text, error, true))
    }

    /// Whether the server still answers.
    pub(crate) async fn check(&mut self) -> bool {
        self.conn.ping().await.is_ok()
    }

    /// Ends what it is carrying out, in the database too, by another connection.
    pub(crate) async fn cancel(self, options: Opts) -> Result<(), Error> {
        let killing = async {
            let mut other = Conn::new(options).await?;
            let killed = other.query_drop(format!("KILL CONNECTION {}", self.conn.id())).await;
            drop(other.disconnect().await);
            killed
        };
        let killed = timeout(KILLING, killing).await;
        // In any case, or else the library would read what is still to come, however long that takes.
        self.close().await;
        killed.unwrap_or_else(|_| Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()))
    }

    /// Ends it, without reading what is still to come.
    pub(crate) async fn close(self) {
        drop(self.conn.disconnect().await);
    }
}

/// As it is: texts as texts, numbers as numbers.
fn value(scalar: &Scalar) -> Value {
    match scalar {
        Scalar::Null => Value::NULL,
        Scalar::Truth(truth) => Value::Int((*truth).into()),
        Scalar::Int(int) => Value::Int(*int),
        Scalar::Uint(uint) => Value::UInt(*uint),
        Scalar::Double(double) => Value::Double(*double),
        Scalar::Decimal(digits) => match decimal::as_written(digits) {
            Some(double) => Value::Double(double),
            None => Value::Bytes(digits.clone().into_bytes()),
        },
        Scalar::Text(text) => Value::Bytes(text.clone().into_bytes()),
        Scalar::Bytes(bytes) => Value::Bytes(bytes.clone()),
    }
}

/// Errors of the server after which it closes the connection: it shuts down, the connection was killed, or idle too long.
const FATAL: [u16; 4] = [1053, 1927, 3169, 4031];

/// Values that do not fit, of a state that does not say so: data truncated, an invalid string, an incorrect value, and a
/// string that the character set of its column does not have.
const UNFIT: [u16; 4] = [1265, 1300, 1366, 3988];
/// Strings that cannot be compared: of two columns, or, where one may be coerced, a column and a value.
const MIXED_COLLATIONS: u16 = 1267;

fn is_of_data(server: &ServerError) -> bool {
    trouble::is_of_data(&server.state)
        || UNFIT.contains(&server.code)
        || (server.code == MIXED_COLLATIONS && server.message.contains(",COERCIBLE)"))
}

fn told(source: &str, text: &Text<'_>, error: Error, sent: bool) -> Trouble {
    match error {
        Error::Server(server) if is_of_data(&server) => {
            let code = format!("{}, {}", server.code, server.state);
            trouble::unfit_data(source, &code, &server.message, &text.values)
        }
        Error::Server(server) if !FATAL.contains(&server.code) => trouble::refused(
            source,
            &format!("{}, {}", server.code, server.state),
            &server.message,
            &text.values,
        ),
        Error::Driver(DriverError::PacketTooLarge) => trouble::too_much(source, crate::sheet::LARGEST),
        Error::Driver(DriverError::StmtParamsMismatch { required, supplied }) => {
            Trouble::Refused(trouble::unusable(
                source,
                &format!("the statement has {required} placeholders where {supplied} were meant"),
            ))
        }
        error => trouble::broken(source, sent, &error),
    }
}
