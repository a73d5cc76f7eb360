//! Calendar periods: days, weeks from Monday, months, quarters, seasons, years, and parts of them.
//! Works on local dates; only [`Span::period`] uses a time zone. Every step that could leave the
//! calendar returns `None` instead of panicking.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use super::Exactness;
use crate::period::Period;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    Decade,
}

/// A local, half-open period. No `from` means "from the beginning".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub from: Option<DateTime>,
    pub until: Option<DateTime>,
    pub exactness: Exactness,
    /// Whether the year (or week) was not given and the most recent one was assumed; the other end
    /// of a range that gives it may move this span.
    pub floating: bool,
}

impl Span {
    pub fn times(from: DateTime, until: DateTime) -> Self {
        Self { from: Some(from), until: Some(until), exactness: Exactness::Exact, floating: false }
    }

    pub fn dates(from: Date, until: Date) -> Self {
        Self::times(midnight(from), midnight(until))
    }

    pub fn day(date: Date) -> Option<Self> {
        Some(Self::dates(date, date.tomorrow().ok()?))
    }

    pub fn roughly(self) -> Self {
        Self { exactness: Exactness::Approximate, ..self }
    }

    /// The same span, marked as one whose year (or week) was assumed.
    pub fn floating(self) -> Self {
        Self { floating: true, ..self.roughly() }
    }

    pub fn first_day(&self) -> Option<Date> {
        self.from.map(DateTime::date)
    }

    pub fn last_day(&self) -> Option<Date> {
        let until = self.until?;
        if until.time() == Time::midnight() {
            until.date().yesterday().ok()
        } else {
            Some(until.date())
        }
    }

    pub fn is_one_day(&self) -> bool {
        self.first_day().is_some() && self.first_day() == self.last_day()
    }

    /// The span from the start of this one to the end of `other`.
    pub fn up_to(&self, other: &Span) -> Span {
        let exact = self.exactness == Exactness::Exact && other.exactness == Exactness::Exact;
        let exactness = if exact { Exactness::Exact } else { Exactness::Approximate };
        Span { from: self.from, until: other.until, exactness, floating: false }
    }

    /// Part number `index` of `count` equal parts: in whole months if it divides so, else in days.
    pub fn slice(&self, index: i64, count: i64) -> Option<Span> {
        let (from, until) = (self.from?.date(), self.until?.date());
        let months = (i64::from(until.year()) - i64::from(from.year())) * 12
            + i64::from(until.month())
            - i64::from(from.month());
        let whole = from.day() == 1 && until.day() == 1 && months > 0 && months % count == 0;
        let (unit, length) = if whole {
            (Unit::Month, months)
        } else {
            (Unit::Day, i64::from(from.until(until).ok()?.get_days()))
        };
        let start = step(from, unit, length * index / count)?;
        let end = step(from, unit, length * (index + 1) / count)?;
        Some(Span::dates(start, end).roughly())
    }

    /// The period in UTC. A start before the year 1 is moved to it, because PostgreSQL's calendar
    /// is shorter at that end.
    pub fn period(&self, zone: &TimeZone) -> Option<Period> {
        let instant = |at: DateTime| at.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp());
        let earliest = midnight(Date::new(1, 1, 1).ok()?);
        let from = match self.from.filter(|from| *from > earliest) {
            Some(from) => instant(from)?,
            None => earliest.to_zoned(TimeZone::UTC).ok()?.timestamp(),
        };
        match self.until {
            Some(until) => Period::new(from, Some(instant(until)?)),
            None => Period::new(from, None),
        }
    }
}

pub(super) fn midnight(date: Date) -> DateTime {
    date.to_datetime(Time::midnight())
}

/// `date` moved by `n` units. Hours and minutes do not move a date.
pub(super) fn step(date: Date, unit: Unit, n: i64) -> Option<Date> {
    let span = jiff::Span::new();
    let span = match unit {
        Unit::Minute | Unit::Hour => Ok(span),
        Unit::Day => span.try_days(n),
        Unit::Week => span.try_weeks(n),
        Unit::Month => span.try_months(n),
        Unit::Quarter => span.try_months(n.checked_mul(3)?),
        Unit::Year => span.try_years(n),
        Unit::Decade => span.try_years(n.checked_mul(10)?),
    };
    date.checked_add(span.ok()?).ok()
}

/// `at` moved by `n` hours or minutes.
pub(super) fn step_time(at: DateTime, unit: Unit, n: i64) -> Option<DateTime> {
    let span = jiff::Span::new();
    let span = match unit {
        Unit::Minute => span.try_minutes(n),
        Unit::Hour => span.try_hours(n),
        _ => return None,
    };
    at.checked_add(span.ok()?).ok()
}

/// The calendar unit that contains `date`.
pub(super) fn containing(unit: Unit, date: Date) -> Option<Span> {
    let year = i64::from(date.year());
    let from = match unit {
        Unit::Minute | Unit::Hour | Unit::Day => date,
        Unit::Week => step(date, Unit::Day, -i64::from(date.weekday().to_monday_zero_offset()))?,
        Unit::Month => date.first_of_month(),
        Unit::Quarter => Date::new(date.year(), (date.month() - 1) / 3 * 3 + 1, 1).ok()?,
        Unit::Year => date.first_of_year(),
        Unit::Decade => first_of_year(year - year.rem_euclid(10))?,
    };
    let length = if matches!(unit, Unit::Minute | Unit::Hour) { Unit::Day } else { unit };
    Some(Span::dates(from, step(from, length, 1)?))
}

/// The calendar unit `n` units away from the one that contains `date`.
pub(super) fn neighbour(unit: Unit, date: Date, n: i64) -> Option<Span> {
    containing(unit, step(containing(unit, date)?.first_day()?, unit, n)?)
}

pub(super) fn first_of_year(year: i64) -> Option<Date> {
    Date::new(i16::try_from(year).ok()?, 1, 1).ok()
}

pub(super) fn year_of(year: i64) -> Option<Span> {
    containing(Unit::Year, first_of_year(year)?)
}

/// `count` months from the first of `month` on, in `year`.
pub(super) fn months_of(year: i64, month: i64, count: i64) -> Option<Span> {
    let from = step(first_of_year(year)?, Unit::Month, month - 1)?;
    Some(Span::dates(from, step(from, Unit::Month, count)?))
}

pub(super) fn date_of(year: i64, month: i64, day: i64) -> Option<Date> {
    let year = i16::try_from(year).ok()?;
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// The most recent period of `count` months from `month` on that began no later than `today`.
pub(super) fn recent_months(month: i64, count: i64, today: Date) -> Option<Span> {
    let year = i64::from(today.year());
    let this = months_of(year, month, count)?;
    if this.first_day()? <= today { Some(this) } else { months_of(year - 1, month, count) }
}

/// Which of several periods with the same name is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Last,
    This,
    Next,
}

impl Which {
    pub fn steps(self) -> i64 {
        match self {
            Which::Last => -1,
            Which::This => 0,
            Which::Next => 1,
        }
    }
}

/// "last May", "this summer", "next March": the last is over, the next has not begun.
pub(super) fn which_months(which: Which, month: i64, count: i64, today: Date) -> Option<Span> {
    let year = i64::from(today.year());
    let tomorrow = midnight(today.tomorrow().ok()?);
    match which {
        // In January this winter is the one that began in December.
        Which::This => months_of(year - 1, month, count)
            .filter(|span| span.until >= Some(tomorrow))
            .or_else(|| months_of(year, month, count)),
        Which::Next => (0..2)
            .filter_map(|ahead| months_of(year + ahead, month, count))
            .find(|span| span.from >= Some(tomorrow)),
        Which::Last => (0..3)
            .filter_map(|back| months_of(year - back, month, count))
            .find(|span| span.until <= Some(midnight(today))),
    }
}

/// The most recent such weekday, today included; `offset` counts from Monday.
pub(super) fn recent_weekday(offset: i64, today: Date) -> Option<Span> {
    let back = (i64::from(today.weekday().to_monday_zero_offset()) - offset).rem_euclid(7);
    Span::day(step(today, Unit::Day, -back)?)
}

/// A plan "for Friday" is in the future: the next such weekday, today included.
pub(super) fn coming_weekday(offset: i64, today: Date) -> Option<Span> {
    let ahead = (offset - i64::from(today.weekday().to_monday_zero_offset())).rem_euclid(7);
    Some(Span::day(step(today, Unit::Day, ahead)?)?.roughly())
}

/// "last Friday" is the most recent one before today, "this" the one of this week, "next" the one
/// of next week. Where people differ the span is approximate.
pub(super) fn which_weekday(which: Which, offset: i64, today: Date) -> Option<Span> {
    let own = i64::from(today.weekday().to_monday_zero_offset());
    let (days, is_ambiguous) = match which {
        Which::This => (offset - own, false),
        Which::Next => (offset - own + 7, offset > own),
        Which::Last if offset < own => (offset - own, true),
        Which::Last => (offset - own - 7, false),
    };
    let span = Span::day(step(today, Unit::Day, days)?)?;
    Some(if is_ambiguous { span.roughly() } else { span })
}

/// Saturday and Sunday of the week `n` weeks away. On a Saturday or Sunday, the last weekend is
/// the one a week before.
pub(super) fn weekend(today: Date, n: i64) -> Option<Span> {
    let monday = neighbour(Unit::Week, today, n)?.first_day()?;
    Some(Span::dates(step(monday, Unit::Day, 5)?, step(monday, Unit::Day, 7)?))
}
