//! Metrics for Prometheus, on a listener of their own: counts and times of requests, recall, jobs
//! and models, and gauges of pools, queues and caches, which are read when they are asked for.
//!
//! Labels are words of this program only. A path is recorded as its route, because a path can
//! contain text of a memory.

mod process;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::extract::State;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use clap::Args;
use lukasa_engine::Engine;
use lukasa_engine::jobs::Lane;
use lukasa_engine::telemetry::Backlogs;
use metrics::{Label, counter, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::clock;
use crate::listen::{self, ListenLimits};
use crate::version;

/// Upper bounds of the histograms of times, in seconds.
const SECONDS: [f64; 17] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 120.0,
    300.0, 600.0,
];
/// How often recorded times are summed up between requests for them.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);
/// How long a request for metrics waits for the database.
const BACKLOG_TIMEOUT: Duration = Duration::from_secs(3);
/// Open connections to the listener of metrics.
const MAX_CONNECTIONS: usize = 16;
/// Why a round of the gateway is not recorded: too many wait, the database does not answer, the engine
/// refuses it, or the server stops.
const LOST_ROUNDS: [&str; 4] = ["queue_full", "unavailable", "refused", "shutdown"];
/// The route label of requests that match no route, such as files of the console.
pub const NO_ROUTE: &str = "none";

/// Settings of metrics.
#[derive(Debug, Clone, Default, Args)]
pub struct MetricsSettings {
    /// Serve metrics for Prometheus at `http://ADDRESS/metrics`, without authentication
    #[arg(long, env = "LUKASA_METRICS_LISTEN", value_name = "ADDRESS")]
    metrics_listen: Option<SocketAddr>,
}

impl MetricsSettings {
    /// Starts to record and to serve metrics, if an address is set; returns the address.
    pub async fn start(&self, engine: &Engine) -> anyhow::Result<Option<SocketAddr>> {
        let Self { metrics_listen } = self;
        let Some(address) = metrics_listen else { return Ok(None) };
        let recorder = MetricsRecorder::install()?;
        let listener = tokio::net::TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address} for metrics"))?;
        let address = listener.local_addr()?;
        tracing::info!(%address, "serving metrics");
        let router = recorder.router(engine.clone());
        let limits = ListenLimits::of_connections(MAX_CONNECTIONS);
        tokio::spawn(listen::serve(listener, router, limits, std::future::pending()));
        Ok(Some(address))
    }
}

/// The recorder of this process.
#[derive(Clone)]
pub struct MetricsRecorder(PrometheusHandle);

impl MetricsRecorder {
    /// Makes every part of this process record its metrics. Works once per process.
    pub fn install() -> anyhow::Result<Self> {
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?;
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder).context("metrics are recorded already")?;
        describe();
        let (version, commit) = (env!("CARGO_PKG_VERSION"), version::commit());
        gauge!("lukasa_build_info", "version" => version, "commit" => commit).set(1.0);
        // An increase is visible only from a value on.
        for reason in LOST_ROUNDS {
            record_lost_rounds(reason, 0);
        }
        let upkeep = handle.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(UPKEEP_INTERVAL).await;
                upkeep.run_upkeep();
            }
        });
        Ok(Self(handle))
    }

    /// The router of the listener of metrics.
    pub fn router(self, engine: Engine) -> Router {
        Router::new().route("/metrics", get(serve)).with_state((self, engine))
    }
}

async fn serve(State((recorder, engine)): State<(MetricsRecorder, Engine)>) -> Response {
    let read = tokio::time::timeout(BACKLOG_TIMEOUT, engine.backlogs(clock::now())).await;
    // Without the database the rest is still worth serving.
    match read {
        Ok(Ok(backlogs)) => {
            set_gauges(&backlogs);
            gauge!("lukasa_database_up").set(1.0);
        }
        Ok(Err(_)) | Err(_) => gauge!("lukasa_database_up").set(0.0),
    }
    let text = tokio::task::spawn_blocking(move || {
        process::set_gauges();
        recorder.0.render()
    });
    let text = text.await;
    match text {
        Ok(text) => ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn set_gauges(backlogs: &Backlogs) {
    for pool in &backlogs.pools {
        let mut labels = vec![Label::new("pool", pool.pool)];
        labels.extend(pool.cell.clone().map(|cell| Label::new("cell", cell)));
        let of = |name: &'static str| gauge!(name, labels.clone());
        of("lukasa_pool_connections_used").set(pool.used as f64);
        of("lukasa_pool_connections_limit").set(pool.limit as f64);
        of("lukasa_pool_waiting").set(pool.waiting as f64);
    }
    for (cell, is_up) in &backlogs.cells_up {
        gauge!("lukasa_cell_up", "cell" => cell.clone()).set(f64::from(u8::from(*is_up)));
    }
    let now = clock::now();
    let age = |since: Option<lukasa_core::Timestamp>| {
        since.map_or(0.0, |since| now.duration_since(since).as_secs_f64().max(0.0))
    };
    for lane in Lane::ALL {
        let found = backlogs.lanes.iter().find(|one| one.lane == lane.as_str());
        let (due, dead) = found.map_or((0, 0), |one| (one.due, one.dead));
        let oldest = age(found.and_then(|one| one.due_since));
        gauge!("lukasa_queue_due", "lane" => lane.as_str()).set(due as f64);
        gauge!("lukasa_queue_oldest_seconds", "lane" => lane.as_str()).set(oldest);
        gauge!("lukasa_queue_failed", "lane" => lane.as_str()).set(dead as f64);
    }
    gauge!("lukasa_erasures_unfinished").set(backlogs.erasures.unfinished as f64);
    gauge!("lukasa_erasure_lag_seconds").set(age(backlogs.erasures.since));
    gauge!("lukasa_erasures_unscrubbed").set(backlogs.erasures.unscrubbed as f64);
    gauge!("lukasa_index_bytes").set(backlogs.index_bytes as f64);
    gauge!("lukasa_indexes").set(backlogs.indexes as f64);
}

/// The name of a method as a label. A client can send any word as a method.
pub fn method_name(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "get",
        "POST" => "post",
        "PUT" => "put",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "other",
    }
}

/// Records a request that was answered.
pub fn record_request(method: &Method, route: Option<&str>, status: StatusCode, took: Duration) {
    let method = method_name(method);
    let route = route.unwrap_or(NO_ROUTE).to_owned();
    let status = status.as_str().to_owned();
    counter!("lukasa_http_requests_total",
        "method" => method, "route" => route.clone(), "status" => status)
    .increment(1);
    histogram!("lukasa_http_request_seconds", "method" => method, "route" => route)
        .record(took.as_secs_f64());
}

/// Records rounds of the gateway that are not in the memory, by the reason.
pub fn record_lost_rounds(reason: &'static str, rounds: usize) {
    counter!("lukasa_gateway_rounds_lost_total", "reason" => reason).increment(rounds as u64);
}

fn describe() {
    use metrics::{describe_counter, describe_gauge, describe_histogram};
    describe_counter!("lukasa_http_requests_total", "Requests by method, route and status");
    describe_histogram!("lukasa_http_request_seconds", "Time until the head of the response");
    describe_counter!("lukasa_recalls_total", "Searches of memories and turns");
    describe_histogram!("lukasa_recall_stage_seconds", "Time of a stage of a search");
    describe_counter!("lukasa_degraded_total", "Answers that were made without a part");
    describe_counter!(
        "lukasa_retrieval_log_dropped_total",
        "Records of retrievals that were left out"
    );
    describe_counter!("lukasa_index_loads_total", "Indexes of users that were loaded whole");
    describe_counter!("lukasa_admissions_total", "Decisions about claims to be written");
    describe_counter!("lukasa_jobs_total", "Jobs that ended");
    describe_histogram!("lukasa_job_seconds", "Time of a job");
    describe_counter!("lukasa_model_calls_total", "Calls of chat models by purpose and outcome");
    describe_counter!("lukasa_model_tokens_total", "Tokens of chat models");
    describe_histogram!("lukasa_model_call_seconds", "Time of a call of a chat model");
    describe_counter!("lukasa_memories_removed_total", "Memories that were permanently removed");
    describe_counter!("lukasa_gateway_rounds_lost_total", "Rounds of the gateway not recorded");
    describe_gauge!("lukasa_pool_connections_used", "Database connections in use");
    describe_gauge!("lukasa_pool_connections_limit", "Most database connections of a pool");
    describe_gauge!("lukasa_pool_waiting", "Callers that wait for a database connection");
    describe_gauge!("lukasa_cell_up", "Whether a cell answered when it was last asked");
    describe_gauge!("lukasa_queue_due", "Jobs of all servers that are due");
    describe_gauge!("lukasa_queue_oldest_seconds", "How long the oldest due job has waited");
    describe_gauge!("lukasa_queue_failed", "Jobs of all servers that failed for good");
    describe_gauge!("lukasa_erasures_unfinished", "Erasures of users that are not finished");
    describe_gauge!("lukasa_erasure_lag_seconds", "How long the oldest of them has taken");
    describe_gauge!("lukasa_erasures_unscrubbed", "Erasures whose data may still be in the files");
    describe_gauge!("lukasa_index_bytes", "Memory of the cached indexes of users");
    describe_gauge!("lukasa_indexes", "Cached indexes of users");
    describe_gauge!("lukasa_database_up", "Whether the database answered this request");
    describe_gauge!("lukasa_build_info", "The version and the commit of this server");
    process::describe();
}
