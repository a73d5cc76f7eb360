//! Confirm: affirm an active memory, or answer a proposal. Only a human accepts a proposal, and the
//! acceptance is bound to the exact bytes that were shown.

use lukasa_core::admission::Writer;
use lukasa_core::{
    CallerKind, Edit, FactId, Force, Origin, Refusal, State, Timestamp, Verb, Version, record,
};
use lukasa_store::{fact, space};

use super::Facts;
use super::save::check_unmentioned;
use super::target::Target;
use super::update::remaining;
use crate::admission::{self, AdmissionRequest};
use crate::error::{Error, Result};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart, Writing};

#[derive(Debug, Clone, PartialEq)]
pub enum ProposalDecision {
    /// Accept the content with this digest, with the user's own edits. Without a digest a human
    /// accepts the current content.
    Yes {
        digest: Option<String>,
        edit: Box<Edit>,
    },
    No,
}

impl Facts {
    pub async fn confirm(
        &self,
        request: &Request,
        target: &Target,
        decision: ProposalDecision,
    ) -> Result<Outcome> {
        if let ProposalDecision::Yes { edit, .. } = &decision {
            check_unmentioned(&request.caller, edit.unmentioned)?;
        }
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
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
            (true, ProposalDecision::Yes { digest, edit }) => {
                // A human who names no digest agrees to the words as they are now; `If-Match` makes
                // sure that these were shown. A client of an agent has to name them.
                let own = || human.then(|| consent_digest(&known)).flatten();
                let digest = digest.or_else(own).ok_or_else(|| {
                    Error::invalid("sha256", "the digest of the content that was shown")
                })?;
                let number = fact::next_number(&writing.scope, known[0].fact).await?;
                let voice = human.then_some(request.caller.voice);
                let is_edited = !edit.is_empty();
                let stamp = &mut writing.stamp;
                let changes = record::accept(&known, &edit, &digest, number, voice, stamp)?;
                for opened in &changes.opens {
                    Error::faults(opened.claim.faults())?;
                    let screening = admission::screen(&opened.claim).await;
                    let ask = AdmissionRequest::of(&request.caller, &screening);
                    let ask = AdmissionRequest { writer: Writer::Human, ..ask };
                    let claim = opened.claim.clone();
                    let admitted = admission::admit(&writing.scope, claim, ask).await?;
                    if admitted.state == State::Proposed
                        && (is_edited || is_author(&writing, &known).await?)
                    {
                        return Err(Error::NeedsOtherMember);
                    }
                }
                (Verb::Confirm, "Confirmed", changes)
            }
            (true, ProposalDecision::No) => (
                Verb::Reject,
                "Rejected",
                record::reject(&known, request.caller.voice, &mut writing.stamp)?,
            ),
            (false, ProposalDecision::Yes { edit, .. }) => {
                if !edit.is_empty() {
                    return Err(Error::invalid(
                        "edits",
                        "only a proposal can be edited while it is accepted",
                    ));
                }
                (Verb::Confirm, "Confirmed", record::confirm(&known, human, &mut writing.stamp)?)
            }
            (false, ProposalDecision::No) => return Err(Error::NotProposed),
        };
        let after = remaining(&known, &changes);
        let shown = writing.shown(&after);
        let opened = changes.opens.first().map(|v| (v.claim.clone(), v.valid.from));
        let (claim, from) = opened.ok_or(Error::NotProposed)?;
        let mut outcome = Outcome::of(verb, format!("{word}: {}", claim.content));
        outcome.memories.extend(shown);
        let confirmed = writing.finish(verb, Effect::of(changes), outcome).await;
        self.add_key_holder(request, &claim, from, Some(known[0].fact), confirmed).await
    }
}

/// Whether the member who acts in a space, or an assistant of theirs, wrote the words that wait for
/// consent. What directs the assistants of all members is accepted by another one.
async fn is_author(writing: &Writing<'_>, known: &[Version]) -> Result<bool> {
    let waits = |v: &&Version| matches!(v.state, State::Proposed | State::Candidate);
    let waiting: Vec<(FactId, i32)> =
        known.iter().filter(waits).map(|v| (v.fact, v.number)).collect();
    has_written(writing, &waiting).await
}

/// Whether the member who acts in a space, or an assistant of theirs, wrote one of these editions.
async fn has_written(writing: &Writing<'_>, editions: &[(FactId, i32)]) -> Result<bool> {
    if editions.is_empty() {
        return Ok(false);
    }
    let authors = space::authors(&writing.scope, editions).await?;
    Ok(authors.iter().any(|(_, author)| Some(*author) == writing.caller().member))
}

/// Refuses a member of a space who would alone bring back their own order, permission or hard rule by
/// these versions: another member may have withdrawn it.
pub(crate) async fn check_other_member(writing: &Writing<'_>, opens: &[Version]) -> Result<()> {
    if writing.caller().member.is_none() {
        return Ok(());
    }
    let mut binding = Vec::new();
    for version in opens.iter().filter(|version| version.state == State::Active) {
        let is_hard = version.claim.force == Force::Hard;
        if is_hard || admission::screen(&version.claim).await.directs {
            binding.push((version.fact, version.number));
        }
    }
    match has_written(writing, &binding).await? {
        true => Err(Error::NeedsOtherMember),
        false => Ok(()),
    }
}

/// Refuses a member of a space who would alone let their own order, permission or hard rule hold at
/// times when it does not hold now: another member accepted it as it was, or has ended it.
pub(super) async fn check_not_extended(
    writing: &Writing<'_>,
    known: &[Version],
    opens: &[Version],
) -> Result<()> {
    let held = |new: &Version| {
        known.iter().any(|old| {
            let is_same = old.state == State::Active && old.number == new.number;
            let until = |end: Option<Timestamp>| end.unwrap_or(Timestamp::MAX);
            let is_within = old.valid.from <= new.valid.from
                && until(new.valid.until) <= until(old.valid.until);
            is_same && is_within
        })
    };
    let extended: Vec<Version> = opens.iter().filter(|new| !held(new)).cloned().collect();
    check_other_member(writing, &extended).await
}

/// The digest of the words that wait for consent.
fn consent_digest(known: &[Version]) -> Option<String> {
    let mut waiting =
        known.iter().filter(|v| matches!(v.state, State::Proposed | State::Candidate));
    waiting.next().map(|version| version.claim.consent_digest())
}

/// Whether an agent withdraws a proposal made by an agent. Anything else is for the user to decide.
fn is_own_proposal(known: &[Version], decision: &ProposalDecision) -> bool {
    let waits = |v: &&Version| v.state == State::Proposed;
    let agents = |v: &Version| !v.extracted && v.origin < Origin::UserTurn;
    *decision == ProposalDecision::No && known.iter().filter(waits).all(agents)
}
