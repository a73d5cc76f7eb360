//! Previews of erasures, and the receipts of finished ones.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use lukasa_core::Timestamp;
use lukasa_engine::removal::{MAX_RECEIPTS, Rows, SignedReceipt};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::App;
use crate::api::auth::{Admin, Eraser, Reader, UserEraser};
use crate::api::error::Problem;
use crate::api::memory::target;
use crate::api::request::PathParams;

/// The rows that an erasure would remove.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErasurePreview {
    /// The user, if everything about them would be removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The memory, if only that would be removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_id: Option<String>,
    /// Rows by table.
    removes: BTreeMap<String, i64>,
    /// The same as text.
    #[schema(example = "12 memories, 3 sessions, 410 turns, 422 embeddings")]
    message: String,
}

/// Row counts as text, with the names that users know.
fn describe(rows: &Rows) -> String {
    const NAMES: [(&str, &str, &str); 10] = [
        ("fact", "memory", "memories"),
        ("fact_version", "version", "versions"),
        ("link", "link", "links"),
        ("session", "session", "sessions"),
        ("turn", "turn", "turns"),
        ("episode", "episode", "episodes"),
        ("observation", "observation", "observations"),
        ("embedding", "embedding", "embeddings"),
        ("retrieval", "retrieved context", "retrieved contexts"),
        ("idempotency", "stored response", "stored responses"),
    ];
    let parts: Vec<String> = NAMES
        .iter()
        .filter_map(|(table, one, many)| {
            let count = rows.get(*table).copied()?;
            Some(format!("{} {}", grouped(count), if count == 1 { one } else { many }))
        })
        .collect();
    let all: i64 = rows.values().sum();
    if parts.is_empty() { format!("{} rows", grouped(all)) } else { parts.join(", ") }
}

/// A number with commas between groups of three digits.
fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Preview what deleting a user would remove, without removing anything.
///
/// The user may request it too.
#[utoipa::path(get, path = "/api/users/{user}/erasure", tag = "users", params(
    ("user" = String, Path, description = "Your own id for the user")), responses(
    (status = 200, body = ErasurePreview),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn preview_user_erasure(
    State(app): State<App>,
    UserEraser { tenant, name, .. }: UserEraser,
) -> Result<Json<ErasurePreview>, Problem> {
    let removes = app.engine().erasures.preview_user_erasure(tenant, &name, app.now()).await?;
    let message = describe(&removes);
    Ok(Json(ErasurePreview { user: Some(name), memory_id: None, removes, message }))
}

/// Preview what erasing a memory would remove, without removing anything.
#[utoipa::path(get, path = "/api/memory/{id}/erasure", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")), responses(
    (status = 200, body = ErasurePreview),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn preview_erasure(
    State(app): State<App>,
    Eraser(caller): Eraser,
    PathParams(id): PathParams<String>,
) -> Result<Json<ErasurePreview>, Problem> {
    let (fact, removes) =
        app.engine().erasures.preview_erasure(&caller, &target(&id), app.now()).await?;
    let message = describe(&removes);
    Ok(Json(ErasurePreview { user: None, memory_id: Some(fact.to_string()), removes, message }))
}

/// The content of a receipt: what was erased, when, and how many rows; none of the erased text.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErasureReceipt {
    #[schema(example = "era_01hx3v9d0kf7rtm4q5wz8yb2cc")]
    id: String,
    /// `user`, `memory`, `turn` or `observation`.
    erased: String,
    tenant_id: String,
    user_id: String,
    memory_id: Option<String>,
    turn_id: Option<String>,
    observation_id: Option<String>,
    operation_id: Option<String>,
    /// `erase`, or `purge` for a memory that was in the trash.
    verb: &'static str,
    erased_at: Timestamp,
    /// Rows removed, by table.
    removed: BTreeMap<String, i64>,
    /// Whether a restored backup contained it, and it was removed again.
    replayed: bool,
    /// `pending` until the database's files have been rewritten without it, then `done`.
    files: String,
    files_done_at: Option<Timestamp>,
    /// Whether it is in the journal that is replayed when a backup is restored.
    journal: bool,
    /// What could not be removed, as text.
    not_removed: Vec<String>,
    issued_at: Timestamp,
}

/// An Ed25519 signature over the receipt as JSON without spaces, with the keys of every object
/// sorted.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReceiptSignature {
    #[schema(example = "ed25519")]
    algorithm: String,
    /// Hexadecimal, like the value.
    public_key: String,
    value: String,
}

/// A signed receipt, which `lukasa erase --verify` can verify offline.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignedReceiptView {
    receipt: ErasureReceipt,
    signature: ReceiptSignature,
}

impl From<SignedReceipt> for SignedReceiptView {
    fn from(signed: SignedReceipt) -> Self {
        let SignedReceipt { receipt, signature } = signed;
        Self {
            receipt: ErasureReceipt {
                id: receipt.id.to_string(),
                erased: receipt.erased,
                tenant_id: receipt.tenant_id.to_string(),
                user_id: receipt.user_id.to_string(),
                memory_id: receipt.memory_id.map(|id| id.to_string()),
                turn_id: receipt.turn_id.map(|id| id.to_string()),
                observation_id: receipt.observation_id.map(|id| id.to_string()),
                operation_id: receipt.operation_id.map(|id| id.to_string()),
                verb: receipt.verb.as_str(),
                erased_at: receipt.erased_at,
                removed: receipt.removed,
                replayed: receipt.replayed,
                files: receipt.files,
                files_done_at: receipt.files_done_at,
                journal: receipt.journal,
                not_removed: receipt.not_removed,
                issued_at: receipt.issued_at,
            },
            signature: ReceiptSignature {
                algorithm: signature.algorithm,
                public_key: signature.public_key,
                value: signature.value,
            },
        }
    }
}

/// Receipts, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct Receipts {
    data: Vec<SignedReceiptView>,
    /// Whether older receipts are left out: at most the latest 1,000 are listed.
    truncated: bool,
    /// The erasure of the user that is in progress, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<ErasureProgress>,
}

/// Progress of the erasure of a user.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErasureProgress {
    erasure_id: String,
    began_at: Timestamp,
    /// Rows removed so far, by table.
    removed: BTreeMap<String, i64>,
}

impl From<Vec<SignedReceipt>> for Receipts {
    fn from(receipts: Vec<SignedReceipt>) -> Self {
        let truncated = receipts.len() > MAX_RECEIPTS;
        let data = receipts.into_iter().take(MAX_RECEIPTS).map(SignedReceiptView::from).collect();
        Self { data, truncated, running: None }
    }
}

/// List the receipts of erased memories, newest first, with their current state; at most 1,000.
#[utoipa::path(get, path = "/api/erasures", tag = "memory", responses(
    (status = 200, body = Receipts),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_erasures(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<Receipts>, Problem> {
    Ok(Json(app.engine().erasures.receipts(&caller, app.now()).await?.into()))
}

/// List the receipts of everything erased about a user, who may be deleted, at most 1,000, and the
/// progress of a running erasure.
#[utoipa::path(get, path = "/api/users/{user}/erasures", tag = "users", params(
    ("user" = String, Path, description = "Your own id for the user")), responses(
    (status = 200, body = Receipts),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_user_erasures(
    State(app): State<App>,
    Admin(admitted): Admin,
    PathParams(name): PathParams<String>,
) -> Result<Json<Receipts>, Problem> {
    let receipts =
        app.engine().erasures.receipts_of_user(admitted.tenant, &name, app.now()).await?;
    let running = app.engine().erasures.erasure_under_way(admitted.tenant, &name).await?;
    let running = running.map(|(id, began_at, removed)| ErasureProgress {
        erasure_id: id.to_string(),
        began_at,
        removed,
    });
    Ok(Json(Receipts { running, ..receipts.into() }))
}

/// The public key of the receipts of this server.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReceiptKey {
    #[schema(example = "ed25519")]
    algorithm: &'static str,
    /// Hexadecimal.
    public_key: String,
}

/// Get the public key to verify receipts with.
///
/// Keep a copy: a receipt is verified with the key you know, not with the one it contains.
#[utoipa::path(get, path = "/receipts/key", tag = "memory", responses(
    (status = 200, body = ReceiptKey),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_receipt_key(State(app): State<App>) -> Result<Json<ReceiptKey>, Problem> {
    let public_key = app.engine().erasures.receipt_key().await?;
    Ok(Json(ReceiptKey { algorithm: "ed25519", public_key }))
}

#[cfg(test)]
mod tests {
    use lukasa_core::{ErasureId, TenantId, UserId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn erasure_counts_are_described_as_text() {
        let rows = [("fact", 1_204), ("turn", 1), ("embedding", 1_003_870), ("job", 3)];
        let rows: Rows = rows.into_iter().map(|(name, n)| (name.to_owned(), n)).collect();
        assert_eq!(describe(&rows), "1,204 memories, 1 turn, 1,003,870 embeddings");
        assert_eq!(describe(&Rows::new()), "0 rows");
    }

    #[test]
    fn list_of_receipts_says_if_older_ones_are_left_out() {
        let signed: SignedReceipt = serde_json::from_value(serde_json::json!({
            "receipt": {
                "id": ErasureId::from_uuid(Uuid::from_u128(1)),
                "erased": "user", "tenant_id": TenantId::named("acme"),
                "user_id": UserId::named(TenantId::named("acme"), "alice"), "verb": "erase",
                "erased_at": "2026-11-01T00:00:00Z", "removed": {}, "replayed": false, "files": "done",
                "journal": true, "not_removed": [], "issued_at": "2026-11-01T00:00:00Z"
            },
            "signature": { "algorithm": "ed25519", "public_key": "00", "value": "00" }
        }))
        .unwrap();
        let listed = |count: usize| Receipts::from(vec![signed.clone(); count]);
        assert!(!listed(MAX_RECEIPTS).truncated);
        let cut = listed(MAX_RECEIPTS + 1);
        assert!(cut.truncated);
        assert_eq!(cut.data.len(), MAX_RECEIPTS);
    }
}
