//! Projects: a name that limits memories and sessions to one piece of work.
//!
//! A memory or a session without a project belongs to the user everywhere. What belongs to a
//! project is visible only to requests about that project, and to requests that ask for all of
//! them.

use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::limits::PROJECT_CHARS;

/// The name of a project: 1 to 64 visible characters, in normal form and without surrounding space.
/// Two names are the same project if they are equal, including case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Project(String);

/// What is wrong with the name of a project.
pub const INVALID_PROJECT: &str = "1 to 64 characters without control characters";

impl Project {
    /// Parses a name; `None` if it cannot be the name of a project.
    pub fn parse(name: &str) -> Option<Self> {
        let name: String = name.trim().nfc().collect();
        let is_valid = (1..=PROJECT_CHARS).contains(&name.chars().count())
            && lukasa_text::line::is_visible(&name)
            && !name.chars().any(char::is_control);
        is_valid.then_some(Self(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Project {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::parse(&name).ok_or(INVALID_PROJECT)
    }
}

impl From<Project> for String {
    fn from(project: Project) -> Self {
        project.0
    }
}

/// The projects whose memories and turns a request sees. Those without a project are always seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub enum ProjectScope {
    /// Of no project.
    #[default]
    NoProject,
    /// Of this project.
    One(Project),
    /// Of every project.
    All,
}

impl ProjectScope {
    /// The scope of a session or request with this project.
    pub fn of(project: Option<&Project>) -> Self {
        project.map_or(Self::NoProject, |project| Self::One(project.clone()))
    }

    /// Whether something that belongs to this project is seen.
    pub fn admits(&self, project: Option<&Project>) -> bool {
        match (self, project) {
            (_, None) | (Self::All, _) => true,
            (Self::NoProject, Some(_)) => false,
            (Self::One(own), Some(project)) => own == project,
        }
    }

    /// The only project that is seen, if there is one.
    pub fn project(&self) -> Option<&Project> {
        match self {
            Self::One(project) => Some(project),
            Self::NoProject | Self::All => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str) -> Project {
        Project::parse(name).unwrap()
    }

    #[test]
    fn project_name_is_trimmed_normalized_and_limited() {
        assert_eq!(project("  Apollo 11 ").as_str(), "Apollo 11");
        assert_eq!(project("cafe\u{301}"), project("caf\u{e9}"));
        assert_ne!(project("apollo"), project("Apollo"));
        for bad in ["", "  ", "a\nb", "a\0b", "\u{200b}", &"x".repeat(65)] {
            assert_eq!(Project::parse(bad), None, "{bad:?}");
        }
        assert!(Project::parse(&"ü".repeat(64)).is_some());
        assert!(serde_json::from_str::<Project>("\"a\\nb\"").is_err());
        assert_eq!(serde_json::to_string(&project("a")).unwrap(), "\"a\"");
    }

    #[test]
    fn project_scope_admits_its_own_project_and_memories_without_one() {
        let (a, b) = (project("a"), project("b"));
        let seen = |scope: &ProjectScope| [None, Some(&a), Some(&b)].map(|p| scope.admits(p));
        assert_eq!(seen(&ProjectScope::default()), [true, false, false]);
        assert_eq!(seen(&ProjectScope::of(Some(&a))), [true, true, false]);
        assert_eq!(seen(&ProjectScope::All), [true, true, true]);
        assert_eq!(ProjectScope::of(None), ProjectScope::NoProject);
    }
}
