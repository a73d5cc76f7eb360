//! Trace of a retrieval: which memories, why and how long it took; no text of the message.
//!
//! It is stored for every message, so the stored form is compact: each source is written once, and
//! the lists refer to it by its position.

use std::collections::HashMap;

use lukasa_core::context::block::{LeftOut, LineSource, PromptLine};
use lukasa_core::recall::rank::Arm;
use lukasa_store::context::Retrieval;
use serde_json::{Value, json};

use super::retrieve::{Context, ResultRanks};

/// A line of a prompt in a trace.
pub(super) fn trace_line(line: &PromptLine) -> Value {
    json!({"mark": line.mark, "source": line.source, "also": line.also, "section": line.section,
           "tokens": line.tokens, "relevance": line.relevance})
}

/// The sources of a trace, each once.
#[derive(Default)]
struct Sources<'c> {
    values: Vec<Value>,
    places: HashMap<&'c LineSource, usize>,
}

impl<'c> Sources<'c> {
    /// The position of a source.
    fn place(&mut self, source: &'c LineSource) -> usize {
        let Self { values, places } = self;
        *places.entry(source).or_insert_with(|| {
            values.push(match source {
                LineSource::Memory { fact, version } => json!([fact, version]),
                LineSource::Turn { turn, session } => json!([turn, session]),
                LineSource::Episode { episode, session } => json!([episode, session]),
            });
            values.len() - 1
        })
    }
}

/// A relevance with three decimals.
fn rounded(relevance: Option<f32>) -> Option<f64> {
    relevance.map(|r| (f64::from(r) * 1e3).round() / 1e3)
}

impl<'c> Sources<'c> {
    fn line(&mut self, line: &'c PromptLine) -> Value {
        let place = self.place(&line.source);
        let relevance = rounded(line.relevance);
        json!([place, line.mark, line.section, line.tokens, relevance, line.also])
    }

    fn left_out(&mut self, left: &'c LeftOut) -> Value {
        json!([self.place(&left.source), left.reason, rounded(left.relevance)])
    }

    fn found(&mut self, found: &'c ResultRanks) -> Value {
        let arms: Vec<String> =
            found.arms.iter().map(|(arm, rank)| format!("{} {rank}", arm.as_str())).collect();
        json!([self.place(&found.source), found.fused, found.last, arms.join(",")])
    }
}

/// The compact form of a trace.
pub(super) fn pack(context: &Context, in_session: bool, preview: bool) -> Value {
    let mut sources = Sources::default();
    let dynamic: Vec<Value> = context.dynamic.items.iter().map(|l| sources.line(l)).collect();
    let left_out = context.baseline.left_out.iter().chain(&context.dynamic.left_out);
    let left_out: Vec<Value> = left_out.map(|left| sources.left_out(left)).collect();
    let found: Vec<Value> = context.found.iter().map(|found| sources.found(found)).collect();
    // Outside of a session nothing is cached, so there is nothing to count.
    let cache =
        in_session.then(|| json!({"hits": context.cache.hits, "misses": context.cache.misses}));
    let mut trace = json!({
        "sources": sources.values,
        "dynamic": dynamic,
        "left_out": left_out,
        "budget": {"limit": context.spent.limit, "window": context.spent.window,
                   "baseline": context.spent.baseline, "dynamic": context.spent.dynamic,
                   "cost_micros": context.spent.cost_micros},
        "cache": cache,
        "found": found,
        "considered": context.considered,
        "searched": context.searched,
        "degraded": context.degraded,
        "micros": {"embed": context.took.embed, "load": context.took.load, "rank": context.took.rank,
                   "fetch": context.took.fetch, "rerank": context.took.rerank},
    });
    if preview {
        trace["preview"] = true.into();
    }
    trace
}

/// A stored retrieval with the full form of its trace.
pub(super) fn unpack(mut retrieval: Retrieval) -> Retrieval {
    let baseline = retrieval.baseline.take();
    let Some(trace) = retrieval.trace.as_object_mut() else { return retrieval };
    let Some(sources) = trace.remove("sources") else { return retrieval };
    let sources: Vec<Value> = sources.as_array().into_iter().flatten().map(source).collect();
    let at = |place: &Value| -> Value {
        let place = place.as_u64().and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| sources.get(place).cloned()).unwrap_or_default()
    };
    let line = |line: &Value| {
        json!({"source": at(&line[0]), "mark": line[1], "section": line[2], "tokens": line[3],
               "relevance": line[4], "also": line[5]})
    };
    let left =
        |left: &Value| json!({"source": at(&left[0]), "reason": left[1], "relevance": left[2]});
    let found = |found: &Value| {
        let arms = found[3].as_str().unwrap_or("").split(',').filter_map(arm);
        json!({"source": at(&found[0]), "fused_rank": found[1], "rank": found[2],
               "arms": arms.collect::<Vec<_>>()})
    };
    let mut expand = |name: &str, one: &dyn Fn(&Value) -> Value| {
        let list = trace.get(name).and_then(Value::as_array).into_iter().flatten();
        let list = list.map(one).collect();
        trace.insert(name.to_owned(), list);
    };
    expand("dynamic", &line);
    expand("left_out", &left);
    expand("found", &found);
    trace.insert("baseline".to_owned(), baseline);
    retrieval
}

/// `["mem_…", "ver_…"]`, `["trn_…", "session"]` or `["epi_…", "session"]` with names.
fn source(pair: &Value) -> Value {
    match pair[0].as_str().and_then(|id| id.split('_').next()) {
        Some("trn") => json!({"turn_id": pair[0], "session_id": pair[1]}),
        Some("epi") => json!({"episode_id": pair[0], "session_id": pair[1]}),
        _ => json!({"memory_id": pair[0], "version_id": pair[1]}),
    }
}

/// An arm and its rank, from `keyword 3`.
fn arm(text: &str) -> Option<Value> {
    let (arm, rank) = text.split_once(' ')?;
    let rank: usize = rank.parse().ok()?;
    Some(json!({"arm": Arm::parse(arm)?.as_str(), "rank": rank}))
}
