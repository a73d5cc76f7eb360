//! Circuit breaker: pauses calls to a service that keeps failing, so that callers fail at once and
//! the service can recover.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
    /// The end of a pause that the service asked for.
    busy_until: Option<Instant>,
    /// Whether a trial call after the pause is in progress. Other calls fail meanwhile.
    trial: bool,
}

/// What the outcome of a call says about the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// It answered. A malformed answer or a refusal shows that too.
    Available,
    Unavailable,
    /// It asks not to be called for this long.
    Busy(Duration),
    /// Nothing: it may only be slow.
    None,
}

/// Why a call is not admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    Failing,
    /// The service asked for a pause, and this much of it is left.
    Busy(Duration),
}

/// The permission to make one call. Dropped without an outcome, as by a cancelled call, it says
/// nothing about the service.
pub(super) struct Pass<'a> {
    breaker: &'a Breaker,
    trial: bool,
}

impl Breaker {
    /// Admits a call, unless the service is paused.
    pub(super) fn enter(&self) -> Result<Pass<'_>, Pause> {
        let (mut state, now) = (self.state(), Instant::now());
        if let Some(until) = state.busy_until.filter(|until| now < *until) {
            return Err(Pause::Busy(until - now));
        }
        let trial = match state.rests_until {
            None => false,
            Some(until) if state.trial || now < until => return Err(Pause::Failing),
            Some(_) => true,
        };
        state.trial = trial;
        Ok(Pass { breaker: self, trial })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// Records the outcome of the call.
    pub(super) fn settle(self, evidence: Evidence) {
        let mut state = self.breaker.state();
        match evidence {
            Evidence::None => return,
            Evidence::Available => {
                *state = State::default();
                return;
            }
            Evidence::Busy(retry_after) => {
                let until = Instant::now() + retry_after;
                *state = State { busy_until: Some(until), ..State::default() };
                return;
            }
            Evidence::Unavailable => {}
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

    use tokio::time::advance;

    use super::{Breaker, Evidence, MAX_FAILURES, Pause, REST_PERIOD};

    fn fail(breaker: &Breaker) {
        breaker.enter().unwrap().settle(Evidence::Unavailable);
    }

    fn resting() -> Breaker {
        let breaker = Breaker::default();
        (0..MAX_FAILURES).for_each(|_| fail(&breaker));
        assert!(breaker.enter().is_err());
        breaker
    }

    #[tokio::test(start_paused = true)]
    async fn breaker_pauses_after_five_failures_and_then_admits_one_trial() {
        let breaker = resting();
        advance(REST_PERIOD - Duration::from_millis(1)).await;
        assert!(breaker.enter().is_err());
        advance(Duration::from_millis(1)).await;
        let trial = breaker.enter().unwrap();
        assert!(breaker.enter().is_err(), "one at a time");
        trial.settle(Evidence::Available);
        (0..MAX_FAILURES - 1).for_each(|_| fail(&breaker));
        assert!(breaker.enter().is_ok(), "the count starts again");
    }

    #[tokio::test(start_paused = true)]
    async fn breaker_pauses_again_after_failed_trial_but_not_after_dropped_one() {
        let breaker = resting();
        advance(REST_PERIOD).await;
        fail(&breaker);
        assert!(breaker.enter().is_err());
        advance(REST_PERIOD).await;
        drop(breaker.enter().unwrap());
        assert!(breaker.enter().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn breaker_resets_count_after_any_answer() {
        let breaker = Breaker::default();
        (0..MAX_FAILURES - 1).for_each(|_| fail(&breaker));
        breaker.enter().unwrap().settle(Evidence::Available);
        (0..MAX_FAILURES - 1).for_each(|_| fail(&breaker));
        assert!(breaker.enter().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn breaker_pauses_as_long_as_the_service_asks() {
        let breaker = Breaker::default();
        breaker.enter().unwrap().settle(Evidence::Busy(Duration::from_secs(90)));
        advance(Duration::from_secs(30)).await;
        assert_eq!(breaker.enter().err(), Some(Pause::Busy(Duration::from_secs(60))));
        advance(Duration::from_secs(60)).await;
        assert!(breaker.enter().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn breaker_is_not_opened_by_timeouts_of_a_slow_service() {
        let breaker = Breaker::default();
        (0..3 * MAX_FAILURES).for_each(|_| breaker.enter().unwrap().settle(Evidence::None));
        assert!(breaker.enter().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn breaker_pause_is_not_affected_by_earlier_calls() {
        let breaker = Breaker::default();
        let (late, later) = (breaker.enter().unwrap(), breaker.enter().unwrap());
        (0..MAX_FAILURES).for_each(|_| fail(&breaker));
        advance(REST_PERIOD / 2).await;
        late.settle(Evidence::Unavailable);
        advance(REST_PERIOD / 2).await;
        let trial = breaker.enter().unwrap();
        later.settle(Evidence::Available);
        trial.settle(Evidence::Unavailable);
        assert!(breaker.enter().is_ok(), "it has answered since the trial began");
    }
}
