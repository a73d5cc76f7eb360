//! What became of the files since they were made: each line compared with the base it was made from
//! and with what is known now. An edit on one side is taken over, the same edit on both is none, and
//! two different ones are a conflict that nobody but the person decides.

use std::collections::{BTreeMap, BTreeSet};

use super::read::{Entry, Read};
use super::render::{is_inferred, steady_hints};
use super::{Held, Home, Problem, by_fact, shown};
use crate::episode::Episode;
use crate::fact::{Claim, Edit, State, Version, fingerprint};
use crate::id::FactId;
use crate::link::Link;
use crate::time::Timestamp;

/// What a memory has never had of what the base speaks of, so that it can be taken in again. What was
/// erased, or taken back in whatever way, is not missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missing {
    pub facts: BTreeSet<FactId>,
    /// There is nothing at all yet, so that what happened can be taken in too.
    pub everything: bool,
}

/// What to do about one line.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    Save(Box<Claim>),
    Change(Box<Edit>),
    Forget,
    Confirm,
    /// A yes to the proposal with this digest.
    Accept {
        edit: Box<Edit>,
        digest: String,
    },
    Reject,
}

impl What {
    pub fn as_str(&self) -> &'static str {
        match self {
            What::Save(_) => "save",
            What::Change(_) => "change",
            What::Forget => "forget",
            What::Confirm => "confirm",
            What::Accept { .. } => "accept",
            What::Reject => "reject",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub what: What,
    /// Nothing if it is new.
    pub fact: Option<FactId>,
    pub file: String,
    /// Zero where the line is gone.
    pub line: usize,
    pub before: Option<String>,
    pub after: Option<String>,
    /// Which of the entries that were read it comes from.
    pub entry: Option<usize>,
}

/// Both sides changed the same thing. Each text is absent where the line or the memory is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub fact: FactId,
    pub file: String,
    pub line: usize,
    pub base: Option<String>,
    pub theirs: Option<String>,
    pub ours: Option<String>,
}

/// What a sync would do, and what it leaves alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Versions that come back from the base, as they stand there.
    pub restores: Vec<Version>,
    pub links: Vec<Link>,
    pub episodes: Vec<Episode>,
    pub steps: Vec<Step>,
    pub conflicts: Vec<Conflict>,
    pub problems: Vec<Problem>,
    /// Facts whose lines stay as they are.
    pub held: BTreeSet<FactId>,
    /// Entries that stay as they are.
    pub kept: BTreeSet<usize>,
    /// Which entries are about which fact, also those that have lost their mark.
    pub lines: BTreeMap<FactId, Vec<usize>>,
    /// Whether this installation signed the base for the user. Set by the engine.
    pub base_signed: bool,
}

impl Plan {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.restores.is_empty()
            && self.links.is_empty()
            && self.episodes.is_empty()
            && self.steps.is_empty()
    }

    fn problem(&mut self, entry: &Entry, what: &str) {
        let (file, line) = (entry.home.path(), entry.line);
        self.problems.push(Problem { file, line, what: what.to_owned() });
    }
}

/// A line of one side: what a person sees of a memory.
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

    fn written(entry: &'a Entry) -> Self {
        let tags = entry.tags.iter().map(String::as_str).collect();
        Self { content: &entry.content, tags, home: &entry.home }
    }

    fn same(&self, other: &Side<'_>) -> bool {
        self.content == other.content && self.tags == other.tags && self.home == other.home
    }

    /// The line as a person would say it, where it stands somewhere else too.
    fn say(&self) -> String {
        let tags: String = self.tags.iter().map(|tag| format!(" #{tag}")).collect();
        format!("{}{tags} ({})", self.content, self.home.path())
    }
}

/// Whether theirs differs from the base where ours does not already say the same, and whether ours
/// differs too.
fn moved<T: PartialEq>(base: &T, theirs: &T, ours: &T) -> (bool, bool) {
    (theirs != base && theirs != ours, ours != base)
}

pub fn plan(read: &Read, held: &Held, missing: &Missing, now: Timestamp) -> Plan {
    let mut plan = Plan { problems: read.problems.clone(), ..Plan::default() };
    let base = read.base.shown();
    let restores = read.base.versions().into_iter();
    plan.restores = restores.filter(|v| missing.facts.contains(&v.fact)).collect();
    let ours: Vec<Version> = held.versions.iter().chain(&plan.restores).cloned().collect();
    let ours = by_fact(&ours);
    let written = Written::of(read, &base);
    for (index, entry) in read.entries.iter().enumerate().filter(|(_, entry)| entry.broken) {
        plan.problem(
            entry,
            "the mark at its end is broken; mend it, or delete it to save this anew",
        );
        plan.kept.insert(index);
    }
    let facts: BTreeSet<FactId> = base.keys().chain(written.by_fact.keys()).copied().collect();
    for fact in facts {
        let was = base.get(&fact).map(|(version, home)| (*version, home));
        let known = ours.get(&fact).map(Vec::as_slice).unwrap_or_default();
        let is = shown(known, now);
        let is = is.as_ref().map(|(version, home)| (version, home));
        let lines = written.by_fact.get(&fact).map(Vec::as_slice).unwrap_or_default();
        match lines {
            [] => gone(&mut plan, fact, was, is, &written),
            [index] => line(&mut plan, *index, &read.entries[*index], fact, was, is),
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
    new_lines(&mut plan, read, &written, &ours, now);
    bring_links(&mut plan, read, held, &ours, missing);
    if missing.everything {
        plan.episodes.clone_from(&read.base.episodes);
    }
    plan.lines = written.by_fact;
    plan.steps.sort_by(|one, two| (&one.file, one.line).cmp(&(&two.file, two.line)));
    plan
}

/// The entries, by what they are about.
struct Written {
    by_fact: BTreeMap<FactId, Vec<usize>>,
    new: Vec<usize>,
    /// Files where a mark is broken: nobody can say which of their lines are gone.
    unclear: BTreeSet<Home>,
}

impl Written {
    fn of(read: &Read, base: &BTreeMap<FactId, (&Version, Home)>) -> Self {
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
        // Words that are still there have lost only their mark.
        let mut lost: BTreeMap<&str, Vec<FactId>> = BTreeMap::new();
        for (fact, (version, _)) in base {
            if !written.by_fact.contains_key(fact) {
                lost.entry(&version.claim.content).or_default().push(*fact);
            }
        }
        let mut new = Vec::new();
        for index in std::mem::take(&mut written.new) {
            let entry = &read.entries[index];
            let Some(facts) = lost.get_mut(entry.content.as_str()).filter(|f| !f.is_empty()) else {
                new.push(index);
                continue;
            };
            let here = |fact: &FactId| base.get(fact).is_some_and(|(_, home)| *home == entry.home);
            let at = facts.iter().position(here).unwrap_or(0);
            written.by_fact.insert(facts.remove(at), vec![index]);
        }
        written.new = new;
        written
    }
}

type Seen<'a> = Option<(&'a Version, &'a Home)>;

/// A line that was there and is not any more.
fn gone(plan: &mut Plan, fact: FactId, was: Seen<'_>, is: Seen<'_>, written: &Written) {
    let Some((was, home)) = was else { return };
    if written.unclear.contains(home) {
        plan.held.insert(fact);
        return;
    }
    let Some(is) = is else { return };
    let (base, ours) = (Side::of((was, home)), Side::of(is));
    if !base.same(&ours) {
        plan.held.insert(fact);
        plan.conflicts.push(Conflict {
            fact,
            file: home.path(),
            line: 0,
            base: Some(base.say()),
            theirs: None,
            ours: Some(ours.say()),
        });
        return;
    }
    let what = if is.0.state == State::Active { What::Forget } else { What::Reject };
    plan.steps.push(Step {
        what,
        fact: Some(fact),
        file: home.path(),
        line: 0,
        before: Some(was.claim.content.clone()),
        after: None,
        entry: None,
    });
}

/// A line with a mark.
fn line(plan: &mut Plan, index: usize, entry: &Entry, fact: FactId, was: Seen<'_>, is: Seen<'_>) {
    let theirs = Side::written(entry);
    let (base, ours) = (was.map(Side::of), is.map(Side::of));
    let same = |side: &Option<Side<'_>>| side.as_ref().is_some_and(|side| side.same(&theirs));
    let problem = match (&base, &ours) {
        _ if entry.content.trim().is_empty() => {
            Some("it says nothing; delete the whole line to forget it")
        }
        (None, None) => Some("no memory has this mark here; delete the mark to save the line anew"),
        // Gone here and untouched there, or the same in both.
        (_, None) if same(&base) => return,
        (None, Some(_)) if same(&ours) => return,
        (Some(base), Some(ours)) if !collides(base, &theirs, ours) => {
            let (Some((was, _)), Some(is)) = (was, is) else { return };
            match edited(entry, was, base, &theirs, is, ours) {
                Ok(None) => return,
                Ok(Some(what)) => {
                    plan.steps.push(Step {
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
        None => plan.conflicts.push(Conflict {
            fact,
            file: entry.home.path(),
            line: entry.line,
            base: base.map(|side| side.say()),
            theirs: Some(theirs.say()),
            ours: ours.map(|side| side.say()),
        }),
    }
}

/// Whether both changed the words, the tags or the place, and not to the same.
fn collides(base: &Side<'_>, theirs: &Side<'_>, ours: &Side<'_>) -> bool {
    [
        moved(&base.content, &theirs.content, &ours.content),
        moved(&base.tags, &theirs.tags, &ours.tags),
        moved(&base.home, &theirs.home, &ours.home),
    ]
    .contains(&(true, true))
}

/// What an edited line asks for; nothing if it asks for nothing.
fn edited(
    entry: &Entry,
    was: &Version,
    base: &Side<'_>,
    theirs: &Side<'_>,
    (is, home): (&Version, &Home),
    ours: &Side<'_>,
) -> Result<Option<What>, String> {
    let steady = |hint: &&String| !hint.starts_with("inferred") && !hint.starts_with("from ");
    let said: Vec<&String> = entry.hints.iter().filter(steady).collect();
    if !said.is_empty() && said != steady_hints(was).iter().collect::<Vec<_>>() {
        return Err("what stands in *( )* is only shown here; change the words instead".to_owned());
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
            false => Err("carry the line into another file to accept it with your words".into()),
        };
    }
    if carried && *theirs.home == Home::Proposals {
        return Err("what is known cannot become a proposal again; delete the line instead".into());
    }
    if let Some((field, reason)) = edit.apply(&is.claim).faults().first() {
        return Err(format!("{field}: {reason}"));
    }
    if *home == Home::Proposals {
        let digest = was.claim.consent_digest();
        return Ok(Some(What::Accept { edit: Box::new(edit), digest }));
    }
    if !edit.is_empty() {
        return Ok(Some(What::Change(Box::new(edit))));
    }
    let doubted = entry.hints.iter().any(|hint| hint.starts_with("inferred"));
    let confirmed = is_inferred(was) && is_inferred(is) && !doubted;
    // Only where nothing else differs: whoever drops the mark as well may not have meant it.
    Ok((confirmed && entry.fact.is_some()).then_some(What::Confirm))
}

/// Lines without a mark.
fn new_lines(
    plan: &mut Plan,
    read: &Read,
    written: &Written,
    ours: &BTreeMap<FactId, Vec<&Version>>,
    now: Timestamp,
) {
    // The same words in the same file are the same line, and what a save would find is found too.
    let words = |home: &Home, content: &str| (home.clone(), content.trim().to_lowercase());
    let lines = ours.values().filter_map(|known| shown(known, now));
    let mut lines: BTreeSet<_> =
        lines.map(|(version, home)| words(&home, &version.claim.content)).collect();
    let live = |v: &&&Version| v.state == State::Active && !v.valid.ended(now);
    let known = ours.values().flatten().filter(live).map(|v| fingerprint(&v.claim));
    let mut known: BTreeSet<_> = known.collect();
    for index in &written.new {
        let entry = &read.entries[*index];
        let claim = entry.home.claim(&entry.content, &entry.tags, &entry.section);
        let problem = match claim.faults().first() {
            _ if entry.home == Home::Proposals => {
                Some("nothing is proposed here by hand; write it into another file".to_owned())
            }
            Some((field, reason)) => Some(format!("{field}: {reason}")),
            None => None,
        };
        if let Some(problem) = problem {
            plan.problem(entry, &problem);
            plan.kept.insert(*index);
        } else if lines.insert(words(&entry.home, &entry.content))
            && known.insert(fingerprint(&claim))
        {
            plan.steps.push(Step {
                what: What::Save(Box::new(claim)),
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

/// The links that come back with what comes back. A link between two facts that never went was
/// ended by somebody, and stays ended.
fn bring_links(
    plan: &mut Plan,
    read: &Read,
    held: &Held,
    ours: &BTreeMap<FactId, Vec<&Version>>,
    missing: &Missing,
) {
    let key = |link: &Link| (link.from, link.to, link.relation.clone());
    let mut there: BTreeSet<_> = held.links.iter().map(key).collect();
    for link in &read.base.links {
        let back = missing.facts.contains(&link.from) || missing.facts.contains(&link.to);
        let ends = link.from != link.to
            && ours.contains_key(&link.from)
            && ours.contains_key(&link.to)
            && crate::link::is_relation(&link.relation);
        if back && ends && there.insert(key(link)) {
            plan.links.push(link.clone());
        }
    }
}
