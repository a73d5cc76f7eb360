//! Spaces: their rows in the list of users, the grants to members, and the members' lists of spaces.
//! The scope of a grant is the space's; the scope of a membership is the member's.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::{
    Caller, FactId, SpaceAccess, SpaceGrant, SpaceName, TenantId, Timestamp, UserId,
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::Store;
use crate::error::{Error, Result};
use crate::pool::Purpose;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Directory, Param, Scope};

fn grant(row: &Row) -> Result<SpaceGrant> {
    let mut c = Columns::of(row, "space_grant");
    Ok(SpaceGrant {
        member: UserId::from_uuid(c.take()?),
        access: c.word(SpaceAccess::parse)?,
        granted_at: c.take()?,
        accepted_at: c.take()?,
        ended_at: c.take()?,
    })
}

/// The grant of the scope's space to a member; none if the space is being erased.
pub async fn find_grant(scope: &Scope, member: UserId) -> Result<Option<SpaceGrant>> {
    const SQL: &str = "select member_id, access, granted_at, accepted_at, ended_at \
                         from space_grant where user_id = $1 and member_id = $2 and exists ( \
                           select 1 from users where user_id = $1 and deleted_at is null)";
    one(&scope.query(SQL, &[&scope.user().uuid(), &member.uuid()]).await?, grant)
}

/// All grants of the scope's space, ended ones too.
pub async fn grants(scope: &Scope) -> Result<Vec<SpaceGrant>> {
    const SQL: &str = "select member_id, access, granted_at, accepted_at, ended_at \
                         from space_grant where user_id = $1 order by granted_at, member_id";
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, grant)
}

/// The members of the scope's space, those whose grant was ended too.
pub async fn member_ids(scope: &Scope) -> Result<Vec<UserId>> {
    const SQL: &str = "select member_id from space_grant where user_id = $1 order by member_id";
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, |row| {
        Ok(UserId::from_uuid(Columns::of(row, "space_grant").take()?))
    })
}

/// Grants the scope's space to a member. A grant in force keeps its acceptance and gets the new
/// access; one that was ended has to be accepted again.
pub async fn put_grant(
    scope: &Scope,
    member: UserId,
    access: SpaceAccess,
    granted_by: &str,
    now: Timestamp,
) -> Result<()> {
    const SQL: &str = "insert into space_grant as g (user_id, tenant_id, member_id, access, \
                         granted_by, granted_at) values ($1, $2, $3, $4, $5, $6) \
                       on conflict (user_id, member_id) do update set access = $4, \
                         granted_by = $5, granted_at = $6, ended_at = null, \
                         accepted_at = case when g.ended_at is null then g.accepted_at end";
    let (user, tenant, member) = (scope.user().uuid(), scope.tenant().uuid(), member.uuid());
    let params: [Param<'_>; 6] = [&user, &tenant, &member, &access.as_str(), &granted_by, &now];
    scope.query(SQL, &params).await?;
    Ok(())
}

/// Accepts a grant that was not ended, for a member created at `since`. What an erased user of
/// the same name accepted before does not count.
pub async fn accept_grant(
    scope: &Scope,
    member: UserId,
    since: Timestamp,
    now: Timestamp,
) -> Result<()> {
    const SQL: &str = "update space_grant set accepted_at = $3 where user_id = $1 \
                         and member_id = $2 and ended_at is null \
                         and (accepted_at is null or accepted_at < $4)";
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &member.uuid(), &now, &since];
    scope.query(SQL, &params).await?;
    Ok(())
}

/// Ends a grant.
pub async fn end_grant(scope: &Scope, member: UserId, now: Timestamp) -> Result<()> {
    const SQL: &str = "update space_grant set ended_at = $3 where user_id = $1 \
                         and member_id = $2 and ended_at is null";
    scope.query(SQL, &[&scope.user().uuid(), &member.uuid(), &now]).await?;
    Ok(())
}

/// Removes a member from the scope's space: the grant, the record of what the member wrote and with
/// which credential, and the stored responses to the member's requests. With `before` only what is
/// older than that.
pub fn remove_member(batch: &mut Batch, scope: &Scope, member: UserId, before: Option<Timestamp>) {
    const GRANT: &str = "delete from space_grant where user_id = $1 and member_id = $2 \
                           and ($3::timestamptz is null or granted_at < $3)";
    const WRITTEN: &str = "update operation set member_id = null, credential = 'removed' \
                            where user_id = $1 and member_id = $2 \
                              and ($3::timestamptz is null or recorded_at < $3)";
    const ANSWERED: &str = "delete from idempotency where user_id = $1 \
                              and starts_with(key, $2::uuid::text) \
                              and ($3::timestamptz is null or created_at < $3)";
    for sql in [GRANT, WRITTEN, ANSWERED] {
        let (space, member) = (scope.user().uuid(), member.uuid());
        batch.push(sql, vec![Box::new(space), Box::new(member), Box::new(before)]);
    }
}

/// Those of these users whom the scope's space has granted to, or who wrote in it; with `before` only
/// if they did before that.
pub async fn members_among(
    scope: &Scope,
    users: &[UserId],
    before: Option<Timestamp>,
) -> Result<Vec<UserId>> {
    const SQL: &str = "select id from unnest($2::uuid[]) as asked (id) \
                        where exists (select 1 from space_grant g \
                                where g.user_id = $1 and g.member_id = id \
                                  and ($3::timestamptz is null or g.granted_at < $3)) \
                           or exists (select 1 from operation o \
                                where o.user_id = $1 and o.member_id = id \
                                  and ($3::timestamptz is null or o.recorded_at < $3))";
    let ids: Vec<Uuid> = users.iter().map(|user| user.uuid()).collect();
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &ids, &before];
    all(&scope.query(SQL, &params).await?, |row| {
        Ok(UserId::from_uuid(Columns::of(row, "space_grant").take()?))
    })
}

/// The members who wrote these editions of facts: for each, the member of the operation that opened
/// its first version, if a member did.
pub async fn authors(scope: &Scope, editions: &[(FactId, i32)]) -> Result<Vec<(FactId, UserId)>> {
    const SQL: &str = "select fact_id, member_id from ( \
                         select distinct on (v.fact_id) v.fact_id, o.member_id \
                           from unnest($2::uuid[], $3::integer[]) as wanted (fact_id, number) \
                           join fact_version v on v.user_id = $1 and v.fact_id = wanted.fact_id \
                                and v.number = wanted.number \
                           join operation o on o.user_id = $1 and o.operation_id = v.opened_by \
                          order by v.fact_id, v.known_from) written \
                        where member_id is not null";
    let facts: Vec<Uuid> = editions.iter().map(|(fact, _)| fact.uuid()).collect();
    let numbers: Vec<i32> = editions.iter().map(|(_, number)| *number).collect();
    all(&scope.query(SQL, &[&scope.user().uuid(), &facts, &numbers]).await?, |row| {
        let mut c = Columns::of(row, "operation");
        Ok((FactId::from_uuid(c.take()?), UserId::from_uuid(c.take()?)))
    })
}

/// The spaces that have granted to the scope's user.
pub async fn memberships(scope: &Scope) -> Result<Vec<UserId>> {
    const SQL: &str = "select space_id from membership where user_id = $1 order by space_id";
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, |row| {
        Ok(UserId::from_uuid(Columns::of(row, "membership").take::<Uuid>()?))
    })
}

/// Adds a space to the list of the scope's user.
pub async fn add_membership(scope: &Scope, space: UserId) -> Result<()> {
    const SQL: &str = "insert into membership (user_id, tenant_id, space_id) \
                       values ($1, $2, $3) on conflict do nothing";
    scope.query(SQL, &[&scope.user().uuid(), &scope.tenant().uuid(), &space.uuid()]).await?;
    Ok(())
}

/// Removes a space from the list of the scope's user.
pub async fn remove_membership(scope: &Scope, space: UserId) -> Result<()> {
    const SQL: &str = "delete from membership where user_id = $1 and space_id = $2";
    scope.query(SQL, &[&scope.user().uuid(), &space.uuid()]).await?;
    Ok(())
}

impl Store {
    /// Opens a read transaction on the rows of the caller's user. In a space, the caller must be a
    /// member.
    pub async fn read_as(&self, caller: &Caller) -> Result<Scope> {
        let since = self.member_since(caller).await?;
        let scope = self.read(caller.tenant, caller.user).await?;
        check_member(scope, caller, since, SpaceAccess::Read).await
    }

    /// The same, for a read that no write of the user overlaps.
    pub async fn read_settled_as(&self, caller: &Caller) -> Result<Scope> {
        let since = self.member_since(caller).await?;
        let scope = self.read_settled(caller.tenant, caller.user).await?;
        check_member(scope, caller, since, SpaceAccess::Read).await
    }

    /// Opens a write transaction on the rows of the caller's user. In a space, the caller must be a
    /// member who may write. A grant that is ended meanwhile waits for the space's lock.
    pub async fn write_as(&self, caller: &Caller) -> Result<Scope> {
        let since = self.member_since(caller).await?;
        let scope = self.write(caller.tenant, caller.user).await?;
        check_member(scope, caller, since, SpaceAccess::Write).await
    }

    /// The creation time of the member acting in a space; `None` outside of spaces. It is read before
    /// the space's transaction is opened, so that no request holds two connections.
    async fn member_since(&self, caller: &Caller) -> Result<Option<Timestamp>> {
        const SQL: &str = "select created_at from users where user_id = $1 \
                             and deleted_at is null and (expires_at is null or expires_at > now())";
        let Some(member) = caller.member else { return Ok(None) };
        let scope = self.read(caller.tenant, member).await?;
        let rows = scope.query(SQL, &[&member.uuid()]).await?;
        let since = one(&rows, |row| Columns::of(row, "users").take())?;
        since.ok_or(Error::NotMember).map(Some)
    }

    /// The names of these users, with one statement in each cell that holds any of them. Users who
    /// were erased are missing, and so are those of a cell that does not answer.
    pub async fn names_of_users(
        &self,
        tenant: TenantId,
        users: &BTreeSet<UserId>,
    ) -> Result<BTreeMap<UserId, String>> {
        const SQL: &str = "select user_id, name from users \
                            where tenant_id = $1 and user_id = any($2) and deleted_at is null";
        let mut names = BTreeMap::new();
        if users.is_empty() {
            return Ok(names);
        }
        for cell in self.cells.all().await? {
            // A user who is being moved is in one of two cells.
            let is_here = |user: &UserId| {
                let settled = self.cells.settled_cell(tenant, *user);
                settled.is_none_or(|name| name == cell.name)
            };
            let here: Vec<Uuid> =
                users.iter().filter(|user| is_here(user)).map(|user| user.uuid()).collect();
            if here.is_empty() {
                continue;
            }
            let read = async {
                let connection = cell.connection(self.purpose(Purpose::Reads)).await?;
                let directory = Directory::of(connection, &cell, tenant);
                all(&directory.query(SQL, &[&tenant.uuid(), &here]).await?, |row| {
                    let mut c = Columns::of(row, "users");
                    Ok((UserId::from_uuid(c.take()?), c.take::<String>()?))
                })
            };
            names.extend(cell.or_leave_out(read).await?.unwrap_or_default());
        }
        Ok(names)
    }

    /// The ids of the tenant's spaces, of all cells.
    pub async fn space_ids(&self, tenant: TenantId) -> Result<BTreeSet<UserId>> {
        const SQL: &str = "select user_id from users where tenant_id = $1 \
                             and deleted_at is null and starts_with(name, chr(2))";
        let mut found = BTreeSet::new();
        for directory in self.directories(tenant).await? {
            let ids = all(&directory.query(SQL, &[&tenant.uuid()]).await?, |row| {
                Ok(UserId::from_uuid(Columns::of(row, "users").take()?))
            })?;
            found.extend(ids);
        }
        Ok(found)
    }

    /// The names of the tenant's spaces, of all cells.
    pub async fn spaces(&self, tenant: TenantId) -> Result<Vec<SpaceName>> {
        const SQL: &str = "select name from users where tenant_id = $1 and deleted_at is null \
                             and starts_with(name, chr(2)) order by name limit 1000";
        let mut found = Vec::new();
        for directory in self.directories(tenant).await? {
            let rows = directory.query(SQL, &[&tenant.uuid()]).await?;
            let names: Vec<String> = all(&rows, |row| Columns::of(row, "users").take())?;
            found.extend(names.iter().filter_map(|name| SpaceName::of_user_name(name)));
        }
        // A space that is being moved may be listed by two cells.
        found.sort();
        found.dedup();
        Ok(found)
    }
}

/// Checks the grant of a caller who acts in a space, in the transaction that it is for. A grant that
/// was accepted before the member existed is one of an erased user of the same name, which a restored
/// backup has brought back.
async fn check_member(
    scope: Scope,
    caller: &Caller,
    since: Option<Timestamp>,
    wanted: SpaceAccess,
) -> Result<Scope> {
    let Some(member) = caller.member else { return Ok(scope) };
    let grant = find_grant(&scope, member).await?;
    let grant = grant.filter(|grant| grant.accepted_at >= since);
    match grant.and_then(|grant| grant.allows()) {
        None => Err(Error::NotMember),
        Some(access) if access < wanted => Err(Error::ReadOnlyMember),
        Some(_) => Ok(scope),
    }
}
