//! The rule that every error code is used. That each has a row of the table is up to the compiler.

use lukasa_server::api::ErrorCode;

use super::{Source, crate_of, first_word, occurrences};

const LIST: &str = "crates/lukasa-core/src/error_code.rs";

/// Codes that no program text besides their list and tests names.
pub(super) fn unused_codes(files: &[(String, String)], codes: &[String]) -> Vec<String> {
    let mut used = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| crate_of(path).is_some()) {
        let before_tests = text.split("#[cfg(test)]").next().unwrap_or(text);
        if path.ends_with(".rs") && before_tests.contains("ErrorCode::") {
            let code = Source::scan(before_tests).code;
            let names = occurrences(&code, "ErrorCode::");
            used.extend(names.into_iter().map(|(_, _, rest)| first_word(rest).to_owned()));
        }
    }
    let unused = codes.iter().filter(|code| !used.contains(code));
    unused.map(|code| format!("{LIST}:1: no error has the code {code}")).collect()
}

/// The names of all codes.
pub(super) fn declared_codes() -> Vec<String> {
    ErrorCode::ALL.iter().map(|code| format!("{code:?}")).collect()
}

#[test]
fn unused_error_code_is_detected() {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let files = [
        file("crates/x/src/a.rs", "f(ErrorCode::Used) // ErrorCode::Comment"),
        file("crates/x/src/b.rs", "#[cfg(test)]\nmod tests { f(ErrorCode::Tested); }"),
        file("crates/x/tests/it/c.rs", "f(ErrorCode::Tested)"),
    ];
    let codes = ["Used", "Tested", "Comment"].map(str::to_owned);
    let found = unused_codes(&files, &codes);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].ends_with("Tested") && found[1].ends_with("Comment"), "{found:?}");
    assert!(declared_codes().contains(&"MemoryNotFound".to_owned()));
}
