//! Query plans: every statement on the request path uses an index that leads with the user, and
//! never the index of the temporal constraint.

use lukasa_core::{TenantId, UserId};
use lukasa_store::testing::TestDatabase;

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

async fn check(users: usize, each: usize, then: &str) {
    let database = TestDatabase::fresh().await;
    let admin = database.admin().await;
    let tenant = TenantId::named("acme").uuid();
    let fill = FILL.replace("$TENANT$", &format!("'{tenant}'::uuid"));
    let fill = fill.replace("$USERS$", &users.to_string()).replace("$EACH$", &each.to_string());
    admin.batch_execute(&fill).await.unwrap();
    admin.batch_execute(then).await.unwrap();
    let row =
        admin.query_one("select user_id, operation_id from operation limit 1", &[]).await.unwrap();
    let (user, fact): (uuid::Uuid, uuid::Uuid) = (row.get(0), row.get(1));
    let user = UserId::from_uuid(user).uuid();
    let serving = database.admin().await;
    serving
        .batch_execute(&format!(
            "set role lukasa_serve; set app.tenant = '{tenant}'; set app.user_id = '{user}'"
        ))
        .await
        .unwrap();
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
