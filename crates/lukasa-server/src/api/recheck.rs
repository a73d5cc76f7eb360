//! Checks, in the middle of long work, that the credential with which it began still admits. A
//! revocation reaches work under way with this.

use std::fmt;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use lukasa_core::Timestamp;
use lukasa_engine::credentials::VerifiedCredential;

use super::App;
use super::auth::{CheckReason, sign_in_cookie};
use super::error::Problem;

/// A credential that was admitted, kept for another check.
#[derive(Clone, Default)]
pub(crate) struct HeldCredential {
    text: Option<String>,
    expires_at: Option<Timestamp>,
}

impl fmt::Debug for HeldCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeldCredential")
    }
}

impl HeldCredential {
    pub(crate) fn new(text: Option<&str>, admitted: &VerifiedCredential) -> Self {
        Self { text: text.map(str::to_owned), expires_at: admitted.expires_at }
    }

    /// The credential in the headers of an admitted request.
    pub(crate) fn of(headers: &HeaderMap, admitted: &VerifiedCredential) -> Self {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let text = bearer.and_then(|text| text.strip_prefix("Bearer "));
        Self::new(text.or_else(|| sign_in_cookie(headers)), admitted)
    }
}

impl App {
    /// Checks that a credential has not been revoked, and its user not deleted, since it was
    /// admitted. One that has only expired meanwhile passes: the work began in time.
    pub(crate) async fn recheck(&self, credential: &HeldCredential) -> Result<(), Problem> {
        let now = self.clock().now();
        let before_end = |end: Timestamp| (end - Duration::from_millis(1)).min(now);
        let at = credential.expires_at.map_or(now, before_end);
        let (reason, text) = (CheckReason::WorkUnderWay, credential.text.as_deref());
        self.admit_credential_for(reason, text, at).await.map(drop)
    }
}
