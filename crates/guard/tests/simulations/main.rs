//! What the server relies on when many calls go through one guard at once. Everything is drawn from a seed, so a failure is
//! told as its seed and comes again. That the checks find something is shown by taking the guard out.

mod breaker;
mod concurrency;
mod limits;

/// xorshift64*.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }

    /// From zero to one, without either.
    fn unit(&mut self) -> f64 {
        (self.below(1 << 30) as f64 + 0.5) / f64::from(1 << 30)
    }
}
