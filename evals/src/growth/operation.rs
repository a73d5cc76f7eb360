//! The measured requests, and what each costs.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::json;
use tokio_postgres::Client;

use super::model::{FIRST_RETRIEVE, OperationFigures};
use super::texts::session_name;
use crate::load::cpu;
use crate::load::http::{Ask, Press, press};
use crate::load::life::user_name;
use crate::load::words::Vocabulary;
use crate::long_history::{ANSWER_WORDS, MESSAGE_WORDS, text};

/// Sessions of each user to append to, so that there are enough to close.
const SESSIONS: u32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredOperation {
    /// A new memory.
    Save,
    /// The context for a message in a session.
    Retrieve,
    /// The same for a user whose index is not in the server's memory, and who has no baseline.
    FirstRetrieve,
    /// A message and its answer.
    Append,
    /// The close of a session that was appended to.
    Close,
    /// The first fifty memories.
    List,
}

impl MeasuredOperation {
    /// Reads first, and each close after its appends.
    pub const ALL: [MeasuredOperation; 6] = [
        MeasuredOperation::List,
        MeasuredOperation::FirstRetrieve,
        MeasuredOperation::Retrieve,
        MeasuredOperation::Save,
        MeasuredOperation::Append,
        MeasuredOperation::Close,
    ];

    pub fn name(self) -> &'static str {
        match self {
            MeasuredOperation::Save => "save",
            MeasuredOperation::Retrieve => "retrieve",
            MeasuredOperation::FirstRetrieve => FIRST_RETRIEVE,
            MeasuredOperation::Append => "append",
            MeasuredOperation::Close => "close",
            MeasuredOperation::List => "list",
        }
    }

    /// Whether it can be done only once with each user or session.
    fn ends(self) -> bool {
        matches!(self, MeasuredOperation::FirstRetrieve | MeasuredOperation::Close)
    }

    /// Whether it asks for a context.
    fn retrieves(self) -> bool {
        matches!(self, MeasuredOperation::FirstRetrieve | MeasuredOperation::Retrieve)
    }

    /// The beginning of a right answer, or a part of it.
    fn expected(self) -> &'static str {
        match self {
            MeasuredOperation::Save => "{\"memory\":{\"id\":",
            MeasuredOperation::Retrieve | MeasuredOperation::FirstRetrieve => "\"degraded\":[]",
            MeasuredOperation::Append => "\"turn_ids\":[",
            MeasuredOperation::Close => "\"state\":\"idle\"",
            MeasuredOperation::List => "{\"data\":[{\"id\":",
        }
    }
}

/// What the requests of a level share. Each level has as many users who send requests, spread over
/// all that are filled, so that the levels differ by the size of the database alone.
#[derive(Clone)]
pub struct Workload {
    /// The users of all requests but the first retrievals.
    pub users: Vec<u32>,
    /// Other users, for one retrieval each.
    pub first_users: Vec<u32>,
    pub vocabulary: Arc<Vocabulary>,
    /// Makes every content of a run unique.
    pub serial: Arc<AtomicU64>,
}

impl Workload {
    /// Chooses `each` users for either purpose out of all that are filled.
    pub fn spread(&mut self, filled: u32, each: u32) {
        let places = u64::from(each.max(1)) * 2;
        let at = |place: u64| u32::try_from(place * u64::from(filled) / places).unwrap_or(0);
        self.users = (0..places).step_by(2).map(at).collect();
        self.first_users = (1..places).step_by(2).map(at).collect();
    }
}

struct Asking {
    operation: MeasuredOperation,
    workload: Workload,
    /// What can be done once: the name of a user, and the session.
    once: Mutex<Vec<(String, String)>>,
    /// Number of requests.
    asked: AtomicU64,
}

impl Asking {
    /// The user, path and body of the next request; none if there are no more.
    fn request(&self, rng: &mut StdRng) -> Option<(String, String, Option<String>)> {
        let Workload { users, vocabulary, serial, .. } = &self.workload;
        let (user, session) = if self.operation.ends() {
            self.once.lock().unwrap_or_else(PoisonError::into_inner).pop()?
        } else {
            (user_name(*users.choose(rng)?), session_name(0))
        };
        Some(match self.operation {
            MeasuredOperation::List => (user, "/api/memory".to_owned(), None),
            MeasuredOperation::Save => {
                let number = serial.fetch_add(1, Ordering::Relaxed);
                let content = format!("{} n{number}", vocabulary.plain_sentence(rng));
                (user, "/api/memory".to_owned(), Some(json!({"content": content}).to_string()))
            }
            MeasuredOperation::Retrieve | MeasuredOperation::FirstRetrieve => {
                let sentence = vocabulary.plain_sentence(rng);
                let words: Vec<&str> =
                    sentence.split(' ').filter(|w| w.len() > 3).take(3).collect();
                let body = json!({"query": words.join(" "), "session_id": session});
                (user, "/api/memory/retrieve".to_owned(), Some(body.to_string()))
            }
            MeasuredOperation::Append => {
                let session = rng.random_range(0..SESSIONS);
                let message = text(vocabulary, rng, MESSAGE_WORDS);
                let answer = text(vocabulary, rng, ANSWER_WORDS);
                let body = json!({"turns": [{"role": "user", "content": message},
                                            {"role": "assistant", "content": answer}]});
                let path = format!("/api/sessions/grow-{session}/turns");
                (user, path, Some(body.to_string()))
            }
            MeasuredOperation::Close => {
                (user, format!("/api/sessions/{session}/close"), Some(String::new()))
            }
        })
    }
}

impl Ask for Asking {
    fn next(&self, rng: &mut StdRng, request: &mut Vec<u8>, expected: &mut Vec<u8>) {
        let Some((user, path, body)) = self.request(rng) else { return };
        self.asked.fetch_add(1, Ordering::Relaxed);
        expected.extend(self.operation.expected().as_bytes());
        let method = if body.is_some() { "POST" } else { "GET" };
        // Writing into a Vec cannot fail.
        let _ = write!(
            request,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Lukasa-User: {user}\r\n"
        );
        let _ = match body {
            Some(body) if !body.is_empty() => write!(
                request,
                "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ),
            Some(_) => write!(request, "Content-Length: 0\r\n\r\n"),
            None => write!(request, "\r\n"),
        };
    }
}

/// The processes and the database that are measured.
pub struct Watched<'a> {
    pub address: SocketAddr,
    pub server: u32,
    pub postmaster: u32,
    pub admin: &'a Client,
}

impl Watched<'_> {
    async fn wal_position(&self) -> Result<String> {
        let sql = "select pg_current_wal_insert_lsn()::text";
        Ok(self.admin.query_one(sql, &[]).await?.get(0))
    }

    /// Bytes of the write-ahead log since a position: of records, and of images of pages.
    async fn wal_since(&self, position: &str) -> Result<(f64, f64)> {
        let sql = "select coalesce(sum(record_size), 0)::float8, coalesce(sum(fpi_size), 0)::float8 \
                     from pg_get_wal_stats($1::text::pg_lsn, pg_current_wal_flush_lsn())";
        // The log of the last commits may not be flushed, and a read has written none.
        let flushed = "select pg_current_wal_flush_lsn() > $1::text::pg_lsn";
        if !self.admin.query_one(flushed, &[&position]).await?.get::<_, bool>(0) {
            return Ok((0.0, 0.0));
        }
        let row = self.admin.query_one(sql, &[&position]).await.context("the log's statistics")?;
        Ok((row.get(0), row.get(1)))
    }

    /// What can be done once: the first retrievals, or the close of sessions that were appended to.
    async fn once(
        &self,
        operation: MeasuredOperation,
        workload: &Workload,
    ) -> Result<Vec<(String, String)>> {
        if operation == MeasuredOperation::FirstRetrieve {
            let users = workload.first_users.iter();
            return Ok(users.map(|user| (user_name(*user), session_name(0))).collect());
        }
        if operation != MeasuredOperation::Close {
            return Ok(Vec::new());
        }
        let sql = "select u.name, s.session_id from session s join users u using (user_id) \
                    where s.session_id like 'grow-%' and s.state = 'active' limit 50000";
        let rows = self.admin.query(sql, &[]).await.context("the sessions to close")?;
        ensure!(!rows.is_empty(), "there is no session to close");
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Sends requests of one kind for a while, and returns what each costs.
    pub async fn measure(
        &self,
        operation: MeasuredOperation,
        workload: &Workload,
        mut how: Press,
    ) -> Result<OperationFigures> {
        let asking = Arc::new(Asking {
            operation,
            workload: workload.clone(),
            once: Mutex::new(self.once(operation, workload).await?),
            asked: AtomicU64::new(0),
        });
        if operation.ends() {
            // Everything may be done before the end of a warm-up.
            how.warm_up = Duration::ZERO;
        }
        let ask: Arc<dyn Ask> = asking.clone();
        let position = self.wal_position().await?;
        let (server, postgres) = (cpu::ticks(&[self.server], 0), cpu::ticks(&[], self.postmaster));
        let address = self.address;
        let sample = tokio::task::spawn_blocking(move || press(address, &ask, how))
            .await
            .context("the clients")??;
        let asked = asking.asked.load(Ordering::Relaxed).max(1);
        let each = |sum: f64| sum / asked as f64;
        let (records, pages) = self.wal_since(&position).await?;
        let first = sample.first_error.as_deref().unwrap_or("-");
        let may_degrade = operation.retrieves() && first.contains("degraded");
        ensure!(
            sample.errors == 0 || may_degrade,
            "{}: {} errors, such as: {first}",
            operation.name(),
            sample.errors
        );
        let figures = OperationFigures {
            name: operation.name().to_owned(),
            requests: asked,
            per_second: sample.per_second(),
            p50_ms: sample.percentile(0.5),
            p95_ms: sample.percentile(0.95),
            degraded: sample.errors,
            server_cpu_ms: each(cpu::millis_since(server, &[self.server], 0)),
            postgres_cpu_ms: each(cpu::millis_since(postgres, &[], self.postmaster)),
            wal_bytes: each(records),
            wal_page_bytes: each(pages),
        };
        eprintln!(
            "{:<14} {asked:>6} requests, p50 {:.2} ms, p95 {:.2} ms",
            figures.name, figures.p50_ms, figures.p95_ms
        );
        Ok(figures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_requests_are_of_as_many_users_at_each_level() {
        let mut workload = Workload {
            users: Vec::new(),
            first_users: Vec::new(),
            vocabulary: Arc::new(Vocabulary::new(1)),
            serial: Arc::default(),
        };
        workload.spread(4, 2);
        assert_eq!((&workload.users[..], &workload.first_users[..]), (&[0, 2][..], &[1, 3][..]));
        workload.spread(4_000, 2);
        let expected = (&[0, 2_000][..], &[1_000, 3_000][..]);
        assert_eq!((&workload.users[..], &workload.first_users[..]), expected);
    }
}
