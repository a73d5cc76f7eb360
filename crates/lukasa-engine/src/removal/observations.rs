//! Removal of observations, with the memories that rest on them alone. It can be undone for thirty
//! days; then they are permanently removed.

use std::collections::BTreeSet;

use lukasa_core::limits::OBSERVATIONS_REMOVED_AT_ONCE;
use lukasa_core::{
    Depth, Fate, ObservationId, RemovedTurns, Sources, Verb, removal as removal_rules,
};
use lukasa_store::{fact, observation, removal};

use super::Removals;
use super::impact::chats_of;
use super::sources::merge;
use crate::error::{Error, Result};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, RemovalCounts, WriteStart};

/// The observations that a removal is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObservationSelection {
    One(ObservationId),
    /// The oldest observations of a source, as many as one request may remove.
    Source(String),
}

impl Removals {
    /// Moves observations to the trash, with the memories that depend on them alone.
    pub async fn withdraw_observations(
        &self,
        request: &Request,
        which: &ObservationSelection,
    ) -> Result<Outcome> {
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        let most = i64::try_from(OBSERVATIONS_REMOVED_AT_ONCE).unwrap_or(i64::MAX);
        let observations = match which {
            ObservationSelection::One(id) => {
                let found = observation::existing(&writing.scope, &[*id], true).await?;
                if found.is_empty() {
                    return Err(Error::ObservationNotFound);
                }
                observation::existing(&writing.scope, &[*id], false).await?
            }
            ObservationSelection::Source(source) => {
                observation::ids_of_source(&writing.scope, source, most).await?
            }
        };
        if observations.is_empty() {
            let outcome = Outcome::of(Verb::Delete, "No observation to remove.".into());
            return writing.answer(outcome).await;
        }
        let names: Vec<String> = observations.iter().map(ToString::to_string).collect();
        let turns: BTreeSet<String> = names.iter().cloned().collect();
        let mut reached =
            RemovalCounts { observations: observations.len(), ..RemovalCounts::default() };
        let mut effect = Effect::default();
        for id in removal::citing(&writing.scope, &names).await? {
            let history = fact::history(&writing.scope, id).await?;
            let chats = chats_of(&writing.scope, std::slice::from_ref(&history)).await?;
            let removed = RemovedTurns { turns: turns.clone(), chats, chat: None };
            let (voice, stamp) = (request.caller.voice, &mut writing.stamp);
            let becomes =
                removal_rules::remove_turns(&history, &removed, Depth::Trash, voice, stamp)?;
            let Some((fate, changes)) = becomes else { continue };
            match fate {
                Fate::Withdrawn => reached.withdrawn += 1,
                Fate::Weakened => reached.weakened += 1,
                Fate::Kept => reached.kept += 1,
            }
            if !changes.closes.is_empty() {
                effect.thaws.push(id);
            }
            merge(&mut effect.changes, changes);
            effect.also.push(id);
        }
        let mut outcome = Outcome::of(Verb::Delete, format!("Moved to the trash: {reached}."));
        outcome.reached = Some(reached);
        let by = Some(writing.stamp.operation);
        observation::mark(&mut effect.with, &writing.scope, &observations, by);
        effect.sources = Some(Sources { observations, gone: true, ..Sources::default() });
        writing.finish(Verb::Delete, effect, outcome).await
    }
}
