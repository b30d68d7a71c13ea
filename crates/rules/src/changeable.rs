//! Changeable: which header fields of a message policies may change. In: a name, whose it is, and what is to be done. Out: why not.
//! Asked by `plan` for what a file says, and by `policy` for what functions of a module say.

use crate::claim::is_claim;

/// Whose fields they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Those of a request, on its way to a source.
    Request,
    /// Those of a response, on its way to a client.
    Response,
}

/// What is to be done to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is set or added.
    Write,
    /// It is taken out.
    Remove,
}

/// Why a field is nobody's to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchangeable {
    /// It is `Host`, which the source says.
    Host,
    /// It frames or routes a message, or is about one connection (RFC 9110 §7.6, §8.6).
    Framing,
    /// It says what the cache did, when all else is done.
    OfTheCache,
    /// Fleetfoot adds it when all else is done.
    Ours,
    /// It says who asks, and is taken off what strangers send.
    Claim,
    /// It asks for part of a response, or whether it changed (RFC 9110 §13.1, §14.2).
    Condition,
}

impl Unchangeable {
    /// Behind the name of the field.
    pub fn why(self) -> &'static str {
        match self {
            Unchangeable::Host => "names the server that is asked",
            Unchangeable::Framing => "frames or routes a message, or is about one connection",
            Unchangeable::OfTheCache | Unchangeable::Ours => "is written when all else is done",
            Unchangeable::Claim => "says who asks, and is taken off what strangers send",
            Unchangeable::Condition => {
                "asks for part of a response, or whether it changed, which is for clients to say"
            }
        }
    }
}

/// Why this field may not be changed so; `None`: it may. Neither may any other spelling that some servers take for it
/// (`Content_Length`). The name is in lower case.
pub fn unchangeable(name: &str, whose: Whose, change: Change) -> Option<Unchangeable> {
    let usual = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let is_condition = |name: &str| name.starts_with("if-") || name == "range";
    match (usual.as_str(), whose, change) {
        ("host", Whose::Request, _) => Some(Unchangeable::Host),
        (name, ..) if message::is_framing(name) => Some(Unchangeable::Framing),
        ("cache-status" | "cache-id", Whose::Response, _) => Some(Unchangeable::OfTheCache),
        (name, Whose::Response, _) => message::is_ours(name).then_some(Unchangeable::Ours),
        (name, Whose::Request, Change::Write) if is_claim(name) => Some(Unchangeable::Claim),
        (name, Whose::Request, Change::Write) if is_condition(name) => Some(Unchangeable::Condition),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_spelling_gets_round_it() {
        for (name, why) in [
            ("content_length", Unchangeable::Framing),
            ("content.length", Unchangeable::Framing),
            ("transfer_encoding", Unchangeable::Framing),
            ("if_none-match", Unchangeable::Condition),
            ("x_real-ip", Unchangeable::Claim),
        ] {
            assert_eq!(unchangeable(name, Whose::Request, Change::Write), Some(why), "{name}");
        }
        assert_eq!(
            unchangeable("content_length", Whose::Request, Change::Remove),
            Some(Unchangeable::Framing)
        );
        assert_eq!(
            unchangeable("cache_status", Whose::Response, Change::Write),
            Some(Unchangeable::OfTheCache)
        );
        assert_eq!(unchangeable("x_request_id", Whose::Response, Change::Remove), Some(Unchangeable::Ours));
        for name in ["content_type", "x_tenant", "ifs_none", "lengthy"] {
            assert_eq!(unchangeable(name, Whose::Request, Change::Write), None, "{name}");
        }
    }
}
