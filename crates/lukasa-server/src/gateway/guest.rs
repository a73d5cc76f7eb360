//! Who asks, about whom, in which chat, and how much memory they want: all of it from the headers of
//! a request. Tenant, user and origin are the credential's to say, as at every door.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, header};
use lukasa_core::{Caller, Permission, limits, secret};

use super::refusal::Refusal;
use crate::http::App;
use crate::http::auth::{StillAdmitted, forbidden, user_of};
use crate::http::error::Problem;

const KEY: HeaderName = HeaderName::from_static("x-lukasa-key");
const SESSION: HeaderName = HeaderName::from_static("x-lukasa-session");
const MODE: HeaderName = HeaderName::from_static("x-lukasa-mode");
const TOOLS: HeaderName = HeaderName::from_static("x-lukasa-tools");
const SHOW: HeaderName = HeaderName::from_static("x-lukasa-show");

/// How much memory a request wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Memory goes into the prompt, and what is said is kept.
    On,
    /// Memory goes into the prompt, and nothing is kept.
    ReadOnly,
    /// Neither: the request passes as it came.
    Off,
}

/// Whoever asks for an answer.
#[derive(Debug, Clone)]
pub struct Guest {
    pub caller: Caller,
    pub mode: Mode,
    /// The client's own name for the chat.
    pub session: Option<String>,
    /// The credential, if the database could not be asked whether it still holds.
    pub unverified: Option<String>,
    /// Whether what is said may be kept.
    pub keeps: bool,
    /// What the credential allows.
    pub may: Vec<Permission>,
    /// Whether the model is offered the memory tools.
    pub tools: bool,
    /// Whether the client wants to see them run.
    pub shown: bool,
}

impl Guest {
    /// The guest these headers speak of, if they may come in. The database has so long to say so.
    pub async fn of(app: &App, headers: &HeaderMap, within: Duration) -> Result<Self, Refusal> {
        let mode = match text(headers, &MODE)? {
            None | Some("on") => Mode::On,
            Some("read-only") => Mode::ReadOnly,
            Some("off") => Mode::Off,
            // Somebody who meant "off" must not be overheard because of a slip.
            Some(_) => return Err(malformed("`X-Lukasa-Mode` is on, read-only or off")),
        };
        let tools = match text(headers, &TOOLS)? {
            Some("on") => mode != Mode::Off,
            None | Some("off") => false,
            Some(_) => return Err(malformed("`X-Lukasa-Tools` is on or off")),
        };
        let shown = match text(headers, &SHOW)? {
            Some("tools") => true,
            None => false,
            Some(_) => return Err(malformed("`X-Lukasa-Show` is tools")),
        };
        let session = text(headers, &SESSION)?;
        if session.is_some_and(|name| !(1..=limits::NAME_CHARS).contains(&name.chars().count())) {
            return Err(malformed("`X-Lukasa-Session` is 1 to 255 characters"));
        }
        let StillAdmitted { admitted, unverified } =
            app.admit_still(credential(headers), headers, within).await?;
        // Whatever the mode: the answer costs the operator the same.
        if !admitted.may(Permission::Chat) {
            return Err(forbidden(Permission::Chat).into());
        }
        if mode != Mode::Off && !admitted.may(Permission::Read) {
            return Err(forbidden(Permission::Read).into());
        }
        let caller = admitted.caller(&user_of(app, &admitted, headers)?);
        let keeps = mode == Mode::On && admitted.may(Permission::Write);
        app.limits().count_user(&caller)?;
        let tools = tools && unverified.is_none();
        let (session, may) = (session.map(str::to_owned), admitted.permissions);
        Ok(Self { caller, mode, session, unverified, keeps, may, tools, shown })
    }
}

/// The Lukasa credential of a request: in a header of its own, or where a client puts its key.
fn credential(headers: &HeaderMap) -> Option<&str> {
    let own = headers.get(&KEY).and_then(|value| value.to_str().ok());
    own.map(str::trim).or_else(|| bearer(headers).filter(|text| secret::parse(text).is_some()))
}

pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Refusal> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    // Applications name chats in every script there is.
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| malformed("It is not UTF-8"))?;
    Ok(Some(text.trim()))
}

fn malformed(what: &str) -> Refusal {
    Problem::of("malformed_header").because(what).into()
}
