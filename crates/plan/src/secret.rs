//! Secret: one node → a secret, from a file, from the environment, or as it is written. In comes a node, out goes the
//! secret or a fault that does not show it. Called for `admin_token`, signing keys, API keys, and secrets of tokens.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use expression::Template;

use crate::meant::Token;
use crate::schema;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;

/// Characters of a token: fewer can be guessed.
const SHORTEST_TOKEN: usize = 16;

/// Bytes of a key: 128 bits, as Cloud CDN's have.
const SHORTEST_KEY: usize = 16;

/// Bytes of a secret, so that no device or wrong file is read to its end.
const LONGEST: usize = 4096;

const HOW_TO_MAKE: &str = "make one with `head -c 16 /dev/urandom | base64 | tr +/ -_`";

/// With or without `=` at the end: tools differ.
const BASE64URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Reads a token: what may stand behind `Authorization: Bearer`.
pub(crate) fn token(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Token> {
    sendable("the token", node, folder, report)
}

/// Reads an API key: what may stand in a field.
pub(crate) fn api_key(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Token> {
    sendable(&format!("the key {}", quoted(node.key())), node, folder, report)
}

fn sendable(what: &str, node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Token> {
    let secret = secret(node, folder, report)?;
    if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        report.at(node, format!("{what} has a character that cannot stand in a field"), HOW_TO_MAKE);
        return None;
    }
    if secret.len() < SHORTEST_TOKEN {
        report.at(
            node,
            format!("{what} has {} characters, and at least {SHORTEST_TOKEN} are needed", secret.len()),
            HOW_TO_MAKE,
        );
        return None;
    }
    Some(Token::new(secret))
}

/// Reads a signing key: base64url.
pub(crate) fn key(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Vec<u8>> {
    let secret = secret(node, folder, report)?;
    let name = quoted(node.key());
    let Ok(bytes) = BASE64URL.decode(&secret) else {
        let remedy = if secret.contains(['+', '/']) {
            "write `-` for every `+` and `_` for every `/`"
        } else {
            HOW_TO_MAKE
        };
        report.at(node, format!("the key {name} is not base64url"), remedy);
        return None;
    };
    if bytes.len() < SHORTEST_KEY {
        report.at(
            node,
            format!("the key {name} has {} bytes, and at least {SHORTEST_KEY} are needed", bytes.len()),
            HOW_TO_MAKE,
        );
        return None;
    }
    Some(bytes)
}

pub(crate) fn secret(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<String> {
    if let Shape::Map(_) = node.shape() {
        let section = Section::open(node, &schema::SECRET, report)?;
        return from_file(section.need("file", report)?, folder, report);
    }
    let text = value::written(node, report)?;
    if text.contains("${") {
        return match from_environment(text) {
            Ok(secret) => Some(secret),
            Err(reason) => {
                report.because(node, reason);
                None
            }
        };
    }
    report.secret(node.place());
    Some(text.to_owned())
}

fn from_file(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<String> {
    let path = value::file(node, folder, report)?;
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST as u64 + 1).read_to_string(&mut text));
    let name = quoted(value::text(node, report)?);
    let (cause, remedy) = match read {
        Ok(_) if text.len() > LONGEST => {
            ("is too long for a secret", "write a file that holds the secret alone")
        }
        Ok(_) if text.trim().is_empty() => ("is empty", "write the secret into it"),
        Ok(_) => return Some(text.trim().to_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            ("is no text", "write the secret into it as base64url")
        }
        Err(_) => ("cannot be read", "give this user the right to read it"),
    };
    report.at(node, format!("{name} {cause}"), remedy);
    None
}

/// `${env.NAME}`, and nothing around it: a secret is made of one piece.
fn from_environment(text: &str) -> Result<String, Reason> {
    let name = text.strip_prefix("${env.").and_then(|text| text.strip_suffix('}'));
    let Some(name) = name.filter(|name| !name.is_empty() && name.bytes().all(is_part_of_a_name)) else {
        return Err(Reason::new(
            "a secret is no expression over requests",
            "write `\"${env.NAME}\"` for a variable of the environment, or `{ file: path }`",
        ));
    };
    let template = Template::parse(text, Some(&[]))?;
    match template.constant().map(str::trim) {
        None | Some("") => Err(Reason::new(
            format!("the variable {} of the environment is empty", quoted(name)),
            "set it before you start fleetfoot",
        )),
        Some(secret) => Ok(secret.to_owned()),
    }
}

fn is_part_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
