//! The words of what changes messages in a policy: `headers`.

use super::{Section, word};

pub(crate) static HEADERS: Section = Section {
    path: "policies.<name>.headers",
    meaning: "Changes of header fields.",
    example: "headers: { request: { set: { X-Tenant: \"${path.tenant}\" } }, response: { remove: [Server, X-Internal-*] } }",
    words: &[
        word("request", "section", None, "Changes of requests on their way to the source."),
        word(
            "response",
            "section",
            None,
            "Changes of responses on their way to the client, errors included. Values may also use `response.status`, \
             `response.header('Name')` and `cache`.",
        ),
    ],
    later: &[],
};

pub(crate) static HEADERS_FIELDS: Section = Section {
    path: "policies.<name>.headers.request",
    meaning: "Changes of one kind of message, in this order; `response` has the same words. Values are text with \
              expressions in it; a field whose value is missing is left out.",
    example: "remove: [X-Internal-*]\nset: { X-Tenant: \"${path.tenant}\" }\nadd: { X-Seen-By: \"${location}\" }",
    words: &[
        word("remove", "name, `Prefix-*` or list", None, "Takes fields out."),
        word("set", "name → text", None, "Writes fields, in place of any of that name."),
        word("add", "name → text or list", None, "Adds lines, beside any of that name."),
    ],
    later: &[],
};

pub(crate) static REWRITE: Section = Section {
    path: "policies.<name>.rewrite",
    meaning: "Another path for the source. One of `prefix` and `path` is required.",
    example: "rewrite: { path: \"/users/{id}/**\", to: \"/u/{id}/**\" }",
    words: &[
        word("prefix", "path", None, "What the path begins with: whole segments."),
        word(
            "path",
            "pattern",
            None,
            "Which paths, written as in `match`: `{name}` is a segment, a final `**` the rest.",
        ),
        word(
            "to",
            "path or pattern",
            None,
            "What stands in its place. A query behind `?` takes the place of the query, which stays otherwise. Required.",
        ),
    ],
    later: &[],
};
