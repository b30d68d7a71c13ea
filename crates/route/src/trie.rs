//! Trie: the path patterns of one host, one step down for each segment. Built by the router; asked for each request.
//!
//! Finding never goes through a step twice, so its cost is bounded by the patterns of the file, and for one path by its
//! length times the patterns that fit so far. It allocates nothing. Literals are found by binary search rather than by
//! hash: nothing to flood, and steps have few of them.

use http::Method;
use plan::Segment;

/// What a path leads to. `T` is an index into the routes.
#[derive(Debug, Default)]
pub(crate) struct Trie {
    root: Step,
}

/// Where a path stands after some of its segments.
#[derive(Debug, Default)]
struct Step {
    /// Steps for one exact segment, sorted by it.
    literals: Vec<(Box<str>, Step)>,
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
    /// Adds a route. Of two with the same pattern the first stays.
    pub(crate) fn add(&mut self, path: &[Segment], method: Option<Method>, route: usize) {
        let mut step = &mut self.root;
        for segment in path {
            step = match segment {
                Segment::Rest => return step.rest.add(method, route),
                Segment::One(_) => step.one.get_or_insert_default(),
                Segment::Literal(literal) => step.literal(literal),
            };
        }
        step.end.add(method, route);
    }

    /// The most specific route for a path: at the first segment where two patterns differ, a literal goes before a
    /// placeholder, and both go before `**`; of equal paths a named method goes before any.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Option<usize> {
        // `*` of `OPTIONS *` has no segments: only `/**` takes it.
        self.root.find(method, path.strip_prefix('/'))
    }
}

impl Step {
    /// The step for an exact segment, made when it is not there.
    fn literal(&mut self, literal: &str) -> &mut Step {
        let index = match self.literals.binary_search_by(|(known, _)| known.as_ref().cmp(literal)) {
            Ok(index) => index,
            Err(index) => {
                self.literals.insert(index, (literal.into(), Step::default()));
                index
            }
        };
        &mut self.literals[index].1
    }

    /// Goes down the path; `None` is its end. As deep as the longest pattern at most.
    fn find(&self, method: &Method, path: Option<&str>) -> Option<usize> {
        let Some(path) = path else {
            return self.end.find(method).or_else(|| self.rest.find(method));
        };
        let (segment, behind) = match path.split_once('/') {
            Some((segment, behind)) => (segment, Some(behind)),
            None => (path, None),
        };
        let literal = || {
            let index = self.literals.binary_search_by(|(known, _)| known.as_ref().cmp(segment)).ok()?;
            self.literals[index].1.find(method, behind)
        };
        let one = || self.one.as_ref().filter(|_| !segment.is_empty())?.find(method, behind);
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
