//! Undo of an import: reverses its operations and the decisions about it from the last to the first,
//! moves its sessions to the trash, and its observations with the patterns that rest on them alone.
//! All of it can be undone for thirty days.

use std::collections::BTreeSet;

use lukasa_core::audit::{AuditActor, AuditEntry, AuditEvent};
use lukasa_core::import::ImportCounts;
use lukasa_core::time::micros;
use lukasa_core::{CallerKind, ImportId, Refusal};
use lukasa_store::{Batch, audit, import, observation, operation, session};

use super::Archives;
use super::ImportRecord;
use crate::error::{Error, Result};
use crate::removal::{ObservationSelection, check_reverser, check_reverser_of};
use crate::request::Request;

/// Result of undoing an import.
#[derive(Debug, Clone, PartialEq)]
pub struct UndoneImport {
    pub import: ImportRecord,
    /// Operations undone by this call.
    pub operations: usize,
    /// Sessions moved to the trash.
    pub chats: usize,
    /// Memories that stay because they were changed, confirmed one by one or removed since.
    pub kept: usize,
}

impl Archives {
    /// Undoes an import as far as it is unchanged. What the user imported, only the user undoes. It can
    /// be called again after an interruption, and the same source can be imported again afterwards;
    /// what is permanently removed until then stays removed.
    pub async fn undo_import(&self, request: &Request, id: ImportId) -> Result<UndoneImport> {
        let scope = self.transactions.write(request).await?;
        let there = import::find(&scope, id).await?.ok_or(Error::ImportNotFound)?;
        let sessions = import::sessions(&scope, id).await?;
        // Refused before anything is written, which would stay.
        match &there.importer {
            Some(importer) => check_reverser_of(request, importer.caller, &importer.credential)?,
            None if request.caller.kind == CallerKind::Human => {}
            None => return Err(Refusal::NeedsHuman.into()),
        }
        for by in &there.operations {
            let by = operation::find(&scope, *by).await?.ok_or(Error::OperationNotFound)?;
            if by.undone_by.is_none() {
                check_reverser(request, &by)?;
            }
        }
        let mut batch = Batch::default();
        observation::mark_import_undone(&mut batch, &scope, id);
        scope.run(&batch).await?;
        scope.commit().await?;
        let mut kept = BTreeSet::new();
        let mut undone = UndoneImport { import: there, operations: 0, chats: 0, kept: 0 };
        for (number, operation) in undone.import.operations.clone().iter().rev().enumerate() {
            match self.undo.undo_unchanged(&request.part(number), *operation).await {
                Ok(facts) => {
                    undone.operations += 1;
                    kept.extend(facts);
                }
                Err(Error::AlreadyUndone) => {}
                Err(other) => return Err(other),
            }
        }
        undone.kept = kept.len();
        let mut trashed = Vec::new();
        for name in &sessions {
            let scope = self.transactions.read(&request.caller, request.moment.now).await?;
            let there = session::find(&scope, name).await?;
            drop(scope);
            if there.is_some_and(|session| session.trashed_at.is_none()) {
                // Each of these is an operation too and needs its own ids.
                let number = undone.import.operations.len() + undone.chats;
                self.sessions.trash(&request.part(number), name).await?;
                undone.chats += 1;
                trashed.push(name.clone());
            }
        }
        let mut number = undone.import.operations.len() + undone.chats;
        let observations = ObservationSelection::Import(id);
        loop {
            let part = request.part(number);
            let removed = self.removals.withdraw_observations(&part, &observations).await?;
            if removed.operation.is_none() {
                break;
            }
            number += 1;
        }
        let scope = self.transactions.write(request).await?;
        let mut batch = Batch::default();
        if undone.import.undone_at.is_none() {
            undone.import.undone_at = Some(micros(request.moment.now));
            undone.import.operations.clear();
            undone.import.counts = ImportCounts::default();
            import::put(&mut batch, &scope, &undone.import);
            import::forget_items(&mut batch, &scope, id, &trashed);
            let actor = AuditActor::of(&request.caller);
            let now = micros(request.moment.now);
            let entry = AuditEntry::done(AuditEvent::ImportUndo, actor, now);
            audit::append(&mut batch, &scope, &entry.about(scope.user()).subject(id));
        }
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(undone)
    }
}
