//! Update, as a change ("I moved in March") or as a correction ("I never lived there").

use futures_util::try_join;
use lukasa_core::admission::{is_users_own, may_replace};
use lukasa_core::record::{self, Provenance};
use lukasa_core::{
    AgentPolicy, Claim, Edit, Link, Origin, Period, Refusal, State, Timestamp, Verb, Version,
    Voice, Writer,
};
use lukasa_store::fact;

use super::contradict::CONTRADICTS;
use super::outcome::Outcome;
use super::read::{as_memory, current};
use super::save::check_sure;
use super::target::Target;
use super::write::{Begun, Effect, Writing};
use crate::admission::{self, Ask, Quoted};
use crate::error::{Error, Result};
use crate::{Engine, Request};

#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    pub edit: Edit,
    pub mode: Mode,
    pub session: Option<String>,
    pub turns: Vec<String>,
    pub confidence: Option<f32>,
    /// What the user said, in their own words, from which an agent has the change.
    pub quotations: Vec<String>,
    /// A human's answer: keep something sensitive as a memory without a domain, although its domain
    /// is not open.
    pub keep_without_domain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// The world moved on, at this time or now.
    Change { effective: Option<Timestamp> },
    /// It was never so. The dates can be put right too.
    Correct { valid_from: Option<Timestamp>, valid_until: Option<Option<Timestamp>> },
}

impl Update {
    pub fn change(edit: Edit) -> Self {
        let mode = Mode::Change { effective: None };
        Self {
            edit,
            mode,
            session: None,
            turns: Vec::new(),
            confidence: None,
            quotations: Vec::new(),
            keep_without_domain: false,
        }
    }

    pub fn correct(edit: Edit) -> Self {
        let mode = Mode::Correct { valid_from: None, valid_until: None };
        Self { mode, ..Self::change(edit) }
    }
}

impl Engine {
    pub async fn update(
        &self,
        request: &Request,
        target: &Target,
        update: Update,
    ) -> Result<Outcome> {
        check_sure(update.confidence)?;
        let now = request.moment.now;
        let mut writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(outcome) => return Ok(outcome),
        };
        let known = target.known(&writing.scope, now).await?;
        writing.check_match(&known)?;
        let (permit, number) = try_join!(self.permit(&writing, &known, &update), async {
            Ok(fact::next_number(&writing.scope, known[0].fact).await?)
        })?;
        let mut update = update;
        let mut voice = request.caller.voice;
        let replaces_stated = match permit {
            Permit::Change { edit, quoted, replaces } => {
                update.edit = *edit;
                if let Some(quoted) = quoted {
                    voice = Voice::stated(Origin::UserTurn);
                    update.turns = vec![quoted.turn.to_string()];
                }
                replaces
            }
            Permit::Propose(claim) => return propose_beside(writing, &known, *claim, update).await,
        };
        let provenance = Provenance {
            confidence: voice.extracted.then(|| update.confidence.unwrap_or(0.5)),
            session: update.session,
            turns: update.turns,
            replaces_stated,
            ..Provenance::stated(voice)
        };
        let stamp = &mut writing.stamp;
        let (verb, changes) = match update.mode {
            Mode::Change { effective } => {
                let effective =
                    effective.unwrap_or_else(|| default_effective(&known, now, stamp.at));
                let effective = lukasa_core::time::micros(effective);
                let changes =
                    record::change(&known, &update.edit, effective, number, &provenance, stamp);
                (Verb::Change, changes)
            }
            Mode::Correct { valid_from, valid_until } => {
                // The same instant that the rule below picks its version by.
                let valid = corrected_validity(&known, stamp.at, valid_from, valid_until)?;
                let changes =
                    record::correct(&known, &update.edit, valid, number, &provenance, stamp);
                (Verb::Correct, changes)
            }
        };
        let changes = match changes {
            Err(Refusal::Unchanged) => {
                let shown = current(&known, now).map(|v| as_memory(v, &known, now));
                let mut outcome = Outcome::of(verb, "Nothing to change.".into());
                outcome.memories.extend(shown);
                return writing.answer(outcome).await;
            }
            other => other?,
        };
        let newest = changes.opens.iter().max_by_key(|v| v.number).ok_or(Refusal::NotActive)?;
        Error::faults(newest.claim.faults())?;
        let (claim, from) = (newest.claim.clone(), newest.valid.from);
        let after = remaining(&known, &changes);
        let message = match verb {
            Verb::Change => format!("Updated: {}", claim.content),
            _ => format!("Corrected: {}", claim.content),
        };
        let mut outcome = Outcome::of(verb, message);
        outcome.memories.extend(writing.shown(&after));
        let updated = writing.finish(verb, Effect::of(changes), outcome).await;
        self.name_the_holder(request, &claim, from, Some(known[0].fact), updated).await
    }
}

/// What an update may do.
enum Permit {
    /// Change the memory, with a quotation of the user's if that is what permits it.
    Change { edit: Box<Edit>, quoted: Option<Quoted>, replaces: bool },
    /// Only wait beside it as a proposal with this claim.
    Propose(Box<Claim>),
}

impl Engine {
    /// Asks admission about an update.
    async fn permit(
        &self,
        writing: &Writing<'_>,
        known: &[Version],
        update: &Update,
    ) -> Result<Permit> {
        let writer = Writer::of(writing.caller());
        let mut edit = update.edit.clone();
        if matches!(writer, Writer::Agent | Writer::Import) {
            edit.importance = None;
        }
        let old = current(known, writing.now()).or_else(|| known.iter().max_by_key(|v| v.number));
        let Some(old) = old else { return Err(Error::MemoryNotFound) };
        let claim = edit.apply(&old.claim);
        let mut permitted = State::Active;
        // A claim with faults is refused further on, after what the record says of the dates.
        if claim != old.claim && claim.faults().is_empty() {
            let screening = admission::screen(&claim).await;
            let ask = Ask {
                keep_without_domain: update.keep_without_domain,
                has_domain: old.claim.domain.as_deref(),
                ..Ask::new(writer, &screening)
            };
            let admitted = admission::admit(&writing.scope, claim.clone(), ask).await?;
            permitted = admitted.state;
            if admitted.claim.domain != claim.domain {
                edit.domain = Some(admitted.claim.domain);
            }
        }
        let (mut quoted, mut agents) = (None, AgentPolicy::default());
        if writer == Writer::Agent && is_users_own(old) {
            let session = update.session.as_deref();
            let quotes = &update.quotations;
            let scope = &writing.scope;
            quoted = admission::find_quotation(scope, &claim.content, quotes, session).await?;
            agents = self.policy_of(scope).await?.0.agents;
        }
        let replaces = may_replace(writer, old, quoted.is_some(), agents);
        if writer == Writer::Agent && (!replaces || permitted == State::Proposed) {
            return Ok(Permit::Propose(Box::new(edit.apply(&old.claim))));
        }
        let replaces = replaces && writer == Writer::Agent;
        Ok(Permit::Change { edit: Box::new(edit), quoted, replaces })
    }
}

/// Keeps what an agent would have changed as a proposal beside the memory, and says that the two
/// contradict each other, so that the user is shown both.
async fn propose_beside(
    mut writing: Writing<'_>,
    known: &[Version],
    claim: Claim,
    update: Update,
) -> Result<Outcome> {
    Error::faults(claim.faults())?;
    let now = writing.now();
    if let Some(same) = fact::waiting_the_same(&writing.scope, &claim).await? {
        let memory = as_memory(&same, std::slice::from_ref(&same), now);
        let message = format!("Already waiting for a yes: {}", same.claim.content);
        return writing.answer(Outcome::of(Verb::Propose, message).with(memory)).await;
    }
    let provenance =
        Provenance { session: update.session, ..Provenance::stated(writing.caller().voice) };
    let message = format!("Proposed, waiting for a yes: {}", claim.content);
    let stamp = &mut writing.stamp;
    let changes = record::save(claim, State::Proposed, Period::since(now), provenance, stamp);
    let link = Link {
        id: stamp.ids.link(),
        from: changes.opens[0].fact,
        to: known[0].fact,
        relation: CONTRADICTS.into(),
        known: Period::since(stamp.at),
        opened_by: stamp.operation,
        closed_by: None,
        reopens: None,
    };
    let mut outcome = Outcome::of(Verb::Propose, message);
    outcome.memories.extend(writing.shown(&changes.opens));
    let effect = Effect { opens_links: vec![link], ..Effect::of(changes) };
    writing.finish(Verb::Propose, effect, outcome).await
}

/// What will be known of a fact once the changes are applied.
pub(super) fn remaining(known: &[Version], changes: &lukasa_core::Changes) -> Vec<Version> {
    let closed = |v: &Version| changes.closes.iter().any(|(_, id)| *id == v.id);
    let fact = known.first().map(|v| v.fact);
    let opened = changes.opens.iter().filter(|v| fact.is_none_or(|fact| v.fact == fact));
    known.iter().filter(|v| !closed(v)).chain(opened).cloned().collect()
}

/// A change without a date happens now, and never before the latest change: `now` was read before
/// the write waited for its turn, and another server's clock may be behind. To a memory that has not
/// begun yet it happens when it begins.
pub(crate) fn default_effective(known: &[Version], now: Timestamp, at: Timestamp) -> Timestamp {
    let active = || known.iter().filter(|v| v.state == State::Active);
    let starts = || active().map(|v| v.valid.from);
    let effective = starts().filter(|from| *from <= at).max().map_or(now, |begun| now.max(begun));
    if active().any(|v| v.valid.contains(effective)) {
        return effective;
    }
    starts().filter(|from| *from > effective).min().unwrap_or(effective)
}

fn corrected_validity(
    known: &[Version],
    now: Timestamp,
    from: Option<Timestamp>,
    until: Option<Option<Timestamp>>,
) -> Result<Option<Period>> {
    if from.is_none() && until.is_none() {
        return Ok(None);
    }
    let old = current(known, now).ok_or(Error::MemoryNotFound)?.valid;
    let period = Period::new(from.unwrap_or(old.from), until.unwrap_or(old.until));
    Ok(Some(period.ok_or(Refusal::EmptyValidity)?))
}
