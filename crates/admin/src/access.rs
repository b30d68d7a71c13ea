//! Access: who may look into the cache and change it. Asked for every request under `/cache` and `/explain`.
//!
//! Where a token is configured, whoever shows it may. Where none is, only programs of this machine may, and no web page
//! that a browser of this machine has open: pages can send requests to loopback addresses, and by a name of their own
//! that resolves to one (DNS rebinding) even read the answers. So nothing with `Origin` is answered, nor what a
//! browser says comes from another site, nor, without the token that pages cannot know, what names a host other than
//! an IP address or `localhost`.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use plan::Token;
use subtle::ConstantTimeEq;

use crate::refusal::AdminRefusal;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// See the module.
#[derive(Debug)]
pub struct Access {
    /// Changed by a reload.
    token: Mutex<Option<Token>>,
    is_loopback: bool,
}

impl Access {
    /// For a listener on this address.
    pub fn new(listening: SocketAddr, token: Option<Token>) -> Self {
        Access { token: Mutex::new(token), is_loopback: listening.ip().to_canonical().is_loopback() }
    }

    /// What has to be shown from now on.
    pub fn set_token(&self, token: Option<Token>) {
        *self.token() = token;
    }

    fn token(&self) -> MutexGuard<'_, Option<Token>> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request with these fields is answered.
    pub(crate) fn check(&self, fields: &HeaderMap) -> Result<(), AdminRefusal> {
        refuse_pages(fields)?;
        if let Some(token) = &*self.token() {
            return check_token(fields, token);
        }
        if !self.is_loopback {
            return Err(AdminRefusal::forbidden(
                "the cache is not controlled over the network without a token: set `listen.admin_token`, or bind \
                 `listen.admin` to a loopback address such as 127.0.0.1:9090",
            ));
        }
        if fields.get_all(HOST).iter().all(|host| names_this_machine(host.as_bytes())) {
            return Ok(());
        }
        Err(AdminRefusal::forbidden(
            "without a token, `Host` must be an IP address or localhost: ask by address, or set `listen.admin_token`",
        ))
    }
}

fn refuse_pages(fields: &HeaderMap) -> Result<(), AdminRefusal> {
    let site = fields.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
    if fields.contains_key(ORIGIN) || site.is_some_and(|site| !matches!(site, b"none" | b"same-origin")) {
        return Err(AdminRefusal::forbidden(
            "requests from web pages are not answered here; use `fleetfoot cache` or curl",
        ));
    }
    Ok(())
}

fn check_token(fields: &HeaderMap, token: &Token) -> Result<(), AdminRefusal> {
    let Some(shown) = fields.get(AUTHORIZATION) else {
        return Err(AdminRefusal::unauthorized(
            "send `Authorization: Bearer …` with the word of `listen.admin_token`",
        ));
    };
    let shown = bearer(shown.as_bytes()).unwrap_or_default();
    // In a time that tells nothing but the length.
    if bool::from(shown.ct_eq(token.secret().as_bytes())) {
        return Ok(());
    }
    Err(AdminRefusal::unauthorized("this is not the word of `listen.admin_token`"))
}

/// The word behind `Bearer`, whose case does not matter (RFC 9110 §11.1).
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, word) = value.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| word.trim_ascii())
}

/// An IP address or `localhost`, with or without a port.
fn names_this_machine(host: &[u8]) -> bool {
    let Ok(host) = std::str::from_utf8(host) else { return false };
    if host.parse::<SocketAddr>().is_ok() || host.parse::<IpAddr>().is_ok() {
        return true;
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_this_machine() {
        for host in
            ["localhost", "LOCALHOST:9090", "127.0.0.1", "127.0.0.1:9090", "[::1]", "[::1]:80", "10.0.0.1:1"]
        {
            assert!(names_this_machine(host.as_bytes()), "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:9090", "", "x:localhost"]
        {
            assert!(!names_this_machine(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn the_scheme_has_no_case_and_the_word_has() {
        let access =
            Access::new("0.0.0.0:1".parse().unwrap(), Some(Token::new("a-long-enough-word".to_owned())));
        let check = |shown: &'static str| {
            access.check(&HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static(shown))]))
        };
        assert_eq!(check("Bearer a-long-enough-word"), Ok(()));
        assert_eq!(check("bearer  a-long-enough-word"), Ok(()));
        for wrong in [
            "Bearer A-long-enough-word",
            "Bearer a-long-enough-wor",
            "Basic a-long-enough-word",
            "Bearer",
            "",
        ] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }
}
