//! Query plans: every statement on the request path uses an index that leads with the user, and
//! never the index of the temporal constraint.

use lukasa_core::{TenantId, UserId};
use lukasa_store::testing::TestDatabase;
use lukasa_store::testing::postgres::{Client, SimpleQueryMessage};
use uuid::Uuid;

/// Fills users with rows like those the engine writes.
const FILL: &str = "
  insert into tenant values ($TENANT$, 'acme', now());
  insert into operation
    select u.id, $TENANT$, gen_random_uuid(), now() + n * interval '1 ms', 'save', 'key', 'k',
           'assistant', false, '{}', null
      from (select md5(g::text)::uuid as id from generate_series(1, $USERS$) g) u, generate_series(1, $EACH$) n;
  insert into fact select user_id, tenant_id, operation_id from operation;
  insert into fact_version (user_id, tenant_id, fact_id, version_id, number, content, category, type, kind,
      force, tags, importance, evidence, state, tier, origin, extracted, turns, valid_from, known_from,
      opened_by, fingerprint)
    select user_id, tenant_id, operation_id, gen_random_uuid(), 1, 'some words about something', 'fact',
           'profile', 'fact', 'soft', '{}', 0.5, '[]', 'active', 'strong', 'assistant', false, '{}',
           recorded_at, recorded_at, operation_id, gen_random_uuid()
      from operation;";

#[tokio::test]
async fn plans_use_index_that_leads_with_user() {
    check(300, 60, "analyze").await;
}

#[tokio::test]
async fn plans_use_user_index_without_analyze() {
    check(1, 5_000, "").await;
}

/// A connection with the serving role, for one user.
async fn serving(database: &TestDatabase, tenant: Uuid, user: Uuid) -> Client {
    let client = database.admin().await;
    let settings =
        format!("set role lukasa_serve; set app.tenant = '{tenant}'; set app.user_id = '{user}'");
    client.batch_execute(&settings).await.unwrap();
    client
}

async fn check(users: usize, each: usize, then: &str) {
    let database = TestDatabase::fresh().await;
    database.leave_unchecked();
    let admin = database.admin().await;
    let tenant = TenantId::named("acme").uuid();
    let fill = FILL.replace("$TENANT$", &format!("'{tenant}'::uuid"));
    let fill = fill.replace("$USERS$", &users.to_string()).replace("$EACH$", &each.to_string());
    admin.batch_execute(&fill).await.unwrap();
    admin.batch_execute(then).await.unwrap();
    let row =
        admin.query_one("select user_id, operation_id from operation limit 1", &[]).await.unwrap();
    let (user, fact): (Uuid, Uuid) = (row.get(0), row.get(1));
    let user = UserId::from_uuid(user).uuid();
    let serving = serving(&database, tenant, user).await;
    for (question, sql, index) in [
        (
            "get",
            format!(
                "select * from fact_version where user_id = '{user}' and fact_id = '{fact}' and known_until is null"
            ),
            "fact_version_pkey",
        ),
        (
            "list",
            format!(
                "select * from fact_version where user_id = '{user}' and known_until is null and state = 'active' \
                 and valid_from <= now() and (valid_until is null or valid_until > now()) \
                 order by fact_id desc, version_id desc limit 51"
            ),
            // For a small user any index of theirs and a sort is as good.
            "fact_version_",
        ),
        (
            "same",
            format!(
                "select * from fact_version where user_id = '{user}' and fingerprint = '{fact}' \
                   and known_until is null and state = 'active'"
            ),
            "fact_version_same",
        ),
        (
            "last write",
            format!(
                "select recorded_at from operation where user_id = '{user}' order by recorded_at desc limit 1"
            ),
            "operation_by_time",
        ),
        (
            "later operations",
            format!(
                "select * from operation where user_id = '{user}' and recorded_at > now() \
                 order by recorded_at limit 100"
            ),
            "operation_by_time",
        ),
        (
            "next number",
            format!(
                "select max(number) from fact_version where user_id = '{user}' and fact_id = '{fact}'"
            ),
            "fact_version_pkey",
        ),
    ] {
        let plan = serving.query(&format!("explain {sql}"), &[]).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
        let plan = plan.join("\n");
        assert!(plan.contains(index), "{question} must use {index}:\n{plan}");
        assert!(
            !plan.contains("one_truth"),
            "{question} must not use the constraint's index:\n{plan}"
        );
        assert!(!plan.contains("Seq Scan"), "{question} must read one user only:\n{plan}");
        let is_long_list = each > 1_000 && question == "list";
        assert!(!is_long_list || !plan.contains("Sort"), "a long list must not be sorted:\n{plan}");
    }
}

/// Fills the tables that recall reads: users with turns, memories, their embeddings, links, and
/// some sessions of a project.
const FILL_RECALL: &str = "
  insert into session (user_id, tenant_id, session_id, opened_at, last_turn_at, state, turns, project)
    select u.id, $TENANT$, 's' || n, now(), now(), 'active', 20, case when n % 7 = 0 then 'work' end
      from (select md5(g::text)::uuid as id from generate_series(1, $USERS$) g) u, generate_series(1, 20) n;
  insert into passage (user_id, tenant_id, source_id, part, subject_id, kind, revision, analyzer, language,
      words, terms, content_hash, session_id, number, role, said_at, recorded_at)
    select user_id, tenant_id, gen_random_uuid(), 0, gen_random_uuid(), 'turn', n, 1, 'en', 20,
           decode(repeat(md5(n::text), 10), 'hex'), '', session_id, n, 'user', now(), now()
      from session, generate_series(1, 5) n;
  insert into passage (user_id, tenant_id, source_id, part, subject_id, kind, revision, analyzer, language,
      words, terms, content_hash)
    select user_id, tenant_id, version_id, 0, fact_id, 'fact', n, 1, 'en', 20,
           decode(repeat(md5(n::text), 10), 'hex'), ''
      from (select *, row_number() over (partition by user_id) as n from fact_version) v;
  insert into embedding (user_id, tenant_id, model, source_id, part, revision, dimension, content_hash, vector,
      of_turn)
    select user_id, tenant_id, 'potion', source_id, part, revision, 256, '',
           array_fill(0.1::real, array[256])::vector::halfvec, kind = 'turn'
      from passage;
  insert into packed_session
    select user_id, tenant_id, session_id, max(revision), 1, 'potion', count(*), array_agg(source_id),
           array_agg(part), array_agg(language), array_agg(words), array_agg(terms), array_agg(content_hash),
           array_agg(number), array_agg(role), array_agg(said_at), array_agg(recorded_at), array_agg(null::halfvec)
      from passage where kind = 'turn' group by user_id, tenant_id, session_id;
  insert into link (user_id, tenant_id, link_id, from_fact, to_fact, relation, known_from, opened_by)
    select a.user_id, a.tenant_id, gen_random_uuid(), a.fact_id, b.fact_id, 'about', now(), a.fact_id
      from (select distinct on (user_id) * from fact order by user_id, fact_id) a
      join fact b on b.user_id = a.user_id and b.fact_id <> a.fact_id;
  insert into recall_state select distinct user_id, tenant_id, 1, 1, 0 from session;";

async fn explained(client: &Client, explain: &str) -> String {
    let line = |message: &SimpleQueryMessage| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    };
    let lines = client.simple_query(explain).await.unwrap();
    lines.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn recall_reads_passages_embeddings_and_links_from_indexes_alone() {
    let database = TestDatabase::fresh().await;
    database.leave_unchecked();
    let admin = database.admin().await;
    let tenant = TenantId::named("acme").uuid();
    for fill in [FILL, FILL_RECALL] {
        let fill = fill.replace("$TENANT$", &format!("'{tenant}'::uuid"));
        let fill = fill.replace("$USERS$", "300").replace("$EACH$", "20");
        admin.batch_execute(&fill).await.unwrap();
    }
    admin.batch_execute("vacuum analyze").await.unwrap();
    let row = admin.query_one("select user_id from session limit 1", &[]).await.unwrap();
    let user: Uuid = row.get(0);
    let serving = serving(&database, tenant, user).await;
    let statements = lukasa_store::recallable::COVERED_STATEMENTS;
    assert!(statements.len() >= 4);
    for (name, sql) in statements {
        let plan = explained(&serving, &format!("explain (generic_plan) {sql}")).await;
        // A packed session is one row, which is read by its key.
        let is_of_rows = |line: &&str| !line.contains("packed_session");
        let plan: Vec<&str> = plan.lines().filter(is_of_rows).collect();
        let plan = plan.join("\n");
        assert!(plan.contains("Index Only Scan"), "{name} must read an index alone:\n{plan}");
        assert!(!plan.contains("Seq Scan"), "{name} must read one user only:\n{plan}");
        // Turns that are not packed are few, and read from the heap.
        for line in plan.lines().filter(|line| line.contains("Index Scan")) {
            assert!(line.contains("_of_turn"), "{name} must read an index alone:\n{plan}");
        }
    }
}

#[tokio::test]
async fn recall_reads_the_only_user_of_a_database_in_index_order() {
    let database = TestDatabase::fresh().await;
    database.leave_unchecked();
    let admin = database.admin().await;
    let tenant = TenantId::named("acme").uuid();
    for fill in [FILL, FILL_RECALL] {
        let fill = fill.replace("$TENANT$", &format!("'{tenant}'::uuid"));
        let fill = fill.replace("$USERS$", "1").replace("$EACH$", "20");
        admin.batch_execute(&fill).await.unwrap();
    }
    admin.batch_execute("vacuum analyze").await.unwrap();
    let row = admin.query_one("select user_id from session limit 1", &[]).await.unwrap();
    let user: Uuid = row.get(0);
    let serving = serving(&database, tenant, user).await;
    let statements = lukasa_store::recallable::COVERED_STATEMENTS.into_iter();
    for (name, sql) in statements.filter(|(name, _)| name.ends_with("in order")) {
        let sql = sql.replace("$1", &format!("'{user}'"));
        let sql = match name {
            "passages in order" => sql.replace("$2", "0"),
            _ => sql.replace("$2", "'potion'").replace("$3", "0"),
        };
        let explain = format!("explain {sql}");
        assert!(
            explained(&serving, &explain).await.contains("Sort"),
            "{name}: the test has no effect"
        );
        serving.batch_execute("begin; set local enable_sort = off").await.unwrap();
        let plan = explained(&serving, &explain).await;
        serving.batch_execute("rollback").await.unwrap();
        assert!(plan.contains("Index Only Scan"), "{name} must read an index alone:\n{plan}");
        assert!(!plan.contains("Sort"), "{name} must not be sorted:\n{plan}");
        assert!(!plan.contains("app.tenant"), "{name} must read the setting once:\n{plan}");
    }
}
