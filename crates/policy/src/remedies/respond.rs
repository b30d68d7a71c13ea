//! Respond: the layer that gives a response instead of asking: a fixed one, or one that sends clients elsewhere. It stands before
//! the cache, so that nothing at hand gets past it.
//!
//! No request can choose the host that clients are sent to: what is written out of it is all there is.

use std::sync::Arc;

use expression::Context;
use http::HeaderValue;
use http::header::LOCATION;
use message::{Ask, Error, Kind, RequestView, Response, Result, Trip};
use plan::RedirectTo;

use crate::remedies::headers::value;
use crate::remedies::outcomes::{Outcome, Outcomes};
use crate::stack::around::Arrival;

/// See the module. One for each place and core.
#[derive(Debug)]
pub struct RespondLayer {
    /// What is given, and to whom.
    pub respond: Arc<plan::Respond>,
    /// What the route calls the segments of its path.
    pub names: Arc<[Option<Box<str>>]>,
    /// Responses that were given.
    pub outcomes: Arc<Outcomes>,
}

impl RespondLayer {
    /// What one under this rule tells of.
    pub fn outcomes(rule: &plan::Respond) -> &'static [Outcome] {
        if rule.to.is_some() { &[Outcome::Answered, Outcome::Refused] } else { &[Outcome::Answered] }
    }

    /// Whether a request gets the response.
    pub(crate) fn is_meant(&self, request: &RequestView<'_>, names: &[Option<Box<str>>]) -> bool {
        self.respond.when.as_ref().is_none_or(|when| when.holds(&Context::of_request(request, names)))
    }

    /// Gives the response to whoever is to get it.
    pub(crate) fn arrive<Q: Ask>(&self, ask: &Q, trip: &mut Trip) -> Arrival<Q::Answer> {
        let (request, names) = ask.read_by_policies(&self.names);
        if !self.is_meant(&request, names) {
            return Arrival::Pass;
        }
        trip.is_answered_here = true;
        let response = self.response(&Context::of_request(&request, names));
        self.outcomes.count(if response.is_ok() { Outcome::Answered } else { Outcome::Refused });
        match response {
            Ok(response) => Q::answered(response).map_or(Arrival::Pass, |answer| Arrival::End(Ok(answer))),
            Err(error) => Arrival::End(Err(error)),
        }
    }

    /// What it would do with a request, for people, and whether it would keep it from everything else.
    pub(crate) fn explain(&self, request: &RequestView<'_>) -> (String, bool) {
        if !self.is_meant(request, &self.names) {
            return ("leaves this request alone".to_owned(), false);
        }
        let name = &self.respond.name;
        let told = match self.response(&Context::of_request(request, &self.names)) {
            Ok(response) => format!("`{name}`: answered with {} here", response.status.as_str()),
            Err(error) => format!("refused with 400: `{name}`: {}", error.detail()),
        };
        (told, true)
    }

    fn response(&self, context: &Context<'_>) -> Result<Response> {
        let mut response = Response::new(self.respond.status);
        for field in &self.respond.fields {
            if let Some(value) = value(&field.value, context) {
                response.fields.append(field.name.clone(), value);
            }
        }
        if let Some(to) = &self.respond.to {
            response.fields.insert(LOCATION, location(to, context)?);
        }
        response.body = self.respond.body.clone().into();
        Ok(response)
    }
}

/// Where a client is sent.
///
/// # Errors
/// A value is missing, or would change the host.
fn location(to: &RedirectTo, context: &Context<'_>) -> Result<HeaderValue> {
    let refused = |detail| Error::new(Kind::MalformedRequest, detail);
    let mut url = Vec::new();
    if !to.url.write_url(context, &mut url) {
        return Err(refused("the request lacks a value that a redirect needs"));
    }
    let behind = url.get(to.site.len()..).unwrap_or_default();
    let stays = match (to.site.is_empty(), behind) {
        (true, [b'/', b'/' | b'\\', ..]) => false,
        (true, [b'/', ..]) | (false, [] | [b'/' | b'?' | b'#', ..]) => true,
        _ => false,
    };
    if !stays {
        return Err(refused("a value in this request would lead a redirect to another host"));
    }
    HeaderValue::from_bytes(&url).map_err(|_| refused("a value in this request cannot stand in a URL"))
}

#[cfg(test)]
mod tests {
    use expression::Template;
    use http::{HeaderMap, Method};
    use message::{Fields, Scheme};

    use super::*;

    fn sent_to(url: &str, site: &str, target: &str) -> Option<String> {
        let (fields, url) = (HeaderMap::new(), Template::parse(url, None).unwrap());
        let request = RequestView {
            method: &Method::GET,
            scheme: Scheme::Http,
            authority: "a.example",
            target,
            fields: Fields::Map(&fields),
            client: None,
        };
        let to = RedirectTo { url, site: site.to_owned() };
        let location = location(&to, &Context::of_request(&request, &[None, Some("id".into())])).ok()?;
        Some(location.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_url_is_passed_on_and_values_are_encoded() {
        let to = |url, target| sent_to(url, "https://b.example", target);
        assert_eq!(
            to("https://b.example${url}", "/x/%2F?a=b").as_deref(),
            Some("https://b.example/x/%2F?a=b")
        );
        assert_eq!(
            to("https://b.example/u/${path.id}", "/x/7%2F8").as_deref(),
            Some("https://b.example/u/7%2F8")
        );
        assert_eq!(
            to("https://b.example/?q=${query.q}", "/?q=a%26b").as_deref(),
            Some("https://b.example/?q=a%26b")
        );
        assert_eq!(to("https://b.example/?q=${query.q}", "/"), None, "a value is missing");
    }

    #[test]
    fn no_request_chooses_the_host() {
        for target in ["/?h=.evil.example", "/?h=@evil.example", "/?h=:80@evil.example"] {
            assert_eq!(sent_to("https://b.example${query.h}", "https://b.example", target), None, "{target}");
        }
        for target in ["//evil.example", "/\\evil.example"] {
            assert_eq!(sent_to("/${url}", "", target), None, "{target}");
            assert!(sent_to("/new${url}", "", target).is_some());
        }
        assert_eq!(sent_to("/${query.h}", "", "/?h=/evil.example").as_deref(), Some("/%2Fevil.example"));
        assert_eq!(sent_to("https://b.example${url}", "https://b.example", "*"), None);
    }
}
