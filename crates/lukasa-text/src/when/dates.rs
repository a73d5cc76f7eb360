//! Parses calendar expressions: dates, months, years, quarters, seasons, decades.
//!
//! Several names are ordinary words too ("may", "march", "sun", "fall"). They are parsed as dates
//! only after a preposition, with a capital, or next to another part of a date.

use super::calendar::{
    Span, Unit, date_of, first_of_year, months_of, recent_months, step, year_of,
};
use super::english::{Found, Reader, longest};

/// Things that are counted: a number before them is neither a year nor a day.
const COUNTED: [&str; 32] = [
    "dollars", "euros", "pounds", "bucks", "eur", "usd", "gbp", "people", "persons", "users",
    "items", "words", "steps", "calories", "kcal", "km", "miles", "meters", "metres", "kg",
    "grams", "times", "hours", "minutes", "seconds", "days", "weeks", "months", "years", "percent",
    "%", "points",
];

const DECADES: [(&str, i64); 7] = [
    ("thirties", 1930),
    ("forties", 1940),
    ("fifties", 1950),
    ("sixties", 1960),
    ("seventies", 1970),
    ("eighties", 1980),
    ("nineties", 1990),
];

impl Reader<'_> {
    /// `the` means that the article precedes it.
    pub fn calendar(&self, at: usize, led: bool, the: bool) -> Option<Found> {
        longest([
            self.numeric(at),
            self.day_of_month(at),
            self.month_and_year(at),
            self.bare_month(at, led),
            self.season_of_year(at, led, the),
            self.quarter(at, led || the),
            self.decade(at, the),
            self.year(at, led || the),
        ])
    }

    /// A date in digits. If day and month could be swapped, the day is assumed to come first, and
    /// the result is approximate; with dots between the numbers it always comes first.
    fn numeric(&self, at: usize) -> Option<Found> {
        let (a, mark, b) = self.pair(at)?;
        let third = self.glued(at + 3, mark).and_then(|_| self.glued_number(at + 4));
        if self.word(at).len() == 4 {
            let found = |end, span| Some(Found { end, span });
            return match third {
                Some(day) => found(at + 5, Span::day(date_of(a, b, day)?)?),
                // "2023-05" is a month, "2019-2021" a range.
                None if self.word(at + 2).len() == 2 && (1..=12).contains(&b) && mark != "." => {
                    found(at + 3, months_of(a, b, 1)?)
                }
                None => None,
            };
        }
        let Some(year) = third else {
            let year = (self.word(at + 2).len() == 4 && mark != "." && (1..=12).contains(&a))
                .then_some(b)
                .filter(|year| (1900..2100).contains(year))?;
            return Some(Found { end: at + 3, span: months_of(year, a, 1)? });
        };
        let year = match (self.word(at + 4).len(), mark) {
            (4, _) => year,
            (2, "/" | ".") => full_year(year),
            _ => return None,
        };
        let (day, month) = if b > 12 { (b, a) } else { (a, b) };
        let span = Span::day(date_of(year, month, day)?)?;
        let is_ambiguous = mark != "." && a <= 12 && b <= 12 && a != b;
        Some(Found { end: at + 5, span: if is_ambiguous { span.roughly() } else { span } })
    }

    /// Two numbers with one mark between them and nothing else.
    fn pair(&self, at: usize) -> Option<(i64, &str, i64)> {
        let first = self.tokens.get(at)?.number()?;
        // A number right after a mark is the tail of something longer.
        if self.tokens[at].glued && at > 0 && matches!(self.word(at - 1), "-" | "/" | "." | ":") {
            return None;
        }
        let mark = ["-", "/", "."].into_iter().find(|mark| self.glued(at + 1, mark).is_some())?;
        Some((first, mark, self.glued_number(at + 2)?))
    }

    fn glued(&self, at: usize, text: &str) -> Option<()> {
        self.tokens.get(at).filter(|token| token.glued && token.text == text).map(|_| ())
    }

    fn glued_number(&self, at: usize) -> Option<i64> {
        self.tokens.get(at).filter(|token| token.glued)?.number()
    }

    /// "8 May", "May 8th, 2023", "Monday, the 8th of May".
    fn day_of_month(&self, at: usize) -> Option<Found> {
        let start = match self.weekday_name(at) {
            Some(_) if self.word(at + 1) == "," => self.behind_the(at + 2),
            Some(_) => self.behind_the(at + 1),
            None => at,
        };
        let (month, day, end) =
            self.day_then_month(start).or_else(|| self.month_then_day(start))?;
        let comma = if self.word(end) == "," { end + 1 } else { end };
        if let Some((year, end)) = self.year_number(comma) {
            return Some(Found { end, span: Span::day(date_of(year, month, day)?)? });
        }
        let year = i64::from(self.today.year());
        // Eight years cover a skipped leap year.
        let recent = (0..=8)
            .filter_map(|back| date_of(year - back, month, day))
            .find(|date| *date <= self.today)?;
        Some(Found { end, span: Span::day(recent)?.floating() })
    }

    fn day_then_month(&self, at: usize) -> Option<(i64, i64, usize)> {
        let (day, end) = self.day_number(at)?;
        let month_at = match self.word(end) {
            "of" | "." => end + 1,
            _ => end,
        };
        let (month, sure) = self.month_name(month_at)?;
        // "These 3 may differ" is not about the third of May, nor is "the third may come".
        (sure || self.is_ordinal(end - 1) || month_at > end).then_some((month, day, month_at + 1))
    }

    fn month_then_day(&self, at: usize) -> Option<(i64, i64, usize)> {
        let (month, sure) = self.month_name(at)?;
        let day_at = self.behind_the(at + 1);
        let (day, end) = self.day_number(day_at)?;
        let clipped = self.tokens[day_at].clipped;
        let counted = COUNTED.contains(&self.word(end));
        let clock = matches!(self.word(end), ":" | "am" | "pm");
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        let led = matches!(
            before,
            "on" | "by" | "since" | "until" | "till" | "before" | "after" | "from" | "to"
        );
        let dated = self.year_number(end).is_some() || self.is_ordinal(day_at);
        let clear = sure || dated || led && self.tokens[day_at].number().is_some();
        (clear && !clipped && !counted && !clock).then_some((month, day, end))
    }

    /// "May 2023", "May of 2023", "May '23".
    fn month_and_year(&self, at: usize) -> Option<Found> {
        let (month, _) = self.month_name(at)?;
        let year_at = if matches!(self.word(at + 1), "of" | "," | "in") { at + 2 } else { at + 1 };
        if let Some((year, end)) = self.year_number(year_at) {
            return Some(Found { end, span: months_of(year, month, 1)? });
        }
        // "May last year"
        let last = self.phrase(at + 1, "last year").or(self.phrase(at + 1, "of last year"));
        let this = self.phrase(at + 1, "this year").or(self.phrase(at + 1, "of this year"));
        let year = i64::from(self.today.year());
        let (end, year) = last.map(|end| (end, year - 1)).or(this.map(|end| (end, year)))?;
        Some(Found { end, span: months_of(year, month, 1)? })
    }

    fn bare_month(&self, at: usize, led: bool) -> Option<Found> {
        let (month, sure) = self.month_name(at)?;
        let token = self.tokens.get(at)?;
        // After a preposition any month counts ("in may"); on its own only a full name with a
        // capital that is neither a verb nor a first name.
        let abbreviated = token.text.len() <= 4 && !matches!(&*token.text, "may" | "june" | "july");
        let first_name = matches!(&*token.text, "march" | "april" | "may" | "june" | "august");
        let alone = token.capital && sure && !abbreviated && !first_name;
        let spoken = led && (!abbreviated || token.capital);
        let span = recent_months(month, 1, self.today)?.floating();
        (spoken || alone).then_some(Found { end: at + 1, span })
    }

    fn season_of_year(&self, at: usize, led: bool, the: bool) -> Option<Found> {
        let (month, count) = self.season(at)?;
        let year_at = if matches!(self.word(at + 1), "of" | "in") { at + 2 } else { at + 1 };
        if let Some((year, end)) = self.year_number(year_at) {
            return Some(Found { end, span: months_of(year, month, count)?.roughly() });
        }
        // "In spring" may be a framework and "in fall" a movement; the article decides.
        let clear = led && (the || matches!(self.word(at), "summer" | "winter" | "autumn"));
        let span = recent_months(month, count, self.today)?.floating();
        clear.then_some(Found { end: at + 1, span })
    }

    /// First month and length of a season on the northern hemisphere, by the meteorological
    /// calendar.
    pub fn season(&self, at: usize) -> Option<(i64, i64)> {
        Some(match self.word(at) {
            "spring" | "springtime" => (3, 3),
            "summer" | "summertime" => (6, 3),
            "autumn" | "fall" => (9, 3),
            "winter" | "wintertime" => (12, 3),
            _ => return None,
        })
    }

    /// "Q3 2024", "the third quarter of 2023", "H1 2024".
    fn quarter(&self, at: usize, led: bool) -> Option<Found> {
        if let Some((year, end)) = self.year_number(at)
            && let Some((month, count, end, _)) = self.quarter_name(end)
        {
            return Some(Found { end, span: months_of(year, month, count)? });
        }
        let (month, count, end, short) = self.quarter_name(at)?;
        let year_at = if matches!(self.word(end), "of" | "in" | ",") { end + 1 } else { end };
        if let Some((year, end)) = self.year_number(year_at) {
            return Some(Found { end, span: months_of(year, month, count)? });
        }
        let span = recent_months(month, count, self.today)?.floating();
        (count == 3 && (short || led)).then_some(Found { end, span })
    }

    fn quarter_name(&self, at: usize) -> Option<(i64, i64, usize, bool)> {
        Some(match (self.word(at), self.word(at + 1)) {
            ("q1", _) => (1, 3, at + 1, true),
            ("q2", _) => (4, 3, at + 1, true),
            ("q3", _) => (7, 3, at + 1, true),
            ("q4", _) => (10, 3, at + 1, true),
            ("h1", _) => (1, 6, at + 1, true),
            ("h2", _) => (7, 6, at + 1, true),
            ("first" | "1st", "quarter") => (1, 3, at + 2, false),
            ("second" | "2nd", "quarter") => (4, 3, at + 2, false),
            ("third" | "3rd", "quarter") => (7, 3, at + 2, false),
            ("fourth" | "4th", "quarter") => (10, 3, at + 2, false),
            ("last" | "final", "quarter") if self.word(at + 2) == "of" => (10, 3, at + 2, false),
            _ => return None,
        })
    }

    /// "the 90s", "the nineties", "1990s". Without the article a short one is an age.
    fn decade(&self, at: usize, the: bool) -> Option<Found> {
        let (at, part) = match self.word(at) {
            "early" => (at + 1, Some(0)),
            "mid" => (at + 1, Some(1)),
            "late" => (at + 1, Some(2)),
            _ => (at, None),
        };
        let named = DECADES.iter().find(|(name, _)| *name == self.word(at)).map(|found| found.1);
        let digits = self.word(at).strip_suffix('s').filter(|digits| digits.ends_with('0'));
        let first = match (named, digits.map(str::len), digits.and_then(|d| d.parse().ok())) {
            (Some(first), ..) if the => first,
            (None, Some(4), Some(first)) if (1000..2100).contains(&first) => first,
            (None, Some(2), Some(short @ 30..)) if the => 1900 + short,
            (None, Some(2), Some(short)) if the => 2000 + short,
            _ => return None,
        };
        let from = first_of_year(first)?;
        let span = Span::dates(from, step(from, Unit::Year, 10)?);
        let span = match part {
            Some(index) => span.slice(index, 3)?,
            None => span,
        };
        Some(Found { end: at + 1, span })
    }

    /// A year on its own. It needs an introducing word before it, and no counted thing after it.
    fn year(&self, at: usize, led: bool) -> Option<Found> {
        let named = self.phrase(at, "year");
        let (year, end) = self.year_number(named.unwrap_or(at))?;
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        let owned = matches!(before, "my" | "our" | "your" | "his" | "her" | "their");
        let opens = matches!(before, "" | "." | "!" | "?" | "(");
        let modern = (1900..2100).contains(&year);
        // "About 1500" and "over 2000" count something; "for 2024" is a year, "for 1500" a price.
        let counts = matches!(before, "about" | "around" | "over" | "at" | "on" | "within");
        let led = led && !counts && (modern || !matches!(before, "for" | "of"));
        let clear = named.is_some() || led || modern && (owned || opens);
        let behind = self.word(end);
        let hangs = matches!(behind, "." | "/" | ":" | "-")
            && self.tokens.get(end + 1).is_some_and(|next| next.glued && next.is_word());
        let range = behind == "-" && self.year_number(end + 1).is_some();
        let counted = COUNTED.contains(&behind) || self.tokens.get(at)?.glued && before == "$";
        (clear && !counted && (!hangs || range)).then_some(Found { end, span: year_of(year)? })
    }

    /// A year in four digits, or in two after an apostrophe.
    pub fn year_number(&self, at: usize) -> Option<(i64, usize)> {
        let token = self.tokens.get(at)?;
        let n = token.number()?;
        match token.text.len() {
            4 if (1000..2200).contains(&n) => Some((n, at + 1)),
            2 if token.clipped => Some((full_year(n), at + 1)),
            _ => None,
        }
    }

    /// "8", "8th" or "eighth", and the position after it.
    pub fn day_number(&self, at: usize) -> Option<(i64, usize)> {
        const ORDINALS: [&str; 12] = [
            "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
            "tenth", "eleventh", "twelfth",
        ];
        let at = self.behind_the(at);
        let word = self.word(at);
        let day = match ORDINALS.iter().position(|name| *name == word) {
            Some(place) => i64::try_from(place + 1).ok()?,
            None => {
                let endings = ["st", "nd", "rd", "th"];
                let digits = endings.iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
                digits.parse().ok().filter(|_| digits.len() <= 2)?
            }
        };
        (1..=31).contains(&day).then_some((day, at + 1))
    }

    /// Whether the word is like "8th", which unlike "8" and "third" is almost always a day.
    pub fn is_ordinal(&self, at: usize) -> bool {
        let word = self.word(at);
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.ends_with(|c: char| !c.is_ascii_digit())
    }

    /// The month, and whether the word as written is unambiguous.
    pub fn month_name(&self, at: usize) -> Option<(i64, bool)> {
        const NAMES: [[&str; 3]; 12] = [
            ["january", "jan", ""],
            ["february", "feb", ""],
            ["march", "mar", ""],
            ["april", "apr", ""],
            ["may", "", ""],
            ["june", "jun", ""],
            ["july", "jul", ""],
            ["august", "aug", ""],
            ["september", "sep", "sept"],
            ["october", "oct", ""],
            ["november", "nov", ""],
            ["december", "dec", ""],
        ];
        let token = self.tokens.get(at).filter(|token| token.is_word())?;
        let place = NAMES.iter().position(|names| names.contains(&token.text.as_str()))?;
        let sure = token.capital || !matches!(&*token.text, "may" | "march" | "mar" | "august");
        Some((i64::try_from(place + 1).ok()?, sure))
    }

    /// Days from Monday, and whether the word is unambiguous.
    pub fn weekday_name(&self, at: usize) -> Option<(i64, bool)> {
        const NAMES: [[&str; 4]; 7] = [
            ["monday", "mon", "", ""],
            ["tuesday", "tue", "tues", ""],
            ["wednesday", "wed", "", ""],
            ["thursday", "thu", "thur", "thurs"],
            ["friday", "fri", "", ""],
            ["saturday", "sat", "", ""],
            ["sunday", "sun", "", ""],
        ];
        let token = self.tokens.get(at).filter(|token| token.is_word())?;
        let place = NAMES.iter().position(|names| names.contains(&token.text.as_str()))?;
        let full = token.text.len() > 5;
        (full || token.capital).then_some((i64::try_from(place).ok()?, full))
    }
}

fn full_year(short: i64) -> i64 {
    if short < 70 { 2000 + short } else { 1900 + short }
}
