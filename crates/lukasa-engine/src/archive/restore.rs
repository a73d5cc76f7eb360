//! Import of an export: every version with both of its periods, as it was. Existing facts stay
//! unchanged, and what was erased here is not imported.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::try_join;
use lukasa_core::archive::{
    CLOCK_TOLERANCE, Contents, DomainLine, Lowering, Manifest, ScreenedOut, faults, limit_trust,
    screen,
};
use lukasa_core::import::ImportCounts;
use lukasa_core::limits::OBSERVATIONS;
use lukasa_core::policy::Patch;
use lukasa_core::time::micros;
use lukasa_core::{
    CallerKind, Changes, Episode, FactId, Force, ImportId, Observation, ObservationId, Operation,
    Session, State, Turn, Verb, Version,
};
use lukasa_store::context::{self, Usage};
use lukasa_store::policy::{self, PolicyRow};
use lukasa_store::{
    Batch, Scope, domain, everything, fact, import, link, observation, operation, removal, session,
};
use lukasa_text::screen::secret;
use uuid::Uuid;

use super::Archives;
use super::chats::{Chat, chat_item};
use super::consents::is_consent;
use super::{ArchiveTrust, ImportReport, ImportSource, import_of, put_import};
use crate::directory::domains;
use crate::error::{Error, InvalidField, Result};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart};

/// Facts per transaction.
const FACT_BATCH_SIZE: usize = 500;
/// Turns after which the next transaction begins.
const TURN_BATCH_SIZE: usize = 2_000;

/// A parsed export.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Archive {
    pub contents: Contents,
    pub usage: Vec<Usage>,
    pub policy: Patch,
    pub domains: Vec<DomainLine>,
    /// The manifest that the files were checked against; without one the export counts as unsigned.
    pub manifest: Option<Manifest>,
}

/// Options of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Only report what would be imported.
    pub dry_run: bool,
    /// A human declares that the export is theirs although this installation did not sign it.
    /// Ignored from any other caller.
    pub trust: bool,
}

/// The parts of an export to import.
struct Plan {
    facts: Vec<(FactId, Vec<Version>)>,
    sessions: Vec<Session>,
    operations: Vec<Operation>,
    report: ImportReport,
    /// Nothing was ever written about the user, or only the log of this import, which stopped there.
    empty: bool,
}

impl Archives {
    /// Imports an export. One that was signed here and that the user imports into an empty memory
    /// restores exactly the exported memory. One that is not trusted is lowered to origin `import`.
    pub async fn import_archive(
        &self,
        request: &Request,
        source: &ImportSource,
        mut archive: Archive,
        how: ImportOptions,
    ) -> Result<ImportReport> {
        let trust = self.archive_trust(request, &archive, how).await?;
        let now = request.moment.now;
        let latest = if trust.trusted { now + CLOCK_TOLERANCE } else { now };
        let fault = |reason| InvalidField { field: "archive".into(), reason };
        let contents = std::mem::take(&mut archive.contents);
        let check = move || (faults(&contents, latest), contents);
        let (found, contents) = self.parts.cpu.run(check).await?;
        archive.contents = contents;
        if !found.is_empty() {
            return Err(Error::Invalid(found.into_iter().map(fault).collect()));
        }
        let screened = self.screen_archive(request, source, &mut archive, trust).await?;
        let scope = self.write(request).await?;
        let mut plan = plan(&scope, request, source, &mut archive.contents, trust.trusted).await?;
        plan.report.counts.secrets = screened.secrets;
        plan.report.counts.left_out += screened.closed;
        plan.report.archive = Some(trust);
        if how.dry_run {
            let counts = &mut plan.report.counts;
            counts.proposals = plan.facts.iter().filter(|(_, versions)| waits(versions)).count();
            counts.memories = plan.facts.len() - counts.proposals;
            counts.chats = plan.sessions.len();
            let turns = plan.sessions.iter().map(|session| usize::try_from(session.turns));
            counts.turns = turns.map(|count| count.unwrap_or(0)).sum();
            let new = new_observations(&scope, &archive.contents.observations, counts).await?;
            counts.observations = new.len();
            return Ok(plan.report);
        }
        self.restore_log_and_settings(scope, request, source, &plan, &archive).await?;
        let mut number = 0;
        let mut next = || {
            number += 1;
            request.part(number)
        };
        if plan.empty && trust.trusted {
            self.restore_consents(&next(), source, &archive.domains, &mut plan.report).await?;
        }
        let facts = std::mem::take(&mut plan.facts);
        let mut usage: BTreeMap<FactId, Vec<Usage>> = BTreeMap::new();
        for used in archive.usage.into_iter().filter(is_reported) {
            usage.entry(used.fact).or_default().push(used);
        }
        for chunk in facts.chunks(FACT_BATCH_SIZE) {
            self.restore_facts(&next(), source, chunk, &usage, &mut plan.report).await?;
        }
        self.restore_links(&next(), source, &archive.contents, &mut plan.report).await?;
        let mut turns: BTreeMap<String, Vec<Turn>> = BTreeMap::new();
        for turn in archive.contents.turns {
            turns.entry(turn.session.clone()).or_default().push(turn);
        }
        let mut episodes: BTreeMap<String, Vec<Episode>> = BTreeMap::new();
        for episode in archive.contents.episodes {
            episodes.entry(episode.session.clone()).or_default().push(episode);
        }
        let mut chats = Vec::new();
        let mut size = 0;
        for session in plan.sessions {
            let turns = turns.remove(&session.id).unwrap_or_default();
            let episodes = episodes.remove(&session.id).unwrap_or_default();
            size += turns.len() + 1;
            chats.push(Chat { session, turns, episodes });
            if size >= TURN_BATCH_SIZE {
                let part = std::mem::take(&mut chats);
                self.restore_chats(&next(), source, part, &mut plan.report).await?;
                size = 0;
            }
        }
        self.restore_chats(&next(), source, chats, &mut plan.report).await?;
        for chunk in archive.contents.observations.chunks(FACT_BATCH_SIZE) {
            self.restore_observations(&next(), source, chunk, &mut plan.report).await?;
        }
        Ok(plan.report)
    }

    async fn restore_observations(
        &self,
        request: &Request,
        source: &ImportSource,
        observations: &[Observation],
        report: &mut ImportReport,
    ) -> Result<()> {
        let scope = self.write(request).await?;
        let mut counts = ImportCounts::default();
        let new = new_observations(&scope, observations, &mut counts).await?;
        counts.observations = new.len();
        report.counts.add(&counts);
        let (mut import, begins) = import_of(&scope, request, source).await?;
        import.counts.observations += new.len();
        let mut batch = Batch::default();
        observation::remove_undone(&mut batch, &scope, &new);
        observation::insert(&mut batch, &scope, &new, Some(import.id));
        put_import(&mut batch, &scope, request, &import, begins);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    /// Determines how far an export is trusted.
    async fn archive_trust(
        &self,
        request: &Request,
        archive: &Archive,
        how: ImportOptions,
    ) -> Result<ArchiveTrust> {
        let caller = &request.caller;
        let signed_here = match &archive.manifest {
            Some(manifest) => {
                self.signatures.has_signed_manifest(caller.tenant, caller.user, manifest).await?
            }
            None => false,
        };
        let trusted = caller.kind == CallerKind::Human && (signed_here || how.trust);
        Ok(ArchiveTrust { signed_here, trusted })
    }

    /// Removes secrets from an export, lowers an untrusted one to origin `import`, and returns how
    /// much was left out.
    async fn screen_archive(
        &self,
        request: &Request,
        source: &ImportSource,
        archive: &mut Archive,
        trust: ArchiveTrust,
    ) -> Result<ScreenedOut> {
        let (caller, now) = (&request.caller, request.moment.now);
        let (mut lowering, mut trusted_by) = (None, None);
        if trust.trusted {
            trusted_by = Some(caller.clone());
        } else {
            let domains = domains(&self.transactions.read(caller, now).await?).await?;
            let import = ImportId::of(caller.user, source.format.as_str(), &source.digest);
            lowering = Some(Lowering { import, domains, now: micros(now) });
            archive.usage.clear();
        }
        let mut contents = std::mem::take(&mut archive.contents);
        let mut usage = std::mem::take(&mut archive.usage);
        let screened = self.parts.cpu.run(move || {
            if let Some(caller) = &trusted_by {
                limit_trust(&mut contents, caller);
            }
            let out = screen(&mut contents, lowering.as_ref());
            usage.iter_mut().filter_map(|used| used.influence.as_mut()).for_each(mask_text);
            (contents, usage, out)
        });
        let (contents, usage, out) = screened.await?;
        (archive.contents, archive.usage) = (contents, usage);
        Ok(out)
    }

    /// Writes what the rest depends on: the log of operations, and, if the memory was empty, the
    /// user's policy and the domains that are open without a consent.
    async fn restore_log_and_settings(
        &self,
        scope: Scope,
        request: &Request,
        source: &ImportSource,
        plan: &Plan,
        archive: &Archive,
    ) -> Result<()> {
        let mut batch = Batch::default();
        for old in &plan.operations {
            operation::insert(&mut batch, &scope, old);
        }
        let (import, begins) = import_of(&scope, request, source).await?;
        put_import(&mut batch, &scope, request, &import, begins);
        let trusted = plan.report.archive.is_some_and(|archive| archive.trusted);
        if plan.empty && trusted {
            let now = micros(request.moment.now);
            for line in archive.domains.iter().filter(|line| line.opted_in_at.is_some()) {
                let (name, since) = (&line.domain.name, line.opted_in_at.unwrap_or(now));
                let found = domain::find(&scope, name).await?;
                if found.is_some_and(|(domain, _)| !is_consent(line, &domain)) {
                    domain::open(&scope, name, since).await?;
                }
            }
            let stored = policy::of_user(&scope).await?;
            let has_policy =
                archive.policy != Patch::default() && archive.policy.faults().is_empty();
            if stored.version == 0 && has_policy {
                let stored =
                    PolicyRow { version: 1, patch: archive.policy.clone(), ..PolicyRow::default() };
                policy::set_user(&scope, &stored, &request.caller.credential, now).await?;
            }
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    async fn restore_facts(
        &self,
        request: &Request,
        source: &ImportSource,
        facts: &[(FactId, Vec<Version>)],
        usage: &BTreeMap<FactId, Vec<Usage>>,
        report: &mut ImportReport,
    ) -> Result<()> {
        let WriteStart::New(writing) = self.transactions.begin(request).await? else {
            return Ok(());
        };
        let ids: Vec<FactId> = facts.iter().map(|(fact, _)| *fact).collect();
        let version_ids: Vec<Uuid> =
            facts.iter().flat_map(|(_, versions)| versions).map(|v| v.id.uuid()).collect();
        let (there, taken) = try_join!(
            fact::existing(&writing.scope, &ids),
            import::taken_ids(&writing.scope, &version_ids)
        )?;
        let there: BTreeSet<FactId> = there.into_iter().collect();
        // A version with the id of another memory's version or of a turn: the export was edited.
        let is_new = |(fact, versions): &&(FactId, Vec<Version>)| {
            !there.contains(fact) && versions.iter().all(|v| !taken.contains(&v.id.uuid()))
        };
        let (mut changes, mut batch, mut counts) =
            (Changes::default(), Batch::default(), ImportCounts::default());
        for (fact, versions) in facts.iter().filter(is_new) {
            match waits(versions) {
                true => counts.proposals += 1,
                false => counts.memories += 1,
            }
            changes.opens.extend(versions.iter().cloned());
            for used in usage.get(fact).into_iter().flatten() {
                context::put_back_usage(&mut batch, &writing.scope, used);
            }
        }
        if changes.opens.is_empty() {
            return Ok(());
        }
        let (mut import, begins) = import_of(&writing.scope, request, source).await?;
        import.operations.push(writing.stamp.operation);
        import.counts.add(&counts);
        put_import(&mut batch, &writing.scope, request, &import, begins);
        report.operations.push(writing.stamp.operation);
        report.counts.add(&counts);
        let effect = Effect { changes, with: batch, ..Effect::default() };
        let message = format!("Imported: {}", counts.memories + counts.proposals);
        writing.finish(Verb::Import, effect, Outcome::of(Verb::Import, message)).await?;
        Ok(())
    }

    async fn restore_links(
        &self,
        request: &Request,
        source: &ImportSource,
        contents: &Contents,
        report: &mut ImportReport,
    ) -> Result<()> {
        if contents.links.is_empty() {
            return Ok(());
        }
        let scope = self.write(request).await?;
        let facts: Vec<FactId> = contents.links.iter().flat_map(|l| [l.from, l.to]).collect();
        let ids: Vec<_> = contents.links.iter().map(|link| link.id).collect();
        let (facts, there) =
            try_join!(fact::existing(&scope, &facts), link::existing(&scope, &ids))?;
        let facts: BTreeSet<FactId> = facts.into_iter().collect();
        let links = contents.links.iter();
        let operations: Vec<_> =
            links.flat_map(|l| [Some(l.opened_by), l.closed_by]).flatten().collect();
        let known = operation::with_id_or_time(&scope, &operations, &[]).await?;
        let known: BTreeSet<_> = known.into_iter().map(|(id, _)| id).collect();
        let mut batch = Batch::default();
        for link in contents.links.iter().filter(|link| !there.contains(&link.id)) {
            let ends = facts.contains(&link.from) && facts.contains(&link.to);
            if ends && known.contains(&link.opened_by) {
                link::put_back(&mut batch, &scope, link);
                report.counts.links += 1;
            }
        }
        if batch.is_empty() {
            return Ok(());
        }
        let (mut import, begins) = import_of(&scope, request, source).await?;
        import.counts.links = import.counts.links.max(report.counts.links);
        put_import(&mut batch, &scope, request, &import, begins);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }
}

/// Those of these observations that can be imported. Those that exist or were removed, other than by
/// the undo of an import, are counted as known, and those beyond the limit of a user as left out.
async fn new_observations(
    scope: &Scope,
    observations: &[Observation],
    counts: &mut ImportCounts,
) -> Result<Vec<Observation>> {
    if observations.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<ObservationId> = observations.iter().map(|observation| observation.id).collect();
    let most = i64::try_from(OBSERVATIONS).unwrap_or(i64::MAX);
    let (there, erased, stored) = try_join!(
        observation::kept_by_import(scope, &ids),
        observation::erased(scope, &ids),
        observation::count(scope, most),
    )?;
    let known: BTreeSet<ObservationId> = there.into_iter().chain(erased).collect();
    let new = observations.iter().filter(|observation| !known.contains(&observation.id));
    let mut new: Vec<Observation> = new.cloned().collect();
    counts.known += observations.len() - new.len();
    let room = usize::try_from(most - stored).unwrap_or(0);
    counts.left_out += new.len().saturating_sub(room);
    new.truncate(room);
    Ok(new)
}

/// Whether a usage was reported, rather than derived from a retrieval.
fn is_reported(used: &Usage) -> bool {
    used.retrieval.is_none_or(|retrieval| retrieval.uuid() != used.id.uuid())
}

/// Whether a fact is a proposal.
fn waits(versions: &[Version]) -> bool {
    versions.iter().any(|v| v.known.until.is_none() && v.state == State::Proposed)
}

/// Decides which parts of an export are imported: nothing that exists, nothing that was erased, and
/// nothing that would take the key of an existing hard memory.
async fn plan(
    scope: &Scope,
    request: &Request,
    source: &ImportSource,
    contents: &mut Contents,
    trusted: bool,
) -> Result<Plan> {
    let (import, begins) = import_of(scope, request, source).await?;
    let mut report = ImportReport::empty(import.id);
    let mut facts: BTreeMap<FactId, Vec<Version>> = BTreeMap::new();
    for version in std::mem::take(&mut contents.versions) {
        facts.entry(version.fact).or_default().push(version);
    }
    let ids: Vec<FactId> = facts.keys().copied().collect();
    let (last, chats, there, gone, keys, closed) = try_join!(
        operation::last_at(scope),
        everything::has_sessions(scope),
        fact::existing(scope, &ids),
        removal::erased_facts(scope, &ids),
        fact::keys_held(scope),
        domain::closed_domains(scope),
    )?;
    for fact in there.iter().chain(&gone) {
        facts.remove(fact);
        report.counts.known += 1;
    }
    // Memories in a closed domain are imported only from a trusted export. A proposal may be
    // imported: it asks for its domain to be opened.
    let is_barred = |v: &Version| {
        !trusted
            && v.state != State::Proposed
            && v.claim.domain.as_ref().is_some_and(|d| closed.contains(d))
    };
    let takes_held_key = |v: &Version| match (&v.claim.domain, &v.claim.key) {
        (Some(domain), Some(key)) if v.claim.force == Force::Hard => {
            keys.iter().any(|(d, k, p)| d == domain && k == key && *p == v.claim.project)
        }
        _ => false,
    };
    let before = facts.len();
    facts.retain(|_, versions| !versions.iter().any(|v| is_barred(v) || takes_held_key(v)));
    report.counts.left_out += before - facts.len();
    let has_only_log = !begins
        && import.operations.is_empty()
        && last.is_none_or(|last| last <= import.started_at);
    let empty = (last.is_none() || has_only_log) && !chats;
    let operations = operations(scope, contents, &facts, empty, trusted).await?;
    let names: Vec<String> = contents.sessions.iter().map(|session| session.id.clone()).collect();
    let items: Vec<Uuid> = names.iter().map(|name| chat_item(name)).collect();
    let (there, known) =
        try_join!(session::existing_ids(scope, &names), import::known(scope, &items))?;
    let is_known = |name: &str| known.iter().any(|(item, _)| *item == chat_item(name));
    let (there, sessions): (Vec<Session>, Vec<Session>) = std::mem::take(&mut contents.sessions)
        .into_iter()
        .partition(|session| there.contains(&session.id) || is_known(&session.id));
    report.counts.known += there.len();
    Ok(Plan { facts: facts.into_iter().collect(), sessions, operations, report, empty })
}

/// The operations to import: all of them into an empty memory, otherwise those that the facts need.
async fn operations(
    scope: &Scope,
    contents: &mut Contents,
    facts: &BTreeMap<FactId, Vec<Version>>,
    empty: bool,
    trusted: bool,
) -> Result<Vec<Operation>> {
    let mut operations = std::mem::take(&mut contents.operations);
    let versions = facts.values().flatten();
    let mut needed: BTreeSet<_> =
        versions.flat_map(|v| [Some(v.opened_by), v.closed_by]).flatten().collect();
    let links = contents.links.iter();
    let links = links.filter(|link| facts.contains_key(&link.from) || facts.contains_key(&link.to));
    needed.extend(links.flat_map(|link| [Some(link.opened_by), link.closed_by]).flatten());
    operations.retain(|operation| empty || needed.contains(&operation.id));
    if !trusted {
        // Facts that existed before must not get another history.
        for operation in &mut operations {
            operation.facts.retain(|fact| facts.contains_key(fact));
        }
    }
    let ids: Vec<_> = operations.iter().map(|operation| operation.id).collect();
    let times: Vec<_> = operations.iter().map(|operation| operation.at).collect();
    let there: BTreeMap<_, _> =
        operation::with_id_or_time(scope, &ids, &times).await?.into_iter().collect();
    let moments: BTreeSet<_> = there.values().collect();
    operations.retain(|operation| !there.contains_key(&operation.id));
    if operations.iter().any(|operation| moments.contains(&operation.at)) {
        return Err(Error::invalid("archive", "two operations at one moment"));
    }
    Ok(operations)
}

/// Replaces every secret in a title, a summary or the words of a use with `[secret]`.
pub(super) fn mask_text(text: &mut String) {
    if let Some(masked) = secret::mask(text) {
        *text = masked;
    }
}
