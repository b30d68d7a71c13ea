//! Connection: one to a PostgreSQL. In: a text with its values. Out: rows on a sheet, or what went wrong and what that
//! means for the connection.

use std::error::Error as _;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use futures_core::Stream;
use tokio::task::AbortHandle;
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::{Client, Column, Error, Row, Statement};

use super::Options;
use super::bind::Unfit;
use super::cell::{self, Raw};
use super::prepared::PreparedStatements;
use crate::sheet::Sheet;
use crate::text::Text;
use crate::trouble::{self, Trouble};

/// See the module.
pub(crate) struct Connection {
    client: Client,
    kept: PreparedStatements,
    source: Arc<str>,
    /// What reads and writes for the client. It ends by itself once the client is gone and all is answered.
    task: AbortHandle,
}

/// Ends the task whatever it still waits for, unless all went well.
struct Ending(Option<AbortHandle>);

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

impl Connection {
    /// Connected and logged in. Waits as long as it takes.
    pub(crate) async fn open(options: &Options, source: Arc<str>) -> Result<Self, Error> {
        let (client, connection) = options.config.connect(options.tls.clone()).await?;
        // What went wrong, the client says.
        let task = tokio::spawn(async move { drop(connection.await) }).abort_handle();
        Ok(Connection { client, kept: PreparedStatements::default(), source, task })
    }

    /// Writes the rows of a statement on the sheet.
    pub(crate) async fn run(&mut self, text: &Text<'_>, sheet: &mut Sheet) -> Result<(), Trouble> {
        let mut prepared = self.prepare(text).await?;
        let mut asked = self.client.query_raw(&prepared, &text.values).await;
        if asked.as_ref().is_err_and(is_outdated) {
            // The table has changed since, or somebody between us and the server has forgotten the statement. Nothing
            // was carried out.
            self.kept.forget(&text.sql);
            prepared = self.prepare(text).await?;
            asked = self.client.query_raw(&prepared, &text.values).await;
        }
        let rows = asked.map_err(|error| told(&self.source, text, error, true))?;
        let columns = prepared.columns();
        sheet.columns(columns.iter().map(Column::name));
        let mut rows = pin!(rows);
        while let Some(row) = poll_fn(|context| rows.as_mut().poll_next(context)).await {
            let row = row.map_err(|error| told(&self.source, text, error, true))?;
            sheet.row(&self.source, |index, out| write(&self.source, &row, index, out))?;
        }
        Ok(())
    }

    async fn prepare(&mut self, text: &Text<'_>) -> Result<Statement, Trouble> {
        if let Some(statement) = self.kept.get(&text.sql) {
            return Ok(statement);
        }
        let statement = self.client.prepare(&text.sql).await;
        let statement = statement.map_err(|error| told(&self.source, text, error, false))?;
        if statement.params().len() != text.values.len() {
            let what = "the statement has other placeholders than those that were meant";
            return Err(Trouble::Refused(trouble::unusable(&self.source, what)));
        }
        self.kept.keep(&text.sql, statement.clone());
        Ok(statement)
    }

    /// Whether it has ended already, as far as is known.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Whether the server still answers.
    pub(crate) async fn check(&mut self) -> bool {
        self.client.check_connection().await.is_ok()
    }

    /// Ends what it is carrying out, in the database too, and waits until it has ended.
    pub(crate) async fn cancel(self, options: &Options) -> Result<(), Error> {
        let mut ending = Ending(Some(self.task.clone()));
        let cancelled = self.client.cancel_token().cancel_query(options.tls.clone()).await;
        // It answers in turn: once it does, the statement is through. The connection is not used again, since the
        // request may have come too late and stop the next one.
        if self.client.check_connection().await.is_ok() {
            ending.0 = None;
        }
        cancelled
    }
}

fn write(source: &str, row: &Row, index: usize, out: &mut Vec<u8>) -> Result<(), Trouble> {
    let raw: Option<Raw<'_>> = row.try_get(index).map_err(|error| trouble::broken(source, true, &error))?;
    let Some(Raw(raw)) = raw else {
        crate::json::null(out);
        return Ok(());
    };
    let column = &row.columns()[index];
    cell::write(column.type_(), raw, out).ok_or_else(|| {
        let (name, ty) = (column.name(), column.type_().name());
        let what = format!("column {name} is of type {ty}, which has no form in JSON; cast it to text");
        Trouble::Unwanted(trouble::unusable(source, &what))
    })
}

/// Whether a prepared statement does not fit any more: a new one will.
fn is_outdated(error: &Error) -> bool {
    error.as_db_error().is_some_and(|error| {
        *error.code() == SqlState::INVALID_SQL_STATEMENT_NAME
            || (*error.code() == SqlState::FEATURE_NOT_SUPPORTED && error.message().contains("cached plan"))
    })
}

fn told(source: &str, text: &Text<'_>, error: Error, sent: bool) -> Trouble {
    if let Some(unfit) = error.source().and_then(|cause| cause.downcast_ref::<Unfit>()) {
        return Trouble::Refused(trouble::unfit(source, unfit.placeholder, &unfit.takes));
    }
    match error.as_db_error() {
        // The server ends the connection: it was told to, or shuts down.
        Some(said) if said.code().code().starts_with("57P") => trouble::broken(source, sent, said),
        Some(said) if matches!(said.parsed_severity(), Some(Severity::Fatal | Severity::Panic)) => {
            trouble::broken(source, sent, said)
        }
        Some(said) => match unread_parameter(said).and_then(|index| text.values.get(index)) {
            Some(bound) => {
                Trouble::Refused(trouble::unfit(source, bound.placeholder, "something of another form"))
            }
            None if trouble::is_of_data(said.code().code()) => {
                trouble::unfit_data(source, said.code().code(), said.message(), &text.values)
            }
            None => trouble::refused(source, said.code().code(), said.message(), &text.values),
        },
        None => trouble::broken(source, sent, &error),
    }
}

/// The parameter, counted from 0, that the server could not read as its type: "unnamed portal parameter $1".
fn unread_parameter(said: &DbError) -> Option<usize> {
    let (_, number) = said.where_()?.split_once("portal parameter $")?;
    let digits = number.find(|character: char| !character.is_ascii_digit()).unwrap_or(number.len());
    number[..digits].parse::<usize>().ok()?.checked_sub(1)
}
