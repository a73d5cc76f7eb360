//! What an index is made of, as it is read from the database: whole, or what was added since a revision.
//!
//! A whole index may be read from a standby that has the user's state of the request.

use futures_util::future::{BoxFuture, OptionFuture};
use futures_util::try_join;
use lukasa_core::model::EmbeddingModel;
use lukasa_core::recall::index::{Index, NewPassage};
use lukasa_core::{AsOf, FactId, Timestamp, TurnId};
use lukasa_store::passage::{self, StoredPassage};
use lukasa_store::passage_blocks::{PassageBlocks, VectorBlocks};
use lukasa_store::recallable::{self, RecallableVersion};
use lukasa_store::vector::{self, Vector};
use lukasa_store::{Scope, Store};

use super::index::RecallContext;
use crate::cpu::CpuPool;
use crate::error::Result;
use crate::telemetry::record_index_load;

/// Number of rows of a block.
const BLOCK_ROWS: usize = 2_000;

/// A whole index.
pub(super) struct WholeIndex {
    pub(super) index: Index,
    pub(super) facts: ActiveFacts,
    /// Turns up to this revision are left out.
    pub(super) floor: Option<i64>,
}

/// All rows of a small record; `rows` is `None` if it is not small.
pub(super) struct SmallRecord {
    pub(super) rows: Option<NewRows>,
    pub(super) facts: ActiveFacts,
}

/// Reads from the standby, if there is one that can be used, or else from the primary. Returns which of
/// them it was.
async fn read_from_either<'s, T>(
    standby: Option<&'s Scope>,
    primary: &'s Scope,
    read: impl Fn(&'s Scope) -> BoxFuture<'s, Result<T>>,
) -> Result<(T, &'static str)> {
    if let Some(standby) = standby {
        match read(standby).await {
            Ok(whole) => return Ok((whole, "standby")),
            // PostgreSQL ends a query of a standby that delays the replay for too long.
            Err(error) => tracing::debug!(%error, "an index could not be loaded from the standby"),
        }
    }
    Ok((read(primary).await?, "primary"))
}

/// Reads a record that has at most `limit` passages.
pub(super) async fn read_small(
    store: &Store,
    scope: &Scope,
    ctx: &RecallContext,
    limit: usize,
) -> Result<SmallRecord> {
    let standby = store.read_standby(scope, ctx.state).await;
    let read = read_from_either(standby.as_ref(), scope, |from| {
        Box::pin(async move {
            let rows = load_first_rows(from, ctx.model.clone(), limit);
            let (rows, facts) = try_join!(rows, read_facts(from, ctx))?;
            Ok(SmallRecord { rows, facts })
        })
    });
    let (record, source) = read.await?;
    if record.rows.is_some() {
        record_index_load(source);
    }
    Ok(record)
}

/// Reads a record of any size in blocks, of at most `limit` passages of turns.
pub(super) async fn read_whole(
    store: &Store,
    scope: &Scope,
    ctx: &RecallContext,
    limit: usize,
    cpu: &CpuPool,
) -> Result<WholeIndex> {
    let standby = store.read_standby(scope, ctx.state).await;
    let read = read_from_either(standby.as_ref(), scope, |from| {
        Box::pin(async move {
            let floor = load_floor(from, limit).await?;
            let index = read_in_blocks(from, ctx, floor, None, cpu).await?;
            Ok(WholeIndex { index, facts: read_facts(from, ctx).await?, floor })
        })
    });
    let (whole, source) = read.await?;
    record_index_load(source);
    Ok(whole)
}

pub(super) async fn load_floor(scope: &Scope, limit: usize) -> Result<Option<i64>> {
    Ok(passage::turn_floor(scope, i64::try_from(limit).unwrap_or(i64::MAX - 1)).await?)
}

/// Passages and vectors added since a revision.
pub(crate) struct NewRows {
    pub(super) since: i64,
    pub(super) model: Option<EmbeddingModel>,
    pub(super) passages: Vec<StoredPassage>,
    pub(super) vectors: Vec<Vector>,
}

pub(super) struct ActiveFacts {
    pub(super) facts: Vec<RecallableVersion>,
    pub(super) links: Vec<(FactId, FactId)>,
    /// The turns of which a memory was changed or removed since.
    pub(super) outdated: Vec<(TurnId, Timestamp)>,
}

impl ActiveFacts {
    pub(super) fn set_in(self, index: &mut Index) {
        let facts = self.facts.into_iter().map(|f| (f.version.uuid(), f.facets));
        let links = self.links.into_iter().map(|(from, to)| (from.uuid(), to.uuid()));
        index.set_facts(facts, links);
        let outdated = self.outdated.into_iter().map(|(turn, since)| (turn.uuid(), since));
        index.set_outdated_turns(outdated);
    }
}

pub(super) async fn load_new_rows(
    scope: &Scope,
    model: Option<EmbeddingModel>,
    since: i64,
    floor: Option<i64>,
) -> Result<NewRows> {
    let vectors: OptionFuture<_> =
        model.as_ref().map(|model| vector::vectors_since(scope, model, since, floor)).into();
    let (passages, vectors) =
        try_join!(passage::since(scope, since, floor), async { vectors.await.transpose() })?;
    Ok(NewRows { since, model, passages, vectors: vectors.unwrap_or_default() })
}

/// Builds an index of the whole record, or of what existed at a point, while its rows arrive, without
/// the list of active memories. One block of rows is added while the next one is read.
pub(super) async fn read_in_blocks(
    scope: &Scope,
    ctx: &RecallContext,
    floor: Option<i64>,
    point: Option<AsOf>,
    cpu: &CpuPool,
) -> Result<Index> {
    let dimension = ctx.model.as_ref().map_or(0, |model| model.dimension);
    let mut index = Index::new(dimension);
    passage::read_in_index_order(scope, true).await?;
    let mut passages = PassageBlocks::open(scope, floor).await?;
    let mut rows = passages.next(scope, BLOCK_ROWS).await?;
    while !rows.is_empty() {
        let add = move || {
            let rows = rows.into_iter().filter(|row| point.is_none_or(|at| existed(row, at)));
            index.add(rows.map(to_new_passage).collect());
            index
        };
        (index, rows) =
            try_join!(cpu.run(add), async { Ok(passages.next(scope, BLOCK_ROWS).await?) })?;
    }
    if let Some(model) = &ctx.model {
        let mut vectors = VectorBlocks::open(scope, model).await?;
        let mut rows = vectors.next(scope, BLOCK_ROWS).await?;
        while !rows.is_empty() {
            let embed = move || {
                index.embed(rows.into_iter().map(|v| ((v.source, v.part), v.values)));
                index
            };
            (index, rows) =
                try_join!(cpu.run(embed), async { Ok(vectors.next(scope, BLOCK_ROWS).await?) })?;
        }
    }
    passage::read_in_index_order(scope, false).await?;
    index.shrink();
    Ok(index)
}

pub(super) async fn read_facts(scope: &Scope, ctx: &RecallContext) -> Result<ActiveFacts> {
    let outdated = async {
        match ctx.has_sessions {
            true => recallable::outdated_turns(scope, None).await,
            // Without sessions there are no turns.
            false => Ok(Vec::new()),
        }
    };
    let (facts, links, outdated) =
        try_join!(recallable::now(scope), recallable::links(scope, None), outdated)?;
    Ok(ActiveFacts { facts, links, outdated })
}

/// All rows of a record that has at most `limit` passages; `None` if it has more.
pub(super) async fn load_first_rows(
    scope: &Scope,
    model: Option<EmbeddingModel>,
    limit: usize,
) -> Result<Option<NewRows>> {
    let rows = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
    let vectors: OptionFuture<_> =
        model.as_ref().map(|model| vector::first_vectors(scope, model, rows)).into();
    let (passages, vectors) =
        try_join!(passage::first(scope, rows), async { vectors.await.transpose() })?;
    let rows = NewRows { since: 0, model, passages, vectors: vectors.unwrap_or_default() };
    Ok(Some(rows).filter(|rows| rows.passages.len() <= limit))
}

/// Whether a passage existed at a point: later ones must not change term frequencies.
pub(super) fn existed(stored: &StoredPassage, point: AsOf) -> bool {
    let place = stored.place.as_ref();
    place.is_none_or(|p| p.recorded_at <= point.known && p.said_at <= point.valid)
}

pub(super) fn to_new_passage(stored: StoredPassage) -> NewPassage {
    NewPassage {
        source: stored.source,
        part: stored.part,
        subject: stored.subject,
        kind: stored.kind,
        language: stored.language,
        terms: stored.terms,
        place: stored.place,
    }
}
