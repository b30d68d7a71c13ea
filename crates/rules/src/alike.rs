//! Alike: names that some servers take for one another. In come the names of a request's fields and cookies; called by
//! `cache` wherever a policy or `Vary` names some, so that nobody gets round them by another spelling.
//!
//! What is only alike is never taken for the thing itself: to the next server it is another. It is enough to know that
//! it is there.

use http::HeaderName;
use http::header::COOKIE;
use message::Fields;

/// Whether some server takes a field of this name for the other: CGI, WSGI and Rack turn both `X-Tenant` and `X_Tenant`
/// into `HTTP_X_TENANT`. Equal names are alike.
pub fn field(sent: &[u8], name: &str) -> bool {
    let same = |(one, other): (&u8, u8)| {
        one.eq_ignore_ascii_case(&other) || !(one.is_ascii_alphanumeric() || other.is_ascii_alphanumeric())
    };
    sent.len() == name.len() && sent.iter().zip(name.bytes()).all(same)
}

/// Whether the request has a field that is alike and not of this name.
pub fn has_other_field(fields: Fields<'_>, name: &HeaderName) -> bool {
    let name = name.as_str();
    fields.names().any(|sent| field(sent, name) && !sent.eq_ignore_ascii_case(name.as_bytes()))
}

/// Whether the request has a cookie that some server takes for this one: with white space around its name, in other
/// letter case, percent-encoded, with what PHP turns into `_`, or without a value.
pub fn has_cookie(fields: Fields<'_>, name: &str) -> bool {
    cookies(fields).any(|sent| cookie(sent, name))
}

/// Whether servers may find another cookie of this name than the first that is named exactly so: one that is alike, or
/// a second.
pub fn has_other_cookie(fields: Fields<'_>, name: &str) -> bool {
    let mut alike = cookies(fields).filter(|sent| cookie(sent, name));
    match (alike.next(), alike.next()) {
        (None, _) => false,
        (Some(first), None) => first != name.as_bytes(),
        (Some(_), Some(_)) => true,
    }
}

/// The names of all cookies, with the white space around them. Old servers part them with commas too.
fn cookies(fields: Fields<'_>) -> impl Iterator<Item = &[u8]> {
    let pairs = fields.all(&COOKIE).flat_map(|line| line.split(|byte| matches!(byte, b';' | b',')));
    pairs.map(|pair| {
        // One space behind the semicolon is how cookies are sent.
        let pair = pair.strip_prefix(b" ").unwrap_or(pair);
        pair.split(|byte| *byte == b'=').next().unwrap_or(pair)
    })
}

/// As PHP reads names up to `[`, and ASP.NET in any letter case.
fn cookie(sent: &[u8], name: &str) -> bool {
    let sent = sent.trim_ascii();
    let sent = sent.split(|byte| *byte == b'[').next().unwrap_or(sent);
    let fold = |byte: u8| match byte {
        b'.' | b' ' | b'+' => b'_',
        byte => byte.to_ascii_lowercase(),
    };
    let mut rest = sent;
    let decoded = std::iter::from_fn(|| {
        let (byte, behind) = crate::path::decode(rest)?;
        rest = behind;
        Some(byte)
    });
    decoded.map(fold).eq(name.bytes().map(fold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_alike_where_cgi_makes_one_variable_of_them() {
        for (sent, name, alike) in [
            ("X-Tenant", "x-tenant", true),
            ("X_Tenant", "x-tenant", true),
            ("x.tenant", "x-tenant", true),
            ("x-tenant", "x_tenant", true),
            ("x-tenants", "x-tenant", false),
            ("xxtenant", "x-tenant", false),
            ("x-tenan_", "x-tenant", false),
        ] {
            assert_eq!(field(sent.as_bytes(), name), alike, "{sent} {name}");
        }
        let line = |name| [httparse::Header { name, value: b"1" }];
        let other = |name| has_other_field(Fields::Wire(&line(name)), &HeaderName::from_static("x-tenant"));
        assert!(other("X_Tenant") && !other("X-Tenant") && !other("X-Other"));
    }

    #[test]
    fn cookies_are_alike_where_some_server_finds_them_under_the_name() {
        for (line, alike, other) in [
            ("session=x", true, false),
            ("a=1; session=x", true, false),
            ("a=1;session=x", true, false),
            ("session =x", true, true),
            ("a=1;  session=x", true, true),
            ("\tsession=x", true, true),
            ("SESSION=x", true, true),
            ("%73ession=x", true, true),
            ("session", true, false),
            ("session[a]=x", true, true),
            ("a=1, session=x", true, false),
            ("session=x; session=y", true, true),
            ("session=x; Session=y", true, true),
            ("sessions=x", false, false),
            ("a=session", false, false),
            ("", false, false),
        ] {
            let lines = [httparse::Header { name: "Cookie", value: line.as_bytes() }];
            let fields = Fields::Wire(&lines);
            assert_eq!(has_cookie(fields, "session"), alike, "{line:?}");
            assert_eq!(has_other_cookie(fields, "session"), other, "{line:?}");
        }
        let lines = [httparse::Header { name: "Cookie", value: b"my.session=1" }];
        assert!(has_cookie(Fields::Wire(&lines), "my_session"));
    }
}
