//! Messages and their meaning on Wednesday, 12 June 2024, 15:00 UTC unless stated otherwise.

use super::*;
use jiff::tz::{Offset, TimeZone};

const NOW: &str = "2024-06-12T15:00:00Z";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// `words | from | until | exactness`, with dates only where the time is midnight.
fn read(text: &str) -> Vec<String> {
    read_at(text, NOW)
}

fn read_at(text: &str, now: &str) -> Vec<String> {
    let short = |at: Timestamp| {
        let text = at.to_string();
        match text.strip_suffix("T00:00:00Z") {
            Some("0001-01-01") => "-".to_owned(),
            Some(date) => date.to_owned(),
            None => text.trim_end_matches(":00Z").to_owned(),
        }
    };
    mentions(text, at(now), &TimeZone::UTC)
        .into_iter()
        .map(|mention| {
            let until = mention.period.until.map_or("-".to_owned(), short);
            let mark = if mention.certainty == Exactness::Exact { "" } else { " ~" };
            format!("{} = {} {}{mark}", mention.words, short(mention.period.from), until)
        })
        .collect()
}

#[track_caller]
fn means(cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let found = read(text);
        if found != [*expected] {
            wrong.push(format!("{text:?}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[track_caller]
fn means_nothing(texts: &[&str]) {
    for text in texts {
        assert_eq!(read(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn time_parser_finds_days_around_today() {
    means(&[
        ("what did I eat today?", "today = 2024-06-12 2024-06-13"),
        ("Yesterday's call", "Yesterday = 2024-06-11 2024-06-12"),
        ("see you tomorrow", "tomorrow = 2024-06-13 2024-06-14"),
        ("the day before yesterday", "the day before yesterday = 2024-06-10 2024-06-11"),
        ("the day after tomorrow", "the day after tomorrow = 2024-06-14 2024-06-15"),
        ("tonight we eat", "tonight = 2024-06-12T18:00 2024-06-13T06:00"),
        ("this morning I ran", "this morning = 2024-06-12T05:00 2024-06-12T12:00"),
        ("last night", "last night = 2024-06-11T18:00 2024-06-12T06:00"),
        ("yesterday evening", "yesterday evening = 2024-06-11T17:00 2024-06-11T23:00"),
        ("I met her the other day", "the other day = 2024-06-05 2024-06-12 ~"),
        ("call me today at 3pm", "today = 2024-06-12 2024-06-13"),
    ]);
}

#[test]
fn time_parser_reads_last_this_and_next_units() {
    means(&[
        ("what happened last week?", "last week = 2024-06-03 2024-06-10"),
        ("this week", "this week = 2024-06-10 2024-06-17"),
        ("next week", "next week = 2024-06-17 2024-06-24"),
        ("last month", "last month = 2024-05-01 2024-06-01"),
        ("this month", "this month = 2024-06-01 2024-07-01"),
        ("next month", "next month = 2024-07-01 2024-08-01"),
        ("last year", "last year = 2023-01-01 2024-01-01"),
        ("last quarter", "last quarter = 2024-01-01 2024-04-01"),
        ("this quarter", "this quarter = 2024-04-01 2024-07-01"),
        ("next quarter", "next quarter = 2024-07-01 2024-10-01"),
        ("last weekend", "last weekend = 2024-06-08 2024-06-10"),
        ("this weekend", "this weekend = 2024-06-15 2024-06-17"),
        ("next weekend", "next weekend = 2024-06-22 2024-06-24"),
        ("over the weekend", "over the weekend = 2024-06-08 2024-06-10 ~"),
        ("last Friday", "last Friday = 2024-06-07 2024-06-08"),
        ("last Monday", "last Monday = 2024-06-10 2024-06-11 ~"),
        ("this Friday", "this Friday = 2024-06-14 2024-06-15"),
        ("next Monday", "next Monday = 2024-06-17 2024-06-18"),
        ("next friday", "next friday = 2024-06-21 2024-06-22 ~"),
        ("last May", "last May = 2024-05-01 2024-06-01"),
        ("last June", "last June = 2023-06-01 2023-07-01"),
        ("this December", "this December = 2024-12-01 2025-01-01"),
        ("next March", "next March = 2025-03-01 2025-04-01"),
        ("next may", "next may = 2025-05-01 2025-06-01"),
        ("last summer", "last summer = 2023-06-01 2023-09-01 ~"),
        ("this winter", "this winter = 2024-12-01 2025-03-01 ~"),
        ("last winter", "last winter = 2023-12-01 2024-03-01 ~"),
        ("next fall", "next fall = 2024-09-01 2024-12-01 ~"),
        ("the week before last", "the week before last = 2024-05-27 2024-06-03"),
        ("last decade", "last decade = 2010-01-01 2020-01-01"),
    ]);
}

#[test]
fn time_parser_reads_counted_units_back_and_ahead() {
    means(&[
        ("3 days ago", "3 days ago = 2024-06-09 2024-06-10"),
        ("three days ago", "three days ago = 2024-06-09 2024-06-10"),
        ("twenty-one days ago", "twenty-one days ago = 2024-05-22 2024-05-23"),
        ("a week ago", "a week ago = 2024-06-03 2024-06-10 ~"),
        ("two months ago", "two months ago = 2024-04-01 2024-05-01 ~"),
        ("5 years ago", "5 years ago = 2019-01-01 2020-01-01 ~"),
        ("a couple of weeks ago", "a couple of weeks ago = 2024-05-20 2024-06-03 ~"),
        ("a few days ago", "a few days ago = 2024-06-07 2024-06-11 ~"),
        ("two hours ago", "two hours ago = 2024-06-12T12:00 2024-06-12T14:00 ~"),
        ("in the last 3 days", "in the last 3 days = 2024-06-09 2024-06-13"),
        ("in the past two weeks", "in the past two weeks = 2024-05-29 2024-06-13"),
        ("over the last few months", "over the last few months = 2024-01-12 2024-06-13 ~"),
        ("within the last year", "within the last year = 2023-06-12 2024-06-13 ~"),
        ("during the past month", "during the past month = 2024-05-12 2024-06-13 ~"),
        ("in the next 2 weeks", "in the next 2 weeks = 2024-06-12 2024-06-27"),
        ("in three days", "in three days = 2024-06-15 2024-06-16"),
        ("within two weeks", "within two weeks = 2024-06-12 2024-06-27 ~"),
        ("two weeks from now", "two weeks from now = 2024-06-24 2024-07-01 ~"),
    ]);
}

#[test]
fn time_parser_bounds_leave_one_side_open() {
    means(&[
        ("since 2021", "since 2021 = 2021-01-01 -"),
        ("ever since last March", "ever since last March = 2024-03-01 -"),
        ("since yesterday", "since yesterday = 2024-06-11 -"),
        ("before 2020", "before 2020 = - 2020-01-01"),
        ("before March 2023", "before March 2023 = - 2023-03-01"),
        ("until 2022", "until 2022 = - 2023-01-01 ~"),
        ("after 2020", "after 2020 = 2021-01-01 -"),
        ("after May 8th, 2023", "after May 8th, 2023 = 2023-05-09 -"),
        ("from 2022 onwards", "from 2022 onwards = 2022-01-01 -"),
        ("by the end of March", "by the end of March = - 2024-04-01 ~"),
    ]);
}

#[test]
fn time_parser_range_ends_share_the_year() {
    means(&[
        ("between 2019 and 2021", "between 2019 and 2021 = 2019-01-01 2022-01-01"),
        ("from 2019 to 2021", "from 2019 to 2021 = 2019-01-01 2022-01-01"),
        ("the 2019-2021 budget", "the 2019-2021 = 2019-01-01 2022-01-01"),
        ("in 2019\u{2013}2021", "in 2019\u{2013}2021 = 2019-01-01 2022-01-01"),
        ("between May and July 2023", "between May and July 2023 = 2023-05-01 2023-08-01 ~"),
        ("from March 2023 to May", "from March 2023 to May = 2023-03-01 2023-06-01 ~"),
        ("from November to February", "from November to February = 2023-11-01 2024-03-01 ~"),
        ("between 3 and 8 May 2023", "between 3 and 8 May 2023 = 2023-05-03 2023-05-09"),
        ("May 3-8, then home", "May 3-8 = 2024-05-03 2024-05-09 ~"),
        ("May 3-8, 2023", "May 3-8, 2023 = 2023-05-03 2023-05-09"),
        ("from Monday to Friday", "from Monday to Friday = 2024-06-03 2024-06-08 ~"),
        ("between yesterday and today", "between yesterday and today = 2024-06-11 2024-06-13"),
    ]);
}

#[test]
fn time_parser_parts_of_a_period_are_approximate() {
    means(&[
        ("early 2023", "early 2023 = 2023-01-01 2023-05-01 ~"),
        ("in mid-2023", "in mid-2023 = 2023-05-01 2023-09-01 ~"),
        ("late 2023", "late 2023 = 2023-09-01 2024-01-01 ~"),
        ("the beginning of March", "the beginning of March = 2024-03-01 2024-03-11 ~"),
        ("at the end of March", "at the end of March = 2024-03-21 2024-04-01 ~"),
        ("late last year", "late last year = 2023-09-01 2024-01-01 ~"),
        ("the end of the year", "the end of the year = 2024-09-01 2025-01-01 ~"),
        ("the first half of 2023", "the first half of 2023 = 2023-01-01 2023-07-01 ~"),
        ("earlier this year", "earlier this year = 2024-01-01 2024-06-13 ~"),
        ("later this week", "later this week = 2024-06-12 2024-06-17 ~"),
        ("the week of May 8, 2023", "the week of May 8, 2023 = 2023-05-08 2023-05-15"),
        ("in the early 90s", "in the early 90s = 1990-01-01 1993-05-01 ~"),
        ("since early 2022", "since early 2022 = 2022-01-01 - ~"),
    ]);
}

#[test]
fn time_parser_finds_calendar_names_and_dates() {
    means(&[
        ("in 2023", "in 2023 = 2023-01-01 2024-01-01"),
        ("my 2023 taxes", "2023 = 2023-01-01 2024-01-01"),
        ("in May", "in May = 2024-05-01 2024-06-01 ~"),
        ("in may", "in may = 2024-05-01 2024-06-01 ~"),
        ("in June", "in June = 2024-06-01 2024-07-01 ~"),
        ("in July", "in July = 2023-07-01 2023-08-01 ~"),
        ("May 2023", "May 2023 = 2023-05-01 2023-06-01"),
        ("May '23", "May '23 = 2023-05-01 2023-06-01"),
        ("in May of last year", "in May of last year = 2023-05-01 2023-06-01"),
        ("8 May", "8 May = 2024-05-08 2024-05-09 ~"),
        ("8 May 2023", "8 May 2023 = 2023-05-08 2023-05-09"),
        ("the 8th of may", "the 8th of may = 2024-05-08 2024-05-09 ~"),
        ("the first of May", "the first of May = 2024-05-01 2024-05-02 ~"),
        ("on may 8", "on may 8 = 2024-05-08 2024-05-09 ~"),
        ("July was hot", "July = 2023-07-01 2023-08-01 ~"),
        ("plans for 2025", "for 2025 = 2025-01-01 2026-01-01"),
        ("May 8th, 2023", "May 8th, 2023 = 2023-05-08 2023-05-09"),
        ("Monday, May 8, 2023", "Monday, May 8, 2023 = 2023-05-08 2023-05-09"),
        ("February 29", "February 29 = 2024-02-29 2024-03-01 ~"),
        ("on the 8th", "on the 8th = 2024-06-08 2024-06-09 ~"),
        ("2023-05-08", "2023-05-08 = 2023-05-08 2023-05-09"),
        ("at 2023-05-08T10:00:00Z", "at 2023-05-08 = 2023-05-08 2023-05-09"),
        ("2023/05/08", "2023/05/08 = 2023-05-08 2023-05-09"),
        ("on 08/05/2023", "on 08/05/2023 = 2023-05-08 2023-05-09 ~"),
        ("05/13/2023", "05/13/2023 = 2023-05-13 2023-05-14"),
        ("13/05/2023", "13/05/2023 = 2023-05-13 2023-05-14"),
        ("8.5.2023", "8.5.2023 = 2023-05-08 2023-05-09"),
        ("2023-05", "2023-05 = 2023-05-01 2023-06-01"),
        ("the 90s", "the 90s = 1990-01-01 2000-01-01"),
        ("in the nineties", "in the nineties = 1990-01-01 2000-01-01"),
        ("the 1980s", "the 1980s = 1980-01-01 1990-01-01"),
        ("Q3 2024", "Q3 2024 = 2024-07-01 2024-10-01"),
        ("in Q3", "in Q3 = 2023-07-01 2023-10-01 ~"),
        ("third quarter of 2023", "third quarter of 2023 = 2023-07-01 2023-10-01"),
        ("summer of 2022", "summer of 2022 = 2022-06-01 2022-09-01 ~"),
        ("in the spring", "in the spring = 2024-03-01 2024-06-01 ~"),
        ("on Monday", "on Monday = 2024-06-10 2024-06-11 ~"),
        ("on Wed", "on Wed = 2024-06-12 2024-06-13 ~"),
        // A plan is in the future, unless the day is named.
        ("Book a table for Friday", "for Friday = 2024-06-14 2024-06-15 ~"),
        ("a table for Monday evening", "for Monday evening = 2024-06-17T17:00 2024-06-17T23:00 ~"),
        ("for Wednesday", "for Wednesday = 2024-06-12 2024-06-13 ~"),
        ("for last Friday", "for last Friday = 2024-06-07 2024-06-08"),
        ("einen Tisch f\u{fc}r Freitag", "f\u{fc}r Freitag = 2024-06-14 2024-06-15 ~"),
        ("una mesa para el viernes", "para el viernes = 2024-06-14 2024-06-15 ~"),
        ("une table pour vendredi", "pour vendredi = 2024-06-14 2024-06-15 ~"),
    ]);
}

#[test]
fn time_parser_ignores_ordinary_words() {
    means_nothing(&[
        "you may go",
        "this may take a while",
        "march on",
        "they march to work",
        "the sun is out",
        "he sat down",
        "an august body",
        "these 3 may differ",
        "every Monday and each week",
        "at 3pm",
        "2000 euros",
        "it costs $2000",
        "in 2000 steps",
        "version 2023.1",
        "the second one, please",
        "I fall asleep in spring boot classes",
        "April said hi",
        "on the first try",
        "on the third day",
        "you may first ask, the second may answer",
        "you may 25 times",
        "it was about 2000 in all",
        "I sold it for 1500",
        "a mar on the record",
        "he is in his 20s",
        "how much do I earn in a month",
        "what do you think?",
        "",
    ]);
}

#[test]
fn time_parser_returns_several_expressions_in_order() {
    assert_eq!(
        read("Compare last month with March 2023, please"),
        ["last month = 2024-05-01 2024-06-01", "March 2023 = 2023-03-01 2023-04-01"]
    );
}

#[test]
fn time_parser_reads_german() {
    means(&[
        ("was war letzten Monat?", "letzten Monat = 2024-05-01 2024-06-01"),
        ("vor drei Tagen", "vor drei Tagen = 2024-06-09 2024-06-10"),
        ("gestern", "gestern = 2024-06-11 2024-06-12"),
        ("im März 2023", "im März 2023 = 2023-03-01 2023-04-01"),
        ("am 8. Mai 2023", "am 8. Mai 2023 = 2023-05-08 2023-05-09"),
        ("seit 2021", "seit 2021 = 2021-01-01 -"),
        ("nächste Woche", "nächste Woche = 2024-06-17 2024-06-24"),
        ("in den letzten zwei Wochen", "in den letzten zwei Wochen = 2024-05-29 2024-06-13"),
    ]);
    means_nothing(&["Guten Morgen", "ich bin hier und das ist gut"]);
}

#[test]
fn time_parser_reads_spanish() {
    means(&[
        ("¿qué hice el mes pasado?", "el mes pasado = 2024-05-01 2024-06-01"),
        ("hace tres días", "hace tres días = 2024-06-09 2024-06-10"),
        ("hace tres dias", "hace tres dias = 2024-06-09 2024-06-10"),
        ("ayer", "ayer = 2024-06-11 2024-06-12"),
        ("la semana pasada", "la semana pasada = 2024-06-03 2024-06-10"),
        ("el 8 de mayo de 2023", "el 8 de mayo de 2023 = 2023-05-08 2023-05-09"),
        ("en 2023", "en 2023 = 2023-01-01 2024-01-01"),
    ]);
}

#[test]
fn time_parser_reads_french() {
    means(&[
        ("le mois dernier", "le mois dernier = 2024-05-01 2024-06-01"),
        ("il y a trois jours", "il y a trois jours = 2024-06-09 2024-06-10"),
        ("hier", "hier = 2024-06-11 2024-06-12"),
        ("avant-hier", "avant-hier = 2024-06-10 2024-06-11"),
        ("l'année dernière", "l'année dernière = 2023-01-01 2024-01-01"),
        ("en août 2023", "en août 2023 = 2023-08-01 2023-09-01"),
        ("en 2023", "en 2023 = 2023-01-01 2024-01-01"),
        ("aujourd'hui", "aujourd'hui = 2024-06-12 2024-06-13"),
    ]);
}

#[test]
fn time_parser_reads_chinese_and_japanese() {
    means(&[
        ("我昨天吃了什么", "昨天 = 2024-06-11 2024-06-12"),
        ("上个月的会议", "上个月 = 2024-05-01 2024-06-01"),
        ("去年夏天", "去年 = 2023-01-01 2024-01-01"),
        ("我去年5月在东京", "去年5月 = 2023-05-01 2023-06-01"),
        ("三天前", "三天前 = 2024-06-09 2024-06-10"),
        ("两周前", "两周前 = 2024-05-27 2024-06-03 ~"),
        ("2023年5月", "2023年5月 = 2023-05-01 2023-06-01"),
        ("２０２３年５月８日", "２０２３年５月８日 = 2023-05-08 2023-05-09"),
        ("昨日の夕食", "昨日 = 2024-06-11 2024-06-12"),
        ("先月は忙しかった", "先月 = 2024-05-01 2024-06-01"),
        ("3日前", "3日前 = 2024-06-09 2024-06-10"),
        ("十二月", "十二月 = 2023-12-01 2024-01-01 ~"),
        ("2021年以来", "2021年以来 = 2021-01-01 -"),
    ]);
}

#[test]
fn time_parser_steps_a_leap_day_to_the_end_of_february() {
    assert_eq!(
        read_at("in the last 1 years", "2024-02-29T12:00:00Z"),
        ["in the last 1 years = 2023-02-28 2024-03-01"]
    );
    assert_eq!(
        read_at("February 29", "2023-03-01T12:00:00Z"),
        ["February 29 = 2020-02-29 2020-03-01 ~"]
    );
}

#[test]
fn time_parser_winter_in_january_began_in_december() {
    assert_eq!(
        read_at("this winter", "2024-01-10T12:00:00Z"),
        ["this winter = 2023-12-01 2024-03-01 ~"]
    );
}

#[test]
fn time_parser_days_follow_the_users_time_zone() {
    let east = TimeZone::fixed(Offset::from_hours(9).unwrap());
    let found = mentions("today", at("2024-06-12T20:00:00Z"), &east);
    assert_eq!(found[0].period.from, at("2024-06-12T15:00:00Z"));
    assert_eq!(found[0].period.until, Some(at("2024-06-13T15:00:00Z")));
}

#[test]
fn time_parser_handles_days_with_a_clock_change() {
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let found = mentions("yesterday", at("2024-04-01T10:00:00Z"), &zone);
    assert_eq!(found[0].period.from, at("2024-03-30T23:00:00Z"));
    assert_eq!(found[0].period.until, Some(at("2024-03-31T22:00:00Z")));
}

#[test]
fn time_parser_never_panics() {
    let zones = [
        TimeZone::UTC,
        TimeZone::fixed(Offset::MIN),
        TimeZone::fixed(Offset::MAX),
        TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap(),
        TimeZone::posix("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1").unwrap(),
    ];
    let nows = [
        Timestamp::MIN,
        Timestamp::MAX,
        Timestamp::UNIX_EPOCH,
        at("2024-02-29T23:59:59.999999Z"),
        at("2024-03-31T01:30:00Z"),
        at("0001-01-01T00:00:00Z"),
    ];
    let words = [
        "last",
        "next",
        "this",
        "the",
        "in",
        "since",
        "before",
        "between",
        "and",
        "from",
        "to",
        "early",
        "end of",
        "week",
        "years",
        "ago",
        "999999",
        "9999",
        "0",
        "00/00/0000",
        "31",
        "Feb",
        "May",
        "'23",
        "-",
        "\u{2013}",
        ",",
        "Q4",
        "1000s",
        "90s",
        "a few",
        "weekend",
        "winter",
        "9999-12-31",
        "1000",
        "32",
        "decades",
        "vor",
        "#",
        "年",
        "9999年12月",
        "一",
        "前",
        "il y a",
        "e\u{301}",
        "\u{fe0f}",
        "İ",
        "\0",
        "next decade",
        "of",
        "on the",
        "31st",
        "hier",
    ];
    let mut turn = 0;
    for first in words {
        for second in words {
            let text = format!("{first} {second} {first}{second}");
            // Zones and instants alternate; their counts are coprime, so all pairs occur.
            for _ in 0..2 {
                turn += 1;
                let (zone, now) = (&zones[turn % zones.len()], nows[turn % nows.len()]);
                for mention in mentions(&text, now, zone) {
                    assert!(text.contains(&mention.words));
                    let until = mention.period.until;
                    assert!(until.is_none_or(|until| until > mention.period.from));
                }
            }
        }
    }
}

#[test]
fn time_parser_reads_a_long_message_without_deep_recursion() {
    let text = "early since the last early ".repeat(2_000);
    mentions(&text, at(NOW), &TimeZone::UTC);
}
