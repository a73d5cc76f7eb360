//! Portraits: told from the facts at once, and phrased by a model when there is one and time for it.
//!
//! Reading never asks a model: what was phrased before is shown as far as it still stands, and the
//! template says the rest. Phrasing asks outside any transaction, and what comes back is kept only if
//! the facts are still the ones it was asked about.

use std::time::Duration;

use futures_util::try_join;
use lukasa_core::learn::prompt;
use lukasa_core::policy::Policy;
use lukasa_core::portrait::{self as rules, Name, Sentence, phrase};
use lukasa_core::time::micros;
use lukasa_core::{Caller, Domain, Portrait, Timestamp, Version};
use lukasa_store::portrait::{self as kept, Kept};
use lukasa_store::{Batch, Scope, domain};

use crate::directory::domains;
use crate::error::{Error, Result};
use crate::{Engine, Request};

/// What a portrait is said to be made by where no model's words stand in it.
const TEMPLATE: &str = "template";
const WITHIN: Duration = Duration::from_secs(60);
/// How many memories portraits are made from, the most important first.
const MATERIAL: i64 = 2_000;
/// Fewer facts than this say themselves well enough.
const WORTH_PHRASING: usize = 3;
/// How many facts one question shows; the template says the others.
const SHOWN: usize = 80;
/// How many portraits are phrased at once. The others wait for the next time.
const PHRASED_AT_ONCE: usize = 12;

/// A portrait, and how it came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    pub portrait: Portrait,
    /// The model that phrased it, or `template`.
    pub made_by: String,
    pub compiled_at: Timestamp,
    /// Whether it was compiled from just these facts; otherwise facts have come or gone since, which
    /// the text takes account of.
    pub fresh: bool,
}

/// Everything that portraits are made from at a moment.
struct Ground {
    material: Vec<Version>,
    kept: Vec<Kept>,
}

/// The facts that may be told of now.
async fn material(scope: &Scope, now: Timestamp) -> Result<Vec<Version>> {
    let (versions, shut) =
        try_join!(kept::material(scope, now, MATERIAL), domain::shut_ones(scope))?;
    Ok(rules::material(&versions, &shut, now))
}

impl Ground {
    async fn read(scope: &Scope, now: Timestamp) -> Result<Self> {
        let kept = async { Ok(kept::kept_ones(scope).await?) };
        let (material, kept) = try_join!(material(scope, now), kept)?;
        Ok(Self { material, kept })
    }

    fn of(&self, name: &Name) -> Option<&Kept> {
        let name = name.to_string();
        self.kept.iter().find(|kept| kept.name == name)
    }

    /// The portrait as it can be told now.
    fn compiled(&self, name: &Name, now: Timestamp) -> Compiled {
        let inputs = rules::inputs(name, &self.material);
        let kept = self.of(name);
        let phrased = kept.map_or(&[][..], |kept| &kept.sentences);
        let portrait = rules::compile(name, &inputs, phrased);
        let Some(kept) = kept else {
            return Compiled {
                portrait,
                made_by: TEMPLATE.to_owned(),
                compiled_at: now,
                fresh: true,
            };
        };
        Compiled {
            portrait,
            made_by: kept.made_by.clone(),
            compiled_at: kept.compiled_at,
            fresh: kept.inputs_hash == hash(name, &inputs),
        }
    }
}

/// What a phrased portrait depends on.
fn hash(name: &Name, inputs: &[Version]) -> String {
    rules::inputs_hash(name, inputs, Some(prompt::PORTRAIT.name))
}

impl Engine {
    /// Every portrait of a user.
    pub async fn portraits(&self, caller: &Caller, now: Timestamp) -> Result<Vec<Compiled>> {
        let scope = self.reading(caller, now).await?;
        let ground = Ground::read(&scope, now).await?;
        let names = rules::names(&ground.material);
        Ok(names.iter().map(|name| ground.compiled(name, now)).collect())
    }

    /// One portrait of a user. One of a domain in which nothing is known has no sentences.
    pub async fn portrait(&self, caller: &Caller, name: &str, now: Timestamp) -> Result<Compiled> {
        let name: Name = name.parse().map_err(|_| Error::PortraitNotFound)?;
        let scope = self.reading(caller, now).await?;
        if let Name::Domain(of) = &name {
            let found = domain::find(&scope, of).await?;
            found.ok_or_else(|| Error::DomainNotFound(of.clone()))?;
        }
        Ok(Ground::read(&scope, now).await?.compiled(&name, now))
    }

    /// Has a model phrase the portraits whose facts have changed, and says how many it phrased. Without
    /// a model there is nothing to do: the template is made whenever it is read. A model that is away
    /// or out of tokens leaves things as they are.
    pub async fn phrase_portraits(&self, request: &Request) -> Result<usize> {
        if !self.has_chat() {
            return Ok(0);
        }
        let (caller, now) = (&request.caller, request.moment.now);
        let scope = self.reading(caller, now).await?;
        let ground = Ground::read(&scope, now).await?;
        let ((policy, _), domains) = (self.policy_of(&scope).await?, domains(&scope).await?);
        drop(scope);
        self.remove_empty_portraits(request, &ground).await?;
        let names = rules::names(&ground.material);
        let mut due = Vec::new();
        for name in &names {
            let inputs = rules::inputs(name, &ground.material);
            let made = ground.of(name).is_some_and(|kept| kept.inputs_hash == hash(name, &inputs));
            if inputs.len() >= WORTH_PHRASING && !made {
                due.push((name, inputs));
            }
        }
        due.truncate(PHRASED_AT_ONCE);
        let mut phrased = 0;
        for (turn, (name, inputs)) in due.into_iter().enumerate() {
            let asked = self.phrase(request, turn, &inputs, &policy, &domains).await?;
            let Some((sentences, made_by)) = asked else { break };
            let kept = self.keep_portrait(request, name, &inputs, &sentences, made_by).await?;
            phrased += usize::from(kept);
        }
        Ok(phrased)
    }

    /// The sentences that a model found for these facts and that may stand, and the model; nothing if
    /// none answered.
    async fn phrase(
        &self,
        request: &Request,
        turn: usize,
        inputs: &[Version],
        policy: &Policy,
        domains: &[(Domain, bool)],
    ) -> Result<Option<(Vec<Sentence>, String)>> {
        let shown = &inputs[..inputs.len().min(SHOWN)];
        let words: Vec<&str> = shown.iter().map(rules::template::words).collect();
        let ask = prompt::portrait(&words, WITHIN);
        let mut moment = request.moment;
        // Each question draws ids of its own.
        moment.seed[15] ^= u8::try_from(turn).unwrap_or(u8::MAX).rotate_left(3);
        let asked =
            self.ask(&request.caller, "portrait", &ask, policy, moment, phrase::read).await?;
        let answered = match asked {
            Ok(answered) => answered,
            // An answer without shape is an answer: asking again tomorrow would cost the same again.
            Err(crate::chat::Unanswered::Unusable(_)) => {
                return Ok(Some((Vec::new(), TEMPLATE.to_owned())));
            }
            Err(why) => {
                tracing::warn!(%why, "portraits were not phrased");
                return Ok(None);
            }
        };
        let sentences = phrase::screened(&answered.read, shown, domains);
        let made_by = if sentences.is_empty() { TEMPLATE.to_owned() } else { answered.model };
        Ok(Some((sentences, made_by)))
    }

    /// Keeps a portrait if its facts are still those it was made from.
    async fn keep_portrait(
        &self,
        request: &Request,
        name: &Name,
        made_from: &[Version],
        sentences: &[Sentence],
        made_by: String,
    ) -> Result<bool> {
        let now = request.moment.now;
        let scope = self.writing(request).await?;
        let inputs = rules::inputs(name, &material(&scope, now).await?);
        let inputs_hash = hash(name, &inputs);
        if inputs_hash != hash(name, made_from) {
            return Ok(false);
        }
        let portrait = rules::compile(name, &inputs, sentences);
        let facts = portrait.facts();
        let cited = inputs.iter().filter(|version| facts.contains(&version.fact));
        let mut domains: Vec<String> = cited.filter_map(|v| v.claim.domain.clone()).collect();
        domains.sort_unstable();
        domains.dedup();
        let new = Kept {
            name: name.to_string(),
            inputs_hash,
            tokens: i32::try_from(portrait.tokens).unwrap_or(i32::MAX),
            sentences: portrait.sentences.into_iter().map(|placed| placed.sentence).collect(),
            facts,
            domains,
            made_by,
            compiled_at: micros(now),
        };
        let mut batch = Batch::default();
        kept::keep(&mut batch, &scope, &new)?;
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(true)
    }

    /// Facts can end by themselves, without a write that would take their portrait along.
    async fn remove_empty_portraits(&self, request: &Request, ground: &Ground) -> Result<()> {
        let mut empty: Vec<&str> = ground.kept.iter().map(|kept| kept.name.as_str()).collect();
        for name in rules::names(&ground.material) {
            if !rules::inputs(&name, &ground.material).is_empty() {
                let name = name.to_string();
                empty.retain(|other| *other != name);
            }
        }
        if empty.is_empty() {
            return Ok(());
        }
        let (scope, mut batch) = (self.writing(request).await?, Batch::default());
        for name in empty {
            kept::remove(&mut batch, &scope, name);
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }
}
