//! Checks whether a claim is supported by its evidence.
//!
//! A proposal comes with quotations as evidence. A manipulated model may quote harmless words for a
//! claim of its own, so the claim must consist of the quoted words: every name, number and address
//! in it is in the evidence, most of its other words are, it does not negate the evidence, and it
//! does not generalise a single statement to "always". The check compares words, not meanings: a
//! paraphrase in very different words is refused, and so is one in another language.

mod carry;
mod repeat;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use super::phrase::fold;
use crate::lexicon::{Lexicon, lexicon};
use crate::line::is_unseen;
use crate::terms::{self, Language};
use crate::topic;
use crate::word::{is_east_asian, words};

pub use carry::{carries, is_about_user, is_hedged, may_be_english};
pub use repeat::{UnsharedWord, is_negated, opposes, repeats, unshared_words};

/// Languages with a stop word list, by their two-letter codes.
const LANGUAGES: [(&str, Algorithm); 7] = [
    ("en", Algorithm::English),
    ("de", Algorithm::German),
    ("fr", Algorithm::French),
    ("es", Algorithm::Spanish),
    ("it", Algorithm::Italian),
    ("pt", Algorithm::Portuguese),
    ("nl", Algorithm::Dutch),
];

struct Known {
    little: Vec<HashSet<String>>,
    /// Words without content in a claim about the user: the subject, and the verbs that change the
    /// first person into the third.
    retelling: HashSet<String>,
    /// Words that negate a sentence.
    negations: HashSet<String>,
    /// Words that are negative without a negation: a claim may use them for a negated sentence, and
    /// vice versa.
    refusals: HashSet<String>,
    /// Words that generalise a claim: a single statement does not support "always".
    widening: HashSet<String>,
    /// From a word to the groups of synonyms it belongs to.
    alike: HashMap<String, Vec<usize>>,
    /// From the word for a number to its digits.
    numbers: HashMap<String, String>,
    /// Phrases that a paraphrase adds in writing without spaces, the longer first.
    dense: Vec<String>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let folded = |list: Lexicon| list.into_iter().map(|word| fold(&word)).collect();
    let stop_words = |list: &[&str]| list.iter().map(|word| fold(word)).collect::<HashSet<_>>();
    let little = |(code, _): &(&str, Algorithm)| {
        stop_words::lookup(code).map(stop_words).unwrap_or_default()
    };
    let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
    for (group, members) in
        lexicon!("ground/synonyms", en de fr es it pt nl ru mul).into_iter().enumerate()
    {
        for word in members.split('|') {
            alike.entry(fold(word)).or_default().push(group);
        }
    }
    let mut numbers = HashMap::new();
    for entry in lexicon!("ground/numbers", en de fr es it pt nl) {
        let (digits, names) = entry.split_once(' ').unwrap_or_default();
        numbers.extend(names.split('|').map(|name| (fold(name), digits.to_owned())));
    }
    let mut dense = lexicon!("ground/retelling_dense", zh ja).entries();
    dense.sort_by_key(|phrase| std::cmp::Reverse(phrase.chars().count()));
    Known {
        dense,
        little: LANGUAGES.iter().map(little).collect(),
        retelling: folded(lexicon!("ground/retelling", en de fr es it pt nl ru)),
        negations: folded(lexicon!("ground/negations", en de fr es it pt nl ru mul)),
        refusals: folded(lexicon!("ground/refusals", en de fr es it pt nl zh ja)),
        widening: folded(lexicon!("ground/widening", en de fr es it nl)),
        alike,
        numbers,
    }
});

/// A word of a claim or of its evidence.
#[derive(Debug, Clone)]
struct TextWord {
    text: String,
    /// Its stem in each language. Stemming is expensive, and most words are never compared with one
    /// that begins with the same letter, so it is computed on demand.
    stems: OnceCell<[String; LANGUAGES.len()]>,
    /// Whether it is a name, a number, or a generalising word: it must be in the evidence.
    rare: bool,
    clause: usize,
}

impl TextWord {
    fn stems(&self) -> &[String; LANGUAGES.len()] {
        self.stems.get_or_init(|| {
            LANGUAGES.map(|(_, language)| Stemmer::create(language).stem(&self.text).into_owned())
        })
    }
}

/// Whether the evidence supports the claim, in the same or nearly the same words.
pub fn grounded(claim: &str, evidence: &[&str]) -> bool {
    // If all names and numbers are in the evidence, the other words may be freer.
    is_supported(claim, evidence, |&Words { found, content, rare }| {
        found * 3 >= content * 2 || (rare > 0 && content > 1 && found * 2 >= content)
    })
}

/// Whether every content word of the claim is in the other text, so that the claim adds nothing to
/// it.
pub fn says_no_more(claim: &str, other: &str) -> bool {
    is_supported(claim, &[other], |&Words { found, content, .. }| found == content)
}

/// Whether a claim repeats the old one except for words that the evidence says: "meets at 19:30"
/// changes "meets at 19:00" by "it's 19:30". Its addresses, and its writing without spaces, are in
/// one of the two.
pub fn changes(claim: &str, old: &str, evidence: &[&str]) -> bool {
    let joined = evidence.join("\n");
    let known = format!("{old}\n{joined}");
    let (dense_found, dense) = dense_pairs(claim, &known);
    let lower = known.to_lowercase();
    if dense_found < dense || !addresses(claim).all(|address| lower.contains(&address)) {
        return false;
    }
    let (claimed, old, stated) = (read(claim), read(old), read(&joined));
    let is_new = |word: &&TextWord| {
        (word.rare || !says_nothing(&word.text)) && !old.iter().any(|other| same(word, other))
    };
    let is_said = |word: &TextWord| stated.iter().any(|other| same(word, other));
    let new: Vec<&TextWord> = claimed.iter().filter(is_new).collect();
    let said = new.iter().filter(|word| is_said(word)).count();
    let names = new.iter().all(|word| !word.rare || is_said(word));
    said > 0 && names && said * 2 >= new.len() && keeps_negation(claim, &claimed, &joined, &stated)
}

/// How many content words of a text are in the other one, and how many it has.
pub fn shared_words(text: &str, other: &str) -> (usize, usize) {
    let (own, other) = (read(text), read(other));
    let content = own.iter().filter(|word| word.rare || !says_nothing(&word.text));
    content.fold((0, 0), |(found, all), word| {
        (found + usize::from(other.iter().any(|other| same(word, other))), all + 1)
    })
}

/// Whether a text has a word with content.
pub fn says_something(text: &str) -> bool {
    read(text).iter().any(|word| word.rare || !says_nothing(&word.text))
        || dense_pairs(text, "").1 > 0
}

/// Whether a content word of a text is in the other one, other than those that are common in
/// conversations about anything.
pub fn shares_topic(text: &str, other: &str) -> bool {
    let language = Language::of(text);
    let generic: HashSet<String> = terms::words(text, language)
        .into_iter()
        .filter(|word| topic::is_generic(word, language))
        .map(|word| fold(&word.written))
        .collect();
    let (own, others) = (read(text), read(other));
    let is_topic = |word: &&TextWord| !says_nothing(&word.text) && !generic.contains(&word.text);
    own.iter().filter(is_topic).any(|word| others.iter().any(|other| same(word, other)))
        || dense_pairs(text, other).0 > 0
}

/// Word counts of a claim: content words, how many of them are in the evidence, and names and
/// numbers, which all must be.
struct Words {
    found: usize,
    content: usize,
    rare: usize,
}

fn is_supported(claim: &str, evidence: &[&str], enough: impl Fn(&Words) -> bool) -> bool {
    let claim: String = claim.nfkc().filter(|c| !is_unseen(*c)).collect();
    let evidence: Vec<String> =
        evidence.iter().map(|text| text.nfkc().filter(|c| !is_unseen(*c)).collect()).collect();
    let joined = evidence.join("\n");
    if !addresses(&claim).all(|address| joined.to_lowercase().contains(&address)) {
        return false;
    }
    let claimed = read(&claim);
    let stated = read(&joined);
    if !same_language(&claim, &joined) {
        return false;
    }
    let (dense_found, dense) = dense_pairs(&claim, &joined);
    let (mut found, mut content, mut rare) = (0, 0, 0);
    let others = distinct(&stated);
    let mut said: HashMap<(&str, bool), bool> = HashMap::new();
    for word in claimed.iter().filter(|word| word.rare || !says_nothing(&word.text)) {
        let is_said = said.entry((&word.text, word.rare));
        let is_said = *is_said.or_insert_with(|| others.iter().any(|other| same(word, other)));
        if word.rare {
            if !is_said {
                return false;
            }
            rare += 1;
        } else {
            content += 1;
            found += usize::from(is_said);
        }
    }
    let enough = enough(&Words { found, content, rare }) && dense_found * 3 >= dense * 2;
    rare + content + dense > 0 && enough && keeps_negation(&claim, &claimed, &joined, &stated)
}

/// Splits a text into words, and marks those that must be in the evidence. Writing without spaces
/// is left to `dense_pairs`.
fn read(text: &str) -> Vec<TextWord> {
    let (mut clause, mut end, mut opens) = (0, 0, true);
    let mut found = Vec::new();
    for word in words(text) {
        let between = &text[end..word.start];
        let ends = between.contains(['.', '!', '?', '\n', ':']);
        if ends || between.contains([',', ';', '，', '。', '、']) {
            clause += 1;
        }
        opens |= ends;
        end = word.end;
        if word.text.starts_with(is_east_asian) {
            opens = false;
            continue;
        }
        let plain = fold(&word.text);
        if [
            "but", "aber", "mais", "pero", "ma", "mas", "maar", "sondern", "although", "and",
            "und", "et", "y", "e", "en", "because", "so", "then",
        ]
        .contains(&plain.as_str())
        {
            clause += 1;
        }
        let written = &text[word.start..word.end];
        let capital = written.starts_with(char::is_uppercase);
        let shouted = written.chars().filter(|c| c.is_uppercase()).count() > 1;
        let digit = written.chars().any(|c| c.is_numeric());
        let plain = cardinal(&plain).to_owned();
        let text = KNOWN.numbers.get(&plain).cloned().unwrap_or(plain);
        let little = says_nothing(&text);
        let rare = digit
            || KNOWN.widening.contains(&text)
            || (!little && ((capital && !opens) || shouted));
        found.push(TextWord { text, stems: OnceCell::new(), rare, clause });
        opens = false;
    }
    found
}

/// "10th" is the same day as "10".
fn cardinal(word: &str) -> &str {
    let ends = ["st", "nd", "rd", "th", "er", "re", "e", "o", "a", "de", "ste", "te"];
    let bare = ends.iter().filter_map(|end| word.strip_suffix(end));
    bare.into_iter()
        .find(|bare| bare.bytes().all(|b| b.is_ascii_digit()))
        .filter(|bare| !bare.is_empty())
        .unwrap_or(word)
}

/// Whether a word has no content: a stop word, a negation or a word that paraphrases add.
pub fn says_nothing(word: &str) -> bool {
    KNOWN.retelling.contains(word)
        || KNOWN.negations.contains(word)
        || KNOWN.little.iter().any(|list| list.contains(word))
        || (word.chars().count() == 1 && !word.chars().all(char::is_numeric))
}

/// Whether two words are equal but for their ending, or synonyms.
fn same(a: &TextWord, b: &TextWord) -> bool {
    if a.text == b.text {
        return true;
    }
    if a.text.chars().any(char::is_numeric) || b.text.chars().any(char::is_numeric) {
        return false;
    }
    // Stemming removes only endings, so the first letters must be equal.
    let begin = a.text.chars().next() == b.text.chars().next();
    let stems =
        begin && a.stems().iter().zip(b.stems()).any(|(a, b)| a == b && a.chars().count() > 2);
    let alike = || {
        let groups = KNOWN.alike.get(&a.text).zip(KNOWN.alike.get(&b.text));
        groups.is_some_and(|(a, b)| a.iter().any(|group| b.contains(group)))
    };
    stems || (!a.rare && (alike() || ends_differently(&a.text, &b.text)))
}

/// The words without those that repeat an earlier one.
fn distinct(words: &[TextWord]) -> Vec<&TextWord> {
    let mut seen = HashSet::new();
    words.iter().filter(|word| seen.insert((word.text.as_str(), word.rare))).collect()
}

/// "teach" and "teacher": a common prefix of five letters or more, and short endings.
fn ends_differently(a: &str, b: &str) -> bool {
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let rest = |word: &str| word.chars().count() - shared;
    // Russian inflects its verbs more, and is not among the stemmed languages.
    let cyrillic = a.chars().all(|c| matches!(c, '\u{0400}'..='\u{04ff}'));
    (shared >= 5 || (cyrillic && shared >= 3))
        && rest(a) <= 3
        && rest(b) <= 3
        && rest(a) + rest(b) <= 4
}

/// Web and mail addresses in a text, in lower case.
fn addresses(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_whitespace().filter_map(|run| {
        let run = run.trim_matches(|c: char| !c.is_alphanumeric() && c != '/').to_lowercase();
        let dotted = run.split_once('.').is_some_and(|(name, end)| {
            !name.is_empty() && end.chars().filter(|c| c.is_alphabetic()).count() > 1
        });
        (run.contains("://") || run.contains('@') || dotted).then_some(run)
    })
}

/// Whether both texts can be in the same language, judged by their stop words, if both have some.
fn same_language(claim: &str, evidence: &str) -> bool {
    let hits = |text: &str| -> Vec<usize> {
        let own: Vec<String> = words(text).iter().map(|word| fold(&word.text)).collect();
        let count = |list: &HashSet<String>| own.iter().filter(|w| list.contains(*w)).count();
        KNOWN.little.iter().map(count).collect()
    };
    let (claim, evidence) = (hits(claim), hits(evidence));
    let best = |hits: &[usize]| hits.iter().copied().max().unwrap_or(0);
    let (most_claim, most_evidence) = (best(&claim), best(&evidence));
    // A single stop word is shared by too many languages to distinguish them.
    most_claim < 2
        || most_evidence < 2
        || claim.iter().zip(&evidence).any(|(c, e)| *c == most_claim && *e * 2 >= most_evidence)
}

/// How many character bigrams of the claim are in the evidence, and how many there are. Names and
/// loanwords are in katakana, so a run of it must be in the evidence as a whole.
fn dense_pairs(claim: &str, evidence: &str) -> (usize, usize) {
    let katakana = |c: char| matches!(c, '\u{30a0}'..='\u{30ff}');
    let runs = dense_runs(claim);
    let foreign = |run: &&String| run.chars().count() > 1 && run.chars().all(katakana);
    if !runs.iter().filter(foreign).all(|run| evidence.contains(run.as_str())) {
        return (0, 1);
    }
    let pairs: Vec<String> = runs.iter().flat_map(|run| pairs(run)).collect();
    (pairs.iter().filter(|pair| evidence.contains(pair.as_str())).count(), pairs.len())
}

/// Runs of writing without spaces, without the phrases that a paraphrase adds.
fn dense_runs(text: &str) -> Vec<String> {
    let mut rest = text.to_owned();
    for phrase in &KNOWN.dense {
        if rest.contains(phrase) {
            rest = rest.replace(phrase, " ");
        }
    }
    let runs = rest.split(|c: char| !is_east_asian(c)).filter(|run| !run.is_empty());
    runs.map(str::to_owned).collect()
}

/// Character bigrams, or a single character.
fn pairs(run: &str) -> Vec<String> {
    let chars: Vec<char> = run.chars().collect();
    if chars.len() == 1 {
        return vec![run.to_owned()];
    }
    chars.windows(2).map(|pair| pair.iter().collect()).collect()
}

/// Whether a claim is negated exactly where its evidence is. Only clauses that share a word with
/// the claim count: "I don't mind, I live in Berlin" affirms Berlin.
fn keeps_negation<'e>(
    claim: &str,
    claimed: &[TextWord],
    evidence: &str,
    stated: &'e [TextWord],
) -> bool {
    let denies = |word: &TextWord| KNOWN.negations.contains(&word.text);
    let refuses = |word: &TextWord| denies(word) || KNOWN.refusals.contains(&word.text);
    let dense = |text: &str| {
        ["不", "没", "別に", "无", "无法", "ない", "ません", "ぬ"]
            .iter()
            .any(|no| text.contains(no))
    };
    let claim_denies = claimed.iter().any(denies) || dense(claim);
    let claim_refuses = claim_denies || claimed.iter().any(refuses);
    let evidence_refuses = stated.iter().any(refuses) || dense(evidence);
    if claim_denies && !evidence_refuses {
        return false;
    }
    if claim_refuses {
        return true;
    }
    let mut content = distinct(claimed);
    content.retain(|word| word.rare || !says_nothing(&word.text));
    let mut shared: HashMap<&str, bool> = HashMap::new();
    let mut is_shared = |other: &'e TextWord| {
        let known = shared.entry(&other.text);
        *known.or_insert_with(|| content.iter().any(|word| same(word, other)))
    };
    let clauses: HashSet<usize> =
        stated.iter().filter(|other| is_shared(other)).map(|other| other.clause).collect();
    let own: Vec<String> = dense_runs(claim).iter().flat_map(|run| pairs(run)).collect();
    let mut about = evidence
        .split(['，', '。', '、', '；', '！', '？', ',', '.', ';', '!', '?', '\n'])
        .filter(|clause| own.iter().any(|pair| clause.contains(pair.as_str())))
        .peekable();
    if about.peek().is_some() && about.all(dense) {
        return false;
    }
    let denied: HashSet<usize> =
        stated.iter().filter(|word| denies(word)).map(|word| word.clause).collect();
    clauses.is_empty() || clauses.iter().any(|clause| !denied.contains(clause))
}

#[cfg(test)]
mod tests;
