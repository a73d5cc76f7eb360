//! Tokenizer for the time parsers: splits a message into words, numbers and punctuation.

use crate::word::is_east_asian;

/// One word, number or punctuation mark, with its byte range in the message.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// Lower case and without accents, so that one table entry serves "Día" and "dia".
    pub text: String,
    pub start: usize,
    pub end: usize,
    /// Whether it begins with a capital, which distinguishes the month "May" from the verb "may".
    pub capital: bool,
    /// Whether it directly follows the previous token, as the numbers in "2023-05-08" do.
    pub glued: bool,
    /// Whether it directly follows an apostrophe, as the year in "May '23".
    pub clipped: bool,
}

impl Token {
    /// The number in digits, if it is short enough to be part of a date.
    pub fn number(&self) -> Option<i64> {
        let digits = self.text.bytes().all(|b| b.is_ascii_digit());
        if digits && (1..=6).contains(&self.text.len()) { self.text.parse().ok() } else { None }
    }

    pub fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphanumeric())
    }
}

/// The words and marks of a message in order. White space, apostrophes and the hyphens inside
/// words ("mid-May") are dropped; the hyphens between numbers stay.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(&(start, first)) = chars.get(at) {
        let begin = at;
        if is_letter(first) {
            while chars.get(at).is_some_and(|_| belongs(&chars, begin, at)) {
                at += 1;
            }
        } else {
            at += 1;
        }
        let before = begin.checked_sub(1).and_then(|i| chars.get(i)).map(|&(_, c)| c);
        let clipped = before.is_some_and(is_apostrophe);
        let end = chars.get(at).map_or(text.len(), |&(end, _)| end);
        let written = &text[start..end];
        if first.is_whitespace() || is_apostrophe(first) || (clipped && is_possessive(written)) {
            continue;
        }
        if is_hyphen(first) && !between_numbers(&chars, begin) && !is_isolated(&chars, begin) {
            continue;
        }
        found.push(Token {
            text: folded(written),
            start,
            end,
            capital: first.is_uppercase(),
            glued: found.last().is_some_and(|last| last.end == start),
            clipped,
        });
    }
    found
}

/// Whether the character at `at` continues the word begun at `begin`. The "T" between a date and
/// an hour ends the word, so that the day in "2023-05-08T10:00" can be read.
fn belongs(chars: &[(usize, char)], begin: usize, at: usize) -> bool {
    let digit = |i: usize| chars.get(i).is_some_and(|&(_, c)| c.is_ascii_digit());
    let Some(&(_, c)) = chars.get(at) else { return false };
    let hour_mark = (c == 'T' || c == 't') && at > begin && digit(at - 1) && digit(at + 1);
    is_letter(c) && !hour_mark
}

fn is_possessive(word: &str) -> bool {
    word == "s" || word == "S"
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2018}')
}

fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}' | '\u{2011}')
}

fn between_numbers(chars: &[(usize, char)], at: usize) -> bool {
    let digit =
        |i: Option<usize>| i.and_then(|i| chars.get(i)).is_some_and(|&(_, c)| c.is_ascii_digit());
    digit(at.checked_sub(1)) && digit(Some(at + 1))
}

fn is_isolated(chars: &[(usize, char)], at: usize) -> bool {
    let letter =
        |i: Option<usize>| i.and_then(|i| chars.get(i)).is_some_and(|&(_, c)| is_letter(c));
    !letter(at.checked_sub(1)) || !letter(Some(at + 1))
}

/// Whether a character is part of a word in a script with spaces between words. Chinese and
/// Japanese have their own parser, so their characters separate words here.
fn is_letter(c: char) -> bool {
    is_combining(c) || (c.is_alphanumeric() && !is_east_asian(c))
}

fn is_combining(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

fn folded(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for c in word.chars().flat_map(char::to_lowercase).filter(|&c| !is_combining(c)) {
        match c {
            'á' | 'à' | 'â' | 'ä' | 'ã' | 'å' => out.push('a'),
            'é' | 'è' | 'ê' | 'ë' => out.push('e'),
            'í' | 'ì' | 'î' | 'ï' => out.push('i'),
            'ó' | 'ò' | 'ô' | 'ö' | 'õ' => out.push('o'),
            'ú' | 'ù' | 'û' | 'ü' => out.push('u'),
            'ñ' => out.push('n'),
            'ç' => out.push('c'),
            'ß' => out.push_str("ss"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn time_tokens_drop_accents_apostrophes_and_inner_hyphens() {
        assert_eq!(words("Mid-Día, last year's"), ["mid", "dia", ",", "last", "year"]);
        assert_eq!(words("l'année aujourd\u{2019}hui"), ["l", "annee", "aujourd", "hui"]);
    }

    #[test]
    fn time_tokens_keep_hyphens_between_numbers_and_split_off_the_hour() {
        assert_eq!(words("2023-05-08T10"), ["2023", "-", "05", "-", "08", "t10"]);
    }

    #[test]
    fn time_tokens_distinguish_a_clipped_year_from_a_day() {
        assert!(tokens("May '23")[1].clipped);
        assert!(!tokens("May 23")[1].clipped);
    }
}
