//! Form: what was found, as JSON, text or bytes, within a bound. Called wherever a command has been carried out.

use bytes::Bytes;
use message::{Error, Kind, Result};
use plan::ReadForm;

use super::found::Found;
use super::json;

/// Bytes of an answer. What is read is held in memory whole, by each request that reads it.
const LARGEST: usize = 8 * 1024 * 1024;

/// The content of an answer; `None`: there is nothing.
pub(crate) fn write(found: Found, form: ReadForm) -> Result<Option<Bytes>> {
    if matches!(found, Found::Nothing) {
        return Ok(None);
    }
    let content = match form {
        ReadForm::Json => as_json(&found)?,
        ReadForm::Text => as_text(found)?,
        ReadForm::Raw => as_bytes(found)?,
    };
    if content.len() > LARGEST {
        return Err(Error::new(
            Kind::UnusableReply,
            format!("what was read is longer than {} MiB", LARGEST / 1024 / 1024),
        ));
    }
    Ok(Some(content))
}

fn as_json(found: &Found) -> Result<Bytes> {
    let mut out = Vec::new();
    match found {
        Found::Nothing => {}
        Found::One(value) => json::write_value(value, &mut out)?,
        Found::Number(number) => json::write_number(number, &mut out)?,
        Found::Holds => out.extend_from_slice(b"true"),
        Found::Several(values) => {
            list(*b"[]", values, &mut out, |value, out| {
                let Some(value) = value else {
                    out.extend_from_slice(b"null");
                    return Ok(());
                };
                json::write_value(value, out)
            })?;
        }
        Found::Fields(fields) => {
            list(*b"{}", fields, &mut out, |(name, value), out| {
                json::write_string(name, out)?;
                out.push(b':');
                json::write_value(value, out)
            })?;
        }
        Found::Scored(members) => {
            list(*b"[]", members, &mut out, |(member, score), out| {
                out.extend_from_slice(b"{\"member\":");
                json::write_value(member, out)?;
                out.extend_from_slice(b",\"score\":");
                json::write_number(score, out)?;
                out.push(b'}');
                Ok(())
            })?;
        }
    }
    Ok(out.into())
}

fn list<T>(
    brackets: [u8; 2],
    items: &[T],
    out: &mut Vec<u8>,
    write: impl Fn(&T, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    out.push(brackets[0]);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out)?;
    }
    out.push(brackets[1]);
    Ok(())
}

/// One value a line, without an end behind the last; a field and its value, or a member and its score, are two lines.
fn as_text(found: Found) -> Result<Bytes> {
    let content = match found {
        Found::Several(values) => lines(values.iter().map(|value| value.as_deref().unwrap_or_default())),
        Found::Fields(pairs) | Found::Scored(pairs) => {
            lines(pairs.iter().flat_map(|(first, second)| [&**first, &**second]))
        }
        one => as_bytes(one)?,
    };
    std::str::from_utf8(&content).map_err(|_| no_text())?;
    Ok(content)
}

fn lines<'a>(values: impl Iterator<Item = &'a [u8]>) -> Bytes {
    let mut out = Vec::new();
    for (index, value) in values.enumerate() {
        if index > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(value);
    }
    out.into()
}

fn as_bytes(found: Found) -> Result<Bytes> {
    match found {
        Found::One(value) | Found::Number(value) => Ok(value),
        Found::Holds => Ok(Bytes::from_static(b"true")),
        Found::Nothing | Found::Several(_) | Found::Fields(_) | Found::Scored(_) => {
            Err(Error::new(Kind::Internal, "several values have no raw form"))
        }
    }
}

pub(super) fn no_text() -> Error {
    Error::new(Kind::UnusableReply, "what was read is no text; write `as: raw` for bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(found: Found, form: ReadForm) -> String {
        let content = write(found, form).unwrap().unwrap();
        String::from_utf8(content.to_vec()).unwrap()
    }

    #[test]
    fn each_reply_has_its_forms() {
        let bytes = Bytes::from_static;
        let pairs = || vec![(bytes(b"a"), bytes(b"1")), (bytes(b"b\""), bytes(b"x"))];
        let several = || vec![Some(bytes(b"[1]")), None, Some(bytes(b"x y"))];
        for (found, as_json, as_text) in [
            (Found::One(bytes(b"ann")), r#""ann""#, "ann"),
            (Found::Number(bytes(b"0.5")), "0.5", "0.5"),
            (Found::Number(bytes(b"-inf")), r#""-inf""#, "-inf"),
            (Found::Holds, "true", "true"),
            (Found::Several(several()), r#"[[1],null,"x y"]"#, "[1]\n\nx y"),
            (Found::Several(Vec::new()), "[]", ""),
            (Found::Fields(pairs()), r#"{"a":1,"b\"":"x"}"#, "a\n1\nb\"\nx"),
            (Found::Scored(vec![(bytes(b"ann"), bytes(b"2"))]), r#"[{"member":"ann","score":2}]"#, "ann\n2"),
        ] {
            assert_eq!(written(found.clone(), ReadForm::Json), as_json);
            assert_eq!(written(found, ReadForm::Text), as_text);
        }
    }

    #[test]
    fn bytes_have_one_form() {
        let found = || Found::One(Bytes::from_static(b"\xff\0"));
        assert_eq!(write(found(), ReadForm::Raw).unwrap().unwrap(), &b"\xff\0"[..]);
        for form in [ReadForm::Json, ReadForm::Text] {
            assert_eq!(write(found(), form).unwrap_err().kind(), Kind::UnusableReply);
        }
    }

    #[test]
    fn what_is_too_long_is_refused() {
        let long = Found::One(Bytes::from(vec![b'x'; LARGEST + 1]));
        assert_eq!(write(long, ReadForm::Raw).unwrap_err().kind(), Kind::UnusableReply);
    }
}
