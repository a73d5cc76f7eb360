//! Target of a verb: a memory named by its id, or by text that occurs in exactly one.

use lukasa_core::{FactId, ProjectScope, Status, Timestamp, Version};
use lukasa_store::list::{ListFilter, ListedProjects, page};
use lukasa_store::{Scope, fact};

use crate::error::{Error, Result};
use crate::memory::Memory;

/// Maximum number of candidates returned for an ambiguous text.
const CANDIDATES: i64 = 6;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Id(FactId),
    /// Text that occurs, in any case, in the content of one active memory.
    Substring(String),
    /// The same, among the memories of these projects.
    SubstringIn(String, ProjectScope),
}

impl Target {
    /// An id if it parses as one, else text to search for.
    pub fn parse(text: &str) -> Self {
        match text.parse() {
            Ok(id) => Target::Id(id),
            Err(_) => Target::Substring(text.to_owned()),
        }
    }

    /// The same target, with text searched for only among the memories of these projects.
    #[must_use]
    pub fn within(self, projects: &ProjectScope) -> Self {
        match self {
            Target::Substring(text) => Target::SubstringIn(text, projects.clone()),
            other => other,
        }
    }

    pub(crate) async fn fact(&self, scope: &Scope, now: Timestamp) -> Result<FactId> {
        let (text, projects) = match self {
            Target::Id(id) => return Ok(*id),
            Target::Substring(text) => (text, ListedProjects::All),
            Target::SubstringIn(text, projects) => (text, ListedProjects::seen_in(projects)),
        };
        if text.trim().is_empty() {
            return Err(Error::MemoryNotFound);
        }
        let filter = ListFilter {
            status: Some(Status::Active),
            search: Some(text.clone()),
            projects,
            ..ListFilter::default()
        };
        let found = page(scope, &filter, now, None, None, CANDIDATES).await?;
        match &found[..] {
            [] => Err(Error::MemoryNotFound),
            [one] => Ok(one.version.fact),
            _ => {
                let memory = |version| Memory { version, status: Status::Active };
                Err(Error::Ambiguous(found.into_iter().map(|f| memory(f.version)).collect()))
            }
        }
    }

    /// The versions of the named memory that are known now; there is at least one.
    pub(crate) async fn known(&self, scope: &Scope, now: Timestamp) -> Result<Vec<Version>> {
        let id = self.fact(scope, now).await?;
        let known = fact::known_now(scope, id).await?;
        if known.is_empty() { Err(Error::MemoryNotFound) } else { Ok(known) }
    }
}
