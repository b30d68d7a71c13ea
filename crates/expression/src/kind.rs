//! Kind: what an expression gives, as far as that is known before there is a request. `bind` works it out from the
//! leaves up, so that a comparison that can never hold is refused when the file is loaded.

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A text, or null where the request has none.
    Text,
    /// A whole number.
    Int,
    /// A whole number that is not negative, `7u`.
    Uint,
    /// A number with a fraction.
    Double,
    /// `true` or `false`.
    Truth,
    /// Null.
    Null,
    /// A list.
    List,
    /// A map.
    Map,
    /// Only a request tells.
    Any,
}

impl ValueKind {
    /// As a message calls it.
    pub fn name(self) -> &'static str {
        match self {
            ValueKind::Text => "a text",
            ValueKind::Int | ValueKind::Uint | ValueKind::Double => "a number",
            ValueKind::Truth => "true or false",
            ValueKind::Null => "null",
            ValueKind::List => "a list",
            ValueKind::Map => "a map",
            ValueKind::Any => "anything",
        }
    }

    /// Whether it is a number for certain.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, ValueKind::Int | ValueKind::Uint | ValueKind::Double)
    }

    /// Whether a value of this kind may be one of the other.
    pub(crate) fn may_be(self, other: ValueKind) -> bool {
        self == ValueKind::Any || self == other || (self.is_number() && other.is_number())
    }

    /// Whether `==` between the two can ever hold.
    pub(crate) fn comparable(self, other: ValueKind) -> bool {
        let nullable = |one: ValueKind, two: ValueKind| one == ValueKind::Null && two == ValueKind::Text;
        other == ValueKind::Any || self.may_be(other) || nullable(self, other) || nullable(other, self)
    }

    /// The kind of a value that is one or the other.
    pub(crate) fn or(self, other: ValueKind) -> ValueKind {
        match (self, other) {
            (one, two) if one == two => one,
            (ValueKind::Null, ValueKind::Text) | (ValueKind::Text, ValueKind::Null) => ValueKind::Text,
            _ => ValueKind::Any,
        }
    }
}
