//! The resources that requests name, one of each kind per user, and their twins: ids of the same
//! kind, next to the real ones, that never existed.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lukasa_core::{
    EpisodeId, FactId, ImportId, JobId, LinkId, ObservationId, OperationId, PassId, RetrievalId,
    Timestamp, TurnId, UsageId, VersionId, WebhookId,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::app::{Client, canary};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thing {
    /// A memory, by its role in the tests.
    Memory(&'static str),
    /// A word that occurs in just one memory of its owner.
    Words,
    /// The whole content of a memory.
    Content,
    /// The version of the memory `kept`.
    Version,
    /// The digest that confirming the proposal needs.
    Digest,
    Link,
    /// An operation that can be undone.
    Operation,
    LinkCursor,
    HistoryCursor,
    MemoryCursor,
    ProposalCursor,
    OperationCursor,
    /// The digest that resolving the contradiction needs.
    ContestDigest,
    /// A session, by its user's name for it.
    Session,
    DeletableSession,
    TrashedSession,
    /// A session to be erased, turn by turn and whole.
    ErasableSession,
    /// Turns of those two.
    DeletableTurn,
    ErasableTurn,
    /// An episode that can be deleted.
    Episode,
    /// An episode that can be edited, which replaces it by another.
    EditableEpisode,
    SessionCursor,
    /// The id of a turn.
    Turn,
    /// The number of a turn in its session; other users' sessions have the same number.
    TurnNumber,
    /// The number of a turn as a cursor: it continues in the caller's own session.
    TurnCursor,
    /// The record of a context.
    Retrieval,
    UsageCursor,
    /// A prediction without an outcome.
    Prediction,
    /// A reply of an assistant.
    Reply,
    /// A raw event, one to erase, the source of others, and a place in the list of them.
    Observation,
    ErasableObservation,
    ObservationSource,
    ObservationCursor,
    EpisodeCursor,
    /// A pass that left something out, at its first place.
    LeftOutPass,
    /// The number of what was left out; it is the same for every user.
    LeftOutPlace,
    /// A dead job.
    DeadJob,
    /// An import.
    Import,
    IdempotencyKey,
    /// A domain of the tenant.
    Domain(&'static str),
    /// The portrait of a domain of the tenant.
    DomainPortrait,
    /// A user of the tenant.
    User(&'static str),
    UserCursor,
    /// The id of a key.
    Key,
    /// The id of a live token.
    Token,
    /// A webhook of the tenant.
    Webhook,
    /// A space of the tenant.
    Space,
    /// A space that was granted to the user.
    GrantedSpace,
    /// The answer `no`, which is the same for every user.
    No,
}
use Thing::*;

impl Thing {
    /// Whether it belongs to a tenant and not to one user.
    pub fn is_of_tenant(self) -> bool {
        matches!(
            self,
            Domain(_) | DomainPortrait | User(_) | UserCursor | Key | Token | Webhook | Space
        )
    }

    /// A resource of the same kind that never existed, as close to the real one as possible.
    pub fn twin(self, real: &str) -> String {
        let near = |id: Uuid| Uuid::from_u128(id.as_u128() ^ 0x5a);
        match self {
            Memory(_) => FactId::from_uuid(near(parsed::<FactId>(real).uuid())).to_string(),
            Version => VersionId::from_uuid(near(parsed::<VersionId>(real).uuid())).to_string(),
            Link => LinkId::from_uuid(near(parsed::<LinkId>(real).uuid())).to_string(),
            LinkCursor => {
                let id = open_cursor(real).as_str().expect("an id").to_owned();
                close_cursor(&Link.twin(&id).into())
            }
            HistoryCursor => {
                let mut place: Value = open_cursor(real);
                let id = place["version"].as_str().expect("a place").to_owned();
                place["version"] = Version.twin(&id).into();
                close_cursor(&place)
            }
            Operation => {
                OperationId::from_uuid(near(parsed::<OperationId>(real).uuid())).to_string()
            }
            Retrieval => {
                RetrievalId::from_uuid(near(parsed::<RetrievalId>(real).uuid())).to_string()
            }
            Prediction => UsageId::from_uuid(near(parsed::<UsageId>(real).uuid())).to_string(),
            Turn | DeletableTurn | ErasableTurn | Reply => {
                TurnId::from_uuid(near(parsed::<TurnId>(real).uuid())).to_string()
            }
            Observation | ErasableObservation => {
                ObservationId::from_uuid(near(parsed::<ObservationId>(real).uuid())).to_string()
            }
            ObservationCursor => {
                let mut place: Value = open_cursor(real);
                let id = place["id"].as_str().expect("a place").to_owned();
                place["id"] = Observation.twin(&id).into();
                close_cursor(&place)
            }
            Import => ImportId::from_uuid(near(parsed::<ImportId>(real).uuid())).to_string(),
            DeadJob => JobId::from_uuid(near(parsed::<JobId>(real).uuid())).to_string(),
            EpisodeCursor => {
                let mut place: Value = open_cursor(real);
                let id: EpisodeId = parsed(place["id"].as_str().expect("a place"));
                place["id"] = EpisodeId::from_uuid(near(id.uuid())).to_string().into();
                close_cursor(&place)
            }
            SessionCursor => {
                let mut place: Value = open_cursor(real);
                let id = other_end(place["id"].as_str().expect("a name"));
                place["id"] = id.into();
                close_cursor(&place)
            }
            LeftOutPass => PassId::from_uuid(near(parsed::<PassId>(real).uuid())).to_string(),
            TurnCursor | TurnNumber | LeftOutPlace | No => real.to_owned(),
            Webhook => WebhookId::from_uuid(near(parsed::<WebhookId>(real).uuid())).to_string(),
            Episode | EditableEpisode => {
                let id: EpisodeId = parsed(real);
                EpisodeId::from_uuid(near(id.uuid())).to_string()
            }
            UsageCursor => {
                let mut place: Value = open_cursor(real);
                let fact = place["fact"].as_str().expect("a place").to_owned();
                place["fact"] = Memory("").twin(&fact).into();
                close_cursor(&place)
            }
            MemoryCursor | ProposalCursor => {
                let mut place: Value = open_cursor(real);
                for (key, thing) in [("fact", Memory("")), ("version", Version)] {
                    let id = place["place"][key].as_str().expect("a place").to_owned();
                    place["place"][key] = thing.twin(&id).into();
                }
                close_cursor(&place)
            }
            OperationCursor => {
                let at: Timestamp = parsed(open_cursor(real).as_str().expect("a time"));
                close_cursor(&(at + jiff::SignedDuration::from_micros(1)).to_string().into())
            }
            UserCursor => {
                close_cursor(&other_end(open_cursor(real).as_str().expect("a name")).into())
            }
            Words | Content | Digest | ContestDigest | Session | DeletableSession
            | TrashedSession | ErasableSession | ObservationSource | IdempotencyKey | Domain(_)
            | DomainPortrait | User(_) | Key | Token | Space | GrantedSpace => other_end(real),
        }
    }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("a thing of its kind")
}

fn open_cursor(text: &str) -> Value {
    let bytes = URL_SAFE_NO_PAD.decode(text).expect("a cursor");
    serde_json::from_slice(&bytes).expect("a cursor")
}

pub fn close_cursor(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// The same text with another last character.
fn other_end(text: &str) -> String {
    let (rest, last) = text.split_at(text.len() - 1);
    format!("{rest}{}", if last == "0" { "1" } else { "0" })
}

/// All resources of one user and their tenant.
#[derive(Debug, Clone, Default)]
pub struct Things {
    named: HashMap<Thing, String>,
    /// Words and ids that no other user may ever see.
    pub private: Vec<String>,
}

impl Things {
    pub fn get(&self, thing: Thing) -> &str {
        self.named.get(&thing).map_or_else(|| unnamed(thing), String::as_str)
    }

    pub fn has(&self, thing: Thing) -> bool {
        self.named.contains_key(&thing)
    }

    pub fn put(&mut self, thing: Thing, value: String) {
        assert!(!value.is_empty(), "{thing:?}");
        self.named.insert(thing, value);
    }

    /// Creates one of each as the client's user.
    pub async fn of_user(client: &Client, tag: &str) -> Self {
        let mut things = Self::default();
        let (word, canary_word) = (canary(tag), canary(tag));
        for part in ["kept", "other", "deletable", "forgettable", "trashed", "erasable", "spare"] {
            let body = json!({
                "content": format!("{part}: {canary_word} {}", if part == "kept" { &word } else { "" }),
                "summary": canary_word, "detail": canary_word, "reasoning": canary_word, "tags": [word],
                "evidence": [{ "type": "said", "description": canary_word }], "session_id": canary_word,
            });
            let saved = client.post("/api/memory", body).await.expect(201);
            things.put(Memory(part), saved.at("/memory/id"));
            if part == "kept" {
                things.put(Version, saved.at("/memory/version_id"));
            }
            if part == "spare" {
                things.put(Operation, saved.at("/event/operation_id"));
            }
            things.hide(&saved.json());
        }
        for part in ["proposed", "proposed later"] {
            let body = json!({ "content": format!("{part}: {canary_word}") });
            let proposed = client.post("/api/memory/propose", body).await.expect(201);
            things.hide(&proposed.json());
            things.put(Memory(part), proposed.at("/memory/id"));
            if part == "proposed" {
                things.put(Digest, proposed.at("/memory/sha256"));
            }
        }
        // A line without a canary, so that another user can save it too.
        let plain = format!("Owns bicycle {}", &canary("")[6..]);
        let again = canary("key");
        let saved = client.with("idempotency-key", &again).save(&plain).await;
        things.hide(&saved.json());
        things.put(Content, plain);
        things.put(IdempotencyKey, again);

        let (kept, other) = (things.get(Memory("kept")), things.get(Memory("other")));
        let path = format!("/api/memory/{kept}/links");
        let linked = client.post(&path, json!({ "to": other, "relation": "precedes" })).await;
        let first = client.get(&format!("/api/memory/{kept}/history")).await.expect(200).json();
        let trashed = things.get(Memory("trashed"));
        client.delete(&format!("/api/memory/{trashed}")).await.expect(200);
        things.put(Link, linked.at("/link/id"));
        things.put(LinkCursor, close_cursor(&linked.at("/link/id").into()));
        let [known, valid, version] =
            ["known_from", "valid_from", "version_id"].map(|field| &first["data"][0][field]);
        let place = json!({ "known_from": known, "valid_from": valid, "version": version });
        things.put(HistoryCursor, close_cursor(&place));
        things.hide(&linked.json());
        for (thing, path) in [
            (MemoryCursor, "/api/memory?limit=1"),
            (ProposalCursor, "/api/memory/proposals?limit=1"),
            (OperationCursor, "/api/operations?limit=1"),
        ] {
            things.put(thing, client.get(path).await.expect(200).at("/next_cursor"));
        }
        let bees =
            json!({ "item": "memory", "source": tag, "content": "Keeps bees in the garden" });
        let taken = client.post("/api/import", bees).await.expect(200);
        things.put(Import, taken.at("/import_id"));
        things.hide(&taken.json());
        things.put(No, "false".into());
        things.observe(client, &canary_word).await;
        things.talk(client, &canary_word).await;
        things.be_granted(client).await;
        things.put(Words, word.clone());
        things.private.extend([word, canary_word]);
        things
    }

    /// Creates a space and grants it to the client's user.
    async fn be_granted(&mut self, client: &Client) {
        let (space, user) = (canary("space"), client.header("x-lukasa-user"));
        client.post("/api/spaces", json!({ "space": space })).await.expect(201);
        let path = format!("/api/spaces/{space}/members/{user}");
        client.put(&path, json!({ "access": "write" })).await.expect(200);
        self.put(GrantedSpace, space);
    }

    /// Records raw events of two sources.
    async fn observe(&mut self, client: &Client, canary_word: &str) {
        let source = canary("app").chars().take(20).collect::<String>();
        let event = |source: &str| json!({ "source": source, "kind": "order", "payload": { "text": canary_word } });
        let body = json!({ "observations": [event("shop"), event(&source), event(&source), event("shop")] });
        let recorded = client.post("/api/observations", body).await.expect(201);
        self.hide(&recorded.json());
        self.put(Observation, recorded.at("/observation_ids/0"));
        self.put(ErasableObservation, recorded.at("/observation_ids/3"));
        self.put(ObservationSource, source);
        let page = client.get("/api/observations?limit=1").await.expect(200);
        self.put(ObservationCursor, page.at("/next_cursor"));
    }

    /// Talks in two sessions and requests contexts for them. Session names and retrieval ids are
    /// not private words: a caller who sends one may see it again in their own row.
    async fn talk(&mut self, client: &Client, canary_word: &str) {
        let kept = self.get(Memory("kept")).to_owned();
        for session in ["first", "second"].map(|_| canary("chat")) {
            let path = format!("/api/sessions/{session}");
            let body = json!({ "id": session, "title": canary_word });
            client.post("/api/sessions", body).await.expect(200);
            let turn = |role: &str| json!({ "role": role, "content": canary_word, "speaker": canary_word });
            let body = json!({ "turns": [turn("user"), turn("assistant")] });
            let appended = client.post(&format!("{path}/turns"), body).await.expect(201);
            self.hide(&appended.json());
            self.put(Reply, appended.at("/turn_ids/1"));
            let body =
                json!({ "query": format!("What about {canary_word}?"), "session_id": session });
            let given = client.post("/api/memory/retrieve", body).await.expect(200);
            let retrieval = given.at("/retrieval_id");
            client.wait_for_retrieval(&retrieval).await;
            let used = json!({
                "memory_id": kept, "type": "applied", "influence": canary_word,
                "session_id": session, "retrieval_id": retrieval,
            });
            client.post("/api/memory/usage", used).await.expect(201);
            let expected = json!({ "memory_id": kept, "expects": canary_word });
            let stated = client.post("/api/predictions", expected).await.expect(201);
            self.put(Prediction, stated.at("/id"));
            let turns = client.get(&format!("{path}/turns?limit=1")).await.expect(200);
            self.put(TurnCursor, turns.at("/next_cursor"));
            self.put(Session, session);
            self.put(Retrieval, retrieval);
        }
        let page = client.get("/api/sessions?limit=1").await.expect(200);
        self.put(SessionCursor, page.at("/next_cursor"));
        let page = client.get("/api/memory/usage?limit=1").await.expect(200);
        self.put(UsageCursor, page.at("/next_cursor"));
    }

    /// Adds the tenant's own resources. `admin` holds a key of the tenant.
    pub async fn and_of_tenant(mut self, admin: &Client, tag: &str) -> Self {
        let canary_word = canary(tag);
        for domain in ["orchard", "harbour", "cellar"] {
            // Consent to what is inferred is asked for in sensitive domains only.
            let body = json!({ "display_name": canary_word, "sensitive": domain == "cellar" });
            admin.put(&format!("/api/domains/{domain}"), body).await.expect(200);
            self.put(Domain(domain), domain.to_owned());
        }
        self.put(DomainPortrait, "domain:orchard".to_owned());
        for user in ["carol", "dave", "erin"] {
            admin.post("/api/users", json!({ "user": user })).await.expect(201);
            admin.about(user).save(&format!("{user}: {canary_word}")).await;
            self.put(User(user), user.to_owned());
        }
        let key = admin.post("/api/keys", json!({ "name": canary_word, "user": "erin" })).await;
        self.put(Key, key.expect(201).at("/id"));
        let token = admin.post("/api/tokens", json!({ "user": "erin" })).await;
        self.put(Token, token.expect(201).at("/id"));
        admin.post("/api/spaces", json!({ "space": "commons" })).await.expect(201);
        self.put(Space, "commons".to_owned());
        self.put(UserCursor, close_cursor(&json!("carol")));
        self.private.push(canary_word);
        self
    }

    /// Marks every id in a response as its owner's alone.
    pub fn hide(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => fields.values().for_each(|value| self.hide(value)),
            Value::Array(items) => items.iter().for_each(|value| self.hide(value)),
            Value::String(text) => {
                const KINDS: [&str; 10] =
                    ["mem_", "ver_", "op_", "lnk_", "trn_", "epi_", "pas_", "job_", "imp_", "obs_"];
                let id = KINDS.iter().any(|kind| text.starts_with(kind));
                if id && text.len() > 26 {
                    self.private.push(text.clone());
                }
            }
            _ => {}
        }
    }
}

fn unnamed(thing: Thing) -> &'static str {
    unreachable!("no user has a {thing:?}")
}
