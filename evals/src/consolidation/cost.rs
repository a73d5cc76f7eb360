//! The cost of a consolidation run: users per second, round trips and tokens per user; and that
//! users with nothing to do cost nothing.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use lukasa_core::UserId;
use lukasa_models::scripted::TestModels;
use lukasa_store::crash;
use uuid::Uuid;

use super::Args;
use super::lying_model::honest;
use crate::learning::fixture::LearningFixture;

const WORKERS: usize = 8;

/// Twelve stated facts of every user, by type, category, kind and domain; and a guess without
/// support.
const FILL: &str = "\
    with people as (select unnest($1::uuid[]) as user_id, unnest($2::text[]) as name), \
    u as (insert into users (user_id, tenant_id, name, created_at, looked_after) \
      select user_id, $3, name, $4, name like 'busy%' from people), \
    o as (insert into operation (user_id, tenant_id, operation_id, recorded_at, verb, caller, \
        credential, origin, extracted, facts) \
      select user_id, $3, user_id, $4, 'save', 'human', 'local', 'user_said', false, '{}' \
        from people), \
    f as (insert into fact (user_id, tenant_id, fact_id) \
      select user_id, $3, md5(user_id::text || n)::uuid from people, generate_series(1, 13) n), \
    v as (insert into fact_version (user_id, tenant_id, fact_id, version_id, number, content, \
        category, type, kind, force, domain, tags, importance, evidence, state, tier, origin, \
        extracted, confidence, turns, valid_from, known_from, opened_by, fingerprint) \
      select user_id, $3, md5(user_id::text || n)::uuid, md5(user_id::text || 'v' || n)::uuid, 1, \
        (array['User grows tomatoes on the balcony.', 'User has two brothers in the navy.', \
          'User collects old maps.', 'User sings in a choir.', 'User repairs bicycles at weekends.', \
          'User studied geology in Leeds.', 'User prefers short answers.', \
          'User likes examples with code.', 'User reads tables rather than prose.', \
          'User takes night trains.', 'User sits beside the window.', 'User packs one small bag.', \
          'User has a canoe.'])[n], \
        case when n <= 6 then 'profile' when n <= 9 then 'style' else 'fact' end, 'profile', \
        'fact', 'soft', case when n between 10 and 12 then 'travel' end, '{}', 0.5, '[]', \
        case when n = 13 then 'candidate' else 'active' end, \
        case when n = 13 then 'candidate' else 'strong' end, \
        case when n = 13 then 'user_turn' else 'user_said' end, n = 13, \
        case when n = 13 then 0.5::real end, '{}', $4, $4, user_id, gen_random_uuid() \
        from people, generate_series(1, 13) n) \
    insert into job (user_id, tenant_id, job_id, kind, key, queued_at, run_at) \
      select user_id, $3, user_id, 'upkeep', '', $4, $4 from people where name like 'busy%'";

pub async fn run(args: Args) -> Result<()> {
    let chat = Arc::new(honest());
    let fixture = LearningFixture::open(TestModels::that_chats(chat.clone()), args.seed).await?;
    let tenant = LearningFixture::tenant();
    // Half of them wrote something today; the others have long been silent.
    for (who, count) in [("busy", args.users), ("idle", args.users)] {
        let names: Vec<String> = (0..count).map(|n| format!("{who}-{n}")).collect();
        for names in names.chunks(5_000) {
            let ids: Vec<Uuid> =
                names.iter().map(|name| UserId::named(tenant, name).uuid()).collect();
            let now = fixture.moment().now;
            fixture.admin.execute(FILL, &[&ids, &names, &tenant.uuid(), &now]).await?;
        }
    }
    fixture.admin.batch_execute("analyze").await?;
    fixture.pass_days(15);
    let passed = crash::passed();
    let started = Instant::now();
    let done = fixture.work(WORKERS).await?;
    let seconds = started.elapsed().as_secs_f64();
    let asked = chat.asked();
    // Each crash point is passed before and after; a model call is one of them.
    let trips = (crash::passed() - passed) / 2 - asked as u64;
    ensure!(done == args.users, "{done} jobs for {} users", args.users);
    let per = |count: f64| count / args.users as f64;
    let sums = "select count(*), coalesce(sum(input_tokens + output_tokens), 0)::bigint \
                  from model_call where tenant_id = $1 and purpose = 'portrait'";
    let row = fixture.admin.query_one(sums, &[&tenant.uuid()]).await?;
    let (calls, tokens): (i64, i64) = (row.get(0), row.get(1));
    println!(
        "one consolidation run of {} users who wrote something, {} who did not",
        args.users, args.users
    );
    println!("users a second                {:10.1}", args.users as f64 / seconds);
    println!("round trips a user            {:10.1}", per(trips as f64));
    println!("model calls a user            {:10.2}", per(calls as f64));
    println!("tokens a user                 {:10.1}", per(tokens as f64));
    let compared = "select count(*) from model_call where purpose = 'compare'";
    println!("comparison calls a user       {:10.2}", per(count(&fixture, compared).await? as f64));
    let portraits = count(&fixture, "select count(*) from portrait").await?;
    println!("portraits a user              {:10.2}", per(portraits as f64));
    ensure!(portraits == 3 * i64::try_from(args.users)?, "every busy user has three portraits");
    let idle = "(select user_id from users where name like 'idle%')";
    let spent = count(
        &fixture,
        &format!(
            "select (select count(*) from portrait where user_id in {idle}) \
        + (select count(*) from model_call where user_id in {idle}) \
        + (select count(*) from job where user_id in {idle}) \
        + (select count(*) from operation where user_id in {idle} and caller = 'job')"
        ),
    )
    .await?;
    ensure!(spent == 0, "silent users must cost nothing, but {spent} rows were written");
    println!("rows written for the silent   {spent:10}");

    // Another run without changes makes no model call.
    let (passed, asked) = (crash::passed(), chat.asked());
    fixture.pass_days(1);
    let done = fixture.work(1).await?;
    let trips = (crash::passed() - passed) / 2;
    println!(
        "the next run: {done} jobs, {trips} round trips in all, {} questions",
        chat.asked() - asked
    );
    ensure!(chat.asked() == asked, "a model was called although nothing has changed");
    Ok(())
}

async fn count(fixture: &LearningFixture, sql: &str) -> Result<i64> {
    Ok(fixture.admin.query_one(sql, &[]).await?.get(0))
}
