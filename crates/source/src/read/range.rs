//! Range: which members of a sorted set `ZRANGE` and `ZREVRANGE` ask for. In: their arguments. Out: what they mean, or
//! what is wrong with the request. Read by `asked`, before Redis is, and by `store`, which has to obey it.

use expression::Arguments;
use message::Result;
use plan::ReadCommand;

use super::asked::{is_not_whole, malformed, whole};

/// See the module.
#[derive(Debug, PartialEq)]
pub(crate) struct Range<'a> {
    pub(crate) by: By<'a>,
    /// From the highest down.
    pub(crate) reversed: bool,
    /// How many to leave out, and how many to take; below zero: all.
    pub(crate) limit: Option<(i64, i64)>,
    pub(crate) with_scores: bool,
}

/// What it goes by; the lower edge first.
#[derive(Debug, PartialEq)]
pub(crate) enum By<'a> {
    /// The place in the order asked for, below zero from its end; in the order written.
    Place(i64, i64),
    Score(Edge, Edge),
    Member(LexEdge<'a>, LexEdge<'a>),
}

/// An edge in scores.
#[derive(Debug, PartialEq)]
pub(crate) struct Edge {
    pub(crate) score: f64,
    pub(crate) excluded: bool,
}

/// An edge in members.
#[derive(Debug, PartialEq)]
pub(crate) enum LexEdge<'a> {
    Lowest,
    Highest,
    At { member: &'a [u8], excluded: bool },
}

impl<'a> Range<'a> {
    /// Reads the arguments, the key among them.
    pub(crate) fn parse(command: ReadCommand, arguments: &'a Arguments) -> Result<Self> {
        let word = command.word();
        let mut words = arguments.iter().skip(1);
        let wrong = || malformed(format!("{word} does not take these arguments"));
        let (Some(first), Some(last)) = (words.next(), words.next()) else { return Err(wrong()) };
        let (mut by_score, mut by_member, mut limit, mut with_scores) = (false, false, None, false);
        let mut reversed = command == ReadCommand::Zrevrange;
        while let Some(option) = words.next() {
            let is = |name: &str| option.eq_ignore_ascii_case(name.as_bytes());
            if is("WITHSCORES") {
                with_scores = true;
            } else if command == ReadCommand::Zrevrange {
                return Err(wrong());
            } else if is("REV") {
                reversed = true;
            } else if is("BYSCORE") && !by_member {
                by_score = true;
            } else if is("BYLEX") && !by_score {
                by_member = true;
            } else if is("LIMIT") {
                let mut number = || words.next().and_then(whole);
                limit = Some(number().zip(number()).ok_or_else(|| is_not_whole(word))?);
            } else {
                return Err(wrong());
            }
        }
        if (limit.is_some() && !by_score && !by_member) || (with_scores && by_member) {
            return Err(wrong());
        }
        let (low, high) = if reversed { (last, first) } else { (first, last) };
        let by = if by_score {
            let edges = Edge::parse(low).zip(Edge::parse(high));
            let (low, high) = edges.ok_or_else(|| malformed(format!("this {word} takes scores")))?;
            By::Score(low, high)
        } else if by_member {
            let edges = LexEdge::parse(low).zip(LexEdge::parse(high));
            let detail = || malformed(format!("this {word} takes members: `[a` or `(a`, `-` or `+`"));
            let (low, high) = edges.ok_or_else(detail)?;
            By::Member(low, high)
        } else {
            let edges = whole(first).zip(whole(last));
            let (first, last) = edges.ok_or_else(|| is_not_whole(word))?;
            By::Place(first, last)
        };
        Ok(Range { by, reversed, limit, with_scores })
    }
}

impl Edge {
    fn parse(argument: &[u8]) -> Option<Edge> {
        let text = std::str::from_utf8(argument).ok()?;
        let (excluded, number) = text.strip_prefix('(').map_or((false, text), |number| (true, number));
        let score = number.parse::<f64>().ok().filter(|score| !score.is_nan())?;
        Some(Edge { score, excluded })
    }

    /// Whether a score lies at it or above.
    pub(crate) fn is_at_most(&self, score: f64) -> bool {
        if self.excluded { self.score < score } else { self.score <= score }
    }

    /// Whether a score lies at it or below.
    pub(crate) fn is_at_least(&self, score: f64) -> bool {
        if self.excluded { self.score > score } else { self.score >= score }
    }
}

impl<'a> LexEdge<'a> {
    fn parse(argument: &'a [u8]) -> Option<Self> {
        match argument {
            b"-" => Some(LexEdge::Lowest),
            b"+" => Some(LexEdge::Highest),
            [b'[', member @ ..] => Some(LexEdge::At { member, excluded: false }),
            [b'(', member @ ..] => Some(LexEdge::At { member, excluded: true }),
            _ => None,
        }
    }

    /// Whether a member lies at it or above.
    pub(crate) fn is_at_most(&self, other: &[u8]) -> bool {
        match self {
            LexEdge::Lowest => true,
            LexEdge::Highest => false,
            LexEdge::At { member, excluded: false } => *member <= other,
            LexEdge::At { member, excluded: true } => *member < other,
        }
    }

    /// Whether a member lies at it or below.
    pub(crate) fn is_at_least(&self, other: &[u8]) -> bool {
        match self {
            LexEdge::Lowest => false,
            LexEdge::Highest => true,
            LexEdge::At { member, excluded: false } => *member >= other,
            LexEdge::At { member, excluded: true } => *member > other,
        }
    }
}
