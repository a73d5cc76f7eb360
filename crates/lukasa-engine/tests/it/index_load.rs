//! Loads of indexes: a request that waits for one uses nothing that it has read before, and a small
//! index does not wait for large ones.

use std::time::Duration;

use lukasa_core::{Caller, NewTurn, Role};
use lukasa_engine::context::{Context, ContextRequest};
use lukasa_engine::facts::NewMemory;
use lukasa_engine::recall::RecallQuery;
use lukasa_engine::{Engine, Point, Request};
use lukasa_store::testing::postgres::Client;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::story::Story;

const LARGE_USERS: [&str; 4] = ["a", "b", "c", "d"];

/// A server whose permits for large loads are all in use, until the transaction of the returned
/// connection ends.
async fn with_busy_loads(story: &Story) -> (Engine, Client, Vec<JoinHandle<()>>) {
    for name in LARGE_USERS {
        let caller = Caller::human(story.tenant, name, "local");
        let request = Request::new(caller, story.moment());
        story.engine.facts.save(&request, NewMemory::saying("Likes coffee")).await.unwrap();
    }
    let admin = story.database.admin().await;
    // So many revisions are taken for a large record.
    let names = LARGE_USERS.map(|name| Caller::human(story.tenant, name, "local").user.uuid());
    let sql = "update recall_state set revision = revision + 5000 where user_id = any($1)";
    admin.execute(sql, &[&names.to_vec()]).await.unwrap();
    let fresh = Engine::connect(&story.database.connect()).unwrap();
    admin.batch_execute("begin; lock table passage in access exclusive mode").await.unwrap();
    let mut loads = Vec::new();
    for name in LARGE_USERS {
        let (engine, now) = (fresh.clone(), story.now());
        let caller = Caller::human(story.tenant, name, "local");
        loads.push(tokio::spawn(async move {
            let found = engine.recall.search(&caller, &RecallQuery::about("coffee"), now).await;
            assert_eq!(found.unwrap().memories.len(), 1);
        }));
    }
    sleep(Duration::from_millis(500)).await;
    (fresh, admin, loads)
}

fn in_session() -> ContextRequest {
    let mut ask = ContextRequest::about("What do I take at night?");
    (ask.session, ask.within) = (Some("chat".to_owned()), Duration::from_secs(60));
    ask
}

/// The context of a session with a frozen baseline, from a server on which the request has to wait for
/// its index, and where `change` is committed meanwhile.
async fn context_after(story: &Story, change: &str) -> Context {
    story.save("Takes zolpidem at night").await;
    let ask = in_session();
    let frozen = story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    assert!(frozen.baseline.content.contains("zolpidem"));
    sleep(Duration::from_millis(300)).await;
    story.database.leave_unchecked();
    let admin = story.database.admin().await;
    admin.batch_execute("update recall_state set revision = revision + 5000").await.unwrap();
    let (fresh, admin, loads) = with_busy_loads(story).await;
    let (engine, alice, moment) = (fresh.clone(), story.alice(), story.moment());
    let waiting =
        tokio::spawn(async move { engine.context.retrieve(&alice, &ask, moment).await.unwrap() });
    sleep(Duration::from_millis(500)).await;
    assert!(!waiting.is_finished());
    let user = story.alice().user.uuid();
    admin.batch_execute(&change.replace("$USER$", &format!("'{user}'"))).await.unwrap();
    admin.batch_execute("commit").await.unwrap();
    for load in loads {
        load.await.unwrap();
    }
    waiting.await.unwrap()
}

#[tokio::test]
async fn index_load_that_waits_uses_no_baseline_that_was_removed_meanwhile() {
    let story = Story::begin().await;
    let change = "delete from baseline where user_id = $USER$;
        delete from passage where user_id = $USER$;
        delete from fact_version where user_id = $USER$;
        update recall_state set revision = revision + 1, facts = revision + 1, \
               removed = revision + 1 where user_id = $USER$";
    let context = context_after(&story, change).await;
    assert!(!context.baseline.content.contains("zolpidem"), "{}", context.baseline.content);
    assert!(context.degraded.is_empty(), "{:?}", context.degraded);
}

#[tokio::test]
async fn index_load_that_waits_respects_a_pause_meanwhile() {
    let story = Story::begin().await;
    let change = "insert into user_policy (user_id, tenant_id, version, body, set_at, set_by) \
        select user_id, tenant_id, 1, '{\"paused\": true}', now(), 'alice' from users \
         where user_id = $USER$";
    let context = context_after(&story, change).await;
    assert!(context.paused && context.baseline.content.is_empty(), "{context:?}");
}

#[tokio::test]
async fn index_load_of_a_small_record_does_not_wait_for_large_ones() {
    let story = Story::begin().await;
    let (fresh, admin, loads) = with_busy_loads(&story).await;
    story.database.leave_unchecked();
    // The small record has no rows in the locked table: its user is known, with nothing saved.
    let bob = Caller::human(story.tenant, "bob", "local");
    let sql = "insert into recall_state (user_id, tenant_id, revision, facts, removed) \
               values ($1, $2, 0, 0, 0)";
    admin.execute(sql, &[&bob.user.uuid(), &story.tenant.uuid()]).await.unwrap();
    let ask = RecallQuery::about("tea");
    let found = timeout(Duration::from_secs(5), fresh.recall.search(&bob, &ask, story.now())).await;
    assert!(found.expect("it does not wait").unwrap().memories.is_empty());
    admin.batch_execute("commit").await.unwrap();
    for load in loads {
        load.await.unwrap();
    }
}

#[tokio::test]
async fn index_load_of_a_past_point_is_the_same_in_blocks() {
    let story = Story::begin().await;
    story.save("Likes green tea").await;
    let said = |text: &str| vec![NewTurn::saying(Role::User, text)];
    let request = story.request();
    story.engine.sessions.append_turns(&request, "a", said("My tea is cold")).await.unwrap();
    story.pass(100);
    let known_at = Some(story.now());
    story.pass(100);
    story.save("Likes black tea").await;
    let request = story.request();
    story.engine.sessions.append_turns(&request, "b", said("My tea is hot")).await.unwrap();
    let found = async |point: Point| {
        let ask = RecallQuery { turns: 10, point, ..RecallQuery::about("tea") };
        let fresh = Engine::connect(&story.database.connect()).unwrap();
        let found = fresh.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
        let memories = found.memories.into_iter().map(|f| f.memory.version.claim.content);
        let turns = found.turns.into_iter().map(|f| f.turn.content);
        memories.chain(turns).collect::<Vec<_>>()
    };
    let past = Point { as_of: None, known_at };
    let at_once = [found(past).await, found(Point::default()).await];
    assert_eq!(at_once[0], ["Likes green tea", "My tea is cold"]);
    assert_eq!(at_once[1].len(), 4);
    story.database.leave_unchecked();
    let admin = story.database.admin().await;
    admin.batch_execute("update recall_state set revision = revision + 5000").await.unwrap();
    assert_eq!([found(past).await, found(Point::default()).await], at_once);
}
