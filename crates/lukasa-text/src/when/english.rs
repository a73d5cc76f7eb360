//! Parses English expressions of time that are relative to now, and the words that bound them
//! ("since", "between"). Calendar expressions are parsed in [`super::dates`].
//!
//! Every function parses at one token and returns the position after the match. None is recursive,
//! so no message can overflow the stack.

use jiff::civil::{Date, DateTime, time};

use super::Reading;
use super::calendar::{
    Span, Unit, Which, coming_weekday, containing, midnight, neighbour, recent_weekday, step,
    step_time, weekend, which_months, which_weekday,
};
use super::counts::Amount;
use super::tokens::Token;

/// A match: the span, and the position after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub end: usize,
    pub span: Span,
}

#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub tokens: &'a [Token],
    pub now: DateTime,
    pub today: Date,
}

pub(super) fn readings(tokens: &[Token], now: DateTime) -> Vec<Reading> {
    let reader = Reader { tokens, now, today: now.date() };
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        // "Every Monday" means no particular Monday.
        if at > 0 && matches!(reader.word(at - 1), "every" | "each" | "per" | "any") {
            continue;
        }
        if let Some(reading) = reader.expression(at)
            && let Some(last) = tokens.get(reading.end - 1)
        {
            let (start, end) = (tokens[at].start, last.end);
            found.push(Reading { start, end, span: Some(reading.span) });
        }
    }
    found
}

impl Reader<'_> {
    pub fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text.as_str())
    }

    /// The position after `phrase`, if it is at this position.
    pub fn phrase(&self, at: usize, phrase: &str) -> Option<usize> {
        phrase.split(' ').try_fold(at, |at, word| (self.word(at) == word).then_some(at + 1))
    }

    pub fn behind_the(&self, at: usize) -> usize {
        if self.word(at) == "the" { at + 1 } else { at }
    }

    fn expression(&self, at: usize) -> Option<Found> {
        longest([self.bounded(at), self.range(at), self.led(at), self.point(at, false)])
    }

    /// "since X", "before X", "until X", "after X".
    fn bounded(&self, at: usize) -> Option<Found> {
        const BOUNDS: [(&str, Bound); 16] = [
            ("ever since", Bound::Since),
            ("since", Bound::Since),
            ("starting in", Bound::Since),
            ("starting from", Bound::Since),
            ("as of", Bound::Since),
            ("before", Bound::Before),
            ("prior to", Bound::Before),
            ("earlier than", Bound::Before),
            ("until", Bound::Until),
            ("till", Bound::Until),
            ("up until", Bound::Until),
            ("up to", Bound::Until),
            ("by", Bound::Until),
            ("no later than", Bound::Until),
            ("after", Bound::After),
            ("later than", Bound::After),
        ];
        longest(BOUNDS.map(|(phrase, bound)| {
            let inner = self.point(self.phrase(at, phrase)?, true)?;
            Some(Found { end: inner.end, span: bound.of(inner.span)? })
        }))
        .or_else(|| self.onwards(at))
    }

    /// "from X on", "from X onwards".
    fn onwards(&self, at: usize) -> Option<Found> {
        let inner = self.point(self.phrase(at, "from")?, true)?;
        let onwards = matches!(self.word(inner.end), "on" | "onward" | "onwards" | "forward");
        let span = Bound::Since.of(inner.span)?;
        onwards.then_some(Found { end: inner.end + 1, span })
    }

    /// "between X and Y", "from X to Y", "X - Y".
    fn range(&self, at: usize) -> Option<Found> {
        let lead = self.word(at);
        let start = if matches!(lead, "between" | "from" | "in" | "during") { at + 1 } else { at };
        let led = start > at || self.tokens.get(at).is_some_and(|token| token.capital);
        let first = self.point(start, led);
        let from = self.day_number(start).filter(|_| first.is_none() && start > at);
        let joint = first.map(|found| found.end).or(from.map(|(_, end)| end))?;
        let joined = match self.word(joint) {
            "and" => lead == "between",
            "to" | "until" | "till" | "through" | "thru" | "-" | "\u{2013}" | "\u{2014}" => {
                lead != "between"
            }
            _ => false,
        };
        if !joined {
            return None;
        }
        match (first, from) {
            (Some(first), _) => self
                .range_end(start, first, joint + 1)
                .or_else(|| self.days_of_month(first, joint + 1)),
            (None, Some((day, _))) => {
                let last = self.point(joint + 1, true).filter(|found| found.span.is_one_day())?;
                let first = last.span.first_day()?.with().day(i8::try_from(day).ok()?);
                let first =
                    Span { floating: last.span.floating, ..Span::day(first.build().ok()?)? };
                Some(Found { end: last.end, span: first.up_to(&last.span) })
            }
            (None, None) => None,
        }
    }

    /// The range from `first` to the expression at `at`. If only one end gives its year, it applies
    /// to both: "between May and July 2023", "from March 2023 to May".
    fn range_end(&self, start: usize, first: Found, at: usize) -> Option<Found> {
        let last = self.point(at, true)?;
        let end = last.end;
        let (first, last) = if first.span.floating {
            let reader = Reader { today: last.span.last_day()?, ..*self };
            (reader.point(start, true)?.span, last.span)
        } else if last.span.floating {
            let today = step(step(first.span.first_day()?, Unit::Year, 1)?, Unit::Day, -1)?;
            (first.span, Reader { today, ..*self }.point(at, true)?.span)
        } else {
            (first.span, last.span)
        };
        Some(Found { end, span: first.up_to(&last) }).filter(|found| in_order(&found.span))
    }

    /// "May 3-8", "May 3 to 8, 2023": the end is a day of the month already named.
    fn days_of_month(&self, first: Found, at: usize) -> Option<Found> {
        if !first.span.is_one_day() {
            return None;
        }
        let (day, end) = self.day_number(at)?;
        let comma = if self.word(end) == "," { end + 1 } else { end };
        let (year, end) = match self.year_number(comma) {
            Some((year, end)) => (Some(i16::try_from(year).ok()?), end),
            None => (None, end),
        };
        let from = first.span.first_day()?;
        let from = from.with().year(year.unwrap_or(from.year())).build().ok()?;
        let until = from.with().day(i8::try_from(day).ok()?).build().ok()?;
        let span = Span::dates(from, until.tomorrow().ok()?);
        let span = if year.is_some() { span } else { first.span.up_to(&span) };
        Some(Found { end, span }).filter(|found| in_order(&found.span))
    }

    /// An expression after a preposition, which also allows names that are ordinary words.
    fn led(&self, at: usize) -> Option<Found> {
        let about = matches!(self.word(at), "around" | "about" | "circa");
        let leads = about
            || matches!(
                self.word(at),
                "in" | "on" | "at" | "during" | "over" | "for" | "of" | "throughout" | "within"
            );
        if !leads {
            return None;
        }
        let point = self.point(at + 1, true);
        let found = longest([self.ahead(at), self.the_nth(at), point, self.for_weekday(at)])?;
        let span = if about { found.span.roughly() } else { found.span };
        Some(Found { span, ..found })
    }

    /// "for Friday", "for Friday evening": a plan, so the next one.
    fn for_weekday(&self, at: usize) -> Option<Found> {
        let at = self.phrase(at, "for")?;
        self.weekday(at, true)?;
        let span = coming_weekday(self.weekday_name(at)?.0, self.today)?;
        let found = Found { end: at + 1, span };
        Some(self.time_of_day(found).unwrap_or(found))
    }

    /// "on the 8th": the most recent such day.
    fn the_nth(&self, at: usize) -> Option<Found> {
        let start = self.phrase(at, "on the")?;
        let (day, end) = self.day_number(start).filter(|_| self.is_ordinal(start))?;
        let this = self.today.first_of_month();
        let span = [0, -1, -2].into_iter().find_map(|back| {
            let month = step(this, Unit::Month, back)?;
            let date = month.with().day(i8::try_from(day).ok()?).build().ok()?;
            (date <= self.today).then_some(date)
        });
        Some(Found { end, span: Span::day(span?)?.floating() })
    }

    /// One expression without its bounds. `led` means that a word before it makes clear that a time
    /// is meant.
    pub fn point(&self, at: usize, led: bool) -> Option<Found> {
        let found = longest([self.part(at), self.whole(at, led)])?;
        Some(self.time_of_day(found).unwrap_or(found))
    }

    fn whole(&self, at: usize, led: bool) -> Option<Found> {
        let the = self.word(at) == "the";
        let start = if the { at + 1 } else { at };
        longest([
            self.fixed(start),
            self.relative(start, the),
            self.rolling(start),
            self.ago(start),
            self.calendar(start, led, the),
            self.weekday(start, led).filter(|_| !the),
            self.the_weekend(start).filter(|_| the),
        ])
    }

    fn fixed(&self, at: usize) -> Option<Found> {
        const DAYS: [(&str, i64); 7] = [
            ("today", 0),
            ("yesterday", -1),
            ("tomorrow", 1),
            ("tmrw", 1),
            ("day before yesterday", -2),
            ("day after tomorrow", 2),
            ("earlier today", 0),
        ];
        const UNITS: [(&str, Unit); 4] = [
            ("week", Unit::Week),
            ("month", Unit::Month),
            ("quarter", Unit::Quarter),
            ("year", Unit::Year),
        ];
        let day = longest(DAYS.map(|(phrase, n)| {
            let end = self.phrase(at, phrase)?;
            Some(Found { end, span: Span::day(step(self.today, Unit::Day, n)?)? })
        }));
        let unit = longest(UNITS.map(|(name, unit)| {
            let at = self.phrase(at, name)?;
            let (end, n) = match self.phrase(at, "before last") {
                Some(end) => (end, -2),
                None => (self.phrase(at, "after next")?, 2),
            };
            Some(Found { end, span: neighbour(unit, self.today, n)? })
        }));
        let other = self.phrase(at, "other").and_then(|end| {
            let days = match self.word(end) {
                "day" | "night" => 7,
                "week" => 21,
                _ => return None,
            };
            let from = step(self.today, Unit::Day, -days)?;
            Some(Found { end: end + 1, span: Span::dates(from, self.today).roughly() })
        });
        longest([day, unit, other, self.tonight(at)])
    }

    fn tonight(&self, at: usize) -> Option<Found> {
        let (end, date, part) = if let Some(end) = self.phrase(at, "tonight") {
            (end, self.today, "night")
        } else if let Some(end) = self.phrase(at, "last night") {
            (end, self.today.yesterday().ok()?, "night")
        } else if matches!(self.word(at), "this" | "last") {
            let part = self.word(at + 1);
            let last = self.word(at) == "last" && part == "evening";
            let date = if last { self.today.yesterday().ok()? } else { self.today };
            (at + 2, date, if last || self.word(at) == "this" { part } else { "" })
        } else {
            return None;
        };
        Some(Found { end, span: part_of_day(date, part)? })
    }

    /// A day followed by a part of it: "yesterday evening", "Monday morning".
    fn time_of_day(&self, found: Found) -> Option<Found> {
        if !found.span.is_one_day() {
            return None;
        }
        let span = part_of_day(found.span.first_day()?, self.word(found.end))?;
        let span = Span { exactness: found.span.exactness, floating: found.span.floating, ..span };
        Some(Found { end: found.end + 1, span })
    }

    /// "last week", "this March", "next Friday". With "the", the last week is the past seven days
    /// rather than the calendar week.
    fn relative(&self, at: usize, the: bool) -> Option<Found> {
        let (which, at) = self.which(at)?;
        let end = at + 1;
        let found = |span: Span| Some(Found { end, span });
        if let Some(unit) = self.unit(at).filter(|_| !self.word(at).ends_with('s')) {
            let past = which == Which::Last && (the || self.word(at - 1) == "past");
            if past && self.word(end) != "of" {
                let from = step(self.today, unit, -1)?;
                return found(Span::dates(from, self.today.tomorrow().ok()?).roughly());
            }
            let long = !matches!(unit, Unit::Minute | Unit::Hour | Unit::Day);
            return if long { found(neighbour(unit, self.today, which.steps())?) } else { None };
        }
        if self.word(at) == "weekend" {
            return found(weekend(self.today, which.steps())?);
        }
        if let Some((month, count)) = self.season(at) {
            return found(which_months(which, month, count, self.today)?.roughly());
        }
        if let Some((month, sure)) = self.month_name(at).filter(|m| m.1 || which != Which::This) {
            let dated = self.year_number(end).is_some() || !sure && self.word(end) == "be";
            return if dated { None } else { found(which_months(which, month, 1, self.today)?) };
        }
        found(which_weekday(which, self.weekday_name(at)?.0, self.today)?)
    }

    fn which(&self, at: usize) -> Option<(Which, usize)> {
        let which = match (self.word(at), self.word(at + 1)) {
            ("this", "past" | "last") => return Some((Which::Last, at + 2)),
            ("this", "coming" | "next") => return Some((Which::Next, at + 2)),
            ("last" | "past" | "previous", _) => Which::Last,
            ("this" | "current", _) => Which::This,
            ("next" | "coming" | "upcoming" | "following", _) => Which::Next,
            _ => return None,
        };
        Some((which, at + 1))
    }

    /// "last three days", "past few months", "next two weeks": counted from today.
    fn rolling(&self, at: usize) -> Option<Found> {
        let at = if matches!(self.word(at), "these" | "those") { at + 1 } else { at };
        let (which, at) = self.which(at).filter(|(which, _)| *which != Which::This)?;
        let amount = self.amount(at)?;
        let unit = self.unit(amount.end)?;
        let steps = which.steps() * amount.high;
        let span = if matches!(unit, Unit::Minute | Unit::Hour) {
            let there = step_time(self.now, unit, steps)?;
            Span::times(self.now.min(there), self.now.max(there))
        } else {
            let there = step(self.today, unit, steps)?;
            Span::dates(self.today.min(there), self.today.max(there).tomorrow().ok()?)
        };
        let span = if amount.low < amount.high { span.roughly() } else { span };
        Some(Found { end: amount.end + 1, span })
    }

    /// "three days ago", "two weeks from now".
    fn ago(&self, at: usize) -> Option<Found> {
        let amount = self.amount(at)?;
        let unit = self.unit(amount.end)?;
        let behind = amount.end + 1;
        let (end, sign) = match self.word(behind) {
            "ago" | "back" => (behind + 1, -1),
            "hence" => (behind + 1, 1),
            _ => (self.phrase(behind, "from now").or(self.phrase(behind, "from today"))?, 1),
        };
        Some(Found { end, span: self.away(amount, unit, sign)? })
    }

    /// "in three days", "within two weeks". "In a month" is ignored: it is a rate as often as a
    /// date.
    fn ahead(&self, at: usize) -> Option<Found> {
        if !matches!(self.word(at), "in" | "within") {
            return None;
        }
        let amount = self.amount(at + 1)?;
        let unit = self.unit(amount.end)?;
        let one = matches!(self.word(amount.end - 1), "a" | "an");
        if one && !matches!(unit, Unit::Week | Unit::Hour) {
            return None;
        }
        let end = amount.end + 1;
        if self.word(at) == "in" {
            return Some(Found { end, span: self.away(amount, unit, 1)? });
        }
        let until = step(self.today, unit, amount.high)?.tomorrow().ok()?;
        Some(Found { end, span: Span::dates(self.today, until).roughly() })
    }

    /// The day, week, month or year `amount` units away. Only days are exact.
    fn away(&self, amount: Amount, unit: Unit, sign: i64) -> Option<Span> {
        let (near, far) = (amount.low * sign, amount.high * sign);
        if matches!(unit, Unit::Minute | Unit::Hour) {
            let from = step_time(self.now, unit, near.min(far) - 1)?;
            return Some(
                Span::times(from, step_time(self.now, unit, near.max(far) + 1)?).roughly(),
            );
        }
        let at = |n: i64| containing(unit, step(self.today, unit, n)?);
        let span = at(near.min(far))?.up_to(&at(near.max(far))?);
        let exact = unit == Unit::Day && amount.low == amount.high;
        Some(if exact { span } else { span.roughly() })
    }

    /// "early 2023", "the end of March", "later this year".
    fn part(&self, at: usize) -> Option<Found> {
        const PARTS: [(&str, i64, i64); 20] = [
            ("early", 0, 3),
            ("mid", 1, 3),
            ("late", 2, 3),
            ("early in", 0, 3),
            ("late in", 2, 3),
            ("beginning of", 0, 3),
            ("start of", 0, 3),
            ("middle of", 1, 3),
            ("end of", 2, 3),
            ("first half of", 0, 2),
            ("second half of", 1, 2),
            ("first week of", 0, 4),
            ("second week of", 1, 4),
            ("third week of", 2, 4),
            ("last week of", 3, 4),
            ("first days of", 0, 6),
            ("last days of", 5, 6),
            ("first few days of", 0, 6),
            ("last few days of", 5, 6),
            ("turn of", 0, 6),
        ];
        let at = self.behind_the(at);
        let slices = longest(PARTS.map(|(phrase, index, count)| {
            let inner = self.inner(self.phrase(at, phrase)?)?;
            Some(Found { end: inner.end, span: inner.span.slice(index, count)? })
        }));
        longest([slices, self.so_far(at), self.week_of(at)])
    }

    fn inner(&self, at: usize) -> Option<Found> {
        let unit = self.behind_the(at);
        let current = self.unit(unit).filter(|unit| !matches!(unit, Unit::Day | Unit::Hour));
        let current =
            current.and_then(|u| Some(Found { end: unit + 1, span: containing(u, self.today)? }));
        longest([self.whole(at, true), current])
    }

    /// "earlier this year", "later this week".
    fn so_far(&self, at: usize) -> Option<Found> {
        let earlier = match self.word(at) {
            "earlier" => true,
            "later" => false,
            _ => return None,
        };
        let inner = self.whole(at + 1, true)?;
        let tomorrow = Some(midnight(self.today.tomorrow().ok()?));
        let span = if earlier {
            Span { until: inner.span.until.min(tomorrow), ..inner.span }
        } else {
            Span { from: inner.span.from.max(Some(midnight(self.today))), ..inner.span }
        };
        Some(Found { end: inner.end, span: span.roughly() })
    }

    /// "the week of May 8", "the month of May".
    fn week_of(&self, at: usize) -> Option<Found> {
        let (at, unit) = if let Some(at) = self.phrase(at, "week of") {
            (at, Unit::Week)
        } else {
            (self.phrase(at, "month of")?, Unit::Month)
        };
        let inner = self.whole(at, true)?;
        let span = containing(unit, inner.span.first_day()?)?;
        Some(Found { span: Span { exactness: inner.span.exactness, ..span }, ..inner })
    }

    fn weekday(&self, at: usize, led: bool) -> Option<Found> {
        let (offset, sure) = self.weekday_name(at)?;
        let span = recent_weekday(offset, self.today)?.floating();
        (sure || led && self.tokens[at].capital).then_some(Found { end: at + 1, span })
    }

    /// "over the weekend": the current or the last one.
    fn the_weekend(&self, at: usize) -> Option<Found> {
        let end = self.phrase(at, "weekend")?;
        let own = self.today.weekday().to_monday_zero_offset();
        Some(Found { end, span: weekend(self.today, if own >= 5 { 0 } else { -1 })?.roughly() })
    }
}

#[derive(Clone, Copy)]
pub(super) enum Bound {
    Since,
    Before,
    Until,
    After,
}

impl Bound {
    /// "Before" ends at the start of the span and "until" at its end, because something that lasted
    /// until 2020 usually lasted into it.
    pub fn of(self, span: Span) -> Option<Span> {
        Some(match self {
            Bound::Since => Span { from: Some(span.from?), until: None, ..span },
            Bound::Before => Span { from: None, until: Some(span.from?), ..span },
            Bound::Until => Span { from: None, until: Some(span.until?), ..span }.roughly(),
            Bound::After => Span { from: Some(span.until?), until: None, ..span },
        })
    }
}

fn in_order(span: &Span) -> bool {
    span.from.zip(span.until).is_some_and(|(from, until)| from < until)
}

pub(super) fn longest<const N: usize>(found: [Option<Found>; N]) -> Option<Found> {
    found.into_iter().flatten().max_by_key(|found| found.end)
}

fn part_of_day(date: Date, part: &str) -> Option<Span> {
    let (from, until) = match part {
        "morning" => (time(5, 0, 0, 0), time(12, 0, 0, 0)),
        "afternoon" => (time(12, 0, 0, 0), time(18, 0, 0, 0)),
        "evening" => (time(17, 0, 0, 0), time(23, 0, 0, 0)),
        "night" => (time(18, 0, 0, 0), time(6, 0, 0, 0)),
        _ => return None,
    };
    let last = if until < from { date.tomorrow().ok()? } else { date };
    Some(Span::times(date.to_datetime(from), last.to_datetime(until)))
}
