//! A long chat in a model's window: once it fills most of the window, the early turns are given as
//! a summary (R059). No turn is deleted, and no model is asked while somebody waits: the summary is
//! made behind, and until it is there the early turns are simply left out, with a word that says so.

use futures_util::try_join;
use lukasa_core::context::tokens;
use lukasa_core::time::micros;
use lukasa_core::{Caller, JobKind, Session, Turn};
use lukasa_store::{Batch, job, session};

use super::job_id;
use crate::cpu::LARGE_TEXT_CHARS;
use crate::error::{Error, Result};
use crate::{Engine, Moment, Request};

/// How much of a chat a model can be given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowAsk {
    /// The model's budget for the conversation, in tokens.
    pub budget: usize,
    /// The share of it above which the early turns are summed up.
    pub threshold: f32,
}

impl Default for WindowAsk {
    fn default() -> Self {
        Self { budget: 32_000, threshold: 0.8 }
    }
}

/// A chat as a model is to see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub session: Session,
    /// What was said before the first of the turns, if it does not fit.
    pub summary: Option<String>,
    pub turns: Vec<Turn>,
    /// How many early turns are not among them.
    pub left_out: usize,
    pub tokens: usize,
    /// What to tell the person, if something was left out.
    pub banner: Option<String>,
}

/// The most turns that are looked at; a chat longer than this has long been summed up.
const MOST_TURNS: i64 = 5_000;

impl Engine {
    pub async fn window(
        &self,
        caller: &Caller,
        id: &str,
        ask: WindowAsk,
        moment: Moment,
    ) -> Result<Window> {
        if !(0.1..=1.0).contains(&ask.threshold) || !(500..=10_000_000).contains(&ask.budget) {
            return Err(Error::invalid(
                "budget",
                "at least 500 tokens, and a threshold between 0.1 and 1",
            ));
        }
        let scope = self.reading(caller, moment.now).await?;
        let there = session::find(&scope, id).await?.filter(|s| s.trashed_at.is_none());
        let session = there.ok_or(Error::SessionNotFound)?;
        let after = session.turns - i32::try_from(MOST_TURNS).unwrap_or(i32::MAX);
        let turns = session::turns(&scope, id, after.max(0), MOST_TURNS).await?;
        drop(scope);
        let large = turns.iter().map(|turn| turn.content.len()).sum::<usize>() > LARGE_TEXT_CHARS;
        let count = move || {
            let sizes = turns.iter().map(|turn| tokens::count(&turn.content) + 4);
            let sizes: Vec<usize> = sizes.collect();
            (turns, sizes)
        };
        let (turns, sizes) = self.cpu.run_if(large, count).await?;
        let all: usize = sizes.iter().sum();
        let most = (ask.budget as f32 * ask.threshold) as usize;
        if all <= most {
            let tokens = all;
            return Ok(Window { session, summary: None, turns, left_out: 0, tokens, banner: None });
        }
        let summary = session.summary.clone();
        let said = summary.as_deref().map_or(0, tokens::count);
        // Half of the room for what was said last: the other half is for what will be said next.
        let room = (most / 2).saturating_sub(said);
        let mut kept = 0;
        let fitting = sizes.iter().rev().take_while(|size| {
            kept += **size;
            kept <= room
        });
        let fitting = fitting.count().max(1);
        let first = turns.len() - fitting;
        let tokens = said + sizes[first..].iter().sum::<usize>();
        if first > 0 && session.summary_through < turns[first - 1].number && self.has_chat() {
            self.compress_later(caller, id, moment).await?;
        }
        let left_out = first + usize::try_from(after.max(0)).unwrap_or(0);
        let banner = match &summary {
            Some(_) => format!(
                "The first {left_out} messages are summed up for the assistant. None of them is deleted."
            ),
            None => format!(
                "The first {left_out} messages no longer fit and are left out for the assistant. None of them is deleted."
            ),
        };
        let turns = turns[first..].to_vec();
        Ok(Window { session, summary, turns, left_out, tokens, banner: Some(banner) })
    }

    async fn compress_later(&self, caller: &Caller, id: &str, moment: Moment) -> Result<()> {
        let request = Request::new(caller.clone(), moment);
        let scope = self.writing(&request).await?;
        let (there, now) = (session::find(&scope, id), micros(moment.now));
        let (there,) = try_join!(there)?;
        if there.is_none() {
            return Ok(());
        }
        let mut batch = Batch::default();
        let job = job_id(&request, "compress");
        job::queue(&mut batch, &scope, job, JobKind::Compress, id, now, now);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }
}
