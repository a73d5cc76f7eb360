// Generated from openapi.json by `npm run generate`; not to be edited.

export interface paths {
    "/api/memory": {
        /**
         * What do you know about me?
         * @description Lists memories, newest first. With `as_of` and `known_at` it answers for any point on both time
         *     axes, and the same pair always gives the same list. `status=all` hides nothing.
         */
        get: operations["list_memories"];
        /**
         * Remember this.
         * @description The memory is active at once. Saying the same again returns the memory that is there. With
         *     `similar=true` the answer also lists what it may be repeating: update that one instead, or keep
         *     both.
         */
        post: operations["save_memory"];
    };
    "/api/memory/search": {
        /**
         * Find what bears on a message.
         * @description Keyword, meaning, links and time look at everything the user's memory holds, and their scores are
         *     fused. With `as_of` and `known_at` it answers for any point on both time axes.
         */
        post: operations["search_memories"];
    };
    "/api/memory/retrieve": {
        /**
         * The context for a message.
         * @description A baseline that stays the same for the session, then what bears on this message, inside one
         *     budget, with a mark on every line to cite it by. The answer comes in time even if something
         *     behind it does not: `degraded` says what had to be done without.
         */
        post: operations["retrieve_context"];
    };
    "/api/memory/usage": {
        /**
         * What was used, and when?
         * @description Kept for 90 days.
         */
        get: operations["list_usage"];
        /**
         * Say what came of a memory.
         * @description That a memory was put into a prompt is noted by itself.
         */
        post: operations["report_usage"];
    };
    "/api/memory/stats": {
        /** Counts over a memory and its use. */
        get: operations["get_stats"];
    };
    "/api/insights": {
        /** How has this memory grown, been used and been corrected? */
        get: operations["get_insights"];
    };
    "/api/memory/propose": {
        /**
         * Propose a memory.
         * @description It is stored and visible to its person, and never active until they say yes to its words.
         */
        post: operations["propose_memory"];
    };
    "/api/memory/proposals": {
        /** What waits for an answer. */
        get: operations["list_proposals"];
    };
    "/api/memory/contradictions": {
        /** What contradicts what? */
        get: operations["list_contradictions"];
    };
    "/api/memory/{id}/resolve": {
        /**
         * Say which of two contradicting memories is true.
         * @description Named by the one that waits. Only a human can say it. If the waiting one is true it takes the
         *     other's place; the whole is one operation that can be undone.
         */
        post: operations["resolve_contradiction"];
    };
    "/api/memory/purge": {
        /** Remove for good what has lain in the trash for thirty days. */
        post: operations["purge_trash"];
    };
    "/api/memory/{id}": {
        /** One memory, now or at a point on both time axes. */
        get: operations["get_memory"];
        /**
         * Delete this.
         * @description Moves the memory into the trash. It can be restored for thirty days and is then removed for good.
         */
        delete: operations["delete_memory"];
        /**
         * Change or correct a memory.
         * @description Nothing is overwritten: a new version is opened and the old one closed, on both time axes. With
         *     `If-Match` the update happens only if nobody else was quicker.
         */
        patch: operations["update_memory"];
    };
    "/api/memory/{id}/history": {
        /** Every version a memory ever had. */
        get: operations["get_memory_history"];
    };
    "/api/memory/{id}/confirm": {
        /**
         * Answer a proposal, or say that a memory still holds.
         * @description A proposal becomes active only by a human's yes (a user token, or the person on their own
         *     machine) to exactly the words that were shown. On an active memory it records the affirmation.
         */
        post: operations["confirm_memory"];
    };
    "/api/memory/{id}/forget": {
        /**
         * Forget this.
         * @description Ends the memory now. It is never put into a prompt again, stays in the history, and can be
         *     restored.
         */
        post: operations["forget_memory"];
    };
    "/api/memory/{id}/restore": {
        /** Bring back what was forgotten or deleted, exactly as it was. */
        post: operations["restore_memory"];
    };
    "/api/memory/{id}/erase": {
        /**
         * Erase this, now and everywhere.
         * @description Removes every version, link and piece of evidence and the kept answers that quote it. What stays
         *     is a receipt that says how much was removed, and nothing of what it said. It cannot be undone.
         */
        post: operations["erase_memory"];
    };
    "/api/memory/{id}/erasure": {
        /** What erasing a memory would remove, without removing anything. */
        get: operations["preview_erasure"];
    };
    "/api/erasures": {
        /** The receipts of memories that were erased, newest first, each as it stands now. */
        get: operations["list_erasures"];
    };
    "/receipts/key": {
        /**
         * The public key to verify receipts with. Keep a copy: a receipt is checked against the key you know,
         *     not against the one it brings along.
         */
        get: operations["get_receipt_key"];
    };
    "/api/memory/{id}/links": {
        /** The links of a memory. */
        get: operations["list_links"];
        /** Link two memories. */
        post: operations["link_memories"];
    };
    "/api/memory/{id}/links/{link_id}": {
        /** End a link. */
        delete: operations["unlink_memories"];
    };
    "/api/operations": {
        /** What was written, newest first. */
        get: operations["list_operations"];
    };
    "/api/operations/{id}": {
        /** One operation. */
        get: operations["get_operation"];
    };
    "/api/operations/{id}/undo": {
        /**
         * Undo an operation as a whole.
         * @description Everything it closed is open again and everything it opened is closed. The undo is itself an
         *     operation, so it can be undone.
         */
        post: operations["undo_operation"];
    };
    "/api/events": {
        /**
         * Hear of operations as they happen.
         * @description Server-sent events, one for each operation, in order: `event` is the verb, `data` the operation as
         *     `GET /api/operations/{id}` shows it, `id` a place in the log. Sending the last `id` back as
         *     `Last-Event-ID` goes on after it, without a gap and without anything twice. Without one the stream
         *     begins now, and its first line gives the place to come back to.
         */
        get: operations["stream_events"];
    };
    "/api/sessions": {
        /** List sessions. */
        get: operations["list_sessions"];
        /**
         * Open a session.
         * @description Opening one that is there gives the one that is there. Appending opens it too.
         */
        post: operations["open_session"];
    };
    "/api/sessions/search": {
        /** Search in all chats. */
        get: operations["search_sessions"];
    };
    "/api/sessions/{session_id}": {
        /** Get a session. */
        get: operations["get_session"];
        /**
         * Move a session to the trash.
         * @description What was said in it is found no more, and what was learned from it alone goes with it. It can be
         *     restored for thirty days.
         */
        delete: operations["delete_session"];
        /** Rename a session, put it aside or take it up again. */
        patch: operations["edit_session"];
    };
    "/api/sessions/{session_id}/turns": {
        /** List the turns of a session. */
        get: operations["list_turns"];
        /**
         * Append turns.
         * @description The session is opened if it is not there. Turns are never changed afterwards, and are found by
         *     recall as soon as this answers. With an `Idempotency-Key` they are appended once.
         */
        post: operations["append_turns"];
    };
    "/api/sessions/{session_id}/close": {
        /**
         * Close a session.
         * @description What was said since the last time is learned from, if a chat model is set up. Closing a session
         *     that is closed does nothing. Speaking in it again makes it active.
         */
        post: operations["close_session"];
    };
    "/api/sessions/{session_id}/learn": {
        /**
         * Learn from a session now.
         * @description Open or closed, whatever the policy says. Turns that were learned from are not read again.
         */
        post: operations["learn_session"];
    };
    "/api/sessions/{session_id}/restore": {
        /** Take a session out of the trash. */
        post: operations["restore_session"];
    };
    "/api/sessions/{session_id}/window": {
        /**
         * A chat, cut to a model's window.
         * @description Once it fills most of the budget, the early turns come as a summary. No turn is deleted, and no
         *     model is asked while you wait: the summary is made behind.
         */
        get: operations["get_window"];
    };
    "/api/sessions/{session_id}/turns/{number}/why": {
        /**
         * Why did you say this?
         * @description The memories that a turn says it used, then those it had been given, as they were known then.
         */
        get: operations["get_why"];
    };
    "/api/beacon": {
        /**
         * Close a session from a page that is going away.
         * @description For `navigator.sendBeacon`, which sends text without headers and waits for no answer. The answer
         *     says nothing about the session.
         */
        post: operations["beacon"];
    };
    "/api/episodes": {
        /** What happened, and when? */
        get: operations["list_episodes"];
    };
    "/api/dependents": {
        /**
         * What depends on this? Shows, before a turn, an episode or a whole session is deleted, which memories
         *     would go with it, which would rest on less, and which stay because their person said them.
         */
        get: operations["list_dependents"];
    };
    "/api/turns/{id}": {
        /**
         * Delete something that was said.
         * @description The turn, what was told of it and every memory that rests on it alone go into the trash together;
         *     memories with other support rest on that. Undo brings all of it back; after thirty days it is
         *     removed for good. See first what would go with `GET /api/dependents`.
         */
        delete: operations["delete_turn"];
    };
    "/api/turns/{id}/erase": {
        /**
         * Erase something that was said, now and everywhere.
         * @description Like deleting it, but nothing can be brought back, and no quotation of it stays anywhere.
         */
        post: operations["erase_turn"];
    };
    "/api/sessions/{session_id}/erase": {
        /** Erase a whole session, now and everywhere, with what was learned from it alone. */
        post: operations["erase_session"];
    };
    "/api/episodes/{id}": {
        /**
         * Delete what was told of something that happened.
         * @description The episode and every memory that rests on its turns alone go into the trash together; what was said
         *     stays. Undo brings all of it back.
         */
        delete: operations["delete_episode"];
    };
    "/api/passes": {
        /** What was learned from which turns, and what was not? */
        get: operations["list_passes"];
    };
    "/api/jobs": {
        /** What waits to be done, and what was given up? */
        get: operations["list_jobs"];
    };
    "/api/jobs/{id}/retry": {
        /** Try a job again that was given up. */
        post: operations["retry_job"];
    };
    "/api/model-calls": {
        /** What were chat models asked, and what did it cost? */
        get: operations["list_model_calls"];
    };
    "/api/consolidate": {
        /**
         * Weigh again what was learned, as every night does: what was said often rises, what use has shown
         *     to be wrong sinks, guesses that nothing supports go, what ended long ago is put into the trash, and
         *     what the person talks about lately is noted for a month. No words change, and undo takes all of it
         *     back.
         */
        post: operations["consolidate"];
    };
    "/api/review": {
        /**
         * What should I look at? What waits for a yes, what contradicts what, what may not be true any more,
         *     what is only a guess, and what was learned in the last thirty days. Each item says how to answer it
         *     in one call.
         */
        get: operations["get_review"];
    };
    "/api/portraits": {
        /**
         * What do you know about me? Every portrait: who the person is, how to help them, what they are at,
         *     and one for each domain that something is known about. Reading asks no model: what one phrased
         *     before is shown as far as it still holds, and the memories' own words say the rest.
         */
        get: operations["list_portraits"];
        /**
         * Have the portraits phrased anew now, as every night does: a model is asked about those whose
         *     memories have changed, if one is set up. It may say only what the memories it cites say; whatever
         *     else it says is dropped. Answers with all of them.
         */
        post: operations["phrase_portraits"];
    };
    "/api/portraits/{name}": {
        /** One portrait by its name. */
        get: operations["get_portrait"];
    };
    "/api/clusters": {
        /**
         * Which memories belong together? They are grouped by their links and by the rare words they share,
         *     the largest group first; a memory that stands alone is in none. Worked out each time it is asked.
         */
        get: operations["list_clusters"];
    };
    "/api/state": {
        /**
         * How much is held about the user, and what it hashes to. Two answers with the same hashes hold the
         *     same memory: compare them before and after an undo, a restore or a move to another server.
         */
        get: operations["get_state"];
    };
    "/api/export": {
        /**
         * Everything that is kept about the user, as one ZIP: JSON lines for programs, markdown for people, and
         *     a manifest with the SHA-256 of every file. `docs/moving.md` says what each field means.
         */
        get: operations["export"];
    };
    "/api/import": {
        /**
         * Take memories and chats in: an export of Lukasa as a ZIP, or up to 500 items of another program as JSON
         *     lines. Nothing comes in twice, and nothing comes back that was put away since.
         */
        post: operations["import"];
    };
    "/api/imports": {
        /** The latest imports, the newest first. */
        get: operations["list_imports"];
    };
    "/api/imports/{id}/undo": {
        /**
         * Take an import back: its memories are undone, its chats go into the trash. What was changed since
         *     stays as it is.
         */
        post: operations["undo_import"];
    };
    "/api/vault": {
        /**
         * All of a memory as markdown files, to read, edit and keep; `.lukasa/base.jsonl` holds what the lines
         *     do not show, so that nothing is lost on the way back.
         */
        get: operations["get_vault"];
        /**
         * Take in what was edited in these files, as one operation. What was edited here too is left alone in
         *     both places; what is unchanged writes nothing. Into an empty memory everything comes back.
         */
        post: operations["sync_vault"];
    };
    "/api/vault/plan": {
        /**
         * What a sync of these files would do: what was edited since they were given out, and what was edited
         *     here and there. Writes nothing.
         */
        post: operations["plan_vault"];
    };
    "/api/vault/commands": {
        /**
         * Carry out one command of the memory tool (`memory_20250818`) on the files of the vault, with paths
         *     under `/memories`. An edit is a versioned change, deleting is forgetting, and undo takes each
         *     command back.
         */
        post: operations["run_vault_command"];
    };
    "/api/policy": {
        /** What may happen without asking? */
        get: operations["get_policy"];
        /**
         * Say what may happen without asking.
         * @description Takes the place of what the user said before; what they leave out is the tenant's to say.
         */
        put: operations["put_policy"];
    };
    "/api/tenant/policy": {
        /** What may happen to all users of the tenant without asking? */
        get: operations["get_tenant_policy"];
        /** Say it for all users of the tenant. */
        put: operations["put_tenant_policy"];
    };
    "/api/sessions/{session_id}/context": {
        /** What was this session given? */
        get: operations["get_session_context"];
    };
    "/api/retrievals/{retrieval_id}": {
        /** Get a retrieval with its trace. */
        get: operations["get_retrieval"];
    };
    "/api/domains/detect": {
        /** Which domains is this message about? */
        post: operations["detect_domains"];
    };
    "/api/domains": {
        /** Every domain, and which of them the person has opened. */
        get: operations["list_domains"];
    };
    "/api/domains/{name}": {
        /** Add a domain of the tenant's own, or change it. */
        put: operations["put_domain"];
    };
    "/api/domains/{name}/opt-in": {
        /**
         * Open a domain.
         * @description Opening is consent, so only the person can do it: with a user token, or on their own machine.
         */
        put: operations["open_domain"];
        /** Shut a domain again. What is already kept stays until it is deleted. */
        delete: operations["shut_domain"];
    };
    "/api/users": {
        /** The tenant's users, by name. */
        get: operations["list_users"];
        /**
         * Create a user ahead of their first memory, or let a deleted one come back, empty.
         * @description There is no need to: the first memory saved about somebody creates them.
         */
        post: operations["create_user"];
    };
    "/api/users/{user}": {
        /** One user, and how much is kept about them. */
        get: operations["get_user"];
        /**
         * Erase a user and everything kept about them, now. What stays is a signed receipt, and a row without
         *     a name that has the user refused until they are created again. It cannot be undone.
         * @description The user may do it too, signed in or with a token that may erase. For a
         *     user with very much to remove the answer is 202: the user is refused from then on, the rows are removed
         *     in the background, and `GET /api/users/{user}/erasures` has the progress and then the receipt.
         */
        delete: operations["delete_user"];
    };
    "/api/users/{user}/erasure": {
        /** What deleting a user would remove, without removing anything. The person themselves may ask it too. */
        get: operations["preview_user_erasure"];
    };
    "/api/users/{user}/erasures": {
        /**
         * The receipts of everything erased about a user, who may be gone; and the progress of an erasure
         *     that is under way.
         */
        get: operations["list_user_erasures"];
    };
    "/api/keys": {
        /** The tenant's keys, without their secrets. */
        get: operations["list_keys"];
        /** Make a key. Its secret is in this answer and nowhere else. */
        post: operations["create_key"];
    };
    "/api/keys/{id}": {
        /** Revoke a key and everything that was made from it: tokens, links and sign-ins. */
        delete: operations["revoke_key"];
    };
    "/api/tokens": {
        /**
         * Mint a short-lived token for one person's browser.
         * @description It is bound to that person, ends by itself, and speaks as a human, which no key does: it
         *     can answer proposals and open domains.
         */
        post: operations["mint_token"];
    };
    "/api/sign-in": {
        /** Who am I here? */
        get: operations["get_sign_in"];
        /** Sign in. The answer sets a cookie; nothing else is needed from then on. */
        post: operations["sign_in"];
        /**
         * Sign out, here and for good. What was made with this sign-in stays: links, tokens and the sign-ins
         *     of others.
         */
        delete: operations["sign_out"];
    };
    "/api/sign-in/links": {
        /** Make a link that signs one person in, once, within a quarter of an hour. Send it to nobody else. */
        post: operations["make_sign_in_link"];
    };
    "/api/sign-ins": {
        /**
         * The live sign-ins, tokens and links: an administrator sees the tenant's, a person their own. The
         *     latest 1,000.
         */
        get: operations["list_sign_ins"];
        /**
         * End all sign-ins, tokens and links of one user, and what was made from them. A person ends their
         *     own, this one included; an administrator names the user.
         */
        delete: operations["end_sign_ins"];
    };
    "/api/sign-ins/{id}": {
        /** End one sign-in, token or link, and what was made from it. */
        delete: operations["end_sign_in"];
    };
    "/api/webhooks": {
        /** The tenant's webhooks, without their secrets. */
        get: operations["list_webhooks"];
        /**
         * Set up a webhook. Its secret is in this answer and nowhere else.
         * @description It is told of every write that begins from now on, by a signed `POST` (Standard Webhooks) with ids
         *     and the verb, and never with words of a memory.
         */
        post: operations["create_webhook"];
    };
    "/api/webhooks/{id}": {
        /** Remove a webhook, with what is known about its deliveries. */
        delete: operations["delete_webhook"];
        /** Change a webhook, or switch it off and on. */
        patch: operations["edit_webhook"];
    };
    "/api/webhooks/{id}/test": {
        /** Send a webhook a test, and see how it is answered. */
        post: operations["test_webhook"];
    };
    "/api/webhooks/{id}/deliveries": {
        /** How the latest deliveries went, those that were given up among them; kept for thirty days. */
        get: operations["list_deliveries"];
    };
    "/api/webhooks/{id}/replay": {
        /** Send again what was sent before, under the same `webhook-id`s. */
        post: operations["replay_webhook"];
    };
    "/healthz": {
        /** The process is alive. */
        get: operations["healthz"];
    };
    "/readyz": {
        /** The database answers, its schema is there, and the server is not about to stop. */
        get: operations["readyz"];
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What assistants may do without asking. */
        AgentsPatch: {
            /**
             * @description When an assistant may replace what the user stated: `evidence` (with a quotation from what the
             *     user typed; the default), `always` or `never`.
             */
            replace?: string | null;
        };
        Alive: {
            /** @example ok */
            status: string;
            /** @example 0.1.0 */
            version: string;
        };
        /** @description How an item of the review is answered. */
        AnswerView: {
            /** @example POST */
            method: string;
            /** @example /api/memory/mem_01hx3v9d0kf7rtm4q5wz8yb2ca/confirm */
            path: string;
            body: unknown;
        };
        /** @description A message to append. */
        AppendTurn: {
            /**
             * @description `user`, `assistant`, `system` or `tool`. It decides how far the words are trusted.
             * @example user
             */
            role: string;
            /** @example I moved to Lisbon in March. */
            content: string;
            /** @description The name of whoever said it, where several people speak. */
            speaker?: string | null;
            /**
             * Format: date-time
             * @description When it was said; now if absent.
             */
            at?: string | null;
            /**
             * @description Stretches of it that its sender did not write themselves. Mark what was pasted, quoted or
             *     prefilled by a link: nothing is learned from it as the person's own words. An empty list says
             *     that all of it was typed. If absent it is guessed: quoted lines, code and very long paragraphs
             *     are then not taken for the person's own words.
             */
            spans?: components["schemas"]["SpanView"][] | null;
            /** @description Ids of the memories it relied on, as they were cited. */
            used?: string[];
            /** @description The retrieval that gave them. */
            retrieval_id?: string | null;
        };
        /** @description Messages to append, in order: between 1 and 100. */
        AppendTurns: {
            turns: components["schemas"]["AppendTurn"][];
        };
        /** @description Where the appended messages stand. */
        AppendedTurns: {
            session: components["schemas"]["SessionView"];
            /** @description The ids of the turns, in the order they were sent. */
            turn_ids: string[];
            /**
             * Format: int32
             * @description The number of the first of them.
             */
            first: number;
            /** @description Whether they were kept: what is said incognito is not. */
            kept: boolean;
        };
        /**
         * @description How far an export is trusted. One that is not comes in with the origin `import`, without consents or
         *     confirmations, and its rules, orders and sensitive things wait for a yes.
         */
        ArchiveTrustView: {
            /** @description Whether this server signed it for this user, and it has not been changed since. */
            signed_here: boolean;
            /** @description Whether it is taken in as it stands. */
            trusted: boolean;
        };
        /** @description What one arm made of it. */
        ArmView: {
            /** @example keyword */
            arm: string;
            rank: number;
            /** Format: float */
            score: number;
        };
        /** @description A baseline as it was given, byte for byte. */
        BaselineView: {
            content: string;
            etag: string;
            memory_ids: string[];
            /** Format: date-time */
            rendered_at: string;
        };
        /** @description What a page sends when it is being closed. */
        Beacon: {
            session_id: string;
            dirty?: boolean | null;
            /** @description The user token: a beacon cannot carry headers. */
            token?: string | null;
        };
        /** @description How the budget was spent, in tokens. */
        BudgetView: {
            limit: number;
            used: number;
            baseline: number;
            dynamic: number;
        };
        /** @description A line that went into the prompt, and what stands behind it. */
        CitationView: {
            /** @example m1 */
            mark: string;
            memory_id?: string | null;
            /** @description The other memories it says, where there was no room for a line of each. */
            also_memory_ids?: string[];
            version_id?: string | null;
            turn_id?: string | null;
            session_id?: string | null;
            section: string;
            text: string;
            tokens: number;
            /**
             * Format: float
             * @description How well it fits the message, between 0 and 1; null in the baseline, which fits always.
             */
            relevance?: number | null;
        };
        /** @description How a session ends. */
        CloseSession: {
            /** @description Whether anything was said since it was last closed, if you know. `false` asks no model. */
            dirty?: boolean | null;
        };
        /** @description What closing did. */
        ClosedSession: {
            session: components["schemas"]["SessionView"];
            /** @description Whether what was said is being learned from now. */
            learning: boolean;
        };
        /** @description A memory of a cluster. */
        ClusterMember: {
            memory_id: string;
            content: string;
        };
        /** @description Memories that belong together. */
        ClusterView: {
            /**
             * @description Its commonest words.
             * @example tomatoes, balcony
             */
            name: string;
            memories: components["schemas"]["ClusterMember"][];
        };
        ClustersView: {
            data: components["schemas"]["ClusterView"][];
        };
        /** @description An answer to a proposal, or an affirmation of an active memory. */
        ConfirmMemory: {
            /** @description Yes or no; yes if absent. */
            confirm?: boolean;
            /** @description The `sha256` of the proposal that was shown to the person. A yes needs it. */
            sha256?: string | null;
            edits?: components["schemas"]["EditMemory"] | null;
        };
        Consolidation: {
            /**
             * @description Only say what would become of what was learned.
             * @default false
             */
            dry_run: boolean;
        };
        /** @description What to put into the prompt, and why. */
        ContextView: {
            /** @example ret_01hx3v9d0kf7rtm4q5wz8yb2ca */
            retrieval_id: string;
            /** @description Both parts, ready to paste: the baseline first. */
            context: string;
            /** @description The same for the whole session: put it where the provider's prefix cache keeps it. */
            baseline: components["schemas"]["PartView"];
            /** @description For this message only: put it after everything that is cached. */
            dynamic: components["schemas"]["PartView"];
            /** @description Whether the baseline is the session's own from before. */
            frozen: boolean;
            /** @description The rules among it all, which must be respected. */
            hard: components["schemas"]["CitationView"][];
            /** @description The rest, for judgment. */
            soft: components["schemas"]["CitationView"][];
            domains: components["schemas"]["DomainDetected"][];
            budget: components["schemas"]["BudgetView"];
            /** @description The times the message speaks of. */
            times: components["schemas"]["TimeView"][];
            /** @description How many memories and turns were looked at. */
            considered: number;
            /**
             * @description `hit` if the same message was answered in this session a moment ago and nothing has changed.
             * @example miss
             */
            cache: string;
            /** @description What had to be done without: `embedder`, `reranker`, `older_turns`, `database`. */
            degraded: string[];
            model?: string | null;
            took_ms: components["schemas"]["TookView"];
        };
        /** @description Contradictions that wait for their person, the newest first. */
        ContradictionList: {
            data: components["schemas"]["ContradictionView"][];
        };
        /** @description Two memories that cannot both be true. */
        ContradictionView: {
            /** Format: date-time */
            since: string;
            /** @description What stands. */
            standing: components["schemas"]["MemoryView"];
            /** @description What speaks against it, and waits. */
            against: components["schemas"]["MemoryView"];
        };
        /** @description How much is kept about a user. */
        Counts: {
            /** Format: int64 */
            memories: number;
            /** Format: int64 */
            versions: number;
            /** Format: int64 */
            links: number;
            /** Format: int64 */
            operations: number;
        };
        /** @description How many of each. */
        CountsView: {
            /** @description New memories. */
            memories: number;
            /** @description Memories that wait for their person's yes. */
            proposals: number;
            /** @description What was here already, or was here once and has been put away. */
            known: number;
            links: number;
            episodes: number;
            chats: number;
            turns: number;
            /** @description Left out because they look like a secret. */
            secrets: number;
            /** @description Left out for another reason. */
            left_out: number;
        };
        /** @description A key to make. */
        CreateKey: {
            /** @example my assistant */
            name: string;
            /** @description The one user it is for; absent for all of the tenant's. */
            user?: string | null;
            /**
             * @description Of `read`, `write`, `propose`, `erase`, `admin`, `chat`; `read`, `write` and `propose` if absent.
             *     `chat` is using the models behind `/v1`.
             */
            permissions?: string[] | null;
            /**
             * @description How far its words are trusted: `assistant` (the default), `user_said` for an application that
             *     passes on only what the person typed into it, `tool`, `document` or `import`.
             */
            origin?: string | null;
            /** Format: date-time */
            expires_at?: string | null;
        };
        /** @description A link to make. */
        CreateLink: {
            /** @description The other memory: its id, or text that occurs in exactly one active memory. */
            to: string;
            /**
             * @description `relates_to` (the default), `supersedes`, `contradicts`, or a word of your own.
             * @example relates_to
             */
            relation?: string | null;
        };
        /** @description A memory to save or propose. */
        CreateMemory: {
            /**
             * @description One short line that may be put into a prompt.
             * @example Prefers window seats
             */
            content: string;
            /** @description A still shorter form of the line. */
            summary?: string | null;
            /** @description A long body, found by recall and never put into a prompt. */
            detail?: string | null;
            /**
             * @description `profile`, `context`, `style` or `fact` (the default).
             * @example fact
             */
            category?: string | null;
            /**
             * @description `profile` (the default), `task`, `episodic`, `procedural` or `domain`; `hard` and `soft` are
             *     understood as `force`.
             */
            type?: string | null;
            /**
             * @description `preference`, `fact` (the default), `habit`, `skill`, `artifact`, `relationship`, `project`
             *     or `context`.
             */
            kind?: string | null;
            /** @description `hard`: a rule under a key of its domain; `soft` (the default): context for judgment. */
            force?: string | null;
            /** @example travel */
            domain?: string | null;
            key?: string | null;
            value?: unknown;
            tags?: string[];
            /**
             * Format: float
             * @description Between 0 and 1; 0.5 if absent.
             */
            importance?: number | null;
            evidence?: components["schemas"]["Evidence"][];
            reasoning?: string | null;
            /** @description The session and turns the words came from. */
            session_id?: string | null;
            turn_ids?: string[];
            /**
             * Format: date-time
             * @description Since when it holds; now if absent.
             */
            valid_from?: string | null;
            /**
             * Format: date-time
             * @description Until when it holds; until further notice if absent.
             */
            valid_until?: string | null;
            /**
             * @description The user's answer to `opt_in_needed`: keep this as a memory without a domain, although its
             *     domain is not open. Counts only from the user.
             */
            keep_without_domain?: boolean;
        };
        /** @description A user to create. */
        CreateUser: {
            /**
             * @description Your own id for the person.
             * @example alice
             */
            user: string;
            /**
             * Format: int64
             * @description For a demo or a trial: after so many minutes the user reads as deleted.
             */
            expires_in_minutes?: number | null;
        };
        /** @description A webhook to set up. */
        CreateWebhook: {
            /**
             * @description Where to post to: `https`, on the public internet.
             * @example https://example.com/lukasa
             */
            url: string;
            /** @description Only these kinds of operation, such as `save` or `erase`; all of them if absent. */
            verbs?: string[];
        };
        /** @description A webhook with its secret, shown this once. */
        CreatedWebhook: components["schemas"]["WebhookView"] & {
            /**
             * @description What deliveries are signed with. It cannot be shown again.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
             */
            secret: string;
        };
        Deliveries: {
            data: components["schemas"]["DeliveryView"][];
        };
        /** @description How a delivery went. */
        DeliveryView: {
            /**
             * @description The operation that was told of; also the `webhook-id` it was sent with.
             * @example op_01hx3v9d0kf7rtm4q5wz8yb2cc
             */
            id: string;
            /** @description Whom it is about, by your own id for them. */
            user: string;
            /** @example save */
            verb: string;
            /** @description `delivered`; `waiting` to be tried again; `dead` after the last attempt. */
            state: string;
            /** Format: int32 */
            attempts: number;
            /**
             * Format: int32
             * @description What was last answered.
             */
            status?: number | null;
            error?: string | null;
            /** Format: date-time */
            first_at: string;
            /** Format: date-time */
            last_at: string;
            /**
             * Format: date-time
             * @description When it is tried again.
             */
            next_at?: string | null;
        };
        /** @description A memory that rests on a source, and what would become of it. */
        DependentMemory: {
            memory: components["schemas"]["MemoryView"];
            /**
             * @description `withdrawn`, `weakened` or `kept`.
             * @example withdrawn
             */
            fate: string;
        };
        /** @description What rests on a source. */
        DependentsView: {
            reached: components["schemas"]["ReachedView"];
            memories: components["schemas"]["DependentMemory"][];
            episodes: components["schemas"]["EpisodeView"][];
        };
        /** @description The domains a message is about, best first. */
        DetectAnswer: {
            data: components["schemas"]["DomainDetected"][];
        };
        /** @description A message. */
        DetectRequest: {
            /** @example Book a flight and keep it under my budget */
            query: string;
        };
        DomainCount: {
            /** @description Null for memories without a domain. */
            domain?: string | null;
            /** Format: int64 */
            memories: number;
        };
        /** @description A domain a message is about. */
        DomainDetected: {
            /** @example travel */
            domain: string;
            /** Format: float */
            score: number;
            /** @description The words that speak for it. */
            words: string[];
        };
        /** @description An area of a life. */
        DomainView: {
            /** @example health */
            name: string;
            display_name: string;
            /** @description Nothing inferred is kept here without its person's yes. */
            sensitive: boolean;
            /** @description Nothing at all is kept here until its person opens it. */
            requires_opt_in: boolean;
            /** Format: int32 */
            default_expiration_days?: number | null;
            builtin: boolean;
            /**
             * Format: date-time
             * @description Since when the person has it open; null if they have not opened it.
             */
            opted_in_at?: string | null;
        };
        Domains: {
            data: components["schemas"]["DomainView"][];
        };
        /** @description The words to put in place of a memory's own. */
        EditMemory: {
            content?: string | null;
            summary?: string | null;
            detail?: string | null;
            category?: string | null;
            type?: string | null;
            kind?: string | null;
            force?: string | null;
            domain?: string | null;
            key?: string | null;
            value?: unknown;
            tags?: string[] | null;
            /** Format: float */
            importance?: number | null;
            reasoning?: string | null;
        };
        /** @description What of a session is to be changed; what is absent stays. */
        EditSession: {
            /** @description Its new title. */
            title?: string | null;
            /** @description Put it aside, or take it up again. */
            archived?: boolean | null;
        };
        /** @description What to change about a webhook. What is absent stays. */
        EditWebhook: {
            url?: string | null;
            verbs?: string[] | null;
            /** @description `true` switches it on again and has it told of what it missed meanwhile. */
            enabled?: boolean | null;
        };
        /** @description Episodes, the latest first. */
        EpisodePage: {
            data: components["schemas"]["EpisodeView"][];
            next_cursor?: string | null;
        };
        /** @description What happened in a stretch of a conversation. */
        EpisodeView: {
            /** @example epi_01hx3v9d0kf7rtm4q5wz8yb2ca */
            id: string;
            session_id: string;
            /**
             * Format: int32
             * @description The turns it is about.
             */
            first_turn: number;
            /** Format: int32 */
            last_turn: number;
            title?: string | null;
            summary: string;
            /** @description The least trusted of the words it was made from. */
            origin: string;
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            ended_at: string;
            /**
             * @description The prompt it was made with, and its version.
             * @example extract/1
             */
            prompt: string;
            /**
             * @description Whether it is a month old and all that it left behind is strong or stated by now: nobody needs
             *     it any more to know what came of it.
             */
            absorbed: boolean;
        };
        /** @description What an erasure would remove. */
        ErasurePreview: {
            /** @description The user, if everything about them would go. */
            user?: string | null;
            /** @description The memory, if only that would go. */
            memory_id?: string | null;
            /** @description Rows by table. */
            removes: {
                [key: string]: number;
            };
            /**
             * @description The same in words.
             * @example 12 memories, 3 sessions, 410 turns, 422 embeddings
             */
            message: string;
        };
        /** @description How far the erasure of a user has come. */
        ErasureProgress: {
            erasure_id: string;
            /** Format: date-time */
            began_at: string;
            /** @description Rows removed so far, by table. */
            removed: {
                [key: string]: number;
            };
        };
        /** @description What a receipt says: what was erased, when and how much, and none of what it said. */
        ErasureReceipt: {
            /** @example era_01hx3v9d0kf7rtm4q5wz8yb2cc */
            id: string;
            /** @description `user`, `memory` or `turn`. */
            erased: string;
            tenant_id: string;
            user_id: string;
            memory_id?: string | null;
            turn_id?: string | null;
            operation_id?: string | null;
            /** @description `erase`, or `purge` for what had lain in the trash. */
            verb: string;
            /** Format: date-time */
            erased_at: string;
            /** @description Rows removed, by table. */
            removed: {
                [key: string]: number;
            };
            /** @description Whether a restored backup had brought it back, and it was removed again. */
            replayed: boolean;
            /** @description `pending` until the database's files were rewritten without it, then `done`. */
            files: string;
            /** Format: date-time */
            files_done_at?: string | null;
            /** @description Whether it is in the journal that is replayed when a backup is restored. */
            journal: boolean;
            /** @description What could not be removed, in words. */
            not_removed: string[];
            /** Format: date-time */
            issued_at: string;
        };
        /** @description What learning from the chats will ask of a chat model; zeroes where none is set up. */
        EstimateView: {
            /** Format: int64 */
            calls: number;
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            output_tokens: number;
            /**
             * Format: int64
             * @description In millionths of the currency that the prices are in.
             */
            cost_micros: number;
            /** Format: int64 */
            seconds: number;
        };
        /** @description Something that supports a memory. */
        Evidence: {
            /** @example pattern */
            type: string;
            /** @example the last 5 orders were from Kroger */
            description: string;
        };
        /** @description Something that supports a memory, and the turn it was said in. */
        EvidenceView: {
            /** @example quote */
            type: string;
            /** @example I never fly before ten */
            description: string;
            turn_id?: string | null;
        };
        FieldError: {
            /**
             * @description A JSON pointer into the request.
             * @example /content
             */
            pointer: string;
            /** @example at most 2000 characters */
            detail: string;
        };
        FoundMemory: {
            memory: components["schemas"]["MemoryView"];
            why: components["schemas"]["WhyFoundView"];
        };
        FoundSession: {
            id: string;
            /** Format: float */
            score: number;
            /** @description The turn that speaks most for it. */
            best_turn_id: string;
        };
        /** @description A session in which it was talked about. */
        FoundSessionView: {
            session: components["schemas"]["SessionView"];
            best?: components["schemas"]["TurnView"] | null;
        };
        /** @description Sessions that were found, the best first. */
        FoundSessions: {
            data: components["schemas"]["FoundSessionView"][];
        };
        FoundTurn: {
            turn: components["schemas"]["TurnView"];
            why: components["schemas"]["WhyFoundView"];
        };
        /** @description Exactly what a session was given. */
        GivenView: {
            baselines: components["schemas"]["BaselineView"][];
            /** @description Newest first, at most 200. */
            retrievals: components["schemas"]["RetrievalView"][];
        };
        /** @description A memory behind a turn. */
        GroundsView: {
            /** @description As it was known when the turn was said. */
            memory: components["schemas"]["MemoryView"];
            /**
             * @description `cited` or another use, if the turn said it used it; `given` if it only had it.
             * @example cited
             */
            how: string;
            influence?: string | null;
        };
        /** @description Every version a memory ever had, in the order they came to be known. */
        History: {
            data: components["schemas"]["MemoryView"][];
        };
        /** @description An import that was made. */
        ImportView: {
            id: string;
            /** @example mem0 */
            format: string;
            name: string;
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            last_at: string;
            operation_ids: string[];
            counts: components["schemas"]["CountsView"];
            /**
             * Format: date-time
             * @description When it was taken back, if it was.
             */
            undone_at?: string | null;
        };
        Imports: {
            data: components["schemas"]["ImportView"][];
        };
        /** @description One day, in UTC. */
        InsightDay: {
            /** Format: date */
            day: string;
            /**
             * Format: int64
             * @description Memories that were told.
             */
            saved: number;
            /**
             * Format: int64
             * @description Memories that were learned from chats.
             */
            learned: number;
            /**
             * Format: int64
             * @description Memories that began by waiting for a yes.
             */
            proposed: number;
            /** Format: int64 */
            confirmed: number;
            /** Format: int64 */
            rejected: number;
            /** Format: int64 */
            corrected: number;
            /** Format: int64 */
            forgotten: number;
            /** @description How many there were at the end of the day. */
            memories: components["schemas"]["TierCounts"];
            /** @description The same by domain, candidates aside, the largest first. */
            domains: components["schemas"]["DomainCount"][];
            /** Format: int64 */
            retrievals: number;
            /**
             * Format: int64
             * @description Retrievals that had to do without something, such as a model.
             */
            degraded: number;
            /**
             * Format: int64
             * @description Retrievals that began with the same block as the one before in their chat, so that a provider's
             *     cache could hit.
             */
            frozen: number;
            /**
             * Format: double
             * @description Tokens that a retrieval put into a prompt, on average.
             */
            tokens: number;
            recall_ms?: components["schemas"]["RecallTimes"] | null;
            /**
             * Format: int64
             * @description What chat models were asked, and what it cost in millionths of the currency of the prices.
             */
            calls: number;
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            output_tokens: number;
            /** Format: int64 */
            cost_micros: number;
        };
        /** @description A memory over time. */
        InsightsView: {
            /** @description Every day of the stretch, the oldest first. */
            days: components["schemas"]["InsightDay"][];
            /** @description What is active now, the largest first. */
            domains: components["schemas"]["DomainCount"][];
        };
        /** @description A key or token with its secret, shown this once. */
        IssuedView: components["schemas"]["KeyView"] & {
            /** @description Send it as `Authorization: Bearer ...`. It cannot be shown again. */
            secret: string;
        };
        /** @description Jobs: those that were given up first. */
        JobList: {
            data: components["schemas"]["JobView"][];
        };
        /** @description A piece of work that waits, runs, or was given up. */
        JobView: {
            /** @example job_01hx3v9d0kf7rtm4q5wz8yb2ca */
            id: string;
            /**
             * @description `close`, `extract`, `title`, `compress`, `retell`, `upkeep` or `deliver`.
             * @example extract
             */
            kind: string;
            /** @description The session it is about, if it is about one. */
            session_id?: string | null;
            /**
             * @description `waiting`, `running` or `dead` (given up; retry it).
             * @example waiting
             */
            state: string;
            /** Format: date-time */
            queued_at: string;
            /** Format: date-time */
            run_at: string;
            /** Format: int32 */
            attempts: number;
            last_error?: string | null;
        };
        /** @description A key, without its secret. */
        KeyView: {
            id: string;
            name: string;
            /** @description The one user it is for; null for all of the tenant's. */
            user?: string | null;
            permissions: string[];
            /** @description The most trusted origin its writes carry. */
            origin: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at?: string | null;
            /** Format: date-time */
            revoked_at?: string | null;
            /** Format: date-time */
            last_used_at?: string | null;
        };
        Keys: {
            data: components["schemas"]["KeyView"][];
        };
        /** @description Something that did not go in, and why. */
        LeftOutView: {
            memory_id?: string | null;
            turn_id?: string | null;
            /** @example over the budget */
            reason: string;
            /** Format: float */
            relevance?: number | null;
        };
        /** @description A typed link between two memories. */
        LinkView: {
            /** @example lnk_01hx3v9d0kf7rtm4q5wz8yb2cd */
            id: string;
            from_id: string;
            to_id: string;
            /** @example relates_to */
            relation: string;
            /** Format: date-time */
            created_at: string;
            other?: components["schemas"]["MemoryView"] | null;
        };
        /** @description The links of a memory, from both ends, whose other end is live. */
        Links: {
            data: components["schemas"]["LinkView"][];
        };
        /** @description Whom a link is to let in. */
        MakeLink: {
            /**
             * @description Your own id for the person.
             * @example alice
             */
            user: string;
        };
        /** @description What changed, for an interface to show, with the handle that takes it back. */
        MemoryEvent: {
            /** @example memory.saved */
            type: string;
            /**
             * @description Null when nothing had to be written.
             * @example op_01hx3v9d0kf7rtm4q5wz8yb2cc
             */
            operation_id?: string | null;
            memory_ids: string[];
            undo?: components["schemas"]["Undo"] | null;
        };
        /** @description A page of memories. */
        MemoryPage: {
            data: components["schemas"]["MemoryView"][];
            /** @description Pass it back as `cursor` for the next page; null at the end. */
            next_cursor?: string | null;
        };
        /** @description A memory, as it stands at the point in time that was asked about. */
        MemoryView: {
            /**
             * @description Stable through every change, correction, undo and restore.
             * @example mem_01hx3v9d0kf7rtm4q5wz8yb2ca
             */
            id: string;
            /**
             * @description The row that was read; also its ETag.
             * @example ver_01hx3v9d0kf7rtm4q5wz8yb2cb
             */
            version_id: string;
            /**
             * Format: int32
             * @description The edition: 1 when saved, one more with each change or correction.
             */
            version: number;
            /** @example Prefers window seats */
            content: string;
            summary?: string | null;
            /** @description The long body. It is found by recall and never put into a prompt. */
            detail?: string | null;
            /** @example active */
            status: string;
            /** @example fact */
            category: string;
            /** @example profile */
            type: string;
            /** @example preference */
            kind: string;
            /** @example soft */
            force: string;
            /** @example travel */
            domain?: string | null;
            key?: string | null;
            value?: unknown;
            tags: string[];
            /** Format: float */
            importance: number;
            /** @example strong */
            tier: string;
            /**
             * @description Where the words came from; set by the server.
             * @example user_said
             */
            origin: string;
            /**
             * @description How it came to be a memory.
             * @example user_explicit
             */
            source: string;
            /**
             * Format: float
             * @description How sure an extraction is; null for what was stated.
             */
            confidence?: number | null;
            /**
             * Format: float
             * @description One number for readers that want one.
             */
            effective_confidence: number;
            /**
             * Format: date-time
             * @description When it will be too faint to go into prompts unasked, if nobody says it again.
             */
            fades_at?: string | null;
            evidence: components["schemas"]["EvidenceView"][];
            reasoning?: string | null;
            session_id?: string | null;
            turn_ids: string[];
            /** Format: date-time */
            confirmed_at?: string | null;
            /** Format: date-time */
            last_confirmed_at?: string | null;
            /**
             * Format: date-time
             * @description When a human said yes to exactly these words.
             */
            consented_at?: string | null;
            /**
             * Format: date-time
             * @description When it holds in the world.
             */
            valid_from: string;
            /** Format: date-time */
            valid_until?: string | null;
            /**
             * Format: date-time
             * @description When Lukasa held this row.
             */
            known_from: string;
            /** Format: date-time */
            known_until?: string | null;
            /**
             * Format: date-time
             * @description When the memory was first saved.
             */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description The digest that a yes to this proposal must carry. */
            sha256?: string | null;
            /** @description In a history: the next edition, if one followed. */
            superseded_by?: string | null;
        };
        /** @description A token to mint for one person's browser. */
        MintToken: {
            /**
             * @description Your own id for the person.
             * @example alice
             */
            user: string;
            /** @description No more than the key itself has, and never `admin`; `read` and `write` if absent. */
            permissions?: string[] | null;
            /**
             * Format: int64
             * @description Between 1 and 15; 15 if absent.
             */
            minutes?: number | null;
            /**
             * @description The one page it may be used from, as a browser names it: scheme, host and port. Any, if absent.
             * @example https://app.example
             */
            page?: string | null;
        };
        /** @description One call of a chat model, whether it answered or not. */
        ModelCallView: {
            /** Format: date-time */
            at: string;
            /**
             * @description `extract`, `title` or `compress`.
             * @example extract
             */
            purpose: string;
            model: string;
            /** @description `answered`, `unavailable`, `malformed`, `missing` or `refused`. */
            outcome: string;
            /** Format: int32 */
            input_tokens: number;
            /** Format: int32 */
            output_tokens: number;
            /**
             * Format: int64
             * @description Millionths of the currency the prices were given in.
             */
            cost_micros: number;
            /** Format: int32 */
            took_ms: number;
        };
        /** @description Calls of chat models. */
        ModelCalls: {
            /** @description By purpose and model, over the last thirty days. */
            totals: components["schemas"]["ModelSumView"][];
            /** @description The latest, newest first. */
            data: components["schemas"]["ModelCallView"][];
        };
        /** @description What one purpose cost with one model over thirty days. */
        ModelSumView: {
            purpose: string;
            model: string;
            /** Format: int64 */
            calls: number;
            /** Format: int64 */
            failed: number;
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            output_tokens: number;
            /** Format: int64 */
            cost_micros: number;
        };
        /** @description What consolidation did, or would do. */
        NightView: {
            /** @description The operation that undo reverses as a whole; null if nothing was done. */
            operation_id?: string | null;
            /** @description How many memories were looked at. */
            looked_at: number;
            steps: components["schemas"]["StepView"][];
        };
        /** @description A chat to open. */
        OpenSession: {
            /**
             * @description Your own name for it; one is drawn if absent.
             * @example chat-42
             */
            id?: string | null;
            title?: string | null;
            /**
             * @description How much is kept once it was learned from: `full`, `excerpts` or `none`. The policy says if
             *     absent.
             */
            keep_turns?: string | null;
            /** @description Keep nothing that is said: turns are acknowledged and dropped. */
            incognito?: boolean;
        };
        /** @description A page of operations. */
        OperationPage: {
            data: components["schemas"]["OperationView"][];
            next_cursor?: string | null;
        };
        /** @description One write, whoever made it. */
        OperationView: {
            /** @example op_01hx3v9d0kf7rtm4q5wz8yb2cc */
            id: string;
            /** @example save */
            verb: string;
            /** Format: date-time */
            at: string;
            /** @description `human`, `key` or `job`. */
            caller: string;
            /** @description The id of the credential, or `local`. */
            credential: string;
            origin: string;
            extracted: boolean;
            memory_ids: string[];
            /** @description The operation that this one reversed. */
            undoes?: string | null;
            /** @description The operation that reversed this one and still stands. */
            undone_by?: string | null;
            /**
             * @description The versions of the policy it was made under: the tenant's and the user's.
             * @example t1.u0
             */
            policy?: string | null;
        };
        /** @description One part of a context. */
        PartView: {
            content: string;
            /** @description A name for exactly these bytes. */
            etag?: string | null;
            /** @description Marks the fence of this block; text between its marks was put there by Lukasa. */
            nonce?: string | null;
            tokens: number;
            citations: components["schemas"]["CitationView"][];
            left_out: components["schemas"]["LeftOutView"][];
        };
        /** @description Passes, the latest first. */
        PassList: {
            data: components["schemas"]["PassView"][];
        };
        /** @description One reading of a stretch of a conversation, and what came of it. */
        PassView: {
            /** @example pas_01hx3v9d0kf7rtm4q5wz8yb2ca */
            id: string;
            session_id: string;
            /** Format: int32 */
            first_turn: number;
            /** Format: int32 */
            last_turn: number;
            prompt: string;
            model: string;
            /** Format: date-time */
            applied_at?: string | null;
            /** @description The operation that holds everything it learned; undo it to take all of that back. */
            operation_id?: string | null;
            /** @description How many were learned and how, and how many were left out and why. */
            outcome: Record<string, unknown>;
        };
        Phrasing: Record<string, unknown>;
        /** @description What may happen without asking. What is absent is not said. */
        PolicyPatch: {
            /** @description `balanced`, `advisor`, `chat`, `assistant`, `research` or `clone`; the rest is on top of it. */
            preset?: string | null;
            /** @description What becomes of what was inferred: `auto`, `tiered`, `propose` or `off`. */
            admission?: string | null;
            /** @description The same for single domains. */
            domains?: {
                [key: string]: string;
            } | null;
            /** @description When conversations are learned from: `close`, `turn`, `idle` or `manual`. */
            extract?: string | null;
            /** @description How many turns that were learned from a pass sees again, for context. */
            window?: number | null;
            /** @description How much of what is said is kept once it was learned from: `full`, `excerpts` or `none`. */
            keep_turns?: string | null;
            /**
             * Format: int32
             * @description After how many silent minutes a session counts as closed; 0 means never.
             */
            idle_close_minutes?: number | null;
            /**
             * Format: float
             * @description From this confidence on, what was inferred goes into prompts; at least 0.7.
             */
            inject_confidence?: number | null;
            /**
             * Format: float
             * @description From here up to that, it is found by recall only; below, it waits for more evidence.
             */
            recall_confidence?: number | null;
            /** @description Categories that need more confidence. */
            floors?: {
                [key: string]: number;
            } | null;
            /**
             * Format: float
             * @description Below this importance, what was inferred is found by recall only.
             */
            inject_importance?: number | null;
            /** @description Whether chats are named after their first exchange. */
            titles?: boolean | null;
            /**
             * Format: int64
             * @description How many tokens the tenant may spend on chat models in a day; 0 means no limit. Only a
             *     tenant can say it.
             */
            daily_tokens?: number | null;
            agents?: components["schemas"]["AgentsPatch"] | null;
        };
        /** @description The policy in force. */
        PolicyView: {
            /** @description Everything, as it holds now. */
            in_force: Record<string, unknown>;
            /** @description What the tenant has said. */
            tenant: components["schemas"]["PolicyPatch"];
            /** @description What the user has said. */
            user: components["schemas"]["PolicyPatch"];
            /**
             * @description Stamped on every operation made under it.
             * @example t1.u2
             */
            version: string;
            /** @description The names of all presets. */
            presets: string[];
        };
        /** @description A compiled text about the person. */
        PortraitView: {
            /**
             * @description `profile`, `procedures`, `active_context`, or `domain:` and the domain's name.
             * @example profile
             */
            name: string;
            /** @example Profile */
            title: string;
            sentences: components["schemas"]["SentenceView"][];
            /** @description The same as text, with marks like [1] and the list of what they cite. */
            markdown: string;
            /** @description What the text takes in a prompt, without that list. */
            tokens: number;
            /** @description Memories that belong here and found no room. */
            left_out: string[];
            /**
             * @description The model that phrased it, or `template`: then it is in the memories' own words.
             * @example template
             */
            made_by: string;
            compiled_at: string;
            /**
             * @description Whether it was compiled from just the memories that stand now. If not, what has gone is left
             *     out already and what is new is told in its own words.
             */
            fresh: boolean;
        };
        PortraitsView: {
            data: components["schemas"]["PortraitView"][];
        };
        /** @description An error as it goes over the wire. */
        Problem: {
            /**
             * @description Where the code is explained.
             * @example /docs/errors#memory_not_found
             */
            type: string;
            /** @example There is no such memory */
            title: string;
            /**
             * Format: int32
             * @example 404
             */
            status: number;
            /**
             * @description The stable word to program against.
             * @example memory_not_found
             */
            code: string;
            /** @description What happened, and what to do next. */
            detail: string;
            /** @description What is wrong with each field. */
            errors?: components["schemas"]["FieldError"][];
            /** @description The memories that were meant, perhaps. */
            candidates?: components["schemas"]["MemoryView"][];
            /** @description The operation that is in the way. */
            operation_id?: string | null;
            /** @description The domain that the user would have to open first. */
            domain?: string | null;
        };
        /** @description A domain of the tenant's own. */
        PutDomain: {
            display_name: string;
            sensitive?: boolean;
            requires_opt_in?: boolean;
            /** Format: int32 */
            default_expiration_days?: number | null;
        };
        /** @description How far a source's going reaches, or reached. */
        ReachedView: {
            turns: number;
            episodes: number;
            /** @description Memories that nothing else supports: they go too. */
            withdrawn: number;
            /** @description Memories with other support: they stay and rest on that. */
            weakened: number;
            /** @description Memories that their person stated or agreed to: they stay. */
            kept: number;
            /** @description Portraits that are compiled anew. */
            portraits: number;
            /**
             * @description The same as words.
             * @example 1 turn, 3 memories, 1 episode, 2 portraits
             */
            summary: string;
        };
        /** @description How long retrievals took, in milliseconds. */
        RecallTimes: {
            /** Format: double */
            p50: number;
            /** Format: double */
            p95: number;
            /** Format: double */
            p99: number;
        };
        /** @description The key that receipts of this server are signed with. */
        ReceiptKey: {
            /** @example ed25519 */
            algorithm: string;
            /** @description In hexadecimal. */
            public_key: string;
        };
        /** @description An Ed25519 signature over the receipt as JSON without spaces, the keys of every object in order. */
        ReceiptSignature: {
            /** @example ed25519 */
            algorithm: string;
            /** @description In hexadecimal, like the value. */
            public_key: string;
            value: string;
        };
        /** @description That something was erased, when and how much of it, and none of what it said. */
        ReceiptView: {
            memory_id: string;
            /** @description Under which the signed receipt is listed in `GET /api/erasures`. */
            erasure_id?: string | null;
            /** Format: date-time */
            erased_at: string;
            /** Format: int32 */
            versions: number;
            /** Format: int32 */
            links: number;
            /** Format: int32 */
            evidence: number;
            /**
             * Format: int32
             * @description Kept answers to idempotency keys that were emptied.
             */
            answers: number;
        };
        /** @description Receipts, newest first. */
        Receipts: {
            data: components["schemas"]["SignedReceiptView"][];
            running?: components["schemas"]["ErasureProgress"] | null;
        };
        /** @description What to send again: everything since a time, or one delivery. */
        ReplayWebhook: {
            /** Format: date-time */
            since?: string | null;
            /**
             * @description The id of one delivery. It is sent at once, whatever became of it before.
             * @example op_01hx3v9d0kf7rtm4q5wz8yb2cc
             */
            delivery?: string | null;
        };
        /** @description What is sent again. */
        Replayed: {
            /** @description About how many users everything since the time is told again. */
            users: number;
            delivery?: components["schemas"]["DeliveryView"] | null;
        };
        /** @description A use to report. */
        ReportUsage: {
            memory_id: string;
            /**
             * @description `applied`, `cited`, `conflicted`, `overridden`, `confirmed`, `contradicted`, or `retrieved`.
             * @example cited
             */
            type: string;
            session_id?: string | null;
            retrieval_id?: string | null;
            /** @description The turn that used it. */
            turn_id?: string | null;
            /** @description What it changed, in a few words. */
            influence?: string | null;
        };
        /** @description Which of the two is true. */
        ResolveContradiction: {
            /**
             * @description `standing` or `against`.
             * @example against
             */
            true: string;
            /** @description The `sha256` of the memory that was shown as `against`. Needed to say that it is true. */
            sha256?: string | null;
        };
        /** @description One retrieval: what it added to the baseline, and its trace. */
        RetrievalView: {
            /** @example ret_01hx3v9d0kf7rtm4q5wz8yb2ca */
            id: string;
            session_id?: string | null;
            /** Format: date-time */
            at: string;
            /** @description The baseline it went with. */
            baseline_etag?: string | null;
            dynamic: string;
            memory_ids: string[];
            /**
             * @description What was found (`found`: its rank with each arm, when they were brought together, and at last),
             *     what was injected, and what was left out and why, with tokens and times.
             */
            trace: unknown;
        };
        /** @description What a context is asked for. */
        RetrieveRequest: {
            /**
             * @description The person's message.
             * @example Book me a flight to Porto for Friday
             */
            query?: string;
            /** @description The domains it is about; told from the message if absent. */
            domains?: string[] | null;
            /** @description The session it is part of. Its baseline is rendered once and stays the same, byte for byte. */
            session_id?: string | null;
            /** @description False for a baseline that follows every change. */
            freeze?: boolean | null;
            /** @description `compact` (1,500 tokens, the default), `standard` (4,000), `deep` (16,000), or a number. */
            budget?: (number | string) | null;
            /** @description The model's context window in tokens: memory takes at most 15 % of it. */
            window?: number | null;
            /** @description How many memories besides the baseline; told from the message if absent. */
            limit?: number | null;
            /** @description How many turns of earlier sessions; told from the message if absent. */
            turns?: number | null;
            /** Format: float */
            min_confidence?: number | null;
            /** @description Only memories that the message names, besides the baseline. */
            precise?: boolean | null;
            /**
             * Format: date-time
             * @description What held at this instant; now if absent.
             */
            as_of?: string | null;
            /**
             * Format: date-time
             * @description What Lukasa knew at this instant; now if absent.
             */
            known_at?: string | null;
            /**
             * @description The zone in which the person says "yesterday"; UTC if absent.
             * @example Europe/Lisbon
             */
            timezone?: string | null;
            /**
             * Format: int64
             * @description How long it may take, in milliseconds; 2,000 if absent. What was confirmed by then is the answer.
             */
            deadline_ms?: number | null;
        };
        /** @description Something its person may be asked about. */
        ReviewItem: {
            /**
             * @description `proposal`, `contradiction`, `doubt`, `guess` or `learned`.
             * @example doubt
             */
            kind: string;
            /** @example Is this still true? */
            question: string;
            memory: components["schemas"]["MemoryView"];
            against?: components["schemas"]["MemoryView"] | null;
            yes: components["schemas"]["AnswerView"];
            no: components["schemas"]["AnswerView"];
        };
        ReviewView: {
            data: components["schemas"]["ReviewItem"][];
        };
        /** @description What ended. */
        Revoked: {
            /** @description The credential and everything that was made from it. */
            revoked: string[];
        };
        /** @description What was found. */
        SearchAnswer: {
            memories: components["schemas"]["FoundMemory"][];
            turns: components["schemas"]["FoundTurn"][];
            sessions: components["schemas"]["FoundSession"][];
            /** @description The times the question speaks of. */
            times: components["schemas"]["TimeView"][];
            /** @description What had to be done without: `embedder`, `reranker`, `older_turns`. */
            degraded: string[];
            /** @description The model whose vectors were compared, if any were. */
            model?: string | null;
            /** @description How many memories and turns were looked at. */
            considered: number;
            took_ms: components["schemas"]["TookView"];
        };
        /** @description A question. */
        SearchRequest: {
            /** @example Where do I like to sit on a plane? */
            query: string;
            /** @description How many memories at most; 10 if absent, 0 for none. */
            limit?: number | null;
            /** @description How many turns of past sessions at most; none if absent. */
            turns?: number | null;
            /** @description Only memories of these domains. */
            domains?: string[] | null;
            /** @description `profile`, `task`, `episodic`, `procedural` or `domain`. */
            type?: string | null;
            kind?: string | null;
            category?: string | null;
            /** @description `hard` or `soft`. */
            force?: string | null;
            tier?: string | null;
            /**
             * Format: float
             * @description Between 0 and 1; what was stated counts as 0.95 or more.
             */
            min_confidence?: number | null;
            /** @description How many sessions at most; none if absent. */
            sessions?: number | null;
            /** @description Only turns of this session. */
            session_id?: string | null;
            /** @description Only turns of these roles: `user` (the default), `assistant`, `system`, `tool`. */
            roles?: string[] | null;
            /**
             * Format: date-time
             * @description What held at this instant; now if absent.
             */
            as_of?: string | null;
            /**
             * Format: date-time
             * @description What Lukasa knew at this instant; now if absent.
             */
            known_at?: string | null;
            /**
             * @description The zone in which the person says "yesterday"; UTC if absent.
             * @example Europe/Lisbon
             */
            timezone?: string | null;
            /** @description Whether a reranker, if one is set up, may have the last word; true if absent. */
            rerank?: boolean | null;
            /** @description `scores` (the default) or `ranks`: how the arms are brought together. */
            fusion?: string | null;
            /**
             * @description Only these arms: `keyword`, `keyword_window`, `keyword_session`, `vector`, `vector_window`,
             *     `speaker`, `time`, `recency`, `prior`, `link`.
             */
            arms?: string[] | null;
            /** @description All arms but these. */
            without?: string[] | null;
            /**
             * @description Only memories that the question names, by their key or one of their tags, and what those are
             *     linked to. A typing error is forgiven.
             */
            precise?: boolean | null;
        };
        /** @description One sentence, and what it rests on. */
        SentenceView: {
            /**
             * @description The heading it stands under.
             * @example relationship
             */
            section: string;
            /**
             * @description How it is told: `You told me`, or `You mentioned` where any of it was inferred.
             * @example You told me
             */
            lead: string;
            /** @example Lives in Lisbon and works as a nurse. */
            text: string;
            /** @description Every memory it rests on. It is never shown without all of them. */
            memory_ids: string[];
        };
        /** @description A page of sessions, the one last spoken in first. */
        SessionPage: {
            data: components["schemas"]["SessionView"][];
            next_cursor?: string | null;
        };
        /** @description A chat. */
        SessionView: {
            /** @example chat-42 */
            id: string;
            title?: string | null;
            /** Format: date-time */
            opened_at: string;
            /** Format: date-time */
            last_turn_at: string;
            /** Format: int32 */
            turns: number;
            /**
             * @description `active`, `idle` (closed) or `archived`.
             * @example active
             */
            state: string;
            /** Format: date-time */
            closed_at?: string | null;
            /**
             * Format: date-time
             * @description In the trash since; restorable for thirty days.
             */
            trashed_at?: string | null;
            /**
             * Format: int32
             * @description The last turn that was learned from.
             */
            extracted_through: number;
            /** @description What was said so far, in short. */
            summary?: string | null;
            /**
             * @description How much of it is kept once it was learned from: `full`, `excerpts` or `none`.
             * @example full
             */
            keep_turns: string;
            /** @description Nothing said here is kept. */
            incognito: boolean;
        };
        /**
         * @description How somebody signs in: with a key and a user, with a link, or, for an operator who is signed in,
         *     with another user alone.
         */
        SignIn: {
            /** @description A key that is admin, and so could mint tokens for its tenant's users. */
            key?: string | null;
            /** @description A link's secret: what stands behind the `#` of its address. It works once. */
            link?: string | null;
            /**
             * @description Whose memory to look at.
             * @example alice
             */
            user?: string | null;
        };
        /** @description A sign-in, a token or a link, without its secret. */
        SignInEntry: {
            id: string;
            /**
             * @description `sign_in` for a browser in the console, `token` for one that `POST /api/tokens` made, `link` for
             *     a link that was not used yet.
             * @example sign_in
             */
            kind: string;
            user: string;
            permissions: string[];
            /** @description The id of the credential that made it; null if the command line did. */
            made_by?: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at?: string | null;
            /** Format: date-time */
            last_used_at?: string | null;
            /** @description Whether it is the one that asks. */
            current: boolean;
        };
        /** @description A link, shown this once. */
        SignInLink: {
            /**
             * @description Put it behind the address of this server. It works once.
             * @example /sign-in#lk_link_...
             */
            href: string;
            user: string;
            /** Format: date-time */
            expires_at?: string | null;
        };
        /** @description Who is signed in. */
        SignInView: {
            /** @description Whose memory is looked at. */
            user: string;
            /** @description Whether it is the person themselves, who can answer proposals and open domains. */
            human: boolean;
            /** @description Whether they may look after the tenant's users, keys and domains. */
            admin: boolean;
            /** @description Whether this server knows its person by their machine: nobody signs in or out. */
            local: boolean;
            permissions: string[];
            /**
             * Format: date-time
             * @description When the sign-in ends; null if it does not.
             */
            expires_at?: string | null;
            /** @description The server's own version. */
            version: string;
        };
        SignIns: {
            data: components["schemas"]["SignInEntry"][];
        };
        /** @description A receipt that `lukasa erase --verify` believes without asking a server. */
        SignedReceiptView: {
            receipt: components["schemas"]["ErasureReceipt"];
            signature: components["schemas"]["ReceiptSignature"];
        };
        /** @description A memory that is near in meaning. */
        SimilarView: {
            memory: components["schemas"]["MemoryView"];
            /**
             * Format: float
             * @description How near, at most 1.
             */
            similarity: number;
        };
        /** @description A stretch of a message that its sender did not write. */
        SpanView: {
            /** @description The first character of it, counted from zero. */
            from: number;
            /** @description The first character after it. */
            to: number;
            /**
             * @description `prefilled`, `pasted` or `quoted`. It counts as a document, whoever sent it.
             * @example pasted
             */
            as: string;
        };
        /** @description How a memory stands. */
        StandsView: {
            /** @example active */
            state: string;
            /** @example strong */
            tier: string;
            /** @example procedural */
            type: string;
            /** Format: float */
            importance: number;
            /** Format: float */
            confidence: number;
        };
        /**
         * @description Hashes of what is held, as hexadecimal SHA-256. Equal hashes are equal memories, however each came
         *     about: an undo brings the earlier hash back, and so does taking an export in again.
         */
        StateHashView: {
            /** @description Memories, but for the trash, and the links between them. */
            memories: string;
            episodes: string;
            /** @description Chats, but for the trash, and their turns. */
            sessions: string;
        };
        /** @description How much a memory holds. */
        StateView: {
            memories: number;
            links: number;
            episodes: number;
            sessions: number;
            turns: number;
            sha256: components["schemas"]["StateHashView"];
        };
        /** @description How much there is, and how much it is used. */
        StatsView: {
            /** @description Active memories by category. */
            by_category: unknown;
            /** @description Active memories by domain; those without one under the empty word. */
            by_domain: unknown;
            /** Format: int64 */
            sessions: number;
            /** Format: int64 */
            turns: number;
            /**
             * Format: int64
             * @description Retrievals in the last 90 days.
             */
            retrievals: number;
            /** @description Uses that applications reported in the last 90 days, by type. */
            usage: unknown;
        };
        /** @description What became of one memory, and why. */
        StepView: {
            memory_id: string;
            content: string;
            /**
             * @description `promote`, `weigh`, `let_go`, `practice`, `clear` or `note`.
             * @example promote
             */
            what: string;
            /** @example said in 5 turns of 2 chats */
            reason: string;
            before?: components["schemas"]["StandsView"] | null;
            after: components["schemas"]["StandsView"];
        };
        /** @description What was taken in, or would be. */
        TakenView: {
            import_id: string;
            /** @description What it wrote, in order. */
            operation_ids: string[];
            counts: components["schemas"]["CountsView"];
            estimate: components["schemas"]["EstimateView"];
            archive?: components["schemas"]["ArchiveTrustView"] | null;
        };
        /** @description The tenant's policy. */
        TenantPolicyView: {
            /** @description Everything, as it holds for a user who has said nothing. */
            in_force: Record<string, unknown>;
            tenant: components["schemas"]["PolicyPatch"];
            /** Format: int32 */
            version: number;
        };
        /** @description How a test went. */
        TestedWebhook: {
            /** @description Whether it was answered with a status between 200 and 299. */
            delivered: boolean;
            /**
             * Format: int32
             * @description What it was answered with, if it was.
             */
            status?: number | null;
            error?: string | null;
        };
        /** @description How many memories there were, by how well they are founded. */
        TierCounts: {
            /** Format: int64 */
            strong: number;
            /** Format: int64 */
            tentative: number;
            /** Format: int64 */
            candidate: number;
        };
        /** @description A time the question speaks of, as it says it. */
        TimeView: {
            /** @example last month */
            words: string;
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            until?: string | null;
        };
        /** @description Where the time went, in milliseconds. */
        TookView: {
            /** Format: double */
            embed: number;
            /** Format: double */
            load: number;
            /** Format: double */
            rank: number;
            /** Format: double */
            fetch: number;
            /** Format: double */
            rerank: number;
        };
        /** @description A page of turns, in the order they were said. */
        TurnPage: {
            data: components["schemas"]["TurnView"][];
            next_cursor?: string | null;
        };
        /** @description A message of a chat. */
        TurnView: {
            /** @example trn_01hx3v9d0kf7rtm4q5wz8yb2ca */
            id: string;
            session_id: string;
            /** Format: int32 */
            number: number;
            /** @example user */
            role: string;
            speaker?: string | null;
            content: string;
            /**
             * @description Where the words came from; set by the server.
             * @example user_turn
             */
            origin: string;
            /** Format: date-time */
            said_at: string;
            /** Format: date-time */
            recorded_at: string;
            /** @description What of it its sender did not write. */
            spans?: components["schemas"]["SpanView"][];
            /**
             * @description The domain that the turn speaks of, if the user has not opened it. `content` is hidden then; the
             *     user can see it with `show_hidden=true`.
             */
            hidden_domain?: string | null;
        };
        Undo: {
            /** @example POST */
            method: string;
            /** @example /api/operations/op_01hx3v9d0kf7rtm4q5wz8yb2cc/undo */
            href: string;
        };
        /** @description What was taken back. */
        UndoneView: {
            import_id: string;
            /** @description How many of its operations were undone now. */
            operations: number;
            /** @description How many chats went into the trash. */
            chats: number;
            /** @description How many memories stay, because they were changed, confirmed or put away since. */
            kept: number;
        };
        /** @description What to change. A field that is absent stays as it was; null empties it. */
        UpdateMemory: {
            /**
             * @description `change` (the default): the world moved on, since `valid_from` or now.
             *     `correction`: it was never so; `valid_from` and `valid_until` put the dates right.
             * @example change
             */
            mode?: string | null;
            /** Format: date-time */
            valid_from?: string | null;
            /** Format: date-time */
            valid_until?: string | null;
            session_id?: string | null;
            turn_ids?: string[];
            /**
             * @description What the user said, in their own words, in the session of `session_id`. An assistant needs
             *     it to replace what the user stated; without it the change waits for the user.
             */
            quotations?: string[];
            /**
             * @description The user's answer to `opt_in_needed`: keep this as a memory without a domain, although its
             *     domain is not open. Counts only from the user.
             */
            keep_without_domain?: boolean;
            content?: string | null;
            summary?: string | null;
            detail?: string | null;
            category?: string | null;
            type?: string | null;
            kind?: string | null;
            force?: string | null;
            domain?: string | null;
            key?: string | null;
            value?: unknown;
            tags?: string[] | null;
            /** Format: float */
            importance?: number | null;
            reasoning?: string | null;
        };
        /** @description Uses, newest first. */
        UsagePage: {
            data: components["schemas"]["UsageView"][];
            next_cursor?: string | null;
        };
        /** @description One use of a memory. */
        UsageView: {
            memory_id: string;
            session_id?: string | null;
            retrieval_id?: string | null;
            turn_id?: string | null;
            /**
             * @description `retrieved`, `applied`, `cited`, `conflicted`, `overridden`, `confirmed` or `contradicted`.
             * @example cited
             */
            type: string;
            influence?: string | null;
            /** Format: date-time */
            at: string;
        };
        /** @description What was removed with a user. */
        UserDeleted: {
            /**
             * @description `done`, or `running` while rows are left: the user is refused already, and the rest is removed
             *     in the background.
             * @example done
             */
            status: string;
            erasure_id: string;
            removed: components["schemas"]["Counts"];
            /** @description Keys and tokens bound to the user that have ended. */
            credentials_ended: number;
            receipt?: components["schemas"]["SignedReceiptView"] | null;
        };
        /** @description A person whom memories are about. */
        UserView: {
            /**
             * @description Your own id for the person, as sent in `X-Lukasa-User`.
             * @example alice
             */
            user: string;
            id: string;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description For a passing user: when everything about them reads as gone.
             */
            expires_at?: string | null;
            counts?: components["schemas"]["Counts"] | null;
            /** @description The person's timezone, which is itself a memory: the hard one under `personal` / `timezone`. */
            timezone?: string | null;
        };
        Users: {
            data: components["schemas"]["UserView"][];
            next_cursor?: string | null;
        };
        /** @description What the memory tool answers. */
        VaultAnswer: {
            /**
             * @description The words to give the assistant as the tool's result.
             * @example The memory file has been edited.
             */
            text: string;
            /** @description Whether the tool's result is an error. */
            is_error: boolean;
            /** @description The operation that undo reverses; null if nothing was written. */
            operation_id?: string | null;
        };
        /** @description Something that a sync does, or would do. */
        VaultChange: {
            /**
             * @description `save`, `change`, `forget`, `confirm`, `accept` or `reject`.
             * @example change
             */
            what: string;
            /** @description Null if the line is new. */
            memory_id?: string | null;
            /** @example profile.md */
            file: string;
            /** @description Zero where the line is gone. */
            line: number;
            before?: string | null;
            after?: string | null;
        };
        /** @description A command of the memory tool, as an assistant sends it. */
        VaultCommand: {
            /** @example /memories */
            path: string;
            /** @description The first and the last line; -1 is the end. */
            view_range?: [
                number,
                number
            ] | null;
            /** @enum {string} */
            command: "view";
        } | {
            path: string;
            file_text: string;
            /** @enum {string} */
            command: "create";
        } | {
            path: string;
            old_str: string;
            new_str?: string;
            /** @enum {string} */
            command: "str_replace";
        } | {
            path: string;
            /** Format: int64 */
            insert_line: number;
            insert_text: string;
            /** @enum {string} */
            command: "insert";
        } | {
            path: string;
            /** @enum {string} */
            command: "delete";
        } | {
            old_path: string;
            new_path: string;
            /** @enum {string} */
            command: "rename";
        };
        /** @description A line that was edited in the files and here. It is left alone in both places. */
        VaultConflict: {
            memory_id: string;
            file: string;
            line: number;
            /** @description What both were made from. */
            base?: string | null;
            /** @description What the file says; null if the line is gone. */
            theirs?: string | null;
            /** @description What is known here; null if it is gone. */
            ours?: string | null;
        };
        /** @description One file of a vault. */
        VaultFile: {
            /**
             * @description Where it stands in the vault's folder, with forward slashes.
             * @example profile.md
             */
            path: string;
            /**
             * @example # Profile
             *
             *     - Prefers window seats
             */
            content: string;
        };
        /** @description The files of a vault as they now are in its folder. */
        VaultFiles: {
            /**
             * @description Memories stand in `profile.md`, `procedures.md`, `active_context.md`, `proposals.md` and
             *     `domains/{name}.md`; `.lukasa/base.jsonl` is what they were made from. Others are passed over.
             */
            files: components["schemas"]["VaultFile"][];
            /**
             * @description For a sync: trust a base that this server did not sign for this user, and bring memories back
             *     with the origins and consents it names. Counts only from a person.
             */
            trust?: boolean;
        };
        /** @description What a sync would do. */
        VaultPlan: {
            changes: components["schemas"]["VaultChange"][];
            /** @description How many memories come back that are not known here and never were. */
            restores: number;
            conflicts: components["schemas"]["VaultConflict"][];
            problems: components["schemas"]["VaultProblem"][];
            /**
             * @description Whether this server signed `.lukasa/base.jsonl` for this user, and it has not been changed since.
             *     What comes back from any other is an import.
             */
            base_signed: boolean;
        };
        /** @description A line that cannot be taken in. It stays as it is. */
        VaultProblem: {
            file: string;
            line: number;
            /** @description What is wrong, and what to do about it. */
            what: string;
        };
        /** @description What a sync did. */
        VaultSynced: components["schemas"]["VaultPlan"] & {
            /** @description The operation that undo reverses as a whole; null if nothing was written. */
            operation_id?: string | null;
            /** @description The files as they should now be in the folder. */
            files: components["schemas"]["VaultFile"][];
        };
        /** @description A memory as files. */
        VaultView: {
            files: components["schemas"]["VaultFile"][];
            /** @description The digest of all paths and contents. The same memory gives the same files, to the byte. */
            sha256: string;
        };
        /** @description A webhook, without its secret. */
        WebhookView: {
            /** @example whk_01hx3v9d0kf7rtm4q5wz8yb2cd */
            id: string;
            /** @example https://example.com/lukasa */
            url: string;
            /** @description It is told of these kinds of operation; of all if there are none. */
            verbs: string[];
            /** Format: date-time */
            created_at: string;
            enabled: boolean;
            /**
             * Format: date-time
             * @description Since when nothing is sent to it, and why.
             */
            disabled_at?: string | null;
            disabled_because?: string | null;
            /**
             * Format: date-time
             * @description Since when no delivery has arrived; null if the last one did.
             */
            failing_since?: string | null;
        };
        Webhooks: {
            data: components["schemas"]["WebhookView"][];
        };
        /** @description Why something was found. */
        WhyFoundView: {
            /** Format: float */
            score: number;
            /**
             * Format: float
             * @description How well it fits taken by itself, between 0 and 1.
             */
            relevance: number;
            arms: components["schemas"]["ArmView"][];
            /** @description The words of the question that it has. */
            matched: string[];
            /** @description Its rank before a reranker had a say. */
            fused_rank: number;
        };
        /** @description What is behind a turn. */
        WhyView: {
            turn: components["schemas"]["TurnView"];
            memories: components["schemas"]["GroundsView"][];
            retrieval_id?: string | null;
            /** Format: date-time */
            retrieved_at?: string | null;
        };
        /** @description A chat as a model is to see it. */
        WindowView: {
            /** @description What was said before the first of the turns, if it does not fit. */
            summary?: string | null;
            turns: components["schemas"]["TurnView"][];
            /** @description How many early turns are not among them. */
            left_out: number;
            tokens: number;
            /** @description What to tell the person, if something was left out. */
            banner?: string | null;
        };
        /** @description What a write did: the memory, the event for an interface, the words for an assistant. */
        Written: {
            memory?: components["schemas"]["MemoryView"] | null;
            event: components["schemas"]["MemoryEvent"];
            /**
             * @description Plain words for the assistant to read.
             * @example Saved: Prefers window seats
             */
            message: string;
            link?: components["schemas"]["LinkView"] | null;
            /** @description Proof of what was removed for good. */
            receipts?: components["schemas"]["ReceiptView"][];
            reached?: components["schemas"]["ReachedView"] | null;
            /** @description What it may be repeating, if that was asked for. */
            similar?: components["schemas"]["SimilarView"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AgentsPatch = components['schemas']['AgentsPatch'];
export type Alive = components['schemas']['Alive'];
export type AnswerView = components['schemas']['AnswerView'];
export type AppendTurn = components['schemas']['AppendTurn'];
export type AppendTurns = components['schemas']['AppendTurns'];
export type AppendedTurns = components['schemas']['AppendedTurns'];
export type ArchiveTrustView = components['schemas']['ArchiveTrustView'];
export type ArmView = components['schemas']['ArmView'];
export type BaselineView = components['schemas']['BaselineView'];
export type Beacon = components['schemas']['Beacon'];
export type BudgetView = components['schemas']['BudgetView'];
export type CitationView = components['schemas']['CitationView'];
export type CloseSession = components['schemas']['CloseSession'];
export type ClosedSession = components['schemas']['ClosedSession'];
export type ClusterMember = components['schemas']['ClusterMember'];
export type ClusterView = components['schemas']['ClusterView'];
export type ClustersView = components['schemas']['ClustersView'];
export type ConfirmMemory = components['schemas']['ConfirmMemory'];
export type Consolidation = components['schemas']['Consolidation'];
export type ContextView = components['schemas']['ContextView'];
export type ContradictionList = components['schemas']['ContradictionList'];
export type ContradictionView = components['schemas']['ContradictionView'];
export type Counts = components['schemas']['Counts'];
export type CountsView = components['schemas']['CountsView'];
export type CreateKey = components['schemas']['CreateKey'];
export type CreateLink = components['schemas']['CreateLink'];
export type CreateMemory = components['schemas']['CreateMemory'];
export type CreateUser = components['schemas']['CreateUser'];
export type CreateWebhook = components['schemas']['CreateWebhook'];
export type CreatedWebhook = components['schemas']['CreatedWebhook'];
export type Deliveries = components['schemas']['Deliveries'];
export type DeliveryView = components['schemas']['DeliveryView'];
export type DependentMemory = components['schemas']['DependentMemory'];
export type DependentsView = components['schemas']['DependentsView'];
export type DetectAnswer = components['schemas']['DetectAnswer'];
export type DetectRequest = components['schemas']['DetectRequest'];
export type DomainCount = components['schemas']['DomainCount'];
export type DomainDetected = components['schemas']['DomainDetected'];
export type DomainView = components['schemas']['DomainView'];
export type Domains = components['schemas']['Domains'];
export type EditMemory = components['schemas']['EditMemory'];
export type EditSession = components['schemas']['EditSession'];
export type EditWebhook = components['schemas']['EditWebhook'];
export type EpisodePage = components['schemas']['EpisodePage'];
export type EpisodeView = components['schemas']['EpisodeView'];
export type ErasurePreview = components['schemas']['ErasurePreview'];
export type ErasureProgress = components['schemas']['ErasureProgress'];
export type ErasureReceipt = components['schemas']['ErasureReceipt'];
export type EstimateView = components['schemas']['EstimateView'];
export type Evidence = components['schemas']['Evidence'];
export type EvidenceView = components['schemas']['EvidenceView'];
export type FieldError = components['schemas']['FieldError'];
export type FoundMemory = components['schemas']['FoundMemory'];
export type FoundSession = components['schemas']['FoundSession'];
export type FoundSessionView = components['schemas']['FoundSessionView'];
export type FoundSessions = components['schemas']['FoundSessions'];
export type FoundTurn = components['schemas']['FoundTurn'];
export type GivenView = components['schemas']['GivenView'];
export type GroundsView = components['schemas']['GroundsView'];
export type History = components['schemas']['History'];
export type ImportView = components['schemas']['ImportView'];
export type Imports = components['schemas']['Imports'];
export type InsightDay = components['schemas']['InsightDay'];
export type InsightsView = components['schemas']['InsightsView'];
export type IssuedView = components['schemas']['IssuedView'];
export type JobList = components['schemas']['JobList'];
export type JobView = components['schemas']['JobView'];
export type KeyView = components['schemas']['KeyView'];
export type Keys = components['schemas']['Keys'];
export type LeftOutView = components['schemas']['LeftOutView'];
export type LinkView = components['schemas']['LinkView'];
export type Links = components['schemas']['Links'];
export type MakeLink = components['schemas']['MakeLink'];
export type MemoryEvent = components['schemas']['MemoryEvent'];
export type MemoryPage = components['schemas']['MemoryPage'];
export type MemoryView = components['schemas']['MemoryView'];
export type MintToken = components['schemas']['MintToken'];
export type ModelCallView = components['schemas']['ModelCallView'];
export type ModelCalls = components['schemas']['ModelCalls'];
export type ModelSumView = components['schemas']['ModelSumView'];
export type NightView = components['schemas']['NightView'];
export type OpenSession = components['schemas']['OpenSession'];
export type OperationPage = components['schemas']['OperationPage'];
export type OperationView = components['schemas']['OperationView'];
export type PartView = components['schemas']['PartView'];
export type PassList = components['schemas']['PassList'];
export type PassView = components['schemas']['PassView'];
export type Phrasing = components['schemas']['Phrasing'];
export type PolicyPatch = components['schemas']['PolicyPatch'];
export type PolicyView = components['schemas']['PolicyView'];
export type PortraitView = components['schemas']['PortraitView'];
export type PortraitsView = components['schemas']['PortraitsView'];
export type Problem = components['schemas']['Problem'];
export type PutDomain = components['schemas']['PutDomain'];
export type ReachedView = components['schemas']['ReachedView'];
export type RecallTimes = components['schemas']['RecallTimes'];
export type ReceiptKey = components['schemas']['ReceiptKey'];
export type ReceiptSignature = components['schemas']['ReceiptSignature'];
export type ReceiptView = components['schemas']['ReceiptView'];
export type Receipts = components['schemas']['Receipts'];
export type ReplayWebhook = components['schemas']['ReplayWebhook'];
export type Replayed = components['schemas']['Replayed'];
export type ReportUsage = components['schemas']['ReportUsage'];
export type ResolveContradiction = components['schemas']['ResolveContradiction'];
export type RetrievalView = components['schemas']['RetrievalView'];
export type RetrieveRequest = components['schemas']['RetrieveRequest'];
export type ReviewItem = components['schemas']['ReviewItem'];
export type ReviewView = components['schemas']['ReviewView'];
export type Revoked = components['schemas']['Revoked'];
export type SearchAnswer = components['schemas']['SearchAnswer'];
export type SearchRequest = components['schemas']['SearchRequest'];
export type SentenceView = components['schemas']['SentenceView'];
export type SessionPage = components['schemas']['SessionPage'];
export type SessionView = components['schemas']['SessionView'];
export type SignIn = components['schemas']['SignIn'];
export type SignInEntry = components['schemas']['SignInEntry'];
export type SignInLink = components['schemas']['SignInLink'];
export type SignInView = components['schemas']['SignInView'];
export type SignIns = components['schemas']['SignIns'];
export type SignedReceiptView = components['schemas']['SignedReceiptView'];
export type SimilarView = components['schemas']['SimilarView'];
export type SpanView = components['schemas']['SpanView'];
export type StandsView = components['schemas']['StandsView'];
export type StateHashView = components['schemas']['StateHashView'];
export type StateView = components['schemas']['StateView'];
export type StatsView = components['schemas']['StatsView'];
export type StepView = components['schemas']['StepView'];
export type TakenView = components['schemas']['TakenView'];
export type TenantPolicyView = components['schemas']['TenantPolicyView'];
export type TestedWebhook = components['schemas']['TestedWebhook'];
export type TierCounts = components['schemas']['TierCounts'];
export type TimeView = components['schemas']['TimeView'];
export type TookView = components['schemas']['TookView'];
export type TurnPage = components['schemas']['TurnPage'];
export type TurnView = components['schemas']['TurnView'];
export type Undo = components['schemas']['Undo'];
export type UndoneView = components['schemas']['UndoneView'];
export type UpdateMemory = components['schemas']['UpdateMemory'];
export type UsagePage = components['schemas']['UsagePage'];
export type UsageView = components['schemas']['UsageView'];
export type UserDeleted = components['schemas']['UserDeleted'];
export type UserView = components['schemas']['UserView'];
export type Users = components['schemas']['Users'];
export type VaultAnswer = components['schemas']['VaultAnswer'];
export type VaultChange = components['schemas']['VaultChange'];
export type VaultCommand = components['schemas']['VaultCommand'];
export type VaultConflict = components['schemas']['VaultConflict'];
export type VaultFile = components['schemas']['VaultFile'];
export type VaultFiles = components['schemas']['VaultFiles'];
export type VaultPlan = components['schemas']['VaultPlan'];
export type VaultProblem = components['schemas']['VaultProblem'];
export type VaultSynced = components['schemas']['VaultSynced'];
export type VaultView = components['schemas']['VaultView'];
export type WebhookView = components['schemas']['WebhookView'];
export type Webhooks = components['schemas']['Webhooks'];
export type WhyFoundView = components['schemas']['WhyFoundView'];
export type WhyView = components['schemas']['WhyView'];
export type WindowView = components['schemas']['WindowView'];
export type Written = components['schemas']['Written'];
export type $defs = Record<string, never>;
export interface operations {
    list_memories: {
        parameters: {
            query?: {
                /** @description `hard` or `soft`; or one of `profile`, `task`, `episodic`, `procedural`, `domain`. */
                type?: string;
                domain?: string;
                /**
                 * @description `active` (the default), `proposed`, `candidate`, `upcoming`, `expired`, `superseded`,
                 *     `forgotten`, `trashed`, or `all`.
                 */
                status?: string;
                /** @description Text that must occur in the content, in any case. */
                search?: string;
                category?: string;
                kind?: string;
                force?: string;
                tier?: string;
                tag?: string;
                /** @description What held at this instant; now if absent. */
                as_of?: string;
                /** @description What Lukasa knew at this instant; now if absent. */
                known_at?: string;
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    save_memory: {
        parameters: {
            query?: {
                /** @description Also say which memories are so near in meaning that this may be one of them, said again. */
                similar?: boolean;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMemory"];
            };
        };
        responses: {
            /** @description It was there already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    search_memories: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retrieve_context: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetrieveRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContextView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_usage: {
        parameters: {
            query?: {
                /** @description Only uses of this memory. */
                memory_id?: string;
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsagePage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    report_usage: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportUsage"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_stats: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatsView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_insights: {
        parameters: {
            query?: {
                /** @description How many days, today among them: between 1 and 90; 30 if absent. */
                days?: number;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InsightsView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    propose_memory: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMemory"];
            };
        };
        responses: {
            /** @description It is remembered already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_proposals: {
        parameters: {
            query?: {
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_contradictions: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContradictionList"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resolve_contradiction: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
                /** @description The ETag last seen; another version in its place is a 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description The id of the memory that waits */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolveContradiction"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    purge_trash: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_memory: {
        parameters: {
            query?: {
                /** @description What held at this instant; now if absent. */
                as_of?: string;
                /** @description What Lukasa knew at this instant; now if absent. */
                known_at?: string;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description A memory's id, or text that occurs in exactly one active memory */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_memory: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
                /** @description The ETag last seen; another version in its place is a 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description A memory's id, or text that occurs in exactly one active memory */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    update_memory: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
                /** @description The ETag last seen; another version in its place is a 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description A memory's id, or text that occurs in exactly one active memory */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateMemory"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_memory_history: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description A memory's id, or text that occurs in exactly one active memory */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["History"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    confirm_memory: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
                /** @description The ETag last seen; another version in its place is a 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description A memory's id, or text that occurs in exactly one active memory */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfirmMemory"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    forget_memory: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
                /** @description The ETag last seen; another version in its place is a 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description A memory's id, or text that occurs in exactly one active memory */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    restore_memory: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
                /** @description The ETag last seen; another version in its place is a 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description A memory's id */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    erase_memory: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
                /** @description The ETag last seen; another version in its place is a 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description A memory's id, or text that occurs in exactly one active memory */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    preview_erasure: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description A memory's id, or text that occurs in exactly one active memory */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasurePreview"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_erasures: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipts"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_receipt_key: {
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptKey"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_links: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description A memory's id, or text that occurs in exactly one active memory */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Links"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    link_memories: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A memory's id, or text that occurs in exactly one active memory */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateLink"];
            };
        };
        responses: {
            /** @description They were linked already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    unlink_memories: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the memory at either end */
                id: string;
                /** @description The link's id */
                link_id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_operations: {
        parameters: {
            query?: {
                /** @description Only operations on this memory. */
                memory_id?: string;
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_operation: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The operation's id */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    undo_operation: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The operation's id, or `last` for the newest that still stands */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stream_events: {
        parameters: {
            query?: {
                /**
                 * @description Go on after the event with this `id`; `Last-Event-ID` says the same and wins. From now on if
                 *     neither is there.
                 */
                after?: string;
                /** @description `false` ends the stream once everything up to now was sent; `true` if absent. */
                follow?: boolean;
            };
            header?: {
                /** @description The `id` of the last event that was received */
                "Last-Event-ID"?: string | null;
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            /** @description `data` of each event */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["OperationView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_sessions: {
        parameters: {
            query?: {
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Only those that are `active`, `idle` or `archived`. */
                state?: string;
                /** @description Those in the trash instead. */
                trashed?: boolean;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    open_session: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenSession"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    search_sessions: {
        parameters: {
            query: {
                /** @description What was talked about. */
                query: string;
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundSessions"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_session: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_session: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    edit_session: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EditSession"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_turns: {
        parameters: {
            query?: {
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Also show what the user said about domains that are not open. Counts only from the user. */
                show_hidden?: boolean;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    append_turns: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AppendTurns"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppendedTurns"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    close_session: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CloseSession"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClosedSession"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    learn_session: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClosedSession"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    restore_session: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_window: {
        parameters: {
            query?: {
                /** @description How many tokens of conversation the model can take; 32,000 if absent. */
                budget?: number;
                /** @description The share of it above which early turns are summed up; 0.8 if absent. */
                threshold?: number;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WindowView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_why: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
                /** @description The turn's place in the session */
                number: number;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhyView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    beacon: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        requestBody: {
            content: {
                "text/plain": components["schemas"]["Beacon"];
            };
        };
        responses: {
            /** @description Heard */
            202: {
                headers: {
                    [name: string]: unknown;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_episodes: {
        parameters: {
            query?: {
                /** @description Only those of this session. */
                session_id?: string;
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EpisodePage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_dependents: {
        parameters: {
            query?: {
                /** @description A turn, by its id. */
                turn_id?: string;
                /** @description An episode, if no turn is given. */
                episode_id?: string;
                /** @description A whole session, if neither is given. */
                session_id?: string;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DependentsView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_turn: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The turn's id */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    erase_turn: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The turn's id */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    erase_session: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_episode: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The episode's id */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Written"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_passes: {
        parameters: {
            query?: {
                /** @description Only those over this session. */
                session_id?: string;
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PassList"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_jobs: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobList"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retry_job: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The job's id */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_model_calls: {
        parameters: {
            query?: {
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelCalls"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    consolidate: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Consolidation"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NightView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_review: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_portraits: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortraitsView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    phrase_portraits: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Phrasing"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortraitsView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_portrait: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /**
                 * @description `profile`, `procedures`, `active_context`, or `domain:` and the domain's name
                 * @example profile
                 */
                name: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortraitView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_clusters: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClustersView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_state: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StateView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    export: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": number[];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    import: {
        parameters: {
            query?: {
                /**
                 * @description Which program it is from: `mem0`, `mcp`, `chatgpt`, `claude`, `basic-memory` or `jsonl`. A ZIP is
                 *     always an export of Lukasa.
                 */
                format?: string;
                /**
                 * @description A digest of the whole source, or any other name for it that stays the same. Every request with
                 *     the same one belongs to the same import.
                 */
                source?: string;
                /** @description What its person calls it, such as the name of the file. */
                name?: string;
                /** @description Only say what would become of it. */
                dry_run?: boolean;
                /**
                 * @description Trust an export that this server did not sign for this user: keep its origins, consents, policy
                 *     and log. Counts only from a person; from a key it changes nothing.
                 */
                trust?: boolean;
            };
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        /** @description Items, one on each line, as docs/moving.md has them; or a ZIP as application/zip */
        requestBody: {
            content: {
                "application/jsonl": string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TakenView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_imports: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Imports"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    undo_import: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The import */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UndoneView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_vault: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VaultView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sync_vault: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VaultFiles"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VaultSynced"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    plan_vault: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VaultFiles"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VaultPlan"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    run_vault_command: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The same key and request again give the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VaultCommand"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VaultAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_policy: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_policy: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolicyPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_tenant_policy: {
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantPolicyView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_tenant_policy: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolicyPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantPolicyView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_session_context: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GivenView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_retrieval: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The retrieval's id */
                retrieval_id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetrievalView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    detect_domains: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DetectRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DetectAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_domains: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Domains"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_domain: {
        parameters: {
            path: {
                /** @description A short lower-case word */
                name: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutDomain"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    open_domain: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The domain */
                name: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    shut_domain: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The domain */
                name: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_users: {
        parameters: {
            query?: {
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Users"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_user: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUser"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_user: {
        parameters: {
            path: {
                /** @description Your own id for the person */
                user: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_user: {
        parameters: {
            path: {
                /** @description Your own id for the person */
                user: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserDeleted"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserDeleted"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    preview_user_erasure: {
        parameters: {
            path: {
                /** @description Your own id for the person */
                user: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasurePreview"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_user_erasures: {
        parameters: {
            path: {
                /** @description Your own id for the person */
                user: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipts"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_keys: {
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Keys"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_key: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKey"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revoke_key: {
        parameters: {
            path: {
                /** @description The key's id, not its secret */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Revoked"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    mint_token: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["MintToken"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_sign_in: {
        parameters: {
            header?: {
                /** @description Whose memory it is about, by your own id; needed with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_in: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignIn"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_out: {
        responses: {
            /** @description Signed out */
            204: {
                headers: {
                    [name: string]: unknown;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    make_sign_in_link: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["MakeLink"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInLink"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_sign_ins: {
        parameters: {
            query?: {
                /** @description Only this user's. A person sees their own without it. */
                user?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignIns"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    end_sign_ins: {
        parameters: {
            query?: {
                /** @description Only this user's. A person sees their own without it. */
                user?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Revoked"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    end_sign_in: {
        parameters: {
            path: {
                /** @description Its id, as listed */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Revoked"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_webhooks: {
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhooks"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_webhook: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhook"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_webhook: {
        parameters: {
            path: {
                /** @description The webhook's id */
                id: string;
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    edit_webhook: {
        parameters: {
            path: {
                /** @description The webhook's id */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EditWebhook"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    test_webhook: {
        parameters: {
            path: {
                /** @description The webhook's id */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestedWebhook"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_deliveries: {
        parameters: {
            query?: {
                /** @description Only those that are `waiting`, `delivered` or `dead`. */
                state?: string;
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
            };
            path: {
                /** @description The webhook's id */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deliveries"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replay_webhook: {
        parameters: {
            path: {
                /** @description The webhook's id */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayWebhook"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replayed"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    healthz: {
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alive"];
                };
            };
        };
    };
    readyz: {
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alive"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
