//! What the stories on `wasm` begin with: a module whose functions say what a story writes, and a fleetfoot that has it as the source
//! `tools` and calls it around an origin.

use std::fmt::Write as _;
use std::path::PathBuf;

use tempfile::TempDir;
use testkit::{Answer, Fleetfoot, Origin};

use crate::composing::support::config_with;

/// Where it puts what it says, behind what it is told: 384 KiB at most.
const TOLD: usize = 0x2_0000;
const SAID: usize = 0x8_0000;

/// A module on disk.
pub(crate) struct Module {
    folder: TempDir,
}

impl Module {
    /// Each function says its text; `…` in one stands for what it is told. There are `traps` and `endless` besides.
    pub(crate) fn new(functions: &[(&str, &str)]) -> Self {
        let module = Module { folder: tempfile::tempdir().expect("a temporary folder") };
        module.write(functions);
        module
    }

    /// Writes other functions in their place.
    pub(crate) fn write(&self, functions: &[(&str, &str)]) {
        std::fs::write(self.file(), wat(functions)).expect("the file is written");
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("tools.wat")
    }

    /// As an entry of `sources`; `more` stands behind a comma.
    pub(crate) fn source(&self, more: &str) -> String {
        format!("tools: {{ wasm: {}{more} }}", self.file().display())
    }

    /// A policy `p` of these words on a route, on a source and on a step, as [`EVERYWHERE`](super::support::EVERYWHERE) says.
    pub(crate) fn everywhere(&self, origin: &Origin, policy: &str) -> Fleetfoot {
        let url = origin.url();
        let sources =
            [format!("plain: \"{url}\""), format!("wrapped: {{ http: \"{url}\", use: p }}"), self.source("")];
        let routes = [
            "match: /route, proxy: plain, use: p",
            "match: /source, proxy: wrapped",
            "match: GET /step, compose: { it: { plain: GET /step, use: p } }, respond: \"${it}\"",
        ];
        let top = format!("cores: 1\npolicies: {{ p: {{ {policy} }} }}");
        Fleetfoot::start(&config_with(&top, &sources.each_ref().map(String::as_str), &routes))
    }

    /// These policies, each a line, around an origin that is the source `api`.
    pub(crate) fn around(&self, origin: &Origin, policies: &str, routes: &[&str]) -> Fleetfoot {
        Fleetfoot::start(&self.config(origin, policies, routes))
    }

    /// The same, as a config.
    pub(crate) fn config(&self, origin: &Origin, policies: &str, routes: &[&str]) -> String {
        let sources = [format!("api: \"{}\"", origin.url()), self.source(", timeout: 300ms")];
        let top = format!("cores: 1\npolicies:\n{policies}");
        config_with(&top, &sources.each_ref().map(String::as_str), routes)
    }
}

/// How often functions were called.
pub(crate) fn calls(fleetfoot: &Fleetfoot) -> u64 {
    fleetfoot.metrics().count("fleetfoot_wasm_calls_total")
}

/// What stands in `Fleetfoot-Error`, and the status.
pub(crate) fn failure(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.field("Fleetfoot-Error"))
}

fn wat(functions: &[(&str, &str)]) -> String {
    let mut wat = format!(
        "(module (memory (export \"memory\") 32)\n(func (export \"alloc\") (param i32) (result i32)
  (select (i32.const {TOLD}) (i32.const 0) (i32.le_u (local.get 0) (i32.const {}))))
(func (export \"traps\") (param i32 i32) (result i64) unreachable)
(func (export \"endless\") (param i32 i32) (result i64) (loop $l (br $l)) (i64.const 0))\n",
        SAID - TOLD
    );
    let mut at = 0;
    for (name, text) in functions {
        let (before, after) = text.split_once('…').unwrap_or((text, ""));
        let told = if text.contains('…') { "(local.get 1)" } else { "(i32.const 0)" };
        let (first, last) = (before.len(), after.len());
        let bytes = [before, after].concat().bytes().fold(String::new(), |mut out, byte| {
            write!(out, "\\{byte:02x}").expect("a text takes all");
            out
        });
        writeln!(
            wat,
            "(data (i32.const {at}) \"{bytes}\")
(func (export \"{name}\") (param i32 i32) (result i64)
  (memory.copy (i32.const {SAID}) (i32.const {at}) (i32.const {first}))
  (memory.copy (i32.const {}) (local.get 0) {told})
  (memory.copy (i32.add (i32.const {}) {told}) (i32.const {}) (i32.const {last}))
  (i64.or (i64.const {}) (i64.extend_i32_u (i32.add {told} (i32.const {})))))",
            SAID + first,
            SAID + first,
            at + first,
            SAID << 32,
            first + last
        )
        .expect("a text takes all");
        at += first + last;
    }
    assert!(at < TOLD, "the texts overlap what is told");
    wat + ")"
}
