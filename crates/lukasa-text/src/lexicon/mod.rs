//! Word lists, read from the text files under `lexicon/`, which are compiled into the program.
//!
//! The format of the files is described in `lexicon/README.md`. What a list means, and how it is
//! compared with a text, is defined where it is used.

use std::collections::HashSet;

/// The texts of the files of one list, in the order of their languages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexicon {
    files: &'static [&'static str],
}

/// The list `<topic>/<category>` in the given languages: `lexicon!("secret/key", en de)`.
macro_rules! lexicon {
    ($list:literal, $($language:ident)+) => {
        $crate::lexicon::Lexicon::new(&[$(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/lexicon/",
            $list,
            ".",
            stringify!($language),
            ".txt"
        ))),+])
    };
}

pub(crate) use lexicon;

impl Lexicon {
    pub(crate) const fn new(files: &'static [&'static str]) -> Self {
        Self { files }
    }

    /// The entries of all files, in order.
    pub(crate) fn entries(self) -> Vec<String> {
        self.files.iter().flat_map(|text| entries(text)).collect()
    }

    pub(crate) fn words(self) -> HashSet<String> {
        self.entries().into_iter().collect()
    }
}

impl IntoIterator for Lexicon {
    type Item = String;
    type IntoIter = std::vec::IntoIter<String>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries().into_iter()
    }
}

/// The entries of a file, with continued lines joined.
fn entries(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        match entries.last_mut().filter(|_| line.starts_with(' ')) {
            Some(entry) => {
                if !entry.ends_with('|') {
                    entry.push(' ');
                }
                entry.push_str(line.trim());
            }
            None => entries.push(line.trim().to_owned()),
        }
    }
    entries
}

#[cfg(test)]
mod tests;
