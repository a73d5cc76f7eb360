//! Save and propose: a new memory, active at once or waiting for its person's yes.

use futures_util::try_join;
use quipu_core::record::{self, Provenance};
use quipu_core::{Claim, Domain, Force, Period, State, Tier, Timestamp, Verb};
use quipu_store::{Scope, domain, fact};

use super::outcome::Outcome;
use super::read::as_memory;
use super::write::{Begun, Effect};
use crate::error::{Error, Result};
use crate::{Engine, Request};

#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    pub claim: Claim,
    /// Since when it holds; absent means now.
    pub valid_from: Option<Timestamp>,
    /// Until when it holds; absent means as long as its domain keeps such things, or until further
    /// notice.
    pub valid_until: Option<Timestamp>,
    /// The session and turns the words came from.
    pub session: Option<String>,
    pub turns: Vec<String>,
    /// How sure an extraction is; a statement needs no number.
    pub confidence: Option<f32>,
    pub tier: Tier,
}

impl NewMemory {
    pub fn saying(content: &str) -> Self {
        Self {
            claim: Claim::saying(content),
            valid_from: None,
            valid_until: None,
            session: None,
            turns: Vec::new(),
            confidence: None,
            tier: Tier::Strong,
        }
    }
}

impl Engine {
    /// Saves a memory. Saying the same again returns the memory that is there.
    pub async fn save(&self, request: &Request, new: NewMemory) -> Result<Outcome> {
        self.create(request, new, State::Active).await
    }

    /// Stores a proposal: visible to its person, never active until they say yes to its words.
    pub async fn propose(&self, request: &Request, new: NewMemory) -> Result<Outcome> {
        self.create(request, new, State::Proposed).await
    }

    async fn create(&self, request: &Request, new: NewMemory, state: State) -> Result<Outcome> {
        Error::faults(new.claim.faults())?;
        check_sure(new.confidence)?;
        let now = request.moment.now;
        let mut writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(outcome) => return Ok(outcome),
        };
        // Judged by this moment's clock, so only after a retry has had its first answer.
        let mut valid = Period::new(new.valid_from.unwrap_or(now), new.valid_until)
            .ok_or(quipu_core::Refusal::EmptyValidity)?;
        let (domain, same) =
            try_join!(check_domain(&writing.scope, new.claim.domain.as_deref()), async {
                Ok(fact::saying_the_same(&writing.scope, &new.claim, now).await?)
            },)?;
        if valid.until.is_none() {
            let from = now.max(valid.from);
            valid.until = domain.and_then(|domain| domain.expires_at(&new.claim, from));
        }
        if let Some(same) = same {
            let memory = as_memory(&same, std::slice::from_ref(&same), now);
            let message = format!("Already remembered: {}", same.claim.content);
            return writing.answer(Outcome::of(Verb::Save, message).with(memory)).await;
        }
        if state == State::Proposed
            && let Some(same) = fact::waiting_the_same(&writing.scope, &new.claim).await?
        {
            let memory = as_memory(&same, std::slice::from_ref(&same), now);
            let message = format!("Already waiting for a yes: {}", same.claim.content);
            return writing.answer(Outcome::of(Verb::Propose, message).with(memory)).await;
        }
        let voice = request.caller.voice;
        let provenance = Provenance {
            voice,
            // An extraction that does not say how sure it is, is not.
            confidence: voice.extracted.then(|| new.confidence.unwrap_or(0.5)),
            tier: new.tier,
            session: new.session,
            turns: new.turns,
        };
        let (verb, message) = match state {
            State::Active => (Verb::Save, format!("Saved: {}", new.claim.content)),
            _ => (Verb::Propose, format!("Proposed, waiting for a yes: {}", new.claim.content)),
        };
        let claim = new.claim.clone();
        let changes = record::save(new.claim, state, valid, provenance, &mut writing.stamp);
        let shown = writing.shown(&changes.opens);
        let mut outcome = Outcome::of(verb, message);
        outcome.memories.extend(shown);
        let saved = writing.finish(verb, Effect::of(changes), outcome).await;
        self.name_the_holder(request, &claim, valid.from, None, saved).await
    }

    /// When a hard memory's place was taken, says by which one.
    pub(super) async fn name_the_holder<T>(
        &self,
        request: &Request,
        claim: &Claim,
        from: Timestamp,
        asking: Option<quipu_core::FactId>,
        result: Result<T>,
    ) -> Result<T> {
        let (Err(Error::KeyTaken(None)), Force::Hard, Some(domain), Some(key)) =
            (&result, claim.force, &claim.domain, &claim.key)
        else {
            return result;
        };
        let scope = self.store.read(request.caller.tenant, request.caller.user).await?;
        let holder = fact::holder_of_key(&scope, domain, key, from, asking).await?;
        let now = request.moment.now;
        let memory = holder.map(|v| Box::new(as_memory(&v, std::slice::from_ref(&v), now)));
        Err(Error::KeyTaken(memory))
    }
}

/// The domain must be there and, if it is one of the shut ones, opened by its person.
pub(crate) async fn check_domain(scope: &Scope, name: Option<&str>) -> Result<Option<Domain>> {
    let Some(name) = name else { return Ok(None) };
    match domain::find(scope, name).await? {
        None => Err(Error::DomainNotFound(name.to_owned())),
        Some((domain, false)) if domain.requires_opt_in => Err(Error::OptInNeeded(domain.name)),
        Some((domain, _)) => Ok(Some(domain)),
    }
}

pub(super) fn check_sure(confidence: Option<f32>) -> Result<()> {
    match confidence {
        Some(sure) if !(0.0..=1.0).contains(&sure) => {
            Err(Error::invalid("confidence", "between 0 and 1"))
        }
        _ => Ok(()),
    }
}
