//! Rows in PostgreSQL's binary COPY format, with the same conversions the store uses.

use anyhow::{Result, anyhow};
use bytes::{BufMut as _, Bytes, BytesMut};
use lukasa_core::{Operation, OperationId, Timestamp, Version, VersionId, fingerprint};
use tokio_postgres::types::{IsNull, ToSql, Type};
use uuid::Uuid;

use super::life::FillUser;

pub const USERS: &str =
    "copy users (user_id, tenant_id, name, created_at, looked_after) from stdin binary";
pub const OPERATIONS: &str = "copy operation (user_id, tenant_id, operation_id, recorded_at, \
    verb, caller, credential, origin, extracted, facts) from stdin binary";
pub const FACTS: &str = "copy fact (user_id, tenant_id, fact_id) from stdin binary";
pub const VERSIONS: &str = "copy fact_version (user_id, tenant_id, fingerprint, fact_id, \
    version_id, number, content, summary, detail, category, type, kind, force, domain, key, value, \
    tags, importance, evidence, reasoning, project, unmentioned, state, tier, origin, extracted, confidence, \
    session, turns, confirmed_at, last_confirmed_at, consented_at, valid_from, valid_until, known_from, \
    known_until, opened_by, closed_by, reopens) from stdin binary";

/// Bytes of rows per message.
const CHUNK: usize = 256 * 1024;

/// A stream of rows of one table.
pub struct Rows {
    buffer: BytesMut,
    pub count: u64,
}

impl Default for Rows {
    fn default() -> Self {
        let mut buffer = BytesMut::with_capacity(CHUNK + 8192);
        buffer.put_slice(b"PGCOPY\n\xff\r\n\0");
        // No flags, and an empty header extension.
        buffer.put_slice(&[0; 8]);
        Self { buffer, count: 0 }
    }
}

impl Rows {
    /// The rows so far, if there are enough for a message.
    pub fn chunk(&mut self) -> Option<Bytes> {
        (self.buffer.len() >= CHUNK).then(|| self.rest())
    }

    fn rest(&mut self) -> Bytes {
        let full = std::mem::replace(&mut self.buffer, BytesMut::with_capacity(CHUNK + 8192));
        full.freeze()
    }

    /// The rest, and the end marker.
    pub fn end(mut self) -> Bytes {
        self.buffer.put_i16(-1);
        self.rest()
    }

    fn row(&mut self, columns: &[(Type, &(dyn ToSql + Sync))]) -> Result<()> {
        self.buffer.put_i16(i16::try_from(columns.len())?);
        for (kind, value) in columns {
            let at = self.buffer.len();
            self.buffer.put_i32(-1);
            let null = value
                .to_sql_checked(kind, &mut self.buffer)
                .map_err(|error| anyhow!("a value that is no {kind}: {error}"))?;
            if let IsNull::No = null {
                let length = i32::try_from(self.buffer.len() - at - 4)?;
                self.buffer[at..at + 4].copy_from_slice(&length.to_be_bytes());
            }
        }
        self.count += 1;
        Ok(())
    }

    pub fn user(&mut self, person: &FillUser, created_at: Timestamp) -> Result<()> {
        let caller = &person.caller;
        self.row(&[
            (Type::UUID, &caller.user.uuid()),
            (Type::UUID, &caller.tenant.uuid()),
            (Type::TEXT, &caller.user_name),
            (Type::TIMESTAMPTZ, &created_at),
            // As if consolidation had run for them ever since their first write.
            (Type::BOOL, &true),
        ])
    }

    pub fn operation(&mut self, person: &FillUser, operation: &Operation) -> Result<()> {
        let facts: Vec<Uuid> = operation.facts.iter().map(|fact| fact.uuid()).collect();
        self.row(&[
            (Type::UUID, &person.caller.user.uuid()),
            (Type::UUID, &person.caller.tenant.uuid()),
            (Type::UUID, &operation.id.uuid()),
            (Type::TIMESTAMPTZ, &operation.at),
            (Type::TEXT, &operation.verb.as_str()),
            (Type::TEXT, &operation.caller.as_str()),
            (Type::TEXT, &operation.credential),
            (Type::TEXT, &operation.voice.origin.as_str()),
            (Type::BOOL, &operation.voice.extracted),
            (Type::UUID_ARRAY, &facts),
        ])
    }

    pub fn fact(&mut self, person: &FillUser, version: &Version) -> Result<()> {
        self.row(&[
            (Type::UUID, &person.caller.user.uuid()),
            (Type::UUID, &person.caller.tenant.uuid()),
            (Type::UUID, &version.fact.uuid()),
        ])
    }

    pub fn version(&mut self, person: &FillUser, v: &Version) -> Result<()> {
        let claim = &v.claim;
        let evidence = serde_json::to_value(&claim.evidence)?;
        let project = claim.project.as_ref().map(ToString::to_string);
        self.row(&[
            (Type::UUID, &person.caller.user.uuid()),
            (Type::UUID, &person.caller.tenant.uuid()),
            (Type::UUID, &fingerprint(claim)),
            (Type::UUID, &v.fact.uuid()),
            (Type::UUID, &v.id.uuid()),
            (Type::INT4, &v.number),
            (Type::TEXT, &claim.content),
            (Type::TEXT, &claim.summary),
            (Type::TEXT, &claim.detail),
            (Type::TEXT, &claim.category.as_str()),
            (Type::TEXT, &claim.memory_type.as_str()),
            (Type::TEXT, &claim.kind.as_str()),
            (Type::TEXT, &claim.force.as_str()),
            (Type::TEXT, &claim.domain),
            (Type::TEXT, &claim.key),
            (Type::JSONB, &claim.value),
            (Type::TEXT_ARRAY, &claim.tags),
            (Type::FLOAT4, &claim.importance),
            (Type::JSONB, &evidence),
            (Type::TEXT, &claim.reasoning),
            (Type::TEXT, &project),
            (Type::BOOL, &claim.unmentioned),
            (Type::TEXT, &v.state.as_str()),
            (Type::TEXT, &v.tier.as_str()),
            (Type::TEXT, &v.origin.as_str()),
            (Type::BOOL, &v.extracted),
            (Type::FLOAT4, &v.confidence),
            (Type::TEXT, &v.session),
            (Type::TEXT_ARRAY, &v.turns),
            (Type::TIMESTAMPTZ, &v.confirmed_at),
            (Type::TIMESTAMPTZ, &v.last_confirmed_at),
            (Type::TIMESTAMPTZ, &v.consented_at),
            (Type::TIMESTAMPTZ, &v.valid.from),
            (Type::TIMESTAMPTZ, &v.valid.until),
            (Type::TIMESTAMPTZ, &v.known.from),
            (Type::TIMESTAMPTZ, &v.known.until),
            (Type::UUID, &v.opened_by.uuid()),
            (Type::UUID, &v.closed_by.map(OperationId::uuid)),
            (Type::UUID, &v.reopens.map(VersionId::uuid)),
        ])
    }
}
