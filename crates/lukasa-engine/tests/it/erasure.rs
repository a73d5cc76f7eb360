//! Complete erasure: no row stays in any table, no backup restores it, and a receipt proves it.

use std::path::PathBuf;

use lukasa_engine::Error;
use lukasa_engine::credentials::NewKey;
use lukasa_engine::facts::{NewMemory, Target};
use lukasa_engine::journal::Journal;
use lukasa_engine::removal::FactSource;
use lukasa_engine::removal::verify;
use lukasa_store::testing::postgres::Client;
use serde_json::json;

use crate::story::Story;

/// Tables with a column `user_id` that keep a row about an erased user: the user row, so that
/// requests are refused, the record of the erasure, and the audit log, which has ids and no content.
const KEPT_TABLES: [&str; 3] = ["audit", "erasure", "users"];

/// Every table that can hold rows about a user, from the database's catalogue.
async fn tables(admin: &Client) -> Vec<String> {
    const SQL: &str = "select c.relname::text from pg_class c \
        join pg_namespace n on n.oid = c.relnamespace \
        join pg_attribute a on a.attrelid = c.oid and a.attname = 'user_id' \
        where c.relkind in ('r', 'p') and n.nspname = 'public' order by 1";
    admin.query(SQL, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

/// Inserts one row about the user into every table that has none, whatever its columns are.
/// Constraints are disabled, since only the removal is tested.
async fn fill(admin: &Client, story: &Story) {
    let user = story.alice().user.uuid();
    admin.batch_execute("set session_replication_role = replica").await.unwrap();
    for table in tables(admin).await {
        let count = format!("select count(*) from {table} where user_id = $1");
        if admin.query_one(&count, &[&user]).await.unwrap().get::<_, i64>(0) > 0 {
            continue;
        }
        let constraints = "select conname::text from pg_constraint \
                           where conrelid = $1::text::regclass and contype = 'c'";
        for row in admin.query(constraints, &[&table]).await.unwrap() {
            let name: String = row.get(0);
            let sql = format!("alter table {table} drop constraint {name}");
            admin.batch_execute(&sql).await.unwrap();
        }
        let columns = "select attname::text, format_type(atttypid, null) from pg_attribute \
                       where attrelid = $1::text::regclass and attnum > 0 and not attisdropped \
                         and attgenerated = '' order by attnum";
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for row in admin.query(columns, &[&table]).await.unwrap() {
            let (name, kind): (String, String) = (row.get(0), row.get(1));
            values.push(match (name.as_str(), kind.as_str()) {
                ("user_id", _) => format!("'{user}'"),
                ("tenant_id", _) => format!("'{}'", story.tenant.uuid()),
                (_, "uuid") => "gen_random_uuid()".to_owned(),
                (_, "timestamp with time zone") => "now()".to_owned(),
                (_, "date") => "current_date".to_owned(),
                (_, "boolean") => "false".to_owned(),
                (_, "jsonb") => "'\"canary\"'".to_owned(),
                (_, "bytea") => "'canary'::bytea".to_owned(),
                (_, "halfvec") => "'[1]'".to_owned(),
                (_, text) if text.ends_with("[]") => "'{}'".to_owned(),
                (_, "text") => "'canary'".to_owned(),
                _ => "1".to_owned(),
            });
            names.push(name);
        }
        let (names, values) = (names.join(", "), values.join(", "));
        let sql = format!("insert into {table} ({names}) values ({values})");
        admin.batch_execute(&sql).await.unwrap_or_else(|e| panic!("{table}: {e:?}: {sql}"));
    }
    admin.batch_execute("set session_replication_role = default").await.unwrap();
}

async fn rows_of_alice(admin: &Client, story: &Story) -> Vec<(String, i64)> {
    let mut found = Vec::new();
    for table in tables(admin).await {
        let sql = format!("select count(*) from {table} where user_id = $1");
        let user = story.alice().user.uuid();
        found.push((table, admin.query_one(&sql, &[&user]).await.unwrap().get(0)));
    }
    found
}

#[tokio::test]
async fn erased_user_leaves_no_row_in_any_table() {
    let story = Story::begin().await;
    let admin = story.database.admin().await;
    story.save("the canary sings").await;
    let erased_before = Story::fact(&story.save("erased on its own").await);
    story.engine.removals.erase(&story.request(), &Target::Id(erased_before)).await.unwrap();
    fill(&admin, &story).await;
    for (table, rows) in rows_of_alice(&admin, &story).await {
        assert!(rows > 0, "{table} has something to remove");
    }
    let engine = &story.engine;
    let preview =
        engine.erasures.preview_user_erasure(story.tenant, "alice", story.now()).await.unwrap();
    let erased = engine.erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
    assert_eq!(preview, erased.receipt.receipt.removed, "the preview matches the erasure");
    for (table, rows) in rows_of_alice(&admin, &story).await {
        let stays = KEPT_TABLES.contains(&table.as_str());
        assert_eq!(
            rows > 0,
            stays,
            "{table} keeps {rows} rows; add it to `tables.rs` of the store"
        );
    }
    let text = "select string_agg(u::text, ' ') || (select string_agg(e::text, ' ') from erasure e) \
                from users u";
    let kept: String = admin.query_one(text, &[]).await.unwrap().get(0);
    assert!(!kept.contains("alice") && !kept.contains("canary"), "{kept}");
}

#[tokio::test]
async fn erasure_receipt_has_counts_and_verifies_offline() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("the canary sings").await);
    story.pass(1);
    story.change(fact, "the canary is silent").await;
    let (engine, alice) = (&story.engine, story.alice());
    let target = Target::Id(fact);
    let (of, preview) =
        engine.erasures.preview_erasure(&alice, &target, story.now()).await.unwrap();
    assert_eq!((of, preview["fact"], preview["fact_version"]), (fact, 1, 3));
    story.pass(1);
    let erased = engine.removals.erase(&story.request(), &target).await.unwrap();
    let receipts = engine.erasures.receipts(&alice, story.now()).await.unwrap();
    let [signed] = receipts.as_slice() else { panic!("{receipts:?}") };
    assert_eq!(Some(signed.receipt.id), erased.receipts[0].erasure);
    assert_eq!(signed.receipt.removed, preview);
    assert_eq!(signed.receipt.operation_id, erased.operation);
    assert_eq!((signed.receipt.files.as_str(), signed.receipt.journal), ("pending", false));
    let wire = json!(signed);
    assert!(!wire.to_string().contains("canary"));
    let key = engine.erasures.receipt_key().await.unwrap();
    assert_eq!(&verify(&wire, Some(&key)).unwrap(), signed);
    let gone = engine.erasures.preview_erasure(&alice, &target, story.now()).await.unwrap_err();
    assert!(matches!(gone, Error::MemoryNotFound));

    story.pass(1);
    engine.erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
    let all = engine.erasures.receipts_of_user(story.tenant, "alice", story.now()).await.unwrap();
    let of_what: Vec<_> = all.iter().map(|signed| signed.receipt.erased.as_str()).collect();
    assert_eq!(of_what, ["user", "memory"]);
    assert!(matches!(engine.erasures.receipts(&alice, story.now()).await, Err(Error::UserGone)));
}

/// A journal for one test, removed when dropped.
pub struct Place(PathBuf);

impl Place {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lukasa-it-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Self(path)
    }

    pub fn open(&self) -> Journal {
        Journal::open(&self.0).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Copies every table of a database and restores it later, like a backup.
struct Backup(Vec<String>);

impl Backup {
    async fn take(admin: &Client) -> Self {
        let sql = "select tablename::text from pg_tables where schemaname = 'public' order by 1";
        let tables: Vec<String> =
            admin.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
        admin.batch_execute("create schema backup").await.unwrap();
        for table in &tables {
            let sql = format!("create table backup.{table} as table public.{table}");
            admin.batch_execute(&sql).await.unwrap();
        }
        Self(tables)
    }

    async fn restore(&self, admin: &Client) {
        admin.batch_execute("set session_replication_role = replica").await.unwrap();
        for table in &self.0 {
            let columns = "select string_agg(quote_ident(attname), ', ' order by attnum) \
                           from pg_attribute where attrelid = $1::text::regclass and attnum > 0 \
                             and not attisdropped and attgenerated = ''";
            let name = format!("public.{table}");
            let columns: String = admin.query_one(columns, &[&name]).await.unwrap().get(0);
            let sql = format!(
                "delete from {name}; insert into {name} ({columns}) select {columns} from \
                 backup.{table}"
            );
            admin.batch_execute(&sql).await.unwrap();
        }
        admin.batch_execute("set session_replication_role = default").await.unwrap();
    }
}

async fn canaries(admin: &Client) -> i64 {
    let sql = "select tablename::text from pg_tables where schemaname = 'public'";
    let mut found = 0;
    for row in admin.query(sql, &[]).await.unwrap() {
        let table: String = row.get(0);
        let sql = format!("select count(*) from {table} t where t::text ilike '%canary%'");
        found += admin.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0);
    }
    found
}

#[tokio::test]
async fn restored_backup_does_not_restore_erased_data() {
    let place = Place::new("restored");
    let mut story = Story::begin().await;
    let journal = place.open();
    story.engine = story.engine.clone().with_journal(journal);
    let admin = story.database.admin().await;
    let fact = Story::fact(&story.save("a canary of alice").await);
    story.save("alice likes tea").await;
    let key = NewKey {
        name: "canary".into(),
        user: Some("bob".into()),
        permissions: vec![lukasa_core::Permission::Read],
        origin: lukasa_core::Origin::Assistant,
        expires_at: None,
    };
    let key = story
        .engine
        .credentials
        .create_key(story.tenant, key, &[1; 32], story.now())
        .await
        .unwrap();
    let bob = lukasa_core::Caller::human(story.tenant, "bob", "local");
    let new = NewMemory::saying("a canary of bob");
    story.engine.facts.save(&story.by(bob.clone()), new).await.unwrap();
    let backup = Backup::take(&admin).await;

    story.pass(60);
    story.engine.removals.erase(&story.request(), &Target::Id(fact)).await.unwrap();
    story.engine.erasures.erase_user(story.tenant, "bob", story.moment()).await.unwrap();
    assert_eq!(canaries(&admin).await, 0);
    let before = story.engine.insights.summary(&story.alice(), story.now()).await.unwrap();

    backup.restore(&admin).await;
    assert!(canaries(&admin).await > 2, "the backup contains everything");
    story.pass(60);
    let replayed = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!((replayed.entries, replayed.users, replayed.memories, replayed.added), (2, 1, 1, 0));
    assert_eq!(canaries(&admin).await, 0);
    assert_eq!(story.engine.insights.summary(&story.alice(), story.now()).await.unwrap(), before);
    let save = story.engine.facts.save(&story.by(bob), NewMemory::saying("back again")).await;
    assert!(matches!(save, Err(Error::UserGone)));
    assert!(story.engine.credentials.authenticate(&key.text, story.now()).await.is_err());
    let receipts =
        story.engine.erasures.receipts_of_user(story.tenant, "bob", story.now()).await.unwrap();
    assert!(receipts[0].receipt.replayed && receipts[0].receipt.journal);

    let again = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!(
        (again.users, again.memories, again.added),
        (0, 0, 0),
        "a second replay changes nothing"
    );
}

#[tokio::test]
async fn user_created_after_erasure_survives_replay() {
    let place = Place::new("reborn");
    let mut story = Story::begin().await;
    // Erased before there was a journal: the first start with one adds it.
    story.save("a canary").await;
    story.engine.erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
    story.engine = story.engine.clone().with_journal(place.open());
    let replayed = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!((replayed.users, replayed.added), (0, 1));
    story.pass(60);
    story.engine.directory.create_user(story.tenant, "alice", None, story.now()).await.unwrap();
    story.save("back again").await;
    story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!(story.active().await, ["back again"]);
    // Even if the record of the erasure is lost: the user was created after it.
    let admin = story.database.admin().await;
    admin.batch_execute("delete from erasure").await.unwrap();
    let replayed = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!((replayed.entries, replayed.users), (1, 0));
    assert_eq!(story.active().await, ["back again"]);
}

#[tokio::test]
async fn erasure_fails_if_journal_cannot_be_written() {
    let place = Place::new("broken");
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_journal(place.open());
    let fact = Story::fact(&story.save("a canary").await);
    std::fs::remove_file(&place.0).unwrap();
    std::fs::create_dir(&place.0).unwrap();
    let refused =
        story.engine.removals.erase(&story.request(), &Target::Id(fact)).await.unwrap_err();
    assert_eq!(refused.code(), "journal_unavailable");
    let user =
        story.engine.erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap_err();
    assert_eq!(user.code(), "journal_unavailable");
    std::fs::remove_dir(&place.0).unwrap();
    assert_eq!(story.active().await, ["a canary"], "nothing was removed");
    story.engine.removals.erase(&story.request(), &Target::Id(fact)).await.unwrap();
    assert_eq!(place.open().read().unwrap().len(), 1);
}

#[tokio::test]
async fn restored_backup_does_not_restore_erased_turn() {
    let place = Place::new("turns");
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_journal(place.open());
    let admin = story.database.admin().await;
    let said = |text: &str| lukasa_core::NewTurn::saying(lukasa_core::Role::User, text);
    let turns = vec![said("I keep a canary."), said("It rains.")];
    let said = story.engine.sessions.append_turns(&story.request(), "c", turns).await.unwrap();
    story.save("alice likes tea").await;
    let backup = Backup::take(&admin).await;
    story.pass(60);
    let source = FactSource::Turn(said.turns[0]);
    story.engine.removals.erase_source(&story.request(), &source).await.unwrap();
    assert_eq!(canaries(&admin).await, 0);
    let before = story.engine.insights.summary(&story.alice(), story.now()).await.unwrap();
    backup.restore(&admin).await;
    assert!(canaries(&admin).await > 0, "the backup has it");
    story.pass(60);
    let replayed = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!((replayed.turns, replayed.memories, replayed.users), (1, 0, 0));
    assert_eq!(canaries(&admin).await, 0);
    assert_eq!(story.engine.insights.summary(&story.alice(), story.now()).await.unwrap(), before);
    let receipts = story.engine.erasures.receipts(&story.alice(), story.now()).await.unwrap();
    assert_eq!((receipts[0].receipt.erased.as_str(), receipts[0].receipt.replayed), ("turn", true));
}

#[tokio::test]
async fn restored_backup_does_not_restore_erased_or_purged_observations() {
    let place = Place::new("observations");
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_journal(place.open());
    let admin = story.database.admin().await;
    for kind in ["canary-one", "canary-two"] {
        let new = crate::observations::event(kind, serde_json::json!({}));
        crate::observations::record(&story, new).await;
    }
    story.save("alice likes tea").await;
    let backup = Backup::take(&admin).await;
    story.pass(60);
    let stored = crate::observations::stored(&story).await;
    story.engine.removals.erase_observation(&story.request(), stored[0].id).await.unwrap();
    let which = lukasa_engine::removal::ObservationSelection::One(stored[1].id);
    story.engine.removals.withdraw_observations(&story.request(), &which).await.unwrap();
    for days in [31, 2] {
        story.pass(days * crate::observations::DAY);
        crate::learning::work(&story).await;
    }
    assert_eq!(canaries(&admin).await, 0);
    backup.restore(&admin).await;
    assert!(canaries(&admin).await > 0, "the backup has them");
    story.pass(60);
    let replayed = story.engine.erasures.replay_erasures(story.moment()).await.unwrap();
    assert_eq!((replayed.observations, replayed.turns, replayed.users), (2, 0, 0));
    assert_eq!(canaries(&admin).await, 0);
    let receipts = story.engine.erasures.receipts(&story.alice(), story.now()).await.unwrap();
    let receipts = receipts.iter().map(|signed| &signed.receipt);
    let again = receipts.filter(|receipt| receipt.erased == "observation" && receipt.replayed);
    assert_eq!(again.count(), 2);
}
