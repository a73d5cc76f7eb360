//! The part of a memory that the files of a sync or a command are about. The rest is read, but not
//! kept in memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::try_join;
use lukasa_core::vault::{MissingContent, ParsedVault, VaultContents, VaultSubject, VisiblePart};
use lukasa_core::{FactId, Timestamp};
use lukasa_store::{Scope, everything, fact, learning, operation};

use super::fact_blocks::FactBlocks;
use crate::cpu::CpuPool;
use crate::error::Result;

/// What a plan of some files needs of a memory.
pub(super) struct RelatedContents {
    pub(super) contents: VaultContents,
    /// Whether the memory has any version or episode.
    has_any: bool,
}

impl RelatedContents {
    /// Reads what belongs to the files, of this part of the memory.
    pub(super) async fn load(
        scope: &Scope,
        cpu: &CpuPool,
        read: &Arc<ParsedVault>,
        part: &VisiblePart,
        now: Timestamp,
    ) -> Result<Self> {
        let read = Arc::clone(read);
        let subject = cpu.run(move || Arc::new(VaultSubject::of(&read))).await?;
        let (mut contents, mut has_any) = (VaultContents::default(), false);
        let mut blocks = FactBlocks::open(scope).await?;
        while let Some(block) = blocks.next().await? {
            has_any = true;
            let (subject, part) = (Arc::clone(&subject), part.clone());
            let select = move || {
                let seen = block.facts().filter(|known| part.has_fact(known, now));
                let related = seen.filter(|known| subject.has_fact(known, now));
                related.flatten().cloned().collect::<Vec<_>>()
            };
            contents.versions.extend(cpu.run(select).await?);
        }
        drop(blocks);
        let mut blocks = everything::episode_blocks(scope).await?;
        while let Some(block) = blocks.next().await? {
            has_any = true;
            let episodes = block.rows.into_iter();
            contents.episodes.extend(episodes.filter(|episode| subject.has_episode(episode.id)));
        }
        Ok(Self { contents, has_any })
    }

    /// What files with a base have that this memory never had.
    pub(super) async fn missing(
        &self,
        scope: &Scope,
        read: &ParsedVault,
    ) -> Result<MissingContent> {
        let known: BTreeSet<FactId> = self.contents.versions.iter().map(|v| v.fact).collect();
        let based: BTreeSet<FactId> = read.base.memories.iter().map(|b| b.memory.fact).collect();
        let unknown: Vec<FactId> = based.difference(&known).copied().collect();
        let mut missing = MissingContent::default();
        if !unknown.is_empty() {
            let ever = fact::ever_existing(scope, &unknown).await?;
            missing.facts = unknown.into_iter().filter(|fact| !ever.contains(fact)).collect();
        }
        missing.everything = !read.base.episodes.is_empty() && self.is_untouched(scope).await?;
        Ok(missing)
    }

    /// Whether nothing was ever written to this memory: a removed session leaves no trace except its
    /// operation, and must not be restored.
    async fn is_untouched(&self, scope: &Scope) -> Result<bool> {
        if self.has_any {
            return Ok(false);
        }
        let (last, sessions, passes) = try_join!(
            operation::last_at(scope),
            everything::has_sessions(scope),
            learning::passes(scope, None, 1)
        )?;
        Ok(last.is_none() && !sessions && passes.is_empty())
    }
}
