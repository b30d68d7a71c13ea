//! Form: a stored answer without its content as bytes, for tiers outside this process. Compact, versioned, and read
//! without trusting it: whatever is not as it was written is no answer.
//!
//! ```text
//! version 1 byte, flags 1 byte, status 2 bytes, terms 41 bytes, epoch 8 bytes
//! then, each behind its length of 4 bytes: head, tags, and where the flags say so:
//! names of Vary (joined by \n) and the values they select by
//! ```

use bytes::Bytes;
use http::header::HeaderName;
use http::{HeaderMap, StatusCode};
use message::{Skew, Timestamp};
use rules::Terms;

use crate::entry::stored_head;
use crate::entry::tags::Tags;
use crate::entry::{Draft, Entry, Variant};

const VERSION: u8 = 1;
const HAS_VARIANT: u8 = 1;
const ENCODABLE: u8 = 2;

/// The answer, without its content and its compressed forms.
pub(crate) fn write(entry: &Entry, skew: Skew) -> Bytes {
    let mut out = Vec::with_capacity(128 + entry.head().len() + entry.tags().len());
    let flag = |flag: u8, set: bool| if set { flag } else { 0 };
    out.push(VERSION);
    out.push(flag(HAS_VARIANT, entry.variant().is_some()) | flag(ENCODABLE, entry.is_encodable()));
    out.extend(entry.status().as_u16().to_le_bytes());
    out.extend(entry.terms().to_bytes(skew));
    out.extend(entry.compared().to_le_bytes());
    // With what the origin said of the lifetime, so that what clients are told can be made anew.
    push(&mut out, &stored_head::write(entry.status(), &entry.fields(), entry.body().len()));
    push(&mut out, entry.tags().as_bytes());
    if let Some(variant) = entry.variant() {
        let names: Vec<_> = variant.names.iter().map(HeaderName::as_str).collect();
        push(&mut out, names.join("\n").as_bytes());
        push(&mut out, &variant.selecting);
    }
    out.into()
}

/// What [`write()`] wrote. `None` for anything else, an older version too.
pub(crate) fn read(bytes: &[u8], skew: Skew, now: Timestamp) -> Option<Draft> {
    let mut rest = bytes;
    let [version, flags] = *take(&mut rest)?;
    if version != VERSION || flags & !(HAS_VARIANT | ENCODABLE) != 0 {
        return None;
    }
    let status = StatusCode::from_u16(u16::from_le_bytes(*take(&mut rest)?)).ok()?;
    let terms = Terms::from_bytes(take(&mut rest)?, skew, now);
    let since = u64::from_le_bytes(*take(&mut rest)?);
    let fields: HeaderMap = stored_head::fields(pull(&mut rest)?);
    let tags = Tags::new(std::str::from_utf8(pull(&mut rest)?).ok()?.into());
    let variant = if flags & HAS_VARIANT == 0 { None } else { Some(variant(&mut rest)?) };
    let encodable = flags & ENCODABLE != 0;
    rest.is_empty().then_some(Draft {
        status,
        fields,
        terms,
        variant,
        tags,
        client_lifetime: None,
        encodable,
        since,
    })
}

fn variant(rest: &mut &[u8]) -> Option<Variant> {
    let names = std::str::from_utf8(pull(rest)?).ok()?;
    let names = names.split('\n').map(|name| HeaderName::try_from(name).ok()).collect::<Option<_>>()?;
    Some(Variant { names, selecting: pull(rest)?.into() })
}

pub(crate) fn push(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

pub(crate) fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(taken)
}

pub(crate) fn pull<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u32::from_le_bytes(*take(rest)?) as usize;
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::{ACCEPT, ACCEPT_LANGUAGE};
    use message::Fields;
    use proptest::prelude::*;

    use super::*;
    use crate::sample;

    fn entry() -> Entry {
        let asked = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("x"))]);
        let variant = Some(Variant::of(&[ACCEPT, ACCEPT_LANGUAGE], Fields::Map(&asked)));
        let tags = Tags::new("a\nb".into());
        let draft = Draft { variant, tags, since: 7, encodable: true, ..sample::draft() };
        Entry::new(draft, crate::Content::from_static(b"content"))
    }

    #[test]
    fn an_answer_comes_back_as_it_was() {
        let before = entry();
        let after = Entry::new(
            read(&write(&before, Skew::NONE), Skew::NONE, before.terms().received_at()).unwrap(),
            sample::content(before.body()),
        );
        assert_eq!(after.head(), before.head());
        assert_eq!((after.terms(), after.variant()), (before.terms(), before.variant()));
        assert_eq!((after.tags(), after.compared(), after.is_encodable()), ("a\nb", 7, true));
    }

    #[test]
    fn an_answer_that_was_cut_is_none() {
        let whole = write(&entry(), Skew::NONE);
        for length in 0..whole.len() {
            assert!(read(&whole[..length], Skew::NONE, Timestamp::default()).is_none(), "{length}");
        }
        assert!(read(&[&*whole, b"x"].concat(), Skew::NONE, Timestamp::default()).is_none());
    }

    proptest! {
        #[test]
        fn no_bytes_do_any_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes, Skew::NONE, Timestamp::default());
        }
    }
}
