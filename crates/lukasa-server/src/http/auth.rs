//! The door: from a request's credential to a caller. Tenant and user come from the credential;
//! what the request says about itself is checked against it, never trusted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use lukasa_core::secret::{self, Prefix, Presented};
use lukasa_core::{Caller, Origin, Permission, TenantId, Timestamp};
use lukasa_engine::Error;
use lukasa_engine::access::{ADMISSION_LEASE, Admitted};
use tower_http::cors::{Any, CorsLayer};

use super::console::is_for_people;
use super::error::Problem;
use super::request::Named;
use super::{App, LOCAL_USER, local_tenant};
use crate::clock;

pub(super) const USER: HeaderName = HeaderName::from_static("x-lukasa-user");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Holds a sign-in. Its first letters make browsers take it from this host alone, over TLS (or from
/// the machine itself), for all of it.
pub(super) const COOKIE_NAME: &str = "__Host-lukasa";

/// How callers are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// Everyone who reaches the loopback address is the person whose machine it is.
    Local,
    /// Everyone shows a key or a token.
    Keys,
}

/// An admission that is remembered.
#[derive(Clone)]
pub struct Admission {
    secret_hash: [u8; 32],
    admitted: Admitted,
    /// When the database was asked.
    asked_at: Instant,
}

impl Admission {
    /// The same, if the database need not be asked again.
    fn fresh(self) -> Option<Self> {
        (self.asked_at.elapsed() < ADMISSION_LEASE).then_some(self)
    }

    /// Whom it lets in, if it is this credential's and has not ended.
    fn fits(self, presented: &Presented, now: Timestamp) -> Option<Admitted> {
        let live = self.admitted.expires_at.is_none_or(|end| now < end);
        // Both are hashes of high-entropy secrets, so the time a comparison takes tells nothing.
        (live && self.secret_hash == presented.secret_hash).then_some(self.admitted)
    }
}

/// A credential that was refused, by its id and the hash of its secret.
pub type RefusedCredential = (String, [u8; 32]);

/// Who is let in where a chat goes on without the database.
pub(crate) struct StillAdmitted {
    pub admitted: Admitted,
    /// The credential, if the database could not be asked whether it still holds. Nothing is read
    /// for it, and nothing is written before it has been checked.
    pub unverified: Option<String>,
}

impl App {
    /// Whom a request's credential lets in.
    pub(super) async fn admit(&self, headers: &HeaderMap) -> Result<Admitted, Problem> {
        let admitted = self.check_credential(headers).await?;
        self.limits().count_credential(&admitted)?;
        Ok(admitted)
    }

    /// Whom a request's credential lets in, without counting a request.
    async fn check_credential(&self, headers: &HeaderMap) -> Result<Admitted, Problem> {
        let text = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let text = text.and_then(|text| text.strip_prefix("Bearer ")).filter(|text| is_shown(text));
        let admitted = self.admit_presenting(text.or_else(|| signed_in(headers))).await?;
        check_page(&admitted, headers)?;
        Ok(admitted)
    }

    /// Whom a credential lets in that somebody shows to sign in with.
    pub(super) async fn admit_showing(&self, text: &str) -> Result<Admitted, Problem> {
        let admitted = self.admit_presenting(Some(text).filter(|text| is_shown(text))).await?;
        self.limits().count_credential(&admitted)?;
        Ok(admitted)
    }

    async fn admit_presenting(&self, text: Option<&str>) -> Result<Admitted, Problem> {
        if self.0.door == Door::Local {
            return Ok(Admitted {
                tenant: local_tenant(),
                user: None,
                human: true,
                signed_in: false,
                page: None,
                key_id: "local".into(),
                minted_by: None,
                root: None,
                permissions: Permission::ALL.to_vec(),
                origin: Origin::UserSaid,
                expires_at: None,
            });
        }
        let refused = || Problem::of("unauthenticated");
        let text = text.ok_or_else(refused)?;
        let presented = secret::parse(text).ok_or_else(refused)?;
        let now = clock::now();
        let kept = self.0.admissions.get(&presented.key_id);
        let kept = kept.and_then(Admission::fresh);
        if let Some(kept) = kept.and_then(|kept| kept.fits(&presented, now)) {
            return Ok(kept);
        }
        let credential = (presented.key_id.clone(), presented.secret_hash);
        if self.0.refused.contains_key(&credential) {
            return Err(refused());
        }
        if !self.0.let_in.contains_key(&presented.key_id) {
            self.limits().check_throttled()?;
        }
        let asked_at = Instant::now();
        let admitted = match self.engine().authenticate(text, now).await {
            Ok(admitted) => admitted,
            Err(Error::Unauthenticated) => {
                self.note_refused(credential);
                return Err(refused());
            }
            Err(error) => return Err(error.into()),
        };
        let admission =
            Admission { secret_hash: presented.secret_hash, admitted: admitted.clone(), asked_at };
        self.0.let_in.insert(presented.key_id.clone(), admission.clone());
        self.0.admissions.insert(presented.key_id, admission);
        self.note_use(&admitted);
        Ok(admitted)
    }

    /// Remembers that the database refused a credential: it is not let in from memory any more, and
    /// is not asked for again for a few seconds.
    fn note_refused(&self, credential: RefusedCredential) {
        let (key_id, secret_hash) = &credential;
        tracing::info!(event = "credential_refused", key_id, "security");
        let is_same = |kept: Admission| kept.secret_hash == *secret_hash;
        if self.0.let_in.get(key_id).is_some_and(is_same) {
            self.forget_admissions(std::slice::from_ref(key_id));
        }
        self.0.refused.insert(credential, ());
        self.limits().count_refused();
    }

    /// Counts a link that was refused, as a credential is counted.
    pub(super) fn note_refused_link(&self) {
        tracing::info!(event = "link_refused", "security");
        self.limits().count_refused();
    }

    /// Whom a credential lets in where chats go on without the database: while it cannot be asked, or
    /// not in time, a credential that was admitted in the last minutes passes unverified. One that is
    /// not remembered waits for the database.
    pub(crate) async fn admit_still(
        &self,
        text: Option<&str>,
        headers: &HeaderMap,
        within: Duration,
    ) -> Result<StillAdmitted, Problem> {
        let text = text.filter(|text| is_shown(text)).or_else(|| signed_in(headers));
        let still = self.admit_or_recall(text, within).await?;
        check_page(&still.admitted, headers)?;
        self.limits().count_credential(&still.admitted)?;
        Ok(still)
    }

    async fn admit_or_recall(
        &self,
        text: Option<&str>,
        within: Duration,
    ) -> Result<StillAdmitted, Problem> {
        let recalled = text.and_then(|text| {
            let presented = secret::parse(text)?;
            let kept = self.0.let_in.get(&presented.key_id)?;
            Some((text, kept.fits(&presented, clock::now())?))
        });
        let verified = |admitted| StillAdmitted { admitted, unverified: None };
        let asking = self.admit_presenting(text);
        let Some((text, admitted)) = recalled else {
            let asked = asking.await.map(verified);
            return asked.map_err(|problem| {
                match problem.is("unavailable") || problem.is("internal") {
                    true => Problem::of("unavailable"),
                    false => problem,
                }
            });
        };
        match tokio::time::timeout(within, asking).await {
            Ok(Ok(admitted)) => Ok(verified(admitted)),
            Ok(Err(problem)) if problem.is("unauthenticated") => Err(problem),
            Ok(Err(_)) | Err(_) => {
                Ok(StillAdmitted { admitted, unverified: Some(text.to_owned()) })
            }
        }
    }

    /// Writes down that a key was used, at most once a minute, behind the answer. If too many such
    /// writes are under way, it is left out.
    fn note_use(&self, admitted: &Admitted) {
        if self.0.noted_uses.contains_key(&admitted.key_id) {
            return;
        }
        let Ok(permit) = Arc::clone(&self.0.use_writes).try_acquire_owned() else { return };
        self.0.noted_uses.insert(admitted.key_id.clone(), ());
        let (engine, tenant, key_id) =
            (self.engine().clone(), admitted.tenant, admitted.key_id.clone());
        tokio::spawn(async move {
            if let Err(error) = engine.note_use(tenant, &key_id, clock::now()).await {
                tracing::debug!(%error, "last use not noted");
            }
            drop(permit);
        });
    }

    /// Forgets the admissions of credentials that have ended.
    pub(super) fn forget_admissions(&self, key_ids: &[String]) {
        for key_id in key_ids {
            self.0.admissions.invalidate(key_id);
            self.0.let_in.invalidate(key_id);
        }
    }
}

/// Whether a credential may come in a header. A sign-in stays in its cookie, and a link is spent.
fn is_shown(text: &str) -> bool {
    secret::parse(text).is_some_and(|p| matches!(p.prefix, Prefix::Key | Prefix::Token))
}

/// The sign-in that a browser brings along by itself. It counts only for what our own page asks:
/// another site can make a browser send a request, and cannot make it say that.
fn signed_in(headers: &HeaderMap) -> Option<&str> {
    headers.get(&FETCH_SITE).filter(|site| *site == "same-origin")?;
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.split_once('='));
    let (_, text) = pairs.find(|(name, _)| name.trim() == COOKIE_NAME)?;
    secret::parse(text.trim()).filter(|presented| presented.prefix == Prefix::SignIn)?;
    Some(text.trim())
}

/// A token that is bound to a page is used from there, or not at all.
fn check_page(admitted: &Admitted, headers: &HeaderMap) -> Result<(), Problem> {
    let Some(page) = &admitted.page else { return Ok(()) };
    let from = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes() == page.as_bytes());
    from.then_some(()).ok_or_else(|| Problem::of("unauthenticated"))
}

/// The user a request is about: the credential's own, or the one the header names.
pub(crate) fn user_of(
    app: &App,
    admitted: &Admitted,
    headers: &HeaderMap,
) -> Result<String, Problem> {
    let named = match headers.get(USER) {
        None => None,
        // People have names beyond ASCII, and applications use them as ids.
        Some(value) => {
            let name = std::str::from_utf8(value.as_bytes());
            Some(name.map_err(|_| Problem::of("malformed_header"))?.trim())
        }
    };
    match (&admitted.user, named) {
        (Some((_, bound)), Some(named)) if bound != named => Err(Problem::of("wrong_user")),
        (Some((_, bound)), _) => Ok(bound.clone()),
        (None, Some(named)) if is_user_name(named) => Ok(named.to_owned()),
        (None, Some(_)) => Err(Problem::of("malformed_header")),
        (None, None) if app.0.door == Door::Local => Ok(LOCAL_USER.to_owned()),
        (None, None) => Err(Problem::of("user_required")),
    }
}

fn is_user_name(text: &str) -> bool {
    (1..=lukasa_core::limits::NAME_CHARS).contains(&text.chars().count())
        && !text.chars().any(char::is_control)
}

impl App {
    /// Who is asking, and what their credential allows. What they may do is checked by the caller.
    pub(super) async fn arriving(
        &self,
        headers: &HeaderMap,
    ) -> Result<(Admitted, Caller), Problem> {
        let admitted = self.admit(headers).await?;
        let user = user_of(self, &admitted, headers)?;
        let caller = self.enter(&admitted, &user).await?;
        Ok((admitted, caller))
    }

    /// Who is asking, if they may do this.
    pub(super) async fn caller(
        &self,
        headers: &HeaderMap,
        permission: Permission,
    ) -> Result<Caller, Problem> {
        let admitted = self.admit(headers).await?;
        if !admitted.may(permission) {
            return Err(forbidden(permission));
        }
        let user = user_of(self, &admitted, headers)?;
        self.enter(&admitted, &user).await
    }

    /// The caller for a request about this user, counted against the user's limits.
    pub(super) async fn enter(&self, admitted: &Admitted, user: &str) -> Result<Caller, Problem> {
        let caller = admitted.caller(user);
        self.limits().count_user(&caller)?;
        self.limits().take_slot(&caller).await?;
        Ok(caller)
    }

    /// Whether a credential still allows what its open stream does. Counts no request.
    pub(super) async fn check_still(
        &self,
        headers: &HeaderMap,
        permission: Permission,
    ) -> Result<(), Problem> {
        let admitted = self.check_credential(headers).await?;
        admitted.may(permission).then_some(()).ok_or_else(|| forbidden(permission))
    }
}

pub(crate) fn forbidden(permission: Permission) -> Problem {
    Problem::of("forbidden")
        .because(&format!("This needs the permission `{}`", permission.as_str()))
}

/// A caller that has the named permission. A handler that takes one cannot run for anybody else.
macro_rules! callers {
    ($($(#[$doc:meta])* $name:ident: $permission:ident),+ $(,)?) => {$(
        $(#[$doc])*
        pub struct $name(pub Caller);

        impl FromRequestParts<App> for $name {
            type Rejection = Problem;
            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
                Ok(Self(app.caller(&parts.headers, Permission::$permission).await?))
            }
        }
    )+};
}

callers!(
    /// May read.
    Reader: Read,
    /// May save, update, forget, delete, restore, undo and link.
    Writer: Write,
    /// May propose.
    Proposer: Propose,
    /// May erase.
    Eraser: Erase,
);

/// A credential with the named permission, before it is known which user it asks about. It is checked
/// before a body is read.
macro_rules! credentials {
    ($($(#[$doc:meta])* $name:ident: $permission:ident),+ $(,)?) => {$(
        $(#[$doc])*
        pub struct $name(pub Admitted);

        impl FromRequestParts<App> for $name {
            type Rejection = Problem;
            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
                let admitted = app.admit(&parts.headers).await?;
                let permission = Permission::$permission;
                let may = admitted.may(permission);
                may.then_some(Self(admitted)).ok_or_else(|| forbidden(permission))
            }
        }
    )+};
}

credentials!(
    /// May read about some user.
    ReadCredential: Read,
    /// May write about some user.
    WriteCredential: Write,
);

/// May look after the tenant's users, keys and domains.
pub struct Admin(pub Admitted);

impl FromRequestParts<App> for Admin {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let admitted = app.admit(&parts.headers).await?;
        is_admin(&admitted).then_some(Self(admitted)).ok_or_else(|| forbidden(Permission::Admin))
    }
}

/// What is bound to one user never reaches the tenant's lists, whatever it claims; but somebody who
/// signed in by an operator's right looks at one user at a time, and is still the operator.
pub(super) fn is_admin(admitted: &Admitted) -> bool {
    let bound = admitted.user.is_some() && !admitted.signed_in;
    admitted.may(Permission::Admin) && !bound
}

/// May take away everything about the user that the address names: whoever looks after the tenant, and
/// the person themselves, who needs nobody's leave for it. No application's key is that person.
pub struct UserEraser {
    pub tenant: TenantId,
    pub name: String,
}

impl FromRequestParts<App> for UserEraser {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let admitted = app.admit(&parts.headers).await?;
        let Named(name) = Named::<String>::from_request_parts(parts, app).await?;
        let own = admitted.user.as_ref().is_some_and(|(_, bound)| *bound == name);
        let person = own && admitted.human && admitted.may(Permission::Erase);
        if !person && !is_admin(&admitted) {
            return Err(forbidden(Permission::Admin));
        }
        Ok(Self { tenant: admitted.tenant, name })
    }
}

/// Without authentication the only fence is the loopback address, and a web page in the person's
/// own browser stands inside it. So a request must be addressed to this machine by name, and must
/// not come from another site: that closes DNS rebinding and cross-site requests.
pub async fn guard_local(State(app): State<App>, request: Request, next: Next) -> Response {
    let (headers, uri) = (request.headers(), request.uri());
    // Somebody who follows a link to the console from elsewhere sees a page, and the page's own
    // requests come from here.
    let opens = request.method() == Method::GET && is_for_people(uri.path());
    let allowed = &app.limits().local_origins;
    let welcome =
        is_at_home(headers, uri.host()) && (opens || is_from_here(headers, uri.host(), allowed));
    if app.0.door == Door::Local && !welcome {
        return Problem::of("cross_site").into_response();
    }
    next.run(request).await
}

/// Lets pages of other sites ask with a token, as a panel inside somebody's own application does. They
/// have nothing but the token: browsers send no cookie along with such a request.
pub fn other_pages() -> CorsLayer {
    const HEADERS: [&str; 7] = [
        "authorization",
        "content-type",
        "idempotency-key",
        "if-match",
        "last-event-id",
        "lukasa-version",
        "x-lukasa-user",
    ];
    const SHOWN: [&str; 3] = ["etag", "lukasa-request-id", "retry-after"];
    let names = |names: &[&'static str]| -> Vec<HeaderName> {
        names.iter().map(|name| HeaderName::from_static(name)).collect()
    };
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers(names(&HEADERS))
        .expose_headers(names(&SHOWN))
        .max_age(Duration::from_secs(600))
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

/// Whether a request is addressed to this machine by name.
fn is_at_home(headers: &HeaderMap, uri_host: Option<&str>) -> bool {
    is_loopback_name(text(headers, &HOST).or(uri_host).unwrap_or(""))
}

/// Whether a request comes from the server's own pages, from one of the allowed origins, or from no
/// page at all. Another port of this machine is another site.
fn is_from_here(headers: &HeaderMap, uri_host: Option<&str>, allowed: &[String]) -> bool {
    let host = text(headers, &HOST).or(uri_host).unwrap_or("");
    let site = text(headers, &FETCH_SITE);
    match text(headers, &ORIGIN) {
        Some(origin) if allowed.iter().any(|allowed| allowed == origin) => true,
        Some(origin) if origin.strip_prefix("http://") != Some(host) => false,
        _ => site.is_none_or(|site| ["same-origin", "none"].contains(&site)),
    }
}

/// `localhost`, `127.0.0.1` or `[::1]`, with or without a port.
pub(super) fn is_loopback_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_local(headers: &HeaderMap, host: Option<&str>) -> bool {
        is_at_home(headers, host) && is_from_here(headers, host, &["http://localhost:3000".into()])
    }

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn only_this_machine_is_local() {
        for host in ["localhost", "localhost:7777", "127.0.0.1:7777", "[::1]:7777", "[::1]"] {
            assert!(is_local(&headers(&[("host", host)]), None), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:7777", "127.0.0.1.nip.io", "", "::1"] {
            assert!(!is_local(&headers(&[("host", host)]), None), "{host}");
        }
    }

    #[test]
    fn another_site_is_not_local() {
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
