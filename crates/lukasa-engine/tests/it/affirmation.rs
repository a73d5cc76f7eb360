//! Affirmations: an assistant reports, with the user's own words, that a memory still holds.

use lukasa_core::{Claim, FactId, Force, NewTurn, Origin, Project, Role, State, Version};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{Affirmation, NewMemory, ProposalDecision, Target};
use lukasa_engine::recall::RecallQuery;
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
    affirm_with(story, fact, &[quotation]).await
}

async fn affirm_with(story: &Story, fact: FactId, quotations: &[&str]) -> Result<Outcome, Error> {
    let quotations = quotations.iter().map(|words| (*words).to_owned()).collect();
    let said = Affirmation { quotations, session: Some("c".into()) };
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

#[tokio::test]
async fn agent_affirms_a_memory_with_exactly_the_words_it_was_saved_from() {
    let story = Story::begin().await;
    say(&story, user("I live in Lisbon.")).await;
    let fact = Story::fact(&story.save("Lives in Lisbon").await);
    say(&story, user("I live in Lisbon.")).await;
    affirm(&story, fact, "I live in Lisbon").await.unwrap();
    story.pass(10);
    let refused = affirm(&story, fact, "I live in Lisbon").await.unwrap_err();
    assert_eq!(refused.code(), "human_needed", "it was not said once more");

    // A quotation from before does not keep a later one from counting, in either order.
    let (before, since) = ("I live in Lisbon", "I still live in Lisbon");
    for order in [[before, since], [since, before]] {
        say(&story, user("I still live in Lisbon.")).await;
        affirm_with(&story, fact, &order).await.unwrap();
        let refused = affirm_with(&story, fact, &order).await.unwrap_err();
        assert_eq!(refused.code(), "human_needed", "{order:?}");
    }
}

#[tokio::test]
async fn agent_affirms_no_text_of_its_own_that_a_memory_shows() {
    let story = Story::begin().await;
    let save = async |claim: Claim| {
        let new = NewMemory { claim, ..NewMemory::saying("") };
        let request = story.by(story.assistant());
        Story::fact(&story.engine.facts.save(&request, new).await.unwrap())
    };
    let coffee = || Claim::saying("Likes coffee");
    let bank = || Some("Banks with evil.example".to_owned());
    let plants = [
        Claim { summary: bank(), ..coffee() },
        Claim { detail: bank(), ..Claim::saying("Likes coffee a lot") },
        Claim::saying("Likes coffee, banks with evil.example"),
        Claim {
            domain: Some("food".into()),
            key: Some("coffee".into()),
            value: Some("evil.example".into()),
            ..Claim::saying("Likes coffee indeed")
        },
        Claim { project: Project::parse("evil.example"), ..coffee() },
    ];
    let mut planted = Vec::new();
    for claim in plants {
        planted.push(save(claim).await);
    }
    say(&story, user("I like coffee a lot indeed.")).await;
    for fact in planted {
        let refused = affirm(&story, fact, "I like coffee a lot indeed").await.unwrap_err();
        let left = version(&story, fact).await;
        assert_eq!(refused.code(), "human_needed", "{:?}", left.claim);
        assert_eq!((left.state, left.last_confirmed_at), (State::Active, None));
    }
}

#[tokio::test]
async fn memory_of_an_assistant_stays_its_own_after_the_user_says_it_again() {
    let story = Story::begin().await;
    let request = story.by(story.assistant());
    let saved = story.engine.facts.save(&request, NewMemory::saying("Likes coffee")).await;
    let fact = Story::fact(&saved.unwrap());
    say(&story, user("I like coffee.")).await;
    affirm(&story, fact, "I like coffee").await.unwrap();
    let affirmed = version(&story, fact).await;
    assert_eq!((affirmed.last_confirmed_at, affirmed.confirmed()), (Some(story.now()), None));
    let found = async |min_confidence: f32| {
        let mut ask = RecallQuery::about("Which coffee?");
        ask.filter.min_confidence = Some(min_confidence);
        let found = story.engine.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
        found.memories.len()
    };
    assert_eq!((found(0.95).await, found(0.96).await), (1, 0), "no surer than before");
    let ask = ContextRequest::about("Which coffee?");
    let context =
        story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    let text = format!("{}{}", context.baseline.content, context.dynamic.content);
    let line = "Likes coffee (told by an assistant 2026-01-01, said again 2026-01-01";
    assert!(text.contains(line), "{text}");
    let yes = ProposalDecision::Yes { digest: None, edit: Box::default() };
    story.engine.facts.confirm(&story.request(), &Target::Id(fact), yes).await.unwrap();
    assert_eq!(found(0.96).await, 1, "the user has confirmed it");
}

#[tokio::test]
async fn quotations_of_an_affirmation_are_limited_in_number_and_length() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("Lives in Lisbon").await);
    say(&story, user("Yes, I still live in Lisbon, near the river.")).await;
    let (long, said) = ("I still live ".repeat(80), "I still live in Lisbon");
    for quotations in [vec![said; 21], vec![long.as_str(), said]] {
        let refused = affirm_with(&story, fact, &quotations).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_request");
    }
    affirm_with(&story, fact, &[said; 20]).await.unwrap();
}
