//! The current versions of a memory in blocks of whole facts.

use lukasa_core::Version;
use lukasa_store::Scope;
use lukasa_store::blocks::Blocks;
use lukasa_store::everything;

use crate::cpu::LARGE_TEXT_CHARS;
use crate::error::Result;

/// Blocks of versions in which those of a fact are together.
pub(super) struct FactBlocks {
    blocks: Blocks<Version>,
    /// The versions of the last fact that was read, which may have more of them.
    rest: Vec<Version>,
}

/// The versions of some facts, in the order of the facts' ids.
pub(super) struct FactBlock {
    pub(super) versions: Vec<Version>,
    /// Whether its facts are processed on a blocking thread.
    pub(super) is_large: bool,
}

impl FactBlocks {
    /// Of blocks that are in the order of the facts' ids.
    pub(super) fn of(blocks: Blocks<Version>) -> Self {
        Self { blocks, rest: Vec::new() }
    }

    /// All current versions of the user.
    pub(super) async fn open(scope: &Scope) -> Result<Self> {
        Ok(Self::of(everything::version_blocks(scope).await?))
    }

    /// The next block; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<FactBlock>> {
        let mut versions = std::mem::take(&mut self.rest);
        let Some(block) = self.blocks.next().await? else {
            let block = FactBlock { versions, is_large: false };
            return Ok((!block.versions.is_empty()).then_some(block));
        };
        versions.extend(block.rows);
        let last = versions.last().map(|version| version.fact);
        let end = versions.iter().rposition(|version| Some(version.fact) != last);
        self.rest = versions.split_off(end.map_or(0, |end| end + 1));
        Ok(Some(FactBlock { versions, is_large: block.bytes > LARGE_TEXT_CHARS }))
    }
}

impl FactBlock {
    /// The versions of each fact.
    pub(super) fn facts(&self) -> impl Iterator<Item = Vec<&Version>> {
        self.versions.chunk_by(|one, two| one.fact == two.fact).map(|known| known.iter().collect())
    }
}
