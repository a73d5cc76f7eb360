//! Faults planted on purpose, to show that the checker detects them.
//!
//! None of them is in the product. They are settings and SQL of the eval's own cluster, a proxy in
//! front of it, or a header that is left out.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Fault {
    /// The database reports "committed" before the commit is on disk.
    AsyncCommit,
    /// The server receives "committed", and answers its client, before the commit is done.
    AckBeforeCommit,
    /// A repeated request reaches the server without its key.
    NoIdempotency,
    /// One user's writes are not serialized, and the database accepts that.
    NoLock,
}

impl Fault {
    /// Settings that PostgreSQL is started with.
    pub fn settings(self) -> &'static [&'static str] {
        match self {
            // Commits reach the disk only when the writer next wakes, which makes losses certain.
            Self::AsyncCommit => {
                &["synchronous_commit=off", "wal_writer_delay=10s", "wal_writer_flush_after=1GB"]
            }
            _ => &[],
        }
    }

    /// Changes to the schema.
    pub fn sql(self) -> Option<&'static str> {
        match self {
            // A function of the same name shadows the built-in one and locks nothing; the two
            // constraints that would catch the resulting errors are dropped.
            Self::NoLock => Some(
                "create function public.pg_advisory_xact_lock(bigint) returns void \
                   language sql as 'select'; \
                 do $$ begin execute format('alter database %I set search_path = public, \
                   pg_catalog', current_database()); end $$; \
                 alter table fact_version drop constraint one_truth; \
                 drop trigger close_version on fact_version;",
            ),
            _ => None,
        }
    }
}

/// How long the commits of [`early_commits`] are delayed.
const COMMIT_DELAY: Duration = Duration::from_millis(30);
const SSL_REQUEST: u32 = 80_877_103;

/// A proxy with PostgreSQL's protocol on `listener` for the database at `target` that answers every
/// commit itself before it passes it on. To its client the server thus answers first and commits
/// afterwards, with all ids and contents right.
pub async fn early_commits(listener: TcpListener, target: SocketAddr) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(async move {
            // A broken connection on either side ends both, which is what a client expects.
            let _ = relay(client, target).await;
        });
    }
}

async fn relay(client: TcpStream, target: SocketAddr) -> Result<()> {
    let database = TcpStream::connect(target).await?;
    client.set_nodelay(true)?;
    database.set_nodelay(true)?;
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_database, mut to_database) = database.into_split();
    // Before the protocol proper the client may ask for TLS, which is answered with one byte.
    loop {
        let mut head = [0; 8];
        from_client.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let code = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
        let mut rest = vec![0; length.checked_sub(8).context("a short start")?];
        from_client.read_exact(&mut rest).await?;
        to_database.write_all(&head).await?;
        to_database.write_all(&rest).await?;
        if code != SSL_REQUEST {
            break;
        }
        let kind = from_database.read_u8().await?;
        ensure!(kind == b'N', "the eval's own database has no TLS");
        to_client.write_all(b"N").await?;
    }
    let to_client = Arc::new(Mutex::new(to_client));
    let answered_early = Arc::new(AtomicUsize::new(0));
    let forth = forth(from_client, to_database, &to_client, &answered_early);
    let back = back(from_database, &to_client, &answered_early);
    tokio::select! {
        ended = forth => ended,
        ended = back => ended,
    }
}

/// A message after the start: its type byte, and all its bytes.
async fn message(from: &mut OwnedReadHalf) -> Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    from.read_exact(&mut head).await?;
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let mut bytes = head.to_vec();
    bytes.resize(length.checked_add(1).context("a long message")?.max(5), 0);
    from.read_exact(&mut bytes[5..]).await?;
    Ok((head[0], bytes))
}

async fn forth(
    mut from_client: OwnedReadHalf,
    mut to_database: OwnedWriteHalf,
    to_client: &Mutex<OwnedWriteHalf>,
    answered_early: &AtomicUsize,
) -> Result<()> {
    loop {
        let (kind, bytes) = message(&mut from_client).await?;
        if kind == b'Q' && bytes[5..].eq_ignore_ascii_case(b"commit\0") {
            // "COMMIT" done, and ready for the next query outside a transaction.
            to_client.lock().await.write_all(b"C\0\0\0\x0bCOMMIT\0Z\0\0\0\x05I").await?;
            answered_early.fetch_add(1, Ordering::SeqCst);
            // A server that dies in between never gets to its commit.
            tokio::select! {
                () = tokio::time::sleep(COMMIT_DELAY) => {}
                () = hung_up(&mut from_client) => bail!("the server is gone"),
            }
        }
        to_database.write_all(&bytes).await?;
    }
}

async fn hung_up(from_client: &mut OwnedReadHalf) {
    if from_client.peek(&mut [0]).await.is_ok_and(|bytes| bytes > 0) {
        std::future::pending::<()>().await;
    }
}

/// Passes answers on, except those to commits that have already been answered.
async fn back(
    mut from_database: OwnedReadHalf,
    to_client: &Mutex<OwnedWriteHalf>,
    answered_early: &AtomicUsize,
) -> Result<()> {
    loop {
        let (kind, bytes) = message(&mut from_database).await?;
        if answered_early.load(Ordering::SeqCst) == 0 {
            to_client.lock().await.write_all(&bytes).await?;
        } else if kind == b'Z' {
            // Nothing else is sent before a commit has been passed on, so the next ready message is
            // its.
            answered_early.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
