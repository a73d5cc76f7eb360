//! The job that delivers one user's operations to the tenant's webhooks: to each webhook in order
//! and at least once, to several webhooks concurrently. A failed delivery blocks those after it
//! until it succeeds or is out of attempts. One run of the job is limited in deliveries and in
//! time, and a webhook that answers slowly then rests for as long as it took.

use futures_util::future::try_join_all;
use jiff::SignedDuration;
use lukasa_core::job::Task;
use lukasa_core::time::micros;
use lukasa_core::webhook::{DELIVERY_DAYS, DISABLE_AFTER, GONE, rest_after, wait_after};
use lukasa_core::{Delivery, DeliveryState, Operation, Timestamp, Webhook};
use lukasa_store::delivery::{self, DeliveryProgress};
use lukasa_store::job::{self, ClaimedJob};
use lukasa_store::{Batch, operation, webhook};

use super::TenantWebhooks;
use super::{DeliveryAttempt, delivery_record, operation_request};
use crate::error::Result;
use crate::queue::JobFailure;
use crate::request::Request;

/// Maximum number of deliveries to one webhook per run.
const MAX_DELIVERIES: usize = 20;
/// Time after which a run starts no further delivery.
const TURN_LIMIT: SignedDuration = SignedDuration::from_secs(20);
/// A delivery that takes longer than this is slow.
const SLOW: SignedDuration = SignedDuration::from_secs(2);
/// Operations read per run.
const PAGE_SIZE: i64 = 200;

/// One run of the job.
struct Round<'r> {
    webhooks: &'r TenantWebhooks,
    request: &'r Request,
    /// Start time, in the engine's ticks.
    began: u64,
}

impl TenantWebhooks {
    /// Delivers the pending operations of the job's user to every webhook.
    pub(crate) async fn deliver(
        &self,
        request: &Request,
        job: &ClaimedJob,
    ) -> Result<(), JobFailure> {
        self.require_sender()?;
        let scope = self.parts.store.read(job.tenant, job.user).await?;
        let marks = delivery::marks(&scope).await?;
        drop(scope);
        let round = Round { webhooks: self, request, began: (self.parts.ticks)() };
        let on = marks.into_iter().filter(|(_, hook)| hook.off_at.is_none());
        let runs = on.map(|(mark, hook)| round.deliver_to(mark, hook));
        let again = try_join_all(runs).await?.into_iter().flatten().min();
        let scope = self.parts.store.write(job.tenant, job.user).await?;
        if !job::is_held(&scope, job).await? {
            return Ok(());
        }
        let now = round.now();
        let mut batch = Batch::default();
        job::finish(&mut batch, &scope, job);
        delivery::sweep(&mut batch, &scope, now - SignedDuration::from_hours(24 * DELIVERY_DAYS));
        if let Some(at) = again {
            job::queue_sole(&mut batch, &scope, request.job_id("deliver"), &Task::Deliver, at, now);
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }
}

impl Round<'_> {
    fn passed(&self) -> SignedDuration {
        let passed = (self.webhooks.parts.ticks)().saturating_sub(self.began);
        SignedDuration::from_micros(i64::try_from(passed).unwrap_or(0))
    }

    /// The time now: deliveries can take long.
    fn now(&self) -> Timestamp {
        micros(self.request.moment.now + self.passed())
    }

    /// Delivers the operations after a webhook's mark; returns when to continue, if there is more.
    async fn deliver_to(
        &self,
        mut mark: DeliveryProgress,
        hook: Webhook,
    ) -> Result<Option<Timestamp>> {
        let hook = &hook;
        let mut deliveries_left = MAX_DELIVERIES;
        let caller = &self.request.caller;
        let scope = self.webhooks.parts.store.read_as(caller).await?;
        let waiting = operation::after(&scope, mark.told_until, PAGE_SIZE).await?;
        drop(scope);
        let more = i64::try_from(waiting.len()).is_ok_and(|count| count == PAGE_SIZE);
        // Skip operations this webhook is not subscribed to.
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
            if deliveries_left == 0 || self.passed() >= TURN_LIMIT {
                return Ok(Some(self.now()));
            }
            deliveries_left -= 1;
            let request = operation_request(hook, &caller.user_name, next, self.now());
            let sent = self.passed();
            let attempt = self.webhooks.send(request).await?;
            let took = self.passed() - sent;
            let after = self.settle(&mark, passed, hook, next, (&attempt, took));
            if !self.keep(&mark, &after.0, hook, &after.1, &attempt).await? {
                // The mark was moved or the webhook removed meanwhile.
                return Ok(Some(self.now()));
            }
            (mark, passed) = (after.0, next.at);
            if !attempt.is_received() {
                return Ok(Some(mark.next_at.unwrap_or_else(|| self.now())));
            }
        }
        if passed > mark.told_until {
            let next = DeliveryProgress { told_until: passed, ..mark.clone() };
            self.advance(&mark, &next).await?;
        }
        Ok(more.then(|| self.now()))
    }

    /// The new mark after an attempt, and the delivery record.
    fn settle(
        &self,
        mark: &DeliveryProgress,
        passed: Timestamp,
        hook: &Webhook,
        operation: &Operation,
        (attempt, took): (&DeliveryAttempt, SignedDuration),
    ) -> (DeliveryProgress, Delivery) {
        let (now, attempts) = (self.now(), mark.attempts + 1);
        let record =
            delivery_record(&self.request.caller.user_name, operation, attempt, attempts, now);
        let id = hook.id;
        // A slow webhook gets at most half of the time, the others the rest.
        let rest = (took >= SLOW).then(|| micros(now + took));
        let delivered =
            DeliveryProgress { webhook: id, told_until: operation.at, attempts: 0, next_at: rest };
        if attempt.is_received() {
            return (delivered, record);
        }
        let random = f64::from(self.request.moment.seed[1]) / 255.0;
        let Some(wait) = wait_after(attempts, random) else {
            return (delivered, Delivery { state: DeliveryState::Dead, ..record });
        };
        let next_at = Some(micros(now + wait));
        let mark = DeliveryProgress { webhook: id, told_until: passed, attempts, next_at };
        (mark, Delivery { state: DeliveryState::Waiting, next_at, ..record })
    }

    /// Stores the result of an attempt; false if the mark was moved meanwhile. The commit does not
    /// wait for the disk: after a crash the delivery is repeated.
    async fn keep(
        &self,
        old: &DeliveryProgress,
        new: &DeliveryProgress,
        hook: &Webhook,
        delivery: &Delivery,
        attempt: &DeliveryAttempt,
    ) -> Result<bool> {
        let caller = &self.request.caller;
        let scope = self.webhooks.parts.store.write_lossy(caller.tenant, caller.user).await?;
        // A batch needs an open transaction, which this query opens.
        operation::last_at(&scope).await?;
        let mut batch = Batch::default();
        delivery::advance(&mut batch, &scope, old, new);
        delivery::put(&mut batch, &scope, hook.id, delivery);
        if attempt.is_received() {
            webhook::clear_failures(&mut batch, &scope, hook.id);
        } else {
            let now = self.now();
            let rest = now + rest_after(hook.failures + 1);
            let off = gives_up(hook, attempt, now);
            webhook::record_failure(&mut batch, &scope, hook.id, now, rest, off);
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

    async fn advance(&self, old: &DeliveryProgress, new: &DeliveryProgress) -> Result<()> {
        let caller = &self.request.caller;
        let scope = self.webhooks.parts.store.write_lossy(caller.tenant, caller.user).await?;
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

/// The reason to disable a webhook, if there is one.
fn gives_up(hook: &Webhook, attempt: &DeliveryAttempt, now: Timestamp) -> Option<&'static str> {
    if attempt.status == Some(GONE) {
        return Some("the receiver answered 410 Gone");
    }
    let spent = hook.failing_since.is_some_and(|since| now.duration_since(since) >= DISABLE_AFTER);
    spent.then_some("no delivery has succeeded for 120 hours")
}
