//! Confirm: affirm a memory that is active, or answer a proposal. Only a human says yes to a
//! proposal, and a yes binds the very bytes that were shown.

use lukasa_core::admission::Writer;
use lukasa_core::{CallerKind, Edit, Origin, Refusal, State, Verb, Version, record};
use lukasa_store::fact;

use super::outcome::Outcome;
use super::target::Target;
use super::update::remaining;
use super::write::{Begun, Effect};
use crate::admission::{self, Ask};
use crate::error::{Error, Result};
use crate::{Engine, Request};

#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Yes, to the words with this digest, with the person's own edits.
    Yes {
        digest: Option<String>,
        edit: Box<Edit>,
    },
    No,
}

impl Engine {
    pub async fn confirm(
        &self,
        request: &Request,
        target: &Target,
        decision: Decision,
    ) -> Result<Outcome> {
        let mut writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(outcome) => return Ok(outcome),
        };
        let now = request.moment.now;
        let known = target.known(&writing.scope, now).await?;
        writing.check_match(&known)?;
        let human = request.caller.kind == CallerKind::Human;
        let agent = matches!(Writer::of(&request.caller), Writer::Agent | Writer::Import);
        if agent && !is_own_proposal(&known, &decision) {
            return Err(Refusal::NeedsHuman.into());
        }
        let waits = known.iter().any(|v| matches!(v.state, State::Proposed | State::Candidate));
        let (verb, word, changes) = match (waits, decision) {
            (true, Decision::Yes { digest, edit }) => {
                let digest = digest.ok_or_else(|| {
                    Error::invalid("sha256", "the digest of the words that were shown")
                })?;
                let number = fact::next_number(&writing.scope, known[0].fact).await?;
                let voice = human.then_some(request.caller.voice);
                let stamp = &mut writing.stamp;
                let changes = record::accept(&known, &edit, &digest, number, voice, stamp)?;
                for opened in &changes.opens {
                    Error::faults(opened.claim.faults())?;
                    let screening = admission::screen(&opened.claim).await;
                    let ask = Ask::new(Writer::Human, &screening);
                    admission::admit(&writing.scope, opened.claim.clone(), ask).await?;
                }
                (Verb::Confirm, "Confirmed", changes)
            }
            (true, Decision::No) => (
                Verb::Reject,
                "Rejected",
                record::reject(&known, request.caller.voice, &mut writing.stamp)?,
            ),
            (false, Decision::Yes { edit, .. }) => {
                if !edit.is_empty() {
                    return Err(Error::invalid("edits", "only a proposal is edited on the way in"));
                }
                (Verb::Confirm, "Confirmed", record::confirm(&known, human, &mut writing.stamp)?)
            }
            (false, Decision::No) => return Err(Error::NotProposed),
        };
        let after = remaining(&known, &changes);
        let shown = writing.shown(&after);
        let opened = changes.opens.first().map(|v| (v.claim.clone(), v.valid.from));
        let (claim, from) = opened.ok_or(Error::NotProposed)?;
        let mut outcome = Outcome::of(verb, format!("{word}: {}", claim.content));
        outcome.memories.extend(shown);
        let confirmed = writing.finish(verb, Effect::of(changes), outcome).await;
        self.name_the_holder(request, &claim, from, Some(known[0].fact), confirmed).await
    }
}

/// Whether an agent takes back what an agent has proposed. Anything else is for the user to decide.
fn is_own_proposal(known: &[Version], decision: &Decision) -> bool {
    let waits = |v: &&Version| v.state == State::Proposed;
    let agents = |v: &Version| !v.extracted && v.origin < Origin::UserTurn;
    *decision == Decision::No && known.iter().filter(waits).all(agents)
}
