//! Update, as a change ("I moved in March") or as a correction ("I never lived there").

use futures_util::try_join;
use lukasa_core::admission::{is_users_own, may_replace};
use lukasa_core::link::CONTRADICTS;
use lukasa_core::record::{self, Provenance};
use lukasa_core::{
    AgentPolicy, Claim, Edit, Link, Origin, Period, Refusal, State, Timestamp, Verb, Version,
    Voice, Writer,
};
use lukasa_store::fact;

use super::Facts;
use super::confirm::check_not_extended;
use super::save::{check_confidence, check_unmentioned};
use super::target::Target;
use crate::admission::{self, AdmissionRequest, Quoted};
use crate::error::{Error, Result};
use crate::memory::{as_memory, current};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart, Writing};

#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    pub edit: Edit,
    pub mode: UpdateMode,
    pub session: Option<String>,
    pub turns: Vec<String>,
    pub confidence: Option<f32>,
    /// The user's own words that an agent derived the change from.
    pub quotations: Vec<String>,
    /// A human's consent: keep a sensitive claim as a memory without a domain, although its domain
    /// is not open.
    pub keep_without_domain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UpdateMode {
    /// The fact changed, at this time or now.
    Change { effective: Option<Timestamp> },
    /// The fact was never true. The dates can be corrected too.
    Correct { valid_from: Option<Timestamp>, valid_until: Option<Option<Timestamp>> },
}

impl Update {
    pub fn change(edit: Edit) -> Self {
        let mode = UpdateMode::Change { effective: None };
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
        let mode = UpdateMode::Correct { valid_from: None, valid_until: None };
        Self { mode, ..Self::change(edit) }
    }
}

impl Facts {
    pub async fn update(
        &self,
        request: &Request,
        target: &Target,
        update: Update,
    ) -> Result<Outcome> {
        check_confidence(update.confidence)?;
        admission::check_quotations(&update.quotations)?;
        if let Some(session) = &update.session {
            admission::check_session_name(session)?;
        }
        check_unmentioned(&request.caller, update.edit.unmentioned)?;
        let now = request.moment.now;
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
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
        let writer = Writer::of(writing.caller());
        let stamp = &mut writing.stamp;
        let (verb, changes) = match update.mode {
            UpdateMode::Change { effective } => {
                let effective =
                    effective.unwrap_or_else(|| default_effective(&known, now, stamp.at));
                let effective = lukasa_core::time::micros(effective);
                let changes =
                    record::change(&known, &update.edit, effective, number, &provenance, stamp);
                (Verb::Change, changes)
            }
            UpdateMode::Correct { valid_from: None, valid_until: None }
                if writer == Writer::Human && is_filing(&update.edit) =>
            {
                let to = update.edit.domain.as_ref().and_then(Option::as_deref);
                (Verb::Correct, record::file(&known, to, number, stamp))
            }
            UpdateMode::Correct { valid_from, valid_until } => {
                // The same instant by which the rule below selects its version.
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
        check_not_extended(&writing, &known, &changes.opens).await?;
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
        let mut effect = Effect::of(changes);
        // The prompts of open sessions have its line without the instruction.
        effect.also_revoked.extend(update.edit.unmentioned.map(|_| known[0].fact));
        let updated = writing.finish(verb, effect, outcome).await;
        self.add_key_holder(request, &claim, from, Some(known[0].fact), updated).await
    }
}

/// Whether an edit only moves the memory to another domain.
fn is_filing(edit: &Edit) -> bool {
    edit.domain.is_some() && *edit == Edit { domain: edit.domain.clone(), ..Edit::default() }
}

/// Decision about an update.
enum Permit {
    /// Change the memory, with a quotation of the user's if that is what permits it.
    Change { edit: Box<Edit>, quoted: Option<Quoted>, replaces: bool },
    /// Only store this claim as a proposal beside it.
    Propose(Box<Claim>),
}

impl Facts {
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
        // Also if only the dates change.
        admission::check_still_open(&writing.scope, writing.caller(), &old.claim).await?;
        let claim = edit.apply(&old.claim);
        let mut permitted = State::Active;
        // A claim with faults is refused later, after the checks of the dates.
        if claim != old.claim && claim.faults().is_empty() {
            let screening = admission::screen(&claim).await;
            let ask = AdmissionRequest {
                keep_without_domain: update.keep_without_domain,
                has_domain: old.claim.domain.as_deref(),
                ..AdmissionRequest::of(writing.caller(), &screening)
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
            let before = Some(&old.claim);
            let caller = writing.caller();
            quoted =
                admission::find_quotation(scope, caller, &claim, before, quotes, session, None)
                    .await?;
            agents = self.policies.load(scope).await?.0.agents;
        }
        let replaces = may_replace(writer, old, quoted.is_some(), agents);
        let is_member = writing.caller().member.is_some();
        let may_ask = matches!(writer, Writer::Agent | Writer::Import) || is_member;
        let asks = may_ask && permitted == State::Proposed;
        if asks || ((writer == Writer::Agent || is_member) && !replaces) {
            return Ok(Permit::Propose(Box::new(edit.apply(&old.claim))));
        }
        let replaces = replaces && writer == Writer::Agent;
        Ok(Permit::Change { edit: Box::new(edit), quoted, replaces })
    }
}

/// Stores a change that needs consent as a proposal beside the memory, and links the two as contradicting, so
/// that the user is shown both.
async fn propose_beside(
    mut writing: Writing<'_>,
    known: &[Version],
    claim: Claim,
    update: Update,
) -> Result<Outcome> {
    Error::faults(claim.faults())?;
    let now = writing.now();
    if let Some(same) = fact::find_pending_duplicate(&writing.scope, &claim).await? {
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

/// The known versions of a fact after the changes are applied.
pub(crate) fn remaining(known: &[Version], changes: &lukasa_core::Changes) -> Vec<Version> {
    let closed = |v: &Version| changes.closes.iter().any(|(_, id)| *id == v.id);
    let fact = known.first().map(|v| v.fact);
    let opened = changes.opens.iter().filter(|v| fact.is_none_or(|fact| v.fact == fact));
    known.iter().filter(|v| !closed(v)).chain(opened).cloned().collect()
}

/// The default date of a change: now, but never before the latest change: `now` was read before the
/// write waited for its lock, and another server's clock may be behind. For a memory that is not
/// valid yet, it is the start of its validity.
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
