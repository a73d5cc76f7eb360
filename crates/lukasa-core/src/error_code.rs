//! [`ErrorCode`]: the stable codes of errors.

crate::words!(
    /// The stable code of an error: of a use case, or of an interface that refuses a request before.
    /// `crates/lukasa-server/src/api/code.rs` has the status, the title and the advice of each.
    ErrorCode {
        InvalidRequest = "invalid_request",
        MalformedBody = "malformed_body",
        MalformedQuery = "malformed_query",
        MalformedHeader = "malformed_header",
        MalformedCursor = "malformed_cursor",
        UnsupportedMediaType = "unsupported_media_type",
        BodyTooLarge = "body_too_large",
        RequestTimeout = "request_timeout",
        MalformedArchive = "malformed_archive",
        UnsupportedVersion = "unsupported_version",
        UserRequired = "user_required",
        Unauthenticated = "unauthenticated",
        Forbidden = "forbidden",
        WrongUser = "wrong_user",
        CrossSite = "cross_site",
        SpaceReadOnly = "space_read_only",
        OtherMemberNeeded = "other_member_needed",
        SpaceUnsupported = "space_unsupported",
        HumanNeeded = "human_needed",
        OptInNeeded = "opt_in_needed",
        MemoryPaused = "memory_paused",
        SecretRejected = "secret_rejected",
        NotFound = "not_found",
        MethodNotAllowed = "method_not_allowed",
        MemoryNotFound = "memory_not_found",
        OperationNotFound = "operation_not_found",
        LinkNotFound = "link_not_found",
        DomainNotFound = "domain_not_found",
        UserNotFound = "user_not_found",
        SpaceNotFound = "space_not_found",
        KeyNotFound = "key_not_found",
        KeyReplaced = "key_replaced",
        SessionNotFound = "session_not_found",
        OtherProject = "other_project",
        JobNotFound = "job_not_found",
        TurnNotFound = "turn_not_found",
        ObservationNotFound = "observation_not_found",
        PredictionNotFound = "prediction_not_found",
        OutcomeKnown = "outcome_known",
        LeftOutNotFound = "left_out_not_found",
        EpisodeNotFound = "episode_not_found",
        PortraitNotFound = "portrait_not_found",
        ImportNotFound = "import_not_found",
        WebhookNotFound = "webhook_not_found",
        SecretReplaced = "secret_replaced",
        DeliveryNotFound = "delivery_not_found",
        TooManyStreams = "too_many_streams",
        NoChatModel = "no_chat_model",
        SignedInAlready = "signed_in_already",
        NoContradiction = "no_contradiction",
        RetrievalNotFound = "retrieval_not_found",
        ModelNotFound = "model_not_found",
        ModelUnavailable = "model_unavailable",
        NoUpstream = "no_upstream",
        UpstreamUnavailable = "upstream_unavailable",
        UpstreamRefused = "upstream_refused",
        ModelServiceFixed = "model_service_fixed",
        NoEmbedder = "no_embedder",
        UserDeleted = "user_deleted",
        AnswerErased = "answer_erased",
        AnswerNotKept = "answer_not_kept",
        AmbiguousTarget = "ambiguous_target",
        KeyTaken = "key_taken",
        NotActive = "not_active",
        NotGone = "not_gone",
        NotProposed = "not_proposed",
        NotValidThen = "not_valid_then",
        EmptyValidity = "empty_validity",
        OverlappingValidity = "overlapping_validity",
        Unchanged = "unchanged",
        LessTrusted = "less_trusted",
        OtherWords = "other_words",
        LinkExists = "link_exists",
        UndoBlocked = "undo_blocked",
        AlreadyUndone = "already_undone",
        NotUndoable = "not_undoable",
        VersionMismatch = "version_mismatch",
        IdempotencyMismatch = "idempotency_mismatch",
        JournalUnavailable = "journal_unavailable",
        RateLimited = "rate_limited",
        BudgetSpent = "budget_spent",
        Overloaded = "overloaded",
        Unavailable = "unavailable",
        Internal = "internal",
    }
);

/// A code is compared with its text, which is what clients see.
impl PartialEq<&str> for ErrorCode {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == *text
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
