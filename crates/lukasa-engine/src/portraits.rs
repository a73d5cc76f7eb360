//! Portraits: built from the facts with a template, and phrased by a model in the background if one
//! is configured.
//!
//! Reading never asks a model: sentences phrased earlier are shown as far as their facts still
//! hold, and the template covers the rest. Phrasing asks outside any transaction, and its result is
//! stored only if the facts are still the ones it was asked about.

use std::sync::Arc;
use std::time::Duration;

use futures_util::try_join;
use lukasa_core::learning::prompt;
use lukasa_core::model::CallPurpose;
use lukasa_core::policy::Policy;
use lukasa_core::portrait::{self as rules, PortraitName, TEMPLATE, phrase};
use lukasa_core::sentence::{self, Sentence};
use lukasa_core::time::micros;
use lukasa_core::{Caller, Domain, Portrait, Timestamp, Version};
use lukasa_store::portrait::{self as kept, StoredPortrait};
use lukasa_store::{Batch, Scope, domain};

use crate::chat::ChatModels;
use crate::directory::domains;
use crate::error::{Error, Result};
use crate::parts::Parts;
use crate::policy::Policies;
use crate::request::Request;
use crate::transaction::Transactions;

const PHRASE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum number of memories that portraits are made from, the most important first.
const MAX_FACTS: i64 = 2_000;
/// Portraits with fewer facts than this are left to the template.
const MIN_FACTS_TO_PHRASE: usize = 3;
/// Maximum number of facts in one question; the template covers the others.
const MAX_SHOWN_FACTS: usize = 80;
/// Maximum number of portraits phrased per run. The others wait for the next run.
const MAX_PHRASED_PER_RUN: usize = 12;

/// A portrait, with what made it and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledPortrait {
    pub portrait: Portrait,
    /// The model that phrased it, or `template`.
    pub made_by: String,
    pub compiled_at: Timestamp,
    /// Whether it was compiled from exactly the current facts; otherwise facts were added or
    /// removed since, which the text reflects.
    pub fresh: bool,
}

/// Inputs of all portraits of a user at one time.
struct PortraitInputs {
    material: Vec<Version>,
    kept: Vec<StoredPortrait>,
}

/// The facts that portraits may use now.
async fn material(scope: &Scope, now: Timestamp) -> Result<Vec<Version>> {
    let (versions, closed) =
        try_join!(kept::material(scope, now, MAX_FACTS), domain::closed_domains(scope))?;
    Ok(rules::material(&versions, &closed, now))
}

impl PortraitInputs {
    async fn read(scope: &Scope, now: Timestamp) -> Result<Self> {
        let kept = async { Ok(kept::list(scope).await?) };
        let (material, kept) = try_join!(material(scope, now), kept)?;
        Ok(Self { material, kept })
    }

    fn of(&self, name: &PortraitName) -> Option<&StoredPortrait> {
        let name = name.to_string();
        self.kept.iter().find(|kept| kept.name == name)
    }

    /// Compiles a portrait from the current facts.
    fn compiled(&self, name: &PortraitName, now: Timestamp) -> CompiledPortrait {
        let inputs = rules::inputs(name, &self.material);
        let kept = self.of(name);
        let phrased = kept.map_or(&[][..], |kept| &kept.sentences);
        let portrait = rules::compile(name, &inputs, phrased);
        let Some(kept) = kept else {
            return CompiledPortrait {
                portrait,
                made_by: TEMPLATE.to_owned(),
                compiled_at: now,
                fresh: true,
            };
        };
        CompiledPortrait {
            portrait,
            made_by: kept.made_by.clone(),
            compiled_at: kept.compiled_at,
            fresh: kept.inputs_hash == hash(name, &inputs),
        }
    }
}

/// Digest of what a phrased portrait depends on.
fn hash(name: &PortraitName, inputs: &[Version]) -> String {
    rules::inputs_hash(name, inputs, Some(prompt::PORTRAIT.name))
}

/// The portraits of a user.
#[derive(Clone)]
pub struct Portraits {
    parts: Arc<Parts>,
    transactions: Transactions,
    policies: Policies,
    chat: ChatModels,
}

impl Portraits {
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        policies: Policies,
        chat: ChatModels,
    ) -> Self {
        Self { parts, transactions, policies, chat }
    }

    /// Every portrait of a user.
    pub async fn list(&self, caller: &Caller, now: Timestamp) -> Result<Vec<CompiledPortrait>> {
        let scope = self.transactions.read(caller, now).await?;
        let source = PortraitInputs::read(&scope, now).await?;
        drop(scope);
        let compile = move || {
            let names = rules::names(&source.material);
            names.iter().map(|name| source.compiled(name, now)).collect()
        };
        self.parts.cpu.run(compile).await
    }

    /// One portrait of a user. The portrait of a domain without facts has no sentences.
    pub async fn get(
        &self,
        caller: &Caller,
        name: &str,
        now: Timestamp,
    ) -> Result<CompiledPortrait> {
        let name: PortraitName = name.parse().map_err(|_| Error::PortraitNotFound)?;
        let scope = self.transactions.read(caller, now).await?;
        if let PortraitName::Domain(of) = &name {
            let found = domain::find(&scope, of).await?;
            found.ok_or_else(|| Error::DomainNotFound(of.clone()))?;
        }
        Ok(PortraitInputs::read(&scope, now).await?.compiled(&name, now))
    }

    /// Has a model phrase the portraits whose facts have changed; returns how many were phrased.
    /// Without a model there is nothing to do: the template is rendered on every read. If the model
    /// is unavailable or the token budget is spent, nothing changes.
    pub async fn phrase_all(&self, request: &Request) -> Result<usize> {
        if !self.parts.has_chat() {
            return Ok(0);
        }
        let (caller, now) = (&request.caller, request.moment.now);
        let scope = self.transactions.read(caller, now).await?;
        let source = PortraitInputs::read(&scope, now).await?;
        let ((policy, _), domains) = (self.policies.load(&scope).await?, domains(&scope).await?);
        drop(scope);
        self.remove_empty(request, &source).await?;
        let names = rules::names(&source.material);
        let mut due = Vec::new();
        for name in &names {
            let inputs = rules::inputs(name, &source.material);
            let made = source.of(name).is_some_and(|kept| kept.inputs_hash == hash(name, &inputs));
            if inputs.len() >= MIN_FACTS_TO_PHRASE && !made {
                due.push((name, inputs));
            }
        }
        due.truncate(MAX_PHRASED_PER_RUN);
        let mut phrased = 0;
        for (turn, (name, inputs)) in due.into_iter().enumerate() {
            let asked = self.phrase(request, turn, &inputs, &policy, &domains).await?;
            let Some((sentences, made_by)) = asked else { break };
            let kept = self.keep(request, name, &inputs, &sentences, made_by).await?;
            phrased += usize::from(kept);
        }
        Ok(phrased)
    }

    /// Asks a model to phrase these facts: the sentences that passed the screens, and the model;
    /// `None` if no model answered.
    async fn phrase(
        &self,
        request: &Request,
        turn: usize,
        inputs: &[Version],
        policy: &Policy,
        domains: &[(Domain, bool)],
    ) -> Result<Option<(Vec<Sentence>, String)>> {
        let shown = &inputs[..inputs.len().min(MAX_SHOWN_FACTS)];
        let words: Vec<_> = shown.iter().map(sentence::words).collect();
        let words: Vec<&str> = words.iter().map(|words| &**words).collect();
        let ask = prompt::portrait(&words, PHRASE_TIMEOUT);
        let mut moment = request.moment;
        // Each question needs its own ids.
        moment.seed[15] ^= u8::try_from(turn).unwrap_or(u8::MAX).rotate_left(3);
        let asked = self
            .chat
            .ask(&request.caller, CallPurpose::Portrait, &ask, policy, moment, phrase::read)
            .await?;
        let answered = match asked {
            Ok(answered) => answered,
            // Store an unusable answer as an empty result: asking again tomorrow would cost the
            // same again.
            Err(crate::chat::NoAnswer::Unusable(_)) => {
                return Ok(Some((Vec::new(), TEMPLATE.to_owned())));
            }
            Err(why) => {
                tracing::warn!(%why, "could not phrase portraits; the template is used");
                return Ok(None);
            }
        };
        let sentences = phrase::screened(&answered.read, shown, domains);
        let made_by = if sentences.is_empty() { TEMPLATE.to_owned() } else { answered.model };
        Ok(Some((sentences, made_by)))
    }

    /// Stores a portrait if its facts are still those it was made from; false otherwise.
    async fn keep(
        &self,
        request: &Request,
        name: &PortraitName,
        made_from: &[Version],
        sentences: &[Sentence],
        made_by: String,
    ) -> Result<bool> {
        let now = request.moment.now;
        let scope = self.transactions.write(request).await?;
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
        let new = StoredPortrait {
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

    /// Removes portraits without facts: facts can expire without a write that would remove the
    /// portrait.
    async fn remove_empty(&self, request: &Request, source: &PortraitInputs) -> Result<()> {
        let mut empty: Vec<&str> = source.kept.iter().map(|kept| kept.name.as_str()).collect();
        for name in rules::names(&source.material) {
            if !rules::inputs(&name, &source.material).is_empty() {
                let name = name.to_string();
                empty.retain(|other| *other != name);
            }
        }
        if empty.is_empty() {
            return Ok(());
        }
        let (scope, mut batch) = (self.transactions.write(request).await?, Batch::default());
        for name in empty {
            kept::remove(&mut batch, &scope, name);
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }
}
