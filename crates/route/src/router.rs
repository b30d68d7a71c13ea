//! Router: all patterns of a plan, ready to be asked. Built once per plan; shared by the requests of every core.
//!
//! The most specific pattern wins, and the order in the file does not matter:
//!
//! 1. host: an exact one goes before `*.example.com`, the longer wildcard before the shorter, both before any;
//! 2. path, segment by segment from the left: a literal goes before `{name}` and `*`, and these go before `**`;
//! 3. method: a named one goes before any. `GET` takes `HEAD` where no `HEAD` is named.
//!
//! A pattern that is more specific but does not take the request (another method) does not hide a less specific one.
//!
//! Origins read some paths as others: they merge slashes, ignore letter case, drop `;parameters`. Following one of them
//! would be wrong for the next, so nothing is rewritten. But where one such reading belongs to a route whose protection
//! the request would get round, it has no route.

use http::Method;
use plan::{Pattern, Protection};
use rules::path::{Shape, Target};

use crate::hosts::Hosts;
use crate::reading::{PathReading, literal};

/// Finds what belongs to the most specific pattern that takes a request.
#[derive(Debug)]
pub struct Router<T> {
    routes: Vec<T>,
    plain: Hosts,
    readings: Option<Box<Readings>>,
}

/// Why a request has no route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoute {
    /// No pattern takes it.
    Unknown,
    /// Some servers read its path as one that is protected otherwise.
    Ambiguous,
}

/// What paths with several readings are looked up in. Not there where all routes have the same protection.
#[derive(Debug)]
struct Readings {
    protections: Vec<Protection>,
    /// With literals decoded.
    decoded: Hosts,
    /// With literals decoded and in lower case.
    lowered: Hosts,
    /// What patterns have of which other spellings could make a request get round them.
    shape: Shape,
}

impl<T> Router<T> {
    /// A router for the patterns. Of two that take the same requests the first stays; a checked plan has none.
    pub fn new(routes: impl IntoIterator<Item = (Pattern, Protection, T)>) -> Self {
        let (mut patterns, mut protections, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (pattern, protection, route) in routes {
            patterns.push(pattern);
            protections.push(protection);
            kept.push(route);
        }
        let plain = Hosts::of(&patterns, |literal| literal.as_bytes().into());
        let is_one = protections.windows(2).all(|pair| pair[0] == pair[1]);
        let readings = (!is_one).then(|| Box::new(Readings::of(&patterns, protections)));
        Router { routes: kept, plain, readings }
    }

    /// What belongs to each route, in the order in which they were given.
    pub fn routes(&self) -> impl Iterator<Item = &T> {
        self.routes.iter()
    }

    /// What belongs to a request's route.
    ///
    /// # Errors
    /// Where there is none, and where it depends on who reads the path how the request is protected.
    pub fn find(&self, method: &Method, host: &str, target: &Target<'_>) -> Result<&T, NoRoute> {
        let path = target.path();
        let index = self.plain.find(host, method, path.strip_prefix('/'), false).ok_or(NoRoute::Unknown)?;
        if let Some(readings) = &self.readings
            && readings.get_round(index, method, host, target)
        {
            return Err(NoRoute::Ambiguous);
        }
        self.routes.get(index).ok_or(NoRoute::Unknown)
    }
}

impl Readings {
    fn of(patterns: &[Pattern], protections: Vec<Protection>) -> Self {
        let mut shape = Shape::default();
        for segment in patterns.iter().flat_map(|pattern| &pattern.path) {
            if let plan::Segment::Literal(literal) = segment {
                if literal.is_empty() {
                    shape = shape.with(Shape::SLASH_AT_END);
                }
                if literal.bytes().any(|byte| byte.is_ascii_uppercase()) {
                    shape = shape.with(Shape::CAPITALS);
                }
            }
        }
        let decoded = Hosts::of(patterns, |written| literal(written, Shape::default()));
        let lowered = Hosts::of(patterns, |written| literal(written, Shape::CAPITALS));
        Readings { protections, decoded, lowered, shape }
    }

    /// Whether some server takes this request of route `index` for one of a route with protection that it lacks.
    fn get_round(&self, index: usize, method: &Method, host: &str, target: &Target<'_>) -> bool {
        let shape = target.shape().with(self.shape);
        let (protection, folds) = (self.protections[index], foldable(shape));
        if folds == Shape::default() && !shape.has(Shape::ENCODED) {
            return false;
        }
        let writes = !rules::invalidate::is_safe(method);
        folds.parts().any(|folds| {
            let hosts = if folds.has(Shape::CAPITALS) { &self.lowered } else { &self.decoded };
            let reading = PathReading::of(target.path(), folds);
            let found = hosts.find(host, method, reading, folds.has(Shape::SLASH_AT_END));
            found.is_some_and(|other| protection.lacks(self.protections[other], writes))
        })
    }
}

/// What readers of such a path may fold. Whatever makes slashes, or takes away what stands between them, may leave some
/// side by side or at the end.
fn foldable(shape: Shape) -> Shape {
    let mut folds = shape;
    if shape.has_any(Shape::SLASH.with(Shape::BACKSLASH).with(Shape::PARAMETERS)) {
        folds = folds.with(Shape::EMPTY);
    }
    if folds.has(Shape::EMPTY) {
        folds = folds.with(Shape::SLASH_AT_END);
    }
    folds.without(Shape::ENCODED)
}
