//! All passages of a user and their vectors, in blocks as they arrive: packed sessions first, then
//! the rows of open sessions, memories and episodes.

use std::collections::HashMap;
use std::pin::Pin;

use futures_util::{Stream, TryStreamExt as _};
use lukasa_core::model::EmbeddingModel;
use lukasa_core::recall::passage::{PassageKind, TurnPosition};
use lukasa_core::{Project, Role, Timestamp};
use lukasa_text::terms::{Language, Terms};
use pgvector::HalfVector;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::passage::{PASSAGES_IN_ORDER, StoredPassage, session_projects, stored};
use crate::row::Columns;
use crate::scope::{Param, Scope};
use crate::vector::{VECTORS_IN_ORDER, Vector, vector};

type RowStream = Pin<Box<dyn Stream<Item = Result<Row>> + Send>>;

/// The packed sessions of a user and then their rows, as they arrive: the answers of three queries, one
/// after the other.
struct PackedThenRows {
    current: RowStream,
    is_packed: bool,
    left: std::array::IntoIter<&'static str, 2>,
}

impl PackedThenRows {
    /// `packed` reads packed sessions, and `rows` what is not packed.
    async fn open(
        scope: &Scope,
        packed: &'static str,
        rows: [&'static str; 2],
        params: &[Param<'_>],
    ) -> Result<Self> {
        let current = Box::pin(scope.stream(packed, params).await?);
        Ok(Self { current, is_packed: true, left: rows.into_iter() })
    }

    /// Reads packed sessions into a block until it has `size` elements; nothing at their end.
    async fn fill<T>(
        &mut self,
        size: usize,
        mut unpack: impl FnMut(&Row, &mut Vec<T>) -> Result<()>,
    ) -> Result<Vec<T>> {
        let mut block = Vec::new();
        while self.is_packed
            && block.len() < size
            && let Some(row) = self.current.try_next().await?
        {
            unpack(&row, &mut block)?;
        }
        Ok(block)
    }

    /// The next row that is not packed, once all packed sessions were read.
    async fn next_row(&mut self, scope: &Scope, params: &[Param<'_>]) -> Result<Option<Row>> {
        loop {
            if !self.is_packed
                && let Some(row) = self.current.try_next().await?
            {
                return Ok(Some(row));
            }
            let Some(sql) = self.left.next() else { return Ok(None) };
            self.current = Box::pin(scope.stream(sql, params).await?);
            self.is_packed = false;
        }
    }
}

pub(crate) const PACKED_IN_ORDER: &str = "\
    select session_id, source_ids, parts, languages, words, terms, numbers, roles, said_at, \
           recorded_at \
      from packed_session where user_id = $1 and revision > $2 order by revision";

pub(crate) const PACKED_VECTORS_IN_ORDER: &str = "\
    select source_ids, parts, vectors from packed_session \
     where user_id = $1 and model = $2 and revision > $3 order by revision";

/// The user's passages in blocks, as they arrive.
pub struct PassageBlocks {
    read: PackedThenRows,
    projects: HashMap<String, Project>,
    floor: Option<i64>,
    /// The first passage of the next block, with its revision.
    ahead: Option<(i64, StoredPassage)>,
}

impl PassageBlocks {
    /// With a floor, turns up to that revision are left out.
    pub async fn open(scope: &Scope, floor: Option<i64>) -> Result<Self> {
        let projects = session_projects(scope).await?;
        let (user, from) = (scope.user().uuid(), floor.unwrap_or(0));
        let read = PackedThenRows::open(scope, PACKED_IN_ORDER, PASSAGES_IN_ORDER, &[&user, &from])
            .await?;
        Ok(Self { read, projects, floor, ahead: None })
    }

    /// The next `size` passages, or more, because a block has all passages of its sources and of a
    /// packed session; none at the end.
    pub async fn next(&mut self, scope: &Scope, size: usize) -> Result<Vec<StoredPassage>> {
        let projects = &self.projects;
        let mut block = self.read.fill(size, |row, block| unpack(row, projects, block)).await?;
        if !block.is_empty() {
            return Ok(block);
        }
        let (user, none) = (scope.user().uuid(), 0_i64);
        let mut last = self.ahead.as_ref().map(|(revision, _)| *revision);
        block.extend(self.ahead.take().map(|(_, ahead)| ahead));
        while let Some(row) = self.read.next_row(scope, &[&user, &none]).await? {
            let revision: i64 = row.try_get("revision")?;
            let passage = stored(&row, &self.projects)?;
            let is_old = self.floor.is_some_and(|floor| revision <= floor);
            if is_old && passage.kind == PassageKind::Turn {
                continue;
            }
            // What was written together has one revision.
            if block.len() >= size && last != Some(revision) {
                self.ahead = Some((revision, passage));
                break;
            }
            last = Some(revision);
            block.push(passage);
        }
        Ok(block)
    }
}

/// Adds the passages of a packed session to `block`.
fn unpack(
    row: &Row,
    projects: &HashMap<String, Project>,
    block: &mut Vec<StoredPassage>,
) -> Result<()> {
    let mut c = Columns::of(row, "packed_session");
    let session: String = c.take()?;
    let (sources, parts): (Vec<Uuid>, Vec<i16>) = (c.take()?, c.take()?);
    let (languages, words): (Vec<&str>, Vec<i32>) = (c.take()?, c.take()?);
    let terms: Vec<&[u8]> = c.take()?;
    let (numbers, roles): (Vec<i32>, Vec<&str>) = (c.take()?, c.take()?);
    let (said_at, recorded_at): (Vec<Timestamp>, Vec<Timestamp>) = (c.take()?, c.take()?);
    let project = projects.get(&session);
    for (at, source) in sources.iter().enumerate() {
        // A check of the table makes all lists as long as this one.
        let role = Role::parse(roles[at]).ok_or_else(|| Error::Corrupt {
            table: "packed_session",
            what: format!("unknown word {:?}", roles[at]),
        })?;
        block.push(StoredPassage {
            source: *source,
            part: parts[at],
            subject: *source,
            kind: PassageKind::Turn,
            language: Language::parse(languages[at]),
            terms: Terms::from_bytes(terms[at], u32::try_from(words[at]).unwrap_or(0)),
            place: Some(TurnPosition {
                session: session.clone(),
                project: project.cloned(),
                number: numbers[at],
                role,
                said_at: said_at[at],
                recorded_at: recorded_at[at],
            }),
        });
    }
    Ok(())
}

/// The user's vectors of a model in blocks, as they arrive.
pub struct VectorBlocks<'m> {
    model: &'m EmbeddingModel,
    read: PackedThenRows,
}

impl<'m> VectorBlocks<'m> {
    pub async fn open(scope: &Scope, model: &'m EmbeddingModel) -> Result<Self> {
        let (user, none) = (scope.user().uuid(), 0_i64);
        let params: [Param<'_>; 3] = [&user, &model.name, &none];
        let read =
            PackedThenRows::open(scope, PACKED_VECTORS_IN_ORDER, VECTORS_IN_ORDER, &params).await?;
        Ok(Self { model, read })
    }

    /// The next `size` vectors, or more, because a block has all of a packed session; none at the
    /// end.
    pub async fn next(&mut self, scope: &Scope, size: usize) -> Result<Vec<Vector>> {
        let mut block = self.read.fill(size, unpack_vectors).await?;
        if !block.is_empty() {
            return Ok(block);
        }
        let (user, none) = (scope.user().uuid(), 0_i64);
        let params: [Param<'_>; 3] = [&user, &self.model.name, &none];
        while block.len() < size
            && let Some(row) = self.read.next_row(scope, &params).await?
        {
            block.push(vector(&row)?);
        }
        Ok(block)
    }
}

/// Adds the vectors of a packed session to `block`.
fn unpack_vectors(row: &Row, block: &mut Vec<Vector>) -> Result<()> {
    let mut c = Columns::of(row, "packed_session");
    let (sources, parts): (Vec<Uuid>, Vec<i16>) = (c.take()?, c.take()?);
    let vectors: Vec<Option<HalfVector>> = c.take()?;
    let of_passages = sources.into_iter().zip(parts).zip(vectors);
    block.extend(of_passages.filter_map(|((source, part), values)| {
        Some(Vector { source, part, values: values?.into() })
    }));
    Ok(())
}
