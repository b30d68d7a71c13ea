//! Call: one step's question with its arguments bound: all that asking takes, perhaps more than once. Made by `compose`;
//! carried out by whoever has the source.

use std::fmt::Write;
use std::sync::Arc;

use bytes::Bytes;
use expression::{Arguments, Parameter};
use http::{HeaderMap, Method};
use plan::{HttpForm, Read, SourceId, Statement};

/// See the module.
#[derive(Clone, Debug)]
pub struct BoundCall {
    /// Whom it asks.
    pub source: SourceId,
    /// What it asks.
    pub question: Question,
}

/// What a step asks, by the kind of its source.
#[derive(Clone, Debug)]
pub enum Question {
    /// Of an origin.
    Http {
        /// The method.
        method: Method,
        /// How the content of the response is read.
        form: HttpForm,
        /// Path and query.
        target: Box<str>,
        /// Fields.
        fields: HeaderMap,
        /// Content, as JSON.
        body: Option<Bytes>,
    },
    /// Of a Redis or a store.
    Read {
        /// The command and its form.
        read: Arc<Read>,
        /// What stands behind the command.
        arguments: Arguments,
    },
    /// Of a database.
    Sql {
        /// Taken apart at its placeholders.
        statement: Arc<Statement>,
        /// One for each placeholder.
        parameters: Vec<Parameter>,
    },
    /// Of a module.
    Wasm {
        /// What is called.
        function: Box<str>,
        /// What it gets.
        input: Bytes,
    },
}

impl BoundCall {
    /// Whether it only reads, so that it may be made once for several who ask the same, and again where it failed.
    pub fn is_safe(&self) -> bool {
        match &self.question {
            Question::Http { method, .. } => method.is_safe(),
            Question::Read { .. } | Question::Wasm { .. } => true,
            Question::Sql { statement, .. } => statement.reads,
        }
    }

    /// Appends what makes it this call and no other of its plan: equal bytes, equal call.
    pub fn write_identity(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.source.place() as u64).to_be_bytes());
        // Together with others it is sent in another way; what it gives is the same, so that what is stored is too.
        let is_batched =
            matches!(&self.question, Question::Sql { statement, .. } if statement.batch.is_some());
        out.push(u8::from(is_batched));
        self.question.parts(&mut |part| {
            // With its length, so that no two lists of parts are the same bytes.
            out.extend_from_slice(&(part.len() as u64).to_be_bytes());
            out.extend_from_slice(part);
        });
    }

    /// The same as a path, for people and for keys that outlive the plan: every part behind a slash, encoded.
    pub fn path(&self) -> String {
        let mut out = String::new();
        self.question.parts(&mut |part| write_segment(part, &mut out));
        out
    }
}

impl Question {
    /// Everything that makes it this question and no other of its source, part by part.
    fn parts(&self, part: &mut dyn FnMut(&[u8])) {
        match self {
            Question::Http { method, form, target, fields, body } => {
                part(format!("{method}-{form:?}").as_bytes());
                part(target.as_bytes());
                for (name, value) in fields {
                    part(name.as_str().as_bytes());
                    part(value.as_bytes());
                }
                // Apart from a field's name, which is never empty.
                part(b"");
                part(body.as_deref().unwrap_or_default());
            }
            Question::Read { read, arguments } => {
                part(format!("{}-{:?}", read.command.word(), read.form).as_bytes());
                arguments.iter().for_each(part);
            }
            Question::Sql { statement, parameters } => {
                // Where one ends counts: a question mark may be a placeholder or be written.
                statement.pieces.iter().for_each(|piece| part(piece.as_bytes()));
                part(format!("{:?}", statement.rows).as_bytes());
                // Texts and numbers are told apart by how they are shown.
                for parameter in parameters {
                    part(format!("{parameter:?}").as_bytes());
                }
            }
            Question::Wasm { function, input } => {
                part(function.as_bytes());
                part(input);
            }
        }
    }
}

fn write_segment(part: &[u8], out: &mut String) {
    out.push('/');
    for byte in part {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') {
            out.push(char::from(*byte));
        } else {
            let _infallible = write!(out, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::Rows;

    use super::*;

    fn sql(pieces: [&str; 2]) -> BoundCall {
        let pieces = pieces.map(str::to_owned).to_vec();
        let statement = Statement { pieces, reads: true, rows: Rows::All, batch: None };
        let question = Question::Sql { statement: Arc::new(statement), parameters: Vec::new() };
        BoundCall { source: SourceId::at(0), question }
    }

    #[test]
    fn a_written_question_mark_is_no_placeholder() {
        let [one, other] = [sql(["a ? b = ", ""]), sql(["a ", " b = ?"])];
        assert_ne!(one.path(), other.path());
        let identity = |call: &BoundCall| {
            let mut out = Vec::new();
            call.write_identity(&mut out);
            out
        };
        assert_ne!(identity(&one), identity(&other));
        assert_eq!(identity(&one), identity(&one.clone()));
    }
}
