//! Comparison of memories: finds pairs of a changed memory with another one, asks a chat model about
//! those that rules cannot judge, and stores the results. Nothing of the record changes here; a
//! consolidation run applies the results in its operation.
//!
//! A result is stored as soon as it is there, so that neither a crash nor a dry run asks twice. A
//! pair is compared again only when the words of one of the two change.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lukasa_core::consolidation::compare;
use lukasa_core::consolidation::pairs::{
    ComparedPair, FactEdition, FactPair, MAX_PAIRS, MIN_SIMILARITY, PAIRS_PER_REQUEST, PairAnswer,
    PairReason, find_pairs,
};
use lukasa_core::learning::prompt::COMPARE;
use lukasa_core::model::CallPurpose;
use lukasa_core::policy::Policy;
use lukasa_core::time::micros;
use lukasa_core::{FactId, Version};
use lukasa_store::comparison::{self, ComparisonMark};
use lukasa_store::{Batch, domain};

use super::Consolidator;
use crate::error::Result;
use crate::request::Request;

/// Maximum number of changed facts that are compared per run.
const MAX_CHANGED: usize = 200;
/// Maximum number of facts that they are compared with.
const MAX_COMPARED_WITH: i64 = 2_000;
/// How many of the most similar facts each changed fact is compared with.
const MAX_SIMILAR: i64 = 5;
const COMPARE_TIMEOUT: Duration = Duration::from_secs(30);

/// What a run compares.
struct Work {
    pairs: Vec<FactPair>,
    contents: BTreeMap<FactId, String>,
    policy: Policy,
    /// How far the memories are compared when all pairs have a result.
    mark: ComparisonMark,
    /// Whether every pair that was found is in `pairs`.
    complete: bool,
}

impl Consolidator {
    /// Compares what has changed since the last comparison. Without a chat model, and if it is
    /// unavailable or the token budget is spent, only the rules compare.
    pub(super) async fn compare(&self, request: &Request) -> Result<()> {
        let Some(work) = self.find_work(request).await? else { return Ok(()) };
        let (certain, open): (Vec<FactPair>, Vec<FactPair>) =
            work.pairs.iter().cloned().partition(|pair| pair.reason.is_contradiction());
        let result = |pair: &FactPair, answer: PairAnswer| ComparedPair {
            older: pair.older,
            newer: pair.newer,
            answer,
            reason: pair.reason,
        };
        let found = certain.iter().map(|pair| result(pair, PairAnswer::Contradicts));
        let mut results: Vec<(ComparedPair, bool)> = found.map(|pair| (pair, false)).collect();
        let mut answered = true;
        if self.chat.has_chat() {
            for (turn, chunk) in open.chunks(PAIRS_PER_REQUEST).enumerate() {
                let Some(answers) = self.ask(request, turn, chunk, &work).await? else {
                    answered = false;
                    break;
                };
                results.extend(chunk.iter().enumerate().map(|(place, pair)| {
                    // A pair that the model leaves out is not asked about again.
                    let answer = answers.get(&place).copied().unwrap_or(PairAnswer::Unrelated);
                    (result(pair, answer), true)
                }));
            }
        }
        let mark = (work.complete && answered).then_some(work.mark);
        self.store_results(request, &results, mark).await
    }

    /// The pairs to compare now; `None` if nothing has changed.
    async fn find_work(&self, request: &Request) -> Result<Option<Work>> {
        let (caller, now) = (&request.caller, request.moment.now);
        // Before the scope is opened: it may read the database over a connection of its own.
        let model = match self.chat.has_chat() {
            true => self.embeddings.embedder_name(now).await,
            false => None,
        };
        let scope = self.transactions.read(caller, now).await?;
        let mark = comparison::mark(&scope).await?;
        let limit = i64::try_from(MAX_CHANGED).unwrap_or(i64::MAX);
        let changed = comparison::changed_since(&scope, mark, now, limit).await?;
        let Some(mark) = changed.last().copied() else { return Ok(None) };
        let facts: Vec<FactId> = changed.iter().map(|mark| mark.fact).collect();
        let mut versions = comparison::active(&scope, &facts, now, MAX_COMPARED_WITH).await?;
        // A domain that the user has closed is not put to a model.
        let closed = domain::closed_domains(&scope).await?;
        versions.retain(|version| {
            version.claim.domain.as_ref().is_none_or(|domain| !closed.contains(domain))
        });
        versions.sort_by_key(|version| version.fact);
        versions.dedup_by_key(|version| version.fact);
        let known = comparison::results_of(&scope, &facts).await?;
        let policy = self.policies.load(&scope).await?.0;
        // The active facts closest in meaning; none without an embedding model.
        let similar = match &model {
            Some(model) => {
                comparison::similar(&scope, model, &facts, now, MIN_SIMILARITY, MAX_SIMILAR).await?
            }
            None => Vec::new(),
        };
        drop(scope);
        let contents = contents_of(&versions);
        let changed: BTreeSet<FactId> = facts.into_iter().collect();
        let find = move || {
            let mut pairs = find_pairs(&versions, &changed, &similar);
            let done: BTreeSet<(FactEdition, FactEdition)> =
                known.iter().map(|pair| ordered(pair.older, pair.newer)).collect();
            pairs.retain(|pair| !done.contains(&ordered(pair.older, pair.newer)));
            pairs
        };
        let mut pairs = self.parts.cpu.run_if(contents.len() > 50, find).await?;
        if !self.chat.has_chat() {
            // Nothing else can be judged without a model, then or later.
            pairs.retain(|pair| pair.reason != PairReason::Similar);
        }
        let complete = pairs.len() <= MAX_PAIRS;
        pairs.truncate(MAX_PAIRS);
        Ok(Some(Work { pairs, contents, policy, mark, complete }))
    }

    /// Asks a model about these pairs: its answers by place; `None` if no model answered.
    async fn ask(
        &self,
        request: &Request,
        turn: usize,
        pairs: &[FactPair],
        work: &Work,
    ) -> Result<Option<BTreeMap<usize, PairAnswer>>> {
        let content = |fact: FactId| work.contents.get(&fact).map_or("", String::as_str);
        let shown: Vec<(&str, &str)> =
            pairs.iter().map(|pair| (content(pair.older.fact), content(pair.newer.fact))).collect();
        let ask = compare::request(&shown, COMPARE_TIMEOUT);
        let mut moment = request.moment;
        // Each question needs its own ids.
        moment.seed[15] ^= u8::try_from(turn).unwrap_or(u8::MAX).rotate_left(3);
        let asked = self
            .chat
            .ask(&request.caller, CallPurpose::Compare, &ask, &work.policy, moment, |text| {
                compare::read(text, pairs.len())
            })
            .await?;
        match asked {
            Ok(answered) => Ok(Some(answered.read)),
            // Asking the same again tomorrow would cost the same again.
            Err(crate::chat::NoAnswer::Unusable(_)) => Ok(Some(BTreeMap::new())),
            Err(why) => {
                tracing::warn!(%why, "could not compare memories with a chat model");
                Ok(None)
            }
        }
    }

    /// Stores results, each with whether a model gave it, and how far the memories were compared.
    async fn store_results(
        &self,
        request: &Request,
        results: &[(ComparedPair, bool)],
        mark: Option<ComparisonMark>,
    ) -> Result<()> {
        let scope = self.transactions.write(request).await?;
        let (mut batch, at) = (Batch::default(), micros(request.moment.now));
        for (pair, by_model) in results {
            let prompt = by_model.then_some(COMPARE.name);
            comparison::store(&mut batch, &scope, pair, prompt, at);
        }
        if let Some(mark) = mark {
            comparison::set_mark(&mut batch, &scope, mark);
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }
}

fn contents_of(versions: &[Version]) -> BTreeMap<FactId, String> {
    versions.iter().map(|version| (version.fact, version.claim.content.clone())).collect()
}

/// The two editions in an order that does not depend on which of them is the older one.
fn ordered(a: FactEdition, b: FactEdition) -> (FactEdition, FactEdition) {
    (a.min(b), a.max(b))
}
