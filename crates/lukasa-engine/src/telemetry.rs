//! Metrics and traces of the engine's work. Labels and attributes are words of this program only: no
//! user, tenant, session, model name or text is ever one. Without a recorder in the process, recording
//! costs nothing.

use lukasa_core::admission::Writer;
use lukasa_core::model::{CallPurpose, TokensUsed};
use lukasa_core::recall::Degraded;
use metrics::{counter, histogram};
use tracing::{Span, trace_span};

pub use lukasa_store::TRACE_TARGET;

/// The work that is under way or waiting, for the gauges of a scrape.
#[derive(Debug, Clone, PartialEq)]
pub struct Backlogs {
    pub pools: Vec<lukasa_store::PoolUsage>,
    pub lanes: Vec<lukasa_store::health::LaneBacklog>,
    pub erasures: lukasa_store::health::ErasureBacklog,
    /// Whether each cell other than main can be reached.
    pub cells_up: Vec<(String, bool)>,
    /// Bytes and number of the cached indexes of users.
    pub index_bytes: u64,
    pub indexes: u64,
}

/// The span of a retrieval.
pub(crate) fn retrieval_span() -> Span {
    trace_span!(target: TRACE_TARGET, "retrieve")
}

/// The span of a stage of a recall.
pub(crate) fn stage_span(stage: &'static str) -> Span {
    trace_span!(target: TRACE_TARGET, "recall.stage", stage)
}

/// The span of a job.
pub(crate) fn job_span(kind: &'static str) -> Span {
    trace_span!(target: TRACE_TARGET, "job", kind)
}

/// The span of a call of a chat model.
pub(crate) fn model_span(purpose: CallPurpose) -> Span {
    trace_span!(target: TRACE_TARGET, "model.call", purpose = purpose.as_str())
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// Records one recall: whether it was cached, the microseconds of each stage, and what was skipped.
pub(crate) fn record_recall(cached: bool, stages: &[(&'static str, u64)], degraded: &[Degraded]) {
    counter!("lukasa_recalls_total", "cached" => if cached { "yes" } else { "no" }).increment(1);
    for (stage, micros) in stages.iter().filter(|_| !cached) {
        histogram!("lukasa_recall_stage_seconds", "stage" => *stage).record(seconds(*micros));
    }
    for part in degraded {
        record_degraded(*part);
    }
}

/// Records an answer that was made without a part.
pub(crate) fn record_degraded(part: Degraded) {
    counter!("lukasa_degraded_total", "part" => part.as_str()).increment(1);
}

/// Records that a retrieval is not in the log, because too many wait to be written.
pub(crate) fn record_retrieval_log_dropped() {
    counter!("lukasa_retrieval_log_dropped_total").increment(1);
}

/// Records that a user's index was loaded, from the primary or from a standby.
pub(crate) fn record_index_load(source: &'static str) {
    counter!("lukasa_index_loads_total", "source" => source).increment(1);
}

/// Records an admission decision.
pub(crate) fn record_admission(writer: Writer, decision: &'static str) {
    counter!("lukasa_admissions_total", "writer" => writer.as_str(), "decision" => decision)
        .increment(1);
}

/// Records a job that ended.
pub(crate) fn record_job(kind: &'static str, result: &'static str, micros: u64) {
    counter!("lukasa_jobs_total", "kind" => kind, "result" => result).increment(1);
    histogram!("lukasa_job_seconds", "kind" => kind).record(seconds(micros));
}

/// Records a call of a chat model.
pub(crate) fn record_model_call(
    purpose: CallPurpose,
    outcome: &'static str,
    tokens: TokensUsed,
    micros: u64,
) {
    let purpose = purpose.as_str();
    counter!("lukasa_model_calls_total", "purpose" => purpose, "outcome" => outcome).increment(1);
    let sides = [("input", tokens.input), ("output", tokens.output)];
    for (side, tokens) in sides {
        counter!("lukasa_model_tokens_total", "side" => side).increment(u64::from(tokens));
    }
    histogram!("lukasa_model_call_seconds", "purpose" => purpose).record(seconds(micros));
}

/// Records memories that were permanently removed.
pub(crate) fn record_removal(verb: &'static str, memories: usize) {
    counter!("lukasa_memories_removed_total", "verb" => verb).increment(memories as u64);
}
