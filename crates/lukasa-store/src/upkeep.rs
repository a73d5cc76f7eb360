//! Upkeep goes from user to user. It sees who there is, and none of what is kept about them: for
//! that it opens each user's own scope like everybody else.

use lukasa_core::{TenantId, UserId};
use uuid::Uuid;

use crate::Store;
use crate::error::Result;
use crate::row::{Columns, all};

impl Store {
    /// Up to `limit` users after this one, whoever their tenant is, in the order of their ids.
    pub async fn everybody(
        &self,
        after: Option<UserId>,
        limit: i64,
    ) -> Result<Vec<(TenantId, UserId)>> {
        const SQL: &str = "select tenant_id, user_id from users where deleted_at is null \
                             and user_id > $1 order by user_id limit $2";
        let after = after.map_or(Uuid::nil(), UserId::uuid);
        let mut connection = self.pools.reads.get().await?;
        // Dropped without a commit, it is rolled back, and the setting with it.
        let transaction = connection.transaction().await?;
        transaction.batch_execute("set local app.upkeep = 'on'").await?;
        let rows = transaction.query(SQL, &[&after, &limit]).await?;
        transaction.rollback().await?;
        all(&rows, |row| {
            let mut c = Columns::of(row, "users");
            Ok((TenantId::from_uuid(c.take()?), UserId::from_uuid(c.take()?)))
        })
    }
}
