//! What the documents say about the program is true: settings, options and the number of tools.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use lukasa_server::tools;

const README: &str = include_str!("../../../../README.md");
const CLI_PAGE: &str = include_str!("../../../../docs/cli.md");
const OPERATIONS_PAGE: &str = include_str!("../../../../docs/operations.md");

/// The help of every command that has no commands of its own, by its name.
fn help_of_every_command() -> BTreeMap<String, String> {
    let mut waiting = vec![Vec::<String>::new()];
    let mut found = BTreeMap::new();
    while let Some(name) = waiting.pop() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
        let printed = command.args(&name).arg("--help").output().expect("lukasa runs");
        let help = String::from_utf8_lossy(&printed.stdout).into_owned();
        let listed = help.split("\nCommands:\n").nth(1).map(|list| list.lines());
        let listed = listed.into_iter().flatten().take_while(|line| !line.is_empty());
        let below: Vec<&str> = listed
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help")
            .collect();
        if below.is_empty() {
            found.insert(name.join(" "), help);
            continue;
        }
        waiting.extend(below.iter().map(|last| [&name[..], &[(*last).to_owned()]].concat()));
    }
    found
}

#[test]
fn settings_of_every_command_are_in_the_page_of_operations() {
    let commands = help_of_every_command();
    assert!(commands.len() > 60, "{} commands", commands.len());
    let mut settings = BTreeSet::new();
    for help in commands.values() {
        let named = help.split("[env: ").skip(1);
        settings.extend(named.filter_map(|rest| rest.split(['=', ']']).next()).map(str::to_owned));
    }
    // The home folder is a setting of the system.
    settings.remove("HOME");
    assert!(settings.len() > 90 && settings.contains("LUKASA_LISTEN"), "{settings:?}");
    let missing: Vec<_> =
        settings.iter().filter(|name| !OPERATIONS_PAGE.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/operations.md does not name {missing:?}");
}

#[test]
fn commands_that_print_a_result_have_the_option_json() {
    // They print nothing, or a format that they name.
    const WITHOUT: [&str; 5] = ["serve", "mcp", "completions", "openapi", "audit export"];
    let commands = help_of_every_command();
    let without: Vec<&str> = commands
        .iter()
        .filter(|(_, help)| !help.contains("--json"))
        .map(|(name, _)| name.as_str())
        .collect();
    let unexpected: Vec<_> = without.iter().filter(|name| !WITHOUT.contains(name)).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    assert_eq!(without.len(), WITHOUT.len(), "all of these have no --json: {without:?}");
}

#[test]
fn documents_have_the_number_of_tools() {
    let tools = format!("{} tools", tools::all().len());
    assert_eq!(README.matches(&format!("{tools}, 6")).count(), 2, "README.md: {tools}");
    assert!(CLI_PAGE.contains(&format!(", {tools})`")), "docs/cli.md: {tools}");
}
