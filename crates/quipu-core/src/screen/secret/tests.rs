//! Examples of secrets in several languages, and of what only looks like one.

use super::{has_secret, redact};

#[test]
fn secrets_are_replaced() {
    let wrong: Vec<_> = [
        ("my key is sk-proj-abc123DEF456ghi789jkl012", "my key is [secret]"),
        ("use ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o to push.", "use [secret] to push."),
        ("AKIAIOSFODNN7EXAMPLE works", "[secret] works"),
        ("GITHUB=github_pat_11ABCDEFG0abcdefghijkl_mnop", "GITHUB=[secret]"),
        ("slack xoxb-1234567890-abcdefGHIJ", "slack [secret]"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[secret]"),
        ("glpat-abcDEF1234567890xyzq", "[secret]"), ("npm_abcdefghij1234567890ABCDEFGHIJ123456", "[secret]"),
        ("hf_abcdefGHIJKL1234567890mnop", "[secret]"), ("qp_live_abc123def4_0123456789abcdefghjk_ab12", "[secret]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk", "[secret]"),
        ("Authorization: Bearer abcDEF123456ghiJKL789", "Authorization: Bearer [secret]"),
        ("see -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- ok", "see [secret] ok"),
        ("postgres://bob:s3cret@db.test/app", "postgres://bob:[secret]@db.test/app"),
        ("Server=db;User=sa;Password=Pa55w0rd!;", "Server=db;User=sa;Password=[secret];"),
        ("My password is hunter2", "My password is [secret]"), ("password: swordfish", "password: [secret]"),
        ("The password for the router is Blue-Sky-42.", "The password for the router is [secret]."),
        ("Mein Passwort ist Sommer2024!", "Mein Passwort ist [secret]"), ("Mein Passwort lautet geheim123", "Mein Passwort lautet [secret]"),
        ("Mon mot de passe est Soleil99", "Mon mot de passe est [secret]"), ("Mi contraseña es gato1234", "Mi contraseña es [secret]"),
        ("La mia password è cane4321", "La mia password è [secret]"), ("Minha senha é gato1234", "Minha senha é [secret]"),
        ("Mijn wachtwoord is fiets123", "Mijn wachtwoord is [secret]"), ("我的密码是abc12345", "我的密码是[secret]"), ("パスワードはabc12345です", "パスワードは[secret]"),
        ("my PIN is 4821", "my PIN is [secret]"), ("wifi key: 8hj2-kl90-mnop", "wifi key: [secret]"), ("The door code is 4471", "The door code is [secret]"),
        ("Your verification code is 482913", "Your verification code is [secret]"), ("482913 is your verification code", "[secret] is your verification code"),
        ("card 4111 1111 1111 1111 exp 12/27", "card [secret] exp 12/27"), ("378282246310005", "[secret]"), ("cvv 123", "cvv [secret]"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN [secret]"), ("GB29NWBK60161331926819", "[secret]"),
        ("secret token 9f86d081884c7d659a2feaa0c55ad015", "secret token [secret]"),
        ("seed phrase: witch collapse practice feed shame open despair creek road again ice least", "seed phrase: [secret]"),
        ("My SSN is 078-05-1120", "My SSN is [secret]"), ("password = correcthorsebatterystaple", "password = [secret]"),
        ("Password for Netflix is Tr0ub4dor&3, user bob", "Password for Netflix is [secret], user bob"),
        ("the passcode is 9931 for the gym", "the passcode is [secret] for the gym"),
    ]
    .into_iter()
    .map(|(text, expected)| (text, redact(text), expected))
    .filter(|(_, found, expected)| found != expected)
    .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_only_looks_like_a_secret_stays() {
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
fn what_is_redacted_once_stays_as_it_is() {
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
