//! Counts right and wrong results in two halves: one that the rules were tuned on, and a held-out
//! one. Only the second measures how good the rules are, so its lines are not shown.

/// Right and wrong counts, and the wrong lines.
#[derive(Debug, Default)]
pub struct Tally {
    right: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn count(&mut self, right: bool, words: impl FnOnce() -> String) {
        if right {
            self.right += 1;
        } else {
            self.wrong.push(words());
        }
    }

    pub fn share(&self) -> f64 {
        100.0 * self.right as f64 / (self.right + self.wrong.len()).max(1) as f64
    }

    fn figures(&self) -> String {
        let total = self.right + self.wrong.len();
        format!("{:6} of {total:6} ({:5.1} %)", self.right, self.share())
    }
}

/// Number of misses that are printed.
#[derive(Debug, Clone, Copy)]
pub struct Show {
    /// This many of the half that the rules were tuned on.
    pub misses: usize,
    /// All of them, and those of the held-out half.
    pub all: bool,
}

/// Both halves of a measurement.
#[derive(Debug, Default)]
pub struct Halves {
    pub tuned: Tally,
    pub held: Tally,
}

impl Halves {
    pub fn count(&mut self, id: &str, right: bool, words: impl FnOnce() -> String) {
        let half = if is_tuned_on(id) { &mut self.tuned } else { &mut self.held };
        half.count(right, words);
    }

    /// Prints the figures, and the misses of the tuned half.
    pub fn print(&self, name: &str, show: Show) {
        println!("{name}");
        println!("    tuned on {}", self.tuned.figures());
        let most = if show.all { usize::MAX } else { show.misses };
        self.tuned.wrong.iter().take(most).for_each(|line| println!("        {line}"));
        println!("    held out {}", self.held.figures());
        if show.all {
            self.held.wrong.iter().for_each(|line| println!("        {line}"));
        }
    }
}

/// Odd numbers are for tuning, even ones are held out. Ids end in a number, in public data in a
/// hexadecimal one; its last digit decides.
pub fn is_tuned_on(id: &str) -> bool {
    id.chars().next_back().and_then(|c| c.to_digit(16)).is_some_and(|digit| digit % 2 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_split_by_the_last_digit() {
        assert!(is_tuned_on("cf-017") && is_tuned_on("corpus-9e9b"));
        assert!(!is_tuned_on("cf-018") && !is_tuned_on("corpus-9e9a") && !is_tuned_on(""));
    }
}
