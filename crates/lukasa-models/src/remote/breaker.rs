//! Leaves a service that keeps failing alone for a while: whoever asks hears at once that there is
//! no answer, and the service gets the rest it may need.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lukasa_core::model::ModelError;
use tokio::time::Instant;

/// So many calls in a row must find nobody before a service is left alone.
pub(super) const FAILURES: u32 = 5;
pub(super) const REST: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Calls in a row that found nobody.
    failures: u32,
    rests_until: Option<Instant>,
    /// Whether somebody is finding out if the rest helped. The others wait for the news.
    trial: bool,
}

/// The right to make one call. Dropped without an outcome, which is what becomes of a call that
/// nobody waits for any more, it says nothing about the service.
pub(super) struct Pass<'a> {
    breaker: &'a Breaker,
    trial: bool,
}

impl Breaker {
    /// `None` while the service rests.
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
    /// What came of the call. An answer that is unusable, or a refusal, still shows that somebody
    /// is there.
    pub(super) fn settle<T>(self, outcome: &Result<T, ModelError>) {
        let mut state = self.breaker.state();
        if !matches!(outcome, Err(ModelError::Unavailable(_))) {
            *state = State::default();
            return;
        }
        state.failures = state.failures.saturating_add(1);
        // Calls that began before the rest may still fail during it; they do not prolong it. And a
        // trial that another call's success has overtaken is a call like any other.
        if (self.trial && state.trial) || state.failures == FAILURES {
            state.rests_until = Some(Instant::now() + REST);
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

    use super::{Breaker, FAILURES, REST};

    fn fail(breaker: &Breaker) {
        let gone = Err::<(), _>(ModelError::Unavailable("gone".to_owned()));
        breaker.enter().unwrap().settle(&gone);
    }

    fn resting() -> Breaker {
        let breaker = Breaker::default();
        (0..FAILURES).for_each(|_| fail(&breaker));
        assert!(breaker.enter().is_none());
        breaker
    }

    #[tokio::test(start_paused = true)]
    async fn five_failures_in_a_row_are_a_rest_and_then_one_tries() {
        let breaker = resting();
        advance(REST - Duration::from_millis(1)).await;
        assert!(breaker.enter().is_none());
        advance(Duration::from_millis(1)).await;
        let trial = breaker.enter().unwrap();
        assert!(breaker.enter().is_none(), "one at a time");
        trial.settle(&Ok(()));
        (0..FAILURES - 1).for_each(|_| fail(&breaker));
        assert!(breaker.enter().is_some(), "the count begins anew");
    }

    #[tokio::test(start_paused = true)]
    async fn a_trial_that_fails_is_another_rest_and_one_that_is_dropped_is_nothing() {
        let breaker = resting();
        advance(REST).await;
        fail(&breaker);
        assert!(breaker.enter().is_none());
        advance(REST).await;
        drop(breaker.enter().unwrap());
        assert!(breaker.enter().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_of_any_kind_ends_the_row() {
        let breaker = Breaker::default();
        for error in [ModelError::Missing(String::new()), ModelError::Malformed(String::new())] {
            (0..FAILURES - 1).for_each(|_| fail(&breaker));
            breaker.enter().unwrap().settle(&Err::<(), _>(error));
        }
        (0..FAILURES - 1).for_each(|_| fail(&breaker));
        assert!(breaker.enter().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_under_way_neither_prolong_a_rest_nor_are_lost_to_it() {
        let breaker = Breaker::default();
        let (late, later) = (breaker.enter().unwrap(), breaker.enter().unwrap());
        (0..FAILURES).for_each(|_| fail(&breaker));
        advance(REST / 2).await;
        late.settle(&Err::<(), _>(ModelError::Unavailable(String::new())));
        advance(REST / 2).await;
        let trial = breaker.enter().unwrap();
        later.settle(&Ok(()));
        trial.settle(&Err::<(), _>(ModelError::Unavailable(String::new())));
        assert!(breaker.enter().is_some(), "it has answered since the trial began");
    }
}
