//! Daily statistics of one user: facts added and removed, recall latency, and model calls. Counts
//! and times only; days are in UTC.

use jiff::civil::Date;
use lukasa_core::{Tier, Timestamp};

use crate::error::Result;
use crate::row::{Columns, all};
use crate::scope::{Param, Scope};

/// Day, kind and count.
pub type DailyCount<K> = (Date, K, i64);

/// Retrieval statistics of one day.
#[derive(Debug, Clone, PartialEq)]
pub struct DailyRecalls {
    pub day: Date,
    pub count: i64,
    /// Retrievals that were degraded.
    pub degraded: i64,
    /// Retrievals whose baseline was the same as in the previous retrieval of the session.
    pub frozen: i64,
    /// Average tokens put into a prompt.
    pub tokens: f64,
    /// Latency percentiles in milliseconds.
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

/// Chat model calls of one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyModelCalls {
    pub day: Date,
    pub calls: i64,
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub cost_micros: i64,
}

/// Operations per day, by verb.
pub async fn operations(
    scope: &Scope,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<DailyCount<String>>> {
    const SQL: &str = "select (recorded_at at time zone 'UTC')::date, verb, count(*) from operation \
                        where user_id = $1 and recorded_at >= $2 and recorded_at < $3 group by 1, 2";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &from, &until];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "operation");
        Ok((c.take()?, c.take()?, c.take()?))
    })
}

/// New facts per day, by whether they were extracted and whether they were proposals.
pub async fn first_known(
    scope: &Scope,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<DailyCount<(bool, bool)>>> {
    const SQL: &str = "with first as (select distinct on (fact_id) known_from, extracted, state from fact_version \
                         where user_id = $1 order by fact_id, version_id) \
         select (known_from at time zone 'UTC')::date, extracted, state = 'proposed', count(*) \
           from first where known_from >= $2 and known_from < $3 group by 1, 2, 3";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &from, &until];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "fact_version");
        Ok((c.take()?, (c.take()?, c.take()?), c.take()?))
    })
}

/// The group a fact is counted in: its tier, and its domain (the empty string means none).
pub type FactGroup = (Tier, String);

/// Net change of the number of facts in each group per day. Facts that existed at the beginning
/// count as added on the first day.
pub async fn net_changes(
    scope: &Scope,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<DailyCount<FactGroup>>> {
    const SQL: &str = "with span as (select tier, coalesce(domain, '') as domain, \
                              greatest(known_from, valid_from) as began, \
                              least(known_until, valid_until) as ended \
                         from fact_version \
                        where user_id = $1 and state in ('active', 'candidate')), \
              lived as (select * from span where ended is null or ended > began) \
         select (greatest(began, $2) at time zone 'UTC')::date, tier, domain, count(*) from lived \
          where began < $3 and (ended is null or ended > $2) group by 1, 2, 3 \
         union all \
         select (ended at time zone 'UTC')::date, tier, domain, -count(*) from lived \
          where ended > $2 and ended < $3 group by 1, 2, 3";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &from, &until];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "fact_version");
        Ok((c.take()?, (c.word(Tier::parse)?, c.take()?), c.take()?))
    })
}

pub async fn recalls(
    scope: &Scope,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<DailyRecalls>> {
    const SQL: &str = "with each as (select (at at time zone 'UTC')::date as day, \
                jsonb_array_length(trace -> 'degraded') > 0 as degraded, \
                coalesce(etag = lag(etag) over (partition by session_id order by at) \
                         and session_id is not null, false) as frozen, \
                (trace #>> '{budget,baseline}')::float8 \
                  + (trace #>> '{budget,dynamic}')::float8 as tokens, \
                (select sum(value::float8) / 1000 from jsonb_each_text(trace -> 'micros')) as took \
           from retrieval where user_id = $1 and at >= $2 and at < $3 and not trace ? 'preview') \
         select day, count(*), count(*) filter (where degraded), count(*) filter (where frozen), \
                coalesce(avg(tokens), 0), \
                coalesce(percentile_cont(0.5) within group (order by took), 0), \
                coalesce(percentile_cont(0.95) within group (order by took), 0), \
                coalesce(percentile_cont(0.99) within group (order by took), 0) \
           from each group by day";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &from, &until];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "retrieval");
        Ok(DailyRecalls {
            day: c.take()?,
            count: c.take()?,
            degraded: c.take()?,
            frozen: c.take()?,
            tokens: c.take()?,
            p50: c.take()?,
            p95: c.take()?,
            p99: c.take()?,
        })
    })
}

pub async fn model_calls(
    scope: &Scope,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<DailyModelCalls>> {
    const SQL: &str = "select (at at time zone 'UTC')::date, count(*), \
                         coalesce(sum(input_tokens), 0)::int8, coalesce(sum(output_tokens), 0)::int8, \
                         coalesce(sum(cost_micros), 0)::int8 \
                        from model_call where user_id = $1 and at >= $2 and at < $3 group by 1";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &from, &until];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "model_call");
        Ok(DailyModelCalls {
            day: c.take()?,
            calls: c.take()?,
            input_tokens: c.take()?,
            output_tokens: c.take()?,
            cost_micros: c.take()?,
        })
    })
}
