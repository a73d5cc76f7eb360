//! Test fixture: a fresh database, a clock that the test moves, and short helpers. A job that failed
//! for good or is still running at the end fails the test, unless it calls `database.leave_jobs`.

use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};

use lukasa_core::{Caller, Edit, FactId, Origin, TenantId, Timestamp};
use lukasa_engine::facts::{HistoryEntry, Listing, NewMemory, Target, Update};
use lukasa_engine::{Engine, Memory, Moment, Outcome, Point, Request, Result};
use lukasa_store::list::ListFilter;
use lukasa_store::testing::TestDatabase;

pub struct Story {
    pub database: TestDatabase,
    pub engine: Engine,
    pub tenant: TenantId,
    second: AtomicI64,
    seed: AtomicU8,
}

/// The clock starts at 2026-01-01, in seconds.
const START: i64 = 1_767_225_600;

impl Story {
    pub async fn begin() -> Self {
        let database = TestDatabase::fresh().await;
        database.check_jobs();
        let engine = Engine::connect(&database.connect()).expect("engine");
        let tenant = engine.credentials.ensure_tenant("acme", time(0)).await.expect("tenant");
        Self { database, engine, tenant, second: AtomicI64::new(0), seed: AtomicU8::new(0) }
    }

    pub fn now(&self) -> Timestamp {
        time(self.second.load(Ordering::Relaxed))
    }

    pub fn pass(&self, seconds: i64) {
        self.second.fetch_add(seconds, Ordering::Relaxed);
    }

    pub fn moment(&self) -> Moment {
        Moment { now: self.now(), seed: [self.seed.fetch_add(1, Ordering::Relaxed); 16] }
    }

    pub fn alice(&self) -> Caller {
        Caller::human(self.tenant, "alice", "local")
    }

    pub fn assistant(&self) -> Caller {
        Caller::key(self.tenant, "alice", "k1", Origin::Assistant)
    }

    pub fn extractor(&self) -> Caller {
        Caller::extractor(self.tenant, "alice", Origin::UserTurn)
    }

    pub fn by(&self, caller: Caller) -> Request {
        Request::new(caller, self.moment())
    }

    pub fn request(&self) -> Request {
        self.by(self.alice())
    }

    pub async fn save(&self, content: &str) -> Outcome {
        self.engine.facts.save(&self.request(), NewMemory::saying(content)).await.expect("saved")
    }

    pub async fn change(&self, id: FactId, content: &str) -> Outcome {
        let update = Update::change(Edit::content(content));
        self.engine.facts.update(&self.request(), &Target::Id(id), update).await.expect("changed")
    }

    pub async fn get(&self, id: FactId) -> Result<Memory> {
        self.engine.facts.get(&self.alice(), &Target::Id(id), Point::default(), self.now()).await
    }

    /// The versions of a memory, at most 200.
    pub async fn history(&self, id: FactId) -> Vec<HistoryEntry> {
        let (target, place) = (Target::Id(id), (None, 200));
        let page = self.engine.facts.history(&self.alice(), &target, place, self.now()).await;
        page.expect("history").entries
    }

    pub async fn list(&self, filter: ListFilter, point: Point) -> Vec<Memory> {
        let listing = Listing { filter, point, after: None, limit: 200 };
        let page = self.engine.facts.list(&self.alice(), &listing, self.now()).await.expect("list");
        page.memories
    }

    /// The content of every active memory, oldest first.
    pub async fn active(&self) -> Vec<String> {
        let status = Some(lukasa_core::Status::Active);
        let list =
            self.list(ListFilter { status, ..ListFilter::default() }, Point::default()).await;
        list.into_iter().rev().map(|memory| memory.version.claim.content).collect()
    }

    pub fn fact(outcome: &Outcome) -> FactId {
        outcome.memories[0].version.fact
    }
}

pub fn time(second: i64) -> Timestamp {
    Timestamp::from_second(START + second).expect("a time")
}
