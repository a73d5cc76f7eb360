//! How many memories to retrieve for a message (R157): most messages need few, and some none.

/// Words that refer to the past or to the user.
const BACKWARD: &[&str] = &[
    "again",
    "always",
    "before",
    "earlier",
    "favorite",
    "favourite",
    "forgot",
    "i",
    "last",
    "me",
    "mine",
    "my",
    "never",
    "prefer",
    "preferred",
    "previously",
    "recall",
    "remember",
    "remind",
    "told",
    "usual",
    "usually",
    "yesterday",
    "erinnerst",
    "mein",
    "meine",
    "mir",
    "ich",
    "mi",
    "mis",
    "yo",
    "recuerdas",
    "mon",
    "ma",
    "mes",
    "je",
    "rappelle",
    "私",
    "僕",
    "我",
    "我的",
    "나",
    "내",
];

/// Messages that only continue a conversation.
const ONWARD: &[&str] = &[
    "and then",
    "continue",
    "go on",
    "keep going",
    "more",
    "next",
    "ok",
    "okay",
    "please continue",
    "right",
    "sure",
    "thanks",
    "thank you",
    "then what",
    "yes",
];

/// How many memories to retrieve for a message.
pub fn memories_wanted(message: &str) -> usize {
    const MANY: usize = 10;
    const FEW: usize = 3;
    let text = message.trim().to_lowercase();
    let length = text.chars().count();
    let plain = text.trim_end_matches(|c: char| !c.is_alphanumeric());
    if ONWARD.contains(&plain) {
        return if length < 20 { 0 } else { FEW };
    }
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let refers_back = words.any(|word| BACKWARD.contains(&word))
        || ["私", "僕", "我", "나", "내"].iter().any(|word| text.contains(word));
    match length {
        _ if refers_back || length > 100 => MANY,
        0..20 => 0,
        _ => FEW,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retrieval_count_depends_on_the_message() {
        for (message, count) in [
            ("", 0),
            ("thanks!", 0),
            ("ok", 0),
            ("2 + 2", 0),
            ("Where do I live?", 10),
            ("What is my usual order?", 10),
            ("Do you remember Anna?", 10),
            ("我住在哪里？", 10),
            ("Write a haiku about autumn rain", 3),
            ("please continue", 0),
        ] {
            assert_eq!(memories_wanted(message), count, "{message}");
        }
        assert_eq!(memories_wanted(&"Explain how tides work. ".repeat(6)), 10);
    }
}
