//! Size and retention limits. A memory is one short line that may be injected into a prompt, with
//! an optional longer body that never is.

/// The injectable line.
pub const CONTENT_CHARS: usize = 2_000;
/// The shorter form of the line.
pub const SUMMARY_CHARS: usize = 500;
/// The body, which is for recall only.
pub const DETAIL_CHARS: usize = 20_000;
pub const KEY_CHARS: usize = 128;
pub const VALUE_BYTES: usize = 8_192;
pub const REASONING_CHARS: usize = 2_000;
pub const EVIDENCE_ITEMS: usize = 20;
pub const EVIDENCE_CHARS: usize = 1_000;
pub const TAGS: usize = 20;
pub const TAG_CHARS: usize = 64;
/// The name of a project.
pub const PROJECT_CHARS: usize = 64;
pub const RELATION_CHARS: usize = 64;
pub const TURNS: usize = 100;
pub const NAME_CHARS: usize = 255;
/// One message. A pasted document is a message too.
pub const TURN_CHARS: usize = 100_000;
/// How many turns a session can have. At one turn a minute that is two years.
pub const SESSION_TURNS: i32 = 1_000_000;
/// How many turns one episode can cover. Extraction reads far fewer at a time.
pub const EPISODE_TURNS: i32 = 10_000;
/// How many versions one memory can have.
pub const VERSIONS: i32 = 1_000_000;
/// The summary of an episode.
pub const EPISODE_CHARS: usize = 20_000;
/// Bytes of a session name, so that it fits into a row of the index.
pub const SESSION_NAME_BYTES: usize = 512;
/// How many messages can be appended in one request.
pub const TURNS_AT_ONCE: usize = 100;
/// How many observations can be recorded in one request.
pub const OBSERVATIONS_AT_ONCE: usize = 100;
/// How many observations a user can have.
pub const OBSERVATIONS: usize = 100_000;
/// Above this number, upkeep removes those that are too old to be counted in patterns.
pub const OBSERVATIONS_KEPT: usize = 90_000;
/// How many observations one request can remove.
pub const OBSERVATIONS_REMOVED_AT_ONCE: usize = 1_000;
/// Bytes of an observation's payload as JSON.
pub const PAYLOAD_BYTES: usize = 8_192;
/// The source or kind of an observation.
pub const OBSERVATION_NAME_CHARS: usize = 32;
/// How many members a space can have, and how many spaces can grant to one user.
pub const SPACE_MEMBERS: usize = 100;
/// How many spaces one request for a context can ask for.
pub const SPACES_AT_ONCE: usize = 5;
/// How long a deleted memory can be restored (R148).
pub const TRASH_DAYS: i64 = 30;
/// How long an idempotency key is remembered.
pub const IDEMPOTENCY_DAYS: i64 = 7;
/// How long it is recorded what was put into a prompt (R150).
pub const USAGE_DAYS: i64 = 90;
/// How many ranges of one turn can be marked as other people's words.
pub const SPANS: usize = 50;
/// How many used memories one turn can report.
pub const USED: usize = 50;
/// How long a candidate waits for more evidence before it is forgotten (R109).
pub const CANDIDATE_DAYS: i64 = 14;
/// How long an inferred fact is kept after its validity ended (R145).
pub const EXPIRED_DAYS: i64 = 90;
/// The importance of a tentative memory that is only a weak signal (R108).
pub fn tentative_importance(importance: f32) -> f32 {
    importance.clamp(0.4, 0.6)
}

/// The confidence of a stated fact that is not confirmed, as one number.
pub const STATED_CONFIDENCE: f32 = 0.95;
/// The highest confidence of an inferred fact: what a model is sure of is less sure than what the user
/// stated.
pub const MAX_INFERRED_CONFIDENCE: f32 = 0.94;
