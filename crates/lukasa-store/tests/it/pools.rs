//! Pools by purpose: a busy user, a missing standby or a failed-over server does not block other
//! work.

use std::time::{Duration, Instant};

use lukasa_core::{TenantId, Timestamp, UserId};
use lukasa_store::testing::TestDatabase;
use lukasa_store::{Error, Store, directory};

fn acme() -> TenantId {
    TenantId::named("acme")
}

async fn with_tenant() -> TestDatabase {
    let database = TestDatabase::fresh().await;
    let list = database.store().directory(acme()).await.unwrap();
    directory::ensure_tenant(&list, "acme", Timestamp::UNIX_EPOCH).await.unwrap();
    list.commit().await.unwrap();
    database
}

async fn write(store: &Store, name: &str) -> Result<(), Error> {
    let scope = store.write(acme(), UserId::named(acme(), name)).await?;
    directory::ensure_me(&scope, name, Timestamp::UNIX_EPOCH).await?;
    scope.commit().await
}

/// Holds a user's lock until dropped.
async fn hold(database: &TestDatabase, name: &str) -> impl Drop {
    let (high, _) = UserId::named(acme(), name).uuid().as_u64_pair();
    let admin = database.admin().await;
    let sql = format!("begin; select pg_advisory_xact_lock({})", high.cast_signed());
    admin.batch_execute(&sql).await.unwrap();
    LockHolder(admin)
}

struct LockHolder(
    #[allow(dead_code, reason = "closed when dropped")] lukasa_store::testing::postgres::Client,
);

impl Drop for LockHolder {
    fn drop(&mut self) {}
}

#[tokio::test]
async fn waiting_writes_of_one_user_leave_connections_to_others() {
    let database = with_tenant().await;
    let store = database.store();
    let held = hold(&database, "busy").await;
    for _ in 0..64 {
        let store = store.clone();
        tokio::spawn(async move { write(&store, "busy").await });
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let started = Instant::now();
    write(&store, "other").await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    drop(held);
}

#[tokio::test]
async fn hanging_writes_do_not_block_reads_and_admission() {
    let database = with_tenant().await;
    let store = database.store();
    // As with a standby that does not answer: every connection for writes is in use.
    let mut held = Vec::new();
    for name in ["a", "b", "c", "d"] {
        held.push(hold(&database, name).await);
        for _ in 0..2 {
            let store = store.clone();
            tokio::spawn(async move { write(&store, name).await });
        }
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let started = Instant::now();
    let scope = store.read(acme(), UserId::named(acme(), "other")).await.unwrap();
    assert_eq!(directory::me(&scope).await.unwrap(), None);
    assert!(store.find_credential("unknown").await.unwrap().is_none());
    assert!(store.is_ready().await.unwrap());
    let background = store.in_background();
    write(&background, "other").await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    drop(held);
}

#[tokio::test]
async fn connection_to_read_only_server_is_dropped() {
    let database = with_tenant().await;
    let store = database.store();
    write(&store, "alice").await.unwrap();
    let admin = database.admin().await;
    let alter = |how: &str| {
        format!("do $$ begin execute format('alter database %I {how}', current_database()); end $$")
    };
    admin.batch_execute(&alter("set default_transaction_read_only = on")).await.unwrap();
    // Existing connections keep their settings; a new store opens new ones.
    let store = database.store();
    let refused = write(&store, "bob").await.unwrap_err();
    assert!(matches!(refused, Error::Unavailable(_)), "{refused}");
    admin.batch_execute(&alter("reset default_transaction_read_only")).await.unwrap();
    write(&store, "bob").await.unwrap();
}
