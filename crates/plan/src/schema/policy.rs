//! The words of `policies`, of `signed`, and how a secret is written.

use super::{Section, word};

pub(crate) static POLICY: Section = Section {
    path: "policies.<name>",
    meaning: "What a route may use: `cache`, `signed`, or both.",
    example: "live: { cache: { ttl: 5s } }",
    words: &[
        word(
            "cache",
            "section, or `true` for its defaults",
            None,
            "Responds from memory where HTTP allows it (RFC 9111).",
        ),
        word("signed", "section", None, "Only signed requests are let in.").told(
            "A request must carry a signature, in its URL (`Expires`, `KeyName`, `Signature` as the last parameters, \
             or `URLPrefix` for everything below a URL) or in a cookie; wrong, missing and expired signatures are \
             refused with 403 and reach neither cache nor origin. Your application makes the signatures, with \
             HMAC-SHA1 and a shared key, exactly as for Cloud CDN's signed URLs and signed cookies. The signature is \
             not part of the cache key and is not sent to the origin, so everyone who may see a response shares one \
             entry. It hides nothing from anyone who is handed a signed URL: let signatures expire soon. Add a new key \
             before you remove the old one. nginx calls this `secure_link`.",
            "signed: { keys: { main: { file: main.key } } }\ncache: { mode: force, ttl: 1h }",
        ),
    ],
    later: &["limit", "concurrency", "retry", "hedge", "breaker", "accounts", "har"],
};

pub(crate) static SIGNED: Section = Section {
    path: "policies.<name>.signed",
    meaning: "Signed URLs and cookies, as in Cloud CDN.",
    example: "signed: { keys: { main: { file: main.key } }, cookie: none }",
    words: &[
        word(
            "keys",
            "name → secret",
            None,
            "The keys that are currently valid, by the name in `KeyName`: base64url of at least 16 bytes, made with \
             `head -c 16 /dev/urandom \\| base64 \\| tr +/ -_`. Required.",
        ),
        word(
            "cookie",
            "cookie name or `none`",
            Some("Cloud-CDN-Cookie"),
            "The cookie that may carry the signature instead of the URL. `none`: only URLs.",
        ),
    ],
    later: &[],
};

pub(crate) static SECRET: Section = Section {
    path: "secret",
    meaning: "How a secret is written, for `listen.admin_token` and each name in `signed.keys`: `{ file: path }`, \
              `\"${env.NAME}\"`, or the secret itself. Files are read again on every reload; no message ever shows a \
              secret.",
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
