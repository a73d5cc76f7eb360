//! Fills the placeholders of a template at random: `{alnum36}`, `{uuid}`, `{password}`.

use bip39::Language;
use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";
const WORDS: &[&str] = &["harbour", "Tulip", "copper", "meadow", "Falcon"];

/// A text with its placeholders filled.
pub struct Filled {
    pub text: String,
    /// The longest part that was filled in; empty if there was no placeholder.
    pub longest: String,
}

/// Fills the placeholders of a text at random.
pub fn filled(text: &str, rng: &mut StdRng) -> Filled {
    let (mut out, mut longest) = (String::new(), String::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let filling = after.split_once('}').and_then(|(name, rest)| Some((fill(name, rng)?, rest)));
        match filling {
            Some((words, behind)) => {
                out.push_str(&words);
                if words.len() >= longest.len() {
                    longest = words;
                }
                rest = behind;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Filled { text: out, longest }
}

/// The characters of a placeholder that is named by them and a count.
fn characters(name: &str) -> Option<String> {
    let sets = match name {
        "b64" => [UPPER, LOWER, DIGITS, "+/"].concat(),
        "url" => [UPPER, LOWER, DIGITS, "_-"].concat(),
        "azure" => [UPPER, LOWER, DIGITS, "_~.-"].concat(),
        "alnum" => [UPPER, LOWER, DIGITS].concat(),
        "letters" => [UPPER, LOWER].concat(),
        "lower" => [LOWER, DIGITS].concat(),
        "upper" => [UPPER, DIGITS].concat(),
        "hex" => [DIGITS, "abcdef"].concat(),
        "upperhex" => [DIGITS, "ABCDEF"].concat(),
        "digits" => DIGITS.to_owned(),
        "base32" => [UPPER, "234567"].concat(),
        "base58" => [UPPER, LOWER, DIGITS].concat().replace(['0', 'O', 'I', 'l'], ""),
        _ => return None,
    };
    Some(sets)
}

/// The characters and the count in a name such as `alnum36`, `b6440` or `base32_16`.
fn counted(name: &str) -> Option<(String, usize)> {
    let known = ["b64", "base32", "base58"].iter().find(|set| name.starts_with(**set));
    let cut =
        known.map_or_else(|| name.find(|c: char| c.is_ascii_digit()), |set| Some(set.len()))?;
    let (set, count) = name.split_at(cut);
    let count = count.trim_start_matches('_').parse().ok()?;
    Some((characters(set.trim_end_matches('_'))?, count))
}

fn draw(from: &str, count: usize, rng: &mut StdRng) -> String {
    let from: Vec<char> = from.chars().collect();
    (0..count).filter_map(|_| from.choose(rng).copied()).collect()
}

fn fill(name: &str, rng: &mut StdRng) -> Option<String> {
    Some(match name {
        "word" => word(rng).to_owned(),
        "en_word" => plain_word(Language::English, rng),
        "fr_word" => plain_word(Language::French, rng),
        "es_word" => plain_word(Language::Spanish, rng),
        "it_word" => plain_word(Language::Italian, rng),
        "password" => password(rng),
        "basic" => base64(&format!("lena:{}", password(rng))),
        "luhn16" => luhn(&format!("4{}", draw(DIGITS, 14, rng))),
        "luhn15" => luhn(&format!("37{}", draw(DIGITS, 12, rng))),
        "luhn16grouped" => {
            let number = luhn(&format!("4{}", draw(DIGITS, 14, rng)));
            [&number[..4], &number[4..8], &number[8..12], &number[12..]].join(" ")
        }
        "iban" => iban("DE", &draw(DIGITS, 18, rng)),
        "uuid" => uuid::Uuid::from_bytes(rng.random()).to_string(),
        "seed12" => seed(12, rng),
        "seed24" => seed(24, rng),
        "wideghp" => {
            let token = format!("ghp_{}", draw(&characters("alnum")?, 36, rng));
            let wide = |c: char| char::from_u32(u32::from(c) + 0xfee0);
            token.chars().filter_map(wide).collect()
        }
        _ => {
            let (from, count) = counted(name)?;
            let drawn = draw(&from, count, rng);
            // A number does not begin with a zero, nor does a client secret end in a mark.
            match from.as_str() {
                DIGITS => drawn.strip_prefix('0').map(|rest| format!("7{rest}")).unwrap_or(drawn),
                from if from.ends_with("~.-") => format!("{}Q", &drawn[..count - 1]),
                _ => drawn,
            }
        }
    })
}

fn word(rng: &mut StdRng) -> &'static str {
    WORDS.choose(rng).copied().unwrap_or("copper")
}

/// A word as passphrases have them, without accents.
fn plain_word(language: Language, rng: &mut StdRng) -> String {
    let plain: Vec<&str> = language.word_list().iter().filter(|w| w.is_ascii()).copied().collect();
    plain.choose(rng).copied().unwrap_or("copper").to_owned()
}

/// A password as users choose them, or as a program does.
fn password(rng: &mut StdRng) -> String {
    match rng.random_range(0..4) {
        0 => {
            let (digits, mark) = (rng.random_range(2..=4), draw("!#$?", 1, rng));
            format!("{}{}{mark}", word(rng), draw(DIGITS, digits, rng))
        }
        1 => {
            let inner = [UPPER, LOWER, DIGITS, "!#%&*"].concat();
            let length = rng.random_range(7..=12);
            let inner = draw(&inner, length, rng);
            format!("{}{inner}{}", draw(LOWER, 2, rng), draw(DIGITS, 1, rng))
        }
        2 => format!("{}-{}-{}", word(rng), word(rng), draw(DIGITS, 2, rng)),
        _ => format!("P1neappl3&{}", draw(DIGITS, 2, rng)),
    }
}

fn seed(count: usize, rng: &mut StdRng) -> String {
    let list = Language::English.word_list();
    let words: Vec<&str> = (0..count).filter_map(|_| list.choose(rng).copied()).collect();
    words.join(" ")
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// The digits with the check digit of a card number.
fn luhn(digits: &str) -> String {
    let doubled = digits.chars().rev().enumerate().map(|(place, c)| {
        let digit = c.to_digit(10).unwrap_or(0) * if place % 2 == 0 { 2 } else { 1 };
        digit / 10 + digit % 10
    });
    let check = (10 - doubled.sum::<u32>() % 10) % 10;
    format!("{digits}{check}")
}

fn iban(country: &str, digits: &str) -> String {
    let letters = country.chars().map(|c| (u32::from(c) - u32::from('A') + 10).to_string());
    let number = format!("{digits}{}00", letters.collect::<String>());
    let rest = number.chars().fold(0, |rest, c| (rest * 10 + c.to_digit(10).unwrap_or(0)) % 97);
    format!("{country}{:02}{digits}", 98 - rest)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    #[test]
    fn generated_numbers_pass_their_checksums() {
        assert_eq!(luhn("453201511283036"), "4532015112830366");
        assert_eq!(iban("DE", "370400440532013000"), "DE89370400440532013000");
    }

    #[test]
    fn placeholders_are_filled_by_name() {
        let rng = &mut StdRng::seed_from_u64(1);
        let lengths = [("{b6440}", 40), ("{b64_40}", 40), ("{base32_16}", 16), ("{hex8}", 8)];
        for (place, length) in lengths {
            assert_eq!(filled(place, rng).text.len(), length, "{place}");
        }
        assert_eq!(filled("{seed12}", rng).text.split(' ').count(), 12);
        assert_eq!(filled("${DB} {", rng).text, "${DB} {");
        let both = filled("a {hex4}-{alnum9}", rng);
        assert_eq!((both.text.len(), both.longest.len()), (16, 9));
    }
}
