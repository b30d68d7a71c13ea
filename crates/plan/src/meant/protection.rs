//! Protection: how a route's resources are protected, to be compared in a moment. Made by `server` when a plan begins to run.

use super::Route;

/// What a request on a route is subject to, as numbers: of one list of routes, equal numbers mean the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protection {
    /// Who comes in; 0: everybody.
    signed: usize,
    /// Who may ask; 0: everybody.
    auth: usize,
    /// What is stored, for whom and under which key; 0: nothing is.
    cache: usize,
    /// What writes make forgotten; 0: nothing else than the URL itself.
    invalidate: usize,
    /// How often it may be asked; 0: as often as anybody likes.
    limits: usize,
}

/// What its limits are called.
fn names(route: &Route) -> impl Iterator<Item = &str> {
    route.layers.limits().map(|limit| limit.name.as_str())
}

impl Protection {
    /// One for each route.
    pub fn of(routes: &[Route]) -> Vec<Protection> {
        let number =
            |at: usize, is_same: &dyn Fn(&Route) -> bool| 1 + routes.iter().position(is_same).unwrap_or(at);
        let protection = |(at, route): (usize, &Route)| Protection {
            signed: if route.signed.is_none() {
                0
            } else {
                number(at, &|other| other.signed == route.signed)
            },
            auth: if route.auth.is_empty() { 0 } else { number(at, &|other| other.auth == route.auth) },
            cache: match route.cache() {
                None => 0,
                // By name: that only one of the two is signed is told above.
                Some(cache) => {
                    number(at, &|other| other.cache().is_some_and(|other| other.name == cache.name))
                }
            },
            invalidate: match &*route.invalidate {
                [] => 0,
                rules => number(at, &|other| other.invalidate == rules),
            },
            limits: match route.layers.limits().next() {
                None => 0,
                Some(_) => number(at, &|other| names(other).eq(names(route))),
            },
        };
        routes.iter().enumerate().map(protection).collect()
    }

    /// Whether a request under this protection gets round what `other` asks for: it comes in without the signature or the credential, or oftener than it may, its
    /// answer is stored in another way (where nothing is stored, nobody else gets it), or, where it `writes`, what would be
    /// forgotten is not.
    pub fn lacks(self, other: Protection, writes: bool) -> bool {
        let differs = |one: usize, other: usize| other != 0 && one != other;
        differs(self.signed, other.signed)
            || differs(self.auth, other.auth)
            || differs(other.cache, self.cache)
            || differs(self.limits, other.limits)
            || (writes && differs(self.invalidate, other.invalidate))
    }
}
