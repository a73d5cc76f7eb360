"""Fixtures: the real server on its own PostgreSQL database, and a scripted model."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lukasa import AsyncLukasa, Lukasa

Json = dict[str, Any]


def binary() -> str:
    return os.environ["LUKASA_BIN"]


@contextlib.contextmanager
def running_server(database: str, folder: Path, *more: str) -> Iterator[str]:
    """Starts a server on a free port; yields its URL."""
    log = folder / f"server-{uuid.uuid4().hex[:8]}.log"
    command = [binary(), "serve", "--listen", "127.0.0.1:0", "--migrate", *more]
    with log.open("wb") as out:
        process = subprocess.Popen(command, env={**os.environ, "DATABASE_URL": database}, stderr=out)
    try:
        for _ in range(600):
            listening = re.search(r"address=([\d.:]+)", re.sub(r"\x1b\[[\d;]*m", "", log.read_text()))
            if listening:
                yield f"http://{listening[1]}"
                return
            if process.poll() is not None:
                raise RuntimeError(f"the server ended: {log.read_text()}")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
        raise RuntimeError(f"the server does not log its address: {log.read_text()}")
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    """A database for this run."""
    admin = os.environ["DATABASE_URL"]
    name = f"lukasa_python_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'create database "{name}"'.encode())
    try:
        yield re.sub(r"/[^/?]*(\?|$)", rf"/{name}\1", admin, count=1) if admin.count("/") > 2 else f"{admin}/{name}"
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f'drop database "{name}" with (force)'.encode())


@pytest.fixture(scope="session")
def local(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server in local mode, which needs no key."""
    with running_server(database, tmp_path_factory.mktemp("local"), "--auth", "off") as url:
        yield url


@pytest.fixture(scope="session")
def guarded(local: str, database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that requires keys."""
    with running_server(database, tmp_path_factory.mktemp("guarded"), "--auth", "keys") as url:
        yield url


@pytest.fixture(scope="session")
def make_key(guarded: str, database: str) -> Callable[..., str]:
    """Creates a key with the CLI."""

    def make(*more: str) -> str:
        command = [binary(), "key", "create", "--json", "--tenant", "acme", "--name", "test", *more]
        env = {**os.environ, "DATABASE_URL": database}
        made = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
        secret = json.loads(made.stdout)["secret"]
        assert isinstance(secret, str)
        return secret

    return make


@pytest.fixture(scope="session")
def backend_key(make_key: Callable[..., str]) -> str:
    return make_key("--may", "read,write,propose,erase,admin")


@pytest.fixture
def user() -> str:
    """A user id that no other test uses."""
    return f"user-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def client(guarded: str, backend_key: str, user: str) -> Iterator[Lukasa]:
    with Lukasa(guarded, backend_key, user) as client:
        yield client


@pytest.fixture
async def aclient(guarded: str, backend_key: str, user: str) -> AsyncIterator[AsyncLukasa]:
    async with AsyncLukasa(guarded, backend_key, user) as client:
        yield client


@dataclass
class Model:
    """A scripted service that gives these answers in order, and records the requests."""

    url: str
    answers: list[Json] = field(default_factory=list)
    asked: list[Json] = field(default_factory=list)

    def says(self, *answers: Json) -> None:
        self.answers.extend(answers)


@pytest.fixture
def model() -> Iterator[Model]:
    model = Model("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.asked.append({"path": self.path, **asked})
            body = json.dumps(model.answers.pop(0)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield model
    server.shutdown()


def openai_says(*output: Json) -> Json:
    """An answer of the Responses API."""
    return {
        "id": f"resp_{uuid.uuid4().hex}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": "scripted",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 1,
            "output_tokens": 1,
            "total_tokens": 2,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def openai_chat(text: str) -> Json:
    """An answer of the Chat Completions API."""
    message = {"role": "assistant", "content": text}
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def openai_text(text: str) -> Json:
    part = {"type": "output_text", "text": text, "annotations": []}
    message_id = f"msg_{uuid.uuid4().hex}"
    return {"type": "message", "id": message_id, "role": "assistant", "status": "completed", "content": [part]}


def claude_says(*content: Json) -> Json:
    """An answer of the Messages API."""
    uses = any(part["type"] == "tool_use" for part in content)
    return {
        "id": f"msg_{uuid.uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": list(content),
        "stop_reason": "tool_use" if uses else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def claude_uses(**command: Any) -> Json:
    return {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex}", "name": "memory", "input": command}
