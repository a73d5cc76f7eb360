//! The caller: who sent the request, for which user, and with which permissions.
//!
//! The HTTP and CLI layers build it from a credential, never from fields of the request.

use crate::id::{TenantId, UserId};
use crate::origin::{Origin, Voice};
use crate::space::SpaceName;
use crate::words;

words!(
    /// The kind of caller. Only a human can give consent.
    CallerKind {
        Human = "human",
        Key = "key",
        Job = "job",
    }
);

words!(
    /// A permission a credential can carry. Consent is not among them: it belongs to humans.
    Permission {
        /// List, get, history, operations.
        Read = "read",
        /// Save, update, forget, delete, restore, undo, link.
        Write = "write",
        /// Propose a memory that waits for the user's consent.
        Propose = "propose",
        /// Erase a memory immediately, with all copies.
        Erase = "erase",
        /// Manage users, keys, domains and tokens of the tenant.
        Admin = "admin",
        /// Use the models behind the gateway, at the operator's cost.
        Chat = "chat",
    }
);

/// Who sent a request, and which user it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub tenant: TenantId,
    pub user: UserId,
    /// The tenant's name for the user; stored in the user's row, which the first write creates.
    pub user_name: String,
    pub kind: CallerKind,
    /// The credential's name, or `local`.
    pub credential: String,
    /// The key that issued the credential, if that is a token: tokens live for minutes.
    pub issuer: Option<String>,
    pub voice: Voice,
    /// The member who acts in a space; `user` is the space then. The store opens no transaction for
    /// a member without a grant in force.
    pub member: Option<UserId>,
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
            issuer: None,
            voice: Voice::stated(Origin::UserSaid),
            member: None,
        }
    }

    /// The credential that operations record: of a token the key that issued it.
    pub fn author(&self) -> &str {
        self.issuer.as_deref().unwrap_or(&self.credential)
    }

    /// The same caller, acting as a member of a space.
    #[must_use]
    pub fn in_space(&self, space: &SpaceName) -> Self {
        Self {
            user: space.user_id(self.tenant),
            user_name: space.user_name(),
            member: Some(self.user),
            ..self.clone()
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
    fn caller_in_a_space_keeps_its_credential_and_trust() {
        let tenant = TenantId::named("acme");
        let agent = Caller::key(tenant, "alice", "k", Origin::Assistant);
        let family = SpaceName::parse("family").unwrap();
        let there = agent.in_space(&family);
        assert_eq!((there.kind, there.voice), (agent.kind, agent.voice));
        assert_eq!((there.member, there.user), (Some(agent.user), family.user_id(tenant)));
        assert_eq!(there.credential, agent.credential);
    }

    #[test]
    fn caller_through_a_model_is_not_human_and_gains_no_trust() {
        let tenant = TenantId::named("acme");
        let human = Caller::human(tenant, "alice", "local").through_a_model();
        assert_eq!((human.kind, human.voice.origin), (CallerKind::Key, Origin::Assistant));
        let import = Caller::key(tenant, "alice", "k", Origin::Import).through_a_model();
        assert_eq!((import.kind, import.voice.origin), (CallerKind::Key, Origin::Import));
    }
}
