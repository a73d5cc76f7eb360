//! Save and propose: a new memory, active at once or waiting for the user's confirmation.

use futures_util::try_join;
use lukasa_core::admission::project_directs;
use lukasa_core::fade::Lifetime;
use lukasa_core::learning::explicit;
use lukasa_core::record::{self, Provenance};
use lukasa_core::{
    Caller, Claim, Edit, FactId, Force, Origin, PassId, Period, Project, ProjectScope, State, Tier,
    Timestamp, TurnId, Verb, Version, Voice, Writer,
};
use lukasa_store::{Batch, Scope, fact, left_out, session};

use super::Facts;
use super::target::Target;
use super::update::{Update, UpdateMode};
use crate::admission::{self, AdmissionRequest, AdmittedClaim};
use crate::error::{Error, Result};
use crate::memory::as_memory;
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart};

#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    pub claim: Claim,
    /// Start of validity; absent means now.
    pub valid_from: Option<Timestamp>,
    /// End of validity; absent means the domain's default expiration, or open-ended.
    pub valid_until: Option<Timestamp>,
    /// How long it lasts, if it has no end of validity.
    pub lifetime: Option<Lifetime>,
    /// The session and turns the content came from.
    pub session: Option<String>,
    pub turns: Vec<String>,
    /// Confidence of an extraction or a proposed inference; a statement needs none.
    pub confidence: Option<f32>,
    pub tier: Tier,
    /// A human's consent: keep a sensitive claim as a memory without a domain, although its domain
    /// is not open.
    pub keep_without_domain: bool,
    /// The project of the session it is saved in, if the session is not stored yet. What a session's
    /// memories are about belongs to its project, unless the claim names one.
    pub active_project: Option<Project>,
    /// The pass and place of the left-out proposal that the user keeps with it.
    pub left_out: Option<(PassId, i32)>,
    /// The reply that it keeps as a note. Notes of two replies differ although their lines are equal.
    pub note_of: Option<TurnId>,
}

impl NewMemory {
    pub fn saying(content: &str) -> Self {
        Self {
            claim: Claim::saying(content),
            valid_from: None,
            valid_until: None,
            lifetime: None,
            session: None,
            turns: Vec::new(),
            confidence: None,
            tier: Tier::Strong,
            keep_without_domain: false,
            active_project: None,
            left_out: None,
            note_of: None,
        }
    }
}

/// The change of the rule that holds a key into one that is saved under the same key.
fn change_to(new: NewMemory, old: &Claim) -> Update {
    let Claim { content, summary, detail, value, tags, evidence, reasoning, .. } = new.claim;
    let edit = Edit {
        content: Some(content),
        summary: Some(summary),
        detail: detail.map(Some),
        value: (value != old.value).then_some(value),
        tags: Some(tags).filter(|tags| !tags.is_empty()),
        reasoning: reasoning.map(Some),
        ..Edit::default()
    };
    Update {
        mode: UpdateMode::Change { effective: new.valid_from },
        session: new.session,
        turns: new.turns,
        quotations: evidence.into_iter().map(|item| item.description).collect(),
        keep_without_domain: new.keep_without_domain,
        ..Update::change(edit)
    }
}

/// The memory that a statement of the user has just saved, if an assistant saves the same with a
/// tool.
async fn stated_already(
    request: &Request,
    scope: &Scope,
    writer: Writer,
    claim: &Claim,
) -> Result<Option<Version>> {
    if writer != Writer::Agent || request.caller.credential == explicit::CREDENTIAL {
        return Ok(None);
    }
    let from = request.moment.now - explicit::TOOL_WINDOW;
    let recent = fact::opened_since(scope, from, Some(explicit::CREDENTIAL)).await?;
    let is_current = |old: &Version| old.state == State::Active && old.known.until.is_none();
    let seen = ProjectScope::of(claim.project.as_ref());
    let is_seen = |old: &Version| seen.admits(old.claim.project.as_ref());
    let repeats = |old: &Version| explicit::repeats(&claim.content, &old.claim.content);
    Ok(recent.into_iter().find(|old| is_current(old) && is_seen(old) && repeats(old)))
}

impl Facts {
    /// Saves a memory. Saving the same content again returns the existing memory.
    pub async fn save(&self, request: &Request, new: NewMemory) -> Result<Outcome> {
        self.create(request, new, State::Active).await
    }

    /// Saves a memory; a rule under a key that exists already changes the rule that has it.
    pub async fn save_or_change(&self, request: &Request, new: NewMemory) -> Result<Outcome> {
        let rule = (new.claim.force == Force::Hard).then(|| new.clone());
        match (self.create(request, new, State::Active).await, rule) {
            (Err(Error::KeyTaken(Some(holder))), Some(new)) => {
                let target = Target::Id(holder.version.fact);
                self.update(request, &target, change_to(new, &holder.version.claim)).await
            }
            (result, _) => result,
        }
    }

    /// Stores a proposal: visible to the user, and not active until they accept its content.
    pub async fn propose(&self, request: &Request, new: NewMemory) -> Result<Outcome> {
        self.create(request, new, State::Proposed).await
    }

    async fn create(&self, request: &Request, mut new: NewMemory, state: State) -> Result<Outcome> {
        Error::faults(new.claim.faults())?;
        check_confidence(new.confidence)?;
        if let Some(session) = &new.session {
            admission::check_session_name(session)?;
        }
        // A proposal with a confidence is an inference.
        let is_inference = state == State::Proposed && new.confidence.is_some();
        let now = request.moment.now;
        let writer = Writer::of(&request.caller);
        check_unmentioned(&request.caller, new.claim.unmentioned.then_some(true))?;
        let mut screening = admission::screen(&new.claim).await;
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        // Depends on the clock, so it comes after the check for a stored answer: a retry must get
        // the same one.
        let mut valid = Period::new(new.valid_from.unwrap_or(now), new.valid_until)
            .ok_or(lukasa_core::Refusal::EmptyValidity)?;
        let scope = &writing.scope;
        new.claim.project = project_of(scope, &new).await?;
        // A project of the session was not screened with the claim.
        let project = new.claim.project.as_ref().map(Project::as_str);
        screening.directs |= project.is_some_and(project_directs);
        let claim = new.claim.clone();
        let keep_without_domain = new.keep_without_domain;
        let ask = AdmissionRequest::of(&request.caller, &screening);
        let ask = AdmissionRequest { keep_without_domain, ..ask };
        let (admitted, same, stated) = try_join!(
            admission::admit(scope, claim, ask),
            find_same(scope, &new, now),
            stated_already(request, scope, writer, &new.claim),
        )?;
        let same = same.or(stated);
        let AdmittedClaim { mut claim, state: most, domain } = admitted;
        let state = if most == State::Proposed { most } else { state };
        if valid.until.is_none() {
            let from = now.max(valid.from);
            valid.until = match new.lifetime {
                Some(lifetime) => lifetime
                    .end_of(&claim, from)
                    .map_err(|error| Error::invalid("ttl", &error.to_string()))?,
                None => match domain.filter(|domain| domain.default_expiration_days.is_some()) {
                    Some(domain) => {
                        let (policy, _) = self.policies.load(&writing.scope).await?;
                        domain.expires_at(&claim, from, policy.domain_expiry())
                    }
                    None => None,
                },
            };
        }
        let left_out = new.left_out;
        let mark_kept = |scope: &Scope, fact: FactId| {
            let mut batch = Batch::default();
            if let Some((pass, place)) = left_out {
                left_out::mark_kept(&mut batch, scope, pass, place, fact);
            }
            batch
        };
        if let Some(same) = same {
            let batch = mark_kept(&writing.scope, same.fact);
            let memory = as_memory(&same, std::slice::from_ref(&same), now);
            let message = format!("Already remembered: {}", same.claim.content);
            let outcome = Outcome::of(Verb::Save, message).with(memory);
            return writing.answer_with(batch, outcome).await;
        }
        if state == State::Proposed
            && new.note_of.is_none()
            && let Some(same) = fact::find_pending_duplicate(&writing.scope, &new.claim).await?
        {
            let memory = as_memory(&same, std::slice::from_ref(&same), now);
            let message = format!("Already waiting for a yes: {}", same.claim.content);
            return writing.answer(Outcome::of(Verb::Propose, message).with(memory)).await;
        }
        let mut voice = request.caller.voice;
        let mut turns = new.turns;
        if writer == Writer::Agent {
            let quotations: Vec<String> =
                new.claim.evidence.iter().map(|item| item.description.clone()).collect();
            let session = new.session.as_deref();
            let scope = &writing.scope;
            let quoted = admission::find_quotation(
                scope,
                &request.caller,
                &claim,
                None,
                &quotations,
                session,
                new.active_project.as_ref(),
            )
            .await?;
            turns = existing_turns(&writing.scope, &turns).await?;
            if let Some(quoted) = quoted {
                voice = Voice::stated(Origin::UserTurn);
                turns = vec![quoted.turn.to_string()];
                claim.evidence = vec![quoted.evidence];
            } else if state == State::Proposed {
                claim.evidence =
                    admission::verify_evidence(&writing.scope, &new.claim.evidence, session)
                        .await?;
            }
        }
        if is_inference {
            voice = Voice::extracted(voice.origin);
        }
        let provenance = Provenance {
            voice,
            // An extraction without a confidence counts as uncertain.
            confidence: voice.extracted.then(|| new.confidence.unwrap_or(0.5)),
            tier: new.tier,
            session: new.session,
            turns,
            replaces_stated: false,
        };
        let (verb, message) = match state {
            State::Active => (Verb::Save, format!("Saved: {}", claim.content)),
            _ => (Verb::Propose, format!("Proposed, waiting for a yes: {}", claim.content)),
        };
        let changes = record::save(claim.clone(), state, valid, provenance, &mut writing.stamp);
        let shown = writing.shown(&changes.opens);
        let mut outcome = Outcome::of(verb, message);
        outcome.memories.extend(shown);
        let with = mark_kept(&writing.scope, changes.opens[0].fact);
        let effect = Effect { with, ..Effect::of(changes) };
        let saved = writing.finish(verb, effect, outcome).await;
        self.add_key_holder(request, &claim, valid.from, None, saved).await
    }

    /// Adds the memory that holds the key to a `KeyTaken` error.
    pub(crate) async fn add_key_holder<T>(
        &self,
        request: &Request,
        claim: &Claim,
        from: Timestamp,
        asking: Option<FactId>,
        result: Result<T>,
    ) -> Result<T> {
        let (Err(Error::KeyTaken(None)), Force::Hard, Some(domain), Some(key)) =
            (&result, claim.force, &claim.domain, &claim.key)
        else {
            return result;
        };
        let scope = self.parts.store.read_as(&request.caller).await?;
        let holder =
            fact::holder_of_key(&scope, domain, key, claim.project.as_ref(), from, asking).await?;
        let now = request.moment.now;
        let memory = holder.map(|v| Box::new(as_memory(&v, std::slice::from_ref(&v), now)));
        Err(Error::KeyTaken(memory))
    }
}

/// The active memory that a new one would repeat: the same note, or one with the same words.
async fn find_same(scope: &Scope, new: &NewMemory, now: Timestamp) -> Result<Option<Version>> {
    Ok(match new.note_of {
        Some(reply) => fact::find_note(scope, reply, now).await?,
        None => fact::find_active_duplicate(scope, &new.claim, now).await?,
    })
}

/// The project of a new memory: the one that it names, or that of its session if it belongs there.
async fn project_of(scope: &Scope, new: &NewMemory) -> Result<Option<Project>> {
    if new.claim.project.is_some() {
        return Ok(new.claim.project.clone());
    }
    let of_session = match (&new.active_project, &new.session) {
        (Some(project), _) => Some(project.clone()),
        (None, Some(session)) => session::project_of(scope, session).await?,
        (None, None) => None,
    };
    Ok(new.claim.project_in(of_session.as_ref()))
}

/// The ids that are turns of this user. A caller can send any ids.
async fn existing_turns(scope: &Scope, ids: &[String]) -> Result<Vec<String>> {
    let named: Vec<_> =
        ids.iter().filter_map(|id| Some(id.parse::<TurnId>().ok()?.uuid())).collect();
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let turns = session::turns_by_id(scope, &named).await?;
    Ok(turns.iter().map(|turn| turn.id.to_string()).collect())
}

/// Refuses to set whether a memory is unmentioned for callers other than the user, and an unmentioned
/// memory of a space, because the instruction would reach the assistants of other members.
pub(super) fn check_unmentioned(caller: &Caller, unmentioned: Option<bool>) -> Result<()> {
    match unmentioned {
        None => Ok(()),
        Some(_) if Writer::of(caller) != Writer::Human => {
            Err(lukasa_core::Refusal::NeedsHuman.into())
        }
        Some(true) if caller.member.is_some() => {
            Err(Error::invalid("unmentioned", "not in a space, whose members read every memory"))
        }
        Some(_) => Ok(()),
    }
}

pub(super) fn check_confidence(confidence: Option<f32>) -> Result<()> {
    match confidence {
        Some(sure) if !(0.0..=1.0).contains(&sure) => {
            Err(Error::invalid("confidence", "between 0 and 1"))
        }
        _ => Ok(()),
    }
}
