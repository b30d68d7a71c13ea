//! Record: an answer as it lies in Redis: compact, versioned, checked, and read without trusting it. Written by `writer`,
//! read by `lookup`.
//!
//! ```text
//! 16 digits   the fence: when its fetch began, in microseconds; text, so that a script there can compare it
//! 1 byte      version
//! 1 byte      flags: whether the content is compressed
//! 24 bytes    which purges it was compared with: generation, position
//! 32 bytes    SHA-256 of the whole key: keys may hold credentials, which are nobody's business there
//! form        behind its length of 4 bytes
//! 4 bytes     the content's length
//! content
//! 8 bytes     checksum of all before
//! ```

use aws_lc_rs::digest::{self, Digest};
use bytes::Bytes;
use message::{Skew, Timestamp};
use twox_hash::XxHash3_64;

use super::positions::{Position, Vouched};
use crate::entry::form::{self, pull, push, take};
use crate::entry::{Draft, Entry};
use crate::key::KeyView;

const VERSION: u8 = 1;
const COMPRESSED: u8 = 1;
/// Digits of the fence.
const FENCE: usize = 16;
const CHECKSUM: usize = 8;
const KEY_DIGEST: usize = digest::SHA256_OUTPUT_LEN;
/// Shorter content is not worth a try.
const WORTH_COMPRESSING: usize = 512;
/// Level 1 takes some microseconds for a kilobyte, and what it leaves is close to what slower ones do.
const LEVEL: i32 = 1;

/// A record, read.
#[derive(Debug)]
pub(crate) struct SharedRecord {
    pub(crate) draft: Draft,
    pub(crate) content: Bytes,
    pub(crate) vouched: Vouched,
}

/// The answer with its content, compressed where that pays. `skew`: of the clock by which it is dated.
pub(crate) fn write(key: &KeyView<'_>, entry: &Entry, vouched: Vouched, fence: u64, skew: Skew) -> Vec<u8> {
    let content = entry.body();
    let compressed = compressed(content);
    let stored = compressed.as_deref().unwrap_or(content);
    let mut out = Vec::with_capacity(stored.len() + 1024);
    out.extend_from_slice(digits(fence).as_bytes());
    out.push(VERSION);
    out.push(if compressed.is_some() { COMPRESSED } else { 0 });
    for number in [vouched.generation, vouched.position.millis, vouched.position.sequence] {
        out.extend(number.to_le_bytes());
    }
    out.extend_from_slice(digest(key).as_ref());
    push(&mut out, &form::write(entry, skew));
    out.extend((content.len() as u32).to_le_bytes());
    out.extend_from_slice(stored);
    let checksum = XxHash3_64::oneshot(&out);
    out.extend(checksum.to_le_bytes());
    out
}

/// What [`write()`] wrote for this key, with no more than `most` bytes of content; `None` for anything else.
pub(crate) fn read(
    key: &KeyView<'_>,
    bytes: &Bytes,
    most: u64,
    skew: Skew,
    now: Timestamp,
) -> Option<SharedRecord> {
    let (checked, checksum) = bytes.split_last_chunk::<CHECKSUM>()?;
    let mut rest = checked.get(FENCE..)?;
    let [version, flags] = *take(&mut rest)?;
    if version != VERSION
        || flags & !COMPRESSED != 0
        || XxHash3_64::oneshot(checked) != u64::from_le_bytes(*checksum)
    {
        return None;
    }
    let mut number = || Some(u64::from_le_bytes(*take(&mut rest)?));
    let vouched =
        Vouched { generation: number()?, position: Position { millis: number()?, sequence: number()? } };
    if take::<KEY_DIGEST>(&mut rest)? != digest(key).as_ref() {
        return None;
    }
    let draft = form::read(pull(&mut rest)?, skew, now)?;
    let length = u32::from_le_bytes(*take(&mut rest)?) as usize;
    if length as u64 > most {
        return None;
    }
    let content = if flags & COMPRESSED == 0 {
        bytes.slice_ref(rest)
    } else {
        zstd::bulk::decompress(rest, length).ok()?.into()
    };
    (content.len() == length).then_some(SharedRecord { draft, content, vouched })
}

/// What stands for the key: two keys of the same digest are not to be found, so comparing it is comparing them.
fn digest(key: &KeyView<'_>) -> Digest {
    digest::digest(&digest::SHA256, &key.to_name())
}

/// A fence as it stands in front.
pub(crate) fn digits(fence: u64) -> String {
    format!("{:016}", fence % 10_u64.pow(FENCE as u32))
}

fn compressed(content: &[u8]) -> Option<Vec<u8>> {
    if content.len() < WORTH_COMPRESSING {
        return None;
    }
    let compressed = zstd::bulk::compress(content, LEVEL).ok()?;
    (compressed.len() < content.len() - content.len() / 8).then_some(compressed)
}

#[cfg(test)]
mod tests {
    use http::header::CONTENT_LENGTH;
    use message::Scheme;
    use proptest::prelude::*;

    use super::*;

    fn read(key: &KeyView<'_>, bytes: &Bytes, most: u64) -> Option<SharedRecord> {
        super::read(key, bytes, most, Skew::NONE, Timestamp::from_secs(u64::MAX / 2000))
    }
    use crate::sample;

    const KEY: KeyView<'static> =
        KeyView { scheme: Scheme::Https, authority: "a.example", target: "/x?y", also: "" };
    const VOUCHED: Vouched = Vouched { generation: 3, position: Position { millis: 4, sequence: 5 } };

    fn written(content: Vec<u8>) -> Bytes {
        let entry = Entry::new(sample::draft(), sample::content(&content));
        write(&KEY, &entry, VOUCHED, 1_700_000_000_000_000, Skew::NONE).into()
    }

    #[test]
    fn an_answer_comes_back_as_it_was_and_is_small() {
        for content in [Vec::new(), b"{\"a\":1}".to_vec(), b"{\"a\":1},".repeat(1000)] {
            let bytes = written(content.clone());
            assert!(bytes.starts_with(b"1700000000000000"));
            let mut record = read(&KEY, &bytes, 1 << 20).unwrap();
            assert_eq!((&*record.content, record.vouched), (&*content, VOUCHED));
            assert_eq!(record.draft.fields.remove(CONTENT_LENGTH), Some(content.len().into()));
            assert_eq!(record.draft.fields, sample::draft().fields);
            assert!(bytes.len() < 400, "{} bytes of {}", bytes.len(), content.len());
        }
    }

    #[test]
    fn of_another_key_or_too_long_it_is_none() {
        let bytes = written(vec![b'x'; 1000]);
        assert!(read(&KeyView { target: "/z", ..KEY }, &bytes, 1000).is_none());
        assert!(read(&KeyView { scheme: Scheme::Http, ..KEY }, &bytes, 1000).is_none());
        assert!(read(&KEY, &bytes, 999).is_none());
    }

    /// A few kilobytes that say they are gigabytes.
    #[test]
    fn a_bomb_is_no_answer() {
        let mut bytes = written(vec![b'x'; 100_000]).to_vec();
        bytes.truncate(bytes.len() - CHECKSUM);
        let at = bytes.windows(4).position(|four| four == 100_000_u32.to_le_bytes()).unwrap();
        bytes[at..at + 4].copy_from_slice(&1000_u32.to_le_bytes());
        let checksum = XxHash3_64::oneshot(&bytes);
        bytes.extend(checksum.to_le_bytes());
        assert!(read(&KEY, &bytes.into(), 1 << 20).is_none());
    }

    proptest! {
        #[test]
        fn what_was_not_written_is_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(read(&KEY, &bytes.into(), 1000).is_none());
        }

        #[test]
        fn a_changed_byte_is_noticed(at in 0_usize..200, to in any::<u8>()) {
            let whole = written(b"content".to_vec());
            let mut bytes = whole.to_vec();
            let at = at % bytes.len();
            prop_assume!(bytes[at] != to);
            bytes[at] = to;
            prop_assert!(read(&KEY, &bytes.into(), 1000).is_none());
        }

        #[test]
        fn a_torn_record_is_none(length in 0_usize..200) {
            let whole = written(b"content".to_vec());
            prop_assume!(length < whole.len());
            prop_assert!(read(&KEY, &whole.slice(..length), 1000).is_none());
        }
    }
}
