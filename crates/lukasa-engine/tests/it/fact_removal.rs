//! Forget, delete, restore, purge and erase.

use std::time::Duration;

use jiff::SignedDuration;
use lukasa_core::policy::Patch;
use lukasa_core::{JobKind, Status};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{NewMemory, Target};
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::recall::RecallQuery;
use lukasa_engine::{Error, IdempotencyKey, Point};
use lukasa_store::list::ListFilter;

use crate::learning::{user, work};
use crate::story::Story;

const DAY: i64 = 24 * 3600;

fn of(status: Status) -> ListFilter {
    ListFilter { status: Some(status), ..ListFilter::default() }
}

#[tokio::test]
async fn forget_ends_validity_and_restore_reopens_it() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("likes sushi").await);
    story.pass(10);
    let gone = story.engine.removals.forget(&story.request(), &Target::Id(fact)).await.unwrap();
    assert_eq!(gone.memories[0].status, Status::Forgotten);
    assert!(gone.memories[0].version.valid.until.is_some(), "its validity ends");
    assert!(story.active().await.is_empty());
    assert_eq!(story.list(of(Status::Forgotten), Point::default()).await.len(), 1);
    story.pass(10);
    let back = story.engine.removals.restore(&story.request(), &Target::Id(fact)).await.unwrap();
    assert_eq!(back.memories[0].version.valid.until, None);
    assert_eq!(story.active().await, ["likes sushi"]);
    let again =
        story.engine.removals.restore(&story.request(), &Target::Id(fact)).await.unwrap_err();
    assert_eq!(again.code(), "not_gone");
}

#[tokio::test]
async fn assistant_cannot_restore_what_the_user_forgot() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("likes sushi").await);
    let target = Target::Id(fact);
    story.pass(1);
    let forgotten = story.engine.removals.forget(&story.request(), &target).await.unwrap();
    let restored =
        story.engine.removals.restore(&story.by(story.assistant()), &target).await.unwrap_err();
    assert_eq!(restored.code(), "human_needed");
    let undo =
        story.engine.undo.undo(&story.by(story.assistant()), forgotten.operation.unwrap()).await;
    assert_eq!(undo.unwrap_err().code(), "human_needed");
}

#[tokio::test]
async fn trash_is_purged_after_thirty_days() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("likes sushi").await);
    let target = Target::Id(fact);
    story.pass(1);
    story.engine.removals.delete(&story.request(), &target).await.unwrap();
    assert_eq!(story.get(fact).await.unwrap().status, Status::Trashed);
    story.pass(29 * DAY);
    let early = story.engine.removals.purge(&story.request()).await.unwrap();
    assert!(early.receipts.is_empty());
    story.engine.removals.restore(&story.request(), &target).await.unwrap();
    assert_eq!(story.active().await, ["likes sushi"]);
    story.pass(1);
    story.engine.removals.delete(&story.request(), &target).await.unwrap();
    story.pass(30 * DAY);
    let purged = story.engine.removals.purge(&story.request()).await.unwrap();
    assert_eq!(purged.receipts.len(), 1);
    assert!(matches!(story.get(fact).await, Err(Error::MemoryNotFound)));
}

#[tokio::test]
async fn expired_memory_is_purged_after_the_history_days_of_the_policy() {
    let story = Story::begin().await;
    let mut week = NewMemory::saying("stays with Marta this week");
    week.valid_until = Some(story.now() + SignedDuration::from_hours(24 * 7));
    let week = Story::fact(&story.engine.facts.save(&story.request(), week).await.unwrap());
    let home = Story::fact(&story.save("lives in Lisbon").await);
    story.pass(DAY);
    story.change(home, "lives in Porto").await;
    story.pass(400 * DAY);
    let kept = story.engine.removals.purge(&story.request()).await.unwrap();
    assert!(kept.receipts.is_empty(), "expired memories are kept unless the policy says otherwise");
    let after = |days: u32| Patch { history_days: Some(days), ..Patch::default() };
    story.engine.policies.set(&story.request(), after(500)).await.unwrap();
    let early = story.engine.removals.purge(&story.request()).await.unwrap();
    assert!(early.receipts.is_empty());
    story.engine.policies.set(&story.request(), after(90)).await.unwrap();
    let purged = story.engine.removals.purge(&story.request()).await.unwrap();
    let removed: Vec<_> = purged.receipts.iter().map(|receipt| receipt.fact).collect();
    assert_eq!(removed, [week]);
    assert!(matches!(story.get(week).await, Err(Error::MemoryNotFound)));
    let history = story.history(home).await;
    assert!(history.len() > 1, "a memory that is still valid keeps its history");
}

#[tokio::test]
async fn memory_that_expired_91_days_ago_is_removed_in_preset_chat() {
    let story = Story::begin().await;
    let chat = Patch { preset: Some("chat".into()), ..Patch::default() };
    story.engine.policies.set(&story.request(), chat).await.unwrap();
    let mut visit = NewMemory::saying("has a visitor");
    visit.valid_until = Some(story.now() + SignedDuration::from_secs(1));
    let visit = Story::fact(&story.engine.facts.save(&story.request(), visit).await.unwrap());
    // How many memories recall finds, and whether a prompt has the memory.
    let used = async || {
        let (alice, ask) = (story.alice(), RecallQuery::about("visitor"));
        let found = story.engine.recall.search(&alice, &ask, story.now()).await.unwrap();
        let mut ask = ContextRequest::about("Who is my visitor?");
        ask.within = Duration::from_secs(60);
        let given = story.engine.context.retrieve(&alice, &ask, story.moment()).await.unwrap();
        let text = format!("{}{}", given.baseline.content, given.dynamic.content);
        (found.memories.len(), text.contains("visitor"))
    };
    assert_eq!(story.active().await, ["has a visitor"]);
    assert_eq!(used().await, (1, true));
    story.pass(2);
    assert!(story.active().await.is_empty(), "it expired");
    assert_eq!(used().await, (0, false));
    story.pass(89 * DAY);
    let early = story.engine.removals.purge(&story.request()).await.unwrap();
    assert!(early.receipts.is_empty());
    assert_eq!(story.get(visit).await.unwrap().status, Status::Expired);
    story.pass(2 * DAY);
    let purged = story.engine.removals.purge(&story.request()).await.unwrap();
    let removed: Vec<_> = purged.receipts.iter().map(|receipt| receipt.fact).collect();
    assert_eq!(removed, [visit], "it is removed, not in the trash");
    assert!(matches!(story.get(visit).await, Err(Error::MemoryNotFound)));
}

#[tokio::test]
async fn erase_removes_content_from_every_table() {
    let story = Story::begin().await;
    let mut new = NewMemory::saying("the canary sings at dawn");
    new.claim.evidence = vec![lukasa_core::ClaimEvidence::of("said", "the canary itself")];
    let mut request = story.request();
    let key = IdempotencyKey { key: "k".into(), request_hash: vec![1] };
    request.idempotency = Some(key.clone());
    let fact = Story::fact(&story.engine.facts.save(&request, new.clone()).await.unwrap());
    let other = Story::fact(&story.save("another memory").await);
    let (here, there) = (Target::Id(fact), Target::Id(other));
    story.pass(1);
    story.engine.facts.link(&story.request(), &here, &there, "relates_to").await.unwrap();
    story.pass(1);
    story.change(fact, "the canary sings at dusk").await;
    assert!(canaries(&story).await > 0, "the search works");
    story.pass(1);
    let erased = story.engine.removals.erase(&story.request(), &here).await.unwrap();
    let receipt = &erased.receipts[0];
    assert_eq!((receipt.versions, receipt.links, receipt.evidence, receipt.answers), (3, 1, 3, 1));
    assert_eq!(canaries(&story).await, 0);
    assert!(matches!(story.get(fact).await, Err(Error::MemoryNotFound)));
    // A late retry of the first save cannot restore the content.
    let mut retry = story.request();
    retry.idempotency = Some(key);
    let late = story.engine.facts.save(&retry, new).await.unwrap_err();
    assert_eq!(late.code(), "answer_erased");
    assert_eq!(canaries(&story).await, 0);
    let undo =
        story.engine.undo.undo(&story.request(), erased.operation.unwrap()).await.unwrap_err();
    assert_eq!(undo.code(), "not_undoable");
}

async fn canaries(story: &Story) -> i64 {
    rows_with(story, "canary").await
}

/// Counts rows of any table that contain the word.
async fn rows_with(story: &Story, word: &str) -> i64 {
    let admin = story.database.admin().await;
    let tables = admin
        .query("select tablename::text from pg_tables where schemaname = 'public'", &[])
        .await
        .unwrap();
    let mut found = 0;
    for row in tables {
        let table: String = row.get(0);
        let sql = format!("select count(*) from {table} t where t::text ilike '%{word}%'");
        found += admin.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0);
    }
    found
}

#[tokio::test]
async fn deleted_user_leaves_no_content_and_is_refused() {
    let story = Story::begin().await;
    story.save("the canary sings").await;
    let erased =
        story.engine.erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
    assert_eq!(erased.counts.facts, 1);
    assert_eq!(canaries(&story).await, 0);
    let save = story.engine.facts.save(&story.request(), NewMemory::saying("back again")).await;
    assert!(matches!(save, Err(Error::UserGone)));
    story.engine.directory.create_user(story.tenant, "alice", None, story.now()).await.unwrap();
    story.save("back again").await;
}

#[tokio::test]
async fn expiring_user_is_refused_after_expiry() {
    let story = Story::begin().await;
    story.engine.directory.create_user(story.tenant, "alice", Some(60), story.now()).await.unwrap();
    story.save("only trying this out").await;
    story.pass(3600);
    let save = story.engine.facts.save(&story.request(), NewMemory::saying("more")).await;
    assert!(matches!(save, Err(Error::UserGone)));
    let listing = lukasa_engine::facts::Listing {
        filter: ListFilter::default(),
        point: Point::default(),
        after: None,
        limit: 10,
    };
    let list = story.engine.facts.list(&story.alice(), &listing, story.now()).await;
    assert!(matches!(list, Err(Error::UserGone)), "nothing can be read");
}

#[tokio::test]
async fn expired_user_is_erased_from_every_table() {
    let story = Story::begin().await;
    let (directory, tenant) = (&story.engine.directory, story.tenant);
    directory.create_user(tenant, "alice", Some(60), story.now()).await.unwrap();
    story.save("the canary sings").await;
    let turns = vec![user("The canary of my aunt sings at noon.")];
    story.engine.sessions.append_turns(&story.request(), "canary", turns).await.unwrap();
    story.pass(3599);
    work(&story).await;
    assert!(canaries(&story).await > 2, "not before the time is up");
    story.pass(1);
    let create = directory.create_user(tenant, "alice", None, story.now()).await;
    assert!(matches!(create, Err(Error::Unavailable(_))), "the rows are no new user's: {create:?}");
    assert_eq!(work(&story).await, [WorkOutcome::Done(JobKind::Upkeep)]);
    assert_eq!((canaries(&story).await, rows_with(&story, "alice").await), (0, 0));
    let admin = story.database.admin().await;
    for table in lukasa_store::tables::USER_TABLES.iter().filter(|table| **table != "erasure") {
        let sql = format!("select count(*) from {table}");
        assert_eq!(admin.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0), 0, "{table}");
    }
    let erasures = &story.engine.erasures;
    let receipts = erasures.receipts_of_user(tenant, "alice", story.now()).await.unwrap();
    assert_eq!((receipts.len(), receipts[0].receipt.removed["fact"]), (1, 1));
    directory.create_user(tenant, "alice", None, story.now()).await.unwrap();
    assert_eq!(story.active().await, Vec::<String>::new());
}

#[tokio::test]
async fn temporary_user_without_a_request_is_erased_at_the_end() {
    let story = Story::begin().await;
    for (name, is_written) in [("canary", false), ("alice", true)] {
        let (directory, minutes) = (&story.engine.directory, 3 * 24 * 60);
        directory.create_user(story.tenant, name, Some(minutes), story.now()).await.unwrap();
        if is_written {
            story.save("the canary sings").await;
        }
        for _ in 0..2 {
            story.pass(DAY);
            work(&story).await;
            assert!(rows_with(&story, name).await > 0, "{name}: upkeep keeps the rows until then");
        }
        story.pass(DAY);
        assert_eq!(work(&story).await, [WorkOutcome::Done(JobKind::Upkeep)], "{name}");
        assert_eq!((rows_with(&story, name).await, canaries(&story).await), (0, 0), "{name}");
    }
}

#[tokio::test]
async fn restore_reopens_the_last_active_version() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("tea").await);
    let target = Target::Id(fact);
    story.pass(1);
    story.engine.removals.forget(&story.request(), &target).await.unwrap();
    story.pass(1);
    let deleted = story.engine.removals.delete(&story.request(), &target).await.unwrap();
    story.pass(1);
    story.engine.undo.undo(&story.request(), deleted.operation.unwrap()).await.unwrap();
    assert_eq!(story.get(fact).await.unwrap().status, Status::Forgotten);
    story.pass(1);
    let restored = story.engine.removals.restore(&story.request(), &target).await.unwrap();
    assert_eq!(restored.memories[0].status, Status::Active);
}
