//! Domains: areas of a life, some of which stay shut until their person opens them.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::fact::{Category, Claim, Force, Kind, MemoryType};
use crate::time::{Timestamp, micros};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    pub name: String,
    pub display_name: String,
    /// Nothing inferred is kept here without its person's yes.
    pub sensitive: bool,
    /// Nothing at all is kept here until its person opens the domain.
    pub requires_opt_in: bool,
    /// How long circumstances last here unless they say otherwise.
    pub default_expiration_days: Option<i32>,
    /// Ships with Lukasa, for every tenant.
    pub builtin: bool,
}

impl Domain {
    /// When a memory that is kept here from a time on ends by itself, if nobody says otherwise. Only
    /// circumstances do: a task, a project, how things stand. What must be respected never does (R146),
    /// nor what somebody is or likes (C09).
    pub fn expires_at(&self, claim: &Claim, from: Timestamp) -> Option<Timestamp> {
        let passes = claim.category == Category::Context
            || claim.memory_type == MemoryType::Task
            || matches!(claim.kind, Kind::Context | Kind::Project);
        let ends = passes && claim.force == Force::Soft;
        let days = self.default_expiration_days.filter(|_| ends)?;
        from.checked_add(SignedDuration::from_hours(24 * i64::from(days))).ok().map(micros)
    }
}

/// The ten predefined domains and religion, with the flags of R183 and C16.
pub fn builtin_domains() -> Vec<Domain> {
    let domain = |name: &str, display_name: &str, shut: bool, days: Option<i32>| Domain {
        name: name.into(),
        display_name: display_name.into(),
        sensitive: shut,
        requires_opt_in: shut,
        default_expiration_days: days,
        builtin: true,
    };
    vec![
        domain("communication", "Communication", false, None),
        domain("finance", "Finance", true, None),
        domain("food", "Food and dining", false, None),
        domain("health", "Health", true, None),
        domain("personal", "Personal", false, Some(60)),
        domain("relationships", "Relationships", true, None),
        domain("religion", "Religion", true, None),
        domain("schedule", "Schedule", false, None),
        domain("shopping", "Shopping", false, None),
        domain("travel", "Travel", false, None),
        domain("work", "Work", false, Some(90)),
    ]
}

/// A domain's name is a short lower-case word, so that it reads the same in a path and a file.
pub fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.as_bytes()[0].is_ascii_lowercase()
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circumstances_last_as_long_as_their_domain_says_and_the_rest_for_ever() {
        let domains = builtin_domains();
        let of = |name: &str| domains.iter().find(|domain| domain.name == name).unwrap();
        let lasting = Claim::saying("Is a baker");
        let soft = Claim { kind: Kind::Project, ..Claim::saying("Has a deadline") };
        let start = Timestamp::UNIX_EPOCH;
        assert_eq!(of("work").expires_at(&lasting, start), None);
        let ninety = Timestamp::from_second(90 * 86_400).unwrap();
        assert_eq!(of("work").expires_at(&soft, start), Some(ninety));
        assert_eq!(of("travel").expires_at(&soft, start), None);
        let hard = Claim { force: Force::Hard, ..soft };
        assert_eq!(of("work").expires_at(&hard, start), None);
    }

    #[test]
    fn eleven_domains_four_of_them_shut() {
        let domains = builtin_domains();
        assert_eq!(domains.len(), 11);
        assert!(domains.iter().all(|domain| is_name(&domain.name)));
        let shut: Vec<_> =
            domains.iter().filter(|d| d.requires_opt_in).map(|d| d.name.as_str()).collect();
        assert_eq!(shut, ["finance", "health", "relationships", "religion"]);
    }
}
