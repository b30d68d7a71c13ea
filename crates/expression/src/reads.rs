//! Reads: what an expression, or a text with several, reads of a request. For whoever checks a file: what is made for one request
//! may be given to another only where both are the same in all of this. Made by the method `reads` of whatever holds expressions.

use http::HeaderName;

use crate::answered::Answered;
use crate::slot::Slot;

/// See the module.
#[derive(Clone, Debug)]
pub struct Reads<'a>(Vec<&'a Slot>);

impl<'a> Reads<'a> {
    pub(crate) fn of(slots: impl Iterator<Item = &'a Slot>) -> Self {
        Reads(slots.collect())
    }

    /// All that several read.
    pub fn of_all(all: impl IntoIterator<Item = Reads<'a>>) -> Self {
        Reads(all.into_iter().flat_map(|reads| reads.0).collect())
    }

    fn any(&self, is: impl Fn(&Slot) -> bool) -> bool {
        self.0.iter().any(|slot| is(slot))
    }

    /// Whether it is anything of the request.
    pub fn request(&self) -> bool {
        self.any(Slot::is_of_request)
    }

    /// The fields, for `Vary`.
    pub fn fields(&self) -> impl Iterator<Item = HeaderName> {
        self.0.iter().filter_map(|slot| slot.field())
    }

    /// The cookies, by name. All of them together, `header('Cookie')`, are a field and none of these.
    pub fn cookies(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter_map(|slot| slot.cookie())
    }

    /// The segments of the path, by the names that a route gives them.
    pub fn segments(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter_map(|slot| match slot {
            Slot::Path(name) => Some(&**name),
            _ => None,
        })
    }

    /// Whether it is who asks: `client.address`, `client.network`.
    pub fn client(&self) -> bool {
        self.any(Slot::is_of_client)
    }

    /// Whether it is the host: `host`, `header('Host')`.
    pub fn host(&self) -> bool {
        self.any(|slot| matches!(slot, Slot::Host | Slot::Authority))
    }

    /// Whether it is the scheme.
    pub fn scheme(&self) -> bool {
        self.any(|slot| *slot == Slot::Scheme)
    }

    /// Whether it is what the cache did.
    pub fn cache(&self) -> bool {
        self.any(|slot| *slot == Slot::Answered(Answered::Cache))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Expression, Template};

    #[test]
    fn everything_that_is_read_is_told() {
        let text =
            "${header('X-A')} ${cookie.b} ${path.c} ${size(path.d) > 1 ? host : 'none'} ${claim('sub')}";
        let template = Template::parse(text, None).unwrap();
        let reads = template.reads();
        let fields: Vec<_> = reads.fields().map(|name| name.as_str().to_owned()).collect();
        assert_eq!(fields, ["x-a", "cookie", "authorization"]);
        assert_eq!(reads.cookies().collect::<Vec<_>>(), ["b"]);
        assert_eq!(reads.segments().collect::<Vec<_>>(), ["c", "d"]);
        assert!(reads.request() && reads.host() && !reads.scheme() && !reads.client() && !reads.cache());
    }

    #[test]
    fn a_host_is_one_however_it_is_read() {
        for (text, is_host, is_scheme) in [
            ("host", true, false),
            ("header('Host')", true, false),
            ("header('host') == 'a' && scheme == 'http'", true, true),
            ("url", false, false),
        ] {
            let expression = Expression::parse(text, None).unwrap();
            let reads = expression.reads();
            assert_eq!((reads.host(), reads.scheme()), (is_host, is_scheme), "{text}");
        }
        let constant = Expression::parse("1 == 1", None).unwrap();
        assert!(!constant.reads().request());
    }
}
