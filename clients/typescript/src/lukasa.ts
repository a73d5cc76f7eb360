import { type EventOptions, events, type LiveEvent } from "./events.ts";
import { memories } from "./memories.ts";
import type {
  AnswerResult,
  AnswerView,
  AuditPage,
  ClusterView,
  ConsolidationReportView,
  CreatedWebhook,
  CreateKey,
  CreateUser,
  CreateWebhook,
  DecideImport,
  DeliveryView,
  DependentsView,
  DetectAnswer,
  DomainView,
  EditedEpisodeView,
  EditWebhook,
  EpisodeView,
  ErasurePreview,
  HomeView,
  ImportDecisionView,
  ImportReportView,
  ImportView,
  InsightsView,
  IssuedView,
  JobView,
  KeyView,
  MemoryEvent,
  MintToken,
  ModelCalls,
  ObservationView,
  OperationView,
  PassView,
  PolicyPatch,
  PolicyView,
  PortraitView,
  PutDomain,
  ReceiptKey,
  RecordedObservations,
  RecordObservation,
  Replayed,
  ReplayWebhook,
  RetrievalView,
  ReviewAnswer,
  ReviewItem,
  ReviewView,
  SignedReceiptView,
  SignIn,
  SignInEntry,
  SignInLink,
  SignInMethods,
  SignInView,
  StateView,
  TenantPolicyView,
  TestedWebhook,
  UndoneView,
  UpdateEpisode,
  UserDeleted,
  UserView,
  VaultAnswer,
  VaultCommand,
  VaultFiles,
  VaultPlan,
  VaultSynced,
  VaultView,
  WebhookView,
  WriteResult,
} from "./openapi.ts";
import { Pages } from "./pages.ts";
import { sessions } from "./sessions.ts";
import { Transport } from "./transport.ts";
import type { Method, Options, Query } from "./types.ts";

/**
 * A client of a Lukasa server for one caller.
 *
 * ```ts
 * const lukasa = new Lukasa({ url: "http://127.0.0.1:7777", key: "lk_live_…", user: "alice" });
 * await lukasa.memories.save("Prefers window seats");
 * ```
 *
 * A write about memories, sessions or jobs happens once, even if it is sent repeatedly. One that changes memories
 * returns an operation that `operations.undo` undoes; erasing cannot be undone. Field names are those of the API.
 */
export class Lukasa extends Transport {
  readonly memories = memories(this);
  readonly sessions = sessions(this);

  /** A client of the same server for another user. */
  forUser(user: string): Lukasa {
    return new Lukasa({ ...this.settings, user });
  }

  /** Live events of the user's memory; reconnects after a lost connection. */
  events(options?: EventOptions): AsyncGenerator<LiveEvent, void, undefined> {
    return events(this, options);
  }

  /** The log of writes, and undo. */
  readonly operations = {
    list: (filter: Query<"GET", "/api/operations"> = {}, options?: Options): Pages<OperationView> =>
      new Pages((cursor = filter.cursor) =>
        this.request("GET", "/api/operations", { ...options, query: { ...filter, cursor } }),
      ),
    get: (id: string, options?: Options): Promise<OperationView> =>
      this.request("GET", "/api/operations/{id}", { ...options, path: { id } }),
    /** Undoes an operation as a whole, given its id or the response of the write. */
    undo: (what: string | WriteResult | MemoryEvent, options?: Options): Promise<WriteResult> => {
      const id = operationOf(what);
      return this.request("POST", "/api/operations/{id}/undo", { ...options, path: { id } });
    },
  };

  /** Review items: questions for the user. */
  readonly review = {
    list: async (options?: Options): Promise<ReviewItem[]> =>
      (await this.request("GET", "/api/review", { ...options })).data,
    /** The review items, and the domains that the user mentioned and has not opened. */
    get: (options?: Options): Promise<ReviewView> =>
      this.request("GET", "/api/review", { ...options }),
    /** Sends one of the answers of an item: `item.yes`, `item.no` or, if there is one, `item.both`. */
    answer: async (answer: AnswerView, options?: Options): Promise<WriteResult> => {
      const { method, path, body } = answer;
      const sending = { ...options, body: body ?? undefined };
      return (await this.send(method as Method, path, sending)).json();
    },
    /** Sends up to 200 answers together; each has a result of its own, in the same order. */
    answerAll: async (answers: ReviewAnswer[], options?: Options): Promise<AnswerResult[]> =>
      (await this.request("POST", "/api/review/answers", { ...options, body: { answers } })).data,
  };

  /** Portraits: texts about the user in which every sentence cites memories. */
  readonly portraits = {
    list: async (options?: Options): Promise<PortraitView[]> =>
      (await this.request("GET", "/api/portraits", { ...options })).data,
    get: (name: string, options?: Options): Promise<PortraitView> =>
      this.request("GET", "/api/portraits/{name}", { ...options, path: { name } }),
    /** Rewrites the portraits now, as the consolidation run does. */
    phrase: async (options?: Options): Promise<PortraitView[]> =>
      (await this.request("POST", "/api/portraits", { ...options, body: {} })).data,
  };

  /** The policy: what may happen without asking the user. */
  readonly policy = {
    get: (options?: Options): Promise<PolicyView> =>
      this.request("GET", "/api/policy", { ...options }),
    /** Replaces the user's policy. */
    put: (policy: PolicyPatch, options?: Options): Promise<PolicyView> =>
      this.request("PUT", "/api/policy", { ...options, body: policy }),
    /** The policy for all users of the tenant. */
    tenant: (options?: Options): Promise<TenantPolicyView> =>
      this.request("GET", "/api/tenant/policy", { ...options }),
    putTenant: (policy: PolicyPatch, options?: Options): Promise<TenantPolicyView> =>
      this.request("PUT", "/api/tenant/policy", { ...options, body: policy }),
  };

  /** Domains (areas of life); sensitive ones are off until the user opts in. */
  readonly domains = {
    list: async (options?: Options): Promise<DomainView[]> =>
      (await this.request("GET", "/api/domains", { ...options })).data,
    /** Detects the domains of a message. */
    detect: (query: string, options?: Options): Promise<DetectAnswer> =>
      this.request("POST", "/api/domains/detect", { ...options, body: { query } }),
    put: (name: string, domain: PutDomain, options?: Options): Promise<DomainView> =>
      this.request("PUT", "/api/domains/{name}", { ...options, path: { name }, body: domain }),
    /** Opts in to a domain; needs a token of the user. */
    open: (name: string, options?: Options): Promise<DomainView> =>
      this.request("PUT", "/api/domains/{name}/opt-in", { ...options, path: { name } }),
    close: (name: string, options?: Options): Promise<DomainView> =>
      this.request("DELETE", "/api/domains/{name}/opt-in", { ...options, path: { name } }),
    /** Opens a domain, and lets what is inferred about it be used; needs a token of the user. */
    consent: (name: string, options?: Options): Promise<WriteResult> =>
      this.request("PUT", "/api/domains/{name}/consent", { ...options, path: { name } }),
    /** Withdraws that consent; the domain stays open. */
    withdrawConsent: (name: string, options?: Options): Promise<WriteResult> =>
      this.request("DELETE", "/api/domains/{name}/consent", { ...options, path: { name } }),
  };

  /** Single turns. */
  readonly turns = {
    delete: (id: string, options?: Options): Promise<WriteResult> =>
      this.request("DELETE", "/api/turns/{id}", { ...options, path: { id } }),
    erase: (id: string, options?: Options): Promise<WriteResult> =>
      this.request("POST", "/api/turns/{id}/erase", { ...options, path: { id } }),
    /** Keeps an assistant's reply as a note. Only the user can do it. */
    keepReply: (id: string, options?: Options): Promise<WriteResult> =>
      this.request("POST", "/api/turns/{id}/note", { ...options, path: { id } }),
  };

  /** Episodes: summaries of one or two sentences. */
  readonly episodes = {
    list: (filter: Query<"GET", "/api/episodes"> = {}, options?: Options): Pages<EpisodeView> =>
      new Pages((cursor = filter.cursor) =>
        this.request("GET", "/api/episodes", { ...options, query: { ...filter, cursor } }),
      ),
    /** Replaces the title or the summary by the user's words; the edited episode has another id. */
    update: (id: string, words: UpdateEpisode, options?: Options): Promise<EditedEpisodeView> =>
      this.request("PATCH", "/api/episodes/{id}", { ...options, path: { id }, body: words }),
    delete: (id: string, options?: Options): Promise<WriteResult> =>
      this.request("DELETE", "/api/episodes/{id}", { ...options, path: { id } }),
  };

  /** Observations: raw events of other applications and of agents. */
  readonly observations = {
    /** Records between 1 and 100 events: all of them or none. */
    record: (
      events: RecordObservation | RecordObservation[],
      options?: Options,
    ): Promise<RecordedObservations> =>
      this.request("POST", "/api/observations", {
        ...options,
        body: { observations: Array.isArray(events) ? events : [events] },
      }),
    list: (
      filter: Query<"GET", "/api/observations"> = {},
      options?: Options,
    ): Pages<ObservationView> =>
      new Pages((cursor = filter.cursor) =>
        this.request("GET", "/api/observations", { ...options, query: { ...filter, cursor } }),
      ),
    delete: (id: string, options?: Options): Promise<WriteResult> =>
      this.request("DELETE", "/api/observations/{id}", { ...options, path: { id } }),
    erase: (id: string, options?: Options): Promise<WriteResult> =>
      this.request("POST", "/api/observations/{id}/erase", { ...options, path: { id } }),
    /** Deletes the oldest 1,000 events of a source. */
    deleteSource: (source: string, options?: Options): Promise<WriteResult> =>
      this.request("DELETE", "/api/observations", { ...options, query: { source } }),
  };

  /** Learning: passes, jobs, model calls and consolidation. */
  readonly learning = {
    passes: async (
      filter: Query<"GET", "/api/passes"> = {},
      options?: Options,
    ): Promise<PassView[]> =>
      (await this.request("GET", "/api/passes", { ...options, query: filter })).data,
    /** Saves what a pass left out as a memory. Only the user can do it. */
    keep: (id: string, place: number, options?: Options): Promise<WriteResult> =>
      this.request("POST", "/api/passes/{id}/left-out/{place}/keep", {
        ...options,
        path: { id, place },
      }),
    jobs: async (options?: Options): Promise<JobView[]> =>
      (await this.request("GET", "/api/jobs", { ...options })).data,
    retry: (id: string, options?: Options): Promise<JobView> =>
      this.request("POST", "/api/jobs/{id}/retry", { ...options, path: { id } }),
    modelCalls: (
      filter: Query<"GET", "/api/model-calls"> = {},
      options?: Options,
    ): Promise<ModelCalls> =>
      this.request("GET", "/api/model-calls", { ...options, query: filter }),
    /** Runs the consolidation now: re-evaluates what was learned. */
    consolidate: ({
      dry_run,
      ...options
    }: Options & { dry_run?: boolean } = {}): Promise<ConsolidationReportView> =>
      this.request("POST", "/api/consolidate", { ...options, body: { dry_run: dry_run ?? false } }),
  };

  /** A memory as a folder of markdown files that can be edited and put back. */
  readonly vault = {
    get: (options?: Options): Promise<VaultView> =>
      this.request("GET", "/api/vault", { ...options }),
    plan: (files: VaultFiles, options?: Options): Promise<VaultPlan> =>
      this.request("POST", "/api/vault/plan", { ...options, body: files }),
    sync: (files: VaultFiles, options?: Options): Promise<VaultSynced> =>
      this.request("POST", "/api/vault", { ...options, body: files }),
    /** One command of the memory tool (`memory_20250818`). */
    run: (command: VaultCommand, options?: Options): Promise<VaultAnswer> =>
      this.request("POST", "/api/vault/commands", { ...options, body: command }),
  };

  /** Imports. */
  readonly imports = {
    list: async (options?: Options): Promise<ImportView[]> =>
      (await this.request("GET", "/api/imports", { ...options })).data,
    /** Imports a Lukasa export (a ZIP, as a `Blob` or bytes), or items as JSON lines. */
    create: (
      items: string | Blob | Uint8Array,
      query: Query<"POST", "/api/import"> = {},
      options?: Options,
    ): Promise<ImportReportView> => {
      const contentType = typeof items === "string" ? "application/jsonl" : "application/zip";
      return this.request("POST", "/api/import", { ...options, query, body: items, contentType });
    },
    /** The ids of the memories of an import that wait for the user's decision, at most 1,000. */
    undecided: async (id: string, options?: Options): Promise<string[]> =>
      (await this.request("GET", "/api/imports/{id}/undecided", { ...options, path: { id } }))
        .memory_ids,
    /** Decides which memories of an import are used in prompts: all that wait, or the chosen ones. */
    decide: (id: string, decision: DecideImport, options?: Options): Promise<ImportDecisionView> =>
      this.request("POST", "/api/imports/{id}/decision", {
        ...options,
        path: { id },
        body: decision,
      }),
    undo: (id: string, options?: Options): Promise<UndoneView> =>
      this.request("POST", "/api/imports/{id}/undo", { ...options, path: { id } }),
  };

  /** Receipts of erasures. */
  readonly erasures = {
    list: async (options?: Options): Promise<SignedReceiptView[]> =>
      (await this.request("GET", "/api/erasures", { ...options })).data,
    /** The public key to verify receipts with. */
    key: (options?: Options): Promise<ReceiptKey> =>
      this.request("GET", "/receipts/key", { ...options }),
  };

  /** The tenant's users; needs an admin key. */
  readonly users = {
    list: (filter: Query<"GET", "/api/users"> = {}, options?: Options): Pages<UserView> =>
      new Pages((cursor = filter.cursor) =>
        this.request("GET", "/api/users", { ...options, query: { ...filter, cursor } }),
      ),
    create: (user: CreateUser, options?: Options): Promise<UserView> =>
      this.request("POST", "/api/users", { ...options, body: user }),
    get: (user: string, options?: Options): Promise<UserView> =>
      this.request("GET", "/api/users/{user}", { ...options, path: { user } }),
    /** Erases a user and everything stored about them, now. It cannot be undone. */
    delete: (user: string, options?: Options): Promise<UserDeleted> =>
      this.request("DELETE", "/api/users/{user}", { ...options, path: { user } }),
    previewErasure: (user: string, options?: Options): Promise<ErasurePreview> =>
      this.request("GET", "/api/users/{user}/erasure", { ...options, path: { user } }),
    erasures: async (user: string, options?: Options): Promise<SignedReceiptView[]> =>
      (await this.request("GET", "/api/users/{user}/erasures", { ...options, path: { user } }))
        .data,
  };

  /** The tenant's keys; needs an admin key. */
  readonly keys = {
    list: async (options?: Options): Promise<KeyView[]> =>
      (await this.request("GET", "/api/keys", { ...options })).data,
    /** The secret is only in this response, so the request is not retried automatically. */
    create: (key: CreateKey, options?: Options): Promise<IssuedView> =>
      this.request("POST", "/api/keys", { ...options, body: key }),
    revoke: async (id: string, options?: Options): Promise<string[]> =>
      (await this.request("DELETE", "/api/keys/{id}", { ...options, path: { id } })).revoked,
    /** Mints a short-lived token for the browser of one user. */
    mintToken: (token: MintToken, options?: Options): Promise<IssuedView> =>
      this.request("POST", "/api/tokens", { ...options, body: token }),
  };

  /** The audit log of the tenant, newest first; needs an admin key. */
  readonly audit = {
    list: (
      filter: Query<"GET", "/api/audit"> = {},
      options?: Options,
    ): Pages<AuditPage["data"][number]> =>
      new Pages((cursor = filter.cursor) =>
        this.request("GET", "/api/audit", { ...options, query: { ...filter, cursor } }),
      ),
  };

  /** Active sign-ins, tokens, links and connected assistants: a user's own, of the tenant for an administrator. */
  readonly signIns = {
    list: async (
      query: Query<"GET", "/api/sign-ins"> = {},
      options?: Options,
    ): Promise<SignInEntry[]> =>
      (await this.request("GET", "/api/sign-ins", { ...options, query })).data,
    /** Ends one, with everything made from it. */
    end: async (id: string, options?: Options): Promise<string[]> =>
      (await this.request("DELETE", "/api/sign-ins/{id}", { ...options, path: { id } })).revoked,
  };

  /** Webhooks: endpoints that receive the ids and verbs of every write, never text; needs an admin key. */
  readonly webhooks = {
    list: async (options?: Options): Promise<WebhookView[]> =>
      (await this.request("GET", "/api/webhooks", { ...options })).data,
    /** The secret, which signs deliveries, is only in this response. */
    create: (webhook: CreateWebhook, options?: Options): Promise<CreatedWebhook> =>
      this.request("POST", "/api/webhooks", { ...options, body: webhook }),
    /** Changes a webhook. Once enabled again, it receives what it missed. */
    edit: (id: string, change: EditWebhook, options?: Options): Promise<WebhookView> =>
      this.request("PATCH", "/api/webhooks/{id}", { ...options, path: { id }, body: change }),
    delete: (id: string, options?: Options): Promise<void> =>
      this.request("DELETE", "/api/webhooks/{id}", { ...options, path: { id } }),
    /** Sends a test now, and returns its result. */
    test: (id: string, options?: Options): Promise<TestedWebhook> =>
      this.request("POST", "/api/webhooks/{id}/test", { ...options, path: { id } }),
    deliveries: async (
      id: string,
      filter: Query<"GET", "/api/webhooks/{id}/deliveries"> = {},
      options?: Options,
    ): Promise<DeliveryView[]> => {
      const input = { ...options, path: { id }, query: filter };
      return (await this.request("GET", "/api/webhooks/{id}/deliveries", input)).data;
    },
    /** Sends one delivery again, or everything since a time. */
    replay: (id: string, what: ReplayWebhook, options?: Options): Promise<Replayed> =>
      this.request("POST", "/api/webhooks/{id}/replay", { ...options, path: { id }, body: what }),
  };

  /** The console sign-in, which a browser holds in a cookie. */
  readonly signIn = {
    get: (options?: Options): Promise<SignInView> =>
      this.request("GET", "/api/sign-in", { ...options }),
    /** Signs in with a key and a user, or with a link; or switches to another user. */
    create: (how: SignIn, options?: Options): Promise<SignInView> =>
      this.request("POST", "/api/sign-in", { ...options, body: how }),
    /** The identity providers that users can sign in with. */
    methods: (options?: Options): Promise<SignInMethods> =>
      this.request("GET", "/api/sign-in/methods", { ...options }),
    end: (options?: Options): Promise<void> =>
      this.request("DELETE", "/api/sign-in", { ...options }),
    /** Creates a link that signs one user in, once; needs an admin key. */
    link: (user: string, options?: Options): Promise<SignInLink> =>
      this.request("POST", "/api/sign-in/links", { ...options, body: { user } }),
  };

  /** Daily counts of growth, use and corrections; of the last 30 days by default. */
  insights(days?: number, options?: Options): Promise<InsightsView> {
    return this.request("GET", "/api/insights", { ...options, query: { days } });
  }

  /** Groups of related memories. */
  async clusters(options?: Options): Promise<ClusterView[]> {
    return (await this.request("GET", "/api/clusters", { ...options })).data;
  }

  /** What depends on a turn, an episode or a session, before it is deleted. */
  dependents(source: Query<"GET", "/api/dependents">, options?: Options): Promise<DependentsView> {
    return this.request("GET", "/api/dependents", { ...options, query: source });
  }

  /** A stored retrieval with its trace. */
  retrieval(retrieval_id: string, options?: Options): Promise<RetrievalView> {
    const input = { ...options, path: { retrieval_id } };
    return this.request("GET", "/api/retrievals/{retrieval_id}", input);
  }

  /** What the first screen of a console shows, in one answer. */
  home(options?: Options): Promise<HomeView> {
    return this.request("GET", "/api/home", { ...options });
  }

  /** Counts and a hash of the memory: equal hashes mean equal memories. */
  state(options?: Options): Promise<StateView> {
    return this.request("GET", "/api/state", { ...options });
  }

  /** Everything stored about the user, as one ZIP. */
  export(options?: Options): Promise<Blob> {
    return this.request("GET", "/api/export", { ...options });
  }

  /** Whether the server is ready, including its database. */
  async ready(options?: Options): Promise<boolean> {
    try {
      await this.request("GET", "/readyz", { retries: 0, ...options });
      return true;
    } catch (error) {
      if (options?.signal?.aborted) throw error;
      return false;
    }
  }
}

function operationOf(what: string | WriteResult | MemoryEvent): string {
  if (typeof what === "string") return what;
  const event = "event" in what ? what.event : what;
  if (!event.operation_id) throw new TypeError("nothing was written, so there is nothing to undo");
  return event.operation_id;
}
