//! Summary of a user's memory: row counts, and hashes to compare it by.

use lukasa_core::state_hash::{self, LineHash};
use lukasa_core::{Episode, FactId, Link, Observation, StateHash, Turn};
use lukasa_store::blocks::{Blocks, RowBlock};
use lukasa_store::{Scope, everything};

use crate::cpu::{CpuPool, LARGE_TEXT_CHARS};
use crate::error::{Error, Result};
use crate::sorted_lines::LineSorter;

/// Counts and hashes of a user's whole memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySummary {
    pub memories: usize,
    pub links: usize,
    pub episodes: usize,
    pub sessions: usize,
    pub turns: usize,
    pub observations: usize,
    pub hash: StateHash,
}

/// Reads all of a user's memory, and counts and hashes it block by block.
pub(crate) async fn summarize(scope: &Scope, cpu: &CpuPool) -> Result<MemorySummary> {
    let mut lines = HashedLines::new(cpu);
    let (mut facts, mut last) = (0, None::<FactId>);
    let mut versions = everything::version_blocks(scope).await?;
    while let Some(block) = versions.next().await? {
        // The versions of a fact follow one another.
        for version in &block.rows {
            facts += usize::from(last.replace(version.fact) != Some(version.fact));
        }
        lines.add_block(block, state_hash::version_line).await?;
    }
    drop(versions);
    let line = |(link, is_kept): &(Link, bool)| is_kept.then(|| state_hash::link_line(link));
    let links = lines.add(everything::link_blocks(scope).await?, line).await?;
    let memories = lines.hash().await?;

    let mut lines = HashedLines::new(cpu);
    let line = |episode: &Episode| Some(state_hash::episode_line(episode));
    let episodes = lines.add(everything::episode_blocks(scope).await?, line).await?;
    let episode_hash = lines.hash().await?;

    let mut lines = HashedLines::new(cpu);
    let blocks = everything::session_blocks(scope).await?;
    let sessions = lines.add(blocks, state_hash::session_line).await?;
    let line = |turn: &Turn| Some(state_hash::turn_line(turn));
    let turns = lines.add(everything::turn_blocks(scope).await?, line).await?;
    let session_hash = lines.hash().await?;

    let mut lines = HashedLines::new(cpu);
    let line = |observation: &Observation| Some(state_hash::observation_line(observation));
    let observations = lines.add(everything::observation_blocks(scope).await?, line).await?;
    let observation_hash = lines.hash().await?;

    Ok(MemorySummary {
        memories: facts,
        links,
        episodes,
        sessions,
        turns,
        observations,
        hash: StateHash {
            memories,
            episodes: episode_hash,
            sessions: session_hash,
            observations: observation_hash,
        },
    })
}

/// The lines of a hash. They are made, sorted and hashed in the CPU pool.
pub(crate) struct HashedLines<'a> {
    cpu: &'a CpuPool,
    sorter: LineSorter,
}

impl<'a> HashedLines<'a> {
    pub(crate) fn new(cpu: &'a CpuPool) -> Self {
        Self { cpu, sorter: LineSorter::default() }
    }

    /// Adds the lines of all rows, and returns how many rows there are.
    async fn add<T: Send + 'static>(
        &mut self,
        mut blocks: Blocks<T>,
        line: fn(&T) -> Option<String>,
    ) -> Result<usize> {
        let mut count = 0;
        while let Some(block) = blocks.next().await? {
            count += block.rows.len();
            self.add_block(block, line).await?;
        }
        Ok(count)
    }

    pub(crate) async fn add_block<T: Send + 'static>(
        &mut self,
        block: RowBlock<T>,
        mut line: impl FnMut(&T) -> Option<String> + Send + 'static,
    ) -> Result<()> {
        let mut sorter = std::mem::take(&mut self.sorter);
        let large = block.bytes > LARGE_TEXT_CHARS;
        let add = move || {
            let mut lines = block.rows.iter().filter_map(&mut line);
            lines.try_for_each(|line| sorter.push(line)).map(|()| sorter)
        };
        self.sorter = self.cpu.run_if(large, add).await?.map_err(|error| unwritten(&error))?;
        Ok(())
    }

    /// Adds a few lines.
    pub(crate) async fn add_lines(&mut self, lines: Vec<String>) -> Result<()> {
        let bytes = lines.iter().map(String::len).sum();
        self.add_block(RowBlock { rows: lines, bytes }, |line: &String| Some(line.clone())).await
    }

    pub(crate) async fn hash(self) -> Result<String> {
        let sorter = self.sorter;
        let large = sorter.bytes() > LARGE_TEXT_CHARS;
        let hash = move || {
            let mut hash = LineHash::default();
            sorter.finish(|line| hash.push(line)).map(|()| hash.finish())
        };
        self.cpu.run_if(large, hash).await?.map_err(|error| unwritten(&error))
    }
}

/// The error of a temporary file.
pub(crate) fn unwritten(error: &std::io::Error) -> Error {
    let what = format!("a temporary file could not be written or read: {error}");
    lukasa_store::Error::Configuration(what).into()
}
