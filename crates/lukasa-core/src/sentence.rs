//! Sentences in the facts' own words, for portraits and prompts: short facts of one kind share a
//! sentence, long ones have their own. Deterministic: the same facts give the same bytes.

use std::borrow::Cow;

use lukasa_text::line::harmless;
use serde::{Deserialize, Serialize};

use crate::fact::Version;
use crate::id::FactId;
use crate::task_state::TaskState;

/// One sentence, and the facts it cites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    pub text: String,
    pub facts: Vec<FactId>,
}

/// Maximum number of facts in a sentence, and its maximum length.
const MAX_FACTS: usize = 3;
const MAX_CHARS: usize = 200;

/// The words a portrait takes from a fact: its summary or content, and the state of a task.
pub fn words(version: &Version) -> Cow<'_, str> {
    let text = version.claim.summary.as_deref().unwrap_or(&version.claim.content);
    match TaskState::of(&version.claim) {
        Some(state) => format!("{} ({state})", text.trim_end_matches(['.', ' '])).into(),
        None => text.into(),
    }
}

/// A fact as a part of a sentence: one harmless line, without the subject that all of them share.
fn part(version: &Version) -> String {
    let line = harmless(&words(version));
    let line = line.trim_end_matches(['.', ' ']);
    let subject = ["The user ", "User ", "the user "];
    let bare = subject.iter().find_map(|subject| line.strip_prefix(subject)).unwrap_or(line);
    if bare.is_empty() { line.to_owned() } else { bare.to_owned() }
}

/// Whether a part is a single clause and can share a sentence.
fn is_one_clause(part: &str) -> bool {
    !part.contains([';', '!', '?', '。']) && !part.contains(". ")
}

/// Sentences for these facts, in their order. Only facts under the same heading that are equally
/// firm share one.
pub fn sentences<'v>(
    versions: &[&'v Version],
    section: impl Fn(&'v Version) -> &'v str,
) -> Vec<Sentence> {
    let mut open: Vec<(&str, bool, Vec<String>, Sentence)> = Vec::new();
    let mut done = Vec::new();
    for version in versions {
        let part = part(version);
        let (heading, firm) = (section(version), version.is_firm());
        if !is_one_clause(&part) {
            done.push(Sentence { text: ended(&part), facts: vec![version.fact] });
            continue;
        }
        let place = open.iter().position(|(of, by, ..)| (*of, *by) == (heading, firm));
        let fits = |parts: &[String]| {
            let chars: usize = parts.iter().map(|p| p.chars().count() + 2).sum();
            parts.len() < MAX_FACTS && chars + part.chars().count() <= MAX_CHARS
        };
        match place {
            Some(at) if fits(&open[at].2) => {
                open[at].2.push(part);
                open[at].3.facts.push(version.fact);
            }
            _ => {
                if let Some(at) = place {
                    done.push(closed(open.remove(at)));
                }
                let begun = Sentence { text: String::new(), facts: vec![version.fact] };
                open.push((heading, firm, vec![part], begun));
            }
        }
    }
    done.extend(open.into_iter().map(closed));
    done
}

fn closed((_, _, parts, sentence): (&str, bool, Vec<String>, Sentence)) -> Sentence {
    Sentence { text: ended(&parts.join("; ")), ..sentence }
}

fn ended(text: &str) -> String {
    if text.ends_with(['.', '!', '?', '。', '！', '？']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}
