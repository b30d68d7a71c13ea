//! Vary: which request fields an answer depends on (RFC 9110 §12.5.5) and whether two requests agree in them
//! (RFC 9111 §4.1).
//!
//! The cache keeps [`selecting`] bytes beside each variant and compares with [`matches()`] on lookup.

use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION, COOKIE, ORIGIN, REFERER, USER_AGENT, VARY};
use http::{HeaderMap, HeaderName};
use message::Fields;

use crate::{alike, list};

/// What `Vary` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vary {
    /// Nothing: one answer for every request.
    None,
    /// `*`, something unreadable, or the client's address: no other request is known to match.
    Star,
    /// These request fields, sorted, each once.
    Names(Vec<HeaderName>),
}

impl Vary {
    /// Reads all lines of `Vary`.
    pub fn of(response: &HeaderMap) -> Self {
        let mut names = Vec::new();
        for member in response.get_all(VARY).iter().flat_map(|line| list::members(line.as_bytes())) {
            match HeaderName::from_bytes(member) {
                Ok(name) if name != "*" && !is_written_anew(&name) => names.push(name),
                _ => return Vary::Star,
            }
        }
        Vary::from_names(names)
    }

    /// The names, when there are some.
    pub fn names(&self) -> &[HeaderName] {
        match self {
            Vary::None | Vary::Star => &[],
            Vary::Names(names) => names,
        }
    }

    fn from_names(mut names: Vec<HeaderName>) -> Self {
        names.sort_unstable_by(|one, other| one.as_str().cmp(other.as_str()));
        names.dedup();
        if names.is_empty() { Vary::None } else { Vary::Names(names) }
    }
}

/// Fields that a proxy writes for each client on the way to the origin: what the client sent of them is not what the
/// answer was chosen by, so no other request is known to match.
fn is_written_anew(name: &HeaderName) -> bool {
    matches!(name.as_str(), "forwarded" | "x-forwarded-for" | "x-real-ip")
}

/// What `Vary` says together with what it should have said: an `Access-Control-Allow-Origin` that repeats the request's
/// `Origin` was made for that origin, and served to another it would break it, or let it in.
pub fn implied_vary(request: Fields<'_>, response: &HeaderMap) -> Vary {
    let vary = Vary::of(response);
    // Of several origins nobody knows which a source has looked at.
    let reflected = request.all(&ORIGIN).any(|origin| {
        response.get_all(ACCESS_CONTROL_ALLOW_ORIGIN).iter().any(|allowed| allowed.as_bytes() == origin)
    });
    match vary {
        Vary::None if reflected => Vary::Names(vec![ORIGIN]),
        Vary::Names(mut names) if reflected => {
            names.push(ORIGIN);
            Vary::from_names(names)
        }
        vary => vary,
    }
}

/// The length that stands for a field that is not there; no real value is that long.
const ABSENT: u32 = u32::MAX;

/// The values of the selecting fields as bytes: two requests match if and only if theirs are equal. Each value stands
/// behind its length, so none can spill into the next.
pub fn selecting(names: &[HeaderName], fields: Fields<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for name in names {
        let length_at = out.len();
        out.extend_from_slice(&ABSENT.to_le_bytes());
        if fields.has(name) {
            out.extend(normalised(name, fields));
            let length = (out.len() - length_at - 4) as u32;
            out[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
        }
    }
    out
}

/// Whether [`selecting`] would give `stored` for these fields; never where one of them is spelled in a way that only some
/// servers read. Allocates nothing: it runs on every hit that varies.
pub fn matches(names: &[HeaderName], stored: &[u8], fields: Fields<'_>) -> bool {
    let mut rest = stored;
    for name in names {
        if alike::has_other_field(fields, name) {
            return false;
        }
        let Some((length, after)) = rest.split_first_chunk() else { return false };
        let length = u32::from_le_bytes(*length);
        if length == ABSENT {
            if fields.has(name) {
                return false;
            }
            rest = after;
        } else {
            let Some((value, after)) = after.split_at_checked(length as usize) else { return false };
            if !value_matches(name, value, fields) {
                return false;
            }
            rest = after;
        }
    }
    rest.is_empty()
}

/// The values in what [`selecting`] made, for people; `None` for a field that was not there.
pub fn values(stored: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    let mut rest = stored;
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk()?;
        let length = u32::from_le_bytes(*length);
        let length = if length == ABSENT { None } else { Some(length as usize) };
        let (value, after) = after.split_at_checked(length.unwrap_or(0))?;
        rest = after;
        Some(length.map(|_| value))
    })
}

fn value_matches(name: &HeaderName, stored: &[u8], fields: Fields<'_>) -> bool {
    let mut lines = fields.all(name);
    match (lines.next(), lines.next()) {
        (None, _) => false,
        // What is stored is normalised, so a line equal to it is as well: the usual case, one comparison.
        (Some(line), None) if line == stored => true,
        _ => normalised(name, fields).eq(stored.iter().copied()),
    }
}

/// The field's value in the one form that all spellings of it share: lines joined, and, where it is a list, exactly
/// ", " between its members. Nothing else is touched: order and case may mean something.
fn normalised<'a>(name: &'a HeaderName, fields: Fields<'a>) -> impl Iterator<Item = u8> {
    let is_list = ![COOKIE, AUTHORIZATION, USER_AGENT, REFERER].contains(name);
    // Cookies may come as several fields in HTTP/2, and are then joined this way (RFC 9113 §8.2.3).
    let separator: &'static [u8] = if name == COOKIE { b"; " } else { b", " };
    fields
        .all(name)
        .flat_map(
            move |line| if is_list { Pieces::List(list::members(line)) } else { Pieces::Whole(Some(line)) },
        )
        .enumerate()
        .flat_map(move |(index, piece)| {
            let separator = if index == 0 { &b""[..] } else { separator };
            separator.iter().chain(piece).copied()
        })
}

/// The pieces of one field line that a separator stands between.
enum Pieces<'a> {
    List(list::Members<'a>),
    Whole(Option<&'a [u8]>),
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        match self {
            Pieces::List(members) => members.next(),
            Pieces::Whole(line) => line.take().map(list::trim),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn fields(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        map
    }

    fn names(all: &[&'static str]) -> Vec<HeaderName> {
        all.iter().copied().map(HeaderName::from_static).collect()
    }

    #[test]
    fn rfc9110_12_5_5_every_spelling_of_vary() {
        for (lines, expected) in [
            (&[][..], Vary::None),
            (&[("vary", "")], Vary::None),
            (&[("vary", " , ,")], Vary::None),
            (&[("vary", "Accept-Encoding")], Vary::Names(names(&["accept-encoding"]))),
            (&[("vary", "b ,\tA,,a")], Vary::Names(names(&["a", "b"]))),
            (&[("vary", "b"), ("vary", "a")], Vary::Names(names(&["a", "b"]))),
            (&[("vary", "*")], Vary::Star),
            (&[("vary", "a"), ("vary", "b, *")], Vary::Star),
            (&[("vary", "a b")], Vary::Star),
            (&[("vary", "a;q=1")], Vary::Star),
        ] {
            assert_eq!(Vary::of(&fields(lines)), expected, "{lines:?}");
        }
    }

    #[test]
    fn rfc9111_4_1_requests_match_if_their_selecting_fields_do() {
        let selected = names(&["accept", "cookie", "user-agent"]);
        for (one, other, equal) in [
            (&[][..], &[][..], true),
            (&[("accept", "")], &[], false),
            (&[("accept", "a,b")], &[("accept", "a ,\tb,")], true),
            (&[("accept", "a, b")], &[("accept", "a"), ("accept", "b")], true),
            (&[("accept", "a, b")], &[("accept", "b, a")], false),
            (&[("accept", "a")], &[("accept", "A")], false),
            (&[("accept", "a")], &[("accept", "a"), ("accept", "b")], false),
            (&[("accept", "a"), ("accept", "b")], &[("accept", "a")], false),
            (&[("accept", "\"a,b\"")], &[("accept", "\"a, b\"")], false),
            (&[("accept", "a"), ("other", "1")], &[("accept", "a"), ("other", "2")], true),
            (&[("accept", "a")], &[("user-agent", "a")], false),
            (&[("user-agent", "a,b")], &[("user-agent", "a, b")], false),
            (&[("user-agent", " a")], &[("user-agent", "a")], true),
            (&[("cookie", "a=1; b=2")], &[("cookie", "a=1"), ("cookie", "b=2")], true),
            (&[("cookie", "a=1,b")], &[("cookie", "a=1, b")], false),
            (&[("cookie", "")], &[], false),
        ] {
            let (one, other) = (fields(one), fields(other));
            let (one, other) = (Fields::Map(&one), Fields::Map(&other));
            let stored = selecting(&selected, one);
            assert!(matches(&selected, &stored, one), "{one:?}");
            assert_eq!(matches(&selected, &stored, other), equal, "{one:?} {other:?}");
            assert_eq!(stored == selecting(&selected, other), equal, "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_field_that_only_some_servers_read_matches_nothing() {
        let selected = names(&["x-tenant"]);
        let (none, one) = (fields(&[]), fields(&[("x-tenant", "a")]));
        for lines in [&[("x_tenant", "b")][..], &[("x-tenant", "a"), ("x_tenant", "b")]] {
            let other = fields(lines);
            for before in [&none, &one] {
                let stored = selecting(&selected, Fields::Map(before));
                assert!(!matches(&selected, &stored, Fields::Map(&other)), "{lines:?}");
            }
        }
    }

    #[test]
    fn values_cannot_spill_into_one_another() {
        let selected = names(&["a", "b"]);
        let one = fields(&[("a", "x"), ("b", "yz")]);
        let other = fields(&[("a", "xy"), ("b", "z")]);
        let stored = selecting(&selected, Fields::Map(&one));
        assert!(!matches(&selected, &stored, Fields::Map(&other)));
        assert!(!matches(&selected[..1], &stored, Fields::Map(&one)), "other names");
        assert!(!matches(&selected, &stored[..stored.len() - 1], Fields::Map(&one)), "cut short");
        assert!(!matches(&selected, &[], Fields::Map(&one)));
    }

    #[test]
    fn an_answer_chosen_by_the_clients_address_is_like_star() {
        for line in ["X-Forwarded-For", "accept, forwarded", "x-real-ip"] {
            assert_eq!(Vary::of(&fields(&[("vary", line)])), Vary::Star, "{line}");
        }
        assert_eq!(
            Vary::of(&fields(&[("vary", "x-forwarded-proto")])),
            Vary::Names(names(&["x-forwarded-proto"])),
            "which is in the key"
        );
    }

    #[test]
    fn a_reflected_origin_implies_vary() {
        let request = fields(&[("origin", "https://a.example")]);
        let implied = |lines: &[(&'static str, &str)]| implied_vary(Fields::Map(&request), &fields(lines));
        let reflected = ("access-control-allow-origin", "https://a.example");
        assert_eq!(implied(&[reflected]), Vary::Names(vec![ORIGIN]));
        assert_eq!(implied(&[reflected, ("vary", "accept")]), Vary::Names(names(&["accept", "origin"])));
        assert_eq!(implied(&[reflected, ("vary", "Origin")]), Vary::Names(vec![ORIGIN]));
        assert_eq!(implied(&[reflected, ("vary", "*")]), Vary::Star);
        assert_eq!(implied(&[("access-control-allow-origin", "*")]), Vary::None);
        assert_eq!(implied(&[("access-control-allow-origin", "https://b.example")]), Vary::None);
        assert_eq!(implied_vary(Fields::Wire(&[]), &fields(&[reflected])), Vary::None);
        let second = fields(&[("origin", "https://b.example"), ("origin", "https://a.example")]);
        assert_eq!(implied_vary(Fields::Map(&second), &fields(&[reflected])), Vary::Names(vec![ORIGIN]));
    }
}
