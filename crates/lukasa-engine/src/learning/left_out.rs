//! What passes left out: recorded by its place in the turn, listed with its words, and kept as a
//! memory if the user wants it.

use std::collections::BTreeMap;

use lukasa_core::learning::left_out::MAX_LEFT_OUT;
use lukasa_core::learning::{LeftProposal, Reason, SentencePlace, Transcript};
use lukasa_core::{
    Caller, CallerKind, Claim, ClaimEvidence, FactId, PassId, Refusal, Timestamp, Turn, TurnId,
    Verb,
};
use lukasa_store::left_out::{LeftOutRow, NewLeftOut};
use lukasa_store::{Batch, Scope, domain, domain_question, fact, left_out, session};
use lukasa_text::screen::secret::SecretKind;

use super::Learning;
use crate::closed_domains::{MAX_SCREENED_BYTES, closed_domains};
use crate::error::{Error, Result};
use crate::facts::NewMemory;
use crate::memory::{as_memory, current};
use crate::request::Request;
use crate::transaction::Outcome;

/// A left-out proposal as the user sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutItem {
    pub pass: PassId,
    /// Its number in the pass, from 1.
    pub place: i32,
    pub reason: Reason,
    pub turn: TurnId,
    /// The sentence. `None` if it contained a secret or is about a domain that is not open.
    pub words: Option<String>,
    /// The domain that is not open, or was not open then.
    pub domain: Option<String>,
    /// The memory that the user made of it.
    pub kept: Option<FactId>,
}

/// Records what a pass left out, and asks about the domains that are not open. `turns` are those
/// that are kept; what was said in others is only counted.
pub(super) fn record(
    batch: &mut Batch,
    scope: &Scope,
    pass: PassId,
    left: &[LeftProposal],
    turns: &[&Turn],
    now: Timestamp,
) {
    let mut new: Vec<NewLeftOut> = Vec::new();
    let mut mentions: BTreeMap<&str, Vec<uuid::Uuid>> = BTreeMap::new();
    for left in left {
        let said = left.said.as_ref();
        let found = said.and_then(|(id, sentence)| {
            turns.iter().find(|turn| turn.id == *id).map(|turn| (*turn, sentence.as_str()))
        });
        if let Some(domain) = &left.domain {
            let turns = mentions.entry(domain).or_default();
            turns.extend(found.iter().map(|(turn, _)| turn.id.uuid()));
        }
        let place = found.and_then(|(turn, sentence)| SentencePlace::find(turn, sentence));
        let Some(place) = place else { continue };
        let is_new = new.iter().all(|old| old.place != place || old.left.reason != left.reason);
        if is_new && new.len() < MAX_LEFT_OUT {
            new.push(NewLeftOut { left: left.clone(), place });
        }
    }
    left_out::insert(batch, scope, pass, &new);
    for (domain, turns) in mentions {
        domain_question::ask(batch, scope, domain, &turns, now);
    }
}

/// Removes what earlier passes left out of the turns that the user takes back in these.
pub(super) async fn remove_retracted(
    batch: &mut Batch,
    scope: &Scope,
    session: &str,
    news: &Transcript,
) -> Result<()> {
    for number in &news.retracting {
        let turns = session::turns_taken_back(scope, session, *number).await?;
        left_out::remove_of_turns(batch, scope, &turns);
    }
    Ok(())
}

impl Learning {
    /// What these passes left out, in the order of the passes' ids and places.
    pub async fn left_out(
        &self,
        caller: &Caller,
        passes: &[PassId],
        now: Timestamp,
    ) -> Result<Vec<LeftOutItem>> {
        let scope = self.transactions.read(caller, now).await?;
        let rows = left_out::of_passes(&scope, passes).await?;
        let hidden = hidden_turns(scope, &rows).await?;
        let show = |row: LeftOutRow| {
            let hidden = hidden.get(&row.turn);
            let is_hidden = hidden.is_some() || row.reason == Reason::Secret;
            LeftOutItem {
                pass: row.pass,
                place: row.place,
                reason: row.reason,
                turn: row.turn,
                words: (!is_hidden).then_some(row.words),
                domain: row.domain.or_else(|| hidden.cloned()),
                kept: row.kept,
            }
        };
        Ok(rows.into_iter().map(show).collect())
    }

    /// Saves a left-out sentence as a memory that the user states. Keeping it again returns the same
    /// memory. Only the user can do it: it is consent to the words.
    pub async fn keep_left_out(
        &self,
        request: &Request,
        pass: PassId,
        place: i32,
    ) -> Result<Outcome> {
        let now = request.moment.now;
        let scope = self.transactions.read(&request.caller, now).await?;
        if request.caller.kind != CallerKind::Human {
            return Err(Refusal::NeedsHuman.into());
        }
        let found = left_out::find(&scope, pass, place).await?.ok_or(Error::LeftOutNotFound)?;
        if let Some(fact) = found.kept {
            let known = fact::known_now(&scope, fact).await?;
            if let Some(version) = current(&known, now) {
                let message = format!("Already remembered: {}", version.claim.content);
                let memory = as_memory(version, &known, now);
                return Ok(Outcome::of(Verb::Save, message).with(memory));
            }
        }
        let closed = domain::closed_domains(&scope).await?;
        drop(scope);
        match (found.reason, found.domain) {
            (Reason::Secret, _) => return Err(Error::SecretRejected(SecretKind::new("a secret"))),
            // The rules may find the domain in the claim of the model and not in the sentence.
            (_, Some(domain)) if closed.contains(&domain) => {
                return Err(Error::OptInNeeded(domain));
            }
            _ => {}
        }
        let turn = Some(found.turn.to_string());
        let evidence = ClaimEvidence { turn, ..ClaimEvidence::of("quote", &found.words) };
        let new = NewMemory {
            claim: Claim { evidence: vec![evidence], ..Claim::saying(&found.words) },
            session: Some(found.session),
            turns: vec![found.turn.to_string()],
            left_out: Some((pass, place)),
            ..NewMemory::saying("")
        };
        self.facts.save(request, new).await
    }
}

/// The turns about a domain that is not open, with that domain. Turns beyond what is screened per
/// request count as such.
async fn hidden_turns(scope: Scope, rows: &[LeftOutRow]) -> Result<BTreeMap<TurnId, String>> {
    let closed = domain::closed_domains(&scope).await?;
    let Some(first) = closed.first() else { return Ok(BTreeMap::new()) };
    let mut left = MAX_SCREENED_BYTES;
    let mut hidden: BTreeMap<TurnId, String> = BTreeMap::new();
    let mut screened: BTreeMap<TurnId, uuid::Uuid> = BTreeMap::new();
    for row in rows {
        let bytes = usize::try_from(row.turn_bytes).unwrap_or(usize::MAX);
        let domain = row.domain.as_ref().filter(|domain| closed.contains(domain));
        if let Some(domain) = domain {
            hidden.insert(row.turn, domain.clone());
        } else if !screened.contains_key(&row.turn) && bytes > left {
            hidden.entry(row.turn).or_insert_with(|| first.clone());
        } else if screened.insert(row.turn, row.turn.uuid()).is_none() {
            left -= bytes;
        }
    }
    let ids: Vec<uuid::Uuid> = screened.into_values().collect();
    let turns = session::turns_and_trash_by_id(&scope, &ids).await?;
    drop(scope);
    let domains = closed_domains(&turns, &closed).await;
    for (turn, domain) in turns.iter().zip(domains) {
        if let Some(domain) = domain {
            hidden.entry(turn.id).or_insert(domain);
        }
    }
    Ok(hidden)
}
