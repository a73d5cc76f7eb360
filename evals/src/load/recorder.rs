//! Writes down what the server sends to PostgreSQL: which statements, and which of them share a
//! round trip.
//!
//! It stands between the two for the length of one request and reads the protocol. So the bare
//! measurement runs what the server really sends, today's statements in today's grouping, and
//! nobody has to keep a copy of them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// What is asked for in the very first message of a client that would like TLS.
const TLS_REQUEST: i32 = 80_877_103;
/// How long an answer is held back, to see what is sent without it.
const PATIENCE: Duration = Duration::from_millis(5);

/// A statement on its way to PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// Text as it is, possibly of several statements.
    Plain(String),
    /// The text of a prepared statement that is executed with parameters.
    Prepared(String),
}

/// The statements of one request, grouped by round trip.
pub type Trace = Vec<Vec<Statement>>;

#[derive(Default)]
struct Heard {
    /// Each statement with the number of its round trip; the number counts over all connections.
    statements: Vec<(usize, Statement)>,
    flights: usize,
}

/// The listener between the server and PostgreSQL.
pub struct Recorder {
    pub address: SocketAddr,
    heard: Arc<Mutex<Heard>>,
}

/// One connection's state.
#[derive(Default)]
struct Line {
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
        let heard = Arc::new(Mutex::new(Heard::default()));
        let shared = heard.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let heard = shared.clone();
                // A connection that breaks is seen by the two it connects.
                tokio::spawn(async move { pass(client, postgres, heard).await.ok() });
            }
        });
        Ok(Self { address, heard })
    }

    /// Everything heard since the last call.
    pub fn take(&self) -> Trace {
        let heard = std::mem::take(&mut lock(&self.heard).statements);
        let mut trace: Trace = Vec::new();
        let mut last = None;
        for (flight, statement) in heard {
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

async fn pass(client: TcpStream, postgres: SocketAddr, heard: Arc<Mutex<Heard>>) -> Result<()> {
    let server = TcpStream::connect(postgres).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    // The first messages have no type; a wish for TLS is answered with a single letter.
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
    let line = Arc::new(Mutex::new(Line::default()));
    let answers = tokio::spawn(listen(from_server, to_client, line.clone()));
    while let Ok(kind) = from_client.read_u8().await {
        let length = from_client.read_i32().await?;
        let body = read(&mut from_client, length).await?;
        note(&mut lock(&line), &mut lock(&heard), kind, &body);
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
    line: Arc<Mutex<Line>>,
) -> Result<()> {
    loop {
        let kind = from.read_u8().await?;
        let length = from.read_i32().await?;
        let body = read(&mut from, length).await?;
        if kind == b'Z' {
            // Whatever the server sends without waiting for this answer has come by then.
            tokio::time::sleep(PATIENCE).await;
            let mut line = lock(&line);
            line.outstanding = line.outstanding.saturating_sub(1);
        }
        let mut message = vec![kind];
        message.extend(length.to_be_bytes());
        message.extend(&body);
        to.write_all(&message).await?;
    }
}

fn note(line: &mut Line, heard: &mut Heard, kind: u8, body: &[u8]) {
    // What is sent while answers are still out travels in the same round trip.
    if line.outstanding == 0 && !line.open {
        heard.flights += 1;
        line.flight = heard.flights;
    }
    let mut strings = body.split(|byte| *byte == 0);
    let mut string = || strings.next().unwrap_or_default();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match kind {
        b'Q' => {
            heard.statements.push((line.flight, Statement::Plain(text(string()))));
            line.outstanding += 1;
        }
        b'P' => {
            let name = string().to_vec();
            line.texts.insert(name, text(string()));
            line.open = true;
        }
        b'B' => {
            string();
            line.bound = line.texts.get(string()).cloned().unwrap_or_default();
            line.open = true;
        }
        b'E' => {
            heard.statements.push((line.flight, Statement::Prepared(line.bound.clone())));
            line.open = true;
        }
        b'S' => {
            line.outstanding += 1;
            line.open = false;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_before_an_answer_shares_a_round_trip() {
        let (mut line, mut heard) = (Line::default(), Heard::default());
        let mut send = |line: &mut Line, kind, body: &[u8]| note(line, &mut heard, kind, body);
        send(&mut line, b'P', b"s0\0select 1\0\0\0");
        send(&mut line, b'S', b"");
        line.outstanding -= 1;
        send(&mut line, b'Q', b"begin\0");
        send(&mut line, b'B', b"\0s0\0");
        send(&mut line, b'E', b"\0\0\0\0\0");
        send(&mut line, b'S', b"");
        line.outstanding -= 2;
        send(&mut line, b'Q', b"rollback\0");
        let recorder = Recorder {
            address: SocketAddr::from(([127, 0, 0, 1], 1)),
            heard: Arc::new(Mutex::new(heard)),
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
