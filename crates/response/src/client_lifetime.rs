//! ClientLifetime: what a stored answer tells clients of its lifetime, where the policy says how long they may keep it at
//! most. Made when it is stored; since `Age` goes with it, the number it writes grows as the answer ages.

use std::time::Duration;

use http::HeaderMap;
use http::header::{CACHE_CONTROL, EXPIRES};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientLifetime {
    /// The lines that say it, as the origin wrote them.
    lines: HeaderMap,
    most: Duration,
}

/// Takes what an answer says of its lifetime out of the fields that are stored as bytes. `None`, and everything stays,
/// where nothing would be changed.
pub fn split_lifetime(fields: &mut HeaderMap, most: Duration) -> Option<ClientLifetime> {
    let mut lines = HeaderMap::new();
    for name in [CACHE_CONTROL, EXPIRES] {
        for line in fields.get_all(&name) {
            lines.append(name.clone(), line.clone());
        }
    }
    let mut cut = lines.clone();
    rules::client_lifetime::cut(&mut cut, most, 0, i64::from(u32::MAX));
    if cut == lines {
        return None;
    }
    fields.remove(CACHE_CONTROL);
    fields.remove(EXPIRES);
    Some(ClientLifetime { lines, most })
}

impl ClientLifetime {
    /// Adds the fields for an answer of this age, that is fresh here for so many seconds.
    pub fn apply(&self, fields: &mut HeaderMap, age: u32, fresh_for: i64) {
        self.restore(fields);
        rules::client_lifetime::cut(fields, self.most, age, fresh_for);
    }

    /// Adds the fields as the origin wrote them.
    pub fn restore(&self, fields: &mut HeaderMap) {
        fields.extend(self.lines.clone());
    }

    /// Appends the same as lines of a head. Not as cheap as a head without it: the lines are read and written anew.
    pub fn write(&self, age: u32, fresh_for: i64, out: &mut Vec<u8>) {
        let mut fields = HeaderMap::new();
        self.apply(&mut fields, age, fresh_for);
        for (name, value) in &fields {
            out.extend_from_slice(name.as_str().as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value.as_bytes());
            out.extend_from_slice(b"\r\n");
        }
    }
}
