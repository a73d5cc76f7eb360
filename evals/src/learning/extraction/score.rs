//! The figures of the extraction eval, per category and half.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use super::Args;

/// Counts over a set of dialogues.
#[derive(Debug, Clone, Default)]
pub(super) struct DialogueScore {
    pub dialogues: usize,
    pub sessions: usize,
    /// Sessions that the model did not answer.
    pub failed: usize,
    /// Claims that should be in memory, those that are, and those that are in any state.
    pub wanted: usize,
    pub met: usize,
    pub met_in_any_state: usize,
    /// Active memories that were learned, and those of them that are right.
    pub active: usize,
    pub right: usize,
    pub proposed: usize,
    pub candidates: usize,
    /// Active memories that must not be.
    pub forbidden: usize,
    /// Memories that the user had forgotten and that still exist.
    pub left_over: usize,
    /// Dialogues whose next context quotes a turn with forgotten words.
    pub quoted: usize,
    /// Active memories that say what another one says.
    pub duplicates: usize,
    /// Memories in any state that come from an example in our own prompt.
    pub from_prompt: usize,
    /// Next questions, those whose context has the answer, and those where a memory has it.
    pub questions: usize,
    pub answered: usize,
    pub answered_by_memory: usize,
    pub seconds: f64,
    pub calls: i64,
    pub tokens: (i64, i64),
    /// Active learned memories without a quotation of the user.
    pub unfounded: usize,
    /// Reasons for rejected proposals, and their number.
    pub left: BTreeMap<String, u64>,
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { 100.0 * part as f64 / whole as f64 }
}

impl DialogueScore {
    pub fn precision(&self) -> f64 {
        percent(self.right, self.active)
    }

    pub fn recall(&self) -> f64 {
        percent(self.met, self.wanted)
    }

    pub fn context(&self) -> f64 {
        percent(self.answered, self.questions)
    }

    pub fn add(&mut self, other: &Self) {
        self.dialogues += other.dialogues;
        self.sessions += other.sessions;
        self.failed += other.failed;
        self.wanted += other.wanted;
        self.met += other.met;
        self.met_in_any_state += other.met_in_any_state;
        self.active += other.active;
        self.right += other.right;
        self.proposed += other.proposed;
        self.candidates += other.candidates;
        self.forbidden += other.forbidden;
        self.left_over += other.left_over;
        self.quoted += other.quoted;
        self.duplicates += other.duplicates;
        self.from_prompt += other.from_prompt;
        self.questions += other.questions;
        self.answered += other.answered;
        self.answered_by_memory += other.answered_by_memory;
        self.seconds += other.seconds;
        self.calls += other.calls;
        self.tokens.0 += other.tokens.0;
        self.tokens.1 += other.tokens.1;
        self.unfounded += other.unfounded;
        for (reason, count) in &other.left {
            *self.left.entry(reason.clone()).or_default() += count;
        }
    }

    pub fn print_heading() {
        println!(
            "{:14} {:8} {:>4} {:>9} {:>7} {:>7} {:>9} {:>5} {:>5} {:>4} {:>7} {:>6} {:>6} {:>5}",
            "category",
            "half",
            "n",
            "precision",
            "recall",
            "context",
            "forbidden",
            "gone",
            "twice",
            "own",
            "seconds",
            "in",
            "out",
            "calls"
        );
    }

    pub fn print_row(&self, category: &str, half: &str) {
        let per = |count: i64| count as f64 / self.sessions.max(1) as f64;
        let share = |value: f64, whole: usize| match whole {
            0 => "-".to_owned(),
            _ => format!("{value:.1}"),
        };
        println!(
            "{category:14} {half:8} {:4} {:>9} {:>7} {:>7} {:9} {:5} {:5} {:4} {:7.2} {:6.0} {:6.0} {:5.2}",
            self.dialogues,
            share(self.precision(), self.active),
            share(self.recall(), self.wanted),
            share(self.context(), self.questions),
            self.forbidden,
            self.left_over,
            self.duplicates,
            self.from_prompt,
            self.seconds / self.sessions.max(1) as f64,
            per(self.tokens.0),
            per(self.tokens.1),
            per(self.calls),
        );
    }

    /// Prints what the rows leave out.
    pub fn print_details(&self) {
        println!("  {} sessions, {} without an answer", self.sessions, self.failed);
        println!("  precision    {} of {} active memories", self.right, self.active);
        println!(
            "  recall       {} of {} claims; {} in any state",
            self.met, self.wanted, self.met_in_any_state
        );
        println!(
            "  next context {} of {} questions; {} by a memory, the rest by quoted turns",
            self.answered, self.questions, self.answered_by_memory
        );
        println!("  waiting      {} proposed, {} candidates", self.proposed, self.candidates);
        println!(
            "  forgotten    {} still exist, {} quoted from turns",
            self.left_over, self.quoted
        );
        println!("  rejected     {:?}", self.left);
    }

    /// Fails if the figures are below the thresholds, or a rule that must hold for any model does
    /// not.
    pub fn check(&self, args: &Args) -> Result<()> {
        let (failed, sessions) = (self.failed, self.sessions);
        // A small model runs into its limit of tokens now and then.
        let most = (sessions / 10).max(1);
        ensure!(
            failed <= most && failed < sessions.max(1),
            "the model did not answer {failed} of {sessions} times"
        );
        let unfounded = self.unfounded;
        ensure!(unfounded == 0, "{unfounded} active memories have no quotation of the user");
        let figures = [
            ("precision", self.precision(), args.min_precision),
            ("recall", self.recall(), args.min_recall),
            ("next context", self.context(), args.min_context),
        ];
        for (name, figure, minimum) in figures {
            ensure!(figure >= minimum, "{name} is {figure:.1} %, below {minimum:.1} %");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extraction_figures_add_up() {
        let one = DialogueScore { active: 4, right: 3, wanted: 2, met: 1, ..Default::default() };
        let mut sum = one.clone();
        sum.add(&DialogueScore { active: 6, right: 6, wanted: 2, met: 2, ..one });
        assert_eq!((sum.precision(), sum.recall(), sum.context()), (90.0, 75.0, 100.0));
    }
}
