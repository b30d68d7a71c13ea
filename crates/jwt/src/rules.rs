//! Rules: what a policy asks of a token beside its signature: claims (RFC 7519 §4.1), at a date.

use std::time::Duration;

use message::Timestamp;
use serde::Deserialize;

use crate::{Algorithm, Refusal};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// How it may be signed. Only these: what the token says of it is no more than a claim (RFC 8725 §3.1).
    pub algorithms: Vec<Algorithm>,
    /// What its `typ` must be (RFC 8725 §3.11); `None`: anything.
    pub kind: Option<String>,
    /// Who may have issued it; empty: anybody who has a key.
    pub issuers: Vec<String>,
    /// For whom it may be; one of these is enough. Empty: for anybody.
    pub audiences: Vec<String>,
    /// How far clocks may be apart.
    pub leeway: Duration,
    /// Whether it may leave open when it expires.
    pub may_last: bool,
}

/// From when to when a token is good, the leeway included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// From then on.
    pub from: Timestamp,
    /// Not from then on (RFC 7519 §4.1.4).
    pub until: Timestamp,
}

/// Serde refuses any of these that stands there twice.
#[derive(Deserialize)]
struct Claims {
    exp: Option<f64>,
    nbf: Option<f64>,
    iss: Option<String>,
    aud: Option<Audience>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Rules {
    /// Looks at the claims of a token whose signature is good.
    pub(crate) fn check(&self, payload: &[u8], now: Timestamp) -> Result<Validity, Refusal> {
        let claims: Claims = serde_json::from_slice(payload).map_err(|_| Refusal::Malformed)?;
        let until = match claims.exp {
            Some(seconds) => moment(seconds) + self.leeway,
            None if self.may_last => Timestamp::from_millis(u64::MAX),
            None => return Err(Refusal::NoExpiry),
        };
        let from = moment(claims.nbf.unwrap_or(0.0)).minus(self.leeway);
        let validity = Validity { from, until };
        validity.check(now)?;
        if !self.issuers.is_empty() && !claims.iss.is_some_and(|iss| self.issuers.contains(&iss)) {
            return Err(Refusal::Issuer);
        }
        let is_for = |audience: &String| match &claims.aud {
            None => false,
            Some(Audience::One(one)) => one == audience,
            Some(Audience::Several(several)) => several.contains(audience),
        };
        if !self.audiences.is_empty() && !self.audiences.iter().any(is_for) {
            return Err(Refusal::Audience);
        }
        Ok(validity)
    }
}

impl Validity {
    /// Whether this is the time.
    ///
    /// # Errors
    /// [`Refusal::Expired`], [`Refusal::NotYet`].
    pub fn check(&self, now: Timestamp) -> Result<(), Refusal> {
        if now >= self.until {
            return Err(Refusal::Expired);
        }
        if now < self.from { Err(Refusal::NotYet) } else { Ok(()) }
    }
}

/// Seconds since 1970, perhaps with a fraction (RFC 7519 §2, NumericDate); what lies before counts as 1970.
fn moment(seconds: f64) -> Timestamp {
    // The cast saturates.
    Timestamp::from_millis((seconds * 1000.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_000_000);

    fn check(rules: &Rules, payload: &str) -> Result<Validity, Refusal> {
        rules.check(payload.as_bytes(), NOW)
    }

    fn lasting() -> Rules {
        Rules { may_last: true, ..Rules::default() }
    }

    #[test]
    fn the_time_counts_with_the_leeway() {
        let rules = Rules { leeway: Duration::from_secs(30), ..Rules::default() };
        for (payload, expected) in [
            (r#"{"exp":1000001}"#, None),
            (r#"{"exp":999971}"#, None),
            (r#"{"exp":999970.001}"#, None),
            (r#"{"exp":999970}"#, Some(Refusal::Expired)),
            (r#"{"exp":-1}"#, Some(Refusal::Expired)),
            (r#"{"exp":0}"#, Some(Refusal::Expired)),
            (r#"{"exp":1e30}"#, None),
            (r#"{"exp":1000001,"nbf":1000030}"#, None),
            (r#"{"exp":1000001,"nbf":1000031}"#, Some(Refusal::NotYet)),
            (r#"{"exp":1000001,"nbf":-5}"#, None),
            (r#"{"nbf":1}"#, Some(Refusal::NoExpiry)),
            (r#"{"exp":null}"#, Some(Refusal::NoExpiry)),
        ] {
            assert_eq!(check(&rules, payload).err(), expected, "{payload}");
        }
        let validity = check(&rules, r#"{"exp":1000001,"nbf":999999}"#).unwrap();
        assert_eq!((validity.from.as_secs(), validity.until.as_secs()), (999_969, 1_000_031));
        assert_eq!(check(&lasting(), "{}").unwrap().until, Timestamp::from_millis(u64::MAX));
        assert_eq!(check(&lasting(), r#"{"exp":1}"#), Err(Refusal::Expired), "what is said counts");
    }

    #[test]
    fn issuer_and_audience_must_be_there_and_be_one_of_those_named() {
        let issuers = Rules { issuers: vec!["a".into(), "b".into()], ..lasting() };
        for (payload, is_good) in [
            (r#"{"iss":"a"}"#, true),
            (r#"{"iss":"b"}"#, true),
            (r#"{"iss":"A"}"#, false),
            (r#"{"iss":""}"#, false),
            ("{}", false),
        ] {
            assert_eq!(check(&issuers, payload).err(), (!is_good).then_some(Refusal::Issuer), "{payload}");
        }
        let audiences = Rules { audiences: vec!["api".into(), "app".into()], ..lasting() };
        for (payload, is_good) in [
            (r#"{"aud":"api"}"#, true),
            (r#"{"aud":["x","app"]}"#, true),
            (r#"{"aud":["x"]}"#, false),
            (r#"{"aud":[]}"#, false),
            (r#"{"aud":"api app"}"#, false),
            ("{}", false),
        ] {
            assert_eq!(
                check(&audiences, payload).err(),
                (!is_good).then_some(Refusal::Audience),
                "{payload}"
            );
        }
        assert!(check(&lasting(), r#"{"iss":"x","aud":["y"]}"#).is_ok());
    }

    #[test]
    fn claims_of_another_type_and_claims_that_stand_there_twice_are_refused() {
        for payload in [
            "",
            "[]",
            "null",
            r#""exp""#,
            r#"{"exp":"1e9"}"#,
            r#"{"exp":true}"#,
            r#"{"exp":1e999}"#,
            r#"{"nbf":"x"}"#,
            r#"{"iss":["a"]}"#,
            r#"{"aud":{"a":1}}"#,
            r#"{"aud":["a",1]}"#,
            r#"{"exp":9e9,"exp":9e9}"#,
            r#"{"iss":"a","iss":"b"}"#,
            r#"{"exp":9e9} x"#,
        ] {
            assert_eq!(check(&lasting(), payload), Err(Refusal::Malformed), "{payload}");
        }
    }
}
