//! Drafting: an answer from the origin → what of it is stored, and on which terms. Called by fills for new answers, and by
//! renewals for those that a 304 brought up to date.

use http::header::{ACCEPT_LANGUAGE, COOKIE, HeaderMap, HeaderName};
use message::{Body, Fields, Request};
use plan::{CachePolicy, StatusForm};
use response::ClientLifetime;
use rules::client_lifetime::Audience;
use rules::reflection::{ClientInput, LOOKED_THROUGH, Reflected};
use rules::{Exchange, NotStored, ResponseDirectives, Terms, Vary};

use crate::entry::tags::Tags;
use crate::entry::{Draft, Variant};
use crate::fill::unshared::Unshared;
use crate::key::keyed_fields::KeyedFields;
use crate::request::graphql;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");
const CACHE_ID: HeaderName = HeaderName::from_static("cache-id");

/// What a draft depends on besides the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drafting<'a> {
    pub(crate) policy: &'a CachePolicy,
    /// The request that brought it. Groups of tags belong to its host.
    pub(crate) asked: &'a Request,
    /// The tag of the user whom the key names, where it names one.
    pub(crate) user: Option<&'a str>,
    /// The epoch of purges when the origin was asked.
    pub(crate) since: u64,
}

impl Drafting<'_> {
    /// Whether the answer may be stored, and on which terms.
    pub(crate) fn terms(&self, exchange: &Exchange<'_>) -> Result<Terms, NotStored> {
        terms(self.policy, exchange)
    }

    /// The same for a part.
    pub(crate) fn terms_of_part(&self, exchange: &Exchange<'_>) -> Result<Terms, NotStored> {
        Terms::of_partial(exchange, &self.policy.rules).map(|terms| jittered(self.policy, terms))
    }

    /// What the answer repeats of the request in its fields or its content, where the policy has it looked through. The
    /// fields that select `variant` are not looked for.
    pub(crate) fn repeated(
        &self,
        variant: Option<&Variant>,
        response: &HeaderMap,
        content: &[u8],
    ) -> Reflected {
        if !self.policy.key.reflected {
            return Reflected::default();
        }
        let content = response::decoded_beginning(response, content, LOOKED_THROUGH);
        let keyed = KeyedFields { policy: self.policy, personal: self.user.is_some() };
        let is_selecting = |name: &HeaderName| variant.is_some_and(|variant| variant.names.contains(name));
        let is_keyed = |name: &HeaderName| is_selecting(name) || keyed.has(name);
        rules::reflection::reflected(&client_input(self.asked), is_keyed, response, &content)
    }

    /// What is stored of it.
    pub(crate) fn draft(&self, exchange: &Exchange<'_>, terms: Terms) -> Draft {
        let rules = &self.policy.rules;
        let directives = ResponseDirectives::of(exchange.response, &rules.targeted);
        let mut fields = rules::storable_fields(exchange.response, &directives, rules.store_set_cookie);
        strip_tags(&mut fields, self.policy);
        // It is of one exchange; and beside a word of ours the words of caches before us would have no place.
        fields.remove(X_REQUEST_ID);
        if self.policy.status_form != StatusForm::Field {
            fields.remove(CACHE_STATUS);
            fields.remove(CACHE_ID);
        }
        let personal = self.user.is_some();
        let variant = Variant::of_exchange(exchange, &KeyedFields { policy: self.policy, personal });
        let client_lifetime = client_lifetime(&mut fields, variant.as_ref(), self.policy);
        let mut tags =
            Tags::new(rules::tags::of(exchange.response, &self.policy.tags, &self.asked.authority));
        if let Some(user) = self.user {
            tags = tags.and(user);
        }
        Draft {
            status: exchange.status,
            fields,
            terms,
            variant,
            tags,
            client_lifetime,
            encodable: false,
            since: self.since,
        }
    }

    /// The draft of a whole answer of this length, as far as it is known: one that is worth compressing says that it
    /// varies by what clients accept.
    pub(crate) fn whole(&self, exchange: &Exchange<'_>, terms: Terms, body: &Body) -> Draft {
        let mut draft = self.draft(exchange, terms);
        if let Some(compress) = &self.policy.compress
            && response::is_worth_encoding(draft.status, &draft.fields, body.exact_length(), compress)
        {
            draft.encodable = true;
            response::negotiate(&mut draft.fields);
        }
        draft
    }

    /// The draft once all of the content is known, or why nothing is stored after all. What an answer repeats of its
    /// request selects it, whatever it says itself.
    pub(crate) fn once_whole(&self, mut draft: Draft, content: &[u8]) -> Result<Draft, Unshared> {
        if self.has_graphql_errors(&draft, content) {
            return Err(Unshared::GraphqlErrors);
        }
        let repeated = self.repeated(draft.variant.as_ref(), &draft.fields, content);
        if repeated.address {
            return Err(Unshared::Address);
        }
        if !repeated.fields.is_empty() {
            draft.select_also_by(repeated.fields, Fields::Map(&self.asked.fields));
        }
        Ok(draft)
    }

    /// An answer with errors is never stored, whatever its status and its terms.
    fn has_graphql_errors(&self, draft: &Draft, content: &[u8]) -> bool {
        self.policy.body_keys.graphql
            && graphql::has_errors(&response::decoded_beginning(&draft.fields, content, LOOKED_THROUGH))
    }
}

/// Whether what came may be stored under this policy, and on which terms.
pub(crate) fn terms(policy: &CachePolicy, exchange: &Exchange<'_>) -> Result<Terms, NotStored> {
    Terms::of(exchange, &policy.rules).map(|terms| jittered(policy, terms))
}

fn jittered(policy: &CachePolicy, terms: Terms) -> Terms {
    policy.jitter.map_or(terms, |most| terms.shortened(most * message::random()))
}

/// What an answer to this request could repeat.
pub(crate) fn client_input(asked: &Request) -> ClientInput<'_> {
    ClientInput::new(&asked.fields, &asked.authority, asked.client.address.ip())
}

/// What clients are told of the lifetime, where the policy has a word in it.
pub(crate) fn client_lifetime(
    fields: &mut HeaderMap,
    variant: Option<&Variant>,
    policy: &CachePolicy,
) -> Option<ClientLifetime> {
    let most = policy.rules.client_ttl?;
    let audience = audience(fields, variant, policy);
    let mut lifetime = response::split_lifetime(fields, most)?;
    lifetime.give_to(audience);
    Some(lifetime)
}

/// Whom an answer is for as a cache in front of us would see it, which knows its URL and its `Vary`, but neither who may
/// come in nor who gets another answer past us.
pub(crate) fn audience(fields: &HeaderMap, variant: Option<&Variant>, policy: &CachePolicy) -> Audience {
    let vary = Vary::of(fields);
    let is_told = |name: &HeaderName| vary.names().contains(name);
    let key = &policy.key;
    let is_of_more = policy.per.is_some()
        || policy.is_gated
        || !policy.skip_for.is_empty()
        || !policy.bypass.is_empty()
        || key.by.is_some()
        || !key.headers.iter().all(is_told)
        || (key.cookies.as_ref().is_some_and(|names| !names.is_empty()) && !is_told(&COOKIE))
        || (key.fold_languages.is_some() && !is_told(&ACCEPT_LANGUAGE))
        || variant.is_some_and(|variant| !variant.names.iter().all(is_told));
    if is_of_more { Audience::Some } else { Audience::All }
}

/// Tags are between the origin and us.
pub(crate) fn strip_tags(fields: &mut HeaderMap, policy: &CachePolicy) {
    for name in &policy.tags {
        fields.remove(name);
    }
}
