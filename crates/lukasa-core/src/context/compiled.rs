//! Lines of a prompt about several memories: sentences of portraits that a model phrased, and
//! sentences of the template. A sentence is as reliable as its least reliable memory.

use std::cmp::Ordering::Equal;
use std::collections::BTreeSet;

use lukasa_text::line::harmless;
use lukasa_text::tokens::count;

use super::block::LineSource;
use super::line::{
    EarlierClaims, UNMENTIONED, is_from_assistant, memory_line, needs_care, reliability,
};
use crate::admission::is_high_stakes;
use crate::fact::Version;
use crate::id::FactId;
use crate::sentence::{self, Sentence};

/// The percentage of a category's budget, and of the dynamic part, that sentences of portraits take
/// at most.
pub(super) const PORTRAIT_PERCENT: usize = 60;

/// A line about one or several memories, before it gets its mark.
pub(super) struct Line {
    pub(super) sources: Vec<LineSource>,
    pub(super) text: String,
    /// Whether any of its memories comes from an assistant.
    pub(super) from_assistant: bool,
}

impl Line {
    pub(super) fn of(version: &Version, earlier: &EarlierClaims) -> Self {
        Self {
            sources: vec![LineSource::from(version)],
            text: memory_line(version, earlier),
            from_assistant: is_from_assistant(version),
        }
    }

    /// A sentence about these memories; `None` if there are none.
    pub(super) fn of_sentence(
        sentence: &Sentence,
        members: &[&Version],
        earlier: &EarlierClaims,
    ) -> Option<Self> {
        let sure = |v: &&&Version| (v.effective_confidence(), v.known.from);
        let least = members.iter().min_by(|a, b| sure(a).partial_cmp(&sure(b)).unwrap_or(Equal))?;
        Some(match members {
            [alone] => Self::of(alone, earlier),
            several => Self {
                sources: several.iter().map(|version| LineSource::from(*version)).collect(),
                text: {
                    let unmentioned = several.iter().any(|version| version.claim.unmentioned);
                    let is_said = least.claim.unmentioned || !unmentioned;
                    let instruction = if is_said { "" } else { UNMENTIONED };
                    let relied = reliability(least);
                    format!("{} ({relied}{instruction})", harmless(&sentence.text))
                },
                from_assistant: several.iter().any(|version| is_from_assistant(version)),
            },
        })
    }
}

/// The lines of these memories: sentences of the template about those that may share one, and one line
/// for each of the others.
pub(super) fn template_lines(versions: &[&Version], earlier: &EarlierClaims) -> Vec<Line> {
    let place = |fact: &FactId| versions.iter().position(|version| version.fact == *fact);
    let (shared, alone): (Vec<&Version>, Vec<&Version>) =
        versions.iter().copied().partition(|version| may_share(version, earlier));
    let sentences = sentence::sentences(&shared, |version| version.claim.kind.as_str());
    let line = |sentence: Sentence| {
        let members: Vec<&Version> =
            sentence.facts.iter().filter_map(place).map(|at| versions[at]).collect();
        let first = sentence.facts.iter().filter_map(place).min();
        Some((first, Line::of_sentence(&sentence, &members, earlier)?))
    };
    let mut lines: Vec<(Option<usize>, Line)> = sentences.into_iter().filter_map(line).collect();
    let alone = alone.into_iter().map(|v| (place(&v.fact), Line::of(v, earlier)));
    lines.extend(alone);
    lines.sort_by_key(|(at, _)| *at);
    lines.into_iter().map(|(_, line)| line).collect()
}

/// The lines of these memories: sentences of portraits about several of them, within a share of
/// the budget, and one line for each of the others.
pub(super) fn compiled_lines(
    versions: &[&Version],
    earlier: &EarlierClaims,
    portraits: &[Sentence],
    budget: usize,
) -> Vec<Line> {
    let place = |fact: &FactId| versions.iter().position(|version| version.fact == *fact);
    let mut left = budget * PORTRAIT_PERCENT / 100;
    let mut included = BTreeSet::new();
    let mut lines: Vec<(usize, Line)> = Vec::new();
    for sentence in portraits.iter().filter(|sentence| sentence.facts.len() > 1) {
        let Some(places) = sentence.facts.iter().map(place).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let is_free = |at: &usize| !included.contains(at) && may_share(versions[*at], earlier);
        let members: Vec<&Version> = places.iter().map(|at| versions[*at]).collect();
        let line = Line::of_sentence(sentence, &members, earlier);
        let (Some(line), Some(first)) = (line, places.iter().min().copied()) else { continue };
        let tokens = count(&line.text);
        if places.iter().all(is_free) && tokens <= left {
            left -= tokens;
            included.extend(places);
            lines.push((first, line));
        }
    }
    let alone = (0..versions.len()).filter(|at| !included.contains(at));
    lines.extend(alone.map(|at| (at, Line::of(versions[at], earlier))));
    lines.sort_by_key(|(at, _)| *at);
    lines.into_iter().map(|(_, line)| line).collect()
}

/// Whether a memory may share a line with others: its own line says no more than its words and how
/// reliable they are. That a memory comes from an assistant must not be lost beside one of the user.
pub(super) fn may_share(version: &Version, earlier: &EarlierClaims) -> bool {
    version.claim.key.is_none()
        && !is_high_stakes(&version.claim)
        && !is_from_assistant(version)
        && !needs_care(version)
        && !version.claim.unmentioned
        && !earlier.contains_key(&version.fact)
}
