//! Queries of memories, at any point on both time axes.

use std::collections::BTreeMap;

use futures_util::try_join;
use lukasa_core::{
    AsOf, Caller, FactId, Operation, OperationId, State, Status, Timestamp, Version, VersionId,
    status_of,
};
use lukasa_store::fact::HistoryPlace;
use lukasa_store::list::{ListFilter, ListPlace, ListedVersion, page};
use lukasa_store::{Scope, fact, operation};
use serde::{Deserialize, Serialize};

use super::Facts;
use super::target::Target;
use crate::closed_domains::HiddenDomains;
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryRating, Point, as_memory, current};
use crate::transaction::check_not_deleted;
use crate::zone::{remembered_zone, timezone_version};

/// A listing request.
#[derive(Debug, Clone)]
pub struct Listing {
    pub filter: ListFilter,
    pub point: Point,
    pub after: Option<Cursor>,
    pub limit: usize,
}

/// The end of a page, with the point in time it was read at: the next page is of the same list,
/// whatever was written in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    pub at: AsOf,
    pub place: ListPlace,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub memories: Vec<Memory>,
    /// The user's ratings of these memories.
    pub ratings: BTreeMap<FactId, MemoryRating>,
    pub next: Option<Cursor>,
}

/// A version in the history of its fact.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryEntry {
    pub version: Version,
    pub status: Status,
    /// The next edition of the claim, if one followed.
    pub superseded_by: Option<VersionId>,
}

/// One page of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPage {
    pub entries: Vec<HistoryEntry>,
    /// The last version of the page, if more follow.
    pub next: Option<HistoryPlace>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OperationLogPage {
    pub operations: Vec<Operation>,
    pub next: Option<Timestamp>,
}

impl Facts {
    /// One page of a user's memories. A page can be shorter than its limit and have a next one, because
    /// memories of closed domains are left out for callers other than the user.
    pub async fn list(&self, caller: &Caller, listing: &Listing, now: Timestamp) -> Result<Page> {
        let scope = self.transactions.read_at(caller, listing.point).await?;
        let at = match listing.after {
            Some(cursor) => Some(cursor.at),
            None if listing.point.is_now() => None,
            None => {
                let mut at = listing.point.resolve(now);
                if listing.point.known_at.is_none() {
                    // The end of the log, not the clock: writes in progress come after it, and the
                    // next page must not show them.
                    at.known = operation::last_at(&scope).await?.unwrap_or(now);
                }
                Some(at)
            }
        };
        let limit = listing.limit;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let place = listing.after.map(|cursor| cursor.place);
        let end_of_log = async {
            match at {
                None => Ok(operation::last_at(&scope).await?),
                Some(_) => Ok(None),
            }
        };
        let found = async { Ok(page(&scope, &listing.filter, now, at, place, wanted).await?) };
        // One round trip.
        let ((), mut found, last_at, hidden) = try_join!(
            check_not_deleted(&scope, now),
            found,
            end_of_log,
            HiddenDomains::load(&scope, caller)
        )?;
        let more = found.len() > limit;
        found.truncate(limit);
        let point = match at {
            Some(at) => at,
            // The end of the log, for the same reason.
            None if more => AsOf { valid: now, known: last_at.unwrap_or(now) },
            None => AsOf::now(now),
        };
        let end = found.last().filter(|_| more).map(|last| Cursor {
            at: point,
            place: ListPlace { fact: last.version.fact, version: last.version.id },
        });
        found.retain(|listed| !hidden.hides(&listed.version));
        let rating = |listed: &ListedVersion| {
            let rating = MemoryRating::of_usage(listed.rating.as_deref()?);
            Some((listed.version.fact, rating))
        };
        let ratings = found.iter().filter_map(rating).collect();
        let memories = found
            .into_iter()
            .map(|f| Memory {
                status: status_listed(&f.version, point, f.replaced),
                version: f.version,
            })
            .collect();
        Ok(Page { memories, ratings, next: end })
    }

    /// One memory: as of now, or as of a point on the time axes.
    pub async fn get(
        &self,
        caller: &Caller,
        target: &Target,
        point: Point,
        now: Timestamp,
    ) -> Result<Memory> {
        let scope = self.transactions.read_at(caller, point).await?;
        if point.is_now() {
            let ((), known, hidden) = try_join!(
                check_not_deleted(&scope, now),
                target.known(&scope, now),
                HiddenDomains::load(&scope, caller)
            )?;
            let version = current(&known, now).ok_or(Error::MemoryNotFound)?;
            hidden.check(version)?;
            return Ok(as_memory(version, &known, now));
        }
        check_not_deleted(&scope, now).await?;
        let id = target.fact(&scope, now).await?;
        let at = point.resolve(now);
        let known = match point.known_at {
            Some(known_at) => fact::known_at(&scope, id, known_at).await?,
            None => fact::known_now(&scope, id).await?,
        };
        let active_version =
            known.iter().find(|v| v.state == State::Active && v.valid.contains(at.valid));
        let version = active_version.ok_or(Error::MemoryNotFound)?.clone();
        HiddenDomains::load(&scope, caller).await?.check(&version)?;
        Ok(Memory { version, status: Status::Active })
    }

    /// One page of the versions a memory ever had, in the order they became known.
    pub async fn history(
        &self,
        caller: &Caller,
        target: &Target,
        (after, limit): (Option<HistoryPlace>, usize),
        now: Timestamp,
    ) -> Result<HistoryPage> {
        let scope = self.parts.store.read_as(caller).await?;
        check_not_deleted(&scope, now).await?;
        let id = target.fact(&scope, now).await?;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut versions = fact::history_page(&scope, id, after, wanted).await?;
        if versions.is_empty() && fact::existing(&scope, &[id]).await?.is_empty() {
            return Err(Error::MemoryNotFound);
        }
        let is_last = versions.len() <= limit;
        versions.truncate(limit);
        let hidden = HiddenDomains::load(&scope, caller).await?;
        versions.iter().try_for_each(|(version, _)| hidden.check(version))?;
        let next = versions.last().filter(|_| !is_last).map(|(last, _)| HistoryPlace {
            known_from: last.known.from,
            valid_from: last.valid.from,
            version: last.id,
        });
        Ok(HistoryPage { entries: history_entries(&scope, id, versions, now).await?, next })
    }

    /// The latest versions of a memory, in the order they became known.
    pub async fn latest_history(
        &self,
        caller: &Caller,
        target: &Target,
        limit: i64,
        now: Timestamp,
    ) -> Result<Vec<HistoryEntry>> {
        let scope = self.parts.store.read_as(caller).await?;
        check_not_deleted(&scope, now).await?;
        let id = target.fact(&scope, now).await?;
        let versions = fact::latest_history(&scope, id, limit).await?;
        if versions.is_empty() {
            return Err(Error::MemoryNotFound);
        }
        let hidden = HiddenDomains::load(&scope, caller).await?;
        versions.iter().try_for_each(|(version, _)| hidden.check(version))?;
        history_entries(&scope, id, versions, now).await
    }

    /// The log of what was written, newest first.
    pub async fn operations(
        &self,
        caller: &Caller,
        of: Option<FactId>,
        before: Option<Timestamp>,
        limit: usize,
        now: Timestamp,
    ) -> Result<OperationLogPage> {
        let scope = self.parts.store.read_as(caller).await?;
        check_not_deleted(&scope, now).await?;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut operations = operation::page(&scope, of, before, wanted).await?;
        let more = operations.len() > limit;
        operations.truncate(limit);
        let next = operations.last().filter(|_| more).map(|operation| operation.at);
        Ok(OperationLogPage { operations, next })
    }

    pub async fn operation(
        &self,
        caller: &Caller,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Operation> {
        let scope = self.parts.store.read_as(caller).await?;
        check_not_deleted(&scope, now).await?;
        operation::find(&scope, id).await?.ok_or(Error::OperationNotFound)
    }

    /// The user's time zone, which is itself a memory: the hard one under `personal/timezone`.
    pub async fn timezone(&self, caller: &Caller, now: Timestamp) -> Result<Option<String>> {
        let scope: Scope = self.parts.store.read_as(caller).await?;
        let zone = remembered_zone(&scope, now).await?;
        Ok(zone.and_then(|zone| zone.iana_name().map(str::to_owned)))
    }

    /// The memory with the user's time zone.
    pub async fn timezone_memory(&self, caller: &Caller, now: Timestamp) -> Result<Option<Memory>> {
        let scope = self.transactions.read(caller, now).await?;
        let Some(kept) = timezone_version(&scope, now).await? else { return Ok(None) };
        let known = fact::known_now(&scope, kept.fact).await?;
        Ok(Some(as_memory(&kept, &known, now)))
    }
}

fn status_listed(version: &Version, point: AsOf, replaced: bool) -> Status {
    let known = point.known.max(version.known.from);
    status_of(version, AsOf { known, ..point }, replaced)
}

fn history_status(version: &Version, known: &[Version], now: Timestamp) -> Status {
    if version.known.until.is_some() && version.state == State::Active {
        return Status::Superseded;
    }
    as_memory(version, known, now).status
}

/// Versions of a fact, each with the next edition of its claim, as entries of its history.
async fn history_entries(
    scope: &Scope,
    id: FactId,
    versions: Vec<(Version, Option<VersionId>)>,
    now: Timestamp,
) -> Result<Vec<HistoryEntry>> {
    let known = fact::known_now(scope, id).await?;
    let entry = |(version, superseded_by): (Version, Option<VersionId>)| HistoryEntry {
        status: history_status(&version, &known, now),
        superseded_by,
        version,
    };
    Ok(versions.into_iter().map(entry).collect())
}
