//! Below the API: the serving role sees only rows of the tenant and user set in the transaction,
//! cannot update rows in place, and cannot change the policies. A server that would run without
//! them does not start.

use lukasa_core::{TenantId, UserId};

use lukasa_store::testing::postgres::error::SqlState;
use lukasa_store::testing::postgres::{Client, NoTls};

use serde_json::json;

use crate::app::TestApp;
use crate::models::TestModels;

/// Tables with rows of one user, and of a tenant.
const PERSONAL: [&str; 17] = [
    "operation",
    "fact",
    "fact_version",
    "link",
    "tombstone",
    "idempotency",
    "user_domain",
    "session",
    "turn",
    "recall_state",
    "passage",
    "embedding",
    "baseline",
    "retrieval",
    "usage",
    "import",
    "import_item",
];
const OF_TENANT: [&str; 4] = ["tenant", "users", "credential", "domain"];

/// A server with at least one row in each table.
async fn filled_app() -> TestApp {
    let app = TestApp::with_models(TestModels::with_words()).await;
    let alice = app.human("acme", "alice").await;
    let one = alice.with("idempotency-key", "k").save("one").await.at("/memory/id");
    let two = alice.save("two").await.at("/memory/id");
    let three = alice.save("three").await.at("/memory/id");
    let to = serde_json::json!({ "to": two });
    alice.post(&format!("/api/memory/{one}/links"), to).await.expect(201);
    alice.post(&format!("/api/memory/{three}/erase"), serde_json::json!({})).await.expect(200);
    alice.put("/api/domains/health/opt-in", serde_json::json!({})).await.expect(200);
    let turns = json!({ "turns": [{ "role": "user", "content": "hello" }] });
    alice.post("/api/sessions/chat/turns", turns).await.expect(201);
    let asked = json!({ "query": "What do you remember about me?", "session_id": "chat" });
    let given = alice.post("/api/memory/retrieve", asked).await.expect(200);
    alice.wait_for_retrieval(&given.at("/retrieval_id")).await;
    let used = json!({ "memory_id": one, "type": "cited" });
    alice.post("/api/memory/usage", used).await.expect(201);
    let taken = json!({ "item": "memory", "source": "a", "content": "four" });
    alice.post("/api/import", taken).await.expect(200);
    app
}

/// A connection with the role that serves requests.
async fn serving(app: &TestApp) -> Client {
    let mut config: lukasa_store::testing::postgres::Config =
        app.database.url().parse().expect("a URL");
    config.options("-c role=lukasa_serve");
    let (client, connection) = config.connect(NoTls).await.expect("connected");
    tokio::spawn(connection);
    client
}

async fn rows(client: &Client, table: &str) -> i64 {
    let sql = format!("select count(*) from {table}");
    client.query_one(&sql, &[]).await.expect("counted").get(0)
}

/// Opens a transaction with these settings.
async fn begin(client: &Client, settings: &[(&str, &str)]) {
    client.batch_execute("rollback; begin").await.expect("begun");
    for (name, value) in settings {
        client.batch_execute(&format!("set local {name} = '{value}'")).await.expect("set");
    }
}

fn alice() -> (String, String) {
    let acme = TenantId::named("acme");
    (acme.uuid().to_string(), UserId::named(acme, "alice").uuid().to_string())
}

/// The settings of a transaction, and the tables that must then read as empty.
#[derive(Clone)]
struct Case<'s> {
    name: &'static str,
    settings: Vec<(&'static str, &'s str)>,
    hidden: Vec<&'static str>,
}

#[tokio::test]
async fn rows_are_hidden_without_a_tenant_and_a_user() {
    let app = filled_app().await;
    let (admin, client) = (app.database.admin().await, serving(&app).await);
    let (acme, user) = alice();
    let globex = TenantId::named("globex").uuid().to_string();
    let all = || PERSONAL.into_iter().chain(OF_TENANT);
    for table in all() {
        assert!(rows(&admin, table).await > 0, "there is something to hide in {table}");
    }
    let users = || PERSONAL.into_iter().chain(["users", "credential"]);
    let (tenant, directory) = (("app.tenant", acme.as_str()), ("app.directory", "on"));
    let (user_id, other) = (("app.user_id", user.as_str()), ("app.tenant", globex.as_str()));
    let none = Case { name: "nothing", settings: vec![], hidden: all().collect() };
    let cases = [
        none.clone(),
        Case {
            name: "empty words",
            settings: vec![("app.tenant", ""), ("app.user_id", "")],
            ..none.clone()
        },
        Case { name: "a user and no tenant", settings: vec![user_id], ..none.clone() },
        Case { name: "a directory without a tenant", settings: vec![directory], ..none.clone() },
        Case { name: "a tenant and no user", settings: vec![tenant], hidden: users().collect() },
        Case {
            name: "alice in the wrong tenant",
            settings: vec![other, user_id],
            hidden: users().collect(),
        },
        Case {
            name: "the directory of acme",
            settings: vec![tenant, directory],
            hidden: PERSONAL.to_vec(),
        },
    ];
    for Case { name, settings, hidden } in cases {
        begin(&client, &settings).await;
        for table in hidden {
            assert_eq!(rows(&client, table).await, 0, "{name}: {table}");
        }
    }
    // With both settings the rows are there: the zeroes above are not those of empty tables.
    begin(&client, &[tenant, user_id]).await;
    for table in PERSONAL {
        assert!(rows(&client, table).await > 0, "{table}");
    }
    client.batch_execute("commit").await.unwrap();
    for table in all() {
        assert_eq!(rows(&client, table).await, 0, "{table} after the commit");
    }
}

#[tokio::test]
async fn rows_cannot_be_inserted_for_another_user() {
    let app = filled_app().await;
    let (admin, client) = (app.database.admin().await, serving(&app).await);
    let globex = TenantId::named("globex");
    let mallory = UserId::named(globex, "mallory").uuid().to_string();
    let globex = globex.uuid().to_string();
    let elsewhere = [("app.tenant", globex.as_str()), ("app.user_id", mallory.as_str())];
    for table in PERSONAL.into_iter().chain(OF_TENANT) {
        // A whole row of alice's, except generated columns.
        let columns = admin
            .query_one(
                "select string_agg(column_name::text, ', ') from information_schema.columns \
                  where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'",
                &[&table],
            )
            .await
            .unwrap();
        let columns: String = columns.get(0);
        let row = admin
            .query_one(&format!("select to_jsonb(t)::text from {table} t limit 1"), &[])
            .await
            .unwrap();
        let row: String = row.get(0);
        let insert = format!(
            "insert into {table} ({columns}) \
             select {columns} from jsonb_populate_record(null::{table}, $1::text::jsonb)"
        );
        for settings in [[].as_slice(), &elsewhere] {
            begin(&client, settings).await;
            let refused = client.execute(&insert, &[&row]).await.unwrap_err();
            let code = refused.code().cloned();
            assert_eq!(code, Some(SqlState::INSUFFICIENT_PRIVILEGE), "{table}: {refused:?}");
        }
    }
}

#[tokio::test]
async fn serving_role_cannot_rewrite_rows_or_change_policies() {
    let app = filled_app().await;
    let client = serving(&app).await;
    let (acme, user) = alice();
    let settings = [("app.tenant", acme.as_str()), ("app.user_id", user.as_str())];
    for refused in [
        "update fact_version set content = 'other'",
        "update fact_version set user_id = user_id",
        "update fact_version set valid_until = now()",
        "update link set to_fact = from_fact",
        "update operation set caller = 'human'",
        "update operation set member_id = gen_random_uuid()",
        "update operation set credential = 'other'",
        "update operation set credential = 'removed'",
        "update space_grant set member_id = member_id",
        "update membership set space_id = space_id",
        "update idempotency set request_hash = ''",
        "update tombstone set versions = 0",
        "update turn set content = 'other'",
        "update turn set origin = 'user_said'",
        "update session set session_id = 'other'",
        "update recall_state set user_id = user_id",
        "update passage set terms = ''",
        "update embedding set model = 'other'",
        "update baseline set content = 'other'",
        "update retrieval set dynamic = 'other'",
        "update usage set type = 'cited'",
        "delete from embedding_model",
        "truncate turn cascade",
        "alter table turn disable row level security",
        "update users set name = 'bob'",
        "update credential set permissions = '{admin}'",
        "update credential set user_id = null",
        "delete from users",
        "delete from domain",
        "truncate fact_version cascade",
        "alter table fact_version disable row level security",
        "alter table fact_version no force row level security",
        "drop policy own on fact_version",
        "create policy everybody on fact_version using (true)",
        "alter table fact_version disable trigger close_version",
        "drop table fact_version cascade",
        "alter role lukasa_serve bypassrls",
        "create table loot (x text)",
    ] {
        begin(&client, &settings).await;
        let error = client.batch_execute(refused).await.expect_err(refused);
        assert_eq!(error.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{refused}: {error:?}");
    }
    let owned = "select count(*) from pg_class where relowner = 'lukasa_serve'::regrole";
    let admin = app.database.admin().await;
    assert_eq!(admin.query_one(owned, &[]).await.unwrap().get::<_, i64>(0), 0);
    let role = "select rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolcanlogin \
                  from pg_roles where rolname = 'lukasa_serve'";
    assert!(!admin.query_one(role, &[]).await.unwrap().get::<_, bool>(0));
    let unforced = "select relname::text from pg_class where relkind = 'r' \
                      and relnamespace = 'public'::regnamespace \
                      and not (relrowsecurity and relforcerowsecurity)";
    let unforced = admin.query(unforced, &[]).await.unwrap();
    let names: Vec<String> = unforced.iter().map(|row| row.get(0)).collect();
    assert_eq!(names, ["refinery_schema_history"], "every other table is guarded by its policies");
}

#[tokio::test]
async fn server_refuses_a_role_that_bypasses_row_level_security() {
    let app = filled_app().await;
    let health = app.engine.health().await.unwrap();
    assert_eq!(health.role, "lukasa_serve");
    assert_eq!(health.unsafe_because(), None);
    for unsafe_role in [
        lukasa_engine::DatabaseHealth { role_is_superuser: true, ..health.clone() },
        lukasa_engine::DatabaseHealth { role_bypasses_rls: true, ..health.clone() },
        lukasa_engine::DatabaseHealth { unguarded_tables: vec!["fact".into()], ..health.clone() },
    ] {
        let reason = unsafe_role.unsafe_because().expect("a reason");
        assert!(reason.contains("row-level security"), "{reason}");
    }
    let admin = app.database.admin().await;
    for (breaking, repairing) in [
        ("no force row level security", "force row level security"),
        ("disable row level security", "enable row level security"),
        ("owner to lukasa_serve", "owner to current_user"),
    ] {
        admin.batch_execute(&format!("alter table link {breaking}")).await.unwrap();
        let found = app.engine.health().await.unwrap();
        assert_eq!(found.unguarded_tables, ["link"], "{breaking}");
        assert!(found.unsafe_because().unwrap().contains("link"), "{breaking}");
        let (code, printed) = serve(&app).await;
        assert_eq!(code, Some(1), "{printed}");
        assert!(printed.contains("refusing to serve") && printed.contains("link"), "{printed}");
        admin.batch_execute(&format!("alter table link {repairing}")).await.unwrap();
    }
    assert_eq!(app.engine.health().await.unwrap().unsafe_because(), None);
}

/// Runs `lukasa serve` until it exits; returns its exit code and output.
async fn serve(app: &TestApp) -> (Option<i32>, String) {
    let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_lukasa"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("DATABASE_URL", app.database.url())
        .kill_on_drop(true)
        .output();
    let limit = std::time::Duration::from_secs(20);
    let output = tokio::time::timeout(limit, output).await.expect("it gives up by itself");
    let output = output.expect("lukasa runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[tokio::test]
async fn lost_database_is_reported_without_revealing_data() {
    let app = TestApp::with_keys().await;
    let client = app.tenant_key("acme").await.about("alice");
    client.save("here today").await;
    app.engine.close();
    let away = client.get("/api/memory").await.refused(503, "unavailable");
    assert_eq!(away.header("retry-after"), Some("1"));
    app.anonymous().get("/healthz").await.expect(200);
    app.anonymous().get("/readyz").await.refused(503, "unavailable");
    // An unknown credential is not cached as refused while the database cannot be asked.
    let unseen = app.presenting(
        &lukasa_core::secret::print(
            lukasa_core::secret::Prefix::Key,
            &lukasa_server::clock::random(),
        )
        .0,
    );
    unseen.about("alice").get("/api/memory").await.refused(503, "unavailable");
}
