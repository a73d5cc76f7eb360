//! A tenant's users and domains.

use std::sync::Arc;

use futures_util::try_join;
use jiff::SignedDuration;
use lukasa_core::job::Task;
use lukasa_core::learning::explicit;
use lukasa_core::time::micros;
use lukasa_core::{Caller, CallerKind, Domain, Ids, Refusal, TenantId, Timestamp, UserId};
use lukasa_store::directory::User;
use lukasa_store::passage::{self, Change};
use lukasa_store::{
    Batch, Scope, context, directory, domain, domain_question, erasure, health, job, left_out,
    session,
};

use crate::credentials::check_name;
use crate::error::{Error, Result};
use crate::parts::Parts;
use crate::request::Request;

pub use lukasa_store::directory::User as UserRecord;
pub use lukasa_store::health::UserRowCounts;

/// A domain, and since when the user has it open.
#[derive(Debug, Clone, PartialEq)]
pub struct UserDomain {
    pub domain: Domain,
    pub opted_in_at: Option<Timestamp>,
    /// Whether the user lets memories that are inferred about it be used without asking.
    pub admits_inferred: bool,
}

/// The users and domains of tenants.
#[derive(Clone)]
pub struct TenantDirectory {
    parts: Arc<Parts>,
}

impl TenantDirectory {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        Self { parts }
    }

    /// Creates a user before their first memory, or an empty one in place of a deleted user. With
    /// `minutes` the user is temporary: from then on they count as deleted, and a job erases them.
    pub async fn create_user(
        &self,
        tenant: TenantId,
        name: &str,
        minutes: Option<i64>,
        now: Timestamp,
    ) -> Result<User> {
        check_name("user", name)?;
        if minutes.is_some_and(|minutes| !(1..=60 * 24 * 30).contains(&minutes)) {
            return Err(Error::invalid("expires_in_minutes", "between one minute and thirty days"));
        }
        let ends = minutes.map(|minutes| now + SignedDuration::from_mins(minutes));
        let id = UserId::named(tenant, name);
        // Under the user's lock, like the mark of an erasure: rows that are still to be removed
        // must not become rows of the new user.
        let scope = self.parts.store.write(tenant, id).await?;
        if erasure::unfinished(&scope).await?.is_some() {
            return Err(lukasa_store::Error::Unavailable("the user is being erased".into()).into());
        }
        // Nor must the rows of an expired user.
        let there = directory::me(&scope).await?;
        if there.is_some_and(|user| user.deleted_at.is_none() && user.is_gone(now)) {
            queue_erasure(&scope, now, now).await?;
            scope.commit().await?;
            let why = "the user has expired and is about to be erased";
            return Err(lukasa_store::Error::Unavailable(why.into()).into());
        }
        directory::create_user(&scope, name, ends, now).await?;
        if let Some(ends) = ends {
            queue_erasure(&scope, ends, now).await?;
        }
        let user = directory::me(&scope).await?.ok_or(Error::UserNotFound)?;
        scope.commit().await?;
        Ok(user)
    }

    pub async fn users(
        &self,
        tenant: TenantId,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<User>, Option<String>)> {
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut users = self.parts.store.users(tenant, after, wanted).await?;
        let more = users.len() > limit;
        users.truncate(limit);
        let next = users.last().filter(|_| more).map(|user| user.name.clone());
        Ok((users, next))
    }

    /// The user and how much is stored about them.
    pub async fn user(
        &self,
        tenant: TenantId,
        name: &str,
        now: Timestamp,
    ) -> Result<(User, UserRowCounts)> {
        let scope = self.parts.store.read(tenant, UserId::named(tenant, name)).await?;
        let (user, counts) = try_join!(directory::me(&scope), health::count(&scope))?;
        let user = user.filter(|user| !user.is_gone(now)).ok_or(Error::UserNotFound)?;
        Ok((user, counts))
    }

    /// Every domain, and which of them the caller's user has opened.
    pub async fn domains(&self, caller: &Caller, now: Timestamp) -> Result<Vec<UserDomain>> {
        let scope = self.parts.store.read_as(caller).await?;
        let (user, domains, opened, admitting) = try_join!(
            directory::me(&scope),
            domain::of_tenant(&scope),
            domain::opened(&scope),
            domain::admitting_inferred(&scope),
        )?;
        if user.is_some_and(|user| user.is_gone(now)) {
            return Err(Error::UserGone);
        }
        let since = |name: &str| opened.iter().find(|(open, _)| open == name).map(|(_, at)| *at);
        let view = |domain: Domain| UserDomain {
            opted_in_at: since(&domain.name),
            admits_inferred: admitting.contains(&domain.name),
            domain,
        };
        Ok(domains.into_iter().map(view).collect())
    }

    /// Adds or changes a domain of the tenant.
    pub async fn put_domain(&self, tenant: TenantId, new: &Domain) -> Result<()> {
        if !lukasa_core::domain::is_name(&new.name) {
            return Err(Error::invalid("name", "a short lower-case word, with hyphens if need be"));
        }
        check_name("display_name", &new.display_name)?;
        if new.default_expiration_days.is_some_and(|days| !(1..=36_500).contains(&days)) {
            return Err(Error::invalid("default_expiration_days", "between 1 and 36,500"));
        }
        let builtin = lukasa_core::builtin_domains().into_iter().find(|d| d.name == new.name);
        // A built-in domain that is closed stays closed: a tenant can only be stricter.
        if builtin.is_some_and(|built| built.requires_opt_in && !new.requires_opt_in) {
            return Err(Error::invalid(
                "requires_opt_in",
                "must stay true for this built-in domain",
            ));
        }
        let list = self.parts.store.directory(tenant).await?;
        domain::put(&list, new).await?;
        Ok(list.commit().await?)
    }

    /// Opens or closes a domain for the caller's user. Opening is consent, so a human gives it. It
    /// answers the question about the domain; what was left out because it was not open is learned
    /// again.
    pub async fn set_opt_in(
        &self,
        request: &Request,
        name: &str,
        open: OptIn,
    ) -> Result<UserDomain> {
        let (caller, now) = (&request.caller, micros(request.moment.now));
        if open == OptIn::Open && caller.kind != CallerKind::Human {
            return Err(Refusal::NeedsHuman.into());
        }
        let scope = self.parts.store.write_as(caller).await?;
        if directory::me(&scope).await?.is_some_and(|user| user.is_gone(now)) {
            return Err(Error::UserGone);
        }
        let found = domain::find(&scope, name).await?;
        let (domain, _) = found.ok_or_else(|| Error::DomainNotFound(name.to_owned()))?;
        // The answer to the question about the domain is a row of the user, too.
        directory::ensure_me(&scope, &caller.user_name, now).await?;
        match open {
            OptIn::Open => domain::open(&scope, name, now).await?,
            OptIn::Close => {
                domain::close(&scope, name).await?;
                context::remove_baselines_of_domain(&scope, name).await?;
            }
        }
        let mut batch = Batch::default();
        match open {
            OptIn::Open => {
                learn_left_out(&self.parts, &mut batch, &scope, request, name).await?;
            }
            OptIn::Close => {}
        }
        // An assistant that closes a domain does not answer for the user.
        if caller.kind == CallerKind::Human && domain.requires_opt_in {
            domain_question::answer(&mut batch, &scope, name, open == OptIn::Open, now);
        }
        passage::bump(&mut batch, &scope, Change::Facts);
        scope.run(&batch).await?;
        let opened = domain::opened(&scope).await?;
        let admits_inferred =
            domain::admitting_inferred(&scope).await?.iter().any(|admitting| admitting == name);
        scope.commit().await?;
        let since = opened.into_iter().find(|(open, _)| open == name).map(|(_, at)| at);
        Ok(UserDomain { domain, opted_in_at: since, admits_inferred })
    }
}

/// Queues the job that finds the scope's own user expired, and erases them.
async fn queue_erasure(scope: &Scope, expires_at: Timestamp, now: Timestamp) -> Result<()> {
    let (due, now) = (micros(expires_at), micros(now));
    let id = Ids::new(now, scope.user().uuid().into_bytes()).job();
    let mut batch = Batch::default();
    job::queue_sole(&mut batch, scope, id, &Task::Upkeep, due, now);
    Ok(scope.run(&batch).await?)
}

/// Queues the jobs that learn what was left out because a domain was not open.
pub(crate) async fn learn_left_out(
    parts: &Parts,
    batch: &mut Batch,
    scope: &Scope,
    request: &Request,
    name: &str,
) -> Result<()> {
    let now = micros(request.moment.now);
    let mut tasks: Vec<Task> = Vec::new();
    if parts.statements {
        let mentioning = domain_question::turns(scope, name).await?;
        let turns = session::turns_by_id(scope, &mentioning).await?;
        let find = move || {
            let stating = turns.iter().filter(|turn| !explicit::find(turn, &[]).is_empty());
            stating.map(|turn| turn.id).collect::<Vec<_>>()
        };
        let stating = parts.cpu.run(find).await?;
        tasks.extend(stating.into_iter().map(|turn| Task::Statement { turn }));
    }
    if parts.learns() {
        let sessions = left_out::sessions_of_domain(scope, name, MAX_RELEARNED_SESSIONS);
        let relearn = |session| Task::Relearn { domain: name.to_owned(), session };
        tasks.extend(sessions.await?.into_iter().map(relearn));
    }
    for (number, task) in tasks.iter().enumerate() {
        let id = request.job_id(&format!("opened {number}"));
        job::queue_unless_waiting(batch, scope, id, task, now, now);
    }
    Ok(())
}

/// Maximum number of sessions that are learned from again when a domain is opened.
const MAX_RELEARNED_SESSIONS: i64 = 20;

/// Every domain, and whether the user has opened it.
pub(crate) async fn domains(scope: &Scope) -> Result<Vec<(Domain, bool)>> {
    let (all, opened) = try_join!(domain::of_tenant(scope), domain::opened(scope))?;
    let is_open = |name: &str| opened.iter().any(|(domain, _)| domain == name);
    Ok(all.into_iter().map(|domain| (is_open(&domain.name), domain)).map(|(o, d)| (d, o)).collect())
}

/// Whether a domain is being opened or closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptIn {
    Open,
    Close,
}
