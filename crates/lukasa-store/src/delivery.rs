//! The progress of webhooks for each user, and the result of each delivery. These rows hold ids and
//! numbers, but no content of facts.

use lukasa_core::{
    Delivery, DeliveryState, OperationId, Timestamp, UserId, Verb, Webhook, WebhookId,
};
use tokio_postgres::Row;

use crate::error::Result;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Directory, Param, Scope};
use crate::webhook::webhook;

/// The progress of one webhook for the scope's own user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryProgress {
    pub webhook: WebhookId,
    /// The webhook was notified of all operations up to this time.
    pub told_until: Timestamp,
    /// How often the next operation has been tried, and when it is tried again.
    pub attempts: i32,
    pub next_at: Option<Timestamp>,
}

/// Creates the marks of the tenant's webhooks for the scope's own user, starting at `from`.
/// Existing marks are unchanged.
pub fn begin(batch: &mut Batch, scope: &Scope, from: Timestamp) {
    const SQL: &str = "insert into webhook_mark (user_id, tenant_id, webhook_id, told_until) \
                       select $1, $2, webhook_id, $3::timestamptz - interval '1 microsecond' \
                         from webhook where tenant_id = $2 \
                       on conflict do nothing";
    let params: Vec<crate::scope::Owned> =
        vec![Box::new(scope.user().uuid()), Box::new(scope.tenant().uuid()), Box::new(from)];
    batch.push(SQL, params);
}

/// The tenant's webhooks that have a mark for the scope's own user, with their marks.
pub async fn marks(scope: &Scope) -> Result<Vec<(DeliveryProgress, Webhook)>> {
    const SQL: &str = "select m.webhook_id, m.told_until, m.attempts, m.next_at, w.webhook_id, \
                         w.url, w.secret, w.verbs, w.created_at, w.failures, w.failing_since, \
                         w.rest_until, w.off_at, w.off_because, w.previous_secret, \
                         w.previous_until \
                       from webhook_mark m \
                       join webhook w on w.tenant_id = $2 and w.webhook_id = m.webhook_id \
                       where m.user_id = $1 order by m.webhook_id";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &scope.tenant().uuid()]).await?;
    all(&rows, |row| {
        let mut c = Columns::of(row, "webhook_mark");
        let mark = DeliveryProgress {
            webhook: WebhookId::from_uuid(c.take()?),
            told_until: c.take()?,
            attempts: c.take()?,
            next_at: c.take()?,
        };
        Ok((mark, webhook(&mut c)?))
    })
}

/// Updates a mark. If another worker has updated it since it was read, this fails, and the
/// transaction with it.
pub fn advance(batch: &mut Batch, scope: &Scope, old: &DeliveryProgress, new: &DeliveryProgress) {
    const SQL: &str = "update webhook_mark set told_until = $5, attempts = $6, next_at = $7 \
                       where user_id = $1 and webhook_id = $2 and told_until = $3 \
                         and attempts = $4";
    batch.push_one(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(old.webhook.uuid()),
            Box::new(old.told_until),
            Box::new(old.attempts),
            Box::new(new.told_until),
            Box::new(new.attempts),
            Box::new(new.next_at),
        ],
    );
}

/// Moves a mark back to before `since`, so that everything from then on is delivered again, and
/// resets the attempts. Without a time it only resets the attempts.
pub async fn rewind(scope: &Scope, webhook: WebhookId, since: Option<Timestamp>) -> Result<()> {
    const SQL: &str = "update webhook_mark set attempts = 0, next_at = null, \
                         told_until = least(told_until, \
                           coalesce($3::timestamptz - interval '1 microsecond', told_until)) \
                       where user_id = $1 and webhook_id = $2";
    scope.query(SQL, &[&scope.user().uuid(), &webhook.uuid(), &since]).await?;
    Ok(())
}

/// Up to `limit` users that a webhook has marks for, after one of them.
pub async fn users(
    directory: &Directory,
    webhook: WebhookId,
    after: Option<UserId>,
    limit: i64,
) -> Result<Vec<UserId>> {
    const SQL: &str = "select user_id from webhook_mark where tenant_id = $1 and webhook_id = $2 \
                         and ($3::uuid is null or user_id > $3) order by user_id limit $4";
    let after = after.map(UserId::uuid);
    let params: [Param<'_>; 4] = [&directory.tenant().uuid(), &webhook.uuid(), &after, &limit];
    all(&directory.query(SQL, &params).await?, |row| {
        Ok(UserId::from_uuid(Columns::of(row, "webhook_mark").take()?))
    })
}

/// Stores the result of a delivery, replacing the previous one.
pub fn put(batch: &mut Batch, scope: &Scope, webhook: WebhookId, new: &Delivery) {
    const SQL: &str = "insert into delivery (user_id, tenant_id, webhook_id, operation_id, verb, \
                       state, attempts, status, error, first_at, last_at, next_at) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11) \
                       on conflict (user_id, webhook_id, operation_id) do update set state = $6, \
                       attempts = delivery.attempts + 1, status = $8, error = $9, last_at = $10, \
                       next_at = $11";
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(webhook.uuid()),
            Box::new(new.operation.uuid()),
            Box::new(new.verb.as_str()),
            Box::new(new.state.as_str()),
            Box::new(new.attempts),
            Box::new(new.status),
            Box::new(new.error.clone()),
            Box::new(new.last_at),
            Box::new(new.next_at),
        ],
    );
}

/// Removes the results of the user's deliveries from before a time.
pub fn sweep(batch: &mut Batch, scope: &Scope, before: Timestamp) {
    const SQL: &str = "delete from delivery where user_id = $1 and last_at < $2";
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(before)]);
}

macro_rules! deliveries {
    ($conditions:literal) => {
        concat!(
            "select d.operation_id, u.name, d.verb, d.state, d.attempts, d.status, d.error, \
             d.first_at, d.last_at, d.next_at, d.user_id from delivery d \
             join users u on u.user_id = d.user_id \
             where d.tenant_id = $1 and d.webhook_id = $2 and ",
            $conditions
        )
    };
}

fn delivery(row: &Row) -> Result<(Delivery, UserId)> {
    let mut c = Columns::of(row, "delivery");
    let delivery = Delivery {
        operation: OperationId::from_uuid(c.take()?),
        user: c.take()?,
        verb: c.word(Verb::parse)?,
        state: c.word(DeliveryState::parse)?,
        attempts: c.take()?,
        status: c.take()?,
        error: c.take()?,
        first_at: c.take()?,
        last_at: c.take()?,
        next_at: c.take()?,
    };
    Ok((delivery, UserId::from_uuid(c.take()?)))
}

/// The latest deliveries of a webhook for all users; only those in one state if one is given.
pub async fn latest(
    directory: &Directory,
    webhook: WebhookId,
    state: Option<DeliveryState>,
    limit: i64,
) -> Result<Vec<Delivery>> {
    const SQL: &str = deliveries!(
        "($3::text is null or d.state = $3) order by d.last_at desc, d.operation_id desc limit $4"
    );
    let state = state.map(DeliveryState::as_str);
    let params: [Param<'_>; 4] = [&directory.tenant().uuid(), &webhook.uuid(), &state, &limit];
    let found = all(&directory.query(SQL, &params).await?, delivery)?;
    Ok(found.into_iter().map(|(delivery, _)| delivery).collect())
}

/// The delivery of one operation, and its user.
pub async fn find(
    directory: &Directory,
    webhook: WebhookId,
    operation: OperationId,
) -> Result<Option<(Delivery, UserId)>> {
    const SQL: &str = deliveries!("d.operation_id = $3");
    let params: [Param<'_>; 3] = [&directory.tenant().uuid(), &webhook.uuid(), &operation.uuid()];
    one(&directory.query(SQL, &params).await?, delivery)
}
