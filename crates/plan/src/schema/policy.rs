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
            "Answers from memory where HTTP allows it (RFC 9111).",
        ),
        word("signed", "section", None, "Only signed requests come in.").told(
            "A request has to carry a signature, in its URL (`Expires`, `KeyName`, `Signature` as the last parameters, or \
             `URLPrefix` for everything below a URL) or in a cookie; wrong, missing and expired ones get 403 and reach \
             neither cache nor origin. Your application makes the signatures, with HMAC-SHA1 and a key both sides know, \
             exactly as for Cloud CDN's signed URLs and signed cookies. The signature is no part of the cache key and is \
             not sent to the origin, so all who may see an answer share one entry. It does not hide anything from whoever \
             is handed a signed URL: let signatures expire soon. Add a new key before you take the old one out. nginx \
             calls this `secure_link`.",
            "signed: { keys: { main: { file: main.key } } }\ncache: { mode: force, ttl: 1h }",
        ),
    ],
    later: &["limit", "concurrency", "retry", "hedge", "breaker", "accounts", "har"],
};

pub(crate) static SIGNED: Section = Section {
    path: "policies.<name>.signed",
    meaning: "Signed URLs and cookies, as Cloud CDN has them.",
    example: "signed: { keys: { main: { file: main.key } }, cookie: none }",
    words: &[
        word(
            "keys",
            "name → secret",
            None,
            "The keys that are valid now, by the name in `KeyName`: base64url of 16 bytes at least, made with \
             `head -c 16 /dev/urandom \\| base64 \\| tr +/ -_`. Must be there.",
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
    meaning: "How a secret is written, behind `listen.admin_token` and each name of `signed.keys`: `{ file: path }`, \
              `\"${env.NAME}\"`, or the secret itself. Files are read again with every reload; no message ever shows a \
              secret.",
    example: "admin_token: { file: admin.token }",
    words: &[word(
        "file",
        "path",
        None,
        "A file that holds nothing else; white space around it does not count. Relative paths start at the folder of the \
         file.",
    )],
    later: &[],
};
