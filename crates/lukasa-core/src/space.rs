//! Spaces: memories that several users of a tenant share. A space has an id and rows of its own, like
//! a user; a user gets to them only by a grant that the user has accepted.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::id::{TenantId, UserId, derived};
use crate::limits::PROJECT_CHARS;
use crate::time::Timestamp;
use crate::words;

/// The first character of a space's name in the list of users. No name of a user contains it.
const MARK: char = '\u{2}';

/// What is wrong with the name of a space.
pub const INVALID_SPACE: &str = "1 to 64 characters without control characters";

/// The name of a space: 1 to 64 visible characters, in normal form and without surrounding space.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceName(String);

impl SpaceName {
    /// Parses a name; `None` if it cannot be the name of a space.
    pub fn parse(name: &str) -> Option<Self> {
        let name: String = name.trim().nfc().collect();
        let is_valid = (1..=PROJECT_CHARS).contains(&name.chars().count())
            && lukasa_text::line::is_visible(&name)
            && !name.chars().any(char::is_control);
        is_valid.then_some(Self(name))
    }

    /// The space whose row has this name; `None` if it is the row of a user.
    pub fn of_user_name(name: &str) -> Option<Self> {
        name.strip_prefix(MARK).map(|name| Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name in the space's row.
    pub fn user_name(&self) -> String {
        format!("{MARK}{}", self.0)
    }

    /// The id of the space. It is derived in another way than that of a user, so no name of a user
    /// leads to it.
    pub fn user_id(&self, tenant: TenantId) -> UserId {
        UserId::from_uuid(derived("space", &[tenant.uuid().as_bytes(), self.0.as_bytes()]))
    }
}

impl fmt::Display for SpaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

words!(
    /// What a grant allows.
    SpaceAccess {
        Read = "read",
        /// Read and write.
        Write = "write",
    }
);

/// The grant of a space to one member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceGrant {
    pub member: UserId,
    pub access: SpaceAccess,
    pub granted_at: Timestamp,
    /// When the member accepted it. Until then it allows nothing.
    pub accepted_at: Option<Timestamp>,
    /// When it was ended, by an administrator or by the member.
    pub ended_at: Option<Timestamp>,
}

impl SpaceGrant {
    /// What the member may do now, if anything.
    pub fn allows(&self) -> Option<SpaceAccess> {
        (self.accepted_at.is_some() && self.ended_at.is_none()).then_some(self.access)
    }

    /// The state of the grant, in one word.
    pub fn state(&self) -> GrantState {
        match (self.accepted_at, self.ended_at) {
            (_, Some(_)) => GrantState::Ended,
            (None, None) => GrantState::Offered,
            (Some(_), None) => GrantState::Accepted,
        }
    }
}

words!(
    /// The state of a grant.
    GrantState {
        Offered = "offered",
        Accepted = "accepted",
        Ended = "ended",
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_reached_by_no_name_of_a_user() {
        let (acme, globex) = (TenantId::named("acme"), TenantId::named("globex"));
        let family = SpaceName::parse(" family ").unwrap();
        assert_eq!(family.as_str(), "family");
        assert_ne!(family.user_id(acme), family.user_id(globex));
        for name in ["family".to_owned(), family.user_name()] {
            assert_ne!(family.user_id(acme), UserId::named(acme, &name));
        }
        assert!(family.user_name().chars().any(char::is_control));
        assert_eq!(SpaceName::of_user_name(&family.user_name()), Some(family));
        assert_eq!(SpaceName::of_user_name("family"), None);
        for bad in ["", " ", "a\nb", "\u{2}family", "\u{200b}", &"x".repeat(65)] {
            assert_eq!(SpaceName::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn space_grant_allows_nothing_before_it_is_accepted_or_after_its_end() {
        let now = Timestamp::UNIX_EPOCH;
        let offered = SpaceGrant {
            member: UserId::named(TenantId::named("acme"), "anna"),
            access: SpaceAccess::Write,
            granted_at: now,
            accepted_at: None,
            ended_at: None,
        };
        assert_eq!((offered.allows(), offered.state()), (None, GrantState::Offered));
        let accepted = SpaceGrant { accepted_at: Some(now), ..offered };
        assert_eq!(accepted.allows(), Some(SpaceAccess::Write));
        assert_eq!(accepted.state(), GrantState::Accepted);
        let ended = SpaceGrant { ended_at: Some(now), ..accepted };
        assert_eq!((ended.allows(), ended.state()), (None, GrantState::Ended));
    }
}
