//! Examples of every kind in several languages, and of words that reveal nothing.

use super::{Sensitive, category};

#[track_caller]
fn all(expected: Sensitive, texts: &[&str]) {
    let wrong: Vec<_> = texts
        .iter()
        .map(|text| (text, category(text)))
        .filter(|(_, found)| *found != Some(expected))
        .collect();
    assert!(wrong.is_empty(), "expected {expected:?}:\n{wrong:#?}");
}

#[test]
fn sensitive_kinds_are_detected() {
    all(
        Sensitive::Health,
        &[
            "I have diabetes.",
            "I wear an insulin pump",
            "My knee surgery is in May",
            "I'm allergic to peanuts",
            "User is pregnant",
            "Ich habe Bluthochdruck",
            "Je suis enceinte",
            "Soy diabético",
            "Sono celiaca",
            "Tenho asma",
            "Ik ben zwanger",
            "我有糖尿病",
            "糖尿病です",
            "I take pills for my blood pressure",
        ],
    );
    all(
        Sensitive::MentalHealth,
        &[
            "My therapist says I should rest",
            "I've been depressed since spring",
            "User has ADHD",
            "Ich habe Depressionen",
            "Je vois un psy chaque semaine",
            "Tengo ansiedad",
            "Soffro di attacchi di panico",
            "我有抑郁症",
            "うつ病です",
            "I started sertraline in June",
        ],
    );
    all(
        Sensitive::Finance,
        &[
            "My salary is 60k",
            "The mortgage payment is due on the first",
            "I'm in debt",
            "User's net worth is two million",
            "I have 20000 in savings",
            "Ich verdiene 3000 Euro im Monat",
            "J'ai des dettes",
            "Mi sueldo es bajo",
            "我的工资是一万",
            "年収は五百万円です",
            "I just inherited $50,000 from my grandmother.",
        ],
    );
    all(
        Sensitive::Relationships,
        &[
            "After my divorce I moved",
            "My wife is called Anna",
            "User is dating a colleague",
            "I'm single",
            "Meine Frau heißt Anna",
            "Je suis divorcé",
            "Mi novia vive en Sevilla",
            "我离婚了",
            "離婚しました",
            "I don't speak to my father anymore",
        ],
    );
    all(
        Sensitive::Religion,
        &[
            "I'm Catholic",
            "I pray five times a day",
            "User goes to the mosque on Fridays",
            "Ich bin aus der Kirche ausgetreten",
            "Je suis musulmane",
            "Soy ateo",
            "我信佛教",
            "クリスチャンではなくムスリムです",
            "We keep kosher at home",
            "For Lent our family gives up meat",
            "During Lent his diet is vegan",
            "We have Lent services on Fridays",
            "I gave up chocolate for Lent",
        ],
    );
    all(
        Sensitive::Politics,
        &[
            "I voted for the Greens",
            "User is a member of the Labour party",
            "Ich wähle die SPD",
            "Je vote à gauche",
            "Soy de izquierda",
            "我支持共和党",
            "自民党に投票しました",
        ],
    );
    all(
        Sensitive::Sexuality,
        &[
            "I'm gay",
            "User came out as bisexual",
            "I'm a trans woman",
            "Ich bin lesbisch",
            "Je suis bisexuel",
            "Soy lesbiana",
            "我是同性恋",
            "ゲイです",
        ],
    );
    all(
        Sensitive::Biometrics,
        &[
            "My fingerprint opens the door",
            "User uses Face ID at work",
            "My DNA test came back",
            "Mein Fingerabdruck ist gespeichert",
            "Mon empreinte digitale",
            "Mi huella dactilar",
            "我的指纹",
            "指紋を登録しました",
        ],
    );
    all(
        Sensitive::Ethnicity,
        &[
            "I'm half Nigerian",
            "User is of Kurdish descent",
            "My family has Roma roots",
            "Ich habe türkische Wurzeln",
            "Je suis métisse",
            "Soy mestiza",
            "我是混血儿",
            "アイヌの血筋です",
        ],
    );
    all(
        Sensitive::CriminalRecord,
        &[
            "My parole officer called",
            "I was arrested in 2015",
            "User spent two years in prison",
            "Ich bin vorbestraft",
            "J'ai fait de la prison",
            "Estuve en la cárcel",
            "我坐过牢",
            "前科があります",
        ],
    );
    all(
        Sensitive::UnionMembership,
        &[
            "My shop steward helped me",
            "I joined the union",
            "I pay my union dues",
            "Ich bin in der Gewerkschaft",
            "Je suis syndiqué",
            "Soy delegado sindical",
            "我加入了工会",
            "労働組合に入っています",
        ],
    );
    all(
        Sensitive::Immigration,
        &[
            "My visa expires in June",
            "I applied for asylum",
            "User has a green card",
            "Meine Aufenthaltserlaubnis läuft ab",
            "Mon titre de séjour expire",
            "No tengo papeles",
            "我的签证快到期了",
            "ビザが切れます",
        ],
    );
}

#[test]
fn figures_of_speech_and_plain_facts_are_not_sensitive() {
    let wrong: Vec<_> = [
        "That was a headache of a bug",
        "We have a healthy test suite",
        "I bank on it",
        "My relationship with JavaScript is complicated",
        "I flew with a budget airline",
        "I work at a bank",
        "User works in a hospital",
        "I'm a dentist",
        "I live in Berlin",
        "I have two kids and a dog",
        "We have a lot of technical debt",
        "I prefer short answers",
        "User plays the guitar",
        "My sister Iris lives in Porto",
        "I like dark chocolate",
        "I found a race condition",
        "User runs marathons",
        "I like Mexican food",
        "I grew up near Union Square",
        "My favourite film is Arrested Development",
        "I'm on a business trip",
        "Single malt is my favourite",
        "I spend my weekends hiking",
        "User is addicted to coffee",
        "The ladder has been lent to Tom",
        "We lent our tent to the neighbours",
        "I have lent her two books",
        "I drive a red car",
        "Ich wohne in Hamburg und fahre Rad",
        "Der Nutzer sucht eine Wohnung",
        "Ich bin Lehrer",
        "J'aime le pain",
        "J'habite à droite de la gare",
        "Vivo en Madrid",
        "Me gusta el café",
        "Abito a Roma",
        "Moro em Lisboa",
        "Ik woon in Gent",
        "我住在北京",
        "東京に住んでいます",
        "I teach liberal arts",
        "User drinks tea in the morning",
        "I have a meeting at nine",
        "My birthday is on 3 May",
        "I use Rust and Postgres",
        "User's dog is called Rex",
        "Er kommt, ehe ich gehe",
        "I pay attention to details",
        "My first sentence is always short",
    ]
    .into_iter()
    .map(|text| (text, category(text)))
    .filter(|(_, found)| found.is_some())
    .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn sensitive_kinds_map_to_four_domains() {
    let named: Vec<_> = Sensitive::ALL.iter().filter_map(|kind| kind.domain()).collect();
    assert_eq!(named, ["health", "health", "finance", "relationships", "religion"]);
}

#[test]
fn sensitive_words_in_a_harmless_sense_reveal_nothing() {
    let wrong: Vec<_> = [
        "I have an app idea for a cancer research fundraiser",
        "the depression in the terrain fills with water",
        "thanks for the positive feedback",
        "the temple run level is too hard",
        "I worship the coffee machine",
        "the green party decorations are cheaper",
        "I'm in your debt for the recipe",
        "I can't afford to lose this chess game",
        "my partner in the relay race was fast",
        "her husband in the play is a ghost",
        "my piggy bank is a pink ceramic",
        "the credit card reader in the café beeps",
        "undocumented endpoints break often",
        "the gene pool of the tomato",
        "the tribe of gamers meets on Friday",
        "mein Sternzeichen ist Krebs",
        "die Straftat im Krimi bleibt ungelöst",
        "der Kredit im Abspann fehlt",
        "j'ai séparé le blanc des jaunes",
        "la dépression arrive par l'ouest avec de la pluie",
        "la depresión tropical se acerca a la costa",
        "el partido de fútbol empieza a las nueve",
        "separé las claras de las yemas",
        "o meu signo é Câncer",
        "mijn sterrenbeeld is Kreeft",
    ]
    .into_iter()
    .map(|text| (text, category(text)))
    .filter(|(_, found)| found.is_some())
    .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn harmless_words_nearby_do_not_hide_a_sensitive_statement() {
    for (kind, text) in [
        (Sensitive::MentalHealth, "my depression in the game industry got worse"),
        (Sensitive::Relationships, "my wife left me after the play"),
        (Sensitive::Finance, "I lost my savings on a poker game"),
        (Sensitive::Health, "I have cancer and run a fundraiser"),
        (Sensitive::MentalHealth, "I hear voices at night"),
        (Sensitive::Biometrics, "the door reads the veins in my hand"),
        (Sensitive::Ethnicity, "Ich bin Halbtürkin"),
        (Sensitive::CriminalRecord, "they fined me for possession of weed"),
    ] {
        assert_eq!(category(text), Some(kind), "{text}");
    }
}
