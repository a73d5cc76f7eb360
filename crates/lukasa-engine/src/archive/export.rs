//! Export: everything stored about a user, read block by block from one snapshot.

use std::sync::Arc;

use lukasa_core::archive::DomainLine;
use lukasa_core::policy::Patch;
use lukasa_core::vault::{PreservedParts, VisiblePart};
use lukasa_core::{
    Caller, Domain, Episode, Link, Observation, Operation, Session, Timestamp, Turn, Version,
};
use lukasa_store::blocks::{self, Blocks};
use lukasa_store::context::Usage;
use lukasa_store::{Scope, domain, everything, policy};

use super::Archives;
use crate::cpu::CpuPool;
use crate::error::Result;
use crate::state::{MemorySummary, summarize};
use crate::vault::{FileList, FileSink, MemoryFiles};

/// An export in progress. All of its rows are from the snapshot it was opened with, whatever is
/// written meanwhile. Rows are in blocks of bounded size, one kind after the other; one kind is read
/// to its end before the next is opened.
pub struct ExportSnapshot {
    scope: Scope,
    cpu: CpuPool,
}

impl Archives {
    /// Opens an export of a user's memory.
    pub async fn export(&self, caller: &Caller, now: Timestamp) -> Result<ExportSnapshot> {
        drop(self.transactions.read(caller, now).await?);
        // Before the snapshot is opened, because it needs a connection of its own.
        self.audit.record_export(caller, "archive", now).await?;
        let scope = self.transactions.read(caller, now).await?;
        blocks::allow_long_statements(&scope).await?;
        Ok(ExportSnapshot { scope, cpu: self.parts.cpu.clone() })
    }
}

impl ExportSnapshot {
    /// Counts and hashes of the memory.
    pub async fn summary(&self) -> Result<MemorySummary> {
        summarize(&self.scope, &self.cpu).await
    }

    /// Writes the readable pages into a sink: the files of the vault, without its hidden files.
    pub async fn write_pages<S: FileSink>(&self, now: Timestamp, sink: S) -> Result<S> {
        let files = MemoryFiles::open(&self.scope, &self.cpu, &VisiblePart::all(), now).await?;
        let outline = Arc::clone(files.outline());
        let list = move || FileList::of(&outline, &PreservedParts::default(), Vec::new());
        files.write(self.cpu.run(list).await?, Vec::new(), sink).await
    }

    /// Every version of the facts in the trash, or of the others.
    pub async fn memories(&self, trashed: bool) -> Result<Blocks<Version>> {
        Ok(everything::history_blocks(&self.scope, trashed).await?)
    }

    pub async fn links(&self) -> Result<Blocks<Link>> {
        Ok(everything::all_link_blocks(&self.scope).await?)
    }

    pub async fn operations(&self) -> Result<Blocks<Operation>> {
        Ok(everything::operation_blocks(&self.scope).await?)
    }

    pub async fn episodes(&self) -> Result<Blocks<Episode>> {
        Ok(everything::all_episode_blocks(&self.scope).await?)
    }

    pub async fn sessions(&self) -> Result<Blocks<Session>> {
        Ok(everything::session_blocks(&self.scope).await?)
    }

    pub async fn turns(&self) -> Result<Blocks<Turn>> {
        Ok(everything::all_turn_blocks(&self.scope).await?)
    }

    pub async fn observations(&self) -> Result<Blocks<Observation>> {
        Ok(everything::observation_blocks(&self.scope).await?)
    }

    pub async fn usage(&self) -> Result<Blocks<Usage>> {
        Ok(everything::usage_blocks(&self.scope).await?)
    }

    /// Runs work on what was read, such as compressing it, in the CPU pool.
    pub async fn run<T, W>(&self, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnOnce() -> T + Send + 'static,
    {
        self.cpu.run(work).await
    }

    /// The user's policy patch.
    pub async fn policy(&self) -> Result<Patch> {
        Ok(policy::of_user(&self.scope).await?.patch)
    }

    pub async fn domains(&self) -> Result<Vec<DomainLine>> {
        let opened = domain::opened(&self.scope).await?;
        let admitting = domain::admitting_inferred(&self.scope).await?;
        let since = |name: &str| opened.iter().find(|(open, _)| open == name).map(|(_, at)| *at);
        let all = domain::of_tenant(&self.scope).await?.into_iter();
        let line = |domain: Domain| DomainLine {
            opted_in_at: since(&domain.name),
            admits_inferred: admitting.contains(&domain.name),
            domain,
        };
        Ok(all.map(line).collect())
    }
}
