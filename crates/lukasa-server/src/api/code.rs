//! The status, title and advice of each error code of the API. `docs/errors.md` is generated from
//! this table.

pub use lukasa_core::ErrorCode;

/// An error code with its status, title and advice.
pub struct ErrorRow {
    pub code: ErrorCode,
    pub status: u16,
    pub title: &'static str,
    pub advice: &'static str,
}

/// Defines the table: a code without a row, or with two, does not compile.
macro_rules! error_rows {
    ($($code:ident = $status:literal, $title:literal, $advice:literal;)*) => {
        /// The row of a code.
        #[deny(unreachable_patterns)]
        pub fn error_row(code: ErrorCode) -> ErrorRow {
            let (status, title, advice) = match code {
                $(ErrorCode::$code => ($status, $title, $advice)),*
            };
            ErrorRow { code, status, title, advice }
        }
    };
}

/// The rows of all codes, in the order of [`ErrorCode`].
pub fn error_rows() -> impl Iterator<Item = ErrorRow> {
    ErrorCode::ALL.into_iter().map(error_row)
}

error_rows! {
    InvalidRequest = 422, "The request is not valid",
        "Look at `errors`: each names a field and what it must be.";
    MalformedBody = 400, "The body is not the JSON this operation takes",
        "Compare it with the operation in /openapi.json; unknown fields are refused.";
    MalformedQuery = 400, "A query parameter is not valid",
        "Compare it with the operation in /openapi.json.";
    MalformedHeader = 400, "A header is not valid",
        "`Idempotency-Key` is 1 to 255 printable characters; `If-Match` is an ETag as it was given; `X-Lukasa-User` \
         and `X-Lukasa-Session` are 1 to 255 characters of UTF-8, `X-Lukasa-Space` 1 to 64; \
         `X-Lukasa-Mode` is on, read-only or off.";
    MalformedCursor = 400, "The cursor is not valid",
        "Pass `next_cursor` back as it was given, or start again without one.";
    UnsupportedMediaType = 415, "The body must be JSON",
        "Send `Content-Type: application/json`; an import may be `application/jsonl` or `application/zip`.";
    BodyTooLarge = 413, "The body is too large",
        "A request may have up to 256 KiB; turns up to 4 MiB, a vault up to 16 MiB, an import up to 64 MiB, a chat \
         through `/v1` what `--gateway-body` says. JSON may have up to 200,000 values.";
    RequestTimeout = 408, "The body did not arrive in time",
        "Send it again, over a faster connection or in smaller parts.";
    MalformedArchive = 400, "The ZIP is not an export that can be imported",
        "Check it with `lukasa export --verify FILE.zip`, or export again.";
    UnsupportedVersion = 400, "This API version is not supported",
        "Leave out `Lukasa-Version`, or send the version that every answer has in this header.";
    UserRequired = 400, "The request does not say whose memory it is about",
        "Send `X-Lukasa-User` with your own id for the user.";
    Unauthenticated = 401, "The credential is missing, unknown, expired or revoked",
        "Send `Authorization: Bearer lk_live_...`; make a key with `lukasa key create`.";
    Forbidden = 403, "The credential does not allow this",
        "Use a credential with the permission that the operation names.";
    WrongUser = 403, "The credential is bound to another user",
        "Leave out `X-Lukasa-User`; the credential determines the user.";
    CrossSite = 403, "The request comes from another site",
        "Without authentication only this machine's own pages and programs are answered.";
    SpaceReadOnly = 403, "The member may only read in this space",
        "Ask an administrator of the tenant for a grant with the access `write`.";
    OtherMemberNeeded = 403, "Another member of the space has to accept this",
        "It directs the assistants of all members: an order, a permission or a hard rule. Ask another member who may \
         write to accept it as it is, or say it as a fact.";
    SpaceUnsupported = 400, "The operation has no spaces",
        "Leave out `X-Lukasa-Space`. Memories, proposals and operations can be read and written in a space, with the \
         operations of the API alone.";
    HumanNeeded = 403, "Only the user can do this",
        "Ask the user to do it in the console or with a user token from `POST /api/tokens`.";
    OptInNeeded = 403, "The user has not opened this domain, so nothing about it is stored",
        "Ask the user: open it with `PUT /api/domains/{name}/opt-in`, keep this one with `keep_without_domain`, or \
         drop it.";
    MemoryPaused = 403, "The user has paused memory",
        "Do not store anything. The user can resume memory in the console, or with `\"paused\": false` in \
         `PUT /api/policy`.";
    SecretRejected = 422, "Secrets are not stored",
        "Save where the secret is kept instead, such as \"API keys are in the password manager\".";
    NotFound = 404, "There is no such route",
        "The operations are listed in /openapi.json.";
    MethodNotAllowed = 405, "The route does not take this method",
        "The operations are listed in /openapi.json.";
    MemoryNotFound = 404, "There is no such memory",
        "List memories with `GET /api/memory?status=all`.";
    OperationNotFound = 404, "There is no such operation",
        "List operations with `GET /api/operations`.";
    LinkNotFound = 404, "There is no such link",
        "List a memory's links with `GET /api/memory/{id}/links`.";
    DomainNotFound = 404, "There is no such domain",
        "List domains with `GET /api/domains`, or leave the domain out.";
    UserNotFound = 404, "There is no such user",
        "List users with `GET /api/users`.";
    SpaceNotFound = 404, "There is no such space, or the user is not a member of it",
        "List the user's spaces with `GET /api/memberships`; a grant has to be accepted first.";
    KeyNotFound = 404, "There is no such key",
        "List keys with `GET /api/keys`.";
    KeyReplaced = 409, "The key was replaced already",
        "Rotate the newer key. Revoke this one to end it before its time.";
    SessionNotFound = 404, "There is no such session",
        "List sessions with `GET /api/sessions`, or open it by appending a turn.";
    OtherProject = 409, "The session belongs to another project",
        "A session keeps the project it was opened with. Leave the project out, or use another session.";
    JobNotFound = 404, "There is no failed job with this id",
        "List jobs with `GET /api/jobs`.";
    TurnNotFound = 404, "There is no such turn",
        "List a session's turns with `GET /api/sessions/{id}/turns`.";
    ObservationNotFound = 404, "There is no such observation",
        "List observations with `GET /api/observations`.";
    PredictionNotFound = 404, "There is no such prediction",
        "Predictions are listed as uses of type `predicted` with `GET /api/memory/usage`, and kept for 90 days.";
    OutcomeKnown = 409, "The prediction has another outcome already",
        "A prediction has one outcome. State a new prediction.";
    LeftOutNotFound = 404, "There is no left-out proposal at this position of the pass",
        "List what passes left out with `GET /api/passes`. It is gone once its turn was deleted or it was learned.";
    EpisodeNotFound = 404, "There is no such episode",
        "List episodes with `GET /api/episodes`.";
    PortraitNotFound = 404, "There is no such portrait",
        "List portraits with `GET /api/portraits`.";
    ImportNotFound = 404, "There is no such import",
        "List imports with `GET /api/imports`.";
    WebhookNotFound = 404, "There is no such webhook",
        "List webhooks with `GET /api/webhooks`.";
    SecretReplaced = 409, "The secret was replaced, and the one before it is still used",
        "Rotate after the overlap, or with `overlap_hours` 0, which ends both older secrets at once.";
    DeliveryNotFound = 404, "There is no such delivery",
        "List deliveries with `GET /api/webhooks/{id}/deliveries`; they are kept for 30 days.";
    TooManyStreams = 429, "Too many open event streams for this user",
        "One server allows 20 open event streams per user; close one, or share one.";
    NoChatModel = 409, "No chat model is configured",
        "Serve with `--chat MODEL@URL`; see `lukasa serve --help`.";
    SignedInAlready = 409, "This browser is signed in already",
        "Sign out first, then follow the link again: it was not used up.";
    NoContradiction = 409, "The memory has no open contradiction",
        "List contradictions with `GET /api/memory/contradictions`.";
    RetrievalNotFound = 404, "There is no such retrieval",
        "Retrievals are kept for 90 days.";
    ModelNotFound = 404, "No embeddings were made with this model",
        "List the models with `lukasa reembed --list`.";
    ModelUnavailable = 503, "A model did not answer",
        "Try again; `lukasa doctor` says which model is missing.";
    // Not 409, which the clients of `/v1` retry.
    NoUpstream = 404, "No model service is configured for this gateway",
        "Serve with `--upstream URL` (or set `LUKASA_UPSTREAM`), as `--upstream https://api.openai.com/v1`; see \
         docs/gateway.md.";
    UpstreamUnavailable = 502, "The model service behind this gateway did not answer",
        "Check that the address in `--upstream` is right and the service is running, then try again.";
    UpstreamRefused = 403, "The server's key for the model service may not be used for this",
        "Use an allowed model and tools that the client runs, send your own key for the service, or let the operator \
         set `LUKASA_UPSTREAM_MODELS` or `LUKASA_UPSTREAM_HOSTED`; see docs/gateway.md.";
    ModelServiceFixed = 409, "The model service of this server cannot be set in the console",
        "It was set with `--upstream`, or the server requires keys or has no data folder: start it with `--upstream \
         URL`; see docs/gateway.md.";
    NoEmbedder = 404, "No embedder is configured",
        "Fetch one with `lukasa model get potion`, or serve with `--embeddings-url`; see `lukasa serve --help`.";
    UserDeleted = 410, "The user has been deleted",
        "Create the user again with `POST /api/users` to use this id again.";
    AnswerErased = 410, "The answer was erased together with its memory",
        "Use a new `Idempotency-Key` for a new request.";
    AnswerNotKept = 409, "The request was done before, and its answer is not kept",
        "List the keys or webhooks, and remove the one whose secret did not arrive; create another with a new \
         `Idempotency-Key`.";
    AmbiguousTarget = 409, "The text occurs in several memories",
        "Name one of the `candidates` by its id.";
    KeyTaken = 409, "Another memory has this domain and key",
        "Update the memory in `candidates` instead.";
    NotActive = 409, "The memory is not active",
        "Restore it first, or look at its status.";
    NotGone = 409, "The memory is neither forgotten nor in the trash",
        "There is nothing to restore.";
    NotProposed = 409, "The memory is not waiting for an answer",
        "Use forget or delete for a memory that is active.";
    NotValidThen = 409, "The memory is not valid at that time",
        "Give a time within its validity, or use `mode: correction`.";
    EmptyValidity = 422, "The validity would be empty",
        "`valid_until` must be later than `valid_from`.";
    OverlappingValidity = 409, "The validity overlaps another version of the memory",
        "Look at its history and give dates that do not overlap.";
    Unchanged = 409, "Nothing would change",
        "There is nothing to do.";
    LessTrusted = 403, "An extracted or imported memory cannot replace a stated one",
        "Propose it instead, and let the user decide.";
    OtherWords = 409, "The confirmed text differs from the stored text",
        "Show the proposal again and send the `sha256` it now has.";
    LinkExists = 409, "The memories already have this link",
        "There is nothing to do.";
    UndoBlocked = 409, "A later operation touched the same memory",
        "Undo the operation in `operation_id` first.";
    AlreadyUndone = 409, "The operation has been undone, or its result has been replaced since",
        "To do it again, undo the undo.";
    NotUndoable = 409, "This cannot be undone",
        "What was purged or erased is gone. A consent whose domain is closed is given again.";
    VersionMismatch = 412, "The memory has changed since it was read",
        "Read it again, and send the ETag it now has.";
    IdempotencyMismatch = 422, "The idempotency key was used for another request",
        "Use one key for one request, and a new key for a new one.";
    JournalUnavailable = 503, "The erasure journal cannot be written",
        "Nothing was erased. Check that the file in the server's `--erasure-journal` is writable, then try again.";
    RateLimited = 429, "Too many requests",
        "Wait as long as `Retry-After` says, then try again with the same `Idempotency-Key`.";
    BudgetSpent = 429, "The budget for today is spent",
        "Wait until tomorrow (UTC), or let the operator raise `--chat-tokens` or `--chat-key-tokens`.";
    Overloaded = 503, "The server is overloaded",
        "Wait as long as `Retry-After` says, then try again with the same `Idempotency-Key`.";
    Unavailable = 503, "The database is not available",
        "Try again in a moment, with the same `Idempotency-Key`.";
    Internal = 500, "Something went wrong on our side",
        "Report the `Lukasa-Request-Id` of this answer to the operator.";
}
