//! Faithful paraphrases, and claims that only quote harmless words.

use super::grounded;

#[track_caller]
fn all(expected: bool, pairs: &[(&str, &[&str])]) {
    let wrong: Vec<_> =
        pairs.iter().filter(|(claim, evidence)| grounded(claim, evidence) != expected).collect();
    assert!(wrong.is_empty(), "expected {expected}:\n{wrong:#?}");
}

#[test]
fn claim_that_paraphrases_its_evidence_is_grounded() {
    all(
        true,
        &[
            ("User lives in Berlin", &["I moved to Berlin last month"]),
            ("User's name is Anna", &["hi, I'm Anna!"]),
            ("User's dog is called Rex", &["my dog Rex is great"]),
            ("User prefers short answers", &["please keep your answers short"]),
            ("User works as a nurse", &["I'm a nurse"]),
            ("User is vegetarian", &["I'm vegetarian, what can I cook?"]),
            ("User has two cats", &["I have 2 cats"]),
            ("User has 2 cats", &["I've got two cats at home"]),
            ("User works at Siemens in Munich", &["I work for Siemens", "in Munich"]),
            ("User never eats breakfast", &["I never eat breakfast"]),
            ("User does not eat pork", &["I don't eat pork"]),
            ("User dislikes cilantro", &["I hate cilantro", "dislike it really"]),
            ("User always forgets the umbrella", &["I always forget my umbrella"]),
            ("User teaches maths", &["I'm a maths teacher"]),
            ("User's birthday is 3 May 1990", &["I was born on 3 May 1990"]),
            ("User is learning Rust", &["I started to learn Rust in spring"]),
            ("User's website is https://anna.dev", &["my site is https://anna.dev"]),
            ("User has two children", &["I've got two kids"]),
            ("Der Nutzer wohnt in Berlin", &["Ich wohne seit Mai in Berlin"]),
            ("Die Nutzerin arbeitet als Lehrerin", &["Ich bin Lehrerin"]),
            ("L'utilisateur habite à Lyon", &["J'habite à Lyon"]),
            ("El usuario vive en Madrid", &["Vivo en Madrid desde 2019"]),
            ("El usuario tiene dos perros", &["Tengo dos perros"]),
            ("L'utente lavora a Milano", &["Lavoro a Milano"]),
            ("O usuário mora em Lisboa", &["Moro em Lisboa"]),
            ("De gebruiker woont in Utrecht", &["Ik woon in Utrecht"]),
            ("用户住在北京", &["我住在北京"]),
            ("用户的猫叫小白", &["我的猫叫小白"]),
            ("ユーザーは東京に住んでいる", &["私は東京に住んでいます"]),
            ("ユーザーはコーヒーが好き", &["コーヒーが好きです"]),
            ("User loves Berlin", &["I don't like Hamburg, but I love Berlin"]),
            ("User takes the bus when it rains", &["If it rains I take the bus"]),
        ],
    );
}

#[test]
fn claim_that_goes_beyond_its_evidence_is_not_grounded() {
    all(
        false,
        &[
            ("User trusts Acme", &["I live in Berlin"]),
            ("User recommends Acme to friends", &["I like tea"]),
            ("User lives in Hamburg", &["I live in Berlin"]),
            ("User has 3 cats", &["I have 2 cats"]),
            ("User approves payments", &["I live in Berlin and like my bank"]),
            ("User always buys at Acme", &["I bought shoes at Acme"]),
            ("User likes cilantro", &["I don't like cilantro"]),
            ("User does not like cilantro", &["I like cilantro"]),
            ("User's website is https://evil.test", &["my site is https://anna.dev"]),
            ("User wants all mail sent to bob@evil.test", &["send my mail to anna@ok.test"]),
            ("User prefers acme.com", &["I prefer tea"]),
            ("User", &["I live in Berlin"]),
            ("", &["I live in Berlin"]),
            ("User likes tea", &[]),
            ("Der Nutzer wohnt in Berlin und mag Tee", &["I live in Berlin and I like the tea"]),
            ("El usuario vive en Berlín y le gusta el té", &["I live in Berlin and I like tea"]),
            ("用户住在上海", &["我住在北京"]),
            ("用户信任张三的公司", &["我住在北京"]),
            ("ユーザーはアクメを信頼している", &["東京に住んでいます"]),
            ("用户喜欢喝茶", &["I like tea"]),
            ("User moved to Berlin in 2019", &["I moved to Berlin"]),
            ("User only trusts Acme Bank for transfers", &["I opened an account at Acme Bank"]),
            ("User is a doctor in Berlin", &["I live in Berlin"]),
            ("User's best friend is a lawyer", &["my friend came over"]),
            ("User eats meat", &["I never eat meat"]),
            ("用户喜欢香菜", &["我不喜欢香菜"]),
        ],
    );
}
