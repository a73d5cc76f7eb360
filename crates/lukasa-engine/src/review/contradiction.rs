//! Contradictions: recorded when detected, listed, and resolved only by the user.

use std::collections::HashMap;

use lukasa_core::link::CONTRADICTS;
use lukasa_core::{
    Caller, CallerKind, Edit, FactId, Link, Period, Refusal, State, Timestamp, Verb, Version,
    record,
};
use lukasa_store::{Scope, fact, link, review};

use super::Reviews;
use crate::admission::check_domain;
use crate::error::{Error, Result};
use crate::facts::remaining;
use crate::memory::{Memory, as_memory, current};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart};

const SUPERSEDES: &str = "supersedes";
/// Maximum number of listed contradictions.
pub(super) const MAX_CONTRADICTIONS: i64 = 200;

/// Two memories that cannot both be true.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    pub since: Timestamp,
    /// The active memory; the older one, if both are active.
    pub standing: Memory,
    /// The memory that contradicts it: one that waits for a decision, or the newer of two active
    /// ones.
    pub against: Memory,
}

lukasa_core::words!(
    /// Which of the two is true.
    ContradictionChoice {
        Standing = "standing",
        Against = "against",
        /// The two do not contradict each other.
        Both = "both",
    }
);

impl Reviews {
    /// The unresolved contradictions, the newest first.
    pub async fn contradictions(
        &self,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<Vec<Contradiction>> {
        let scope = self.transactions.read(caller, now).await?;
        list_contradictions(&scope, now).await
    }

    /// Resolves a contradiction: a human says which of the two memories is true, or that both are.
    /// If it is the contradicting one, it replaces the other; `digest` is of the content they were
    /// shown, and needed if that one waits.
    pub async fn resolve(
        &self,
        request: &Request,
        against: FactId,
        which: ContradictionChoice,
        digest: &str,
    ) -> Result<Outcome> {
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        if request.caller.kind != CallerKind::Human {
            return Err(Refusal::NeedsHuman.into());
        }
        let now = request.moment.now;
        let waiting = fact::known_now(&writing.scope, against).await?;
        if waiting.is_empty() {
            return Err(Error::MemoryNotFound);
        }
        writing.check_match(&waiting)?;
        let links = link::of_relation(&writing.scope, CONTRADICTS, i64::MAX).await?;
        let links: Vec<Link> = links.into_iter().filter(|link| link.from == against).collect();
        if links.is_empty() || !waiting.iter().any(is_open) {
            return Err(Error::NoContradiction);
        }
        let is_active = !waiting.iter().any(waits);
        let voice = request.caller.voice;
        let mut effect = Effect {
            closes_links: links.iter().map(|link| link.id).collect(),
            also: links.iter().flat_map(|link| [link.from, link.to]).collect(),
            ..Effect::default()
        };
        let mut shown = Vec::new();
        match which {
            ContradictionChoice::Standing => {
                effect.changes = match is_active {
                    true => record::forget(&waiting, voice, &mut writing.stamp)?,
                    false => record::reject(&waiting, voice, &mut writing.stamp)?,
                };
                for link in &links {
                    let known = fact::known_now(&writing.scope, link.to).await?;
                    shown.extend(current(&known, now).map(|v| as_memory(v, &known, now)));
                }
            }
            ContradictionChoice::Against | ContradictionChoice::Both => {
                let number = fact::next_number(&writing.scope, against).await?;
                let stamp = &mut writing.stamp;
                let edit = Edit::default();
                let yes = match is_active {
                    true => record::confirm(&waiting, true, stamp)?,
                    false => record::accept(&waiting, &edit, digest, number, Some(voice), stamp)?,
                };
                for opened in &yes.opens {
                    check_domain(&writing.scope, opened.claim.domain.as_deref()).await?;
                }
                shown.extend(writing.shown(&remaining(&waiting, &yes)));
                effect.changes = yes;
                let replaced = match which {
                    ContradictionChoice::Both => &[][..],
                    _ => &links[..],
                };
                for link in replaced {
                    let known = fact::known_now(&writing.scope, link.to).await?;
                    // It may have been removed since in another way.
                    let Ok(gone) = record::forget(&known, voice, &mut writing.stamp) else {
                        continue;
                    };
                    effect.changes.closes.extend(gone.closes);
                    effect.changes.opens.extend(gone.opens);
                    effect.opens_links.push(Link {
                        id: writing.stamp.ids.link(),
                        from: against,
                        to: link.to,
                        relation: SUPERSEDES.into(),
                        known: Period::since(writing.stamp.at),
                        opened_by: writing.stamp.operation,
                        closed_by: None,
                        reopens: None,
                    });
                }
            }
        }
        let content = shown.first().map_or("", |memory| memory.version.claim.content.as_str());
        let mut outcome = Outcome::of(Verb::Resolve, format!("Settled: {content}"));
        outcome.memories = shown;
        writing.finish(Verb::Resolve, effect, outcome).await
    }
}

/// The first of the unresolved contradictions, the newest first.
pub(super) async fn list_contradictions(
    scope: &Scope,
    now: Timestamp,
) -> Result<Vec<Contradiction>> {
    let links = review::contradictions(scope, now, MAX_CONTRADICTIONS).await?;
    let ends: Vec<FactId> = links.iter().flat_map(|link| [link.from, link.to]).collect();
    let versions = fact::current_or_waiting(scope, &ends, now).await?;
    let (mut first, mut active) = (HashMap::new(), HashMap::new());
    for version in &versions {
        first.entry(version.fact).or_insert(version);
        if version.state == State::Active {
            active.entry(version.fact).or_insert(version);
        }
    }
    let show = |version: &Version| as_memory(version, std::slice::from_ref(version), now);
    let pairs = links.iter().filter_map(|link| {
        Some(Contradiction {
            since: link.known.from,
            standing: show(active.get(&link.to)?),
            against: show(first.get(&link.from)?),
        })
    });
    Ok(pairs.collect())
}

fn is_open(version: &Version) -> bool {
    waits(version) || version.state == State::Active
}

fn waits(version: &Version) -> bool {
    matches!(version.state, State::Proposed | State::Candidate)
}
