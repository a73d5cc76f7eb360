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

#: Where Lukasa is served on a person's own machine.
HERE = "http://127.0.0.1:7777"


class AsyncLukasa:
    """Somebody's memory, at one server.

    `url`, `key` and `user` are taken from `LUKASA_URL`, `LUKASA_KEY` and `LUKASA_USER` if absent. A key that
    is bound to one user needs no `user`; a server without authentication needs no `key`.

    Every write carries an idempotency key of its own, so it happens once however often it is sent: it is
    tried again, up to `retries` times, when the server cannot be reached or says that it is busy.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        user: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 3,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        url = (url or os.environ.get("LUKASA_URL") or HERE).rstrip("/")
        key = key or os.environ.get("LUKASA_KEY")
        self.user = user or os.environ.get("LUKASA_USER")
        self.retries = retries
        self._http = http or httpx.AsyncClient(timeout=timeout)
        self._http.base_url = httpx.URL(url + "/")
        if key:
            self._http.headers["Authorization"] = f"Bearer {key}"

    def about(self, user: str) -> Self:
        """The same client, about somebody else. It shares the connections."""
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
        """Sends any call of `lukasa.calls`, and reads the answer."""
        request = call.request(self._http, self.user)
        attempt = 0
        while True:
            try:
                response = await self._http.send(request)
            except httpx.TransportError as failure:
                if attempt >= self.retries or not call.may_repeat(failure):
                    raise Unreachable(f"{request.url.copy_with(query=None)}: {failure!r}") from failure
                pause = call.pause(attempt)
            else:
                if attempt >= self.retries or not call.is_passing(response):
                    return call.read(response)
                pause = call.pause(attempt, response)
            attempt += 1
            await sleep(pause)

    # Memories

    async def save(
        self, content: str, *, similar: bool = False, **more: Unpack[params.CreateMemoryOptions]
    ) -> models.Written:
        """Remembers this. Saying the same again gives the memory that is there.

        With `similar` the answer also lists what it may be repeating.
        """
        return await self.send(calls.save_memory({"content": content, **more}, {"similar": similar}))

    async def propose(self, content: str, **more: Unpack[params.CreateMemoryOptions]) -> models.Written:
        """Suggests this. It waits for its person's yes and is in no prompt until then."""
        return await self.send(calls.propose_memory({"content": content, **more}))

    async def get(self, memory: str, **point: Unpack[params.GetMemoryQuery]) -> models.Memory:
        """One memory, by its id or by words that only it has; now, or `as_of` and `known_at` some time."""
        return await self.send(calls.get_memory(memory, point))

    async def update(
        self, memory: str, *, if_match: str | None = None, **fields: Unpack[params.UpdateMemory]
    ) -> models.Written:
        """Says what holds from now on, or since `valid_from`. What held before stays in the history.

        With `if_match`, a `version_id`, only if nobody else was quicker.
        """
        return await self.send(calls.update_memory(memory, fields, if_match))

    async def correct(
        self, memory: str, *, if_match: str | None = None, **fields: Unpack[params.UpdateMemory]
    ) -> models.Written:
        """Says what was so all along: the old words were never true."""
        fields["mode"] = "correction"
        return await self.send(calls.update_memory(memory, fields, if_match))

    async def forget(self, memory: str, *, if_match: str | None = None) -> models.Written:
        """Ends a memory. It is in no prompt again, and can be restored."""
        return await self.send(calls.forget_memory(memory, if_match))

    async def delete(self, memory: str, *, if_match: str | None = None) -> models.Written:
        """Moves a memory into the trash, for thirty days."""
        return await self.send(calls.delete_memory(memory, if_match))

    async def restore(self, memory: str, *, if_match: str | None = None) -> models.Written:
        """Brings back what was forgotten or deleted."""
        return await self.send(calls.restore_memory(memory, if_match))

    async def erase(self, memory: str, *, if_match: str | None = None) -> models.Written:
        """Removes a memory now and everywhere, with a receipt. It cannot be undone."""
        return await self.send(calls.erase_memory(memory, if_match))

    async def confirm(
        self, memory: str, *, if_match: str | None = None, **answer: Unpack[params.ConfirmMemory]
    ) -> models.Written:
        """Answers a proposal, or says that a memory is still so. A yes to a proposal carries its `sha256`."""
        return await self.send(calls.confirm_memory(memory, answer, if_match))

    async def history(self, memory: str) -> List[models.Memory]:
        """Every version that a memory ever had, in the order they came to be known."""
        return (await self.send(calls.get_memory_history(memory))).data

    async def link(self, memory: str, to: str, relation: str | None = None) -> models.Written:
        """Ties two memories together."""
        return await self.send(calls.link_memories(memory, {"to": to, "relation": relation}))

    async def unlink(self, memory: str, link: str) -> models.Written:
        return await self.send(calls.unlink_memories(memory, link))

    async def links(self, memory: str) -> List[models.Link]:
        """The links of a memory, each with the memory at the other end."""
        return (await self.send(calls.list_links(memory))).data

    # Finding

    async def recall(self, query: str, **more: Unpack[params.SearchRequestOptions]) -> models.SearchAnswer:
        """What bears on a message, best first, with the reasons."""
        return await self.send(calls.search_memories({"query": query, **more}))

    async def retrieve(self, query: str = "", /, **more: Unpack[params.RetrieveRequest]) -> models.Context:
        """What to put into the prompt for a message: `context`, or its two parts.

        Give `session_id`, and the `baseline` is the same bytes for the whole session: it belongs where the
        provider caches the prompt. `dynamic` is for this message only.
        """
        more.setdefault("query", query)
        return await self.send(calls.retrieve_context(more))

    # Doing and undoing

    async def undo(self, what: str | models.Written | models.Operation = "last") -> models.Written:
        """Takes an operation back as a whole: one that a write answered with, one by its id, or the last."""
        return await self.send(calls.undo_operation(operation_id(what)))

    # Sessions

    async def open_session(self, **fields: Unpack[params.OpenSession]) -> models.Session:
        """Opens a session, or gives the one that is there. Appending opens it too."""
        return await self.send(calls.open_session(fields))

    async def session(self, session: str) -> models.Session:
        return await self.send(calls.get_session(session))

    async def append(self, session: str, turns: Sequence[params.AppendTurn]) -> models.AppendedTurns:
        """Appends what was said, in order. Each turn has a `role` and a `content`."""
        return await self.send(calls.append_turns(session, {"turns": turns}))

    async def close_session(self, session: str, *, dirty: bool | None = None) -> models.ClosedSession:
        """Ends a chat for now: what is new in it is learned from. Speaking resumes it."""
        return await self.send(calls.close_session(session, {"dirty": dirty}))

    async def learn_session(self, session: str) -> models.ClosedSession:
        """Has a session learned from now."""
        return await self.send(calls.learn_session(session))

    async def delete_session(self, session: str) -> models.Session:
        """Moves a session into the trash, for thirty days."""
        return await self.send(calls.delete_session(session))

    async def restore_session(self, session: str) -> models.Session:
        return await self.send(calls.restore_session(session))

    async def delete_turn(self, turn: str) -> models.Written:
        """Takes back what was said, and with it what was learned from that alone."""
        return await self.send(calls.delete_turn(turn))

    # Lists, which go on by themselves

    async def list(self, **which: Unpack[params.ListMemoriesQuery]) -> AsyncIterator[models.Memory]:
        """Memories, newest first: those that are active, unless another `status` is asked for."""
        while True:
            page = await self.send(calls.list_memories(which))
            for memory in page.data:
                yield memory
            if page.next_cursor is None:
                return
            which = {**which, "cursor": page.next_cursor}

    async def proposals(self, **which: Unpack[params.ListProposalsQuery]) -> AsyncIterator[models.Memory]:
        """What waits for its person's yes."""
        while True:
            page = await self.send(calls.list_proposals(which))
            for memory in page.data:
                yield memory
            if page.next_cursor is None:
                return
            which = {**which, "cursor": page.next_cursor}

    async def operations(self, **which: Unpack[params.ListOperationsQuery]) -> AsyncIterator[models.Operation]:
        """What was written, newest first."""
        while True:
            page = await self.send(calls.list_operations(which))
            for operation in page.data:
                yield operation
            if page.next_cursor is None:
                return
            which = {**which, "cursor": page.next_cursor}

    async def sessions(self, **which: Unpack[params.ListSessionsQuery]) -> AsyncIterator[models.Session]:
        """Sessions, the one last spoken in first."""
        while True:
            page = await self.send(calls.list_sessions(which))
            for session in page.data:
                yield session
            if page.next_cursor is None:
                return
            which = {**which, "cursor": page.next_cursor}

    async def turns(self, session: str, **which: Unpack[params.ListTurnsQuery]) -> AsyncIterator[models.Turn]:
        """The turns of a session, in the order they were said."""
        while True:
            page = await self.send(calls.list_turns(session, which))
            for turn in page.data:
                yield turn
            if page.next_cursor is None:
                return
            which = {**which, "cursor": page.next_cursor}

    # The whole of it

    async def review(self) -> List[models.ReviewItem]:
        """Everything its person may be asked about."""
        return (await self.send(calls.get_review())).data

    async def portraits(self) -> models.Portraits:
        """What is known, told in sentences that cite it."""
        return await self.send(calls.list_portraits())

    async def domains(self) -> List[models.Domain]:
        """The areas of a life, and which of them are open."""
        return (await self.send(calls.list_domains())).data

    async def state(self) -> models.State:
        """How much is held, and hashes to compare it by."""
        return await self.send(calls.get_state())

    async def export(self) -> bytes:
        """Everything that is kept, as a ZIP."""
        return await self.send(calls.export())

    async def take_in(
        self, content: bytes, *, media: str = "application/jsonl", **how: Unpack[params.ImportQuery]
    ) -> models.Taken:
        """Imports an export, or another program's: see docs/moving.md."""
        return await self.send(calls.import_(content, media, how))

    async def vault_command(self, command: params.VaultCommand | Mapping[str, Any]) -> models.VaultAnswer:
        """One command of the memory tool (`memory_20250818`) on the memory as files."""
        return await self.send(calls.run_vault_command(command))  # type: ignore[arg-type]


def operation_id(what: str | models.Written | models.Operation) -> str:
    """The id of an operation, however it is at hand."""
    if isinstance(what, models.Written):
        if what.event.operation_id is None:
            raise ValueError("nothing was written, so there is nothing to undo")
        return what.event.operation_id
    return what if isinstance(what, str) else what.id
