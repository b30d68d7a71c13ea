//! Scalar: a value on its way into a statement: bound as what it is, never spliced into a text. Made by expressions for
//! requests, bound by `sql`.

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// Nothing: `NULL`.
    Null,
    /// `true` or `false`.
    Truth(bool),
    /// A whole number.
    Int(i64),
    /// A whole number above what an `i64` holds.
    Uint(u64),
    /// A number with a fraction that was computed.
    Double(f64),
    /// A number with a fraction or a power of ten, as it was written: a price is not to lose its last digits.
    Decimal(String),
    /// A text; what a request holds is always one, also `7`.
    Text(String),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
}

/// What stands for one placeholder.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// One value.
    One(Scalar),
    /// Several: `IN (?)`.
    List(Vec<Scalar>),
}
