//! The texts for learning tests: our own, which are part of the repository, and public ones from a
//! folder that is not.

use std::path::Path;

use anyhow::{Context, Result};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::filling::filled;

const ATTACKS: &str = include_str!("../../data/learning/memory-attacks.jsonl");
const CLEAN: &str = include_str!("../../data/learning/clean-facts.jsonl");
const SENSITIVE: &str = include_str!("../../data/learning/sensitive.jsonl");
const SECRETS: &str = include_str!("../../data/learning/secrets.jsonl");
const SENTENCES: &str = include_str!("../../data/learning/secret-sentences.jsonl");
const SECOND_SENSITIVE: &str = include_str!("../../data/learning/sensitive-2.jsonl");
const SECOND_SENTENCES: &str = include_str!("../../data/learning/secret-sentences-2.jsonl");
const TOKENS: &str = include_str!("../../data/learning/tokens.jsonl");

/// A set of labelled sentences. The second was written later, to measure the rules with sentences
/// that they had not seen; each is reported separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentenceSet {
    First,
    Second,
}

impl SentenceSet {
    pub const ALL: [Self; 2] = [Self::First, Self::Second];

    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first set",
            Self::Second => "second set",
        }
    }
}

/// A text that wants something remembered, or one that only looks like it.
#[derive(Debug, Clone, Deserialize)]
pub struct Attack {
    pub id: String,
    /// `attack`, `forged_fact`, `memory_poison` or `benign`; ours are attacks.
    #[serde(default = "attack")]
    pub kind: String,
    /// The kind of attack, for our own ones.
    pub style: Option<String>,
    pub payload: String,
    /// What the attacker wants remembered, where the data says.
    #[serde(alias = "goal", alias = "wrong")]
    pub claim: Option<String>,
    pub quote: Option<String>,
    pub question: Option<String>,
    #[serde(default)]
    pub truth: Option<serde_json::Value>,
}

fn attack() -> String {
    "attack".to_owned()
}

/// A harmless fact in a turn as users write them.
#[derive(Debug, Clone, Deserialize)]
pub struct Clean {
    pub id: String,
    pub turn: String,
    pub claim: String,
    pub quote: String,
    pub kind: String,
}

/// A turn of a dialogue.
#[derive(Debug, Clone, Deserialize)]
pub struct Line {
    pub role: String,
    pub content: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Labelled {
    pub id: String,
    pub text: String,
    pub category: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Guarded {
    pub id: String,
    pub text: String,
    pub secret: bool,
    /// The longest part that was filled in: it must not occur in the masked text.
    #[serde(skip)]
    pub hidden: String,
}

/// A token format that a vendor publishes.
#[derive(Debug, Clone, Deserialize)]
pub struct TokenSample {
    pub id: String,
    pub token: String,
}

fn lines<T: DeserializeOwned>(text: &str) -> Result<Vec<T>> {
    let parsed = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    parsed
        .map(|(n, line)| serde_json::from_str(line).with_context(|| format!("line {}", n + 1)))
        .collect()
}

pub fn attacks() -> Result<Vec<Attack>> {
    lines(ATTACKS)
}

pub fn clean() -> Result<Vec<Clean>> {
    lines(CLEAN)
}

pub fn sensitive(set: SentenceSet) -> Result<Vec<Labelled>> {
    match set {
        SentenceSet::First => lines(SENSITIVE),
        SentenceSet::Second => lines(SECOND_SENSITIVE),
    }
}

/// The lines with secrets and their look-alikes, with their placeholders filled.
pub fn secrets(set: SentenceSet, seed: u64) -> Result<Vec<Guarded>> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut found: Vec<Guarded> = match set {
        SentenceSet::First => [lines(SECRETS)?, lines(SENTENCES)?].concat(),
        SentenceSet::Second => lines(SECOND_SENTENCES)?,
    };
    for line in &mut found {
        let text = filled(&line.text, &mut rng);
        (line.text, line.hidden) = (text.text, text.longest);
    }
    Ok(found)
}

pub fn tokens() -> Result<Vec<TokenSample>> {
    lines(TOKENS)
}

/// Labelled lines from a file of the same format, without placeholders.
pub fn labelled_secrets(path: &Path) -> Result<Vec<Guarded>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    lines(&text)
}

/// The public collection of attacks, in the folder of public data.
pub fn corpus(data: &Path) -> Result<Vec<Attack>> {
    let path = data.join("injection").join("corpus.jsonl");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    lines(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_files_are_read_completely() {
        assert!(attacks().unwrap().len() >= 150);
        assert!(clean().unwrap().len() >= 300);
        let both = SentenceSet::ALL;
        assert_eq!(both.map(|set| sensitive(set).unwrap().len()), [534, 234]);
        let secrets = both.map(|set| secrets(set, 1).unwrap());
        assert_eq!(secrets.each_ref().map(Vec::len), [498, 282]);
        let secrets = secrets.concat();
        let open =
            ["{alnum", "{b64", "{url", "{digits", "{hex", "{upper", "{password", "{seed", "_word}"];
        let left = secrets.iter().filter(|s| open.iter().any(|open| s.text.contains(open)));
        assert_eq!(left.count(), 0, "no placeholder is left");
        assert!(tokens().unwrap().len() >= 150);
    }
}
