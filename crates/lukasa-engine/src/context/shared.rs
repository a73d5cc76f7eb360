//! The lines of spaces in a prompt, for a member who asked for them.
//!
//! What a member says in a space is read by the assistants of others, so nothing of it may direct them:
//! a memory that gives orders or permissions is left out of the prompts of everyone but the member who
//! said it, also if another member has accepted it.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::admission::line_directs;
use lukasa_core::context::block::{self, LeftOut, LeftOutReason, LineSource, SharedMemory};
use lukasa_core::context::{is_sure_enough, selective};
use lukasa_core::{Caller, FactId, SpaceName, Timestamp, UserId};
use lukasa_store::{policy, space};
use tokio::time::{Instant, timeout_at};

use super::Contexts;
use super::dynamic::dynamic_ask;
use super::retrieve::{Context, ContextPart, ContextRequest};
use crate::error::{Error, Result};
use crate::recall::RecalledFact;
use crate::request::Moment;

/// The name of a member whose name cannot be read now.
const UNNAMED_MEMBER: &str = "a member";

/// The memories of a space that are relevant to a message.
#[derive(Default)]
struct SharedFindings {
    /// With the member who said each, as far as that is recorded.
    found: Vec<(RecalledFact, Option<UserId>)>,
    left_out: Vec<LeftOut>,
}

impl Contexts {
    /// The context for a message, and the lines of these spaces that are relevant to it, within one
    /// budget and one deadline. The lines of a space are `None` if its database did not answer in time.
    /// A caller who is not a member of each of them is refused.
    pub async fn retrieve_with_spaces(
        &self,
        caller: &Caller,
        spaces: &[SpaceName],
        ask: &ContextRequest,
        moment: Moment,
    ) -> Result<(Context, Vec<Option<ContextPart>>)> {
        if spaces.is_empty() {
            return Ok((self.retrieve(caller, ask, moment).await?, Vec::new()));
        }
        // One after the other, so that the request has no more connections than one without spaces.
        let deadline = Instant::now() + ask.within;
        let context = self.retrieve(caller, ask, moment).await?;
        let (found, names) = self.find_shared(caller, spaces, ask, deadline, moment.now).await?;
        let mut marks = context.baseline.items.len() + context.dynamic.items.len();
        let used = context.spent.baseline + context.spent.dynamic;
        let mut left = context.spent.limit.saturating_sub(used);
        let mut parts = Vec::new();
        for (name, found) in spaces.iter().zip(found) {
            let part = found.map(|found| render(name, found, &names, (marks, left)));
            if let Some(part) = &part {
                marks += part.items.len();
                left = left.saturating_sub(part.tokens);
            }
            parts.push(part);
        }
        Ok((context, parts))
    }

    /// Searches the spaces, and reads the names of the members who said what was found.
    async fn find_shared(
        &self,
        caller: &Caller,
        spaces: &[SpaceName],
        ask: &ContextRequest,
        deadline: Instant,
        now: Timestamp,
    ) -> Result<(Vec<Option<SharedFindings>>, BTreeMap<UserId, String>)> {
        let paused = async {
            let scope = self.transactions.read(caller, now).await?;
            Ok::<_, Error>(policy::is_paused(&scope).await?)
        };
        let Some(paused) = by_deadline(deadline, paused).await? else {
            return Ok((spaces.iter().map(|_| None).collect(), BTreeMap::new()));
        };
        let mut found = Vec::new();
        let mut waiting = u32::try_from(spaces.len()).unwrap_or(u32::MAX);
        for name in spaces {
            // A space that does not answer leaves the next ones their share of the time.
            let start = Instant::now();
            let share = deadline.saturating_duration_since(start) / waiting.max(1);
            waiting = waiting.saturating_sub(1);
            let search = self.search_space(caller, name, ask, paused, now);
            found.push(by_deadline(start + share, search).await?);
        }
        let authors = found.iter().flatten().flat_map(|space| &space.found);
        let authors: BTreeSet<UserId> = authors.filter_map(|(_, author)| *author).collect();
        let names = async {
            Ok::<_, Error>(self.parts.store.names_of_users(caller.tenant, &authors).await?)
        };
        let names = by_deadline(deadline, names).await?.unwrap_or_default();
        Ok((found, names))
    }

    async fn search_space(
        &self,
        caller: &Caller,
        name: &SpaceName,
        ask: &ContextRequest,
        paused: bool,
        now: Timestamp,
    ) -> Result<SharedFindings> {
        let member = caller.in_space(name);
        if paused {
            // A caller who is not a member is refused here too.
            self.parts.store.read_as(&member).await?;
            return Ok(SharedFindings::default());
        }
        let mut asked = dynamic_ask(ask);
        (asked.turns, asked.episodes, asked.session) = (0, 0, None);
        let found = self.recall.search(&member, &asked, now).await?;
        let least = selective::min_relevance(&ask.message, found.model.is_some());
        let at = ask.point.resolve(now).valid;
        let is_wanted =
            |f: &RecalledFact| is_sure_enough(&f.memory.version, at) && f.why.is_relevant(least);
        let wanted: Vec<RecalledFact> = found.memories.into_iter().filter(is_wanted).collect();
        if wanted.is_empty() {
            return Ok(SharedFindings::default());
        }
        let edition = |f: &RecalledFact| (f.memory.version.fact, f.memory.version.number);
        let editions: Vec<(FactId, i32)> = wanted.iter().map(edition).collect();
        let scope = self.parts.store.read_as(&member).await?;
        let authors: BTreeMap<FactId, UserId> =
            space::authors(&scope, &editions).await?.into_iter().collect();
        drop(scope);
        let user = caller.user;
        self.parts.cpu.run(move || screened(wanted, &authors, user)).await
    }
}

/// What was found, without the memories whose line directs the assistants of others than the member
/// who said it.
fn screened(
    found: Vec<RecalledFact>,
    authors: &BTreeMap<FactId, UserId>,
    user: UserId,
) -> SharedFindings {
    let mut findings = SharedFindings::default();
    for f in found {
        let version = &f.memory.version;
        let author = authors.get(&version.fact).copied();
        if author != Some(user) && line_directs(&version.claim) {
            findings.left_out.push(LeftOut {
                source: LineSource::from(version),
                reason: LeftOutReason::DirectsAssistants,
                relevance: Some(f.why.relevance),
            });
            continue;
        }
        findings.found.push((f, author));
    }
    findings
}

/// The result of work on a database; `None` if it is unavailable, or does not answer in time.
async fn by_deadline<T>(
    deadline: Instant,
    work: impl Future<Output = Result<T>>,
) -> Result<Option<T>> {
    let reason = match timeout_at(deadline, work).await {
        Ok(Ok(done)) => return Ok(Some(done)),
        Ok(Err(Error::Unavailable(error))) => error.to_string(),
        Ok(Err(error)) => return Err(error),
        Err(_) => "timed out".to_owned(),
    };
    tracing::warn!(reason, "database unavailable; context lacks lines of a space");
    Ok(None)
}

/// The lines of a space; `within` is the number of lines before them and the tokens that are left.
fn render(
    name: &SpaceName,
    findings: SharedFindings,
    names: &BTreeMap<UserId, String>,
    (marks, left): (usize, usize),
) -> ContextPart {
    let named =
        |author: UserId| names.get(&author).cloned().unwrap_or_else(|| UNNAMED_MEMBER.to_owned());
    let shared = |(f, author): (RecalledFact, Option<UserId>)| SharedMemory {
        version: f.memory.version,
        relevance: f.why.relevance,
        said_by: author.map(named),
    };
    let shared: Vec<SharedMemory> = findings.found.into_iter().map(shared).collect();
    let mut part: ContextPart = block::shared(name.as_str(), &shared, marks, left).into();
    part.left_out.extend(findings.left_out);
    part
}
