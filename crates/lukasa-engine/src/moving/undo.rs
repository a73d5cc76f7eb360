//! Taking an import back: its operations from the last to the first, and its chats into the trash.

use lukasa_core::ImportId;
use lukasa_core::import::Counts;
use lukasa_core::time::micros;
use lukasa_store::{Batch, import, session};

use super::{Import, part};
use crate::error::{Error, Result};
use crate::{Engine, Request};

/// What was taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct Undone {
    pub import: Import,
    /// How many of its operations were undone now.
    pub operations: usize,
    /// How many chats went into the trash.
    pub chats: usize,
    /// How many memories stay, because they were changed, confirmed or put away since.
    pub kept: usize,
}

impl Engine {
    /// Takes back whatever of an import still stands as it came. It can be asked for again after it broke
    /// off, and the same source can be taken in again afterwards.
    pub async fn undo_import(&self, request: &Request, id: ImportId) -> Result<Undone> {
        let scope = self.reading(&request.caller, request.moment.now).await?;
        let there = import::find(&scope, id).await?.ok_or(Error::ImportNotFound)?;
        let sessions = import::sessions(&scope, id).await?;
        drop(scope);
        let mut undone = Undone { import: there, operations: 0, chats: 0, kept: 0 };
        for (number, operation) in undone.import.operations.clone().iter().rev().enumerate() {
            match self.undo_what_stands(&part(request, number), *operation).await {
                Ok(kept) => {
                    undone.operations += 1;
                    undone.kept += kept;
                }
                Err(Error::AlreadyUndone) => {}
                Err(other) => return Err(other),
            }
        }
        let mut trashed = Vec::new();
        for name in &sessions {
            let scope = self.reading(&request.caller, request.moment.now).await?;
            let there = session::find(&scope, name).await?;
            drop(scope);
            if there.is_some_and(|session| session.trashed_at.is_none()) {
                // Operations too, each with ids of its own.
                let number = undone.import.operations.len() + undone.chats;
                self.trash_session(&part(request, number), name).await?;
                undone.chats += 1;
                trashed.push(name.clone());
            }
        }
        let scope = self.writing(request).await?;
        let mut batch = Batch::default();
        if undone.import.undone_at.is_none() {
            undone.import.undone_at = Some(micros(request.moment.now));
            undone.import.operations.clear();
            undone.import.counts = Counts::default();
            import::put(&mut batch, &scope, &undone.import);
            import::forget_items(&mut batch, &scope, id, &trashed);
        }
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(undone)
    }
}
