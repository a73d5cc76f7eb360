//! Reads a row's columns one after the other, in the order the statement lists them. By position
//! rather than by name: a version has three dozen columns and a page of them is read often.

use lukasa_core::Project;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::error::{Error, Result};

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

    /// A column by its name.
    pub(crate) fn named<T: FromSql<'r>>(&self, name: &str) -> Result<T> {
        self.row.try_get(name).map_err(|e| self.corrupt(e.to_string()))
    }

    /// A column that holds one of a fixed set of words.
    pub(crate) fn word<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
        let text: &str = self.take()?;
        parse(text).ok_or_else(|| self.corrupt(format!("unknown word {text:?}")))
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T> {
        let value: serde_json::Value = self.take()?;
        serde_json::from_value(value).map_err(|e| self.corrupt(e.to_string()))
    }

    /// An optional JSON document.
    pub(crate) fn maybe_json<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>> {
        let value: Option<serde_json::Value> = self.take()?;
        value.map(serde_json::from_value).transpose().map_err(|e| self.corrupt(e.to_string()))
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

/// The first row of a result that has at most one.
pub(crate) fn one<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T>) -> Result<Option<T>> {
    rows.first().map(read).transpose()
}

pub(crate) fn all<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T>) -> Result<Vec<T>> {
    rows.iter().map(read).collect()
}
