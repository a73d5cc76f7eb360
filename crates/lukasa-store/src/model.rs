//! The known embedding models, and which of them is in use.

use lukasa_core::Timestamp;
use lukasa_core::model::EmbeddingModel;
use tokio_postgres::Row;

use crate::Store;
use crate::error::Result;
use crate::pool::Purpose;
use crate::row::{Columns, all};

/// A model that embeddings were made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRecord {
    pub model: EmbeddingModel,
    pub in_use: bool,
    pub created_at: Timestamp,
    pub filled_at: Option<Timestamp>,
    pub switched_at: Option<Timestamp>,
    /// Since when another model is used instead.
    pub replaced_at: Option<Timestamp>,
}

macro_rules! model_columns {
    () => {
        "name, dimension, in_use, created_at, filled_at, switched_at, replaced_at"
    };
}

fn record(row: &Row) -> Result<ModelRecord> {
    let mut c = Columns::of(row, "embedding_model");
    let (name, dimension): (String, i32) = (c.take()?, c.take()?);
    Ok(ModelRecord {
        model: EmbeddingModel { name, dimension: usize::try_from(dimension).unwrap_or(0) },
        in_use: c.take()?,
        created_at: c.take()?,
        filled_at: c.take()?,
        switched_at: c.take()?,
        replaced_at: c.take()?,
    })
}

impl Store {
    /// Every known model, in the order they were registered.
    pub async fn models(&self) -> Result<Vec<ModelRecord>> {
        const SQL: &str =
            concat!("select ", model_columns!(), " from embedding_model order by created_at, name");
        let connection = self.directory_connection(Purpose::Reads).await?;
        all(&connection.query(SQL, &[]).await?, record)
    }

    /// Registers a model that is to be embedded with: its vectors are kept again, if it was replaced
    /// before. The first one is in use at once: there is nothing to switch from.
    pub async fn register_model(&self, model: &EmbeddingModel, now: Timestamp) -> Result<()> {
        const SQL: &str = "insert into embedding_model (name, dimension, in_use, created_at, \
                           filled_at) select $1, $2, not exists (select 1 from embedding_model), \
                           $3::timestamptz, case when exists (select 1 from embedding_model) \
                           then null else $3::timestamptz end \
                           on conflict (name) do update set replaced_at = null";
        let connection = self.directory_connection(Purpose::Reads).await?;
        let dimension = i32::try_from(model.dimension).unwrap_or(i32::MAX);
        connection.execute(SQL, &[&model.name, &dimension, &now]).await?;
        Ok(())
    }

    /// Records that every passage has been embedded with the model.
    pub async fn mark_filled(&self, name: &str, now: Timestamp) -> Result<()> {
        const SQL: &str = "update embedding_model set filled_at = $2 where name = $1";
        let connection = self.directory_connection(Purpose::Reads).await?;
        connection.execute(SQL, &[&name, &now]).await?;
        Ok(())
    }

    /// Switches to a model in one transaction, so that exactly one is in use at any time.
    pub async fn switch_model(&self, name: &str, now: Timestamp) -> Result<bool> {
        // Two statements: the unique index on `in_use` is checked row by row, so the old model must
        // be switched off first.
        const DOWN: &str = "update embedding_model set in_use = false, replaced_at = $2 \
                             where in_use and name <> $1 and exists \
                             (select 1 from embedding_model where name = $1)";
        const UP: &str = "update embedding_model set in_use = true, switched_at = $2, \
                           replaced_at = null \
                           where name = $1 and not in_use";
        let mut connection = self.directory_connection(Purpose::Reads).await?;
        let transaction = connection.transaction().await?;
        transaction.execute(DOWN, &[&name, &now]).await?;
        let changed = transaction.execute(UP, &[&name, &now]).await?;
        transaction.commit().await?;
        Ok(changed == 1)
    }
}
