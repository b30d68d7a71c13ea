//! Echo: what a response repeats of parameters that were for its source alone, as secrets in a query are. In comes the value of a
//! field: a URL (`Location`), or a text that has some (`Link`, `Refresh`). Out goes the same without them. Called by `policy`.
//!
//! A source that redirects to the same path with a slash says again whatever query it got. Content is not looked through: it may
//! be a stream, compressed, and of any form.

use crate::form;

/// How often one URL within another may be encoded.
const DEPTH: usize = 3;

/// See the module. Each parameter as its reader sees it: `key=secret`.
pub struct Echo(Box<[Box<[u8]>]>);

impl Echo {
    /// Of these parameters, names and values as they stand in a query.
    pub fn of<'p>(parameters: impl Iterator<Item = (&'p str, &'p str)>) -> Self {
        let read = |(name, value)| form::decoded(name).chain([b'=']).chain(form::decoded(value)).collect();
        Echo(parameters.map(read).collect())
    }

    /// What is left of a value; `None`: it repeats none of them.
    ///
    /// A parameter of the same name with another value is the source's own and stays. One that has a URL within it which repeats ours
    /// (`next=%2Fx%3Fkey%3D…`) goes as a whole.
    pub fn without(&self, value: &[u8]) -> Option<Vec<u8>> {
        let (mut out, mut rest, mut is_changed) = (Vec::new(), value, false);
        while let Some(mark) = rest.iter().position(|byte| *byte == b'?') {
            let (before, query) = rest.split_at(mark + 1);
            let (query, behind) =
                query.split_at(query.iter().position(|byte| ends(*byte)).unwrap_or(query.len()));
            let parameters = || query.split(|byte| *byte == b'&');
            let kept: Vec<_> = parameters().filter(|parameter| !self.is_in(parameter)).collect();
            is_changed |= kept.len() < parameters().count();
            out.extend_from_slice(if kept.is_empty() { &before[..mark] } else { before });
            out.extend_from_slice(&kept.join(&b'&'));
            rest = behind;
        }
        is_changed.then(|| [&out, rest].concat())
    }

    fn is_in(&self, parameter: &[u8]) -> bool {
        let mut read = parameter.to_vec();
        for _ in 0..DEPTH {
            read = form::decoded_bytes(&read).collect();
            if self.0.iter().any(|ours| has(&read, ours)) {
                return true;
            }
        }
        false
    }
}

/// Never the values.
impl std::fmt::Debug for Echo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Echo").field(&self.0.len()).finish()
    }
}

/// Whether a query ends here, in a field that has more than a URL.
fn ends(byte: u8) -> bool {
    matches!(byte, b'#' | b'<' | b'>' | b'"' | b' ' | b'\t')
}

/// Whether all of a parameter stands in a text, and not one whose value only begins so.
fn has(text: &[u8], parameter: &[u8]) -> bool {
    let is_end = |behind: &[u8]| {
        behind.first().is_none_or(|byte| ends(*byte) || matches!(byte, b'&' | b';' | b',' | b'\''))
    };
    (0..text.len()).any(|at| text[at..].strip_prefix(parameter).is_some_and(is_end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_ours_go_however_they_are_written_and_others_stay() {
        let echo = Echo::of([("api_key", "s3+c%26ret"), ("app", "1")].into_iter());
        for (value, expected) in [
            ("/x/?a=1&api_key=s3+c%26ret&b", Some("/x/?a=1&b")),
            ("/x/?api_key=s3%20c%26ret&app=1#f", Some("/x/#f")),
            ("https://b.example?%61pp=1&&b", Some("https://b.example?&b")),
            (
                "</x?p=2&app=1>; rel=next, </x?p=1&app=1>; rel=prev",
                Some("</x?p=2>; rel=next, </x?p=1>; rel=prev"),
            ),
            ("0; url=/x?app=1", Some("0; url=/x")),
            ("/login?to=%2Fx%3Fa%3D1%26app%3D1&b=2", Some("/login?b=2")),
            ("/login?to=/x?app%3D1", Some("/login")),
            ("/login?to=%252Fx%253Fapp%253D1", Some("/login")),
            ("/x?a=1;app=1", Some("/x")),
            ("/x?app=12&app&api_key=theirs", None),
            ("/app=1", None),
            ("/x?", None),
        ] {
            let left = echo.without(value.as_bytes()).map(|left| String::from_utf8(left).unwrap());
            assert_eq!(left.as_deref(), expected, "{value}");
        }
        assert_eq!(echo.without(b"/x?\xff&app=1&\xfe").unwrap(), b"/x?\xff&\xfe");
        assert_eq!(format!("{echo:?}"), "Echo(2)");
    }
}
