//! Erasing users with more rows than one transaction removes, and erasures whose commit fails.

use std::path::PathBuf;
use std::time::Duration;

use lukasa_engine::Error;
use lukasa_engine::facts::NewMemory;
use lukasa_engine::journal::{Journal, JournalEntry, JournalLine};
use lukasa_store::testing::postgres::Client;

use crate::story::Story;

/// A journal for one test, removed when dropped.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lukasa-eb-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Self(path)
    }

    fn open(&self) -> Journal {
        Journal::open(&self.0).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Gives a user this many operations, facts with a version and a link each, turns and embeddings.
async fn fill(admin: &Client, story: &Story, count: i32) {
    let sql = include_str!("../../../../evals/data/fill_user.sql");
    let (user, tenant) = (story.alice().user.uuid(), story.tenant.uuid());
    for statement in sql.split(";\n").filter(|statement| !statement.trim().is_empty()) {
        admin.execute(statement, &[&user, &tenant, &count]).await.unwrap();
    }
}

async fn rows(admin: &Client, story: &Story, table: &str) -> i64 {
    let sql = format!("select count(*) from {table} where user_id = $1");
    admin.query_one(&sql, &[&story.alice().user.uuid()]).await.unwrap().get(0)
}

#[tokio::test]
async fn large_user_is_refused_at_once_and_erased_in_batches() {
    let story = Story::begin().await;
    let admin = story.database.admin().await;
    story.save("a canary").await;
    fill(&admin, &story, 6_000).await;
    let (engine, tenant) = (&story.engine, story.tenant);
    let begun = engine
        .erasures
        .erase_user_within(tenant, "alice", story.moment(), Duration::ZERO)
        .await
        .unwrap();
    assert!(begun.receipt.is_none(), "rows are left");
    assert!(rows(&admin, &story, "operation").await > 0);
    // Refused from now on, and not to be created again before the last row is removed.
    let save = engine.facts.save(&story.request(), NewMemory::saying("x")).await;
    assert!(matches!(save, Err(Error::UserGone)));
    assert!(matches!(
        engine.erasures.receipts(&story.alice(), story.now()).await,
        Err(Error::UserGone)
    ));
    let create = engine.directory.create_user(tenant, "alice", None, story.now()).await;
    assert!(matches!(create, Err(Error::Unavailable(_))), "{create:?}");
    assert!(
        engine.erasures.receipts_of_user(tenant, "alice", story.now()).await.unwrap().is_empty()
    );
    let (id, _, removed) =
        engine.erasures.erasure_under_way(tenant, "alice").await.unwrap().unwrap();
    assert_eq!((id, removed.values().sum::<i64>()), (begun.id, 5_000));

    // No other process continues it before the lease expires.
    story.pass(61);
    assert!(engine.erasures.continue_erasure(story.moment()).await.unwrap());
    assert!(!engine.erasures.continue_erasure(story.moment()).await.unwrap(), "it is done");
    let receipts = engine.erasures.receipts_of_user(tenant, "alice", story.now()).await.unwrap();
    let [signed] = receipts.as_slice() else { panic!("{receipts:?}") };
    assert_eq!(signed.receipt.id, begun.id);
    let removed = |table: &str| signed.receipt.removed[table];
    assert_eq!((removed("operation"), removed("turn"), removed("link")), (6_001, 6_000, 5_999));
    for table in lukasa_store::tables::USER_TABLES.iter().filter(|table| **table != "erasure") {
        assert_eq!(rows(&admin, &story, table).await, 0, "{table}");
    }
    engine.directory.create_user(tenant, "alice", None, story.now()).await.unwrap();
    assert_eq!(story.active().await, Vec::<String>::new());
}

#[tokio::test]
async fn deleting_a_user_again_continues_the_erasure() {
    let story = Story::begin().await;
    let admin = story.database.admin().await;
    story.save("a canary").await;
    fill(&admin, &story, 4_000).await;
    let erase = |budget| {
        story.engine.erasures.erase_user_within(story.tenant, "alice", story.moment(), budget)
    };
    let begun = erase(Duration::ZERO).await.unwrap();
    let done = erase(Duration::MAX).await.unwrap();
    assert_eq!(begun.id, done.id);
    assert_eq!(done.receipt.unwrap().receipt.removed["turn"], 4_000);
    assert!(matches!(erase(Duration::MAX).await, Err(Error::UserNotFound)));
}

#[tokio::test]
async fn users_are_erased_concurrently_with_one_connection() {
    let mut story = Story::begin().await;
    let connect = lukasa_engine::ConnectOptions { pool_size: 1, ..story.database.connect() };
    story.engine = lukasa_engine::Engine::connect(&connect).unwrap();
    let names: Vec<String> = (0..8).map(|number| format!("user {number}")).collect();
    for name in &names {
        let caller = lukasa_core::Caller::human(story.tenant, name, "local");
        story.engine.facts.save(&story.by(caller), NewMemory::saying("a canary")).await.unwrap();
    }
    let erased = names
        .iter()
        .map(|name| story.engine.erasures.erase_user(story.tenant, name, story.moment()));
    for erased in futures_util::future::join_all(erased).await {
        assert_eq!(erased.unwrap().counts.facts, 1);
    }
}

/// Makes every commit of an erasure fail in this way.
async fn break_commits(admin: &Client, how: &str) {
    let sql = format!(
        "create function break_commit() returns trigger language plpgsql security definer as \
           $$ begin {how}; return null; end $$; \
         create constraint trigger break_commit after insert on erasure \
           deferrable initially deferred for each row execute function break_commit()"
    );
    admin.batch_execute(&sql).await.unwrap();
}

#[tokio::test]
async fn erasure_with_failed_commit_is_void_in_the_journal() {
    for how in ["raise exception 'no'", "perform pg_terminate_backend(pg_backend_pid())"] {
        let place = Place::new("failed");
        let mut story = Story::begin().await;
        story.engine = story.engine.clone().with_journal(place.open());
        let admin = story.database.admin().await;
        let fact = Story::fact(&story.save("a canary").await);
        break_commits(&admin, how).await;
        let target = lukasa_engine::facts::Target::Id(fact);
        story.engine.removals.erase(&story.request(), &target).await.unwrap_err();
        story.engine.erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap_err();
        assert_eq!(place.open().read().unwrap(), [], "{how}: both lines are void");
        let written = std::fs::read_to_string(&place.0).unwrap();
        assert_eq!(written.matches("void ").count(), 2, "{written}");
        admin.batch_execute("drop trigger break_commit on erasure").await.unwrap();
        let replayed = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
        assert_eq!((replayed.users, replayed.memories), (0, 0), "{how}");
        assert_eq!(story.active().await, ["a canary"]);
    }
}

#[tokio::test]
async fn erasure_of_unknown_outcome_keeps_later_writes() {
    let place = Place::new("unsure");
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_journal(place.open());
    story.save("before").await;
    story.pass(10);
    let entry = JournalEntry {
        at: story.now(),
        tenant: story.tenant,
        user: story.alice().user,
        fact: None,
        turn: None,
        observation: None,
        id: lukasa_core::Ids::new(story.now(), [9; 16]).erasure(),
    };
    let journal = place.open();
    journal.append(std::slice::from_ref(&entry)).unwrap();
    journal.settle(&[JournalLine::Unsure(entry.id)]).unwrap();
    story.pass(10);
    story.save("after").await;
    let replayed = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!((replayed.users, replayed.skipped), (0, 1));
    assert_eq!(story.active().await, ["before", "after"]);
    let again = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!((again.users, again.skipped), (0, 0), "it is void now");

    // Of known outcome and with nothing written since, it is carried out.
    story.pass(10);
    let sure = JournalEntry {
        at: story.now(),
        id: lukasa_core::Ids::new(story.now(), [8; 16]).erasure(),
        ..entry
    };
    journal.append(&[sure]).unwrap();
    story.pass(10);
    let replayed = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!((replayed.users, replayed.skipped), (1, 0));
}

#[tokio::test]
async fn journal_is_read_from_checkpoint_of_restored_database() {
    let place = Place::new("checkpoint");
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_journal(place.open());
    for _ in 0..3 {
        let fact = Story::fact(&story.save("a canary").await);
        story.pass(1);
        let target = lukasa_engine::facts::Target::Id(fact);
        story.engine.removals.erase(&story.request(), &target).await.unwrap();
    }
    let admin = story.database.admin().await;
    let entries = async || {
        story.pass(7_200);
        story.engine.erasures.replay_erasures(story.moment()).await.unwrap().entries
    };
    assert_eq!(entries().await, 3);
    assert_eq!(entries().await, 0, "nothing new");
    // An older checkpoint makes the journal be read again from there.
    admin.batch_execute("update journal_checkpoint set bytes = 0, line = ''").await.unwrap();
    assert_eq!(entries().await, 3);
    // So does a checkpoint that does not match the journal.
    admin.batch_execute("update journal_checkpoint set line = 'other'").await.unwrap();
    assert_eq!(entries().await, 3);
    // An erasure by a server without the journal is added to it.
    let fact = Story::fact(&story.save("a canary").await);
    let without = lukasa_engine::Engine::connect(&story.database.connect()).unwrap();
    let target = lukasa_engine::facts::Target::Id(fact);
    without.removals.erase(&story.request(), &target).await.unwrap();
    story.pass(7_200);
    let replayed = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!((replayed.entries, replayed.added), (0, 1));
    assert_eq!(place.open().read().unwrap().len(), 4);
}

#[tokio::test]
async fn appended_turn_does_not_rewrite_the_close_job() {
    let story = Story::begin().await;
    let admin = story.database.admin().await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let turn = lukasa_core::NewTurn::saying(lukasa_core::Role::User, "hello");
        story.engine.sessions.append_turns(&story.request(), "c", vec![turn]).await.unwrap();
        story.pass(60);
        let sql = "select ctid::text, run_at::text from job where kind = 'close'";
        let row = admin.query_one(sql, &[]).await.unwrap();
        seen.push((row.get::<_, String>(0), row.get::<_, String>(1)));
    }
    seen.dedup();
    assert_eq!(seen.len(), 1, "{seen:?}");
}
