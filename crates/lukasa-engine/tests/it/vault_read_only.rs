//! The files of a vault that are only read: portraits and conversations.

use lukasa_core::vault::{File, is_portrait};
use lukasa_core::{Claim, NewTurn, Role};
use lukasa_engine::directory::OptIn;
use lukasa_engine::facts::NewMemory;
use lukasa_engine::vault::SyncReport;

use crate::story::Story;

const PROFILE: &str = "portraits/profile.md";

async fn sync(story: &Story, files: &[File]) -> SyncReport {
    story.pass(1);
    story.engine.vault.apply(&story.request(), files, false, Vec::new()).await.unwrap()
}

fn text<'a>(files: &'a mut [File], path: &str) -> &'a mut String {
    &mut files.iter_mut().find(|file| file.path == path).unwrap().content
}

#[tokio::test]
async fn vault_portraits_follow_the_memories_and_their_edits_are_reported() {
    let story = Story::begin().await;
    story.save("Lives in Lisbon").await;
    let mut files = story
        .engine
        .vault
        .export(&story.alice(), Vec::new(), story.now(), Vec::new())
        .await
        .unwrap();
    assert!(text(&mut files, PROFILE).contains("Lives in Lisbon"));
    // The portrait is older than the edited memory; it was not edited itself.
    let profile = text(&mut files, "profile.md");
    *profile = profile.replace("Lisbon", "Faro");
    let synced = sync(&story, &files).await;
    assert_eq!((synced.plan.steps.len(), synced.plan.problems.len()), (1, 0), "{:?}", synced.plan);
    let mut files = synced.files;
    assert!(text(&mut files, PROFILE).contains("Lives in Faro"));
    let portrait = text(&mut files, PROFILE);
    *portrait = portrait.replace("Faro", "Porto");
    let plan = story.engine.vault.plan(&story.alice(), &files, story.now()).await.unwrap();
    assert_eq!(plan.problems.len(), 1, "a preview reports it too");
    let synced = sync(&story, &files).await;
    assert_eq!((synced.operation, synced.plan.problems.len()), (None, 1));
    assert_eq!(synced.plan.problems[0].file, PROFILE);
    assert_eq!(story.active().await, ["Lives in Faro"]);
    let mut files = synced.files;
    assert!(text(&mut files, PROFILE).contains("Lives in Porto"), "the words are not lost");
    files.retain(|file| file.path != PROFILE);
    let synced = sync(&story, &files).await;
    assert_eq!((synced.operation, synced.plan.problems.len()), (None, 0));
    let mut files = synced.files;
    assert!(text(&mut files, PROFILE).contains("Lives in Faro"), "it is written again");
}

#[tokio::test]
async fn vault_portraits_leave_out_closed_domains() {
    let story = Story::begin().await;
    story.engine.directory.set_opt_in(&story.request(), "health", OptIn::Open).await.unwrap();
    let mut claim = Claim::saying("Allergic to nuts");
    claim.domain = Some("health".into());
    let new = NewMemory { claim, keep_without_domain: true, ..NewMemory::saying("") };
    story.pass(1);
    story.engine.facts.save(&story.request(), new).await.unwrap();
    let portraits = async || {
        let files = story
            .engine
            .vault
            .export(&story.alice(), Vec::new(), story.now(), Vec::new())
            .await
            .unwrap();
        files.into_iter().filter(|file| is_portrait(&file.path)).collect::<Vec<_>>()
    };
    let open = portraits().await;
    let health = open.iter().find(|file| file.path == "portraits/domain-health.md").unwrap();
    assert!(health.content.contains("Allergic to nuts"), "{health:?}");
    story.pass(1);
    story.engine.directory.set_opt_in(&story.request(), "health", OptIn::Close).await.unwrap();
    let shut = portraits().await;
    assert!(shut.iter().all(|file| !file.content.contains("nuts")), "{shut:?}");
    assert!(shut.iter().all(|file| file.path != "portraits/domain-health.md"), "{shut:?}");
}

#[tokio::test]
async fn vault_conversations_show_what_a_transcript_shows() {
    let story = Story::begin().await;
    let say = async |session: &str, text: &str| {
        story.pass(1);
        let turns = vec![NewTurn::saying(Role::User, text)];
        story.engine.sessions.append_turns(&story.request(), session, turns).await.unwrap();
    };
    say("talk", "I was diagnosed with type 2 diabetes last week.").await;
    say("talk", "I like trains.").await;
    say("talk", "My password is Copper-4711-kite!").await;
    say("gone", "I like planes.").await;
    story.pass(1);
    story.engine.sessions.trash(&story.request(), "gone").await.unwrap();
    let plain = story
        .engine
        .vault
        .export(&story.alice(), Vec::new(), story.now(), Vec::new())
        .await
        .unwrap();
    assert!(plain.iter().all(|file| !file.content.contains("trains")), "only on request");
    let export = async || {
        story.engine.vault.export_conversations(&story.alice(), story.now()).await.unwrap()
    };
    let files = export().await;
    assert_eq!(files, export().await, "two exports are identical");
    let all: String = files.iter().map(|file| file.content.as_str()).collect();
    assert_eq!(files.len(), 2, "one conversation and the list: {all}");
    assert!(all.contains("> I like trains.\n") && !all.contains("planes"), "{all}");
    assert!(all.contains("[secret]") && !all.contains("Copper"), "{all}");
    assert!(!all.contains("diabetes"), "{all}");
    assert!(all.contains("[hidden: the domain health is not open]"), "{all}");
    let bob = lukasa_core::Caller::human(story.tenant, "bob", "local");
    let bobs = story.engine.vault.export_conversations(&bob, story.now()).await.unwrap();
    assert_eq!(bobs, [], "another user has none of them");
    // A sync neither reads nor returns them.
    let synced = sync(&story, &[plain, files].concat()).await;
    assert_eq!((synced.operation, synced.plan.problems.len()), (None, 0));
    assert!(synced.files.iter().all(|file| !file.path.starts_with("conversations/")));
}
