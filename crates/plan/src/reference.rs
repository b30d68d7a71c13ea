//! Reference: the schema as a page for people, `docs/reference/configuration.md`. A test holds that the page is this one.

use std::fmt::Write;

use crate::schema::{Section, schema};

const HEAD: &str = "# Configuration

<!-- Written from the schema in crates/plan; `FLEETFOOT_WRITE=1 cargo test -p plan` writes it anew. -->

One YAML file, checked as a whole: `fleetfoot check FILE` names every fault with its line, its cause and what to write
instead. An unknown key is a fault. Nothing is guessed.

- A duration is a whole number and `ms`, `s`, `m`, `h` or `d`: `50ms`, `5s`, `2m`, `1h`.
- A size is a whole number and `B`, `KiB`, `MiB`, `GiB` or `TiB`: `64MiB`.
- A share is a number and `%`: `10%`.
- `${…}` is an [expression](expressions.md) over the request; where one may stand, the key says so. Inside `{ }` and `[ ]`
  it needs quotes.
- `true` and `false` are written so, and in no other way.
- Where a list may stand, one value may stand alone.
- Anchors, aliases, tags and several documents are not part of the language; the file is at most 1 MiB.

A whole file to start from is [`examples/fleetfoot.yaml`](../../examples/fleetfoot.yaml); recipes are in
[what to cache](../guide/what-to-cache.md).
";

/// The page, in Markdown.
pub fn reference() -> String {
    schema().iter().fold(HEAD.to_owned(), |mut page, section| {
        page.push_str(&describe(section));
        page
    })
}

fn describe(section: &Section) -> String {
    let mut part = String::new();
    let title = if section.path.is_empty() { "The file".to_owned() } else { format!("`{}`", section.path) };
    // Writing to a String cannot fail.
    let _ = write!(part, "\n## {title}\n\n{}\n\n```yaml\n{}\n```\n\n", section.meaning, section.example);
    part.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    for word in section.words {
        let default = word.default.map_or_else(|| "–".to_owned(), |default| format!("`{default}`"));
        let _ = writeln!(part, "| `{}` | {} | {default} | {} |", word.name, word.form, word.meaning);
    }
    if !section.later.is_empty() {
        let later = section.later.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(part, "\nNot available in this version: {later}.");
    }
    for word in section.words {
        if let Some(more) = &word.more {
            let _ = write!(
                part,
                "\n### `{}`\n\n{}\n\n```yaml\n{}\n```\n",
                word.name, more.paragraph, more.example
            );
        }
    }
    part
}
