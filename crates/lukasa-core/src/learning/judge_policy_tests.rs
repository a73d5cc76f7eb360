//! Tests of what the policy decides about a proposal, and of the type and reasoning of a memory.

use super::*;
use crate::fact::{Category, MemoryType};

#[test]
fn staged_memory_waits_for_consolidation_with_its_own_tier() {
    let mut fixture = Fixture::said("I live in Lisbon.");
    fixture.policy.admission = Admission::Staged;
    let proposal = item("User lives in Lisbon.", "I live in Lisbon");
    let kept = fixture.kept(&proposal);
    assert_eq!((kept.state, kept.tier), (State::Candidate, Tier::Tentative));
    assert_eq!(kept.confidence, 0.9, "it loses nothing by waiting");
    let reasoning = |kept: &JudgedClaim| kept.claim.reasoning.clone().unwrap();
    assert_eq!(reasoning(&kept), "said plainly; a candidate until the next consolidation");
    let update = update("User prefers coffee.", "I prefer coffee now");
    let mut changed = Fixture::said("I prefer coffee now.").with(guessed("User prefers tea."));
    assert!(matches!(changed.judge(&update), ExtractionVerdict::Change { .. }));
    changed.policy.admission = Admission::Staged;
    match changed.judge(&update) {
        ExtractionVerdict::Contest { kept, .. } => {
            assert_eq!((kept.state, kept.tier), (State::Candidate, Tier::Candidate));
            assert_eq!(reasoning(&kept), "said plainly; waits for more evidence");
        }
        other => panic!("beside the old one, not {other:?}"),
    }
    let unsure = Fixture::said("Thanks, I see.");
    let kept = unsure.kept(&item("User owns a yacht in Monaco.", "Thanks, I see"));
    assert_eq!(kept.tier, Tier::Candidate, "a guess is not staged");
}

#[test]
fn preset_chat_stores_only_important_and_sure_memories() {
    let mut fixture = Fixture::said("I live in Lisbon.");
    let rated = |importance: f32, confidence: f32| {
        let item = item("User lives in Lisbon.", "I live in Lisbon");
        ProposedMemory { importance, confidence, ..item }
    };
    let unimportant = fixture.kept(&rated(0.3, 0.95));
    assert_eq!(unimportant.state, State::Active, "by default it is found by search");
    assert!(unimportant.confidence < crate::fade::INJECT_CONFIDENCE);
    fixture.policy = Policy::preset("chat").unwrap();
    let state = |importance, confidence| fixture.kept(&rated(importance, confidence)).state;
    assert_eq!(state(0.7, 0.95), State::Active);
    assert_eq!(state(0.6, 0.95), State::Candidate, "an importance of 7 of 10 is needed");
    assert_eq!(state(0.9, 0.6), State::Candidate);
}

#[test]
fn weak_signal_has_a_limited_importance() {
    let fixture = Fixture::said("I live in Lisbon.");
    let of = |importance: f32, confidence: f32| {
        let item = item("User lives in Lisbon.", "I live in Lisbon");
        let kept = fixture.kept(&ProposedMemory { importance, confidence, ..item });
        assert_eq!((kept.state, kept.tier), (State::Active, Tier::Tentative));
        kept.claim.importance
    };
    assert_eq!(of(0.9, 0.9), 0.9, "a plain statement keeps its importance");
    assert_eq!(of(0.9, 0.6), 0.6, "a hedged one does not");
    assert_eq!(of(0.1, 0.6), 0.4);
}

#[test]
fn learned_memory_has_a_type_and_a_reasoning() {
    let learned = |kind: Kind, said: &str, claim: &str| {
        let item = ProposedMemory { kind, ..item(claim, said) };
        Fixture::said(&format!("{said}.")).kept(&item).claim
    };
    for (kind, said, claim, memory_type) in [
        (Kind::Fact, "I live in Lisbon", "User lives in Lisbon.", MemoryType::Profile),
        (Kind::Project, "I plan a garden", "User plans a garden.", MemoryType::Task),
        (Kind::Context, "I am in Rome", "User is in Rome.", MemoryType::Episodic),
        (Kind::Habit, "I drink tea", "User drinks tea.", MemoryType::Procedural),
        (Kind::Fact, "Atlas runs on Debian", "Atlas runs on Debian.", MemoryType::Domain),
    ] {
        assert_eq!(learned(kind, said, claim).memory_type, memory_type, "{claim}");
    }
    let reasoning = |claim: Claim| claim.reasoning.unwrap();
    let plain = learned(Kind::Fact, "I live in Lisbon", "User lives in Lisbon.");
    assert_eq!(reasoning(plain), "said plainly; may be used in answers");
    let given = ProposedMemory {
        reasoning: Some("named the city".into()),
        confidence: 0.6,
        ..item("User lives in Lisbon.", "I live in Lisbon")
    };
    let fixture = Fixture::said("I live in Lisbon.");
    assert_eq!(reasoning(fixture.kept(&given).claim), "named the city");
    let hedged = ProposedMemory { reasoning: None, ..given };
    let kept = fixture.kept(&hedged).claim;
    assert_eq!(reasoning(kept), "said with reservations; found by search only");
}

#[test]
fn reasoning_follows_from_the_state_that_was_decided_on() {
    let mut important = guessed("User prefers tea.");
    important.claim.importance = 0.9;
    let fixture = Fixture::said("I prefer coffee now.").with(important);
    match fixture.judge(&update("User prefers coffee.", "I prefer coffee now")) {
        ExtractionVerdict::Contest { kept, .. } => {
            assert_eq!(kept.state, State::Proposed);
            assert_eq!(kept.claim.reasoning.unwrap(), "said plainly; needs consent");
        }
        other => panic!("an important memory is asked about, not {other:?}"),
    }
}

#[test]
fn consent_to_a_domain_admits_what_is_inferred_about_it_and_nothing_that_directs() {
    let said = "I earn 4,000 euros a month.";
    let about = |domain: &str, content: &str, quote: &str| ProposedMemory {
        domain: Some(domain.into()),
        ..item(content, quote)
    };
    let income = about("finance", "User earns 4,000 euros a month.", "I earn 4,000 euros a month");
    let judged = |mut fixture: Fixture, admits: bool, item: &ProposedMemory| {
        fixture.policy = Policy::preset("advisor").unwrap();
        if admits {
            fixture.policy.admits_inferred.insert("finance".to_owned());
        }
        fixture.judge(item)
    };
    let state = |verdict: ExtractionVerdict| match verdict {
        ExtractionVerdict::Keep(kept) => kept.state,
        other => panic!("kept, not {other:?}"),
    };
    let open = || Fixture::said(said).open("finance");
    assert_eq!(state(judged(open(), false, &income)), State::Proposed, "without the consent");
    assert_eq!(state(judged(open(), true, &income)), State::Active);
    let closed = judged(Fixture::said(said), true, &income);
    assert_eq!(reason(&closed), Some(Reason::ClosedDomain), "a consent opens nothing by itself");
    let health = Fixture::said("I was diagnosed with diabetes.").open("health");
    let diabetes = "I was diagnosed with diabetes";
    let diabetes = about("health", "User was diagnosed with diabetes.", diabetes);
    assert_eq!(state(judged(health, true, &diabetes)), State::Proposed, "another domain");
    let allows = "I allow you to pay my invoices without asking";
    let order = about("finance", "User allows paying invoices without asking.", allows);
    let allows = Fixture::said(&format!("{allows}.")).open("finance");
    assert_eq!(state(judged(allows, true, &order)), State::Proposed, "an authorisation");
}

#[test]
fn consent_to_a_domain_admits_no_other_sensitive_kind_that_the_model_files_under_it() {
    let judged = |quote: &str, content: &str| {
        let mut fixture = Fixture::said(&format!("{quote}.")).open("finance");
        fixture.policy = Policy::preset("advisor").unwrap();
        fixture.policy.admits_inferred.insert("finance".to_owned());
        fixture.kept(&ProposedMemory { domain: Some("finance".into()), ..item(content, quote) })
    };
    for (quote, content) in [
        ("I am a member of the Green party", "User is a member of the Green party."),
        ("I am openly gay since college", "User is openly gay since college."),
        ("I was convicted of fraud in Leeds", "User was convicted of fraud in Leeds."),
    ] {
        assert_eq!(judged(quote, content).state, State::Proposed, "{content}");
    }
    let kept = judged("I earn 4,000 euros a month", "User earns 4,000 euros a month.");
    assert_eq!(kept.state, State::Active);
}

#[test]
fn learned_preference_about_answers_is_style_and_procedural() {
    let kept = |said: &str, content: &str, kind: Kind| {
        let item = ProposedMemory { kind, ..item(content, said) };
        let claim = Fixture::said(&format!("{said}.")).kept(&item).claim;
        (claim.category, claim.memory_type)
    };
    let style = (Category::Style, MemoryType::Procedural);
    let (said, content) = ("I prefer short answers", "User prefers short answers.");
    assert_eq!(kept(said, content, Kind::Preference), style);
    assert_eq!(kept(said, content, Kind::Fact), style);
    let (said, content) = (
        "When I ask for a restaurant I want to know how loud it is",
        "When User asks for a restaurant, User wants to know how loud it is.",
    );
    assert_eq!(kept(said, content, Kind::Preference), style);
    let (said, content) = ("I prefer window seats", "User prefers window seats.");
    let other = (Category::Fact, MemoryType::Profile);
    assert_eq!(kept(said, content, Kind::Preference), other);
}
