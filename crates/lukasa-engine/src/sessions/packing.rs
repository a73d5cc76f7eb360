//! Packing: upkeep moves the passages of closed sessions into one row for each session, which takes
//! half of the space and is read faster.

use jiff::SignedDuration;
use lukasa_core::time::micros;
use lukasa_store::{Batch, packed, passage};

use super::Sessions;
use crate::error::Result;
use crate::request::Request;

/// How long a session has to be closed. One that is continued soon would be packed twice.
const CLOSED_FOR: SignedDuration = SignedDuration::from_hours(1);
/// Number of sessions packed in one transaction, which other writes of the user wait for.
const BATCH_SIZE: usize = 50;
/// Maximum number of sessions packed per run. The next run continues.
const MAX_SESSIONS: usize = 2_000;

impl Sessions {
    /// Packs the passages of sessions that were closed an hour ago or earlier. Returns how many
    /// sessions were packed.
    pub(crate) async fn pack_closed(&self, request: &Request) -> Result<usize> {
        let (tenant, user) = (request.caller.tenant, request.caller.user);
        let closed_before = micros(request.moment.now) - CLOSED_FOR;
        let models = self.parts.store.models().await?;
        let model = models.into_iter().find(|record| record.in_use).map(|record| record.model.name);
        let model = model.as_deref();
        // Found without the user's lock, and only checked again under it.
        let candidates = {
            let scope = self.parts.store.read(tenant, user).await?;
            let limit = MAX_SESSIONS as i64;
            packed::sessions_to_pack(&scope, model, closed_before, None, limit).await?
        };
        let mut packed = 0;
        for chosen in candidates.chunks(BATCH_SIZE) {
            let scope = self.parts.store.write(tenant, user).await?;
            let (among, limit) = (Some(chosen), BATCH_SIZE as i64);
            let sessions =
                packed::sessions_to_pack(&scope, model, closed_before, among, limit).await?;
            if sessions.is_empty() {
                continue;
            }
            passage::relax_durability(&scope).await?;
            let mut batch = Batch::default();
            packed::pack(&mut batch, &scope, &sessions, model);
            scope.run(&batch).await?;
            scope.commit().await?;
            packed += sessions.len();
        }
        Ok(packed)
    }
}
