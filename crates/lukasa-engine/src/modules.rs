//! The handles of the engine's modules, and the order in which they are built. A handle is given the
//! handles it may call; those come before it.

use std::sync::Arc;

use crate::archive::Archives;
use crate::audit::AuditLog;
use crate::chat::ChatModels;
use crate::consents::Consents;
use crate::consolidation::Consolidator;
use crate::context::{BaselineCache, Contexts, RetrievalLog};
use crate::credentials::Credentials;
use crate::directory::TenantDirectory;
use crate::embeddings::{EmbeddingState, Embeddings};
use crate::events::Events;
use crate::facts::Facts;
use crate::insights::Statistics;
use crate::jobs::Jobs;
use crate::journal::{ErasureJournal, Journal};
use crate::learning::Learning;
use crate::oauth::Connectors;
use crate::observations::Observations;
use crate::parts::Parts;
use crate::policy::Policies;
use crate::portraits::Portraits;
use crate::queue::{JobQueue, RunningJobs};
use crate::recall::{Recall, RecallCaches};
use crate::removal::{Erasures, Removals};
use crate::review::Reviews;
use crate::sessions::Sessions;
use crate::signing::Signatures;
use crate::spaces::Spaces;
use crate::statements::Statements;
use crate::subscriptions::Subscriptions;
use crate::transaction::Transactions;
use crate::undo::OperationUndo;
use crate::vault::Vault;
use crate::webhooks::{TenantWebhooks, WebhookSender};

/// The handles of all modules.
pub struct Modules {
    pub archives: Archives,
    pub audit: AuditLog,
    pub chat: ChatModels,
    pub consents: Consents,
    pub consolidation: Consolidator,
    pub context: Contexts,
    pub credentials: Credentials,
    pub directory: TenantDirectory,
    pub embeddings: Embeddings,
    pub erasures: Erasures,
    pub events: Events,
    pub facts: Facts,
    pub insights: Statistics,
    pub jobs: Jobs,
    pub learning: Learning,
    pub oauth: Connectors,
    pub observations: Observations,
    pub policies: Policies,
    pub portraits: Portraits,
    pub queue: JobQueue,
    pub recall: Recall,
    pub removals: Removals,
    pub review: Reviews,
    pub sessions: Sessions,
    pub signatures: Signatures,
    pub spaces: Spaces,
    pub undo: OperationUndo,
    pub vault: Vault,
    pub webhooks: TenantWebhooks,
}

/// The state that modules keep in this process, and their own settings. All engines made from one
/// share it.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) embedding: Arc<EmbeddingState>,
    pub(crate) recall_caches: RecallCaches,
    pub(crate) subscriptions: Subscriptions,
    pub(crate) running: Arc<RunningJobs>,
    /// The records of retrievals that wait to be written.
    pub(crate) retrieval_log: RetrievalLog,
    pub(crate) baselines: BaselineCache,
    /// Log of erasures, replayed so that a restored backup does not bring erased data back.
    pub(crate) journal: Option<Arc<Journal>>,
    /// HTTP sender for webhook deliveries, if delivery is enabled.
    pub(crate) webhook_sender: Option<WebhookSender>,
}

impl Modules {
    pub(crate) fn new(parts: &Arc<Parts>, state: &State) -> Self {
        let parts = || parts.clone();
        let state = state.clone();
        let journal = ErasureJournal::new(parts(), state.journal);
        let signatures = Signatures::new(parts());
        let embeddings = Embeddings::new(parts(), state.embedding);
        let subscriptions = state.subscriptions;
        let transactions =
            Transactions::new(parts(), journal.clone(), subscriptions.clone(), embeddings.clone());
        let tx = || transactions.clone();
        let audit = AuditLog::new(parts());
        let policies = Policies::new(parts(), tx());
        let chat = ChatModels::new(parts(), tx());
        let queue = JobQueue::new(parts(), tx(), state.running);
        let recall = Recall::new(parts(), tx(), embeddings.clone(), state.recall_caches);
        let facts = Facts::new(parts(), tx(), policies.clone());
        let removals = Removals::new(parts(), tx(), policies.clone(), facts.clone());
        let sessions = Sessions::new(
            parts(),
            tx(),
            policies.clone(),
            embeddings.clone(),
            recall.clone(),
            removals.clone(),
        );
        let undo = OperationUndo::new(tx(), sessions.clone());
        let learning = Learning::new(
            parts(),
            tx(),
            policies.clone(),
            chat.clone(),
            recall.clone(),
            facts.clone(),
            queue.clone(),
        );
        let statements = Statements::new(
            parts(),
            tx(),
            facts.clone(),
            removals.clone(),
            recall.clone(),
            queue.clone(),
        );
        let observations = Observations::new(tx(), policies.clone(), signatures.clone());
        let consolidation = Consolidator::new(
            parts(),
            tx(),
            policies.clone(),
            chat.clone(),
            embeddings.clone(),
            observations.clone(),
        );
        let portraits = Portraits::new(parts(), tx(), policies.clone(), chat.clone());
        let webhooks = TenantWebhooks::new(parts(), state.webhook_sender);
        let erasures = Erasures::new(
            parts(),
            tx(),
            journal,
            subscriptions.clone(),
            signatures.clone(),
            removals.clone(),
        );
        let jobs = Jobs {
            parts: parts(),
            queue: queue.clone(),
            policies: policies.clone(),
            embeddings: embeddings.clone(),
            sessions: sessions.clone(),
            statements,
            learning: learning.clone(),
            removals: removals.clone(),
            erasures: erasures.clone(),
            observations: observations.clone(),
            consolidation: consolidation.clone(),
            portraits: portraits.clone(),
            webhooks: webhooks.clone(),
        };
        Self {
            archives: Archives::new(
                parts(),
                tx(),
                policies.clone(),
                embeddings.clone(),
                removals.clone(),
                sessions.clone(),
                undo.clone(),
                signatures.clone(),
                audit.clone(),
            ),
            audit: audit.clone(),
            chat,
            consents: Consents::new(parts(), tx()),
            consolidation,
            context: Contexts::new(
                parts(),
                tx(),
                recall.clone(),
                state.retrieval_log,
                state.baselines,
            ),
            credentials: Credentials::new(parts(), tx()),
            directory: TenantDirectory::new(parts()),
            embeddings,
            erasures,
            events: Events::new(tx(), subscriptions),
            facts,
            insights: Statistics::new(parts(), tx()),
            jobs,
            learning,
            oauth: Connectors::new(parts()),
            observations,
            policies: policies.clone(),
            portraits: portraits.clone(),
            queue,
            recall,
            removals,
            review: Reviews::new(tx(), policies.clone()),
            sessions: sessions.clone(),
            signatures: signatures.clone(),
            spaces: Spaces::new(parts()),
            undo,
            vault: Vault::new(parts(), tx(), sessions, portraits, signatures, audit),
            webhooks,
        }
    }
}
