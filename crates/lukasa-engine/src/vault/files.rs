//! Writes a memory as files, in blocks: one pass over it finds the places of the lines, and then each
//! page is rendered from the facts that it shows. The words in memory are those of one block.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;

use lukasa_core::vault::{
    self, BASE, BaseRow, BaseVersion, File, KeptRows, Outline, PageOutline, PagePart,
    PreservedParts, VisiblePart,
};
use lukasa_core::{Episode, FactId, Link, ProjectScope, Timestamp, Version, state_hash};
use lukasa_store::blocks::BLOCK_ROWS;
use lukasa_store::{Scope, everything, passage};
use sha2::{Digest, Sha256};

use super::fact_blocks::{FactBlock, FactBlocks};
use crate::cpu::{CpuPool, LARGE_TEXT_CHARS};
use crate::error::Result;
use crate::state::{HashedLines, unwritten};

/// Receives files in parts. It is called on blocking threads.
pub trait FileSink: Send + 'static {
    /// Begins the next file.
    fn begin(&mut self, path: &str) -> io::Result<()>;

    /// Adds text to the file that was begun last.
    fn write(&mut self, text: &str) -> io::Result<()>;
}

impl FileSink for Vec<File> {
    fn begin(&mut self, path: &str) -> io::Result<()> {
        self.push(File { path: path.to_owned(), content: String::new() });
        Ok(())
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.last_mut().ok_or(io::ErrorKind::InvalidInput)?.content.push_str(text);
        Ok(())
    }
}

/// The files of a memory, to be written in blocks. All of it is read from one snapshot.
pub(crate) struct MemoryFiles<'a> {
    scope: &'a Scope,
    cpu: &'a CpuPool,
    now: Timestamp,
    outline: Arc<Outline>,
    /// Sessions whose episodes are not seen.
    hidden: Arc<BTreeSet<String>>,
    part: VisiblePart,
}

/// Files in the order in which they are written.
pub(crate) struct FileList(VecDeque<FileSource>);

/// What a file is made from.
enum FileSource {
    Page(PageOutline),
    /// All files of episodes.
    Episodes,
    Text(File),
}

impl FileSource {
    /// The path that it is sorted by.
    fn path(&self) -> &str {
        match self {
            FileSource::Page(page) => &page.path,
            FileSource::Episodes => "episodes/",
            FileSource::Text(file) => &file.path,
        }
    }
}

impl FileList {
    /// All pages and episodes, and other files.
    pub(crate) fn of(outline: &Outline, kept: &PreservedParts<'_>, more: Vec<File>) -> Self {
        let pages = outline.pages(kept).into_iter().map(FileSource::Page);
        let more = more.into_iter().map(FileSource::Text);
        let mut all: Vec<_> = pages.chain([FileSource::Episodes]).chain(more).collect();
        all.sort_by(|one, two| one.path().cmp(two.path()));
        Self(all.into())
    }

    /// Leaves out the pages that are not wanted, and the episodes unless one of their folder is.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.0.retain(|source| is_wanted(source.path()));
    }
}

impl<'a> MemoryFiles<'a> {
    /// Finds the lines of this part of the memory.
    pub(crate) async fn open(
        scope: &'a Scope,
        cpu: &'a CpuPool,
        part: &VisiblePart,
        now: Timestamp,
    ) -> Result<Self> {
        let mut hidden = BTreeSet::new();
        if part.projects != ProjectScope::All {
            let sessions = passage::session_projects(scope).await?.into_iter();
            let sessions = sessions.filter(|(_, project)| !part.projects.admits(Some(project)));
            hidden.extend(sessions.map(|(session, _)| session));
        }
        let mut outline = Outline::default();
        let mut blocks = FactBlocks::open(scope).await?;
        while let Some(block) = blocks.next().await? {
            let (part, is_large) = (part.clone(), block.is_large);
            let add = move || {
                let seen = block.facts().filter(|known| part.has_fact(known, now));
                seen.for_each(|known| outline.push(&known, now));
                outline
            };
            outline = cpu.run_if(is_large, add).await?;
        }
        Ok(Self {
            scope,
            cpu,
            now,
            outline: Arc::new(outline),
            hidden: Arc::new(hidden),
            part: part.clone(),
        })
    }

    /// The places of the lines.
    pub(crate) fn outline(&self) -> &Arc<Outline> {
        &self.outline
    }

    /// Leaves out the lines of these facts, which have other ones.
    pub(crate) fn leave_out(&mut self, facts: &BTreeSet<FactId>) {
        Arc::make_mut(&mut self.outline).leave_out(facts);
    }

    /// Runs work on a sink in the CPU pool.
    async fn put<S: FileSink>(
        &self,
        mut sink: S,
        write: impl FnOnce(&mut S) -> io::Result<()> + Send + 'static,
    ) -> Result<S> {
        let put = move || write(&mut sink).map(|()| sink);
        self.cpu.run(put).await?.map_err(|error| unwritten(&error))
    }

    /// Writes the files of a list. Those of `stay` take the place of files of episodes.
    pub(crate) async fn write<S: FileSink>(
        &self,
        list: FileList,
        stay: Vec<File>,
        mut sink: S,
    ) -> Result<S> {
        let mut stay = Some(stay);
        for source in list.0 {
            sink = match source {
                FileSource::Page(page) => self.write_page(page, sink).await?,
                FileSource::Episodes => {
                    self.write_episodes(stay.take().unwrap_or_default(), sink).await?
                }
                FileSource::Text(file) => {
                    self.put(sink, move |sink| write_file(sink, &file)).await?
                }
            };
        }
        Ok(sink)
    }

    async fn write_page<S: FileSink>(&self, page: PageOutline, mut sink: S) -> Result<S> {
        let PageOutline { path, parts } = page;
        sink = self.put(sink, move |sink| sink.begin(&path)).await?;
        for part in parts {
            match part {
                PagePart::Text(text) => {
                    sink = self.put(sink, move |sink| sink.write(&text)).await?;
                }
                PagePart::Memories(facts) => {
                    for facts in facts.chunks(BLOCK_ROWS) {
                        sink = self.write_lines(facts, sink).await?;
                    }
                }
            }
        }
        Ok(sink)
    }

    async fn write_lines<S: FileSink>(&self, facts: &[FactId], mut sink: S) -> Result<S> {
        let mut links: BTreeMap<FactId, Vec<Link>> = BTreeMap::new();
        for link in everything::links_from(self.scope, facts).await? {
            links.entry(link.from).or_default().push(link);
        }
        let links = Arc::new(links);
        let blocks = everything::version_blocks_of(self.scope, facts).await?;
        let mut blocks = FactBlocks::of(blocks);
        while let Some(block) = blocks.next().await? {
            let (links, outline, now) = (Arc::clone(&links), Arc::clone(&self.outline), self.now);
            let write = move |sink: &mut S| {
                for known in block.facts() {
                    let of_fact = known.first().and_then(|first| links.get(&first.fact));
                    let of_fact: Vec<&Link> = of_fact.into_iter().flatten().collect();
                    sink.write(&vault::lines(&known, &of_fact, &outline, now))?;
                }
                Ok(())
            };
            sink = self.put(sink, write).await?;
        }
        Ok(sink)
    }

    /// Writes the files of episodes. Those in `stay` are written instead of the ones with their paths.
    async fn write_episodes<S: FileSink>(&self, mut stay: Vec<File>, mut sink: S) -> Result<S> {
        stay.sort_by(|one, two| one.path.cmp(&two.path));
        let mut pages = EpisodePages { stay: stay.into(), ..EpisodePages::default() };
        let mut blocks = everything::episode_blocks(self.scope).await?;
        while let Some(block) = blocks.next().await? {
            let (hidden, part) = (Arc::clone(&self.hidden), self.part.clone());
            let is_large = block.bytes > LARGE_TEXT_CHARS;
            let write = move || {
                let is_seen = |episode: &&Episode| {
                    !hidden.contains(&episode.session) && part.has_episode(episode)
                };
                let seen = block.rows.iter().filter(is_seen);
                for episode in seen {
                    pages.write(episode, &mut sink)?;
                }
                Ok::<_, io::Error>((pages, sink))
            };
            let written = self.cpu.run_if(is_large, write).await?;
            (pages, sink) = written.map_err(|error| unwritten(&error))?;
        }
        self.put(sink, move |sink| pages.stay.iter().try_for_each(|file| write_file(sink, file)))
            .await
    }

    /// Writes the base, without a signature, and returns the digest of its rows.
    pub(crate) async fn write_base<S: FileSink>(
        &self,
        kept: KeptRows,
        sink: S,
    ) -> Result<(S, Sha256)> {
        let (outline, kept) = (Arc::clone(&self.outline), Arc::new(kept));
        let rows = BaseRows { kept, outline, now: self.now };
        let (head, links) = self.base_head(&rows).await?;
        let mut base = BaseSink { sink, hash: Sha256::new() };
        base = self.put_base(base, move |base| base.begin(&head)).await?;
        base = self.write_memories(&rows, base).await?;
        base = self.write_links(&rows, links, base).await?;
        let mut blocks = everything::episode_blocks(self.scope).await?;
        while let Some(block) = blocks.next().await? {
            let write = move |base: &mut BaseSink<S>| {
                block.rows.iter().try_for_each(|episode| base.write(BaseRow::Episode(episode)))
            };
            base = self.put_base(base, write).await?;
        }
        Ok((base.sink, base.hash))
    }

    async fn put_base<S: FileSink>(
        &self,
        mut base: BaseSink<S>,
        write: impl FnOnce(&mut BaseSink<S>) -> io::Result<()> + Send + 'static,
    ) -> Result<BaseSink<S>> {
        let put = move || write(&mut base).map(|()| base);
        self.cpu.run(put).await?.map_err(|error| unwritten(&error))
    }

    /// The head of the base, and the kept links that the memory does not have.
    async fn base_head(&self, rows: &BaseRows) -> Result<(String, Vec<Link>)> {
        let mut memories = HashedLines::new(self.cpu);
        let mut blocks = FactBlocks::open(self.scope).await?;
        while let Some(block) = blocks.next().await? {
            let rows = rows.clone();
            let lines =
                move || rows.of_facts(&block).filter_map(|b| hash_line(&b)).collect::<Vec<_>>();
            memories.add_lines(self.cpu.run(lines).await?).await?;
        }
        memories.add_lines(rows.kept.memories.iter().filter_map(hash_line).collect()).await?;
        let mut kept = rows.kept.links.clone();
        let mut links = everything::open_link_blocks(self.scope).await?;
        while let Some(block) = links.next().await? {
            if !kept.is_empty() {
                let here = block.rows.iter().filter(|link| rows.has_link(link));
                let here: BTreeSet<_> = here.map(Link::key).collect();
                kept.retain(|link| !here.contains(&link.key()));
            }
            let rows = rows.clone();
            let line = move |link: &Link| {
                let counts = rows.has_link(link) && rows.counts(link);
                counts.then(|| state_hash::link_line(link))
            };
            memories.add_block(block, line).await?;
        }
        let mut known = BTreeSet::new();
        kept.retain(|link| known.insert((link.from, link.to, link.relation.clone())));
        kept.sort_by_key(|link| link.id);
        let counted = kept.iter().filter(|link| rows.counts(link));
        memories.add_lines(counted.map(state_hash::link_line).collect()).await?;
        let mut episodes = HashedLines::new(self.cpu);
        let mut blocks = everything::episode_blocks(self.scope).await?;
        while let Some(block) = blocks.next().await? {
            let line = |episode: &Episode| Some(state_hash::episode_line(episode));
            episodes.add_block(block, line).await?;
        }
        let (memories, episodes) = (memories.hash().await?, episodes.hash().await?);
        Ok((BaseRow::Head { memories, episodes }.line(), kept))
    }

    async fn write_memories<S: FileSink>(
        &self,
        rows: &BaseRows,
        mut base: BaseSink<S>,
    ) -> Result<BaseSink<S>> {
        let mut kept: VecDeque<BaseVersion> = rows.kept.memories.clone().into();
        let mut blocks = FactBlocks::open(self.scope).await?;
        while let Some(block) = blocks.next().await? {
            let rows = rows.clone();
            let write = move || {
                for based in rows.of_facts(&block) {
                    while let Some(first) =
                        kept.pop_front_if(|first| first.memory.fact < based.memory.fact)
                    {
                        base.write(BaseRow::Memory(&first))?;
                    }
                    base.write(BaseRow::Memory(&based))?;
                }
                Ok::<_, io::Error>((kept, base))
            };
            let written = self.cpu.run(write).await?;
            (kept, base) = written.map_err(|error| unwritten(&error))?;
        }
        let rest = move |base: &mut BaseSink<S>| {
            kept.iter().try_for_each(|based| base.write(BaseRow::Memory(based)))
        };
        self.put_base(base, rest).await
    }

    async fn write_links<S: FileSink>(
        &self,
        rows: &BaseRows,
        kept: Vec<Link>,
        mut base: BaseSink<S>,
    ) -> Result<BaseSink<S>> {
        let mut kept = VecDeque::from(kept);
        let mut blocks = everything::open_link_blocks(self.scope).await?;
        while let Some(block) = blocks.next().await? {
            let rows = rows.clone();
            let write = move || {
                for link in block.rows.iter().filter(|link| rows.has_link(link)) {
                    while let Some(first) = kept.pop_front_if(|first| first.id < link.id) {
                        base.write(BaseRow::Link(&first))?;
                    }
                    base.write(BaseRow::Link(link))?;
                }
                Ok::<_, io::Error>((kept, base))
            };
            let written = self.cpu.run(write).await?;
            (kept, base) = written.map_err(|error| unwritten(&error))?;
        }
        let rest = move |base: &mut BaseSink<S>| {
            kept.iter().try_for_each(|link| base.write(BaseRow::Link(link)))
        };
        self.put_base(base, rest).await
    }
}

fn write_file<S: FileSink>(sink: &mut S, file: &File) -> io::Result<()> {
    sink.begin(&file.path)?;
    sink.write(&file.content)
}

/// The files of episodes that are being written, in the order of their paths.
#[derive(Default)]
struct EpisodePages {
    /// The path of the last episode's file.
    last: String,
    /// Whether that file stays as it is.
    stays: bool,
    /// Files that stay as they are and were not written yet.
    stay: VecDeque<File>,
}

impl EpisodePages {
    fn write<S: FileSink>(&mut self, episode: &Episode, sink: &mut S) -> io::Result<()> {
        let before = self.last.clone();
        let (path, text) = vault::episode_page(episode, &mut self.last);
        if path != before {
            self.stays = false;
            while let Some(first) = self.stay.pop_front_if(|first| first.path <= path) {
                self.stays = first.path == path;
                write_file(sink, &first)?;
            }
            if !self.stays {
                sink.begin(&path)?;
            }
        }
        if self.stays { Ok(()) } else { sink.write(&text) }
    }
}

/// The rows of a base about memories: those of the memory, and those kept of an earlier base.
#[derive(Clone)]
struct BaseRows {
    kept: Arc<KeptRows>,
    outline: Arc<Outline>,
    now: Timestamp,
}

impl BaseRows {
    /// The rows of facts of which no others are kept.
    fn of_facts<'b>(&'b self, block: &'b FactBlock) -> impl Iterator<Item = BaseVersion> + 'b {
        let own = |known: &Vec<&Version>| {
            known.first().is_some_and(|first| !self.kept.facts.contains(&first.fact))
        };
        block.facts().filter(own).flat_map(|known| vault::base_rows(&known, self.now))
    }

    /// Whether an open link is a row.
    fn has_link(&self, link: &Link) -> bool {
        self.outline.has(link.from) && self.outline.has(link.to)
    }

    /// Whether the row of a link counts in the hash: the base has both of its facts.
    fn counts(&self, link: &Link) -> bool {
        let kept = &self.kept;
        let has = |fact: FactId| match kept.facts.contains(&fact) {
            true => kept.memories.binary_search_by_key(&fact, |based| based.memory.fact).is_ok(),
            false => self.outline.has(fact),
        };
        has(link.from) && has(link.to)
    }
}

fn hash_line(based: &BaseVersion) -> Option<String> {
    state_hash::version_line(&based.memory)
}

/// A sink of a base, with the digest of what was written.
struct BaseSink<S> {
    sink: S,
    hash: Sha256,
}

impl<S: FileSink> BaseSink<S> {
    fn begin(&mut self, head: &str) -> io::Result<()> {
        self.sink.begin(BASE)?;
        self.hash.update(head);
        self.sink.write(head)
    }

    fn write(&mut self, row: BaseRow<'_>) -> io::Result<()> {
        let line = row.line();
        self.hash.update(&line);
        self.sink.write(&line)
    }
}
