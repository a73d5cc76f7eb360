//! Parses English counts of units: "three weeks", "a couple of days".

use super::calendar::Unit;
use super::english::Reader;

/// A count of units: "three", or the range that "a few" means.
#[derive(Clone, Copy)]
pub(super) struct Amount {
    pub low: i64,
    pub high: i64,
    pub end: usize,
}

impl Reader<'_> {
    pub fn amount(&self, at: usize) -> Option<Amount> {
        const VAGUE: [(&str, i64, i64); 8] = [
            ("a couple of", 2, 3),
            ("couple of", 2, 3),
            ("a couple", 2, 3),
            ("couple", 2, 3),
            ("a few", 2, 5),
            ("few", 2, 5),
            ("several", 3, 7),
            ("many", 5, 20),
        ];
        for (phrase, low, high) in VAGUE {
            if let Some(end) = self.phrase(at, phrase) {
                return Some(Amount { low, high, end });
            }
        }
        let (n, end) = self.number(at)?;
        Some(Amount { low: n, high: n, end })
    }

    /// A number in digits or words up to ninety-nine.
    fn number(&self, at: usize) -> Option<(i64, usize)> {
        if let Some(n) = self.tokens.get(at)?.number() {
            return Some((n, at + 1));
        }
        let n = small_number(self.word(at))?;
        match small_number(self.word(at + 1)) {
            Some(ones @ 1..=9) if n >= 20 && self.word(at + 1).len() > 2 => {
                Some((n + ones, at + 2))
            }
            _ => Some((n, at + 1)),
        }
    }

    pub fn unit(&self, at: usize) -> Option<Unit> {
        Some(match self.word(at) {
            "minute" | "minutes" | "mins" => Unit::Minute,
            "hour" | "hours" | "hrs" => Unit::Hour,
            "day" | "days" | "night" | "nights" => Unit::Day,
            "week" | "weeks" | "wk" | "wks" => Unit::Week,
            "month" | "months" => Unit::Month,
            "quarter" | "quarters" => Unit::Quarter,
            "year" | "years" | "yr" | "yrs" => Unit::Year,
            "decade" | "decades" => Unit::Decade,
            _ => return None,
        })
    }
}

fn small_number(word: &str) -> Option<i64> {
    const NAMES: [&str; 21] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    const TENS: [&str; 8] =
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    if matches!(word, "a" | "an") {
        return Some(1);
    }
    let place = |names: &[&str]| names.iter().position(|name| *name == word);
    let n = place(&NAMES).or_else(|| place(&TENS).map(|tens| tens * 10 + 20))?;
    i64::try_from(n).ok()
}
