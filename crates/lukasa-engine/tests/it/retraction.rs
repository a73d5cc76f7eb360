//! Words that the user takes back reach no model and are not kept, also if the turn that takes them back
//! comes after the range that a job reads.

use std::sync::{Arc, Mutex};

use lukasa_core::policy::Patch;
use lukasa_core::{JobKind, NewTurn, ProjectScope, Role, Status};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::directory::OptIn;
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::recall::RecallQuery;
use lukasa_engine::removal::FactSource;
use lukasa_engine::sessions::WindowRequest;
use lukasa_models::scripted::ScriptedChat;

use crate::learning::{answer, chain, chat_about, memories, memory, user, work};
use crate::story::Story;

const BAND: &str = "I once sang in a metal band.";
const RETRACTION: &str = "Forget I mentioned that.";
const DIAGNOSIS: &str = "I was diagnosed with diabetes.";

/// The requests to the model of a story, each with the name of its answer's schema.
#[derive(Clone, Default)]
struct Prompts(Arc<Mutex<Vec<(&'static str, String)>>>);

impl Prompts {
    /// The texts of the requests for this answer.
    fn of(&self, schema: &str) -> Vec<String> {
        let all = self.0.lock().unwrap();
        let own = all.iter().filter(|(name, _)| *name == schema);
        own.map(|(_, text)| text.clone()).collect()
    }
}

/// A story whose model finds a diagnosis, if there is one, and whose requests are recorded.
async fn story_with_prompts() -> (Story, Prompts) {
    let prompts = Prompts::default();
    let asked = prompts.clone();
    let chat = Arc::new(ScriptedChat::saying(move |ask| {
        let name = ask.schema.as_ref().map_or("none", |schema| schema.name);
        let text = ask.messages.iter().map(|message| message.content.as_str());
        asked.0.lock().unwrap().push((name, text.collect::<Vec<_>>().join("\n")));
        let diagnosis = "User was diagnosed with diabetes.";
        match name {
            "memories" => answer(&[memory(diagnosis, "I was diagnosed with diabetes")]),
            "title" => r#"{"title":"Bees"}"#.into(),
            _ => r#"{"summary":"They talked about bees."}"#.into(),
        }
    }));
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_models(chain(vec![chat]));
    story.engine.embeddings.settle_model(story.now()).await.unwrap().unwrap();
    (story, prompts)
}

async fn say(story: &Story, turns: Vec<NewTurn>) {
    story.engine.sessions.append_turns(&story.request(), "c", turns).await.unwrap();
}

async fn count(story: &Story, table: &str) -> i64 {
    let client = story.database.admin().await;
    client.query_one(&format!("select count(*) from {table}"), &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn retracted_words_are_not_in_the_request_for_a_title() {
    let (story, prompts) = story_with_prompts().await;
    let replies = ["Hello.", "A metal band!"].map(|text| NewTurn::saying(Role::Assistant, text));
    let [hello, band] = replies;
    say(&story, vec![user("Hi, I keep bees."), hello, user(BAND), band, user(RETRACTION)]).await;
    assert!(work(&story).await.contains(&WorkOutcome::Done(JobKind::Title)));
    let [asked] = &prompts.of("title")[..] else { panic!("one request") };
    assert!(asked.contains("I keep bees") && !asked.contains("metal band"), "{asked}");
}

#[tokio::test]
async fn retracted_words_are_not_in_the_request_for_a_summary() {
    let (story, prompts) = story_with_prompts().await;
    let garden = "We talked about the garden and the many plants that grow in it in spring.";
    let mut turns: Vec<NewTurn> = (0..24).map(|_| user(garden)).collect();
    turns.extend([user("I keep bees."), user(BAND), user(RETRACTION)]);
    turns.extend((0..3).map(|_| user(garden)));
    say(&story, turns).await;
    let ask = WindowRequest { budget: 500, threshold: 0.8 };
    let sessions = &story.engine.sessions;
    sessions.window(&story.alice(), "c", ask, story.moment()).await.unwrap();
    assert!(work(&story).await.contains(&WorkOutcome::Done(JobKind::Compress)));
    let session = sessions.get(&story.alice(), "c", story.now()).await.unwrap();
    assert_eq!(session.summary_through, 26, "the retraction is not summarised");
    let [asked] = &prompts.of("summary")[..] else { panic!("one request") };
    assert!(asked.contains("I keep bees") && !asked.contains("metal band"), "{asked}");
}

#[tokio::test]
async fn retracted_words_are_not_in_the_request_for_an_episode_made_again() {
    let (story, prompts) = story_with_prompts().await;
    chat_about(&story, "c", vec![user("I keep bees."), user(BAND)]).await;
    work(&story).await;
    let (alice, now) = (story.alice(), story.now());
    let learning = &story.engine.learning;
    let (episodes, _) = learning.episodes(&alice, None, None, 9, now).await.unwrap();
    story.pass(60);
    say(&story, vec![user(RETRACTION)]).await;
    let source = FactSource::Episode(episodes[0].id);
    story.engine.removals.withdraw(&story.request(), &source).await.unwrap();
    assert!(work(&story).await.contains(&WorkOutcome::Done(JobKind::Retell)));
    let [asked] = &prompts.of("summary")[..] else { panic!("one request") };
    assert!(asked.contains("I keep bees") && !asked.contains("metal band"), "{asked}");
}

#[tokio::test]
async fn retraction_after_the_last_turn_of_a_pass_counts() {
    let (story, prompts) = story_with_prompts().await;
    let mut turns: Vec<NewTurn> = (0..79).map(|_| user("I keep bees.")).collect();
    turns.extend([user(BAND), user(RETRACTION)]);
    chat_about(&story, "c", turns).await;
    work(&story).await;
    let session = story.engine.sessions.get(&story.alice(), "c", story.now()).await.unwrap();
    assert_eq!(session.extracted_through, 81);
    let asked = prompts.of("memories");
    assert!(asked[0].contains("I keep bees"), "{asked:?}");
    assert!(asked.iter().all(|text| !text.contains("metal band")), "{asked:?}");
}

#[tokio::test]
async fn retracted_words_are_not_learned_when_their_domain_is_opened() {
    let (story, prompts) = story_with_prompts().await;
    chat_about(&story, "c", vec![user(DIAGNOSIS)]).await;
    work(&story).await;
    assert_eq!((prompts.of("memories").len(), count(&story, "left_out").await), (1, 1));
    story.pass(60);
    say(&story, vec![user(RETRACTION)]).await;
    story.engine.directory.set_opt_in(&story.request(), "health", OptIn::Open).await.unwrap();
    assert!(work(&story).await.contains(&WorkOutcome::Done(JobKind::Relearn)));
    assert_eq!(prompts.of("memories").len(), 1, "no model is asked");
    assert!(memories(&story, Status::Proposed).await.is_empty());
    assert!(memories(&story, Status::Active).await.is_empty());
    assert_eq!(count(&story, "left_out").await, 0);
}

#[tokio::test]
async fn left_out_sentences_and_domain_questions_of_retracted_turns_are_removed() {
    let (story, _) = story_with_prompts().await;
    // No earlier turn is shown to the model, so that the retracted one is not among those that are read.
    let patch = Patch { window: Some(0), ..Patch::default() };
    story.engine.policies.set(&story.request(), patch).await.unwrap();
    chat_about(&story, "c", vec![user(DIAGNOSIS)]).await;
    chat_about(&story, "other", vec![user(DIAGNOSIS)]).await;
    work(&story).await;
    assert_eq!(count(&story, "left_out").await, 2);
    story.pass(60);
    chat_about(&story, "c", vec![user(RETRACTION)]).await;
    work(&story).await;
    assert_eq!((count(&story, "left_out").await, count(&story, "domain_question").await), (1, 1));
    story.pass(60);
    chat_about(&story, "other", vec![user(RETRACTION)]).await;
    work(&story).await;
    assert_eq!((count(&story, "left_out").await, count(&story, "domain_question").await), (0, 0));
}

#[tokio::test]
async fn retracted_statement_is_not_executed() {
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_statements(true);
    let remember = || user("Please remember that I prefer trains.");
    say(&story, vec![remember(), user(RETRACTION)]).await;
    assert_eq!(work(&story).await, [WorkOutcome::Done(JobKind::Statement)]);
    assert!(story.active().await.is_empty());
    story.pass(60);
    say(&story, vec![remember(), user("Which one is the fastest?")]).await;
    work(&story).await;
    assert_eq!(story.active().await.len(), 1);
}

#[tokio::test]
async fn retraction_removes_the_title_and_the_summary_made_before_it() {
    let (story, _) = story_with_prompts().await;
    let reply = || NewTurn::saying(Role::Assistant, "I see.");
    chat_about(&story, "c", vec![user(BAND), reply()]).await;
    work(&story).await;
    let sessions = &story.engine.sessions;
    let read = async || sessions.get(&story.alice(), "c", story.now()).await.unwrap();
    let before = read().await;
    assert_eq!((before.title.as_deref(), before.named_from), (Some("Bees"), Some(2)));
    assert!(before.summary.is_some());
    let find = async |text: &str| {
        let ask = RecallQuery { episodes: 5, ..RecallQuery::about(text) };
        story.engine.recall.search(&story.alice(), &ask, story.now()).await.unwrap().episodes.len()
    };
    assert_eq!(find("They talked.").await, 1);
    story.pass(60);
    say(&story, vec![user(RETRACTION)]).await;
    let after = read().await;
    assert_eq!((after.title, after.named_from), (None, None));
    assert_eq!((after.summary, after.summary_through), (None, 0));
    assert_eq!(find("They talked.").await, 0);
    assert_eq!(after.turns, 3);
}

#[tokio::test]
async fn retraction_keeps_the_title_and_the_summary_of_other_turns() {
    let (story, _) = story_with_prompts().await;
    let reply = || NewTurn::saying(Role::Assistant, "I see.");
    let bees = || user("I keep bees.");
    chat_about(&story, "c", vec![bees(), reply(), bees(), reply(), bees(), reply()]).await;
    work(&story).await;
    story.pass(60);
    say(&story, vec![user(BAND)]).await;
    say(&story, vec![user(RETRACTION)]).await;
    let now = story.now();
    let session = story.engine.sessions.get(&story.alice(), "c", now).await.unwrap();
    assert_eq!((session.title.as_deref(), session.named_from), (Some("Bees"), Some(4)));
    assert!(session.summary.is_some());
    assert_eq!(session.summary_through, 6);
}

#[tokio::test]
async fn recall_finds_no_retracted_turn() {
    let (story, _) = story_with_prompts().await;
    let found = async |text: &str| {
        let mut ask = RecallQuery::about(text);
        (ask.memories, ask.turns) = (0, 10);
        let found = story.engine.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
        found.turns.into_iter().map(|found| found.turn.content).collect::<Vec<_>>()
    };
    let sessions = async |text: &str| {
        let (alice, now) = (story.alice(), story.now());
        let search = story.engine.sessions.search(&alice, text, ProjectScope::All, 5, now);
        let best = search.await.unwrap().into_iter().filter_map(|found| found.best);
        best.map(|turn| turn.content).collect::<Vec<_>>()
    };
    say(&story, vec![user("I play in a metal orchestra."), user(BAND)]).await;
    assert!(found("metal band").await.contains(&BAND.to_owned()));
    assert!(sessions("metal band").await.contains(&BAND.to_owned()));
    story.pass(60);
    say(&story, vec![user(RETRACTION), user("I play the flute.")]).await;
    let turns = found("metal band").await;
    assert!(turns.contains(&"I play in a metal orchestra.".to_owned()), "{turns:?}");
    assert!(!turns.contains(&BAND.to_owned()), "{turns:?}");
    assert!(!turns.contains(&RETRACTION.to_owned()), "{turns:?}");
    assert!(!sessions("metal band").await.contains(&BAND.to_owned()));
    let ask = ContextRequest { session: Some("d".into()), ..ContextRequest::about("metal band") };
    let request = story.request();
    let context = story.engine.context.retrieve(&request.caller, &ask, request.moment).await;
    let context = format!("{:?}", context.unwrap());
    assert!(!context.contains("I once sang"), "{context}");
}
