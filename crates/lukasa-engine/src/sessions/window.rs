//! A long session in a model's context window: once it fills most of the window, the early turns
//! are replaced by a summary (R059). No turn is deleted, and no model is asked while a request
//! waits: the summary is made in the background, and until it exists the early turns are left out,
//! with a notice.

use futures_util::try_join;
use lukasa_core::job::Task;
use lukasa_core::time::micros;
use lukasa_core::{Caller, Session, Turn};
use lukasa_store::{Batch, job, session};
use lukasa_text::tokens;

use super::Sessions;
use crate::cpu::LARGE_TEXT_CHARS;
use crate::error::{Error, Result};
use crate::request::{Moment, Request};

/// Request for a session's window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowRequest {
    /// The model's budget for the conversation, in tokens.
    pub budget: usize,
    /// The share of the budget above which the early turns are summarised.
    pub threshold: f32,
}

impl Default for WindowRequest {
    fn default() -> Self {
        Self { budget: 32_000, threshold: 0.8 }
    }
}

/// A session as a model is to see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub session: Session,
    /// Summary of the turns that do not fit.
    pub summary: Option<String>,
    pub turns: Vec<Turn>,
    /// Number of early turns that are left out.
    pub left_out: usize,
    pub tokens: usize,
    /// Notice for the user, if something was left out.
    pub banner: Option<String>,
}

/// Maximum number of turns that are read; a longer session has been summarised before.
const MAX_TURNS: i64 = 5_000;

impl Sessions {
    pub async fn window(
        &self,
        caller: &Caller,
        id: &str,
        ask: WindowRequest,
        moment: Moment,
    ) -> Result<Window> {
        if !(0.1..=1.0).contains(&ask.threshold) || !(500..=10_000_000).contains(&ask.budget) {
            return Err(Error::invalid(
                "budget",
                "at least 500 tokens, and a threshold between 0.1 and 1",
            ));
        }
        let scope = self.transactions.read(caller, moment.now).await?;
        let there = session::find(&scope, id).await?.filter(|s| s.trashed_at.is_none());
        let session = there.ok_or(Error::SessionNotFound)?;
        let after = session.turns - i32::try_from(MAX_TURNS).unwrap_or(i32::MAX);
        let turns = session::turns(&scope, id, after.max(0), MAX_TURNS).await?;
        drop(scope);
        let large = turns.iter().map(|turn| turn.content.len()).sum::<usize>() > LARGE_TEXT_CHARS;
        let count = move || {
            let sizes = turns.iter().map(|turn| tokens::count(&turn.content) + 4);
            let sizes: Vec<usize> = sizes.collect();
            (turns, sizes)
        };
        let (turns, sizes) = self.parts.cpu.run_if(large, count).await?;
        let all: usize = sizes.iter().sum();
        let limit = (ask.budget as f32 * ask.threshold) as usize;
        if all <= limit {
            let tokens = all;
            return Ok(Window { session, summary: None, turns, left_out: 0, tokens, banner: None });
        }
        let summary = session.summary.clone();
        let summary_tokens = summary.as_deref().map_or(0, tokens::count);
        // Half of the budget for the latest turns: the other half is for the next ones.
        let turn_budget = (limit / 2).saturating_sub(summary_tokens);
        let mut used = 0;
        let fitting = sizes.iter().rev().take_while(|size| {
            used += **size;
            used <= turn_budget
        });
        let fitting = fitting.count().max(1);
        let first = turns.len() - fitting;
        let tokens = summary_tokens + sizes[first..].iter().sum::<usize>();
        if first > 0 && session.summary_through < turns[first - 1].number && self.parts.has_chat() {
            self.compress_later(caller, id, moment).await?;
        }
        let left_out = first + usize::try_from(after.max(0)).unwrap_or(0);
        let banner = match &summary {
            Some(_) => format!(
                "The first {left_out} messages are summed up for the assistant. None of them is deleted."
            ),
            None => format!(
                "The first {left_out} messages no longer fit and are left out for the assistant. \
                 None of them is deleted."
            ),
        };
        let turns = turns[first..].to_vec();
        Ok(Window { session, summary, turns, left_out, tokens, banner: Some(banner) })
    }

    async fn compress_later(&self, caller: &Caller, id: &str, moment: Moment) -> Result<()> {
        let request = Request::new(caller.clone(), moment);
        let scope = self.transactions.write(&request).await?;
        let (there, now) = (session::find(&scope, id), micros(moment.now));
        let (there,) = try_join!(there)?;
        if there.is_none() {
            return Ok(());
        }
        let mut batch = Batch::default();
        let job = request.job_id("compress");
        let task = Task::Compress { session: id.to_owned() };
        job::queue(&mut batch, &scope, job, &task, now, now);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }
}
