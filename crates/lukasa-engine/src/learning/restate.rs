//! Changes of stated memories that a model found in the user's own words. Extraction never writes a
//! new version of a stated memory, so they are carried out like an assistant's update that quotes
//! the user: admission decides, each is one operation that can be undone, and what is not permitted
//! is proposed.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::try_join;
use lukasa_core::learning::answer::ProposedMemory;
use lukasa_core::learning::judge::{self, ExtractionVerdict, JudgeContext, JudgedClaim};
use lukasa_core::{Edit, FactId, Version};
use lukasa_store::fact;
use lukasa_text::statement::StatementKind;

use super::Learning;
use super::apply::{JudgedAnswer, standing_in};
use super::plan::Plan;
use crate::directory::domains;
use crate::error::{Error, Result};
use crate::facts::{Target, Update};
use crate::request::Request;

impl Learning {
    /// Carries out the changes of stated memories, or proposes them. Returns the memories concerned.
    /// After a crash the same requests are repeated, and their idempotency keys are known.
    pub(super) async fn restate(
        &self,
        request: &Request,
        plan: &Plan,
        answer: &JudgedAnswer<'_>,
    ) -> Result<BTreeSet<FactId>> {
        let JudgedAnswer { pass, read, near } = *answer;
        if !read.items.iter().any(ProposedMemory::is_change) {
            return Ok(BTreeSet::new());
        }
        let scope = self.transactions.read(&request.caller, request.moment.now).await?;
        let wanted = answer.facts();
        let (standing, domains, (policy, _)) = try_join!(
            async { Ok(fact::current_and_pending(&scope, &wanted, request.moment.now).await?) },
            domains(&scope),
            self.policies.load(&scope)
        )?;
        drop(scope);
        let standing: BTreeMap<FactId, Version> =
            standing_in(standing, plan.session.project.as_ref());
        let scene = JudgeContext {
            transcript: &plan.news,
            offered: &pass.offered,
            standing: &standing,
            domains: &domains,
            policy: &policy,
            project: plan.session.project.as_ref(),
        };
        let mut restated = BTreeSet::new();
        for (place, verdict) in judge::judge_all(&read.items, near, &scene).into_iter().enumerate()
        {
            let ExtractionVerdict::Restate { fact, kept, kind } = verdict else { continue };
            // What was changed after the sentence is newer than what it says.
            if standing.get(&fact).is_some_and(|old| old.known.from > kept.said_at) {
                continue;
            }
            let request = request.of_statement(&pass.id.to_string(), place, kept.turns.clone());
            match self.facts.update(&request, &Target::Id(fact), update(plan, &kept, kind)).await {
                Ok(_) => {
                    restated.insert(fact);
                }
                Err(Error::Unavailable(why)) => return Err(Error::Unavailable(why)),
                Err(error) => {
                    tracing::info!(code = error.code().as_str(), "a stated memory was not changed");
                }
            }
        }
        Ok(restated)
    }
}

fn update(plan: &Plan, kept: &JudgedClaim, kind: StatementKind) -> Update {
    let edit = Edit::content(&kept.claim.content);
    let update = match kind {
        StatementKind::Correct => Update::correct(edit),
        _ => Update::change(edit),
    };
    Update {
        session: Some(plan.session.id.clone()),
        turns: kept.turns.iter().map(ToString::to_string).collect(),
        quotations: kept.claim.evidence.iter().map(|item| item.description.clone()).collect(),
        ..update
    }
}
