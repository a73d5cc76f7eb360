//! The user's consent to use memories that are inferred about a sensitive domain without asking for
//! each of them. Giving and withdrawing it are operations, which undo reverses.

use std::sync::Arc;

use lukasa_core::audit::{AuditActor, AuditEntry, AuditEvent};
use lukasa_core::{CallerKind, DomainConsent, Refusal, Sources, Verb};
use lukasa_store::{Batch, audit, context, domain, domain_question};

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
        if !domain.sensitive && !domain.requires_opt_in {
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
        let consent = DomainConsent { domain: name.to_owned(), opens };
        let consents = vec![consent];
        effect.with.append(set_consents(&writing, &consents, true).await?);
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
        let with = set_consents(&writing, &consents, false).await?;
        let sources = Some(Sources { consents, gone: true, ..Sources::default() });
        let message = format!("What is inferred about {name} is asked about again.");
        let effect = Effect { with, sources, ..Effect::default() };
        writing.finish(Verb::Reject, effect, Outcome::of(Verb::Reject, message)).await
    }
}

/// Gives consents, or withdraws them and closes the domains that they opened; returns the entries of
/// the audit log to write with the operation. A consent that opened no domain is not given again after
/// the user has closed the domain.
pub(crate) async fn set_consents(
    writing: &Writing<'_>,
    consents: &[DomainConsent],
    gives: bool,
) -> Result<Batch> {
    let (scope, at) = (&writing.scope, writing.stamp.at);
    let mut batch = Batch::default();
    for DomainConsent { domain: name, opens } in consents {
        if gives && *opens {
            domain::admit_inferred(scope, name, true, at).await?;
        } else if gives {
            if !domain::admit_inferred_if_open(scope, name).await? {
                return Err(Error::NotUndoable);
            }
        } else if *opens {
            domain::close(scope, name).await?;
            context::remove_baselines_of_domain(scope, name).await?;
        } else {
            domain::refuse_inferred(scope, name).await?;
        }
        let entry =
            AuditEntry::done(AuditEvent::DomainConsent, AuditActor::of(writing.caller()), at);
        let entry = entry.about(scope.user()).subject(writing.stamp.operation);
        let detail = format!("domain={name},given={gives}");
        audit::append(&mut batch, scope, &entry.detail(&detail));
    }
    Ok(batch)
}
