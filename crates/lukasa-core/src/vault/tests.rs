//! Round trips of the vault, and the plans of edits.

use std::collections::BTreeSet;

use super::*;
use crate::fact::{Claim, ClaimEvidence, Edit, Force, Kind, MemoryType, Tier};
use crate::id::Ids;
use crate::origin::{Origin, Voice};
use crate::time::Period;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

const NOW: i64 = 1_000_000;

fn ids(seed: u8) -> Ids {
    Ids::new(at(i64::from(seed)), [seed; 16])
}

fn version(seed: u8, claim: Claim) -> Version {
    let mut version = crate::fact::tests::version(Voice::stated(Origin::UserSaid));
    let mut ids = ids(seed);
    (version.fact, version.id, version.claim) = (ids.fact(), ids.version(), claim);
    version
}

/// One of each: a plain one, one in a domain, a rule, an inferred one, one forgotten, one proposed.
fn held() -> VaultContents {
    let mut food = Claim::saying("Likes oolong\nand cake #1");
    (food.domain, food.memory_type) = (Some("food".into()), MemoryType::Domain);
    food.tags = vec!["tea".into(), "two words".into()];
    let mut rule = Claim::saying("Window seats only");
    (rule.force, rule.domain) = (Force::Hard, Some("travel".into()));
    (rule.key, rule.value) = (Some("seat".into()), Some(serde_json::json!("window")));
    let mut style = Claim::saying("Answer in short sentences");
    (style.memory_type, style.kind) = (MemoryType::Procedural, Kind::Preference);
    let mut guess = version(4, Claim::saying("Runs on Sundays"));
    (guess.extracted, guess.confidence, guess.tier) = (true, Some(0.8), Tier::Tentative);
    guess.claim.evidence = vec![ClaimEvidence::of("quote", "I ran")];
    let mut forgotten = version(5, Claim::saying("Lives in Porto"));
    forgotten.state = State::Forgotten;
    let mut proposed = version(6, Claim::saying("Wants a dog"));
    (proposed.state, proposed.origin) = (State::Proposed, Origin::Assistant);
    let mut trashed = version(7, Claim::saying("Trashed words"));
    trashed.state = State::Trashed;
    let versions = vec![
        version(0, Claim::saying("Lives in Lisbon")),
        version(1, food),
        version(2, rule),
        version(3, style),
        guess,
        forgotten,
        proposed,
        trashed,
    ];
    let mut ids = ids(99);
    let link = Link {
        id: ids.link(),
        from: versions[0].fact,
        to: versions[1].fact,
        relation: "relates_to".into(),
        known: Period::since(at(0)),
        opened_by: versions[0].opened_by,
        closed_by: None,
        reopens: None,
    };
    let episode = Episode {
        id: ids.episode(),
        session: "s".into(),
        first_turn: 1,
        last_turn: 2,
        title: Some("Moving".into()),
        summary: "They talked about\nmoving.".into(),
        origin: Origin::UserTurn,
        started_at: at(NOW),
        ended_at: at(NOW),
        pass: ids.pass(),
        prompt: "p/1".into(),
        recorded_at: at(NOW),
        searchable: true,
    };
    VaultContents { versions, links: vec![link], episodes: vec![episode] }
}

fn export(held: &VaultContents) -> Vec<File> {
    render(held, at(NOW), &PreservedParts::default())
}

fn planned(files: &[File], held: &VaultContents) -> SyncPlan {
    plan(&read(files), held, &MissingContent::default(), at(NOW))
}

fn text<'a>(files: &'a mut [File], path: &str) -> &'a mut String {
    &mut files.iter_mut().find(|file| file.path == path).unwrap().content
}

fn edit(files: &mut [File], path: &str, from: &str, to: &str) {
    let text = text(files, path);
    assert!(text.contains(from), "{text}");
    *text = text.replace(from, to);
}

/// Removes the line that contains `words` from a file, and returns it.
fn cut(files: &mut [File], path: &str, words: &str) -> String {
    let text = text(files, path);
    let line = text.lines().find(|line| line.contains(words)).unwrap().to_owned() + "\n";
    *text = text.replace(&line, "");
    line
}

#[test]
fn vault_export_has_readable_files() {
    let files = export(&held());
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "domains/food.md",
            "domains/travel.md",
            "episodes/1970-01.md",
            "procedures.md",
            "profile.md",
            "proposals.md",
            BASE
        ]
    );
    let get = |path: &str| files.iter().find(|file| file.path == path).unwrap().content.clone();
    assert!(get("profile.md").starts_with("# Profile\n\n> Who you are"));
    assert!(get("profile.md").contains("\n## Facts\n\n- Lives in Lisbon ^mem-"));
    assert!(get("profile.md").contains("\n  → relates_to [[domains/food#^mem-"));
    assert!(get("profile.md").contains("- Runs on Sundays *(inferred, 80 % sure)* ^mem-"));
    assert!(get("domains/travel.md").contains("seats only *(rule seat = \"window\")* ^mem-"));
    assert!(get("proposals.md").contains("- Wants a dog ^mem-"));
    let all: String = files.iter().map(|file| file.content.as_str()).collect();
    assert!(all.contains("Lives in Porto") && !all.contains("Trashed words"));
    let shown = files.iter().filter(|file| file.path != BASE);
    assert!(!shown.map(|f| f.content.as_str()).collect::<String>().contains("Porto"));
}

#[test]
fn vault_without_edits_plans_nothing_and_renders_the_same() {
    let held = held();
    let mut files = export(&held);
    let base = read(&files).base;
    assert_eq!(base, Base::of(&held, at(NOW)), "the base survives the round trip");
    let check = |files: &[File]| {
        let read = read(files);
        let plan = plan(&read, &held, &MissingContent::default(), at(NOW));
        assert!(plan.is_empty(), "{plan:?}");
        assert!(plan.conflicts.is_empty() && plan.problems.is_empty(), "{plan:?}");
        let kept = PreservedParts {
            notes: &read.notes,
            fronts: read.fronts.clone(),
            ..PreservedParts::default()
        };
        render(&held, at(NOW), &kept)
    };
    assert_eq!(check(&files), export(&held));
    let mut other_order = held.clone();
    other_order.versions.reverse();
    assert_eq!(export(&other_order), files, "the order of versions does not matter");
    for file in &mut files {
        file.content = file.content.replace('\n', "\r\n").trim_end().to_owned();
    }
    assert_eq!(check(&files), export(&held), "other line ends, no last one");
    edit(&mut files, "profile.md", "# Profile", "# Me\r\n");
    assert_eq!(check(&files), export(&held), "another title");
}

#[test]
fn vault_edits_become_their_verbs() {
    let held = held();
    let mut files = export(&held);
    edit(&mut files, "profile.md", "Lisbon", "Faro");
    edit(&mut files, "profile.md", " *(inferred, 80 % sure)*", "");
    edit(&mut files, "profile.md", "## Facts\n", "## Facts\n\n- Speaks Danish #language\n");
    cut(&mut files, "procedures.md", "short sentences");
    let food = cut(&mut files, "domains/food.md", "oolong");
    text(&mut files, "procedures.md").push_str(&food);
    let dog = cut(&mut files, "proposals.md", "dog");
    text(&mut files, "profile.md").push_str(&dog.replace("a dog", "two dogs"));
    let plan = planned(&files, &held);
    assert!(plan.conflicts.is_empty() && plan.problems.is_empty(), "{plan:?}");
    let steps: Vec<(&str, Option<&str>)> =
        plan.steps.iter().map(|s| (s.what.as_str(), s.after.as_deref())).collect();
    assert_eq!(
        steps,
        [
            ("forget", None),
            ("change", Some("Likes oolong\nand cake #1")),
            ("save", Some("Speaks Danish")),
            ("change", Some("Lives in Faro")),
            ("confirm", Some("Runs on Sundays")),
            ("accept", Some("Wants two dogs")),
        ]
    );
    let PlannedChange::Change(moved) = &plan.steps[1].what else { panic!("a change") };
    let only = Edit { memory_type: Some(MemoryType::Procedural), ..Edit::default() };
    assert_eq!(**moved, only, "only the place changed");
    let PlannedChange::Save(new) = &plan.steps[2].what else { panic!("a save") };
    assert_eq!((new.kind, new.tags.as_slice()), (Kind::Fact, &["language".to_owned()][..]));
}

#[test]
fn vault_edit_on_both_sides_is_a_conflict_unless_in_different_parts() {
    let was = held();
    let mut files = export(&was);
    edit(&mut files, "profile.md", "Lisbon", "Faro");
    edit(&mut files, "domains/food.md", "Likes", "Loves");
    let mut now = was.clone();
    now.versions[0].claim.content = "Lives in Braga".into();
    now.versions[1].claim.tags.push("new".into());
    let plan = planned(&files, &now);
    let [conflict] = &plan.conflicts[..] else { panic!("one conflict: {plan:?}") };
    let said = |text: &Option<String>| text.clone().unwrap_or_default();
    assert!(said(&conflict.base).contains("Lisbon") && said(&conflict.ours).contains("Braga"));
    assert!(said(&conflict.theirs).contains("Faro"));
    let [step] = &plan.steps[..] else { panic!("one step: {plan:?}") };
    assert_eq!(
        step.what,
        PlannedChange::Change(Box::new(Edit::content("Loves oolong\nand cake #1")))
    );
    // The same edit on both sides is none.
    now.versions[0].claim.content = "Lives in Faro".into();
    assert!(planned(&files, &now).conflicts.is_empty());
    // Changed here and deleted there, and the other way round.
    cut(&mut files, "profile.md", "Faro");
    now.versions[0].claim.content = "Lives in Braga".into();
    assert_eq!(planned(&files, &now).conflicts.len(), 1);
    let mut files = export(&was);
    edit(&mut files, "profile.md", "Lisbon", "Faro");
    now.versions[0].state = State::Forgotten;
    let plan = planned(&files, &now);
    assert_eq!((plan.conflicts.len(), plan.conflicts[0].ours.clone()), (1, None));
    assert!(
        planned(&export(&was), &now).is_empty(),
        "a line whose memory was removed is removed too"
    );
}

#[test]
fn vault_conflict_is_unchanged_until_the_user_decides() {
    let was = held();
    let mut files = export(&was);
    edit(&mut files, "profile.md", "Lisbon", "Faro");
    let mut now = was.clone();
    now.versions[0].claim.content = "Lives in Braga".into();
    now.versions[1].claim.content = "Likes coffee".into();
    for _ in 0..3 {
        let read = read(&files);
        let plan = plan(&read, &now, &MissingContent::default(), at(NOW));
        assert_eq!((plan.conflicts.len(), plan.steps.len()), (1, 0), "{plan:?}");
        let kept = PreservedParts {
            base: Some(&read.base),
            facts: plan.held.clone(),
            entries: plan.kept.iter().map(|index| &read.entries[*index]).collect(),
            notes: &read.notes,
            ..PreservedParts::default()
        };
        files = render(&now, at(NOW), &kept);
        assert!(text(&mut files, "profile.md").contains("Lives in Faro"));
        assert!(text(&mut files, "domains/food.md").contains("Likes coffee"));
    }
    // The user accepts the current state.
    edit(&mut files, "profile.md", "Faro", "Braga");
    let plan = planned(&files, &now);
    assert!(plan.is_empty() && plan.conflicts.is_empty(), "{plan:?}");
}

#[test]
fn vault_reports_broken_and_duplicate_marks_without_changes() {
    let held = held();
    let mut files = export(&held);
    let line = cut(&mut files, "profile.md", "Lisbon");
    let twice = format!("{line}{line}");
    text(&mut files, "profile.md").push_str(&twice);
    let plan = planned(&files, &held);
    assert_eq!((plan.problems.len(), plan.steps.len()), (2, 0), "{plan:?}");
    assert!(plan.problems[0].line > 1 && plan.problems[0].file == "profile.md");
    let mut files = export(&held);
    let line = cut(&mut files, "profile.md", "Lisbon");
    let half = line.trim_end().get(..line.len() - 5).unwrap().replace("Lisbon", "Faro");
    text(&mut files, "profile.md").push_str(&half);
    let plan = planned(&files, &held);
    assert_eq!((plan.problems.len(), plan.steps.len()), (1, 0), "{plan:?}");
    assert!(!plan.held.is_empty(), "its memory is not taken for forgotten");
}

#[test]
fn vault_line_without_its_mark_is_still_the_same_memory() {
    let held = held();
    let mut files = export(&held);
    let line = cut(&mut files, "profile.md", "Lisbon");
    let (words, _) = line.split_once(" ^mem-").unwrap();
    text(&mut files, "profile.md").push_str(words);
    assert!(planned(&files, &held).is_empty());
    text(&mut files, "profile.md").push_str("\n- Lives in Lisbon\n");
    assert!(planned(&files, &held).is_empty(), "a duplicate line adds nothing");
}

#[test]
fn vault_keeps_notes_and_front_matter_of_the_user() {
    let held = held();
    let mut files = export(&held);
    let profile = text(&mut files, "profile.md");
    *profile =
        format!("---\ntags: [me]\n---\n{profile}\nMy own words.\nMore.\n\n## Ideas\n\n1. x\n");
    let read = read(&files);
    let plan = plan(&read, &held, &MissingContent::default(), at(NOW));
    assert!(plan.is_empty() && plan.problems.is_empty(), "{plan:?}");
    let kept = PreservedParts {
        notes: &read.notes,
        fronts: read.fronts.clone(),
        ..PreservedParts::default()
    };
    let mut again = render(&held, at(NOW), &kept);
    assert_eq!(text(&mut again, "profile.md"), text(&mut files, "profile.md"));
}

#[test]
fn vault_restores_missing_facts_with_links_and_not_erased_ones() {
    let was = held();
    let files = export(&was);
    let read = read(&files);
    let facts: BTreeSet<FactId> = was.versions.iter().map(|v| v.fact).collect();
    let missing = MissingContent { facts: facts.clone(), everything: true };
    let whole = plan(&read, &VaultContents::default(), &missing, at(NOW));
    assert!(whole.steps.is_empty() && whole.problems.is_empty(), "{whole:?}");
    let counts = (whole.restores.len(), whole.links.len(), whole.episodes.len());
    assert_eq!(counts, (7, 1, 1));
    let mut but_one = missing;
    but_one.facts.remove(&was.versions[1].fact);
    let part = plan(&read, &VaultContents::default(), &but_one, at(NOW));
    assert_eq!((part.restores.len(), part.links.len()), (6, 0), "nor does a link to it");
    assert!(part.conflicts.is_empty() && part.steps.is_empty());
}

#[test]
fn vault_base_with_invalid_rows_skips_them() {
    let mut held = held();
    held.versions[0].number = 0;
    held.versions[2].claim.key = None;
    let mut files = export(&held);
    text(&mut files, BASE).push_str("{\"memory\": 1}\nnot json\n");
    let read = read(&files);
    assert_eq!(read.problems.len(), 4, "{:?}", read.problems);
    assert_eq!(read.base.memories.len(), 5);
    let mut files = export(&self::held());
    let base = text(&mut files, BASE);
    *base = base.lines().filter(|line| !line.contains("Lisbon")).collect::<Vec<_>>().join("\n");
    assert_eq!(super::read(&files).problems.len(), 1, "a missing line is noticed");
}

#[test]
fn vault_front_matter_ignores_carriage_returns() {
    let mut files = export(&held());
    let profile = files.iter_mut().find(|file| file.path == "profile.md").unwrap();
    profile.content = format!("---\r\nx: 1\r\r\n---\r\n{}", profile.content);
    let once = read(&files).fronts["profile.md"].clone();
    assert_eq!(once, "---\nx: 1\n---\n");
    let profile = files.iter_mut().find(|file| file.path == "profile.md").unwrap();
    profile.content = format!("{once}# Profile\n");
    assert_eq!(read(&files).fronts["profile.md"], once, "written again it is the same");
}

#[test]
fn vault_lines_and_notes_below_a_heading_share_its_text() {
    let heading = "Mine ".repeat(40);
    let small = "x\n\n- y\n".repeat(1_000);
    let content = format!("# Profile\n\n## {heading}\n\n{small}");
    let read = read(&[File { path: "profile.md".into(), content }]);
    assert_eq!((read.entries.len(), read.notes.len()), (1_000, 1_000));
    let first = &read.entries[0].section;
    assert_eq!(**first, *heading.trim());
    let notes = read.notes.iter().map(|note| &note.section);
    let all = read.entries.iter().map(|entry| &entry.section).chain(notes);
    assert_eq!(all.filter(|section| std::sync::Arc::ptr_eq(first, section)).count(), 2_000);
}

#[test]
fn very_long_vault_heading_is_a_note() {
    let long = format!("## {}", "a".repeat(300));
    let content = format!("# Profile\n\n## Mine\n\n- Likes tea\n\n{long}\n\n- Likes cake\n");
    let read = read(&[File { path: "profile.md".into(), content }]);
    let sections: Vec<&str> = read.entries.iter().map(|entry| &*entry.section).collect();
    assert_eq!(sections, ["Mine", "Mine"]);
    assert_eq!(read.notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), [long]);
}
