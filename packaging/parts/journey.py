"""From an installation to the first recalled memory, by every way to install."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import PackagingError, version
from .clean import System
from .index import Index

#: The question and the memory share no word that a search by words would use.
MEMORY, QUESTION = "I only do index funds", "what do I invest in"


@dataclass
class Way:
    #: What a user types to install it; empty if the first command does it.
    install: str
    #: How each command begins.
    lukasa: str = "lukasa"
    root: bool = False
    #: The file that a user downloads; None if the index counts.
    file: Callable[[Path], Path] | None = None


@dataclass
class Result:
    installed: float
    served: float
    recalled: float
    downloaded: int


def only(pattern: str) -> Callable[[Path], Path]:
    def find(folder: Path) -> Path:
        found = sorted(folder.glob(pattern.replace("VERSION", version())))
        machine = os.uname().machine
        names = {"x86_64": ("x86_64", "amd64"), "aarch64": ("aarch64", "arm64")}.get(machine, (machine,))
        for path in found:
            if any(name in path.name for name in names):
                return path
        raise PackagingError(f"there is no {pattern} for {machine} in {folder}")

    return find


WAYS = {
    "uvx": Way("", "uvx lukasa"),
    "uv-tool": Way("uv tool install --quiet lukasa"),
    "pip": Way("python3 -m venv .venv && .venv/bin/pip install --quiet lukasa", ".venv/bin/lukasa"),
    "pipx": Way("pipx install lukasa"),
    "npx": Way("", "npx --yes lukasa"),
    "npm": Way("npm install --global --prefix .local --silent lukasa"),
    "tar": Way("tar -xf FILE && ./lukasa-*/install.sh", file=only("lukasa-VERSION-*.tar.xz")),
    "deb": Way("dpkg -i FILE", root=True, file=only("lukasa_VERSION_*.deb")),
    # As Claude Desktop does it: the files are unpacked, and the manifest names the program.
    "mcpb": Way("unzip -q FILE -d bundle", "./bundle/server/bin/lukasa", file=only("lukasa-VERSION-*.mcpb")),
}


def first_recall(way: Way, system: System, index: Index, wheels: Path) -> Result:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    system.environment = {
        "LUKASA_URL": url,
        "UV_DEFAULT_INDEX": f"{index.url}/simple/",
        "UV_PYTHON_DOWNLOADS": "never",
        "PIP_INDEX_URL": f"{index.url}/simple/",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "npm_config_registry": index.url,
        "npm_config_update_notifier": "false",
    }
    if "uv" in way.install or "uvx" in way.lukasa:
        add_uv(system, wheels)
    install, downloaded = way.install, 0
    if way.file:
        file = way.file(system.packages)
        downloaded = file.stat().st_size
        install = install.replace("FILE", f"{system.package_folder}/{file.name}")

    start = time.monotonic()
    if install:
        system.run(install, way.root)
    installed = time.monotonic() - start
    box, log = system.folder / "box", system.folder / "log"
    with box.open("w") as out, log.open("w") as err:
        demo = system.popen(f"exec {way.lukasa} demo", stdout=out, stderr=err, stdin=subprocess.DEVNULL)
    try:
        while "Lukasa is running" not in box.read_text():
            if demo.poll() is not None or time.monotonic() - start > 300:
                raise PackagingError(f"`lukasa demo` does not serve: {log.read_text().strip()[-2000:]}")
            time.sleep(0.05)
        served = time.monotonic() - start
        system.run(f"{way.lukasa} save '{MEMORY}' --domain finance --open")
        answer = system.run(f"{way.lukasa} recall '{QUESTION}'")
        recalled = time.monotonic() - start
        if MEMORY not in answer:
            raise PackagingError(f"the memory was not recalled by its meaning: {answer.strip() or 'no answer'}")
        check_http(url)
        check_programs(system)
        if way is WAYS["mcpb"]:
            check_bundle(system)
    finally:
        stop(demo, way)
    data = system.home / ".local/share/lukasa/cluster/database"
    for _ in range(100):
        if not (data / "postmaster.pid").exists():
            break
        time.sleep(0.1)
    else:
        raise PackagingError("PostgreSQL runs on after the end of `lukasa demo`")
    return Result(installed, served, recalled, downloaded or index.sent)


def add_uv(system: System, wheels: Path) -> None:
    """uv is a tool that the user has already; its size and time do not count."""
    [wheel] = wheels.glob("uv-*.whl")
    into = system.home / ".local/bin"
    into.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            name = entry.filename.rpartition("/")[2]
            if ".data/scripts/" in entry.filename and name in ("uv", "uvx"):
                (into / name).write_bytes(archive.read(entry))
                (into / name).chmod(0o755)
    owner = system.home.stat()
    for path in (into.parent, into):
        shutil.chown(path, owner.st_uid, owner.st_gid)


def check_http(url: str) -> None:
    """The console is part of the program, and the API recalls the memory, too."""
    # A proxy of the environment is not asked for this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{url}/", timeout=10) as response:
        page = response.read().decode()
    if "<script" not in page or "text/html" not in response.headers["Content-Type"]:
        raise PackagingError(f"{url} is not the console: {page[:200]}")
    body = json.dumps({"query": QUESTION}).encode()
    request = urllib.request.Request(
        f"{url}/api/memory/retrieve", body, {"Content-Type": "application/json"}, method="POST"
    )
    with opener.open(request, timeout=10) as response:
        if MEMORY not in response.read().decode():
            raise PackagingError("the API did not recall the memory")


def check_programs(system: System) -> None:
    """The PostgreSQL that runs is the one of the package."""
    options = system.home / ".local/share/lukasa/cluster/database/postmaster.opts"
    program = options.read_text().split()[0]
    if "/lib/lukasa/postgres/" not in program:
        raise PackagingError(f"PostgreSQL was started from {program}, not from the package")


def check_bundle(system: System) -> None:
    """The program that the manifest names answers as an MCP server."""
    bundle = system.home / "bundle"
    config = json.loads((bundle / "manifest.json").read_text("utf-8"))["server"]["mcp_config"]
    command = " ".join([config["command"].replace("${__dirname}", "./bundle"), *config["args"]])
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "try", "version": "1"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    answer = system.run(f"echo '{message}' | {command}")
    if "serverInfo" not in answer:
        raise PackagingError(f"the program of the manifest is not an MCP server: {answer.strip()[:200] or 'no answer'}")


def stop(demo: subprocess.Popen, way: Way) -> None:
    """Ends the server as a service manager would: a signal to the command, which passes it on."""
    try:
        if demo.poll() is None:
            # npx and uvx are for a terminal, which sends Ctrl-C to every process of a command.
            if way.install:
                demo.send_signal(signal.SIGTERM)
            else:
                os.killpg(demo.pid, signal.SIGINT)
            demo.wait(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(demo.pid, signal.SIGKILL)
        raise PackagingError("`lukasa demo` did not end within 30 s of a signal") from None


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]
