//! Read: what a route that reads would ask for, and whom.

use http::Method;
use message::RequestView;
use serde::Serialize;
use source::ReadSource;

/// What is read.
#[derive(Clone, Debug, Serialize)]
pub struct ReadAnswer {
    /// The command as it stands in the configuration.
    pub command: String,
    /// What this request makes of what stands behind it; nothing where something is missing.
    pub arguments: Vec<String>,
    /// What is wrong with the request.
    pub missing: Option<String>,
    /// How it is asked for.
    pub way: String,
    /// Whether the answer is at hand.
    pub held: bool,
}

impl ReadAnswer {
    pub(super) fn of(source: &ReadSource, request: &RequestView<'_>) -> Self {
        let explained = source.explain(request);
        let (arguments, missing) = match explained.asked {
            Ok(arguments) => (arguments.iter().map(|text| telemetry::redacted(text)).collect(), None),
            Err(missing) => (Vec::new(), Some(missing)),
        };
        ReadAnswer {
            command: explained.command,
            arguments,
            missing,
            way: explained.way,
            held: explained.is_held,
        }
    }

    pub(super) fn verdict(&self, method: &Method) -> String {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return "refused with 405: this resource is read-only; use GET or HEAD".to_owned();
        }
        match &self.missing {
            Some(missing) => format!("refused with 400: {missing}"),
            None if self.held => format!("answered with what is held; {}", self.way),
            None => format!("read; {}", self.way),
        }
    }
}
