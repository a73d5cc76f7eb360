//! The files of episodes, one per month: written, and read back with the user's edits. The words of a
//! section can be edited; a section that is deleted is written again.

use std::collections::{BTreeMap, BTreeSet};

use super::FileProblem;
use super::line;
use super::plan::{PlanStep, PlannedChange, SyncPlan};
use super::read::ParsedVault;
use super::render::day;
use crate::episode::{Episode, EpisodeEdit};
use crate::id::EpisodeId;

/// The title of an episode without one.
const UNTITLED: &str = "A conversation";

/// A section about an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeSection {
    pub id: EpisodeId,
    /// `None` if the heading has no title.
    pub title: Option<String>,
    pub summary: String,
    pub file: String,
    /// The line of its mark.
    pub line: usize,
}

/// Whether the file at this path contains episodes.
pub fn is_episodes(path: &str) -> bool {
    let name = path.strip_prefix("episodes/").and_then(|name| name.strip_suffix(".md"));
    name.is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

/// The sections of episodes in order, each with the path of its file, which begins with the first of
/// a month.
pub(super) fn episode_pages(episodes: &[Episode]) -> Vec<(String, String)> {
    let mut sorted: Vec<&Episode> = episodes.iter().collect();
    sorted.sort_by_key(|episode| (episode.started_at, episode.id));
    let mut last = String::new();
    sorted.into_iter().map(|episode| episode_page(episode, &mut last)).collect()
}

/// The path of an episode's file and its section there. The first one of a file also has its head:
/// `last` is the path of the one before.
pub fn episode_page(episode: &Episode, last: &mut String) -> (String, String) {
    let day = day(episode.started_at);
    let month = day.rsplit_once('-').map_or("undated", |(month, _)| month);
    let path = format!("episodes/{month}.md");
    let mut page = String::new();
    if path != *last {
        last.clone_from(&path);
        page.push_str(&format!(
            "# What happened in {month}\n\n> In short, chat by chat. Words that you edit stay \
             yours; a section that you delete is written again.\n"
        ));
    }
    let title = line::encode(shown_title(episode));
    let summary = line::encode(&episode.summary);
    page.push_str(&format!("\n## {day}: {title}\n\n{summary} ^{}\n", mark(episode.id)));
    (path, page)
}

fn shown_title(episode: &Episode) -> &str {
    episode.title.as_deref().unwrap_or(UNTITLED)
}

fn mark(id: EpisodeId) -> String {
    id.to_string().replace('_', "-")
}

/// Parses a file of episodes. Text without a mark is ignored.
pub(super) fn sections(content: &str, path: &str) -> Vec<EpisodeSection> {
    let mut found = Vec::new();
    let (mut title, mut text): (Option<String>, Vec<&str>) = (None, Vec::new());
    for (number, line) in content.split('\n').enumerate() {
        let line = line.trim_end();
        if let Some(heading) = line.strip_prefix("## ") {
            title = heading.split_once(": ").map(|(_, title)| line::decode(title.trim()));
            text.clear();
            continue;
        }
        let (words, id) = match line.rsplit_once('^') {
            Some((words, mark)) => (words.trim_end(), mark.replace('-', "_").parse().ok()),
            None => (line, None),
        };
        match id {
            None if line.trim().is_empty() && text.is_empty() => {}
            None => text.push(line),
            Some(id) => {
                text.push(words);
                let summary = line::decode(text.join("\n").trim());
                let (file, line) = (path.to_owned(), number + 1);
                found.push(EpisodeSection { id, title: title.take(), summary, file, line });
                text.clear();
            }
        }
    }
    found
}

/// Adds the edits of episodes to a plan. Words that cannot be applied stay in their file.
pub(super) fn plan_sections(plan: &mut SyncPlan, read: &ParsedVault, held: &[Episode]) {
    let base: BTreeMap<EpisodeId, &Episode> =
        read.base.episodes.iter().map(|episode| (episode.id, episode)).collect();
    let ours: BTreeSet<EpisodeId> = held.iter().map(|episode| episode.id).collect();
    let mut seen = BTreeSet::new();
    for section in &read.episodes {
        let edit = base.get(&section.id).map(|was| edit_of(section, was));
        let problem = match edit {
            _ if !seen.insert(section.id) => {
                Some("several sections have this mark; leave it on one of them")
            }
            None => Some("no summary has this mark; delete the file to have it written again"),
            Some(edit) if edit == EpisodeEdit::default() => None,
            Some(_) if !ours.contains(&section.id) => Some(
                "the summary was replaced or removed since; delete the file to have it written \
                 again, and edit it there",
            ),
            Some(_) if section.summary.is_empty() => {
                Some("the section has no words; a summary is deleted in the console")
            }
            Some(edit) => {
                plan.steps.push(PlanStep {
                    what: PlannedChange::Episode { id: section.id, edit },
                    fact: None,
                    file: section.file.clone(),
                    line: section.line,
                    before: base.get(&section.id).map(|was| was.summary.clone()),
                    after: Some(section.summary.clone()),
                    entry: None,
                });
                None
            }
        };
        if let Some(what) = problem {
            let (file, line) = (section.file.clone(), section.line);
            plan.kept_files.insert(file.clone());
            plan.problems.push(FileProblem { file, line, what: what.to_owned() });
        }
    }
}

/// What a section changes of the episode that it was written from.
fn edit_of(section: &EpisodeSection, was: &Episode) -> EpisodeEdit {
    let title = section.title.clone().filter(|title| title != shown_title(was));
    let summary = Some(section.summary.clone()).filter(|summary| *summary != was.summary);
    EpisodeEdit { title: title.map(Some), summary }
}
