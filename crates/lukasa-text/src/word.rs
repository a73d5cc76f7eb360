//! Tokenizer: splits text into words, shared by all code that compares words.

/// A word of a text in lower case, and its byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub text: String,
    pub start: usize,
    pub end: usize,
}

/// The words of a text: runs of letters and digits. Chinese and Japanese put no spaces between
/// words, so each of their characters is a word and a name of several is a phrase. The possessive
/// "s" of "Nora's" is dropped, and the marks of "C++" and "C#" are part of their words.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut open = false;
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        if matches!(c, '+' | '#')
            && let Some(word) = found.last_mut().filter(|_| open)
            && closes_a_short_name(&word.text, &text[end..])
        {
            word.text.push(c);
            word.end = end;
            continue;
        }
        if !c.is_alphanumeric() {
            open = false;
            continue;
        }
        let alone = is_east_asian(c);
        match found.last_mut().filter(|_| open && !alone) {
            Some(word) => {
                word.text.extend(c.to_lowercase());
                word.end = end;
            }
            None => found.push(Word { text: c.to_lowercase().collect(), start, end }),
        }
        open = !alone;
    }
    found.retain(|word| !(word.text == "s" && follows_apostrophe(text, word.start)));
    found
}

fn closes_a_short_name(word: &str, behind: &str) -> bool {
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let marks = word.chars().count() - letters;
    (1..=2).contains(&letters) && marks <= 1 && !behind.starts_with(char::is_alphanumeric)
}

fn follows_apostrophe(text: &str, at: usize) -> bool {
    text[..at].ends_with(['\'', '\u{2019}'])
}

/// A character of a script that is written without spaces, or a digit of its width.
pub(crate) fn is_east_asian(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff10}'..='\u{ff19}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        assert_eq!(texts("Nora's k8s-setup, ok?"), ["nora", "k8s", "setup", "ok"]);
        assert_eq!(texts(" ... "), Vec::<String>::new());
        assert_eq!(texts("C++, C# or 5+ of #1+2"), ["c++", "c#", "or", "5", "of", "1", "2"]);
    }

    #[test]
    fn each_east_asian_character_is_a_word() {
        assert_eq!(texts("我的料理 app"), ["我", "的", "料", "理", "app"]);
    }
}
