//! The known time of a write is the time at which it holds its user's lock, and what was known at a
//! time that has passed never changes.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use lukasa_core::Status;
use lukasa_engine::Point;
use lukasa_engine::facts::{Listing, NewMemory, Target};
use lukasa_engine::jobs::WorkOutcome;
use lukasa_store::list::ListFilter;
use serde_json::json;
use tokio::time::sleep;

use crate::learning::{answer, chat_about, story_saying, user};
use crate::story::{Story, time};

/// The active memories as of and as known at a second.
async fn known_at(story: &Story, second: i64) -> Vec<String> {
    let point = Point { as_of: Some(time(second)), known_at: Some(time(second)) };
    let filter = ListFilter { status: Some(Status::Active), ..ListFilter::default() };
    let listing = Listing { filter, point, after: None, limit: 100 };
    let page = story.engine.facts.list(&story.alice(), &listing, time(second)).await.unwrap();
    page.memories.into_iter().map(|memory| memory.version.claim.content).collect()
}

/// The known time of the last operation, in seconds of the story.
async fn last_stamp(story: &Story) -> i64 {
    let page =
        story.engine.facts.operations(&story.alice(), None, None, 1, time(9_000)).await.unwrap();
    page.operations[0].at.as_second() - time(0).as_second()
}

#[tokio::test]
async fn write_is_stamped_when_it_gets_the_user_lock() {
    static CLOCK: AtomicI64 = AtomicI64::new(1);
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_clock(|| time(CLOCK.load(Ordering::SeqCst)));
    story.save("Likes tea").await;
    let admin = story.database.admin().await;
    let (lock, _) = story.alice().user.uuid().as_u64_pair();
    let lock = lock.cast_signed();
    admin.execute("select pg_advisory_lock($1)", &[&lock]).await.unwrap();
    let (engine, request) = (story.engine.clone(), story.request());
    let waiting = tokio::spawn(async move {
        engine.facts.save(&request, NewMemory::saying("Likes coffee")).await
    });
    sleep(Duration::from_millis(200)).await;
    CLOCK.store(50, Ordering::SeqCst);
    admin.execute("select pg_advisory_unlock($1)", &[&lock]).await.unwrap();
    waiting.await.unwrap().unwrap();
    assert_eq!(last_stamp(&story).await, 50);
    assert_eq!(known_at(&story, 49).await, ["Likes tea"]);
}

#[tokio::test]
async fn known_at_is_stable_while_a_write_commits() {
    static CLOCK: AtomicI64 = AtomicI64::new(1);
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_clock(|| time(CLOCK.load(Ordering::SeqCst)));
    story.save("Likes tea").await;
    CLOCK.store(10, Ordering::SeqCst);
    // A write that has its time stamp but cannot commit yet: the log can be read but not written.
    let admin = story.database.admin().await;
    admin.batch_execute("begin; lock table operation in share mode").await.unwrap();
    let (engine, request) = (story.engine.clone(), story.request());
    let write = tokio::spawn(async move {
        engine.facts.save(&request, NewMemory::saying("Likes coffee")).await
    });
    sleep(Duration::from_millis(200)).await;
    CLOCK.store(20, Ordering::SeqCst);
    let read = async {
        let before = known_at(&story, 20).await;
        (before, known_at(&story, 9).await)
    };
    let release = async {
        sleep(Duration::from_millis(300)).await;
        admin.batch_execute("rollback").await.unwrap();
    };
    let ((before, earlier), ()) = tokio::join!(read, release);
    write.await.unwrap().unwrap();
    assert_eq!(
        before,
        known_at(&story, 20).await,
        "read while the write was open, and again after"
    );
    assert_eq!(earlier, ["Likes tea"]);
}

#[tokio::test]
async fn learned_facts_are_stamped_after_the_model_answered() {
    static CLOCK: AtomicI64 = AtomicI64::new(1);
    let (mut story, _) = story_saying(|_| {
        // The model takes long.
        CLOCK.store(500, Ordering::SeqCst);
        answer(&[json!({"op": "add", "content": "User lives in Lisbon.", "kind": "fact",
                        "importance": 8, "confidence": 0.9, "reasoning": "said so",
                        "evidence": [{"turn": 1, "quote": "I live in Lisbon"}]})])
    })
    .await;
    story.engine = story.engine.clone().with_clock(|| time(CLOCK.load(Ordering::SeqCst)));
    chat_about(&story, "c", vec![user("Hi, I live in Lisbon.")]).await;
    story.pass(100);
    let worked = story.engine.jobs.work("w", story.moment()).await.unwrap();
    assert!(matches!(worked, WorkOutcome::Done(_)), "{worked:?}");
    assert_eq!(last_stamp(&story).await, 500, "not the time at which the job began");
    assert_eq!(known_at(&story, 499).await, Vec::<String>::new());
    assert_eq!(known_at(&story, 500).await, ["User lives in Lisbon."]);
}

#[tokio::test]
async fn list_pages_do_not_show_a_concurrent_write() {
    let story = Story::begin().await;
    for content in ["Likes tea", "Likes coffee", "Likes milk"] {
        story.save(content).await;
        story.pass(1);
    }
    story.pass(100);
    let filter = ListFilter { status: Some(Status::Active), ..ListFilter::default() };
    let mut listing = Listing { filter, point: Point::default(), after: None, limit: 2 };
    let whole = story.list(listing.filter.clone(), Point::default()).await;
    let last = &whole[2].version;
    let first = story.engine.facts.list(&story.alice(), &listing, story.now()).await.unwrap();
    // Stamped before the first page was read, committed after it.
    let mut late = story.request();
    late.moment.now = time(50);
    story.engine.removals.forget(&late, &Target::Id(last.fact)).await.unwrap();
    listing.after = first.next;
    let second = story.engine.facts.list(&story.alice(), &listing, story.now()).await.unwrap();
    let contents = second.memories.iter().map(|memory| memory.version.claim.content.as_str());
    assert_eq!(contents.collect::<Vec<_>>(), [last.claim.content.as_str()]);
}
