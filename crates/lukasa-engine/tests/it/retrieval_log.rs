//! The log of retrievals: it delays no other request, and restores nothing that was removed.

use std::time::{Duration, Instant};

use lukasa_core::{Caller, Ids};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{NewMemory, Target};
use lukasa_engine::{Engine, PoolSizes, Request};
use lukasa_store::context::{self, GivenBaseline, Retrieval};
use lukasa_store::passage::{self, RecallState};
use lukasa_store::retrieval_batch::{BatchedRecord, NewRetrieval};
use lukasa_store::testing::postgres::Client;
use serde_json::json;
use tokio::time::sleep;

use crate::story::Story;

/// Holds the lock of a user's writes until the transaction of the connection ends.
async fn lock(story: &Story, caller: &Caller) -> Client {
    let (high, _) = caller.user.uuid().as_u64_pair();
    let admin = story.database.admin().await;
    let sql = format!("begin; select pg_advisory_xact_lock({})", high.cast_signed());
    admin.batch_execute(&sql).await.unwrap();
    admin
}

fn bob(story: &Story) -> Caller {
    Caller::human(story.tenant, "bob", "local")
}

async fn save(engine: &Engine, story: &Story, caller: Caller, content: &str) {
    let request = Request::new(caller, story.moment());
    engine.facts.save(&request, NewMemory::saying(content)).await.unwrap();
}

async fn retrieve(engine: &Engine, story: &Story, caller: &Caller) {
    let mut ask = ContextRequest::about("Which tea do I like best?");
    ask.within = Duration::from_secs(60);
    let context = engine.context.retrieve(caller, &ask, story.moment()).await.unwrap();
    assert!(context.baseline.content.contains("tea"), "{context:?}");
}

async fn recorded(story: &Story, caller: &Caller) -> i64 {
    let sql = "select count(*) from retrieval where user_id = $1";
    let admin = story.database.admin().await;
    admin.query_one(sql, &[&caller.user.uuid()]).await.unwrap().get(0)
}

async fn until_recorded(story: &Story, caller: &Caller, count: i64) {
    for _ in 0..500 {
        if recorded(story, caller).await == count {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("{} of {count} retrievals are recorded", recorded(story, caller).await);
}

#[tokio::test]
async fn retrieval_log_delays_no_save_while_connections_are_busy() {
    let story = Story::begin().await;
    let sizes = PoolSizes { auth: 1, background: 1 };
    let engine = Engine::connect_with(&story.database.connect(), sizes).unwrap();
    let (alice, bob) = (story.alice(), bob(&story));
    save(&engine, &story, alice.clone(), "Likes green tea").await;
    save(&engine, &story, bob.clone(), "Likes black tea").await;
    let held = lock(&story, &bob).await;
    retrieve(&engine, &story, &bob).await;
    sleep(Duration::from_millis(100)).await;
    for _ in 0..3 {
        retrieve(&engine, &story, &alice).await;
    }
    sleep(Duration::from_millis(100)).await;
    let started = Instant::now();
    save(&engine, &story, alice.clone(), "Likes white tea").await;
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    held.batch_execute("rollback").await.unwrap();
    until_recorded(&story, &bob, 1).await;
    until_recorded(&story, &alice, 3).await;
}

#[tokio::test]
async fn retrieval_log_of_a_busy_user_delays_no_other_user() {
    let story = Story::begin().await;
    let (alice, bob) = (story.alice(), bob(&story));
    save(&story.engine, &story, alice.clone(), "Likes green tea").await;
    save(&story.engine, &story, bob.clone(), "Likes black tea").await;
    let held = lock(&story, &bob).await;
    for _ in 0..3 {
        retrieve(&story.engine, &story, &bob).await;
        retrieve(&story.engine, &story, &alice).await;
    }
    until_recorded(&story, &alice, 3).await;
    assert_eq!(recorded(&story, &bob).await, 0);
    // More records than are written alone at a time, after the batches have given them up.
    for _ in 0..6 {
        retrieve(&story.engine, &story, &bob).await;
    }
    sleep(Duration::from_millis(1_500)).await;
    for _ in 0..3 {
        retrieve(&story.engine, &story, &alice).await;
    }
    until_recorded(&story, &alice, 6).await;
    assert_eq!(recorded(&story, &bob).await, 0);
    held.batch_execute("rollback").await.unwrap();
    until_recorded(&story, &bob, 9).await;
}

#[tokio::test]
async fn retrieval_log_records_nothing_that_was_erased_meanwhile() {
    let story = Story::begin().await;
    let alice = story.alice();
    let fact = Story::fact(&story.save("Likes valerian tea").await);
    for _ in 0..5 {
        retrieve(&story.engine, &story, &alice).await;
    }
    story.engine.removals.erase(&story.request(), &Target::Id(fact)).await.unwrap();
    sleep(Duration::from_millis(500)).await;
    assert_eq!(recorded(&story, &alice).await, 0);
    assert!(!story.database.dump().await.contains("valerian"));
    let baselines = "select count(*) from given_baseline";
    let admin = story.database.admin().await;
    assert_eq!(admin.query_one(baselines, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn retrieval_from_before_a_removal_is_refused() {
    let story = Story::begin().await;
    let alice = story.alice();
    let fact = Story::fact(&story.save("Likes valerian tea").await);
    story.save("Likes green tea").await;
    // Queues the job without which a batch refuses every record of the user.
    retrieve(&story.engine, &story, &alice).await;
    until_recorded(&story, &alice, 1).await;
    let store = story.database.store();
    let state = async || {
        let scope = store.read(alice.tenant, alice.user).await.unwrap();
        passage::state(&scope).await.unwrap()
    };
    let before = state().await;
    story.engine.removals.erase(&story.request(), &Target::Id(fact)).await.unwrap();
    let after = state().await;
    assert_ne!(before.removed, after.removed);
    let new = |number: u8, state: RecallState| {
        let retrieval = Retrieval {
            id: Ids::new(story.now(), [number; 16]).retrieval(),
            session: None,
            at: story.now(),
            etag: Some(format!("e{number}")),
            dynamic: String::new(),
            trace: json!({}),
            facts: Vec::new(),
            baseline: serde_json::Value::Null,
        };
        let given =
            GivenBaseline { etag: format!("e{number}"), items: json!([]), facts: Vec::new() };
        let (tenant, user) = (alice.tenant, alice.user);
        NewRetrieval { tenant, user, retrieval, given: Some(given), state }
    };
    let alone = async |new: NewRetrieval| {
        let scope = store.write_lossy(new.tenant, new.user).await.unwrap();
        let given = new.given.as_ref();
        context::insert_retrieval(&scope, &new.retrieval, given, new.state).await.unwrap();
        scope.commit().await.unwrap();
    };
    let admin = story.database.admin().await;
    let kept = async || {
        let sql = "select (select count(*) from retrieval), (select count(*) from given_baseline)";
        let row = admin.query_one(sql, &[]).await.unwrap();
        (row.get::<_, i64>(0), row.get::<_, i64>(1))
    };
    assert_eq!(kept().await, (0, 0));
    assert_eq!(store.record_retrievals(&[new(101, before)]).await, [BatchedRecord::Refused]);
    alone(new(102, before)).await;
    assert_eq!(kept().await, (0, 0));
    assert_eq!(store.record_retrievals(&[new(103, after)]).await, [BatchedRecord::Written]);
    alone(new(104, after)).await;
    assert_eq!(kept().await, (2, 2));
}

#[tokio::test]
async fn retrieval_log_records_a_baseline_again_after_something_was_removed() {
    let story = Story::begin().await;
    let alice = story.alice();
    story.save("Likes green tea").await;
    let other = Story::fact(&story.save("Owns a bicycle").await);
    let given = "select count(*) from given_baseline";
    let admin = story.database.admin().await;
    for round in 1..=2 {
        retrieve(&story.engine, &story, &alice).await;
        until_recorded(&story, &alice, round).await;
        assert_eq!(admin.query_one(given, &[]).await.unwrap().get::<_, i64>(0), 1);
    }
    story.engine.removals.erase(&story.request(), &Target::Id(other)).await.unwrap();
    assert_eq!(recorded(&story, &alice).await, 0, "they were made of the erased memory too");
    retrieve(&story.engine, &story, &alice).await;
    until_recorded(&story, &alice, 1).await;
    assert_eq!(admin.query_one(given, &[]).await.unwrap().get::<_, i64>(0), 1);
}
