//! Spaces: their members' erasure, with cells that do not answer and after a restored backup.

use std::time::{Duration, Instant};

use lukasa_core::audit::AuditActor;
use lukasa_core::placement::{MAIN_CELL, UserRange};
use lukasa_core::{Caller, Edit, SpaceAccess, SpaceName};
use lukasa_engine::cells::{self, MoveRequest};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{NewMemory, ProposalDecision, Target, Update, UpdateMode};
use lukasa_engine::{Engine, Error, Outcome};
use lukasa_store::testing::TestDatabase;

use crate::cells::deployment;
use crate::erasure::Place;
use crate::story::{Story, time};

const BUDGET: Duration = Duration::from_secs(10);

fn space(name: &str) -> SpaceName {
    SpaceName::parse(name).unwrap()
}

fn human(story: &Story, name: &str) -> Caller {
    Caller::human(story.tenant, name, &format!("key_of_{name}"))
}

/// Creates the users and the spaces, and makes each user a member of each space, who may write.
async fn share(story: &Story, users: &[&str], spaces: &[&str]) {
    let by = || AuditActor::from(story.tenant);
    for user in users {
        story.engine.directory.create_user(story.tenant, user, None, story.now()).await.unwrap();
    }
    let spaces_of = &story.engine.spaces;
    for name in spaces {
        let name = space(name);
        spaces_of.create(by(), &name, story.now()).await.unwrap();
        for user in users {
            let (access, now) = (SpaceAccess::Write, story.now());
            spaces_of.grant(by(), &name, user, access, now).await.unwrap();
            spaces_of.accept(&human(story, user), &name, now).await.unwrap();
        }
    }
}

async fn save_in(story: &Story, user: &str, name: &str, content: &str) -> Result<(), Error> {
    let request = story.by(human(story, user).in_space(&space(name)));
    story.engine.facts.save(&request, NewMemory::saying(content)).await.map(|_| ())
}

#[tokio::test]
async fn space_memory_cannot_be_unmentioned() {
    let story = Story::begin().await;
    share(&story, &["anna", "ben"], &["family"]).await;
    let member = || story.by(human(&story, "anna").in_space(&space("family")));
    let unmentioned = |content: &str| {
        let mut new = NewMemory::saying(content);
        new.claim.unmentioned = true;
        new
    };
    let facts = &story.engine.facts;
    let refused = |result: Result<Outcome, Error>| match result.unwrap_err() {
        Error::Invalid(fields) => assert_eq!(fields[0].field, "unmentioned"),
        error => panic!("{error}"),
    };
    refused(facts.save(&member(), unmentioned("The ladder is in the shed")).await);
    refused(facts.propose(&member(), unmentioned("The ladder is in the shed")).await);
    let said = NewMemory::saying("The ladder is in the shed");
    let saved = facts.save(&member(), said).await.unwrap().memories[0].version.fact;
    let hide = || Edit { unmentioned: Some(true), ..Edit::default() };
    for update in [Update::change(hide()), Update::correct(hide())] {
        refused(facts.update(&member(), &Target::Id(saved), update).await);
    }
    let said = NewMemory::saying("The saw is in the shed");
    let proposed = facts.propose(&member(), said).await.unwrap().memories[0].version.fact;
    let yes = ProposalDecision::Yes { digest: None, edit: Box::new(hide()) };
    refused(facts.confirm(&member(), &Target::Id(proposed), yes).await);
    // Of the user's own memories any can be unmentioned.
    let own = story.by(human(&story, "anna"));
    facts.save(&own, unmentioned("Is planning a surprise")).await.unwrap();
}

async fn count(database: &TestDatabase, sql: &str) -> i64 {
    database.admin().await.query_one(sql, &[]).await.unwrap().get(0)
}

const GRANTS: &str = "select count(*) from space_grant";
const AUTHORS: &str = "select count(*) from operation where member_id is not null";

/// The members that the space had, copied before and brought back after an erasure, as a backup of the
/// space's cell alone brings them back.
async fn keep_space_rows(database: &TestDatabase) {
    let sql = "create table kept_grant as table space_grant; \
               create table kept_operation as table operation";
    database.admin().await.batch_execute(sql).await.unwrap();
}

async fn restore_space_rows(database: &TestDatabase) {
    let sql = "set session_replication_role = replica; \
               insert into space_grant select * from kept_grant on conflict do nothing; \
               update operation o set member_id = k.member_id, credential = k.credential \
                 from kept_operation k where k.operation_id = o.operation_id and k.user_id = o.user_id";
    database.admin().await.batch_execute(sql).await.unwrap();
}

#[tokio::test]
async fn space_cell_restored_from_a_backup_has_no_erased_member() {
    let place = Place::new("space-restored");
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_journal(place.open());
    share(&story, &["anna", "ben"], &["family"]).await;
    save_in(&story, "anna", "family", "The ladder is in the shed").await.unwrap();
    save_in(&story, "ben", "family", "The bakery closes at noon").await.unwrap();
    keep_space_rows(&story.database).await;
    story.pass(60);
    story.engine.erasures.erase_user(story.tenant, "anna", story.moment()).await.unwrap();
    assert_eq!(count(&story.database, GRANTS).await, 1);
    assert_eq!(count(&story.database, AUTHORS).await, 1);

    restore_space_rows(&story.database).await;
    assert_eq!(count(&story.database, GRANTS).await, 2);
    story.pass(60);
    let replayed = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!((replayed.entries, replayed.users, replayed.members), (1, 0, 1));
    assert_eq!(count(&story.database, GRANTS).await, 1);
    assert_eq!(count(&story.database, AUTHORS).await, 1);
    let key = "select count(*) from operation where credential = 'key_of_anna'";
    assert_eq!(count(&story.database, key).await, 0);
    let again = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!(again.members, 0);
}

#[tokio::test]
async fn space_keeps_the_grant_of_a_user_created_again_in_a_replay() {
    let place = Place::new("space-again");
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_journal(place.open());
    share(&story, &["anna"], &["family"]).await;
    story.pass(60);
    story.engine.erasures.erase_user(story.tenant, "anna", story.moment()).await.unwrap();
    story.pass(60);
    share(&story, &["anna"], &["family"]).await;
    save_in(&story, "anna", "family", "The ladder is in the shed").await.unwrap();
    let replayed = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!(replayed.members, 0);
    assert_eq!(count(&story.database, GRANTS).await, 1);
    assert_eq!(count(&story.database, AUTHORS).await, 1);
    save_in(&story, "anna", "family", "The bakery closes at noon").await.unwrap();
}

#[tokio::test]
async fn space_grant_accepted_before_the_member_existed_allows_nothing() {
    let story = Story::begin().await;
    share(&story, &["anna"], &["family"]).await;
    keep_space_rows(&story.database).await;
    story.pass(60);
    story.engine.erasures.erase_user(story.tenant, "anna", story.moment()).await.unwrap();
    // Without an erasure journal, a restored backup of the space's cell brings the grant back.
    restore_space_rows(&story.database).await;
    let refused = save_in(&story, "anna", "family", "x").await.unwrap_err();
    assert_eq!(refused.code(), "space_not_found", "the member is gone");
    story.pass(60);
    story.engine.directory.create_user(story.tenant, "anna", None, story.now()).await.unwrap();
    let refused = save_in(&story, "anna", "family", "x").await.unwrap_err();
    assert_eq!(refused.code(), "space_not_found", "another user accepted it");
    // The new user can accept it, once it was granted to them.
    let by = AuditActor::from(story.tenant);
    let (spaces, now) = (&story.engine.spaces, story.now());
    spaces.grant(by, &space("family"), "anna", SpaceAccess::Write, now).await.unwrap();
    let anna = human(&story, "anna");
    story.engine.spaces.accept(&anna, &space("family"), story.now()).await.unwrap();
    save_in(&story, "anna", "family", "The ladder is in the shed").await.unwrap();
}

/// Removes the grants of a cell whose members are in another one: the check of rows at the end of a
/// test compares them within one database.
async fn forget_grants(database: &TestDatabase) {
    database.admin().await.batch_execute("delete from space_grant").await.unwrap();
}

/// Sets the address of the second cell; the engine connects again.
async fn set_cell_url(story: &mut Story, url: &str) {
    let admin = story.database.admin().await;
    admin.execute("update cell set url = $1 where name = 'east'", &[&url]).await.unwrap();
    story.engine.close();
    story.engine = Engine::connect(&story.database.connect()).unwrap();
}

/// The spaces `family`, in a second cell, and `team`, in the main cell, with Anna and Ben.
async fn two_cells() -> (Story, TestDatabase) {
    let (story, east) = deployment().await;
    share(&story, &["anna", "ben"], &["family", "team"]).await;
    let id = space("family").user_id(story.tenant).uuid();
    let request = MoveRequest {
        tenant: None,
        range: UserRange { first: id, last: id },
        from: Some(MAIN_CELL.to_owned()),
        to: "east".to_owned(),
        max_pause: Duration::from_secs(5),
    };
    let connect = story.database.connect();
    let moved = cells::move_users(&connect, &request, story.now(), |_| {}).await.unwrap();
    assert_eq!(moved, 1);
    (story, east)
}

#[tokio::test]
async fn space_of_a_silent_cell_delays_only_the_end_of_a_members_erasure() {
    let (mut story, east) = two_cells().await;
    for name in ["family", "team"] {
        save_in(&story, "anna", name, "The ladder is in the shed").await.unwrap();
    }
    let own = story.by(human(&story, "anna"));
    story.engine.facts.save(&own, NewMemory::saying("a canary of anna")).await.unwrap();
    set_cell_url(&mut story, "postgres://lukasa@127.0.0.1:9/none").await;

    let moment = story.moment();
    let erased = story.engine.erasures.erase_user_within(story.tenant, "anna", moment, BUDGET);
    let erased = erased.await.unwrap();
    assert!(erased.receipt.is_none(), "one space was not left");
    assert!(!story.database.dump().await.contains("canary"), "everything else is gone");
    assert_eq!(count(&story.database, GRANTS).await, 1, "ben's grant of the team");
    assert_eq!(count(&story.database, AUTHORS).await, 0);
    for name in ["family", "team"] {
        let refused = save_in(&story, "anna", name, "x").await.unwrap_err();
        assert_eq!(refused.code(), "space_not_found");
    }

    set_cell_url(&mut story, &east.url()).await;
    assert_eq!(count(&east, GRANTS).await, 2);
    let refused = save_in(&story, "anna", "family", "x").await.unwrap_err();
    assert_eq!(refused.code(), "space_not_found", "the grant is there, and the member is gone");
    story.pass(120);
    assert!(story.engine.erasures.continue_erasure(story.moment()).await.unwrap());
    assert_eq!((count(&east, GRANTS).await, count(&east, AUTHORS).await), (1, 0));
    let receipts = story.engine.erasures.receipts_of_user(story.tenant, "anna", story.now());
    assert_eq!(receipts.await.unwrap().len(), 1);
    forget_grants(&east).await;
    let listed = "select count(*) from membership";
    assert_eq!(count(&story.database, listed).await, 2, "ben's");
    story.engine.close();
}

#[tokio::test]
async fn space_of_a_silent_cell_is_counted_in_the_list_of_memberships() {
    let (mut story, east) = two_cells().await;
    save_in(&story, "anna", "team", "The ladder is in the shed").await.unwrap();
    set_cell_url(&mut story, "postgres://lukasa@127.0.0.1:9/none").await;
    let listed = story.engine.spaces.memberships(&human(&story, "ben"), story.now()).await.unwrap();
    let names: Vec<&str> = listed.found.iter().map(|one| one.space.as_str()).collect();
    assert_eq!((names, listed.unavailable), (vec!["team"], 1));
    story.engine.close();
    forget_grants(&east).await;
}

#[tokio::test]
async fn space_members_of_a_silent_cell_have_no_name_in_lists() {
    let (story, _east) = deployment().await;
    share(&story, &["anna", "ben"], &["team"]).await;
    save_in(&story, "anna", "team", "The ladder is in the shed").await.unwrap();
    let id = human(&story, "anna").user;
    let request = MoveRequest {
        tenant: None,
        range: UserRange { first: id.uuid(), last: id.uuid() },
        from: Some(MAIN_CELL.to_owned()),
        to: "east".to_owned(),
        max_pause: Duration::from_secs(5),
    };
    let connect = story.database.connect();
    cells::move_users(&connect, &request, story.now(), |_| {}).await.unwrap();
    let mut story = story;
    set_cell_url(&mut story, "postgres://lukasa@127.0.0.1:9/none").await;
    let ben = human(&story, "ben").user;
    let names = story.engine.spaces.names_of(story.tenant, &[id, ben]).await.unwrap();
    assert_eq!(names.into_values().collect::<Vec<_>>(), ["ben"]);
    let members = story.engine.spaces.members(story.tenant, &space("team"), story.now()).await;
    let members: Vec<Option<String>> = members.unwrap().into_iter().map(|one| one.user).collect();
    assert_eq!(members.len(), 2);
    assert!(members.contains(&None) && members.contains(&Some("ben".to_owned())), "{members:?}");
    story.engine.close();
    forget_grants(&story.database).await;
}

#[tokio::test]
async fn space_erased_in_the_background_is_in_no_list_of_members() {
    let story = Story::begin().await;
    share(&story, &["anna", "ben"], &["family"]).await;
    for n in 0..3 {
        save_in(&story, "anna", "family", &format!("The ladder {n} is in the shed")).await.unwrap();
    }
    let by = AuditActor::from(story.tenant);
    let (name, moment) = (space("family"), story.moment());
    let none = Duration::ZERO;
    let erased = story.engine.erasures.erase_space_within(by, &name, moment, none).await.unwrap();
    if erased.receipt.is_none() {
        while story.engine.erasures.continue_erasure(story.moment()).await.unwrap() {}
    }
    assert_eq!(count(&story.database, "select count(*) from membership").await, 0);
    assert_eq!(count(&story.database, GRANTS).await, 0);
}

#[tokio::test]
async fn user_can_join_a_space_after_leaving_a_hundred() {
    let story = Story::begin().await;
    share(&story, &["anna"], &["family"]).await;
    // As if a hundred grants had been made and ended.
    let id = human(&story, "anna").user.uuid();
    let sql = "insert into membership (user_id, tenant_id, space_id) \
               select $1, $2, gen_random_uuid() from generate_series(1, 100)";
    let admin = story.database.admin().await;
    admin.execute(sql, &[&id, &story.tenant.uuid()]).await.unwrap();
    let by = || AuditActor::from(story.tenant);
    let (spaces, team, now) = (&story.engine.spaces, space("team"), story.now());
    spaces.create(by(), &team, now).await.unwrap();
    spaces.grant(by(), &team, "anna", SpaceAccess::Read, now).await.unwrap();
}

#[tokio::test]
async fn context_of_several_slow_spaces_has_one_deadline() {
    const DEADLINE: Duration = Duration::from_secs(1);
    let story = Story::begin().await;
    let names = ["a", "b", "c", "d", "e"];
    share(&story, &["anna"], &names).await;
    // The first retrieval prepares what all use.
    let first = ContextRequest::about("Where is the ladder?");
    let anna = human(&story, "anna");
    story.engine.context.retrieve(&anna, &first, story.moment()).await.unwrap();
    let mut admin = story.database.admin().await;
    let lock = admin.transaction().await.unwrap();
    lock.batch_execute("lock table space_grant in access exclusive mode").await.unwrap();
    let ask = ContextRequest { within: DEADLINE, ..ContextRequest::about("Where is the ladder?") };
    let spaces = names.map(space);
    let contexts = &story.engine.context;
    let began = Instant::now();
    let observer = story.database.admin().await;
    let waiting = "select count(*) from pg_stat_activity \
                   where datname = current_database() and wait_event_type = 'Lock'";
    let mut most = 0;
    let mut work =
        std::pin::pin!(contexts.retrieve_with_spaces(&anna, &spaces, &ask, story.moment()));
    let (_, parts) = loop {
        tokio::select! {
            done = &mut work => break done.unwrap(),
            () = tokio::time::sleep(Duration::from_millis(50)) => {
                let count: i64 = observer.query_one(waiting, &[]).await.unwrap().get(0);
                most = most.max(count);
            }
        }
    };
    let took = began.elapsed();
    lock.rollback().await.unwrap();
    assert_eq!(most, 1, "one connection at a time");
    assert!(parts.iter().all(Option::is_none), "{parts:?}");
    assert_eq!(parts.len(), 5);
    assert!(took < DEADLINE * 3, "{took:?}");
}

#[tokio::test]
async fn order_that_another_member_withdrew_is_not_brought_back_by_its_author_alone() {
    let story = Story::begin().await;
    share(&story, &["anna", "ben"], &["family"]).await;
    let by = |name: &str| {
        story.pass(1);
        story.by(human(&story, name).in_space(&space("family")))
    };
    let (facts, removals) = (&story.engine.facts, &story.engine.removals);
    let yes = || ProposalDecision::Yes { digest: None, edit: Box::default() };
    let mut rule = NewMemory::saying("No shellfish in the kitchen");
    rule.claim.force = lukasa_core::Force::Hard;
    (rule.claim.domain, rule.claim.key) = (Some("food".into()), Some("kitchen".into()));
    let order = NewMemory::saying("Always buy paper from the corner shop");
    for new in [order, rule] {
        let saved = facts.save(&by("anna"), new).await.unwrap();
        let target = Target::Id(Story::fact(&saved));
        facts.confirm(&by("ben"), &target, yes()).await.unwrap();
        let withdrawn = removals.forget(&by("ben"), &target).await.unwrap().operation.unwrap();
        let restored = removals.restore(&by("anna"), &target).await;
        assert_eq!(restored.unwrap_err().code(), "other_member_needed");
        let undone = story.engine.undo.undo(&by("anna"), withdrawn).await;
        assert_eq!(undone.unwrap_err().code(), "other_member_needed");
        // The member who withdrew it restores it.
        removals.restore(&by("ben"), &target).await.unwrap();
        let withdrawn = removals.forget(&by("ben"), &target).await.unwrap().operation.unwrap();
        story.engine.undo.undo(&by("ben"), withdrawn).await.unwrap();
    }
    // A memory that is not an order is restored by any member who may write.
    let saved = facts.save(&by("anna"), NewMemory::saying("The ladder is in the shed")).await;
    let target = Target::Id(Story::fact(&saved.unwrap()));
    removals.forget(&by("ben"), &target).await.unwrap();
    removals.restore(&by("anna"), &target).await.unwrap();
}

#[tokio::test]
async fn order_of_a_space_is_not_extended_by_its_author_alone() {
    let story = Story::begin().await;
    share(&story, &["anna", "ben"], &["family"]).await;
    let by = |name: &str| {
        story.pass(1);
        story.by(human(&story, name).in_space(&space("family")))
    };
    let facts = &story.engine.facts;
    let dates = |from: Option<i64>, until: Option<Option<i64>>| Update {
        mode: UpdateMode::Correct {
            valid_from: from.map(time),
            valid_until: until.map(|until| until.map(time)),
        },
        ..Update::change(Edit::default())
    };
    let yes = || ProposalDecision::Yes { digest: None, edit: Box::default() };
    let order = NewMemory {
        valid_until: Some(time(9_000)),
        ..NewMemory::saying("Always buy paper from the corner shop")
    };
    let saved = facts.save(&by("anna"), order).await.unwrap();
    let target = Target::Id(Story::fact(&saved));
    facts.confirm(&by("ben"), &target, yes()).await.unwrap();
    let refused = async |update: Update| {
        let result = facts.update(&by("anna"), &target, update).await;
        assert_eq!(result.unwrap_err().code(), "other_member_needed");
    };
    // It was accepted with an end.
    refused(dates(None, Some(None))).await;
    refused(dates(None, Some(Some(9_001)))).await;
    refused(dates(Some(-5), None)).await;
    // Its author may end it earlier, and does not get it back.
    facts.update(&by("anna"), &target, dates(None, Some(Some(8_000)))).await.unwrap();
    refused(dates(None, Some(Some(9_000)))).await;
    // Another member ended it.
    story.pass(100);
    let now = story.now().duration_since(time(0)).as_secs();
    facts.update(&by("ben"), &target, dates(None, Some(Some(now)))).await.unwrap();
    refused(dates(None, Some(None))).await;
    // The other member extends it.
    facts.update(&by("ben"), &target, dates(None, Some(None))).await.unwrap();
    // The dates of what is not an order are any member's.
    let plain = NewMemory {
        valid_until: Some(time(9_000)),
        ..NewMemory::saying("The ladder is in the shed")
    };
    let target = Target::Id(Story::fact(&facts.save(&by("anna"), plain).await.unwrap()));
    facts.update(&by("anna"), &target, dates(None, Some(None))).await.unwrap();
}
