//! Cells when something fails: a command that ends half-way, a request that is cancelled, a cell that
//! does not answer or was restored.

use std::time::Duration;

use lukasa_core::placement::{MAIN_CELL, UserRange};
use lukasa_core::{ErasureId, Timestamp};
use lukasa_store::cell_admin::{self, CellAddress};
use lukasa_store::mover::{self, MoveFault, MoveOptions};
use lukasa_store::testing::TestDatabase;
use lukasa_store::{ConnectOptions, Error, Store, directory};
use uuid::Uuid;

use super::{Deployment, NOW, acme, count, is_upper, named, names, read, upper, write};

fn uppers() -> Vec<String> {
    names().into_iter().filter(|name| is_upper(name)).collect()
}

/// All users in main, and then a move of the upper half to the second cell that ends between the two
/// commits of the first users.
async fn interrupted(deployment: &Deployment) -> Store {
    let store = deployment.main.store();
    for name in names() {
        write(&store, acme(), &name, "travel").await.unwrap();
    }
    let fault = MoveFault::EndsBetweenCommits;
    let ended = deployment.move_users(None, upper(), "east", fault).await;
    assert!(matches!(ended, Err(Error::Configuration(_))), "{ended:?}");
    let (main, east) = deployment.counts().await;
    assert!(main == 24 && east > 0, "{east} users have a copy");
    store
}

async fn rows_of(database: &TestDatabase, table: &str, name: &str) -> i64 {
    let sql = format!("select count(*) from {table} where user_id = $1");
    let admin = database.admin().await;
    admin.query_one(&sql, &[&named(name).uuid()]).await.unwrap().get(0)
}

#[tokio::test]
async fn reversed_move_keeps_what_was_written_after_the_interruption() {
    let deployment = Deployment::new().await;
    let store = interrupted(&deployment).await;
    for name in uppers() {
        write(&store, acme(), &name, "work").await.unwrap();
    }
    deployment.move_users(None, upper(), MAIN_CELL, MoveFault::None).await.unwrap();
    assert_eq!(deployment.counts().await, (24, 0));
    assert_eq!(count(&deployment.east, "user_domain").await, 0);
    for store in [store, deployment.main.store()] {
        for name in uppers() {
            assert_eq!(read(&store, acme(), &name).await.unwrap(), ["travel", "work"]);
        }
    }
}

#[tokio::test]
async fn interrupted_move_is_continued_with_what_was_written_since() {
    let deployment = Deployment::new().await;
    let store = interrupted(&deployment).await;
    for name in uppers() {
        write(&store, acme(), &name, "work").await.unwrap();
    }
    deployment.move_users(None, upper(), "east", MoveFault::None).await.unwrap();
    let moved = uppers().len() as i64;
    assert_eq!(deployment.counts().await, (24 - moved, moved));
    for name in uppers() {
        assert_eq!(read(&store, acme(), &name).await.unwrap(), ["travel", "work"]);
    }
}

#[tokio::test]
async fn copy_of_an_interrupted_move_is_removed_and_the_user_is_not() {
    let deployment = Deployment::new().await;
    let store = interrupted(&deployment).await;
    let mut copied = Vec::new();
    for name in uppers() {
        if rows_of(&deployment.east, "users", &name).await > 0 {
            copied.push(name);
        }
    }
    let name = copied.first().unwrap();
    assert_eq!(rows_of(&deployment.east, "user_domain", name).await, 1);
    let scope = store.write(acme(), named(name)).await.unwrap();
    assert!(directory::me(&scope).await.unwrap().is_some());
    store.remove_copy(&scope, NOW).await.unwrap();
    scope.commit().await.unwrap();
    assert_eq!(rows_of(&deployment.east, "user_domain", name).await, 0);
    assert_eq!(read(&store, acme(), name).await.unwrap(), ["travel"]);
    // A user whom the target holds has no copy, and is left as they are.
    deployment.move_users(None, upper(), "east", MoveFault::None).await.unwrap();
    let scope = store.write(acme(), named(name)).await.unwrap();
    assert!(directory::me(&scope).await.unwrap().is_some());
    store.remove_copy(&scope, NOW).await.unwrap();
    scope.commit().await.unwrap();
    assert_eq!(read(&store, acme(), name).await.unwrap(), ["travel"]);
}

#[tokio::test]
async fn both_cells_of_a_move_are_marked_for_a_scrub() {
    let deployment = Deployment::new().await;
    deployment.move_users(None, upper(), "east", MoveFault::None).await.unwrap();
    let listed = cell_admin::list(&deployment.main.connect()).await.unwrap();
    assert!(listed.iter().all(|cell| cell.moved_from_at == Some(NOW)), "{listed:?}");
    // Users were moved again while a scrub rewrote the files of the cells it had listed.
    let mut locked = cell_admin::lock(&deployment.main.connect()).await.unwrap();
    let later = Timestamp::from_second(60).unwrap();
    for name in [MAIN_CELL, "east"] {
        locked.mark_moved_from(name, later).await.unwrap();
    }
    for cell in &listed {
        locked.clear_moved_from(cell).await.unwrap();
    }
    let listed = cell_admin::list(&deployment.main.connect()).await.unwrap();
    assert!(listed.iter().all(|cell| cell.moved_from_at == Some(later)), "{listed:?}");
    for cell in &listed {
        locked.clear_moved_from(cell).await.unwrap();
    }
    let listed = cell_admin::list(&deployment.main.connect()).await.unwrap();
    assert!(listed.iter().all(|cell| cell.moved_from_at.is_none()), "{listed:?}");
}

#[tokio::test]
async fn cancelled_request_leaves_no_transaction_open_in_another_cell() {
    const OPEN: &str = "select count(*) from pg_stat_activity where datname = current_database() \
                        and pid <> pg_backend_pid() and (state like 'idle in transaction%' \
                          or wait_event_type = 'Lock')";
    let deployment = Deployment::new().await;
    deployment.place_halves().await;
    let name = uppers().remove(0);
    // Another transaction has the user's lock, so that the opening in the second cell waits.
    let mut holder = deployment.east.admin().await;
    let lock = named(&name).uuid().as_u64_pair().0.cast_signed();
    let held = holder.transaction().await.unwrap();
    held.query("select pg_advisory_xact_lock($1)", &[&lock]).await.unwrap();
    let store = deployment.main.store();
    let admin = deployment.east.admin().await;
    let open = async || -> i64 { admin.query_one(OPEN, &[]).await.unwrap().get(0) };
    // The one that has the lock, and the one that waits for it.
    let both_open = async {
        while open().await != 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        written = write(&store, acme(), &name, "travel") => panic!("{written:?}"),
        () = both_open => {}
    }
    held.rollback().await.unwrap();
    for _ in 0..50 {
        if open().await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(open().await, 0);
    write(&store, acme(), &name, "travel").await.unwrap();
}

#[tokio::test]
async fn erasure_is_on_record_only_in_the_cell_that_holds_the_user() {
    let deployment = Deployment::new().await;
    deployment.place_halves().await;
    let store = deployment.main.store();
    let name = uppers().remove(0);
    write(&store, acme(), &name, "travel").await.unwrap();
    let id = ErasureId::from_uuid(Uuid::from_u128(7));
    let asked = [(acme(), named(&name), id)];
    let record = async |database: &TestDatabase| {
        let sql = "insert into erasure (user_id, tenant_id, erasure_id, fact_id, verb, erased_at, \
                   removed, finished_at) values ($1, $2, $3, $3, 'erase', now(), '{}', now())";
        let admin = database.admin().await;
        let params: [Uuid; 3] = [named(&name).uuid(), acme().uuid(), id.uuid()];
        admin.execute(sql, &[&params[0], &params[1], &params[2]]).await.unwrap();
    };
    // Main has a record from before the user was moved; the user's cell was restored and has none.
    record(&deployment.main).await;
    assert!(store.erasures_on_record(&asked).await.unwrap().is_empty());
    record(&deployment.east).await;
    assert!(store.erasures_on_record(&asked).await.unwrap().contains(&id));
    // The same while the user's range moves.
    let map = cell_admin::placement(&deployment.main.connect()).await.unwrap();
    deployment.place(&map.begin_move(None, upper(), Some("east"), MAIN_CELL).unwrap()).await;
    let store = deployment.main.store();
    assert!(store.erasures_on_record(&asked).await.unwrap().contains(&id));
    let admin = deployment.east.admin().await;
    admin.batch_execute("delete from erasure").await.unwrap();
    assert!(store.erasures_on_record(&asked).await.unwrap().is_empty());
}

#[tokio::test]
async fn user_who_takes_too_long_to_copy_stops_the_move() {
    let deployment = Deployment::new().await;
    let store = deployment.main.store();
    let name = uppers().remove(0);
    write(&store, acme(), &name, "travel").await.unwrap();
    let mut other = deployment.east.admin().await;
    let blocking = other.transaction().await.unwrap();
    blocking.batch_execute("lock table user_domain in exclusive mode").await.unwrap();
    let options = MoveOptions { max_pause: Duration::from_millis(400), ..MoveOptions::default() };
    let cells = deployment.cells();
    let stopped = deployment.move_with(&cells, None, upper(), "east", options).await;
    let Err(Error::Configuration(why)) = stopped else { panic!("{stopped:?}") };
    assert!(why.contains(&named(&name).uuid().to_string()), "{why}");
    assert!(why.contains("--max-pause"), "{why}");
    // The user's writes are not kept waiting.
    let writing = write(&store, acme(), &name, "work");
    tokio::time::timeout(Duration::from_secs(5), writing).await.unwrap().unwrap();
    assert_eq!(deployment.counts().await, (1, 0));
    blocking.rollback().await.unwrap();
    deployment.move_users(None, upper(), "east", MoveFault::None).await.unwrap();
    assert_eq!(read(&store, acme(), &name).await.unwrap(), ["travel", "work"]);
}

#[tokio::test]
async fn move_ends_after_another_command_has_changed_the_cells() {
    let deployment = Deployment::new().await;
    let store = deployment.main.store();
    let name = uppers().remove(0);
    write(&store, acme(), &name, "travel").await.unwrap();
    for (database, state) in [(&deployment.main, "leaving"), (&deployment.east, "arriving")] {
        let mut locked = cell_admin::lock(&deployment.main.connect()).await.unwrap();
        let before = locked.placement().await.unwrap();
        let planned = before.begin_move(None, upper(), None, "east").unwrap();
        mover::begin(&mut locked, &deployment.cells(), &before, &planned, NOW).await.unwrap();
        let admin = database.admin().await;
        let sql = "update holding set epoch = epoch + 1 where state = $1";
        assert_eq!(admin.execute(sql, &[&state]).await.unwrap(), 1);
        let moving = planned.ranges().iter().find(|r| r.moving_to.is_some()).unwrap();
        let (cells, options) = (deployment.cells(), MoveOptions::default());
        let ended = mover::finish(&mut locked, &cells, moving, options, |_| {}).await;
        assert!(matches!(ended, Err(Error::Configuration(_))), "{state}: {ended:?}");
        assert_eq!(deployment.counts().await, (1, 0), "{state}");
    }
    deployment.move_users(None, upper(), "east", MoveFault::None).await.unwrap();
    assert_eq!(deployment.counts().await, (0, 1));
}

#[tokio::test]
async fn cell_that_is_away_does_not_hinder_a_move_between_others() {
    let deployment = Deployment::new().await;
    let store = deployment.main.store();
    for name in names() {
        write(&store, acme(), &name, "travel").await.unwrap();
    }
    let mut cells = deployment.cells();
    cells.push(CellAddress {
        name: "west".into(),
        connect: ConnectOptions {
            url: "postgres://lukasa@127.0.0.1:9/none".into(),
            ..deployment.main.connect()
        },
        moved_from_at: None,
    });
    let options = MoveOptions::default();
    deployment.move_with(&cells, None, upper(), "east", options).await.unwrap();
    deployment.move_with(&cells, None, UserRange::ALL, MAIN_CELL, options).await.unwrap();
    assert_eq!(deployment.counts().await, (24, 0));
    let refused = deployment.move_with(&cells, None, upper(), "west", options).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
}
