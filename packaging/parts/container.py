"""A container of one image, unpacked by umoci and run by crun as a strict installation would run it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from . import PackagingError
from .image import ACCOUNT, DATA, blob, name_of, read

#: What a container gets from the kernel besides its files. There is no writable /tmp: the server needs none.
MOUNTS = [
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=65536k"]},
    {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "noexec", "nodev", "size=64m"]},
    {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
]
NO_CAPABILITIES = {name: [] for name in ("bounding", "effective", "inheritable", "permitted", "ambient")}


def required(program: str) -> str:
    found = shutil.which(program)
    if not found:
        raise PackagingError(f"{program} is missing: apt-get install --no-install-recommends {program}")
    return found


class Container:
    def __init__(self, layout: Path, image: str, folder: Path, environment: dict[str, str]) -> None:
        self.name = f"lukasa-{image}-{os.getpid()}-{folder.name}"
        self.folder = folder
        self.bundle, self.volume, self.log = folder / "bundle", folder / "volume", folder / "log"
        self.environment = environment
        self.process: subprocess.Popen | None = None
        self.volume.mkdir(parents=True)
        # As a named volume of Docker: owner and mode of the folder in the image.
        os.chown(self.volume, ACCOUNT, ACCOUNT)
        self.volume.chmod(0o700)
        command = [required("umoci"), "unpack", "--image", f"{layout}:{image}", str(self.bundle)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise PackagingError(f"umoci could not unpack {image}: {done.stderr.strip()[-1000:]}")
        [entry] = [entry for entry in read(layout / "index.json")["manifests"] if name_of(entry) == image]
        self.settings = read(blob(layout, read(blob(layout, entry))["config"]))["config"]
        self.config = self.confined(read(self.bundle / "config.json"))

    def confined(self, config: dict) -> dict:
        """umoci's translation of the image's settings, with the restrictions of deploy/compose.yaml."""
        process = config["process"]
        environment = dict(setting.split("=", 1) for setting in process["env"])
        # The runtime's defaults, which are not part of the image.
        environment.pop("TERM", None)
        process["env"] = [f"{name}={value}" for name, value in {**environment, **self.environment}.items()]
        process.update(terminal=False, capabilities=NO_CAPABILITIES, noNewPrivileges=True)
        process.pop("rlimits", None)
        config["root"]["readonly"] = True
        volume = {"destination": f"/{DATA}", "type": "bind", "source": str(self.volume), "options": ["rbind", "rw"]}
        config["mounts"] = [*MOUNTS, volume]
        # No network namespace: it shares the one of this test, which has an own one or is on this machine.
        linux = config["linux"]
        linux["namespaces"] = [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")]
        for name in ("resources", "cgroupsPath", "uidMappings", "gidMappings"):
            linux.pop(name, None)
        return config

    def crun(self, *arguments: str) -> list[str]:
        return [required("crun"), f"--root={self.folder / 'state'}", "--cgroup-manager=disabled", *arguments]

    def start(self) -> None:
        (self.bundle / "config.json").write_text(json.dumps(self.config), "utf-8")
        with self.log.open("ab") as log:
            command = self.crun("run", "--bundle", str(self.bundle), self.name)
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def exec(self, *arguments: str) -> subprocess.CompletedProcess:
        """Runs another process in the container, with the same account and restrictions, as `docker exec` does."""
        process = self.folder / "process.json"
        process.write_text(json.dumps({**self.config["process"], "args": arguments}), "utf-8")
        command = self.crun("exec", f"--process={process}", self.name)
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    def pid(self) -> int:
        """The server's process as this system sees it."""
        shown = subprocess.run(self.crun("state", self.name), capture_output=True, text=True)
        if shown.returncode != 0:
            raise PackagingError(f"crun does not know the container: {shown.stderr.strip()}")
        return json.loads(shown.stdout)["pid"]

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal(self, name: str) -> None:
        subprocess.run(self.crun("kill", self.name, name), check=True, capture_output=True)

    def wait(self, seconds: float) -> int:
        """The exit code of the server. A container that does not end is killed, and that is an error."""
        if self.process is None:
            raise PackagingError("the container was not started")
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise PackagingError(f"the container did not end within {seconds:.0f} s") from None
        self.process = None
        subprocess.run(self.crun("delete", "--force", self.name), capture_output=True)
        return code

    def kill(self) -> None:
        if self.process is not None:
            subprocess.run(self.crun("kill", self.name, "KILL"), capture_output=True)
            self.process.wait(timeout=30)
            self.process = None
            # The kernel ends the other processes of the container with its first one.
            time.sleep(0.1)
        subprocess.run(self.crun("delete", "--force", self.name), capture_output=True)

    def messages(self) -> str:
        return self.log.read_text("utf-8", errors="replace").strip()[-2000:] if self.log.exists() else ""
