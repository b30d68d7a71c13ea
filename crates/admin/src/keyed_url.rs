//! Keyed URL: a URL as somebody who controls the cache writes it, in the form that keys have.

use http::Uri;
use message::Scheme;

/// Scheme, host and target of an absolute URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedUrl {
    /// `http` or `https`.
    pub scheme: Scheme,
    /// Host and port, normalised as a client's `Host` is.
    pub authority: Box<str>,
    /// Path and query, the path in the form that keys have.
    pub target: Box<str>,
}

impl KeyedUrl {
    /// Reads `http://host/path?query`. The error says what is wrong and what to write.
    pub fn of(url: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("`{url}` {what}; write it as in http://example.com/path");
        let uri: Uri = url.parse().map_err(|_| wrong("is not a URL"))?;
        let scheme = match uri.scheme_str() {
            Some("http") => Scheme::Http,
            Some("https") => Scheme::Https,
            _ => return Err(wrong("does not begin with http:// or https://")),
        };
        let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        Ok(KeyedUrl {
            scheme,
            authority: authority_of(authority, scheme)
                .ok_or_else(|| wrong("has no host that can be asked for"))?,
            target: rules::path::normalized(uri.path_and_query().map_or("/", |target| target.as_str()))
                .into(),
        })
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        self.target.split_once('?').map_or(&*self.target, |(path, _)| path)
    }

    /// As a URL again.
    pub fn url(&self) -> String {
        format!("{}://{}{}", self.scheme.as_str(), self.authority, self.target)
    }
}

/// Host and port as keys have them.
pub(crate) fn authority_of(text: &str, scheme: Scheme) -> Option<Box<str>> {
    http1::is_authority(text.as_bytes()).then(|| http1::normalize_authority(text, scheme).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_the_form_of_keys() {
        let place = KeyedUrl::of("HTTP://Example.COM:80/A?b=C").unwrap();
        assert_eq!((&*place.authority, &*place.target), ("example.com", "/A?b=C"));
        assert_eq!((place.path(), place.url().as_str()), ("/A", "http://example.com/A?b=C"));
        assert_eq!(&*KeyedUrl::of("https://a:8443").unwrap().target, "/");
        assert_eq!(&*KeyedUrl::of("http://a/%7Eb/caf%c3%a9?%7E").unwrap().target, "/~b/caf%C3%A9?%7E");
    }

    #[test]
    fn what_is_no_url_is_refused_with_a_remedy() {
        for wrong in ["/path", "example.com/x", "ftp://a/", "http://", "http://u@a/", "http://a b/", ""] {
            assert!(KeyedUrl::of(wrong).unwrap_err().contains("http://example.com/path"), "{wrong}");
        }
    }
}
