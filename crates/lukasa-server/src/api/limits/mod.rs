//! Request limits: rates per address, credential, user and tenant, slots for concurrent requests, a
//! bound for all requests in flight, and a timeout for each route class. A request over a limit is
//! answered at once with 429 or 503 and `Retry-After`. See ADR 23.

mod rate;
mod settings;
mod slots;
mod streams;

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use lukasa_core::{Caller, TenantId, UserId};
use lukasa_engine::credentials::VerifiedCredential;
use moka::sync::Cache;
use tokio::sync::OwnedSemaphorePermit;

use super::App;
use super::body::{BodyBudget, BodyHolder, BodyOwner};
use super::error::Problem;
use crate::api::code::ErrorCode;
use crate::clock::ServerClock;
pub use rate::KeyedRate;
pub use settings::LimitSettings;
use slots::KeyedSlots;
pub use streams::OpenStream;
use streams::OpenStreams;

/// How long an address is refused after it has sent too many unknown credentials.
const THROTTLE_TIME: Duration = Duration::from_secs(1);
/// OAuth clients that one address may register per minute.
const REGISTRATIONS_PER_MINUTE: u32 = 20;
/// Timeout of a request to the API.
const API_TIMEOUT: Duration = Duration::from_secs(120);
/// Timeout of an import, an export or a vault request.
const BULK_TIMEOUT: Duration = Duration::from_secs(600);
/// Factor by which `/v1` allows more requests in flight, where most of the time is the model's.
const GATEWAY_IN_FLIGHT_FACTOR: usize = 4;

/// The peer address of a connection. The accept loop adds it to the extensions of each request.
#[derive(Debug, Clone, Copy)]
pub struct PeerAddress(pub SocketAddr);

/// The limits of this process and their counters.
pub struct Limits {
    pub bodies: BodyBudget,
    pub gateway_body_bytes: usize,
    pub import_unpacked_bytes: u64,
    pub local_origins: Vec<String>,
    client_ip_header: Option<HeaderName>,
    max_in_flight: usize,
    in_flight: AtomicUsize,
    gateway_in_flight: AtomicUsize,
    ip_rate: KeyedRate<IpAddr>,
    refused_rate: KeyedRate<IpAddr>,
    throttled: Cache<IpAddr, ()>,
    registration_rate: KeyedRate<Option<IpAddr>>,
    key_rate: KeyedRate<String>,
    user_rate: KeyedRate<UserId>,
    tenant_rate: KeyedRate<TenantId>,
    user_slots: KeyedSlots<UserId>,
    chat_slots: KeyedSlots<UserId>,
    /// By tenant and cell, so that requests that wait for one cell do not keep those of another.
    tenant_slots: KeyedSlots<(TenantId, Arc<str>)>,
    /// Of requests that read a whole memory, on this server and by tenant.
    bulk_slots: KeyedSlots<()>,
    tenant_bulk_slots: KeyedSlots<TenantId>,
    streams: OpenStreams,
    /// Set when the server is about to stop: it then reports that it is not ready.
    draining: AtomicBool,
}

impl Limits {
    /// Builds the limits from settings; the defaults depend on the number of database connections.
    pub fn new(settings: &LimitSettings, pool_size: usize, clock: &ServerClock) -> Self {
        let user_slots = settings.user_concurrency.unwrap_or((pool_size / 2).max(1));
        let tenant_slots = settings.tenant_concurrency.unwrap_or((pool_size * 3 / 4).max(1));
        // Each holds a connection for reads until the last row has arrived.
        let bulk_slots = (pool_size / 6).max(1);
        Self {
            bodies: BodyBudget::of_megabytes(settings.body_memory),
            gateway_body_bytes: settings.gateway_body as usize * 1024 * 1024,
            import_unpacked_bytes: u64::from(settings.import_unpacked) * 1024 * 1024,
            local_origins: settings.local_origins.clone(),
            client_ip_header: settings.client_ip_header.clone(),
            max_in_flight: settings.max_in_flight,
            in_flight: AtomicUsize::new(0),
            gateway_in_flight: AtomicUsize::new(0),
            ip_rate: KeyedRate::per_second(settings.ip_rate, clock),
            refused_rate: KeyedRate::per_second(settings.refused_rate, clock),
            throttled: Cache::builder().max_capacity(100_000).time_to_live(THROTTLE_TIME).build(),
            registration_rate: KeyedRate::per_minute(REGISTRATIONS_PER_MINUTE, clock),
            key_rate: KeyedRate::per_second(settings.key_rate, clock),
            user_rate: KeyedRate::per_second(settings.user_rate, clock),
            tenant_rate: KeyedRate::per_second(settings.tenant_rate, clock),
            user_slots: KeyedSlots::of_size(user_slots),
            chat_slots: KeyedSlots::of_size(settings.chat_concurrency),
            tenant_slots: KeyedSlots::of_size(tenant_slots),
            bulk_slots: KeyedSlots::of_size(bulk_slots),
            tenant_bulk_slots: KeyedSlots::of_size((bulk_slots / 2).max(1)),
            streams: OpenStreams::default(),
            draining: AtomicBool::new(false),
        }
    }

    pub fn start_draining(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Counts a request against its credential and its tenant.
    pub fn count_credential(&self, admitted: &VerifiedCredential) -> Result<(), Problem> {
        let holder = match &admitted.user {
            Some((user, _)) => BodyHolder::User(*user),
            None => BodyHolder::Credential(admitted.key_id.clone()),
        };
        CurrentRequest::set_body_owner(admitted.tenant, holder);
        let key = self.key_rate.take(&admitted.key_id);
        key.map_err(|wait| over_rate("credential", wait))?;
        self.tenant_rate.take(&admitted.tenant).map_err(|wait| over_rate("tenant", wait))
    }

    /// Counts a request against its user.
    pub fn count_user(&self, caller: &Caller) -> Result<(), Problem> {
        CurrentRequest::set_body_owner(caller.tenant, BodyHolder::User(caller.user));
        self.user_rate.take(&caller.user).map_err(|wait| over_rate("user", wait))
    }

    /// Counts one more request of the credential, its tenant and the user, and waits until the rates
    /// allow it: for requests that do the work of many.
    pub async fn wait_for_rates(&self, admitted: &VerifiedCredential, caller: &Caller) {
        self.key_rate.wait(&admitted.key_id).await;
        self.tenant_rate.wait(&admitted.tenant).await;
        self.user_rate.wait(&caller.user).await;
    }

    /// Waits for a slot of the user and one of the tenant in the user's cell. The request holds both
    /// until it is answered and the work it started is done.
    pub async fn take_slot(&self, caller: &Caller, cell: Arc<str>) -> Result<(), Problem> {
        let Some(current) = CurrentRequest::get() else { return Ok(()) };
        if current.0.has_slot.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let user = self.user_slots.take(&caller.user).await.map_err(|()| busy("user"))?;
        let tenant = self.tenant_slots.take(&(caller.tenant, cell)).await;
        let tenant = tenant.map_err(|()| busy("tenant"))?;
        current.hold(user.into_iter().chain(tenant));
        Ok(())
    }

    /// Waits for a slot of a request that reads a whole memory, which takes long, so that such requests
    /// leave connections for all others.
    pub async fn take_bulk_slot(&self, caller: &Caller) -> Result<(), Problem> {
        let Some(current) = CurrentRequest::get() else { return Ok(()) };
        let tenant = self.tenant_bulk_slots.take(&caller.tenant).await;
        let tenant = tenant.map_err(|()| busy("tenant"))?;
        let all = self.bulk_slots.take(&()).await.map_err(|()| busy("server"))?;
        current.hold(tenant.into_iter().chain(all));
        Ok(())
    }

    /// Waits for a slot of the user for a request to `/v1`. It is held as long as the
    /// [`CurrentRequest`], which the gateway keeps until the answer has ended.
    pub async fn take_chat_slot(&self, caller: &Caller) -> Result<(), Problem> {
        let Some(current) = CurrentRequest::get() else { return Ok(()) };
        current.hold(self.chat_slots.take(&caller.user).await.map_err(|()| busy("user"))?);
        Ok(())
    }

    /// Counts an event stream as open until the result is dropped.
    pub fn open_stream(&self, caller: &Caller) -> Result<OpenStream, Problem> {
        let stream = self.streams.open(&caller.credential, &caller.tenant.uuid().to_string());
        stream.ok_or_else(|| {
            let what = "Too many event streams of this credential or tenant are open";
            Problem::of(ErrorCode::TooManyStreams).because(what)
        })
    }

    /// Refuses the request if its address is throttled for sending too many unknown credentials.
    pub fn check_throttled(&self) -> Result<(), Problem> {
        match CurrentRequest::address() {
            Some(ip) if self.throttled.contains_key(&ip) => {
                Err(over_rate("address", THROTTLE_TIME))
            }
            _ => Ok(()),
        }
    }

    /// Counts a refused credential against the current request's address.
    pub fn count_refused(&self) {
        let Some(ip) = CurrentRequest::address() else { return };
        if self.refused_rate.take(&ip).is_err() {
            self.throttled.insert(ip, ());
        }
    }

    /// Counts the registration of an OAuth client. All requests without an address share one count.
    pub fn count_registration(&self) -> Result<(), Problem> {
        let counted = self.registration_rate.take(&CurrentRequest::address());
        counted.map_err(|wait| over_rate("address", wait))
    }

    /// The address that a request is counted against. A loopback peer is a local proxy or the owner
    /// of the machine, and is counted only if the client IP header is present.
    fn address_of(&self, request: &Request) -> Option<IpAddr> {
        let peer = request.extensions().get::<PeerAddress>().map(|peer| peer.0.ip());
        let named =
            self.client_ip_header.as_ref().and_then(|name| last_ip(request.headers(), name));
        named.or(peer.filter(|ip| !ip.is_loopback())).map(network_of)
    }
}

/// A problem for a request for which no slot is free.
fn busy(whose: &str) -> Problem {
    let what = format!("Too many requests of this {whose} are in flight");
    Problem::of(ErrorCode::RateLimited).because(&what)
}

/// A problem for a request over a rate limit, with the time after which to retry.
pub fn over_rate(of: &str, wait: Duration) -> Problem {
    Problem::of(ErrorCode::RateLimited)
        .because(&format!("Too many requests of this {of}"))
        .retry(wait)
}

fn last_ip(headers: &HeaderMap, name: &HeaderName) -> Option<IpAddr> {
    let value = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    value.rsplit(',').next()?.trim().parse().ok()
}

/// The network of an address: a client with one IPv6 address usually has its whole /64.
pub(crate) fn network_of(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => {
            let bits = u128::from(ip) & !u128::from(u64::MAX);
            IpAddr::V6(bits.into())
        }
        ip => ip,
    }
}

/// Limit state of the request that is being handled: its address and the slots it holds.
#[derive(Clone, Default)]
pub struct CurrentRequest(Arc<RequestState>);

#[derive(Default)]
struct RequestState {
    address: Option<IpAddr>,
    body_owner: Mutex<Option<BodyOwner>>,
    has_slot: AtomicBool,
    permits: Mutex<Vec<OwnedSemaphorePermit>>,
}

tokio::task_local! {
    static CURRENT: CurrentRequest;
}

impl CurrentRequest {
    /// The request of this task. Work that outlives the answer keeps it, and with it the slots.
    pub fn get() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    fn hold(&self, more: impl IntoIterator<Item = OwnedSemaphorePermit>) {
        self.0.permits.lock().unwrap_or_else(PoisonError::into_inner).extend(more);
    }

    /// Whose body this request has, as far as it is known.
    pub fn body_owner() -> BodyOwner {
        let known = Self::get().and_then(|current| {
            current.0.body_owner.lock().unwrap_or_else(PoisonError::into_inner).clone()
        });
        known.unwrap_or(BodyOwner { tenant: None, holder: BodyHolder::Anonymous })
    }

    fn set_body_owner(tenant: TenantId, holder: BodyHolder) {
        if let Some(current) = Self::get() {
            let mut owner = current.0.body_owner.lock().unwrap_or_else(PoisonError::into_inner);
            *owner = Some(BodyOwner { tenant: Some(tenant), holder });
        }
    }

    fn address() -> Option<IpAddr> {
        Self::get().and_then(|current| current.0.address)
    }
}

/// Counts a request as in flight until it is dropped.
struct InFlight<'l>(&'l AtomicUsize);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn is_health(path: &str) -> bool {
    path == "/healthz" || path == "/readyz"
}

/// Timeout of a request to this path; `None` for streams and for routes that wait for a model or
/// for the user.
fn timeout_of(path: &str) -> Option<Duration> {
    let bulk = ["/api/import", "/api/export", "/api/vault", "/api/users/"];
    let open = ["/v1/", "/mcp", "/api/events"];
    if open.iter().any(|start| path.starts_with(start)) {
        return None;
    }
    let bulk = bulk.iter().any(|start| path.starts_with(start));
    Some(if bulk { BULK_TIMEOUT } else { API_TIMEOUT })
}

/// Checks a request against the limits that need no credential, and runs it.
pub async fn guard_request(State(app): State<App>, request: Request, next: Next) -> Response {
    let limits = app.limits();
    let path = request.uri().path();
    if is_health(path) {
        return next.run(request).await;
    }
    let (counter, most) = if path.starts_with("/v1/") {
        (&limits.gateway_in_flight, limits.max_in_flight * GATEWAY_IN_FLIGHT_FACTOR)
    } else {
        (&limits.in_flight, limits.max_in_flight)
    };
    let before = counter.fetch_add(1, Ordering::Relaxed);
    let _in_flight = InFlight(counter);
    if most > 0 && before >= most {
        let what = "Too many requests are in flight";
        return Problem::of(ErrorCode::Overloaded).because(what).into_response();
    }
    let address = limits.address_of(&request);
    if let Some(ip) = address
        && let Err(wait) = limits.ip_rate.take(&ip)
    {
        return over_rate("address", wait).into_response();
    }
    let time_limit = timeout_of(path);
    let state = RequestState { address, ..RequestState::default() };
    let run = CURRENT.scope(CurrentRequest(Arc::new(state)), next.run(request));
    match time_limit {
        None => run.await,
        Some(limit) => match tokio::time::timeout(limit, run).await {
            Ok(response) => response,
            Err(_) => {
                Problem::of(ErrorCode::Overloaded).because("The request timed out").into_response()
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_counted_by_network() {
        let ip = |text: &str| network_of(text.parse().unwrap());
        assert_eq!(ip("2001:db8::1"), ip("2001:db8::ffff"));
        assert_ne!(ip("2001:db8::1"), ip("2001:db8:0:1::1"));
        assert_eq!(ip("::ffff:192.0.2.1"), ip("192.0.2.1"));
    }

    #[test]
    fn streams_and_models_have_no_time_limit() {
        for path in ["/v1/chat/completions", "/mcp", "/mcp/alice", "/api/events"] {
            assert_eq!(timeout_of(path), None, "{path}");
        }
        assert_eq!(timeout_of("/api/memory"), Some(API_TIMEOUT));
        assert_eq!(timeout_of("/api/import"), Some(BULK_TIMEOUT));
    }
}
