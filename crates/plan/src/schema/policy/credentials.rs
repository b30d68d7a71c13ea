//! The words of `credentials` and `accounts`, and how a secret is written.

use super::super::SECRET_FORM;
use super::{Section, Word, word};

const BEARER: Word = word("bearer", SECRET_FORM, None, "`Authorization: Bearer`, with this token.");
const BASIC: Word = word("basic", "section", None, "`Authorization: Basic`, with a user and a password.");
const HEADER: Word = word("header", "field name → secret", None, "These fields, with these values.");
const QUERY: Word =
    word("query", "parameter → secret", None, "These parameters in the query, with these values.");
const OAUTH2: Word =
    word("oauth2", "section", None, "`Authorization: Bearer`, with a token that a server issues to us.");

/// In `POLICY`.
pub(super) const CREDENTIALS_WORD: Word = word("credentials", "section", None, "What each call to the source carries.").told(
    "For sources over HTTP. Whatever the client sent in the same field or parameter is replaced, never sent beside it. Credentials \
     stand inside the cache: what is fetched with them is kept and given to everybody who may ask the route, unless the response \
     forbids that (`Cache-Control: private`); a request that has an `Authorization` of its own is still not answered from the cache \
     by itself. A policy with `credentials` cannot stand outside of one that caches, and there is one on the way of a call at most. \
     Redirects go to the client, so that no other server sees a credential. Health checks carry none. With `oauth2` the token is \
     fetched in the background, for all cores at once, and fetched anew well before it expires. While the token endpoint is down, \
     the token that is there is used as long as it is valid; without one, calls fail with `credentials-unavailable`. If the source \
     responds 401, the token is dropped and the call made once more with a new one, where its content is no longer than 64 KiB.",
    "credentials: { bearer: { file: api.key } }",
);

/// In `POLICY`.
pub(super) const ACCOUNTS_WORD: Word =
    word("accounts", "section", None, "Several credentials for one provider, by turns.").told(
        "Each call takes the next account, in rotation or by weight, over all cores. An account that is throttled rests: after a 429, \
         or a 503 with `Retry-After`, as long as that says, at most `rest`; without `Retry-After` from a second on, doubled each \
         time. One that gets 401 or 403 is set aside for five minutes and used only if all others rest. With `retry: { on: [429] }` \
         the next try takes the next account at once. While all rest, calls are refused with 429 and the `Retry-After` of the first \
         that is back. Otherwise accounts are like `credentials`. The JSON access log names the account, metrics count by it; a \
         secret is never shown. Make sure that your provider's terms allow several accounts.",
        "accounts: { rotate: [{ name: a, bearer: { file: a.token } }, { name: b, bearer: { file: b.token } }] }",
    );

pub(crate) static CREDENTIALS: Section = Section {
    path: "policies.<name>.credentials",
    meaning: "What each call to the source carries: exactly one of these.",
    example: "credentials: { header: { X-Api-Key: { file: api.key } } }",
    words: &[BEARER, BASIC, HEADER, QUERY, OAUTH2],
    later: &[],
};

pub(crate) static BASIC_CREDENTIALS: Section = Section {
    path: "policies.<name>.credentials.basic",
    meaning: "A user and a password (RFC 7617).",
    example: "basic: { user: app, password: { file: api.password } }",
    words: &[
        word("user", "text", None, "The user, without a colon. Required."),
        word("password", SECRET_FORM, None, "The password. Required."),
    ],
    later: &[],
};

pub(crate) static OAUTH2_CREDENTIALS: Section = Section {
    path: "policies.<name>.credentials.oauth2",
    meaning: "Where tokens come from: the client credentials grant (RFC 6749 §4.4).",
    example: "oauth2: { token: \"https://id.example.com/token\", client_id: shop, client_secret: { file: client.secret }, \
              scope: \"orders:read\" }",
    words: &[
        word("token", "URL", None, "The token endpoint. Required."),
        word("client_id", "text", None, "Who we are. Required."),
        word("client_secret", SECRET_FORM, None, "How we prove it. Required."),
        word("scope", "text", None, "What the token is to be good for; several with spaces between them."),
        word("audience", "text", None, "Whom the token is for, where the server asks for that."),
        word(
            "auth",
            "`basic` or `post`",
            Some("basic"),
            "How id and secret are sent: in `Authorization`, or in the content.",
        ),
        word("tls", "section", None, "How the server is verified, as `tls` of a source."),
    ],
    later: &[],
};

pub(crate) static ACCOUNTS: Section = Section {
    path: "policies.<name>.accounts",
    meaning: "Several credentials for one provider: exactly one of `rotate` and `weights`.",
    example: "accounts: { weights: [{ weight: 3, bearer: { file: a.token } }, { bearer: { file: b.token } }] }",
    words: &[
        word("rotate", "list", None, "One after another."),
        word("weights", "list", None, "As often as each weighs."),
        word("rest", "duration", Some("60s"), "How long an account that is throttled rests at most."),
    ],
    later: &[],
};

pub(crate) static ACCOUNT: Section = Section {
    path: "policies.<name>.accounts.rotate[]",
    meaning: "One account, with exactly one kind of credentials; in `weights` too.",
    example: "accounts: { rotate: [{ name: a, header: { X-Api-Key: { file: a.token } } }] }",
    words: &[
        word(
            "name",
            "name",
            None,
            "What it is called in metrics and logs. Default: its number in the list, from 1.",
        ),
        word(
            "weight",
            "number",
            Some("1"),
            "How many calls it gets, compared with others. Only in `weights`.",
        ),
        BEARER,
        BASIC,
        HEADER,
        QUERY,
        OAUTH2,
    ],
    later: &[],
};

pub(crate) static SECRET: Section = Section {
    path: "secret",
    meaning: "How a secret is written, for `listen.admin_token`, `auth.jwt.secret`, each name in `signed.keys` and `auth.keys.of`, and whatever `credentials` and `accounts` \
              hold: `{ file: path }`, `\"${env.NAME}\"`, or the secret itself. Files are read again on every reload; no message ever \
              shows a secret.",
    example: "admin_token: { file: admin.token }",
    words: &[word(
        "file",
        "path",
        None,
        "A file that holds nothing else; white space around the secret is ignored. Relative paths start at the folder of \
         the config file.",
    )],
    later: &[],
};
