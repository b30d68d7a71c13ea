//! Argument: what stands behind a command: one text with expressions in it, or one for each value of a list.
//! Parsed by `plan`, written by `source` for requests, into [`Arguments`] that are used again and again.

use std::sync::Arc;

use crate::Context;
use crate::compile::Known;
use crate::fault::ExpressionFault;
use crate::kind::ValueKind;
use crate::names::Names;
use crate::output::Output;
use crate::reads::Reads;
use crate::scan::{Piece, pieces};
use crate::template::Template;
use crate::unable::Unable;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// One value: `user:${path.id}`.
    One(Template),
    /// `user:${query.all('id')}`: one for each value of a list, in order.
    Each(Each),
}

/// A list, and what stands around each of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Each {
    text: Arc<str>,
    before: Template,
    list: Output,
    after: Template,
}

/// Values one behind the other, each with its end: no value can become two, whatever it holds.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Argument {
    /// Parses one word behind a command. `names` are the segment names of the route.
    pub fn parse(text: &str, names: Option<&[&str]>) -> Result<Self, ExpressionFault> {
        Self::parse_in(text, &Names::of_segments(names), true)
    }

    /// The same, where more is known than the request. What a step gave becomes as many values as it is found to be.
    /// `may_be_many`: whether several may stand in this place. Where one must, a list within a longer text is a part of
    /// that one, as far as [`Names::joins_lists`] has it so.
    pub fn parse_in(text: &str, names: &Names<'_>, may_be_many: bool) -> Result<Self, ExpressionFault> {
        let known = Known::new(*names);
        let pieces = pieces(text)?;
        match &*pieces {
            [Piece::Expression(inner)] => drop(Output::parse(inner, &known)?),
            _ if !may_be_many => return Template::of_pieces(text, &pieces, &known).map(Argument::One),
            _ => {}
        }
        let mut lists = Vec::new();
        for (at, piece) in pieces.iter().enumerate() {
            if let Piece::Expression(inner) = piece
                // What is no expression at all is said by the template, with the text around it.
                && let Ok(output) = Output::parse(inner, &known)
                && (output.kind() == ValueKind::List || output.values().next().is_some())
            {
                lists.push((at, output));
            }
        }
        // Of two that may be lists it is not known which values belong together.
        let Ok([(at, list)]) = <[_; 1]>::try_from(lists) else {
            return Template::of_pieces(text, &pieces, &known).map(Argument::One);
        };
        Ok(Argument::Each(Each {
            text: text.into(),
            before: Template::of_pieces(text, &pieces[..at], &known)?,
            list,
            after: Template::of_pieces(text, &pieces[at + 1..], &known)?,
        }))
    }

    /// Whether it is several values for certain.
    pub fn is_several(&self) -> bool {
        matches!(self, Argument::Each(each) if each.list.kind() == ValueKind::List)
    }

    /// Appends its values for a request. False where one is missing.
    pub fn write(&self, context: &Context<'_>, out: &mut Arguments) -> bool {
        match self {
            Argument::One(template) => out.push(|bytes| template.write(context, bytes)),
            Argument::Each(each) => each.write(context, out),
        }
    }

    /// What a request lacks where [`Argument::write`] says that something is missing, in words.
    pub fn missing(&self, context: &Context<'_>) -> Option<String> {
        match self {
            Argument::One(template) => template.missing(context),
            Argument::Each(Each { before, list, after, .. }) => {
                before.missing(context).or_else(|| list.missing(context)).or_else(|| after.missing(context))
            }
        }
    }

    /// Why [`Argument::write`] says that something is missing, and which values are to blame.
    pub fn unwritten(&self, context: &Context<'_>) -> Unable {
        let found = match self {
            Argument::One(template) => template.unwritten(context),
            Argument::Each(Each { before, list, after, .. }) => before
                .unwritten(context)
                .or_else(|| list.parameter(context).err())
                .or_else(|| after.unwritten(context))
                .or_else(|| Some(Unable::missing(&list.noun(), list.values()))),
        };
        found.unwrap_or_else(|| Unable::missing("a value", self.values().into_iter()))
    }

    /// All that it reads of a request.
    pub fn reads(&self) -> Reads<'_> {
        match self {
            Argument::One(template) => template.reads(),
            Argument::Each(Each { before, list, after, .. }) => {
                Reads::of_all([before.reads(), list.reads(), after.reads()])
            }
        }
    }

    /// The values beside the request that it reads, as places in [`Names::values`].
    pub fn values(&self) -> Vec<usize> {
        match self {
            Argument::One(template) => template.values().collect(),
            Argument::Each(Each { before, list, after, .. }) => {
                before.values().chain(list.values()).chain(after.values()).collect()
            }
        }
    }

    /// Whether whoever sends a request says how it begins, or all of it: nothing of it is written out, and something is the
    /// request's own.
    /// `is_sent`: whether the value at a place in [`Names::values`] came with the request.
    pub fn is_open(&self, is_sent: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Argument::One(template) => {
                template.begins_with_sent(is_sent)
                    || (!template.has_literal() && template.reads_sent(is_sent))
            }
            Argument::Each(Each { before, list, after, .. }) => {
                let is_written = before.has_literal() || after.has_literal();
                before.begins_with_sent(is_sent)
                    || (!before.has_literal() && list.reads_sent(is_sent))
                    || (!is_written && self.is_partly_sent(is_sent))
            }
        }
    }

    /// Whether a part of it comes with the request, see [`Argument::is_open`].
    pub fn is_partly_sent(&self, is_sent: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Argument::One(template) => template.reads_sent(is_sent),
            Argument::Each(Each { before, list, after, .. }) => {
                list.reads_sent(is_sent) || before.reads_sent(is_sent) || after.reads_sent(is_sent)
            }
        }
    }

    /// What it begins with whatever the request is.
    pub fn beginning(&self) -> &str {
        match self {
            Argument::One(template) => template.beginning(),
            Argument::Each(each) => each.before.beginning(),
        }
    }

    /// As written.
    pub fn text(&self) -> String {
        match self {
            Argument::One(template) => template.text().to_owned(),
            Argument::Each(each) => each.text.to_string(),
        }
    }
}

impl Each {
    fn write(&self, context: &Context<'_>, out: &mut Arguments) -> bool {
        self.list.write_each(context, &mut |value| {
            out.push(|bytes| {
                self.before.write(context, bytes) && value(bytes) && self.after.write(context, bytes)
            })
        })
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
            client: None,
        };
        let names = [None, Some("id".into())];
        let context = Context::of_request(&request, &names);
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
        let fields = |text: &str| Argument::parse(text, None).unwrap().reads().fields().collect::<Vec<_>>();
        assert_eq!(fields("${path.id}:${query.x}:${host}"), [""; 0]);
        assert_eq!(fields("${query.all('id')}"), [""; 0]);
        assert_eq!(
            fields("${header('X-User')}:${cookie.sid}:${claim('sub')}"),
            ["x-user", "cookie", "authorization"]
        );
        assert_eq!(fields("${header('A') == '' ? cookie.b : 'c'}"), ["a", "cookie"]);
    }

    #[test]
    fn what_stands_around_a_list_stands_around_each_of_its_values() {
        let keys = |text| written(text, "/u/7?id=a&id=b%20c&shop=s");
        let expected = |keys: &[&str]| Some(keys.iter().map(|key| (*key).to_owned()).collect());
        assert_eq!(keys("user:${query.all('id')}"), expected(&["user:a", "user:b c"]));
        assert_eq!(keys("${path.id}:${query.all('id')}:${query.shop}"), expected(&["7:a:s", "7:b c:s"]));
        assert_eq!(keys("x:${query.none}:${query.all('id')}"), None);
        assert_eq!(keys("x:${query.all('none')}"), None);
        assert_eq!(Argument::parse("x:${query.all('id')}", None).unwrap().text(), "x:${query.all('id')}");
    }

    #[test]
    fn what_a_client_says_alone_is_told_from_what_is_written_out() {
        let names = [crate::Named::any("body"), crate::Named::any("user")];
        let names = Names { values: &names, ..Names::default() };
        let argument = |text| Argument::parse_in(text, &names, true).unwrap();
        let is_sent = |place| place == 0;
        for (text, open, partly) in [
            ("news", false, false),
            ("user:${query.id}", false, true),
            ("${query.id}", true, true),
            ("${query.a}${header('B')}", true, true),
            ("${query.all('id')}", true, true),
            ("a:${query.all('id')}", false, true),
            ("${query.all('id')}:a", true, true),
            ("${query.id}:a", true, true),
            ("${header('X')}:${user.id}", true, true),
            ("${user.id}:${query.id}", false, true),
            ("${body.id}", true, true),
            ("${user.id}", false, false),
            ("${user.id}${query.id}", true, true),
            ("${claim('sub')}", true, true),
            ("${'user:' + query.id}", true, true),
        ] {
            let argument = argument(text);
            assert_eq!(
                (argument.is_open(&is_sent), argument.is_partly_sent(&is_sent)),
                (open, partly),
                "{text}"
            );
        }
        assert_eq!(argument("user:${query.id}:x").beginning(), "user:");
        assert_eq!(argument("u:${query.all('id')}").beginning(), "u:");
        assert_eq!(argument("${query.id}:x").beginning(), "");
    }

    #[test]
    fn one_list_is_enough() {
        let remedy = |text| Argument::parse(text, None).unwrap_err().remedy;
        assert_eq!(
            remedy("${query.all('a')}:${query.all('id')}"),
            "let `${query.all('a')}` stand alone, or write `query.NAME` for the first of them"
        );
        assert_eq!(remedy("${query.all(id)}"), "write `query.all('NAME')`, with the name written out");
    }
}
