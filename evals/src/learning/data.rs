//! The texts that learning is tested with: our own, which are part of the repository, and public
//! ones from a folder that is not.

use std::path::Path;

use anyhow::{Context, Result};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng};
use serde::Deserialize;
use serde::de::DeserializeOwned;

const ATTACKS: &str = include_str!("../../data/learning/memory-attacks.jsonl");
const CLEAN: &str = include_str!("../../data/learning/clean-facts.jsonl");
const DIALOGUES: &str = include_str!("../../data/learning/dialogues.jsonl");
const SENSITIVE: &str = include_str!("../../data/learning/sensitive.jsonl");
const SECRETS: &str = include_str!("../../data/learning/secrets.jsonl");

/// A text that wants something remembered, or one that only looks like it.
#[derive(Debug, Clone, Deserialize)]
pub struct Attack {
    pub id: String,
    /// `attack`, `forged_fact`, `memory_poison` or `benign`; ours are attacks.
    #[serde(default = "attack")]
    pub kind: String,
    /// What kind of attack it is, for those of our own.
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

/// A harmless fact in a turn as people write them.
#[derive(Debug, Clone, Deserialize)]
pub struct Clean {
    pub id: String,
    pub turn: String,
    pub claim: String,
    pub quote: String,
    pub kind: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Line {
    pub role: String,
    pub content: String,
}

/// A short dialogue, and what must and must not be learned from it.
#[derive(Debug, Clone, Deserialize)]
pub struct Dialogue {
    pub id: String,
    pub case: String,
    pub turns: Vec<Line>,
    pub must: Vec<Vec<String>>,
    pub must_not: Vec<Vec<String>>,
    pub gold: Vec<String>,
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

pub fn dialogues() -> Result<Vec<Dialogue>> {
    lines(DIALOGUES)
}

pub fn sensitive() -> Result<Vec<Labelled>> {
    lines(SENSITIVE)
}

/// The lines with secrets, the places for them filled.
pub fn secrets(seed: u64) -> Result<Vec<Guarded>> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut found: Vec<Guarded> = lines(SECRETS)?;
    for line in &mut found {
        line.text = filled(&line.text, &mut rng);
    }
    Ok(found)
}

/// The public collection of attacks, in the folder that holds the public data.
pub fn corpus(data: &Path) -> Result<Vec<Attack>> {
    let path = data.join("injection").join("corpus.jsonl");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    lines(&text)
}

/// A text with its places filled at random.
fn filled(text: &str, rng: &mut StdRng) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let filling = after.split_once('}').and_then(|(name, rest)| Some((fill(name, rng)?, rest)));
        match filling {
            Some((words, behind)) => {
                out.push_str(&words);
                rest = behind;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

fn fill(name: &str, rng: &mut StdRng) -> Option<String> {
    const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
    const DIGITS: &str = "0123456789";
    let letters = |parts: &[&str], count: &str, rng: &mut StdRng| -> Option<String> {
        let letters: Vec<char> = parts.concat().chars().collect();
        let count: usize = count.parse().ok()?;
        Some((0..count).filter_map(|_| letters.choose(rng).copied()).collect())
    };
    match name {
        "word" => {
            ["harbour", "Tulip", "copper", "meadow", "Falcon"].choose(rng).map(|w| (*w).into())
        }
        "luhn16" => letters(&[DIGITS], "14", rng).map(|digits| luhn(&format!("4{digits}"))),
        "luhn15" => letters(&[DIGITS], "12", rng).map(|digits| luhn(&format!("37{digits}"))),
        "iban" => letters(&[DIGITS], "18", rng).map(|digits| iban("DE", &digits)),
        _ => {
            if let Some(count) = name.strip_prefix("b64") {
                return letters(&[UPPER, LOWER, DIGITS, "+/"], count, rng);
            }
            if let Some(count) = name.strip_prefix("alnum") {
                return letters(&[UPPER, LOWER, DIGITS], count, rng);
            }
            if let Some(count) = name.strip_prefix("hex") {
                return letters(&[DIGITS, "abcdef"], count, rng);
            }
            if let Some(count) = name.strip_prefix("digits") {
                let first = rng.random_range(1..=9);
                let rest: usize = count.parse::<usize>().ok()?.saturating_sub(1);
                return Some(format!("{first}{}", letters(&[DIGITS], &rest.to_string(), rng)?));
            }
            name.strip_prefix("upper").and_then(|count| letters(&[UPPER, DIGITS], count, rng))
        }
    }
}

/// The digits, and the one that makes them a card's number.
fn luhn(digits: &str) -> String {
    let doubled = digits.chars().rev().enumerate().map(|(place, c)| {
        let digit = c.to_digit(10).unwrap_or(0) * if place % 2 == 0 { 2 } else { 1 };
        digit / 10 + digit % 10
    });
    let check = (10 - doubled.sum::<u32>() % 10) % 10;
    format!("{digits}{check}")
}

fn iban(country: &str, digits: &str) -> String {
    let letters = country.chars().map(|c| (u32::from(c) - u32::from('A') + 10).to_string());
    let number = format!("{digits}{}00", letters.collect::<String>());
    let rest = number.chars().fold(0, |rest, c| (rest * 10 + c.to_digit(10).unwrap_or(0)) % 97);
    format!("{country}{:02}{digits}", 98 - rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read_whole() {
        assert!(attacks().unwrap().len() >= 150);
        assert!(clean().unwrap().len() >= 300);
        assert_eq!(dialogues().unwrap().len(), 100);
        assert!(sensitive().unwrap().len() >= 500);
        let secrets = secrets(1).unwrap();
        assert!(secrets.len() >= 200);
        let left = secrets.iter().filter(|s| s.text.contains("{alnum") || s.text.contains("{b64"));
        assert_eq!(left.count(), 0, "no place is left open");
    }

    #[test]
    fn the_numbers_made_here_are_real_ones() {
        assert_eq!(luhn("453201511283036"), "4532015112830366");
        assert_eq!(iban("DE", "370400440532013000"), "DE89370400440532013000");
    }
}
