"""The container images: folders, one for each layer, and the OCI layout that they are packed into.

    debian     the C library, time zones, certificates, the account; no shell
    data       the empty folder of the volume, which gets its owner from it
    postgres   PostgreSQL with pgvector, and the shell that it needs
    model      the default embedding model
    program    the server with the console, and the licences

deploy/Dockerfile copies the same folders into its images and has the same settings; packaging/test compares them.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import tarfile
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from . import ROOT, SUMMARY, PackagingError, build_time, homepage, version
from .debian import DATABASE, SERVER, unpack
from .elf import is_elf, read_elf
from .target import Target
from .tree import DOC, MODEL, POSTGRES, Tree

ACCOUNT = 65532
DATA = "var/lib/lukasa"
PREFIX = "usr/local"
#: The layers of each image, from the one that changes least.
IMAGES = {
    "slim": ("debian", "data", "model", "program"),
    "all-in-one": ("debian", "data", "postgres", "model", "program"),
}
LAYERS = IMAGES["all-in-one"]
#: Names of the platforms of images.
ARCHITECTURES = {"linux-x86_64": "amd64", "linux-aarch64": "arm64"}
SECOND = 1_000_000_000
SETTINGS = {
    "User": f"{ACCOUNT}:{ACCOUNT}",
    "ExposedPorts": {"7777/tcp": {}},
    "Env": [
        "PATH=/usr/local/bin:/usr/bin",
        f"HOME=/{DATA}",
        "XDG_DATA_HOME=/var/lib",
        f"LUKASA_DATA_DIR=/{DATA}",
        "LUKASA_LISTEN=0.0.0.0:7777",
        "LUKASA_AUTH=keys",
        "LUKASA_MIGRATE=true",
        "LUKASA_LOG_FORMAT=json",
    ],
    "Entrypoint": ["lukasa"],
    "Cmd": ["serve"],
    "Volumes": {f"/{DATA}": {}},
    "WorkingDir": "/",
    "Labels": {
        "org.opencontainers.image.title": "Lukasa",
        "org.opencontainers.image.description": SUMMARY,
        "org.opencontainers.image.licenses": "Apache-2.0",
    },
    "StopSignal": "SIGTERM",
    # Not part of the OCI format. Docker reads it all the same, Podman only from an archive in Docker's format.
    "Healthcheck": {
        "Test": ["CMD", "lukasa", "health", "--url", "http://127.0.0.1:7777"],
        "Interval": 10 * SECOND,
        "Timeout": 3 * SECOND,
        "StartPeriod": 60 * SECOND,
        "Retries": 3,
    },
}


def build_layers(tree: Tree, packages: dict[str, Path], out: Path) -> dict[str, Path]:
    """Writes the folder of every layer."""
    shutil.rmtree(out, ignore_errors=True)
    layers = {name: out / name for name in LAYERS}
    for folder in layers.values():
        folder.mkdir(parents=True)
    unpack(SERVER, packages, layers["debian"])
    unpack(DATABASE, packages, layers["postgres"])
    add_system(layers["debian"])
    (layers["data"] / DATA).mkdir(parents=True)
    for place, file in tree.files():
        layer = layer_of(place)
        if layer:
            path = layers[layer] / PREFIX / place
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, path)
    copied = layers["program"] / PREFIX / DOC / "LICENSE"
    copied.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "LICENSE", copied)
    for folder in layers.values():
        set_modes(folder)
    for image, names in IMAGES.items():
        check_libraries(image, [layers[name] for name in names])
    return layers


def layer_of(place: str) -> str | None:
    """The layer of a file of the tree. Manual pages and completions are left out."""
    for layer, folder in (("program", "bin/"), ("postgres", POSTGRES), ("model", MODEL), ("program", DOC)):
        if place.startswith(folder):
            return layer
    return None


def add_system(folder: Path) -> None:
    """The account, name resolution, trusted certificates in one file, and the folders to mount on."""
    certificates = sorted((folder / "usr/share/ca-certificates/mozilla").glob("*.crt"))
    if len(certificates) < 100:
        raise PackagingError(f"ca-certificates has {len(certificates)} certificates, which cannot be all")
    bundle = "".join(path.read_text("ascii").strip() + "\n" for path in certificates)
    shutil.rmtree(folder / "usr/share/ca-certificates")
    files = {
        "etc/ssl/certs/ca-certificates.crt": bundle,
        "etc/passwd": f"root:x:0:0:root:/:/nologin\nlukasa:x:{ACCOUNT}:{ACCOUNT}:Lukasa:/{DATA}:/nologin\n",
        "etc/group": f"root:x:0:\nlukasa:x:{ACCOUNT}:\n",
        "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    }
    for place, text in files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, "utf-8")
        (folder / place).chmod(0o644)
    for place in ("dev", "proc", "sys", "run", "tmp", "usr/bin", "usr/sbin", "var/lib"):
        (folder / place).mkdir(parents=True, exist_ok=True)


def set_modes(folder: Path) -> None:
    """The same modes whatever the umask of this process or of the one that wrote the tree."""
    special = {folder / "tmp": 0o1777, folder / DATA: 0o700}
    for path in folder.rglob("*"):
        if not path.is_symlink():
            runs = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(special.get(path, 0o755 if runs else 0o644))


def check_libraries(image: str, folders: list[Path]) -> None:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() or path.is_symlink()]
    present = {path.name for path in files}
    for path in files:
        if path.is_file() and not path.is_symlink() and is_elf(path):
            missing = [name for name in read_elf(path.read_bytes()).needed if name not in present]
            if missing:
                raise PackagingError(f"{image}: {path.name} needs {', '.join(missing)}, which no layer has")


@dataclass(frozen=True)
class Layer:
    #: Of the unpacked and of the packed bytes.
    diff_id: str
    digest: str
    unpacked: int
    packed: int


def pack_layer(folder: Path, blobs: Path, level: int) -> Layer:
    file, total = io.BytesIO(), 0
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            place = path.relative_to(folder).as_posix()
            entry = tarfile.TarInfo(place)
            entry.mtime = build_time()
            entry.mode = 0o777 if path.is_symlink() else path.stat().st_mode & 0o7777
            if place == DATA:
                entry.uid = entry.gid = ACCOUNT
            if path.is_symlink():
                entry.type, entry.linkname = tarfile.SYMTYPE, str(path.readlink())
                archive.addfile(entry)
            elif path.is_dir():
                entry.type = tarfile.DIRTYPE
                archive.addfile(entry)
            else:
                data = path.read_bytes()
                entry.size = len(data)
                total += len(data)
                archive.addfile(entry, io.BytesIO(data))
    content = file.getvalue()
    packed = gzip.compress(content, level, mtime=0)
    return Layer(hashlib.sha256(content).hexdigest(), write_blob(blobs, packed), total, len(packed))


def write_blob(blobs: Path, data: bytes) -> str:
    digest = hashlib.sha256(data).hexdigest()
    (blobs / digest).write_bytes(data)
    return digest


def descriptor(kind: str, digest: str, size: int) -> dict:
    return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": size}


def dump(value: object) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True).encode() + b"\n"


def pack_images(layers: dict[str, Path], target: Target, out: Path, level: int) -> dict[str, tuple[int, int]]:
    """Writes one OCI layout with both images, which share their layers. Returns packed and unpacked sizes."""
    shutil.rmtree(out, ignore_errors=True)
    blobs = out / "blobs/sha256"
    blobs.mkdir(parents=True)
    packed = {name: pack_layer(folder, blobs, level) for name, folder in layers.items()}
    manifests, sizes = [], {}
    for image, names in IMAGES.items():
        parts = [packed[name] for name in names]
        config = dump(image_config(target, list(names), parts))
        manifest = dump(
            {
                "schemaVersion": 2,
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": descriptor("config.v1+json", write_blob(blobs, config), len(config)),
                "layers": [descriptor("layer.v1.tar+gzip", part.digest, part.packed) for part in parts],
            }
        )
        entry = descriptor("manifest.v1+json", write_blob(blobs, manifest), len(manifest))
        entry["platform"] = {"architecture": ARCHITECTURES[target.name], "os": "linux"}
        entry["annotations"] = {"org.opencontainers.image.ref.name": image}
        manifests.append(entry)
        sizes[image] = (sum(part.packed for part in parts), sum(part.unpacked for part in parts))
    (out / "oci-layout").write_bytes(dump({"imageLayoutVersion": "1.0.0"}))
    (out / "index.json").write_bytes(dump({"schemaVersion": 2, "manifests": manifests}))
    return sizes


def image_config(target: Target, names: list[str], parts: list[Layer]) -> dict:
    created = datetime.fromtimestamp(build_time(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {**SETTINGS["Labels"], "org.opencontainers.image.version": version()}
    if address := homepage():
        labels["org.opencontainers.image.source"] = address
    return {
        "created": created,
        "architecture": ARCHITECTURES[target.name],
        "os": "linux",
        "config": {**SETTINGS, "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{part.diff_id}" for part in parts]},
        "history": [{"created": created, "created_by": f"packaging/containers: {name}"} for name in names],
    }


def archive_name(image: str, platform: str) -> str:
    return f"lukasa-{version()}-{image}-{platform}.docker.tar"


def bill_name(image: str, platform: str) -> str:
    return f"lukasa-{version()}-{image}-{platform}.cdx.json"


def write_archive(layout: Path, image: str, path: Path) -> Path:
    """One image as a file for `docker load` and `podman load`, in Docker's format.

    From an OCI archive, Podman would not read the health check.
    """
    [entry] = [entry for entry in read(layout / "index.json")["manifests"] if name_of(entry) == image]
    manifest = read(blob(layout, entry))
    tag = f"lukasa:{version()}" if image == "slim" else f"lukasa:{version()}-{image}"
    config, layers = manifest["config"], manifest["layers"]
    docker = [{"Config": place(config), "RepoTags": [tag], "Layers": [place(layer) for layer in layers]}]
    files = {place(part): blob(layout, part).read_bytes() for part in (config, *layers)}
    files["manifest.json"] = dump(docker)
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in sorted(files.items()):
            item = tarfile.TarInfo(name)
            item.size, item.mtime, item.mode = len(data), build_time(), 0o644
            archive.addfile(item, io.BytesIO(data))
    return path


def read(path: Path) -> dict:
    return json.loads(path.read_text("utf-8"))


def name_of(entry: dict) -> str:
    return entry["annotations"]["org.opencontainers.image.ref.name"]


def place(part: dict) -> str:
    return "blobs/" + part["digest"].replace(":", "/")


def blob(layout: Path, part: dict) -> Path:
    return layout / place(part)
