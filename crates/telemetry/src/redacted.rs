//! Redacted: a URL without the secrets in its query, for logs.
//!
//! What comes in is a request target or a whole URL, as sent. What goes out are pieces of it in order, with `…` in
//! place of values that must not be logged. Decided by the field's name alone: percent-decoded, in lower case, its
//! letters and digits only, so that `access_token`, `AccessToken` and `user[token]` are one. Names that merely end in
//! a telling word count too (`monkey=` is hidden for nothing; that is the cheaper mistake). Values nested in an
//! encoded URL are not looked into.

/// What stands for a value.
pub(crate) const MARK: &str = "…";

/// Secret wherever it stands in a name.
const WITHIN: [&str; 9] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "signature",
    "credential",
    "authorization",
    "apikey",
];

/// Secret at the end of a name.
const AT_END: [&str; 8] = ["key", "auth", "sig", "pwd", "jwt", "session", "sessionid", "otp"];

/// Secret as the whole name. `code` is what OAuth hands out for a token.
const WHOLE: [&str; 6] = ["code", "pass", "pin", "sid", "assertion", "ticket"];

/// Names with more letters and digits than this are taken for secret rather than looked at.
const LONGEST: usize = 128;

/// A URL without the secrets in its query, for people.
pub fn redacted(url: &str) -> String {
    let pieces: Vec<u8> = Redacted::new(url.as_bytes()).flatten().copied().collect();
    String::from_utf8_lossy(&pieces).into_owned()
}

/// The pieces of a URL; see the module.
#[derive(Clone, Debug)]
pub(crate) struct Redacted<'a> {
    rest: &'a [u8],
    in_query: bool,
    mark: bool,
}

impl<'a> Redacted<'a> {
    pub(crate) fn new(url: &'a [u8]) -> Self {
        Redacted { rest: url, in_query: false, mark: false }
    }

    /// Takes everything up to and including the byte at `last`.
    fn take_through(&mut self, last: usize) -> &'a [u8] {
        let (piece, rest) = self.rest.split_at((last + 1).min(self.rest.len()));
        self.rest = rest;
        piece
    }
}

impl<'a> Iterator for Redacted<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if std::mem::take(&mut self.mark) {
            let end = self.rest.iter().position(|byte| ends_field(*byte)).unwrap_or(self.rest.len());
            self.rest = &self.rest[end..];
            return Some(MARK.as_bytes());
        }
        if self.rest.is_empty() {
            return None;
        }
        let last = self.rest.len() - 1;
        if !self.in_query {
            self.in_query = true;
            let question = self.rest.iter().position(|byte| *byte == b'?');
            return Some(self.take_through(question.unwrap_or(last)));
        }
        let end = self.rest.iter().position(|byte| *byte == b'=' || ends_field(*byte)).unwrap_or(last);
        let has_value =
            self.rest[end] == b'=' && self.rest.get(end + 1).is_some_and(|byte| !ends_field(*byte));
        self.mark = has_value && is_secret(&self.rest[..end]);
        if has_value && !self.mark {
            let value = end + 1;
            let end = self.rest[value..].iter().position(|byte| ends_field(*byte));
            return Some(self.take_through(end.map_or(last, |end| value + end)));
        }
        Some(self.take_through(end))
    }
}

/// `;` separates for some origins. A second `?` does not, but a URL pasted into a value without encoding has one.
fn ends_field(byte: u8) -> bool {
    matches!(byte, b'&' | b';' | b'?' | b'#')
}

fn is_secret(name: &[u8]) -> bool {
    let mut plain = [0; LONGEST];
    let mut length = 0;
    for byte in decoded(name).filter(u8::is_ascii_alphanumeric) {
        let Some(next) = plain.get_mut(length) else { return true };
        *next = byte.to_ascii_lowercase();
        length += 1;
    }
    let plain = &plain[..length];
    WITHIN.iter().any(|word| plain.windows(word.len()).any(|window| window == word.as_bytes()))
        || AT_END.iter().any(|word| plain.ends_with(word.as_bytes()))
        || WHOLE.iter().any(|word| plain == word.as_bytes())
}

/// Percent-decoded, as the origin will do; what is no valid escape stands for itself.
fn decoded(name: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = name;
    std::iter::from_fn(move || match rest {
        [b'%', high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            rest = after;
            Some(hex(*high) << 4 | hex(*low))
        }
        [byte, after @ ..] => {
            rest = after;
            Some(*byte)
        }
        [] => None,
    })
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hides_values_of_telling_names() {
        for (sent, logged) in [
            ("/a?token=abc", "/a?token=…"),
            ("/a?x=1&access_token=abc&y=2", "/a?x=1&access_token=…&y=2"),
            ("/a?accessToken=abc=def", "/a?accessToken=…"),
            ("/a?user[password]=p&b", "/a?user[password]=…&b"),
            ("/a?X-Amz-Signature=0f&X-Amz-Date=2", "/a?X-Amz-Signature=…&X-Amz-Date=2"),
            ("/a?%74oken=abc", "/a?%74oken=…"),
            ("/a?%54OKEN=abc", "/a?%54OKEN=…"),
            ("/a?key=1;sig=2", "/a?key=…;sig=…"),
            ("/a?api-key=1&apikey=2&API_KEY=3", "/a?api-key=…&apikey=…&API_KEY=…"),
            ("/a?code=1&state=2", "/a?code=…&state=2"),
            ("/a?next=/b?token=abc", "/a?next=/b?token=…"),
            ("https://h/a?pwd=1#x", "https://h/a?pwd=…#x"),
        ] {
            assert_eq!(redacted(sent), logged);
        }
    }

    #[test]
    fn leaves_the_rest_as_sent() {
        for url in [
            "",
            "*",
            "/",
            "/token=abc",
            "/a?",
            "/a?&&=;x==",
            "/a?token",
            "/a?token=&x=1",
            "/a?id=7&sort=up",
            "/a?country_code=de&keyword=x&sidecar=1",
            "/a?%zz=%",
            "/a?x=%C3%BC",
        ] {
            assert_eq!(redacted(url), url);
        }
    }

    #[test]
    fn a_name_too_long_to_look_at_is_secret() {
        assert!(is_secret(&[b'x'; LONGEST + 1]));
        assert!(!is_secret(&[b'x'; LONGEST]));
    }

    proptest! {
        #[test]
        fn a_secret_never_comes_through(before in "[a-z=&;?%_]{0,20}", name in "(access_|my)?(token|api_key|PASSWORD)", after in "[&;][a-z=&;?%]{0,20}") {
            let url = format!("/p?{before}&{name}=5EC4E7{after}");
            prop_assert!(!redacted(&url).contains("5EC4E7"));
        }

        #[test]
        fn pieces_without_a_mark_are_the_url(url in prop::collection::vec(any::<u8>(), 0..200)) {
            let pieces: Vec<u8> = Redacted::new(&url).flatten().copied().collect();
            if !pieces.windows(MARK.len()).any(|window| window == MARK.as_bytes()) {
                prop_assert_eq!(pieces, url);
            }
        }
    }
}
