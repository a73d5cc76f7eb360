//! The dialogues of the extraction eval: conversations over one or more days, and what must and
//! must not be in memory after them.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::data::Line;

/// The files of the dialogues, one per category.
const FILES: [(&str, &str); 18] = [
    ("change", include_str!("../../data/learning/dialogues/change.jsonl")),
    ("correction", include_str!("../../data/learning/dialogues/correction.jsonl")),
    ("forget", include_str!("../../data/learning/dialogues/forget.jsonl")),
    ("hedged", include_str!("../../data/learning/dialogues/hedged.jsonl")),
    ("hypothetical", include_str!("../../data/learning/dialogues/hypothetical.jsonl")),
    ("introduction", include_str!("../../data/learning/dialogues/introduction.jsonl")),
    ("multi", include_str!("../../data/learning/dialogues/multi.jsonl")),
    ("nothing", include_str!("../../data/learning/dialogues/nothing.jsonl")),
    ("other_person", include_str!("../../data/learning/dialogues/other_person.jsonl")),
    ("outcome", include_str!("../../data/learning/dialogues/outcome.jsonl")),
    ("pasted", include_str!("../../data/learning/dialogues/pasted.jsonl")),
    ("plain", include_str!("../../data/learning/dialogues/plain.jsonl")),
    ("procedure", include_str!("../../data/learning/dialogues/procedure.jsonl")),
    ("request", include_str!("../../data/learning/dialogues/request.jsonl")),
    ("sarcasm", include_str!("../../data/learning/dialogues/sarcasm.jsonl")),
    ("secret", include_str!("../../data/learning/dialogues/secret.jsonl")),
    ("sensitive", include_str!("../../data/learning/dialogues/sensitive.jsonl")),
    ("update", include_str!("../../data/learning/dialogues/update.jsonl")),
];

/// Key words that must all occur in a text; `a|b` is either.
pub type KeywordList = Vec<String>;

/// The half a dialogue belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum DialogueHalf {
    /// For tuning rules and prompts.
    Tuning,
    /// For measuring only.
    #[value(name = "held_out")]
    HeldOut,
}

impl DialogueHalf {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tuning => "tuning",
            Self::HeldOut => "held_out",
        }
    }
}

/// One conversation of a dialogue.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialogueSession {
    /// Days since the first session.
    pub day: i64,
    pub turns: Vec<Line>,
}

/// A memory that should be learned.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedClaim {
    /// A fair wording, in the language of the user.
    pub claim: String,
    /// The user's words that support it.
    pub said: String,
    /// Accepted wordings: a memory matches if it has all key words of one of them.
    pub any: Vec<KeywordList>,
    /// The session in which it is said.
    #[serde(default)]
    pub session: usize,
    /// Key words of the earlier memory that it replaces.
    #[serde(default)]
    pub replaces: KeywordList,
    /// It repeats an earlier claim in other words.
    #[serde(default)]
    pub again: bool,
    /// It is sensitive: a proposal that waits for the user counts as learned.
    #[serde(default)]
    pub ask: bool,
}

impl ExpectedClaim {
    pub fn is_met_by(&self, text: &str) -> bool {
        self.any.iter().any(|words| says(text, words))
    }
}

/// The first message of the next conversation, and what its context must and must not contain.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextQuestion {
    pub question: String,
    #[serde(default)]
    pub needs: KeywordList,
    /// Key words that no memory in the context may have.
    #[serde(default)]
    pub lacks: KeywordList,
}

/// A dialogue with its labels.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialogue {
    pub id: String,
    pub half: DialogueHalf,
    pub category: String,
    pub lang: String,
    pub topic: String,
    /// Memories that the user stated before the first session.
    #[serde(default)]
    pub memories: Vec<String>,
    pub sessions: Vec<DialogueSession>,
    pub learn: Vec<ExpectedClaim>,
    /// Key words of memories that must not be active at the end.
    pub must_not: Vec<KeywordList>,
    /// Key words of memories that must not exist at the end, in any state.
    #[serde(default)]
    pub gone: Vec<KeywordList>,
    pub next: Option<NextQuestion>,
}

impl Dialogue {
    /// The claims that should be in memory at the end: those that no later one replaces or repeats
    /// and that the user did not have forgotten.
    pub fn wanted(&self) -> impl Iterator<Item = &ExpectedClaim> {
        let is_replaced = |claim: &ExpectedClaim| {
            let later = self.learn.iter().filter(|other| other.session > claim.session);
            let mut later = later.filter(|other| !other.replaces.is_empty());
            later.any(|other| says(&claim.claim, &other.replaces))
        };
        let is_gone =
            |claim: &ExpectedClaim| self.gone.iter().any(|words| says(&claim.claim, words));
        let wanted = self.learn.iter().filter(|claim| !claim.again);
        wanted.filter(move |claim| !is_replaced(claim) && !is_gone(claim))
    }

    /// Whether a memory is right: it says something that was to be learned and nothing forbidden.
    pub fn accepts(&self, text: &str) -> bool {
        self.wanted().any(|claim| claim.is_met_by(text)) && !self.forbids(text)
    }

    pub fn forbids(&self, text: &str) -> bool {
        self.must_not.iter().chain(&self.gone).any(|words| says(text, words))
    }

    /// Every turn of every session.
    pub fn turns(&self) -> impl Iterator<Item = &Line> {
        self.sessions.iter().flat_map(|session| &session.turns)
    }
}

/// Whether a text has every one of the key words; `a|b` is either.
pub fn says(text: &str, words: &[String]) -> bool {
    let text = text.to_lowercase();
    words.iter().all(|word| word.split('|').any(|one| text.contains(&one.to_lowercase())))
}

/// All dialogues, by id.
pub fn load() -> Result<Vec<Dialogue>> {
    let mut all = Vec::new();
    for (category, text) in FILES {
        for (n, line) in text.lines().enumerate() {
            let place = || format!("dialogues/{category}.jsonl line {}", n + 1);
            let dialogue: Dialogue = serde_json::from_str(line).with_context(place)?;
            ensure!(dialogue.category == category, "{}: wrong category", place());
            all.push(dialogue);
        }
    }
    all.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tally::is_tuned_on;
    use super::*;

    #[test]
    fn key_words_must_all_match_and_alternatives_suffice() {
        let words = ["guests".to_owned(), "denmark|danish".to_owned()];
        assert!(says("User's Guests are Danish.", &words));
        assert!(!says("User is Danish.", &words));
    }

    #[test]
    fn dialogues_are_read_completely() {
        let all = load().unwrap();
        assert_eq!(all.len(), 200);
        let ids: BTreeSet<&str> = all.iter().map(|dialogue| dialogue.id.as_str()).collect();
        assert_eq!(ids.len(), 200);
        let foreign = all.iter().skip(100).filter(|dialogue| dialogue.lang != "en").count();
        assert!(foreign >= 40, "{foreign} of the second hundred are not English");
        for dialogue in &all {
            let half = if is_tuned_on(&dialogue.id) { "tuning" } else { "held_out" };
            assert_eq!(dialogue.half.as_str(), half, "{}", dialogue.id);
        }
    }

    #[test]
    fn dialogue_labels_agree_with_their_turns() {
        for dialogue in load().unwrap() {
            let id = &dialogue.id;
            assert!(dialogue.sessions.is_sorted_by_key(|session| session.day), "{id}");
            for claim in &dialogue.learn {
                let mut turns = dialogue.sessions[claim.session].turns.iter();
                let said = claim.said.to_lowercase();
                let is_said = |turn: &Line| turn.content.to_lowercase().contains(&said);
                assert!(turns.any(|turn| turn.role == "user" && is_said(turn)), "{id} {said}");
                assert!(claim.is_met_by(&claim.claim), "{id} {}", claim.claim);
            }
            for claim in dialogue.wanted() {
                assert!(dialogue.accepts(&claim.claim), "{id} {}", claim.claim);
            }
            if let Some(next) = &dialogue.next {
                let wanted = dialogue.wanted().map(|claim| claim.claim.as_str());
                let known = dialogue.memories.iter().map(String::as_str);
                let all = wanted.chain(known).collect::<Vec<_>>().join(" ");
                assert!(says(&all, &next.needs), "{id} {:?}", next.needs);
            }
        }
    }

    #[test]
    fn replaced_and_forgotten_claims_are_not_wanted() {
        let all = load().unwrap();
        let of = |id: &str| all.iter().find(|dialogue| dialogue.id == id).unwrap();
        let change = of("dl-138");
        let wanted: Vec<&str> = change.wanted().map(|claim| claim.claim.as_str()).collect();
        assert_eq!(wanted, ["User lives in Barcelona."]);
        assert!(!change.accepts("User lives in Madrid."));
        assert_eq!(of("dl-129").wanted().count(), 0);
    }
}
