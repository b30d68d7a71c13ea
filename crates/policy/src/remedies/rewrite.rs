//! Rewrite: the layer that asks the source for another path, and mends what its responses say of paths: `Location`,
//! `Content-Location` and the `Path` of cookies, so that clients come back to us.
//!
//! The route has been chosen before, and is not chosen again: a path that is rewritten gets no other protection.

use std::sync::Arc;

use http::header::{CONTENT_LOCATION, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue};
use message::{Ask, Error, Kind, Result, Scheme};
use rules::authority;
use rules::path::Target;
use rules::rewrite::Rewrite;

use crate::stack::around::{Arrival, Held};

/// See the module. One for each place and core.
#[derive(Clone, Debug)]
pub struct RewriteLayer {
    /// What becomes of paths.
    pub rewrite: Arc<plan::Rewrite>,
    /// What the source may take itself for.
    pub hosts: Arc<[String]>,
}

/// What is kept for the response while a call is under way.
pub(crate) struct HeldRewrite {
    back: Rewrite,
    scheme: Scheme,
    /// Host and port of the request.
    authority: Box<str>,
    hosts: Arc<[String]>,
}

impl RewriteLayer {
    /// Gives the request its other path.
    pub(crate) fn arrive<Q: Ask>(&self, ask: &mut Q) -> Arrival<Q::Answer> {
        let Some(request) = ask.request_mut() else { return Arrival::Pass };
        let target = match self.target(&request.target) {
            Ok(Some(target)) => target,
            Ok(None) => return Arrival::Pass,
            Err(error) => return Arrival::End(Err(error)),
        };
        request.parts_mut().target = target.into();
        match &self.rewrite.back {
            Some(back) => {
                let held = HeldRewrite {
                    back: back.clone(),
                    scheme: request.scheme,
                    authority: request.authority.clone(),
                    hosts: Arc::clone(&self.hosts),
                };
                Arrival::Hold(Held::Rewrite(Box::new(held)))
            }
            None => Arrival::Pass,
        }
    }

    /// The target that is asked for; `None`: the one that came.
    ///
    /// # Errors
    /// It would lead somewhere else than it says.
    pub(crate) fn target(&self, sent: &str) -> Result<Option<String>> {
        let (path, query) = match sent.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (sent, None),
        };
        let Some(mut target) = self.rewrite.there.path(path) else { return Ok(None) };
        if !is_plain(&target) {
            let detail = "the path would be another one once it is rewritten; send it normalized";
            return Err(Error::new(Kind::MalformedRequest, detail));
        }
        if let Some(query) = self.rewrite.query.as_deref().or(query) {
            target.extend(["?", query]);
        }
        Ok(Some(target))
    }
}

/// Whether a target that was made leads where it says, whoever reads it. Two slashes could be read as the beginning of a host.
pub(crate) fn is_plain(target: &str) -> bool {
    !target.starts_with("//") && Target::read(target).is_some()
}

impl HeldRewrite {
    /// Mends what a response says of paths.
    pub(crate) fn end<Q: Ask>(self, outcome: &mut Result<Q::Answer>) {
        let Ok(answer) = outcome else { return };
        let Some(response) = Q::response_mut(answer) else { return };
        for name in [LOCATION, CONTENT_LOCATION] {
            mend(&mut response.fields, &name, |value| self.location(value));
        }
        mend(&mut response.fields, &SET_COOKIE, |value| self.cookie(value));
    }

    /// A URL of ours as clients have to write it; `None`: as it is. One that names the source by a host of its own loses that: it is
    /// none that clients can ask.
    fn location(&self, url: &str) -> Option<String> {
        let (host, path) = match split_scheme(url) {
            Some((scheme, rest)) => {
                let written = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
                let is_same = |other: &str| authority::is_same(scheme.unwrap_or(self.scheme), written, other);
                let (host, path) = url.split_at(url.len() - rest.len() + written.len());
                if is_same(&self.authority) {
                    (host, path)
                } else if self.hosts.iter().any(|own| is_same(own)) {
                    ("", path)
                } else {
                    return None;
                }
            }
            None => ("", url),
        };
        let (path, rest) = path.split_at(path.find(['?', '#']).unwrap_or(path.len()));
        let mended = self.back.path(path)?;
        // Without a host it would begin with one.
        (!mended.starts_with("//")).then(|| [host, &mended, rest].concat())
    }

    /// A cookie with its paths mended: of several the last counts (RFC 6265 §5.3), and some take the first.
    fn cookie(&self, line: &str) -> Option<String> {
        let (pair, attributes) = line.split_once(';')?;
        let (mut out, mut is_mended) = (pair.to_owned(), false);
        for attribute in attributes.split(';') {
            let mended = self.attribute(attribute);
            is_mended |= mended.is_some();
            out.extend([";", mended.as_deref().unwrap_or(attribute)]);
        }
        is_mended.then_some(out)
    }

    fn attribute(&self, attribute: &str) -> Option<String> {
        let (name, path) = attribute.split_once('=')?;
        if !name.trim().eq_ignore_ascii_case("path") {
            return None;
        }
        let mut mended = self.back.path(path.trim())?;
        if path.trim() == "/" && mended.len() > 1 {
            // All that the source has is all below: `/api/` would leave `/api` out.
            mended.truncate(mended.trim_end_matches('/').len());
        }
        Some([name, "=", &mended].concat())
    }
}

/// The scheme of a URL that has a host, where it says one, and what follows the two slashes.
fn split_scheme(url: &str) -> Option<(Option<Scheme>, &str)> {
    let (scheme, rest) = url.split_once("//")?;
    match scheme {
        "" => Some((None, rest)),
        _ if scheme.eq_ignore_ascii_case("http:") => Some((Some(Scheme::Http), rest)),
        _ if scheme.eq_ignore_ascii_case("https:") => Some((Some(Scheme::Https), rest)),
        _ => None,
    }
}

/// Changes lines of a field.
fn mend(fields: &mut HeaderMap, name: &HeaderName, mended: impl Fn(&str) -> Option<String>) {
    let http::header::Entry::Occupied(mut lines) = fields.entry(name) else { return };
    for line in lines.iter_mut() {
        let value = line.to_str().ok().and_then(&mended);
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
            *line = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use rules::rewrite::Piece;

    use super::*;

    fn literal(text: &str) -> Piece {
        Piece::Literal(text.to_owned())
    }

    fn layer(from: Vec<Piece>, to: Vec<Piece>) -> RewriteLayer {
        let there = Rewrite::new(from, to);
        let rewrite = plan::Rewrite { name: "p".to_owned(), back: there.back(), there, query: None };
        RewriteLayer { rewrite: Arc::new(rewrite), hosts: Arc::from(["10.0.0.7:3000".to_owned()]) }
    }

    fn held(from: Vec<Piece>, to: Vec<Piece>) -> HeldRewrite {
        let RewriteLayer { rewrite, hosts } = layer(from, to);
        let back = rewrite.back.clone().unwrap();
        HeldRewrite { back, scheme: Scheme::Http, authority: "a.example:8080".into(), hosts }
    }

    #[test]
    fn no_path_becomes_one_that_misleads() {
        let layer = layer(vec![literal("api"), Piece::Rest], vec![Piece::Rest]);
        assert_eq!(layer.target("/api/x?a=/b//c").unwrap().as_deref(), Some("/x?a=/b//c"));
        assert_eq!(layer.target("/other?a=1").unwrap(), None);
        assert_eq!(layer.target("/api//evil.example/x").unwrap_err().kind(), Kind::MalformedRequest);
    }

    #[test]
    fn only_urls_of_ours_are_mended() {
        let ours = held(vec![literal("api"), literal("v1"), Piece::Rest], vec![literal("v1"), Piece::Rest]);
        for (url, expected) in [
            ("/v1/x?a=/v1#b", Some("/api/v1/x?a=/v1#b")),
            ("/v1", Some("/api/v1")),
            ("/v10/x", None),
            ("v1/x", None),
            ("http://A.example:8080/v1/x", Some("http://A.example:8080/api/v1/x")),
            ("//a.example:8080/v1/x", Some("//a.example:8080/api/v1/x")),
            ("https://b.example/v1/x", None),
            ("http://10.0.0.7:3000/v1/x?a#b", Some("/api/v1/x?a#b")),
            ("//10.0.0.7:3000/v1/x", Some("/api/v1/x")),
            ("HTTP://10.0.0.7:3000/other", None),
            ("http://10.0.0.7/v1/x", None),
            ("http://a.example:8080", None),
            ("/x?u=//a.example:8080/v1/x", None),
            ("mailto://a.example:8080/v1", None),
        ] {
            assert_eq!(ours.location(url).as_deref(), expected, "{url}");
        }
        let outward = held(vec![Piece::Rest], vec![literal("v1"), Piece::Rest]);
        for url in ["/v1//evil.example/", "http://10.0.0.7:3000/v1//evil.example/"] {
            assert_eq!(outward.location(url).as_deref(), None, "no path becomes a host");
        }
        let default = HeldRewrite { authority: "a.example".into(), ..ours };
        for url in ["http://a.example:80", "http://A.example.", "https://a.example:443", "//a.example:80"] {
            let mended = default.location(&format!("{url}/v1/x"));
            assert_eq!(mended, Some(format!("{url}/api/v1/x")), "{url}");
        }
    }

    #[test]
    fn cookies_are_for_the_path_that_clients_know() {
        let prefix = || held(vec![literal("api"), Piece::Rest], vec![literal("v1"), Piece::Rest]);
        for (line, expected) in [
            ("a=1; Path=/v1; Secure", Some("a=1; Path=/api; Secure")),
            ("a=1;path=/v1/x", Some("a=1;path=/api/x")),
            ("a=/v1; Path=/", None),
            ("a=1; Path=/x; Path=/v1/y; Secure", Some("a=1; Path=/x; Path=/api/y; Secure")),
            ("a=1; Path=/v1; Path=/v1/y", Some("a=1; Path=/api; Path=/api/y")),
            ("path=/v1", None),
            ("a=1", None),
        ] {
            assert_eq!(prefix().cookie(line).as_deref(), expected, "{line}");
        }
        let whole = held(vec![literal("api"), Piece::Rest], vec![Piece::Rest]);
        assert_eq!(whole.cookie("a=1; Path=/").as_deref(), Some("a=1; Path=/api"));
    }
}
