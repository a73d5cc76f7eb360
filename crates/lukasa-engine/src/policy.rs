//! Policy: what may happen without asking, as the server, the tenant and the user have said it.

use futures_util::try_join;
use lukasa_core::policy::{Patch, Policy};
use lukasa_core::time::micros;
use lukasa_core::{Caller, Refusal, TenantId, Timestamp, Writer};
use lukasa_store::Scope;
use lukasa_store::policy::{self, Said};

use crate::error::{Error, Result};
use crate::{Engine, Moment, Request};

/// The policy that holds, and what each has said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyInForce {
    pub policy: Policy,
    pub tenant: Patch,
    pub user: Patch,
    /// Both versions, as they are stamped on operations.
    pub version: String,
}

impl Engine {
    /// The policy that holds for a user, and its version.
    pub(crate) async fn policy_of(&self, scope: &Scope) -> Result<(Policy, String)> {
        let (tenant, user) = try_join!(policy::of_tenant(scope), policy::of_user(scope))?;
        let version = stamp(&tenant, &user);
        let resolved = Policy::resolve(&self.policy, Some(&tenant.patch), Some(&user.patch));
        Ok((resolved, version))
    }

    pub async fn policy(&self, caller: &Caller, now: Timestamp) -> Result<PolicyInForce> {
        let scope = self.reading(caller, now).await?;
        let (tenant, user) = try_join!(policy::of_tenant(&scope), policy::of_user(&scope))?;
        let policy = Policy::resolve(&self.policy, Some(&tenant.patch), Some(&user.patch));
        let version = stamp(&tenant, &user);
        Ok(PolicyInForce { policy, tenant: tenant.patch, user: user.patch, version })
    }

    /// The user says what may happen without asking. It takes the place of what they said before.
    pub async fn set_policy(&self, request: &Request, patch: Patch) -> Result<PolicyInForce> {
        Error::faults(patch.faults())?;
        // What may happen without asking the user is for the user to say.
        if Writer::of(&request.caller) != Writer::Human {
            return Err(Refusal::NeedsHuman.into());
        }
        let scope = self.writing(request).await?;
        let said = policy::of_user(&scope).await?;
        if said.version > 0 && said.patch == patch {
            // Said once more, as after a dropped connection, it is no new version.
            drop(scope);
            return self.policy(&request.caller, request.moment.now).await;
        }
        let new = Said { version: said.version + 1, patch };
        let (by, now) = (&request.caller.credential, micros(request.moment.now));
        policy::set_user(&scope, &new, by, now).await?;
        scope.commit().await?;
        self.policy(&request.caller, request.moment.now).await
    }

    /// What the tenant has said, and how it reads with the server's own.
    pub async fn tenant_policy(&self, tenant: TenantId) -> Result<(Policy, Patch, i32)> {
        let directory = self.store.directory(tenant).await?;
        let said = policy::of_directory(&directory).await?;
        let policy = Policy::resolve(&self.policy, Some(&said.patch), None);
        Ok((policy, said.patch, said.version))
    }

    pub async fn set_tenant_policy(
        &self,
        tenant: TenantId,
        patch: Patch,
        by: &str,
        moment: Moment,
    ) -> Result<(Policy, Patch, i32)> {
        Error::faults(patch.faults())?;
        let directory = self.store.directory(tenant).await?;
        policy::take_turns(&directory).await?;
        let said = policy::of_directory(&directory).await?;
        if said.version > 0 && said.patch == patch {
            drop(directory);
            return self.tenant_policy(tenant).await;
        }
        let new = Said { version: said.version + 1, patch };
        policy::set_tenant(&directory, &new, by, micros(moment.now)).await?;
        directory.commit().await?;
        self.tenant_policy(tenant).await
    }
}

fn stamp(tenant: &Said, user: &Said) -> String {
    format!("t{}.u{}", tenant.version, user.version)
}
