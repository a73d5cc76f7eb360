//! `lukasa eval`: recall test cases in files, run against a server. Each case sends the request that an
//! application sends before it calls a model, and checks the returned context: nothing here ranks.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use reqwest::{Client, Method};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::client::{ServerArgs, ServerError};
use super::show::{BAD, DIM, GOOD, Table, count, paint, plain};
use super::{AlreadyReported, FormatArgs, say, say_json};
use crate::clock;
use crate::url::encoded;

#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Run the cases of a file: does each message retrieve the expected memories?
    Run(RunEvalArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
A file has cases; the playground of the console saves them (Save as test):

  [[case]]
  user = \"alice\"                            or --user for all of them
  query = \"Book a table for Friday\"
  find = [\"allergic to peanuts\"]            words or ids of memories that must be in the prompt
  avoid = [\"likes satay\"]                   and of those that must not

A case may also set `domains`, `budget`, `precise`, `as_of` and `known_at`, as in POST
/api/memory/retrieve. Exit code 0 if all pass, 1 if one does not.

Examples:
  lukasa eval run recall.toml
  lukasa eval run recall/*.toml --json")]
pub struct RunEvalArgs {
    /// Files of cases; - for standard input
    #[arg(required = true, num_args = 1.., value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    #[serde(rename = "case")]
    cases: Vec<Case>,
}

/// A message and the memories that it must retrieve.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    user: Option<String>,
    query: String,
    #[serde(default)]
    find: Vec<String>,
    #[serde(default)]
    avoid: Vec<String>,
    domains: Option<Vec<String>>,
    /// A number of tokens, or the name of a budget.
    budget: Option<Value>,
    precise: Option<bool>,
    as_of: Option<String>,
    known_at: Option<String>,
}

/// The result of a case.
#[derive(Debug, Serialize)]
struct CaseResult {
    query: String,
    user: Option<String>,
    passed: bool,
    /// How many of the expected memories were found.
    found: usize,
    wanted: usize,
    missing: Vec<Missing>,
    unwanted: Vec<String>,
    tokens: u64,
    ms: f64,
    retrieval_id: Value,
}

#[derive(Debug, Serialize)]
struct Missing {
    words: String,
    /// Why it was not found.
    because: String,
}

impl EvalCommand {
    pub async fn run(self) -> anyhow::Result<()> {
        let Self::Run(run) = self;
        run.run().await
    }
}

impl RunEvalArgs {
    async fn run(self) -> anyhow::Result<()> {
        let mut cases = Vec::new();
        for file in &self.files {
            cases.extend(read(file)?);
        }
        let client = self.server.client()?;
        // Opens the connection, so that this is not part of the first measurement.
        let warm_up = self.server.request_with(&client, Method::GET, "/healthz");
        self.server.send(warm_up).await?;
        let mut results = Vec::new();
        for case in cases {
            results.push(self.run_case(&client, case).await?);
        }
        self.report(&results)?;
        if results.iter().all(|case| case.passed) { Ok(()) } else { Err(AlreadyReported.into()) }
    }

    async fn run_case(&self, client: &Client, case: Case) -> anyhow::Result<CaseResult> {
        let server = match &case.user {
            Some(user) => self.server.about(user),
            None => self.server.clone(),
        };
        let post = server.request_with(client, Method::POST, "/api/memory/retrieve");
        let start = clock::ticks();
        let answer = server.send(post.json(&body(&case))).await;
        let answer = answer.with_context(|| format!("the case {:?} failed", plain(&case.query)))?;
        let context: Value =
            answer.json().await.context("the server's response could not be read")?;
        let micros = clock::ticks() - start;
        let mut missing = Vec::new();
        for words in &case.find {
            if !has(&context, words) {
                let because = reason(&server, client, &context, words).await?;
                // No reason means that the memory is in the context in other words: a portrait cites it.
                if let Some(because) = because {
                    missing.push(Missing { words: words.clone(), because });
                }
            }
        }
        let unwanted: Vec<String> =
            case.avoid.iter().filter(|words| has(&context, words)).cloned().collect();
        let tokens = ["baseline", "dynamic"].map(|part| context[part]["tokens"].as_u64());
        Ok(CaseResult {
            passed: missing.is_empty() && unwanted.is_empty(),
            found: case.find.len() - missing.len(),
            wanted: case.find.len(),
            missing,
            unwanted,
            tokens: tokens.into_iter().flatten().sum(),
            ms: micros as f64 / 1000.0,
            retrieval_id: context["retrieval_id"].clone(),
            query: case.query,
            user: case.user.or_else(|| server.user().map(str::to_owned)),
        })
    }

    fn report(&self, results: &[CaseResult]) -> anyhow::Result<()> {
        let passed = results.iter().filter(|case| case.passed).count();
        let (found, wanted) = results
            .iter()
            .fold((0, 0), |(found, wanted), case| (found + case.found, wanted + case.wanted));
        let recall = if wanted == 0 { 1.0 } else { found as f64 / wanted as f64 };
        let tokens = results.iter().map(|case| case.tokens).sum::<u64>();
        let tokens = tokens / results.len().max(1) as u64;
        let p95 = percentile_95(results.iter().map(|case| case.ms).collect());
        if self.format.json {
            return say_json(&json!({
                "cases": results, "passed": passed, "failed": results.len() - passed,
                "recall": recall, "tokens": tokens, "p95_ms": p95,
            }));
        }
        let mut table = Table::new(&["", "message", "user", "found", "tokens", "ms"], 1);
        for case in results {
            let (style, word) = if case.passed { (GOOD, "pass") } else { (BAD, "FAIL") };
            table.row(vec![
                paint(style, word),
                plain(&case.query),
                case.user.as_deref().map(plain).unwrap_or_default(),
                format!("{}/{}", case.found, case.wanted),
                case.tokens.to_string(),
                format!("{:.1}", case.ms),
            ]);
        }
        say(&table.render())?;
        for case in results.iter().filter(|case| !case.passed) {
            say(&format!("\n{}", paint(BAD, &plain(&case.query))))?;
            for missing in &case.missing {
                say(&format!("  missing: {}", plain(&missing.words)))?;
                say(&paint(DIM, &format!("           {}", missing.because)))?;
            }
            for words in &case.unwanted {
                say(&format!("  unwanted: {}", plain(words)))?;
            }
        }
        let many = count(results.len(), "case", "cases");
        let sum = format!(
            "\n{passed} of {many} pass; {found} of {wanted} memories found (recall {recall:.2}); \
             {tokens} tokens per prompt; p95 {p95:.0} ms"
        );
        say(&if passed == results.len() { sum } else { paint(BAD, &sum) })
    }
}

fn read(file: &Path) -> anyhow::Result<Vec<Case>> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    let text = text.with_context(|| format!("{} cannot be read", file.display()))?;
    let read: Cases = toml_edit::de::from_str(&text)
        .with_context(|| format!("{} is not a file of cases; see --help", file.display()))?;
    if let Some(case) = read.cases.iter().find(|case| case.find.is_empty() && case.avoid.is_empty())
    {
        anyhow::bail!(
            "{}: the case {:?} has neither `find` nor `avoid`, so it could not fail",
            file.display(),
            case.query
        );
    }
    Ok(read.cases)
}

/// The request body of an application, without a session, whose baseline would be frozen.
fn body(case: &Case) -> Value {
    let mut body = json!({ "query": case.query });
    let more = [
        ("domains", json!(case.domains)),
        ("budget", json!(case.budget)),
        ("precise", json!(case.precise)),
        ("as_of", json!(case.as_of)),
        ("known_at", json!(case.known_at)),
    ];
    for (name, value) in more {
        if !value.is_null() {
            body[name] = value;
        }
    }
    body
}

/// Whether a context contains a memory, by its id or by words of it.
fn has(context: &Value, words: &str) -> bool {
    let wanted = words.to_lowercase();
    ["baseline", "dynamic"].iter().any(|part| {
        context[part]["citations"].as_array().into_iter().flatten().any(|line| {
            let says = |text: &str| text.to_lowercase().contains(&wanted);
            line["text"].as_str().is_some_and(says) || names(line, words)
        })
    })
}

/// Whether a line of a context cites the memory with this id, alone or among others.
fn names(line: &Value, id: &str) -> bool {
    let also = line["also_memory_ids"].as_array().into_iter().flatten();
    std::iter::once(&line["memory_id"]).chain(also).any(|named| named.as_str() == Some(id))
}

/// Why a memory with these words is not in a context; `None` if it is in the context in other words.
async fn reason(
    server: &ServerArgs,
    client: &Client,
    context: &Value,
    words: &str,
) -> anyhow::Result<Option<String>> {
    let path = format!("/api/memory/{}", encoded(words));
    let known = server.send(server.request_with(client, Method::GET, &path)).await;
    let memory: Value = match known {
        Ok(answer) => answer.json().await.context("the server's response could not be read")?,
        Err(error) => {
            return match error.downcast_ref::<ServerError>().map(|refused| refused.code.as_str()) {
                Some("memory_not_found") => Ok(Some("no active memory has these words".into())),
                Some("ambiguous_target") => {
                    Ok(Some("several memories have these words; none was retrieved".into()))
                }
                _ => Err(error),
            };
        }
    };
    let id = memory["id"].as_str().unwrap_or_default();
    if has(context, id) {
        return Ok(None);
    }
    for part in ["baseline", "dynamic"] {
        let left = context[part]["left_out"].as_array().into_iter().flatten();
        if let Some(left) = left.into_iter().find(|left| names(left, id)) {
            let reason = plain(left["reason"].as_str().unwrap_or_default());
            return Ok(Some(format!("{id} was left out: {reason}")));
        }
    }
    Ok(Some(format!("{id} exists, but was not found for this message")))
}

fn percentile_95(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    let at = (times.len() * 19).div_ceil(20).saturating_sub(1);
    times.get(at).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eval_finds_memories_by_id_and_by_words() {
        let line = json!({ "memory_id": "mem_1", "also_memory_ids": ["mem_2"], "text": "Allergic to Peanuts" });
        let context = json!({ "baseline": { "citations": [line] }, "dynamic": {} });
        for words in ["mem_1", "mem_2", "allergic to peanuts", "PEANUTS"] {
            assert!(has(&context, words), "{words}");
        }
        assert!(!has(&context, "mem_3") && !has(&context, "satay"));
    }

    #[test]
    fn percentile_95_is_computed_for_any_number_of_times() {
        assert_eq!(percentile_95((1..=40).map(f64::from).collect()), 38.0);
        assert_eq!(percentile_95(vec![3.0]), 3.0);
        assert_eq!(percentile_95(Vec::new()), 0.0);
    }
}
