//! A person's memory over time: what came and went on each day, how long recall took, what models were
//! asked. Counts and times only; days are those of UTC.

use jiff::civil::Date;
use lukasa_core::{Tier, Timestamp};

use crate::error::Result;
use crate::row::{Columns, all};
use crate::scope::{Param, Scope};

/// How many of one kind there were on a day.
pub type Counted<K> = (Date, K, i64);

/// How the retrievals of one day went.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalls {
    pub day: Date,
    pub count: i64,
    /// Those that had to do without something.
    pub degraded: i64,
    /// Those whose prompt began with the same block as the one before in their chat.
    pub frozen: i64,
    /// How many tokens they put into a prompt, on average.
    pub tokens: f64,
    /// How long the middle one took, and the slowest of twenty and of a hundred, in milliseconds.
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

/// What chat models were asked on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub day: Date,
    pub calls: i64,
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub cost_micros: i64,
}

/// How often each thing was done, by verb.
pub async fn operations(
    scope: &Scope,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<Counted<String>>> {
    const SQL: &str = "select (recorded_at at time zone 'UTC')::date, verb, count(*) from operation \
                        where user_id = $1 and recorded_at >= $2 and recorded_at < $3 group by 1, 2";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &from, &until];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "operation");
        Ok((c.take()?, c.take()?, c.take()?))
    })
}

/// How many memories there first were on each day, by whether they were extracted from a chat and
/// whether they waited for a yes.
pub async fn first_known(
    scope: &Scope,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<Counted<(bool, bool)>>> {
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

/// What a memory is counted under: its tier, and its domain (none is the empty word).
pub type Standing = (Tier, String);

/// By how much the number of memories of each standing rose or fell on each day. What stood at the
/// beginning counts as risen on the first.
pub async fn risen(
    scope: &Scope,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<Counted<Standing>>> {
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

pub async fn recalls(scope: &Scope, from: Timestamp, until: Timestamp) -> Result<Vec<Recalls>> {
    const SQL: &str = "with each as (select (at at time zone 'UTC')::date as day, \
                jsonb_array_length(trace -> 'degraded') > 0 as degraded, \
                coalesce(etag = lag(etag) over (partition by session_id order by at) \
                         and session_id is not null, false) as frozen, \
                (trace #>> '{budget,baseline}')::float8 \
                  + (trace #>> '{budget,dynamic}')::float8 as tokens, \
                (select sum(value::float8) / 1000 from jsonb_each_text(trace -> 'micros')) as took \
           from retrieval where user_id = $1 and at >= $2 and at < $3) \
         select day, count(*), count(*) filter (where degraded), count(*) filter (where frozen), \
                coalesce(avg(tokens), 0), \
                coalesce(percentile_cont(0.5) within group (order by took), 0), \
                coalesce(percentile_cont(0.95) within group (order by took), 0), \
                coalesce(percentile_cont(0.99) within group (order by took), 0) \
           from each group by day";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &from, &until];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "retrieval");
        Ok(Recalls {
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

pub async fn asked(scope: &Scope, from: Timestamp, until: Timestamp) -> Result<Vec<Asked>> {
    const SQL: &str = "select (at at time zone 'UTC')::date, count(*), \
                         coalesce(sum(input_tokens), 0)::int8, coalesce(sum(output_tokens), 0)::int8, \
                         coalesce(sum(cost_micros), 0)::int8 \
                        from model_call where user_id = $1 and at >= $2 and at < $3 group by 1";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &from, &until];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "model_call");
        Ok(Asked {
            day: c.take()?,
            calls: c.take()?,
            input_tokens: c.take()?,
            output_tokens: c.take()?,
            cost_micros: c.take()?,
        })
    })
}
