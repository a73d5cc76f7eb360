//! The memory that the bodies of all requests of this process may take together, and the shares of it
//! that one user and one tenant may have. Memory is reserved as bytes arrive, never for what is only
//! announced.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lukasa_core::{TenantId, UserId};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::api::code::ErrorCode;
use crate::api::error::Problem;

/// The unit in which memory is reserved. A reservation up to this size takes nothing.
pub(super) const UNIT_BYTES: usize = 64 * 1024;
/// How long a body waits for memory before it is refused.
const RESERVE_TIMEOUT: Duration = Duration::from_millis(100);
/// The part of the budget that the bodies of a tenant may take, and that one body may take: a half.
const TENANT_PART: u32 = 2;
/// The part that the bodies of a user may take, unless it is a single one: a quarter.
const USER_PART: u32 = 4;

/// Whose share a body is counted against.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BodyHolder {
    User(UserId),
    /// A credential for all users, before the request has named one.
    Credential(String),
    /// Requests without a credential, all together.
    Anonymous,
}

/// The holder of a body, and its tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyOwner {
    pub tenant: Option<TenantId>,
    pub holder: BodyHolder,
}

/// Units that are held, by holder and by tenant. One that holds nothing is not listed.
#[derive(Default)]
struct HeldUnits {
    holders: HashMap<BodyHolder, u32>,
    tenants: HashMap<TenantId, u32>,
}

/// The memory that bodies in flight may take together, in this process.
#[derive(Clone)]
pub struct BodyBudget {
    free: Arc<Semaphore>,
    total: u32,
    held: Arc<Mutex<HeldUnits>>,
}

/// Memory that is reserved for one request until this is dropped.
#[derive(Default)]
pub struct BodyPermit(Option<Reservation>);

struct Reservation {
    budget: BodyBudget,
    owner: BodyOwner,
    /// Units that are counted against the shares.
    counted: u32,
    /// Units that are taken from the budget.
    taken: u32,
}

impl BodyBudget {
    /// Creates a budget of this many megabytes; 0 means no limit.
    pub fn of_megabytes(megabytes: u32) -> Self {
        let total = match megabytes {
            0 => u32::MAX >> 3,
            some => some.saturating_mul(16).min(u32::MAX >> 3),
        };
        let free = Arc::new(Semaphore::new(total as usize));
        Self { free, total, held: Arc::default() }
    }

    /// Reserves memory for this many more bytes of a request. One request has never more than the
    /// share of a tenant: what it needs beyond that is not counted.
    pub async fn reserve(
        &self,
        permit: &mut BodyPermit,
        owner: &BodyOwner,
        bytes: usize,
    ) -> Result<(), Problem> {
        if bytes <= UNIT_BYTES {
            return Ok(());
        }
        let own = permit.0.as_ref().map_or(0, |reservation| reservation.counted);
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX);
        let units = units.min(self.part(TENANT_PART).saturating_sub(own));
        if units == 0 {
            return Ok(());
        }
        self.count(owner, own, units)?;
        // It is given back when this is dropped, also if the client leaves while it waits.
        let (budget, owner) = (self.clone(), owner.clone());
        let mut reserved = Reservation { budget, owner, counted: units, taken: 0 };
        let taken = timeout(RESERVE_TIMEOUT, self.free.acquire_many(units)).await;
        let Ok(Ok(taken)) = taken else {
            return Err(
                Problem::of(ErrorCode::Overloaded).because("Too many large requests are in flight")
            );
        };
        taken.forget();
        reserved.taken = units;
        match &mut permit.0 {
            Some(held) => {
                held.counted += std::mem::take(&mut reserved.counted);
                held.taken += std::mem::take(&mut reserved.taken);
            }
            none => *none = Some(reserved),
        }
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn reserved_bytes(&self) -> usize {
        (self.total as usize - self.free.available_permits()) * UNIT_BYTES
    }

    fn part(&self, part: u32) -> u32 {
        (self.total / part).max(1)
    }

    fn lock(&self) -> MutexGuard<'_, HeldUnits> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts units against the shares of their owner, who has `own` of them in the same request.
    fn count(&self, owner: &BodyOwner, own: u32, units: u32) -> Result<(), Problem> {
        let refuse = |whose: &str| {
            let what = format!("Too many large requests of this {whose} are in flight");
            Err(Problem::of(ErrorCode::RateLimited).because(&what))
        };
        let mut held = self.lock();
        let by_holder = held.holders.get(&owner.holder).copied().unwrap_or(0);
        if by_holder > own && by_holder + units > self.part(USER_PART) {
            return refuse("user");
        }
        if let Some(tenant) = owner.tenant {
            let by_tenant = held.tenants.get(&tenant).copied().unwrap_or(0);
            if by_tenant + units > self.part(TENANT_PART) {
                return refuse("tenant");
            }
            *held.tenants.entry(tenant).or_default() += units;
        }
        *held.holders.entry(owner.holder.clone()).or_default() += units;
        Ok(())
    }

    fn uncount(&self, owner: &BodyOwner, units: u32) {
        let mut held = self.lock();
        subtract(&mut held.holders, &owner.holder, units);
        if let Some(tenant) = &owner.tenant {
            subtract(&mut held.tenants, tenant, units);
        }
    }
}

fn subtract<K: Hash + Eq>(counts: &mut HashMap<K, u32>, key: &K, units: u32) {
    let Some(count) = counts.get_mut(key) else { return };
    *count = count.saturating_sub(units);
    if *count == 0 {
        counts.remove(key);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.uncount(&self.owner, self.counted);
        self.budget.free.add_permits(self.taken as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(tenant: &str, user: &str) -> BodyOwner {
        let tenant = TenantId::named(tenant);
        let holder = BodyHolder::User(UserId::named(tenant, user));
        BodyOwner { tenant: Some(tenant), holder }
    }

    /// Reserves kilobytes; the code of the refusal, if it is refused.
    async fn reserve(
        budget: &BodyBudget,
        of: &BodyOwner,
        kilobytes: usize,
    ) -> Result<BodyPermit, ErrorCode> {
        let mut permit = BodyPermit::default();
        let done = budget.reserve(&mut permit, of, kilobytes * 1024).await;
        done.map(|()| permit).map_err(|problem| problem.code)
    }

    #[tokio::test]
    async fn body_memory_is_shared_between_users_and_tenants() {
        let budget = BodyBudget::of_megabytes(4);
        let (ada, bob) = (owner("acme", "ada"), owner("acme", "bob"));
        let (carl, dora) = (owner("globex", "carl"), owner("globex", "dora"));
        let held = reserve(&budget, &ada, 768).await.unwrap();
        let refused = reserve(&budget, &ada, 768).await.err();
        assert_eq!(refused, Some(ErrorCode::RateLimited), "over the share of a user");
        let of_bob = reserve(&budget, &bob, 1024).await.unwrap();
        let refused = reserve(&budget, &owner("acme", "eve"), 512).await.err();
        assert_eq!(refused, Some(ErrorCode::RateLimited), "over the share of a tenant");
        let others = (reserve(&budget, &carl, 1024).await, reserve(&budget, &dora, 1024).await);
        assert!(others.0.is_ok() && others.1.is_ok(), "another tenant has its own");
        let refused = reserve(&budget, &owner("third", "ed"), 1024).await.err();
        assert_eq!(refused, Some(ErrorCode::Overloaded), "the budget is spent");
        assert!(reserve(&budget, &ada, 10).await.is_ok(), "small bodies reserve nothing");
        drop((held, of_bob, others));
        assert!(budget.lock().holders.is_empty() && budget.lock().tenants.is_empty());
        assert_eq!(budget.free.available_permits(), budget.total as usize);
    }

    #[tokio::test]
    async fn single_body_may_take_half_of_the_memory() {
        let budget = BodyBudget::of_megabytes(4);
        let (ada, carl) = (owner("acme", "ada"), owner("globex", "carl"));
        let mut permit = reserve(&budget, &ada, 1024).await.unwrap();
        budget.reserve(&mut permit, &ada, 50 << 20).await.unwrap();
        budget.reserve(&mut permit, &ada, 50 << 20).await.unwrap();
        assert!(reserve(&budget, &carl, 2048).await.is_ok(), "the other half is left");
        assert!(reserve(&budget, &ada, 512).await.is_err());
    }

    #[tokio::test]
    async fn abandoned_reservation_is_given_back() {
        let budget = BodyBudget::of_megabytes(1);
        let whole = budget.free.acquire_many(budget.total).await.unwrap();
        let ada = owner("acme", "ada");
        let waiting = reserve(&budget, &ada, 256);
        assert!(timeout(Duration::from_millis(5), waiting).await.is_err());
        drop(whole);
        assert!(budget.lock().holders.is_empty());
        assert!(reserve(&budget, &ada, 512).await.is_ok());
    }
}
