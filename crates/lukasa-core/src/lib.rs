//! Values and rules of the record.
//!
//! This crate defines what a memory is and what may happen to it. It does no I/O, reads no clock,
//! draws no randomness and knows no database, wire format or AI model: time, ids and the affected
//! rows are always arguments, so every rule can be tested by an ordinary unit test.
//!
//! Reading order: [`id`] and [`time`] (the basics), [`fact`] (what is stored), [`origin`] and
//! [`caller`] (who writes, and how far they are trusted), [`admission`] (accept, ask or reject),
//! [`record`] (the versions each verb opens and closes), [`lifecycle`] (the status derived from
//! them), [`session`] (conversations), [`observation`] (raw events), [`project`] (what a session
//! sees), [`space`] (what users share), [`policy`] (what may happen without asking), [`learning`] (extraction from
//! conversations), [`consolidation`] and [`removal`] (re-rating and removal). The words of a
//! message are understood by `lukasa-text`; [`recall`] finds relevant memories, [`context`] puts
//! them into a prompt, and [`portrait`] summarizes them for the user. [`vault`] renders the memory
//! as editable files, [`archive`] defines the export format, [`import`] reads other programs'
//! memories, [`webhook`] defines notifications and their retries, [`oauth`] the rules for
//! assistants that connect by URL, and [`oidc`] those for users who sign in with an identity
//! provider.

pub mod admission;
pub mod archive;
pub mod audit;
pub mod calibration;
pub mod caller;
pub mod cluster;
pub mod consolidation;
pub mod context;
pub mod domain;
pub mod episode;
pub mod error_code;
pub mod fact;
pub mod fade;
pub mod id;
pub mod import;
pub mod job;
pub mod learning;
pub mod lifecycle;
pub mod limits;
pub mod link;
pub mod masking;
pub mod memory_block;
pub mod model;
pub mod note;
pub mod oauth;
pub mod observation;
pub mod oidc;
pub mod operation;
pub mod origin;
pub mod phrasing;
pub mod placement;
pub mod policy;
pub mod portrait;
pub mod project;
pub mod quality;
pub mod recall;
pub mod record;
pub mod removal;
pub mod secret;
pub mod sentence;
pub mod session;
pub mod space;
pub mod state_hash;
pub mod strict_schema;
pub mod task_state;
pub mod time;
pub mod type_policy;
pub mod vault;
pub mod webhook;
mod words;

pub use admission::{AgentPolicy, Replacing, Writer};
pub use caller::{Caller, CallerKind, Permission};
pub use domain::{Domain, builtin_domains};
pub use episode::{Episode, EpisodeEdit};
pub use error_code::ErrorCode;
pub use fact::{
    Category, Claim, ClaimEvidence, Edit, Force, Kind, MemoryType, State, Tier, Version,
    fingerprint, value_text,
};
pub use id::{
    CallId, EpisodeId, ErasureId, FactId, Ids, ImportId, JobId, LinkId, ObservationId, OperationId,
    PassId, RetrievalId, TenantId, TurnId, UsageId, UserId, VersionId, WebhookId,
};
pub use job::{Job, JobKind, JobState};
pub use lifecycle::{Status, status_of};
pub use link::Link;
pub use masking::MaskedTurns;
pub use observation::Observation;
pub use operation::{Operation, Verb};
pub use origin::{Origin, Voice};
pub use placement::{MAIN_CELL, Placement, UserRange};
pub use policy::Policy;
pub use portrait::Portrait;
pub use project::{Project, ProjectScope};
pub use record::{Changes, Refusal, Stamp};
pub use removal::{Depth, DomainConsent, Fate, RemovedTurns, Sources};
pub use session::{Exchange, Keep, Mark, NewTurn, Role, Session, SessionState, Span, Turn};
pub use space::{SpaceAccess, SpaceGrant, SpaceName};
pub use state_hash::StateHash;
pub use time::{AsOf, Period, Timestamp};
pub use webhook::{Delivery, DeliveryState, Webhook};
