//! Records what the server sends to PostgreSQL: which statements, and which of them share a round
//! trip.
//!
//! It is a proxy between the two for the length of one request and reads the protocol. So the bare
//! measurement runs what the server really sends, with the current statements and grouping, and no
//! copy of them has to be maintained.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// The code in the first message of a client that requests TLS.
const TLS_REQUEST: i32 = 80_877_103;
/// How long an answer is delayed, to see what is sent without waiting for it.
const ANSWER_DELAY: Duration = Duration::from_millis(5);

/// A statement on its way to PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// Plain text, possibly of several statements.
    Plain(String),
    /// The text of a prepared statement that is executed with parameters.
    Prepared(String),
}

/// The statements of one request, grouped by round trip.
pub type Trace = Vec<Vec<Statement>>;

#[derive(Default)]
struct Recording {
    /// Each statement with the number of its round trip; the number counts over all connections.
    statements: Vec<(usize, Statement)>,
    flights: usize,
}

/// The recording proxy between the server and PostgreSQL.
pub struct Recorder {
    pub address: SocketAddr,
    recording: Arc<Mutex<Recording>>,
}

/// One connection's state.
#[derive(Default)]
struct ConnectionState {
    texts: HashMap<Vec<u8>, String>,
    bound: String,
    /// Requests whose answers have not ended yet.
    outstanding: usize,
    /// Messages were sent that no Sync has closed.
    open: bool,
    flight: usize,
}

impl Recorder {
    pub async fn start(postgres: SocketAddr) -> Result<Self> {
        let listener =
            TcpListener::bind("127.0.0.1:0").await.context("no port for the recorder")?;
        let address = listener.local_addr()?;
        let recording = Arc::new(Mutex::new(Recording::default()));
        let shared = recording.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let recording = shared.clone();
                // A broken connection is noticed by the two it connects.
                tokio::spawn(async move { pass(client, postgres, recording).await.ok() });
            }
        });
        Ok(Self { address, recording })
    }

    /// All statements recorded since the last call.
    pub fn take(&self) -> Trace {
        let recording = std::mem::take(&mut lock(&self.recording).statements);
        let mut trace: Trace = Vec::new();
        let mut last = None;
        for (flight, statement) in recording {
            if last != Some(flight) {
                trace.push(Vec::new());
                last = Some(flight);
            }
            if let Some(group) = trace.last_mut() {
                group.push(statement);
            }
        }
        trace
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn pass(
    client: TcpStream,
    postgres: SocketAddr,
    recording: Arc<Mutex<Recording>>,
) -> Result<()> {
    let server = TcpStream::connect(postgres).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    // The first messages have no type; a TLS request is answered with a single byte.
    loop {
        let length = from_client.read_i32().await?;
        let body = read(&mut from_client, length).await?;
        to_server.write_i32(length).await?;
        to_server.write_all(&body).await?;
        if body.get(..4) != Some(&TLS_REQUEST.to_be_bytes()) {
            break;
        }
        let answer = from_server.read_u8().await?;
        ensure!(answer == b'N', "the recorder cannot read TLS");
        to_client.write_u8(answer).await?;
    }
    let connection = Arc::new(Mutex::new(ConnectionState::default()));
    let answers = tokio::spawn(listen(from_server, to_client, connection.clone()));
    while let Ok(kind) = from_client.read_u8().await {
        let length = from_client.read_i32().await?;
        let body = read(&mut from_client, length).await?;
        record(&mut lock(&connection), &mut lock(&recording), kind, &body);
        let mut message = vec![kind];
        message.extend(length.to_be_bytes());
        message.extend(&body);
        to_server.write_all(&message).await?;
    }
    answers.abort();
    Ok(())
}

async fn read(from: &mut OwnedReadHalf, length: i32) -> Result<Vec<u8>> {
    let mut body = vec![0; usize::try_from(length - 4)?];
    from.read_exact(&mut body).await?;
    Ok(body)
}

/// Passes the answers on, and counts those that have ended.
async fn listen(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    connection: Arc<Mutex<ConnectionState>>,
) -> Result<()> {
    loop {
        let kind = from.read_u8().await?;
        let length = from.read_i32().await?;
        let body = read(&mut from, length).await?;
        if kind == b'Z' {
            // Everything that the server sends without waiting for this answer has arrived by then.
            tokio::time::sleep(ANSWER_DELAY).await;
            let mut connection = lock(&connection);
            connection.outstanding = connection.outstanding.saturating_sub(1);
        }
        let mut message = vec![kind];
        message.extend(length.to_be_bytes());
        message.extend(&body);
        to.write_all(&message).await?;
    }
}

fn record(connection: &mut ConnectionState, recording: &mut Recording, kind: u8, body: &[u8]) {
    // Statements sent while answers are outstanding share the same round trip.
    if connection.outstanding == 0 && !connection.open {
        recording.flights += 1;
        connection.flight = recording.flights;
    }
    let mut strings = body.split(|byte| *byte == 0);
    let mut string = || strings.next().unwrap_or_default();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match kind {
        b'Q' => {
            recording.statements.push((connection.flight, Statement::Plain(text(string()))));
            connection.outstanding += 1;
        }
        b'P' => {
            let name = string().to_vec();
            connection.texts.insert(name, text(string()));
            connection.open = true;
        }
        b'B' => {
            string();
            connection.bound = connection.texts.get(string()).cloned().unwrap_or_default();
            connection.open = true;
        }
        b'E' => {
            recording
                .statements
                .push((connection.flight, Statement::Prepared(connection.bound.clone())));
            connection.open = true;
        }
        b'S' => {
            connection.outstanding += 1;
            connection.open = false;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_sent_before_an_answer_share_a_round_trip() {
        let (mut connection, mut recording) = (ConnectionState::default(), Recording::default());
        let mut send = |connection: &mut ConnectionState, kind, body: &[u8]| {
            record(connection, &mut recording, kind, body);
        };
        send(&mut connection, b'P', b"s0\0select 1\0\0\0");
        send(&mut connection, b'S', b"");
        connection.outstanding -= 1;
        send(&mut connection, b'Q', b"begin\0");
        send(&mut connection, b'B', b"\0s0\0");
        send(&mut connection, b'E', b"\0\0\0\0\0");
        send(&mut connection, b'S', b"");
        connection.outstanding -= 2;
        send(&mut connection, b'Q', b"rollback\0");
        let recorder = Recorder {
            address: SocketAddr::from(([127, 0, 0, 1], 1)),
            recording: Arc::new(Mutex::new(recording)),
        };
        let plain = |text: &str| Statement::Plain(text.to_owned());
        assert_eq!(
            recorder.take(),
            vec![
                vec![plain("begin"), Statement::Prepared("select 1".to_owned())],
                vec![plain("rollback")]
            ]
        );
    }
}
