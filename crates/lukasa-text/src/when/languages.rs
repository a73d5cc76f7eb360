//! Parses the most common expressions of time in German, Spanish and French by tables, one per
//! language. There is no grammar here; to support another form, add a row.
//!
//! Words are written without accents, as the tokens are.

use jiff::civil::{Date, DateTime};

use super::Reading;
use super::calendar::{
    Span, Unit, Which, coming_weekday, containing, date_of, months_of, neighbour, recent_months,
    recent_weekday, step, which_weekday, year_of,
};
use super::english::Bound;
use super::tokens::Token;

/// The meaning of a row. Numbers, units and names are those its pattern captured.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// The day this many days from today.
    Day(i64),
    /// The unit or weekday before, of or after now; with a month, that month of such a year.
    Unit(Which),
    /// The next such weekday, for a plan.
    Coming,
    /// A count of units before now, or after it.
    Ago,
    Ahead,
    /// The last `number` units, up to today.
    Rolling,
    /// The captured date, month or year, or the period that it bounds.
    Named,
    Bounded(Bound),
    /// Not an expression of time, although a part of it would be.
    Nothing,
}

use Meaning::{Ago, Ahead, Bounded, Coming, Day, Named, Nothing, Rolling};

struct Language {
    /// Common words that identify the language.
    marks: &'static [&'static str],
    /// Numbers from one on; the words of one number are separated by bars.
    numbers: &'static [&'static str],
    units: [(&'static str, Unit); 4],
    months: [&'static str; 12],
    /// From Monday.
    weekdays: [&'static str; 7],
    /// Patterns: `#` a number, `@` a unit, `M` a month, `W` a weekday, `Y` a year, `D` a day of
    /// the month, bars between alternatives.
    rows: &'static [(&'static str, Meaning)],
}

const LAST: Meaning = Meaning::Unit(Which::Last);
const THIS: Meaning = Meaning::Unit(Which::This);
const NEXT: Meaning = Meaning::Unit(Which::Next);
const SINCE: Meaning = Bounded(Bound::Since);
const BEFORE: Meaning = Bounded(Bound::Before);
const UNTIL: Meaning = Bounded(Bound::Until);
const AFTER: Meaning = Bounded(Bound::After);

/// English has its own parser; its marks prevent the tables from matching English messages.
const ENGLISH: &[&str] = &[
    "the", "i", "is", "my", "we", "you", "what", "did", "do", "how", "was", "to", "and", "of",
    "it", "that", "have", "about", "with", "for", "are", "our", "when",
];

const LANGUAGES: [&Language; 3] = [&GERMAN, &SPANISH, &FRENCH];

static GERMAN: Language = Language {
    marks: &[
        "ich", "der", "die", "das", "und", "ist", "wir", "nicht", "ein", "eine", "mit", "war",
        "habe", "hat", "was", "wie", "im", "am", "mein", "meine", "zu", "von", "auf", "bin", "du",
    ],
    numbers: &[
        "einem|einer|ein|eine",
        "zwei",
        "drei",
        "vier",
        "funf",
        "sechs",
        "sieben",
        "acht",
        "neun",
        "zehn",
        "elf",
        "zwolf",
    ],
    units: [
        ("tag|tage|tagen", Unit::Day),
        ("woche|wochen", Unit::Week),
        ("monat|monate|monaten|monats", Unit::Month),
        ("jahr|jahre|jahren|jahres", Unit::Year),
    ],
    months: [
        "januar",
        "februar",
        "marz|maerz",
        "april",
        "mai",
        "juni",
        "juli",
        "august",
        "september",
        "oktober",
        "november",
        "dezember",
    ],
    weekdays: [
        "montag",
        "dienstag",
        "mittwoch",
        "donnerstag",
        "freitag",
        "samstag|sonnabend",
        "sonntag",
    ],
    rows: &[
        ("heute", Day(0)),
        ("gestern", Day(-1)),
        ("vorgestern", Day(-2)),
        ("morgen", Day(1)),
        ("ubermorgen|uebermorgen", Day(2)),
        ("guten morgen", Nothing),
        ("am morgen", Nothing),
        ("jeden morgen", Nothing),
        ("letzte|letzten|letzter|letztes|letztem|vergangene|vergangenen|vergangenes @", LAST),
        ("letzte|letzten|letzter|vergangenen W", LAST),
        ("diese|diesen|dieser|dieses|diesem @", THIS),
        ("diesen W", THIS),
        ("nachste|nachsten|nachster|nachstes|nachstem|kommende|kommenden|kommendes @", NEXT),
        ("nachsten|kommenden W", NEXT),
        ("am W", Named),
        ("fur W", Coming),
        ("vor # @", Ago),
        ("in # @", Ahead),
        ("in den letzten|vergangenen # @", Rolling),
        ("die letzten|vergangenen # @", Rolling),
        ("seit # @", Rolling),
        ("im M", Named),
        ("im M Y", Named),
        ("im jahr|jahre Y", Named),
        ("M Y", Named),
        ("D . M", Named),
        ("D . M Y", Named),
        ("am D . M", Named),
        ("am D . M Y", Named),
        ("seit M", SINCE),
        ("seit M Y", SINCE),
        ("seit Y", SINCE),
        ("vor Y", BEFORE),
        ("vor M Y", BEFORE),
        ("bis Y", UNTIL),
        ("bis M", UNTIL),
        ("bis M Y", UNTIL),
        ("nach Y", AFTER),
        ("nach M Y", AFTER),
    ],
};

static SPANISH: Language = Language {
    marks: &[
        "el", "la", "los", "las", "que", "yo", "en", "es", "mi", "con", "por", "una", "un", "fue",
        "hace", "del", "al", "se", "lo", "me", "y", "de",
    ],
    numbers: &[
        "un|una|uno",
        "dos",
        "tres",
        "cuatro",
        "cinco",
        "seis",
        "siete",
        "ocho",
        "nueve",
        "diez",
        "once",
        "doce",
    ],
    units: [
        ("dia|dias", Unit::Day),
        ("semana|semanas", Unit::Week),
        ("mes|meses", Unit::Month),
        ("ano|anos", Unit::Year),
    ],
    months: [
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre|setiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ],
    weekdays: ["lunes", "martes", "miercoles", "jueves", "viernes", "sabado", "domingo"],
    rows: &[
        ("hoy", Day(0)),
        ("ayer", Day(-1)),
        ("anoche", Day(-1)),
        ("anteayer|antier", Day(-2)),
        ("antes de ayer", Day(-2)),
        ("manana", Day(1)),
        ("pasado manana", Day(2)),
        ("la manana", Nothing),
        ("el|la @ pasado|pasada", LAST),
        ("el W pasado", LAST),
        ("este|esta @", THIS),
        ("este W", THIS),
        ("el|la proximo|proxima @", NEXT),
        ("el proximo W", NEXT),
        ("el|la @ que viene", NEXT),
        ("el W que viene", NEXT),
        ("el W", Named),
        ("para el W", Coming),
        ("hace # @", Ago),
        ("dentro de # @", Ahead),
        ("en # @", Ahead),
        ("los|las ultimos|ultimas # @", Rolling),
        ("en los|las ultimos|ultimas # @", Rolling),
        ("desde hace # @", Rolling),
        ("en M", Named),
        ("en M de|del Y", Named),
        ("en Y", Named),
        ("en el ano Y", Named),
        ("M de|del Y", Named),
        ("D de M", Named),
        ("el D de M", Named),
        ("D de M de|del Y", Named),
        ("el D de M de|del Y", Named),
        ("desde Y", SINCE),
        ("desde M", SINCE),
        ("desde M de Y", SINCE),
        ("antes de|del Y", BEFORE),
        ("antes de M de Y", BEFORE),
        ("hasta Y", UNTIL),
        ("hasta M", UNTIL),
        ("despues de|del Y", AFTER),
    ],
};

static FRENCH: Language = Language {
    marks: &[
        "le", "les", "des", "je", "j", "est", "et", "que", "qu", "une", "avec", "nous", "vous",
        "il", "elle", "mon", "ma", "mes", "du", "ai", "la", "un", "pas", "l", "d", "c", "en", "de",
    ],
    numbers: &[
        "un|une", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze",
        "douze",
    ],
    units: [
        ("jour|jours", Unit::Day),
        ("semaine|semaines", Unit::Week),
        ("mois", Unit::Month),
        ("an|ans|annee|annees", Unit::Year),
    ],
    months: [
        "janvier",
        "fevrier",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "aout",
        "septembre",
        "octobre",
        "novembre",
        "decembre",
    ],
    weekdays: ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
    rows: &[
        ("aujourd hui", Day(0)),
        ("hier", Day(-1)),
        ("avant hier", Day(-2)),
        ("demain", Day(1)),
        ("apres demain", Day(2)),
        ("le|la|l @ dernier|derniere|passe|passee", LAST),
        ("W dernier", LAST),
        ("ce|cet|cette @", THIS),
        ("ce @ ci", THIS),
        ("ce W", THIS),
        ("le|la|l @ prochain|prochaine", NEXT),
        ("W prochain", NEXT),
        ("pour W", Coming),
        ("il y a # @", Ago),
        ("dans # @", Ahead),
        ("ces|les # derniers|dernieres @", Rolling),
        ("depuis # @", Rolling),
        ("en M", Named),
        ("en M Y", Named),
        ("en Y", Named),
        ("en l an|annee Y", Named),
        ("au mois de|d M", Named),
        ("M Y", Named),
        ("D M", Named),
        ("le D M", Named),
        ("D M Y", Named),
        ("le D M Y", Named),
        ("depuis Y", SINCE),
        ("depuis M", SINCE),
        ("depuis M Y", SINCE),
        ("avant Y", BEFORE),
        ("avant M Y", BEFORE),
        ("jusqu en Y", UNTIL),
        ("apres Y", AFTER),
    ],
};

/// Values captured by the placeholders of a pattern.
#[derive(Default, Clone, Copy)]
pub(super) struct Captures {
    pub number: Option<i64>,
    pub unit: Option<Unit>,
    pub year: Option<i64>,
    pub month: Option<i64>,
    pub day: Option<i64>,
    pub weekday: Option<i64>,
}

pub(super) fn readings(tokens: &[Token], now: DateTime) -> Vec<Reading> {
    let mut found = Vec::new();
    for language in detect_languages(tokens) {
        for at in 0..tokens.len() {
            for (pattern, meaning) in language.rows {
                let Some((end, captures)) = language.matched(pattern, &tokens[at..]) else {
                    continue;
                };
                let span = meaning_of(*meaning, captures, now.date());
                if span.is_some() || matches!(meaning, Nothing) {
                    let end = tokens[at + end - 1].end;
                    found.push(Reading { start: tokens[at].start, end, span });
                }
            }
        }
    }
    found
}

/// The languages with the most marks in the message, because one word can mean "yesterday" in
/// French and "here" in German. Without any mark every language is tried.
fn detect_languages(tokens: &[Token]) -> Vec<&'static Language> {
    let count = |marks: &[&str]| tokens.iter().filter(|t| marks.contains(&&*t.text)).count();
    let most = LANGUAGES.iter().map(|language| count(language.marks)).max().unwrap_or(0);
    if count(ENGLISH) > most {
        return Vec::new();
    }
    LANGUAGES.into_iter().filter(|language| count(language.marks) == most).collect()
}

impl Language {
    fn matched(&self, pattern: &str, tokens: &[Token]) -> Option<(usize, Captures)> {
        let mut captures = Captures::default();
        let mut at = 0;
        for part in pattern.split(' ') {
            let token = tokens.get(at)?;
            let n = token.number();
            match part {
                "#" => captures.number = Some(n.or_else(|| place(self.numbers, token))?),
                "@" => captures.unit = Some(self.unit(token)?),
                "M" => captures.month = Some(place(&self.months, token)?),
                "W" => captures.weekday = Some(place(&self.weekdays, token)? - 1),
                "Y" => captures.year = Some(n.filter(|_| token.text.len() == 4)?),
                "D" if token.text == "1er" => captures.day = Some(1),
                "D" => captures.day = Some(n.filter(|day| (1..=31).contains(day))?),
                words => words.split('|').find(|word| *word == token.text).map(|_| ())?,
            }
            at += 1;
        }
        Some((at, captures))
    }

    fn unit(&self, token: &Token) -> Option<Unit> {
        let names = |names: &str| names.split('|').any(|name| name == token.text);
        self.units.iter().find(|unit| names(unit.0)).map(|unit| unit.1)
    }
}

/// The position of the word in a list of names, from one.
fn place(names: &[&str], token: &Token) -> Option<i64> {
    let place = names.iter().position(|names| names.split('|').any(|name| name == token.text))?;
    i64::try_from(place + 1).ok()
}

pub(super) fn meaning_of(meaning: Meaning, captures: Captures, today: Date) -> Option<Span> {
    match meaning {
        Day(n) => Span::day(step(today, Unit::Day, n)?),
        Meaning::Unit(which) => match (captures.unit, captures.month) {
            (_, Some(month)) => months_of(i64::from(today.year()) + which.steps(), month, 1),
            (Some(unit), None) => neighbour(unit, today, which.steps()),
            (None, None) => which_weekday(which, captures.weekday?, today),
        },
        Coming => coming_weekday(captures.weekday?, today),
        Ago => away(captures.unit?, -captures.number?, today),
        Ahead => away(captures.unit?, captures.number?, today),
        Rolling => {
            let from = step(today, captures.unit?, -captures.number?)?;
            Some(Span::dates(from, today.tomorrow().ok()?))
        }
        Named => named(captures, today),
        Bounded(bound) => bound.of(named(captures, today)?),
        Nothing => None,
    }
}

fn away(unit: Unit, n: i64, today: Date) -> Option<Span> {
    let span = containing(unit, step(today, unit, n)?)?;
    Some(if unit == Unit::Day { span } else { span.roughly() })
}

fn named(captures: Captures, today: Date) -> Option<Span> {
    if let Some(weekday) = captures.weekday {
        return Some(recent_weekday(weekday, today)?.floating());
    }
    let Some(month) = captures.month else {
        return year_of(captures.year.filter(|year| (1000..2200).contains(year))?);
    };
    let this = i64::from(today.year());
    match (captures.day, captures.year) {
        (Some(day), Some(year)) => Span::day(date_of(year, month, day)?),
        (None, Some(year)) => months_of(year, month, 1),
        (None, None) => Some(recent_months(month, 1, today)?.floating()),
        (Some(day), None) => {
            let dates = (0..=8).filter_map(|back| date_of(this - back, month, day));
            Some(Span::day(dates.into_iter().find(|date| *date <= today)?)?.floating())
        }
    }
}
