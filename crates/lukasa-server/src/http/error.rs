//! API errors: one table from code to status, and one format, problem+json (RFC 9457).
//!
//! This is the only place that maps a code to a status. The answer for something of another user is
//! the same, byte for byte, as for something that does not exist; hence no request id and no path
//! in the body. The id of the request is in the `Lukasa-Request-Id` header.

use std::any::Any;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lukasa_engine::Error;
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::MemoryView;

/// An error code with its status, title and advice.
pub struct ErrorCode {
    pub code: &'static str,
    pub status: u16,
    pub title: &'static str,
    pub advice: &'static str,
}

const fn entry(
    code: &'static str,
    status: u16,
    title: &'static str,
    advice: &'static str,
) -> ErrorCode {
    ErrorCode { code, status, title, advice }
}

/// Every error of the API. `docs/errors.md` is generated from this table.
#[rustfmt::skip]
pub const TABLE: &[ErrorCode] = &[
    entry("invalid_request", 422, "The request is not valid",
        "Look at `errors`: each names a field and what it must be."),
    entry("malformed_body", 400, "The body is not the JSON this operation takes",
        "Compare it with the operation in /openapi.json; unknown fields are refused."),
    entry("malformed_query", 400, "A query parameter is not valid",
        "Compare it with the operation in /openapi.json."),
    entry("malformed_header", 400, "A header is not valid",
        "`Idempotency-Key` is 1 to 255 printable characters; `If-Match` is an ETag as it was given; `X-Lukasa-User` \
         and `X-Lukasa-Session` are 1 to 255 characters of UTF-8; `X-Lukasa-Mode` is on, read-only or off."),
    entry("malformed_cursor", 400, "The cursor is not valid",
        "Pass `next_cursor` back as it was given, or start again without one."),
    entry("unsupported_media_type", 415, "The body must be JSON",
        "Send `Content-Type: application/json`; an import may be `application/jsonl` or `application/zip`."),
    entry("body_too_large", 413, "The body is too large",
        "A request may have up to 256 KiB; turns up to 4 MiB, a vault up to 16 MiB, an import up to 64 MiB, a chat \
         through `/v1` what `--gateway-body` says. JSON may have up to 200,000 values."),
    entry("request_timeout", 408, "The body did not arrive in time",
        "Send it again, over a faster connection or in smaller parts."),
    entry("malformed_archive", 400, "The ZIP is not an export that can be imported",
        "Check it with `lukasa export --verify FILE.zip`, or export again."),
    entry("unsupported_version", 400, "This API version is not supported",
        "Leave out `Lukasa-Version`, or send the version that every answer has in this header."),
    entry("user_required", 400, "The request does not say whose memory it is about",
        "Send `X-Lukasa-User` with your own id for the user."),
    entry("unauthenticated", 401, "The credential is missing, unknown, expired or revoked",
        "Send `Authorization: Bearer lk_live_...`; make a key with `lukasa key create`."),
    entry("forbidden", 403, "The credential does not allow this",
        "Use a credential with the permission that the operation names."),
    entry("wrong_user", 403, "The credential is bound to another user",
        "Leave out `X-Lukasa-User`; the credential determines the user."),
    entry("cross_site", 403, "The request comes from another site",
        "Without authentication only this machine's own pages and programs are answered."),
    entry("human_needed", 403, "Only the user can do this",
        "Ask the user to do it in the console or with a user token from `POST /api/tokens`."),
    entry("opt_in_needed", 403, "The user has not opened this domain, so nothing about it is stored",
        "Ask the user: open it with `PUT /api/domains/{name}/opt-in`, keep this one with `keep_without_domain`, or \
         drop it."),
    entry("secret_rejected", 422, "Secrets are not stored",
        "Save where the secret is kept instead, such as \"API keys are in the password manager\"."),
    entry("not_found", 404, "There is no such route",
        "The operations are listed in /openapi.json."),
    entry("method_not_allowed", 405, "The route does not take this method",
        "The operations are listed in /openapi.json."),
    entry("memory_not_found", 404, "There is no such memory",
        "List memories with `GET /api/memory?status=all`."),
    entry("operation_not_found", 404, "There is no such operation",
        "List operations with `GET /api/operations`."),
    entry("link_not_found", 404, "There is no such link",
        "List a memory's links with `GET /api/memory/{id}/links`."),
    entry("domain_not_found", 404, "There is no such domain",
        "List domains with `GET /api/domains`, or leave the domain out."),
    entry("user_not_found", 404, "There is no such user",
        "List users with `GET /api/users`."),
    entry("key_not_found", 404, "There is no such key",
        "List keys with `GET /api/keys`."),
    entry("session_not_found", 404, "There is no such session",
        "List sessions with `GET /api/sessions`, or open it by appending a turn."),
    entry("job_not_found", 404, "There is no failed job with this id",
        "List jobs with `GET /api/jobs`."),
    entry("turn_not_found", 404, "There is no such turn",
        "List a session's turns with `GET /api/sessions/{id}/turns`."),
    entry("episode_not_found", 404, "There is no such episode",
        "List episodes with `GET /api/episodes`."),
    entry("portrait_not_found", 404, "There is no such portrait",
        "List portraits with `GET /api/portraits`."),
    entry("import_not_found", 404, "There is no such import",
        "List imports with `GET /api/imports`."),
    entry("webhook_not_found", 404, "There is no such webhook",
        "List webhooks with `GET /api/webhooks`."),
    entry("delivery_not_found", 404, "There is no such delivery",
        "List deliveries with `GET /api/webhooks/{id}/deliveries`; they are kept for 30 days."),
    entry("too_many_streams", 429, "Too many open event streams for this user",
        "One server allows 20 open event streams per user; close one, or share one."),
    entry("no_chat_model", 409, "No chat model is configured",
        "Serve with `--chat MODEL@URL`; see `lukasa serve --help`."),
    entry("signed_in_already", 409, "This browser is signed in already",
        "Sign out first, then follow the link again: it was not used up."),
    entry("no_contradiction", 409, "The memory has no open contradiction",
        "List contradictions with `GET /api/memory/contradictions`."),
    entry("retrieval_not_found", 404, "There is no such retrieval",
        "Retrievals are kept for 90 days."),
    entry("model_not_found", 404, "No embeddings were made with this model",
        "List the models with `lukasa reembed --list`."),
    entry("model_unavailable", 503, "A model did not answer",
        "Try again; `lukasa doctor` says which model is missing."),
    entry("no_upstream", 404, "No model service is configured for this gateway",
        "Serve with `--upstream URL` (or set `LUKASA_UPSTREAM`), as `--upstream https://api.openai.com/v1`; see \
         docs/gateway.md."),
    entry("upstream_unavailable", 502, "The model service behind this gateway did not answer",
        "Check that the address in `--upstream` is right and the service is running, then try again."),
    entry("no_embedder", 404, "No embedder is configured",
        "Fetch one with `lukasa model get potion`, or serve with `--embeddings-url`; see `lukasa serve --help`."),
    entry("user_deleted", 410, "The user has been deleted",
        "Create the user again with `POST /api/users` to use this id again."),
    entry("answer_erased", 410, "The answer was erased together with its memory",
        "Use a new `Idempotency-Key` for a new request."),
    entry("ambiguous_target", 409, "The text occurs in several memories",
        "Name one of the `candidates` by its id."),
    entry("key_taken", 409, "Another memory has this domain and key",
        "Update the memory in `candidates` instead."),
    entry("not_active", 409, "The memory is not active",
        "Restore it first, or look at its status."),
    entry("not_gone", 409, "The memory is neither forgotten nor in the trash",
        "There is nothing to restore."),
    entry("not_proposed", 409, "The memory is not waiting for an answer",
        "Use forget or delete for a memory that is active."),
    entry("not_valid_then", 409, "The memory is not valid at that time",
        "Give a time within its validity, or use `mode: correction`."),
    entry("empty_validity", 422, "The validity would be empty",
        "`valid_until` must be later than `valid_from`."),
    entry("overlapping_validity", 409, "The validity overlaps another version of the memory",
        "Look at its history and give dates that do not overlap."),
    entry("unchanged", 409, "Nothing would change",
        "There is nothing to do."),
    entry("less_trusted", 403, "An extracted or imported memory cannot replace a stated one",
        "Propose it instead, and let the user decide."),
    entry("other_words", 409, "The confirmed words are not the stored words",
        "Show the proposal again and send the `sha256` it now has."),
    entry("link_exists", 409, "The memories already have this link",
        "There is nothing to do."),
    entry("undo_blocked", 409, "A later operation touched the same memory",
        "Undo the operation in `operation_id` first."),
    entry("already_undone", 409, "The operation has been undone, or its result has been replaced since",
        "To do it again, undo the undo."),
    entry("not_undoable", 409, "What was erased cannot be restored",
        "Purge and erase are final."),
    entry("version_mismatch", 412, "The memory has changed since it was read",
        "Read it again, and send the ETag it now has."),
    entry("idempotency_mismatch", 422, "The idempotency key was used for another request",
        "Use one key for one request, and a new key for a new one."),
    entry("journal_unavailable", 503, "The erasure journal cannot be written",
        "Nothing was erased. Check that the file in the server's `--erasure-journal` is writable, then try again."),
    entry("rate_limited", 429, "Too many requests",
        "Wait as long as `Retry-After` says, then try again with the same `Idempotency-Key`."),
    entry("budget_spent", 429, "The budget for today is spent",
        "Wait until tomorrow (UTC), or let the operator raise `--chat-tokens` or `--chat-key-tokens`."),
    entry("overloaded", 503, "The server is overloaded",
        "Wait as long as `Retry-After` says, then try again with the same `Idempotency-Key`."),
    entry("unavailable", 503, "The database is not available",
        "Try again in a moment, with the same `Idempotency-Key`."),
    entry("internal", 500, "Something went wrong on our side",
        "Report the `Lukasa-Request-Id` of this answer to the operator."),
];

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
    #[schema(example = "memory_not_found")]
    pub(crate) code: String,
    /// What happened, and what to do next.
    pub(crate) detail: String,
    /// What is wrong with each field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) errors: Vec<FieldError>,
    /// Memories that may have been meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) candidates: Vec<MemoryView>,
    /// The operation that blocks the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_id: Option<String>,
    /// The domain that the user must open first.
    #[serde(rename = "domain", skip_serializing_if = "Option::is_none")]
    #[schema(rename = "domain")]
    pub(crate) shut_domain: Option<String>,
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
    pub fn of(code: &str) -> Self {
        // A code without an entry is a bug that the tests find; for the client it is an internal
        // error.
        let internal = &TABLE[TABLE.len() - 1];
        let entry = TABLE.iter().find(|entry| entry.code == code).unwrap_or(internal);
        Self {
            kind: format!("/docs/errors#{}", entry.code),
            title: entry.title.to_owned(),
            status: entry.status,
            code: entry.code.to_owned(),
            detail: entry.advice.to_owned(),
            errors: Vec::new(),
            candidates: Vec::new(),
            operation_id: None,
            shut_domain: None,
            retry_after_seconds: None,
        }
    }

    pub fn is(&self, code: &str) -> bool {
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
            }
            Error::KeyTaken(Some(holder)) => {
                problem.candidates = vec![MemoryView::from(&**holder)];
            }
            Error::OptInNeeded(domain) => {
                problem = problem.because(&format!("The text belongs to the domain `{domain}`"));
                problem.shut_domain = Some(domain.clone());
            }
            Error::SecretRejected(kind) => {
                problem = problem.because(&format!("The text contains {kind}"));
            }
            Error::UndoBlocked(by) => problem.operation_id = Some(by.to_string()),
            Error::Journal(reason) => {
                tracing::error!(reason, "could not write the erasure journal");
            }
            Error::Unavailable(source) => tracing::warn!(error = %source, "database unavailable"),
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

pub async fn no_method() -> Problem {
    Problem::of("method_not_allowed")
}

pub fn panicked(_panic: Box<dyn Any + Send>) -> Response {
    tracing::error!("a handler panicked");
    Problem::of("internal").into_response()
}

/// Renders the table as markdown for `docs/errors.md`.
pub fn render_error_docs() -> String {
    let mut page = String::from(
        "# Errors\n\nEvery error is `application/problem+json` (RFC 9457) with a stable `code`. \
         Program against the code; the texts may change. The id of the request is in the \
         `Lukasa-Request-Id` header of every answer.\n\n\
         This page is generated from the table in `crates/lukasa-server/src/http/error.rs` \
         by `just docs`.\n\n| code | status | what it means | what to do |\n|---|---|---|---|\n",
    );
    for ErrorCode { code, status, title, advice } in TABLE {
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
    fn error_codes_are_unique() {
        let mut codes: Vec<_> = TABLE.iter().map(|entry| entry.code).collect();
        codes.sort_unstable();
        let count = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }

    #[test]
    fn problem_has_code_and_advice() {
        let problem = Problem::from(Error::MemoryNotFound);
        assert_eq!((problem.status, problem.code.as_str()), (404, "memory_not_found"));
        assert!(problem.detail.contains("GET /api/memory"));
        assert_eq!(Problem::of("no such code").code, "internal");
    }
}
