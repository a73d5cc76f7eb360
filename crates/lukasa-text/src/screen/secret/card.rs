//! Payment card numbers, with or without spaces between their groups.

use super::{FoundSecret, SecretKind};

/// Words before a number that is not a card number.
const OTHER_NUMBERS: &[&str] = &[
    "order",
    "tracking",
    "invoice",
    "parcel",
    "shipment",
    "isbn",
    "ean",
    "gtin",
    "imei",
    "serial",
    "ticket",
    "case",
    "reference",
    "ref",
    "bestellnummer",
    "sendungsnummer",
    "rechnung",
    "pedido",
    "commande",
    "factura",
    "facture",
    "ordine",
    "id",
];

/// Words before a card number.
const CARD_WORDS: &[&str] = &[
    "card",
    "visa",
    "mastercard",
    "amex",
    "credit",
    "debit",
    "kreditkarte",
    "karte",
    "carte",
    "tarjeta",
    "carta",
    "cartão",
    "kaart",
    "karta",
    "карта",
];

/// Maximum length of a card number.
const MAX_DIGITS: usize = 19;

pub(super) fn find(text: &str) -> Vec<FoundSecret> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let before = at.checked_sub(1).map_or(b' ', |at| bytes[at]);
        let begins = bytes[at].is_ascii_digit()
            && !before.is_ascii_alphanumeric()
            && !matches!(before, b'+' | b'.' | b'-' | b'#');
        match begins.then(|| number_at(text, at)).flatten() {
            Some(end) => {
                found.push(FoundSecret { range: at..end, kind: SecretKind::CARD });
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// The end of the card number that begins here. Its groups may be followed by another number.
fn number_at(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut digits = Vec::with_capacity(MAX_DIGITS);
    let (mut at, mut groups, mut best) = (start, 0, None);
    loop {
        let group = bytes[at..].iter().take(MAX_DIGITS + 1).take_while(|b| b.is_ascii_digit());
        let known = digits.len();
        digits.extend(group.map(|b| u32::from(b - b'0')));
        // Cards are printed in groups of three to six digits.
        if digits.len() > MAX_DIGITS || digits.len() - known < 3 {
            break;
        }
        at = start + digits.len() + groups;
        groups += 1;
        let joined = bytes.get(at).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
        if !joined && is_card(&digits) && (groups > 1 || !is_other_number(text, start)) {
            best = Some(at);
        }
        let mark = bytes.get(at).is_some_and(|b| matches!(b, b' ' | b'-' | b'.'));
        if !mark || !bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            break;
        }
        at += 1;
    }
    best
}

/// Whether the words before a number show that it is not a card number.
fn is_other_number(text: &str, start: usize) -> bool {
    let from = text.floor_char_boundary(start.saturating_sub(40));
    let before = text[from..start].to_lowercase();
    let words: Vec<&str> = before.split(|c: char| !c.is_alphanumeric()).collect();
    let any = |of: &[&str]| words.iter().any(|word| of.contains(word));
    any(OTHER_NUMBERS) && !any(CARD_WORDS)
}

/// Whether digits are a card number: an issuer's range, its length and its check digit.
fn is_card(digits: &[u32]) -> bool {
    let first = |n: usize| digits.iter().take(n).fold(0, |sum, digit| sum * 10 + digit);
    let known = match digits.len() {
        14 => matches!(first(2), 36 | 38 | 39) || (300..=305).contains(&first(3)),
        15 => matches!(first(2), 34 | 37),
        16 => {
            first(1) == 4
                || (51..=55).contains(&first(2))
                || (2221..=2720).contains(&first(4))
                || (3528..=3589).contains(&first(4))
                || matches!(first(2), 60 | 62 | 64 | 65)
        }
        19 => first(1) == 4 || matches!(first(2), 60 | 62 | 64 | 65),
        _ => false,
    };
    let sum: u32 = digits.iter().rev().enumerate().fold(0, |sum, (at, digit)| {
        let doubled = if at % 2 == 1 { digit * 2 } else { *digit };
        sum + if doubled > 9 { doubled - 9 } else { doubled }
    });
    known && sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != digits[0])
}
