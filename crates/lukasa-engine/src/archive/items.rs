//! Import of memories and links from other programs. One request is one operation, which undo
//! reverses as a whole; each item is recorded by a digest of its original name, so that none is
//! imported twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::try_join;
use lukasa_core::import::{
    Format, ImportItem, ImportVerdict, LinkItem, MemoryItem, SkipReason, item_id, judge,
};
use lukasa_core::link::is_relation;
use lukasa_core::record::{self, Provenance};
use lukasa_core::time::micros;
use lukasa_core::{
    Caller, Domain, FactId, Link, Origin, Period, Policy, State, Verb, Voice, fingerprint,
};
use lukasa_store::{domain, fact, import, link};
use uuid::Uuid;

use super::Archives;
use super::{ImportReport, ImportSource, import_of, put_import};
use crate::admission;
use crate::error::{Error, Result};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart, Writing};

/// Maximum number of items per request.
pub const ITEMS_AT_ONCE: usize = 500;
/// Maximum number of turns per session item.
const MAX_TURNS_PER_ITEM: usize = 500;

impl Archives {
    /// Imports memories, links and sessions from other programs. A dry run only reports the result.
    pub async fn import_items(
        &self,
        request: &Request,
        source: &ImportSource,
        items: &[ImportItem],
        dry_run: bool,
    ) -> Result<ImportReport> {
        let long = |item: &ImportItem| matches!(item, ImportItem::Chat(chat) if chat.turns.len() > MAX_TURNS_PER_ITEM);
        if items.len() > ITEMS_AT_ONCE || items.iter().any(long) {
            return Err(Error::invalid("items", "at most 500 items, of at most 500 turns each"));
        }
        // Whichever caller imports it, the content comes from a file.
        let caller = Caller { voice: Voice::stated(Origin::Import), ..request.caller.clone() };
        let request = Request { caller, ..request.clone() };
        let mut report = self.import_memories(&request.part(0), source, items, dry_run).await?;
        for (number, item) in items.iter().enumerate() {
            if let ImportItem::Chat(chat) = item {
                let request = request.part(number + 1);
                report.add(self.import_chat(&request, source, chat, dry_run).await?);
            }
        }
        Ok(report)
    }

    async fn import_memories(
        &self,
        request: &Request,
        source: &ImportSource,
        items: &[ImportItem],
        dry_run: bool,
    ) -> Result<ImportReport> {
        let mut rules = {
            let scope = self.transactions.read(&request.caller, request.moment.now).await?;
            (domain::of_tenant(&scope).await?, self.policies.load(&scope).await?.0)
        };
        let memories = items.iter().filter_map(|item| match item {
            ImportItem::Memory(memory) => Some(memory.clone()),
            _ => None,
        });
        let memories: Arc<[MemoryItem]> = memories.collect();
        // Before the transaction: the texts are long.
        let mut verdicts = self.judge(&memories, source.format, rules.clone()).await?;
        let WriteStart::New(mut writing) = self.transactions.begin(request).await? else {
            return Err(Error::IdempotencyMismatch);
        };
        admission::check_not_paused(&writing.scope, &request.caller).await?;
        let (mut import, begins) = import_of(&writing.scope, request, source).await?;
        let mut item_import =
            ItemImport::begin(&writing, source, items, ImportReport::empty(import.id)).await?;
        let domains = domain::of_tenant(&writing.scope).await?;
        let now = (domains, self.policies.load(&writing.scope).await?.0);
        if now != rules {
            rules = now;
            verdicts = self.judge(&memories, source.format, rules).await?;
        }
        let mut verdicts = verdicts.into_iter();
        for item in items {
            match item {
                ImportItem::Memory(memory) => {
                    let Some(verdict) = verdicts.next() else { continue };
                    item_import.memory(&mut writing, memory, verdict).await?;
                }
                ImportItem::Link(link) => item_import.link(&mut writing, link).await?,
                ImportItem::Chat(_) => {}
            }
        }
        let ItemImport { mut effect, mut report, .. } = item_import;
        let wrote = !effect.changes.opens.is_empty() || !effect.opens_links.is_empty();
        if dry_run || (!wrote && effect.with.is_empty()) {
            return Ok(report);
        }
        import.counts.add(&report.counts);
        if wrote {
            import.operations.push(writing.stamp.operation);
            report.operations.push(writing.stamp.operation);
        }
        put_import(&mut effect.with, &writing.scope, request, &import, begins);
        if wrote {
            let count = report.counts.memories + report.counts.proposals;
            let outcome = Outcome::of(Verb::Import, format!("Imported: {count}"));
            writing.finish(Verb::Import, effect, outcome).await?;
        } else {
            writing.close(effect.with).await?;
        }
        Ok(report)
    }
}

impl Archives {
    /// Judges memories of another program by the domains and the policy of the user.
    async fn judge(
        &self,
        memories: &Arc<[MemoryItem]>,
        format: Format,
        (domains, policy): (Vec<Domain>, Policy),
    ) -> Result<Vec<ImportVerdict>> {
        let memories = Arc::clone(memories);
        let all = move || {
            memories.iter().map(|memory| judge(memory, format, &domains, &policy)).collect()
        };
        self.parts.cpu.run(all).await
    }
}

/// An import of items in progress.
struct ItemImport<'s> {
    source: &'s ImportSource,
    /// Items imported before or by this request, and the memory each became.
    known: BTreeMap<Uuid, Option<FactId>>,
    /// Facts opened by this request, by fingerprint.
    opened_facts: BTreeMap<Uuid, FactId>,
    effect: Effect,
    report: ImportReport,
}

impl<'s> ItemImport<'s> {
    async fn begin(
        writing: &Writing<'_>,
        source: &'s ImportSource,
        items: &[ImportItem],
        report: ImportReport,
    ) -> Result<Self> {
        let mut ids = Vec::new();
        for item in items {
            match item {
                ImportItem::Memory(memory) => ids.push(of_memory(source, &memory.source)),
                ImportItem::Link(link) => {
                    ids.push(of_link(source, link));
                    ids.extend([&link.from, &link.to].map(|end| of_memory(source, end)));
                }
                ImportItem::Chat(_) => {}
            }
        }
        let known = import::known(&writing.scope, &ids).await?.into_iter().collect();
        let (opened_facts, effect) = (BTreeMap::new(), Effect::default());
        Ok(Self { source, known, opened_facts, effect, report })
    }

    fn record_item(&mut self, writing: &Writing<'_>, item: Uuid, fact: Option<FactId>) {
        let import = self.report.import;
        import::add_item(&mut self.effect.with, &writing.scope, import, item, fact, None);
        self.known.insert(item, fact);
    }

    async fn memory(
        &mut self,
        writing: &mut Writing<'_>,
        item: &MemoryItem,
        verdict: ImportVerdict,
    ) -> Result<()> {
        let id = of_memory(self.source, &item.source);
        let counts = &mut self.report.counts;
        if self.known.contains_key(&id) {
            counts.known += 1;
            return Ok(());
        }
        let (claim, state) = match verdict {
            ImportVerdict::Leave(SkipReason::Secret) => {
                counts.secrets += 1;
                return Ok(());
            }
            ImportVerdict::Leave(_) => {
                counts.left_out += 1;
                return Ok(());
            }
            ImportVerdict::Keep { claim, state } => (*claim, state),
        };
        let now = micros(writing.stamp.at);
        let print = fingerprint(&claim);
        let (active, waiting) = try_join!(
            fact::find_active_duplicate(&writing.scope, &claim, now),
            fact::find_pending_duplicate(&writing.scope, &claim)
        )?;
        let same = active.or(waiting).map(|version| version.fact);
        if let Some(same) = same.or_else(|| self.opened_facts.get(&print).copied()) {
            counts.known += 1;
            self.record_item(writing, id, Some(same));
            return Ok(());
        }
        match state {
            State::Proposed => counts.proposals += 1,
            _ => counts.memories += 1,
        }
        let from = item.at.map(micros).filter(|at| *at <= now).unwrap_or(now);
        let provenance = Provenance::stated(Voice::stated(Origin::Import));
        let stamp = &mut writing.stamp;
        let opened = record::save(claim, state, Period::since(from), provenance, stamp).opens;
        let fact = opened.first().map(|version| version.fact);
        self.opened_facts.extend(fact.map(|fact| (print, fact)));
        self.effect.changes.opens.extend(opened);
        self.record_item(writing, id, fact);
        Ok(())
    }

    /// Links two imported memories that still exist.
    async fn link(&mut self, writing: &mut Writing<'_>, item: &LinkItem) -> Result<()> {
        let id = of_link(self.source, item);
        let counts = &mut self.report.counts;
        if self.known.contains_key(&id) {
            counts.known += 1;
            return Ok(());
        }
        let end = |name: &str| self.known.get(&of_memory(self.source, name)).copied().flatten();
        let (Some(from), Some(to), true) =
            (end(&item.from), end(&item.to), is_relation(&item.relation))
        else {
            counts.left_out += 1;
            return Ok(());
        };
        let fresh = |fact: &FactId| self.effect.changes.opens.iter().any(|v| v.fact == *fact);
        let old: Vec<FactId> = [from, to].into_iter().filter(|fact| !fresh(fact)).collect();
        let there = fact::count_existing(&writing.scope, &old).await?;
        if from == to || there != old.len() {
            counts.left_out += 1;
            return Ok(());
        }
        let is_linked = link::find_same(&writing.scope, from, to, &item.relation).await?.is_some();
        let twice = |l: &Link| l.from == from && l.to == to && l.relation == item.relation;
        if is_linked || self.effect.opens_links.iter().any(twice) {
            counts.known += 1;
        } else {
            counts.links += 1;
            self.effect.opens_links.push(Link {
                id: writing.stamp.ids.link(),
                from,
                to,
                relation: item.relation.clone(),
                known: Period::since(writing.stamp.at),
                opened_by: writing.stamp.operation,
                closed_by: None,
                reopens: None,
            });
        }
        self.record_item(writing, id, None);
        Ok(())
    }
}

fn of_memory(source: &ImportSource, name: &str) -> Uuid {
    item_id(source.format, "memory", name)
}

fn of_link(source: &ImportSource, link: &LinkItem) -> Uuid {
    let name = format!("{}\n{}\n{}", link.from, link.relation, link.to);
    item_id(source.format, "link", &name)
}
