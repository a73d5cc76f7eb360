//! Episodes: summaries of turn ranges, in a sentence or two; and the log of passes.

use std::collections::BTreeMap;

use lukasa_core::episode::ABSORBED_AFTER;
use lukasa_core::learning::ExtractionAnswer;
use lukasa_core::learning::judge::safe_summary;
use lukasa_core::{Caller, Domain, Episode, Origin, Stamp, Timestamp, TurnId};
use lukasa_store::learning::{self, EpisodePlace, Pass};
use lukasa_store::{Batch, Scope, session};

use super::Learning;
use super::plan::Plan;
use crate::error::Result;

/// Maximum length of a session's running summary; the beginning is cut off.
const SUMMARY_CHARS: usize = 2_000;

/// Writes the episode of a pass, and appends it to the session's running summary. Sentences that
/// may not be kept are left out; if none remains there is no episode.
pub(super) fn write(
    batch: &mut Batch,
    scope: &Scope,
    plan: &Plan,
    pass: &Pass,
    read: &ExtractionAnswer,
    domains: &[(Domain, bool)],
    stamp: &mut Stamp,
) {
    let summary = read.summary.as_deref().and_then(|text| safe_summary(text, domains));
    let (Some(summary), Some(first), Some(last)) = (summary, plan.turns.first(), plan.turns.last())
    else {
        return;
    };
    let episode = Episode {
        id: stamp.ids.episode(),
        session: plan.session.id.clone(),
        first_turn: pass.first_turn,
        last_turn: pass.last_turn,
        title: read.title.as_deref().and_then(|text| safe_summary(text, domains)),
        summary: summary.clone(),
        origin: plan.news.origin().unwrap_or(Origin::Import),
        started_at: first.said_at.min(last.said_at),
        ended_at: last.said_at.max(first.said_at),
        pass: pass.id,
        prompt: pass.prompt.clone(),
        recorded_at: stamp.at,
    };
    let mut numbers: Vec<i32> = plan.turns.iter().map(|turn| turn.number).collect();
    numbers.sort_unstable();
    let left_out = episode.turns_left_out(&numbers);
    learning::open_episode(batch, scope, &episode, left_out, None);
    let running = match &plan.session.summary {
        Some(before) => format!("{before} {summary}"),
        None => summary,
    };
    session::summarise(batch, scope, &plan.session.id, &latest(&running), pass.last_turn);
}

/// The end of a running summary, up to the maximum length.
pub(crate) fn latest(running: &str) -> String {
    let skipped = running.chars().count().saturating_sub(SUMMARY_CHARS);
    running.chars().skip(skipped).collect()
}

impl Learning {
    /// Episodes, the latest first; optionally of one session only.
    pub async fn episodes(
        &self,
        caller: &Caller,
        session: Option<&str>,
        before: Option<EpisodePlace>,
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<Episode>, Option<EpisodePlace>)> {
        let scope = self.transactions.read(caller, now).await?;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut found = learning::episodes(&scope, session, before.as_ref(), wanted).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let place = |e: &Episode| EpisodePlace { ended_at: e.ended_at, id: e.id };
        let next = found.last().filter(|_| more).map(place);
        Ok((found, next))
    }

    /// For each episode, whether all facts learned from it are settled by now (R105).
    pub async fn absorbed(
        &self,
        caller: &Caller,
        episodes: &[Episode],
        now: Timestamp,
    ) -> Result<Vec<bool>> {
        let old = |episode: &Episode| now.duration_since(episode.ended_at) >= ABSORBED_AFTER;
        if !episodes.iter().any(old) {
            return Ok(vec![false; episodes.len()]);
        }
        let scope = self.transactions.read(caller, now).await?;
        let support = learning::supporting_turns(&scope).await?;
        let mut firm: BTreeMap<TurnId, bool> = BTreeMap::new();
        for (turns, settled) in &support {
            for id in turns.iter().filter_map(|id| id.parse().ok()) {
                firm.entry(id).and_modify(|all| *all &= settled).or_insert(*settled);
            }
        }
        let ids: Vec<_> = firm.keys().map(|id| id.uuid()).collect();
        let mut settled = BTreeMap::new();
        for (id, session, number) in learning::turn_places(&scope, &ids).await? {
            let is_firm = firm.get(&TurnId::from_uuid(id)).copied().unwrap_or(false);
            settled.insert((session, number), is_firm);
        }
        Ok(episodes.iter().map(|episode| episode.is_absorbed(&settled, now)).collect())
    }

    /// The latest passes: what was learned from which turns, and why other claims were left out.
    pub async fn passes(
        &self,
        caller: &Caller,
        session: Option<&str>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Pass>> {
        let scope = self.transactions.read(caller, now).await?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(learning::passes(&scope, session, limit).await?)
    }
}
