//! The rows of a query in blocks of bounded size, as they arrive.

use std::pin::Pin;

use futures_util::{Stream, TryStreamExt as _};
use tokio_postgres::Row;

use crate::error::Result;
use crate::scope::{Param, Scope};

/// Maximum number of rows of a block.
pub const BLOCK_ROWS: usize = 1_000;
/// A block ends with the row with which it reaches this size.
pub const BLOCK_BYTES: usize = 1 << 20;

/// Lets the statements of this transaction take as long as a request about a whole memory may: the time in
/// which their rows are compressed or hashed counts as theirs.
pub async fn allow_long_statements(scope: &Scope) -> Result<()> {
    scope.query("set local statement_timeout = '600s'", &[]).await?;
    Ok(())
}

/// Rows that were read together.
#[derive(Debug)]
pub struct RowBlock<T> {
    pub rows: Vec<T>,
    /// Their size in the database's answer.
    pub bytes: usize,
}

/// The rows of a query in blocks. Not more than one block is held: the connection does not read the
/// rest of the answer before it is asked for. No other query can be answered in the scope meanwhile.
pub struct Blocks<T> {
    rows: Pin<Box<dyn Stream<Item = Result<Row>> + Send>>,
    read: fn(&Row) -> Result<T>,
}

impl<T> Blocks<T> {
    pub(crate) async fn open(
        scope: &Scope,
        sql: &'static str,
        params: &[Param<'_>],
        read: fn(&Row) -> Result<T>,
    ) -> Result<Self> {
        Ok(Self { rows: Box::pin(scope.stream(sql, params).await?), read })
    }

    /// The next block; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<RowBlock<T>>> {
        let mut block = RowBlock { rows: Vec::new(), bytes: 0 };
        while block.rows.len() < BLOCK_ROWS
            && block.bytes < BLOCK_BYTES
            && let Some(row) = self.rows.try_next().await?
        {
            block.bytes += row.raw_size_bytes();
            block.rows.push((self.read)(&row)?);
        }
        Ok((!block.rows.is_empty()).then_some(block))
    }

    /// All rows that are left.
    pub async fn all(mut self) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        while let Some(block) = self.next().await? {
            rows.extend(block.rows);
        }
        Ok(rows)
    }
}
