//! Receipts of erasures. A receipt names what was erased, when and how many rows, and contains none
//! of the content; it is signed, so that third parties can verify it without a server.

use lukasa_core::{
    ErasureId, FactId, ObservationId, OperationId, TenantId, Timestamp, TurnId, UserId, Verb,
};
use lukasa_store::erasure::{Erasure, Rows};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::signing::{Signer, canonical, verify_bytes};

/// Content of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub id: ErasureId,
    /// `user`, `memory`, `turn` or `observation`.
    pub erased: String,
    pub tenant_id: TenantId,
    pub user_id: UserId,
    pub memory_id: Option<FactId>,
    pub turn_id: Option<TurnId>,
    #[serde(default)]
    pub observation_id: Option<ObservationId>,
    pub operation_id: Option<OperationId>,
    /// `erase`, or `purge` for what was in the trash.
    pub verb: Verb,
    pub erased_at: Timestamp,
    /// Rows removed, by table.
    pub removed: Rows,
    /// Whether it was removed again after a backup had restored it.
    pub replayed: bool,
    /// `pending` until the database's files have been rewritten without it, then `done`.
    pub files: String,
    pub files_done_at: Option<Timestamp>,
    /// Whether it is in the journal that is replayed when a backup is restored.
    pub journal: bool,
    /// What could not be removed, as text.
    pub not_removed: Vec<String>,
    pub issued_at: Timestamp,
}

impl Receipt {
    pub(super) fn of(
        tenant: TenantId,
        user: UserId,
        erasure: &Erasure,
        journal: bool,
        now: Timestamp,
    ) -> Self {
        let back = if journal {
            "if one is restored, the erasure journal removes it again before requests are served"
        } else {
            "restoring one also restores it, because no erasure journal is kept"
        };
        Self {
            id: erasure.id,
            erased: match (erasure.fact, erasure.turn, erasure.observation) {
                (Some(_), _, _) => "memory",
                (_, Some(_), _) => "turn",
                (_, _, Some(_)) => "observation",
                _ => "user",
            }
            .into(),
            tenant_id: tenant,
            user_id: user,
            memory_id: erasure.fact,
            turn_id: erasure.turn,
            observation_id: erasure.observation,
            operation_id: erasure.operation,
            verb: erasure.verb,
            erased_at: erasure.erased_at,
            removed: erasure.removed.clone(),
            replayed: erasure.replayed,
            files: if erasure.scrubbed_at.is_some() { "done" } else { "pending" }.into(),
            files_done_at: erasure.scrubbed_at,
            journal,
            not_removed: vec![
                format!(
                    "backups and log archives made before {} hold copies until they are \
                     replaced; {back}",
                    erasure.erased_at
                ),
                "exports that were handed out".into(),
                "what applications, receivers of webhooks and the providers of models kept of what \
                 they were sent"
                    .into(),
            ],
            issued_at: now,
        }
    }
}

/// A receipt and the signature over it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedReceipt {
    pub receipt: Receipt,
    pub signature: Signature,
}

/// An Ed25519 signature over the receipt as JSON without spaces, the keys of every object in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    pub algorithm: String,
    /// In hexadecimal, like the value.
    pub public_key: String,
    pub value: String,
}

/// Why a receipt is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptError {
    #[error("this is not a receipt")]
    NoReceipt,
    #[error("the receipt was changed after it was signed, or it was never signed")]
    Changed,
    #[error("the receipt was signed with another key: {0}")]
    OtherKey(String),
}

impl SignedReceipt {
    pub(super) fn new(receipt: Receipt, signer: &Signer) -> Self {
        let text = canonical(&json!(receipt));
        let signature = Signature {
            algorithm: "ed25519".into(),
            public_key: signer.public_key(),
            value: signer.sign_bytes(text.as_bytes()),
        };
        Self { receipt, signature }
    }
}

/// Parses a receipt and verifies its signature, and that its key is the expected one if one is
/// given. It makes no external requests.
pub fn verify(signed: &Value, expected: Option<&str>) -> Result<SignedReceipt, ReceiptError> {
    let read: SignedReceipt =
        serde_json::from_value(signed.clone()).map_err(|_| ReceiptError::NoReceipt)?;
    let key = &read.signature.public_key;
    if expected.is_some_and(|expected| !expected.eq_ignore_ascii_case(key)) {
        return Err(ReceiptError::OtherKey(key.clone()));
    }
    // Verify the document as sent, not the parsed fields: unknown fields count too.
    let text = canonical(&signed["receipt"]);
    if !verify_bytes(key, &read.signature.value, text.as_bytes()) {
        return Err(ReceiptError::Changed);
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed() -> Value {
        let at = Timestamp::from_second(1_767_225_600).unwrap();
        let mut ids = lukasa_core::Ids::new(at, [3; 16]);
        let tenant = TenantId::named("acme");
        let erasure = Erasure {
            id: ids.erasure(),
            fact: Some(ids.fact()),
            turn: None,
            observation: None,
            verb: Verb::Erase,
            operation: Some(ids.operation()),
            erased_at: at,
            removed: Rows::from([("fact_version".into(), 3), ("link".into(), 1)]),
            replayed: false,
            scrubbed_at: None,
        };
        let user = UserId::named(tenant, "alice");
        let receipt = Receipt::of(tenant, user, &erasure, true, at);
        json!(SignedReceipt::new(receipt, &Signer::from_seed(&[7; 32]).unwrap()))
    }

    /// The same document with the keys of every object reversed.
    fn reversed(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                fields.iter().rev().map(|(name, value)| (name.clone(), reversed(value))).collect()
            }
            other => other.clone(),
        }
    }

    #[test]
    fn receipt_verification_ignores_key_order() {
        let signed = signed();
        let read = verify(&signed, None).unwrap();
        assert_eq!(read.receipt.removed["fact_version"], 3);
        verify(&reversed(&signed), Some(&read.signature.public_key.to_uppercase())).unwrap();
        assert_ne!(reversed(&signed).to_string(), signed.to_string());
    }

    #[test]
    fn changed_receipt_is_rejected() {
        for (pointer, other) in [
            ("/receipt/removed/link", json!(2)),
            ("/receipt/files", json!("done")),
            ("/receipt/erased_at", json!("2026-01-01T00:00:01Z")),
            ("/receipt/not_removed/1", json!("")),
            ("/signature/value", json!("00".repeat(64))),
            ("/signature/public_key", json!("00".repeat(32))),
        ] {
            let mut forged = signed();
            *forged.pointer_mut(pointer).unwrap() = other;
            assert_eq!(verify(&forged, None), Err(ReceiptError::Changed), "{pointer}");
        }
        let mut more = signed();
        more["receipt"]["remark"] = json!("also signed");
        assert_eq!(verify(&more, None), Err(ReceiptError::Changed), "an added field counts too");
        let key = "ab".repeat(32);
        assert!(matches!(verify(&signed(), Some(&key)), Err(ReceiptError::OtherKey(_))));
        assert_eq!(verify(&json!({}), None), Err(ReceiptError::NoReceipt));
    }
}
