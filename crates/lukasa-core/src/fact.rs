//! A fact: one atomic claim, stored as versions on two time axes. The API calls it a memory.
//!
//! A [`Claim`] is what the user can read and edit; a [`Version`] is a claim with its state, its
//! provenance and its two periods. Versions are never edited: verbs close some and open others.

use lukasa_text::line::is_visible;
use lukasa_text::screen::ground;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;
use uuid::Uuid;

use crate::id::{FactId, OperationId, VersionId};
use crate::limits;
use crate::origin::{Origin, Voice};
use crate::project::Project;
use crate::time::{Period, Timestamp};
use crate::words;

words!(
    /// The category: groups memories in the console and has a share of the prompt budget.
    Category { Profile = "profile", Context = "context", Style = "style", Fact = "fact" }
);
words!(
    /// The five memory types.
    MemoryType {
        Profile = "profile",
        Task = "task",
        Episodic = "episodic",
        Procedural = "procedural",
        Domain = "domain",
    }
);
words!(
    /// The kind of claim.
    Kind {
        Preference = "preference",
        Fact = "fact",
        Habit = "habit",
        Skill = "skill",
        Artifact = "artifact",
        Relationship = "relationship",
        Project = "project",
        Context = "context",
    }
);
words!(
    /// A hard memory is a rule under a key; a soft one is context for judgment.
    Force { Hard = "hard", Soft = "soft" }
);
words!(
    /// How well an inferred memory is supported. A stated memory is strong.
    Tier { Strong = "strong", Tentative = "tentative", Candidate = "candidate" }
);
words!(
    /// The stored state of a version. The status a caller sees is derived from it and the dates.
    State {
        Active = "active",
        Proposed = "proposed",
        Candidate = "candidate",
        Forgotten = "forgotten",
        Trashed = "trashed",
    }
);

/// Evidence for a claim, such as a quotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimEvidence {
    #[serde(rename = "type")]
    pub kind: String,
    pub description: String,
    /// The turn it was said in, or the observation that it describes, if any: removing that removes
    /// this evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
}

impl ClaimEvidence {
    /// Evidence without a turn.
    pub fn of(kind: &str, description: &str) -> Self {
        Self { kind: kind.to_owned(), description: description.to_owned(), turn: None }
    }
}

/// The content of a memory: everything the user can read and edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub content: String,
    pub summary: Option<String>,
    /// The long body: found by recall, never put into a prompt.
    pub detail: Option<String>,
    pub category: Category,
    #[serde(rename = "type")]
    pub memory_type: MemoryType,
    pub kind: Kind,
    pub force: Force,
    pub domain: Option<String>,
    pub key: Option<String>,
    pub value: Option<serde_json::Value>,
    pub tags: Vec<String>,
    pub importance: f32,
    pub evidence: Vec<ClaimEvidence>,
    pub reasoning: Option<String>,
    /// The project it belongs to; absent if it holds everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
    /// Whether an assistant may use it but not mention it; only the user sets it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmentioned: bool,
}

impl Claim {
    /// A soft fact that says `content`, with everything else at its default.
    pub fn saying(content: &str) -> Self {
        Self {
            content: content.to_owned(),
            summary: None,
            detail: None,
            category: Category::Fact,
            memory_type: MemoryType::Profile,
            kind: Kind::Fact,
            force: Force::Soft,
            domain: None,
            key: None,
            value: None,
            tags: Vec::new(),
            importance: 0.5,
            evidence: Vec::new(),
            reasoning: None,
            project: None,
            unmentioned: false,
        }
    }

    /// What is wrong with the claim, as (field, reason); empty if it can be stored.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        let mut check_length = |field, text: &str, max_chars: usize| {
            if text.chars().count() > max_chars {
                faults.push((field, format!("at most {max_chars} characters")));
            }
        };
        check_length("content", &self.content, limits::CONTENT_CHARS);
        check_length("summary", self.summary.as_deref().unwrap_or(""), limits::SUMMARY_CHARS);
        check_length("detail", self.detail.as_deref().unwrap_or(""), limits::DETAIL_CHARS);
        check_length("key", self.key.as_deref().unwrap_or(""), limits::KEY_CHARS);
        check_length("reasoning", self.reasoning.as_deref().unwrap_or(""), limits::REASONING_CHARS);
        for tag in &self.tags {
            check_length("tags", tag, limits::TAG_CHARS);
        }
        for item in &self.evidence {
            check_length("evidence", &item.kind, limits::TAG_CHARS);
            check_length("evidence", &item.description, limits::EVIDENCE_CHARS);
            check_length("evidence", item.turn.as_deref().unwrap_or(""), limits::TAG_CHARS);
        }
        if !is_visible(&self.content) {
            faults.push(("content", "must contain visible text".into()));
        }
        if self.summary.as_deref().is_some_and(|summary| !is_visible(summary)) {
            faults.push(("summary", "must contain visible text, or be left out".into()));
        }
        if self.tags.len() > limits::TAGS {
            faults.push(("tags", format!("at most {} tags", limits::TAGS)));
        }
        if self.evidence.len() > limits::EVIDENCE_ITEMS {
            faults.push(("evidence", format!("at most {} items", limits::EVIDENCE_ITEMS)));
        }
        if self.value.as_ref().is_some_and(|v| v.to_string().len() > limits::VALUE_BYTES) {
            faults.push(("value", format!("at most {} bytes of JSON", limits::VALUE_BYTES)));
        }
        if !(0.0..=1.0).contains(&self.importance) {
            faults.push(("importance", "between 0 and 1".into()));
        }
        if self.key.as_deref().is_some_and(|key| key.trim().is_empty()) {
            faults.push(("key", "must not be blank".into()));
        }
        if self.force == Force::Hard && (self.domain.is_none() || self.key.is_none()) {
            faults.push(("force", "a hard memory needs a domain and a key".into()));
        }
        if self.value.is_some() && self.key.is_none() {
            faults.push(("value", "a value needs a key".into()));
        }
        if let Some(field) = self.field_with_nul() {
            faults.push((field, "must not contain the character U+0000".into()));
        }
        faults
    }

    /// The first field that contains U+0000. PostgreSQL cannot store it in text or JSON, so it is
    /// refused rather than dropped.
    fn field_with_nul(&self) -> Option<&'static str> {
        let value = self.value.as_ref().map(ToString::to_string).unwrap_or_default();
        let texts: [(&'static str, &str); 6] = [
            ("content", &self.content),
            ("summary", self.summary.as_deref().unwrap_or("")),
            ("detail", self.detail.as_deref().unwrap_or("")),
            ("domain", self.domain.as_deref().unwrap_or("")),
            ("key", self.key.as_deref().unwrap_or("")),
            ("reasoning", self.reasoning.as_deref().unwrap_or("")),
        ];
        let evidence =
            self.evidence.iter().flat_map(|e| [&e.kind, &e.description].into_iter().chain(&e.turn));
        let mut lists = [("tags", self.tags.iter().any(|tag| tag.contains('\0')))]
            .into_iter()
            .chain([("evidence", evidence.into_iter().any(|text| text.contains('\0')))])
            .chain([("value", value.contains("\\u0000"))]);
        texts
            .into_iter()
            .find(|(_, text)| text.contains('\0'))
            .map(|(field, _)| field)
            .or_else(|| lists.find(|(_, found)| *found).map(|(field, _)| field))
    }

    /// The project of this claim if it is learned or saved in a session with a project: what is made,
    /// planned or going on there, and facts that are not about the user, belong to the project. Who
    /// the user is, what they prefer and the rules that they set hold everywhere.
    pub fn project_in(&self, project: Option<&Project>) -> Option<Project> {
        let is_work = matches!(self.kind, Kind::Project | Kind::Context | Kind::Artifact)
            || self.memory_type == MemoryType::Task
            || self.kind == Kind::Fact && !ground::is_about_user(&self.content);
        project.filter(|_| is_work && self.force == Force::Soft).cloned()
    }

    /// The digest of everything shown to the user when consent is asked for. Consent with another
    /// digest was given to other words.
    pub fn consent_digest(&self) -> String {
        let shown = serde_json::to_value(self).unwrap_or_default();
        hex::encode(Sha256::digest(canonical(&shown)))
    }
}

/// A JSON value as plain text: the elements of a list, or the keys and values of an object, with
/// commas.
pub fn value_text(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(value_text).collect::<Vec<_>>().join(", "),
        Value::Object(map) => {
            let pair = |(key, value): (&String, &Value)| format!("{key} {}", value_text(value));
            map.iter().map(pair).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// A canonical text of a JSON value: the database changes the order of an object's keys and has no
/// negative zero.
pub(crate) fn canonical(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.iter().collect();
            keys.sort_by_key(|(key, _)| *key);
            let pair = |(key, value): (&String, &Value)| {
                format!("{}:{}", Value::from(key.as_str()), canonical(value))
            };
            format!("{{{}}}", keys.into_iter().map(pair).collect::<Vec<_>>().join(","))
        }
        Value::Array(list) => {
            format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        Value::Number(number) if number.as_f64() == Some(0.0) => "0".to_owned(),
        other => other.to_string(),
    }
}

/// A digest for finding duplicates: claims with the same category and the same content, ignoring
/// case and surrounding space, have the same fingerprint (R091). For a hard memory the domain, key
/// and value count too, and for a memory of a project the project.
pub fn fingerprint(claim: &Claim) -> Uuid {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    };
    part(claim.category.as_str());
    let content: String = claim.content.trim().nfc().collect();
    part(&content.to_lowercase());
    if claim.force == Force::Hard {
        part(claim.domain.as_deref().unwrap_or(""));
        part(claim.key.as_deref().unwrap_or(""));
        part(&claim.value.as_ref().map(canonical).unwrap_or_default());
    }
    if let Some(project) = &claim.project {
        part("project");
        part(project.as_str());
    }
    let digest = hash.finalize();
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// A partial change of a claim: absent fields stay unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Edit {
    pub content: Option<String>,
    pub summary: Option<Option<String>>,
    pub detail: Option<Option<String>>,
    pub category: Option<Category>,
    pub memory_type: Option<MemoryType>,
    pub kind: Option<Kind>,
    pub force: Option<Force>,
    pub domain: Option<Option<String>>,
    pub key: Option<Option<String>>,
    pub value: Option<Option<serde_json::Value>>,
    pub tags: Option<Vec<String>>,
    pub importance: Option<f32>,
    pub reasoning: Option<Option<String>>,
    pub project: Option<Option<Project>>,
    pub unmentioned: Option<bool>,
}

impl Edit {
    pub fn content(text: &str) -> Self {
        Self { content: Some(text.to_owned()), ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// If the content was only the text of the value, an edit of one edits the other.
    fn keep_content_and_value_equal(&self, old: &Claim, new: &mut Claim) {
        use serde_json::Value;
        let Some(value) = old.value.as_ref().filter(|value| value_text(value) == old.content)
        else {
            return;
        };
        match (&self.content, &self.value) {
            (None, Some(Some(edited))) => new.content = value_text(edited),
            (Some(content), None) => match value {
                Value::String(_) => new.value = Some(content.as_str().into()),
                Value::Array(list) if list.iter().all(Value::is_string) => {
                    let parts = content.split(',').map(str::trim).filter(|part| !part.is_empty());
                    new.value = Some(parts.collect());
                }
                _ => {}
            },
            _ => {}
        }
    }

    pub fn apply(&self, claim: &Claim) -> Claim {
        let mut new = claim.clone();
        if let Some(content) = &self.content {
            new.content.clone_from(content);
            // The old summary does not fit the new content.
            new.summary = None;
        }
        if let Some(summary) = &self.summary {
            new.summary.clone_from(summary);
        }
        if let Some(detail) = &self.detail {
            new.detail.clone_from(detail);
        }
        if let Some(domain) = &self.domain {
            new.domain.clone_from(domain);
        }
        if let Some(key) = &self.key {
            new.key.clone_from(key);
        }
        if let Some(value) = &self.value {
            new.value.clone_from(value);
        }
        self.keep_content_and_value_equal(claim, &mut new);
        if let Some(tags) = &self.tags {
            new.tags.clone_from(tags);
        }
        if let Some(reasoning) = &self.reasoning {
            new.reasoning.clone_from(reasoning);
        }
        if let Some(project) = &self.project {
            new.project.clone_from(project);
        }
        new.category = self.category.unwrap_or(new.category);
        new.memory_type = self.memory_type.unwrap_or(new.memory_type);
        new.kind = self.kind.unwrap_or(new.kind);
        new.force = self.force.unwrap_or(new.force);
        new.importance = self.importance.unwrap_or(new.importance);
        new.unmentioned = self.unmentioned.unwrap_or(new.unmentioned);
        new
    }
}

/// One bitemporal row of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    pub fact: FactId,
    pub id: VersionId,
    /// The edition of the claim: 1 when saved, one more with each change or correction. Rows that
    /// only change a claim's periods or state keep their number.
    pub number: i32,
    pub claim: Claim,
    pub state: State,
    pub tier: Tier,
    pub origin: Origin,
    pub extracted: bool,
    /// Confidence of an extracted fact. A stated fact has none: it outranks any number.
    pub confidence: Option<f32>,
    pub session: Option<String>,
    /// The ids of the turns it was said in, or of the observations it was counted in.
    pub turns: Vec<String>,
    pub confirmed_at: Option<Timestamp>,
    pub last_confirmed_at: Option<Timestamp>,
    /// When a human consented to exactly these words.
    pub consented_at: Option<Timestamp>,
    pub valid: Period,
    pub known: Period,
    pub opened_by: OperationId,
    pub closed_by: Option<OperationId>,
    /// The version that this one reopens after an undo or a restore.
    pub reopens: Option<VersionId>,
}

impl Version {
    /// The version that this one is or reopens: after a change and its undo the same version is
    /// current, under another id.
    pub fn root(&self) -> VersionId {
        self.reopens.unwrap_or(self.id)
    }

    /// Stated, or agreed to by a human. Nothing extracted may replace a firm version.
    pub fn is_firm(&self) -> bool {
        !self.extracted || self.consented_at.is_some()
    }

    pub fn voice(&self) -> Voice {
        Voice { origin: self.origin, extracted: self.extracted }
    }

    /// When the user last confirmed it. What did not come from the user is confirmed by consent alone:
    /// that the user has said it again is known from an assistant.
    pub fn confirmed(&self) -> Option<Timestamp> {
        let said_again = self.last_confirmed_at.filter(|_| self.origin >= Origin::UserTurn);
        said_again.or(self.consented_at)
    }

    /// The confidence as one number: 1.0 when confirmed, 0.95 when stated, else the confidence of
    /// the extraction, which is less than that.
    pub fn effective_confidence(&self) -> f32 {
        match self.confidence {
            _ if self.consented_at.is_some() => 1.0,
            None if self.confirmed().is_some() => 1.0,
            None => limits::STATED_CONFIDENCE,
            Some(confidence) => confidence.min(limits::MAX_INFERRED_CONFIDENCE),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::id::Ids;

    /// A version that says "tea", spoken by `voice`, valid and known since the epoch.
    pub(crate) fn version(voice: Voice) -> Version {
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [1; 16]);
        let since = Period::since(Timestamp::UNIX_EPOCH);
        Version {
            fact: ids.fact(),
            id: ids.version(),
            number: 1,
            claim: Claim::saying("tea"),
            state: State::Active,
            tier: Tier::Strong,
            origin: voice.origin,
            extracted: voice.extracted,
            confidence: voice.extracted.then_some(0.8),
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
        }
    }

    #[test]
    fn fingerprint_ignores_case_and_outer_space() {
        let one = Claim::saying("I drink Tea");
        assert_eq!(fingerprint(&one), fingerprint(&Claim::saying("  i drink tea ")));
        assert_ne!(fingerprint(&one), fingerprint(&Claim::saying("i drink teas")));
        let style = Claim { category: Category::Style, ..one.clone() };
        assert_ne!(fingerprint(&one), fingerprint(&style));
    }

    #[test]
    fn fingerprint_and_project_of_a_claim_depend_on_the_project_and_its_kind() {
        let own = Project::parse("a");
        for kind in Kind::ALL {
            let soft = Claim { kind, ..Claim::saying("User has x") };
            let is_work = matches!(kind, Kind::Project | Kind::Context | Kind::Artifact);
            assert_eq!(soft.project_in(own.as_ref()).is_some(), is_work, "{kind:?}");
            assert_eq!(soft.project_in(None), None);
            let task = Claim { memory_type: MemoryType::Task, ..soft.clone() };
            assert_eq!(task.project_in(own.as_ref()), own);
            assert_eq!(Claim { force: Force::Hard, ..task }.project_in(own.as_ref()), None);
            let of_project = Claim { project: own.clone(), ..soft.clone() };
            assert_ne!(fingerprint(&of_project), fingerprint(&soft));
        }
        let port = Claim::saying("The server listens on port 8080");
        assert_eq!(port.project_in(own.as_ref()), own, "a fact that is not about the user");
    }

    #[test]
    fn fingerprint_ignores_order_of_object_keys() {
        let with = |value: &str| {
            let mut claim = Claim::saying("diet");
            claim.force = Force::Hard;
            claim.value = serde_json::from_str(value).unwrap();
            claim
        };
        let one = with(r#"{"longer": 1, "b": [{"y": -0.0, "x": 2}]}"#);
        let two = with(r#"{"b": [{"x": 2, "y": 0.0}], "longer": 1}"#);
        assert_eq!(fingerprint(&one), fingerprint(&two));
        assert_eq!(one.consent_digest(), two.consent_digest());
        assert_ne!(fingerprint(&one), fingerprint(&with(r#"{"longer": 1}"#)));
    }

    #[test]
    fn edit_of_a_value_edits_the_content_that_repeats_it() {
        let value = serde_json::json!(["shellfish", "peanuts"]);
        let claim = Claim { value: Some(value), ..Claim::saying("shellfish, peanuts") };
        let edited = Edit { value: Some(Some(serde_json::json!(["eggs"]))), ..Edit::default() };
        assert_eq!(edited.apply(&claim).content, "eggs");
        let new = Edit::content("eggs, nuts").apply(&claim);
        assert_eq!(new.value, Some(serde_json::json!(["eggs", "nuts"])));
        let named = Claim { content: "No seafood".into(), ..claim };
        assert_eq!(edited.apply(&named).content, "No seafood");
        assert_eq!(Edit::content("Nothing").apply(&named).value, named.value);
    }

    #[test]
    fn hard_memory_needs_a_domain_and_key() {
        let mut claim = Claim::saying("never before ten");
        claim.force = Force::Hard;
        assert_eq!(claim.faults().len(), 1);
        claim.domain = Some("schedule".into());
        claim.key = Some("earliest".into());
        assert!(claim.faults().is_empty());
    }

    #[test]
    fn claim_faults_name_their_field() {
        let mut claim = Claim::saying(&"x".repeat(limits::CONTENT_CHARS + 1));
        claim.importance = f32::NAN;
        claim.tags = vec!["a\0b".into()];
        let fields: Vec<_> = claim.faults().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["content", "importance", "tags"]);
    }

    #[test]
    fn edit_of_content_drops_the_old_summary() {
        let mut claim = Claim::saying("a");
        claim.summary = Some("short a".into());
        assert_eq!(Edit::content("b").apply(&claim).summary, None);
        let both = Edit { summary: Some(Some("short b".into())), ..Edit::content("b") };
        assert_eq!(both.apply(&claim).summary.as_deref(), Some("short b"));
    }

    #[test]
    fn consent_digest_changes_with_any_byte() {
        let claim = Claim::saying("a");
        assert_eq!(claim.consent_digest(), claim.clone().consent_digest());
        assert_ne!(claim.consent_digest(), Claim::saying("a ").consent_digest());
    }

    #[test]
    fn stated_fact_outranks_any_confidence() {
        let stated = version(Voice::stated(Origin::UserSaid));
        let mut guessed = version(Voice::extracted(Origin::UserTurn));
        for confidence in [0.8, 0.95, 1.0] {
            guessed.confidence = Some(confidence);
            assert!(stated.effective_confidence() > guessed.effective_confidence(), "{confidence}");
        }
        assert_eq!(stated.confidence, None);
    }

    #[test]
    fn claim_of_an_assistant_is_confirmed_by_consent_alone() {
        let now = Timestamp::UNIX_EPOCH;
        for (origin, again) in [(Origin::Assistant, 0.95), (Origin::UserSaid, 1.0)] {
            let mut told = version(Voice::stated(origin));
            assert_eq!((told.confirmed(), told.effective_confidence()), (None, 0.95));
            told.last_confirmed_at = Some(Timestamp::MAX);
            assert_eq!(told.confirmed().is_some(), origin == Origin::UserSaid);
            assert_eq!(told.effective_confidence(), again);
            told.consented_at = Some(now);
            assert_eq!(told.confirmed() == Some(now), origin == Origin::Assistant);
            assert_eq!(told.effective_confidence(), 1.0);
        }
    }
}
