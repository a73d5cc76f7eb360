//! Export: everything stored about a user, read page by page from one snapshot.

use lukasa_core::archive::DomainLine;
use lukasa_core::policy::Patch;
use lukasa_core::vault::{self, File};
use lukasa_core::{
    Caller, Domain, Episode, EpisodeId, FactId, Link, LinkId, Observation, ObservationId,
    Operation, Session, Timestamp, Turn, Version,
};
use lukasa_store::context::{self, Usage, UsagePlace};
use lukasa_store::{Scope, domain, everything, observation, policy};

use super::Archives;
use crate::error::Result;
use crate::state::{MemorySummary, summarize};

/// Rows per page; facts come complete, with all their versions.
const PAGE_SIZE: i64 = 1_000;

/// An export in progress. All of its pages are from the snapshot it was opened with, whatever is
/// written meanwhile.
pub struct ExportSnapshot {
    scope: Scope,
}

impl Archives {
    /// Opens an export of a user's memory.
    pub async fn export(&self, caller: &Caller, now: Timestamp) -> Result<ExportSnapshot> {
        let scope = self.transactions.read(caller, now).await?;
        self.audit.record_export(caller, "archive", now).await?;
        Ok(ExportSnapshot { scope })
    }
}

impl ExportSnapshot {
    /// Counts and hashes of the memory.
    pub async fn summary(&self) -> Result<MemorySummary> {
        summarize(&self.scope).await
    }

    /// The readable pages: the files of the vault, without its hidden files.
    pub async fn pages(&self, now: Timestamp) -> Result<Vec<File>> {
        let contents = crate::vault::load_contents(&self.scope).await?;
        let mut files = vault::render(&contents, now, &vault::PreservedParts::default());
        files.retain(|file| !file.path.starts_with('.'));
        Ok(files)
    }

    /// Every version of the next facts: of those in the trash, or of the others.
    pub async fn memories(&self, after: Option<FactId>, trashed: bool) -> Result<Vec<Version>> {
        Ok(everything::facts_after(&self.scope, after, trashed, PAGE_SIZE).await?)
    }

    pub async fn links(&self, after: Option<LinkId>) -> Result<Vec<Link>> {
        Ok(everything::links_after(&self.scope, after, PAGE_SIZE).await?)
    }

    pub async fn operations(&self, after: Option<Timestamp>) -> Result<Vec<Operation>> {
        Ok(everything::operations_after(&self.scope, after, PAGE_SIZE).await?)
    }

    pub async fn episodes(&self, after: Option<EpisodeId>) -> Result<Vec<Episode>> {
        Ok(everything::episodes_after(&self.scope, after, PAGE_SIZE).await?)
    }

    pub async fn sessions(&self, after: Option<&str>) -> Result<Vec<Session>> {
        Ok(everything::sessions_after(&self.scope, after, PAGE_SIZE).await?)
    }

    pub async fn turns(&self, after: Option<(&str, i32)>) -> Result<Vec<Turn>> {
        Ok(everything::turns_after(&self.scope, after, PAGE_SIZE).await?)
    }

    pub async fn observations(&self, after: Option<ObservationId>) -> Result<Vec<Observation>> {
        Ok(observation::after(&self.scope, after, PAGE_SIZE).await?)
    }

    pub async fn usage(&self, after: Option<&Usage>) -> Result<Vec<Usage>> {
        let after = after.map(|last| UsagePlace { at: last.at, id: last.id, fact: last.fact });
        Ok(context::usage(&self.scope, None, after, PAGE_SIZE).await?)
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
