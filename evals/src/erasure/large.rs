//! Erases one user with very many rows while others write and read: with a receipt, in batches, and
//! without delaying the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use lukasa_core::{Caller, TenantId};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::NewMemory;
use lukasa_engine::{Engine, Moment, Request};
use lukasa_store::testing::TestDatabase;

/// Time budget of the erase request before the rest is left to a worker; the batch in progress may
/// exceed it.
const REQUEST_BUDGET: Duration = Duration::from_secs(10);
/// Allowed slowdown of other users at the 99th percentile during the erasure. Everything runs on
/// one machine, so part of it is the machine's.
const MAX_SLOWDOWN: f64 = 3.0;

#[expect(clippy::disallowed_methods, reason = "an eval is its own edge")]
fn moment() -> Moment {
    Moment { now: jiff::Timestamp::now(), seed: rand::random() }
}

#[expect(clippy::disallowed_methods, reason = "an eval is its own edge")]
fn ticks() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_microsecond()).unwrap_or(0)
}

pub async fn run(rows: i32, others: usize) -> Result<()> {
    let database = TestDatabase::fresh().await;
    // The user is filled with rows that no operation writes.
    database.leave_unchecked();
    let admin = database.admin().await;
    let engine = Engine::connect(&database.connect())?.with_ticks(ticks);
    let tenant = engine.credentials.ensure_tenant("acme", moment().now).await?;
    let big = Caller::human(tenant, "big", "local");
    engine.facts.save(&Request::new(big.clone(), moment()), NewMemory::saying("a canary")).await?;
    let started = Instant::now();
    for statement in include_str!("../../data/fill_user.sql").split(";\n") {
        if !statement.trim().is_empty() {
            let params: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
                [&big.user.uuid(), &tenant.uuid(), &rows];
            admin.execute(statement, &params).await.context("filling the user")?;
        }
    }
    admin.batch_execute("vacuum analyze").await?;
    println!("{rows} operations, turns and so on in {:.1} s", started.elapsed().as_secs_f64());

    let quiet =
        others_meanwhile(&engine, tenant, others, tokio::time::sleep(Duration::from_secs(5)));
    let (quiet, ()) = quiet.await?;
    let erasing = erase(&engine, tenant);
    let (busy, erased) = others_meanwhile(&engine, tenant, others, erasing).await?;
    let (answered, took, receipts) = erased?;
    let (before, during) = (percentiles(quiet), percentiles(busy));
    println!(
        "the request was answered after {:.1} s, the erasure done after {:.1} s",
        answered.as_secs_f64(),
        took.as_secs_f64()
    );
    println!(
        "others before:    p50 {:.1} ms, p99 {:.1} ms, {} calls",
        before.0, before.1, before.2
    );
    println!(
        "others meanwhile: p50 {:.1} ms, p99 {:.1} ms, {} calls",
        during.0, during.1, during.2
    );
    ensure!(receipts == 1, "{receipts} receipts");
    let left = "select count(*) from turn where user_id = $1";
    let left: i64 = admin.query_one(left, &[&big.user.uuid()]).await?.get(0);
    ensure!(left == 0, "{left} turns are left");
    ensure!(answered < REQUEST_BUDGET + Duration::from_secs(5), "the request took {answered:?}");
    ensure!(
        during.1 <= (before.1 * MAX_SLOWDOWN).max(50.0),
        "others waited: p99 {:.1} ms, and {:.1} ms before",
        during.1,
        before.1
    );
    Ok(())
}

/// Erases the user as a request and then a worker do it. Returns the time of the request, the total
/// time, and the number of receipts.
async fn erase(engine: &Engine, tenant: TenantId) -> Result<(Duration, Duration, usize)> {
    let started = Instant::now();
    let erased = engine.erasures.erase_user_within(tenant, "big", moment(), REQUEST_BUDGET).await?;
    let answered = started.elapsed();
    let worker = engine.in_background();
    let mut done = erased.receipt.is_some();
    while !done {
        worker.erasures.continue_erasure(moment()).await?;
        done = engine.erasures.erasure_under_way(tenant, "big").await?.is_none();
    }
    let took = started.elapsed();
    let receipts = engine.erasures.receipts_of_user(tenant, "big", moment().now).await?;
    if let Some(signed) = receipts.first() {
        let rows: i64 = signed.receipt.removed.values().sum();
        println!("{rows} rows removed, by the receipt");
    }
    Ok((answered, took, receipts.len()))
}

/// Runs a load of other users during an action; returns the latency of each call in milliseconds.
async fn others_meanwhile<T>(
    engine: &Engine,
    tenant: TenantId,
    others: usize,
    something: impl Future<Output = T>,
) -> Result<(Vec<f64>, T)> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..others {
        let (engine, stop) = (engine.clone(), stop.clone());
        let caller = Caller::human(tenant, &format!("other {number}"), "local");
        tasks.spawn(async move {
            let mut took = Vec::new();
            let mut number = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                let started = Instant::now();
                number += 1;
                let content = format!("likes the number {number}");
                let request = Request::new(caller.clone(), moment());
                engine.facts.save(&request, NewMemory::saying(&content)).await?;
                engine
                    .context
                    .retrieve(&caller, &ContextRequest::about("which numbers?"), moment())
                    .await?;
                took.push(started.elapsed().as_secs_f64() * 1_000.0);
                // A pace that leaves the machine time for the erasure.
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            anyhow::Ok(took)
        });
    }
    let happened = something.await;
    stop.store(true, Ordering::Relaxed);
    let mut all = Vec::new();
    while let Some(took) = tasks.join_next().await {
        all.extend(took??);
    }
    Ok((all, happened))
}

/// The 50th and the 99th percentile, and the number of values.
fn percentiles(mut times: Vec<f64>) -> (f64, f64, usize) {
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get((times.len() * share / 100).min(times.len().max(1) - 1));
    let at = |share: usize| at(share).copied().unwrap_or(0.0);
    (at(50), at(99), times.len())
}
