//! Jobs: work that waits for its time. Which kinds there are, and when a failed one is tried again.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::fact::words;
use crate::id::{JobId, UserId};
use crate::time::Timestamp;

words!(
    /// What a job does.
    JobKind {
        // Closes a chat that nobody closed.
        Close = "close",
        // Learns from what was said since the last time.
        Extract = "extract",
        // Names a chat after its first exchange.
        Title = "title",
        // Sums up the early part of a long chat.
        Compress = "compress",
        // Tells again what happened in a stretch of turns, some of which are gone.
        Retell = "retell",
        // Weighs again what was learned, and lets go of what has had its time.
        Upkeep = "upkeep",
        // Tells the tenant's webhooks what was written.
        Deliver = "deliver",
    }
);
words!(
    /// What jobs run beside each other without waiting for each other: each lane has workers of its
    /// own.
    Lane {
        Sessions = "sessions",
        Learning = "learning",
        Upkeep = "upkeep",
        Webhooks = "webhooks",
    }
);

impl JobKind {
    /// The lane that jobs of this kind run in, as the database derives it too.
    pub fn lane(self) -> Lane {
        match self {
            JobKind::Close => Lane::Sessions,
            JobKind::Extract | JobKind::Title | JobKind::Compress | JobKind::Retell => {
                Lane::Learning
            }
            JobKind::Upkeep => Lane::Upkeep,
            JobKind::Deliver => Lane::Webhooks,
        }
    }
}

words!(
    /// Where a job stands. One that is done is gone.
    JobState { Waiting = "waiting", Running = "running", Dead = "dead" }
);

/// How long a claimed job is a worker's own. Every step of a job has a deadline, and all of them
/// together are shorter than this.
pub const LEASE: SignedDuration = SignedDuration::from_mins(15);

/// A job as its person or an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub id: JobId,
    pub kind: JobKind,
    /// What it is about, such as a session.
    pub key: String,
    pub state: JobState,
    pub queued_at: Timestamp,
    pub run_at: Timestamp,
    pub attempts: i32,
    pub last_error: Option<String>,
}

/// How an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setback {
    /// Something it needs is away: a model, the database. It will come back.
    Passing,
    /// It did not work out, and may never: an answer that cannot be read, a rule broken.
    Faulty,
}

/// How long to wait before the next attempt, or nothing if there is none. `random` is a fraction
/// between 0 and 1: jobs that failed together must not come back together.
pub fn wait_after(setback: Setback, attempts: i32, random: f64) -> Option<SignedDuration> {
    const FIRST: f64 = 5.0;
    const LONGEST: f64 = 900.0;
    // At a quarter of an hour each, a model may be away for a day before people are needed.
    let most = match setback {
        Setback::Passing => 100,
        Setback::Faulty => 5,
    };
    if attempts >= most {
        return None;
    }
    let doublings = f64::from((attempts - 1).clamp(0, 20));
    let longest = (FIRST * 4f64.powf(doublings)).min(LONGEST);
    Some(SignedDuration::from_secs_f64(longest * (0.5 + random.clamp(0.0, 1.0) / 2.0)))
}

/// When a user's upkeep is next due: once a day, each user at a second of their own, so that the work
/// is spread over the whole day.
pub fn next_upkeep(user: UserId, now: Timestamp) -> Timestamp {
    const DAY: i64 = 24 * 3600;
    // The id is a digest of the name, so its last bits are spread evenly.
    let own = i64::try_from(user.uuid().as_u128() % 86_400).unwrap_or(0);
    let today = now.as_second().div_euclid(DAY) * DAY + own;
    let next = if today > now.as_second() { today } else { today + DAY };
    Timestamp::from_second(next).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::TenantId;

    #[test]
    fn upkeep_comes_once_a_day_and_is_spread_over_it() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let next = |name: &str| next_upkeep(UserId::named(TenantId::named("t"), name), now);
        let first = next("0");
        let again = next_upkeep(UserId::named(TenantId::named("t"), "0"), first);
        assert_eq!(again.duration_since(first).as_hours(), 24);
        let mut hours = [0; 24];
        for user in 0..2_400 {
            let wait = next(&user.to_string()).duration_since(now);
            assert!(wait.is_positive() && wait.as_hours() <= 24);
            hours[usize::try_from(wait.as_hours().min(23)).unwrap()] += 1;
        }
        assert!(hours.iter().all(|users| (50..200).contains(users)), "{hours:?}");
    }

    #[test]
    fn waits_grow_to_a_bound_and_differ_by_chance() {
        let wait = |attempts, random| wait_after(Setback::Passing, attempts, random).unwrap();
        assert_eq!(wait(1, 1.0), SignedDuration::from_secs(5));
        assert_eq!(wait(1, 0.0), SignedDuration::from_millis(2_500));
        assert_eq!(wait(2, 1.0), SignedDuration::from_secs(20));
        assert_eq!(wait(50, 1.0), SignedDuration::from_mins(15));
    }

    #[test]
    fn what_is_broken_is_given_up_before_what_is_away() {
        assert!(wait_after(Setback::Faulty, 4, 0.5).is_some());
        assert!(wait_after(Setback::Faulty, 5, 0.5).is_none());
        assert!(wait_after(Setback::Passing, 99, 0.5).is_some());
        assert!(wait_after(Setback::Passing, 100, 0.5).is_none());
    }
}
