//! The project that a request is about, as its header names it.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use lukasa_core::{Project, ProjectScope};
use lukasa_engine::facts::Target;

use super::App;
use super::code::ErrorCode;
use super::error::Problem;
use super::memory::target;
use super::request::{PROJECT, project_in};

/// The operations that take `X-Lukasa-Project`, by their ids.
pub(crate) const OPERATIONS_IN_PROJECTS: [&str; 16] = [
    "append_turns",
    "confirm_memory",
    "delete_memory",
    "forget_memory",
    "get_memory",
    "get_memory_graph",
    "link_memories",
    "list_links",
    "list_memories",
    "open_session",
    "propose_memory",
    "retrieve_context",
    "run_vault_command",
    "save_memory",
    "search_memories",
    "update_memory",
];

/// The scope that `X-Lukasa-Project` asks for, if a request has the header: a project, or with an empty
/// value what is in no project. What belongs to no project is always part of it.
#[derive(Debug, Clone)]
pub struct AskedProject(Option<ProjectScope>);

impl AskedProject {
    pub fn read(headers: &HeaderMap) -> Result<Self, Problem> {
        let malformed = |what: &str| Problem::of(ErrorCode::MalformedHeader).because(what);
        let project = project_in(headers).map_err(malformed)?;
        Ok(Self(headers.contains_key(PROJECT).then(|| ProjectScope::of(project.as_ref()))))
    }

    /// The scope, if the request has the header.
    pub fn scope(&self) -> Option<&ProjectScope> {
        self.0.as_ref()
    }

    /// The scope of a request that sees no project unless it asks for one.
    pub fn scope_or_none(&self) -> ProjectScope {
        self.0.clone().unwrap_or(ProjectScope::NoProject)
    }

    /// The scope of a request that sees every project unless it asks for one.
    pub fn scope_or_all(&self) -> ProjectScope {
        self.0.clone().unwrap_or(ProjectScope::All)
    }

    /// The project, if one is named.
    pub fn project(&self) -> Option<Project> {
        self.0.as_ref().and_then(ProjectScope::project).cloned()
    }

    /// A memory by its id, or by words that are searched for in the scope.
    pub fn target(&self, text: &str) -> Target {
        match &self.0 {
            Some(scope) => target(text).within(scope),
            None => target(text),
        }
    }
}

impl FromRequestParts<App> for AskedProject {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        Self::read(&parts.headers)
    }
}
