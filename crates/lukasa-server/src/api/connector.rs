//! Authentication of requests to the MCP endpoint, which also takes access tokens of connectors.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use lukasa_core::Caller;
use lukasa_core::secret::{self, Prefix};
use lukasa_engine::credentials::VerifiedCredential;

use super::App;
use super::auth::user_of;
use super::code::ErrorCode;
use super::error::Problem;

impl App {
    /// The address of the built-in OAuth server, if it is on.
    pub(crate) fn issuer(&self) -> Option<String> {
        self.mcp().issuer().filter(|_| !self.is_local())
    }

    /// The address of the MCP endpoint, for which access tokens are issued.
    pub(crate) fn resource(&self) -> Option<String> {
        self.issuer().map(|issuer| format!("{issuer}/mcp"))
    }

    /// Authenticates a request to the MCP endpoint and returns what the credential allows, and the
    /// caller. Permissions must be checked afterwards.
    pub(crate) async fn admit_mcp_caller(
        &self,
        headers: &HeaderMap,
    ) -> Result<(VerifiedCredential, Caller), Problem> {
        let admitted = match access_token(headers).filter(|_| !self.is_local()) {
            Some(token) => self.admit_access_token(token).await?,
            None => self.admit(headers).await?,
        };
        let user = user_of(self, &admitted, headers)?;
        let caller = self.caller_about(&admitted, &user).await?;
        Ok((admitted, caller))
    }

    /// Authenticates an access token, if it was issued for this MCP endpoint.
    async fn admit_access_token(&self, token: &str) -> Result<VerifiedCredential, Problem> {
        let refused = || Problem::of(ErrorCode::Unauthenticated);
        let resource = self.resource().ok_or_else(refused)?;
        let admitted = self.admit_credential(Some(token)).await?;
        if admitted.resource.as_ref() != Some(&resource) {
            return Err(refused());
        }
        self.limits().count_credential(&admitted)?;
        Ok(admitted)
    }
}

/// The access token of a connector in a request.
fn access_token(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
    secret::parse(text).filter(|presented| presented.prefix == Prefix::Access)?;
    Some(text)
}
