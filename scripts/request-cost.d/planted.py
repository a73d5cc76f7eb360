"""A server with faults that scripts/request-cost must find, and one operation without."""

import http.server
import json
import threading
import time


def operation(name, schema):
    content = {"application/json": {"schema": {"type": "object", "properties": schema}}}
    return {"post": {"operationId": name, "requestBody": {"content": content}, "responses": {}}}


TEXT = {"text": {"type": "string"}}
DOCUMENT = {
    "components": {"schemas": {}},
    "paths": {
        "/linear": operation("linear", TEXT),
        "/quadratic": operation("quadratic", TEXT),
        "/quadratic-list": operation("quadratic_list", {"items": {"type": "array", "items": {"type": "string"}}}),
        "/fails": operation("fails", {"number": {"type": "integer"}}),
        "/blocks": operation("blocks", TEXT),
        "/lines": {"post": {"operationId": "lines", "responses": {},
                            "requestBody": {"content": {"application/jsonl": {"schema": {"type": "string"}}}}}},
    },
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # While one operation blocks, nothing else is answered.
    lock = threading.Lock()

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def do_GET(self):
        if self.path == "/openapi.json":
            return self.answer(200, DOCUMENT)
        with self.lock:
            return self.answer(200, {})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status = 200 if self.path in DOCUMENT["paths"] else 404
        if self.path == "/quadratic":
            time.sleep((len(body["text"]) / 60_000) ** 2)
        elif self.path == "/quadratic-list":
            time.sleep((len(body["items"]) / 1_500) ** 2)
        elif self.path == "/lines":
            time.sleep((len(body.get("detail", "")) / 60_000) ** 2)
        elif self.path == "/fails":
            status = 500 if body["number"] >= 2**63 else 200
        elif self.path == "/blocks":
            with self.lock:
                time.sleep(0.3)
        self.answer(status, {})


def start():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"
