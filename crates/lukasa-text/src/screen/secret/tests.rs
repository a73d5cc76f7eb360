//! Examples of secrets in several languages, and of text that only resembles them.

use super::formats::{AMBIGUOUS, Chars, DISTINCT, TokenFormat};
use super::named_values::name_at;
use super::vocabulary::NAMES;
use super::{find_secret, find_secret_in_id, has_secret, mask, redact};
use crate::screen::phrase::fold;
use crate::word::words;

#[test]
fn secrets_are_masked_in_text() {
    let cases = [
        ("my key is sk-proj-abc123DEF456ghi789jkl012", "my key is [secret]"),
        ("use ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o to push.", "use [secret] to push."),
        ("AKIAIOSFODNN7EXAMPLE works", "[secret] works"),
        ("GITHUB=github_pat_11ABCDEFG0abcdefghijkl_mnop", "GITHUB=[secret]"),
        ("slack xoxb-1234567890-abcdefGHIJ", "slack [secret]"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[secret]"),
        ("glpat-abcDEF1234567890xyzq", "[secret]"),
        ("npm_abcdefghij1234567890ABCDEFGHIJ123456", "[secret]"),
        ("hf_abcdefGHIJKL1234567890mnop", "[secret]"),
        ("lk_live_abc123def4_0123456789abcdefghjk_ab12", "[secret]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk", "[secret]"),
        ("Authorization: Bearer abcDEF123456ghiJKL789", "Authorization: Bearer [secret]"),
        (
            "see -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- ok",
            "see [secret] ok",
        ),
        ("postgres://bob:s3cret@db.test/app", "postgres://bob:[secret]@db.test/app"),
        ("Server=db;User=sa;Password=Pa55w0rd!;", "Server=db;User=sa;Password=[secret];"),
        ("My password is hunter2", "My password is [secret]"),
        ("password: swordfish", "password: [secret]"),
        ("The password for the router is Blue-Sky-42.", "The password for the router is [secret]."),
        ("Mein Passwort ist Sommer2024!", "Mein Passwort ist [secret]"),
        ("Mein Passwort lautet geheim123", "Mein Passwort lautet [secret]"),
        ("Mon mot de passe est Soleil99", "Mon mot de passe est [secret]"),
        ("Mi contraseña es gato1234", "Mi contraseña es [secret]"),
        ("La mia password è cane4321", "La mia password è [secret]"),
        ("Minha senha é gato1234", "Minha senha é [secret]"),
        ("Mijn wachtwoord is fiets123", "Mijn wachtwoord is [secret]"),
        ("我的密码是abc12345", "我的密码是[secret]"),
        ("パスワードはabc12345です", "パスワードは[secret]"),
        ("my PIN is 4821", "my PIN is [secret]"),
        ("wifi key: 8hj2-kl90-mnop", "wifi key: [secret]"),
        ("The door code is 4471", "The door code is [secret]"),
        ("Your verification code is 482913", "Your verification code is [secret]"),
        ("482913 is your verification code", "[secret] is your verification code"),
        ("card 4111 1111 1111 1111 exp 12/27", "card [secret] exp 12/27"),
        ("378282246310005", "[secret]"),
        ("cvv 123", "cvv [secret]"),
        ("secret token 9f86d081884c7d659a2feaa0c55ad015", "secret token [secret]"),
        (
            "seed phrase: witch collapse practice feed shame open despair creek road again ice least",
            "seed phrase: [secret]",
        ),
        ("My SSN is 078-05-1120", "My SSN is [secret]"),
        ("password = correcthorsebatterystaple", "password = [secret]"),
        (
            "Password for Netflix is Tr0ub4dor&3, user bob",
            "Password for Netflix is [secret], user bob",
        ),
        ("the passcode is 9931 for the gym", "the passcode is [secret] for the gym"),
    ];
    let wrong: Vec<_> = cases
        .into_iter()
        .map(|(text, expected)| (text, redact(text), expected))
        .filter(|(_, found, expected)| found != expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn text_that_only_resembles_a_secret_is_unchanged() {
    let wrong: Vec<_> = [
        "I forgot my password again",
        "My password manager is Bitwarden",
        "I use a password manager",
        "My password is too weak",
        "commit 9f86d081884c7d659a2feaa0c55ad0153b2b2b2b",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "+49 170 1234567",
        "call 030 1234 5678",
        "version 1.22.333",
        "ISBN 978-3-16-148410-0",
        "order number 4003812345678",
        "order 302-1234567-7654321",
        "My zip code is 90210",
        "I live at 1234 Main Street",
        "The key to success is patience",
        "My favourite key is F sharp minor",
        "I collect pins",
        "User pins recipes on Pinterest",
        "token ring networks",
        "My secret is that I love romance novels",
        "born 1987-05-03",
        "IPv4 192.168.100.200",
        "I earn tokens in the game",
        "meeting at 1430",
        "The flight is LH1234",
        "I drive a BMW 320d",
        "primary key 550e8400-e29b-41d4-a716-446655440000",
        "Ich habe mein Passwort vergessen",
        "J'ai oublié mon mot de passe",
        "Olvidé mi contraseña",
        "我忘了密码",
        "パスワードを忘れました",
        "Mi clave es practicar cada día",
        "sk-learn is a library",
        "I have a tan",
        "The code review is at 1500",
        "My login is broken",
        "I need a new password for work",
        "1111 1111 1111 1111",
        "IBAN DE89 3704 0044 0532 0130 00",
        "GB29NWBK60161331926819",
        "The recovery phrase is in the safe",
        "the basic plan costs 20 euros",
        "I walked 12345 steps",
        "key results for 2024",
        "Pin the message to the channel",
    ]
    .into_iter()
    .filter(|text| has_secret(text))
    .map(|text| (text, redact(text)))
    .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn redacted_text_is_unchanged_when_redacted_again() {
    for text in [
        "my password is hunter2",
        "key sk-abc123DEF456ghi789jkl",
        "PIN: 4821 and card 4111111111111111",
    ] {
        let once = redact(text).into_owned();
        assert_eq!(redact(&once), once, "{text}");
        assert!(!has_secret(&once));
    }
}

/// A token of a format with the minimum length; deterministic for a number.
fn token(format: &TokenFormat, number: usize) -> String {
    if format.chars == Chars::HexDash && format.least == 36 {
        return format!("{}550e8400-e29b-41d4-a716-4466554400{:02x}", format.prefix, number % 256);
    }
    let letters: Vec<u8> =
        (b'0'..=b'z').filter(|b| b.is_ascii_alphanumeric() && format.chars.contain(*b)).collect();
    let mut state = number * 7919 + 1;
    let mut letter = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(letters[(state >> 33) % letters.len()])
    };
    let body: String = (0..format.least.max(12).min(format.most)).map(|_| letter()).collect();
    format!("{}{body}", format.prefix)
}

#[test]
fn token_formats_are_found_in_running_text() {
    let mut missed = Vec::new();
    for (number, format) in DISTINCT.iter().chain(AMBIGUOUS).enumerate() {
        let token = token(format, number);
        for text in [token.clone(), format!("see {token}, it fails"), format!("X='{token}'")] {
            let gone =
                mask(&text).is_some_and(|masked| !masked.contains(&token[token.len() - 8..]));
            if !gone {
                missed.push(text);
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn token_formats_are_listed_once() {
    let mut seen = std::collections::HashSet::new();
    for format in DISTINCT {
        assert!(seen.insert(format.prefix), "{}", format.prefix);
        assert!(format.least <= format.most && format.prefix.len() >= 2, "{}", format.prefix);
        assert!(format.name.starts_with("a ") || format.name.starts_with("an "), "{}", format.name);
    }
}

#[test]
fn secret_kinds_have_readable_names() {
    for (text, kind) in [
        ("sk-proj-abc123DEF456ghi789jkl012", "an OpenAI API key"),
        ("my token is ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o", "a GitHub token"),
        ("card 4111 1111 1111 1111", "a payment card number"),
        ("my password is hunter2", "a password"),
        ("my PIN is 4821", "an access code or PIN"),
        ("postgres://bob:s3cret@db.test/app", "a password in an address"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk", "a JSON web token"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "a private key"),
    ] {
        assert_eq!(find_secret(text).map(|kind| kind.name()), Some(kind), "{text}");
    }
    assert_eq!(find_secret("I like tea"), None);
}

#[test]
fn secrets_with_invisible_or_wide_characters_are_found() {
    let wide: String = "ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o"
        .chars()
        .filter_map(|c| char::from_u32(u32::from(c) + 0xfee0))
        .collect();
    for (text, expected) in [
        ("use ghp_016C7f8a9B2c\u{200b}3D4e5F6g7H8i9J0k1L2m3N4o now", "use [secret] now"),
        ("g\u{2060}h\u{200d}p_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o", "[secret]"),
        ("my pass\u{ad}word is hunter2", "my pass\u{ad}word is [secret]"),
        (&format!("use {wide} now"), "use [secret] now"),
        ("４１１１ １１１１ １１１１ １１１１", "[secret]"),
        ("\"k\": \"x\\nghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o\"", "\"k\": \"x\\n[secret]\""),
    ] {
        assert_eq!(redact(text), expected, "{text:?}");
    }
}

#[test]
fn placeholders_are_not_secrets() {
    for text in [
        "export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "API_KEY=your-api-key-here",
        "postgres://app:${DB_PASSWORD}@db/app",
        "postgres://user:<password>@host/db",
        "Authorization: Bearer $TOKEN",
        "password: <your password>",
    ] {
        assert_eq!(mask(text), None, "{text}");
    }
}

#[test]
fn text_between_a_masked_secret_and_a_digest_stays() {
    let text = "my PIN is 4821, the commit 9f86d081884c7d659a2feaa0c55ad0153b2b2b2b is fine";
    let masked = redact(text).into_owned();
    assert_eq!(masked, text.replace("4821", "[secret]"));
    assert_eq!(redact(&masked), masked, "masking twice changes nothing");
}

#[test]
fn masking_handles_characters_that_normalize_to_several() {
    let pieces =
        ["½", "ﬃ", "ﷺ", "4111", "１", " ", "password: ", "a", "\u{200b}", "é", "密码", "="];
    let mut state = 1_usize;
    for _ in 0..3_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(97);
            text.push_str(pieces[(state >> 33) % pieces.len()]);
        }
        let masked = redact(&text).into_owned();
        // The result can look like a secret again, but masking it again must not make it grow.
        assert!(redact(&masked).chars().count() <= text.chars().count() + 60, "{text:?}");
    }
}

#[test]
fn secret_values_apart_from_their_name_are_found() {
    for (text, value) in [
        ("the streaming password we share is harbor2558", "harbor2558"),
        ("is lantern6488 a good password for my bank?", "lantern6488"),
        ("I use copper9880 for everything, is that safe as a password?", "copper9880"),
        ("das Kennwort fürs Online-Banking: pepper159!", "pepper159"),
        ("el código que me llegó es 967274", "967274"),
        ("locker 4308 at the gym, that's the combination", "4308"),
        ("my phone pin changed from 6258 to 2660", "2660"),
        ("the combination is 74 left 48 right 71 left", "48"),
        ("the door of the flat opens with 8738", "8738"),
        ("die Tür geht auf mit 8738", "8738"),
        ("the safe opens with 54-83-36", "54-83-36"),
        ("luggage lock is set to 272", "272"),
        ("master password of the vault: garden river orange falcon", "falcon"),
        ("Code Haustür 4711", "4711"),
        ("code immeuble 4711", "4711"),
        ("at the front gate I punch in 4711 and wait", "4711"),
        ("root:garden2351 works on the console", "garden2351"),
        ("router admin / lantern3122", "lantern3122"),
        ("docker login -u me -p maple3548 registry.example", "maple3548"),
        (".pgpass has db:5432:shop:app:window7235", "window7235"),
        ("license: PMUE-CFPV-OIU4-LIFP", "PMUE-CFPV-OIU4-LIFP"),
        ("meeting passcode: HnZjlo", "HnZjlo"),
        ("card verification value is 714", "714"),
    ] {
        let masked = redact(text);
        assert!(masked.contains(super::PLACEHOLDER) && !masked.contains(value), "{text}: {masked}");
    }
}

#[test]
fn sentences_about_passwords_and_locks_without_a_value_stay() {
    for text in [
        "the password we share is too weak",
        "is sha256 a good password hash?",
        "I use python312 and the password field is empty",
        "the code we wrote is 4711 lines long",
        "the code went from 1200 to 1500 lines",
        "the museum opens with 2000 exhibits",
        "the gate is set to close at 2200",
        "the combination is 2 eggs and 3 spoons of sugar",
        "root:x:0:0:root:/root:/bin/bash",
        "master password: the one you choose when you first open the app",
        "docker run -p 8080:80 nginx",
        "room 4711, that's where we meet",
        "error code 4711 on the boiler",
        "code postal 4711",
        "press 4711 to hear the tune",
        "I type 4000 words a day at the office, the door stays shut",
        "on my iPhone15 the password autofill broke",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn secret_names_have_the_value_of_their_list() {
    for (value, list) in NAMES {
        for name in list {
            let own: Vec<_> = words(&fold(&name)).into_iter().map(|word| word.text).collect();
            assert_eq!(name_at(&own), Some((own.len(), value)), "{name}");
        }
    }
}

#[test]
fn id_of_a_chat_is_no_secret_and_a_key_in_it_is() {
    for id in [
        "4111111111111111",
        "5500005555555559",
        "-1001234567890",
        "351912345678@s.whatsapp.net",
        "1184567890123456789",
        "C024BE91L-1700000000.123456",
        "0193a5d2-7c1e-7b3a-9d4e-2f6a8b1c0d3e",
        "01JCW8Z3N4M5P6Q7R8S9T0V1W2",
        "ses_0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "thread_AbCdEf0123456789GhIjKlMn",
        "conv_68f0a1b2c3d4e5f60718293a4b5c6d7e",
        "chatgpt:6710e3b2-4f3c-8009-a1de-2b9c7d5e4f60",
        "Trip to Lisbon",
    ] {
        assert_eq!(find_secret_in_id(id), None, "{id}");
    }
    assert!(has_secret("4111111111111111"), "which elsewhere is a card number");
    for id in [
        "ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o",
        "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD",
        "4111111111111111 ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o",
        "my password is Copper-4711-kite!",
    ] {
        assert!(find_secret_in_id(id).is_some(), "{id}");
    }
}
