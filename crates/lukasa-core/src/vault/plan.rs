//! Computes the changes since the files were made: each line is compared with its base and with the
//! current state. An edit on one side is applied, the same edit on both sides is not a change, and two
//! different ones are a conflict that only the user resolves.

use std::collections::{BTreeMap, BTreeSet};

use super::episodes::plan_sections;
use super::read::{ParsedVault, VaultEntry};
use super::render::{is_inferred, steady_hints};
use super::{FileProblem, Home, VaultContents, by_fact, shown};
use crate::episode::{Episode, EpisodeEdit};
use crate::fact::{Claim, Edit, State, Version, fingerprint};
use crate::id::{EpisodeId, FactId};
use crate::link::Link;
use crate::time::Timestamp;

/// Content of the base that this memory has never had and that can be imported. What was erased or
/// otherwise removed here is not missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingContent {
    pub facts: BTreeSet<FactId>,
    /// Whether the memory is empty, so that episodes can be imported too.
    pub everything: bool,
}

/// The action for one line.
#[derive(Debug, Clone, PartialEq)]
pub enum PlannedChange {
    Save(Box<Claim>),
    Change(Box<Edit>),
    Forget,
    Confirm,
    /// Accepts the proposal with this digest.
    Accept {
        edit: Box<Edit>,
        digest: String,
    },
    Reject,
    /// Replaces the words of an episode.
    Episode {
        id: EpisodeId,
        edit: EpisodeEdit,
    },
}

impl PlannedChange {
    pub fn as_str(&self) -> &'static str {
        match self {
            PlannedChange::Save(_) => "save",
            PlannedChange::Change(_) => "change",
            PlannedChange::Forget => "forget",
            PlannedChange::Confirm => "confirm",
            PlannedChange::Accept { .. } => "accept",
            PlannedChange::Reject => "reject",
            PlannedChange::Episode { .. } => "episode",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct PlanStep {
    pub what: PlannedChange,
    /// `None` if it is new.
    pub fact: Option<FactId>,
    pub file: String,
    /// Zero if the line was deleted.
    pub line: usize,
    pub before: Option<String>,
    pub after: Option<String>,
    /// Index of the entry it comes from.
    pub entry: Option<usize>,
}

/// Both sides changed the same thing. A text is absent if the line or the memory was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncConflict {
    pub fact: FactId,
    pub file: String,
    pub line: usize,
    pub base: Option<String>,
    pub theirs: Option<String>,
    pub ours: Option<String>,
}

/// What a sync would do, and what it would leave unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SyncPlan {
    /// Versions that are restored from the base, unchanged.
    pub restores: Vec<Version>,
    pub links: Vec<Link>,
    pub episodes: Vec<Episode>,
    pub steps: Vec<PlanStep>,
    pub conflicts: Vec<SyncConflict>,
    pub problems: Vec<FileProblem>,
    /// Facts whose lines stay unchanged.
    pub held: BTreeSet<FactId>,
    /// Indexes of entries that stay unchanged.
    pub kept: BTreeSet<usize>,
    /// Paths of files that stay unchanged as a whole.
    pub kept_files: BTreeSet<String>,
    /// Indexes of entries by fact, including entries that have lost their mark.
    pub lines: BTreeMap<FactId, Vec<usize>>,
    /// Whether this installation signed the base for the user. Set by the engine.
    pub base_signed: bool,
}

impl SyncPlan {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.restores.is_empty()
            && self.links.is_empty()
            && self.episodes.is_empty()
            && self.steps.is_empty()
    }

    fn problem(&mut self, entry: &VaultEntry, what: &str) {
        let (file, line) = (entry.home.path(), entry.line);
        self.problems.push(FileProblem { file, line, what: what.to_owned() });
    }
}

/// A line of one side: the visible part of a memory.
struct Side<'a> {
    content: &'a str,
    tags: Vec<&'a str>,
    home: &'a Home,
}

impl<'a> Side<'a> {
    fn of((version, home): (&'a Version, &'a Home)) -> Self {
        let tags = version.claim.tags.iter().map(String::as_str);
        let tags = tags.filter(|tag| !tag.is_empty()).collect();
        Self { content: &version.claim.content, tags, home }
    }

    fn written(entry: &'a VaultEntry) -> Self {
        let tags = entry.tags.iter().map(String::as_str).collect();
        Self { content: &entry.content, tags, home: &entry.home }
    }

    fn same(&self, other: &Side<'_>) -> bool {
        self.content == other.content && self.tags == other.tags && self.home == other.home
    }

    /// The line for a message: its content, its tags and its file.
    fn say(&self) -> String {
        let tags: String = self.tags.iter().map(|tag| format!(" #{tag}")).collect();
        format!("{}{tags} ({})", self.content, self.home.path())
    }
}

/// Whether theirs is a change of the base that ours does not have yet, and whether ours is a change
/// too.
fn moved<T: PartialEq>(base: &T, theirs: &T, ours: &T) -> (bool, bool) {
    (theirs != base && theirs != ours, ours != base)
}

pub fn plan(
    read: &ParsedVault,
    held: &VaultContents,
    missing: &MissingContent,
    now: Timestamp,
) -> SyncPlan {
    let mut plan = SyncPlan { problems: read.problems.clone(), ..SyncPlan::default() };
    let base = read.base.shown();
    let restores = read.base.versions().into_iter();
    plan.restores = restores.filter(|v| missing.facts.contains(&v.fact)).collect();
    let ours: Vec<Version> = held.versions.iter().chain(&plan.restores).cloned().collect();
    let ours = by_fact(&ours);
    let written = Written::of(read, &base);
    for (index, entry) in read.entries.iter().enumerate().filter(|(_, entry)| entry.broken) {
        plan.problem(
            entry,
            "the mark at its end is broken; fix it, or delete it to save the line as a new memory",
        );
        plan.kept.insert(index);
    }
    let facts: BTreeSet<FactId> = base.keys().chain(written.by_fact.keys()).copied().collect();
    for fact in facts {
        let was = base.get(&fact).map(|(version, home)| (*version, home));
        let known = ours.get(&fact).map(Vec::as_slice).unwrap_or_default();
        let is = shown(known, now);
        let is = is.as_ref().map(|(version, home)| (*version, home));
        let lines = written.by_fact.get(&fact).map(Vec::as_slice).unwrap_or_default();
        match lines {
            [] => plan_deleted_line(&mut plan, fact, was, is, &written),
            [index] => {
                plan_marked_line(&mut plan, *index, &read.entries[*index], fact, was, is);
            }
            several => {
                for index in several {
                    let what = "several lines have this mark; leave it on one of them";
                    plan.problem(&read.entries[*index], what);
                    plan.kept.insert(*index);
                }
                plan.held.insert(fact);
            }
        }
    }
    plan_new_lines(&mut plan, read, &written, &ours, now);
    restore_links(&mut plan, read, held, &ours, missing);
    if missing.everything {
        plan.episodes.clone_from(&read.base.episodes);
    }
    plan_sections(&mut plan, read, &held.episodes);
    plan.lines = written.by_fact;
    plan.steps.sort_by(|one, two| (&one.file, one.line).cmp(&(&two.file, two.line)));
    plan
}

/// The entries, grouped by fact.
struct Written {
    by_fact: BTreeMap<FactId, Vec<usize>>,
    new: Vec<usize>,
    /// Files with a broken mark: it is unclear which of their lines were deleted.
    unclear: BTreeSet<Home>,
}

impl Written {
    fn of(read: &ParsedVault, base: &BTreeMap<FactId, (&Version, Home)>) -> Self {
        let mut written =
            Self { by_fact: BTreeMap::new(), new: Vec::new(), unclear: BTreeSet::new() };
        for (index, entry) in read.entries.iter().enumerate() {
            match entry.fact {
                _ if entry.broken => {
                    written.unclear.insert(entry.home.clone());
                }
                Some(fact) => written.by_fact.entry(fact).or_default().push(index),
                None => written.new.push(index),
            }
        }
        // A line with unchanged words has lost only its mark.
        let mut lost = LostLines::default();
        for (fact, (version, home)) in base {
            if !written.by_fact.contains_key(fact) {
                lost.add(*fact, &version.claim.content, home);
            }
        }
        let mut new = Vec::new();
        for index in std::mem::take(&mut written.new) {
            let entry = &read.entries[index];
            match lost.take(&entry.content, &entry.home) {
                Some(fact) => {
                    written.by_fact.insert(fact, vec![index]);
                }
                None => new.push(index),
            }
        }
        written.new = new;
        written
    }
}

/// Lines of the base without a mark in the files, by their words and their file.
#[derive(Default)]
struct LostLines<'a> {
    by_words: BTreeMap<&'a str, BTreeMap<FactId, &'a Home>>,
    by_home: BTreeMap<(&'a str, &'a Home), BTreeSet<FactId>>,
}

impl<'a> LostLines<'a> {
    fn add(&mut self, fact: FactId, words: &'a str, home: &'a Home) {
        self.by_words.entry(words).or_default().insert(fact, home);
        self.by_home.entry((words, home)).or_default().insert(fact);
    }

    /// Removes and returns the first fact with these words, one of the same file before others.
    fn take(&mut self, words: &'a str, home: &'a Home) -> Option<FactId> {
        let facts = self.by_words.get_mut(words)?;
        let here = self.by_home.get(&(words, home)).and_then(BTreeSet::first);
        let fact = here.or_else(|| facts.keys().next()).copied()?;
        let home = facts.remove(&fact)?;
        self.by_home.get_mut(&(words, home))?.remove(&fact);
        Some(fact)
    }
}

type Seen<'a> = Option<(&'a Version, &'a Home)>;

/// Handles a deleted line.
fn plan_deleted_line(
    plan: &mut SyncPlan,
    fact: FactId,
    was: Seen<'_>,
    is: Seen<'_>,
    written: &Written,
) {
    let Some((was, home)) = was else { return };
    if written.unclear.contains(home) {
        plan.held.insert(fact);
        return;
    }
    let Some(is) = is else { return };
    let (base, ours) = (Side::of((was, home)), Side::of(is));
    if !base.same(&ours) {
        plan.held.insert(fact);
        plan.conflicts.push(SyncConflict {
            fact,
            file: home.path(),
            line: 0,
            base: Some(base.say()),
            theirs: None,
            ours: Some(ours.say()),
        });
        return;
    }
    let what =
        if is.0.state == State::Active { PlannedChange::Forget } else { PlannedChange::Reject };
    plan.steps.push(PlanStep {
        what,
        fact: Some(fact),
        file: home.path(),
        line: 0,
        before: Some(was.claim.content.clone()),
        after: None,
        entry: None,
    });
}

/// Handles a line with a mark.
fn plan_marked_line(
    plan: &mut SyncPlan,
    index: usize,
    entry: &VaultEntry,
    fact: FactId,
    was: Seen<'_>,
    is: Seen<'_>,
) {
    let theirs = Side::written(entry);
    let (base, ours) = (was.map(Side::of), is.map(Side::of));
    let same = |side: &Option<Side<'_>>| side.as_ref().is_some_and(|side| side.same(&theirs));
    let problem = match (&base, &ours) {
        _ if entry.content.trim().is_empty() => {
            Some("the line has no words; delete the whole line to forget the memory")
        }
        (None, None) => Some("no memory has this mark; delete the mark to save the line as new"),
        // Removed here and unchanged in the file, or the same in both.
        (_, None) if same(&base) => return,
        (None, Some(_)) if same(&ours) => return,
        (Some(base), Some(ours)) if !collides(base, &theirs, ours) => {
            let (Some((was, _)), Some(is)) = (was, is) else { return };
            match edited(entry, was, base, &theirs, is, ours) {
                Ok(None) => return,
                Ok(Some(what)) => {
                    plan.steps.push(PlanStep {
                        what,
                        fact: Some(fact),
                        file: entry.home.path(),
                        line: entry.line,
                        before: Some(is.0.claim.content.clone()),
                        after: Some(entry.content.clone()),
                        entry: Some(index),
                    });
                    return;
                }
                Err(problem) => {
                    plan.problem(entry, &problem);
                    plan.held.insert(fact);
                    plan.kept.insert(index);
                    return;
                }
            }
        }
        _ => None,
    };
    plan.held.insert(fact);
    plan.kept.insert(index);
    match problem {
        Some(problem) => plan.problem(entry, problem),
        None => plan.conflicts.push(SyncConflict {
            fact,
            file: entry.home.path(),
            line: entry.line,
            base: base.map(|side| side.say()),
            theirs: Some(theirs.say()),
            ours: ours.map(|side| side.say()),
        }),
    }
}

/// Whether both sides changed the words, the tags or the file, and differently.
fn collides(base: &Side<'_>, theirs: &Side<'_>, ours: &Side<'_>) -> bool {
    [
        moved(&base.content, &theirs.content, &ours.content),
        moved(&base.tags, &theirs.tags, &ours.tags),
        moved(&base.home, &theirs.home, &ours.home),
    ]
    .contains(&(true, true))
}

/// The action of an edited line; `None` if there is nothing to do.
fn edited(
    entry: &VaultEntry,
    was: &Version,
    base: &Side<'_>,
    theirs: &Side<'_>,
    (is, home): (&Version, &Home),
    ours: &Side<'_>,
) -> Result<Option<PlannedChange>, String> {
    let steady = |hint: &&String| !hint.starts_with("inferred") && !hint.starts_with("from ");
    let hints: Vec<&String> = entry.hints.iter().filter(steady).collect();
    if !hints.is_empty() && hints != steady_hints(was).iter().collect::<Vec<_>>() {
        return Err("the text in *( )* is read-only; change the words instead".to_owned());
    }
    let mut edit = match moved(&base.home, &theirs.home, &ours.home) {
        (true, _) => theirs.home.take(&is.claim),
        _ => Edit::default(),
    };
    if moved(&base.content, &theirs.content, &ours.content).0 {
        edit.content = Some(entry.content.clone());
    }
    if moved(&base.tags, &theirs.tags, &ours.tags).0 {
        edit.tags = Some(entry.tags.clone());
    }
    let carried = theirs.home != ours.home;
    if *home == Home::Proposals && !carried {
        return match edit.is_empty() {
            true => Ok(None),
            false => Err("move the line into another file to accept it with your words".into()),
        };
    }
    if carried && *theirs.home == Home::Proposals {
        return Err("an active memory cannot become a proposal; delete the line instead".into());
    }
    if let Some((field, reason)) = edit.apply(&is.claim).faults().first() {
        return Err(format!("{field}: {reason}"));
    }
    if *home == Home::Proposals {
        let digest = was.claim.consent_digest();
        return Ok(Some(PlannedChange::Accept { edit: Box::new(edit), digest }));
    }
    if !edit.is_empty() {
        return Ok(Some(PlannedChange::Change(Box::new(edit))));
    }
    let doubted = entry.hints.iter().any(|hint| hint.starts_with("inferred"));
    let confirmed = is_inferred(was) && is_inferred(is) && !doubted;
    // Only if nothing else differs: a line without its mark may not be meant as a confirmation.
    Ok((confirmed && entry.fact.is_some()).then_some(PlannedChange::Confirm))
}

/// What makes two lines the same: their file and their words.
pub(super) fn line_words(home: Home, content: &str) -> (Home, String) {
    (home, content.trim().to_lowercase())
}

/// Whether a line with the same fingerprint is not a new memory.
pub(super) fn is_live(version: &Version, now: Timestamp) -> bool {
    version.state == State::Active && !version.valid.ended(now)
}

/// Handles lines without a mark.
fn plan_new_lines(
    plan: &mut SyncPlan,
    read: &ParsedVault,
    written: &Written,
    ours: &BTreeMap<FactId, Vec<&Version>>,
    now: Timestamp,
) {
    // The same words in the same file are the same line; duplicates that a save would find are
    // skipped too.
    let lines = ours.values().filter_map(|known| shown(known, now));
    let mut lines: BTreeSet<_> =
        lines.map(|(version, home)| line_words(home, &version.claim.content)).collect();
    let known = ours.values().flatten().filter(|v| is_live(v, now)).map(|v| fingerprint(&v.claim));
    let mut known: BTreeSet<_> = known.collect();
    for index in &written.new {
        let entry = &read.entries[*index];
        let claim = entry.home.claim(&entry.content, &entry.tags, &entry.section);
        let problem = match claim.faults().first() {
            _ if entry.home == Home::Proposals => Some(
                "proposals cannot be added by hand; write the line into another file".to_owned(),
            ),
            Some((field, reason)) => Some(format!("{field}: {reason}")),
            None => None,
        };
        if let Some(problem) = problem {
            plan.problem(entry, &problem);
            plan.kept.insert(*index);
        } else if lines.insert(line_words(entry.home.clone(), &entry.content))
            && known.insert(fingerprint(&claim))
        {
            plan.steps.push(PlanStep {
                what: PlannedChange::Save(Box::new(claim)),
                fact: None,
                file: entry.home.path(),
                line: entry.line,
                before: None,
                after: Some(entry.content.clone()),
                entry: Some(*index),
            });
        }
    }
}

/// Restores the links of restored facts. A link between two facts that were never missing was ended
/// on purpose, and stays ended.
fn restore_links(
    plan: &mut SyncPlan,
    read: &ParsedVault,
    held: &VaultContents,
    ours: &BTreeMap<FactId, Vec<&Version>>,
    missing: &MissingContent,
) {
    let mut there: BTreeSet<_> = held.links.iter().map(Link::key).collect();
    for link in &read.base.links {
        let back = missing.facts.contains(&link.from) || missing.facts.contains(&link.to);
        let ends = link.from != link.to
            && ours.contains_key(&link.from)
            && ours.contains_key(&link.to)
            && crate::link::is_relation(&link.relation);
        if back && ends && there.insert(link.key()) {
            plan.links.push(link.clone());
        }
    }
}
