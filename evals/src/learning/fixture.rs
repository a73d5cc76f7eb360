//! Fixture of the learning evals: an engine on a database of its own, and a model that looks up its
//! answers by the number of the case.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use jiff::{SignedDuration, Timestamp};
use lukasa_core::model::Models;
use lukasa_core::policy::Policy;
use lukasa_core::{Caller, NewTurn, Origin, TenantId};
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::{Engine, Moment, Request};
use lukasa_models::scripted::{ScriptedChat, TestModels};
use lukasa_store::testing::TestDatabase;
use tokio_postgres::Client;

const TENANT: &str = "learning";
/// 2026-01-01, in seconds.
const START: i64 = 1_767_225_600;

/// The model's answers by the number of the case.
pub type Answers = Arc<RwLock<HashMap<usize, String>>>;

pub struct LearningFixture {
    pub engine: Engine,
    pub admin: Client,
    /// Kept as long as the fixture.
    _database: TestDatabase,
    steps: AtomicU64,
    hours: AtomicI64,
    seed: u64,
}

impl LearningFixture {
    pub async fn open(models: Arc<TestModels>, seed: u64) -> Result<Self> {
        let database = TestDatabase::fresh().await;
        // Some evals plant faults in the rows.
        database.leave_unchecked();
        let admin = database.admin().await;
        // Nothing is killed here, so commits need not wait for the disk.
        let lazily = "do $$ begin execute format('alter database %I set synchronous_commit = off', \
                        current_database()); end $$";
        admin.batch_execute(lazily).await?;
        let named = models.preferred().is_some();
        let policy = Policy { titles: false, daily_tokens: None, ..Policy::default() };
        let engine = Engine::connect(&database.connect())?.with_policy(policy).with_models(models);
        let (steps, hours) = (AtomicU64::new(0), AtomicI64::new(0));
        let fixture = Self { engine, admin, _database: database, steps, hours, seed };
        fixture.engine.credentials.ensure_tenant(TENANT, fixture.moment().now).await?;
        if named {
            fixture.engine.embeddings.settle_model(fixture.moment().now).await??;
        }
        Ok(fixture)
    }

    /// The same fixture, carrying out what the user says outright.
    #[must_use]
    pub fn with_statements(mut self) -> Self {
        self.engine = self.engine.with_statements(true);
        self
    }

    /// A fixture whose model looks up its answer under the number in the prompt.
    pub async fn scripted(seed: u64) -> Result<(Self, Answers)> {
        let answers = Answers::default();
        let known = answers.clone();
        let chat = ScriptedChat::saying(move |ask| {
            let shown = ask.messages.last().map_or("", |message| message.content.as_str());
            let known = known.read().unwrap_or_else(PoisonError::into_inner);
            let answer = last_case(shown).and_then(|case| known.get(&case).cloned());
            answer.unwrap_or_else(|| r#"{"memories":[]}"#.to_owned())
        });
        let models = TestModels::that_chats(Arc::new(chat));
        Ok((Self::open(models, seed).await?, answers))
    }

    /// Every step is a millisecond after the previous one.
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

    pub fn tenant() -> TenantId {
        TenantId::named(TENANT)
    }

    pub fn human(&self, name: &str) -> Caller {
        Caller::human(Self::tenant(), name, "local")
    }

    pub fn key(&self, name: &str, origin: Origin) -> Caller {
        Caller::key(TenantId::named(TENANT), name, "key", origin)
    }

    pub fn request(&self, caller: &Caller) -> Request {
        Request::new(caller.clone(), self.moment())
    }

    /// Appends turns to a session and closes it.
    pub async fn chat(&self, caller: &Caller, session: &str, turns: Vec<NewTurn>) -> Result<()> {
        self.engine.sessions.append_turns(&self.request(caller), session, turns).await?;
        self.engine.sessions.close(&self.request(caller), session, None).await?;
        Ok(())
    }

    /// Runs all queued jobs with several workers; returns their number.
    pub async fn work(&self, workers: usize) -> Result<usize> {
        let one = |name: usize| async move {
            let mut done = 0;
            loop {
                match self.engine.jobs.work(&format!("w{name}"), self.moment()).await? {
                    WorkOutcome::Nothing => return anyhow::Ok(done),
                    WorkOutcome::Done(_) => done += 1,
                    other => ensure!(false, "a job did not end well: {other:?}"),
                }
            }
        };
        Ok(try_join_all((0..workers).map(one)).await?.into_iter().sum())
    }
}

/// The words that tell the model the case number. They are the user's own, and say nothing about
/// them.
pub fn case_words(case: usize) -> String {
    format!("Here is case number {case} to look at.")
}

fn last_case(shown: &str) -> Option<usize> {
    let after = &shown[shown.rfind("case number ")? + "case number ".len()..];
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
