//! The words of `auth`: who may ask.

use super::super::SECRET_FORM;
use super::{Section, Word, word};

pub(super) const AUTH_WORD: Word =
    word("auth", "section", None, "Only requests of somebody who may ask are let in.").told(
        "A request must carry a bearer token (a signed JWT) or an API key; without one, or with one that is wrong or has \
         expired, it is refused with 401 and reaches neither cache nor source, whatever is stored. Where several policies of a \
         `use` have an `auth`, all must be satisfied. It stands on routes: sources and steps are asked by fleetfoot itself. A token \
         that was checked once is known until it expires, so that hits cost no check of a signature. `Authorization` is passed on to \
         the source, and responses to such requests are shared only if the response says so (RFC 9111 §3.5) or `cache` does; \
         an API key is not passed on, so everyone who has one shares what is stored. Claims of a token that was let in are \
         true: see `claim` in [expressions](expressions.md). Envoy calls this `jwt_authn`, Kong `jwt` and `key-auth`.",
        "auth:\n  jwt: { jwks: https://id.example.com/keys, algorithms: [ES256], issuer: https://id.example.com, audience: api }\n  \
         keys: { of: { acme: { file: acme.key } } }",
    );

pub(crate) static AUTH: Section = Section {
    path: "policies.<name>.auth",
    meaning: "Who may ask. Where both ways are written, either will do; but whatever a request carries must be good.",
    example: "auth: { jwt: { jwks: https://id.example.com/keys, algorithms: [ES256], audience: api } }",
    words: &[
        word("jwt", "section", None, "Bearer tokens: `Authorization: Bearer …` with a signed JWT."),
        word("keys", "section", None, "API keys, in a header of their own."),
        word(
            "optional",
            "`true` or `false`",
            Some("false"),
            "Lets in requests that carry nothing, too. A credential that is wrong is refused all the same.",
        ),
    ],
    later: &[],
};

pub(crate) static AUTH_JWT: Section = Section {
    path: "policies.<name>.auth.jwt",
    meaning: "Which tokens are good. One is if its signature is, and its claims are as they are asked for here.",
    example: "jwt: { jwks: https://id.example.com/keys, algorithms: [ES256], issuer: https://id.example.com, audience: api }",
    words: &[
        word(
            "algorithms",
            "list",
            None,
            "How tokens may be signed: `RS256`, `RS384`, `RS512`, `PS256`, `PS384`, `PS512`, `ES256`, `ES384`, `EdDSA` (Ed25519) with \
             `jwks`; `HS256` with `secret`. Required: what a token says of itself proves nothing.",
        ),
        word(
            "jwks",
            "URL, or section",
            None,
            "The public keys of whoever signs (a JWK set, RFC 7517): for OpenID Connect, the `jwks_uri` of \
             `/.well-known/openid-configuration`.",
        ),
        word(
            "secret",
            SECRET_FORM,
            None,
            "For `HS256`: the text that tokens are signed with, its bytes as they stand, at least 32.",
        ),
        word("issuer", "text, or list", None, "What `iss` must be, one of these. Default: anything."),
        word(
            "audience",
            "text, or list",
            None,
            "What `aud` must be or have, one of these. Default: anything.",
        ),
        word("type", "text", None, "What `typ` must be, like `at+jwt` (RFC 9068). Default: anything."),
        word(
            "leeway",
            "duration",
            Some("30s"),
            "How far clocks may be apart, for `exp` and `nbf`. At most 5m.",
        ),
        word(
            "expiry",
            "`required` or `optional`",
            Some("required"),
            "Whether a token without `exp`, which is good for ever, is refused.",
        ),
    ],
    later: &[],
};

pub(crate) static AUTH_JWKS: Section = Section {
    path: "policies.<name>.auth.jwt.jwks",
    meaning: "Where the keys are. Short form: `jwks: https://id.example.com/keys`. They are fetched at the start, again before they \
              are out of date, and again when a token names a key that is not known. While the provider cannot be reached, \
              or gives something else than a set, those fetched last go on working; a set without a key for `algorithms` takes all of \
              them back. A set has at most 256 KiB and 100 keys: a longer one is refused as a whole.",
    example: "jwks: { url: https://id.example.com/keys, refresh: 5m, if_error: 1h }",
    words: &[
        word("url", "URL", None, "`https://…`; `http://` only at a loopback address. Or `file`."),
        word("file", "path", None, "A JWK set that lies in a file, read again on every reload."),
        word(
            "authorities",
            "path",
            None,
            "PEM file of the certificate authorities to trust for `url`. Default: the system's.",
        ),
        word(
            "refresh",
            "duration",
            None,
            "For how long keys count as up to date, from 1s to 1d. Default: what `Cache-Control` of the response says, from 1m to 1d, or \
             else 10m.",
        ),
        word(
            "cooldown",
            "duration",
            Some("10s"),
            "The shortest time between two fetches, whatever tokens name.",
        ),
        word(
            "if_error",
            "duration",
            Some("1d"),
            "How long keys go on working after they are out of date while no others can be fetched. After that, tokens \
             are refused with 503.",
        ),
        word("timeout", "duration", Some("5s"), "How long a fetch may take, and requests wait for it."),
    ],
    later: &[],
};

pub(crate) static AUTH_KEYS: Section = Section {
    path: "policies.<name>.auth.keys",
    meaning: "API keys: each a name, which metrics show, and a secret of at least 16 characters. The header goes no further than \
              fleetfoot.",
    example: "keys: { field: X-Api-Key, of: { acme: { file: acme.key } } }",
    words: &[
        word("field", "header name", Some("X-Api-Key"), "The header that carries the key."),
        word(
            "of",
            "name → secret",
            None,
            "The keys that are valid, by the names of whom they belong to. Required.",
        ),
    ],
    later: &[],
};
