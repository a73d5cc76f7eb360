//! Memories and links from elsewhere. A request of them is one operation, which undo takes back as a
//! whole; each of them is remembered by a digest of the name it had there, so that none comes in twice.

use std::collections::BTreeMap;

use futures_util::try_join;
use lukasa_core::import::{Item, Left, LinkItem, MemoryItem, Verdict, item_id, judge};
use lukasa_core::link::is_relation;
use lukasa_core::record::{self, Provenance};
use lukasa_core::time::micros;
use lukasa_core::{Caller, FactId, Link, Origin, Period, State, Verb, Voice, fingerprint};
use lukasa_store::{domain, erase, fact, import, link};
use uuid::Uuid;

use super::{Source, Taken, import_of, part};
use crate::error::{Error, Result};
use crate::facts::{Begun, Effect, Outcome, Writing};
use crate::{Engine, Request};

/// How many items one request may bring.
pub const ITEMS_AT_ONCE: usize = 500;
/// How many turns of a chat one item may hold.
const TURNS_AT_ONCE: usize = 500;

impl Engine {
    /// Takes in memories, links and chats from elsewhere. A dry run says what would become of them.
    pub async fn import_items(
        &self,
        request: &Request,
        source: &Source,
        items: &[Item],
        dry_run: bool,
    ) -> Result<Taken> {
        let long =
            |item: &Item| matches!(item, Item::Chat(chat) if chat.turns.len() > TURNS_AT_ONCE);
        if items.len() > ITEMS_AT_ONCE || items.iter().any(long) {
            return Err(Error::invalid("items", "at most 500 items, of at most 500 turns each"));
        }
        // Whoever brings it, the words are those of a file.
        let caller = Caller { voice: Voice::stated(Origin::Import), ..request.caller.clone() };
        let request = Request { caller, ..request.clone() };
        let mut taken = self.import_memories(&part(&request, 0), source, items, dry_run).await?;
        for (number, item) in items.iter().enumerate() {
            if let Item::Chat(chat) = item {
                let request = part(&request, number + 1);
                taken.and(self.import_chat(&request, source, chat, dry_run).await?);
            }
        }
        Ok(taken)
    }

    async fn import_memories(
        &self,
        request: &Request,
        source: &Source,
        items: &[Item],
        dry_run: bool,
    ) -> Result<Taken> {
        let Begun::New(mut writing) = self.begin(request).await? else {
            return Err(Error::IdempotencyMismatch);
        };
        let mut import = import_of(&writing.scope, request, source).await?;
        let mut taking = Taking::begin(&writing, source, items, Taken::nothing(import.id)).await?;
        let domains = domain::of_tenant(&writing.scope).await?;
        let (policy, _) = self.policy_of(&writing.scope).await?;
        for item in items {
            match item {
                Item::Memory(memory) => {
                    let verdict = judge(memory, source.format, &domains, &policy);
                    taking.memory(&mut writing, memory, verdict).await?;
                }
                Item::Link(link) => taking.link(&mut writing, link).await?,
                Item::Chat(_) => {}
            }
        }
        let Taking { mut effect, mut taken, .. } = taking;
        let wrote = !effect.changes.opens.is_empty() || !effect.opens_links.is_empty();
        if dry_run || (!wrote && effect.with.is_empty()) {
            return Ok(taken);
        }
        import.counts.add(&taken.counts);
        if wrote {
            import.operations.push(writing.stamp.operation);
            taken.operations.push(writing.stamp.operation);
        }
        import::put(&mut effect.with, &writing.scope, &import);
        if wrote {
            let count = taken.counts.memories + taken.counts.proposals;
            let outcome = Outcome::of(Verb::Import, format!("Taken in: {count}"));
            writing.finish(Verb::Import, effect, outcome).await?;
        } else {
            writing.close(effect.with).await?;
        }
        Ok(taken)
    }
}

/// Items that are being taken in.
struct Taking<'s> {
    source: &'s Source,
    /// What has come in before or with this request, and the memory it became.
    known: BTreeMap<Uuid, Option<FactId>>,
    /// What this request says, by its fingerprint.
    said: BTreeMap<Uuid, FactId>,
    effect: Effect,
    taken: Taken,
}

impl<'s> Taking<'s> {
    async fn begin(
        writing: &Writing<'_>,
        source: &'s Source,
        items: &[Item],
        taken: Taken,
    ) -> Result<Self> {
        let mut ids = Vec::new();
        for item in items {
            match item {
                Item::Memory(memory) => ids.push(of_memory(source, &memory.source)),
                Item::Link(link) => {
                    ids.push(of_link(source, link));
                    ids.extend([&link.from, &link.to].map(|end| of_memory(source, end)));
                }
                Item::Chat(_) => {}
            }
        }
        let known = import::known(&writing.scope, &ids).await?.into_iter().collect();
        let (said, effect) = (BTreeMap::new(), Effect::default());
        Ok(Self { source, known, said, effect, taken })
    }

    fn came(&mut self, writing: &Writing<'_>, item: Uuid, fact: Option<FactId>) {
        let import = self.taken.import;
        import::add_item(&mut self.effect.with, &writing.scope, import, item, fact, None);
        self.known.insert(item, fact);
    }

    async fn memory(
        &mut self,
        writing: &mut Writing<'_>,
        item: &MemoryItem,
        verdict: Verdict,
    ) -> Result<()> {
        let id = of_memory(self.source, &item.source);
        let counts = &mut self.taken.counts;
        if self.known.contains_key(&id) {
            counts.known += 1;
            return Ok(());
        }
        let (claim, state) = match verdict {
            Verdict::Leave(Left::Secret) => {
                counts.secrets += 1;
                return Ok(());
            }
            Verdict::Leave(_) => {
                counts.left_out += 1;
                return Ok(());
            }
            Verdict::Keep { claim, state } => (*claim, state),
        };
        let now = micros(writing.stamp.at);
        let print = fingerprint(&claim);
        let (active, waiting) = try_join!(
            fact::saying_the_same(&writing.scope, &claim, now),
            fact::waiting_the_same(&writing.scope, &claim)
        )?;
        let same = active.or(waiting).map(|version| version.fact);
        if let Some(same) = same.or_else(|| self.said.get(&print).copied()) {
            counts.known += 1;
            self.came(writing, id, Some(same));
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
        self.said.extend(fact.map(|fact| (print, fact)));
        self.effect.changes.opens.extend(opened);
        self.came(writing, id, fact);
        Ok(())
    }

    /// Links two memories that have come in, now or before, and are still there.
    async fn link(&mut self, writing: &mut Writing<'_>, item: &LinkItem) -> Result<()> {
        let id = of_link(self.source, item);
        let counts = &mut self.taken.counts;
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
        let there = erase::count_existing(&writing.scope, &old).await?;
        if from == to || there != old.len() {
            counts.left_out += 1;
            return Ok(());
        }
        let held = link::find_same(&writing.scope, from, to, &item.relation).await?.is_some();
        let twice = |l: &Link| l.from == from && l.to == to && l.relation == item.relation;
        if held || self.effect.opens_links.iter().any(twice) {
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
        self.came(writing, id, None);
        Ok(())
    }
}

fn of_memory(source: &Source, name: &str) -> Uuid {
    item_id(source.format, "memory", name)
}

fn of_link(source: &Source, link: &LinkItem) -> Uuid {
    let name = format!("{}\n{}\n{}", link.from, link.relation, link.to);
    item_id(source.format, "link", &name)
}
