"""The last stages of deploy/Dockerfile: their settings, and the images that they make of the same folders."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import shlex
import subprocess
import tarfile
from pathlib import Path

from . import ROOT, PackagingError
from .container import required
from .image import IMAGES, LAYERS, SECOND, SETTINGS, blob, name_of, read

DOCKERFILE = ROOT / "deploy/Dockerfile"


def final_stages(text: str) -> str:
    """Everything from the first stage that begins with nothing."""
    found = re.search(r"(?ms)^FROM scratch AS base$.*", text)
    if not found:
        raise PackagingError("the Dockerfile has no stage base")
    return found[0]


def settings(text: str) -> dict:
    """The settings of the stage base, as an image has them."""
    stage = final_stages(text).split("\nFROM ", 1)[0]
    stage = re.sub(r"(?m)^#.*\n", "", stage).replace("\\\n", " ")
    found: dict = {"Env": [], "Labels": {}, "ExposedPorts": {}, "Volumes": {}}
    for line in stage.splitlines():
        name, _, value = line.partition(" ")
        if name == "ENV":
            found["Env"] += shlex.split(value)
        elif name == "LABEL":
            found["Labels"].update(part.split("=", 1) for part in shlex.split(value))
        elif name == "EXPOSE":
            found["ExposedPorts"][f"{value}/tcp"] = {}
        elif name == "VOLUME":
            found["Volumes"].update({place: {} for place in json.loads(value)})
        elif name in ("ENTRYPOINT", "CMD"):
            found[name.capitalize()] = json.loads(value)
        elif name in ("USER", "WORKDIR", "STOPSIGNAL"):
            found[{"USER": "User", "WORKDIR": "WorkingDir", "STOPSIGNAL": "StopSignal"}[name]] = value
        elif name == "HEALTHCHECK":
            options, _, test = value.partition("CMD ")
            given = dict(re.findall(r"--([\w-]+)=(\d+)", options))
            found["Healthcheck"] = {
                "Test": ["CMD", *json.loads(test)],
                "Interval": int(given["interval"]) * SECOND,
                "Timeout": int(given["timeout"]) * SECOND,
                "StartPeriod": int(given["start-period"]) * SECOND,
                "Retries": int(given["retries"]),
            }
    return found


def copied_layers(text: str) -> dict[str, list[str]]:
    """The folders that each image copies, with those of the stage base first."""
    stages = re.findall(r"(?ms)^FROM (\w+) AS ([\w-]+)$(.*?)(?=^FROM |\Z)", final_stages(text))
    line = re.compile(r"(?m)^COPY .*/images/layers/(\w+)(?: /|/var/lib/ /var/lib/)$")
    copied = {name: line.findall(body) for _, name, body in stages}
    return {name: copied["base"] + copied[name] for name in IMAGES}


def compare(out: Path, folder: Path) -> list[str]:
    """Builds the last stages with buildah and compares the images with those in OUT/layout, file by file."""
    # The stage `build` compiles the program; here its result exists.
    stages = "FROM scratch AS build\n" + "".join(f"COPY {name} /images/layers/{name}\n" for name in LAYERS)
    (folder / "Dockerfile").write_text(stages + final_stages(DOCKERFILE.read_text("utf-8")), "utf-8")
    buildah = [required("buildah"), "--root", str(folder / "store"), "--runroot", str(folder / "run")]
    buildah += ["--storage-driver", "vfs"]
    faults = []
    for image in IMAGES:
        build = ["bud", "--isolation", "chroot", "--format", "docker", "--target", image, "--tag", f"test:{image}"]
        build += ["--file", str(folder / "Dockerfile"), str(out / "layers")]
        push = ["push", "--format", "oci", f"test:{image}", f"oci:{folder}/layout:{image}"]
        for command in (build, push):
            done = subprocess.run([*buildah, *command], capture_output=True, text=True)
            if done.returncode != 0:
                raise PackagingError(f"buildah {command[0]} of {image} failed: {done.stderr.strip()[-1000:]}")
        ours, theirs = contents(out / "layout", image), contents(folder / "layout", image)
        differing = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
        faults += [f"{image}: /{name}: {ours.get(name)}, by Docker {theirs.get(name)}" for name in differing[:10]]
        mine, built = config(out / "layout", image), config(folder / "layout", image)
        # The OCI format, which buildah writes here, has no health check.
        for name in SETTINGS.keys() - {"Healthcheck", "Labels"}:
            if normal(name, mine.get(name)) != normal(name, built.get(name)):
                faults.append(f"{image}: {name}: {mine.get(name)}, by Docker {built.get(name)}")
    return faults


def normal(name: str, value: object) -> object:
    return sorted(value) if name == "Env" and isinstance(value, list) else value


def manifest(layout: Path, image: str) -> dict:
    [entry] = [entry for entry in read(layout / "index.json")["manifests"] if name_of(entry) == image]
    return read(blob(layout, entry))


def config(layout: Path, image: str) -> dict:
    return read(blob(layout, manifest(layout, image)["config"]))["config"]


def contents(layout: Path, image: str) -> dict[str, tuple]:
    """Every file of an image with its kind, mode, owner and content. The mode of a link means nothing."""
    found: dict[str, tuple] = {}
    for layer in manifest(layout, image)["layers"]:
        data = gzip.decompress(blob(layout, layer).read_bytes())
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for entry in archive:
                name = entry.name.removeprefix("./").rstrip("/")
                if entry.isreg():
                    content = archive.extractfile(entry)
                    digest = hashlib.sha256(content.read() if content else b"").hexdigest()[:12]
                    found[name] = ("file", oct(entry.mode & 0o7777), entry.uid, entry.gid, digest)
                elif entry.issym():
                    found[name] = ("link", entry.uid, entry.gid, entry.linkname)
                elif entry.islnk():
                    found[name] = found[entry.linkname.removeprefix("./")]
                elif name:
                    found[name] = ("folder", oct(entry.mode & 0o7777), entry.uid, entry.gid)
    return found
