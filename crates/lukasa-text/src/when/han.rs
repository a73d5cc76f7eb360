//! Parses the most common expressions of time in Chinese and Japanese, which put no spaces between
//! words, by a table: each row is matched character by character.

use jiff::civil::Date;

use super::Reading;
use super::calendar::{Unit, Which};
use super::english::Bound;
use super::languages::{Captures, Meaning, meaning_of};
use crate::word::is_east_asian;

const LAST: Which = Which::Last;
const THIS: Which = Which::This;
const NEXT: Which = Which::Next;

/// Patterns: `#` a number, `Y` a year, `M` a month, `D` a day of the month; brackets contain
/// alternatives for one character. The unit is given by the row.
const ROWS: &[(&str, Meaning, Unit)] = &[
    ("今[天日]", Meaning::Day(0), Unit::Day),
    ("昨[天日]", Meaning::Day(-1), Unit::Day),
    ("昨晚", Meaning::Day(-1), Unit::Day),
    ("昨夜", Meaning::Day(-1), Unit::Day),
    ("前天", Meaning::Day(-2), Unit::Day),
    ("一昨日", Meaning::Day(-2), Unit::Day),
    ("おととい", Meaning::Day(-2), Unit::Day),
    ("きのう", Meaning::Day(-1), Unit::Day),
    ("明[天日]", Meaning::Day(1), Unit::Day),
    ("[后後]天", Meaning::Day(2), Unit::Day),
    ("明後日", Meaning::Day(2), Unit::Day),
    ("上[周週]", Meaning::Unit(LAST), Unit::Week),
    ("上个星期", Meaning::Unit(LAST), Unit::Week),
    ("上個星期", Meaning::Unit(LAST), Unit::Week),
    ("上个月", Meaning::Unit(LAST), Unit::Month),
    ("上個月", Meaning::Unit(LAST), Unit::Month),
    ("上月", Meaning::Unit(LAST), Unit::Month),
    ("[去昨]年", Meaning::Unit(LAST), Unit::Year),
    ("[去昨]年M月", Meaning::Unit(LAST), Unit::Year),
    ("今年M月", Meaning::Unit(THIS), Unit::Year),
    ("[明来]年M月", Meaning::Unit(NEXT), Unit::Year),
    ("先週", Meaning::Unit(LAST), Unit::Week),
    ("先月", Meaning::Unit(LAST), Unit::Month),
    ("[这這本][周週]", Meaning::Unit(THIS), Unit::Week),
    ("今週", Meaning::Unit(THIS), Unit::Week),
    ("这个月", Meaning::Unit(THIS), Unit::Month),
    ("這個月", Meaning::Unit(THIS), Unit::Month),
    ("[本今]月", Meaning::Unit(THIS), Unit::Month),
    ("今年", Meaning::Unit(THIS), Unit::Year),
    ("下[周週]", Meaning::Unit(NEXT), Unit::Week),
    ("下个月", Meaning::Unit(NEXT), Unit::Month),
    ("下個月", Meaning::Unit(NEXT), Unit::Month),
    ("来週", Meaning::Unit(NEXT), Unit::Week),
    ("来月", Meaning::Unit(NEXT), Unit::Month),
    ("[明来]年", Meaning::Unit(NEXT), Unit::Year),
    ("#[天日]前", Meaning::Ago, Unit::Day),
    ("#[周週]前", Meaning::Ago, Unit::Week),
    ("#[个個]星期前", Meaning::Ago, Unit::Week),
    ("#週間前", Meaning::Ago, Unit::Week),
    ("#[个個かヶカケ]月前", Meaning::Ago, Unit::Month),
    ("#年前", Meaning::Ago, Unit::Year),
    ("最近#天", Meaning::Rolling, Unit::Day),
    ("[过過]去#[天日]", Meaning::Rolling, Unit::Day),
    ("[过過]去#[周週]", Meaning::Rolling, Unit::Week),
    ("[过過]去#[个個かヶカケ]月", Meaning::Rolling, Unit::Month),
    ("[过過]去#年", Meaning::Rolling, Unit::Year),
    ("Y年", Meaning::Named, Unit::Year),
    ("Y年M月", Meaning::Named, Unit::Month),
    ("Y年M月D[日号號]", Meaning::Named, Unit::Day),
    ("M月", Meaning::Named, Unit::Month),
    ("M月D[日号號]", Meaning::Named, Unit::Day),
    ("Y年以[来來]", Meaning::Bounded(Bound::Since), Unit::Year),
    ("Y年から", Meaning::Bounded(Bound::Since), Unit::Year),
    ("Y年[以之]前", Meaning::Bounded(Bound::Before), Unit::Year),
    ("Y年まで", Meaning::Bounded(Bound::Until), Unit::Year),
    ("Y年[以之][后後]", Meaning::Bounded(Bound::After), Unit::Year),
    ("Y年以降", Meaning::Bounded(Bound::Since), Unit::Year),
];

pub(super) fn readings(text: &str, today: Date) -> Vec<Reading> {
    if !text.chars().any(is_east_asian) {
        return Vec::new();
    }
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut found = Vec::new();
    for at in 0..chars.len() {
        // The tail of a number is not a number: "12月" does not contain "2月".
        if at > 0 && digit(chars[at].1).is_some() && digit(chars[at - 1].1).is_some() {
            continue;
        }
        for (pattern, meaning, unit) in ROWS {
            let Some((end, captures)) = matched(pattern, &chars[at..]) else { continue };
            let captures = Captures { unit: Some(*unit), ..captures };
            if let Some(span) = meaning_of(*meaning, captures, today) {
                let end = chars.get(at + end).map_or(text.len(), |&(end, _)| end);
                found.push(Reading { start: chars[at].0, end, span: Some(span) });
            }
        }
    }
    found
}

fn matched(pattern: &str, chars: &[(usize, char)]) -> Option<(usize, Captures)> {
    let mut captures = Captures::default();
    let mut at = 0;
    let mut parts = pattern.chars();
    while let Some(part) = parts.next() {
        match part {
            '#' | 'Y' | 'M' | 'D' => {
                let (n, length) = number(&chars[at..])?;
                let fits = match part {
                    'Y' => length == 4,
                    'M' => (1..=12).contains(&n),
                    'D' => (1..=31).contains(&n),
                    _ => true,
                };
                let place = match part {
                    'Y' => &mut captures.year,
                    'M' => &mut captures.month,
                    'D' => &mut captures.day,
                    _ => &mut captures.number,
                };
                *place = Some(n).filter(|_| fits);
                (*place)?;
                at += length;
            }
            '[' => {
                let here = chars.get(at)?.1;
                let mut fits = false;
                for choice in parts.by_ref().take_while(|choice| *choice != ']') {
                    fits |= choice == here;
                }
                if !fits {
                    return None;
                }
                at += 1;
            }
            part => {
                chars.get(at).filter(|&&(_, here)| here == part)?;
                at += 1;
            }
        }
    }
    Some((at, captures))
}

/// A number in digits of either width or in Han numerals up to ninety-nine, and its length.
fn number(chars: &[(usize, char)]) -> Option<(i64, usize)> {
    let digits: Vec<i64> =
        chars.iter().map_while(|&(_, c)| digit(c)).take(7).map(i64::from).collect();
    if !digits.is_empty() {
        let value = digits.iter().fold(0, |value, digit| value * 10 + digit);
        return (digits.len() < 7).then_some((value, digits.len()));
    }
    let numeral = |i: usize| chars.get(i).and_then(|&(_, c)| numeral(c));
    match (numeral(0), numeral(1), numeral(2)) {
        (Some(10), Some(ones @ 1..=9), _) => Some((10 + ones, 2)),
        (Some(tens @ 1..=9), Some(10), Some(ones @ 1..=9)) => Some((tens * 10 + ones, 3)),
        (Some(tens @ 1..=9), Some(10), _) => Some((tens * 10, 2)),
        (Some(one), None, _) => Some((one, 1)),
        _ => None,
    }
}

fn digit(c: char) -> Option<u32> {
    match c {
        '0'..='9' => c.to_digit(10),
        '\u{ff10}'..='\u{ff19}' => Some(u32::from(c) - 0xff10),
        _ => None,
    }
}

fn numeral(c: char) -> Option<i64> {
    const NUMERALS: [char; 10] = ['一', '二', '三', '四', '五', '六', '七', '八', '九', '十'];
    if matches!(c, '两' | '兩') {
        return Some(2);
    }
    let place = NUMERALS.iter().position(|numeral| *numeral == c)?;
    i64::try_from(place + 1).ok()
}
