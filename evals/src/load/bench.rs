//! The measurement: each operation through HTTP and, right after it, bare.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio_postgres::Client;

use super::bare::{Pgbench, meter};
use super::cpu::{self, Cores, Watch};
use super::http::{Ask, Press, Sample, Wire, press};
use super::life::tenant;
use super::operation::{Asking, Operation, Target, targets};
use super::recorder::{Recorder, Statement, Trace};
use super::report::{Cell, Growth, Side, StatementCounts, thousands};
use super::script::{Recorded, TARGETS, Template, template};
use super::words::Vocabulary;
use crate::processes::{Cluster, Serve, Server, connect};

/// How often small and large databases alternate.
const ROUNDS: u64 = 3;

pub struct Bench {
    pub program: PathBuf,
    pub database: String,
    pub admin: Client,
    pub postmaster: u32,
    pub pool: usize,
    /// Log filter of the server.
    pub filter: String,
    /// Folder for logs and scripts.
    pub dir: PathBuf,
    pub lasting: Duration,
    pub warm_up: Duration,
    pub vocabulary: Arc<Vocabulary>,
    pub serial: Arc<AtomicU64>,
    pub rng: StdRng,
}

/// A request as recorded on its way to PostgreSQL.
pub struct RecordedRequest {
    pub operation: Operation,
    pub template: Template,
    pub sent: StatementCounts,
    /// The user and memory it was about.
    pub target: Target,
}

impl Bench {
    pub async fn new(
        cluster: &Cluster,
        database: &str,
        program: PathBuf,
        dir: PathBuf,
        seed: u64,
    ) -> Result<Self> {
        let url = cluster.url(database);
        let admin = connect(&url).await?;
        let pid: i32 = admin.query_one("select pg_backend_pid()", &[]).await?.get(0);
        let postmaster = cpu::parent(pid.cast_unsigned()).unwrap_or(0);
        // No content of an earlier run is written again.
        let serial: i64 =
            admin.query_one("select (extract(epoch from now()) * 1000)::int8", &[]).await?.get(0);
        Ok(Self {
            program,
            database: url,
            admin,
            postmaster,
            pool: 16,
            filter: "info".into(),
            dir,
            lasting: Duration::from_secs(10),
            warm_up: Duration::from_secs(1),
            vocabulary: Arc::new(Vocabulary::new(seed)),
            serial: Arc::new(AtomicU64::new(serial.cast_unsigned() * 1_000_000)),
            rng: StdRng::seed_from_u64(seed),
        })
    }

    pub async fn serve(&self, database: &str, auth: &str, pool: usize) -> Result<Server> {
        let log = self.dir.join("server.log");
        Server::start(&Serve {
            program: &self.program,
            database,
            auth,
            pool,
            migrate: false,
            models: None,
            filter: &self.filter,
            log: &log,
        })
        .await
    }

    fn asking(&self, operation: Operation, targets: Vec<Target>, secret: Option<&str>) -> Asking {
        Asking {
            operation,
            targets: Arc::new(targets),
            secret: secret.map(str::to_owned),
            vocabulary: self.vocabulary.clone(),
            serial: self.serial.clone(),
        }
    }

    /// Loads the record into PostgreSQL's cache, as far as it fits: the most used tables first.
    pub async fn prewarm(&self) -> Result<()> {
        const SQL: &str = "select coalesce(sum(pg_prewarm(c.oid::regclass)), 0)::int8 from ( \
              select c.oid from pg_class c left join pg_index i on i.indexrelid = c.oid \
               where coalesce(i.indrelid, c.oid) in \
                     ('fact_version'::regclass, 'operation'::regclass, 'fact'::regclass, \
                      'users'::regclass) \
               order by c.relkind = 'r', c.oid) c";
        self.admin.batch_execute("create extension if not exists pg_prewarm").await?;
        self.admin.query_one(SQL, &[]).await.context("prewarm")?;
        self.admin.batch_execute("vacuum (analyze)").await?;
        self.admin.batch_execute("checkpoint").await?;
        Ok(())
    }

    /// Records one request of each operation.
    pub async fn listen(
        &mut self,
        port: u16,
        operations: &[Operation],
    ) -> Result<Vec<RecordedRequest>> {
        let recorder = Recorder::start(SocketAddr::from(([127, 0, 0, 1], port))).await?;
        let database =
            self.database.replace(&format!(":{port}/"), &format!(":{}/", recorder.address.port()));
        // One connection, so that everything is prepared on it once and recorded in order.
        let server = self.serve(&database, "off", 2).await?;
        let mut wire = Wire::connect(server.address).await?;
        let millis: String = self
            .admin
            .query_one(
                "select lpad(to_hex((extract(epoch from now()) * 1000)::int8), 12, '0')",
                &[],
            )
            .await?
            .get(0);
        let mut recorded_requests = Vec::new();
        for &operation in operations {
            let drawn = targets(&self.admin, operation.is_heavy(), 1, &mut self.rng).await?;
            let target = drawn.into_iter().next().context("no target to ask about")?;
            let asking = self.asking(operation, Vec::new(), None);
            let (mut trace, mut outcome) = (Trace::new(), String::new());
            // The first request prepares; the two after it must send the same.
            for round in 0..3 {
                let (mut request, mut expected) = (Vec::new(), Vec::new());
                asking.request(&target, &mut self.rng, &mut request, &mut expected);
                let answer = wire.ask(&request).await?;
                outcome = String::from_utf8_lossy(wire.body(&answer)).into_owned();
                ensure!(answer.status < 300, "{}: {outcome}", operation.name());
                tokio::time::sleep(Duration::from_millis(100)).await;
                let again = until_the_end(recorder.take());
                ensure!(
                    round < 2 || shape(&again) == shape(&trace),
                    "{} sends varying statements:\n{trace:#?}\n{again:#?}",
                    operation.name()
                );
                trace = again;
            }
            let recorded = Recorded {
                operation,
                target: &target,
                tenant: &tenant().uuid().to_string(),
                millis: &millis,
                outcome: &outcome,
                sentence: &self.vocabulary.sentence(&mut self.rng),
            };
            let template = template(&trace, &recorded).context(operation.name())?;
            let sent = StatementCounts {
                operation,
                round_trips: trace.len(),
                statements: template.flights.iter().map(|(flight, _)| flight.len()).sum(),
            };
            recorded_requests.push(RecordedRequest { operation, template, sent, target });
        }
        Ok(recorded_requests)
    }

    /// The targets of one side of a cell.
    async fn drawn(&mut self, operation: Operation) -> Result<Vec<Target>> {
        targets(&self.admin, operation.is_heavy(), TARGETS, &mut self.rng).await
    }

    fn how(&mut self, clients: usize) -> Press {
        Press { clients, warm_up: self.warm_up, lasting: self.lasting, seed: self.rng.random() }
    }

    /// Many clients at one server.
    pub async fn http(
        &mut self,
        server: &Server,
        operation: Operation,
        clients: usize,
        targets: Vec<Target>,
        secret: Option<&str>,
    ) -> Result<(Sample, Option<Cores>)> {
        let how = self.how(clients);
        let ask: Arc<dyn Ask> = Arc::new(self.asking(operation, targets, secret));
        let address = server.address;
        let watch = Watch {
            server: Some(server.pid()),
            postmaster: self.postmaster,
            client: std::process::id(),
        };
        let crowd = tokio::task::spawn_blocking(move || press(address, &ask, how));
        let (sample, cores) = tokio::join!(crowd, meter(watch, how.warm_up, how.lasting));
        Ok((sample.context("the crowd")??, cores))
    }

    async fn wal(&self) -> Result<Wal> {
        let sql = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8";
        Ok(Wal(self.admin.query_one(sql, &[]).await?.get(0)))
    }

    /// One operation with one number of clients, both ways.
    pub async fn cell(
        &mut self,
        server: &Server,
        pgbench: &Pgbench,
        recorded_request: &RecordedRequest,
        clients: usize,
        secret: &str,
    ) -> Result<Cell> {
        let operation = recorded_request.operation;
        let mut drawn = self.drawn(operation).await?;
        let before = self.wal().await?;
        let (sample, cores) =
            self.http(server, operation, clients, drawn.clone(), Some(secret)).await?;
        let mut http = Side::new(&sample, cores);
        http.wal_bytes = self.wal().await?.each(before, &sample, self.warm_up);
        if operation.is_write() {
            // The bare side must not get the rows that HTTP has just written.
            drawn = self.drawn(operation).await?;
        }
        let scripts = recorded_request.template.scripts(operation, &drawn);
        let how = self.how(clients);
        let before = self.wal().await?;
        let (sample, cores) =
            pgbench.run(&scripts, how).await.with_context(|| operation.name().to_owned())?;
        let mut bare = Side::new(&sample, cores);
        bare.wal_bytes = self.wal().await?.each(before, &sample, self.warm_up);
        let ratio = http.per_second / bare.per_second;
        eprintln!(
            "{:<10} {clients:>3} clients: HTTP {:>7}/s p99 {:>6.2} ms, bare {:>7}/s p99 {:>6.2} ms, \
             ratio {ratio:.2}",
            operation.name(),
            thousands(http.per_second),
            http.p99_ms,
            thousands(bare.per_second),
            bare.p99_ms,
        );
        Ok(Cell { operation, clients, http, bare, ratio })
    }

    /// The same request to a small and to a large database, in turn.
    pub async fn growth(
        &mut self,
        sides: [(&Server, &Client, &str); 2],
        users: [u32; 2],
        operation: Operation,
        clients: usize,
    ) -> Result<Growth> {
        let mut drawn = Vec::new();
        for (_, admin, _) in sides {
            drawn.push(targets(admin, false, TARGETS, &mut self.rng).await?);
        }
        let mut all = [(Sample::default(), None), (Sample::default(), None)];
        for _ in 0..ROUNDS {
            for (number, (server, _, secret)) in sides.into_iter().enumerate() {
                let targets = drawn[number].clone();
                let (sample, cores) =
                    self.http(server, operation, clients, targets, Some(secret)).await?;
                all[number].0.merge(sample);
                all[number].1 = cores;
            }
        }
        let [small, large] = all.map(|(mut sample, cores)| {
            sample.latencies.sort_unstable();
            Side::new(&sample, cores)
        });
        eprintln!(
            "{:<10} {clients:>3} clients: p99 {:.2} ms with {} users, {:.2} ms with {}",
            operation.name(),
            small.p99_ms,
            thousands(f64::from(users[0])),
            large.p99_ms,
            thousands(f64::from(users[1])),
        );
        Ok(Growth {
            operation,
            clients,
            small_users: users[0],
            large_users: users[1],
            p50_ratio: large.p50_ms / small.p50_ms,
            p99_ratio: large.p99_ms / small.p99_ms,
            small,
            large,
        })
    }
}

/// Bytes ever written to the WAL.
#[derive(Clone, Copy)]
struct Wal(f64);

impl Wal {
    /// WAL per request of a sample since `before`, including the warm-up.
    fn each(self, before: Wal, sample: &Sample, warm_up: Duration) -> f64 {
        let requests = sample.per_second() * (sample.seconds + warm_up.as_secs_f64());
        (self.0 - before.0) / requests.max(1.0)
    }
}

/// The trace up to the end of the transaction. What follows is done after the response, and may be
/// recorded with it or not.
fn until_the_end(mut trace: Trace) -> Trace {
    let ends = |text: &str| ["commit", "rollback"].contains(&text.to_lowercase().as_str());
    let last = trace.iter().rposition(|flight| {
        flight.iter().any(|one| matches!(one, Statement::Plain(text) if ends(text)))
    });
    if let Some(last) = last {
        trace.truncate(last + 1);
    }
    trace
}

/// A trace without the values that differ between requests.
fn shape(trace: &Trace) -> Vec<Vec<&str>> {
    let text = |statement| match statement {
        &Statement::Plain(_) => "plain",
        Statement::Prepared(sql) => sql.as_str(),
    };
    trace.iter().map(|flight| flight.iter().map(text).collect()).collect()
}
