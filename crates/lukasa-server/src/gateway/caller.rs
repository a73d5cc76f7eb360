//! The caller, session and memory mode of a gateway request, from its headers. Tenant, user and
//! origin come from the credential, as for every protocol.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, header};
use jiff::tz::TimeZone;
use lukasa_core::{Caller, Permission, Project, limits, secret};

use super::refusal::GatewayError;
use super::upstream::refuse_own;
use crate::api::App;
use crate::api::auth::{FailOpenCredential, forbidden, user_of};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::recheck::HeldCredential;
use crate::api::request::chat_project_in;
use crate::api::search::{MAX_BUDGET_TOKENS, budget_named};

const KEY: HeaderName = HeaderName::from_static("x-lukasa-key");
const SESSION: HeaderName = HeaderName::from_static("x-lukasa-session");
const MODE: HeaderName = HeaderName::from_static("x-lukasa-mode");
const TOOLS: HeaderName = HeaderName::from_static("x-lukasa-tools");
const SHOW: HeaderName = HeaderName::from_static("x-lukasa-show");
const BUDGET: HeaderName = HeaderName::from_static("x-lukasa-budget");
const WINDOW: HeaderName = HeaderName::from_static("x-lukasa-window");
const TIMEZONE: HeaderName = HeaderName::from_static("x-lukasa-timezone");

/// How a request uses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryMode {
    /// Memory is added to the prompt, and the messages are recorded.
    On,
    /// Memory is added to the prompt, and nothing is recorded.
    ReadOnly,
    /// Neither: the request is forwarded unchanged.
    Off,
}

/// The caller of a gateway request, with its options.
#[derive(Debug, Clone)]
pub struct GatewayCaller {
    pub caller: Caller,
    pub mode: MemoryMode,
    /// The client's own id for the session.
    pub session: Option<String>,
    pub credential: HeldCredential,
    /// Whether the database has confirmed that the credential is still valid.
    pub is_verified: bool,
    /// Whether the messages are recorded.
    pub is_recorded: bool,
    /// The permissions of the credential.
    pub permissions: Vec<Permission>,
    /// Whether the model is offered the memory tools.
    pub has_tools: bool,
    /// Whether the client gets events about tool calls.
    pub shows_tools: bool,
    pub wishes: ContextOptions,
}

/// What the client asks of the context.
#[derive(Debug, Clone, Default)]
pub struct ContextOptions {
    /// Token budget of the memory.
    pub budget: Option<usize>,
    /// The model's context window in tokens.
    pub window: Option<usize>,
    pub zone: Option<TimeZone>,
    /// The project that the client works on.
    pub project: Option<Project>,
}

impl ContextOptions {
    fn of(headers: &HeaderMap) -> Result<Self, GatewayError> {
        let budget = match text(headers, &BUDGET)? {
            None => None,
            Some(name) => {
                let number = || name.parse().ok().filter(|tokens| *tokens <= MAX_BUDGET_TOKENS);
                Some(budget_named(name).or_else(number).ok_or_else(|| {
                    malformed("`X-Lukasa-Budget` must be compact, standard, deep or up to 100000")
                })?)
            }
        };
        let window = text(headers, &WINDOW)?.map(str::parse::<u32>).transpose();
        let window =
            window.map_err(|_| malformed("`X-Lukasa-Window` must be a number of tokens"))?;
        let zone = text(headers, &TIMEZONE)?.map(TimeZone::get).transpose();
        let zone = zone
            .map_err(|_| malformed("`X-Lukasa-Timezone` must be a name such as Europe/Lisbon"))?;
        let project = chat_project_in(headers).map_err(malformed)?;
        Ok(Self { budget, window: window.map(|tokens| tokens as usize), zone, project })
    }
}

impl GatewayCaller {
    /// Authenticates a request by its headers. `within` limits how long the database is waited for.
    pub async fn of(
        app: &App,
        headers: &HeaderMap,
        within: Duration,
    ) -> Result<Self, GatewayError> {
        refuse_own(headers)?;
        let mode = match text(headers, &MODE)? {
            None | Some("on") => MemoryMode::On,
            Some("read-only") => MemoryMode::ReadOnly,
            Some("off") => MemoryMode::Off,
            // A misspelled "off" must not lead to recording.
            Some(_) => return Err(malformed("`X-Lukasa-Mode` must be on, read-only or off")),
        };
        let has_tools = match text(headers, &TOOLS)? {
            Some("on") => mode != MemoryMode::Off,
            None | Some("off") => false,
            Some(_) => return Err(malformed("`X-Lukasa-Tools` must be on or off")),
        };
        let shows_tools = match text(headers, &SHOW)? {
            Some("tools") => true,
            None => false,
            Some(_) => return Err(malformed("`X-Lukasa-Show` must be tools")),
        };
        let wishes = ContextOptions::of(headers)?;
        let session = text(headers, &SESSION)?;
        if session.is_some_and(|name| !(1..=limits::NAME_CHARS).contains(&name.chars().count())) {
            return Err(malformed("`X-Lukasa-Session` must have 1 to 255 characters"));
        }
        let FailOpenCredential { admitted, credential, is_verified } =
            app.admit_fail_open(credential_of(headers), headers, within).await?;
        // Required in every mode, because the answer costs the operator the same.
        if !admitted.may(Permission::Chat) {
            return Err(forbidden(Permission::Chat).into());
        }
        if mode != MemoryMode::Off && !admitted.may(Permission::Read) {
            return Err(forbidden(Permission::Read).into());
        }
        let caller = admitted.caller(&user_of(app, &admitted, headers)?);
        let is_recorded = mode == MemoryMode::On && admitted.may(Permission::Write);
        app.limits().count_user(&caller)?;
        app.limits().take_chat_slot(&caller).await?;
        let has_tools = has_tools && is_verified;
        let (session, permissions) = (session.map(str::to_owned), admitted.permissions);
        Ok(Self {
            caller,
            mode,
            session,
            credential,
            is_verified,
            is_recorded,
            permissions,
            has_tools,
            shows_tools,
            wishes,
        })
    }
}

/// The Lukasa credential of a request: in `X-Lukasa-Key`, or as the bearer token.
fn credential_of(headers: &HeaderMap) -> Option<&str> {
    let own = headers.get(&KEY).and_then(|value| value.to_str().ok());
    own.map(str::trim).or_else(|| bearer(headers).filter(|text| secret::parse(text).is_some()))
}

pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, GatewayError> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    // Session ids may contain any Unicode text.
    let not_utf8 = |_| malformed(&format!("`{name}` is not UTF-8"));
    let text = std::str::from_utf8(value.as_bytes()).map_err(not_utf8)?;
    Ok(Some(text.trim()))
}

fn malformed(what: &str) -> GatewayError {
    Problem::of(ErrorCode::MalformedHeader).because(what).into()
}
