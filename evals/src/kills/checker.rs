//! The checker: compares acknowledged writes with the database.
//!
//! It runs while no request is open, so every request has its outcome, and it reads the database
//! with its own SQL. The users' view is read over HTTP.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use lukasa_core::FactId;
use uuid::Uuid;

use super::cluster::{Cluster, RECOVERY_LIMIT};
use super::expectation::{Row, Seen};
use super::invariants::examine;
use super::journal::{Findings, Journal, Wrong};
use super::record::{self, UserRecord};
use crate::http_connection::{HttpConnection, Reply};

/// Number of users read at once.
const BATCH: usize = 40;

/// Amount of data checked.
#[derive(Debug, Clone, Copy, Default)]
pub struct CheckedCounts {
    pub users: usize,
    pub operations: usize,
    pub versions: usize,
}

/// Checks the users who wrote since the last check, or all of them.
pub async fn check(
    cluster: &Cluster,
    journal: &Journal,
    all: bool,
) -> Result<(Findings, CheckedCounts)> {
    let mut client = cluster.connect().await?;
    let mut http = HttpConnection::to(cluster.server_address);
    let (chosen, ids) = {
        let mut users = journal.users();
        let chosen: Vec<usize> = (0..users.len()).filter(|i| all || users[*i].touched).collect();
        users.iter_mut().for_each(|user| user.touched = false);
        (chosen, users.iter().map(|user| user.id).collect::<Vec<Uuid>>())
    };
    let (mut findings, mut looked) = (Findings::default(), CheckedCounts::default());
    for batch in chosen.chunks(BATCH) {
        let wanted: Vec<Uuid> = batch.iter().map(|user| ids[*user]).collect();
        let record = record::read(&mut client, &wanted).await?;
        for user in batch {
            let (name, predicted) = {
                let users = journal.users();
                let log = &users[*user];
                let none = UserRecord::default();
                let rows = record.users.get(&log.id).unwrap_or(&none);
                looked.users += 1;
                looked.operations += rows.operations.len();
                looked.versions += rows.versions.len();
                let predicted = log.expectation.is_some();
                examine(&log.name, &log.entries, predicted, rows, record.now, &mut findings);
                (log.name.clone(), predicted)
            };
            if predicted {
                let seen = listing(&mut http, &name).await?;
                let users = journal.users();
                let allowed = users[*user].expectation.as_ref().map_or(Ok(()), |e| e.allows(&seen));
                if let Err(words) = allowed {
                    findings.add(Wrong::OtherState, || format!("{name}: {words}"));
                }
            }
        }
    }
    if all {
        let strangers = record::strangers(&client, &ids).await?;
        if strangers > 0 {
            findings.add(Wrong::Doubled, || format!("{strangers} operations of unknown users"));
        }
    }
    Ok((findings, looked))
}

/// A user's memories over HTTP, page by page.
async fn listing(http: &mut HttpConnection, user: &str) -> Result<Seen> {
    let mut seen = Seen::new();
    let mut cursor = String::new();
    let started = Instant::now();
    loop {
        let path = format!("/api/memory?status=all&limit=200{cursor}");
        let reply = http.get(&path, Some(user), Duration::from_secs(20)).await;
        let Reply::Answer { status: 200, body } = reply else {
            if started.elapsed() > RECOVERY_LIMIT {
                bail!("cannot list the memories of {user}: {reply:?}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        for memory in body["data"].as_array().context("a list has no data")? {
            let fact: FactId = memory["id"].as_str().unwrap_or_default().parse()?;
            let text = |name: &str| memory[name].as_str().unwrap_or_default().to_owned();
            let known = ["active", "superseded", "forgotten", "trashed"];
            let status = text("status");
            let status = known.into_iter().find(|word| **word == status).unwrap_or("another");
            seen.entry(fact).or_default().push(Row { content: text("content"), status });
        }
        match body["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    seen.values_mut().for_each(|rows| rows.sort());
    Ok(seen)
}
