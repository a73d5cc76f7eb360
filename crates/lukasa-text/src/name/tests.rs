//! Exact, mistyped and false matches of names.

use super::*;

/// The names found in `text`; a mistyped one is marked with a tilde.
fn said(names: &[&str], text: &str) -> Vec<String> {
    let memories = names.iter().enumerate().map(|(index, name)| (index, [*name]));
    Names::new(memories)
        .named_in(text)
        .into_iter()
        .map(|named| format!("{}{}", if named.exact { "" } else { "~" }, named.name))
        .collect()
}

#[track_caller]
fn names(name: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(said(&[name], text), [name], "{text}");
    }
}

#[track_caller]
fn names_not(name: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(said(&[name], text), Vec::<String>::new(), "{name}: {text}");
    }
}

#[test]
fn name_key_matches_as_a_phrase() {
    names(
        "prefer_window_seat",
        &["do I prefer window seats?", "PREFER WINDOW SEAT", "prefer-window-seat"],
    );
    names_not(
        "prefer_window_seat",
        &["a window seat", "prefer a window seat", "seat window prefer"],
    );
}

#[test]
fn name_match_ignores_marks_and_capitals() {
    for name in ["Next.js", "NextJS", "next-js"] {
        names(name, &["our NEXTJS app", "next.js?", "(Next.js)"]);
    }
    names("Next.js", &["next js", "https://next.js/docs"]);
    names("if-else", &["an if else block", "if/else"]);
    names("Deno.land", &["on deno.land.", "denoland"]);
    names_not("Deno.land", &["deno", "land"]);
    names("@babel-core", &["why @babel-core", "babel core", "@babel/core"]);
    names("C++", &["my c++ code", "C++"]);
    names_not("C++", &["vitamin C", "C#", "c"]);
}

#[test]
fn name_match_ignores_the_plural() {
    names("base rate", &["base rates"]);
    names("hobbies", &["a hobby"]);
    names("boxes", &["the box"]);
    names("Tunis", &["tunis"]);
    names("glass", &["glasses"]);
    names_not("gas", &["ga"]);
    names("Nora", &["Nora's brother", "Nora\u{2019}s"]);
}

#[test]
fn name_does_not_match_across_a_sentence_end() {
    names("base rate", &["base \"rate\"", "base\nrate"]);
    names_not("base rate", &["at base. Rate it", "base, rate", "base\n\nrate"]);
}

#[test]
fn name_matches_with_one_typing_error() {
    let wrong = ["postgers", "postges", "postgrres", "postgrez"];
    for text in wrong {
        assert_eq!(said(&["postgres"], text), ["~postgres"], "{text}");
    }
    names_not("postgres", &["pistgres", "opstgres", "postge", "progress"]);
    assert_eq!(said(&["kubernetes"], "kubernetis"), ["~kubernetes"]);
    assert_eq!(said(&["kubernetes"], "kubrenetis"), ["~kubernetes"]);
}

#[test]
fn name_with_few_letters_or_digits_needs_an_exact_match() {
    names_not("i18n", &["i19n", "i18", "i18nn"]);
    names_not("API", &["APO", "APII"]);
    names_not("gpt4", &["gpt5"]);
    names_not("nuxt", &["nuit", "nux"]);
    assert_eq!(said(&["nuxt"], "nutx"), ["~nuxt"]);
}

#[test]
fn common_word_is_not_a_typo_of_a_name() {
    names_not("Scala", &["on a large scale"]);
    names_not("Forge", &["I forget"]);
    names("Scale", &["on a large scale"]);
}

#[test]
fn exact_name_of_one_memory_is_not_a_typo_of_another() {
    assert_eq!(said(&["marco", "marcos sister", "marca"], "marca"), ["marca"]);
}

#[test]
fn function_word_name_matches_only_with_its_capitals() {
    names("WHO", &["the WHO says"]);
    names_not("WHO", &["who says", "Who says"]);
    names_not("go", &["let us go on"]);
    names("Go", &["written in Go"]);
}

#[test]
fn memory_is_named_once_by_its_longest_name() {
    let memories = [(7, vec!["house", "house policy"]), (3, vec!["policies"]), (9, vec!["x"])];
    let found = Names::new(memories).named_in("house policies, a house, x");
    assert_eq!(
        found,
        [
            NamedMemory { index: 3, name: "policies", exact: true },
            NamedMemory { index: 7, name: "house policy", exact: true },
        ]
    );
}

#[test]
fn exact_name_is_reported_before_a_longer_mistyped_one() {
    let found = Names::new([(0, vec!["flaskapp", "flask"])]).named_in("flask or flaskapq");
    assert_eq!(found, [NamedMemory { index: 0, name: "flask", exact: true }]);
}

#[test]
fn names_without_spaces_between_words_are_found() {
    names("料理教室", &["昨日の料理教室は", "料理教室"]);
    names_not("料理教室", &["料理の教室"]);
}

#[test]
fn odd_names_and_messages_do_not_panic() {
    let odd = [
        "", " ", "_", "...", "a", "\u{301}", "İİİİ", "ß", "😀", "a\0b", "\n\n", "+#", "'s", "ss's",
    ];
    for name in odd {
        for text in odd {
            said(&[name], &format!("{text} {name}{text}"));
        }
    }
}
