//! `lukasa completions` and `lukasa man`: shell completions and manual pages, generated from the
//! commands.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Cli, FormatArgs, say, say_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa completions bash > ~/.local/share/bash-completion/completions/lukasa
  lukasa completions zsh > ~/.zfunc/_lukasa
  lukasa completions fish > ~/.config/fish/completions/lukasa.fish")]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    pub fn run(self) -> anyhow::Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "lukasa", &mut text);
        say(&String::from_utf8_lossy(&text))
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa man --dir ~/.local/share/man/man1
  man lukasa-recall")]
pub struct ManArgs {
    /// The folder to write them into, one page for each command
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

impl ManArgs {
    pub fn run(self) -> anyhow::Result<()> {
        let write_error = || format!("cannot write into {}", self.dir.display());
        std::fs::create_dir_all(&self.dir).with_context(write_error)?;
        let mut command = Cli::command();
        command.build();
        let mut pages = Vec::new();
        collect(&command, &mut pages);
        for (name, page) in &pages {
            std::fs::write(self.dir.join(name), page).with_context(write_error)?;
        }
        if self.format.json {
            let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
            return say_json(&serde_json::json!({ "folder": self.dir, "pages": names }));
        }
        say(&format!("{} pages in {}", pages.len(), self.dir.display()))
    }
}

/// The pages of a command and of everything below it: lukasa.1, lukasa-key.1, lukasa-key-create.1.
fn collect(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    let man = clap_mangen::Man::new(command.clone());
    let mut page = Vec::new();
    if man.render(&mut page).is_ok() {
        pages.push((man.get_filename(), page));
    }
    for inner in command.get_subcommands() {
        collect(inner, pages);
    }
}
