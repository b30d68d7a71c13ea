//! Read: `read` of a route → [`Read`]: `{ redis: "GET user:${path.id}", as: text }`. Called by `routes`.

use expression::{Argument, Names, nearest};
use http::{HeaderValue, StatusCode};

use crate::known::{Known, KnownSource};
use crate::meant::{Pattern, Read, ReadCommand, ReadForm};
use crate::schema;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::unit;
use crate::yaml::value;

/// Reads what a route answers with. `pattern` is missing where it has a fault of its own.
pub(crate) fn read(
    node: Node<'_>,
    pattern: Option<&Pattern>,
    known: &Known<'_>,
    report: &mut Report,
) -> Option<Read> {
    let Shape::Map(entries) = node.shape() else {
        Section::open(node, &schema::READ, report);
        return None;
    };
    let readable = |name: &str| known.source(name).filter(KnownSource::is_readable);
    let is_source = |entry: &&Node<'_>| readable(entry.key()).is_some();
    let asked: Vec<Node<'_>> = entries.iter().filter(is_source).copied().collect();
    let [source] = asked[..] else {
        wrong_source(node, &entries, &asked, known, report);
        return None;
    };
    let section = Section::open_but(node, &schema::READ, &[source.key()], report)?;
    let from = readable(source.key())?;
    let segments = pattern.map(Pattern::names);
    let text = value::written(source, report)?;
    let names = Names { segments: segments.as_deref(), ..Names::default() };
    let read = command(text, &names).and_then(|(command, arguments)| {
        known.keys(from).check(command, &arguments, &|_| false)?;
        Ok((command, arguments))
    });
    let (command, arguments) = read.map_err(|reason| report.because(source, reason)).ok()?;
    let mut form = ReadForm::default();
    section.set("as", &mut form, report, |node, report| {
        let words = [("json", ReadForm::Json), ("text", ReadForm::Text), ("raw", ReadForm::Raw)];
        let form = value::choice(node, &words, report)?;
        if form == ReadForm::Raw && !command.gives_one() {
            let cause = format!("{} gives several values", command.word());
            report.at(node, cause, "write `json`, or `text` for one value a line");
            return None;
        }
        Some(form)
    });
    let mut kind = None;
    section
        .set("type", &mut kind, report, |node, report| value::parsed(node, report, content_type).map(Some));
    let mut missing = match command {
        ReadCommand::Exists | ReadCommand::Sismember => StatusCode::UNAUTHORIZED,
        _ => StatusCode::NOT_FOUND,
    };
    section.set("missing", &mut missing, report, |node, report| value::parsed(node, report, status));
    Some(Read::new(from.id, (command, arguments), form, kind, missing))
}

/// No source is named, or several are.
fn wrong_source(
    node: Node<'_>,
    entries: &[Node<'_>],
    asked: &[Node<'_>],
    known: &Known<'_>,
    report: &mut Report,
) {
    if let [_, second, ..] = asked {
        return report.at_key(*second, "two sources are read", "write one command; several are a `compose`");
    }
    let unknown = entries.iter().find(|entry| schema::READ.word(entry.key()).is_none());
    let names = known.sources_that(KnownSource::is_readable);
    match unknown {
        Some(entry) if known.source(entry.key()).is_some() => {
            let name = quoted(entry.key());
            let remedy = format!("write `compose: {{ STEP: {{ {}: … }} }}` instead of `read`", entry.key());
            report.at_key(*entry, format!("{name} is asked by steps, not read from"), remedy);
        }
        Some(entry) => {
            let remedy = match nearest(entry.key(), names.iter().copied()) {
                Some(meant) => format!("write `{meant}`"),
                None if names.is_empty() => {
                    "add a source to read from: `sources: { redis: redis://127.0.0.1:6379 }`".to_owned()
                }
                None => format!(
                    "write one of {}",
                    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
                ),
            };
            report.at_key(
                *entry,
                format!("there is nothing to read from that is called {}", quoted(entry.key())),
                remedy,
            );
        }
        None => report.at(
            node,
            "it is not said what is read",
            format!("write the name of a source and a command: `{}`", schema::READ.example),
        ),
    }
}

/// Splits a command into its words, and reads each.
pub(crate) fn command(text: &str, names: &Names<'_>) -> Result<(ReadCommand, Vec<Argument>), Reason> {
    let words = words(text)?;
    let Some((first, rest)) = words.split_first() else {
        return Err(Reason::new("there is no command", "write one, like `GET user:${path.id}`"));
    };
    let command = named(first)?;
    let takes = command.takes();
    if !(takes.least..=takes.most).contains(&rest.len()) {
        let few = if rest.len() < takes.least { "too few" } else { "too many" };
        return Err(Reason::new(
            format!("{} has {few} words behind it", command.word()),
            format!("write it like `{}`", takes.example),
        ));
    }
    let mut arguments = Vec::with_capacity(rest.len());
    for (index, word) in rest.iter().enumerate() {
        let may_be_many = matches!((command, index), (ReadCommand::Mget, _) | (ReadCommand::Hmget, 1..));
        let argument = Argument::parse_in(word, names, may_be_many)
            .map_err(|fault| Reason::new(fault.cause, fault.remedy))?;
        if argument.is_several() && !may_be_many {
            return Err(Reason::new(
                format!("{} takes one value in this place", command.word()),
                format!("write it like `{}`", takes.example),
            ));
        }
        arguments.push(argument);
    }
    Ok((command, arguments))
}

fn named(word: &str) -> Result<ReadCommand, Reason> {
    let upper = word.to_ascii_uppercase();
    if let Some(command) = ReadCommand::ALL.into_iter().find(|command| command.word() == upper) {
        return Ok(command);
    }
    let known = || ReadCommand::ALL.into_iter().map(ReadCommand::word);
    let remedy = match nearest(&upper, known()) {
        Some(meant) => format!("write `{meant}` if that is meant: only commands that read are known"),
        None => format!("write one of {}", known().map(quoted).collect::<Vec<_>>().join(", ")),
    };
    Err(Reason::new(format!("{} is none of the commands that read", quoted(word)), remedy))
}

/// Words between spaces; quotes keep spaces within one, and so does an expression.
fn words(text: &str) -> Result<Vec<String>, Reason> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if rest.starts_with("${") {
            let end = expression_end(rest).ok_or_else(|| {
                Reason::new(format!("{} has an expression without an end", quoted(text)), "close it with `}`")
            })?;
            word.get_or_insert_default().push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        match character {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '"' | '\'' if word.is_none() => {
                let inner = &rest[1..];
                let end = inner.find(character).ok_or_else(|| {
                    Reason::new(
                        format!("{} has a quote without an end", quoted(text)),
                        format!("close it with `{character}`"),
                    )
                })?;
                words.push(inner[..end].to_owned());
                rest = &inner[end + 1..];
                continue;
            }
            other => word.get_or_insert_default().push(other),
        }
        rest = &rest[character.len_utf8()..];
    }
    words.extend(word);
    Ok(words)
}

/// Where an expression ends, strings and maps in it aside.
pub(crate) fn expression_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut open = 0usize;
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(2) {
        let was_escaped = std::mem::take(&mut is_escaped);
        match (quote, character) {
            (Some(_), '\\') => is_escaped = !was_escaped,
            (Some(quoted), other) if quoted == other && !was_escaped => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None, '{') => open += 1,
            (None, '}') if open == 0 => return Some(at + 1),
            (None, '}') => open -= 1,
            _ => {}
        }
    }
    None
}

fn content_type(text: &str) -> Result<HeaderValue, Reason> {
    let fits = text.split_once('/').is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty());
    HeaderValue::try_from(text).ok().filter(|_| fits && text.is_ascii()).ok_or_else(|| {
        Reason::new(format!("{} is no content type", quoted(text)), "write one like `application/json`")
    })
}

/// The status of an answer without a value: one that says so.
fn status(text: &str) -> Result<StatusCode, Reason> {
    unit::number(text)
        .filter(|number| *number == 204 || (400..500).contains(number))
        .and_then(|number| StatusCode::from_u16(number as u16).ok())
        .ok_or_else(|| {
            Reason::new(
                format!("{} does not say that nothing is there", quoted(text)),
                "write 204, or one from 400 to 499",
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;

    const NAMES: Names<'static> = Names {
        segments: Some(&["id"]),
        values: &[],
        joins_lists: false,
        knows_client: false,
        knows_response: false,
        location: None,
    };

    #[test]
    fn commands_are_words() {
        let (command, arguments) = command("get user:${path.id}", &NAMES).unwrap();
        assert_eq!(command, ReadCommand::Get);
        assert_eq!(arguments[0].text(), "user:${path.id}");
        assert_eq!(words("HGET 'a b'  ${query['x y']}:1").unwrap(), ["HGET", "a b", "${query['x y']}:1"]);
    }

    #[test]
    fn no_key_is_the_clients_alone() {
        let keys = Keys { is_public: false, tier: None };
        let checked = |text: &str, keys: Keys<'_>| {
            let (command, arguments) = command(text, &NAMES).unwrap();
            keys.check(command, &arguments, &|_| false).map_err(|reason| reason.remedy)
        };
        for text in [
            "GET ${path.id}",
            "GET ${query.a}:x",
            "MGET ${query.all('key')}",
            "MGET ${query.all('key')}:x",
            "MGET news ${query.key}",
            "HGETALL ${header('X-Key')}${query.b}",
            "SISMEMBER ${query.set} x",
        ] {
            let remedy = checked(text, keys).unwrap_err();
            assert!(
                remedy.starts_with("write what those that are meant begin with, like `user:${"),
                "{remedy}"
            );
            assert_eq!(checked(text, Keys { is_public: true, ..keys }), Ok(()), "{text}");
        }
        for text in [
            "GET user:${path.id}",
            "GET news",
            "MGET user:${query.all('id')}",
            "HGET users ${path.id}",
            "HMGET user:${path.id} ${query.all('field')}",
            "SISMEMBER admins ${path.id}",
        ] {
            assert_eq!(checked(text, keys), Ok(()), "{text}");
        }
        let tier = Keys { tier: Some("shop:{"), ..keys };
        for text in ["GET sh${query.a}", "GET shop:{${query.a}", "MGET s${query.all('a')}"] {
            assert!(checked(text, tier).unwrap_err().starts_with("let the key begin with"), "{text}");
        }
        let public = Keys { is_public: true, ..tier };
        assert!(checked("GET ${query.a}:x", public).unwrap_err().starts_with("let the key begin with"));
        for text in ["GET shop:user:${query.a}", "GET shop:{x", "GET user:${query.a}"] {
            assert_eq!(checked(text, tier), Ok(()), "{text}");
        }
    }

    #[test]
    fn only_what_reads_and_fits_is_taken() {
        for (text, remedy) in [
            ("SET a b", "write `GET`"),
            (
                "FLUSHALL",
                "write one of `GET`, `MGET`, `HGET`, `HMGET`, `HGETALL`, `EXISTS`, `LRANGE`, `LINDEX`, `LLEN`, `ZRANGE`, `ZREVRANGE`, `ZSCORE`, `ZCARD`, `SMEMBERS`, `SISMEMBER`, `SCARD`",
            ),
            ("", "write one, like `GET user:${path.id}`"),
            ("GET", "write it like `GET user:${path.id}`"),
            ("GET a b", "write it like `GET user:${path.id}`"),
            ("GET ${query.all('a')}", "write it like `GET user:${path.id}`"),
            ("GET 'a", "close it with `'`"),
            ("GET ${path.id", "close it with `}`"),
            ("GET ${path.od}", "write `path.id`"),
        ] {
            let reason = command(text, &NAMES).unwrap_err();
            assert!(reason.remedy.starts_with(remedy), "{text}: {reason}");
        }
    }
}
