//! Policy: what may happen without asking, resolved from server, tenant and user settings.

use std::sync::Arc;

use futures_util::try_join;
use lukasa_core::audit::{AuditActor, AuditEntry, AuditEvent};
use lukasa_core::calibration::{CalibratedFloor, calibrate};
use lukasa_core::policy::{Patch, Policy};
use lukasa_core::time::micros;
use lukasa_core::{Caller, Refusal, TenantId, Timestamp, Writer};
use lukasa_store::policy::{self, PolicyRow};
use lukasa_store::{Batch, Scope, audit, calibration};

use crate::error::{Error, Result};
use crate::parts::Parts;
use crate::request::{Moment, Request};
use crate::transaction::Transactions;

/// The resolved policy, with the tenant's and the user's patches.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyInForce {
    pub policy: Policy,
    pub tenant: Patch,
    pub user: Patch,
    /// Both versions, as they are stamped on operations.
    pub version: String,
}

/// The policies of tenants and users.
#[derive(Clone)]
pub struct Policies {
    parts: Arc<Parts>,
    transactions: Transactions,
}

impl Policies {
    pub(crate) fn new(parts: Arc<Parts>, transactions: Transactions) -> Self {
        Self { parts, transactions }
    }

    /// The resolved policy of a user, and its version.
    pub(crate) async fn load(&self, scope: &Scope) -> Result<(Policy, String)> {
        let (tenant, user) = try_join!(policy::of_tenant(scope), policy::of_user(scope))?;
        let version = stamp(&tenant, &user);
        Ok((self.resolve(&tenant, &user), version))
    }

    fn resolve(&self, tenant: &PolicyRow, user: &PolicyRow) -> Policy {
        let (tenant, patch) = (Some(&tenant.patch), Some(&user.patch));
        let admits_inferred = user.admits_inferred.clone();
        let calibrated = user.calibrated.clone();
        let policy = Policy::resolve(&self.parts.policy, tenant, patch);
        Policy { admits_inferred, calibrated, ..policy }
    }

    /// Derives the minimum confidences of the user's categories again from how the memories so far
    /// turned out (R046).
    pub(crate) async fn calibrate(&self, request: &Request) -> Result<()> {
        let scope = self.transactions.write(request).await?;
        let floors = calibrate(&calibration::samples(&scope).await?, micros(request.moment.now));
        let same = |old: &CalibratedFloor, new: &CalibratedFloor| {
            CalibratedFloor { compiled_at: new.compiled_at, ..old.clone() } == *new
        };
        let stored = calibration::floors(&scope).await?;
        let is_new = stored.len() != floors.len()
            || stored.iter().any(|old| !floors.iter().any(|new| same(old, new)));
        if is_new {
            let mut batch = Batch::default();
            calibration::replace(&mut batch, &scope, &floors);
            scope.run(&batch).await?;
        }
        Ok(scope.commit().await?)
    }

    pub async fn get(&self, caller: &Caller, now: Timestamp) -> Result<PolicyInForce> {
        let scope = self.transactions.read(caller, now).await?;
        let (tenant, user) = try_join!(policy::of_tenant(&scope), policy::of_user(&scope))?;
        let policy = self.resolve(&tenant, &user);
        let version = stamp(&tenant, &user);
        Ok(PolicyInForce { policy, tenant: tenant.patch, user: user.patch, version })
    }

    /// Sets the user's policy patch, which replaces their previous one.
    pub async fn set(&self, request: &Request, patch: Patch) -> Result<PolicyInForce> {
        Error::faults(patch.faults())?;
        // Only the user decides what may happen without asking them.
        if Writer::of(&request.caller) != Writer::Human {
            return Err(Refusal::NeedsHuman.into());
        }
        let scope = self.transactions.write(request).await?;
        let stored = policy::of_user(&scope).await?;
        if stored.version > 0 && stored.patch == patch {
            // A repeated request, for example after a dropped connection, makes no new version.
            drop(scope);
            return self.get(&request.caller, request.moment.now).await;
        }
        let new = PolicyRow { version: stored.version + 1, patch, ..PolicyRow::default() };
        let (by, now) = (&request.caller.credential, micros(request.moment.now));
        policy::set_user(&scope, &new, by, now).await?;
        let entry = AuditEntry::done(AuditEvent::UserPolicy, AuditActor::of(&request.caller), now);
        let mut batch = Batch::default();
        audit::append(&mut batch, &scope, &entry.about(scope.user()).subject(new.version));
        scope.run(&batch).await?;
        scope.commit().await?;
        self.get(&request.caller, request.moment.now).await
    }

    /// The tenant's patch and its version, and the policy resolved from it and the server's
    /// default.
    pub async fn get_for_tenant(&self, tenant: TenantId) -> Result<(Policy, Patch, i32)> {
        let directory = self.parts.store.directory(tenant).await?;
        let stored = policy::of_directory(&directory).await?;
        let policy = Policy::resolve(&self.parts.policy, Some(&stored.patch), None);
        Ok((policy, stored.patch, stored.version))
    }

    /// Sets the tenant's policy patch, which replaces the previous one.
    pub async fn set_for_tenant(
        &self,
        by: impl Into<AuditActor>,
        patch: Patch,
        moment: Moment,
    ) -> Result<(Policy, Patch, i32)> {
        Error::faults(patch.faults())?;
        let by: AuditActor = by.into();
        let (tenant, now) = (by.tenant, micros(moment.now));
        let directory = self.parts.store.directory(tenant).await?;
        policy::lock_tenant(&directory).await?;
        let stored = policy::of_directory(&directory).await?;
        if stored.version > 0 && stored.patch == patch {
            drop(directory);
            return self.get_for_tenant(tenant).await;
        }
        let new = PolicyRow { version: stored.version + 1, patch, ..PolicyRow::default() };
        policy::set_tenant(&directory, &new, &by.credential, now).await?;
        let entry = AuditEntry::done(AuditEvent::TenantPolicy, by, now).subject(new.version);
        audit::append_to(&directory, &entry).await?;
        directory.commit().await?;
        self.get_for_tenant(tenant).await
    }
}

fn stamp(tenant: &PolicyRow, user: &PolicyRow) -> String {
    format!("t{}.u{}", tenant.version, user.version)
}
