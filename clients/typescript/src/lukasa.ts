import { type EventOptions, events, type LiveEvent } from "./events.ts";
import { memories } from "./memories.ts";
import type {
  AnswerView,
  ClusterView,
  CreatedWebhook,
  CreateKey,
  CreateUser,
  CreateWebhook,
  DeliveryView,
  DependentsView,
  DetectAnswer,
  DomainView,
  EditWebhook,
  EpisodeView,
  ErasurePreview,
  ImportView,
  InsightsView,
  IssuedView,
  JobView,
  KeyView,
  MemoryEvent,
  MintToken,
  ModelCalls,
  NightView,
  OperationView,
  PassView,
  PolicyPatch,
  PolicyView,
  PortraitView,
  PutDomain,
  ReceiptKey,
  Replayed,
  ReplayWebhook,
  RetrievalView,
  ReviewItem,
  SignedReceiptView,
  SignIn,
  SignInLink,
  SignInView,
  StateView,
  TakenView,
  TenantPolicyView,
  TestedWebhook,
  UndoneView,
  UserDeleted,
  UserView,
  VaultAnswer,
  VaultCommand,
  VaultFiles,
  VaultPlan,
  VaultSynced,
  VaultView,
  WebhookView,
  Written,
} from "./openapi.ts";
import { Pages } from "./pages.ts";
import { sessions } from "./sessions.ts";
import { Transport } from "./transport.ts";
import type { Method, Options, Query } from "./types.ts";

/**
 * A Lukasa server, as one caller sees it.
 *
 * ```ts
 * const lukasa = new Lukasa({ url: "http://127.0.0.1:7777", key: "lk_live_…", user: "alice" });
 * await lukasa.memories.save("Prefers window seats");
 * ```
 *
 * Every write happens once, however often it had to be sent, and answers with an operation that
 * `operations.undo` takes back. Field names are those of the API.
 */
export class Lukasa extends Transport {
  readonly memories = memories(this);
  readonly sessions = sessions(this);

  /** The same server, about somebody else. */
  for(user: string): Lukasa {
    return new Lukasa({ ...this.settings, user });
  }

  /** What happens to this person's memory, as it happens; goes on after a lost connection. */
  events(options?: EventOptions): AsyncGenerator<LiveEvent, void, undefined> {
    return events(this, options);
  }

  /** What was written, and how to take it back. */
  readonly operations = {
    list: (filter: Query<"GET", "/api/operations"> = {}, options?: Options): Pages<OperationView> =>
      new Pages((cursor = filter.cursor) =>
        this.request("GET", "/api/operations", { ...options, query: { ...filter, cursor } }),
      ),
    get: (id: string, options?: Options): Promise<OperationView> =>
      this.request("GET", "/api/operations/{id}", { ...options, path: { id } }),
    /** Takes an operation back as a whole: by its id, or by what the write answered with. */
    undo: (what: string | Written | MemoryEvent, options?: Options): Promise<Written> => {
      const id = operationOf(what);
      return this.request("POST", "/api/operations/{id}/undo", { ...options, path: { id } });
    },
  };

  /** What its person may be asked about. */
  readonly review = {
    list: async (options?: Options): Promise<ReviewItem[]> =>
      (await this.request("GET", "/api/review", { ...options })).data,
    /** Gives one of the two answers that an item carries: `item.yes` or `item.no`. */
    answer: async (answer: AnswerView, options?: Options): Promise<Written> => {
      const { method, path, body } = answer;
      const sending = { ...options, body: body ?? undefined };
      return (await this.send(method as Method, path, sending)).json();
    },
  };

  /** What is known about a person, told in sentences that cite it. */
  readonly portraits = {
    list: async (options?: Options): Promise<PortraitView[]> =>
      (await this.request("GET", "/api/portraits", { ...options })).data,
    get: (name: string, options?: Options): Promise<PortraitView> =>
      this.request("GET", "/api/portraits/{name}", { ...options, path: { name } }),
    /** Has them phrased anew now, as every night does. */
    phrase: async (options?: Options): Promise<PortraitView[]> =>
      (await this.request("POST", "/api/portraits", { ...options, body: {} })).data,
  };

  /** What may happen without asking. */
  readonly policy = {
    get: (options?: Options): Promise<PolicyView> =>
      this.request("GET", "/api/policy", { ...options }),
    /** Takes the place of what was said before. */
    put: (policy: PolicyPatch, options?: Options): Promise<PolicyView> =>
      this.request("PUT", "/api/policy", { ...options, body: policy }),
    /** The same for all users of the tenant. */
    tenant: (options?: Options): Promise<TenantPolicyView> =>
      this.request("GET", "/api/tenant/policy", { ...options }),
    putTenant: (policy: PolicyPatch, options?: Options): Promise<TenantPolicyView> =>
      this.request("PUT", "/api/tenant/policy", { ...options, body: policy }),
  };

  /** Areas of a life, some of which stay shut until their person opens them. */
  readonly domains = {
    list: async (options?: Options): Promise<DomainView[]> =>
      (await this.request("GET", "/api/domains", { ...options })).data,
    /** Which domains a message is about. */
    detect: (query: string, options?: Options): Promise<DetectAnswer> =>
      this.request("POST", "/api/domains/detect", { ...options, body: { query } }),
    put: (name: string, domain: PutDomain, options?: Options): Promise<DomainView> =>
      this.request("PUT", "/api/domains/{name}", { ...options, path: { name }, body: domain }),
    /** Takes a person's token. */
    open: (name: string, options?: Options): Promise<DomainView> =>
      this.request("PUT", "/api/domains/{name}/opt-in", { ...options, path: { name } }),
    shut: (name: string, options?: Options): Promise<DomainView> =>
      this.request("DELETE", "/api/domains/{name}/opt-in", { ...options, path: { name } }),
  };

  /** Single things that were said. */
  readonly turns = {
    delete: (id: string, options?: Options): Promise<Written> =>
      this.request("DELETE", "/api/turns/{id}", { ...options, path: { id } }),
    erase: (id: string, options?: Options): Promise<Written> =>
      this.request("POST", "/api/turns/{id}/erase", { ...options, path: { id } }),
  };

  /** What happened, in a sentence or two each. */
  readonly episodes = {
    list: (filter: Query<"GET", "/api/episodes"> = {}, options?: Options): Pages<EpisodeView> =>
      new Pages((cursor = filter.cursor) =>
        this.request("GET", "/api/episodes", { ...options, query: { ...filter, cursor } }),
      ),
    delete: (id: string, options?: Options): Promise<Written> =>
      this.request("DELETE", "/api/episodes/{id}", { ...options, path: { id } }),
  };

  /** What is being learned, what it cost, and what was given up. */
  readonly learning = {
    passes: async (
      filter: Query<"GET", "/api/passes"> = {},
      options?: Options,
    ): Promise<PassView[]> =>
      (await this.request("GET", "/api/passes", { ...options, query: filter })).data,
    jobs: async (options?: Options): Promise<JobView[]> =>
      (await this.request("GET", "/api/jobs", { ...options })).data,
    retry: (id: string, options?: Options): Promise<JobView> =>
      this.request("POST", "/api/jobs/{id}/retry", { ...options, path: { id } }),
    modelCalls: (
      filter: Query<"GET", "/api/model-calls"> = {},
      options?: Options,
    ): Promise<ModelCalls> =>
      this.request("GET", "/api/model-calls", { ...options, query: filter }),
    /** Weighs again what was learned, as every night does. */
    consolidate: ({
      dry_run,
      ...options
    }: Options & { dry_run?: boolean } = {}): Promise<NightView> =>
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

  /** What was taken in from elsewhere. */
  readonly imports = {
    list: async (options?: Options): Promise<ImportView[]> =>
      (await this.request("GET", "/api/imports", { ...options })).data,
    /** Takes in an export of Lukasa (a ZIP, as a `Blob` or bytes), or items as JSON lines. */
    take: (
      items: string | Blob | Uint8Array,
      query: Query<"POST", "/api/import"> = {},
      options?: Options,
    ): Promise<TakenView> => {
      const contentType = typeof items === "string" ? "application/jsonl" : "application/zip";
      return this.request("POST", "/api/import", { ...options, query, body: items, contentType });
    },
    undo: (id: string, options?: Options): Promise<UndoneView> =>
      this.request("POST", "/api/imports/{id}/undo", { ...options, path: { id } }),
  };

  /** Proof of what was erased. */
  readonly erasures = {
    list: async (options?: Options): Promise<SignedReceiptView[]> =>
      (await this.request("GET", "/api/erasures", { ...options })).data,
    /** The public key to verify receipts with. */
    key: (options?: Options): Promise<ReceiptKey> =>
      this.request("GET", "/receipts/key", { ...options }),
  };

  /** The tenant's users; takes an admin key. */
  readonly users = {
    list: (filter: Query<"GET", "/api/users"> = {}, options?: Options): Pages<UserView> =>
      new Pages((cursor = filter.cursor) =>
        this.request("GET", "/api/users", { ...options, query: { ...filter, cursor } }),
      ),
    create: (user: CreateUser, options?: Options): Promise<UserView> =>
      this.request("POST", "/api/users", { ...options, body: user }),
    get: (user: string, options?: Options): Promise<UserView> =>
      this.request("GET", "/api/users/{user}", { ...options, path: { user } }),
    /** Erases a user and everything kept about them, now. It cannot be undone. */
    delete: (user: string, options?: Options): Promise<UserDeleted> =>
      this.request("DELETE", "/api/users/{user}", { ...options, path: { user } }),
    previewErasure: (user: string, options?: Options): Promise<ErasurePreview> =>
      this.request("GET", "/api/users/{user}/erasure", { ...options, path: { user } }),
    erasures: async (user: string, options?: Options): Promise<SignedReceiptView[]> =>
      (await this.request("GET", "/api/users/{user}/erasures", { ...options, path: { user } }))
        .data,
  };

  /** The tenant's keys; takes an admin key. */
  readonly keys = {
    list: async (options?: Options): Promise<KeyView[]> =>
      (await this.request("GET", "/api/keys", { ...options })).data,
    /** Its secret is in this answer and nowhere else; so it is not tried again by itself. */
    create: (key: CreateKey, options?: Options): Promise<IssuedView> =>
      this.request("POST", "/api/keys", { ...options, body: key }),
    revoke: async (id: string, options?: Options): Promise<string[]> =>
      (await this.request("DELETE", "/api/keys/{id}", { ...options, path: { id } })).revoked,
    /** A short-lived token for one person's browser. */
    mintToken: (token: MintToken, options?: Options): Promise<IssuedView> =>
      this.request("POST", "/api/tokens", { ...options, body: token }),
  };

  /** Addresses that are told of every write, by ids and never by words; takes an admin key. */
  readonly webhooks = {
    list: async (options?: Options): Promise<WebhookView[]> =>
      (await this.request("GET", "/api/webhooks", { ...options })).data,
    /** Its secret, which deliveries are signed with, is in this answer and nowhere else. */
    create: (webhook: CreateWebhook, options?: Options): Promise<CreatedWebhook> =>
      this.request("POST", "/api/webhooks", { ...options, body: webhook }),
    /** Switched on again, it is told of what it missed. */
    edit: (id: string, change: EditWebhook, options?: Options): Promise<WebhookView> =>
      this.request("PATCH", "/api/webhooks/{id}", { ...options, path: { id }, body: change }),
    delete: (id: string, options?: Options): Promise<void> =>
      this.request("DELETE", "/api/webhooks/{id}", { ...options, path: { id } }),
    /** Sends a test now, and tells how it was answered. */
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

  /** Who is looking, for a page of the server's own: a browser holds the sign-in in its cookie. */
  readonly signIn = {
    get: (options?: Options): Promise<SignInView> =>
      this.request("GET", "/api/sign-in", { ...options }),
    /** Signs in with a key and a user, or with a link; or goes on to another user. */
    enter: (how: SignIn, options?: Options): Promise<SignInView> =>
      this.request("POST", "/api/sign-in", { ...options, body: how }),
    leave: (options?: Options): Promise<void> =>
      this.request("DELETE", "/api/sign-in", { ...options }),
    /** A link that signs one person in, once; takes an admin key. */
    link: (user: string, options?: Options): Promise<SignInLink> =>
      this.request("POST", "/api/sign-in/links", { ...options, body: { user } }),
  };

  /** How a memory has grown, been used and been corrected, day by day; the last thirty if absent. */
  insights(days?: number, options?: Options): Promise<InsightsView> {
    return this.request("GET", "/api/insights", { ...options, query: { days } });
  }

  /** Which memories belong together. */
  async clusters(options?: Options): Promise<ClusterView[]> {
    return (await this.request("GET", "/api/clusters", { ...options })).data;
  }

  /** What rests on a turn, an episode or a session, before it is deleted. */
  dependents(source: Query<"GET", "/api/dependents">, options?: Options): Promise<DependentsView> {
    return this.request("GET", "/api/dependents", { ...options, query: source });
  }

  /** A context that was given, with its trace. */
  retrieval(retrieval_id: string, options?: Options): Promise<RetrievalView> {
    const input = { ...options, path: { retrieval_id } };
    return this.request("GET", "/api/retrievals/{retrieval_id}", input);
  }

  /** How much is held, and what it hashes to: equal hashes are equal memories. */
  state(options?: Options): Promise<StateView> {
    return this.request("GET", "/api/state", { ...options });
  }

  /** Everything that is kept about the user, as one ZIP. */
  export(options?: Options): Promise<Blob> {
    return this.request("GET", "/api/export", { ...options });
  }

  /** Whether the server can serve: its database answers. */
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

function operationOf(what: string | Written | MemoryEvent): string {
  if (typeof what === "string") return what;
  const event = "event" in what ? what.event : what;
  if (!event.operation_id) throw new TypeError("nothing was written, so there is nothing to undo");
  return event.operation_id;
}
