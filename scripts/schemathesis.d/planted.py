"""A server with planted faults, to test the check: prints its port and serves until it is ended."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def operation(*parameters: object, body: object = None) -> dict[str, object]:
    made: dict[str, object] = {"parameters": list(parameters), "responses": {"200": {"description": "ok"}}}
    if body:
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return made


THING = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "planted", "version": "1"},
    "paths": {
        "/never": {"get": operation()},
        "/always": {"get": operation()},
        "/slow": {"get": operation()},
        "/by-text": {"post": operation(body=TEXT)},
        "/things/": {"get": operation()},
        # Fails for a thing that exists: only found by asking for one that the server has named.
        "/things/{id}": {"get": operation(THING)},
    },
}


class Handler(BaseHTTPRequestHandler):
    def answer(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        if self.path == "/openapi.json":
            self.answer(200, DOCUMENT)
        elif self.path == "/slow":
            # Longer than the check waits for an answer.
            time.sleep(3)
        else:
            exists = self.path == "/things/thing_0123456789"
            self.answer(500 if self.path == "/always" or exists else 200, {"id": "thing_0123456789"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            text = str(json.loads(body)["text"])
        except (ValueError, KeyError, TypeError):
            text = ""
        # A character outside ASCII.
        self.answer(500 if any(ord(c) > 127 for c in text) else 200, {})

    def do_other(self) -> None:
        self.answer(405, {})

    do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_TRACE = do_QUERY = do_other

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
