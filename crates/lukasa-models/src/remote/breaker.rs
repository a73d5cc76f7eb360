//! Circuit breaker: pauses calls to a service that keeps failing, so that callers fail at once and
//! the service can recover.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lukasa_core::model::ModelError;
use tokio::time::Instant;

/// Failed calls in a row after which a service is paused.
pub(super) const MAX_FAILURES: u32 = 5;
pub(super) const REST_PERIOD: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Calls in a row that found the service unavailable.
    failures: u32,
    rests_until: Option<Instant>,
    /// Whether a trial call after the pause is in progress. Other calls fail meanwhile.
    trial: bool,
}

/// The permission to make one call. Dropped without an outcome, as by a cancelled call, it says
/// nothing about the service.
pub(super) struct Pass<'a> {
    breaker: &'a Breaker,
    trial: bool,
}

impl Breaker {
    /// Admits a call; `None` while the service is paused.
    pub(super) fn enter(&self) -> Option<Pass<'_>> {
        let mut state = self.state();
        let trial = match state.rests_until {
            None => false,
            Some(until) if state.trial || Instant::now() < until => return None,
            Some(_) => true,
        };
        state.trial = trial;
        Some(Pass { breaker: self, trial })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// Records the outcome of the call. A malformed answer or a refusal still shows that the
    /// service is available.
    pub(super) fn settle<T>(self, outcome: &Result<T, ModelError>) {
        let mut state = self.breaker.state();
        if !matches!(outcome, Err(ModelError::Unavailable(_))) {
            *state = State::default();
            return;
        }
        state.failures = state.failures.saturating_add(1);
        // Calls that began before the pause may still fail during it; they do not prolong it. And a
        // trial during which another call succeeded is a call like any other.
        if (self.trial && state.trial) || state.failures == MAX_FAILURES {
            state.rests_until = Some(Instant::now() + REST_PERIOD);
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.trial {
            self.breaker.state().trial = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lukasa_core::model::ModelError;
    use tokio::time::advance;

    use super::{Breaker, MAX_FAILURES, REST_PERIOD};

    fn fail(breaker: &Breaker) {
        let gone = Err::<(), _>(ModelError::Unavailable("gone".to_owned()));
        breaker.enter().unwrap().settle(&gone);
    }

    fn resting() -> Breaker {
        let breaker = Breaker::default();
        (0..MAX_FAILURES).for_each(|_| fail(&breaker));
        assert!(breaker.enter().is_none());
        breaker
    }

    #[tokio::test(start_paused = true)]
    async fn breaker_pauses_after_five_failures_and_then_admits_one_trial() {
        let breaker = resting();
        advance(REST_PERIOD - Duration::from_millis(1)).await;
        assert!(breaker.enter().is_none());
        advance(Duration::from_millis(1)).await;
        let trial = breaker.enter().unwrap();
        assert!(breaker.enter().is_none(), "one at a time");
        trial.settle(&Ok(()));
        (0..MAX_FAILURES - 1).for_each(|_| fail(&breaker));
        assert!(breaker.enter().is_some(), "the count starts again");
    }

    #[tokio::test(start_paused = true)]
    async fn breaker_pauses_again_after_failed_trial_but_not_after_dropped_one() {
        let breaker = resting();
        advance(REST_PERIOD).await;
        fail(&breaker);
        assert!(breaker.enter().is_none());
        advance(REST_PERIOD).await;
        drop(breaker.enter().unwrap());
        assert!(breaker.enter().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn breaker_resets_count_after_any_answer() {
        let breaker = Breaker::default();
        for error in [ModelError::Missing(String::new()), ModelError::Malformed(String::new())] {
            (0..MAX_FAILURES - 1).for_each(|_| fail(&breaker));
            breaker.enter().unwrap().settle(&Err::<(), _>(error));
        }
        (0..MAX_FAILURES - 1).for_each(|_| fail(&breaker));
        assert!(breaker.enter().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn breaker_pause_is_not_affected_by_earlier_calls() {
        let breaker = Breaker::default();
        let (late, later) = (breaker.enter().unwrap(), breaker.enter().unwrap());
        (0..MAX_FAILURES).for_each(|_| fail(&breaker));
        advance(REST_PERIOD / 2).await;
        late.settle(&Err::<(), _>(ModelError::Unavailable(String::new())));
        advance(REST_PERIOD / 2).await;
        let trial = breaker.enter().unwrap();
        later.settle(&Ok(()));
        trial.settle(&Err::<(), _>(ModelError::Unavailable(String::new())));
        assert!(breaker.enter().is_some(), "it has answered since the trial began");
    }
}
