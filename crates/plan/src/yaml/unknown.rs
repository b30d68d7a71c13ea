//! Unknown: why a key is none of its section's, and what was probably meant. In comes a key, out go a cause and a remedy;
//! called by `section` for every key that the schema does not have there.

use crate::schema::{Section, schema};
use crate::yaml::fault::{Reason, quoted};
use expression::nearest;

impl Section {
    /// Why `key` is none of this section's, and what to write instead. `names` may stand there too, one of them.
    pub(crate) fn unknown(&self, key: &str, names: &[&str]) -> Reason {
        if self.later.contains(&key) {
            let cause = format!("{} is not available in this version", quoted(key));
            return Reason::new(cause, "take it out for now");
        }
        let known = self.known(names);
        let remedy = if let Some((word, value)) = key.split_once(':')
            && self.word(word).is_some()
        {
            format!("put a space behind the colon: {}", quoted(&format!("{word}: {value}")))
        } else if let Some(meant) =
            nearest(key, names.iter().copied().chain(self.words.iter().map(|word| word.name)))
        {
            format!("write `{meant}`")
        } else {
            match schema().iter().find(|section| section.word(key).is_some()) {
                Some(section) if section.path.is_empty() => {
                    format!("write {} at the top of the file, not in here", quoted(key))
                }
                Some(section) => {
                    format!("{} belongs into `{}`; known here: {known}", quoted(key), section.path)
                }
                None => format!("known here: {known}"),
            }
        };
        Reason::new(format!("unknown key {}", quoted(key)), remedy)
    }

    fn known(&self, names: &[&str]) -> String {
        /// A message lists so many names.
        const LISTED: usize = 10;
        let names = names.iter().copied().take(LISTED).chain(self.words.iter().map(|word| word.name));
        names.map(quoted).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{CACHE, POLICY, ROUTE, SOURCE_TLS};

    #[test]
    fn no_word_is_both_known_and_later() {
        for section in schema() {
            for word in section.words {
                assert!(!section.later.contains(&word.name), "{} {}", section.path, word.name);
                assert!(word.meaning.ends_with('.'), "{}", word.meaning);
                assert_eq!(section.words.iter().filter(|other| other.name == word.name).count(), 1);
            }
        }
    }

    #[test]
    fn unknown_keys_get_a_remedy() {
        let policies = POLICY.words.iter().map(|word| format!("`{}`", word.name));
        let policies = policies.collect::<Vec<_>>().join(", ");
        let elsewhere = format!("`ttl` belongs into `policies.<name>.cache`; known here: {policies}");
        for (section, key, cause, remedy) in [
            (&CACHE, "tll", "unknown key `tll`", "write `ttl`"),
            (&CACHE, "ttl:5s", "unknown key `ttl:5s`", "put a space behind the colon: `ttl: 5s`"),
            (&POLICY, "ttl", "unknown key `ttl`", &elsewhere),
            (&ROUTE, "drain", "unknown key `drain`", "write `drain` at the top of the file, not in here"),
            (&SOURCE_TLS, "zebra", "unknown key `zebra`", "known here: `verify`, `authorities`"),
            (&POLICY, "har", "`har` is not available in this version", "take it out for now"),
        ] {
            assert_eq!(section.unknown(key, &[]), Reason::new(cause, remedy), "{key}");
        }
        assert_eq!(POLICY.unknown("dp", &["db"]).remedy, "write `db`");
        assert_eq!(POLICY.unknown("zebra", &["db"]).remedy, format!("known here: `db`, {policies}"));
    }
}
