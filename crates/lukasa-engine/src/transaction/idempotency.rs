//! Stored answers: a repeated request with the same idempotency key gets the answer of the first.

use lukasa_core::FactId;
use lukasa_core::time::micros;
use lukasa_store::idempotency::{self, StoredResponse};
use lukasa_store::{Batch, Scope};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::request::Request;

/// The row of the request's idempotency key, if it has one and was answered before.
pub(super) async fn find(
    scope: &Scope,
    request: &Request,
) -> Result<Option<StoredResponse>, lukasa_store::Error> {
    match stored_key(request) {
        Some(key) => idempotency::find(scope, &key).await,
        None => Ok(None),
    }
}

/// The key of the row. The members of a space choose their keys independently of each other, so it
/// begins with the member there; the erasure of the member finds it by that.
fn stored_key(request: &Request) -> Option<String> {
    let key = &request.idempotency.as_ref()?.key;
    Some(match request.caller.member {
        Some(member) => {
            format!("{} {}", member.uuid(), hex::encode(Sha256::digest(key.as_bytes())))
        }
        None => key.clone(),
    })
}

/// The answer in a row, which must be of the same request.
pub(super) fn parse<T: DeserializeOwned>(row: StoredResponse, request: &Request) -> Result<T> {
    let same = request.idempotency.as_ref().is_some_and(|k| k.request_hash == row.request_hash);
    if !same {
        return Err(Error::IdempotencyMismatch);
    }
    let answer = row.outcome.ok_or(Error::AnswerErased)?;
    serde_json::from_value(answer).map_err(|e| corrupt(&e))
}

/// Stores an answer under the request's idempotency key, if it has one. It is cleared when one of
/// the facts it quotes is erased.
pub(crate) fn keep_answer(
    batch: &mut Batch,
    scope: &Scope,
    request: &Request,
    answer: &impl Serialize,
    quoted: &[FactId],
) -> Result<()> {
    if let (Some(key), Some(stored)) = (&request.idempotency, stored_key(request)) {
        let (hash, now) = (&key.request_hash, micros(request.moment.now));
        let body = serde_json::to_value(answer).map_err(|e| corrupt(&e))?;
        idempotency::keep(batch, scope, &stored, hash, body, quoted, now);
    }
    Ok(())
}

fn corrupt(error: &serde_json::Error) -> Error {
    Error::Internal(lukasa_store::Error::Corrupt { table: "idempotency", what: error.to_string() })
}
