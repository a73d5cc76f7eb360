//! Webhooks: addresses of a tenant's that are told of operations. Here they are set up, looked at and
//! tried; [`deliver`](self) is the job that tells them.
//!
//! The log of operations is the outbox. A write leaves a job and, the first time, a mark that says from
//! which operation on its user is told of, both in its own transaction; the job reads on from the mark.
//! So what was acknowledged is told, whatever crashes, and what is told again carries the same id.

mod deliver;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use lukasa_core::time::micros;
use lukasa_core::webhook::WEBHOOKS;
use lukasa_core::{
    Delivery, DeliveryState, Ids, JobKind, Operation, OperationId, TenantId, Timestamp, UserId,
    Verb, Webhook, WebhookId,
};
use lukasa_store::{Batch, Directory, delivery, directory, job, operation, webhook};

use crate::error::{Error, Result};
use crate::{Engine, Moment};

/// Something to be carried to a webhook.
#[derive(Debug, Clone)]
pub struct Letter {
    pub url: String,
    /// What to sign it with.
    pub secret: Vec<u8>,
    /// The same each time it is sent, so that its receiver knows it again.
    pub id: String,
    /// When it is sent.
    pub at: Timestamp,
    pub about: About,
}

/// What a letter tells.
#[derive(Debug, Clone)]
pub enum About {
    /// An operation, and the user it is about, by the tenant's name for them.
    Operation { user: String, operation: Box<Operation> },
    /// Nothing: somebody wants to see whether letters arrive.
    Test,
}

/// Carries a letter, and says with which status it was answered, or why it was not.
pub type Carry = Arc<dyn Fn(Letter) -> BoxFuture<'static, Result<u16, String>> + Send + Sync>;

/// Whoever carries letters: the edge, which knows about addresses.
#[derive(Clone)]
pub struct Courier {
    /// Says what is wrong with an address.
    pub accepts: fn(&str, bool) -> Result<(), &'static str>,
    /// Whether it goes to addresses that are not public.
    pub private_networks: bool,
    pub carry: Carry,
}

/// What is to be changed about a webhook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebhookEdit {
    pub url: Option<String>,
    pub verbs: Option<Vec<Verb>>,
    pub enabled: Option<bool>,
}

/// How a letter fared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    pub status: Option<u16>,
    pub error: Option<String>,
}

impl Tried {
    pub fn is_received(&self) -> bool {
        self.status.is_some_and(lukasa_core::webhook::is_received)
    }
}

/// How many users' jobs are queued in one go.
const USERS: i64 = 500;

impl Engine {
    /// The same engine, with somebody to carry letters to webhooks.
    #[must_use]
    pub fn with_courier(mut self, courier: Courier) -> Self {
        self.courier = Some(courier);
        self
    }

    fn courier(&self) -> Result<&Courier> {
        let nobody = || lukasa_store::Error::Unavailable("nobody carries letters here".into());
        Ok(self.courier.as_ref().ok_or_else(nobody)?)
    }

    fn check_url(&self, url: &str) -> Result<()> {
        let courier = self.courier()?;
        (courier.accepts)(url, courier.private_networks)
            .map_err(|reason| Error::invalid("url", reason))
    }

    pub async fn webhooks(&self, tenant: TenantId) -> Result<Vec<Webhook>> {
        Ok(webhook::list(&self.store.directory(tenant).await?).await?)
    }

    /// Sets up a webhook. It is told of every write that begins once this has returned.
    pub async fn create_webhook(
        &self,
        tenant: TenantId,
        url: &str,
        verbs: Vec<Verb>,
        secret: &[u8; 32],
        moment: Moment,
    ) -> Result<Webhook> {
        self.check_url(url)?;
        let list = self.store.directory(tenant).await?;
        if webhook::list(&list).await?.len() >= WEBHOOKS {
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
        };
        webhook::insert(&list, &new).await?;
        list.commit().await?;
        Ok(new)
    }

    /// Changes a webhook. One that is switched on again is told what it has missed.
    pub async fn edit_webhook(
        &self,
        tenant: TenantId,
        id: WebhookId,
        edit: WebhookEdit,
        moment: Moment,
    ) -> Result<Webhook> {
        if let Some(url) = &edit.url {
            self.check_url(url)?;
        }
        let list = self.store.directory(tenant).await?;
        let mut hook = found(&list, id).await?;
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
        list.commit().await?;
        if back {
            self.tell_all(tenant, id, None, moment).await?;
        }
        Ok(hook)
    }

    /// Removes a webhook, with everything about its deliveries.
    pub async fn remove_webhook(&self, tenant: TenantId, id: WebhookId) -> Result<()> {
        let list = self.store.directory(tenant).await?;
        if !webhook::remove(&list, id).await? {
            return Err(Error::WebhookNotFound);
        }
        Ok(list.commit().await?)
    }

    /// Sends a webhook a letter about nothing, and says how it fared.
    pub async fn test_webhook(
        &self,
        tenant: TenantId,
        id: WebhookId,
        moment: Moment,
    ) -> Result<Tried> {
        let hook = found(&self.store.directory(tenant).await?, id).await?;
        let letter = Letter {
            url: hook.url,
            secret: hook.secret,
            id: format!("test_{}", Ids::new(moment.now, moment.seed).draw().simple()),
            at: moment.now,
            about: About::Test,
        };
        self.carry(letter).await
    }

    /// How the latest deliveries to a webhook went.
    pub async fn deliveries(
        &self,
        tenant: TenantId,
        id: WebhookId,
        state: Option<DeliveryState>,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        let list = self.store.directory(tenant).await?;
        found(&list, id).await?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(delivery::latest(&list, id, state, limit).await?)
    }

    /// Has a webhook told again of everything since a time; says about how many users.
    pub async fn replay_since(
        &self,
        tenant: TenantId,
        id: WebhookId,
        since: Timestamp,
        moment: Moment,
    ) -> Result<usize> {
        found(&self.store.directory(tenant).await?, id).await?;
        self.tell_all(tenant, id, Some(since), moment).await
    }

    /// Sends one delivery again, now, whatever became of it before; says what becomes of it.
    pub async fn redeliver(
        &self,
        tenant: TenantId,
        id: WebhookId,
        operation: OperationId,
        moment: Moment,
    ) -> Result<Delivery> {
        let list = self.store.directory(tenant).await?;
        let hook = found(&list, id).await?;
        let there = delivery::find(&list, id, operation).await?;
        drop(list);
        let (before, user) = there.ok_or(Error::DeliveryNotFound)?;
        let scope = self.store.read(tenant, user).await?;
        let operation = operation::find(&scope, operation).await?;
        let operation = operation.ok_or(Error::DeliveryNotFound)?;
        drop(scope);
        let letter = letter(&hook, &before.user, &operation, moment.now);
        let tried = self.carry(letter).await?;
        let (now, received) = (micros(moment.now), tried.is_received());
        let went = Delivery {
            // One that is still to be tried again is, whatever comes of this.
            state: if received { DeliveryState::Delivered } else { before.state },
            next_at: if received { None } else { before.next_at },
            ..went(&before.user, &operation, &tried, before.attempts + 1, now)
        };
        let scope = self.store.write(tenant, user).await?;
        if directory::me(&scope).await?.is_some_and(|user| user.deleted_at.is_none()) {
            let mut batch = Batch::default();
            delivery::put(&mut batch, &scope, id, &went);
            scope.run(&batch).await?;
            scope.commit().await?;
        }
        Ok(Delivery { first_at: before.first_at, ..went })
    }

    /// Has everybody's job look at a webhook again; with a time, from then on.
    async fn tell_all(
        &self,
        tenant: TenantId,
        id: WebhookId,
        since: Option<Timestamp>,
        moment: Moment,
    ) -> Result<usize> {
        let (mut told, mut last) = (0, None);
        let now = micros(moment.now);
        loop {
            let list = self.store.directory(tenant).await?;
            let users = delivery::users(&list, id, last, USERS).await?;
            drop(list);
            for user in &users {
                self.tell_again(tenant, *user, id, since, now).await?;
            }
            told += users.len();
            last = users.last().copied();
            if last.is_none() {
                return Ok(told);
            }
        }
    }

    async fn tell_again(
        &self,
        tenant: TenantId,
        user: UserId,
        id: WebhookId,
        since: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<()> {
        let scope = self.store.write(tenant, user).await?;
        delivery::rewind(&scope, id, since).await?;
        // Derived from whom it is for: the same again is the same job.
        let mut seed = *user.uuid().as_bytes();
        seed.iter_mut().zip(id.uuid().as_bytes()).for_each(|(byte, more)| *byte ^= more);
        let mut batch = Batch::default();
        job::queue_sole(&mut batch, &scope, Ids::new(now, seed).job(), JobKind::Deliver, now, now);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    async fn carry(&self, letter: Letter) -> Result<Tried> {
        Ok(match (self.courier()?.carry)(letter).await {
            Ok(status) => {
                let refused = !lukasa_core::webhook::is_received(status);
                Tried {
                    status: Some(status),
                    error: refused.then(|| format!("it answered {status}")),
                }
            }
            Err(reason) => Tried { status: None, error: Some(reason) },
        })
    }
}

async fn found(list: &Directory, id: WebhookId) -> Result<Webhook> {
    webhook::find(list, id).await?.ok_or(Error::WebhookNotFound)
}

/// The letter that tells a webhook of an operation.
fn letter(hook: &Webhook, user: &str, operation: &Operation, at: Timestamp) -> Letter {
    let about = About::Operation { user: user.to_owned(), operation: Box::new(operation.clone()) };
    let (url, secret) = (hook.url.clone(), hook.secret.clone());
    Letter { url, secret, id: operation.id.to_string(), at, about }
}

/// What is kept of an attempt.
fn went(
    user: &str,
    operation: &Operation,
    tried: &Tried,
    attempts: i32,
    now: Timestamp,
) -> Delivery {
    Delivery {
        operation: operation.id,
        user: user.to_owned(),
        verb: operation.verb,
        state: DeliveryState::Delivered,
        attempts,
        status: tried.status.map(i32::from),
        error: tried.error.clone(),
        first_at: now,
        last_at: now,
        next_at: None,
    }
}
