//! Argument: what stands behind a command: one text with expressions in it, or all values of a repeated parameter.
//! Parsed by `plan`, written by `source` for requests, into [`Arguments`] that are used again and again.

use http::HeaderName;

use crate::Context;
use crate::decode::{self, Coding};
use crate::fault::{Fault, quoted};
use crate::scan::{Piece, pieces};
use crate::slot;
use crate::template::Template;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// One value: `user:${path.id}`.
    One(Template),
    /// `${query.all('id')}`: the values of each parameter of that name, in order.
    All(Box<str>),
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
        let parts = pieces(text)?;
        let inner = |part: &Piece<'_>| match part {
            Piece::Expression(inner) if inner.trim().starts_with("query.all") => {
                Some(inner.trim().to_owned())
            }
            Piece::Expression(_) | Piece::Literal(_) => None,
        };
        let Some(written) = parts.iter().find_map(inner) else {
            return Ok(Argument::One(Template::parse(text, names)?));
        };
        let is_alone = parts.iter().all(|part| match part {
            Piece::Literal(literal) => literal.is_empty(),
            Piece::Expression(_) => true,
        });
        match name(&written) {
            Some(name) if is_alone => Ok(Argument::All(name.into())),
            Some(_) => Err(Fault::new(
                format!("{} puts several values into one", quoted(text)),
                format!("let `${{{written}}}` stand alone, or write `query.NAME` for the first of them"),
            )),
            None => Err(Fault::new(
                format!("{} is not used so", quoted(&written)),
                "write `${query.all('NAME')}`, with the name written out",
            )),
        }
    }

    /// Appends its values for a request. False where one is missing.
    pub fn write(&self, context: &Context<'_>, out: &mut Arguments) -> bool {
        match self {
            Argument::One(template) => {
                let there = template.write(context, &mut out.bytes);
                if there {
                    out.ends.push(out.bytes.len());
                }
                there
            }
            Argument::All(name) => {
                let before = out.ends.len();
                for value in
                    context.request.query().into_iter().flat_map(|query| slot::parameters(query, name))
                {
                    decode::write(value, Coding::Form, &mut out.bytes);
                    out.ends.push(out.bytes.len());
                }
                out.ends.len() > before
            }
        }
    }

    /// What a request lacks where [`Argument::write`] says that something is missing, in words.
    pub fn missing(&self, context: &Context<'_>) -> Option<String> {
        match self {
            Argument::One(template) => template.missing(context),
            Argument::All(name) => Some(format!("the parameter `{name}`")),
        }
    }

    /// The fields of a request that it reads, for `Vary`.
    pub fn fields(&self) -> impl Iterator<Item = HeaderName> {
        let template = match self {
            Argument::One(template) => Some(template),
            Argument::All(_) => None,
        };
        template.into_iter().flat_map(Template::fields)
    }

    /// As written.
    pub fn text(&self) -> String {
        match self {
            Argument::One(template) => template.text().to_owned(),
            Argument::All(name) => format!("${{query.all('{name}')}}"),
        }
    }
}

/// `query.all('NAME')`: the name.
fn name(written: &str) -> Option<&str> {
    let quoted = written.strip_prefix("query.all")?.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
    let name = ['\'', '"'].iter().find_map(|q| quoted.strip_prefix(*q)?.strip_suffix(*q))?;
    (!name.is_empty() && !name.contains(['\'', '"', '\\'])).then_some(name)
}

impl Arguments {
    /// Takes everything out; the room stays.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
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
        let context = Context { request: &request, names: &names };
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
        let fields =
            |text: &str| -> Vec<HeaderName> { Argument::parse(text, None).unwrap().fields().collect() };
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
        assert_eq!(remedy("${query.all(id)}"), "write `${query.all('NAME')}`, with the name written out");
    }
}
