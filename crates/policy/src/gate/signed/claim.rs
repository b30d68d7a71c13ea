//! Claim: the parameters of a signature, as a client sent them. Nothing in it is true before the signature is verified.

use base64::Engine;

use super::{BASE64URL, Refusal};

/// Bytes of HMAC-SHA1.
const SIGNATURE: usize = 20;
/// Digits of a time: enough for thirty thousand years.
const MOST_DIGITS: usize = 12;
/// As long as the names of keys may be.
const LONGEST_NAME: usize = 64;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim<'a> {
    /// All from the first parameter to the name of the key: what is signed, where there is a prefix.
    pub(crate) text: &'a str,
    /// The encoded prefix of the URLs it is for; `None`: for one URL alone.
    pub(crate) prefix: Option<&'a str>,
    /// From this second since 1970 on it is not valid any more.
    pub(crate) expires: u64,
    pub(crate) key: &'a str,
    pub(crate) signature: [u8; SIGNATURE],
}

/// A claim in a URL, and the target without it.
pub(crate) struct InTarget<'a> {
    pub(crate) claim: Claim<'a>,
    /// What is before `&Signature=`: with scheme and host what is signed, where there is no prefix.
    pub(crate) signed: &'a str,
    /// What the cache and the origin get to see.
    pub(crate) rest: &'a str,
}

/// The claim at the end of a target. `None`: there is no parameter `Signature`, so it is not a signed URL.
pub(crate) fn in_target(target: &str) -> Result<Option<InTarget<'_>>, Refusal> {
    let Some(mark) = target.find('?') else { return Ok(None) };
    let mut first = None;
    let mut is_signed = false;
    let mut at = mark + 1;
    for parameter in target[at..].split('&') {
        let name = parameter.split('=').next().unwrap_or(parameter);
        if matches!(name, "URLPrefix" | "Expires" | "KeyName" | "Signature") {
            first = first.or(Some(at));
            is_signed |= name == "Signature";
        }
        at += parameter.len() + 1;
    }
    let (Some(first), true) = (first, is_signed) else { return Ok(None) };
    let claim = Claim::parse(&target[first..], '&')?;
    // What stands before is `?` or `&`; a question mark that is left alone asks for nothing.
    let end = if first - 1 == mark + 1 { mark } else { first - 1 };
    Ok(Some(InTarget { claim, signed: &target[..first + claim.text.len()], rest: &target[..end] }))
}

impl<'a> Claim<'a> {
    /// Reads `[URLPrefix=…&]Expires=…&KeyName=…&Signature=…`: these, in this order, and nothing else.
    pub(crate) fn parse(text: &'a str, separator: char) -> Result<Self, Refusal> {
        let mut parameters = text.split(separator).peekable();
        let prefix = parameters.next_if(|first| first.starts_with("URLPrefix="));
        let mut value = |name| parameters.next().and_then(|text| text.strip_prefix(name));
        let expires = value("Expires=");
        let key = value("KeyName=");
        let signature = value("Signature=");
        let (Some(expires), Some(key), Some(signature), None) = (expires, key, signature, parameters.next())
        else {
            return Err(Refusal::Malformed);
        };
        if key.len() > LONGEST_NAME {
            return Err(Refusal::Malformed);
        }
        Ok(Claim {
            text: &text[..text.len() - signature.len() - "&Signature=".len()],
            prefix: prefix.and_then(|prefix| prefix.strip_prefix("URLPrefix=")),
            expires: seconds(expires)?,
            key,
            signature: decoded(signature)?,
        })
    }
}

fn seconds(digits: &str) -> Result<u64, Refusal> {
    if digits.len() > MOST_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refusal::Malformed);
    }
    digits.parse().map_err(|_| Refusal::Malformed)
}

fn decoded(text: &str) -> Result<[u8; SIGNATURE], Refusal> {
    // The library wants room for whole groups of three.
    let mut bytes = [0; SIGNATURE + 4];
    match BASE64URL.decode_slice(text, &mut bytes) {
        Ok(SIGNATURE) => {
            let (signature, _) = bytes.split_first_chunk().expect("there is room for more than a signature");
            Ok(*signature)
        }
        _ => Err(Refusal::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNED: &str = "Expires=1549751401&KeyName=my-key&Signature=CRFqQnVfFyiUyR63OQf-HRUpIwc=";

    fn rest(target: &str) -> Result<Option<&str>, Refusal> {
        in_target(target).map(|found| found.map(|found| found.rest))
    }

    #[test]
    fn what_the_cache_sees_ends_where_the_signature_begins() {
        for (before, after) in [
            ("/a?", "/a"),
            ("/a?x=1&", "/a?x=1"),
            ("/a?&", "/a"),
            ("/a?x&&", "/a?x&"),
            ("/?a=?&", "/?a=?"),
            ("?", ""),
        ] {
            assert_eq!(rest(&format!("{before}{SIGNED}")), Ok(Some(after)), "{before}");
        }
    }

    #[test]
    fn what_has_no_signature_is_not_signed() {
        for target in
            ["/", "*", "/a?Expires=1&KeyName=b", "/a?URLPrefix=x", "/Signature=x", "/a?signature=x", ""]
        {
            assert_eq!(rest(target), Ok(None), "{target}");
        }
    }

    #[test]
    fn any_other_form_is_refused() {
        let good = "CRFqQnVfFyiUyR63OQf-HRUpIwc";
        for target in [
            "/a?Signature",
            "/a??Expires=1&KeyName=k&Signature=#",
            "/a?Signature=",
            "/a?Expires=1&Signature=#",
            "/a?KeyName=k&Expires=1&Signature=#",
            "/a?Expires=1&KeyName=k&x=1&Signature=#",
            "/a?Expires=1&KeyName=k&Signature=#&x=1",
            "/a?Expires=1&KeyName=k&Signature=#&",
            "/a?Expires=1&KeyName=k&Signature=#&Signature=#",
            "/a?Expires=1&Expires=1&KeyName=k&Signature=#",
            "/a?Expires=1&KeyName=k&KeyName=k&Signature=#",
            "/a?Signature=#&Expires=1&KeyName=k",
            "/a?Signature=#&x=1&Expires=1&KeyName=k&Signature=#",
            "/a?Expires=1&x=1&Expires=1&KeyName=k&Signature=#",
            "/a?URLPrefix=x&x=1&Expires=1&KeyName=k&Signature=#",
            "/a?Expires=1&KeyName=k&URLPrefix=x&Signature=#",
            "/a?URLPrefix=x&URLPrefix=x&Expires=1&KeyName=k&Signature=#",
            "/a?Expires=&KeyName=k&Signature=#",
            "/a?Expires=-1&KeyName=k&Signature=#",
            "/a?Expires=+1&KeyName=k&Signature=#",
            "/a?Expires=1.5&KeyName=k&Signature=#",
            "/a?Expires=1000000000000&KeyName=k&Signature=#",
            "/a?Expires=1&KeyName=k&Signature=#A",
            "/a?Expires=1&KeyName=k&Signature=#==",
            "/a?Expires=1&KeyName=k&Signature=A#",
        ] {
            assert_eq!(rest(&target.replace('#', good)), Err(Refusal::Malformed), "{target}");
        }
        let long = format!("/a?Expires=1&KeyName={}&Signature={good}", "k".repeat(65));
        assert_eq!(rest(&long), Err(Refusal::Malformed));
    }

    #[test]
    fn one_signature_is_written_in_one_way_but_for_the_padding() {
        let of = |signature: &str| {
            Claim::parse(&format!("Expires=1:KeyName=k:Signature={signature}"), ':')
                .map(|claim| claim.signature)
        };
        let signature = of("CRFqQnVfFyiUyR63OQf-HRUpIwc=");
        assert!(signature.is_ok());
        assert_eq!(of("CRFqQnVfFyiUyR63OQf-HRUpIwc"), signature);
        // Bits that the last letter has and the signature has not.
        assert_eq!(of("CRFqQnVfFyiUyR63OQf-HRUpIwd="), Err(Refusal::Malformed));
        assert_eq!(of("CRFqQnVfFyiUyR63OQf+HRUpIwc="), Err(Refusal::Malformed));
    }
}
