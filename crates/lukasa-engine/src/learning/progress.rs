//! How far learning from a session is, and what came of it.

use futures_util::try_join;
use lukasa_core::learning::LearningProgress;
use lukasa_core::{Caller, Session, Timestamp};
use lukasa_store::learning::PassTotals;
use lukasa_store::{job, learning};

use super::Learning;
use crate::error::Result;

/// How far learning from a session is, and what all its passes learned and left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLearning {
    pub progress: LearningProgress,
    pub totals: PassTotals,
}

impl Learning {
    /// How far learning from a session is.
    pub async fn progress(
        &self,
        caller: &Caller,
        session: &Session,
        now: Timestamp,
    ) -> Result<SessionLearning> {
        let scope = self.transactions.read(caller, now).await?;
        let (jobs, totals, (policy, _)) = try_join!(
            async { Ok(job::extractions(&scope, &session.id).await?) },
            async { Ok(learning::totals(&scope, &session.id).await?) },
            self.policies.load(&scope)
        )?;
        let (learns, has_passes) = (self.parts.learns(), totals.learned_at.is_some());
        let progress = LearningProgress::of(session, &jobs, &policy, learns, has_passes);
        Ok(SessionLearning { progress, totals })
    }
}
