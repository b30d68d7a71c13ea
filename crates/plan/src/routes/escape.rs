//! Escape: ways round a route's protection that the file itself leaves open: methods that go to another route, and
//! patterns that servers take for one. In come all routes with the place of their `match`; called by `routes`.

use http::Method;

use crate::meant::{CachePolicy, Pattern, Protection, Route, Segment};
use crate::yaml::fault::{Report, quoted};
use crate::yaml::tree::Node;

/// Notes a fault for each route that can be got round.
pub(crate) fn escapes(routes: &[(Node<'_>, Route)], report: &mut Report) {
    for (node, route) in routes {
        if let Some((other, lost)) = by_method(route, routes) {
            let (pattern, method) = (&route.pattern, route.pattern.method.as_ref());
            let method = method.map_or("any method", Method::as_str);
            let others = other.pattern.method.as_ref().map_or("every other method", Method::as_str);
            let path = pattern.text.split_once(' ').map_or(pattern.text.as_str(), |(_, path)| path);
            report.at(
                *node,
                format!(
                    "{lost} is for {method} alone: {others} of these paths goes to {} without it",
                    quoted(&other.pattern.text)
                ),
                format!(
                    "write `match: {path}`, which takes every method, or one route with this path for each method that \
                     is meant to be open, like `match: POST {path}`"
                ),
            );
        }
    }
    by_letter_case(routes, report);
}

/// Where a method that the route does not take leads without its protection, and what is lost.
fn by_method<'r>(route: &Route, routes: &'r [(Node<'_>, Route)]) -> Option<(&'r Route, String)> {
    let own = route.pattern.method.as_ref()?;
    let is_fallback = |other: &Pattern| {
        let is_other = match &other.method {
            None => true,
            // `GET` takes `HEAD` too; and who names a method for this very path means it.
            Some(method) => method != own && *method != Method::HEAD && !is_same_place(&route.pattern, other),
        };
        is_other && overlaps(&route.pattern, other) && rank(&route.pattern) >= rank(other)
    };
    routes.iter().map(|(_, other)| other).find_map(|other| {
        if std::ptr::eq(route, other) || !is_fallback(&other.pattern) {
            return None;
        }
        let lost = lost(route, other)?;
        let is_shadowed = routes.iter().any(|(_, between)| {
            between.pattern.method.is_none()
                && covers(&between.pattern, &route.pattern)
                && rank(&between.pattern) > rank(&other.pattern)
                && self::lost(route, between).is_none()
        });
        (!is_shadowed).then_some((other, lost))
    })
}

/// What of a route's protection a request to another one is without.
fn lost(route: &Route, other: &Route) -> Option<String> {
    if let Some(signed) = &route.signed
        && other.signed != route.signed
    {
        return Some(format!("the signature of {}", quoted(&signed.name)));
    }
    if let Some(auth) = route.auth.iter().find(|auth| !other.auth.contains(auth)) {
        return Some(format!("`auth` of {}", quoted(&auth.name)));
    }
    let (own, theirs) = (route.cache()?, other.cache()?);
    let names_people = own.per.is_some() || !own.skip_for.is_empty();
    (names_people && own != theirs && answers_others(theirs, other.pattern.method.as_ref()))
        .then(|| format!("`{}` of {}", if own.per.is_some() { "per" } else { "skip_for" }, quoted(&own.name)))
}

/// Whether it stores answers to other methods than GET.
fn answers_others(policy: &CachePolicy, method: Option<&Method>) -> bool {
    let takes = |word: &str| method.is_none_or(|method| method.as_str() == word);
    (policy.body_keys.query && takes("QUERY")) || (policy.body_keys.post && takes("POST"))
}

/// Patterns that differ in letter case alone, where it matters which of them takes a request.
fn by_letter_case(routes: &[(Node<'_>, Route)], report: &mut Report) {
    let all: Vec<Route> = routes.iter().map(|(_, route)| route.clone()).collect();
    let protections = Protection::of(&all);
    let folded: Vec<String> =
        all.iter().map(|route| route.pattern.canonical().to_ascii_lowercase()).collect();
    for (at, (node, route)) in routes.iter().enumerate() {
        let is_one = |before: &usize| {
            folded[*before] == folded[at]
                && (protections[*before].lacks(protections[at], true)
                    || protections[at].lacks(protections[*before], true))
        };
        if let Some(before) = (0..at).find(is_one) {
            report.at(
                *node,
                format!(
                    "servers that ignore letter case take {} for {}, which is protected otherwise",
                    quoted(&route.pattern.text),
                    quoted(&all[before].pattern.text)
                ),
                "let both use the same policies and `invalidate`, or take one of them out",
            );
        }
    }
}

/// Whether two patterns differ at most in their method.
fn is_same_place(one: &Pattern, other: &Pattern) -> bool {
    let place = |pattern: &Pattern| Pattern { method: None, ..pattern.clone() }.canonical();
    place(one) == place(other)
}

/// How specific a pattern is, without its method: as the router ranks those that take one path.
fn rank(pattern: &Pattern) -> (usize, Vec<u8>) {
    let host = match pattern.host.as_deref() {
        None => 0,
        Some(host) if host.starts_with("*.") => host.len(),
        Some(_) => usize::MAX,
    };
    let segment = |segment: &Segment| match segment {
        Segment::Literal(_) => 3,
        Segment::One(_) => 2,
        Segment::Rest => 1,
    };
    let mut path: Vec<u8> = pattern.path.iter().map(segment).collect();
    if pattern.path.last() != Some(&Segment::Rest) {
        path.push(2);
    }
    (host, path)
}

/// Whether some request, but for its method, fits both.
fn overlaps(one: &Pattern, other: &Pattern) -> bool {
    fn paths(one: &[Segment], other: &[Segment]) -> bool {
        match (one, other) {
            ([Segment::Rest, ..], _) | (_, [Segment::Rest, ..]) | ([], []) => true,
            ([], _) | (_, []) => false,
            ([first, one @ ..], [second, other @ ..]) => {
                let fit = match (first, second) {
                    (Segment::Literal(first), Segment::Literal(second)) => first == second,
                    (Segment::Literal(literal), _) | (_, Segment::Literal(literal)) => !literal.is_empty(),
                    _ => true,
                };
                fit && paths(one, other)
            }
        }
    }
    let (host, other_host) = (one.host.as_deref(), other.host.as_deref());
    (covers_host(host, other_host) || covers_host(other_host, host)) && paths(&one.path, &other.path)
}

/// Whether one pattern takes every request of another, but for the method.
fn covers(one: &Pattern, other: &Pattern) -> bool {
    fn paths(one: &[Segment], other: &[Segment]) -> bool {
        match (one, other) {
            ([Segment::Rest, ..], _) | ([], []) => true,
            ([], _) | (_, [] | [Segment::Rest, ..]) => false,
            ([first, one @ ..], [second, other @ ..]) => {
                let fit = match (first, second) {
                    (Segment::Literal(first), Segment::Literal(second)) => first == second,
                    (Segment::One(_), Segment::Literal(literal)) => !literal.is_empty(),
                    (Segment::One(_), Segment::One(_)) => true,
                    _ => false,
                };
                fit && paths(one, other)
            }
        }
    }
    covers_host(one.host.as_deref(), other.host.as_deref()) && paths(&one.path, &other.path)
}

fn covers_host(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(one), Some(other)) => {
            one == other || one.strip_prefix('*').is_some_and(|suffix| other.ends_with(suffix))
        }
    }
}

#[cfg(test)]
mod tests {
    /// The causes found in a file with these routes.
    fn causes(routes: &str) -> Vec<String> {
        let text = format!(
            "sources: {{ api: http://127.0.0.1:1 }}\n\
             policies:\n  members: {{ signed: {{ keys: {{ main: AAECAwQFBgcICQoLDA0ODw== }} }} }}\n  \
             clients: {{ auth: {{ keys: {{ of: {{ acme: abcdefghijklmnop }} }} }} }}\n  \
             mine: {{ cache: {{ per: \"${{header('X-User')}}\" }} }}\n  live: {{ cache: {{ ttl: 5s }} }}\n  \
             get: {{ cache: {{ ttl: 5s, body_keys: {{ methods: [] }} }} }}\n\
             routes:\n{}",
            routes
                .lines()
                .map(|line| format!("  - {{ {}, proxy: api }}\n", line.trim()))
                .collect::<Vec<_>>()
                .concat()
        );
        match crate::compile(&text, "test.yaml") {
            Ok(_) => Vec::new(),
            Err(faults) => faults.iter().map(|fault| fault.cause.clone()).collect(),
        }
    }

    #[test]
    fn methods_that_get_round_a_route_are_faults() {
        for (routes, expected) in [
            (
                "match: GET /members/**, use: members\nmatch: /**",
                Some("every other method of these paths goes to `/**`"),
            ),
            ("match: /members/**\nmatch: GET /members/**, use: members", Some("goes to `/members/**`")),
            ("match: GET /members/**, use: members\nmatch: POST /**", Some("POST of these paths")),
            ("match: \"GET /a/{x}\", use: members\nmatch: \"/{y}/b\"", Some("goes to `/{y}/b`")),
            ("match: GET a.test/x, use: members\nmatch: \"*.test/**\"", Some("goes to `*.test/**`")),
            ("match: GET /me, use: mine\nmatch: /**, use: live", Some("`per` of `mine`")),
            ("match: GET /x/**, use: clients\nmatch: /**", Some("`auth` of `clients`")),
            ("match: GET /x/**, use: clients\nmatch: /**, use: [members, clients]", None),
            // Every method, or none but these.
            ("match: /members/**, use: members\nmatch: /**", None),
            ("match: GET /members/**, use: members\nmatch: GET /**", None),
            ("match: GET /members/**, use: members\nmatch: HEAD /**", None),
            ("match: GET /members/**, use: members\nmatch: /members/**, use: members\nmatch: /**", None),
            ("match: GET /members/**, use: members\nmatch: POST /members/**", None),
            // What is more specific is meant.
            ("match: GET /members/**, use: members\nmatch: /members/join", None),
            ("match: GET /members/**, use: members\nmatch: /open/**", None),
            ("match: GET a.test/x, use: members\nmatch: b.test/**", None),
            // What is not stored is nobody else's.
            ("match: GET /me, use: mine\nmatch: /**", None),
            ("match: GET /me, use: mine\nmatch: /**, use: get", None),
            ("match: GET /me, use: live\nmatch: /**, use: mine", None),
        ] {
            let found = causes(routes);
            match expected {
                None => assert_eq!(found, [""; 0], "{routes}"),
                Some(cause) => assert!(found.len() == 1 && found[0].contains(cause), "{routes}: {found:?}"),
            }
        }
    }

    #[test]
    fn patterns_that_servers_take_for_one_must_be_protected_alike() {
        assert_eq!(causes("match: /API/**, use: live\nmatch: /api/**, use: live"), [""; 0]);
        let found = causes("match: /API/**\nmatch: /api/**, use: members");
        assert!(
            found.len() == 1 && found[0].contains("ignore letter case take `/api/**` for `/API/**`"),
            "{found:?}"
        );
    }
}
