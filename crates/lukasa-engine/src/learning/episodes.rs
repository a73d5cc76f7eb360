//! Episodes: summaries of turn ranges, in a sentence or two; and the log of passes.

use std::collections::BTreeSet;

use lukasa_core::learning::ExtractionAnswer;
use lukasa_core::learning::summary::safe_summary;
use lukasa_core::recall::passage::Passage;
use lukasa_core::{Caller, Domain, Episode, EpisodeEdit, EpisodeId, Origin, Stamp, Timestamp};
use lukasa_store::learning::{self, EpisodePlace, Pass};
use lukasa_store::{Batch, Scope, domain, episode, session};

use super::Learning;
use super::plan::Plan;
use crate::closed_domains::MAX_SCREENED_BYTES;
use crate::episode_edits::edit_episode;
use crate::episodes::{
    AboutEpisode, Restoring, domain_tags, hidden_domains, is_about_forgetting, latest,
    load_passages, load_support, passages_of,
};
use crate::error::{Error, Result};
use crate::request::Request;
use crate::transaction::Outcome;

/// Maximum number of older episodes that are indexed at a time.
const INDEX_BATCH_SIZE: i64 = 200;

/// Writes the episode of a pass, and appends it to the session's running summary. Sentences that
/// may not be kept are left out; if none remains there is no episode. Returns its passages.
pub(super) fn write(
    batch: &mut Batch,
    scope: &Scope,
    plan: &Plan,
    pass: &Pass,
    read: &ExtractionAnswer,
    domains: &[(Domain, bool)],
    stamp: &mut Stamp,
) -> Vec<Passage> {
    let summary = read.summary.as_deref().and_then(|text| safe_summary(text, domains));
    let (Some(summary), Some(first), Some(last)) = (summary, plan.turns.first(), plan.turns.last())
    else {
        return Vec::new();
    };
    let mut episode = Episode {
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
        searchable: true,
    };
    episode.searchable = !is_about_forgetting(&episode, &plan.turns);
    let mut numbers: Vec<i32> = plan.turns.iter().map(|turn| turn.number).collect();
    numbers.sort_unstable();
    let left_out = episode.turns_left_out(&numbers);
    learning::open_episode(batch, scope, &episode, left_out, None);
    let running = match &plan.session.summary {
        Some(before) => format!("{before} {summary}"),
        None => summary,
    };
    session::summarise(batch, scope, &plan.session.id, &latest(&running), pass.last_turn);
    passages_of(&episode)
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

    /// One episode.
    pub async fn episode(&self, caller: &Caller, id: EpisodeId, now: Timestamp) -> Result<Episode> {
        let scope = self.transactions.read(caller, now).await?;
        episode::find(&scope, id).await?.ok_or(Error::EpisodeNotFound)
    }

    /// Replaces the words of an episode by the user's, as an operation that can be undone.
    pub async fn edit_episode(
        &self,
        request: &Request,
        id: EpisodeId,
        edit: &EpisodeEdit,
    ) -> Result<(Episode, Outcome)> {
        edit_episode(&self.transactions, request, id, edit).await
    }

    /// What is derived from the facts learned from each of these episodes: its domains (R033), and
    /// whether all of these facts are settled by now (R105) and one is in a closed domain.
    pub async fn about_episodes(
        &self,
        caller: &Caller,
        episodes: &[Episode],
        now: Timestamp,
    ) -> Result<Vec<AboutEpisode>> {
        let scope = self.transactions.read(caller, now).await?;
        let support = load_support(&scope, episodes, now).await?;
        let tags = domain_tags(&scope, episodes, &support).await?;
        let closed = domain::closed_domains(&scope).await?;
        drop(scope);
        let hidden = hidden_domains(episodes, &support, &closed, MAX_SCREENED_BYTES).await;
        let about = support.into_iter().zip(tags).zip(hidden);
        let about = about.map(|((support, domains), hidden_domain)| AboutEpisode {
            domains,
            absorbed: support.absorbed,
            hidden_domain,
        });
        Ok(about.collect())
    }

    /// Has recall find episodes that were stored without passages, before it found episodes. Those that
    /// ask to forget something stay unfound, and so do those whose turns were not kept, because they
    /// may do so. Returns how many are found now.
    pub(crate) async fn index_episodes(&self, request: &Request) -> Result<usize> {
        let caller = &request.caller;
        let scope = self.parts.store.read_as(caller).await?;
        let mut lacking = episode::without_passage(&scope, INDEX_BATCH_SIZE).await?;
        if lacking.is_empty() {
            return Ok(0);
        }
        let ids: Vec<EpisodeId> = lacking.iter().map(|episode| episode.id).collect();
        let unknown = episode::with_missing_turns(&scope, &ids).await?;
        lacking.retain(|episode| !unknown.contains(&episode.id));
        let mut passages = load_passages(&scope, &lacking, Restoring::default()).await?;
        drop(scope);
        let scope = self.transactions.write(request).await?;
        // Some may have been removed or indexed in the meantime.
        let still = episode::without_passage(&scope, INDEX_BATCH_SIZE).await?;
        let still: BTreeSet<_> = still.iter().map(|episode| episode.id.uuid()).collect();
        passages.retain(|passage| still.contains(&passage.source));
        let indexed: BTreeSet<_> = passages.iter().map(|passage| passage.source).collect();
        let unfound = ids.into_iter().filter(|id| !indexed.contains(&id.uuid()));
        let unfound: Vec<EpisodeId> = unfound.filter(|id| still.contains(&id.uuid())).collect();
        let mut batch = Batch::default();
        episode::mark_unsearchable(&mut batch, &scope, &unfound);
        self.transactions.commit_with(scope, batch, passages, request).await?;
        Ok(indexed.len())
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
