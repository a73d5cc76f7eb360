//! Proof that a question was asked: its key is sent to the client signed for one caller and a few
//! minutes, and a yes is accepted only with such a key, and only once on all servers.

use lukasa_core::secret::constant_time_eq;
use lukasa_core::{Caller, CallerKind};
use lukasa_engine::Request;

use crate::api::App;
use crate::clock;

/// How long a question can be answered.
const QUESTION_SECONDS: i64 = 15 * 60;

/// Signs the key of a question for the client. Any server of the installation can verify it.
pub async fn seal(app: &App, caller: &Caller, key: &str) -> lukasa_engine::Result<String> {
    let expires = app.now().as_second() + QUESTION_SECONDS;
    let nonce = u64::from_be_bytes(clock::random());
    let seal = app.engine().credentials.seal(&text(caller, key, expires, nonce)).await?;
    Ok(format!("{key}~{expires}~{nonce:016x}~{seal}"))
}

/// Verifies a signed key and returns the question's key, if it was issued to this caller. For a caller
/// that is not human the tools refuse the answer themselves.
pub async fn open(app: &App, caller: &Caller, sealed: &str) -> Option<String> {
    if caller.kind != CallerKind::Human {
        return Some(sealed.to_owned());
    }
    let mut parts = sealed.rsplitn(4, '~');
    let (seal, nonce, expires) = (parts.next()?, parts.next()?, parts.next()?);
    let key = parts.next()?;
    let expires: i64 = expires.parse().ok()?;
    let nonce = u64::from_str_radix(nonce, 16).ok()?;
    if app.now().as_second() > expires {
        return None;
    }
    let text = text(caller, key, expires, nonce);
    let made = app.engine().credentials.accepted_seals(&text).await.ok()?;
    let is_ours = |made: &String| constant_time_eq(made.as_bytes(), seal.as_bytes());
    made.iter().any(is_ours).then(|| key.to_owned())
}

/// Takes the yes to a question; false if it was taken before, or if that cannot be known.
pub async fn take(app: &App, caller: &Caller, sealed: &str) -> bool {
    if caller.kind != CallerKind::Human {
        return true;
    }
    let request = Request::new(caller.clone(), app.moment());
    app.engine().consents.take_answer(&request, sealed).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "could not record the answer to a question");
        false
    })
}

/// Returns a yes that was taken, because the call asks something else first.
pub async fn return_taken(app: &App, caller: &Caller, sealed: &str) {
    let request = Request::new(caller.clone(), app.moment());
    if let Err(error) = app.engine().consents.return_answer(&request, sealed).await {
        tracing::warn!(%error, "could not return the answer to a question");
    }
}

fn text(caller: &Caller, key: &str, expires: i64, nonce: u64) -> String {
    format!("question\n{}\n{}\n{key}\n{expires}\n{nonce}", caller.user, caller.credential)
}
