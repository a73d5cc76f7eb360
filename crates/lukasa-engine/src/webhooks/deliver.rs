//! The job that tells a tenant's webhooks what was written about one user: each webhook in order, at
//! least once, and the webhooks beside each other. A delivery that fails holds up those behind it until it
//! arrives or is given up. One turn of the job is bounded in deliveries and in time, and a webhook that
//! is slow to answer is left alone for as long as it took.

use futures_util::future::try_join_all;
use jiff::SignedDuration;
use lukasa_core::time::micros;
use lukasa_core::webhook::{DELIVERY_DAYS, GONE, PATIENCE, rest_after, wait_after};
use lukasa_core::{Delivery, DeliveryState, JobKind, Operation, Timestamp, Webhook};
use lukasa_store::delivery::{self, Mark};
use lukasa_store::job::{self, Claimed};
use lukasa_store::{Batch, operation, webhook};

use super::{Tried, letter, went};
use crate::error::Result;
use crate::jobs::Failed;
use crate::sessions::job_id;
use crate::{Engine, Request};

/// How many deliveries one turn of the job makes to one webhook.
const LETTERS: usize = 20;
/// After how long one turn of the job begins no further delivery.
const TURN_LIMIT: SignedDuration = SignedDuration::from_secs(20);
/// A delivery that takes longer than this is slow.
const SLOW: SignedDuration = SignedDuration::from_secs(2);
/// How many operations are looked at in one turn.
const PAGE: i64 = 200;

/// One turn of the job.
struct Round<'r> {
    engine: &'r Engine,
    request: &'r Request,
    /// When it began, by the engine's own ticks.
    began: u64,
}

impl Engine {
    /// Tells every webhook what it has not been told about the job's user.
    pub(crate) async fn deliver(&self, request: &Request, job: &Claimed) -> Result<(), Failed> {
        self.courier()?;
        let scope = self.store.read(job.tenant, job.user).await?;
        let marks = delivery::marks(&scope).await?;
        drop(scope);
        let round = Round { engine: self, request, began: (self.ticks)() };
        let on = marks.into_iter().filter(|(_, hook)| hook.off_at.is_none());
        let told = on.map(|(mark, hook)| round.tell(mark, hook));
        let again = try_join_all(told).await?.into_iter().flatten().min();
        let scope = self.store.write(job.tenant, job.user).await?;
        if !job::is_held(&scope, job).await? {
            return Ok(());
        }
        let now = round.now();
        let mut batch = Batch::default();
        job::finish(&mut batch, &scope, job);
        delivery::sweep(&mut batch, &scope, now - SignedDuration::from_hours(24 * DELIVERY_DAYS));
        if let Some(at) = again {
            job::queue_sole(
                &mut batch,
                &scope,
                job_id(request, "deliver"),
                JobKind::Deliver,
                at,
                now,
            );
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }
}

impl Round<'_> {
    fn passed(&self) -> SignedDuration {
        let passed = (self.engine.ticks)().saturating_sub(self.began);
        SignedDuration::from_micros(i64::try_from(passed).unwrap_or(0))
    }

    /// The time now: letters can take long.
    fn now(&self) -> Timestamp {
        micros(self.request.moment.now + self.passed())
    }

    /// Tells one webhook what comes after its mark; says when there is more to tell.
    async fn tell(&self, mut mark: Mark, hook: Webhook) -> Result<Option<Timestamp>> {
        let hook = &hook;
        let mut letters = LETTERS;
        let caller = &self.request.caller;
        let scope = self.engine.store.read(caller.tenant, caller.user).await?;
        let waiting = operation::after(&scope, mark.told_until, PAGE).await?;
        drop(scope);
        let more = i64::try_from(waiting.len()).is_ok_and(|count| count == PAGE);
        // What it does not want to hear of is passed over without a word.
        let mut passed = mark.told_until;
        for next in &waiting {
            if !hook.wants(next.verb) {
                passed = next.at;
                continue;
            }
            let rests = mark.next_at.into_iter().chain(hook.rest_until).max();
            if let Some(until) = rests.filter(|until| *until > self.now()) {
                return Ok(Some(until));
            }
            if letters == 0 || self.passed() >= TURN_LIMIT {
                return Ok(Some(self.now()));
            }
            letters -= 1;
            let letter = letter(hook, &caller.user_name, next, self.now());
            let sent = self.passed();
            let tried = self.engine.carry(letter).await?;
            let took = self.passed() - sent;
            let after = self.settle(&mark, passed, hook, next, (&tried, took));
            if !self.keep(&mark, &after.0, hook, &after.1, &tried).await? {
                // Somebody has moved the mark meanwhile, or taken the webhook away.
                return Ok(Some(self.now()));
            }
            (mark, passed) = (after.0, next.at);
            if !tried.is_received() {
                return Ok(Some(mark.next_at.unwrap_or_else(|| self.now())));
            }
        }
        if passed > mark.told_until {
            let told = Mark { told_until: passed, ..mark.clone() };
            self.advance(&mark, &told).await?;
        }
        Ok(more.then(|| self.now()))
    }

    /// Where the mark stands after an attempt, and what is kept of it.
    fn settle(
        &self,
        mark: &Mark,
        passed: Timestamp,
        hook: &Webhook,
        operation: &Operation,
        (tried, took): (&Tried, SignedDuration),
    ) -> (Mark, Delivery) {
        let (now, attempts) = (self.now(), mark.attempts + 1);
        let went = went(&self.request.caller.user_name, operation, tried, attempts, now);
        let id = hook.id;
        // One that is slow has at most half of the time, and the others have the rest.
        let rest = (took >= SLOW).then(|| micros(now + took));
        let told = Mark { webhook: id, told_until: operation.at, attempts: 0, next_at: rest };
        if tried.is_received() {
            return (told, went);
        }
        let random = f64::from(self.request.moment.seed[1]) / 255.0;
        let Some(wait) = wait_after(attempts, random) else {
            return (told, Delivery { state: DeliveryState::Dead, ..went });
        };
        let next_at = Some(micros(now + wait));
        let mark = Mark { webhook: id, told_until: passed, attempts, next_at };
        (mark, Delivery { state: DeliveryState::Waiting, next_at, ..went })
    }

    /// Keeps how an attempt went; says whether the mark was still where it had been. The commit waits
    /// for no disk: what it loses is told once more.
    async fn keep(
        &self,
        old: &Mark,
        new: &Mark,
        hook: &Webhook,
        delivery: &Delivery,
        tried: &Tried,
    ) -> Result<bool> {
        let caller = &self.request.caller;
        let scope = self.engine.store.note(caller.tenant, caller.user).await?;
        // A batch follows a question, which opens the transaction.
        operation::last_at(&scope).await?;
        let mut batch = Batch::default();
        delivery::advance(&mut batch, &scope, old, new);
        delivery::put(&mut batch, &scope, hook.id, delivery);
        if tried.is_received() {
            webhook::well(&mut batch, &scope, hook.id);
        } else {
            let now = self.now();
            let rest = now + rest_after(hook.failures + 1);
            let off = gives_up(hook, tried, now);
            webhook::failed(&mut batch, &scope, hook.id, now, rest, off);
        }
        match scope.run(&batch).await {
            Err(lukasa_store::Error::Gone) => Ok(false),
            done => {
                done?;
                scope.commit().await?;
                Ok(true)
            }
        }
    }

    async fn advance(&self, old: &Mark, new: &Mark) -> Result<()> {
        let caller = &self.request.caller;
        let scope = self.engine.store.note(caller.tenant, caller.user).await?;
        operation::last_at(&scope).await?;
        let mut batch = Batch::default();
        delivery::advance(&mut batch, &scope, old, new);
        match scope.run(&batch).await {
            Err(lukasa_store::Error::Gone) => Ok(()),
            done => {
                done?;
                Ok(scope.commit().await?)
            }
        }
    }
}

/// Why nothing is sent to a webhook any more, if so.
fn gives_up(hook: &Webhook, tried: &Tried, now: Timestamp) -> Option<&'static str> {
    if tried.status == Some(GONE) {
        return Some("it answered 410: it wants to hear no more");
    }
    let spent = hook.failing_since.is_some_and(|since| now.duration_since(since) >= PATIENCE);
    spent.then_some("nothing has arrived for 120 hours")
}
