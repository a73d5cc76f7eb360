//! Settings of the default policy, for `lukasa serve` and `lukasa work`.

use anyhow::Context;
use clap::{Args, ValueEnum};
use lukasa_core::Policy;
use lukasa_core::policy::{PRESETS, Trigger};

/// When a conversation is learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LearnAfter {
    /// When it is closed, or after a pause
    Close,
    /// After every turn: sooner, and one request to the chat model per turn
    Turn,
    /// Only on request
    Manual,
}

/// The default policy of tenants and users that have set none.
#[derive(Debug, Clone, Args)]
pub struct PolicySettings {
    /// Default policy of tenants and users that have set none: balanced, advisor, chat, assistant,
    /// research or clone
    #[arg(long, env = "LUKASA_POLICY", default_value = "balanced", value_name = "PRESET")]
    policy: String,
    /// When the default policy learns from a conversation; the preset decides if absent
    #[arg(long, env = "LUKASA_LEARN_AFTER", value_name = "WHEN")]
    learn_after: Option<LearnAfter>,
    /// Minutes without a turn after which the default policy closes a conversation and learns from
    /// it; 0 means never, and the preset decides if absent
    #[arg(long, env = "LUKASA_LEARN_PAUSE", value_name = "MINUTES",
          value_parser = clap::value_parser!(u32).range(0..=525_600))]
    learn_pause: Option<u32>,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self { policy: "balanced".into(), learn_after: None, learn_pause: None }
    }
}

impl PolicySettings {
    /// The default policy.
    pub fn open(&self) -> anyhow::Result<Policy> {
        let Self { policy: name, learn_after, learn_pause } = self;
        let mut policy = Policy::preset(name).with_context(|| {
            format!("there is no policy called {name}\n  next: use one of {}", PRESETS.join(", "))
        })?;
        match learn_after {
            Some(LearnAfter::Close) => policy.extract = Trigger::Close,
            Some(LearnAfter::Turn) => policy.extract = Trigger::Turn,
            Some(LearnAfter::Manual) => policy.extract = Trigger::Manual,
            None => {}
        }
        if let Some(minutes) = learn_pause {
            policy.idle_close_minutes = Some(*minutes).filter(|minutes| *minutes > 0);
        }
        Ok(policy)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        policy: PolicySettings,
    }

    fn parse(arguments: &[&str]) -> anyhow::Result<Policy> {
        let arguments = std::iter::once("lukasa").chain(arguments.iter().copied());
        Cli::try_parse_from(arguments)?.policy.open()
    }

    #[test]
    fn learn_after_and_pause_override_the_preset() {
        let preset = parse(&["--policy", "chat"]).unwrap();
        assert_eq!((preset.extract, preset.idle_close_minutes), (Trigger::Turn, Some(30)));
        let set = parse(&["--policy", "chat", "--learn-after", "close", "--learn-pause", "5"]);
        let set = set.unwrap();
        assert_eq!((set.extract, set.idle_close_minutes), (Trigger::Close, Some(5)));
        assert_eq!(set.inject_importance, preset.inject_importance);
        let turn = parse(&["--learn-after", "turn", "--learn-pause", "0"]).unwrap();
        assert_eq!((turn.extract, turn.idle_close_minutes), (Trigger::Turn, None));
    }

    #[test]
    fn learn_after_unknown_word_or_preset_is_refused() {
        assert!(parse(&["--learn-after", "never"]).is_err());
        let refused = parse(&["--policy", "reckless"]).unwrap_err().to_string();
        assert!(refused.contains("balanced"), "{refused}");
    }
}
