//! Identifiers: UUIDs that print with a prefix, so that a memory can be distinguished from an
//! operation in a log line.
//!
//! Printed form: `mem_` + 26 characters of Crockford base32, which sorts like the UUID. Ids of new
//! rows are UUIDv7 drawn from an [`Ids`] that the caller seeds; tenant and user ids are derived
//! from their names, so finding a shard needs no lookup. Nothing here draws randomness itself.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::time::Timestamp;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

fn encode(uuid: Uuid) -> String {
    // 26 characters carry 130 bits; the two highest are always zero.
    let bits = uuid.as_u128();
    (0..26).rev().map(|i| ALPHABET[(bits >> (i * 5)) as usize & 31] as char).collect()
}

fn decode(text: &str) -> Option<Uuid> {
    if text.len() != 26 {
        return None;
    }
    let mut bits: u128 = 0;
    for (i, byte) in text.bytes().enumerate() {
        let digit = ALPHABET.iter().position(|a| *a == byte)? as u128;
        if i == 0 && digit > 7 {
            return None;
        }
        bits = (bits << 5) | digit;
    }
    Some(Uuid::from_u128(bits))
}

/// The text was not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a {expected} id")]
pub struct BadId {
    pub expected: &'static str,
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            pub const PREFIX: &'static str = $prefix;
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}_{}", $prefix, encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                text.strip_prefix(concat!($prefix, "_"))
                    .and_then(decode)
                    .map(Self)
                    .ok_or(BadId { expected: $prefix })
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id_type!(
    /// A customer of one deployment.
    TenantId, "ten");
id_type!(
    /// The user whom the memory is about; leads every key and index.
    UserId, "usr");
id_type!(
    /// A queued job.
    JobId, "job");
id_type!(
    /// One extraction call to a chat model about a range of turns.
    PassId, "pas");
id_type!(
    /// The summary of a range of turns.
    EpisodeId, "epi");
id_type!(
    /// One call of a chat model.
    CallId, "cal");
id_type!(
    /// A memory. Stable through every change, correction, undo and restore.
    FactId, "mem");
id_type!(
    /// One bitemporal row of a fact.
    VersionId, "ver");
id_type!(
    /// A typed link between two facts.
    LinkId, "lnk");
id_type!(
    /// One write, by any caller.
    OperationId, "op");
id_type!(
    /// One message of a session.
    TurnId, "trn");
id_type!(
    /// One retrieval: what was put into a prompt, and why.
    RetrievalId, "ret");
id_type!(
    /// One use of a memory that an application reported.
    UsageId, "use");
id_type!(
    /// One raw event of another application or of an agent.
    ObservationId, "obs");
id_type!(
    /// One permanent removal, of a memory or of all data of a user.
    ErasureId, "era");

id_type!(
    /// A URL of the tenant that is notified of operations.
    WebhookId, "whk");

id_type!(
    /// One import from one source, in any number of requests.
    ImportId, "imp");

impl ImportId {
    /// The import of this source: the same source gives the same import, so that an interrupted one
    /// can be resumed.
    pub fn of(user: UserId, format: &str, source: &str) -> Self {
        Self(derived("import", &[user.0.as_bytes(), format.as_bytes(), source.as_bytes()]))
    }
}

impl TenantId {
    /// The tenant called `name`. Names are the identity, so every node derives the same id.
    pub fn named(name: &str) -> Self {
        Self(derived("tenant", &[name.as_bytes()]))
    }

    /// The scope of rows that belong to no tenant, such as the built-in domains. It is a separate
    /// tenant rather than a missing one, so that a forgotten filter never reaches it.
    pub const SHARED: Self = Self(Uuid::nil());
}

impl UserId {
    /// The user whom `tenant` calls `name`.
    pub fn named(tenant: TenantId, name: &str) -> Self {
        Self(derived("user", &[tenant.0.as_bytes(), name.as_bytes()]))
    }
}

/// A UUIDv8 of a SHA-256 over length-prefixed parts; two different lists never share a digest.
pub(crate) fn derived(kind: &str, parts: &[&[u8]]) -> Uuid {
    let mut hash = Sha256::new();
    hash.update(kind.as_bytes());
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// A generator of UUIDv7s for one request: the caller gives the time and a random seed, and the
/// same pair gives the same ids again. Ids of one generator sort in the order they were drawn.
#[derive(Debug, Clone)]
pub struct Ids {
    millis: u64,
    seed: [u8; 16],
    drawn: u32,
}

impl Ids {
    pub fn new(now: Timestamp, seed: [u8; 16]) -> Self {
        let millis = u64::try_from(now.as_millisecond()).unwrap_or(0);
        Self { millis, seed, drawn: 0 }
    }

    pub fn draw(&mut self) -> Uuid {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        let [first, second, third, fourth] = self.drawn.to_be_bytes();
        hash.update([third, fourth]);
        if (first, second) != (0, 0) {
            hash.update([first, second]);
        }
        let digest = hash.finalize();
        let mut random = [0u8; 10];
        random.copy_from_slice(&digest[..10]);
        // The 12 bits after the milliseconds count the draws, which keeps the ids in order.
        random[0] = third & 0x0f;
        random[1] = fourth;
        self.drawn = self.drawn.wrapping_add(1);
        uuid::Builder::from_unix_timestamp_millis(self.millis, &random).into_uuid()
    }

    pub fn version(&mut self) -> VersionId {
        VersionId(self.draw())
    }
    pub fn fact(&mut self) -> FactId {
        FactId(self.draw())
    }
    pub fn link(&mut self) -> LinkId {
        LinkId(self.draw())
    }
    pub fn operation(&mut self) -> OperationId {
        OperationId(self.draw())
    }
    pub fn turn(&mut self) -> TurnId {
        TurnId(self.draw())
    }
    pub fn retrieval(&mut self) -> RetrievalId {
        RetrievalId(self.draw())
    }
    pub fn usage(&mut self) -> UsageId {
        UsageId(self.draw())
    }
    pub fn observation(&mut self) -> ObservationId {
        ObservationId(self.draw())
    }
    pub fn job(&mut self) -> JobId {
        JobId(self.draw())
    }
    pub fn pass(&mut self) -> PassId {
        PassId(self.draw())
    }
    pub fn episode(&mut self) -> EpisodeId {
        EpisodeId(self.draw())
    }
    pub fn call(&mut self) -> CallId {
        CallId(self.draw())
    }
    pub fn erasure(&mut self) -> ErasureId {
        ErasureId(self.draw())
    }
    pub fn webhook(&mut self) -> WebhookId {
        WebhookId(self.draw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_round_trips_through_its_printed_form() {
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [7; 16]);
        for _ in 0..100 {
            let id = ids.fact();
            assert!(id.to_string().starts_with("mem_0"));
            assert_eq!(id.to_string().parse::<FactId>(), Ok(id));
        }
    }

    #[test]
    fn id_of_another_kind_or_junk_is_rejected() {
        let id = Ids::new(Timestamp::UNIX_EPOCH, [7; 16]).version().to_string();
        assert!(id.parse::<FactId>().is_err());
        for junk in ["", "mem_", "mem_zzzzzzzzzzzzzzzzzzzzzzzzzz", "mem_0000000000000000000000000u"]
        {
            assert!(junk.parse::<FactId>().is_err(), "{junk}");
        }
    }

    #[test]
    fn ids_of_one_source_are_different_after_many_draws() {
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [9; 16]);
        let drawn: std::collections::HashSet<_> = (0..70_000).map(|_| ids.draw()).collect();
        assert_eq!(drawn.len(), 70_000);
    }

    #[test]
    fn ids_of_one_source_sort_in_the_order_drawn() {
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [9; 16]);
        let drawn: Vec<_> = (0..50).map(|_| ids.draw()).collect();
        assert!(drawn.is_sorted());
        assert_eq!(drawn[0].get_version_num(), 7);
    }

    #[test]
    fn users_of_two_tenants_with_one_name_differ() {
        let (a, b) = (TenantId::named("a"), TenantId::named("b"));
        assert_ne!(UserId::named(a, "alice"), UserId::named(b, "alice"));
        assert_eq!(UserId::named(a, "alice"), UserId::named(a, "alice"));
    }
}
