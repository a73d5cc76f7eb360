//! Taking an export in again: every version with its two periods, as it was. Facts that are here already
//! stay as they are, and what was erased here stays gone.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::try_join;
use lukasa_core::archive::{
    CLOCK_TOLERANCE, Contents, DomainLine, Lowering, Manifest, as_said_by, faults, screen,
};
use lukasa_core::import::{Counts, Format, item_id};
use lukasa_core::policy::Patch;
use lukasa_core::recall::passage::of_turn;
use lukasa_core::screen::secret;
use lukasa_core::time::micros;
use lukasa_core::{
    CallerKind, Changes, Episode, FactId, Force, ImportId, MaskedTurns, Operation, Session,
    SessionState, State, Turn, TurnId, Verb, Version,
};
use lukasa_store::context::{self, Usage};
use lukasa_store::passage::{self, Change};
use lukasa_store::policy::{self, Said};
use lukasa_store::{
    Batch, Scope, domain, erase, everything, fact, import, learning, link, operation, session,
};
use uuid::Uuid;

use super::{ArchiveTrust, Source, Taken, import_of, part};
use crate::error::{Error, Fault, Result};
use crate::facts::{Begun, Effect, Outcome};
use crate::{Engine, Request};

/// How many facts one transaction takes in.
const FACTS_AT_ONCE: usize = 500;
/// After how many turns the next transaction begins.
const TURNS_AT_ONCE: usize = 2_000;

/// An export, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Archive {
    pub contents: Contents,
    pub usage: Vec<Usage>,
    pub policy: Patch,
    pub domains: Vec<DomainLine>,
    /// The manifest that the files were checked against; without one the export counts as unsigned.
    pub manifest: Option<Manifest>,
}

/// How an export is to be taken in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Importing {
    /// Only say what would come in.
    pub dry_run: bool,
    /// A person says that the export is theirs although this installation did not sign it. From any
    /// other caller it counts for nothing.
    pub trust: bool,
}

/// A chat and everything that belongs to it.
struct Chat {
    session: Session,
    turns: Vec<Turn>,
    episodes: Vec<Episode>,
}

/// What of an export is to come in.
struct Plan {
    facts: Vec<(FactId, Vec<Version>)>,
    sessions: Vec<Session>,
    operations: Vec<Operation>,
    taken: Taken,
    /// Nothing was ever written about the user.
    empty: bool,
}

impl Engine {
    /// Takes an export in. One that was signed here, brought by the person themselves into an empty
    /// memory, makes the very memory that was exported. One that is not trusted comes in as an import.
    pub async fn import_archive(
        &self,
        request: &Request,
        source: &Source,
        mut archive: Archive,
        how: Importing,
    ) -> Result<Taken> {
        let trust = self.archive_trust(request, &archive, how).await?;
        let now = request.moment.now;
        let latest = if trust.trusted { now + CLOCK_TOLERANCE } else { now };
        let fault = |reason| Fault { field: "archive".into(), reason };
        let found = faults(&archive.contents, latest);
        if !found.is_empty() {
            return Err(Error::Invalid(found.into_iter().map(fault).collect()));
        }
        let secrets = self.screen_archive(request, source, &mut archive, trust).await?;
        let scope = self.writing(request).await?;
        let mut plan = plan(&scope, request, source, &mut archive.contents, trust.trusted).await?;
        plan.taken.counts.secrets = secrets;
        plan.taken.archive = Some(trust);
        if how.dry_run {
            let counts = &mut plan.taken.counts;
            counts.proposals = plan.facts.iter().filter(|(_, versions)| waits(versions)).count();
            counts.memories = plan.facts.len() - counts.proposals;
            counts.chats = plan.sessions.len();
            let turns = plan.sessions.iter().map(|session| usize::try_from(session.turns));
            counts.turns = turns.map(|count| count.unwrap_or(0)).sum();
            return Ok(plan.taken);
        }
        self.lay_the_ground(scope, request, source, &plan, &archive).await?;
        let mut number = 0;
        let mut next = || {
            number += 1;
            part(request, number)
        };
        let facts = std::mem::take(&mut plan.facts);
        let mut usage: BTreeMap<FactId, Vec<Usage>> = BTreeMap::new();
        for used in archive.usage.into_iter().filter(is_told) {
            usage.entry(used.fact).or_default().push(used);
        }
        for chunk in facts.chunks(FACTS_AT_ONCE) {
            self.put_back_facts(&next(), source, chunk, &usage, &mut plan.taken).await?;
        }
        self.put_back_links(&next(), source, &archive.contents, &mut plan.taken).await?;
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
            if size >= TURNS_AT_ONCE {
                let part = std::mem::take(&mut chats);
                self.put_back_chats(&next(), source, part, &mut plan.taken).await?;
                size = 0;
            }
        }
        self.put_back_chats(&next(), source, chats, &mut plan.taken).await?;
        Ok(plan.taken)
    }

    /// Says how far an export is trusted.
    async fn archive_trust(
        &self,
        request: &Request,
        archive: &Archive,
        how: Importing,
    ) -> Result<ArchiveTrust> {
        let caller = &request.caller;
        let signed_here = match &archive.manifest {
            Some(manifest) => {
                self.has_signed_manifest(caller.tenant, caller.user, manifest).await?
            }
            None => false,
        };
        let trusted = caller.kind == CallerKind::Human && (signed_here || how.trust);
        Ok(ArchiveTrust { signed_here, trusted })
    }

    /// Leaves secrets out of an export, lowers one that is not trusted to an import, and says how many
    /// facts were left out.
    async fn screen_archive(
        &self,
        request: &Request,
        source: &Source,
        archive: &mut Archive,
        trust: ArchiveTrust,
    ) -> Result<usize> {
        let (caller, now) = (&request.caller, request.moment.now);
        let mut lowering = None;
        if trust.trusted {
            as_said_by(&mut archive.contents, caller);
        } else {
            let domains = domain::of_tenant(&self.reading(caller, now).await?).await?;
            let domains = domains.into_iter().map(|domain| domain.name).collect();
            let import = ImportId::of(caller.user, source.format.as_str(), &source.digest);
            lowering = Some(Lowering { import, domains, now: micros(now) });
            archive.usage.clear();
        }
        let mut contents = std::mem::take(&mut archive.contents);
        let screened = tokio::task::spawn_blocking(move || {
            let secrets = screen(&mut contents, lowering.as_ref());
            (contents, secrets)
        });
        let (contents, secrets) = screened.await.map_err(|_| {
            let what = "its texts could not be screened".to_owned();
            Error::Internal(lukasa_store::Error::Corrupt { table: "archive", what })
        })?;
        archive.contents = contents;
        Ok(secrets)
    }

    /// What everything else stands on: the log of operations, and, where there was nothing yet, what the
    /// person has said about policy and domains.
    async fn lay_the_ground(
        &self,
        scope: Scope,
        request: &Request,
        source: &Source,
        plan: &Plan,
        archive: &Archive,
    ) -> Result<()> {
        let mut batch = Batch::default();
        for old in &plan.operations {
            operation::insert(&mut batch, &scope, old);
        }
        import::put(&mut batch, &scope, &import_of(&scope, request, source).await?);
        let trusted = plan.taken.archive.is_some_and(|archive| archive.trusted);
        if plan.empty && trusted {
            let now = micros(request.moment.now);
            for line in archive.domains.iter().filter(|line| line.opted_in_at.is_some()) {
                if domain::find(&scope, &line.domain.name).await?.is_some() {
                    domain::open(&scope, &line.domain.name, line.opted_in_at.unwrap_or(now))
                        .await?;
                }
            }
            let said = policy::of_user(&scope).await?;
            let news = archive.policy != Patch::default() && archive.policy.faults().is_empty();
            if said.version == 0 && news {
                let said = Said { version: 1, patch: archive.policy.clone() };
                policy::set_user(&scope, &said, &request.caller.credential, now).await?;
            }
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    async fn put_back_facts(
        &self,
        request: &Request,
        source: &Source,
        facts: &[(FactId, Vec<Version>)],
        usage: &BTreeMap<FactId, Vec<Usage>>,
        taken: &mut Taken,
    ) -> Result<()> {
        let Begun::New(writing) = self.begin(request).await? else { return Ok(()) };
        let ids: Vec<FactId> = facts.iter().map(|(fact, _)| *fact).collect();
        let there: BTreeSet<FactId> =
            erase::existing(&writing.scope, &ids).await?.into_iter().collect();
        let (mut changes, mut batch, mut counts) =
            (Changes::default(), Batch::default(), Counts::default());
        for (fact, versions) in facts.iter().filter(|(fact, _)| !there.contains(fact)) {
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
        let mut import = import_of(&writing.scope, request, source).await?;
        import.operations.push(writing.stamp.operation);
        import.counts.add(&counts);
        import::put(&mut batch, &writing.scope, &import);
        taken.operations.push(writing.stamp.operation);
        taken.counts.add(&counts);
        let effect = Effect { changes, with: batch, ..Effect::default() };
        let message = format!("Taken in: {}", counts.memories + counts.proposals);
        writing.finish(Verb::Import, effect, Outcome::of(Verb::Import, message)).await?;
        Ok(())
    }

    async fn put_back_links(
        &self,
        request: &Request,
        source: &Source,
        contents: &Contents,
        taken: &mut Taken,
    ) -> Result<()> {
        if contents.links.is_empty() {
            return Ok(());
        }
        let scope = self.writing(request).await?;
        let facts: Vec<FactId> = contents.links.iter().flat_map(|l| [l.from, l.to]).collect();
        let ids: Vec<_> = contents.links.iter().map(|link| link.id).collect();
        let (facts, there) = try_join!(erase::existing(&scope, &facts), link::there(&scope, &ids))?;
        let facts: BTreeSet<FactId> = facts.into_iter().collect();
        let links = contents.links.iter();
        let operations: Vec<_> =
            links.flat_map(|l| [Some(l.opened_by), l.closed_by]).flatten().collect();
        let known = operation::there(&scope, &operations, &[]).await?;
        let known: BTreeSet<_> = known.into_iter().map(|(id, _)| id).collect();
        let mut batch = Batch::default();
        for link in contents.links.iter().filter(|link| !there.contains(&link.id)) {
            let ends = facts.contains(&link.from) && facts.contains(&link.to);
            if ends && known.contains(&link.opened_by) {
                link::put_back(&mut batch, &scope, link);
                taken.counts.links += 1;
            }
        }
        if batch.is_empty() {
            return Ok(());
        }
        let mut import = import_of(&scope, request, source).await?;
        import.counts.links = import.counts.links.max(taken.counts.links);
        import::put(&mut batch, &scope, &import);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    async fn put_back_chats(
        &self,
        request: &Request,
        source: &Source,
        chats: Vec<Chat>,
        taken: &mut Taken,
    ) -> Result<()> {
        if chats.is_empty() {
            return Ok(());
        }
        let scope = self.writing(request).await?;
        let names: Vec<String> = chats.iter().map(|chat| chat.session.id.clone()).collect();
        let there: BTreeSet<String> =
            session::names_there(&scope, &names).await?.into_iter().collect();
        let episodes = chats.iter().flat_map(|chat| &chat.episodes);
        let ids: Vec<_> = episodes.map(|episode| episode.id).collect();
        let told: BTreeSet<_> = learning::episodes_there(&scope, &ids).await?.into_iter().collect();
        let (policy, _) = self.policy_of(&scope).await?;
        let mut import = import_of(&scope, request, source).await?;
        let (mut batch, mut passages, mut counts) =
            (Batch::default(), Vec::new(), Counts::default());
        let chats = chats.into_iter().filter(|chat| !there.contains(&chat.session.id));
        for Chat { mut session, mut turns, mut episodes } in chats {
            let texts = [&mut session.title, &mut session.summary].into_iter().flatten();
            let summaries =
                episodes.iter_mut().flat_map(|e| e.title.iter_mut().chain([&mut e.summary]));
            texts.chain(summaries).for_each(mask_text);
            // What was erased is gone, and so is whatever tells of it.
            let ids: Vec<TurnId> = turns.iter().map(|turn| turn.id).collect();
            let erased = erase::gone_turns(&scope, &ids).await?;
            let gone: Vec<i32> =
                turns.iter().filter(|t| erased.contains(&t.id)).map(|t| t.number).collect();
            turns.retain(|turn| !erased.contains(&turn.id));
            episodes.retain(|e| !gone.iter().any(|n| (e.first_turn..=e.last_turn).contains(n)));
            session::put_back(&mut batch, &scope, &session);
            let turns = MaskedTurns::new(turns);
            session::insert_turns(&mut batch, &scope, &session.id, &turns);
            import::add_item(
                &mut batch,
                &scope,
                import.id,
                chat_item(&session.id),
                None,
                Some(&session.id),
            );
            counts.chats += 1;
            counts.turns += turns.len();
            for episode in episodes.iter().filter(|episode| !told.contains(&episode.id)) {
                learning::open_episode(&mut batch, &scope, episode, Vec::new(), None);
                counts.episodes += 1;
            }
            if session.trashed_at.is_none() {
                passages.extend(turns.iter().flat_map(of_turn));
                if session.state == SessionState::Active {
                    // Each has a job of its own, with an id of its own.
                    let request = part(request, counts.chats);
                    self.close_later(&mut batch, &scope, &request, &session, &policy);
                }
            }
        }
        if counts.chats == 0 {
            return Ok(());
        }
        import.counts.add(&counts);
        taken.counts.add(&counts);
        import::put(&mut batch, &scope, &import);
        passage::bump(&mut batch, &scope, Change::Added);
        passage::insert(&mut batch, &scope, &passages);
        scope.run(&batch).await?;
        scope.commit().await?;
        let caller = &request.caller;
        self.embed(caller.tenant, caller.user, passages, request.moment.now).await;
        Ok(())
    }
}

/// What was reported, rather than counted from what went into a prompt.
fn is_told(used: &Usage) -> bool {
    used.retrieval.is_none_or(|retrieval| retrieval.uuid() != used.id.uuid())
}

/// Whether a fact waits for its user's yes.
fn waits(versions: &[Version]) -> bool {
    versions.iter().any(|v| v.known.until.is_none() && v.state == State::Proposed)
}

fn chat_item(session: &str) -> Uuid {
    item_id(Format::Lukasa, "chat", session)
}

/// Decides what of an export comes in: nothing that is here, nothing that was erased, and nothing that
/// would take the place of a rule that stands.
async fn plan(
    scope: &Scope,
    request: &Request,
    source: &Source,
    contents: &mut Contents,
    trusted: bool,
) -> Result<Plan> {
    let import = import_of(scope, request, source).await?;
    let mut taken = Taken::nothing(import.id);
    let mut facts: BTreeMap<FactId, Vec<Version>> = BTreeMap::new();
    for version in std::mem::take(&mut contents.versions) {
        facts.entry(version.fact).or_default().push(version);
    }
    let ids: Vec<FactId> = facts.keys().copied().collect();
    let (last, chats, there, gone, keys, shut) = try_join!(
        operation::last_at(scope),
        everything::sessions_after(scope, None, 1),
        erase::existing(scope, &ids),
        erase::gone(scope, &ids),
        fact::keys_held(scope),
        domain::shut_ones(scope),
    )?;
    for fact in there.iter().chain(&gone) {
        facts.remove(fact);
        taken.counts.known += 1;
    }
    // What is kept in a shut domain comes back only with an export that is trusted. A proposal asks for
    // its domain to be opened.
    let barred = |v: &Version| {
        !trusted
            && v.state != State::Proposed
            && v.claim.domain.as_ref().is_some_and(|d| shut.contains(d))
    };
    let takes_a_place = |v: &Version| match (&v.claim.domain, &v.claim.key) {
        (Some(domain), Some(key)) if v.claim.force == Force::Hard => {
            keys.iter().any(|(d, k)| d == domain && k == key)
        }
        _ => false,
    };
    let before = facts.len();
    facts.retain(|_, versions| !versions.iter().any(|v| barred(v) || takes_a_place(v)));
    taken.counts.left_out += before - facts.len();
    let empty = last.is_none() && chats.is_empty();
    let operations = operations(scope, contents, &facts, empty, trusted).await?;
    let names: Vec<String> = contents.sessions.iter().map(|session| session.id.clone()).collect();
    let items: Vec<Uuid> = names.iter().map(|name| chat_item(name)).collect();
    let (there, known) =
        try_join!(session::names_there(scope, &names), import::known(scope, &items))?;
    let is_known = |name: &str| known.iter().any(|(item, _)| *item == chat_item(name));
    let (there, sessions): (Vec<Session>, Vec<Session>) = std::mem::take(&mut contents.sessions)
        .into_iter()
        .partition(|session| there.contains(&session.id) || is_known(&session.id));
    taken.counts.known += there.len();
    Ok(Plan { facts: facts.into_iter().collect(), sessions, operations, taken, empty })
}

/// The operations that come in: all of them where there were none, otherwise those that the facts need.
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
        // Nothing that was here before gets another history.
        for operation in &mut operations {
            operation.facts.retain(|fact| facts.contains_key(fact));
        }
    }
    let ids: Vec<_> = operations.iter().map(|operation| operation.id).collect();
    let times: Vec<_> = operations.iter().map(|operation| operation.at).collect();
    let there: BTreeMap<_, _> = operation::there(scope, &ids, &times).await?.into_iter().collect();
    let moments: BTreeSet<_> = there.values().collect();
    operations.retain(|operation| !there.contains_key(&operation.id));
    if operations.iter().any(|operation| moments.contains(&operation.at)) {
        return Err(Error::invalid("archive", "two operations at one moment"));
    }
    Ok(operations)
}

/// Puts `[secret]` in the place of every secret of a title or a summary.
fn mask_text(text: &mut String) {
    if let Some(masked) = secret::mask(text) {
        *text = masked;
    }
}
