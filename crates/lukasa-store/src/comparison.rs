//! Comparisons of memories: what has changed since the last one, which facts are similar, and the
//! results by pair.

use lukasa_core::consolidation::pairs::{
    ComparedPair, FactEdition, PairAnswer, PairReason, SimilarPair,
};
use lukasa_core::{FactId, Timestamp, Version};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::fact::{version, version_columns};
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Param, Scope};

/// How far the memories were compared: up to this fact among those known from this time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComparisonMark {
    pub known_from: Timestamp,
    pub fact: FactId,
}

/// The mark of the last comparison, if there was one.
pub async fn mark(scope: &Scope) -> Result<Option<ComparisonMark>> {
    const SQL: &str = "select known_from, fact_id from comparison where user_id = $1";
    one(&scope.query(SQL, &[&scope.user().uuid()]).await?, |row| {
        let mut c = Columns::of(row, "comparison");
        Ok(ComparisonMark { known_from: c.take()?, fact: FactId::from_uuid(c.take()?) })
    })
}

/// Up to `limit` active facts whose current version is newer than the mark, oldest first.
pub async fn changed_since(
    scope: &Scope,
    mark: Option<ComparisonMark>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<ComparisonMark>> {
    const SQL: &str = "select known_from, fact_id from fact_version where user_id = $1 \
           and known_until is null and state = 'active' \
           and valid_from <= $2 and (valid_until is null or valid_until > $2) \
           and ($3::timestamptz is null or (known_from, fact_id) > ($3, $4)) \
         order by known_from, fact_id limit $5";
    let known_from = mark.map(|mark| mark.known_from);
    let fact = mark.map(|mark| mark.fact.uuid());
    let params: [Param<'_>; 5] = [&scope.user().uuid(), &now, &known_from, &fact, &limit];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "fact_version");
        Ok(ComparisonMark { known_from: c.take()?, fact: FactId::from_uuid(c.take()?) })
    })
}

/// Records how far the memories were compared.
pub fn set_mark(batch: &mut Batch, scope: &Scope, mark: ComparisonMark) {
    const SQL: &str = "insert into comparison (user_id, tenant_id, known_from, fact_id) \
                       values ($1, $2, $3, $4) on conflict (user_id) do update \
                       set known_from = excluded.known_from, fact_id = excluded.fact_id";
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(mark.known_from),
            Box::new(mark.fact.uuid()),
        ],
    );
}

/// The active versions of these facts at `now`, and up to `limit` other ones, newest first.
pub async fn active(
    scope: &Scope,
    facts: &[FactId],
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null and state = 'active' \
           and valid_from <= $2 and (valid_until is null or valid_until > $2) \
          order by (fact_id = any($3)) desc, known_from desc, fact_id limit $4"
    );
    let facts: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &now, &facts, &limit];
    all(&scope.query(SQL, &params).await?, version)
}

/// Pairs of one of these facts with the active facts closest to it in meaning, by the vectors of an
/// embedding model: up to `per_fact` for each, with at least this similarity.
pub async fn similar(
    scope: &Scope,
    model: &str,
    facts: &[FactId],
    now: Timestamp,
    min_similarity: f32,
    per_fact: i64,
) -> Result<Vec<SimilarPair>> {
    const SQL: &str = "with active as materialized ( \
           select v.fact_id, e.vector from fact_version v join embedding e \
             on e.user_id = v.user_id and e.model = $2 and e.source_id = v.version_id and e.part = 0 \
            where v.user_id = $1 and v.known_until is null and v.state = 'active' \
              and v.valid_from <= $4 and (v.valid_until is null or v.valid_until > $4) \
            order by v.known_from desc limit 2000) \
         select a.fact_id, near.fact_id, near.similarity from active a, lateral ( \
           select b.fact_id, (1 - (a.vector <=> b.vector))::real as similarity from active b \
            where b.fact_id <> a.fact_id order by a.vector <=> b.vector limit $6) near \
          where a.fact_id = any($3) and near.similarity >= $5";
    let facts: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    let params: [Param<'_>; 6] =
        [&scope.user().uuid(), &model, &facts, &now, &min_similarity, &per_fact];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "embedding");
        Ok(SimilarPair {
            first: FactId::from_uuid(c.take()?),
            second: FactId::from_uuid(c.take()?),
            similarity: c.take()?,
        })
    })
}

fn compared_pair(row: &Row) -> Result<ComparedPair> {
    let mut c = Columns::of(row, "compared_pair");
    Ok(ComparedPair {
        older: FactEdition { fact: FactId::from_uuid(c.take()?), digest: c.take()? },
        newer: FactEdition { fact: FactId::from_uuid(c.take()?), digest: c.take()? },
        answer: c.word(PairAnswer::parse)?,
        reason: c.word(PairReason::parse)?,
    })
}

/// The results for pairs with one of these facts.
pub async fn results_of(scope: &Scope, facts: &[FactId]) -> Result<Vec<ComparedPair>> {
    const SQL: &str = "select older_fact, older_digest, newer_fact, newer_digest, answer, reason \
           from compared_pair where user_id = $1 \
            and (older_fact = any($2) or newer_fact = any($2))";
    let facts: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    all(&scope.query(SQL, &[&scope.user().uuid(), &facts]).await?, compared_pair)
}

/// Up to `limit` results that are not applied yet, those of rules first, then oldest first.
pub async fn unapplied(scope: &Scope, limit: i64) -> Result<Vec<ComparedPair>> {
    const SQL: &str = "select older_fact, older_digest, newer_fact, newer_digest, answer, reason \
           from compared_pair where user_id = $1 and applied_at is null \
          order by prompt is not null, compared_at, older_fact, newer_fact limit $2";
    all(&scope.query(SQL, &[&scope.user().uuid(), &limit]).await?, compared_pair)
}

/// Stores the result for a pair, replacing the one for earlier words. `prompt` is the name of the
/// prompt, if a model compared them.
pub fn store(
    batch: &mut Batch,
    scope: &Scope,
    pair: &ComparedPair,
    prompt: Option<&'static str>,
    at: Timestamp,
) {
    const SQL: &str = "insert into compared_pair (user_id, tenant_id, older_fact, older_digest, \
           newer_fact, newer_digest, answer, reason, prompt, compared_at, applied_at) \
         select $1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::uuid, $6::uuid, $7::text, \
                $8::text, $9::text, $10::timestamptz, \
                case when $7 = 'unrelated' then $10::timestamptz end \
          where (select count(*) from fact where user_id = $1 and fact_id in ($3, $5)) = 2 \
         on conflict (user_id, older_fact, newer_fact) do update \
         set older_digest = excluded.older_digest, newer_digest = excluded.newer_digest, \
             answer = excluded.answer, reason = excluded.reason, prompt = excluded.prompt, \
             compared_at = excluded.compared_at, applied_at = excluded.applied_at";
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(pair.older.fact.uuid()),
            Box::new(pair.older.digest),
            Box::new(pair.newer.fact.uuid()),
            Box::new(pair.newer.digest),
            Box::new(pair.answer.as_str()),
            Box::new(pair.reason.as_str()),
            Box::new(prompt),
            Box::new(at),
        ],
    );
}

/// Marks the result for a pair as applied.
pub fn mark_applied(batch: &mut Batch, scope: &Scope, pair: &ComparedPair, at: Timestamp) {
    const SQL: &str = "update compared_pair set applied_at = $4 \
                        where user_id = $1 and older_fact = $2 and newer_fact = $3";
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(pair.older.fact.uuid()),
            Box::new(pair.newer.fact.uuid()),
            Box::new(at),
        ],
    );
}
