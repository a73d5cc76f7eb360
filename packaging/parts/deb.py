"""The Debian package. It is an `ar` archive of two tar archives, so no Debian tool is needed to write it."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
from email.utils import formatdate
from pathlib import Path

from . import ROOT, build_time, homepage, version
from .tar import Entry, entry_of, write_tar
from .tree import Tree

MAINTAINER = "The Lukasa maintainers <maintainers@lukasa.invalid>"
UNIT = "deploy/systemd/lukasa.service"
DESCRIPTION = """ Memories that the user can read, correct, undo and erase.
 .
 Contains the server with its console, its command line, PostgreSQL 18 with
 pgvector for users without a database, and a small embedding model. It makes
 no request to other machines unless it is configured to."""

CONFFILE = b"""# Settings of the service lukasa, one NAME=value per line; docs/operations.md lists them.
# To serve other machines: LUKASA_AUTH=keys and LUKASA_LISTEN=0.0.0.0:7777.
"""
# The service is not started: a server for the whole machine is a decision of its administrator.
POSTINST = b"""#!/bin/sh
set -e
if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
  # After an upgrade, a running service continues with the new program.
  if [ -n "$2" ]; then systemctl try-restart lukasa.service || true; fi
fi
"""
PRERM = b"""#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now lukasa.service || true; fi
"""
POSTRM = b"""#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
"""


def build_deb(tree: Tree, out: Path) -> Path:
    architecture = tree.target.deb
    path = out / f"lukasa_{version()}_{architecture}.deb"
    entries = contents(tree)
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  {name[2:]}\n" for name, data, _ in entries)
    control = [
        ("./conffiles", b"/etc/lukasa/lukasa.env\n", 0o644),
        ("./control", control_file(tree, sum(len(data) for _, data, _ in entries)).encode(), 0o644),
        ("./md5sums", sums.encode(), 0o644),
        ("./postinst", POSTINST, 0o755),
        ("./postrm", POSTRM, 0o755),
        ("./prerm", PRERM, 0o755),
    ]
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", packed(control, tree.xz_preset)),
        ("data.tar.xz", packed(entries, tree.xz_preset)),
    ]
    with path.open("wb") as file:
        file.write(b"!<arch>\n")
        for name, data in members:
            file.write(f"{name:<16}{build_time():<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode())
            file.write(data + b"\n" * (len(data) % 2))
    return path


def contents(tree: Tree) -> list[Entry]:
    entries = []
    for place, file in tree.files():
        name, data, mode = entry_of(f"./usr/{place}", file)
        if place.startswith("share/man/"):
            name, data = f"{name}.gz", gzip.compress(data, 9, mtime=0)
        if name.endswith("share/zsh/site-functions/_lukasa"):
            name = "./usr/share/zsh/vendor-completions/_lukasa"
        entries.append((name, data, mode))
    unit = (ROOT / UNIT).read_text("utf-8").replace("/usr/local/bin/lukasa", "/usr/bin/lukasa")
    # The lines on how to copy the program and the unit do not apply.
    unit = "\n".join(line for line in unit.split("\n") if not line.startswith("#   "))
    doc = "./usr/share/doc/lukasa"
    at = formatdate(build_time(), usegmt=True).replace("GMT", "+0000")
    news = f"lukasa ({version()}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- {MAINTAINER}  {at}\n"
    entries += [
        ("./usr/lib/systemd/system/lukasa.service", unit.encode(), 0o644),
        ("./etc/lukasa/lukasa.env", CONFFILE, 0o640),
        (f"{doc}/copyright", copyright_file().encode(), 0o644),
        (f"{doc}/changelog.gz", gzip.compress(news.encode(), 9, mtime=0), 0o644),
        entry_of(f"{doc}/CHANGELOG.md", ROOT / "CHANGELOG.md"),
    ]
    return sorted(entries)


def control_file(tree: Tree, size: int) -> str:
    major, minor = tree.glibc
    lines = [
        "Package: lukasa",
        f"Version: {version()}",
        f"Architecture: {tree.target.deb}",
        f"Maintainer: {MAINTAINER}",
        f"Installed-Size: {size // 1024}",
        f"Depends: libc6 (>= {major}.{minor}), libgcc-s1, zlib1g",
        "Section: net",
        "Priority: optional",
    ]
    if address := homepage():
        lines.append(f"Homepage: {address}")
    return "\n".join(lines) + "\nDescription: long-term memory server for AI assistants\n" + DESCRIPTION + "\n"


def copyright_file() -> str:
    return (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        "Upstream-Name: Lukasa\n\nFiles: *\nCopyright: 2026 the Lukasa maintainers\nLicense: Apache-2.0\n"
        " /usr/share/common-licenses/Apache-2.0 has the text. The licences of the parts by other authors are in\n"
        " /usr/share/doc/lukasa/THIRD-PARTY.txt and /usr/share/doc/lukasa/postgresql.\n"
    )


def packed(entries: list[Entry], preset: int) -> bytes:
    file = io.BytesIO()
    with lzma.open(file, "wb", preset=preset) as stream:
        write_tar(stream, entries, folders=True)
    return file.getvalue()
