//! Fixture of a worker: a database, the engine under test, a superuser connection that sees every
//! row, and for each history four new users.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use lukasa_core::{
    Caller, FactId, LinkId, OperationId, Origin, TenantId, Timestamp, UserId, VersionId,
};
use lukasa_engine::{Engine, Moment};
use lukasa_store::testing::TestDatabase;
use tokio_postgres::Client;
use uuid::Uuid;

use super::mutants::Mutant;
use super::step::{No, START, Speaker, Step};
use super::witness::TableReader;

/// Two tenants with two users each. Both tenants have an "alice"; the two must never see each
/// other's data.
pub const USERS: usize = 4;
const NAMES: [&str; USERS] = ["alice", "bob", "alice", "cleo"];

pub struct Fixture {
    pub engine: Engine,
    pub admin: Client,
    pub witness: TableReader,
    scenes: AtomicU64,
    // Dropped last: it drops the database.
    _database: TestDatabase,
}

impl Fixture {
    pub async fn open(mutant: Option<Mutant>) -> Result<Self> {
        let database = TestDatabase::fresh().await;
        let admin = database.admin().await;
        // Nothing is killed here, so commits need not wait for the disk.
        let relax = "do $$ begin execute format('alter database %I set synchronous_commit = off', \
                     current_database()); end $$";
        admin.batch_execute(relax).await.context("synchronous_commit")?;
        if mutant.is_some() {
            database.leave_unchecked();
        }
        if let Some(sql) = mutant.and_then(Mutant::preparation) {
            admin.batch_execute(sql).await.context("preparing the mutant")?;
        }
        let engine = Engine::connect(&database.connect()).context("engine")?;
        let witness = TableReader::prepare(&admin).await?;
        Ok(Self { engine, admin, witness, scenes: AtomicU64::new(0), _database: database })
    }

    /// Four users for one history, in tenants of their own.
    pub async fn test_users(&self, seed: u64) -> Result<TestUsers> {
        let scene = self.scenes.fetch_add(1, Ordering::Relaxed);
        let mut actors = Vec::new();
        for (i, name) in NAMES.iter().enumerate() {
            let tenant = format!("scene-{scene}-{}", i / 2);
            let tenant = match i % 2 {
                0 => self
                    .engine
                    .credentials
                    .ensure_tenant(&tenant, time(START))
                    .await
                    .context("tenant")?,
                _ => TenantId::named(&tenant),
            };
            let user = UserId::named(tenant, name);
            actors.push(Actor { tenant, user, name, canary: canary(seed, i) });
        }
        Ok(TestUsers { scene, actors })
    }
}

pub struct Actor {
    pub tenant: TenantId,
    pub user: UserId,
    pub name: &'static str,
    /// A word in everything this user writes, and in nothing that another user may read.
    pub canary: String,
}

pub struct TestUsers {
    scene: u64,
    pub actors: Vec<Actor>,
}

impl TestUsers {
    pub fn caller(&self, step: &Step) -> Caller {
        let actor = &self.actors[step.user];
        match step.speaker {
            Speaker::Human => Caller::human(actor.tenant, actor.name, "local"),
            Speaker::Key(origin) => Caller::key(actor.tenant, actor.name, "k1", origin),
            Speaker::Extractor(origin) => Caller::extractor(actor.tenant, actor.name, origin),
        }
    }

    /// A caller with the user's own origin, for reads by the checks.
    pub fn reader(&self, user: usize) -> Caller {
        let actor = &self.actors[user];
        Caller::key(actor.tenant, actor.name, "witness", Origin::Import)
    }

    pub fn moment(&self, step: &Step) -> Moment {
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&self.scene.to_be_bytes());
        seed[8..].copy_from_slice(&(step.no as u64).to_be_bytes());
        Moment { now: time(step.now), seed }
    }

    pub fn users(&self) -> Vec<Uuid> {
        self.actors.iter().map(|actor| actor.user.uuid()).collect()
    }

    pub fn position(&self, user: Uuid) -> Option<usize> {
        self.actors.iter().position(|actor| actor.user.uuid() == user)
    }

    /// A canary of a user other than `user` that occurs in `text`.
    pub fn foreign_canary(&self, user: usize, text: &str) -> Option<String> {
        let text = text.to_lowercase();
        let own = &self.actors[user].canary;
        let mut words = text.match_indices("loui").map(|(i, _)| &text[i..]);
        words.find(|word| !word.starts_with(own)).map(|word| word.chars().take(22).collect())
    }
}

/// The canary in everything that a user of a history writes. None of l, o, u and i occurs in a
/// printed id, so it is never found by chance.
pub fn canary(seed: u64, user: usize) -> String {
    format!("loui{seed:016x}u{user}")
}

pub fn time(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX)
}

/// The engine's ids of what the steps of a history created.
#[derive(Default)]
pub struct Bound {
    pub facts: Names<FactId>,
    pub operations: Names<OperationId>,
    pub links: Names<LinkId>,
}

/// Step numbers and ids, both ways.
pub struct Names<T> {
    ids: HashMap<No, T>,
    numbers: HashMap<T, No>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self { ids: HashMap::new(), numbers: HashMap::new() }
    }
}

impl<T: Copy + Eq + Hash> Names<T> {
    pub fn bind(&mut self, no: No, id: T) {
        self.ids.insert(no, id);
        self.numbers.insert(id, no);
    }

    pub fn number(&self, id: T) -> Option<No> {
        self.numbers.get(&id).copied()
    }
}

/// An id that was never issued.
fn made_up(no: No) -> Uuid {
    Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0000 | no as u128)
}

impl Bound {
    pub fn fact(&self, no: No) -> FactId {
        self.facts.ids.get(&no).copied().unwrap_or_else(|| FactId::from_uuid(made_up(no)))
    }

    pub fn operation(&self, no: No) -> OperationId {
        let known = self.operations.ids.get(&no).copied();
        known.unwrap_or_else(|| OperationId::from_uuid(made_up(no)))
    }

    pub fn link(&self, no: No) -> LinkId {
        self.links.ids.get(&no).copied().unwrap_or_else(|| LinkId::from_uuid(made_up(no)))
    }

    pub fn no_version() -> VersionId {
        VersionId::from_uuid(made_up(0))
    }
}
