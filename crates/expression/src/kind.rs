//! Kind: what an expression gives, as far as that is known before there is a request. `bind` works it out from the
//! leaves up, so that a comparison that can never hold is refused when the file is loaded.

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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

impl Kind {
    /// As a message calls it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "a text",
            Kind::Int | Kind::Uint | Kind::Double => "a number",
            Kind::Truth => "true or false",
            Kind::Null => "null",
            Kind::List => "a list",
            Kind::Map => "a map",
            Kind::Any => "anything",
        }
    }

    /// Whether it is a number for certain.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Kind::Int | Kind::Uint | Kind::Double)
    }

    /// Whether a value of this kind may be one of the other.
    pub(crate) fn may_be(self, other: Kind) -> bool {
        self == Kind::Any || self == other || (self.is_number() && other.is_number())
    }

    /// Whether `==` between the two can ever hold.
    pub(crate) fn comparable(self, other: Kind) -> bool {
        let nullable = |one: Kind, two: Kind| one == Kind::Null && two == Kind::Text;
        other == Kind::Any || self.may_be(other) || nullable(self, other) || nullable(other, self)
    }

    /// The kind of a value that is one or the other.
    pub(crate) fn or(self, other: Kind) -> Kind {
        match (self, other) {
            (one, two) if one == two => one,
            (Kind::Null, Kind::Text) | (Kind::Text, Kind::Null) => Kind::Text,
            _ => Kind::Any,
        }
    }
}
