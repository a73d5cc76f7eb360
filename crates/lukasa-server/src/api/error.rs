//! API errors in one format, problem+json (RFC 9457). The table in `code` maps a code to a status.
//! The answer for something of another user is
//! the same, byte for byte, as for something that does not exist; hence no request id and no path
//! in the body. The id of the request is in the `Lukasa-Request-Id` header.

use std::any::Any;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lukasa_core::context::listed_line;
use lukasa_engine::{Error, Memory};
use serde::Serialize;
use utoipa::ToSchema;

use super::code::{ErrorCode, ErrorRow, error_row, error_rows};
use super::wire::MemoryView;

/// An error of the API.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Problem {
    /// Address of the code's documentation.
    #[serde(rename = "type")]
    #[schema(example = "/docs/errors#memory_not_found")]
    kind: String,
    #[schema(example = "There is no such memory")]
    pub(crate) title: String,
    #[schema(example = 404)]
    status: u16,
    /// The stable code to program against.
    #[schema(value_type = String, example = "memory_not_found")]
    pub(crate) code: ErrorCode,
    /// What happened, and what to do next.
    pub(crate) detail: String,
    /// What is wrong with each field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) errors: Vec<FieldError>,
    /// Memories that may have been meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) candidates: Vec<MemoryView>,
    /// The same, each as one line for a model.
    #[serde(skip)]
    pub(crate) candidate_lines: Vec<String>,
    /// The operation that blocks the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_id: Option<String>,
    /// The domain that the user must open first.
    #[serde(rename = "domain", skip_serializing_if = "Option::is_none")]
    #[schema(rename = "domain")]
    pub(crate) closed_domain: Option<String>,
    /// After how many seconds to try again, if known.
    #[serde(skip)]
    retry_after_seconds: Option<u64>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FieldError {
    /// A JSON pointer into the request.
    #[schema(example = "/content")]
    pub pointer: String,
    #[schema(example = "at most 2000 characters")]
    pub detail: String,
}

impl Problem {
    pub fn of(code: ErrorCode) -> Self {
        let ErrorRow { code, status, title, advice } = error_row(code);
        Self {
            kind: format!("/docs/errors#{code}"),
            title: title.to_owned(),
            status,
            code,
            detail: advice.to_owned(),
            errors: Vec::new(),
            candidates: Vec::new(),
            candidate_lines: Vec::new(),
            operation_id: None,
            closed_domain: None,
            retry_after_seconds: None,
        }
    }

    pub fn is(&self, code: ErrorCode) -> bool {
        self.code == code
    }

    /// Title and detail as one text.
    pub fn sentence(&self) -> String {
        format!("{}. {}", self.title, self.detail)
    }

    /// Adds the fields that are not valid.
    pub fn fields(mut self, errors: Vec<FieldError>) -> Self {
        self.errors = errors;
        self
    }

    /// An invalid value in the body: a field by its pointer without the first slash, and what it must be.
    pub fn invalid(field: &str, detail: &str) -> Self {
        let field = FieldError { pointer: format!("/{field}"), detail: detail.to_owned() };
        Self::of(ErrorCode::InvalidRequest).fields(vec![field])
    }

    /// Sets the time after which to try again.
    pub fn retry(mut self, after: std::time::Duration) -> Self {
        self.retry_after_seconds = Some(after.as_secs() + u64::from(after.subsec_nanos() > 0));
        self
    }

    /// Adds the cause before the advice.
    pub fn because(mut self, what: &str) -> Self {
        self.detail = format!("{what}. {}", self.detail);
        self
    }
}

/// The id of a memory and its line, as `mem_…: [schedule] earliest: 16:00 (rule, confirmed 2026-11-08)`.
pub(crate) fn memory_line(memory: &Memory) -> String {
    format!("{}: {}", memory.version.fact, listed_line(&memory.version))
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let mut problem = Problem::of(error.code());
        match &error {
            Error::Invalid(faults) => {
                let field = |f: &lukasa_engine::InvalidField| FieldError {
                    pointer: format!("/{}", f.field),
                    detail: f.reason.clone(),
                };
                problem.errors = faults.iter().map(field).collect();
            }
            Error::Ambiguous(candidates) => {
                problem.candidates = candidates.iter().map(MemoryView::from).collect();
                problem.candidate_lines = candidates.iter().map(memory_line).collect();
            }
            Error::KeyTaken(Some(holder)) => {
                problem.candidates = vec![MemoryView::from(&**holder)];
                problem.candidate_lines = vec![memory_line(holder)];
            }
            Error::OptInNeeded(domain) => {
                problem = problem.because(&format!("The text belongs to the domain `{domain}`"));
                problem.closed_domain = Some(domain.clone());
            }
            Error::SecretRejected(kind) => {
                problem = problem.because(&format!("The text contains {kind}"));
            }
            Error::KeyReplaced(newer) => {
                problem = problem.because(&format!("The newer key is `{newer}`"));
            }
            Error::SecretReplaced(until) => {
                problem = problem.because(&format!("The overlap ends at {until:.0}"));
            }
            Error::UndoBlocked(by) => problem.operation_id = Some(by.to_string()),
            Error::Journal(reason) => {
                tracing::error!(reason, "could not write the erasure journal");
            }
            Error::Unavailable(source) => tracing::warn!(error = %source, "database unavailable"),
            Error::SchemaMissing(source) => tracing::error!(error = ?source, "schema missing"),
            Error::SchemaRefused(source) => tracing::error!(error = %source, "schema refused"),
            Error::Internal(source) => tracing::error!(error = ?source, "internal error"),
            _ => {}
        }
        problem
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(&self)).into_response();
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        match status {
            StatusCode::UNAUTHORIZED => {
                let scheme = HeaderValue::from_static("Bearer");
                headers.insert(header::WWW_AUTHENTICATE, scheme);
            }
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                let seconds = self.retry_after_seconds.unwrap_or(1).max(1);
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            _ => {}
        }
        response
    }
}

pub fn panicked(_panic: Box<dyn Any + Send>) -> Response {
    tracing::error!("a handler panicked");
    Problem::of(ErrorCode::Internal).into_response()
}

/// Renders the table as markdown for `docs/errors.md`.
pub fn render_error_docs() -> String {
    let mut page = String::from(
        "# Errors\n\nEvery error is `application/problem+json` (RFC 9457) with a stable `code`. \
         Program against the code; the texts may change. The id of the request is in the \
         `Lukasa-Request-Id` header of every answer.\n\n\
         This page is generated from the table in `crates/lukasa-server/src/api/code.rs` \
         by `just docs`.\n\n| code | status | what it means | what to do |\n|---|---|---|---|\n",
    );
    for ErrorRow { code, status, title, advice } in error_rows() {
        page.push_str(&format!(
            "| <a id=\"{code}\"></a>`{code}` | {status} | {title} | {advice} |\n"
        ));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_has_code_and_advice() {
        let problem = Problem::from(Error::MemoryNotFound);
        assert_eq!((problem.status, problem.code), (404, ErrorCode::MemoryNotFound));
        assert!(problem.detail.contains("GET /api/memory"));
    }
}
