//! A scope sees one user, and leaves no transaction open however it ends.

use std::time::Duration;

use lukasa_core::audit::{AuditEntry, AuditEvent};
use lukasa_core::job::Task;
use lukasa_core::{Ids, TenantId, Timestamp, UserId};
use lukasa_store::testing::TestDatabase;
use lukasa_store::{Batch, Error, audit, directory, domain, fact, job};

fn acme() -> TenantId {
    TenantId::named("acme")
}

fn alice() -> UserId {
    UserId::named(acme(), "alice")
}

async fn with_tenant() -> TestDatabase {
    let database = TestDatabase::fresh().await;
    let directory = database.store().directory(acme()).await.unwrap();
    directory::ensure_tenant(&directory, "acme", Timestamp::UNIX_EPOCH).await.unwrap();
    directory.commit().await.unwrap();
    database
}

/// Counts connections that are idle in a transaction.
async fn left_open(database: &TestDatabase) -> i64 {
    let admin = database.admin().await;
    let sql = "select count(*) from pg_stat_activity \
                where datname = current_database() and state like 'idle in transaction%'";
    admin.query_one(sql, &[]).await.unwrap().get(0)
}

async fn all_transactions_end(database: &TestDatabase) -> bool {
    for _ in 0..100 {
        if left_open(database).await == 0 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

#[tokio::test]
async fn scope_without_commit_rolls_back() {
    let database = with_tenant().await;
    let store = database.store();
    let scope = store.write(acme(), alice()).await.unwrap();
    directory::ensure_me(&scope, "alice", Timestamp::UNIX_EPOCH).await.unwrap();
    drop(scope);
    let scope = store.read(acme(), alice()).await.unwrap();
    assert_eq!(directory::me(&scope).await.unwrap(), None);
    drop(scope);
    assert!(all_transactions_end(&database).await);
}

#[tokio::test]
async fn scope_sees_only_its_own_user() {
    let database = with_tenant().await;
    let store = database.store();
    let scope = store.write(acme(), alice()).await.unwrap();
    directory::ensure_me(&scope, "alice", Timestamp::UNIX_EPOCH).await.unwrap();
    domain::open(&scope, "health", Timestamp::UNIX_EPOCH).await.unwrap();
    scope.commit().await.unwrap();
    let globex = TenantId::named("globex");
    for (tenant, user) in [
        (acme(), UserId::named(acme(), "bob")),
        (globex, UserId::named(globex, "alice")),
        // Alice's own id under another tenant matches nothing either.
        (globex, alice()),
    ] {
        let scope = store.read(tenant, user).await.unwrap();
        assert_eq!(directory::me(&scope).await.unwrap(), None);
        assert!(domain::opened(&scope).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn cancelled_request_leaves_no_settings_on_connection() {
    let database = with_tenant().await;
    let store = lukasa_store::Store::connect(&lukasa_store::ConnectOptions {
        pool_size: 1,
        ..database.connect()
    })
    .unwrap();
    for round in 0..200 {
        let user = UserId::named(acme(), &format!("user {round}"));
        let work = async {
            let scope = store.write(acme(), user).await.unwrap();
            directory::ensure_me(&scope, "x", Timestamp::UNIX_EPOCH).await.unwrap();
            directory::me(&scope).await.unwrap();
            scope.commit().await.unwrap();
        };
        // Cancelled at some point between "not yet begun" and "just done".
        let _ = tokio::time::timeout(Duration::from_micros(round * 12), work).await;
    }
    assert!(all_transactions_end(&database).await, "a transaction was left open");
    // The only connection still works, and without another user's settings.
    let scope = store.read(acme(), alice()).await.unwrap();
    assert_eq!(directory::me(&scope).await.unwrap(), None);
}

#[tokio::test]
async fn batch_that_is_first_in_its_scope_is_part_of_the_transaction() {
    let database = with_tenant().await;
    let store = database.store();
    let at = Timestamp::UNIX_EPOCH;
    let scope = store.write(acme(), alice()).await.unwrap();
    directory::ensure_me(&scope, "alice", at).await.unwrap();
    scope.commit().await.unwrap();
    let admin = database.admin().await;
    let count = async |sql: &str| admin.query_one(sql, &[]).await.unwrap().get::<_, i64>(0);
    let jobs = async || count("select count(*) from job").await;
    for (committed, expected) in [(false, 0), (true, 1)] {
        let scope = store.write(acme(), alice()).await.unwrap();
        let mut batch = Batch::default();
        let id = Ids::new(at, [1; 16]).job();
        job::queue_sole(&mut batch, &scope, id, &Task::Upkeep, at, at);
        scope.run(&batch).await.unwrap();
        match committed {
            true => scope.commit().await.unwrap(),
            false => drop(scope),
        }
        assert!(all_transactions_end(&database).await);
        assert_eq!(jobs().await, expected, "committed: {committed}");
    }
    // A statement that is sent right before the commit is not forgotten if it is the only one.
    let scope = store.write(acme(), alice()).await.unwrap();
    let mut batch = Batch::default();
    let entry = AuditEntry::done(AuditEvent::Import, acme().into(), at);
    audit::append(&mut batch, &scope, &entry);
    scope.run(&batch).await.unwrap();
    scope.commit().await.unwrap();
    assert_eq!(count("select count(*) from audit").await, 1);
    database.leave_unchecked();
}

#[tokio::test]
async fn scope_whose_opening_failed_cannot_be_committed() {
    let database = with_tenant().await;
    let scope = database.store().write(acme(), alice()).await.unwrap();
    let admin = database.admin().await;
    let end = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
                where datname = current_database() and pid <> pg_backend_pid()";
    admin.query_one(end, &[]).await.unwrap();
    let mut batch = Batch::default();
    let at = Timestamp::UNIX_EPOCH;
    job::queue_sole(&mut batch, &scope, Ids::new(at, [1; 16]).job(), &Task::Upkeep, at, at);
    scope.run(&batch).await.unwrap_err();
    assert!(matches!(scope.commit().await, Err(Error::Doomed)));
}

/// Checks the detector itself: it finds a transaction that was left open on purpose.
#[tokio::test]
async fn left_open_transaction_is_detected() {
    let database = with_tenant().await;
    let culprit = database.admin().await;
    culprit.batch_execute("begin; select 1").await.unwrap();
    assert_eq!(left_open(&database).await, 1);
}

#[tokio::test]
async fn failed_transaction_cannot_be_committed() {
    let database = with_tenant().await;
    let scope = database.store().write(acme(), alice()).await.unwrap();
    directory::ensure_me(&scope, "", Timestamp::UNIX_EPOCH).await.unwrap_err();
    // PostgreSQL itself would answer this commit with a rollback and no error.
    assert!(matches!(scope.commit().await, Err(Error::Doomed)));
}

#[tokio::test]
async fn serving_role_is_restricted_by_row_level_security() {
    let database = with_tenant().await;
    let health = database.store().health().await.unwrap();
    assert_eq!(health.role, "lukasa_serve");
    assert_eq!(health.unsafe_because(), None);
    let admin = database.admin().await;
    admin.batch_execute("alter table link owner to lukasa_serve").await.unwrap();
    let reason = database.store().health().await.unwrap().unsafe_because().unwrap();
    assert!(reason.contains("link"), "{reason}");
    admin.batch_execute("alter table link owner to postgres").await.unwrap();
}

#[tokio::test]
async fn unknown_fact_has_no_versions() {
    let database = with_tenant().await;
    let scope = database.store().read(acme(), alice()).await.unwrap();
    let id = lukasa_core::Ids::new(Timestamp::UNIX_EPOCH, [1; 16]).fact();
    assert!(fact::known_now(&scope, id).await.unwrap().is_empty());
    assert_eq!(fact::next_number(&scope, id).await.unwrap(), 1);
}
