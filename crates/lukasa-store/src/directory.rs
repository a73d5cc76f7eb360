//! Tenants and their users.

use lukasa_core::{TenantId, Timestamp, UserId};
use tokio_postgres::Row;

use crate::Store;
use crate::error::Result;
use crate::row::{Columns, all, one};
use crate::scope::{Directory, Param, Scope};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub name: String,
    pub created_at: Timestamp,
    /// A demo or trial user is treated as deleted from this time on.
    pub expires_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
    /// Whether an upkeep job is queued for the user.
    pub looked_after: bool,
}

impl User {
    pub fn is_gone(&self, now: Timestamp) -> bool {
        self.deleted_at.is_some() || self.expires_at.is_some_and(|end| end <= now)
    }
}

fn user(row: &Row) -> Result<User> {
    let mut c = Columns::of(row, "users");
    Ok(User {
        id: UserId::from_uuid(c.take()?),
        name: c.take()?,
        created_at: c.take()?,
        expires_at: c.take()?,
        deleted_at: c.take()?,
        looked_after: c.take()?,
    })
}

macro_rules! user_columns {
    () => {
        "user_id, name, created_at, expires_at, deleted_at, looked_after"
    };
}

/// Creates the tenant if it does not exist.
pub async fn ensure_tenant(directory: &Directory, name: &str, now: Timestamp) -> Result<()> {
    const SQL: &str = "insert into tenant (tenant_id, name, created_at) values ($1, $2, $3) \
                       on conflict do nothing";
    directory.query(SQL, &[&directory.tenant().uuid(), &name, &now]).await?;
    Ok(())
}

/// The scope's own user, if the row exists.
pub async fn me(scope: &Scope) -> Result<Option<User>> {
    const SQL: &str = concat!("select ", user_columns!(), " from users where user_id = $1");
    one(&scope.query(SQL, &[&scope.user().uuid()]).await?, user)
}

/// Creates the scope's own user if it does not exist, for the first write about them.
pub async fn ensure_me(scope: &Scope, name: &str, now: Timestamp) -> Result<()> {
    const SQL: &str = "insert into users (user_id, tenant_id, name, created_at) \
                       values ($1, $2, $3, $4) on conflict do nothing";
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &scope.tenant().uuid(), &name, &now];
    scope.query(SQL, &params).await?;
    Ok(())
}

/// Sets whether an upkeep job is queued for the scope's own user; returns whether that changed. It
/// never changes for deleted users.
pub async fn set_looked_after(scope: &Scope, wanted: bool) -> Result<bool> {
    const SQL: &str = "update users set looked_after = $2 where user_id = $1 \
                         and looked_after <> $2 and deleted_at is null returning user_id";
    Ok(!scope.query(SQL, &[&scope.user().uuid(), &wanted]).await?.is_empty())
}

/// Creates the scope's own user, or creates a deleted one again, empty and with a new creation
/// time.
pub async fn create_user(
    scope: &Scope,
    name: &str,
    expires_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<()> {
    const SQL: &str = "insert into users (user_id, tenant_id, name, created_at, expires_at) \
                       values ($1, $2, $3, $4, $5) \
                       on conflict (user_id) do update set name = $3, deleted_at = null, \
                       expires_at = $5, created_at = case when users.deleted_at is null \
                       then users.created_at else $4 end";
    let params: [Param<'_>; 5] =
        [&scope.user().uuid(), &scope.tenant().uuid(), &name, &now, &expires_at];
    scope.query(SQL, &params).await?;
    Ok(())
}

/// Marks the scope's own user deleted, so that requests are refused instead of creating the user
/// again. The row is found by an id that is derived from the name, so the name is replaced by a
/// placeholder that is not a valid name.
pub async fn mark_deleted(scope: &Scope, now: Timestamp) -> Result<()> {
    const SQL: &str = "update users set deleted_at = $2, looked_after = false, \
                       name = chr(1) || user_id::text where user_id = $1";
    scope.query(SQL, &[&scope.user().uuid(), &now]).await?;
    Ok(())
}

impl Store {
    /// Up to `limit` users of the tenant after the one called `after`, by name, of all cells.
    pub async fn users(
        &self,
        tenant: TenantId,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<User>> {
        let directories = self.directories(tenant).await?;
        let mut found = Vec::new();
        for directory in &directories {
            found.extend(users(directory, after, limit).await?);
        }
        let [first, _, ..] = directories.as_slice() else { return Ok(found) };
        // A user who is being moved may be listed by two cells.
        found.sort_by_key(|user| user.id);
        found.dedup_by_key(|user| user.id);
        in_order_of_names(first, found, limit).await
    }
}

/// Orders users of several cells as one database orders them: by its collation.
async fn in_order_of_names(
    directory: &Directory,
    found: Vec<User>,
    limit: i64,
) -> Result<Vec<User>> {
    const SQL: &str = "select place from unnest($1::text[]) with ordinality as listed (name, place) \
                       order by name, place limit $2";
    let names: Vec<&str> = found.iter().map(|user| user.name.as_str()).collect();
    let order: Vec<i64> = all(&directory.query(SQL, &[&names, &limit]).await?, |row| {
        Columns::of(row, "users").take()
    })?;
    let at = |place: i64| found.get(usize::try_from(place - 1).ok()?).cloned();
    Ok(order.into_iter().filter_map(at).collect())
}

/// Up to `limit` users of one cell. Spaces are not listed.
async fn users(directory: &Directory, after: Option<&str>, limit: i64) -> Result<Vec<User>> {
    const SQL: &str = concat!(
        "select ",
        user_columns!(),
        " from users where tenant_id = $1 and deleted_at is null \
           and not starts_with(name, chr(2)) and ($2::text is null or name > $2) order by name limit $3"
    );
    let params: [Param<'_>; 3] = [&directory.tenant().uuid(), &after, &limit];
    all(&directory.query(SQL, &params).await?, user)
}
