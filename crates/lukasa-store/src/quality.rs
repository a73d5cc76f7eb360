//! Counts for the quality figures of one user over a period: answers, proposals, new facts, learning
//! and retrievals. Counts and times only.

use lukasa_core::Timestamp;
use lukasa_core::quality::{
    ASSUMED_WINDOW, AnswerCounts, LearnedCounts, ProposalCounts, QualityCounts, RatingCounts,
    RecallCounts, WrittenCounts,
};
use tokio_postgres::Row;

use crate::error::Result;
use crate::row::{Columns, one};
use crate::scope::{Param, Scope};

/// All counts of a user.
pub async fn counts(scope: &Scope, from: Timestamp, until: Timestamp) -> Result<QualityCounts> {
    Ok(QualityCounts {
        users: 1,
        answers: answers(scope, from, until).await?,
        proposals: proposals(scope, from, until).await?,
        written: written(scope, from, until).await?,
        learned: learned(scope, from, until).await?,
        recall: recalls(scope, from, until).await?,
        ratings: ratings(scope, from, until).await?,
    })
}

async fn query<T: Default>(
    scope: &Scope,
    sql: &'static str,
    (from, until): (Timestamp, Timestamp),
    read: impl Fn(&Row) -> Result<T>,
) -> Result<T> {
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &from, &until];
    Ok(one(&scope.query(sql, &params).await?, read)?.unwrap_or_default())
}

/// Answers after retrievals. An answer is what an assistant said in a session after a retrieval and
/// before the next one.
async fn answers(scope: &Scope, from: Timestamp, until: Timestamp) -> Result<AnswerCounts> {
    const SQL: &str = "with asked as (select r.retrieval_id, r.session_id, r.at, \
                r.facts || coalesce(b.facts, '{}') as facts, \
                coalesce((r.trace ->> 'explained')::boolean, false) as explained \
           from retrieval r left join given_baseline b \
             on b.user_id = r.user_id and b.etag = r.etag and b.user_id = $1 \
          where r.user_id = $1 and r.at >= $2 and r.at <= $3 and r.session_id is not null \
            and not r.trace ? 'preview'), \
         said as ( \
         select session_id, at, retrieval_id, null::uuid as turn_id from asked \
         union all \
         select session_id, recorded_at, null, turn_id from turn \
          where user_id = $1 and role = 'assistant' and withdrawn_by is null \
            and recorded_at >= $2 and session_id in (select session_id from asked)), \
         placed as (select *, count(retrieval_id) over (partition by session_id \
                                order by at, turn_id nulls first) as place from said), \
         answered as (select (array_agg(retrieval_id) filter (where turn_id is null))[1] as retrieval_id, \
                array_agg(turn_id) filter (where turn_id is not null) as turns \
           from placed where place > 0 group by session_id, place having count(turn_id) > 0), \
         cited as (select fact_id, retrieval_id, turn_id from usage \
          where user_id = $1 and type = 'cited' and at >= $2) \
         select count(*), count(*) filter (where cardinality(facts) > 0), \
                count(*) filter (where exists (select 1 from cited c \
                  where c.fact_id = any(asked.facts) \
                    and (c.retrieval_id = answered.retrieval_id or c.turn_id = any(turns)))), \
                count(*) filter (where explained) \
           from answered join asked using (retrieval_id)";
    query(scope, SQL, (from, until), |row| {
        let mut c = Columns::of(row, "retrieval");
        Ok(AnswerCounts {
            all: c.take()?,
            with_memories: c.take()?,
            citing: c.take()?,
            explained: c.take()?,
        })
    })
    .await
}

/// The user's decisions on proposals, without those that were undone.
async fn proposals(scope: &Scope, from: Timestamp, until: Timestamp) -> Result<ProposalCounts> {
    const SQL: &str = "select count(*) filter (where new.state = 'active'), \
                count(*) filter (where new.state = 'active' and new.number > old.number), \
                count(*) filter (where new.state = 'forgotten') \
           from fact_version old \
           join fact_version new on new.user_id = $1 and new.fact_id = old.fact_id \
            and new.opened_by = old.closed_by \
           join operation o on o.user_id = $1 and o.operation_id = old.closed_by \
          where old.user_id = $1 and old.state = 'proposed' \
            and old.known_until >= $2 and old.known_until <= $3 \
            and o.verb in ('confirm', 'reject', 'resolve', 'sync') \
            and o.origin = 'user_said' and not o.extracted \
            and not exists (select 1 from operation u where u.user_id = $1 \
                  and u.undoes = o.operation_id \
                  and not exists (select 1 from operation again where again.user_id = $1 \
                        and again.undoes = u.operation_id))";
    query(scope, SQL, (from, until), |row| {
        let mut c = Columns::of(row, "fact_version");
        Ok(ProposalCounts { accepted: c.take()?, edited: c.take()?, rejected: c.take()? })
    })
    .await
}

/// New facts, and the facts that are active at the end of the period.
async fn written(scope: &Scope, from: Timestamp, until: Timestamp) -> Result<WrittenCounts> {
    const SQL: &str = "with first as (select distinct on (fact_id) known_from, state, extracted, confidence \
           from fact_version where user_id = $1 order by fact_id, version_id) \
         select count(*), count(*) filter (where state = 'proposed'), \
                count(confidence) filter (where extracted), \
                coalesce(sum(confidence::float8) filter (where extracted), 0), \
                (select count(*) from fact_version where user_id = $1 and state = 'active' \
                    and known_from <= $3 and (known_until is null or known_until > $3) \
                    and valid_from <= $3 and (valid_until is null or valid_until > $3)) \
           from first where known_from >= $2 and known_from <= $3";
    query(scope, SQL, (from, until), |row| {
        let mut c = Columns::of(row, "fact_version");
        Ok(WrittenCounts {
            facts: c.take()?,
            gated: c.take()?,
            extracted: c.take()?,
            confidence: c.take()?,
            active: c.take()?,
        })
    })
    .await
}

/// Conversations that were learned from. Passes from before tokens were counted are left out.
async fn learned(scope: &Scope, from: Timestamp, until: Timestamp) -> Result<LearnedCounts> {
    const SQL: &str = "select count(distinct session_id), \
                coalesce(sum((outcome #>> '{tokens,read}')::int8), 0)::int8, \
                coalesce(sum((outcome #>> '{tokens,learned}')::int8), 0)::int8 \
           from pass where user_id = $1 and state = 'applied' \
            and applied_at >= $2 and applied_at <= $3 and outcome -> 'tokens' is not null";
    query(scope, SQL, (from, until), |row| {
        let mut c = Columns::of(row, "pass");
        Ok(LearnedCounts {
            conversations: c.take()?,
            tokens_read: c.take()?,
            tokens_learned: c.take()?,
        })
    })
    .await
}

async fn recalls(scope: &Scope, from: Timestamp, until: Timestamp) -> Result<RecallCounts> {
    const SQL: &str = "with each as (select (trace #>> '{cache,hits}')::int8 as hits, \
                (trace #>> '{cache,misses}')::int8 as misses, \
                (select sum(value::float8) / 1000 from jsonb_each_text(trace -> 'micros')) as took, \
                nullif((trace #>> '{micros,rerank}')::float8 / 1000, 0) as rerank, \
                (trace #>> '{budget,baseline}')::int8 + (trace #>> '{budget,dynamic}')::int8 as tokens, \
                (trace #>> '{budget,limit}')::int8 as budget, \
                (trace #>> '{budget,cost_micros}')::int8 as cost, \
                coalesce((trace #>> '{budget,window}')::int8, $4) as size, \
                not coalesce((trace ->> 'searched')::boolean, true) as unsearched \
           from retrieval where user_id = $1 and at >= $2 and at <= $3 and not trace ? 'preview') \
         select count(*), count(*) filter (where unsearched), \
                coalesce(sum(hits), 0)::int8, coalesce(sum(misses), 0)::int8, \
                coalesce(percentile_cont(0.95) within group (order by took), 0), \
                count(rerank), coalesce(percentile_cont(0.95) within group (order by rerank), 0), \
                coalesce(percentile_cont(0.95) within group \
                  (order by tokens::float8 / greatest(size, 1)), 0), \
                coalesce(sum(tokens), 0)::int8, coalesce(sum(budget), 0)::int8, \
                coalesce(sum(cost), 0)::int8 \
                  + (select coalesce(sum(cost_micros), 0)::int8 from model_call \
                      where user_id = $1 and at >= $2 and at <= $3) \
           from each";
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &from, &until, &ASSUMED_WINDOW];
    let found = one(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "retrieval");
        Ok(RecallCounts {
            retrievals: c.take()?,
            unsearched: c.take()?,
            cache_hits: c.take()?,
            cache_misses: c.take()?,
            p95_ms: c.take()?,
            reranked: c.take()?,
            rerank_p95_ms: c.take()?,
            window_share_p95: c.take()?,
            tokens: c.take()?,
            budget: c.take()?,
            cost_micros: c.take()?,
        })
    })?;
    Ok(found.unwrap_or_default())
}

/// The user's ratings of memories.
async fn ratings(scope: &Scope, from: Timestamp, until: Timestamp) -> Result<RatingCounts> {
    const SQL: &str = "select count(*) filter (where type = 'rated_up'), \
                count(*) filter (where type = 'rated_down') \
           from usage where user_id = $1 and at >= $2 and at <= $3 \
            and type in ('rated_up', 'rated_down')";
    query(scope, SQL, (from, until), |row| {
        let mut c = Columns::of(row, "usage");
        Ok(RatingCounts { up: c.take()?, down: c.take()? })
    })
    .await
}
