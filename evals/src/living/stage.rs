//! Where nights happen: an engine on a database of its own, with a clock that the proof moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use jiff::{SignedDuration, Timestamp};
use quipu_core::model::{Chat, Embedder, ModelError, Models, Reranker};
use quipu_core::policy::Policy;
use quipu_core::{Caller, TenantId};
use quipu_engine::jobs::Worked;
use quipu_engine::{Engine, Moment, Request};
use quipu_models::scripted::ScriptedChat;
use quipu_store::testing::TestDatabase;
use tokio_postgres::Client;

const TENANT: &str = "living";
/// 2026-01-01, in seconds.
const START: i64 = 1_767_225_600;

/// One chat model, and nothing else.
struct OneChat(Arc<ScriptedChat>);

impl Models for OneChat {
    fn preferred(&self) -> Option<String> {
        None
    }

    fn embedder(&self, name: &str) -> Result<Arc<dyn Embedder>, ModelError> {
        Err(ModelError::Missing(name.to_owned()))
    }

    fn reranker(&self) -> Option<Arc<dyn Reranker>> {
        None
    }

    fn chats(&self) -> Vec<Arc<dyn Chat>> {
        vec![self.0.clone()]
    }
}

pub struct Stage {
    pub engine: Engine,
    pub admin: Client,
    pub chat: Arc<ScriptedChat>,
    /// Kept for as long as the stage is.
    _database: TestDatabase,
    steps: AtomicU64,
    hours: AtomicI64,
    seed: u64,
}

impl Stage {
    pub async fn open(chat: ScriptedChat, seed: u64) -> Result<Self> {
        let database = TestDatabase::fresh().await;
        let admin = database.admin().await;
        // Nothing is killed here, so nobody has to wait for the disk.
        let lazily = "do $$ begin execute format('alter database %I set synchronous_commit = off', \
                        current_database()); end $$";
        admin.batch_execute(lazily).await?;
        let chat = Arc::new(chat);
        let policy = Policy { titles: false, daily_tokens: None, ..Policy::default() };
        let engine = Engine::connect(&database.connect())?
            .with_policy(policy)
            .with_models(Arc::new(OneChat(chat.clone())));
        let (steps, hours) = (AtomicU64::new(0), AtomicI64::new(0));
        let stage = Self { engine, admin, chat, _database: database, steps, hours, seed };
        stage.engine.ensure_tenant(TENANT, stage.moment().now).await?;
        Ok(stage)
    }

    pub fn tenant() -> TenantId {
        TenantId::named(TENANT)
    }

    /// Every step is a millisecond after the one before.
    pub fn moment(&self) -> Moment {
        let step = self.steps.fetch_add(1, Ordering::Relaxed);
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&self.seed.to_be_bytes());
        seed[8..].copy_from_slice(&step.to_be_bytes());
        let later = SignedDuration::from_millis(i64::try_from(step).unwrap_or(i64::MAX))
            + SignedDuration::from_hours(self.hours.load(Ordering::Relaxed));
        let start = Timestamp::from_second(START).unwrap_or(Timestamp::UNIX_EPOCH);
        Moment { now: start + later, seed }
    }

    pub fn pass_days(&self, days: i64) {
        self.hours.fetch_add(24 * days, Ordering::Relaxed);
    }

    pub fn person(name: &str) -> Caller {
        Caller::human(Self::tenant(), name, "local")
    }

    pub fn request(&self, caller: &Caller) -> Request {
        Request::new(caller.clone(), self.moment())
    }

    /// Does whatever waits, with several workers, and says how many jobs that were.
    pub async fn work(&self, workers: usize) -> Result<usize> {
        let one = |name: usize| async move {
            let mut done = 0;
            loop {
                match self.engine.work(&format!("w{name}"), self.moment()).await? {
                    Worked::Nothing => return anyhow::Ok(done),
                    Worked::Done(_) => done += 1,
                    other => ensure!(false, "a job did not end well: {other:?}"),
                }
            }
        };
        Ok(try_join_all((0..workers).map(one)).await?.into_iter().sum())
    }
}
