//! Status: one word for the lifecycle state of a memory, as users see it. It is derived from the
//! version's state and dates and is not stored, so it cannot disagree with them.

use crate::fact::{State, Version};
use crate::time::AsOf;
use crate::words;

words!(
    /// The derived lifecycle.
    Status {
        Active = "active",
        Upcoming = "upcoming",
        Proposed = "proposed",
        Candidate = "candidate",
        Superseded = "superseded",
        Expired = "expired",
        Forgotten = "forgotten",
        Trashed = "trashed",
    }
);

/// The status of a version at a point on both axes. `replaced` says whether another version of the
/// fact takes over where this one ends.
pub fn status_of(version: &Version, at: AsOf, replaced: bool) -> Status {
    match version.state {
        State::Proposed => Status::Proposed,
        State::Candidate => Status::Candidate,
        State::Forgotten => Status::Forgotten,
        State::Trashed => Status::Trashed,
        // A version that is no longer known was replaced by later knowledge.
        State::Active if !version.known.contains(at.known) => Status::Superseded,
        State::Active if version.valid.ended(at.valid) && replaced => Status::Superseded,
        State::Active if version.valid.ended(at.valid) => Status::Expired,
        State::Active if version.valid.from > at.valid => Status::Upcoming,
        State::Active => Status::Active,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::tests::version;
    use crate::origin::{Origin, Voice};
    use crate::time::{Period, Timestamp};

    #[test]
    fn status_follows_from_state_and_dates() {
        let at = |s| Timestamp::from_second(s).unwrap();
        let now = AsOf::now(at(100));
        let mut v = version(Voice::stated(Origin::UserSaid));
        assert_eq!(status_of(&v, now, false), Status::Active);
        v.valid = Period::new(at(0), Some(at(100))).unwrap();
        assert_eq!(status_of(&v, now, false), Status::Expired);
        assert_eq!(status_of(&v, now, true), Status::Superseded);
        v.valid = Period::since(at(101));
        assert_eq!(status_of(&v, now, false), Status::Upcoming);
        v.valid = Period::since(at(0));
        v.known = Period::new(at(0), Some(at(50))).unwrap();
        assert_eq!(status_of(&v, now, false), Status::Superseded);
        for (state, status) in [
            (State::Proposed, Status::Proposed),
            (State::Candidate, Status::Candidate),
            (State::Forgotten, Status::Forgotten),
            (State::Trashed, Status::Trashed),
        ] {
            v.state = state;
            assert_eq!(status_of(&v, now, false), status);
        }
    }
}
