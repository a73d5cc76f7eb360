//! Secrets that are told by the words around them: "my password is ...".

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use super::{Run, is_mixed, runs};
use crate::screen::phrase::fold;
use crate::word::{Word, words};

/// What a value may look like to be taken for the secret that was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    /// Anything, if it is said to be it; a plain word only where the sentence ends.
    Password,
    /// Four digits or more, or a mixture.
    Code,
    /// Four to eight digits that are said to be it: many a harmless thing is called a code.
    Said,
    /// Three or four digits.
    Check,
    /// Something long and mixed.
    Key,
    /// Digits, with dashes or without.
    Number,
}

/// Names of secrets, as words with a space between.
#[rustfmt::skip]
const NAMES: &[(&str, Value)] = &[
    ("password", Value::Password), ("passwords", Value::Password), ("passwd", Value::Password), ("pwd", Value::Password), ("pw", Value::Password),
    ("passphrase", Value::Password), ("pass phrase", Value::Password), ("passwort", Value::Password), ("kennwort", Value::Password), ("passwörter", Value::Password),
    ("zugangsdaten", Value::Password), ("mot de passe", Value::Password), ("mdp", Value::Password), ("contraseña", Value::Password), ("clave", Value::Password),
    ("parola d'ordine", Value::Password), ("parola chiave", Value::Password), ("senha", Value::Password), ("palavra passe", Value::Password), ("wachtwoord", Value::Password),
    ("hasło", Value::Password), ("пароль", Value::Password), ("şifre", Value::Password), ("şifrem", Value::Password), ("lösenord", Value::Password), ("adgangskode", Value::Password), ("passord", Value::Password),
    ("密码", Value::Password), ("密碼", Value::Password), ("口令", Value::Password), ("パスワード", Value::Password), ("暗証番号", Value::Code), ("비밀번호", Value::Password), ("비밀번호는", Value::Password),
    ("wifi key", Value::Password), ("wi fi key", Value::Password), ("wlan schlüssel", Value::Password), ("clé wifi", Value::Password), ("clave wifi", Value::Password), ("clave del wifi", Value::Password), ("network key", Value::Password), ("wlan key", Value::Password),
    ("login", Value::Key), ("credentials", Value::Key), ("security answer", Value::Password), ("secret answer", Value::Password), ("master password", Value::Password),
    ("passcode", Value::Code), ("pin", Value::Code), ("pin code", Value::Code), ("pin number", Value::Code), ("pincode", Value::Code), ("puk", Value::Code), ("geheimzahl", Value::Code), ("code pin", Value::Code), ("código pin", Value::Code), ("codice pin", Value::Code),
    ("door code", Value::Code), ("gate code", Value::Code), ("alarm code", Value::Code), ("access code", Value::Code), ("entry code", Value::Code), ("unlock code", Value::Code), ("lock code", Value::Code), ("safe code", Value::Code), ("safe combination", Value::Code), ("locker combination", Value::Code), ("keypad code", Value::Code), ("garage code", Value::Code), ("türcode", Value::Code), ("zugangscode", Value::Code), ("code d'accès", Value::Code), ("digicode", Value::Code), ("código de acceso", Value::Code), ("código de la alarma", Value::Code), ("código de la puerta", Value::Code), ("toegangscode", Value::Code), ("pincode is", Value::Code),
    ("verification code", Value::Code), ("security code", Value::Code), ("one time code", Value::Code), ("one time password", Value::Code), ("one time passcode", Value::Code), ("otp", Value::Code), ("2fa code", Value::Code), ("2fa", Value::Code), ("mfa code", Value::Code), ("login code", Value::Code), ("sign in code", Value::Code), ("auth code", Value::Code), ("authentication code", Value::Code), ("authenticator code", Value::Code), ("confirmation code", Value::Code), ("sms code", Value::Code), ("backup code", Value::Code), ("backup codes", Value::Code), ("recovery code", Value::Code), ("recovery codes", Value::Code), ("tan", Value::Code), ("einmalcode", Value::Code), ("einmalpasswort", Value::Code), ("bestätigungscode", Value::Code), ("sicherheitscode", Value::Code), ("code de vérification", Value::Code), ("code de confirmation", Value::Code), ("code de sécurité", Value::Code), ("código de verificación", Value::Code), ("código de seguridad", Value::Code), ("código de confirmación", Value::Code), ("codice di verifica", Value::Code), ("codice di sicurezza", Value::Code), ("código de verificação", Value::Code), ("código de segurança", Value::Code), ("verificatiecode", Value::Code), ("验证码", Value::Code), ("驗證碼", Value::Code), ("認証コード", Value::Code), ("確認コード", Value::Code), ("인증번호", Value::Code), ("인증번호는", Value::Code), ("код подтверждения", Value::Code),
    ("cvv", Value::Check), ("cvc", Value::Check), ("cvv2", Value::Check), ("csc", Value::Check), ("card security code", Value::Check),
    ("api key", Value::Key), ("apikey", Value::Key), ("api token", Value::Key), ("access token", Value::Key), ("access key", Value::Key), ("secret key", Value::Key), ("private key", Value::Key), ("refresh token", Value::Key), ("auth token", Value::Key), ("bearer", Value::Key), ("bearer token", Value::Key), ("client secret", Value::Key), ("secret", Value::Key), ("token", Value::Key), ("accountkey", Value::Key), ("sharedaccesskey", Value::Key), ("encryption key", Value::Key), ("license key", Value::Key), ("licence key", Value::Key), ("product key", Value::Key), ("recovery key", Value::Key), ("basic", Value::Key), ("api schlüssel", Value::Key), ("schlüssel", Value::Key), ("clé api", Value::Key), ("clé d'api", Value::Key), ("clé secrète", Value::Key), ("clave api", Value::Key), ("clave de api", Value::Key), ("chiave api", Value::Key), ("chave de api", Value::Key), ("chave api", Value::Key), ("api sleutel", Value::Key), ("密钥", Value::Key), ("令牌", Value::Key), ("トークン", Value::Key), ("apiキー", Value::Key), ("秘密鍵", Value::Key), ("key", Value::Key), ("webhook secret", Value::Key), ("signing secret", Value::Key), ("session cookie", Value::Key), ("session id", Value::Key),
    ("privatekey", Value::Key), ("presharedkey", Value::Key), ("preshared key", Value::Key), ("license", Value::Key), ("licence", Value::Key), ("lizenz", Value::Key), ("lizenzschlüssel", Value::Key), ("lizenzkey", Value::Key), ("clé de licence", Value::Key), ("clave de licencia", Value::Key), ("serial key", Value::Key), ("activation key", Value::Key), ("activation code", Value::Key), ("cookie", Value::Key), ("sessionid", Value::Key), ("session key", Value::Key), ("session token", Value::Key), ("webhook", Value::Key), ("webhook url", Value::Key), ("master key", Value::Key), ("signing key", Value::Key), ("deploy key", Value::Key), ("service key", Value::Key), ("access token secret", Value::Key), ("zugangstoken", Value::Key), ("zugriffstoken", Value::Key), ("geheimer schlüssel", Value::Key), ("privater schlüssel", Value::Key), ("jeton", Value::Key), ("jeton d'accès", Value::Key), ("clé privée", Value::Key), ("clé", Value::Key), ("llave privada", Value::Key), ("clave privada", Value::Key), ("clave secreta", Value::Key), ("token de acceso", Value::Key), ("ключ", Value::Key), ("токен", Value::Key),
    ("pgpassword", Value::Password), ("mysql pwd", Value::Password), ("db pass", Value::Password), ("db password", Value::Password), ("maiden name", Value::Password), ("mädchenname", Value::Password), ("nom de jeune fille", Value::Password), ("apellido de soltera", Value::Password), ("sicherheitsantwort", Value::Password), ("réponse secrète", Value::Password), ("respuesta secreta", Value::Password), ("logins", Value::Key), ("code word", Value::Password), ("safe word", Value::Password), ("phrase secrète", Value::Password), ("phrase de passe", Value::Password), ("frase de contraseña", Value::Password), ("codewort", Value::Password), ("contrasena", Value::Password), ("hauptpasswort", Value::Password), ("masterpasswort", Value::Password), ("wlan passwort", Value::Password), ("wifi passwort", Value::Password), ("passe", Value::Code),
    ("code de carte", Value::Code), ("code de ma carte", Value::Code), ("code de la carte", Value::Code), ("code de carte bleue", Value::Code), ("code bancaire", Value::Code), ("code secret", Value::Code), ("code de déverrouillage", Value::Code), ("code du portail", Value::Code), ("code de la porte", Value::Code), ("code de l'alarme", Value::Code), ("code d'alarme", Value::Code), ("code du coffre", Value::Code), ("code de l'immeuble", Value::Code), ("kartenpin", Value::Code), ("karten pin", Value::Code), ("handypin", Value::Code), ("handy pin", Value::Code), ("sim pin", Value::Code), ("entsperrcode", Value::Code), ("sperrcode", Value::Code), ("tresorcode", Value::Code), ("alarmcode", Value::Code), ("torcode", Value::Code), ("haustürcode", Value::Code), ("bildschirmsperre", Value::Code), ("schlosskombination", Value::Code), ("zahlenkombination", Value::Code), ("zahlenschloss", Value::Code), ("transaktionsnummer", Value::Code), ("mtan", Value::Code), ("código de la tarjeta", Value::Code), ("código de mi tarjeta", Value::Code), ("clave de la tarjeta", Value::Code), ("clave del banco", Value::Code), ("código de desbloqueo", Value::Code), ("código del portal", Value::Code), ("código de la caja fuerte", Value::Code), ("código secreto", Value::Code), ("combinación", Value::Code), ("combination", Value::Code), ("lock combination", Value::Code), ("combination lock", Value::Code), ("phone code", Value::Code), ("phone pin", Value::Code), ("card pin", Value::Code), ("bank pin", Value::Code), ("atm pin", Value::Code), ("screen lock", Value::Code), ("lockbox code", Value::Code), ("key box code", Value::Code), ("house code", Value::Code), ("building code", Value::Code), ("front door code", Value::Code), ("voicemail code", Value::Code), ("voicemail pin", Value::Code), ("codice segreto", Value::Code), ("codice di sblocco", Value::Code), ("código do cartão", Value::Code), ("código do cofre", Value::Code), ("пин", Value::Code), ("пин код", Value::Code), ("prüfziffer", Value::Check), ("kartenprüfnummer", Value::Check), ("cryptogramme", Value::Check), ("code cvv", Value::Check), ("código cvv", Value::Check),
    ("steuer id", Value::Number), ("steueridentifikationsnummer", Value::Number), ("tax id", Value::Number), ("national insurance number", Value::Number), ("ni number", Value::Number), ("reisepassnummer", Value::Number), ("personalausweisnummer", Value::Number), ("passnummer", Value::Number), ("numéro de carte", Value::Number), ("numéro de compte", Value::Number), ("numéro de passeport", Value::Number), ("número de tarjeta", Value::Number), ("número de pasaporte", Value::Number), ("número de la seguridad social", Value::Number), ("sort code", Value::Number), ("driver's license number", Value::Number), ("driving licence number", Value::Number), ("passport no", Value::Number), ("account no", Value::Number),
    ("code", Value::Said), ("código", Value::Said), ("codice", Value::Said), ("kombination", Value::Said), ("cid", Value::Check), ("密码锁", Value::Said), ("コード", Value::Said), ("код", Value::Said), ("zahlencode", Value::Said), ("pin is", Value::Code), ("nip", Value::Code),
    ("combo", Value::Code), ("psk", Value::Password), ("bitlocker", Value::Number), ("totp", Value::Key), ("2fa secret", Value::Key), ("setup key", Value::Key), ("auth", Value::Key), ("authorization", Value::Key), ("credential", Value::Key), ("secret access key", Value::Key), ("clave del móvil", Value::Code), ("código del móvil", Value::Code), ("contraseña del móvil", Value::Code), ("code du téléphone", Value::Code), ("code de mon téléphone", Value::Code), ("code du cadenas", Value::Code), ("code wifi", Value::Password), ("gerätecode", Value::Code), ("handycode", Value::Code), ("handy code", Value::Code), ("schließfachcode", Value::Code), ("fahrradschloss", Value::Said), ("tresor", Value::Said), ("safe", Value::Said), ("locker", Value::Said), ("padlock", Value::Said), ("coffre", Value::Said), ("cadenas", Value::Said), ("candado", Value::Said), ("caja fuerte", Value::Said), ("keypad", Value::Said), ("alarm", Value::Said), ("alarma", Value::Said), ("alarme", Value::Said),
    ("ssn", Value::Number), ("social security number", Value::Number), ("social security", Value::Number), ("sozialversicherungsnummer", Value::Number), ("passport number", Value::Number), ("numéro de sécurité sociale", Value::Number), ("routing number", Value::Number), ("account number", Value::Number), ("kontonummer", Value::Number), ("número de cuenta", Value::Number), ("card number", Value::Number), ("kartennummer", Value::Number),
];

/// What may stand between a name and its value and say that it is one.
#[rustfmt::skip]
const SAYS: &[&str] = &[
    "is", "was", "are", "equals", "will", "be", "should", "now", "currently", "still", "just", "simply", "ist", "war", "lautet", "heißt", "est", "c'est", "c", "era", "es", "è", "e", "é", "são", "to",
    "auf", "en", "a", "als", "as", "set", "changed", "reset", "gesetzt", "geändert", "是", "为", "為", "は", "が", "was", "jest", "это", "number", "code", "=", "s", "using", "with", "i", "use", "value", "string",
];
/// What opens a place or an owner between them: "the password for the router is ...".
#[rustfmt::skip]
const OF: &[&str] = &["for", "to", "of", "on", "at", "für", "von", "vom", "zum", "meines", "meiner", "pour", "de", "du", "del", "para", "per", "di", "della", "do", "da", "voor", "van", "in", "im"];
/// Codes that anybody may know.
#[rustfmt::skip]
const OTHER_CODES: &[&str] = &[
    "zip", "post", "postal", "area", "country", "dial", "dialing", "dialling", "error", "status", "exit", "return", "response", "http", "dress", "source", "discount", "promo", "promotion", "coupon", "voucher", "gift", "qr", "bar", "color", "colour", "hex", "product", "item", "course", "class", "booking", "reservation", "currency", "language", "airport", "station", "morse", "swift", "bic", "sic", "tax", "building", "fire", "our", "legacy", "machine", "byte", "the-error", "fault", "fehler", "gutschein", "rabatt", "vorwahl", "farb", "artikel", "referral", "tracking", "flight", "icd", "part", "model", "sort", "diagnostic", "erreur", "codigo",
];
/// Words that make another thing of the name.
#[rustfmt::skip]
const ANOTHER: &[&str] = &[
    "manager", "managers", "policy", "policies", "hint", "reset", "resets", "hash", "hashing", "protected", "generator", "field", "strength", "prompt", "less", "based", "authentication", "rotation", "board", "cushion", "drop", "point", "pal", "bowling", "value", "pair", "pairs", "ring", "ideas", "stakeholder", "takeaway", "result", "results", "players", "signature", "budget", "limit", "limits", "count", "santa", "sauce", "garden", "west",
];
/// Plain words that follow "the password is" and are no password.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "weak", "strong", "secure", "insecure", "old", "new", "forgotten", "expired", "expiring", "wrong", "correct", "required", "needed", "missing", "empty", "invalid", "incorrect", "long", "short", "safe", "unsafe", "stored", "saved", "changed", "reset", "always", "never", "not", "in", "on", "the", "a", "an", "my", "too", "very", "so", "same", "different", "secret", "private", "unknown", "lost", "hard", "easy", "complicated", "complex", "simple", "good", "bad", "fine", "ok", "okay", "here", "there", "below", "above", "it", "that", "this", "what", "no", "yes", "being", "going", "something", "nothing", "none", "hidden", "encrypted", "hashed", "shared", "compromised", "leaked", "stolen", "again", "and", "or", "but", "due", "about", "for", "to", "by", "at", "set", "working", "blocked", "locked", "ready", "important", "optional", "generated", "rotated", "one", "from", "with", "written", "unique", "redacted",
    "schwach", "stark", "sicher", "unsicher", "falsch", "vergessen", "abgelaufen", "neu", "alt", "lang", "kurz", "nicht", "zu", "sehr", "weg", "geheim", "faible", "fort", "oublié", "expiré", "perdu", "trop", "pas", "le", "la", "un", "une", "incorrect", "débil", "segura", "seguro", "olvidada", "incorrecta", "caducada", "muy", "no", "larga", "corta", "difícil", "fácil", "debole", "sicura", "scaduta", "dimenticata", "molto", "non", "fraca", "forte", "esquecida", "expirada", "muito", "não", "zwak", "sterk", "vergeten", "verlopen", "niet", "te",
];

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let words = words(text);
    let folded: Vec<String> = words.iter().map(|word| fold(&word.text)).collect();
    let mut found = Vec::new();
    for at in 0..words.len() {
        if let Some((length, value)) = name_at(&folded[at..]) {
            found.extend(value_after(text, &words, &folded, at, at + length, value));
        }
        if let Some(range) = seed_phrase(text, &words, &folded, at) {
            found.push(range);
        }
    }
    found.extend(logins(text, &words, &folded));
    found.extend(codes_before(text, &words, &folded));
    found.extend(keys_nearby(text, &words, &folded));
    found
}

/// The names by their first word, and the lists, spelled as folded text is.
struct Known {
    names: HashMap<String, Vec<(Vec<String>, Value)>>,
    says: HashSet<String>,
    of: HashSet<String>,
    another: HashSet<String>,
    plain: HashSet<String>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let mut names: HashMap<String, Vec<(Vec<String>, Value)>> = HashMap::new();
    for (name, value) in NAMES {
        let own: Vec<_> = words(&fold(name)).into_iter().map(|word| word.text).collect();
        if let Some(first) = own.first() {
            names.entry(first.clone()).or_default().push((own, *value));
        }
    }
    let folded = |list: &[&str]| list.iter().map(|word| fold(word)).collect();
    Known {
        names,
        says: folded(SAYS),
        of: folded(OF),
        another: folded(ANOTHER),
        plain: folded(PLAIN),
    }
});

/// The longest name that begins here, and how many words it has.
fn name_at(folded: &[String]) -> Option<(usize, Value)> {
    let names = KNOWN.names.get(folded.first()?)?;
    let said = names.iter().filter(|(name, _)| folded.starts_with(name));
    said.map(|(name, value)| (name.len(), *value)).max_by_key(|(length, _)| *length)
}

/// The value that the name at `start..end` is given.
fn value_after(
    text: &str,
    words: &[Word],
    folded: &[String],
    start: usize,
    end: usize,
    value: Value,
) -> Option<Range<usize>> {
    if folded.get(end).is_some_and(|next| KNOWN.another.contains(next))
        || (start > 0
            && (["primary", "foreign", "bobby", "rolling", "public"]
                .contains(&folded[start - 1].as_str())
                || (value == Value::Said && OTHER_CODES.contains(&folded[start - 1].as_str()))))
        || (value == Value::Said
            && folded.get(end).is_some_and(|next| {
                ["postal", "promocional", "promo", "postale", "de"].contains(&next.as_str())
            }))
    {
        return None;
    }
    let mut from = words[end - 1].end;
    // A dash or a plural joins the name to what follows, and is not the value's.
    let (mut said, mut at, mut owner) = (false, end, 0);
    loop {
        let gap_end = words.get(at).map_or(text.len(), |word| word.start);
        let gap = &text[from..gap_end];
        if gap.contains(['\n']) && gap.trim().is_empty() && !said {
            return None;
        }
        if gap.contains([':', '=', '：', '→', '“', '"', '\'', '`', '「', '『'])
            || gap.contains("->")
        {
            said = true;
            break;
        }
        if gap.contains(['.', '!', '?', '。', ';']) && gap.contains(char::is_whitespace) {
            return None;
        }
        let Some(word) = folded.get(at) else { break };
        if KNOWN.says.contains(word)
            && (!word.is_ascii() || !is_mixed(run_at(text, words[at].start).text))
        {
            said = true;
        } else if (KNOWN.of.contains(word) && owner == 0) || (owner > 0 && owner < 5 && !said) {
            let run = run_at(text, words[at].start);
            if owner > 0
                && fits(value, run.text, false)
                && is_mixed(run.text)
                && run.text.len() >= 6
            {
                break;
            }
            owner += 1;
        } else {
            break;
        }
        from = words[at].end;
        at += 1;
    }
    let lead = |c: char| c.is_whitespace() || ":=：→\"'`“”‘’>「『,".contains(c);
    let offset = text[from..].len() - text[from..].trim_start_matches(lead).len();
    let dash = text[from + offset..].strip_prefix("-> ").map_or(0, |_| 3);
    let run = whole_value(text, from + offset + dash, value);
    let quoted = text[..run.start].ends_with(['"', '\'', '`', '“', '‘', '「', '『']);
    let plain = run.text.chars().all(char::is_alphabetic);
    let ends = text[run.range().end..].trim_start().chars().next().is_none_or(|c| {
        c.is_ascii_punctuation()
            || "。！？，」』”’…".contains(c)
            || text[run.range().end..].starts_with('\n')
    });
    if !fits(value, run.text, said) {
        return None;
    }
    if plain
        && value == Value::Password
        && !quoted
        && (!ends || KNOWN.plain.contains(&fold(run.text)))
    {
        return None;
    }
    Some(run.range())
}

/// The stretch at this place as a value of that kind: numbers may be grouped with spaces.
fn whole_value(text: &str, start: usize, value: Value) -> Run<'_> {
    let run = run_at(text, start);
    if !matches!(value, Value::Number | Value::Code | Value::Said)
        || !run.text.starts_with(|c: char| c.is_ascii_digit())
    {
        return run;
    }
    let rest = &text[start..];
    let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, ' ' | '-' | '.')));
    let own = rest[..end.unwrap_or(rest.len())].trim_end_matches([' ', '-', '.']);
    if own.len() > run.text.len() { Run { text: own, start } } else { run }
}

fn run_at(text: &str, start: usize) -> Run<'_> {
    let rest = &text[start..];
    // A password may hold any mark; only a space or a closing quotation mark ends it.
    let end = rest.find(|c: char| c.is_whitespace() || "\"`“”」』。，、；".contains(c));
    let own = rest[..end.unwrap_or(rest.len())]
        .trim_end_matches(['.', ',', ';', ':', ')', '\'', '’', '?']);
    Run { text: own, start }
}

fn fits(value: Value, run: &str, said: bool) -> bool {
    let length = run.chars().count();
    let digits = run.chars().filter(char::is_ascii_digit).count();
    let only_digits = run.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-' | '.'));
    match value {
        Value::Password => {
            (length >= 4 && is_mixed(run)) || (said && length >= 3) || (length >= 8 && is_odd(run))
        }
        Value::Code => {
            (only_digits && (4..=12).contains(&digits))
                || (length >= 5 && digits >= 2 && is_mixed(run))
        }
        Value::Said => said && only_digits && (4..=8).contains(&digits),
        Value::Check => only_digits && (3..=4).contains(&digits),
        Value::Key => is_random(run) || (said && length >= 8 && is_mixed(run) && digits >= 2),
        Value::Number => {
            digits >= 6 && run.chars().all(|c| c.is_ascii_alphanumeric() || " -.".contains(c))
        }
    }
}

/// Capitals amid small letters.
fn is_odd(run: &str) -> bool {
    run.chars().skip(1).any(char::is_uppercase) && run.chars().any(char::is_lowercase)
}

/// Whether a stretch looks drawn at random: long, with letters and digits well mixed.
pub(super) fn is_random(run: &str) -> bool {
    let token = run.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let plain = token.chars().all(|c| c.is_ascii_alphanumeric() || "_-./+=~".contains(c));
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let letters = token.bytes().filter(u8::is_ascii_alphabetic).count();
    let mut distinct: Vec<u8> = token.bytes().collect();
    distinct.sort_unstable();
    distinct.dedup();
    plain
        && token.len() >= 16
        && letters >= 3
        && (digits >= 3 || (digits >= 1 && is_odd(token) && token.len() >= 20))
        && distinct.len() >= 8
        && !token.contains("://")
}

/// "the login is bob / Blue-42": a name and a password in one breath.
fn logins(text: &str, words: &[Word], folded: &[String]) -> Vec<Range<usize>> {
    const NAMES: &[&str] = &[
        "login",
        "logins",
        "credentials",
        "creds",
        "zugangsdaten",
        "zugang",
        "identifiants",
        "credenciales",
        "credenziali",
        "credenciais",
        "inloggegevens",
        "user",
        "username",
        "account",
        "acceso",
        "acces",
        "anmeldung",
    ];
    let mut found: Vec<Range<usize>> = ["-u ", "--user "]
        .iter()
        .flat_map(|flag| text.match_indices(flag))
        .filter_map(|(at, flag)| {
            let run = run_at(text, at + flag.len());
            let (name, word) = run.text.split_once(':')?;
            let start = run.start + name.len() + 1;
            (word.len() >= 4).then(|| start..run.range().end)
        })
        .collect();
    for at in (0..words.len()).filter(|at| NAMES.contains(&folded[*at].as_str())) {
        let from = words[at].end;
        let rest = &text[from..];
        let near = rest.char_indices().nth(90).map_or(rest.len(), |(end, _)| end);
        let line = rest[..near].find('\n').unwrap_or(near);
        let Some((slash, mark)) = [" / ", " | ", " : "]
            .iter()
            .filter_map(|mark| Some((rest[..line].find(mark)?, mark.len())))
            .min()
        else {
            continue;
        };
        let run = run_at(text, from + slash + mark);
        let digit = run.text.bytes().any(|b| b.is_ascii_digit());
        let letter = run.text.chars().any(char::is_alphabetic);
        if run.text.chars().count() >= 6 && digit && letter {
            found.push(run.range());
        }
    }
    found
}

/// "482913 is your verification code".
fn codes_before(text: &str, words: &[Word], folded: &[String]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for at in 0..words.len() {
        let digits = folded[at].bytes().filter(u8::is_ascii_digit).count();
        if !(4..=8).contains(&digits) || digits != folded[at].len() {
            continue;
        }
        let next = &folded[at + 1..folded.len().min(at + 8)];
        let says = next
            .first()
            .is_some_and(|w| ["is", "ist", "est", "es", "是", "는"].contains(&w.as_str()));
        let names = (0..next.len()).any(|n| {
            name_at(&next[n..])
                .is_some_and(|(_, value)| matches!(value, Value::Code | Value::Password))
        });
        if says && names && !text[words[at].start..].is_empty() {
            found.push(words[at].start..words[at].end);
        }
    }
    found
}

/// Random stretches within a few words of one that speaks of keys.
fn keys_nearby(text: &str, words: &[Word], folded: &[String]) -> Vec<Range<usize>> {
    const NEAR: usize = 6;
    const KEYS: &[&str] = &[
        "key",
        "keys",
        "license",
        "licence",
        "lizenz",
        "licencia",
        "cookie",
        "cookies",
        "webhook",
        "privatekey",
        "cle",
        "jeton",
        "token",
        "tokens",
        "secret",
        "secrets",
        "apikey",
        "credential",
        "credentials",
        "bearer",
        "authorization",
        "schlussel",
        "clave",
        "chiave",
        "chave",
        "sleutel",
        "passwort",
        "password",
    ];
    let spoken: Vec<usize> = (0..words.len())
        .filter(|at| KEYS.contains(&folded[*at].as_str()))
        .filter(|at| {
            !at.checked_sub(1)
                .is_some_and(|b| ["primary", "foreign", "public"].contains(&folded[b].as_str()))
        })
        .collect();
    if spoken.is_empty() {
        return Vec::new();
    }
    runs(text)
        .filter(|run| is_random(run.text) && !run.text.contains("://"))
        .filter(|run| {
            let first = words.partition_point(|word| word.end <= run.start);
            let last = words.partition_point(|word| word.start < run.range().end);
            spoken
                .iter()
                .any(|at| (*at < first && first - at <= NEAR) || (*at >= last && at - last < NEAR))
        })
        .map(|run| {
            // `KEY=value`: the name stays.
            let cut = run
                .text
                .find('=')
                .filter(|at| is_random(&run.text[at + 1..]))
                .map_or(0, |at| at + 1);
            run.start + cut..run.range().end
        })
        .collect()
}

/// Twelve or more short words in a row behind "seed phrase" and the like.
fn seed_phrase(text: &str, words: &[Word], folded: &[String], at: usize) -> Option<Range<usize>> {
    const FEWEST: usize = 12;
    let kind = [
        "seed",
        "recovery",
        "mnemonic",
        "backup",
        "wallet",
        "wiederherstellungs",
        "recuperacion",
        "recuperation",
    ];
    let noun = [
        "phrase", "phrases", "words", "seed", "mnemonic", "frase", "worter", "mots", "wort",
        "palabras", "key",
    ];
    let named = kind.contains(&folded[at].as_str())
        && (folded.get(at + 1).is_some_and(|w| noun.contains(&w.as_str()))
            || folded[at] == "mnemonic"
            || folded[at] == "seed");
    let named = named
        || (["frase", "phrase"].contains(&folded[at].as_str())
            && folded[at..].iter().take(4).any(|w| kind.contains(&w.as_str())));
    if !named {
        return None;
    }
    let short = |n: usize| {
        let own = &text[words[n].start..words[n].end];
        let number = own.bytes().all(|b| b.is_ascii_digit());
        number || ((3..=10).contains(&own.chars().count()) && own.chars().all(char::is_alphabetic))
    };
    let ordinary = |n: usize| {
        [
            "the", "and", "with", "for", "phrase", "words", "seed", "recovery", "from", "are",
            "was", "is", "wallet", "has", "have", "you", "not", "but", "lost", "mnemonic",
            "backup",
        ]
        .contains(&folded[n].as_str())
    };
    (at + 1..(at + 8).min(words.len())).find_map(|first| {
        let length = (first..words.len()).take_while(|n| short(*n) && !ordinary(*n)).count();
        let letters = (first..first + length)
            .filter(|n| !folded[*n].bytes().all(|b| b.is_ascii_digit()))
            .count();
        (letters >= FEWEST).then(|| words[first].start..words[first + length - 1].end)
    })
}
