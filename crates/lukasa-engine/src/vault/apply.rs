//! Application of a plan: every line with the verb it asks for, all of them in one operation. A
//! refused line is reported and left unchanged; the others are applied.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::admission::{Writer, may_forget};
use lukasa_core::archive::{lower_version, screen_episode};
use lukasa_core::record::{self, Provenance};
use lukasa_core::vault::{BASE, FileProblem, PlanStep, PlannedChange, SyncPlan};
use lukasa_core::{
    CallerKind, Changes, Claim, EpisodeEdit, EpisodeId, FactId, Force, Link, Origin, Period,
    Project, Refusal, State, Verb, Version, VersionId, Voice,
};
use lukasa_store::{Batch, domain, episode, fact, learning};
use lukasa_text::screen::secret;

use super::outcome;
use crate::admission::{self, AdmissionRequest, check_domain};
use crate::directory::domains;
use crate::episode_edits::{EditedEpisode, check_edit, replace_episodes};
use crate::error::{Error, Result};
use crate::facts::default_effective;
use crate::transaction::{Effect, Outcome, Writing};

/// Status of a domain.
enum DomainStatus {
    Open,
    Closed,
    Missing,
}

/// Application of a plan in progress, on an in-memory copy of the memory that every step updates.
pub(super) struct PlanRun<'a> {
    writing: Writing<'a>,
    known: BTreeMap<FactId, Vec<Version>>,
    /// The facts that have a hard version at a place, or had one during this operation.
    hard: BTreeMap<RulePlace, BTreeSet<FactId>>,
    changes: Changes,
    /// Versions opened by this operation; closing one simply drops it.
    opened: BTreeSet<VersionId>,
    numbers: BTreeMap<FactId, i32>,
    /// Cached status of the domains.
    domains: BTreeMap<String, DomainStatus>,
    /// Whether the origins and consents in the base are trusted.
    trusted: bool,
    /// Episodes whose words are replaced.
    edited: Vec<EditedEpisode>,
    /// The names of all domains, loaded on first use.
    domain_names: Option<BTreeSet<String>>,
}

impl<'a> PlanRun<'a> {
    /// A run on the versions that a plan was made from. Active rules with the keys of these, and of
    /// those that are restored, are read here: no other rule can be in conflict.
    pub(super) async fn start(
        writing: Writing<'a>,
        versions: Vec<Version>,
        plan: &SyncPlan,
        trusted: bool,
    ) -> Result<Self> {
        let rules = versions.iter().chain(&plan.restores);
        let rules = rules.filter(|version| version.claim.force == Force::Hard);
        let keys: BTreeSet<&String> = rules.filter_map(|v| v.claim.key.as_ref()).collect();
        let keys: Vec<String> = keys.into_iter().cloned().collect();
        let mut known: BTreeMap<FactId, Vec<Version>> = BTreeMap::new();
        for version in versions {
            known.entry(version.fact).or_default().push(version);
        }
        if !keys.is_empty() {
            let mut others: BTreeMap<FactId, Vec<Version>> = BTreeMap::new();
            for rule in fact::rules_with_keys(&writing.scope, &keys).await? {
                others.entry(rule.fact).or_default().push(rule);
            }
            for (fact, rules) in others {
                known.entry(fact).or_insert(rules);
            }
        }
        let mut hard: BTreeMap<RulePlace, BTreeSet<FactId>> = BTreeMap::new();
        for version in known.values().flatten().filter(|v| v.claim.force == Force::Hard) {
            hard.entry(rule_place(&version.claim)).or_default().insert(version.fact);
        }
        Ok(Self {
            writing,
            known,
            hard,
            changes: Changes::default(),
            opened: BTreeSet::new(),
            numbers: BTreeMap::new(),
            domains: BTreeMap::new(),
            trusted,
            edited: Vec::new(),
            domain_names: None,
        })
    }

    /// Applies the plan; the returned plan lists what was applied and what was refused.
    pub(super) async fn run(mut self, mut plan: SyncPlan) -> Result<(SyncPlan, Outcome)> {
        let edited: Vec<FactId> = plan.steps.iter().filter_map(|step| step.fact).collect();
        self.numbers = fact::next_numbers(&self.writing.scope, &edited).await?;
        self.restore(&mut plan).await?;
        self.screen_episodes(&mut plan).await?;
        let mut done = Vec::new();
        for step in std::mem::take(&mut plan.steps) {
            if step.fact.is_some_and(|fact| plan.held.contains(&fact)) {
                continue;
            }
            match self.step(&step).await {
                Ok(()) => done.push(step),
                Err(refused) => {
                    let what = refusal_text(refused)?;
                    if matches!(step.what, PlannedChange::Episode { .. }) {
                        plan.kept_files.insert(step.file.clone());
                    }
                    plan.problems.push(FileProblem { file: step.file, line: step.line, what });
                    plan.held.extend(step.fact);
                    plan.kept.extend(step.entry);
                }
            }
        }
        plan.steps = done;
        plan.links.retain(|link| {
            self.known.contains_key(&link.from) && self.known.contains_key(&link.to)
        });
        let outcome = outcome(&plan);
        if plan.is_empty() {
            return Ok((plan, self.writing.answer(outcome).await?));
        }
        let mut effect = self.effect(&plan);
        replace_episodes(&self.writing, &mut self.edited, &mut effect).await?;
        let outcome = self.writing.finish(Verb::Sync, effect, outcome).await?;
        Ok((plan, outcome))
    }

    fn effect(&mut self, plan: &SyncPlan) -> Effect {
        let stamp = &mut self.writing.stamp;
        let known = Period::since(stamp.at);
        let opens_links = plan.links.iter().map(|link| Link {
            id: stamp.ids.link(),
            known,
            opened_by: stamp.operation,
            closed_by: None,
            reopens: None,
            ..link.clone()
        });
        let opens_links = opens_links.collect();
        let mut with = Batch::default();
        for episode in &plan.episodes {
            let mut episode = episode.clone();
            episode.origin = match self.trusted {
                true => episode.origin.min(self.writing.caller().voice.origin),
                false => Origin::Import,
            };
            learning::open_episode(&mut with, &self.writing.scope, &episode, Vec::new(), None);
        }
        let changes = std::mem::take(&mut self.changes);
        Effect { changes, opens_links, with, ..Effect::default() }
    }

    /// Removes from the episodes in the files what a model's summary may not have either, and those
    /// of which nothing is left: files can be edited.
    async fn screen_episodes(&self, plan: &mut SyncPlan) -> Result<()> {
        if plan.episodes.is_empty() {
            return Ok(());
        }
        let domains = domains(&self.writing.scope).await?;
        plan.episodes.retain_mut(|episode| {
            for text in episode.title.iter_mut().chain([&mut episode.summary]) {
                if let Some(masked) = secret::mask(text) {
                    *text = masked;
                }
            }
            screen_episode(episode, &domains)
        });
        Ok(())
    }

    /// Restores facts that this memory never had, one by one.
    async fn restore(&mut self, plan: &mut SyncPlan) -> Result<()> {
        let mut facts: BTreeMap<FactId, Vec<Version>> = BTreeMap::new();
        for version in std::mem::take(&mut plan.restores) {
            facts.entry(version.fact).or_default().push(version);
        }
        for (fact, written) in facts {
            match self.restore_fact(&written).await {
                Ok(()) => plan.restores.extend(written),
                Err(refused) => {
                    let what = refusal_text(refused)?;
                    let what = format!("{what}: {}", written[0].claim.content);
                    plan.problems.push(FileProblem { file: BASE.to_owned(), line: 0, what });
                    plan.held.insert(fact);
                    plan.kept.extend(plan.lines.get(&fact).into_iter().flatten().copied());
                }
            }
        }
        Ok(())
    }

    async fn restore_fact(&mut self, written: &[Version]) -> Result<()> {
        let mut written = written.to_vec();
        for version in &mut written {
            self.check_domain(version.claim.domain.as_deref()).await?;
            let screening = admission::screen(&version.claim).await;
            if let Some(kind) = screening.secret {
                return Err(Error::SecretRejected(kind));
            }
            if !self.trusted {
                let domains = self.domain_names().await?;
                lower_version(version, &screening, domains);
                // The sessions that it names are not in the files.
                (version.session, version.turns) = (None, Vec::new());
            }
        }
        let (voice, human) = self.speaker();
        let stamp = &mut self.writing.stamp;
        let opens: Vec<Version> =
            written.iter().map(|version| record::take_in(version, voice, human, stamp)).collect();
        if let Some(number) = written.iter().map(|version| version.number).max() {
            self.numbers.insert(written[0].fact, number.saturating_add(1));
        }
        self.absorb(Changes { closes: Vec::new(), opens })
    }

    /// The names of all domains.
    async fn domain_names(&mut self) -> Result<&BTreeSet<String>> {
        if self.domain_names.is_none() {
            let all = domain::of_tenant(&self.writing.scope).await?;
            self.domain_names = Some(all.into_iter().map(|domain| domain.name).collect());
        }
        Ok(self.domain_names.get_or_insert_default())
    }

    fn speaker(&self) -> (lukasa_core::Voice, bool) {
        let caller = self.writing.caller();
        (caller.voice, caller.kind == CallerKind::Human)
    }

    /// Replaces the words of an episode, which only the user does.
    async fn edit_episode(&mut self, id: EpisodeId, edit: &EpisodeEdit) -> Result<()> {
        if Writer::of(self.writing.caller()) != Writer::Human {
            return Err(Refusal::NeedsHuman.into());
        }
        let old = episode::find(&self.writing.scope, id).await?;
        let old = old.ok_or_else(|| Error::invalid("episode", "it was removed"))?;
        let edited = check_edit(&mut self.writing, &old, edit).await?;
        self.edited.push(edited);
        Ok(())
    }

    async fn step(&mut self, step: &PlanStep) -> Result<()> {
        if let PlannedChange::Episode { id, edit } = &step.what {
            return self.edit_episode(*id, edit).await;
        }
        let (voice, human) = self.speaker();
        let now = self.writing.now();
        let nothing = Vec::new();
        let known = step.fact.and_then(|fact| self.known.get(&fact)).unwrap_or(&nothing).clone();
        let number = step.fact.and_then(|fact| self.numbers.get(&fact)).copied().unwrap_or(1);
        let provenance =
            Provenance { confidence: voice.extracted.then_some(0.5), ..Provenance::stated(voice) };
        let writer = Writer::of(self.writing.caller());
        if matches!(
            step.what,
            PlannedChange::Accept { .. } | PlannedChange::Confirm | PlannedChange::Reject
        ) && writer != Writer::Human
        {
            return Err(Refusal::NeedsHuman.into());
        }
        if matches!(step.what, PlannedChange::Accept { .. } | PlannedChange::Confirm)
            && !self.trusted
        {
            // A forged base can make an untouched line look like one that the user has moved.
            return Err(Error::invalid(
                "base",
                "this server did not sign it, so nothing is accepted or confirmed by it; answer in \
                 the review, or sync with `trust` if the vault is yours",
            ));
        }
        let may_forget = known.iter().all(|version| may_forget(writer, version));
        if matches!(step.what, PlannedChange::Forget) && !may_forget {
            return Err(Refusal::NeedsHuman.into());
        }
        let saved = match &step.what {
            PlannedChange::Save(claim) => Some(self.admit(claim, None).await?),
            _ => None,
        };
        let stamp = &mut self.writing.stamp;
        // Admission has permitted the removal by an agent; the record need not check again.
        let removing =
            if writer == Writer::Agent { Voice::stated(Origin::UserTurn) } else { voice };
        let changes = match &step.what {
            PlannedChange::Save(claim) => {
                let claim = (**claim).clone();
                let (claim, state) = saved.unwrap_or((claim, State::Proposed));
                record::save(claim, state, Period::since(now), provenance, stamp)
            }
            PlannedChange::Change(edit) => {
                let effective = default_effective(&known, now, stamp.at);
                let effective = lukasa_core::time::micros(effective);
                record::change(&known, edit, effective, number, &provenance, stamp)?
            }
            PlannedChange::Forget => record::forget(&known, removing, stamp)?,
            PlannedChange::Confirm => record::confirm(&known, human, stamp)?,
            PlannedChange::Accept { edit, digest } => {
                let human = human.then_some(voice);
                record::accept(&known, edit, digest, number, human, stamp)?
            }
            PlannedChange::Reject => record::reject(&known, voice, stamp)?,
            PlannedChange::Episode { .. } => Changes::default(),
        };
        for opened in changes.opens.iter().filter(|v| v.state == State::Active) {
            Error::faults(opened.claim.faults())?;
            if known.iter().any(|v| v.claim == opened.claim && v.state == State::Active) {
                continue;
            }
            let domain = known.iter().find_map(|v| v.claim.domain.clone());
            let domain = domain.filter(|_| !matches!(step.what, PlannedChange::Accept { .. }));
            if !matches!(step.what, PlannedChange::Save(_))
                && self.admit(&opened.claim, domain.as_deref()).await?.1 != State::Active
            {
                return Err(Refusal::NeedsHuman.into());
            }
        }
        self.absorb(changes)
    }

    /// Asks admission about a claim: returns the claim as it may be kept, and its state.
    async fn admit(&self, claim: &Claim, has_domain: Option<&str>) -> Result<(Claim, State)> {
        let screening = admission::screen(claim).await;
        let caller = self.writing.caller();
        let ask = AdmissionRequest { has_domain, ..AdmissionRequest::of(caller, &screening) };
        let admitted = admission::admit(&self.writing.scope, claim.clone(), ask).await?;
        Ok((admitted.claim, admitted.state))
    }

    async fn check_domain(&mut self, name: Option<&str>) -> Result<()> {
        let Some(name) = name else { return Ok(()) };
        if !self.domains.contains_key(name) {
            let status = match check_domain(&self.writing.scope, Some(name)).await {
                Ok(_) => DomainStatus::Open,
                Err(Error::DomainNotFound(_)) => DomainStatus::Missing,
                Err(Error::OptInNeeded(_)) => DomainStatus::Closed,
                Err(other) => return Err(other),
            };
            self.domains.insert(name.to_owned(), status);
        }
        match self.domains.get(name) {
            Some(DomainStatus::Missing) => Err(Error::DomainNotFound(name.to_owned())),
            Some(DomainStatus::Closed) => Err(Error::OptInNeeded(name.to_owned())),
            _ => Ok(()),
        }
    }

    /// Adds changes to the operation and the in-memory copy, unless they conflict: the database
    /// would refuse the whole operation because of one of them.
    fn absorb(&mut self, changes: Changes) -> Result<()> {
        let closed: BTreeSet<VersionId> = changes.closes.iter().map(|(_, id)| *id).collect();
        let stays = |v: &&Version| v.state == State::Active && !closed.contains(&v.id);
        for (at, opened) in changes.opens.iter().enumerate() {
            if opened.state != State::Active {
                continue;
            }
            let same = self.known.get(&opened.fact).into_iter().flatten();
            let beside = same.filter(stays).chain(&changes.opens[..at]);
            let mut beside = beside.filter(|v| v.fact == opened.fact && v.state == State::Active);
            if beside.any(|v| v.valid.overlaps(&opened.valid)) {
                return Err(Refusal::OverlapsItself.into());
            }
            if opened.claim.force == Force::Hard {
                let taken = |v: &&Version| v.fact != opened.fact && has_same_key(v, opened);
                let there = self.hard.get(&rule_place(&opened.claim)).into_iter().flatten();
                let mut there = there.filter_map(|fact| self.known.get(fact)).flatten();
                if there.any(|v| stays(&v) && taken(&v)) {
                    return Err(Error::KeyTaken(None));
                }
            }
        }
        for (fact, id) in &changes.closes {
            if let Some(known) = self.known.get_mut(fact) {
                known.retain(|v| v.id != *id);
            }
            if self.opened.remove(id) {
                self.changes.opens.retain(|v| v.id != *id);
            } else {
                self.changes.closes.push((*fact, *id));
            }
        }
        for version in changes.opens {
            if version.claim.force == Force::Hard {
                let place = rule_place(&version.claim);
                self.hard.entry(place).or_default().insert(version.fact);
            }
            self.known.entry(version.fact).or_default().push(version.clone());
            self.opened.insert(version.id);
            self.changes.opens.push(version);
        }
        Ok(())
    }
}

/// The place of a rule: its domain, key and project.
type RulePlace = (Option<String>, Option<String>, Option<Project>);

fn rule_place(claim: &Claim) -> RulePlace {
    (claim.domain.clone(), claim.key.clone(), claim.project.clone())
}

/// Whether two hard versions have the same key at the same time.
fn has_same_key(one: &Version, two: &Version) -> bool {
    one.claim.force == two.claim.force
        && one.claim.force == Force::Hard
        && rule_place(&one.claim) == rule_place(&two.claim)
        && one.valid.overlaps(&two.valid)
}

/// The text of a refusal of one line; any other error ends the sync.
fn refusal_text(error: Error) -> Result<String> {
    match &error {
        Error::Invalid(faults) => {
            let reasons: Vec<String> =
                faults.iter().map(|fault| format!("{}: {}", fault.field, fault.reason)).collect();
            Ok(reasons.join("; "))
        }
        Error::Refused(_)
        | Error::KeyTaken(_)
        | Error::OptInNeeded(_)
        | Error::SecretRejected(_)
        | Error::DomainNotFound(_)
        | Error::NotProposed => Ok(error.to_string()),
        _ => Err(error),
    }
}
