//! Nothing: what a route answers where there is nothing to read, made once per route in both forms in which clients are
//! told: what is held of a key without a value goes out without being allocated.

use bytes::Bytes;
use http::StatusCode;
use http::header::CONTENT_LENGTH;
use message::{Body, Response};
use response::Form;

/// See the module.
#[derive(Debug)]
pub(crate) struct Nothing {
    status: StatusCode,
    plain: Told,
    problem: Told,
}

#[derive(Debug)]
struct Told {
    /// Status line and fields, each ended by CRLF.
    head: Box<[u8]>,
    body: Bytes,
}

impl Nothing {
    pub(crate) fn new(status: StatusCode) -> Self {
        Nothing { status, plain: Told::new(status, Form::Plain), problem: Told::new(status, Form::Problem) }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Appends the head, each line ended by CRLF, without the empty one.
    pub(crate) fn write_head(&self, form: Form, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.told(form).head);
    }

    pub(crate) fn body(&self, form: Form) -> &Bytes {
        &self.told(form).body
    }

    /// The same as a response.
    pub(crate) fn response(&self, form: Form) -> Response {
        response::missing(self.status, form)
    }

    fn told(&self, form: Form) -> &Told {
        match form {
            Form::Plain => &self.plain,
            Form::Problem => &self.problem,
        }
    }
}

impl Told {
    fn new(status: StatusCode, form: Form) -> Self {
        let Response { status, mut fields, body } = response::missing(status, form);
        let body = match body {
            Body::Whole(content) => content,
            Body::Empty | Body::Stream(_) | Body::Tunnel(_) => Bytes::new(),
        };
        if status != StatusCode::NO_CONTENT {
            fields.insert(CONTENT_LENGTH, body.len().into());
        }
        let mut head = Vec::with_capacity(256);
        http1::write_status_line(&mut head, status);
        http1::write_fields(&mut head, &fields);
        Told { head: head.into(), body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(status: StatusCode, form: Form) -> String {
        let nothing = Nothing::new(status);
        let mut out = Vec::new();
        nothing.write_head(form, &mut out);
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(nothing.body(form));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn it_is_told_as_the_client_accepts_it() {
        let plain = written(StatusCode::NOT_FOUND, Form::Plain);
        assert!(plain.starts_with("HTTP/1.1 404 Not Found\r\n"), "{plain}");
        assert!(plain.contains("content-length: 35\r\n"), "{plain}");
        assert!(plain.ends_with("\r\n\r\nnothing was found for this request\n"), "{plain}");
        let problem = written(StatusCode::NOT_FOUND, Form::Problem);
        assert!(problem.contains("content-type: application/problem+json\r\n"), "{problem}");
        assert!(problem.contains("\"error\":\"missing\""), "{problem}");
    }

    #[test]
    fn rfc9110_8_6_a_204_has_no_length() {
        let empty = written(StatusCode::NO_CONTENT, Form::Problem);
        assert!(!empty.contains("content-length") && empty.ends_with("\r\n\r\n"), "{empty}");
    }
}
