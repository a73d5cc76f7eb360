//! Words that are not a topic: those that are common in conversations about anything.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::lexicon::{Lexicon, lexicon};
use crate::terms::{Language, Term, Word, words};

struct GenericWords {
    /// As they are listed, of all languages: the language of a short text is often unknown.
    written: HashSet<String>,
    /// Their stems, by language.
    stems: HashSet<(Language, Term)>,
}

static GENERIC: LazyLock<GenericWords> = LazyLock::new(|| {
    let lists: [(&str, Lexicon); 7] = [
        ("en", lexicon!("topic/generic", en)),
        ("de", lexicon!("topic/generic", de)),
        ("fr", lexicon!("topic/generic", fr)),
        ("es", lexicon!("topic/generic", es)),
        ("it", lexicon!("topic/generic", it)),
        ("nl", lexicon!("topic/generic", nl)),
        ("pt", lexicon!("topic/generic", pt)),
    ];
    let (mut written, mut stems) = (HashSet::new(), HashSet::new());
    for (code, list) in lists {
        let language = Language::parse(code);
        for entry in list {
            stems.extend(words(&entry, language).into_iter().map(|word| (language, word.term)));
            written.insert(entry);
        }
    }
    GenericWords { written, stems }
});

/// Whether a word of a text in this language is common in conversations about anything, such as
/// "read" or "report".
pub fn is_generic(word: &Word, language: Language) -> bool {
    GENERIC.written.contains(&word.written) || GENERIC.stems.contains(&(language, word.term))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_words_are_recognized_in_all_their_forms() {
        let generic = |text: &str, language: Language| {
            let found = words(text, language);
            found.iter().map(|word| is_generic(word, language)).collect::<Vec<_>>()
        };
        assert_eq!(generic("reading reports summarized", Language::ENGLISH), [true; 3]);
        assert_eq!(generic("tomatoes running Lisbon", Language::ENGLISH), [false; 3]);
        assert_eq!(generic("Berichte lesen Tomaten", Language::parse("de")), [true, true, false]);
        assert_eq!(generic("lesen", Language::ENGLISH), [true], "a short text of any language");
    }
}
