//! Explanation of a turn ("Why did you say this?"): the memories it reports as used, and those it
//! was given.

use futures_util::try_join;
use lukasa_core::phrasing::judging_phrases;
use lukasa_core::{Caller, FactId, RetrievalId, Role, Timestamp, Turn, Version};
use lukasa_store::context::{self as kept, Retrieval, Usage};
use lukasa_store::{fact, session};

use super::Contexts;
use super::trace::unpack;
use super::usage::hide_texts;
use crate::closed_domains::HiddenDomains;
use crate::error::{Error, Result};
use crate::memory::{Memory, as_memory};

/// A memory behind a turn, as known when the turn was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Grounds {
    pub memory: Memory,
    /// The usage the turn reports; `None` if the memory was only given.
    pub usage: Option<Usage>,
}

/// Explanation of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnExplanation {
    pub turn: Turn,
    pub grounds: Vec<Grounds>,
    /// The retrieval before the turn.
    pub retrieval: Option<Retrieval>,
    /// Phrases of an answer with memories that judge the user instead of repeating their words.
    pub judging: Vec<&'static str>,
}

impl Contexts {
    /// Explains a turn: first the memories it reports as used, then the others it was given.
    /// Memories are shown as they were known then; memories erased since are not shown.
    pub async fn why(
        &self,
        caller: &Caller,
        session: &str,
        number: i32,
        now: Timestamp,
    ) -> Result<TurnExplanation> {
        self.log.wait_for_records(caller.user).await;
        let scope = self.transactions.read(caller, now).await?;
        let (there, turn) = try_join!(
            session::find(&scope, session),
            session::turn_numbered(&scope, session, number)
        )?;
        there.filter(|s| s.trashed_at.is_none()).ok_or(Error::SessionNotFound)?;
        let turn = turn.ok_or(Error::TurnNotFound)?;
        let used = kept::used_by(&scope, turn.id).await?;
        let named = used.iter().find_map(|usage| usage.retrieval);
        let retrieval = match named {
            Some(id) => kept::find_retrieval(&scope, id).await?,
            None => kept::retrieval_before(&scope, session, turn.recorded_at).await?,
        };
        let mut retrieval = retrieval.map(unpack);
        let given = retrieval.iter().flat_map(|retrieval| retrieval.facts.iter().copied());
        let mut facts: Vec<FactId> = used.iter().map(|usage| usage.fact).collect();
        for fact in given {
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        let at = turn.recorded_at;
        let mut grounds = Vec::new();
        for id in facts {
            let known = fact::known_at(&scope, id, at).await?;
            let holds = |version: &&Version| version.valid.contains(at);
            let Some(version) = known.iter().find(holds).or(known.last()) else { continue };
            let usage = used.iter().find(|usage| usage.fact == id).cloned();
            grounds.push(Grounds { memory: as_memory(version, &known, at), usage });
        }
        let hidden = HiddenDomains::load(&scope, caller).await?;
        grounds.retain(|grounds| !hidden.hides(&grounds.memory.version));
        hide_texts(&scope, caller, &mut [], retrieval.as_mut_slice()).await?;
        drop(scope);
        if let Some(retrieval) = &retrieval {
            self.mark_explained_later(caller, retrieval.id);
        }
        let judging = match turn.role == Role::Assistant && !grounds.is_empty() {
            true => judging_phrases(&turn.content),
            false => Vec::new(),
        };
        Ok(TurnExplanation { turn, grounds, retrieval, judging })
    }

    /// Records in the background that the reasons of an answer were asked for, for statistics.
    fn mark_explained_later(&self, caller: &Caller, retrieval: RetrievalId) {
        let Some(permit) = self.log.late_write() else { return };
        let (contexts, tenant, user) = (self.clone(), caller.tenant, caller.user);
        tokio::spawn(async move {
            let _permit = permit;
            let written = async {
                let scope = contexts.parts.store.write_lossy(tenant, user).await?;
                kept::mark_explained(&scope, retrieval).await?;
                scope.commit().await
            };
            if let Err(error) = written.await {
                tracing::warn!(%error, "could not record that an answer was explained");
            }
        });
    }
}
