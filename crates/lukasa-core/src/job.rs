//! Background jobs: their kinds, and the retry schedule of failed ones.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::id::{JobId, OperationId, TurnId, UserId};
use crate::time::Timestamp;
use crate::words;

words!(
    /// The kind of a job.
    JobKind {
        // Closes an idle session that was not closed.
        Close = "close",
        // Carries out what the user said outright in a turn.
        Statement = "statement",
        // Extracts facts from the turns since the last extraction.
        Extract = "extract",
        // Learns again from turns about a domain that was opened since.
        Relearn = "relearn",
        // Gives a session a title after its first exchange.
        Title = "title",
        // Summarizes the early part of a long session.
        Compress = "compress",
        // Rewrites the episode of a range of turns, some of which were removed.
        Retell = "retell",
        // Consolidates: re-rates learned facts and ends expired ones.
        Upkeep = "upkeep",
        // Sends operations to the tenant's webhooks.
        Deliver = "deliver",
    }
);
words!(
    /// Independent job queues: each lane has its own workers, so lanes do not wait for each other.
    Lane {
        Sessions = "sessions",
        Learning = "learning",
        Upkeep = "upkeep",
        Webhooks = "webhooks",
    }
);

impl JobKind {
    /// The lane of this kind of job. The database derives the same value.
    pub fn lane(self) -> Lane {
        match self {
            JobKind::Close | JobKind::Statement => Lane::Sessions,
            JobKind::Extract
            | JobKind::Relearn
            | JobKind::Title
            | JobKind::Compress
            | JobKind::Retell => Lane::Learning,
            JobKind::Upkeep => Lane::Upkeep,
            JobKind::Deliver => Lane::Webhooks,
        }
    }
}

/// The work of a job, with the object it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    Close { session: String },
    Statement { turn: TurnId },
    Extract { session: String },
    Relearn { domain: String, session: String },
    Title { session: String },
    Compress { session: String },
    Retell(RetellTask),
    Upkeep,
    Deliver,
}

/// The range of turns whose episode is rewritten, and the removal or restoration that made it
/// necessary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetellTask {
    pub after: OperationId,
    pub first_turn: i32,
    pub last_turn: i32,
    pub session: String,
}

impl Task {
    /// The tasks that end with their session, except retelling, which is about a range of turns.
    pub fn all_of_session(session: &str) -> [Self; 4] {
        let session = || session.to_owned();
        [
            Self::Close { session: session() },
            Self::Extract { session: session() },
            Self::Title { session: session() },
            Self::Compress { session: session() },
        ]
    }

    pub fn kind(&self) -> JobKind {
        match self {
            Self::Close { .. } => JobKind::Close,
            Self::Statement { .. } => JobKind::Statement,
            Self::Extract { .. } => JobKind::Extract,
            Self::Relearn { .. } => JobKind::Relearn,
            Self::Title { .. } => JobKind::Title,
            Self::Compress { .. } => JobKind::Compress,
            Self::Retell(_) => JobKind::Retell,
            Self::Upkeep => JobKind::Upkeep,
            Self::Deliver => JobKind::Deliver,
        }
    }

    /// The text that the job is stored under. Of one user, kind and key at most one job waits.
    pub fn key(&self) -> String {
        match self {
            Self::Close { session }
            | Self::Extract { session }
            | Self::Title { session }
            | Self::Compress { session } => session.clone(),
            Self::Statement { turn } => turn.to_string(),
            // The name of a domain has no spaces.
            Self::Relearn { domain, session } => format!("{domain} {session}"),
            Self::Retell(retell) => {
                let RetellTask { after, first_turn, last_turn, session } = retell;
                format!("{after} {first_turn} {last_turn} {session}")
            }
            Self::Upkeep | Self::Deliver => String::new(),
        }
    }

    /// The task of a stored job; `None` if the key is not one of this kind.
    pub fn parse(kind: JobKind, key: &str) -> Option<Self> {
        let session = || key.to_owned();
        Some(match kind {
            JobKind::Close => Self::Close { session: session() },
            JobKind::Statement => Self::Statement { turn: key.parse().ok()? },
            JobKind::Extract => Self::Extract { session: session() },
            JobKind::Relearn => {
                let (domain, session) = key.split_once(' ')?;
                Self::Relearn { domain: domain.to_owned(), session: session.to_owned() }
            }
            JobKind::Title => Self::Title { session: session() },
            JobKind::Compress => Self::Compress { session: session() },
            JobKind::Retell => {
                let mut fields = key.splitn(4, ' ');
                Self::Retell(RetellTask {
                    after: fields.next()?.parse().ok()?,
                    first_turn: fields.next()?.parse().ok()?,
                    last_turn: fields.next()?.parse().ok()?,
                    session: fields.next()?.to_owned(),
                })
            }
            JobKind::Upkeep => Self::Upkeep,
            JobKind::Deliver => Self::Deliver,
        })
    }
}

words!(
    /// The state of a job. A finished job is deleted.
    JobState { Waiting = "waiting", Running = "running", Dead = "dead" }
);

/// How long a worker holds a claimed job. Every step of a job has a deadline, and their sum is
/// shorter than this.
pub const LEASE: SignedDuration = SignedDuration::from_mins(15);

/// A job as the user or an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub id: JobId,
    pub kind: JobKind,
    /// The object it is about, such as a session.
    pub key: String,
    pub state: JobState,
    pub queued_at: Timestamp,
    pub run_at: Timestamp,
    pub attempts: i32,
    pub last_error: Option<String>,
}

/// The kind of failure of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// A dependency is unavailable for now: a model, the database.
    Transient,
    /// A retry may never succeed: an unreadable model answer, a violated rule.
    Persistent,
}

/// How long to wait before the next attempt, or `None` to give up. `random` is a fraction between 0
/// and 1: jobs that failed together must not be retried together.
pub fn wait_after(failure: FailureKind, attempts: i32, random: f64) -> Option<SignedDuration> {
    const FIRST_WAIT_SECS: f64 = 5.0;
    const MAX_WAIT_SECS: f64 = 900.0;
    // At a quarter of an hour each, a model may be unavailable for a day before an operator is
    // needed.
    let max_attempts = match failure {
        FailureKind::Transient => 100,
        FailureKind::Persistent => 5,
    };
    if attempts >= max_attempts {
        return None;
    }
    let doublings = f64::from((attempts - 1).clamp(0, 20));
    let wait_secs = (FIRST_WAIT_SECS * 4f64.powf(doublings)).min(MAX_WAIT_SECS);
    Some(SignedDuration::from_secs_f64(wait_secs * (0.5 + random.clamp(0.0, 1.0) / 2.0)))
}

/// When a user's upkeep is next due: once a day, each user at a different second, so that the work
/// is spread over the whole day.
pub fn next_upkeep(user: UserId, now: Timestamp) -> Timestamp {
    const DAY: i64 = 24 * 3600;
    // The id is a digest of the name, so its last bits are spread evenly.
    let second_of_day = i64::try_from(user.uuid().as_u128() % 86_400).unwrap_or(0);
    let today = now.as_second().div_euclid(DAY) * DAY + second_of_day;
    let next = if today > now.as_second() { today } else { today + DAY };
    Timestamp::from_second(next).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{Ids, TenantId};

    #[test]
    fn job_task_is_the_same_after_storing_it() {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        let after = Ids::new(now, [1; 16]).operation();
        let session = "a session  with spaces".to_owned();
        let retell = RetellTask { after, first_turn: 3, last_turn: 17, session: session.clone() };
        let turn = Ids::new(now, [2; 16]).turn();
        let relearn = Task::Relearn { domain: "health".to_owned(), session: session.clone() };
        let statement = Task::Statement { turn };
        let mut tasks = vec![Task::Upkeep, Task::Deliver, Task::Retell(retell), statement, relearn];
        tasks.extend(Task::all_of_session(&session));
        for kind in JobKind::ALL {
            assert!(tasks.iter().any(|task| task.kind() == kind), "{kind:?} is not tested");
        }
        for task in tasks {
            assert_eq!(Task::parse(task.kind(), &task.key()), Some(task));
        }
        for key in ["", "1 2 3 x", &format!("{after} 3 x s"), &format!("{after} 3 17")] {
            assert_eq!(Task::parse(JobKind::Retell, key), None, "{key}");
        }
    }

    #[test]
    fn upkeep_is_daily_and_spread_over_the_day() {
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
    fn retry_wait_grows_to_a_limit_with_jitter() {
        let wait = |attempts, random| wait_after(FailureKind::Transient, attempts, random).unwrap();
        assert_eq!(wait(1, 1.0), SignedDuration::from_secs(5));
        assert_eq!(wait(1, 0.0), SignedDuration::from_millis(2_500));
        assert_eq!(wait(2, 1.0), SignedDuration::from_secs(20));
        assert_eq!(wait(50, 1.0), SignedDuration::from_mins(15));
    }

    #[test]
    fn persistent_failures_are_given_up_before_transient_ones() {
        assert!(wait_after(FailureKind::Persistent, 4, 0.5).is_some());
        assert!(wait_after(FailureKind::Persistent, 5, 0.5).is_none());
        assert!(wait_after(FailureKind::Transient, 99, 0.5).is_some());
        assert!(wait_after(FailureKind::Transient, 100, 0.5).is_none());
    }
}
