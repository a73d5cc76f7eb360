//! Domains, and which of them a user has opened.

use lukasa_core::{Domain, TenantId, Timestamp};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::row::{Columns, all};
use crate::scope::{Directory, Param, Scope};

macro_rules! domain_columns {
    () => {
        "tenant_id, name, display_name, sensitive, requires_opt_in, default_expiration_days"
    };
}

fn domain(row: &Row) -> Result<Domain> {
    let mut c = Columns::of(row, "domain");
    let tenant: Uuid = c.take()?;
    Ok(Domain {
        builtin: tenant == TenantId::SHARED.uuid(),
        name: c.take()?,
        display_name: c.take()?,
        sensitive: c.take()?,
        requires_opt_in: c.take()?,
        default_expiration_days: c.take()?,
    })
}

/// The built-in domains and the tenant's own, by name. A tenant's own domain overrides a built-in
/// one of the same name.
pub async fn of_tenant(scope: &Scope) -> Result<Vec<Domain>> {
    const SQL: &str = concat!(
        "select distinct on (name) ",
        domain_columns!(),
        " from domain where tenant_id in ($1, $2) order by name, tenant_id = $2"
    );
    let params: [Param<'_>; 2] = [&scope.tenant().uuid(), &TenantId::SHARED.uuid()];
    all(&scope.query(SQL, &params).await?, domain)
}

/// The domain of this name, and whether the user has opened it.
pub async fn find(scope: &Scope, name: &str) -> Result<Option<(Domain, bool)>> {
    const SQL: &str = concat!(
        "select ",
        domain_columns!(),
        ", exists (select 1 from user_domain u where u.user_id = $4 and u.domain = $3) \
           from domain where tenant_id in ($1, $2) and name = $3 order by tenant_id = $2 limit 1"
    );
    let params: [Param<'_>; 4] =
        [&scope.tenant().uuid(), &TenantId::SHARED.uuid(), &name, &scope.user().uuid()];
    let rows = scope.query(SQL, &params).await?;
    crate::row::one(&rows, |row| Ok((domain(row)?, row.try_get(6)?)))
}

/// The domains the user has opened, and since when.
pub async fn opened(scope: &Scope) -> Result<Vec<(String, Timestamp)>> {
    const SQL: &str =
        "select domain, opted_in_at from user_domain where user_id = $1 order by domain";
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, |row| {
        let mut c = Columns::of(row, "user_domain");
        Ok((c.take()?, c.take()?))
    })
}

/// The opened domains whose inferred memories the user lets be used without asking.
pub async fn admitting_inferred(scope: &Scope) -> Result<Vec<String>> {
    const SQL: &str = "select domain from user_domain where user_id = $1 and admits_inferred";
    let rows = scope.query(SQL, &[&scope.user().uuid()]).await?;
    all(&rows, |row| Columns::of(row, "user_domain").take())
}

/// The domains that require an opt-in the user has not given. Nothing in them is used.
pub async fn closed_domains(scope: &Scope) -> Result<Vec<String>> {
    const SQL: &str = "select name from (select distinct on (name) name, requires_opt_in \
                         from domain where tenant_id in ($1, $2) order by name, tenant_id = $2) d \
                        where requires_opt_in and not exists (select 1 from user_domain u \
                          where u.user_id = $3 and u.domain = d.name)";
    let params: [Param<'_>; 3] =
        [&scope.tenant().uuid(), &TenantId::SHARED.uuid(), &scope.user().uuid()];
    all(&scope.query(SQL, &params).await?, |row| Columns::of(row, "domain").take())
}

pub async fn open(scope: &Scope, name: &str, now: Timestamp) -> Result<()> {
    const SQL: &str = "insert into user_domain (user_id, tenant_id, domain, opted_in_at) \
                       values ($1, $2, $3, $4) on conflict do nothing";
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &scope.tenant().uuid(), &name, &now];
    scope.query(SQL, &params).await?;
    Ok(())
}

/// Ends the user's consent to use what is inferred about a domain without asking.
pub async fn refuse_inferred(scope: &Scope, name: &str) -> Result<()> {
    const SQL: &str =
        "update user_domain set admits_inferred = false where user_id = $1 and domain = $2";
    scope.query(SQL, &[&scope.user().uuid(), &name]).await?;
    Ok(())
}

/// Opens the domain as of `since` if it is not open, and lets its inferred memories be used without
/// asking.
pub async fn admit_inferred(scope: &Scope, name: &str, since: Timestamp) -> Result<()> {
    const SQL: &str = "insert into user_domain \
                         (user_id, tenant_id, domain, opted_in_at, admits_inferred) \
                       values ($1, $2, $3, $4, true) \
                       on conflict (user_id, domain) do update set admits_inferred = true";
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &scope.tenant().uuid(), &name, &since];
    scope.query(SQL, &params).await?;
    Ok(())
}

/// Lets inferred memories of a domain be used without asking; false if the user has not opened it.
pub async fn admit_inferred_if_open(scope: &Scope, name: &str) -> Result<bool> {
    const SQL: &str = "update user_domain set admits_inferred = true \
                        where user_id = $1 and domain = $2 returning domain";
    Ok(!scope.query(SQL, &[&scope.user().uuid(), &name]).await?.is_empty())
}

pub async fn close(scope: &Scope, name: &str) -> Result<()> {
    const SQL: &str = "delete from user_domain where user_id = $1 and domain = $2";
    scope.query(SQL, &[&scope.user().uuid(), &name]).await?;
    Ok(())
}

/// Closes a domain that was open at `point` and ever since; false if it was not.
pub async fn close_if_open_since(scope: &Scope, name: &str, point: Timestamp) -> Result<bool> {
    const SQL: &str = "delete from user_domain \
                        where user_id = $1 and domain = $2 and opted_in_at <= $3 returning domain";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &name, &point];
    Ok(!scope.query(SQL, &params).await?.is_empty())
}

/// Adds or changes a domain of the tenant.
pub async fn put(directory: &Directory, new: &Domain) -> Result<()> {
    const SQL: &str = concat!(
        "insert into domain (",
        domain_columns!(),
        ") values ($1, $2, $3, $4, $5, $6) \
         on conflict (tenant_id, name) do update set display_name = $3, sensitive = $4, \
         requires_opt_in = $5, default_expiration_days = $6"
    );
    let params: [Param<'_>; 6] = [
        &directory.tenant().uuid(),
        &new.name,
        &new.display_name,
        &new.sensitive,
        &new.requires_opt_in,
        &new.default_expiration_days,
    ];
    directory.query(SQL, &params).await?;
    Ok(())
}
