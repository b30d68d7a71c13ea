//! Database: a source at a database → [`SqlSource`]. Called by `check` for each.

use std::path::{Path, PathBuf};

use crate::meant::{Database, DatabaseAddress, DatabaseServer, SqlSource, Token};
use crate::source::url;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{default, schema, secret};

/// Whether a text is meant for a database.
pub(crate) fn is_database(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| SCHEMES.iter().any(|(known, _, _)| *known == scheme))
}

/// A way to write which database it is.
type Scheme = (&'static str, Engine, bool);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Engine {
    MySql,
    Postgres,
    Sqlite,
}

/// Schemes, and whether they mean TLS.
const SCHEMES: [Scheme; 9] = [
    ("mysql", Engine::MySql, false),
    ("mariadb", Engine::MySql, false),
    ("mysqls", Engine::MySql, true),
    ("mariadbs", Engine::MySql, true),
    ("postgres", Engine::Postgres, false),
    ("postgresql", Engine::Postgres, false),
    ("postgress", Engine::Postgres, true),
    ("postgresqls", Engine::Postgres, true),
    ("sqlite", Engine::Sqlite, false),
];

/// Reads a database: a URL alone, or its section. `None` when a fault left none.
pub(crate) fn database(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<SqlSource> {
    if let Shape::Text(_) = node.shape() {
        let database = value::parsed(node, report, |text| location(text, folder))?;
        return Some(default::database(node.key(), database));
    }
    let section = Section::open(node, &schema::SOURCE_SQL, report)?;
    let located = section.need("sql", report)?;
    let database = value::parsed(located, report, |text| location(text, folder))?;
    let mut source = default::database(node.key(), database);
    if let Some(node) = section.get("password") {
        let password = secret::secret(node, folder, report).map(Token::new);
        match &mut source.database {
            Database::MySql(server) | Database::Postgres(server) => server.password = password,
            Database::Sqlite(_) => {
                report.at_key(node, "`password` has no effect: SQLite has none", "take it out");
            }
        }
    }
    section.set("pool", &mut source.pool, report, |node, report| {
        Some(value::number(node, 1..=10_000, report)? as usize)
    });
    section.set("queue", &mut source.queue, report, |node, report| {
        Some(value::number(node, 0..=1_000_000, report)? as usize)
    });
    section.set("wait", &mut source.wait, report, value::timeout);
    section.set("connect_timeout", &mut source.connect_timeout, report, value::timeout);
    section.set("timeout", &mut source.timeout, report, value::timeout);
    if let Some(node) = section.get("tls") {
        tls(node, &mut source, folder, report);
    }
    Some(source)
}

fn tls(node: Node<'_>, source: &mut SqlSource, folder: &Path, report: &mut Report) {
    let Some(section) = Section::open(node, &schema::SOURCE_TLS, report) else { return };
    section.set("verify", &mut source.verify, report, value::switch);
    source.authorities = section.get("authorities").and_then(|node| value::file(node, folder, report));
    let address = match &source.database {
        Database::MySql(server) | Database::Postgres(server) => Some(&server.address),
        Database::Sqlite(_) => None,
    };
    if !matches!(address, Some(DatabaseAddress::Tcp { tls: true, .. })) {
        report.at_key(
            node,
            "`tls` has no effect: the URL does not ask for it",
            "write `mysqls://` or `postgress://` in the URL, or take `tls` out",
        );
    }
}

/// Reads where a database is, and who we are there.
fn location(text: &str, folder: &Path) -> Result<Database, Reason> {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let Some((_, engine, tls)) = SCHEMES.iter().find(|(known, _, _)| *known == scheme) else {
        return Err(Reason::new(
            format!("{} is no URL of a database", quoted(text.rsplit('@').next().unwrap_or(text))),
            "write `mysql://user@host/database`, `postgres://user@host/database` or `sqlite:./file.db`",
        ));
    };
    let rest = &text[scheme.len() + 1..];
    match engine {
        Engine::Sqlite => file(rest, folder).map(Database::Sqlite),
        Engine::MySql => server(scheme, rest, 3306, *tls).map(Database::MySql),
        Engine::Postgres => server(scheme, rest, 5432, *tls).map(Database::Postgres),
    }
}

/// Relative paths start at the folder of the file that names them.
fn file(rest: &str, folder: &Path) -> Result<PathBuf, Reason> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.is_empty() || path.contains(['?', '#']) || path == ":memory:" {
        return Err(Reason::new(
            format!("{} names no file", quoted(&format!("sqlite:{rest}"))),
            "write its path, like `sqlite:./shop.db`",
        ));
    }
    let path = folder.join(path);
    if !path.is_file() {
        return Err(Reason::new(
            format!("there is no file {}", quoted(&path.display().to_string())),
            "make the database first: fleetfoot makes none",
        ));
    }
    Ok(path)
}

fn server(scheme: &str, rest: &str, default_port: u16, tls: bool) -> Result<DatabaseServer, Reason> {
    let example = format!("{scheme}://user@host/database");
    let wrong = |cause: String| Reason::new(cause, format!("write it like `{example}`"));
    let rest =
        rest.strip_prefix("//").ok_or_else(|| wrong("the URL has no `//` behind its scheme".to_owned()))?;
    let (identity, place) = rest.rsplit_once('@').ok_or_else(|| wrong("the URL names no user".to_owned()))?;
    if identity.contains(':') {
        return Err(Reason::new(
            "the URL contains a password",
            format!(
                "write `{scheme}://{}@…`, and `password` beside it",
                identity.split(':').next().unwrap_or("user")
            ),
        ));
    }
    let (place, options) = place.split_once('?').unwrap_or((place, ""));
    let (authority, database) =
        place.split_once('/').ok_or_else(|| wrong("the URL names no database".to_owned()))?;
    if identity.is_empty() || database.is_empty() || database.contains(['/', '#']) {
        return Err(wrong("the URL names no user, or no database".to_owned()));
    }
    let address = match options.strip_prefix("socket=") {
        Some(socket) if authority.is_empty() && socket.starts_with('/') => {
            DatabaseAddress::Unix(socket.into())
        }
        Some(_) => return Err(wrong("a socket is a whole path, without a host before it".to_owned())),
        None if !options.is_empty() => {
            return Err(Reason::new(
                format!("{} is no option of the URL", quoted(options)),
                "write `timeout`, `pool` and their like beside it",
            ));
        }
        None => {
            let (host, port) = url::host_and_port(authority)?;
            DatabaseAddress::Tcp { host, port: port.unwrap_or(default_port), tls }
        }
    };
    Ok(DatabaseServer { address, user: identity.to_owned(), password: None, database: database.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_urls() {
        let server = |host: &str, port, tls| DatabaseServer {
            address: DatabaseAddress::Tcp { host: host.to_owned(), port, tls },
            user: "app".to_owned(),
            password: None,
            database: "shop".to_owned(),
        };
        let read = |text| location(text, Path::new("")).unwrap();
        assert_eq!(read("mysql://app@127.0.0.1/shop"), Database::MySql(server("127.0.0.1", 3306, false)));
        assert_eq!(read("mariadb://app@db:3307/shop"), Database::MySql(server("db", 3307, false)));
        assert_eq!(read("postgres://app@[::1]/shop"), Database::Postgres(server("::1", 5432, false)));
        assert_eq!(read("postgresqls://app@db/shop"), Database::Postgres(server("db", 5432, true)));
        let socket = read("mysql://app@/shop?socket=/run/mysqld.sock");
        assert_eq!(socket.address(), "mysql at /run/mysqld.sock");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for (text, cause) in [
            ("mysql://app:secret@db/shop", "the URL contains a password"),
            ("mysql://db/shop", "the URL names no user"),
            ("mysql://app@db", "the URL names no database"),
            ("mysql:app@db/shop", "the URL has no `//` behind its scheme"),
            ("oracle://app:secret@db/shop", "`db/shop` is no URL of a database"),
            ("mysql://app@db/shop?pool=3", "`pool=3` is no option of the URL"),
            ("sqlite:", "`sqlite:` names no file"),
            ("sqlite:./nowhere.db", "there is no file `./nowhere.db`"),
        ] {
            let reason = location(text, Path::new("")).unwrap_err();
            assert_eq!(reason.cause, cause);
            assert!(!reason.to_string().contains("secret"), "{reason}");
        }
    }
}
