//! Auth: the section `auth` of a policy → [`Auth`]. `jwks` says where public keys come from, `keys` which API keys there are.

mod jwks;
mod keys;

use std::path::Path;
use std::time::Duration;

use jwt::{Algorithm, Rules};

use self::jwks::jwks;
use self::keys::keys;
use crate::meant::{Auth, JwtAuth, Token};
use crate::yaml::fault::{Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::Node;
use crate::yaml::value;
use crate::{default, schema, secret};

/// Bytes of a secret for HS256: as many as the hash has (RFC 7518 §3.2).
const SHORTEST_SECRET: usize = 32;
/// More is no error of clocks (RFC 7519 §4.1.4: "usually no more than a few minutes").
const LONGEST_LEEWAY: Duration = Duration::from_mins(5);

/// Reads who may ask. `name` is the policy's.
pub(super) fn auth(name: &str, node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Auth> {
    let section = Section::open(node, &schema::AUTH, report)?;
    let (jwt_node, keys_node) = (section.get("jwt"), section.get("keys"));
    if jwt_node.is_none() && keys_node.is_none() && !section.has_unknown() {
        report.at(
            node,
            "`auth` names no way to be let in",
            format!("write it like `{}`", schema::AUTH.example),
        );
    }
    let mut auth = Auth { name: name.to_owned(), jwt: None, keys: None, is_optional: false };
    section.set("optional", &mut auth.is_optional, report, value::switch);
    auth.jwt = jwt_node.and_then(|node| jwt(name, node, folder, report));
    auth.keys = keys_node.and_then(|node| keys(node, folder, report));
    Some(auth)
}

fn jwt(name: &str, node: Node<'_>, folder: &Path, report: &mut Report) -> Option<JwtAuth> {
    let section = Section::open(node, &schema::AUTH_JWT, report)?;
    let named = section.need("algorithms", report).map(|node| algorithms(node, report));
    let mut rules = Rules { leeway: default::LEEWAY, ..Rules::default() };
    rules.algorithms = named.clone().unwrap_or_else(|| Algorithm::ALL.to_vec());
    let mut texts =
        |key: &str| section.get(key).map(|node| value::distinct(node, report, one_text)).unwrap_or_default();
    (rules.issuers, rules.audiences) = (texts("issuer"), texts("audience"));
    rules.kind = section.get("type").and_then(|node| one_text(node, report));
    section.set("leeway", &mut rules.leeway, report, leeway);
    section.set("expiry", &mut rules.may_last, report, |node, report| {
        value::choice(node, &[("required", false), ("optional", true)], report)
    });
    let set = section.get("jwks").and_then(|node| jwks(name, node, &rules.algorithms, folder, report));
    let secret = section.get("secret").and_then(|node| shared_secret(node, folder, report));
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        fits(&section, node, &named, report);
    }
    unchecked(node, &rules, report);
    Some(JwtAuth { rules, set, secret })
}

/// Whether there is a key for each algorithm, and an algorithm for each key.
fn fits(section: &Section<'_>, node: Node<'_>, named: &[Algorithm], report: &mut Report) {
    let needs_secret = named.iter().any(|algorithm| algorithm.is_symmetric());
    let public = named.iter().find(|algorithm| !algorithm.is_symmetric());
    match (section.get("secret"), needs_secret) {
        (None, true) => {
            report.at(
                node,
                "`HS256` needs a `secret`",
                "write `secret: { file: hs256.secret }`, or take `HS256` out",
            );
        }
        (Some(secret), false) => report.at_key(
            secret,
            "`secret` is for `HS256`, which `algorithms` does not name",
            "take `secret` out: a public key is no secret, and stands in `jwks`",
        ),
        _ => {}
    }
    match (section.get("jwks"), public) {
        (None, Some(algorithm)) => {
            let cause = format!("`{}` needs public keys", algorithm.name());
            report.at(
                node,
                cause,
                "write `jwks: https://id.example.com/keys`, or `jwks: { file: keys.json }`",
            );
        }
        (Some(jwks), None) => report.at_key(
            jwks,
            "`jwks` has public keys, and `algorithms` names only `HS256`",
            "take `jwks` out, or name the algorithm of its keys, like `ES256`",
        ),
        _ => {}
    }
}

fn algorithms(node: Node<'_>, report: &mut Report) -> Vec<Algorithm> {
    let words = Algorithm::ALL.map(|algorithm| (algorithm.name(), algorithm));
    value::distinct(node, report, |node, report| {
        if value::is_word(node, |text| text.eq_ignore_ascii_case("none")) {
            report.at(node, "`none` is no signature: anybody could write such a token", "take it out");
            return None;
        }
        value::choice(node, &words, report)
    })
}

/// What is not asked for, and probably should be (RFC 8725 §3.8, §3.9).
fn unchecked(node: Node<'_>, rules: &Rules, report: &mut Report) {
    let missing = match (rules.issuers.is_empty(), rules.audiences.is_empty()) {
        (false, false) => return,
        (true, true) => "`issuer` and `audience`",
        (true, false) => "`issuer`",
        (false, true) => "`audience`",
    };
    report.hint_at_key(
        node,
        format!(
            "without {missing}, every token that these keys sign is let in, also one for another service"
        ),
        format!("write {missing} as your tokens have them (`iss`, `aud`)"),
    );
}

fn shared_secret(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Token> {
    let secret = secret::secret(node, folder, report)?;
    if secret.len() < SHORTEST_SECRET {
        let cause =
            format!("the secret has {} bytes, and at least {SHORTEST_SECRET} are needed", secret.len());
        report.at(node, cause, "make one with `head -c 32 /dev/urandom | base64`");
        return None;
    }
    Some(Token::new(secret))
}

fn leeway(node: Node<'_>, report: &mut Report) -> Option<Duration> {
    let leeway = value::duration(node, report)?;
    if leeway > LONGEST_LEEWAY {
        report.at(node, "clocks are not so far apart", "write at most `5m`");
        return None;
    }
    Some(leeway)
}

fn one_text(node: Node<'_>, report: &mut Report) -> Option<String> {
    let text = value::text(node, report)?;
    if text.is_empty() {
        report.at(node, format!("{} is empty", quoted(node.key())), "write a text, or take it out");
        return None;
    }
    Some(text.to_owned())
}
