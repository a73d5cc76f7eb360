"""The image all-in-one under Podman, with Podman's own defaults: its seccomp profile and the image's health check."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.request
from pathlib import Path

from . import PackagingError
from .container import required
from .image import ACCOUNT, DATA
from .journey import free_port

#: As in docs/install.md, and without cgroups, which a container without systemd may not have.
OPTIONS = "--read-only --read-only-tmpfs=false --cap-drop ALL --security-opt no-new-privileges --network host".split()


def try_podman(archive: Path, folder: Path) -> dict[str, str]:
    folders = (("--root", "store"), ("--runroot", "run"), ("--tmpdir", "tmp"))
    store = [required("podman"), *(part for option, name in folders for part in (option, str(folder / name)))]
    store += ["--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "file"]

    def podman(*arguments: str) -> str:
        done = subprocess.run([*store, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            raise PackagingError(f"podman {arguments[0]} failed: {(done.stderr or done.stdout).strip()[-1000:]}")
        return done.stdout.strip()

    port = free_port()
    tag = podman("load", "--quiet", "--input", str(archive)).split()[-1]
    start = time.monotonic()
    settings = ["--env", f"LUKASA_LISTEN=127.0.0.1:{port}", "--volume", f"lukasa:/{DATA}"]
    check = ["--health-cmd", json.dumps(["lukasa", "health", "--url", f"http://127.0.0.1:{port}"])]
    podman("run", "--detach", "--name", "lukasa", "--cgroups", "disabled", *OPTIONS, *settings, tag)
    try:
        wait_until_ready(port, start)
        result = {"start to ready under Podman": f"{time.monotonic() - start:.2f} s"}
        podman("exec", "lukasa", "lukasa", "key", "create", "--tenant", "test", "--name", "test")
        found = json.loads(podman("inspect", "lukasa"))[0]
        if found["Config"].get("Healthcheck", {}).get("Test", [])[:3] != ["CMD", "lukasa", "health"]:
            raise PackagingError("Podman does not see the health check of the image")
        status = Path(f"/proc/{found['State']['Pid']}/status").read_text()
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        if fields["Seccomp"] != "2" or int(fields["CapBnd"], 16) or fields["Uid"].split()[0] != str(ACCOUNT):
            raise PackagingError(f"not confined: {fields['Seccomp']} {fields['CapBnd']} {fields['Uid']}")
        result["account, capabilities, seccomp profile"] = "ok"
        start = time.monotonic()
        podman("stop", "--time", "60", "lukasa")
        if code := json.loads(podman("inspect", "lukasa"))[0]["State"]["ExitCode"]:
            raise PackagingError(f"the server ended with {code} after `podman stop`")
        result["podman stop"] = f"{time.monotonic() - start:.2f} s"
        podman("rm", "lukasa")
        # The health check with the port of this test, and the same volume.
        start = time.monotonic()
        podman("run", "--detach", "--name", "lukasa", "--cgroups", "disabled", *OPTIONS, *settings, *check, tag)
        wait_until_ready(port, start)
        podman("healthcheck", "run", "lukasa")
        result["restart to ready, health check"] = f"{time.monotonic() - start:.2f} s"
        podman("stop", "--time", "60", "lukasa")
        return result
    finally:
        subprocess.run([*store, "rm", "--force", "lukasa"], capture_output=True)


def wait_until_ready(port: int, start: float) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() - start < 60:
        try:
            opener.open(f"http://127.0.0.1:{port}/readyz", timeout=5)
            return
        except OSError:
            time.sleep(0.05)
    raise PackagingError("not ready after 60 s")
