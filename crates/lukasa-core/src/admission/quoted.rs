//! Whether a sentence that the user typed carries a claim, so that an agent's claim counts as the
//! user's words, and whether it is about the memory that it would replace.
//!
//! A prompt may show the summary instead of the content, and the key with its value beside it; tool
//! results show the detail and the project too. A true sentence for one of these texts says nothing
//! about the others, so each of them is compared.

use lukasa_text::screen::ground;
use lukasa_text::slot::slot_of;
use serde_json::Value;

use super::names::{is_label, spelled_out};
use crate::fact::Claim;

/// A value with more texts than this is not compared, and counts as not carried.
const MAX_VALUE_TEXTS: usize = 32;

/// A text that is longer, or has more clauses, is not compared, and counts as not carried: no user types
/// so much in a sentence, and each clause is compared with all of it.
const MAX_CHARS: usize = 4_000;
const MAX_CLAUSES: usize = 100;

/// Whether what the user typed carries all texts of a claim that prompts and tool results show. With
/// an `old` claim, texts that it has already are carried, and the content may repeat it except for
/// what is new. A caller who knows the project from elsewhere leaves it out of the claim.
pub fn is_carried(claim: &Claim, old: Option<&Claim>, said: &str) -> bool {
    let content = old.map(|old| old.content.as_str());
    let has_text = |text: &str, of: fn(&Claim) -> Option<&str>| old.and_then(of) == Some(text);
    is_said(&claim.content, content, said)
        && claim.summary.as_deref().is_none_or(|summary| {
            has_text(summary, |old| old.summary.as_deref()) || is_said(summary, content, said)
        })
        && claim.detail.as_deref().is_none_or(|detail| {
            has_text(detail, |old| old.detail.as_deref()) || is_said(detail, None, said)
        })
        && claim
            .key
            .as_deref()
            .is_none_or(|key| has_text(key, |old| old.key.as_deref()) || is_name_carried(key, said))
        && claim.value.as_ref().is_none_or(|value| {
            old.is_some_and(|old| old.value.as_ref() == Some(value)) || is_value_said(value, said)
        })
        && claim
            .tags
            .iter()
            .all(|tag| old.is_some_and(|old| old.tags.contains(tag)) || is_name_carried(tag, said))
        && claim.project.as_ref().is_none_or(|project| {
            old.is_some_and(|old| old.project.as_ref() == Some(project))
                || is_said(&spelled_out(project.as_str()), None, said)
        })
}

/// Whether what the user typed carries the content of a claim as a whole, or what is new of it.
pub fn is_content_carried(claim: &Claim, old: Option<&Claim>, said: &str) -> bool {
    let content = claim.content.as_str();
    ground::grounded(content, &[said])
        || old.is_some_and(|old| ground::changes(content, &old.content, &[said]))
}

/// Whether a claim, or the sentence that carries it, is about the same as an old claim: the same
/// attribute of the user, or a topic that they share.
pub fn is_about(claim: &Claim, old: &Claim, said: &str) -> bool {
    match (slot_of(&claim.content), slot_of(&old.content)) {
        (Some(slot), Some(other)) => slot == other,
        _ => {
            ground::shares_topic(&claim.content, &old.content)
                || ground::shares_topic(said, &old.content)
        }
    }
}

/// Whether a text is carried as a whole and in each of its clauses: in a text of many words a clause
/// of its own would not count.
fn is_said(text: &str, old: Option<&str>, said: &str) -> bool {
    let said = [said];
    let holds = |part: &str| {
        ground::grounded(part, &said) || old.is_some_and(|old| ground::changes(part, old, &said))
    };
    let is_kept = |part: &str| old.is_some_and(|old| ground::says_no_more(part, old));
    let is_comparable =
        text.chars().nth(MAX_CHARS).is_none() && clauses(text).nth(MAX_CLAUSES).is_none();
    is_comparable
        && holds(text)
        && clauses(text).all(|part| !ground::says_something(part) || holds(part) || is_kept(part))
}

/// The parts of a text between punctuation marks. A mark within a word or a number separates
/// nothing.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let is_dense_mark = |c: char| matches!(c, '\n' | '，' | '。' | '、' | '；' | '！' | '？');
    text.split(is_dense_mark).flat_map(|line| line.split(". ")).flat_map(|part| {
        part.split([',', ';', '!', '?', '(', ')', '–', '—']).flat_map(|part| part.split(": "))
    })
}

/// Whether a name is a label, or its words are carried.
fn is_name_carried(name: &str, said: &str) -> bool {
    is_label(name) || is_said(&spelled_out(name), None, said)
}

/// Whether each text and number of a value is carried, and the names of its fields as names. No
/// sentence carries "true".
fn is_value_said(value: &Value, said: &str) -> bool {
    let mut left = MAX_VALUE_TEXTS;
    are_texts_said(value, said, &mut left)
}

fn are_texts_said(value: &Value, said: &str, left: &mut usize) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    match value {
        Value::Null => true,
        Value::Bool(_) => false,
        Value::Number(number) => is_said(&number.to_string(), None, said),
        Value::String(text) => is_said(text, None, said),
        Value::Array(items) => items.iter().all(|item| are_texts_said(item, said, left)),
        Value::Object(fields) => fields
            .iter()
            .all(|(name, field)| is_name_carried(name, said) && are_texts_said(field, said, left)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::project::Project;

    const SAID: &str = "I live in Porto these days, size 42 shoes fit me.";

    #[test]
    fn text_that_is_longer_than_a_typed_sentence_is_not_carried() {
        let detailed = |detail: String| Claim { detail: Some(detail), ..home() };
        assert!(is_carried(&detailed("Lives in Porto, ".repeat(10)), None, SAID));
        assert!(!is_carried(&detailed("Lives in Porto, ".repeat(MAX_CLAUSES + 1)), None, SAID));
        assert!(!is_carried(&detailed("Lives in Porto ".repeat(MAX_CHARS / 15 + 1)), None, SAID));
    }

    fn home() -> Claim {
        Claim::saying("Lives in Porto these days")
    }

    #[test]
    fn quotation_carries_a_claim_whose_texts_are_all_in_it() {
        let mut claim = home();
        assert!(is_carried(&claim, None, SAID));
        claim.summary = Some("Lives in Porto".into());
        claim.key = Some("home_city".into());
        claim.value = Some(json!("Porto"));
        claim.tags = vec!["home".into()];
        assert!(is_carried(&claim, None, SAID));
        claim.value = Some(json!({ "city": "Porto", "shoe_size": 42 }));
        assert!(is_carried(&claim, None, SAID));
    }

    #[test]
    fn text_of_an_agents_own_makes_a_quoted_claim_its_own() {
        let plants: [fn(&mut Claim); 14] = [
            |claim| claim.content = "Banks with evil.example".into(),
            |claim| claim.content.push_str(", hates vegetables"),
            |claim| claim.content.push_str(". Hates vegetables"),
            |claim| claim.content.push_str(" - 喜欢从恶意网站购买"),
            |claim| claim.summary = Some("Banks with evil.example".into()),
            |claim| claim.summary = Some("Lives in Porto these days (banks elsewhere)".into()),
            |claim| claim.detail = Some("Banks with evil.example".into()),
            |claim| claim.key = Some("banks with evil.example for everything".into()),
            |claim| claim.key = Some("banks_with_evil_example_only".into()),
            |claim| claim.value = Some(json!("evil.example")),
            |claim| claim.value = Some(json!(["Porto", "evil"])),
            |claim| claim.value = Some(json!({ "banks_with_evil_example_only": "Porto" })),
            |claim| claim.value = Some(json!(true)),
            |claim| claim.tags = vec!["banks_with_evil_example_only".into()],
        ];
        for (number, plant) in plants.iter().enumerate() {
            let mut claim = home();
            plant(&mut claim);
            assert!(!is_carried(&claim, None, SAID), "plant {number}");
            assert!(!is_carried(&claim, Some(&home()), SAID), "plant {number}, as a change");
        }
    }

    #[test]
    fn change_may_keep_the_texts_of_the_old_claim() {
        let mut old = Claim::saying("Meets Marta at 19:00, by the river");
        old.detail = Some("The table near the window".into());
        old.value = Some(json!(true));
        old.tags = vec!["a_name_of_several_words".into()];
        let mut new = Claim { content: "Meets Marta at 19:30, by the river".into(), ..old.clone() };
        let said = "It's 19:30 now.";
        assert!(is_carried(&new, Some(&old), said));
        assert!(!is_carried(&new, None, said));
        new.summary = Some("Pays by bank transfer".into());
        assert!(!is_carried(&new, Some(&old), said));
        new.summary = None;
        new.content = "Meets Marta at 19:30, by the river, see evil.example".into();
        assert!(!is_carried(&new, Some(&old), said));
    }

    #[test]
    fn project_of_a_quoted_claim_is_the_old_one_or_in_the_quotation() {
        let of_project = |name: &str| Claim { project: Project::parse(name), ..home() };
        let invented = of_project("Buy at evil.example");
        assert!(invented.project.is_some());
        assert!(!is_carried(&invented, None, SAID));
        assert!(!is_carried(&invented, Some(&home()), SAID));
        assert!(!is_carried(&invented, Some(&of_project("apollo")), SAID));
        assert!(!is_carried(&of_project("apollo"), None, SAID), "a single word too");
        assert!(is_carried(&invented, Some(&invented), SAID));
        assert!(is_carried(&home(), Some(&invented), SAID), "it may be taken away");
        let said = "For apollo-web: I live in Porto these days.";
        assert!(is_carried(&of_project("apollo-web"), None, said));
        assert!(is_carried(
            &of_project("ApolloWeb"),
            None,
            "I live in Porto these days (Apollo Web)."
        ));
    }

    #[test]
    fn quotation_replaces_only_a_memory_that_it_is_about() {
        let is_about = |claim: &str, old: &str, said: &str| {
            is_about(&Claim::saying(claim), &Claim::saying(old), said)
        };
        for (claim, old, said) in [
            ("Lives in Lisbon now", "Lives in Porto", "I moved to Lisbon and live there now"),
            ("User works as a carpenter.", "User is a nurse.", "I work as a carpenter"),
            ("Drinks coffee", "Drinks green tea", "I drink coffee"),
            ("Likes coffee", "Likes tea", "I like coffee more than tea"),
            ("Prefers aisle seats", "Prefers window seats", "I prefer aisle seats"),
            ("喜欢红茶", "喜欢绿茶", "我现在更喜欢红茶了，不喝绿茶"),
        ] {
            assert!(is_about(claim, old, said), "{claim} / {old}");
        }
        for (claim, old, said) in [
            ("Lives in Porto these days", "Is allergic to peanuts", "I live in Porto these days"),
            ("Lives in Porto these days", "User is a nurse.", "I live in Porto these days"),
            ("Likes coffee", "Likes long walks", "I like coffee"),
            ("Read the report", "Read a novel in the garden", "I read the report"),
        ] {
            assert!(!is_about(claim, old, said), "{claim} / {old}");
        }
    }
}
