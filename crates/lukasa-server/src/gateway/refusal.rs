//! Errors in the OpenAI format, so that chat clients show the cause instead of "unknown error". The
//! codes are those of the table in `api/code.rs`.

use axum::Json;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::api::code::ErrorCode;
use crate::api::error::Problem;

/// A problem as an error for chat clients.
#[derive(Debug)]
pub struct GatewayError(Problem);

impl GatewayError {
    pub fn of(code: ErrorCode) -> Self {
        Self(Problem::of(code))
    }

    pub fn because(code: ErrorCode, what: &str) -> Self {
        Self(Problem::of(code).because(what))
    }
}

impl From<Problem> for GatewayError {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl IntoResponse for GatewayError {
    fn into_response(self) -> Response {
        let (code, message) = (self.0.code, self.0.sentence());
        let (mut parts, _) = self.0.into_response().into_parts();
        let kind = match parts.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            429 if code == ErrorCode::BudgetSpent => "insufficient_quota",
            429 => "rate_limit_error",
            400..500 => "invalid_request_error",
            _ => "server_error",
        };
        let body =
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}});
        parts.headers.remove(CONTENT_LENGTH);
        parts.headers.remove(CONTENT_TYPE);
        (parts.status, parts.headers, Json(body)).into_response()
    }
}
