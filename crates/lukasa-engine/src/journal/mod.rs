//! The erasure journal and the order of steps that its guarantee depends on: an erasure is written
//! into the journal and synced to disk before its transaction is committed.

mod file;

use std::sync::Arc;

use lukasa_store::{Scope, crash, erasure};

use crate::error::{Error, Result};
use crate::parts::Parts;

pub use file::{Journal, JournalChunk, JournalEntry, JournalLine};

/// Commits transactions that erase something.
#[derive(Clone)]
pub(crate) struct ErasureJournal {
    parts: Arc<Parts>,
    file: Option<Arc<Journal>>,
}

impl ErasureJournal {
    pub(crate) fn new(parts: Arc<Parts>, file: Option<Arc<Journal>>) -> Self {
        Self { parts, file }
    }

    /// The journal's file, if there is one.
    pub(crate) fn file(&self) -> Option<&Arc<Journal>> {
        self.file.as_ref()
    }

    /// Writes erasures into the journal, syncs it to disk, and commits. If the commit fails the
    /// journal records that; if it is unknown whether it failed, the database is queried.
    pub(crate) async fn commit(&self, scope: Scope, entries: &[JournalEntry]) -> Result<()> {
        let Some(first) = entries.first().filter(|_| self.file.is_some()) else {
            return Ok(scope.commit().await?);
        };
        let (tenant, user) = (scope.tenant(), scope.user());
        self.append(entries).await?;
        let Err(failure) = scope.commit().await else { return Ok(()) };
        // The user's lock is released once the lost transaction has ended, committed or not.
        let happened = async {
            let scope = self.parts.store.write(tenant, user).await?;
            erasure::is_on_record(&scope, first.id).await
        };
        let settled = match happened.await {
            Ok(true) => return Ok(()),
            Ok(false) => JournalLine::Void,
            Err(_) => JournalLine::Unsure,
        };
        self.settle(entries.iter().map(|entry| settled(entry.id)).collect()).await;
        Err(failure.into())
    }

    /// Writes the outcomes of erasures into the journal. What cannot be written now is written
    /// before the next line.
    pub(crate) async fn settle(&self, lines: Vec<JournalLine>) {
        let Some(file) = self.file.clone() else { return };
        let written = tokio::task::spawn_blocking(move || file.settle(&lines)).await;
        if !matches!(written, Ok(Ok(()))) {
            tracing::error!(
                "could not write to the erasure journal; it still lists a failed erasure"
            );
        }
    }

    /// Writes erasures into the journal, if there is one, and syncs it to disk.
    pub(crate) async fn append(&self, entries: &[JournalEntry]) -> Result<()> {
        let Some(file) = self.file.clone().filter(|_| !entries.is_empty()) else {
            return Ok(());
        };
        let entries = entries.to_vec();
        crash::point();
        let written = tokio::task::spawn_blocking(move || file.append(&entries)).await;
        crash::point();
        let written = written.map_err(|error| Error::Journal(error.to_string()))?;
        written.map_err(|error| Error::Journal(error.to_string()))
    }
}
