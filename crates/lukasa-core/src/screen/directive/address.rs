//! Web and mail addresses. The speaker's own address is a statement; any other is an instruction to
//! use it.

use std::sync::LazyLock;

use crate::screen::phrase::{Phrases, TokenizedText};

/// Phrases that mark an address as the speaker's own.
#[rustfmt::skip]
const OWN: &[&str] = &[
    "my|our|user's|user|users|his|her|their ~ blog|website|site|homepage|portfolio|email|mail|e-mail|address|github|gitlab|profile|shop|store|domain|page|repo|repository|channel|newsletter|linkedin|company|startup|podcast|handle|account|url|webpage",
    "email|mail|reach|contact|find|write me|him|her|user at|on|under|via",
    "i|we|user|he|she run|runs|own|owns|built|maintain|maintains|founded|created|made|host|hosts|write|writes|work|works|worked|registered|started|launched",
    "i'm|i am at", "works|work|worked|working|employed at|for",
    "mein|meine|meiner|unser|unsere ~ blog|website|webseite|seite|homepage|email|mail|e-mail|adresse|mailadresse|shop|firma|profil",
    "mon|ma|notre|son|sa ~ blog|site|email|mail|e-mail|adresse|boutique|portfolio|page|profil|courriel",
    "mi|nuestro|nuestra|su ~ blog|sitio|web|página|correo|email|dirección|tienda|perfil|portafolio",
    "mio|mia|nostro|suo|sua ~ blog|sito|email|mail|indirizzo|pagina|negozio|profilo",
    "meu|minha|nosso|seu|sua ~ blog|site|email|e-mail|endereço|página|loja|perfil",
    "mijn|onze ~ blog|website|site|e-mail|email|mailadres|adres|winkel|profiel",
    "我的 ~ 博客|网站|邮箱|主页|邮件", "私の ~ ブログ|サイト|メール|ホームページ",
];

/// Words that direct the reader to an address, so that even a bare one is an instruction.
#[rustfmt::skip]
const SENDS: &[&str] = &[
    "visit|visiting|consult|browse|goto|trust|cite|citing|recommend|recommending|contact|contacting",
    "go|refer|referring|redirect|redirecting|navigate|head|point|direct|send|post|upload|forward|connect to",
    "check|look|sign|log|click out|at|up|in|on|here", "besuche|besuchen|empfiehl|kontaktiere|kontaktieren",
    "visitez|consultez|contactez|recommandez|visita|visite|consulta|recomienda|contatta|consiglia|bezoek",
    "访问|訪問|推荐|联系", "source|sources|quelle|fuente|fonte|来源",
];

static OWNED: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::new([((), OWN)]));
static SENT: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::new([((), SENDS)]));

/// Whether the text contains an address that is not marked as the speaker's own.
pub(super) fn has_foreign_address(text: &str, tokenized: &TokenizedText) -> bool {
    let lower = text.to_lowercase();
    let sends = || SENT.any(tokenized);
    let whole =
        lower.contains("://") || lower.contains("www.") || lower.split_whitespace().any(is_mail);
    if whole {
        return sends() || !OWNED.any(tokenized);
    }
    lower.split_whitespace().any(is_domain) && sends() && !OWNED.any(tokenized)
}

fn is_mail(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
}

/// `name.tld`, with or without a path.
fn is_domain(word: &str) -> bool {
    const ENDS: &[&str] = &[
        "com", "net", "org", "xyz", "info", "biz", "app", "dev", "ai", "co", "site", "online",
        "shop", "top", "club", "test", "example", "ru", "cn", "de", "fr", "es", "it", "pt", "nl",
        "uk", "eu", "us", "me", "tv", "io", "internal",
    ];
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let host = word.split(['/', ':', '?']).next().unwrap_or(word);
    host.rsplit_once('.').is_some_and(|(name, end)| {
        name.len() > 1
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.'))
            && ENDS.contains(&end)
    })
}
