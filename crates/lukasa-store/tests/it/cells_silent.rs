//! A cell that accepts connections and does not answer, as a hung host does: its users are refused
//! soon, also if their requests are under way, and then at once; the users of other cells, workers and
//! metrics do not notice it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use lukasa_core::{Timestamp, UserId};
use lukasa_store::passage_blocks::PassageBlocks;
use lukasa_store::{Error, Store, directory, domain};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::cells::{Deployment, acme, is_upper, names, read, write};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
/// Longer than a cell is used after an answer without a probe.
const SINCE_THE_ANSWER: Duration = Duration::from_millis(1_100);
/// One request without a wait: less than a probe of a silent cell takes (1 s).
const AT_ONCE: Duration = Duration::from_millis(900);

/// Forwards connections to a database until it is frozen.
struct Proxy {
    address: SocketAddr,
    is_frozen: Arc<AtomicBool>,
    /// How many more bytes of answers are forwarded before it freezes.
    left: Arc<AtomicI64>,
}

impl Proxy {
    async fn start(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let is_frozen = Arc::new(AtomicBool::new(false));
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let (frozen, budget) = (is_frozen.clone(), left.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&target).await.unwrap();
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                tokio::spawn(forward(from_client, to_server, frozen.clone(), None));
                tokio::spawn(forward(from_server, to_client, frozen.clone(), Some(budget.clone())));
            }
        });
        Self { address, is_frozen, left }
    }

    fn freeze_after(&self, bytes: i64) {
        self.left.store(bytes, Ordering::Relaxed);
    }

    fn freeze(&self, is_frozen: bool) {
        self.is_frozen.store(is_frozen, Ordering::Relaxed);
    }
}

async fn forward(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    is_frozen: Arc<AtomicBool>,
    left: Option<Arc<AtomicI64>>,
) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(count) = from.read(&mut bytes).await {
        let size = i64::try_from(count).unwrap();
        if left.as_ref().is_some_and(|left| left.fetch_sub(size, Ordering::Relaxed) < size) {
            is_frozen.store(true, Ordering::Relaxed);
        }
        while is_frozen.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if count == 0 || to.write_all(&bytes[..count]).await.is_err() {
            break;
        }
    }
}

/// The deployment with a proxy before its second cell, and a user of each cell.
async fn behind_proxy() -> (Deployment, Proxy, String, String) {
    let deployment = Deployment::new().await;
    deployment.place_halves().await;
    let url: tokio_postgres::Config = deployment.east.url().parse().unwrap();
    let host = match &url.get_hosts()[0] {
        tokio_postgres::config::Host::Tcp(host) => host.clone(),
        tokio_postgres::config::Host::Unix(_) => panic!("the tests connect by TCP"),
    };
    let target = format!("{host}:{}", url.get_ports()[0]);
    let proxy = Proxy::start(target.clone()).await;
    deployment.list_cell(&deployment.east.url().replace(&target, &proxy.address.to_string())).await;
    let lower = names().into_iter().find(|name| !is_upper(name)).unwrap();
    let upper = names().into_iter().find(|name| is_upper(name)).unwrap();
    (deployment, proxy, lower, upper)
}

async fn at_once<T>(request: &str, work: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let result = work.await;
    assert!(started.elapsed() < AT_ONCE, "{request}: {:?}", started.elapsed());
    result
}

async fn assert_only_its_users_are_refused(store: &Store, lower: &str, upper: &str) {
    let started = Instant::now();
    let reads = (0..8).map(|_| read(store, acme(), upper));
    for refused in join_all(reads).await {
        assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    }
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    let refused = at_once("read", read(store, acme(), upper)).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    at_once("write", write(store, acme(), lower, "food")).await.unwrap();
    assert_eq!(at_once("claim_job", store.claim_job("worker", NOW)).await.unwrap(), None);
    assert_eq!(at_once("claim_erasure", store.claim_erasure(NOW, NOW)).await.unwrap(), None);
    at_once("lane_backlogs", store.lane_backlogs(NOW)).await.unwrap();
    at_once("erasure_backlog", store.erasure_backlog()).await.unwrap();
    assert_eq!(store.cells_up(), [("east".to_owned(), false)]);
    assert!(store.is_ready().await.unwrap());
}

#[tokio::test]
async fn silent_cell_at_start_concerns_its_own_users_only() {
    let (deployment, proxy, lower, upper) = behind_proxy().await;
    proxy.freeze(true);
    assert_only_its_users_are_refused(&deployment.main.store(), &lower, &upper).await;
}

#[tokio::test]
async fn cell_that_becomes_silent_concerns_its_own_users_only_and_is_used_again() {
    let (deployment, proxy, lower, upper) = behind_proxy().await;
    let store = deployment.main.store();
    write(&store, acme(), &upper, "travel").await.unwrap();
    proxy.freeze(true);
    tokio::time::sleep(SINCE_THE_ANSWER).await;
    assert_only_its_users_are_refused(&store, &lower, &upper).await;
    proxy.freeze(false);
    let deadline = Instant::now() + Duration::from_secs(10);
    while let Err(error) = read(&store, acme(), &upper).await {
        assert!(Instant::now() < deadline, "{error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(read(&store, acme(), &upper).await.unwrap(), ["travel"]);
}

#[tokio::test]
async fn work_in_an_unresponsive_cell_fails_fast() {
    let (deployment, proxy, lower, upper) = behind_proxy().await;
    let store = deployment.main.store();
    write(&store, acme(), &upper, "travel").await.unwrap();
    let user = UserId::named(acme(), &upper);
    let opening = store.read(acme(), user).await.unwrap();
    let reading = store.read(acme(), user).await.unwrap();
    directory::me(&reading).await.unwrap();
    let writing = store.write(acme(), user).await.unwrap();
    domain::open(&writing, "food", NOW).await.unwrap();
    proxy.freeze(true);
    let started = Instant::now();
    let (opened, read, committed) = tokio::time::timeout(Duration::from_secs(20), async {
        tokio::join!(directory::me(&opening), directory::me(&reading), writing.commit())
    })
    .await
    .expect("the requests are answered");
    assert!(matches!(opened, Err(Error::Unavailable(_))), "{opened:?}");
    assert!(matches!(read, Err(Error::Unavailable(_))), "{read:?}");
    assert!(matches!(committed, Err(Error::Unavailable(_))), "{committed:?}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    write(&store, acme(), &lower, "food").await.unwrap();
    assert_eq!(store.cells_up(), [("east".to_owned(), false)]);
}

/// Bytes of the passages of a user with many.
const PASSAGE_BYTES: i64 = 1_500 * 1_000;

#[tokio::test]
async fn rows_that_arrive_from_an_unresponsive_cell_are_given_up() {
    let (deployment, proxy, _, upper) = behind_proxy().await;
    let store = deployment.main.store();
    write(&store, acme(), &upper, "travel").await.unwrap();
    let user = UserId::named(acme(), &upper);
    let passages = "insert into passage (user_id, tenant_id, source_id, part, subject_id, kind, \
                      revision, analyzer, language, words, terms, content_hash) \
                    select $1, $2, gen_random_uuid(), 0, gen_random_uuid(), 'fact', number, 1, \
                      'en', 1, decode(repeat('00', 1500), 'hex'), 'hash' \
                      from generate_series(1, 1000) as number";
    deployment.east.leave_unchecked();
    let admin = deployment.east.admin().await;
    admin.execute(passages, &[&user.uuid(), &acme().uuid()]).await.unwrap();
    let scope = store.read(acme(), user).await.unwrap();
    directory::me(&scope).await.unwrap();
    proxy.freeze_after(PASSAGE_BYTES / 3);
    let mut blocks = PassageBlocks::open(&scope, None).await.unwrap();
    let first = blocks.next(&scope, 1).await.unwrap();
    assert_eq!(first.len(), 1);
    let started = Instant::now();
    let rest = tokio::time::timeout(Duration::from_secs(20), blocks.next(&scope, 1_000)).await;
    let rest = rest.expect("the rows are given up");
    assert!(matches!(rest, Err(Error::Unavailable(_))), "{rest:?}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(store.cells_up(), [("east".to_owned(), false)]);
    // The connection still waits for its rows and must not be used again.
    drop((blocks, scope));
    proxy.freeze_after(i64::MAX);
    proxy.freeze(false);
    let deadline = Instant::now() + Duration::from_secs(10);
    while let Err(error) = read(&store, acme(), &upper).await {
        assert!(Instant::now() < deadline, "{error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn work_in_a_busy_cell_is_waited_for() {
    let (deployment, _proxy, _, upper) = behind_proxy().await;
    let store = deployment.main.store();
    write(&store, acme(), &upper, "travel").await.unwrap();
    // Longer than the cell is used without a probe: the user's lock is held.
    let (high, _) = UserId::named(acme(), &upper).uuid().as_u64_pair();
    let holder = deployment.east.admin().await;
    let hold = format!("begin; select pg_advisory_xact_lock({})", high.cast_signed());
    holder.batch_execute(&hold).await.unwrap();
    let release = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        holder.batch_execute("rollback").await.unwrap();
    };
    let started = Instant::now();
    let (written, ()) = tokio::join!(write(&store, acme(), &upper, "food"), release);
    written.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(3), "{:?}", started.elapsed());
    assert_eq!(store.cells_up(), [("east".to_owned(), true)]);
    assert_eq!(read(&store, acme(), &upper).await.unwrap(), ["food", "travel"]);
}

#[tokio::test]
async fn new_url_of_a_cell_is_used_without_a_restart() {
    let (deployment, proxy, lower, upper) = behind_proxy().await;
    let store = deployment.main.store();
    write(&store, acme(), &upper, "travel").await.unwrap();
    proxy.freeze(true);
    tokio::time::sleep(SINCE_THE_ANSWER).await;
    deployment.list_cell(&deployment.east.url()).await;
    let deadline = Instant::now() + Duration::from_secs(20);
    while let Err(error) = read(&store, acme(), &upper).await {
        assert!(Instant::now() < deadline, "{error}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    write(&store, acme(), &lower, "travel").await.unwrap();
}
