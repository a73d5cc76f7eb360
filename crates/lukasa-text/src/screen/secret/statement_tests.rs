//! Examples of codes, passphrases and accounts that a sentence states, of text that only resembles
//! them, and every phrase of their lists in a sentence.

use super::lists::{ENTERS, LOCK, OPENED_BY, OPENS, PASSPHRASE, QUESTION, SET_TO, SIGN_IN};
use super::{PLACEHOLDER, redact};
use crate::lexicon::Lexicon;

/// Texts with the value that must be masked.
#[track_caller]
fn all_masked(cases: &[(&str, &str)]) {
    let open = |(text, value): &&(&str, &str)| {
        let masked = redact(text);
        !masked.contains(PLACEHOLDER) || masked.contains(value)
    };
    let wrong: Vec<_> = cases.iter().filter(open).map(|(text, _)| redact(text)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[track_caller]
fn all_unchanged(texts: &[&str]) {
    let wrong: Vec<_> = texts.iter().map(|text| redact(text)).collect();
    let wrong: Vec<_> = wrong.iter().filter(|text| text.contains(PLACEHOLDER)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn codes_of_locks_are_masked() {
    all_masked(&[
        ("the keypad on the side takes 4711", "4711"),
        ("4711 lets you into the building", "4711"),
        ("turn 32 right, 51 left, 16 right and the safe opens", "32"),
        ("front door: 4711", "4711"),
        ("shed code 4711", "4711"),
        ("to get into the shed use 4711", "4711"),
        ("4711 - that's the code for the gate", "4711"),
        ("my PIN has changed, now it's 4711", "4711"),
        ("the 2FA code they sent me is 471 147", "471 147"),
        ("the padlock has the code 4711", "4711"),
        ("an der Haustür 4711 eingeben", "4711"),
        ("der Tresor geht mit 471147 auf", "471147"),
        ("Garagencode 4711", "4711"),
        ("PIN meiner Sparkassenkarte 4711", "4711"),
        ("am Geldautomaten gebe ich 4711 ein", "4711"),
        ("code de la boîte à clés : 4711", "4711"),
        ("pour désactiver l'alarme, tu tapes 4711", "4711"),
        ("le code reçu par SMS : 471147", "471147"),
        ("la alarma se desactiva con 4711", "4711"),
        ("el candado de la bici es 4711", "4711"),
        ("o cofre abre com 471147", "471147"),
        ("la combinazione della cassaforte è 471147", "471147"),
        ("il lucchetto della bici è 4711", "4711"),
        ("de kluis gaat open met 471147", "471147"),
        ("银行卡密码4711", "4711"),
    ]);
}

#[test]
fn passphrases_of_plain_words_are_masked() {
    all_masked(&[
        ("my passphrase is maple river copper falcon", "falcon"),
        ("passphrase maple river copper falcon", "falcon"),
        ("the passphrase for my backups is maple river copper", "copper"),
        ("the password is four words: maple of river copper", "copper"),
        ("my vault password: maple river copper falcon", "falcon"),
        ("password maple-river-copper-falcon", "falcon"),
        ("the vault unlocks with the phrase \"maple river of gold\"", "gold"),
        ("meine Passphrase lautet Ahorn Fluss Kupfer Falke", "Falke"),
        ("ma phrase de passe est érable rivière cuivre faucon", "faucon"),
        ("mi frase de contraseña es arce cobre nube piedra", "piedra"),
        ("a minha senha mestra é bordo rio cobre falcão", "falcão"),
        ("la mia passphrase è acero fiume rame falco", "falco"),
        ("mijn wachtwoordzin is esdoorn rivier koper valk", "valk"),
    ]);
}

#[test]
fn passwords_of_networks_accounts_and_questions_are_masked() {
    all_masked(&[
        ("our network is Fernhill_5G, key ErNQphlSyUQu", "ErNQphlSyUQu"),
        ("the guest wifi is Fernhill with password mapleriver", "mapleriver"),
        ("the wifi is called Fernhill and the password is maple22", "maple22"),
        ("réseau Renardière, clé erable2219", "erable2219"),
        ("login lena maple2219", "maple2219"),
        ("I log in as lena with maple2219", "maple2219"),
        ("ich melde mich mit lena / maple2219 an", "maple2219"),
        ("entro con lena e maple2219", "maple2219"),
        ("the answer to my secret question about my first pet is Biscuit", "Biscuit"),
        ("security question: first school? Answer: Pellworth", "Pellworth"),
        ("security answer Biscuit", "Biscuit"),
        ("auf die Sicherheitsfrage habe ich Biscuit geantwortet", "Biscuit"),
        ("la respuesta a la pregunta de seguridad es Bizcocho", "Bizcocho"),
        ("het antwoord op de beveiligingsvraag is Biscuit", "Biscuit"),
        ("remember my mail password, it's Falcon9893", "Falcon9893"),
        ("my password, which I share with Tom, is maple2219", "maple2219"),
    ]);
}

#[test]
fn sentences_with_numbers_near_locks_and_codes_stay() {
    all_unchanged(&[
        "my PIN is somewhere in the drawer",
        "the front door is 4711 steps from the office",
        "the gate opens at 0800",
        "the alarm is set to 0700",
        "the safe weighs 1200 kilos",
        "4711 people opened the app",
        "the code is 4711 characters long",
        "we changed the code to use 4096 threads",
        "room 4711, second door on the left",
        "enter 4711 in the search box to find the product",
        "left 20, right 30 in the padding settings",
        "turn right after 20 metres, left after 50, then right again",
        "das Schloss wurde 1789 gebaut",
        "ich wähle 4711 für die Zentrale",
        "gib 1500 Gramm Mehl in die Schüssel",
        "j'ai changé de mot de passe en 2024",
        "le coffre de la voiture fait 1200 litres",
        "la casa costó 1200 euros más",
        "la password è sul foglietto",
        "de kluis weegt 1500 kilo",
    ]);
}

#[test]
fn sentences_about_passphrases_accounts_and_questions_stay() {
    all_unchanged(&[
        "a passphrase should have at least six words",
        "the passphrase is hard to type on a phone",
        "the passphrase prompt appears twice",
        "the passphrase is different from the password",
        "password requirements: minimum eight characters, one digit",
        "password: ask Tom in the office",
        "my password is getting old by now",
        "the wifi password is printed on the router",
        "the network is slow, password protection is on",
        "network key terms: bandwidth and latency",
        "sign in with your Google account and accept the terms",
        "I log in with a fingerprint and a passkey",
        "my laptop unlocks with a gesture",
        "I forgot the answer to my security question",
        "the answer to the security question is case sensitive",
        "the security question is silly",
        "die Passphrase ist zu kurz",
        "le mot de passe est facile à retenir",
        "la contraseña es fácil de recordar",
        "het wachtwoord staat op een briefje",
    ]);
}

/// The entries of a list that do not mask the value in a sentence.
fn unmasked(list: Lexicon, sentence: impl Fn(&str) -> String) -> Vec<String> {
    let texts = list.into_iter().map(|entry| sentence(&entry));
    texts.filter(|text| !redact(text).contains(PLACEHOLDER)).collect()
}

#[test]
fn every_phrase_of_the_lists_takes_part_in_a_match() {
    let none = Vec::<String>::new();
    assert_eq!(unmasked(LOCK, |lock| format!("this {lock} opens with 4711")), none);
    assert_eq!(unmasked(OPENS, |opens| format!("the gate {opens} 4711")), none);
    assert_eq!(unmasked(SET_TO, |set| format!("the padlock {set} 4711")), none);
    assert_eq!(unmasked(OPENED_BY, |opened| format!("4711 {opened} the gate")), none);
    assert_eq!(unmasked(ENTERS, |enter| format!("at the gate {enter} 4711")), none);
    assert_eq!(unmasked(SIGN_IN, |sign| format!("{sign} lena / maple2219")), none);
    assert_eq!(unmasked(QUESTION, |about| format!("{about}: pet? answer: Rover")), none);
    assert_eq!(unmasked(PASSPHRASE, |name| format!("{name}: maple river copper")), none);
}
