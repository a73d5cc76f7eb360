//! The consents of a trusted export: given again by an operation of the import, which undo of the import
//! reverses.

use lukasa_core::archive::DomainLine;
use lukasa_core::{Domain, DomainConsent, Sources, Verb};
use lukasa_store::{Batch, domain};

use super::{Archives, ImportReport, ImportSource, import_of, put_import};
use crate::consents::{give_consent, takes_consent};
use crate::error::Result;
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart};

/// Whether a line of an export is a consent to a domain that takes one here.
pub(super) fn is_consent(line: &DomainLine, domain: &Domain) -> bool {
    line.opted_in_at.is_some() && line.admits_inferred && takes_consent(domain)
}

impl Archives {
    /// Gives the consents of an export again, and opens their domains.
    pub(super) async fn restore_consents(
        &self,
        request: &Request,
        source: &ImportSource,
        lines: &[DomainLine],
        report: &mut ImportReport,
    ) -> Result<()> {
        if !lines.iter().any(|line| line.admits_inferred) {
            return Ok(());
        }
        let WriteStart::New(writing) = self.transactions.begin(request).await? else {
            return Ok(());
        };
        let (mut batch, mut consents) = (Batch::default(), Vec::new());
        let admitting = domain::admitting_inferred(&writing.scope).await?;
        for line in lines {
            let (name, at) = (&line.domain.name, writing.stamp.at);
            let found = domain::find(&writing.scope, name).await?;
            let found = found.filter(|(domain, _)| is_consent(line, domain));
            if let Some((_, opened)) = found.filter(|_| !admitting.contains(name)) {
                let since = line.opted_in_at.map_or(at, |since| since.min(at));
                give_consent(&mut batch, &writing, name, since).await?;
                consents.push(DomainConsent { domain: name.clone(), opens: !opened });
            }
        }
        if consents.is_empty() {
            return Ok(());
        }
        let (mut import, begins) = import_of(&writing.scope, request, source).await?;
        import.operations.push(writing.stamp.operation);
        put_import(&mut batch, &writing.scope, request, &import, begins);
        report.operations.push(writing.stamp.operation);
        let message = format!("Imported: consents to {} domains", consents.len());
        let sources = Some(Sources { consents, ..Sources::default() });
        let effect = Effect { with: batch, sources, ..Effect::default() };
        writing.finish(Verb::Import, effect, Outcome::of(Verb::Import, message)).await?;
        Ok(())
    }
}
