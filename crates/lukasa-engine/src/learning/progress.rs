//! How far learning from a session is, and what came of it.

use futures_util::try_join;
use lukasa_core::learning::{LearningAbility, LearningProgress};
use lukasa_core::{Caller, Session, Timestamp};
use lukasa_store::learning::PassTotals;
use lukasa_store::{Scope, job, learning, session};

use super::Learning;
use crate::error::Result;
use crate::parts::Parts;

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
        let ability = ability(&self.parts, &scope, session).await?;
        let has_passes = totals.learned_at.is_some();
        let progress = LearningProgress::of(session, &jobs, &policy, ability, has_passes);
        Ok(SessionLearning { progress, totals })
    }
}

/// What this server can learn of the turns that a session has left.
async fn ability(parts: &Parts, scope: &Scope, session: &Session) -> Result<LearningAbility> {
    let from = session.extracted_through;
    Ok(match (parts.has_chat(), parts.learns()) {
        (true, _) => LearningAbility::Everything,
        (false, false) => LearningAbility::Nothing,
        (false, true) if session::has_own_turn_after(scope, &session.id, from).await? => {
            LearningAbility::Everything
        }
        (false, true) => LearningAbility::NotImports,
    })
}
