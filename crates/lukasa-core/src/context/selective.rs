//! How many memories to retrieve for a message (R157), and how relevant they must be: most messages
//! need few, and some none.

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
    "moi",
    "je",
    "rappelle",
    "io",
    "mio",
    "mia",
    "eu",
    "meu",
    "minha",
    "meinem",
    "meinen",
    "meiner",
    "mich",
    "私",
    "僕",
    "我",
    "我的",
    "나",
    "내",
];

/// Words of a message that only continues a conversation; it has at least one of them.
const CONTINUATION_WORDS: &[&str] = &[
    "continue", "going", "more", "next", "ok", "okay", "on", "right", "sure", "thank", "thanks",
    "then", "yes",
];
/// The other words that such a message may have.
const CONTINUATION_FILLERS: &[&str] = &[
    "a", "about", "and", "bit", "can", "could", "do", "example", "examples", "give", "go", "great",
    "it", "keep", "let's", "little", "me", "now", "one", "part", "please", "section", "show",
    "step", "tell", "that", "the", "this", "to", "very", "what", "with", "would", "you",
];

/// Words for the user in a question that an assistant asks about them.
const THE_USER: &[&str] = &["user", "user's", "they", "their", "them", "we", "us", "our"];
/// First words of a request that is not a question by its mark: question words, and what is asked of an
/// assistant about the world.
const ASKING: &[&str] = &[
    "calculate",
    "compare",
    "compute",
    "convert",
    "define",
    "describe",
    "draft",
    "explain",
    "give",
    "how",
    "list",
    "name",
    "prove",
    "rewrite",
    "solve",
    "summarise",
    "summarize",
    "tell",
    "translate",
    "what",
    "what's",
    "when",
    "where",
    "which",
    "who",
    "whom",
    "whose",
    "why",
    "write",
    "berechne",
    "beschreibe",
    "definiere",
    "erkläre",
    "erklär",
    "nenne",
    "schreib",
    "schreibe",
    "übersetze",
    "vergleiche",
    "wann",
    "warum",
    "was",
    "welche",
    "wer",
    "wie",
    "wieso",
    "wo",
    "calcule",
    "comment",
    "compare",
    "décris",
    "explique",
    "écris",
    "pourquoi",
    "quand",
    "quel",
    "quelle",
    "qui",
    "traduis",
    "calcula",
    "cómo",
    "cuál",
    "cuándo",
    "describe",
    "dónde",
    "escribe",
    "explica",
    "por",
    "qué",
    "quién",
    "traduce",
    "come",
    "dove",
    "perché",
    "quando",
    "quale",
    "scrivi",
    "spiega",
    "traduci",
    "escreva",
    "onde",
    "traduza",
];
/// Words for something that was mentioned before: such a message continues a conversation.
const POINTING: &[&str] = &[
    "this", "these", "those", "diese", "diesem", "diesen", "dieser", "dieses", "ce", "cet",
    "cette", "ces", "esta", "este", "estas", "estos", "esa", "ese", "eso", "esto", "questa",
    "questo", "queste", "questi", "essa", "esse", "isso", "isto",
];
/// Relevance that a memory needs for a message that refers to the user. Embeddings of a paraphrase can
/// be hardly similar, so that only clearly unrelated ones are left out.
const PERSONAL_RELEVANCE: f32 = 0.05;
/// The same for a question of general knowledge, which shares a word with some memory by chance.
const GENERAL_RELEVANCE: f32 = 0.25;
/// The same if words alone are compared: a shared word is then all that can be found.
const GENERAL_WORDS_RELEVANCE: f32 = 0.15;
/// Relevance that a turn or an episode needs at least, whatever the message is: a turn is longer than a
/// memory, so that it shares words with many messages.
pub const MIN_TURN_RELEVANCE: f32 = 0.15;
const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];
/// Queries of at most this many words are names of subjects ("favourite drink") rather than questions.
const SUBJECT_WORDS: usize = 3;

/// The words of a text in lower case; an apostrophe is part of a word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty())
}

/// Whether a text in lower case refers to the user or to the past.
fn refers_back(text: &str) -> bool {
    words(text)
        .any(|word| BACKWARD.contains(&word) || word.starts_with("j'") || word.starts_with("i'"))
        || ["私", "僕", "我", "나", "내"].iter().any(|word| text.contains(word))
}

/// Whether a text in lower case is a question or a request.
fn asks(text: &str) -> bool {
    text.contains(QUESTION_MARKS) || words(text).next().is_some_and(|first| ASKING.contains(&first))
}

/// Whether a text in lower case asks for something that no earlier message is about. One that also states
/// something, as in "The first draft is done. What comes next?", continues a conversation.
fn asks_in_general(text: &str) -> bool {
    let sentences = text.lines().flat_map(|line| line.split_inclusive(QUESTION_MARKS));
    let mut sentences =
        sentences.flat_map(|part| part.split(". ")).flat_map(|part| part.split("! "));
    let states = |sentence: &str| !asks(sentence) && words(sentence).nth(SUBJECT_WORDS).is_some();
    asks(text) && !sentences.any(states) && !words(text).any(|word| POINTING.contains(&word))
}

/// The least relevance of memories that are worth showing for a message, whether they were compared
/// by meaning or by words alone. A message with a statement such as "That plan looks solid" continues a
/// conversation, and needs as little as a message about the user.
pub fn min_relevance(message: &str, by_meaning: bool) -> f32 {
    let text = message.trim().to_lowercase().replace('’', "'");
    let is_subject = !text.contains(['?', '？']) && words(&text).nth(SUBJECT_WORDS).is_none();
    let is_about_user = refers_back(&text) || words(&text).any(|word| THE_USER.contains(&word));
    match by_meaning {
        _ if is_subject || is_about_user || !asks_in_general(&text) => PERSONAL_RELEVANCE,
        true => GENERAL_RELEVANCE,
        false => GENERAL_WORDS_RELEVANCE,
    }
}

/// Whether a text in lower case only continues a conversation.
fn only_continues(text: &str) -> bool {
    let continues = |word: &str| CONTINUATION_WORDS.contains(&word);
    words(text).any(continues)
        && words(text).all(|word| continues(word) || CONTINUATION_FILLERS.contains(&word))
}

/// How many memories to retrieve for a message. One that only continues the conversation needs few, and
/// none if it is short; a short one that refers to the user needs as many as a long one.
pub fn memories_wanted(message: &str) -> usize {
    const MANY: usize = 10;
    const FEW: usize = 3;
    let text = message.trim().to_lowercase();
    let length = text.chars().count();
    match length {
        // "Please tell me a bit more about that" has a word for the user, and asks for nothing of them.
        20.. if only_continues(&text) => FEW,
        0..20 if only_continues(&text) => 0,
        _ if refers_back(&text) || length > 100 => MANY,
        0..20 => 0,
        _ => FEW,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_questions_need_more_relevant_memories() {
        for general in [
            "What is the capital of France?",
            "How do vaccines work?",
            "Who wrote Hamlet?",
            "Write a haiku about autumn rain",
            "Explain the difference between TCP and UDP",
            "Wie funktioniert ein Kühlschrank?",
            "Pourquoi le ciel est-il bleu ?",
            "日本の首都はどこですか？",
            "Hi there! Is version 2.1 of the protocol faster than version 3.0 was?",
        ] {
            assert_eq!(min_relevance(general, true), GENERAL_RELEVANCE, "{general}");
            assert_eq!(min_relevance(general, false), GENERAL_WORDS_RELEVANCE, "{general}");
        }
        for personal in [
            "Where do I live?",
            "What's my pet's name?",
            "I’m hungry, what shall we cook?",
            "Which drinks does the user like?",
            "Quel est mon plat préféré ?",
            "我住在哪里？",
            "favourite drink",
            "",
            "Ready for phase two of the plan",
            "That plan looks solid, let's go",
            "Which of these options is better?",
            "Der Entwurf von gestern ist fertig",
            "The first draft of the script is done. What comes next?",
            "Ponsel saya sudah terisi daya lagi. Sekarang lanjut ke apa?",
        ] {
            assert_eq!(min_relevance(personal, true), PERSONAL_RELEVANCE, "{personal}");
        }
    }

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
            ("Tell me more", 0),
            ("Yes, thank you, please continue!", 3),
            ("Please tell me a bit more about that", 3),
            ("Please tell me more about my trip", 10),
            ("What did you tell me about that?", 10),
        ] {
            assert_eq!(memories_wanted(message), count, "{message}");
        }
        assert_eq!(memories_wanted(&"Explain how tides work. ".repeat(6)), 10);
        assert_eq!(memories_wanted(&"Please go on, and then go on. ".repeat(6)), 3);
    }
}
