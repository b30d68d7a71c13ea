//! Fault: one thing that is wrong with a config: where, why, and what to write instead.
//!
//! In come places and sentences from every check; out go [`Faults`], sorted, as text for people (with the line and a
//! caret under it) or as JSON. Returned by `load`, `compile` and `up`; shown by the commands.

use std::fmt;

pub(crate) use expression::quoted;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::yaml::masked::{hide, masked};

/// More faults than this are counted but not kept: a file of noise must not become megabytes of messages.
const KEPT: usize = 500;

/// How much of a long source line is shown, in characters.
const WIDTH: usize = 120;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Line in the file, from 1; 0 when no line is to blame (the file is missing).
    pub line: usize,
    /// Column in the line, in characters from 1; 0 when there is none.
    pub column: usize,
    /// How many characters of the line are meant, for the caret.
    #[serde(skip)]
    pub length: usize,
    /// Where in the config, `policies.live.cache.ttl`; empty for the file as a whole.
    pub path: String,
    /// What is wrong.
    pub cause: String,
    /// What to write instead.
    pub remedy: String,
}

/// Everything that is wrong with one file, in the order of its lines. Never empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    file: String,
    lines: Vec<String>,
    kept: Vec<Fault>,
    more: usize,
}

/// What a file may say, but hardly anybody means. Empty for most files; shown by `check`, in the way of faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints(Faults);

/// Why a single value was refused, before it is known where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What is wrong.
    pub cause: String,
    /// What to write instead.
    pub remedy: String,
}

impl Reason {
    /// A reason from its two sentences.
    pub fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Reason { cause: cause.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause, self.remedy)
    }
}

impl std::error::Error for Reason {}

/// A stretch of one source line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// From 1; 0: nowhere.
    pub(crate) line: usize,
    /// From 1; 0: nowhere.
    pub(crate) column: usize,
    /// In characters.
    pub(crate) length: usize,
}

/// Collects faults while a file is checked, so that all of them come at once.
#[derive(Debug, Default)]
pub(crate) struct Report {
    faults: Vec<Fault>,
    more: usize,
    hints: Vec<Fault>,
    secrets: Vec<Place>,
}

impl Report {
    /// Notes that a secret stands there: no excerpt will show it.
    pub(crate) fn secret(&mut self, place: Place) {
        self.secrets.push(place);
    }

    /// Notes one fault.
    pub(crate) fn fault(
        &mut self,
        place: Place,
        path: String,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        if self.is_full() {
            self.more += 1;
            return;
        }
        let Place { line, column, length } = place;
        self.faults.push(Fault { line, column, length, path, cause: cause.into(), remedy: remedy.into() });
    }

    /// Notes what is no fault, and probably not meant.
    pub(crate) fn hint(
        &mut self,
        place: Place,
        path: String,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let Place { line, column, length } = place;
        if self.hints.len() < KEPT {
            self.hints.push(Fault { line, column, length, path, cause: cause.into(), remedy: remedy.into() });
        }
    }

    /// Whether further faults are only counted; then no work for a good remedy is worth doing.
    pub(crate) fn is_full(&self) -> bool {
        self.faults.len() >= KEPT
    }

    /// How many there are so far.
    pub(crate) fn count(&self) -> usize {
        self.faults.len() + self.more
    }

    /// Whether nothing was wrong.
    pub(crate) fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// The faults found in `text`, which people know as `file`.
    pub(crate) fn into_faults(self, file: &str, text: &str) -> Faults {
        Faults::found(file, text, &self.secrets, self.faults, self.more)
    }

    /// The hints, where there is no fault.
    pub(crate) fn into_hints(self, file: &str, text: &str) -> Hints {
        if self.hints.is_empty() {
            return Hints::default();
        }
        Hints(Faults::found(file, text, &self.secrets, self.hints, 0))
    }
}

impl Hints {
    /// By line.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a Hints {
    type Item = &'a Fault;
    type IntoIter = std::slice::Iter<'a, Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Hints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|hint| self.0.write_one(f, "hint", hint))
    }
}

impl Serialize for Hints {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl Faults {
    fn found(file: &str, text: &str, secrets: &[Place], mut kept: Vec<Fault>, more: usize) -> Self {
        kept.sort_by_key(|fault| (fault.line, fault.column));
        let mut lines = masked(text);
        for place in secrets {
            hide(&mut lines, *place);
        }
        Faults { file: file.to_owned(), lines, kept, more }
    }

    /// A single fault of the file as a whole: it is missing, or cannot be read.
    pub fn of_file(file: &str, reason: Reason) -> Self {
        let mut report = Report::default();
        report.fault(Place::default(), String::new(), reason.cause, reason.remedy);
        report.into_faults(file, "")
    }

    /// The file's name, as it was given.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The faults by line. A file of noise shows its first 500.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.kept.iter()
    }

    /// How many there are, those that are not shown included.
    pub fn count(&self) -> usize {
        self.kept.len() + self.more
    }

    /// Writes one as a compiler would: what, where, the line with a caret, what to do. `kind`: what it begins with.
    fn write_one(&self, f: &mut fmt::Formatter<'_>, kind: &str, fault: &Fault) -> fmt::Result {
        writeln!(f, "{kind}: {}", Shown(&fault.cause))?;
        let source = fault.line.checked_sub(1).and_then(|index| self.lines.get(index));
        let gutter = fault.line.max(1).to_string().len();
        match fault.line {
            0 => writeln!(f, "{:gutter$}--> {}", "", Shown(&self.file))?,
            line => writeln!(f, "{:gutter$}--> {}:{line}:{}", "", Shown(&self.file), fault.column)?,
        }
        if let Some(source) = source {
            let excerpt = Excerpt::cut(source, fault.column, fault.length);
            writeln!(f, "{:gutter$} |", "")?;
            writeln!(f, "{} | {}", fault.line, Shown(&excerpt.text))?;
            writeln!(
                f,
                "{:gutter$} | {:indent$}{:^<carets$}",
                "",
                "",
                "",
                indent = excerpt.indent,
                carets = excerpt.carets
            )?;
        }
        if !fault.path.is_empty() {
            writeln!(f, "{:gutter$} = at: {}", "", Shown(&fault.path))?;
        }
        writeln!(f, "{:gutter$} = fix: {}", "", Shown(&fault.remedy))
    }
}

impl<'a> IntoIterator for &'a Faults {
    type Item = &'a Fault;
    type IntoIter = std::slice::Iter<'a, Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.kept {
            self.write_one(f, "error", fault)?;
            writeln!(f)?;
        }
        let noun = if self.count() == 1 { "fault" } else { "faults" };
        write!(f, "{}: {} {noun}", Shown(&self.file), self.count())?;
        if self.more > 0 {
            write!(f, ", the first {} shown", self.kept.len())?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

impl Serialize for Faults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut faults = serializer.serialize_struct("Faults", 3)?;
        faults.serialize_field("file", &self.file)?;
        faults.serialize_field("count", &self.count())?;
        faults.serialize_field("faults", &self.kept)?;
        faults.end()
    }
}

/// A piece of a source line that fits on a screen, and where the caret goes under it.
struct Excerpt {
    text: String,
    indent: usize,
    carets: usize,
}

impl Excerpt {
    fn cut(line: &str, column: usize, length: usize) -> Self {
        let total = line.chars().count();
        let start = column.saturating_sub(1).min(total);
        let first = if total <= WIDTH { 0 } else { start.saturating_sub(WIDTH / 2).min(total - WIDTH) };
        let last = total.min(first + WIDTH);
        let (before, after) = (if first > 0 { "…" } else { "" }, if last < total { "…" } else { "" });
        let middle: String = line.chars().skip(first).take(last - first).collect();
        Excerpt {
            text: format!("{before}{middle}{after}"),
            indent: start - first + before.chars().count(),
            carets: length.min(last.saturating_sub(start)).max(1),
        }
    }
}

/// Text on its way to a terminal: what could move the cursor or turn the line around becomes `�`, a tab a space.
/// One character stays one character, so that carets stay under what they mean.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        self.0.chars().try_for_each(|character| {
            f.write_char(match character {
                '\t' => ' ',
                '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
                    '\u{fffd}'
                }
                other if other.is_control() => '\u{fffd}',
                other => other,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str, place: Place) -> Faults {
        let mut report = Report::default();
        report.fault(place, "limits.drain".to_owned(), "`5` has no unit", "write `5s`");
        report.into_faults("fleetfoot.yaml", text)
    }

    #[test]
    fn renders_like_a_compiler() {
        let shown = faults("a: 1\ndrain: 5\n", Place { line: 2, column: 8, length: 1 }).to_string();
        assert_eq!(
            shown,
            "error: `5` has no unit\n --> fleetfoot.yaml:2:8\n  |\n2 | drain: 5\n  |        ^\n  = at: limits.drain\n  = fix: write `5s`\n\nfleetfoot.yaml: 1 fault"
        );
    }

    #[test]
    fn keeps_long_lines_and_control_characters_off_the_terminal() {
        let line = format!("{}\u{1b}[31m: 5{}", "x".repeat(300), "y".repeat(300));
        let shown = faults(&line, Place { line: 1, column: 301, length: 400 }).to_string();
        assert!(!shown.contains('\u{1b}'));
        assert!(shown.lines().all(|line| line.chars().count() < 140), "{shown}");
    }

    #[test]
    fn places_outside_the_text_do_no_harm() {
        for (line, column, length) in [(9, 9, 9), (1, 99, 0), (0, 0, 0), (1, 0, 99)] {
            assert!(faults("short", Place { line, column, length }).to_string().contains("no unit"));
        }
    }

    #[test]
    fn counts_what_it_does_not_keep() {
        let mut report = Report::default();
        for _ in 0..KEPT + 7 {
            report.fault(Place::default(), String::new(), "wrong", "right");
        }
        let faults = report.into_faults("x", "");
        assert_eq!((faults.iter().count(), faults.count()), (KEPT, KEPT + 7));
        assert!(faults.to_string().ends_with("507 faults, the first 500 shown"));
    }

    #[test]
    fn serializes_for_programs() {
        let json = serde_json::to_value(faults("drain: 5", Place { line: 1, column: 8, length: 1 })).unwrap();
        assert_eq!(json["file"], "fleetfoot.yaml");
        assert_eq!(json["count"], 1);
        assert_eq!(json["faults"][0]["line"], 1);
        assert_eq!(json["faults"][0]["path"], "limits.drain");
        assert_eq!(json["faults"][0]["remedy"], "write `5s`");
    }
}
