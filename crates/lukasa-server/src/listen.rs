//! The accept loop: HTTP/1 connections with a cap on how many are open, a time limit for headers, one
//! for idle connections and one for clients that do not read, and a graceful stop.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Request, Response};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use crate::api::PeerAddress;
use crate::api::limits::network_of;

/// The response to a connection beyond the limit.
const TOO_MANY_CONNECTIONS: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\
connection: close\r\n\r\n";
/// Largest accepted size of a request's headers.
const MAX_HEADER_BYTES: usize = 64 * 1024;
/// How long to wait before accepting again when the process has no descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The limits of connections.
#[derive(Debug, Clone, Copy)]
pub struct ListenLimits {
    /// Open connections; 0 means no limit.
    pub max_connections: usize,
    /// Open connections from one address other than this machine's; 0 means no limit.
    pub max_address_connections: usize,
    /// How long the headers of a request may take.
    pub header_timeout: Duration,
    /// How long a connection may wait for its next request.
    pub idle_timeout: Duration,
    /// How long a client may not read what is sent to it.
    pub write_timeout: Duration,
}

impl ListenLimits {
    pub fn of_connections(max_connections: usize) -> Self {
        Self {
            max_connections,
            max_address_connections: 0,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(60),
        }
    }
}

/// Serves a router until `stop` is done, then waits for the requests under way.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ListenLimits,
    stop: impl Future<Output = ()>,
) {
    let max_connections = match limits.max_connections {
        0 => Semaphore::MAX_PERMITS,
        some => some.min(Semaphore::MAX_PERMITS),
    };
    let open = Arc::new(Semaphore::new(max_connections));
    let by_address = OpenConnections::default();
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let permit = Arc::clone(&open).try_acquire_owned().ok();
        let counted = by_address.open(peer.ip(), limits.max_address_connections);
        let (Some(permit), Some(counted)) = (permit, counted) else {
            // Best effort: the connection is closed whether or not the response could be written.
            let _ = stream.try_write(TOO_MANY_CONNECTIONS);
            continue;
        };
        // Answers are single small writes; waiting to fill a packet only adds latency.
        let _ = stream.set_nodelay(true);
        let connection = connect(stream, peer, router.clone(), limits);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended");
            }
            drop((permit, counted));
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

/// Counts of open connections by address. An address without one is not listed.
#[derive(Clone, Default)]
struct OpenConnections(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A connection that counts as open until this is dropped; without an address if it is not counted.
struct OpenConnection {
    address: Option<IpAddr>,
    counts: OpenConnections,
}

impl OpenConnections {
    /// Counts one more connection from this address; `None` if it has as many as it may have.
    fn open(&self, ip: IpAddr, most: usize) -> Option<OpenConnection> {
        if most == 0 || ip.to_canonical().is_loopback() {
            return Some(OpenConnection { address: None, counts: self.clone() });
        }
        let address = network_of(ip);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(OpenConnection { address: Some(address), counts: self.clone() })
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut counts = self.counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&address);
            }
        }
    }
}

/// Whether a connection has a request under way.
type Busy = Arc<AtomicBool>;

fn connect(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    limits: ListenLimits,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    let busy = Busy::default();
    let io = TokioIo::new(TimedStream::new(stream, Arc::clone(&busy), limits));
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let under_way = UnderWay::begin(&busy);
        request.extensions_mut().insert(PeerAddress(peer));
        let answer = router.call(request);
        async move {
            let response: Response<Body> = answer.await?;
            Ok::<_, Infallible>(response.map(|body| HoldingBody::wrap(body, under_way)))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        // The idle limit: hyper starts this timer as soon as it waits for the next request.
        .header_read_timeout(limits.idle_timeout)
        .max_buf_size(MAX_HEADER_BYTES);
    http.serve_connection(io, service)
}

/// Marks a connection as busy until the response's body is sent or dropped.
struct UnderWay(Busy);

impl UnderWay {
    fn begin(busy: &Busy) -> Self {
        busy.store(true, Ordering::Release);
        Self(Arc::clone(busy))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// A response's body that holds a value until it is sent or dropped.
pub(crate) struct HoldingBody<T> {
    body: Body,
    _held: T,
}

impl<T: Send + Unpin + 'static> HoldingBody<T> {
    pub(crate) fn wrap(body: Body, held: T) -> Body {
        Body::new(Self { body, _held: held })
    }
}

impl<T: Unpin> HttpBody for HoldingBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What a connection that is not busy waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Request,
    Headers,
}

/// A connection that fails with `TimedOut` when its client takes too long.
struct TimedStream {
    stream: TcpStream,
    busy: Busy,
    limits: ListenLimits,
    waiting: Option<Waiting>,
    read_deadline: Pin<Box<Sleep>>,
    write_deadline: Option<Pin<Box<Sleep>>>,
}

impl TimedStream {
    fn new(stream: TcpStream, busy: Busy, limits: ListenLimits) -> Self {
        // The first request of a connection has the header timeout, not the idle timeout.
        let read_deadline = Box::pin(sleep_until(Instant::now() + limits.header_timeout));
        let waiting = Some(Waiting::Headers);
        Self { stream, busy, limits, waiting, read_deadline, write_deadline: None }
    }

    fn wait_for(&mut self, what: Waiting) {
        let limit = match what {
            Waiting::Request => self.limits.idle_timeout,
            Waiting::Headers => self.limits.header_timeout,
        };
        self.waiting = Some(what);
        self.read_deadline.as_mut().reset(Instant::now() + limit);
    }

    /// The outcome of a write, or a timeout if it has made no progress for too long.
    fn watch_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.write_deadline = None;
            return outcome;
        }
        let limit = self.limits.write_timeout;
        let deadline = self.write_deadline.get_or_insert_with(|| Box::pin(sleep(limit)));
        match deadline.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut this.stream).poll_read(cx, buffer);
        if this.busy.load(Ordering::Acquire) {
            // Reading the body has its own limit.
            this.waiting = None;
            return outcome;
        }
        if this.waiting.is_none() {
            this.wait_for(Waiting::Request);
        }
        match outcome {
            Poll::Ready(Ok(())) => {
                if buffer.filled().len() > before && this.waiting == Some(Waiting::Request) {
                    this.wait_for(Waiting::Headers);
                }
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => match this.read_deadline.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch_write(cx, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, buffers);
        self.watch_write(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_connections_are_limited_by_address() {
        let open = OpenConnections::default();
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let one = open.open(ip("192.0.2.1"), 2).unwrap();
        let two = open.open(ip("::ffff:192.0.2.1"), 2).unwrap();
        assert!(open.open(ip("192.0.2.1"), 2).is_none());
        let other = open.open(ip("192.0.2.2"), 2).unwrap();
        let home: Vec<_> = (0..5).map(|_| open.open(ip("127.0.0.1"), 2).unwrap()).collect();
        let free: Vec<_> = (0..5).map(|_| open.open(ip("192.0.2.1"), 0).unwrap()).collect();
        drop(one);
        let one = open.open(ip("192.0.2.1"), 2).unwrap();
        drop((one, two, other, home, free));
        assert!(open.0.lock().unwrap().is_empty());
    }
}
