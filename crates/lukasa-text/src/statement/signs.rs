//! Words that show that a sentence changes or corrects something, and that a text introduces its
//! author. They do not say what changed: the caller knows the old claim and the new one.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::sentence::{self, Sentence};
use super::{MAX_CHARS, StatementKind};
use crate::lexicon::lexicon;
use crate::screen::person::{is_subject_pronoun, speaks_of_self};
use crate::screen::phrase::{Found, Phrases, TokenizedText};

static SIGNS: LazyLock<Phrases<StatementKind>> = LazyLock::new(|| {
    Phrases::new([
        (StatementKind::Change, lexicon!("statement/change_signs", en de fr es pt it nl)),
        (StatementKind::Correct, lexicon!("statement/correction_signs", en de fr es pt it nl)),
    ])
});
static DENIALS: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/negations", en de fr es it pt nl))]));
static INTRODUCTIONS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("statement/introductions", en de fr es pt it nl))])
});
static RETRACTIONS: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/retractions", en de fr es pt it nl))]));
static ASIDES: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/asides", en de fr es pt))]));
static REPORTS: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/reports", en de fr es pt))]));

/// Whether a text that the user typed takes back what they have said: "forget I mentioned it", "off the
/// record". Questions, quotations and what other people said off the record do not. Of a long text, the
/// sentences at its beginning and at its end are read. Linear in the text.
pub fn retracts(text: &str) -> bool {
    let sentences = sentence::split_ends(text, MAX_CHARS);
    let mut asserted = sentences.iter().filter(|own| !own.asks && !own.is_quoted());
    asserted.any(|own| !own.matches(&RETRACTIONS).is_empty() || has_own_aside(own))
}

/// Whether a sentence says that the user's own words are confidential. In "she mentioned, off the record,
/// that" those of another person are: the aside interrupts the words that report them.
fn has_own_aside(own: &Sentence) -> bool {
    /// Maximum number of words between the verb and the aside: "she confided to the two of us, …".
    const MAX_GAP: usize = 5;
    /// The subject of a verb is among this many words before it: "I have just told".
    const SUBJECT_WORDS: usize = 3;
    let asides = own.matches(&ASIDES);
    if asides.is_empty() {
        return false;
    }
    let is_of_others = |report: &Found<()>| {
        let mut subject = report.start.saturating_sub(SUBJECT_WORDS)..=report.end;
        !subject.any(|at| is_subject_pronoun(own.token(at)))
    };
    let (mut begins, mut ends) = (BTreeSet::new(), BTreeSet::new());
    for report in own.matches(&REPORTS).iter().filter(|report| is_of_others(report)) {
        begins.insert(report.start);
        ends.insert(report.end);
    }
    let start = own.clause_start();
    let is_reported = |aside: &Found<()>| {
        let before = aside.start.saturating_sub(MAX_GAP)..=aside.start;
        aside.start > start && (ends.range(before).next().is_some() || begins.contains(&aside.end))
    };
    asides.iter().any(|aside| !is_reported(aside))
}

/// Whether a text that the user typed says that something is wrong or has changed: a correction, a
/// change, or neither. Questions, quotations and hypothetical sentences say neither.
pub fn signals_change(text: &str) -> Option<StatementKind> {
    let sentences = sentence::split(text, false);
    let asserted = |own: &&Sentence| !own.asks && !own.is_quoted() && !own.opens_with_frame();
    let found: Vec<StatementKind> = sentences.iter().filter(asserted).filter_map(sign).collect();
    found.iter().find(|kind| **kind == StatementKind::Change).or(found.first()).copied()
}

fn sign(own: &Sentence) -> Option<StatementKind> {
    let found = own.matches(&SIGNS);
    let change = found.iter().find(|found| found.means == StatementKind::Change);
    let is_denial = || (!own.matches(&DENIALS).is_empty()).then_some(StatementKind::Correct);
    change.or(found.first()).map(|found| found.means).or_else(is_denial)
}

/// Whether a text begins with the announcement that its author introduces themselves.
pub fn opens_introduction(text: &str) -> bool {
    /// A greeting may come first.
    const GREETING_WORDS: usize = 3;
    let sentences = sentence::split(text, false);
    let text_of = |own: &Sentence| own.slice(0..own.words.len()).to_owned();
    let announces = |own: &&Sentence| INTRODUCTIONS.any(&TokenizedText::new(&text_of(own)));
    let greets = |own: &&Sentence| own.words.len() <= GREETING_WORDS && !announces(own);
    let mut opening = sentences.iter().skip_while(greets);
    let first = opening.next().filter(|own| !own.is_quoted()).filter(announces);
    // "Quick intro. I'm Zeynep."
    let mut own = first.into_iter().chain(opening.next());
    first.is_some() && own.any(|own| speaks_of_self(&text_of(own)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentence_that_denies_or_dates_something_signals_a_change() {
        use StatementKind::{Change, Correct};
        for (text, expected) in [
            ("Careful: it's 19:30, not 19:00.", Some(Correct)),
            ("And no, Biscuit is a girl, always has been.", Some(Correct)),
            ("I'm a category manager now, same chain.", Some(Change)),
            ("Ich arbeite inzwischen bei der Bahn.", Some(Change)),
            ("En realidad se llama Trufa.", Some(Correct)),
            ("Am I a manager now?", None),
            ("If I moved to Lyon now, what would it cost?", None),
            ("My choir meets at 19:00.", None),
        ] {
            assert_eq!(signals_change(text), expected, "{text}");
        }
    }

    #[test]
    fn sentence_that_takes_words_back_retracts() {
        for (text, expected) in [
            ("hmm, actually forget I mentioned the band", true),
            ("Please don't remember that.", true),
            ("Don't put that in your memory.", true),
            ("This is off the record.", true),
            ("Vergiss, dass ich das gesagt habe.", true),
            ("Oubliez ce que j'ai dit.", true),
            ("Olvida lo que te dije.", true),
            ("Esquece o que eu disse.", true),
            ("Off the record: my sister is moving.", true),
            ("Speichere das nicht in deinem Gedächtnis.", true),
            ("Bitte nicht im Gedächtnis behalten.", true),
            ("Não guarde isso na sua memória.", true),
            ("Não guardes isto na memória.", true),
            ("I forget what I told you, but I'm vegan.", false),
            ("My boss told me off the record that we merge.", false),
            ("I don't store it in the memory of the device.", false),
            ("Der Wert ist nicht im Speicher.", false),
            ("Speichere das nicht als PDF.", false),
            ("Não guarde isso na sua pasta.", false),
            ("Il oublie ce que j'ai dit.", false),
            ("Ik onthoud dat niet.", false),
            ("Forget that I visit Marta.", false),
            ("I don't remember that film.", false),
            ("Don't save this file yet.", false),
            ("Did you forget what I said?", false),
        ] {
            assert_eq!(retracts(text), expected, "{text}");
        }
    }

    #[test]
    fn aside_in_the_report_of_another_person_does_not_retract() {
        // Frames are not searched for in long sentences.
        let long = format!("{}he said, off the record, that we merge", "and on ".repeat(40));
        for (text, expected) in [
            ("He said, off the record, that we merge.", false),
            ("My sister mentioned, off the record, that we merge.", false),
            ("She confided to both of us, off the record, that she resigns.", false),
            ("My boss, off the record, hinted that we merge.", false),
            ("The nurse let me know, off the record, that the ward closes.", false),
            (long.as_str(), false),
            ("I mentioned, off the record, that I want to quit.", true),
            ("Listen, off the record, my boss told me that we merge.", true),
            ("She mentioned her divorce, forget I said that.", true),
            ("I want to quit, off the record.", true),
            ("Mein Chef erklärte, das bleibt unter uns, dass wir fusionieren.", false),
            ("Ich erwähnte, das bleibt unter uns, dass ich kündige.", true),
            ("Das bleibt unter uns: Ich kündige.", true),
            ("Mon chef a précisé, ça reste entre nous, que la société ferme.", false),
            ("Ça reste entre nous : je démissionne.", true),
            ("Mi jefa me comentó, esto queda entre nosotros, que la empresa cierra.", false),
            ("Esto queda entre nosotros: voy a renunciar.", true),
            ("O meu chefe comentou, isto fica entre nós, que a empresa fecha.", false),
            ("Isto fica entre nós: vou sair da empresa.", true),
        ] {
            assert_eq!(retracts(text), expected, "{text}");
        }
    }

    #[test]
    fn retraction_at_either_end_of_a_long_text_retracts() {
        let (filler, own) = ("I like the sea. ".repeat(4_000), "Forget what I told you.");
        assert!(retracts(&format!("{own} {filler}")));
        assert!(retracts(&format!("{filler} {own}")));
        assert!(!retracts(&filler));
        // A quotation that began in the part that is not read still goes on.
        assert!(!retracts(&format!("```\n{filler}\n{own}\n```")));
        let run_on = "and on ".repeat(4_000);
        assert!(retracts(&format!("{own} {run_on}")) && !retracts(&run_on));
    }

    #[test]
    fn introduction_is_announced_in_the_first_sentences() {
        for (text, expected) in [
            ("Hi, here is a bit about me so that I don't have to explain it.", true),
            ("Quick intro. I'm Zeynep, I run a studio.", true),
            ("Hallo, kurz zu mir. Ich heiße Rosalie.", true),
            ("I should introduce myself, the grandkids set this up.", true),
            ("Dear Sir, I am writing to apply for the job. It says a lot about me.", false),
            ("The article is about Lisbon. I liked it.", false),
        ] {
            assert_eq!(opens_introduction(text), expected, "{text}");
        }
    }
}
