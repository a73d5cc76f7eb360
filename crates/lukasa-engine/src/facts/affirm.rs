//! Affirm: an assistant reports that the user has said again what an active memory says. It counts only
//! with the user's own typed words, and is not consent: `consented_at` is a human's alone, so a claim of
//! an assistant stays one. A hard rule, an order or a permission is affirmed by the user only.

use lukasa_core::admission::is_carried;
use lukasa_core::fade::ConfidenceInputs;
use lukasa_core::learning::Transcript;
use lukasa_core::learning::quotations::typed_places_of_all;
use lukasa_core::{Force, Refusal, State, Timestamp, Verb, Version, Writer, record};
use lukasa_text::screen::{ground, person};

use super::Facts;
use super::target::Target;
use super::update::remaining;
use crate::admission;
use crate::error::Result;
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart, Writing};

/// The words of the user that an assistant affirms a memory with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Affirmation {
    /// Literal quotations of what the user typed.
    pub quotations: Vec<String>,
    /// The session that they are from; the one with the latest turn if absent.
    pub session: Option<String>,
}

impl Facts {
    /// Records that the user has said again what an active memory says. Without a sentence of the
    /// user's that says so, typed since the memory was last said or confirmed, only the user can
    /// confirm it.
    pub async fn affirm(
        &self,
        request: &Request,
        target: &Target,
        affirmation: &Affirmation,
    ) -> Result<Outcome> {
        if let Some(session) = &affirmation.session {
            admission::check_session_name(session)?;
        }
        admission::check_quotations(&affirmation.quotations)?;
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        let known = target.known(&writing.scope, request.moment.now).await?;
        writing.check_match(&known)?;
        if Writer::of(&request.caller) != Writer::Agent {
            return Err(Refusal::NeedsHuman.into());
        }
        let at = writing.stamp.at;
        let active = known.iter().find(|v| v.state == State::Active && v.valid.contains(at));
        let old = active.ok_or(Refusal::NeedsHuman)?;
        admission::check_still_open(&writing.scope, &request.caller, &old.claim).await?;
        if !is_said_again(&writing, old, affirmation, at).await? {
            return Err(Refusal::NeedsHuman.into());
        }
        let message = format!("Confirmed: {}", old.claim.content);
        let changes = record::confirm(&known, false, &mut writing.stamp)?;
        let after = remaining(&known, &changes);
        let mut outcome = Outcome::of(Verb::Confirm, message);
        outcome.memories.extend(writing.shown(&after));
        writing.finish(Verb::Confirm, Effect::of(changes), outcome).await
    }
}

/// Whether the user typed one of the quotations since the memory was last said or confirmed, in a
/// sentence that says all that is shown of the memory. What they had typed before says nothing about
/// now, and does not keep the same words from counting later.
async fn is_said_again(
    writing: &Writing<'_>,
    old: &Version,
    affirmation: &Affirmation,
    now: Timestamp,
) -> Result<bool> {
    let directs = admission::screen(&old.claim).await.directs;
    if directs || old.claim.force == Force::Hard {
        return Ok(false);
    }
    let (scope, session) = (&writing.scope, affirmation.session.as_deref());
    let Some(latest) = admission::latest_turns(scope, session).await? else { return Ok(false) };
    let mut claim = old.claim.clone();
    admission::leave_out_known_project(scope, &mut claim, &latest, None).await?;
    let since = ConfidenceInputs::from(old).fresh_at;
    let quotations = affirmation.quotations.clone();
    let search = move || {
        let transcript = Transcript::of(&latest.turns, &[]);
        let says_so = |sentence: &str| {
            is_carried(&claim, None, sentence)
                && ground::carries(&claim.content, sentence)
                && !ground::is_hedged(sentence)
                && person::speaks_as_subject(sentence)
        };
        let mut later = typed_places_of_all(&transcript, &quotations, since);
        later.any(|found| found.said_at <= now && says_so(&found.sentence))
    };
    Ok(tokio::task::spawn_blocking(search).await.unwrap_or(false))
}
