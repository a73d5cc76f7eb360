//! Domains: areas of life; some are closed until the user opts in.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::fact::{Category, Claim, Force, Kind};
use crate::time::{Timestamp, micros};
use crate::type_policy::type_policy;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    pub name: String,
    pub display_name: String,
    /// Inferred facts are not stored here without the user's consent.
    pub sensitive: bool,
    /// Nothing is stored here until the user opts in.
    pub requires_opt_in: bool,
    /// How many days circumstances last here by default.
    pub default_expiration_days: Option<i32>,
    /// Part of Lukasa, for every tenant.
    pub builtin: bool,
}

/// Which soft memories of a domain expire by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DomainExpiry {
    /// Circumstances: tasks, projects, context. Not traits and preferences of the user.
    Circumstances,
    /// Every soft memory.
    Soft,
}

impl Domain {
    /// When a memory valid from a given time expires by default. Hard rules never do (R146).
    pub fn expires_at(
        &self,
        claim: &Claim,
        from: Timestamp,
        expiry: DomainExpiry,
    ) -> Option<Timestamp> {
        let is_circumstance = || {
            claim.category == Category::Context
                || type_policy(claim.memory_type).expires
                || matches!(claim.kind, Kind::Context | Kind::Project)
        };
        let expires =
            claim.force == Force::Soft && (expiry == DomainExpiry::Soft || is_circumstance());
        let days = self.default_expiration_days.filter(|_| expires)?;
        from.checked_add(SignedDuration::from_hours(24 * i64::from(days))).ok().map(micros)
    }
}

/// The name and the displayed name of each domain that is not built in, for a
/// [`Detector`](lukasa_text::detect::Detector).
pub fn own_names(domains: &[Domain]) -> impl Iterator<Item = (&str, &str)> {
    let own = domains.iter().filter(|domain| !domain.builtin);
    own.map(|domain| (domain.name.as_str(), domain.display_name.as_str()))
}

/// The ten predefined domains and religion, with the flags of R183.
pub fn builtin_domains() -> Vec<Domain> {
    let domain = |name: &str, display_name: &str, opt_in: bool, days: Option<i32>| Domain {
        name: name.into(),
        display_name: display_name.into(),
        sensitive: opt_in,
        requires_opt_in: opt_in,
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

/// The text shown in place of words about a domain that is not open.
pub fn hidden_text(domain: &str) -> String {
    format!("[hidden: the domain {domain} is not open]")
}

/// Whether a text is a valid domain name: a short lower-case word, usable in URL paths and file
/// names.
pub fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.as_bytes()[0].is_ascii_lowercase()
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

#[cfg(test)]
mod tests {
    use lukasa_text::detect::Detector;

    use super::*;

    #[test]
    fn circumstances_expire_by_domain_and_other_facts_do_not() {
        use super::DomainExpiry::{Circumstances, Soft};
        let domains = builtin_domains();
        let of = |name: &str| domains.iter().find(|domain| domain.name == name).unwrap();
        let lasting = Claim::saying("Is a baker");
        let soft = Claim { kind: Kind::Project, ..Claim::saying("Has a deadline") };
        let start = Timestamp::UNIX_EPOCH;
        assert_eq!(of("work").expires_at(&lasting, start, Circumstances), None);
        let ninety = Timestamp::from_second(90 * 86_400).unwrap();
        assert_eq!(of("work").expires_at(&soft, start, Circumstances), Some(ninety));
        assert_eq!(of("travel").expires_at(&soft, start, Circumstances), None);
        assert_eq!(of("work").expires_at(&lasting, start, Soft), Some(ninety));
        assert_eq!(of("travel").expires_at(&lasting, start, Soft), None);
        let hard = Claim { force: Force::Hard, ..soft };
        assert_eq!(of("work").expires_at(&hard, start, Circumstances), None);
        assert_eq!(of("work").expires_at(&hard, start, Soft), None);
    }

    #[test]
    fn four_of_eleven_builtin_domains_require_opt_in() {
        let domains = builtin_domains();
        assert_eq!(domains.len(), 11);
        assert!(domains.iter().all(|domain| is_name(&domain.name)));
        let opt_in: Vec<_> =
            domains.iter().filter(|d| d.requires_opt_in).map(|d| d.name.as_str()).collect();
        assert_eq!(opt_in, ["finance", "health", "relationships", "religion"]);
    }

    #[test]
    fn every_builtin_domain_has_a_vocabulary() {
        let names: Vec<_> = builtin_domains().into_iter().map(|domain| domain.name).collect();
        assert!(names.iter().map(String::as_str).eq(Detector::builtin_domains()), "{names:?}");
    }

    #[test]
    fn own_names_leave_builtin_domains_out() {
        let mut domains = builtin_domains();
        domains.truncate(2);
        domains[1] = Domain { name: "dogs".into(), builtin: false, ..domains[0].clone() };
        assert!(own_names(&domains).eq([("dogs", "Communication")]));
    }
}
