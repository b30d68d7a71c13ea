//! Trie: the path patterns of one host, one step down for each segment. Built by the router; asked for each request.
//!
//! Finding never goes through a step twice, so its cost is bounded by the patterns of the file, and for one path by its
//! length times the patterns that fit so far. It allocates nothing. Literals are found by binary search rather than by
//! hash: nothing to flood, and steps have few of them.

use std::cmp::Ordering;

use http::Method;

/// A path, or what is left of it: as it is (`&str`), or as some servers [read](crate::reading) it.
pub(crate) trait Path: Copy {
    type Segment: Segment;

    /// The first segment, and what follows its slash.
    fn split(self) -> (Self::Segment, Option<Self>);
}

/// A segment of a [`Path`].
pub(crate) trait Segment: Copy {
    fn is_empty(self) -> bool;

    /// How a literal compares with it.
    fn order(self, literal: &[u8]) -> Ordering;
}

impl<'p> Path for &'p str {
    type Segment = &'p str;

    fn split(self) -> (&'p str, Option<&'p str>) {
        match self.split_once('/') {
            Some((segment, behind)) => (segment, Some(behind)),
            None => (self, None),
        }
    }
}

impl Segment for &str {
    fn is_empty(self) -> bool {
        str::is_empty(self)
    }

    fn order(self, literal: &[u8]) -> Ordering {
        literal.cmp(self.as_bytes())
    }
}

/// What a path leads to: an index into the routes.
#[derive(Debug, Default)]
pub(crate) struct Trie {
    root: Step,
}

/// Where a path stands after some of its segments.
#[derive(Debug, Default)]
struct Step {
    /// Steps for one exact segment, sorted by it.
    literals: Vec<(Box<[u8]>, Step)>,
    /// The step for any one segment that is not empty.
    one: Option<Box<Step>>,
    /// Routes whose pattern ends here.
    end: Methods,
    /// Routes whose pattern goes on with `**`.
    rest: Methods,
}

/// The routes of one path pattern, by method.
#[derive(Debug, Default)]
struct Methods {
    named: Vec<(Method, usize)>,
    any: Option<usize>,
}

impl Trie {
    /// Adds a route, its literals as `literal` writes them. Of two with the same pattern the first stays.
    pub(crate) fn add(
        &mut self,
        path: &[plan::Segment],
        method: Option<Method>,
        route: usize,
        literal: impl Fn(&str) -> Box<[u8]>,
    ) {
        let mut step = &mut self.root;
        for segment in path {
            step = match segment {
                plan::Segment::Rest => return step.rest.add(method, route),
                plan::Segment::One(_) => step.one.get_or_insert_default(),
                plan::Segment::Literal(written) => step.literal(literal(written)),
            };
        }
        step.end.add(method, route);
    }

    /// The most specific route for a path, without its first slash: at the first segment where two patterns differ, a
    /// literal goes before a placeholder, and both go before `**`; of equal paths a named method goes before any. `None`:
    /// `*` of `OPTIONS *` has no segments, only `/**` takes it. `loosely`: a slash at the end of a pattern does not count.
    pub(crate) fn find<P: Path>(&self, method: &Method, path: Option<P>, loosely: bool) -> Option<usize> {
        self.root.find(method, path, loosely)
    }
}

impl Step {
    /// The step for an exact segment, made when it is not there.
    fn literal(&mut self, literal: Box<[u8]>) -> &mut Step {
        let index = match self.literals.binary_search_by(|(known, _)| known.cmp(&literal)) {
            Ok(index) => index,
            Err(index) => {
                self.literals.insert(index, (literal, Step::default()));
                index
            }
        };
        &mut self.literals[index].1
    }

    /// Goes down the path; `None` is its end. As deep as the longest pattern at most.
    fn find<P: Path>(&self, method: &Method, path: Option<P>, loosely: bool) -> Option<usize> {
        let Some(path) = path else {
            let with_slash = || self.literals.first().filter(|(known, _)| loosely && known.is_empty());
            return self
                .end
                .find(method)
                .or_else(|| with_slash()?.1.end.find(method))
                .or_else(|| self.rest.find(method));
        };
        let (segment, behind) = path.split();
        let literal = || {
            let index = self.literals.binary_search_by(|(known, _)| segment.order(known)).ok()?;
            self.literals[index].1.find(method, behind, loosely)
        };
        let one = || self.one.as_ref().filter(|_| !segment.is_empty())?.find(method, behind, loosely);
        literal().or_else(one).or_else(|| self.rest.find(method))
    }
}

impl Methods {
    fn add(&mut self, method: Option<Method>, route: usize) {
        match method {
            None => {
                self.any.get_or_insert(route);
            }
            Some(method) if self.named.iter().all(|(known, _)| *known != method) => {
                self.named.push((method, route));
            }
            Some(_) => {}
        }
    }

    /// The method itself, then `GET` for `HEAD` (RFC 9110 §9.3.2), then any.
    fn find(&self, method: &Method) -> Option<usize> {
        let named =
            |method: &Method| self.named.iter().find(|(known, _)| known == method).map(|(_, route)| *route);
        named(method).or_else(|| (method == Method::HEAD).then(|| named(&Method::GET)).flatten()).or(self.any)
    }
}
