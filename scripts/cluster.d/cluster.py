"""PostgreSQL clusters and Lukasa servers for scripts that stop and restore them.

As root, PostgreSQL runs as the account nobody.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

NOBODY = 65534


class TryError(Exception):
    """What was expected and did not happen."""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def run(command: list[str], **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    if done.returncode != 0:
        raise TryError(f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()[-1500:]}")
    return done.stdout.strip()


def lowered() -> dict:
    return {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"} if os.geteuid() == 0 else {"cwd": "/"}


class Postgres:
    """A cluster in a folder."""

    def __init__(self, programs: Path, data: Path) -> None:
        self.programs, self.data = programs, data
        self.port, self.is_started = free_port(), False
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/lukasa"

    def program(self, name: str, *arguments: str) -> str:
        return run([str(self.programs / name), *arguments], **lowered())

    def create(self) -> None:
        self.program("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8",
                     "--locale-provider=builtin", "--locale=C.UTF-8", "--no-instructions")  # fmt: skip

    def create_database(self) -> None:
        self.start()
        self.sql("create database lukasa", "postgres")

    def configure(self, **settings: str) -> None:
        with (self.data / "postgresql.auto.conf").open("a") as file:
            for name, value in settings.items():
                file.write(f"{name} = '{value}'\n")

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c jit=off"
        log = str(self.data.parent / f"{self.data.name}.log")
        command = [str(self.programs / "pg_ctl"), "-D", str(self.data), "-o", options, "-l", log, "-w", "-t", "60"]
        # Not through a pipe, which the server would keep open.
        done = subprocess.run([*command, "start"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **lowered())
        if done.returncode != 0:
            raise TryError(f"PostgreSQL does not start: {Path(log).read_text()[-1500:]}")
        self.is_started = True

    def sql(self, statement: str, database: str = "lukasa") -> str:
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-d", database]
        return self.program("psql", "-XqtA", "-v", "ON_ERROR_STOP=1", *where, "-c", statement)

    @property
    def process(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def kill(self) -> None:
        """As if the machine had failed: nothing is written any more."""
        if not self.is_started:
            return
        self.is_started = False
        os.kill(self.process, signal.SIGKILL)
        # Sessions end by themselves when they notice.
        time.sleep(1)
        # A process that its parent has not waited for keeps its number, and PostgreSQL would not start beside it.
        (self.data / "postmaster.pid").unlink(missing_ok=True)


class Server:
    """The program on a database, with keys; its log and its erasure journal are in a folder."""

    def __init__(
        self,
        binary: Path,
        url: str,
        folder: Path,
        key: str = "",
        migrate: bool = True,
        settings: dict[str, str] | None = None,
    ) -> None:
        self.binary, self.key = binary, key
        self.port = free_port()
        self.log = folder / f"server-{self.port}.log"
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "DATABASE_URL": url, "LUKASA_EMBEDDER": "off",
            "LUKASA_AUTH": "keys", "LUKASA_LISTEN": f"127.0.0.1:{self.port}", "LUKASA_DRAIN_DELAY": "0",
            "LUKASA_ERASURE_JOURNAL": str(folder / "erasures.journal"), "LUKASA_MIGRATE": "true" if migrate else "false",
            "LUKASA_URL": f"http://127.0.0.1:{self.port}", **(settings or {}),
        }  # fmt: skip
        with self.log.open("w") as log:
            self.process = subprocess.Popen([binary, "serve"], env=self.environment, stdout=log, stderr=log)
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for _ in range(600):
            try:
                self.request("GET", "/readyz")
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        # It is in no list of what is stopped at the end yet, so it would be left running.
        self.process.kill()
        self.process.wait(30)
        raise TryError(f"the server does not start: {self.log.read_text()[-1500:]}")

    def request(self, method: str, path: str, user: str = "", body: dict | None = None) -> dict:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}", "X-Lukasa-User": user}
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.port}{path}"
        with self.opener.open(urllib.request.Request(url, data, headers, method=method), timeout=30) as response:
            text = response.read().decode()
        return json.loads(text) if text.startswith("{") else {}

    def status(self, path: str, user: str) -> int:
        try:
            self.request("GET", path, user)
            return 200
        except urllib.error.HTTPError as error:
            return error.code

    def command(self, *arguments: str) -> dict:
        """The command line of the same program."""
        environment = {**self.environment, "LUKASA_KEY": self.key}
        return json.loads(run([str(self.binary), *arguments, "--json"], env=environment))

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def make_folder(path: Path) -> None:
    """A folder that PostgreSQL can write to."""
    path.mkdir()
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)


def postgres_programs() -> Path:
    return Path(run([str(Path(__file__).resolve().parent.parent / "postgres"), "bin"]))
