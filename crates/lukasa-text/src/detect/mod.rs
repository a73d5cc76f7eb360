//! Detects which domains a message is about, from its words alone.
//!
//! A keyword router: it decides which blocks of memory are worth offering, so it must be fast,
//! explainable and deterministic. It sees one message and a list of words, never a memory, and
//! calls no model. Uncertain domains are left out.

mod vocabulary;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::word::{Word, words};

/// Weight of a phrase of several words: it is more specific than a single word.
const PHRASE_WEIGHT: f32 = 1.5;
const WORD_WEIGHT: f32 = 1.0;
/// Weight of one word of a tenant domain's name of several words.
const NAME_PART_WEIGHT: f32 = 0.5;

/// Lower bound of a score. A word shared by three domains alone stays below it.
const MIN_SCORE: f32 = 0.45;
/// Domains below this share of the best score are dropped as chance matches.
const MIN_SHARE_OF_BEST: f32 = 0.34;
/// How many domains a message is about, unless the next scores nearly as high.
const MAX_DOMAINS: usize = 2;
/// Further domains count if they reach this share of the score of the last one above.
const NEAR_TIE_SHARE: f32 = 0.9;

/// Lower bound of the score at which a memory of these words is filed under the domain without a
/// question. A word that two domains share stays below it.
const MIN_CLEAR_SCORE: f32 = 0.6;

/// A domain that a message is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DetectedDomain {
    pub domain: String,
    /// The sum of the weights of the distinct words found, each divided by the number of domains it
    /// belongs to. Comparable only between the domains of one message.
    pub score: f32,
    /// The matched words, as written.
    pub words: Vec<String>,
}

impl DetectedDomain {
    /// Whether the words are enough to file a memory under the domain.
    pub fn is_clear(&self) -> bool {
        self.score >= MIN_CLEAR_SCORE
    }
}

/// The vocabularies of all domains, prepared for lookup.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    /// Maps a phrase, as stems separated by spaces, to its domains and weights.
    phrases: BTreeMap<String, BTreeMap<String, f32>>,
    /// The number of words in the longest phrase.
    longest: usize,
}

impl Detector {
    /// Builds a detector from the vocabulary of each domain: words or phrases as people write them.
    pub fn new<'a, V>(vocabularies: impl IntoIterator<Item = (&'a str, V)>) -> Self
    where
        V: IntoIterator<Item: AsRef<str>>,
    {
        let mut detector = Self::default();
        for (domain, phrases) in vocabularies {
            for phrase in phrases {
                detector.add(domain, phrase.as_ref(), 1.0);
            }
        }
        detector
    }

    /// The names of the built-in domains.
    pub fn builtin_domains() -> impl Iterator<Item = &'static str> {
        vocabulary::BUILTIN.into_iter().map(|(name, _)| name)
    }

    /// The built-in domains with their words in every language.
    pub fn builtin() -> Self {
        let mut detector = Self::new(vocabulary::BUILTIN);
        for phrase in vocabulary::NEUTRAL {
            detector.entry(&phrase);
        }
        detector
    }

    /// Adds further domains, each with its name and its displayed name. Each word of a name of
    /// several words counts for the domain too, with less weight. Built-in domains have their own
    /// vocabulary, and some of their names ("work") are too common to be in it.
    #[must_use]
    pub fn with_domains<'a>(
        mut self,
        domains: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        for (domain, displayed) in domains {
            for name in [domain, displayed] {
                self.add(domain, name, 1.0);
                let parts: Vec<_> = words(name).into_iter().filter(is_distinctive).collect();
                for part in parts.iter().filter(|_| parts.len() > 1) {
                    self.add(domain, &part.text, NAME_PART_WEIGHT);
                }
            }
        }
        self
    }

    fn add(&mut self, domain: &str, phrase: &str, share: f32) {
        let weight = share * if words(phrase).len() > 1 { PHRASE_WEIGHT } else { WORD_WEIGHT };
        if let Some(domains) = self.entry(phrase) {
            let known = domains.entry(domain.to_owned()).or_insert(weight);
            *known = known.max(weight);
        }
    }

    /// The domains of a phrase; an empty entry is added if it is new.
    fn entry(&mut self, phrase: &str) -> Option<&mut BTreeMap<String, f32>> {
        let stems: Vec<_> = words(phrase).iter().map(|word| stem(&word.text)).collect();
        self.longest = self.longest.max(stems.len());
        (!stems.is_empty()).then(|| self.phrases.entry(stems.join(" ")).or_default())
    }

    /// The domains `text` is about, best first: the best two, and more only while they score within
    /// a tenth of the second. Empty if no word matches.
    pub fn detect(&self, text: &str) -> Vec<DetectedDomain> {
        let mut found: Vec<_> = self.scores(text).into_values().collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.domain.cmp(&b.domain)));
        let best = found.first().map_or(0.0, |best| best.score);
        let near_tie =
            found.get(MAX_DOMAINS - 1).map_or(0.0, |second| second.score * NEAR_TIE_SHARE);
        found.retain(|one| one.score >= MIN_SCORE.max(best * MIN_SHARE_OF_BEST));
        let kept = found
            .iter()
            .enumerate()
            .take_while(|(i, one)| *i < MAX_DOMAINS || one.score >= near_tie);
        let kept = kept.count();
        found.truncate(kept);
        found
    }

    /// Scores each domain. Matches the longest known phrase from left to right: in "credit card"
    /// the word "card" is not counted again. A phrase counts once, however often it occurs.
    fn scores(&self, text: &str) -> BTreeMap<&str, DetectedDomain> {
        let message = words(text);
        let stems: Vec<_> = message.iter().map(|word| stem(&word.text)).collect();
        let mut seen = BTreeSet::new();
        let mut scores: BTreeMap<&str, DetectedDomain> = BTreeMap::new();
        let mut at = 0;
        while at < message.len() {
            let Some((length, phrase, domains)) = self.longest_at(&stems[at..]) else {
                at += 1;
                continue;
            };
            let written = written(text, &message[at..at + length]);
            at += length;
            if !seen.insert(phrase) {
                continue;
            }
            for (domain, weight) in domains {
                let detected = scores.entry(domain).or_insert_with(|| DetectedDomain {
                    domain: domain.clone(),
                    score: 0.0,
                    words: Vec::new(),
                });
                detected.score += weight / domains.len() as f32;
                detected.words.push(written.clone());
            }
        }
        scores
    }

    fn longest_at(&self, stems: &[String]) -> Option<(usize, &str, &BTreeMap<String, f32>)> {
        (1..=self.longest.min(stems.len())).rev().find_map(|length| {
            let (phrase, domains) = self.phrases.get_key_value(&stems[..length].join(" "))?;
            Some((length, phrase.as_str(), domains))
        })
    }
}

fn written(text: &str, words: &[Word]) -> String {
    let range = words.first().zip(words.last()).map(|(first, last)| first.start..last.end);
    range.and_then(|range| text.get(range)).unwrap_or_default().to_owned()
}

/// Whether a word of a name can represent the whole name. Stop words cannot.
fn is_distinctive(word: &Word) -> bool {
    const STOP_WORDS: [&str; 22] = [
        "and", "the", "of", "my", "our", "your", "his", "her", "their", "for", "with", "about",
        "all", "other", "general", "und", "der", "die", "das", "et", "les", "los",
    ];
    word.text.chars().count() > 2 && !STOP_WORDS.contains(&word.text.as_str())
}

/// A word without its most common English endings. Crude on purpose: it only has to map "bill",
/// "bills" and "billed" to the same stem, and both sides of every comparison are stemmed. An ending
/// is kept if fewer than four letters would be left, so that "wedding" does not match "Wed".
fn stem(word: &str) -> String {
    let word = singular(word);
    let cut = |ending: &str| word.strip_suffix(ending).map(undoubled).filter(|rest| rest.len() > 3);
    let stem = cut("ing").or_else(|| cut("ed")).unwrap_or(&word);
    stem.strip_suffix('e').filter(|rest| rest.len() > 2).unwrap_or(stem).to_owned()
}

fn singular(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() > 2) {
        return format!("{rest}y");
    }
    if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word.to_owned();
    }
    let sibilant = word.strip_suffix("es").filter(|rest| ends_in_sibilant(rest));
    let plain = word.strip_suffix('s').filter(|rest| rest.len() > 2);
    sibilant.or(plain).unwrap_or(word).to_owned()
}

/// Removes a doubled final consonant: "shopp" becomes "shop", but "bill" stays.
fn undoubled(word: &str) -> &str {
    let mut last = word.chars().rev();
    match (last.next(), last.next()) {
        (Some(a), Some(b)) if a == b && !matches!(a, 'l' | 's' | 'e') && a.is_ascii() => {
            &word[..word.len() - 1]
        }
        _ => word,
    }
}

fn ends_in_sibilant(rest: &str) -> bool {
    ["s", "x", "z", "ch", "sh"].iter().any(|end| rest.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domains(text: &str) -> Vec<String> {
        Detector::builtin().detect(text).into_iter().map(|found| found.domain).collect()
    }

    #[track_caller]
    fn assert_domains(cases: &[(&str, &[&str])]) {
        let wrong: Vec<_> = cases
            .iter()
            .filter(|(text, expected)| domains(text) != *expected)
            .map(|(text, expected)| {
                format!(
                    "{text:?}: expected {expected:?}, found {:?}",
                    Detector::builtin().detect(text)
                )
            })
            .collect();
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    #[test]
    fn builtin_vocabularies_are_of_similar_size() {
        for (name, phrases) in vocabulary::BUILTIN {
            let count = phrases.entries().len();
            assert!((110..=190).contains(&count), "{name} has {count}");
        }
    }

    #[test]
    fn builtin_phrases_are_found_in_a_message() {
        let (stems, neutral) = (Detector::builtin().phrases, vocabulary::NEUTRAL);
        for phrase in vocabulary::BUILTIN.into_iter().flat_map(|(_, list)| list).chain(neutral) {
            let own: Vec<_> = words(&phrase).iter().map(|word| stem(&word.text)).collect();
            assert!(stems.contains_key(&own.join(" ")), "{phrase}");
            let found = Detector::new([("a", [phrase.as_str()])]).detect(&format!("My {phrase}."));
            assert_eq!(found.len(), 1, "{phrase}");
        }
    }

    #[test]
    fn detector_finds_the_domain_of_a_message() {
        assert_domains(&[
            ("keep your replies short, I like bullet points", &["communication"]),
            ("draft an email in a formal tone", &["communication"]),
            ("how much is left on the mortgage?", &["finance"]),
            ("should I invest in an ETF or pay off the credit card", &["finance"]),
            ("did I file my tax return", &["finance"]),
            ("what should I cook, I'm vegetarian", &["food"]),
            ("find a sushi restaurant", &["food"]),
            ("I don't like spicy dishes", &["food"]),
            ("my blood pressure medication dose changed", &["health"]),
            ("I had a migraine again, should I see a doctor", &["health"]),
            ("when do I usually work out?", &["health"]),
            ("which guitar songs am I learning", &["personal"]),
            ("Lives in Lisbon", &["personal"]),
            ("User lives in a flat in Lisbon.", &["personal"]),
            ("Learns Portuguese, level B1", &["personal"]),
            ("Plays the viola in an amateur quartet", &["personal"]),
            ("Swims on Tuesday and Thursday", &["personal"]),
            ("Has a sister called Ana who lives in Porto", &["relationships"]),
            ("Likes short answers.", &["communication"]),
            ("Likes answers short, with the reason first", &["communication"]),
            ("Saves for a flat in Graça", &["finance"]),
            ("I want to retire at age 55", &["finance"]),
            ("Flies to Porto every other Friday", &["travel"]),
            ("Works nights as a nurse", &["work"]),
            ("my favourite movie of all time", &["personal"]),
            ("what did my sister's husband say", &["relationships"]),
            ("my girlfriend and I broke up", &["relationships"]),
            ("our wedding anniversary", &["relationships"]),
            ("I fast during Ramadan", &["religion"]),
            ("which church do I go to for prayers", &["religion"]),
            ("put an appointment in my calendar", &["schedule"]),
            ("remind me about the deadline", &["schedule"]),
            ("I bought new shoes and want a refund", &["shopping"]),
            ("what's my shoe size for Amazon orders", &["shopping"]),
            ("book a flight with a window seat", &["travel"]),
            ("do I need a visa for the trip", &["travel"]),
            ("which hotel did I stay in", &["travel"]),
            ("my boss wants the presentation for the client", &["work"]),
            ("how do we deploy the backend", &["work"]),
            ("the code review for my colleague", &["work"]),
        ]);
    }

    #[test]
    fn detector_finds_the_domain_of_a_german_french_or_spanish_message() {
        assert_domains(&[
            ("Schreib die Antwort bitte höflich", &["communication"]),
            ("Wie hoch sind die Zinsen für den Kredit?", &["finance"]),
            ("Was koche ich heute zum Abendessen?", &["food"]),
            ("Ich habe wieder Kopfschmerzen und brauche einen Arzt", &["health"]),
            ("Welche Lieder übe ich auf der Gitarre?", &["personal"]),
            ("Wohnt in Lissabon", &["personal"]),
            ("Arbeitet als Pflegerin in der Nachtschicht", &["work"]),
            ("Spart auf ein Auto", &["finance"]),
            ("Habite à Lyon", &["personal"]),
            ("Vive en Sevilla", &["personal"]),
            ("Was wünscht sich meine Schwester zur Hochzeit?", &["relationships"]),
            ("Wann ist der Gottesdienst in der Kirche?", &["religion"]),
            ("Verschiebe den Termin auf das Wochenende", &["schedule"]),
            ("Ich habe neue Schuhe gekauft", &["shopping"]),
            ("Buche einen Flug mit Fensterplatz", &["travel"]),
            ("Mein Chef will mehr Projekte", &["work"]),
            ("Rédige une réponse concise", &["communication"]),
            ("Combien d'épargne après les impôts ?", &["finance"]),
            ("Une recette végétarienne pour le dîner", &["food"]),
            ("Quel médicament contre la douleur ?", &["health"]),
            ("Quelles chansons à la guitare ?", &["personal"]),
            ("Un repas avec ma belle-mère et ma sœur", &["relationships", "food"]),
            ("À quelle heure est la prière à la mosquée ?", &["religion"]),
            ("Rappelle-moi le rendez-vous", &["schedule"]),
            ("J'ai acheté des chaussures trop chères", &["shopping"]),
            ("Un billet d'avion pour les vacances", &["travel"]),
            ("Mon patron veut que je travaille plus", &["work"]),
            ("Redacta una respuesta corta", &["communication"]),
            ("¿Cuánto pago de hipoteca y de impuestos?", &["finance"]),
            ("Una receta sin gluten para la cena", &["food"]),
            ("Tengo fiebre y dolor de cabeza", &["health"]),
            ("¿Qué canciones toco con la guitarra?", &["personal"]),
            ("El cumpleaños de mi hermana y mi abuelo", &["relationships"]),
            ("La misa del domingo en la iglesia", &["religion"]),
            ("Pon una cita en mi calendario", &["schedule"]),
            ("Devuelve los zapatos, son caros y no me gusta su color", &["shopping"]),
            ("Reserva un vuelo con asiento de ventanilla", &["travel"]),
            ("La presentación para mi jefa", &["work"]),
            ("Danke, weiter so", &[]),
            ("Gott sei Dank!", &[]),
            ("Merci, continue", &[]),
            ("Gracias, sigue", &[]),
        ]);
    }

    #[test]
    fn words_of_other_languages_do_not_mislead_english_messages() {
        assert_domains(&[
            ("he lied to me about it", &[]),
            ("a couple of things are a mess", &[]),
            ("fill it in and mark it", &[]),
            ("read vol. 2, it is patron saints all over", &[]),
            ("what is the plan?", &[]),
            ("my son sat on a plane", &["relationships", "travel"]),
        ]);
    }

    #[test]
    fn detector_finds_no_domain_without_matching_words() {
        assert_domains(&[
            ("thanks, go on", &[]),
            ("yes", &[]),
            ("what do you mean?", &[]),
            ("can you explain that again", &[]),
            ("", &[]),
            ("¿?! 1 2 3", &[]),
            ("see you on Wed", &[]),
            ("how does this work?", &[]),
            ("does this work as a filter", &[]),
            ("when does the page go live in Europe", &[]),
            ("is it live in production", &[]),
            ("what did we learn from it", &[]),
            ("save it for later", &[]),
            ("nice to meet you, in order to start", &[]),
        ]);
    }

    #[test]
    fn detector_finds_two_domains() {
        assert_domains(&[
            ("book a flight and keep it under my budget", &["finance", "travel"]),
            ("dinner with my parents", &["food", "relationships"]),
            ("email my boss", &["communication", "work"]),
            ("buy a guitar", &["personal", "shopping"]),
            ("halal restaurants", &["food", "religion"]),
            ("move the meeting", &["schedule"]),
            ("the meeting", &["schedule", "work"]),
        ]);
    }

    #[test]
    fn detector_returns_more_than_two_domains_only_on_near_ties() {
        let equal = domains("hotel, mortgage and guitar");
        assert_eq!(equal, ["finance", "personal", "travel"]);
        let unequal = domains("hotel and flight, mortgage and tax, guitar");
        assert_eq!(unequal, ["finance", "travel"]);
    }

    #[test]
    fn detector_drops_chance_matches_beside_a_clear_domain() {
        let found =
            domains("the hotel near the airport, the flight, my passport and the train song");
        assert_eq!(found, ["travel"]);
    }

    #[test]
    fn word_of_several_domains_counts_less() {
        let found = Detector::builtin().detect("salary and promotion");
        assert_eq!((found.len(), found[0].domain.as_str(), found[0].score), (1, "work", 1.5));
        assert_eq!(found[0].words, ["salary", "promotion"]);
    }

    #[test]
    fn words_of_one_domain_are_clear() {
        let clear = |text: &str| Detector::builtin().detect(text).first().map(|d| d.is_clear());
        assert_eq!(clear("a window seat"), Some(true));
        assert_eq!(clear("the meeting"), Some(false));
    }

    #[test]
    fn detector_counts_words_once_and_prefers_phrases() {
        let detector =
            Detector::new([("a", ["card"].as_slice()), ("b", ["credit card"].as_slice())]);
        let found = detector.detect("Credit cards, a credit card!");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].score, &found[0].words), (1.5, &vec!["Credit cards".to_owned()]));
    }

    #[test]
    fn tenant_domains_are_detected_by_name() {
        let domains = [("dog-training", "Dogs & their training"), ("ryori", "料理")];
        let detector = Detector::builtin().with_domains(domains);
        let first = |text: &str| detector.detect(text).first().map(|found| found.domain.clone());
        assert_eq!(first("notes on dog training").as_deref(), Some("dog-training"));
        assert_eq!(first("the training").as_deref(), Some("dog-training"));
        assert_eq!(first("今日の料理は").as_deref(), Some("ryori"));
        assert_eq!(first("their own"), None);
    }

    #[test]
    fn stemming_cuts_endings_except_of_short_words() {
        for (a, b) in [
            ("bills", "billed"),
            ("meetings", "meeting"),
            ("shopping", "shop"),
            ("budgeting", "budget"),
            ("hobbies", "hobby"),
            ("recipes", "recipe"),
            ("invested", "investing"),
            ("churches", "church"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
        for (a, b) in [("wedding", "wed"), ("bus", "bu"), ("class", "clas"), ("king", "k")] {
            assert_ne!(stem(a), stem(b), "{a} {b}");
        }
    }
}
