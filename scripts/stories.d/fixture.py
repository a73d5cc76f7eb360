"""What the stories share: a temporary database, a server with keys, and a user who acts in a printed transcript."""

from __future__ import annotations

import datetime
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS / "cluster.d"))
from cluster import Server, TryError, run  # noqa: E402, F401
from model import MARKED_LINE, Model  # noqa: E402

#: How long background work may take with the scripted model, and with a real one.
WAIT_SECONDS, SLOW_WAIT_SECONDS = 60, 900
ALL = ["read", "write", "propose", "erase", "chat"]
#: What is printed of one line, so that a transcript stays readable.
LINE_CHARS = 150


class StoryError(Exception):
    """What was expected and did not happen."""


class Refused(Exception):
    """An answer of the server that is not a success."""

    def __init__(self, status: int, problem: dict) -> None:
        super().__init__(f"{status} {problem.get('code')}: {problem.get('detail')}")
        self.status, self.code, self.problem = status, problem.get("code"), problem


class Database:
    """A temporary database in a PostgreSQL that runs already, or in the one of scripts/postgres."""

    def __init__(self) -> None:
        self.psql = run([str(SCRIPTS / "postgres"), "bin"]) + "/psql"
        self.parent = run([str(SCRIPTS / "postgres"), "url"])
        self.name = f"stories_{os.getpid()}"
        self.sql(f"create database {self.name}")
        self.url = f"{self.parent.rsplit('/', 1)[0]}/{self.name}"

    def sql(self, statement: str, inside: bool = False) -> str:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        url = self.url if inside else self.parent
        return run([self.psql, "-XqtA", "-v", "ON_ERROR_STOP=1", url, "-c", statement], env=environment)

    def make_daily_job_due(self, user: str) -> None:
        """Lets the daily job of a user run now: a story does not wait for a day."""
        due = "now() - interval '1 second'"
        whose = f"user_id = (select user_id from users where name = '{user}')"
        self.sql(f"update job set run_at = {due}, head_at = {due} where kind = 'upkeep' and {whose}", inside=True)

    @contextmanager
    def unavailable(self) -> Iterator[None]:
        """The database accepts no connections, and those that exist are ended."""
        self.sql(f"alter database {self.name} with allow_connections false")
        self.sql(f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{self.name}'")
        try:
            yield
        finally:
            self.sql(f"alter database {self.name} with allow_connections true")

    def drop(self) -> None:
        self.sql(f"drop database if exists {self.name} with (force)")


class Fixture:
    """What all stories share: the database, the model and the server."""

    def __init__(self, binary: Path, folder: Path, model: Model, models: Path | None) -> None:
        self.model = model
        self.database = Database()
        self.has_embedder = models is not None and (models / "potion").is_dir()
        settings = {
            "LUKASA_EMBEDDER": "potion" if self.has_embedder else "off", "LUKASA_UPSTREAM": model.url,
            "LUKASA_CHAT": f"{model.name}@{model.url}", "LUKASA_GATEWAY_DEADLINE": "3000",
        }  # fmt: skip
        if self.has_embedder:
            settings["LUKASA_MODELS"] = str(models)
        try:
            self.server = Server(binary, self.database.url, folder, settings=settings)
        except BaseException:
            self.database.drop()
            raise
        self.server.key = self.create_key("backend", "read,write,propose,erase,chat,admin")
        self.assistant_key = self.create_key("assistant", "read,write,propose,chat")
        self.url = f"http://127.0.0.1:{self.server.port}"
        self.wait_seconds = WAIT_SECONDS if model.is_scripted else SLOW_WAIT_SECONDS

    def create_key(self, name: str, may: str) -> str:
        create = ("key", "create", "--tenant", "stories", "--name", name, "--may", may)
        return self.server.command(*create)["secret"]

    def request(self, key: str, method: str, path: str, body: Any = None, headers: dict | None = None) -> tuple:
        """The body and the headers of an answer; `Refused` if it is not a success."""
        sent = {"Content-Type": "application/json", "Authorization": f"Bearer {key}", **(headers or {})}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, sent, method=method)
        try:
            with self.server.opener.open(request, timeout=900) as response:
                text, received = response.read().decode(), response.headers
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            raise Refused(error.code, json.loads(text) if text.startswith("{") else {"detail": text}) from None
        return (json.loads(text) if text.startswith(("{", "[")) else text), received

    def stop(self) -> None:
        self.server.stop()
        self.database.drop()


class Story:
    """The transcript of one story, and its expectations."""

    def __init__(self, fixture: Fixture, number: int, title: str, user: str) -> None:
        self.fixture, self.model, self.title = fixture, fixture.model, title
        self.user, self.name = f"{user.lower()}-{number}", user
        self.steps, self.with_model, self.checked, self.differing, self.gaps = 0, [], 0, [], []
        self.token, self.minted_at = "", 0.0
        self.chats: dict[str, list[dict]] = {}
        print(f"\n{'=' * 100}\nStory {number}: {title}\n{'=' * 100}")

    # ------------------------------------------------------------ the transcript

    def line(self, who: str, words: str) -> None:
        words = " ".join(words.split())
        if len(words) > LINE_CHARS:
            words = words[: LINE_CHARS - 1] + "…"
        print(f"  {who:>10} | {words}")

    def console(self, words: str) -> None:
        self.line("console", words)

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        self.steps += 1
        chats, own = self.model.counts()
        self.touched: set[str] = set()
        print(f"\n{self.steps}. {title}")
        yield
        self.settle()
        chats, own = (now - before for now, before in zip(self.model.counts(), (chats, own), strict=True))
        if chats or own:
            self.with_model.append(self.steps)
            self.line("(model)", f"this step needed a model: {chats} for answers, {own} for learning")

    def settle(self) -> None:
        """Waits for the background work of a step, so that the next one begins with its results."""
        for session in self.touched:
            self.wait_for_turns(session)

        def is_quiet() -> bool:
            soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=5)
            jobs = self.human("GET", "/api/jobs")["data"]
            due = [job for job in jobs if datetime.datetime.fromisoformat(job["run_at"]) <= soon]
            return not [job for job in due if job["state"] != "dead"]

        self.wait("background work", is_quiet)

    def expect(self, promise: str, holds: Any) -> None:
        """A promise of the product, whatever the model says."""
        self.checked += 1
        if not holds:
            raise StoryError(f"story \"{self.title}\", step {self.steps}: expected that {promise}")
        self.line("checked", promise)

    def expect_if_scripted(self, promise: str, holds: Any) -> bool:
        """What depends on how well a model reads: expected of the scripted model, reported for others."""
        if self.model.is_scripted:
            self.expect(promise, holds)
        elif holds:
            self.line("seen", f"{promise} (depends on the model)")
        else:
            self.differing.append(f"step {self.steps}: {promise}")
            self.line("NOT SEEN", f"{promise} (depends on the model)")
        return bool(holds)

    def report_missing(self, promise: str, holds: Any) -> None:
        """What a user would want and the product does not do yet; with the scripted model it fails once it does."""
        if holds and self.model.is_scripted:
            raise StoryError(f"story \"{self.title}\", step {self.steps}: done now, expect it: {promise}")
        if holds:
            return self.line("seen", f"{promise} (depends on the model)")
        self.gaps.append(f"step {self.steps}: {promise}")
        self.line("MISSING", promise)

    def wait(self, what: str, look: Callable[[], Any]) -> Any:
        """The first true answer of `look`, which background work makes true."""
        end = time.monotonic() + self.fixture.wait_seconds
        while not (found := look()):
            if time.monotonic() > end:
                raise StoryError(f"story \"{self.title}\", step {self.steps}: waited in vain for {what}")
            time.sleep(0.2)
        return found

    # ------------------------------------------------------------ the user, in the console

    def human(self, method: str, path: str, body: Any = None) -> Any:
        """A request as the user: with a short-lived token, as the console has one."""
        if time.monotonic() > self.minted_at + 300:
            wanted = {"user": self.user, "permissions": ALL, "minutes": 15}
            self.token = self.fixture.request(self.fixture.server.key, "POST", "/api/tokens", wanted)[0]["secret"]
            self.minted_at = time.monotonic()
        return self.fixture.request(self.token, method, path, body)[0]

    def set_preset(self, name: str, **more: Any) -> None:
        policy = self.human("PUT", "/api/policy", {"preset": name, **more})["in_force"]
        how = f"admission {policy['admission']}, learns at {policy['extract']}"
        self.console(f"Settings: preset {policy['preset']} ({how})")

    def memories(self, **filters: str) -> list[dict]:
        query = "&".join(f"{name}={value}" for name, value in {"limit": "200", **filters}.items())
        return self.human("GET", f"/api/memory?{query}")["data"]

    def find(self, words: str, **filters: str) -> dict | None:
        found = (one for one in self.memories(**filters) if words.lower() in one["content"].lower())
        return next(found, None)

    def show_memories(self, **filters: str) -> list[dict]:
        listed = self.memories(**filters)
        for one in listed:
            sure = "stated" if one.get("confidence") is None else f"inferred, {one['confidence']:.0%} sure"
            place = "/".join(word for word in (one.get("category"), one.get("domain"), one.get("project")) if word)
            words = f"{one['key']}: {one['content']}" if one.get("key") else one["content"]
            self.console(f"[{place}] {words} ({one['status']}, {sure})")
        if not listed:
            self.console("(no memories)")
        return listed

    def search(self, query: str, **more: Any) -> dict:
        return self.human("POST", "/api/memory/search", {"query": query, **more})

    def block(self, query: str, **more: Any) -> dict:
        """What an assistant would be given for a message now."""
        context = self.human("POST", "/api/memory/retrieve", {"query": query, "preview": True, **more})
        self.show_lines(context["context"])
        return context

    def show_lines(self, prompt: str) -> list[str]:
        lines = []
        for line in prompt.splitlines():
            if MARKED_LINE.match(line):
                lines.append(line)
                self.line("given", line.removeprefix("- "))
        if not lines:
            self.line("given", "(no memories)")
        return lines

    def show_history(self, memory_id: str) -> list[str]:
        """What a memory said and when, as it is known now; returns the words."""
        versions = self.human("GET", f"/api/memory/{memory_id}/history")["data"]
        known = [one for one in versions if not one.get("known_until")]
        for one in known:
            end = (one.get("valid_until") or "now")[:19]
            self.console(f"version {one['version']}: \"{one['content']}\" from {one['valid_from'][:19]} until {end}")
        return [one["content"] for one in known]

    def review(self) -> dict:
        review = self.human("GET", "/api/review")
        for item in review["domains"]:
            self.console(f"Review: {item['question']}")
        for item in review["data"]:
            self.console(f"Review: {item['question']} \"{item['memory']['content']}\"")
        return review

    def answer(self, request: dict) -> Any:
        """Presses a button of the review."""
        return self.human(request["method"], request["path"], request.get("body"))

    def undo(self, written: dict) -> dict:
        undo = written["event"]["undo"]
        return self.human(undo["method"], undo["href"], {})

    # ------------------------------------------------------------ the user, in a chat

    def chat(self, session: str, words: str, tools: bool = False, project: str = "") -> tuple[str, list[str], Any]:
        """One message through the gateway: the answer, the memory lines of the prompt, the headers."""
        self.line(self.name, words)
        self.touched.add(session)
        system = {"role": "system", "content": "You are a helpful assistant. Be brief."}
        messages = self.chats.setdefault(session, [system])
        messages.append({"role": "user", "content": words})
        body = {"model": self.model.name, "messages": messages, "max_tokens": 120, "temperature": 0}
        headers = {"X-Lukasa-User": self.user, "X-Lukasa-Session": session}
        if tools:
            headers["X-Lukasa-Tools"] = "on"
        if project:
            headers["X-Lukasa-Project"] = project
        key = self.fixture.assistant_key
        answer, received = self.fixture.request(key, "POST", "/v1/chat/completions", body, headers)
        said = answer["choices"][0]["message"].get("content") or ""
        messages.append({"role": "assistant", "content": said})
        lines = self.show_lines(self.model.last_prompt())
        self.line("assistant", said)
        return said, lines, received

    def send_turns(self, session: str, *words: str) -> list[str]:
        """Messages of the user in another program, which sends them as turns; returns their ids."""
        for one in words:
            self.line(self.name, one)
        turns = [{"role": "user", "content": one} for one in words]
        return self.agent("POST", f"/api/sessions/{session}/turns", {"turns": turns})["turn_ids"]

    def wait_for_turns(self, session: str) -> list[dict]:
        """The turns of a session, once those of all messages so far are stored."""
        count = sum(message["role"] != "system" and bool(message["content"]) for message in self.chats[session])

        def look() -> list[dict] | None:
            try:
                turns = self.human("GET", f"/api/sessions/{session}/turns?limit=200")["data"]
            except Refused:
                return None
            return turns if len(turns) >= count else None

        return self.wait(f"the turns of {session}", look)

    def why(self, session: str) -> list[dict]:
        """The memories behind the latest answer of a session, as the console cites them."""
        number = max(turn["number"] for turn in self.wait_for_turns(session))
        grounds = self.human("GET", f"/api/sessions/{session}/turns/{number}/why")["memories"]
        for ground in grounds:
            self.line("cited", f"{ground['how']}: {ground['memory']['content']}")
        return grounds

    def close(self, session: str) -> dict:
        """Ends a session, and waits until it was learned from."""
        if session in self.chats:
            self.wait_for_turns(session)
        self.human("POST", f"/api/sessions/{session}/close", {})

        def look() -> dict | None:
            view = self.human("GET", f"/api/sessions/{session}")
            if view["learning"]["state"] == "failed":
                raise StoryError(f"learning from {session} failed")
            return view if view["learning"]["state"] == "learned" else None

        view = self.wait(f"learning from {session}", look)
        learning = view["learning"]
        counts = f"{learning['learned']} learned, {learning['proposed']} proposed, {learning['left_out']} left out"
        self.console(f"Sources: {session} is {view['state']}: {counts}")
        return view

    # ------------------------------------------------------------ the assistant

    def agent(self, method: str, path: str, body: Any = None) -> Any:
        """A request of the assistant's own program, with its key."""
        return self.fixture.request(self.fixture.assistant_key, method, path, body, {"X-Lukasa-User": self.user})[0]

    def tool(self, name: str, project: str = "", **arguments: Any) -> dict:
        """A tool call over MCP; returns its result, refused or not."""
        headers = {
            "X-Lukasa-User": self.user, "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-11-25",
        }  # fmt: skip
        if project:
            headers["X-Lukasa-Project"] = project
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        shown = ", ".join(f"{key}={json.dumps(value)}" for key, value in arguments.items())
        self.line("tool call", f"{name}({shown})")
        answer, _ = self.fixture.request(self.fixture.assistant_key, "POST", "/mcp", message, headers)
        if isinstance(answer, str):
            answer = json.loads(answer.partition("data: ")[2].partition("\n")[0])
        if "error" in answer:
            raise StoryError(f"story \"{self.title}\", step {self.steps}: {name}: {answer['error']}")
        result = answer["result"]
        self.line("tool", result["content"][0]["text"])
        return result


def is_refused(call: Callable[[], Any], code: str) -> bool:
    """Whether a request is refused with this code."""
    try:
        call()
    except Refused as refused:
        return refused.code == code
    return False
