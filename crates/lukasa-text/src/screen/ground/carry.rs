//! Checks whether a sentence carries a claim: that the words of the claim occur in it is not
//! enough, the sentence must also say them of the same subject, as a statement.
//!
//! "User lives in Vigo" is not carried by "weather in Vigo tomorrow?", and "User is a carpenter"
//! not by "my brother is a carpenter". A claim is judged by the family of its predicate (to live,
//! to work, to like ...). A claim of no known family is not judged here: it is carried.

use std::sync::LazyLock;

use super::{KNOWN, LANGUAGES, TextWord, cardinal, dense_pairs, read, same, says_nothing};
use crate::lexicon::{Lexicon, lexicon};
use crate::screen::person;
use crate::screen::phrase::{Phrases, TokenizedText, fold};
use crate::word::words;

/// How much of a sentence is read, in characters.
const READ_CHARS: usize = 2_000;
/// The predicate of a claim is among this many words after its subject.
const PREDICATE_WORDS: usize = 5;
/// A part between commas of at most this many words continues the part before it.
const CONTINUATION_WORDS: usize = 3;

/// What a predicate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Live,
    Work,
    Like,
    Dislike,
    Have,
    Learn,
    Eat,
    Allergic,
    Name,
    /// The noun "name", which makes a possession of the user a statement about the user.
    OwnName,
    Be,
}

impl Family {
    const ALL: [(&'static str, Family); 11] = [
        ("live", Family::Live),
        ("work", Family::Work),
        ("like", Family::Like),
        ("dislike", Family::Dislike),
        ("have", Family::Have),
        ("learn", Family::Learn),
        ("eat", Family::Eat),
        ("allergic", Family::Allergic),
        ("name", Family::Name),
        ("own_name", Family::OwnName),
        ("be", Family::Be),
    ];

    /// Whether the family counts only if the claim has no other: "has been living" is about
    /// living.
    fn is_auxiliary(self) -> bool {
        matches!(self, Family::Have | Family::Be | Family::OwnName)
    }

    /// Whether "I would" and "I want to" leave it a statement.
    fn survives_hedges(self) -> bool {
        matches!(self, Family::Like | Family::Dislike | Family::Name | Family::OwnName)
    }
}

/// The languages of a list, by their places in `LANGUAGES`; the others have scripts of their own.
type LanguageIndex = usize;
const OWN_SCRIPT: LanguageIndex = LANGUAGES.len();

/// The patterns of one list, each with its language.
macro_rules! by_language {
    ($list:literal, $($language:ident)+) => {
        [$((language_index(stringify!($language)), lexicon!($list, $language))),+]
    };
}

fn language_index(code: &str) -> LanguageIndex {
    LANGUAGES.iter().position(|(own, _)| *own == code).unwrap_or(OWN_SCRIPT)
}

fn families(
    lists: impl IntoIterator<Item = (LanguageIndex, Lexicon)>,
) -> Phrases<(LanguageIndex, Family)> {
    let entries = lists.into_iter().flat_map(|(language, list)| {
        list.into_iter().filter_map(move |entry| {
            let (name, pattern) = entry.split_once(' ')?;
            let (_, family) = Family::ALL.iter().find(|(own, _)| *own == name)?;
            Some(((language, *family), [pattern.to_owned()]))
        })
    });
    Phrases::new(entries)
}

static PREDICATES: LazyLock<Phrases<(LanguageIndex, Family)>> =
    LazyLock::new(|| families(by_language!("ground/predicates", en de fr es it pt nl ru zh ja)));
static SUPPORT: LazyLock<Phrases<(LanguageIndex, Family)>> = LazyLock::new(|| {
    families(by_language!("ground/predicate_support", en de fr es it pt nl ru zh ja))
});
static USER: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("ground/user_nouns", en de fr es it pt nl ru zh ja))])
});
static OTHERS: LazyLock<Phrases<LanguageIndex>> = LazyLock::new(|| {
    Phrases::new(by_language!("ground/other_subjects", en de fr es it pt nl ru zh ja))
});
static HEDGES: LazyLock<Phrases<LanguageIndex>> =
    LazyLock::new(|| Phrases::new(by_language!("ground/hedges", en de fr es it pt nl ru zh ja)));
static REQUESTS: LazyLock<Phrases<LanguageIndex>> =
    LazyLock::new(|| Phrases::new(by_language!("ground/requests", en de fr es it pt nl)));
static INTERROGATIVES: LazyLock<std::collections::HashSet<String>> =
    LazyLock::new(|| lexicon!("ground/interrogatives", en de fr es it pt nl ru).words());
static AUXILIARIES: LazyLock<std::collections::HashSet<String>> =
    LazyLock::new(|| lexicon!("ground/auxiliaries", en de fr es it pt nl).words());

/// Whom a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClaimSubject {
    User,
    /// Something or someone of the user's: "User's brother".
    Possession,
    Unknown,
}

/// The subject of a part of a sentence, up to some word of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClauseSubject {
    User,
    Other,
    Unnamed,
}

/// A part of a sentence between commas, full stops and some conjunctions.
struct Clause {
    text: String,
    tokenized: TokenizedText,
    /// Whether it asks something.
    asks: bool,
    /// Places of words of the first person, and of words for other people, in order.
    subjects: Vec<(usize, ClauseSubject)>,
}

/// Whether the sentence says what the claim says of the same subject, as a statement. The claim's
/// words are compared by [`super::grounded`]; both must hold.
pub fn carries(claim: &str, sentence: &str) -> bool {
    let sentence: String = sentence.chars().take(READ_CHARS).collect();
    let languages = languages(&format!("{claim} {sentence}"));
    let tokenized = TokenizedText::new(claim);
    let Some((subject, family)) = claim_predicate(claim, &tokenized, &languages) else {
        return true;
    };
    let content = content_words(claim);
    let is_hedged_claim = HEDGES.find(&tokenized).any(|found| languages[found.means]);
    let clauses = clauses(&sentence, &languages);
    let first_person = clauses
        .iter()
        .any(|clause| clause.subjects.iter().any(|(_, who)| *who == ClauseSubject::User));
    let mut is_about_any = false;
    for clause in &clauses {
        let place = content_place(clause, &content);
        let in_dense_writing = content.is_empty() && dense_pairs(claim, &clause.text).0 > 0;
        if place.is_none() && !in_dense_writing {
            continue;
        }
        is_about_any = true;
        let own = |found: (LanguageIndex, Family)| {
            let is_name = matches!(found.1, Family::Name | Family::OwnName);
            languages[found.0] && (found.1 == family || (is_name && family == Family::Name))
        };
        let stated = SUPPORT.find(&clause.tokenized).find(|found| own(found.means));
        let stated = stated.map(|found| found.start);
        if family == Family::Live && stated.is_none() {
            continue;
        }
        let anchor = stated.or(place).unwrap_or_default();
        let asks_for_it = matches!(family, Family::Like | Family::Dislike)
            && stated.is_none()
            && REQUESTS.find(&clause.tokenized).any(|found| languages[found.means]);
        if asks_for_it {
            return true;
        }
        if clause.asks {
            continue;
        }
        let mut hedges = HEDGES.find(&clause.tokenized).filter(|found| languages[found.means]);
        let is_hedged = !family.survives_hedges() && hedges.any(|found| found.start <= anchor);
        if is_hedged && !is_hedged_claim {
            continue;
        }
        if subject != ClaimSubject::User {
            return true;
        }
        match clause.subject_at(anchor) {
            ClauseSubject::User => return true,
            ClauseSubject::Other => {}
            ClauseSubject::Unnamed if matches!(family, Family::Live | Family::Work) => {
                if first_person || anchor <= 2 {
                    return true;
                }
            }
            // Without any word of the first person, "the doctor" is someone else.
            ClauseSubject::Unnamed => {
                let before = anchor.checked_sub(1).map(|at| &clause.tokenized.tokens[at].text);
                let definite = before.is_some_and(|word| is_definite_article(word));
                if first_person || !definite || family != Family::Be {
                    return true;
                }
            }
        }
    }
    !is_about_any && family != Family::Live
}

/// Whether a word says that someone likes or dislikes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sentiment {
    Like,
    Dislike,
}

/// The sentiment of a single word, in any language.
pub(super) fn sentiment(word: &str) -> Option<Sentiment> {
    let tokenized = TokenizedText::new(word);
    let found = PREDICATES.find(&tokenized).filter(|found| found.end == tokenized.tokens.len());
    let mut found = found.filter_map(|found| match found.means.1 {
        Family::Like => Some(Sentiment::Like),
        Family::Dislike => Some(Sentiment::Dislike),
        _ => None,
    });
    found.next()
}

impl Clause {
    fn new(text: &str, asks: bool, languages: &[bool]) -> Self {
        let tokenized = TokenizedText::new(text);
        let mut subjects: Vec<(usize, ClauseSubject)> = person::first_person_places(&tokenized)
            .into_iter()
            .map(|at| (at, ClauseSubject::User))
            .collect();
        let others = OTHERS.find(&tokenized).filter(|found| languages[found.means]);
        for found in others {
            // A word of the first person in one language may be another's in a second one.
            if !subjects.iter().any(|(at, who)| *at == found.start && *who == ClauseSubject::User) {
                subjects.push((found.start, ClauseSubject::Other));
            }
        }
        subjects.sort_by_key(|(at, _)| *at);
        Self { text: text.to_owned(), tokenized, asks, subjects }
    }

    /// The subject of the word at this place: the nearest before it, or the first after it.
    fn subject_at(&self, anchor: usize) -> ClauseSubject {
        // The word itself may be in the first person: "vivo".
        if self.subjects.contains(&(anchor, ClauseSubject::User)) {
            return ClauseSubject::User;
        }
        let before = self.subjects.iter().rev().find(|(at, _)| *at < anchor);
        if let Some((_, who)) = before {
            return *who;
        }
        let mut after = self.subjects.iter().filter(|(at, _)| *at > anchor);
        match (after.next(), after.next()) {
            // "In Braga arbeitet mein Bruder"
            (Some((first, _)), Some((second, ClauseSubject::Other))) if second - first <= 2 => {
                ClauseSubject::Other
            }
            (Some((_, who)), _) => *who,
            (None, _) => ClauseSubject::Unnamed,
        }
    }
}

/// Whether the subject of a claim is the user: "User lives in Vigo", "I live in Vigo", "Der Nutzer
/// wohnt in Wien". That of "The user table has an index" may be something else.
pub fn is_about_user(claim: &str) -> bool {
    let tokenized = TokenizedText::new(claim);
    let first = tokenized.tokens.first().map_or("", |token| token.text.as_str());
    person::first_person_places(&tokenized).iter().any(|at| *at <= 1)
        || first != "the" && USER.find(&tokenized).any(|found| found.start <= 1)
}

/// Whether a text is a possibility, a wish or a past rather than a statement about now.
pub fn is_hedged(text: &str) -> bool {
    let languages = languages(text);
    let tokenized = TokenizedText::new(text);
    HEDGES.find(&tokenized).any(|found| languages[found.means])
}

/// Whether a text can be English, judged by its stop words.
pub fn may_be_english(text: &str) -> bool {
    languages(text)[language_index("en")]
}

/// The languages that a text can be in, judged by its stop words.
fn languages(text: &str) -> [bool; LANGUAGES.len() + 1] {
    let own: Vec<String> = words(text).iter().map(|word| fold(&word.text)).collect();
    let mut hits = [0_usize; LANGUAGES.len()];
    for (hits, list) in hits.iter_mut().zip(&KNOWN.little) {
        *hits = own.iter().filter(|word| list.contains(*word)).count();
    }
    let most = hits.into_iter().max().unwrap_or(0);
    let mut possible = [true; LANGUAGES.len() + 1];
    for (possible, hits) in possible.iter_mut().zip(hits) {
        *possible = hits == most;
    }
    possible
}

/// The subject of a claim and the family of its predicate, if it is known.
fn claim_predicate(
    claim: &str,
    tokenized: &TokenizedText,
    languages: &[bool],
) -> Option<(ClaimSubject, Family)> {
    let user = USER.find(tokenized).next();
    let found: Vec<_> = PREDICATES.find(tokenized).filter(|f| languages[f.means.0]).collect();
    let (subject, begin) = match user {
        Some(user) => {
            let next = tokenized.tokens.get(user.end).map(|token| token.text.as_str());
            let owns = follows_possessive(claim, user.end) || matches!(next, Some("的" | "の"));
            let subject = if user.start <= 1 && !owns {
                ClaimSubject::User
            } else {
                ClaimSubject::Possession
            };
            // "User's name", "der Name des Nutzers"
            let own_name = found.iter().any(|noun| {
                let before = noun.start < user.start && user.start - noun.start <= 3;
                noun.means.1 == Family::OwnName && (before || (owns && noun.start == user.end))
            });
            if own_name {
                return Some((ClaimSubject::User, Family::Name));
            }
            (subject, user.end)
        }
        None => {
            let opens = found.iter().any(|found| found.start == 0);
            let own = person::first_person_places(tokenized).first().is_some_and(|at| *at <= 1);
            let subject = if opens || own { ClaimSubject::User } else { ClaimSubject::Unknown };
            (subject, 0)
        }
    };
    let mut in_reach: Vec<_> = found
        .iter()
        .filter(|found| (begin..begin + PREDICATE_WORDS).contains(&found.start))
        .filter(|found| found.means.1 != Family::OwnName)
        .collect();
    in_reach.sort_by_key(|found| (found.means.1.is_auxiliary(), found.start));
    let family = in_reach.first()?.means.1;
    Some((subject, family))
}

/// Whether the word before this place is in the possessive: "User's".
fn follows_possessive(claim: &str, place: usize) -> bool {
    let folded = fold(claim);
    let own = words(&folded);
    let before = place.checked_sub(1).and_then(|at| own.get(at));
    before.is_some_and(|word| folded[word.end..].starts_with("'s"))
}

/// The words of a claim that say something, other than the user and the predicate.
fn content_words(claim: &str) -> Vec<TextWord> {
    let own = |word: &TextWord| word.rare || !says_nothing(&word.text);
    let tokenized = TokenizedText::new(claim);
    let users: Vec<usize> = USER.find(&tokenized).map(|found| found.start).collect();
    let named = |word: &TextWord| users.iter().any(|at| tokenized.tokens[*at].text == word.text);
    read(claim).into_iter().filter(|word| own(word) && !named(word)).collect()
}

/// The place of the first word of the clause that is in the claim.
fn content_place(clause: &Clause, content: &[TextWord]) -> Option<usize> {
    clause.tokenized.tokens.iter().position(|token| {
        let word = TextWord::plain(&token.text);
        content.iter().any(|own| same(own, &word))
    })
}

impl TextWord {
    fn plain(text: &str) -> Self {
        let plain = cardinal(text).to_owned();
        let text = KNOWN.numbers.get(&plain).cloned().unwrap_or(plain);
        Self { text, stems: std::cell::OnceCell::new(), rare: false, clause: 0 }
    }
}

fn is_definite_article(word: &str) -> bool {
    ["the", "der", "die", "das", "le", "la", "el", "il", "lo", "o", "de", "het"].contains(&word)
}

/// Splits a text into clauses, and determines which of them ask something. A question may begin
/// with a statement: "I live in Vigo, what's the weather?"
fn clauses(text: &str, languages: &[bool]) -> Vec<Clause> {
    let folded = fold(text);
    let mut found = Vec::new();
    for (sentence, is_question) in sentences(&folded) {
        let parts = parts(sentence);
        let last = parts.len().saturating_sub(1);
        for (at, (part, opened)) in parts.iter().enumerate() {
            let asks = is_question && (*opened || asks(part, at == last));
            found.push(Clause::new(part, asks, languages));
        }
    }
    found
}

/// The sentences of a folded text, and whether each ends in a question mark.
fn sentences(folded: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = folded.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '\n' | '!' | '?' | '。' | '！' | '？' | '…' => true,
            '.' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            found.push((&folded[start..at], matches!(c, '?' | '？')));
            start = at + c.len_utf8();
        }
    }
    found.push((&folded[start..], false));
    found.retain(|(text, _)| text.chars().any(char::is_alphanumeric));
    found
}

/// The parts of a sentence, and whether each follows an opening question mark.
fn parts(sentence: &str) -> Vec<(String, bool)> {
    const JOINTS: [&str; 18] = [
        "but", "aber", "mais", "pero", "ma", "mas", "maar", "because", "so", "weil", "also",
        "donc", "porque", "perche", "want", "dus", "though", "although",
    ];
    const AND: [&str; 7] = ["and", "und", "et", "y", "e", "en", "och"];
    let mut cuts: Vec<(usize, usize, bool)> = Vec::new();
    for (at, c) in sentence.char_indices() {
        let splits =
            matches!(c, ',' | ';' | ':' | '，' | '、' | '；' | '：' | '—' | '–' | '(' | ')' | '¿');
        // "9:30" is one word.
        let inside = sentence[at + c.len_utf8()..].starts_with(|next: char| next.is_numeric())
            && sentence[..at].ends_with(char::is_numeric);
        if splits && !inside {
            cuts.push((at, at + c.len_utf8(), c == '¿'));
        }
    }
    let own = words(sentence);
    for (at, word) in own.iter().enumerate().skip(1) {
        let next = own.get(at + 1).map(|next| next.text.as_str());
        let own_next = next.is_some_and(person::is_subject_pronoun);
        let joins = AND.contains(&word.text.as_str()) && own_next;
        if JOINTS.contains(&word.text.as_str()) || joins {
            cuts.push((word.start, word.end, false));
        }
    }
    cuts.sort_unstable();
    let mut found: Vec<(String, bool)> = Vec::new();
    let (mut start, mut opened) = (0, false);
    cuts.push((sentence.len(), sentence.len(), false));
    for (from, to, opens) in cuts {
        let text = sentence.get(start..from).unwrap_or_default();
        let count = words(text).len();
        if count > 0 {
            match found.last_mut() {
                // "I live in a village, Riaño"
                Some((last, _)) if !opened && count <= CONTINUATION_WORDS && is_bare(text) => {
                    last.push_str(", ");
                    last.push_str(text);
                }
                _ => found.push((text.to_owned(), opened)),
            }
        }
        (start, opened) = (to, opens || (opened && count == 0));
    }
    found
}

/// Whether a part of a sentence has no subject and does not ask.
fn is_bare(text: &str) -> bool {
    let tokenized = TokenizedText::new(text);
    let first = tokenized.tokens.first().map_or("", |token| token.text.as_str());
    person::first_person_places(&tokenized).is_empty()
        && !INTERROGATIVES.contains(first)
        && !AUXILIARIES.contains(first)
}

/// Whether a part of a sentence with a question mark belongs to the question.
fn asks(part: &str, is_last: bool) -> bool {
    let tokenized = TokenizedText::new(part);
    let word = |at: usize| tokenized.tokens.get(at).map_or("", |token| token.text.as_str());
    let own = person::first_person_places(&tokenized);
    if AUXILIARIES.contains(word(0)) && !own.contains(&0) {
        return true;
    }
    if INTERROGATIVES.contains(word(0)) {
        return !own.contains(&1);
    }
    is_last && !own.iter().any(|at| *at <= 1)
}

#[cfg(test)]
#[path = "carry_tests.rs"]
mod tests;
