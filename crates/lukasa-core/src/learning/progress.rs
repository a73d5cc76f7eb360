//! How far learning from a session is, and what it waits for.

use crate::job::{Job, JobKind, JobState};
use crate::policy::{Policy, Trigger};
use crate::session::{Session, SessionState};
use crate::time::Timestamp;
use crate::words;

words!(
    /// The state of learning from a session.
    LearningState {
        // There is no turn to learn from.
        Nothing = "nothing",
        // It waits until the session is closed, or until there was no turn for a while.
        WaitingForPause = "waiting_for_pause",
        Queued = "queued",
        Running = "running",
        // The job failed and is not retried by itself.
        Failed = "failed",
        // Every turn was learned from.
        Learned = "learned",
        // The policy learns only on request, or the session was closed without learning.
        Off = "off",
        // Only imported turns are left, from which the rules learn nothing.
        WaitingForModel = "waiting_for_model",
        // No chat model is configured, and learning by rules is turned off.
        NoModel = "no_model",
    }
);

/// What a server can learn of the turns that a session has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LearningAbility {
    /// It learns from no conversation.
    Nothing,
    /// It learns by rules, and all of these turns are imported.
    NotImports,
    Everything,
}

/// The state of learning from a session, and when it starts if that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LearningProgress {
    pub state: LearningState,
    pub starts_at: Option<Timestamp>,
}

impl LearningProgress {
    /// The progress of a session with these jobs. `has_passes` is whether the session was learned from
    /// before.
    pub fn of(
        session: &Session,
        jobs: &[Job],
        policy: &Policy,
        ability: LearningAbility,
        has_passes: bool,
    ) -> Self {
        let job = |state: JobState| {
            jobs.iter().find(|job| job.kind == JobKind::Extract && job.state == state)
        };
        let waiting = job(JobState::Waiting).map(|job| job.run_at);
        let (state, starts_at) = if job(JobState::Running).is_some() {
            (LearningState::Running, None)
        } else if let Some(run_at) = waiting {
            (LearningState::Queued, Some(run_at))
        } else if job(JobState::Dead).is_some() {
            (LearningState::Failed, None)
        } else if !session.has_unextracted_turns() {
            let learned = if has_passes { LearningState::Learned } else { LearningState::Nothing };
            (learned, None)
        } else if ability == LearningAbility::Nothing {
            (LearningState::NoModel, None)
        } else if policy.extract == Trigger::Manual || session.state != SessionState::Active {
            // The user can start learning from what is off, and not from what waits for a model.
            let needs_model = ability == LearningAbility::NotImports;
            let state =
                if needs_model { LearningState::WaitingForModel } else { LearningState::Off };
            (state, None)
        } else {
            let pause = policy.idle_close().map(|idle| session.last_turn_at + idle);
            (LearningState::WaitingForPause, pause)
        };
        Self { state, starts_at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Ids;

    fn session() -> Session {
        let mut session = Session::opened("s", None, Timestamp::UNIX_EPOCH);
        session.turns = 2;
        session
    }

    fn job(state: JobState) -> Job {
        Job {
            id: Ids::new(Timestamp::UNIX_EPOCH, [1; 16]).job(),
            kind: JobKind::Extract,
            key: "s".into(),
            state,
            queued_at: Timestamp::UNIX_EPOCH,
            run_at: Timestamp::UNIX_EPOCH,
            attempts: 0,
            last_error: None,
        }
    }

    fn state(session: &Session, jobs: &[Job], policy: &Policy, learns: bool) -> LearningState {
        let ability = if learns { LearningAbility::Everything } else { LearningAbility::Nothing };
        LearningProgress::of(session, jobs, policy, ability, true).state
    }

    #[test]
    fn learning_waits_for_the_pause_that_the_policy_sets() {
        let policy = Policy { idle_close_minutes: Some(7), ..Policy::default() };
        let ability = LearningAbility::Everything;
        let progress = LearningProgress::of(&session(), &[], &policy, ability, false);
        assert_eq!(progress.state, LearningState::WaitingForPause);
        assert_eq!(progress.starts_at.map(|at| at.as_second()), Some(7 * 60));
        let never = Policy { idle_close_minutes: None, ..policy };
        let progress = LearningProgress::of(&session(), &[], &never, ability, false);
        assert_eq!(progress.state, LearningState::WaitingForPause);
        assert_eq!(progress.starts_at, None, "only a close starts it");
    }

    #[test]
    fn learning_state_follows_the_job_before_anything_else() {
        let policy = Policy { extract: Trigger::Manual, ..Policy::default() };
        for (of_job, expected) in [
            (JobState::Waiting, LearningState::Queued),
            (JobState::Running, LearningState::Running),
            (JobState::Dead, LearningState::Failed),
        ] {
            assert_eq!(state(&session(), &[job(of_job)], &policy, false), expected);
        }
        let both = [job(JobState::Dead), job(JobState::Waiting)];
        assert_eq!(state(&session(), &both, &policy, false), LearningState::Queued);
    }

    #[test]
    fn learning_state_without_a_job_names_what_is_missing() {
        let policy = Policy::default();
        assert_eq!(state(&session(), &[], &policy, false), LearningState::NoModel);
        let manual = Policy { extract: Trigger::Manual, ..Policy::default() };
        assert_eq!(state(&session(), &[], &manual, true), LearningState::Off);
        let closed = Session { state: SessionState::Idle, ..session() };
        assert_eq!(state(&closed, &[], &policy, true), LearningState::Off);
        let learned = Session { extracted_through: 2, ..session() };
        assert_eq!(state(&learned, &[], &policy, true), LearningState::Learned);
        let empty = Session { turns: 0, ..session() };
        let ability = LearningAbility::Everything;
        let progress = LearningProgress::of(&empty, &[], &policy, ability, false);
        assert_eq!(progress.state, LearningState::Nothing);
    }

    #[test]
    fn imported_turns_wait_for_a_model_also_where_learning_has_to_be_asked_for() {
        let of = |session: &Session, policy: &Policy| {
            LearningProgress::of(session, &[], policy, LearningAbility::NotImports, false).state
        };
        let policy = Policy::default();
        let closed = Session { state: SessionState::Idle, ..session() };
        assert_eq!(of(&closed, &policy), LearningState::WaitingForModel);
        assert_eq!(of(&session(), &policy), LearningState::WaitingForPause);
        let manual = Policy { extract: Trigger::Manual, ..policy };
        for session in [&closed, &session()] {
            assert_eq!(
                of(session, &manual),
                LearningState::WaitingForModel,
                "asking would do nothing"
            );
        }
    }
}
