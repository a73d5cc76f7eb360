//! A tenant's webhooks: the URLs that are notified of operations, and their failures.

use lukasa_core::{Timestamp, Verb, Webhook, WebhookId};
use tokio_postgres::Row;

use crate::error::Result;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Directory, Param, Scope};

macro_rules! webhook_columns {
    () => {
        "webhook_id, url, secret, verbs, created_at, failures, failing_since, rest_until, off_at, \
         off_because, previous_secret, previous_until"
    };
}

pub(crate) fn webhook(c: &mut Columns<'_>) -> Result<Webhook> {
    Ok(Webhook {
        id: WebhookId::from_uuid(c.take()?),
        url: c.take()?,
        secret: c.take()?,
        // Verbs unknown to this version cannot occur here.
        verbs: c.take::<Vec<String>>()?.iter().filter_map(|text| Verb::parse(text)).collect(),
        created_at: c.take()?,
        failures: c.take()?,
        failing_since: c.take()?,
        rest_until: c.take()?,
        off_at: c.take()?,
        off_because: c.take()?,
        previous_secret: c.take()?,
        previous_until: c.take()?,
    })
}

fn of_row(row: &Row) -> Result<Webhook> {
    webhook(&mut Columns::of(row, "webhook"))
}

fn texts(verbs: &[Verb]) -> Vec<&'static str> {
    verbs.iter().map(|verb| verb.as_str()).collect()
}

/// The tenant's webhooks, oldest first.
pub async fn list(directory: &Directory) -> Result<Vec<Webhook>> {
    const SQL: &str = concat!(
        "select ",
        webhook_columns!(),
        " from webhook where tenant_id = $1 order by created_at, webhook_id"
    );
    all(&directory.query(SQL, &[&directory.tenant().uuid()]).await?, of_row)
}

pub async fn find(directory: &Directory, id: WebhookId) -> Result<Option<Webhook>> {
    const SQL: &str = concat!(
        "select ",
        webhook_columns!(),
        " from webhook where tenant_id = $1 and webhook_id = $2"
    );
    one(&directory.query(SQL, &[&directory.tenant().uuid(), &id.uuid()]).await?, of_row)
}

/// A webhook, which no other transaction can change until the end of this one.
pub async fn find_for_update(directory: &Directory, id: WebhookId) -> Result<Option<Webhook>> {
    const SQL: &str = concat!(
        "select ",
        webhook_columns!(),
        " from webhook where tenant_id = $1 and webhook_id = $2 for update"
    );
    one(&directory.query(SQL, &[&directory.tenant().uuid(), &id.uuid()]).await?, of_row)
}

pub async fn insert(directory: &Directory, new: &Webhook) -> Result<()> {
    const SQL: &str = "insert into webhook (tenant_id, webhook_id, url, secret, verbs, created_at) \
                       values ($1, $2, $3, $4, $5, $6)";
    let params: [Param<'_>; 6] = [
        &directory.tenant().uuid(),
        &new.id.uuid(),
        &new.url,
        &new.secret,
        &texts(&new.verbs),
        &new.created_at,
    ];
    directory.query(SQL, &params).await?;
    Ok(())
}

/// Updates the mutable fields of a webhook.
pub async fn update(directory: &Directory, new: &Webhook) -> Result<()> {
    const SQL: &str = "update webhook set url = $3, verbs = $4, failures = $5, failing_since = $6, \
                         rest_until = $7, off_at = $8, off_because = $9 \
                       where tenant_id = $1 and webhook_id = $2";
    let params: [Param<'_>; 9] = [
        &directory.tenant().uuid(),
        &new.id.uuid(),
        &new.url,
        &texts(&new.verbs),
        &new.failures,
        &new.failing_since,
        &new.rest_until,
        &new.off_at,
        &new.off_because,
    ];
    directory.query(SQL, &params).await?;
    Ok(())
}

/// Stores a new secret and the one that it replaces.
pub async fn update_secret(directory: &Directory, new: &Webhook) -> Result<()> {
    const SQL: &str = "update webhook set secret = $3, previous_secret = $4, previous_until = $5 \
                       where tenant_id = $1 and webhook_id = $2";
    let params: [Param<'_>; 5] = [
        &directory.tenant().uuid(),
        &new.id.uuid(),
        &new.secret,
        &new.previous_secret,
        &new.previous_until,
    ];
    directory.query(SQL, &params).await?;
    Ok(())
}

/// Removes a webhook with its progress and deliveries; returns whether it existed.
pub async fn remove(directory: &Directory, id: WebhookId) -> Result<bool> {
    const SQL: &str =
        "delete from webhook where tenant_id = $1 and webhook_id = $2 returning webhook_id";
    let params: [Param<'_>; 2] = [&directory.tenant().uuid(), &id.uuid()];
    Ok(!directory.query(SQL, &params).await?.is_empty())
}

/// Resets the failure count after a successful delivery.
pub fn clear_failures(batch: &mut Batch, scope: &Scope, id: WebhookId) {
    const SQL: &str = "update webhook set failures = 0, failing_since = null, rest_until = null \
                       where tenant_id = $1 and webhook_id = $2 and failures > 0";
    batch.push(SQL, vec![Box::new(scope.tenant().uuid()), Box::new(id.uuid())]);
}

/// Records a failed delivery: increments the count of failures in a row, pauses the webhook until
/// `rest_until`, and switches it off if `off_because` is given.
pub fn record_failure(
    batch: &mut Batch,
    scope: &Scope,
    id: WebhookId,
    at: Timestamp,
    rest_until: Timestamp,
    off_because: Option<&str>,
) {
    const SQL: &str = "update webhook set failures = failures + 1, \
                         failing_since = coalesce(failing_since, $3), rest_until = $4, \
                         off_at = case when $5::text is null then off_at \
                                       else coalesce(off_at, $3) end, \
                         off_because = coalesce(off_because, $5) \
                       where tenant_id = $1 and webhook_id = $2";
    batch.push(
        SQL,
        vec![
            Box::new(scope.tenant().uuid()),
            Box::new(id.uuid()),
            Box::new(at),
            Box::new(rest_until),
            Box::new(off_because.map(str::to_owned)),
        ],
    );
}
