//! Proof that a question was asked: its key goes to the client signed for one caller and a few
//! minutes, and a yes is taken with such a key only, once.

use lukasa_core::{Caller, CallerKind};

use crate::clock;
use crate::http::App;

/// For how long a question can be answered.
const QUESTION_SECONDS: i64 = 15 * 60;

/// The key of a question as it goes to the client. Any server of the installation can check it.
pub async fn seal(app: &App, caller: &Caller, key: &str) -> lukasa_engine::Result<String> {
    let expires = clock::now().as_second() + QUESTION_SECONDS;
    let nonce = u64::from_be_bytes(clock::random());
    let seal = app.engine().seal(&text(caller, key, expires, nonce)).await?;
    Ok(format!("{key}~{expires}~{nonce:016x}~{seal}"))
}

/// The key of the question that a client answers, if it was asked of this caller and not yet
/// answered with yes. What a caller says that cannot answer at all is left for the tools to refuse.
pub async fn open(app: &App, caller: &Caller, sealed: &str) -> Option<String> {
    if caller.kind != CallerKind::Human {
        return Some(sealed.to_owned());
    }
    let mut parts = sealed.rsplitn(4, '~');
    let (seal, nonce, expires) = (parts.next()?, parts.next()?, parts.next()?);
    let key = parts.next()?;
    let expires: i64 = expires.parse().ok()?;
    let nonce = u64::from_str_radix(nonce, 16).ok()?;
    if clock::now().as_second() > expires || app.answered().contains_key(sealed) {
        return None;
    }
    let made = app.engine().seal(&text(caller, key, expires, nonce)).await.ok()?;
    // Both are codes of a secret that the client does not have, compared without stopping early.
    let differ = made.bytes().zip(seal.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    (made.len() == seal.len() && differ == 0).then(|| key.to_owned())
}

fn text(caller: &Caller, key: &str, expires: i64, nonce: u64) -> String {
    format!("question\n{}\n{}\n{key}\n{expires}\n{nonce}", caller.user, caller.credential)
}
