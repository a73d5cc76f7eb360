//! Portraits: compiled from facts, phrased by a model, and removed with the facts they cite.

use std::sync::Arc;
use std::time::Duration;

use lukasa_core::context::Section;
use lukasa_core::model::CallPurpose;
use lukasa_core::portrait::PortraitName;
use lukasa_core::{Category, Edit, FactId, JobKind, MemoryType};
use lukasa_engine::context::{ContextPart, ContextRequest};
use lukasa_engine::directory::OptIn;
use lukasa_engine::facts::{NewMemory, Target, Update};
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::portraits::CompiledPortrait;
use lukasa_models::scripted::ScriptedChat;
use serde_json::json;

use crate::learning::{chain, work};
use crate::story::Story;

const DAY: i64 = 86_400;

/// A story whose model phrases portraits with these sentences.
async fn phrased_by(sentences: serde_json::Value) -> (Story, Arc<ScriptedChat>) {
    let answer = json!({ "sentences": sentences }).to_string();
    let chat = Arc::new(ScriptedChat::saying(move |_| answer.clone()));
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_models(chain(vec![chat.clone()]));
    (story, chat)
}

/// Three facts, the most important first.
async fn three(story: &Story) -> [FactId; 3] {
    let mut ids = Vec::new();
    for (content, importance) in [
        ("User lives in Lisbon.", 0.9),
        ("User works as a nurse.", 0.8),
        ("User has two cats.", 0.7),
    ] {
        let mut new = NewMemory::saying(content);
        new.claim.importance = importance;
        ids.push(Story::fact(&story.engine.facts.save(&story.request(), new).await.unwrap()));
        story.pass(1);
    }
    ids.try_into().unwrap()
}

async fn profile(story: &Story) -> CompiledPortrait {
    story.engine.portraits.get(&story.alice(), "profile", story.now()).await.unwrap()
}

fn texts(compiled: &CompiledPortrait) -> Vec<&str> {
    compiled.portrait.sentences.iter().map(|placed| placed.sentence.text.as_str()).collect()
}

async fn rows(story: &Story) -> i64 {
    let admin = story.database.admin().await;
    admin.query_one("select count(*) from portrait", &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn portrait_template_is_used_without_a_model() {
    let story = Story::begin().await;
    let facts = three(&story).await;
    let made = profile(&story).await;
    assert_eq!(texts(&made), ["lives in Lisbon; works as a nurse; has two cats."]);
    assert_eq!(made.portrait.facts(), facts);
    assert_eq!((made.made_by.as_str(), made.fresh), ("template", true));
    assert_eq!(story.engine.portraits.phrase_all(&story.request()).await.unwrap(), 0);
    assert_eq!(rows(&story).await, 0, "a template portrait is not stored");
    let none =
        story.engine.portraits.get(&story.alice(), "domain:travel", story.now()).await.unwrap();
    assert!(none.portrait.sentences.is_empty());
    for (name, code) in [("soul", "portrait_not_found"), ("domain:orchard", "domain_not_found")] {
        let refused =
            story.engine.portraits.get(&story.alice(), name, story.now()).await.unwrap_err();
        assert_eq!(refused.code(), code);
    }
}

#[tokio::test]
async fn upkeep_phrases_only_changed_portraits() {
    let (story, chat) = phrased_by(json!([
        {"text": "Lives in Lisbon and works as a nurse.", "facts": [1, 2]},
        {"text": "Owns a yacht.", "facts": [3]},
    ]))
    .await;
    let [lisbon, nurse, cats] = three(&story).await;
    story.pass(2 * DAY);
    assert!(work(&story).await.contains(&WorkOutcome::Done(JobKind::Upkeep)));
    let made = profile(&story).await;
    assert_eq!(texts(&made), ["Lives in Lisbon and works as a nurse.", "has two cats."]);
    assert_eq!(made.portrait.sentences[0].sentence.facts, [lisbon, nurse]);
    assert_eq!((made.made_by.as_str(), made.fresh), ("scripted", true));
    assert_eq!((chat.asked(), rows(&story).await), (1, 1));
    story.engine.portraits.phrase_all(&story.request()).await.unwrap();
    assert_eq!(chat.asked(), 1, "nothing has changed");
    let (calls, _) = story.engine.chat.model_calls(&story.alice(), 10, story.now()).await.unwrap();
    assert_eq!(calls[0].purpose, CallPurpose::Portrait);

    let tea = Story::fact(&story.save("Drinks tea").await);
    let stale = profile(&story).await;
    assert!(!stale.fresh && texts(&stale).contains(&"Lives in Lisbon and works as a nurse."));
    assert!(stale.portrait.facts().contains(&tea), "new facts are included at once");

    story.engine.removals.forget(&story.request(), &Target::Id(lisbon)).await.unwrap();
    assert_eq!(rows(&story).await, 0, "removed in the same transaction");
    let made = profile(&story).await;
    assert!(!made.portrait.markdown().contains("Lisbon"));
    assert!(made.portrait.facts().contains(&nurse) && made.portrait.facts().contains(&cats));
}

#[tokio::test]
async fn portrait_is_removed_by_change_erasure_and_domain_closing() {
    let (story, _) = phrased_by(json!([
        {"text": "Lives in Lisbon.", "facts": [1]},
        {"text": "Works as a nurse.", "facts": [2]},
        {"text": "Has two cats.", "facts": [3]},
    ]))
    .await;
    let [lisbon, nurse, _] = three(&story).await;
    let phrase = async || story.engine.portraits.phrase_all(&story.request()).await.unwrap();
    assert_eq!(phrase().await, 1);
    story.change(lisbon, "User lives in Porto.").await;
    assert_eq!(rows(&story).await, 0);
    assert_eq!(phrase().await, 1);
    let made = profile(&story).await;
    assert!(!made.portrait.markdown().contains("Lisbon"), "the model's sentence is outdated");
    assert!(made.portrait.markdown().contains("Porto"));
    story.engine.removals.erase(&story.request(), &Target::Id(nurse)).await.unwrap();
    assert_eq!(rows(&story).await, 0);

    let travel = |story: &Story, content: &str| {
        let mut new = NewMemory::saying(content);
        new.claim.domain = Some("health".into());
        (story.request(), new)
    };
    story.engine.directory.set_opt_in(&story.request(), "health", OptIn::Open).await.unwrap();
    for content in ["Is allergic to nuts", "Runs on Sundays", "Sleeps eight hours"] {
        story.pass(1);
        let (request, new) = travel(&story, content);
        story.engine.facts.save(&request, new).await.unwrap();
    }
    phrase().await;
    let names = async || -> Vec<String> {
        let all = story.engine.portraits.list(&story.alice(), story.now()).await.unwrap();
        all.iter().map(|made| made.portrait.name.to_string()).collect()
    };
    assert!(names().await.contains(&"domain:health".to_owned()));
    let kept = rows(&story).await;
    assert!(kept > 0);
    story.engine.directory.set_opt_in(&story.request(), "health", OptIn::Close).await.unwrap();
    assert_eq!(rows(&story).await, 0);
    assert!(!names().await.contains(&"domain:health".to_owned()));
    let all = story.engine.portraits.list(&story.alice(), story.now()).await.unwrap();
    assert!(all.iter().all(|made| !made.portrait.markdown().contains("allergic")));
}

#[tokio::test]
async fn portrait_model_failure_changes_nothing_and_bad_output_is_not_requested_again() {
    let (mut story, _) = phrased_by(json!([])).await;
    three(&story).await;
    let away = Arc::new(ScriptedChat::failing());
    story.engine = story.engine.clone().with_models(chain(vec![away]));
    assert_eq!(story.engine.portraits.phrase_all(&story.request()).await.unwrap(), 0);
    assert_eq!(rows(&story).await, 0);
    let raving = Arc::new(ScriptedChat::saying(|_| "x".repeat(1_000_000)));
    story.engine = story.engine.clone().with_models(chain(vec![raving.clone()]));
    story.engine.portraits.phrase_all(&story.request()).await.unwrap();
    story.engine.portraits.phrase_all(&story.request()).await.unwrap();
    assert_eq!((raving.asked(), rows(&story).await), (1, 1));
    let made = profile(&story).await;
    assert_eq!((made.made_by.as_str(), texts(&made).len()), ("template", 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn portrait_is_discarded_if_facts_change_during_model_call() {
    let mut story = Story::begin().await;
    let [lisbon, ..] = three(&story).await;
    // The model's answer arrives after a concurrent write.
    let (engine, request) = (story.engine.clone(), story.request());
    let handle = tokio::runtime::Handle::current();
    let chat = Arc::new(ScriptedChat::saying(move |_| {
        let (engine, request) = (engine.clone(), request.clone());
        let forget =
            async move { engine.removals.forget(&request, &Target::Id(lisbon)).await.unwrap() };
        std::thread::scope(|scope| {
            scope.spawn(|| handle.block_on(forget)).join().unwrap();
        });
        json!({"sentences": [{"text": "Lives in Lisbon.", "facts": [1]}]}).to_string()
    }));
    story.engine = story.engine.clone().with_models(chain(vec![chat]));
    assert_eq!(story.engine.portraits.phrase_all(&story.request()).await.unwrap(), 0);
    assert_eq!(rows(&story).await, 0);
}

#[tokio::test]
async fn portraits_have_separate_facts() {
    let story = Story::begin().await;
    let mut style = NewMemory::saying("Short answers, please");
    style.claim.category = Category::Style;
    let mut task = NewMemory::saying("Is moving house in June");
    task.claim.memory_type = MemoryType::Task;
    for new in [style, task, NewMemory::saying("Lives in Lisbon")] {
        story.engine.facts.save(&story.request(), new).await.unwrap();
    }
    let all = story.engine.portraits.list(&story.alice(), story.now()).await.unwrap();
    let of = |name: &PortraitName| {
        let made = all.iter().find(|made| made.portrait.name == *name).unwrap();
        texts(made).join(" ")
    };
    assert_eq!(of(&PortraitName::Procedures), "Short answers, please.");
    assert_eq!(of(&PortraitName::ActiveContext), "Is moving house in June.");
    assert_eq!(of(&PortraitName::Profile), "Lives in Lisbon.");
}

#[tokio::test]
async fn briefing_about_tasks_follows_their_state() {
    let story = Story::begin().await;
    let mut task = NewMemory::saying("Is moving house in June");
    (task.claim.memory_type, task.claim.key) = (MemoryType::Task, Some("move".into()));
    task.claim.value = Some(json!({"status": "packing", "next_step": "book the van"}));
    let task = Story::fact(&story.engine.facts.save(&story.request(), task).await.unwrap());
    let briefing = async || {
        let name = "active_context";
        let made = story.engine.portraits.get(&story.alice(), name, story.now()).await.unwrap();
        texts(&made).join(" ")
    };
    let packing = "Is moving house in June (status: packing, next: book the van).";
    assert_eq!(briefing().await, packing);
    story.pass(1);
    let moved = json!({"status": "moved", "next_step": "register", "due": "2026-07-01"});
    let update = Update::change(Edit { value: Some(Some(moved)), ..Edit::default() });
    story.engine.facts.update(&story.request(), &Target::Id(task), update).await.unwrap();
    let moved = "Is moving house in June (status: moved, next: register, due: 2026-07-01).";
    assert_eq!(briefing().await, moved);
}

#[tokio::test]
async fn phrased_portrait_is_in_the_baseline_until_a_memory_of_it_is_forgotten() {
    let sentences = json!([{"text": "Lives in Lisbon and works as a nurse.", "facts": [1, 2]}]);
    let (story, _) = phrased_by(sentences).await;
    let [lisbon, nurse, cats] = three(&story).await;
    let given = async |session: &str| {
        let mut ask = ContextRequest::about("Hello");
        (ask.session, ask.within) = (Some(session.into()), Duration::from_secs(60));
        story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap().baseline
    };
    let lines = |part: &ContextPart| {
        part.items.iter().map(|item| item.facts().collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    assert_eq!(lines(&given("before").await), [[lisbon], [nurse], [cats]]);
    story.pass(2 * DAY);
    work(&story).await;
    let told = given("after").await;
    assert_eq!(lines(&told), [vec![lisbon, nurse], vec![cats]]);
    assert!(told.content.contains("] Lives in Lisbon and works as a nurse. (said 2026-01-01)"));
    assert_eq!(given("after").await, told, "it is frozen");

    story.engine.removals.forget(&story.request(), &Target::Id(nurse)).await.unwrap();
    let left = given("after").await;
    assert_eq!(lines(&left), [[lisbon], [cats]]);
    assert!(!left.content.contains("nurse"));
}

#[tokio::test]
async fn portrait_of_the_domain_of_a_message_is_in_its_dynamic_part() {
    let sentences = json!([{"text": "Flies from Porto and packs light.", "facts": [1, 2]}]);
    let (story, _) = phrased_by(sentences).await;
    let save = async |content: &str, domain: Option<&str>, importance: f32| {
        let mut new = NewMemory::saying(content);
        (new.claim.domain, new.claim.importance) = (domain.map(str::to_owned), importance);
        Story::fact(&story.engine.facts.save(&story.request(), new).await.unwrap())
    };
    let mut travel = Vec::new();
    for (content, importance) in
        [("Flies from Porto.", 0.3), ("Packs light.", 0.2), ("Buys postcards everywhere.", 0.1)]
    {
        travel.push(save(content, Some("travel"), importance).await);
    }
    for n in 0..60 {
        save(&format!("Once read the thick chronicle numbered {n}, all of it."), None, 0.9).await;
    }
    story.pass(2 * DAY);
    work(&story).await;
    let mut ask = ContextRequest::about("Book me a flight and a hotel");
    (ask.tokens, ask.memories, ask.within) = (1_000, Some(0), Duration::from_secs(60));
    let context =
        story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    assert!(context.domains.iter().any(|found| found.domain == "travel"));
    let line = context.dynamic.items.iter().find(|item| item.section == Section::Domain);
    let line = line.unwrap_or_else(|| panic!("{context:?}"));
    assert_eq!(line.facts().collect::<Vec<_>>(), travel[..2]);
    assert!(line.line.starts_with("Flies from Porto and packs light. ("), "{}", line.line);
    let mut sure = ask.clone();
    sure.filter.min_confidence = Some(1.5);
    for ask in [ContextRequest { precise: true, ..ask.clone() }, sure] {
        let narrow = story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await;
        let items = narrow.unwrap().dynamic.items;
        assert!(items.iter().all(|item| item.section != Section::Domain), "{ask:?}: {items:?}");
    }
    ask.message = "What is the capital of France?".into();
    let context =
        story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    assert!(context.dynamic.items.iter().all(|item| item.section != Section::Domain));
}
