//! Observations: raw events that other applications and agents record (L0), and the patterns that
//! are counted in them. An observation is appended and never rewritten, and goes into no prompt. A
//! pattern is an event that was observed often enough; it becomes a soft memory with the
//! observations as its evidence. No model takes part.

use jiff::{SignedDuration, tz::TimeZone};
use lukasa_text::screen::{Reading, secret};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::admission::{Screening, name_directs};
use crate::consolidation::{Move, RatingUpdate};
use crate::fact::{Category, Claim, ClaimEvidence, Kind, MemoryType, State, Tier, Version};
use crate::id::ObservationId;
use crate::limits::{self, EVIDENCE_ITEMS, OBSERVATION_NAME_CHARS, PAYLOAD_BYTES};
use crate::origin::Origin;
use crate::project::Project;
use crate::session::is_session_name;
use crate::time::Timestamp;

/// How often an event must be observed to be a pattern.
pub const PATTERN_TIMES: usize = 5;
/// On how many days.
pub const PATTERN_DAYS: usize = 3;
/// How often, and on how many days, a pattern must be observed to be strong.
pub const STRONG_PATTERN_TIMES: usize = 10;
pub const STRONG_PATTERN_DAYS: usize = 7;
/// How far ahead of the server the clock of a source may be.
const MAX_AHEAD: SignedDuration = SignedDuration::from_mins(5);
/// How far back observations are counted.
pub const PATTERN_PERIOD: SignedDuration = SignedDuration::from_hours(24 * 90);
/// The field of a payload whose value distinguishes patterns of the same kind.
pub const VALUE_FIELD: &str = "value";
/// The longest value that is counted, in characters.
pub const VALUE_CHARS: usize = 40;
/// The kind of evidence that describes an observation.
pub const OBSERVATION_EVIDENCE: &str = "observation";
/// How the key of a pattern's memory begins.
const KEY_PREFIX: &str = "observed/";
/// The confidence of a pattern, and of a strong one.
const PATTERN_CONFIDENCE: f32 = 0.6;
const STRONG_PATTERN_CONFIDENCE: f32 = 0.9;

/// One raw event of another application or of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub id: ObservationId,
    /// The application or agent that observed it.
    pub source: String,
    /// What happened, such as `order`.
    pub kind: String,
    /// When it happened, and when it was recorded.
    pub at: Timestamp,
    pub recorded_at: Timestamp,
    pub payload: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
    /// The origin of the credential that recorded it.
    pub origin: Origin,
}

impl Observation {
    /// What is wrong with it, as (field, reason); empty if it can be stored.
    pub fn faults(&self, now: Timestamp) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        for (field, name) in [("source", &self.source), ("kind", &self.kind)] {
            if !is_name(name) {
                let most = OBSERVATION_NAME_CHARS;
                let reason = format!("1 to {most} letters, digits, dots, dashes or underscores");
                faults.push((field, reason));
            }
        }
        let payload = self.payload.to_string();
        if !self.payload.is_object() {
            faults.push(("payload", "an object".to_owned()));
        } else if payload.len() > PAYLOAD_BYTES {
            faults.push(("payload", format!("at most {PAYLOAD_BYTES} bytes of JSON")));
        } else if payload.contains("\\u0000") {
            faults.push(("payload", "must not contain the character U+0000".to_owned()));
        }
        if self.session.as_deref().is_some_and(|session| !is_session_name(session)) {
            faults.push(("session_id", format!("1 to {} characters", limits::NAME_CHARS)));
        }
        let year = self.at.to_zoned(TimeZone::UTC).year();
        if !(1..=9999).contains(&year) || self.at > now + MAX_AHEAD {
            faults.push(("at", "a time that is not in the future".to_owned()));
        }
        faults
    }

    /// Replaces every secret in the texts of the payload with `[secret]`.
    pub fn mask_secrets(&mut self) {
        mask(&mut self.payload);
    }

    /// The screens of an observation: of its names and of all texts of its payload.
    pub fn screening(&self) -> Screening {
        let screened = Claim {
            key: Some(self.kind.clone()),
            value: Some(self.payload.clone()),
            // Names and values next to each other, as in `"password": "…"`.
            detail: Some(self.payload.to_string()),
            project: self.project.clone(),
            ..Claim::saying(&format!("{} {}", self.source, self.kind))
        };
        let mut screening = Screening::of(&screened);
        let serialized = secret::find_secret(&self.payload.to_string());
        screening.secret = screening.secret.or(serialized);
        if let Some(session) = &self.session {
            screening.secret = screening.secret.or_else(|| secret::find_secret_in_id(session));
            let sensitive = || Reading::of(session).sensitive();
            screening.sensitive = screening.sensitive.or_else(sensitive);
            screening.directs |= name_directs(session);
        }
        screening
    }

    /// The value that distinguishes it from other events of its kind, if its payload states a short
    /// one.
    pub fn value(&self) -> Option<String> {
        let text = match self.payload.get(VALUE_FIELD)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Bool(yes) => yes.to_string(),
            _ => return None,
        };
        let is_short = (1..=VALUE_CHARS).contains(&text.chars().count());
        (is_short && !text.chars().any(char::is_control)).then_some(text)
    }
}

/// Whether a text can be the source or kind of an observation.
pub fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    (1..=OBSERVATION_NAME_CHARS).contains(&text.chars().count()) && text.chars().all(is_part)
}

fn mask(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(masked) = secret::mask(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(fields) => fields.values_mut().for_each(mask),
        _ => {}
    }
}

/// What was observed. Observations of the same event are counted together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedEvent {
    pub source: String,
    pub kind: String,
    pub value: Option<String>,
    pub project: Option<Project>,
}

impl ObservedEvent {
    /// The event that a memory is the pattern of; `None` if the memory is not a pattern.
    pub fn from_memory(memory: &Version) -> Option<Self> {
        let key = memory.claim.key.as_deref().filter(|_| memory.extracted)?;
        let mut parts = key.strip_prefix(KEY_PREFIX)?.splitn(3, '/');
        let (source, kind) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        let value = parts.next().map(str::to_owned);
        Some(Self { source, kind, value, project: memory.claim.project.clone() })
    }

    /// The key of its memory: one memory per source, kind and value.
    pub fn key(&self) -> String {
        let value = self.value.as_ref().map(|value| format!("/{value}")).unwrap_or_default();
        format!("{KEY_PREFIX}{}/{}{value}", self.source, self.kind)
    }

    fn words(&self) -> String {
        let value = self.value.as_ref().map(|value| format!(" {value}")).unwrap_or_default();
        format!("{}{value}", self.kind)
    }
}

/// The observations of an event, counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedPattern {
    pub event: ObservedEvent,
    /// How often it was observed, and on how many days (UTC).
    pub times: usize,
    pub days: usize,
    /// The least trusted origin of its observations; at most that of a pattern.
    pub origin: Origin,
    /// The latest observations, newest first, with their times.
    pub latest: Vec<(ObservationId, Timestamp)>,
}

impl ObservedPattern {
    /// The origin of a pattern in observations with these origins.
    pub fn origin_of(observed: impl IntoIterator<Item = Origin>) -> Origin {
        Origin::derived(observed.into_iter().chain([Origin::Observed])).unwrap_or(Origin::Import)
    }

    /// Whether it was observed often enough to be a memory.
    pub fn is_frequent(&self) -> bool {
        self.times >= PATTERN_TIMES && self.days >= PATTERN_DAYS
    }

    pub fn tier(&self) -> Tier {
        let strong = self.times >= STRONG_PATTERN_TIMES && self.days >= STRONG_PATTERN_DAYS;
        if strong { Tier::Strong } else { Tier::Tentative }
    }

    /// The state of its memory, if the user wants patterns in the state `wanted`. Observations that
    /// are less trusted than those of applications and agents only propose.
    pub fn state(&self, wanted: State) -> State {
        if self.origin < Origin::Observed { State::Proposed } else { wanted }
    }

    /// A strong pattern is procedural (R104).
    fn memory_type(&self) -> MemoryType {
        match self.tier() {
            Tier::Strong => MemoryType::Procedural,
            _ => MemoryType::Episodic,
        }
    }

    /// Its memory. It is soft, whatever was observed, and its words do not change with the counts.
    pub fn claim(&self) -> Claim {
        let content = format!("Observed often in {}: {}.", self.event.source, self.event.words());
        Claim {
            category: Category::Context,
            memory_type: self.memory_type(),
            kind: Kind::Habit,
            key: Some(self.event.key()),
            evidence: self.evidence(),
            reasoning: Some(self.counts()),
            project: self.event.project.clone(),
            ..Claim::saying(&content)
        }
    }

    fn counts(&self) -> String {
        format!("observed {} times on {} days", self.times, self.days)
    }

    pub fn confidence(&self) -> f32 {
        if self.tier() == Tier::Strong { STRONG_PATTERN_CONFIDENCE } else { PATTERN_CONFIDENCE }
    }

    /// The ids of its latest observations, as a memory cites them.
    pub fn cited(&self) -> Vec<String> {
        self.latest.iter().take(limits::TURNS).map(|(id, _)| id.to_string()).collect()
    }

    fn evidence(&self) -> Vec<ClaimEvidence> {
        let words = self.event.words();
        let describe = |(id, at): &(ObservationId, Timestamp)| ClaimEvidence {
            turn: Some(id.to_string()),
            ..ClaimEvidence::of(OBSERVATION_EVIDENCE, &format!("{words} at {at}"))
        };
        self.latest.iter().take(EVIDENCE_ITEMS).map(describe).collect()
    }

    /// The new rating of its memory, if the memory is rated lower or is not procedural yet, and the
    /// user has not decided about it.
    pub fn promotion(&self, memory: &Version) -> Option<RatingUpdate> {
        let is_lower =
            memory.tier != Tier::Strong || memory.claim.memory_type != MemoryType::Procedural;
        let is_due = memory.state == State::Active
            && memory.origin == Origin::Observed
            && self.origin >= Origin::Observed
            && !memory.is_firm()
            && is_lower
            && self.tier() == Tier::Strong;
        is_due.then(|| RatingUpdate {
            what: Move::Promote,
            state: State::Active,
            tier: Tier::Strong,
            memory_type: MemoryType::Procedural,
            importance: memory.claim.importance,
            confidence: memory.confidence.unwrap_or(0.0).max(STRONG_PATTERN_CONFIDENCE),
            reason: self.counts(),
        })
    }

    /// The version with the latest observations as its evidence.
    #[must_use]
    pub fn cited_by(&self, mut version: Version) -> Version {
        version.claim.evidence = self.evidence();
        version.turns = self.cited();
        version
    }

    /// The version of its memory after observations were removed: with those that are left as its
    /// evidence, and rated no higher than they allow. `None` if it is no longer frequent.
    #[must_use]
    pub fn supports(&self, version: Version) -> Option<Version> {
        if !self.is_frequent() {
            return None;
        }
        let mut version = self.cited_by(version);
        if self.tier() != Tier::Strong && version.tier == Tier::Strong {
            (version.tier, version.claim.memory_type) = (self.tier(), self.memory_type());
            version.confidence = version.confidence.map(|sure| sure.min(self.confidence()));
        }
        Some(version)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fact::Force;
    use crate::fact::tests::version;
    use crate::id::Ids;
    use crate::origin::Voice;

    const KEY: &str = "ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o";

    fn observed(payload: Value) -> Observation {
        let at = Timestamp::from_second(1_000).unwrap();
        Observation {
            id: Ids::new(at, [1; 16]).observation(),
            source: "shop".into(),
            kind: "order".into(),
            at,
            recorded_at: at,
            payload,
            session: None,
            project: None,
            origin: Origin::Tool,
        }
    }

    fn pattern(times: usize, days: usize) -> ObservedPattern {
        let at = Timestamp::from_second(1_000).unwrap();
        let mut ids = Ids::new(at, [2; 16]);
        let event = ObservedEvent {
            source: "shop".into(),
            kind: "order".into(),
            value: Some("Kroger".into()),
            project: None,
        };
        ObservedPattern {
            event,
            times,
            days,
            origin: Origin::Observed,
            latest: (0..times).map(|_| (ids.observation(), at)).collect(),
        }
    }

    #[test]
    fn observation_faults_name_their_field() {
        let now = Timestamp::from_second(2_000).unwrap();
        assert_eq!(observed(json!({})).faults(now), []);
        let mut bad = observed(json!([1]));
        (bad.source, bad.kind) = ("two words".into(), "k".repeat(33));
        (bad.session, bad.at) = (Some(String::new()), Timestamp::from_second(9_000).unwrap());
        let fields: Vec<_> = bad.faults(now).into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["source", "kind", "payload", "session_id", "at"]);
        let long = observed(json!({"text": "x".repeat(PAYLOAD_BYTES)}));
        assert_eq!(long.faults(now)[0].0, "payload");
        assert_eq!(observed(json!({"text": "a\0b"})).faults(now)[0].0, "payload");
    }

    #[test]
    fn observation_secrets_are_masked_at_any_depth_and_named_ones_are_found() {
        let mut found = observed(json!({"a": {"b": [format!("key {KEY}")]}, "n": 1}));
        found.mask_secrets();
        assert_eq!(found.payload, json!({"a": {"b": ["key [secret]"]}, "n": 1}));
        assert_eq!(found.screening().secret, None);
        let named = observed(json!({"password": "hunter2-Xk9!"}));
        assert!(named.screening().secret.is_some());
    }

    #[test]
    fn observation_about_health_is_sensitive() {
        let found = observed(json!({"text": "User has depression."}));
        assert_eq!(found.screening().domain(), Some("health"));
        assert_eq!(observed(json!({"value": "Kroger"})).screening().domain(), None);
    }

    #[test]
    fn observed_value_is_a_short_scalar() {
        let value = |value: Value| observed(json!({ "value": value })).value();
        assert_eq!(value(json!(" Kroger ")).as_deref(), Some("Kroger"));
        assert_eq!(value(json!(7)).as_deref(), Some("7"));
        for other in [json!("x".repeat(41)), json!(""), json!("a\nb"), json!({}), Value::Null] {
            assert_eq!(value(other), None);
        }
    }

    #[test]
    fn observed_pattern_needs_times_and_days_and_is_tentative_first() {
        assert!(!pattern(4, 4).is_frequent() && !pattern(9, 2).is_frequent());
        assert!(pattern(5, 3).is_frequent());
        assert_eq!(pattern(9, 9).tier(), Tier::Tentative);
        assert_eq!(pattern(10, 6).tier(), Tier::Tentative);
        assert_eq!(pattern(10, 7).tier(), Tier::Strong);
    }

    #[test]
    fn observed_pattern_is_a_soft_memory_with_its_observations_as_evidence() {
        let many = pattern(120, 30);
        let claim = many.claim();
        assert_eq!(claim.content, "Observed often in shop: order Kroger.");
        assert_eq!(
            (claim.force, claim.key.as_deref()),
            (Force::Soft, Some("observed/shop/order/Kroger"))
        );
        assert_eq!((claim.evidence.len(), many.cited().len()), (20, 100));
        assert_eq!(claim.faults(), []);
        let event = ObservedEvent {
            source: "s".repeat(OBSERVATION_NAME_CHARS),
            kind: "k".repeat(OBSERVATION_NAME_CHARS),
            value: Some("v".repeat(VALUE_CHARS)),
            project: None,
        };
        let longest = ObservedPattern { event, ..pattern(5, 3) };
        assert_eq!(longest.claim().faults(), []);
    }

    #[test]
    fn observed_pattern_promotes_only_its_own_inferred_memory() {
        let strong = pattern(10, 7);
        let mut memory = version(Voice::extracted(Origin::Observed));
        (memory.tier, memory.confidence) = (Tier::Tentative, Some(0.6));
        let step = strong.promotion(&memory).unwrap();
        assert_eq!((step.tier, step.memory_type), (Tier::Strong, MemoryType::Procedural));
        let mut episodic = memory.clone();
        episodic.tier = Tier::Strong;
        assert!(strong.promotion(&episodic).is_some(), "strong, and not procedural yet");
        episodic.claim.memory_type = MemoryType::Procedural;
        assert_eq!(strong.promotion(&episodic), None);
        let imported = ObservedPattern { origin: Origin::Import, ..pattern(10, 7) };
        assert_eq!(imported.promotion(&memory), None, "imported observations raise no trust");
        assert_eq!(pattern(9, 9).promotion(&memory), None);
        let mut agreed = memory.clone();
        agreed.consented_at = Some(agreed.known.from);
        assert_eq!(strong.promotion(&agreed), None, "the user has agreed to it");
        memory.state = State::Proposed;
        assert_eq!(strong.promotion(&memory), None, "a proposal waits for the user");
        let said = version(Voice::stated(Origin::UserSaid));
        assert_eq!(strong.promotion(&said), None);
    }

    #[test]
    fn observed_pattern_is_procedural_as_soon_as_it_is_strong() {
        assert_eq!(pattern(9, 9).claim().memory_type, MemoryType::Episodic);
        assert_eq!(pattern(10, 7).claim().memory_type, MemoryType::Procedural);
    }

    #[test]
    fn observed_pattern_has_the_lowest_origin_of_its_observations() {
        assert_eq!(ObservedPattern::origin_of([Origin::UserSaid, Origin::Tool]), Origin::Observed);
        let imported = ObservedPattern::origin_of([Origin::Tool, Origin::Import]);
        assert_eq!(imported, Origin::Import);
        let imported = ObservedPattern { origin: imported, ..pattern(10, 7) };
        assert_eq!(imported.state(State::Active), State::Proposed);
        assert_eq!(pattern(10, 7).state(State::Active), State::Active);
    }

    #[test]
    fn event_of_a_pattern_is_found_in_its_memory() {
        let mut memory = version(Voice::extracted(Origin::Observed));
        assert_eq!(ObservedEvent::from_memory(&memory), None);
        for value in [None, Some("Kroger".to_owned()), Some("a/b/c".to_owned())] {
            let event = ObservedEvent { value, ..pattern(5, 3).event };
            memory.claim.key = Some(event.key());
            assert_eq!(ObservedEvent::from_memory(&memory), Some(event));
        }
        memory.extracted = false;
        assert_eq!(ObservedEvent::from_memory(&memory), None, "the user's own words");
    }

    #[test]
    fn observed_pattern_is_rated_by_the_observations_that_are_left() {
        let mut memory = version(Voice::extracted(Origin::Observed));
        (memory.tier, memory.confidence) = (Tier::Strong, Some(0.9));
        memory.claim.memory_type = MemoryType::Procedural;
        let weak = pattern(6, 5).supports(memory.clone()).unwrap();
        assert_eq!((weak.tier, weak.confidence), (Tier::Tentative, Some(PATTERN_CONFIDENCE)));
        assert_eq!((weak.claim.memory_type, weak.turns.len()), (MemoryType::Episodic, 6));
        let strong = pattern(11, 8).supports(memory.clone()).unwrap();
        assert_eq!((strong.tier, strong.turns.len()), (Tier::Strong, 11));
        assert_eq!(pattern(4, 4).supports(memory), None);
    }
}
