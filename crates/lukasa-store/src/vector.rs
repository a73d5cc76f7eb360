//! The vectors of a user's passages: all of them, or those since a revision.

use half::f16;
use lukasa_core::model::EmbeddingModel;
use pgvector::HalfVector;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::row::{Columns, all};
use crate::scope::{Param, Scope};

/// A passage's vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    pub source: Uuid,
    pub part: i16,
    pub values: Vec<f16>,
}

pub(crate) fn vector(row: &Row) -> Result<Vector> {
    let mut c = Columns::of(row, "embedding");
    let (source, part) = (c.take()?, c.take()?);
    let values: HalfVector = c.take()?;
    Ok(Vector { source, part, values: values.into() })
}

/// The vectors of memories and episodes since a revision. An index has all of these columns.
macro_rules! memory_vectors {
    () => {
        "select source_id, part, vector from embedding where user_id = $1 and model = $2 \
           and revision > $3 and dimension <= 1024 and not of_turn"
    };
}

/// The others: of turns that are not packed, and those that are too long for that index.
macro_rules! other_vectors {
    () => {
        "select source_id, part, vector from embedding where user_id = $1 and model = $2 \
           and revision > $3 and (dimension > 1024 or of_turn)"
    };
}

/// The same of packed sessions.
macro_rules! packed_vectors {
    () => {
        "select s.source_id, s.part, s.vector from packed_session k \
           cross join lateral unnest(k.source_ids, k.parts, k.vectors) as s (source_id, part, vector) \
          where k.user_id = $1 and k.model = $2 and k.revision > $3 and s.vector is not null"
    };
}

pub(crate) const VECTORS_SINCE: &str =
    concat!(memory_vectors!(), " union all ", other_vectors!(), " union all ", packed_vectors!());

/// The vectors of passages that are not packed, both parts in the order of their revisions.
pub(crate) const VECTORS_IN_ORDER: [&str; 2] = [
    concat!(memory_vectors!(), " order by revision"),
    concat!(other_vectors!(), " order by revision"),
];

/// The vectors of a model since a revision. With a floor, those of turns up to that revision are
/// left out.
pub async fn vectors_since(
    scope: &Scope,
    model: &EmbeddingModel,
    revision: i64,
    floor: Option<i64>,
) -> Result<Vec<Vector>> {
    const ABOVE: &str = concat!(
        "select e.source_id, e.part, e.vector from embedding e \
                         join passage p on p.user_id = e.user_id and p.source_id = e.source_id \
                           and p.part = e.part \
                         where e.user_id = $1 and e.model = $2 and e.revision > $3 \
                           and (p.kind <> 'turn' or p.revision > $4) union all ",
        packed_vectors!(),
        " and k.revision > $4"
    );
    let user = scope.user().uuid();
    if let Some(floor) = floor {
        let params: [Param<'_>; 4] = [&user, &model.name, &revision, &floor];
        return all(&scope.query(ABOVE, &params).await?, vector);
    }
    all(&scope.query(VECTORS_SINCE, &[&user, &model.name, &revision]).await?, vector)
}

pub(crate) const FIRST_VECTORS: &str = concat!(
    memory_vectors!(),
    " union all ",
    other_vectors!(),
    " union all ",
    packed_vectors!(),
    " limit $4"
);

/// Up to `limit` of the user's vectors of a model, in no particular order.
pub async fn first_vectors(
    scope: &Scope,
    model: &EmbeddingModel,
    limit: i64,
) -> Result<Vec<Vector>> {
    let (user, none) = (scope.user().uuid(), 0_i64);
    let params: [Param<'_>; 4] = [&user, &model.name, &none, &limit];
    all(&scope.query(FIRST_VECTORS, &params).await?, vector)
}

/// Whether the user has vectors of one of these models.
pub async fn has_any(scope: &Scope, models: &[String]) -> Result<bool> {
    const SQL: &str = "select true where exists (select 1 from unnest($2::text[]) as m (name) \
           where exists (select 1 from embedding where user_id = $1 and model = m.name)) \
        or exists (select 1 from packed_session where user_id = $1 and model = any($2))";
    Ok(!scope.query(SQL, &[&scope.user().uuid(), &models]).await?.is_empty())
}

/// Removes up to `limit` vectors of these models, except those of packed sessions. Returns how many.
pub async fn remove(scope: &Scope, models: &[String], limit: i64) -> Result<usize> {
    const SQL: &str = "delete from embedding where user_id = $1 \
           and (model, source_id, part) in (select model, source_id, part from embedding \
             where user_id = $1 and model = any($2) limit $3) returning 1";
    Ok(scope.query(SQL, &[&scope.user().uuid(), &models, &limit]).await?.len())
}
