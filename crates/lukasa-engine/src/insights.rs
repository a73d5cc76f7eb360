//! How a person's memory has grown, been used and been corrected, day by day.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan as _};
use lukasa_core::{Caller, Tier, Timestamp, Verb};
use lukasa_store::context;
use lukasa_store::insights::{self as kept, Asked, Recalls};

use crate::Engine;
use crate::error::{Error, Result};

/// The most days that can be looked back on: retrievals are kept no longer.
pub const INSIGHT_DAYS: i64 = 90;

/// One day of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Day {
    pub day: Date,
    /// Memories that were told.
    pub saved: i64,
    /// Memories that were extracted from chats.
    pub learned: i64,
    /// Memories that began by waiting for a yes.
    pub proposed: i64,
    pub confirmed: i64,
    pub rejected: i64,
    pub corrected: i64,
    pub forgotten: i64,
    /// How many there were at the end of it, of each tier.
    pub strong: i64,
    pub tentative: i64,
    pub candidate: i64,
    /// How many there were at the end of it in each domain, candidates aside; those without one under
    /// the empty word.
    pub domains: BTreeMap<String, i64>,
    pub recalls: Option<Recalls>,
    pub asked: Option<Asked>,
}

/// A stretch of days, each of them there, and what there is now by domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Insights {
    pub days: Vec<Day>,
    /// Active memories by domain; those without one under the empty word.
    pub domains: Vec<(String, i64)>,
}

impl Engine {
    /// The last `days` days, today among them.
    pub async fn insights(&self, caller: &Caller, days: i64, now: Timestamp) -> Result<Insights> {
        if !(1..=INSIGHT_DAYS).contains(&days) {
            return Err(Error::invalid("days", "between 1 and 90"));
        }
        let today = now.to_zoned(TimeZone::UTC).date();
        let first = today.saturating_sub((days - 1).days());
        let from = midnight(first)?;
        let until = midnight(today)? + SignedDuration::from_hours(24);
        let scope = self.reading(caller, now).await?;
        let (done, began, risen, recalls, asked, stats) = tokio::try_join!(
            kept::operations(&scope, from, until),
            kept::first_known(&scope, from, until),
            kept::risen(&scope, from, until),
            kept::recalls(&scope, from, until),
            kept::asked(&scope, from, until),
            context::stats(&scope, now),
        )?;
        let on = |day: Date, verb: Verb| -> i64 {
            let found = done.iter().find(|(at, name, _)| *at == day && name == verb.as_str());
            found.map_or(0, |(.., count)| *count)
        };
        let first_on = |day: Date, of: fn(&(bool, bool)) -> bool| -> i64 {
            let found = began.iter().filter(|(at, how, _)| *at == day && of(how));
            found.map(|(.., count)| count).sum()
        };
        let mut there = [0_i64; 3];
        let mut domains = BTreeMap::new();
        let mut list = Vec::new();
        for day in first.series(1.day()).take_while(|day| *day <= today) {
            for (_, (tier, domain), by) in risen.iter().filter(|(at, ..)| *at == day) {
                there[place(*tier)] += by;
                if *tier != Tier::Candidate {
                    *domains.entry(domain.clone()).or_default() += by;
                }
            }
            domains.retain(|_, count| *count > 0);
            list.push(Day {
                day,
                saved: first_on(day, |(extracted, proposed)| !extracted && !proposed),
                learned: first_on(day, |(extracted, proposed)| *extracted && !proposed),
                proposed: first_on(day, |(_, proposed)| *proposed),
                confirmed: on(day, Verb::Confirm),
                rejected: on(day, Verb::Reject),
                corrected: on(day, Verb::Correct),
                forgotten: on(day, Verb::Forget),
                strong: there[place(Tier::Strong)],
                tentative: there[place(Tier::Tentative)],
                candidate: there[place(Tier::Candidate)],
                domains: domains.clone(),
                recalls: recalls.iter().find(|recalls| recalls.day == day).cloned(),
                asked: asked.iter().find(|asked| asked.day == day).cloned(),
            });
        }
        Ok(Insights { days: list, domains: stats.by_domain })
    }
}

fn place(tier: Tier) -> usize {
    match tier {
        Tier::Strong => 0,
        Tier::Tentative => 1,
        Tier::Candidate => 2,
    }
}

fn midnight(day: Date) -> Result<Timestamp> {
    let start = day.to_zoned(TimeZone::UTC);
    Ok(start.map_err(|_| Error::invalid("days", "beyond what a calendar holds"))?.timestamp())
}
