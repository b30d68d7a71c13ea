//! Cookie: where a signature stands that is not in the URL (RFC 6265 §4.2.1).

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use message::Fields;

use super::Refusal;

/// The value of the cookie of this name. Two of them are refused: which one counts is not to be chosen by whoever can
/// set cookies for a neighbouring host.
pub(crate) fn find<'a>(fields: Fields<'a>, name: &str) -> Result<Option<&'a str>, Refusal> {
    let mut found = fields.all(&COOKIE).flat_map(cookies).filter(|cookie| is(cookie, name));
    let Some(cookie) = found.next() else { return Ok(None) };
    if found.next().is_some() {
        return Err(Refusal::Malformed);
    }
    let text = std::str::from_utf8(cookie).map_err(|_| Refusal::Malformed)?;
    Ok(Some(text.get(name.len() + 1..).unwrap_or_default()))
}

/// Takes the cookie of this name out of a request, and leaves the others as they are.
pub(crate) fn strip(fields: &mut HeaderMap, name: &str) {
    let has_it = |line: &HeaderValue| cookies(line.as_bytes()).any(|cookie| is(cookie, name));
    if !fields.get_all(COOKIE).iter().any(has_it) {
        return;
    }
    let lines: Vec<_> = fields.get_all(COOKIE).iter().cloned().collect();
    fields.remove(COOKIE);
    for line in lines {
        if !has_it(&line) {
            fields.append(COOKIE, line);
            continue;
        }
        let others: Vec<_> = cookies(line.as_bytes()).filter(|cookie| !is(cookie, name)).collect();
        if !others.is_empty() {
            let line = HeaderValue::from_bytes(&others.join(&b"; "[..]))
                .expect("pieces of a field value are one, and so is what separates them");
            fields.append(COOKIE, line);
        }
    }
}

/// The cookies of a line, name and value, without the empty ones.
fn cookies(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b';').map(<[u8]>::trim_ascii).filter(|cookie| !cookie.is_empty())
}

fn is(cookie: &[u8], name: &str) -> bool {
    cookie.strip_prefix(name.as_bytes()).is_some_and(|rest| matches!(rest, [] | [b'=', ..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(lines: &[&'static str]) -> HeaderMap {
        lines.iter().map(|line| (COOKIE, HeaderValue::from_static(line))).collect()
    }

    #[test]
    fn one_is_found_wherever_it_stands() {
        for (lines, expected) in [
            (&["s=1"][..], Some("1")),
            (&["a=b; s=x=y:z=", "c=d"], Some("x=y:z=")),
            (&["a=b", ";; c=d;s=1;"], Some("1")),
            (&["s="], Some("")),
            (&["s"], Some("")),
            (&["ss=1; S=1; a=s=1"], None),
            (&[], None),
        ] {
            assert_eq!(find(Fields::Map(&fields(lines)), "s"), Ok(expected), "{lines:?}");
        }
        for lines in [&["s=1; s=1"][..], &["s=1", "s=2"]] {
            assert_eq!(find(Fields::Map(&fields(lines)), "s"), Err(Refusal::Malformed));
        }
    }

    #[test]
    fn the_others_stay_when_it_is_taken_out() {
        for (lines, expected) in [
            (&["s=1"][..], &[][..]),
            (&["s=1; a=b; s=2", "s", "c=d;  e=f"], &["a=b", "c=d;  e=f"]),
            (&["a=b;  s=1;c=d; "], &["a=b; c=d"]),
            (&["ss=1;a=s"], &["ss=1;a=s"]),
            (&[], &[]),
        ] {
            let mut fields = fields(lines);
            strip(&mut fields, "s");
            let left: Vec<_> = fields.get_all(COOKIE).iter().collect();
            assert_eq!(left, expected, "{lines:?}");
        }
    }
}
