//! The bare side: one statement that searches vectors and full text of one user and fuses the two
//! by reciprocal ranks, on a table designed for just that.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use lukasa_core::{FactId, TenantId, UserId};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use uuid::Uuid;

use super::fill::{Query, Size, TENANT};
use crate::load::http::{Press, Sample};
use crate::processes::connect;

/// The table as designed for PostgreSQL alone: a covering index that keeps a user's vectors
/// together, and indexed words.
pub const TABLE: &str = "create schema bare;
create table bare.memory (
  user_id uuid not null, id uuid not null, content text not null,
  tsv tsvector generated always as (to_tsvector('english', content)) stored,
  embedding halfvec(256) not null)";
pub const INDEXES: &str = "
create index bare_vector on bare.memory (user_id) include (id, embedding);
create index bare_id on bare.memory (user_id, id);
analyze bare.memory;";

const HYBRID: &str = "
with v as (select id, row_number() over (order by d) as r from (
       select id, embedding <=> (select $2::text::halfvec) as d from bare.memory
        where user_id = $1 order by d limit 50) near),
     f as (select id, row_number() over (order by s desc) as r from (
       select id, ts_rank(tsv, q) as s
         from bare.memory, to_tsquery('english', $3) q
        where user_id = $1 and tsv @@ q order by s desc limit 50) said),
     fused as (select id, sum(1.0 / (60 + r)) as score
       from (select * from v union all select * from f) both_arms group by id
       order by score desc limit 20)
select fused.id, score, content from fused
  join bare.memory bare on bare.user_id = $1 and bare.id = fused.id order by score desc";

const NEAREST: &str = "select id from bare.memory where user_id = $1 \
    order by embedding <=> (select $2::text::halfvec) limit $3";

pub fn user_id(name: &str) -> Uuid {
    UserId::named(TenantId::named(TENANT), name).uuid()
}

/// Runs the statement on as many connections as clients ask the server.
pub async fn run(
    url: &str,
    size: &Size,
    queries: &Arc<Vec<Query>>,
    press: Press,
) -> Result<Sample> {
    let start = Instant::now() + press.warm_up;
    let end = start + press.lasting;
    let mut crowd = Vec::new();
    for client in 0..press.clients {
        let connection = connect(url).await?;
        let statement = connection.prepare(HYBRID).await.context("the hybrid statement")?;
        let users: Vec<Uuid> = size.users.iter().map(|name| user_id(name)).collect();
        let queries = Arc::clone(queries);
        let mut rng = StdRng::seed_from_u64(press.seed + client as u64);
        crowd.push(tokio::spawn(async move {
            let mut sample = Sample::default();
            while let (Some(user), Some(query)) = (users.choose(&mut rng), queries.choose(&mut rng))
            {
                let asked = Instant::now();
                if asked >= end {
                    break;
                }
                let found =
                    connection.query(&statement, &[user, &query.vector, &query.tsquery]).await;
                let answered = Instant::now();
                if let Err(error) = found {
                    sample.errors += 1;
                    sample.first_error.get_or_insert(error.to_string());
                } else if (start..end).contains(&answered) {
                    let micros = answered.duration_since(asked).as_micros();
                    sample.latencies.push(u32::try_from(micros).unwrap_or(u32::MAX));
                }
            }
            sample
        }));
    }
    let mut all = Sample::default();
    for client in crowd {
        all.merge(client.await?);
    }
    all.seconds = press.lasting.as_secs_f64();
    all.latencies.sort_unstable();
    anyhow::ensure!(all.errors == 0, "{}", all.first_error.unwrap_or_default());
    Ok(all)
}

/// The truly nearest memories of a user.
pub async fn nearest(url: &str, user: &str, vector: &str, count: usize) -> Result<Vec<String>> {
    let connection = connect(url).await?;
    let limit = i64::try_from(count)?;
    let rows = connection.query(NEAREST, &[&user_id(user), &vector, &limit]).await?;
    Ok(rows.iter().map(|row| FactId::from_uuid(row.get(0)).to_string()).collect())
}
