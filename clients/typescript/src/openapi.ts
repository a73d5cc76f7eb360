// Generated from openapi.json by `npm run generate`; not to be edited.

export interface paths {
    "/api/home": {
        /**
         * Get what the first screen of a console shows.
         * @description The first page of memories, the review, the domains, the time zone and the policy, as their own
         *     operations return them, and the position from which to stream changes.
         */
        get: operations["get_home"];
    };
    "/api/memory": {
        /**
         * List memories, newest first.
         * @description With `as_of` and `known_at` it answers for any point on both time axes, and the same pair always
         *     gives the same list. `status=all` lists memories in every state. Without a project it lists the
         *     memories of every project.
         */
        get: operations["list_memories"];
        /**
         * Save a memory.
         * @description The memory is active at once. Saving the same content again returns the existing memory, and
         *     saving a rule under an existing key changes the rule. With
         *     `similar=true` the answer also lists possible duplicates: update one of these instead, or keep
         *     both.
         */
        post: operations["save_memory"];
    };
    "/api/memory/search": {
        /**
         * Search for memories relevant to a message.
         * @description Search by keyword, meaning, links and time covers the user's whole memory, and the scores are
         *     fused. What is not relevant enough is left out, so that a question of general knowledge finds
         *     nothing. With `as_of` and `known_at` it answers for any point on both time axes.
         */
        post: operations["search_memories"];
    };
    "/api/memory/retrieve": {
        /**
         * Get the context for a message.
         * @description A baseline that stays the same for the session, then memories relevant to this message, within
         *     one budget, with a mark on every line to cite it by. The deadline is met even if a component is
         *     slow or unavailable: `degraded` lists what is missing.
         */
        post: operations["retrieve_context"];
    };
    "/api/memory/usage": {
        /**
         * List uses of memories, newest first.
         * @description They are kept for 90 days.
         */
        get: operations["list_usage"];
        /**
         * Report how a memory was used.
         * @description That a memory was put into a prompt is recorded automatically.
         */
        post: operations["report_usage"];
    };
    "/api/memory/stats": {
        /** Get counts of memories and of their use. */
        get: operations["get_stats"];
    };
    "/api/predictions": {
        /**
         * State what is expected of a memory, before acting on it.
         * @description Report the outcome afterwards. A confirmed prediction makes an inferred memory more certain, a
         *     wrong one less.
         */
        post: operations["state_prediction"];
    };
    "/api/predictions/{id}/outcome": {
        /**
         * Report how a prediction turned out.
         * @description A prediction has one outcome; reporting the same one again changes nothing. Consolidation counts it
         *     for or against the memory, unless the user stated or confirmed the memory.
         */
        post: operations["report_outcome"];
    };
    "/api/insights": {
        /** Get daily statistics of growth, use, corrections and cost. */
        get: operations["get_insights"];
    };
    "/api/memory/propose": {
        /**
         * Propose a memory.
         * @description It is stored and visible to the user, and becomes active only when the user agrees to its words.
         */
        post: operations["propose_memory"];
    };
    "/api/memory/proposals": {
        /** List open proposals. */
        get: operations["list_proposals"];
    };
    "/api/memory/contradictions": {
        /** List contradictions between memories, newest first; at most 200. */
        get: operations["list_contradictions"];
    };
    "/api/memory/{id}/resolve": {
        /**
         * Resolve a contradiction: say which of the two memories is true.
         * @description It is identified by the memory listed as `against`. Only the user can do it. If that memory is
         *     true, it replaces the other; if the other one is, it is rejected or forgotten. This is one
         *     operation, which can be undone.
         */
        post: operations["resolve_contradiction"];
    };
    "/api/memory/purge": {
        /** Permanently remove memories that have been in the trash for thirty days. */
        post: operations["purge_trash"];
    };
    "/api/memory/filing": {
        /**
         * Suggest domains for the memories that have none.
         * @description By the words of each active memory, as `POST /api/domains/detect` does. Nothing is changed.
         */
        get: operations["suggest_filing"];
        /**
         * File memories under domains.
         * @description Moves the memories to these domains as one operation that can be undone. Their words, who said them
         *     and how certain they are stay as they are. Memories that are there already or were removed since are
         *     left as they are. Only the user may file.
         */
        post: operations["file_memories"];
    };
    "/api/memory/{id}": {
        /** Get one memory, now or at a point on both time axes. */
        get: operations["get_memory"];
        /**
         * Delete a memory.
         * @description Moves the memory into the trash. It can be restored for thirty days and is then removed
         *     permanently.
         */
        delete: operations["delete_memory"];
        /**
         * Change or correct a memory.
         * @description Nothing is overwritten: a new version is opened and the old one closed, on both time axes. With
         *     `If-Match` the update happens only if the memory has not changed since.
         */
        patch: operations["update_memory"];
    };
    "/api/memory/{id}/history": {
        /** List every version of a memory, in the order they became known. */
        get: operations["get_memory_history"];
    };
    "/api/memory/{id}/confirm": {
        /**
         * Answer a proposal, or confirm an active memory.
         * @description A proposal becomes active only when the user (with a user token, or on a local server) agrees to
         *     exactly the words that were shown. For an active memory the confirmation is recorded; an assistant
         *     needs a quotation of what the user typed since, and cannot confirm a hard rule or an order.
         */
        post: operations["confirm_memory"];
    };
    "/api/memory/{id}/rating": {
        /**
         * Rate a memory up or down.
         * @description A memory has one rating, which can be changed and removed. Rating an inferred memory down counts
         *     against it; a memory that the user stated or confirmed is not changed by a rating. Only the user
         *     can rate: with a user token, or on a local server.
         */
        post: operations["rate_memory"];
        /** Remove the rating of a memory. */
        delete: operations["remove_rating"];
    };
    "/api/memory/{id}/forget": {
        /**
         * Forget a memory.
         * @description Ends the memory now. It is never put into a prompt again, stays in the history, and can be
         *     restored.
         */
        post: operations["forget_memory"];
    };
    "/api/memory/{id}/restore": {
        /** Restore a forgotten or deleted memory exactly as it was. */
        post: operations["restore_memory"];
    };
    "/api/memory/{id}/erase": {
        /**
         * Erase a memory, now and everywhere.
         * @description Removes every version, link and piece of evidence, and the stored responses that quote it. Only
         *     a receipt stays, with counts of what was removed and none of its content. It cannot be undone.
         */
        post: operations["erase_memory"];
    };
    "/api/memory/{id}/erasure": {
        /** Preview what erasing a memory would remove, without removing anything. */
        get: operations["preview_erasure"];
    };
    "/api/erasures": {
        /** List the receipts of erased memories, newest first, with their current state; at most 1,000. */
        get: operations["list_erasures"];
    };
    "/receipts/key": {
        /**
         * Get the public key to verify receipts with.
         * @description Keep a copy: a receipt is verified with the key you know, not with the one it contains.
         */
        get: operations["get_receipt_key"];
    };
    "/api/memory/{id}/links": {
        /** List the links of a memory, in the order they were made. */
        get: operations["list_links"];
        /** Link two memories. */
        post: operations["link_memories"];
    };
    "/api/memory/{id}/links/{link_id}": {
        /** Remove a link. */
        delete: operations["unlink_memories"];
    };
    "/api/memory/{id}/graph": {
        /**
         * Follow the links of a memory.
         * @description Lists the memories that can be reached over at most `depth` links in either direction, such as the
         *     projects of a person and what these depend on. Removed memories are not followed.
         */
        get: operations["get_memory_graph"];
    };
    "/api/operations": {
        /** List operations, newest first. */
        get: operations["list_operations"];
    };
    "/api/operations/{id}": {
        /** Get one operation. */
        get: operations["get_operation"];
    };
    "/api/operations/{id}/undo": {
        /**
         * Undo an operation as a whole.
         * @description Every version it closed is opened again, and every version it opened is closed. The undo is
         *     itself an operation, so it can be undone.
         */
        post: operations["undo_operation"];
    };
    "/api/events": {
        /**
         * Stream operations as they happen.
         * @description Server-sent events, one for each operation, in order: `event` is the verb, `data` the operation
         *     as `GET /api/operations/{id}` returns it, `id` a position in the log. Sending the last `id` as
         *     `Last-Event-ID` continues after it, without gaps or duplicates. Without one the stream begins
         *     now, and its first line contains the position to continue from.
         */
        get: operations["stream_events"];
    };
    "/api/sessions": {
        /** List sessions. */
        get: operations["list_sessions"];
        /**
         * Open a session.
         * @description If the session exists, it is returned. Appending a turn opens a session too.
         */
        post: operations["open_session"];
    };
    "/api/sessions/search": {
        /** Search in all sessions. */
        get: operations["search_sessions"];
    };
    "/api/sessions/{session_id}": {
        /** Get a session. */
        get: operations["get_session"];
        /**
         * Move a session to the trash.
         * @description Its turns are no longer found, and what was learned from it alone is removed with it. It can be
         *     restored for thirty days.
         */
        delete: operations["delete_session"];
        /** Rename, archive or unarchive a session. */
        patch: operations["edit_session"];
    };
    "/api/sessions/{session_id}/turns": {
        /** List the turns of a session. */
        get: operations["list_turns"];
        /**
         * Append turns.
         * @description The session is opened if it does not exist. Turns are never changed afterwards, and are found by
         *     recall as soon as this request is answered. With an `Idempotency-Key` they are appended once.
         */
        post: operations["append_turns"];
    };
    "/api/observations": {
        /** List raw events, newest first. */
        get: operations["list_observations"];
        /**
         * Record raw events.
         * @description Events of other applications and of agents, such as orders or opened files. They are appended and
         *     never changed, and go into no prompt. Secrets in them are masked. An event that is observed at
         *     least five times on at least three days becomes a proposal; the setting `observed` of the policy
         *     decides. A user can have 100,000 events.
         */
        post: operations["record_observations"];
        /**
         * Delete the raw events of a source.
         * @description Like deleting them one by one, as one operation. One request deletes the oldest 1,000; repeat it
         *     until `reached` counts none.
         */
        delete: operations["delete_observations"];
    };
    "/api/observations/{id}": {
        /**
         * Delete a raw event.
         * @description It is moved into the trash, with the memories that rest on it alone: a pattern stays while it was
         *     observed often enough without it. Undo restores all of it; after thirty days it is removed
         *     permanently.
         */
        delete: operations["delete_observation"];
    };
    "/api/observations/{id}/erase": {
        /**
         * Erase a raw event, now and everywhere.
         * @description Like deleting it, but nothing can be restored, and no quotation of it stays anywhere.
         */
        post: operations["erase_observation"];
    };
    "/api/sessions/{session_id}/close": {
        /**
         * Close a session.
         * @description The turns since the last time are learned from, with a chat model or by rules. Closing a closed
         *     session does nothing. A new turn makes it active again.
         */
        post: operations["close_session"];
    };
    "/api/sessions/{session_id}/learn": {
        /**
         * Learn from a session now.
         * @description Works for open and closed sessions, whatever the policy says. Turns that were learned from
         *     already are not read again.
         */
        post: operations["learn_session"];
    };
    "/api/sessions/{session_id}/restore": {
        /** Restore a session from the trash. */
        post: operations["restore_session"];
    };
    "/api/sessions/{session_id}/window": {
        /**
         * Get a session, cut to a model's context window.
         * @description Once it fills most of the budget, early turns are replaced by a summary. No turn is deleted, and
         *     the request calls no model: the summary is made in the background.
         */
        get: operations["get_window"];
    };
    "/api/sessions/{session_id}/turns/{number}/why": {
        /**
         * Explain a turn.
         * @description Lists the memories that the turn reports as used, then those it was given, as they were at the
         *     time.
         */
        get: operations["get_why"];
    };
    "/api/beacon": {
        /**
         * Close a session from a page that is being closed.
         * @description For `navigator.sendBeacon`, which sends text without headers and does not wait for the answer.
         *     The answer does not tell whether the session exists.
         */
        post: operations["beacon"];
    };
    "/api/episodes": {
        /** List episodes, the latest first. */
        get: operations["list_episodes"];
    };
    "/api/dependents": {
        /**
         * List what depends on a turn, an episode or a session.
         * @description Shows before a deletion which memories would be removed with it, which would lose some of their
         *     support, and which stay because the user stated them.
         */
        get: operations["list_dependents"];
    };
    "/api/turns/{id}": {
        /**
         * Delete a turn.
         * @description The turn, its episodes and every memory that depends on it alone are moved into the trash
         *     together; memories with other support stay. Undo restores all of it; after thirty days it is
         *     removed permanently. `GET /api/dependents` previews what is affected.
         */
        delete: operations["delete_turn"];
    };
    "/api/turns/{id}/erase": {
        /**
         * Erase a turn, now and everywhere.
         * @description Like deleting it, but nothing can be restored, and no quotation of it stays anywhere.
         */
        post: operations["erase_turn"];
    };
    "/api/turns/{id}/note": {
        /**
         * Keep an assistant's reply as a note.
         * @description The reply becomes a memory with the tag `note`, the origin `assistant` and the turn as its evidence;
         *     `GET /api/memory?tag=note` lists the notes. It is never a rule, and never counts as something the
         *     user said. Keeping it again returns the same note. Only the user can do it: with a user token, or
         *     on a local server.
         */
        post: operations["keep_reply"];
    };
    "/api/sessions/{session_id}/erase": {
        /** Erase a whole session, now and everywhere, with everything learned from it alone. */
        post: operations["erase_session"];
    };
    "/api/episodes/{id}": {
        /** Get an episode. */
        get: operations["get_episode"];
        /**
         * Delete an episode.
         * @description It is moved into the trash, and a job summarises its turns again without the old words. The turns
         *     stay, and so do the memories learned from them: delete the turns or the session to remove those.
         *     Undo restores the old summary. Without a chat model, or if its turns are not kept, there is no new
         *     one.
         */
        delete: operations["delete_episode"];
        /**
         * Edit an episode.
         * @description The episode with the user's words takes the place of the old one, under a new id. It stays when a
         *     turn of it is moved to the trash; when a turn is erased it is summarised again without the turn,
         *     like every episode. Only the user edits episodes. Undo restores the old words.
         */
        patch: operations["edit_episode"];
    };
    "/api/passes": {
        /** List extraction passes, the latest first. */
        get: operations["list_passes"];
    };
    "/api/passes/{id}/left-out/{place}/keep": {
        /**
         * Keep what a pass left out.
         * @description The sentence becomes a memory that the user states, with the turn as evidence. Keeping it again
         *     returns the same memory. Only the user can do it: with a user token, or on a local server.
         */
        post: operations["keep_left_out"];
    };
    "/api/jobs": {
        /** List background jobs, failed ones first; at most 200. */
        get: operations["list_jobs"];
    };
    "/api/jobs/{id}/retry": {
        /** Retry a failed job. */
        post: operations["retry_job"];
    };
    "/api/model-calls": {
        /** List calls of chat models and their cost. */
        get: operations["list_model_calls"];
    };
    "/api/consolidate": {
        /**
         * Consolidate memories now, as the daily job does.
         * @description Memories that were repeated often are rated higher, those that use has shown to be wrong are
         *     rated lower, candidates without support are removed, memories that ended long ago are moved into
         *     the trash, and recent topics of the user are saved for a month. Inferred memories that say the
         *     same are merged, and memories that contradict each other are listed for review. No content
         *     changes. Undo reverses all of it. Before that, observations that repeat are counted, and become
         *     memories as the policy says: an operation of their own.
         */
        post: operations["consolidate"];
    };
    "/api/review": {
        /**
         * List memories that the user should review.
         * @description Proposals, contradictions, memories that may no longer be true, candidates, and memories learned in
         *     the last thirty days; and domains that the user mentioned and has not opened. Each item contains
         *     the requests that answer it. `periodic` says whether it is time to invite the user.
         */
        get: operations["get_review"];
    };
    "/api/review/answers": {
        /**
         * Answer many questions of the review.
         * @description Each answer is the same as the request of its item in `GET /api/review`: an operation of its own,
         *     which is accepted or refused by itself. With an `Idempotency-Key` each is given once. `If-Match`
         *     is refused: the `sha256` of an answer says which words were shown.
         */
        post: operations["answer_review"];
    };
    "/api/portraits": {
        /**
         * List all portraits.
         * @description Who the user is, how to help them, what they are working on, and one for each domain with
         *     memories. Reading calls no model: sentences that a model phrased before are shown if they are
         *     still valid, and the rest is in the memories' own words.
         */
        get: operations["list_portraits"];
        /**
         * Phrase the portraits again now, as the daily job does.
         * @description A model, if one is configured, phrases those whose memories have changed. It may state only what
         *     the cited memories state; anything else is dropped. Returns all portraits.
         */
        post: operations["phrase_portraits"];
    };
    "/api/portraits/{name}": {
        /** Get one portrait by its name. */
        get: operations["get_portrait"];
    };
    "/api/clusters": {
        /**
         * List clusters of related memories.
         * @description Memories are grouped by their links and by the rare words they share, the largest group first.
         *     An unrelated memory is in no group. Computed on each request.
         */
        get: operations["list_clusters"];
    };
    "/api/state": {
        /**
         * Get counts and hashes of everything stored about the user.
         * @description Equal hashes mean the same memory: compare them before and after an undo, a restore or a move to
         *     another server.
         */
        get: operations["get_state"];
    };
    "/api/export": {
        /**
         * Export everything stored about the user as one ZIP.
         * @description It contains JSON lines for programs, markdown for people, and a manifest with the SHA-256 of
         *     every file. `docs/export-import.md` documents each field.
         */
        get: operations["export"];
    };
    "/api/import": {
        /**
         * Import memories and sessions.
         * @description The body is an export of Lukasa as a ZIP, or up to 500 items of another program as JSON lines.
         *     Nothing is imported twice, and nothing that was removed since is restored.
         */
        post: operations["import"];
    };
    "/api/imports": {
        /** List the latest imports, newest first; at most 200. */
        get: operations["list_imports"];
    };
    "/api/imports/{id}/undecided": {
        /** List the memories of an import that wait for the user's decision. */
        get: operations["list_undecided"];
    };
    "/api/imports/{id}/decision": {
        /**
         * Decide which memories of an import are used in prompts.
         * @description Confirms all memories of the import that wait, or the chosen ones, as one operation that can be
         *     undone. Memories that were changed, removed or confirmed since are left as they are, and
         *     proposals keep waiting for their own answers. Only the user may decide.
         */
        post: operations["decide_import"];
    };
    "/api/imports/{id}/undo": {
        /**
         * Undo an import.
         * @description Its memories and the decisions about them are undone, and its sessions and observations are moved
         *     into the trash, from which they can be restored for thirty days by undoing these operations. What
         *     was changed since stays as it is. A key of an assistant or of an import undoes only an import that it
         *     made itself.
         */
        post: operations["undo_import"];
    };
    "/api/vault": {
        /**
         * Get a user's memory as markdown files, to read, edit and keep.
         * @description `.lukasa/base.jsonl` contains what the lines do not show, so that a sync loses nothing.
         */
        get: operations["get_vault"];
        /**
         * Apply the edits in these files as one operation.
         * @description Lines that were also edited on the server stay unchanged in both places; unchanged lines write
         *     nothing. With an empty memory, everything is restored.
         */
        post: operations["sync_vault"];
    };
    "/api/vault/plan": {
        /**
         * Preview a sync of these files.
         * @description Lists the edits since the files were exported, and the conflicts with edits on the server.
         *     Writes nothing.
         */
        post: operations["plan_vault"];
    };
    "/api/vault/commands": {
        /**
         * Run one command of the memory tool (`memory_20250818`) on the files of the vault.
         * @description Paths are under `/memories`. An edit is a versioned change, deleting is forgetting, and each
         *     command can be undone. The files have what belongs to the project of the request and to none.
         */
        post: operations["run_vault_command"];
    };
    "/api/policy": {
        /** Get the policy in force for the user. */
        get: operations["get_policy"];
        /**
         * Set the user's policy.
         * @description Replaces the user's earlier settings; absent settings are inherited from the tenant. If the preset
         *     asks for a consent that the user has not given, `consents` contains it.
         */
        put: operations["put_policy"];
    };
    "/api/tenant/policy": {
        /** Get the tenant's policy. */
        get: operations["get_tenant_policy"];
        /** Set the tenant's policy, for all its users. */
        put: operations["put_tenant_policy"];
    };
    "/api/sessions/{session_id}/context": {
        /** Get the exact context that a session was given. */
        get: operations["get_session_context"];
    };
    "/api/retrievals/{retrieval_id}": {
        /** Get a retrieval with its trace. */
        get: operations["get_retrieval"];
    };
    "/api/domains/detect": {
        /** Detect the domains that a message is about. */
        post: operations["detect_domains"];
    };
    "/api/domains": {
        /** List all domains, and which of them the user has opened. */
        get: operations["list_domains"];
    };
    "/api/domains/{name}": {
        /** Add or change a domain of the tenant. */
        put: operations["put_domain"];
    };
    "/api/domains/{name}/opt-in": {
        /**
         * Open a domain.
         * @description Opening is consent, so only the user can do it: with a user token, or on a local server. What was
         *     left out of conversations because the domain was not open is then learned by background jobs.
         */
        put: operations["open_domain"];
        /**
         * Close a domain again. What is already stored stays until it is deleted.
         * @description If the user does it, the review does not ask about the domain again.
         */
        delete: operations["close_domain"];
    };
    "/api/domains/{name}/consent": {
        /**
         * Consent to what is inferred about a domain.
         * @description Opens the domain if it is not open, and lets memories that are inferred about it be used without
         *     asking for each of them. What gives orders, or lets another party act for the user, is still asked
         *     about. Only the user consents: with a user token, or on a local server. Undo withdraws it.
         */
        put: operations["give_consent"];
        /**
         * Withdraw the consent to what is inferred about a domain.
         * @description What is inferred from then on is a proposal again. The domain stays open, and the memories stay.
         */
        delete: operations["withdraw_consent"];
    };
    "/api/users": {
        /** List the tenant's users, by name. */
        get: operations["list_users"];
        /**
         * Create a user before their first memory, or create a deleted user again, without memories.
         * @description This is optional: the first memory about a user creates them.
         */
        post: operations["create_user"];
    };
    "/api/users/{user}": {
        /** Get one user, with counts of what is stored about them. */
        get: operations["get_user"];
        /**
         * Erase a user and everything stored about them, now.
         * @description Only a signed receipt stays, and a row without a name, because of which requests about the user
         *     are refused until they are created again. It cannot be undone. The user may do it too, signed in
         *     or with a token that may erase. For a user with very much data the answer is 202: requests about
         *     the user are refused from then on, the rows are removed in the background, and `GET
         *     /api/users/{user}/erasures` has the progress and then the receipt.
         */
        delete: operations["delete_user"];
    };
    "/api/users/{user}/erasure": {
        /**
         * Preview what deleting a user would remove, without removing anything.
         * @description The user may request it too.
         */
        get: operations["preview_user_erasure"];
    };
    "/api/users/{user}/erasures": {
        /**
         * List the receipts of everything erased about a user, who may be deleted, at most 1,000, and the
         *     progress of a running erasure.
         */
        get: operations["list_user_erasures"];
    };
    "/api/spaces": {
        /** List the tenant's spaces, by name; at most 1,000. */
        get: operations["list_spaces"];
        /** Create a space without members. One that exists stays as it is. */
        post: operations["create_space"];
    };
    "/api/spaces/{space}": {
        /** Erase a space with all its memories and grants, now. It cannot be undone. */
        delete: operations["erase_space"];
    };
    "/api/spaces/{space}/members": {
        /** List the members of a space, including those whose grant was ended. */
        get: operations["list_space_members"];
    };
    "/api/spaces/{space}/members/{user}": {
        /**
         * Grant a space to a user, or change what the grant allows.
         * @description It allows nothing until the user accepts it with `PUT /api/memberships/{space}`.
         */
        put: operations["grant_space"];
        /**
         * End the grant of a space to a user, for every request from then on.
         * @description What the user has written in the space stays.
         */
        delete: operations["end_space_grant"];
    };
    "/api/memberships": {
        /** List the spaces that have granted to the user, accepted or not. */
        get: operations["list_memberships"];
    };
    "/api/memberships/{space}": {
        /**
         * Accept the grant of a space.
         * @description Only the user can do it: with a user token, signed in, or on a local server.
         */
        put: operations["accept_membership"];
        /**
         * Leave a space, or decline its grant. Only the user can do it.
         * @description What the user has written in the space stays.
         */
        delete: operations["leave_space"];
    };
    "/api/keys": {
        /** List the tenant's keys, without their secrets. */
        get: operations["list_keys"];
        /** Create a key. Its secret is shown only in this answer. */
        post: operations["create_key"];
    };
    "/api/keys/{id}": {
        /** Revoke a key and everything made from it: tokens, links and sign-ins. */
        delete: operations["revoke_key"];
    };
    "/api/keys/{id}/rotate": {
        /**
         * Replace a key by a new one with the same name, user, permissions and origin.
         * @description The old key stays valid for the overlap. Tokens and sign-ins made with it keep their own ends; revoke
         *     the old key to end them too. A key that was replaced cannot be rotated again. The new secret is shown
         *     only in this answer.
         */
        post: operations["rotate_key"];
    };
    "/api/tokens": {
        /**
         * Mint a short-lived token for one user's browser.
         * @description It is bound to that user, expires, and acts as the user, which no key does: it can answer
         *     proposals and open domains.
         */
        post: operations["mint_token"];
    };
    "/api/sign-in": {
        /** Get the current sign-in. */
        get: operations["get_sign_in"];
        /**
         * Sign in.
         * @description The answer sets a cookie; no other credential is needed from then on.
         */
        post: operations["sign_in"];
        /**
         * Sign out permanently in this browser.
         * @description Links, tokens and other sign-ins that were made with this sign-in stay valid.
         */
        delete: operations["sign_out"];
    };
    "/api/sign-in/methods": {
        /** List the identity providers that users can sign in to the console with. */
        get: operations["list_sign_in_methods"];
    };
    "/api/sign-in/links": {
        /**
         * Make a link that signs one user in.
         * @description It works once, within fifteen minutes. Send it only to that user.
         */
        post: operations["make_sign_in_link"];
    };
    "/api/sign-ins": {
        /**
         * List active sign-ins, tokens, links and connectors.
         * @description An administrator sees the tenant's, a user their own. The latest 1,000.
         */
        get: operations["list_sign_ins"];
        /**
         * End all sign-ins, tokens, links and connectors of one user, and everything made from them.
         * @description A user ends their own, including this one; an administrator names the user.
         */
        delete: operations["end_sign_ins"];
    };
    "/api/sign-ins/{id}": {
        /** End one sign-in, token, link or connector, and everything made from it. */
        delete: operations["end_sign_in"];
    };
    "/api/audit": {
        /**
         * List the tenant's audit log, newest first.
         * @description It records sign-ins, keys, connectors, policies, exports, imports and erasures. Only
         *     administrators of the tenant can read it. `lukasa audit verify` verifies its chain of hashes.
         */
        get: operations["list_audit"];
    };
    "/api/webhooks": {
        /** List the tenant's webhooks, without their secrets. */
        get: operations["list_webhooks"];
        /**
         * Create a webhook. Its secret is shown only in this answer.
         * @description It receives every write from now on as a signed `POST` (Standard Webhooks) with ids and the
         *     verb, never with text of a memory.
         */
        post: operations["create_webhook"];
    };
    "/api/webhooks/{id}": {
        /** Delete a webhook and its delivery log. */
        delete: operations["delete_webhook"];
        /** Change, disable or enable a webhook. */
        patch: operations["edit_webhook"];
    };
    "/api/webhooks/{id}/test": {
        /** Send a test delivery to a webhook. */
        post: operations["test_webhook"];
    };
    "/api/webhooks/{id}/rotate": {
        /**
         * Replace the secret of a webhook. The new one is shown only in this answer.
         * @description During the overlap `webhook-signature` has a signature with each of both secrets, so that the
         *     receiver can change to the new one. A second rotation before its end is refused, unless its own
         *     overlap is 0.
         */
        post: operations["rotate_webhook"];
    };
    "/api/webhooks/{id}/deliveries": {
        /**
         * List the latest deliveries, including failed ones.
         * @description They are kept for thirty days.
         */
        get: operations["list_deliveries"];
    };
    "/api/webhooks/{id}/replay": {
        /** Send deliveries again, with the same `webhook-id`s. */
        post: operations["replay_webhook"];
    };
    "/api/model-service": {
        /**
         * Get the model service behind `/v1`, and the services found on this machine.
         * @description Only the console of a server without authentication may.
         */
        get: operations["get_model_service"];
        /**
         * Set the model service behind `/v1`. It is tested first, stored in the data folder, and used at once.
         * @description Only the console of a server without authentication may.
         */
        put: operations["put_model_service"];
        /**
         * Remove the model service that was set in the console.
         * @description Only the console of a server without authentication may.
         */
        delete: operations["delete_model_service"];
    };
    "/api/model-service/test": {
        /**
         * Test a model service with one short chat request, without storing it.
         * @description Only the console of a server without authentication may.
         */
        post: operations["test_model_service"];
    };
    "/healthz": {
        /** Liveness check: the process is running. */
        get: operations["healthz"];
    };
    "/readyz": {
        /** Readiness check: the database answers, its schema is present, and the server is not stopping. */
        get: operations["readyz"];
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What assistants may do without asking. */
        AgentsPatch: {
            /**
             * @description When an assistant may replace a memory that the user stated: `evidence` (with a quotation of
             *     the user; the default), `always` or `never`.
             */
            replace?: string | null;
        };
        /** @description A figure beyond its limit, and what to do about it. */
        AlertView: {
            /** @example cache_hits */
            code: string;
            message: string;
            /** Format: double */
            value: number;
            /** Format: double */
            limit: number;
            next_step: string;
        };
        /** @description The result of one answer: what it wrote, or why it was refused. */
        AnswerResult: {
            written?: components["schemas"]["WriteResult"] | null;
            problem?: components["schemas"]["Problem"] | null;
        };
        /** @description The results, in the order of the answers. */
        AnswerResults: {
            data: components["schemas"]["AnswerResult"][];
        };
        /** @description Answers to send together. */
        AnswerReview: {
            /** @description Between 1 and 200. */
            answers: components["schemas"]["ReviewAnswer"][];
        };
        /** @description The request that answers an item of the review. */
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
             * @description `user`, `assistant`, `system` or `tool`. It decides how far the content is trusted.
             * @example user
             */
            role: string;
            /** @example I moved to Lisbon in March. */
            content: string;
            /** @description The name of the speaker, if several people speak. */
            speaker?: string | null;
            /**
             * Format: date-time
             * @description When it was said; now if absent.
             */
            at?: string | null;
            /**
             * @description Parts of the message that the sender did not write. Mark text that was pasted, quoted or
             *     prefilled by a link: it is not learned from as the user's own words. An empty list means
             *     that everything was typed. If absent it is guessed: quoted lines, code and very long
             *     paragraphs then do not count as the user's own words.
             */
            spans?: components["schemas"]["SpanView"][] | null;
            /** @description Ids of the memories that it cites or relies on. */
            used?: string[];
            /** @description The retrieval that returned them. */
            retrieval_id?: string | null;
        };
        /** @description Messages to append, in order: between 1 and 100. */
        AppendTurns: {
            turns: components["schemas"]["AppendTurn"][];
            /** @description The project of the session, if it has to be opened. Another one than the session has is refused. */
            project?: string | null;
        };
        /** @description Result of appending turns. */
        AppendedTurns: {
            session: components["schemas"]["SessionView"];
            /** @description The ids of the turns, in the order they were sent. */
            turn_ids: string[];
            /**
             * Format: int32
             * @description The number of the first appended turn.
             */
            first: number;
            /** @description Whether they were stored; in an incognito session, and while memory is paused, they are not. */
            kept: boolean;
        };
        /**
         * @description Whether an export is trusted. An untrusted one is imported with the origin `import`, without
         *     consents or confirmations, and its rules, instructions and sensitive memories wait for consent.
         */
        ArchiveTrustView: {
            /** @description Whether this server signed it for this user, and it has not been changed since. */
            signed_here: boolean;
            /** @description Whether it is imported unchanged. */
            trusted: boolean;
        };
        /** @description Rank and score of a result in one arm. */
        ArmView: {
            /** @enum {string} */
            arm: "keyword" | "keyword_window" | "keyword_session" | "vector" | "vector_window" | "speaker" | "time" | "recency" | "prior" | "session_best" | "link";
            rank: number;
            /** Format: float */
            score: number;
        };
        /** @description A page of the audit log, newest first. */
        AuditPage: {
            data: components["schemas"]["AuditView"][];
            next_cursor?: string | null;
        };
        /** @description One record of the audit log: ids, words and numbers, without names or content. */
        AuditView: {
            /**
             * Format: int64
             * @description Its position in the tenant's chain, from 1.
             */
            number: number;
            /** Format: date-time */
            at: string;
            /**
             * @description What was done: `sign_in`, `sign_in.end`, `link.create`, `key.create`, `key.revoke`,
             *     `key.rotate`, `webhook.create`, `webhook.edit`, `webhook.remove`, `webhook.rotate`,
             *     `signing_key.rotate`, `connector.create`, `connector.end`, `policy.tenant`, `policy.user`,
             *     `export`, `import`, `import.undo`, `erase`, `user.erase`, `space.create`, `space.grant`,
             *     `space.accept`, `space.end` or `audit.prune`.
             * @example key.create
             */
            event: string;
            /**
             * @description `done` or `refused`.
             * @example done
             */
            result: string;
            /**
             * @description `human` for a sign-in or token, `key`, `connector`, `link`, `provider`, `local`, `operator`
             *     for the command line, or `job`.
             * @example human
             */
            actor_kind: string;
            /** @description The id of the credential. */
            actor: string;
            /** @description The id of the user it is about. */
            user_id?: string | null;
            /**
             * @description The id of what it is about: a credential, an import, an operation, an erasure, or the version
             *     of a policy.
             */
            subject: string;
            /**
             * @description Such as the permissions of a new credential.
             * @example read,write
             */
            detail: string;
            /** @description The hash of the record before it, in hexadecimal digits. */
            previous: string;
            /** @description The hash of this record. */
            hash: string;
        };
        /** @description A baseline as it was given, byte for byte. */
        BaselineView: {
            content: string;
            etag: string;
            memory_ids: string[];
            /** Format: date-time */
            rendered_at: string;
        };
        /** @description What a page sends with `navigator.sendBeacon` when it is closed. */
        Beacon: {
            session_id: string;
            /** @description Whether there are new turns since it was last closed, if known. `false` calls no model. */
            has_new_turns?: boolean | null;
            /** @description The user token: a beacon cannot carry headers. */
            token?: string | null;
        };
        /** @description Use of the budget, in tokens. */
        BudgetView: {
            limit: number;
            used: number;
            baseline: number;
            dynamic: number;
            /**
             * Format: int64
             * @description The cost of the used tokens as input of the first chat model (`LUKASA_CHAT`), in millionths of
             *     the currency of its price; null without a price.
             */
            cost_micros?: number | null;
        };
        /** @description A line of the prompt, and its source. */
        CitationView: {
            /** @example m1 */
            mark: string;
            memory_id?: string | null;
            /** @description Other memories in the same line, if the budget did not allow a line for each. */
            also_memory_ids?: string[];
            version_id?: string | null;
            turn_id?: string | null;
            /** @description The summary of an earlier session that it contains. */
            episode_id?: string | null;
            session_id?: string | null;
            section: string;
            text: string;
            tokens: number;
            /**
             * Format: float
             * @description Relevance to the message, between 0 and 1; null in the baseline, which does not depend on
             *     it.
             */
            relevance?: number | null;
        };
        /** @description Options of closing a session. */
        CloseSession: {
            /** @description Whether there are new turns since it was last closed, if known. `false` calls no model. */
            has_new_turns?: boolean | null;
        };
        /** @description Result of closing a session. */
        ClosedSession: {
            session: components["schemas"]["SessionView"];
            /** @description Whether learning from the new turns has started. */
            learning: boolean;
        };
        /** @description A memory in a cluster. */
        ClusterMember: {
            memory_id: string;
            content: string;
        };
        /** @description Related memories. */
        ClusterView: {
            /**
             * @description Its most frequent words.
             * @example tomatoes, balcony
             */
            name: string;
            memories: components["schemas"]["ClusterMember"][];
        };
        ClustersView: {
            data: components["schemas"]["ClusterView"][];
        };
        /** @description An answer to a proposal, or the confirmation of an active memory. */
        ConfirmMemory: {
            /** @description Yes or no; yes if absent. */
            confirm?: boolean;
            /**
             * @description The `sha256` of the proposal that was shown to the user. Without it a user agrees to the words
             *     as they are now; send `If-Match` to make sure that these were shown.
             */
            sha256?: string | null;
            edits?: components["schemas"]["EditMemory"] | null;
            /**
             * @description For a yes by a key of an assistant: the words in which the user has said an active memory again,
             *     as the user typed them in the session. They do not go with `sha256` or `edits`. Those of a
             *     human, who needs none, and those of a no are ignored.
             */
            quotations?: string[] | null;
            /** @description The session that the quotations are from; the one with the latest turn if absent. */
            session_id?: string | null;
        };
        /** @description A rule that the message, or another line, is against. */
        ConflictView: {
            /**
             * @description The mark of the rule.
             * @example m1
             */
            rule: string;
            /** @description The mark of the line that is against it; absent if it is the message. */
            memory?: string | null;
            /**
             * @description What it is about.
             * @example peanuts
             */
            about: string;
        };
        /** @description A consent that a preset asks for: without it, what is inferred about the domain is a proposal. */
        ConsentView: {
            /** @example finance */
            domain: string;
            question: string;
            /** @description The request that gives it. Only the user can send it. */
            yes: components["schemas"]["AnswerView"];
        };
        Consolidation: {
            /**
             * @description Only report the changes, without making them.
             * @default false
             */
            dry_run: boolean;
        };
        /** @description Result of a consolidation run or dry run. */
        ConsolidationReportView: {
            /** @description The operation that undo reverses as a whole; null if nothing was done. */
            operation_id?: string | null;
            /** @description How many memories were examined. */
            looked_at: number;
            steps: components["schemas"]["StepView"][];
            /** @description How many memories were made of observations that repeat, or promoted because they do. */
            observed: number;
            /** @description The operation that made them, which undo reverses separately; null if there is none. */
            observed_operation_id?: string | null;
        };
        /** @description Text to put into the prompt, with its citations. */
        ContextView: {
            /** @example ret_01hx3v9d0kf7rtm4q5wz8yb2ca */
            retrieval_id: string;
            /** @description All parts, ready to paste: the baseline first. */
            context: string;
            /** @description The same for the whole session: put it where the provider's prefix cache covers it. */
            baseline: components["schemas"]["PartView"];
            /** @description For this message only: put it after everything that is cached. */
            dynamic: components["schemas"]["PartView"];
            /** @description The memories of the spaces that the request asked for, for this message only. */
            spaces?: components["schemas"]["SpaceContextView"][];
            /** @description Whether the baseline was rendered earlier in the session and reused. */
            frozen: boolean;
            /** @description The rules in both parts, which must be respected. */
            hard: components["schemas"]["CitationView"][];
            /** @description The other memories, as context for judgment. */
            soft: components["schemas"]["CitationView"][];
            /** @description The rules that the message, or another line, is against: to be settled with the user first. */
            conflicts: components["schemas"]["ConflictView"][];
            domains: components["schemas"]["DomainDetected"][];
            budget: components["schemas"]["BudgetView"];
            /** @description The times that the message mentions. */
            times: components["schemas"]["TimeView"][];
            /** @description How many memories, turns and episodes were considered. */
            considered: number;
            /**
             * @description `hit` if the same message was answered in this session recently and nothing has changed.
             * @example miss
             */
            cache: string;
            /** @description What was not available, so that the answer may be incomplete. */
            degraded: ("embedder" | "reranker" | "older_turns" | "database")[];
            model?: string | null;
            took_ms: components["schemas"]["TimingsView"];
        };
        /** @description Contradictions that wait for the user's decision, newest first. */
        ContradictionList: {
            data: components["schemas"]["ContradictionView"][];
        };
        /** @description Two memories that cannot both be true. */
        ContradictionView: {
            /** Format: date-time */
            since: string;
            /** @description The memory that is in use; the older one, if both are. */
            standing: components["schemas"]["MemoryView"];
            /** @description The memory that contradicts it: one that waits for a decision, or the newer of two in use. */
            against: components["schemas"]["MemoryView"];
        };
        /** @description Counts of what is stored about a user. */
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
        /** @description Counts of imported and skipped items. */
        CountsView: {
            /** @description New memories. */
            memories: number;
            /** @description Memories that wait for the user's consent. */
            proposals: number;
            /** @description Items that exist already, or existed and were removed by the user. */
            known: number;
            links: number;
            episodes: number;
            chats: number;
            turns: number;
            observations: number;
            /** @description Items left out because they look like a secret. */
            secrets: number;
            /** @description Items left out for another reason. */
            left_out: number;
        };
        /** @description A key to create. */
        CreateKey: {
            /** @example my assistant */
            name: string;
            /** @description The user it is bound to; absent for all of the tenant's users. */
            user?: string | null;
            /**
             * @description Any of `read`, `write`, `propose`, `erase`, `admin`, `chat`; `read`, `write` and `propose`
             *     if absent. `chat` allows the use of the models behind `/v1`.
             */
            permissions?: string[] | null;
            /**
             * @description How far its content is trusted: `assistant` (the default), `user_said` for an application
             *     that sends only what the user typed, `tool`, `document` or `import`.
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
             * @description `relates_to` (the default), `supersedes`, `contradicts`, or your own name.
             * @example relates_to
             */
            relation?: string | null;
        };
        /** @description A memory to save or propose. */
        CreateMemory: {
            /** @description One short line that may be put into a prompt; or the value of a rule, as a list or an object. */
            content: components["schemas"]["MemoryContent"];
            /** @description A shorter form of the line. */
            summary?: string | null;
            /** @description A long text, found by recall and never put into a prompt. */
            detail?: string | null;
            /**
             * @description `profile`, `context`, `style` or `fact` (the default).
             * @example fact
             */
            category?: string | null;
            /**
             * @description `profile` (the default), `task`, `episodic`, `procedural` or `domain`; `hard` and `soft` are
             *     accepted as `force`.
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
            /**
             * @description The project it belongs to. If absent, work that is saved in a session belongs to the project of
             *     the session, and everything else holds everywhere.
             */
            project?: string | null;
            key?: string | null;
            value?: unknown;
            tags?: string[];
            /**
             * Format: float
             * @description Between 0 and 1; 0.5 if absent.
             */
            importance?: number | null;
            evidence?: components["schemas"]["EvidenceInput"][];
            /**
             * Format: float
             * @description For a proposal: how sure it is, between 0 and 1.
             */
            confidence?: number | null;
            reasoning?: string | null;
            /** @description The session and turns that it comes from. */
            session_id?: string | null;
            turn_ids?: string[];
            /**
             * Format: date-time
             * @description Start of its validity; now if absent.
             */
            valid_from?: string | null;
            /**
             * Format: date-time
             * @description End of its validity; open if absent.
             */
            valid_until?: string | null;
            /**
             * @description How long it lasts if it has no `valid_until`: `temporary` (one day), `contextual` (a week),
             *     `deadline` (a week after the date in its content) or `lasting`. If absent, circumstances last
             *     as long as their domain says, and everything else lasts.
             * @example contextual
             */
            ttl?: string | null;
            /**
             * @description The user's answer to `opt_in_needed`: keep this as a memory without a domain, although its
             *     domain is not open. Accepted only from the user.
             */
            keep_without_domain?: boolean;
            /**
             * @description Use it, but do not mention it: prompts carry that instruction with it. Accepted only from the
             *     user.
             */
            unmentioned?: boolean;
        };
        /** @description A space to create. */
        CreateSpace: {
            /**
             * @description 1 to 64 characters. Spaces and users have names of their own: both may have the same.
             * @example family
             */
            space: string;
        };
        /** @description A user to create. */
        CreateUser: {
            /**
             * @description Your own id for the user.
             * @example alice
             */
            user: string;
            /**
             * Format: int64
             * @description For a demo or a trial: after this many minutes the user counts as deleted.
             */
            expires_in_minutes?: number | null;
        };
        /** @description A webhook to create. */
        CreateWebhook: {
            /**
             * @description The address to post to: `https`, on the public internet.
             * @example https://example.com/lukasa
             */
            url: string;
            /** @description Only these kinds of operation, such as `save` or `erase`; all of them if absent. */
            verbs?: string[];
        };
        /** @description A webhook with its new secret, which is shown only once. */
        CreatedWebhook: components["schemas"]["WebhookView"] & {
            /**
             * @description The secret that signs deliveries. It cannot be shown again.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
             */
            secret: string;
        };
        /** @description The user's decision about an import. */
        DecideImport: {
            use: components["schemas"]["ImportUse"];
            /** @description Only with `chosen`: 1 to 1,000 memories of the import. */
            memory_ids?: string[];
        };
        Deliveries: {
            data: components["schemas"]["DeliveryView"][];
        };
        /** @description A delivery and its state. */
        DeliveryView: {
            /**
             * @description The id of the operation; also the `webhook-id` it was sent with.
             * @example op_01hx3v9d0kf7rtm4q5wz8yb2cc
             */
            id: string;
            /** @description The user of the operation, by your own id. */
            user: string;
            /** @example save */
            verb: string;
            /** @description `delivered`; `waiting` for a retry; `dead` after the last attempt. */
            state: string;
            /** Format: int32 */
            attempts: number;
            /**
             * Format: int32
             * @description The status of the last answer.
             */
            status?: number | null;
            error?: string | null;
            /** Format: date-time */
            first_at: string;
            /** Format: date-time */
            last_at: string;
            /**
             * Format: date-time
             * @description When it is retried.
             */
            next_at?: string | null;
        };
        /** @description A memory that depends on a source, and what happens to it when the source is removed. */
        DependentMemory: {
            memory: components["schemas"]["MemoryView"];
            /**
             * @description `withdrawn`, `weakened` or `kept`.
             * @example withdrawn
             */
            fate: string;
        };
        /** @description Memories and episodes that depend on a source. */
        DependentsView: {
            reached: components["schemas"]["RemovalCountsView"];
            memories: components["schemas"]["DependentMemory"][];
            episodes: components["schemas"]["EpisodeView"][];
        };
        /** @description The domains a message is about, best first. */
        DetectAnswer: {
            data: components["schemas"]["DomainDetected"][];
            /**
             * @description The domain that a memory of these words is filed under; null if they are clearly about none, or
             *     about one that is not open.
             * @example travel
             */
            filed_under?: string | null;
        };
        /** @description A message to detect domains in. */
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
            /** @description The words that indicate it. */
            words: string[];
        };
        /**
         * @description A question to the user whether to open a domain that was mentioned or that the preset in force is
         *     about. Nothing of what was said is
         *     stored with it.
         */
        DomainQuestionView: {
            /** @example health */
            domain: string;
            /** @example Health */
            display_name: string;
            /** @example You mentioned health. Open it? */
            question: string;
            /**
             * Format: date-time
             * @description When it was asked first; now, for a consent that nothing has been mentioned for.
             */
            asked_at: string;
            /**
             * @description Whether `yes` also lets what is inferred about the domain be used without asking for each
             *     memory, because the preset in force asks for it.
             */
            consent: boolean;
            /** @description Opens the domain, and learns what was left out. */
            yes: components["schemas"]["AnswerView"];
            /** @description Keeps it closed. The domain is not asked about again. */
            no: components["schemas"]["AnswerView"];
        };
        /** @description A domain: an area of the user's life. */
        DomainView: {
            /** @example health */
            name: string;
            display_name: string;
            /** @description Nothing inferred is stored here without the user's consent. */
            sensitive: boolean;
            /** @description Nothing at all is stored here until the user opens it. */
            requires_opt_in: boolean;
            /** Format: int32 */
            default_expiration_days?: number | null;
            builtin: boolean;
            /**
             * Format: date-time
             * @description When the user opened it; null if it is not open.
             */
            opted_in_at?: string | null;
            /** @description Whether the user lets what is inferred about it be used without asking for each memory. */
            admits_inferred: boolean;
        };
        Domains: {
            data: components["schemas"]["DomainView"][];
        };
        /** @description Edits to a proposed memory. */
        EditMemory: {
            content?: components["schemas"]["MemoryContent"] | null;
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
            project?: string | null;
            /** @description Use it, but do not mention it. Accepted only from the user. */
            unmentioned?: boolean | null;
        };
        /** @description Changes to a session. An absent field stays as it is. */
        EditSession: {
            /** @description The new title. */
            title?: string | null;
            /** @description Archive the session, or make it active again. */
            archived?: boolean | null;
        };
        /** @description Changes to a webhook. An absent field stays as it is. */
        EditWebhook: {
            url?: string | null;
            verbs?: string[] | null;
            /** @description `true` enables it again and sends what it missed. */
            enabled?: boolean | null;
        };
        /** @description The episode that took the place of an edited one, and the request that undoes the edit. */
        EditedEpisodeView: {
            episode: components["schemas"]["EpisodeView"];
            event: components["schemas"]["MemoryEvent"];
        };
        /** @description Episodes, the latest first. */
        EpisodePage: {
            data: components["schemas"]["EpisodeView"][];
            next_cursor?: string | null;
        };
        /** @description Summary of a part of a conversation. */
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
            /** @description The least trusted origin of its turns. */
            origin: string;
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            ended_at: string;
            /**
             * @description The prompt it was made with, and its version; `edited` if its words are the user's.
             * @example extract/4
             */
            prompt: string;
            /**
             * @description The domains it is about: those of the memories learned from it, and those that its words
             *     name.
             * @example [
             *       "travel"
             *     ]
             */
            domains: string[];
            /**
             * @description Whether it is a month old and everything learned from it is strong or stated by now, so that
             *     it is no longer needed. An absorbed episode is listed, but not found by search and not put
             *     into prompts.
             */
            absorbed: boolean;
            /**
             * @description The domain that it is about, if the user has not opened it. `title` and `summary` are hidden
             *     then; the user can see them with `show_hidden=true`.
             */
            hidden_domain?: string | null;
        };
        /** @description The rows that an erasure would remove. */
        ErasurePreview: {
            /** @description The user, if everything about them would be removed. */
            user?: string | null;
            /** @description The memory, if only that would be removed. */
            memory_id?: string | null;
            /** @description Rows by table. */
            removes: {
                [key: string]: number;
            };
            /**
             * @description The same as text.
             * @example 12 memories, 3 sessions, 410 turns, 422 embeddings
             */
            message: string;
        };
        /** @description Progress of the erasure of a user. */
        ErasureProgress: {
            erasure_id: string;
            /** Format: date-time */
            began_at: string;
            /** @description Rows removed so far, by table. */
            removed: {
                [key: string]: number;
            };
        };
        /** @description The content of a receipt: what was erased, when, and how many rows; none of the erased text. */
        ErasureReceipt: {
            /** @example era_01hx3v9d0kf7rtm4q5wz8yb2cc */
            id: string;
            /** @description `user`, `memory`, `turn` or `observation`. */
            erased: string;
            tenant_id: string;
            user_id: string;
            memory_id?: string | null;
            turn_id?: string | null;
            observation_id?: string | null;
            operation_id?: string | null;
            /** @description `erase`, or `purge` for a memory that was in the trash. */
            verb: string;
            /** Format: date-time */
            erased_at: string;
            /** @description Rows removed, by table. */
            removed: {
                [key: string]: number;
            };
            /** @description Whether a restored backup contained it, and it was removed again. */
            replayed: boolean;
            /** @description `pending` until the database's files have been rewritten without it, then `done`. */
            files: string;
            /** Format: date-time */
            files_done_at?: string | null;
            /** @description Whether it is in the journal that is replayed when a backup is restored. */
            journal: boolean;
            /** @description What could not be removed, as text. */
            not_removed: string[];
            /** Format: date-time */
            issued_at: string;
        };
        /** @description Estimated chat model cost of learning from the sessions; zeroes if no model is configured. */
        EstimateView: {
            /** Format: int64 */
            calls: number;
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            output_tokens: number;
            /**
             * Format: int64
             * @description In millionths of the currency of the configured prices.
             */
            cost_micros: number;
            /** Format: int64 */
            seconds: number;
        };
        /** @description Evidence for a memory. */
        Evidence: {
            /** @example pattern */
            type: string;
            /** @example the last 5 orders were from Kroger */
            description: string;
        };
        /** @description Evidence as it is sent: with its type, or as a text alone. */
        EvidenceInput: components["schemas"]["Evidence"] | string;
        /** @description Evidence for a memory, with the turn it comes from. */
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
        /** @description A measured value, the number of its samples, and its goal. */
        FigureView: {
            /** Format: double */
            value: number;
            /** Format: int64 */
            count: number;
            goal: components["schemas"]["GoalView"];
            met: boolean;
        };
        /** @description Memories, each with its domain. */
        FileMemories: {
            /** @description 1 to 1,000 memories, each once. */
            memories: components["schemas"]["FiledMemory"][];
        };
        /** @description The domain of one memory. */
        FiledMemory: {
            memory_id: string;
            /**
             * @description Null for none.
             * @example travel
             */
            domain?: string | null;
        };
        /** @description Result of filing. */
        FiledView: {
            event: components["schemas"]["MemoryEvent"];
            /** @example Filed: 12 */
            message: string;
            /** @description The memories that were moved, as they are now. */
            memories: components["schemas"]["MemoryView"][];
        };
        /** @description The domains suggested for the memories that have none. */
        FilingSuggestionsView: {
            /**
             * @description At most 1,000 memories, the latest first. Memories that are clearly about no domain are left
             *     out.
             */
            data: components["schemas"]["SuggestedDomain"][];
            /**
             * @description The domains that are not open and that further memories are about. None is suggested for a
             *     memory until the user opens it.
             */
            closed: string[];
        };
        /** @description The minimum confidence of inferred memories of a category, derived from how those so far turned out. */
        FloorView: {
            /** @example profile */
            category: string;
            /**
             * Format: double
             * @description At least 0.7. A setting of the policy can be higher.
             */
            floor: number;
            /** @description How many memories turned out right or wrong, by outcomes, ratings and the user's answers. */
            samples: number;
            wrong: number;
            /** @description Memories that it is based on, those that were wrong first. */
            memory_ids: string[];
            /** Format: date-time */
            compiled_at: string;
        };
        FoundEpisode: {
            episode: components["schemas"]["EpisodeView"];
            why: components["schemas"]["WhyFoundView"];
        };
        FoundMemory: {
            memory: components["schemas"]["MemoryView"];
            why: components["schemas"]["WhyFoundView"];
        };
        /** @description A model service on this machine. */
        FoundServiceView: {
            /** @example Ollama */
            name: string;
            /** @example http://127.0.0.1:11434/v1 */
            url: string;
            models: string[];
        };
        FoundSession: {
            id: string;
            /** Format: float */
            score: number;
            /** @description The best matching turn. */
            best_turn_id: string;
        };
        /** @description A session found by a search. */
        FoundSessionView: {
            session: components["schemas"]["SessionView"];
            best?: components["schemas"]["TurnView"] | null;
        };
        /** @description Found sessions, best match first. */
        FoundSessions: {
            data: components["schemas"]["FoundSessionView"][];
        };
        FoundTurn: {
            turn: components["schemas"]["TurnView"];
            why: components["schemas"]["WhyFoundView"];
        };
        /** @description The range in which a figure should be. */
        GoalView: {
            /** Format: double */
            min?: number | null;
            /** Format: double */
            max?: number | null;
        };
        /** @description What a grant allows. */
        GrantSpace: {
            /**
             * @description `read`, or `write` for both.
             * @example read
             */
            access: string;
        };
        /** @description The grant of a space to a user. */
        GrantView: {
            /**
             * @description `read`, or `write` for both.
             * @example write
             */
            access: string;
            /**
             * @description `offered` until the user accepts it, then `accepted`, or `ended`. Only an accepted grant allows
             *     anything.
             * @example accepted
             */
            state: string;
            /** Format: date-time */
            granted_at: string;
            /** Format: date-time */
            accepted_at?: string | null;
            /** Format: date-time */
            ended_at?: string | null;
        };
        /** @description A memory of a graph. */
        GraphMemoryView: {
            memory: components["schemas"]["MemoryView"];
            /** @description How many links away it is; 0 for the memory itself. */
            distance: number;
        };
        /** @description A memory that a turn used or was given. */
        GroundsView: {
            /** @description The memory as it was at the time of the turn. */
            memory: components["schemas"]["MemoryView"];
            /**
             * @description `cited` or another use, if the turn reported it; `given` if it was only in the context.
             * @example cited
             */
            how: string;
            influence?: string | null;
        };
        /** @description A page of the versions of a memory, in the order they became known. */
        History: {
            data: components["schemas"]["MemoryView"][];
            /** @description Pass it back as `cursor` for the next page; null at the end. */
            next_cursor?: string | null;
        };
        /** @description What the first screen of a console shows. */
        HomeView: {
            /**
             * @description The position in the log of operations before the rest was read: `GET /api/events` with it as
             *     `after` streams every change since.
             */
            position: string;
            /** @description The first page of `GET /api/memory` with `status=all` and `limit=200`. */
            memories: components["schemas"]["MemoryPage"];
            /** @description As `GET /api/review` returns it. */
            review: components["schemas"]["ReviewView"];
            /** @description As `GET /api/domains` returns them. */
            domains: components["schemas"]["DomainView"][];
            time_zone?: components["schemas"]["MemoryView"] | null;
            /** @description As `GET /api/policy` returns it. */
            policy: components["schemas"]["PolicyView"];
        };
        /** @description Result of a decision about an import. */
        ImportDecisionView: {
            event: components["schemas"]["MemoryEvent"];
            /** @example Confirmed: 42 */
            message: string;
            /** @description How many memories were confirmed. */
            confirmed: number;
            /**
             * @description How many memories of the import still wait. One request confirms at most 1,000; repeat it
             *     for the rest.
             */
            undecided: number;
            /** @description How many proposals of the import wait in `GET /api/review`. A decision accepts none of them. */
            proposals: number;
        };
        /** @description Result or preview of an import. */
        ImportReportView: {
            import_id: string;
            /** @description The operations it wrote, in order. */
            operation_ids: string[];
            counts: components["schemas"]["CountsView"];
            estimate: components["schemas"]["EstimateView"];
            archive?: components["schemas"]["ArchiveTrustView"] | null;
        };
        /**
         * @description Which memories of an import are used in prompts.
         * @enum {string}
         */
        ImportUse: "all" | "chosen";
        /** @description A past import. */
        ImportView: {
            id: string;
            /** @example mem0 */
            format: string;
            name: string;
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            last_at: string;
            /** @description The operations that it wrote and those of the decisions about it, in order. */
            operation_ids: string[];
            counts: components["schemas"]["CountsView"];
            /**
             * @description How many of its memories wait for the user's decision: they are found by search, but are in
             *     no prompt.
             */
            undecided: number;
            /**
             * Format: date-time
             * @description When it was undone, if it was.
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
             * @description Memories that were saved explicitly.
             */
            saved: number;
            /**
             * Format: int64
             * @description Memories that were learned from sessions.
             */
            learned: number;
            /**
             * Format: int64
             * @description Memories that began as proposals.
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
            /** @description The same by domain, without candidates, the largest first. */
            domains: components["schemas"]["DomainCount"][];
            /** Format: int64 */
            retrievals: number;
            /**
             * Format: int64
             * @description Retrievals with a missing component, such as a model.
             */
            degraded: number;
            /**
             * Format: int64
             * @description Retrievals with the same baseline as the one before in their session, so that a provider's
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
             * @description Calls of chat models, with their cost in millionths of the currency of the prices.
             */
            calls: number;
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            output_tokens: number;
            /** Format: int64 */
            cost_micros: number;
        };
        /** @description A user's memory over time. */
        InsightsView: {
            /** @description Every day of the period, the oldest first. */
            days: components["schemas"]["InsightDay"][];
            /** @description Active memories by domain, the largest first. */
            domains: components["schemas"]["DomainCount"][];
            quality: components["schemas"]["QualityView"];
            /** @description Figures beyond their limits. */
            alerts: components["schemas"]["AlertView"][];
            /**
             * @description The minimum confidences of inferred memories that were derived from how those so far turned
             *     out, by category. A category with too few of them has none.
             */
            floors: components["schemas"]["FloorView"][];
        };
        /** @description A key or token with its secret, which is shown only once. */
        IssuedView: components["schemas"]["KeyView"] & {
            /** @description Send it as `Authorization: Bearer ...`. It cannot be shown again. */
            secret: string;
        };
        /** @description Jobs, failed ones first. */
        JobList: {
            data: components["schemas"]["JobView"][];
        };
        /** @description A background job that waits, runs, or has failed. */
        JobView: {
            /** @example job_01hx3v9d0kf7rtm4q5wz8yb2ca */
            id: string;
            /**
             * @description `close`, `statement`, `extract`, `relearn`, `title`, `compress`, `retell`, `upkeep` or
             *     `deliver`.
             * @example extract
             */
            kind: string;
            /** @description The session it is about, if it is about one. */
            session_id?: string | null;
            /**
             * @description `waiting`, `running` or `dead` (failed; it can be retried).
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
            /** @description The user it is bound to; null for all of the tenant's users. */
            user?: string | null;
            permissions: string[];
            /** @description The most trusted origin of its writes. */
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
        /** @description A memory, turn or episode that was left out, and why. */
        LeftOutView: {
            memory_id?: string | null;
            turn_id?: string | null;
            episode_id?: string | null;
            /** @enum {string} */
            reason: "over the budget" | "over the category's budget" | "in the baseline already" | "not sure enough" | "imported, not approved" | "not approved" | "not relevant enough" | "only a question" | "changed since" | "included by a memory or a turn" | "an instruction of another member";
            /** Format: float */
            relevance?: number | null;
        };
        /** @description Something that was said and not learned. */
        LeftSentenceView: {
            /**
             * Format: int32
             * @description Its number in the pass.
             * @example 1
             */
            place: number;
            /**
             * @description `secret`, `closed_domain`, `order_in_others_words`, `off` or `too_long`.
             * @example closed_domain
             */
            reason: string;
            /**
             * @description The turn that says it.
             * @example trn_01hx3v9d0kf7rtm4q5wz8yb2ca
             */
            turn_id: string;
            /**
             * @description The sentence, read from the turn. Absent if it contained a secret, or if the turn is about a
             *     domain that is not open.
             */
            words?: string | null;
            /**
             * @description The domain that was not open.
             * @example health
             */
            domain?: string | null;
            /**
             * @description The memory that the user made of it.
             * @example mem_01hx3v9d0kf7rtm4q5wz8yb2ca
             */
            memory_id?: string | null;
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
        /** @description A page of the links from and to a memory, without those to removed memories. */
        Links: {
            data: components["schemas"]["LinkView"][];
            /** @description Pass it back as `cursor` for the next page; null at the end. */
            next_cursor?: string | null;
        };
        Liveness: {
            /** @example ok */
            status: string;
            /** @example 0.1.0 */
            version: string;
        };
        /** @description A sign-in link to make. */
        MakeLink: {
            /**
             * @description Your own id for the user.
             * @example alice
             */
            user: string;
        };
        MembershipList: {
            data: components["schemas"]["MembershipView"][];
            /** @description How many further spaces cannot be read now. */
            unavailable: number;
        };
        /** @description A space that has granted to the user. */
        MembershipView: {
            /** @example family */
            space: string;
            grant: components["schemas"]["GrantView"];
        };
        /** @description The content of a memory: a text, or the value of a rule. */
        MemoryContent: string | unknown[] | {
            [key: string]: unknown;
        };
        /** @description A change for a user interface to show, with the request that undoes it. */
        MemoryEvent: {
            /** @example memory.saved */
            type: string;
            /**
             * @description Null if nothing was written.
             * @example op_01hx3v9d0kf7rtm4q5wz8yb2cc
             */
            operation_id?: string | null;
            memory_ids: string[];
            undo?: components["schemas"]["Undo"] | null;
        };
        /** @description The memories that are linked with a memory, directly or over others. */
        MemoryGraphView: {
            /** @description The nearest first; the memory itself is the first. */
            memories: components["schemas"]["GraphMemoryView"][];
            links: components["schemas"]["LinkView"][];
            /** @description Whether some were left out: a graph has at most 200 memories. */
            truncated: boolean;
        };
        /** @description A page of memories. */
        MemoryPage: {
            data: components["schemas"]["MemoryView"][];
            /** @description Pass it back as `cursor` for the next page; null at the end. */
            next_cursor?: string | null;
        };
        /** @description A memory, at the requested point in time. */
        MemoryView: {
            /**
             * @description Stable through every change, correction, undo and restore.
             * @example mem_01hx3v9d0kf7rtm4q5wz8yb2ca
             */
            id: string;
            /**
             * @description The version that was read; also its ETag.
             * @example ver_01hx3v9d0kf7rtm4q5wz8yb2cb
             */
            version_id: string;
            /**
             * Format: int32
             * @description The version number: 1 when saved, incremented with each change or correction.
             */
            version: number;
            /** @example Prefers window seats */
            content: string;
            summary?: string | null;
            /** @description The long text. It is found by recall and never put into a prompt. */
            detail?: string | null;
            /**
             * @description The memory as assistants read it, in one line that is safe in a prompt: the key and the value of
             *     a rule, the domain, the project, how far to rely on it, and whether not to mention it.
             * @example Prefers window seats (fact, travel, said 2026-11-08)
             */
            line: string;
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
            /** @description The project it belongs to; absent if it holds everywhere. */
            project?: string | null;
            key?: string | null;
            value?: unknown;
            tags: string[];
            /** Format: float */
            importance: number;
            /** @description Whether assistants are told to use it without mentioning it. */
            unmentioned: boolean;
            /** @example strong */
            tier: string;
            /**
             * @description Where the words came from; set by the server.
             * @example user_said
             */
            origin: string;
            /**
             * @description How the memory was created.
             * @example user_explicit
             */
            source: string;
            /**
             * Format: float
             * @description Confidence of an extraction; null for a stated memory.
             */
            confidence?: number | null;
            /**
             * Format: float
             * @description Confidence as a single number, also for stated memories.
             */
            effective_confidence: number;
            /**
             * Format: date-time
             * @description When it will be too weak to be put into prompts automatically, unless it is repeated.
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
             * @description When the user agreed to exactly these words.
             */
            consented_at?: string | null;
            /**
             * Format: date-time
             * @description When it is valid in the world.
             */
            valid_from: string;
            /** Format: date-time */
            valid_until?: string | null;
            /**
             * Format: date-time
             * @description When Lukasa knew this version.
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
            /**
             * @description The user's rating, `up` or `down`, where memories are read: in lists and when one is fetched.
             *     Absent if there is none, and in the answers of writes.
             * @example up
             */
            rating?: string | null;
            /** @description The digest that a yes to this proposal must carry. */
            sha256?: string | null;
            /** @description In a history: the next version, if there is one. */
            superseded_by?: string | null;
        };
        /** @description A token to mint for one user's browser. */
        MintToken: {
            /**
             * @description Your own id for the user.
             * @example alice
             */
            user: string;
            /** @description A subset of the key's own, never `admin`; `read` and `write` if absent. */
            permissions?: string[] | null;
            /**
             * Format: int64
             * @description Between 1 and 15; 15 if absent.
             */
            minutes?: number | null;
            /**
             * @description The only origin it may be used from: scheme, host and port, as browsers send it. Any if
             *     absent.
             * @example https://app.example
             */
            page?: string | null;
        };
        /** @description One call of a chat model, whether it answered or not. */
        ModelCallView: {
            /** Format: date-time */
            at: string;
            /** @enum {string} */
            purpose: "extract" | "relearn" | "title" | "compress" | "retell" | "portrait" | "compare";
            model: string;
            /** @description `answered`, `unavailable`, `malformed`, `missing` or `refused`. */
            outcome: string;
            /** Format: int32 */
            input_tokens: number;
            /** Format: int32 */
            output_tokens: number;
            /**
             * Format: int64
             * @description Millionths of the currency of the configured prices.
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
        /** @description A model service: any that speaks OpenAI's chat protocol. */
        ModelServiceSettings: {
            /** @example http://127.0.0.1:11434/v1 */
            url: string;
            /** @description The key for the service, if it needs one. */
            key?: string | null;
            /** @example qwen3:8b */
            model: string;
        };
        /** @description The result of a test. */
        ModelServiceTestView: {
            /** @description Whether the model answered. */
            ok: boolean;
            /**
             * @description `address`, `unreachable`, `timeout`, `key`, `model`, `not_chat` or `refused`; null if it
             *     answered.
             */
            reason?: string | null;
            /** @description The reason in plain words. */
            detail?: string | null;
        };
        /** @description The model service behind `/v1`, without its key. */
        ModelServiceView: {
            /** @description Whether it can be set here. */
            changeable: boolean;
            /**
             * @description `settings` if it was set when the server was started, `console` if it was set here; null if
             *     there is none.
             */
            set_by?: string | null;
            /** @description Its address. */
            url?: string | null;
            /** @description The model that was chosen here. */
            model?: string | null;
            /** @description The services that answer on this machine now, if one can be set here. */
            found: components["schemas"]["FoundServiceView"][];
        };
        /** @description Total cost of one purpose with one model over thirty days. */
        ModelSumView: {
            /** @enum {string} */
            purpose: "extract" | "relearn" | "title" | "compress" | "retell" | "portrait" | "compare";
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
        /** @description Raw events, newest first. */
        ObservationPage: {
            data: components["schemas"]["ObservationView"][];
            next_cursor?: string | null;
        };
        /** @description One raw event. */
        ObservationView: {
            /** @example obs_06f8m3k7p5q9d1x2r4v6w8y0za */
            id: string;
            source: string;
            kind: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            recorded_at: string;
            payload: Record<string, unknown>;
            session_id?: string | null;
            project?: string | null;
            /**
             * @description The origin of the credential that recorded it.
             * @example tool
             */
            origin: string;
        };
        /** @description A session to open. */
        OpenSession: {
            /**
             * @description Your own id for it; generated if absent.
             * @example chat-42
             */
            id?: string | null;
            title?: string | null;
            /**
             * @description How much of the turns is kept after learning: `full`, `excerpts` or `none`. The policy
             *     decides if absent.
             */
            keep_turns?: string | null;
            /** @description Store no turns: they are acknowledged and dropped. */
            incognito?: boolean;
            /** @description The project it belongs to. It cannot be changed later. */
            project?: string | null;
        };
        /** @description A page of operations. */
        OperationPage: {
            data: components["schemas"]["OperationView"][];
            next_cursor?: string | null;
        };
        /** @description One write operation. */
        OperationView: {
            /** @example op_01hx3v9d0kf7rtm4q5wz8yb2cc */
            id: string;
            /** @enum {string} */
            verb: "save" | "change" | "correct" | "forget" | "confirm" | "propose" | "reject" | "link" | "unlink" | "delete" | "restore" | "undo" | "purge" | "erase" | "learn" | "resolve" | "consolidate" | "import" | "sync";
            /** Format: date-time */
            at: string;
            /** @description `human`, `key` or `job`. */
            caller: string;
            /** @description The id of the credential, of a user token that of the key that issued it, or `local`. */
            credential: string;
            origin: string;
            extracted: boolean;
            memory_ids: string[];
            /** @description The operation that this one reversed. */
            undoes?: string | null;
            /** @description The operation that reversed this one and is not undone itself. */
            undone_by?: string | null;
            /**
             * @description The policy versions in force: the tenant's and the user's.
             * @example t1.u0
             */
            policy?: string | null;
            /** @description In a space: the member who wrote it, unless the member was erased. */
            member?: string | null;
        };
        /** @description One part of a context. */
        PartView: {
            content: string;
            /** @description Identifies exactly these bytes. */
            etag?: string | null;
            /** @description The nonce in the markers around this block; text between them was written by Lukasa. */
            nonce?: string | null;
            tokens: number;
            citations: components["schemas"]["CitationView"][];
            left_out: components["schemas"]["LeftOutView"][];
        };
        /** @description Passes, the latest first. */
        PassList: {
            data: components["schemas"]["PassView"][];
        };
        /** @description One extraction pass over a part of a conversation, and its outcome. */
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
            /** @description The operation with everything it learned; undo it to reverse the pass. */
            operation_id?: string | null;
            /** @description Counts of what was learned and how, and of what was left out and why. */
            outcome: Record<string, unknown>;
            /** @description What was said and left out, at most 20 sentences. */
            left_out: components["schemas"]["LeftSentenceView"][];
            /**
             * Format: int64
             * @description How many more were left out that are not listed: no sentence was found for them, their turn
             *     was removed, or there were more than 20. Repetitions of what is known are not counted.
             */
            left_out_more: number;
        };
        /** @description Whether it is time to go through what is remembered. */
        PeriodicReviewView: {
            /**
             * Format: date-time
             * @description When the user last answered a question of the review, or forgot a memory.
             */
            last?: string | null;
            /**
             * @description Whether that, or the creation of the user, is at least thirty days ago, and something was
             *     learned since. An application should then invite the user to review what is remembered.
             */
            due: boolean;
            /**
             * @description How many active memories were learned since and are not confirmed.
             * @example 7
             */
            learned_since: number;
        };
        Phrasing: Record<string, unknown>;
        /** @description Policy settings. An absent setting is inherited. */
        PolicyPatch: {
            /**
             * @description `balanced`, `advisor`, `chat`, `assistant`, `research` or `clone`; the other settings
             *     override it.
             */
            preset?: string | null;
            /**
             * @description What happens with inferred memories: `auto`, `tiered`, `staged` (as `tiered`, but written by
             *     the next consolidation), `propose` or `off`.
             */
            admission?: string | null;
            /** @description The same, per domain. */
            domains?: {
                [key: string]: string;
            } | null;
            /** @description When sessions are learned from: `close`, `turn` or `manual`. */
            extract?: string | null;
            /** @description How many earlier turns a pass sees again, for context. */
            window?: number | null;
            /** @description How much of the turns is kept after learning: `full`, `excerpts` or `none`. */
            keep_turns?: string | null;
            /**
             * Format: int32
             * @description After how many days a memory that has expired is permanently removed; 0 means never. A
             *     memory that still has a valid version keeps its whole history.
             */
            history_days?: number | null;
            /**
             * Format: int32
             * @description After how many minutes without a turn a session counts as closed; 0 means never.
             */
            idle_close_minutes?: number | null;
            /**
             * Format: float
             * @description Inferred memories are put into prompts from this confidence on; at least 0.7.
             */
            inject_confidence?: number | null;
            /**
             * Format: float
             * @description From this confidence up to `inject_confidence` they are only found by recall; below it they
             *     wait for more evidence.
             */
            recall_confidence?: number | null;
            /** @description Minimum confidence of single categories. */
            floors?: {
                [key: string]: number;
            } | null;
            /**
             * Format: float
             * @description Below this importance, inferred memories are only found by recall.
             */
            inject_importance?: number | null;
            /** @description Whether sessions get a title after their first exchange. */
            titles?: boolean | null;
            /**
             * Format: int64
             * @description How many tokens the tenant may spend on chat models in a day; 0 means no limit. Only a
             *     tenant can set it.
             */
            daily_tokens?: number | null;
            agents?: components["schemas"]["AgentsPatch"] | null;
            /**
             * @description What happens to patterns that were counted in observations: `off`, `ask` (each is a proposal;
             *     the default) or `on` (each is stored, and a strong one is in prompts too, as tentative).
             */
            observed?: string | null;
            /**
             * @description Whether memory is paused: nothing is learned, no turns are stored, only the user can write,
             *     and contexts are empty. Reading and removing still work. `false` if absent.
             */
            paused?: boolean | null;
        };
        /** @description The policy in force. */
        PolicyView: {
            /** @description All settings, as they are in force. */
            in_force: Record<string, unknown>;
            /** @description The tenant's settings. */
            tenant: components["schemas"]["PolicyPatch"];
            /** @description The user's settings. */
            user: components["schemas"]["PolicyPatch"];
            /**
             * @description Recorded with every operation.
             * @example t1.u2
             */
            version: string;
            /** @description The names of all presets. */
            presets: string[];
            /** @description The consents that the preset in force asks for and the user has not given. */
            consents: components["schemas"]["ConsentView"][];
        };
        /** @description A compiled text about the user. */
        PortraitView: {
            /**
             * @description `profile`, `procedures`, `active_context`, or `domain:` and the domain's name.
             * @example profile
             */
            name: string;
            /** @example Profile */
            title: string;
            sentences: components["schemas"]["SentenceView"][];
            /** @description The same as markdown, with marks like [1] and the list of cited memories. */
            markdown: string;
            /** @description Size of the text in a prompt, without that list. */
            tokens: number;
            /** @description Memories that belong here but did not fit. */
            left_out: string[];
            /**
             * @description The model that phrased it, or `template` if it consists of the memories' own words.
             * @example template
             */
            made_by: string;
            compiled_at: string;
            /**
             * @description Whether it was compiled from exactly the current memories. If not, removed memories are left
             *     out already, and new ones are added in their own words.
             */
            fresh: boolean;
        };
        PortraitsView: {
            data: components["schemas"]["PortraitView"][];
        };
        /** @description A prediction, and its outcome once that is known. */
        PredictionView: {
            /** @example use_01hx3v9d0kf7rtm4q5wz8yb2ca */
            id: string;
            memory_id: string;
            expects: string;
            session_id?: string | null;
            /** Format: date-time */
            at: string;
            /** @description `confirmed` or `wrong`; null before it is reported. */
            outcome?: string | null;
            /** Format: date-time */
            outcome_at?: string | null;
        };
        /** @description An error of the API. */
        Problem: {
            /**
             * @description Address of the code's documentation.
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
             * @description The stable code to program against.
             * @example memory_not_found
             */
            code: string;
            /** @description What happened, and what to do next. */
            detail: string;
            /** @description What is wrong with each field. */
            errors?: components["schemas"]["FieldError"][];
            /** @description Memories that may have been meant. */
            candidates?: components["schemas"]["MemoryView"][];
            /** @description The operation that blocks the request. */
            operation_id?: string | null;
            /** @description The domain that the user must open first. */
            domain?: string | null;
        };
        /** @description An identity provider that users can sign in with. */
        ProviderView: {
            /**
             * @description Its name on the sign-in page.
             * @example id.example.com
             */
            name: string;
            /**
             * @description The page of this server that leads there.
             * @example /oidc/begin
             */
            href: string;
        };
        /** @description A domain that the tenant defines. */
        PutDomain: {
            display_name: string;
            sensitive?: boolean;
            requires_opt_in?: boolean;
            /** Format: int32 */
            default_expiration_days?: number | null;
        };
        /** @description Quality figures of the whole period. A figure with too few samples is absent. */
        QualityView: {
            citation_rate?: components["schemas"]["FigureView"] | null;
            proposal_acceptance?: components["schemas"]["FigureView"] | null;
            edits_on_confirm?: components["schemas"]["FigureView"] | null;
            why_share?: components["schemas"]["FigureView"] | null;
            satisfaction?: components["schemas"]["FigureView"] | null;
            gated_share?: components["schemas"]["FigureView"] | null;
            active_memories?: components["schemas"]["FigureView"] | null;
            learned_tokens?: components["schemas"]["FigureView"] | null;
            extraction_confidence?: components["schemas"]["FigureView"] | null;
            cache_hit_rate?: components["schemas"]["FigureView"] | null;
            saved_searches?: components["schemas"]["FigureView"] | null;
            recall_ms?: components["schemas"]["FigureView"] | null;
            rerank_ms?: components["schemas"]["FigureView"] | null;
            window_share?: components["schemas"]["FigureView"] | null;
            budget_use?: components["schemas"]["FigureView"] | null;
            message_cost_micros?: components["schemas"]["FigureView"] | null;
        };
        /** @description A rating to set. */
        RateMemory: {
            /**
             * @description `up` or `down`.
             * @example up
             */
            rating: string;
        };
        /** @description State and ratings of a memory. */
        RatingStateView: {
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
        /** @description The rating of a memory. */
        RatingView: {
            memory_id: string;
            /** @description `up` or `down`; null if the user has not rated it. */
            rating?: string | null;
            /**
             * @description What to do next.
             * @example Correct it with `PATCH /api/memory/{id}`, or forget it.
             */
            message: string;
        };
        /** @description Durations of retrievals, in milliseconds. */
        RecallTimes: {
            /** Format: double */
            p50: number;
            /** Format: double */
            p95: number;
            /** Format: double */
            p99: number;
        };
        /** @description The public key of the receipts of this server. */
        ReceiptKey: {
            /** @example ed25519 */
            algorithm: string;
            /** @description Hexadecimal. */
            public_key: string;
        };
        /**
         * @description An Ed25519 signature over the receipt as JSON without spaces, with the keys of every object
         *     sorted.
         */
        ReceiptSignature: {
            /** @example ed25519 */
            algorithm: string;
            /** @description Hexadecimal, like the value. */
            public_key: string;
            value: string;
        };
        /** @description Summary of an erasure: when and how much was erased, and none of its content. */
        ReceiptView: {
            memory_id: string;
            /** @description The id of the signed receipt in `GET /api/erasures`. */
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
             * @description Stored responses to idempotency keys that were emptied.
             */
            answers: number;
        };
        /** @description Receipts, newest first. */
        Receipts: {
            data: components["schemas"]["SignedReceiptView"][];
            /** @description Whether older receipts are left out: at most the latest 1,000 are listed. */
            truncated: boolean;
            running?: components["schemas"]["ErasureProgress"] | null;
        };
        /** @description An event to record. */
        RecordObservation: {
            /**
             * @description The application or agent that observed it: up to 32 letters, digits, dots, dashes or
             *     underscores.
             * @example groceries
             */
            source: string;
            /**
             * @description What happened, by the same rules.
             * @example order
             */
            kind: string;
            /**
             * Format: date-time
             * @description When it happened; now, if absent.
             */
            at?: string | null;
            /**
             * @description Up to 8,192 bytes of JSON. Its field `value`, a text of up to 40 characters or a number,
             *     distinguishes events of the same kind when patterns are counted.
             */
            payload?: Record<string, unknown> | null;
            /** @description The session it belongs to, if any. */
            session_id?: string | null;
            /** @description The project it belongs to, if any. */
            project?: string | null;
        };
        /** @description Events to record: all of them or none. */
        RecordObservations: {
            /** @description Between 1 and 100. */
            observations: components["schemas"]["RecordObservation"][];
        };
        /** @description The recorded events. */
        RecordedObservations: {
            /** @description In the order of the request. */
            observation_ids: string[];
        };
        /** @description Counts of what removing a source affects. */
        RemovalCountsView: {
            turns: number;
            observations: number;
            episodes: number;
            /** @description Memories without other support: they are removed too. */
            withdrawn: number;
            /** @description Memories with other support: they stay, based on that. */
            weakened: number;
            /** @description Memories that the user stated or agreed to: they stay. */
            kept: number;
            /** @description Portraits that are compiled again. */
            portraits: number;
            /**
             * @description The same as text.
             * @example 1 turn, 3 memories, 1 episode, 2 portraits
             */
            summary: string;
        };
        /** @description Deliveries to send again: all since a time, or one. */
        ReplayWebhook: {
            /** Format: date-time */
            since?: string | null;
            /**
             * @description The id of one delivery. It is sent at once, whatever its state.
             * @example op_01hx3v9d0kf7rtm4q5wz8yb2cc
             */
            delivery?: string | null;
        };
        /** @description Result of a replay. */
        Replayed: {
            /** @description The number of users whose operations since the time are sent again. */
            users: number;
            delivery?: components["schemas"]["DeliveryView"] | null;
        };
        /** @description The outcome of a prediction. */
        ReportOutcome: {
            /**
             * @description `confirmed` or `wrong`.
             * @example confirmed
             */
            outcome: string;
            /** @description What happened, in a few words. */
            note?: string | null;
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
            /** @description What the memory changed, in a few words. */
            influence?: string | null;
        };
        /** @description The decision about a contradiction. */
        ResolveContradiction: {
            /**
             * @description `standing`, `against`, or `both` if the two do not contradict each other.
             * @example against
             */
            true: string;
            /**
             * @description The `sha256` of the memory that was shown as `against`. Required if that one is true and
             *     waits for a decision.
             */
            sha256?: string | null;
        };
        /** @description One retrieval: what it added to the baseline, and its trace. */
        RetrievalView: {
            /** @example ret_01hx3v9d0kf7rtm4q5wz8yb2ca */
            id: string;
            session_id?: string | null;
            /** Format: date-time */
            at: string;
            /** @description The baseline it was used with. */
            baseline_etag?: string | null;
            dynamic: string;
            memory_ids: string[];
            /**
             * @description What was found (`found`: its rank in each arm, after fusion, and at the end), what was
             *     injected, and what was left out and why, with tokens and durations.
             */
            trace: unknown;
        };
        /** @description A request for context. */
        RetrieveRequest: {
            /**
             * @description The user's message.
             * @example Book me a flight to Porto for Friday
             */
            query?: string;
            /** @description The domains it is about; detected from the message if absent. */
            domains?: string[] | null;
            /** @description The session it is part of. Its baseline is rendered once and stays the same, byte for byte. */
            session_id?: string | null;
            /** @description False for a baseline that is updated with every change. */
            freeze?: boolean | null;
            /** @description `compact` (1,500 tokens, the default), `standard` (4,000), `deep` (16,000), or a number. */
            budget?: (number | string) | null;
            /** @description The model's context window in tokens: memory takes at most 15 % of it. */
            window?: number | null;
            /** @description How many memories besides the baseline; chosen from the message if absent. */
            limit?: number | null;
            /** @description How many turns of earlier sessions; chosen from the message if absent. */
            turns?: number | null;
            /** @description How many summaries of earlier sessions; as many as turns, and at most 5, if absent. */
            episodes?: number | null;
            /** Format: float */
            min_confidence?: number | null;
            /** @description Only memories that the message names, besides the baseline. */
            precise?: boolean | null;
            /**
             * Format: date-time
             * @description Only what was valid at this instant; now if absent.
             */
            as_of?: string | null;
            /**
             * Format: date-time
             * @description What Lukasa knew at this instant; now if absent.
             */
            known_at?: string | null;
            /**
             * @description The user's time zone, for words such as "yesterday"; the remembered one if absent, or UTC.
             * @example Europe/Lisbon
             */
            timezone?: string | null;
            /**
             * Format: int64
             * @description Deadline in milliseconds; 2,000 if absent. The answer contains what was confirmed by then.
             */
            deadline_ms?: number | null;
            /**
             * @description The project it is about; that of the session if absent. Only memories and turns of this
             *     project, and of none, are used.
             */
            project?: string | null;
            /**
             * @description Spaces whose memories are used too, at most 5; the user is a member of each. What they need is
             *     taken from the rest of the budget.
             */
            spaces?: string[] | null;
            /**
             * @description True to look at the context without using it: the retrieval is not counted in statistics
             *     and is not a use of a memory.
             */
            preview?: boolean | null;
        };
        /** @description An answer to the question about a memory. */
        ReviewAnswer: {
            /** @example mem_01hx3v9d0kf7rtm4q5wz8yb2ca */
            memory_id: string;
            /** @description Yes or no. No rejects a proposal, and forgets any other memory. */
            confirm: boolean;
            /** @description The `sha256` of the memory that was shown to the user; absent if it has none. */
            sha256?: string | null;
        };
        /** @description How many questions of each kind there are. */
        ReviewCountsView: {
            /** @example 3 */
            proposals: number;
            /** @example 1 */
            contradictions: number;
            /** @example 0 */
            outdated: number;
            /** @example 2 */
            candidates: number;
            /** @example 4 */
            learned: number;
        };
        /** @description A question to the user about a memory. */
        ReviewItem: {
            /**
             * @description `proposal`, `contradiction`, `outdated`, `candidate` or `learned`.
             * @example outdated
             */
            kind: string;
            /** @example Is this still true? */
            question: string;
            memory: components["schemas"]["MemoryView"];
            against?: components["schemas"]["MemoryView"] | null;
            yes: components["schemas"]["AnswerView"];
            no: components["schemas"]["AnswerView"];
            both?: components["schemas"]["AnswerView"] | null;
        };
        ReviewView: {
            /**
             * @description The first questions: at most 200 contradictions, 50 proposals and candidates together, and 50 of
             *     each other kind.
             */
            data: components["schemas"]["ReviewItem"][];
            /** @description How many there are, with those that are not in `data`. */
            counts: components["schemas"]["ReviewCountsView"];
            /** @description Domains that the user mentioned and has not opened. Each is asked about once. */
            domains: components["schemas"]["DomainQuestionView"][];
            /** @description Whether the user should be invited to go through it. */
            periodic: components["schemas"]["PeriodicReviewView"];
        };
        /** @description Revoked credentials. */
        Revoked: {
            /** @description The ids of the credential and of everything made from it. */
            revoked: string[];
        };
        /** @description How to replace a secret. */
        RotateSecret: {
            /**
             * Format: int64
             * @description For how many hours the old one stays valid, up to 720; 24 if absent.
             * @example 24
             */
            overlap_hours?: number | null;
        };
        /** @description A new key with its secret, which is shown only once, and the key that it replaces. */
        RotatedKeyView: components["schemas"]["KeyView"] & {
            /** @description Send it as `Authorization: Bearer ...`. It cannot be shown again. */
            secret: string;
            /** @description The old key, with its new end. */
            replaced: components["schemas"]["KeyView"];
        };
        /** @description Search results. */
        SearchAnswer: {
            memories: components["schemas"]["FoundMemory"][];
            turns: components["schemas"]["FoundTurn"][];
            sessions: components["schemas"]["FoundSession"][];
            /** @description Summaries of sessions, without those that only repeat a memory or a turn above. */
            episodes: components["schemas"]["FoundEpisode"][];
            /** @description The times that the query mentions. */
            times: components["schemas"]["TimeView"][];
            /** @description What was not available, so that the answer may be incomplete. */
            degraded: ("embedder" | "reranker" | "older_turns" | "database")[];
            /** @description The embedding model, if one was used. */
            model?: string | null;
            /** @description How many memories, turns and episodes were considered. */
            considered: number;
            took_ms: components["schemas"]["TimingsView"];
        };
        /** @description A search query with its filters. */
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
             * @description Between 0 and 1; a stated memory counts as 0.95 or more.
             */
            min_confidence?: number | null;
            /**
             * Format: float
             * @description Leaves out memories, turns and episodes that are less relevant, between 0 and 1. If absent, 0.05
             *     for a query about the user, and 0.25 for any other, such as a question of general knowledge (0.15
             *     without an embedder); for turns at least 0.15. What was found by a link, a name or a time in the
             *     query is not left out.
             */
            min_relevance?: number | null;
            /** @description How many sessions at most; none if absent. */
            sessions?: number | null;
            /**
             * @description How many summaries of past sessions at most; none if absent. With `domains`, only those about
             *     one of them.
             */
            episodes?: number | null;
            /** @description Only turns and episodes of this session. */
            session_id?: string | null;
            /** @description Only turns of these roles: `user` (the default), `assistant`, `system`, `tool`. */
            roles?: string[] | null;
            /**
             * Format: date-time
             * @description Only what was valid at this instant; now if absent.
             */
            as_of?: string | null;
            /**
             * Format: date-time
             * @description What Lukasa knew at this instant; now if absent.
             */
            known_at?: string | null;
            /**
             * @description The user's time zone, for words such as "yesterday"; the remembered one if absent, or UTC.
             * @example Europe/Lisbon
             */
            timezone?: string | null;
            /** @description Whether to use the reranker, if one is configured; true if absent. */
            rerank?: boolean | null;
            /** @description `scores` (the default) or `ranks`: how the results of the arms are fused. */
            fusion?: string | null;
            /**
             * @description Only these arms: `keyword`, `keyword_window`, `keyword_session`, `vector`, `vector_window`,
             *     `speaker`, `time`, `recency`, `prior`, `session_best`, `link`.
             */
            arms?: string[] | null;
            /** @description All arms except these. */
            without?: string[] | null;
            /**
             * @description Only memories that the query names by their key or one of their tags, and memories linked to
             *     those. Typing errors are tolerated.
             */
            precise?: boolean | null;
            /** @description Also memories and turns of this project. If absent, those of the project of `session_id`. */
            project?: string | null;
            /** @description Memories and turns of every project. */
            all_projects?: boolean;
        };
        /** @description One sentence, with the memories it cites. */
        SentenceView: {
            /**
             * @description The heading it is under.
             * @example relationship
             */
            section: string;
            /**
             * @description `You told me`, or `You mentioned` if any of it was inferred.
             * @example You told me
             */
            lead: string;
            /** @example Lives in Lisbon and works as a nurse. */
            text: string;
            /** @description Every memory it is based on. It is never shown without all of them. */
            memory_ids: string[];
        };
        /** @description The exact context that a session was given. */
        SessionContextView: {
            baselines: components["schemas"]["BaselineView"][];
            /** @description Newest first, at most 200. */
            retrievals: components["schemas"]["RetrievalView"][];
        };
        /** @description How far learning from a session is, and what came of it. */
        SessionLearningView: {
            /**
             * @description `nothing` (there are no turns), `waiting_for_pause` (until the session is closed or there was
             *     no turn for a while), `queued`, `running`, `failed`, `learned`, `off` (only on request),
             *     `waiting_for_model` (only imported turns are left, and there is no chat model) or `no_model`.
             * @example waiting_for_pause
             */
            state: string;
            /**
             * Format: date-time
             * @description When it starts, if that is known.
             */
            starts_at?: string | null;
            /**
             * Format: date-time
             * @description When the session was last learned from.
             */
            learned_at?: string | null;
            /**
             * Format: int64
             * @description How many memories were added, changed or supported.
             */
            learned: number;
            /**
             * Format: int64
             * @description How many memories wait for an answer of the user.
             */
            proposed: number;
            /**
             * Format: int64
             * @description How many proposals of the model were left out, except repetitions of what is known.
             */
            left_out: number;
        };
        /** @description A page of sessions, the most recent first. */
        SessionPage: {
            data: components["schemas"]["SessionView"][];
            next_cursor?: string | null;
        };
        /** @description A session: one conversation. */
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
             * @description When it was moved into the trash; it can be restored for thirty days.
             */
            trashed_at?: string | null;
            /**
             * Format: int32
             * @description The last turn that was learned from.
             */
            extracted_through: number;
            /** @description A short summary so far. */
            summary?: string | null;
            /**
             * @description How much of the turns is kept after learning: `full`, `excerpts` or `none`.
             * @example full
             */
            keep_turns: string;
            /** @description Whether no turns are stored. */
            incognito: boolean;
            /** @description The project it belongs to. */
            project?: string | null;
            /**
             * @description The domain that the title or the summary is about, if the user has not opened it. They are hidden
             *     then; the user can see them with `show_hidden=true`.
             */
            hidden_domain?: string | null;
            learning?: components["schemas"]["SessionLearningView"] | null;
        };
        /**
         * @description A sign-in request: a key and a user, a link, or, from an operator who is signed in, only another
         *     user.
         */
        SignIn: {
            /** @description A key with the permission `admin`, which could also mint tokens for its tenant's users. */
            key?: string | null;
            /** @description The secret of a link: the part after the `#` of its address. It works once. */
            link?: string | null;
            /**
             * @description The user whose memory to show.
             * @example alice
             */
            user?: string | null;
        };
        /** @description A sign-in, a token, a link or a connector, without its secret. */
        SignInEntry: {
            id: string;
            /**
             * @description `sign_in` for a browser in the console, `token` for one that `POST /api/tokens` made, `link`
             *     for an unused link, `connector` for an assistant that the user connected by OAuth.
             * @example sign_in
             */
            kind: string;
            /**
             * @description What it is for; of a connector the name that the assistant gave itself.
             * @example Claude
             */
            name: string;
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
            /** @description Whether it is the credential of this request. */
            current: boolean;
        };
        /** @description A link, shown only once. */
        SignInLink: {
            /**
             * @description Append it to the address of this server. It works once.
             * @example /sign-in#lk_link_...
             */
            href: string;
            user: string;
            /** Format: date-time */
            expires_at?: string | null;
        };
        /** @description The ways to sign in to the console besides keys and links. */
        SignInMethods: {
            providers: components["schemas"]["ProviderView"][];
        };
        /** @description The current sign-in. */
        SignInView: {
            /** @description The user whose memory is shown. */
            user: string;
            /** @description Whether the caller acts as the user, who can answer proposals and open domains. */
            human: boolean;
            /** @description Whether the caller may manage the tenant's users, keys and domains. */
            admin: boolean;
            /**
             * @description Whether the server runs without authentication for one local user: there is no sign-in or
             *     sign-out.
             */
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
        /** @description A signed receipt, which `lukasa erase --verify` can verify offline. */
        SignedReceiptView: {
            receipt: components["schemas"]["ErasureReceipt"];
            signature: components["schemas"]["ReceiptSignature"];
        };
        /** @description A memory with a similar meaning. */
        SimilarView: {
            memory: components["schemas"]["MemoryView"];
            /**
             * Format: float
             * @description Similarity, at most 1.
             */
            similarity: number;
        };
        /**
         * @description The memories of a space in a context. Each line names the member who said it; none is a rule. What
         *     another member said and directs assistants is left out.
         */
        SpaceContextView: {
            /** @example family */
            space: string;
            part: components["schemas"]["PartView"];
        };
        /** @description Result of erasing a space. */
        SpaceErased: {
            /**
             * @description `done`, or `running` while rows are left, which are removed in the background.
             * @example done
             */
            status: string;
            erasure_id: string;
        };
        SpaceList: {
            data: components["schemas"]["SpaceView"][];
        };
        SpaceMemberList: {
            data: components["schemas"]["SpaceMemberView"][];
        };
        /** @description A member of a space. */
        SpaceMemberView: {
            /**
             * @description Your own id for the user; null if it cannot be read now.
             * @example anna
             */
            user?: string | null;
            grant: components["schemas"]["GrantView"];
        };
        /** @description A space: memories that its members share. */
        SpaceView: {
            /**
             * @description Its name, as sent in `X-Lukasa-Space`.
             * @example family
             */
            space: string;
        };
        /** @description A part of a message that its sender did not write. */
        SpanView: {
            /** @description Its first character, counted from zero. */
            from: number;
            /** @description The first character after it. */
            to: number;
            /**
             * @description `prefilled`, `pasted` or `quoted`. It counts as a document, whatever the role of the
             *     message.
             * @example pasted
             */
            as: string;
        };
        /**
         * @description Hashes of the stored state, as hexadecimal SHA-256. Equal hashes mean equal memories, however
         *     each state was reached: an undo restores the earlier hash, and so does importing an export.
         */
        StateHashView: {
            /** @description Memories outside the trash, and the links between them. */
            memories: string;
            episodes: string;
            /** @description Sessions outside the trash, and their turns. */
            sessions: string;
            /** @description Raw events outside the trash. */
            observations: string;
        };
        /** @description A prediction to state. */
        StatePrediction: {
            /** @description The memory that the assistant relies on. */
            memory_id: string;
            /**
             * @description What it expects, in a sentence.
             * @example Will choose a window seat
             */
            expects: string;
            session_id?: string | null;
            retrieval_id?: string | null;
            turn_id?: string | null;
        };
        /** @description Counts and hashes of everything stored about a user. */
        StateView: {
            memories: number;
            links: number;
            episodes: number;
            sessions: number;
            turns: number;
            observations: number;
            sha256: components["schemas"]["StateHashView"];
        };
        /** @description Counts of memories and of their use. */
        StatsView: {
            /** @description Active memories by category. */
            by_category: unknown;
            /** @description Active memories by domain; those without a domain under the empty string. */
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
        /** @description A change of one memory by consolidation, and the reason. */
        StepView: {
            memory_id: string;
            content: string;
            /**
             * @description `promote`, `weigh`, `let_go`, `practice`, `clear`, `topic`, `merge` or `contradict`.
             * @example promote
             */
            what: string;
            /** @example said in 5 turns of 2 chats */
            reason: string;
            before?: components["schemas"]["RatingStateView"] | null;
            after: components["schemas"]["RatingStateView"];
            /** @description The memory that `merge` has merged it into, or that it contradicts. */
            other_id?: string | null;
        };
        /** @description A domain suggested for a memory. */
        SuggestedDomain: {
            memory_id: string;
            /** @example travel */
            domain: string;
        };
        /** @description The tenant's policy. */
        TenantPolicyView: {
            /** @description All settings, as they are in force for a user without settings. */
            in_force: Record<string, unknown>;
            tenant: components["schemas"]["PolicyPatch"];
            /** Format: int32 */
            version: number;
        };
        /** @description Result of a test delivery. */
        TestedWebhook: {
            /** @description Whether the answer had a status between 200 and 299. */
            delivered: boolean;
            /**
             * Format: int32
             * @description The status of the answer, if there was one.
             */
            status?: number | null;
            error?: string | null;
        };
        /** @description Number of memories by tier. */
        TierCounts: {
            /** Format: int64 */
            strong: number;
            /** Format: int64 */
            tentative: number;
            /** Format: int64 */
            candidate: number;
        };
        /** @description A time that the query mentions, with its words. */
        TimeView: {
            /** @example last month */
            words: string;
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            until?: string | null;
        };
        /** @description Durations of the stages, in milliseconds. */
        TimingsView: {
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
        /** @description A turn: one message of a session. */
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
            /** @description Parts that the sender did not write. */
            spans?: components["schemas"]["SpanView"][];
            /**
             * @description The domain that the turn is about, if the user has not opened it. `content` is hidden then;
             *     the user can see it with `show_hidden=true`.
             */
            hidden_domain?: string | null;
        };
        /** @description The memories of an import that wait for the user's decision. */
        UndecidedView: {
            /** @description At most 1,000, in the order of the import. */
            memory_ids: string[];
        };
        Undo: {
            /** @example POST */
            method: string;
            /** @example /api/operations/op_01hx3v9d0kf7rtm4q5wz8yb2cc/undo */
            href: string;
        };
        /** @description Result of undoing an import. */
        UndoneView: {
            import_id: string;
            /** @description How many of its operations were undone. */
            operations: number;
            /** @description How many sessions were moved into the trash. */
            chats: number;
            /** @description How many memories stay because they were changed, confirmed one by one or removed since. */
            kept: number;
        };
        /** @description New words for an episode. An absent field stays as it is. */
        UpdateEpisode: {
            /** @description Null removes the title. */
            title?: string | null;
            summary?: string | null;
        };
        /** @description Changes to a memory. An absent field stays as it is; null clears it. */
        UpdateMemory: {
            /**
             * @description `change` (the default): things are different since `valid_from` or now.
             *     `correction`: it was never true; `valid_from` and `valid_until` correct the dates.
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
             * @description Quotations of the user from the session `session_id`. An assistant needs them to replace
             *     what the user stated; without them the change waits for the user.
             */
            quotations?: string[];
            /**
             * @description The user's answer to `opt_in_needed`: keep this as a memory without a domain, although
             *     its domain is not open. Accepted only from the user.
             */
            keep_without_domain?: boolean;
            content?: components["schemas"]["MemoryContent"] | null;
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
            project?: string | null;
            /** @description Use it, but do not mention it. Accepted only from the user. */
            unmentioned?: boolean | null;
        };
        /** @description Uses, newest first. */
        UsagePage: {
            data: components["schemas"]["UsageView"][];
            next_cursor?: string | null;
        };
        /** @description One recorded use of a memory. */
        UsageView: {
            /**
             * @description The id of a reported use; null for one that was recorded automatically.
             * @example use_01hx3v9d0kf7rtm4q5wz8yb2ca
             */
            id?: string | null;
            memory_id: string;
            session_id?: string | null;
            retrieval_id?: string | null;
            turn_id?: string | null;
            /**
             * @description `retrieved`, `applied`, `cited`, `conflicted`, `overridden`, `confirmed`, `contradicted`,
             *     `predicted`, `rated_up` or `rated_down`.
             * @example cited
             */
            type: string;
            influence?: string | null;
            /** Format: date-time */
            at: string;
            /** @description The prediction that it is the outcome of. */
            prediction_id?: string | null;
        };
        /** @description Result of deleting a user. */
        UserDeleted: {
            /**
             * @description `done`, or `running` while rows are left: requests about the user are refused already, and
             *     the rest is removed in the background.
             * @example done
             */
            status: string;
            erasure_id: string;
            removed: components["schemas"]["Counts"];
            /** @description Keys and tokens bound to the user that have ended. */
            credentials_ended: number;
            receipt?: components["schemas"]["SignedReceiptView"] | null;
        };
        /** @description A user whom memories are about. */
        UserView: {
            /**
             * @description Your own id for the user, as sent in `X-Lukasa-User`.
             * @example alice
             */
            user: string;
            id: string;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description For a temporary user: when everything about them counts as deleted.
             */
            expires_at?: string | null;
            counts?: components["schemas"]["Counts"] | null;
            /** @description The user's time zone, from the hard memory under `personal` / `timezone`. */
            timezone?: string | null;
        };
        Users: {
            data: components["schemas"]["UserView"][];
            next_cursor?: string | null;
        };
        /** @description Result of a memory tool command. */
        VaultAnswer: {
            /**
             * @description Text to give the assistant as the tool's result.
             * @example The memory file has been edited.
             */
            text: string;
            /** @description Whether the tool's result is an error. */
            is_error: boolean;
            /** @description The operation that undo reverses; null if nothing was written. */
            operation_id?: string | null;
        };
        /** @description A change that a sync makes. */
        VaultChange: {
            /**
             * @description `save`, `change`, `forget`, `confirm`, `accept` or `reject`, or `episode` for a summary.
             * @example change
             */
            what: string;
            /** @description Null if the line is new. */
            memory_id?: string | null;
            /** @description The summary whose words are replaced. */
            episode_id?: string | null;
            /** @example profile.md */
            file: string;
            /** @description Zero if the line was removed. */
            line: number;
            before?: string | null;
            after?: string | null;
        };
        /** @description A command of an assistant's memory tool. */
        VaultCommand: {
            /** @example /memories */
            path: string;
            /** @description First and last line; -1 is the end. */
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
        /** @description A line that was edited both in the files and on the server. Neither is changed. */
        VaultConflict: {
            memory_id: string;
            file: string;
            line: number;
            /** @description The common ancestor. */
            base?: string | null;
            /** @description The content in the file; null if the line was removed. */
            theirs?: string | null;
            /** @description The content on the server; null if it was removed. */
            ours?: string | null;
        };
        /** @description One file of a vault. */
        VaultFile: {
            /**
             * @description Path in the vault's folder, with forward slashes.
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
        /** @description The current files of a vault's folder. */
        VaultFiles: {
            /**
             * @description Memories are in `profile.md`, `procedures.md`, `active_context.md`, `proposals.md` and
             *     `domains/{name}.md`, and summaries of conversations in `episodes/`; `.lukasa/base.jsonl` is the
             *     state they were made from. An edited file in
             *     `portraits/` is reported as a problem. Other files are ignored.
             */
            files: components["schemas"]["VaultFile"][];
            /**
             * @description For a sync: trust a base that this server did not sign for this user, and restore memories
             *     with the origins and consents it names. Accepted only from the user.
             */
            trust?: boolean;
        };
        /** @description Preview of a sync. */
        VaultPlan: {
            changes: components["schemas"]["VaultChange"][];
            /** @description How many memories are restored that never existed on this server. */
            restores: number;
            conflicts: components["schemas"]["VaultConflict"][];
            problems: components["schemas"]["VaultProblem"][];
            /**
             * @description Whether this server signed `.lukasa/base.jsonl` for this user, and it has not been changed
             *     since. Memories restored from any other base have the origin `import`.
             */
            base_signed: boolean;
        };
        /** @description A line that cannot be synced. It is left unchanged. */
        VaultProblem: {
            file: string;
            line: number;
            /** @description The problem, and how to fix it. */
            what: string;
        };
        /** @description Result of a sync. */
        VaultSynced: components["schemas"]["VaultPlan"] & {
            /** @description The operation that undo reverses as a whole; null if nothing was written. */
            operation_id?: string | null;
            /** @description The new content of the folder. */
            files: components["schemas"]["VaultFile"][];
        };
        /** @description A user's memory as files. */
        VaultView: {
            files: components["schemas"]["VaultFile"][];
            /**
             * @description Digest of all paths and contents. The same memory always gives the same files, byte for
             *     byte.
             */
            sha256: string;
        };
        /** @description A webhook, without its secret. */
        WebhookView: {
            /** @example whk_01hx3v9d0kf7rtm4q5wz8yb2cd */
            id: string;
            /** @example https://example.com/lukasa */
            url: string;
            /** @description The kinds of operation it is subscribed to; all if empty. */
            verbs: string[];
            /** Format: date-time */
            created_at: string;
            enabled: boolean;
            /**
             * Format: date-time
             * @description Since when it is disabled, and why.
             */
            disabled_at?: string | null;
            disabled_because?: string | null;
            /**
             * Format: date-time
             * @description Since when deliveries have failed; null if the last one succeeded.
             */
            failing_since?: string | null;
            /**
             * Format: date-time
             * @description Until when deliveries are also signed with the secret before the last rotation.
             */
            previous_secret_until?: string | null;
        };
        Webhooks: {
            data: components["schemas"]["WebhookView"][];
        };
        /** @description Why a result was found. */
        WhyFoundView: {
            /** Format: float */
            score: number;
            /**
             * Format: float
             * @description How relevant it is on its own, between 0 and 1.
             */
            relevance: number;
            arms: components["schemas"]["ArmView"][];
            /** @description The words of the query that it contains. */
            matched: string[];
            /** @description Its rank before reranking. */
            fused_rank: number;
        };
        /** @description The memories behind a turn. */
        WhyView: {
            turn: components["schemas"]["TurnView"];
            memories: components["schemas"]["GroundsView"][];
            retrieval_id?: string | null;
            /** Format: date-time */
            retrieved_at?: string | null;
            /**
             * @description Phrases of an answer that judge the user instead of repeating what they said, such as
             *     `you believe`.
             */
            judging: string[];
        };
        /** @description A session, cut to a model's context window. */
        WindowView: {
            /** @description Summary of the turns before the first one, if they do not fit. */
            summary?: string | null;
            turns: components["schemas"]["TurnView"][];
            /** @description How many early turns were left out. */
            left_out: number;
            tokens: number;
            /** @description A notice for the user, if turns were left out. */
            banner?: string | null;
        };
        /** @description Result of a write: the memory, an event for a user interface, a message for an assistant. */
        WriteResult: {
            memory?: components["schemas"]["MemoryView"] | null;
            event: components["schemas"]["MemoryEvent"];
            /**
             * @description A message for the assistant to read.
             * @example Saved: Prefers window seats
             */
            message: string;
            link?: components["schemas"]["LinkView"] | null;
            /** @description Proof of what was removed permanently. */
            receipts?: components["schemas"]["ReceiptView"][];
            reached?: components["schemas"]["RemovalCountsView"] | null;
            /** @description Memories that it may duplicate, if requested. */
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
export type AlertView = components['schemas']['AlertView'];
export type AnswerResult = components['schemas']['AnswerResult'];
export type AnswerResults = components['schemas']['AnswerResults'];
export type AnswerReview = components['schemas']['AnswerReview'];
export type AnswerView = components['schemas']['AnswerView'];
export type AppendTurn = components['schemas']['AppendTurn'];
export type AppendTurns = components['schemas']['AppendTurns'];
export type AppendedTurns = components['schemas']['AppendedTurns'];
export type ArchiveTrustView = components['schemas']['ArchiveTrustView'];
export type ArmView = components['schemas']['ArmView'];
export type AuditPage = components['schemas']['AuditPage'];
export type AuditView = components['schemas']['AuditView'];
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
export type ConflictView = components['schemas']['ConflictView'];
export type ConsentView = components['schemas']['ConsentView'];
export type Consolidation = components['schemas']['Consolidation'];
export type ConsolidationReportView = components['schemas']['ConsolidationReportView'];
export type ContextView = components['schemas']['ContextView'];
export type ContradictionList = components['schemas']['ContradictionList'];
export type ContradictionView = components['schemas']['ContradictionView'];
export type Counts = components['schemas']['Counts'];
export type CountsView = components['schemas']['CountsView'];
export type CreateKey = components['schemas']['CreateKey'];
export type CreateLink = components['schemas']['CreateLink'];
export type CreateMemory = components['schemas']['CreateMemory'];
export type CreateSpace = components['schemas']['CreateSpace'];
export type CreateUser = components['schemas']['CreateUser'];
export type CreateWebhook = components['schemas']['CreateWebhook'];
export type CreatedWebhook = components['schemas']['CreatedWebhook'];
export type DecideImport = components['schemas']['DecideImport'];
export type Deliveries = components['schemas']['Deliveries'];
export type DeliveryView = components['schemas']['DeliveryView'];
export type DependentMemory = components['schemas']['DependentMemory'];
export type DependentsView = components['schemas']['DependentsView'];
export type DetectAnswer = components['schemas']['DetectAnswer'];
export type DetectRequest = components['schemas']['DetectRequest'];
export type DomainCount = components['schemas']['DomainCount'];
export type DomainDetected = components['schemas']['DomainDetected'];
export type DomainQuestionView = components['schemas']['DomainQuestionView'];
export type DomainView = components['schemas']['DomainView'];
export type Domains = components['schemas']['Domains'];
export type EditMemory = components['schemas']['EditMemory'];
export type EditSession = components['schemas']['EditSession'];
export type EditWebhook = components['schemas']['EditWebhook'];
export type EditedEpisodeView = components['schemas']['EditedEpisodeView'];
export type EpisodePage = components['schemas']['EpisodePage'];
export type EpisodeView = components['schemas']['EpisodeView'];
export type ErasurePreview = components['schemas']['ErasurePreview'];
export type ErasureProgress = components['schemas']['ErasureProgress'];
export type ErasureReceipt = components['schemas']['ErasureReceipt'];
export type EstimateView = components['schemas']['EstimateView'];
export type Evidence = components['schemas']['Evidence'];
export type EvidenceInput = components['schemas']['EvidenceInput'];
export type EvidenceView = components['schemas']['EvidenceView'];
export type FieldError = components['schemas']['FieldError'];
export type FigureView = components['schemas']['FigureView'];
export type FileMemories = components['schemas']['FileMemories'];
export type FiledMemory = components['schemas']['FiledMemory'];
export type FiledView = components['schemas']['FiledView'];
export type FilingSuggestionsView = components['schemas']['FilingSuggestionsView'];
export type FloorView = components['schemas']['FloorView'];
export type FoundEpisode = components['schemas']['FoundEpisode'];
export type FoundMemory = components['schemas']['FoundMemory'];
export type FoundServiceView = components['schemas']['FoundServiceView'];
export type FoundSession = components['schemas']['FoundSession'];
export type FoundSessionView = components['schemas']['FoundSessionView'];
export type FoundSessions = components['schemas']['FoundSessions'];
export type FoundTurn = components['schemas']['FoundTurn'];
export type GoalView = components['schemas']['GoalView'];
export type GrantSpace = components['schemas']['GrantSpace'];
export type GrantView = components['schemas']['GrantView'];
export type GraphMemoryView = components['schemas']['GraphMemoryView'];
export type GroundsView = components['schemas']['GroundsView'];
export type History = components['schemas']['History'];
export type HomeView = components['schemas']['HomeView'];
export type ImportDecisionView = components['schemas']['ImportDecisionView'];
export type ImportReportView = components['schemas']['ImportReportView'];
export type ImportUse = components['schemas']['ImportUse'];
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
export type LeftSentenceView = components['schemas']['LeftSentenceView'];
export type LinkView = components['schemas']['LinkView'];
export type Links = components['schemas']['Links'];
export type Liveness = components['schemas']['Liveness'];
export type MakeLink = components['schemas']['MakeLink'];
export type MembershipList = components['schemas']['MembershipList'];
export type MembershipView = components['schemas']['MembershipView'];
export type MemoryContent = components['schemas']['MemoryContent'];
export type MemoryEvent = components['schemas']['MemoryEvent'];
export type MemoryGraphView = components['schemas']['MemoryGraphView'];
export type MemoryPage = components['schemas']['MemoryPage'];
export type MemoryView = components['schemas']['MemoryView'];
export type MintToken = components['schemas']['MintToken'];
export type ModelCallView = components['schemas']['ModelCallView'];
export type ModelCalls = components['schemas']['ModelCalls'];
export type ModelServiceSettings = components['schemas']['ModelServiceSettings'];
export type ModelServiceTestView = components['schemas']['ModelServiceTestView'];
export type ModelServiceView = components['schemas']['ModelServiceView'];
export type ModelSumView = components['schemas']['ModelSumView'];
export type ObservationPage = components['schemas']['ObservationPage'];
export type ObservationView = components['schemas']['ObservationView'];
export type OpenSession = components['schemas']['OpenSession'];
export type OperationPage = components['schemas']['OperationPage'];
export type OperationView = components['schemas']['OperationView'];
export type PartView = components['schemas']['PartView'];
export type PassList = components['schemas']['PassList'];
export type PassView = components['schemas']['PassView'];
export type PeriodicReviewView = components['schemas']['PeriodicReviewView'];
export type Phrasing = components['schemas']['Phrasing'];
export type PolicyPatch = components['schemas']['PolicyPatch'];
export type PolicyView = components['schemas']['PolicyView'];
export type PortraitView = components['schemas']['PortraitView'];
export type PortraitsView = components['schemas']['PortraitsView'];
export type PredictionView = components['schemas']['PredictionView'];
export type Problem = components['schemas']['Problem'];
export type ProviderView = components['schemas']['ProviderView'];
export type PutDomain = components['schemas']['PutDomain'];
export type QualityView = components['schemas']['QualityView'];
export type RateMemory = components['schemas']['RateMemory'];
export type RatingStateView = components['schemas']['RatingStateView'];
export type RatingView = components['schemas']['RatingView'];
export type RecallTimes = components['schemas']['RecallTimes'];
export type ReceiptKey = components['schemas']['ReceiptKey'];
export type ReceiptSignature = components['schemas']['ReceiptSignature'];
export type ReceiptView = components['schemas']['ReceiptView'];
export type Receipts = components['schemas']['Receipts'];
export type RecordObservation = components['schemas']['RecordObservation'];
export type RecordObservations = components['schemas']['RecordObservations'];
export type RecordedObservations = components['schemas']['RecordedObservations'];
export type RemovalCountsView = components['schemas']['RemovalCountsView'];
export type ReplayWebhook = components['schemas']['ReplayWebhook'];
export type Replayed = components['schemas']['Replayed'];
export type ReportOutcome = components['schemas']['ReportOutcome'];
export type ReportUsage = components['schemas']['ReportUsage'];
export type ResolveContradiction = components['schemas']['ResolveContradiction'];
export type RetrievalView = components['schemas']['RetrievalView'];
export type RetrieveRequest = components['schemas']['RetrieveRequest'];
export type ReviewAnswer = components['schemas']['ReviewAnswer'];
export type ReviewCountsView = components['schemas']['ReviewCountsView'];
export type ReviewItem = components['schemas']['ReviewItem'];
export type ReviewView = components['schemas']['ReviewView'];
export type Revoked = components['schemas']['Revoked'];
export type RotateSecret = components['schemas']['RotateSecret'];
export type RotatedKeyView = components['schemas']['RotatedKeyView'];
export type SearchAnswer = components['schemas']['SearchAnswer'];
export type SearchRequest = components['schemas']['SearchRequest'];
export type SentenceView = components['schemas']['SentenceView'];
export type SessionContextView = components['schemas']['SessionContextView'];
export type SessionLearningView = components['schemas']['SessionLearningView'];
export type SessionPage = components['schemas']['SessionPage'];
export type SessionView = components['schemas']['SessionView'];
export type SignIn = components['schemas']['SignIn'];
export type SignInEntry = components['schemas']['SignInEntry'];
export type SignInLink = components['schemas']['SignInLink'];
export type SignInMethods = components['schemas']['SignInMethods'];
export type SignInView = components['schemas']['SignInView'];
export type SignIns = components['schemas']['SignIns'];
export type SignedReceiptView = components['schemas']['SignedReceiptView'];
export type SimilarView = components['schemas']['SimilarView'];
export type SpaceContextView = components['schemas']['SpaceContextView'];
export type SpaceErased = components['schemas']['SpaceErased'];
export type SpaceList = components['schemas']['SpaceList'];
export type SpaceMemberList = components['schemas']['SpaceMemberList'];
export type SpaceMemberView = components['schemas']['SpaceMemberView'];
export type SpaceView = components['schemas']['SpaceView'];
export type SpanView = components['schemas']['SpanView'];
export type StateHashView = components['schemas']['StateHashView'];
export type StatePrediction = components['schemas']['StatePrediction'];
export type StateView = components['schemas']['StateView'];
export type StatsView = components['schemas']['StatsView'];
export type StepView = components['schemas']['StepView'];
export type SuggestedDomain = components['schemas']['SuggestedDomain'];
export type TenantPolicyView = components['schemas']['TenantPolicyView'];
export type TestedWebhook = components['schemas']['TestedWebhook'];
export type TierCounts = components['schemas']['TierCounts'];
export type TimeView = components['schemas']['TimeView'];
export type TimingsView = components['schemas']['TimingsView'];
export type TurnPage = components['schemas']['TurnPage'];
export type TurnView = components['schemas']['TurnView'];
export type UndecidedView = components['schemas']['UndecidedView'];
export type Undo = components['schemas']['Undo'];
export type UndoneView = components['schemas']['UndoneView'];
export type UpdateEpisode = components['schemas']['UpdateEpisode'];
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
export type WriteResult = components['schemas']['WriteResult'];
export type $defs = Record<string, never>;
export interface operations {
    get_home: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HomeView"];
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
                /** @description Only memories of this project; empty: only those of no project. All if absent. */
                project?: string;
                /** @description Only what was valid at this instant; now if absent. */
                as_of?: string;
                /** @description What Lukasa knew at this instant; now if absent. */
                known_at?: string;
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
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
                /** @description Also return memories with so similar a meaning that this may be a duplicate. */
                similar?: boolean;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMemory"];
            };
        };
        responses: {
            /** @description The memory exists already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
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
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
    state_prediction: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatePrediction"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PredictionView"];
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
    report_outcome: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The prediction's id */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportOutcome"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PredictionView"];
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
                /** @description How many days, including today: between 1 and 90; 30 if absent. */
                days?: number;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMemory"];
            };
        };
        responses: {
            /** @description The memory exists already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
                /** @description The last seen ETag; 412 if the memory has changed since. */
                "If-Match"?: string;
            };
            path: {
                /** @description The id of the memory listed as `against` */
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
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
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
    suggest_filing: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FilingSuggestionsView"];
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
    file_memories: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FileMemories"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FiledView"];
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
                /** @description Only what was valid at this instant; now if absent. */
                as_of?: string;
                /** @description What Lukasa knew at this instant; now if absent. */
                known_at?: string;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
                /** @description The last seen ETag; 412 if the memory has changed since. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
                /** @description The last seen ETag; 412 if the memory has changed since. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
            query?: {
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
                /** @description The last seen ETag; 412 if the memory has changed since. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
    rate_memory: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A memory's id, or text that occurs in exactly one active memory */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RateMemory"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RatingView"];
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
    remove_rating: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
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
                    "application/json": components["schemas"]["RatingView"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
                /** @description The last seen ETag; 412 if the memory has changed since. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
                /** @description The last seen ETag; 412 if the memory has changed since. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
                /** @description The last seen ETag; 412 if the memory has changed since. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
            query?: {
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
    get_memory_graph: {
        parameters: {
            query?: {
                /** @description How many links away a memory may be, between 1 and 3; 3 if absent. */
                depth?: number;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
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
                    "application/json": components["schemas"]["MemoryGraphView"];
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
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Act in this space, as a member; in the user's own memory if absent. */
                "X-Lukasa-Space"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The operation's id, or `last` for the newest that is not undone */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
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
                 * @description Continue after the event with this `id`. `Last-Event-ID` takes precedence. Without either,
                 *     the stream begins now.
                 */
                after?: string;
                /** @description `false` ends the stream once all events up to now were sent; `true` if absent. */
                follow?: boolean;
            };
            header?: {
                /** @description The `id` of the last event that was received */
                "Last-Event-ID"?: string | null;
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Only sessions in this state: `active`, `idle` or `archived`. */
                state?: string;
                /** @description List the sessions in the trash instead. */
                trashed?: boolean;
                /** @description Only sessions of this project. */
                project?: string;
                /** @description Also show words about domains that are not open. Accepted only from the user. */
                show_hidden?: boolean;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                /** @description The search text. */
                query: string;
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description Only sessions of this project and of none; all if absent. */
                project?: string;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
            query?: {
                /** @description Also show words about domains that are not open. Accepted only from the user. */
                show_hidden?: boolean;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Also show turns about domains that are not open. Accepted only from the user. */
                show_hidden?: boolean;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
    list_observations: {
        parameters: {
            query?: {
                source?: string;
                kind?: string;
                session_id?: string;
                project?: string;
                /** @description Only events at or after this time. */
                since?: string;
                /** @description Only events before this time. */
                until?: string;
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ObservationPage"];
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
    record_observations: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecordObservations"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordedObservations"];
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
    delete_observations: {
        parameters: {
            query: {
                /** @description The source whose events are deleted. */
                source: string;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
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
    delete_observation: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The observation's id */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
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
    erase_observation: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The observation's id */
                id: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                /** @description The model's budget for the conversation, in tokens; 32,000 if absent. */
                budget?: number;
                /** @description The share of the budget above which early turns are summarized; 0.8 if absent. */
                threshold?: number;
                /** @description Also show words about domains that are not open. Accepted only from the user. */
                show_hidden?: boolean;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The session's name */
                session_id: string;
                /** @description The turn's number in the session */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        requestBody: {
            content: {
                "text/plain": components["schemas"]["Beacon"];
            };
        };
        responses: {
            /** @description Accepted */
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
                /** @description Only those about this domain. A page can then be shorter than `limit`. */
                domain?: string;
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Also show the words of episodes about domains that are not open. Accepted only from the user. */
                show_hidden?: boolean;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description An episode, if no turn is given. No memory depends on it. */
                episode_id?: string;
                /** @description A whole session, if neither is given. */
                session_id?: string;
                /** @description Also show the words of episodes about domains that are not open. Accepted only from the user. */
                show_hidden?: boolean;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
    keep_reply: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
    get_episode: {
        parameters: {
            query?: {
                /** @description Show its words even if it is about a domain that is not open. Accepted only from the user. */
                show_hidden?: boolean;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
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
                    "application/json": components["schemas"]["EpisodeView"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
    edit_episode: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The episode's id */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateEpisode"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EditedEpisodeView"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
    keep_left_out: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The pass */
                id: string;
                /** @description The number of the left-out item in the pass */
                place: number;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                    "application/json": components["schemas"]["ConsolidationReportView"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
    answer_review: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerReview"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnswerResults"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                 * @description The source format: `mem0`, `mcp`, `chatgpt`, `claude`, `basic-memory` or `jsonl`. A ZIP is
                 *     always an export of Lukasa.
                 */
                format?: string;
                /**
                 * @description A digest of the whole source, or another stable name for it. All requests with the same
                 *     value belong to the same import.
                 */
                source?: string;
                /** @description A display name, such as the name of the file. */
                name?: string;
                /** @description Only report the result, without writing anything. */
                dry_run?: boolean;
                /**
                 * @description Trust an export that this server did not sign for this user: keep its origins, consents,
                 *     policy and log. Accepted only from the user; from a key it has no effect.
                 */
                trust?: boolean;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        /** @description Items, one on each line, as docs/export-import.md has them; or a ZIP as application/zip */
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
                    "application/json": components["schemas"]["ImportReportView"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
    list_undecided: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                    "application/json": components["schemas"]["UndecidedView"];
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
    decide_import: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The import */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecideImport"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportDecisionView"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
            query?: {
                /** @description Also return the conversations, in `conversations/`: the latest ones, up to 2,000 and 16 MiB. */
                conversations?: boolean;
            };
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
                /** @description The project that the request is about: what belongs to it and what belongs to no project. An empty value: only what belongs to no project. */
                "X-Lukasa-Project"?: string;
                /** @description Repeating a request with the same key returns the same answer. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                    "application/json": components["schemas"]["SessionContextView"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
    close_domain: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
    give_consent: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
    withdraw_consent: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
                    "application/json": components["schemas"]["WriteResult"];
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
                /** @description `next_cursor` of the previous page. */
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
                /** @description Your own id for the user */
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
                /** @description Your own id for the user */
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
                /** @description Your own id for the user */
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
                /** @description Your own id for the user */
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
    list_spaces: {
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpaceList"];
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
    create_space: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSpace"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpaceView"];
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
    erase_space: {
        parameters: {
            path: {
                /** @description The space */
                space: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpaceErased"];
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
    list_space_members: {
        parameters: {
            path: {
                /** @description The space */
                space: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpaceMemberList"];
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
    grant_space: {
        parameters: {
            path: {
                /** @description The space */
                space: string;
                /** @description Your own id for the user */
                user: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GrantSpace"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpaceMemberView"];
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
    end_space_grant: {
        parameters: {
            path: {
                /** @description The space */
                space: string;
                /** @description Your own id for the user */
                user: string;
            };
        };
        responses: {
            /** @description Ended */
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
    list_memberships: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MembershipList"];
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
    accept_membership: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The space */
                space: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MembershipView"];
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
    leave_space: {
        parameters: {
            header?: {
                /** @description Your own id for the user; required with a key for the whole tenant. */
                "X-Lukasa-User"?: string;
            };
            path: {
                /** @description The space */
                space: string;
            };
        };
        responses: {
            /** @description Ended */
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
        parameters: {
            header?: {
                /** @description Repeating a request with the same key creates nothing: it is answered 409 `answer_not_kept`. */
                "Idempotency-Key"?: string;
            };
        };
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
    rotate_key: {
        parameters: {
            path: {
                /** @description The key's id, not its secret */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateSecret"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedKeyView"];
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
                /** @description Your own id for the user; required with a key for the whole tenant. */
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
    list_sign_in_methods: {
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInMethods"];
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
                /** @description Only this user's. A user sees their own without it. */
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
                /** @description Only this user's. A user sees their own without it. */
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
    list_audit: {
        parameters: {
            query?: {
                /** @description Only records of this event, such as `key.create`. */
                event?: string;
                /** @description Only records from this time on. */
                since?: string;
                /** @description Only records before this time. */
                until?: string;
                /** @description Only records about this user, by your own id. */
                user?: string;
                /** @description The cell whose records are listed, in a deployment with several; `main` if absent. */
                cell?: string;
                /** @description Between 1 and 200; 50 if absent. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
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
        parameters: {
            header?: {
                /** @description Repeating a request with the same key creates nothing: it is answered 409 `answer_not_kept`. */
                "Idempotency-Key"?: string;
            };
        };
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
    rotate_webhook: {
        parameters: {
            path: {
                /** @description The webhook's id */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateSecret"];
            };
        };
        responses: {
            200: {
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
    get_model_service: {
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelServiceView"];
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
    put_model_service: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelServiceSettings"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelServiceView"];
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
    delete_model_service: {
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelServiceView"];
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
    test_model_service: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelServiceSettings"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelServiceTestView"];
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
                    "application/json": components["schemas"]["Liveness"];
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
                    "application/json": components["schemas"]["Liveness"];
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
