//! Credentials: `credentials` of a policy, or one of its `accounts` → [`Credential`].

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use form_urlencoded::byte_serialize;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use message::Scheme;

use super::field;
use crate::meant::{ClientAuth, Credential, Credentials, OAuth2, SecretParameter, Token};
use crate::source::{http as source, url};
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{schema, secret, up};

/// Fields or parameters of one credential.
const MOST: usize = 10;

/// How long a token endpoint may take for each phase of its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The kinds of credentials.
const KINDS: [&str; 5] = ["bearer", "basic", "header", "query", "oauth2"];

/// Reads what calls carry. `name` is the policy's.
pub(super) fn credentials(
    name: &str,
    node: Node<'_>,
    folder: &Path,
    report: &mut Report,
) -> Option<Credentials> {
    let section = open(node, &schema::CREDENTIALS, report)?;
    let credential = credential(name, node, &section, folder, report)?;
    Some(Credentials { name: name.to_owned(), credential })
}

/// Opens a section below which there are secrets: what stands there instead may be one.
pub(super) fn open<'t>(
    node: Node<'t>,
    schema: &'static schema::Section,
    report: &mut Report,
) -> Option<Section<'t>> {
    if !matches!(node.shape(), Shape::Map(_)) {
        report.secret(node.place());
    }
    Section::open(node, schema, report)
}

/// Reads the one kind of credentials that a section has.
pub(super) fn credential(
    name: &str,
    node: Node<'_>,
    section: &Section<'_>,
    folder: &Path,
    report: &mut Report,
) -> Option<Credential> {
    let written: Vec<Node<'_>> = KINDS.iter().filter_map(|kind| section.get(kind)).collect();
    let kind = match written.as_slice() {
        [kind] => *kind,
        [] => {
            if !section.has_unknown() {
                let kinds = KINDS.map(|kind| format!("`{kind}`")).join(", ");
                report.at_key(node, "there are no credentials", format!("write one of {kinds}"));
            }
            return None;
        }
        [first, second, ..] => {
            let cause =
                format!("{} and {} both say what a call carries", quoted(first.key()), quoted(second.key()));
            report.at_key(*second, cause, "take one of them out; `header` may have several fields");
            return None;
        }
    };
    match kind.key() {
        "bearer" => {
            let token = secret(kind, folder, report, |byte| byte.is_ascii_graphic())?;
            authorization("Bearer", &token)
        }
        "basic" => basic(kind, folder, report),
        "header" => fields(kind, folder, report),
        "query" => parameters(kind, folder, report),
        _ => oauth2(name, kind, folder, report).map(|oauth2| Credential::OAuth2(Arc::new(oauth2))),
    }
}

fn authorization(scheme: &str, text: &str) -> Option<Credential> {
    Some(Credential::Fields(vec![(AUTHORIZATION, sensitive(&format!("{scheme} {text}"))?)]))
}

fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// A secret of characters that are fit for their place.
fn secret(node: Node<'_>, folder: &Path, report: &mut Report, is_fit: fn(u8) -> bool) -> Option<String> {
    let secret = secret::secret(node, folder, report)?;
    if secret.bytes().all(is_fit) {
        return Some(secret);
    }
    report.at(
        node,
        "the secret has a character that cannot stand there",
        "let the file or the variable hold the secret alone, in one line",
    );
    None
}

fn is_in_a_line(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte == b' '
}

fn basic(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Credential> {
    let section = open(node, &schema::BASIC_CREDENTIALS, report)?;
    let user = section.need("user", report).and_then(|node| {
        value::parsed(node, report, |text| match text {
            _ if text.contains(':') || text.chars().any(char::is_control) => Err(Reason::new(
                "a user has no colon and no control character",
                "write the user alone, and `password: …` beside it",
            )),
            user => Ok(user.to_owned()),
        })
    });
    let password = section.need("password", report)?;
    let password = secret(password, folder, report, |byte| !byte.is_ascii_control())?;
    authorization("Basic", &STANDARD.encode(format!("{}:{password}", user?)))
}

/// The entries of a mapping of names to secrets.
fn named<'t>(node: Node<'t>, report: &mut Report) -> Vec<Node<'t>> {
    let example = || format!("write it like `{}`", schema::CREDENTIALS.example);
    let Shape::Map(entries) = node.shape() else {
        report.secret(node.place());
        report.at_key(
            node,
            format!("{} must be a mapping of names to secrets", quoted(node.key())),
            example(),
        );
        return Vec::new();
    };
    if entries.is_empty() || entries.len() > MOST {
        report.at(node, format!("{} has {} entries", quoted(node.key()), entries.len()), {
            format!("write at least one, and at most {MOST}")
        });
        return Vec::new();
    }
    let has_secret = |entry: &Node<'t>| {
        let is_there = !matches!(entry.shape(), Shape::Nothing);
        if !is_there {
            // No path and no quote: where a space is missing, what stands here is the secret.
            report.secret(entry.key_place());
            report.fault(entry.key_place(), node.path(), "this has no secret", example());
        }
        is_there
    };
    entries.into_iter().filter(has_secret).collect()
}

fn fields(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Credential> {
    let mut fields: Vec<(HeaderName, HeaderValue)> = Vec::new();
    for entry in named(node, report) {
        let name = match field::for_credentials(entry.key()) {
            Ok(name) if fields.iter().any(|(other, _)| *other == name) => {
                report.at_key(entry, format!("{} stands here twice", quoted(entry.key())), "take one out");
                continue;
            }
            Ok(name) => name,
            Err(Reason { cause, remedy }) => {
                report.at_key(entry, cause, remedy);
                continue;
            }
        };
        let value = secret(entry, folder, report, is_in_a_line);
        fields.extend(value.and_then(|value| Some((name, sensitive(&value)?))));
    }
    (!fields.is_empty()).then_some(Credential::Fields(fields))
}

fn parameters(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Credential> {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let entries = named(node, report);
    let parameter = |entry: Node<'_>| {
        let value = secret(entry, folder, report, |byte| !byte.is_ascii_control())?;
        Some(SecretParameter { name: encoded(entry.key()), value: Token::new(encoded(&value)) })
    };
    let parameters: Vec<_> = entries.into_iter().filter_map(parameter).collect();
    (!parameters.is_empty()).then_some(Credential::Query(parameters))
}

fn oauth2(name: &str, node: Node<'_>, folder: &Path, report: &mut Report) -> Option<OAuth2> {
    let section = open(node, &schema::OAUTH2_CREDENTIALS, report)?;
    let endpoint = section.need("token", report).and_then(|node| endpoint(node, report));
    let client_id = section.need("client_id", report).and_then(|node| words(node, report));
    let client_secret = section
        .need("client_secret", report)
        .and_then(|node| secret(node, folder, report, |byte| !byte.is_ascii_control()));
    let scope = section.get("scope").and_then(|node| words(node, report));
    let audience = section.get("audience").and_then(|node| words(node, report));
    let mut auth = ClientAuth::default();
    section.set("auth", &mut auth, report, |node, report| {
        value::choice(node, &[("basic", ClientAuth::Basic), ("post", ClientAuth::Post)], report)
    });
    let (target, path) = endpoint?;
    let mut server = up::source(&format!("policies.{name} (oauth2)"), vec![target]);
    (server.timeouts.connect, server.timeouts.head, server.timeouts.body) = (PATIENCE, PATIENCE, PATIENCE);
    server.idle_connections = 1;
    if let Some(node) = section.get("tls") {
        source::tls(node, &mut server, folder, report);
    }
    let client_secret = Token::new(client_secret?);
    Some(OAuth2 {
        server: Arc::new(server),
        target: path,
        client_id: client_id?,
        client_secret,
        scope,
        audience,
        auth,
    })
}

/// Where tokens are asked for. Over cleartext the secret is anybody's on the way (RFC 6749 §2.3.1).
fn endpoint(node: Node<'_>, report: &mut Report) -> Option<(crate::meant::Target, String)> {
    let (target, path) = value::parsed(node, report, url::document)?;
    if target.scheme == Scheme::Http && !target.is_loopback() {
        report.hint_at_key(node, "the client secret is sent in cleartext", "write `https://`");
    }
    Some((target, path))
}

/// Printable words.
fn words(node: Node<'_>, report: &mut Report) -> Option<String> {
    value::parsed(node, report, |text| {
        let is_fit = !text.is_empty() && text.len() <= 4096 && text.bytes().all(is_in_a_line);
        let wrong =
            || Reason::new(format!("{} is not printable ASCII", quoted(node.key())), "write it in one line");
        is_fit.then(|| text.to_owned()).ok_or_else(wrong)
    })
}
