//! Sentences that say a claim of its subject, and sentences that only contain its words.

use super::{carries, is_about_user};

#[track_caller]
fn all(expected: bool, pairs: &[(&str, &str)]) {
    let wrong: Vec<_> =
        pairs.iter().filter(|(claim, said)| carries(claim, said) != expected).collect();
    assert!(wrong.is_empty(), "expected {expected}:\n{wrong:#?}");
}

#[test]
fn words_of_a_claim_without_its_predicate_do_not_carry_it() {
    all(
        false,
        &[
            ("User lives in Denmark.", "most of our guests come from Denmark"),
            ("User lives in Tallinn.", "9:30 would work for the whole team in Tallinn"),
            ("User lives in Vigo.", "weather in Vigo tomorrow?"),
            ("User lives in Vigo.", "I need the weather in Vigo"),
            ("User lives in Rome.", "I am flying to Rome on Friday."),
            ("El usuario vive en Vigo.", "¿Qué tiempo hace en Vigo?"),
            ("Der Nutzer wohnt in Wien.", "Ich brauche ein Hotel in Wien."),
            ("L'utilisateur habite à Lyon.", "Quel temps fait-il à Lyon ?"),
            ("用户住在北京", "北京明天天气怎么样？"),
            ("ユーザーは東京に住んでいる", "東京の天気は？"),
        ],
    );
}

#[test]
fn statements_about_other_people_do_not_carry_a_claim_about_the_user() {
    all(
        false,
        &[
            ("User is a carpenter.", "My brother is a carpenter in Braga."),
            ("User lives in Braga.", "My brother lives in Braga."),
            ("User works as a nurse.", "My wife works as a nurse."),
            ("User likes jazz.", "My sister loves jazz."),
            ("User has a boat.", "Our neighbours have a boat."),
            ("User is vegan.", "my flatmate Jonas is vegan"),
            ("User's name is Paul.", "my brother's name is Paul"),
            ("User is a doctor.", "The doctor will call tomorrow."),
            ("Der Nutzer arbeitet als Koch.", "Mein Bruder arbeitet als Koch."),
            ("El usuario trabaja en Madrid.", "Mi hermana trabaja en Madrid."),
        ],
    );
    all(
        true,
        &[
            ("User's brother is a carpenter.", "My brother is a carpenter in Braga."),
            ("User's brother lives in Braga.", "My brother lives in Braga."),
            ("User lives in Porto.", "My wife and I live in Porto."),
            ("User lives in Porto.", "I live with my brother in Porto."),
        ],
    );
}

#[test]
fn hedged_statements_and_questions_do_not_carry_a_plain_claim() {
    all(
        false,
        &[
            ("User lives in Vigo.", "If I lived in Vigo I would swim every day."),
            ("User lives in Vigo.", "Maybe I'll move to Vigo."),
            ("User lives in Vigo.", "I would love to live in Vigo."),
            ("User lives in Vigo.", "I used to live in Vigo."),
            ("User lives in Vigo.", "Should I live in Vigo or in Lugo?"),
            ("User works at Zorbex.", "Should I work at Zorbex?"),
            ("User likes sushi.", "Do you like sushi?"),
            ("User has a dog.", "maybe I will get a dog"),
            ("Der Nutzer wohnt in Wien.", "Wenn ich in Wien wohnen würde, wäre es teuer."),
        ],
    );
}

#[test]
fn statement_clause_before_a_question_carries_its_claim() {
    all(
        true,
        &[
            ("User lives in Vigo.", "I live in Vigo, what's the weather?"),
            ("El usuario vive en Vigo.", "vivo en Vigo, ¿qué tiempo hace?"),
            ("L'utente vive a Bari.", "Vivo a Bari, che tempo fa?"),
            ("O usuário mora em Lisboa.", "Moro em Lisboa, como está o tempo?"),
            ("Der Nutzer wohnt in Wien.", "Ich wohne in Wien, wie wird das Wetter?"),
            ("User is vegetarian.", "I'm vegetarian, what can I cook?"),
            ("User lives in Porto.", "When I moved to Porto, was it cheaper?"),
        ],
    );
}

#[test]
fn short_forms_of_statements_carry_their_claims() {
    all(
        true,
        &[
            ("User has a dog named Rex.", "my dog Rex chewed my shoes"),
            ("User's name is Farid.", "Farid here"),
            ("User's name is Katarzyna.", "Wrong name, it's Katarzyna"),
            ("User prefers mountains over beaches.", "mountains over beaches any day"),
            ("User lives in Oslo.", "based in Oslo btw"),
            ("User lives in Ghent.", "we moved to Ghent last month"),
            ("User works as a nurse.", "I'm a nurse"),
            ("User prefers short answers.", "could you keep your answers short?"),
            ("User is learning Rust.", "I started to learn Rust in spring"),
            ("User lives in Riaño.", "I live in a village, Riaño"),
            ("Der Nutzer wohnt in Wien.", "In Wien wohne ich seit Mai."),
            ("用户住在北京", "我住在北京"),
            ("ユーザーは東京に住んでいる", "私は東京に住んでいます"),
        ],
    );
}

#[test]
fn claim_of_an_unknown_family_is_carried() {
    all(true, &[("User juggles five balls.", "juggling five balls?")]);
}

#[test]
fn subject_of_a_claim_is_the_user_or_something_else() {
    for own in [
        "User lives in Vigo.",
        "User's brother is a nurse.",
        "I live in Vigo",
        "My car is red",
        "Der Nutzer wohnt in Wien.",
    ] {
        assert!(is_about_user(own), "{own}");
    }
    for other in
        ["The server listens on port 8080", "The user table has an index", "Deploys run on Friday"]
    {
        assert!(!is_about_user(other), "{other}");
    }
}
