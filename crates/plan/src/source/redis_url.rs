//! RedisUrl: `rediss://host:6380`, `unix:/run/redis.sock` → [`RedisServer`]. In comes what stands behind `redis` or
//! `replica`, out goes a server or a reason in plain words.

use std::path::PathBuf;

use crate::meant::RedisServer;
use crate::source::url;
use crate::yaml::fault::{Reason, quoted};

const PORT: u16 = 6379;

/// Whether a text is meant for a Redis.
pub(crate) fn is_redis(text: &str) -> bool {
    text.ends_with(":6379")
        || ["redis:", "rediss:", "valkey:", "valkeys:", "unix:", "redis+unix:"]
            .iter()
            .any(|scheme| text.starts_with(scheme))
}

/// Reads where a Redis is: scheme, host and perhaps a port, or a socket.
pub(crate) fn server(text: &str) -> Result<RedisServer, Reason> {
    for scheme in ["unix:", "redis+unix:"] {
        if let Some(path) = text.strip_prefix(scheme) {
            return socket(text, path);
        }
    }
    let (tls, rest) = match text.split_once("://") {
        Some(("redis" | "valkey", rest)) => (false, rest),
        Some(("rediss" | "valkeys", rest)) => (true, rest),
        Some((other, _)) => {
            return Err(Reason::new(
                format!("{} is no scheme of a Redis", quoted(other)),
                "write `redis://`, `rediss://` for TLS, or `unix:` and the path of a socket",
            ));
        }
        None => {
            // A password may stand before an `@`: it is not repeated.
            let bare = text.rsplit('@').next().unwrap_or(text);
            return Err(Reason::new(
                format!("{} has no scheme", quoted(bare)),
                format!("write {}", quoted(&format!("redis://{bare}"))),
            ));
        }
    };
    let scheme = if tls { "rediss" } else { "redis" };
    if let Some((_, bare)) = rest.rsplit_once('@') {
        let bare = bare.split(['/', '?', '#']).next().unwrap_or(bare);
        return Err(Reason::new(
            "the URL contains a user name or password",
            format!("write `{scheme}://{bare}`, and `user` and `password` beside it"),
        ));
    }
    let (authority, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if !matches!(behind, "" | "/") {
        return Err(Reason::new(
            format!("{} goes on behind the host", quoted(text)),
            format!("write `{scheme}://{authority}`; the number of a database is `database`"),
        ));
    }
    let (host, port) = url::host_and_port(authority)?;
    Ok(RedisServer::Tcp { host, port: port.unwrap_or(PORT), tls })
}

fn socket(text: &str, path: &str) -> Result<RedisServer, Reason> {
    let path = path.strip_prefix("//").unwrap_or(path);
    if !path.starts_with('/') {
        return Err(Reason::new(
            format!("{} names no socket", quoted(text)),
            "write the whole path, like `unix:/run/redis/redis.sock`",
        ));
    }
    Ok(RedisServer::Unix(PathBuf::from(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_servers() {
        let tcp = |host: &str, port, tls| RedisServer::Tcp { host: host.to_owned(), port, tls };
        for (text, server_meant) in [
            ("redis://127.0.0.1:6379", tcp("127.0.0.1", 6379, false)),
            ("rediss://Cache.example.com", tcp("cache.example.com", 6379, true)),
            ("valkey://[::1]:7000/", tcp("::1", 7000, false)),
            ("unix:/run/redis.sock", RedisServer::Unix("/run/redis.sock".into())),
            ("redis+unix:///run/redis.sock", RedisServer::Unix("/run/redis.sock".into())),
        ] {
            assert_eq!(server(text).unwrap(), server_meant, "{text}");
            assert!(is_redis(text));
        }
    }

    #[test]
    fn explains_what_is_wrong_and_shows_no_password() {
        for (text, remedy) in [
            ("127.0.0.1:6379", "write `redis://127.0.0.1:6379`"),
            ("http://a", "write `redis://`, `rediss://` for TLS, or `unix:` and the path of a socket"),
            ("redis://a/2", "write `redis://a`; the number of a database is `database`"),
            ("redis://me:secret@a:1/2", "write `redis://a:1`, and `user` and `password` beside it"),
            ("redis://:secret@a:1", "write `redis://a:1`, and `user` and `password` beside it"),
            ("me:secret@a:1", "write `redis://a:1`"),
            ("unix:redis.sock", "write the whole path, like `unix:/run/redis/redis.sock`"),
        ] {
            let reason = server(text).unwrap_err();
            assert_eq!(reason.remedy, remedy, "{text}");
            assert!(!reason.cause.contains("secret"), "{}", reason.cause);
        }
    }
}
