//! Vaults: editing memories as files, syncing, undoing, restoring, and the limits of trust.

use lukasa_core::vault::{BASE, Command, File};
use lukasa_core::{
    Caller, Category, Claim, Edit, Force, MemoryType, Origin, ProjectScope, Status, Tier, Verb,
};
use lukasa_engine::directory::OptIn;
use lukasa_engine::facts::{NewMemory, ProposalDecision, Target};
use lukasa_engine::vault::SyncReport;
use serde_json::json;

use crate::story::Story;

impl Story {
    async fn export(&self, caller: &Caller) -> Vec<File> {
        self.engine.vault.export(caller, Vec::new(), self.now(), Vec::new()).await.unwrap()
    }

    async fn sync_by(&self, caller: Caller, files: &[File]) -> SyncReport {
        self.pass(1);
        self.engine.vault.apply(&self.by(caller), files, false, Vec::new()).await.unwrap()
    }

    async fn sync_trusting(&self, caller: Caller, files: &[File]) -> SyncReport {
        self.pass(1);
        self.engine.vault.apply(&self.by(caller), files, true, Vec::new()).await.unwrap()
    }

    async fn sync(&self, files: &[File]) -> SyncReport {
        self.sync_by(self.alice(), files).await
    }

    async fn hash(&self, caller: &Caller) -> (String, String) {
        let hash = self.engine.insights.summary(caller, self.now()).await.unwrap().hash;
        (hash.memories, hash.episodes)
    }

    async fn saved(&self, claim: Claim) -> lukasa_core::FactId {
        self.pass(1);
        let new = NewMemory { claim, keep_without_domain: true, ..NewMemory::saying("") };
        Story::fact(&self.engine.facts.save(&self.request(), new).await.unwrap())
    }
}

fn text<'a>(files: &'a mut [File], path: &str) -> &'a mut String {
    &mut files.iter_mut().find(|file| file.path == path).unwrap().content
}

fn edit(files: &mut [File], path: &str, from: &str, to: &str) {
    let text = text(files, path);
    assert!(text.contains(from), "{text}");
    *text = text.replace(from, to);
}

fn cut(files: &mut [File], path: &str, words: &str) -> String {
    let text = text(files, path);
    let line = text.lines().find(|line| line.contains(words)).unwrap().to_owned() + "\n";
    *text = text.replace(&line, "");
    line
}

/// Saves one memory of every kind.
async fn furnish(story: &Story) {
    story.saved(Claim::saying("Lives in Lisbon")).await;
    let mut rule = Claim::saying("Window seats only");
    (rule.force, rule.domain) = (Force::Hard, Some("travel".into()));
    (rule.key, rule.value) = (Some("seat".into()), Some(json!({"side": "window", "rows": 0.1})));
    let rule = story.saved(rule).await;
    let mut style = Claim::saying("Answer in short sentences\nand no more");
    (style.category, style.tags) = (Category::Style, vec!["tone".into(), "two words".into()]);
    style.importance = 0.7;
    let style = story.saved(style).await;
    let mut task = Claim::saying("Write the annual report");
    task.memory_type = MemoryType::Task;
    let task = story.saved(task).await;
    story.change(task, "Send the annual report").await;
    let gone = story.saved(Claim::saying("Lives in Porto")).await;
    story.engine.removals.forget(&story.request(), &Target::Id(gone)).await.unwrap();
    let target = |id| Target::Id(id);
    story
        .engine
        .facts
        .link(&story.request(), &target(rule), &target(style), "supports")
        .await
        .unwrap();
    let propose = story.by(story.assistant());
    story.engine.facts.propose(&propose, NewMemory::saying("Wants a dog")).await.unwrap();
    let mut guess = NewMemory::saying("Runs on Sundays");
    (guess.confidence, guess.tier) = (Some(0.8), Tier::Tentative);
    let mut extractor = story.by(story.extractor());
    extractor.caller.credential = "learned".into();
    story.engine.facts.save(&extractor, guess).await.unwrap();
    story.pass(1);
}

#[tokio::test]
async fn vault_sync_is_one_operation_and_can_be_undone() {
    let story = Story::begin().await;
    furnish(&story).await;
    let before = story.hash(&story.alice()).await;
    let mut files = story.export(&story.alice()).await;
    assert_eq!(files, story.export(&story.alice()).await, "two exports are identical");
    let unchanged = story.sync(&files).await;
    assert_eq!((unchanged.operation, &unchanged.files), (None, &files), "nothing is written");
    edit(&mut files, "profile.md", "Lisbon", "Faro");
    edit(&mut files, "profile.md", " *(inferred, 80 % sure)*", "");
    cut(&mut files, "procedures.md", "short sentences");
    text(&mut files, "profile.md").push_str("- Speaks Danish #language\n");
    let dog = cut(&mut files, "proposals.md", "dog");
    text(&mut files, "active_context.md").push_str(&dog);
    let synced = story.sync(&files).await;
    assert!(synced.plan.problems.is_empty() && synced.plan.conflicts.is_empty());
    let mut done: Vec<&str> = synced.plan.steps.iter().map(|step| step.what.as_str()).collect();
    done.sort_unstable();
    assert_eq!(done, ["accept", "change", "confirm", "forget", "save"]);
    let active = story.active().await;
    assert_eq!(active.len(), 6, "{active:?}");
    assert!(active.contains(&"Lives in Faro".into()) && active.contains(&"Wants a dog".into()));
    let id = synced.operation.unwrap();
    let operation = story.engine.facts.operation(&story.alice(), id, story.now()).await.unwrap();
    assert_eq!(operation.verb, Verb::Sync);
    assert_eq!(synced.files, story.export(&story.alice()).await);
    let again = story.sync(&synced.files).await;
    assert_eq!((again.operation, again.files), (None, synced.files));
    story.engine.undo.undo(&story.request(), id).await.unwrap();
    assert_eq!(story.hash(&story.alice()).await, before);
}

#[tokio::test]
async fn vault_restores_an_erased_user_completely() {
    let story = Story::begin().await;
    furnish(&story).await;
    let (before, files) = (story.hash(&story.alice()).await, story.export(&story.alice()).await);
    let tenant = story.tenant;
    story.engine.erasures.erase_user(tenant, "alice", story.moment()).await.unwrap();
    story.engine.directory.create_user(tenant, "alice", None, story.now()).await.unwrap();
    assert!(story.active().await.is_empty());
    let synced = story.sync(&files).await;
    assert_eq!(synced.plan.problems, []);
    assert_eq!(story.hash(&story.alice()).await, before);
    // Links and versions are restored, and the next edit is an ordinary change.
    let mut files = synced.files;
    edit(&mut files, "active_context.md", "annual report", "annual reports");
    let next = story.sync(&files).await;
    assert_eq!(next.plan.steps.len(), 1);
    // All of it can be undone, step by step.
    for id in [next.operation, synced.operation] {
        story.engine.undo.undo(&story.request(), id.unwrap()).await.unwrap();
    }
    assert!(story.active().await.is_empty());
}

#[tokio::test]
async fn vault_sync_does_not_restore_erased_memories() {
    let story = Story::begin().await;
    let erased = story.saved(Claim::saying("A secret place")).await;
    let trashed = story.saved(Claim::saying("An old place")).await;
    let undone = story.save("A mistaken place").await;
    let mut files = story.export(&story.alice()).await;
    story.pass(1);
    story.engine.removals.erase(&story.request(), &Target::Id(erased)).await.unwrap();
    story.engine.removals.delete(&story.request(), &Target::Id(trashed)).await.unwrap();
    story.engine.undo.undo(&story.request(), undone.operation.unwrap()).await.unwrap();
    let synced = story.sync(&files).await;
    assert_eq!(synced.operation, None);
    assert!(synced.files.iter().all(|file| !file.content.contains("place")));
    edit(&mut files, "profile.md", "A secret", "The secret");
    let synced = story.sync(&files).await;
    assert_eq!((synced.operation, synced.plan.conflicts.len()), (None, 1));
    assert!(story.active().await.is_empty());
}

#[tokio::test]
async fn vault_sync_trust_is_limited_to_the_callers() {
    let story = Story::begin().await;
    furnish(&story).await;
    let said = story.list(Default::default(), Default::default()).await;
    let lisbon = said.iter().find(|m| m.version.claim.content.contains("Lisbon")).unwrap();
    let yes = ProposalDecision::Yes { digest: None, edit: Box::new(Edit::default()) };
    let target = Target::Id(lisbon.version.fact);
    story.engine.facts.confirm(&story.request(), &target, yes).await.unwrap();
    let files = story.export(&story.alice()).await;
    let tool = Caller::key(story.tenant, "bob", "k2", Origin::Tool);
    let synced = story.sync_by(tool.clone(), &files).await;
    assert_eq!(synced.plan.problems, []);
    let held = story.engine.vault.export(&tool, Vec::new(), story.now(), Vec::new()).await.unwrap();
    let base = lukasa_core::vault::read(&held).base;
    assert!(!base.memories.is_empty());
    for based in &base.memories {
        assert!(based.memory.origin <= Origin::Tool, "{based:?}");
        assert_eq!(based.memory.consented_at, None);
    }
    // A stated memory is not replaced by an import; its other edits are applied.
    let mut files = files;
    edit(&mut files, "profile.md", "Lisbon", "Faro");
    text(&mut files, "profile.md").push_str("- Imported words\n");
    let import = Caller::key(story.tenant, "alice", "k3", Origin::Import);
    let synced = story.sync_by(import, &files).await;
    assert_eq!((synced.plan.steps.len(), synced.plan.problems.len()), (1, 1), "{:?}", synced.plan);
    assert!(synced.plan.problems[0].what.contains("cannot replace"));
    assert!(story.active().await.contains(&"Lives in Lisbon".to_owned()));
    let mut files = synced.files;
    assert!(text(&mut files, "profile.md").contains("Lives in Faro"), "the edit is still there");
    let synced = story.sync(&files).await;
    assert_eq!(synced.plan.steps.len(), 1, "the user can make the edit");
    assert!(story.active().await.contains(&"Lives in Faro".to_owned()));
}

#[tokio::test]
async fn vault_conflict_leaves_both_sides_unchanged() {
    let story = Story::begin().await;
    let fact = story.saved(Claim::saying("Lives in Lisbon")).await;
    let mut files = story.export(&story.alice()).await;
    edit(&mut files, "profile.md", "Lisbon", "Faro");
    text(&mut files, "profile.md").push_str("- Speaks Danish\n");
    story.pass(1);
    story.change(fact, "Lives in Braga").await;
    let plan = story.engine.vault.plan(&story.alice(), &files, story.now()).await.unwrap();
    assert_eq!((plan.conflicts.len(), plan.steps.len()), (1, 1));
    let mut files = story.sync(&files).await.files;
    assert_eq!(story.get(fact).await.unwrap().version.claim.content, "Lives in Braga");
    assert!(text(&mut files, "profile.md").contains("Lives in Faro"));
    let again = story.sync(&files).await;
    assert_eq!((again.operation, again.plan.conflicts.len()), (None, 1));
}

#[tokio::test]
async fn vault_lines_of_closed_domain_wait_for_opt_in() {
    let story = Story::begin().await;
    let alice = story.alice();
    story.engine.directory.set_opt_in(&story.request(), "health", OptIn::Open).await.unwrap();
    let mut claim = Claim::saying("Allergic to nuts");
    claim.domain = Some("health".into());
    story.saved(claim).await;
    let (before, files) = (story.hash(&alice).await, story.export(&alice).await);
    let bob = Caller::human(story.tenant, "bob", "local");
    let synced = story.sync_trusting(bob.clone(), &files).await;
    assert_eq!((synced.operation, synced.plan.problems.len()), (None, 1));
    assert!(synced.files.iter().any(|file| file.path == "domains/health.md"));
    story.engine.directory.set_opt_in(&story.by(bob.clone()), "health", OptIn::Open).await.unwrap();
    let synced = story.sync_trusting(bob.clone(), &synced.files).await;
    assert_eq!(synced.plan.problems, []);
    assert_eq!(story.hash(&bob).await, before);
}

#[tokio::test]
async fn vault_command_in_a_project_reads_no_summary_of_a_session() {
    let story = Story::begin().await;
    story.save("Lives in Lisbon").await;
    let turns = vec![lukasa_core::NewTurn::saying(lukasa_core::Role::User, "Hello")];
    story.engine.sessions.append_turns(&story.request(), "chat", turns).await.unwrap();
    let admin = story.database.admin().await;
    let rename = async |from: &str, to: &str| {
        let sql = format!("alter table session rename column {from} to {to}");
        admin.batch_execute(&sql).await.unwrap();
    };
    rename("summary", "unread").await;
    let path = || "/memories/profile.md".to_owned();
    let replaces = Command::Replace { path: path(), old: "Lisbon".into(), new: "Faro".into() };
    for command in [Command::View { path: path(), range: None }, replaces] {
        story.pass(1);
        let vault = &story.engine.vault;
        let done = vault.command(&story.request(), &command, &ProjectScope::NoProject).await;
        assert!(!done.unwrap().failed);
    }
    rename("unread", "summary").await;
    assert_eq!(story.active().await, ["Lives in Faro"]);
}

#[tokio::test]
async fn vault_commands_edit_memories() {
    let story = Story::begin().await;
    let lisbon = NewMemory::saying("Lives in Lisbon");
    let saved = story.engine.facts.save(&story.by(story.assistant()), lisbon).await.unwrap();
    let fact = Story::fact(&saved);
    let path = || "/memories/profile.md".to_owned();
    let run = async |command: Command| {
        story.pass(1);
        let request = story.by(story.assistant());
        story.engine.vault.command(&request, &command, &ProjectScope::NoProject).await.unwrap()
    };
    let seen = run(Command::View { path: path(), range: None }).await;
    assert!(seen.text.contains("- Lives in Lisbon ^mem-") && seen.operation.is_none());
    let replace =
        |old: &str, new: &str| Command::Replace { path: path(), old: old.into(), new: new.into() };
    let done = run(replace("Lisbon", "Faro")).await;
    assert!(!done.failed && done.text.starts_with("The memory file has been edited."));
    let now = story.get(fact).await.unwrap();
    assert_eq!(now.version.claim.content, "Lives in Faro");
    assert_eq!((now.version.origin, now.version.number), (Origin::Assistant, 2));
    assert!(run(replace("Porto", "x")).await.failed);
    let text = "# Work\n\nWrites Rust.\nWorks on Mondays".to_owned();
    run(Command::Create { path: "/memories/domains/work.md".into(), text }).await;
    assert_eq!(story.active().await.len(), 3);
    let (from, to) = ("/memories/domains/work.md".into(), "/memories/domains/travel.md".into());
    run(Command::Rename { from, to }).await;
    let gone = run(Command::Delete { path: "/memories/domains".into() }).await;
    assert_eq!(gone.text, "Successfully deleted /memories/domains");
    assert_eq!(story.active().await, ["Lives in Faro"]);
    assert_eq!(story.get(fact).await.unwrap().status, Status::Active);
    story.engine.undo.undo(&story.by(story.assistant()), gone.operation.unwrap()).await.unwrap();
    assert_eq!(story.active().await.len(), 3, "one undo restores both");
    assert!(story.export(&story.alice()).await.iter().any(|file| file.path == BASE));
}
