//! The user's consent to use memories that are inferred about a sensitive domain without asking for
//! each of them. Giving and withdrawing it are operations, which undo reverses.

use std::sync::Arc;

use lukasa_core::audit::{AuditActor, AuditEntry, AuditEvent};
use lukasa_core::time::micros;
use lukasa_core::{
    CallerKind, Domain, DomainConsent, Operation, Refusal, Sources, Timestamp, Verb,
};
use lukasa_store::{Batch, audit, context, domain, domain_question, idempotency};
use sha2::{Digest, Sha256};

use crate::directory::learn_left_out;
use crate::error::{Error, Result};
use crate::parts::Parts;
use crate::request::Request;
use crate::transaction::{Effect, Outcome, Transactions, WriteStart, Writing};

/// Gives and withdraws consents.
#[derive(Clone)]
pub struct Consents {
    parts: Arc<Parts>,
    transactions: Transactions,
}

impl Consents {
    pub(crate) fn new(parts: Arc<Parts>, transactions: Transactions) -> Self {
        Self { parts, transactions }
    }

    /// Takes an answer of the user to a question that a client was asked, named by the signed key of
    /// the question. Each can be taken once, on whichever server; false if it was taken before.
    pub async fn take_answer(&self, request: &Request, question: &str) -> Result<bool> {
        let scope = self.transactions.write(request).await?;
        let now = micros(request.moment.now);
        let is_new = idempotency::claim(&scope, &answer_key(question), now).await?;
        scope.commit().await?;
        Ok(is_new)
    }

    /// Returns an answer that was taken and had no effect, so that it can be taken again.
    pub async fn return_answer(&self, request: &Request, question: &str) -> Result<()> {
        let scope = self.transactions.write(request).await?;
        idempotency::release(&scope, &answer_key(question)).await?;
        Ok(scope.commit().await?)
    }

    /// Opens a domain, and lets memories that are inferred about it be used without asking for each.
    /// What gives orders or lets another party act for the user is still asked about. Only the user
    /// consents.
    pub async fn give(&self, request: &Request, name: &str) -> Result<Outcome> {
        if request.caller.kind != CallerKind::Human {
            return Err(Refusal::NeedsHuman.into());
        }
        let writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        let found = domain::find(&writing.scope, name).await?;
        let (domain, opened) = found.ok_or_else(|| Error::DomainNotFound(name.to_owned()))?;
        if !takes_consent(&domain) {
            return Err(Error::invalid("name", "what is inferred of this domain needs no consent"));
        }
        if domain::admitting_inferred(&writing.scope).await?.iter().any(|known| known == name) {
            let outcome = Outcome::of(Verb::Confirm, "You have already agreed.".into());
            return writing.answer(outcome).await;
        }
        let opens = !opened;
        let mut effect = Effect::default();
        if opens && domain.requires_opt_in {
            learn_left_out(&self.parts, &mut effect.with, &writing.scope, request, name).await?;
        }
        domain_question::answer(&mut effect.with, &writing.scope, name, true, writing.stamp.at);
        give_consent(&mut effect.with, &writing, name, writing.stamp.at).await?;
        let consents = vec![DomainConsent { domain: name.to_owned(), opens }];
        effect.sources = Some(Sources { consents, ..Sources::default() });
        let message = format!(
            "The domain {name} is open, and what is inferred about it is used without asking."
        );
        writing.finish(Verb::Confirm, effect, Outcome::of(Verb::Confirm, message)).await
    }

    /// Withdraws the consent: what is inferred from now on is a proposal again. The domain stays
    /// open, and so do the memories that are stored.
    pub async fn withdraw(&self, request: &Request, name: &str) -> Result<Outcome> {
        if request.caller.kind != CallerKind::Human {
            return Err(Refusal::NeedsHuman.into());
        }
        let writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        if domain::find(&writing.scope, name).await?.is_none() {
            return Err(Error::DomainNotFound(name.to_owned()));
        }
        if !domain::admitting_inferred(&writing.scope).await?.iter().any(|known| known == name) {
            let outcome = Outcome::of(Verb::Reject, "There was no consent.".into());
            return writing.answer(outcome).await;
        }
        let consents = vec![DomainConsent { domain: name.to_owned(), opens: false }];
        let mut with = Batch::default();
        withdraw_consents(&mut with, &writing, &consents, None).await?;
        let sources = Some(Sources { consents, gone: true, ..Sources::default() });
        let message = format!("What is inferred about {name} is asked about again.");
        let effect = Effect { with, sources, ..Effect::default() };
        writing.finish(Verb::Reject, effect, Outcome::of(Verb::Reject, message)).await
    }
}

/// Whether what is inferred of a domain waits for the user's consent.
pub(crate) fn takes_consent(domain: &Domain) -> bool {
    domain.sensitive || domain.requires_opt_in
}

/// Gives a consent, and opens its domain as of `since` if it is not open; adds the entry of the audit
/// log to what is written with the operation.
pub(crate) async fn give_consent(
    batch: &mut Batch,
    writing: &Writing<'_>,
    name: &str,
    since: Timestamp,
) -> Result<()> {
    domain::admit_inferred(&writing.scope, name, since).await?;
    note(batch, writing, name, true);
    Ok(())
}

/// Withdraws consents, and closes the domains that they opened. A consent of an operation that is
/// undone closes no domain that the user has opened since.
pub(crate) async fn withdraw_consents(
    batch: &mut Batch,
    writing: &Writing<'_>,
    consents: &[DomainConsent],
    undone: Option<&Operation>,
) -> Result<()> {
    let scope = &writing.scope;
    for DomainConsent { domain: name, opens } in consents {
        let closes = match undone.filter(|_| *opens) {
            Some(undone) => domain::close_if_open_since(scope, name, undone.at).await?,
            None => false,
        };
        if closes {
            context::remove_baselines_of_domain(scope, name).await?;
        } else {
            domain::refuse_inferred(scope, name).await?;
        }
        note(batch, writing, name, false);
    }
    Ok(())
}

/// Gives consents again that an undone operation withdrew. They open no domain: the user may have
/// closed it since, or the operation itself has, and only the user opens one.
pub(crate) async fn restore_consents(
    batch: &mut Batch,
    writing: &Writing<'_>,
    consents: &[DomainConsent],
) -> Result<()> {
    for DomainConsent { domain: name, .. } in consents {
        if !domain::admit_inferred_if_open(&writing.scope, name).await? {
            return Err(Error::NotUndoable);
        }
        note(batch, writing, name, true);
    }
    Ok(())
}

/// The consents of an operation that reverses another: it opens no domain.
pub(crate) fn reversed_consents(consents: &[DomainConsent]) -> Vec<DomainConsent> {
    let reversed = |one: &DomainConsent| DomainConsent { opens: false, ..one.clone() };
    consents.iter().map(reversed).collect()
}

fn note(batch: &mut Batch, writing: &Writing<'_>, name: &str, given: bool) {
    let (scope, at) = (&writing.scope, writing.stamp.at);
    let entry = AuditEntry::done(AuditEvent::DomainConsent, AuditActor::of(writing.caller()), at);
    let entry = entry.about(scope.user()).subject(writing.stamp.operation);
    audit::append(batch, scope, &entry.detail(&format!("domain={name},given={given}")));
}

/// The key under which it is stored that an answer was taken, beside the idempotency keys of requests.
fn answer_key(question: &str) -> String {
    format!("answer {}", hex::encode(Sha256::digest(question)))
}
