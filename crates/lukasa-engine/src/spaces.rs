//! Spaces: memories that users of a tenant share. Administrators create spaces and grant them to
//! users; a user accepts a grant, and can leave. What members read and write in a space goes through
//! the other modules, with a caller whose user is the space.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lukasa_core::admission::name_directs;
use lukasa_core::audit::{AuditActor, AuditEntry, AuditEvent};
use lukasa_core::limits::SPACE_MEMBERS;
use lukasa_core::space::INVALID_SPACE;
use lukasa_core::time::micros;
use lukasa_core::{
    Caller, CallerKind, Refusal, SpaceAccess, SpaceGrant, SpaceName, TenantId, Timestamp, UserId,
};
use lukasa_store::{Batch, Scope, Store, audit, directory, erasure, space};

use crate::error::{Error, Result};
use crate::parts::Parts;

/// The grant of a space to a member, by the tenant's name for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceMember {
    /// `None` if the cell that holds the user does not answer.
    pub user: Option<String>,
    pub grant: SpaceGrant,
}

/// A space that has granted to a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    pub space: SpaceName,
    pub grant: SpaceGrant,
}

/// The spaces that have granted to a user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memberships {
    pub found: Vec<Membership>,
    /// Spaces that could not be read, because their cell does not answer.
    pub unavailable: usize,
}

/// The spaces of tenants and their members.
#[derive(Clone)]
pub struct Spaces {
    parts: Arc<Parts>,
}

impl Spaces {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        Self { parts }
    }

    /// Creates a space without members; one that exists stays as it is.
    pub async fn create(&self, by: AuditActor, name: &SpaceName, now: Timestamp) -> Result<()> {
        if name_directs(name.as_str()) {
            return Err(Error::invalid(
                "space",
                "a name, and no order: prompts of members show it",
            ));
        }
        let (id, now) = (name.user_id(by.tenant), micros(now));
        let scope = self.parts.store.write(by.tenant, id).await?;
        if erasure::unfinished(&scope).await?.is_some() {
            return Err(lukasa_store::Error::Unavailable("the space is being erased".into()).into());
        }
        if directory::me(&scope).await?.is_some_and(|space| !space.is_gone(now)) {
            return Ok(());
        }
        directory::create_user(&scope, &name.user_name(), None, now).await?;
        let entry = AuditEntry::done(AuditEvent::SpaceCreate, by, now).subject(id);
        commit_with(scope, &entry).await
    }

    /// The tenant's spaces, by name.
    pub async fn list(&self, tenant: TenantId) -> Result<Vec<SpaceName>> {
        Ok(self.parts.store.spaces(tenant).await?)
    }

    /// The members of a space, those whose grant was ended too.
    pub async fn members(
        &self,
        tenant: TenantId,
        name: &SpaceName,
        now: Timestamp,
    ) -> Result<Vec<SpaceMember>> {
        let scope = self.parts.store.read(tenant, name.user_id(tenant)).await?;
        check_exists(&scope, now).await?;
        let grants = space::grants(&scope).await?;
        drop(scope);
        let ids: BTreeSet<UserId> = grants.iter().map(|grant| grant.member).collect();
        let names = self.parts.store.names_of_users(tenant, &ids).await?;
        let member =
            |grant: SpaceGrant| SpaceMember { user: names.get(&grant.member).cloned(), grant };
        Ok(grants.into_iter().map(member).collect())
    }

    /// Grants a space to a user, or changes what an existing grant allows. It allows nothing until
    /// the user accepts it.
    pub async fn grant(
        &self,
        by: AuditActor,
        name: &SpaceName,
        user: &str,
        access: SpaceAccess,
        now: Timestamp,
    ) -> Result<SpaceMember> {
        let (tenant, now) = (by.tenant, micros(now));
        let (id, member) = (name.user_id(tenant), UserId::named(tenant, user));
        let scope = self.parts.store.read(tenant, id).await?;
        check_exists(&scope, now).await?;
        drop(scope);
        // The member's list comes first, so that the erasure of the member finds every grant.
        self.list_with_member(tenant, member, id, now).await?;
        let scope = self.parts.store.write(tenant, id).await?;
        check_exists(&scope, now).await?;
        let others = space::grants(&scope).await?;
        let others = others.iter().filter(|one| one.member != member && one.ended_at.is_none());
        if others.count() >= SPACE_MEMBERS {
            return Err(Error::invalid("user", "a space has at most 100 members"));
        }
        space::put_grant(&scope, member, access, &by.credential, now).await?;
        let grant = space::find_grant(&scope, member).await?.ok_or(Error::SpaceNotFound)?;
        let entry = AuditEntry::done(AuditEvent::SpaceGrant, by, now).about(member).subject(id);
        commit_with(scope, &entry.detail(&format!("access={}", access.as_str()))).await?;
        // The user may have been erased since the space was listed.
        if self.find_user(tenant, member, now).await?.is_none() {
            leave_space(&self.parts.store, tenant, id, member).await?;
            return Err(Error::UserNotFound);
        }
        Ok(SpaceMember { user: Some(user.to_owned()), grant })
    }

    /// A user who exists.
    async fn find_user(
        &self,
        tenant: TenantId,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<directory::User>> {
        let scope = self.parts.store.read(tenant, user).await?;
        Ok(directory::me(&scope).await?.filter(|user| !user.is_gone(now)))
    }

    /// Adds a space to the list of a user who exists.
    async fn list_with_member(
        &self,
        tenant: TenantId,
        member: UserId,
        space: UserId,
        now: Timestamp,
    ) -> Result<()> {
        let listed = self.listed_spaces(tenant, member).await?;
        if !listed.contains(&space)
            && listed.len() >= SPACE_MEMBERS
            && self.count_current(tenant, member, &listed).await? >= SPACE_MEMBERS
        {
            return Err(Error::invalid("user", "a user can be in at most 100 spaces"));
        }
        let scope = self.parts.store.write(tenant, member).await?;
        let user = directory::me(&scope).await?.filter(|user| !user.is_gone(now));
        if user.ok_or(Error::UserNotFound)?.expires_at.is_some() {
            return Err(Error::invalid("user", "a temporary user cannot be a member of a space"));
        }
        space::add_membership(&scope, space).await?;
        Ok(scope.commit().await?)
    }

    /// The spaces that have granted to a user, those whose grant was ended too.
    async fn listed_spaces(&self, tenant: TenantId, user: UserId) -> Result<Vec<UserId>> {
        let scope = self.parts.store.read(tenant, user).await?;
        Ok(space::memberships(&scope).await?)
    }

    /// How many of these spaces have a grant to the user that was not ended. One that cannot be read
    /// counts as one.
    async fn count_current(
        &self,
        tenant: TenantId,
        user: UserId,
        spaces: &[UserId],
    ) -> Result<usize> {
        let mut count = 0;
        for id in spaces {
            match self.read_grant(tenant, *id, user).await {
                Ok(None) => {}
                Ok(Some(_)) | Err(Error::Unavailable(_)) => count += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    /// The grant of a space to a user that was not ended, with the space's name.
    async fn read_grant(
        &self,
        tenant: TenantId,
        space: UserId,
        user: UserId,
    ) -> Result<Option<Membership>> {
        let scope = self.parts.store.read(tenant, space).await?;
        let grant = space::find_grant(&scope, user).await?;
        let Some(grant) = grant.filter(|grant| grant.ended_at.is_none()) else { return Ok(None) };
        let row = directory::me(&scope).await?;
        let name = row.and_then(|row| SpaceName::of_user_name(&row.name));
        Ok(name.map(|space| Membership { space, grant }))
    }

    /// Ends the grant of a space to a user, for every request from then on.
    pub async fn end(
        &self,
        by: AuditActor,
        name: &SpaceName,
        user: &str,
        now: Timestamp,
    ) -> Result<()> {
        let (id, now) = (name.user_id(by.tenant), micros(now));
        let member = UserId::named(by.tenant, user);
        let scope = self.parts.store.write(by.tenant, id).await?;
        check_exists(&scope, now).await?;
        let grant = space::find_grant(&scope, member).await?;
        grant.filter(|grant| grant.ended_at.is_none()).ok_or(Error::UserNotFound)?;
        end_grant(scope, by, member, now).await
    }

    /// The caller leaves a space.
    pub async fn leave(&self, caller: &Caller, name: &SpaceName, now: Timestamp) -> Result<()> {
        let scope = self.open_granted(caller, name).await?;
        end_grant(scope, AuditActor::of(caller), caller.user, micros(now)).await
    }

    /// The caller accepts the grant of a space.
    pub async fn accept(
        &self,
        caller: &Caller,
        name: &SpaceName,
        now: Timestamp,
    ) -> Result<Membership> {
        check_human(caller)?;
        let user = self.find_user(caller.tenant, caller.user, now).await?;
        let since = user.ok_or(Error::SpaceNotFound)?.created_at;
        // Another server's clock, which made the user, may be ahead.
        let (scope, now) = (self.open_granted(caller, name).await?, micros(now).max(since));
        space::accept_grant(&scope, caller.user, since, now).await?;
        let grant = space::find_grant(&scope, caller.user).await?.ok_or(Error::SpaceNotFound)?;
        let entry = AuditEntry::done(AuditEvent::SpaceAccept, AuditActor::of(caller), now);
        commit_with(scope, &entry.about(caller.user).subject(name.user_id(caller.tenant))).await?;
        Ok(Membership { space: name.clone(), grant })
    }

    /// A write scope of a space that has granted to the caller. Only the user decides about their own
    /// membership.
    async fn open_granted(&self, caller: &Caller, name: &SpaceName) -> Result<Scope> {
        check_human(caller)?;
        let scope = self.parts.store.write(caller.tenant, name.user_id(caller.tenant)).await?;
        let grant = space::find_grant(&scope, caller.user).await?;
        grant.filter(|grant| grant.ended_at.is_none()).ok_or(Error::SpaceNotFound)?;
        Ok(scope)
    }

    /// The spaces that have granted to the caller's user, without ended grants.
    pub async fn memberships(&self, caller: &Caller, now: Timestamp) -> Result<Memberships> {
        let scope = self.parts.store.read_as(caller).await?;
        if directory::me(&scope).await?.is_some_and(|user| user.is_gone(now)) {
            return Err(Error::UserGone);
        }
        let ids = space::memberships(&scope).await?;
        drop(scope);
        let mut listed = Memberships::default();
        for id in ids {
            match self.read_grant(caller.tenant, id, caller.user).await {
                Ok(found) => listed.found.extend(found),
                Err(error) => {
                    tracing::warn!(%error, "a space of a user could not be read");
                    listed.unavailable += 1;
                }
            }
        }
        listed.found.sort_by_key(|one: &Membership| one.space.clone());
        Ok(listed)
    }

    /// The names of members, as far as they still exist and can be read now.
    pub async fn names_of(
        &self,
        tenant: TenantId,
        members: &[UserId],
    ) -> Result<BTreeMap<UserId, String>> {
        let members = members.iter().copied().collect();
        Ok(self.parts.store.names_of_users(tenant, &members).await?)
    }
}

/// Removes a user who is being erased from all spaces, and a space that is being erased from the lists
/// of all its members. Every one of them is tried; returns whether all succeeded.
pub(crate) async fn end_relations(store: &Store, tenant: TenantId, user: UserId) -> Result<bool> {
    let scope = store.read(tenant, user).await?;
    let spaces = space::memberships(&scope).await?;
    let members = space::member_ids(&scope).await?;
    drop(scope);
    let mut all_ended = true;
    for id in spaces {
        all_ended &= has_ended(leave_space(store, tenant, id, user).await);
    }
    for member in members {
        all_ended &= has_ended(unlist_space(store, tenant, user, member).await);
    }
    Ok(all_ended)
}

fn has_ended(result: Result<()>) -> bool {
    let error = result.err();
    if let Some(error) = &error {
        tracing::warn!(%error, "an erasure waits for a space or a member that cannot be reached");
    }
    error.is_none()
}

/// Removes a member from a space: the grant, and the record of what the member wrote there.
async fn leave_space(store: &Store, tenant: TenantId, space: UserId, member: UserId) -> Result<()> {
    let scope = store.write(tenant, space).await?;
    // A batch needs a query before it.
    if space::members_among(&scope, &[member], None).await?.is_empty() {
        return Ok(());
    }
    let mut batch = Batch::default();
    space::remove_member(&mut batch, &scope, member, None);
    scope.run(&batch).await?;
    Ok(scope.commit().await?)
}

/// Removes a space from the list of a member.
async fn unlist_space(
    store: &Store,
    tenant: TenantId,
    space: UserId,
    member: UserId,
) -> Result<()> {
    let scope = store.write(tenant, member).await?;
    space::remove_membership(&scope, space).await?;
    Ok(scope.commit().await?)
}

/// Removes erased users again from the spaces of their tenant, whose rows a backup may have brought
/// back while the record of the erasure, in another cell, was not lost. What a user of the same name
/// has done since they were created again stays. Returns how many members were removed.
pub(crate) async fn remove_erased_members(
    store: &Store,
    tenant: TenantId,
    erased: &[UserId],
) -> Result<usize> {
    let mut removed = 0;
    for id in store.space_ids(tenant).await? {
        let members = space::members_among(&store.read(tenant, id).await?, erased, None).await?;
        for member in members {
            let user = directory::me(&store.read(tenant, member).await?).await?;
            let before = user.filter(|user| user.deleted_at.is_none()).map(|user| user.created_at);
            let scope = store.write(tenant, id).await?;
            if space::members_among(&scope, &[member], before).await?.is_empty() {
                continue;
            }
            let mut batch = Batch::default();
            space::remove_member(&mut batch, &scope, member, before);
            scope.run(&batch).await?;
            scope.commit().await?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Refuses a caller who is not the user.
fn check_human(caller: &Caller) -> Result<()> {
    match caller.kind {
        CallerKind::Human => Ok(()),
        CallerKind::Key | CallerKind::Job => Err(Refusal::NeedsHuman.into()),
    }
}

/// Parses the name of a space in a request.
pub fn parse_space_name(field: &str, name: &str) -> Result<SpaceName> {
    SpaceName::parse(name).ok_or_else(|| Error::invalid(field, INVALID_SPACE))
}

async fn check_exists(scope: &Scope, now: Timestamp) -> Result<()> {
    let space = directory::me(scope).await?.filter(|space| !space.is_gone(now));
    space.map(|_| ()).ok_or(Error::SpaceNotFound)
}

async fn end_grant(scope: Scope, by: AuditActor, member: UserId, now: Timestamp) -> Result<()> {
    space::end_grant(&scope, member, now).await?;
    let entry = AuditEntry::done(AuditEvent::SpaceEnd, by, now).about(member);
    let entry = entry.subject(scope.user());
    commit_with(scope, &entry).await
}

/// Commits with a record in the audit log.
async fn commit_with(scope: Scope, entry: &AuditEntry) -> Result<()> {
    let mut batch = Batch::default();
    audit::append(&mut batch, &scope, entry);
    scope.run(&batch).await?;
    Ok(scope.commit().await?)
}
