//! How an answer may refer to memory: as something that the user said, never as a judgement about the
//! user. Compiled texts with a judgement are not used; an answer of an assistant is only checked,
//! because it has reached the user already.

/// Phrases that judge the user instead of repeating their statements, in lower case.
const JUDGING: [&str; 16] = [
    "you believe",
    "type of person",
    "kind of person",
    "sort of person",
    "you are the type",
    "you are the kind",
    "you're the type",
    "you're the kind",
    "the user believes",
    "du glaubst",
    "du bist der typ",
    "du bist jemand, der",
    "tu crois que",
    "vous croyez que",
    "crees que eres",
    "eres el tipo de",
];

/// Words before "you believe" that make it a question or a condition.
const ASKING: [&str; 14] = [
    "do", "did", "does", "if", "whether", "would", "should", "could", "can", "what", "why", "how",
    "unless", "wenn",
];

/// Whether a text about the user contains a phrase that judges them.
pub fn judges(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    text.contains("personality") || JUDGING.iter().any(|phrase| text.contains(phrase))
}

/// The judging phrases in an answer, each once. A question such as "Do you believe in ghosts?" is
/// none, and neither is a part of a longer word.
pub fn judging_phrases(answer: &str) -> Vec<&'static str> {
    let text = answer.to_lowercase().replace('’', "'");
    let is_judgement = |(at, found): (usize, &str)| {
        let (before, after) = (&text[..at], &text[at + found.len()..]);
        let is_whole =
            !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
        let mut words = before.trim_end().rsplit(|c: char| !c.is_alphanumeric());
        is_whole && !words.next().is_some_and(|word| ASKING.contains(&word))
    };
    let is_in = |phrase: &&'static str| text.match_indices(*phrase).any(is_judgement);
    JUDGING.into_iter().filter(is_in).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judging_phrases_of_an_answer_are_found() {
        for (answer, found) in [
            ("You believe that tea is best.", vec!["you believe"]),
            (
                "You’re the type of person who hates queues.",
                vec!["type of person", "you're the type"],
            ),
            ("Du glaubst, dass Tee hilft.", vec!["du glaubst"]),
            ("You told me that you like tea.", vec![]),
            ("You mentioned Lisbon.", vec![]),
            ("Do you believe in ghosts?", vec![]),
            ("Tell me if you believe it.", vec![]),
            ("Thank you, believers of tea.", vec![]),
        ] {
            assert_eq!(judging_phrases(answer), found, "{answer}");
        }
    }

    #[test]
    fn judging_text_is_detected_wherever_the_phrase_is() {
        assert!(judges("Someone who says: you believe in tea"));
        assert!(judges("Has a calm personality."));
        assert!(!judges("Lives in Lisbon."));
    }
}
