//! Calibrated thresholds: what they are derived from, and the derived rows.

use std::collections::BTreeMap;

use lukasa_core::calibration::{CalibratedFloor, CalibrationSample};
use lukasa_core::{Category, FactId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::row::{Columns, all};
use crate::scope::{Batch, Scope};

/// Maximum number of samples, the latest memories first.
const MAX_SAMPLES: i64 = 5_000;

/// The inferred memories that turned out right or wrong: by the latest of the outcomes that the user
/// reported, the ratings, and the user's answers and corrections that were not undone.
pub async fn samples(scope: &Scope) -> Result<Vec<CalibrationSample>> {
    const SQL: &str = "with first as (select distinct on (fact_id) fact_id, category, confidence, extracted \
           from fact_version where user_id = $1 order by fact_id, version_id), \
         shown as (select fact_id, type in ('confirmed', 'rated_up') as is_right, at from usage \
          where user_id = $1 \
            and (type in ('rated_up', 'rated_down') \
              or (by_user and type in ('confirmed', 'contradicted', 'overridden'))) \
         union all \
         select old.fact_id, o.verb = 'confirm' and new.state = 'active', o.recorded_at \
           from fact_version old \
           join fact_version new on new.user_id = $1 and new.fact_id = old.fact_id \
            and new.opened_by = old.closed_by \
           join operation o on o.user_id = $1 and o.operation_id = old.closed_by \
          where old.user_id = $1 and old.extracted and old.consented_at is null \
            and o.origin = 'user_said' and not o.extracted \
            and (o.verb in ('confirm', 'reject') \
              or (o.verb = 'correct' and new.content <> old.content)) \
            and not exists (select 1 from operation u where u.user_id = $1 \
                  and u.undoes = o.operation_id \
                  and not exists (select 1 from operation again where again.user_id = $1 \
                        and again.undoes = u.operation_id))), \
         latest as (select distinct on (fact_id) fact_id, is_right from shown \
          order by fact_id, at desc, is_right) \
         select f.fact_id, f.category, f.confidence, l.is_right from first f \
           join latest l on l.fact_id = f.fact_id \
          where f.extracted and f.confidence is not null order by f.fact_id desc limit $2";
    all(&scope.query(SQL, &[&scope.user().uuid(), &MAX_SAMPLES]).await?, |row| {
        let mut c = Columns::of(row, "fact_version");
        Ok(CalibrationSample {
            fact: FactId::from_uuid(c.take()?),
            category: c.word(Category::parse)?,
            confidence: c.take()?,
            is_right: c.take()?,
        })
    })
}

/// Removes all calibrated thresholds of the user. Upkeep derives them again.
pub(crate) const REMOVE_SQL: &str = "delete from calibration where user_id = $1";

/// The calibrated thresholds of the user.
pub async fn floors(scope: &Scope) -> Result<Vec<CalibratedFloor>> {
    const SQL: &str = "select category, floor, samples, wrong, facts, compiled_at from calibration \
                        where user_id = $1 order by category";
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, floor)
}

fn floor(row: &Row) -> Result<CalibratedFloor> {
    let mut c = Columns::of(row, "calibration");
    let count = |number: i32| usize::try_from(number).unwrap_or_default();
    Ok(CalibratedFloor {
        category: c.word(Category::parse)?,
        floor: c.take()?,
        samples: count(c.take()?),
        wrong: count(c.take()?),
        facts: c.take::<Vec<Uuid>>()?.into_iter().map(FactId::from_uuid).collect(),
        compiled_at: c.take()?,
    })
}

/// Replaces the user's thresholds.
pub fn replace(batch: &mut Batch, scope: &Scope, floors: &[CalibratedFloor]) {
    const INSERT: &str = "insert into calibration (user_id, tenant_id, category, floor, samples, \
                            wrong, facts, compiled_at) values ($1, $2, $3, $4, $5, $6, $7, $8)";
    let (user, tenant) = (scope.user().uuid(), scope.tenant().uuid());
    batch.push(REMOVE_SQL, vec![Box::new(user)]);
    for new in floors {
        let facts: Vec<Uuid> = new.facts.iter().map(|fact| fact.uuid()).collect();
        let count = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
        batch.push(
            INSERT,
            vec![
                Box::new(user),
                Box::new(tenant),
                Box::new(new.category.as_str()),
                Box::new(new.floor),
                Box::new(count(new.samples)),
                Box::new(count(new.wrong)),
                Box::new(facts),
                Box::new(new.compiled_at),
            ],
        );
    }
}

/// The thresholds of a row of `policy`, which has them as an object of category and floor.
pub(crate) fn floors_of(object: &serde_json::Value) -> BTreeMap<Category, f32> {
    let floor = |(name, floor): (&String, &serde_json::Value)| {
        Some((Category::parse(name)?, floor.as_f64()? as f32))
    };
    object.as_object().into_iter().flatten().filter_map(floor).collect()
}
