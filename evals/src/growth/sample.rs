//! Checks a sample of filled users through the API: all their memories are listed, and one of them
//! is in the context for a message with its words.

use std::ops::Range;

use anyhow::{Context, Result};
use hyper::Method;
use lukasa_core::{FactId, UserId};
use rand::Rng as _;
use rand::rngs::StdRng;
use serde_json::json;
use tokio_postgres::Client as Database;

use super::plan::FACTS_PER_USER;
use crate::load::life::{tenant, user_name};
use crate::retrieval::client::Client;

/// Result of a check.
#[derive(Debug, Default)]
pub struct SampleReport {
    pub users: usize,
    /// Users whose data is not what was filled, and why.
    pub faults: Vec<String>,
    /// Mean bytes of a response to a retrieval.
    pub retrieve_bytes: f64,
}

/// Checks `count` random users of this range, which only the fill has written to.
pub async fn check(
    client: &Client,
    database: &Database,
    numbers: &Range<u32>,
    count: usize,
    rng: &mut StdRng,
) -> Result<SampleReport> {
    let mut report = SampleReport::default();
    for _ in 0..count {
        let name = user_name(rng.random_range(numbers.clone()));
        let listed = client.ask(&name, Method::GET, "/api/memory?limit=200", None).await?;
        let memories = listed["data"].as_array().map_or(0, Vec::len);
        if memories != FACTS_PER_USER.min(200) as usize {
            report.faults.push(format!("{name} has {memories} memories in the list"));
        }
        let user = UserId::named(tenant(), &name).uuid();
        let sql = "select fact_id, content from fact_version \
                    where user_id = $1 and force = 'soft' order by random() limit 1";
        let row = database.query_one(sql, &[&user]).await.context("a filled fact")?;
        let (fact, content) = (FactId::from_uuid(row.get(0)), row.get::<_, String>(1));
        let body = json!({ "query": content });
        let found = client.ask(&name, Method::POST, "/api/memory/retrieve", Some(body)).await?;
        let text = found.to_string();
        if !text.contains(&fact.to_string()) {
            report.faults.push(format!("{name}: {fact} is not in the context for its own words"));
        }
        report.retrieve_bytes += text.len() as f64 / count as f64;
        report.users += 1;
    }
    Ok(report)
}
