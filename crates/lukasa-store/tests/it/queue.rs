//! The job queue: lanes, the head of each user, fairness between tenants and users, and the cost of
//! a claim.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use lukasa_core::job::Lane;
use lukasa_core::job::{RetellTask, Task};
use lukasa_core::{Ids, JobKind, TenantId, Timestamp, UserId};
use lukasa_store::job::{self, CLAIM, ClaimRequest, ClaimedJob, OPENING};
use lukasa_store::testing::TestDatabase;
use lukasa_store::testing::postgres::Client;
use lukasa_store::{Batch, Store, directory};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + second).unwrap()
}

fn tenant(name: &str) -> TenantId {
    TenantId::named(name)
}

fn user(of: &str, name: &str) -> UserId {
    UserId::named(tenant(of), name)
}

/// Queues due jobs directly in the database: `count` for each of `users` users of a tenant.
async fn flood(admin: &Client, of: &str, users: i32, count: i32, second: i64) {
    let sql = "insert into job (user_id, tenant_id, job_id, kind, key, queued_at, run_at) \
               select md5($1 || $3::timestamptz::text || u)::uuid, $2, gen_random_uuid(), 'extract', n::text, $3, $3 \
               from generate_series(1, $4::int) u, generate_series(1, $5::int) n";
    let of_tenant = tenant(of).uuid();
    admin.execute(sql, &[&of, &of_tenant, &at(second), &users, &count]).await.unwrap();
    admin.batch_execute("analyze job").await.unwrap();
}

async fn queue(store: &Store, of: &str, name: &str, kind: JobKind, key: &str, second: i64) {
    let scope = store.write(tenant(of), user(of, name)).await.unwrap();
    directory::me(&scope).await.unwrap();
    let mut batch = Batch::default();
    let mut seed = *user(of, name).uuid().as_bytes();
    for (place, byte) in key.bytes().chain(kind.as_str().bytes()).enumerate() {
        seed[place % 16] ^= byte.rotate_left(u32::try_from(place % 8).unwrap());
    }
    let id = Ids::new(at(second), seed).job();
    let mut ids = Ids::new(at(second), seed);
    let session = key.to_owned();
    let task = match kind {
        JobKind::Statement => Task::Statement { turn: ids.turn() },
        JobKind::Relearn => Task::Relearn { domain: "health".to_owned(), session },
        JobKind::Retell => Task::Retell(RetellTask {
            after: ids.operation(),
            first_turn: 1,
            last_turn: 2,
            session,
        }),
        _ => Task::parse(kind, key).expect("a task of this kind"),
    };
    assert_eq!(task.kind(), kind);
    job::queue(&mut batch, &scope, id, &task, at(second), at(second));
    scope.run(&batch).await.unwrap();
    scope.commit().await.unwrap();
}

async fn finish(store: &Store, claimed: &ClaimedJob) {
    let scope = store.write(claimed.tenant, claimed.user).await.unwrap();
    directory::me(&scope).await.unwrap();
    let mut batch = Batch::default();
    job::finish(&mut batch, &scope, claimed);
    scope.run(&batch).await.unwrap();
    scope.commit().await.unwrap();
}

async fn claim(store: &Store, after: Option<TenantId>, full: &[TenantId]) -> Option<ClaimedJob> {
    let lane = Lane::Learning;
    let request = ClaimRequest { lane, worker: "w", after, full, waits_for_user: true };
    store.claim_in_lane(&request, at(1_000)).await.unwrap()
}

/// Counts the users and lanes that have waiting jobs but neither a head nor a running job.
async fn stuck(admin: &Client) -> i64 {
    let sql = "select count(*) from (select user_id, lane from job where state <> 'dead' \
                 group by 1, 2 having count(head_at) = 0 and bool_and(state = 'waiting')) stuck";
    admin.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn job_lanes_in_database_match_the_code() {
    let database = TestDatabase::fresh().await;
    let (store, admin) = (database.store(), database.admin().await);
    for kind in JobKind::ALL {
        queue(&store, "a", kind.as_str(), kind, "k", 0).await;
        let lane = "select lane from job where kind = $1";
        let lane: String = admin.query_one(lane, &[&kind.as_str()]).await.unwrap().get(0);
        assert_eq!(lane, kind.lane().as_str());
    }
}

#[tokio::test]
async fn job_of_a_user_whose_lock_is_held_leaves_the_worker_to_others() {
    let database = TestDatabase::fresh().await;
    let (store, admin) = (database.store(), database.admin().await);
    queue(&store, "a", "busy", JobKind::Extract, "k", 0).await;
    queue(&store, "a", "other", JobKind::Extract, "k", 1).await;
    let (high, _) = user("a", "busy").uuid().as_u64_pair();
    let hold = format!("begin; select pg_advisory_xact_lock({})", high.cast_signed());
    admin.batch_execute(&hold).await.unwrap();
    let claim = async || {
        let (lane, worker) = (Lane::Learning, "w");
        let request = ClaimRequest { lane, worker, after: None, full: &[], waits_for_user: false };
        store.claim_in_lane(&request, at(1_000)).await.unwrap()
    };
    let first = claim().await.unwrap();
    assert_eq!(first.user, user("a", "other"), "although the other has waited longer");
    finish(&store, &first).await;
    assert_eq!(claim().await, None);
    admin.batch_execute("rollback").await.unwrap();
    let next = claim().await.unwrap();
    assert_eq!((next.user, next.attempts), (user("a", "busy"), 1), "it was not an attempt");
    finish(&store, &next).await;
}

#[tokio::test]
async fn job_flood_of_one_tenant_does_not_delay_another() {
    let database = TestDatabase::fresh().await;
    database.leave_unchecked();
    let (store, admin) = (database.store(), database.admin().await);
    flood(&admin, "flooder", 1, 10_000, 0).await;
    flood(&admin, "flooder", 5_000, 1, 1).await;
    let first = claim(&store, None, &[]).await.unwrap();
    assert_eq!(first.tenant, tenant("flooder"));
    queue(&store, "other", "bob", JobKind::Extract, "k", 900).await;
    let next = claim(&store, Some(first.tenant), &[]).await.unwrap();
    assert_eq!(next.tenant, tenant("other"), "its turn, although thousands have waited longer");
    finish(&store, &next).await;
    // A tenant at its limit yields while others have jobs, even jobs for later.
    assert!(claim(&store, None, &[tenant("flooder")]).await.is_some(), "there is no other tenant");
    queue(&store, "other", "bob", JobKind::Extract, "k", 100_000).await;
    assert!(claim(&store, None, &[tenant("flooder")]).await.is_none());
}

#[tokio::test]
async fn claim_cost_does_not_depend_on_waiting_jobs() {
    let database = TestDatabase::fresh().await;
    database.leave_unchecked();
    let (store, admin) = (database.store(), database.admin().await);
    flood(&admin, "flooder", 2, 10_000, 0).await;
    flood(&admin, "flooder", 2_000, 1, 1).await;
    // The two users with the most and oldest jobs are busy.
    for _ in 0..2 {
        claim(&store, None, &[]).await.unwrap();
    }
    let quoted = |text: &str| format!("'{text}'");
    let sql = CLAIM
        .replace("$1", &quoted("learning"))
        .replace("$2", &quoted("00000000-0000-0000-0000-000000000000"))
        .replace("$3", &format!("'{}'::timestamptz", at(1_000)))
        .replace("$4", &format!("'{}'::timestamptz", at(2_000)))
        .replace("$5", &quoted("w"))
        .replace("$6", "'{}'::uuid[]")
        .replace("$7", "false");
    admin.batch_execute("vacuum analyze job").await.unwrap();
    admin.batch_execute(&format!("begin; {OPENING}")).await.unwrap();
    let explain = format!("explain (analyze, buffers, format json) {sql}");
    let plan: serde_json::Value = admin.query_one(&explain, &[]).await.unwrap().get(0);
    admin.batch_execute("rollback").await.unwrap();
    let top = &plan[0]["Plan"];
    let buffers = ["Shared Hit Blocks", "Shared Read Blocks"].map(|name| top[name].as_i64());
    let buffers: i64 = buffers.into_iter().flatten().sum();
    assert!(buffers < 200, "{buffers} buffers for one claim:\n{plan:#}");
}

#[tokio::test]
async fn jobs_of_users_in_one_tenant_alternate() {
    let database = TestDatabase::fresh().await;
    let (store, admin) = (database.store(), database.admin().await);
    flood(&admin, "a", 1, 50, 0).await;
    queue(&store, "a", "late", JobKind::Extract, "k", 500).await;
    let first = claim(&store, None, &[]).await.unwrap();
    assert_ne!(first.user, user("a", "late"));
    finish(&store, &first).await;
    let second = claim(&store, None, &[]).await.unwrap();
    assert_eq!(second.user, user("a", "late"), "49 older jobs of another user wait behind it");
    assert_eq!(stuck(&admin).await, 0);
}

#[tokio::test]
async fn slow_delivery_does_not_block_other_jobs_of_the_user() {
    let database = TestDatabase::fresh().await;
    let store = database.store();
    for kind in [JobKind::Deliver, JobKind::Extract, JobKind::Upkeep] {
        queue(&store, "a", "alice", kind, "k", 0).await;
    }
    let mut claimed = Vec::new();
    while let Some(next) = store.claim_job("w", at(10)).await.unwrap() {
        claimed.push(next.kind);
    }
    assert_eq!(claimed, [JobKind::Extract, JobKind::Deliver], "upkeep waits for learning");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_queueing_and_claiming_loses_no_job() {
    const KEYS: usize = 60;
    let database = TestDatabase::fresh().await;
    let (store, admin) = (database.store(), database.admin().await);
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..3_usize {
        let store = store.clone();
        tasks.spawn(async move {
            for number in 0..KEYS {
                let name = ["alice", "bob"][number % 2];
                // Later and earlier than the jobs before, so that heads change.
                let second = i64::try_from((number * 37 + writer * 11) % 100).unwrap();
                let key = format!("{writer}-{number}");
                queue(&store, "a", name, JobKind::Extract, &key, second).await;
            }
            0
        });
    }
    for worker in 0..3 {
        let store = store.clone();
        tasks.spawn(async move {
            let (mut done, mut idle) = (0, 0);
            while idle < 60 {
                let Some(claimed) = claim(&store, None, &[]).await else {
                    idle += 1;
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                    continue;
                };
                idle = 0;
                done += 1;
                if done % 5 == worker {
                    // Released for a retry, as a failed job is.
                    let scope = store.write(claimed.tenant, claimed.user).await.unwrap();
                    let again = Some(at(1) + SignedDuration::from_millis(done));
                    job::release(&scope, &claimed, again, 0, "again").await.unwrap();
                    scope.commit().await.unwrap();
                } else {
                    finish(&store, &claimed).await;
                }
            }
            done
        });
    }
    let done: Vec<i64> = tasks.join_all().await;
    assert_eq!(stuck(&admin).await, 0);
    let left: i64 = admin.query_one("select count(*) from job", &[]).await.unwrap().get(0);
    assert_eq!(left, 0, "done: {done:?}");
}

#[tokio::test]
async fn job_claim_reaches_every_tenant_among_many() {
    let database = TestDatabase::fresh().await;
    let (store, admin) = (database.store(), database.admin().await);
    // More tenants than one statement iterates over, all but one with jobs for later only.
    let sql = "insert into job (user_id, tenant_id, job_id, kind, key, queued_at, run_at) \
               select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'extract', '', $1, $1 \
               from generate_series(1, 700)";
    admin.execute(sql, &[&at(100_000)]).await.unwrap();
    queue(&store, "due", "alice", JobKind::Extract, "k", 0).await;
    let afters = [None, Some(tenant("due")), Some(tenant("x")), Some(tenant("y"))];
    let mut claimed = BTreeSet::new();
    for after in afters {
        let found = claim(&store, after, &[]).await.unwrap();
        claimed.insert(found.tenant);
        finish(&store, &found).await;
        queue(&store, "due", "alice", JobKind::Extract, "k", 0).await;
    }
    assert_eq!(claimed, BTreeSet::from([tenant("due")]));
}
