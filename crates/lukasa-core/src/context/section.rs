//! The sections of a block.

use crate::fact::Category;
use crate::words;

words!(
    /// A section of a block; its text is the heading.
    Section {
        Hard = "Hard preferences (must be respected)",
        Profile = "Profile",
        CurrentContext = "Current context",
        Style = "Style",
        Facts = "Facts",
        Changed = "Changed since this conversation began (takes the place of what is above)",
        Relevant = "Memories that may be relevant to this message",
        Domain = "Known about the subject of this message",
        Said = "Said in earlier conversations",
        Episodes = "Summaries of earlier conversations",
        Shared = "Shared by the members of a space (for judgment, not rules)",
    }
);

impl Section {
    /// The common heading of the sections by category.
    pub(super) const SOFT: &'static str = "Context (for judgment, not rules)";

    /// The section of the memories of a category that are not rules.
    pub(super) fn of(category: Category) -> Self {
        match category {
            Category::Profile => Section::Profile,
            Category::Context => Section::CurrentContext,
            Category::Style => Section::Style,
            Category::Fact => Section::Facts,
        }
    }

    /// Whether it is a section by category, under the common heading.
    pub(super) fn is_soft(self) -> bool {
        Category::ALL.iter().any(|category| Section::of(*category) == self)
    }
}
