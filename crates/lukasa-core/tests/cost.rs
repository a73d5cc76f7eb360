//! Checks that every function that reads text of unknown length takes linear time.
//!
//! Each is given texts that have made such functions quadratic before, at a length and at four
//! times that length. The ratio of the two CPU times is checked, so neither a slow nor a busy
//! machine matters: a linear function takes four times as long, a quadratic one sixteen times.

#[path = "cost/patterns.rs"]
mod patterns;

use std::hint::black_box;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use lukasa_core::admission::{is_carried, is_content_carried};
use lukasa_core::context::block::{DynamicInput, Finding, dynamic};
use lukasa_core::fact::{Claim, State, Tier, Version};
use lukasa_core::id::Ids;
use lukasa_core::import::{Format, MemoryItem, judge};
use lukasa_core::learning::quotations::typed_places_of_all;
use lukasa_core::learning::{Transcript, explicit, own, summary};
use lukasa_core::memory_block;
use lukasa_core::vault::{
    self, Base, Command, File, MissingContent, PreservedParts, VaultContents,
};
use lukasa_core::{MaskedTurns, NewTurn, Origin, Period, Policy, Role, Timestamp, Turn, TurnId};
use lukasa_core::{builtin_domains, recall};
use lukasa_text::detect::Detector;
use lukasa_text::line::{harmless, harmless_data, harmless_lines, harmless_start};
use lukasa_text::rule::{ComparedText, RuleCondition};
use lukasa_text::screen::{directive, ground, person, secret, sensitive};
use lukasa_text::terms::{Language, passages, words};
use lukasa_text::when::mentions;
use lukasa_text::{request, slot, statement, tokens, when};
use patterns::{PATTERNS, SECRET_PATTERNS};

const LENGTH_BYTES: usize = 4_000;
/// Length for functions of which a part that is quadratic takes longer than the rest only in a long text.
const MIDDLE_BYTES: usize = 16_000;
/// Length for functions that are so fast that a shorter text only measures the resolution of the clock.
const LONG_BYTES: usize = 64_000;
const MAX_RATIO: f64 = 9.0;
/// Below this, a ratio only measures the resolution of the clock.
const SLACK: Duration = Duration::from_millis(20);
/// How long a text that seems to take too long is measured again.
const MEASURING_TIME: Duration = Duration::from_secs(5);

fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

fn check<T>(name: &str, read: impl Fn(&str) -> T) {
    check_patterns(name, PATTERNS, read);
}

/// The same with longer texts.
fn check_middle<T>(name: &str, read: impl Fn(&str) -> T) {
    check_length(name, MIDDLE_BYTES, PATTERNS, read);
}

/// The same for a function that is fast.
fn check_long<T>(name: &str, read: impl Fn(&str) -> T) {
    check_length(name, LONG_BYTES, PATTERNS, read);
}

fn check_patterns<T>(name: &str, patterns: &[&str], read: impl Fn(&str) -> T) {
    check_length(name, LENGTH_BYTES, patterns, read);
}

fn check_length<T>(name: &str, bytes: usize, patterns: &[&str], read: impl Fn(&str) -> T) {
    let cost = |text: &str| {
        let began = cpu_time();
        drop(black_box(Some(read(text))));
        cpu_time().saturating_sub(began)
    };
    let mut slow = Vec::new();
    for pattern in patterns {
        let text = |bytes: usize| pattern.repeat(bytes.div_ceil(pattern.len()));
        let (short, long) = (text(bytes), text(4 * bytes));
        cost("warm up");
        let (mut one, mut four) = (cost(&short), cost(&long));
        let ratio =
            |one: Duration, four: Duration| four.as_secs_f64() / one.as_secs_f64().max(1e-6);
        let is_slow = |one, four| four > SLACK && ratio(one, four) > MAX_RATIO;
        // A single measurement can be wrong on a busy machine, where a longer one is more often
        // interrupted; the least of many is not.
        let mut attempts = 4_u32;
        let until = Instant::now() + MEASURING_TIME;
        while is_slow(one, four) && (attempts > 0 || Instant::now() < until) {
            (one, four) = (one.min(cost(&short)), four.min(cost(&long)));
            attempts = attempts.saturating_sub(1);
        }
        let ratio = ratio(one, four);
        if is_slow(one, four) {
            slow.push(format!("{pattern:?}: {one:?} then {four:?}, ratio {ratio:.1}"));
        }
    }
    assert!(slow.is_empty(), "{name} is not linear:\n{}", slow.join("\n"));
}

fn turn(content: &str) -> Turn {
    Turn {
        id: TurnId::from_uuid(uuid::Uuid::nil()),
        session: "s".into(),
        number: 1,
        role: Role::User,
        speaker: None,
        content: content.into(),
        origin: Origin::UserTurn,
        said_at: Timestamp::UNIX_EPOCH,
        recorded_at: Timestamp::UNIX_EPOCH,
        spans: Vec::new(),
        marked: true,
    }
}

/// A turn of a client that does not mark what was pasted.
fn pasted(content: &str) -> Turn {
    Turn { marked: false, ..turn(content) }
}

fn count_places(turn: &Turn, quote: &str) -> usize {
    Transcript::of(std::slice::from_ref(turn), &[]).typed_places(quote, Timestamp::MIN).count()
}

/// About half of a text.
fn half(text: &str) -> &str {
    &text[..text.floor_char_boundary(text.len() / 2)]
}

fn profile(content: String) -> Vec<File> {
    vec![File { path: "profile.md".to_owned(), content }]
}

fn path() -> String {
    "/memories/profile.md".to_owned()
}

fn command(text: &str, command: &Command) -> Result<String, String> {
    command.run(&mut profile(text.to_owned()))
}

/// Memories with equal words.
fn versions(count: usize) -> Vec<Version> {
    let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [1; 16]);
    let since = Period::since(Timestamp::UNIX_EPOCH);
    let mut version = || Version {
        fact: ids.fact(),
        id: ids.version(),
        number: 1,
        claim: Claim::saying("tea"),
        state: State::Active,
        tier: Tier::Strong,
        origin: Origin::UserSaid,
        extracted: false,
        confidence: None,
        session: None,
        turns: Vec::new(),
        confirmed_at: None,
        last_confirmed_at: None,
        consented_at: None,
        valid: since,
        known: since,
        opened_by: ids.operation(),
        closed_by: None,
        reopens: None,
    };
    (0..count).map(|_| version()).collect()
}

#[test]
fn harmless_costs_linear_time() {
    check("harmless", harmless);
}

#[test]
fn harmless_start_costs_linear_time() {
    check("harmless_start", |text| harmless_start(text, 400));
}

#[test]
fn count_tokens_costs_linear_time() {
    tokens::warm();
    check("count_tokens", tokens::count);
}

#[test]
fn passages_costs_linear_time() {
    check("passages", |text| passages(text).len());
}

#[test]
fn words_in_english_costs_linear_time() {
    check("words_in_english", |text| words(text, Language::ENGLISH));
}

#[test]
fn words_in_german_costs_linear_time() {
    check("words_in_german", |text| words(text, Language::parse("de")));
}

#[test]
fn language_of_costs_linear_time() {
    check("language_of", Language::of);
}

#[test]
fn mentions_costs_linear_time() {
    check("mentions", |text| mentions(text, Timestamp::UNIX_EPOCH, &TimeZone::UTC));
}

#[test]
fn detect_domains_costs_linear_time() {
    let detector = Detector::builtin();
    check("detect_domains", |text| detector.detect(text));
}

#[test]
fn strip_costs_linear_time() {
    check("strip", |text| memory_block::strip(text).len());
}

/// Every message of a chat is read by it. The comparison is with the simplest function of each
/// character, so it holds in every build.
#[test]
fn strip_takes_little_longer_than_a_copy_of_the_characters() {
    const MAX_FACTOR: f64 = 10.0;
    let text = "The quick brown fox, ".repeat(10_000);
    let cost = |read: &dyn Fn(&str) -> usize| {
        let measure = || {
            let began = cpu_time();
            let _ = black_box(read(&text));
            cpu_time().saturating_sub(began)
        };
        (0..5).map(|_| measure()).min().unwrap_or_default()
    };
    let copy = cost(&|text: &str| text.chars().filter(|c| *c != '\0').collect::<String>().len());
    let strip = cost(&|text: &str| memory_block::strip(text).len());
    let factor = strip.as_secs_f64() / copy.as_secs_f64().max(1e-6);
    assert!(factor < MAX_FACTOR, "{strip:?}, {factor:.1} times {copy:?}");
}

#[test]
fn captured_turn_costs_linear_time() {
    check("captured_turn", |text| NewTurn::captured(Role::User, text, Timestamp::UNIX_EPOCH));
}

#[test]
fn redact_costs_linear_time() {
    check("redact", |text| secret::redact(text).len());
    check_patterns("redact", SECRET_PATTERNS, |text| secret::redact(text).len());
    let around = |text: &str| format!("sk-my password is {text}-------,,,,,@a:b@c");
    check_patterns("redact", SECRET_PATTERNS, |text| secret::redact(&around(text)).len());
}

#[test]
fn is_directive_costs_linear_time() {
    check_middle("is_directive", directive::is_directive);
}

#[test]
fn authorises_costs_linear_time() {
    check("authorises", directive::authorises);
}

#[test]
fn speaks_of_self_costs_linear_time() {
    check("speaks_of_self", person::speaks_of_self);
}

#[test]
fn sensitive_category_costs_linear_time() {
    check("sensitive_category", sensitive::category);
}

#[test]
fn grounded_costs_linear_time() {
    check("grounded", |text| ground::grounded("I live in Porto", &[text]));
}

#[test]
fn grounded_claim_costs_linear_time() {
    check("grounded_claim", |text| ground::grounded(text, &["I live in Porto"]));
}

#[test]
fn other_directive_screens_cost_linear_time() {
    check_middle("only_requests", directive::only_requests);
    check_middle("only_asks", directive::only_asks);
    check_middle("commands", directive::commands);
    check("speaks_of_a_user", directive::speaks_of_a_user);
}

#[test]
fn first_person_costs_linear_time() {
    check("speaks_as_subject", person::speaks_as_subject);
    check_middle("is_about_user", ground::is_about_user);
}

#[test]
fn other_screens_cost_linear_time() {
    check("is_hedged", ground::is_hedged);
    check("is_negated", ground::is_negated);
    check("says_something", ground::says_something);
    check("sensitive_domains", |text| sensitive::domains(text).len());
    check("slot_of", slot::slot_of);
    check("is_style", request::is_style);
    check("is_about_today", when::is_about_today);
}

#[test]
fn other_harmless_forms_cost_linear_time() {
    check("harmless_lines", harmless_lines);
    check("harmless_data", harmless_data);
}

#[test]
fn comparisons_with_a_claim_cost_linear_time() {
    let claim = "User lives in Porto.";
    check("carries", |text| ground::carries(claim, text));
    check("carried_claim", |text| ground::carries(text, claim));
    check("shared_words", |text| ground::shared_words(claim, text));
    check("shares_topic", |text| ground::shares_topic(claim, text));
    check("changes", |text| ground::changes(claim, "User lives in Faro.", &[text]));
    check("opposes", |text| ground::opposes(text, text));
    check("conflict", |text| lukasa_text::conflict::conflict(claim, text));
}

#[test]
fn comparison_with_rules_costs_linear_time() {
    let rules = [("no_meetings_after", "16:00"), ("max_price", "50 EUR"), ("exclude", "tea")];
    check("breaks", |text| {
        let rules = rules.iter().filter_map(|(key, value)| RuleCondition::parse(key, value));
        rules.filter_map(|rule| ComparedText::new(text).breaks(&rule)).count()
    });
}

#[test]
fn retracts_costs_linear_time() {
    check_middle("retracts", statement::retracts);
}

#[test]
fn statements_cost_linear_time() {
    check("find_statements", statement::find);
    check("own_sentences", statement::own_sentences);
    check("asks_to_forget", statement::asks_to_forget);
    check("signals_change", statement::signals_change);
    check("opens_introduction", statement::opens_introduction);
}

#[test]
fn vault_read_costs_linear_time() {
    check_long("vault_read", |text| vault::read(&profile(text.to_owned())));
    check_long("vault_read_line", |text| vault::read(&profile(format!("- {text}"))));
    check_long("vault_read_tag", |text| vault::read(&profile(format!("- a #{text}"))));
}

#[test]
fn vault_read_of_episodes_costs_linear_time() {
    let episodes = |text: &str| File { path: "episodes/2026-01.md".into(), content: text.into() };
    check_long("vault_read_episodes", |text| vault::read(&[episodes(text)]));
}

#[test]
fn vault_read_with_a_long_heading_costs_linear_time() {
    let headed = |text: &str| format!("## {text}\n{}", "- a\n".repeat(text.len() / 4));
    check_length("vault_read_heading", LONG_BYTES / 2, &["a", "a "], |text| {
        vault::read(&profile(headed(text)))
    });
}

#[test]
fn vault_plan_costs_linear_time() {
    let held = VaultContents::default();
    check_length("vault_plan", LONG_BYTES / 4, PATTERNS, |text| {
        let read = vault::read(&profile(text.to_owned()));
        vault::plan(&read, &held, &MissingContent::default(), Timestamp::UNIX_EPOCH)
    });
}

#[test]
fn vault_plan_costs_linear_time_in_equal_lines_without_a_mark() {
    let base = |count: usize| {
        let versions = versions(count);
        Base::of(&VaultContents { versions, ..VaultContents::default() }, Timestamp::UNIX_EPOCH)
    };
    let bases = [LONG_BYTES, 4 * LONG_BYTES].map(|bytes| base(bytes / 32));
    check_length("vault_plan_equal_lines", LONG_BYTES, &["a"], |text| {
        let lines = text.len() / 32;
        let content = "- tea\n".repeat(lines);
        let mut read = vault::read(&[File { path: "domains/food.md".into(), content }]);
        let own = bases.iter().find(|base| base.memories.len() == lines);
        read.base = own.cloned().unwrap_or_default();
        let held = VaultContents::default();
        vault::plan(&read, &held, &MissingContent::default(), Timestamp::UNIX_EPOCH)
    });
}

#[test]
fn vault_render_costs_linear_time_in_headings() {
    let headings = |text: &str| -> String {
        (0..text.len() / 8).map(|number| format!("## h{number}\n\na\n\n")).collect()
    };
    check_length("vault_render", LONG_BYTES, &["a"], |text| {
        let read = vault::read(&profile(headings(text)));
        let kept = PreservedParts { notes: &read.notes, ..PreservedParts::default() };
        vault::render(&VaultContents::default(), Timestamp::UNIX_EPOCH, &kept)
    });
}

#[test]
fn vault_encoding_costs_linear_time() {
    check_long("vault_encode", vault::encode);
    check_long("vault_decode", vault::decode);
}

#[test]
fn vault_replace_costs_linear_time() {
    check_long("vault_replace", |text| {
        let old = text.chars().next().map(String::from).unwrap_or_default();
        command(text, &Command::Replace { path: path(), old, new: "b".into() })
    });
    check_long("vault_replace_missing", |text| {
        let old = format!("{}🦀", half(text));
        command(text, &Command::Replace { path: path(), old, new: "b".into() })
    });
    check_long("vault_replace_unique", |text| {
        let old = "🦀".to_owned();
        command(&format!("{text}🦀"), &Command::Replace { path: path(), old, new: "b".into() })
    });
}

#[test]
fn other_vault_commands_cost_linear_time() {
    check_long("vault_insert", |text| {
        command(text, &Command::Insert { path: path(), line: 0, text: text.to_owned() })
    });
    check_long("vault_view", |text| command(text, &Command::View { path: path(), range: None }));
    check_length("vault_view_folder", LONG_BYTES / 2, &["a"], |text| {
        let file = |number| File { path: format!("domains/a{number}.md"), content: "a".into() };
        let mut files: Vec<File> = (0..text.len() / 8).map(file).collect();
        Command::View { path: "/memories".into(), range: None }.run(&mut files)
    });
}

#[test]
fn import_judge_costs_linear_time() {
    let (domains, policy) = (builtin_domains(), Policy::default());
    let judged = |item: &MemoryItem| judge(item, Format::Lines, &domains, &policy);
    let memory = || MemoryItem { content: "Likes tea".into(), ..MemoryItem::default() };
    check_middle("import_source", |text| judged(&MemoryItem { source: text.into(), ..memory() }));
    check("import_detail", |text| judged(&MemoryItem { detail: Some(text.into()), ..memory() }));
    check("import_content", |text| judged(&MemoryItem { content: text.into(), ..memory() }));
}

#[test]
fn transcript_costs_linear_time() {
    check("transcript", |text| Transcript::of(&[turn(text)], &[]));
    check("guessed_transcript", |text| Transcript::of(&[pasted(text)], &[]));
    check("explicit_statements", |text| explicit::find(&turn(text), &[]));
    check("own_statements", |text| own::own_statements(&Transcript::of(&[turn(text)], &[])));
}

#[test]
fn turns_and_summaries_cost_linear_time() {
    check("mask_turns", |text| MaskedTurns::new(vec![turn(text)]));
    check("safe_summary", |text| summary::safe_summary(text, &[]));
    check("turn_passages", |text| recall::passage::of_turn(&turn(text)));
}

#[test]
fn quotation_search_costs_linear_time() {
    check_length("typed_places", 2 * LENGTH_BYTES, PATTERNS, |text| {
        count_places(&turn(text), half(text))
    });
    check("locate", |text| {
        Transcript::of(&[turn(text)], &[]).locate("I live in Porto", "User lives in Porto", None)
    });
}

#[test]
fn quotation_search_inside_words_costs_linear_time() {
    let patterns = ["a", ".a", "ab ", "é"];
    for (before, after) in [("", "b"), ("b", "")] {
        check_length("typed_places_inside", 2 * LENGTH_BYTES, &patterns, |text| {
            let (turn, quote) = (turn(&format!("{before}{text}{after}")), half(text));
            count_places(&turn, quote) + count_places(&turn, &format!("{before}{quote}"))
        });
    }
}

#[test]
fn sentences_that_are_compared_with_a_claim_are_bounded_for_many_quotations() {
    // Every quotation is in every turn, and every sentence is another one.
    let quotations: Vec<String> = (0..20).map(|n| format!("quotation {n}")).collect();
    let sentence = |n: usize| format!("{} in turn {n}.", quotations.join(" "));
    let turns: Vec<Turn> = (0..200).map(|n| turn(&sentence(n))).collect();
    let transcript = Transcript::of(&turns, &[]);
    let compared = |quotations: &[String]| {
        let places = typed_places_of_all(&transcript, quotations, Timestamp::MIN);
        places.map(|place| place.sentence).collect::<Vec<_>>()
    };
    assert_eq!(compared(&quotations[..1]).len(), 20);
    let all = compared(&quotations);
    assert_eq!(all.len(), 40);
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 40, "each once");
    // The same sentence in many turns is compared once, and the last quotation has its share.
    let mut turns: Vec<Turn> = (0..200).map(|_| turn(&sentence(0))).collect();
    turns.push(turn("quotation 19 elsewhere."));
    let transcript = Transcript::of(&turns, &[]);
    let places = typed_places_of_all(&transcript, &quotations, Timestamp::MIN);
    assert_eq!(
        places.map(|place| place.sentence).collect::<Vec<_>>(),
        [sentence(0), "quotation 19 elsewhere.".to_owned()]
    );
}

#[test]
fn comparison_of_a_claim_with_a_sentence_costs_linear_time() {
    let claim = Claim::saying("User likes tea");
    check("is_carried", |text| is_carried(&claim, None, text));
    check("is_content_carried", |text| is_content_carried(&claim, None, text));
    // A detail is as long as the sentence that it is compared with.
    check_patterns("carried_detail", &["tea, ", "I like tea, ", "I like tea. ", "北、"], |text| {
        let detail = Some(text.to_owned());
        is_carried(&Claim { detail, ..Claim::saying("User likes tea") }, None, text)
    });
}

#[test]
fn turn_line_costs_linear_time() {
    check_middle("turn_line", |text| {
        let turn = pasted(&format!("Look:\n\n> {text}"));
        dynamic(
            DynamicInput { found: &[Finding::Turn(&turn, 1.0)], ..DynamicInput::default() },
            500,
        )
    });
}
