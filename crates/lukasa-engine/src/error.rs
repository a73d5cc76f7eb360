//! Errors of the use cases. Each variant says what the caller can do about it and has a stable
//! code; the interfaces map codes to statuses.

use lukasa_core::{ErrorCode, OperationId, Refusal, Timestamp};
use lukasa_text::screen::secret::SecretKind;

use crate::memory::Memory;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no such memory")]
    MemoryNotFound,
    #[error("there is no such operation")]
    OperationNotFound,
    #[error("there is no such link")]
    LinkNotFound,
    #[error("there is no domain called {0:?}")]
    DomainNotFound(String),
    #[error("there is no such user")]
    UserNotFound,
    #[error("there is no such key")]
    KeyNotFound,
    #[error("the key was replaced by {0} already; rotate that one")]
    KeyReplaced(String),
    #[error("there is no such session")]
    SessionNotFound,
    #[error("the session belongs to another project")]
    OtherProject,
    #[error("there is no such retrieval")]
    RetrievalNotFound,
    #[error("there is no failed job with this id")]
    JobNotFound,
    #[error("there is no such turn")]
    TurnNotFound,
    #[error("there is no such observation")]
    ObservationNotFound,
    #[error("there is no such prediction")]
    PredictionNotFound,
    #[error("the prediction has another outcome already")]
    OutcomeKnown,
    #[error("there is no left-out proposal at this position of the pass")]
    LeftOutNotFound,
    #[error("there is no such episode")]
    EpisodeNotFound,
    #[error("there is no such portrait")]
    PortraitNotFound,
    #[error("there is no such import")]
    ImportNotFound,
    #[error("there is no such webhook")]
    WebhookNotFound,
    #[error("the secret was replaced already, and the one before it is used until {0}")]
    SecretReplaced(Timestamp),
    #[error("there is no such delivery")]
    DeliveryNotFound,
    #[error("too many open event streams for this user")]
    TooManyStreams,
    #[error("no chat model is configured")]
    NoChatModel,
    #[error("the two memories do not contradict each other")]
    NoContradiction,
    #[error("no embeddings were ever made with a model called {0:?}")]
    ModelNotFound(String),
    #[error("the text occurs in {} memories; name one of them by its id", .0.len())]
    Ambiguous(Vec<Memory>),
    #[error("the request is not valid")]
    Invalid(Vec<InvalidField>),
    #[error("{0}")]
    Refused(#[from] Refusal),
    #[error("another memory already uses this domain and key; update that one instead")]
    KeyTaken(Option<Box<Memory>>),
    #[error("nothing is kept in the domain {0:?} until the user opens it")]
    OptInNeeded(String),
    #[error("the user has paused memory")]
    MemoryPaused,
    #[error("the text contains {0}, and secrets are not stored")]
    SecretRejected(SecretKind),
    #[error("the memory is not waiting for an answer")]
    NotProposed,
    #[error("the memory has changed since it was read")]
    VersionMismatch,
    #[error("a later operation touched the same memory; undo {0} first")]
    UndoBlocked(OperationId),
    #[error("the operation has been undone already")]
    AlreadyUndone,
    #[error("it can no longer be undone")]
    NotUndoable,
    #[error("the memories are linked like this already")]
    LinkExists,
    #[error("the idempotency key was used for another request")]
    IdempotencyMismatch,
    #[error("the answer to this idempotency key was erased together with its memory")]
    AnswerErased,
    #[error("the user has been deleted")]
    UserGone,
    #[error("there is no such space, or the user is not a member of it")]
    SpaceNotFound,
    #[error("the member may only read in this space")]
    SpaceReadOnly,
    #[error("another member of the space has to accept this")]
    NeedsOtherMember,
    #[error("the credential is missing, unknown, expired or revoked")]
    Unauthenticated,
    #[error("{0}")]
    Model(#[source] lukasa_core::model::ModelError),
    /// Nothing was erased: an erasure missing from the journal could be undone by restoring a
    /// backup.
    #[error("the erasure journal cannot be used: {0}")]
    Journal(String),
    #[error("the database is not available")]
    Unavailable(#[source] lukasa_store::Error),
    #[error("the database has no schema yet: run `lukasa migrate`")]
    SchemaMissing(#[source] lukasa_store::Error),
    #[error(transparent)]
    SchemaRefused(lukasa_store::Error),
    #[error("something went wrong on our side")]
    Internal(#[source] lukasa_store::Error),
}

/// One field that cannot be accepted, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidField {
    pub field: String,
    pub reason: String,
}

impl Error {
    pub fn invalid(field: &str, reason: &str) -> Self {
        Error::Invalid(vec![InvalidField { field: field.into(), reason: reason.into() }])
    }

    pub(crate) fn faults(faults: Vec<(&'static str, String)>) -> Result<()> {
        if faults.is_empty() {
            return Ok(());
        }
        let fault =
            |(field, reason): (&'static str, String)| InvalidField { field: field.into(), reason };
        Err(Error::Invalid(faults.into_iter().map(fault).collect()))
    }

    /// The stable error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Error::MemoryNotFound => ErrorCode::MemoryNotFound,
            Error::OperationNotFound => ErrorCode::OperationNotFound,
            Error::LinkNotFound => ErrorCode::LinkNotFound,
            Error::DomainNotFound(_) => ErrorCode::DomainNotFound,
            Error::UserNotFound => ErrorCode::UserNotFound,
            Error::KeyNotFound => ErrorCode::KeyNotFound,
            Error::KeyReplaced(_) => ErrorCode::KeyReplaced,
            Error::SessionNotFound => ErrorCode::SessionNotFound,
            Error::OtherProject => ErrorCode::OtherProject,
            Error::RetrievalNotFound => ErrorCode::RetrievalNotFound,
            Error::JobNotFound => ErrorCode::JobNotFound,
            Error::TurnNotFound => ErrorCode::TurnNotFound,
            Error::ObservationNotFound => ErrorCode::ObservationNotFound,
            Error::PredictionNotFound => ErrorCode::PredictionNotFound,
            Error::OutcomeKnown => ErrorCode::OutcomeKnown,
            Error::LeftOutNotFound => ErrorCode::LeftOutNotFound,
            Error::EpisodeNotFound => ErrorCode::EpisodeNotFound,
            Error::PortraitNotFound => ErrorCode::PortraitNotFound,
            Error::ImportNotFound => ErrorCode::ImportNotFound,
            Error::WebhookNotFound => ErrorCode::WebhookNotFound,
            Error::SecretReplaced(_) => ErrorCode::SecretReplaced,
            Error::DeliveryNotFound => ErrorCode::DeliveryNotFound,
            Error::TooManyStreams => ErrorCode::TooManyStreams,
            Error::NoChatModel => ErrorCode::NoChatModel,
            Error::NoContradiction => ErrorCode::NoContradiction,
            Error::ModelNotFound(_) => ErrorCode::ModelNotFound,
            Error::Model(_) => ErrorCode::ModelUnavailable,
            Error::Ambiguous(_) => ErrorCode::AmbiguousTarget,
            Error::Invalid(_) => ErrorCode::InvalidRequest,
            Error::Refused(refusal) => match refusal {
                Refusal::NotActive => ErrorCode::NotActive,
                Refusal::NotGone => ErrorCode::NotGone,
                Refusal::NotValidThen => ErrorCode::NotValidThen,
                Refusal::EmptyValidity => ErrorCode::EmptyValidity,
                Refusal::OverlapsItself => ErrorCode::OverlappingValidity,
                Refusal::LessTrusted => ErrorCode::LessTrusted,
                Refusal::Unchanged => ErrorCode::Unchanged,
                Refusal::NeedsHuman => ErrorCode::HumanNeeded,
                Refusal::OtherWords => ErrorCode::OtherWords,
            },
            Error::KeyTaken(_) => ErrorCode::KeyTaken,
            Error::OptInNeeded(_) => ErrorCode::OptInNeeded,
            Error::MemoryPaused => ErrorCode::MemoryPaused,
            Error::SecretRejected(_) => ErrorCode::SecretRejected,
            Error::NotProposed => ErrorCode::NotProposed,
            Error::VersionMismatch => ErrorCode::VersionMismatch,
            Error::UndoBlocked(_) => ErrorCode::UndoBlocked,
            Error::AlreadyUndone => ErrorCode::AlreadyUndone,
            Error::NotUndoable => ErrorCode::NotUndoable,
            Error::LinkExists => ErrorCode::LinkExists,
            Error::IdempotencyMismatch => ErrorCode::IdempotencyMismatch,
            Error::AnswerErased => ErrorCode::AnswerErased,
            Error::UserGone => ErrorCode::UserDeleted,
            Error::SpaceNotFound => ErrorCode::SpaceNotFound,
            Error::SpaceReadOnly => ErrorCode::SpaceReadOnly,
            Error::NeedsOtherMember => ErrorCode::OtherMemberNeeded,
            Error::Unauthenticated => ErrorCode::Unauthenticated,
            Error::Journal(_) => ErrorCode::JournalUnavailable,
            Error::Unavailable(_) | Error::SchemaMissing(_) | Error::SchemaRefused(_) => {
                ErrorCode::Unavailable
            }
            Error::Internal(_) => ErrorCode::Internal,
        }
    }
}

impl From<lukasa_store::Error> for Error {
    fn from(error: lukasa_store::Error) -> Self {
        match error {
            lukasa_store::Error::Unavailable(_) => Error::Unavailable(error),
            lukasa_store::Error::SchemaMissing(_) => Error::SchemaMissing(error),
            lukasa_store::Error::SchemaRefused(_) => Error::SchemaRefused(error),
            // The rules refuse this first; the database constraint is the fallback.
            lukasa_store::Error::Conflict(ref name) if name == "said_over_extracted" => {
                Error::Refused(Refusal::LessTrusted)
            }
            lukasa_store::Error::Conflict(ref name) if name == "one_truth" => Error::KeyTaken(None),
            lukasa_store::Error::Conflict(ref name) if name == "link_once" => Error::LinkExists,
            lukasa_store::Error::NotMember => Error::SpaceNotFound,
            lukasa_store::Error::ReadOnlyMember => Error::SpaceReadOnly,
            other => Error::Internal(other),
        }
    }
}
