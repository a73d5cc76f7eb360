//! Vaults that are rendered in blocks: the same files as all of the memory at once, in small parts.

use std::collections::BTreeSet;
use std::io;

use lukasa_core::vault::{self, BASE, Command, File, PreservedParts, VaultContents};
use lukasa_core::{Claim, FactId, Force, ProjectScope};
use lukasa_engine::facts::{NewMemory, Target};
use lukasa_engine::vault::FileSink;
use lukasa_store::blocks::BLOCK_ROWS;
use lukasa_store::everything;
use serde_json::json;

use crate::story::Story;

/// Copies a memory under other ids, most of them into domains.
const COPIES: &str = "with g as (select n, md5('fact' || n)::uuid as fact, md5('version' || n)::uuid as version \
                                   from generate_series(1, $1::int) n), \
       facts as (insert into fact (user_id, tenant_id, fact_id) \
                 select v.user_id, v.tenant_id, g.fact from g, fact_version v where v.content = 'Likes tea') \
     insert into fact_version (user_id, tenant_id, fact_id, version_id, number, content, category, type, \
         kind, force, domain, tags, importance, evidence, state, tier, origin, extracted, turns, valid_from, \
         known_from, opened_by, fingerprint, unmentioned) \
     select v.user_id, v.tenant_id, g.fact, g.version, 1, v.content || ' ' || g.n || repeat(' and tea', 100), \
            v.category, 'domain', v.kind, v.force, \
            (array['food', 'work', 'travel'])[1 + g.n % 3], v.tags, v.importance, v.evidence, \
            case when g.n % 50 = 0 then 'forgotten' else v.state end, v.tier, v.origin, v.extracted, v.turns, \
            v.valid_from, v.known_from, v.opened_by, g.version, v.unmentioned \
       from g, fact_version v where v.content = 'Likes tea'";

/// A memory of more than two blocks of rows, with links, a rule and a proposal.
async fn large_story() -> Story {
    let story = Story::begin().await;
    let tea = Story::fact(&story.save("Likes tea").await);
    let mut rule = Claim::saying("Window seats only");
    (rule.force, rule.domain) = (Force::Hard, Some("travel".into()));
    (rule.key, rule.value) = (Some("seat".into()), Some(json!("window")));
    story.pass(1);
    let rule = NewMemory { claim: rule, keep_without_domain: true, ..NewMemory::saying("") };
    let rule = Story::fact(&story.engine.facts.save(&story.request(), rule).await.unwrap());
    story.pass(1);
    let ends = [Target::Id(tea), Target::Id(rule)];
    story.engine.facts.link(&story.request(), &ends[0], &ends[1], "goes_with").await.unwrap();
    story.pass(1);
    let propose = story.by(story.assistant());
    story.engine.facts.propose(&propose, NewMemory::saying("Wants a dog")).await.unwrap();
    let count = i32::try_from(2 * BLOCK_ROWS + 100).unwrap();
    story.database.admin().await.execute(COPIES, &[&count]).await.unwrap();
    story.database.leave_unchecked();
    story.pass(1);
    story
}

/// All of the memory at once.
async fn contents(story: &Story) -> VaultContents {
    let alice = story.alice();
    let scope = story.database.store().read(alice.tenant, alice.user).await.unwrap();
    VaultContents {
        versions: everything::version_blocks(&scope).await.unwrap().all().await.unwrap(),
        links: everything::open_link_blocks(&scope).await.unwrap().all().await.unwrap(),
        episodes: everything::episode_blocks(&scope).await.unwrap().all().await.unwrap(),
    }
}

/// The files without the signature and the portraits, which the core does not render.
fn unsigned(files: Vec<File>) -> Vec<File> {
    let pages = files.into_iter().filter(|file| !vault::is_portrait(&file.path));
    let unsigned = |mut file: File| {
        if file.path == BASE {
            let rows = vault::split_signature(&file.content).expect("a signed base").0.len();
            file.content.truncate(rows);
        }
        file
    };
    pages.map(unsigned).collect()
}

#[tokio::test]
async fn vault_in_blocks_is_the_same_as_the_whole_memory_at_once() {
    let story = large_story().await;
    let whole = contents(&story).await;
    assert!(whole.versions.len() > 2 * BLOCK_ROWS);
    let alice = story.alice();
    let export = async || {
        let files = Vec::<File>::new();
        story.engine.vault.export(&alice, Vec::new(), story.now(), files).await.unwrap()
    };
    let files = export().await;
    let expected = vault::render(&whole, story.now(), &PreservedParts::default());
    assert!(unsigned(files.clone()) == expected, "other files");
    // A sync keeps notes, and a line that cannot be applied with its row of the old base.
    let mut edited = files;
    let page = edited.iter_mut().find(|file| file.path == "domains/travel.md").unwrap();
    page.content = page.content.replace("*(rule seat", "*(rule other");
    page.content.push_str("\nMy own words.\n");
    let read = vault::read(&edited);
    story.pass(1);
    let synced = story
        .engine
        .vault
        .apply(&story.request(), &edited, false, Vec::<File>::new())
        .await
        .unwrap();
    assert_eq!((synced.plan.problems.len(), synced.plan.held.len()), (1, 1), "{:?}", synced.plan);
    assert_eq!(synced.operation, None);
    let kept = PreservedParts {
        base: Some(&read.base),
        facts: synced.plan.held.clone(),
        entries: synced.plan.kept.iter().map(|index| &read.entries[*index]).collect(),
        notes: &read.notes,
        fronts: read.fronts.clone(),
        links: read.base.links.clone(),
    };
    let expected = vault::render(&whole, story.now(), &kept);
    assert!(unsigned(synced.files) == expected, "other files after a sync");
}

/// The number and the size of the parts that were written.
#[derive(Default)]
struct WrittenParts {
    count: usize,
    longest: usize,
    bytes: usize,
}

impl FileSink for WrittenParts {
    fn begin(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.count += 1;
        self.longest = self.longest.max(text.len());
        self.bytes += text.len();
        Ok(())
    }
}

#[tokio::test]
async fn vault_and_pages_of_an_export_are_written_in_small_parts() {
    let story = large_story().await;
    let (alice, now) = (story.alice(), story.now());
    let vault =
        story.engine.vault.export(&alice, Vec::new(), now, WrittenParts::default()).await.unwrap();
    let export = story.engine.archives.export(&alice, now).await.unwrap();
    let pages = export.write_pages(now, WrittenParts::default()).await.unwrap();
    for parts in [vault, pages] {
        assert!(parts.count > 2 * BLOCK_ROWS, "{} parts", parts.count);
        assert!(parts.bytes > 1 << 20 && parts.longest < 30_000, "{} bytes", parts.longest);
    }
}

#[tokio::test]
async fn command_on_a_large_vault_changes_one_memory_of_one_file() {
    let story = large_story().await;
    let before = contents(&story).await;
    let run = async |command: Command| {
        story.pass(1);
        let scope = ProjectScope::NoProject;
        story.engine.vault.command(&story.request(), &command, &scope).await.unwrap()
    };
    let path = || "/memories/domains/food.md".to_owned();
    let seen = run(Command::View { path: path(), range: Some((1, 4)) }).await;
    assert!(!seen.failed && seen.text.contains("# Food"), "{}", seen.text);
    let listed = run(Command::View { path: "/memories".into(), range: None }).await;
    assert!(listed.text.contains("K\t/memories/domains/food.md"), "{}", listed.text);
    let old = "Likes tea 3 and".to_owned();
    let done = run(Command::Replace { path: path(), old, new: "Likes coffee 3 and".into() }).await;
    assert!(!done.failed && done.operation.is_some(), "{}", done.text);
    // A line that another file has already with the same words is not saved twice there.
    let text = "Likes coffee 3 and".to_owned() + &" and tea".repeat(100)[4..];
    let twice = run(Command::Insert { path: path(), line: 4, text }).await;
    assert!(!twice.failed, "{}", twice.text);
    let after = contents(&story).await;
    let facts = |held: &VaultContents| -> BTreeSet<FactId> {
        held.versions.iter().map(|version| version.fact).collect()
    };
    assert!(facts(&after) == facts(&before), "changed, and none was added");
    let changed = after.versions.iter().filter(|v| v.claim.content.contains("coffee"));
    assert_eq!(changed.count(), 1);
}
