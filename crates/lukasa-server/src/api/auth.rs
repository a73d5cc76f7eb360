//! Authentication: from a request's credential to a caller. Tenant and user come from the
//! credential; what the request says about itself is checked against it, never trusted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use lukasa_core::audit::AuditActor;
use lukasa_core::secret::{self, Prefix, PresentedCredential};
use lukasa_core::{Caller, Origin, Permission, TenantId, Timestamp};
use lukasa_engine::Error;
use lukasa_engine::credentials::{CREDENTIAL_LEASE, VerifiedCredential};
use tower_http::cors::{Any, CorsLayer};

use super::app::REFUSED_TTL;
use super::code::ErrorCode;
use super::console::is_console_path;
use super::error::Problem;
use super::recheck::HeldCredential;
use super::request::PathParams;
use super::space::refuse_space;
use super::user::user_or_member;
pub(crate) use super::user::{USER, user_of};
use super::{App, local_tenant};
use crate::clock::ServerClock;
use crate::url::is_loopback_name;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Cookie of a sign-in. With the prefix `__Host-` browsers accept it only from this host, over TLS
/// (or from localhost), and for all paths.
pub(crate) const COOKIE_NAME: &str = "__Host-lukasa";

/// How callers are authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMode {
    /// No credentials: every request to the loopback address is from the owner of the machine.
    Local,
    /// Every request needs a key or a token.
    Keys,
}

/// A credential that the database has accepted, and when it was asked.
#[derive(Clone)]
pub struct CachedCredential {
    secret_hash: [u8; 32],
    admitted: VerifiedCredential,
    /// When the credential was checked in the database.
    asked_at: Instant,
}

impl CachedCredential {
    /// The credential, if it need not be checked in the database again.
    fn if_fresh(self, clock: &ServerClock) -> Option<Self> {
        clock.is_within(CREDENTIAL_LEASE, self.asked_at).then_some(self)
    }

    /// The admitted credential, if its secret is the presented one and it has not expired.
    fn if_matches(
        self,
        presented: &PresentedCredential,
        now: Timestamp,
    ) -> Option<VerifiedCredential> {
        let live = self.admitted.expires_at.is_none_or(|end| now < end);
        // Both are hashes of high-entropy secrets, so the timing of the comparison reveals nothing.
        (live && self.secret_hash == presented.secret_hash).then_some(self.admitted)
    }
}

/// A credential that was refused, by its id and the hash of its secret.
pub type RefusedCredential = (String, [u8; 32]);

/// What a credential is checked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckReason {
    Request,
    /// Work that it was admitted for. Refusals of requests since then decide nothing: the credential
    /// may only have expired, and whether it was revoked is asked of the database.
    WorkUnderWay,
}

/// A credential for endpoints that keep working while the database is unavailable.
pub(crate) struct FailOpenCredential {
    pub admitted: VerifiedCredential,
    pub credential: HeldCredential,
    /// Whether the database has confirmed that it is still valid. Otherwise no memory is read for
    /// it, and nothing is written before it has been checked.
    pub is_verified: bool,
}

impl App {
    /// Authenticates a request and counts it against the limits of its credential.
    pub(crate) async fn admit(&self, headers: &HeaderMap) -> Result<VerifiedCredential, Problem> {
        let admitted = self.check_credential(headers).await?;
        self.limits().count_credential(&admitted)?;
        Ok(admitted)
    }

    /// Authenticates a request without counting it.
    async fn check_credential(&self, headers: &HeaderMap) -> Result<VerifiedCredential, Problem> {
        let text = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let text = text
            .and_then(|text| text.strip_prefix("Bearer "))
            .filter(|text| is_header_credential(text));
        let admitted = self.admit_credential(text.or_else(|| sign_in_cookie(headers))).await?;
        check_page(&admitted, headers)?;
        Ok(admitted)
    }

    /// Authenticates a key or token that was sent to sign in with.
    pub(crate) async fn admit_key(&self, text: &str) -> Result<VerifiedCredential, Problem> {
        let admitted =
            self.admit_credential(Some(text).filter(|text| is_header_credential(text))).await?;
        self.limits().count_credential(&admitted)?;
        Ok(admitted)
    }

    pub(super) async fn admit_credential(
        &self,
        text: Option<&str>,
    ) -> Result<VerifiedCredential, Problem> {
        self.admit_credential_for(CheckReason::Request, text, self.clock().now()).await
    }

    pub(super) async fn admit_credential_for(
        &self,
        reason: CheckReason,
        text: Option<&str>,
        now: Timestamp,
    ) -> Result<VerifiedCredential, Problem> {
        if self.is_local() {
            return Ok(VerifiedCredential {
                tenant: local_tenant(),
                user: None,
                human: true,
                signed_in: false,
                page: None,
                resource: None,
                key_id: "local".into(),
                minted_by: None,
                root: None,
                permissions: Permission::ALL.to_vec(),
                origin: Origin::UserSaid,
                expires_at: None,
            });
        }
        let refused = || Problem::of(ErrorCode::Unauthenticated);
        let text = text.ok_or_else(refused)?;
        let presented = secret::parse(text).ok_or_else(refused)?;
        let cached = self.0.credentials.get(&presented.key_id);
        let cached = cached.and_then(|cached| cached.if_fresh(self.clock()));
        if let Some(admitted) = cached.and_then(|cached| cached.if_matches(&presented, now)) {
            return Ok(admitted);
        }
        let credential = (presented.key_id.clone(), presented.secret_hash);
        if reason == CheckReason::Request {
            let refused_at = self.0.refused.get(&credential);
            if refused_at.is_some_and(|at| self.clock().is_within(REFUSED_TTL, at)) {
                return Err(refused());
            }
            if !self.0.last_credentials.contains_key(&presented.key_id) {
                self.limits().check_throttled()?;
            }
        }
        let asked_at = self.clock().instant();
        let admitted = match self.engine().credentials.authenticate(text, now).await {
            Ok(admitted) => admitted,
            Err(Error::Unauthenticated) => {
                self.record_refused(credential);
                return Err(refused());
            }
            Err(error) => return Err(error.into()),
        };
        let admission = CachedCredential {
            secret_hash: presented.secret_hash,
            admitted: admitted.clone(),
            asked_at,
        };
        self.0.last_credentials.insert(presented.key_id.clone(), admission.clone());
        self.0.credentials.insert(presented.key_id, admission);
        self.record_use(&admitted);
        Ok(admitted)
    }

    /// Caches that the database refused a credential: it is removed from the cached ones, and it is
    /// refused for a few seconds without another check.
    fn record_refused(&self, credential: RefusedCredential) {
        let (key_id, secret_hash) = &credential;
        tracing::info!(event = "credential_refused", key_id, "security");
        let is_same = |cached: CachedCredential| cached.secret_hash == *secret_hash;
        if self.0.last_credentials.get(key_id).is_some_and(is_same) {
            self.forget_credentials(std::slice::from_ref(key_id));
        }
        self.0.refused.insert(credential, self.clock().instant());
        self.limits().count_refused();
    }

    /// Counts a refused link against the address, like a refused credential.
    pub(crate) fn count_refused_link(&self) {
        tracing::info!(event = "link_refused", "security");
        self.limits().count_refused();
    }

    /// Authenticates for endpoints that keep working without the database: if it is unavailable or
    /// too slow, a credential that was admitted in the last minutes passes unverified. A credential
    /// that is not cached waits for the database.
    pub(crate) async fn admit_fail_open(
        &self,
        text: Option<&str>,
        headers: &HeaderMap,
        within: Duration,
    ) -> Result<FailOpenCredential, Problem> {
        let text =
            text.filter(|text| is_header_credential(text)).or_else(|| sign_in_cookie(headers));
        let admission = self.admit_or_use_cached(text, within).await?;
        check_page(&admission.admitted, headers)?;
        self.limits().count_credential(&admission.admitted)?;
        Ok(admission)
    }

    async fn admit_or_use_cached(
        &self,
        text: Option<&str>,
        within: Duration,
    ) -> Result<FailOpenCredential, Problem> {
        let cached = text.and_then(|text| {
            let presented = secret::parse(text)?;
            let admission = self.0.last_credentials.get(&presented.key_id)?;
            admission.if_matches(&presented, self.clock().now())
        });
        let admission = |admitted: VerifiedCredential, is_verified| {
            let credential = HeldCredential::new(text, &admitted);
            FailOpenCredential { admitted, credential, is_verified }
        };
        let verified = |admitted| admission(admitted, true);
        let check = self.admit_credential(text);
        let Some(admitted) = cached else {
            let checked = check.await.map(verified);
            return checked.map_err(|problem| {
                match problem.is(ErrorCode::Unavailable) || problem.is(ErrorCode::Internal) {
                    true => Problem::of(ErrorCode::Unavailable),
                    false => problem,
                }
            });
        };
        match tokio::time::timeout(within, check).await {
            Ok(Ok(admitted)) => Ok(verified(admitted)),
            Ok(Err(problem)) if problem.is(ErrorCode::Unauthenticated) => Err(problem),
            Ok(Err(_)) | Err(_) => Ok(admission(admitted, false)),
        }
    }

    /// Stores the time of a key's last use in the background, at most once a minute. Skipped if too
    /// many such writes are in flight.
    fn record_use(&self, admitted: &VerifiedCredential) {
        if self.0.recorded_uses.contains_key(&admitted.key_id) {
            return;
        }
        let Ok(permit) = Arc::clone(&self.0.use_writes).try_acquire_owned() else { return };
        self.0.recorded_uses.insert(admitted.key_id.clone(), ());
        let (engine, tenant, key_id) =
            (self.engine().clone(), admitted.tenant, admitted.key_id.clone());
        let now = self.clock().now();
        tokio::spawn(async move {
            if let Err(error) = engine.credentials.note_use(tenant, &key_id, now).await {
                tracing::debug!(%error, "could not store the last use of a key");
            }
            drop(permit);
        });
    }

    /// Removes cached credentials that have ended.
    pub(crate) fn forget_credentials(&self, key_ids: &[String]) {
        for key_id in key_ids {
            self.0.credentials.invalidate(key_id);
            self.0.last_credentials.invalidate(key_id);
        }
    }
}

/// Whether a credential may be sent in a header. A sign-in stays in its cookie, a link works only
/// for signing in, and an access token of a connector only at the MCP endpoint.
fn is_header_credential(text: &str) -> bool {
    secret::parse(text).is_some_and(|p| matches!(p.prefix, Prefix::Key | Prefix::Token))
}

/// Whether a browser says that a request comes from the server's own page. Another site can make a
/// browser send a request, but not with this header.
pub(crate) fn is_from_own_page(headers: &HeaderMap) -> bool {
    headers.get(&FETCH_SITE).is_some_and(|site| site == "same-origin")
}

/// The credential in the sign-in cookie. It is accepted only from the server's own page.
pub(super) fn sign_in_cookie(headers: &HeaderMap) -> Option<&str> {
    if !is_from_own_page(headers) {
        return None;
    }
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.split_once('='));
    let (_, text) = pairs.find(|(name, _)| name.trim() == COOKIE_NAME)?;
    secret::parse(text.trim()).filter(|presented| presented.prefix == Prefix::SignIn)?;
    Some(text.trim())
}

/// Refuses a token that is bound to a page if the request does not come from that page.
fn check_page(admitted: &VerifiedCredential, headers: &HeaderMap) -> Result<(), Problem> {
    let Some(page) = &admitted.page else { return Ok(()) };
    let from = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes() == page.as_bytes());
    from.then_some(()).ok_or_else(|| Problem::of(ErrorCode::Unauthenticated))
}

impl App {
    /// Authenticates a request that needs this permission, and returns its caller. It must not name
    /// a space.
    pub(crate) async fn caller(
        &self,
        headers: &HeaderMap,
        permission: Permission,
    ) -> Result<Caller, Problem> {
        let (admitted, user) = self.admit_user(headers, permission).await?;
        let caller = self.caller_about(&admitted, &user).await?;
        refuse_space(headers)?;
        Ok(caller)
    }

    /// Authenticates a request that needs this permission, and reads which user it names.
    pub(super) async fn admit_user(
        &self,
        headers: &HeaderMap,
        permission: Permission,
    ) -> Result<(VerifiedCredential, String), Problem> {
        let admitted = self.admit(headers).await?;
        if !admitted.may(permission) {
            return Err(forbidden(permission));
        }
        let user = user_or_member(self, &admitted, headers)?;
        Ok((admitted, user))
    }

    /// The caller for a request about this user, counted against the user's limits.
    pub(crate) async fn caller_about(
        &self,
        admitted: &VerifiedCredential,
        user: &str,
    ) -> Result<Caller, Problem> {
        let caller = admitted.caller(user);
        self.limits().count_user(&caller)?;
        self.limits().take_slot(&caller, self.engine().cell_of(&caller)).await?;
        Ok(caller)
    }

    /// Checks that the credential of an open stream still has the permission. Counts no request.
    pub(crate) async fn recheck_permission(
        &self,
        headers: &HeaderMap,
        permission: Permission,
    ) -> Result<(), Problem> {
        let admitted = self.check_credential(headers).await?;
        admitted.may(permission).then_some(()).ok_or_else(|| forbidden(permission))
    }
}

pub(crate) fn forbidden(permission: Permission) -> Problem {
    Problem::of(ErrorCode::Forbidden)
        .because(&format!("This needs the permission `{}`", permission.as_str()))
}

/// Extractors for a caller with the named permission. A handler with such an argument runs for no
/// other caller.
macro_rules! callers {
    ($($(#[$doc:meta])* $name:ident: $permission:ident by $admit:ident),+ $(,)?) => {$(
        $(#[$doc])*
        pub struct $name(pub Caller);

        impl FromRequestParts<App> for $name {
            type Rejection = Problem;
            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
                Ok(Self(app.$admit(&parts.headers, Permission::$permission).await?))
            }
        }
    )+};
}

callers!(
    /// A caller that may read.
    Reader: Read by caller,
    /// A caller that may save, update, forget, delete, restore, undo and link.
    Writer: Write by caller,
    /// A caller that may erase.
    Eraser: Erase by caller,
    /// A caller that may read, in their own memory or in a space.
    SpaceReader: Read by caller_or_member,
    /// A caller that may write, in their own memory or in a space.
    SpaceWriter: Write by caller_or_member,
    /// A caller that may propose, in their own memory or in a space.
    SpaceProposer: Propose by caller_or_member,
    /// A caller that may erase, in their own memory or in a space.
    SpaceEraser: Erase by caller_or_member,
);

/// Extractors for a credential with the named permission, before the user is known. It is checked
/// before the body is read.
macro_rules! credentials {
    ($($(#[$doc:meta])* $name:ident: $permission:ident),+ $(,)?) => {$(
        $(#[$doc])*
        pub struct $name(pub VerifiedCredential);

        impl FromRequestParts<App> for $name {
            type Rejection = Problem;
            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
                let admitted = app.admit(&parts.headers).await?;
                let permission = Permission::$permission;
                if !admitted.may(permission) {
                    return Err(forbidden(permission));
                }
                refuse_space(&parts.headers)?;
                Ok(Self(admitted))
            }
        }
    )+};
}

credentials!(
    /// A credential that may read.
    ReadCredential: Read,
    /// A credential that may write.
    WriteCredential: Write,
);

/// A credential that may manage the tenant's users, keys and domains.
pub struct Admin(pub VerifiedCredential);

impl FromRequestParts<App> for Admin {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let admitted = app.admit(&parts.headers).await?;
        if !is_admin(&admitted) {
            return Err(forbidden(Permission::Admin));
        }
        refuse_space(&parts.headers)?;
        Ok(Self(admitted))
    }
}

/// Whether a credential may manage the tenant. A credential that is bound to one user may not,
/// whatever its permissions; the exception is an operator's sign-in, which shows one user at a
/// time.
pub(crate) fn is_admin(admitted: &VerifiedCredential) -> bool {
    let bound = admitted.user.is_some() && !admitted.signed_in;
    admitted.may(Permission::Admin) && !bound
}

/// May erase everything about the user named in the path: an administrator of the tenant, or the
/// user with a sign-in or token of their own. A key of an application does not count as the user.
pub struct UserEraser {
    pub tenant: TenantId,
    /// Who asks, for the audit log.
    pub by: AuditActor,
    pub name: String,
}

impl FromRequestParts<App> for UserEraser {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let admitted = app.admit(&parts.headers).await?;
        let PathParams(name) = PathParams::<String>::from_request_parts(parts, app).await?;
        let own = admitted.user.as_ref().is_some_and(|(_, bound)| *bound == name);
        let is_user = own && admitted.human && admitted.may(Permission::Erase);
        if !is_user && !is_admin(&admitted) {
            return Err(forbidden(Permission::Admin));
        }
        refuse_space(&parts.headers)?;
        Ok(Self { tenant: admitted.tenant, by: AuditActor::from(&admitted), name })
    }
}

/// Guards a server without authentication. Its only protection is the loopback address, which every
/// web page in the user's browser can reach. So a request must be addressed to this machine by
/// name, and must not come from another site: that prevents DNS rebinding and cross-site requests.
pub async fn guard_local(State(app): State<App>, request: Request, next: Next) -> Response {
    let (headers, uri) = (request.headers(), request.uri());
    // A link from another site may open the console's page; the page's own requests are
    // same-origin.
    let opens_page = request.method() == Method::GET && is_console_path(uri.path());
    let allowed = &app.limits().local_origins;
    let is_allowed = is_addressed_to_loopback(headers, uri.host())
        && (opens_page || is_own_origin(headers, uri.host(), allowed));
    if app.is_local() && !is_allowed {
        return Problem::of(ErrorCode::CrossSite).into_response();
    }
    next.run(request).await
}

/// Allows pages of other sites to send requests with a token, as a panel embedded in another
/// application does. They can use only the token: browsers send no cookie with such a request.
pub fn cors_layer() -> CorsLayer {
    const HEADERS: [&str; 10] = [
        "authorization",
        "content-type",
        "idempotency-key",
        "if-match",
        "last-event-id",
        "lukasa-version",
        "mcp-protocol-version",
        "x-lukasa-project",
        "x-lukasa-space",
        "x-lukasa-user",
    ];
    const EXPOSED: [&str; 4] = ["etag", "lukasa-request-id", "retry-after", "www-authenticate"];
    let names = |names: &[&'static str]| -> Vec<HeaderName> {
        names.iter().map(|name| HeaderName::from_static(name)).collect()
    };
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers(names(&HEADERS))
        .expose_headers(names(&EXPOSED))
        .max_age(Duration::from_secs(600))
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

/// Whether a request is addressed to this machine by name.
fn is_addressed_to_loopback(headers: &HeaderMap, uri_host: Option<&str>) -> bool {
    is_loopback_name(text(headers, &HOST).or(uri_host).unwrap_or(""))
}

/// Whether a request comes from the server's own pages, from one of the allowed origins, or from no
/// page at all. Another port of this machine is another site.
fn is_own_origin(headers: &HeaderMap, uri_host: Option<&str>, allowed: &[String]) -> bool {
    let host = text(headers, &HOST).or(uri_host).unwrap_or("");
    let site = text(headers, &FETCH_SITE);
    match text(headers, &ORIGIN) {
        Some(origin) if allowed.iter().any(|allowed| allowed == origin) => true,
        Some(origin) if origin.strip_prefix("http://") != Some(host) => false,
        _ => site.is_none_or(|site| ["same-origin", "none"].contains(&site)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_local(headers: &HeaderMap, host: Option<&str>) -> bool {
        is_addressed_to_loopback(headers, host)
            && is_own_origin(headers, host, &["http://localhost:3000".into()])
    }

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn only_loopback_hosts_are_local() {
        for host in ["localhost", "localhost:7777", "127.0.0.1:7777", "[::1]:7777", "[::1]"] {
            assert!(is_local(&headers(&[("host", host)]), None), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:7777", "127.0.0.1.nip.io", "", "::1"] {
            assert!(!is_local(&headers(&[("host", host)]), None), "{host}");
        }
    }

    #[test]
    fn cross_site_requests_are_not_local() {
        let host = ("host", "localhost:7777");
        for other in [
            ("origin", "https://evil.example"),
            ("origin", "null"),
            ("origin", "http://localhost:5173"),
            ("origin", "http://127.0.0.1:7777"),
            ("origin", "https://localhost:7777"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            assert!(!is_local(&headers(&[host, other]), None), "{other:?}");
        }
        for own in [
            ("origin", "http://localhost:7777"),
            ("origin", "http://localhost:3000"),
            ("sec-fetch-site", "same-origin"),
            ("sec-fetch-site", "none"),
        ] {
            assert!(is_local(&headers(&[host, own]), None), "{own:?}");
        }
    }
}
