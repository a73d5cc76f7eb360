//! Reads a row's columns: one after the other in the order the statement lists them, or by name where
//! there are many.

use lukasa_core::{
    Category, ClaimEvidence, FactId, Force, Kind, MemoryType, OperationId, Origin, Period, Project,
    State, Tier, Timestamp, VersionId,
};
use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Json};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::scope::Owned;

pub(crate) struct Columns<'r> {
    row: &'r Row,
    table: &'static str,
    next: usize,
}

impl<'r> Columns<'r> {
    pub(crate) fn of(row: &'r Row, table: &'static str) -> Self {
        Self { row, table, next: 0 }
    }

    pub(crate) fn take<T: FromSql<'r>>(&mut self) -> Result<T> {
        let index = self.next;
        self.next += 1;
        self.row.try_get(index).map_err(|e| self.corrupt(e.to_string()))
    }

    /// A value that knows how it is stored.
    pub(crate) fn stored<T: Stored>(&mut self) -> Result<T> {
        T::read(self)
    }

    /// A column by its name.
    pub(crate) fn named<T: FromSql<'r>>(&self, name: &str) -> Result<T> {
        self.row.try_get(name).map_err(|e| self.corrupt(e.to_string()))
    }

    /// A column that holds one of a fixed set of words.
    pub(crate) fn word<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
        let text: &str = self.take()?;
        parse(text).ok_or_else(|| self.corrupt(format!("unknown word {text:?}")))
    }

    /// A column that holds one of a fixed set of words, or null.
    pub(crate) fn maybe_word<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
        let Some(text) = self.take::<Option<&str>>()? else { return Ok(None) };
        parse(text).map(Some).ok_or_else(|| self.corrupt(format!("unknown word {text:?}")))
    }

    /// A JSON document.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T> {
        Ok(self.take::<Json<T>>()?.0)
    }

    /// An optional JSON document.
    pub(crate) fn maybe_json<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>> {
        Ok(self.take::<Option<Json<T>>>()?.map(|document| document.0))
    }

    /// An id, or null.
    pub(crate) fn maybe_id<T>(&mut self, id: impl Fn(Uuid) -> T) -> Result<Option<T>> {
        Ok(self.take::<Option<Uuid>>()?.map(id))
    }

    /// The name of a project, or null.
    pub(crate) fn project(&mut self) -> Result<Option<Project>> {
        let Some(name) = self.take::<Option<&str>>()? else { return Ok(None) };
        let project = Project::parse(name);
        project.map(Some).ok_or_else(|| self.corrupt("invalid name of a project".to_owned()))
    }

    fn corrupt(&self, what: String) -> Error {
        Error::Corrupt { table: self.table, what }
    }
}

/// A value of one or more columns: how it is read from a row and written as parameters.
pub(crate) trait Stored: Sized {
    fn read(columns: &mut Columns<'_>) -> Result<Self>;
    fn push_to(&self, params: &mut Vec<Owned>) -> Result<()>;
}

/// Implements [`Stored`] for types of one column: how the column is read, and the parameter.
macro_rules! stored {
    ($($type:ty: |$columns:ident| $read:expr, |$value:ident| $param:expr;)+) => {
        $(impl Stored for $type {
            fn read($columns: &mut Columns<'_>) -> Result<Self> {
                $read
            }

            fn push_to(&self, params: &mut Vec<Owned>) -> Result<()> {
                let $value = self;
                params.push(Box::new($param));
                Ok(())
            }
        })+
    };
}

stored! {
    bool: |c| c.take(), |v| *v;
    i32: |c| c.take(), |v| *v;
    f32: |c| c.take(), |v| *v;
    Option<f32>: |c| c.take(), |v| *v;
    String: |c| c.take(), |v| v.clone();
    Option<String>: |c| c.take(), |v| v.clone();
    Vec<String>: |c| c.take(), |v| v.clone();
    Timestamp: |c| c.take(), |v| *v;
    Option<Timestamp>: |c| c.take(), |v| *v;
    Option<Value>: |c| c.take(), |v| v.clone();
    Option<Project>: |c| c.project(), |v| v.clone().map(String::from);
    FactId: |c| c.take().map(FactId::from_uuid), |v| v.uuid();
    VersionId: |c| c.take().map(VersionId::from_uuid), |v| v.uuid();
    Option<VersionId>: |c| c.maybe_id(VersionId::from_uuid), |v| v.map(VersionId::uuid);
    OperationId: |c| c.take().map(OperationId::from_uuid), |v| v.uuid();
    Option<OperationId>: |c| c.maybe_id(OperationId::from_uuid), |v| v.map(OperationId::uuid);
    Category: |c| c.word(Category::parse), |v| v.as_str();
    MemoryType: |c| c.word(MemoryType::parse), |v| v.as_str();
    Kind: |c| c.word(Kind::parse), |v| v.as_str();
    Force: |c| c.word(Force::parse), |v| v.as_str();
    State: |c| c.word(State::parse), |v| v.as_str();
    Tier: |c| c.word(Tier::parse), |v| v.as_str();
    Origin: |c| c.word(Origin::parse), |v| v.as_str();
    Vec<ClaimEvidence>: |c| c.json(), |v| json(v)?;
}

/// A period is two columns: from and until.
impl Stored for Period {
    fn read(c: &mut Columns<'_>) -> Result<Self> {
        Ok(Period { from: c.stored()?, until: c.stored()? })
    }

    fn push_to(&self, params: &mut Vec<Owned>) -> Result<()> {
        self.from.push_to(params)?;
        self.until.push_to(params)
    }
}

fn json(value: &impl serde::Serialize) -> Result<Value> {
    let unfit = |e: serde_json::Error| Error::Corrupt { table: "json", what: e.to_string() };
    serde_json::to_value(value).map_err(unfit)
}

/// The first row of a result that has at most one.
pub(crate) fn one<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T>) -> Result<Option<T>> {
    rows.first().map(read).transpose()
}

pub(crate) fn all<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T>) -> Result<Vec<T>> {
    rows.iter().map(read).collect()
}
