//! Trace of a retrieval: which memories, why and how long it took; no text of the message.
//!
//! It is stored for every message, so the stored form is compact: each source is written once, the
//! lists refer to it by its position, and an entry of a list is a text with spaces between its fields,
//! because a number in `jsonb` takes as many bytes as a word.

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
    values: Vec<String>,
    places: HashMap<&'c LineSource, usize>,
}

impl<'c> Sources<'c> {
    /// The position of a source.
    fn place(&mut self, source: &'c LineSource) -> usize {
        let Self { values, places } = self;
        *places.entry(source).or_insert_with(|| {
            values.push(match source {
                LineSource::Memory { fact, version } => format!("{fact} {version}"),
                LineSource::Turn { turn, session } => format!("{turn} {session}"),
                LineSource::Episode { episode, session } => format!("{episode} {session}"),
            });
            values.len() - 1
        })
    }
}

/// A field without a value.
const NONE: &str = "-";

/// The fields of an entry: of a text, or of a list as in records from before entries were texts. The
/// last field of a text may contain spaces.
fn fields<const COUNT: usize>(entry: &Value) -> [Value; COUNT] {
    let text = entry.as_str().unwrap_or_default();
    let mut of_text = text.splitn(COUNT, ' ').map(|field| match field {
        NONE => Value::Null,
        field => field.parse().map_or_else(|_| Value::from(field), Value::Number),
    });
    std::array::from_fn(|at| match entry {
        Value::Array(list) => list.get(at).cloned().unwrap_or_default(),
        _ => of_text.next().unwrap_or_default(),
    })
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

    fn left_out(&mut self, left: &'c LeftOut) -> String {
        let relevance = rounded(left.relevance).map_or(NONE.to_owned(), |r| r.to_string());
        format!("{} {relevance} {}", self.place(&left.source), left.reason.as_str())
    }

    fn found(&mut self, found: &'c ResultRanks) -> String {
        let arms: Vec<String> =
            found.arms.iter().map(|(arm, rank)| format!("{}{rank}", short_name(*arm))).collect();
        let place = self.place(&found.source);
        format!("{place} {} {} {}", found.fused, found.last, arms.join(","))
    }
}

/// The compact form of a trace.
pub(super) fn pack(context: &Context, in_session: bool, preview: bool) -> Value {
    let mut sources = Sources::default();
    let dynamic: Vec<Value> = context.dynamic.items.iter().map(|l| sources.line(l)).collect();
    let left_out = context.baseline.left_out.iter().chain(&context.dynamic.left_out);
    let left_out: Vec<String> = left_out.map(|left| sources.left_out(left)).collect();
    let found: Vec<String> = context.found.iter().map(|found| sources.found(found)).collect();
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
    let left = |left: &Value| {
        let [place, second, third] = fields(left);
        // In a list the reason is the second.
        let (relevance, reason) = if left.is_array() { (third, second) } else { (second, third) };
        json!({"source": at(&place), "reason": reason, "relevance": relevance})
    };
    let found = |found: &Value| {
        let [place, fused, last, arms] = fields(found);
        let arms = arms.as_str().unwrap_or("").split(',').filter_map(arm).collect::<Vec<_>>();
        json!({"source": at(&place), "fused_rank": fused, "rank": last, "arms": arms})
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

/// `mem_… ver_…`, `trn_… session` or `epi_… session` with names.
fn source(pair: &Value) -> Value {
    let [first, second] = match pair.as_str().and_then(|pair| pair.split_once(' ')) {
        // The name of a session can be a number.
        Some((id, of)) => [id.into(), of.into()],
        None => fields(pair),
    };
    match first.as_str().and_then(|id| id.split('_').next()) {
        Some("trn") => json!({"turn_id": first, "session_id": second}),
        Some("epi") => json!({"episode_id": first, "session_id": second}),
        _ => json!({"memory_id": first, "version_id": second}),
    }
}

/// The name of an arm in a stored trace.
fn short_name(arm: Arm) -> &'static str {
    match arm {
        Arm::Keyword => "k",
        Arm::KeywordWindow => "kw",
        Arm::KeywordSession => "ks",
        Arm::Vector => "v",
        Arm::VectorWindow => "vw",
        Arm::Speaker => "s",
        Arm::Time => "t",
        Arm::Recency => "r",
        Arm::Prior => "p",
        Arm::SessionBest => "sb",
        Arm::Link => "l",
    }
}

/// An arm and its rank, from `k3`, or from `keyword 3` as in earlier records.
fn arm(text: &str) -> Option<Value> {
    let (name, rank) = match text.split_once(' ') {
        Some((name, rank)) => (Arm::parse(name)?, rank),
        None => {
            let (name, rank) = text.split_at(text.find(|c: char| c.is_ascii_digit())?);
            (*Arm::ALL.iter().find(|arm| short_name(**arm) == name)?, rank)
        }
    };
    let rank: usize = rank.parse().ok()?;
    Some(json!({"arm": name.as_str(), "rank": rank}))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The full form of a stored trace.
    fn full(trace: Value) -> Value {
        let retrieval = Retrieval {
            id: lukasa_core::RetrievalId::from_uuid(uuid::Uuid::nil()),
            session: None,
            at: lukasa_core::Timestamp::UNIX_EPOCH,
            etag: None,
            dynamic: String::new(),
            trace,
            facts: Vec::new(),
            baseline: Value::Null,
        };
        unpack(retrieval).trace
    }

    #[test]
    fn retrieval_trace_with_entries_as_texts_is_that_with_entries_as_lists() {
        let lists = json!({
            "sources": [["trn_1", "17"], ["mem_2", "ver_3"], ["epi_4", "my session"]],
            "found": [[0, 1, 2, "keyword 1,session_best 8"], [1, 12, 1, ""]],
            "left_out": [[1, "not relevant enough", 0.132], [2, "in the baseline already", null]],
            "dynamic": [[2, "m6", "Said in earlier conversations", 125, 0.321, []]],
        });
        let texts = json!({
            "sources": ["trn_1 17", "mem_2 ver_3", "epi_4 my session"],
            "found": ["0 1 2 k1,sb8", "1 12 1 "],
            "left_out": ["1 0.132 not relevant enough", "2 - in the baseline already"],
            "dynamic": [[2, "m6", "Said in earlier conversations", 125, 0.321, []]],
        });
        let full_form = full(texts);
        assert_eq!(full_form, full(lists));
        assert_eq!(
            full_form["found"][0]["source"],
            json!({"turn_id": "trn_1", "session_id": "17"})
        );
        assert_eq!(full_form["found"][0]["arms"][1], json!({"arm": "session_best", "rank": 8}));
        assert!(Arm::ALL.iter().all(|arm| {
            let text = format!("{}12", short_name(*arm));
            self::arm(&text) == Some(json!({"arm": arm.as_str(), "rank": 12}))
        }));
        assert_eq!(full_form["left_out"][0]["relevance"], 0.132);
        assert_eq!(full_form["left_out"][1]["relevance"], Value::Null);
        assert_eq!(full_form["left_out"][1]["source"]["session_id"], "my session");
    }
}
