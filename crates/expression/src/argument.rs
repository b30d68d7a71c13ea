//! Argument: what stands behind a command: one text with expressions in it, or all values of a repeated parameter.
//! Parsed by `plan`, written by `source` for requests, into [`Arguments`] that are used again and again.

use http::HeaderName;

use crate::Context;
use crate::compile::Known;
use crate::fault::Fault;
use crate::kind::Kind;
use crate::names::Names;
use crate::output::Output;
use crate::scan::{Piece, pieces};
use crate::template::Template;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// One value: `user:${path.id}`.
    One(Template),
    /// `${query.all('id')}`: each value of a list, in order.
    Each(Output),
}

/// Values one behind the other, each with its end: no value can become two, whatever it holds.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Argument {
    /// Parses one word behind a command. `names` are the segment names of the route.
    pub fn parse(text: &str, names: Option<&[&str]>) -> Result<Self, Fault> {
        Self::parse_in(text, &Names::of_segments(names))
    }

    /// The same, where more is known than the request. What a step gave becomes as many values as it is found to be.
    pub fn parse_in(text: &str, names: &Names<'_>) -> Result<Self, Fault> {
        if let [Piece::Expression(inner)] = pieces(text)?.as_slice() {
            let output = Output::parse(inner, &Known::new(*names))?;
            if output.kind() == Kind::List || output.values().next().is_some() {
                return Ok(Argument::Each(output));
            }
        }
        Template::parse_in(text, names).map(Argument::One)
    }

    /// Whether it is several values for certain.
    pub fn is_several(&self) -> bool {
        matches!(self, Argument::Each(output) if output.kind() == Kind::List)
    }

    /// Appends its values for a request. False where one is missing.
    pub fn write(&self, context: &Context<'_>, out: &mut Arguments) -> bool {
        match self {
            Argument::One(template) => out.push(|bytes| template.write(context, bytes)),
            Argument::Each(output) => output.write_each(context, out),
        }
    }

    /// What a request lacks where [`Argument::write`] says that something is missing, in words.
    pub fn missing(&self, context: &Context<'_>) -> Option<String> {
        match self {
            Argument::One(template) => template.missing(context),
            Argument::Each(output) => output.missing(context),
        }
    }

    /// The fields of a request that it reads, for `Vary`.
    pub fn fields(&self) -> Vec<HeaderName> {
        match self {
            Argument::One(template) => template.fields().collect(),
            Argument::Each(output) => output.fields().collect(),
        }
    }

    /// The values beside the request that it reads, as places in [`Names::values`].
    pub fn values(&self) -> Vec<usize> {
        match self {
            Argument::One(template) => template.values().collect(),
            Argument::Each(output) => output.values().collect(),
        }
    }

    /// As written.
    pub fn text(&self) -> String {
        match self {
            Argument::One(template) => template.text().to_owned(),
            Argument::Each(output) => format!("${{{}}}", output.text()),
        }
    }
}

impl Arguments {
    /// Takes everything out; the room stays.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds what `write` appends, where it says that there is something.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let there = write(&mut self.bytes);
        if there {
            self.ends.push(self.bytes.len());
        }
        there
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all of them together.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, Method};
    use message::{Fields, RequestView, Scheme};

    use super::*;

    fn written(argument: &str, target: &str) -> Option<Vec<String>> {
        let fields = HeaderMap::new();
        let request = RequestView {
            method: &Method::GET,
            scheme: Scheme::Http,
            authority: "a.example",
            target,
            fields: Fields::Map(&fields),
        };
        let names = [None, Some("id".into())];
        let context = Context { request: &request, names: &names, values: &[] };
        let mut out = Arguments::default();
        let there = Argument::parse(argument, Some(&["id"])).unwrap().write(&context, &mut out);
        there.then(|| out.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect())
    }

    #[test]
    fn one_value_is_one_whatever_it_holds() {
        assert_eq!(written("user:${path.id}", "/u/a%20b%0d%0aGET"), Some(vec!["user:a b\r\nGET".to_owned()]));
        assert_eq!(written("${query.x}", "/u/1"), None);
    }

    #[test]
    fn a_repeated_parameter_is_as_many_values_as_it_was_sent() {
        let ids = |target| written("${ query.all('id') }", target);
        assert_eq!(ids("/u/1?id=a&x=b&id=c+d&id="), Some(vec!["a".into(), "c d".into(), String::new()]));
        assert_eq!(ids("/u/1?x=1"), None);
    }

    #[test]
    fn what_does_not_stand_in_the_url_stands_in_a_field() {
        let fields = |text: &str| Argument::parse(text, None).unwrap().fields();
        assert_eq!(fields("${path.id}:${query.x}:${host}"), [""; 0]);
        assert_eq!(fields("${query.all('id')}"), [""; 0]);
        assert_eq!(
            fields("${header('X-User')}:${cookie.sid}:${claim('sub')}"),
            ["x-user", "cookie", "authorization"]
        );
        assert_eq!(fields("${header('A') == '' ? cookie.b : 'c'}"), ["a", "cookie"]);
    }

    #[test]
    fn a_list_stands_alone() {
        let remedy = |text| Argument::parse(text, None).unwrap_err().remedy;
        assert_eq!(
            remedy("key:${query.all('id')}"),
            "let `${query.all('id')}` stand alone, or write `query.NAME` for the first of them"
        );
        assert_eq!(remedy("${query.all(id)}"), "write `query.all('NAME')`, with the name written out");
    }
}
