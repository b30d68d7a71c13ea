//! Rewrite: one path → another, by two patterns of segments, and back. In comes a path in its one form ([`crate::path`]); out goes
//! what its source calls it. Segments stay segments, byte for byte: nothing is decoded on the way.

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// This segment.
    Literal(String),
    /// Any segment that is not empty, by its number.
    One(usize),
    /// Whatever follows, also nothing. Last, and once.
    Rest,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    from: Box<[Piece]>,
    to: Box<[Piece]>,
}

/// What a path had where a pattern names nothing.
struct Found<'p> {
    segments: Vec<(usize, &'p str)>,
    /// What follows behind a slash; `None`: nothing follows, and no slash either.
    rest: Option<&'p str>,
}

impl Rewrite {
    /// From paths of one pattern to those of the other, which holds nothing that the first does not.
    pub fn new(from: Vec<Piece>, to: Vec<Piece>) -> Self {
        Rewrite { from: from.into(), to: to.into() }
    }

    /// The path that is meant; `None`: this one is none of those that are rewritten.
    pub fn path(&self, path: &str) -> Option<String> {
        let found = find(&self.from, path)?;
        let mut out = String::with_capacity(path.len() + 16);
        for piece in &self.to {
            match piece {
                Piece::Literal(literal) => out.extend(["/", literal]),
                Piece::One(number) => {
                    let (_, segment) = found.segments.iter().find(|(found, _)| found == number)?;
                    out.extend(["/", segment]);
                }
                Piece::Rest => out.extend(found.rest.iter().flat_map(|rest| ["/", rest])),
            }
        }
        if out.is_empty() {
            out.push('/');
        }
        Some(out)
    }

    /// The way back; `None`: something of a path is lost on the way there.
    pub fn back(&self) -> Option<Rewrite> {
        let is_kept = |piece: &Piece| matches!(piece, Piece::Literal(_)) || self.to.contains(piece);
        let is_there = self.from.iter().all(is_kept);
        is_there.then(|| Rewrite { from: self.to.clone(), to: self.from.clone() })
    }
}

fn find<'p>(pattern: &[Piece], path: &'p str) -> Option<Found<'p>> {
    let mut rest = Some(path.strip_prefix('/')?);
    let mut segments = Vec::new();
    for piece in pattern {
        if *piece == Piece::Rest {
            return Some(Found { segments, rest });
        }
        let (segment, behind) = match rest?.split_once('/') {
            Some((segment, behind)) => (segment, Some(behind)),
            None => (rest?, None),
        };
        match piece {
            Piece::Literal(literal) if literal == segment => {}
            Piece::One(number) if !segment.is_empty() => segments.push((*number, segment)),
            _ => return None,
        }
        rest = behind;
    }
    rest.is_none().then_some(Found { segments, rest })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(pattern: &str) -> Vec<Piece> {
        let piece = |segment: &str| match segment {
            "**" => Piece::Rest,
            "{a}" => Piece::One(0),
            "{b}" => Piece::One(1),
            literal => Piece::Literal(literal.to_owned()),
        };
        pattern[1..].split('/').map(piece).collect()
    }

    fn rewritten(from: &str, to: &str, path: &str) -> Option<String> {
        Rewrite::new(pieces(from), pieces(to)).path(path)
    }

    #[test]
    fn a_prefix_takes_whole_segments() {
        for (path, expected) in [
            ("/api/v1/x", Some("/v1/x")),
            ("/api/v1/", Some("/v1/")),
            ("/api/v1", Some("/v1")),
            ("/api/v10/x", None),
            ("/x/api/v1", None),
            ("/api/v1/a/b/", Some("/v1/a/b/")),
            ("*", None),
        ] {
            assert_eq!(rewritten("/api/v1/**", "/v1/**", path).as_deref(), expected, "{path}");
        }
        assert_eq!(rewritten("/api/**", "/**", "/api").as_deref(), Some("/"));
        assert_eq!(rewritten("/**", "/v1/**", "/").as_deref(), Some("/v1/"));
    }

    #[test]
    fn segments_change_places_and_stay_what_they_are() {
        let to = |path| rewritten("/users/{a}/{b}", "/{b}/of/{a}", path);
        assert_eq!(to("/users/1%2F2/x;y").as_deref(), Some("/x;y/of/1%2F2"));
        assert_eq!(to("/users//x"), None, "an empty segment is none");
        assert_eq!(to("/users/1/x/"), None);
        assert_eq!(to("/users/1"), None);
    }

    #[test]
    fn there_is_no_way_back_where_something_is_lost() {
        let back = |from, to| Rewrite::new(pieces(from), pieces(to)).back();
        assert_eq!(back("/users/{a}/**", "/all/**"), None);
        assert_eq!(back("/users/**", "/all"), None);
        assert!(back("/users/{a}/**", "/u/{a}/**").is_some());
    }

    proptest! {
        #[test]
        fn who_goes_back_is_where_it_began(path in "/users/[a-c]{1,3}(/[a-c]{0,2}){0,3}") {
            let there = Rewrite::new(pieces("/users/{a}/**"), pieces("/v2/{a}/u/**"));
            let back = there.back().unwrap();
            prop_assert_eq!(back.path(&there.path(&path).unwrap()), Some(path));
        }
    }
}
