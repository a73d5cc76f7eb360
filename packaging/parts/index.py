"""A package index on this machine for trying packages out: Python's simple API and npm's, with a count of bytes."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote


class Index:
    """Serves the wheels and npm packages of some folders while the context is open."""

    def __init__(self, folders: list[Path]) -> None:
        found = [path for folder in folders for path in sorted(folder.iterdir())]
        self.files = {path.name: path for path in found if path.suffix in (".whl", ".tgz")}
        self.npm: dict[str, dict] = {}
        for path in self.files.values():
            if path.suffix == ".tgz":
                package = package_json(path)
                self.npm.setdefault(package["name"], {})[package["version"]] = (package, path)
        self.sent = 0
        self.lock = threading.Lock()

    def __enter__(self) -> Index:
        index = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self.reply(with_body=False)

            def do_GET(self) -> None:
                self.reply(with_body=True)

            def reply(self, with_body: bool) -> None:
                kind, body = index.answer(unquote(self.path.partition("?")[0]))
                self.send_response(200 if kind else 404)
                self.send_header("Content-Type", kind or "text/plain")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if not with_body:
                    return
                self.wfile.write(body)
                with index.lock:
                    index.sent += len(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()

    def answer(self, path: str) -> tuple[str | None, bytes]:
        if found := re.fullmatch(r"/simple/([^/]+)/", path):
            name = normal(found[1])
            wheels = [file for file in self.files if file.endswith(".whl") and normal(file.split("-")[0]) == name]
            # The metadata has its own file, so that a resolver need not download the wheel for it.
            links = "".join(f'<a href="/files/{file}" data-core-metadata="true">{file}</a><br>' for file in wheels)
            return ("text/html", links.encode()) if wheels else (None, b"")
        if (found := re.fullmatch(r"/files/([^/]+\.whl)\.metadata", path)) and found[1] in self.files:
            return "text/plain", wheel_metadata(self.files[found[1]])
        if (found := re.fullmatch(r"/files/([^/]+)", path)) and found[1] in self.files:
            return "application/octet-stream", self.files[found[1]].read_bytes()
        versions = self.npm.get(path.removeprefix("/"))
        if not versions:
            return None, b"{}"
        entries = {}
        for version, (package, file) in versions.items():
            digest = base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
            dist = {"tarball": f"{self.url}/files/{file.name}", "integrity": f"sha512-{digest}"}
            entries[version] = {**package, "dist": dist}
        packument = {"name": package["name"], "versions": entries, "dist-tags": {"latest": version}}
        return "application/json", json.dumps(packument).encode()


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def wheel_metadata(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        [name] = [name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
        return archive.read(name)


def package_json(path: Path) -> dict:
    with tarfile.open(path) as archive:
        # It is among the first files, so the rest need not be unpacked.
        for entry in archive:
            if entry.name == "package/package.json":
                return json.load(io.TextIOWrapper(archive.extractfile(entry), "utf-8"))
    raise ValueError(f"{path} has no package.json")
