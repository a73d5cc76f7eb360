//! One row per operation: the permission it needs, and which of its parts carry an id. An operation
//! without a row fails the suite, and so does a part of an operation that is neither in its row nor
//! in [`super::harmless::HARMLESS`].

use lukasa_core::Permission::{self, Admin, Erase, Propose, Read, Write};

use super::things::Thing::{self, *};

/// Where in a request an id is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Path(&'static str),
    Query(&'static str),
    Header(&'static str),
    /// A property, or a nested one after a dot; with a trailing `[]`, a list of one.
    Body(&'static str),
}
use Place::{Body, Header, Path, Query};

/// The expected response for another user's resource, as for one that never existed.
#[derive(Debug, Clone, Copy)]
pub enum Foreign {
    /// One of these codes.
    Refused(&'static [&'static str]),
    /// A 2xx response, from the caller's own rows only.
    Own,
}
use Foreign::{Own, Refused};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Part of every request of this operation.
    Given,
    /// Part of every request and the same for every user, so there is nothing foreign to try.
    Fixed,
    /// Put into the request for one attempt.
    Tried,
    /// Set only where the whole request is a copy of another user's.
    Replayed,
}

#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub place: Place,
    pub thing: Thing,
    pub foreign: Foreign,
    pub used: Use,
}

#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub operation: &'static str,
    /// Absent if no permission is needed.
    pub needs: Option<Permission>,
    pub writes: bool,
    /// Only a human caller may do it.
    pub human: bool,
    /// The parts of the body that carry no id.
    pub body: Option<&'static str>,
    pub fields: &'static [Field],
}

impl Row {
    /// Whether the operation is about one user's memory rather than a tenant's lists.
    pub fn is_personal(&self) -> bool {
        self.needs.is_some_and(|permission| permission != Admin)
    }
}

const fn given(place: Place, thing: Thing, foreign: Foreign) -> Field {
    Field { place, thing, foreign, used: Use::Given }
}

const fn fixed(place: Place, thing: Thing) -> Field {
    Field { place, thing, foreign: Own, used: Use::Fixed }
}

const fn tried(place: Place, thing: Thing, foreign: Foreign) -> Field {
    Field { place, thing, foreign, used: Use::Tried }
}

const MEMORY: Foreign = Refused(&["memory_not_found"]);
const OPERATION: Foreign = Refused(&["operation_not_found"]);
const LINK: Foreign = Refused(&["link_not_found"]);
const DOMAIN: Foreign = Refused(&["domain_not_found"]);
const USER: Foreign = Refused(&["user_not_found"]);
const SESSION: Foreign = Refused(&["session_not_found"]);
const TURN: Foreign = Refused(&["turn_not_found"]);
const OBSERVATION: Foreign = Refused(&["observation_not_found"]);
const LEFT_OUT: Foreign = Refused(&["left_out_not_found", "human_needed"]);
const EPISODE: Foreign = Refused(&["episode_not_found"]);
const JOB: Foreign = Refused(&["job_not_found"]);
const IMPORT: Foreign = Refused(&["import_not_found"]);
const WEBHOOK: Foreign = Refused(&["webhook_not_found"]);
const SPACE: Foreign = Refused(&["space_not_found"]);
const RETRIEVAL: Foreign = Refused(&["retrieval_not_found"]);

const WORDS: Field = tried(Path("id"), Words, MEMORY);
const STALE: Field = tried(Header("If-Match"), Version, Refused(&["version_mismatch"]));
const IN_DOMAIN: Field = tried(Body("domain"), Domain("orchard"), DOMAIN);
/// The header of the operations that can be done in a space.
pub const IN_SPACE: Field = tried(Header("X-Lukasa-Space"), GrantedSpace, SPACE);
const AGAIN: Field = Field {
    place: Header("Idempotency-Key"),
    thing: IdempotencyKey,
    foreign: Own,
    used: Use::Replayed,
};

const fn reads(operation: &'static str, fields: &'static [Field]) -> Row {
    Row { operation, needs: Some(Read), writes: false, human: false, body: None, fields }
}

const fn does(needs: Permission, operation: &'static str, fields: &'static [Field]) -> Row {
    Row { operation, needs: Some(needs), writes: true, human: false, body: None, fields }
}

const fn with_body(row: Row, body: &'static str) -> Row {
    Row { body: Some(body), ..row }
}

const fn by_a_human(row: Row) -> Row {
    Row { human: true, ..row }
}

const fn only_reads(row: Row) -> Row {
    Row { writes: false, ..row }
}

const fn open(operation: &'static str) -> Row {
    Row { operation, needs: None, writes: false, human: false, body: None, fields: &[] }
}

/// No files: nothing is written, and the response is the caller's own memory. Another user's files
/// are covered by the API tests.
const VAULT: &str = r#"{"files": []}"#;

/// A service that does not answer.
const MODEL_SERVICE: &str = r#"{"url": "http://127.0.0.1:9/v1", "model": "any"}"#;
#[rustfmt::skip]
pub const TABLE: &[Row] = &[
    // Sessions are named by their users, so a neighbour may open one under the name of hers: it is
    // another session. Read operations come first, while no other user has one of that name.
    reads("list_sessions", &[tried(Query("cursor"), SessionCursor, Own)]),
    reads("get_session", &[given(Path("session_id"), Session, SESSION)]),
    reads("list_turns", &[
        given(Path("session_id"), Session, SESSION),
        tried(Query("cursor"), TurnCursor, Own),
    ]),
    reads("search_sessions", &[
        given(Query("query"), Words, Own),
        tried(Query("query"), Content, Own),
    ]),
    reads("get_home", &[]),
    reads("get_review", &[]),
    reads("get_state", &[]),
    reads("get_vault", &[]),
    with_body(reads("plan_vault", &[]), VAULT),
    with_body(does(Write, "sync_vault", &[AGAIN]), VAULT),
    with_body(
        does(Write, "run_vault_command", &[AGAIN]),
        r#"{"command": "view", "path": "/memories"}"#,
    ),
    reads("list_dependents", &[
        given(Query("session_id"), Session, SESSION),
        tried(Query("turn_id"), DeletableTurn, TURN),
        tried(Query("episode_id"), Episode, EPISODE),
    ]),
    reads("list_portraits", &[]),
    reads("list_clusters", &[]),
    reads("get_portrait", &[given(Path("name"), DomainPortrait, Refused(&["domain_not_found"]))]),
    reads("export", &[]),
    reads("list_imports", &[]),
    // Source names are chosen by the importer, per user.
    with_body(
        does(Write, "import", &[]),
        r#"{"item": "memory", "source": "a", "content": "Keeps bees"}"#,
    ),
    reads("list_undecided", &[given(Path("id"), Import, IMPORT)]),
    with_body(
        by_a_human(does(Write, "decide_import", &[
            given(Path("id"), Import, Refused(&["import_not_found", "human_needed"])),
            given(Body("memory_ids[]"), Memory("kept"), Refused(&["memory_not_found", "human_needed"])),
        ])),
        r#"{"use": "chosen"}"#,
    ),
    does(Write, "undo_import", &[given(Path("id"), Import, IMPORT)]),
    reads("get_window", &[given(Path("session_id"), Session, SESSION)]),
    reads("get_why", &[
        given(Path("session_id"), Session, SESSION),
        given(Path("number"), TurnNumber, Own),
    ]),
    reads("get_session_context", &[given(Path("session_id"), Session, SESSION)]),
    reads("list_episodes", &[
        tried(Query("session_id"), Session, Own),
        tried(Query("domain"), Domain("orchard"), Own),
        tried(Query("cursor"), EpisodeCursor, Own),
    ]),
    reads("get_episode", &[given(Path("id"), Episode, EPISODE)]),
    reads("list_passes", &[tried(Query("session_id"), Session, Own)]),
    reads("list_contradictions", &[]),
    reads("list_jobs", &[]),
    reads("list_model_calls", &[]),
    reads("get_retrieval", &[given(Path("retrieval_id"), Retrieval, RETRIEVAL)]),
    reads("list_usage", &[
        tried(Query("memory_id"), Memory("kept"), Own),
        tried(Query("cursor"), UsageCursor, Own),
    ]),
    reads("get_stats", &[]),
    reads("list_observations", &[
        tried(Query("session_id"), Session, Own),
        tried(Query("cursor"), ObservationCursor, Own),
    ]),
    with_body(
        does(Write, "record_observations", &[AGAIN]),
        r#"{"observations": [{"source": "shop", "kind": "order", "payload": {"value": "tea"}}]}"#,
    ),
    does(Write, "delete_observation", &[given(Path("id"), Observation, OBSERVATION), AGAIN]),
    does(Erase, "erase_observation", &[
        given(Path("id"), ErasableObservation, OBSERVATION),
        AGAIN,
    ]),
    // Sources are named by applications, per user.
    does(Write, "delete_observations", &[given(Query("source"), ObservationSource, Own), AGAIN]),
    with_body(
        reads("search_memories", &[
            tried(Body("query"), Words, Own),
            tried(Body("query"), Content, Own),
            tried(Body("session_id"), Session, Own),
            tried(Body("domains[]"), Domain("orchard"), Own),
            IN_SPACE,
        ]),
        r#"{"query": "What was said, and by whom?", "turns": 20, "sessions": 5, "episodes": 20}"#,
    ),
    with_body(
        reads("detect_domains", &[
            tried(Body("query"), Words, Own),
            tried(Body("query"), Domain("orchard"), Own),
        ]),
        r#"{"query": "Book a flight"}"#,
    ),
    // It reads, and records what it returned.
    with_body(
        does(Read, "retrieve_context", &[
            tried(Body("query"), Words, Own),
            tried(Body("query"), Content, Own),
            tried(Body("session_id"), Session, Own),
            tried(Body("domains[]"), Domain("orchard"), Own),
            tried(Body("spaces[]"), GrantedSpace, SPACE),
        ]),
        r#"{"query": "What do you remember about me?"}"#,
    ),
    with_body(
        does(Write, "edit_session", &[given(Path("session_id"), Session, SESSION), AGAIN]),
        r#"{"title": "Another name"}"#,
    ),
    with_body(does(Write, "close_session", &[given(Path("session_id"), Session, SESSION), AGAIN]), "{}"),
    // The response is not read, so it is the same for every session.
    with_body(does(Write, "beacon", &[given(Body("session_id"), Session, Own)]), "{}"),
    does(Write, "learn_session", &[given(Path("session_id"), Session, SESSION), AGAIN]),
    does(Write, "delete_turn", &[given(Path("id"), DeletableTurn, TURN), AGAIN]),
    does(Erase, "erase_turn", &[given(Path("id"), ErasableTurn, TURN), AGAIN]),
    does(Erase, "erase_session", &[given(Path("session_id"), ErasableSession, SESSION), AGAIN]),
    by_a_human(with_body(
        does(Write, "edit_episode", &[
            given(Path("id"), EditableEpisode, Refused(&["episode_not_found", "human_needed"])),
            AGAIN,
        ]),
        r#"{"title": "Another name"}"#,
    )),
    does(Write, "delete_episode", &[given(Path("id"), Episode, EPISODE), AGAIN]),
    does(Write, "delete_session", &[given(Path("session_id"), DeletableSession, SESSION), AGAIN]),
    does(Write, "restore_session", &[given(Path("session_id"), TrashedSession, SESSION), AGAIN]),
    with_body(does(Write, "consolidate", &[AGAIN]), "{}"),
    with_body(does(Write, "phrase_portraits", &[AGAIN]), "{}"),
    does(Write, "retry_job", &[given(Path("id"), DeadJob, JOB), AGAIN]),
    with_body(
        does(Write, "report_usage", &[
            given(Body("memory_id"), Memory("kept"), MEMORY),
            tried(Body("session_id"), Session, Own),
            tried(Body("retrieval_id"), Retrieval, Own),
            tried(Body("turn_id"), Turn, Own),
            AGAIN,
        ]),
        r#"{"type": "cited"}"#,
    ),
    with_body(
        does(Write, "state_prediction", &[
            given(Body("memory_id"), Memory("kept"), MEMORY),
            tried(Body("session_id"), Session, Own),
            tried(Body("retrieval_id"), Retrieval, Own),
            tried(Body("turn_id"), Turn, Own),
            AGAIN,
        ]),
        r#"{"expects": "Will choose tea"}"#,
    ),
    with_body(
        does(Write, "report_outcome", &[
            given(Path("id"), Prediction, Refused(&["prediction_not_found"])),
            AGAIN,
        ]),
        r#"{"outcome": "wrong"}"#,
    ),
    by_a_human(with_body(
        does(Write, "rate_memory", &[given(Path("id"), Memory("kept"), MEMORY), WORDS, AGAIN]),
        r#"{"rating": "down"}"#,
    )),
    by_a_human(does(Write, "remove_rating", &[
        given(Path("id"), Memory("kept"), MEMORY), WORDS, AGAIN,
    ])),
    by_a_human(does(Write, "keep_reply", &[given(Path("id"), Reply, TURN), AGAIN])),
    with_body(does(Write, "open_session", &[tried(Body("id"), Session, Own), AGAIN]), "{}"),
    with_body(
        does(Write, "append_turns", &[
            given(Path("session_id"), Session, Own),
            tried(Body("turns.0.used[]"), Memory("kept"), MEMORY),
            tried(Body("turns.0.retrieval_id"), Retrieval, Own),
            AGAIN,
        ]),
        r#"{"turns": [{"role": "user", "content": "Good morning"}]}"#,
    ),
    reads("list_memories", &[
        tried(Query("cursor"), MemoryCursor, Own),
        tried(Query("search"), Words, Own),
        tried(Query("tag"), Words, Own),
        tried(Query("domain"), Domain("orchard"), Own),
        IN_SPACE,
    ]),
    with_body(does(Write, "save_memory", &[given(Body("content"), Content, Own), IN_DOMAIN, IN_SPACE, AGAIN]), "{}"),
    with_body(does(Propose, "propose_memory", &[
        given(Body("content"), Content, Own), IN_DOMAIN, IN_SPACE, AGAIN,
    ]), "{}"),
    reads("list_proposals", &[tried(Query("cursor"), ProposalCursor, Own), IN_SPACE]),
    does(Erase, "purge_trash", &[AGAIN]),
    reads("suggest_filing", &[]),
    by_a_human(with_body(
        does(Write, "file_memories", &[
            given(Body("memories.0.memory_id"), Memory("kept"), Refused(&["memory_not_found", "human_needed"])),
            tried(Body("memories.0.domain"), Domain("orchard"), Refused(&["domain_not_found", "human_needed"])),
            AGAIN,
        ]),
        r#"{"memories": [{"domain": "travel"}]}"#,
    )),
    reads("get_memory", &[given(Path("id"), Memory("kept"), MEMORY), WORDS, IN_SPACE]),
    with_body(
        does(Write, "update_memory", &[
            given(Path("id"), Memory("kept"), MEMORY), WORDS, STALE, IN_DOMAIN, IN_SPACE, AGAIN,
        ]),
        r#"{"importance": 0.9}"#,
    ),
    does(Write, "delete_memory", &[
        given(Path("id"), Memory("deletable"), MEMORY), WORDS, STALE, IN_SPACE, AGAIN,
    ]),
    reads("get_memory_history", &[
        given(Path("id"), Memory("kept"), MEMORY), WORDS, IN_SPACE,
        tried(Query("cursor"), HistoryCursor, Own),
    ]),
    by_a_human(with_body(
        does(Write, "confirm_memory", &[
            given(Path("id"), Memory("proposed"), MEMORY),
            given(Body("sha256"), Digest, Refused(&["other_words", "human_needed"])),
            tried(Body("edits.domain"), Domain("orchard"), Refused(&["domain_not_found", "human_needed"])),
            tried(Header("X-Lukasa-Space"), GrantedSpace, Refused(&["space_not_found", "human_needed"])),
            WORDS, STALE, AGAIN,
        ]),
        r#"{"confirm": true}"#,
    )),
    with_body(
        does(Write, "answer_review", &[
            given(Body("answers.0.memory_id"), Memory("kept"), Own),
            tried(Body("answers.0.sha256"), Digest, Own),
            AGAIN,
        ]),
        r#"{"answers": [{"confirm": true}]}"#,
    ),
    by_a_human(does(Write, "keep_left_out", &[
        given(Path("id"), LeftOutPass, LEFT_OUT),
        fixed(Path("place"), LeftOutPlace),
        AGAIN,
    ])),
    by_a_human(with_body(
        does(Write, "resolve_contradiction", &[
            given(Path("id"), Memory("contesting"), Refused(&["memory_not_found", "human_needed"])),
            given(Body("sha256"), ContestDigest, Refused(&["other_words", "human_needed"])),
            tried(Header("If-Match"), Version, Refused(&["version_mismatch", "human_needed"])),
            AGAIN,
        ]),
        r#"{"true": "against"}"#,
    )),
    does(Write, "forget_memory", &[
        given(Path("id"), Memory("forgettable"), MEMORY), WORDS, STALE, IN_SPACE, AGAIN,
    ]),
    does(Write, "restore_memory", &[
        given(Path("id"), Memory("trashed"), MEMORY), WORDS, STALE, IN_SPACE, AGAIN,
    ]),
    does(Erase, "erase_memory", &[
        given(Path("id"), Memory("erasable"), MEMORY), WORDS, STALE, IN_SPACE, AGAIN,
    ]),
    only_reads(does(Erase, "preview_erasure", &[given(Path("id"), Memory("kept"), MEMORY), WORDS])),
    reads("list_erasures", &[]),
    open("get_receipt_key"),
    reads("list_links", &[
        given(Path("id"), Memory("kept"), MEMORY), WORDS, tried(Query("cursor"), LinkCursor, Own),
    ]),
    reads("get_memory_graph", &[given(Path("id"), Memory("kept"), MEMORY), WORDS]),
    with_body(
        does(Write, "link_memories", &[
            given(Path("id"), Memory("kept"), MEMORY),
            given(Body("to"), Memory("other"), MEMORY),
            WORDS, tried(Body("to"), Words, MEMORY), AGAIN,
        ]),
        r#"{"relation": "follows"}"#,
    ),
    does(Write, "unlink_memories", &[
        given(Path("id"), Memory("kept"), LINK),
        given(Path("link_id"), Link, LINK),
        WORDS, AGAIN,
    ]),
    reads("list_operations", &[
        tried(Query("memory_id"), Memory("kept"), Own),
        tried(Query("cursor"), OperationCursor, Own),
        IN_SPACE,
    ]),
    reads("get_operation", &[given(Path("id"), Operation, OPERATION), IN_SPACE]),
    // Up to now and no further, so that the stream ends.
    reads("stream_events", &[
        given(Query("follow"), No, Own),
        tried(Query("after"), OperationCursor, Own),
        tried(Header("Last-Event-ID"), OperationCursor, Own),
    ]),
    does(Write, "undo_operation", &[given(Path("id"), Operation, OPERATION), IN_SPACE, AGAIN]),
    reads("get_policy", &[]),
    by_a_human(with_body(does(Write, "put_policy", &[]), r#"{"titles": true}"#)),
    only_reads(does(Admin, "get_tenant_policy", &[])),
    with_body(does(Admin, "put_tenant_policy", &[]), r#"{"titles": true}"#),
    reads("list_domains", &[]),
    with_body(
        does(Admin, "put_domain", &[given(Path("name"), Domain("harbour"), Own)]),
        r#"{"display_name": "Harbour", "sensitive": false}"#,
    ),
    by_a_human(does(Write, "open_domain", &[
        given(Path("name"), Domain("orchard"), Refused(&["domain_not_found", "human_needed"])),
    ])),
    by_a_human(does(Write, "give_consent", &[
        given(Path("name"), Domain("cellar"), Refused(&["domain_not_found", "human_needed"])),
    ])),
    by_a_human(does(Write, "withdraw_consent", &[
        given(Path("name"), Domain("cellar"), Refused(&["domain_not_found", "human_needed"])),
    ])),
    does(Write, "close_domain", &[given(Path("name"), Domain("orchard"), DOMAIN)]),
    // Administrators manage spaces; that another tenant's key sees none of them is tried before it
    // creates one of the same name.
    only_reads(does(Admin, "list_spaces", &[])),
    only_reads(does(Admin, "list_space_members", &[given(Path("space"), Space, SPACE)])),
    with_body(
        does(Admin, "grant_space", &[
            given(Path("space"), Space, SPACE),
            given(Path("user"), User("carol"), SPACE),
        ]),
        r#"{"access": "read"}"#,
    ),
    does(Admin, "end_space_grant", &[
        given(Path("space"), Space, SPACE),
        given(Path("user"), User("carol"), SPACE),
    ]),
    does(Admin, "erase_space", &[given(Path("space"), Space, SPACE)]),
    with_body(does(Admin, "create_space", &[given(Body("space"), Space, Own)]), "{}"),
    reads("list_memberships", &[]),
    by_a_human(does(Write, "accept_membership", &[given(Path("space"), GrantedSpace, SPACE)])),
    by_a_human(does(Write, "leave_space", &[given(Path("space"), GrantedSpace, SPACE)])),
    only_reads(does(Admin, "list_users", &[tried(Query("cursor"), UserCursor, Own)])),
    with_body(does(Admin, "create_user", &[given(Body("user"), User("dave"), Own)]), "{}"),
    only_reads(does(Admin, "get_user", &[given(Path("user"), User("carol"), USER)])),
    only_reads(does(Admin, "preview_user_erasure", &[given(Path("user"), User("carol"), USER)])),
    only_reads(does(Admin, "list_user_erasures", &[given(Path("user"), User("carol"), USER)])),
    does(Admin, "delete_user", &[given(Path("user"), User("carol"), USER)]),
    // A user may list and end their own, which the sign-in tests cover. There is none for dave yet.
    only_reads(does(Admin, "list_sign_ins", &[given(Query("user"), User("dave"), Own)])),
    does(Admin, "end_sign_ins", &[given(Query("user"), User("dave"), Own)]),
    does(Admin, "end_sign_in", &[given(Path("id"), Token, Refused(&["key_not_found"]))]),
    only_reads(does(Admin, "list_audit", &[tried(Query("user"), User("dave"), Own)])),
    only_reads(does(Admin, "list_keys", &[])),
    with_body(does(Admin, "create_key", &[given(Body("user"), User("dave"), Own)]), r#"{"name": "another"}"#),
    with_body(
        does(Admin, "rotate_key", &[given(Path("id"), Key, Refused(&["key_not_found"]))]),
        r#"{"overlap_hours": 1}"#,
    ),
    does(Admin, "revoke_key", &[given(Path("id"), Key, Refused(&["key_not_found"]))]),
    with_body(does(Admin, "mint_token", &[given(Body("user"), User("dave"), Own)]), r#"{"minutes": 5}"#),
    only_reads(does(Admin, "list_webhooks", &[])),
    with_body(does(Admin, "create_webhook", &[]), r#"{"url": "http://127.0.0.1:9/other"}"#),
    only_reads(does(Admin, "list_deliveries", &[given(Path("id"), Webhook, WEBHOOK)])),
    with_body(
        does(Admin, "rotate_webhook", &[given(Path("id"), Webhook, WEBHOOK)]),
        r#"{"overlap_hours": 1}"#,
    ),
    does(Admin, "test_webhook", &[given(Path("id"), Webhook, WEBHOOK)]),
    // That another tenant's delivery is not found is covered by the webhook tests.
    with_body(
        does(Admin, "replay_webhook", &[given(Path("id"), Webhook, WEBHOOK)]),
        r#"{"since": "2026-01-01T00:00:00Z"}"#,
    ),
    with_body(
        does(Admin, "edit_webhook", &[given(Path("id"), Webhook, WEBHOOK)]),
        r#"{"verbs": ["erase"]}"#,
    ),
    does(Admin, "delete_webhook", &[given(Path("id"), Webhook, WEBHOOK)]),
    reads("get_insights", &[]),
    only_reads(does(Admin, "get_model_service", &[])),
    with_body(only_reads(does(Admin, "test_model_service", &[])), MODEL_SERVICE),
    with_body(does(Admin, "put_model_service", &[]), MODEL_SERVICE),
    does(Admin, "delete_model_service", &[]),
    reads("get_sign_in", &[]),
    with_body(does(Admin, "sign_in", &[given(Body("user"), User("dave"), Own)]), "{}"),
    with_body(does(Admin, "make_sign_in_link", &[given(Body("user"), User("dave"), Own)]), "{}"),
    open("list_sign_in_methods"),
    open("sign_out"),
    open("healthz"),
    open("readyz"),
];
