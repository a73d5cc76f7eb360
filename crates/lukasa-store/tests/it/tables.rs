//! The list of user tables against the catalogue, and the checks at server start.

use std::collections::BTreeSet;

use lukasa_store::tables::{DIRECTORY_TABLES, USER_TABLES};
use lukasa_store::testing::TestDatabase;

#[tokio::test]
async fn list_of_user_tables_matches_the_catalogue() {
    const SQL: &str = "select distinct c.table_name::text from information_schema.columns c \
        where c.table_schema = 'public' and c.column_name = 'user_id'";
    let database = TestDatabase::fresh().await;
    let rows = database.admin().await.query(SQL, &[]).await.unwrap();
    let catalogue: BTreeSet<String> = rows.iter().map(|row| row.get(0)).collect();
    let listed = USER_TABLES.iter().chain(DIRECTORY_TABLES).map(|name| (*name).to_owned());
    assert_eq!(listed.collect::<BTreeSet<_>>(), catalogue);
}

#[tokio::test]
async fn table_without_row_level_security_is_detected() {
    let database = TestDatabase::fresh().await;
    let (store, admin) = (database.store(), database.admin().await);
    let unguarded = async || store.health().await.unwrap().unguarded_tables;
    assert_eq!(unguarded().await, Vec::<String>::new());
    admin
        .batch_execute(
            "create table planted_user (user_id uuid); create table planted_tenant (tenant_id uuid)",
        )
        .await
        .unwrap();
    assert_eq!(unguarded().await, ["planted_tenant", "planted_user"]);
    admin.batch_execute("drop table planted_user, planted_tenant").await.unwrap();
    let others = ["tenant", "signing_key", "retired_signing_key"];
    for table in USER_TABLES.iter().chain(DIRECTORY_TABLES).chain(&others) {
        let alter = |how: &str| format!("alter table {table} {how} row level security");
        admin.batch_execute(&alter("no force")).await.unwrap();
        assert_eq!(unguarded().await, [*table]);
        admin.batch_execute(&alter("force")).await.unwrap();
    }
    let health = store.health().await.unwrap();
    assert_eq!(health.unsafe_because(), None);
}

#[tokio::test]
async fn schema_without_all_migrations_is_not_ready() {
    let database = TestDatabase::fresh().await;
    let (store, admin) = (database.store(), database.admin().await);
    assert!(store.is_ready().await.unwrap());
    // A newer schema is served by the older server.
    admin
        .batch_execute("insert into refinery_schema_history values (9999, 'later', '', '')")
        .await
        .unwrap();
    assert!(store.is_ready().await.unwrap());
    admin
        .batch_execute(
            "delete from refinery_schema_history where version = \
               (select max(version) from refinery_schema_history where version < 9999)",
        )
        .await
        .unwrap();
    assert!(!store.is_ready().await.unwrap());
    assert_eq!(store.missing_migrations().await.unwrap().len(), 1);
    admin.batch_execute("drop table refinery_schema_history").await.unwrap();
    assert!(!store.is_ready().await.unwrap());
}
