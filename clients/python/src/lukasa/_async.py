"""The client. `_sync.py` is made from this file by `generate.py`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, List, TypeVar

import httpx
from anyio import sleep
from typing_extensions import Self, Unpack

from ._call import Call
from ._errors import Unreachable
from ._generated import calls, models, params

Read = TypeVar("Read")

#: The default URL of a local server.
DEFAULT_URL = "http://127.0.0.1:7777"


class AsyncLukasa:
    """Client of a Lukasa server, for one user.

    `url`, `key` and `user` are taken from `LUKASA_URL`, `LUKASA_KEY` and `LUKASA_USER` if absent. A key that
    is bound to one user needs no `user`; a server without authentication needs no `key`.

    With `project`, all requests are about what belongs to that project and to no project; with an empty one
    only about what belongs to no project. Without it lists show every project, and everything else follows its
    session or no project.

    With `space` the client acts in that space, as a member. Only methods about memories, proposals and the log
    have spaces: the server refuses the others.

    Every write has its own idempotency key, so it happens once even if it is sent repeatedly: it is retried
    up to `retries` times when the server cannot be reached or is busy.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        user: str | None = None,
        *,
        project: str | None = None,
        space: str | None = None,
        timeout: float = 30.0,
        retries: int = 3,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        url = (url or os.environ.get("LUKASA_URL") or DEFAULT_URL).rstrip("/")
        key = key or os.environ.get("LUKASA_KEY")
        self.user = user or os.environ.get("LUKASA_USER")
        self.project = project
        self.space = space
        self.retries = retries
        self._http = http or httpx.AsyncClient(timeout=timeout)
        self._http.base_url = httpx.URL(url + "/")
        if key:
            self._http.headers["Authorization"] = f"Bearer {key}"

    def for_user(self, user: str) -> Self:
        """A client for another user. It shares the connections."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.user = user
        return other

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def send(self, call: Call[Read]) -> Read:
        """Sends any call of `lukasa.calls`, and parses the response."""
        request = call.request(self._http, self.user, self.project, self.space)
        attempt = 0
        while True:
            try:
                response = await self._http.send(request)
            except httpx.TransportError as failure:
                if attempt >= self.retries or not call.may_repeat(failure):
                    raise Unreachable(f"{request.url.copy_with(query=None)}: {failure!r}") from failure
                pause = call.pause(attempt)
            else:
                if attempt >= self.retries or not call.is_retryable(response):
                    return call.read(response)
                pause = call.pause(attempt, response)
            attempt += 1
            await sleep(pause)

    # Memories

    async def save(
        self, content: str, *, similar: bool = False, **more: Unpack[params.CreateMemoryOptions]
    ) -> models.WriteResult:
        """Saves a memory. Saving the same text again returns the existing memory.

        With `similar` the response also lists similar memories.
        """
        return await self.send(calls.save_memory({"content": content, **more}, {"similar": similar}))

    async def propose(self, content: str, **more: Unpack[params.CreateMemoryOptions]) -> models.WriteResult:
        """Proposes a memory. It is in no prompt until the user confirms it."""
        return await self.send(calls.propose_memory({"content": content, **more}))

    async def get(self, memory: str, **point: Unpack[params.GetMemoryQuery]) -> models.Memory:
        """One memory, by its id or by words that only it contains; now, or at `as_of` and `known_at`."""
        return await self.send(calls.get_memory(memory, point))

    async def update(
        self, memory: str, *, if_match: str | None = None, **fields: Unpack[params.UpdateMemory]
    ) -> models.WriteResult:
        """Changes a memory from now on, or since `valid_from`. The previous text stays in the history.

        With `if_match`, a `version_id`, only if the memory is unchanged.
        """
        return await self.send(calls.update_memory(memory, fields, if_match))

    async def correct(
        self, memory: str, *, if_match: str | None = None, **fields: Unpack[params.UpdateMemory]
    ) -> models.WriteResult:
        """Corrects a memory: the old text was never true."""
        fields["mode"] = "correction"
        return await self.send(calls.update_memory(memory, fields, if_match))

    async def forget(self, memory: str, *, if_match: str | None = None) -> models.WriteResult:
        """Forgets a memory. It is in no prompt again, and can be restored."""
        return await self.send(calls.forget_memory(memory, if_match))

    async def delete(self, memory: str, *, if_match: str | None = None) -> models.WriteResult:
        """Moves a memory to the trash, for thirty days."""
        return await self.send(calls.delete_memory(memory, if_match))

    async def restore(self, memory: str, *, if_match: str | None = None) -> models.WriteResult:
        """Restores a forgotten or deleted memory."""
        return await self.send(calls.restore_memory(memory, if_match))

    async def erase(self, memory: str, *, if_match: str | None = None) -> models.WriteResult:
        """Erases a memory now and everywhere, with a receipt. It cannot be undone."""
        return await self.send(calls.erase_memory(memory, if_match))

    async def confirm(
        self, memory: str, *, if_match: str | None = None, **answer: Unpack[params.ConfirmMemory]
    ) -> models.WriteResult:
        """Confirms that a memory is still true, or answers a proposal. Confirming one needs its `sha256`."""
        return await self.send(calls.confirm_memory(memory, answer, if_match))

    async def rate(self, memory: str, rating: str | None) -> models.Rating:
        """Rates a memory `up` or `down`; None removes the rating. Needs a token of the user."""
        if rating is None:
            return await self.send(calls.remove_rating(memory))
        return await self.send(calls.rate_memory(memory, {"rating": rating}))

    async def predict(
        self, memory: str, expects: str, **more: Unpack[params.StatePredictionOptions]
    ) -> models.Prediction:
        """States what an assistant expects of a memory, before it acts on it."""
        return await self.send(calls.state_prediction({"memory_id": memory, "expects": expects, **more}))

    async def report_outcome(self, prediction: str, outcome: str) -> models.Prediction:
        """Reports how a prediction turned out: `confirmed` or `wrong`."""
        return await self.send(calls.report_outcome(prediction, {"outcome": outcome}))

    async def link(self, memory: str, to: str, relation: str | None = None) -> models.WriteResult:
        """Links two memories."""
        return await self.send(calls.link_memories(memory, {"to": to, "relation": relation}))

    async def unlink(self, memory: str, link: str) -> models.WriteResult:
        return await self.send(calls.unlink_memories(memory, link))

    # Search

    async def recall(self, query: str, **more: Unpack[params.SearchRequestOptions]) -> models.SearchAnswer:
        """Finds memories that are relevant to a message, best first, with the reasons."""
        return await self.send(calls.search_memories({"query": query, **more}))

    async def retrieve(self, query: str = "", /, **more: Unpack[params.RetrieveRequest]) -> models.Context:
        """Retrieves what to put into the prompt for a message: `context`, or its two parts.

        With `session_id` the `baseline` is byte for byte the same for the whole session: put it where the
        provider caches the prompt. `dynamic` is for this message only.
        """
        more.setdefault("query", query)
        return await self.send(calls.retrieve_context(more))

    # Undo

    async def undo(self, what: str | models.WriteResult | models.Operation = "last") -> models.WriteResult:
        """Undoes an operation as a whole, given the response of a write, its id, or `last`."""
        return await self.send(calls.undo_operation(operation_id(what)))

    # Sessions

    async def open_session(self, **fields: Unpack[params.OpenSession]) -> models.Session:
        """Opens a session, or returns the existing one. Appending opens it too."""
        return await self.send(calls.open_session(fields))

    async def session(self, session: str) -> models.Session:
        return await self.send(calls.get_session(session))

    async def append(self, session: str, turns: Sequence[params.AppendTurn]) -> models.AppendedTurns:
        """Appends turns in order. Each turn has a `role` and a `content`."""
        return await self.send(calls.append_turns(session, {"turns": turns}))

    async def close_session(self, session: str, *, has_new_turns: bool | None = None) -> models.ClosedSession:
        """Closes a session: its new turns are learned from. Appending reopens it."""
        return await self.send(calls.close_session(session, {"has_new_turns": has_new_turns}))

    async def learn_session(self, session: str) -> models.ClosedSession:
        """Learns from a session now."""
        return await self.send(calls.learn_session(session))

    async def delete_session(self, session: str) -> models.Session:
        """Moves a session to the trash, for thirty days."""
        return await self.send(calls.delete_session(session))

    async def restore_session(self, session: str) -> models.Session:
        return await self.send(calls.restore_session(session))

    async def keep_reply(self, turn: str) -> models.WriteResult:
        """Keeps an assistant's reply as a note. Needs a token of the user."""
        return await self.send(calls.keep_reply(turn))

    async def observe(
        self, observations: Sequence[params.RecordObservation]
    ) -> models.RecordedObservations:
        """Records raw events of other applications: all of them or none."""
        return await self.send(calls.record_observations({"observations": observations}))

    async def delete_turn(self, turn: str) -> models.WriteResult:
        """Deletes a turn, and with it what was learned from it alone."""
        return await self.send(calls.delete_turn(turn))

    # Lists, which read further pages as needed

    async def list(self, **which: Unpack[params.ListMemoriesQuery]) -> AsyncIterator[models.Memory]:
        """Memories, newest first: active ones, unless another `status` is given."""
        while True:
            page = await self.send(calls.list_memories(which))
            for memory in page.data:
                yield memory
            if page.next_cursor is None:
                return
            which = {**which, "cursor": page.next_cursor}

    async def proposals(self, **which: Unpack[params.ListProposalsQuery]) -> AsyncIterator[models.Memory]:
        """Open proposals, which wait for the user's answer."""
        while True:
            page = await self.send(calls.list_proposals(which))
            for memory in page.data:
                yield memory
            if page.next_cursor is None:
                return
            which = {**which, "cursor": page.next_cursor}

    async def operations(self, **which: Unpack[params.ListOperationsQuery]) -> AsyncIterator[models.Operation]:
        """Operations, newest first."""
        while True:
            page = await self.send(calls.list_operations(which))
            for operation in page.data:
                yield operation
            if page.next_cursor is None:
                return
            which = {**which, "cursor": page.next_cursor}

    async def sessions(self, **which: Unpack[params.ListSessionsQuery]) -> AsyncIterator[models.Session]:
        """Sessions, the most recently active first."""
        while True:
            page = await self.send(calls.list_sessions(which))
            for session in page.data:
                yield session
            if page.next_cursor is None:
                return
            which = {**which, "cursor": page.next_cursor}

    async def turns(self, session: str, **which: Unpack[params.ListTurnsQuery]) -> AsyncIterator[models.Turn]:
        """The turns of a session, in order."""
        while True:
            page = await self.send(calls.list_turns(session, which))
            for turn in page.data:
                yield turn
            if page.next_cursor is None:
                return
            which = {**which, "cursor": page.next_cursor}

    async def history(
        self, memory: str, **which: Unpack[params.GetMemoryHistoryQuery]
    ) -> AsyncIterator[models.Memory]:
        """All versions of a memory, in the order they became known."""
        while True:
            page = await self.send(calls.get_memory_history(memory, which))
            for version in page.data:
                yield version
            if page.next_cursor is None:
                return
            which = {**which, "cursor": page.next_cursor}

    async def links(self, memory: str, **which: Unpack[params.ListLinksQuery]) -> AsyncIterator[models.Link]:
        """The links of a memory, each with the memory at the other end, in the order they were made."""
        while True:
            page = await self.send(calls.list_links(memory, which))
            for link in page.data:
                yield link
            if page.next_cursor is None:
                return
            which = {**which, "cursor": page.next_cursor}

    # Overviews and archives

    async def review(self) -> List[models.ReviewItem]:
        """Review items: questions for the user."""
        return (await self.send(calls.get_review())).data

    async def portraits(self) -> List[models.Portrait]:
        """Portraits: texts about the user in which every sentence cites memories."""
        return (await self.send(calls.list_portraits())).data

    async def domains(self) -> List[models.Domain]:
        """Domains (areas of life), and which of them are on."""
        return (await self.send(calls.list_domains())).data

    async def state(self) -> models.State:
        """Counts of the memory, and hashes to compare it."""
        return await self.send(calls.get_state())

    async def export(self) -> bytes:
        """Everything stored about the user, as a ZIP."""
        return await self.send(calls.export())

    async def import_(
        self, content: bytes, *, media: str = "application/jsonl", **how: Unpack[params.ImportQuery]
    ) -> models.ImportReport:
        """Imports an export of Lukasa or of another program: see docs/export-import.md."""
        return await self.send(calls.import_(content, media, how))

    async def vault_command(self, command: params.VaultCommand | Mapping[str, Any]) -> models.VaultAnswer:
        """One command of the memory tool (`memory_20250818`) on the memory as files."""
        return await self.send(calls.run_vault_command(command))  # type: ignore[arg-type]


def operation_id(what: str | models.WriteResult | models.Operation) -> str:
    """The id of an operation, from a response, an operation or the id itself."""
    if isinstance(what, models.WriteResult):
        if what.event.operation_id is None:
            raise ValueError("nothing was written, so there is nothing to undo")
        return what.event.operation_id
    return what if isinstance(what, str) else what.id
