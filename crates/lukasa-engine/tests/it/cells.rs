//! Several cells: an erasure and a credential of a user in another cell, and the commands that change
//! cells.

use std::time::Duration;

use lukasa_core::placement::{MAIN_CELL, Placement, UserRange};
use lukasa_core::{Origin, Permission, TenantId};
use lukasa_engine::Error;
use lukasa_engine::cells::{self, MoveRequest};
use lukasa_engine::credentials::NewKey;
use lukasa_engine::directory::OptIn;
use lukasa_engine::facts::Target;
use lukasa_engine::scrub;
use lukasa_store::cell_admin;
use lukasa_store::mover::{self, MoveFault, MoveOptions};
use lukasa_store::testing::TestDatabase;

use crate::story::Story;

/// A story in the directory, and an empty second cell.
pub async fn deployment() -> (Story, TestDatabase) {
    let (story, east) = (Story::begin().await, TestDatabase::fresh().await);
    let sql = "insert into tenant (tenant_id, name, created_at) values ($1, 'acme', now())";
    east.admin().await.execute(sql, &[&story.tenant.uuid()]).await.unwrap();
    cell_admin::apply(&east.connect(), &[]).await.unwrap();
    let sql = "insert into cell (name, url, added_at) values ('east', $1, now())";
    story.database.admin().await.execute(sql, &[&east.url()]).await.unwrap();
    (story, east)
}

fn request(tenant: Option<TenantId>, from: &str, to: &str) -> MoveRequest {
    MoveRequest {
        tenant,
        range: UserRange::ALL,
        from: Some(from.to_owned()),
        to: to.to_owned(),
        max_pause: Duration::from_secs(5),
    }
}

/// Moves all users to the second cell.
async fn move_all(story: &Story) -> usize {
    let request = request(None, MAIN_CELL, "east");
    cells::move_users(&story.database.connect(), &request, story.now(), |_| {}).await.unwrap()
}

/// Begins to move all users to the second cell. The command ends between the commits of the first.
async fn interrupt_move(story: &Story) {
    let connect = story.database.connect();
    let cells = cell_admin::list(&connect).await.unwrap();
    let mut locked = cell_admin::lock(&connect).await.unwrap();
    let before = Placement::single();
    let planned = before.begin_move(None, UserRange::ALL, None, "east").unwrap();
    mover::begin(&mut locked, &cells, &before, &planned, story.now()).await.unwrap();
    let options = MoveOptions { fault: MoveFault::EndsBetweenCommits, ..MoveOptions::default() };
    let moving = &planned.ranges()[0];
    assert!(mover::finish(&mut locked, &cells, moving, options, |_| {}).await.is_err());
}

#[tokio::test]
async fn key_for_an_erased_user_of_another_cell_is_refused() {
    let (story, east) = deployment().await;
    story.save("the canary sings").await;
    assert_eq!(move_all(&story).await, 1);
    let key = || NewKey {
        name: "test".into(),
        user: Some("alice".into()),
        permissions: vec![Permission::Read],
        origin: Origin::Assistant,
        expires_at: None,
    };
    let credentials = &story.engine.credentials;
    credentials.create_key(story.tenant, key(), &[1; 32], story.now()).await.unwrap();
    story.engine.erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
    assert!(!east.dump().await.contains("canary"));
    let refused = credentials.create_key(story.tenant, key(), &[2; 32], story.now()).await;
    assert_eq!(refused.err().unwrap().code(), "user_not_found");
    let permissions = [Permission::Read];
    let link =
        credentials.make_link(story.tenant, None, "alice", &permissions, &[3; 32], story.now());
    assert_eq!(link.await.err().unwrap().code(), "user_not_found");
}

#[tokio::test]
async fn erased_user_of_an_interrupted_move_is_in_no_cell() {
    let (story, east) = deployment().await;
    story.save("the canary sings").await;
    interrupt_move(&story).await;
    assert!(east.dump().await.contains("canary"));
    story.engine.erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
    for database in [&story.database, &east] {
        let dump = database.dump().await;
        assert!(!dump.contains("canary") && !dump.contains("alice"), "{dump}");
    }
}

#[tokio::test]
async fn erased_memory_of_an_interrupted_move_is_in_no_cell() {
    let (story, east) = deployment().await;
    let fact = Story::fact(&story.save("the canary sings").await);
    story.save("the robin sings").await;
    interrupt_move(&story).await;
    assert!(east.dump().await.contains("canary"));
    story.engine.removals.erase(&story.request(), &Target::Id(fact)).await.unwrap();
    for database in [&story.database, &east] {
        assert!(!database.dump().await.contains("canary"));
    }
    assert_eq!(story.active().await, ["the robin sings"]);
    move_all(&story).await;
    assert_eq!(story.active().await, ["the robin sings"]);
}

#[tokio::test]
async fn nothing_is_scrubbed_while_users_are_being_moved() {
    let (story, _east) = deployment().await;
    story.save("the canary sings").await;
    interrupt_move(&story).await;
    story.engine.erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
    let connect = story.database.connect();
    let refused = scrub::scrub(&connect, story.now(), false, |_| {}).await;
    let Err(Error::Internal(lukasa_store::Error::Configuration(why))) = refused else {
        panic!("{refused:?}")
    };
    assert!(why.contains("being moved"), "{why}");
    assert_eq!(scrub::unscrubbed(&connect).await.unwrap(), 1);
}

#[tokio::test]
async fn cell_is_removed_only_after_a_scrub_or_if_its_database_was_dropped() {
    let (story, _east) = deployment().await;
    let connect = story.database.connect();
    story.save("the canary sings").await;
    move_all(&story).await;
    let back = request(None, "east", MAIN_CELL);
    cells::move_users(&connect, &back, story.now(), |_| {}).await.unwrap();
    let refused = cells::remove(&connect, "east", false).await.unwrap_err();
    assert_eq!(refused.code(), "invalid_request");
    assert_eq!(cells::list(&connect).await.unwrap().len(), 2);
    cells::remove(&connect, "east", true).await.unwrap();
    assert_eq!(cells::list(&connect).await.unwrap().len(), 1);
}

#[tokio::test]
async fn move_of_an_unknown_tenant_is_refused() {
    let (story, _east) = deployment().await;
    let connect = story.database.connect();
    story.save("the canary sings").await;
    let unknown = request(Some(TenantId::named("typo")), MAIN_CELL, "east");
    let refused = cells::move_users(&connect, &unknown, story.now(), |_| {}).await.unwrap_err();
    assert_eq!(refused.code(), "invalid_request");
    assert_eq!(cells::placement(&connect).await.unwrap(), Placement::single());
    let known = request(Some(story.tenant), MAIN_CELL, "east");
    assert_eq!(cells::move_users(&connect, &known, story.now(), |_| {}).await.unwrap(), 1);
}

#[tokio::test]
async fn user_who_only_refused_a_domain_is_moved() {
    let (story, east) = deployment().await;
    let directory = &story.engine.directory;
    directory.set_opt_in(&story.request(), "health", OptIn::Close).await.unwrap();
    assert_eq!(move_all(&story).await, 1);
    let sql = "select count(*) from domain_question where user_id = $1";
    let user = story.alice().user.uuid();
    let rows = east.admin().await.query_one(sql, &[&user]).await.unwrap();
    assert_eq!(rows.get::<_, i64>(0), 1);
}
