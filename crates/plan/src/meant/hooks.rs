//! Hooks: what `wasm` of a policy means: functions of a module that are asked before a source is, and with its response.

use super::SourceId;

/// Functions of a module around a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// The policy's name in the file.
    pub name: String,
    /// The module.
    pub module: SourceId,
    /// The function that is told of each request, and may change or answer it.
    pub request: Option<String>,
    /// What is told of each response.
    pub response: Option<ResponseHook>,
    /// Whether a call goes on without a function that failed; otherwise the call fails.
    pub passes: bool,
}

/// A function that is told of each response, and may change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHook {
    /// Its name.
    pub function: String,
    /// Bytes of content that it is given at most; `None`: it is given none, and cannot change it.
    pub body: Option<u64>,
}

impl Hooks {
    /// Every function that is called.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        let response = self.response.as_ref().map(|hook| hook.function.as_str());
        self.request.as_deref().into_iter().chain(response)
    }
}
