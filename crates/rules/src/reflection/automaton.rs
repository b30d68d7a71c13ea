//! Automaton: finds all needles in one pass (Aho and Corasick, 1975), whatever they are and whatever is looked through.
//! A step asks for the next state in a list that is searched by halves, so that nobody can make it long.
//!
//! No library's: those report single matches, which an attacker can make many, and take ten times as long to build, which
//! is what counts for short answers.

/// Which fields were found: a bit for each.
pub(super) type Found = u128;

/// See the module.
pub(super) struct Automaton {
    states: Vec<State>,
    /// What has been found on reaching a state.
    found: Vec<Found>,
    /// Where each byte leads from the beginning, and from the states after one byte, which come next: most of what is
    /// looked through gets no further.
    rows: Vec<[u16; 256]>,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// The byte that leads here.
    byte: u8,
    /// How many states follow this one directly, and the first of them; they are sorted by their bytes.
    follows: u16,
    next: u16,
    /// The state of the longest end of what was read that is the beginning of a needle.
    fallback: u16,
}

/// A state while its needles are still to be told apart.
struct Open {
    /// Those that begin so.
    begin: u32,
    end: u32,
    depth: u32,
}

impl Automaton {
    /// `needles`: each with the number of its field, below 128. All of them together must be shorter than 65,536 bytes.
    pub(super) fn new<'n>(needles: impl Iterator<Item = (&'n [u8], u8)>) -> Self {
        let mut needles: Vec<_> = needles.collect();
        needles.sort_unstable();
        let mut automaton =
            Automaton { states: vec![State::default()], found: vec![0], rows: vec![[0; 256]] };
        let mut open = vec![Open { begin: 0, end: needles.len() as u32, depth: 0 }];
        // The states of one depth after those of the one before: a fallback, which is less deep, is always done.
        let mut at = 0;
        while at < open.len() {
            automaton.follow(at as u16, &needles, &mut open);
            at += 1;
        }
        automaton
    }

    /// Adds the states that follow this one.
    fn follow(&mut self, at: u16, needles: &[(&[u8], u8)], open: &mut Vec<Open>) {
        let Open { mut begin, end, depth } = open[usize::from(at)];
        let state = self.states[usize::from(at)];
        self.found[usize::from(at)] |= self.found[usize::from(state.fallback)];
        while begin < end && needles[begin as usize].0.len() == depth as usize {
            self.found[usize::from(at)] |= 1 << (needles[begin as usize].1 & 127);
            begin += 1;
        }
        let next = self.states.len() as u16;
        while begin < end {
            let byte = needles[begin as usize].0[depth as usize];
            let same = needles[begin as usize..end as usize].iter();
            let after = begin + same.take_while(|(needle, _)| needle[depth as usize] == byte).count() as u32;
            let fallback = if at == 0 { 0 } else { self.step(state.fallback, byte) };
            if let Some(row) = self.rows.get_mut(usize::from(at)) {
                row[usize::from(byte)] = self.states.len() as u16;
            }
            self.states.push(State { byte, fallback, ..State::default() });
            self.found.push(0);
            open.push(Open { begin, end: after, depth: depth + 1 });
            begin = after;
        }
        let state = &mut self.states[usize::from(at)];
        state.next = next;
        state.follows = open.len() as u16 - next;
        if at == 0 {
            // Each begins like the first, where what it reads leads no further.
            self.rows.resize(self.states.len(), self.rows[0]);
        }
    }

    fn step(&self, mut at: u16, byte: u8) -> u16 {
        loop {
            if let Some(row) = self.rows.get(usize::from(at)) {
                return row[usize::from(byte)];
            }
            let state = &self.states[usize::from(at)];
            let begin = usize::from(state.next);
            let follows = &self.states[begin..begin + usize::from(state.follows)];
            if let Ok(index) = follows.binary_search_by_key(&byte, |state| state.byte) {
                return state.next + index as u16;
            }
            at = state.fallback;
        }
    }

    /// The fields of which a needle stands in the text.
    pub(super) fn search(&self, text: &[u8]) -> Found {
        let mut found = 0;
        let mut at = 0;
        for byte in text {
            at = self.step(at, *byte);
            // Most of the time nothing has begun.
            if at != 0 {
                found |= self.found[usize::from(at)];
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_finds_what_is_there_and_nothing_else(
            needles in prop::collection::vec("[a-c]{1,5}", 0..20),
            text in "[a-d]{0,60}",
        ) {
            let numbered = || needles.iter().enumerate().map(|(number, needle)| (needle.as_bytes(), number as u8));
            let expected = numbered()
                .filter(|(needle, _)| memchr::memmem::find(text.as_bytes(), needle).is_some())
                .fold(0, |found, (_, number)| found | 1 << number);
            prop_assert_eq!(Automaton::new(numbered()).search(text.as_bytes()), expected);
        }
    }

    #[test]
    fn every_byte_may_follow_every_state() {
        let needles: Vec<[u8; 2]> = (0..=255).flat_map(|one| [[one, b'x'], [b'y', one]]).collect();
        let automaton = Automaton::new(needles.iter().map(|needle| (&needle[..], 7)));
        assert!(needles.iter().all(|needle| automaton.search(needle) == 1 << 7));
        assert_eq!(automaton.search(b"ab"), 0);
    }
}
