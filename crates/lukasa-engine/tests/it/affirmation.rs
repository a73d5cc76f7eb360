//! Affirmations: an assistant reports, with the user's own words, that a memory still holds.

use lukasa_core::{Claim, FactId, Force, NewTurn, Origin, Role, Version};
use lukasa_engine::facts::{Affirmation, NewMemory, Target};
use lukasa_engine::{Error, Outcome};

use crate::learning::user;
use crate::story::Story;

async fn say(story: &Story, turn: NewTurn) {
    story.pass(10);
    story.engine.sessions.append_turns(&story.request(), "c", vec![turn]).await.unwrap();
    story.pass(10);
}

/// The assistant's affirmation of a memory with these words.
async fn affirm(story: &Story, fact: FactId, quotation: &str) -> Result<Outcome, Error> {
    let said = Affirmation { quotations: vec![quotation.into()], session: Some("c".into()) };
    let request = story.by(story.assistant());
    story.engine.facts.affirm(&request, &Target::Id(fact), &said).await
}

async fn version(story: &Story, fact: FactId) -> Version {
    story.get(fact).await.unwrap().version
}

#[tokio::test]
async fn agent_affirms_a_memory_with_what_the_user_typed_since() {
    let story = Story::begin().await;
    say(&story, user("I live in Lisbon.")).await;
    let fact = Story::fact(&story.save("Lives in Lisbon").await);
    let refused = affirm(&story, fact, "I live in Lisbon").await.unwrap_err();
    assert_eq!(refused.code(), "human_needed", "it was said before the memory was saved");

    say(&story, user("Yes, I still live in Lisbon, near the river.")).await;
    let outcome = affirm(&story, fact, "I still live in Lisbon").await.unwrap();
    assert_eq!(outcome.message, "Confirmed: Lives in Lisbon");
    let affirmed = version(&story, fact).await;
    assert_eq!(affirmed.last_confirmed_at, Some(story.now()));
    assert_eq!(affirmed.consented_at, None, "no consent");
    assert_eq!(affirmed.origin, Origin::UserSaid, "and the same authority as before");

    story.pass(10);
    let refused = affirm(&story, fact, "I still live in Lisbon").await.unwrap_err();
    assert_eq!(refused.code(), "human_needed", "the same words count once");
    let operation = outcome.operation.unwrap();
    story.engine.undo.undo(&story.request(), operation).await.unwrap();
    assert_eq!(version(&story, fact).await.last_confirmed_at, None);
}

#[tokio::test]
async fn agent_affirms_nothing_that_the_user_did_not_say() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("Lives in Lisbon").await);
    say(&story, NewTurn::saying(Role::Assistant, "So you still live in Lisbon.")).await;
    say(&story, user("My brother lives in Lisbon. I used to live in Lisbon myself.")).await;
    say(&story, user("I don't live in Lisbon any more. Do I live in Lisbon?")).await;
    for words in [
        "you still live in Lisbon",
        "My brother lives in Lisbon",
        "I used to live in Lisbon",
        "I don't live in Lisbon",
        "Do I live in Lisbon?",
        "I live in Lisbon, honestly",
        "",
    ] {
        let refused = affirm(&story, fact, words).await.unwrap_err();
        assert_eq!(refused.code(), "human_needed", "{words}");
    }
    assert_eq!(version(&story, fact).await.last_confirmed_at, None);
}

#[tokio::test]
async fn agent_affirms_no_rule_no_order_and_no_proposal() {
    let story = Story::begin().await;
    let save = async |claim: Claim| {
        let new = NewMemory { claim, ..NewMemory::saying("") };
        Story::fact(&story.engine.facts.save(&story.request(), new).await.unwrap())
    };
    let rule = Claim {
        force: Force::Hard,
        domain: Some("travel".into()),
        key: Some("overnight_flights".into()),
        ..Claim::saying("I never fly overnight")
    };
    let rule = save(rule).await;
    let order = save(Claim::saying("Always book the cheapest train")).await;
    let proposal = NewMemory::saying("I dislike mornings");
    let request = story.by(story.assistant());
    let proposal = Story::fact(&story.engine.facts.propose(&request, proposal).await.unwrap());
    for (fact, said) in [
        (rule, "I never fly overnight"),
        (order, "Always book the cheapest train"),
        (proposal, "I dislike mornings"),
    ] {
        say(&story, user(said)).await;
        let refused = affirm(&story, fact, said).await.unwrap_err();
        assert_eq!(refused.code(), "human_needed", "{said}");
        let left = version(&story, fact).await;
        assert_eq!((left.last_confirmed_at, left.consented_at), (None, None), "{said}");
    }
}
