//! Update, as a change ("I moved in March") or as a correction ("I never lived there").

use futures_util::try_join;
use quipu_core::record::{self, Provenance};
use quipu_core::{Edit, Period, Refusal, State, Timestamp, Verb, Version};
use quipu_store::fact;

use super::outcome::Outcome;
use super::read::{as_memory, current};
use super::save::{check_domain, check_sure};
use super::target::Target;
use super::write::{Begun, Effect};
use crate::error::{Error, Result};
use crate::{Engine, Request};

#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    pub edit: Edit,
    pub mode: Mode,
    pub session: Option<String>,
    pub turns: Vec<String>,
    pub confidence: Option<f32>,
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
        Self { edit, mode, session: None, turns: Vec::new(), confidence: None }
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
        let domain = update.edit.domain.as_ref().and_then(Option::as_deref);
        let (_, number) = try_join!(check_domain(&writing.scope, domain), async {
            Ok(fact::next_number(&writing.scope, known[0].fact).await?)
        })?;
        let voice = request.caller.voice;
        let provenance = Provenance {
            confidence: voice.extracted.then(|| update.confidence.unwrap_or(0.5)),
            session: update.session,
            turns: update.turns,
            ..Provenance::stated(voice)
        };
        let stamp = &mut writing.stamp;
        let (verb, changes) = match update.mode {
            Mode::Change { effective } => {
                let effective =
                    effective.unwrap_or_else(|| default_effective(&known, now, stamp.at));
                let effective = quipu_core::time::micros(effective);
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

/// What will be known of a fact once the changes are applied.
pub(super) fn remaining(known: &[Version], changes: &quipu_core::Changes) -> Vec<Version> {
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
