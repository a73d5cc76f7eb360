//! What a pass is about, and the question it asks.

use std::time::Duration;

use futures_util::try_join;
use lukasa_core::learn::judge::Near;
use lukasa_core::learn::prompt::{self, Shown};
use lukasa_core::learn::transcript::Said;
use lukasa_core::learn::{Answer, Offered, Transcript, answer};
use lukasa_core::policy::Policy;
use lukasa_core::time::micros;
use lukasa_core::{Domain, Ids, Session, Turn};
use lukasa_store::learning::{self, Pass};
use lukasa_store::passage::{self, RecallState};
use lukasa_store::session;

use crate::directory::domains;
use crate::error::Result;
use crate::jobs::Failed;
use crate::recall::Recall;
use crate::{Engine, Request};

/// How many turns one pass reads; the rest is for the next.
const MOST_TURNS: i64 = 80;
/// How many characters of them, so that the question fits into a small model's window.
const MOST_CHARS: usize = 24_000;
/// How many known memories are offered.
const OFFERED: usize = 30;
/// How long a model may take over one pass.
const WITHIN: Duration = Duration::from_secs(180);

/// A stretch of a session that is to be learned from.
pub(super) struct Plan {
    pub(super) session: Session,
    pub(super) turns: Vec<Turn>,
    pub(super) news: Transcript,
    pub(super) policy: Policy,
    pub(super) domains: Vec<(Domain, bool)>,
    /// An answer from before that was not applied yet.
    pub(super) answered: Option<Pass>,
    before: Vec<Said>,
    /// How far the record had come when the turns were read.
    state: RecallState,
}

impl Plan {
    pub(super) fn first(&self) -> i32 {
        // Turns right after the watermark may be gone: they are behind it too.
        self.session.extracted_through + 1
    }

    pub(super) fn last(&self) -> i32 {
        self.turns.last().map_or(0, |turn| turn.number)
    }
}

impl Engine {
    /// Reads what there is to learn from; nothing if there is nothing.
    pub(super) async fn plan(&self, request: &Request, id: &str) -> Result<Option<Plan>> {
        let scope = self.reading(&request.caller, request.moment.now).await?;
        let there = session::find(&scope, id).await?.filter(|s| s.trashed_at.is_none());
        let Some(session) = there.filter(Session::has_news) else { return Ok(None) };
        let through = session.extracted_through;
        let ((policy, _), domains, state, answered, turns) = try_join!(
            self.policy_of(&scope),
            domains(&scope),
            async { Ok(passage::state(&scope).await?) },
            async { Ok(learning::answered(&scope, id).await?) },
            async { Ok(session::turns(&scope, id, through, MOST_TURNS).await?) }
        )?;
        let window = i32::try_from(policy.window).unwrap_or(0).min(through);
        let before = session::turns(&scope, id, through - window, i64::from(window)).await?;
        let mut turns = turns;
        // An answer is about the turns that were asked about, whatever was said since.
        match &answered {
            Some(pass) => turns.retain(|turn| turn.number <= pass.last_turn),
            None => cut(&mut turns),
        }
        let news = Transcript::of(&turns);
        let before = Transcript::of(&before).said;
        Ok(Some(Plan { session, turns, news, policy, domains, answered, before, state }))
    }

    /// The answer about a plan: the one that is kept, or a new one that is kept before it is used. None
    /// if something was removed while the model was asked: it may be among what the model has read.
    pub(super) async fn answer(
        &self,
        request: &Request,
        plan: &Plan,
    ) -> Result<Option<(Pass, Answer)>, Failed> {
        if let Some(pass) = &plan.answered {
            let text = pass.answer.as_deref().unwrap_or_default();
            if let Ok(read) = answer::read(text) {
                return Ok(Some((pass.clone(), read)));
            }
            let scope = self.store.write(request.caller.tenant, request.caller.user).await?;
            learning::drop_answer(&scope, pass.id).await?;
            scope.commit().await?;
        }
        let now = request.moment.now;
        let offered = self.offer(request, plan).await?;
        let typed = plan.news.told().any(|text| !text.trim().is_empty());
        let (text, model, read) = if typed {
            let names: Vec<&str> =
                plan.domains.iter().map(|(domain, _)| domain.name.as_str()).collect();
            let shown = Shown {
                summary: plan.session.summary.as_deref(),
                before: &plan.before,
                offered: &offered,
                domains: &names,
            };
            let ask = prompt::extract(&plan.news, shown, WITHIN);
            let (caller, policy) = (&request.caller, &plan.policy);
            let asked =
                self.ask(caller, "extract", &ask, policy, request.moment, answer::read).await?;
            let answered = asked.map_err(|why| Failed::unanswered(&why, now))?;
            (answered.text, answered.model, answered.read)
        } else {
            // The person has said nothing themselves, so there is nothing to ask about.
            (r#"{"memories":[]}"#.to_owned(), "none".to_owned(), Answer::default())
        };
        let pass = Pass {
            id: Ids::new(now, request.moment.seed).pass(),
            session: plan.session.id.clone(),
            first_turn: plan.first(),
            last_turn: plan.last(),
            prompt: prompt::EXTRACT.name.to_owned(),
            model,
            offered: offered.iter().map(|old| old.fact).collect(),
            // PostgreSQL keeps no U+0000, and the rules would drop it anyway.
            answer: Some(text.replace('\0', "")),
            answered_at: micros(now),
            applied_at: None,
            operation: None,
            outcome: None,
        };
        let scope = self.store.write(request.caller.tenant, request.caller.user).await?;
        let kept = learning::keep_answer(&scope, &pass, plan.state).await?;
        scope.commit().await?;
        Ok(kept.then_some((pass, read)))
    }

    /// The known memories that bear on what was said.
    async fn offer(&self, request: &Request, plan: &Plan) -> Result<Vec<Offered>> {
        let typed: String = plan.news.told().collect::<Vec<_>>().join(" ");
        let text: String = typed.chars().take(4_000).collect();
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let mut ask = Recall::about(&text);
        ask.memories = OFFERED;
        let found = self.recall(&request.caller, &ask, request.moment.now).await?;
        let offered = found.memories.into_iter().map(|found| Offered {
            fact: found.memory.version.fact,
            content: found.memory.version.claim.content,
        });
        Ok(offered.collect())
    }

    /// For each proposal, the memories that may say the same and how near they are in meaning.
    pub(super) async fn compare(&self, request: &Request, read: &Answer) -> Result<Vec<Vec<Near>>> {
        let mut near = Vec::new();
        for item in &read.items {
            let found = self.near(&request.caller, &item.content, request.moment.now).await?;
            let found = found.into_iter();
            near.push(
                found.map(|(memory, score)| Near { fact: memory.version.fact, score }).collect(),
            );
        }
        Ok(near)
    }
}

/// Cuts a stretch to what one question can hold; at least one turn.
fn cut(turns: &mut Vec<Turn>) {
    let lengths: Vec<usize> = turns.iter().map(|turn| turn.content.chars().count()).collect();
    turns.truncate(fits(&lengths));
}

/// How many turns of these lengths one question can hold; at least one.
fn fits(lengths: &[usize]) -> usize {
    let mut chars = 0;
    let fits = lengths.iter().take_while(|length| {
        chars += shown(**length);
        chars <= MOST_CHARS
    });
    fits.count().max(1)
}

fn shown(length: usize) -> usize {
    length.min(6_000)
}

/// How many questions turns of these lengths come to, and how many characters those show.
pub(crate) fn passes(lengths: &[usize]) -> (usize, usize) {
    let most = usize::try_from(MOST_TURNS).unwrap_or(usize::MAX);
    let (mut rest, mut passes) = (lengths, 0);
    while !rest.is_empty() {
        rest = &rest[fits(&rest[..rest.len().min(most)]).min(rest.len())..];
        passes += 1;
    }
    (passes, lengths.iter().map(|length| shown(*length)).sum())
}
