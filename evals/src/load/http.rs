//! The HTTP side: a small client over plain sockets, and many of them at once.
//!
//! The client shares the machine with the server and the database, so it does as little as
//! possible: one thread, persistent connections, a request written in one piece, a response read by
//! its Content-Length and not parsed. It runs in this process, on a thread of its own.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// One connection.
pub struct Wire {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// The status of a response, and the position of its body in the connection's buffer.
pub struct Answer {
    pub status: u16,
    body: Range<usize>,
}

impl Wire {
    pub async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("cannot connect to the server")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 64 * 1024] })
    }

    pub async fn ask(&mut self, request: &[u8]) -> Result<Answer> {
        self.stream.write_all(request).await.context("sending a request")?;
        let (mut filled, mut head) = (0, None);
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(2 * filled, 0);
            }
            let read = self.stream.read(&mut self.buffer[filled..]).await?;
            ensure!(read > 0, "the server closed the connection");
            filled += read;
            if head.is_none() {
                head = parse_head(&self.buffer[..filled])?;
            }
            if let Some((status, start, length)) = head
                && filled >= start + length
            {
                ensure!(filled == start + length, "more than one answer to one request");
                return Ok(Answer { status, body: start..filled });
            }
        }
    }

    pub fn body(&self, answer: &Answer) -> &[u8] {
        &self.buffer[answer.body.clone()]
    }
}

/// The status, the start and the length of the body; `None` while the head is incomplete.
fn parse_head(bytes: &[u8]) -> Result<Option<(u16, usize, usize)>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..end]).context("a head that is not text")?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.get(9..12)).context("no status line")?;
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .context("an answer without Content-Length")?;
    Ok(Some((status.parse()?, end + 4, length.1.trim().parse()?)))
}

/// Writes the next request of a connection, and what its response must contain. A connection ends
/// when there is no further request.
pub trait Ask: Send + Sync + 'static {
    fn next(&self, rng: &mut StdRng, request: &mut Vec<u8>, expected: &mut Vec<u8>);
}

/// Latencies in microseconds, sorted, and errors.
#[derive(Debug, Default)]
pub struct Sample {
    pub latencies: Vec<u32>,
    pub seconds: f64,
    pub errors: u64,
    pub first_error: Option<String>,
}

impl Sample {
    pub fn per_second(&self) -> f64 {
        self.latencies.len() as f64 / self.seconds
    }

    /// The percentile of the latency at this share, in milliseconds.
    pub fn percentile(&self, share: f64) -> f64 {
        let Some(last) = self.latencies.len().checked_sub(1) else { return 0.0 };
        f64::from(self.latencies[(last as f64 * share).round() as usize]) / 1000.0
    }

    /// Merges another sample; the latencies have to be sorted again afterwards.
    pub fn merge(&mut self, other: Sample) {
        self.seconds += other.seconds;
        self.latencies.extend(other.latencies);
        self.errors += other.errors;
        self.first_error = self.first_error.take().or(other.first_error);
    }

    fn fail(&mut self, error: String) {
        self.errors += 1;
        self.first_error.get_or_insert(error);
    }
}

/// The load: clients, warm-up and duration.
#[derive(Debug, Clone, Copy)]
pub struct Press {
    pub clients: usize,
    pub warm_up: Duration,
    pub lasting: Duration,
    pub seed: u64,
}

/// Runs many clients, each of which sends as soon as it has its response. Blocks until they are
/// done.
pub fn press(address: SocketAddr, ask: &Arc<dyn Ask>, press: Press) -> Result<Sample> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let start = Instant::now() + press.warm_up;
        let mut crowd = Vec::new();
        for client in 0..press.clients {
            let wire = Wire::connect(address).await?;
            let seed = press.seed.wrapping_mul(1_000_003).wrapping_add(client as u64);
            crowd.push(tokio::spawn(one(wire, ask.clone(), start, press.lasting, seed)));
        }
        let mut all = Sample { seconds: press.lasting.as_secs_f64(), ..Sample::default() };
        for client in crowd {
            all.merge(client.await.context("a client")?);
        }
        all.latencies.sort_unstable();
        Ok(all)
    })
}

async fn one(
    mut wire: Wire,
    ask: Arc<dyn Ask>,
    start: Instant,
    lasting: Duration,
    seed: u64,
) -> Sample {
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut request, mut expected) = (Vec::new(), Vec::new());
    let mut sample = Sample::default();
    let end = start + lasting;
    loop {
        request.clear();
        expected.clear();
        ask.next(&mut rng, &mut request, &mut expected);
        let asked = Instant::now();
        if asked >= end || request.is_empty() {
            return sample;
        }
        let answer = match wire.ask(&request).await {
            Ok(answer) => answer,
            Err(error) => {
                sample.fail(format!("{error:#}"));
                return sample;
            }
        };
        let answered = Instant::now();
        // A request counts when it ends, as in pgbench.
        if (start..end).contains(&answered) {
            let micros = answered.duration_since(asked).as_micros();
            sample.latencies.push(u32::try_from(micros).unwrap_or(u32::MAX));
        }
        if let Err(error) = check(&answer, wire.body(&answer), &expected) {
            sample.fail(format!("{error:#}"));
        }
    }
}

fn check(answer: &Answer, body: &[u8], expected: &[u8]) -> Result<()> {
    if !(200..300).contains(&answer.status) {
        bail!("{}: {}", answer.status, String::from_utf8_lossy(body));
    }
    // The expected text is early in the body, so the search is short.
    let found =
        expected.is_empty() || body.windows(expected.len()).any(|window| window == expected);
    ensure!(found, "an answer without {}", String::from_utf8_lossy(expected));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_head_is_parsed_once_complete() {
        let head = b"HTTP/1.1 201 Created\r\nContent-Length: 12\r\nx: y\r\n\r\n";
        assert_eq!(parse_head(head).unwrap(), Some((201, head.len(), 12)));
        assert_eq!(parse_head(&head[..20]).unwrap(), None);
        assert!(parse_head(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
    }

    #[test]
    fn percentiles_are_read_from_sorted_latencies() {
        let sample =
            Sample { latencies: (1..=1000).map(|ms| ms * 1000).collect(), ..Sample::default() };
        assert_eq!(sample.percentile(0.5), 501.0);
        assert_eq!(sample.percentile(0.99), 990.0);
        assert_eq!(Sample::default().percentile(0.5), 0.0);
    }
}
