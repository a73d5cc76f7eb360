//! Calls of chat models that fail: what they cost, what the job says, and when it is tried again.

use std::sync::Arc;
use std::time::Duration;

use lukasa_core::JobKind;
use lukasa_core::model::{ChatAnswer, Finish, ModelError, NoModels, TokensUsed};
use lukasa_engine::jobs::WorkOutcome;
use lukasa_models::scripted::ScriptedChat;

use crate::learning::{answer, chain, chat_about, user, work};
use crate::story::Story;

/// A user with a closed conversation, and a model that answers like this.
async fn story_with(outcome: Result<ChatAnswer, ModelError>) -> Story {
    let chat = Arc::new(ScriptedChat::new(move |_| outcome.clone()));
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_models(chain(vec![chat]));
    story.engine.embeddings.settle_model(story.now()).await.unwrap().unwrap();
    chat_about(&story, "c", vec![user("I live in Lisbon.")]).await;
    story
}

async fn spent(story: &Story) -> i64 {
    let admin = story.database.admin().await;
    let sql = "select coalesce(sum(tokens), 0)::bigint from model_spend";
    admin.query_one(sql, &[]).await.unwrap().get(0)
}

/// The reason of the only job, which was put off.
async fn put_off(story: &Story) -> String {
    match &work(story).await[..] {
        [WorkOutcome::PutOff(JobKind::Extract, reason)] => reason.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn failed_chat_calls_charge_nothing() {
    let retry_after = Duration::from_secs(5);
    for error in [
        ModelError::Unavailable("gone".to_owned()),
        ModelError::Missing("gone".to_owned()),
        ModelError::Malformed("gone".to_owned()),
        ModelError::Busy { reason: "gone".to_owned(), retry_after },
    ] {
        let story = story_with(Err(error.clone())).await;
        assert!(put_off(&story).await.contains("gone"), "{error}");
        assert_eq!(spent(&story).await, 0, "{error}");
        let (calls, _) =
            story.engine.chat.model_calls(&story.alice(), 10, story.now()).await.unwrap();
        let charged: Vec<_> = calls.iter().map(|c| (c.input_tokens, c.output_tokens)).collect();
        assert_eq!(charged, [(0, 0)], "{error}");
    }
}

#[tokio::test]
async fn chat_answer_that_was_cut_off_is_an_error_that_says_so() {
    let tokens = TokensUsed { input: 50, output: 20 };
    let text = answer(&[]);
    let story = story_with(Ok(ChatAnswer { text, tokens, finish: Finish::Length })).await;
    let reason = put_off(&story).await;
    assert!(reason.contains("finish_reason: length"), "{reason}");
    assert_eq!(spent(&story).await, 70, "the model did write it");
}

#[tokio::test]
async fn learning_waits_as_long_as_the_service_asks() {
    let retry_after = Duration::from_secs(1_800);
    let busy = ModelError::Busy { reason: "slow down".to_owned(), retry_after };
    let story = story_with(Err(busy)).await;
    assert!(put_off(&story).await.contains("slow down"));
    let jobs = story.engine.queue.list(&story.alice(), story.now()).await.unwrap();
    let job = jobs.iter().find(|job| job.kind == JobKind::Extract).unwrap();
    assert!(job.run_at.duration_since(story.now()).as_secs() >= 1_790, "{job:?}");
    assert_eq!(job.attempts, 1);
    assert!(job.last_error.as_deref().unwrap_or_default().contains("slow down"), "{job:?}");
}

#[tokio::test]
async fn server_without_chat_model_does_not_take_learning_jobs() {
    let gone = ModelError::Unavailable("gone".to_owned());
    let mut story = story_with(Err(gone)).await;
    let with_model = story.engine.clone();
    story.engine = with_model.clone().with_models(Arc::new(NoModels));
    assert_eq!(work(&story).await, []);
    let jobs = story.engine.queue.list(&story.alice(), story.now()).await.unwrap();
    let extract = jobs.iter().filter(|job| job.kind == JobKind::Extract);
    assert_eq!(extract.map(|job| job.attempts).collect::<Vec<_>>(), [0]);
    story.engine = with_model;
    assert_eq!(put_off(&story).await, "the model did not answer: gone");
}
