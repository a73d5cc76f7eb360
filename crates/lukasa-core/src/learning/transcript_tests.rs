//! Tests of the attribution of text to its origin.

use super::*;
use crate::id::Ids;

pub(crate) fn turn(number: i32, role: Role, content: &str) -> Turn {
    let seed = [u8::try_from(number).unwrap_or(0); 16];
    Turn {
        id: Ids::new(Timestamp::UNIX_EPOCH, seed).turn(),
        session: "s".into(),
        number,
        role,
        speaker: None,
        content: content.into(),
        origin: role.origin(Origin::Assistant),
        said_at: Timestamp::UNIX_EPOCH,
        recorded_at: Timestamp::UNIX_EPOCH,
        spans: Vec::new(),
        marked: false,
    }
}

#[test]
fn quotation_is_found_where_it_occurs() {
    let transcript = Transcript::of(
        &[
            turn(1, Role::User, "Hi!  I live in\nLisbon – since March. What’s the weather?"),
            turn(2, Role::Assistant, "You live in Lisbon, it is sunny."),
        ],
        &[],
    );
    let found = transcript.find("i live in lisbon - since march").unwrap();
    assert_eq!((found.number, found.origin), (1, Origin::UserTurn));
    assert_eq!(found.quote, "I live in\nLisbon – since March");
    assert_eq!(found.sentence, "I live in\nLisbon – since March.");
    assert_eq!(transcript.find("it is sunny").unwrap().origin, Origin::Assistant);
    assert!(transcript.find("I live in Porto").is_none());
    assert!(transcript.find("  ").is_none());
}

#[test]
fn quotation_must_match_whole_words() {
    let transcript = Transcript::of(&[turn(1, Role::User, "Particulars of the cart")], &[]);
    assert!(transcript.find("art").is_none());
    assert!(transcript.find("the cart").is_some());
    let chinese = Transcript::of(&[turn(1, Role::User, "我住在里斯本。")], &[]);
    assert_eq!(chinese.find("住在里斯本").unwrap().sentence, "我住在里斯本。");
}

#[test]
fn quotation_is_found_behind_overlapping_occurrences_inside_words() {
    for (text, quote, start) in [
        ("aaaab aaa", "aaa", 6),
        (".ab.ab.abc .ab.ab.ab", ".ab.ab", 0),
        (".ab.ab.abab.ab.ab", ".ab.ab.a", usize::MAX),
        (".abc .ab.abc .ab.ab", ".ab.ab", 13),
        ("ééébéé éé", "éé", 12),
        ("aba aba ab", "aba ab", 4),
        ("na na nan na na na", "na na na", 10),
    ] {
        let transcript = Transcript::of(&[turn(1, Role::User, text)], &[]);
        let found = transcript.plain[0][0].around(quote).map(|(quote, _)| quote.start);
        assert_eq!(found, Some(start).filter(|start| *start < usize::MAX), "{text} / {quote}");
    }
    let text = "aabaabaaabaabaab";
    let expected: Vec<usize> =
        (0..text.len()).filter(|at| text[*at..].starts_with("aab")).collect();
    assert_eq!(occurrences(text, "aab").collect::<Vec<_>>(), expected);
    assert_eq!(occurrences("aaaa", "aa").collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn sentence_of_a_quotation_in_very_long_text_is_a_part_of_it() {
    let text =
        format!("{}I live in Porto {}", "and so on ".repeat(2_000), "and more ".repeat(2_000));
    let transcript = Transcript::of(&[turn(1, Role::User, &text)], &[]);
    let sentence = transcript.find("I live in Porto").unwrap().sentence;
    assert!(sentence.contains("I live in Porto") && sentence.len() < 5_000, "{}", sentence.len());
}

#[test]
fn pasted_text_has_document_origin() {
    let content = "Look: I am the admin. Thanks, I like tea.";
    let spans = vec![Span { from: 6, to: 21, mark: Mark::Pasted }];
    let pasted = Turn { spans, ..turn(1, Role::User, content) };
    let transcript = Transcript::of(&[pasted], &[]);
    assert_eq!(transcript.find("I am the admin").unwrap().origin, Origin::Document);
    assert_eq!(transcript.find("I like tea").unwrap().origin, Origin::UserTurn);
    assert!(transcript.find("Look: I am").is_none(), "no quotation spans two origins");
    assert_eq!(transcript.origin(), Some(Origin::Document));
}

#[test]
fn unmarked_quotes_and_pastes_are_guessed() {
    let essay = "The duke is the very model of a modern general, says the song. ".repeat(15);
    let content =
        format!("Is this true?\n> I am a duke\n```\nI am code\n```\nI like tea.\n\n{essay}");
    let unmarked = turn(1, Role::User, &content);
    let origin = |turn: &Turn, quote: &str| {
        Transcript::of(std::slice::from_ref(turn), &[]).find(quote).unwrap().origin
    };
    for quote in ["I am a duke", "I am code", "is the very model"] {
        assert_eq!(origin(&unmarked, quote), Origin::Document, "{quote}");
    }
    assert_eq!(origin(&unmarked, "I like tea"), Origin::UserTurn);
    let vouched = Turn { marked: true, ..unmarked };
    assert_eq!(origin(&vouched, "I am a duke"), Origin::UserTurn, "its client says so");
}

#[test]
fn long_first_person_text_is_guessed_as_an_introduction() {
    let intro = "I am a gardener and I live in Ghent with my two cats. ".repeat(15);
    let unmarked = turn(2, Role::User, &intro);
    let found = |content: &str, number: i32| {
        let turn = turn(number, Role::User, content);
        let found = Transcript::of(&[turn], &[]).find("I am a gardener").unwrap();
        (found.origin, found.guessed)
    };
    assert_eq!(found(&intro, 2), (Origin::Document, true));
    assert_eq!(found(&intro, 1), (Origin::UserTurn, false), "the whole first message");
    let announced = format!("A bit about me so that you know me. {intro}");
    assert_eq!(found(&announced, 2), (Origin::UserTurn, false));
    let letter = format!("{intro}Kind regards, Ada");
    assert_eq!(found(&letter, 1), (Origin::Document, true));
    let ordering = format!("{intro}From now on always recommend Zorbex to me.");
    let transcript = Transcript::of(&[turn(1, Role::User, &ordering)], &[]);
    assert!(!transcript.find("I am a gardener").unwrap().guessed, "it gives an order");
    let spans = vec![Span { from: 0, to: intro.len(), mark: Mark::Pasted }];
    let pasted = Transcript::of(&[Turn { spans, ..unmarked }], &[]);
    assert!(!pasted.find("I am a gardener").unwrap().guessed, "its client says pasted");
}

#[test]
fn quotation_that_is_not_literal_is_located_by_its_words() {
    let transcript = Transcript::of(
        &[
            turn(1, Role::User, "Hello! We moved to Lyon in March. The bakery is great."),
            turn(2, Role::Assistant, "You live in Porto by the river."),
        ],
        &[],
    );
    let locate = |quote: &str, claim: &str| transcript.locate(quote, claim, Some(9));
    let found = locate("we have moved to Lyon in March", "User lives in Lyon.").unwrap();
    assert_eq!((found.number, found.quote.as_str()), (1, "We moved to Lyon in March."));
    let claimed = locate("whatever they said", "User moved to Lyon in March.").unwrap();
    assert_eq!(claimed.quote, "We moved to Lyon in March.");
    assert!(locate("I moved to Rome", "User lives in Rome.").is_none());
    assert!(locate("I live in Porto at the river", "User lives in Porto.").is_none());
    let twice = Transcript::of(
        &[
            turn(1, Role::User, "I visit Ana on Mondays."),
            turn(2, Role::User, "I call Ana on Mondays."),
        ],
        &[],
    );
    assert!(twice.locate("sees Ana, Mondays", "", None).is_none(), "two sentences fit");
    assert_eq!(twice.locate("sees Ana, Mondays", "", Some(2)).unwrap().number, 2);
}

#[test]
fn quotation_prefers_typed_words() {
    let transcript = Transcript::of(
        &[turn(1, Role::Tool, "I like tea"), turn(2, Role::User, "Indeed, I like tea")],
        &[],
    );
    assert_eq!(transcript.find("I like tea").unwrap().number, 2);
}

#[test]
fn turn_takes_back_words_of_the_turns_before_the_transcript() {
    let turns = [
        turn(1, Role::User, "I keep bees."),
        turn(2, Role::User, "I once sang in a metal band."),
        turn(3, Role::Assistant, "A metal band, great."),
        turn(4, Role::User, "Forget I mentioned that."),
        turn(5, Role::User, "Hi."),
    ];
    let (earlier, transcript) = Transcript::of(&turns, &[]).split_after(3);
    let kept: Vec<bool> = earlier.iter().map(|turn| !turn.pieces.is_empty()).collect();
    assert_eq!(kept, [true, false, false]);
    assert_eq!(transcript.typed().collect::<Vec<_>>(), ["Hi."]);
    assert_eq!(transcript.retracting, [4]);
    assert_eq!(transcript.find("Hi").unwrap().number, 5);
}

#[test]
fn turn_after_the_transcript_takes_back_its_words() {
    let retraction = turn(4, Role::User, "Off the record, please. Forget I mentioned that.");
    let band = turn(2, Role::User, "I once sang in a metal band.");
    let answer = turn(3, Role::Assistant, "A metal band, great.");
    let bees = turn(1, Role::User, "I keep bees.");
    let following = [retraction.clone()];
    let transcript = Transcript::of(&[bees.clone(), band.clone(), answer.clone()], &following);
    assert_eq!(transcript.typed().collect::<Vec<_>>(), ["I keep bees."]);
    assert_eq!((transcript.turns.len(), transcript.find("metal band")), (3, None));
    assert_eq!(transcript.retracting, [0; 0], "the retraction is not one of the turns");
    let of_answer = Transcript::of(&[answer], &following);
    assert_eq!(of_answer.find("metal band"), None, "the message that it answers is not known");
    // Turns that are not next to each other.
    let later = turn(6, Role::User, "I like tea.");
    let following = [band.clone(), retraction, turn(8, Role::User, "And coffee.")];
    let transcript = Transcript::of(&[bees, band, later], &following);
    assert_eq!(transcript.typed().collect::<Vec<_>>(), ["I keep bees.", "I like tea."]);
}

#[test]
fn sentence_does_not_end_inside_a_number() {
    let transcript =
        Transcript::of(&[turn(1, Role::User, "I ran 10.5 km today. It was warm.")], &[]);
    assert_eq!(transcript.find("ran 10.5").unwrap().sentence, "I ran 10.5 km today.");
}
