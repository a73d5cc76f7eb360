//! The file that a memory belongs to, and the meaning of moving its line to another file.

use crate::domain;
use crate::fact::{Category, Claim, Edit, Kind, MemoryType};

/// A file that contains memories.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    Profile,
    Procedures,
    ActiveContext,
    Domain(String),
    /// Proposals: shown, and never mixed with active memories.
    Proposals,
}

/// The headings of a file, in order.
const SECTIONS: [(Kind, &str); 8] = [
    (Kind::Preference, "Preferences"),
    (Kind::Fact, "Facts"),
    (Kind::Habit, "Habits"),
    (Kind::Skill, "Skills"),
    (Kind::Artifact, "Things made"),
    (Kind::Relationship, "Relationships"),
    (Kind::Project, "Projects"),
    (Kind::Context, "Context"),
];

/// The heading for memories of a kind.
pub(super) fn section(kind: Kind) -> &'static str {
    SECTIONS.iter().find(|(of, _)| *of == kind).map_or("Facts", |(_, title)| title)
}

/// The kind of memories under a heading.
fn kind_under(section: &str) -> Option<Kind> {
    let same = |title: &str| title.eq_ignore_ascii_case(section.trim());
    SECTIONS.iter().find(|(_, title)| same(title)).map(|(kind, _)| *kind)
}

impl Home {
    /// The file of an active memory.
    pub fn of(claim: &Claim) -> Self {
        let (is, about) = (claim.memory_type, claim.category);
        if is == MemoryType::Procedural || about == Category::Style {
            return Home::Procedures;
        }
        if is == MemoryType::Task || about == Category::Context {
            return Home::ActiveContext;
        }
        match &claim.domain {
            Some(name) if domain::is_name(name) => Home::Domain(name.clone()),
            _ => Home::Profile,
        }
    }

    /// The home at a path, if it is a file for memories.
    pub fn at(path: &str) -> Option<Self> {
        match path {
            "profile.md" => Some(Home::Profile),
            "procedures.md" => Some(Home::Procedures),
            "active_context.md" => Some(Home::ActiveContext),
            "proposals.md" => Some(Home::Proposals),
            _ => {
                let name = path.strip_prefix("domains/")?.strip_suffix(".md")?;
                domain::is_name(name).then(|| Home::Domain(name.to_owned()))
            }
        }
    }

    pub fn path(&self) -> String {
        match self {
            Home::Profile => "profile.md".to_owned(),
            Home::Procedures => "procedures.md".to_owned(),
            Home::ActiveContext => "active_context.md".to_owned(),
            Home::Domain(name) => format!("domains/{name}.md"),
            Home::Proposals => "proposals.md".to_owned(),
        }
    }

    pub(super) fn title(&self) -> String {
        match self {
            Home::Profile => "Profile".to_owned(),
            Home::Procedures => "Procedures".to_owned(),
            Home::ActiveContext => "Active context".to_owned(),
            Home::Proposals => "Proposals".to_owned(),
            Home::Domain(name) => {
                let mut letters = name.replace('-', " ").chars().collect::<Vec<_>>();
                if let Some(first) = letters.first_mut() {
                    *first = first.to_ascii_uppercase();
                }
                letters.into_iter().collect()
            }
        }
    }

    /// One line at the top of the file: what it contains and how to edit it.
    /// [`read()`](super::read()) skips exactly this text, so a change would turn the old line of
    /// existing vaults into a note.
    pub(super) fn introduction(&self) -> String {
        let what = match self {
            Home::Profile => "Who you are, and what holds for you.".to_owned(),
            Home::Procedures => "How you want things done.".to_owned(),
            Home::ActiveContext => "What is going on right now.".to_owned(),
            Home::Domain(name) => format!("What is remembered about {}.", name.replace('-', " ")),
            Home::Proposals => {
                return "What waits for your yes; none of it is used yet. Carry a line into another \
                        file to accept it, delete it to turn it down."
                    .to_owned();
            }
        };
        format!(
            "{what} One line is one memory: change its words, delete the line to forget it, add a \
             line to remember something. The mark at its end says which memory it is; leave it there."
        )
    }

    /// The edit of a claim that moves it to this file.
    pub fn take(&self, claim: &Claim) -> Edit {
        let mut edit = Edit::default();
        if *self == Home::Proposals || Home::of(claim) == *self {
            return edit;
        }
        let bound = |is: MemoryType| matches!(is, MemoryType::Procedural | MemoryType::Task);
        let bound_category = |about: Category| matches!(about, Category::Style | Category::Context);
        match self {
            Home::Procedures => edit.memory_type = Some(MemoryType::Procedural),
            Home::ActiveContext => {
                edit.memory_type = Some(MemoryType::Task);
                if claim.category == Category::Style {
                    edit.category = Some(Category::Context);
                }
            }
            Home::Domain(name) => {
                edit.domain = Some(Some(name.clone()));
                edit.memory_type = bound(claim.memory_type).then_some(MemoryType::Domain);
                edit.category = bound_category(claim.category).then_some(Category::Fact);
            }
            Home::Profile => {
                edit.domain = Some(None);
                edit.memory_type = bound(claim.memory_type).then_some(MemoryType::Profile);
                edit.category = bound_category(claim.category).then_some(Category::Profile);
            }
            Home::Proposals => {}
        }
        edit
    }

    /// The claim of a new line in this file under a heading.
    pub fn claim(&self, content: &str, tags: &[String], section: &str) -> Claim {
        let mut claim = Claim::saying(content);
        claim.tags = tags.to_vec();
        claim.kind = kind_under(section).unwrap_or(claim.kind);
        match self {
            Home::Profile => claim.category = Category::Profile,
            Home::Procedures => claim.memory_type = MemoryType::Procedural,
            Home::ActiveContext => {
                claim.memory_type = MemoryType::Task;
                claim.category = Category::Context;
            }
            Home::Domain(name) => {
                claim.memory_type = MemoryType::Domain;
                claim.domain = Some(name.clone());
            }
            Home::Proposals => {}
        }
        claim
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_line_belongs_to_its_new_file() {
        let homes = [
            Home::Profile,
            Home::Procedures,
            Home::ActiveContext,
            Home::Domain("food".into()),
            Home::Domain("work".into()),
        ];
        for category in Category::ALL {
            for memory_type in MemoryType::ALL {
                for domain in [None, Some("food".to_owned())] {
                    let claim = Claim { category, memory_type, domain, ..Claim::saying("tea") };
                    for home in &homes {
                        assert_eq!(Home::of(&home.take(&claim).apply(&claim)), *home);
                        assert_eq!(Home::at(&home.path()).as_ref(), Some(home));
                    }
                    assert!(Home::of(&claim).take(&claim).is_empty());
                }
            }
        }
        for home in &homes {
            assert_eq!(Home::of(&home.claim("tea", &[], "")), *home);
        }
    }

    #[test]
    fn path_of_another_file_is_not_a_home() {
        for path in ["", "notes.md", "domains/../x.md", "domains/Food.md", "/profile.md", "x"] {
            assert_eq!(Home::at(path), None, "{path}");
        }
    }
}
