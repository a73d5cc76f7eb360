//! Reads a row's columns: one after the other in the order the statement lists them, or by name where
//! there are many.

use lukasa_core::Project;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Json};

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

/// Values by column name, in the order of `columns`, a list separated by commas. Fails when a column
/// has no value or a value has no column.
pub(crate) fn in_order<V, const N: usize>(columns: &str, values: [(&str, V); N]) -> Result<Vec<V>> {
    let mut values = values.map(|(name, value)| (name, Some(value)));
    let mut ordered = Vec::with_capacity(N);
    for column in columns.split(", ") {
        let found = values.iter_mut().find(|(name, _)| *name == column);
        let value = found.and_then(|(_, value)| value.take());
        ordered.push(value.ok_or_else(|| Error::Configuration(format!("no value for {column}")))?);
    }
    if ordered.len() == N {
        return Ok(ordered);
    }
    Err(Error::Configuration(format!("{N} values for {} columns", ordered.len())))
}

/// The first row of a result that has at most one.
pub(crate) fn one<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T>) -> Result<Option<T>> {
    rows.first().map(read).transpose()
}

pub(crate) fn all<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T>) -> Result<Vec<T>> {
    rows.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::in_order;

    #[test]
    fn values_are_ordered_by_column_and_a_missing_or_additional_one_is_an_error() {
        assert_eq!(in_order("a, b", [("b", 2), ("a", 1)]).ok(), Some(vec![1, 2]));
        assert!(in_order("a, b", [("a", 1), ("c", 3)]).is_err());
        assert!(in_order("a", [("a", 1), ("b", 2)]).is_err());
        assert!(in_order("a, a", [("a", 1), ("b", 2)]).is_err());
    }
}
