//! Daily statistics of how a user's memory grew, was used and was corrected.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::try_join;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan as _};
use lukasa_core::calibration::CalibratedFloor;
use lukasa_core::cluster::{Cluster, clusters};
use lukasa_core::quality::{Quality, QualityCounts};
use lukasa_core::{Caller, Tier, Timestamp, Verb, Version};
use lukasa_store::insights::{self as kept, DailyModelCalls, DailyRecalls};
use lukasa_store::{blocks, calibration, context, domain, portrait, quality, recallable};

use crate::error::{Error, Result};
use crate::parts::Parts;
use crate::state::{MemorySummary, summarize};
use crate::transaction::Transactions;

/// Maximum number of days in a report: retrievals are kept no longer.
pub const INSIGHT_DAYS: i64 = 90;

/// Statistics of one day.
#[derive(Debug, Clone, PartialEq)]
pub struct DayStatistics {
    pub day: Date,
    /// Memories that were stated.
    pub saved: i64,
    /// Memories that were extracted from chats.
    pub learned: i64,
    /// Memories that began as proposals.
    pub proposed: i64,
    pub confirmed: i64,
    pub rejected: i64,
    pub corrected: i64,
    pub forgotten: i64,
    /// Totals at the end of the day, by tier.
    pub strong: i64,
    pub tentative: i64,
    pub candidate: i64,
    /// Totals at the end of the day by domain, without candidates; memories without a domain are
    /// under the empty string.
    pub domains: BTreeMap<String, i64>,
    pub recalls: Option<DailyRecalls>,
    pub asked: Option<DailyModelCalls>,
}

/// A range of days without gaps, and the current totals by domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Insights {
    pub days: Vec<DayStatistics>,
    /// Active memories by domain; those without one are under the empty string.
    pub domains: Vec<(String, i64)>,
    /// Quality figures of the whole range.
    pub quality: Quality,
    /// The calibrated minimum confidences.
    pub floors: Vec<CalibratedFloor>,
}

/// Maximum number of memories that are clustered, the most important first.
const MAX_CLUSTERED: i64 = 2_000;

/// Statistics about one user's memory.
#[derive(Clone)]
pub struct Statistics {
    parts: Arc<Parts>,
    transactions: Transactions,
}

impl Statistics {
    pub(crate) fn new(parts: Arc<Parts>, transactions: Transactions) -> Self {
        Self { parts, transactions }
    }

    /// Statistics of the last `days` days, including today.
    pub async fn report(&self, caller: &Caller, days: i64, now: Timestamp) -> Result<Insights> {
        if !(1..=INSIGHT_DAYS).contains(&days) {
            return Err(Error::invalid("days", "between 1 and 90"));
        }
        let today = now.to_zoned(TimeZone::UTC).date();
        let first = today.saturating_sub((days - 1).days());
        let from = midnight(first)?;
        let until = midnight(today)? + SignedDuration::from_hours(24);
        let scope = self.transactions.read(caller, now).await?;
        let (done, began, risen, recalls, asked, stats, counts, floors) = tokio::try_join!(
            kept::operations(&scope, from, until),
            kept::first_known(&scope, from, until),
            kept::net_changes(&scope, from, until),
            kept::recalls(&scope, from, until),
            kept::model_calls(&scope, from, until),
            context::stats(&scope, now),
            quality::counts(&scope, from, now),
            calibration::floors(&scope),
        )?;
        let on = |day: Date, verb: Verb| -> i64 {
            let found = done.iter().find(|(at, name, _)| *at == day && name == verb.as_str());
            found.map_or(0, |(.., count)| *count)
        };
        let first_on = |day: Date, of: fn(&(bool, bool)) -> bool| -> i64 {
            let found = began.iter().filter(|(at, how, _)| *at == day && of(how));
            found.map(|(.., count)| count).sum()
        };
        let mut totals = [0_i64; 3];
        let mut domains = BTreeMap::new();
        let mut list = Vec::new();
        for day in first.series(1.day()).take_while(|day| *day <= today) {
            for (_, (tier, domain), by) in risen.iter().filter(|(at, ..)| *at == day) {
                totals[tier_index(*tier)] += by;
                if *tier != Tier::Candidate {
                    *domains.entry(domain.clone()).or_default() += by;
                }
            }
            domains.retain(|_, count| *count > 0);
            list.push(DayStatistics {
                day,
                saved: first_on(day, |(extracted, proposed)| !extracted && !proposed),
                learned: first_on(day, |(extracted, proposed)| *extracted && !proposed),
                proposed: first_on(day, |(_, proposed)| *proposed),
                confirmed: on(day, Verb::Confirm),
                rejected: on(day, Verb::Reject),
                corrected: on(day, Verb::Correct),
                forgotten: on(day, Verb::Forget),
                strong: totals[tier_index(Tier::Strong)],
                tentative: totals[tier_index(Tier::Tentative)],
                candidate: totals[tier_index(Tier::Candidate)],
                domains: domains.clone(),
                recalls: recalls.iter().find(|recalls| recalls.day == day).cloned(),
                asked: asked.iter().find(|asked| asked.day == day).cloned(),
            });
        }
        let quality = Quality::from(&counts);
        Ok(Insights { days: list, domains: stats.by_domain, quality, floors })
    }

    /// Quality figures over the users of the database, for operators, and how many users there are.
    /// At most the first `max_users` users are read, each in a scope of their own.
    pub async fn quality_of_users(
        &self,
        days: i64,
        max_users: i64,
        now: Timestamp,
    ) -> Result<(Quality, i64)> {
        let from = now - SignedDuration::from_hours(24 * days.clamp(1, INSIGHT_DAYS));
        let mut counts = QualityCounts::default();
        for (tenant, user) in self.parts.store.list_user_ids(None, max_users).await? {
            let scope = self.parts.store.read(tenant, user).await?;
            counts += quality::counts(&scope, from, now).await?;
        }
        Ok((Quality::from(&counts), counts.users))
    }

    /// The clusters of a user's memories, the largest first, with the memories they are made of.
    pub async fn clusters(
        &self,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<(Vec<Cluster>, Vec<Version>)> {
        let scope = self.transactions.read(caller, now).await?;
        let (mut versions, closed, links) = try_join!(
            portrait::material(&scope, now, MAX_CLUSTERED),
            domain::closed_domains(&scope),
            recallable::links(&scope, None),
        )?;
        // Nothing of the database is kept while the clusters are computed.
        drop(scope);
        let group = move || {
            versions.retain(|v| v.claim.domain.as_ref().is_none_or(|name| !closed.contains(name)));
            (clusters(&versions, &links), versions)
        };
        self.parts.cpu.run(group).await
    }

    /// Reads all of a user's memory, and counts and hashes it.
    pub async fn summary(&self, caller: &Caller, now: Timestamp) -> Result<MemorySummary> {
        let scope = self.transactions.read(caller, now).await?;
        blocks::allow_long_statements(&scope).await?;
        summarize(&scope, &self.parts.cpu).await
    }
}

fn tier_index(tier: Tier) -> usize {
    match tier {
        Tier::Strong => 0,
        Tier::Tentative => 1,
        Tier::Candidate => 2,
    }
}

fn midnight(day: Date) -> Result<Timestamp> {
    let start = day.to_zoned(TimeZone::UTC);
    Ok(start.map_err(|_| Error::invalid("days", "out of the range of the calendar"))?.timestamp())
}
