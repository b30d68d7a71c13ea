//! Unshared: why a fetch brought nothing that others may have, and what that says of everybody else's requests.

use std::time::Duration;

use http::StatusCode;
use rules::NotStored;

/// Why an answer is not shared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unshared {
    TooLarge,
    /// It repeats the client's address.
    Address,
    /// It says that something of a GraphQL operation went wrong.
    GraphqlErrors,
    Rule(NotStored),
}

/// What is learnt from an answer that is not shared. As soon as one is, it is stored all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// It was this request that brought it about.
    Nothing,
    /// Others would wait for such an answer in vain: for so long nobody waits. What is stored stays.
    NotShared(Duration),
    /// It is what everybody gets from now on: what is stored is out of date, and for so long nobody waits.
    Supersedes(Duration),
}

/// Who asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    /// With a cookie or credentials that the key does not hold.
    pub(crate) has_credentials: bool,
    /// Although what is stored would have done.
    pub(crate) insists: bool,
}

/// How long requests for a key do not wait for one another after an answer that is not for sharing.
const FOR_LONG: Duration = Duration::from_mins(1);
/// After a failure: so many times as long as it took, so that waiting for the next adds a tenth at most. Not for long, for
/// the next answer may well be for sharing, and whoever can bring a failure about could have everybody ask at once.
const TIMES: u32 = 10;

impl Asker {
    /// No client, but a call that many may wait for.
    pub(crate) const NOBODY: Asker = Asker { has_credentials: false, insists: false };

    /// Whether others would have been told the same, as far as can be known.
    pub(crate) fn speaks_for_all(self) -> bool {
        !self.has_credentials && !self.insists
    }
}

impl Unshared {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Unshared::TooLarge => "too-large",
            Unshared::Address => "client-address",
            Unshared::GraphqlErrors => "graphql-errors",
            Unshared::Rule(rule) => rule.word(),
        }
    }

    /// What an answer of this status teaches that took so long to come.
    ///
    /// Only what tells of the resource itself takes the place of what is stored. Another failure may come of what this
    /// request alone said (406, 431), of who said it (403) or how often (429); and what is told to somebody logged in, or
    /// to who would not take what is stored, is not known to be told to anybody else.
    pub(crate) fn lesson(self, status: StatusCode, took: Duration, asker: Asker) -> Lesson {
        let of_this_request = matches!(
            self,
            Unshared::Rule(NotStored::Authorization | NotStored::Cookie | NotStored::RequestNoStore)
        );
        if of_this_request || asker.has_credentials {
            return Lesson::Nothing;
        }
        match self {
            // Others may get something that is for all: what is stored stays.
            Unshared::Address => return Lesson::NotShared(FOR_LONG),
            Unshared::GraphqlErrors => return Lesson::NotShared(passing(took)),
            Unshared::TooLarge | Unshared::Rule(_) => {}
        }
        let of_the_resource =
            status.is_success() || status.is_redirection() || matches!(status.as_u16(), 404 | 410);
        match of_the_resource {
            true if asker.insists => Lesson::NotShared(FOR_LONG),
            true => Lesson::Supersedes(FOR_LONG),
            false if matches!(status.as_u16(), 401..=403 | 451) => Lesson::NotShared(FOR_LONG),
            false => Lesson::NotShared(passing(took)),
        }
    }
}

/// For how long a failure that took so long says something of the next answer.
fn passing(took: Duration) -> Duration {
    (took * TIMES).min(FOR_LONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: Asker = Asker::NOBODY;
    const MOMENT: Duration = Duration::from_millis(3);

    fn lesson(status: u16, reason: NotStored, asker: Asker) -> Lesson {
        let status = StatusCode::from_u16(status).unwrap();
        Unshared::Rule(reason).lesson(status, MOMENT, asker)
    }

    #[test]
    fn only_what_the_resource_has_become_supersedes() {
        for status in [200, 204, 301, 302, 404, 410] {
            assert_eq!(lesson(status, NotStored::NoStore, NOBODY), Lesson::Supersedes(FOR_LONG), "{status}");
        }
        for status in [400, 405, 406, 412, 415, 417, 421, 429, 431, 500, 502, 503] {
            let learnt = lesson(status, NotStored::NoLifetime, NOBODY);
            assert_eq!(learnt, Lesson::NotShared(MOMENT * 10), "{status}");
        }
        assert_eq!(lesson(403, NotStored::NoLifetime, NOBODY), Lesson::NotShared(FOR_LONG));
    }

    #[test]
    fn what_is_found_in_the_content_leaves_what_is_stored() {
        for (reason, lasting) in [(Unshared::Address, FOR_LONG), (Unshared::GraphqlErrors, MOMENT * 10)] {
            assert_eq!(
                reason.lesson(StatusCode::OK, MOMENT, NOBODY),
                Lesson::NotShared(lasting),
                "{reason:?}"
            );
        }
    }

    #[test]
    fn one_who_is_logged_in_or_insists_supersedes_nothing() {
        let user = Asker { has_credentials: true, ..NOBODY };
        assert_eq!(lesson(200, NotStored::Private, user), Lesson::Nothing);
        assert_eq!(lesson(200, NotStored::Cookie, NOBODY), Lesson::Nothing);
        let insisting = Asker { insists: true, ..NOBODY };
        assert_eq!(lesson(200, NotStored::NoStore, insisting), Lesson::NotShared(FOR_LONG));
    }

    #[test]
    fn who_was_slow_to_fail_is_not_waited_for_for_as_much_longer() {
        let slow = |secs| {
            let reason = Unshared::Rule(NotStored::NoLifetime);
            reason.lesson(StatusCode::SERVICE_UNAVAILABLE, Duration::from_secs(secs), NOBODY)
        };
        assert_eq!(slow(2), Lesson::NotShared(Duration::from_secs(20)));
        assert_eq!(slow(3600), Lesson::NotShared(FOR_LONG));
    }
}
