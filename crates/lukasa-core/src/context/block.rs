//! The block: memories as lines of a prompt, fenced, within a token budget, each with a citation
//! mark.
//!
//! The output is a pure function of the arguments and their order: the same memories give the same
//! bytes. The fence carries a nonce that is a digest of the block's content, so no text inside can
//! close it: it would have to contain its own digest.

use lukasa_text::tokens::count;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::compiled::{Line, PORTRAIT_PERCENT, compiled_lines, may_share, template_lines};
use super::conflict::{self, RuleConflict};
use super::line::{
    EarlierClaims, episode_line, found_line, is_rule, memory_line, shared_line, turn_line,
};
use super::{Budget, Section, is_own};
use crate::admission::is_high_stakes;
use crate::episode::Episode;
use crate::fact::{Category, Version};
use crate::id::{EpisodeId, FactId, TurnId, VersionId};
use crate::memory_block::{RULES, SHARED_RULES};
use crate::note::is_withheld;
use crate::origin::Origin;
use crate::sentence::Sentence;
use crate::session::Turn;
use crate::words;

/// The source of a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LineSource {
    Memory {
        #[serde(rename = "memory_id")]
        fact: FactId,
        #[serde(rename = "version_id")]
        version: VersionId,
    },
    Turn {
        #[serde(rename = "turn_id")]
        turn: TurnId,
        #[serde(rename = "session_id")]
        session: String,
    },
    Episode {
        #[serde(rename = "episode_id")]
        episode: EpisodeId,
        #[serde(rename = "session_id")]
        session: String,
    },
}

impl LineSource {
    /// The fact, if it is a memory.
    fn fact(&self) -> Option<FactId> {
        match self {
            LineSource::Memory { fact, .. } => Some(*fact),
            LineSource::Turn { .. } | LineSource::Episode { .. } => None,
        }
    }
}

impl From<&Version> for LineSource {
    fn from(version: &Version) -> Self {
        LineSource::Memory { fact: version.fact, version: version.id }
    }
}

impl From<&Turn> for LineSource {
    fn from(turn: &Turn) -> Self {
        LineSource::Turn { turn: turn.id, session: turn.session.clone() }
    }
}

impl From<&Episode> for LineSource {
    fn from(episode: &Episode) -> Self {
        LineSource::Episode { episode: episode.id, session: episode.session.clone() }
    }
}

/// A line that went into a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptLine {
    /// The citation mark for replies, such as `m1`.
    pub mark: String,
    pub source: LineSource,
    /// Further facts in the line besides the source's own, if it combines several.
    pub also: Vec<FactId>,
    pub section: Section,
    pub line: String,
    pub tokens: usize,
    pub relevance: Option<f32>,
}

words!(
    /// Why a source was left out of the block.
    LeftOutReason {
        OverBudget = "over the budget",
        OverCategoryBudget = "over the category's budget",
        InBaseline = "in the baseline already",
        NotSure = "not sure enough",
        /// From an import or a document, and the user has not agreed to it.
        ImportNotApproved = "imported, not approved",
        /// From a tool, inferred from an assistant's words, or a kept reply that directs assistants, and
        /// the user has not agreed to it.
        NotApproved = "not approved",
        NotRelevant = "not relevant enough",
        OnlyAsks = "only a question",
        ChangedSince = "changed since",
        AlreadyIncluded = "included by a memory or a turn",
        DirectsAssistants = "an instruction of another member",
    }
);

impl LeftOutReason {
    /// The reason for a memory that is not sure enough for a prompt.
    pub fn of_unused(version: &Version) -> Self {
        match version.origin {
            _ if is_withheld(version) => Self::NotApproved,
            _ if is_own(version) => Self::NotSure,
            Origin::Import | Origin::Document => Self::ImportNotApproved,
            _ => Self::NotApproved,
        }
    }
}

/// A source that was left out of the block, and the reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    pub source: LineSource,
    pub reason: LeftOutReason,
    pub relevance: Option<f32>,
}

/// A rendered part of a context, ready to be put into a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Block {
    pub content: String,
    pub nonce: String,
    pub tokens: usize,
    pub items: Vec<PromptLine>,
    pub left_out: Vec<LeftOut>,
    /// The rules that the message, or another line, is against.
    pub conflicts: Vec<RuleConflict>,
}

impl Block {
    /// A digest of the content, for HTTP caching.
    pub fn etag(&self) -> String {
        hex::encode(&Sha256::digest(self.content.as_bytes())[..8])
    }

    pub fn facts(&self) -> impl Iterator<Item = FactId> + '_ {
        self.items.iter().flat_map(PromptLine::facts)
    }
}

impl PromptLine {
    /// Every fact in the line; if one of them is removed, so is the line.
    pub fn facts(&self) -> impl Iterator<Item = FactId> + '_ {
        self.source.fact().into_iter().chain(self.also.iter().copied())
    }
}

fn memory(version: &Version) -> LineSource {
    LineSource::from(version)
}

/// The baseline of these memories, which are in order of precedence, with what some of them said
/// before they changed. Empty if there are none: an
/// empty block would only cost tokens.
pub fn baseline(versions: &[Version], earlier: &EarlierClaims, budget: &Budget) -> Block {
    baseline_of_portraits(versions, earlier, &[], budget)
}

/// The same, in which sentences of portraits take the place of the lines of the memories they tell,
/// as far as these are all in the same category, and within a share of its budget.
pub fn baseline_of_portraits(
    versions: &[Version],
    earlier: &EarlierClaims,
    portraits: &[Sentence],
    budget: &Budget,
) -> Block {
    // A rule must not be left out in favour of memories that only concern one message: rules may
    // use the budget reserved for the dynamic part.
    let mut builder =
        BlockBuilder::within(budget.total.saturating_sub(count(RULES) + FRAME_TOKENS));
    let (critical, rules): (Vec<&Version>, Vec<&Version>) =
        versions.iter().filter(|v| is_rule(v)).partition(|v| is_high_stakes(&v.claim));
    for version in critical {
        builder.put_memory(version, Section::Hard, earlier);
    }
    let all_critical = builder.left_out.is_empty();
    // Many rules must not displace who the user is: the rest of them is in the dynamic part of the
    // messages that they concern.
    let mut rules_left = budget.rules();
    for version in rules {
        let line = memory_line(version, earlier);
        rules_left -= builder.put(memory(version), Section::Hard, line, None, rules_left);
    }
    builder.left = match all_critical {
        true => builder.left.saturating_sub(budget.dynamic),
        // If a rule that safety depends on did not fit, nothing less important is included.
        false => 0,
    };
    builder.assistant_left = budget.assistant_share();
    for category in Category::ALL {
        let own = |v: &&Version| v.claim.category == category && !is_rule(v);
        let own: Vec<&Version> = versions.iter().filter(own).collect();
        let before = builder.clone();
        let share = budget.category(category);
        let lines = compiled_lines(&own, earlier, portraits, share);
        builder.put_all(lines, Section::of(category), share);
        if builder.left_out.len() > before.left_out.len() {
            // Not all fit. Combined into sentences of the template, several per line, more may fit.
            let mut combined = before;
            combined.put_all(template_lines(&own, earlier), Section::of(category), share);
            if combined.left_out.len() < builder.left_out.len() {
                builder = combined;
            }
        }
    }
    builder.fenced("memory", Some(RULES), Vec::new())
}

/// A search result for the current message, with its relevance.
#[derive(Debug, Clone, Copy)]
pub enum Finding<'f> {
    Memory(&'f Version, f32),
    Turn(&'f Turn, f32),
    Episode(&'f Episode, f32),
}

/// A sentence of the portrait of a domain, and the memories that it cites.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainSentence {
    pub sentence: Sentence,
    pub memories: Vec<Version>,
}

/// What the dynamic part is made of, in this order.
#[derive(Debug, Clone, Copy, Default)]
pub struct DynamicInput<'f> {
    /// Rules of the domains of the message that did not fit into the baseline.
    pub rules: &'f [Version],
    /// Memories changed since the baseline was made.
    pub changed: &'f [Version],
    /// Memories, turns and episodes relevant to the message.
    pub found: &'f [Finding<'f>],
    /// What is known about the domains of the message, if there is room for it.
    pub portraits: &'f [DomainSentence],
    /// The lines of the baseline.
    pub baseline: &'f [PromptLine],
    /// The message, to be compared with the rules.
    pub message: &'f str,
    /// What memories said before they changed.
    pub earlier: Option<&'f EarlierClaims>,
}

/// The dynamic part, for one message. It continues the marks of the baseline.
pub fn dynamic(input: DynamicInput<'_>, budget: usize) -> Block {
    let DynamicInput { rules, changed, found, portraits, baseline, message, earlier } = input;
    let none = EarlierClaims::new();
    let earlier = earlier.unwrap_or(&none);
    let mut builder = BlockBuilder::within(budget.saturating_sub(FRAME_TOKENS));
    builder.marks = baseline.len();
    for version in rules {
        builder.put_memory(version, Section::Hard, earlier);
    }
    // Conflicts with the message go before everything that is only relevant to it.
    let rules: Vec<&PromptLine> = baseline.iter().chain(&builder.items).collect();
    let with_message = conflict::conflicts(&rules, message).into_iter();
    let with_message: Vec<_> = with_message.filter(|one| one.memory.is_none()).collect();
    let reserved = conflict_tokens(&with_message).min(builder.left);
    builder.left -= reserved;
    for version in changed {
        builder.put_memory(version, Section::Changed, earlier);
    }
    for finding in found {
        match finding {
            Finding::Memory(version, relevance) => {
                let section = if is_rule(version) { Section::Hard } else { Section::Relevant };
                let line = found_line(version, earlier, *relevance);
                builder.put(memory(version), section, line, Some(*relevance), usize::MAX);
            }
            Finding::Turn(turn, relevance) => {
                let (source, line) = (LineSource::from(*turn), turn_line(turn));
                builder.put(source, Section::Said, line, Some(*relevance), usize::MAX);
            }
            Finding::Episode(episode, relevance) => {
                let (source, line) = (LineSource::from(*episode), episode_line(episode));
                builder.put(source, Section::Episodes, line, Some(*relevance), usize::MAX);
            }
        }
    }
    let lines = domain_lines(portraits, baseline, &builder.items, earlier);
    builder.put_all(lines, Section::Domain, builder.left * PORTRAIT_PERCENT / 100);
    let lines: Vec<&PromptLine> = baseline.iter().chain(&builder.items).collect();
    let mut conflicts = conflict::conflicts(&lines, message);
    builder.left += reserved;
    while conflict_tokens(&conflicts) > builder.left {
        conflicts.pop();
    }
    builder.fenced("memory-now", None, conflicts)
}

/// A memory of a space that was found for a message.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedMemory {
    pub version: Version,
    pub relevance: f32,
    /// The name of the member who said it; `None` if the member was erased.
    pub said_by: Option<String>,
}

/// The memories of a space for one message. Each line names the space and the member, and none is a
/// rule. It has rules of its own, because those of the baseline say that its lines are the user's words.
/// It continues after `marks` lines of other blocks.
pub fn shared(space: &str, found: &[SharedMemory], marks: usize, budget: usize) -> Block {
    let frame = count(SHARED_RULES) + FRAME_TOKENS;
    let mut builder = BlockBuilder::within(budget.saturating_sub(frame));
    builder.marks = marks;
    for SharedMemory { version, relevance, said_by } in found {
        let line = shared_line(space, version, *relevance, said_by.as_deref());
        builder.put(memory(version), Section::Shared, line, Some(*relevance), usize::MAX);
    }
    builder.fenced("memory-now", Some(SHARED_RULES), Vec::new())
}

/// The lines of these sentences, without those that cite a memory of another line.
fn domain_lines(
    portraits: &[DomainSentence],
    baseline: &[PromptLine],
    items: &[PromptLine],
    earlier: &EarlierClaims,
) -> Vec<Line> {
    let included: Vec<FactId> = baseline.iter().chain(items).flat_map(PromptLine::facts).collect();
    let line = |DomainSentence { sentence, memories }: &DomainSentence| {
        let is_new = memories.iter().all(|version| !included.contains(&version.fact));
        let may = memories.len() == 1 || memories.iter().all(|v| may_share(v, earlier));
        let members: Vec<&Version> = memories.iter().collect();
        Line::of_sentence(sentence, &members, earlier).filter(|_| is_new && may)
    };
    portraits.iter().filter_map(line).collect()
}

/// The tokens that conflicts take in a block.
fn conflict_tokens(conflicts: &[RuleConflict]) -> usize {
    match conflicts {
        [] => 0,
        some => count(CONFLICTS) + count(&conflict::notes(some).join("\n")) + 8,
    }
}

/// Heading of the conflicts between rules and the message or a memory.
const CONFLICTS: &str = "Conflicts with hard preferences (ask the user before acting)";

/// Upper bound of the tokens of the fence and a heading.
const FRAME_TOKENS: usize = 60;

/// Lower bound of the tokens of a line: its mark, a word, and its reliability.
pub const SHORTEST_LINE: usize = 12;

/// Collects the lines of a block within its token budget.
#[derive(Clone)]
struct BlockBuilder {
    /// Tokens left over all.
    left: usize,
    /// Tokens left for lines from assistants.
    assistant_left: usize,
    marks: usize,
    items: Vec<PromptLine>,
    left_out: Vec<LeftOut>,
}

impl BlockBuilder {
    fn within(tokens: usize) -> Self {
        Self {
            left: tokens,
            assistant_left: usize::MAX,
            marks: 0,
            items: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Adds the lines of one category, within its budget. A line that combines several memories is
    /// included or left out as a whole.
    fn put_all(&mut self, lines: Vec<Line>, section: Section, budget: usize) {
        let mut left = budget;
        for Line { mut sources, text, from_assistant } in lines {
            if sources.is_empty() {
                continue;
            }
            let first = sources.remove(0);
            let limit = if from_assistant { left.min(self.assistant_left) } else { left };
            let took = self.put(first, section, text, None, limit);
            left -= took.min(left);
            if from_assistant {
                self.assistant_left = self.assistant_left.saturating_sub(took);
            }
            if took > 0 {
                if let Some(item) = self.items.last_mut() {
                    item.also = sources.iter().filter_map(LineSource::fact).collect();
                }
            } else if let Some(reason) = self.left_out.last().map(|left| left.reason) {
                let left = sources.into_iter();
                let left = left.map(|source| LeftOut { source, reason, relevance: None });
                self.left_out.extend(left);
            }
        }
    }

    /// Adds the line of a memory if it fits into the total budget.
    fn put_memory(&mut self, version: &Version, section: Section, earlier: &EarlierClaims) {
        self.put(memory(version), section, memory_line(version, earlier), None, usize::MAX);
    }

    /// Adds a line if it fits into both the total and the category's remaining budget; returns the
    /// tokens it took.
    fn put(
        &mut self,
        source: LineSource,
        section: Section,
        line: String,
        relevance: Option<f32>,
        category_left: usize,
    ) -> usize {
        if self.items.iter().any(|item| item.source == source) {
            return 0;
        }
        // No line is shorter than this, so nothing needs to be counted if less is left.
        if self.left.min(category_left) < SHORTEST_LINE {
            return self.leave_out(source, relevance, self.left < SHORTEST_LINE);
        }
        let mark = format!("m{}", self.marks + 1);
        // Counted with list mark, brackets and line end, as rendered in the block.
        let tokens = count(&format!("- [{mark}] {line}\n"));
        let heading = self.items.iter().all(|item| item.section != section);
        let tokens = tokens + if heading { count(section.as_str()) + 4 } else { 0 };
        if tokens > self.left || tokens > category_left {
            return self.leave_out(source, relevance, tokens > self.left);
        }
        self.left -= tokens;
        self.marks += 1;
        let also = Vec::new();
        self.items.push(PromptLine { mark, source, also, section, line, tokens, relevance });
        tokens
    }

    /// Records a line that does not fit; returns the tokens it took: none.
    fn leave_out(&mut self, source: LineSource, relevance: Option<f32>, over_total: bool) -> usize {
        let reason = match over_total {
            true => LeftOutReason::OverBudget,
            false => LeftOutReason::OverCategoryBudget,
        };
        self.left_out.push(LeftOut { source, reason, relevance });
        0
    }

    fn fenced(self, tag: &str, rules: Option<&str>, conflicts: Vec<RuleConflict>) -> Block {
        let Self { items, left_out, .. } = self;
        if items.is_empty() && conflicts.is_empty() {
            return Block { left_out, ..Block::default() };
        }
        let mut body = String::new();
        if let Some(rules) = rules {
            body.push_str(rules);
            body.push('\n');
        }
        let mut soft = false;
        let mut section = None;
        for item in &items {
            if section != Some(item.section) {
                section = Some(item.section);
                let under_soft = item.section.is_soft();
                if under_soft && !soft {
                    soft = true;
                    body.push_str(&format!("\n## {}\n", Section::SOFT));
                }
                let gap = if body.is_empty() || under_soft { "" } else { "\n" };
                let depth = if under_soft { "###" } else { "##" };
                body.push_str(&format!("{gap}{depth} {}\n", item.section.as_str()));
            }
            body.push_str(&format!("- [{}] {}\n", item.mark, item.line));
        }
        if !conflicts.is_empty() {
            let gap = if body.is_empty() { "" } else { "\n" };
            let notes = conflict::notes(&conflicts).join("\n");
            body.push_str(&format!("{gap}## {CONFLICTS}\n{notes}\n"));
        }
        let nonce = hex::encode(&Sha256::digest(body.as_bytes())[..6]);
        let content = format!("<{tag} nonce=\"{nonce}\">\n{body}</{tag} nonce=\"{nonce}\">\n");
        let tokens = count(&content);
        Block { content, nonce, tokens, items, left_out, conflicts }
    }
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
