//! GraphQL: the content of a POST → whether its operation only reads. Called by `answer`, before anything is looked up.
//!
//! What is stored under a content is given to whoever sends the same, without the origin's hearing of it. So only what is
//! a query beyond doubt is a query: JSON of the members that GraphQL over HTTP names, each once, in no letters but
//! theirs, a document that parses, and one operation that it can mean. What origins may read differently (a list of
//! operations, a name twice, an operation in the URL) is none. Parsed by `apollo-parser`, which bounds depth and tokens.

use std::borrow::Cow;
use std::sync::Arc;

use apollo_parser::Parser;
use apollo_parser::cst::Definition;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use message::RequestView;
use quick_cache::sync::Cache;

/// Braces inside one another, and tokens: far more than anybody writes by hand or by a tool.
const DEEPEST: usize = 100;
const MOST_TOKENS: usize = 20_000;
/// Operations of one document.
const MOST_OPERATIONS: usize = 64;
/// Persisted queries that are remembered.
const REMEMBERED: usize = 10_000;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// A query: it only reads.
    Query,
    /// A mutation or a subscription.
    More,
    /// Nobody can say.
    Unclear,
}

/// The operations of a document: what each is called, and whether it is a query.
pub(crate) type Operations = Arc<[(Option<Box<str>>, bool)]>;

/// The documents behind the hashes of persisted queries (Apollo's), as far as they have come by with their text.
pub(crate) struct Persisted(Cache<Hash, Operations>);

/// SHA-256 of a document.
pub(crate) type Hash = [u8; 32];

impl Default for Persisted {
    fn default() -> Self {
        Persisted(Cache::new(REMEMBERED))
    }
}

/// What a POST of this content asks for.
pub(crate) fn asks(request: &RequestView<'_>, content: &[u8], persisted: &Persisted) -> Asks {
    if !is_plain_json(request) || names_operation(request.query()) {
        return Asks::Unclear;
    }
    operation(content, persisted).unwrap_or(Asks::Unclear)
}

/// `None`: nobody can say.
fn operation(content: &[u8], persisted: &Persisted) -> Option<Asks> {
    let members = Members::of(json::check(content)?, &["query", "operationName", "variables", "extensions"])?;
    let extensions = members.get("extensions").filter(|extensions| *extensions != "null");
    let hash = match extensions.map(extended) {
        None | Some(Extended::Otherwise) => None,
        Some(Extended::Persisted(hash)) => Some(hash),
        Some(Extended::Unclear) => return None,
    };
    let operations = match members.get("query").filter(|query| *query != "null") {
        Some(query) => {
            let text = json::text(query)?;
            let operations = operations(&text)?;
            // Only what has that hash: nobody may give another's document a meaning.
            if let Some(hash) = hash.filter(|hash| sha256(&text) == *hash) {
                persisted.0.insert(hash, Arc::clone(&operations));
            }
            operations
        }
        None => persisted.0.get(&hash?)?,
    };
    let name = match members.get("operationName").filter(|name| *name != "null") {
        Some(name) => Some(json::text(name)?),
        None => None,
    };
    let mut meant =
        operations.iter().filter(|(called, _)| name.is_none() || called.as_deref() == name.as_deref());
    let (Some((_, is_query)), None) = (meant.next(), meant.next()) else { return None };
    Some(if *is_query { Asks::Query } else { Asks::More })
}

/// The operations of a document that can be carried out.
pub(crate) fn operations(text: &str) -> Option<Operations> {
    let tree = Parser::new(text).recursion_limit(DEEPEST).token_limit(MOST_TOKENS).parse();
    if tree.errors().next().is_some() {
        return None;
    }
    let mut operations = Vec::new();
    for definition in tree.document().definitions() {
        match definition {
            Definition::OperationDefinition(operation) if operations.len() < MOST_OPERATIONS => {
                // Without a word it is a query.
                let is_query = operation.operation_type().is_none_or(|kind| kind.query_token().is_some());
                let name = operation.name().map(|name| name.text().as_str().into());
                operations.push((name, is_query));
            }
            Definition::FragmentDefinition(_) => {}
            _ => return None,
        }
    }
    Some(operations.into())
}

/// What `extensions` say of the document.
pub(crate) enum Extended {
    Persisted(Hash),
    /// Something else.
    Otherwise,
    Unclear,
}

pub(crate) fn extended(extensions: &str) -> Extended {
    let names = |name: &str| name.eq_ignore_ascii_case("persistedQuery");
    let Some(all) = json::members_as_written(extensions) else { return Extended::Unclear };
    let mut all = all.filter(|(name, _)| names(name));
    match (all.next(), all.next()) {
        (None, _) => Extended::Otherwise,
        (Some((name, persisted)), None) if name == "persistedQuery" => {
            hash_in(persisted).map_or(Extended::Unclear, Extended::Persisted)
        }
        (Some(_), _) => Extended::Unclear,
    }
}

fn hash_in(persisted: &str) -> Option<Hash> {
    let members = Members::of(persisted, &["version", "sha256Hash"])?;
    let digits = json::text(members.get("sha256Hash")?)?;
    let mut hash = Hash::default();
    if digits.len() != 2 * hash.len() || !digits.is_ascii() {
        return None;
    }
    for (byte, digits) in hash.iter_mut().zip(digits.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(hash)
}

fn sha256(text: &str) -> Hash {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes());
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// The members of a map, none twice and none but those that are known: some origins take the first of two, some the last,
/// and some do not look at the case of letters.
struct Members<'j>(Vec<(Cow<'j, str>, &'j str)>);

impl<'j> Members<'j> {
    fn of(json: &'j str, known: &[&str]) -> Option<Self> {
        let mut members: Vec<(Cow<'j, str>, &'j str)> = Vec::new();
        for (name, value) in json::members_as_written(json)? {
            if !known.contains(&&*name) || members.iter().any(|(other, _)| *other == name) {
                return None;
            }
            members.push((name, value));
        }
        Some(Members(members))
    }

    fn get(&self, name: &str) -> Option<&'j str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

/// Whether an answer of an endpoint of GraphQL is one of what went wrong, as far as its beginning tells: a map with
/// `errors`, whatever its status. A hash that the origin has forgotten is one (`PersistedQueryNotFound`): stored, it would
/// be given to those who come after somebody has sent the text.
pub(crate) fn has_errors(content: &[u8]) -> bool {
    let whole = match std::str::from_utf8(content) {
        Ok(text) => text,
        // Cut within a letter.
        Err(error) => std::str::from_utf8(&content[..error.valid_up_to()]).unwrap_or_default(),
    };
    let members = json::members_as_written(whole).into_iter().flatten();
    members.filter(|(name, _)| name == "errors").any(|(_, errors)| !matches!(errors, "null" | "[]"))
}

/// Whether the content is said to be JSON in UTF-8, as it is.
fn is_plain_json(request: &RequestView<'_>) -> bool {
    let mut types = request.fields.all(&CONTENT_TYPE);
    let (Some(written), None) = (types.next(), types.next()) else { return false };
    let Ok(written) = std::str::from_utf8(written) else { return false };
    let (media, parameters) = written.split_once(';').unwrap_or((written, ""));
    let parameters = parameters.trim().trim_matches('"');
    media.trim().eq_ignore_ascii_case("application/json")
        && (parameters.is_empty() || parameters.replace('"', "").eq_ignore_ascii_case("charset=utf-8"))
        && request.fields.all(&CONTENT_ENCODING).next().is_none()
}

/// Whether the URL may name an operation: some origins look there first.
fn names_operation(query: Option<&str>) -> bool {
    // Of documents that origins keep, by the names that Apollo, Relay, Hasura and Yoga give them.
    const NAMES: [&str; 12] = [
        "query",
        "mutation",
        "operationname",
        "operationid",
        "variables",
        "extensions",
        "id",
        "documentid",
        "docid",
        "queryid",
        "hash",
        "sha256hash",
    ];
    query.into_iter().flat_map(|query| query.split(['&', ';'])).any(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        let letters = name.to_ascii_lowercase().replace(['_', '-'], "");
        name.contains(['%', '+', '[', '.']) || NAMES.contains(&&*letters)
    })
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, Method};
    use message::{Fields, Scheme};

    use super::*;

    fn asked(persisted: &Persisted, target: &str, media: &'static str, content: &str) -> Asks {
        let mut fields = HeaderMap::new();
        fields.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        let request = RequestView {
            method: &Method::POST,
            scheme: Scheme::Https,
            authority: "a.example",
            target,
            fields: Fields::Map(&fields),
            client: None,
        };
        asks(&request, content.as_bytes(), persisted)
    }

    fn of(content: &str) -> Asks {
        asked(&Persisted::default(), "/graphql", "application/json", content)
    }

    #[test]
    fn the_operation_that_is_meant_says_what_is_asked() {
        for (content, asks) in [
            (r#"{"query":"{ a }"}"#, Asks::Query),
            (
                r#"{"query":"query A($b: Int = 1) { a(b: $b) @c ...F } fragment F on T { d }","variables":{}}"#,
                Asks::Query,
            ),
            (r#"{"query":"mutation { a }"}"#, Asks::More),
            (r#"{"query":"subscription { a }"}"#, Asks::More),
            (r#"{"query":"\u006dutation { a }"}"#, Asks::More),
            (r##"{"query":"# query { a }\nmutation { a }"}"##, Asks::More),
            (r#"{"query":"query A { a } mutation B { b }","operationName":"A"}"#, Asks::Query),
            (r#"{"query":"query A { a } mutation B { b }","operationName":"B"}"#, Asks::More),
            (r#"{"query":"query A { mutation }","operationName":null,"extensions":null}"#, Asks::Query),
        ] {
            assert_eq!(of(content), asks, "{content}");
        }
    }

    #[test]
    fn what_origins_may_read_differently_is_no_query() {
        for content in [
            "",
            "{ a }",
            "{}",
            "null",
            r#""{ a }""#,
            r#"[{"query":"{ a }"}]"#,
            r#"{"query":"{ a"}"#,
            r#"{"query":""}"#,
            r#"{"query":7}"#,
            r#"{"query":"fragment F on T { d }"}"#,
            r#"{"query":"type T { a: Int } query { a }"}"#,
            r#"{"query":"query A { a } mutation B { b }"}"#,
            r#"{"query":"query A { a } mutation B { b }","operationName":"C"}"#,
            r#"{"query":"query A { a } mutation A { b }","operationName":"A"}"#,
            r#"{"query":"query A { a }","operationName":""}"#,
            // Twice, in whatever letters, or not known.
            r#"{"query":"{ a }","query":"mutation { a }"}"#,
            r#"{"query":"{ a }","Query":"mutation { a }"}"#,
            r#"{"query":"{ a }","qu\u0065ry":"mutation { a }"}"#,
            r#"{"query":"{ a }","operationName":null,"operationName":"A"}"#,
            r#"{"query":"{ a }","mutation":"mutation { a }"}"#,
            r#"{"query":"{ a }","id":"x"}"#,
            r#"{"id":"x"}"#,
        ] {
            assert_eq!(of(content), Asks::Unclear, "{content}");
        }
        let deep = format!(r#"{{"query":"{}{}"}}"#, "{a".repeat(50_000), "}".repeat(50_000));
        assert_eq!(of(&deep), Asks::Unclear);
        let ask = |target, media| asked(&Persisted::default(), target, media, r#"{"query":"{ a }"}"#);
        for (target, media, asks) in [
            ("/graphql?op=A", "application/json; charset=utf-8", Asks::Query),
            ("/graphql", "application/json;charset=\"UTF-8\"", Asks::Query),
            ("/graphql", "text/plain", Asks::Unclear),
            ("/graphql", "application/json; charset=utf-7", Asks::Unclear),
            ("/graphql?query=mutation{a}", "application/json", Asks::Unclear),
            ("/graphql?a=1&Que%72y=mutation{a}", "application/json", Asks::Unclear),
            ("/graphql?operationName=B", "application/json", Asks::Unclear),
            ("/graphql?doc_id=7", "application/json", Asks::Unclear),
        ] {
            assert_eq!(ask(target, media), asks, "{target} {media}");
        }
    }

    #[test]
    fn errors_are_seen_where_they_stand() {
        for (content, has) in [
            (r#"{"errors":[{"message":"PersistedQueryNotFound"}]}"#, true),
            (r#" {"data":{"a":null} , "errors" : [{}]}"#, true),
            (r#"{"errors":[{"message":"cut"#, true),
            (r#"{"data":{"errors":[1]}}"#, false),
            (r#"{"data":{},"errors":null}"#, false),
            (r#"{"data":{},"errors":[]}"#, false),
            (r#"{"data":"errors"#, false),
            (r#"[{"errors":[1]}]"#, false),
            ("<html>", false),
            ("", false),
        ] {
            assert_eq!(has_errors(content.as_bytes()), has, "{content}");
        }
        assert!(!has_errors(b"{\"a\":\"\xff"));
    }

    #[test]
    fn a_persisted_query_is_known_once_its_text_has_come_by() {
        let persisted = Persisted::default();
        let ask = |content: &str| asked(&persisted, "/graphql", "application/json", content);
        let hex = |text: &str| {
            sha256(text).iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"))
        };
        let by_hash = |query: &str, hash: &str| {
            format!(r#"{{{query}"extensions":{{"persistedQuery":{{"version":1,"sha256Hash":"{hash}"}}}}}}"#)
        };
        let (query, mutation) = ("query A { a }", "mutation B { b }");
        let [query_hash, mutation_hash] = [query, mutation].map(hex);
        assert_eq!(ask(&by_hash("", &query_hash)), Asks::Unclear);
        let with = |text: &str| format!("\"query\":\"{text}\",");
        // A text that has another hash says nothing about it.
        assert_eq!(ask(&by_hash(&with(query), &mutation_hash)), Asks::Query);
        assert_eq!(ask(&by_hash("", &mutation_hash)), Asks::Unclear);
        assert_eq!(ask(&by_hash(&with(mutation), &mutation_hash)), Asks::More);
        assert_eq!(ask(&by_hash("", &mutation_hash)), Asks::More);
        assert_eq!(ask(&by_hash(&with(query), &query_hash)), Asks::Query);
        assert_eq!(ask(&by_hash("", &query_hash)), Asks::Query);
        assert_eq!(ask(&by_hash("\"operationName\":\"A\",", &query_hash)), Asks::Query);
        assert_eq!(ask(&by_hash("\"operationName\":\"B\",", &query_hash)), Asks::Unclear);
        for hash in ["", "zz", &query_hash[..62]] {
            assert_eq!(ask(&by_hash("", hash)), Asks::Unclear);
        }
    }
}
