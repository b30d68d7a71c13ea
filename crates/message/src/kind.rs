//! Kind: what can go wrong, on whose side, and the word for it. The same in logs, metrics and answers.

/// Whose fault it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The client sent something wrong, was too slow, or went away.
    Client,
    /// The origin did.
    Source,
    /// We did, or we refused to.
    Us,
}

impl Side {
    /// The word for logs, metrics and error bodies.
    pub const fn word(self) -> &'static str {
        match self {
            Side::Client => "client",
            Side::Source => "source",
            Side::Us => "fleetfoot",
        }
    }
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The client's message breaks the rules of HTTP.
    MalformedRequest,
    /// The request target is longer than the limit.
    TargetTooLong,
    /// The request's header section is larger, or has more fields, than the limit.
    HeadTooLarge,
    /// The request's content is larger than the limit.
    ContentTooLarge,
    /// A method a reverse proxy does not serve: CONNECT, TRACE.
    MethodNotAllowed,
    /// A method that writes, where there is only something to read.
    ReadOnly,
    /// The request does not show that whoever asks may: no token or key, or none that is good.
    Unauthorized,
    /// The request does not carry what it takes: a valid signature.
    Forbidden,
    /// More requests than the client may send in this time.
    RateLimited,
    /// An HTTP version we do not speak.
    UnsupportedVersion,
    /// The client did not send its head or content in time.
    ClientTimeout,
    /// The client went away.
    ClientGone,
    /// `only-if-cached` and nothing usable stored (RFC 9111 §5.2.1.7).
    OnlyIfCached,
    /// The origin's name could not be resolved.
    Resolve,
    /// No connection to the origin could be made (refused, unreachable, TLS).
    Connect,
    /// Making the connection took too long.
    ConnectTimeout,
    /// The origin did not answer in time.
    SourceTimeout,
    /// The origin closed or reset before its answer was complete.
    BrokeOff,
    /// The origin's answer breaks the rules of HTTP.
    MalformedResponse,
    /// All targets of the source are marked unhealthy.
    NoHealthyTarget,
    /// The source keeps failing, and a breaker lets no call pass for now.
    BreakerOpen,
    /// A Redis that is read from cannot be asked, and nothing recent enough is remembered.
    ReadUnavailable,
    /// What the source wants to see cannot be had: whoever issues it does not answer, or refuses.
    CredentialsUnavailable,
    /// The keys that tokens are checked with cannot be had.
    KeysUnavailable,
    /// What was read cannot be given as the route says: an error, another type, too much, no text.
    UnusableReply,
    /// No route matches.
    NoRoute,
    /// The request has passed us too often already (`Via`).
    Loop,
    /// A limit that instances count together cannot be counted, and the config says to refuse then.
    LimitUnavailable,
    /// A limit of ours is reached (connections, queue).
    Overloaded,
    /// A function of the user's own, which a policy calls, failed.
    HookFailed,
    /// The time that a call may take ran out in such a function.
    HookTimeout,
    /// We are shutting down.
    Draining,
    /// A bug or an exhausted resource on our side.
    Internal,
}

impl Kind {
    /// Every kind, in the order of the enum, so that `ALL[kind as usize] == kind`: for whoever counts them.
    pub const ALL: [Kind; 33] = [
        Kind::MalformedRequest,
        Kind::TargetTooLong,
        Kind::HeadTooLarge,
        Kind::ContentTooLarge,
        Kind::MethodNotAllowed,
        Kind::ReadOnly,
        Kind::Unauthorized,
        Kind::Forbidden,
        Kind::RateLimited,
        Kind::UnsupportedVersion,
        Kind::ClientTimeout,
        Kind::ClientGone,
        Kind::OnlyIfCached,
        Kind::Resolve,
        Kind::Connect,
        Kind::ConnectTimeout,
        Kind::SourceTimeout,
        Kind::BrokeOff,
        Kind::MalformedResponse,
        Kind::NoHealthyTarget,
        Kind::BreakerOpen,
        Kind::ReadUnavailable,
        Kind::CredentialsUnavailable,
        Kind::KeysUnavailable,
        Kind::UnusableReply,
        Kind::NoRoute,
        Kind::Loop,
        Kind::LimitUnavailable,
        Kind::Overloaded,
        Kind::HookFailed,
        Kind::HookTimeout,
        Kind::Draining,
        Kind::Internal,
    ];

    /// Those that a source is to blame for.
    pub fn of_sources() -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(|kind| kind.side() == Side::Source)
    }

    /// Whose fault this kind is.
    pub const fn side(self) -> Side {
        match self {
            Kind::MalformedRequest
            | Kind::TargetTooLong
            | Kind::HeadTooLarge
            | Kind::ContentTooLarge
            | Kind::MethodNotAllowed
            | Kind::ReadOnly
            | Kind::Unauthorized
            | Kind::Forbidden
            | Kind::RateLimited
            | Kind::UnsupportedVersion
            | Kind::ClientTimeout
            | Kind::ClientGone
            | Kind::OnlyIfCached => Side::Client,
            Kind::Resolve
            | Kind::Connect
            | Kind::ConnectTimeout
            | Kind::SourceTimeout
            | Kind::BrokeOff
            | Kind::MalformedResponse
            | Kind::NoHealthyTarget
            | Kind::BreakerOpen
            | Kind::ReadUnavailable
            | Kind::CredentialsUnavailable
            | Kind::KeysUnavailable
            | Kind::UnusableReply => Side::Source,
            Kind::NoRoute
            | Kind::Loop
            | Kind::LimitUnavailable
            | Kind::Overloaded
            | Kind::HookFailed
            | Kind::HookTimeout
            | Kind::Draining
            | Kind::Internal => Side::Us,
        }
    }

    /// The word for logs, metrics and error bodies.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::MalformedRequest => "malformed-request",
            Kind::TargetTooLong => "target-too-long",
            Kind::HeadTooLarge => "head-too-large",
            Kind::ContentTooLarge => "content-too-large",
            Kind::MethodNotAllowed => "method-not-allowed",
            Kind::ReadOnly => "read-only",
            Kind::Unauthorized => "unauthorized",
            Kind::Forbidden => "forbidden",
            Kind::RateLimited => "rate-limited",
            Kind::UnsupportedVersion => "unsupported-version",
            Kind::ClientTimeout => "client-timeout",
            Kind::ClientGone => "client-gone",
            Kind::OnlyIfCached => "only-if-cached",
            Kind::Resolve => "resolve",
            Kind::Connect => "connect",
            Kind::ConnectTimeout => "connect-timeout",
            Kind::SourceTimeout => "source-timeout",
            Kind::BrokeOff => "broke-off",
            Kind::MalformedResponse => "malformed-response",
            Kind::NoHealthyTarget => "no-healthy-target",
            Kind::BreakerOpen => "breaker-open",
            Kind::ReadUnavailable => "read-unavailable",
            Kind::CredentialsUnavailable => "credentials-unavailable",
            Kind::KeysUnavailable => "keys-unavailable",
            Kind::UnusableReply => "unusable-reply",
            Kind::NoRoute => "no-route",
            Kind::Loop => "loop",
            Kind::LimitUnavailable => "limit-unavailable",
            Kind::Overloaded => "overloaded",
            Kind::HookFailed => "hook-failed",
            Kind::HookTimeout => "hook-timeout",
            Kind::Draining => "draining",
            Kind::Internal => "internal",
        }
    }
}

/// A kind that is new in the enum and not in the list stops the build, unless it comes after the last.
const _: () = {
    let mut index = 0;
    while index < Kind::ALL.len() {
        assert!(Kind::ALL[index] as usize == index, "Kind::ALL lacks a kind or is out of order");
        index += 1;
    }
    assert!(Kind::Internal as usize + 1 == index, "Kind::ALL does not end with the last kind");
};
