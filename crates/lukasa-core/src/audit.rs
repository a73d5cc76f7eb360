//! The audit log: who did what to access and to whole memories, in one chain of hashes per tenant.
//!
//! A record holds ids, words and numbers, never content or names, because it outlives the user it is
//! about. Each record contains the hash of the one before it, so a changed, removed or reordered
//! record is detected by computing the hashes again.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::caller::{Caller, CallerKind};
use crate::id::{TenantId, UserId};
use crate::time::Timestamp;
use crate::words;

/// Maximum number of characters of a detail.
pub const DETAIL_CHARS: usize = 200;
/// The hash before the first record of a chain.
pub const NO_HASH: [u8; 32] = [0; 32];
/// The first line of the text that is hashed. A change of the text's form changes it too.
const FORM: &str = "lukasa audit 1";

words! {
    /// What a record is about. The comment says what its subject is.
    AuditEvent {
        /// The new sign-in; of a refused one the link.
        SignIn = "sign_in",
        /// The sign-in, token or unused link that was ended.
        SignInEnd = "sign_in.end",
        /// The link.
        LinkCreate = "link.create",
        /// The key.
        KeyCreate = "key.create",
        /// The key.
        KeyRevoke = "key.revoke",
        /// The key that was replaced.
        KeyRotate = "key.rotate",
        /// The webhook.
        WebhookCreate = "webhook.create",
        /// The webhook that was changed, enabled or disabled.
        WebhookEdit = "webhook.edit",
        /// The webhook that was removed.
        WebhookRemove = "webhook.remove",
        /// The webhook whose secret was replaced.
        WebhookRotate = "webhook.rotate",
        /// Nothing: the key of the whole installation was replaced.
        SigningKeyRotate = "signing_key.rotate",
        /// The connector.
        ConnectorCreate = "connector.create",
        /// The connector.
        ConnectorEnd = "connector.end",
        /// The version of the tenant's policy.
        TenantPolicy = "policy.tenant",
        /// The version of the user's policy.
        UserPolicy = "policy.user",
        /// The operation that gave, withdrew or restored the user's consent to use what is inferred
        /// about a domain.
        DomainConsent = "domain.consent",
        /// Nothing: everything about the user was read.
        Export = "export",
        /// The import.
        Import = "import",
        /// The import.
        ImportUndo = "import.undo",
        /// The operation that erased or purged memories or turns.
        Erase = "erase",
        /// The erasure of everything about the user.
        UserErase = "user.erase",
        /// The space.
        SpaceCreate = "space.create",
        /// The space, about the member.
        SpaceGrant = "space.grant",
        /// The space, about the member.
        SpaceAccept = "space.accept",
        /// The space, about the member whose grant was ended.
        SpaceEnd = "space.end",
        /// The number of the last record that was removed.
        Prune = "audit.prune",
    }
}

words! {
    /// The result of what was attempted.
    AuditResult {
        Done = "done",
        Refused = "refused",
    }
}

words! {
    /// The kind of credential that did it.
    ActorKind {
        /// A user, with a sign-in or a token.
        Human = "human",
        /// An application or an assistant with a key.
        Key = "key",
        /// An assistant that connected by OAuth.
        Connector = "connector",
        /// A sign-in link.
        Link = "link",
        /// An identity provider, on behalf of the user whom it signed in.
        Provider = "provider",
        /// The user of a server without authentication.
        Local = "local",
        /// A command with access to the database.
        Operator = "operator",
        /// A background job, or the replay of the erasure journal.
        Job = "job",
    }
}

/// Who did something, by credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditActor {
    pub tenant: TenantId,
    pub kind: ActorKind,
    /// The id of the credential, or a fixed word where there is none.
    pub credential: String,
}

impl AuditActor {
    pub fn new(tenant: TenantId, kind: ActorKind, credential: &str) -> Self {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        // Anything else is not an id of ours, and could contain a name.
        let plain = !credential.is_empty() && credential.len() <= 64;
        let plain = plain && credential.chars().all(is_plain);
        Self { tenant, kind, credential: if plain { credential } else { "other" }.to_owned() }
    }

    /// Who sent a request.
    pub fn of(caller: &Caller) -> Self {
        let kind = match caller.kind {
            _ if caller.credential == "local" => ActorKind::Local,
            CallerKind::Human => ActorKind::Human,
            CallerKind::Key => ActorKind::Key,
            CallerKind::Job => ActorKind::Job,
        };
        Self::new(caller.tenant, kind, &caller.credential)
    }
}

/// A tenant alone stands for its operator: a command with access to the database.
impl From<TenantId> for AuditActor {
    fn from(tenant: TenantId) -> Self {
        Self::new(tenant, ActorKind::Operator, "operator")
    }
}

/// A record to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub at: Timestamp,
    pub event: AuditEvent,
    pub result: AuditResult,
    pub actor: AuditActor,
    /// The user it is about.
    pub user: Option<UserId>,
    /// The id of what it is about; empty if the user is.
    pub subject: String,
    /// Fixed words and numbers, such as permissions; empty if there is nothing to add.
    pub detail: String,
}

impl AuditEntry {
    pub fn done(event: AuditEvent, actor: AuditActor, at: Timestamp) -> Self {
        let (subject, detail) = (String::new(), String::new());
        Self { at, event, result: AuditResult::Done, actor, user: None, subject, detail }
    }

    #[must_use]
    pub fn about(mut self, user: UserId) -> Self {
        self.user = Some(user);
        self
    }

    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "ids are values, and texts are references")]
    pub fn subject(mut self, id: impl ToString) -> Self {
        self.subject = id.to_string();
        self
    }

    /// Adds words of ours; characters that do not occur in such words are left out.
    #[must_use]
    pub fn detail(mut self, words: &str) -> Self {
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || "_.,:=-".contains(*c);
        self.detail = words.chars().filter(is_plain).take(DETAIL_CHARS).collect();
        self
    }

    #[must_use]
    pub fn refused(mut self) -> Self {
        self.result = AuditResult::Refused;
        self
    }
}

/// A stored record. Its words are texts, so that a chain with words of a later version can be
/// verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditRecord {
    pub tenant_id: TenantId,
    /// The position in the tenant's chain, from 1.
    pub number: i64,
    pub at: Timestamp,
    pub event: String,
    pub result: String,
    pub actor_kind: String,
    pub actor: String,
    pub user_id: Option<UserId>,
    pub subject: String,
    pub detail: String,
    /// The hash of the record before it, in hexadecimal digits.
    #[serde(with = "hex_hash")]
    pub previous: [u8; 32],
    #[serde(with = "hex_hash")]
    pub hash: [u8; 32],
}

impl AuditRecord {
    /// The hash that the record must have. The trigger `chain_audit` computes the same.
    pub fn compute_hash(&self) -> [u8; 32] {
        let user = self.user_id.map(|user| user.uuid().to_string()).unwrap_or_default();
        let lines = [
            FORM,
            &self.tenant_id.uuid().to_string(),
            &self.number.to_string(),
            &self.at.as_microsecond().to_string(),
            &self.event,
            &self.result,
            &self.actor_kind,
            &self.actor,
            &user,
            &self.subject,
            &self.detail,
            &print_hash(&self.previous),
        ];
        Sha256::digest(lines.join("\n")).into()
    }
}

/// A hash as hexadecimal digits.
pub fn print_hash(hash: &[u8]) -> String {
    hex::encode(hash)
}

/// Parses a hash of 64 hexadecimal digits.
pub fn parse_hash(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    for (place, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(hash)
}

mod hex_hash {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(hash: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::print_hash(hash))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(from)?;
        super::parse_hash(&text).ok_or_else(|| D::Error::custom("not a hash"))
    }
}

/// A place in a chain: the last record before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainPosition {
    pub number: i64,
    pub hash: [u8; 32],
}

impl ChainPosition {
    /// Before the first record.
    pub const START: Self = Self { number: 0, hash: NO_HASH };
}

/// Why a chain is not intact, and the first record where it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainFault {
    /// The record does not have the hash of its content: it was changed.
    Changed(i64),
    /// The record does not follow the one before it: one was removed, inserted or moved.
    Order { number: i64, expected: i64 },
    /// The record names another hash than that of the record before it.
    Broken(i64),
    /// Records are missing at the end: the chain ended with this number.
    MissingEnd { last: i64, expected: i64 },
    /// The last record is not the one that the head names.
    OtherEnd(i64),
}

impl std::fmt::Display for ChainFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ChainFault::Changed(number) => {
                write!(f, "record {number} was changed: it does not have the hash of its content")
            }
            ChainFault::Order { number, expected } => write!(
                f,
                "record {number} is where record {expected} has to be: records were removed, \
                 inserted or moved"
            ),
            ChainFault::Broken(number) => write!(
                f,
                "record {number} does not contain the hash of the record before it: that one was \
                 replaced"
            ),
            ChainFault::MissingEnd { last, expected } => {
                write!(f, "the chain ends with record {last} instead of {expected}")
            }
            ChainFault::OtherEnd(number) => {
                write!(f, "record {number}, the last one, was replaced")
            }
        }
    }
}

impl std::error::Error for ChainFault {}

impl ChainPosition {
    /// Checks that a record continues the chain here, and moves on to it.
    pub fn follow(&mut self, record: &AuditRecord) -> Result<(), ChainFault> {
        let expected = self.number + 1;
        if record.number != expected {
            return Err(ChainFault::Order { number: record.number, expected });
        }
        if record.compute_hash() != record.hash {
            return Err(ChainFault::Changed(record.number));
        }
        if record.previous != self.hash {
            return Err(ChainFault::Broken(record.number));
        }
        *self = Self { number: record.number, hash: record.hash };
        Ok(())
    }

    /// Checks that the chain ends here.
    pub fn check_end(&self, head: ChainPosition) -> Result<(), ChainFault> {
        if self.number != head.number {
            return Err(ChainFault::MissingEnd { last: self.number, expected: head.number });
        }
        if self.hash != head.hash {
            return Err(ChainFault::OtherEnd(self.number));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(length: i64) -> Vec<AuditRecord> {
        let mut at = ChainPosition::START;
        let next = |number| {
            let mut record = AuditRecord {
                tenant_id: TenantId::named("acme"),
                number,
                at: Timestamp::from_second(1_800_000_000 + number).expect("a time"),
                event: "key.create".into(),
                result: "done".into(),
                actor_kind: "operator".into(),
                actor: "operator".into(),
                user_id: (number % 2 == 0).then(|| UserId::named(TenantId::named("acme"), "a")),
                subject: format!("k{number}"),
                detail: String::new(),
                previous: at.hash,
                hash: NO_HASH,
            };
            record.hash = record.compute_hash();
            at = ChainPosition { number, hash: record.hash };
            record
        };
        (1..=length).map(next).collect()
    }

    fn check(records: &[AuditRecord], head: ChainPosition) -> Result<(), ChainFault> {
        let mut at = ChainPosition::START;
        records.iter().try_for_each(|record| at.follow(record))?;
        at.check_end(head)
    }

    #[test]
    fn audit_chain_detects_changed_removed_and_reordered_records() {
        let whole = chain(6);
        let head = ChainPosition { number: 6, hash: whole[5].hash };
        assert_eq!(check(&whole, head), Ok(()));
        let mut changed = whole.clone();
        changed[2].subject = "k9".into();
        assert_eq!(check(&changed, head), Err(ChainFault::Changed(3)));
        // With the hash computed again, the next record shows it.
        changed[2].hash = changed[2].compute_hash();
        assert_eq!(check(&changed, head), Err(ChainFault::Broken(4)));
        let mut last = whole.clone();
        last[5].detail = "other".into();
        last[5].hash = last[5].compute_hash();
        assert_eq!(check(&last, head), Err(ChainFault::OtherEnd(6)));
        let mut removed = whole.clone();
        removed.remove(3);
        let fault = ChainFault::Order { number: 5, expected: 4 };
        assert_eq!(check(&removed, head), Err(fault));
        let mut swapped = whole.clone();
        swapped.swap(1, 2);
        assert_eq!(check(&swapped, head), Err(ChainFault::Order { number: 3, expected: 2 }));
        let end = ChainFault::MissingEnd { last: 5, expected: 6 };
        assert_eq!(check(&whole[..5], head), Err(end));
    }

    #[test]
    fn audit_record_is_the_same_after_json() {
        let record = chain(2).remove(1);
        let text = serde_json::to_string(&record).expect("json");
        assert_eq!(serde_json::from_str::<AuditRecord>(&text).ok(), Some(record));
        assert_eq!(parse_hash("00"), None);
        assert_eq!(parse_hash(&"g".repeat(64)), None);
    }

    #[test]
    fn audit_actor_and_detail_hold_no_other_text() {
        let tenant = TenantId::named("acme");
        let actor = AuditActor::new(tenant, ActorKind::Key, "Alice Example <alice@example.org>");
        assert_eq!(actor.credential, "other");
        let entry = AuditEntry::done(AuditEvent::Export, actor, Timestamp::UNIX_EPOCH);
        assert_eq!(entry.detail("read,write\n\"x\"").detail, "read,writex");
    }
}
