//! Enclosed: several written as one: between brackets, with commas. Called by whatever writes lists and maps.

pub(crate) const LIST: [u8; 2] = *b"[]";
pub(crate) const MAP: [u8; 2] = *b"{}";

/// Appends all of these, each as `write` does it.
pub(crate) fn enclosed<T>(
    brackets: [u8; 2],
    all: impl Iterator<Item = T>,
    out: &mut Vec<u8>,
    write: impl Fn(T, &mut Vec<u8>),
) {
    out.push(brackets[0]);
    for (index, one) in all.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(one, out);
    }
    out.push(brackets[1]);
}
