//! Export: everything that is kept about a user, read page by page out of one state of the record.

use lukasa_core::archive::DomainLine;
use lukasa_core::policy::Patch;
use lukasa_core::vault::{self, File};
use lukasa_core::{
    Caller, Episode, EpisodeId, FactId, Link, LinkId, Operation, Session, Timestamp, Turn, Version,
};
use lukasa_store::context::{self, Usage, UsagePlace};
use lukasa_store::{Scope, domain, everything, policy};

use crate::Engine;
use crate::error::Result;
use crate::state::{Whole, whole};

/// How many rows one page has; facts come whole, with all their versions.
const PAGE: i64 = 1_000;

/// A memory that is being written out. All of its pages are of the moment it was opened at, whatever
/// is written meanwhile.
pub struct Export {
    scope: Scope,
}

impl Engine {
    /// Opens a user's memory to be written out.
    pub async fn export(&self, caller: &Caller, now: Timestamp) -> Result<Export> {
        Ok(Export { scope: self.reading(caller, now).await? })
    }
}

impl Export {
    /// How much it is, and what it hashes to.
    pub async fn whole(&self) -> Result<Whole> {
        whole(&self.scope).await
    }

    /// The pages for people: the files of the vault, without what it keeps for itself.
    pub async fn pages(&self, now: Timestamp) -> Result<Vec<File>> {
        let held = crate::vault::held(&self.scope).await?;
        let mut files = vault::render(&held, now, &vault::Kept::default());
        files.retain(|file| !file.path.starts_with('.'));
        Ok(files)
    }

    /// Every version of the next facts: of those in the trash, or of the others.
    pub async fn memories(&self, after: Option<FactId>, trashed: bool) -> Result<Vec<Version>> {
        Ok(everything::facts_after(&self.scope, after, trashed, PAGE).await?)
    }

    pub async fn links(&self, after: Option<LinkId>) -> Result<Vec<Link>> {
        Ok(everything::links_after(&self.scope, after, PAGE).await?)
    }

    pub async fn operations(&self, after: Option<Timestamp>) -> Result<Vec<Operation>> {
        Ok(everything::operations_after(&self.scope, after, PAGE).await?)
    }

    pub async fn episodes(&self, after: Option<EpisodeId>) -> Result<Vec<Episode>> {
        Ok(everything::episodes_after(&self.scope, after, PAGE).await?)
    }

    pub async fn sessions(&self, after: Option<&str>) -> Result<Vec<Session>> {
        Ok(everything::sessions_after(&self.scope, after, PAGE).await?)
    }

    pub async fn turns(&self, after: Option<(&str, i32)>) -> Result<Vec<Turn>> {
        Ok(everything::turns_after(&self.scope, after, PAGE).await?)
    }

    pub async fn usage(&self, after: Option<&Usage>) -> Result<Vec<Usage>> {
        let after = after.map(|last| UsagePlace { at: last.at, id: last.id, fact: last.fact });
        Ok(context::usage(&self.scope, None, after, PAGE).await?)
    }

    /// What the user has said may happen without asking.
    pub async fn policy(&self) -> Result<Patch> {
        Ok(policy::of_user(&self.scope).await?.patch)
    }

    pub async fn domains(&self) -> Result<Vec<DomainLine>> {
        let opened = domain::opened(&self.scope).await?;
        let since = |name: &str| opened.iter().find(|(open, _)| open == name).map(|(_, at)| *at);
        let all = domain::of_tenant(&self.scope).await?.into_iter();
        Ok(all.map(|domain| DomainLine { opted_in_at: since(&domain.name), domain }).collect())
    }
}
