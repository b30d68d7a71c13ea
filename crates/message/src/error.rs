//! Error: why a request got no proper answer: what failed, on which side, and whether trying again is allowed.
//!
//! Made wherever something fails; turned into a status in one place, `response::failure`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};

use crate::{FieldEdit, Kind, Side};

/// The word of what failed: the same in logs, metrics and answers, whatever becomes of the sentences.
pub const FLEETFOOT_ERROR: HeaderName = HeaderName::from_static("fleetfoot-error");

/// The result of anything on the way of a request.
pub type Result<T> = std::result::Result<T, Error>;

/// Whether the same request may be sent again by us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retry {
    /// Not at all.
    Never,
    /// Only when the method is idempotent and the content can be sent again (RFC 9110 §9.2.2).
    IfIdempotent,
    /// Always: nothing of the request reached the origin's application.
    Always,
}

/// A value among those of a request that does not fit what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Which of the arguments of a call, counted from 0; `None`: nobody said.
    pub argument: Option<usize>,
    /// What would fit, in words: "a whole number of 32 bits".
    pub takes: String,
}

/// See the module. Cheap to clone, since the followers of a failed fill all get it.
#[derive(Clone)]
pub struct Error {
    kind: Kind,
    retry: Retry,
    detail: Cow<'static, str>,
    /// One word, since errors are part of every request's memory, and most have nothing there.
    beneath: Option<Arc<Beneath>>,
}

/// What lies beneath an error.
#[derive(Clone, Default)]
struct Beneath {
    cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
    misfit: Option<Misfit>,
    retry_after: Option<Duration>,
    edits: Vec<FieldEdit>,
    challenges: Vec<HeaderValue>,
}

impl Error {
    /// An error of this kind; `detail` is for people and must hold no secret. Never to be retried.
    pub fn new(kind: Kind, detail: impl Into<Cow<'static, str>>) -> Self {
        Error { kind, retry: Retry::Never, detail: detail.into(), beneath: None }
    }

    /// The same, with what lay beneath it.
    #[must_use]
    pub fn caused_by(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.beneath_mut().cause = Some(Arc::new(cause));
        self
    }

    /// The same, said of where it happened: `step user: no response within 1s`. Its kind, its cause and its word on trying
    /// again stay.
    #[must_use]
    pub fn within(mut self, place: impl fmt::Display) -> Self {
        self.detail = format!("{place}: {}", self.detail).into();
        self
    }

    /// The same, with the value that is at fault: whoever gave it is told by the name that it has there.
    #[must_use]
    pub fn of_misfit(mut self, misfit: Misfit) -> Self {
        self.beneath_mut().misfit = Some(misfit);
        self
    }

    /// The same, with how long to wait before it is worth asking again.
    #[must_use]
    pub fn after(mut self, wait: Duration) -> Self {
        self.beneath_mut().retry_after = Some(wait);
        self
    }

    /// Notes how the fields of the response are to be changed that is made of it, after whatever was noted before.
    pub fn edit(&mut self, edits: impl IntoIterator<Item = FieldEdit>) {
        self.beneath_mut().edits.extend(edits);
    }

    /// How the fields of the response are to be changed that is made of it, in this order.
    pub fn edits(&self) -> &[FieldEdit] {
        self.beneath.as_ref().map_or(&[], |beneath| &beneath.edits)
    }

    /// The same, with what would let the request in, as `WWW-Authenticate` says it (RFC 9110 §11.6.1). Of several, each.
    #[must_use]
    pub fn challenging(mut self, challenge: HeaderValue) -> Self {
        self.beneath_mut().challenges.push(challenge);
        self
    }

    fn beneath_mut(&mut self) -> &mut Beneath {
        Arc::make_mut(self.beneath.get_or_insert_default())
    }

    fn cause(&self) -> Option<&(dyn std::error::Error + Send + Sync + 'static)> {
        self.beneath.as_ref()?.cause.as_deref()
    }

    /// The value that is at fault.
    pub fn misfit(&self) -> Option<&Misfit> {
        self.beneath.as_ref()?.misfit.as_ref()
    }

    /// How long to wait before it is worth asking again, where that is known (RFC 9110 §10.2.3).
    pub fn retry_after(&self) -> Option<Duration> {
        self.beneath.as_ref()?.retry_after
    }

    /// What would let the request in.
    pub fn challenges(&self) -> &[HeaderValue] {
        self.beneath.as_ref().map_or(&[], |beneath| &beneath.challenges)
    }

    /// The same, with another word on trying again.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whose fault it was.
    pub fn side(&self) -> Side {
        self.kind.side()
    }

    /// Whether the request may be sent again.
    pub fn may_retry(&self) -> Retry {
        self.retry
    }

    /// The sentence for people, without the cause.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// True when no answer came because the origin could not be reached or broke the connection off: the cases in
    /// which a stale entry may be served although nobody configured it (RFC 9111 §4.2.4).
    pub fn is_disconnection(&self) -> bool {
        let is_answered =
            matches!(self.kind, Kind::MalformedResponse | Kind::UnusableReply | Kind::KeysUnavailable);
        self.side() == Side::Source && !is_answered
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)?;
        match self.cause() {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}, retry {:?}: {self})", self.kind.word(), self.retry)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause().map(|cause| cause as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_to_wait_stays_with_whatever_else_is_said() {
        let misfit = Misfit { argument: None, takes: "a date".to_owned() };
        let error = Error::new(Kind::RateLimited, "10 requests a second")
            .after(Duration::from_millis(1500))
            .caused_by(fmt::Error)
            .of_misfit(misfit)
            .within("step user");
        assert_eq!(error.retry_after(), Some(Duration::from_millis(1500)));
        assert_eq!(error.detail(), "step user: 10 requests a second");
        assert!(error.misfit().is_some() && error.cause().is_some());
        assert_eq!(error.clone().after(Duration::ZERO).retry_after(), Some(Duration::ZERO));
        assert_eq!(error.retry_after(), Some(Duration::from_millis(1500)), "clones have their own");
        assert_eq!(Error::new(Kind::Overloaded, "").retry_after(), None);
    }
}
