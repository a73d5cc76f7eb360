//! The two time axes: change, correction, and queries at a point of valid and known time.

use lukasa_core::{Edit, Status};
use lukasa_engine::Point;
use lukasa_engine::facts::{Listing, Target, Update, UpdateMode};
use lukasa_store::list::ListFilter;

use crate::story::{Story, time};

fn now() -> ListFilter {
    ListFilter { status: Some(Status::Active), ..ListFilter::default() }
}

async fn contents(story: &Story, as_of: i64, known_at: i64) -> Vec<String> {
    let point = Point { as_of: Some(time(as_of)), known_at: Some(time(known_at)) };
    let list = story.list(now(), point).await;
    list.into_iter().map(|memory| memory.version.claim.content).collect()
}

#[tokio::test]
async fn change_keeps_earlier_validity() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("lives in Lisbon").await);
    story.pass(100);
    let update = Update {
        mode: UpdateMode::Change { effective: Some(time(50)) },
        ..Update::change(Edit::content("lives in Porto"))
    };
    let changed =
        story.engine.facts.update(&story.request(), &Target::Id(fact), update).await.unwrap();
    assert_eq!(changed.memories[0].version.number, 2);
    assert_eq!(Story::fact(&changed), fact, "the id never changes");
    // Valid at 40: Lisbon; at 60: Porto; as known at 60, before the change, still Lisbon.
    assert_eq!(contents(&story, 40, 100).await, ["lives in Lisbon"]);
    assert_eq!(contents(&story, 60, 100).await, ["lives in Porto"]);
    assert_eq!(contents(&story, 60, 60).await, ["lives in Lisbon"]);
}

#[tokio::test]
async fn correction_replaces_earlier_validity() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("lives in Lisbon").await);
    story.pass(100);
    let update = Update::correct(Edit::content("lives in Madrid"));
    story.engine.facts.update(&story.request(), &Target::Id(fact), update).await.unwrap();
    assert_eq!(contents(&story, 40, 100).await, ["lives in Madrid"]);
    assert_eq!(contents(&story, 40, 60).await, ["lives in Lisbon"]);
}

#[tokio::test]
async fn validity_dates_can_be_corrected_alone() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("works at Acme").await);
    story.pass(100);
    let update = Update {
        mode: UpdateMode::Correct {
            valid_from: Some(time(-500)),
            valid_until: Some(Some(time(50))),
        },
        ..Update::correct(Edit::default())
    };
    let corrected =
        story.engine.facts.update(&story.request(), &Target::Id(fact), update).await.unwrap();
    assert_eq!(corrected.memories[0].status, Status::Expired);
    assert_eq!(contents(&story, -200, 100).await, ["works at Acme"]);
    assert!(contents(&story, 60, 100).await.is_empty());
}

#[tokio::test]
async fn expired_memory_is_not_listed() {
    let story = Story::begin().await;
    let mut trip = lukasa_engine::facts::NewMemory::saying("in Rome this week");
    trip.valid_until = Some(time(60));
    let fact = Story::fact(&story.engine.facts.save(&story.request(), trip).await.unwrap());
    assert_eq!(story.active().await.len(), 1);
    story.pass(60);
    assert!(story.active().await.is_empty());
    assert_eq!(story.get(fact).await.unwrap().status, Status::Expired);
    let expired = ListFilter { status: Some(Status::Expired), ..ListFilter::default() };
    assert_eq!(story.list(expired, Point::default()).await.len(), 1);
}

#[tokio::test]
async fn upcoming_memory_becomes_active_at_its_start() {
    let story = Story::begin().await;
    let mut job = lukasa_engine::facts::NewMemory::saying("starts at Globex");
    job.valid_from = Some(time(500));
    let fact = Story::fact(&story.engine.facts.save(&story.request(), job).await.unwrap());
    assert_eq!(story.get(fact).await.unwrap().status, Status::Upcoming);
    story.pass(10);
    // A change without a date applies from the start of its validity.
    let changed = story.change(fact, "starts at Initech").await;
    assert_eq!(changed.memories[0].version.valid.from, time(500));
    story.pass(490);
    assert_eq!(story.active().await, ["starts at Initech"]);
}

#[tokio::test]
async fn change_before_start_is_refused_and_empty_change_writes_nothing() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("tea").await);
    let early = Update {
        mode: UpdateMode::Change { effective: Some(time(-1)) },
        ..Update::change(Edit::content("coffee"))
    };
    let refused =
        story.engine.facts.update(&story.request(), &Target::Id(fact), early).await.unwrap_err();
    assert_eq!(refused.code(), "not_valid_then");
    let same = story.change(fact, "tea").await;
    assert_eq!(same.operation, None, "nothing was written");
}

#[tokio::test]
async fn history_lists_versions_with_their_successors() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("tea").await);
    story.pass(10);
    story.change(fact, "coffee").await;
    let history = story.history(fact).await;
    let rows: Vec<_> =
        history.iter().map(|e| (e.version.number, e.status, e.superseded_by.is_some())).collect();
    assert_eq!(
        rows,
        [(1, Status::Superseded, true), (1, Status::Superseded, true), (2, Status::Active, false)]
    );
    assert_eq!(history[0].superseded_by, Some(history[2].version.id));
}

#[tokio::test]
async fn history_pages_are_the_whole_history() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("tea").await);
    for number in 0..5 {
        story.pass(10);
        story.change(fact, &format!("coffee {number}")).await;
    }
    let whole = story.history(fact).await;
    assert_eq!(whole.len(), 11);
    // The next edition of each version is the first later one with a higher number.
    for (place, entry) in whole.iter().enumerate() {
        let later = whole[place..].iter().map(|later| &later.version);
        let next = later
            .filter(|v| v.number > entry.version.number)
            .min_by_key(|v| (v.known.from, v.number, v.id));
        assert_eq!(entry.superseded_by, next.map(|version| version.id), "version {place}");
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let (target, place) = (Target::Id(fact), (after, 4));
        let page = story.engine.facts.history(&story.alice(), &target, place, story.now()).await;
        let page = page.unwrap();
        assert!(page.entries.len() == 4 || page.next.is_none());
        found.extend(page.entries);
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(found, whole);
    let (facts, target) = (&story.engine.facts, Target::Id(fact));
    let latest = facts.latest_history(&story.alice(), &target, 3, story.now()).await.unwrap();
    assert_eq!(latest, whole[8..]);
    let bob = lukasa_core::Caller::human(story.tenant, "bob", "local");
    let theirs = facts.history(&bob, &target, (None, 50), story.now()).await;
    assert_eq!(theirs.unwrap_err().code(), "memory_not_found");
}

#[tokio::test]
async fn known_time_increases_although_the_clock_jumps_back() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("tea").await);
    story.pass(-3600);
    let changed = story.change(fact, "coffee").await;
    assert!(changed.memories[0].version.known.from > time(0), "known time only goes forward");
    let history = story.history(fact).await;
    assert!(history.iter().map(|e| e.version.known.from).is_sorted());
    // The current version is the one written last, although this clock is behind it.
    let all = story.list(ListFilter::default(), Point::default()).await;
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].version.claim.content, "coffee");
}

#[tokio::test]
async fn list_pages_are_stable_during_writes() {
    let story = Story::begin().await;
    for i in 0..7 {
        story.pass(1);
        story.save(&format!("memory {i}")).await;
    }
    let mut listing = Listing { filter: now(), point: Point::default(), after: None, limit: 3 };
    let mut seen = Vec::new();
    loop {
        let page = story.engine.facts.list(&story.alice(), &listing, story.now()).await.unwrap();
        seen.extend(page.memories.iter().map(|m| m.version.claim.content.clone()));
        story.pass(1);
        story.save(&format!("written in between {}", seen.len())).await;
        listing.after = page.next;
        if page.next.is_none() {
            break;
        }
    }
    assert_eq!(seen, (0..7).rev().map(|i| format!("memory {i}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn change_by_a_slower_clock_follows_the_last_one() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("tea").await);
    story.pass(100);
    story.change(fact, "coffee").await;
    // Another server's clock, or a write that waited for the lock: its time is ten seconds earlier.
    story.pass(-10);
    story.change(fact, "mate").await;
    story.pass(20);
    assert_eq!(story.active().await, ["mate"]);
}
