//! Webhooks: URLs of a tenant that operations are delivered to. This module creates, lists and
//! tests them; [`deliver`](self) is the job that makes the deliveries.
//!
//! The log of operations is the outbox. A write adds a job and, the first time, a mark of the first
//! operation to deliver for its user, both in its own transaction; the job reads on from the mark.
//! So every acknowledged operation is delivered, whatever crashes, and a repeated delivery carries
//! the same id.

mod deliver;

use std::cmp::Reverse;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use lukasa_core::audit::{AuditActor, AuditEntry, AuditEvent};
use lukasa_core::job::Task;
use lukasa_core::time::micros;
use lukasa_core::webhook::MAX_WEBHOOKS;
use lukasa_core::{
    Delivery, DeliveryState, Ids, Operation, OperationId, TenantId, Timestamp, UserId, Verb,
    Webhook, WebhookId,
};
use lukasa_store::{Batch, Directory, audit, delivery, directory, job, operation, webhook};

use crate::credentials::rotation::overlap_end;
use crate::error::{Error, Result};
use crate::parts::Parts;
use crate::request::Moment;

/// A request to a webhook.
#[derive(Debug, Clone)]
pub struct WebhookRequest {
    pub url: String,
    /// The secrets it is signed with: two for a while after a rotation.
    pub secrets: Vec<Vec<u8>>,
    /// The same each time it is sent, so that the receiver can recognise repeats.
    pub id: String,
    /// When it is sent.
    pub at: Timestamp,
    pub payload: WebhookPayload,
}

/// Content of a webhook request.
#[derive(Debug, Clone)]
pub enum WebhookPayload {
    /// An operation, and the user it is about, by the tenant's name for them.
    Operation { user: String, operation: Box<Operation> },
    /// A test request without content.
    Test,
}

/// Sends a request; returns the status of the response, or why there was none.
pub type SendRequest =
    Arc<dyn Fn(WebhookRequest) -> BoxFuture<'static, Result<u16, String>> + Send + Sync>;

/// HTTP sender for webhook requests, provided by the server.
#[derive(Clone)]
pub struct WebhookSender {
    /// Checks a URL; the error says what is expected.
    pub check_url: fn(&str, bool) -> Result<(), &'static str>,
    /// Whether it may connect to addresses that are not public.
    pub private_networks: bool,
    pub send: SendRequest,
}

/// Changes to a webhook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebhookEdit {
    pub url: Option<String>,
    pub verbs: Option<Vec<Verb>>,
    pub enabled: Option<bool>,
}

impl WebhookEdit {
    /// Which fields it sets, without their content.
    fn changed(&self) -> String {
        let url = self.url.is_some().then_some("url");
        let verbs = self.verbs.is_some().then_some("verbs");
        let enabled = self.enabled.map(|on| if on { "enabled" } else { "disabled" });
        let words: Vec<&str> = [url, verbs, enabled].into_iter().flatten().collect();
        words.join(",")
    }
}

/// Result of one delivery attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    pub status: Option<u16>,
    pub error: Option<String>,
}

impl DeliveryAttempt {
    pub fn is_received(&self) -> bool {
        self.status.is_some_and(lukasa_core::webhook::is_received)
    }
}

/// Users whose jobs are queued per page.
const USER_PAGE_SIZE: i64 = 500;

/// Webhooks of tenants and their deliveries.
#[derive(Clone)]
pub struct TenantWebhooks {
    parts: Arc<Parts>,
    sender: Option<WebhookSender>,
}

impl TenantWebhooks {
    pub(crate) fn new(parts: Arc<Parts>, sender: Option<WebhookSender>) -> Self {
        Self { parts, sender }
    }

    fn require_sender(&self) -> Result<&WebhookSender> {
        let unconfigured =
            || lukasa_store::Error::Unavailable("webhook delivery is not configured".into());
        Ok(self.sender.as_ref().ok_or_else(unconfigured)?)
    }

    fn check_url(&self, url: &str) -> Result<()> {
        let sender = self.require_sender()?;
        (sender.check_url)(url, sender.private_networks)
            .map_err(|reason| Error::invalid("url", reason))
    }

    pub async fn list(&self, tenant: TenantId) -> Result<Vec<Webhook>> {
        Ok(webhook::list(&self.parts.store.directory(tenant).await?).await?)
    }

    /// Creates a webhook. It receives every write that begins after this has returned.
    pub async fn create(
        &self,
        by: impl Into<AuditActor>,
        url: &str,
        verbs: Vec<Verb>,
        secret: &[u8; 32],
        moment: Moment,
    ) -> Result<Webhook> {
        let by: AuditActor = by.into();
        self.check_url(url)?;
        let list = self.parts.store.directory(by.tenant).await?;
        if webhook::list(&list).await?.len() >= MAX_WEBHOOKS {
            return Err(Error::invalid("url", "a tenant has at most 20 webhooks"));
        }
        let new = Webhook {
            id: Ids::new(moment.now, moment.seed).webhook(),
            url: url.to_owned(),
            secret: secret.to_vec(),
            verbs,
            created_at: micros(moment.now),
            failures: 0,
            failing_since: None,
            rest_until: None,
            off_at: None,
            off_because: None,
            previous_secret: None,
            previous_until: None,
        };
        webhook::insert(&list, &new).await?;
        let entry = AuditEntry::done(AuditEvent::WebhookCreate, by, new.created_at).subject(new.id);
        audit::append_to(&list, &entry).await?;
        list.commit().await?;
        Ok(new)
    }

    /// Changes a webhook. One that is enabled again receives what it has missed.
    pub async fn edit(
        &self,
        by: impl Into<AuditActor>,
        id: WebhookId,
        edit: WebhookEdit,
        moment: Moment,
    ) -> Result<Webhook> {
        let by: AuditActor = by.into();
        let tenant = by.tenant;
        if let Some(url) = &edit.url {
            self.check_url(url)?;
        }
        let list = self.parts.store.directory(tenant).await?;
        let changed = edit.changed();
        let mut hook = lock_webhook(&list, id).await?;
        hook.url = edit.url.unwrap_or(hook.url);
        hook.verbs = edit.verbs.unwrap_or(hook.verbs);
        let back = edit.enabled == Some(true) && hook.off_at.is_some();
        if edit.enabled == Some(false) && hook.off_at.is_none() {
            hook.off_at = Some(micros(moment.now));
            hook.off_because = Some("switched off by an administrator".into());
        }
        if edit.enabled == Some(true) {
            (hook.failures, hook.failing_since, hook.rest_until) = (0, None, None);
            (hook.off_at, hook.off_because) = (None, None);
        }
        webhook::update(&list, &hook).await?;
        let entry = AuditEntry::done(AuditEvent::WebhookEdit, by, micros(moment.now)).subject(id);
        audit::append_to(&list, &entry.detail(&changed)).await?;
        list.commit().await?;
        if back {
            self.queue_deliveries_of_all(tenant, id, None, moment).await?;
        }
        Ok(hook)
    }

    /// Replaces the secret of a webhook. Until the end of the overlap deliveries are signed with both
    /// secrets, so that the receiver can take over the new one in the meantime. Within the overlap of
    /// an earlier rotation the secret can only be replaced without an overlap.
    pub async fn rotate_secret(
        &self,
        by: impl Into<AuditActor>,
        id: WebhookId,
        overlap_hours: i64,
        secret: &[u8; 32],
        now: Timestamp,
    ) -> Result<Webhook> {
        let by: AuditActor = by.into();
        let until = overlap_end(now, overlap_hours)?;
        let list = self.parts.store.directory(by.tenant).await?;
        let mut hook = lock_webhook(&list, id).await?;
        // The receiver may still have the secret before the last one, which would no longer be used.
        if overlap_hours > 0
            && let Some(until) = hook.overlap_until(now)
        {
            return Err(Error::SecretReplaced(until));
        }
        hook.replace_secret(secret, until, now);
        webhook::update_secret(&list, &hook).await?;
        let entry = AuditEntry::done(AuditEvent::WebhookRotate, by, micros(now)).subject(id);
        let entry = entry.detail(&format!("overlap_hours={overlap_hours}"));
        audit::append_to(&list, &entry).await?;
        list.commit().await?;
        Ok(hook)
    }

    /// Removes a webhook, with everything about its deliveries.
    pub async fn remove(
        &self,
        by: impl Into<AuditActor>,
        id: WebhookId,
        now: Timestamp,
    ) -> Result<()> {
        let by: AuditActor = by.into();
        let lists = self.parts.store.directories(by.tenant).await?;
        let entry = AuditEntry::done(AuditEvent::WebhookRemove, by, micros(now)).subject(id);
        let mut existed = false;
        // The directory's own is the first and goes last: while it is there, a removal that failed
        // in another cell can be repeated.
        for (number, list) in lists.into_iter().enumerate().rev() {
            existed = webhook::remove(&list, id).await?;
            if existed && number == 0 {
                audit::append_to(&list, &entry).await?;
            }
            list.commit().await?;
        }
        if existed { Ok(()) } else { Err(Error::WebhookNotFound) }
    }

    /// Sends a test request to a webhook and returns the result.
    pub async fn test(
        &self,
        tenant: TenantId,
        id: WebhookId,
        moment: Moment,
    ) -> Result<DeliveryAttempt> {
        let hook = find_webhook(&self.parts.store.directory(tenant).await?, id).await?;
        let request = WebhookRequest {
            secrets: hook.secrets_at(moment.now),
            url: hook.url,
            id: format!("test_{}", Ids::new(moment.now, moment.seed).draw().simple()),
            at: moment.now,
            payload: WebhookPayload::Test,
        };
        self.send(request).await
    }

    /// The latest deliveries to a webhook.
    pub async fn deliveries(
        &self,
        tenant: TenantId,
        id: WebhookId,
        state: Option<DeliveryState>,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        find_webhook(&self.parts.store.directory(tenant).await?, id).await?;
        let wanted = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut found = Vec::new();
        for list in self.parts.store.directories(tenant).await? {
            found.extend(delivery::latest(&list, id, state, wanted).await?);
        }
        found.sort_by_key(|delivery| Reverse((delivery.last_at, delivery.operation)));
        found.truncate(limit);
        Ok(found)
    }

    /// Delivers everything since a time to a webhook again; returns the number of users concerned.
    pub async fn replay_since(
        &self,
        tenant: TenantId,
        id: WebhookId,
        since: Timestamp,
        moment: Moment,
    ) -> Result<usize> {
        find_webhook(&self.parts.store.directory(tenant).await?, id).await?;
        self.queue_deliveries_of_all(tenant, id, Some(since), moment).await
    }

    /// Sends one delivery again now, whatever its state; returns its new state.
    pub async fn redeliver(
        &self,
        tenant: TenantId,
        id: WebhookId,
        operation: OperationId,
        moment: Moment,
    ) -> Result<Delivery> {
        let lists = self.parts.store.directories(tenant).await?;
        let first = lists.first().ok_or(lukasa_store::Error::Closed)?;
        let hook = find_webhook(first, id).await?;
        let mut there = None;
        for list in &lists {
            there = match there {
                None => delivery::find(list, id, operation).await?,
                found => found,
            };
        }
        drop(lists);
        let (before, user) = there.ok_or(Error::DeliveryNotFound)?;
        let scope = self.parts.store.read(tenant, user).await?;
        let operation = operation::find(&scope, operation).await?;
        let operation = operation.ok_or(Error::DeliveryNotFound)?;
        drop(scope);
        let request = operation_request(&hook, &before.user, &operation, moment.now);
        let attempt = self.send(request).await?;
        let (now, received) = (micros(moment.now), attempt.is_received());
        let delivery = Delivery {
            // A delivery with a pending retry keeps it, whatever the result of this attempt.
            state: if received { DeliveryState::Delivered } else { before.state },
            next_at: if received { None } else { before.next_at },
            ..delivery_record(&before.user, &operation, &attempt, before.attempts + 1, now)
        };
        let scope = self.parts.store.write(tenant, user).await?;
        if directory::me(&scope).await?.is_some_and(|user| user.deleted_at.is_none()) {
            let mut batch = Batch::default();
            delivery::put(&mut batch, &scope, id, &delivery);
            scope.run(&batch).await?;
            scope.commit().await?;
        }
        Ok(Delivery { first_at: before.first_at, ..delivery })
    }

    /// Queues the delivery jobs of all users for a webhook; with `since`, from that time on.
    async fn queue_deliveries_of_all(
        &self,
        tenant: TenantId,
        id: WebhookId,
        since: Option<Timestamp>,
        moment: Moment,
    ) -> Result<usize> {
        let (mut count, mut last) = (0, None);
        let now = micros(moment.now);
        loop {
            let mut users = Vec::new();
            for list in self.parts.store.directories(tenant).await? {
                users.extend(delivery::users(&list, id, last, USER_PAGE_SIZE).await?);
            }
            // The pages of the cells overlap, but each has all of its users up to its end.
            users.sort_unstable();
            users.dedup();
            users.truncate(usize::try_from(USER_PAGE_SIZE).unwrap_or(usize::MAX));
            for user in &users {
                self.queue_deliveries_of(tenant, *user, id, since, now).await?;
            }
            count += users.len();
            last = users.last().copied();
            if last.is_none() {
                return Ok(count);
            }
        }
    }

    async fn queue_deliveries_of(
        &self,
        tenant: TenantId,
        user: UserId,
        id: WebhookId,
        since: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<()> {
        let scope = self.parts.store.write(tenant, user).await?;
        delivery::rewind(&scope, id, since).await?;
        // Derived from user and webhook, so that a repeated call queues the same job.
        let mut seed = *user.uuid().as_bytes();
        seed.iter_mut().zip(id.uuid().as_bytes()).for_each(|(byte, more)| *byte ^= more);
        let mut batch = Batch::default();
        job::queue_sole(&mut batch, &scope, Ids::new(now, seed).job(), &Task::Deliver, now, now);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    async fn send(&self, request: WebhookRequest) -> Result<DeliveryAttempt> {
        Ok(match (self.require_sender()?.send)(request).await {
            Ok(status) => {
                let refused = !lukasa_core::webhook::is_received(status);
                DeliveryAttempt {
                    status: Some(status),
                    error: refused.then(|| format!("the receiver answered {status}")),
                }
            }
            Err(reason) => DeliveryAttempt { status: None, error: Some(reason) },
        })
    }
}

async fn find_webhook(list: &Directory, id: WebhookId) -> Result<Webhook> {
    webhook::find(list, id).await?.ok_or(Error::WebhookNotFound)
}

/// Finds a webhook in order to change it.
async fn lock_webhook(list: &Directory, id: WebhookId) -> Result<Webhook> {
    webhook::find_for_update(list, id).await?.ok_or(Error::WebhookNotFound)
}

/// Builds the request that delivers an operation to a webhook.
fn operation_request(
    hook: &Webhook,
    user: &str,
    operation: &Operation,
    at: Timestamp,
) -> WebhookRequest {
    let payload =
        WebhookPayload::Operation { user: user.to_owned(), operation: Box::new(operation.clone()) };
    let (url, secrets) = (hook.url.clone(), hook.secrets_at(at));
    WebhookRequest { url, secrets, id: operation.id.to_string(), at, payload }
}

/// Builds the delivery record of an attempt.
fn delivery_record(
    user: &str,
    operation: &Operation,
    attempt: &DeliveryAttempt,
    attempts: i32,
    now: Timestamp,
) -> Delivery {
    Delivery {
        operation: operation.id,
        user: user.to_owned(),
        verb: operation.verb,
        state: DeliveryState::Delivered,
        attempts,
        status: attempt.status.map(i32::from),
        error: attempt.error.clone(),
        first_at: now,
        last_at: now,
        next_at: None,
    }
}
