//! Word lists prepared for comparison with the folded words of a text.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::lexicon::{Lexicon, lexicon};
use crate::screen::phrase::fold;
use crate::word::words;

/// Phrases by their first word.
pub(super) struct WordPhrases(HashMap<String, Vec<Vec<String>>>);

impl WordPhrases {
    fn new(list: Lexicon) -> Self {
        let mut phrases: HashMap<String, Vec<Vec<String>>> = HashMap::new();
        for phrase in list {
            let own: Vec<_> = words(&fold(&phrase)).into_iter().map(|word| word.text).collect();
            if let Some(first) = own.first() {
                phrases.entry(first.clone()).or_default().push(own);
            }
        }
        Self(phrases)
    }

    /// Number of words of the longest phrase that these words begin with.
    pub fn length_at(&self, folded: &[String]) -> Option<usize> {
        let phrases = self.0.get(folded.first()?)?;
        phrases.iter().filter(|own| folded.starts_with(own)).map(Vec::len).max()
    }
}

pub(super) type Words = LazyLock<HashSet<String>>;
pub(super) type PhraseList = LazyLock<WordPhrases>;

fn folded(list: Lexicon) -> HashSet<String> {
    list.into_iter().map(|word| fold(&word)).collect()
}

/// Things and places that are opened with a number or a word.
pub(super) const LOCK: Lexicon = lexicon!("secret/lock", en de fr es it pt nl);
pub(super) const OPENS: Lexicon = lexicon!("secret/opens", en de fr es it pt nl);
pub(super) const SET_TO: Lexicon = lexicon!("secret/set_to", en de fr es it pt nl);
pub(super) const OPENED_BY: Lexicon = lexicon!("secret/opened_by", en de fr es it pt nl);
pub(super) const ENTERS: Lexicon = lexicon!("secret/enters", en de fr es it pt nl);
pub(super) const PASSPHRASE: Lexicon = lexicon!("secret/passphrase", en de fr es it pt nl);
pub(super) const QUESTION: Lexicon = lexicon!("secret/question", en de fr es it pt nl);
pub(super) const SIGN_IN: Lexicon = lexicon!("secret/sign_in", en de fr es it pt nl);

pub(super) static LOCKS: Words = LazyLock::new(|| folded(LOCK));
/// Locks that have nothing but a number.
pub(super) static KEYPADS: Words =
    LazyLock::new(|| folded(lexicon!("secret/keypad", en de fr es it pt nl)));
pub(super) static ENTERING: Words = LazyLock::new(|| folded(ENTERS));
/// Words that may follow a stated number: it is no count then.
pub(super) static AFTER_CODE: Words =
    LazyLock::new(|| folded(lexicon!("secret/after_code", en de fr es it pt nl)));
/// Words of ordinary clauses, which passphrases hardly ever have.
pub(super) static CLAUSE: Words =
    LazyLock::new(|| folded(lexicon!("secret/clause", en de fr es it pt nl)));
pub(super) static ANSWERS: Words =
    LazyLock::new(|| folded(lexicon!("secret/answer", en de fr es it pt nl)));
pub(super) static NETWORKS: Words =
    LazyLock::new(|| folded(lexicon!("secret/network", en de fr es it pt nl)));
pub(super) static NETWORK_KEYS: Words =
    LazyLock::new(|| folded(lexicon!("secret/network_key", en de fr es it pt nl)));

pub(super) static OPENING: PhraseList = LazyLock::new(|| WordPhrases::new(OPENS));
pub(super) static SETTING: PhraseList = LazyLock::new(|| WordPhrases::new(SET_TO));
pub(super) static OPENED: PhraseList = LazyLock::new(|| WordPhrases::new(OPENED_BY));
pub(super) static PASSPHRASES: PhraseList = LazyLock::new(|| WordPhrases::new(PASSPHRASE));
pub(super) static QUESTIONS: PhraseList = LazyLock::new(|| WordPhrases::new(QUESTION));
pub(super) static SIGNING_IN: PhraseList = LazyLock::new(|| WordPhrases::new(SIGN_IN));
