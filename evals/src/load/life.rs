//! Generated rows of a user: what the engine would have written, by the rules of the record.
//!
//! Everything about a fact follows from the seed, its user and its number, so a fact that changes
//! later is generated again rather than stored.

use anyhow::{Context, Result};
use lukasa_core::record::{self, Provenance};
use lukasa_core::{
    Caller, Claim, Edit, FactId, Ids, Operation, Origin, Period, Stamp, State, TenantId, Timestamp,
    UserId, Verb, Version,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::words::Vocabulary;

/// The tenant of a server without authentication, so that both auth modes use the same rows.
pub const TENANT: &str = "local";
pub const HEAVY: &str = "heavy";

pub fn tenant() -> TenantId {
    TenantId::named(TENANT)
}

pub fn user_name(index: u32) -> String {
    format!("user-{index:06}")
}

/// A user as the engine sees them: a caller with a key.
pub struct FillUser {
    pub caller: Caller,
    /// Distinguishes the users of one seed.
    number: u64,
}

impl FillUser {
    pub fn new(name: &str, number: u64, credential: &str) -> Self {
        Self { caller: Caller::key(tenant(), name, credential, Origin::UserSaid), number }
    }

    pub fn user(&self) -> UserId {
        self.caller.user
    }
}

/// One operation and every version it leaves behind, including those it closed.
pub struct Written {
    pub operation: Operation,
    pub versions: Vec<Version>,
}

pub struct Life {
    vocabulary: Vocabulary,
    seed: u64,
}

/// A generated fact, with the seed of its ids.
struct GeneratedFact {
    seed: [u8; 16],
    claim: Claim,
    /// Its later change and the seed of that, if it changes.
    change: Option<([u8; 16], Edit)>,
}

impl Life {
    pub fn new(seed: u64) -> Self {
        Self { vocabulary: Vocabulary::new(seed), seed }
    }

    fn generated(&self, person: &FillUser, index: u32) -> GeneratedFact {
        let mixed = (self.seed ^ person.number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .wrapping_add(u64::from(index).wrapping_mul(0xd1b5_4a32_d192_ed03));
        let mut rng = StdRng::seed_from_u64(mixed);
        let changes = rng.random_ratio(1, 10);
        let (seed, claim) = (rng.random(), self.vocabulary.claim(&mut rng, index));
        let change =
            changes.then(|| (rng.random(), Edit::content(&self.vocabulary.sentence(&mut rng))));
        GeneratedFact { seed, claim, change }
    }

    /// The save of a user's fact number `index`, and whether the fact changes later.
    pub fn save(&self, person: &FillUser, index: u32, at: Timestamp) -> (Written, bool) {
        let generated = self.generated(person, index);
        (save(person, generated.claim, stamp(at, generated.seed)), generated.change.is_some())
    }

    /// The change of a fact that was saved at `saved`. It leaves the closed edition, the same
    /// edition with its end, and the new one.
    pub fn change(
        &self,
        person: &FillUser,
        index: u32,
        saved: Timestamp,
        at: Timestamp,
    ) -> Result<Written> {
        let generated = self.generated(person, index);
        let (seed, edit) = generated.change.context("a fact that never changes")?;
        let mut versions = save(person, generated.claim, stamp(saved, generated.seed)).versions;
        let mut stamp = stamp(at, seed);
        let provenance = Provenance::stated(person.caller.voice);
        let changes = record::change(&versions, &edit, at, 2, &provenance, &mut stamp)
            .context("a change the record refuses")?;
        for version in &mut versions {
            version.known.until = Some(at);
            version.closed_by = Some(stamp.operation);
        }
        let facts = versions.iter().map(|version| version.fact).collect();
        versions.extend(changes.opens);
        Ok(Written { operation: operation(person, Verb::Change, &stamp, facts), versions })
    }
}

fn save(person: &FillUser, claim: Claim, mut stamp: Stamp) -> Written {
    let (valid, provenance) = (Period::since(stamp.at), Provenance::stated(person.caller.voice));
    let versions = record::save(claim, State::Active, valid, provenance, &mut stamp).opens;
    let facts = versions.iter().map(|version| version.fact).collect();
    Written { operation: operation(person, Verb::Save, &stamp, facts), versions }
}

/// The order of draws is the engine's: the operation first.
fn stamp(at: Timestamp, seed: [u8; 16]) -> Stamp {
    let mut ids = Ids::new(at, seed);
    Stamp { at, operation: ids.operation(), ids }
}

fn operation(person: &FillUser, verb: Verb, stamp: &Stamp, facts: Vec<FactId>) -> Operation {
    Operation {
        id: stamp.operation,
        verb,
        at: stamp.at,
        caller: person.caller.kind,
        credential: person.caller.credential.clone(),
        voice: person.caller.voice,
        facts,
        undoes: None,
        undone_by: None,
        policy: None,
        sources: None,
        member: None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use lukasa_engine::facts::{NewMemory, Target, Update};
    use lukasa_engine::{Engine, Moment, Request};
    use lukasa_store::testing::TestDatabase;
    use tokio_postgres::Client;

    use super::*;
    use crate::load::fill::{Stage, fill};

    /// Every row of the record as text.
    async fn rows(admin: &Client) -> Vec<String> {
        let sql = "select to_jsonb(t)::text from users t union all \
                   select to_jsonb(t)::text from operation t union all \
                   select to_jsonb(t)::text from fact t union all \
                   select to_jsonb(t)::text from fact_version t order by 1";
        admin.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn fill_equals_the_rows_of_the_engine() {
        let stage = Stage {
            first: 0,
            users: 3,
            facts: 25,
            heavy: 40,
            seed: 7,
            time: (0.0, 1.0),
            credential: "k1".into(),
        };
        let (filled, told) = (TestDatabase::fresh().await, TestDatabase::fresh().await);
        // Passages are written by another part of the fill.
        filled.leave_unchecked();
        let count = fill(&filled.url(), stage).await.unwrap();
        assert_eq!(count.facts, 115);
        let admin = filled.admin().await;

        let engine = Engine::connect(&told.connect()).unwrap();
        engine.credentials.ensure_tenant(TENANT, Timestamp::UNIX_EPOCH).await.unwrap();
        let life = Life::new(7);
        let person = |name: &str| {
            let number = name.strip_prefix("user-").map_or(u64::MAX, |n| n.parse().unwrap());
            FillUser::new(name, number, "k1")
        };
        let (mut next, mut facts) = (HashMap::new(), HashMap::new());
        let sql = "select u.name, o.recorded_at, o.facts[1], o.verb from operation o \
                   join users u using (user_id) order by o.recorded_at";
        for row in admin.query(sql, &[]).await.unwrap() {
            let (name, now, verb): (String, Timestamp, &str) = (row.get(0), row.get(1), row.get(3));
            let fact = FactId::from_uuid(row.get(2));
            let person = person(&name);
            let request = |seed| Request::new(person.caller.clone(), Moment { now, seed });
            if verb == "save" {
                let index: &mut u32 = next.entry(name).or_default();
                facts.insert(fact, *index);
                let generated = life.generated(&person, *index);
                let claim = generated.claim;
                let new = NewMemory { claim, keep_without_domain: true, ..NewMemory::saying("") };
                engine.facts.save(&request(generated.seed), new).await.unwrap();
                *index += 1;
            } else {
                let (seed, edit) = life.generated(&person, facts[&fact]).change.unwrap();
                let update = Update::change(edit);
                engine.facts.update(&request(seed), &Target::Id(fact), update).await.unwrap();
            }
        }
        // A user is created with their first fact; the fill creates all of them at its beginning.
        for side in [&admin, &told.admin().await] {
            let sql = "set session_replication_role = replica; \
                       update users set created_at = 'epoch'";
            side.batch_execute(sql).await.unwrap();
        }
        let (filled, told) = (rows(&admin).await, rows(&told.admin().await).await);
        assert_eq!(filled.len(), told.len());
        for (filled, told) in filled.iter().zip(&told) {
            assert_eq!(filled, told);
        }
        assert!(filled.iter().any(|row| row.contains("\"verb\": \"change\"")));
    }
}
