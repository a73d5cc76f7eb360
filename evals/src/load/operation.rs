//! The measured operations, their targets, and their HTTP requests.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, ensure};
use lukasa_core::{FactId, UserId};
use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use serde::Serialize;
use tokio_postgres::Client;

use super::http::Ask;
use super::life::HEAVY;
use super::words::Vocabulary;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// One memory of a random user.
    Get,
    /// The first fifty memories of a random user.
    List,
    /// The same two for the one user with very many memories.
    HeavyGet,
    HeavyList,
    /// A new memory of a random user.
    Save,
    /// The same with an `Idempotency-Key`.
    SaveOnce,
    /// A change of one memory.
    Supersede,
}

impl Operation {
    pub const ALL: [Operation; 7] = [
        Operation::Get,
        Operation::List,
        Operation::HeavyGet,
        Operation::HeavyList,
        Operation::Save,
        Operation::SaveOnce,
        Operation::Supersede,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Operation::Get => "get",
            Operation::List => "list",
            Operation::HeavyGet => "heavy-get",
            Operation::HeavyList => "heavy-list",
            Operation::Save => "save",
            Operation::SaveOnce => "save-once",
            Operation::Supersede => "supersede",
        }
    }

    pub fn is_write(self) -> bool {
        matches!(self, Operation::Save | Operation::SaveOnce | Operation::Supersede)
    }

    pub fn is_heavy(self) -> bool {
        matches!(self, Operation::HeavyGet | Operation::HeavyList)
    }
}

/// A user and one of their memories.
#[derive(Debug, Clone)]
pub struct Target {
    pub name: String,
    pub user: UserId,
    pub fact: FactId,
}

/// Draws up to `count` memories, each equally likely, of ordinary users or the heavy one.
pub async fn targets(
    admin: &Client,
    heavy: bool,
    count: usize,
    rng: &mut StdRng,
) -> Result<Vec<Target>> {
    let total: i64 = admin
        .query_one("select greatest(1, reltuples)::int8 from pg_class where relname = 'fact'", &[])
        .await?
        .get(0);
    let filter = if heavy { "=" } else { "<>" };
    let share = if heavy { 100.0 } else { (400.0 * count as f64 / total as f64).min(100.0) };
    let sql = format!(
        "select u.name, f.user_id, f.fact_id \
           from fact f tablesample bernoulli ({share}) repeatable ({}) join users u using (user_id) \
          where u.name {filter} '{HEAVY}'",
        rng.random_range(1..1_000_000)
    );
    let rows = admin.query(&sql, &[]).await.context("drawing memories")?;
    let target = |row: &tokio_postgres::Row| Target {
        name: row.get(0),
        user: UserId::from_uuid(row.get(1)),
        fact: FactId::from_uuid(row.get(2)),
    };
    let mut targets: Vec<Target> = rows.iter().map(target).collect();
    ensure!(!targets.is_empty(), "the database has no memories to ask about");
    targets.shuffle(rng);
    targets.truncate(count);
    Ok(targets)
}

/// Requests one operation, about a random target each time.
pub struct Asking {
    pub operation: Operation,
    pub targets: Arc<Vec<Target>>,
    /// The secret of a key, if the server requires one.
    pub secret: Option<String>,
    pub vocabulary: Arc<Vocabulary>,
    /// Makes every content and every idempotency key of a run unique.
    pub serial: Arc<AtomicU64>,
}

impl Asking {
    /// The request about one target.
    pub fn request(
        &self,
        target: &Target,
        rng: &mut StdRng,
        request: &mut Vec<u8>,
        expected: &mut Vec<u8>,
    ) {
        let fact = target.fact;
        // Writing into a Vec cannot fail.
        let _ = match self.operation {
            Operation::Get | Operation::HeavyGet | Operation::Supersede => {
                write!(expected, "{fact}")
            }
            Operation::List | Operation::HeavyList => write!(expected, "{{\"data\":[{{\"id\":"),
            Operation::Save | Operation::SaveOnce => write!(expected, "{{\"memory\":{{\"id\":"),
        };
        let (method, path) = match self.operation {
            Operation::Get | Operation::HeavyGet => ("GET", format!("/api/memory/{fact}")),
            Operation::List | Operation::HeavyList => ("GET", "/api/memory".to_owned()),
            Operation::Save | Operation::SaveOnce => ("POST", "/api/memory".to_owned()),
            Operation::Supersede => ("PATCH", format!("/api/memory/{fact}")),
        };
        let _ = write!(request, "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n");
        let _ = write!(request, "X-Lukasa-User: {}\r\n", target.name);
        if let Some(secret) = &self.secret {
            let _ = write!(request, "Authorization: Bearer {secret}\r\n");
        }
        if !self.operation.is_write() {
            request.extend(b"\r\n");
            return;
        }
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        if self.operation == Operation::SaveOnce {
            let _ = write!(request, "Idempotency-Key: load-{serial}\r\n");
        }
        let body = format!("{{\"content\":\"{} n{serial}\"}}", self.vocabulary.plain_sentence(rng));
        let _ = write!(
            request,
            "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
    }
}

impl Ask for Asking {
    fn next(&self, rng: &mut StdRng, request: &mut Vec<u8>, expected: &mut Vec<u8>) {
        if let Some(target) = self.targets.choose(rng) {
            self.request(target, rng, request, expected);
        }
    }
}
