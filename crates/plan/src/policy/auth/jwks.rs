//! JWKS: where public keys come from → [`Jwks`]: a URL alone, or its section.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jwt::{Algorithm, KeySet};
use message::Scheme;

use crate::meant::{Jwks, RemoteJwks, Target};
use crate::source::url;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{default, schema, up};

/// Reads it. `name` is the policy's.
pub(super) fn jwks(
    name: &str,
    node: Node<'_>,
    algorithms: &[Algorithm],
    folder: &Path,
    report: &mut Report,
) -> Option<Jwks> {
    if let Shape::Text(_) = node.shape() {
        let (target, path) = value::parsed(node, report, address)?;
        return Some(Jwks::Remote(Arc::new(remote(name, target, path))));
    }
    let section = Section::open(node, &schema::AUTH_JWKS, report)?;
    if let Some(file) = section.get("file") {
        for word in ["url", "authorities", "refresh", "cooldown", "if_error", "timeout"] {
            if let Some(other) = section.get(word) {
                let cause = format!("{} is for a `url`, and this set lies in a file", quoted(word));
                report.at_key(other, cause, "take one of them out");
            }
        }
        return in_file(file, algorithms, folder, report).map(Jwks::File);
    }
    let (target, path) = value::parsed(section.need("url", report)?, report, address)?;
    let mut remote = remote(name, target, path);
    let authorities = section.get("authorities").and_then(|node| value::file(node, folder, report));
    Arc::make_mut(&mut remote.origin).authorities = authorities;
    if let Some(node) = section.get("refresh") {
        remote.refresh = value::duration(node, report).filter(|refresh| {
            let fits = (Duration::from_secs(1)..=Duration::from_hours(24)).contains(refresh);
            if !fits {
                report.at(
                    node,
                    "keys are not fetched so often or so seldom",
                    "write `1s` to `1d`, like `10m`",
                );
            }
            fits
        });
    }
    section.set("cooldown", &mut remote.cooldown, report, value::timeout);
    section.set("if_error", &mut remote.if_error, report, value::duration);
    section.set("timeout", &mut remote.timeout, report, value::timeout);
    Some(Jwks::Remote(Arc::new(remote)))
}

fn remote(name: &str, target: Target, path: String) -> RemoteJwks {
    let name = format!("policies.{name} (jwks)");
    RemoteJwks {
        origin: Arc::new(up::source(&name, vec![target])),
        target: path,
        refresh: None,
        cooldown: default::JWKS_COOLDOWN,
        if_error: default::JWKS_IF_ERROR,
        timeout: default::JWKS_TIMEOUT,
    }
}

/// `https://id.example.com/keys`: the server, and the path there.
fn address(url: &str) -> Result<(Target, String), Reason> {
    let (target, path) = url::document(url)?;
    if target.scheme == Scheme::Http && !target.is_loopback() {
        return Err(Reason::new(
            "over `http` anybody on the way could put keys of their own in",
            format!("write `https://{}{path}`, or `{{ file: … }}`", target.authority()),
        ));
    }
    Ok((target, path))
}

fn in_file(
    node: Node<'_>,
    algorithms: &[Algorithm],
    folder: &Path,
    report: &mut Report,
) -> Option<Arc<KeySet>> {
    let path = value::file(node, folder, report)?;
    let name = quoted(value::text(node, report)?);
    let mut set = Vec::new();
    if File::open(path).and_then(|file| file.take(jwt::LARGEST as u64 + 1).read_to_end(&mut set)).is_err() {
        report.at(node, format!("{name} cannot be read"), "give this user the right to read it");
        return None;
    }
    let why = match KeySet::read(&set, algorithms) {
        Ok(keys) if !keys.is_empty() => return Some(Arc::new(keys)),
        Ok(_) => "it has no key for the algorithms of the policy".to_owned(),
        Err(why) => why.to_string(),
    };
    let cause = format!("{name} is no set of keys: {why}");
    report.at(node, cause, "write a JWK set (RFC 7517): `{\"keys\":[{\"kty\":\"EC\", …}]}`");
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_addresses() {
        for (url, authority, path) in [
            ("https://id.example.com/keys", "id.example.com", "/keys"),
            ("https://id.example.com:8443/a/b?c=d", "id.example.com:8443", "/a/b?c=d"),
            ("http://127.0.0.1:9/keys", "127.0.0.1:9", "/keys"),
            ("http://localhost/keys", "localhost", "/keys"),
            ("http://[::1]:9/keys", "[::1]:9", "/keys"),
        ] {
            let (target, found) = address(url).unwrap_or_else(|reason| panic!("{url}: {reason}"));
            assert_eq!((target.authority().as_str(), found.as_str()), (authority, path), "{url}");
        }
    }

    #[test]
    fn what_somebody_on_the_way_could_change_is_refused() {
        for url in ["http://id.example.com/keys", "http://10.0.0.1/keys", "http://localhost.example.com/keys"]
        {
            assert!(address(url).unwrap_err().cause.contains("on the way"), "{url}");
        }
        for url in ["https://id.example.com/a#b", "https://", "keys.json"] {
            assert!(address(url).is_err(), "{url}");
        }
        assert!(
            !address("https://me:secret@id.example.com/keys").unwrap_err().to_string().contains("secret")
        );
    }
}
