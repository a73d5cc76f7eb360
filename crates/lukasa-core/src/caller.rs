//! The caller: who sent the request, for which user, and with which permissions.
//!
//! The HTTP and CLI layers build it from a credential, never from fields of the request.

use serde::{Deserialize, Serialize};

use crate::id::{TenantId, UserId};
use crate::origin::{Origin, Voice};

/// The kind of caller. Only a human can give consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallerKind {
    Human,
    Key,
    Job,
}

impl CallerKind {
    pub fn as_str(self) -> &'static str {
        match self {
            CallerKind::Human => "human",
            CallerKind::Key => "key",
            CallerKind::Job => "job",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [CallerKind::Human, CallerKind::Key, CallerKind::Job]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

/// A permission a credential can carry. Consent is not among them: it belongs to humans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// List, get, history, operations.
    Read,
    /// Save, update, forget, delete, restore, undo, link.
    Write,
    /// Propose a memory that waits for the user's consent.
    Propose,
    /// Erase a memory immediately, with all copies.
    Erase,
    /// Manage users, keys, domains and tokens of the tenant.
    Admin,
    /// Use the models behind the gateway, at the operator's cost.
    Chat,
}

impl Permission {
    pub const ALL: [Permission; 6] = [
        Permission::Read,
        Permission::Write,
        Permission::Propose,
        Permission::Erase,
        Permission::Admin,
        Permission::Chat,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Permission::Read => "read",
            Permission::Write => "write",
            Permission::Propose => "propose",
            Permission::Erase => "erase",
            Permission::Admin => "admin",
            Permission::Chat => "chat",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|permission| permission.as_str() == text)
    }
}

/// Who sent a request, and which user it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub tenant: TenantId,
    pub user: UserId,
    /// The tenant's name for the user; stored in the user's row, which the first write creates.
    pub user_name: String,
    pub kind: CallerKind,
    /// The credential's name, or `local`; recorded on every operation.
    pub credential: String,
    pub voice: Voice,
}

impl Caller {
    /// The user, acting for themselves.
    pub fn human(tenant: TenantId, user_name: &str, credential: &str) -> Self {
        Self {
            tenant,
            user: UserId::named(tenant, user_name),
            user_name: user_name.to_owned(),
            kind: CallerKind::Human,
            credential: credential.to_owned(),
            voice: Voice::stated(Origin::UserSaid),
        }
    }

    /// An application or assistant that holds a key.
    pub fn key(tenant: TenantId, user_name: &str, credential: &str, origin: Origin) -> Self {
        Self {
            kind: CallerKind::Key,
            voice: Voice::stated(origin),
            ..Self::human(tenant, user_name, credential)
        }
    }

    /// The same credential used by an AI model: its words have at most the assistant origin, and it
    /// cannot give consent, whatever the credential itself may do.
    pub fn through_a_model(&self) -> Self {
        let kind = if self.kind == CallerKind::Human { CallerKind::Key } else { self.kind };
        let origin = self.voice.origin.min(Origin::Assistant);
        Self { kind, voice: Voice { origin, ..self.voice }, ..self.clone() }
    }

    /// The learning pipeline, writing what it extracted from a conversation.
    pub fn extractor(tenant: TenantId, user_name: &str, origin: Origin) -> Self {
        Self {
            kind: CallerKind::Job,
            voice: Voice::extracted(origin),
            ..Self::human(tenant, user_name, "extractor")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caller_through_a_model_is_not_human_and_gains_no_trust() {
        let tenant = TenantId::named("acme");
        let human = Caller::human(tenant, "alice", "local").through_a_model();
        assert_eq!((human.kind, human.voice.origin), (CallerKind::Key, Origin::Assistant));
        let import = Caller::key(tenant, "alice", "k", Origin::Import).through_a_model();
        assert_eq!((import.kind, import.voice.origin), (CallerKind::Key, Origin::Import));
    }
}
