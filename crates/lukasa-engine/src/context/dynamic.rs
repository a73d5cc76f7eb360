//! The dynamic part of a context: what recall is asked for a message, and which of its results are
//! worth their tokens.

use lukasa_core::context::block::{
    self, DynamicInput, Finding, LeftOut, LeftOutReason, LineSource, PromptLine,
};
use lukasa_core::context::selective::{self, MIN_TURN_RELEVANCE};
use lukasa_core::note::is_withheld;
use lukasa_core::{FactId, ProjectScope, Role, Timestamp, Version};
use lukasa_text::screen::directive;

use super::retrieve::{ContextPart, ContextRequest};
use crate::recall::{RecallQuery, RecallResult, RecalledFact, RecalledTurn};

/// Maximum number of turns and of episodes (R164), unless the request says otherwise.
const MAX_TURNS: usize = 5;
const MAX_EPISODES: usize = 5;

/// The recall question of the dynamic part.
pub(super) fn dynamic_ask(ask: &ContextRequest) -> RecallQuery {
    let calls_for = selective::memories_wanted(&ask.message);
    let mut filter = ask.filter.clone();
    filter.domains.clone_from(&ask.domains);
    let turns = ask.turns.unwrap_or(calls_for.min(MAX_TURNS));
    RecallQuery {
        memories: ask.memories.unwrap_or(calls_for),
        turns,
        episodes: ask.episodes.unwrap_or(turns.min(MAX_EPISODES)),
        filter,
        point: ask.point,
        zone: ask.zone.clone(),
        precise: ask.precise,
        session: ask.session.clone(),
        projects: ask.project.as_ref().map(|project| ProjectScope::of(Some(project))),
        ..RecallQuery::about(&ask.message)
    }
}

/// The part of a turn that decides whether it states anything.
fn start_of(text: &str) -> &str {
    const READ_CHARS: usize = 1_000;
    text.char_indices().nth(READ_CHARS).map_or(text, |(at, _)| &text[..at])
}

/// Builds the dynamic part: rules of the message's domains, changes, then results that are relevant
/// enough and not in the baseline: memories, turns, and episodes that add to these. A turn whose words
/// no longer hold at `at` is not quoted, and neither is an episode that says the same.
pub(super) fn dynamic(
    found: &RecallResult,
    input: DynamicInput<'_>,
    left: usize,
    at: Timestamp,
    sure: impl Fn(&Version) -> bool,
) -> ContextPart {
    let given: Vec<FactId> = input.baseline.iter().flat_map(PromptLine::facts).collect();
    let least = selective::min_relevance(input.message, found.model.is_some());
    let mut left_out = Vec::new();
    let mut findings = Vec::new();
    for f in &found.memories {
        let version = &f.memory.version;
        let source = LineSource::Memory { fact: version.fact, version: version.id };
        let reason = if given.contains(&version.fact) {
            LeftOutReason::InBaseline
        } else if !sure(version) || is_withheld(version) {
            LeftOutReason::of_unused(version)
        } else if !f.why.is_relevant(least) {
            LeftOutReason::NotRelevant
        } else {
            findings.push(Finding::Memory(version, f.why.relevance));
            continue;
        };
        left_out.push(LeftOut { source, reason, relevance: Some(f.why.relevance) });
    }
    let is_outdated = |f: &&RecalledTurn| f.outdated_since.is_some_and(|since| since <= at);
    let outdated_turns: Vec<&RecalledTurn> = found.turns.iter().filter(is_outdated).collect();
    let mut included_turns = Vec::new();
    for f in &found.turns {
        let is_weak = f.why.relevance < MIN_TURN_RELEVANCE || !f.why.is_relevant(least);
        let reason = if is_weak {
            LeftOutReason::NotRelevant
        } else if is_outdated(&f) {
            LeftOutReason::ChangedSince
        } else if f.turn.role == Role::User && directive::only_asks(start_of(&f.turn.content)) {
            LeftOutReason::OnlyAsks
        } else {
            findings.push(Finding::Turn(&f.turn, f.why.relevance));
            included_turns.push(f);
            continue;
        };
        let source = LineSource::from(&f.turn);
        left_out.push(LeftOut { source, reason, relevance: Some(f.why.relevance) });
    }
    // An episode does not repeat a memory or a turn in the prompt.
    let is_included = |fact: &FactId| {
        let found =
            |finding: &Finding<'_>| matches!(finding, Finding::Memory(v, _) if v.fact == *fact);
        given.contains(fact) || findings.iter().any(found)
    };
    let included_memories: Vec<&RecalledFact> =
        found.memories.iter().filter(|f| is_included(&f.memory.version.fact)).collect();
    let least = least.max(MIN_TURN_RELEVANCE);
    for f in &found.episodes {
        let by_memory = |m: &&RecalledFact| f.repeats_memory(m.memory.version.fact, &m.why);
        let by_turn = |t: &&RecalledTurn| f.repeats_turn(&t.turn, &t.why);
        let reason = if !f.why.is_relevant(least) {
            LeftOutReason::NotRelevant
        } else if included_memories.iter().any(by_memory) || included_turns.iter().any(by_turn) {
            LeftOutReason::AlreadyIncluded
        } else if outdated_turns.iter().any(by_turn) {
            LeftOutReason::ChangedSince
        } else {
            findings.push(Finding::Episode(&f.episode, f.why.relevance));
            continue;
        };
        let source = LineSource::from(&f.episode);
        left_out.push(LeftOut { source, reason, relevance: Some(f.why.relevance) });
    }
    let input = DynamicInput { found: &findings, ..input };
    let mut part = ContextPart::from(block::dynamic(input, left));
    part.left_out.extend(left_out);
    part
}
