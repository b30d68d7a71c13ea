//! Asked: what a request asks of a read: whether its method reads at all, and the arguments, which are bound and
//! bounded. Called by `call` for each request; into room that is used again.

use expression::{Arguments, Context};
use message::{Error, Kind, RequestView, Result};
use plan::{Read, ReadCommand};
use rules::path::misleads_decoded;

use super::range::Range;

/// Arguments of one command.
const MOST_ARGUMENTS: usize = 1000;
/// Bytes of all of them together.
const MOST_BYTES: usize = 64 * 1024;

/// The room in which a core makes arguments and keys.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) arguments: Arguments,
    pub(crate) key: Vec<u8>,
}

/// Writes the arguments that a request has for a command. `names`: what its route calls the segments of its path. Fails with
/// what is wrong with the request.
pub(super) fn arguments(
    read: &Read,
    names: &[Option<Box<str>>],
    request: &RequestView<'_>,
    out: &mut Arguments,
) -> Result<()> {
    out.clear();
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        return Err(Error::new(Kind::ReadOnly, "this resource is read-only; use GET or HEAD"));
    }
    let context = Context::of_request(request, names);
    for argument in &read.arguments {
        if !argument.write(&context, out) {
            return Err(malformed(argument.unwritten(&context).detail));
        }
        if out.len() > MOST_ARGUMENTS {
            return Err(malformed(format!("more than {MOST_ARGUMENTS} values are requested at once")));
        }
        if out.bytes() > MOST_BYTES {
            return Err(malformed(format!("more than {} KiB of values are requested", MOST_BYTES / 1024)));
        }
    }
    if read.keys(out).any(misleads_decoded) {
        return Err(malformed("a key contains a control character or a `.` or `..` segment".to_owned()));
    }
    check(read.command, out)
}

/// What Redis would refuse because of its form, so that it is the request's fault and not that of Redis.
pub(super) fn check(command: ReadCommand, arguments: &Arguments) -> Result<()> {
    let takes = command.takes();
    if !(takes.least..=takes.most).contains(&arguments.len()) {
        // Only where an argument became several, or none.
        let (word, example) = (command.word(), takes.example);
        return Err(malformed(format!("{word} got {} values; it is used like `{example}`", arguments.len())));
    }
    let whole = |count| arguments.iter().skip(1).take(count).all(|argument| whole(argument).is_some());
    match command {
        ReadCommand::Lrange if !whole(2) => Err(is_not_whole("LRANGE")),
        ReadCommand::Lindex if !whole(1) => Err(is_not_whole("LINDEX")),
        ReadCommand::Zrange | ReadCommand::Zrevrange => Range::parse(command, arguments).map(drop),
        _ => Ok(()),
    }
}

/// As Redis reads it: digits without a zero before them, with a minus at most.
pub(crate) fn whole(argument: &[u8]) -> Option<i64> {
    let is_plain = matches!(argument, b"0" | [b'1'..=b'9', ..] | [b'-', b'1'..=b'9', ..]);
    std::str::from_utf8(argument).ok().filter(|_| is_plain)?.parse().ok()
}

pub(crate) fn is_not_whole(command: &str) -> Error {
    malformed(format!("{command} takes whole numbers"))
}

pub(crate) fn malformed(detail: String) -> Error {
    Error::new(Kind::MalformedRequest, detail)
}

#[cfg(test)]
mod tests {
    use expression::Argument;
    use http::{HeaderMap, Method, StatusCode};
    use message::{Fields, Scheme};
    use plan::{ReadForm, SourceId};

    use super::*;

    fn asked(command: ReadCommand, words: &[&str], method: &Method, target: &str) -> Result<Vec<Vec<u8>>> {
        let arguments_of = |word: &&str| Argument::parse(word, Some(&["id"])).unwrap();
        let arguments_of = words.iter().map(arguments_of).collect();
        let read =
            Read::new(SourceId::at(0), (command, arguments_of), ReadForm::Json, None, StatusCode::NOT_FOUND);
        let names = [None, Some("id".into())];
        let fields = HeaderMap::new();
        let request = RequestView {
            method,
            scheme: Scheme::Http,
            authority: "a.example",
            target,
            fields: Fields::Map(&fields),
            client: None,
        };
        let mut out = Arguments::default();
        arguments(&read, &names, &request, &mut out)?;
        Ok(out.iter().map(<[u8]>::to_vec).collect())
    }

    #[test]
    fn a_value_stays_one_argument() {
        let target = "/u/a%20b%22*%22%FF";
        let found = asked(ReadCommand::Get, &["user:${path.id}"], &Method::GET, target).unwrap();
        assert_eq!(found, [b"user:a b\"*\"\xff"]);
        // Only keys are looked at as paths are.
        let found =
            asked(ReadCommand::Hget, &["user", "${query.f}"], &Method::GET, "/u/1?f=%00%0D%0A..").unwrap();
        assert_eq!(found, [&b"user"[..], b"\0\r\n.."]);
    }

    #[test]
    fn what_is_wrong_with_a_request_is_said() {
        let error = |command, words: &[&str], method: &Method, target: &str| {
            let error = asked(command, words, method, target).unwrap_err();
            (error.kind(), error.detail().to_owned())
        };
        let (get, mget) = (ReadCommand::Get, ReadCommand::Mget);
        let malformed = |detail: &str| (Kind::MalformedRequest, detail.to_owned());
        assert_eq!(
            error(get, &["a:${query.id}"], &Method::GET, "/u/1"),
            malformed("the parameter `id` is missing")
        );
        assert_eq!(
            error(mget, &["${query.all('id')}"], &Method::GET, "/u/1?x=1"),
            malformed("the parameter `id` is missing")
        );
        assert_eq!(
            error(get, &["a:${header('X-User')}"], &Method::GET, "/u/1"),
            malformed("the field `x-user` is missing")
        );
        assert_eq!(error(get, &["a"], &Method::POST, "/u/1").0, Kind::ReadOnly);
        for id in ["..%2Fadmin", "a%00", "a%0D%0ADEL", "x/./y", "..%5Cb", "/.."] {
            let found = error(get, &["user:/${query.id}"], &Method::GET, &format!("/u/1?id={id}"));
            assert_eq!(
                found,
                malformed("a key contains a control character or a `.` or `..` segment"),
                "{id}"
            );
        }
        let many = format!("/u/1?{}", "id=1&".repeat(1001));
        assert_eq!(
            error(mget, &["${query.all('id')}"], &Method::GET, &many),
            malformed("more than 1000 values are requested at once")
        );
        let long = format!("/u/{}", "x".repeat(70_000));
        assert_eq!(
            error(get, &["${path.id}"], &Method::GET, &long),
            malformed("more than 64 KiB of values are requested")
        );
        let lrange = ["news", "${query.from}", "9"];
        for wrong in ["1.5", "+1", "a", "", "007", "-0", "-", "99999999999999999999"] {
            let target = format!("/u/1?from={}", wrong.replace('+', "%2B"));
            let found = error(ReadCommand::Lrange, &lrange, &Method::GET, &target);
            assert_eq!(found, malformed("LRANGE takes whole numbers"), "{wrong}");
        }
    }
}
