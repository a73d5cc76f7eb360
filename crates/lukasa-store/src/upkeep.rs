//! Pages over all user ids for maintenance tasks. This reads only the list of users; everything
//! else is read in each user's own scope.

use lukasa_core::{TenantId, UserId};
use uuid::Uuid;

use crate::Store;
use crate::error::Result;
use crate::pool::Purpose;
use crate::row::{Columns, all};

impl Store {
    /// Up to `limit` users of all tenants after this one, ordered by id.
    pub async fn list_user_ids(
        &self,
        after: Option<UserId>,
        limit: i64,
    ) -> Result<Vec<(TenantId, UserId)>> {
        const SQL: &str = "select tenant_id, user_id from users where deleted_at is null \
                             and user_id > $1 order by user_id limit $2";
        let after = after.map_or(Uuid::nil(), UserId::uuid);
        let mut found = Vec::new();
        // A user who moves to a cell that was read already is found when it is read again.
        let passes = if self.cells.is_moving() { 2 } else { 1 };
        for _ in 0..passes {
            for mut connection in self.connections(Purpose::Reads).await? {
                // If dropped without a commit it is rolled back, and the setting with it.
                let transaction = connection.transaction().await?;
                transaction.batch_execute("set local app.upkeep = 'on'").await?;
                let rows = transaction.query(SQL, &[&after, &limit]).await?;
                transaction.rollback().await?;
                found.extend(all(&rows, |row| {
                    let mut c = Columns::of(row, "users");
                    Ok((TenantId::from_uuid(c.take()?), UserId::from_uuid(c.take()?)))
                })?);
            }
        }
        found.sort_by_key(|(_, user)| *user);
        // A user who is being moved may be listed by two cells.
        found.dedup();
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }
}
