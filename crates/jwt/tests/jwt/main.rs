//! Tokens, keys and what RFC 8725 says of both. Tokens are signed here with keys made for the occasion; `vectors` has those of
//! the RFCs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are not inside #[test]")]

mod keys;
mod properties;
mod tokens;
mod vectors;

use jwt::{Algorithm, KeySet, Refusal, Rules, Token};
use message::Timestamp;

/// Long before 4·10⁹, when the tokens of these tests expire.
pub(crate) const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

pub(crate) fn rules(algorithms: &[Algorithm]) -> Rules {
    Rules { algorithms: algorithms.to_vec(), ..Rules::default() }
}

/// What becomes of a token, from its text to its claims.
pub(crate) fn verify(token: &str, keys: &KeySet, rules: &Rules) -> Result<(), Refusal> {
    Token::read(token.as_bytes(), rules)?.verify(keys, rules, NOW).map(|_| ())
}
