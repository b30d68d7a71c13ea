//! Grant: one request for a token: the client credentials grant (RFC 6749 §4.4). In: who we are. Out: the token and how long it is
//! good, or what the server says instead. Nothing of the token or of the secret is in an error.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use form_urlencoded::{Serializer, byte_serialize};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use message::{Clock, Error, Kind, Result};
use plan::{ClientAuth, OAuth2};
use serde::Deserialize;
use source::{Document, HttpSource, Wanted};

/// Bytes of an answer at most. Tokens are a few KiB.
const MOST: u64 = 64 * 1024;

/// How long one request may take.
const WITHIN: Duration = Duration::from_secs(10);

/// How long a token is good whose server does not say so (RFC 6749 §5.1: it "SHOULD provide the expiration time via other means").
const LIFETIME: Duration = Duration::from_mins(5);

/// A token.
#[derive(Debug)]
pub(super) struct Granted {
    /// `Authorization`, marked as sensitive.
    pub(super) field: HeaderValue,
    /// How long it is good.
    pub(super) lifetime: Duration,
}

/// Asks for one.
pub(super) async fn ask(source: &HttpSource, rule: &OAuth2) -> Result<Granted> {
    let mut fields = HeaderMap::new();
    fields.insert(ACCEPT, HeaderValue::from_static("application/json"));
    fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    if rule.auth == ClientAuth::Basic {
        fields.insert(AUTHORIZATION, basic(rule)?);
    }
    let body = content(rule).into();
    let wanted =
        Wanted { method: Method::POST, target: &rule.target, fields, body, most: MOST, within: WITHIN };
    let document = Document::fetch(source, wanted).await?;
    if document.status != StatusCode::OK {
        return Err(refusal(&document));
    }
    granted(&document.content)
}

fn content(rule: &OAuth2) -> String {
    let mut form = Serializer::new(String::new());
    form.append_pair("grant_type", "client_credentials");
    if rule.auth == ClientAuth::Post {
        form.append_pair("client_id", &rule.client_id);
        form.append_pair("client_secret", rule.client_secret.secret());
    }
    for (name, value) in [("scope", &rule.scope), ("audience", &rule.audience)] {
        if let Some(value) = value {
            form.append_pair(name, value);
        }
    }
    form.finish()
}

/// Both are encoded as in a form before they are joined (RFC 6749 §2.3.1).
fn basic(rule: &OAuth2) -> Result<HeaderValue> {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(&rule.client_id), encoded(rule.client_secret.secret()));
    field("Basic", &STANDARD.encode(pair))
}

fn field(scheme: &str, text: &str) -> Result<HeaderValue> {
    let unfit = |_| unusable("its token has a character that cannot stand in a field");
    let mut field = HeaderValue::from_str(&format!("{scheme} {text}")).map_err(unfit)?;
    field.set_sensitive(true);
    Ok(field)
}

/// RFC 6749 §5.1.
#[derive(Deserialize)]
struct Answer {
    access_token: String,
    token_type: Option<String>,
    expires_in: Option<Seconds>,
}

/// A number; some servers write it as a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seconds {
    Number(f64),
    Text(String),
}

fn granted(content: &[u8]) -> Result<Granted> {
    // What the parser says could quote the token.
    let answer: Answer = serde_json::from_slice(content)
        .map_err(|_| unusable("its answer is no JSON object with `access_token`"))?;
    if answer.token_type.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(unusable("its token is of another type than `Bearer`"));
    }
    if answer.access_token.is_empty() || !answer.access_token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(unusable("its token has a character that cannot stand in a field"));
    }
    Ok(Granted { field: field("Bearer", &answer.access_token)?, lifetime: lifetime(answer.expires_in)? })
}

/// Some servers say zero of tokens that do not expire; it is not taken for that, since to others it means what it says.
fn lifetime(expires_in: Option<Seconds>) -> Result<Duration> {
    let seconds = match expires_in {
        None => None,
        Some(Seconds::Number(seconds)) => Some(seconds),
        Some(Seconds::Text(text)) => text.parse().ok(),
    };
    match seconds.filter(|seconds| !seconds.is_nan()) {
        None => Ok(LIFETIME),
        Some(seconds) if seconds <= 0.0 => Err(unusable("its token has expired already, says `expires_in`")),
        Some(seconds) => Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
    }
}

/// What the server says instead of a token: its status, and the word for it (RFC 6749 §5.2), where that is one.
fn refusal(document: &Document) -> Error {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
    }
    let is_word = |text: &str| {
        (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let refusal = serde_json::from_slice::<Refusal>(&document.content).ok();
    let word = refusal.filter(|refusal| is_word(&refusal.error));
    let word = word.map(|refusal| format!(" ({})", refusal.error)).unwrap_or_default();
    let error = unusable(format!("it answered {}{word}", document.status.as_u16()));
    match rules::retry_after(&document.fields, Clock::date()) {
        Some(wait) => error.after(wait),
        None => error,
    }
}

fn unusable(detail: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(Kind::UnusableReply, detail)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn rfc6749_5_1_a_token_and_how_long_it_is_good() {
        for (rest, seconds) in [
            ("\"token_type\":\"bearer\",\"expires_in\":3600", 3600),
            ("\"token_type\":\"Bearer\",\"expires_in\":\"60\"", 60),
            ("\"expires_in\":1.5", 1),
            ("\"expires_in\":\"soon\"", 300),
            ("\"expires_in\":\"NaN\"", 300),
            ("\"expires_in\":null", 300),
            ("\"scope\":\"a\"", 300),
            ("\"expires_in\":1e300", u64::MAX),
        ] {
            let granted = granted(format!("{{\"access_token\":\"t0ken\",{rest}}}").as_bytes()).unwrap();
            assert_eq!(
                (granted.field.to_str().unwrap(), granted.lifetime.as_secs()),
                ("Bearer t0ken", seconds),
                "{rest}"
            );
            assert!(granted.field.is_sensitive() && !format!("{granted:?}").contains("t0ken"));
        }
    }

    #[test]
    fn what_is_no_token_is_told_without_it() {
        for answer in [
            "t0ken",
            "\"t0ken\"",
            "{}",
            "{\"access_token\":[\"t0ken\"]}",
            "{\"access_token\":\"\"}",
            "{\"access_token\":\"t0ken\\r\\nX: y\"}",
            "{\"access_token\":\"t0ken\",\"token_type\":\"mac\"}",
            "{\"access_token\":\"t0ken\",\"expires_in\":0}",
            "{\"access_token\":\"t0ken\",\"expires_in\":\"-1\"}",
        ] {
            let error = granted(answer.as_bytes()).unwrap_err();
            assert!(!format!("{error:?}").contains("t0ken"), "{error}");
        }
    }

    #[test]
    fn rfc6749_5_2_a_refusal_says_its_word_and_nothing_else() {
        let told = |content: &'static str, fields: &[(&'static str, &'static str)]| {
            let fields = fields
                .iter()
                .map(|(name, value)| (http::HeaderName::from_static(name), HeaderValue::from_static(value)));
            refusal(&Document {
                status: StatusCode::BAD_REQUEST,
                fields: fields.collect(),
                content: Bytes::from_static(content.as_bytes()),
            })
        };
        let error =
            told("{\"error\":\"invalid_client\",\"error_description\":\"s3cret\"}", &[("retry-after", "7")]);
        assert_eq!(
            (error.detail(), error.retry_after()),
            ("it answered 400 (invalid_client)", Some(Duration::from_secs(7)))
        );
        for odd in ["{\"error\":\"s3cret!\"}", "<html>", ""] {
            assert_eq!(told(odd, &[]).detail(), "it answered 400");
        }
    }

    #[test]
    fn rfc6749_2_3_1_id_and_secret_are_encoded_before_they_are_joined() {
        let text = "sources: { a: http://a }\nroutes: [{ match: /, proxy: a, use: p }]\npolicies: { p: { credentials: { oauth2: \
                    { token: http://localhost/t, client_id: \"a:b\", client_secret: \"c d\", scope: \"x y\", auth: AUTH } } } }";
        let rule = |auth: &str| {
            let plan = plan::compile(&text.replace("AUTH", auth), "test.yaml")
                .unwrap_or_else(|faults| panic!("{faults}"));
            match plan.routes[0].layers.iter().next() {
                Some(plan::Layer::Credentials(credentials)) => {
                    credentials.credential.oauth2().unwrap().clone()
                }
                other => panic!("{other:?}"),
            }
        };
        let basic = basic(&rule("basic")).unwrap();
        assert_eq!(basic.to_str().unwrap(), format!("Basic {}", STANDARD.encode("a%3Ab:c+d")));
        assert_eq!(content(&rule("basic")), "grant_type=client_credentials&scope=x+y");
        assert_eq!(
            content(&rule("post")),
            "grant_type=client_credentials&client_id=a%3Ab&client_secret=c+d&scope=x+y"
        );
    }
}
