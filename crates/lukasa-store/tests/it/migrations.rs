//! Migrations on a database in use: what a migration waits for, what is left when one fails, and which
//! databases are refused.

use std::time::{Duration, Instant};

use lukasa_store::testing::{LockWait, TestDatabase, migrate_further};
use lukasa_store::{ConnectOptions, Error, Migration};

const FIRST: (&str, &str) = ("V9001__first", "alter table users add column first integer");
const SECOND: (&str, &str) =
    ("V9002__second", "create table added (id integer); alter table users add column second text");
const THIRD: (&str, &str) = ("V9003__third", "alter table users add column third integer");

async fn further(
    connect: &ConnectOptions,
    steps: &[(&str, &str)],
) -> Result<Vec<Migration>, Error> {
    let (timeout, pause) = (Duration::from_millis(300), Duration::from_millis(50));
    migrate_further(connect, steps, LockWait { timeout, attempts: 2, pause }).await
}

fn versions(steps: &[Migration]) -> Vec<u32> {
    steps.iter().map(|step| step.version).collect()
}

/// The columns of a table, and whether it exists, are visible in the catalog.
async fn count(database: &TestDatabase, sql: &str) -> i64 {
    database.admin().await.query_one(sql, &[]).await.unwrap().get(0)
}

const ADDED_TABLES: &str = "select count(*) from pg_tables where tablename = 'added'";
const ADDED_COLUMNS: &str = "select count(*) from information_schema.columns where table_name = 'users' \
                             and column_name in ('first', 'second', 'third')";

#[tokio::test]
async fn migration_without_its_lock_fails_in_time_and_the_next_run_continues_with_it() {
    let database = TestDatabase::fresh().await;
    assert_eq!(versions(&further(&database.connect(), &[FIRST]).await.unwrap()), [9001]);
    let mut holder = database.admin().await;
    let held = holder.transaction().await.unwrap();
    held.batch_execute("lock table users in access share mode").await.unwrap();
    let (all, start) = ([FIRST, SECOND, THIRD], Instant::now());
    let error = further(&database.connect(), &all).await.unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let text = format!("{error:?}");
    assert!(text.contains("V9002__second") && text.contains("lock timeout"), "{text}");
    // Nothing of the second remains, not even what it did before it waited; the first stays.
    assert_eq!(count(&database, ADDED_TABLES).await, 0);
    assert_eq!(count(&database, ADDED_COLUMNS).await, 1);
    held.commit().await.unwrap();
    assert_eq!(versions(&further(&database.connect(), &all).await.unwrap()), [9002, 9003]);
    assert_eq!(count(&database, ADDED_COLUMNS).await, 3);
    assert!(further(&database.connect(), &all).await.unwrap().is_empty());
}

#[tokio::test]
async fn migration_is_tried_again_until_its_lock_is_free_and_requests_are_answered_meanwhile() {
    const HELD: Duration = Duration::from_secs(4);
    let database = TestDatabase::fresh().await;
    let mut holder = database.admin().await;
    let held = holder.transaction().await.unwrap();
    held.batch_execute("lock table users in access share mode").await.unwrap();
    let connect = database.connect();
    let wait = LockWait { pause: Duration::from_millis(500), ..LockWait::DEFAULT };
    let start = Instant::now();
    let migrating =
        tokio::spawn(async move { migrate_further(&connect, &[FIRST, SECOND, THIRD], wait).await });
    // Requests behind the migration wait for one attempt at most.
    let reader = database.admin().await;
    let mut longest = Duration::ZERO;
    while start.elapsed() < HELD {
        let asked = Instant::now();
        reader.query_one("select count(*) from users", &[]).await.unwrap();
        longest = longest.max(asked.elapsed());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!migrating.is_finished(), "it waits for the lock");
    held.commit().await.unwrap();
    assert_eq!(versions(&migrating.await.unwrap().unwrap()), [9001, 9002, 9003]);
    assert_eq!(count(&database, ADDED_COLUMNS).await, 3);
    assert!(longest > Duration::from_millis(500), "nothing waited behind it: {longest:?}");
    assert!(longest < LockWait::DEFAULT.timeout + Duration::from_secs(1), "{longest:?}");
}

#[tokio::test]
async fn migration_with_a_wrong_statement_leaves_nothing_and_is_applied_when_corrected() {
    let database = TestDatabase::fresh().await;
    let wrong =
        (SECOND.0, "create table added (id integer); alter table no_such_table add x integer");
    let error = further(&database.connect(), &[FIRST, wrong, THIRD]).await.unwrap_err();
    assert!(format!("{error:?}").contains("no_such_table"), "{error:?}");
    assert_eq!(count(&database, ADDED_TABLES).await, 0);
    assert_eq!(count(&database, ADDED_COLUMNS).await, 1);
    let rest = further(&database.connect(), &[FIRST, SECOND, THIRD]).await.unwrap();
    assert_eq!(versions(&rest), [9002, 9003]);
}

#[tokio::test]
async fn migration_outside_a_transaction_is_repeated_until_its_index_is_valid() {
    const INDEX: (&str, &str) = (
        "V9002__index",
        "-- outside a transaction\n\n-- Two rows with one id.\ndrop index concurrently if exists added_id;\n\
         create unique index concurrently added_id on added (id);\n",
    );
    const VALID: &str = "select count(*) from pg_index where indexrelid = to_regclass('added_id') \
                         and indisvalid";
    let database = TestDatabase::fresh().await;
    let table =
        ("V9001__table", "create table added (id integer); insert into added values (1), (1)");
    let all = [table, INDEX, THIRD];
    further(&database.connect(), &all).await.unwrap_err();
    // The table stays, the index is left invalid, and what follows was not applied.
    assert_eq!(count(&database, ADDED_TABLES).await, 1);
    assert_eq!(count(&database, VALID).await, 0);
    assert_eq!(count(&database, ADDED_COLUMNS).await, 0);
    let admin = database.admin().await;
    admin.batch_execute("delete from added where ctid = '(0,1)'").await.unwrap();
    assert_eq!(versions(&further(&database.connect(), &all).await.unwrap()), [9002, 9003]);
    assert_eq!(count(&database, VALID).await, 1);
    assert_eq!(count(&database, ADDED_COLUMNS).await, 1);
}

#[tokio::test]
async fn schema_of_a_development_version_is_refused_and_left_unchanged() {
    const HISTORY: &str = "select string_agg(version || name || checksum, ' ' order by version) \
                           from refinery_schema_history";
    let database = TestDatabase::fresh().await;
    let (store, admin) = (database.store(), database.admin().await);
    let history = async || -> String { admin.query_one(HISTORY, &[]).await.unwrap().get(0) };
    // The numbers of development versions went further, and some had the names of today.
    let changes = [
        "update refinery_schema_history set checksum = '1' where version = 1",
        "update refinery_schema_history set name = 'erasure' where version = 7",
    ];
    for change in changes {
        let current = history().await;
        let change = format!(
            "create table saved as select * from refinery_schema_history; {change}; \
             insert into refinery_schema_history values (35, 'packed_sessions', '', '1')"
        );
        admin.batch_execute(&change).await.unwrap();
        let before = history().await;
        for error in [
            lukasa_store::migrate(&database.connect()).await.unwrap_err(),
            lukasa_store::pending(&database.connect()).await.unwrap_err(),
            store.is_ready().await.unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(matches!(error, Error::SchemaRefused(_)), "{error:?}");
            assert!(
                text.contains("development version") && text.contains("lukasa export"),
                "{text}"
            );
        }
        assert_eq!(history().await, before);
        let restore = "truncate refinery_schema_history; \
                       insert into refinery_schema_history select * from saved; drop table saved";
        admin.batch_execute(restore).await.unwrap();
        assert_eq!(history().await, current);
        assert!(store.is_ready().await.unwrap());
    }
}

#[tokio::test]
async fn newer_schema_is_not_migrated_by_an_older_program() {
    let database = TestDatabase::fresh().await;
    further(&database.connect(), &[FIRST]).await.unwrap();
    let error = lukasa_store::migrate(&database.connect()).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::SchemaRefused(_)), "{error:?}");
    assert!(text.contains("newer version") && text.contains("V9001 first"), "{text}");
    assert!(lukasa_store::pending(&database.connect()).await.unwrap().is_empty());
    assert!(database.store().is_ready().await.unwrap());
}

#[tokio::test]
async fn migrations_of_several_servers_at_once_are_applied_once() {
    const INDEX: (&str, &str) = (
        "V9002__index",
        "-- outside a transaction\ncreate index concurrently added_id on added (id);\n",
    );
    let database = TestDatabase::fresh().await;
    let table = ("V9001__table", "create table added (id integer)");
    let servers: Vec<_> = (0..4)
        .map(|_| {
            let connect = database.connect();
            tokio::spawn(async move { further(&connect, &[table, INDEX, THIRD]).await })
        })
        .collect();
    let mut applied = Vec::new();
    for server in servers {
        applied.extend(versions(&server.await.unwrap().unwrap()));
    }
    assert_eq!(applied, [9001, 9002, 9003]);
}

#[tokio::test]
async fn migration_outside_a_transaction_blocks_no_writes_while_it_waits() {
    const INDEX: (&str, &str) = (
        "V9002__index",
        "-- outside a transaction\ncreate index concurrently added_id on added (id);\n",
    );
    let database = TestDatabase::fresh().await;
    let table = ("V9001__table", "create table added (id integer)");
    further(&database.connect(), &[table]).await.unwrap();
    let mut holder = database.admin().await;
    let held = holder.transaction().await.unwrap();
    held.batch_execute("insert into added values (1)").await.unwrap();
    let connect = database.connect();
    let building = tokio::spawn(async move { further(&connect, &[table, INDEX]).await });
    let waits = "select count(*) from pg_stat_activity where datname = current_database() \
                 and query like '%create index concurrently%' and wait_event_type = 'Lock'";
    let mut tries = 0;
    while count(&database, waits).await == 0 {
        tries += 1;
        assert!(tries < 500 && !building.is_finished(), "the index was built without waiting");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Longer than the timeout of a lock: it waits, and others write meanwhile.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let admin = database.admin().await;
    admin.batch_execute("set lock_timeout = '2s'; insert into added values (2)").await.unwrap();
    held.commit().await.unwrap();
    assert_eq!(versions(&building.await.unwrap().unwrap()), [9002]);
}
