"""What a container is put through: first start, a memory, its health check, a drain, a restart, a kill."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from . import PackagingError
from .container import Container
from .image import ACCOUNT, DATA, PREFIX
from .journey import free_port
from .tree import POSTGRES

START_SECONDS, STOP_SECONDS = 60, 60
#: Within LUKASA_DRAIN_DELAY, which is 5 s.
BALANCER_SECONDS = 3
USER = "ada"
#: The question and the memory share no word that a search by words would use, and need no consent to a domain.
MEMORY, QUESTION = "I ride my bicycle to the office", "how do I commute"
NOT_TRIED = (
    "Docker and containerd: umoci and crun unpack and run the images; `packaging/containers podman` uses Podman",
    "limits of memory and processors (cgroups), and user namespaces",
    "images for aarch64",
)
#: Faults of a container and what the test must report.
IMAGE_FAULTS = {
    "writable root": "the root file system is writable",
    "root account": "PostgreSQL does not run as root",
    "capabilities": "has capabilities",
    "no shell": "initdb failed",
    "no model": "not recalled by its meaning",
    "volume of root": "Permission denied",
}
Change = Callable[[Container], None]


def scenario(out: Path, image: str, folder: Path, database: str | None, change: Change | None = None) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    port = free_port()
    environment = {"LUKASA_LISTEN": f"127.0.0.1:{port}"}
    with temporary_database(out, database) as url:
        if url:
            environment["DATABASE_URL"] = url
        container = Container(out / "layout", image, folder, environment)
        if change:
            change(container)
        try:
            return steps(container, Server(container, port), image)
        except (PackagingError, OSError, http.client.HTTPException) as error:
            raise PackagingError(f"{error}\n{container.messages()}") from None
        finally:
            container.kill()


def steps(container: Container, server: Server, image: str) -> dict[str, str]:
    files = fingerprint(container.bundle / "rootfs")
    result: dict[str, str] = {}

    start = time.monotonic()
    container.start()
    result["start to ready, empty volume"] = f"{server.wait_until_ready(start):.2f} s"
    server.key = create_key(container)
    server.save()
    server.expect_recall()
    result["start to the first recall"] = f"{time.monotonic() - start:.2f} s"
    check_confinement(container)
    check_health(container, server.port)
    server.expect_console()
    result["account, capabilities, read-only root, health"] = "ok"

    answered, seconds = server.stop_under_load()
    result["SIGTERM to the end"] = f"{seconds:.2f} s, {answered} requests meanwhile, all answered"
    if image == "all-in-one":
        check_clean_shutdown(container.volume)

    start = time.monotonic()
    container.start()
    result["restart to ready"] = f"{server.wait_until_ready(start):.2f} s"
    server.expect_recall()
    result["data after a restart"] = "ok"

    container.kill()
    start = time.monotonic()
    container.start()
    result["start to ready after SIGKILL"] = f"{server.wait_until_ready(start):.2f} s"
    server.expect_recall()
    result["data after SIGKILL"] = "ok"
    container.signal("TERM")
    if code := container.wait(STOP_SECONDS):
        raise PackagingError(f"the server ended with {code} after SIGTERM")
    if fingerprint(container.bundle / "rootfs") != files:
        raise PackagingError("files of the image have changed")
    return result


class Server:
    """The API of a container, through its port."""

    def __init__(self, container: Container, port: int) -> None:
        self.container, self.port = container, port
        self.url = f"http://127.0.0.1:{port}"
        self.key = ""
        # A proxy of the environment is not asked for this machine.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def request(self, path: str, body: dict | None = None) -> str:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}", "X-Lukasa-User": USER}
        data = None if body is None else json.dumps(body).encode()
        with self.opener.open(urllib.request.Request(self.url + path, data, headers), timeout=20) as response:
            return response.read().decode()

    def wait_until_ready(self, start: float) -> float:
        while time.monotonic() - start < START_SECONDS:
            if not self.container.is_running():
                raise PackagingError("the container ended while it started")
            try:
                self.request("/readyz")
                return time.monotonic() - start
            except OSError:
                time.sleep(0.05)
        raise PackagingError(f"not ready after {START_SECONDS} s")

    def save(self) -> None:
        self.request("/api/memory", {"content": MEMORY})

    def expect_recall(self) -> None:
        answer = self.request("/api/memory/search", {"query": QUESTION})
        if MEMORY not in answer:
            raise PackagingError(f"the memory was not recalled by its meaning: {answer[:500]}")

    def expect_console(self) -> None:
        if "<script" not in self.request("/"):
            raise PackagingError("the console is missing")

    def stop_under_load(self) -> tuple[int, float]:
        """Sends SIGTERM while requests arrive, as from a load balancer that notices it after BALANCER_SECONDS.

        `/readyz` has to say at once that the server stops, and every request has to be answered in full.
        """
        outcomes: list[str] = []
        ended = threading.Event()

        def ask() -> None:
            while not ended.is_set():
                try:
                    self.expect_recall()
                    outcomes.append("answered")
                except (OSError, http.client.HTTPException, PackagingError) as error:
                    outcomes.append(repr(error))
                time.sleep(0.02)

        clients = [threading.Thread(target=ask) for _ in range(4)]
        for client in clients:
            client.start()
        time.sleep(0.5)
        before, start = len(outcomes), time.monotonic()
        self.container.signal("TERM")
        try:
            time.sleep(1)
            ready = self.status("/readyz")
            time.sleep(BALANCER_SECONDS - 1)
        finally:
            ended.set()
            for client in clients:
                client.join()
        answered = len(outcomes) - before
        code = self.container.wait(STOP_SECONDS)
        seconds = time.monotonic() - start
        if code != 0:
            raise PackagingError(f"the server ended with {code} after SIGTERM")
        if ready != 503:
            raise PackagingError(f"/readyz answers {ready} while the server stops, not 503")
        if wrong := sorted({outcome for outcome in outcomes if outcome != "answered"}):
            raise PackagingError(f"requests failed while the server stopped: {'; '.join(wrong)}")
        return answered, seconds

    def status(self, path: str) -> int:
        try:
            self.request(path)
            return 200
        except urllib.error.HTTPError as error:
            return error.code


def create_key(container: Container) -> str:
    command = ("lukasa", "key", "create", "--json", "--tenant", "test", "--name", "test")
    done = container.exec(*command)
    if done.returncode != 0:
        raise PackagingError(f"`{' '.join(command)}` failed: {done.stderr.strip()}")
    return json.loads(done.stdout)["secret"]


def check_health(container: Container, port: int) -> None:
    """The image's own health check succeeds; with the address of a server that does not exist it fails."""
    test = [part.replace("7777", str(port)) for part in container.settings["Healthcheck"]["Test"][1:]]
    done = container.exec(*test)
    if done.returncode != 0:
        raise PackagingError(f"the health check failed: {done.stderr.strip() or done.stdout.strip()}")
    if container.exec(*container.settings["Healthcheck"]["Test"][1:-1], "http://127.0.0.1:1").returncode == 0:
        raise PackagingError("the health check succeeds without a server")


def check_confinement(container: Container) -> None:
    """As the kernel sees every process of the container, and not as its configuration says."""
    first = container.pid()
    space = os.readlink(f"/proc/{first}/ns/pid")
    processes = [path for path in Path("/proc").iterdir() if path.name.isdigit() and namespace(path) == space]
    for process in processes:
        try:
            status = (process / "status").read_text()
        except OSError:
            continue
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        name = fields["Name"]
        if set(fields["Uid"].split()) != {str(ACCOUNT)}:
            raise PackagingError(f"{name} runs as user {fields['Uid'].split()[0]}")
        if any(int(fields[which], 16) for which in ("CapPrm", "CapEff", "CapBnd", "CapAmb", "CapInh")):
            raise PackagingError(f"{name} has capabilities")
        if fields["NoNewPrivs"] != "1":
            raise PackagingError(f"{name} may gain privileges")
    writable = []
    for line in Path(f"/proc/{first}/mountinfo").read_text().splitlines():
        _, _, _, _, place, options, *_ = line.split()
        if "rw" in options.split(",") and not place.startswith(("/dev", "/proc")):
            writable.append(place)
    if "/" in writable:
        raise PackagingError("the root file system is writable")
    if writable != [f"/{DATA}"]:
        raise PackagingError(f"writable: {', '.join(writable)}")


def namespace(process: Path) -> str:
    try:
        return os.readlink(process / "ns/pid")
    except OSError:
        return ""


def check_clean_shutdown(volume: Path) -> None:
    log = (volume / "postgres.log").read_text("utf-8", errors="replace")
    if "database system is shut down" not in log.splitlines()[-1]:
        raise PackagingError(f"PostgreSQL was not shut down: {log.splitlines()[-1]}")
    if (volume / "cluster/database/postmaster.pid").exists():
        raise PackagingError("PostgreSQL left its PID file")


def fingerprint(folder: Path) -> str:
    """A hash of the names, sizes and times of all files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        digest.update(f"{path} {status.st_size} {status.st_mtime_ns} {status.st_mode}\n".encode())
    return digest.hexdigest()


@contextmanager
def temporary_database(out: Path, url: str | None) -> Iterator[str | None]:
    """A new database in an existing PostgreSQL, with the psql of the other image."""
    if url is None:
        yield None
        return
    name = f"lukasa_image_{os.getpid()}"
    psql = out / "layers/postgres" / PREFIX / POSTGRES / "bin/psql"

    def run(statement: str) -> None:
        command = [str(psql), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--command={statement}", url]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise PackagingError(f"{statement}: {done.stderr.strip()}")

    # A test that was killed leaves its database.
    run(f"drop database if exists {name} with (force)")
    run(f"create database {name}")
    try:
        yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
    finally:
        run(f"drop database {name} with (force)")


def with_fault(name: str) -> Change:
    def change(container: Container) -> None:
        root, process = container.bundle / "rootfs", container.config["process"]
        if name == "writable root":
            container.config["root"]["readonly"] = False
        elif name == "root account":
            process["user"] = {"uid": 0, "gid": 0}
            os.chown(container.volume, 0, 0)
        elif name == "capabilities":
            process["capabilities"] = {kind: ["CAP_NET_RAW"] for kind in process["capabilities"]}
        elif name == "no shell":
            (root / "usr/bin/sh").unlink()
        elif name == "no model":
            for path in (root / PREFIX / "share/lukasa/models/potion").iterdir():
                path.unlink()
        elif name == "volume of root":
            os.chown(container.volume, 0, 0)

    return change
